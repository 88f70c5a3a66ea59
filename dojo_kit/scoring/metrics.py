"""Aggregates of a scored run: means over documents, each an `Estimate`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dojo_kit.stats.intervals import Bootstrap, Estimate

if TYPE_CHECKING:
    import pandas as pd

    from dojo_kit.scoring.run import Recipe, ScoredRun

_DOCUMENT_METRICS = {
    "overall_extraction_score": "overall",
    "field_presence": "field_presence",
    "schema_valid": "schema_valid",
    "overall_verified_precision": "verified_precision",
    "category_presence": "category_presence",
}


def bootstrap_of(recipe: Recipe) -> Bootstrap:
    """Return the resampling a recipe asks for."""
    return Bootstrap(recipe.n_resamples, recipe.seed, recipe.confidence)


def extraction_metrics(scored: ScoredRun) -> dict[str, Estimate]:
    """Return the composite metrics and those of every field.

    Composites are means over completed documents in which the metric is defined; when a row failed,
    ``overall_extraction_score_failed_as_zero`` counts failed documents as 0 beside them. Per field:
    ``{field}_score`` is the content score, ``{field}_f1`` the same number for lists, ``{field}_precision``
    the share of a list's items that match a label.

    Args:
        scored: A scored run. Its recipe gives seed and replicates.
    """
    boot = bootstrap_of(scored.recipe)
    documents = scored.documents
    metrics = {
        name: boot.mean(documents[column].to_numpy(dtype=float, na_value=float("nan")))
        for name, column in _DOCUMENT_METRICS.items()
    }
    failed = documents["status"] == "failed"
    if failed.any():
        as_zero = documents.loc[failed | documents["overall"].notna(), "overall"].fillna(0.0)
        metrics["overall_extraction_score_failed_as_zero"] = boot.mean(as_zero.to_numpy())
    review = documents["needs_review"].dropna()
    metrics["needs_judge_review"] = boot.mean(review.to_numpy(dtype=float))
    metrics.update(_field_metrics(scored.fields, boot))
    return {name: estimate for name, estimate in metrics.items() if estimate.n}


def _field_metrics(fields: pd.DataFrame, boot: Bootstrap) -> dict[str, Estimate]:
    metrics: dict[str, Estimate] = {}
    scored = fields[fields["score"].notna()]
    for name, group in scored.groupby("field", sort=False):
        score = boot.mean(group["score"].to_numpy())
        metrics[f"{name}_score"] = score
        if group["type"].iloc[0].startswith("entity_list"):
            metrics[f"{name}_f1"] = score
            metrics[f"{name}_precision"] = boot.mean(group["precision"].to_numpy())
    return metrics
