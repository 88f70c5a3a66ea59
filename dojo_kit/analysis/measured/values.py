"""`Measured`: one run as numerators and denominators of every metric, by document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dojo_kit.errors import InputError, closest

if TYPE_CHECKING:
    import pandas as pd

    from dojo_kit.records import Run
    from dojo_kit.scoring.run import ScoredRun
    from dojo_kit.tasks.contracteval import ContractEvalScores
    from dojo_kit.tasks.scores import TaskScores

MetricKind = Literal["headline", "composite", "field", "pooled", "class"]

RECIPE = ("surface", "labels", "settings", "scorer_version", "spans", "embedder", "grounding")
"""What two runs must share to be compared; None stands for what is not known."""

DOCUMENT_COLUMNS = ("document", "status", "predicted", "expected", "cluster", "confidence", "expects")
"""Columns of `Measured.documents`."""

QUESTIONS = "contracteval"
"""Kind of runs that answer questions about contracts."""

WITHOUT_ROWS = "without rows: "
"""What the digest of a run starts with whose answers are not at hand: it is not that of the same run, read."""

_BOOKKEEPING = frozenset({"manifest", "max_concurrency", "bt_scores", "rate_limit_retries"})
_BOOKKEEPING_PREFIX = "tracing"


@dataclass(frozen=True, slots=True)
class MetricInfo:
    """What a metric is.

    Attributes:
        name: Its name, that of `ScoredRun.metrics` or `TaskScores.metrics` where it is among them.
        kind: ``headline`` (what the task is judged by), ``composite`` (a mean over documents), ``field`` (of one
            field), ``pooled`` (a ratio of sums over documents) or ``class`` (of one class or clause category).
        higher_is_better: Its direction.
        field: The field it is of.
        label: The class or category it is of.
        measure: What is measured of a field or class, such as ``score``; metrics of one kind and measure are one
            family of tests.
        counts_failures: Whether a document without an answer has a worst value. A document without items takes no
            part in a precision.
    """

    name: str
    kind: MetricKind
    higher_is_better: bool = True
    field: str = ""
    label: str = ""
    measure: str = ""
    counts_failures: bool = True


@dataclass(frozen=True, eq=False, repr=False)
class Measured:
    """One run, measured document by document.

    Every metric is the sum of its numerators over the sum of its denominators.

    Attributes:
        name: Name of the run.
        source: File it came from.
        task: Task as the run names it.
        kind: What it is scored as: ``extraction``, a key of `dojo_kit.tasks.table.TASKS`, ``contracteval``.
        model: Model slug.
        prompt_version: Name of the prompt.
        timestamp: ISO time stamp as stored; empty when unknown.
        parameters: Sampling and pipeline parameters.
        numerators: One row per document, sorted by key, one column per metric; NaN where the metric is undefined.
        denominators: The same shape; 1 for plain means, NaN where the metric is undefined.
        documents: One row per document, in the same order: ``document`` (name as spelled), ``status`` (scored,
            failed, unscored), ``predicted`` and ``expected`` (keys of labels; missing for extractions), ``cluster``
            (what is drawn together: the document, or the contract of a question), ``confidence``, and ``expects``
            (whether anything is expected of it, so that a missing answer is an error).
        labels: What was expected of each document, in a form that can be held against another run's; missing where
            nothing is known of it.
        metrics: What the columns are, in display order, the headline first.
        headline: Name of the headline.
        recipe: How the values came about, see `RECIPE`.
        scored: What was measured, if it was scored here.
        run: The run, if it was given.
        digest: Hash of documents and answers: the same for a copy or a replay of a run. Without the rows it is of what
            was scored, and says so, see `identified`.
        notes: What a reader of the values must know.
    """

    name: str
    source: str
    task: str
    kind: str
    model: str
    prompt_version: str
    timestamp: str
    parameters: Mapping[str, Any]
    numerators: pd.DataFrame
    denominators: pd.DataFrame
    documents: pd.DataFrame
    labels: pd.Series[Any]
    metrics: Mapping[str, MetricInfo]
    headline: str
    recipe: Mapping[str, str | None]
    scored: ScoredRun | TaskScores | ContractEvalScores | None
    run: Run | None
    digest: str
    notes: tuple[str, ...] = ()

    @property
    def surface(self) -> str:
        """Fingerprint of the set of documents, whatever their order."""
        return self.recipe["surface"] or ""

    @property
    def noun(self) -> str:
        """What one row of the run is called."""
        return "question" if self.kind == QUESTIONS else "document"

    @property
    def identified(self) -> bool:
        """Whether the digest is that of the run, however it was measured."""
        return not self.digest.startswith(WITHOUT_ROWS)

    @property
    def settings_known(self) -> bool:
        """Whether it is known what parameters the run was made with, be it none."""
        return self.run is not None or bool(self.parameters)

    @property
    def n_failed(self) -> int:
        """Documents without an answer."""
        return int((self.documents["status"] == "failed").sum())

    def info(self, metric: str) -> MetricInfo:
        """Return what a metric is.

        Raises:
            InputError: The run has no such metric.
        """
        if metric not in self.metrics:
            raise unknown_metric(metric, self.metrics, self.name)
        return self.metrics[metric]

    def values(self, metric: str) -> pd.Series[Any]:
        """Return a metric's value in every document; NaN where it is undefined."""
        name = self.info(metric).name
        denominators = self.denominators[name]
        return self.numerators[name] / denominators.where(denominators > 0)

    def value(self, metric: str) -> float | None:
        """Return a metric over all documents of the run; None when it is undefined."""
        name = self.info(metric).name
        total = float(np.nansum(self.denominators[name].to_numpy()))
        return float(np.nansum(self.numerators[name].to_numpy())) / total if total > 0 else None

    def __len__(self) -> int:
        return len(self.documents)

    def __repr__(self) -> str:
        value = self.value(self.headline)
        share = "undefined" if value is None else f"{value:.4f}"
        return (
            f"Measured({self.name!r}, {self.headline} {share}, {len(self)} documents, {self.n_failed} failed, "
            f"{len(self.metrics)} metrics)"
        )


