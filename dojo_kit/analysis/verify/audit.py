"""`verify_record`: the audit of one run record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from dojo_kit.analysis.verify.explain import explain
from dojo_kit.analysis.verify.extraction import NEEDS_LABELS, recompute_chained, recompute_extraction
from dojo_kit.analysis.verify.extraction_rows import check_extraction_rows
from dojo_kit.analysis.verify.label_rows import (
    check_chained_rows,
    check_docclass_rows,
    check_plain_rows,
    check_subtype_rows,
)
from dojo_kit.analysis.verify.labels import recompute_docclass, recompute_plain, recompute_subtype
from dojo_kit.analysis.verify.ledger import Ledger, Table
from dojo_kit.analysis.verify.questions import check_question_rows, recompute_questions
from dojo_kit.analysis.verify.reading import RunRecord, open_record
from dojo_kit.analysis.verify.report import VerifyReport
from dojo_kit.analysis.verify.surface import recompute_counts, recompute_surface
from dojo_kit.analysis.verify.usage import check_usage_rows, recompute_usage
from dojo_kit.prices import Prices

_ABSENT = object()


@dataclass(frozen=True, slots=True)
class _Kind:
    recompute: Callable[[RunRecord], dict[str, Any]]
    check_rows: Callable[[Ledger, RunRecord], None]


_PLAIN = _Kind(recompute_plain, check_plain_rows)
_UNKNOWN = _Kind(lambda run: {}, lambda ledger, run: None)
_KINDS = {
    "contract_entity_extraction": _Kind(recompute_extraction, check_extraction_rows),
    "chained_sorter_extractor": _Kind(recompute_chained, check_chained_rows),
    "subtype_classification": _Kind(recompute_subtype, check_subtype_rows),
    "docclass_classification": _Kind(recompute_docclass, check_docclass_rows),
    "contracteval": _Kind(recompute_questions, check_question_rows),
}


_FROM_LABELS = "read anew from the labels given; the published parsers read fewer or other texts"


def verify_record(
    record: Mapping[str, Any],
    *,
    name: str,
    prices: Prices,
    recomputed: Mapping[str, Any] | None = None,
) -> VerifyReport:
    """Recompute every aggregate stored in a run record from the record's own rows.

    Covered are all values under ``scores`` and ``tokens``, the row counts, what ``data_source`` says about
    the documents, and the consistency of values inside rows. Every stored value ends among the confirmed, the
    differences or the unverifiable. Stored intervals are redrawn from the stream of `dojo_kit.stats.legacy`.

    Args:
        record: The decoded JSON record; its rows stand under ``results``, else under ``per_row``.
        name: Name of the record in the report and in messages.
        prices: Model slug -> US dollars per million tokens read and written.
        recomputed: Values the caller computed from labels, by their name under ``scores``, e.g.
            ``diagnostics.date_mae_days``; a value may be a table. They are compared in place of values that
            rows cannot give; a name that is not stored, or that rows do give, is left alone.

    Raises:
        InputError: The record is malformed; the message names the key and what was expected.

    Examples:
        >>> row = {"filename": "a", "expected": "yes", "predicted": "yes", "correct": True}
        >>> record = {"task": "task_classification", "results": [row], "scores": {"failure": 0.0}}
        >>> report = verify_record({**record, "n_rows": 2}, name="demo", prices={})
        >>> report.checked, report.equal, report.differences[0].name
        (3, 2, 'n_rows')
    """
    run = open_record(record, name=name)
    kind = _KINDS.get(run.task, _PLAIN if run.task.endswith("_classification") else _UNKNOWN)
    ledger = Ledger()
    scores: Mapping[str, Any] = run.root.child("scores").data
    ledger.compare("scores", scores, kind.recompute(run))
    _compare_given(ledger, scores, recomputed or {})
    ledger.close("scores", scores, NEEDS_LABELS)
    _audit_frame(ledger, run, prices)
    kind.check_rows(ledger, run)
    check_usage_rows(ledger, run)
    _check_copies(ledger, run)
    report = ledger.report(name, run.task)
    notes = ([d.note, explain(d, run)] for d in report.differences)
    explained = (
        replace(d, note="; ".join(filter(None, note))) for d, note in zip(report.differences, notes, strict=True)
    )
    return replace(report, differences=tuple(explained))


def _compare_given(ledger: Ledger, scores: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    for path, value in given.items():
        stored: Any = scores
        for key in path.split("."):
            stored = stored[key] if isinstance(stored, Mapping) and key in stored else _ABSENT
        if stored is not _ABSENT and ledger.open_leaves(f"scores.{path}", stored):
            ledger.compare(
                f"scores.{path}", stored, Table(value) if isinstance(value, Mapping) else value, note=_FROM_LABELS
            )


def _audit_frame(ledger: Ledger, run: RunRecord, prices: Prices) -> None:
    """Audit what every task stores: tokens, counts and the documents."""
    tokens = run.root.child("tokens").data
    if tokens:
        ledger.compare("tokens", tokens, recompute_usage(run, prices))
        ledger.close("tokens", tokens, {})
    counts = recompute_counts(run)
    for key, stored in run.root.data.items():
        if key in counts:
            ledger.compare(key, stored, counts[key])
        elif key.startswith("n_"):
            ledger.close(key, stored, {})
    surface = recompute_surface(run)
    for key, stored in run.root.child("data_source").data.items():
        if key in surface:
            ledger.compare(f"data_source.{key}", stored, surface[key])


def _check_copies(ledger: Ledger, run: RunRecord) -> None:
    """Check that rows stored twice are the same rows."""
    copies = run.root.data.get("per_row")
    if isinstance(copies, list) and run.root.data.get("results") is not None:
        same = copies == [row.data for row in run.rows]
        ledger.compare("per_row", "the rows" if same else "other rows", "the rows")
