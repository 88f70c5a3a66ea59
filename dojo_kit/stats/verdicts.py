"""What a difference means: the band of rerun noise, and the verdict on a difference beside it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from dojo_kit.stats.compare import Delta

ALPHA = 0.05
"""A p-value below this excludes "no difference", beside the interval."""

Verdict = Literal[
    "win",
    "loss",
    "within rerun noise",
    "inconclusive: rerun noise not measured",
    "inconclusive",
    "rerun",
]
"""What can be said of a difference; one vocabulary everywhere."""

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

_SMALLEST_M = 3


@dataclass(frozen=True, slots=True)
class Band:
    """How far two runs with the same settings lie apart by chance.

    Attributes:
        value: Half-width: a difference within it may be rerun noise; None when unknown.
        rms: Root mean square of the difference of two reruns; None without any.
        m: Degrees of freedom: reruns beyond the first, over all groups.
        deltas: Differences, later less earlier, of all pairs of reruns.
        reason: Why the value is unknown; empty otherwise.
    """

    value: float | None
    rms: float | None
    m: int
    deltas: tuple[float, ...] = ()
    reason: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the band as JSON-ready values, without an empty reason."""
        result: dict[str, Any] = {"value": self.value, "rms": self.rms, "m": self.m, "deltas": list(self.deltas)}
        if self.reason:
            result["reason"] = self.reason
        return result


def noise_band(groups: Sequence[ArrayLike]) -> Band:
    """Band of rerun noise: t(.975, m) times the root mean square difference of two reruns.

    The variance of one run is pooled over groups, each counting with its reruns beyond the first; a difference of two
    runs has twice that variance. With pairs only this is the root mean square of their differences.

    Args:
        groups: Per group of reruns the metric of every run, in order, each shape (k,). NaN is left out, and a group
            with fewer than two runs says nothing.

    Returns:
        The band; its value is None, with the reason, below 3 degrees of freedom.

    Examples:
        >>> band = noise_band([[0.70, 0.71], [0.80, 0.79], [0.60, 0.62]])
        >>> band.m, round(band.rms, 4), round(band.value, 4)
        (3, 0.0141, 0.045)
        >>> noise_band([[0.70, 0.71]]).reason
        'rerun noise rests on 1 pair, a band needs 3'
    """
    runs = [np.asarray(group, dtype=float) for group in groups]
    runs = [known for group in runs if len(known := group[~np.isnan(group)]) > 1]
    m = sum(len(group) - 1 for group in runs)
    if m == 0:
        return Band(None, None, 0, reason="no reruns")
    deltas = tuple(float(later - earlier) for group in runs for earlier, later in combinations(group, 2))
    squares = sum(float(((group - group.mean()) ** 2).sum()) for group in runs)
    rms = math.sqrt(2 * squares / m)
    if m < _SMALLEST_M:
        pairs = f"{m} pair{'s' if m > 1 else ''}"
        return Band(None, rms, m, deltas, f"rerun noise rests on {pairs}, a band needs {_SMALLEST_M}")
    from scipy.special import stdtrit

    return Band(float(stdtrit(m, 0.975)) * rms, rms, m, deltas)


def verdict(delta: Delta, band: Band | None, *, rerun: bool = False) -> tuple[Verdict, str]:
    """Say what a difference means, and why.

    Args:
        delta: The difference, positive when B is better.
        band: Rerun noise of the same task, model and surface; None when it was not measured.
        rerun: Whether both runs belong to one group of reruns.

    Returns:
        The word, and one sentence with the side of the table that applied.

    Examples:
        >>> from dojo_kit.stats.compare import paired_delta
        >>> delta = paired_delta([0] * 30 + [1] * 20, [1] * 50)
        >>> verdict(delta, Band(0.02, 0.005, 3))[0], verdict(delta, None)[0]
        ('win', 'inconclusive: rerun noise not measured')
    """
    if rerun:
        return "rerun", "Both runs have the same settings: their difference is rerun noise."
    if delta.value is None:
        return "inconclusive", f"There is no difference to judge: {delta.note or 'it is undefined'}."
    width = None if band is None else band.value
    why = _why(delta)
    if width is not None and abs(delta.value) <= width:
        return "within rerun noise", f"{why}, and reruns of one prompt differ by as much."
    if not delta.excluded:
        beside = f"rerun noise {_unknown(band)}" if width is None else "it is larger than rerun noise"
        return "inconclusive", f"{why}; {beside}."
    if width is None:
        return "inconclusive: rerun noise not measured", f"{why}, but rerun noise {_unknown(band)}."
    return ("win" if delta.value > 0 else "loss"), f"{why}, and the difference is larger than rerun noise."


def _unknown(band: Band | None) -> str:
    """Say that rerun noise is not known, and what there is of it."""
    return "was not measured" if band is None else f"is unknown ({band.reason or 'no reason is given'})"


def _why(delta: Delta) -> str:
    if delta.excluded:
        return "The interval excludes 0 and p is below .05"
    if delta.interval_excludes_zero:
        return "The interval excludes 0 but p is not below .05"
    return "The interval includes 0"
