"""The factuality audit: of everything the model returned, how much is true.

A value is true when it matches a label or stands in the document. The audit reads the items frame; it needs a run
scored with documents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from dojo_kit.errors import InputError
from dojo_kit.scoring.metrics import bootstrap_of
from dojo_kit.stats.intervals import Estimate

if TYPE_CHECKING:
    import pandas as pd

    from dojo_kit.scoring.run import ScoredRun

Measure = Literal["window", "bag"]


def audit_table(scored: ScoredRun, *, measure: Measure = "window") -> pd.DataFrame:
    """Count true and hallucinated values of every document and populated field.

    Args:
        scored: A run scored with documents.
        measure: ``window``: enough of a value's words stand close together in the document; ``bag``: they occur
            anywhere in it, as in published records, which also accepts much that comes from another contract.

    Returns:
        One row per document and field: n_predicted, matched_gt (matched one to one), verified_in_doc (standing in
        the document), true_items, hallucinated, verified_precision, hallucination_rate, doc_verification.
        Documents whose text was not given have no shares.

    Raises:
        InputError: The run was scored without documents.
    """
    if not scored.recipe.grounding:
        raise InputError("the run was scored without document texts", expected="score_run(run, labels, documents)")
    items = scored.items
    stands = items["grounded" if measure == "window" else "grounded_bag"]
    matches = items["matched_label"].notna() | (items["true"].fillna(False) & ~items["grounded"].fillna(True))
    counted = items[["document", "field"]].assign(
        n_predicted=1,
        matched_gt=items["matched_label"].notna(),
        verified_in_doc=stands.fillna(False),
        true_items=(stands.fillna(False) | matches),
        doc_verification=stands.notna(),
    )
    grouped = counted.groupby(["document", "field"], sort=False)
    table = grouped[["n_predicted", "matched_gt", "verified_in_doc", "true_items"]].sum().astype("int64")
    table["hallucinated"] = table["n_predicted"] - table["true_items"]
    table["doc_verification"] = grouped["doc_verification"].all()
    known = table["doc_verification"].to_numpy(dtype=bool)
    shares = (table["true_items"] / table["n_predicted"]).to_numpy(dtype=float)
    table["verified_precision"] = np.where(known, shares, np.nan)
    table["hallucination_rate"] = np.where(known, 1 - shares, np.nan)
    return table.reset_index()


def audit_sums(
    scored: ScoredRun, *, field: str | None = None, measure: Measure = "window"
) -> dict[str, Estimate | int]:
    """Sum the audit over documents: how many values, how many matched, how many true.

    Args:
        scored: A run scored with documents.
        field: Only this field.
        measure: As in `audit_table`.

    Returns:
        Counts ``n_items``, ``n_matched``, ``n_true`` and, as ratios of sums with intervals over documents,
        ``alignment_precision`` (matched / predicted), ``verified_precision`` (true / predicted) and
        ``hallucination_rate``.
    """
    table = audit_table(scored, measure=measure)
    table = table[table["doc_verification"]]
    if field is not None:
        table = table[table["field"] == field]
    sums = table.groupby("document", sort=False)[["n_predicted", "matched_gt", "true_items", "hallucinated"]].sum()
    boot = bootstrap_of(scored.recipe)
    predicted = sums["n_predicted"].to_numpy(dtype=float)
    return {
        "n_items": int(predicted.sum()),
        "n_matched": int(sums["matched_gt"].sum()),
        "n_true": int(sums["true_items"].sum()),
        "alignment_precision": boot.ratio(sums["matched_gt"].to_numpy(), predicted),
        "verified_precision": boot.ratio(sums["true_items"].to_numpy(), predicted),
        "hallucination_rate": boot.ratio(sums["hallucinated"].to_numpy(), predicted),
    }
