"""The result of scoring a task: rows with verdicts, counts, and metrics with intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from dojo_kit.records import Problem
from dojo_kit.scoring.calibration import Calibration
from dojo_kit.scoring.classification import NO_LABEL, LabelScores, is_other, score_labels
from dojo_kit.settings import Settings
from dojo_kit.stats.intervals import Estimate
from dojo_kit.tasks.table import TaskRecord
from dojo_kit.vocabulary import Vocabulary

if TYPE_CHECKING:
    import pandas as pd

ROW_COLUMNS: Mapping[str, str] = {
    "document": "str",
    "question": "str",
    "status": "str",
    "expected": "str",
    "expected_text": "str",
    "predicted": "str",
    "predicted_text": "str",
    "flag": "str",
    "doc_type": "str",
    "doc_type_right": "boolean",
    "expected_subclass": "str",
    "predicted_subclass": "str",
    "subclass_right": "boolean",
    "subclass_right_equiv": "boolean",
    "right": "boolean",
    "right_equiv": "boolean",
    "mode": "str",
    "confidence": "float64",
    "reasoning": "str",
    "input_mode": "str",
    "error": "str",
    "disguised": "boolean",
    "cost_usd": "float64",
}
"""Columns of `TaskScores.rows` and their types.

``status`` is ``scored``, ``failed`` (no answer) or ``unscored`` (nothing expected). ``expected`` and ``predicted`` are
keys, the ``..._text`` columns what was written; ``flag`` says how the answer was read. ``doc_type`` is the predicted
document class where it is another column than ``predicted``. ``right`` is the verdict the task is judged by (class and
family; class and subclass; label), ``right_equiv`` the same with defensible labels let through; both are false for a
failed row and missing for an unscored one. ``mode`` says why a row is wrong;
``disguised`` marks failed rows that were stored as completed.
"""


_KEYS = ("expected", "predicted")


@dataclass(frozen=True, eq=False, repr=False)
class TaskScores:
    """A scored task.

    Attributes:
        record: How the task is scored.
        rows: One row per row of the run, in its order, see `ROW_COLUMNS`; chained runs add ``extractor_...`` columns.
        labels: The first level: families, classes, answers. Counted without regard to the document class.
        subclass: The second level, over rows that have one; None when the task has no second level.
        vocabulary: What labels were read against.
        second_vocabulary: The same for the second level.
        metrics: Metric -> estimate over documents, the headline among them. A failed row is a miss, whatever was
            expected of it.
        calibration: Stated confidence against ``right``, over answered rows.
        settings: Seed, replicates and level of the intervals.
        problems: Labels the vocabulary does not know, an unknown task, and what the reader reported.
    """

    record: TaskRecord
    rows: pd.DataFrame
    labels: LabelScores
    subclass: LabelScores | None
    vocabulary: Vocabulary
    second_vocabulary: Vocabulary | None
    metrics: Mapping[str, Estimate]
    calibration: Calibration
    settings: Settings
    problems: tuple[Problem, ...] = ()

    @property
    def headline(self) -> Estimate:
        """The metric the task is judged by."""
        return self.metrics[self.record.headline]

    @cached_property
    def counts(self) -> dict[str, int]:
        """Rows, those scored, failed (in disguise, too) and unscored, and answers that name no label."""
        status = self.rows["status"].value_counts()
        unread = (self.rows["status"] == "scored") & self.rows["predicted"].isna()
        return {
            "n_rows": len(self.rows),
            "n_scored": int(status.get("scored", 0)),
            "n_failed": int(status.get("failed", 0)),
            "n_disguised": int(self.rows["disguised"].fillna(False).sum()),
            "n_unscored": int(status.get("unscored", 0)),
            "n_unread": int(unread.sum()),
        }

    @cached_property
    def equiv_recovered(self) -> pd.DataFrame:
        """Rows that only the equivalence lets through, on either level."""
        answered = self.rows[self.rows["status"] != "failed"]
        first = answered["right_equiv"].fillna(False) & ~answered["right"].fillna(False)
        second = answered["subclass_right_equiv"].fillna(False) & ~answered["subclass_right"].fillna(False)
        names = ["document", "expected", "predicted", "expected_subclass", "predicted_subclass"]
        return answered.loc[first | second, names].reset_index(drop=True)

    @cached_property
    def input_mode_counts(self) -> dict[str, int]:
        """How documents were shown to the model: mode -> answered rows."""
        answered = self.rows.loc[self.rows["status"] != "failed", "input_mode"].dropna()
        return {str(mode): count for mode, count in Counter(answered).items()}

    @property
    def reliability(self) -> pd.DataFrame:
        """The reliability curve, see `dojo_kit.scoring.calibration.Calibration`."""
        return self.calibration.curve

    @cached_property
    def per_question(self) -> pd.DataFrame:
        """One row per question, in order of appearance: ``question``, ``n``, ``n_failed``, accuracy and its bounds.

        ``balanced_accuracy`` and ``macro_f1`` stand beside; empty when the task asks no questions.
        """
        import pandas as pd

        found = []
        for question, group in self.rows.dropna(subset=["question"]).groupby("question", sort=False):
            truth, guess = (group[name].astype(object).where(group[name].notna(), None) for name in _KEYS)
            failed = group["status"] == "failed"
            scores = score_keys(truth, guess, failed=failed, known=self.vocabulary, settings=self.settings)
            accuracy = scores.accuracy
            figures = {"n": scores.n, "n_failed": scores.n_failed, "accuracy": accuracy.value}
            bounds = {"accuracy_lo": accuracy.lo, "accuracy_hi": accuracy.hi}
            rest = {"balanced_accuracy": scores.balanced_accuracy.value, "macro_f1": scores.macro_f1.value}
            found.append({"question": question, **figures, **bounds, **rest})
        names = "question n n_failed accuracy accuracy_lo accuracy_hi balanced_accuracy macro_f1".split()
        return pd.DataFrame(found, columns=names)

    def documents_of(self, expected: str, predicted: str, *, level: str = "labels") -> pd.DataFrame:
        """Return the rows behind one cell of a confusion matrix.

        Args:
            expected: Label of the cell's row.
            predicted: Label of the cell's column, also that of answers that are no label.
            level: ``labels`` or ``subclass``.
        """
        scores = self.subclass if level == "subclass" else self.labels
        names = ("expected_subclass", "predicted_subclass") if level == "subclass" else ("expected", "predicted")
        answered = self.rows[(self.rows["status"] != "failed") & (self.rows[names[0]] == expected)]
        guesses = answered[names[1]]
        apart = scores is not None and NO_LABEL in scores.labels
        holds_unread = predicted == NO_LABEL if apart else is_other(predicted)
        return answered[(guesses == predicted) | (guesses.isna() & holds_unread)]

    def as_dict(self) -> dict[str, Any]:
        """Return counts, metrics and breakdowns as JSON-ready values; single rows stay in `rows`."""
        return {
            "task": self.record.key,
            "kind": self.record.kind,
            "headline": self.record.headline,
            **self.counts,
            "metrics": {name: estimate.as_dict() for name, estimate in self.metrics.items()},
            "labels": self.labels.as_dict(),
            **({"subclass": self.subclass.as_dict()} if self.subclass is not None else {}),
            "equiv_recovered": _records(self.equiv_recovered),
            "input_mode_counts": self.input_mode_counts,
            "reliability": _records(self.reliability),
            "problems": [str(problem) for problem in self.problems],
        }

    def __repr__(self) -> str:
        value = self.headline.value
        share = "undefined" if value is None else f"{value:.4f}"
        counts = self.counts
        return (
            f"TaskScores({self.record.key!r}, {self.record.headline} {share}, {counts['n_scored']} scored, "
            f"{counts['n_failed']} failed)"
        )


def _records(frame: pd.DataFrame) -> list[dict[Any, Any]]:
    return frame.astype(object).where(frame.notna(), None).to_dict("records")


def score_keys(
    expected: Iterable[str | None],
    predicted: Iterable[str | None],
    *,
    failed: Iterable[bool],
    known: Vocabulary,
    settings: Settings,
    units: Iterable[str] | None = None,
    positive: str | None = None,
    costs: Iterable[float | None] | None = None,
) -> LabelScores:
    """Score keys of a vocabulary, in the vocabulary's order and only those that occur."""
    truth, guess, no_answer = list(expected), list(predicted), list(failed)
    answers = {key for key, without in zip(guess, no_answer, strict=True) if not without}
    seen = {*truth, *answers, positive} - {None}
    labels = [key for key in known.keys if key in seen]
    return score_labels(
        truth, guess, labels=labels, positive=positive, failed=no_answer, costs=costs, units=units, settings=settings
    )
