"""``dojo eval``: labels of retrieval, grounding and generation, query by query."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dojo_kit.cli.eval_tables import print_agreement, print_comparison, print_evaluation
from dojo_kit.cli.inputs import JsonOption
from dojo_kit.cli.output import out, print_json, shown
from dojo_kit.errors import ComparabilityError, InputError, SettingsError

if TYPE_CHECKING:
    from dojo_kit.rag.tasks import TaskName
    from dojo_kit.runs.rag_evaluation import Evaluation
    from dojo_kit.runs.rag_settings import EvalSettings

eval_app = typer.Typer(
    no_args_is_help=True, help="Labels of retrieval, grounding and generation: scores, agreement, comparison."
)

TaskOption = Annotated[str | None, typer.Option("--task", help="retrieval, grounding or generation.")]
RunOption = Annotated[str | None, typer.Option("--run", help="The run_id to score, where a file holds several.")]
GroupOption = Annotated[
    str | None, typer.Option("--group-by", metavar="COL", help="Column of queries that belong together.")
]
BaseOption = Annotated[
    str | None, typer.Option("--base-dir", metavar="DIR", help="Workspace with exports and scores; here by default.")
]
ResamplesOption = Annotated[
    int | None, typer.Option("--n-resamples", metavar="B", help="Resamples of bootstrap intervals; 2000 by default.")
]
LevelOption = Annotated[
    float | None, typer.Option("--ci", metavar="C", help="Confidence level between 0 and 1; 0.95 by default.")
]
SeedOption = Annotated[int | None, typer.Option("--seed", help="Seed of the resamples; 42 by default.")]
IncompleteOption = Annotated[
    str | None,
    typer.Option("--on-incomplete", help="Queries with chunks unjudged: fail (default), skip, bounds or as_is."),
]
ViolationOption = Annotated[
    str | None, typer.Option("--on-violation", help="Labels that contradict each other: fail (default) or as_is.")
]
TieOption = Annotated[
    str | None, typer.Option("--tie", help="Tied votes: fail (default), drop, positive, negative or first.")
]
EvalConfigOption = Annotated[
    str | None, typer.Option("--config", help="Flat YAML or TOML file with these options, as score_id, n_resamples ...")
]


@eval_app.command("score")
def score_labels_of_queries(
    task: TaskOption = None,
    path: Annotated[str | None, typer.Option("--path", metavar="F", help="File of labels, CSV or Parquet.")] = None,
    export_id: Annotated[
        str | None, typer.Option("--export-id", metavar="ID", help="Annotation export; the latest where none is given.")
    ] = None,
    prediction_id: Annotated[
        str | None, typer.Option("--prediction-id", metavar="ID", help="Prediction run: labels by a model.")
    ] = None,
    system: Annotated[
        str | None, typer.Option("--system", metavar="ID", help="The system_id to score, where a file holds several.")
    ] = None,
    run: RunOption = None,
    group_by: GroupOption = None,
    score_id: Annotated[
        str | None, typer.Option("--score-id", metavar="ID", help="Folder of the score file; a hash by default.")
    ] = None,
    base_dir: BaseOption = None,
    n_resamples: ResamplesOption = None,
    ci: LevelOption = None,
    seed: SeedOption = None,
    on_incomplete: IncompleteOption = None,
    on_violation: ViolationOption = None,
    tie: TieOption = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a score file and a page that are there.")] = False,
    config: EvalConfigOption = None,
    report: Annotated[
        str | None, typer.Option("--report", metavar="OUT.html", help="Also write a page with the worst queries.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Score labels: one of --path, --export-id and --prediction-id names them, else the latest export is taken."""
    from dojo_kit.runs.rag_evaluation import evaluate, read_labels
    from dojo_kit.runs.rag_scores import check_free, score_file, score_id_of, scores_as_dict, write_scores
    from dojo_kit.runs.rag_selectors import EXPORT_SIDECAR, PREDICTION_SIDECAR
    from dojo_kit.runs.rag_settings import eval_settings

    given = {
        "task": task,
        "path": path,
        "export_id": export_id,
        "prediction_id": prediction_id,
        "system": system,
        "run": run,
        "group_by": group_by,
        "score_id": score_id,
        "base_dir": base_dir,
        "n_resamples": n_resamples,
        "ci": ci,
        "seed": seed,
        "on_incomplete": on_incomplete,
        "on_violation": on_violation,
        "tie": tie,
        "force": force or None,
    }
    settings = eval_settings(given, config=config)
    target = _page_target(report)
    if settings.score_id is not None:
        check_free(score_file(settings.score_id, settings.task, base_dir=settings.base_dir), force=settings.force)
    read = read_labels(settings)
    name = score_id_of(settings, *read)
    file = score_file(name, settings.task, base_dir=settings.base_dir)
    check_free(file, force=settings.force)
    if target is not None:
        kept: list[tuple[str, Path]] = [("an input", read[0].path), ("the score file", file)]
        kept += [("an input", read[0].path.parent / name) for name in (EXPORT_SIDECAR, PREDICTION_SIDECAR)]
        kept += [] if config is None else [("the settings", Path(config).expanduser())]
        _check_page(target, kept, force=settings.force)
    found = evaluate(settings, read=read)
    scores = scores_as_dict(found, score_id=name)
    page = None if target is None else (target, _page(found, target, settings))
    write_scores(scores, file, page=page, force=settings.force)
    if json:
        print_json({**scores, "file": str(file)})
        return
    print_evaluation(found)
    out.print(f"scores: {shown(file)} (score id {shown(name)})", soft_wrap=True)
    if target is not None:
        out.print(f"page: {shown(target)} ({target.stat().st_size / 1e6:.2f} MB, opens offline)", soft_wrap=True)


