"""How likely the expected label wins a vote: exactly, for any number of voters drawn from a document's ballots.

K voters are drawn with replacement; the label with the most votes wins, a tie is broken by lot. With c votes for the
expected label every other label has fewer, or ties with it. Counting all draws in which that is so is a product of
truncated exponential series, one per label; a tie with t others wins 1 time in t + 1, which is the integral of y^t from
0 to 1, so a few Gauss-Legendre points in y count every kind of tie exactly. From c > K / 2 on nothing can stand
against it and the count is binomial. All terms are positive, so nothing cancels.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dojo_kit.stats.intervals import Array

EXACT_UP_TO = 64
"""Voters up to which the probability is exact; beyond it is simulated."""

N_SIMULATIONS = 4_000
"""Committees drawn per distinct ballot beyond `EXACT_UP_TO` voters."""


def win_probability(
    counts: NDArray[np.int64], expected: NDArray[np.intp], k: int, *, seed: int = 42, n_sim: int = N_SIMULATIONS
) -> Array:
    """Probability that a committee of k voters picks the expected label.

    Args:
        counts: Votes for each label, shape (documents, labels); every document has at least one.
        expected: Position of each document's expected label, shape (documents,).
        k: Voters, at least 1.
        seed: Seed of the simulation beyond `EXACT_UP_TO` voters.
        n_sim: Committees drawn per distinct ballot there.

    Returns:
        Shape (documents,).

    Raises:
        ValueError: k is below 1.

    Examples:
        >>> ballots = np.array([[2, 1], [1, 1]])
        >>> win_probability(ballots, np.array([0, 0]), 3).round(4).tolist()
        [0.7407, 0.5]
    """
    if k < 1:
        raise ValueError(f"a committee needs at least 1 voter, not {k}")
    ballots, of_document = _distinct(counts, expected)
    shares = ballots / ballots.sum(axis=1, keepdims=True)
    if k == 1:
        return np.asarray(shares[of_document, 0], dtype=float)
    found = shares[:, 0].copy()
    open_ = (found > 0) & (found < 1)
    if open_.any():
        found[open_] = _exact(shares[open_], k) if k <= EXACT_UP_TO else _simulated(shares[open_], k, seed, n_sim)
    return np.asarray(found[of_document], dtype=float)


def plurality_limit(counts: NDArray[np.int64], expected: NDArray[np.intp]) -> Array:
    """Probability that the expected label wins as the number of voters grows without bound.

    1 where it has the most votes, 1 / t where t labels share the most, else 0.

    Args:
        counts: Votes for each label, shape (documents, labels).
        expected: Position of each document's expected label, shape (documents,).

    Examples:
        >>> plurality_limit(np.array([[2, 1], [1, 1], [0, 3]]), np.array([0, 0, 0])).tolist()
        [1.0, 0.5, 0.0]
    """
    most = counts.max(axis=1)
    on_top = counts == most[:, None]
    wins = np.take_along_axis(on_top, expected[:, None], axis=1)[:, 0]
    return np.where(wins, 1.0 / on_top.sum(axis=1), 0.0)


def _distinct(counts: NDArray[np.int64], expected: NDArray[np.intp]) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """Return distinct ballots, the expected label first and the others in falling order, and each document's."""
    rows = np.arange(len(counts))
    others = counts.copy()
    others[rows, expected] = 0
    others = -np.sort(-others, axis=1)[:, : max(1, counts.shape[1] - 1)]
    others = others[:, : max(1, int((others > 0).sum(axis=1).max(initial=0)))]
    ballots, of_document = np.unique(np.column_stack([counts[rows, expected], others]), axis=0, return_inverse=True)
    return ballots, of_document.reshape(-1)


def _exact(shares: Array, k: int) -> Array:
    """Sum over how many votes the expected label gets; shares of shape (ballots, labels), the expected one first."""
    right, others = shares[:, 0], shares[:, 1:]
    total = np.zeros(len(shares))
    for c in range(1, k + 1):
        rest = k - c
        if c > rest:
            total += math.comb(k, c) * right**c * (1 - right) ** rest
        else:
            ways = math.factorial(k) / math.factorial(c)
            total += ways * right**c * _beaten(others, c, rest)
    return np.minimum(total, 1.0)


def _beaten(others: Array, c: int, rest: int) -> Array:
    """Weight of all ways to deal the remaining votes so that no other label gets more than c, ties counted by lot."""
    most_ties = min(others.shape[1], rest // c)
    points, weights = np.polynomial.legendre.leggauss(most_ties // 2 + 1)
    ties, weights = (points + 1) / 2, weights / 2
    product = np.zeros((rest + 1, len(others), len(ties)))
    product[0] = 1.0
    for label in range(others.shape[1]):
        share = others[:, label, None]
        grown = product.copy()
        term = np.ones_like(share)
        for votes in range(1, c + 1):
            term = term * share / votes
            grown[votes:] += product[: rest + 1 - votes] * (term * ties if votes == c else term)
        product = grown
    return np.asarray(product[rest] @ weights, dtype=float)


def _simulated(shares: Array, k: int, seed: int, n_sim: int) -> Array:
    rng = np.random.default_rng(seed)
    found = np.empty(len(shares))
    for row, ballot in enumerate(shares):
        drawn = rng.multinomial(k, ballot / ballot.sum(), size=n_sim)
        on_top = drawn == drawn.max(axis=1, keepdims=True)
        found[row] = (on_top[:, 0] / on_top.sum(axis=1)).mean()
    return found
