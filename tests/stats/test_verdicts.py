"""The band of rerun noise, and every line of the verdict table."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dojo_kit.stats.compare import Delta, paired_delta
from dojo_kit.stats.verdicts import VERDICTS, Band, noise_band, verdict

CLEAR = paired_delta([0] * 30 + [1] * 20, [1] * 50)
WIDE, NARROW = Band(0.9, 0.3, 4), Band(0.01, 0.003, 4)
UNKNOWN = Band(None, 0.01, 1, (0.01,), "rerun noise rests on 1 pair, a band needs 3")


def delta(value: float, *, excluded: bool, p: float | None = None) -> Delta:
    half = abs(value) / 2 if excluded else abs(value) * 2 + 0.01
    p = (0.001 if excluded else 0.4) if p is None else p
    return replace(CLEAR, value=value, lo=value - half, hi=value + half, p=p)


@pytest.mark.parametrize(
    ("excluded", "value", "band", "word"),
    [
        (True, 0.2, NARROW, "win"),
        (True, -0.2, NARROW, "loss"),
        (True, 0.2, WIDE, "within rerun noise"),
        (True, -0.2, WIDE, "within rerun noise"),
        (True, 0.2, None, "inconclusive: rerun noise not measured"),
        (True, 0.2, UNKNOWN, "inconclusive: rerun noise not measured"),
        (False, 0.005, NARROW, "within rerun noise"),
        (False, 0.2, NARROW, "inconclusive"),
        (False, 0.2, None, "inconclusive"),
        (False, 0.2, UNKNOWN, "inconclusive"),
        (False, 0.0, NARROW, "within rerun noise"),
        (True, 0.01, NARROW, "within rerun noise"),
    ],
)
def test_table(*, excluded: bool, value: float, band: Band | None, word: str) -> None:
    """Interval and test on one side, the band on the other."""
    found, why = verdict(delta(value, excluded=excluded), band)

    assert found == word
    assert why.endswith(".")
    assert not any(
        sign.isdigit() for sign in why.replace("excludes 0", "").replace("includes 0", "").replace(".05", "")
    ) or (band is UNKNOWN)


@pytest.mark.parametrize("band", [None, NARROW, WIDE, UNKNOWN])
def test_reruns_never_win(band: Band | None) -> None:
    """Two runs with the same settings differ by noise, however clearly."""
    assert verdict(CLEAR, band, rerun=True)[0] == "rerun"


def test_the_test_must_agree_with_the_interval() -> None:
    """An interval beside 0 with p of .05 and more is no win; neither is a difference that cannot be tested."""
    assert verdict(delta(0.2, excluded=True, p=0.05), NARROW)[0] == "inconclusive"
    assert verdict(delta(0.2, excluded=True, p=0.049), NARROW)[0] == "win"
    assert "p is not below .05" in verdict(delta(0.2, excluded=True, p=0.05), NARROW)[1]


def test_no_difference_to_judge() -> None:
    """An undefined difference is inconclusive and says why."""
    assert verdict(paired_delta([], []), NARROW) == (
        "inconclusive",
        "There is no difference to judge: no shared units.",
    )


def test_vocabulary() -> None:
    """The words other layers print."""
    assert len(VERDICTS) == 6
    assert {"win", "loss", "rerun"} < set(VERDICTS)


def test_band_of_pairs_is_the_root_mean_square() -> None:
    """Published reruns of subtype on 509 documents: pairs 63/104, 103/141, 166/173, 165/191, 168/188, 163/195."""
    from scipy.stats import t

    deltas = [0.0059, 0.0059, -0.0059, -0.0118, -0.0118, -0.0177]
    band = noise_band([[0.8, 0.8 + d] for d in deltas])
    rms = math.sqrt(np.mean(np.square(deltas)))

    assert band.m == 6
    assert band.rms == pytest.approx(rms)
    assert band.value == pytest.approx(t.ppf(0.975, 6) * rms)
    assert band.deltas == pytest.approx(deltas)


def test_groups_pool_their_variance() -> None:
    """Three runs of one group count twice, and have three differences."""
    band = noise_band([[0.5, 0.52, 0.54], [0.7, 0.7]])

    assert band.m == 3
    assert band.rms == pytest.approx(math.sqrt(2 * (2 * np.var([0.5, 0.52, 0.54], ddof=1)) / 3))
    assert band.deltas == pytest.approx((0.02, 0.04, 0.02, 0.0))


def test_too_few_reruns() -> None:
    """Below three the band is unknown; what was seen is kept."""
    assert noise_band([]) == noise_band([[0.5], [0.6, math.nan]]) == Band(None, None, 0, (), "no reruns")
    two = noise_band([[0.5, 0.6, 0.4]])
    assert (two.value, two.m, two.reason) == (None, 2, "rerun noise rests on 2 pairs, a band needs 3")
    assert two.deltas == pytest.approx((0.1, -0.1, -0.2))
    assert two.as_dict()["reason"] == two.reason
    assert "reason" not in noise_band([[0.1, 0.2]] * 3).as_dict()


@given(st.lists(st.lists(st.floats(0, 1), min_size=2, max_size=4), min_size=3, max_size=5), st.floats(-1, 1))
def test_band_ignores_levels_and_order(groups: list[list[float]], shift: float) -> None:
    """Only differences within a group matter, and not which came first."""
    band = noise_band(groups)
    moved = noise_band([[value + shift for value in reversed(group)] for group in groups])

    assert moved.m == band.m
    assert moved.value == pytest.approx(band.value, abs=1e-9)


@pytest.mark.parametrize("shared", [30, 49])
def test_an_unknown_band_says_how_many_pairs_there_are(shared: int) -> None:
    """Whether the difference is excluded or not."""
    delta = paired_delta([1] * shared + [0] * (50 - shared), [1] * 50)
    word, reason = verdict(delta, noise_band([[0.7, 0.71]]))
    assert word.startswith("inconclusive")
    assert "rerun noise is unknown (rerun noise rests on 1 pair, a band needs 3)" in reason
    assert "rerun noise was not measured" in verdict(delta, None)[1]
