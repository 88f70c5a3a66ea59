"""Similarity of every item of a list to every label, and how much of each is covered by the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dojo_kit.scoring.elements import element_scores
from dojo_kit.scoring.embedding import RESCUED_KINDS, rescue_pairs
from dojo_kit.scoring.evidence import Evidence
from dojo_kit.scoring.overlap import Matrix, TokenOverlap
from dojo_kit.scoring.roles import is_only_roles
from dojo_kit.settings import Settings
from dojo_kit.text.tokens import is_negated, tokens


@dataclass(frozen=True, slots=True)
class Similarities:
    """Label by item similarities of one list.

    Attributes:
        score: What the assignment reads, shape (labels, items): the string similarity, rescued where allowed.
        string: Similarity by words alone.
        cosine: Cosine of the pairs that were asked for, NaN for others; None without an embedder.
        coverage: Share of the label's distinct tokens that occur in the item.
        precision: Share of the item's distinct tokens that occur in the label.
        longer: Whether the item has more tokens than the label.
        union_coverage: Share of the label's distinct tokens that occur in any item, shape (labels,).
    """

    score: Matrix
    string: Matrix
    cosine: NDArray[np.floating] | None
    coverage: Matrix
    precision: Matrix
    longer: NDArray[np.bool_]
    union_coverage: NDArray[np.float64]

    @property
    def unrescued(self) -> Similarities:
        """The same without the embedding rescue."""
        return replace(self, score=self.string)


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
    string = overlap.f1[rows, columns] if element == "free_text" else element_scores(element, labels, items, settings)
    return Similarities(
        string,
        string,
        None,
        overlap.coverage[rows, columns],
        overlap.precision[rows, columns],
        overlap.column_lengths[columns][None, :] > overlap.row_lengths[rows][:, None],
        overlap.union_coverage(rows, columns),
    )


def rescued(
    found: Similarities, labels: Sequence[str], items: Sequence[str], element: str, evidence: Evidence, *, below: float
) -> Similarities:
    """Lift pairs whose words differ to their cosine, where the element type and the texts allow it.

    Args:
        found: Similarities by words.
        labels: Labels.
        items: Predicted items.
        element: Scalar type they are compared as.
        evidence: Gives cosines, or says that there are none.
        below: String similarity from which a pair stands as it is.
    """
    if element not in RESCUED_KINDS or not evidence.has_vectors:
        return found
    wanted = found.string < below
    wanted[[is_only_roles(label) for label in labels]] &= element != "name"
    if element == "name":
        negated = [np.array([is_negated(tokens(text), text) for text in side]) for side in (labels, items)]
        wanted &= negated[0][:, None] == negated[1][None, :]
    cosines = evidence.cosines(labels, items, wanted)
    if cosines is None:
        return found
    return replace(found, score=rescue_pairs(found.string, cosines, below=below), cosine=cosines)
