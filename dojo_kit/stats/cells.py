"""Bootstrap over rows that fall into cells, such as the cells of a confusion matrix.

All statistics of one table are taken from the same replicates, which are drawn once. A replicate is kept as sums, so
the cost does not grow with the number of statistics.

Up to 20,000 rows, and whenever several rows belong to one unit, units are drawn by index from the pinned stream of
`dojo_kit.stats.intervals`. Beyond, drawing how many of n rows fall into each cell is the same distribution and one
multinomial draw; the number of cells only decides whether it is faster, which it is up to about a tenth of n.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dojo_kit.stats.intervals import Array, Bootstrap, Estimate, resample_counts, undefined

Codes = NDArray[np.int64]

_COUNTS_ABOVE_N = 20_000
_ROWS_PER_CELL = 10
_BLOCK_CELLS = 4_000_000


@dataclass(frozen=True, slots=True, eq=False)
class DrawnSums:
    """Sums over rows, as observed and in every replicate.

    Attributes:
        observed: Sums of the summands, shape (1, k).
        replicates: The same per replicate, shape (replicates, k).
        n: Units drawn.
        method: How they were drawn.
        bootstrap: Whose intervals these are.
    """

    observed: Array
    replicates: Array
    n: int
    method: str
    bootstrap: CellBootstrap

    def estimate(self, statistic: Callable[[Array], Array], *, undefined_because: str) -> Estimate:
        """Estimate a statistic of the sums.

        Args:
            statistic: From sums, shape (r, k), to values, shape (r,); NaN where undefined.
            undefined_because: Why it has no value, should it have none.
        """
        return self.bootstrap.of_drawn(self, statistic, undefined_because)


@dataclass(frozen=True, slots=True)
class CellBootstrap(Bootstrap):
    """Percentile bootstrap of everything that is a function of how many rows fall into each cell.

    Examples:
        >>> drawn = CellBootstrap().draw(np.array([0, 0, 1, 1]), np.array([[1.0], [0.0]]))
        >>> drawn.estimate(lambda sums: sums[:, 0] / 4, undefined_because="no rows").value
        0.5
    """

    def draw(self, cells: Codes, summands: Any, units: Codes | None = None) -> DrawnSums:
        """Draw the replicates.

        Args:
            cells: Cell of every row, counted from 0.
            summands: What a row of each cell adds to each sum, shape (cells, k), dense or sparse.
            units: Unit of every row, counted from 0 in the order in which units are drawn; every row its own by
                default, in the order of its cell, so that the order of the rows does not matter.
        """
        n_cells = summands.shape[0]
        counts = np.bincount(cells, minlength=n_cells)
        observed = np.asarray(counts @ summands, dtype=float)[None, :]
        n = len(cells) if units is None else int(units.max(initial=-1)) + 1
        occupied = int(np.count_nonzero(counts))
        if n == len(cells) and n > max(_COUNTS_ABOVE_N, _ROWS_PER_CELL * occupied):
            replicates = np.concatenate(list(self._by_cell(counts, summands)))
            return DrawnSums(observed, replicates, n, "percentile-counts", self)
        if units is None:
            units = np.argsort(np.argsort(cells, kind="stable"))
        replicates = self._by_unit(units, cells, summands, n) if n else np.empty((0, observed.shape[1]))
        return DrawnSums(observed, replicates, n, "percentile", self)

    def of_drawn(self, drawn: DrawnSums, statistic: Callable[[Array], Array], undefined_because: str) -> Estimate:
        """Estimate a statistic of drawn sums."""
        if not drawn.n:
            return undefined(undefined_because)
        point = float(statistic(drawn.observed)[0])
        if np.isnan(point):
            return undefined(undefined_because, n=drawn.n)
        return self.of_replicates(point, statistic(drawn.replicates), drawn.n, drawn.method)

    def _by_cell(self, counts: Codes, summands: Any) -> Iterator[Array]:
        occupied = np.flatnonzero(counts)
        n, summands = int(counts.sum()), summands[occupied]
        rng = np.random.default_rng(self.seed)
        block = max(1, _BLOCK_CELLS // len(occupied))
        for start in range(0, self.n_resamples, block):
            size = min(block, self.n_resamples - start)
            yield np.asarray(rng.multinomial(n, counts[occupied] / n, size=size) @ summands, dtype=float)

    def _by_unit(self, units: Codes, cells: Codes, summands: Any, n: int) -> Array:
        from scipy.sparse import csr_array

        ones = np.ones(len(cells))
        of_unit: Any = csr_array((ones, (units, cells)), shape=(n, summands.shape[0])) @ summands
        blocks = resample_counts(n, self.n_resamples, self.seed)
        return np.concatenate([np.asarray(counts @ of_unit, dtype=float) for counts in blocks])


def mean_of_units(bootstrap: CellBootstrap, values: Array, units: Codes | None, *, undefined_because: str) -> Estimate:
    """Mean over rows, resampling units; NaN rows are left out.

    Beyond 20,000 independent rows of mostly distinct values the interval is the normal one, which the percentiles of a
    mean equal there.

    Args:
        bootstrap: The resampling.
        values: One value per row.
        units: Unit of every row, see `CellBootstrap.draw`.
        undefined_because: Why there is no value, should there be none.
    """
    known = ~np.isnan(values)
    if not known.any():
        return undefined(undefined_because)
    distinct, cells = np.unique(values[known], return_inverse=True)
    of_rows = None
    if units is not None:
        _, of_rows = np.unique(units[known], return_inverse=True)
    alone = of_rows is None or of_rows.max() + 1 == len(cells)
    if alone and len(cells) > _COUNTS_ABOVE_N and _ROWS_PER_CELL * len(distinct) > len(cells):
        return _normal_mean(values[known], bootstrap.confidence)
    drawn = bootstrap.draw(cells, np.column_stack([distinct, np.ones(len(distinct))]), of_rows)
    estimate = drawn.estimate(lambda sums: sums[:, 0] / sums[:, 1], undefined_because=undefined_because)
    return replace(estimate, value=float(values[known].mean()))


def _normal_mean(values: Array, confidence: float) -> Estimate:
    from statistics import NormalDist

    mean = float(values.mean())
    half = NormalDist().inv_cdf(0.5 + confidence / 2) * float(values.std(ddof=1)) / len(values) ** 0.5
    return Estimate(mean, mean - half, mean + half, "normal", len(values))
