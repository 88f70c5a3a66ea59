"""Is B better than A? Paired and two-sample differences with interval, p-value, shares of wins, and power.

What is compared are ratios of sums over units: a mean is the case with weights of 1, a pooled precision, recall or F
the case with counts as numerators and weights. Units that are not independent are put together into clusters first,
and the clusters are what is resampled and swapped.

Both arms are resampled jointly, on the pinned stream of `dojo_kit.stats.intervals`. Values below `FLOAT_NOISE` times
the size of the ratios are set to exactly 0, so that a tie is a tie whatever order the summands were added in.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dojo_kit.stats.clusters import cluster_keys, cluster_sums
from dojo_kit.stats.intervals import DOCUMENTS, Array, Bootstrap, divide, scope_of
from dojo_kit.stats.means import influences
from dojo_kit.stats.significance import (
    FLOAT_NOISE,
    N_FLIPS,
    Significance,
    difference_of_ratios,
    holm,
    mcnemar,
    ratio_size,
    shuffle_arms,
    sign_flip,
    swap_arms,
)
from dojo_kit.stats.verdicts import ALPHA, VERDICTS, Band, Verdict, noise_band, verdict

__all__ = [
    "ALPHA",
    "N_FLIPS",
    "VERDICTS",
    "Band",
    "Delta",
    "Verdict",
    "holm",
    "mcnemar",
    "minimum_detectable_effect",
    "noise_band",
    "paired_delta",
    "required_n",
    "sign_flip",
    "two_sample_delta",
    "verdict",
]

_POWER_FACTOR = 1.96 + 0.84
"""Normal quantiles of a two-sided 5 % test and of 80 % power."""


@dataclass(frozen=True, slots=True)
class Delta:
    """The difference B - A, signed so that positive is better for B.

    Attributes:
        value: The difference; None when undefined, with the reason in ``note``.
        lo: Lower bound of its interval.
        hi: Upper bound.
        method: How the interval was computed, e.g. ``paired percentile``.
        n: Shared units; of two samples the units of A.
        n_b: Units of B.
        p: Two-sided p-value of no difference; None when there is nothing to test.
        p_method: Which test, e.g. ``mcnemar exact``.
        p_win: Share of the replicates in which B is better; None when undefined.
        p_tie: Share in which both are equal, up to float noise.
        p_loss: Share in which B is worse.
        n_better: Units in which B is better; 0 of two samples, which have none in common.
        n_equal: Units in which both are equal, up to float noise.
        n_worse: Units in which B is worse. A unit whose value is undefined in one arm (0 of 0) is in none of the three.
        sd: Standard deviation of the paired differences; of ratios that of their linearised influences; of two
            samples the root of the sum of both variances.
        required_n: What was resampled (units, or clusters where given; of two samples per arm) needed to find a
            difference of this size in 80 % of trials; None when it is 0.
        mde: Difference that would be found in 80 % of trials with this n; None when all units differ by the same,
            which says nothing about their spread.
        seed: Seed of the streams.
        n_boot: Replicates.
        flags: Warnings about the interval.
        note: Why the value is undefined, or what else a reader must know.
        n_clusters: Clusters resampled in place of units; 0 when units were.
        unit: Plural name of what was resampled.
    """

    value: float | None
    lo: float | None
    hi: float | None
    method: str
    n: int
    n_b: int
    p: float | None
    p_method: str
    p_win: float | None
    p_tie: float | None
    p_loss: float | None
    n_better: int
    n_equal: int
    n_worse: int
    sd: float | None
    required_n: int | None
    mde: float | None
    seed: int
    n_boot: int
    flags: tuple[str, ...] = ()
    note: str = ""
    n_clusters: int = 0
    unit: str = DOCUMENTS

    @property
    def interval_excludes_zero(self) -> bool:
        """Whether 0 lies outside the interval."""
        return self.lo is not None and self.hi is not None and (self.lo > 0 or self.hi < 0)

    @property
    def excluded(self) -> bool:
        """Whether "no difference" is excluded: by the interval and by the test."""
        return self.interval_excludes_zero and self.p is not None and self.p < ALPHA

    @property
    def scope(self) -> str:
        """What the interval covers and what it does not, in one sentence."""
        return scope_of(self.unit)

    def as_dict(self) -> dict[str, Any]:
        """Return the difference as JSON-ready values, without empty flags and notes and what is usual."""
        names = ["value", "lo", "hi", "method", "n", "n_b", "p", "p_method", "p_win", "p_tie", "p_loss"]
        names += ["n_better", "n_equal", "n_worse", "sd", "required_n", "mde", "seed", "n_boot"]
        result: dict[str, Any] = {name: getattr(self, name) for name in names}
        if self.flags:
            result["flags"] = list(self.flags)
        if self.note:
            result["note"] = self.note
        if self.n_clusters:
            result["n_clusters"] = self.n_clusters
        if self.unit != DOCUMENTS:
            result["unit"] = self.unit
        return result


def paired_delta(
    a: ArrayLike,
    b: ArrayLike,
    *,
    a_weights: ArrayLike | None = None,
    b_weights: ArrayLike | None = None,
    higher_is_better: bool = True,
    clusters: ArrayLike | None = None,
    bootstrap: Bootstrap | None = None,
) -> Delta:
    """Difference of two arms on the same units.

    Args:
        a: Value of every unit in A, or its numerator, shape (n,); a unit that is NaN in either arm is left out.
        b: The same in B.
        a_weights: Denominator of every unit in A; 1 by default, which makes the ratio a mean.
        b_weights: The same in B.
        higher_is_better: Whether a higher value is the better one.
        clusters: Key of every unit's cluster, when units of a cluster are not independent.
        bootstrap: The resampling; 2,000 replicates with seed 42 by default.

    Returns:
        The difference, with McNemar's exact p for 0/1 means without clusters, a sign-flip p for other means, and the
        p of swapped arms for ratios.

    Raises:
        ValueError: The arrays differ in length, or hold an infinite number.

    Examples:
        >>> delta = paired_delta([0, 1, 1, 0, 1, 0], [1, 1, 1, 1, 1, 1])
        >>> round(delta.value, 4), delta.p, delta.p_method, delta.n_better, delta.n_worse
        (0.5, 0.25, 'mcnemar exact', 3, 0)
    """
    bootstrap = bootstrap or Bootstrap()
    of_a, of_b = _arm(a, a_weights), _arm(b, b_weights)
    if len(of_a) != len(of_b):
        raise ValueError(f"paired arms must have the same units, got {len(of_a)} and {len(of_b)}")
    arms = np.hstack([of_a, of_b])
    known = _known(arms)
    arms = arms[known] if higher_is_better else arms[known][:, [2, 3, 0, 1]]
    units = arms if clusters is None else cluster_sums(arms, cluster_keys(clusters, len(known))[known])
    n, n_clusters = len(arms), 0 if clusters is None else len(units)
    if not n:
        return _undefined("no shared units", 0, 0, bootstrap)
    observed, sums, drawn = bootstrap.resampled_sums(units)
    noise = FLOAT_NOISE * ratio_size(units)
    point = float(_settled(difference_of_ratios(observed), noise)[0])
    if math.isnan(point):
        return _undefined("the denominator is zero", n, n, bootstrap, n_clusters)
    method = f"paired {'cluster ' if n_clusters else ''}{drawn}"
    replicates = _settled(difference_of_ratios(sums), noise)
    sd = _sd(influences(units[:, 2:]) - influences(units[:, :2]), noise)
    return _delta(
        bootstrap,
        point,
        replicates,
        method,
        n=(n, n, n_clusters),
        tally=_tally(arms),
        test=_paired_test(arms, units, bootstrap.seed, clustered=n_clusters > 0),
        sd=sd,
        mde=minimum_detectable_effect(sd, len(units)),
    )


def two_sample_delta(
    a: ArrayLike,
    b: ArrayLike,
    *,
    a_weights: ArrayLike | None = None,
    b_weights: ArrayLike | None = None,
    higher_is_better: bool = True,
    a_clusters: ArrayLike | None = None,
    b_clusters: ArrayLike | None = None,
    bootstrap: Bootstrap | None = None,
) -> Delta:
    """Difference of two arms on different units.

    A is resampled on the stream of the seed and B on that of the next seed: one stream for both would draw the same
    positions and so pair what is not paired.

    Args:
        a: Value of every unit of A, or its numerator, shape (n,); NaN is left out.
        b: The same of B, shape (n_b,).
        a_weights: Denominator of every unit of A; 1 by default.
        b_weights: The same of B.
        higher_is_better: Whether a higher value is the better one.
        a_clusters: Key of the cluster of every unit of A, when units of a cluster are not independent.
        b_clusters: The same of B; both or neither.
        bootstrap: The resampling; 2,000 replicates with seed 42 by default.

    Returns:
        The difference, with the p of units dealt to the arms anew.

    Raises:
        ValueError: Arrays of one arm differ in length or hold an infinite number, or only one arm has clusters.

    Examples:
        >>> delta = two_sample_delta([0, 1, 0, 0], [1, 1, 1, 1, 0])
        >>> round(delta.value, 2), delta.n, delta.n_b, delta.p_method
        (0.55, 4, 5, 'permutation exact')
    """
    if (a_clusters is None) != (b_clusters is None):
        raise ValueError("clusters must be given for both arms or for neither")
    bootstrap = bootstrap or Bootstrap()
    (units_a, n), (units_b, n_b) = _units(a, a_weights, a_clusters), _units(b, b_weights, b_clusters)
    n_clusters = 0 if a_clusters is None else len(units_a) + len(units_b)
    if not n or not n_b:
        return _undefined("no units in one arm", n, n_b, bootstrap, n_clusters)
    second = Bootstrap(bootstrap.n_resamples, bootstrap.seed + 1, bootstrap.confidence)
    draws = (bootstrap.resampled_sums(units_a), second.resampled_sums(units_b))
    sign = 1 if higher_is_better else -1
    noise = FLOAT_NOISE * max(ratio_size(np.hstack([units, units])) for units in (units_a, units_b))
    observed, replicates = (
        _settled(sign * difference_of_ratios(np.hstack([draws[0][i], draws[1][i]])), noise) for i in (0, 1)
    )
    if math.isnan(observed[0]):
        return _undefined("the denominator is zero", n, n_b, bootstrap, n_clusters)
    sds = [_sd(influences(units), noise) for units in (units_a, units_b)]
    variances = [None if sd is None else sd**2 for sd in sds]
    sd, mde = None, None
    if variances[0] is not None and variances[1] is not None:
        sd = math.sqrt(variances[0] + variances[1])
        mde = _POWER_FACTOR * math.sqrt(variances[0] / len(units_a) + variances[1] / len(units_b)) or None
    return _delta(
        bootstrap,
        float(observed[0]),
        replicates,
        f"two-sample {'cluster ' if n_clusters else ''}{draws[0][2]}",
        n=(n, n_b, n_clusters),
        tally=(0, 0, 0),
        test=shuffle_arms(units_a, units_b, seed=bootstrap.seed),
        sd=sd,
        mde=mde,
    )


def required_n(sd: float | None, delta: float | None) -> int | None:
    """Units needed to find a difference in 80 % of trials with a two-sided 5 % test: ((1.96 + 0.84) sd / delta)^2.

    Args:
        sd: Standard deviation of the paired differences.
        delta: Difference to find.

    Returns:
        The number, rounded up; None when the difference or its spread is 0, or one of both is unknown.

    Examples:
        >>> required_n(0.05, 0.01)
        196
    """
    if not sd or not delta or math.isnan(delta) or math.isnan(sd):
        return None
    # the quotient of rounded decimals may end a hair above a whole number
    return max(1, math.ceil(round((_POWER_FACTOR * sd / delta) ** 2, 9)))


def minimum_detectable_effect(sd: float | None, n: int) -> float | None:
    """Difference found in 80 % of trials with n units and a two-sided 5 % test: 2.80 sd / sqrt(n).

    Without spread it is unknown: units that all differ by the same are too few or too alike to tell.

    Examples:
        >>> round(minimum_detectable_effect(0.05, 100), 4)
        0.014
    """
    if not sd or math.isnan(sd) or n < 1:
        return None
    return _POWER_FACTOR * sd / math.sqrt(n)


def _delta(
    bootstrap: Bootstrap,
    point: float,
    replicates: Array,
    method: str,
    *,
    n: tuple[int, int, int],
    tally: tuple[int, int, int],
    test: Significance,
    sd: float | None,
    mde: float | None,
) -> Delta:
    units, units_b, n_clusters = n
    interval = bootstrap.of_replicates(point, replicates, n_clusters or min(units, units_b), method)
    defined = replicates[~np.isnan(replicates)]
    win, tie, loss = (float(part.mean()) if len(defined) else None for part in _signs(defined))
    return Delta(
        value=point,
        lo=interval.lo,
        hi=interval.hi,
        method=interval.method,
        n=units,
        n_b=units_b,
        p=test.p,
        p_method=test.method,
        p_win=win,
        p_tie=tie,
        p_loss=loss,
        n_better=tally[0],
        n_equal=tally[1],
        n_worse=tally[2],
        sd=sd,
        required_n=required_n(sd, point),
        mde=mde,
        seed=bootstrap.seed,
        n_boot=bootstrap.n_resamples,
        flags=interval.flags,
        note=interval.note,
        n_clusters=n_clusters,
        unit=bootstrap.unit,
    )


def _undefined(reason: str, n: int, n_b: int, bootstrap: Bootstrap, n_clusters: int = 0) -> Delta:
    return Delta(
        value=None,
        lo=None,
        hi=None,
        method="none",
        n=n,
        n_b=n_b,
        p=None,
        p_method="none",
        p_win=None,
        p_tie=None,
        p_loss=None,
        n_better=0,
        n_equal=0,
        n_worse=0,
        sd=None,
        required_n=None,
        mde=None,
        seed=bootstrap.seed,
        n_boot=bootstrap.n_resamples,
        note=reason,
        n_clusters=n_clusters,
        unit=bootstrap.unit,
    )


def _signs(values: Array) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
    return values > 0, values == 0, values < 0


def _arm(values: ArrayLike, weights: ArrayLike | None) -> Array:
    """Return numerators beside denominators, shape (n, 2)."""
    numerators = np.asarray(values, dtype=float)
    denominators = np.ones(len(numerators)) if weights is None else np.asarray(weights, dtype=float)
    if numerators.shape != denominators.shape or numerators.ndim != 1:
        raise ValueError(f"values and weights must be equally long, got {numerators.shape} and {denominators.shape}")
    arm = np.column_stack([numerators, denominators])
    if np.isinf(arm).any():
        raise ValueError(f"unit {int(np.isinf(arm).any(axis=1).argmax())} holds an infinite number")
    return arm


def _known(rows: Array) -> NDArray[np.bool_]:
    """Return which units are defined in every column."""
    return np.asarray(~np.isnan(rows).any(axis=1))


def _units(values: ArrayLike, weights: ArrayLike | None, clusters: ArrayLike | None) -> tuple[Array, int]:
    """Return what of one arm is resampled, and its units."""
    arm = _arm(values, weights)
    known = _known(arm)
    rows = arm[known]
    return rows if clusters is None else cluster_sums(rows, cluster_keys(clusters, len(arm))[known]), len(rows)


def _settled(values: Array, noise: float) -> Array:
    """Set float noise to exactly 0."""
    return np.where(np.abs(values) <= noise, 0.0, values)


def _sd(values: Array, noise: float) -> float | None:
    """Return the standard deviation of units, 0 where it is but float noise."""
    sd = float(values.std(ddof=1)) if len(values) > 1 else None
    return 0.0 if sd is not None and sd <= noise else sd


def _tally(arms: Array) -> tuple[int, int, int]:
    """Count the units in which B is better, equal and worse; two undefined values are equal."""
    a, b = divide(arms[:, 0], arms[:, 1]), divide(arms[:, 2], arms[:, 3])
    differences = _settled(b - a, FLOAT_NOISE * float(np.nanmax(np.abs([a, b]), initial=0.0)))
    equal = int((differences == 0).sum()) + int((np.isnan(a) & np.isnan(b)).sum())
    better, _, worse = _signs(differences)
    return int(better.sum()), equal, int(worse.sum())


def _paired_test(arms: Array, units: Array, seed: int, *, clustered: bool) -> Significance:
    a, a_weights, b, b_weights = arms.T
    if not ((a_weights == 1).all() and (b_weights == 1).all()):
        return swap_arms(units, seed=seed)
    if not clustered and np.isin(arms, (0.0, 1.0)).all():
        only_a, only_b = int((a > b).sum()), int((b > a).sum())
        return Significance(mcnemar(only_a, only_b), "mcnemar exact")
    return swap_arms(units, test="sign-flip", seed=seed)
