"""``dojo noise``: how far do reruns of one setting lie apart?"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dojo_kit import formats
from dojo_kit.cli.inputs import ConfigOption, JsonOption, OnError, OnErrorOption, Spans, SpansOption, settings_from
from dojo_kit.cli.measuring import Measuring, refuse_inputs
from dojo_kit.cli.output import Column, build_table, err, out, print_json, progress_bar, report_problems, shown
from dojo_kit.errors import InputError, closest
from dojo_kit.records import Problem

if TYPE_CHECKING:
    import pandas as pd

    from dojo_kit.analysis.measured import Measured
    from dojo_kit.analysis.noise import NoiseFloor

DIGITS = 4
SHOWN_NOTES, SHOWN_FLIPS = 5, 10


class PoolOption(StrEnum):
    """What reruns are pooled over."""

    none = ""
    surfaces = "surfaces"


def noise(
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="Run files and experiment logs; log.jsonl#NAME.")],
    labels: Annotated[
        str | None, typer.Option("--labels", help="Labels to score extraction runs anew; else stored scores count.")
    ] = None,
    spans: SpansOption = Spans.all,
    metric: Annotated[
        list[str] | None, typer.Option("--metric", help="Metric to show; may be repeated. Each task's own by default.")
    ] = None,
    pool: Annotated[
        PoolOption, typer.Option("--pool", help="surfaces: one band for all sets of documents of a task and model.")
    ] = PoolOption.none,
    out_: Annotated[str | None, typer.Option("--out", help="Write the noise floor to this file, for --noise.")] = None,
    config: ConfigOption = None,
    on_error: OnErrorOption = OnError.stop,
    json: JsonOption = False,
) -> None:
    """Find reruns among runs and measure how far apart chance alone puts them."""
    from dojo_kit.analysis.noise import noise_floor
    from dojo_kit.runs.noise_files import write_noise

    refuse_inputs(out_, [*runs, labels, config])
    settings = settings_from(config, None)
    measuring = Measuring(labels, None, spans, None, None, settings, on_error, mixed=True)
    with progress_bar("reading and scoring", quiet=json or len(runs) < 2) as progress:
        measured = measuring.read_all(runs, progress)
    with progress_bar("comparing reruns", quiet=json or len(measured) < 2) as progress:
        floor = noise_floor(measured, settings=settings, progress=progress)
    _check_metrics(metric, measured)
    chosen = _chosen(floor, metric)
    if out_ is not None:
        floor = write_noise(out_, floor)
    report_problems(measuring.problems)
    if json:
        print_json(_as_dict(floor, chosen, pool, measuring.problems))
        return
    _print_floor(floor, chosen, pool)


def _check_metrics(metrics: Sequence[str] | None, measured: Sequence[Measured]) -> None:
    """Refuse a metric that no run has, whether there are reruns or not."""
    known = list(dict.fromkeys(name for run in measured for name in run.metrics))
    for name in metrics or ():
        if name not in known:
            message = f"no run has the metric {name!r}{closest(name, known)}"
            listed = ", ".join(name for name in known if ":" not in name)
            raise InputError(message, field="--metric", expected=listed)


def _chosen(floor: NoiseFloor, metrics: Sequence[str] | None) -> pd.DataFrame:
    """Return the pairs of the metrics asked for, by default of the headline of each group's task."""
    if metrics:
        return floor.pairs[floor.pairs["metric"].isin(list(metrics))]
    headlines = dict(zip(floor.groups["group"], floor.groups["headline"], strict=True))
    return floor.pairs[floor.pairs["metric"] == floor.pairs["group"].map(headlines)]


def _as_dict(floor: NoiseFloor, chosen: pd.DataFrame, pool: PoolOption, problems: Sequence[Problem]) -> dict[str, Any]:
    metrics = list(dict.fromkeys(chosen["metric"]))
    bands = _bands(floor, chosen, pool)
    return {
        "summary": _sentences(floor, chosen, bands),
        "file": floor.source or None,
        "pool": pool.value or None,
        **floor.as_dict(),
        "metrics": metrics,
        "bands": [
            {**row, "deltas": list(row["deltas"]), "rms": _known(row["rms"]), "band": _known(row["band"])}
            for row in _records(bands)
        ],
        "problems": [str(problem) for problem in problems],
    }


