"""Consistency inside single rows: what a row says about itself must add up."""

from __future__ import annotations

from statistics import fmean

from dojo_kit.analysis.verify.ledger import Ledger
from dojo_kit.analysis.verify.reading import Node, RunRecord

_AMBIGUOUS_BAND = (0.5, 0.85)
_EXACT_DECIMALS = 9


def check_extraction_rows(ledger: Ledger, run: RunRecord) -> None:
    """Check the rows of an extraction run; failed rows must score 0."""
    for row in run.completed:
        check_scored_answer(ledger, row)
    for row in run.failed:
        ledger.row("failed.overall_score", row.path, row.number("overall_score") or 0.0, 0.0)


def check_scored_answer(ledger: Ledger, answer: Node) -> None:
    """Check one document's stored scores against each other.

    Args:
        ledger: Where to enter the checks.
        answer: An extraction row, or the ``extractor_scores`` of a chained row.
    """
    scores = answer.child("field_scores").numbers()
    if scores:
        _check_scores(ledger, answer, scores)
    audits = dict(answer.child("entity_list_audit").children())
    for audit in audits.values():
        _check_audit(ledger, audit)
    rates = [audit.number("verified_precision") for audit in audits.values() if audit.count("n_predicted")]
    known = [rate for rate in rates if rate is not None]
    if known and (stored := answer.number("overall_verified_precision")) is not None:
        # rates were rounded before, their mean once more; fields without a value take no part
        ledger.row("overall_verified_precision", answer.path, stored, fmean(known), roundings=2)
    for name, entry in answer.child("entity_list_scores").children():
        _check_list(ledger, entry)
        if name in audits:
            counted = entry.count("n_predicted")
            ledger.row("entity_list_audit.n_predicted", answer.path, audits[name].count("n_predicted"), counted)
    _check_categories(ledger, answer)


def _check_scores(ledger: Ledger, answer: Node, scores: dict[str, float]) -> None:
    overall = answer.number("overall_score")
    ledger.row("overall_score", answer.path, overall, fmean(scores.values()), roundings=2)
    predicted = answer.data.get("predicted")
    if isinstance(predicted, dict) and (stored := answer.number("field_presence")) is not None:
        filled = fmean(bool(predicted.get(name)) for name in scores)
        ledger.row("field_presence", answer.path, stored, filled)
    if answer.data.get("ambiguous_fields") is not None:
        low, high = _AMBIGUOUS_BAND
        inside = sorted(name for name, score in scores.items() if low <= score <= high)
        ledger.row("ambiguous_fields", answer.path, sorted(answer.texts("ambiguous_fields")), inside)


def _check_audit(ledger: Ledger, audit: Node) -> None:
    """Check the sums of one audited field; ``verified_in_doc`` counts the grounded items."""
    n, true, false = (audit.count(key) for key in ("n_predicted", "true_items", "hallucinated"))
    matched, grounded = audit.count("matched_gt"), audit.count("verified_in_doc")
    ledger.row("entity_list_audit.hallucinated", audit.path, false, n - true)
    possible = min(max(true, matched, grounded), matched + grounded)
    ledger.row("entity_list_audit.true_items", audit.path, true, possible)
    for key, part in (("verified_precision", true), ("hallucination_rate", false)):
        stored = audit.number(key)
        if stored is not None:
            ledger.row(f"entity_list_audit.{key}", audit.path, stored, part / n if n else 0.0)


def _check_list(ledger: Ledger, entry: Node) -> None:
    matched, n_predicted, n_expected = (entry.count(k) for k in ("matched", "n_predicted", "n_expected"))
    shares = {
        "precision": matched / n_predicted if n_predicted else 0.0,
        "recall": matched / n_expected if n_expected else 0.0,
        "f1": 2 * matched / (n_predicted + n_expected) if matched else 0.0,
    }
    for key, share in shares.items():
        if (stored := entry.number(key)) is not None:
            ledger.row(f"entity_list_scores.{key}", entry.path, stored, share, decimals=_EXACT_DECIMALS)


def _check_categories(ledger: Ledger, answer: Node) -> None:
    details = [detail for _, detail in answer.child("category_presence_detail").children()]
    stored = answer.number("category_presence")
    if details and stored is not None:
        due = [bool(detail.flag("matched")) for detail in details if detail.flag("expected")]
        ledger.row("category_presence", answer.path, stored, fmean(due) if due else 1.0)
