"""What ``dojo eval`` prints: scores, agreement and comparisons as tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dojo_kit import formats
from dojo_kit.cli.output import Column, build_table, out, shown
from dojo_kit.views.rag import MARKED, count_sentences, level, metric_rows, says_comparison, says_scores

if TYPE_CHECKING:
    from dojo_kit.analysis.compare import ComparedMetric
    from dojo_kit.analysis.rag_compare import SystemComparison
    from dojo_kit.rag.scorecard import Scorecard
    from dojo_kit.runs.rag_agreement import ExportAgreement
    from dojo_kit.runs.rag_evaluation import Evaluation

DIGITS = 4
_SMALLEST_P = 0.001


def print_evaluation(found: Evaluation) -> None:
    """Print scored labels.

    Args:
        found: The scored labels.
    """
    card = found.card
    out.print(f"[bold]{shown(says_scores(card))}[/]", soft_wrap=True)
    out.print(f"labels: {shown(found.source.shown)}", soft_wrap=True)
    for note in found.notes:
        out.print(f"[yellow]{shown(note)}[/]", soft_wrap=True)
    for problem in (*found.source.skipped, *card.problems):
        out.print(f"[yellow]{shown(problem)}[/]", soft_wrap=True)
    for flag in card.flags:
        out.print(f"[yellow]{shown(flag)}[/]", soft_wrap=True)
    for sentence in count_sentences(card):
        out.print(shown(sentence), soft_wrap=True)
    out.print()
    _print_metrics(card)
    out.print(f"\n[dim]{shown(card.scope)}[/]")


def _print_metrics(card: Scorecard) -> None:
    columns: list[Column] = [
        ("metric", "fold"),
        ("value", "right"),
        (f"{level(card.options.confidence)} interval", "left"),
        ("n", "right"),
        ("method", "left"),
    ]
    if card.design_effects:
        columns += [("ICC", "right"), ("design effect", "right")]
    columns.append(("", "fold"))
    rows = []
    for row in metric_rows(card):
        cells = [row["metric"], row["value"], row["interval"], f"{row['n']:,}", row["method"]]
        if card.design_effects:
            cells += [row["icc"], row["effect"]]
        rows.append([*cells, row["says"]])
    out.print(build_table("", columns, rows, drop=("method",)))


def print_agreement(found: ExportAgreement) -> None:
    """Print the agreement of an export's annotators.

    Args:
        found: The agreement.
    """
    for problem in found.skipped:
        out.print(f"[yellow]left out: {shown(problem)}[/]", soft_wrap=True)
    columns: list[Column] = [
        ("label", "fold"),
        ("alpha", "right"),
        (f"{level(found.options.ci)} interval", "left"),
        ("items", "right"),
        ("agreeing pairs", "right"),
        ("positive", "right"),
        ("", "fold"),
    ]
    for task, system, agreement in found.found:
        of = f" of {system}" if system else ""
        rows = [
            [
                one.label,
                formats.number(one.alpha.estimate.value),
                formats.interval(one.alpha.estimate),
                f"{one.alpha.n_items:,}",
                formats.number(one.percentage),
                formats.number(one.share_positive),
                "; ".join(_says_alpha(one.alpha.estimate.note, one.alpha.estimate.flags, one.alpha.n_single_category)),
            ]
            for one in agreement.labels
        ]
        title = (
            f"{task}{of}: {formats.count(agreement.n_items_shared, 'item')} judged by several of "
            f"{len(agreement.annotators)} annotators, {agreement.n_items:,} in all"
        )
        out.print(build_table(title, columns, rows))
        pairs = [
            [f"{pair.annotator_a}, {pair.annotator_b}", formats.number(pair.kappa), f"{pair.n_shared_items:,}"]
            for pair in agreement.pairs
        ]
        if pairs:
            out.print(build_table("", [("pair", "fold"), ("kappa", "right"), ("shared items", "right")], pairs))
        out.print()
    if found.found:
        out.print(f"[dim]{found.found[0][2].scope}[/]")


def _says_alpha(note: str, flags: tuple[str, ...], n_single: int) -> Iterator[str]:
    if note:
        yield note
    yield from (flag for flag in flags if not flag.endswith("undefined"))
    if n_single and not note:
        yield f"{n_single:,} resamples of one category left out"


def print_comparison(found: SystemComparison) -> None:
    """Print a comparison of two systems.

    Args:
        found: The comparison.
    """
    out.print(f"[bold]{shown(says_comparison(found))}[/]", soft_wrap=True)
    a, b = found.names
    out.print(f"A is {shown(a)}, the baseline; B is {shown(b)}", soft_wrap=True)
    for n, name in ((found.n_only_a, a), (found.n_only_b, b)):
        if n:
            out.print(f"{formats.count(n, 'query', 'queries')} scored only for {shown(name)}, left out", soft_wrap=True)
    columns: list[Column] = [
        ("metric", "fold"),
        ("A", "right"),
        ("B", "right"),
        ("better by", "right"),
        (f"{level(found.options.confidence)} interval", "left"),
        ("p", "right"),
        ("n", "right"),
        ("up/down", "right"),
        ("verdict", "fold"),
    ]
    out.print()
    rows = [_compared(one) for one in found.metrics.values()]
    marked = f", {MARKED}" if found.options.labels_by == "model" else ""
    out.print(build_table(f"p corrected for {len(rows)} metrics{marked}", columns, rows, drop=("up/down", "n", "p")))
    for note in found.notes:
        out.print(f"[dim]{shown(note)}[/]", soft_wrap=True)
    out.print(f"\n[dim]{shown(found.scope)}[/]")


def _compared(one: ComparedMetric) -> list[str]:
    delta = one.delta
    p = delta.p if one.p_holm is None else one.p_holm
    interval = "" if delta.lo is None else f"[{_signed(delta.lo)}, {_signed(delta.hi)}]"
    return [
        one.info.name + ("" if one.info.higher_is_better else " (lower is better)"),
        formats.number(one.a.value),
        formats.number(one.b.value),
        _signed(delta.value),
        interval,
        f"<{_SMALLEST_P}" if p is not None and p < _SMALLEST_P else formats.number(p),
        f"{delta.n:,}",
        f"{delta.n_better:,}/{delta.n_worse:,}",
        one.verdict if delta.value is not None else delta.note or "undefined",
    ]


def _signed(value: float | None) -> str:
    if value is None:
        return formats.UNKNOWN
    return f"{value:+.{DIGITS}f}" if value else formats.number(0.0, digits=DIGITS)
