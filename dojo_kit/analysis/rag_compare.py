"""Is system B better than system A on the same queries? Metric by metric, paired by query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from dojo_kit.analysis.compare import NOT_MEASURED, ComparedMetric
from dojo_kit.analysis.measured import MetricInfo
from dojo_kit.errors import ComparabilityError, InputError
from dojo_kit.rag.estimates import QUERIES, estimate_metric
from dojo_kit.rag.metrics import CONDITIONAL_FABRICATION, METRICS
from dojo_kit.rag.scorecard import Scorecard, ScoringOptions
from dojo_kit.rag.tasks import RECORD, TaskName
from dojo_kit.stats.compare import Band, Delta, holm, paired_delta, verdict
from dojo_kit.stats.intervals import Bootstrap, Estimate

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class SystemComparison:
    """Two systems on the same queries.

    Attributes:
        task: The task.
        names: What the systems are called, the baseline first.
        metrics: Metric -> comparison, in the order of score files; deltas are positive when B is better.
        n: Queries compared.
        n_only_a: Queries scored of the first system only.
        n_only_b: Queries scored of the second only.
        options: How both were scored.
        scope: What the intervals cover and what they do not.
        notes: What a reader must know.
    """

    task: TaskName
    names: tuple[str, str]
    metrics: Mapping[str, ComparedMetric]
    n: int
    n_only_a: int
    n_only_b: int
    options: ScoringOptions
    scope: str
    notes: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready values."""
        return {
            "task": self.task,
            "a": self.names[0],
            "b": self.names[1],
            "n": self.n,
            "n_only_a": self.n_only_a,
            "n_only_b": self.n_only_b,
            "metrics": {name: compared.as_dict() for name, compared in self.metrics.items()},
            "ci_level": self.options.confidence,
            "labels_by": self.options.labels_by,
            "group_by": self.options.group_by,
            "on_incomplete": self.options.on_incomplete,
            "on_violation": self.options.on_violation,
            "tie": self.options.tie,
            "seed": self.options.seed,
            "n_resamples": self.options.n_resamples,
            "notes": list(self.notes),
            "scope": self.scope,
        }


def compare_systems(
    a: Scorecard, b: Scorecard, *, names: tuple[str, str] = ("A", "B"), bands: Mapping[str, Band] | None = None
) -> SystemComparison:
    """Compare two systems on the queries that both are scored on.

    Args:
        a: The baseline.
        b: The system held against it.
        names: What they are called.
        bands: Metric -> how far reruns of one system lie apart; without it a difference is never a win or a loss.

    Returns:
        The comparison. p-values are corrected for the number of metrics (Holm), and verdicts rest on those.

    Raises:
        ComparabilityError: The tasks or the ways of scoring differ, or only the ranges of values are known.
        InputError: No query is in both, or a query has another group in each.
    """
    _require_comparable(a, b)
    both = _shared(a, b)
    groups = _groups(both, a.options.group_by)
    unit = QUERIES if groups is None else f"{a.options.group_by} groups"
    bootstrap = Bootstrap(a.options.n_resamples, a.options.seed, a.options.confidence, unit)
    found = {
        name: (
            _estimate(name, both[f"{name}_a"], groups, bootstrap, a.options),
            _estimate(name, both[f"{name}_b"], groups, bootstrap, a.options),
            paired_delta(
                both[f"{name}_a"].to_numpy(dtype=float),
                both[f"{name}_b"].to_numpy(dtype=float),
                higher_is_better=METRICS[name].higher_is_better,
                clusters=groups,
                bootstrap=bootstrap,
            ),
        )
        for name in a.metrics
    }
    return SystemComparison(
        a.task,
        names,
        _judged(found, bands or {}),
        len(both),
        a.n_queries - len(both),
        b.n_queries - len(both),
        a.options,
        a.scope,
        tuple(_notes(a, b, names, found, bands or {})),
    )


