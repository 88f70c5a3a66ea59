"""``dojo cost``: what runs cost, what of it is unknown, what the provider billed, and whether it is worth it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dojo_kit import formats
from dojo_kit.cli.inputs import (
    ConfigOption,
    JsonOption,
    OnError,
    OnErrorOption,
    SetOption,
    Spans,
    SpansOption,
    settings_from,
)
from dojo_kit.cli.measuring import problem_of, with_hint
from dojo_kit.cli.output import Column, build_table, err, out, print_json, report_problems, shown
from dojo_kit.errors import InputError
from dojo_kit.stats.intervals import SCOPE

if TYPE_CHECKING:
    from dojo_kit.analysis.billing import Bill
    from dojo_kit.analysis.cost_front import CostFront, ScoredCost
    from dojo_kit.analysis.costs import CostReport, RunCost, TotalCost
    from dojo_kit.analysis.measured import Measured
    from dojo_kit.records import Labels, Problem, Run
    from dojo_kit.runs.activity import Activity
    from dojo_kit.settings import Settings


class BasisName(StrEnum):
    """What a document costs."""

    estimate = "estimate"
    billed = "billed"


def cost(
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="Run files; log.jsonl#NAME.")],
    activity: Annotated[
        str | None, typer.Option("--activity", metavar="CSV", help="A provider's export, one line per generation.")
    ] = None,
    labels: Annotated[
        str | None, typer.Option("--labels", help="Labels that extraction runs are scored by, for cost against score.")
    ] = None,
    spans: SpansOption = Spans.all,
    metric: Annotated[str | None, typer.Option("--metric", help="The score; the task's headline by default.")] = None,
    basis: Annotated[
        BasisName | None, typer.Option("--basis", help="Costs to set against the score; whichever more runs have.")
    ] = None,
    set_: SetOption = None,
    config: ConfigOption = None,
    on_error: OnErrorOption = OnError.stop,
    json: JsonOption = False,
) -> None:
    """Show what runs cost, by run, stage and model, beside the provider's bill and the score."""
    from dojo_kit.analysis.billing import assign_bill
    from dojo_kit.analysis.cost_front import cost_fronts
    from dojo_kit.analysis.costs import cost_report
    from dojo_kit.runs import load_labels
    from dojo_kit.runs.activity import read_activity

    settings = settings_from(config, set_)
    loaded, problems = _read(runs, on_error)
    expected = None if labels is None else load_labels(labels, on_error=on_error.value)
    report = cost_report(loaded, settings=settings)
    export = None if activity is None else read_activity(activity, on_error=on_error.value)
    bill = None if export is None else assign_bill(export.generations, report.runs)
    scored = _scored(loaded, report.runs, expected, spans, metric, settings)
    fronts = cost_fronts(scored, basis=None if basis is None else basis.value)
    problems += export.problems if export else ()
    if json:
        print_json(
            {
                **report.as_dict(),
                "activity": None if bill is None or export is None else _activity(bill, export),
                "fronts": [front.as_dict() for front in fronts],
                "scope": SCOPE,
                "problems": [asdict(problem) for problem in problems],
            }
        )
        return
    report_problems(problems)
    _print_report(report)
    if bill is not None and export is not None:
        _print_bill(bill, export)
    for front in fronts:
        _print_front(front)
    out.print(f"\n[dim]{SCOPE}[/]")


def _read(sources: Sequence[str], on_error: OnError) -> tuple[list[Run], list[Problem]]:
    """Read runs; one that cannot be read is a problem, when problems are collected and another one can be."""
    from dojo_kit.runs import read_run

    runs: list[Run] = []
    problems: list[Problem] = []
    refused: list[InputError] = []
    for source in sources:
        try:
            runs.append(read_run(source, on_error=on_error.value))
        except InputError as error:
            if on_error is OnError.stop:
                raise with_hint(error) if len(sources) > 1 else error from None
            refused.append(error)
            problems.append(problem_of(error, source))
        else:
            problems += runs[-1].problems
    if refused and not runs:
        raise refused[0]
    return runs, problems


