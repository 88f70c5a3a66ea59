"""Rows as they stand in a file, before anything is made of them: JSON, JSONL, CSV, Parquet or Excel."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dojo_kit.errors import InputError
from dojo_kit.runs.cells import shown
from dojo_kit.runs.problems import ProblemList
from dojo_kit.runs.sources import PathLike, decode_text, read_bytes
from dojo_kit.runs.spreadsheets import Cells, csv_cells, excel_cells, is_excel, parquet_cells
from dojo_kit.runs.strict_json import lines, parse_json, parse_line

DOCUMENT_COLUMNS = ("document", "filename", "file", "doc_id", "id", "title")
"""Keys that may name a row's document, the first one present wins; upper and lower case do not matter."""


@dataclass(frozen=True, slots=True)
class RawRow:
    """One row and where it stands.

    Attributes:
        values: Its cells by column, or its keys.
        file: The file, as the user named it.
        line: 1-based line, or row of a Parquet or Excel file.
        path: Place inside a JSON document, e.g. ``results[3]``.
        stored: What stood in the file, where ``values`` were rearranged since.
    """

    values: dict[str, Any]
    file: str
    line: int | None = None
    path: str = ""
    stored: dict[str, Any] | None = None

    def error(self, message: str, *, field: str | None = None, expected: str | None = None) -> InputError:
        """Return an error that names the row's file, line and the field."""
        place = ".".join(part for part in (self.path, field) if part)
        return InputError(message, file=self.file, line=self.line, field=place or None, expected=expected)

    def rearranged(self, values: dict[str, Any]) -> RawRow:
        """Return the row with other values, remembering what stood in the file."""
        return replace(self, values=values, stored=self.stored or self.values)


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a file.

    Attributes:
        rows: The rows in file order.
        columns: Every column or key that occurs, in order of first occurrence.
        tabular: Whether they come from a table, whose cells hold lists and objects as text.
    """

    rows: tuple[RawRow, ...]
    columns: tuple[str, ...]
    tabular: bool = False

    def column(self, *names: str) -> str | None:
        """Find the first of several columns, whatever its case.

        Examples:
            >>> Rows((), ("Filename", "Title")).column("document", "filename", "title")
            'Filename'
        """
        found = {column.strip().lower(): column for column in reversed(self.columns)}
        return next((found[name] for name in names if name in found), None)

    def listed(self) -> str:
        """List the columns for a message, the first twenty of them."""
        more = ", ..." if len(self.columns) > 20 else ""
        return (", ".join(self.columns[:20]) or "none") + more

    def where(self, keep: Callable[[RawRow], bool]) -> Rows:
        """Return the rows that a test keeps, with the columns that occur in them."""
        kept = tuple(row for row in self.rows if keep(row))
        return Rows(kept, tuple(dict.fromkeys(key for row in kept for key in row.values)), self.tabular)

    def document_column(self, file: str) -> str:
        """Find the column that names the document.

        Raises:
            InputError: There is none; the message lists the columns found.
        """
        column = self.column(*DOCUMENT_COLUMNS)
        if column is None:
            raise InputError(
                f"no column names the document; columns found: {self.listed()}",
                file=file,
                field="document",
                expected=f"one of {', '.join(DOCUMENT_COLUMNS)}",
            )
        return column


@dataclass(frozen=True, slots=True)
class JsonDocument:
    """A file that is one JSON object."""

    value: dict[str, Any]


def load_content(path: PathLike, problems: ProblemList, *, expected: str) -> Rows | JsonDocument:
    """Read a file by what it holds: one JSON object, or rows of any kind.

    Args:
        path: The file as the user named it.
        problems: Where rows that cannot be read go.
        expected: What the file should be, for messages.

    Raises:
        InputError: The file cannot be read, or (unless collecting) one of its rows cannot.
    """
    data = read_bytes(path, expected=expected)
    file, suffix = str(path), Path(path).suffix.lower()
    if data.startswith(b"PAR1"):
        return _table(parquet_cells(data, file=file, problems=problems), file, problems)
    if is_excel(data, file=file, expected=expected):
        return _table(excel_cells(data, file=file, problems=problems), file, problems)
    first = data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if first in (b"{", b"[") or suffix in (".json", ".jsonl", ".ndjson"):
        return _json_content(data, file, suffix, problems)
    return _table(csv_cells(_csv_text(data, file, problems), file=file, problems=problems), file, problems)


def _csv_text(data: bytes, file: str, problems: ProblemList) -> str:
    """Decode a table; when collecting, bytes that are not UTF-8 are kept as marks, so that only their row falls."""
    try:
        return decode_text(data, file=file)
    except InputError:
        header = data.lstrip().split(b"\n", 1)[0]
        if not problems.collecting or not _is_utf8(header):
            raise
        return data.decode("utf-8", "surrogateescape").removeprefix("\ufeff")


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def load_json_lines(data: bytes, file: str, problems: ProblemList) -> Rows:
    """Read JSONL: one object a line, blank lines ignored."""
    rows = []
    for number, start, line in lines(data):
        try:
            value = parse_line(line, file=file, number=number, start=start, expected="one JSON object a line")
            rows.append(_object_row(value, RawRow({}, file, number)))
        except InputError as error:
            problems.reject(error)
    return _with_columns(rows)


def rows_of(items: Iterable[Any], parent: RawRow, name: str, problems: ProblemList) -> Rows:
    """Take the objects of a JSON array as rows.

    Args:
        items: The array.
        parent: What holds the array.
        name: The array's key in it, empty when the array is the whole document.
        problems: Where items that are no objects go.
    """
    rows = []
    prefix = f"{parent.path}.{name}" if parent.path else name
    for index, item in enumerate(items):
        try:
            rows.append(_object_row(item, replace(parent, path=f"{prefix}[{index}]", stored=None)))
        except InputError as error:
            problems.reject(error)
    return _with_columns(rows)


def document_name(row: RawRow, column: str) -> str:
    """Return the name of a row's document.

    Raises:
        InputError: It is missing, blank or neither text nor a whole number.
    """
    value = row.values.get(column)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, str) and value.strip():
        return value
    raise row.error(f"no document name but {shown(value)}", field=column, expected="a document name")


def latest_rows(rows: Iterable[RawRow], name: Callable[[RawRow], str], problems: ProblemList) -> list[RawRow]:
    """Keep the last row of each name, in order of first occurrence."""
    latest: dict[str, RawRow] = {}
    for row in rows:
        try:
            latest[name(row)] = row
        except InputError as error:
            problems.reject(error)
    return list(latest.values())


def _object_row(value: Any, place: RawRow) -> RawRow:
    if not isinstance(value, dict):
        raise place.error(f"not an object but {shown(value)}", expected="a JSON object")
    return replace(place, values=value)


def _with_columns(rows: list[RawRow]) -> Rows:
    return Rows(tuple(rows), tuple(dict.fromkeys(key for row in rows for key in row.values)))


def _table(cells: Cells, file: str, problems: ProblemList) -> Rows:
    _, names = next(cells, (0, []))
    header = [str(name).strip() if name is not None else "" for name in names]
    twice = next((name for name in header if name and header.count(name) > 1), None)
    if twice:
        raise InputError("two columns have one name", file=file, field=twice, expected="distinct columns")
    rows = []
    for line, row in cells:
        place = RawRow({}, file, line)
        try:
            rows.append(replace(place, values=_named(row, header, place)))
        except InputError as error:
            problems.reject(error)
    return Rows(tuple(rows), tuple(name for name in header if name), tabular=True)


def _named(row: list[Any], header: list[str], place: RawRow) -> dict[str, Any]:
    """Name a row's cells; the first column may be nameless, as a data frame's index is."""
    if len(row) != len(header):
        raise place.error(f"{len(row)} cells", expected=f"{len(header)} cells as in the header")
    nameless = next((cell for name, cell in zip(header[1:], row[1:], strict=True) if not name and cell), None)
    if nameless is not None:
        raise place.error(f"{shown(nameless)} stands in a column without a name", expected="a name in the header")
    return {name: cell for name, cell in zip(header, row, strict=True) if name}


def _json_content(data: bytes, file: str, suffix: str, problems: ProblemList) -> Rows | JsonDocument:
    if _is_json_lines(data, suffix):
        return load_json_lines(data, file, problems)
    value = parse_json(decode_text(data, file=file), file=file)
    if isinstance(value, dict):
        return JsonDocument(value)
    if isinstance(value, list):
        return rows_of(value, RawRow({}, file), "", problems)
    raise InputError(f"holds {shown(value)}", file=file, expected="a JSON object or an array of objects")


def _is_json_lines(data: bytes, suffix: str) -> bool:
    """Tell one object a line from one JSON document spread over lines."""
    heads = [line.removeprefix(b"\xef\xbb\xbf").strip() for _, (_, _, line) in zip(range(2), lines(data), strict=False)]
    if heads[0] == b"{" or heads[0].startswith(b"["):
        return False
    if suffix in (".jsonl", ".ndjson"):
        return True
    return len(heads) == 2 and any(_is_object(line) for line in heads) and heads[0].startswith(b"{")


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(parse_json(line.decode("utf-8"), file=None), dict)
    except ValueError:
        return False
