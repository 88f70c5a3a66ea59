"""Recomputes row counts and the fingerprint of the documents a record was scored on."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import Any

from dojo_kit.analysis.verify.ledger import Unknown
from dojo_kit.analysis.verify.reading import RunRecord

_CONTRACT_TASKS = ("contract_entity_extraction", "chained_sorter_extractor", "subtype_classification")


def recompute_counts(run: RunRecord) -> dict[str, int]:
    """Count the rows, named as at the top of a record."""
    return {"n_rows": len(run.rows), "n_ok": len(run.completed), "n_error": len(run.failed)}


def recompute_surface(run: RunRecord) -> dict[str, Any]:
    """Recompute what ``data_source`` says about the documents: how many there are and their fingerprint.

    Failed rows are rows of the data set too. In ContractEval a document is a question.
    """
    return {
        "n_samples": len(run.rows),
        "n_pairs": len(run.rows),
        "n_contracts": len({row.text("title") for row in run.rows}),
        "dataset_fingerprint": _fingerprint(run),
    }


def _fingerprint(run: RunRecord) -> str | Unknown:
    """Hash the documents and their labels in stored order, which is the data set's order.

    A label is a document's class; contract families and extraction fields are not part of it.
    """
    pairs = list(_labelled(run))
    for row, (name, label) in zip(run.rows, pairs, strict=True):
        if name is None or label is None:
            missing = "name" if name is None else "label"
            return Unknown(f"{row.path} holds no {missing} of the document, of which the fingerprint is made")
    lines = [f"{name}\0{label}" for name, label in pairs]
    return sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()


def _labelled(run: RunRecord) -> Iterable[tuple[str | None, str | None]]:
    if run.task == "contracteval":
        return ((row.text("id"), row.text("category")) for row in run.rows)
    if run.task in _CONTRACT_TASKS:
        return ((row.text("filename"), "contract") for row in run.rows)
    if run.task == "docclass_classification":
        return ((row.text("filename"), row.child("sorter").text("expected_doc_type")) for row in run.rows)
    spelling = _spelling(run)
    labels = (row.text("expected") for row in run.rows)
    pairs = zip((row.text("filename") for row in run.rows), labels, strict=True)
    return ((name, label if label is None else spelling.get(label, label)) for name, label in pairs)


def _spelling(run: RunRecord) -> dict[str, str]:
    """Map labels as rows fold them (``yes``) to the data set's spelling (``Yes``), where it is recorded."""
    classes = run.root.child("parameters").text("valid_classes") or ""
    return {name.strip().lower(): name.strip() for name in classes.split(",") if name.strip()}
