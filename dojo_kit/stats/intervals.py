"""Estimates with intervals: Wilson for shares, percentile bootstrap over units for everything else.

The resampling unit is always explicit: a row of the arrays given here is one unit (a document, a contract, a
query), and callers sort units by key first, so that the same units give the same interval in whatever order
they were read.

The stream is pinned: NumPy's PCG64 ``default_rng(seed)``, per replicate one ``integers(0, n, size=n)`` draw.
A replicate is represented by how often it drew each unit, so any statistic that is a function of sums over
units costs one matrix product.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

DOCUMENTS = "documents"
"""The unit of an interval unless another is named."""


def scope_of(unit: str) -> str:
    """Return what an interval over these units does and does not say.

    Args:
        unit: Plural name of what was resampled, e.g. ``contracts``.

    Examples:
        >>> scope_of("contracts").split(";")[0]
        'Intervals cover the sampling of contracts only'
    """
    return (
        f"Intervals cover the sampling of {unit} only; they do not cover label errors, annotator disagreement, "
        "generation noise between reruns, or bias of the benchmark."
    )


SCOPE = scope_of(DOCUMENTS)
"""What every interval over documents does and does not say."""

SMALL_N = 20
"""Units below which an interval is flagged as unreliable."""

_COUNTS_ABOVE_N = 20_000
_MAX_CELLS = 64
_BLOCK_CELLS = 4_000_000
_DRAWN_CELLS = 250_000
_CACHED_CELLS = 2_000_000


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its interval and where both come from.

    Attributes:
        value: The point estimate; None when undefined, with the reason in ``note``.
        lo: Lower bound of the interval; None when there is none.
        hi: Upper bound.
        method: How the interval was computed, e.g. ``percentile``.
        n: Units the value rests on.
        seed: Seed of the resampling stream; None when nothing was drawn.
        n_boot: Bootstrap replicates; 0 when nothing was drawn.
        flags: Warnings about the interval, e.g. ``n < 20``.
        note: Why the value is undefined, or what else a reader must know.
        unit: Plural name of the units, e.g. ``contracts``.
    """

    value: float | None
    lo: float | None
    hi: float | None
    method: str
    n: int
    seed: int | None = None
    n_boot: int = 0
    flags: tuple[str, ...] = ()
    note: str = ""
    unit: str = DOCUMENTS

    @property
    def scope(self) -> str:
        """What the interval covers and what it does not, in one sentence.

        Examples:
            >>> wilson(8, 10, unit="queries").scope.split(";")[0]
            'Intervals cover the sampling of queries only'
        """
        return scope_of(self.unit)

    def as_dict(self) -> dict[str, Any]:
        """Return the estimate as JSON-ready values, without empty flags and notes and the usual unit.

        Examples:
            >>> wilson(1, 1).as_dict()["hi"]
            1.0
        """
        result: dict[str, Any] = {
            "value": self.value,
            "lo": self.lo,
            "hi": self.hi,
            "method": self.method,
            "n": self.n,
        }
        if self.flags:
            result["flags"] = list(self.flags)
        if self.note:
            result["note"] = self.note
        if self.unit != DOCUMENTS:
            result["unit"] = self.unit
        return result


def undefined(reason: str, *, n: int = 0, unit: str = DOCUMENTS) -> Estimate:
    """Return an estimate that has no value, and why."""
    return Estimate(None, None, None, "none", n, note=reason, unit=unit)


def wilson(successes: int, n: int, *, confidence: float = 0.95, unit: str = DOCUMENTS) -> Estimate:
    """Wilson score interval of a share (Wilson 1927); the ends are exactly 0 and 1 at 0 and n successes.

    Args:
        successes: Units that have the property.
        n: Independent units.
        confidence: Confidence level.
        unit: Plural name of the units.

    Raises:
        ValueError: The counts are impossible.

    Examples:
        >>> estimate = wilson(8, 10)
        >>> round(estimate.lo, 4), round(estimate.hi, 4)
        (0.4902, 0.9433)
    """
    if not 0 <= successes <= n:
        raise ValueError(f"successes must lie between 0 and n={n}, not {successes}")
    if n == 0:
        return undefined("no units", unit=unit)
    lo, hi = wilson_bounds(successes / n, n, normal_quantile(0.5 + confidence / 2))
    return Estimate(successes / n, lo, hi, "wilson", n, flags=interval_flags(n, lo, hi), unit=unit)


