"""Several annotators on one unit: one vote each, a strict majority per label, and a stated rule for ties.

Labels are voted on one by one, so the result can be a combination that nobody gave; the rules between labels are
checked again afterwards. Only the tie rule ``first`` depends on the order of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dojo_kit.rag.contract import CheckedLabels
from dojo_kit.rag.faults import Codes, Mask, shown
from dojo_kit.rag.metrics import Labels
from dojo_kit.rag.tasks import ANNOTATOR, CREATED, choice
from dojo_kit.rag.units import Units

if TYPE_CHECKING:
    import pandas as pd

TieRule = Literal["fail", "drop", "positive", "negative", "first"]
"""What becomes of a label with as many votes for 1 as for 0: an error, no label, 1, 0, or what the first row that
agrees with every decided label says."""

TIE_RULES: tuple[TieRule, ...] = get_args(TieRule)


EPOCH = datetime(1970, 1, 1)
"""Stands for a time where none is needed; times here are UTC without saying so."""


@dataclass(frozen=True, slots=True)
class Majority:
    """What votes decided, one row per unit.

    Attributes:
        labels: 0 or 1, shape (units, labels); -1 without a vote and in ties that were dropped.
        votes: Votes per unit, shape (units,).
        tied: Labels without a majority, shape (units, labels).
        dissent: Labels on which not all votes agree, shape (units, labels).
    """

    labels: Labels
    votes: Codes
    tied: Mask
    dissent: Mask


def majority(labels: ArrayLike, units: ArrayLike, *, tie: TieRule = "fail", n_units: int | None = None) -> Majority:
    """Decide every label of every unit by strict majority.

    Args:
        labels: One vote per row, 0 or 1, shape (votes, labels).
        units: Code of every vote's unit, from 0, shape (votes,).
        tie: The tie rule; a caller that fails on ties finds them in the result, with the label -1.
        n_units: Units, if some may have no vote.

    Raises:
        SettingsError: The tie rule is unknown.

    Examples:
        >>> decided = majority([[1, 1], [1, 0], [0, 0]], [0, 0, 0])
        >>> decided.labels.tolist(), decided.dissent.tolist()
        ([[1, 0]], [[True, True]])
        >>> majority([[1, 1], [0, 1]], [0, 0], tie="positive").labels.tolist()
        [[1, 1]]
    """
    choice("tie", tie, TIE_RULES)
    cast, of = np.asarray(labels, dtype=np.int8), np.asarray(units, dtype=np.int64)
    n = n_units if n_units is not None else int(of.max(initial=-1)) + 1
    votes = np.bincount(of, minlength=n)
    positive = np.column_stack([np.bincount(of, weights=column, minlength=n) for column in cast.T]).astype(np.int64)
    doubled, voted = 2 * positive, votes[:, None]
    decided = np.where(doubled > voted, 1, np.where(doubled < voted, 0, -1)).astype(np.int8)
    tied = (decided < 0) & (voted > 0)
    dissent = (positive > 0) & (positive < voted)
    if tied.any() and tie in {"positive", "negative"}:
        decided = np.where(tied, int(tie == "positive"), decided).astype(np.int8)
    elif tied.any() and tie == "first":
        decided = np.where(tied, cast[_source_rows(cast, of, decided)], decided).astype(np.int8)
    return Majority(decided, votes, tied, dissent)


def _source_rows(cast: Labels, of: Codes, decided: Labels) -> Codes:
    """Per unit the first row that agrees with every decided label, else the first row; 0 without a row."""
    agrees = ((decided[of] < 0) | (cast == decided[of])).all(axis=1)
    source = np.zeros(len(decided), dtype=np.int64)
    for rows in (np.arange(len(of)), np.flatnonzero(agrees)):
        units, first = np.unique(of[rows], return_index=True)
        source[units] = rows[first]
    return source


@dataclass(frozen=True, slots=True)
class OneVoteEach:
    """Which rows count as votes.

    Attributes:
        kept: Rows that count, shape (rows,).
        n_replaced: Rows that a later row of the same annotator on the same unit replaced.
        n_repeated: Rows that only repeat another row of the same annotator.
    """

    kept: Mask
    n_replaced: int
    n_repeated: int


def one_vote_each(checked: CheckedLabels, units: Units) -> OneVoteEach:
    """Leave every annotator one vote per unit, the latest by ``created_at``.

    Rows of the same time count once when they say the same, and so do rows of which one has no time. Times without a
    zone are taken as UTC.

    Args:
        checked: The rows.
        units: Their units.

    Raises:
        LabelsError: Two rows of one annotator contradict each other and no time tells which is later, a time cannot
            be read, or a unit has several rows and no column says who judged.
    """
    judged = np.flatnonzero(checked.judged & (units.of_rows >= 0))
    keys = units.of_rows[judged]
    if checked.annotators is not None:
        keys = keys * len(checked.annotators.names) + checked.annotators.codes[judged]
    _, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
    votes = inverse.reshape(-1)
    kept = np.zeros(len(checked.lines), dtype=bool)
    kept[judged] = True
    repeated = np.flatnonzero(counts[votes] > 1)
    if not len(repeated):
        return OneVoteEach(kept, 0, 0)
    rows, of = judged[repeated], votes[repeated]
    if checked.annotators is None:
        _refuse(checked, rows, of, "one row per unit, or a column annotator_id")
    times = _times(checked, rows, of)
    kept[rows] = False
    order = np.lexsort((rows, times, of))
    latest = _lasts(of[order])
    ends = order[latest]
    same_time = np.flatnonzero(times == _spread(times[ends], of, of[ends]))
    differ = (checked.labels[rows] != checked.labels[rows[_spread(ends, of, of[ends])]]).any(axis=1)
    clash = same_time[differ[same_time]]
    if len(clash):
        in_clash = np.isin(of, of[clash])
        _refuse(checked, rows[in_clash], of[in_clash], f"one row, or a later {CREATED}")
    first = same_time[np.unique(of[same_time], return_index=True)[1]]
    kept[rows[first]] = True
    return OneVoteEach(kept, len(rows) - len(same_time), len(same_time) - len(first))


def _lasts(sorted_codes: Codes) -> Mask:
    return np.append(sorted_codes[1:] != sorted_codes[:-1], True)


def _spread(values: NDArray[Any], of: Codes, keys: Codes) -> NDArray[Any]:
    """Give every element the value of its key; keys are sorted."""
    return values[np.searchsorted(keys, of)]


def _refuse(checked: CheckedLabels, rows: Codes, of: Codes, expected: str) -> None:
    """Refuse rows that repeat an earlier one of the same key."""
    order = np.lexsort((checked.lines[rows], of))
    rows, of = rows[order], of[order]
    first = np.insert(of[1:] != of[:-1], 0, True)
    started = rows[np.flatnonzero(first)][np.cumsum(first) - 1]
    earlier = np.zeros(len(checked.lines), dtype=np.int64)
    earlier[rows] = checked.lines[started]
    marked = np.zeros(len(checked.lines), dtype=bool)
    marked[rows[~first]] = True
    faults = checked.faults()
    who = "" if checked.annotators is None else " of the same annotator"
    column = None if checked.annotators is None else ANNOTATOR
    faults.add(marked, column, lambda row: f"judges the same as line {earlier[row]}{who}", expected)
    faults.raise_any()


def _times(checked: CheckedLabels, rows: Codes, of: Codes) -> Codes:
    """Read the times of a few rows; all equal without that column, and where a blank one decides nothing."""
    if checked.created is None:
        return np.zeros(len(rows), dtype=np.int64)
    times = read_times(checked.created.iloc[rows])
    undecided = _same_without_time(checked, rows, of)
    times = times.mask(undecided, EPOCH)
    faults = checked.faults()
    unread = np.zeros(len(checked.lines), dtype=bool)
    unread[rows] = times.isna().to_numpy()
    written = checked.created
    faults.add(unread, CREATED, lambda row: f"{shown(written.iloc[row])} is no time", "a date and time, ISO 8601")
    faults.raise_any()
    return times.to_numpy(dtype="datetime64[us]").astype(np.int64)


def _same_without_time(checked: CheckedLabels, rows: Codes, of: Codes) -> Mask:
    """Mark rows of votes that say the same throughout and of which some have no time."""
    assert checked.created is not None  # noqa: S101 - the caller has looked
    blank = checked.created.iloc[rows].fillna("").astype(str).str.strip().eq("").to_numpy(dtype=bool)
    keys, first, vote = np.unique(of, return_index=True, return_inverse=True)
    differ = (checked.labels[rows] != checked.labels[rows[first[vote.reshape(-1)]]]).any(axis=1)
    some_blank = np.bincount(vote.reshape(-1), weights=blank, minlength=len(keys)) > 0
    all_equal = np.bincount(vote.reshape(-1), weights=differ, minlength=len(keys)) == 0
    undecided: Mask = (some_blank & all_equal)[vote.reshape(-1)]
    return undecided


def read_times(column: pd.Series[Any]) -> pd.Series[Any]:
    """Read dates and times as UTC, those without a zone included; a missing time where a cell cannot be read.

    Args:
        column: ISO 8601 text or times.
    """
    import pandas as pd

    if not pd.api.types.is_datetime64_any_dtype(column):
        # a bare number could count seconds or days since anything
        column = column.map(lambda cell: cell if isinstance(cell, str | date) else None).astype(object)
    times: pd.Series[Any] = pd.to_datetime(column, utc=True, format="ISO8601", errors="coerce")
    naive: pd.Series[Any] = times.dt.tz_localize(None).astype("datetime64[us]")
    return naive
