"""Two runs with their documents matched: numerators and denominators of a metric side by side."""

from __future__ import annotations

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
    return side.only(side.known).estimate(bootstrap_for(run, settings))


class Pair:
    """Two runs, their documents matched by key."""

    def __init__(self, a: Measured, b: Measured, bootstrap: Bootstrap) -> None:
        self.a, self.b, self.bootstrap = a, b, bootstrap
        self.shared = a.documents.index.intersection(b.documents.index).sort_values()
        self.paired = len(self.shared) > 0
        self.surface = fingerprint(self.shared) if self.paired else ""
        keys = [self.shared, self.shared] if self.paired else [a.documents.index, b.documents.index]
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
        known = [side.known for side in sides]
        if self.paired:
            known = [known[0] & known[1]] * 2
        a, b = (side.only(kept).estimate(self.bootstrap) for side, kept in zip(sides, known, strict=True))
        return Differences(a, b, delta, complete, worst)

    def _delta(self, info: MetricInfo, a: Side, b: Side) -> Delta:
        if self.paired:
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
                bootstrap=self.bootstrap,
            )
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
