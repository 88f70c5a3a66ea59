"""Extractions by document: scored here, or with the scores stored in their rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from dojo_kit.analysis.measured.values import MetricInfo, MetricTable
from dojo_kit.records import Run
from dojo_kit.scoring.fields import EXACT, MISS
from dojo_kit.scoring.metrics import verified_shares
from dojo_kit.tasks.extraction import number_of
from dojo_kit.text.names import document_key

if TYPE_CHECKING:
    import pandas as pd

    from dojo_kit.scoring.run import ScoredRun

HEADLINE = "overall_extraction_score"

_COMPOSITES = {
    HEADLINE: ("overall", True),
    "field_presence": ("field_presence", True),
    "schema_valid": ("schema_valid", True),
    "category_presence": ("category_presence", True),
    "overall_verified_precision": ("verified_precision", True),
    "needs_judge_review": ("needs_review", False),
}
"""Metric -> column of the documents frame, and whether more is better."""

_STORED = {
    HEADLINE: "overall_score",
    "field_presence": "field_presence",
    "schema_valid": "schema_valid",
    "category_presence": "category_presence",
    "overall_verified_precision": "overall_verified_precision",
}
"""Metric -> name in stored rows."""


def scored_documents(scored: ScoredRun) -> pd.DataFrame:
    """Return one row per document of a scored extraction, by key.

    Args:
        scored: The scored run.
    """
    documents = scored.documents
    status = documents["status"].astype(object)
    status = status.where(status.isin(("scored", "failed")), "unscored")
    frame = document_frame(documents["document"].tolist(), status.tolist())
    frame["expects"] = _keyed(documents)["n_fields"].fillna(0) > 0
    return frame


def document_frame(names: Iterable[str], status: Iterable[str]) -> pd.DataFrame:
    """Return a frame of documents that have no label, sorted by key."""
    import pandas as pd

    listed = list(names)
    keys = pd.Index([document_key(name) for name in listed], name="key", dtype=object)
    frame = pd.DataFrame({"document": listed, "status": list(status)}, index=keys, dtype=object)
    frame["predicted"] = frame["expected"] = pd.Series(None, index=keys, dtype=object)
    frame["cluster"] = keys
    frame["confidence"] = np.nan
    frame["expects"] = True
    return frame.sort_index(kind="stable")


def scored_metrics(scored: ScoredRun, keys: pd.Index[Any]) -> MetricTable:
    """Return every metric of a scored extraction by document.

    Args:
        scored: The scored run.
        keys: Keys of its documents, sorted.
    """
    table = MetricTable(keys)
    documents = _keyed(scored.documents)
    for name, (column, higher) in _COMPOSITES.items():
        table.add(MetricInfo(name, "composite", higher), documents[column])
    fields = _keyed(scored.fields)
    if scored.recipe.embedder != "none":
        by_words = fields.groupby(level=0)["string_score"].mean()
        table.add(MetricInfo(f"{HEADLINE}_string", "composite"), by_words)
    _add_fields(table, scored, fields)
    _add_pooled(table, fields)
    _add_categories(table, scored)
    return table


def _keyed(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame indexed by document key."""
    names = frame["document"]
    keys = {name: document_key(name) for name in names.unique()}
    return frame.set_index(names.map(keys).astype(object).rename("key"))


def _add_fields(table: MetricTable, scored: ScoredRun, fields: pd.DataFrame) -> None:
    truth = _keyed(verified_shares(scored)) if scored.recipe.grounding else None
    for field, group in fields.groupby("field", sort=False):
        name = str(field)
        table.add(MetricInfo(f"{name}_score", "field", field=name, measure="score"), group["score"])
        if group["type"].iloc[0].startswith("entity_list"):
            info = MetricInfo(f"{name}_precision", "field", field=name, measure="precision")
            table.add(info, group["precision"])
        if truth is not None:
            shares = truth.loc[truth["field"] == field, "true"].astype(float)
            for measure, higher, values in (
                ("verified_precision", True, shares),
                ("hallucination_rate", False, 1 - shares),
            ):
                table.add(MetricInfo(f"{name}_{measure}", "field", higher, name, measure=measure), values)


def _add_pooled(table: MetricTable, fields: pd.DataFrame) -> None:
    scored = fields[fields["score"].notna()]
    n_fields = scored.groupby(level=0).size()
    for name, flag, higher in (("field_exact_rate", EXACT, True), ("field_miss_rate", MISS, False)):
        of_flag = (scored["flag"] == flag).groupby(level=0).sum()
        table.add(MetricInfo(name, "pooled", higher, measure=name), of_flag, n_fields)
    lists = scored[scored["type"].str.startswith("entity_list")]
    _add_list_counts(table, lists, "list", "")
    for field, group in lists.groupby("field", sort=False):
        _add_list_counts(table, group, str(field), str(field))


