"""Similarity of every item to every label of a list.

Token overlaps are computed for all texts of a document at once: texts become rows of a token-count matrix, and
a multiset intersection is the sum over k of the products of the 0/1 matrices "token occurs at least k times".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, count

import numpy as np
from numpy.typing import NDArray

from dojo_kit.scoring.rules import RULES, Pair
from dojo_kit.settings import Settings
from dojo_kit.text.tokens import tokens

Matrix = NDArray[np.float64]


class TokenCounts:
    """Token counts of some texts, and the overlaps between any two of them.

    All matrices are (texts, texts); callers slice out the rows and columns they mean.

    Args:
        texts: The texts' tokens.

    Examples:
        >>> counts = TokenCounts([("a", "a", "b"), ("a", "b", "b")])
        >>> float(counts.common[0, 1]), float(counts.shared[0, 1])
        (2.0, 2.0)
    """

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        self.lengths = np.array([len(text) for text in texts], dtype=np.int64)
        flat = list(chain.from_iterable(texts))
        index = dict(zip(dict.fromkeys(flat), count(), strict=False))
        ids = np.fromiter(map(index.__getitem__, flat), dtype=np.int64, count=len(flat))
        width = max(1, len(index))
        cells = np.repeat(np.arange(len(texts)) * width, self.lengths) + ids
        counts = np.bincount(cells, minlength=len(texts) * width).astype(np.int32)
        self._counts = counts.reshape(len(texts), width)

    @cached_property
    def _present(self) -> NDArray[np.float32]:
        return (self._counts > 0).astype(np.float32)

    @cached_property
    def distinct(self) -> NDArray[np.int64]:
        """Distinct tokens of each text."""
        return np.asarray((self._counts > 0).sum(axis=1))

    @cached_property
    def shared(self) -> Matrix:
        """Distinct tokens each text shares with each."""
        return (self._present @ self._present.T).astype(float)

    @cached_property
    def common(self) -> Matrix:
        """Size of the multiset intersection of each text with each."""
        total = self.shared.copy()
        repeated = self._counts[:, (self._counts > 1).sum(axis=0) > 1]
        k = 2
        while repeated.shape[1]:
            level = (repeated >= k).astype(np.float32)
            total += level @ level.T
            repeated = repeated[:, (repeated > k).sum(axis=0) > 1]
            k += 1
        return total

    @cached_property
    def f1(self) -> Matrix:
        """Token F1 of each text with each; 1 for two empty texts."""
        sizes = self.lengths[:, None] + self.lengths[None, :]
        return np.where(sizes == 0, 1.0, 2 * self.common / np.maximum(sizes, 1))

    @cached_property
    def coverage(self) -> Matrix:
        """Share of the row text's distinct tokens that occur in the column text; 0 for an empty row text."""
        return self.shared / np.maximum(self.distinct, 1)[:, None]

    def union_coverage(self, rows: slice, columns: slice) -> NDArray[np.float64]:
        """Share of each row text's distinct tokens that occur in any of the column texts."""
        anywhere = self._present[columns].max(axis=0, initial=0.0)
        return np.asarray(self._present[rows] @ anywhere / np.maximum(self.distinct[rows], 1), dtype=float)


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
    n = len(labels)
    counts = TokenCounts([tokens(text) for text in (*labels, *items)])
    return compare_texts(counts, slice(0, n), slice(n, None), labels, items, element, settings)


def compare_texts(
    counts: TokenCounts,
    rows: slice,
    columns: slice,
    labels: Sequence[str],
    items: Sequence[str],
    element: str,
    settings: Settings,
) -> Similarities:
    """Compare labels with items whose tokens are already counted.

    Args:
        counts: Counts of all texts.
        rows: Where the labels stand in them.
        columns: Where the items stand in them.
        labels: Labels.
        items: Predicted items.
        element: Scalar type they are compared as.
        settings: Settings.
    """
    score = counts.f1[rows, columns] if element == "free_text" else _pairwise(labels, items, element, settings)
    return Similarities(
        score,
        counts.coverage[rows, columns],
        counts.coverage[columns, rows].T,
        counts.lengths[columns][None, :] > counts.lengths[rows][:, None],
        counts.union_coverage(rows, columns),
    )


def _pairwise(labels: Sequence[str], items: Sequence[str], element: str, settings: Settings) -> Matrix:
    score = np.zeros((len(labels), len(items)))
    for row, label in enumerate(labels):
        for column, item in enumerate(items):
            score[row, column] = element_score(element, item, label, settings)
    return score


def element_score(element: str, item: str, label: str, settings: Settings) -> float:
    """Score one item against one label; dates match only when equal.

    Examples:
        >>> from dojo_kit.settings import Settings
        >>> element_score("date", "2024-03-04", "March 3, 2024", Settings())
        0.0
    """
    scoring = settings.field_scoring
    pair = Pair(item, label, scoring.day_first, scoring.two_digit_year_pivot)
    for rule in RULES[element].values():
        score = rule(pair)
        if score is not None:
            return score if element != "date" or score == 1.0 else 0.0
    raise AssertionError(f"no rule of {element} decided")
