"""The what-if part of ``make bench``: a corpus of a million rows, and committees of 508 documents.

Run alone with ``python -m tests.bench_simulate``.
"""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table

from dojo_kit.runs.corpus_files import load_corpus, write_corpus
from dojo_kit.simulate import Corpus, committee, escalate, summarise, votes_of
from dojo_kit.simulate.corpus import COLUMNS
from dojo_kit.simulate.corpus_summary import SUMMARY_COLUMNS
from dojo_kit.vocabulary import vocabulary

REASON = "The title names a license and the operative clauses grant one; supply obligations are ancillary to it. " * 3


def synthetic(n_runs: int, n_documents: int) -> Corpus:
    """Make a corpus of runs over one set of documents, nine in ten answers of which are right."""
    rng = np.random.default_rng(0)
    n = n_runs * n_documents
    labels = [key for key in vocabulary("contract_family").keys if key != "other"]
    run, document = np.repeat(np.arange(n_runs), n_documents), np.tile(np.arange(n_documents), n_runs)
    truth = (document * 7) % len(labels)
    vote = np.where(rng.random(n) < 0.9, truth, rng.integers(0, len(labels), size=n))
    columns: dict[str, Any] = {
        "run_id": _named(run, [f"{i:04d}" for i in range(n_runs)]),
        "task": _named(np.zeros(n, dtype=int), ["subtype"]),
        "experiment": _named(run // 2, [f"experiment {i}" for i in range(n_runs)]),
        "model": _named(run % 8, [f"model {i}" for i in range(8)]),
        "prompt": _named(run % 13, [f"v{i}" for i in range(13)]),
        "settings": _named(np.zeros(n, dtype=int), ["0"]),
        "document": _named(document, [f"document {i}.txt" for i in range(n_documents)]),
        "vote": _named(vote, labels),
        "expected": _named(truth, labels),
        "confidence": rng.random(n),
        "named": _named(np.zeros(n, dtype=int), ["license\nsupply"]),
        "reasoning": np.full(n, REASON, dtype=object),
        "failed": rng.random(n) < 0.02,
    }
    flags = {name: np.zeros(n, dtype=bool) for name, kind in COLUMNS.items() if kind == "bool"}
    frame = pd.DataFrame({**flags, **columns})[list(COLUMNS)]
    return Corpus(frame)


def _named(codes: Any, names: list[str]) -> pd.Categorical:
    return pd.Categorical.from_codes(codes, categories=names)


def measure(job: Callable[[], object]) -> float:
    """Seconds a job takes once."""
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


def run(console: Console) -> None:
    """Print how long summaries and simulations take, and the most memory the process ever held."""
    table = Table("what-if", "seconds", "promised", box=None, header_style="dim")
    small = votes_of(synthetic(32, 508), "subtype")
    committee(small)
    table.add_row("committees, 508 documents x 8 sizes", f"{measure(lambda: committee(small)):.2f}", "1")
    table.add_row("escalation, 508 documents x 9 shares", f"{measure(lambda: escalate(small)):.2f}", "")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "corpus.parquet"
        write_corpus(synthetic(1000, 1000), path)
        before = _peak_gigabytes()
        table.add_row(
            "summary of a file of 1,000,000 rows",
            f"{measure(lambda: summarise(load_corpus(path, columns=SUMMARY_COLUMNS))):.2f}",
            "10",
        )
        without = [name for name in COLUMNS if name != "reasoning"]
        table.add_row(
            "votes of a file of 1,000,000 rows",
            f"{measure(lambda: votes_of(load_corpus(path, columns=without), 'subtype')):.2f}",
            "",
        )
    console.print(table)
    console.print(f"most memory held: {_peak_gigabytes():.2f} GB ({before:.2f} GB to write the file)", style="dim")


def _peak_gigabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2


if __name__ == "__main__":
    run(Console())
