"""The published page of two compared runs: the verdict, every metric, the documents that changed, and rerun noise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from dojo_kit import formats
from dojo_kit.report import Report
from dojo_kit.views.deltas import (
    DIGITS,
    bounds,
    change_rows,
    metric_words,
    run_names,
    says_conclusion,
    says_finding,
    signed,
)
from dojo_widgets.delta_forest import DeltaForest
from dojo_widgets.noise_band import NoiseBand

if TYPE_CHECKING:
    from dojo_kit.analysis.compare import ComparedMetric, Comparison
    from dojo_kit.analysis.measured import Measured, MetricInfo
    from dojo_kit.analysis.noise import NoiseFloor
    from dojo_kit.stats.compare import Delta

EXAMPLES = 10
"""Documents listed that got worse, and that got better."""

SHOWN_CHARACTERS = 160

_FOREST_SAYS = (
    "Each row is a metric; right of 0 is better for B. A change inside the grey zone may be rerun noise; one whose "
    "interval includes 0 may be chance among documents. A row opens the documents that changed."
)
_NOISE_SAYS = (
    "Each row is a pair of runs with one setting; it opens the documents that changed their answer. Pairs that hold a "
    "run of this comparison do not count in its band."
)


def comparison_page(
    comparison: Comparison,
    *,
    noise: NoiseFloor | None = None,
    recipe: Mapping[str, Any] | None = None,
    command: str = "",
) -> Report:
    """Put together the page of two compared runs.

    Args:
        comparison: The comparison.
        noise: Measured rerun noise it was held against.
        recipe: How the scores came about; what both runs share by default.
        command: Command that makes this page again.
    """
    a, b = run_names(comparison)
    page = Report(says_finding(comparison, a=a, b=b))
    page.text(says_conclusion(comparison))
    page.text(". ".join(_sentences(comparison)) + ".", soft=True)
    _add_runs(page, comparison)
    _add_metrics(page, comparison)
    add_changes(page, comparison)
    _add_examples(page, comparison)
    page.heading("How large is rerun noise?")
    if noise is None or not len(noise):
        page.text(
            "It was not measured: no change on this page can be called a win or a loss. Run both prompts again on the "
            "same documents; three reruns beyond the first give a band."
        )
    else:
        page.widget(NoiseBand(noise), caption=_NOISE_SAYS)
    shared = {name: value for name, value in comparison.a.recipe.items() if value is not None}
    return page.footer(recipe=shared if recipe is None else recipe, scope=comparison.scope, command=command)


def add_changes(page: Report, comparison: Comparison) -> None:
    """Add every metric of a comparison with its interval and band, and the documents behind each.

    Args:
        page: The page.
        comparison: The comparison.
    """
    page.heading("What changed, and in which documents")
    page.widget(DeltaForest(comparison), caption=_FOREST_SAYS)


def _sentences(comparison: Comparison) -> Iterator[str]:
    yield (
        f"{formats.count(comparison.n, 'document')} in both runs"
        if comparison.paired
        else "No document is in both runs"
    )
    for n, side in ((comparison.n_only_a, "A"), (comparison.n_only_b, "B")):
        if n and comparison.paired:
            yield f"{formats.count(n, 'document')} only in {side}, left out"
    for note in comparison.notes:
        yield note[:1].upper() + note[1:]


def _add_runs(page: Report, comparison: Comparison) -> None:
    rows = [_run_row("A", comparison.a), _run_row("B", comparison.b)]
    page.table(pd.DataFrame(rows), caption="A is the baseline.")


def _run_row(letter: str, run: Measured) -> dict[str, Any]:
    return {
        "": letter,
        "run": run.name,
        "model": run.model or "unknown",
        "prompt": run.prompt_version or "unknown",
        "date": run.timestamp[:10],
        "documents": len(run),
        "failed": run.n_failed,
    }


def _add_metrics(page: Report, comparison: Comparison) -> None:
    page.heading("Scores")
    kept = [one for one in comparison.metrics.values() if _is_listed(one.info)]
    chosen = kept or list(comparison.metrics.values())
    page.table(
        pd.DataFrame([_metric_row(one) for one in chosen]),
        caption="Change: B less A, positive when B is better. p of fields is corrected for their number (Holm). Band: "
        "what two runs of one setting differ by. Detectable: the smallest change that so many documents show in 4 of 5 "
        f"tries.{_others(comparison, len(chosen))}",
    )
    worst = comparison.headline.delta_errors_as_worst
    if worst is not None and worst != comparison.headline.delta:
        page.text(f"With every missing answer as the worst the headline changes by {_change(worst)}.", soft=True)


def _others(comparison: Comparison, shown: int) -> str:
    rest = len(comparison.metrics) - shown
    return f" {formats.count(rest, 'further metric')} below." if rest else ""


def _is_listed(info: MetricInfo) -> bool:
    """Tell whether a metric stands in the one table: those of the whole, and the score of every field."""
    return info.kind in ("headline", "composite") or (info.kind == "field" and info.measure == "score")


def _chance(p: float | None) -> str:
    return "< 0.001" if p is not None and p < 0.001 else formats.number(p)


def _metric_row(compared: ComparedMetric) -> dict[str, Any]:
    delta, band = compared.delta, compared.band.value
    return {
        "metric": metric_words(compared.info) + ("" if compared.info.higher_is_better else " (lower is better)"),
        "A": formats.number(compared.a.value),
        "B": formats.number(compared.b.value),
        "change": signed(delta.value),
        "interval": bounds(delta) or formats.UNKNOWN,
        "p": _chance(delta.p if compared.p_holm is None else compared.p_holm),
        "n": delta.n,
        "band": formats.UNKNOWN if band is None else formats.number(band, digits=DIGITS),
        "detectable": formats.number(delta.mde, digits=DIGITS),
        "verdict": compared.verdict if delta.value is not None else delta.note,
    }


def _change(delta: Delta) -> str:
    return f"{signed(delta.value)} {bounds(delta)}".strip()


def _add_examples(page: Report, comparison: Comparison) -> None:
    if not comparison.paired:
        return
    found = change_rows(comparison, comparison.headline.info.name)
    for direction, title in (("worse", "got worse"), ("better", "got better")):
        rows = [row for row in found["rows"] if row["direction"] == direction]
        if not rows:
            continue
        ordered = sorted(rows, key=lambda row: -abs(row["change"]))[:EXAMPLES]
        some = f", the {len(ordered)} that changed most" if len(rows) > len(ordered) else ""
        page.heading(f"{formats.count(len(rows), 'document')} {title}{some}", level=3)
        page.table(pd.DataFrame([_example(row) for row in ordered]))


def _example(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "document": row["short"],
        "A": formats.number(row["a"]),
        "B": formats.number(row["b"]),
        "change": signed(row["change"], digits=3),
        "what changed": _what(row),
    }


def _what(row: Mapping[str, Any]) -> str:
    if "parts" in row:
        parts = [f"{part['name']} {formats.number(part['a'])} to {formats.number(part['b'])}" for part in row["parts"]]
        return ", ".join(parts[:3]) + (f" and {len(parts) - 3} more" if len(parts) > 3 else "")
    answers = [_cut(row.get(name, "no answer")) for name in ("answer_a", "answer_b")]
    expected = f" (expected {_cut(row['expected'])})" if "expected" in row else ""
    return f"{answers[0]} \N{RIGHTWARDS ARROW} {answers[1]}{expected}"


def _cut(text: str) -> str:
    if len(text) <= SHOWN_CHARACTERS:
        return text
    return f"{text[:SHOWN_CHARACTERS].rsplit(' ', 1)[0]} ... ({len(text):,} characters)"
