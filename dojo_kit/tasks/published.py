"""Task scores under the names and in the nesting of published run records.

What a record stores is recomputed from the rows by our own reading of them, so that a stored score is confirmed by the
scorer and not only by the flags stored beside it. Score the run with ``failures="stored"`` first: a record counts a
failed call stored as completed with the label made up for it, and leaves rows stored as failed out of every mean but
``exact_match`` of plain labels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dojo_kit.stats.legacy import legacy_bootstrap
from dojo_kit.tasks.extraction import EXTRACTOR_TRACKERS, UNDER_TRUE_CUE
from dojo_kit.tasks.handoff import published_handoff
from dojo_kit.tasks.scores import TaskScores

if TYPE_CHECKING:
    import pandas as pd

MOST_HIERARCHY_FAILURES = 200
"""Failures a record of class and subclass lists."""

_STORED_SEED, _STORED_RESAMPLES = 42, 2000


def published_scores(scores: TaskScores, *, intervals: bool = False) -> dict[str, Any]:
    """Return the ``scores`` object of a run record, not rounded.

    Args:
        scores: A scored run.
        intervals: Add the intervals as records have them, redrawn from the stream of `dojo_kit.stats.legacy`.

    Examples:
        >>> from dojo_kit.tasks.score import score_task
        >>> published_scores(score_task("doc_class", ["contract"], ["contract"]))["exact_match"]
        1.0
    """
    answered = scores.rows[scores.rows["status"] != "failed"]
    if scores.record.extracts:
        stages = {"sorter": _family(answered, intervals), "extractor": _extractor(answered, intervals)}
        return stages | ({"ablation": ablation} if (ablation := _ablation(answered)) else {})
    match scores.record.kind:
        case "family":
            return {"sorter": _family(answered, intervals) | _family_tables(scores, answered)}
        case "hierarchy":
            return _hierarchy(scores, answered, intervals)
    return _labels(scores.rows, answered, intervals)


def _family(rows: pd.DataFrame, intervals: bool) -> dict[str, Any]:
    return {
        **_share(rows, "exact_match", "doc_type_right", intervals),
        **_share(rows, "subtype_accuracy", "right", intervals),
        "confidence": _mean(rows["confidence"]),
    }


def _family_tables(scores: TaskScores, rows: pd.DataFrame) -> dict[str, Any]:
    recovered = rows[rows["right_equiv"].fillna(False) & ~rows["right"].fillna(False)]
    per_family = {
        family: {
            "accuracy": _mean(group["right"]),
            "accuracy_equiv": _mean(group["right_equiv"]),
            "correct": int(group["right"].sum()),
            "equiv": int(group["right_equiv"].sum()),
            "total": len(group),
        }
        for family, group in _by(rows, "expected")
    }
    wrong = rows[~rows["right"].fillna(False)]
    failures = [
        {
            "filename": row["document"],
            "expected": row["expected"],
            "predicted": row["predicted"],
            "doc_type": row["doc_type"],
            "confidence": row["confidence"],
            "mode": row["mode"],
            "equiv_recovered": row["right_equiv"],
            "reasoning": row["reasoning"],
        }
        for row in _records(wrong)
    ]
    return {
        "subtype_accuracy_equiv": _mean(rows["right_equiv"]),
        "equiv_recovered": recovered["predicted"].tolist(),
        "per_subtype": per_family,
        "confusion_matrix": _confusion(rows, "expected", "predicted"),
        "failure_insights": _insights(wrong, failures),
    }


def _hierarchy(scores: TaskScores, rows: pd.DataFrame, intervals: bool) -> dict[str, Any]:
    by_subclass = dict(_by(rows, "expected_subclass"))
    wrong = rows[~rows["right"].fillna(False)]
    failures = [
        {
            "filename": row["document"],
            "expected": {"doc_type": row["expected"], "doc_subclass": row["expected_subclass"]},
            "predicted": {"doc_type": row["predicted"], "doc_subclass": row["predicted_subclass"]},
            "failure_mode": row["mode"],
            "reasoning": row["reasoning"],
        }
        for row in _records(wrong[:MOST_HIERARCHY_FAILURES])
    ]
    lenient = rows["subclass_right_equiv"].fillna(False) & ~rows["subclass_right"].fillna(False)
    return {
        **_share(rows, "doc_type_accuracy", "doc_type_right", intervals),
        **_share(rows, "subclass_accuracy", "subclass_right", intervals),
        **_share(rows, "exact_match", "right", intervals),
        "subclass_accuracy_equiv": _mean(rows["subclass_right_equiv"]),
        "confidence": _mean(rows["confidence"]),
        "n_rows": len(scores.rows),
        "n_errors": len(scores.rows) - len(rows),
        "per_class_accuracy": {name: _mean(group["doc_type_right"]) for name, group in _by(rows, "expected")},
        "per_subclass_accuracy": {name: _mean(group["subclass_right"]) for name, group in by_subclass.items()},
        "per_subclass_support": {name: len(group) for name, group in by_subclass.items()},
        "subclass_confusion": _confusion(rows, "expected_subclass", "predicted_subclass"),
        "equiv_recovered": rows.loc[lenient, "document"].tolist(),
        "input_mode_counts": scores.input_mode_counts,
        "sorter": {"failure_insights": _insights(wrong, failures)},
    }


def _labels(rows: pd.DataFrame, answered: pd.DataFrame, intervals: bool) -> dict[str, Any]:
    """Return scores of plain labels; failed rows are misses in ``exact_match`` alone."""
    costs = rows["cost_usd"].fillna(0.0)
    return {
        "exact_match": _mean(rows["right"]),
        **({"exact_match_ci": _interval(answered["right"])} if intervals else {}),
        "failure": 1 - len(answered) / len(rows) if len(rows) else None,
        "cost_total_usd": float(costs.sum()),
        "cost_mean_usd": float(costs.mean()) if len(costs) else 0.0,
        "per_class_accuracy": {name: _mean(group["right"]) for name, group in _by(answered, "expected")},
    }


def _extractor(rows: pd.DataFrame, intervals: bool) -> dict[str, Any]:
    found: dict[str, Any] = {stored: _mean(rows[name]) for name, (stored, _) in EXTRACTOR_TRACKERS.items()}
    found["overall_extraction_score"] = found.pop("overall_score")
    if intervals:
        found["overall_extraction_score_ci"] = _interval(rows["extractor_overall"])
    return found


def _ablation(rows: pd.DataFrame) -> dict[str, float]:
    if UNDER_TRUE_CUE not in rows:
        return {}
    pairs = rows[["extractor_overall", UNDER_TRUE_CUE]].dropna()
    return published_handoff(tuple(pair) for pair in pairs.to_numpy(dtype=float).tolist())


def _share(rows: pd.DataFrame, name: str, column: str, intervals: bool) -> dict[str, Any]:
    share = {name: _mean(rows[column])}
    return share | {f"{name}_ci": _interval(rows[column])} if intervals else share


def _mean(values: pd.Series[Any]) -> float | None:
    known = values.dropna().to_numpy(dtype=float)
    return float(known.mean()) if len(known) else None


def _interval(values: pd.Series[Any]) -> dict[str, Any] | None:
    known = values.dropna().to_numpy(dtype=float)
    if len(known) < 2:
        return None
    lo, hi = legacy_bootstrap(known, seed=_STORED_SEED, n_boot=_STORED_RESAMPLES)
    drawn = {"n": len(known), "seed": _STORED_SEED, "n_boot": _STORED_RESAMPLES, "method": "percentile-bootstrap"}
    return {"lo": lo, "hi": hi, "half": (round(hi, 4) - round(lo, 4)) / 2, **drawn}


def _by(rows: pd.DataFrame, column: str) -> Iterator[tuple[str, pd.DataFrame]]:
    for name, group in rows.dropna(subset=[column]).groupby(column, sort=False):
        yield str(name), group


def _confusion(rows: pd.DataFrame, expected: str, predicted: str) -> dict[str, dict[str, int]]:
    """Count predictions per expected label; an answer that is no label counts under ``None``."""
    return {name: dict(Counter(group[predicted].fillna("None"))) for name, group in _by(rows, expected)}


def _insights(wrong: pd.DataFrame, failures: list[dict[str, Any]]) -> dict[str, Any]:
    return {"n_failed": len(wrong), "mode_counts": dict(Counter(wrong["mode"])), "failures": failures}


def _records(rows: pd.DataFrame) -> Iterable[Mapping[str, Any]]:
    return ({str(k): v for k, v in row.items()} for row in _plain(rows).to_dict("records"))


def _plain(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.astype(object).where(rows.notna(), None)
