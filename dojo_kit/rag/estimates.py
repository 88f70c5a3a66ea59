"""From the values of queries to a metric with its interval.

| values | each query by itself | queries in groups |
|---|---|---|
| proportions | Wilson | Wilson with the design effect |
| continuous | percentile bootstrap over queries | t below 30 groups, percentile bootstrap over groups from there |

Every metric draws from the same seed, so that all see the same resamples.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dojo_kit.rag.metrics import CONDITIONAL_FABRICATION, Floats, Metric
from dojo_kit.stats.clusters import DesignEffect, design_effect
from dojo_kit.stats.intervals import Bootstrap, Estimate, undefined
from dojo_kit.stats.means import Method, mean_interval

QUERIES = "queries"

BY_MODEL = "labels by model"
"""Flag of every number whose labels a model made."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a metric could be, whatever the missing labels are.

    Attributes:
        lowest: With the labels that make it least.
        highest: With those that make it greatest.
    """

    lowest: Estimate
    highest: Estimate

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
        reason = "no answer cites a source" if metric.name == CONDITIONAL_FABRICATION else "no query"
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
    interval reaches from the lower bound of the least to the upper bound of the greatest.
    """
    if lowest.value == highest.value:
        return lowest
    return Estimate(
        None,
        lowest.lo,
        highest.hi,
        f"bounds, {lowest.method}",
        lowest.n,
        lowest.seed,
        lowest.n_boot,
        tuple(dict.fromkeys((*lowest.flags, *highest.flags))),
        "labels are missing, so only the range of the value is known",
        lowest.unit,
    )


def group_effect(values: Floats, groups: NDArray[Any]) -> DesignEffect | None:
    """Design effect of the grouping on a metric; None when no query has a value."""
    known = ~np.isnan(values)
    return design_effect(values[known], groups[known]) if known.any() else None
