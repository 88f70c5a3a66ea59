"""Tables of labels for the tests of query-level scoring."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from dojo_kit.rag.tasks import TASKS, TaskName

CHUNK_COLUMNS = ["record_uuid", "chunk_id", "chunk_rank", *TASKS["retrieval"].labels]


def chunks(*rows: tuple[Any, ...], **columns: list[Any]) -> pd.DataFrame:
    """Retrieval rows: query, chunk, rank, relevance, sufficiency, misleading."""
    return pd.DataFrame(rows, columns=CHUNK_COLUMNS, dtype=object).assign(**columns)


def panel(query: str, relevant: str, sufficient: str | None = None, misleading: str | None = None) -> pd.DataFrame:
    """One query's chunks at ranks 1, 2, ... from labels such as ``010``; ``.`` leaves a rank out, ``?`` a label."""
    sufficient, misleading = sufficient or relevant, misleading or "0" * len(relevant)
    rows = []
    for rank, labels in enumerate(zip(relevant, sufficient, misleading, strict=True), start=1):
        if "." not in labels:
            blank = "?" in labels
            rows.append((query, f"{query}c{rank}", rank, *("" if blank else int(label) for label in labels)))
    return chunks(*rows)


def answers(task: TaskName, *rows: str, **columns: list[Any]) -> pd.DataFrame:
    """Grounding or generation rows from labels such as ``10010``; queries are q0, q1, ..."""
    labels = pd.DataFrame([list(map(int, row)) for row in rows], columns=list(TASKS[task].labels))
    return labels.assign(record_uuid=[f"q{at}" for at in range(len(rows))], **columns)


def random_panels(n_queries: int, k: int, seed: int = 0, **columns: Any) -> pd.DataFrame:
    """Complete panels of independent labels that keep the rules; text throughout, as read from a file."""
    rng = np.random.default_rng(seed)
    n = n_queries * k
    query, rank = np.divmod(np.arange(n), k)
    relevant = rng.random(n) < 0.5
    sufficient = relevant & (rng.random(n) < 0.3)
    misleading = ~sufficient & (rng.random(n) < 0.1)
    names = np.char.mod("q%06d", query)
    return pd.DataFrame(
        {
            "record_uuid": names,
            "chunk_id": np.char.add(names, np.char.mod("c%d", rank)),
            "chunk_rank": np.char.mod("%d", rank + 1),
            "topically_relevant": np.where(relevant, "1", "0"),
            "evidence_sufficient": np.where(sufficient, "1", "0"),
            "misleading": np.where(misleading, "1", "0"),
            **columns,
        }
    )
