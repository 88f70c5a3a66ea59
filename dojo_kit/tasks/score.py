"""`score_task` and `score_task_run`: one entry point for every kind of label."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dojo_kit.errors import InputError, closest
from dojo_kit.records import Problem, Run
from dojo_kit.scoring.calibration import calibrate
from dojo_kit.scoring.classification import LabelScores
from dojo_kit.settings import Settings, resolve
from dojo_kit.stats.intervals import Estimate
from dojo_kit.tasks.columns import (
    Failures,
    TaskColumns,
    answer_field,
    columns_of_run,
    failed_rows,
    listed,
    listed_if,
    stated_confidences,
)
from dojo_kit.tasks.extraction import chained_metrics, extraction_columns
from dojo_kit.tasks.metrics import RowMeans, task_metrics
from dojo_kit.tasks.reading import ReadLabels, ValidLabels, read_labels
from dojo_kit.tasks.scores import TaskScores, score_keys
from dojo_kit.tasks.table import TASKS, TaskRecord, may_be_scored_as, task_kind, task_record, unknown_task
from dojo_kit.tasks.verdicts import judge, rows_frame
from dojo_kit.vocabulary import Vocabulary

if TYPE_CHECKING:
    from dojo_kit.scoring.run import ScoredRun


def score_task(
    task: str,
    expected: Iterable[Any],
    predicted: Iterable[Any],
    *,
    valid: ValidLabels | None = None,
    expected_subclass: Iterable[Any] | None = None,
    predicted_subclass: Iterable[Any] | None = None,
    doc_types: Iterable[Any] | None = None,
    documents: Iterable[str] | None = None,
    questions: Iterable[str] | None = None,
    confidences: Iterable[float | None] | None = None,
    failed: Iterable[bool] | None = None,
    costs: Iterable[float | None] | None = None,
    positive: str | None = None,
    strict: bool = False,
    settings: Settings | None = None,
) -> TaskScores:
    """Score answers of a task.

    Answers may be raw model output; they are read against the task's vocabulary. A missing expected label leaves its
    row unscored. A failed row (named, or an output that starts with ``ERROR:``) is a miss.

    Args:
        task: Task key, or what run files call it, see `dojo_kit.tasks.table`. An unknown one is scored as plain labels
            with a warning.
        expected: True label per row.
        predicted: Answer per row.
        valid: Labels an answer may have; for questions with answer sets of their own, question -> labels.
        expected_subclass: True label of the second level; missing where a document has none.
        predicted_subclass: Answer for the second level; by default what answers given as JSON call ``doc_subclass``.
        doc_types: Predicted document class, where ``predicted`` is a family; by default what answers given as JSON call
            ``doc_type``. Without any only families are compared.
        documents: Document per row; intervals resample documents.
        questions: Question per row; each question's answers are a vocabulary of their own.
        confidences: Confidence stated per row, 0 to 1.
        failed: Which rows have no answer.
        costs: US dollars billed per row.
        positive: Label taken as positive in a binary view.
        strict: Refuse an unknown task.
        settings: Seed, replicates and level of the intervals; the current settings by default.

    Raises:
        InputError: Columns differ in length, the task is of another kind, or unknown and ``strict`` is set.

    Examples:
        >>> scores = score_task("subtype", ["Reseller", "IP"], ["Distributor Agreement", "It is an IP agreement."])
        >>> scores.metrics["subtype_accuracy"].value, scores.metrics["subtype_accuracy_equiv"].value
        (0.5, 1.0)
    """
    record = _label_task(task, strict)
    truth, answers = listed(expected), listed(predicted)
    columns = TaskColumns(
        truth,
        answers,
        failed_rows(answers, failed),
        documents=listed_if(documents),
        expected_subclass=listed_if(expected_subclass),
        predicted_subclass=listed_if(predicted_subclass) or answer_field(answers, "doc_subclass"),
        doc_types=listed_if(doc_types) or (answer_field(answers, "doc_type") if record.kind == "family" else None),
        questions=listed_if(questions),
        confidences=stated_confidences(confidences),
        costs=listed_if(costs),
    )
    return _score(record, columns, {}, valid=valid, positive=positive, settings=resolve(settings))


def score_task_run(
    run: Run,
    *,
    task: str | None = None,
    valid: ValidLabels | None = None,
    positive: str | None = None,
    extraction: ScoredRun | None = None,
    failures: Failures = "recognised",
    strict: bool = False,
    settings: Settings | None = None,
) -> TaskScores:
    """Score the labels of a run.

    Args:
        run: A classification or chained run.
        task: Task to score it as; its own by default.
        valid: Labels an answer may have; what the run's parameters say by default.
        positive: Label taken as positive in a binary view; the task's own by default.
        extraction: For a chained run, its extraction scored against labels; without it the extraction scores are those
            stored in the rows.
        failures: ``stored`` counts a failed call that was stored as completed with the label made up for it, as the
            record did.
        strict: Refuse an unknown task.
        settings: Seed, replicates and level of the intervals; the current settings by default.

    Raises:
        InputError: The run holds no labels, or its task is unknown and ``strict`` is set.
    """
    record = _label_task(task or run.meta.task, strict)
    if task is not None and task_kind(run.meta.task) in TASKS and not may_be_scored_as(run.meta.task, task):
        found = f"rows of task {run.meta.task!r} say something else"
        raise InputError(
            found, file=run.source or None, field="task", expected=f"a run of task {task!r}, or multiclass"
        )
    classes = _valid_classes(run) if valid is None else valid
    columns = columns_of_run(run, failures, by_question=record.by_question or isinstance(classes, Mapping))
    further = extraction_columns(run, extraction, failures) if record.extracts else {}
    scores = _score(record, columns, further, valid=classes, positive=positive, settings=resolve(settings))
    return replace(scores, problems=(*run.problems, *scores.problems))


def _label_task(task: str, strict: bool) -> TaskRecord:
    record = task_record(task, strict=strict)
    if record.kind == "questions":
        raise InputError("quoted answers are scored by score_contracteval", field="task", expected="a task with labels")
    return record


def _valid_classes(run: Run) -> ValidLabels | None:
    """Return the answers there are, of each question where the run knows them."""
    answers = run.meta.parameters.get("answers")
    if isinstance(answers, Mapping):
        return answers
    classes = run.meta.parameters.get("valid_classes")
    names = classes.split(",") if isinstance(classes, str) else classes
    if not isinstance(names, list | tuple):
        return None
    return [str(name).strip() for name in names if str(name).strip()] or None


def _score(
    record: TaskRecord,
    columns: TaskColumns,
    further: Mapping[str, Sequence[Any]],
    *,
    valid: ValidLabels | None,
    positive: str | None,
    settings: Settings,
) -> TaskScores:
    first = read_labels(
        columns.expected,
        columns.predicted,
        vocabularies=record.vocabularies,
        valid=valid,
        questions=columns.questions,
    )
    second = _second_level(record, columns)
    frame = rows_frame(columns, first, second, judge(record, columns, first, second), further)
    means = RowMeans.of(frame, columns.documents, settings)
    labels = _level(first, columns, settings, _positive(record, positive, first.vocabulary), costs=columns.costs)
    answered = (frame["status"] != "failed").to_numpy(dtype=bool)
    scored = (frame["status"] == "scored").to_numpy(dtype=bool)
    stated = np.where(scored, means.numbers("confidence"), np.nan)
    calibration = calibrate(stated, means.numbers("right"), units=means.units, bootstrap=means.bootstrap)
    metrics = task_metrics(record.kind, means, stated, with_equivalents=bool(first.vocabulary.equivalents)) | {
        "confidence_calibration_error": calibration.error,
        **_class_metrics(labels, int((~answered & ~first.known).sum())),
    }
    unknown = () if record.key in TASKS else (Problem(unknown_task(record.key), field="task"),)
    return TaskScores(
        record=record,
        rows=frame,
        labels=labels,
        subclass=None if second is None else _level(second, columns, settings),
        vocabulary=first.vocabulary,
        second_vocabulary=None if second is None else second.vocabulary,
        metrics=chained_metrics(means, metrics) if further else metrics,
        calibration=calibration,
        settings=settings,
        problems=(*unknown, *first.problems, *(second.problems if second else ())),
    )


def _second_level(record: TaskRecord, columns: TaskColumns) -> ReadLabels | None:
    if record.kind != "hierarchy" or columns.expected_subclass is None:
        return None
    answers = columns.predicted_subclass or [None] * len(columns)
    return read_labels(columns.expected_subclass, answers, vocabularies=record.second_level)


def _level(
    read: ReadLabels,
    columns: TaskColumns,
    settings: Settings,
    positive: str | None = None,
    costs: Sequence[float | None] | None = None,
) -> LabelScores:
    return score_keys(
        read.expected,
        read.predicted,
        failed=columns.failed,
        known=read.vocabulary,
        settings=settings,
        units=columns.documents,
        positive=positive,
        costs=costs,
    )


def _class_metrics(labels: LabelScores, n_left_out: int) -> dict[str, Estimate]:
    """Return the metrics that need to know the class of a row, and say which rows they had to leave out."""
    binary = labels.binary.metrics if labels.binary else {}
    found = {"balanced_accuracy": labels.balanced_accuracy, "f1_macro": labels.macro_f1, **binary}
    if not n_left_out:
        return found
    note = f"failed rows of unknown class, left out: {n_left_out}"
    return {
        name: replace(estimate, note="; ".join(filter(None, (estimate.note, note)))) for name, estimate in found.items()
    }


def _positive(record: TaskRecord, given: str | None, known: Vocabulary) -> str | None:
    """Return the key of the positive label: the one asked for, else the task's own where the labels have it."""
    if given is None:
        return record.positive if record.positive in known.keys else None
    key = known.normalize(given).key
    if key is None:
        raise InputError(
            f"positive label {given!r} is none of the labels{closest(given, known.keys)}", field="positive"
        )
    return key
