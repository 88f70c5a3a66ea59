"""How often intervals hold the truth, and tests reject it, on populations whose truth is known.

The tests run 2,000 trials with fixed seeds; ``make bench`` runs 10,000 and prints the table. Trials are computed
together, with the resampling counts every estimate of this seed shares; that the bounds are those of the package is
checked in ``test_coverage.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dojo_kit.stats.clusters import clustered_wilson
from dojo_kit.stats.compare import paired_delta, two_sample_delta
from dojo_kit.stats.intervals import Bootstrap, resample_counts, wilson
from dojo_kit.stats.means import SKEW_LIMIT, bca_tails, expanded_tail

Array = NDArray[np.float64]
Bounds = tuple[Array, Array]
SIZES = (20, 50, 500)
ROWS_PER_DOCUMENT = 10
_CHUNK = 250
_BOOTSTRAP = Bootstrap()


@dataclass(frozen=True)
class Population:
    """Where documents are drawn from.

    Attributes:
        name: What the table calls it.
        truth: The ratio of expected sums.
        draw: From a generator, trials and n to numerators and denominators, each shape (trials, n).
        methods: What is tried on it.
    """

    name: str
    truth: float
    draw: Callable[[np.random.Generator, int, int], tuple[Array, Array]]
    methods: tuple[str, ...] = ("percentile", "expanded percentile", "t", "bca")


def beta(a: float, b: float) -> Population:
    """Scores with a Beta distribution."""

    def draw(rng: np.random.Generator, trials: int, n: int) -> tuple[Array, Array]:
        return rng.beta(a, b, (trials, n)), np.ones((trials, n))

    return Population(f"mean of Beta({a:g},{b:g})", a / (a + b), draw)


def bernoulli(p: float) -> Population:
    """Independent documents that are right or wrong."""

    def draw(rng: np.random.Generator, trials: int, n: int) -> tuple[Array, Array]:
        return (rng.random((trials, n)) < p).astype(float), np.ones((trials, n))

    return Population(f"share of 0/1, p {p:g}", p, draw, ("percentile", "wilson"))


def clustered(p: float, rho: float) -> Population:
    """Documents of ten 0/1 rows with an intra-document correlation: beta-binomial counts."""
    scale = 1 / rho - 1

    def draw(rng: np.random.Generator, trials: int, n: int) -> tuple[Array, Array]:
        right = rng.binomial(ROWS_PER_DOCUMENT, rng.beta(p * scale, (1 - p) * scale, (trials, n)))
        return right.astype(float), np.full((trials, n), float(ROWS_PER_DOCUMENT))

    methods = ("percentile", "expanded percentile", "t", "bca", "wilson design effect")
    return Population(f"clustered 0/1, p {p:g}, rho {rho:g}", p, draw, methods)


def pooled_f1() -> Population:
    """F1 pooled over documents of 3 to 12 labels that a model finds more or less well."""

    def draw(rng: np.random.Generator, trials: int, n: int) -> tuple[Array, Array]:
        quality, labels = rng.beta(5, 2, (trials, n)), rng.integers(3, 13, (trials, n))
        found, invented = rng.binomial(labels, quality), rng.poisson(6 * (1 - quality))
        return 2.0 * found, (found + labels + invented).astype(float)

    found, labels, invented = 7.5 * 5 / 7, 7.5, 6 * 2 / 7
    return Population("pooled F1 by document", 2 * found / (found + labels + invented), draw)


PROMISED = (beta(2, 1), beta(5, 2), beta(8, 1), pooled_f1(), clustered(0.8, 0.3), bernoulli(0.9), bernoulli(0.97))
REPORTED = (beta(20, 0.5), beta(40, 0.2))
"""Skewed beyond 2: what is flagged and not promised."""


@dataclass(frozen=True)
class Cell:
    """One line of the table: how often a method's interval held the truth, and how often it was flagged skewed."""

    method: str
    population: str
    n: int
    coverage: float
    flagged: float


def coverage_table(trials: int, *, seed: int = 2024, sizes: tuple[int, ...] = SIZES) -> Iterator[Cell]:
    """Yield every method x population x n."""
    for number, population in enumerate((*PROMISED, *REPORTED)):
        for n in sizes:
            rng = np.random.default_rng([seed, number, n])
            held, flagged = dict.fromkeys(population.methods, 0), 0
            for start in range(0, trials, _CHUNK):
                numerators, denominators = population.draw(rng, min(_CHUNK, trials - start), n)
                flagged += int(skewed(numerators, denominators).sum())
                for method, (lo, hi) in bounds(population.methods, numerators, denominators).items():
                    held[method] += int(((lo <= population.truth) & (population.truth <= hi)).sum())
            for method, count in held.items():
                yield Cell(method, population.name, n, count / trials, flagged / trials)


