"""Files of labels of queries, CSV and Parquet: the columns scoring needs, cells as they are spelled.

Nothing is guessed: a cell of a CSV file is text, so ``001``, ``NA`` and ``1e5`` stay what they are, and an empty cell
is an empty text. The text columns of a task are not loaded for scoring; `read_label_texts` reads those of a few
queries.
"""

from __future__ import annotations

import codecs
import csv
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dojo_kit.errors import InputError
from dojo_kit.rag.cells import id_texts
from dojo_kit.rag.contract import LINE
from dojo_kit.rag.faults import counted
from dojo_kit.rag.tasks import OPTIONAL_COLUMNS, RECORD, RUN, SYSTEM, TaskName, task_named
from dojo_kit.runs.sources import PathLike, decode_text, existing_file

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

LABELS_BY = "labels_by"
"""Optional column that says of every row who made its labels: ``people`` or ``model``."""

LABEL_FILE = "labels of queries, as CSV or Parquet"

_BLOCK = 1 << 24
_PARQUET = b"PAR1"
_GZIP = b"\x1f\x8b"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LONGEST_CELL = 1 << 30


@dataclass(frozen=True, eq=False)
class LabelTable:
    """The rows of a file of labels.

    Attributes:
        frame: The columns that scoring needs, or all where one of these is absent; the index, named ``line``, holds
            the line every row starts on, of a Parquet file the number of the row.
        path: The file.
        source: The file as the user named it.
        sha256: Hash of its bytes.
    """

    frame: pd.DataFrame
    path: Path
    source: str
    sha256: str


def read_label_table(path: PathLike, task: TaskName, *, group_by: str | None = None, source: str = "") -> LabelTable:
    """Read the rows of a file of labels without their texts.

    Args:
        path: CSV (UTF-8, commas, a header) or Parquet.
        task: The task, whose ids and labels are read, with the optional columns that are there.
        group_by: One more column to read.
        source: The file, for messages; the path by default.

    Raises:
        InputError: The file is missing, empty, compressed, damaged or not UTF-8, or a row has more or fewer cells than
            the header; the message names file and line.
    """
    source = source or str(path)
    file = existing_file(path, expected=LABEL_FILE)
    facts = _look(file, source)
    header = _parquet_header(file, source) if facts.is_parquet else _csv_header(file, source)
    contract = task_named(task)
    needed = [*contract.ids, *contract.labels, *([] if group_by is None else [group_by])]
    wanted = {*needed, *OPTIONAL_COLUMNS, LABELS_BY} if set(needed) <= set(header) else set(header)
    frame = _frame(_batches(file, header, wanted, facts.is_parquet, source), header, wanted)
    lines = _row_numbers(len(frame)) if facts.is_parquet else _lines(file, len(frame), facts.n_lines)
    return LabelTable(frame.set_axis(_index(lines)), file, source, facts.sha256)


def read_label_texts(
    path: PathLike,
    task: TaskName,
    queries: Collection[str],
    *,
    system: str | None = None,
    run: str | None = None,
    generic: bool = False,
) -> pd.DataFrame:
    """Read all columns of the rows of a few queries, texts among them.

    Args:
        path: The file, as for `read_label_table`.
        task: The task.
        queries: Ids of the queries.
        system: Only rows of this system.
        run: Only rows of this run.
        generic: Whether texts may stand in columns ``text`` and ``text_pair``, as predictions have them.

    Returns:
        The rows, in the order of the file; a text column the file lacks is lacking here too.
    """
    file = existing_file(path, expected=LABEL_FILE)
    is_parquet = _starts_with(file, _PARQUET)
    header = _parquet_header(file, str(path)) if is_parquet else _csv_header(file, str(path))
    batches = (
        _of_queries(batch, header.index(RECORD), queries)
        for batch in _batches(file, header, set(header), is_parquet, str(path))
    )
    frame = _frame(batches, header, set(header)).reset_index(drop=True)
    for column, wanted in ((SYSTEM, system), (RUN, run)):
        if wanted is not None and column in frame:
            frame = frame[id_texts(frame[column]) == wanted]
    if generic:
        named = zip(("text", "text_pair"), task_named(task).texts, strict=True)
        frame = frame.rename(columns={old: new for old, new in named if new not in frame})
    return frame


def _of_queries(batch: pa.RecordBatch, at: int, queries: Collection[str]) -> pa.RecordBatch:
    import pyarrow as pa
    import pyarrow.compute as pc

    wanted = pa.array(list(queries), pa.string())
    return batch.filter(pc.is_in(batch.column(str(at)).cast(pa.string()), value_set=wanted))


@dataclass(frozen=True, slots=True)
class _Facts:
    sha256: str
    n_lines: int
    is_parquet: bool


def _look(file: Path, source: str) -> _Facts:
    """Read a file once from end to end: its hash and its lines; of text also that it is UTF-8."""
    is_parquet = _starts_with(file, _PARQUET)
    decoder = codecs.getincrementaldecoder("utf-8")()
    digest, n_lines, last, is_blank = sha256(), 0, b"", True
    try:
        with file.open("rb") as stream:
            while block := stream.read(_BLOCK):
                digest.update(block)
                if is_parquet:
                    continue
                if not last and block.startswith(_GZIP):
                    raise InputError("is gzip-compressed", file=source, expected=f"{LABEL_FILE}, decompressed")
                decoder.decode(block)
                n_lines += block.count(b"\n")
                is_blank = is_blank and not block.removeprefix(_BYTE_ORDER_MARK).strip()
                last = block[-1:]
            decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        decode_text(file.read_bytes(), file=source)  # says where
        raise
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", file=source, expected=LABEL_FILE) from error
    if is_blank and not is_parquet:
        raise InputError("is empty", file=source, expected=LABEL_FILE)
    return _Facts(digest.hexdigest(), n_lines + (last not in (b"\n", b"")), is_parquet)


