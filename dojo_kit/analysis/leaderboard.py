"""Runs side by side: who leads on the same documents, who cannot be told from the leader, and how it went over time.

Runs are only ever ranked within a surface and within one way of measuring. Every distance is paired.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dojo_kit.analysis.comparable import comparable_groups
from dojo_kit.analysis.compare import NoiseBands, compare
from dojo_kit.analysis.measured import Measurable, Measured, measure
from dojo_kit.analysis.measured.values import known_metrics, no_metric
from dojo_kit.analysis.pairing import Side, averaged_side, bootstrap_for, estimate_of, paired_order, paired_sides_delta
from dojo_kit.analysis.repeats import repeats
from dojo_kit.settings import Settings

if TYPE_CHECKING:
    import pandas as pd

BOARD_COLUMNS = (
    *("rank", "run", "source", "model", "prompt_version", "timestamp", "n", "n_failed", "value", "lo", "hi"),
    *("delta", "delta_lo", "delta_hi", "p", "verdict", "co_champion", "note"),
)
"""Columns of `Board.table`.

``delta`` is the paired difference to the best run over documents both answered; ``co_champion`` marks the best run and
those not shown to be worse; ``note`` says when scores are stored ones or a run repeats another's answers.
"""

ALERT_COLUMNS = (
    *("run", "source", "model", "prompt_version", "timestamp", "n_failed", "against", "value", "best"),
    *("delta", "lo", "hi", "p", "verdict", "reason"),
)
"""Columns of `regressions`."""

TREND_COLUMNS = (
    *("model", "prompt_version", "first", "n_runs", "n_failed", "n", "value", "lo", "hi"),
    *("delta", "delta_lo", "delta_hi", "p"),
)
"""Columns of `trend`: ``delta`` is the paired difference to the prompt version before."""


@dataclass(frozen=True, eq=False, repr=False)
class Board:
    """Runs of one task on the same documents, measured alike.

    Attributes:
        task: Task of the runs.
        kind: What they are scored as.
        metric: What they are ranked by.
        surface: Fingerprint of the documents.
        n: Documents.
        recipe: How the values came about.
        runs: The runs, in the order of the table.
        table: One row per run, columns `BOARD_COLUMNS`.
    """

    task: str
    kind: str
    metric: str
    surface: str
    n: int
    recipe: Mapping[str, str | None]
    runs: tuple[Measured, ...]
    table: pd.DataFrame

    @property
    def best(self) -> Measured:
        """The run with the best value."""
        return self.runs[0]

    @property
    def co_champions(self) -> tuple[str, ...]:
        """Names of the runs that are not shown to be worse than the best, itself among them."""
        return tuple(self.table.loc[self.table["co_champion"], "run"])

    def as_dict(self) -> dict[str, Any]:
        """Return the board as JSON-ready values."""
        rows = self.table.astype(object).where(self.table.notna(), None).to_dict("records")
        return {
            "task": self.task,
            "kind": self.kind,
            "metric": self.metric,
            "surface": self.surface,
            "n": self.n,
            "recipe": dict(self.recipe),
            "runs": [{str(name): value for name, value in row.items()} for row in rows],
        }

    def __repr__(self) -> str:
        return (
            f"Board({self.task!r}, {self.metric}, {len(self.runs)} runs on {self.n} documents, best {self.best.name!r})"
        )


def leaderboard(
    runs: Iterable[Measurable],
    *,
    metric: str | None = None,
    noise: NoiseBands | None = None,
    settings: Settings | None = None,
) -> tuple[Board, ...]:
    """Rank runs, each surface and each way of measuring in a table of its own.

    Args:
        runs: Runs, scored runs, or what `measure` made of them.
        metric: What to rank by; the headline of each task by default. Runs without it are left out of the tables.
        noise: Measured rerun noise; a run within it of the best is a co-champion.
        settings: Seed, replicates and level; the current settings by default.

    Returns:
        The tables, those of most runs first.

    Raises:
        InputError: A run cannot be measured, or none has the metric.

    Examples:
        >>> from dojo_kit.tasks.score import score_task
        >>> names, truth = ["a", "b", "c"], ["yes", "yes", "no"]
        >>> scored = [score_task("legalbench", truth, said, documents=names) for said in (["no"] * 3, ["yes"] * 3)]
        >>> board, = leaderboard(measure(one, name=name) for one, name in zip(scored, ("first", "second")))
        >>> board.table[["rank", "run", "co_champion"]].values.tolist()
        [[1, 'second', True], [2, 'first', True]]
    """
    measured = _with_metric(runs, metric, settings)
    boards = [_board(group, metric or group[0].headline, noise, settings) for group in comparable_groups(measured)]
    return tuple(sorted(boards, key=lambda board: (-len(board.runs), board.task, board.surface)))


def _with_metric(runs: Iterable[Measurable], metric: str | None, settings: Settings | None) -> list[Measured]:
    """Measure runs and keep those that have a metric.

    Raises:
        InputError: None of them has it.
    """
    measured = [measure(run, settings=settings) for run in runs]
    kept = [run for run in measured if metric is None or metric in run.metrics]
    if metric is not None and measured and not kept:
        raise no_metric(metric, known_metrics(measured))
    return kept


def _board(group: Sequence[Measured], metric: str, noise: NoiseBands | None, settings: Settings | None) -> Board:
    import pandas as pd

    higher = group[0].metrics[metric].higher_is_better
    ranked = sorted(group, key=lambda run: _order(run, metric, higher=higher))
    best = ranked[0]
    rows = [
        _row(run, best, metric, noise, settings, next((one.name for one in ranked[:at] if repeats(one, run)), ""))
        for at, run in enumerate(ranked)
    ]
    table = pd.DataFrame(rows)
    value = table["value"]
    table["rank"] = value.rank(method="min", ascending=not higher).astype("Int64")
    return Board(
        task=best.task,
        kind=best.kind,
        metric=metric,
        surface=best.surface,
        n=len(best),
        recipe=best.recipe,
        runs=tuple(ranked),
        table=table[list(BOARD_COLUMNS)],
    )


def _order(run: Measured, metric: str, *, higher: bool) -> tuple[bool, float, str, str]:
    value = run.value(metric)
    return value is None, 0.0 if value is None else -value if higher else value, run.timestamp, run.name


def _row(
    run: Measured,
    best: Measured,
    metric: str,
    noise: NoiseBands | None,
    settings: Settings | None,
    repeated: str,
) -> dict[str, Any]:
    estimate = estimate_of(run, metric, settings)
    row: dict[str, Any] = {
        "run": run.name,
        "source": run.source,
        "model": run.model,
        "prompt_version": run.prompt_version,
        "timestamp": run.timestamp,
        "n": estimate.n,
        "n_failed": run.n_failed,
        "value": estimate.value,
        "lo": estimate.lo,
        "hi": estimate.hi,
        "note": "; ".join(filter(None, (f"repeats the answers of {repeated}" if repeated else "", *_stored(run)))),
    }
    if run is best or repeats(best, run):
        return row | {"delta": 0.0, "delta_lo": None, "delta_hi": None, "p": None, "verdict": "", "co_champion": True}
    found = compare(best, run, metric, noise=noise, settings=settings).headline
    worse = found.delta.excluded and (found.delta.value or 0.0) < 0 and found.verdict != "within rerun noise"
    return row | {
        "delta": found.delta.value,
        "delta_lo": found.delta.lo,
        "delta_hi": found.delta.hi,
        "p": found.delta.p,
        "verdict": found.verdict,
        "co_champion": estimate.value is not None and not worse,
    }


def _stored(run: Measured) -> Iterator[str]:
    if run.recipe["scorer_version"] is None:
        yield "stored scores"


def regressions(
    runs: Iterable[Measurable],
    *,
    metric: str | None = None,
    noise: NoiseBands | None = None,
    across_models: bool = False,
    settings: Settings | None = None,
) -> pd.DataFrame:
    """Return the runs that are shown to be worse than the best one made before them.

    Args:
        runs: Runs with time stamps, in any order; those without are left out, as are repeats of earlier answers.
        metric: What to judge by; the headline of each task by default.
        noise: Measured rerun noise; a drop within it is no alert.
        across_models: Hold a run against earlier runs of every model, not of its own only.
        settings: Seed, replicates and level; the current settings by default.

    Returns:
        One row per alert, earliest first, columns `ALERT_COLUMNS`; ``against`` is the best run before. Where rerun
        noise is not measured the verdict says so, and the alert may be noise.

    Raises:
        InputError: A run cannot be measured, or none has the metric.
    """
    import pandas as pd

    dated = [run for run in _with_metric(runs, metric, settings) if run.timestamp]
    rows = []
    for group in comparable_groups(sorted(dated, key=lambda run: run.timestamp)):
        name = metric or group[0].headline
        series: dict[str, list[Measured]] = {}
        for run in _first_of_each(group):
            series.setdefault("" if across_models else run.model, []).append(run)
        rows += [alert for members in series.values() for alert in _alerts(members, name, noise, settings)]
    table = pd.DataFrame(rows, columns=list(ALERT_COLUMNS))
    return table.sort_values("timestamp", kind="stable", ignore_index=True)


def _first_of_each(runs: Iterable[Measured]) -> list[Measured]:
    """Return runs without those that repeat the answers of one before."""
    first: list[Measured] = []
    for run in runs:
        if not any(repeats(one, run) for one in first):
            first.append(run)
    return first


def _alerts(
    runs: Sequence[Measured], metric: str, noise: NoiseBands | None, settings: Settings | None
) -> Iterator[dict[str, Any]]:
    best: Measured | None = None
    for run in runs:
        value = run.value(metric)
        if value is None:
            continue
        held = best.value(metric) if best else None
        if best is None or held is None or _better(value, held, higher=run.metrics[metric].higher_is_better):
            best = run
            continue
        found = compare(best, run, metric, noise=noise, settings=settings).headline
        delta = found.delta
        if delta.excluded and (delta.value or 0.0) < 0 and found.verdict not in ("rerun", "within rerun noise"):
            yield {
                "run": run.name,
                "source": run.source,
                "model": run.model,
                "prompt_version": run.prompt_version,
                "timestamp": run.timestamp,
                "n_failed": run.n_failed,
                "against": best.name,
                "value": value,
                "best": held,
                "delta": delta.value,
                "lo": delta.lo,
                "hi": delta.hi,
                "p": delta.p,
                "verdict": found.verdict,
                "reason": found.reason,
            }


def _better(value: float, held: float, *, higher: bool) -> bool:
    return value > held if higher else value < held


def trend(
    runs: Iterable[Measurable], *, metric: str | None = None, settings: Settings | None = None
) -> tuple[tuple[Board, pd.DataFrame], ...]:
    """Follow a metric from prompt version to prompt version.

    Args:
        runs: Runs, in any order.
        metric: What to follow; the headline of each task by default.
        settings: Seed, replicates and level; the current settings by default.

    Returns:
        For every table of `leaderboard` the table and one row per model and prompt version, columns `TREND_COLUMNS`:
        models, and within them versions, in the order in which they first ran. Reruns of a version are averaged
        document by document; repeats of earlier answers are left out. Ratios of sums stay ratios of sums, and what is
        drawn together stays so.

    Raises:
        InputError: A run cannot be measured, or none has the metric.
    """
    boards = leaderboard(runs, metric=metric, settings=settings)
    return tuple((board, _trend(board, settings)) for board in boards)


def _trend(board: Board, settings: Settings | None) -> pd.DataFrame:
    import pandas as pd

    bootstrap = bootstrap_for(board.best, settings)
    info = board.best.metrics[board.metric]
    keys = paired_order(board.best, board.best.documents.index)
    models: dict[str, dict[str, list[Measured]]] = {}
    for run in _first_of_each(sorted(board.runs, key=lambda run: run.timestamp)):
        models.setdefault(run.model, {}).setdefault(run.prompt_version, []).append(run)
    rows = []
    for model, versions in models.items():
        before: Side | None = None
        for prompt, members in versions.items():
            side = averaged_side(members, board.metric, keys)
            estimate = averaged_side(members, board.metric).known_estimate(bootstrap)
            row = {
                "model": model,
                "prompt_version": prompt,
                "first": members[0].timestamp,
                "n_runs": len(members),
                "n_failed": sum(run.n_failed for run in members),
                "n": estimate.n,
                "value": estimate.value,
                "lo": estimate.lo,
                "hi": estimate.hi,
            }
            if before is not None:
                delta = paired_sides_delta(before, side, info, bootstrap)
                row |= {"delta": delta.value, "delta_lo": delta.lo, "delta_hi": delta.hi, "p": delta.p}
            before = side
            rows.append(row)
    return pd.DataFrame(rows, columns=list(TREND_COLUMNS)).astype({"delta": float, "p": float})
