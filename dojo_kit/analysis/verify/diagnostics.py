"""Recomputes the diagnostics of an extraction run that need no labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Any

from dojo_kit.analysis.verify.ledger import Table
from dojo_kit.analysis.verify.reading import Node
from dojo_kit.schema import document_class

_MACRO_FIELD = "key_obligations"
_COUNTS = ("matched", "n_predicted", "n_expected")


def recompute_diagnostics(rows: Sequence[Node]) -> dict[str, Any]:
    """Recompute error decomposition, presence, list quality and span-count drift.

    The macro ``list_*`` values are those of the obligations, ``list_f1`` being the mean of the documents' F1;
    ``list_micro_*`` sum the counts of all list fields.

    Args:
        rows: The completed rows.

    Returns:
        Metric -> recomputed value, named as under ``scores.diagnostics``.
    """
    scores = _scores_by_field(rows)
    parts = _parts([score for values in scores.values() for score in values])
    lists = _lists_by_field(rows)
    return {
        "n_fields_scored": sum(len(values) for values in scores.values()),
        **{f"field_{part}": value for part, value in parts.items()},
        "error_decomposition": Table({name: Table(_parts(values)) for name, values in scores.items()}),
        "field_presence_per_field": _presence(rows),
        **_list_means(lists),
        **_list_sums([entry for entries in lists.values() for entry in entries]),
        **_drift(lists),
    }


def _scores_by_field(rows: Iterable[Node]) -> dict[str, list[float]]:
    by_field: dict[str, list[float]] = {}
    for row in rows:
        for name, score in row.child("field_scores").numbers().items():
            by_field.setdefault(name, []).append(score)
    return by_field


def _parts(scores: Sequence[float]) -> dict[str, float | None]:
    """Share of exact, partial and missed fields."""
    n = len(scores)
    exact, missed = sum(s >= 1 for s in scores), sum(s <= 0 for s in scores)
    counts = {"exact_rate": exact, "partial_rate": n - exact - missed, "miss_rate": missed}
    return {name: count / n if n else None for name, count in counts.items()}


def _presence(rows: Sequence[Node]) -> Table:
    """Share of documents with a value, over all contract fields, scored or not."""
    answers = [answer if isinstance(answer := row.data.get("predicted"), dict) else {} for row in rows]
    fields = document_class("contract").fields if answers else ()
    return Table({name: fmean(bool(answer.get(name)) for answer in answers) for name in fields})


def _lists_by_field(rows: Iterable[Node]) -> dict[str, list[Node]]:
    by_field: dict[str, list[Node]] = {}
    for row in rows:
        for name, entry in row.child("entity_list_scores").children():
            by_field.setdefault(name, []).append(entry)
    return by_field


def _list_means(lists: dict[str, list[Node]]) -> dict[str, Any]:
    means: dict[str, Any] = {}
    for metric, table in (("precision", "precision"), ("recall", "recall"), ("f1", "raw_f1")):
        values = {
            name: [value for entry in entries if (value := entry.number(metric)) is not None]
            for name, entries in lists.items()
        }
        by_field = {name: fmean(found) for name, found in values.items() if found}
        means[f"entity_list_{table}"] = Table(by_field)
        means[f"list_{metric}"] = by_field.get(_MACRO_FIELD)
    return means


def _list_sums(entries: Sequence[Node]) -> dict[str, Any]:
    matched, n_predicted, n_expected = (sum(entry.count(key) for entry in entries) for key in _COUNTS)
    total = n_predicted + n_expected
    return {
        "list_micro_matched": matched,
        "list_micro_n_predicted": n_predicted,
        "list_micro_n_expected": n_expected,
        "list_micro_precision": matched / n_predicted if n_predicted else None,
        "list_micro_recall": matched / n_expected if n_expected else None,
        "list_micro_f1": 2 * matched / total if total else None,
    }


def _drift(lists: dict[str, list[Node]]) -> dict[str, Any]:
    """Predicted minus labelled items, per document and list field."""
    deltas = {
        name: [entry.count("n_predicted") - entry.count("n_expected") for entry in entries]
        for name, entries in lists.items()
    }
    pooled = [delta for values in deltas.values() for delta in values]
    return {
        "span_count_n_docs": len(pooled),
        "span_count_mae": fmean(map(abs, pooled)) if pooled else None,
        "span_count_signed_mean": fmean(pooled) if pooled else None,
        "span_count_mae_per_field": Table({name: fmean(map(abs, d)) for name, d in deltas.items()}),
        "span_count_signed_mean_per_field": Table({name: fmean(d) for name, d in deltas.items()}),
    }
