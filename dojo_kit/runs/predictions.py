"""A model's answers in a file of their own, joined to the questions they answer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Literal

from dojo_kit.errors import InputError, SettingsError, closest
from dojo_kit.runs.cells import shown
from dojo_kit.runs.problems import ProblemList
from dojo_kit.runs.raw_rows import JsonDocument, RawRow, Rows, load_content, rows_of
from dojo_kit.runs.sources import PathLike, source_path

ANSWER_COLUMNS = ("predicted", "prediction", "generation", "output", "response")
"""Columns that may hold an answer, the first one present wins. ``answer`` is none: benchmarks call the truth so."""

Missing = Literal["failed", "leave_out"]
"""What becomes of a question without a prediction: a failed row, or none. Both are noted with their number."""

NOT_PREDICTED = "no prediction"

_EXPECTED = f"a table or JSON lines with a column {' or '.join(ANSWER_COLUMNS)}"
_NAMED = 3


def read_predictions(
    path: PathLike,
    known: Sequence[str],
    name: Callable[[Sequence[RawRow]], Sequence[str | None]],
    problems: ProblemList,
) -> dict[str, RawRow]:
    """Read predictions, by the question they answer.

    Args:
        path: CSV, TSV, JSONL, a JSON array, Parquet or Excel; or a run record, whose ``results`` are taken.
        known: Names of the questions, in their order.
        name: From all rows to the names of their questions; None where a row does not say. When no row does, rows
            belong to questions by their order, and there must be as many.
        problems: Where rows that belong to no question go.

    Returns:
        Question -> its row, with the answer under ``predicted``; what stood in the file is kept as ``stored``.

    Raises:
        InputError: The file cannot be read, has no column with answers, or has more or fewer rows than there are
            questions and does not name them.
    """
    rows = _rows(source_path(path, expected=_EXPECTED), problems)
    column = rows.column(*ANSWER_COLUMNS)
    if column is None:
        message = f"no column holds an answer; columns found: {rows.listed()}"
        raise InputError(message, file=path, field="predicted", expected=_EXPECTED)
    names = list(name(rows.rows))
    if not any(names):
        if len(names) != len(known):
            message = f"{len(names)} rows that do not name their questions"
            raise InputError(message, file=path, expected=f"{len(known)} rows in the order of the questions, or names")
        names = list(known)
    found: dict[str, RawRow] = {}
    members = set(known)
    for row, question in zip(rows.rows, names, strict=True):
        try:
            key = _new(row, question, members, found, hint=not problems.collecting)
            found[key] = row.rearranged(_spoken(row, column))
        except InputError as error:
            problems.reject(error, document=question)
    if not found:
        raise problems.nothing_left("predictions", file=path, expected=_EXPECTED)
    return found


def _rows(path: PathLike, problems: ProblemList) -> Rows:
    content = load_content(path, problems, expected=_EXPECTED)
    if isinstance(content, Rows):
        return content
    results = content.value.get("results") if isinstance(content, JsonDocument) else None
    if not isinstance(results, list):
        raise InputError(f"not a list but {shown(results)}", file=path, field="results", expected=_EXPECTED)
    return rows_of(results, RawRow(content.value, str(path)), "results", problems)


def _spoken(row: RawRow, column: str) -> dict[str, Any]:
    """Return a row's values with names in lower case and its answer under ``predicted``."""
    values = {name.strip().lower(): value for name, value in row.values.items() if name != column}
    return {**values, "predicted": row.values.get(column)}


def _new(row: RawRow, question: str | None, known: Collection[str], found: Collection[str], *, hint: bool) -> str:
    if question is None:
        raise row.error("does not name its question, as other rows do", expected="the name of a question")
    if question not in known:
        near = closest(question, known) if hint else ""
        raise row.error(f"answers {question!r}, which is not asked{near}", expected="the name of a question")
    if question in found:
        raise row.error(f"{question!r} is answered twice", expected="one row a question")
    return question


def note_missing(
    missing: Sequence[str], *, as_what: Missing, n_questions: int, file: PathLike, problems: ProblemList
) -> None:
    """Note how many questions have no prediction and what becomes of them.

    Args:
        missing: Their names.
        as_what: What becomes of them.
        n_questions: Questions in all.
        file: The file with predictions, for the message.
        problems: Where it is noted.

    Raises:
        SettingsError: `as_what` is no such thing.
    """
    if as_what not in ("failed", "leave_out"):
        raise SettingsError(f"missing is {as_what!r}; known: failed, leave_out")
    if not missing:
        return
    fate = "they count as failed calls" if as_what == "failed" else "they are left out"
    named = ", ".join(map(repr, missing[:_NAMED])) + (", ..." if len(missing) > _NAMED else "")
    message = f"no prediction for {len(missing):,} of {n_questions:,} questions ({named}); {fate}"
    problems.note(InputError(message, file=file, field="predicted", expected="one row a question"))
