"""``dojo verify``: does a stored score follow from its own rows?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from dojo_kit import formats
from dojo_kit.analysis.verify import Difference, VerifyReport, verify_record
from dojo_kit.cli.inputs import ConfigOption, JsonOption, settings_from
from dojo_kit.cli.output import build_table, err, out, print_json, shown
from dojo_kit.settings import Settings


def verify(
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="Run records (JSON) or experiment logs (JSONL).")],
    labels: Annotated[
        str | None,
        typer.Option("--labels", help="Labels, to verify what rows alone cannot: errors in days and money."),
    ] = None,
    config: ConfigOption = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 when anything differs.")] = False,
    json: JsonOption = False,
) -> None:
    """Recompute every stored aggregate of a run from its own rows and list what does not follow."""
    from rich.progress import track

    from dojo_kit.prices import with_packaged
    from dojo_kit.runs import read_records

    settings = settings_from(config, None)
    prices = with_packaged(settings.cost_models)
    reports = []
    for source in track(runs, "verifying", console=err, transient=True, disable=json or len(runs) < 2):
        for name, record in read_records(source):
            recomputed = _from_labels(source, record, labels, settings) if labels else None
            reports.append(verify_record(record, name=name, prices=prices, recomputed=recomputed))
    if json:
        print_json({"runs": [report.as_dict() for report in reports]})
    else:
        print_reports(reports)
    if strict and any(report.differences for report in reports):
        raise typer.Exit(1)


def _from_labels(source: str, record: Mapping[str, Any], labels: str, settings: Settings) -> dict[str, Any] | None:
    """Recompute the diagnostics that need expected values, as the runs were labelled: first spans."""
    from dojo_kit.analysis.diagnostics import diagnose, stored_values
    from dojo_kit.runs import load_labels, run_from_record
    from dojo_kit.scoring.run import score_run

    if record.get("task") != "contract_entity_extraction" or "diagnostics" not in record.get("scores", {}):
        return None
    scored = score_run(run_from_record(record, source=source), load_labels(labels), spans="first", settings=settings)
    return stored_values(diagnose(scored))


def print_reports(reports: list[VerifyReport]) -> None:
    """Print how much follows from the rows, and what does not; what labels give otherwise stands apart."""
    checked, equal = sum(r.checked for r in reports), sum(r.equal for r in reports)
    anew = sum(_is_anew(difference) for report in reports for difference in report.differences)
    numbers, runs = formats.count(checked - anew, "stored number"), formats.count(len(reports), "run")
    out.print(f"[bold]{equal:,} of {numbers} follow from the rows[/] of {runs}")
    if anew:
        verb = "comes" if anew == 1 else "come"
        out.print(f"{formats.count(anew, 'stored number')} more {verb} out otherwise from the labels given")
    for report in reports:
        for of_labels in (False, True):
            found = [difference for difference in report.differences if _is_anew(difference) == of_labels]
            if found:
                _print_differences(report.run, found, of_labels=of_labels)
    reasons: dict[str, set[str]] = {}
    for report in reports:
        for item in report.unverifiable:
            reasons.setdefault(item.why, set()).add(item.name)
    if reasons:
        rows = [[f"{len(names):,}", why, ", ".join(sorted(names)[:2])] for why, names in reasons.items()]
        out.print()
        out.print(
            build_table("cannot be verified", [("numbers", "right"), ("why", "fold"), ("for example", "fold")], rows)
        )


def _is_anew(difference: Difference) -> bool:
    """Tell whether a number was compared with one recomputed from labels, not from the run's rows."""
    return difference.note.startswith("read anew from the labels")


def _print_differences(run: str, found: list[Difference], *, of_labels: bool) -> None:
    ending = "unlike what the labels give" if of_labels else "off"
    out.print(f"\n[bold]{shown(run)}[/]: {formats.count(len(found), 'stored number')} {ending}", soft_wrap=True)
    by_note: dict[str, list[Difference]] = {}
    for difference in found:
        by_note.setdefault(difference.note, []).append(difference)
    for note, differences in by_note.items():
        if note:
            out.print(f"[dim]{shown(note)}[/]")
        rows = [[item.name, _short(item.stored), _short(item.recomputed)] for item in differences]
        out.print(build_table("", [("", "left"), ("stored", "right"), ("recomputed", "right")], rows))


def _short(value: Any) -> str:
    """Write a value; text is cut to a readable length, a number never."""
    text = "null" if value is None else str(value)
    return text if len(text) <= 40 or isinstance(value, int | float) else text[:37] + "..."
