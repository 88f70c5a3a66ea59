"""Documents in which two runs differ, with what each of them answered."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from dojo_kit.analysis.measured import Measured, MetricInfo
from dojo_kit.records import ChainedRow, ExtractionRow, Row
from dojo_kit.scoring.run import ScoredRun
from dojo_kit.stats.significance import FLOAT_NOISE
from dojo_kit.text.names import document_key

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("key", "document", "a", "b", "change", "direction", "predicted_a", "predicted_b", "expected", "fields")


def changed_documents(a: Measured, b: Measured, info: MetricInfo) -> pd.DataFrame:
    """Return the documents in which a metric is not the same in both runs, those that got worst first.

    Args:
        a: The baseline.
        b: The other run.
        info: The metric.

    Returns:
        One row per document, see `COLUMNS`; ``change`` is positive when B is better. ``fields`` holds pairs of field
        and change, most changed first, where the metric is of a whole extraction.
    """
    import pandas as pd

    shared = a.documents.index.intersection(b.documents.index).sort_values()
    values = [run.values(info.name).loc[shared].to_numpy(dtype=float) for run in (a, b)]
    change = (values[1] - values[0]) * (1 if info.higher_is_better else -1)
    largest = float(np.nanmax(np.abs(values), initial=0.0))
    kept = np.flatnonzero(~np.isnan(change) & (np.abs(change) > FLOAT_NOISE * largest))
    keys = shared[kept]
    answers = [answers_of(run, info, keys) for run in (a, b)]
    whole = info.kind in ("headline", "composite")
    table = pd.DataFrame(
        {
            "key": keys,
            "document": b.documents.loc[keys, "document"].to_numpy(),
            "a": values[0][kept],
            "b": values[1][kept],
            "change": change[kept],
            "direction": np.where(change[kept] > 0, "better", "worse").astype(object),
            **{
                name: pd.Series(column, dtype=object)
                for name, column in (
                    ("predicted_a", [said for said, _ in answers[0]]),
                    ("predicted_b", [said for said, _ in answers[1]]),
                    ("expected", [mine or theirs for (_, theirs), (_, mine) in zip(*answers, strict=True)]),
                )
            },
            "fields": pd.Series(_changed_fields(a, b, keys) if whole else [()] * len(keys), dtype=object),
        },
        columns=list(COLUMNS),
    )
    return table.sort_values(["change", "key"], kind="stable", ignore_index=True)


def answers_of(run: Measured, info: MetricInfo, keys: pd.Index[Any]) -> list[tuple[str | None, str | None]]:
    """Return what a run answered and what was expected, as text, in the documents named.

    Args:
        run: The run.
        info: The metric in question: of a field, its answer; of a clause category, the labels of that category.
        keys: Keys of the documents.

    Returns:
        Per document answer and expectation; None where there is nothing to show.
    """
    import pandas as pd

    found = run.documents.loc[keys, ["predicted", "expected"]].astype(object)
    if isinstance(run.scored, ScoredRun) and (info.field or info.label):
        found = _of_field(run.scored, info.field) if info.field else _of_category(run.scored, info.label)
    elif info.field and run.run is not None:
        said = {document_key(row.document): _stored_answer(row, info.field) for row in run.run.rows}
        found = pd.DataFrame({"predicted": pd.Series(said, dtype=object), "expected": None})
    return [(_text(said), _text(wanted)) for said, wanted in found.reindex(keys).itertuples(index=False, name=None)]


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _of_field(scored: ScoredRun, field: str) -> pd.DataFrame:
    rows = scored.frame("fields", ["document", "field", "predicted", "expected"])
    rows = rows[rows["field"] == field]
    return rows.set_index(rows["document"].map(document_key).astype(object))[["predicted", "expected"]]


def _of_category(scored: ScoredRun, category: str) -> pd.DataFrame:
    rows = scored.frame("spans", ["document", "category", "text"])
    rows = rows[rows["category"] == category]
    texts = rows.groupby(rows["document"].map(document_key).astype(object))["text"].agg("; ".join)
    return texts.to_frame("expected").assign(predicted=None)[["predicted", "expected"]]


def _stored_answer(row: Row, field: str) -> str | None:
    said = row.predicted if isinstance(row, ExtractionRow) else row.extracted if isinstance(row, ChainedRow) else None
    answer = said.get(field) if isinstance(said, Mapping) and not row.failed else None
    if answer is None or isinstance(answer, str):
        return answer
    return json.dumps(answer, ensure_ascii=False, default=str)


def _changed_fields(a: Measured, b: Measured, keys: pd.Index[Any]) -> list[tuple[tuple[str, float], ...]]:
    scores = {info.field: name for name, info in a.metrics.items() if info.measure == "score" and name in b.metrics}
    if not scores:
        return [()] * len(keys)
    moved = np.column_stack(
        [(b.values(name).loc[keys] - a.values(name).loc[keys]).to_numpy(dtype=float) for name in scores.values()]
    )
    fields = list(scores)
    found = []
    for row in moved:
        changed = [(field, float(step)) for field, step in zip(fields, row, strict=True) if abs(step) > FLOAT_NOISE]
        found.append(tuple(sorted(changed, key=lambda pair: -abs(pair[1]))))
    return found
