"""Interval methods for means and ratios, their choice, their flags and their scope."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dojo_kit.stats.clusters import clustered_wilson, design_effect
from dojo_kit.stats.intervals import SCOPE, Bootstrap, wilson
from dojo_kit.stats.means import Method, expanded_tail, mean_interval, ratio_interval

METHODS: tuple[Method, ...] = ("percentile", "expanded percentile", "t", "bca")
FAST = Bootstrap(200)


def test_auto() -> None:
    """Wilson for independent 0/1, t below 30 units, percentile otherwise; clusters count as units."""
    values = np.random.default_rng(0).random(40)
    binary = (values > 0.4).astype(float)

    assert mean_interval(binary) == wilson(int(binary.sum()), 40)
    assert mean_interval(values[:29]).method == "t"
    assert mean_interval(values[:30]).method == "percentile"
    assert mean_interval(binary, clusters=np.arange(40) // 2).method == "cluster t"
    assert mean_interval(binary, clusters=np.arange(40)).method == "cluster percentile"
    assert ratio_interval(values, values + 1).method == "percentile"


def test_percentile_is_the_stored_one() -> None:
    """The numbers of `Bootstrap.mean` and `Bootstrap.ratio`, which other modules store."""
    values, weights = np.random.default_rng(1).random((2, 60))

    assert mean_interval(values, method="percentile") == Bootstrap().mean(values)
    assert ratio_interval(values, weights, method="percentile") == Bootstrap().ratio(values, weights)


@pytest.mark.parametrize("method", METHODS)
def test_units_are_left_out_together_with_their_cluster_key(method: Method) -> None:
    """NaN is no unit."""
    values = np.array([0.3, math.nan, 0.5, 0.9, 0.1])
    kept = ~np.isnan(values)

    assert mean_interval(values, method=method) == mean_interval(values[kept], method=method)
    keys = np.array(["a", "b", "a", "c", "c"])
    clustered = mean_interval(values, method=method, clusters=keys)
    assert clustered == mean_interval(values[kept], method=method, clusters=keys[kept])
    assert clustered.n == 2


@pytest.mark.parametrize("method", METHODS)
def test_clusters_of_one_change_nothing_but_the_name(method: Method) -> None:
    """A cluster per unit is the plain interval."""
    values = np.random.default_rng(2).random(35)
    clustered = mean_interval(values, method=method, clusters=np.arange(35))

    assert replace(clustered, method=method) == mean_interval(values, method=method)


@pytest.mark.parametrize("method", METHODS)
@given(data=st.lists(st.floats(0, 1), min_size=2, max_size=20))
def test_interval_holds_the_mean(method: Method, data: list[float]) -> None:
    """Bounds are in order, and inside the limits when these are given."""
    estimate = mean_interval(data, method=method, limits=(0.0, 1.0), bootstrap=FAST)

    assert estimate.value == pytest.approx(np.mean(data))
    assert estimate.lo is not None
    assert estimate.hi is not None
    assert 0 <= estimate.lo <= estimate.hi <= 1
    if method != "bca":
        assert estimate.lo <= estimate.value + 1e-12
        assert estimate.value <= estimate.hi + 1e-12


@given(st.lists(st.floats(0, 1), min_size=3, max_size=20))
def test_expanded_is_wider(data: list[float]) -> None:
    """Expanded tails contain the percentile interval."""
    plain, wide = (
        mean_interval(data, method=method, bootstrap=FAST) for method in ("percentile", "expanded percentile")
    )

    assert wide.lo <= plain.lo <= plain.hi <= wide.hi


def test_expanded_tails_approach_the_level() -> None:
    """Hesterberg's table: at n = 5 the tail of a 95 % interval is about .001, at n = 1,000 it is about .025."""
    assert expanded_tail(5) == pytest.approx(0.0010, abs=1e-4)
    assert expanded_tail(20) == pytest.approx(0.0159, abs=2e-4)
    assert expanded_tail(1_000_000) == pytest.approx(0.025, abs=1e-5)


