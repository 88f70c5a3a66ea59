"""Aggregates of a scored run: means over documents, each an `Estimate`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from dojo_kit.stats.intervals import Bootstrap, Estimate

if TYPE_CHECKING:
    import pandas as pd

    from dojo_kit.scoring.run import Recipe, ScoredRun

_NOTHING_SCORED = "no completed document has a label"
_NO_DOCUMENTS = "no document texts were given"

_DOCUMENT_METRICS = {
    "overall_extraction_score": ("overall", _NOTHING_SCORED),
    "field_presence": ("field_presence", _NOTHING_SCORED),
    "schema_valid": ("schema_valid", _NOTHING_SCORED),
    "category_presence": ("category_presence", _NOTHING_SCORED),
    "overall_verified_precision": ("verified_precision", _NO_DOCUMENTS),
    "needs_judge_review": ("needs_review", _NOTHING_SCORED),
}
"""Metric -> column of the documents frame, and why it may be undefined."""


def bootstrap_of(recipe: Recipe) -> Bootstrap:
    """Return the resampling a recipe asks for."""
    return Bootstrap(recipe.n_resamples, recipe.seed, recipe.confidence)


def extraction_metrics(scored: ScoredRun) -> dict[str, Estimate]:
    """Return the composite metrics and those of every field.

    Composites are means over completed documents in which the metric is defined; when a row failed,
    ``overall_extraction_score_failed_as_zero`` counts failed documents that have labels as 0 beside them. Per field:
    ``{field}_score`` is the content score, ``{field}_f1`` the same number for lists, ``{field}_precision`` the share
    of a list's items that match a label, ``{field}_verified_precision`` and ``{field}_hallucination_rate`` the
    means over documents of the share of values that are true (they match a label or stand in the document) and are
    not. With an embedder ``..._string`` is the same score by words alone. What is undefined says why.

    Args:
        scored: A scored run. Its recipe gives seed and replicates.
    """
    boot = bootstrap_of(scored.recipe)
    documents, fields = scored.documents, scored.fields
    metrics = {
        name: _or_why(boot.mean(documents[column].to_numpy(dtype=float, na_value=float("nan"))), why)
        for name, (column, why) in _DOCUMENT_METRICS.items()
    }
    failed = documents["status"] == "failed"
    if failed.any():
        counted = documents["overall"].notna() | (failed & (documents["n_fields"] > 0))
        as_zero = documents.loc[counted, "overall"].fillna(0.0).to_numpy()
        metrics["overall_extraction_score_failed_as_zero"] = _or_why(boot.mean(as_zero), _NOTHING_SCORED)
    if scored.recipe.embedder != "none":
        by_words = fields.groupby("document", sort=False)["string_score"].mean().to_numpy()
        metrics["overall_extraction_score_string"] = _or_why(boot.mean(by_words), _NOTHING_SCORED)
    metrics.update(_field_metrics(scored, boot))
    return metrics


def _or_why(estimate: Estimate, why: str) -> Estimate:
    return estimate if estimate.n else replace(estimate, note=why)


def _field_metrics(scored: ScoredRun, boot: Bootstrap) -> Iterator[tuple[str, Estimate]]:
    truth = verified_shares(scored) if scored.recipe.grounding else None
    for name, group in scored.fields.groupby("field", sort=False):
        score = _or_why(boot.mean(group["score"].to_numpy()), "nothing is expected of this field")
        yield f"{name}_score", score
        if scored.recipe.embedder != "none":
            yield f"{name}_score_string", _or_why(boot.mean(group["string_score"].to_numpy()), score.note)
        if group["type"].iloc[0].startswith("entity_list"):
            yield f"{name}_f1", score
            yield f"{name}_precision", _or_why(boot.mean(group["precision"].to_numpy()), score.note)
        if truth is not None:
            shares = truth.loc[truth["field"] == name, "true"].to_numpy(dtype=float)
            none = "the model never filled this field in a document whose text was given"
            yield f"{name}_verified_precision", _or_why(boot.mean(shares), none)
            yield f"{name}_hallucination_rate", _or_why(boot.mean(1 - shares), none)


def verified_shares(scored: ScoredRun) -> pd.DataFrame:
    """Return the share of true values of each document and populated field, in document order.

    Args:
        scored: A run scored with documents.
    """
    items = scored.frame("items", ["document", "field", "true"])
    checked = items[items["true"].notna()]
    shares = checked.assign(true=checked["true"].astype(float)).groupby(["document", "field"], sort=False)
    return shares["true"].mean().reset_index()
