"""Similarity of every item of a list to every label, and how much of each is covered by the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dojo_kit.scoring.elements import element_scores
from dojo_kit.scoring.overlap import Matrix, TokenOverlap
from dojo_kit.settings import Settings
from dojo_kit.text.tokens import tokens


@dataclass(frozen=True, slots=True)
class Similarities:
    """Label by item similarities of one list.

    Attributes:
        score: What the assignment reads, shape (labels, items).
        coverage: Share of the label's distinct tokens that occur in the item.
        precision: Share of the item's distinct tokens that occur in the label.
        longer: Whether the item has more tokens than the label.
        union_coverage: Share of the label's distinct tokens that occur in any item, shape (labels,).
    """

    score: Matrix
    coverage: Matrix
    precision: Matrix
    longer: NDArray[np.bool_]
    union_coverage: NDArray[np.float64]


def compare_lists(labels: Sequence[str], items: Sequence[str], element: str, settings: Settings) -> Similarities:
    """Compare every label with every item as values of the element type.

    Args:
        labels: Labels.
        items: Predicted items.
        element: Scalar type they are compared as.
        settings: Settings.
    """
    overlap = TokenOverlap([tokens(label) for label in labels], [tokens(item) for item in items])
    return compare_texts(overlap, slice(None), slice(None), labels, items, element, settings)


def compare_texts(
    overlap: TokenOverlap,
    rows: slice,
    columns: slice,
    labels: Sequence[str],
    items: Sequence[str],
    element: str,
    settings: Settings,
) -> Similarities:
    """Compare labels with items whose overlaps are already known.

    Args:
        overlap: Overlaps of labels with items.
        rows: Where the labels stand in it.
        columns: Where the items stand in it.
        labels: Labels.
        items: Predicted items.
        element: Scalar type they are compared as.
        settings: Settings.
    """
    score = overlap.f1[rows, columns] if element == "free_text" else element_scores(element, labels, items, settings)
    return Similarities(
        score,
        overlap.coverage[rows, columns],
        overlap.precision[rows, columns],
        overlap.column_lengths[columns][None, :] > overlap.row_lengths[rows][:, None],
        overlap.union_coverage(rows, columns),
    )
