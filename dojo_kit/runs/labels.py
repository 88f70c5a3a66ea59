"""Labels from CUAD or from a list of expected fields."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from dojo_kit.errors import InputError
from dojo_kit.records import DocumentLabels, Labels
from dojo_kit.runs.cuad import FOLDERS, JSON_FILE, TABLE, is_table, json_labels, table_labels, with_families
from dojo_kit.runs.expected_fields import expected_labels
from dojo_kit.runs.problems import OnError, ProblemList
from dojo_kit.runs.raw_rows import JsonDocument, RawRow, Rows, load_content
from dojo_kit.runs.sources import PathLike, source_path
from dojo_kit.schema import clause_categories, document_class
from dojo_kit.text.names import document_key

_EXPECTED = f"a folder with {TABLE}, that file, {JSON_FILE}, or a list of expected fields"
_Found = tuple[RawRow, DocumentLabels]


def load_labels(source: PathLike, *, doc_class: str = "contract", on_error: OnError = "raise") -> Labels:
    """Read what is expected of each document.

    Args:
        source: One of

            - a CUAD folder with ``master_clauses.csv`` (or else ``CUAD_v1.json``) and, for the contract
              families, ``contract_folders.csv``; or either of the two label files;
            - expected fields in JSONL, a JSON array, CSV, Parquet or Excel, see
              `dojo_kit.runs.expected_fields`.

            ``cuad:PATH`` and ``jsonl:PATH`` say which; a path alone is told by its content.
        doc_class: Class of document whose fields are labelled.
        on_error: What a label that cannot be read does: ``raise``, or ``collect`` it into ``problems``.

    Returns:
        The labels by `dojo_kit.text.names.document_key`. Of two rows for one document collecting keeps the
        first.

    Raises:
        InputError: The source is missing, unreadable or empty, or a label is faulty and ``on_error`` is
            ``raise``, or collecting leaves no label.
        SettingsError: CUAD labels are read for an unknown class of documents.
    """
    problems = ProblemList(on_error, str(source))
    form, path = _split_form(source)
    path = source_path(path, expected=_EXPECTED)
    list_fields: set[str] = set()
    documents: dict[str, DocumentLabels] = {}
    for row, labels in _found(path, form, doc_class, problems, list_fields):
        try:
            documents[_new_key(row, labels, documents)] = labels
        except InputError as error:
            problems.reject(error, document=labels.document)
    if not documents:
        raise problems.nothing_left("labels", file=path, expected=_EXPECTED)
    if Path(path).is_dir() and (Path(path) / FOLDERS).exists():
        documents = with_families(documents, Path(path) / FOLDERS, problems)
    return Labels(documents, doc_class, str(source), problems.found, frozenset(list_fields))


def _split_form(source: PathLike) -> tuple[str, PathLike]:
    text = os.fspath(source)
    form, colon, path = text.partition(":")
    return (form, path) if colon and form in ("cuad", "jsonl") else ("", source)


def _new_key(row: RawRow, labels: DocumentLabels, known: dict[str, DocumentLabels]) -> str:
    key = document_key(labels.document)
    if not key:
        expected = "a name with a letter a-z or a digit"
        raise row.error(f"document name {labels.document!r} gives no key", field="document", expected=expected)
    if key in known:
        first = known[key].document
        name = repr(labels.document) if first == labels.document else f"{first!r} and {labels.document!r}"
        raise row.error(f"two rows for one document: {name}", field="document", expected="one row a document")
    return key


def _found(path: PathLike, form: str, doc_class: str, problems: ProblemList, list_fields: set[str]) -> Iterable[_Found]:
    file = Path(path)
    if file.is_dir():
        names = [name for name in (TABLE, JSON_FILE) if (file / name).exists()]
        if not names or form == "jsonl":
            raise InputError("is a folder without labels", file=path, expected=_EXPECTED)
        file, form = file / names[0], "cuad"
    content = load_content(file, problems, expected=_EXPECTED)
    if isinstance(content, JsonDocument) and "data" in content.value and form != "jsonl":
        return json_labels(RawRow(content.value, str(file)), _cuad_fields(doc_class), problems)
    if isinstance(content, Rows) and content.tabular and form != "jsonl" and is_table(content):
        return table_labels(content, str(file), _cuad_fields(doc_class), problems)
    if form == "cuad":
        raise InputError("is not CUAD", file=path, expected=f"{TABLE} or {JSON_FILE}")
    if isinstance(content, JsonDocument):
        content = Rows((RawRow(content.value, str(file)),), tuple(content.value))
    return _expected(content, str(file), problems, list_fields)


def _cuad_fields(doc_class: str) -> frozenset[str]:
    fields = frozenset(document_class(doc_class).fields)
    missing = sorted({category.field for category in clause_categories() if category.field} - fields)
    if missing:
        message = f"document class {doc_class!r} has no field {', '.join(missing)}"
        raise InputError(message, field="doc_class", expected="a class with the fields CUAD labels, e.g. contract")
    return fields


def _expected(rows: Rows, file: str, problems: ProblemList, list_fields: set[str]) -> Iterator[_Found]:
    if rows.rows:
        yield from expected_labels(rows, file, problems, list_fields)
