"""How failure rates vary from run to run: a beta-binomial fitted to the stored runs, and resampling of whole runs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dojo_kit.stats.intervals import Array, Bootstrap

_SMALLEST, _LARGEST = 1e-3, 1e6
"""Bounds of the sum of both parameters; the larger it is, the less rates vary."""


@dataclass(frozen=True, slots=True)
class RunRates:
    """Failures of runs.

    Attributes:
        failed: Failed rows of each run, shape (runs,).
        sizes: Rows of each run, shape (runs,).
    """

    failed: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @property
    def rates(self) -> Array:
        """Share of failed rows of each run."""
        return self.failed / self.sizes


def fit_beta(runs: RunRates) -> tuple[float, float] | None:
    """Fit a beta distribution of a run's failure rate: its mean is the share of all rows, its spread the likeliest.

    Args:
        runs: Failures of the runs.

    Returns:
        Its two parameters; None when no row or every row failed, with fewer than two runs, and when the failures are
        no more clustered than independent ones, so that there is nothing to fit.

    Examples:
        >>> fit_beta(RunRates(np.array([0, 0, 50, 0]), np.array([100, 100, 100, 100]))) is not None
        True
        >>> fit_beta(RunRates(np.array([2, 2, 2, 2]), np.array([100, 100, 100, 100]))) is None
        True
    """
    from scipy.optimize import minimize_scalar
    from scipy.special import betaln

    failed, sizes = runs.failed.astype(float), runs.sizes.astype(float)
    total = float(failed.sum() / sizes.sum())
    if len(failed) < 2 or not 0 < total < 1:
        return None

    def loss(log_concentration: float) -> float:
        a, b = _parameters(total, log_concentration)
        return -float((betaln(failed + a, sizes - failed + b) - betaln(a, b)).sum())

    found = minimize_scalar(loss, bounds=(math.log(_SMALLEST), math.log(_LARGEST)), method="bounded")
    independent = -float((failed * math.log(total) + (sizes - failed) * math.log(1 - total)).sum())
    a, b = _parameters(total, float(found.x))
    return None if a + b > _LARGEST / 2 or found.fun > independent - 1e-6 else (a, b)


def _parameters(mean: float, log_concentration: float) -> tuple[float, float]:
    concentration = math.exp(log_concentration)
    return mean * concentration, (1 - mean) * concentration


def resampled_failures(runs: RunRates, n: int, fails: Callable[[Array], Array], bootstrap: Bootstrap) -> Array:
    """Make a production run of whole stored runs, drawn at random, and count failed documents.

    As many runs are drawn as make about n documents, at least one; their failures are scaled to n.

    Args:
        runs: Failures of the stored runs.
        n: Documents of the production run.
        fails: From the failure rates of runs to the probability that a document of each fails for good.
        bootstrap: Replicates and seed.

    Returns:
        Failed documents of every replicate, shape (replicates,).
    """
    rng = np.random.default_rng(bootstrap.seed)
    n_runs = len(runs.sizes)
    n_drawn = max(1, round(n / float(runs.sizes.mean())))
    documents = rng.multinomial(n_drawn, np.full(n_runs, 1 / n_runs), size=bootstrap.n_resamples) * runs.sizes
    failed = rng.binomial(documents, fails(runs.rates)).sum(axis=1)
    return np.asarray(failed * (n / documents.sum(axis=1)), dtype=float)
