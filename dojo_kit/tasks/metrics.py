"""Metrics of a scored task: means over documents of what is right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dojo_kit.settings import Settings
from dojo_kit.stats.cells import CellBootstrap, Codes, mean_of_units
from dojo_kit.stats.intervals import Array, Estimate
from dojo_kit.tasks.table import TaskKind

if TYPE_CHECKING:
    import pandas as pd

_NOTHING_EXPECTED = "no row has an expected label"
_NO_CLASS = "no row says which document class was predicted"
_NO_SUBCLASS = "no document has a true subclass"
_NO_CONFIDENCE = "no answered row states a confidence"

_METRICS: Mapping[TaskKind, Mapping[str, tuple[str, str]]] = {
    "family": {
        "exact_match": ("doc_type_right", _NO_CLASS),
        "subtype_accuracy": ("right", _NOTHING_EXPECTED),
        "subtype_accuracy_equiv": ("right_equiv", _NOTHING_EXPECTED),
    },
    "hierarchy": {
        "doc_type_accuracy": ("doc_type_right", _NOTHING_EXPECTED),
        "subclass_accuracy": ("subclass_right", _NO_SUBCLASS),
        "subclass_accuracy_equiv": ("subclass_right_equiv", _NO_SUBCLASS),
        "exact_match": ("right", _NOTHING_EXPECTED),
    },
    "labels": {
        "exact_match": ("right", _NOTHING_EXPECTED),
        "exact_match_equiv": ("right_equiv", _NOTHING_EXPECTED),
    },
}
"""Kind of task -> metric -> column of the rows frame and why the metric may be undefined."""


_SAYS: Mapping[str, str] = {
    "subtype_accuracy": "class and family right",
    "subtype_accuracy_equiv": "the same, with families that are defensible for the true one",
    "doc_type_accuracy": "document class right",
    "subclass_accuracy": "subclass right, whatever the class",
    "subclass_accuracy_equiv": "the same, with defensible subclasses",
    "exact_match_equiv": "label right or defensible",
    "confidence": "mean confidence the model stated",
    "confidence_calibration_error": "mean gap between stated confidence and share right, ten bins",
    "balanced_accuracy": "mean over labels of the share found",
    "f1_macro": "mean F1 over labels; rare ones weigh as much as frequent ones",
    "chained_composite": "a quarter the sorter, three quarters the extraction",
}
_EXACT_MATCH: Mapping[TaskKind, str] = {
    "family": "document class alone, whatever the family",
    "hierarchy": "class and subclass right",
    "labels": "label right",
}


def metric_says(metric: str, kind: TaskKind) -> str:
    """Say in a few words what a metric of a scored task counts; empty where its name does.

    Examples:
        >>> metric_says("exact_match", "family"), metric_says("sorter_confidence", "family")
        ('document class alone, whatever the family', 'mean confidence the model stated')
    """
    name = metric.removeprefix("sorter_")
    return _EXACT_MATCH.get(kind, "") if name == "exact_match" else _SAYS.get(name, "")


@dataclass(frozen=True, eq=False)
class RowMeans:
    """Means over the rows of a frame, resampling documents.

    Attributes:
        rows: The frame.
        units: Document of every row, numbered in the order of their names; None when each row is its own.
        bootstrap: The resampling.
    """

    rows: pd.DataFrame
    units: Codes | None
    bootstrap: CellBootstrap

    @classmethod
    def of(cls, rows: pd.DataFrame, documents: Sequence[str] | None, settings: Settings) -> RowMeans:
        """Number the documents of a frame."""
        import pandas as pd

        codes = None if documents is None else pd.factorize(np.asarray(documents, dtype=object), sort=True)[0]
        return cls(rows, codes, bootstrap_of(settings))

    def mean(self, values: str | Array, why: str) -> Estimate:
        """Average a column, or one value per row; missing ones are left out.

        Args:
            values: Name of a column, or values.
            why: Why there is no value, should there be none.
        """
        numbers = self.numbers(values) if isinstance(values, str) else values
        return mean_of_units(self.bootstrap, numbers, self.units, undefined_because=why)

    def numbers(self, column: str) -> Array:
        """Return a column as numbers, NaN where missing."""
        return self.rows[column].to_numpy(dtype=float, na_value=np.nan)


def bootstrap_of(settings: Settings) -> CellBootstrap:
    """Return the resampling the settings ask for."""
    statistics = settings.statistics
    return CellBootstrap(statistics.n_resamples, statistics.seed, statistics.confidence)


def task_metrics(kind: TaskKind, means: RowMeans, confidences: Array, *, with_equivalents: bool) -> dict[str, Estimate]:
    """Return the shares of right rows a kind of task is described by, and the mean stated confidence.

    Args:
        kind: Kind of task.
        means: Means over its rows.
        confidences: Confidence stated per scored row, NaN elsewhere.
        with_equivalents: Whether plain labels have equivalents, without which the lenient share says nothing.
    """
    wanted = _METRICS[kind].items()
    chosen = {name: how for name, how in wanted if with_equivalents or name != "exact_match_equiv"}
    found = {name: means.mean(column, why) for name, (column, why) in chosen.items()}
    return found | {"confidence": means.mean(confidences, _NO_CONFIDENCE)}
