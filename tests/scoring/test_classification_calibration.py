"""Calibration: expected calibration error by its definition, and a curve that closes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dojo_kit.errors import InputError
from dojo_kit.scoring.calibration import BINS, calibrate
from dojo_kit.stats.cells import CellBootstrap

FEW = CellBootstrap(n_resamples=50)


def by_definition(confidences: list[float], right: list[bool]) -> float:
    """Sum over bins of their share of rows times |accuracy - mean confidence| (Naeini et al. 2015)."""
    bins: dict[int, list[tuple[float, bool]]] = {}
    for confidence, correct in zip(confidences, right, strict=True):
        place = next((b for b in range(BINS - 1) if confidence < (b + 1) / BINS), BINS - 1)
        bins.setdefault(place, []).append((confidence, correct))
    gaps = [abs(sum(c for c, _ in rows) - sum(r for _, r in rows)) for rows in bins.values()]
    return sum(gaps) / len(right)


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=50))
def test_error_is_as_defined(rows: list[tuple[float, bool]]) -> None:
    confidences, right = [c for c, _ in rows], [r for _, r in rows]

    found = calibrate(confidences, right, bootstrap=FEW)

    assert found.error.value == pytest.approx(by_definition(confidences, right))
    assert found.curve["n"].sum() == len(rows)
    assert len(found.curve) == BINS


def test_edges_belong_to_the_upper_bin() -> None:
    curve = calibrate([0.0, 0.1, 0.3, 0.7, 0.9, 1.0], [True] * 6, bootstrap=FEW).curve

    assert curve["n"].tolist() == [1, 1, 0, 1, 0, 0, 0, 1, 0, 2]
    assert math.isnan(curve["accuracy"].iloc[2])


def test_a_calibrated_model_has_a_small_error() -> None:
    rng = np.random.default_rng(0)
    confidences = np.round(rng.random(20_000), 2)
    right = rng.random(20_000) < confidences

    error = calibrate(confidences, right).error

    assert error.value is not None
    assert error.value < 0.02
    assert error.hi is not None
    assert error.note.startswith("biased upwards")


def test_rows_without_confidence_or_verdict_are_left_out() -> None:
    found = calibrate([0.9, None, 0.8, float("nan")], [True, True, None, False])

    assert (found.error.value, found.error.n) == (pytest.approx(0.1), 1)
    nothing = calibrate([None], [True])
    assert nothing.error.value is None
    assert nothing.curve["n"].sum() == 0


def test_impossible_confidence_is_an_error() -> None:
    with pytest.raises(InputError, match="confidence 95 is out of range"):
        calibrate([95], [True])
