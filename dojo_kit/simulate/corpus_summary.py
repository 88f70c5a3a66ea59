"""What a corpus consists of, counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dojo_kit.simulate.corpus import Corpus
from dojo_kit.stats.intervals import Estimate, wilson

if TYPE_CHECKING:
    import pandas as pd

SUMMARY_COLUMNS = (
    "run_id",
    "task",
    "experiment",
    "model",
    "document",
    "failed",
    "disguised",
    "replay",
    "has_reasoning",
)
"""Columns a summary needs."""


@dataclass(frozen=True, slots=True)
class CorpusSummary:
    """Counts over a corpus.

    Attributes:
        n_rows: Rows.
        n_runs: Runs.
        n_experiments: Distinct experiment names.
        n_failed: Rows without an answer.
        n_disguised: Those among them that were stored as completed; of a legacy corpus, rows that were stored as
            completed although the call failed, which it does not count as failed.
        n_replays: Completed rows whose answer was taken over from an earlier run.
        failed: Share of rows without an answer, as if calls were independent.
        completed_by_task: Task -> completed rows, the most first.
        completed_by_model: Model -> completed rows, the most first.
        shared_by_task: Task -> documents seen under at least two experiment names, the most first.
        n_with_reasoning: Completed rows with reasons.
        legacy: Whether rows were read as published.
        notes: What was left out.
    """

    n_rows: int
    n_runs: int
    n_experiments: int
    n_failed: int
    n_disguised: int
    n_replays: int
    failed: Estimate
    completed_by_task: Mapping[str, int]
    completed_by_model: Mapping[str, int]
    shared_by_task: Mapping[str, int]
    n_with_reasoning: int
    legacy: bool = False
    notes: tuple[str, ...] = field(default=())

    @property
    def n_completed(self) -> int:
        """Rows with an answer."""
        return self.n_rows - self.n_failed

    @property
    def n_shared(self) -> int:
        """Documents, by task, seen under at least two experiment names."""
        return sum(self.shared_by_task.values())

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready values."""
        return {
            "rows": self.n_rows,
            "runs": self.n_runs,
            "experiments": self.n_experiments,
            "failed": self.n_failed,
            "disguised": self.n_disguised,
            "replays": self.n_replays,
            "failed_share": self.failed.as_dict(),
            "completed": self.n_completed,
            "completed_by_task": dict(self.completed_by_task),
            "completed_by_model": dict(self.completed_by_model),
            "shared_documents": self.n_shared,
            "shared_by_task": dict(self.shared_by_task),
            "with_reasoning": self.n_with_reasoning,
            "legacy": self.legacy,
            "notes": list(self.notes),
        }


def summarise(corpus: Corpus, *, task: str | None = None) -> CorpusSummary:
    """Count what a corpus consists of; it may hold no more than `SUMMARY_COLUMNS`.

    Args:
        corpus: The corpus.
        task: Only rows of this task.

    Raises:
        InputError: The corpus has no rows of the task.
    """
    rows = corpus.rows if task is None else corpus.of_task(task)
    failed = rows["failed"].to_numpy(dtype=bool)
    disguised, replay = (rows[name].to_numpy(dtype=bool) for name in ("disguised", "replay"))
    n_failed = int(failed.sum())
    return CorpusSummary(
        n_rows=len(rows),
        n_runs=_n_used(rows["run_id"]),
        n_experiments=_n_used(rows["experiment"]),
        n_failed=n_failed,
        n_disguised=int(disguised.sum()),
        n_replays=int((replay & ~failed).sum()),
        failed=wilson(n_failed, len(rows), unit="calls"),
        completed_by_task=_counts(rows["task"], ~failed),
        completed_by_model=_counts(rows["model"], ~failed),
        shared_by_task=_shared(rows),
        n_with_reasoning=int((rows["has_reasoning"].to_numpy(dtype=bool) & ~failed).sum()),
        legacy=corpus.legacy,
        notes=corpus.notes,
    )


def _n_used(column: pd.Series[Any]) -> int:
    return len(np.unique(column.cat.codes.to_numpy()))


def _counts(column: pd.Series[Any], kept: NDArray[np.bool_]) -> dict[str, int]:
    counts = np.bincount(column.cat.codes.to_numpy()[kept], minlength=len(column.cat.categories))
    order = np.argsort(-counts, kind="stable")
    return {str(column.cat.categories[code]): int(counts[code]) for code in order if counts[code]}


def _shared(rows: pd.DataFrame) -> dict[str, int]:
    """Count documents of each task that occur under two experiment names or more."""
    task, document, experiment = (
        rows[name].cat.codes.to_numpy().astype(np.int64) for name in ("task", "document", "experiment")
    )
    n_documents, n_experiments = (max(1, len(rows[name].cat.categories)) for name in ("document", "experiment"))
    seen = np.unique((task * n_documents + document) * n_experiments + experiment) // n_experiments
    pairs, names = np.unique(seen, return_counts=True)
    tasks = pairs[names > 1] // n_documents
    counts = np.bincount(tasks, minlength=len(rows["task"].cat.categories))
    order = np.argsort(-counts, kind="stable")
    return {str(rows["task"].cat.categories[code]): int(counts[code]) for code in order if counts[code]}
