"""Questions with a closed set of answers, as MAUD and LegalBench ask them, and runs made of a model's answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from dojo_kit.errors import InputError, closest
from dojo_kit.records import LabelRow, Problem, Row, Run, RunMeta
from dojo_kit.runs.predictions import NOT_PREDICTED, Missing, note_missing, read_predictions
from dojo_kit.runs.problems import OnError, ProblemList
from dojo_kit.runs.raw_rows import RawRow
from dojo_kit.runs.sources import PathLike
from dojo_kit.runs.typed_rows import typed_row

_LISTED_CONTRADICTIONS = 20
_COMPARED = 40
_NAME_COLUMNS = ("id", "document", "filename")
_INDEX_COLUMNS = ("index", "row")
_TELLING = ("contract_name", "document_name", "question", "subquestion")
"""Columns of a question that a row of answers repeats, if at all, unchanged."""


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question about a text, and its answer.

    Attributes:
        id: Its name, unique in its set.
        task: What is asked: the LegalBench task, or the MAUD question with its subquestion. Questions of one task
            have one set of answers.
        text: The text asked about.
        answer: The true answer, as spelled by the data set.
        given: What else stood beside it: contract, slice, kind of text.
    """

    id: str
    task: str
    text: str
    answer: str
    given: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, repr=False)
class QuestionSet:
    """Questions of one benchmark.

    Attributes:
        kind: Task key under which answers are scored: ``maud_question`` or ``legalbench``.
        questions: The questions in the order of their files.
        answers: Task -> the answers there are; empty for a task whose answers are free text.
        options: Task -> answer -> what it stands for, where answers are letters and the meaning is known.
        source: Where they came from.
        problems: What was wrong with rows that could not be used, and with those that could.
    """

    kind: str
    questions: tuple[AskedQuestion, ...]
    answers: Mapping[str, tuple[str, ...]]
    options: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    source: str = ""
    problems: tuple[Problem, ...] = ()

    @property
    def tasks(self) -> tuple[str, ...]:
        """What is asked, in order of first occurrence."""
        return tuple(dict.fromkeys(question.task for question in self.questions))

    def of_task(self, task: str) -> QuestionSet:
        """Return the questions of one task.

        Raises:
            InputError: None is asked; the message names the closest.
        """
        if task not in self.tasks:
            raise InputError(f"no task {task!r}{closest(task, self.tasks)}", file=self.source, expected="a task of it")
        return replace(
            self,
            questions=tuple(question for question in self.questions if question.task == task),
            answers={task: self.answers.get(task, ())},
            options={task: self.options[task]} if task in self.options else {},
        )

    def __len__(self) -> int:
        return len(self.questions)

    def __repr__(self) -> str:
        return (
            f"QuestionSet({self.kind!r}, {len(self.questions)} questions of {len(self.tasks)} tasks, "
            f"{len(self.problems)} problems)"
        )


