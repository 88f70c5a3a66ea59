"""The nearest item of each label of a list: how similar, how much is covered, where both stand in the document."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any

import numpy as np

from dojo_kit.scoring.evidence import Evidence
from dojo_kit.scoring.similarity import Similarities
from dojo_kit.text.locate import Places

NEAR = 0.35
"""Similarity from which an unmatched span is called near rather than missed."""

Ranges = Sequence[tuple[int, int]]


class Nearest:
    """Per label of a list, as lists in label order; None everywhere without items.

    Args:
        found: Similarities; None when there are no items.
        n: Labels.
    """

    def __init__(self, found: Similarities | None, n: int) -> None:
        nothing: list[Any] = [None] * n
        self.item = self.similarity = self.string = self.coverage = self.precision = nothing
        self.longer_item = self.longer_coverage = self.union = nothing
        self.covering_item = self.best_coverage = nothing
        if found is None:
            return
        rows = np.arange(n)
        # Among equally similar items the one that covers more of the label is the nearest.
        item = np.argmax(found.score + 1e-9 * found.coverage, axis=1)
        self.item = item.tolist()
        self.similarity = found.score[rows, item].tolist()
        self.string = found.string.max(axis=1).tolist()
        self.coverage = found.coverage[rows, item].tolist()
        self.precision = found.precision[rows, item].tolist()
        self.union = found.union_coverage.tolist()
        covering = np.argmax(found.coverage + 1e-9 * found.string, axis=1)
        self.covering_item = covering.tolist()
        self.best_coverage = found.coverage[rows, covering].tolist()
        among_longer = np.where(found.longer, found.coverage, -1.0)
        longest = among_longer.argmax(axis=1)
        reached = among_longer[rows, longest]
        self.longer_item = [int(i) if c >= 0 else None for i, c in zip(longest, reached, strict=True)]
        self.longer_coverage = [float(c) if c >= 0 else None for c in reached]


def span_status(matched: bool, similarity: float | None, threshold: float) -> str:
    """Name what became of a label: matched, taken, near or missed.

    Args:
        matched: Whether it counts as found.
        similarity: Similarity of its nearest item; None without items.
        threshold: Similarity from which a pair may match; an unmatched label above it lost its item to another.

    Examples:
        >>> span_status(False, 0.4, 0.6), span_status(False, 0.7, 0.6), span_status(False, None, 0.6)
        ('near', 'taken', 'missed')
    """
    if matched:
        return "matched"
    if similarity is None:
        return "missed"
    if similarity >= threshold:
        return "taken"
    return "near" if similarity >= NEAR else "missed"


class ListPlaces:
    """Where the items of a list stand in the document, and which of them stands where a label does.

    Args:
        items: Predicted items.
        evidence: The document, or nothing known of it.
    """

    def __init__(self, items: Sequence[str], evidence: Evidence) -> None:
        self._evidence = evidence
        found = [evidence.places(item) for item in items]
        self.places = [place for place in found if place is not None]
        ranges = [(start, end, i) for i, place in enumerate(self.places) for start, end in place.ranges]
        self._starts, self._ends, self._owners = np.array(ranges, dtype=np.int64).reshape(-1, 3).T
        self._joined = _merged([(start, end) for start, end, _ in ranges])
        self._joined_starts = [start for start, _ in self._joined]

    def item(self, index: int) -> tuple[str | None, str | None, bool | None]:
        """Return an item's ranges as JSON, how it was found (exact, approximate, none), and whether in pieces."""
        if not self.places:
            return None, None, None
        place = self.places[index]
        return _as_json(place.ranges), place.how, place.in_pieces

    def of_label(self, label: str, item: int | None) -> tuple[Any, ...]:
        """Find a label in the document and what stands there.

        Args:
            label: The label.
            item: The item that pays for it or is nearest to it, if any.

        Returns:
            Character ranges of the label and of that item as JSON ([[start, end], ...]); how the label was found
            (exact, approximate, none), and whether in pieces; the share of the label's characters that the item
            covers (None where one of the two was not found); the item that covers most of them (None when none does)
            and its share; the share that all items cover together.
        """
        place = self._evidence.places(label)
        if place is None:
            return (None,) * 8
        item_ranges: Ranges = () if item is None else self.places[item].ranges
        item_at = None if item is None else _as_json(item_ranges)
        overlap = here = here_overlap = covered = None
        if place.ranges:
            if item_ranges:
                overlap = place_overlap(place.ranges, item_ranges, in_pieces=place.in_pieces)
            here, here_overlap = self._here(place)
            covered = here_overlap and place_overlap(place.ranges, self._near(place), in_pieces=place.in_pieces)
        return _as_json(place.ranges), item_at, place.how, place.in_pieces, overlap, here, here_overlap, covered

    def _near(self, label: Places) -> list[tuple[int, int]]:
        """Return the joined places of items from the first to the last range of a label."""
        first = max(0, bisect_right(self._joined_starts, label.ranges[0][0]) - 1)
        return self._joined[first : bisect_left(self._joined_starts, max(end for _, end in label.ranges))]

    def _here(self, label: Places) -> tuple[int | None, float]:
        touching = np.zeros(len(self._owners), dtype=bool)
        for start, end in label.ranges:
            touching |= (self._starts < end) & (self._ends > start)
        best, share = None, 0.0
        for index in sorted(set(self._owners[touching].tolist())):
            overlap = place_overlap(label.ranges, self.places[index].ranges, in_pieces=label.in_pieces)
            if overlap > share:
                best, share = index, overlap
        return best, share


def _merged(ranges: Ranges) -> list[tuple[int, int]]:
    """Join ranges that overlap, in order."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def place_overlap(label: Ranges, item: Ranges, *, in_pieces: bool = False) -> float:
    """Return the share of the label's characters that the item covers.

    Args:
        label: Where the label stands: one range per occurrence, of which the best covered counts, or the pieces of
            one occurrence, which count together.
        item: Where the item stands.
        in_pieces: The label's ranges are pieces.

    Examples:
        >>> place_overlap([(0, 10), (50, 60)], [(55, 80)])
        0.5
        >>> place_overlap([(0, 10), (50, 60)], [(55, 80)], in_pieces=True)
        0.25
    """
    covered = [
        sum(max(0, min(end, stop) - max(start, first)) for first, stop in item) / (end - start) for start, end in label
    ]
    if not in_pieces:
        return max(covered)
    lengths = [end - start for start, end in label]
    return sum(share * length for share, length in zip(covered, lengths, strict=True)) / sum(lengths)


def _as_json(ranges: Ranges) -> str:
    return json.dumps([list(span) for span in ranges])
