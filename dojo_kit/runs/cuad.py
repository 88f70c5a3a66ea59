"""CUAD's labels: ``master_clauses.csv``, ``CUAD_v1.json`` and the folder each contract came from.

Spans stay in the order of the file: categories as the columns stand, spans as the cell lists them. Which of
them count (the first of a category, or all) is for the scorer to say. Spans of a category that no field of
the document class covers (Warranty Duration) are kept as `DocumentLabels.unscored`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from dojo_kit.errors import InputError, closest
from dojo_kit.records import DocumentLabels, ExpectedSpan
from dojo_kit.runs.cells import python_list, shown
from dojo_kit.runs.problems import ProblemList
from dojo_kit.runs.raw_rows import JsonDocument, RawRow, Rows, document_name, load_content
from dojo_kit.schema import ClauseCategory, clause_categories, clause_category
from dojo_kit.text.names import document_key
from dojo_kit.text.tokens import is_no_value

TABLE = "master_clauses.csv"
JSON_FILE = "CUAD_v1.json"
FOLDERS = "contract_folders.csv"

_NAMED = 6
"""Missing categories named in a message."""

_ANSWER = re.compile(r"\s*-\s*Answer\s*$", re.IGNORECASE)
_OMITTED = re.compile(r"[<\[]omitted[>\]]", re.IGNORECASE)
_QUOTED = re.compile(r'"([^"]+)"')
_NUMBERED = re.compile(r"_\d+$")
_Spans = dict[ClauseCategory, list[ExpectedSpan]]
_Found = tuple[RawRow, DocumentLabels]


def is_table(rows: Rows) -> bool:
    """Tell whether a table is laid out like ``master_clauses.csv``: categories, each with its answer."""
    return any(_ANSWER.search(column) for column in rows.columns) and bool(_columns(rows))


def _columns(rows: Rows) -> dict[str, ClauseCategory]:
    """Return the columns that hold spans, with their category."""
    named = ((column, clause_category(column)) for column in rows.columns if not _ANSWER.search(column))
    return {column: category for column, category in named if category}


def table_labels(rows: Rows, file: str, fields: frozenset[str], problems: ProblemList) -> Iterator[_Found]:
    """Read ``master_clauses.csv``.

    Args:
        rows: The table.
        file: The file, for messages.
        fields: Fields of the document class.
        problems: Where missing categories and cells that hold no list of texts go, which collecting reads as
            no spans, and where columns that are no category are noted.

    Yields:
        Each row with its labels.

    Raises:
        InputError: No column names the document, or a category has no column.
    """
    name, columns = rows.document_column(file), _columns(rows)
    answers = {_ANSWER.sub("", column): column for column in rows.columns if _ANSWER.search(column)}
    _check_columns(rows, file, name, columns, problems)
    for row in rows.rows:
        try:
            document = document_name(row, name)
        except InputError as error:
            problems.reject(error)
            continue
        spans = {
            category: _cell_spans(row, column, category, document, problems) for column, category in columns.items()
        }
        given = {
            category: str(row.values[answers[column]])
            for column, category in columns.items()
            if column in answers and not _unanswered(row.values[answers[column]])
        }
        yield row, _labels(document, spans, given, fields)


def _check_columns(
    rows: Rows, file: str, name: str, columns: Mapping[str, ClauseCategory], problems: ProblemList
) -> None:
    """Note columns that are no category; reject a table without one, which would read as "no such clause"."""
    known = {category.name: category for category in clause_categories()}
    unknown = [column for column in rows.columns if column != name and _ANSWER.sub("", column) not in columns]
    hints = {column: closest(_ANSWER.sub("", column), known) for column in unknown}
    for column, hint in hints.items():
        fault = InputError(f"is no clause category{hint}", file=file, field=column, expected="a category of CUAD")
        problems.note(fault)
    missing = [category for category in known if known[category] not in columns.values()]
    if missing:
        named = ", ".join(missing[:_NAMED]) + (", ..." if len(missing) > _NAMED else "")
        near = next((f"; column {column!r} is none{hint}" for column, hint in hints.items() if hint), "")
        message = f"no column of {len(missing)} of {len(known)} clause categories: {named}{near}"
        expected = "a column for each category, with [] where there is no clause"
        problems.reject(InputError(message, file=file, field=missing[0], expected=expected))


def _unanswered(answer: Any) -> bool:
    return is_no_value(answer) or answer == "[]"


def _cell_spans(
    row: RawRow, column: str, category: ClauseCategory, document: str, problems: ProblemList
) -> list[ExpectedSpan]:
    cell = row.values[column]
    if cell is None or cell == "[]":
        return []
    texts = python_list(cell) if isinstance(cell, str) else cell
    if isinstance(texts, list) and all(isinstance(text, str) for text in texts):
        return [ExpectedSpan(text, category.name) for text in texts]
    fault = row.error(f"no list of texts but {shown(cell)}", field=column, expected="a list such as ['text', 'text']")
    problems.reject(fault, document=document)
    return []


def _labels(
    document: str, spans: _Spans, answers: Mapping[ClauseCategory, str], fields: frozenset[str]
) -> DocumentLabels:
    by_field: dict[str, list[ExpectedSpan]] = {}
    unscored: list[ExpectedSpan] = []
    for category, found in spans.items():
        if category.field in fields:
            by_field.setdefault(str(category.field), []).extend(found)
        else:
            unscored.extend(found)
    said = {category: answer.strip().lower() for category, answer in answers.items()}
    applicable = {c for c, found in spans.items() if said.get(c) == "yes" or (found and said.get(c) != "no")}
    values = {
        category.name: tuple(part.strip() for part in answer.split(";") if part.strip())
        for category, answer in answers.items()
        if said[category] not in ("yes", "no")
    }
    return DocumentLabels(
        document=document,
        fields={name: tuple(found) for name, found in by_field.items() if found},
        values=values,
        applicable=frozenset(category.name for category in applicable),
        unscored=tuple(unscored),
    )


def json_labels(document: RawRow, fields: frozenset[str], problems: ProblemList) -> Iterator[_Found]:
    """Read labels laid out like SQuAD: ``data[].paragraphs[].qas[].answers[]``.

    The category of a question is what follows ``__`` in its id, else what its text quotes. An answer's
    offset is kept where the answer stands at it; several paragraphs have no common offsets.

    Args:
        document: The whole file.
        fields: Fields of the document class.
        problems: Where contracts with wrong types or unknown categories go.

    Yields:
        Each contract with its labels.
    """
    for index, contract in enumerate(_list(document, "data")):
        row = RawRow(contract if isinstance(contract, dict) else {}, document.file, path=f"data[{index}]")
        try:
            if not isinstance(contract, dict):
                raise row.error(f"not an object but {shown(contract)}", expected="an object")
            title = document_name(row, "title")
            spans = _question_spans(row, problems, title)
        except InputError as error:
            problems.reject(error)
            continue
        ordered = dict(sorted(spans.items(), key=lambda item: item[0].order))
        yield row, _labels(title, ordered, {}, fields)


def _question_spans(contract: RawRow, problems: ProblemList, title: str) -> _Spans:
    spans: _Spans = {}
    paragraphs = list(child_objects(contract, "paragraphs"))
    for paragraph in paragraphs:
        context = paragraph.values.get("context")
        for question in child_objects(paragraph, "qas"):
            category = question_category(question)
            found = []
            for answer in child_objects(question, "answers"):
                span = answer_span(answer, category, context)
                start = answer.values.get("answer_start")
                if start is not None and isinstance(context, str) and not _begins(span.text, context, start):
                    fault = f"the answer does not stand at {start} of the context"
                    expected = "the offset at which the context holds the text"
                    problems.note(answer.error(fault, field="answer_start", expected=expected), document=title)
                found.append(span if len(paragraphs) == 1 else replace(span, start=None))
            if found and question.values.get("is_impossible") is True:
                fault = f"true beside {len(found)} answers, which are used"
                problems.note(question.error(fault, field="is_impossible", expected="false"), document=title)
            spans.setdefault(category, []).extend(found)
    return spans


def question_category(question: RawRow) -> ClauseCategory:
    """Return the category a question asks about: what follows ``__`` in its id, else what its text quotes.

    Raises:
        InputError: Neither names a category.
    """
    _, mark, name = str(question.values.get("id") or "").rpartition("__")
    quoted = _QUOTED.search(str(question.values.get("question") or ""))
    names = [name, _NUMBERED.sub("", name)] if mark else []
    names += [quoted.group(1)] if quoted else []
    category = next((found for found in map(clause_category, names) if found), None)
    if category is None:
        shown_names = " or ".join(map(repr, names)) or "nothing"
        raise question.error(f"no category in {shown_names}", field="id", expected="TITLE__CATEGORY")
    return category


def answer_span(answer: RawRow, category: ClauseCategory, context: Any) -> ExpectedSpan:
    """Read an answer; its offset is kept where it stands at it.

    Args:
        answer: The answer.
        category: What was asked about.
        context: The contract's text.

    Raises:
        InputError: The text is none, or the offset no whole number.
    """
    text, start = answer.values.get("text"), answer.values.get("answer_start")
    if not isinstance(text, str):
        raise answer.error(f"not text but {shown(text)}", field="text", expected="text")
    if start is not None and (not isinstance(start, int) or isinstance(start, bool)):
        raise answer.error(f"not an offset but {shown(start)}", field="answer_start", expected="a whole number")
    there = isinstance(context, str) and start is not None and start >= 0 and context.startswith(text, start)
    return ExpectedSpan(text, category.name, start if there else None)


def _begins(text: str, context: str, start: int) -> bool:
    """Tell whether an answer begins at an offset; of one with omissions its first part does."""
    return start >= 0 and context.startswith(_OMITTED.split(text, maxsplit=1)[0].rstrip(), start)


def child_objects(parent: RawRow, key: str) -> Iterator[RawRow]:
    """Yield the objects of a list, each with its place.

    Raises:
        InputError: There is no list, or something else than an object in it.
    """
    for index, item in enumerate(_list(parent, key)):
        prefix = f"{parent.path}.{key}" if parent.path else key
        row = RawRow(item if isinstance(item, dict) else {}, parent.file, path=f"{prefix}[{index}]")
        if not isinstance(item, dict):
            raise row.error(f"not an object but {shown(item)}", expected="an object")
        yield row


def _list(parent: RawRow, key: str) -> Iterable[Any]:
    found = parent.values.get(key)
    if isinstance(found, list):
        return found
    raise parent.error(f"not a list but {shown(found)}", field=key, expected="a list")


def with_families(
    documents: Mapping[str, DocumentLabels], path: Path, problems: ProblemList
) -> dict[str, DocumentLabels]:
    """Add the contract family of each document: the folder CUAD keeps it in, as written.

    A file whose name differs between the two lists (one contract of CUAD) is taken for the only document
    left over whose key is its own with words added or missing at the end.

    Args:
        documents: Labels by document key.
        path: ``contract_folders.csv`` with ``filename`` and ``folder``.
        problems: Where rows that cannot be read go.
    """
    content = load_content(path, problems, expected="a table with filename and folder")
    rows = content if not isinstance(content, JsonDocument) else Rows((), ())
    name, folder = rows.document_column(str(path)), rows.column("folder")
    if folder is None:
        raise InputError(f"columns found: {rows.listed()}", file=path, field="folder", expected="a column folder")
    folders: dict[str, str] = {}
    for row in rows.rows:
        try:
            folders[document_key(document_name(row, name))] = _folder(row, folder)
        except InputError as error:
            problems.reject(error)
    left_over = [key for key in documents if key not in folders]
    for key in [key for key in folders if key not in documents]:
        near = [other for other in left_over if _is_longer_name(key, other) or _is_longer_name(other, key)]
        if len(near) == 1:
            folders.setdefault(near[0], folders[key])
    return {key: replace(labels, subtype=folders.get(key)) for key, labels in documents.items()}


def _is_longer_name(key: str, other: str) -> bool:
    """Tell whether a key adds words to another; a digit alone would tell two documents apart."""
    return key.startswith(other) and key.removeprefix(other).isalpha()


def _folder(row: RawRow, column: str) -> str:
    value = row.values.get(column)
    if isinstance(value, str):
        return value
    raise row.error(f"not a folder but {shown(value)}", field=column, expected="the name of a folder")