def answered_questions(
    questions: QuestionSet, path: PathLike, *, missing: Missing = "failed", on_error: OnError = "raise"
) -> Run:
    """Make a run of a model's answers to questions.

    Args:
        questions: The questions.
        path: The answers, see `dojo_kit.runs.predictions.read_predictions`. A row names its question by ``id``, or by
            ``index`` (with ``task``, when several are asked). Where the data set has a column ``id`` of its own, which
            answers may repeat, ids name questions only when they are unique names of questions and are not the
            repeated column; without names, answers follow the order of the questions, and what they repeat is checked.
        missing: What becomes of questions without an answer.
        on_error: What a row that answers no question does.

    Returns:
        A run of the set's kind with one `LabelRow` a question. ``meta.parameters["answers"]`` holds the set of answers
        of each task, and ``valid_classes`` that of the only one; a row's ``stored["question"]`` names its task, and
        ``stored["asked"]`` is the question's own text, where the data set has one.

    Raises:
        InputError: The answers cannot be read or joined.
    """
    problems = ProblemList(on_error, str(path))
    known = {question.id: question for question in questions.questions}
    single = questions.tasks[0] if len(questions.tasks) == 1 else None
    named = read_predictions(path, list(known), lambda rows: _question_names(rows, known, single), problems)
    found = {name: row for name, row in named.items() if _answers(row, known[name], problems)}
    absent = [name for name in known if name not in found]
    note_missing(absent, as_what=missing, n_questions=len(known), file=path, problems=problems)
    rows: list[Row] = []
    for name, question in known.items():
        if name in found:
            rows.append(_answered(question, found[name], questions.kind, problems))
        elif missing == "failed":
            stored = _question_values(question)
            rows.append(LabelRow(name, "failed", NOT_PREDICTED, expected=question.answer, stored=stored))
    answers = {task: list(questions.answers.get(task, ())) for task in questions.tasks}
    only = {"valid_classes": answers[single]} if single and answers[single] else {}
    meta = RunMeta(questions.kind, name=Path(path).stem, parameters={"answers": answers, **only})
    return Run(meta, tuple(rows), source=str(path), problems=problems.found)


def _question_names(rows: Sequence[RawRow], known: Mapping[str, AskedQuestion], single: str | None) -> list[str | None]:
    own = {key for question in known.values() for key in question.given}
    columns = [column for column in _NAME_COLUMNS if column not in own]
    if "id" in own:
        said = [str(_lower(row).get("id", "")) for row in rows] if any("id" in _lower(row) for row in rows) else []
        repeated = {name: str(question.given.get("id")) for name, question in known.items()}
        if said and said != list(repeated.values()):
            return _by_id(rows, said, repeated)
    return [_question_name(row, columns, known, single) for row in rows]


def _by_id(rows: Sequence[RawRow], said: Sequence[str], repeated: Mapping[str, str]) -> list[str | None]:
    """Read ids that are not the data set's own in its order: names of questions, else own ids that are unique."""
    if len(set(said)) == len(said) and set(said) <= repeated.keys():
        return list(said)
    by_id = {own: name for name, own in repeated.items()}
    if len(by_id) == len(repeated):
        return [by_id.get(own, own) for own in said]
    order = list(repeated.values())
    at = next((i for i, (a, b) in enumerate(zip(said, order, strict=False)) if a != b), len(said) - 1)
    expected = f"{order[at]!r} as in the questions' order, or names of questions" if at < len(order) else "fewer rows"
    raise rows[at].error(f"id {said[at]!r} belongs to several questions", field="id", expected=expected)


def _lower(row: RawRow) -> dict[str, Any]:
    return {key.strip().lower(): value for key, value in row.values.items()}


def _question_name(
    row: RawRow, columns: Sequence[str], known: Mapping[str, AskedQuestion], single: str | None
) -> str | None:
    values = _lower(row)
    name = next((values[key] for key in columns if values.get(key) not in (None, "")), None)
    if name is not None:
        return str(name)
    index = next((values[key] for key in _INDEX_COLUMNS if values.get(key) not in (None, "")), None)
    if index is None:
        return None
    task = values.get("task") or single
    named = f"{task}/{index}" if task else str(index)
    return named if named in known else str(index)


def _answers(row: RawRow, question: AskedQuestion, problems: ProblemList) -> bool:
    """Tell whether what a row repeats of its question is right, which shows a file in another order."""
    for key in _TELLING:
        said, asked = row.values.get(key), question.given.get(key)
        if isinstance(said, str) and isinstance(asked, str) and said.strip() != asked.strip():
            fault = row.error(f"answers {said[:60]!r}", field=key, expected=f"{asked[:60]!r}, as {question.id!r} asks")
            problems.reject(fault, document=question.id)
            return False
    said = row.values.get("text")
    if isinstance(said, str) and not question.text.strip().startswith(said.strip()[:_COMPARED]):
        fault = row.error(f"is about {said[:60]!r}", field="text", expected=f"the text of {question.id!r}")
        problems.reject(fault, document=question.id)
        return False
    return True