def unknown_metric(metric: str, known: Mapping[str, MetricInfo], run: str) -> InputError:
    """Return the error for a metric that a run does not have."""
    listed = [name for name, info in known.items() if info.kind != "class"]
    return InputError(
        f"run {run!r} has no metric {metric!r}{closest(metric, known)}", field="metric", expected=", ".join(listed)
    )


def no_metric(metric: str, known: Mapping[str, MetricInfo]) -> InputError:
    """Return the error for a metric that none of several runs has."""
    listed = [name for name, info in known.items() if info.kind != "class"]
    message = f"none of the runs has the metric {metric!r}{closest(metric, known)}"
    return InputError(message, field="metric", expected=", ".join(listed) or "runs with metrics")


def known_metrics(runs: Iterable[Measured]) -> dict[str, MetricInfo]:
    """Return every metric that some run has."""
    return {name: info for run in runs for name, info in run.metrics.items()}


def same_settings(a: Measured, b: Measured) -> list[str]:
    """Return the names of parameters in which two runs differ; empty when they were made alike.

    Where answers were cached, how many calls ran at a time, and tracing make no difference to an answer.

    Args:
        a: A run.
        b: Another one.
    """
    names = sorted({*a.parameters, *b.parameters})
    absent = object()
    return [
        name
        for name in names
        if not (name in _BOOKKEEPING or name.startswith(_BOOKKEEPING_PREFIX))
        and a.parameters.get(name, absent) != b.parameters.get(name, absent)
    ]


class MetricTable:
    """Numerators and denominators in the making.

    Args:
        keys: Keys of the documents, sorted.
    """

    def __init__(self, keys: pd.Index[Any]) -> None:
        self.keys = keys
        self.metrics: dict[str, MetricInfo] = {}
        self._numerators: dict[str, Any] = {}
        self._denominators: dict[str, Any] = {}

    def add(self, info: MetricInfo, numerators: pd.Series[Any], denominators: pd.Series[Any] | None = None) -> None:
        """Add a metric that is defined in at least one document.

        Args:
            info: The metric.
            numerators: By key; keys that are missing, or NaN, are documents in which it is undefined.
            denominators: By key; 1 by default.
        """
        found = numerators.reindex(self.keys).to_numpy(dtype=float, na_value=np.nan)
        defined = ~np.isnan(found)
        if not defined.any() and info.kind not in ("headline", "composite"):
            return
        if denominators is None:
            weights = np.where(defined, 1.0, np.nan)
        else:
            weights = denominators.reindex(self.keys).to_numpy(dtype=float, na_value=np.nan)
            weights = np.where(defined, weights, np.nan)
        self.metrics[info.name] = info
        self._numerators[info.name] = found
        self._denominators[info.name] = weights

    def frames(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return numerators and denominators as frames."""
        import pandas as pd

        return pd.DataFrame(self._numerators, index=self.keys), pd.DataFrame(self._denominators, index=self.keys)


def with_headline(metrics: Mapping[str, MetricInfo], headline: str) -> dict[str, MetricInfo]:
    """Return metrics with the headline marked and first."""
    first = replace(metrics[headline], kind="headline")
    return {headline: first} | {name: info for name, info in metrics.items() if name != headline}
