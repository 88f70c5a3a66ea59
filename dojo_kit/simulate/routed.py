"""Committees whose least sure documents go to a stronger model: sums to look up for every share and accuracy.

For every committee size there are the sums over the documents that are *not* escalated, one for each share, so that the
accuracy at any place is ``(kept + escalated * a) / n`` for a stronger model of accuracy a. Intervals resample documents
in the order of their keys, as `dojo_kit.simulate.escalation` does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dojo_kit.simulate.committee import Committee
from dojo_kit.simulate.escalation import document_confidence, n_escalated
from dojo_kit.stats.intervals import Array, Bootstrap


@dataclass(frozen=True, slots=True)
class RoutedSize:
    """Sums of one committee size.

    Attributes:
        k: Votes a document.
        kept: Sum of present accuracies over documents that are not escalated, shape (shares,).
        lo: Lower ends of the accuracy's interval, shape (shares, assumed accuracies).
        hi: Upper ends.
        real: Accuracy with the stronger model's real answers, shape (shares,); None without them.
        real_lo: Lower ends of its interval.
        real_hi: Upper ends.
    """

    k: int
    kept: Array
    lo: Array
    hi: Array
    real: Array | None = None
    real_lo: Array | None = None
    real_hi: Array | None = None


@dataclass(frozen=True, slots=True)
class RoutedSums:
    """Sums of every committee size of one pool.

    Attributes:
        n: Documents.
        escalated: Documents escalated, shape (shares,).
        sizes: One entry per committee size.
        stronger_tail: Accuracy of the stronger model on what it gets, by share, None where it answered none of it; None
            without a stronger model.
    """

    n: int
    escalated: tuple[int, ...]
    sizes: tuple[RoutedSize, ...]
    stronger_tail: tuple[float | None, ...] | None


def routed_sums(
    found: Committee,
    *,
    shares: Sequence[float],
    assumed: Sequence[float],
    answers: Mapping[str, float] | None = None,
    bootstrap: Bootstrap | None = None,
) -> RoutedSums:
    """Sum what stays with committees when the least sure documents are escalated.

    Args:
        found: Committees of one pool.
        shares: Shares of documents that are escalated.
        assumed: Accuracies of a stronger model for which there are intervals.
        answers: Document key -> whether the stronger model is right; a document without keeps the present answer.
        bootstrap: The resampling of documents.
    """
    votes = found.votes
    order = np.argsort(document_confidence(votes), kind="stable")
    taken = [n_escalated(share, len(votes)) for share in shares]
    is_kept = np.arange(len(votes))[:, None] >= np.array(taken)[None, :]
    given = None if answers is None else np.array([answers.get(key, np.nan) for key in votes.keys], dtype=float)
    # what is drawn is in the order of keys, what is summed in the order of confidence
    routing = _Routing(is_kept[np.argsort(order, kind="stable")], given, tuple(assumed), bootstrap or Bootstrap())
    sizes = (routing.size(size.k, found.probabilities[:, column]) for column, size in enumerate(found.rows))
    return RoutedSums(len(votes), tuple(taken), tuple(sizes), routing.stronger_tail())


@dataclass(frozen=True)
class _Routing:
    """Which documents are kept, shape (documents, shares), and what the others get."""

    kept: NDArray[np.bool_]
    answers: Array | None
    assumed: tuple[float, ...]
    bootstrap: Bootstrap

    def size(self, k: int, present: Array) -> RoutedSize:
        """Sum one committee size, given each document's chance of being right."""
        values = np.where(self.kept, present[:, None], 0.0)
        lo, hi = self._bounds(np.hstack([values, ~self.kept]), len(present))
        sums = RoutedSize(k, values.sum(axis=0), lo, hi)
        if self.answers is None:
            return sums
        answered = np.where(np.isnan(self.answers), present, self.answers)
        real = np.where(self.kept, present[:, None], answered[:, None])
        ends = self._quantiles(self.bootstrap.resampled_sums(real)[1] / len(present))
        return RoutedSize(k, sums.kept, lo, hi, real.mean(axis=0), ends[0], ends[1])

    def _bounds(self, rows: Array, n: int) -> tuple[Array, Array]:
        present, escalated = np.hsplit(self.bootstrap.resampled_sums(rows.astype(float))[1], 2)
        ends = np.array([self._quantiles((present + accuracy * escalated) / n) for accuracy in self.assumed])
        return ends[:, 0].T, ends[:, 1].T

    def _quantiles(self, replicates: Array) -> Array:
        tail = (1 - self.bootstrap.confidence) / 2
        return np.asarray(np.quantile(replicates, [tail, 1 - tail], axis=0, method="linear"))

    def stronger_tail(self) -> tuple[float | None, ...] | None:
        """Average the stronger model's answers on what it gets."""
        answers = self.answers
        if answers is None:
            return None
        means = (answers[~column & ~np.isnan(answers)] for column in self.kept.T)
        return tuple(float(known.mean()) if len(known) else None for known in means)