def _require_comparable(a: Scorecard, b: Scorecard) -> None:
    if a.task != b.task:
        raise ComparabilityError(f"the tasks differ: {a.task} and {b.task}")
    for option in fields(ScoringOptions):
        values = [getattr(card.options, option.name) for card in (a, b)]
        if values[0] != values[1]:
            raise ComparabilityError(f"{option.name} differs: {values[0]} and {values[1]}")
    if a.options.on_incomplete == "bounds":
        raise ComparabilityError("bounds give no value per query: compare with on_incomplete skip or as_is")


def _shared(a: Scorecard, b: Scorecard) -> pd.DataFrame:
    """Return the queries scored in both, by id, with the columns of either under ``_a`` and ``_b``."""
    sides = [card.queries[card.queries["scored"]].set_index(RECORD) for card in (a, b)]
    both = sides[0].add_suffix("_a").join(sides[1].add_suffix("_b"), how="inner").sort_index()
    if both.empty:
        first = [str(side.index[0]) for side in sides]
        message = f"no query is in both: {first[0]!r} for one in the first, {first[1]!r} in the second"
        raise InputError(message, field=RECORD, expected="the same ids in both")
    return both


def _groups(both: pd.DataFrame, group_by: str | None) -> Any:
    if group_by is None:
        return None
    differ = both[both["group_a"] != both["group_b"]]
    if len(differ):
        row = differ.iloc[0]
        message = f"query {differ.index[0]!r} is in group {row['group_a']!r} of the first and {row['group_b']!r}"
        raise InputError(message, field=group_by, expected="one group per query")
    return both["group_a"].to_numpy()


def _estimate(
    name: str, values: pd.Series[Any], groups: Any, bootstrap: Bootstrap, options: ScoringOptions
) -> Estimate:
    return estimate_metric(
        METRICS[name],
        values.to_numpy(dtype=float),
        groups=groups,
        method=options.method,
        bootstrap=bootstrap,
        by_model=options.labels_by == "model",
    )


def _judged(
    found: Mapping[str, tuple[Estimate, Estimate, Delta]], bands: Mapping[str, Band]
) -> dict[str, ComparedMetric]:
    """Correct p-values for the number of metrics and give every metric its verdict."""
    tested = {name: delta.p for name, (_, _, delta) in found.items() if delta.p is not None}
    corrected = dict(zip(tested, map(float, holm(list(tested.values()))), strict=True)) if tested else {}
    judged = {}
    for name, (of_a, of_b, delta) in found.items():
        band = bands.get(name)
        p_holm = corrected.get(name)
        word, reason = verdict(delta if p_holm is None else replace(delta, p=p_holm), band)
        if len(tested) > 1 and delta.interval_excludes_zero:
            reason = f"{reason} p is corrected for {len(tested)} metrics."
        info = MetricInfo(name, "composite", METRICS[name].higher_is_better)
        judged[name] = ComparedMetric(
            info, of_a, of_b, delta, None, None, p_holm, len(tested), band or NOT_MEASURED, word, reason
        )
    return judged


def _notes(
    a: Scorecard,
    b: Scorecard,
    names: tuple[str, str],
    found: Mapping[str, tuple[Estimate, Estimate, Delta]],
    bands: Mapping[str, Band],
) -> Iterator[str]:
    if a.top_k != b.top_k:
        ranks = f"{a.top_k} of {names[0]}, {b.top_k} of {names[1]}"
        yield f"the highest rank differs: {ranks}; K is each query's own"
    if CONDITIONAL_FABRICATION in found:
        n = found[CONDITIONAL_FABRICATION][2].n
        yield f"{CONDITIONAL_FABRICATION} is compared on the {n:,} queries for which both cite a source"
    for name, card in zip(names, (a, b), strict=True):
        yield from (f"{name}: {flag}" for flag in card.flags)
    if not bands:
        yield "rerun noise not measured: no difference can be called a win or a loss"
