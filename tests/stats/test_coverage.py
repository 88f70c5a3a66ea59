"""Intervals hold the truth, and tests reject it, as often as they say: 2,000 trials with fixed seeds."""

from __future__ import annotations

import numpy as np
import pytest

from dojo_kit.stats.means import Method, mean_interval, ratio_interval
from tests.stats.coverage_simulation import (
    PROMISED,
    REPORTED,
    Cell,
    Population,
    bounds,
    coverage_table,
    null_rejections,
    power,
)

TRIALS = 2000
MEANS = [population.name for population in PROMISED if "t" in population.methods]
SHARES = [population.name for population in PROMISED if "wilson" in population.methods]

Table = dict[tuple[str, str, int], Cell]


@pytest.fixture(scope="module")
def table() -> Table:
    cells = coverage_table(TRIALS, sizes=(50, 500))
    return {(cell.method, cell.population, cell.n): cell for cell in cells}


@pytest.mark.parametrize("population", MEANS)
def test_fifty_documents(table: Table, population: str) -> None:
    """n = 50: percentile 92 to 96 %, t and expanded percentile 93 to 97 %."""
    assert 0.92 <= table["percentile", population, 50].coverage <= 0.96
    assert 0.93 <= table["t", population, 50].coverage <= 0.97
    assert 0.93 <= table["expanded percentile", population, 50].coverage <= 0.97


@pytest.mark.parametrize("population", SHARES)
@pytest.mark.parametrize("n", [50, 500])
def test_wilson(table: Table, population: str, n: int) -> None:
    """Wilson 93 to 97 % for shares of .9 and .97."""
    assert 0.93 <= table["wilson", population, n].coverage <= 0.97


@pytest.mark.parametrize("population", MEANS)
@pytest.mark.parametrize("method", ["percentile", "expanded percentile", "t", "bca"])
def test_five_hundred_documents(table: Table, population: str, method: str) -> None:
    """n = 500: every method 93 to 97 %."""
    assert 0.93 <= table[method, population, 500].coverage <= 0.97


def test_design_effect(table: Table) -> None:
    """Wilson with the effective number of rows holds its level on clustered rows."""
    found = [cell for (method, _, _), cell in table.items() if method == "wilson design effect"]

    assert len(found) == 2
    assert all(0.93 <= cell.coverage <= 0.97 for cell in found)


@pytest.mark.parametrize("population", [population.name for population in REPORTED])
def test_skewed_populations_are_flagged(table: Table, population: str) -> None:
    """Nothing is promised where the skew is beyond 2; it is flagged, the more often the stronger."""
    assert table["percentile", population, 50].flagged > 0.4
    assert all(table["percentile", name, 50].flagged < 0.1 for name in MEANS)


@pytest.mark.parametrize("population", PROMISED, ids=lambda population: population.name)
def test_simulated_bounds_are_those_of_the_package(population: Population) -> None:
    """The simulation computes many trials at once; single ones agree with the functions people call."""
    numerators, denominators = population.draw(np.random.default_rng(0), 5, 50)
    simulated = bounds(population.methods, numerators, denominators)
    methods: list[Method] = ["percentile", "expanded percentile", "t", "bca"]

    for method in (m for m in methods if m in simulated):
        for trial, (lo, hi) in enumerate(zip(*simulated[method], strict=True)):
            estimate = ratio_interval(numerators[trial], denominators[trial], method=method)
            assert (estimate.lo, estimate.hi) == pytest.approx((lo, hi))
    if "wilson" in simulated:
        estimate = mean_interval(numerators[0])
        assert (estimate.lo, estimate.hi) == (simulated["wilson"][0][0], simulated["wilson"][1][0])


def test_true_null() -> None:
    """Clustered 0/1 rows of 50 documents without a difference: 4 to 7 % by interval, 3 to 6 % with the test."""
    found = null_rejections(TRIALS)

    assert 0.04 <= found.interval <= 0.07
    assert 0.03 <= found.interval_and_test <= 0.06


def test_pairing_pays() -> None:
    """On the same data a difference is found far more often as a paired one."""
    paired, apart = power(120)

    assert paired > apart + 0.3
