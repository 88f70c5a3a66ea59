"""The nearest item of each label of a list: how similar, how much is covered, where both stand in the document."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from dojo_kit.scoring.evidence import Evidence
from dojo_kit.scoring.similarity import Similarities

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
    if similarity is None or similarity < NEAR:
        return "missed"
    return "taken" if similarity >= threshold else "near"


def span_places(
    label: str, item: str | None, evidence: Evidence
) -> tuple[str | None, str | None, str | None, float | None]:
    """Find a label and its nearest item in the document.

    Args:
        label: The label.
        item: Its nearest item, if any.
        evidence: The document.

    Returns:
        Character ranges of the label and of the item as JSON ([[start, end], ...]), how the label was found
        (exact, approximate, none), and the share of the label's characters that the item's ranges cover (None
        where one of the two was not found).
    """
    label_places = evidence.places(label)
    if label_places is None:
        return None, None, None, None
    item_places = None if item is None else evidence.places(item)
    item_ranges = () if item_places is None else item_places.ranges
    overlap = None
    if label_places.ranges and item_ranges:
        overlap = place_overlap(label_places.ranges, item_ranges, in_pieces=label_places.in_pieces)
    item_at = None if item_places is None else _as_json(item_ranges)
    return _as_json(label_places.ranges), item_at, label_places.how, overlap


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