def _page_target(path: str | None) -> Path | None:
    """Return the page to write, before anything is computed for it."""
    if path is None:
        return None
    target = Path(path).expanduser()
    try:
        is_file = bool(path.strip()) and not target.is_dir()
    except (OSError, ValueError):  # a name no disk can hold
        is_file = False
    if not is_file:
        raise InputError(f"{path!r:.100} is no file", field="--report", expected="an HTML file to write")
    return target


def _check_page(target: Path, kept: list[tuple[str, Path]], *, force: bool) -> None:
    """Check that a page replaces nothing that the command reads or writes, and other files only with ``--force``."""
    from dojo_kit.runs.rag_scores import check_free

    for what, path in kept:
        if _same_file(target, path):
            message = f"{str(target)!r} is {what} of this command and would be overwritten"
            raise InputError(message, field="--report", expected="another file to write")
    check_free(target, force=force)


def _same_file(a: Path, b: Path) -> bool:
    """Tell whether two paths lead to one file, whether it is there or not."""
    try:
        return a.resolve() == b.resolve() or (a.exists() and b.exists() and a.samefile(b))
    except (OSError, RuntimeError):  # links in a circle
        return False


def _page(found: Evaluation, target: Path, settings: EvalSettings) -> str:
    from dojo_widgets.rag_findings import rag_page

    return rag_page(found, command=_command(settings, target)).html()


def _command(settings: EvalSettings, page: Path) -> str:
    import shlex

    from dojo_kit.runs.rag_settings import EvalSettings as Defaults

    usual = asdict(Defaults(task=settings.task))
    words = ["dojo", "eval", "score", "--task", settings.task]
    for name, value in asdict(settings).items():
        if value != usual[name] and name not in ("force", "task"):
            words += [f"--{name.replace('_', '-')}", str(value)]
    return shlex.join([*words, "--report", page.name])


@eval_app.command("agreement")
def agree(
    export_id: Annotated[str, typer.Argument(metavar="EXPORT_ID", help="Annotation export.")],
    task: Annotated[
        list[str] | None, typer.Option("--task", help="Only this task; repeat. All of the export by default.")
    ] = None,
    system: Annotated[
        str | None, typer.Option("--system", metavar="ID", help="Only this system; each by itself by default.")
    ] = None,
    run: Annotated[
        str | None, typer.Option("--run", metavar="ID", help="Only this run, where a file holds several.")
    ] = None,
    after: Annotated[
        str | None, typer.Option("--after", help="Only rows from this date or time on, itself included.")
    ] = None,
    before: Annotated[
        str | None, typer.Option("--before", help="Only rows up to this time, or the end of this date.")
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option("--exclude-annotator", metavar="NAME", help="Leave an annotator out; repeat.")
    ] = None,
    base_dir: BaseOption = None,
    n_resamples: ResamplesOption = None,
    ci: LevelOption = None,
    seed: SeedOption = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a report that is there.")] = False,
    json: JsonOption = False,
) -> None:
    """Measure how far annotators agree: Krippendorff's alpha, shares of agreeing pairs, Cohen's kappa."""
    from dojo_kit.rag.tasks import task_named
    from dojo_kit.runs.rag_agreement import (
        AgreementOptions,
        agreement_of_export,
        report_file,
        time_limit,
        write_report,
    )

    usual = AgreementOptions()
    options = AgreementOptions(
        system=system,
        run=run,
        exclude_annotators=tuple(exclude or ()),
        after=time_limit(after, option="--after"),
        before=time_limit(before, option="--before", end_of_day=True),
        n_resamples=usual.n_resamples if n_resamples is None else n_resamples,
        seed=usual.seed if seed is None else seed,
        ci=usual.ci if ci is None else ci,
    )
    tasks: list[TaskName] = [task_named(name).name for name in dict.fromkeys(task or ())]
    base = "." if base_dir is None else base_dir
    file = report_file(export_id, base_dir=base, force=force)
    found = agreement_of_export(export_id, tasks=tasks, base_dir=base, options=options)
    report = found.as_dict(created_at=datetime.now(UTC).isoformat(timespec="seconds"))
    write_report(report, file)
    if json:
        print_json({**report, "file": str(file)})
        return
    print_agreement(found)
    out.print(f"report: {shown(file)}", soft_wrap=True)