def test_skewed_units_are_flagged() -> None:
    """Skew beyond 2 of the units, whatever the replicates look like."""
    values = [1.0] * 38 + [0.0, 0.1]

    for method in METHODS:
        assert "skewed" in mean_interval(values, method=method).flags
    assert "skewed" not in mean_interval(np.linspace(0, 1, 40)).flags
    assert mean_interval([0.5, 0.5], method="t").flags == ("n < 20", "zero width")


def test_what_cannot_be_computed() -> None:
    """No units, no denominator, one unit, unknown methods."""
    assert mean_interval([]).note == "no units"
    assert ratio_interval([0, 0], [0, 0]).note == "the denominator is zero"
    assert (one := mean_interval([0.4], method="t")).value == 0.4
    assert (one.lo, one.note) == (None, "one unit has no spread")
    with pytest.raises(ValueError, match="values of 0 and 1"):
        mean_interval([0.5], method="wilson")
    with pytest.raises(ValueError, match="unknown method 'wilson' of a ratio"):
        ratio_interval([1], [2], method="wilson")


def test_scope_names_the_units() -> None:
    """Every estimate can say what it covers; documents are the default and add nothing to JSON."""
    values = np.random.default_rng(3).random(40)
    contracts = Bootstrap(unit="contracts")

    assert mean_interval(values).scope == SCOPE
    assert "unit" not in mean_interval(values).as_dict()
    for method in METHODS:
        estimate = mean_interval(values, method=method, bootstrap=contracts)
        assert estimate.scope == SCOPE.replace("documents", "contracts")
        assert estimate.as_dict()["unit"] == "contracts"
    for empty in (mean_interval([], bootstrap=contracts), mean_interval([1, 0], bootstrap=contracts)):
        assert empty.unit == "contracts"


def test_design_effect_of_equal_and_of_unlike_rows() -> None:
    """Clusters of equal rows count as one row each; clusters as mixed as chance cost nothing."""
    keys = np.repeat(np.arange(10), 8)
    equal = design_effect(np.repeat([0, 1] * 5, 8), keys)
    mixed = design_effect(np.tile([0, 1], 40), keys)

    assert (equal.icc, equal.effect, equal.n_effective) == (1.0, 8.0, 10.0)
    assert (mixed.icc, mixed.effect, mixed.n_effective) == (0.0, 1.0, 80.0)


def test_design_effect_finds_a_planted_correlation() -> None:
    """Beta-binomial rows with correlation .3."""
    rng = np.random.default_rng(0)
    right = rng.random((4000, 10)) < rng.beta(0.8 * 7 / 3, 0.2 * 7 / 3, (4000, 1))
    found = design_effect(right.ravel().astype(float), np.repeat(np.arange(4000), 10))

    assert found.icc == pytest.approx(0.3, abs=0.02)
    assert found.effect == pytest.approx(1 + 9 * 0.3, abs=0.2)


def test_clustered_wilson() -> None:
    """Wider than Wilson over rows, exact at the ends, and cautious when nothing is known of the correlation."""
    keys = np.repeat(np.arange(25), 4)
    values = np.repeat(np.arange(25) % 5 > 0, 4).astype(float)
    wide, narrow = mean_interval(values, method="wilson", clusters=keys), mean_interval(values)
    perfect = clustered_wilson(np.ones(100), keys)

    assert wide.lo < narrow.lo < narrow.hi < wide.hi
    assert (wide.method, wide.n, wide.value) == ("wilson design effect", 25, 0.8)
    assert perfect.hi == 1.0
    assert perfect.lo == pytest.approx(wilson(25, 25).lo, abs=0.02)
    assert clustered_wilson([1.0], ["x"]).note == "one cluster has no spread"
    assert clustered_wilson([], []).note == "no units"
    with pytest.raises(ValueError, match="0 and 1"):
        clustered_wilson([0.5], ["x"])
