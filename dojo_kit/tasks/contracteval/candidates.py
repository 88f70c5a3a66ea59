"""Counts that printed ratios allow, and how far the ratios could have come out otherwise.

With P positives, TP true and FP false positives give F1 = 2 TP / (TP + FP + P) and F2 = 5 TP / (TP + FP + 4 P).
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dojo_kit.stats.intervals import Array, Bootstrap, Estimate, undefined, wilson
from dojo_kit.tasks.contracteval.rubric import PUBLISHED_POSITIVES

Counts = NDArray[np.int64]
Printed: TypeAlias = Decimal | str | float

NEGATIVES = (2884, 2938)
"""Negatives a model may have been asked: as the paper counts them, and in the public split."""

TOLERANCE = Decimal("0.0005")
"""How far a figure printed to three digits can be from the ratio behind it."""

RATIOS = ("f1", "f2", "precision", "recall")


def confusion_candidates(
    f1: Printed,
    f2: Printed,
    *,
    positives: int = PUBLISHED_POSITIVES,
    negatives: int = max(NEGATIVES),
    tolerance: Printed = TOLERANCE,
) -> Counts:
    """Find every pair of counts that gives a printed F1 and F2.

    Args:
        f1: F1 as printed.
        f2: F2 as printed.
        positives: Positives asked.
        negatives: Most false positives there can be.
        tolerance: How far a printed figure can be off, the end included.

    Returns:
        (TP, FP) with |F - printed| <= tolerance for both, TP from 0 to `positives`, FP from 0 to `negatives`; shape
        (k, 2), in ascending order. Computed in whole numbers, so no solution is lost to rounding.

    Examples:
        >>> found = confusion_candidates("0.641", "0.672")
        >>> found.min(axis=0).tolist(), found.max(axis=0).tolist()
        ([863, 584], [865, 592])
        >>> len(confusion_candidates("0.9", "0.1"))
        0
    """
    tp = np.arange(positives + 1)
    low, high = np.zeros_like(tp), np.full_like(tp, negatives)
    for printed, gain, weight in ((f1, 2, 1), (f2, 5, 4)):
        least, most = _denominators(printed, tolerance, gain * tp)
        base = tp + weight * positives  # F1 = 2 TP / (base + FP) with weight 1, F2 = 5 TP / (base + FP) with 4
        low, high = np.maximum(low, least - base), np.minimum(high, most - base)
    pairs = [
        np.column_stack([np.full(stop - start + 1, n), np.arange(start, stop + 1)])
        for n, start, stop in zip(tp, low, high, strict=True)
        if start <= stop
    ]
    return np.concatenate(pairs) if pairs else np.empty((0, 2), dtype=np.int64)


def _denominators(printed: Printed, tolerance: Printed, numerators: Counts) -> tuple[Counts, Counts]:
    """Return the least and the largest denominator with which each numerator gives a printed ratio."""
    middle, off = (Fraction(Decimal(str(value))) for value in (printed, tolerance))
    top, bottom = middle + off, middle - off
    least = -(-numerators * top.denominator // top.numerator)
    if bottom > 0:
        return least, numerators * bottom.denominator // bottom.numerator
    return least, np.full_like(numerators, np.iinfo(np.int64).max // 2)


@dataclass(frozen=True, slots=True)
class Hulls:
    """Parametric intervals that hold whichever of several counts is the true one.

    Attributes:
        ends: Ratio -> lowest and highest end over all candidates and both numbers of negatives.
        lowest: F1 replicates of the candidate whose interval reaches lowest.
        highest: F1 replicates of the candidate whose interval reaches highest.
    """

    ends: dict[str, tuple[float, float]]
    lowest: Array
    highest: Array


def hulls(candidates: Counts, *, rng: np.random.Generator, bootstrap: Bootstrap) -> Hulls:
    """Draw counts around every candidate and take the outermost ends of the intervals.

    TP is binomial among the positives and FP among the negatives, for each of `NEGATIVES`.

    Args:
        candidates: (TP, FP), shape (k, 2), k > 0.
        rng: Where the draws come from.
        bootstrap: Replicates and level.
    """
    drawn: dict[str, list[Array]] = {name: [] for name in RATIOS}
    for negatives in NEGATIVES:
        tp, fp = candidates[candidates[:, 1] <= negatives].T
        size = (bootstrap.n_resamples, len(tp))
        hits = rng.binomial(PUBLISHED_POSITIVES, tp / PUBLISHED_POSITIVES, size=size).astype(float)
        errors = rng.binomial(negatives, fp / negatives, size=size).astype(float)
        drawn["f1"].append(2 * hits / (hits + errors + PUBLISHED_POSITIVES))
        drawn["f2"].append(5 * hits / (hits + errors + 4 * PUBLISHED_POSITIVES))
        drawn["precision"].append(hits / np.maximum(hits + errors, 1))
        drawn["recall"].append(hits / PUBLISHED_POSITIVES)
    replicates = {name: np.concatenate(parts, axis=1) for name, parts in drawn.items()}
    ends = {name: interval_ends(values, bootstrap) for name, values in replicates.items()}
    return Hulls(
        {name: (float(lo.min()), float(hi.max())) for name, (lo, hi) in ends.items()},
        replicates["f1"][:, ends["f1"][0].argmin()],
        replicates["f1"][:, ends["f1"][1].argmax()],
    )


def interval_ends(replicates: Array, bootstrap: Bootstrap) -> Array:
    """Return lower and upper percentile of replicates, along their first axis."""
    tail = (1 - bootstrap.confidence) / 2
    ends: Array = np.quantile(replicates, [tail, 1 - tail], axis=0, method="linear")
    return ends


def share_hull(printed: Printed, *, confidence: float) -> Estimate:
    """Return a printed share of the positives with an interval that holds for every count it may stand for.

    Args:
        printed: The share as printed.
        confidence: Level of the Wilson intervals that are covered.

    Examples:
        >>> share_hull("0.000", confidence=0.95).hi > 0
        True
    """
    middle, off = Fraction(Decimal(str(printed))), Fraction(TOLERANCE)
    counts = range(PUBLISHED_POSITIVES + 1)
    fits = [n for n in counts if abs(Fraction(n, PUBLISHED_POSITIVES) - middle) <= off]
    found = [wilson(n, PUBLISHED_POSITIVES, confidence=confidence) for n in fits]
    if not found:
        return undefined("the printed figure fits no count")
    lo, hi = min(one.lo or 0.0 for one in found), max(one.hi or 0.0 for one in found)
    return Estimate(float(middle), lo, hi, "wilson-hull", PUBLISHED_POSITIVES)
