"""``dojo compare``: is B better than A?"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dojo_kit import formats
from dojo_kit.cli.compare_page import page_target, write_page
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
    settings_from,
)
from dojo_kit.cli.measuring import Measuring, refuse_inputs
from dojo_kit.cli.output import Column, FittedTable, build_table, out, print_json, progress_bar, report_problems, shown

if TYPE_CHECKING:
    from dojo_kit.analysis.compare import ComparedMetric, Comparison
    from dojo_kit.stats.compare import Delta

SHOWN_CLASSES, SHOWN_CHANGES, SHOWN_NOTES, SHOWN_TEXT = 10, 5, 6, 90
DIGITS = 4
_SMALLEST_P = 0.001


class Allow(StrEnum):
    """What may differ between two runs that are compared all the same."""

    surface = "surface"
    labels = "labels"
    settings = "settings"
    scorer = "scorer"
    spans = "spans"
    embedder = "embedder"
    grounding = "grounding"
    same = "same"


ComparedLabelsOption = Annotated[
    str | None, typer.Option("--labels", help="Labels to score extractions against; without, stored scores count.")
]
NoiseOption = Annotated[
    list[str] | None,
    typer.Option("--noise", metavar="FILE", help="Noise file of dojo noise, or run files to measure it from; repeat."),
]
MetricOption = Annotated[str | None, typer.Option("--metric", help="Only this metric; all by default.")]
AllowOption = Annotated[
    list[Allow] | None, typer.Option("--allow", help="Compare although this differs; may be repeated.")
]


def compare(
    a: Annotated[str, typer.Argument(metavar="A", help="Run file of the baseline.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Run file held against it.")],
    labels: ComparedLabelsOption = None,
    metric: MetricOption = None,
    noise: NoiseOption = None,
    allow: AllowOption = None,
    documents: DocumentsOption = None,
    spans: SpansOption = Spans.all,
    embedder: EmbedderOption = None,
    set_: SetOption = None,
    config: ConfigOption = None,
    doc_class: ClassOption = None,
    out_: Annotated[
        str | None, typer.Option("--out", help="Also write an HTML page with every document that changed.")
    ] = None,
    on_error: OnErrorOption = OnError.stop,
    json: JsonOption = False,
) -> None:
    """Say whether run B is better than run A on the same documents, by how much, and whether it could be chance."""
    from dojo_kit.analysis.compare import compare as compare_runs

    target = page_target(out_)
    refuse_inputs(target, [a, b, labels, documents, config, *(noise or [])])
    settings = settings_from(config, set_)
    measuring = Measuring(labels, documents, spans, embedder, doc_class, settings, on_error)
    with progress_bar("measuring runs", quiet=json) as progress:
        first, second = measuring.read_all([a, b], progress, whole_logs=False)
    floor = measuring.noise_floor(noise or [])
    allowed = tuple(word.value for word in allow or ())
    found = compare_runs(first, second, metric, noise=floor, allow=allowed, settings=settings)
    report_problems(measuring.problems)
    if target is not None:
        given = {"--labels": labels, "--metric": metric, "--noise": noise, "--allow": allowed, "--documents": documents}
        given |= {"--spans": None if spans is Spans.all else spans.value, "--embedder": embedder, "--class": doc_class}
        write_page(
            found, target, noise=floor, runs=(a, b), options=given | {"--set": set_, "--config": config}, quiet=json
        )
    if json:
        print_json(comparison_as_dict(found, noise or []) | {"problems": [asdict(p) for p in measuring.problems]})
        return
    _print_comparison(found, only=metric is not None)
    out.print(f"next: {shown(_next(found, a, b, labels, noise))}", soft_wrap=True)


def comparison_as_dict(found: Comparison, noise: Sequence[str] = ()) -> dict[str, Any]:
    """Return everything ``dojo compare --json`` prints of a comparison.

    Args:
        found: The comparison.
        noise: Where rerun noise comes from.
    """
    changed = found.changed()
    plain = changed.astype(object).where(changed.notna(), None)
    rows = [{str(name): value for name, value in row.items()} for row in plain.to_dict("records")]
    changes = [row | {"fields": [list(pair) for pair in row["fields"]]} for row in rows]
    return {"summary": sentence(found), **found.as_dict(), "noise": list(noise), "changed": changes}


def sentence(found: Comparison) -> str:
    """Answer in one sentence whether the second run is better.

    Args:
        found: The comparison.
    """
    from dojo_kit.analysis.comparable import call_both
    from dojo_kit.views.deltas import says_finding

    a, b = call_both(found.a, found.b)
    return f"{says_finding(found, a=a, b=b)}."


def _signed(value: float | None, *, digits: int = DIGITS) -> str:
    if value is None:
        return formats.UNKNOWN
    return f"{value:+.{digits}f}" if value else formats.number(0.0, digits=digits)


def _interval(delta: Delta) -> str:
    if delta.lo is None or delta.hi is None:
        return ""
    return f"[{_signed(delta.lo)}, {_signed(delta.hi)}]"


def _print_comparison(found: Comparison, *, only: bool) -> None:
    headline = found.headline
    out.print(f"[bold]{shown(sentence(found))}[/]", soft_wrap=True)
    out.print(f"[{_COLOURS[headline.verdict]}]{headline.verdict}[/]: {shown(headline.reason)}", soft_wrap=True)
    for line in _beside(found):
        out.print(shown(line), soft_wrap=True)
    tables = _tables(found, only=only)
    for table in tables:
        out.print()
        out.print(table)
    _print_changes(found)
    if found.notes:
        out.print()
    for note in found.notes[:SHOWN_NOTES]:
        colour = "yellow" if note.startswith("allowed") else "dim"
        out.print(f"[{colour}]{shown(note)}[/]", soft_wrap=True)
    if len(found.notes) > SHOWN_NOTES:
        out.print(f"[dim]and {formats.count(len(found.notes) - SHOWN_NOTES, 'other note')}; --json has all[/]")
    out.print(f"\n[dim]{found.scope}[/]")


_COLOURS = {
    "win": "green",
    "loss": "red",
    "within rerun noise": "yellow",
    "inconclusive: rerun noise not measured": "yellow",
    "inconclusive": "yellow",
    "rerun": "yellow",
}


def _beside(found: Comparison) -> Iterator[str]:
    """Yield what must be said beside the verdict: power, what was left out, failures."""
    headline, delta = found.headline, found.headline.delta
    noun = found.a.noun
    if delta.value is not None:
        counted = formats.count(delta.n, noun)
        units = f"{counted} in {delta.n_clusters:,} {delta.unit}" if delta.n_clusters else counted
        mde = "unknown, as no two differ" if delta.mde is None else formats.number(delta.mde, digits=DIGITS)
        yield f"smallest difference found in 80 % of trials with {units}: {mde}"
    if headline.band.value is not None:
        yield f"band of rerun noise: \N{PLUS-MINUS SIGN}{formats.number(headline.band.value, digits=DIGITS)}"
    for n, side in ((found.n_only_a, "A"), (found.n_only_b, "B")):
        if n and found.paired:
            yield f"{formats.count(n, noun)} only in {side}, left out"
    if not found.paired:
        yield f"no {noun} in common: two samples, not pairs"
    if headline.delta_complete is not None:
        yield f"{noun}s both answered ({headline.delta_complete.n:,}): {_of(headline.delta_complete)}"
        if headline.delta_errors_as_worst is not None:
            worst = headline.delta_errors_as_worst
            yield f"missing answers as the worst ({worst.n:,}): {_of(worst)}"


def _of(delta: Delta) -> str:
    return f"{_signed(delta.value)} {_interval(delta)}".strip()


def _tables(found: Comparison, *, only: bool) -> list[FittedTable]:
    metrics = [m for m in found.metrics.values() if m is found.headline or _says_something(m)]
    if only:
        return [_table("", metrics, paired=found.paired)]
    whole = [m for m in metrics if m.info.kind in ("headline", "composite")]
    whole += [m for m in metrics if m.info.kind == "pooled" and not m.info.field]
    fields = [m for m in metrics if m.info.measure == "score"]
    others = [m for m in metrics if m.info.field and m.info.measure != "score" and m.delta.interval_excludes_zero]
    classes = [m for m in metrics if m.info.kind == "class" and m.delta.value]
    classes.sort(key=lambda m: (m.delta.p if m.delta.p is not None else 1.0, -abs(m.delta.value or 0.0)))
    tables = [_table("", whole, paired=found.paired)]
    if fields:
        tables.append(_table("by field, p corrected for their number", fields, paired=found.paired))
    if others:
        tables.append(
            _table("other measures of fields whose interval excludes 0, p corrected", others, paired=found.paired)
        )
    if classes:
        n_classes = sum(m.info.kind == "class" for m in metrics)
        most = f"{min(len(classes), SHOWN_CLASSES)} of {n_classes}"
        tables.append(
            _table(f"by class, smallest p first, {most}, p corrected", classes[:SHOWN_CLASSES], paired=found.paired)
        )
    return tables


def _says_something(compared: ComparedMetric) -> bool:
    """Leave out what is defined nowhere, and failures where nothing failed."""
    both = (compared.a.value, compared.b.value)
    return compared.delta.n > 0 and not (compared.info.name == "failure_rate" and both == (0.0, 0.0))


def _table(title: str, metrics: Iterable[ComparedMetric], *, paired: bool) -> FittedTable:
    rows = [
        [
            m.info.name + ("" if m.info.higher_is_better else " (lower is better)"),
            formats.number(m.a.value),
            formats.number(m.b.value),
            _signed(m.delta.value),
            _interval(m.delta),
            _p(m.delta.p if m.p_holm is None else m.p_holm),
            f"{m.delta.n:,}",
            f"{m.delta.n_better:,}/{m.delta.n_worse:,}" if paired else "",
            "" if m.band.value is None else formats.number(m.band.value, digits=DIGITS),
            m.verdict if m.delta.value is not None else m.delta.note or "undefined",
        ]
        for m in metrics
    ]
    columns: list[Column] = [
        ("metric", "fold"),
        ("A", "right"),
        ("B", "right"),
        ("better by", "right"),
        ("95 % interval", "left"),
        ("p", "right"),
        ("n", "right"),
        ("up/down", "right"),
        ("band \N{PLUS-MINUS SIGN}", "right"),
        ("verdict", "fold"),
    ]
    kept = [at for at in range(len(columns)) if at not in (7, 8) or any(row[at] for row in rows)]
    columns, rows = [columns[at] for at in kept], [[row[at] for at in kept] for row in rows]
    return build_table(title, columns, rows, drop=("up/down", "n", "p"))


def _p(value: float | None) -> str:
    return formats.number(value) if value is None or value >= _SMALLEST_P else f"<{_SMALLEST_P}"


def _print_changes(found: Comparison) -> None:
    changed = found.changed()
    if not found.paired:
        return
    noun = found.a.noun
    if changed.empty:
        out.print(f"\nNo {noun} changed in {shown(found.headline.info.name)}.")
        return
    worse = int((changed["direction"] == "worse").sum())
    worst = changed[changed["direction"] == "worse"].head(SHOWN_CHANGES)
    best = changed[changed["direction"] == "better"].iloc[::-1].head(SHOWN_CHANGES)
    columns: list[Column] = [
        (noun, "fold"),
        ("A", "right"),
        ("B", "right"),
        ("by", "right"),
        ("what changed", "fold"),
    ]
    parts = ((f"{worse:,} got worse", worst), (f"{len(changed) - worse:,} got better", best))
    for title, part in parts:
        if part.empty:
            continue
        shorts = formats.short_documents(part["document"].tolist())
        records = part.to_dict("records")
        rows = [
            [short, formats.number(row["a"]), formats.number(row["b"]), _signed(row["change"], digits=3), _what(row)]
            for short, row in zip(shorts, records, strict=True)
        ]
        out.print()
        more = f", first {SHOWN_CHANGES}" if len(part) == SHOWN_CHANGES else ""
        out.print(build_table(f"{noun}s: {title}{more}", columns, rows))


def _what(row: dict[Any, Any]) -> str:
    if row["fields"]:
        return ", ".join(f"{field} {_signed(step, digits=2)}" for field, step in row["fields"][:3])
    if row["predicted_a"] is None and row["predicted_b"] is None and row["expected"] is None:
        return ""
    answers = [_cut(row[name]) for name in ("predicted_a", "predicted_b")]
    expected = f" (expected {_cut(row['expected'])})" if row["expected"] is not None else ""
    return f"{answers[0]} \N{RIGHTWARDS ARROW} {answers[1]}{expected}"


def _cut(text: str | None) -> str:
    if text is None:
        return "no answer"
    return text if len(text) <= SHOWN_TEXT else f"{text[: SHOWN_TEXT - 1]}\N{HORIZONTAL ELLIPSIS}"


def _next(found: Comparison, a: str, b: str, labels: str | None, noise: Sequence[str] | None) -> str:
    with_labels = [] if labels is None else ["--labels", labels]
    if not noise and found.headline.verdict != "rerun":
        command = shlex.join(["dojo", "noise", *with_labels, "--out", "noise.json"])
        return f"{command} RUN... with reruns on these documents, then --noise noise.json"
    if labels is not None:
        return shlex.join(["dojo", "misses", a, *with_labels, "--against", b])
    command = shlex.join(["dojo", "compare", a, b, "--metric", found.headline.info.name, "--json"])
    return f"{command} for every document that changed"
