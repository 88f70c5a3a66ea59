"""Cost against score: which of the runs over the same documents is worth its money."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from dojo_kit.analysis.comparable import comparable_groups, find_differences
from dojo_kit.analysis.costs import RunCost
from dojo_kit.analysis.measured import Measurable, Measured, measure
from dojo_kit.analysis.pairing import estimate_of
from dojo_kit.errors import ComparabilityError, SettingsError
from dojo_kit.settings import Settings
from dojo_kit.stats.intervals import Estimate

if TYPE_CHECKING:
    import pandas as pd

Basis = Literal["estimate", "billed"]
"""What a document costs: tokens times price, or what the provider stated."""


@dataclass(frozen=True, eq=False, slots=True)
class ScoredCost:
    """What a run cost and how good it is.

    Attributes:
        cost: Its cost.
        metric: What the score is; a higher one is taken as better.
        score: Its score; undefined, with the reason, where it has none.
        measured: What the score was read from; None when that is not known.
    """

    cost: RunCost
    metric: str
    score: Estimate
    measured: Measured | None = None


def scored_cost(
    cost: RunCost, source: Measurable, *, metric: str | None = None, settings: Settings | None = None
) -> ScoredCost:
    """Put a run's score beside its cost.

    Args:
        cost: Its cost.
        source: What `dojo_kit.analysis.measured.measure` takes: the run, or what it was scored as.
        metric: Name of a metric; the task's headline by default.
        settings: Gives how intervals are made.

    Raises:
        InputError: The run holds no scores, or has no such metric.
        SettingsError: A lower value of the metric is better.
    """
    measured = measure(source, settings=settings)
    name = metric or measured.headline
    info = measured.info(name)
    if not info.higher_is_better:
        raise SettingsError(f"a lower {name} is better: cost is set against metrics of which a higher value is")
    return ScoredCost(cost, info.name, estimate_of(measured, info.name, settings), measured)


@dataclass(frozen=True, slots=True)
class CostPoint:
    """A run by what a document costs and how good it is.

    Attributes:
        run: Name of the run.
        model: Model slug.
        prompt_version: Prompt name.
        cost: Mean cost of a document in dollars.
        score: Its score.
        on_front: Whether no other run is at least as good for at most the same money, and better in one of both.
        beaten_by: Name of a run that is; empty on the front.
        extrapolated: Whether rows of the run say nothing of their cost.
    """

    run: str
    model: str
    prompt_version: str
    cost: Estimate
    score: Estimate
    on_front: bool
    beaten_by: str
    extrapolated: bool

    def as_dict(self) -> dict[str, Any]:
        """Return the point as JSON-ready values."""
        named = ("run", "model", "prompt_version", "on_front", "beaten_by", "extrapolated")
        values = {name: getattr(self, name) for name in named}
        return {**values, "cost_per_document_usd": self.cost.as_dict(), "score": self.score.as_dict()}


@dataclass(frozen=True, slots=True)
class CostFront:
    """Runs of one task over the same documents, measured alike, from cheap to dear.

    Attributes:
        surface: Fingerprint of the documents.
        metric: The score.
        basis: What the costs are.
        points: One per run that has a cost and a score.
        left_out: Run -> what it lacks.
    """

    surface: str
    metric: str
    basis: Basis
    points: tuple[CostPoint, ...]
    left_out: tuple[tuple[str, str], ...] = ()

    @property
    def front(self) -> tuple[CostPoint, ...]:
        """The points on the front, from cheap to dear."""
        return tuple(point for point in self.points if point.on_front)

    def frame(self) -> pd.DataFrame:
        """Return one row per point: run, model, prompt, cost and score with their intervals, place on the front."""
        import pandas as pd

        columns = ["run", "model", "prompt_version", "cost", "cost_lo", "cost_hi", "score", "score_lo", "score_hi", "n"]
        columns += ["on_front", "beaten_by", "extrapolated"]
        rows = [
            (
                *(point.run, point.model, point.prompt_version),
                *(point.cost.value, point.cost.lo, point.cost.hi),
                *(point.score.value, point.score.lo, point.score.hi, point.score.n),
                *(point.on_front, point.beaten_by, point.extrapolated),
            )
            for point in self.points
        ]
        return pd.DataFrame(rows, columns=columns)

    def as_dict(self) -> dict[str, Any]:
        """Return the front as JSON-ready values."""
        return {
            "surface": self.surface,
            "metric": self.metric,
            "basis": self.basis,
            "points": [point.as_dict() for point in self.points],
            "left_out": dict(self.left_out),
        }


def cost_front(runs: Sequence[ScoredCost], *, basis: Basis | None = None) -> CostFront:
    """Find the runs that are worth their money.

    The front compares point values: that one run lies on it and another does not is no proof of a difference. Costs
    are per document, over rows with usage, so that a resumed run is not cheap for having paid earlier.

    Args:
        runs: Runs over the same documents, with their score by one metric.
        basis: Estimated or billed costs; by default whichever more runs have, estimates when equal.

    Raises:
        ComparabilityError: The runs are over different documents, of different tasks, scored by different metrics or
            against different labels, or otherwise measured differently.
        SettingsError: The basis is unknown.

    Examples:
        >>> cost_front([]).points
        ()
    """
    surfaces = {one.cost.surface: one.cost.name for one in runs}
    if len(surfaces) > 1:
        first, second = list(surfaces.values())[:2]
        raise ComparabilityError(
            f"{first!r} and {second!r} are over different documents: cost against score is of runs of one surface"
        )
    metrics = list(dict.fromkeys(one.metric for one in runs))
    if len(metrics) > 1:
        raise ComparabilityError(f"the runs are scored by {' and '.join(metrics)}: choose one metric")
    groups = _alike(runs)
    if len(groups) > 1:
        one, other = groups[0][0], groups[1][0]
        raise ComparabilityError(
            f"{one.cost.name!r} and {other.cost.name!r} were not measured alike{_differ(one, other)}: "
            "cost against score is of runs of one task, scored in one way"
        )
    if basis is not None and basis not in get_args(Basis):
        raise SettingsError(f"basis is {basis!r}; known: {', '.join(get_args(Basis))}")
    by = basis or _basis([one.cost for one in runs])
    placed, left_out = [], []
    for one in runs:
        lacks = _lacks(one, by)
        if lacks:
            left_out.append((one.cost.name, lacks))
        else:
            placed.append((one.cost, one.cost.per_document_by(by), one.score))
    placed.sort(key=lambda one: (one[1].value, -(one[2].value or 0.0), one[0].name))
    points = tuple(_point(one, placed) for one in placed)
    return CostFront(next(iter(surfaces), ""), metrics[0] if metrics else "", by, points, tuple(left_out))


def cost_fronts(runs: Iterable[ScoredCost], *, basis: Basis | None = None) -> tuple[CostFront, ...]:
    """Find the front of all runs that may be compared, more than one of each, in the order given.

    Runs of other tasks or documents, scored against other labels or by another scorer or metric, never share one.

    Args:
        runs: Cost and score of each run.
        basis: Estimated or billed costs, see `cost_front`.
    """
    places: dict[tuple[str, str], list[ScoredCost]] = {}
    for one in runs:
        places.setdefault((one.cost.surface, one.metric), []).append(one)
    groups = [group for place in places.values() for group in _alike(place)]
    return tuple(cost_front(group, basis=basis) for group in groups if len(group) > 1)


def _alike(runs: Sequence[ScoredCost]) -> list[list[ScoredCost]]:
    """Put runs together that may be compared; scores of which nothing is known form a group of their own."""
    known = [one for one in runs if one.measured is not None]
    groups = comparable_groups(one.measured for one in known if one.measured is not None)
    found = [[one for one in known if any(one.measured is run for run in group)] for group in groups]
    unknown = [one for one in runs if one.measured is None]
    return [*found, unknown] if unknown else found


def _differ(a: ScoredCost, b: ScoredCost) -> str:
    if a.measured is None or b.measured is None:
        return ""
    if a.measured.kind != b.measured.kind:
        return f" ({a.measured.kind} and {b.measured.kind})"
    says = "; ".join(one.says for one in find_differences(a.measured, b.measured) if one.allow != "same")
    return f" ({says})" if says else ""


_Placed = tuple[RunCost, Estimate, Estimate]


def _basis(costs: Sequence[RunCost]) -> Basis:
    n_estimated, n_billed = (sum(one.per_document_by(by).value is not None for one in costs) for by in get_args(Basis))
    return "billed" if n_billed > n_estimated else "estimate"


def _lacks(one: ScoredCost, basis: Basis) -> str:
    if one.score.value is None:
        return one.score.note or "no score"
    found = one.cost.per_document_by(basis)
    return found.note or "no cost" if found.value is None else ""


def _point(one: _Placed, others: Sequence[_Placed]) -> CostPoint:
    cost, per_document, score = one
    beaten_by = next((other[0].name for other in others if other is not one and _beats(other, one)), "")
    return CostPoint(
        run=cost.name,
        model=cost.model,
        prompt_version=cost.prompt_version,
        cost=per_document,
        score=score,
        on_front=not beaten_by,
        beaten_by=beaten_by,
        extrapolated=cost.total.rows_replayed > 0,
    )


def _beats(one: _Placed, other: _Placed) -> bool:
    mine, theirs = ((placed[1].value or 0.0, -(placed[2].value or 0.0)) for placed in (one, other))
    return mine[0] <= theirs[0] and mine[1] <= theirs[1] and mine != theirs
