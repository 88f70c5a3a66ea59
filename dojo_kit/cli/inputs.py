"""What commands that score have in common: their options, and the scored run these give."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from dojo_kit.cli.output import progress_bar, report_problems
from dojo_kit.errors import SettingsError
from dojo_kit.settings import Settings, parse_value

if TYPE_CHECKING:
    from dojo_kit.scoring.run import ScoredRun


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
DocumentsOption = Annotated[
    str | None, typer.Option("--documents", help="Document texts: folder, zip, JSONL or cuad:FOLDER.")
]
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


def scored_from(
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
    """Read a run, labels and documents as the options name them, and score."""
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
