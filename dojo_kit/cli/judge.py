"""``dojo judge``: does a judge agree with the deterministic score? Asks one first, when told to."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dojo_kit import formats
from dojo_kit.cli.inputs import (
    ClassOption,
    ConfigOption,
    DocumentsOption,
    EmbedderOption,
    JsonOption,
    OnError,
    OnErrorOption,
    SetOption,
    Spans,
    SpansOption,
    scored_from,
    settings_from,
)
from dojo_kit.cli.measuring import refuse_inputs
from dojo_kit.cli.output import (
    Column,
    build_table,
    estimates_table,
    out,
    print_json,
    progress_bar,
    report_problems,
    shown,
)
from dojo_kit.errors import InputError
from dojo_kit.stats.intervals import SCOPE

if TYPE_CHECKING:
    from dojo_kit.analysis.judging import Calibration, LabelJudging
    from dojo_kit.runs.judgments import Judgments
    from dojo_kit.runs.live_judge import LiveJudging


def judge(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="Judgments (JSONL); with --live they are appended to it.")
    ],
    judge: Annotated[str | None, typer.Option("--judge", help="The judge to look at, where several judged.")] = None,
    experiment: Annotated[
        str | None, typer.Option("--experiment", help="The run to look at, where several were judged.")
    ] = None,
    live: Annotated[
        str | None,
        typer.Option("--live", metavar="RUN", help="Ask a judge about this run's ambiguous documents first."),
    ] = None,
    labels: Annotated[str | None, typer.Option("--labels", help="With --live: labels the run is scored by.")] = None,
    documents: DocumentsOption = None,
    model: Annotated[
        str | None, typer.Option("--model", help="With --live: chat model, as its server knows it.")
    ] = None,
    base_url: Annotated[
        str, typer.Option("--base-url", help="With --live: OpenAI-compatible server; its key: DOJO_KIT_JUDGE_API_KEY.")
    ] = "",
    spans: SpansOption = Spans.all,
    embedder: EmbedderOption = None,
    doc_class: ClassOption = None,
    set_: SetOption = None,
    config: ConfigOption = None,
    on_error: OnErrorOption = OnError.stop,
    json: JsonOption = False,
) -> None:
    """Compare a judge's verdicts with the deterministic scores: agreement, kappa, where the judge leans."""
    from dojo_kit.analysis.judging import calibrate_judge, summarise_label_judgments
    from dojo_kit.runs.judgments import read_judgments

    needed = {"--labels": labels, "--documents": documents, "--model": model}
    asked = None
    if live is None:
        unused = [name for name, value in {**needed, "--base-url": base_url or None}.items() if value is not None]
        if unused:
            raise InputError(f"{', '.join(unused)}: no run is judged", field="--live", expected="the run to be judged")
    elif labels is None or documents is None or model is None:
        missing = next(name for name, value in needed.items() if value is None)
        raise InputError("is missing: a live judge needs it", field=missing, expected=", ".join(needed))
    else:
        refuse_inputs(file, [live, labels, documents, config], option="FILE")
        options = (spans, embedder, set_, config, doc_class, on_error)
        asked = _ask(file, live, labels, documents, model, base_url, options, json=json)
    judgments = read_judgments(file, on_error=on_error.value)
    settings = settings_from(config, set_)
    found = calibrate_judge(judgments.extractions, judge=judge, experiment=experiment, settings=settings)
    of_labels = summarise_label_judgments(judgments.labels, settings=settings)
    report_problems(judgments.problems)
    if json:
        print_json(_as_dict(judgments, found, of_labels, asked))
        return
    if asked is not None:
        _print_asked(asked)
    _print_counts(judgments, found)
    if found.n_judged:
        _print_calibration(found)
    if of_labels.n:
        _print_labels(of_labels)
    out.print(f"\n[dim]{SCOPE}[/]")


def _ask(
    file: str, run: str, labels: str, documents: str, model: str, base_url: str, options: tuple[Any, ...], *, json: bool
) -> LiveJudging:
    from dojo_kit.runs import load_documents
    from dojo_kit.runs.live_judge import judge_endpoint, judge_run

    spans, embedder, changes, config, doc_class, on_error = options
    endpoint = judge_endpoint(base_url)
    scored = scored_from(run, labels, documents, spans, embedder, changes, config, doc_class, on_error, quiet=json)
    texts = load_documents(documents, on_error=on_error.value)
    with progress_bar("judging", quiet=json) as progress:
        asked = judge_run(
            scored, texts, file, model=model, endpoint=endpoint, on_error=on_error.value, progress=progress
        )
    report_problems(asked.problems)
    if not asked.n_asked + asked.n_kept:
        raise InputError("no document was judged", file=run, expected="documents with a field score that is ambiguous")
    return asked


