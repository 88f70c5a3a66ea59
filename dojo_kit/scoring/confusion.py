"""Counts of a confusion matrix and every ratio taken from them.

Rows are expected labels, columns predicted ones. Counts come first: each metric is a function of four counts per class
(`ClassSums`), for the observed rows and for every bootstrap replicate alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dojo_kit.stats.cells import CellBootstrap, Codes, DrawnSums
from dojo_kit.stats.intervals import Array, Estimate

Counts = NDArray[np.int64]


class ClassSums(NamedTuple):
    """Rows per class, each of shape (replicates, classes).

    Attributes:
        correct: Rows of the class that were predicted as it.
        expected: Rows of the class, those without an answer included.
        predicted: Rows predicted as the class.
        failed: Rows of the class without an answer.
    """

    correct: Array
    expected: Array
    predicted: Array
    failed: Array

    @classmethod
    def of(cls, sums: Array) -> ClassSums:
        """Split sums of shape (replicates, 4 x classes)."""
        return cls(*np.split(sums, 4, axis=1))

    @property
    def answered(self) -> Array:
        """Rows of the class that have an answer."""
        return self.expected - self.failed


Metric = Callable[[ClassSums], Array]


def ratio(part: Array, whole: Array) -> Array:
    """Divide element by element; 0/0 is NaN.

    Examples:
        >>> ratio(np.array([1.0, 0.0]), np.array([2.0, 0.0])).tolist()
        [0.5, nan]
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(whole == 0, np.nan, part / whole)


def mean_over_classes(values: Array, weights: Array | None = None) -> Array:
    """Average over classes, shape (r, classes) to (r,), leaving out those where the value is undefined."""
    defined = ~np.isnan(values)
    weight = np.where(defined, 1.0 if weights is None else weights, 0.0)
    return ratio((np.where(defined, values, 0.0) * weight).sum(axis=1), weight.sum(axis=1))


def _f1(c: ClassSums) -> Array:
    return ratio(2 * c.correct, c.expected + c.predicted)


def _micro_f1(c: ClassSums) -> Array:
    return ratio(2 * c.correct.sum(axis=1), (c.expected + c.predicted).sum(axis=1))


_NO_ROWS = "no row has an expected label"

METRICS: Mapping[str, tuple[Metric, str]] = {
    "accuracy": (lambda c: ratio(c.correct.sum(axis=1), c.expected.sum(axis=1)), _NO_ROWS),
    "balanced_accuracy": (lambda c: mean_over_classes(ratio(c.correct, c.expected)), _NO_ROWS),
    "macro_accuracy": (lambda c: mean_over_classes(ratio(c.correct, c.answered)), "no row has an answer"),
    "macro_precision": (lambda c: mean_over_classes(ratio(c.correct, c.predicted)), "no row has a predicted label"),
    "macro_recall": (lambda c: mean_over_classes(ratio(c.correct, c.expected)), _NO_ROWS),
    "macro_f1": (lambda c: mean_over_classes(_f1(c)), _NO_ROWS),
    "micro_f1": (_micro_f1, _NO_ROWS),
    "weighted_f1": (lambda c: mean_over_classes(_f1(c), c.expected), _NO_ROWS),
}
"""Metric -> its formula and why it may be undefined; see `dojo_kit.scoring.classification.LabelScores`."""


class BinarySums(NamedTuple):
    """Outcomes with one class taken as positive, each of shape (replicates,).

    Attributes:
        tp: Positive rows found.
        fp: Negative rows called positive.
        fn: Positive rows not found, those without an answer included.
        tn: Negative rows not called positive.
    """

    tp: Array
    fp: Array
    fn: Array
    tn: Array

    @classmethod
    def of(cls, c: ClassSums, positive: int) -> BinarySums:
        """Take one class as positive; a negative row without an answer is neither FP nor TN."""
        tp, predicted = c.correct[:, positive], c.predicted[:, positive]
        negatives = c.answered.sum(axis=1) - c.answered[:, positive]
        fp = predicted - tp
        return cls(tp, fp, c.expected[:, positive] - tp, negatives - fp)


