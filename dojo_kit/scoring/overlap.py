"""How many words every label shares with every item.

Token overlaps are computed for all texts of a document at once: texts become rows of token-count matrices, and a
multiset intersection is the sum over k of the products of the 0/1 matrices "token occurs at least k times".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import chain, count, repeat

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


class TokenOverlap:
    """Token overlaps of every row text with every column text; all matrices are (rows, columns).

    Only words of the row texts are counted, since no other word can be shared.

    Args:
        rows: Tokens of the row texts, usually labels.
        columns: Tokens of the column texts, usually items.

    Examples:
        >>> overlap = TokenOverlap([("a", "a", "b")], [("a", "b", "b", "c")])
        >>> overlap.common, overlap.shared
        (array([[2.]]), array([[2.]]))
    """

    def __init__(self, rows: Sequence[Sequence[str]], columns: Sequence[Sequence[str]]) -> None:
        words = dict(zip(dict.fromkeys(chain.from_iterable(rows)), count(), strict=False))
        self._row_counts, self.row_lengths = _count_words(rows, words)
        self._column_counts, self.column_lengths = _count_words(columns, words)
        self.row_distinct = (self._row_counts > 0).sum(axis=1)
        self.column_distinct = np.array([len(set(text)) for text in columns], dtype=np.int64)

    @cached_property
    def shared(self) -> Matrix:
        """Distinct tokens shared."""
        return _product(self._row_counts > 0, self._column_counts > 0)

    @cached_property
    def common(self) -> Matrix:
        """Size of the multiset intersection."""
        total = self.shared.copy()
        rows, columns = self._row_counts, self._column_counts
        k = 2
        while True:
            both = (rows >= k).any(axis=0) & (columns >= k).any(axis=0)
            if not both.any():
                return total
            rows, columns = rows[:, both], columns[:, both]
            total += _product(rows >= k, columns >= k)
            k += 1

    @cached_property
    def f1(self) -> Matrix:
        """Token F1; 1 for two empty texts."""
        sizes = self.row_lengths[:, None] + self.column_lengths[None, :]
        f1: Matrix = np.where(sizes == 0, 1.0, 2 * self.common / np.maximum(sizes, 1))
        return f1

    @cached_property
    def coverage(self) -> Matrix:
        """Share of the row text's distinct tokens that occur in the column text; 0 for an empty row text."""
        coverage: Matrix = self.shared / np.maximum(self.row_distinct, 1)[:, None]
        return coverage

    @cached_property
    def precision(self) -> Matrix:
        """Share of the column text's distinct tokens that occur in the row text; 0 for an empty column text."""
        precision: Matrix = self.shared / np.maximum(self.column_distinct, 1)[None, :]
        return precision

    def union_coverage(self, rows: slice, columns: slice) -> NDArray[np.float64]:
        """Share of each row text's distinct tokens that occur in any of the column texts."""
        anywhere = (self._column_counts[columns] > 0).any(axis=0)
        covered = (self._row_counts[rows][:, anywhere] > 0).sum(axis=1)
        return np.asarray(covered / np.maximum(self.row_distinct[rows], 1), dtype=float)


def _count_words(
    texts: Sequence[Sequence[str]], words: Mapping[str, int]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Count the known words of each text, shape (texts, words), and all words of each text."""
    lengths = np.array([len(text) for text in texts], dtype=np.int64)
    flat = map(words.get, chain.from_iterable(texts), repeat(-1))
    ids = np.fromiter(flat, dtype=np.int64, count=int(lengths.sum()))
    cells = (np.repeat(np.arange(len(texts)) * len(words), lengths) + ids)[ids >= 0]
    counts = np.bincount(cells, minlength=len(texts) * len(words)).astype(np.int32)
    return counts.reshape(len(texts), len(words)), lengths


def _product(rows: NDArray[np.bool_], columns: NDArray[np.bool_]) -> Matrix:
    # float32 counts exactly up to 2**24 and lets BLAS do the work.
    return (rows.astype(np.float32) @ columns.astype(np.float32).T).astype(float)
