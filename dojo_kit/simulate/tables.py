"""What a what-if view needs to answer every slider without computing: tables to look up and sums to subtract.

- Committees: accuracy by pool and number of voters.
- Escalation: documents in the order of a ranking, as prefix sums. With n documents escalated the accuracy is
  ``(total - base[n] + n * a) / N`` for a stronger model of accuracy a, and ``(total - base[n] + stronger[n]) / N`` with
  its real answers; the variance of a document's value follows from the sums of squares in the same way.
- Failures: the parameters of closed forms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

import numpy as np

from dojo_kit.errors import InputError
from dojo_kit.settings import Settings
from dojo_kit.simulate.committee import committee_sizes
from dojo_kit.simulate.corpus import Corpus
from dojo_kit.simulate.escalation import document_confidence
from dojo_kit.simulate.pipeline import FailurePipeline
from dojo_kit.simulate.votes import Pool, Votes, votes_of
from dojo_kit.stats.intervals import Array

VOTERS = tuple(range(1, 26))
"""Committee sizes of the tables."""


def committee_table(
    corpus: Corpus, task: str, *, sizes: Sequence[int] = VOTERS, settings: Settings | None = None
) -> dict[str, dict[str, Any]]:
    """Return accuracy by pool and number of voters.

    Args:
        corpus: The corpus.
        task: Task key.
        sizes: Committee sizes.
        settings: Seed, replicates and level; the current settings by default.

    Returns:
        Pool -> ``k``, ``accuracy``, ``lo`` and ``hi`` (lists of one entry per size), ``limit``, ``documents``,
        ``votes``, ``runs`` and ``held_fixed``; a pool without votes is left out.
    """
    found: dict[str, dict[str, Any]] = {}
    pools: tuple[Pool, ...] = get_args(Pool)
    for pool in pools:
        try:
            votes = votes_of(corpus, task, pool=pool, legacy=False)
        except InputError:
            continue
        rows, limit = committee_sizes(votes, sizes=sizes, settings=settings)
        found[pool] = {
            "k": list(sizes),
            "accuracy": [row.accuracy.value for row in rows],
            "lo": [row.accuracy.lo for row in rows],
            "hi": [row.accuracy.hi for row in rows],
            "limit": limit.value,
            "documents": len(votes),
            "votes": votes.n_votes,
            "runs": len(votes.run_ids),
            "held_fixed": dict(votes.held_fixed),
        }
    return found


def escalation_sums(votes: Votes, *, stronger: Mapping[str, float] | None = None) -> dict[str, Any]:
    """Return prefix sums over documents, the least sure first.

    Args:
        votes: The ballots.
        stronger: Document key -> whether the stronger model is right; a document without keeps the present answer.

    Returns:
        ``n``, ``total``, ``total_squares``, ``base`` and ``base_squares`` (n + 1 sums of present accuracies and their
        squares over the first 0, 1, ... documents), ``stronger`` and ``stronger_squares`` (the same of the stronger
        model's real answers, or None), ``confidence`` and ``documents`` in ranking order.
    """
    confidences = document_confidence(votes)
    order = np.argsort(confidences, kind="stable")
    base = votes.expected_shares[order]
    keys = votes.keys
    real = None
    if stronger is not None:
        real = np.array([stronger.get(keys[row], base[rank]) for rank, row in enumerate(order)], dtype=float)
    return {
        "n": len(votes),
        "total": float(base.sum()),
        "total_squares": float((base**2).sum()),
        "base": _prefix_sums(base),
        "base_squares": _prefix_sums(base**2),
        "stronger": None if real is None else _prefix_sums(real),
        "stronger_squares": None if real is None else _prefix_sums(real**2),
        "confidence": confidences[order].tolist(),
        "documents": [votes.documents[row] for row in order],
    }


def failure_parameters(pipeline: FailurePipeline) -> dict[str, Any]:
    """Return what the closed forms of failing pipelines need.

    With p the probability that a try fails, m tries and a fallback of success r, a share p^m (1 - r) fails for good
    when tries are independent, and the product of (a + i) / (a + b + i) over i below m, times 1 - r, when they share
    their run's luck.

    Returns:
        ``p_try``, ``lo`` and ``hi`` of the stored failure rate over runs, and ``beta`` (a and b, or None).
    """
    rate = pipeline.fit.rate
    return {
        "p_try": pipeline.p_try,
        "lo": rate.lo,
        "hi": rate.hi,
        "beta": None if pipeline.beta is None else list(pipeline.beta),
    }


def _prefix_sums(values: Array) -> list[float]:
    return [0.0, *np.cumsum(values).tolist()]
