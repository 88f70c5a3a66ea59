"""The least and greatest value a query can have, over all labels that could stand in place of the missing ones.

A metric is the mean of the values of queries, so each query is bounded by itself. Shares, hits and reciprocal ranks are
least with 0 and greatest with 1 everywhere. NDCG is not: a label that turns out relevant also raises the best order.
For NDCG, missing labels are told apart by which grades they allow. Given how many labels of a kind take which grade,
the best order is fixed, and the gain is greatest when the higher grades go to the lower ranks and least when they go to
the higher ones; all such counts are tried, so the extremes are exact.

Labels of one chunk are treated as free of each other, also where a rule links them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from dojo_kit.errors import InputError
from dojo_kit.rag.faults import Mask
from dojo_kit.rag.metrics import CONDITIONAL_FABRICATION, Codes, Floats, Labels, metrics_of, per_query, shares
from dojo_kit.rag.panels import Panels, score_panels

MAX_MISSING = 1_000
"""Missing chunks of one query up to which NDCG is bounded: the counts tried grow with the square."""

_CELLS = 2_000_000

Range = tuple[Floats, Floats]


def bound_panels(panels: Panels) -> dict[str, Range]:
    """Bound every metric of every query.

    Args:
        panels: The panels, complete or not.

    Returns:
        Metric -> least and greatest values, each of shape (queries,). NaN where a value is undefined: whether an
        answer whose citation is unknown counts among those that cite is decided by what is least, or greatest.

    Raises:
        InputError: More chunks are missing from a query than NDCG can be bounded for.
    """
    ranges: dict[str, Range]
    if panels.task.ranked:
        exact = score_panels(panels, "skip")
        ranges = _bound_retrieval(panels)
        for name, values in exact.by_metric.items():
            for bound in ranges[name]:
                bound[exact.included] = values[exact.included]
        return ranges
    columns = {name: panels.labels[:, at] for at, name in enumerate(panels.task.labels)}
    ranges = {}
    for metric in metrics_of(panels.task.name):
        label = columns[metric.labels[-1]]
        low, high = (label == 1).astype(float), (label != 0).astype(float)
        if metric.name == CONDITIONAL_FABRICATION:
            low, high = _bound_among_cited(columns[metric.labels[0]], label)
        ranges[metric.name] = (low, high)
    return ranges


def _bound_among_cited(cited: Labels, fabricated: Labels) -> Range:
    """Bound the share of fabricated among cited answers, which may gain or lose members."""
    open_citation = cited == -1
    low = np.where(cited == 1, (fabricated == 1).astype(float), np.nan)
    high = np.where(cited == 1, (fabricated != 0).astype(float), np.nan)
    low[open_citation & (fabricated != 1)] = 0.0
    high[open_citation & (fabricated != 0)] = 1.0
    if np.isnan(low).all():
        low[open_citation] = 1.0
    if np.isnan(high).all():
        high[open_citation] = 0.0
    return low, high


def _bound_retrieval(panels: Panels) -> dict[str, Range]:
    queries, ranks, labels = _all_slots(panels)
    n, sizes = len(panels.sizes), panels.sizes
    columns = {name: labels[:, at] for at, name in enumerate(panels.task.labels)}
    relevant, sufficient, misleading = (columns[name] for name in panels.task.labels)
    ranges: dict[str, Range] = {}
    for name, label in (
        ("topical_precision_at_k", relevant),
        ("sufficiency_rate_at_k", sufficient),
        ("misleading_context_rate_at_k", misleading),
    ):
        low, high = (per_query(at_one, queries, n) for at_one in (label == 1, label != 0))
        ranges[name] = (shares(low, sizes), shares(high, sizes))
    low, high = (np.minimum(per_query(at_one, queries, n), 1) for at_one in (sufficient == 1, sufficient != 0))
    ranges["sufficiency_hit_at_k"] = (low, high)
    ranges["mean_reciprocal_rank_at_k"] = (
        _first(relevant == 1, ranks, queries, n),
        _first(relevant != 0, ranks, queries, n),
    )
    ranges["ndcg_at_k"] = _bound_ndcg(relevant, sufficient, ranks, queries, n)
    return {metric.name: ranges[metric.name] for metric in metrics_of("retrieval")}


def _all_slots(panels: Panels) -> tuple[Codes, Codes, Labels]:
    """All places of all panels, with -1 for every label of a rank without a row."""
    units, gaps = panels.units, np.flatnonzero(panels.gaps)
    missing = panels.sizes - panels.judged
    if (worst := int(missing.max(initial=0))) > MAX_MISSING:
        query = units.records[int(missing.argmax())]
        raise InputError(
            f"{worst} chunks of query {query!r} are missing", expected=f"at most {MAX_MISSING} for on_incomplete=bounds"
        )
    sizes = panels.sizes[gaps]
    every_query = np.repeat(gaps, sizes)
    every_rank = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes) + 1
    width = int(panels.sizes.max(initial=0)) + 1
    absent = ~np.isin(every_query * width + every_rank, units.queries * width + units.ranks)
    queries = np.concatenate([units.queries, every_query[absent]])
    ranks = np.concatenate([units.ranks, every_rank[absent]])
    labels = np.concatenate([panels.labels, np.full((absent.sum(), panels.labels.shape[1]), -1, dtype=np.int8)])
    order = np.lexsort((ranks, queries))
    return queries[order], ranks[order], labels[order]


def _first(relevant: Mask, ranks: Codes, queries: Codes, n: int) -> Floats:
    best = np.zeros(n)
    np.maximum.at(best, queries[relevant], 1 / ranks[relevant])
    return best


_KINDS = 4
_FREE, _TWO_OR_NONE, _TWO_OR_ONE, _ONE_OR_NONE = range(_KINDS)
_UPGRADES = {_TWO_OR_NONE: (0, 2), _TWO_OR_ONE: (1, 2), _ONE_OR_NONE: (0, 1)}
"""Kinds of places with two possible grades, and these grades."""


def _bound_ndcg(relevant: Labels, sufficient: Labels, ranks: Codes, queries: Codes, n: int) -> Range:
    """Bound NDCG; queries with as many missing places of every kind are treated together."""
    kinds = np.full(len(ranks), -1)
    kinds[(relevant < 0) & (sufficient < 0)] = _FREE
    kinds[(relevant == 0) & (sufficient < 0)] = _TWO_OR_NONE
    kinds[(relevant == 1) & (sufficient < 0)] = _TWO_OR_ONE
    kinds[(relevant < 0) & (sufficient == 0)] = _ONE_OR_NONE
    grade = np.where(sufficient == 1, 2, np.maximum(relevant, 0))
    discounts = 1 / np.log2(ranks + 1.0)
    fixed = kinds < 0
    gained = per_query(np.where(fixed, 2.0**grade - 1, 0.0) * discounts, queries, n)
    twos, ones = (per_query(fixed & (grade == g), queries, n).astype(np.int64) for g in (2, 1))
    of_kind = np.column_stack([per_query(kinds == kind, queries, n).astype(np.int64) for kind in range(_KINDS)])
    longest = int(np.bincount(queries, minlength=1).max(initial=0))
    best = np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(1, longest + 1) + 1.0))])
    low, high = np.ones(n), np.zeros(n)
    signatures, inverse = np.unique(of_kind, axis=0, return_inverse=True)
    group = inverse.reshape(-1)
    of_slots = group[queries]
    for at, signature in enumerate(signatures):
        members, slots = np.flatnonzero(group == at), np.flatnonzero(of_slots == at)
        places = {kind: discounts[slots[kinds[slots] == kind]].reshape(len(members), -1) for kind in range(_KINDS)}
        for some in _blocks(len(members), int(signature[_FREE])):
            those = members[some]
            parts = {kind: discounts_of[some] for kind, discounts_of in places.items()}
            low[those], high[those] = _extremes(signature, parts, gained[those], twos[those], ones[those], best)
    return low, high


def _blocks(n: int, n_free: int) -> Iterator[slice]:
    step = max(1, _CELLS // ((n_free + 1) * (n_free + 2) // 2))
    for start in range(0, n, step):
        yield slice(start, start + step)


def _extremes(
    signature: Codes, places: dict[int, Floats], gained: Floats, twos: Codes, ones: Codes, best: Floats
) -> Range:
    """Try every count of grades; shape (queries, counts of the free places) at a time."""
    free_twos, free_ones = _pairs(int(signature[_FREE]))
    top, bottom = (_sums(discounts) for discounts in (places[_FREE], places[_FREE][:, ::-1]))
    free_high, free_low = (2 * sums[:, free_twos] + sums[:, free_twos + free_ones] for sums in (top, bottom))
    low, high = np.full(len(gained), np.inf), np.full(len(gained), -np.inf)
    for raised in product(*(range(int(signature[kind]) + 1) for kind in _UPGRADES)):
        n_twos, n_ones = twos[:, None] + free_twos, ones[:, None] + free_ones
        least, most = gained[:, None] + free_low, gained[:, None] + free_high
        for count, (kind, (below, above)) in zip(raised, _UPGRADES.items(), strict=True):
            step = (2**above - 1) - (2**below - 1)
            base = (2**below - 1) * places[kind].sum(axis=1)
            most = most + (base + step * _sums(places[kind])[:, count])[:, None]
            least = least + (base + step * _sums(places[kind][:, ::-1])[:, count])[:, None]
            left = int(signature[kind]) - count
            n_twos = n_twos + (count if above == 2 else 0)
            n_ones = n_ones + (count if above == 1 else 0) + (left if below == 1 else 0)
        ideal = 2 * best[n_twos] + best[n_twos + n_ones]
        divisor = np.where(ideal > 0, ideal, 1.0)
        low = np.minimum(low, (least / divisor).min(axis=1))
        high = np.maximum(high, (most / divisor).max(axis=1))
    return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)


def _pairs(n: int) -> tuple[Codes, Codes]:
    """All ways to give n places some twos and some ones."""
    twos, ones = np.divmod(np.arange((n + 1) ** 2), n + 1)
    possible = twos + ones <= n
    return twos[possible], ones[possible]


def _sums(discounts: Floats) -> Floats:
    """Sums of the first 0, 1, 2 ... places of every row."""
    return np.concatenate([np.zeros((len(discounts), 1)), np.cumsum(discounts, axis=1)], axis=1)
