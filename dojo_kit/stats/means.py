"""Intervals of means and ratios of sums by the method that suits them.

| method | for | bounds |
|---|---|---|
| ``percentile`` | 30 units and more | quantiles of the bootstrap |
| ``expanded percentile`` | the same with few units | the same, tails widened as Student's t is (Hesterberg 2015) |
| ``t`` | few units | estimate and standard error; of a ratio the linearised one |
| ``bca`` | skewed statistics | quantiles corrected for bias and acceleration (Efron 1987) |
| ``wilson`` | shares of 0/1 units | score interval; of clusters with the design effect |
| ``auto`` | | Wilson for independent 0/1, t below 30 units, percentile otherwise |

Units that are not independent are put into clusters, and then clusters are the units. On how often these intervals
hold what they promise see ``tests/stats/coverage_simulation.py``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from dojo_kit.stats.clusters import cluster_keys, cluster_sums, clustered_wilson
from dojo_kit.stats.intervals import Array, Bootstrap, Estimate, divide, interval_flags, undefined, wilson

Method = Literal["auto", "percentile", "expanded percentile", "t", "bca", "wilson"]
"""How an interval is computed."""

T_BELOW_N = 30
"""Units below which ``auto`` takes Student's t."""

SKEW_LIMIT = 2.0
"""Skewness of the units beyond which an interval is flagged: with few units none of the methods holds its level."""


def mean_interval(
    values: ArrayLike,
    *,
    method: Method = "auto",
    clusters: ArrayLike | None = None,
    limits: tuple[float, float] | None = None,
    bootstrap: Bootstrap | None = None,
) -> Estimate:
    """Mean over units with its interval.

    Args:
        values: One value per unit, shape (n,); NaN is left out.
        method: How, see the module.
        clusters: Key of every unit's cluster, when units of a cluster are not independent.
        limits: Smallest and largest possible value, at which bounds are cut.
        bootstrap: Confidence, name of the units, and the resampling.

    Returns:
        The mean; its n counts clusters where given.

    Raises:
        ValueError: The method is unknown, or Wilson was asked of values other than 0 and 1.

    Examples:
        >>> estimate = mean_interval([0.2, 0.9, 0.4, 1.0, 0.0, 0.7], limits=(0, 1))
        >>> estimate.method, round(estimate.lo, 3), round(estimate.hi, 3)
        ('t', 0.115, 0.951)
        >>> mean_interval([0, 1, 1, 1]).method
        'wilson'
    """
    bootstrap = bootstrap or Bootstrap()
    array = np.asarray(values, dtype=float)
    keys = None if clusters is None else cluster_keys(clusters, len(array))[~np.isnan(array)]
    array = array[~np.isnan(array)]
    binary = bool(np.isin(array, (0.0, 1.0)).all())
    if method == "auto" and binary and keys is None:
        method = "wilson"
    if method == "wilson":
        if not binary:
            raise ValueError("a Wilson interval needs values of 0 and 1")
        if keys is not None:
            return clustered_wilson(array, keys, confidence=bootstrap.confidence, unit=bootstrap.unit)
        return wilson(int(array.sum()), len(array), confidence=bootstrap.confidence, unit=bootstrap.unit)
    return ratio_interval(array, np.ones(len(array)), method=method, clusters=keys, limits=limits, bootstrap=bootstrap)


def ratio_interval(
    numerators: ArrayLike,
    denominators: ArrayLike,
    *,
    method: Method = "auto",
    clusters: ArrayLike | None = None,
    limits: tuple[float, float] | None = None,
    bootstrap: Bootstrap | None = None,
) -> Estimate:
    """Ratio of two sums over units with its interval.

    Args:
        numerators: One summand per unit, shape (n,); a unit with NaN is left out.
        denominators: The same for the denominator.
        method: How, see the module; Wilson is for shares of units, not for ratios.
        clusters: Key of every unit's cluster, when units of a cluster are not independent.
        limits: Smallest and largest possible value, at which bounds are cut.
        bootstrap: Confidence, name of the units, and the resampling.

    Returns:
        The ratio; its n counts clusters where given.

    Raises:
        ValueError: The method is unknown or Wilson's.

    Examples:
        >>> ratio_interval([1, 9], [10, 10], method="percentile").hi
        0.9
    """
    bootstrap = bootstrap or Bootstrap()
    rows = np.column_stack([np.asarray(numerators, dtype=float), np.asarray(denominators, dtype=float)])
    known = ~np.isnan(rows).any(axis=1)
    units = rows[known] if clusters is None else cluster_sums(rows[known], cluster_keys(clusters, len(rows))[known])
    n = len(units)
    if n == 0:
        return undefined("no units", unit=bootstrap.unit)
    if units[:, 1].sum() == 0:
        return undefined("the denominator is zero", n=n, unit=bootstrap.unit)
    if method == "auto":
        method = "t" if n < T_BELOW_N else "percentile"
    if method not in _METHODS:
        raise ValueError(f"unknown method {method!r} of a ratio; known: auto, {', '.join(_METHODS)}")
    if n == 1 and method != "percentile":
        point = float(units[0, 0] / units[0, 1])
        return Estimate(
            point, None, None, "none", 1, flags=("n < 20",), note="one unit has no spread", unit=bootstrap.unit
        )
    estimate = _METHODS[method](units, bootstrap)
    if clusters is not None:
        estimate = replace(estimate, method=f"cluster {estimate.method}")
    return _flagged(_cut(estimate, limits), units)


