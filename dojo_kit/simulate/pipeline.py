"""How often a pipeline of retries and a fallback would fail, in closed form and simulated, and how bad a bad day is.

With p the probability that a call fails, a document fails for good when every try does and the fallback does not help.
Tries of one document are not independent when a whole run is hit by an outage: the failures of the stored runs cluster,
so a run's own failure rate is taken to vary from run to run (beta-distributed), and a second way resamples whole runs.
Independent draws understate the tail badly and are shown beside.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dojo_kit.errors import InputError, SettingsError
from dojo_kit.settings import Settings, resolve
from dojo_kit.simulate.corpus import Corpus
from dojo_kit.simulate.outages import RunRates, fit_beta, resampled_failures
from dojo_kit.stats.intervals import Bootstrap, Estimate, wilson

if TYPE_CHECKING:
    import pandas as pd

SCALES = (1_000, 25_000, 320_000)
"""Documents of a production run unless others are asked for."""

TRIES = (1, 2, 3, 5)
"""Tries of the sweep."""

FALLBACK_SUCCESS = 0.97
"""How often the fallback succeeds."""

TOLERATED = 0.01
"""Share of failed documents that is still tolerable."""

PUBLISHED_RETRY_FACTOR = 0.9
PUBLISHED_ROWS = 50_000
SWEEP_COLUMNS = ("max_tries", "fallback", "failure_rate", "failure_rate_clustered", "mean_attempts")
"""Columns of `FailurePipeline.sweep`."""

SCALE_COLUMNS = (
    *("documents", "expected", "expected_clustered", "resampled_median", "resampled_lo", "resampled_hi"),
    *("p_too_many_independent", "p_too_many_clustered", "p_too_many_resampled"),
)
"""Columns of `FailurePipeline.scales`."""


@dataclass(frozen=True, slots=True)
class FailureFit:
    """What the stored rows say about failed calls.

    Attributes:
        n_rows: Rows.
        n_failed: Failed calls, those stored as completed among them unless the corpus is legacy.
        n_disguised: Failed calls that were stored as completed.
        n_cut: Rows whose reasons look cut off.
        rate: Share of failed calls; the interval resamples whole runs.
        independent: The same with an interval as if calls were independent.
        worst_runs: Ids of the runs with the most failures, with failures and rows.
        runs: Failures and rows of every run.
    """

    n_rows: int
    n_failed: int
    n_disguised: int
    n_cut: int
    rate: Estimate
    independent: Estimate
    worst_runs: tuple[tuple[str, int, int], ...]
    runs: RunRates = field(repr=False)

    @property
    def p_first(self) -> float:
        """Share of failed calls."""
        return self.n_failed / self.n_rows

    @property
    def p_length(self) -> float:
        """Share of rows whose reasons look cut off."""
        return self.n_cut / self.n_rows

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready values."""
        return {
            "rows": self.n_rows,
            "failed": self.n_failed,
            "disguised": self.n_disguised,
            "cut": self.n_cut,
            "rate": self.rate.as_dict(),
            "rate_if_independent": self.independent.as_dict(),
            "worst_runs": [list(run) for run in self.worst_runs],
        }


