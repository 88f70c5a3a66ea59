"""Pooled precision, recall, F and Jaccard: ratios of counts summed over units.

A ratio is pooled anew in every replicate; averages of per-unit ratios are another thing. Two forms exist: units that
hold several rows each, such as documents, are resampled whole; rows that are independent of one another are fully
described by how many of them are true and false positives and negatives, and then drawing these counts is one
multinomial draw, whatever n is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from dojo_kit.stats.intervals import Array, Bootstrap, Estimate, divide, undefined
from dojo_kit.stats.means import Method, ratio_interval

Ratio = Literal["precision", "recall", "f1", "f2", "jaccard"]
"""A ratio of counts; undefined where its denominator is 0."""

RATIOS: tuple[Ratio, ...] = get_args(Ratio)

_WEIGHTS: dict[str, tuple[int, int, int]] = {
    "precision": (1, 1, 0),
    "recall": (1, 0, 1),
    "f1": (2, 1, 1),
    "f2": (5, 1, 4),
    "jaccard": (1, 1, 1),
}
"""Weights of true positives, false positives and false negatives in the denominator; the numerator has the first."""


def ratio_summands(ratio: Ratio, tp: ArrayLike, fp: ArrayLike, fn: ArrayLike) -> tuple[Array, Array]:
    """Numerators and denominators of a ratio, one per unit, whose sums' quotient is the pooled ratio.

    Args:
        ratio: Which.
        tp: True positives of every unit, shape (n,).
        fp: False positives.
        fn: False negatives.

    Raises:
        ValueError: The ratio is unknown.

    Examples:
        >>> numerators, denominators = ratio_summands("f1", [2, 0], [1, 1], [0, 1])
        >>> numerators.tolist(), denominators.tolist()
        ([4.0, 0.0], [5.0, 2.0])
    """
    if ratio not in _WEIGHTS:
        raise ValueError(f"unknown ratio {ratio!r}; known: {', '.join(RATIOS)}")
    hits, *errors = (np.asarray(counts, dtype=float) for counts in (tp, fp, fn))
    of_hits, of_false_positives, of_misses = _WEIGHTS[ratio]
    numerators = of_hits * hits
    return numerators, numerators + of_false_positives * errors[0] + of_misses * errors[1]


def pooled_ratio(
    ratio: Ratio,
    tp: ArrayLike,
    fp: ArrayLike,
    fn: ArrayLike,
    *,
    method: Method = "percentile",
    clusters: ArrayLike | None = None,
    bootstrap: Bootstrap | None = None,
) -> Estimate:
    """Pooled ratio with the interval of resampled units.

    Args:
        ratio: Which.
        tp: True positives of every unit, shape (n,); a unit with NaN is left out.
        fp: False positives.
        fn: False negatives.
        method: How, see `dojo_kit.stats.means`.
        clusters: Key of every unit's cluster, when units of a cluster are not independent.
        bootstrap: Confidence, name of the units, and the resampling.

    Examples:
        >>> estimate = pooled_ratio("f1", [2, 0, 3], [1, 1, 0], [0, 1, 0])
        >>> round(estimate.value, 4), estimate.n, estimate.method
        (0.7692, 3, 'percentile')
    """
    numerators, denominators = ratio_summands(ratio, tp, fp, fn)
    return ratio_interval(
        numerators, denominators, method=method, clusters=clusters, limits=(0.0, 1.0), bootstrap=bootstrap
    )


def pooled_ratio_of_rows(
    ratio: Ratio, tp: int, fp: int, fn: int, tn: int = 0, *, bootstrap: Bootstrap | None = None
) -> Estimate:
    """Pooled ratio of independent rows, from their counts alone.

    Args:
        ratio: Which.
        tp: True positives.
        fp: False positives.
        fn: False negatives.
        tn: True negatives, and any other rows that could have come out otherwise.
        bootstrap: Confidence, name of the rows, and the resampling.

    Examples:
        >>> estimate = pooled_ratio_of_rows("f1", 40, 10, 10, 40)
        >>> estimate.value, estimate.n, estimate.method
        (0.8, 100, 'percentile-counts')
    """
    outcomes = np.eye(3, 4)
    numerators, denominators = ratio_summands(ratio, *outcomes)
    cells = np.column_stack([numerators, denominators])
    return statistic_of_cells(cells, [tp, fp, fn, tn], lambda sums: divide(sums[:, 0], sums[:, 1]), bootstrap=bootstrap)


def statistic_of_cells(
    cells: Array, counts: ArrayLike, statistic: Callable[[Array], Array], *, bootstrap: Bootstrap | None = None
) -> Estimate:
    """Any function of sums over independent rows that take few distinct values.

    Args:
        cells: Distinct summands, shape (cells, k).
        counts: Rows of each, shape (cells,).
        statistic: From sums, shape (r, k), to values, shape (r,); NaN where undefined.
        bootstrap: Confidence, name of the rows, and the resampling.

    Raises:
        ValueError: There is not one count per cell, or a count is negative.
    """
    bootstrap = bootstrap or Bootstrap()
    rows = np.asarray(counts, dtype=np.int64)
    if rows.shape != (len(cells),) or (rows < 0).any():
        raise ValueError(f"counts must be {len(cells)} numbers of rows, none negative, got {rows.tolist()}")
    n = int(rows.sum())
    if n == 0:
        return undefined("no units", unit=bootstrap.unit)
    point = float(statistic(np.asarray(rows @ cells, dtype=float)[None, :])[0])
    return bootstrap.of_replicates(point, statistic(bootstrap.resampled_cells(rows) @ cells), n, "percentile-counts")