def expanded_tail(n: int, confidence: float = 0.95) -> float:
    """Tail probability of the expanded percentile interval: Phi(-sqrt(n / (n - 1)) t) (Hesterberg 2015, eq. 7).

    The bootstrap's spread is too small by sqrt((n - 1) / n) and its quantiles are those of a normal where Student's t
    is needed; the wider tails make up for both.

    Args:
        n: Units, at least 2.
        confidence: Confidence level.

    Examples:
        >>> round(expanded_tail(50), 5)
        0.02118
    """
    from scipy.special import ndtr, stdtrit

    return float(ndtr(-math.sqrt(n / (n - 1)) * stdtrit(n - 1, 0.5 + confidence / 2)))


def influences(units: Array) -> Array:
    """How much every unit moves a ratio of sums: for a mean, the value less the mean.

    Args:
        units: Numerators and denominators, shape (n, 2).

    Returns:
        Shape (n,), with mean 0; their standard deviation over sqrt(n) is the ratio's linearised standard error.
    """
    numerators, denominators = units.T
    ratio = numerators.sum() / denominators.sum()
    moved: Array = (numerators - ratio * denominators) / denominators.mean()
    return moved


def bca_tails(point: float, replicates: Array, jackknife: Array, confidence: float) -> tuple[float, float]:
    """Probabilities whose quantiles of the replicates are the BCa bounds (Efron 1987).

    Args:
        point: Observed value.
        replicates: Values of the replicates, NaN left out.
        jackknife: Values with one unit left out each.
        confidence: Confidence level.
    """
    from scipy.special import ndtr, ndtri

    noise = 1e-12 * abs(point)
    below = ((replicates < point - noise).mean() + (replicates <= point + noise).mean()) / 2
    bias = float(ndtri(below))
    spread = jackknife.mean() - jackknife
    size = float((spread**2).sum()) ** 1.5
    acceleration = float((spread**3).sum()) / (6 * size) if size > 0 else 0.0
    z = bias + np.asarray(ndtri([(1 - confidence) / 2, (1 + confidence) / 2]))
    low, high = ndtr(bias + z / (1 - acceleration * z))
    return float(low), float(high)


def _ratios(sums: Array) -> Array:
    return divide(sums[:, 0], sums[:, 1])


def _percentile(units: Array, bootstrap: Bootstrap) -> Estimate:
    if (units[:, 1] == 1).all():
        return bootstrap.mean(units[:, 0])
    return bootstrap.of_sums(units, lambda sums, _: _ratios(sums))


def _expanded(units: Array, bootstrap: Bootstrap) -> Estimate:
    wider = replace(bootstrap, confidence=1 - 2 * expanded_tail(len(units), bootstrap.confidence))
    estimate = _percentile(units, wider)
    return estimate if estimate.method == "none" else replace(estimate, method=f"expanded {estimate.method}")


def _student(units: Array, bootstrap: Bootstrap) -> Estimate:
    from scipy.special import stdtrit

    n, point = len(units), float(units[:, 0].sum() / units[:, 1].sum())
    error = float(influences(units).std(ddof=1)) / math.sqrt(n)
    half = float(stdtrit(n - 1, 0.5 + bootstrap.confidence / 2)) * error
    lo, hi = point - half, point + half
    return Estimate(point, lo, hi, "t", n, flags=interval_flags(n, lo, hi), unit=bootstrap.unit)


def _bca(units: Array, bootstrap: Bootstrap) -> Estimate:
    observed, sums, drawn = bootstrap.resampled_sums(units)
    point, replicates, n = float(_ratios(observed)[0]), _ratios(sums), len(units)
    estimate = bootstrap.of_replicates(point, replicates, n, "bca" if drawn == "percentile" else "bca-counts")
    defined, jackknife = replicates[~np.isnan(replicates)], _ratios(observed - units)
    if estimate.lo == estimate.hi or np.isnan(jackknife).any():
        return replace(estimate, method=drawn)
    tails = bca_tails(point, defined, jackknife, bootstrap.confidence)
    if np.isnan(tails).any():
        return replace(estimate, method=drawn)
    lo, hi = (float(q) for q in np.quantile(defined, tails))
    return replace(estimate, lo=lo, hi=hi)


_METHODS: dict[str, Callable[[Array, Bootstrap], Estimate]] = {
    "percentile": _percentile,
    "expanded percentile": _expanded,
    "t": _student,
    "bca": _bca,
}


def _cut(estimate: Estimate, limits: tuple[float, float] | None) -> Estimate:
    if limits is None or estimate.lo is None or estimate.hi is None:
        return estimate
    low, high = limits
    return replace(estimate, lo=max(low, estimate.lo), hi=min(high, estimate.hi))


def _flagged(estimate: Estimate, units: Array) -> Estimate:
    """Flag skewed units: the skew of few replicates' means is far smaller and hides it."""
    moved = influences(units)
    spread = float(moved.std())
    if spread <= 0 or "skewed" in estimate.flags or abs(float(((moved / spread) ** 3).mean())) <= SKEW_LIMIT:
        return estimate
    return replace(estimate, flags=(*estimate.flags, "skewed"))
