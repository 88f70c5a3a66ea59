"""The factuality audit: of everything the model returned, how much is true.

A value is true when it matches a label or stands in the document. The audit reads the items frame; it needs a run
scored with documents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from dojo_kit.errors import InputError, closest
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
        For documents whose text was not given, what depends on it is missing.

    Raises:
        InputError: The run was scored without documents.
    """
    if measure not in ("window", "bag"):
        raise InputError(f"measure is {measure!r}", expected="'window' or 'bag'")
    if not scored.recipe.grounding:
        raise InputError("the run was scored without document texts", expected="score_run(run, labels, documents)")
    items = scored.items
    stands = items["grounded" if measure == "window" else "grounded_bag"]
    matches = items["true"] if measure == "window" else items["true"] | items["matched_label"].notna()
    counted = items[["document", "field"]].assign(
        n_predicted=1,
        matched_gt=items["matched_label"].notna(),
        verified_in_doc=stands.fillna(False),
        true_items=stands.fillna(False) | matches.fillna(False),
        doc_verification=stands.notna(),
    )
    grouped = counted.groupby(["document", "field"], sort=False)
    table = grouped[["n_predicted", "matched_gt", "verified_in_doc", "true_items"]].sum().astype("int64")
    table["hallucinated"] = table["n_predicted"] - table["true_items"]
    table["doc_verification"] = grouped["doc_verification"].all()
    known = table["doc_verification"].to_numpy(dtype=bool)
    unknown_counts = ["verified_in_doc", "true_items", "hallucinated"]
    table[unknown_counts] = table[unknown_counts].astype("Int64").where(table["doc_verification"])
    shares = (table["true_items"] / table["n_predicted"]).to_numpy(dtype=float, na_value=np.nan)
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
        ``alignment_precision`` (matched / predicted, over fields that have labels), ``verified_precision`` (true /
        predicted) and ``hallucination_rate``.

    Raises:
        InputError: The run was scored without documents, or has no such field.
    """
    fields = scored.frame("fields", ["document", "field", "score"])
    if field is not None and field not in set(fields["field"]):
        known = list(dict.fromkeys(fields["field"]))
        raise InputError(f"no field {field!r}{closest(field, known)}", expected=", ".join(known))
    table = audit_table(scored, measure=measure).merge(fields, on=["document", "field"], how="left")
    table = table[table["doc_verification"]]
    if field is not None:
        table = table[table["field"] == field]
    labelled = table["score"].notna()
    table = table.assign(
        aligned=table["matched_gt"].where(labelled, 0), compared=table["n_predicted"].where(labelled, 0)
    )
    names = ["n_predicted", "matched_gt", "true_items", "hallucinated", "aligned", "compared"]
    sums = table.groupby("document", sort=False)[names].sum()
    boot = bootstrap_of(scored.recipe)
    predicted = sums["n_predicted"].to_numpy(dtype=float)
    return {
        "n_items": int(predicted.sum()),
        "n_matched": int(sums["matched_gt"].sum()),
        "n_true": int(sums["true_items"].sum()),
        "alignment_precision": boot.ratio(sums["aligned"].to_numpy(float), sums["compared"].to_numpy(float)),
        "verified_precision": boot.ratio(sums["true_items"].to_numpy(float), predicted),
        "hallucination_rate": boot.ratio(sums["hallucinated"].to_numpy(float), predicted),
    }