@eval_app.command("compare")
def compare_two(
    files: Annotated[
        list[str], typer.Argument(metavar="A [B]", help="Two files of labels, or one with two systems or runs.")
    ],
    task: TaskOption = None,
    system: Annotated[
        list[str] | None,
        typer.Option("--system", metavar="ID", help="The baseline, then the other system; once for both sides."),
    ] = None,
    run: Annotated[
        list[str] | None,
        typer.Option("--run", metavar="ID", help="The baseline, then the other run; once for both sides."),
    ] = None,
    group_by: GroupOption = None,
    n_resamples: ResamplesOption = None,
    ci: LevelOption = None,
    seed: SeedOption = None,
    on_incomplete: IncompleteOption = None,
    on_violation: ViolationOption = None,
    tie: TieOption = None,
    config: EvalConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Hold system B against A on the same queries, paired: two files, or one with --system or --run given twice."""
    from dojo_kit.analysis.rag_compare import compare_systems
    from dojo_kit.runs.rag_evaluation import evaluate
    from dojo_kit.runs.rag_settings import eval_settings

    if len(files) > 2:
        raise SettingsError(f"a comparison has two sides, not {len(files)}")
    systems, runs = _sides("--system", system or []), _sides("--run", run or [])
    paths = files * 2 if len(files) == 1 else files
    given = {
        "task": task,
        "path": paths[0],
        "group_by": group_by,
        "n_resamples": n_resamples,
        "ci": ci,
        "seed": seed,
        "on_incomplete": on_incomplete,
        "on_violation": on_violation,
        "tie": tie,
    }
    settings = eval_settings(given, config=config)
    sides = [
        replace(settings, path=path, system=name or settings.system, run=of or settings.run)
        for path, name, of in zip(paths, systems, runs, strict=True)
    ]
    if len(files) == 1 and (sides[0].system, sides[0].run) == (sides[1].system, sides[1].run):
        raise SettingsError("one file holds two sides when both are named: --system A --system B, or --run A --run B")
    arms = [evaluate(side) for side in sides]
    a, b = (arm.card for arm in arms)
    if arms[0].table.sha256 == arms[1].table.sha256 and (a.system, a.run) == (b.system, b.run):
        raise ComparabilityError("both are the same labels of one system and run")
    names = _names(arms, paths)
    found = compare_systems(arms[0].card, arms[1].card, names=names)
    if json:
        hashes = [arm.table.sha256 for arm in arms]
        named = {"systems": [arm.card.system for arm in arms], "runs": [arm.card.run for arm in arms]}
        print_json({**found.as_dict(), "files": paths, **named, "input_sha256": hashes})
        return
    print_comparison(found)


def _sides(option: str, given: list[str]) -> list[str | None]:
    """Return what an option says of each side."""
    if len(given) > 2:
        raise SettingsError(f"a comparison has two sides, but {option} is given {len(given)} times")
    return [*given] if len(given) == 2 else [given[0] if given else None] * 2


def _names(arms: list[Evaluation], paths: list[str]) -> tuple[str, str]:
    """Call the sides by their systems where these differ, else by their runs, else by their files."""
    for a, b in ([arm.card.system for arm in arms], [arm.card.run for arm in arms]):
        if a is not None and b is not None and a != b:
            return a, b
    first, second = (Path(path).name for path in paths)
    return (first, second) if first != second else (paths[0], paths[1])
