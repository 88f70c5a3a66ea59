"""``dojo demo``: the whole job on contracts this project wrote itself."""

from __future__ import annotations

import json as jsonlib
import shlex
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dojo_kit import formats
from dojo_kit.cli.inputs import JsonOption
from dojo_kit.cli.output import err, estimates_table, out, print_json, shown
from dojo_kit.errors import InputError

if TYPE_CHECKING:
    from dojo_kit.report import Report
    from dojo_kit.scoring.run import ScoredRun

FOCUS, LATER = "extraction_v1_small", "extraction_v2_small"
"""The run of the sample that loses most, and the same model with a better prompt."""


def demo(
    out_dir: Annotated[
        str, typer.Option("--out", help="Folder for the sample, the frames and the report.")
    ] = "out/demo",
    json: JsonOption = False,
) -> None:
    """Write a sample corpus, score its runs, and publish what was found as one HTML file."""
    from dojo_kit.analysis.families import family_table, worst_family
    from dojo_kit.runs import save
    from dojo_kit.samples import write_samples

    if not out_dir.strip():
        raise InputError("the path is empty", field="--out", expected="a folder")
    folder = Path(out_dir).expanduser()
    sample = folder / "sample"
    _say(json, "1/3 writing the sample corpus")
    write_samples(sample)
    _say(json, "2/3 scoring its runs")
    started = time.perf_counter()
    scored = score_sample(sample)
    seconds = time.perf_counter() - started
    save(scored[FOCUS], folder / "scored")
    _say(json, "3/3 writing the report")
    report = sample_page(sample, scored, command="dojo demo").save(folder / "report.html")
    lost = worst_family(family_table(scored[FOCUS]))
    overall = {name: run.metrics()["overall_extraction_score"] for name, run in scored.items()}
    planted = planted_note(sample, scored[FOCUS])
    if json:
        runs = {name: estimate.as_dict() for name, estimate in overall.items()}
        print_json({"runs": runs, "focus": FOCUS, "lost": lost, "planted": planted, "report": str(report)})
        return
    documents = formats.count(scored[FOCUS].counts["n_documents"], "contract")
    out.print(f"[bold]{documents}, {formats.count(len(scored), 'run')} scored in {seconds:.1f} s[/]\n")
    out.print(estimates_table(overall.items(), title="overall_extraction_score"))
    out.print(f"\n{shown(FOCUS)} {shown(lost)}")
    out.print(f"[dim]{shown(planted)}[/]")
    out.print(f"report: {shown(report)} ({report.stat().st_size / 1e6:.1f} MB, opens offline)", soft_wrap=True)
    dojo = "dojo" if shutil.which("dojo") else sys.argv[0]
    out.print(f"next:   {shown(shlex.join([dojo, 'notebook', 'miss_attribution']))}", soft_wrap=True)


def score_sample(sample: Path) -> dict[str, ScoredRun]:
    """Score every extraction run of a sample folder, by name.

    Args:
        sample: Folder written by `dojo_kit.samples.write_samples`.
    """
    from dojo_kit.runs import load_documents, load_labels, read_run
    from dojo_kit.scoring.run import score_run

    labels, documents = load_labels(sample / "labels.json"), dict(load_documents(sample / "documents"))
    runs = [read_run(path) for path in sorted((sample / "runs").glob("extraction_*.json"))]
    return {run.name: score_run(run, labels, documents) for run in runs}


def sample_page(sample: Path, scored: dict[str, ScoredRun], *, command: str) -> Report:
    """Put together the page of a sample: the run that loses most, and what a better prompt recovers of it.

    Args:
        sample: Folder of the sample.
        scored: Its scored runs by name.
        command: Command that makes the page again.
    """
    from dojo_kit.runs import load_documents
    from dojo_widgets.findings import findings_page

    return findings_page(
        {name: run for name, run in scored.items() if name != LATER},
        focus=FOCUS,
        against=scored[LATER],
        documents=load_documents(sample / "documents"),
        note=planted_note(sample, scored[FOCUS]),
        command=command,
    )


def planted_note(sample: Path, scored: ScoredRun) -> str:
    """Say how many of the lost spans of a run carry a fault that was planted there.

    Args:
        sample: Folder of the sample, with its manifest.
        scored: A scored run of it.
    """
    from dojo_kit.text.names import document_key

    manifest: dict[str, Any] = jsonlib.loads((sample / "manifest.json").read_text(encoding="utf-8"))
    planted = {
        (document_key(fault["document"]), fault["category"])
        for fault in manifest["faults"]
        if fault["run"] == scored.recipe.run["name"] and fault["category"]
    }
    spans = scored.frame("spans", ["document", "category", "status"])
    lost = spans[spans["status"] != "matched"]
    n_planted = sum(
        (document_key(document), category) in planted
        for document, category in zip(lost["document"], lost["category"], strict=True)
    )
    return (
        f"The contracts of this sample were written by this project, with faults planted in every run: of the "
        f"{len(lost)} spans lost here, {n_planted} carry a planted fault."
    )


def _say(quiet: bool, what: str) -> None:
    if not quiet:
        err.print(f"[dim]{what}[/]")