def wilson_bounds(share: float, n: float, z: float) -> tuple[float, float]:
    """Return the ends of Wilson's score interval.

    Args:
        share: Observed share.
        n: Independent units; a fraction where it is an effective size.
        z: Quantile of the normal distribution.
    """
    scale = 1 + z * z / n
    centre = (share + z * z / (2 * n)) / scale
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / scale
    lo = 0.0 if share == 0 else max(0.0, centre - half)
    hi = 1.0 if share == 1 else min(1.0, centre + half)
    return lo, hi


def normal_quantile(p: float) -> float:
    """Return the quantile of the standard normal distribution."""
    from statistics import NormalDist

    return NormalDist().inv_cdf(p)


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """Percentile bootstrap with a pinned stream.

    Attributes:
        n_resamples: Replicates.
        seed: Seed; every estimate starts a fresh generator from it.
        confidence: Confidence level.
        unit: Plural name of the units.

    Examples:
        >>> estimate = Bootstrap().mean([0.0, 1.0, 1.0, 1.0])
        >>> estimate.value, estimate.n, estimate.method
        (0.75, 4, 'percentile')
    """

    n_resamples: int = 2000
    seed: int = 42
    confidence: float = 0.95
    unit: str = DOCUMENTS

    def mean(self, values: ArrayLike) -> Estimate:
        """Mean over units; NaN units are left out.

        Args:
            values: One value per unit, shape (n,).
        """
        array = np.asarray(values, dtype=float)
        array = array[~np.isnan(array)]
        return self.of_sums(array[:, None], lambda sums, n: sums[:, 0] / n)

    def ratio(self, numerators: ArrayLike, denominators: ArrayLike) -> Estimate:
        """Ratio of two sums over units, e.g. a pooled precision.

        Args:
            numerators: One summand per unit, shape (n,).
            denominators: The same for the denominator.
        """
        pairs = np.column_stack([np.asarray(numerators, float), np.asarray(denominators, float)])
        return self.of_sums(pairs, lambda sums, _: divide(sums[:, 0], sums[:, 1]))

    def of_sums(self, rows: Array, statistic: Callable[[Array, int], Array]) -> Estimate:
        """Any statistic that is a function of sums over units.

        Args:
            rows: Summands, one row per unit, shape (n, k).
            statistic: From sums, shape (replicates, k), and n to values, shape (replicates,); NaN where
                undefined.
        """
        n = len(rows)
        if n == 0:
            return undefined("no units", unit=self.unit)
        observed, replicates, method = self.resampled_sums(rows)
        return self.of_replicates(float(statistic(observed, n)[0]), statistic(replicates, n), n, method)

    def of_counts(self, n: int, statistic: Callable[[Array], Array]) -> Estimate:
        """Any statistic of how often each unit counts.

        Args:
            n: Units.
            statistic: From counts, shape (replicates, n), to values, shape (replicates,).
        """
        if n == 0:
            return undefined("no units", unit=self.unit)
        point = float(statistic(np.ones((1, n)))[0])
        blocks = [statistic(counts) for counts in resample_counts(n, self.n_resamples, self.seed)]
        return self.of_replicates(point, np.concatenate(blocks), n, "percentile")

    def resampled_sums(self, rows: Array) -> tuple[Array, Array, str]:
        """Sums over units, as observed and in every replicate, and how the replicates were drawn.

        Args:
            rows: Summands, one row per unit, shape (n, k), n above 0.

        Returns:
            The observed sums, shape (1, k), those of the replicates, shape (replicates, k), and ``percentile`` or,
            beyond 20,000 units of at most 64 distinct rows, ``percentile-counts``.
        """
        n = len(rows)
        if n > _COUNTS_ABOVE_N:
            cells, counts = np.unique(rows, axis=0, return_counts=True)
            if len(cells) <= _MAX_CELLS:
                return counts[None, :] @ cells, self.resampled_cells(counts) @ cells, "percentile-counts"
        if rows.shape[1] == 1 and n * self.n_resamples > _CACHED_CELLS:
            replicates = [
                rows[drawn, 0].sum(axis=1)[:, None]
                for drawn in _drawn(n, self.n_resamples, np.random.default_rng(self.seed))
            ]
        else:
            replicates = [counts @ rows for counts in resample_counts(n, self.n_resamples, self.seed)]
        return np.ones((1, n)) @ rows, np.concatenate(replicates), "percentile"

    def resampled_cells(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many of n independent units fall into each cell, in every replicate: one multinomial draw.

        Args:
            counts: Units observed in each cell, shape (cells,).

        Returns:
            Shape (replicates, cells); every row sums to n.
        """
        n = int(counts.sum())
        return np.random.default_rng(self.seed).multinomial(n, counts / n, size=self.n_resamples)

    def of_replicates(self, point: float, replicates: Array, n: int, method: str) -> Estimate:
        """Make an estimate of the observed value and the values of the replicates.

        Args:
            point: Observed value; NaN when undefined.
            replicates: Values of the replicates, shape (replicates,); NaN where undefined, which is left out,
                counted and flagged.
            n: Units.
            method: How the replicates were drawn.
        """
        if math.isnan(point):
            return undefined("the denominator is zero", n=n, unit=self.unit)
        defined = replicates[~np.isnan(replicates)]
        if not len(defined):
            note = "no replicate defined"
            return Estimate(point, None, None, "none", n, self.seed, self.n_resamples, note=note, unit=self.unit)
        tail = (1 - self.confidence) / 2
        lo, hi = (float(q) for q in np.quantile(defined, [tail, 1 - tail], method="linear"))
        flags = interval_flags(n, lo, hi, defined)
        if len(defined) < len(replicates):
            flags += (f"{len(replicates) - len(defined)} replicates undefined",)
        return Estimate(point, lo, hi, method, n, self.seed, self.n_resamples, flags, unit=self.unit)


def resample_counts(n: int, n_resamples: int, seed: int) -> Iterator[Array]:
    """Yield how often each replicate draws each unit, in blocks of replicates.

    Args:
        n: Units.
        n_resamples: Replicates in all.
        seed: Seed of the stream.

    Yields:
        Arrays of shape (replicates in the block, n); every row sums to n.
    """
    if n * n_resamples <= _CACHED_CELLS:
        yield _cached_counts(n, n_resamples, seed)
    else:
        yield from _count_blocks(n, n_resamples, seed)


@lru_cache(maxsize=8)
def _cached_counts(n: int, n_resamples: int, seed: int) -> Array:
    counts = np.concatenate(list(_count_blocks(n, n_resamples, seed)))
    counts.flags.writeable = False
    return counts


def _count_blocks(n: int, n_resamples: int, seed: int) -> Iterator[Array]:
    rng = np.random.default_rng(seed)
    block = max(1, _BLOCK_CELLS // n)
    for start in range(0, n_resamples, block):
        counts = np.empty((min(block, n_resamples - start), n))
        row = 0
        for drawn in _drawn(n, len(counts), rng):
            drawn += np.arange(len(drawn))[:, None] * n
            counts[row : row + len(drawn)] = np.bincount(drawn.ravel(), minlength=drawn.size).reshape(drawn.shape)
            row += len(drawn)
        yield counts


def _drawn(n: int, n_resamples: int, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    """Yield the drawn units of a few replicates at a time, so that the processor's cache holds them."""
    step = max(1, _DRAWN_CELLS // n)
    for start in range(0, n_resamples, step):
        yield rng.integers(0, n, size=(min(step, n_resamples - start), n))


def divide(numerators: Array, denominators: Array) -> Array:
    """Divide, NaN where the denominator is zero."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(denominators == 0, np.nan, numerators / denominators)


def interval_flags(n: int, lo: float, hi: float, replicates: Array | None = None) -> tuple[str, ...]:
    """Return warnings about an interval: few units, no width, skewed replicates."""
    flags = []
    if n < SMALL_N:
        flags.append(f"n < {SMALL_N}")
    if lo == hi:
        flags.append("zero width")
    elif replicates is not None:
        spread = replicates.std()
        if spread > 0 and abs((((replicates - replicates.mean()) / spread) ** 3).mean()) > 2:
            flags.append("skewed")
    return tuple(flags)
