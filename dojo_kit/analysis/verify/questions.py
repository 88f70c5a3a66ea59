"""Recomputes the stored scores of ContractEval runs from the answers and labels in their rows.

The rules are those of the published evaluation script (`dojo_kit.tasks.contracteval.rubric`, the paper's reading); the
stored scores put 0 where a ratio has no value and count a failed call as an empty answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from dojo_kit.analysis.verify.ledger import Ledger, Table
from dojo_kit.analysis.verify.reading import Node, RunRecord
from dojo_kit.tasks.contracteval.rubric import PUBLISHED_POSITIVES, judge


@dataclass(frozen=True, slots=True)
class _Judged:
    category: str
    outcome: str
    positive: bool
    refused: bool
    jaccard: float


def _judge(row: Node) -> _Judged:
    judged = judge(row.texts("label_spans"), row.text("predicted") or "")
    category = row.text("category") or ""
    return _Judged(category, judged.outcome, judged.positive, judged.refused, judged.jaccard or 0.0)


def recompute_questions(run: RunRecord) -> dict[str, Any]:
    """Recompute counts, ratios and the table of categories; a failed call is scored as an empty answer."""
    judged = [_judge(row) for row in run.rows]
    positives = [j for j in judged if j.positive]
    similarities = sorted(j.jaccard for j in positives)
    silent = sum(j.refused for j in positives)
    categories = dict.fromkeys(j.category for j in judged)
    return {
        "task": run.task,
        "kind": run.task,
        **_metrics(judged),
        "jaccard_median": similarities[len(similarities) // 2] if similarities else 0.0,
        "no_related_rate": _ratio(sum(j.refused for j in judged), len(judged)),
        "false_no_related_rate": _ratio(silent, len(positives)),
        "false_no_related_rate_paper": silent / PUBLISHED_POSITIVES,
        "false_no_related_denominator": PUBLISHED_POSITIVES,
        "per_category": Table({c: _metrics([j for j in judged if j.category == c]) for c in categories}),
    }


def _metrics(judged: Sequence[_Judged]) -> dict[str, Any]:
    count = Counter(j.outcome for j in judged)
    tp, tn, fp, fn = (count[name] for name in ("TP", "TN", "FP", "FN"))
    positives = [j.jaccard for j in judged if j.positive]
    return {
        "n_pairs": len(judged),
        "n_positive": len(positives),
        "tp": tp,
        "tn": tn,
        "fp": fp,
        "fn": fn,
        "accuracy": _ratio(tp + tn, len(judged)),
        "precision": _ratio(tp, tp + fp),
        "recall": _ratio(tp, tp + fn),
        "f1": _ratio(2 * tp, 2 * tp + fp + fn),
        "f2": _ratio(5 * tp, 5 * tp + fp + 4 * fn),
        "jaccard_mean": fmean(positives) if positives else 0.0,
    }


def _ratio(part: int, whole: int) -> float:
    """Divide; 0 where the published scorer guards against 0/0."""
    return part / whole if whole else 0.0


def check_question_rows(ledger: Ledger, run: RunRecord) -> None:
    """Check the outcome and similarity stored in each completed row."""
    for row in run.completed:
        judged = _judge(row)
        ledger.row("classification", row.path, row.text("classification"), judged.outcome)
        ledger.row("jaccard", row.path, row.number("jaccard"), judged.jaccard)
