"""The published page of scored labels: metrics with intervals, the spread of queries, the worst ones with chunks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from dojo_kit import formats
from dojo_kit._version import __version__
from dojo_kit.charts.rag import metric_intervals, query_spread, spread_finding
from dojo_kit.rag.metrics import METRICS
from dojo_kit.rag.tasks import RECORD, task_named
from dojo_kit.report import Report
from dojo_kit.report.tables import Cell
from dojo_kit.runs.rag_files import read_label_texts
from dojo_kit.views.rag import (
    MARKED,
    TERMS,
    WORDS,
    bounds_of,
    count_sentences,
    explained,
    level,
    metric_rows,
    query_text,
    says_scores,
    shown_context,
    unit_rows,
    worst_queries,
)
from dojo_widgets.finding_cells import folded

if TYPE_CHECKING:
    from dojo_kit.rag.scorecard import Scorecard
    from dojo_kit.runs.rag_evaluation import Evaluation

WORST = 8
"""Queries shown with their chunks."""

SHOWN_UNITS = 20
"""Chunks of one query that are shown."""


def rag_page(found: Evaluation, *, command: str = "", worst: int = WORST) -> Report:
    """Put together the page of scored labels.

    Args:
        found: The scored labels.
        command: Command that makes this page again.
        worst: Queries shown with their chunks.
    """
    card = found.card
    page = Report(says_scores(card))
    _add_conclusion(page, found)
    _add_metrics(page, card)
    page.heading(spread_finding(card))
    middles = ""
    if card.bounds:
        middles = " Where labels of a query are missing, its dot lies midway between the least and the greatest value."
    page.chart(
        query_spread(card, title="Values of single queries"),
        caption="A mean hides whether all queries are middling or some fail outright: look at those at the worst end. "
        f"Values are rounded to 0.05 here.{middles}",
    )
    add_worst(page, found, worst)
    _add_counts(page, card)
    return page.footer(recipe=_recipe(found), scope=card.scope, command=command)


def _add_conclusion(page: Report, found: Evaluation) -> None:
    card = found.card
    by_model = card.options.labels_by == "model"
    who = "A model made the labels: what it gets wrong is in every number and in no interval." if by_model else ""
    page.text(
        f"{formats.count(card.n_queries, 'query', 'queries')} scored, each weighing the same. {who} Whether another "
        "system is better cannot be read from two such pages: compare them query by query.".replace("  ", " ")
    )
    parts = [f"task: {card.task}", *found.notes, *card.flags]
    page.text("; ".join(parts) + ".", soft=True)
    problems = [*found.source.skipped, *card.problems]
    for problem in problems[:5]:
        page.text(str(problem), soft=True)
    if len(problems) > 5:
        page.text(f"{formats.count(len(problems) - 5, 'further problem')} in the input.", soft=True)


def _add_metrics(page: Report, card: Scorecard) -> None:
    confidence = level(card.options.confidence)
    page.heading(f"The metrics, with {confidence} intervals")
    by_model = card.options.labels_by == "model"
    rows = []
    for row in metric_rows(card):
        value = f"{row['value']} {row['interval']}".strip()
        shown: dict[str, Any] = {
            "metric": Cell(row["words"], note=row["metric"]),
            f"value, {confidence} interval": value,
            "n": row["n"],
        }
        if by_model:
            shown["labels"] = "by model"
        shown["remarks"] = "; ".join(part for part in row["says"].split("; ") if part and part != MARKED)
        if card.design_effects:
            shown |= {"ICC": row["icc"], "design effect": row["effect"]}
        shown["what it measures"] = row["measures"]
        rows.append(shown)
    page.table(pd.DataFrame(rows), caption=_metrics_caption(card))
    page.text(*explained(card), soft=True)
    open_ends = " A thick bar is what missing labels leave open." if card.bounds else ""
    page.chart(
        metric_intervals(card, title="Metrics with their intervals"),
        caption=f"Intervals of two metrics that overlap say nothing about either: they share their queries.{open_ends}",
    )
    ranges = list(bounds_of(card))
    if ranges:
        shown_ranges = [
            {"metric": WORDS[name][0], "if missing labels are at their worst": low, "at their best": high}
            if METRICS[name].higher_is_better
            else {"metric": WORDS[name][0], "if missing labels are at their worst": high, "at their best": low}
            for name, low, high in ranges
        ]
        page.heading("What missing labels could change", level=3)
        page.table(
            pd.DataFrame(shown_ranges),
            caption="Every label that is missing could be 0 or 1; both ends have an interval.",
        )


def _metrics_caption(card: Scorecard) -> str:
    grouped = card.options.group_by
    unit = "queries" if grouped is None else f"groups of queries by {grouped}"
    return f"n counts {unit} that take part; a dash is an undefined value, and the remarks say why."


def add_worst(page: Report, found: Evaluation, n: int = WORST) -> None:
    """Add the queries that come off worst, each with its chunks.

    Args:
        page: The page.
        found: The scored labels.
        n: How many queries.
    """
    card = found.card
    worst = worst_queries(card, n)
    queries = [str(name) for name in worst[RECORD]]
    texts = read_label_texts(
        found.source.path,
        card.task,
        queries,
        system=card.system,
        run=card.run,
        generic=found.source.labels_by == "model",
    )
    page.heading(f"The {formats.count(len(queries), 'query', 'queries')} that come off worst")
    ends = " (the middle of what each could be where labels are missing)" if card.bounds else ""
    page.text(
        f"By the mean of all metrics of a query{ends}, each turned so that higher is better. Texts are as the file has "
        "them; labels are what the vote decided.",
        soft=True,
    )
    if card.units["n_dissent"].any():
        page.text(TERMS["dissent"], soft=True)
    if task_named(card.task).ranked:
        _add_chunks(page, card, worst.to_dict("records"), texts)
    else:
        _add_answers(page, card, queries, texts)


def _add_chunks(page: Report, card: Scorecard, worst: Sequence[Mapping[Any, Any]], texts: pd.DataFrame) -> None:
    """Add one table of the queries and one of all their chunks, so that columns stand under each other."""
    queries: list[dict[str, Any]] = []
    chunks: list[dict[str, Any]] = []
    left = 0
    for row in worst:
        query = str(row[RECORD])
        text = query_text(card, query, texts)
        asked = {"question": _shortened(text)} if task_named(card.task).texts[0] in texts else {}
        queries.append({"query": query, **asked, "values": _values_of(card, row)})
        units = unit_rows(card, query, texts)
        left += len(units[SHOWN_UNITS:])
        if not units:
            chunks.append({"query": query, "rank": None, "chunk": "", "labels": "Nothing was retrieved.", "text": ""})
        for at, unit in enumerate(units[:SHOWN_UNITS]):
            shown = {
                "rank": unit["rank"],
                "chunk": unit["id"],
                "labels": _labels_of(unit),
                "text": folded(unit["text"]),
            }
            chunks.append({"query": Cell(query, faint=at > 0), **shown})
    page.table(pd.DataFrame(queries))
    page.heading("Their chunks", level=3)
    table = pd.DataFrame(chunks, dtype=object)  # ranks stay whole numbers beside a dash
    if task_named(card.task).texts[1] not in texts:
        table = table.drop(columns="text")
    page.table(table, caption=f"{formats.count(left, 'further chunk')} not shown." if left else "")


def _add_answers(page: Report, card: Scorecard, queries: list[str], texts: pd.DataFrame) -> None:
    """Add one table of answers; what is beside the answer depends on the task."""
    first, second = task_named(card.task).texts
    rows = []
    for query in queries:
        beside = query_text(card, query, texts)
        for unit in unit_rows(card, query, texts):
            shown: dict[str, Any] = {"query": query, "labels": _labels_of(unit)}
            shown |= {
                _HEADINGS[name]: _text(name, text)
                for name, text in ((first, beside), (second, unit["text"]))
                if name in texts
            }
            rows.append(shown)
    separated = "context_set" in (first, second) and "context_set" in texts
    page.table(pd.DataFrame(rows), caption="A bar | stands between the passages of a context." if separated else "")


_HEADINGS = {"query": "question", "answer": "answer", "context_set": "context"}


def _text(column: str, text: str) -> Cell:
    if not text.strip():
        return Cell(f"(empty {_HEADINGS[column]})", faint=True)
    return folded(shown_context(text) if column == "context_set" else text)


def _labels_of(unit: Mapping[str, Any]) -> str:
    words = unit["labels"]
    labels = "no decided label" if words is None else ", ".join(words) or "none of the labels"
    votes = f" ({unit['votes']:,} votes{', dissent' if unit['dissent'] else ''})" if unit["votes"] > 1 else ""
    return labels + votes


def _values_of(card: Scorecard, row: Mapping[Any, Any]) -> str:
    parts = []
    for name in card.metrics:
        words = WORDS[name][0]
        if name in row:
            value = row[name]
            parts.append(f"{words} {formats.number(None if value != value else float(value), digits=2)}")
        else:
            low, high = (formats.number(float(row[f"{name}_{end}"]), digits=2) for end in ("min", "max"))
            parts.append(f"{words} {low}" if low == high else f"{words} {low} to {high}")
    status = "" if row["status"] == "scored" else f"; {row['status']}"
    missing = f", {int(row['n_missing']):,} of its labels missing" if row["n_missing"] else ""
    return "; ".join(parts) + status + missing + "."


def _shortened(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 140 else f"{flat[:140].rsplit(' ', 1)[0]} ..."


def _add_counts(page: Report, card: Scorecard) -> None:
    page.heading("What became of the rows")
    page.text(*(f"{sentence}." for sentence in count_sentences(card)))
    broken = {rule: n for rule, n in card.violations.items() if n}
    if broken:
        rows = [{"rule": rule, "broken by": n} for rule, n in broken.items()]
        page.table(pd.DataFrame(rows), caption="Labels that contradict each other, after the vote.")


def _recipe(found: Evaluation) -> dict[str, Any]:
    options, source = found.card.options, found.source
    return {
        "task": found.card.task,
        "system": found.card.system or "not named",
        "labels": found.source.path.name if source.kind == "direct_path" else f"{source.kind} {source.ref}",
        "labels_by": options.labels_by,
        "input_sha256": found.table.sha256,
        "on_incomplete": options.on_incomplete,
        "on_violation": options.on_violation,
        "tie": options.tie,
        "group_by": options.group_by or "nothing",
        "confidence": options.confidence,
        "n_resamples": options.n_resamples,
        "seed": options.seed,
        "version": __version__,
    }
