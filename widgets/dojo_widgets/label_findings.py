"""The published page of scored label runs: the finding, what is confused, why it is wrong, and how it was made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from dojo_kit import formats
from dojo_kit.analysis.failures import failure_table, label_accuracy, list_failures
from dojo_kit.report import Report
from dojo_widgets.confusion_matrix import ConfusionMatrix
from dojo_widgets.reliability_curve import ReliabilityCurve

if TYPE_CHECKING:
    from dojo_kit.stats.intervals import Estimate
    from dojo_kit.tasks.scores import TaskScores

SHOWN_FAILURES = 200
"""Wrong rows listed on the page; the others are counted, and stand behind the cells of the matrix."""

SHOWN_CHARACTERS = 240
LEVELS = {"labels": "label", "subclass": "subclass"}


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
    _add_failures(page, scores)
    for level in _levels(scores):
        _add_labels(page, scores, level)
    _add_wrong_rows(page, scores)
    page.heading("Does the stated confidence mean anything?")
    if scores.calibration.error.value is None:
        page.text(f"It cannot be said: {scores.calibration.error.note}.")
    else:
        page.widget(
            ReliabilityCurve(scores),
            caption="Bars off the diagonal are confidence that was not earned, or not claimed. Bins with few rows "
            "stray from it by chance: look at the intervals.",
        )
    return page.footer(recipe=recipe, command=command)


def _levels(scores: TaskScores) -> list[str]:
    return ["labels"] if scores.subclass is None else ["labels", "subclass"]


def _words(name: str) -> str:
    return name.replace("_", " ")


def _title(name: str, scores: TaskScores) -> str:
    says = f"{name}: {_words(scores.record.headline)} {formats.estimate(scores.headline)}"
    top = scores.labels.top_confusions(1).to_dict("records")
    if not top:
        return f"{says}, nothing is confused" if scores.labels.n else says
    expected, predicted = (_label(scores, top[0][side]) for side in ("expected", "predicted"))
    return f"{says}, most often {expected} taken for {predicted} ({top[0]['n']:,})"


def _label(scores: TaskScores, key: str) -> str:
    return scores.vocabulary.labels.get(key, _words(key))


def _add_conclusion(page: Report, scores: TaskScores, about: str) -> None:
    counts = scores.counts
    says = f"{counts['n_scored']:,} of {formats.count(counts['n_rows'], 'row')} hold an answer that can be judged"
    if counts["n_failed"]:
        says += f"; {counts['n_failed']:,} have none and count as misses in every headline"
    if counts["n_disguised"]:
        says += f", {counts['n_disguised']:,} of them stored as completed with a label nobody gave"
    page.text(f"{says}. Breakdowns leave rows without an answer out and count them beside.")
    rest = [f"task {_words(scores.record.key)}"]
    rest += [f"{counts['n_unscored']:,} without a true label"] if counts["n_unscored"] else []
    rest += [f"{formats.count(counts['n_unread'], 'answer')} named no label"] if counts["n_unread"] else []
    rest += [about] if about else []
    page.text("; ".join(rest) + ".", soft=True)
    for problem in scores.problems[:5]:
        page.text(str(problem), soft=True)
    if len(scores.problems) > 5:
        page.text(f"{formats.count(len(scores.problems) - 5, 'further problem')} in the input.", soft=True)


def _add_metrics(page: Report, scores: TaskScores) -> None:
    headline = scores.record.headline
    ordered = {headline: scores.headline, **scores.metrics}
    page.heading("Scores")
    rows = [
        {"metric": _words(metric), "value": value, "n": value.n, "note": "; ".join(_notes(scores, metric, value))}
        for metric, value in ordered.items()
    ]
    page.table(pd.DataFrame(rows), caption="n counts documents.")


def _notes(scores: TaskScores, metric: str, value: Estimate) -> Iterator[str]:
    if scores.record.kind == "family" and metric.endswith("exact_match"):
        yield "the document class alone, whatever the family"
    if value.note or value.flags:
        yield value.note or ", ".join(value.flags)


def _add_runs(page: Report, runs: Mapping[str, TaskScores], about: Mapping[str, str]) -> None:
    page.text(
        "Each row is one run. Overlapping or disjoint intervals of two runs do not decide which is better: the same "
        "documents were sorted twice, so only a paired comparison can, and it must beat the noise of reruns."
    )
    rows = [
        {
            "run": name,
            "made with": about.get(name, ""),
            "judged by": _words(scores.record.headline),
            "value": scores.headline,
            "n": scores.headline.n,
            "failed": scores.counts["n_failed"],
        }
        for name, scores in runs.items()
    ]
    page.table(pd.DataFrame(rows))


def _add_confusion(page: Report, scores: TaskScores) -> None:
    page.heading("What is taken for what")
    for level in _levels(scores):
        counted = scores.labels if level == "labels" or scores.subclass is None else scores.subclass
        if not counted.n:
            continue
        page.widget(
            ConfusionMatrix(scores, level=level),
            caption=f"By {LEVELS[level]}: rows are what is true, columns what was answered; a cell opens its documents "
            "with the model's reasons. Outlined pairs are defensible for one another.",
        )


def _add_failures(page: Report, scores: TaskScores) -> None:
    page.heading("Why it is wrong")
    table = failure_table(scores)
    table["interval"] = _intervals(table)
    table["mode"] = table["mode"].map(_words)
    recovered = len(scores.equiv_recovered)
    also = f" {formats.count(recovered, 'answer')} wrong, but defensible." if recovered else ""
    page.table(
        table,
        columns={
            "mode": "mode",
            "n": "n",
            "rate": "rate",
            "interval": f"{scores.settings.statistics.confidence:.0%} interval",
            "share": "share of wrong",
            "says": "meaning",
        },
        caption="A call that failed has no mode: its rate is of all rows, that of modes of the answered ones." + also,
    )


def _intervals(table: pd.DataFrame) -> list[str]:
    pairs = zip(table["lo"], table["hi"], strict=True)
    return [formats.UNKNOWN if lo != lo else f"[{formats.number(lo)}, {formats.number(hi)}]" for lo, hi in pairs]


def _add_labels(page: Report, scores: TaskScores, level: str) -> None:
    table = label_accuracy(scores, level=level)
    if table.empty:
        return
    page.heading(f"By {LEVELS[level]}")
    table["interval"] = _intervals(table)
    table["mistaken_for"] = [_words(name) if isinstance(name, str) else "" for name in table["mistaken_for"]]
    columns = {"name": LEVELS[level], "n": "n", "correct": "right", "accuracy": "accuracy", "interval": "interval"}
    if (table["correct_equiv"] != table["correct"]).any():
        columns["accuracy_equiv"] = "with equivalents"
    columns |= {"failed": "no answer", "mistaken_for": "most often taken for"}
    page.table(table, columns=columns, caption="Answered rows, worst first; intervals by Wilson.")


def _add_wrong_rows(page: Report, scores: TaskScores) -> None:
    wrong = list_failures(scores)
    answered = wrong[wrong["mode"] != "no_answer"]
    if answered.empty:
        return
    first = answered.head(SHOWN_FAILURES)
    some = f"the first {len(first):,} of {len(answered):,}" if len(answered) > len(first) else f"all {len(answered):,}"
    page.heading(f"Wrong answers: {some}")
    page.table(pd.DataFrame([_wrong_row(row) for row in first.to_dict("records")]))


def _wrong_row(row: Mapping[Any, Any]) -> dict[str, Any]:
    expected, predicted = ([row[side], row[f"{side}_subclass"]] for side in ("expected", "predicted"))
    answer = _joined(predicted) or (f"no label in {row['predicted_text']!r}" if _is_text(row["predicted_text"]) else "")
    stated = "" if pd.isna(row["confidence"]) else f", confidence {formats.number(row['confidence'], digits=2)}"
    return {
        "document": row["document"] if _is_text(row["document"]) else "",
        "true \N{RIGHTWARDS ARROW} answered": f"{_joined(expected)} \N{RIGHTWARDS ARROW} {_cut(answer)} "
        f"({_words(row['mode'])}{stated})",
        "model's reasons": _cut(row["reasoning"]) if _is_text(row["reasoning"]) else "",
    }


def _joined(parts: list[Any]) -> str:
    return ", ".join(_words(part) for part in parts if _is_text(part))


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _cut(text: str) -> str:
    if len(text) <= SHOWN_CHARACTERS:
        return text
    return f"{text[:SHOWN_CHARACTERS].rsplit(' ', 1)[0]} ... ({len(text):,} characters)"
