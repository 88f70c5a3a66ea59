"""The second stage of a chained run: extraction scores beside the sorter's labels, and one number for both."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dojo_kit.errors import InputError
from dojo_kit.records import ChainedRow, Row, Run
from dojo_kit.stats.intervals import Array, Estimate
from dojo_kit.tasks.columns import Failures
from dojo_kit.tasks.metrics import RowMeans

if TYPE_CHECKING:
    from dojo_kit.scoring.run import ScoredRun
    from dojo_kit.tasks.scores import TaskScores

WEIGHTS = (0.25, 0.75)
"""Shares of sorter and extractor in the composite: the extraction is what the pipeline is judged by in the end."""

EXTRACTOR_TRACKERS = {
    "extractor_overall": ("overall_score", "overall"),
    "extractor_field_presence": ("field_presence", "field_presence"),
    "extractor_verified_precision": ("overall_verified_precision", "verified_precision"),
    "extractor_category_presence": ("category_presence", "category_presence"),
    "extractor_schema_valid": ("schema_valid", "schema_valid"),
}
"""Tracker -> its name in stored rows, and in the documents frame of a scored run."""

UNDER_TRUE_CUE = "extractor_gt_overall"
"""Column of the score under the true family, where a run has a second pass."""

_NO_SCORES = "no row holds an extraction score"
_NO_PAIR = "no document has both a sorter and an extractor score"


def chained_composite(
    sorter_score: float | None, extractor_score: float | None, weights: tuple[float, float] = WEIGHTS
) -> float | None:
    """Return one number for both stages of a document or a run: their weighted mean.

    Args:
        sorter_score: Score of the sorter, 0 to 1; None when undefined.
        extractor_score: Score of the extractor, 0 to 1.
        weights: Weights of the two; only their ratio matters.

    Returns:
        None when either score is.

    Raises:
        InputError: A score is not between 0 and 1, a weight is negative, or both are 0.

    Examples:
        >>> chained_composite(1.0, 0.8), chained_composite(1.0, 0.8, weights=(1, 1))
        (0.8500000000000001, 0.9)
    """
    shares = _shares(weights)
    scores = [math.nan if score is None else score for score in (sorter_score, extractor_score)]
    if any(score < 0 or score > 1 for score in scores):
        raise InputError(f"scores {sorter_score} and {extractor_score}", expected="numbers from 0 to 1, or None")
    if any(map(math.isnan, scores)):
        return None
    return shares[0] * scores[0] + shares[1] * scores[1]


def _shares(weights: tuple[float, float]) -> tuple[float, float]:
    if len(weights) != 2:
        raise InputError(f"{len(weights)} weights", field="weights", expected="two, of sorter and extractor")
    total = sum(weights)
    if not (min(weights) >= 0 and 0 < total < math.inf):
        raise InputError(f"weights {weights} are no shares", expected="two numbers of 0 or more, not both 0")
    return weights[0] / total, weights[1] / total


def stored_extraction(row: Row, key: str = "extractor_scores") -> Mapping[str, Any]:
    """Return the extraction scores stored in a chained row; empty without any."""
    scores = row.stored.get("scores")
    found = row.stored.get(key) or (scores.get(key) if isinstance(scores, Mapping) else None)
    return found if isinstance(found, Mapping) else {}


def number_of(scores: Mapping[str, Any], key: str) -> float:
    """Return a stored number; NaN when there is none."""
    value = scores.get(key)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan


def extraction_columns(run: Run, scored: ScoredRun | None, failures: Failures) -> dict[str, Sequence[Any]]:
    """Return the extraction scores of every row as columns, and why an extraction failed.

    Args:
        run: A chained run.
        scored: Its extraction scored against labels; the scores stored in the rows without.
        failures: ``stored`` keeps the zeros that were stored for failed extractions.
    """
    if scored is not None:
        return _scored_columns(run, scored)
    stored = [stored_extraction(row) for row in run.rows]
    failed = [_failure(row, scores) for row, scores in zip(run.rows, stored, strict=True)]
    kept = [failures == "stored" or error is None for error in failed]
    columns: dict[str, Sequence[Any]] = {
        name: [number_of(s, key) if k else math.nan for s, k in zip(stored, kept, strict=True)]
        for name, (key, _) in EXTRACTOR_TRACKERS.items()
    }
    second = [number_of(stored_extraction(row, "extractor_gt_scores"), "overall_score") for row in run.rows]
    return columns | {UNDER_TRUE_CUE: second, "extractor_error": failed}


def _failure(row: Row, scores: Mapping[str, Any]) -> str | None:
    if scores.get("error"):
        return str(scores["error"])
    if isinstance(row, ChainedRow) and row.extracted is None and row.error:
        return row.error.removeprefix("extractor: ")
    return None


def _scored_columns(run: Run, scored: ScoredRun) -> dict[str, Sequence[Any]]:
    by_document = scored.documents.set_index("document")
    names = [row.document for row in run.rows]
    if not by_document.index.isin(names).any():
        raise InputError("the scored extraction shares no document with the run", expected="score_run of the same run")
    found = by_document.reindex(names)
    columns: dict[str, Sequence[Any]] = {
        name: found[column].to_numpy(dtype=float, na_value=np.nan).tolist()
        for name, (_, column) in EXTRACTOR_TRACKERS.items()
    }
    failed = found["error"].where(found["status"] == "failed").astype(object)
    return columns | {"extractor_error": failed.where(failed.notna(), None).tolist()}


def chained_metrics(means: RowMeans, sorter: Mapping[str, Estimate]) -> dict[str, Estimate]:
    """Return the trackers of both stages and the composite.

    ``extractor_...`` are means over documents whose extraction did not fail, as is ``chained_composite``; where one
    did, ``..._failed_as_zero`` stands beside, in which it counts as 0.

    Args:
        means: Means over the rows.
        sorter: Metrics of the labels; they get the prefix ``sorter_``.
    """
    found = {f"sorter_{name}": estimate for name, estimate in sorter.items()}
    found |= {name: means.mean(name, _NO_SCORES) for name in EXTRACTOR_TRACKERS}
    sorted_right, extracted = means.numbers("right"), means.numbers("extractor_overall")
    failed = means.rows["extractor_error"].notna().to_numpy(dtype=bool)
    found["chained_composite"] = means.mean(_composite(sorted_right, extracted), _NO_PAIR)
    if failed.any():
        as_zero = np.where(failed, 0.0, extracted)
        found["extractor_overall_failed_as_zero"] = means.mean(as_zero, _NO_SCORES)
        found["chained_composite_failed_as_zero"] = means.mean(_composite(sorted_right, as_zero), _NO_PAIR)
    return found


def _composite(sorter: Array, extractor: Array, weights: tuple[float, float] = WEIGHTS) -> Array:
    shares = _shares(weights)
    return shares[0] * sorter + shares[1] * extractor


def chained_summary(scores: TaskScores, *, weights: tuple[float, float] = WEIGHTS) -> dict[str, Any]:
    """Return both stages of a scored chained run and their composite, shaped as in run records.

    Args:
        scores: A chained run scored by `dojo_kit.tasks.score.score_task_run`.
        weights: Weights of sorter and extractor in the composite.

    Returns:
        ``sorter`` and ``extractor`` (metric -> estimate), ``composite``, ``weights`` and ``counts``.

    Raises:
        InputError: The scores are not of a chained run, or the weights are no shares.
    """
    if "extractor_error" not in scores.rows:
        raise InputError(f"task {scores.record.key!r} has no extraction stage", expected="scores of a chained run")
    means = RowMeans.of(scores.rows, scores.rows["document"].tolist(), scores.settings)
    composite = _composite(means.numbers("right"), means.numbers("extractor_overall"), weights)
    failed = int(scores.rows["extractor_error"].notna().sum())
    return {
        "sorter": _stage(scores.metrics, "sorter_"),
        "extractor": _stage(scores.metrics, "extractor_"),
        "composite": means.mean(composite, _NO_PAIR),
        "weights": _shares(weights),
        "counts": {**scores.counts, "n_extractor_failed": failed},
    }


def _stage(metrics: Mapping[str, Estimate], prefix: str) -> dict[str, Estimate]:
    return {name.removeprefix(prefix): estimate for name, estimate in metrics.items() if name.startswith(prefix)}
