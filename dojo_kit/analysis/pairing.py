"""Two runs with their documents matched: numerators and denominators of a metric side by side.

Units of a paired difference are drawn in the order of the names of the documents as the first run spells them, which
is the order of published figures. A metric of one run is drawn in the order of the keys, as where it was scored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dojo_kit.analysis.measured import Measured, MetricInfo
from dojo_kit.records import fingerprint
from dojo_kit.settings import Settings, resolve
from dojo_kit.stats.clusters import cluster_sums
from dojo_kit.stats.compare import Delta, paired_delta, two_sample_delta
from dojo_kit.stats.intervals import DOCUMENTS, Array, Bootstrap, Estimate

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Differences:
    """One metric of two runs, over the documents compared.

    Attributes:
        a: The first run.
        b: The second.
        delta: B less A, positive when B is better.
        complete: Over documents both runs answered; None when none failed.
        errors_as_worst: With every missing answer as the worst value; None when none failed or it has none.
    """

    a: Estimate
    b: Estimate
    delta: Delta
    complete: Delta | None
    errors_as_worst: Delta | None


def clusters_of(run: Measured) -> pd.Series[Any] | None:
    """Return the cluster of every document; None where each stands for itself."""
    cluster = run.documents["cluster"]
    return None if (cluster.to_numpy() == run.documents.index.to_numpy()).all() else cluster


@dataclass(frozen=True)
class Side:
    """One metric of one run: numerators, denominators and clusters, by document."""

    values: Array
    weights: Array
    clusters: NDArray[Any] | None

    def only(self, kept: NDArray[np.bool_]) -> Side:
        """Return the units marked."""
        clusters = None if self.clusters is None else self.clusters[kept]
        return Side(self.values[kept], self.weights[kept], clusters)

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which units the metric is defined in."""
        return ~np.isnan(self.values)

    @property
    def is_mean(self) -> bool:
        """Whether every unit counts once."""
        return bool((self.weights == 1).all())

    def estimate(self, bootstrap: Bootstrap) -> Estimate:
        """Estimate the metric over all units of this side."""
        values, weights = self.values, self.weights
        if self.clusters is not None:
            sums = cluster_sums(np.column_stack([values, weights]), self.clusters)
            values, weights = sums[:, 0], sums[:, 1]
        elif self.is_mean:
            return bootstrap.mean(values)
        return bootstrap.ratio(values, weights)

    def known_estimate(self, bootstrap: Bootstrap) -> Estimate:
        """Estimate the metric over the units of this side that define it."""
        return self.only(self.known).estimate(bootstrap)


def bootstrap_for(run: Measured, settings: Settings | None) -> Bootstrap:
    """Return the resampling that settings ask for, of documents or of contracts.

    Args:
        run: The run whose units are resampled.
        settings: Seed, replicates and level; the current settings when there are none.
    """
    statistics = resolve(settings).statistics
    unit = DOCUMENTS if clusters_of(run) is None else "contracts"
    return Bootstrap(statistics.n_resamples, statistics.seed, statistics.confidence, unit)


def side_of(run: Measured, metric: str, keys: pd.Index[Any] | None = None) -> Side:
    """Return one metric of a run, by document.

    Args:
        run: The run.
        metric: The metric.
        keys: Documents; all by default.
    """
    keys = run.documents.index if keys is None else keys
    clusters = clusters_of(run)
    return Side(
        run.numerators[metric].loc[keys].to_numpy(dtype=float),
        run.denominators[metric].loc[keys].to_numpy(dtype=float),
        None if clusters is None else clusters.loc[keys].to_numpy(),
    )


def averaged_side(runs: Sequence[Measured], metric: str, keys: pd.Index[Any] | None = None) -> Side:
    """Return one metric of several runs over the same documents, numerators and denominators averaged over the runs.

    Args:
        runs: The runs; a document counts with those in which the metric is defined.
        metric: The metric.
        keys: Documents; all of the first run by default.
    """
    sides = [side_of(run, metric, runs[0].documents.index if keys is None else keys) for run in runs]
    if len(sides) == 1:
        return sides[0]
    defined = np.column_stack([side.known for side in sides])
    n = np.maximum(defined.sum(axis=1), 1)
    parts = (np.column_stack([getattr(side, name) for side in sides]) for name in ("values", "weights"))
    values, weights = (np.where(defined, part, 0.0).sum(axis=1) / n for part in parts)
    known = defined.any(axis=1)
    return Side(np.where(known, values, np.nan), np.where(known, weights, np.nan), sides[0].clusters)


def paired_order(run: Measured, keys: pd.Index[Any]) -> pd.Index[Any]:
    """Return documents in the order in which a paired difference draws them: that of their names as spelled.

    Args:
        run: The first run of the pair, whose spelling counts.
        keys: Keys of documents it has.
    """
    ordered: pd.Index[Any] = run.documents.loc[keys, "document"].astype(str).sort_values(kind="stable").index
    return ordered


def paired_sides_delta(a: Side, b: Side, info: MetricInfo, bootstrap: Bootstrap) -> Delta:
    """Return the paired difference of two sides with the same units, over those defined in both.

    Args:
        a: The first run.
        b: The second; clusters are the first's.
        info: The metric.
        bootstrap: The resampling.
    """
    known = a.known & b.known
    a, b = a.only(known), b.only(known)
    plain = a.is_mean and b.is_mean
    return paired_delta(
        a.values,
        b.values,
        a_weights=None if plain else a.weights,
        b_weights=None if plain else b.weights,
        higher_is_better=info.higher_is_better,
        clusters=a.clusters,
        bootstrap=bootstrap,
    )


