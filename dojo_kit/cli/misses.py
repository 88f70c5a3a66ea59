"""``dojo misses``: which expected spans were not found, why, and what another run recovered or lost of them."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from enum import StrEnum
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
)
from dojo_kit.cli.output import Column, build_table, out, print_json, shown
from dojo_kit.stats.intervals import SCOPE
from dojo_kit.views.misses import attribution_notes

if TYPE_CHECKING:
    from dojo_kit.analysis.attribution import Attribution
    from dojo_kit.analysis.recovery import Recovery


class MeasureName(StrEnum):
    """How spans are matched with items."""

    scorer = "scorer"
    token_f1 = "token_f1"  # noqa: S105 - not a password
    coverage = "coverage"


FieldOption = Annotated[str | None, typer.Option("--field", help="Only this list field.")]
MeasureOption = Annotated[
    MeasureName,
    typer.Option(
        "--measure",
        help="scorer: the run's own one-to-one matching. token_f1, coverage: the nearest item, many labels to one.",
    ),
]
AgainstOption = Annotated[
    str | None,
    typer.Option("--against", help="A later run on the same documents: what it recovered and lost of RUN's spans."),
]


def misses(
    run: RunArgument,
    labels: LabelsOption,
    documents: DocumentsOption = None,
    field: FieldOption = None,
    measure: MeasureOption = MeasureName.scorer,
    against: AgainstOption = None,
    spans: SpansOption = Spans.all,
    embedder: EmbedderOption = None,
    set_: SetOption = None,
    config: ConfigOption = None,
    doc_class: ClassOption = None,
    on_error: OnErrorOption = OnError.stop,
    json: JsonOption = False,
) -> None:
    """Say of every expected span of the list fields whether it was found and, if not, why."""
    from dojo_kit.analysis.attribution import attribute
    from dojo_kit.analysis.recovery import recovered

    found = []
    for source in (run, *([] if against is None else [against])):
        scored = scored_from(source, labels, documents, spans, embedder, set_, config, doc_class, on_error, quiet=json)
        found.append(attribute(scored, field=field, measure=measure.value))
    recovery = recovered(*found) if against is not None else None
    if json:
        print_json(misses_as_dict(found[0], recovery))
        return
    _print_misses(found[0])
    if recovery is not None:
        _print_recovery(recovery)
    out.print(f"\n[dim]{SCOPE}[/]")
    given = {"--documents": documents, "--field": field, "--against": against}
    words = [word for option, value in given.items() if value for word in (option, value)]
    words += ["--spans", spans.value, "--measure", measure.value]
    name = "miss_attribution" if against is None else "recovery_check"
    command = shlex.join(["dojo", "notebook", name, "--run", run, "--labels", labels, *words])
    out.print(f"next: {shown(command)}", soft_wrap=True)


def misses_as_dict(attribution: Attribution, recovery: Recovery | None = None) -> dict[str, Any]:
    """Return everything ``dojo misses --json`` prints.

    Args:
        attribution: Spans of the run.
        recovery: What another run changed.
    """
    scored = attribution.scored
    return {
        "measure": attribution.measure,
        "threshold": attribution.threshold,
        "has_places": attribution.has_places,
        "fields": {
            field: {
                **attribution.counts(field),
                "recall": attribution.recall(field).as_dict(),
                "check": int(attribution.of_field(field)["check"].sum()),
                "causes": attribution.causes(field),
                "families": [
                    {
                        "category": row["category"],
                        "expected": row["n"],
                        "unmatched": row["missed"],
                        **{name: row[name] for name in ("rate", "lo", "hi", "ranked")},
                    }
                    for row in attribution.families(field).to_dict("records")
                ],
            }
            for field in attribution.fields
        },
        "recovery": None if recovery is None else _recovery_as_dict(recovery),
        "guessed_categories": _guessed_as_dict(attribution),
        **scored.counts,
        "recipe": scored.recipe.as_dict(),
        "scope": SCOPE,
        "problems": [asdict(problem) for problem in scored.problems],
    }


def _recovery_as_dict(recovery: Recovery) -> dict[str, Any]:
    return {
        field: {
            **{name: n for name, n in recovery.counts(field).items() if name != "kept"},
            "families": [
                {name: row[name] for name in ("category", "n", "recovered", "lost", "still", "net")}
                for row in recovery.families(field).to_dict("records")
            ],
        }
        for field in recovery.fields
    }


def _guessed_as_dict(attribution: Attribution) -> dict[str, Any]:
    """Return for each field how many spans got their category by keyword shape, and how often such a guess is right."""
    from dojo_kit.text.shapes import heldout_accuracy

    guessed = attribution.spans[attribution.spans["category_from"] == "shape"]["field"].value_counts()
    return {
        str(field): {"n_spans": int(n), "heldout_accuracy": heldout_accuracy(str(field))}
        for field, n in guessed.items()
    }


_FAMILIES: list[Column] = [
    ("family", "left"),
    ("missed", "right"),
    ("of", "right"),
    ("rate", "right"),
    ("interval", "left"),
    ("", "left"),
]


def _print_misses(attribution: Attribution) -> None:
    counts, made = attribution.scored.counts, attribution.scored.recipe.run
    about = " \N{MIDDLE DOT} ".join(part for part in (made["model"], made["prompt_version"]) if part)
    out.print(f"[bold]{shown(made['name'])}[/]  {shown(about)}")
    out.print(
        f"{formats.count(counts['n_scored'], 'document')} attributed; measure {attribution.measure}, threshold "
        f"{attribution.threshold:g}"
    )
    if not attribution.fields:
        out.print("[yellow]No list field with labels:[/] there is no span to attribute.")
    if not attribution.has_places:
        out.print(
            "[yellow]Without --documents nobody knows where labels and items stand:[/] most causes are only told by "
            "their places."
        )
    for field in attribution.fields:
        _print_field(attribution, field)


def _print_field(attribution: Attribution, field: str) -> None:
    counts = attribution.counts(field)
    unmatched = counts["n_expected"] - counts["matched"]
    parts = [f"{counts[status]:,} {status}" for status in ("matched", "taken", "near", "missed") if counts[status]]
    out.print(f"\n[bold]{shown(field)}[/]  {counts['n_expected']:,} expected = {' + '.join(parts)}")
    confidence = attribution.scored.recipe.confidence
    recall = formats.estimate(attribution.recall(field))
    out.print(f"recall {recall}, {confidence:.0%} interval, documents resampled; of families by Wilson")
    if unmatched:
        out.print(f"{unmatched:,} unmatched = {causes_line(attribution, field)}")
    for note in attribution_notes(attribution, field):
        out.print(f"[dim]{shown(note)}[/]")
    check = int(attribution.of_field(field)["check"].sum())
    if check:
        out.print(f"[yellow]{formats.count(check, 'match', 'matches')} to check:[/] the item stands elsewhere")
    families = attribution.families(field)
    rows = [
        [
            row["short"],
            f"{row['missed']:,}",
            f"{row['n']:,}",
            formats.number(row["rate"]),
            f"[{formats.number(row['lo'])}, {formats.number(row['hi'])}]",
            "" if row["ranked"] else "too few to rank",
        ]
        for row in families.to_dict("records")
    ]
    out.print()
    out.print(build_table("", _FAMILIES, rows))


def causes_line(attribution: Attribution, field: str) -> str:
    """Write the causes of a field's unmatched spans as a sum, the most frequent first.

    Args:
        attribution: Spans of the run.
        field: The field.
    """
    from dojo_kit.analysis.span_cases import CAUSES

    found = {cause: n for cause, n in attribution.causes(field).items() if n}
    ranked = sorted(found.items(), key=lambda pair: -pair[1])
    return " + ".join(f"{n:,} {CAUSES[cause].name}" for cause, n in ranked)


def _print_recovery(recovery: Recovery) -> None:
    after = recovery.after.scored.recipe.run
    for field in recovery.fields:
        counts = recovery.counts(field)
        out.print(
            f"\n[bold]{shown(field)}[/]  {shown(after['name'])} recovered {counts['recovered']:,} and lost "
            f"{counts['lost']:,} (net {counts['net']:+,}); {counts['still']:,} still missing"
        )
        rows = [
            [row["short"], *(f"{row[name]:,}" for name in ("n", "recovered", "lost", "still")), f"{row['net']:+,}"]
            for row in recovery.families(field).to_dict("records")
            if row["recovered"] or row["lost"]
        ]
        columns: list[Column] = [
            ("family", "left"),
            *((name, "right") for name in ("of", "recovered", "lost", "still", "net")),
        ]
        out.print(build_table("", columns, rows))
    for n, which in ((recovery.n_only_before, "the first"), (recovery.n_only_after, "the second")):
        if n:
            out.print(f"[dim]{formats.count(n, 'document')} scored only in {which} run left out.[/]")