def bounds(methods: tuple[str, ...], numerators: Array, denominators: Array) -> dict[str, Bounds]:
    """Bounds of every method for many trials at once, each shape (trials,)."""
    n = numerators.shape[1]
    (counts,) = resample_counts(n, _BOOTSTRAP.n_resamples, _BOOTSTRAP.seed)
    replicates = np.sort((numerators @ counts.T) / (denominators @ counts.T), axis=1)
    point = numerators.sum(axis=1) / denominators.sum(axis=1)
    result: dict[str, Bounds] = {}
    for method in methods:
        if method == "percentile":
            result[method] = _quantiles(replicates, 0.025, 0.975)
        elif method == "expanded percentile":
            tail = expanded_tail(n)
            result[method] = _quantiles(replicates, tail, 1 - tail)
        elif method == "t":
            result[method] = _student(point, influences(numerators, denominators))
        elif method == "bca":
            result[method] = _bca(point, replicates, numerators, denominators)
        else:
            share = wilson_of_clusters if method == "wilson design effect" else wilson_of_rows
            result[method] = share(numerators)
    return result


def influences(numerators: Array, denominators: Array) -> Array:
    """Linearised influence of every document, shape (trials, n)."""
    ratio = numerators.sum(axis=1, keepdims=True) / denominators.sum(axis=1, keepdims=True)
    return np.asarray((numerators - ratio * denominators) / denominators.mean(axis=1, keepdims=True))


def skewed(numerators: Array, denominators: Array) -> NDArray[np.bool_]:
    """Whether the documents of a trial are skewed beyond the limit."""
    moved = influences(numerators, denominators)
    spread = moved.std(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.abs((moved**3).mean(axis=1) / spread**3) > SKEW_LIMIT)


def wilson_of_rows(values: Array) -> Bounds:
    """Wilson bounds of every trial."""
    found = [wilson(int(trial.sum()), len(trial)) for trial in values]
    return np.array([e.lo for e in found]), np.array([e.hi for e in found])


def wilson_of_clusters(right: Array) -> Bounds:
    """Design-effect Wilson bounds of every trial, from the right rows of every document."""
    rows = np.arange(ROWS_PER_DOCUMENT) < right[:, :, None]
    keys = np.repeat(np.arange(right.shape[1]), ROWS_PER_DOCUMENT)
    found = [clustered_wilson(trial.ravel(), keys) for trial in rows]
    return np.array([e.lo for e in found]), np.array([e.hi for e in found])


def _quantiles(ordered: Array, low: Any, high: Any) -> Bounds:
    """Linear quantiles of sorted replicates; the probabilities may differ from trial to trial."""
    last = ordered.shape[1] - 1

    def at(p: Any) -> Array:
        place = np.broadcast_to(np.asarray(p) * last, len(ordered))
        below = np.clip(np.floor(place).astype(int), 0, last - 1)
        trials = np.arange(len(ordered))
        left, right = ordered[trials, below], ordered[trials, below + 1]
        return np.asarray(left + (place - below) * (right - left))

    return at(low), at(high)


def _student(point: Array, moved: Array) -> Bounds:
    from scipy.stats import t

    half = t.ppf(0.975, moved.shape[1] - 1) * moved.std(axis=1, ddof=1) / np.sqrt(moved.shape[1])
    return point - half, point + half


def _bca(point: Array, ordered: Array, numerators: Array, denominators: Array) -> Bounds:
    left_out = numerators.sum(axis=1, keepdims=True) - numerators
    jackknife = left_out / (denominators.sum(axis=1, keepdims=True) - denominators)
    trials = zip(point, ordered, jackknife, strict=True)
    tails = np.array([bca_tails(value, drawn, others, 0.95) for value, drawn, others in trials])
    return _quantiles(ordered, tails[:, 0], tails[:, 1])


@dataclass(frozen=True)
class Rejections:
    """How often no difference is rejected: by the interval alone, and by interval and test together."""

    interval: float
    interval_and_test: float


def null_rejections(trials: int, *, n: int = 50, seed: int = 7) -> Rejections:
    """Paired comparison without a difference: both arms answer ten 0/1 rows of the same documents equally well."""
    deltas = [paired_delta(a, b) for a, b in _arms(trials, n, seed, better=0.0)]
    interval = float(np.mean([delta.interval_excludes_zero for delta in deltas]))
    return Rejections(interval, float(np.mean([delta.excluded for delta in deltas])))


def power(trials: int, *, n: int = 50, seed: int = 8, better: float = 0.05) -> tuple[float, float]:
    """How often a real difference is found on the same data: paired, and as two samples."""
    arms = list(_arms(trials, n, seed, better=better))
    paired = np.mean([paired_delta(a, b).excluded for a, b in arms])
    return float(paired), float(np.mean([two_sample_delta(a, b).excluded for a, b in arms]))


def _arms(trials: int, n: int, seed: int, *, better: float) -> Iterator[tuple[Array, Array]]:
    rng = np.random.default_rng(seed)
    for _ in range(trials):
        easy = rng.beta(0.8 * 7 / 3, 0.2 * 7 / 3, n)  # correlation .3 within a document
        a = rng.binomial(ROWS_PER_DOCUMENT, easy) / ROWS_PER_DOCUMENT
        yield a, rng.binomial(ROWS_PER_DOCUMENT, easy + better * (1 - easy) / 0.2) / ROWS_PER_DOCUMENT
