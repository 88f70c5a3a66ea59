"""The three labelling tasks: their label columns, what makes a row unique, and which labels contradict each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from dojo_kit.errors import SettingsError, closest

TaskName = Literal["retrieval", "grounding", "generation"]
"""What is labelled: the chunks found for a query, an answer beside its context, or an answer by itself."""

TASK_NAMES: tuple[TaskName, ...] = get_args(TaskName)

RECORD, CHUNK, RANK = "record_uuid", "chunk_id", "chunk_rank"
"""Columns that name the query, the chunk, and the chunk's place in what was retrieved."""

SYSTEM, RUN, ANSWER = "system_id", "run_id", "answer_id"
"""Optional columns that keep apart what must never be voted on together."""

ANNOTATOR, STATUS, CALIBRATION, CREATED, DECLARED = (
    "annotator_id",
    "response_status",
    "calibration",
    "created_at",
    "n_retrieved_chunks",
)
"""Optional columns about the response and about the panel it belongs to."""

OPTIONAL_COLUMNS = (RUN, SYSTEM, ANSWER, ANNOTATOR, STATUS, CALIBRATION, CREATED, DECLARED)


@dataclass(frozen=True, slots=True)
class LabelRule:
    """A label that fixes another one when it is 1.

    Attributes:
        name: The rule in a few words.
        cause: Label whose 1 fires the rule.
        effect: Label it fixes.
        value: What the effect must then be.
    """

    name: str
    cause: str
    effect: str
    value: int


@dataclass(frozen=True, slots=True)
class Task:
    """What a file of one task must hold.

    Attributes:
        name: The task.
        labels: Label columns, each 0 or 1.
        ids: Columns that name the row's unit.
        rules: Rules between the labels.
        texts: Text columns, which no number depends on and which need not be there.
    """

    name: TaskName
    labels: tuple[str, ...]
    ids: tuple[str, ...]
    rules: tuple[LabelRule, ...]
    texts: tuple[str, ...]

    @property
    def ranked(self) -> bool:
        """Whether a query has ranked chunks."""
        return RANK in self.ids


TASKS: Mapping[TaskName, Task] = {
    "retrieval": Task(
        "retrieval",
        ("topically_relevant", "evidence_sufficient", "misleading"),
        (RECORD, CHUNK, RANK),
        (
            LabelRule("sufficient evidence is relevant", "evidence_sufficient", "topically_relevant", 1),
            LabelRule("sufficient evidence is not misleading", "evidence_sufficient", "misleading", 0),
        ),
        ("query", "chunk"),
    ),
    "grounding": Task(
        "grounding",
        (
            "support_present",
            "unsupported_claim_present",
            "contradicted_claim_present",
            "source_cited",
            "fabricated_source",
        ),
        (RECORD,),
        (
            LabelRule(
                "a contradicted claim is unsupported", "contradicted_claim_present", "unsupported_claim_present", 1
            ),
            LabelRule("a fabricated source is cited", "fabricated_source", "source_cited", 1),
        ),
        ("answer", "context_set"),
    ),
    "generation": Task(
        "generation",
        ("proper_action", "response_on_topic", "helpful", "incomplete", "unsafe_content"),
        (RECORD,),
        (),
        ("query", "answer"),
    ),
}


def task_named(name: str) -> Task:
    """Return a task by name.

    Raises:
        SettingsError: There is no such task.

    Examples:
        >>> task_named("generation").ids
        ('record_uuid',)
    """
    for known, task in TASKS.items():
        if known == name:
            return task
    raise SettingsError(f"unknown task {name!r}{closest(name, TASKS)}; known: {', '.join(TASKS)}")


def choice(option: str, value: str, known: tuple[str, ...]) -> None:
    """Check an option that has few values.

    Raises:
        SettingsError: The value is none of them.

    Examples:
        >>> choice("tie", "frist", ("fail", "first"))
        Traceback (most recent call last):
        ...
        dojo_kit.errors.SettingsError: tie must be one of fail, first, not 'frist' (did you mean 'first'?)
    """
    if value not in known:
        raise SettingsError(f"{option} must be one of {', '.join(known)}, not {value!r}{closest(value, known)}")


def check_resampling(n_resamples: int, seed: int, confidence: float) -> None:
    """Check the options of intervals.

    Raises:
        SettingsError: One is impossible.

    Examples:
        >>> check_resampling(1000, 42, 95)
        Traceback (most recent call last):
        ...
        dojo_kit.errors.SettingsError: confidence must lie between 0 and 1, such as 0.95, not 95
    """
    if n_resamples < 1:
        raise SettingsError(f"n_resamples must be at least 1, not {n_resamples}")
    if seed < 0:
        raise SettingsError(f"seed must not be negative, but is {seed}")
    if not 0 < confidence < 1:
        raise SettingsError(f"confidence must lie between 0 and 1, such as 0.95, not {confidence}")
