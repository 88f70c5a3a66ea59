"""The 16 metrics: one value per query from its labels.

A metric of the corpus is the plain mean of these values, every query weighing the same. Labels are 0 or 1. K is the
number of chunks the query has, never a parameter, and positions are the true ranks: a chunk at rank 3 is discounted as
third also where the chunk at rank 2 was never judged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dojo_kit.rag.tasks import TaskName

Kind = Literal["proportion", "continuous"]
"""A proportion is 0 or 1 for every query and gets a Wilson interval; a continuous value lies between."""

Floats = NDArray[np.float64]
Labels = NDArray[np.int8]
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Metric:
    """One of the 16.

    Attributes:
        name: Name, as score files spell it.
        task: Task whose labels it reads.
        labels: Label columns it reads.
        kind: Whether the value of a query is 0 or 1.
        higher_is_better: Its direction.
        formula: The value of one query; t, s, m are relevance, sufficiency and misleading, k the rank.
    """

    name: str
    task: TaskName
    labels: tuple[str, ...]
    kind: Kind
    higher_is_better: bool
    formula: str


_T, _S, _M = "topically_relevant", "evidence_sufficient", "misleading"
_CITED, _FABRICATED = "source_cited", "fabricated_source"
CONDITIONAL_FABRICATION = "conditional_fabrication_rate"
"""The one metric that is undefined for some queries: those that cite nothing."""

METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("topical_precision_at_k", "retrieval", (_T,), "continuous", True, "sum t / K"),
        Metric("sufficiency_hit_at_k", "retrieval", (_S,), "proportion", True, "1 if any s, else 0"),
        Metric("sufficiency_rate_at_k", "retrieval", (_S,), "continuous", True, "sum s / K"),
        Metric("misleading_context_rate_at_k", "retrieval", (_M,), "continuous", False, "sum m / K"),
        Metric("mean_reciprocal_rank_at_k", "retrieval", (_T,), "continuous", True, "1 / k of the first t, else 0"),
        Metric(
            "ndcg_at_k",
            "retrieval",
            (_T, _S),
            "continuous",
            True,
            "DCG / DCG of the best order, with gain 3 where s, else 1 where t, over log2(k + 1)",
        ),
        Metric("grounding_presence_rate", "grounding", ("support_present",), "proportion", True, "the label"),
        Metric("unsupported_claim_rate", "grounding", ("unsupported_claim_present",), "proportion", False, "the label"),
        Metric("contradiction_rate", "grounding", ("contradicted_claim_present",), "proportion", False, "the label"),
        Metric("citation_presence_rate", "grounding", (_CITED,), "proportion", True, "the label"),
        Metric(
            CONDITIONAL_FABRICATION,
            "grounding",
            (_CITED, _FABRICATED),
            "proportion",
            False,
            "fabricated_source where source_cited, else undefined",
        ),
        Metric("proper_action_rate", "generation", ("proper_action",), "proportion", True, "the label"),
        Metric("on_topic_rate", "generation", ("response_on_topic",), "proportion", True, "the label"),
        Metric("helpfulness_rate", "generation", ("helpful",), "proportion", True, "the label"),
        Metric("incompleteness_rate", "generation", ("incomplete",), "proportion", False, "the label"),
        Metric("unsafe_content_rate", "generation", ("unsafe_content",), "proportion", False, "the label"),
    )
}
"""All metrics by name, in the order of score files."""


def metrics_of(task: TaskName) -> tuple[Metric, ...]:
    """Return the metrics of a task.

    Examples:
        >>> len(metrics_of("retrieval")), len(metrics_of("grounding")), len(metrics_of("generation"))
        (6, 5, 5)
    """
    return tuple(metric for metric in METRICS.values() if metric.task == task)


def topical_precision(relevant: ArrayLike) -> float:
    """Share of a query's chunks that are relevant.

    Args:
        relevant: Label per chunk, shape (K,).

    Raises:
        ValueError: There is no chunk, or a label is neither 0 nor 1.

    Examples:
        >>> topical_precision([1, 0, 0, 1])
        0.5
    """
    return float(_labels(relevant).mean())


def sufficiency_hit(sufficient: ArrayLike) -> float:
    """1 when any chunk of a query suffices as evidence, else 0.

    Raises:
        ValueError: There is no chunk, or a label is neither 0 nor 1.
    """
    return float(_labels(sufficient).max())


def sufficiency_rate(sufficient: ArrayLike) -> float:
    """Share of a query's chunks that suffice as evidence.

    Raises:
        ValueError: There is no chunk, or a label is neither 0 nor 1.
    """
    return float(_labels(sufficient).mean())


def misleading_context_rate(misleading: ArrayLike) -> float:
    """Share of a query's chunks that mislead.

    Raises:
        ValueError: There is no chunk, or a label is neither 0 nor 1.
    """
    return float(_labels(misleading).mean())


def reciprocal_rank(relevant: ArrayLike, ranks: ArrayLike | None = None) -> float:
    """1 over the rank of the first relevant chunk, 0 when there is none.

    Args:
        relevant: Label per chunk, shape (K,).
        ranks: Rank per chunk, whole and from 1; 1 to K when not given.

    Raises:
        ValueError: There is no chunk, a label is neither 0 nor 1, or a rank is impossible.

    Examples:
        >>> reciprocal_rank([0, 1, 1])
        0.5
        >>> round(reciprocal_rank([0, 1], ranks=[1, 3]), 3)
        0.333
    """
    labels = _labels(relevant)
    return float(reciprocal_ranks(labels, _ranks(ranks, len(labels)), _one_query(labels), 1)[0])


def ndcg(relevant: ArrayLike, sufficient: ArrayLike, ranks: ArrayLike | None = None) -> float:
    """Normalised discounted cumulative gain of a query with grades 2 (sufficient), 1 (relevant) and 0.

    The best order knows only the chunks given, so this measures order, not what was missed. 0 when no chunk has a
    grade.

    Args:
        relevant: Label per chunk, shape (K,).
        sufficient: The same; a sufficient chunk has grade 2 whatever its relevance.
        ranks: Rank per chunk, whole and from 1; 1 to K when not given.

    Raises:
        ValueError: There is no chunk, a label is neither 0 nor 1, or a rank is impossible.

    Examples:
        >>> ndcg([1, 1, 0], [1, 0, 0])
        1.0
        >>> round(ndcg([1, 1, 0], [0, 1, 0]), 4)
        0.7967
    """
    t, s = _labels(relevant), _labels(sufficient)
    if len(t) != len(s):
        raise ValueError(f"{len(t)} labels of relevance but {len(s)} of sufficiency")
    order = np.argsort(places := _ranks(ranks, len(t)))
    return float(ndcgs(grades(t, s)[order], places[order], _one_query(t), 1)[0])


def fabricated_among_cited(cited: ArrayLike, fabricated: ArrayLike) -> list[int]:
    """Labels of fabrication of the answers that cite a source; the others do not count.

    Args:
        cited: Label per answer, shape (n,).
        fabricated: The same.

    Raises:
        ValueError: There is no answer, or a label is neither 0 nor 1.

    Examples:
        >>> fabricated_among_cited([1, 0, 1, 1], [1, 1, 0, 1])
        [1, 0, 1]
    """
    kept = _labels(fabricated)[_labels(cited) == 1]
    return [int(label) for label in kept]


def mean_of_queries(values: ArrayLike) -> float:
    """Plain mean of the values of all queries.

    Raises:
        ValueError: There are none; that is no score of 0.

    Examples:
        >>> mean_of_queries([0.5, 1.0, 0.0])
        0.5
    """
    array = np.asarray(values, dtype=float)
    if not array.size:
        raise ValueError("no query, so there is no mean")
    return float(array.mean())


def retrieval_values(labels: Mapping[str, Labels], ranks: Codes, queries: Codes, sizes: Codes) -> dict[str, Floats]:
    """Values of the six retrieval metrics for many queries.

    Args:
        labels: Column -> label per chunk, shape (chunks,).
        ranks: Rank per chunk; inside a query ascending.
        queries: Code of every chunk's query, 0 to n - 1.
        sizes: K of every query, shape (n,); a query for which nothing was retrieved, K = 0, has the value 0.

    Returns:
        Metric -> values, shape (n,).
    """
    n, t, s = len(sizes), labels[_T], labels[_S]
    hits = per_query(s, queries, n)
    return {
        "topical_precision_at_k": shares(per_query(t, queries, n), sizes),
        "sufficiency_hit_at_k": (hits > 0).astype(float),
        "sufficiency_rate_at_k": shares(hits, sizes),
        "misleading_context_rate_at_k": shares(per_query(labels[_M], queries, n), sizes),
        "mean_reciprocal_rank_at_k": reciprocal_ranks(t, ranks, queries, n),
        "ndcg_at_k": ndcgs(grades(t, s), ranks, queries, n),
    }


def answer_values(task: TaskName, labels: Mapping[str, Labels]) -> dict[str, Floats]:
    """Values of the grounding or generation metrics: the label, NaN where it is undefined.

    Args:
        task: ``grounding`` or ``generation``.
        labels: Column -> label per query, shape (n,).
    """
    values = {metric.name: labels[metric.labels[-1]].astype(float) for metric in metrics_of(task)}
    if task == "grounding":
        values[CONDITIONAL_FABRICATION][labels[_CITED] != 1] = np.nan
    return values


def per_query(values: NDArray[Any], queries: Codes, n: int) -> Floats:
    """Add up values of chunks by query."""
    return np.bincount(queries, weights=values, minlength=n).astype(float)


def shares(totals: Floats, sizes: Codes) -> Floats:
    """Divide totals by K, 0 where nothing was retrieved."""
    return totals / np.maximum(sizes, 1)


def reciprocal_ranks(relevant: Labels, ranks: Codes, queries: Codes, n: int) -> Floats:
    """1 over the lowest rank of a relevant chunk, by query."""
    best = np.zeros(n)
    found = relevant == 1
    np.maximum.at(best, queries[found], 1 / ranks[found])
    return best


def grades(relevant: Labels, sufficient: Labels) -> Labels:
    """2 where sufficient, else 1 where relevant, else 0."""
    return np.where(sufficient == 1, 2, relevant).astype(np.int8)


def ndcgs(graded: Labels, ranks: Codes, queries: Codes, n: int) -> Floats:
    """NDCG by query.

    The chunks of a query are added up in the same order as those of its best order, so that the best order scores
    exactly 1.

    Args:
        graded: 0, 1 or 2 per chunk.
        ranks: Rank per chunk; inside a query ascending.
        queries: Code of every chunk's query.
        n: Queries.
    """
    gained = per_query(gains(graded) / np.log2(ranks + 1.0), queries, n)
    best = np.argsort(queries * 3 + (2 - graded), kind="stable")
    sorted_queries = queries[best]
    starts = np.cumsum(np.bincount(queries, minlength=n)) - np.bincount(queries, minlength=n)
    places = np.arange(len(best)) - starts[sorted_queries] + 1.0
    ideal = per_query(gains(graded[best]) / np.log2(places + 1.0), sorted_queries, n)
    return np.minimum(1.0, gained / np.where(ideal > 0, ideal, 1.0))


def gains(graded: Labels) -> Floats:
    """2 to the grade, less 1."""
    gained: Floats = np.exp2(graded.astype(float)) - 1.0
    return gained


def _labels(values: ArrayLike) -> Labels:
    array = np.asarray(values)
    if not array.size:
        raise ValueError("a query without labels has no value")
    if array.ndim != 1 or not np.isin(array, (0, 1)).all():
        raise ValueError(f"labels must be a list of 0 and 1, not {values!r}")
    return array.astype(np.int8)


def _ranks(ranks: ArrayLike | None, n: int) -> Codes:
    if ranks is None:
        return np.arange(1, n + 1)
    array = np.asarray(ranks)
    if array.shape != (n,):
        raise ValueError(f"ranks must be one per chunk, shape ({n},), got {array.shape}")
    whole = array.astype(np.int64)
    if (whole != array).any() or (whole < 1).any() or len(np.unique(whole)) < n:
        raise ValueError(f"ranks must be different whole numbers from 1, not {ranks!r}")
    return whole


def _one_query(labels: Labels) -> Codes:
    return np.zeros(len(labels), dtype=np.int64)