@dataclass(frozen=True, eq=False)
class FailurePipeline:
    """What a pipeline of retries and a fallback would do.

    Attributes:
        fit: What it rests on.
        max_tries: Tries of a document.
        fallback: Success rate of the fallback; 0 without one.
        p_try: Probability that a try fails.
        failure_rate: Share of documents that fail for good, tries being independent.
        failure_rate_clustered: The same when the tries of a document share their run's luck.
        mean_attempts: Calls per document, the fallback's included.
        sweep: The same for other numbers of tries, with and without fallback; columns `SWEEP_COLUMNS`.
        scales: Failed documents to expect by size of the run; columns `SCALE_COLUMNS`.
        beta: Parameters of the distribution of a run's failure rate; None when rates do not vary.
        legacy: Whether figures were simulated as published.
    """

    fit: FailureFit
    max_tries: int
    fallback: float
    p_try: float
    failure_rate: float
    failure_rate_clustered: float
    mean_attempts: float
    sweep: pd.DataFrame = field(repr=False)
    scales: pd.DataFrame = field(repr=False)
    beta: tuple[float, float] | None
    legacy: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready values."""
        return {
            "fit": self.fit.as_dict(),
            "max_tries": self.max_tries,
            "fallback": self.fallback,
            "p_try": self.p_try,
            "failure_rate": self.failure_rate,
            "failure_rate_clustered": self.failure_rate_clustered,
            "mean_attempts": self.mean_attempts,
            "beta": None if self.beta is None else list(self.beta),
            "sweep": _records(self.sweep),
            "scales": _records(self.scales),
            "legacy": self.legacy,
        }


def failures(
    corpus: Corpus,
    *,
    task: str | None = None,
    max_tries: int = 3,
    fallback: float = FALLBACK_SUCCESS,
    scales: Sequence[int] = SCALES,
    tries: Sequence[int] = TRIES,
    retry_factor: float | None = None,
    legacy: bool | None = None,
    settings: Settings | None = None,
) -> FailurePipeline:
    """Say how many documents would fail for good.

    Args:
        corpus: The corpus.
        task: Only rows of this task.
        max_tries: Tries of a document before the fallback.
        fallback: Success rate of the fallback; 0 for none.
        scales: Sizes of production runs.
        tries: Numbers of tries of the sweep.
        retry_factor: Probability that a try fails, as a multiple of the stored failure rate; 1 by default, 0.9 when
            legacy.
        legacy: Simulate 50,000 documents on the published stream; as the corpus was read by default.
        settings: Seed, replicates and level; the current settings by default.

    Raises:
        SettingsError: A number is out of range.
        InputError: There are no rows of the task.
    """
    if not 0 <= fallback <= 1:
        raise SettingsError(f"fallback must lie between 0 and 1, not {fallback}")
    if retry_factor is not None and not (math.isfinite(retry_factor) and retry_factor >= 0):
        raise SettingsError(f"retry_factor must be a number from 0 on, not {retry_factor}")
    for name, given in (("max_tries", (max_tries,)), ("tries", tries), ("scales", scales)):
        if not len(given) or any(not math.isfinite(n) or n != int(n) or n < 1 for n in given):
            raise SettingsError(
                f"{name} must be whole numbers of 1 or more, got {', '.join(map(str, given)) or 'none'}"
            )
    statistics = resolve(settings).statistics
    bootstrap = Bootstrap(statistics.n_resamples, statistics.seed, statistics.confidence)
    as_published = corpus.legacy if legacy is None else legacy
    fit = failure_fit(corpus, task=task, bootstrap=bootstrap)
    factor = retry_factor if retry_factor is not None else PUBLISHED_RETRY_FACTOR if as_published else 1.0
    p_try = min(1.0, factor * fit.p_first)
    maker = (_Published if as_published else _Closed)(fit, p_try, factor, bootstrap)
    rate, attempts = maker.rate(max_tries, fallback)
    return FailurePipeline(
        fit=fit,
        max_tries=max_tries,
        fallback=fallback,
        p_try=p_try,
        failure_rate=rate,
        failure_rate_clustered=maker.clustered(max_tries, fallback),
        mean_attempts=attempts,
        sweep=_sweep(maker, tries, fallback),
        scales=_scales(maker, max_tries, fallback, scales),
        beta=maker.beta,
        legacy=as_published,
    )


def failure_fit(corpus: Corpus, *, task: str | None = None, bootstrap: Bootstrap | None = None) -> FailureFit:
    """Count failed calls, by run.

    Args:
        corpus: The corpus.
        task: Only rows of this task.
        bootstrap: The resampling of runs.

    Raises:
        InputError: There are no rows.
    """
    rows = corpus.rows if task is None else corpus.of_task(task)
    if rows.empty:
        raise InputError("the corpus is empty", field="rows", expected="at least one row")
    by_run = rows.groupby("run_id", observed=True, sort=False)["failed"].agg(["sum", "size"])
    ids, failed, sizes = list(by_run.index), by_run["sum"].to_numpy(dtype=int), by_run["size"].to_numpy(dtype=int)
    worst = [index for index in np.argsort(-failed, kind="stable")[:5] if failed[index]]
    rate = replace((bootstrap or Bootstrap()).ratio(failed, sizes), unit="runs")
    return FailureFit(
        n_rows=len(rows),
        n_failed=int(failed.sum()),
        n_disguised=int((rows["disguised"] & rows["failed"]).sum()),
        n_cut=int(rows["cut"].sum()),
        rate=rate,
        independent=wilson(int(failed.sum()), len(rows), unit="calls"),
        worst_runs=tuple((ids[index], int(failed[index]), int(sizes[index])) for index in worst),
        runs=RunRates(failed, sizes),
    )


def failure_probability(p_try: float, max_tries: int, fallback: float) -> float:
    """Probability that a document fails for good: every try fails, and the fallback does not help.

    Args:
        p_try: Probability that a try fails.
        max_tries: Tries.
        fallback: Success rate of the fallback; 0 for none.

    Examples:
        >>> round(failure_probability(0.02, 1, 0.97), 6), round(failure_probability(0.02, 3, 0.0), 9)
        (0.0006, 8e-06)
    """
    return float(p_try**max_tries * (1 - fallback))


def expected_attempts(p_try: float, max_tries: int, fallback: float) -> float:
    """Calls per document to expect: the n-th try is made when all before it failed; the fallback is one more.

    Examples:
        >>> round(expected_attempts(0.02, 3, 0.97), 6)
        1.020408
    """
    return sum(p_try**tries for tries in range(max_tries + (fallback > 0)))


def p_more_than(n: int, share: float, p: float) -> float:
    """Probability that more than a share of n independent documents fail: the upper tail of a binomial.

    Examples:
        >>> p_more_than(1000, 0.01, 0.02) > 0.98, p_more_than(1000, 0.01, 0.0)
        (True, 0.0)
    """
    from scipy.special import betainc

    allowed = int(share * n)
    if allowed >= n:
        return 0.0
    return float(betainc(allowed + 1, n - allowed, p))


def poisson_tail(threshold: int, rate: float) -> float:
    """Probability that a Poisson count exceeds a threshold, in a form that does not underflow.

    Examples:
        >>> round(poisson_tail(10, 10.0), 4), poisson_tail(3200, 5000.0)
        (0.417, 1.0)
    """
    from scipy.special import gammainc

    return float(gammainc(threshold + 1, rate)) if rate > 0 else 0.0


class _Closed:
    """Everything in closed form, or by resampling runs."""

    def __init__(self, fit: FailureFit, p_try: float, factor: float, bootstrap: Bootstrap) -> None:
        self.fit, self.p_try, self.factor, self.bootstrap = fit, p_try, factor, bootstrap
        self.beta = fit_beta(fit.runs)

    def rate(self, max_tries: int, fallback: float) -> tuple[float, float]:
        return (
            failure_probability(self.p_try, max_tries, fallback),
            expected_attempts(self.p_try, max_tries, fallback),
        )

    def clustered(self, max_tries: int, fallback: float) -> float:
        """Mean over runs of the probability that all tries of a document fail: the moments of a beta distribution."""
        if self.beta is None:
            return self.rate(max_tries, fallback)[0]
        a, b = self.beta
        moment = math.prod(self.factor * (a + tried) / (a + b + tried) for tried in range(max_tries))
        return min(1.0, moment) * (1 - fallback)

    def scale(self, n: int, max_tries: int, fallback: float) -> tuple[float, ...]:
        rate = self.rate(max_tries, fallback)[0]
        drawn = resampled_failures(
            self.fit.runs, n, lambda p: (np.minimum(1, self.factor * p)) ** max_tries * (1 - fallback), self.bootstrap
        )
        lo, median, hi = np.quantile(drawn, [tail := (1 - self.bootstrap.confidence) / 2, 0.5, 1 - tail])
        too_many = (p_more_than(n, TOLERATED, rate), self._one_run(max_tries, fallback))
        values = (rate * n, self.clustered(max_tries, fallback) * n, median, lo, hi)
        return (*map(float, values), *too_many, float((drawn > TOLERATED * n).mean()))

    def _one_run(self, max_tries: int, fallback: float) -> float:
        """Probability that a run's own rate is so high that more than the tolerated share fails for good."""
        if self.beta is None or fallback >= 1 - TOLERATED:
            return 0.0
        from scipy.special import betaincc

        needed = (TOLERATED / (1 - fallback)) ** (1 / max_tries) / self.factor if self.factor else 1.0
        return float(betaincc(*self.beta, needed)) if needed < 1 else 0.0