def _starts_with(file: Path, mark: bytes) -> bool:
    try:
        with file.open("rb") as stream:
            return stream.read(len(mark)) == mark
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", file=file, expected=LABEL_FILE) from error


def _csv_rows(file: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the line every row starts on, and its cells; blank lines are skipped, before the header blank cells too."""
    if csv.field_size_limit() < _LONGEST_CELL:
        csv.field_size_limit(_LONGEST_CELL)
    with file.open(encoding="utf-8-sig", newline="") as stream:
        reader, line, begun = csv.reader(stream, strict=True), 1, False
        for cells in reader:
            begun = begun or any(cell.strip() for cell in cells)
            if cells and begun:
                yield line, cells
            line = reader.line_num + 1


def _csv_header(file: Path, source: str) -> list[str]:
    try:
        found = next(_csv_rows(file), None)
    except csv.Error as error:
        raise InputError(f"not CSV: {error}", file=source, line=1, expected="CSV with quotes doubled") from None
    if found is None:
        raise InputError("has no header", file=source, expected=LABEL_FILE)
    return [name.strip() for name in found[1]]


def _batches(
    file: Path, header: Sequence[str], wanted: Collection[str], is_parquet: bool, source: str
) -> Iterator[pa.RecordBatch]:
    """Yield the wanted columns, each named by its place in the header, so that equal names stay apart."""
    import pyarrow as pa

    places = [str(at) for at, name in enumerate(header) if name in wanted]
    try:
        yield from _parquet_batches(file, header, places) if is_parquet else _csv_batches(file, header, places)
    except (pa.ArrowException, OSError) as error:
        if is_parquet:
            raise InputError(f"damaged Parquet file: {error}", file=source, expected=LABEL_FILE) from None
        _raise_faulty_row(file, source)
        raise InputError(f"not CSV: {error}", file=source, expected="one row a line, quotes doubled") from None


def _csv_batches(file: Path, header: Sequence[str], places: list[str]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    names = [str(at) for at in range(len(header))]
    line_of_header, _ = next(_csv_rows(file))
    reader = arrow_csv.open_csv(
        file,
        read_options=arrow_csv.ReadOptions(
            column_names=names, skip_rows=line_of_header - 1, skip_rows_after_names=1, block_size=_BLOCK
        ),
        parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
        convert_options=arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()), include_columns=places, strings_can_be_null=False
        ),
    )
    yield from reader


def _raise_faulty_row(file: Path, source: str) -> None:
    """Find the first row with a wrong number of cells, or that is no CSV, and say so."""
    n_cells, line = 0, 0
    try:
        for line, cells in _csv_rows(file):
            n_cells = n_cells or len(cells)
            if len(cells) != n_cells:
                message = f"{counted(len(cells), 'cell')} where the header has {n_cells}"
                raise InputError(message, file=source, line=line, expected=f"{counted(n_cells, 'cell')}, commas quoted")
    except csv.Error as error:
        raise InputError(f"not CSV: {error}", file=source, line=line + 1, expected="CSV with quotes doubled") from None


def _parquet_header(file: Path, source: str) -> list[str]:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        return [str(name) for name in parquet.read_schema(file).names]
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"damaged Parquet file: {error}", file=source, expected=LABEL_FILE) from None


def _parquet_batches(file: Path, header: Sequence[str], places: list[str]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa
    from pyarrow import parquet

    names = [header[int(place)] for place in places]
    for batch in parquet.ParquetFile(file).iter_batches(columns=names):
        columns = [
            column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
            for column in (batch.column(name) for name in names)
        ]
        yield pa.RecordBatch.from_arrays(columns, names=places)


def _frame(batches: Iterator[pa.RecordBatch], header: Sequence[str], wanted: Collection[str]) -> pd.DataFrame:
    import pandas as pd
    import pyarrow as pa

    found = list(batches)
    if not found:
        return pd.DataFrame({name: [] for name in header if name in wanted})
    frame = pa.Table.from_batches(found).to_pandas(integer_object_nulls=True, ignore_metadata=True)
    named: pd.DataFrame = frame.set_axis([header[int(place)] for place in frame.columns], axis=1)
    return named


def _row_numbers(n: int) -> Any:
    import numpy as np

    return np.arange(1, n + 1)


def _lines(file: Path, n_rows: int, n_lines: int) -> Any:
    """Return the line every row starts on; the file is read again only where rows are not lines."""
    import numpy as np

    lines = np.arange(2, n_rows + 2)
    if n_lines == n_rows + 1:
        return lines
    started = np.fromiter((line for line, _ in _csv_rows(file)), dtype=np.int64)[1:]
    return started if len(started) == n_rows else lines


def _index(lines: Any) -> pd.Index[Any]:
    import pandas as pd

    index: pd.Index[Any] = pd.Index(lines, name=LINE)
    return index
