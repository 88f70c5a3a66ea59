"""The published page of scored label runs: the finding, what is confused, why it is wrong, and how it was made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from dojo_kit import formats
from dojo_kit.report import Report
from dojo_kit.report.tables import Cell
from dojo_kit.views.confusion import confidence_lean, confusion_words, label_names
from dojo_kit.views.label_tables import label_table, metric_table, mode_table, weakest_label, words_of, wrong_answers
from dojo_widgets.confusion_matrix import PAGE_ROWS, ConfusionMatrix
from dojo_widgets.finding_cells import folded, named, set_back
from dojo_widgets.reliability_curve import ReliabilityCurve

if TYPE_CHECKING:
    from dojo_kit.scoring.classification import LabelScores
    from dojo_kit.tasks.scores import TaskScores

SHOWN_FAILURES = 30
"""Wrong rows listed on the page; the others are counted, and stand behind the cells of the matrix."""


def label_findings_page(
    runs: Mapping[str, TaskScores],
    *,
    about: Mapping[str, str] | None = None,
    recipe: Mapping[str, Any] | None = None,
    command: str,
) -> Report:
    """Put together the page of scored label runs.

    Args:
        runs: Name -> scored run; all are listed, the first is looked into.
        about: Name -> model and prompt of the run, in words.
        recipe: How the scores came about.
        command: Command that makes this page again.
    """
    name, scores = next(iter(runs.items()))
    page = Report(_title(name, scores))
    _add_conclusion(page, scores, (about or {}).get(name, ""))
    _add_metrics(page, scores)
    if len(runs) > 1:
        _add_runs(page, runs, about or {})
    _add_confusion(page, scores)
    _add_modes(page, scores)
    for level in _levels(scores):
        _add_labels(page, scores, level)
    _add_wrong_answers(page, scores)
    _add_confidence(page, scores)
    return page.footer(recipe=recipe, command=command)


def _levels(scores: TaskScores) -> list[str]:
    return ["labels"] if scores.subclass is None else ["labels", "subclass"]


def _level_name(scores: TaskScores, level: str) -> str:
    if level == "subclass":
        return "subclass"
    return {"family": "family", "hierarchy": "document class"}.get(scores.record.kind, "label")


def _counted(scores: TaskScores, level: str) -> LabelScores:
    return scores.labels if level == "labels" or scores.subclass is None else scores.subclass


def _confused(scores: TaskScores, level: str) -> str:
    """Say what is confused most on a level; empty when nothing is."""
    shorts = {key: short for key, (short, _) in label_names(scores, level=level).items()}
    return confusion_words(_counted(scores, level), shorts, arrow=" taken for ")


def _title(name: str, scores: TaskScores) -> str:
    says = f"{name}: {words_of(scores.record.headline)} {formats.estimate(scores.headline)}"
    # The level with the largest confusion has the finding, not the first one.
    largest = {
        level: int(top["n"].iloc[0])
        for level in _levels(scores)
        if not (top := _counted(scores, level).top_confusions(1)).empty
    }
    if largest:
        return f"{says}, {_confused(scores, max(largest, key=lambda level: largest[level]))}"
    return f"{says}, nothing is confused" if scores.labels.n else says


def _add_conclusion(page: Report, scores: TaskScores, about: str) -> None:
    counts = scores.counts
    says = f"{counts['n_scored']:,} of {formats.count(counts['n_rows'], 'row')} hold an answer that can be judged"
    if counts["n_failed"]:
        has, counted = ("has", "counts as a miss") if counts["n_failed"] == 1 else ("have", "count as misses")
        says += f"; {counts['n_failed']:,} {has} none and {counted} in every headline"
    if counts["n_disguised"]:
        label = "a label nobody gave"
        only = counts["n_disguised"] == counts["n_failed"] == 1
        says += f", stored as completed with {label}" if only else ""
        says += "" if only else f", {counts['n_disguised']:,} of them stored as completed with {label}"
    page.text(
        f"{says}. Breakdowns leave rows without an answer out and count them beside. What not to conclude: that a "
        "label is hard because few documents say so."
    )
    rest = [f"task: {scores.record.title}"]
    rest += [f"{counts['n_unscored']:,} without a true label"] if counts["n_unscored"] else []
    rest += [f"{formats.count(counts['n_unread'], 'answer')} named no label"] if counts["n_unread"] else []
    rest += [about] if about else []
    page.text("; ".join(rest) + ".", soft=True)
    for problem in scores.problems[:5]:
        page.text(str(problem), soft=True)
    if len(scores.problems) > 5:
        page.text(f"{formats.count(len(scores.problems) - 5, 'further problem')} in the input.", soft=True)


def _add_metrics(page: Report, scores: TaskScores) -> None:
    words = words_of(scores.record.headline)
    page.heading(f"{words[0].upper()}{words[1:]} {formats.estimate(scores.headline)}, n {scores.headline.n:,}")
    table = metric_table(scores)
    both = zip(table["measures"], table["remarks"], strict=True)
    table["measures"] = [f"{measures}; {remarks}" if remarks else measures for measures, remarks in both]
    page.table(
        table,
        columns={"metric": "metric", "value": "value", "n": "n", "measures": "what it measures"},
        caption=f"n counts documents; intervals at {scores.settings.statistics.confidence:.0%}.",
    )


def _add_runs(page: Report, runs: Mapping[str, TaskScores], about: Mapping[str, str]) -> None:
    page.heading(f"{len(runs):,} runs side by side")
    page.text(
        "Each row is one run. Overlapping or disjoint intervals of two runs do not decide which is better: the same "
        "documents were sorted twice, so only a paired comparison can, and it must beat the noise of reruns."
    )
    rows = [
        {
            "run": name,
            "made with": about.get(name, ""),
            "judged by": words_of(scores.record.headline),
            "value": scores.headline,
            "n": scores.headline.n,
            "failed": scores.counts["n_failed"],
        }
        for name, scores in runs.items()
    ]
    page.table(pd.DataFrame(rows))


def _add_confusion(page: Report, scores: TaskScores) -> None:
    for level in _levels(scores):
        if not _counted(scores, level).n:
            continue
        words = _confused(scores, level) or "nothing is confused"
        of = f"By {_level_name(scores, level)}, " if len(_levels(scores)) > 1 else ""
        heading = f"{of}{words}"
        page.heading(heading[0].upper() + heading[1:])
        matrix = ConfusionMatrix(scores, level=level)
        outlined = " Outlined pairs are defensible for one another." if matrix.data["equivalent"] else ""
        page.widget(
            matrix,
            caption="Rows are what is true, columns what was answered; a cell opens its documents with the model's "
            f"reasons.{outlined} A strong colour in a row of few documents is a matter of chance.",
        )


def _add_modes(page: Report, scores: TaskScores) -> None:
    table = mode_table(scores)
    n_wrong = int(table["n"].iloc[:-1].sum())
    top = table.iloc[0]
    if n_wrong:
        page.heading(f"{int(top['n']):,} of {formats.count(n_wrong, 'wrong answer')}: {top['mode']}")
    else:
        page.heading("No answer is wrong")
    recovered = len(scores.equiv_recovered)
    also = f" {formats.count(recovered, 'answer')} wrong, but defensible." if recovered else ""
    both = zip(table["mode"], table["meaning"], strict=True)
    table["mode"] = [meaning if mode in meaning else f"{mode}: {meaning}" for mode, meaning in both]
    page.table(
        table,
        columns={"mode": "mistake", "n": "n", "rate": "rate", "share": "share of wrong"},
        caption=f"The rate of a mistake is of answered rows, that of calls without an answer of all rows.{also}",
    )


def _add_labels(page: Report, scores: TaskScores, level: str) -> None:
    table = label_table(scores, level=level)
    if table.empty:
        return
    of = f"By {_level_name(scores, level)}: " if len(_levels(scores)) > 1 else ""
    page.heading(f"{of}{weakest_label(table)}")
    few = (~table["ranked"].astype(bool)).tolist()
    remarks = [
        "; ".join(filter(None, (remark, f"{failed:,} without an answer" if failed else "")))
        for remark, failed in zip(table["remarks"], table["failed"], strict=True)
    ]
    columns = {"label": _level_name(scores, level), "n": "n", "right": "right", "accuracy": "accuracy"}
    if (table["equivalents"] > table["right"] / table["n"].where(table["n"] > 0)).any():
        columns["equivalents"] = "defensible too"
    columns |= {"mistaken_for": "most often taken for"} | ({"remarks": "remarks"} if any(remarks) else {})
    cells: dict[str, list[Any]] = {name: table[name].tolist() for name in columns} | {
        "label": named(table["label"].tolist(), table["name"].tolist()),
        "accuracy": [Cell(formats.estimate(value), note=value.note) for value in table["accuracy"]],
        "equivalents": table["equivalents"].map(formats.number).tolist(),
        "remarks": remarks,
    }
    shown = pd.DataFrame({name: set_back(cells[name], few) for name in columns})
    page.table(
        shown,
        columns=columns,
        caption="Answered rows, worst first, labels with fewer than 5 last and set back; intervals by Wilson.",
    )


def _add_wrong_answers(page: Report, scores: TaskScores) -> None:
    wrong = wrong_answers(scores)
    if wrong.empty:
        return
    first = wrong.head(SHOWN_FAILURES)
    left = len(wrong) - len(first)
    page.heading(f"{formats.count(len(wrong), 'wrong answer')}" + (f", {len(first):,} of them here" if left else ""))
    more = f" {left:,} more stand behind the cells of the matrix above, up to {PAGE_ROWS} a cell." if left else ""
    page.text(f"Those of the largest confusions first, of one confusion the most confident first.{more}")
    confused = zip(first["expected"], first["answered"], strict=True)
    stated = zip(first["mode"], first["confidence"], strict=True)
    shown = {
        "document": named(first["document"].tolist(), first["file"].tolist()),
        "true \N{RIGHTWARDS ARROW} answered": [folded(f"{a} \N{RIGHTWARDS ARROW} {b}") for a, b in confused],
        "mistake, stated confidence": [_with_confidence(mode, confidence) for mode, confidence in stated],
        "the model's reasons": [folded(text) for text in first["reasoning"]],
    }
    page.table(pd.DataFrame(shown))


def _with_confidence(mode: str, confidence: float) -> str:
    return mode if confidence != confidence else f"{mode}, {formats.number(confidence, digits=2)}"


def _add_confidence(page: Report, scores: TaskScores) -> None:
    error = scores.calibration.error
    if error.value is None:
        page.heading("Stated confidence cannot be judged")
        page.text(f"It cannot be said what it means: {error.note}.")
        return
    lean = confidence_lean(scores)
    says = f"is {lean} on average" if lean else "agrees with accuracy on average"
    page.heading(f"Stated confidence {says}")
    page.widget(
        ReliabilityCurve(scores),
        caption="A point below the dashed line is confidence that was not earned, one above it confidence that was not "
        "claimed; the bars count the answers. Bins with few answers stray from the line by chance: look at the "
        "intervals.",
    )
