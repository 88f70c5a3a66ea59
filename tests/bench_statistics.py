"""The statistics part of ``make bench``: speed beside scipy, and how often intervals hold the truth."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from dojo_kit.stats.compare import paired_delta
from dojo_kit.stats.intervals import Bootstrap, _cached_counts
from dojo_kit.stats.pooled import pooled_ratio, pooled_ratio_of_rows
from tests.stats.coverage_simulation import PROMISED, REPORTED, SIZES, coverage_table, null_rejections, power

TRIALS = 10_000
POWER_TRIALS = 2_000


def best_seconds(job: Callable[[], object], *, calls: int = 9) -> float:
    """Shortest time of a job that draws its replicates anew."""
    times = []
    for _ in range(calls):
        _cached_counts.cache_clear()
        start = time.perf_counter()
        job()
        times.append(time.perf_counter() - start)
    return min(times)


def speed(console: Console) -> None:
    """Print how long resampling takes."""
    from scipy.stats import bootstrap

    rng = np.random.default_rng(0)
    scores, (tp, fp, fn) = rng.random(4182), rng.integers(0, 9, (3, 509))
    ours = best_seconds(lambda: Bootstrap().mean(scores))
    options = {"n_resamples": 2000, "method": "percentile", "vectorized": True}
    scipy = best_seconds(lambda: bootstrap((scores,), np.mean, rng=np.random.default_rng(42), **options))
    many = Bootstrap(100_000)
    rows = best_seconds(lambda: pooled_ratio_of_rows("f1", 860, 300, 400, 2622, bootstrap=many))
    documents = best_seconds(lambda: pooled_ratio("f1", tp, fp, fn))
    paired = best_seconds(lambda: paired_delta(scores[:509], scores[509:1018]))

    table = Table("resampling", "dojo_kit", "scipy", "ratio", box=None, header_style="dim")
    times = [f"{value * 1000:,.1f} ms" for value in (ours, scipy, rows, documents, paired)]
    table.add_row("mean, n = 4,182, 2,000 resamples", times[0], times[1], f"{scipy / ours:.1f} x")
    table.add_row("pooled F1, 4,182 independent rows, 100,000 draws", times[2], "", "")
    table.add_row("pooled F1 by document, n = 509, 2,000 draws", times[3], "", "")
    table.add_row("paired difference with 10,000 sign flips, n = 509", times[4], "", "")
    console.print(table)


def coverage(console: Console, trials: int = TRIALS) -> None:
    """Print how often 95 % intervals hold the truth."""
    expected = sum(len(population.methods) for population in (*PROMISED, *REPORTED)) * len(SIZES)
    progress = Console(stderr=True)
    cells = track(coverage_table(trials), f"{trials:,} trials", total=expected, console=progress, transient=True)
    found = {(cell.population, cell.method, cell.n): cell for cell in cells}
    headings = [f"n = {n}" for n in SIZES]
    table = Table("population", "method", *headings, "flagged skewed", box=None, header_style="dim")
    for population, method in dict.fromkeys((name, method) for name, method, _ in found):
        row = [found[population, method, n] for n in SIZES]
        # Wilson's interval is made for skewed shares, so that it has no such flag
        flagged = "" if method.startswith("wilson") else " / ".join(f"{cell.flagged:.0%}" for cell in row)
        table.add_row(population, method, *(f"{cell.coverage:.1%}" for cell in row), flagged)
    console.print(f"\nHow often a 95 % interval holds the truth, {trials:,} trials:")
    console.print(table)
    null = null_rejections(trials)
    console.print(
        f"No difference, clustered 0/1, n = 50: rejected by interval {null.interval:.1%}, "
        f"by interval and sign flips {null.interval_and_test:.1%}"
    )
    paired, apart = power(min(trials, POWER_TRIALS))
    console.print(f"A difference of 5 points on the same data: found paired {paired:.0%}, as two samples {apart:.0%}")


def main() -> None:
    """Print both."""
    console = Console(width=140)
    speed(console)
    coverage(console)


if __name__ == "__main__":
    main()
