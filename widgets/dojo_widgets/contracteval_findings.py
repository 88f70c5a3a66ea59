"""The published page of a ContractEval run: both readings, what tells them apart, categories, and Table III beside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from dojo_kit import charts, formats
from dojo_kit.report import Report
from dojo_kit.tasks.contracteval import CORRECTIONS, published_table

if TYPE_CHECKING:
    from dojo_kit.tasks.contracteval import ContractEvalScores, PublishedTable

COUNTS = ("TP", "TN", "FP", "FN")
SHOWN_ROWS = 200


def contracteval_page(
    name: str,
    paper: ContractEvalScores,
    corrected: ContractEvalScores,
    *,
    about: str = "",
    recipe: Mapping[str, Any] | None = None,
    command: str,
) -> Report:
    """Put together the page of answers to ContractEval's questions.

    Args:
        name: What the run is called.
        paper: Its scores as published.
        corrected: Its scores in the corrected reading.
        about: Model and prompt, in words.
        recipe: How the scores came about.
        command: Command that makes this page again.
    """
    changed = formats.count(len(paper.differences), "pair")
    page = Report(
        f"{name}: F1 {formats.estimate(paper.f1)} as published, {formats.estimate(corrected.f1)} corrected; {changed} "
        f"of {len(paper.rows):,} judged otherwise"
    )
    _add_conclusion(page, paper, about)
    _add_readings(page, paper, corrected)
    _add_differences(page, paper)
    _add_categories(page, corrected)
    add_published(page, published_table(), corrected, name)
    _add_rows(page, corrected)
    return page.footer(recipe=recipe, command=command)


def _add_conclusion(page: Report, paper: ContractEvalScores, about: str) -> None:
    page.text(
        f"{formats.count(paper.n_pairs, 'pair')} of contract and question, {paper.n_positive:,} with a label, from "
        f"{formats.count(paper.n_contracts, 'contract')}; {formats.count(paper.n_failed, 'call')} failed. An answer to "
        "a question with labels is right when it holds every label word for word, one to a question without when it "
        "says that there is no clause. Intervals draw whole contracts."
    )
    if about:
        page.text(f"{about}.", soft=True)
    for warning in paper.warnings:
        page.text(warning, soft=True)


def _add_readings(page: Report, paper: ContractEvalScores, corrected: ContractEvalScores) -> None:
    page.heading("Both readings")
    counts = [
        {"reading": scores.mode, **{c: getattr(scores, c.lower()) for c in COUNTS}, "failed calls": scores.n_failed}
        for scores in (paper, corrected)
    ]
    page.table(pd.DataFrame(counts), caption="The paper's reading takes a failed call for an empty answer.")
    rows = [
        {
            "metric": metric.replace("_", " "),
            "as published": value,
            "corrected": corrected.estimates[metric],
            "n": value.n,
            "note": value.note or ", ".join(value.flags),
        }
        for metric, value in paper.estimates.items()
    ]
    page.table(pd.DataFrame(rows), caption="n counts contracts that take part.")


def _add_differences(page: Report, scores: ContractEvalScores) -> None:
    page.heading("What tells the readings apart")
    found = scores.difference_counts
    if not found:
        page.text("Both readings judge every pair alike.")
        return
    rows = [
        {
            "correction": name.replace("_", " "),
            "pairs": n,
            "what it mends": CORRECTIONS.get(name, "a failed call is no answer"),
        }
        for name, n in found.items()
    ]
    page.table(pd.DataFrame(rows))
    columns = {
        "contract": "contract",
        "category": "category",
        "paper": "as published",
        "corrected": "corrected",
        "difference": "correction",
    }
    page.table(scores.differences.head(SHOWN_ROWS), columns=columns, caption="The pairs.")


def _add_categories(page: Report, scores: ContractEvalScores) -> None:
    page.heading("By category, corrected reading")
    table = scores.categories.assign(interval=_intervals(scores.categories))
    columns = {
        "short": "category",
        "n_pairs": "pairs",
        "n_positive": "with a label",
        **{name.lower(): name for name in COUNTS},
        "recall": "recall",
        "interval": "interval",
        "f1": "F1",
        "n_false_refused": "false no clause",
    }
    page.table(
        table, columns=columns, caption="Intervals of the recall by Wilson; a contract is asked once a category."
    )


def _intervals(table: pd.DataFrame) -> list[str]:
    pairs = zip(table["recall_lo"], table["recall_hi"], strict=True)
    return [formats.UNKNOWN if lo != lo else f"[{formats.number(lo)}, {formats.number(hi)}]" for lo, hi in pairs]


def add_published(page: Report, table: PublishedTable, own: ContractEvalScores | None = None, name: str = "") -> None:
    """Add the published table with error bars.

    Args:
        page: The page.
        table: The table.
        own: Scores of a run to stand beside it.
        name: What that run is called.
    """
    page.heading("The published table, with error bars")
    page.chart(
        charts.published_scores(table, own, name=name),
        live=False,
        caption="Whiskers cover every count the printed figures allow. A run over a sample of the split, or another "
        "split, is no row of this table: its whisker says how far its contracts could move it.",
    )
    rows = [
        {
            "model": row.model,
            "F1": row.f1,
            "F2": row.f2,
            "TP": written_range(row.tp),
            "FP": written_range(row.fp),
            "place": written_range(row.rank),
            "may tie with": len(row.ties),
        }
        for row in table.rows
    ]
    page.table(pd.DataFrame(rows))
    page.text(*(f"Assumed: {assumption}." for assumption in table.assumptions), soft=True)


def written_range(ends: tuple[int, int] | None) -> str:
    """Write a range of whole numbers.

    Examples:
        >>> written_range((863, 865)), written_range((58, 58)), written_range(None)
        ('863 to 865', '58', '–')
    """
    if ends is None:
        return formats.UNKNOWN
    return f"{ends[0]:,}" if ends[0] == ends[1] else f"{ends[0]:,} to {ends[1]:,}"


def _add_rows(page: Report, scores: ContractEvalScores) -> None:
    wrong = scores.rows[scores.rows["outcome"].isin(["FP", "FN"])]
    if wrong.empty:
        return
    first = wrong.head(SHOWN_ROWS)
    some = f"the first {len(first):,} of {len(wrong):,}" if len(wrong) > len(first) else f"all {len(wrong):,}"
    page.heading(f"Wrong answers: {some}")
    page.table(
        first.assign(rule=[rule.replace(".", ": ").replace("_", " ") for rule in first["rule"]]),
        columns={
            "contract": "contract",
            "category": "category",
            "outcome": "outcome",
            "rule": "why",
            "n_found": "labels found",
            "n_labels": "of",
            "jaccard": "Jaccard",
        },
    )
