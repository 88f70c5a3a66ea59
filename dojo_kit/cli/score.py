"""``dojo score`` and ``dojo diagnose``: a run and labels in, tables or JSON out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dojo_kit import formats
from dojo_kit.cli.output import (
    Column,
    build_table,
    err,
    estimates_table,
    out,
    print_json,
    progress_bar,
    report_problems,
    shown,
)
from dojo_kit.errors import SettingsError
from dojo_kit.settings import Settings, parse_value
from dojo_kit.stats.intervals import SCOPE, Estimate

if TYPE_CHECKING:
    from dojo_kit.scoring.run import ScoredRun


SHOWN_FAILURES = 3


class Spans(StrEnum):
    """Which labelled spans count."""

    first = "first"
    all = "all"


class OnError(StrEnum):
    """What happens to input that cannot be read."""

    stop = "raise"
    collect = "collect"


RunArgument = Annotated[
    str, typer.Argument(help="Run file: record JSON, manifest or JSONL, CSV, Parquet; log.jsonl#NAME.")
]
LabelsOption = Annotated[
    str,
    typer.Option(
        "--labels",
        help="Labels: CUAD folder, master_clauses.csv, CUAD_v1.json or JSONL; cuad:PATH, jsonl:PATH.",
    ),
]
DocumentsOption = Annotated[str | None, typer.Option("--documents", help="Document texts: folder, zip or JSONL.")]
SpansOption = Annotated[
    Spans, typer.Option("--spans", help="Score against all labelled spans or the first of each category.")
]
EmbedderOption = Annotated[
    str | None, typer.Option("--embedder", help="none, auto, a model name, a folder, or openai:MODEL.")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="SECTION.KEY=VALUE", help="Change a setting; may be repeated."),
]
ConfigOption = Annotated[str | None, typer.Option("--config", help="Settings file (YAML or TOML).")]
ClassOption = Annotated[str | None, typer.Option("--class", help="Document class, e.g. contract.")]
OnErrorOption = Annotated[OnError, typer.Option("--on-error", help="Stop at the first bad row, or collect and go on.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]


def score(
    run: RunArgument,
    labels: LabelsOption,
    documents: DocumentsOption = None,
    spans: SpansOption = Spans.all,
    embedder: EmbedderOption = None,
    set_: SetOption = None,
    config: ConfigOption = None,
    doc_class: ClassOption = None,
    out_dir: Annotated[
        str | None, typer.Option("--out", help="Write the five frames and the recipe into this folder.")
    ] = None,
    on_error: OnErrorOption = OnError.stop,
    json: JsonOption = False,
) -> None:
    """Score a run against labels: every document, field, item and span, with the reason of each score."""
    scored = _scored(run, labels, documents, spans, embedder, set_, config, doc_class, on_error, quiet=json)
    if out_dir is not None:
        from dojo_kit.runs import save

        save(scored, out_dir)
    if json:
        print_json(score_as_dict(scored))
        return
    _print_scores(scored)
    if out_dir is not None:
        out.print(f"\nframes and recipe: {shown(out_dir)}")


def diagnose(
    run: RunArgument,
    labels: LabelsOption,
    documents: DocumentsOption = None,
    spans: SpansOption = Spans.all,
    embedder: EmbedderOption = None,
    set_: SetOption = None,
    config: ConfigOption = None,
    doc_class: ClassOption = None,
    on_error: OnErrorOption = OnError.stop,
    json: JsonOption = False,
) -> None:
    """Show where a run loses its score: shares, list quality, errors in days and money, span counts."""
    from dojo_kit.analysis.diagnostics import diagnose as run_diagnostics
    from dojo_kit.analysis.diagnostics import diagnostics_as_dict

    scored = _scored(run, labels, documents, spans, embedder, set_, config, doc_class, on_error, quiet=json)
    diagnostics = run_diagnostics(scored)
    if json:
        print_json(
            {
                "recipe": scored.recipe.as_dict(),
                **scored.counts,
                "failures": scored.failures,
                "diagnostics": diagnostics_as_dict(diagnostics),
                "scope": SCOPE,
                "problems": [asdict(problem) for problem in scored.problems],
            }
        )
        return
    _print_diagnostics(scored, diagnostics)


def score_as_dict(scored: ScoredRun) -> dict[str, Any]:
    """Return everything ``dojo score --json`` prints."""
    from dojo_kit.analysis.diagnostics import diagnose as run_diagnostics
    from dojo_kit.analysis.diagnostics import diagnostics_as_dict

    return {
        "recipe": scored.recipe.as_dict(),
        **scored.counts,
        "failures": scored.failures,
        "metrics": {name: estimate.as_dict() for name, estimate in scored.metrics().items()},
        "diagnostics": diagnostics_as_dict(run_diagnostics(scored)),
        "scope": SCOPE,
        "problems": [asdict(problem) for problem in scored.problems],
    }


def settings_from(config: str | None, changes: list[str] | None) -> Settings:
    """Build settings from a file, the environment and ``section.key=value`` words.

    Raises:
        SettingsError: A word has no ``=``, or a setting is unknown.
    """
    overrides = {}
    for change in changes or []:
        name, equals, value = change.partition("=")
        if not equals or "." not in name:
            raise SettingsError(f"--set {change!r} is not of the form section.key=value")
        if name.strip() in overrides:
            raise SettingsError(f"--set {name.strip()} is given twice")
        overrides[name.strip()] = parse_value(value)
    return Settings.load(config, overrides=overrides, where="--set")


def _scored(
    run: str,
    labels: str,
    documents: str | None,
    spans: Spans,
    embedder: str | None,
    changes: list[str] | None,
    config: str | None,
    doc_class: str | None,
    on_error: OnError,
    *,
    quiet: bool,
) -> ScoredRun:
    from dojo_kit.embedders import load_embedder
    from dojo_kit.runs import load_documents, load_labels, read_run
    from dojo_kit.scoring.run import score_run

    settings = settings_from(config, changes)
    by_setting = settings.embedding.model if settings.field_scoring.embedding_enabled else "none"
    chosen = by_setting if embedder is None else embedder
    loaded = read_run(run, on_error=on_error.value)
    expected = load_labels(labels, on_error=on_error.value, **({"doc_class": doc_class} if doc_class else {}))
    texts = None if documents is None else load_documents(documents, on_error=on_error.value)
    label = "scoring" if chosen == "none" else "encoding texts, then scoring"
    with progress_bar(label, quiet=quiet) as progress:
        scored = score_run(
            loaded,
            expected,
            texts,
            doc_class=doc_class,
            spans=spans.value,
            embedder=load_embedder(chosen, settings=settings, progress=progress),
            settings=settings,
            progress=progress,
        )
    report_problems(scored.problems)
    return scored


def _print_scores(scored: ScoredRun) -> None:
    metrics = scored.metrics()
    fields = list(dict.fromkeys(scored.fields["field"]))
    per_field = {f"{name}_{kind}" for name in fields for kind in _FIELD_METRICS}
    _print_heading(scored)
    out.print()
    out.print(estimates_table((name, metric) for name, metric in metrics.items() if name not in per_field))
    out.print()
    rows = [_field_cells(scored, name, metrics) for name in fields]
    filled = [index for index in range(len(_FIELD_COLUMNS)) if any(row[index] for row in rows)]
    columns = [_FIELD_COLUMNS[index] for index in filled]
    cells = [[row[index] for index in filled] for row in rows]
    out.print(
        build_table("by field", columns, cells, drop=("words", "true", "precision", "exact", "partial", "miss", "type"))
    )
    out.print(f"\n[dim]{SCOPE}[/]")


_FIELD_METRICS = ("score", "f1", "precision", "score_string", "verified_precision", "hallucination_rate")
_FIELD_COLUMNS: list[Column] = [
    ("field", "left"),
    ("type", "left"),
    ("score", "right"),
    ("95 % interval", "left"),
    ("n", "right"),
    ("words", "right"),
    ("precision", "right"),
    ("true", "right"),
    ("exact", "right"),
    ("partial", "right"),
    ("miss", "right"),
]
"""``words``: score without embeddings; ``true``: share of values that match a label or stand in the document."""


def _field_cells(scored: ScoredRun, name: str, metrics: Mapping[str, Estimate]) -> list[str]:
    mine = scored.fields[scored.fields["field"] == name]
    score = metrics[f"{name}_score"]
    flags = mine["flag"].value_counts()
    beside = {kind: metrics.get(f"{name}_{kind}") for kind in ("score_string", "precision", "verified_precision")}
    return [
        name,
        str(mine["type"].iloc[0]),
        formats.number(score.value),
        formats.interval(score) or "not labelled",
        f"{score.n:,}",
        *("" if estimate is None else formats.number(estimate.value) for estimate in beside.values()),
        *(f"{flags.get(flag, 0):,}" if score.n else "" for flag in ("exact", "partial", "miss")),
    ]


def _print_heading(scored: ScoredRun) -> None:
    counts, run = scored.counts, scored.recipe.run
    parts = [f"{counts['n_scored']:,} of {formats.count(counts['n_documents'], 'document')} scored"]
    if counts["n_failed"]:
        parts.append(f"[red]{counts['n_failed']:,} failed[/]")
    if counts["n_unmatched"]:
        parts.append(f"[yellow]{counts['n_unmatched']:,} without labels[/]")
    if counts["n_nothing_expected"]:
        parts.append(f"{counts['n_nothing_expected']:,} with nothing expected")
    made = " \N{MIDDLE DOT} ".join(shown(part) for part in (run["model"], run["prompt_version"]) if part)
    out.print(f"[bold]{shown(run['name'])}[/]  {made}")
    out.print(", ".join(parts))
    for reason, n in list(scored.failures.items())[:SHOWN_FAILURES]:
        out.print(f"[dim]  {n:,} x {shown(reason)}[/]")
    if len(scored.failures) > SHOWN_FAILURES:
        out.print(f"[dim]  and {formats.count(len(scored.failures) - SHOWN_FAILURES, 'other reason')}[/]")


def _print_diagnostics(scored: ScoredRun, diagnostics: Mapping[str, Any]) -> None:
    _print_heading(scored)
    flat = [(name, value) for name, value in diagnostics.items() if isinstance(value, Estimate)]
    out.print()
    out.print(estimates_table(flat, title="over all fields"))
    counts = [f"{name} {value:,}" for name, value in diagnostics.items() if isinstance(value, int)]
    out.print(f"\n[dim]{', '.join(counts)}[/]")
    for name, value in diagnostics.items():
        rows = list(_leaves(value)) if isinstance(value, Mapping) else []
        if rows:
            out.print()
            out.print(estimates_table(rows, title=name))
    out.print(f"\n[dim]{SCOPE}[/]")
    err.print("[dim]dojo score shows the metrics themselves; --json prints everything.[/]")


def _leaves(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Estimate]]:
    for name, value in table.items():
        if isinstance(value, Estimate):
            yield f"{prefix}{name}", value
        elif isinstance(value, Mapping):
            yield from _leaves(value, f"{prefix}{name} ")
