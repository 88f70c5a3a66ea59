"""Choosing under a budget, against trying every selection."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dojo_kit.simulate.selection import best_selection

OPTIONS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 20)), max_size=9)


@given(options=OPTIONS, budget=st.integers(0, 60), most=st.integers(1, 5))
def test_nothing_better_fits(options: list[tuple[int, int]], budget: int, most: int) -> None:
    gains, costs = [gain for gain, _ in options], [cost for _, cost in options]

    chosen = best_selection(gains, costs, budget=budget, most=most)

    best = max(
        (
            sum(gains[i] for i in picked)
            for size in range(min(most, len(options)) + 1)
            for picked in combinations(range(len(options)), size)
            if sum(costs[i] for i in picked) <= budget
        ),
        default=0,
    )
    assert sum(gains[i] for i in chosen) == best
    assert sum(costs[i] for i in chosen) <= budget
    assert len(set(chosen)) == len(chosen) <= most


def test_many_options_are_quick() -> None:
    gains = [float(1 + (37 * i) % 101) for i in range(400)]
    costs = [50.0 + (53 * i) % 997 for i in range(400)]

    chosen = best_selection(gains, costs, budget=900, most=6)

    assert sum(costs[i] for i in chosen) <= 900


def test_costs_are_not_negative() -> None:
    with pytest.raises(ValueError, match="cost of 0 or more"):
        best_selection([1], [-1], budget=1, most=1)
