"""How a document's votes are spread, and the published ways to draw from them.

The published stream is Python's ``random.Random``; a committee is drawn by ``choices`` with the shares as weights, then
one of the labels on top by ``choice``, also when there is only one.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import ArrayLike

from dojo_kit.stats.intervals import Array, divide
from dojo_kit.stats.legacy import legacy_means

MARGIN_WEIGHT, AGREEMENT_WEIGHT, SIGNAL_WEIGHT = 0.5, 0.3, 0.1
"""What the lead of the first label, the agreement of the votes, and the absence of each sign of doubt add up from."""


def normalize_dist(votes: Mapping[str, float]) -> dict[str, float]:
    """Divide weights by their total, in the same order; empty when the total is not positive.

    Examples:
        >>> normalize_dist({"license": 3, "supply": 1}), normalize_dist({})
        ({'license': 0.75, 'supply': 0.25}, {})
    """
    total = sum(votes.values())
    return {label: weight / total for label, weight in votes.items()} if total > 0 else {}


def shannon_entropy(dist: Mapping[str, float], *, normalized: bool = True) -> float:
    """Return the entropy in bits, of the largest that this many labels can have when normalised; at most 1.

    Examples:
        >>> shannon_entropy({"a": 0.5, "b": 0.5}), shannon_entropy({"a": 1.0}), shannon_entropy({})
        (1.0, 0.0, 0.0)
    """
    return float(entropies(np.array([list(dist.values())], dtype=float), normalized=normalized)[0]) if dist else 0.0


def majority_margin(dist: Mapping[str, float]) -> float:
    """Return how far the largest share is ahead of the second.

    Examples:
        >>> majority_margin({"a": 0.75, "b": 0.25}), majority_margin({"a": 1.0}), majority_margin({})
        (0.5, 1.0, 0.0)
    """
    first, second = (*sorted(dist.values(), reverse=True), 0.0, 0.0)[:2]
    return first - second


def entropies(shares: Array, *, normalized: bool = True) -> Array:
    """Return the entropy of every row of shares, shape (n, labels); see `shannon_entropy`."""
    positive = shares > 0
    bits = np.where(positive, -shares * np.log2(np.where(positive, shares, 1.0)), 0.0).sum(axis=1)
    if normalized:
        bits = np.nan_to_num(divide(bits, np.log2(np.maximum(1, positive.sum(axis=1)))))
    return np.asarray(np.clip(bits, 0.0, 1.0), dtype=float)


def margins(shares: Array) -> Array:
    """Return how far the first label of every row is ahead of the second, shape (n,)."""
    if shares.shape[1] == 1:
        return np.asarray(shares[:, 0], dtype=float)
    top = np.partition(shares, -2, axis=1)[:, -2:]
    return np.asarray(top[:, 1] - top[:, 0], dtype=float)


def confidence_score(dist: Mapping[str, float], *, near_miss: float = 0.0, unsure: float = 0.0) -> float:
    """Return how sure a document's votes look, from 0 to 1.

    Half the margin, three tenths of one minus the entropy, and a tenth for the absence of each sign of doubt.

    Args:
        dist: Share of each label.
        near_miss: Share of the traces that name another label, or whether any does.
        unsure: Share of the traces with a phrase of doubt, or whether any has one.

    Examples:
        >>> confidence_score({"a": 1.0}), confidence_score({"a": 1.0}, near_miss=True, unsure=True)
        (1.0, 0.8)
    """
    shares = np.array([list(dist.values()) or [0.0]], dtype=float)
    return float(confidence_scores(shares, np.array([near_miss]), np.array([unsure]))[0])


def confidence_scores(shares: Array, near_miss: ArrayLike, unsure: ArrayLike) -> Array:
    """Return `confidence_score` of every row of shares, shape (n,)."""
    signals = (1 - np.asarray(near_miss, dtype=float)) + (1 - np.asarray(unsure, dtype=float))
    score = MARGIN_WEIGHT * margins(shares) + AGREEMENT_WEIGHT * (1 - entropies(shares)) + SIGNAL_WEIGHT * signals
    return np.asarray(np.clip(score, 0.0, 1.0), dtype=float)


def draw_committee(dist: Mapping[str, float], k: int, rng: random.Random) -> str:
    """Draw k labels in proportion to their shares and return the winner, as published.

    Args:
        dist: Share of each label, in the order of their first vote.
        k: Voters.
        rng: The stream; the choice among the labels on top advances it also when there is one.

    Examples:
        >>> draw_committee({"license": 0.75, "supply": 0.25}, 3, random.Random(42))
        'license'
        >>> draw_committee({}, 3, random.Random(42))
        ''
    """
    if not dist or k < 1:
        return ""
    return _winner(list(dist), list(accumulate(dist.values())), k, rng)


def committee_wins(
    labels: Sequence[str], shares: Sequence[float], expected: str, k: int, *, n_sim: int, rng: random.Random
) -> float:
    """Return the share of published committees that the expected label wins.

    Args:
        labels: Labels in the order of their first vote.
        shares: Their shares.
        expected: The expected label.
        k: Voters.
        n_sim: Committees.
        rng: The stream.
    """
    if len(labels) == 1:  # the winner is known; the stream moves on by two words a voter and by the choice of one
        for _ in range(n_sim):
            rng.getrandbits(64 * k)
            rng.choice(labels)
        return float(labels[0] == expected)
    cumulated = list(accumulate(shares))
    return sum(_winner(labels, cumulated, k, rng) == expected for _ in range(n_sim)) / n_sim


def _winner(labels: Sequence[str], cumulated: Sequence[float], k: int, rng: random.Random) -> str:
    drawn = rng.choices(labels, cum_weights=cumulated, k=k)
    leader = drawn[0]
    if drawn.count(leader) * 2 > k:  # nothing else can be on top
        return rng.choice([leader])
    tally = Counter(drawn)
    most = max(tally.values())
    return rng.choice([label for label, votes in tally.items() if votes == most])


@dataclass(frozen=True, slots=True)
class PublishedDelta:
    """A mean paired difference with its bootstrap, as published.

    Attributes:
        mean: The mean.
        lo: Lower bound of the 95 % interval.
        hi: Upper bound.
        p_win: Share of the resampled means above 0; the published figure, in which a tie is no win.
        p_tie: Share equal to 0.
        p_loss: Share below 0.
        n: Units.
    """

    mean: float
    lo: float
    hi: float
    p_win: float
    p_tie: float
    p_loss: float
    n: int


def published_delta(deltas: ArrayLike, *, seed: int = 42, n_boot: int = 2000) -> PublishedDelta:
    """Bootstrap the mean of paired differences on the published stream.

    Args:
        deltas: One per unit, in the order in which they are drawn.
        seed: Seed of the stream.
        n_boot: Rounds.

    Raises:
        ValueError: There are no units.

    Examples:
        >>> delta = published_delta([1, 0, 0, 1, 0, -1, 0, 0])
        >>> delta.mean, round(delta.p_win + delta.p_tie + delta.p_loss, 9)
        (0.125, 1.0)
    """
    return published_deltas(deltas, seed=seed, n_boot=n_boot)[0]


def published_deltas(deltas: ArrayLike, *, seed: int = 42, n_boot: int = 2000) -> tuple[PublishedDelta, PublishedDelta]:
    """Return `published_delta` of differences A - B and of B - A, which are drawn alike.

    Args:
        deltas: Differences A - B, in the order in which units are drawn.
        seed: Seed of the stream.
        n_boot: Rounds.

    Raises:
        ValueError: There are no units.
    """
    values = np.asarray(deltas, dtype=float)
    means = legacy_means(values, seed=seed, n_boot=n_boot)
    mean = math.fsum(values) / len(values)
    return _published(mean, means, len(values)), _published(-mean, -means[::-1], len(values))


def _published(mean: float, means: Array, n: int) -> PublishedDelta:
    lo, hi = (float(means[int(share * len(means))]) for share in (0.025, 0.975))
    win, tie, loss = (float(part.mean()) for part in (means > 0, means == 0, means < 0))
    return PublishedDelta(mean, lo, hi, win, tie, loss, n)