BINARY_METRICS: Mapping[str, tuple[Callable[[BinarySums], Array], str]] = {
    "precision": (lambda b: ratio(b.tp, b.tp + b.fp), "nothing was predicted positive"),
    "recall": (lambda b: ratio(b.tp, b.tp + b.fn), "no row is positive"),
    "f1": (lambda b: ratio(2 * b.tp, 2 * b.tp + b.fp + b.fn), "no row is positive or predicted so"),
    "f2": (lambda b: ratio(5 * b.tp, 5 * b.tp + b.fp + 4 * b.fn), "no row is positive or predicted so"),
    "false_positive_rate": (lambda b: ratio(b.fp, b.fp + b.tn), "no row is negative"),
    "false_negative_rate": (lambda b: ratio(b.fn, b.tp + b.fn), "no row is positive"),
}
"""Metric of the binary view -> its formula and why it may be undefined."""


@dataclass(frozen=True, slots=True, eq=False)
class Confusion:
    """Labelled rows, counted.

    Attributes:
        matrix: Rows with an answer by expected (row) and predicted (column) class, shape (classes, classes).
        failed: Rows without an answer by expected class, shape (classes,).
        drawn: The four counts of `ClassSums`, observed and resampled.
    """

    matrix: Counts
    failed: Counts
    drawn: DrawnSums

    @property
    def sums(self) -> ClassSums:
        """The observed counts, each of shape (1, classes)."""
        return ClassSums.of(self.drawn.observed)

    def estimate(self, metric: Metric, why: str, classes: NDArray[np.bool_]) -> Estimate:
        """Estimate a metric over some of the classes."""
        chosen = np.tile(classes, 4)
        return self.drawn.estimate(lambda sums: metric(ClassSums.of(sums[:, chosen])), undefined_because=why)

    def estimate_binary(self, metric: Callable[[BinarySums], Array], why: str, positive: int) -> Estimate:
        """Estimate a metric with one class as positive."""
        return self.drawn.estimate(
            lambda sums: metric(BinarySums.of(ClassSums.of(sums), positive)), undefined_because=why
        )


def count_confusion(
    expected: Codes, predicted: Codes, n_classes: int, *, bootstrap: CellBootstrap, units: Codes | None = None
) -> Confusion:
    """Count rows by expected and predicted class.

    Args:
        expected: Class of every row, from 0.
        predicted: Predicted class of every row; ``n_classes`` where there is no answer.
        n_classes: Classes.
        bootstrap: The resampling.
        units: Unit of every row, see `CellBootstrap.draw`.
    """
    from scipy.sparse import csr_array

    width = n_classes + 1
    pairs, cells = _occupied(expected * width + predicted, n_classes * width)
    row, column = np.divmod(pairs, width)
    answered, right = column < n_classes, row == column
    entries = [(right, row), (np.ones_like(right), row + n_classes)]
    entries += [(answered, column + 2 * n_classes), (~answered, row + 3 * n_classes)]
    where = [np.flatnonzero(chosen) for chosen, _ in entries]
    columns = [target[at] for at, (_, target) in zip(where, entries, strict=True)]
    at = (np.concatenate(where), np.concatenate(columns))
    summands = csr_array((np.ones(len(at[0])), at), shape=(len(pairs), 4 * n_classes))
    counts = np.bincount(cells, minlength=len(pairs))
    table = np.zeros((n_classes, width), dtype=np.int64)
    table[row, column] = counts
    drawn = bootstrap.draw(cells, summands, units)
    return Confusion(table[:, :n_classes], table[:, n_classes], drawn)


def _occupied(codes: Codes, n_codes: int) -> tuple[Codes, Codes]:
    """Return the codes that occur, sorted, and which of them every row has."""
    occurring = np.flatnonzero(np.bincount(codes, minlength=n_codes))
    position = np.zeros(n_codes, dtype=np.int64)
    position[occurring] = np.arange(len(occurring))
    return occurring, position[codes]
