"""``make bench``: how long things take beside the peers that are installed, in one run on one machine.

Machines are noisy, so what counts is the ratio of two medians measured side by side, never a time alone.
Peers come with ``pip install --group bench``; one that is missing is named and left out.
"""

from __future__ import annotations

import os
import random
import statistics
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from dojo_kit import load_documents, load_labels, read_run, score_field, score_labels, score_list, score_run
from dojo_kit.samples import write_samples
from dojo_kit.stats.intervals import Bootstrap, _cached_counts
from dojo_kit.text import tokens as token_module
from dojo_kit.text.dates import find_dates
from dojo_kit.text.money import find_amounts
from dojo_kit.text.names import document_key
from tests import bench_rag, bench_simulate, bench_statistics

Job = Callable[[], object]
ROOT = Path(__file__).resolve().parent.parent
WORDS = "the licensee shall pay a royalty of five percent net sales within thirty days of each quarter".split()


def sentences(n: int, seed: int) -> list[str]:
    """Make n texts of 40 words."""
    rng = random.Random(seed)
    return [" ".join(rng.choices(WORDS, k=40)) for _ in range(n)]


def seconds(job: Job, *, budget: float = 3.0) -> float:
    """Median time of a job over up to 9 calls within a budget, after one call to warm up."""
    job()
    times: list[float] = []
    while len(times) < 9 and (not times or sum(times) < budget):
        start = time.perf_counter()
        job()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def clause_lists(n: int) -> tuple[Job, dict[str, Job]]:
    """Match n items to n labels of 40 words, tokens included."""
    items, labels = sentences(n, 1), sentences(n, 2)

    def ours() -> object:
        token_module.tokens.cache_clear()
        return score_list("entity_list:free_text", items, labels)

    peers: dict[str, Job] = {}
    if (autoevals := optional("autoevals.list")) is not None:
        scorer = autoevals.ListContains(pairwise_scorer=optional("autoevals.string").Levenshtein())
        peers["autoevals ListContains"] = lambda: scorer(items, labels)
    if n <= 10 and (anls := optional("anls_star")) is not None:
        peers["anls_star"] = lambda: anls.anls_score(labels, items)
    if n <= 10 and (stickler := optional("stickler.algorithms.hungarian")) is not None:
        matcher = stickler.HungarianMatcher(optional("stickler.comparators").LevenshteinComparator())
        peers["stickler HungarianMatcher"] = lambda: matcher.calculate_metrics(labels, items)
    return ours, peers


def dates() -> tuple[Job, dict[str, Job]]:
    """Read 400 dates in four styles."""
    rng = random.Random(3)
    days = [(rng.randint(1990, 2030), rng.randint(1, 12), rng.randint(1, 28)) for _ in range(100)]
    months = "January February March April May June July August September October November December".split()
    texts = [f"{y}-{m:02}-{d:02}" for y, m, d in days] + [f"{m}/{d}/{y}" for y, m, d in days]
    texts += [f"{months[m - 1]} {d}, {y}" for y, m, d in days] + [f"{d} {months[m - 1]} {y}" for y, m, d in days]

    def ours() -> object:
        clear_caches("dojo_kit.text.dates")
        return [find_dates(text) for text in texts]

    peers: dict[str, Job] = {}
    if (dateparser := optional("dateparser")) is not None:
        peers["dateparser"] = lambda: [dateparser.parse(text) for text in texts]
    if (dateutil := optional("dateutil.parser")) is not None:
        peers["dateutil (fills in today)"] = lambda: [dateutil.parse(text) for text in texts]
    return ours, peers


def amounts() -> tuple[Job, dict[str, Job]]:
    """Read 400 amounts in four styles."""
    rng = random.Random(4)
    values = [rng.randint(1, 10**7) / 100 for _ in range(100)]
    texts = [f"${v:,.2f}" for v in values] + [f"{v:.2f} USD" for v in values]
    texts += [f"EUR {v:,.2f}" for v in values] + [f"{v / 1000:.1f} million dollars" for v in values]

    def ours() -> object:
        clear_caches("dojo_kit.text.money")
        return [find_amounts(text) for text in texts]

    peers: dict[str, Job] = {}
    if (price_parser := optional("price_parser")) is not None:
        peers["price-parser (no scales)"] = lambda: [price_parser.Price.fromstring(text) for text in texts]
    return ours, peers


def mean_interval() -> tuple[Job, dict[str, Job]]:
    """Percentile interval of a mean over 509 units, 2,000 resamples, drawn anew."""
    from scipy.stats import bootstrap

    data = np.random.default_rng(0).random(509)

    def ours() -> object:
        _cached_counts.cache_clear()
        return Bootstrap().mean(data)

    def plain() -> object:
        rng = random.Random(42)
        means = sorted(sum(rng.choices(values, k=509)) / 509 for _ in range(2000))
        return means[49], means[1949]

    values = data.tolist()
    options = {"n_resamples": 2000, "method": "percentile", "vectorized": True}
    return ours, {
        "scipy.stats.bootstrap": lambda: bootstrap((data,), np.mean, rng=np.random.default_rng(42), **options),
        "loop over random.choices": plain,
    }


def fields() -> tuple[Job, dict[str, Job]]:
    """Score 300 names, each with its reason."""
    left, right = sentences(300, 5), sentences(300, 6)

    def ours() -> object:
        return [score_field("name", a[:60], b[:60]) for a, b in zip(left, right, strict=True)]

    peers: dict[str, Job] = {}
    if (autoevals := optional("autoevals")) is not None:
        scorer = autoevals.Levenshtein()
        peers["autoevals Levenshtein"] = lambda: [scorer(a[:60], b[:60]) for a, b in zip(left, right, strict=True)]
    return ours, peers


