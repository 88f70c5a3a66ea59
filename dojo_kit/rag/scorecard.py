"""Score a table of query-level labels: from rows to metrics with intervals, and what was decided on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from dojo_kit.errors import InputError
from dojo_kit.rag.bounds import Range, bound_panels
from dojo_kit.rag.contract import check_labels
from dojo_kit.rag.estimates import (
    BY_MODEL,
    QUERIES,
    Bounds,
    bound_among_cited,
    estimate_metric,
    group_effect,
)
from dojo_kit.rag.faults import counted
from dojo_kit.rag.metrics import CONDITIONAL_FABRICATION, METRICS, Floats
from dojo_kit.rag.panels import POLICIES, Panels, Policy, Scored, form_panels, score_panels
from dojo_kit.rag.tables import query_table, unit_table
from dojo_kit.rag.tallies import Refusals, count_everything, count_violations, refuse
from dojo_kit.rag.tasks import TaskName, check_resampling, choice
from dojo_kit.rag.units import form_units
from dojo_kit.rag.votes import TIE_RULES, TieRule, majority, one_vote_each
from dojo_kit.records import Problem
from dojo_kit.stats.clusters import DesignEffect
from dojo_kit.stats.intervals import SMALL_N, Bootstrap, Estimate
from dojo_kit.stats.means import Method

if TYPE_CHECKING:
    import pandas as pd

LabelsBy = Literal["people", "model"]
"""Who made the labels."""

ViolationPolicy = Literal["fail", "as_is"]
"""What becomes of decided labels that contradict each other."""

VIOLATION_POLICIES: tuple[ViolationPolicy, ...] = ("fail", "as_is")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringOptions:
    """How labels are scored.

    Attributes:
        group_by: Column that groups queries that are not independent, e.g. those about one document.
        on_incomplete: What becomes of incomplete panels: ``fail``, ``skip``, ``bounds`` or ``as_is``.
        on_violation: What becomes of labels that contradict each other: ``fail`` or ``as_is``.
        tie: What becomes of a tied vote: ``fail``, ``drop``, ``positive``, ``negative`` or ``first``. ``drop`` leaves
            the query out, unless ``on_incomplete`` is ``bounds`` or ``as_is``, for which the label is then missing.
        labels_by: Who made the labels; a model's are marked on every number.
        method: How intervals of continuous metrics are computed; None for what `dojo_kit.rag.estimates` says.
        n_resamples: Resamples of bootstrap intervals.
        seed: Their seed.
        confidence: Confidence level.

    Raises:
        SettingsError: An option has an impossible value.
    """

    group_by: str | None = None
    on_incomplete: Policy = "fail"
    on_violation: ViolationPolicy = "fail"
    tie: TieRule = "fail"
    labels_by: LabelsBy = "people"
    method: Method | None = None
    n_resamples: int = 2000
    seed: int = 42
    confidence: float = 0.95

    def __post_init__(self) -> None:
        choice("on_incomplete", self.on_incomplete, POLICIES)
        choice("on_violation", self.on_violation, VIOLATION_POLICIES)
        choice("tie", self.tie, TIE_RULES)
        choice("labels_by", self.labels_by, ("people", "model"))
        if self.method is not None:
            choice("method", self.method, tuple(name for name in get_args(Method) if name != "wilson"))
        check_resampling(self.n_resamples, self.seed, self.confidence)


@dataclass(frozen=True)
class Scorecard:
    """The metrics of one task and system.

    Attributes:
        task: The task.
        metrics: Metric -> estimate, in the order of score files.
        bounds: Metric -> its range; empty unless ``on_incomplete`` is ``bounds``.
        queries: One row per query, by id: status, K, labels missing, group, and the value of every metric; with bounds
            its least value under the metric's name and ``_min``, its greatest under ``_max``.
        units: One row per chunk (or answer): its decided labels (missing where there is none), votes, dissent, ties.
        counts: How many rows, votes, units and queries there were, and what became of them.
        violations: Rule between labels -> units that break it.
        problems: What is odd and did not stop the scoring.
        flags: Warnings about the whole card.
        design_effects: Metric -> effect of the grouping; empty without one. A metric of which only a range is known has
            none, and a flag says so.
        top_k: Highest rank of any query scored; None when the task has no ranks.
        n_queries: Queries scored.
        system: The system judged, where named.
        run: Its run.
        options: How it was scored.
    """

    task: TaskName
    metrics: Mapping[str, Estimate]
    bounds: Mapping[str, Bounds]
    queries: pd.DataFrame
    units: pd.DataFrame
    counts: Mapping[str, int]
    violations: Mapping[str, int]
    problems: tuple[Problem, ...]
    flags: tuple[str, ...]
    design_effects: Mapping[str, DesignEffect]
    top_k: int | None
    n_queries: int
    system: str | None
    run: str | None
    options: ScoringOptions

    @property
    def scope(self) -> str:
        """What the intervals cover and what they do not."""
        unit = QUERIES if self.options.group_by is None else f"groups of queries by {self.options.group_by}"
        dependence = (
            "dependence between queries, "
            if self.options.group_by is None
            else "dependence between queries beyond these groups, "
        )
        taken = "labels made by a model" if self.options.labels_by == "model" else "labels"
        return (
            f"Intervals cover the chance of having drawn these {unit} and not others like them, with {taken}, outputs "
            f"and K taken as they are; they do not cover label errors, annotator disagreement, {dependence}missing "
            "judgements, reruns of the system, bias of the benchmark, or reading many metrics at once."
        )

    def table(self) -> pd.DataFrame:
        """One row per metric: value, interval, method, n, direction and flags."""
        import pandas as pd

        rows = [
            {
                "metric": name,
                "value": estimate.value,
                "lo": estimate.lo,
                "hi": estimate.hi,
                "method": estimate.method,
                "n": estimate.n,
                "unit": estimate.unit,
                "higher_is_better": METRICS[name].higher_is_better,
                "flags": "; ".join(estimate.flags),
                "note": estimate.note,
            }
            for name, estimate in self.metrics.items()
        ]
        return pd.DataFrame(rows).astype(dict.fromkeys(("value", "lo", "hi"), "float64"))

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready values in the layout of score files: the metrics are fields of their own.

        A metric that is undefined is null. A bootstrap over single queries is called ``bootstrap``, as score files
        do.
        """
        stored: dict[str, Any] = {
            "task": self.task,
            "system": self.system,
            "run": self.run,
            "n_examples": self.n_queries,
            "ci_level": self.options.confidence,
        }
        if self.top_k is not None:
            stored["top_k"] = self.top_k
        stored |= {name: self._stored(name) for name in self.metrics}
        if self.bounds:
            stored["bounds"] = {name: found.as_dict() for name, found in self.bounds.items()}
        if self.design_effects:
            stored["design_effects"] = {name: _stored_effect(found) for name, found in self.design_effects.items()}
        return stored | {
            "options": asdict(self.options),
            "counts": dict(self.counts),
            "violations": dict(self.violations),
            "flags": list(self.flags),
            "problems": [str(problem) for problem in self.problems],
            "scope": self.scope,
        }

    def _stored(self, name: str) -> dict[str, Any] | None:
        """Return a metric as score files hold it: null where undefined, a null point where only its range is known."""
        estimate, bounds = self.metrics[name], self.bounds.get(name)
        if estimate.value is None and (bounds is None or bounds.lowest.value is None):
            return None
        stored: dict[str, Any] = {
            "point": estimate.value,
            "ci_lower": estimate.lo,
            "ci_upper": estimate.hi,
            "method": "bootstrap" if estimate.method.startswith("percentile") else estimate.method,
            "n": estimate.n,
            "unit": estimate.unit,
            "higher_is_better": METRICS[name].higher_is_better,
            "flags": list(estimate.flags),
        }
        return stored | ({"note": estimate.note} if estimate.note else {})