def _bands(floor: NoiseFloor, chosen: pd.DataFrame, pool: PoolOption) -> pd.DataFrame:
    """Return the bands of the metrics shown, of each task only those that are shown of it."""
    bands = floor.bands(list(dict.fromkeys(chosen["metric"])), pool=pool.value)
    shown_of = set(zip(chosen["task"], chosen["metric"], strict=True))
    pairs = zip(bands["task"], bands["metric"], strict=True)
    return bands[[pair in shown_of for pair in pairs]].reset_index(drop=True)


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _print_floor(floor: NoiseFloor, chosen: pd.DataFrame, pool: PoolOption) -> None:
    bands = _bands(floor, chosen, pool)
    first, *others = _sentences(floor, chosen, bands)
    out.print(f"[bold]{shown(first)}[/]", soft_wrap=True)
    for sentence in others:
        out.print(shown(sentence), soft_wrap=True)
    if len(chosen):
        out.print()
        out.print(_pairs_table(floor, chosen))
        out.print()
        out.print(_bands_table(floor, bands, pool))
    if len(floor.answers):
        out.print()
        out.print(_flips_table(floor, chosen))
    if len(floor.excluded):
        rows = [
            [f"{row['run_a']} {_ARROW} {row['run_b']}", row["reason"], row["detail"]]
            for row in _records(floor.excluded)
        ]
        columns: list[Column] = [("runs", "fold"), ("why", "left"), ("what was found", "fold")]
        out.print()
        out.print(build_table("pairs that are no reruns", columns, rows))
    _print_notes(floor)
    if floor.source:
        err.print(f"written to {shown(floor.source)}")


_ARROW = "\N{RIGHTWARDS ARROW}"


def _sentences(floor: NoiseFloor, chosen: pd.DataFrame, bands: pd.DataFrame) -> list[str]:
    """Say in plain words what was found."""
    runs = formats.count(floor.n_runs, "run")
    if not len(floor.groups):
        return [
            f"No reruns among {runs}: rerun noise is not known.",
            "Reruns share task, model, prompt, documents and settings; run one prompt four times to measure it.",
        ]
    n_pairs = len(floor.pairs.drop_duplicates(["group", "run_a", "run_b"]))
    found = f"{formats.count(n_pairs, 'pair')} of reruns in {formats.count(len(floor.groups), 'group')} among {runs}"
    if not len(chosen):
        return [f"{found}, and no metric that both runs of a pair have."]
    largest, rms = chosen["delta"].abs().max(), math.sqrt((chosen["delta"] ** 2).mean())
    metrics = list(dict.fromkeys(chosen["metric"]))
    what = f"{metrics[0]} changes" if len(metrics) == 1 else "the metrics below change"
    sentences = [
        f"{found}: by chance alone {what} by up to {formats.number(largest, digits=DIGITS)} "
        f"(root mean square {formats.number(rms, digits=DIGITS)})."
    ]
    seeming = int(((chosen["p"] < 0.05) & ((chosen["lo"] > 0) | (chosen["hi"] < 0))).sum())
    if seeming:
        verb = "looks like a real difference" if seeming == 1 else "look like real differences"
        sentences.append(f"{seeming:,} of {len(chosen):,} differences between reruns {verb} by interval and test.")
    sentences.append(_band_sentence(bands))
    by_name = int((floor.groups["identity"] == "prompt name only").sum())
    if by_name:
        sentences.append(
            f"That prompts are the same rests on their names alone in {by_name:,} of "
            f"{formats.count(len(floor.groups), 'group')}: no hash of the text is stored."
        )
    return sentences


def _band_sentence(bands: pd.DataFrame) -> str:
    known = int(bands["band"].notna().sum())
    if len(bands) == known == 1:
        width = formats.number(bands["band"].iloc[0], digits=DIGITS)
        return f"A difference of two runs within {width} may be rerun noise, whatever its own interval says."
    if len(bands) == 1:
        return f"The band is unknown: {bands['reason'].iloc[0]}."
    few = "fewer than 3 pairs, so only differences are known"
    if not known:
        return f"No band is known: each of {len(bands):,} kinds of runs has {few}."
    lacking = "" if known == len(bands) else f"; the others have {few}"
    return f"The band is known for {known:,} of {len(bands):,} kinds of runs{lacking}."


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def _signed(value: float) -> str:
    return f"{value:+.{DIGITS}f}" if value else formats.number(0.0, digits=DIGITS)


