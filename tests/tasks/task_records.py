"""Run records with labels, small enough to score by hand."""

from __future__ import annotations

from typing import Any

from dojo_kit.records import Run
from dojo_kit.runs import run_from_record

USED = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15, "cost": None}


def record(task: str, rows: list[dict[str, Any]], **extra: Any) -> Run:
    return run_from_record({"type": "experiment", "task": task, "model": "m", "results": rows} | extra, source="r.json")


def sorted_row(
    name: str, expected: str, predicted: str, *, doc_type: str = "contract", **sorter: Any
) -> dict[str, Any]:
    """A row of a family run whose sorter answered."""
    answer = {"doc_type": doc_type, "contract_subtype": predicted, "expected_subtype": expected}
    return {
        "filename": name,
        "status": "completed",
        "sorter": {**answer, "confidence": 0.9, "reasoning": f"why {predicted}", **sorter},
        "sorter_tokens": USED,
    }


def failed_row(name: str, expected: str | None = None) -> dict[str, Any]:
    """A row that says that it failed."""
    return {"filename": name, "status": "error", "error": "timeout", "sorter": {"expected_subtype": expected}}


def disguised_row(name: str, expected: str) -> dict[str, Any]:
    """A failed call as a runner stored it: completed, with a made-up label."""
    made_up = {"doc_type": "correspondence", "confidence": 0.0, "reasoning": "error: Connection error."}
    return sorted_row(name, expected, "other", **made_up) | {"sorter_tokens": {}}


def chained_row(
    name: str, expected: str, predicted: str, first: Any, second: Any = None, **sorter: Any
) -> dict[str, Any]:
    """A chained row with the overall score of the first and, under the true family, the second pass.

    A pass given as text failed with that error and was stored with the score 0.
    """
    row = sorted_row(name, expected, predicted, **sorter)
    row["extractor_scores"] = _pass(first) | {"predicted": {"governing_law": "Ohio"}}
    if isinstance(first, str):
        del row["extractor_scores"]["predicted"]
    if second is not None:
        row["extractor_gt_scores"] = _pass(second)
    return row | {"extractor_tokens": USED}


def _pass(score: float | str) -> dict[str, Any]:
    if isinstance(score, str):
        return {"overall_score": 0.0, "field_presence": 0.0, "error": score}
    return {"overall_score": score, "field_presence": 1.0}