class _Published(_Closed):
    """Simulated document by document on the published stream; rates do not vary by run."""

    def __init__(self, fit: FailureFit, p_try: float, factor: float, bootstrap: Bootstrap) -> None:
        super().__init__(fit, p_try, factor, bootstrap)
        self.beta = None

    def rate(self, max_tries: int, fallback: float, *, seed: int | None = None) -> tuple[float, float]:
        rng = random.Random(self.bootstrap.seed if seed is None else seed)
        failed = attempts = 0
        for _ in range(PUBLISHED_ROWS):
            for _ in range(max_tries):
                attempts += 1
                if rng.random() > self.p_try:
                    break
                rng.random()  # whether the attempt hit the length limit; counted, and without effect
            else:
                if fallback:
                    attempts += 1
                failed += not (fallback and rng.random() < fallback)
        return failed / PUBLISHED_ROWS, attempts / PUBLISHED_ROWS

    def scale(self, n: int, max_tries: int, fallback: float) -> tuple[float, ...]:
        expected = self.rate(max_tries, fallback)[0] * n
        tail = poisson_tail(int(TOLERATED * n), expected)
        return (expected, expected, expected, expected, expected, tail, tail, tail)


def _sweep(maker: _Closed, tries: Sequence[int], fallback: float) -> pd.DataFrame:
    import pandas as pd

    rows = []
    for max_tries in tries:
        for used in (fallback, 0.0):
            if isinstance(maker, _Published):
                rate, attempts = maker.rate(max_tries, used, seed=maker.bootstrap.seed + max_tries)
                rows.append((max_tries, used, rate, rate, attempts))
            else:
                rate, attempts = maker.rate(max_tries, used)
                rows.append((max_tries, used, rate, maker.clustered(max_tries, used), attempts))
    return pd.DataFrame(rows, columns=list(SWEEP_COLUMNS))


def _scales(maker: _Closed, max_tries: int, fallback: float, scales: Sequence[int]) -> pd.DataFrame:
    import pandas as pd

    rows = [(n, *maker.scale(n, max_tries, fallback)) for n in scales]
    return pd.DataFrame(rows, columns=list(SCALE_COLUMNS))


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in table.to_dict(orient="records")]
