"""Consistency of the flags stored in classified rows with the labels stored beside them."""

from __future__ import annotations

from dojo_kit.analysis.verify.extraction_rows import check_scored_answer
from dojo_kit.analysis.verify.ledger import Ledger
from dojo_kit.analysis.verify.reading import Node, RunRecord
from dojo_kit.tasks.failure_modes import family_mode, hierarchy_mode
from dojo_kit.tasks.table import TASKS

_FAMILY_CLASS = TASKS["subtype"].document_class


def check_subtype_rows(ledger: Ledger, run: RunRecord) -> None:
    """Check flags and failure mode of rows that name a contract family."""
    for row in run.completed:
        sorter = row.child("sorter")
        right = _check_family(ledger, sorter)
        lenient = sorter.flag("subtype_ok_equiv")
        if lenient is not None:  # an equivalent family is at best as right as the family itself
            ledger.row("subtype_ok_equiv", sorter.path, lenient, lenient or right)
        if "failure_mode" in sorter.data:
            mode = family_mode(
                in_class=sorter.text("doc_type") == _FAMILY_CLASS,
                right=right,
                predicted=sorter.text("contract_subtype"),
                equivalent=lenient is True,
            )
            ledger.row("failure_mode", sorter.path, sorter.text("failure_mode"), mode)


def check_chained_rows(ledger: Ledger, run: RunRecord) -> None:
    """Check both stages of chained rows; an extractor that failed must score 0."""
    for row in run.completed:
        _check_family(ledger, row.child("sorter"))
        answer = row.child("extractor_scores")
        if answer.data.get("error"):
            ledger.row("failed.overall_score", answer.path, answer.number("overall_score") or 0.0, 0.0)
        else:
            check_scored_answer(ledger, answer)


def _check_family(ledger: Ledger, sorter: Node) -> bool:
    in_class = sorter.text("doc_type") == _FAMILY_CLASS
    right = in_class and sorter.text("contract_subtype") == sorter.text("expected_subtype")
    ledger.row("doc_type_ok", sorter.path, sorter.flag("doc_type_ok"), in_class)
    ledger.row("subtype_ok", sorter.path, sorter.flag("subtype_ok"), right)
    return right


def check_docclass_rows(ledger: Ledger, run: RunRecord) -> None:
    """Check flags and failure mode of rows that name class and subclass."""
    for row in run.completed:
        sorter = row.child("sorter")
        in_class = sorter.text("doc_type") == sorter.text("expected_doc_type")
        true = sorter.text("expected_subclass")
        right = None if true is None else sorter.text("doc_subclass") == true
        exact = in_class and right is not False
        ledger.row("doc_type_ok", sorter.path, sorter.flag("doc_type_ok"), in_class)
        ledger.row("subclass_ok", sorter.path, sorter.flag("subclass_ok"), right)
        ledger.row("exact_match", sorter.path, sorter.flag("exact_match"), exact)
        if not exact:  # the mode of a right row without a true subclass means nothing
            mode = hierarchy_mode(in_class=in_class, exact=exact)
            ledger.row("failure_mode", sorter.path, sorter.text("failure_mode"), mode)


def check_plain_rows(ledger: Ledger, run: RunRecord) -> None:
    """Check the flag of rows that answer with one label."""
    for row in run.completed:
        ledger.row("correct", row.path, row.flag("correct"), row.text("expected") == row.text("predicted"))