def paired_metric(
    a: Measured, b: Measured, info: MetricInfo, bootstrap: Bootstrap, keys: pd.Index[Any] | None = None
) -> Delta:
    """Return the paired difference of two runs in one metric.

    Args:
        a: The first run.
        b: The second.
        info: The metric.
        bootstrap: The resampling.
        keys: Documents of both; by default all they have in common.
    """
    shared = a.documents.index.intersection(b.documents.index) if keys is None else keys
    ordered = paired_order(a, shared)
    return paired_sides_delta(side_of(a, info.name, ordered), side_of(b, info.name, ordered), info, bootstrap)


def estimate_of(run: Measured, metric: str, settings: Settings | None = None) -> Estimate:
    """Estimate a metric over all documents of a run.

    Args:
        run: The run.
        metric: One of its metrics.
        settings: Seed, replicates and level; the current settings by default.

    Raises:
        InputError: The run has no such metric.
    """
    side = side_of(run, run.info(metric).name)
    return side.known_estimate(bootstrap_for(run, settings))


class Pair:
    """Two runs, their documents matched by key."""

    def __init__(self, a: Measured, b: Measured, bootstrap: Bootstrap) -> None:
        self.a, self.b, self.bootstrap = a, b, bootstrap
        self.shared = a.documents.index.intersection(b.documents.index).sort_values()
        self.paired = len(self.shared) > 0
        self.surface = fingerprint(self.shared) if self.paired else ""
        ordered = paired_order(a, self.shared)
        keys = [ordered, ordered] if self.paired else [a.documents.index, b.documents.index]
        self._keys = keys
        self._failed = [
            (run.documents.loc[of, "status"] == "failed").to_numpy() for run, of in zip((a, b), keys, strict=True)
        ]
        self._expects = [
            run.documents.loc[of, "expects"].to_numpy(dtype=bool) for run, of in zip((a, b), keys, strict=True)
        ]

    def differences(self, info: MetricInfo) -> Differences:
        """Compare one metric."""
        sides = [side_of(run, info.name, keys) for run, keys in zip((self.a, self.b), self._keys, strict=True)]
        delta = self._delta(info, *sides)
        complete = worst = None
        if any(failed.any() for failed in self._failed):
            complete = self._complete(info, sides, delta)
            worst = self._worst(info, sides, delta)
        a, b = self._estimates(info, sides)
        return Differences(a, b, delta, complete, worst)

    def _estimates(self, info: MetricInfo, sides: list[Side]) -> tuple[Estimate, Estimate]:
        """Estimate both runs by themselves over the documents compared."""
        if self.paired:
            sides = [side_of(run, info.name, self.shared) for run in (self.a, self.b)]
        known = [side.known for side in sides]
        if self.paired:
            known = [known[0] & known[1]] * 2
        first, second = (side.only(kept).estimate(self.bootstrap) for side, kept in zip(sides, known, strict=True))
        return first, second

    def _delta(self, info: MetricInfo, a: Side, b: Side) -> Delta:
        if self.paired:
            return paired_sides_delta(a, b, info, self.bootstrap)
        a, b = a.only(a.known), b.only(b.known)
        return two_sample_delta(
            a.values,
            b.values,
            a_weights=a.weights,
            b_weights=b.weights,
            higher_is_better=info.higher_is_better,
            a_clusters=a.clusters,
            b_clusters=b.clusters,
            bootstrap=self.bootstrap,
        )

    def _complete(self, info: MetricInfo, sides: list[Side], delta: Delta) -> Delta:
        """Leave out documents that failed in either run, where the metric counts them."""
        failed = [self._failed[0] | self._failed[1]] * 2 if self.paired else self._failed
        if not any((side.known & out).any() for side, out in zip(sides, failed, strict=True)):
            return delta
        kept = [side.only(~out) for side, out in zip(sides, failed, strict=True)]
        return self._delta(info, *kept)

    def _worst(self, info: MetricInfo, sides: list[Side], delta: Delta) -> Delta | None:
        """Give every missing answer the worst value."""
        if not info.counts_failures:
            return None
        filled = [self._filled(info, sides, at) for at in (0, 1)]
        if all(new is old for new, old in zip(filled, sides, strict=True)):
            return delta
        return self._delta(info, *filled)

    def _filled(self, info: MetricInfo, sides: list[Side], at: int) -> Side:
        """Fill missing answers: where the other run shows what was expected, or where every document counts once."""
        mine, other = sides[at], sides[1 - at]
        missing = self._failed[at] & ~mine.known
        everywhere = info.kind in ("headline", "composite") and self._expects[at]
        weights = np.where(other.known, other.weights, 1.0) if self.paired else np.ones(len(missing))
        fill = missing & (everywhere | (other.known if self.paired else False))
        if not fill.any():
            return mine
        worst = 0.0 if info.higher_is_better else 1.0
        values = np.where(fill, worst * weights, mine.values)
        return Side(values, np.where(fill, weights, mine.weights), mine.clusters)
