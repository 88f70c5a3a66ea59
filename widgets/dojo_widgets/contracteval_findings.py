"""The published page of a ContractEval run: both readings, what tells them apart, categories, and Table III beside."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from dojo_kit import charts, formats
from dojo_kit.charts.contracteval import published_finding
from dojo_kit.report import Report
from dojo_kit.report.tables import Cell
from dojo_kit.stats.intervals import scope_of
from dojo_kit.tasks.contracteval import published_table
from dojo_kit.tasks.contracteval.scores import CONTRACTS
from dojo_kit.views.contracteval_tables import (
    CORRECTION_NAMES,
    answer_table,
    category_table,
    contracteval_metric_table,
    correction_says,
    weakest_category,
    wrong_words,
)
from dojo_widgets.finding_cells import folded, named, set_back

if TYPE_CHECKING:
    from dojo_kit.records import QuestionRow
    from dojo_kit.tasks.contracteval import ContractEvalScores, PublishedTable

COUNTS = ("TP", "TN", "FP", "FN")
SHOWN_ROWS = 25
"""Answers listed in one table of the page; the others are counted."""


def contracteval_page(
    name: str,
    paper: ContractEvalScores,
    corrected: ContractEvalScores,
    *,
    answers: Iterable[QuestionRow] = (),
    about: str = "",
    recipe: Mapping[str, Any] | None = None,
    command: str,
) -> Report:
    """Put together the page of answers to ContractEval's questions.

    Args:
        name: What the run is called.
        paper: Its scores as published.
        corrected: Its scores in the corrected reading.
        answers: The rows that were scored, for labels and answers beside one another.
        about: Model and prompt, in words.
        recipe: How the scores came about.
        command: Command that makes this page again.
    """
    changed = formats.count(len(paper.differences), "pair")
    texts = list(answers)
    page = Report(
        f"{name}: F1 {formats.estimate(paper.f1)} as published, {formats.estimate(corrected.f1)} corrected; {changed} "
        f"of {len(paper.rows):,} judged otherwise"
    )
    _add_conclusion(page, paper, about)
    _add_readings(page, paper, corrected)
    _add_differences(page, paper, texts)
    _add_categories(page, corrected)
    _add_wrong_answers(page, corrected, texts)
    add_published(page, published_table(), corrected, name)
    return page.footer(recipe=recipe, scope=scope_of(CONTRACTS), command=command)


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
        page.text(f"{warning[:1].upper()}{warning[1:]}.", soft=True)


def _add_readings(page: Report, paper: ContractEvalScores, corrected: ContractEvalScores) -> None:
    page.heading(f"F1 {formats.estimate(paper.f1)} as published, {formats.estimate(corrected.f1)} corrected")
    counts = [
        {"reading": words, **{c: getattr(scores, c.lower()) for c in COUNTS}, "failed calls": scores.n_failed}
        for words, scores in (("as published", paper), ("corrected", corrected))
    ]
    page.table(
        pd.DataFrame(counts),
        caption="TP and FN: questions with a label, answered with every label or not. TN and FP: questions without "
        "one, where the answer says so or not. As published, a failed call is an empty answer.",
    )
    page.table(
        contracteval_metric_table(paper, corrected),
        columns={
            "metric": "metric",
            "paper": "as published",
            "corrected": "corrected",
            "n": "n",
            "measures": "what it measures",
        },
        caption="n counts contracts that take part.",
    )


def _add_differences(page: Report, scores: ContractEvalScores, answers: list[QuestionRow]) -> None:
    found = scores.difference_counts
    if not found:
        page.heading("Both readings judge every pair alike")
        page.text("No answer of this run meets one of the corrections.")
        return
    pairs = formats.count(sum(found.values()), "pair")
    page.heading(f"The readings differ on {pairs}: {CORRECTION_NAMES.get(next(iter(found)), next(iter(found)))}")
    rows = [
        {"correction": CORRECTION_NAMES.get(name, name), "pairs": n, "what it mends": correction_says(name)}
        for name, n in found.items()
    ]
    page.table(pd.DataFrame(rows))
    table = answer_table(scores, answers, rows=scores.differences.head(SHOWN_ROWS))
    left = len(scores.differences) - len(table)
    both = zip(table["paper"], table["corrected"], strict=True)
    shown = {
        "contract \N{MIDDLE DOT} question": _pairs(table),
        "as published \N{RIGHTWARDS ARROW} corrected": [f"{a} \N{RIGHTWARDS ARROW} {b}" for a, b in both],
        "correction": table["correction"].tolist(),
        **_texts(table),
    }
    page.table(pd.DataFrame(shown), caption=f"The pairs, in the order of the run.{_left(left)}")


def _pairs(table: pd.DataFrame) -> list[Cell]:
    shorts = zip(table["contract"], table["category"], strict=True)
    names = zip(table["file"], table["name"], strict=True)
    return named(*([f"{a} \N{MIDDLE DOT} {b}" for a, b in pairs] for pairs in (shorts, names)))


def _texts(table: pd.DataFrame) -> dict[str, list[Cell]]:
    """Return labels and answers as folded cells; nothing where the texts are not known."""
    if not table["answer"].any():
        return {}
    return {"label": [folded(text) for text in table["labels"]], "answer": [folded(text) for text in table["answer"]]}


def _left(n: int) -> str:
    return f" {n:,} more are not shown: they are among the rows of score_contracteval." if n else ""


def _add_categories(page: Report, scores: ContractEvalScores) -> None:
    table = category_table(scores)
    page.heading(weakest_category(table))
    few = (~table["ranked"].astype(bool)).tolist()
    columns = {
        "category": "category",
        "labelled": "labelled",
        "recall": "recall",
        **{name.lower(): name for name in COUNTS},
        "f1": "F1",
        "refused": "says none",
        "remarks": "remarks",
    }
    cells: dict[str, list[Any]] = {name: table[name].tolist() for name in columns} | {
        "category": named(table["category"].tolist(), table["name"].tolist()),
        "recall": [Cell(formats.estimate(value), note=value.note) for value in table["recall"]],
        "f1": [formats.number(value) for value in table["f1"]],
    }
    shown = pd.DataFrame({name: set_back(cells[name], few) for name in columns})
    page.table(
        shown,
        columns=columns,
        caption="Corrected reading, lowest recall first; categories with fewer than 5 labelled pairs come last, set "
        "back. Says none: those of FN whose answer says that there is no clause. Intervals by Wilson: a contract is "
        "asked once a category.",
    )


def add_published(page: Report, table: PublishedTable, own: ContractEvalScores | None = None, name: str = "") -> None:
    """Add the published table with error bars.

    Args:
        page: The page.
        table: The table.
        own: Scores of a run to stand beside it.
        name: What that run is called.
    """
    page.heading(f"Published: {published_finding(table)}")
    page.chart(
        charts.published_scores(table, own, name=name, title="F1 as printed, with error bars"),
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


def _add_wrong_answers(page: Report, scores: ContractEvalScores, answers: list[QuestionRow]) -> None:
    page.heading(wrong_words(scores))
    table = answer_table(scores, answers)
    if table.empty:
        return
    first = table.head(SHOWN_ROWS)
    page.text(
        "Corrected reading. FN: a label is not in the answer word for word, or the answer says that there is no "
        "clause; how many of the labels it holds stands beside. FP: the answer to a question without a label does not "
        "say so. FN come first, the least similar answer first; similarity is that of the words of answer and labels."
        f"{_left(len(table) - len(first))}"
    )
    reasons = zip(first["outcome"], first["why"], first["found"], strict=True)
    shown = {
        "contract \N{MIDDLE DOT} question": _pairs(first),
        "outcome": [_outcome(outcome, why, found) for outcome, why, found in reasons],
        "similarity": [formats.number(value, digits=2) for value in first["similarity"]],
        **_texts(first),
    }
    page.table(pd.DataFrame(shown))


def _outcome(outcome: str, why: str, found: str) -> str:
    is_plain = outcome != "FN" or found == "0 of 1"
    return f"{outcome}: {why}" if is_plain else f"{outcome}: {why}, {found}"