def _scored(
    runs: Sequence[Run],
    costs: Sequence[RunCost],
    labels: Labels | None,
    spans: Spans,
    metric: str | None,
    settings: Settings,
) -> list[ScoredCost]:
    """Score what can be scored; a run without scores is left out of cost against score, with a word."""
    from dojo_kit.analysis.cost_front import scored_cost
    from dojo_kit.analysis.measured import measure
    from dojo_kit.analysis.measured.values import known_metrics, no_metric
    from dojo_kit.records import ExtractionRow
    from dojo_kit.scoring.run import score_run

    measured: list[tuple[RunCost, Measured]] = []
    for run, of_run in zip(runs, costs, strict=True):
        extracts = bool(run.rows) and isinstance(run.rows[0], ExtractionRow)
        try:
            if labels and extracts:
                scored = score_run(run, labels, spans=spans.value, settings=settings)
                measured.append((of_run, measure(scored, run=run)))
            else:
                measured.append((of_run, measure(run, settings=settings)))
        except InputError as error:
            err.print(f"[yellow]{shown(of_run.name)} has no score:[/] {shown(error)}")
    known = known_metrics(run for _, run in measured)
    if metric is not None and measured and metric not in known:
        raise no_metric(metric, known)
    found = []
    for of_run, run_measured in measured:
        try:
            found.append(scored_cost(of_run, run_measured, metric=metric, settings=settings))
        except InputError as error:
            err.print(f"[yellow]{shown(of_run.name)} has no score:[/] {shown(error)}")
    return found


def _activity(bill: Bill, export: Activity) -> dict[str, Any]:
    counted = {name: getattr(export, name) for name in ("source", "n_duplicates", "n_without_zone")}
    return {**counted, "n_generations": len(export.generations), **bill.as_dict()}


def _print_report(report: CostReport) -> None:
    tokens = sum(run.total.total_tokens for run in report.runs)
    out.print(f"[bold]{formats.count(len(report.runs), 'run')}[/], {tokens:,} tokens")
    out.print(f"estimated {_total(report.estimated)}")
    if report.billed.n_known:
        out.print(f"stated by the provider {_total(report.billed)}")
    out.print()
    out.print(build_table("by run", _RUN_COLUMNS, [_run_cells(run) for run in report.runs], drop=_RUN_DROP))
    if any(run.extrapolated for run in report.runs):
        out.print("[dim]~ extrapolated: rows without usage are taken at the mean of the others[/]")
    _print_stages(report)
    _print_models(report)
    for note in report.notes:
        out.print(f"[yellow]{shown(note)}[/]")
    out.print(f"[dim]packaged prices of {report.prices_as_of}, {report.prices_source}; cost_models sets others[/]")


def _print_stages(report: CostReport) -> None:
    rows = [
        [
            run.name,
            stage.stage,
            *(f"{n:,}" for n in (stage.rows_with_usage, stage.prompt_tokens, stage.completion_tokens)),
            formats.dollars(stage.estimated_usd),
        ]
        for run in report.runs
        for stage in run.stages.values()
        if len(run.stages) > 1
    ]
    if rows:
        names = ("with usage", "read", "written", "estimate")
        columns: list[Column] = [("run", "fold"), ("stage", "left"), *((name, "right") for name in names)]
        out.print()
        out.print(build_table("by stage", columns, rows))


def _print_models(report: CostReport) -> None:
    models = report.by_model()
    if len(models) < 2:
        return
    rows = [
        [
            row["model"] or "not named",
            *(f"{row[name]:,}" for name in ("n_runs", "prompt_tokens", "completion_tokens")),
            *(formats.dollars(row[name]) for name in ("estimated_usd", "known_usd", "billed_usd")),
            row["note"],
        ]
        for row in models.to_dict("records")
    ]
    names = ("runs", "read", "written", "estimate", "known part", "stated")
    columns: list[Column] = [("model", "left"), *((name, "right") for name in names), ("", "fold")]
    out.print()
    out.print(build_table("by model", columns, rows, drop=("stated",)))


