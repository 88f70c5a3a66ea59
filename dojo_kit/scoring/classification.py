"""Scoring one column of labels against another: confusion counts, and every ratio with its interval.

`score_labels` compares labels as they stand. Reading them from answers is `dojo_kit.scoring.label_reading`; tasks with
their vocabularies and second levels are `dojo_kit.tasks`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dojo_kit.errors import InputError, closest
from dojo_kit.scoring.confusion import BINARY_METRICS, METRICS, Confusion, Counts, count_confusion
from dojo_kit.scoring.label_reading import is_failed_output, label_text, label_texts
from dojo_kit.settings import Settings, resolve
from dojo_kit.stats.cells import CellBootstrap, Codes, mean_of_units
from dojo_kit.stats.intervals import Estimate, undefined, wilson

if TYPE_CHECKING:
    import pandas as pd

OUTSIDE = "other"
"""Column of the confusion matrix for predictions that are none of the labels."""

NO_LABEL = "(no label)"
"""The same where ``other`` is itself an expected label, so that an unreadable answer is never counted as right."""

MOST_LABELS = 2000
"""More distinct labels than this are no classes."""

_COUNTED = ("label", "support", "predicted", "correct", "failed")
_PER_CLASS = (*_COUNTED, "precision", "recall", "recall_lo", "recall_hi", "f1")


@dataclass(frozen=True)
class BinaryScores:
    """One class against all others.

    A positive row without an answer is a false negative; a negative one is neither false positive nor true negative.

    Attributes:
        positive: The positive label.
        tp: Positive rows found.
        fp: Negative rows called positive.
        fn: Positive rows not found.
        tn: Negative rows not called positive.
        metrics: ``precision``, ``recall``, ``f1``, ``f2``, ``false_positive_rate`` and ``false_negative_rate``.
    """

    positive: str
    tp: int
    fp: int
    fn: int
    tn: int
    metrics: Mapping[str, Estimate]

    def as_dict(self) -> dict[str, Any]:
        """Return counts and metrics as JSON-ready values."""
        counts = {"positive": self.positive, "tp": self.tp, "fp": self.fp, "fn": self.fn, "tn": self.tn}
        return counts | {name: estimate.as_dict() for name, estimate in self.metrics.items()}


@dataclass(frozen=True)
class CostTotals:
    """What the scored calls cost.

    Attributes:
        n: Rows whose cost is known; a replayed row costs nothing.
        total_usd: US dollars in all.
        mean_usd: US dollars per row with a known cost.
    """

    n: int
    total_usd: float
    mean_usd: Estimate

    def as_dict(self) -> dict[str, Any]:
        """Return the totals as JSON-ready values."""
        return {"n": self.n, "total_usd": self.total_usd, "mean_usd": self.mean_usd.as_dict()}


@dataclass(frozen=True, eq=False, repr=False)
class LabelScores:
    """Scored labels.

    Headlines (`metrics`) count a row without an answer as a miss; breakdowns (`matrix`, `per_class`,
    `top_confusions`) and ``macro_accuracy`` leave it out. 0/0 is undefined: a class that is never predicted has no
    precision and does not enter ``macro_precision``.

    Attributes:
        labels: Labels in the order of the matrix; the last may be the column of predictions that are no label.
        n: Rows with an expected label.
        n_failed: Those of them without an answer.
        n_unread: Those whose prediction is none of the labels.
        n_unscored: Rows without an expected label; they take part in nothing.
        classes: Which labels are classes; all but the column of predictions that are none.
        confusion: The counts, observed and resampled.
        binary: One class against all others, where a positive label was named.
        costs: What the calls cost, where costs were given.
        confidence: Level of the intervals.
    """

    labels: tuple[str, ...]
    n: int
    n_failed: int
    n_unread: int
    n_unscored: int
    classes: NDArray[np.bool_]
    confusion: Confusion
    binary: BinaryScores | None
    costs: CostTotals | None
    confidence: float

    @property
    def matrix(self) -> Counts:
        """Rows with an answer, by expected (row) and predicted (column) label."""
        return self.confusion.matrix

    @cached_property
    def metrics(self) -> dict[str, Estimate]:
        """Metrics over all labels.

        ``accuracy`` (share of rows that are right), ``balanced_accuracy`` (mean recall over expected labels),
        ``macro_accuracy`` (the same over rows with an answer), ``macro_precision``, ``macro_recall``, ``macro_f1``
        (means over labels expected or predicted), ``micro_f1``, ``weighted_f1`` (by expected rows) and
        ``failure_rate``. F1 is 2TP / (2TP + FP + FN).
        """
        found = {name: self.confusion.estimate(*how, self.classes) for name, how in METRICS.items()}
        return found | {"failure_rate": wilson(self.n_failed, self.n, confidence=self.confidence)}

    @property
    def accuracy(self) -> Estimate:
        """Share of rows predicted right; a failed row is a miss."""
        return self.metrics["accuracy"]

    @property
    def balanced_accuracy(self) -> Estimate:
        """Mean recall over the expected labels; a failed row is a miss."""
        return self.metrics["balanced_accuracy"]

    @property
    def macro_accuracy(self) -> Estimate:
        """Mean over expected labels of their accuracy among rows with an answer."""
        return self.metrics["macro_accuracy"]

    @property
    def macro_f1(self) -> Estimate:
        """Mean F1 over labels expected or predicted; a failed row is a miss."""
        return self.metrics["macro_f1"]

    @property
    def micro_f1(self) -> Estimate:
        """F1 of all labels pooled; equals accuracy when every row has an answer that is a label."""
        return self.metrics["micro_f1"]

    @cached_property
    def per_class(self) -> pd.DataFrame:
        """One row per class, over rows with an answer.

        Columns: ``label``, ``support`` (rows of the class), ``predicted``, ``correct``, ``failed`` (rows of the class
        without an answer, not in the support), ``precision``, ``recall`` (also called the class's accuracy) with
        Wilson bounds ``recall_lo`` and ``recall_hi``, and ``f1``; NaN where undefined.
        """
        import pandas as pd

        matrix = self.matrix
        table = pd.DataFrame(
            {
                "label": pd.array(self.labels, dtype="str"),
                "support": matrix.sum(axis=1),
                "predicted": matrix.sum(axis=0),
                "correct": matrix.diagonal(),
                "failed": self.confusion.failed,
            }
        )[self.classes].reset_index(drop=True)
        table["precision"] = table["correct"] / table["predicted"].where(table["predicted"] > 0)
        table["recall"] = table["correct"] / table["support"].where(table["support"] > 0)
        seen = table["support"] + table["predicted"]
        table["f1"] = 2 * table["correct"] / seen.where(seen > 0)
        pairs = zip(table["correct"], table["support"], strict=True)
        bounds = [wilson(int(correct), int(n), confidence=self.confidence) for correct, n in pairs]
        table["recall_lo"] = pd.array([b.lo for b in bounds], dtype="float64")
        table["recall_hi"] = pd.array([b.hi for b in bounds], dtype="float64")
        return table[list(_PER_CLASS)]

    def table(self, *, normalize: str | None = None) -> pd.DataFrame:
        """Return the confusion matrix with its labels.

        Args:
            normalize: ``row`` gives shares of each expected label, ``column`` of each predicted one; counts by
                default. Shares of nothing are NaN.

        Raises:
            InputError: The normalisation is unknown.
        """
        import pandas as pd

        axes = pd.Index(self.labels, name="expected"), pd.Index(self.labels, name="predicted")
        table = pd.DataFrame(self.matrix, index=axes[0], columns=axes[1])
        if normalize is None:
            return table
        if normalize not in ("row", "column"):
            raise InputError(f"cannot normalize by {normalize!r}", expected="row, column or None")
        if normalize == "row":
            totals = table.sum(axis="columns")
            return table.div(totals.where(totals > 0), axis="index")
        totals = table.sum(axis="index")
        return table.div(totals.where(totals > 0), axis="columns")

    def top_confusions(self, n: int = 10) -> pd.DataFrame:
        """Return the most frequent wrong pairs: ``expected``, ``predicted``, ``n`` and ``share`` of the expected label.

        Args:
            n: At most so many.
        """
        import pandas as pd

        wrong = self.matrix.copy()
        np.fill_diagonal(wrong, 0)
        row, column = np.nonzero(wrong)
        counts = wrong[row, column]
        order = np.lexsort((column, row, -counts))[:n]
        labels = np.asarray(self.labels, dtype=object)
        shares = counts / self.matrix.sum(axis=1)[row]
        return pd.DataFrame(
            {
                "expected": pd.array(labels[row[order]], dtype="str"),
                "predicted": pd.array(labels[column[order]], dtype="str"),
                "n": counts[order],
                "share": shares[order],
            }
        )

    def as_dict(self) -> dict[str, Any]:
        """Return counts, metrics, the matrix and the table of classes as JSON-ready values."""
        per_class = self.per_class.astype(object).where(self.per_class.notna(), None)
        return {
            "n": self.n,
            "n_failed": self.n_failed,
            "n_unread": self.n_unread,
            "n_unscored": self.n_unscored,
            "metrics": {name: estimate.as_dict() for name, estimate in self.metrics.items()},
            "labels": list(self.labels),
            "matrix": self.matrix.tolist(),
            "per_class": per_class.to_dict("records"),
            "top_confusions": self.top_confusions().to_dict("records"),
            **({"binary": self.binary.as_dict()} if self.binary else {}),
            **({"costs": self.costs.as_dict()} if self.costs else {}),
        }

    def __repr__(self) -> str:
        value = self.accuracy.value
        share = "undefined" if value is None else f"{value:.4f}"
        return f"LabelScores(accuracy {share}, n={self.n}, {len(self.labels)} labels, {self.n_failed} failed)"


def score_labels(
    expected: Iterable[Any],
    predicted: Iterable[Any],
    *,
    labels: Sequence[str] | None = None,
    positive: str | None = None,
    failed: Iterable[bool] | None = None,
    costs: Iterable[float | None] | None = None,
    units: Iterable[Any] | None = None,
    settings: Settings | None = None,
) -> LabelScores:
    """Score predicted labels against expected ones.

    Labels are compared as they stand. Intervals resample units, sorted by key; rows without a key are units of their
    own, in an order that does not depend on the order of the rows.

    Args:
        expected: True label per row; a missing or blank one leaves the row unscored.
        predicted: Predicted label per row; a missing or blank one is an answer that is no label.
        labels: Labels and their order; by default those that occur, sorted. A prediction outside counts as ``other``.
        positive: Label to take as positive in a binary view.
        failed: Which rows have no answer; outputs that start with ``ERROR:`` have none either.
        costs: US dollars per row, missing where unknown.
        units: Key of what is resampled, e.g. the document; rows of one key are drawn together.
        settings: Seed, replicates and level of the intervals; the current settings by default.

    Raises:
        InputError: Columns differ in length, an expected or the positive label is none of the labels, or there are
            too many labels to be classes.

    Examples:
        >>> scores = score_labels(["yes", "yes", "no", "no"], ["yes", "no", "no", "no"], positive="yes")
        >>> scores.accuracy.value, round(scores.macro_f1.value, 4), scores.binary.fn
        (0.75, 0.7333, 1)
        >>> scores.matrix.tolist()
        [[2, 0], [1, 1]]
    """
    truth, guess = _column(expected), _column(predicted)
    _same_length(truth, guess, "predicted")
    no_answer = np.zeros(len(truth), dtype=bool) if failed is None else np.fromiter(failed, dtype=bool)
    _same_length(truth, no_answer, "failed")
    scored = truth.codes >= 0
    no_answer |= guess.marks(is_failed_output)
    space = _label_space(truth, guess, labels, scored & ~no_answer)
    statistics = resolve(settings).statistics
    bootstrap = CellBootstrap(statistics.n_resamples, statistics.seed, statistics.confidence)
    of_units = None if units is None else _units(units, scored)
    classes = space.predicted[guess.codes]
    classes[no_answer] = len(space.labels)
    confusion = count_confusion(
        space.expected[truth.codes[scored]], classes[scored], len(space.labels), bootstrap=bootstrap, units=of_units
    )
    return LabelScores(
        labels=space.labels,
        n=int(scored.sum()),
        n_failed=int(confusion.failed.sum()),
        n_unread=int(space.unread[guess.codes][scored & ~no_answer].sum()),
        n_unscored=int((~scored).sum()),
        classes=space.classes,
        confusion=confusion,
        binary=None if positive is None else _binary(confusion, space, positive),
        costs=None if costs is None else _cost_totals(costs, len(truth), bootstrap),
        confidence=statistics.confidence,
    )


class _Column:
    """A column of labels as codes into its distinct texts; -1 where there is none."""

    def __init__(self, values: Sequence[Any]) -> None:
        import pandas as pd

        codes, distinct = pd.factorize(label_texts(values))
        texts = [*map(label_text, distinct)]
        self.texts = tuple(dict.fromkeys(text for text in texts if text.strip()))
        position = {text: index for index, text in enumerate(self.texts)}
        self.codes: Codes = np.array([*(position.get(text, -1) for text in texts), -1], dtype=np.int64)[codes]

    def __len__(self) -> int:
        return len(self.codes)

    def marks(self, test: Callable[[str], bool]) -> NDArray[np.bool_]:
        """Tell for every row whether its text passes a test."""
        return np.array([*map(test, self.texts), False], dtype=bool)[self.codes]


def _column(values: Iterable[Any]) -> _Column:
    return _Column(values if isinstance(values, Sequence) else list(values))


def _same_length(truth: _Column, other: _Column | NDArray[np.bool_], name: str) -> None:
    if len(truth) != len(other):
        raise InputError(f"row counts differ: {len(truth)} expected, {len(other)} {name}", field=name)


@dataclass(frozen=True)
class _LabelSpace:
    """Where the distinct texts of both columns stand among the labels; the last entry is for rows without a text."""

    labels: tuple[str, ...]
    classes: NDArray[np.bool_]
    expected: Codes
    predicted: Codes
    unread: NDArray[np.bool_]


def _label_space(
    truth: _Column, guess: _Column, given: Sequence[str] | None, answered: NDArray[np.bool_]
) -> _LabelSpace:
    answers = {guess.texts[code] for code in np.unique(guess.codes[answered]) if code >= 0}
    known = tuple(dict.fromkeys(given)) if given is not None else tuple(sorted({*truth.texts, *answers}, key=_order))
    if len(known) > MOST_LABELS:
        expected = f"at most {MOST_LABELS}; normalize answers to labels first"
        raise InputError(f"{len(known)} distinct labels are no classes", expected=expected)
    for text in truth.texts:
        if text not in known:
            raise InputError(f"expected label {text!r} is none of the labels{closest(text, known)}", field="expected")
    position = {label: index for index, label in enumerate(known)}
    outside = answers - position.keys() or bool((answered & (guess.codes < 0)).any())
    expects_other = any(is_other(text) for text in truth.texts)
    others = [index for label, index in position.items() if is_other(label)]
    bucket = others[0] if others and not expects_other else len(known)
    added = bool(outside) and bucket == len(known)
    labels = (*known, NO_LABEL if expects_other else OUTSIDE) if added else known
    return _LabelSpace(
        labels,
        np.arange(len(labels)) < len(known),
        np.array([position[text] for text in truth.texts], dtype=np.int64),
        np.array([*(position.get(text, bucket) for text in guess.texts), bucket], dtype=np.int64),
        np.array([*(text not in position for text in guess.texts), True], dtype=bool),
    )


def is_other(label: str) -> bool:
    """Tell whether a label is the column of predictions that are none of the labels."""
    return label.casefold() == OUTSIDE


def _order(label: str) -> tuple[bool, float, str]:
    """Sort numbers by value and before words."""
    try:
        return False, float(label), label
    except ValueError:
        return True, 0.0, label


def _units(units: Iterable[Any], scored: NDArray[np.bool_]) -> Codes:
    """Number the keys of scored rows in their sorted order."""
    import pandas as pd

    keys = np.array([str(unit) for unit in units], dtype=object)
    if len(keys) != len(scored):
        raise InputError(f"row counts differ: {len(scored)} expected, {len(keys)} units", field="units")
    codes, _ = pd.factorize(keys[scored], sort=True)
    return codes.astype(np.int64)


def _binary(confusion: Confusion, space: _LabelSpace, positive: str) -> BinaryScores:
    if positive not in space.labels:
        known = ", ".join(space.labels[:20])
        raise InputError(f"positive label {positive!r} is none of the labels{closest(positive, space.labels)}: {known}")
    at = space.labels.index(positive)
    metrics = {name: confusion.estimate_binary(*how, at) for name, how in BINARY_METRICS.items()}
    n_answered, tp = int(confusion.matrix.sum()), int(confusion.matrix[at, at])
    n_positive, n_predicted = int(confusion.matrix[at].sum()), int(confusion.matrix[:, at].sum())
    fp = n_predicted - tp
    fn = n_positive + int(confusion.failed[at]) - tp
    return BinaryScores(positive, tp, fp, fn, n_answered - n_positive - fp, metrics)


def _cost_totals(costs: Iterable[float | None], n: int, bootstrap: CellBootstrap) -> CostTotals:
    values = np.array([np.nan if cost is None else cost for cost in costs], dtype=float)
    if len(values) != n:
        raise InputError(f"row counts differ: {n} expected, {len(values)} costs", field="costs")
    known = values[~np.isnan(values)]
    if not len(known):
        return CostTotals(0, 0.0, undefined("no row has a known cost"))
    return CostTotals(
        len(known),
        float(known.sum()),
        mean_of_units(bootstrap, known, None, undefined_because="no row has a known cost"),
    )
