"""Permutation tests: pinned, exact where few, never 0, and Holm's correction."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dojo_kit.stats import significance
from dojo_kit.stats.significance import holm, mcnemar, shuffle_arms, sign_flip, swap_arms


def test_flips_are_pinned() -> None:
    """One bit per flip and unit that differs, from whole bytes; the observed arrangement counts once more."""
    differences = np.random.default_rng(0).normal(0.3, 1, 30)
    drawn = np.random.default_rng(42).integers(0, 256, size=(10_000, 4), dtype=np.uint8)
    signs = 1 - 2.0 * np.unpackbits(drawn, axis=1, bitorder="little")[:, :30]
    extreme = (np.abs(signs @ differences) >= abs(differences.sum())).sum()

    assert sign_flip(differences) == ((extreme + 1) / 10_001, "sign-flip")


def test_blocks_do_not_change_the_flips(monkeypatch: pytest.MonkeyPatch) -> None:
    """How many flips are computed at a time is no matter of the result."""
    differences = np.random.default_rng(1).normal(0.1, 1, 50)
    whole = sign_flip(differences)
    monkeypatch.setattr(significance, "_BLOCK_CELLS", 900)

    assert sign_flip(differences) == whole


def test_equal_units_do_not_matter() -> None:
    """Units without a difference have nothing to flip."""
    differences = np.random.default_rng(2).normal(0.2, 1, 25)

    assert sign_flip(np.concatenate([differences, np.zeros(400)])) == sign_flip(differences)


def test_enumeration_ends_where_drawing_is_cheaper() -> None:
    """Up to 2^13 arrangements, one sign being free, are counted; more are drawn."""
    assert sign_flip(np.arange(1, 15)) == (2 / 2**14, "sign-flip exact")
    assert sign_flip(np.arange(1, 16))[1] == "sign-flip"


def test_p_is_never_zero() -> None:
    """Random flips that never reach the observed difference still leave one in 10,001."""
    assert sign_flip(np.full(200, 0.1)) == (1 / 10_001, "sign-flip")


def test_float_noise_does_not_break_ties() -> None:
    """Tenths that add up differently in the last bit are equally extreme."""
    p, _ = sign_flip([0.1, 0.2, -0.3])

    assert p == 1.0
    assert sign_flip([0.1, 0.2, 0.3, -0.6]) == (1.0, "sign-flip exact")


def test_many_units_take_the_normal_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond a number of units the flips' own variance decides, which is close to what flips give."""
    differences = np.random.default_rng(3).normal(0.05, 1, 2000)
    flipped, _ = sign_flip(differences)
    monkeypatch.setattr(significance, "_NORMAL_ABOVE_N", 1999)
    p, method = sign_flip(differences)

    assert method == "sign-flip normal"
    assert p == pytest.approx(flipped, abs=0.01)


def test_the_normal_limit_of_ratios(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same for pooled ratios, whose units are linearised."""
    rng = np.random.default_rng(5)
    hits, more = rng.integers(0, 4, (2, 400, 2)).astype(float)
    arms = np.column_stack([hits[:, 0], hits[:, 0] + more[:, 0], hits[:, 1], hits[:, 1] + more[:, 1]])
    flipped = swap_arms(arms)
    monkeypatch.setattr(significance, "_NORMAL_ABOVE_N", 100)

    assert flipped.method == "permutation"
    assert 0.01 < flipped.p < 0.99
    assert swap_arms(arms).p == pytest.approx(flipped.p, abs=0.015)


def test_nothing_to_test() -> None:
    """No units, undefined ratios and equal arms."""
    assert sign_flip([]) == sign_flip([math.nan]) == (None, "none")
    assert sign_flip([0.0, 0.0]) == (1.0, "sign-flip exact")
    assert swap_arms(np.array([[0.0, 0.0, 1.0, 2.0]])).p is None
    assert shuffle_arms(np.empty((0, 2)), np.ones((3, 2))).p is None
    assert shuffle_arms(np.zeros((2, 2)), np.ones((3, 2))).p is None


def test_swapped_ratios_by_hand() -> None:
    """Two units, four arrangements, of which two keep the difference."""
    arms = np.array([[1.0, 2.0, 2.0, 2.0], [1.0, 4.0, 2.0, 4.0]])
    found = swap_arms(arms)

    assert (found.p, found.method) == (0.5, "permutation exact")


def test_random_deals_agree_with_exact_ones() -> None:
    """The same 0/1 samples, counted at once and, as weights of 2, dealt at random."""
    rng = np.random.default_rng(4)
    a, b = (np.column_stack([rng.random(60) < p, np.ones(60)]).astype(float) for p in (0.6, 0.75))
    exact, drawn = shuffle_arms(a, b), shuffle_arms(2 * a, 2 * b)

    assert (exact.method, drawn.method) == ("permutation exact", "permutation")
    assert drawn.p == pytest.approx(exact.p, abs=0.015)


def test_holm() -> None:
    """Steps never fall, never exceed 1, and untested metrics do not count."""
    assert holm([]).tolist() == []
    assert holm([0.02]).tolist() == [0.02]
    assert holm([0.9, 0.8]).tolist() == [1.0, 1.0]
    adjusted = holm([0.01, np.nan, 0.04])
    assert adjusted[[0, 2]].tolist() == [0.02, 0.04]
    assert np.isnan(adjusted[1])


def test_impossible_counts() -> None:
    """Negative counts are a mistake of the caller."""
    with pytest.raises(ValueError, match="negative"):
        mcnemar(-1, 2)


@pytest.mark.parametrize("p", [-0.1, 1.5, np.inf])
def test_holm_refuses_what_is_no_p_value(p: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm([0.01, p, np.nan])
