"""Cells of CSV, Parquet and Excel files: a header, then rows of plain values."""

from __future__ import annotations

import csv
import io
import math
import re
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from dojo_kit.errors import InputError, MissingExtraError
from dojo_kit.runs.problems import ProblemList
from dojo_kit.storage import encodable

Cells = Iterator[tuple[int, list[Any]]]
"""Row number and cells; the first row is the header."""

_DELIMITERS = ",;\t"
_LONGEST_CELL = 1 << 30
_ZIP = b"PK\x03\x04"
_DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, OSError, SyntaxError),  # zip and XML
    *(LookupError, ValueError, TypeError, AttributeError),  # what openpyxl stumbles over
)
_NAN = frozenset({"nan", "NaN"})
_NO_UTF8 = re.compile("[\udc80-\udcff]")
_EXCEL_ERRORS = frozenset({"#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!"})


def csv_cells(text: str, *, file: str, problems: ProblemList) -> Cells:
    r"""Read CSV with commas, semicolons or tabs, whichever splits the header most.

    Blank lines are skipped. An empty cell is None. A cell ``nan`` or ``NaN``, as a missing number turned into
    text leaves behind, is a fault, for it would be read as a value.

    Args:
        text: The file's text, with a lone surrogate for each byte that is not UTF-8.
        file: The file, for messages.
        problems: Where rows that cannot be read go.

    Examples:
        >>> problems = ProblemList("raise", "a.csv")
        >>> list(csv_cells("document;law\na;\"x;\ny\"\n\nb;\n", file="a.csv", problems=problems))
        [(1, ['document', 'law']), (2, ['a', 'x;\ny']), (5, ['b', None])]
    """
    if csv.field_size_limit() < _LONGEST_CELL:
        csv.field_size_limit(_LONGEST_CELL)  # 128 kB by default; a prediction as JSON can be longer
    header: list[str] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            unclosed = "unexpected end of data" in str(error)
            message = "a quoted cell is never closed" if unclosed else f"not CSV: {error}"
            problems.reject(InputError(message, file=file, line=line, expected="CSV with quotes doubled"))
            continue
        if not any(cell.strip() for cell in cells):
            continue
        fault = _cell_fault(cells, header) if header else None
        if fault:
            column, message, expected = fault
            problems.reject(InputError(message, file=file, line=line, field=column, expected=expected))
            continue
        header = header or cells
        yield line, [cell if cell.strip() else None for cell in cells]


def _cell_fault(cells: Sequence[str], header: Sequence[str]) -> tuple[str | None, str, str] | None:
    """Say what is wrong with the first faulty cell of a row: its column, the fault, what would be right."""
    for index, cell in enumerate(cells):
        column = header[index].strip() or None if index < len(header) else None
        if cell.strip() in _NAN:
            return column, f"{cell.strip()} is no value", "an empty cell where there is no value"
        byte = _NO_UTF8.search(cell)
        if byte:
            return column, f"byte 0x{ord(byte.group()) - 0xDC00:02x} is not UTF-8", "UTF-8 text"
    return None


def _delimiter(text: str) -> str:
    header = text[: 1 << 16]

    def columns(delimiter: str) -> int:
        try:
            return len(next(csv.reader(io.StringIO(header, newline=""), delimiter=delimiter), ()))
        except csv.Error:
            return 0

    return max(_DELIMITERS, key=columns)


