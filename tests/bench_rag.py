"""The query-level part of ``make bench``: how long scoring takes, and how much memory."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parent / "rag"))

from label_tables import random_panels

from dojo_kit.rag import annotator_agreement, score_rag

QUERIES, K = 100_000, 10


def _panels() -> pd.DataFrame:
    return random_panels(QUERIES, K)


def _with_documents(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(document=frame["record_uuid"].str[:-1])


def _with_gaps(frame: pd.DataFrame) -> pd.DataFrame:
    """Leave out one chunk in five."""
    kept = np.random.default_rng(1).random(len(frame)) > 0.2
    return frame[kept].assign(n_retrieved_chunks=str(K))


def _judged_thrice(frame: pd.DataFrame) -> pd.DataFrame:
    """The first 10,000 queries, each chunk judged by three annotators who err now and then."""
    few, rng = frame.head(10_000 * K), np.random.default_rng(2)
    copies = []
    for who in ("ann", "bob", "cat"):
        flipped = rng.random(len(few)) < 0.05
        label = np.where(flipped, np.where(few["misleading"] == "1", "0", "1"), few["misleading"])
        copies.append(few.assign(annotator_id=who, misleading=label))
    return pd.concat(copies)


CASES = {
    "complete panels": lambda: score_rag(_panels(), "retrieval"),
    "grouped by document": lambda: score_rag(_with_documents(_panels()), "retrieval", group_by="document"),
    "one chunk in five missing, bounds": lambda: score_rag(_with_gaps(_panels()), "retrieval", on_incomplete="bounds"),
    "10,000 queries, three annotators": lambda: score_rag(
        _judged_thrice(_panels()), "retrieval", on_violation="as_is", tie="negative"
    ),
    "the same, agreement": lambda: annotator_agreement(_judged_thrice(_panels()), "retrieval"),
    "making the table (part of all of these)": _panels,
}


def measure(name: str) -> None:
    """Run one case and print its seconds, those of the processor, and the peak of memory in GB."""
    start, busy = time.perf_counter(), time.process_time()
    CASES[name]()
    print(
        time.perf_counter() - start,
        time.process_time() - busy,
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
    )


def speed(console: Console) -> None:
    """Print how long every case takes, each in a process of its own, so that its memory is its own."""
    table = Table(f"{QUERIES:,} queries x {K} chunks, with intervals", "time", "processor", "peak memory", box=None)
    for name in CASES:
        code = f"from tests.bench_rag import measure; measure({name!r})"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        seconds, busy, memory = map(float, done.stdout.split())
        table.add_row(name, f"{seconds:.1f} s", f"{busy:.1f} s", f"{memory:.2f} GB")
    console.print(table)


if __name__ == "__main__":
    speed(Console(width=140))
