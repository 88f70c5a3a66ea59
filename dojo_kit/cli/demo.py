"""``dojo demo``: the whole job on contracts this project wrote itself."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from dojo_kit import formats
from dojo_kit.cli.output import err, estimates_table, out, print_json
from dojo_kit.cli.score import JsonOption


def demo(
    out_dir: Annotated[Path, typer.Option("--out", help="Folder for the sample, the frames and the report.")] = Path(
        "out/demo"
    ),
    json: JsonOption = False,
) -> None:
    """Write a sample corpus, score its runs, and publish what was found as one HTML file."""
    from dojo_kit.analysis.families import family_table
    from dojo_kit.report import worst_family, write_report
    from dojo_kit.runs import load_labels, read_run, save
    from dojo_kit.samples import write_samples
    from dojo_kit.scoring.run import score_run

    step = _Steps(4, quiet=json)
    step("writing the sample corpus")
    sample = out_dir / "sample"
    write_samples(sample)
    step("reading runs and labels")
    labels = load_labels(sample / "labels.json")
    runs = [read_run(path) for path in sorted((sample / "runs").glob("extraction_*.json"))]
    step("scoring")
    started = time.perf_counter()
    scored = {run.name: score_run(run, labels) for run in runs}
    seconds = time.perf_counter() - started
    focus = min(scored, key=lambda name: scored[name].metrics()["overall_extraction_score"].value or 0.0)
    save(scored[focus], out_dir / "scored")
    step("writing the report")
    report = write_report(out_dir / "report.html", scored, focus=focus, command=f"dojo demo --out {out_dir}")
    lost = worst_family(family_table(scored[focus]))
    overall = {name: run.metrics()["overall_extraction_score"] for name, run in scored.items()}
    if json:
        print_json(_as_dict(overall, focus, lost, report))
        return
    documents = formats.count(scored[focus].counts["n_documents"], "contract")
    out.print(f"[bold]{documents}, {formats.count(len(scored), 'run')} scored in {seconds:.1f} s[/]\n")
    out.print(estimates_table(overall.items(), title="overall_extraction_score"))
    out.print(f"\n{escape(focus)}: {escape(lost)}")
    size = report.stat().st_size / 1024
    out.print(f"report: {escape(str(report))} ({size:,.0f} kB)")
    example = f"{sample / 'runs' / Path(runs[0].source).name} --labels {sample / 'labels.json'}"
    out.print(f"next:   dojo score {escape(example)}")


def _as_dict(overall: dict[str, Any], focus: str, lost: str, report: Path) -> dict[str, Any]:
    return {
        "runs": {name: estimate.as_dict() for name, estimate in overall.items()},
        "focus": focus,
        "lost": lost,
        "report": str(report),
    }


class _Steps:
    """Says which of a few steps is being done."""

    def __init__(self, total: int, *, quiet: bool) -> None:
        self.total, self.done, self.quiet = total, 0, quiet

    def __call__(self, what: str) -> None:
        self.done += 1
        if not self.quiet:
            err.print(f"[dim]{self.done}/{self.total} {what}[/]")