def parquet_cells(data: bytes, *, file: str, problems: ProblemList) -> Cells:
    """Read a Parquet file.

    Dates become ISO text, decimals text. A pandas index column is left out. A null is no value, as which pandas
    writes its missing numbers; a NaN that is stored as such is a fault.

    Args:
        data: The file's bytes.
        file: The file, for messages.
        problems: Where rows with values that have no JSON form go.

    Raises:
        InputError: The file is damaged.
    """
    import pyarrow as pa
    from pyarrow import parquet

    try:
        table = parquet.read_table(pa.BufferReader(data))
        kept = [i for i, name in enumerate(table.column_names) if not name.startswith("__index_level_")]
        names = [table.column_names[i] for i in kept]
        columns = [table.column(i).to_pylist() for i in kept]
    except (pa.ArrowException, OSError, ValueError) as error:
        detail = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"cannot be read ({detail})", file=file, expected="a Parquet file") from error
    yield 0, list(names)
    for number, cells in enumerate(zip(*columns, strict=True), start=1):
        yield from _plain_row(number, cells, names, file=file, problems=problems)


def is_excel(data: bytes, *, file: str, expected: str) -> bool:
    """Tell whether the bytes are an Excel workbook.

    Raises:
        InputError: They are another or a damaged zip archive.
    """
    if not data.startswith(_ZIP):
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if "xl/workbook.xml" in archive.namelist():
                return True
    except (zipfile.BadZipFile, RuntimeError, ValueError, OSError) as error:
        raise InputError(f"is a damaged zip archive or workbook ({error})", file=file, expected=expected) from error
    raise InputError("is a zip archive", file=file, expected=expected)


def excel_cells(data: bytes, *, file: str, problems: ProblemList) -> Cells:
    """Read the first sheet of an Excel workbook.

    Args:
        data: The file's bytes.
        file: The file, for messages.
        problems: Where rows with error values go.

    Raises:
        InputError: The workbook is damaged.
        MissingExtraError: The package openpyxl is not installed.
    """
    try:
        import openpyxl
    except ImportError as error:
        raise MissingExtraError("openpyxl", extra="excel", purpose="reading an Excel file") from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles and extensions, which hold no cells
            book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
            rows = [list(row) for row in book.worksheets[0].iter_rows(values_only=True)]
            book.close()
    except _DAMAGED as error:
        raise InputError(f"cannot be read ({error})", file=file, expected="an Excel workbook") from error
    header: Sequence[Any] = ()
    for number, cells in enumerate(rows, start=1):
        if all(cell is None or not str(cell).strip() for cell in cells):
            continue
        column = next((index for index, cell in enumerate(cells) if cell in _NAN), None) if header else None
        if column is not None:
            name = str(header[column]) if column < len(header) else None
            message, expected = f"{cells[column]} is no value", "an empty cell where there is no value"
            problems.reject(InputError(message, file=file, line=number, field=name, expected=expected))
            continue
        header = header or cells
        yield from _plain_row(number, cells, header, file=file, problems=problems)


def _plain_row(number: int, cells: Sequence[Any], header: Sequence[Any], *, file: str, problems: ProblemList) -> Cells:
    try:
        yield number, [_plain(value) for value in cells]
    except _NoPlainFormError as error:
        column = next(str(name) for name, value in zip(header, cells, strict=False) if _refused(value))
        problems.reject(
            InputError(str(error), file=file, line=number, field=column, expected="text, a number or a list")
        )


class _NoPlainFormError(ValueError):
    """A cell holds something that JSON cannot say."""


def _refused(value: object) -> bool:
    try:
        _plain(value)
    except _NoPlainFormError:
        return True
    return False


def _plain(value: Any) -> Any:
    match value:
        case None | bool() | int():
            return value
        case str():
            if value in _EXCEL_ERRORS:
                raise _NoPlainFormError(f"the cell holds the error {value}")
            return encodable(value) if value.strip() else None
        case float():
            if not math.isfinite(value):
                raise _NoPlainFormError(f"{value} is no number")
            return value
        case datetime():
            return value.date().isoformat() if value.time() == time() else value.isoformat()
        case date() | time():
            return value.isoformat()
        case Decimal():
            return str(value)
        case list() | tuple():
            return [_plain(item) for item in value]
        case dict():
            return {str(key): _plain(item) for key, item in value.items()}
    raise _NoPlainFormError(f"a value of type {type(value).__name__}")
