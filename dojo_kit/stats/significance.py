"""Tests of "no difference" that need no distribution: McNemar, sign flips, swapped and shuffled arms, and Holm.

Under the null hypothesis of a paired comparison the two arms of a unit could be swapped. The tests count how often
swapping gives a difference at least as large as the observed one: over all swaps where these are few, else over
pinned random ones with the observed arrangement counted once (Phipson and Smyth 2010), so that no p is 0.

Arms are arrays of numerators and denominators, one row per unit; what is compared are ratios of their sums, of which
a mean is the case with denominators of 1. The stream is NumPy's PCG64 ``default_rng(seed)``: one draw of random bytes,
in which every swap has one bit for each of the units that differ, lowest bit first. Units are dealt to arms by random
32-bit keys, the smallest going to B.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dojo_kit.stats.intervals import Array, divide

N_FLIPS = 10_000
"""Random swaps of a test, and the most that are enumerated instead."""

FLOAT_NOISE = 1e-12
"""Differences below this share of the size of what is subtracted are float noise, and count as none."""

_NORMAL_ABOVE_N = 20_000
_BLOCK_CELLS = 4_000_000


@dataclass(frozen=True, slots=True)
class Significance:
    """The p-value of a test.

    Attributes:
        p: Two-sided; None when there is nothing to test.
        method: Which test, with ``exact`` when every arrangement was counted and ``normal`` when none was drawn.
    """

    p: float | None
    method: str


def mcnemar(n_only_a: int, n_only_b: int) -> float:
    """Exact two-sided McNemar test of paired 0/1 outcomes: a binomial test of the units that differ (McNemar 1947).

    Args:
        n_only_a: Units right in A only.
        n_only_b: Units right in B only.

    Returns:
        p; 1.0 when no unit differs.

    Raises:
        ValueError: A count is negative.

    Examples:
        >>> mcnemar(1, 9)
        0.021484375
        >>> mcnemar(0, 0)
        1.0
    """
    if min(n_only_a, n_only_b) < 0:
        raise ValueError(f"counts must not be negative, got {n_only_a} and {n_only_b}")
    from scipy.special import bdtr

    return min(1.0, 2 * float(bdtr(min(n_only_a, n_only_b), n_only_a + n_only_b, 0.5)))


def sign_flip(differences: ArrayLike, *, seed: int = 42, n_flips: int = N_FLIPS) -> tuple[float | None, str]:
    """Sign-flip permutation test of a mean paired difference of 0, two-sided (Fisher 1935).

    Args:
        differences: One per unit, shape (n,); NaN is left out.
        seed: Seed of the random flips.
        n_flips: Random flips; all flips are enumerated when these are no more.

    Returns:
        p and ``sign-flip exact``, ``sign-flip`` or, beyond 20,000 units that differ, ``sign-flip normal``; None and
        ``none`` without units.

    Examples:
        >>> sign_flip([0.1, 0.2, 0.3, 0.1, 0.4, 0.2])
        (0.03125, 'sign-flip exact')
    """
    array = np.asarray(differences, dtype=float)
    array = array[~np.isnan(array)]
    one = np.ones(len(array))
    found = swap_arms(np.column_stack([0 * one, one, array, one]), test="sign-flip", seed=seed, n_flips=n_flips)
    return found.p, found.method


def swap_arms(arms: Array, *, test: str = "permutation", seed: int = 42, n_flips: int = N_FLIPS) -> Significance:
    """Permutation test of a paired difference of two ratios of sums: the arms of a unit are swapped, or not.

    Args:
        arms: Numerator and denominator of A, then of B, shape (n, 4).
        test: Name of the test in the result.
        seed: Seed of the random swaps.
        n_flips: Random swaps; all are enumerated when these are no more.
    """
    total = arms.sum(axis=0)
    observed = float(difference_of_ratios(total[None, :])[0])
    if not len(arms) or math.isnan(observed):
        return Significance(None, "none")
    noise = FLOAT_NOISE * ratio_size(arms)
    moves = arms[:, 2:] - arms[:, :2]
    moves = moves[(np.abs(moves) > FLOAT_NOISE * np.abs(arms).max()).any(axis=1)]
    n = len(moves)
    if n > _NORMAL_ABOVE_N:
        return Significance(_normal_p(arms, total), f"{test} normal")
    # swapping everything only turns the sign, so one unit need not be swapped
    exact = n == 0 or 2 ** (n - 1) <= n_flips
    moved = [_all_swaps(max(0, n - 1)) @ moves[1:]] if exact else _randomly_moved(moves, seed, n_flips)
    shuffles = (np.concatenate([total[:2] + sums, total[2:] - sums], axis=1) for sums in moved)
    return _share_as_extreme(shuffles, abs(observed) - noise, test, exact=exact)


def shuffle_arms(a: Array, b: Array, *, seed: int = 42, n_flips: int = N_FLIPS) -> Significance:
    """Permutation test of the difference of two ratios of sums over different units: units are dealt to arms anew.

    Args:
        a: Numerator and denominator of the units of A, shape (n_a, 2).
        b: The same of B, shape (n_b, 2).
        seed: Seed of the random deals.
        n_flips: Random deals; all are enumerated when these are no more.
    """
    rows = np.concatenate([a, b])
    total, n, n_b = rows.sum(axis=0), len(rows), len(b)
    observed = float(difference_of_ratios(np.concatenate([a.sum(axis=0), b.sum(axis=0)])[None, :])[0])
    if not len(a) or not n_b or math.isnan(observed):
        return Significance(None, "none")
    limit = abs(observed) - FLOAT_NOISE * max(ratio_size(np.hstack([a, a])), ratio_size(np.hstack([b, b])))
    if (rows[:, 1] == 1).all() and np.isin(rows[:, 0], (0.0, 1.0)).all():
        return Significance(_hypergeometric_p(int(total[0]), n, n_b, limit), "permutation exact")
    exact = math.comb(n, n_b) <= n_flips
    deals = _all_deals(n, n_b) if exact else _random_deals(n, n_b, seed, n_flips)
    sums = (np.stack([column[chosen].sum(axis=1) for column in rows.T], axis=1) for chosen in deals)
    shuffles = (np.concatenate([total - of_b, of_b], axis=1) for of_b in sums)
    return _share_as_extreme(shuffles, limit, "permutation", exact=exact)


def holm(p_values: ArrayLike) -> Array:
    """Adjust p-values for their number, which keeps the family-wise error (Holm 1979).

    Args:
        p_values: Shape (m,); NaN is no test, is not counted and stays NaN.

    Returns:
        Adjusted p-values in the order given, shape (m,).

    Raises:
        ValueError: A value lies outside 0 to 1.

    Examples:
        >>> holm([0.01, 0.04, 0.03]).tolist()
        [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=float)
    adjusted = np.full(p.shape, np.nan)
    outside = (p < 0) | (p > 1)
    if outside.any():
        raise ValueError(f"a p-value lies between 0 and 1, got {p[outside].flat[0]:g}")
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(factors * p[order]))
    return adjusted


