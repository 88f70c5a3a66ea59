"""``dojo demo``: the whole job on contracts this project wrote itself."""

from __future__ import annotations

import shlex
import shutil
import sys
import time
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from dojo_kit import formats
from dojo_kit.cli.inputs import JsonOption
from dojo_kit.cli.output import err, estimates_table, out, print_json, shown
from dojo_kit.errors import InputError
from dojo_kit.storage import to_json, write_text

if TYPE_CHECKING:
    from dojo_kit.scoring.run import ScoredRun


def demo(
    out_dir: Annotated[
        str, typer.Option("--out", help="Folder for the sample, the frames and the report.")
    ] = "out/demo",
    json: JsonOption = False,
) -> None:
    """Write a sample corpus, score its runs, and publish what was found as one HTML file."""
    from dojo_kit.analysis.families import family_table
    from dojo_kit.report import worst_family, write_report
    from dojo_kit.runs import save

    if not out_dir.strip():
        raise InputError("the path is empty", field="--out", expected="a folder")
    folder = Path(out_dir).expanduser()
    sample = folder / "sample"
    _say(json, "1/3 writing the sample corpus")
    _write_sample(sample)
    _say(json, "2/3 scoring its runs")
    started = time.perf_counter()
    scored = score_sample(sample)
    seconds = time.perf_counter() - started
    focus = weakest(scored)
    save(scored[focus], folder / "scored")
    _say(json, "3/3 writing the report")
    report = write_report(folder / "report.html", scored, focus=focus, command="dojo demo")
    lost = worst_family(family_table(scored[focus]))
    overall = {name: run.metrics()["overall_extraction_score"] for name, run in scored.items()}
    if json:
        runs = {name: estimate.as_dict() for name, estimate in overall.items()}
        print_json({"runs": runs, "focus": focus, "lost": lost, "report": str(report)})
        return
    documents = formats.count(scored[focus].counts["n_documents"], "contract")
    out.print(f"[bold]{documents}, {formats.count(len(scored), 'run')} scored in {seconds:.1f} s[/]\n")
    out.print(estimates_table(overall.items(), title="overall_extraction_score"))
    out.print(f"\n{shown(focus)} {shown(lost)}")
    out.print(f"report: {shown(report)} ({report.stat().st_size / 1024:,.0f} kB)", soft_wrap=True)
    command = [
        "dojo" if shutil.which("dojo") else sys.argv[0],
        *("score", str(sample / "runs" / f"{focus}.json"), "--labels", str(sample / "labels.json")),
    ]
    out.print(f"next:   {shown(shlex.join(command))}", soft_wrap=True)


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


def weakest(scored: dict[str, ScoredRun]) -> str:
    """Name the run with the lowest overall score: the one with most to show."""
    return min(scored, key=lambda name: scored[name].metrics()["overall_extraction_score"].value or 0.0)


def publish(folder: Path) -> None:
    """Write the published reports and a manifest of their hashes.

    Args:
        folder: Folder of the reports.
    """
    from dojo_kit.report import write_report

    with TemporaryDirectory() as temporary:
        _write_sample(Path(temporary))
        scored = score_sample(Path(temporary))
    report = write_report(folder / "sample.html", scored, focus=weakest(scored), command="make reports")
    manifest = {report.name: sha256(report.read_bytes()).hexdigest()}
    write_text(folder / "manifest.json", to_json({"sha256": manifest}))


def _write_sample(folder: Path) -> None:
    from dojo_kit.samples import write_samples

    write_samples(folder)


def _say(quiet: bool, what: str) -> None:
    if not quiet:
        err.print(f"[dim]{what}[/]")
