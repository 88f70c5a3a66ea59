"""Labels from two named columns of any rows file: where the truth stands, and where the answer does."""

from __future__ import annotations

from dojo_kit.errors import InputError, closest
from dojo_kit.records import LabelRow, Row, Run, RunMeta
from dojo_kit.runs.cells import shown
from dojo_kit.runs.outcomes import COMPLETED_WORDS, FAILED_WORDS
from dojo_kit.runs.problems import OnError, ProblemList
from dojo_kit.runs.raw_rows import DOCUMENT_COLUMNS, RawRow, Rows, load_content, rows_of
from dojo_kit.runs.sources import PathLike, source_path
from dojo_kit.runs.typed_rows import PLAIN_LABEL_TASK, row_kind, typed_row
from dojo_kit.scoring.label_reading import is_failed_output

_EXPECTED = "a table, JSON lines, a JSON array, or a run record with 'results'"
_BESIDE = ("error", "tag", "confidence", "reasoning", "usage", "tokens", "sorter_tokens", "cost_usd")
"""Columns about the call that are read where they stand; everything else is kept as it was stored."""


def read_label_columns(
    path: PathLike, *, expected: str, predicted: str, task: str = PLAIN_LABEL_TASK, on_error: OnError = "raise"
) -> Run:
    """Make a run of two columns.

    Args:
        path: The file.
        expected: Column with the true label.
        predicted: Column with the answer.
        task: Task the labels belong to.
        on_error: What a faulty row does: ``raise``, or ``collect`` it into ``problems``.

    Returns:
        The run. A row's document is what one of `DOCUMENT_COLUMNS` says, else its number; several rows can be about
        one document, which intervals then draw together.

    Raises:
        InputError: The file cannot be read, has no such column, the task has no labels, or a row is faulty and
            ``on_error`` is ``raise``.
    """
    if row_kind(task) != "label":
        raise InputError(f"task {task!r} is not about two columns of labels", field="task", expected="a task of labels")
    problems = ProblemList(on_error, str(path))
    path = source_path(path, expected=_EXPECTED)
    rows = _rows(path, problems)
    names = {"expected": _column(rows, expected, path), "predicted": _column(rows, predicted, path)}
    told = {name: column for name in _BESIDE if (column := rows.column(name)) not in (None, *names.values())}
    status = rows.column("status")
    if status is not None and status not in names.values() and _are_statuses(rows, status):
        told["status"] = status
    document = rows.column(*DOCUMENT_COLUMNS)
    document = None if document in names.values() else document
    typed: list[Row] = []
    for number, row in enumerate(rows.rows, start=1):
        try:
            values = {key: row.values.get(str(column)) for key, column in (told | names).items()}
            if is_failed_output(values["predicted"]):
                values["error"] = values["error"] if values.get("error") else values["predicted"]
            name = None if document is None else row.values.get(document)
            called = str(name) if name not in (None, "") else f"row {number}"
            typed.append(typed_row(row.rearranged(values), document=called, task=task, problems=problems))
        except InputError as error:
            problems.reject(error)
    if not typed:
        raise problems.nothing_left("rows", file=path, expected=_EXPECTED)
    if not any(isinstance(row, LabelRow) and row.expected not in (None, "") for row in typed):
        raise InputError("no row has a true label", file=path, field=expected, expected="labels")
    return Run(RunMeta(task), tuple(typed), source=str(path), problems=problems.found)


def _rows(path: PathLike, problems: ProblemList) -> Rows:
    content = load_content(path, problems, expected=_EXPECTED)
    if isinstance(content, Rows):
        return content
    results = content.value.get("results")
    if not isinstance(results, list):
        raise InputError(f"not a list but {shown(results)}", file=path, field="results", expected=_EXPECTED)
    return rows_of(results, RawRow(content.value, str(path)), "results", problems)


def _column(rows: Rows, name: str, path: PathLike) -> str:
    found = name if name in rows.columns else rows.column(name.strip().lower())
    if found is None:
        message = f"no column {name!r}{closest(name, rows.columns)}; columns found: {rows.listed()}"
        raise InputError(message, file=path, field=name, expected="a column of the file")
    return found


def _are_statuses(rows: Rows, column: str) -> bool:
    values = {str(row.values.get(column) or "").strip().lower() for row in rows.rows}
    return values <= COMPLETED_WORDS | FAILED_WORDS | {""}