def _pairs_table(floor: NoiseFloor, chosen: pd.DataFrame) -> Any:
    import pandas as pd

    several = len(set(chosen["metric"])) > 1
    rows = [
        [
            f"{row['run_a']} {_ARROW} {row['run_b']}",
            f"{row['model']} {row['prompt_version']}".strip(),
            row["metric"],
            _signed(row["delta"]),
            f"[{formats.number(row['lo'], digits=DIGITS)}, {formats.number(row['hi'], digits=DIGITS)}]",
            formats.number(row["p"]),
            f"{row['n']:,}",
            f"{row['n_better'] + row['n_worse']:,}",
            "" if pd.isna(row["n_flips"]) else f"{row['n_flips']:,}",
        ]
        for row in _records(chosen)
    ]
    columns: list[Column] = [
        ("runs", "fold"),
        ("model, prompt", "fold"),
        ("metric", "fold"),
        ("delta", "right"),
        ("95 % interval", "left"),
        ("p", "right"),
        ("n", "right"),
        ("changed", "right"),
        ("flips", "right"),
    ]
    return build_table("pairs of reruns", columns, rows, drop=("p", "changed", *(() if several else ("metric",))))


def _bands_table(floor: NoiseFloor, bands: pd.DataFrame, pool: PoolOption) -> Any:
    sizes = dict(zip(floor.groups["surface"], floor.groups["n_documents"], strict=True))
    rows = [
        [
            row["task"],
            row["model"],
            "all sets" if pool.value else f"{sizes[row['surface']]:,} ({row['surface'][:8]})",
            row["metric"],
            f"{row['m']:,}",
            formats.number(row["rms"], digits=DIGITS),
            formats.number(row["band"], digits=DIGITS),
            "" if not row["reason"] else f"unknown, differences {_deltas(row['deltas'])}",
        ]
        for row in _records(bands)
    ]
    columns: list[Column] = [
        ("task", "fold"),
        ("model", "fold"),
        ("documents", "left"),
        ("metric", "fold"),
        ("m", "right"),
        ("RMS", "right"),
        ("band \N{PLUS-MINUS SIGN}", "right"),
        ("", "fold"),
    ]
    return build_table(
        "band of rerun noise; m counts reruns beyond the first of each group, a band needs 3",
        columns,
        rows,
        drop=("task",),
    )


def _deltas(values: Sequence[float]) -> str:
    return ", ".join(map(_signed, values))


def _flips_table(floor: NoiseFloor, chosen: pd.DataFrame) -> Any:
    """Lay out the documents whose label flips in most pairs."""
    pairs = chosen.drop_duplicates(["group", "run_a", "run_b"])
    flips = Counter(str(name) for names in pairs["flipped"] for name in names)
    most = flips.most_common(SHOWN_FLIPS)
    shorts = formats.short_documents([document for document, _ in most])
    answers = floor.answers.groupby("document", sort=False)
    said = {document: Counter(found["predicted"].dropna()) for document, found in answers}
    expected = dict(zip(floor.answers["document"], floor.answers["expected"], strict=True))
    rows = [
        [
            short,
            f"{n:,}",
            expected.get(document) or "",
            ", ".join(f"{label} {times:,}x" for label, times in said.get(document, Counter()).most_common(3)),
        ]
        for short, (document, n) in zip(shorts, most, strict=True)
    ]
    more = f", {SHOWN_FLIPS} of {len(flips):,}" if len(flips) > SHOWN_FLIPS else ""
    columns: list[Column] = [("document", "fold"), ("pairs", "right"), ("expected", "fold"), ("answers", "fold")]
    return build_table(f"documents whose label flips most often{more}", columns, rows)


def _print_notes(floor: NoiseFloor) -> None:
    notes = [
        f"{row['model']} {row['prompt_version']}: {note}".strip()
        for row in _records(floor.groups)
        for note in row["notes"]
    ]
    if not notes:
        return
    out.print("\n[bold]what speaks against pairs being alike in all but chance[/]")
    for note in notes[:SHOWN_NOTES]:
        out.print(f"  {shown(note)}", soft_wrap=True)
    if len(notes) > SHOWN_NOTES:
        out.print(f"[dim]  and {formats.count(len(notes) - SHOWN_NOTES, 'other note')}; --json has all[/]")
