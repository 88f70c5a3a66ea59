"""Intervals: the pinned stream, Wilson's ends, and what is undefined."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dojo_kit.stats.intervals import Bootstrap, resample_counts, wilson

values = st.lists(st.floats(0, 1), min_size=2, max_size=30)


@pytest.mark.parametrize("n", [1, 2, 7, 217, 1024])
def test_stream_is_one_draw_of_indices_per_replicate(n: int) -> None:
    """Counts come from ``integers(0, n, size=n)`` once per replicate of one PCG64 generator."""
    rng = np.random.default_rng(7)
    expected = [np.bincount(rng.integers(0, n, size=n), minlength=n) for _ in range(20)]

    np.testing.assert_array_equal(np.concatenate(list(resample_counts(n, 20, 7))), expected)


def test_blocks_do_not_change_the_stream() -> None:
    """A sample too large for one block draws the same indices."""
    n = 1_500_000
    rng = np.random.default_rng(1)
    expected = [np.bincount(rng.integers(0, n, size=n), minlength=n) for _ in range(3)]

    for counts, row in zip(resample_counts(n, 3, 1), np.array_split(np.array(expected), [2]), strict=True):
        np.testing.assert_array_equal(counts, row)


def test_percentiles_are_linear_quantiles_of_replicate_means() -> None:
    """The interval is what resampling by index gives, in the plainest form."""
    data = np.array([0.2, 0.9, 0.4, 1.0, 0.0, 0.7])
    rng = np.random.default_rng(42)
    means = [data[rng.integers(0, 6, size=6)].mean() for _ in range(2000)]
    estimate = Bootstrap().mean(data)

    assert (estimate.lo, estimate.hi) == pytest.approx(tuple(np.quantile(means, [0.025, 0.975])))
    assert (estimate.n, estimate.seed, estimate.n_boot, estimate.method) == (6, 42, 2000, "percentile")


def test_ratio_resamples_units_and_pools() -> None:
    """A pooled ratio divides resampled sums; it does not average ratios."""
    hits, totals = np.array([1.0, 9.0]), np.array([10.0, 10.0])
    estimate = Bootstrap().ratio(hits, totals)

    assert estimate.value == 0.5
    assert (estimate.lo, estimate.hi) == (0.1, 0.9)


def test_many_units_with_few_values_use_cell_counts() -> None:
    """Above 20,000 units of a 0/1 metric one multinomial draw per replicate replaces the indices."""
    data = (np.arange(30_000) % 4 == 0).astype(float)
    estimate = Bootstrap().mean(data)
    half = 1.96 * math.sqrt(0.25 * 0.75 / 30_000)

    assert estimate.method == "percentile-counts"
    assert estimate.hi is not None
    assert estimate.hi - 0.25 == pytest.approx(half, rel=0.1)


@given(values)
def test_interval_lies_within_the_data(data: list[float]) -> None:
    """A mean's interval cannot leave the range of the values, and holds bounds in order."""
    estimate = Bootstrap(n_resamples=50).mean(data)
    assert estimate.lo is not None
    assert estimate.hi is not None

    assert min(data) - 1e-9 <= estimate.lo <= estimate.hi <= max(data) + 1e-9


@given(st.permutations([0.1, 0.4, 0.4, 0.9, 1.0]))
def test_point_estimate_ignores_order(data: list[float]) -> None:
    """Shuffled units have the same mean."""
    assert Bootstrap(n_resamples=10).mean(data).value == pytest.approx(0.56)


def test_undefined_is_none_with_a_reason() -> None:
    """No units, or nothing to divide by, is None and says why."""
    empty, zero = Bootstrap().mean([math.nan]), Bootstrap().ratio([0.0, 0.0], [0.0, 0.0])

    assert (empty.value, empty.note) == (None, "no units")
    assert (zero.value, zero.n, zero.note) == (None, 2, "the denominator is zero")


def test_replicates_without_a_value_are_counted() -> None:
    """A replicate that drew no denominator is left out and reported."""
    estimate = Bootstrap().ratio([1.0, 0.0], [1.0, 0.0])

    assert any("replicates undefined" in flag for flag in estimate.flags)


def test_flags() -> None:
    """Few units and equal values are flagged."""
    assert Bootstrap().mean([1.0, 1.0]).flags == ("n < 20", "zero width")
    assert Bootstrap().mean(np.linspace(0, 1, 40)).flags == ()


@pytest.mark.parametrize(
    ("k", "n", "lo", "hi"),
    [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (14, 307, 0.0274, 0.0751), (1, 1, 0.2065, 1.0)],
)
def test_wilson(k: int, n: int, lo: float, hi: float) -> None:
    """Wilson (1927) score intervals; closed form with z = 1.959964, ends exact at 0 and n."""
    estimate = wilson(k, n)

    assert (estimate.lo, estimate.hi) == pytest.approx((lo, hi), abs=5e-5)
    assert k > 0 or estimate.lo == 0.0
    assert k < n or estimate.hi == 1.0


def test_wilson_refuses_impossible_counts() -> None:
    """More successes than units is a mistake of the caller."""
    with pytest.raises(ValueError, match="between 0 and n=3, not 4"):
        wilson(4, 3)
