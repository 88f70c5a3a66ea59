"""The rows of a task as columns, from arrays or from the rows of a run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from dojo_kit.errors import InputError
from dojo_kit.records import LabelRow, Row, Run
from dojo_kit.scoring.answers import stored_value as stored_value
from dojo_kit.scoring.label_reading import is_failed_output, json_answer

Failures = Literal["recognised", "stored"]
"""Which rows have no answer: all that are recognised as failed, or only those stored as failed, as published."""

_COMPLETED = "completed"


@dataclass(frozen=True)
class TaskColumns:
    """One entry per row in each column; None where a row, or the whole column, has nothing.

    Attributes:
        expected: True label.
        predicted: Answer.
        failed: Whether there is no answer.
        documents: Document, the unit of every interval; None when each row is its own.
        expected_subclass: True label of the second level.
        predicted_subclass: Answer for the second level.
        doc_types: Predicted document class, for families.
        questions: Question asked, whose answers have a vocabulary of their own.
        confidences: Confidence stated, 0 to 1.
        reasonings: Reasons stated.
        input_modes: How the document was shown to the model.
        errors: Why there is no answer.
        costs: US dollars billed.
        disguised: Whether a failed row was stored as completed.
    """

    expected: Sequence[Any]
    predicted: Sequence[Any]
    failed: Sequence[bool]
    documents: Sequence[str] | None = None
    expected_subclass: Sequence[Any] | None = None
    predicted_subclass: Sequence[Any] | None = None
    doc_types: Sequence[Any] | None = None
    questions: Sequence[str] | None = None
    confidences: Sequence[float | None] | None = None
    reasonings: Sequence[str] | None = None
    input_modes: Sequence[str | None] | None = None
    errors: Sequence[str | None] | None = None
    costs: Sequence[float | None] | None = None
    disguised: Sequence[bool] | None = None

    def __post_init__(self) -> None:
        for name, column in vars(self).items():
            if column is not None and len(column) != len(self.expected):
                message = f"row counts differ: {len(self.expected)} expected, {len(column)} {name}"
                raise InputError(message, field=name)

    def __len__(self) -> int:
        return len(self.expected)


def listed(values: Iterable[Any]) -> Sequence[Any]:
    """Return a column as a sequence."""
    return values if isinstance(values, list | tuple) else list(values)


def listed_if(values: Iterable[Any] | None) -> Sequence[Any] | None:
    """Return a column as a sequence, or None."""
    return None if values is None else listed(values)


def stated_confidences(values: Iterable[Any] | None) -> list[float | None] | None:
    """Return confidences as numbers; missing ones as None.

    Raises:
        InputError: One is no number from 0 to 1; the message names its row.
    """
    return None if values is None else [_confidence(value, row) for row, value in enumerate(values, start=1)]


def _confidence(value: Any, row: int) -> float | None:
    try:
        number = math.nan if value is None or isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        number = math.inf
    if math.isnan(number) and not isinstance(value, bool):
        return None
    if not 0 <= number <= 1:
        raise InputError(f"{value!r} in row {row}", field="confidences", expected="a number from 0 to 1, or None")
    return number


def failed_rows(predicted: Sequence[Any], given: Iterable[bool] | None) -> list[bool]:
    """Return which rows have no answer: those named, and outputs that are the note of a failed call."""
    marked = [is_failed_output(output) for output in predicted]
    if given is None:
        return marked
    named = [bool(flag) for flag in given]
    if len(named) != len(marked):
        raise InputError(f"row counts differ: {len(marked)} predicted, {len(named)} failed", field="failed")
    return [a or b for a, b in zip(marked, named, strict=True)]


def answer_field(answers: Sequence[Any], name: str) -> list[Any] | None:
    """Return one field of answers that are JSON objects; None when no answer has it.

    Examples:
        >>> answer_field(['{"doc_type": "contract"}', "contract"], "doc_type")
        ['contract', None]
        >>> answer_field(["contract"], "doc_type") is None
        True
    """
    objects = (answer if isinstance(answer, dict) else json_answer(answer) for answer in answers)
    found = [None if answer is None else answer.get(name) for answer in objects]
    return found if any(value is not None for value in found) else None


def columns_of_run(run: Run, failures: Failures, *, by_question: bool = False) -> TaskColumns:
    """Read the columns of a run with labels.

    Args:
        run: The run.
        by_question: Whether each question's answers are read by themselves.
        failures: ``stored`` takes back what the reader recognised and scores rows as the record did.

    Raises:
        InputError: Rows hold no labels.
    """
    rows = list(_label_rows(run))
    as_stored = failures == "stored"
    failed = [_stored_failed(row) if as_stored else row.failed for row in rows]
    answers = [_Answer.stored(row) if as_stored else _Answer.read(row) for row in rows]
    modes = [stored_value(row, "input_mode") for row in rows]
    return TaskColumns(
        expected=[row.expected for row in rows],
        predicted=[answer.label for answer in answers],
        failed=failed,
        documents=[row.document for row in rows],
        expected_subclass=[row.expected_subclass for row in rows],
        predicted_subclass=[answer.subclass for answer in answers],
        doc_types=[answer.doc_type for answer in answers],
        questions=_questions(rows) if by_question else None,
        confidences=[answer.confidence for answer in answers],
        reasonings=[answer.reasoning for answer in answers],
        input_modes=[mode if isinstance(mode, str) else None for mode in modes],
        errors=[row.error if row_failed else None for row, row_failed in zip(rows, failed, strict=True)],
        costs=[row.usage.cost_usd if row.usage else None for row in rows],
        disguised=[is_disguised(row) for row in rows],
    )


@dataclass(frozen=True, slots=True)
class _Answer:
    label: str | None
    subclass: str | None
    doc_type: str | None
    confidence: float | None
    reasoning: str

    @classmethod
    def read(cls, row: LabelRow) -> _Answer:
        doc_type = None if row.failed else stored_value(row, "doc_type")
        return cls(row.predicted, row.predicted_subclass, doc_type, row.confidence, row.reasoning)

    @classmethod
    def stored(cls, row: LabelRow) -> _Answer:
        """Return the answer as it stands in the record, made-up labels of failed calls included."""
        if not row.failed:
            return cls.read(row)
        label = next(filter(None, (stored_value(row, n) for n in ("contract_subtype", "doc_type", "predicted"))), None)
        return cls(
            label if isinstance(label, str) else None,
            stored_value(row, "doc_subclass"),
            stored_value(row, "doc_type"),
            stored_value(row, "confidence"),
            stored_value(row, "reasoning") or "",
        )


def _label_rows(run: Run) -> Iterator[LabelRow]:
    for row in run.rows:
        if not isinstance(row, LabelRow):
            message = f"rows of task {run.meta.task!r} hold no labels"
            raise InputError(message, file=run.source or None, expected="a classification or chained run")
        yield row


def is_disguised(row: Row) -> bool:
    """Tell whether a failed row was stored as completed; one that says nothing of its state hides nothing."""
    return row.failed and row.stored.get("status") == _COMPLETED


def _stored_failed(row: Row) -> bool:
    return (row.stored.get("status") or _COMPLETED) != _COMPLETED


def _questions(rows: Sequence[LabelRow]) -> list[str] | None:
    asked = [(stored_value(row, "question"), stored_value(row, "subquestion")) for row in rows]
    texts = [": ".join(part for part in pair if isinstance(part, str) and part.strip()) for pair in asked]
    return texts if any(texts) else None