def _as_dict(
    judgments: Judgments, found: Calibration, of_labels: LabelJudging, asked: LiveJudging | None
) -> dict[str, Any]:
    return {
        "judgments_file": judgments.source,
        "n_lines": judgments.n_lines,
        "n_duplicates": judgments.n_duplicates,
        "duplicated": list(judgments.duplicated),
        **found.as_dict(),
        "classification": of_labels.as_dict() if of_labels.n else None,
        "live": None if asked is None else {**asdict(asked), "problems": [asdict(one) for one in asked.problems]},
        "scope": SCOPE,
        "problems": [asdict(problem) for problem in judgments.problems],
    }


def _print_asked(asked: LiveJudging) -> None:
    parts = [f"{formats.count(asked.n_ambiguous, 'ambiguous document')}: {asked.n_asked:,} asked"]
    parts.append(f"{asked.n_kept:,} judged before")
    if asked.n_without_text:
        parts.append(f"[yellow]{asked.n_without_text:,} without text[/]")
    out.print(", ".join(parts))
    if asked.n_cut:
        says = f"of {formats.count(asked.n_cut, 'document')} the judge saw the first 16,000 characters only"
        out.print(f"[yellow]{says}[/]")


def _print_counts(judgments: Judgments, found: Calibration) -> None:
    out.print(f"[bold]{shown(judgments.source)}[/]  {shown(found.judge)}".rstrip())
    parts = [f"{formats.count(found.n_judged, 'document')} judged, {found.n_scored:,} with a verdict and a score"]
    if found.n_errors:
        parts.append(f"[yellow]{found.n_errors:,} without a verdict[/]")
    if judgments.n_duplicates:
        lines = formats.count(judgments.n_duplicates, "earlier line")
        parts.append(f"[yellow]{lines} of {formats.count(len(judgments.duplicated), 'document')} left out[/]")
    out.print(", ".join(parts))


def _print_calibration(found: Calibration) -> None:
    out.print()
    out.print(estimates_table(found.estimates.items()))
    bands = {"strong": f">= {found.strong:g}", "middle": "between", "weak": f"<= {found.weak:g}"}
    columns: list[Column] = [("score", "left"), *((str(name), "right") for name in found.table.columns)]
    rows = [[f"{band} ({bands[str(band)]})", *(f"{n:,}" for n in row)] for band, row in found.table.T.items()]
    out.print()
    out.print(build_table("score against verdict", columns, rows))
    out.print(f"strict (strong, called inaccurate) {found.judge_strict:,}, ", end="")
    out.print(f"lenient (weak, called accurate) {found.judge_lenient:,}")
    for name, frame in (("field", found.by_field), ("band", found.by_band)):
        if frame.empty:
            continue
        cells = [
            [
                str(row[name]),
                *(f"{row[column]:,}" for column in _COUNTS),
                formats.number(row["lean"]),
                f"[{formats.number(row['lean_lo'])}, {formats.number(row['lean_hi'])}]" if row["n"] else "",
            ]
            for row in frame.to_dict("records")
        ]
        columns = [(name, "left"), *((column, "right") for column in _COUNTS), ("lean", "right"), ("95 %", "left")]
        out.print()
        out.print(build_table(f"by {name}", columns, cells, drop=("accurate", "partial", "inaccurate")))
    out.print("[dim]lean: verdict minus band, 1, 0.5 or 0 each; above 0 the judge is more lenient than the score[/]")


_COUNTS = ("n", "accurate", "partial", "inaccurate", "agree", "strict", "lenient")


def _print_labels(found: LabelJudging) -> None:
    verdicts = ", ".join(f"{name} {n:,}" for name, n in found.verdicts.items())
    out.print(f"\n[bold]{formats.count(found.n, 'failed classification')} judged[/]: {verdicts}")
    out.print(estimates_table([("called correct", found.correct_share), ("quality", found.quality)]))
    rows = [
        [str(row["expected"]), str(row["predicted"]), f"{row['n']:,}", f"{row['n_correct']:,}"]
        for row in found.pairs.head(10).to_dict("records")
    ]
    columns: list[Column] = [("label", "left"), ("answer", "left"), ("n", "right"), ("called correct", "right")]
    out.print(build_table("", columns, rows))
