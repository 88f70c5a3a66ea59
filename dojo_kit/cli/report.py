"""``dojo report``: scored runs as one HTML file that opens offline."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dojo_kit import formats
from dojo_kit.cli.inputs import (
    ClassOption,
    ConfigOption,
    DocumentsOption,
    EmbedderOption,
    OnError,
    OnErrorOption,
    SetOption,
    Spans,
    SpansOption,
    scored_from,
    settings_from,
)
from dojo_kit.cli.output import err, out, shown
from dojo_kit.cli.report_labels import report_rows
from dojo_kit.cli.score_labels import (
    ExpectedOption,
    OptionalLabelsOption,
    PositiveOption,
    PredictedOption,
    TaskOption,
    ValidOption,
    asks_questions,
    label_options,
)
from dojo_kit.errors import InputError

if TYPE_CHECKING:
    from dojo_kit.scoring.run import ScoredRun


def report(
    runs: Annotated[list[str], typer.Argument(help="Run files; the first one is looked into, the others are listed.")],
    out_file: Annotated[str, typer.Option("--out", help="HTML file to write.")],
    labels: OptionalLabelsOption = None,
    documents: DocumentsOption = None,
    against: Annotated[
        str | None,
        typer.Option("--against", help="A later run on the same documents: what it recovered and lost of the first."),
    ] = None,
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
    on_error: OnErrorOption = OnError.stop,
) -> None:
    """Publish where runs lose their score as one HTML file: no network, no server, no full texts.

    Runs with labels or answers in their rows need no --labels.
    """
    from dojo_kit.runs import load_documents
    from dojo_widgets.findings import findings_page

    target = Path(out_file).expanduser()
    if not out_file.strip() or target.is_dir():
        raise InputError(f"{out_file!r} is no file", field="--out", expected="an HTML file to write")
    if labels is None or asks_questions(labels):
        options = label_options(task, expected, predicted, valid, positive, labels)
        beside = {"--documents": documents, "--against": against, "--embedder": embedder, "--class": doc_class}
        report_rows(runs, target, beside, settings_from(config, set_), options, on_error, given=(set_, config))
        return
    if given := label_options(task, expected, predicted, valid, positive).given:
        message = "labels given apart are those of an extraction"
        raise InputError(message, field=given[0], expected="one of the two")
    sources = [*runs, *([] if against is None else [against])]
    scored = [
        scored_from(source, labels, documents, spans, embedder, set_, config, doc_class, on_error, quiet=False)
        for source in sources
    ]
    named: dict[str, ScoredRun] = {}
    for source, one in zip(runs, scored, strict=False):
        name = one.recipe.run["name"]
        taken = sum(other.recipe.run["name"] == name for other in named.values())
        named[name if not taken else f"{name} ({source}, {taken + 1})"] = one
    with err.status("putting the page together") as status:
        page = findings_page(
            named,
            documents=None if documents is None else load_documents(documents, on_error=on_error.value),
            against=None if against is None else scored[-1],
            command=shlex.join(
                _command(runs, labels, documents, against, spans, embedder, set_, config, doc_class, out_file)
            ),
            progress=status.update,
        )
        path = page.save(target)
    size = path.stat().st_size
    n_documents = formats.count(scored[0].counts["n_documents"], "document")
    out.print(f"report: {shown(path)} ({size / 1e6:.2f} MB, {n_documents}, opens offline)", soft_wrap=True)


def _command(
    runs: list[str],
    labels: str,
    documents: str | None,
    against: str | None,
    spans: Spans,
    embedder: str | None,
    changes: list[str] | None,
    config: str | None,
    doc_class: str | None,
    out_file: str,
) -> list[str]:
    """Return the words that make the same page."""
    given = {
        "--documents": documents,
        "--against": against,
        "--embedder": embedder,
        "--config": config,
        "--class": doc_class,
    }
    words = ["dojo", "report", *runs, "--labels", labels, "--spans", spans.value]
    for option, value in given.items():
        words += [] if value is None else [option, value]
    for change in changes or []:
        words += ["--set", change]
    return [*words, "--out", out_file]
