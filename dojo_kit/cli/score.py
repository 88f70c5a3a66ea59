"""``dojo score`` and ``dojo diagnose``: a run and labels in, tables or JSON out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
    LabelsOption,
    OnError,
    OnErrorOption,
    RunArgument,
    SetOption,
    Spans,
    SpansOption,
    scored_from,
    settings_from,
)
from dojo_kit.cli.output import Column, build_table, err, estimates_table, out, print_json, shown
from dojo_kit.cli.score_labels import (
    LABELS_WANTED,
    ExpectedOption,
    LabelOptions,
    OptionalLabelsOption,
    PositiveOption,
    PredictedOption,
    TaskOption,
    ValidOption,
    asks_questions,
    label_options,
    labels_as_dict,
    print_labels,
    read_rows,
    scored_labels,
)
from dojo_kit.errors import InputError
from dojo_kit.stats.intervals import SCOPE, Estimate

if TYPE_CHECKING:
    from dojo_kit.scoring.run import ScoredRun


SHOWN_FAILURES = 3


def score(
    run: RunArgument,
    labels: OptionalLabelsOption = None,
    documents: DocumentsOption = None,
    spans: SpansOption = Spans.all,
    embedder: EmbedderOption = None,
    set_: SetOption = None,
    config: ConfigOption = None,
    doc_class: ClassOption = None,
    task: TaskOption = None,
    expected: ExpectedOption = None,
    predicted: PredictedOption = None,
    valid: ValidOption = None,
    positive: PositiveOption = None,
    out_dir: Annotated[
        str | None, typer.Option("--out", help="Write the five frames and the recipe into this folder.")
    ] = None,
    on_error: OnErrorOption = OnError.stop,
    json: JsonOption = False,
) -> None:
    """Score any run by its task: extractions and answers against --labels, labels against those in their rows."""
    questions, labels = (labels, None) if asks_questions(labels) else (None, labels)
    options = label_options(task, expected, predicted, valid, positive, questions)
    if labels is None or (task is not None and not _extracts_only(task)):
        beside = {"--documents": documents, "--embedder": embedder, "--class": doc_class, "--out": out_dir}
        _score_rows(run, labels, beside, spans, set_, config, options, on_error, json=json)
        return
    if options.given and options.given != ["--task"]:
        raise InputError(f"{', '.join(options.given)} is about labels in rows", field="--labels", expected="without it")
    scored = scored_from(run, labels, documents, spans, embedder, set_, config, doc_class, on_error, quiet=json)
    if out_dir is not None:
        from dojo_kit.runs import save

        save(scored, out_dir)
    if json:
        print_json(score_as_dict(scored))
        return
    _print_scores(scored)
    if out_dir is not None:
        out.print(f"\nframes and recipe: {shown(out_dir)}")


def _extracts_only(task: str) -> bool:
    from dojo_kit.runs.typed_rows import row_kind

    return row_kind(task) == "extraction"


def _score_rows(
    path: str,
    labels: str | None,
    beside: Mapping[str, str | None],
    spans: Spans,
    changes: list[str] | None,
    config: str | None,
    options: LabelOptions,
    on_error: OnError,
    *,
    json: bool,
) -> None:
    """Score a run whose rows say what is right; a chained one with its extraction, where there are labels for it."""
    from dojo_kit.cli.contracteval import print_answers
    from dojo_kit.records import ChainedRow, ExtractionRow, QuestionRow

    run = read_rows(path, options, on_error)
    first = run.rows[0]
    if isinstance(first, ExtractionRow):
        message = "an extraction run is scored against labels"
        raise InputError(message, file=path, field="--labels", expected=LABELS_WANTED)
    chained = isinstance(first, ChainedRow)
    unused = [name for name, value in {"--labels": labels, **beside}.items() if value is not None]
    if unused and not (chained and labels is not None and "--out" not in unused):
        message = f"{', '.join(unused)}: rows of task {run.meta.task!r} say themselves what is right"
        raise InputError(message, file=path, expected="no such option")
    settings = settings_from(config, changes)
    if isinstance(first, QuestionRow):
        print_answers(run, settings, mode="corrected", json=json)
        return
    extraction = None
    if labels is not None:
        others = (beside["--documents"], spans, beside["--embedder"], changes, config, beside["--class"], on_error)
        extraction = scored_from(path, labels, *others, quiet=json)
    scores = scored_labels(run, options, settings, extraction=extraction)
    if json:
        print_json(labels_as_dict(run, scores))
    else:
        print_labels(run, scores)


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

    scored = scored_from(run, labels, documents, spans, embedder, set_, config, doc_class, on_error, quiet=json)
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
