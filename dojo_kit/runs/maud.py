"""MAUD's questions about merger agreements: ``contract_name, text, question, subquestion, answer, label, ...``.

The three files of the data set (``MAUD_train.csv``, ``MAUD_dev.csv``, ``MAUD_test.csv``) split questions, not
contracts: every contract occurs in all of them. A question's set of answers is its own, ordered by ``label``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from dojo_kit.errors import InputError
from dojo_kit.runs.asked_questions import AskedQuestion, QuestionSet, answer_sets, note_contradictions
from dojo_kit.runs.cells import shown
from dojo_kit.runs.problems import OnError, ProblemList
from dojo_kit.runs.raw_rows import JsonDocument, RawRow, Rows, load_content
from dojo_kit.runs.sources import PathLike, source_path

MAUD_TASK = "maud_question"

_NEEDED = ("contract_name", "text", "question", "answer")
_NO_SUBQUESTION = "<none>"
_EXPECTED = "a MAUD table with contract_name, text, question, subquestion, answer and label, or a folder of MAUD_*.csv"


def load_maud(path: PathLike, *, data_type: str | None = None, on_error: OnError = "raise") -> QuestionSet:
    """Read MAUD's questions.

    Args:
        path: One of its CSV files, or a folder with several (``MAUD_*.csv``, read in the order of their names).
        data_type: Only questions of this kind of text, such as ``main``; ``abridged`` and ``rare_answers`` repeat or
            make up texts of others.
        on_error: What a row without a question, text or answer does.

    Returns:
        The questions. Their ``id`` is the number of the row, from 0, after the file's name when there are several: the
        column ``id`` of the data set numbers questions, not rows. ``given`` holds the other columns.

    Raises:
        InputError: The file cannot be read, lacks a column, or a row is faulty and `on_error` is ``raise``.
    """
    problems = ProblemList(on_error, str(path))
    path = source_path(path, expected=_EXPECTED)
    files = _files(path)
    found: list[AskedQuestion] = []
    for file in files:
        for question in _file_questions(file, len(files) > 1, problems):
            if data_type is not None and question.given.get("data_type") != data_type:
                continue
            found.append(question)
    if not found:
        raise problems.nothing_left("questions", file=path, expected=_EXPECTED)
    places = _places(found, path, problems)
    note_contradictions(found, beside=(), file=path, problems=problems)
    return QuestionSet(MAUD_TASK, tuple(found), answer_sets(found, places), source=str(path), problems=problems.found)


def _files(path: PathLike) -> list[PathLike]:
    folder = Path(path)
    if not folder.is_dir():
        return [path]
    found = sorted(file for file in folder.iterdir() if file.match("MAUD_*.csv"))
    if not found:
        raise InputError("is a folder without MAUD_*.csv", file=path, expected=_EXPECTED)
    return [*found]


def _file_questions(file: PathLike, several: bool, problems: ProblemList) -> Iterator[AskedQuestion]:
    content = load_content(file, problems, expected=_EXPECTED)
    if isinstance(content, JsonDocument):
        raise InputError("is one JSON object", file=file, expected=_EXPECTED)
    columns = {name: content.column(name) for name in (*_NEEDED, "subquestion", "label")}
    for name in _NEEDED:
        if columns[name] is None:
            message = f"no column {name!r}; columns found: {content.listed()}"
            raise InputError(message, file=file, field=name, expected=_EXPECTED)
    prefix = f"{Path(file).stem}/" if several else ""
    for number, row in enumerate(content.rows):
        try:
            yield _question(row, columns, f"{prefix}{number}", content)
        except InputError as error:
            problems.reject(error)


def _question(row: RawRow, columns: Mapping[str, str | None], number: str, rows: Rows) -> AskedQuestion:
    question, text, answer = (_needed(row, columns[name]) for name in ("question", "text", "answer"))
    _needed(row, columns["contract_name"])
    sub = row.values.get(columns["subquestion"] or "")
    named = sub is not None and str(sub).strip().lower() != _NO_SUBQUESTION
    told = {columns[key] for key in ("text", "answer", "label")}
    return AskedQuestion(
        id=number,
        task=f"{question.strip()} / {str(sub).strip()}" if named else question.strip(),
        text=text,
        answer=answer.strip(),
        given={column.strip().lower(): row.values.get(column) for column in rows.columns if column not in told}
        | {"label": _label(row, columns["label"])},
    )


def _needed(row: RawRow, column: str | None) -> str:
    value = row.values.get(column or "")
    if isinstance(value, str) and value.strip():
        return value
    raise row.error(f"not text but {shown(value)}", field=column, expected="text")


def _label(row: RawRow, column: str | None) -> int | None:
    """Return the number of an answer in its question's list; None where the table has none."""
    value = row.values.get(column or "")
    if value is None:
        return None
    text = str(value).removesuffix(".0")
    if not text.isdecimal():
        raise row.error(f"not the number of an answer but {shown(value)}", field=column, expected="0, 1, 2 ...")
    return int(text)


def _places(questions: Sequence[AskedQuestion], file: PathLike, problems: ProblemList) -> dict[str, dict[str, int]]:
    """Return task -> answer -> label; a label that stands for two answers, or an answer with two, is noted."""
    places: dict[str, dict[str, int]] = {}
    owners: dict[tuple[str, int], str] = {}
    once = {(question.task, question.answer, question.given["label"]): question for question in reversed(questions)}
    for (_, _, label), question in sorted(once.items(), key=lambda item: str(item[0])):
        if label is None:
            continue
        known = places.setdefault(question.task, {}).setdefault(question.answer, label)
        owner = owners.setdefault((question.task, label), question.answer)
        if known != label or owner != question.answer:
            message = f"{question.answer!r} has label {label} in {question.id}"
            expected = f"{known}" if known != label else f"another: {label} is {owner!r}"
            problems.note(InputError(message, file=file, field="label", expected=expected), document=question.id)
    answered: dict[str, set[str]] = {}
    for question in questions:
        answered.setdefault(question.task, set()).add(question.answer)
    return {task: known for task, known in places.items() if answered[task] <= known.keys()}