def score_rag(
    frame: pd.DataFrame,
    task: TaskName,
    *,
    system: str | None = None,
    run: str | None = None,
    group_by: str | None = None,
    on_incomplete: Policy = "fail",
    on_violation: ViolationPolicy = "fail",
    tie: TieRule = "fail",
    labels_by: LabelsBy = "people",
    method: Method | None = None,
    n_resamples: int = 2000,
    seed: int = 42,
    confidence: float = 0.95,
    source: str = "",
) -> Scorecard:
    """Score query-level labels.

    Args:
        frame: One row per response; see `dojo_kit.rag.contract.check_labels`.
        task: ``retrieval``, ``grounding`` or ``generation``.
        system: The ``system_id`` to score, needed when there are several.
        run: The ``run_id`` to score, likewise.
        group_by: As in `ScoringOptions`, like all that follow.
        on_incomplete: What becomes of incomplete panels.
        on_violation: What becomes of labels that contradict each other.
        tie: What becomes of a tied vote.
        labels_by: Who made the labels.
        method: How intervals of continuous metrics are computed.
        n_resamples: Resamples of bootstrap intervals.
        seed: Their seed.
        confidence: Confidence level.
        source: The file, for messages.

    Raises:
        LabelsError: Rows break the contract, panels are incomplete, votes tied or labels contradictory, and the policy
            is to fail; with every place.
        InputError: Several systems stand in the table, or nothing is left to score.
        SettingsError: An option has an impossible value.

    Examples:
        >>> import pandas as pd
        >>> rows = pd.DataFrame({"record_uuid": ["q1", "q1", "q2"], "chunk_id": ["a", "b", "a"],
        ...     "chunk_rank": [1, 2, 1], "topically_relevant": [0, 1, 1], "evidence_sufficient": [0, 1, 0],
        ...     "misleading": 0})
        >>> card = score_rag(rows, "retrieval")
        >>> card.metrics["mean_reciprocal_rank_at_k"].value, card.n_queries, card.top_k
        (0.75, 2, 2)
    """
    options = ScoringOptions(
        group_by=group_by,
        on_incomplete=on_incomplete,
        on_violation=on_violation,
        tie=tie,
        labels_by=labels_by,
        method=method,
        n_resamples=n_resamples,
        seed=seed,
        confidence=confidence,
    )
    checked = check_labels(frame, task, system=system, run=run, group_by=group_by, source=source)
    units = form_units(checked, group_by=group_by or "group")
    votes = one_vote_each(checked, units)
    cast = np.flatnonzero(votes.kept)
    decided = majority(checked.labels[cast], units.of_rows[cast], tie=tie, n_units=len(units.queries))
    violations = count_violations(checked, decided)
    panels = form_panels(checked.task, units, decided)
    refuse(
        checked,
        panels,
        decided,
        Refusals(ties=tie == "fail", violations=on_violation == "fail", incomplete=on_incomplete == "fail"),
    )
    measured = _measure(panels, options)
    if not (n_queries := int(measured.scored.included.sum())):
        every = "the only query is" if units.n_queries == 1 else f"all {units.n_queries} queries are"
        left_out = f"{every} left out: on_incomplete is {on_incomplete}, tie is {tie}"
        raise InputError(left_out, file=source or None, expected="at least one query to score")
    counts = count_everything(checked, panels, votes, decided, measured.scored, violations)
    return Scorecard(
        task,
        measured.metrics,
        measured.bounds,
        query_table(panels, measured.scored, measured.columns),
        unit_table(panels, decided),
        counts,
        violations.by_rule,
        checked.notes,
        _card_flags(counts, options, measured),
        measured.effects,
        _top_k(panels, measured.scored),
        n_queries,
        checked.system,
        checked.run,
        options,
    )


