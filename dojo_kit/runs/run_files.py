"""Runs from files: run records, experiment logs, checkpoint manifests and plain lists of predictions.

What a file is, is read off its content:

- *run record*: a JSON object with ``results`` (else ``per_row``), as written by an evaluation;
- *experiment log*: JSONL (or a JSON array) of run records. ``log.jsonl#3`` is the record on line 3
  (the third of an array), ``log.jsonl#NAME`` the last record of that name;
- *manifest*: JSONL with a header line ``{"type": "header", "metadata": {...}}``; the last row of a file name
  wins, as it is a checkpoint that was appended to;
- *plain predictions*: rows in JSONL, a JSON array, CSV, Parquet or Excel, see `dojo_kit.runs.plain_rows`.

Everywhere else two rows for one document are a fault: collecting keeps the first and lists the second. One
document means the same name and, where labels are joined by it, the same
`dojo_kit.text.names.document_key`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dojo_kit.errors import InputError, closest
from dojo_kit.records import Problem, Row, Run, RunMeta
from dojo_kit.runs.cells import shown
from dojo_kit.runs.plain_rows import plain_rows, plain_task
from dojo_kit.runs.problems import OnError, ProblemList
from dojo_kit.runs.raw_rows import (
    DOCUMENT_COLUMNS,
    JsonDocument,
    RawRow,
    Rows,
    document_name,
    latest_rows,
    load_content,
    rows_of,
)
from dojo_kit.runs.run_meta import manifest_meta, object_value, record_meta
from dojo_kit.runs.sources import PathLike, source_path, split_fragment
from dojo_kit.runs.strict_json import whole_characters
from dojo_kit.runs.typed_rows import EXTRACTION_TASK, row_kind, typed_row
from dojo_kit.text.names import document_key

_RECORD = "an object with a list 'results'"
_LOG = "a run record or an experiment log"
_EXPECTED = "a run: a run record, log or manifest, or predictions as JSON, JSONL, CSV, Parquet or Excel"


class RunLog(list[Run]):
    """The runs of a log, in file order.

    Attributes:
        problems: Lines that could not be read; faults inside a run are in its own ``problems``.
    """

    def __init__(self, runs: Iterable[Run], problems: tuple[Problem, ...]) -> None:
        super().__init__(runs)
        self.problems = problems


def read_run(path: PathLike, *, on_error: OnError = "raise", task: str | None = None) -> Run:
    """Read one run.

    Args:
        path: The file; ``#LINE`` or ``#NAME`` after it picks one record of an experiment log.
        on_error: What a row that cannot be read does: ``raise``, or ``collect`` it into ``problems``.
        task: Task of a file that does not name its own, such as plain predictions of another task than
            extraction. A run record whose own task cannot be scored as this one is refused.

    Returns:
        The run. Its ``problems`` also list oddities that did not spoil a row.

    Raises:
        InputError: The file is missing, unreadable, empty, or no run; or a row is faulty and ``on_error``
            is ``raise``; or collecting leaves no row.
        MissingExtraError: An Excel file without the package that reads it.
    """
    problems = ProblemList(on_error, str(path))
    path = source_path(path, expected=_EXPECTED)
    file, pick = split_fragment(path)
    content = load_content(file, problems, expected=_EXPECTED)
    records = _records(content, str(file), problems)
    if records is not None:
        return _record_run(_pick(records, pick, str(file)), str(path), task, problems)
    if pick is not None:
        raise InputError("is no experiment log", file=file, field=f"#{pick}", expected="a path without #")
    if isinstance(content, JsonDocument):
        content = Rows((RawRow(content.value, str(file), line=1),), tuple(content.value))
    headers = [row for row in content.rows if row.values.get("type") == "header"]
    if headers:
        return _manifest_run(content, headers, str(path), task, problems)
    return _plain_run(content, str(path), task, problems)


def read_log(path: PathLike, *, on_error: OnError = "raise") -> RunLog:
    """Read every run of an experiment log.

    Args:
        path: JSONL of run records, or a JSON array of them; a single run record is a log of one.
        on_error: What a fault does; when collecting, the log's ``problems`` name the lines left out.

    Returns:
        The runs in file order; names are not unique.

    Raises:
        InputError: The file cannot be read or is no log; or something in it is faulty and ``on_error`` is
            ``raise``.
    """
    problems = ProblemList(on_error, str(path))
    path = source_path(path, expected=_LOG)
    content = load_content(path, problems, expected=_LOG)
    rows = content.rows if isinstance(content, Rows) else (RawRow(content.value, str(path)),)
    runs = []
    for number, row in enumerate(rows, start=1):
        inner = ProblemList(on_error, str(path))
        try:
            if not _is_record(row):
                raise row.error("no run record", field="results", expected=_RECORD)
            runs.append(_record_run(row, f"{path}#{row.line or number}", None, inner))
        except InputError as error:
            problems.reject(error)
    if not runs:
        raise problems.nothing_left("run", file=path, expected=_LOG)
    return RunLog(runs, problems.found)


def read_records(path: PathLike, *, on_error: OnError = "raise") -> list[tuple[str, Mapping[str, Any]]]:
    """Read run records as they stand in a file, without making rows of them.

    Args:
        path: A run record or an experiment log; ``#LINE`` or ``#NAME`` after it picks one.
        on_error: What a line that cannot be read does: ``raise``, or ``collect``, which leaves it out.

    Returns:
        Each record with its name: the path, with ``#LINE`` where the file holds several.

    Raises:
        InputError: The file cannot be read or holds no run record.
    """
    problems = ProblemList(on_error, str(path))
    path = source_path(path, expected=_LOG)
    file, pick = split_fragment(path)
    records = _records(load_content(file, problems, expected=_LOG), str(file), problems)
    if records is None:
        raise problems.nothing_left("run record", file=file, expected=_LOG)
    if pick is not None:
        return [(str(path), _pick(records, pick, str(file)).values)]
    if len(records) == 1:
        return [(str(file), records[0].values)]
    return [(f"{file}#{record.line or number}", record.values) for number, record in enumerate(records, start=1)]


def run_from_record(
    record: Mapping[str, Any], *, source: str = "", on_error: OnError = "raise", task: str | None = None
) -> Run:
    """Make a run of a record that was read before.

    Args:
        record: The run record.
        source: Where it came from, for messages and ``Run.source``.
        on_error: What a faulty row does, as in `read_run`.
        task: Task of a record that does not name its own.

    Raises:
        InputError: It is no run record, or a row is faulty and ``on_error`` is ``raise``.

    Examples:
        >>> record = {"task": "subtype_classification", "results": [{"filename": "a", "status": "error"}]}
        >>> run_from_record(record).rows[0].failed
        True
    """
    values = whole_characters(dict(record))
    return _record_run(RawRow(values, source), source, task, ProblemList(on_error, source))


def _is_record(row: RawRow) -> bool:
    return "results" in row.values or "per_row" in row.values or row.values.get("type") == "experiment"


def _records(content: Rows | JsonDocument, file: str, problems: ProblemList) -> list[RawRow] | None:
    """Return the run records of a file; None when it holds something else."""
    rows = content.rows if isinstance(content, Rows) else (RawRow(content.value, file),)
    records = [row for row in rows if _is_record(row)]
    if not records or (isinstance(content, Rows) and content.tabular):
        return None
    for row in rows:
        if not _is_record(row):
            problems.reject(row.error("no run record", field="results", expected=_RECORD))
    return records


def _pick(records: list[RawRow], pick: str | None, file: str) -> RawRow:
    if pick is None and len(records) == 1:
        return records[0]
    if pick is None:
        raise InputError(f"holds {len(records)} runs", file=file, expected=f"{file}#LINE or {file}#NAME")
    numbered = {str(record.line or index): record for index, record in enumerate(records, start=1)}
    named = {str(record.values.get("experiment_name")): record for record in records}
    if pick in numbered or pick in named:
        return numbered.get(pick) or named[pick]
    raise InputError(f"no run {pick!r}{closest(pick, named)}", file=file, expected="the line or name of a run")


def _record_run(record: RawRow, source: str, task: str | None, problems: ProblemList) -> Run:
    key = next((key for key in ("results", "per_row") if record.values.get(key)), "results")
    items = record.values.get(key)
    if not isinstance(items, list):
        raise record.error(f"not a list but {shown(items)}", field=key, expected="a list of rows")
    rows = rows_of(items, record, key, problems).rows
    meta = record_meta(record, rows[0].values if rows else {}, task)
    typed = _typed_rows(rows, ("filename", *DOCUMENT_COLUMNS), meta.task, problems)
    declared = record.values.get("n_rows")
    if isinstance(declared, int) and declared != len(items):
        problems.note(record.error(f"{len(items)} rows", field="n_rows", expected=f"{declared} as the record says"))
    return _run(meta, typed, source, problems, object_value(record, "scores"))


def _manifest_run(rows: Rows, headers: list[RawRow], source: str, task: str | None, problems: ProblemList) -> Run:
    metadata = object_value(headers[0], "metadata")
    for header in headers[1:]:
        if header.values.get("metadata") != metadata:
            raise header.error("a second header that differs", field="metadata", expected="one run in a manifest")
    body = rows.where(lambda row: row.values.get("type") != "header")
    column = body.document_column(source) if body.rows else ""
    latest = latest_rows(body.rows, lambda row: document_name(row, column), problems)
    head = RawRow(dict(metadata), headers[0].file, headers[0].line, "metadata")
    meta = manifest_meta(head, latest, task)
    return _run(meta, _typed_rows(latest, (column,), meta.task, problems), source, problems)


def _plain_run(rows: Rows, source: str, task: str | None, problems: ProblemList) -> Run:
    if not rows.columns:
        return _run(RunMeta(task or EXTRACTION_TASK), (), source, problems)
    column = rows.document_column(source)
    meta = RunMeta(task or plain_task(rows))
    plain = plain_rows(rows, task=meta.task, file=source, problems=problems)
    typed = _typed_rows(plain, (column, column.strip().lower()), meta.task, problems)
    if task is None and typed and all((row.error or "").startswith("parse error") for row in typed):
        expected = "JSON objects, or task= for predictions that are labels"
        problems.note(InputError("no prediction is JSON", file=source, field="predicted", expected=expected))
    return _run(meta, typed, source, problems)


def _run(
    meta: RunMeta,
    rows: tuple[Row, ...],
    source: str,
    problems: ProblemList,
    scores: Mapping[str, Any] | None = None,
) -> Run:
    if not rows:
        raise problems.nothing_left("rows", file=source, expected="a run with at least one row")
    return Run(meta, rows, stored_scores=scores or {}, source=source, problems=problems.found)


def _typed_rows(rows: Iterable[RawRow], names: tuple[str, ...], task: str, problems: ProblemList) -> tuple[Row, ...]:
    kind = row_kind(task)
    seen: dict[str, str] = {}
    typed = []
    for raw in rows:
        document = None
        try:
            name = next((name for name in names if name in raw.values), names[0])
            document = _question_name(raw) if kind == "question" else None
            document = document or document_name(raw, name)
            key = (document_key(document) if kind in ("extraction", "chained") else "") or document
            if key in seen:
                known = "" if seen[key] == document else f" (as {seen[key]!r})"
                raise raw.error(f"{document!r} occurs twice{known}", field=name, expected="one row a document")
            typed.append(typed_row(raw, document=document, task=task, problems=problems))
            seen[key] = document
        except InputError as error:
            problems.reject(error, document=document)
    return tuple(typed)


def _question_name(raw: RawRow) -> str | None:
    """Return the name of a (contract, question) pair: its id, else contract and category."""
    name, title, category = (raw.values.get(key) for key in ("id", "title", "category"))
    if isinstance(name, str) and name.strip():
        return name
    return f"{title}__{category}" if title and category else None
