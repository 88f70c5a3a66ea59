"""Recomputes the stored scores of extraction runs, and of chained runs, from their rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Any

from dojo_kit.analysis.verify.diagnostics import recompute_diagnostics
from dojo_kit.analysis.verify.ledger import Resampled, Rounded, Table
from dojo_kit.analysis.verify.means import flags_of, mean_of, share_of, values_of
from dojo_kit.analysis.verify.reading import Node, RunRecord
from dojo_kit.tasks.handoff import published_handoff

NEEDS_LABELS = {
    "scores.diagnostics.date_": "needs the expected dates, which a run record does not hold",
    "scores.diagnostics.duration_": "needs the expected durations, which a run record does not hold",
    "scores.diagnostics.money_": "needs the expected amounts, which a run record does not hold",
    "scores.contracteval_kpis": "needs the labelled spans, which a run record does not hold",
    "scores.judge_calibration": "needs the file of judgments, which a run record does not hold",
}
"""Stored values no row can give, by the beginning of their name, and what is missing."""

_ROW_MEANS = {
    "overall_extraction_score": "overall_score",
    "field_presence": "field_presence",
    "schema_valid": "schema_valid",
    "overall_verified_precision": "overall_verified_precision",
    "category_presence": "category_presence",
}


def recompute_extraction(run: RunRecord) -> dict[str, Any]:
    """Recompute the scores of an extraction run.

    All means run over completed rows that hold the value. The tables of verified precision and hallucination
    rate are means of the rows' rates over every row that audited the field, and list the fields that were
    scored somewhere.

    Args:
        run: The record.

    Returns:
        Metric -> recomputed value, named as under ``scores``.
    """
    rows = run.completed
    scored = {name for row in rows for name in row.child("field_scores").numbers()}
    return {
        **{name: mean_of(rows, key) for name, key in _ROW_MEANS.items()},
        "overall_extraction_score_ci": Resampled(values_of(rows, "overall_score")),
        "per_field": _field_means(row.child("field_scores") for row in rows),
        "entity_list_f1": _field_means(row.child("entity_list_f1") for row in rows),
        "verified_precision": _audit_means(rows, "verified_precision", scored),
        "hallucination_rate": _audit_means(rows, "hallucination_rate", scored),
        "diagnostics": recompute_diagnostics(rows),
    }


def recompute_chained(run: RunRecord) -> dict[str, Any]:
    """Recompute the scores of a chained run: a sorter, then an extractor.

    A completed row whose extractor failed holds zeros and counts.
    """
    sorters = [row.child("sorter") for row in run.completed]
    extractors = [row.child("extractor_scores") for row in run.completed]
    return {
        "sorter": {
            "exact_match": share_of(sorters, "doc_type_ok"),
            "exact_match_ci": Resampled(flags_of(sorters, "doc_type_ok")),
            "subtype_accuracy": share_of(sorters, "subtype_ok"),
            "subtype_accuracy_ci": Resampled(flags_of(sorters, "subtype_ok")),
            "confidence": mean_of(sorters, "confidence"),
        },
        "extractor": {
            **{name: mean_of(extractors, key) for name, key in _ROW_MEANS.items()},
            "overall_extraction_score_ci": Resampled(values_of(extractors, "overall_score")),
        },
        "ablation": _ablation(run.completed),
    }


def _ablation(rows: Sequence[Node]) -> dict[str, Any]:
    """Compare the extractor under the predicted and the true subtype, over rows that hold both scores."""
    pairs = [
        (predicted, true)
        for row in rows
        if (predicted := row.child("extractor_scores").number("overall_score")) is not None
        and (true := row.child("extractor_gt_scores").number("overall_score")) is not None
    ]
    found: dict[str, Any] = published_handoff(pairs)
    return found | {"sorter_loss_pp": Rounded(found["sorter_loss_pp"], 2)} if found else Table()


def _field_means(tables: Iterable[Node]) -> Table:
    by_field: dict[str, list[float]] = {}
    for table in tables:
        for name, value in table.numbers().items():
            by_field.setdefault(name, []).append(value)
    return Table({name: fmean(values) for name, values in by_field.items()})


def _audit_means(rows: Iterable[Node], rate: str, scored: set[str]) -> Table:
    by_field: dict[str, list[float]] = {}
    for row in rows:
        for name, audit in row.child("entity_list_audit").children():
            if name in scored and (value := audit.number(rate)) is not None:
                by_field.setdefault(name, []).append(value)
    return Table({name: fmean(values) for name, values in by_field.items()})