@dataclass(frozen=True, slots=True)
class _Measured:
    """What the policy for incomplete panels makes of the panels."""

    metrics: dict[str, Estimate]
    bounds: dict[str, Bounds]
    effects: dict[str, DesignEffect]
    columns: dict[str, Floats]
    scored: Scored


def _measure(panels: Panels, options: ScoringOptions) -> _Measured:
    if options.on_incomplete == "bounds":
        ranges = bound_panels(panels)
        bounds = {name: _bounds(name, found, panels, options) for name, found in ranges.items()}
        metrics = {name: found.whole for name, found in bounds.items()}
        columns = {f"{name}_min": low for name, (low, _) in ranges.items()}
        columns |= {f"{name}_max": high for name, (_, high) in ranges.items()}
        everything = np.ones(panels.units.n_queries, dtype=bool)
        exact = {name: low for name, (low, high) in ranges.items() if np.array_equal(low, high, equal_nan=True)}
        effects = _group_effects(exact, panels)
        return _Measured(metrics, bounds, effects, columns, Scored({}, everything, panels.sizes))
    scored = score_panels(panels, options.on_incomplete)
    metrics = {name: _estimate(name, values, panels, options) for name, values in scored.by_metric.items()}
    return _Measured(metrics, {}, _group_effects(scored.by_metric, panels), scored.by_metric, scored)


