"""Labels that people and a model give to what two systems found and answered, with faults planted among them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from dojo_kit.rag.tasks import TASKS, TaskName
from dojo_kit.samples.phrases import phrases
from dojo_kit.samples.rag_queries import Found, Question, Reply

CALIBRATION = 6
"""Questions of which everybody judges everything; the others are judged by one person."""

_SLIP, _MODEL_SLIP = 0.05, 0.12
_START = datetime(2026, 5, 4, 8, 0, tzinfo=UTC)

Row = dict[str, Any]
Labels = dict[str, int]


@dataclass(frozen=True, slots=True)
class Answered:
    """A question and what one system made of it.

    Attributes:
        question: The question.
        system: The system.
        number: Place among the questions, from 0.
        found: What it found.
        reply: What it answered.
    """

    question: Question
    system: str
    number: int
    found: tuple[Found, ...]
    reply: Reply


@dataclass(frozen=True, slots=True)
class RagFault:
    """A fault planted in labels of queries.

    Attributes:
        file: The file.
        system: The system.
        query: Id of the query.
        chunk: Id of the chunk; None when the whole query is concerned.
        kind: Kind of fault, see ``rag_kinds`` of the manifest.
    """

    file: str
    system: str
    query: str
    chunk: str | None
    kind: str


class Clock:
    """Gives every row a time of its own, a few minutes after the one before."""

    def __init__(self) -> None:
        self._now = _START

    def next(self) -> str:
        """Return the next time."""
        self._now += timedelta(minutes=3)
        return self._now.strftime("%Y-%m-%dT%H:%MZ")


def chunk_labels(found: Found) -> Labels:
    """Return the true labels of a chunk."""
    return dict(zip(TASKS["retrieval"].labels, (found.relevant, found.sufficient, found.misleading), strict=True))


def grounding_labels(one: Answered) -> Labels:
    """Return the true labels of an answer beside what was found."""
    has_clause = any(found.sufficient for found in one.found)
    values = {
        "right": (1, 0, 0, 1, 0),
        "mistaken": (1, 0, 0, 1, 0),
        "refused": (0, int(has_clause), int(has_clause), 0, 0),
        "invented": (0, 1, 0, 1, 1),
        "bare": (0, 1, 0, 0, 0),
    }[one.reply.kind]
    return dict(zip(TASKS["grounding"].labels, values, strict=True))


def generation_labels(one: Answered) -> Labels:
    """Return the true labels of an answer by itself; nothing is ever unsafe."""
    has_clause = any(found.sufficient for found in one.found)
    values = {
        "right": (1, 1, 1, 0, 0),
        "mistaken": (1, 1, 0, 1, 0),
        "refused": (int(not has_clause), 1, 0, 1, 0),
        "invented": (0, 1, 0, 0, 0),
        "bare": (0, 0, 0, 1, 0),
    }[one.reply.kind]
    return dict(zip(TASKS["generation"].labels, values, strict=True))


def judged(
    task: TaskName, labels: Labels, base: Row, number: int, rng: random.Random, clock: Clock, *, slips: bool = True
) -> Iterator[Row]:
    """Yield the rows of everybody who judges one unit.

    Args:
        task: The task.
        labels: The true labels.
        base: What every row of the unit says.
        number: Place of the question; it decides who judges.
        rng: Decides who errs.
        clock: Gives the times.
        slips: Whether those who judge together err now and then.
    """
    people: Sequence[str] = phrases("rag")["people"]["names"]
    together = number < CALIBRATION
    for person in people if together else (people[number % len(people)],):
        given = _with_slips(task, labels, rng, _SLIP) if together and slips else labels
        yield {
            **base,
            "annotator_id": person,
            "response_status": "submitted",
            "calibration": str(together).lower(),
            "created_at": clock.next(),
            **given,
        }


def predicted(labels: Labels, base: Row, rng: random.Random) -> Row:
    """Return the row of the model, which errs more often than people."""
    return {**base, **_with_slips("retrieval", labels, rng, _MODEL_SLIP)}


def _with_slips(task: TaskName, labels: Labels, rng: random.Random, share: float) -> Labels:
    """Turn some labels round, but give none that contradict each other."""
    given = {name: value ^ (rng.random() < share) for name, value in labels.items()}
    for rule in TASKS[task].rules:
        if given[rule.cause] and given[rule.effect] != rule.value:
            given[rule.cause] = 0
    return given


def without_labels(row: Row, task: TaskName) -> Row:
    """Return a row as a discarded response."""
    return {**row, "response_status": "discarded", **dict.fromkeys(TASKS[task].labels, "")}


Change = Callable[[list[Row]], list[Row]]


def changed(rows: list[Row], where: Mapping[str, Any], change: Change) -> list[Row]:
    """Change the rows of one unit and leave the others as they are.

    Args:
        rows: All rows.
        where: Column -> value that tells the unit.
        change: From its rows to what they become.
    """
    mine = [at for at, row in enumerate(rows) if all(row[name] == value for name, value in where.items())]
    if not mine:
        return rows
    put = change([rows[at] for at in mine])
    inside = set(mine)
    left = [row for at, row in enumerate(rows) if at not in inside]
    return left[: mine[0]] + put + left[mine[0] :]