_RUN_COLUMNS: list[Column] = [
    ("run", "fold"),
    ("model", "left"),
    ("rows", "right"),
    ("with usage", "right"),
    ("replayed", "right"),
    ("read", "right"),
    ("written", "right"),
    ("estimate", "right"),
    ("stated", "right"),
    ("a document", "right"),
    ("whole run", "right"),
    ("", "fold"),
]
_RUN_DROP = ("written", "read", "rows", "a document", "stated")


def _run_cells(run: RunCost) -> list[str]:
    total = run.total
    beside = run.per_document if run.per_document.value is not None else run.per_document_billed
    return [
        run.name,
        run.model,
        *(f"{n:,}" for n in (total.n_rows, total.rows_with_usage, total.rows_replayed)),
        *(f"{n:,}" for n in (total.prompt_tokens, total.completion_tokens)),
        formats.dollars(total.estimated_usd),
        formats.dollars(total.billed_usd),
        formats.dollars(beside.value),
        ("~" if run.extrapolated else "") + formats.dollars(run.whole_run.value),
        total.note,
    ]


def _total(total: TotalCost) -> str:
    if total.usd is not None:
        return f"[bold]{formats.dollars(total.usd)}[/]"
    n_known = formats.count(total.n_known, "run")
    known = f"known: {formats.dollars(total.known_usd)} of {n_known}" if total.n_known else "nothing of it is known"
    return f"[bold]unknown[/] ([yellow]{shown(total.note)}[/]; {known})"


def _print_bill(bill: Bill, export: Activity) -> None:
    out.print(f"\n[bold]billed {formats.dollars(bill.total_usd)}[/] for {len(export.generations):,} generations")
    rows = [
        [
            run.run,
            f"{run.n_generations:,}",
            formats.dollars(run.billed_usd),
            formats.dollars(run.estimated_usd),
            "mixed" if run.mixed else "",
            run.note,
        ]
        for run in bill.runs
    ]
    names = ("generations", "billed", "estimate")
    columns: list[Column] = [("run", "fold"), *((name, "right") for name in names), ("", "left"), (" ", "fold")]
    out.print(build_table("", columns, rows))
    for model, n, usd in bill.unassigned:
        beside = f"{formats.count(n, 'generation')} of {model} belong to no run: {formats.dollars(usd)}"
        out.print(f"[yellow]{shown(beside)}[/]")
    for note in bill.notes:
        out.print(f"[yellow]{shown(note)}[/]")
    if export.n_duplicates:
        out.print(f"[yellow]{formats.count(export.n_duplicates, 'line')} with an id that occurred before left out[/]")
    if export.n_without_zone:
        out.print(f"[dim]{formats.count(export.n_without_zone, 'time')} without a zone taken as UTC[/]")


def _print_front(front: CostFront) -> None:
    rows = [
        [
            point.run,
            point.model,
            formats.dollars(point.cost.value),
            formats.estimate(point.score),
            "" if point.on_front else f"beaten by {point.beaten_by}",
        ]
        for point in front.points
    ]
    says = "estimated" if front.basis == "estimate" else "stated by the provider"
    n_best = formats.count(len(front.front), "run is", "runs are")
    title = f"cost against {front.metric}: {n_best} worth the money (costs {says}, a document)"
    columns: list[Column] = [
        ("run", "fold"),
        ("model", "left"),
        ("a document", "right"),
        (front.metric, "left"),
        ("", "fold"),
    ]
    out.print()
    if rows:
        out.print(build_table(title, columns, rows))
        out.print("[dim]by point values: two runs whose intervals overlap may well change places[/]")
    else:
        out.print(f"cost against {shown(front.metric)}: no run has both a cost and a score")
    for name, lacks in front.left_out:
        out.print(f"[dim]left out: {shown(name)} ({shown(lacks)})[/]")
