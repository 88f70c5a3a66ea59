"""From the values of queries to a metric with its interval.

| values | each query by itself | queries in groups |
|---|---|---|
| proportions | Wilson | Wilson with the design effect |
| continuous | percentile bootstrap over queries | t below 30 groups, percentile bootstrap over groups from there |

Every metric draws from the same seed, so that all see the same resamples.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dojo_kit.rag.metrics import CONDITIONAL_FABRICATION, METRICS, Floats, Labels, Metric
from dojo_kit.stats.clusters import DesignEffect, design_effect
from dojo_kit.stats.intervals import Bootstrap, Estimate, interval_flags, undefined, wilson
from dojo_kit.stats.means import Method, mean_interval

QUERIES = "queries"

OPEN_RANGE = "labels are missing, so only the range of the value is known"
"""Note of an estimate that has no point value since labels are missing."""

NO_CITATION = "no answer cites a source"
"""Why the share of fabricated sources is undefined."""

BY_MODEL = "labels by model"
"""Flag of every number whose labels a model made."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a metric could be, whatever the missing labels are.

    Attributes:
        lowest: With the labels that make it least.
        highest: With those that make it greatest.
        widest: Of the whole range, where labels in between can make the interval wider than it is at both ends.
    """

    lowest: Estimate
    highest: Estimate
    widest: Estimate | None = None

    @property
    def whole(self) -> Estimate:
        """One estimate of the whole range."""
        return between(self.lowest, self.highest) if self.widest is None else self.widest

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready values."""
        return {"lowest": self.lowest.as_dict(), "highest": self.highest.as_dict()}


def estimate_metric(
    metric: Metric,
    values: Floats,
    *,
    groups: NDArray[Any] | None = None,
    method: Method | None = None,
    bootstrap: Bootstrap | None = None,
    by_model: bool = False,
) -> Estimate:
    """Estimate a metric of the corpus from the values of its queries.

    Args:
        metric: The metric.
        values: One value per query, sorted by query; NaN where undefined or left out.
        groups: Every query's group, when queries of a group are not independent.
        method: How intervals of continuous metrics are computed, see `dojo_kit.stats.means`.
        bootstrap: Resampling, confidence, and the plural name of what is independent.
        by_model: Whether a model made the labels.

    Examples:
        >>> from dojo_kit.rag.metrics import METRICS
        >>> estimate = estimate_metric(METRICS["helpfulness_rate"], np.array([1.0, 0.0, 1.0, 1.0]))
        >>> estimate.value, estimate.method, estimate.unit
        (0.75, 'wilson', 'queries')
    """
    bootstrap = bootstrap or Bootstrap(unit=QUERIES)
    known = values[~np.isnan(values)]
    if not len(known):
        reason = NO_CITATION if metric.name == CONDITIONAL_FABRICATION else "no query"
        return _marked(undefined(reason, unit=bootstrap.unit), (), by_model)
    if metric.kind == "proportion":
        method = "wilson"
    elif method is None:
        method = "percentile" if groups is None else "auto"
    if groups is not None and method == "percentile" and len(np.unique(groups[~np.isnan(values)])) == 1:
        method = "t"  # which says that one group has no spread, where resampling it would show none
    estimate = mean_interval(values, method=method, clusters=groups, limits=(0.0, 1.0), bootstrap=bootstrap)
    return _marked(estimate, _degenerate(known), by_model)


def _degenerate(values: Floats) -> tuple[str, ...]:
    """Flag values from which an interval learns little."""
    flags: tuple[str, ...] = ("n = 1",) if len(values) == 1 else ()
    if values.min() == values.max():
        flags += (f"all {values[0]:.0f}" if values[0] in (0.0, 1.0) else "all equal",)
    return flags


def _marked(estimate: Estimate, flags: tuple[str, ...], by_model: bool) -> Estimate:
    return replace(estimate, flags=(*estimate.flags, *flags, *((BY_MODEL,) if by_model else ())))