def _add_list_counts(table: MetricTable, lists: pd.DataFrame, prefix: str, field: str) -> None:
    """Add pooled precision, recall and F1.

    A label can be matched without an item of its own, so F1 pools both sides: matched items and labels over items and
    labels. It is 2TP / (2TP + FP + FN) wherever every matched label has its own item.
    """
    names = ["n_predicted", "n_expected", "n_matched_items", "n_matched_labels"]
    sums = lists[names].astype(float).groupby(level=0).sum()
    predicted, expected, items, labels = (sums[name] for name in names)
    # nothing predicted at all, though labels were there, is a precision of 0, as in a single list
    listed = predicted if predicted.sum() > 0 else expected
    for measure, numerators, denominators, counts in (
        ("micro_precision", items, listed, False),
        ("micro_recall", labels.where(expected > 0), expected, True),
        ("micro_f1_joint", items + labels, predicted + expected, False),
    ):
        info = MetricInfo(f"{prefix}_{measure}", "pooled", field=field, measure=measure, counts_failures=counts)
        table.add(info, numerators, denominators)


def _add_categories(table: MetricTable, scored: ScoredRun) -> None:
    spans = _keyed(scored.frame("spans", ["document", "category", "status"]))
    found = spans["status"] == "matched"
    for category, group in spans.groupby("category", sort=True):
        of_document = found[spans["category"] == category].groupby(level=0).sum()
        info = MetricInfo(f"recall:{category}", "class", label=str(category), measure="recall")
        table.add(info, of_document, group.groupby(level=0).size())


def scored_labels(scored: ScoredRun) -> pd.Series[Any]:
    """Return a hash of what was expected of each document with an answer, whatever the answer was, by key.

    Of a list that is every label. Of a single value it is whether any was labelled, and the label where only the first
    of each category counts: where all count, the one on record is that nearest to the answer.

    Args:
        scored: The scored run.
    """
    import pandas as pd

    fields = _keyed(scored.frame("fields", ["document", "field", "type", "expected", "n_expected"]))
    single = fields[(fields["n_expected"] > 0) & ~fields["type"].str.startswith("entity_list")]
    labels = single["expected"] if scored.recipe.spans == "first" else single["expected"].notna().astype(str)
    spans = _keyed(scored.frame("spans", ["document", "field", "category", "text"])).fillna("")
    lines = pd.concat(
        [
            single["field"].astype(object) + "\x1f" + labels.fillna("").astype(object),
            spans["field"].astype(object) + "\x1f" + spans["category"].astype(object) + "\x1f" + spans["text"],
            pd.Series("", index=fields.index.unique(), dtype=object),
        ]
    )
    hashes: pd.Series[Any] = lines.groupby(level=0).agg(_hash)
    return hashes


def single_answers(scored: ScoredRun) -> pd.DataFrame:
    """Return answer and nearest label of every single value, by key and field.

    Args:
        scored: The scored run.
    """
    fields = _keyed(scored.frame("fields", ["document", "field", "type", "predicted", "expected", "n_expected"]))
    single = fields[(fields["n_expected"] > 0) & ~fields["type"].str.startswith("entity_list")]
    return single.set_index("field", append=True)[["predicted", "expected"]].fillna("")


def _hash(parts: Iterable[str]) -> str:
    return sha256("\x1e".join(sorted(parts)).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def stored_documents(run: Run) -> pd.DataFrame:
    """Return one row per document of a run with stored scores."""
    status = [
        "failed" if row.failed else "unscored" if np.isnan(_headline(row.stored)) else "scored" for row in run.rows
    ]
    return document_frame([row.document for row in run.rows], status)


def _headline(stored: Mapping[str, Any]) -> float:
    return number_of(stored, _STORED[HEADLINE])


def stored_metrics(run: Run, keys: pd.Index[Any]) -> MetricTable:
    """Return the scores stored in the rows of an extraction run; a failed row has none.

    Args:
        run: The run.
        keys: Keys of its documents, sorted.
    """
    import pandas as pd

    table = MetricTable(keys)
    rows = {document_key(row.document): {} if row.failed else row.stored for row in run.rows}
    for name, stored in _STORED.items():
        table.add(MetricInfo(name, "composite"), pd.Series({key: number_of(row, stored) for key, row in rows.items()}))
    scores = {key: field_scores(row) for key, row in rows.items()}
    for field in sorted({name for found in scores.values() for name in found}):
        values = pd.Series({key: number_of(found, field) for key, found in scores.items()})
        table.add(MetricInfo(f"{field}_score", "field", field=field, measure="score"), values)
    return table


def field_scores(stored: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the scores by field stored in a row, wherever it keeps them; empty without any."""
    for place in (stored, stored.get("extractor_scores"), stored.get("scores")):
        found = place.get("field_scores") if isinstance(place, Mapping) else None
        if isinstance(found, Mapping):
            return found
    return {}