def _bounds(name: str, ends: Range, panels: Panels, options: ScoringOptions) -> Bounds:
    if name == CONDITIONAL_FABRICATION and panels.units.groups is None:
        cited, fabricated = (panels.labels[:, panels.task.labels.index(label)] for label in METRICS[name].labels)
        return bound_among_cited(
            cited, fabricated, bootstrap=_bootstrap(options), by_model=options.labels_by == "model"
        )
    found = Bounds(*(_estimate(name, values, panels, options) for values in ends))
    if panels.units.groups is None or found.lowest == found.highest:
        return found
    note = "; ".join(filter(None, (found.whole.note, "with groups, labels between the two ends were not tried")))
    return replace(found, widest=replace(found.whole, note=note))


def _group_effects(by_metric: Mapping[str, Floats], panels: Panels) -> dict[str, DesignEffect]:
    groups = panels.units.groups
    if groups is None:
        return {}
    found = {name: group_effect(values, groups) for name, values in by_metric.items()}
    return {name: effect for name, effect in found.items() if effect is not None}


def _estimate(name: str, values: Floats, panels: Panels, options: ScoringOptions) -> Estimate:
    return estimate_metric(
        METRICS[name],
        values,
        groups=panels.units.groups,
        method=options.method,
        bootstrap=_bootstrap(options),
        by_model=options.labels_by == "model",
    )


def _bootstrap(options: ScoringOptions) -> Bootstrap:
    unit = QUERIES if options.group_by is None else f"{options.group_by} groups"
    return Bootstrap(options.n_resamples, options.seed, options.confidence, unit)


def _top_k(panels: Panels, scored: Scored) -> int | None:
    if not panels.task.ranked:
        return None
    ranks = panels.units.ranks[scored.included[panels.units.queries]]
    return int(ranks.max(initial=0))


def _card_flags(counts: Mapping[str, int], options: ScoringOptions, measured: _Measured) -> tuple[str, ...]:
    """Warn about what concerns every metric of the card."""
    n, flags = counts["queries_scored"], []
    if n < SMALL_N:
        flags.append("n = 1" if n == 1 else f"n < {SMALL_N}")
    if left_out := counts["queries_left_out"]:
        flags.append(f"{left_out} of {counts['queries']} queries left out")
    incomplete = counts["queries_incomplete"] + counts["queries_tied"]
    if incomplete and options.on_incomplete in {"as_is", "bounds"}:
        flags.append(f"{counted(incomplete, 'incomplete panel')} {_INCOMPLETE[options.on_incomplete]}")
    if violating := counts["units_violating_rules"]:
        flags.append(f"{counted(violating, 'unit')} with labels that contradict each other")
    open_metrics = len(measured.bounds) - len(measured.effects)
    if options.group_by is not None and measured.bounds and open_metrics:
        flags.append("no design effect where only a range is known")
    if options.labels_by == "model":
        flags.append(BY_MODEL)
    return tuple(flags)


_INCOMPLETE = {"as_is": "scored by what was judged", "bounds": "bounded"}


def _stored_effect(found: DesignEffect) -> dict[str, Any]:
    return {"icc": found.icc, "effect": found.effect, "n_effective": found.n_effective, "n_groups": found.n_clusters}
