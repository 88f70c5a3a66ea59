"""Plain lists of predictions, in any of the file formats, made into rows as a run record has them.

A row names its document (`dojo_kit.runs.raw_rows.DOCUMENT_COLUMNS`) and holds its answer

- in a column ``predicted``: a JSON object of fields, decoded or as text; a label, when a true label stands
  beside it (``expected``, ``expected_doc_type``, ``expected_subtype``); or an answer to a question, when
  there are ``label_spans``; or
- in one column per field. In a table, lists are written as JSON; other text stays text and an empty cell
  is no value.

Columns about the call are never fields: status, tag, error, usage and token counts, cost, and unused names
of the document other than ``title``. ``status`` is a field after all when its values are no statuses.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dojo_kit.errors import InputError
from dojo_kit.runs.cells import list_cell
from dojo_kit.runs.outcomes import COMPLETED_WORDS, FAILED_WORDS
from dojo_kit.runs.problems import ProblemList
from dojo_kit.runs.raw_rows import RawRow, Rows
from dojo_kit.runs.strict_json import parse_json
from dojo_kit.runs.typed_rows import EXTRACTION_TASK, PLAIN_LABEL_TASK, QUESTION_TASK, RowKind, row_kind

_COUNTS = ("prompt_tokens", "completion_tokens", "total_tokens", "input_tokens", "output_tokens")
_CALL_COLUMNS = frozenset({"status", "tag", "error", "tokens", "usage", *_COUNTS, "cost", "cost_usd", "updated_at"})
_NAMES = frozenset({"document", "filename", "file", "doc_id", "id"})
_TRUE_LABELS = ("expected", "expected_doc_type", "expected_subtype", "expected_subclass")
_SPOKEN = ("predicted", "label_spans", "category", "question", "title", *_TRUE_LABELS, *_CALL_COLUMNS)
_JSON_CELLS = ("tokens", "usage")


def plain_task(rows: Rows) -> str:
    """Guess the task of plain rows from their columns.

    Examples:
        >>> plain_task(Rows((), ("document", "predicted", "expected")))
        'multiclass'
        >>> plain_task(Rows((), ("document", "effective_date")))
        'contract_entity_extraction'
    """
    if rows.column("predicted") is None:
        return EXTRACTION_TASK
    if rows.column("label_spans"):
        return QUESTION_TASK
    truth = rows.column(*_TRUE_LABELS)
    if truth is None or any(_is_object(row.values.get(truth)) for row in rows.rows):
        return EXTRACTION_TASK
    return PLAIN_LABEL_TASK


def _is_object(value: Any) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, str) and value.lstrip().startswith("{"))


def plain_rows(rows: Rows, *, task: str, file: str, problems: ProblemList) -> list[RawRow]:
    """Rearrange plain rows into the keys a run record uses.

    Args:
        rows: The rows as read.
        task: Task key.
        file: The file, for messages.
        problems: Where rows with unreadable cells go.

    Raises:
        InputError: No column holds an answer; the message lists the columns found.
    """
    kind = row_kind(task)
    bare = rows.column("predicted") is None
    layout = _fields_layout(rows, kind, file) if bare else _predicted_layout(rows)
    found = []
    for row in rows.rows:
        try:
            found.append(row.rearranged(_arranged(row, layout, tabular=rows.tabular)))
        except InputError as error:
            problems.reject(error)
    return found


_Layout = Mapping[str, tuple[str, str]]
"""Column as written -> the object it belongs to (``predicted``, or empty for the row itself) and its key."""


def _predicted_layout(rows: Rows) -> _Layout:
    lower = {column: column.strip().lower() for column in rows.columns}
    return {column: ("", name if name in _SPOKEN else column) for column, name in lower.items()}


def _fields_layout(rows: Rows, kind: RowKind, file: str) -> _Layout:
    document = rows.document_column(file)
    layout = {}
    for column in rows.columns:
        name = column.strip().lower()
        if column == document or name in _NAMES:
            layout[column] = ("", column)
        elif name in _CALL_COLUMNS and not (name == "status" and _is_field(rows, column)):
            layout[column] = ("", name)
        elif name not in _TRUE_LABELS:
            layout[column] = ("predicted", column)
    if kind != "extraction" or not any(holder for holder, _ in layout.values()):
        raise InputError(
            f"no column holds an answer; columns found: {rows.listed()}",
            file=file,
            field="predicted",
            expected="a column 'predicted'" + (" or one per field" if kind == "extraction" else ""),
        )
    return layout


def _is_field(rows: Rows, column: str) -> bool:
    """Tell whether the values of ``status`` are something else than the state of a call."""
    values = {str(row.values.get(column) or "").strip().lower() for row in rows.rows}
    return not values <= COMPLETED_WORDS | FAILED_WORDS | {""}


def _arranged(row: RawRow, layout: _Layout, *, tabular: bool) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for column, (holder, key) in layout.items():
        cell = row.values.get(column)
        if tabular and (holder or key == "label_spans"):
            cell = list_cell(cell)
        elif tabular and key in _JSON_CELLS and isinstance(cell, str):
            cell = parse_json(cell, file=row.file, line=row.line, expected=f"JSON in column {column!r}")
        if holder:
            values.setdefault(holder, {})[key] = cell
        elif column in row.values or key == "predicted":
            values[key] = cell
    return values
