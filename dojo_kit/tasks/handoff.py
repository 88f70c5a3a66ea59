"""What wrong sorting costs a chained pipeline: the same documents extracted under the predicted and the true cue.

Where the sorter was right both cues are the same, so that the gap there is nothing but rerun noise. The loss is
therefore split: ``routing`` is what documents sorted wrongly contribute to it, ``noise`` what the others do.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dojo_kit.errors import InputError
from dojo_kit.records import Row, Run
from dojo_kit.settings import Settings, resolve
from dojo_kit.stats.intervals import Array, Estimate
from dojo_kit.tasks.extraction import number_of, stored_extraction
from dojo_kit.tasks.metrics import bootstrap_of
from dojo_kit.tasks.score import score_task_run

if TYPE_CHECKING:
    import pandas as pd

FIRST_FAILED, SECOND_FAILED, NOT_REPEATED = "first pass failed", "second pass failed", "no second pass"


@dataclass(frozen=True)
class HandoffGap:
    """Extraction under both cues, over the same documents.

    Attributes:
        n: Documents.
        predicted: Mean score with the cue made from the predicted family.
        true: Mean score with the cue made from the true family.
        loss: Mean of true - predicted per document, positive where the prediction costs score.
    """

    n: int
    predicted: Estimate
    true: Estimate
    loss: Estimate

    def as_dict(self) -> dict[str, Any]:
        """Return the gap as JSON-ready values."""
        return {
            "n": self.n,
            "predicted": self.predicted.as_dict(),
            "true": self.true.as_dict(),
            "loss": self.loss.as_dict(),
        }


@dataclass(frozen=True, eq=False)
class HandoffAblation:
    """A hand-off ablation.

    Attributes:
        all: The gap over all documents with both passes.
        sorter_right: The gap where family and class were right: rerun noise.
        sorter_wrong: The gap where they were not.
        routing: The part of the loss that documents sorted wrongly contribute; with ``noise`` it adds up to the loss.
        noise: The part that the others contribute.
        excluded: Why documents are left out, and how many.
        rows: One row per document of the run: ``document``, ``predicted``, ``true``, ``gap``, ``sorter_right`` and
            ``excluded``.
    """

    all: HandoffGap
    sorter_right: HandoffGap
    sorter_wrong: HandoffGap
    routing: Estimate
    noise: Estimate
    excluded: Mapping[str, int]
    rows: pd.DataFrame

    def as_dict(self) -> dict[str, Any]:
        """Return the ablation as JSON-ready values, without single rows."""
        return {
            "all": self.all.as_dict(),
            "sorter_right": self.sorter_right.as_dict(),
            "sorter_wrong": self.sorter_wrong.as_dict(),
            "routing": self.routing.as_dict(),
            "noise": self.noise.as_dict(),
            "excluded": dict(self.excluded),
        }


def handoff_ablation(run: Run, *, settings: Settings | None = None) -> HandoffAblation:
    """Compare extraction under the predicted and under the true cue.

    Failed passes are left out and counted; published records include a failed second pass as 0.

    Args:
        run: A chained run made with a second pass (``handoff_scope`` ground_truth).
        settings: Seed, replicates and level of the intervals; the current settings by default.

    Raises:
        InputError: The run is not chained, or no row holds a second pass.
    """
    settings = resolve(settings)
    scores = score_task_run(run, task="chained", settings=settings)
    if not any(stored_extraction(row, "extractor_gt_scores") for row in run.rows):
        expected = "a run made with handoff_scope ground_truth"
        raise InputError("no row holds a second pass", file=run.source or None, expected=expected)
    rows = _rows(run.rows, scores.rows["right"].tolist())
    paired = rows[rows["excluded"].isna()]
    right = paired["sorter_right"].to_numpy(dtype=bool)
    gaps = paired["gap"].to_numpy(dtype=float)
    boot = bootstrap_of(settings)
    counted = rows["excluded"].value_counts()
    return HandoffAblation(
        all=_gap(paired, settings),
        sorter_right=_gap(paired[right], settings),
        sorter_wrong=_gap(paired[~right], settings),
        routing=boot.mean(np.where(right, 0.0, gaps)),
        noise=boot.mean(np.where(right, gaps, 0.0)),
        excluded={str(why): int(n) for why, n in counted.items()},
        rows=rows,
    )


def _rows(rows: Iterable[Row], right: Iterable[Any]) -> pd.DataFrame:
    import pandas as pd

    found = []
    for row, sorter_right in zip(rows, right, strict=True):
        first, second = stored_extraction(row), stored_extraction(row, "extractor_gt_scores")
        predicted, true = (number_of(scores, "overall_score") for scores in (first, second))
        excluded = _excluded(first, second, predicted, true)
        found.append((row.document, predicted, true, true - predicted, bool(sorter_right is True), excluded))
    names = ["document", "predicted", "true", "gap", "sorter_right", "excluded"]
    # documents in the order of their names, whatever the order of the run: intervals do not depend on it
    return pd.DataFrame(found, columns=names).sort_values("document", kind="stable").reset_index(drop=True)


def _excluded(first: Mapping[str, Any], second: Mapping[str, Any], predicted: float, true: float) -> str | None:
    if first.get("error") or math.isnan(predicted):
        return FIRST_FAILED
    if second.get("error"):
        return SECOND_FAILED
    return NOT_REPEATED if math.isnan(true) else None


def _gap(rows: pd.DataFrame, settings: Settings) -> HandoffGap:
    boot = bootstrap_of(settings)
    columns: list[Array] = [rows[name].to_numpy(dtype=float) for name in ("predicted", "true", "gap")]
    return HandoffGap(len(rows), *(boot.mean(values) for values in columns))


def published_handoff(pairs: Iterable[tuple[float, float]]) -> dict[str, float]:
    """Return the ablation as records store it, not rounded.

    Args:
        pairs: Score under the predicted and under the true cue of every document that has both, zeros of failed second
            passes among them.

    Returns:
        Nothing without pairs.

    Examples:
        >>> published_handoff([(0.5, 0.75)])["sorter_loss_pp"]
        25.0
    """
    scores = np.array(list(pairs), dtype=float).reshape(-1, 2)
    if not len(scores):
        return {}
    predicted, true = (float(mean) for mean in scores.mean(axis=0))
    return {
        "predicted_handoff_overall": predicted,
        "ground_truth_handoff_overall": true,
        "sorter_loss_pp": (true - predicted) * 100,
        "n_docs": len(scores),
    }
