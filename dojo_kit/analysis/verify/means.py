"""Means over the rows of a record, each over the rows that hold the value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean

from dojo_kit.analysis.verify.ledger import Table, Unknown
from dojo_kit.analysis.verify.reading import Node


def values_of(rows: Iterable[Node], key: str) -> tuple[float, ...]:
    """Read a number of every row that holds it, in row order."""
    return tuple(value for row in rows if (value := row.number(key)) is not None)


def flags_of(rows: Iterable[Node], key: str) -> tuple[float, ...]:
    """Read a flag of every row that holds it as 0 or 1, in row order."""
    return tuple(float(value) for row in rows if (value := row.flag(key)) is not None)


def mean_of(rows: Sequence[Node], key: str) -> float | Unknown | None:
    """Average a number over the rows that hold it; None without any value."""
    return _mean(rows, key, values_of(rows, key))


def share_of(rows: Sequence[Node], key: str) -> float | Unknown | None:
    """Share of rows whose flag is set among those that hold it; None without any."""
    return _mean(rows, key, flags_of(rows, key))


def _mean(rows: Sequence[Node], key: str, values: Sequence[float]) -> float | Unknown | None:
    if rows and not any(key in row.data for row in rows):
        return Unknown(f"no completed row carries {key}")
    return fmean(values) if values else None


def accuracy_by(rows: Iterable[Node], label: str, flag: str) -> dict[str, list[float]]:
    """Group a flag by a label, over the rows that hold both.

    Args:
        rows: Rows.
        label: Key of the label to group by.
        flag: Key of the flag.

    Returns:
        Label -> flags as 0 and 1, in order of first appearance.
    """
    groups: dict[str, list[float]] = {}
    for row in rows:
        group, value = row.text(label), row.flag(flag)
        if group is not None and value is not None:
            groups.setdefault(group, []).append(float(value))
    return groups


def confusion(rows: Iterable[Node], expected: str, predicted: str) -> Table:
    """Count predicted labels per expected label; rows without an expected label take no part.

    A missing prediction is counted under ``None``, as published.
    """
    counts: dict[str, dict[str, int]] = {}
    for row in rows:
        true = row.text(expected)
        if true is not None:
            cells = counts.setdefault(true, Table())
            guess = str(row.text(predicted))
            cells[guess] = cells.get(guess, 0) + 1
    return Table(counts)