def _question_values(question: AskedQuestion) -> dict[str, Any]:
    """Return what a row keeps of its question: under ``question`` what decides which answers there are."""
    given = {key: value for key, value in question.given.items() if key not in ("question", "subquestion")}
    asked = {"asked": question.given["question"]} if "question" in question.given else {}
    return {**given, "id": question.id, "text": question.text, **asked, "question": question.task}


def _answered(question: AskedQuestion, row: RawRow, kind: str, problems: ProblemList) -> Row:
    """Type a row; the truth is the question's, whatever the file of answers says."""
    said = next((row.values[key] for key in ("expected", "answer") if row.values.get(key) not in (None, "")), None)
    if said is not None and str(said).strip() != question.answer.strip():
        fault = row.error(f"expects {said!r}", field="expected", expected=f"{question.answer!r} as the question does")
        problems.note(fault, document=question.id)
    kept = {key: value for key, value in row.values.items() if key not in ("answer", "doc_type", "expected_doc_type")}
    values = kept | {"expected": question.answer}
    stored = {k: v for k, v in (row.stored or {}).items() if k != "subquestion"} | _question_values(question)
    return typed_row(replace(row, values=values, stored=stored), document=question.id, task=kind, problems=problems)


def note_contradictions(
    questions: Iterable[AskedQuestion], *, beside: Sequence[str], file: PathLike, problems: ProblemList
) -> None:
    """Note questions that are asked twice about one text and answered differently.

    Args:
        questions: The questions.
        beside: Keys of ``given`` that are part of what is asked, beside task and text.
        file: Their file, for messages.
        problems: Where they are noted.
    """
    asked: dict[tuple[Any, ...], list[AskedQuestion]] = defaultdict(list)
    for question in questions:
        told = tuple(str(question.given.get(key)) for key in beside)
        asked[question.task, question.text, *told].append(question)
    groups = [group for group in asked.values() if len({question.answer for question in group}) > 1]
    for group in groups[:_LISTED_CONTRADICTIONS]:
        said = ", ".join(f"{question.id}: {question.answer!r}" for question in group[:4])
        problems.note(InputError(f"one question, several answers ({said})", file=file, field="answer"))
    if len(groups) > _LISTED_CONTRADICTIONS:
        more = len(groups) - _LISTED_CONTRADICTIONS
        problems.note(InputError(f"{more:,} more questions with several answers", file=file, field="answer"))


def answer_sets(
    questions: Sequence[AskedQuestion], order: Mapping[str, Mapping[str, Any]] | None = None
) -> Mapping[str, tuple[str, ...]]:
    """Return the answers that occur to each task.

    Letters are filled up from A to the last that occurs, because a small sample need not show them all.

    Args:
        questions: The questions.
        order: Task -> answer -> its place; without it, answers stand in alphabetical order.

    Examples:
        >>> asked = [AskedQuestion("1", "law", "...", "C"), AskedQuestion("2", "law", "...", "A")]
        >>> dict(answer_sets(asked))
        {'law': ('A', 'B', 'C')}
    """
    seen: dict[str, set[str]] = defaultdict(set)
    for question in questions:
        seen[question.task].add(question.answer)
    places = order or {}
    return MappingProxyType({task: tuple(_ordered(found, places.get(task))) for task, found in seen.items()})


def _ordered(answers: set[str], places: Mapping[str, Any] | None) -> Iterator[str]:
    if all(len(answer) == 1 and "A" <= answer <= "Z" for answer in answers):
        yield from map(chr, range(ord("A"), ord(max(answers)) + 1))
    elif places:
        yield from sorted(answers, key=lambda answer: (places[answer], answer))
    else:
        yield from sorted(answers, key=lambda answer: (answer.casefold(), answer))
