"""The table of tasks: what each is called in run files, which labels it knows, and what counts as right.

A task is of one of four kinds:

- ``labels``: one label per row;
- ``family``: a label within one document class, right only when the class is right too;
- ``hierarchy``: a document class and a label of the second level, where the document has one;
- ``questions``: answers with text spans. They hold no labels: `dojo_kit.tasks.contracteval` scores them, and whoever
  dispatches on this table (the command line does) looks at the kind first.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from dojo_kit.errors import InputError, closest

TaskKind = Literal["labels", "family", "hierarchy", "questions"]


@dataclass(frozen=True, slots=True)
class TaskRecord:
    """One kind of task.

    Attributes:
        key: Its key.
        title: What is asked of the model.
        kind: See `dojo_kit.tasks.table`.
        headline: The metric it is judged by; stated confidence is held against this one.
        also: What run files call it.
        vocabularies: Vocabularies its labels can be of; the first that knows every expected label is used, and
            without one the labels themselves are the vocabulary.
        second_level: The same for labels of the second level.
        document_class: The document class all rows belong to, for a ``family``.
        positive: Label taken as positive in a binary view.
        extracts: Whether rows hold an extraction beside the label.
        by_question: Whether the answers to each question of a run are a vocabulary of their own.
    """

    key: str
    title: str
    kind: TaskKind
    headline: str = "exact_match"
    also: tuple[str, ...] = ()
    vocabularies: tuple[str, ...] = ()
    second_level: tuple[str, ...] = ()
    document_class: str | None = None
    positive: str | None = None
    extracts: bool = False
    by_question: bool = False


TASKS: Mapping[str, TaskRecord] = {
    record.key: record
    for record in (
        TaskRecord(
            "subtype",
            "name the contract family",
            "family",
            headline="subtype_accuracy",
            also=("subtype_classification", "contract_family"),
            vocabularies=("contract_family",),
            document_class="contract",
        ),
        TaskRecord(
            "doc_class",
            "name the document class",
            "labels",
            also=("sorter_classification", "doc_type"),
            vocabularies=("doc_class",),
        ),
        TaskRecord(
            "docclass",
            "name document class and subclass",
            "hierarchy",
            also=("docclass_classification",),
            vocabularies=("doc_class",),
            second_level=("doc_subclass",),
        ),
        TaskRecord(
            "maud_docclass",
            "name document class and type of consideration",
            "hierarchy",
            also=("maud_docclass_classification",),
            vocabularies=("doc_class",),
            second_level=("maud_consideration",),
        ),
        TaskRecord(
            "maud_question",
            "answer a question about a merger agreement",
            "labels",
            also=("maud", "maud_question_classification"),
            vocabularies=("maud_consideration", "yes_no"),
            by_question=True,
        ),
        TaskRecord(
            "legalbench",
            "answer a LegalBench question",
            "labels",
            also=("task_classification", "legalbench_classification"),
            vocabularies=("yes_no",),
            positive="yes",
        ),
        TaskRecord("multiclass", "choose one of several labels", "labels", also=("multiclass_classification",)),
        TaskRecord(
            "court_opinion",
            "classify a court opinion",
            "labels",
            also=("court_opinion_classification",),
            vocabularies=("doc_class", "court_outcome"),
        ),
        TaskRecord(
            "chained",
            "name the contract family, then extract its fields",
            "family",
            headline="chained_composite",
            also=("chained_sorter_extractor",),
            vocabularies=("contract_family",),
            document_class="contract",
            extracts=True,
        ),
        TaskRecord(
            "contracteval",
            "quote what answers a question about a contract",
            "questions",
            headline="f2",
        ),
    )
}
"""Task key -> record."""

_BY_NAME = {name: record for record in TASKS.values() for name in (record.key, *record.also)}


def task_kind(task: str) -> str:
    """Return the key a task is scored under; an unknown one is its own.

    Examples:
        >>> task_kind("task_classification"), task_kind("my_task")
        ('legalbench', 'my_task')
    """
    return _BY_NAME[task].key if task in _BY_NAME else task


def may_be_scored_as(own: str, task: str) -> bool:
    """Tell whether rows of one task can be read as those of another.

    Rows that hold a family or a class with a subclass mean something else under a task of another kind; their labels
    can still be compared as they stand (``multiclass``), and the sorter of a chained run is a task of its own.

    Examples:
        >>> may_be_scored_as("docclass_classification", "maud_docclass"), may_be_scored_as("subtype", "docclass")
        (True, False)
        >>> may_be_scored_as("chained_sorter_extractor", "subtype"), may_be_scored_as("subtype", "multiclass")
        (True, True)
    """
    if task_kind(own) == task_kind(task) or task_kind(task) == "multiclass":
        return True
    mine, asked = _BY_NAME.get(own), _BY_NAME.get(task)
    if mine is None or asked is None:
        return not own
    if asked.extracts or "questions" in (mine.kind, asked.kind):
        return False
    return mine.kind in ("labels", asked.kind)


def task_record(task: str, *, strict: bool = False) -> TaskRecord:
    """Return how a task is scored.

    Args:
        task: Its key, or what run files call it.
        strict: Refuse an unknown task in place of scoring it as plain labels, with a warning.

    Raises:
        InputError: The task is unknown and ``strict`` is set.

    Examples:
        >>> task_record("subtype_classification").document_class
        'contract'
    """
    if task in _BY_NAME:
        return _BY_NAME[task]
    message = unknown_task(task)
    if strict:
        raise InputError(message, field="task", expected=", ".join(TASKS))
    warnings.warn(f"{message}; scored as plain labels", UserWarning, stacklevel=4)
    return TaskRecord(task, "choose a label", "labels")


def unknown_task(task: str) -> str:
    """Say that a task is unknown, and which one may have been meant."""
    return f"unknown task {task!r}{closest(task, _BY_NAME)}"