def between(lowest: Estimate, highest: Estimate) -> Estimate:
    """One estimate for a metric of which only the range is known.

    Where both ends agree, no missing label matters and the estimate is exact. Else there is no point value, and the
    interval reaches from the lower bound of the least to the upper bound of the greatest. A flag is kept when it holds
    at both ends.

    Args:
        lowest: With the labels that make it least.
        highest: With those that make it greatest.

    Examples:
        >>> found = between(wilson(0, 4), wilson(1, 4))
        >>> found.value, found.lo, round(found.hi, 3), found.flags
        (None, 0.0, 0.699, ('n < 20',))
    """
    if lowest.value == highest.value and lowest.n == highest.n:
        return lowest
    value = lowest.value if lowest.value == highest.value else None
    return Estimate(
        value,
        lowest.lo,
        highest.hi,
        lowest.method if lowest.lo is None else f"bounds, {lowest.method}",
        min(lowest.n, highest.n),
        lowest.seed,
        lowest.n_boot,
        tuple(flag for flag in lowest.flags if flag in highest.flags),
        "; ".join(filter(None, (OPEN_RANGE if value is None else "", lowest.note))),
        lowest.unit,
    )


def bound_among_cited(cited: Labels, fabricated: Labels, *, bootstrap: Bootstrap, by_model: bool = False) -> Bounds:
    """Bound the share of fabricated among cited answers over all labels that could stand in place of missing ones.

    How many answers count changes with the missing labels, so the widest interval need not belong to the least or the
    greatest share: every possible number of answers is tried with the fewest and the most fabricated sources that it
    allows.

    Args:
        cited: Per answer 0, 1, or -1 where missing.
        fabricated: The same.
        bootstrap: Confidence and the plural name of what is independent.
        by_model: Whether a model made the labels.

    Examples:
        >>> found = bound_among_cited(np.array([1, 1, -1]), np.array([0, 1, 0]), bootstrap=Bootstrap(unit=QUERIES))
        >>> round(found.lowest.value, 3), found.highest.value, found.whole.n
        (0.333, 0.5, 2)
    """
    least, most = (_possible_shares(cited, fabricated, end, bootstrap) for end in ("least", "most"))
    if not least:
        nothing = estimate_metric(
            METRICS[CONDITIONAL_FABRICATION], np.array([]), bootstrap=bootstrap, by_model=by_model
        )
        return Bounds(nothing, nothing)
    lowest, highest = min(least, key=_value), max(most, key=_value)
    if len(least) == 1 and (cited == 1).any():  # which answers cite is known
        ends = [_share_marked(end, by_model) for end in (lowest, highest)]
        return Bounds(ends[0], ends[1])
    lo = min(one.lo for one in least if one.lo is not None)
    hi = max(one.hi for one in most if one.hi is not None)
    n, n_most = least[0].n, least[-1].n
    notes = [OPEN_RANGE if lowest.value != highest.value else "", f"{n:,} to {n_most:,} answers cite a source"]
    if not (cited == 1).any():
        notes.append(f"undefined if {NO_CITATION}, which missing labels leave open")
    marked = (BY_MODEL,) if by_model else ()
    whole = Estimate(
        lowest.value if lowest.value == highest.value else None,
        lo,
        hi,
        f"bounds, {lowest.method}",
        n,
        flags=(*interval_flags(n, lo, hi), *marked),
        note="; ".join(filter(None, notes)),
        unit=bootstrap.unit,
    )
    return Bounds(_share_marked(lowest, by_model), _share_marked(highest, by_model), whole)


def _value(estimate: Estimate) -> float:
    return estimate.value if estimate.value is not None else math.nan


def _share_marked(estimate: Estimate, by_model: bool) -> Estimate:
    values = np.array([0.0, 1.0] if 0 < _value(estimate) < 1 else [_value(estimate)] * min(2, estimate.n))
    return _marked(estimate, _degenerate(values), by_model)


def _possible_shares(
    cited: Labels, fabricated: Labels, end: Literal["least", "most"], bootstrap: Bootstrap
) -> list[Estimate]:
    """For every possible number of answers that cite, the fewest or the most of them that fabricate."""
    sure, maybe, free = cited == 1, cited == -1, int(end == "most")
    known = np.where(fabricated == -1, free, fabricated)
    n_sure, x_sure = int(sure.sum()), int(known[sure].sum())
    n_maybe, x_maybe = int(maybe.sum()), int(known[maybe].sum())
    found = []
    for joined in range(0 if n_sure else 1, n_maybe + 1):
        extra = min(joined, x_maybe) if end == "most" else max(0, joined - (n_maybe - x_maybe))
        found.append(wilson(x_sure + extra, n_sure + joined, confidence=bootstrap.confidence, unit=bootstrap.unit))
    return found


def group_effect(values: Floats, groups: NDArray[Any]) -> DesignEffect | None:
    """Design effect of the grouping on a metric; None when no query has a value."""
    known = ~np.isnan(values)
    return design_effect(values[known], groups[known]) if known.any() else None