def difference_of_ratios(sums: Array) -> Array:
    """Return B - A from summed numerators and denominators of A and B, shape (r, 4); NaN where one is undefined."""
    return divide(sums[:, 2], sums[:, 3]) - divide(sums[:, 0], sums[:, 1])


def ratio_size(arms: Array) -> float:
    """Return how large the ratios of two arms are, were no summand negative: the scale of their float noise."""
    sizes = divide(*np.abs(arms).sum(axis=0).reshape(2, 2).T)
    return float(np.nanmax(sizes)) if not np.isnan(sizes).all() else 0.0


def _share_as_extreme(shuffles: Iterator[Array], limit: float, test: str, *, exact: bool) -> Significance:
    counted = extreme = 0
    for sums in shuffles:
        differences = np.abs(difference_of_ratios(sums))
        counted += int((~np.isnan(differences)).sum())
        extreme += int((differences >= limit).sum())
    if exact:
        return Significance(extreme / counted, f"{test} exact")
    return Significance((extreme + 1) / (counted + 1), test)


def _all_swaps(n: int) -> Array:
    """Return every way to swap n units or not, as rows of 0 and 1, shape (2^n, n)."""
    return (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(float)


def _randomly_moved(moves: Array, seed: int, n_flips: int) -> Iterator[Array]:
    """Yield sums of the moves of randomly chosen units, a few flips at a time, each shape (flips, 2).

    Eight units share a byte, and what each of its 256 values adds up to is looked up rather than added.
    """
    n_bytes = -(-len(moves) // 8)
    padded = np.zeros((8 * n_bytes, 2))
    padded[: len(moves)] = moves
    sums_of_byte = np.moveaxis(_all_swaps(8) @ padded.reshape(n_bytes, 8, 2), -1, 0).reshape(2, -1)
    chosen = np.random.default_rng(seed).integers(0, 256, size=(n_flips, n_bytes), dtype=np.uint8)
    block = max(1, _BLOCK_CELLS // n_bytes)
    for start in range(0, n_flips, block):
        places = chosen[start : start + block] + 256 * np.arange(n_bytes)
        yield np.stack([sums[places].sum(axis=1) for sums in sums_of_byte], axis=1)


def _all_deals(n: int, n_b: int) -> Iterator[NDArray[np.intp]]:
    yield np.array(list(combinations(range(n), n_b)), dtype=np.intp)


def _random_deals(n: int, n_b: int, seed: int, n_flips: int) -> Iterator[NDArray[np.intp]]:
    """Yield random choices of n_b of n units: those with the smallest random keys."""
    rng = np.random.default_rng(seed)
    block = max(1, _BLOCK_CELLS // n)
    for start in range(0, n_flips, block):
        keys = rng.integers(0, 2**32, size=(min(block, n_flips - start), n), dtype=np.uint32)
        yield np.argpartition(keys, n_b - 1, axis=1)[:, :n_b]


def _normal_p(arms: Array, total: Array) -> float:
    """Approximate the swap test: under the null hypothesis every unit's move has a random sign."""
    ratio = (total[0] + total[2]) / (total[1] + total[3])
    moves = (arms[:, 2] - arms[:, 0]) - ratio * (arms[:, 3] - arms[:, 1])
    z = abs(float(moves.sum())) / math.sqrt(float((moves**2).sum()))
    return math.erfc(z / math.sqrt(2))


def _hypergeometric_p(successes: int, n: int, n_b: int, limit: float) -> float:
    """Count all deals of 0/1 units at once: by how many of the successes B gets."""
    from scipy.special import gammaln

    of_b = np.arange(max(0, successes - (n - n_b)), min(successes, n_b) + 1)

    def log_choose(total: float, chosen: NDArray[np.int64]) -> Array:
        return np.asarray(gammaln(total + 1) - gammaln(chosen + 1) - gammaln(total - chosen + 1), dtype=float)

    log_p = log_choose(successes, of_b) + log_choose(n - successes, n_b - of_b)
    p = np.exp(log_p - log_p.max())
    differences = np.abs(of_b / n_b - (successes - of_b) / (n - n_b))
    return float(p[differences >= limit].sum() / p.sum())
