"""Labels as a list of expected fields, one document a row.

A row names its document (`dojo_kit.runs.raw_rows.DOCUMENT_COLUMNS`) and holds its labels in an object
``fields``, ``expected`` or ``expected_fields``, or else in one key per field. A field's value is a text, a
number, an object ``{"text": ..., "category": ..., "start": ...}``, or a list of these; null is no
requirement. Beside them a row may hold ``subtype`` (the family), ``applicable`` (a list of categories) and
``values`` (category -> curated answers). In a table, lists are written as JSON.

A checkpoint manifest of an extraction run holds ``expected_fields`` too, so it can be read as labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dojo_kit.errors import InputError, closest
from dojo_kit.records import DocumentLabels, ExpectedSpan
from dojo_kit.runs.cells import list_cell, shown
from dojo_kit.runs.problems import ProblemList
from dojo_kit.runs.raw_rows import RawRow, Rows, document_name, latest_rows
from dojo_kit.runs.strict_json import parse_json

_HOLDERS = ("fields", "expected", "expected_fields")
_SPAN_KEYS = ("text", "category", "start")
_BESIDE = frozenset({"document", "filename", "file", "doc_id", "id", "type", "subtype", "applicable", "values"})
_VALUE = 'text, a number, {"text": ..., "category": ..., "start": ...}, or a list of these'


def expected_labels(
    rows: Rows, file: str, problems: ProblemList, list_fields: set[str]
) -> Iterator[tuple[RawRow, DocumentLabels]]:
    """Read labels, row by row.

    Args:
        rows: The rows.
        file: The file, for messages.
        problems: Where rows with a label of a wrong type go.
        list_fields: Where the names of fields go whose label is written as a list, also of one or no item.

    Yields:
        Each row with its labels.

    Raises:
        InputError: No column names the document.
    """
    body = rows.where(lambda row: row.values.get("type") != "header")
    column = body.document_column(file)
    chosen = list(body.rows)
    if len(chosen) < len(rows.rows):
        chosen = latest_rows(chosen, lambda row: document_name(row, column), problems)
    for row in chosen:
        document = None
        try:
            document = document_name(row, column)
            labels = _document_labels(row, document, column, list_fields, tabular=rows.tabular)
        except InputError as error:
            problems.reject(error, document=document)
            continue
        yield row, labels


def _document_labels(
    row: RawRow, document: str, column: str, list_fields: set[str], *, tabular: bool
) -> DocumentLabels:
    fields, prefix = _fields(row, column, tabular=tabular)
    values = {name: list_cell(value) if tabular else value for name, value in fields.items()}
    spans = {name: _spans(row, f"{prefix}{name}", value) for name, value in values.items()}
    found = {name: labels for name, labels in spans.items() if labels}
    list_fields |= {name for name, value in values.items() if isinstance(value, list)}
    subtype = row.values.get("subtype")
    if subtype is not None and not isinstance(subtype, str):
        raise row.error(f"not text but {shown(subtype)}", field="subtype", expected="text")
    labelled = {span.category for spans in found.values() for span in spans if span.category}
    applicable = _texts(row, "applicable", row.values.get("applicable"), tabular=tabular)
    return DocumentLabels(
        document=document,
        fields=found,
        values=_values(row, tabular=tabular),
        subtype=subtype,
        applicable=frozenset(labelled if applicable is None else applicable),
    )


def _fields(row: RawRow, column: str, *, tabular: bool) -> tuple[Mapping[str, Any], str]:
    """Return a row's fields and what to put before their names in messages."""
    holder = next((key for key in _HOLDERS if row.values.get(key) is not None), None)
    if holder is None:
        skipped = _BESIDE | {column} | set(_HOLDERS)
        return {key: value for key, value in row.values.items() if key not in skipped}, ""
    fields = row.values[holder]
    if tabular and isinstance(fields, str):
        fields = parse_json(fields, file=row.file, line=row.line, expected=f"JSON in column {holder!r}")
    if not isinstance(fields, Mapping):
        raise row.error(f"not an object but {shown(fields)}", field=holder, expected="an object {field: value}")
    return fields, f"{holder}."


def _spans(row: RawRow, field: str, value: Any) -> tuple[ExpectedSpan, ...]:
    if not isinstance(value, list):
        return (_span(row, field, value),) if value is not None else ()
    items = [(f"{field}[{index}]", item) for index, item in enumerate(value) if item is not None]
    return tuple(_span(row, place, item) for place, item in items)


def _span(row: RawRow, field: str, value: Any) -> ExpectedSpan:
    if not isinstance(value, Mapping):
        return ExpectedSpan(_label(row, field, value))
    unknown = next((key for key in value if key not in _SPAN_KEYS), None)
    if unknown is not None:
        known = f"only {', '.join(_SPAN_KEYS)}"
        raise row.error(f"unknown key {unknown!r}{closest(unknown, _SPAN_KEYS)}", field=field, expected=known)
    category, start = value.get("category"), value.get("start")
    if category is not None and not isinstance(category, str):
        raise row.error(f"not text but {shown(category)}", field=f"{field}.category", expected="text")
    if start is not None and (not isinstance(start, int) or isinstance(start, bool) or start < 0):
        raise row.error(f"not an offset but {shown(start)}", field=f"{field}.start", expected="a whole number")
    return ExpectedSpan(_label(row, f"{field}.text", value.get("text")), category or "", start)


def _label(row: RawRow, field: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise row.error(f"no label but {shown(value)}", field=field, expected=_VALUE)


def _texts(row: RawRow, field: str, value: Any, *, tabular: bool) -> tuple[str, ...] | None:
    value = list_cell(value) if tabular else value
    if value is None:
        return None
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise row.error(f"not a list of texts but {shown(value)}", field=field, expected="a list of texts")
    return tuple(texts)


def _values(row: RawRow, *, tabular: bool) -> dict[str, tuple[str, ...]]:
    values = row.values.get("values")
    if tabular and isinstance(values, str):
        values = parse_json(values, file=row.file, line=row.line, expected="JSON in column 'values'")
    if values is None:
        return {}
    if not isinstance(values, Mapping):
        raise row.error(f"not an object but {shown(values)}", field="values", expected="an object {category: answers}")
    return {name: _texts(row, f"values.{name}", answers, tabular=False) or () for name, answers in values.items()}
