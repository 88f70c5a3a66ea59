"""Does a model's stated confidence mean anything: calibration error and reliability curve."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dojo_kit.errors import InputError
from dojo_kit.stats.cells import CellBootstrap, Codes
from dojo_kit.stats.intervals import Array, Estimate, undefined, wilson

if TYPE_CHECKING:
    import pandas as pd

BINS = 10
"""Equal bins on [0, 1]; a confidence on an edge belongs to the upper bin, 1 to the last."""

_BIAS = "biased upwards: bins with few rows differ from their confidence by chance"
_NO_CONFIDENCE = "no answered row states a confidence"


@dataclass(frozen=True, eq=False)
class Calibration:
    """Stated confidence against accuracy.

    Attributes:
        error: Expected calibration error (Naeini et al. 2015): mean over rows of the distance between the accuracy and
            the mean confidence of the row's bin.
        curve: One row per bin: ``lo``, ``hi``, ``n``, ``confidence`` (mean), ``accuracy`` with Wilson bounds
            ``accuracy_lo`` and ``accuracy_hi``, and ``gap`` (confidence - accuracy, positive when overconfident); NaN
            in an empty bin.
    """

    error: Estimate
    curve: pd.DataFrame


def calibrate(
    confidences: Iterable[float | None],
    right: Iterable[bool | None],
    *,
    units: Codes | None = None,
    bootstrap: CellBootstrap | None = None,
    bins: int = BINS,
) -> Calibration:
    """Hold stated confidences against what was right.

    Args:
        confidences: Confidence per row, 0 to 1; rows without one, or without a verdict, are left out.
        right: Whether the row is right.
        units: Unit of every row, see `dojo_kit.stats.cells.CellBootstrap.draw`.
        bootstrap: The resampling.
        bins: Number of bins.

    Raises:
        InputError: A confidence is not between 0 and 1.

    Examples:
        >>> calibration = calibrate([0.95, 0.95, 0.55], [True, False, True])
        >>> round(calibration.error.value, 4)
        0.45
    """
    stated, verdict = _numbers(confidences), _numbers(right)
    known = ~np.isnan(stated) & ~np.isnan(verdict)
    stated, verdict = stated[known], verdict[known]
    outside = stated[(stated < 0) | (stated > 1)]
    if len(outside):
        raise InputError(f"confidence {outside[0]:g} is out of range", expected="numbers from 0 to 1")
    bootstrap = bootstrap or CellBootstrap()
    distinct, inverse = np.unique(stated, return_inverse=True)
    if not len(distinct):
        return Calibration(undefined(_NO_CONFIDENCE), _curve(np.zeros(3 * bins), bins, bootstrap.confidence))
    bin_of = np.minimum(np.searchsorted(np.arange(1, bins) / bins, distinct, side="right"), bins - 1)
    summands = _summands(distinct, bin_of, bins)
    cells = verdict.astype(np.int64) * len(distinct) + inverse
    of_rows = None if units is None else np.unique(units[known], return_inverse=True)[1]
    drawn = bootstrap.draw(cells, summands, of_rows)
    error = drawn.estimate(_expected_error, undefined_because=_NO_CONFIDENCE)
    return Calibration(replace(error, note=_BIAS), _curve(drawn.observed[0], bins, bootstrap.confidence))


def _numbers(values: Iterable[float | None]) -> NDArray[np.float64]:
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def _summands(confidences: Array, bin_of: NDArray[np.intp], bins: int) -> Any:
    """Return what a row adds to the sums of its bin (rows, confidence, right), wrong rows first, then right ones."""
    from scipy.sparse import csr_array

    k = len(confidences)
    ones, at = np.ones(2 * k), np.arange(2 * k)
    target = np.tile(bin_of, 2)
    values = np.concatenate([ones, np.tile(confidences, 2), ones[:k]])
    rows = np.concatenate([at, at, at[k:]])
    columns = np.concatenate([target, target + bins, bin_of + 2 * bins])
    return csr_array((values, (rows, columns)), shape=(2 * k, 3 * bins))


def _expected_error(sums: Array) -> Array:
    n, confidence, right = np.split(sums, 3, axis=1)
    return np.asarray(np.abs(right - confidence).sum(axis=1) / n.sum(axis=1))


def _curve(sums: Array, bins: int, confidence: float) -> pd.DataFrame:
    import pandas as pd

    n, stated, right = np.split(sums, 3)
    with np.errstate(invalid="ignore"):
        means, accuracy = stated / n, right / n
    bounds = [wilson(int(k), int(m), confidence=confidence) for k, m in zip(right, n, strict=True)]
    edges = np.arange(bins + 1) / bins
    return pd.DataFrame(
        {
            "lo": edges[:-1],
            "hi": edges[1:],
            "n": n.astype(int),
            "confidence": means,
            "accuracy": accuracy,
            "accuracy_lo": np.array([b.lo for b in bounds], dtype=float),
            "accuracy_hi": np.array([b.hi for b in bounds], dtype=float),
            "gap": means - accuracy,
        }
    )