def labels() -> tuple[Job, dict[str, Job]]:
    """A million pairs of labels: all metrics with intervals, against the bare confusion matrix of scikit-learn."""
    rng = np.random.default_rng(0)
    names = np.array([f"family_{number:02}" for number in range(25)], dtype=object)
    codes = rng.integers(0, 25, 10**6)
    guesses = np.where(rng.random(10**6) < 0.8, codes, rng.integers(0, 25, 10**6))
    expected, predicted = names[codes].tolist(), names[guesses].tolist()
    sklearn = optional("sklearn.metrics")
    peers: dict[str, Job] = {}
    if sklearn:
        peers["scikit-learn confusion_matrix"] = lambda: sklearn.confusion_matrix(expected, predicted)
    return lambda: score_labels(expected, predicted).metrics, peers


def optional(module: str) -> Any:
    """Import a peer, or None where it is not installed."""
    try:
        return import_module(module)
    except ImportError:
        return None


def clear_caches(module: str) -> None:
    """Forget what a module's functions remember, so that nothing is timed twice for free."""
    for value in vars(import_module(module)).values():
        if hasattr(value, "cache_clear"):
            value.cache_clear()


def whole_runs(folder: Path) -> Iterator[tuple[str, Job]]:
    """Yield whole runs: of the sample, and of the public data where it is."""
    write_samples(folder)
    labels = load_labels(folder / "labels.json")
    run = read_run(sorted((folder / "runs").glob("extraction*.json"))[0])
    yield f"score_run, sample, {len(run)} documents", lambda: score_run(run, labels)
    real = Path(os.environ.get("DOJO_REAL_DATA", ROOT / ".." / "shared" / "data"))
    if not real.is_dir():
        return
    cuad, public = load_labels(real / "cuad"), read_run(real / "runs" / "081.json")

    def score_public() -> object:
        for module in ("tokens", "names", "dates", "money", "durations"):
            clear_caches(f"dojo_kit.text.{module}")
        return score_run(public, cuad, spans="first")

    scored = score_run(public, cuad, spans="first")

    def metrics() -> object:
        _cached_counts.cache_clear()
        return scored.metrics()

    yield "score_run, run 081 (217 of 509 with output), caches cleared", score_public
    yield "metrics() of it, 2,000 resamples", metrics


def grounding_rates(console: Console) -> None:
    """Print how many values of run 081 are grounded in their own contract and in a random other one."""
    real = Path(os.environ.get("DOJO_REAL_DATA", ROOT / ".." / "shared" / "data"))
    if not real.is_dir():
        return
    run, labels = read_run(real / "runs" / "081.json"), load_labels(real / "cuad")
    documents = dict(load_documents(real / "cuad" / "full_contract_txt.zip"))
    start = time.perf_counter()
    items = score_run(run, labels, documents, spans="first").items
    console.print(f"score_run with 510 texts: {time.perf_counter() - start:.1f} s")
    keys = [document_key(name) for name in items["document"].unique()]
    order = np.random.default_rng(0).permutation(len(keys))
    shifted = {keys[a]: documents[keys[b]] for a, b in zip(order, np.roll(order, 1), strict=True)}
    foreign = score_run(run, labels, shifted, spans="first").items
    rates = Table("grounded", "own contract", "another contract", box=None, header_style="dim")
    for column, name in (("grounded", "in one window"), ("grounded_bag", "anywhere (published)")):
        own, other = (frame[column].astype(float).mean() for frame in (items, foreign))
        rates.add_row(name, f"{own:.1%}", f"{other:.1%}")
    console.print(rates)


def main() -> None:
    """Print the table."""
    from tempfile import TemporaryDirectory

    jobs = {
        "10 x 10 clauses of 40 words": clause_lists(10),
        "30 x 30 clauses of 40 words": clause_lists(30),
        "400 dates": dates(),
        "400 amounts": amounts(),
        "mean with interval, n = 509": mean_interval(),
        "300 names": fields(),
        "1,000,000 label pairs, 25 labels": labels(),
    }
    table = Table("job", "dojo_kit", "peer", "its time", "ratio", box=None, header_style="dim")
    missing = [
        name for name in ("autoevals", "anls_star", "stickler", "dateparser", "price_parser") if not optional(name)
    ]
    console = Console(width=140)
    for name, (ours, peers) in track(jobs.items(), "measuring", console=Console(stderr=True), transient=True):
        mine = seconds(ours)
        for peer, job in (peers or {"none installed": None}).items():
            theirs = None if job is None else seconds(job)
            cells = ("", "") if theirs is None else (f"{theirs * 1000:,.2f} ms", f"{theirs / mine:,.1f} x")
            table.add_row(name, f"{mine * 1000:,.2f} ms", peer, *cells)
    with TemporaryDirectory() as folder:
        for name, job in whole_runs(Path(folder)):
            table.add_row(name, f"{seconds(job) * 1000:,.0f} ms", "", "", "")
    console.print(table)
    grounding_rates(console)
    bench_statistics.speed(console)
    bench_statistics.coverage(console)
    bench_rag.speed(console)
    bench_simulate.run(console)
    if missing:
        console.print(f"not installed and left out: {', '.join(missing)} (pip install --group bench)")


if __name__ == "__main__":
    main()
