"""The exact probability of winning a vote, against counting every committee there is."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dojo_kit.simulate.plurality import EXACT_UP_TO, plurality_limit, win_probability

BALLOTS = st.lists(st.integers(0, 9), min_size=1, max_size=4).filter(any)


def counted(ballot: list[int], expected: int, k: int) -> float:
    """Go through every sequence of k votes."""
    shares = np.array(ballot) / sum(ballot)
    won = 0.0
    for votes in product(range(len(ballot)), repeat=k):
        tally = np.bincount(votes, minlength=len(ballot))
        on_top = np.flatnonzero(tally == tally.max())
        won += float(np.prod(shares[list(votes)])) * (expected in on_top) / len(on_top)
    return won


@given(ballot=BALLOTS, k=st.integers(1, 6), data=st.data())
def test_probability_is_that_of_all_committees(ballot: list[int], k: int, data: st.DataObject) -> None:
    expected = data.draw(st.integers(0, len(ballot) - 1))

    found = win_probability(np.array([ballot]), np.array([expected]), k)

    assert found[0] == pytest.approx(counted(ballot, expected, k), abs=1e-12)


@given(ballot=BALLOTS, k=st.integers(1, EXACT_UP_TO))
def test_probabilities_of_all_labels_add_up_to_one(ballot: list[int], k: int) -> None:
    counts = np.array([ballot] * len(ballot))

    found = win_probability(counts, np.arange(len(ballot)), k)

    assert found.sum() == pytest.approx(1, abs=1e-9)
    assert ((found >= 0) & (found <= 1)).all()


@given(ballot=BALLOTS, k=st.integers(1, 20), data=st.data())
def test_the_order_of_the_other_labels_does_not_matter(ballot: list[int], k: int, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(ballot))))
    shuffled = [ballot[index] for index in order]

    one = win_probability(np.array([ballot]), np.array([order[0]]), k)
    other = win_probability(np.array([shuffled]), np.array([0]), k)

    assert one[0] == pytest.approx(other[0], abs=1e-12)


def test_two_voters_are_no_better_than_one() -> None:
    counts, expected = np.array([[5, 3, 1], [2, 2, 9]]), np.array([0, 1])

    assert win_probability(counts, expected, 2) == pytest.approx(win_probability(counts, expected, 1))


def test_many_voters_approach_the_limit() -> None:
    counts, expected = np.array([[6, 4, 0], [4, 6, 0], [5, 5, 0], [3, 3, 3]]), np.array([0, 0, 0, 0])

    simulated = win_probability(counts, expected, 2001)

    assert plurality_limit(counts, expected).tolist() == [1, 0, 0.5, pytest.approx(1 / 3)]
    assert simulated == pytest.approx(plurality_limit(counts, expected), abs=0.03)


def test_simulation_goes_on_where_exact_counting_ends() -> None:
    counts, expected = np.array([[5, 4, 2]]), np.array([0])

    exact = win_probability(counts, expected, EXACT_UP_TO)
    simulated = win_probability(counts, expected, EXACT_UP_TO + 1)

    assert simulated[0] == pytest.approx(exact[0], abs=0.03)


def test_a_committee_needs_a_voter() -> None:
    with pytest.raises(ValueError, match="at least 1 voter"):
        win_probability(np.array([[1]]), np.array([0]), 0)
