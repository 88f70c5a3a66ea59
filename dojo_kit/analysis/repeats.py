"""Whether a run repeats another: a copy of it, or a replay of answers that nobody asked for again.

Equal answers alone show neither: a model that is asked again may well say the same.
"""

from __future__ import annotations

import json
from typing import Any, Literal

from dojo_kit.analysis.measured import Measured
from dojo_kit.analysis.measured.extraction import field_scores
from dojo_kit.records import ChainedRow, ExtractionRow, LabelRow, QuestionRow, Row, Run
from dojo_kit.text.names import document_key


def in_order(a: Measured, b: Measured) -> tuple[Measured, Measured]:
    """Return the earlier run first; where that is not known the one with usage came first."""
    return (a, b) if made_at(a) <= made_at(b) else (b, a)


def made_at(run: Measured) -> tuple[str, bool]:
    """Return what puts runs in the order they were made in."""
    return run.timestamp, not (run.run and any(row.usage for row in run.run.rows))


def repeats(a: Measured, b: Measured) -> str:
    """Say that one of two runs is a copy or a replay of the other; empty when each has answers of its own.

    Args:
        a: A run.
        b: Another one, or the same.
    """
    if a.digest != b.digest:
        return ""
    found = repeated(*in_order(a, b))
    return found[0] if found else ""


def repeated(earlier: Measured, later: Measured) -> tuple[Literal["replay", "copy"], str] | None:
    """Say why the later run is no run of its own, None when it is one.

    Args:
        earlier: The run that came first.
        later: The run that came second, or one that does not say when it was made.

    Returns:
        ``copy`` for the same run a second time or ``replay`` for stored answers that were used again, and a clause
        about the later run.
    """
    if earlier.run is None or later.run is None:
        alike = earlier.digest == later.digest
        clause = "has the same answers, and without its rows nothing shows that they were given anew"
        return ("copy", clause) if alike else None
    first, second = rows_by_document(earlier.run), rows_by_document(later.run)
    if {key: _answer(row) for key, row in first.items()} != {key: _answer(row) for key, row in second.items()}:
        return None
    if earlier.timestamp == later.timestamp and all(first[key].usage == row.usage for key, row in second.items()):
        return "copy", "is the same run a second time"
    if not any(row.usage for row in later.run.rows):
        return "replay", "repeats every answer, confidence and reasoning, and no row of it carries usage"
    return None


def rows_by_document(run: Run) -> dict[str, Row]:
    """Return the rows of a run by key of their document."""
    return {document_key(row.document) or row.document: row for row in run.rows}


def _answer(row: Row) -> tuple[Any, ...]:
    """Return all that a model said in a row; of an extraction that was not stored, its scores."""
    said: list[Any] = [row.failed]
    match row:
        case LabelRow():
            said += [row.predicted, row.predicted_subclass, row.confidence, row.reasoning]
        case ExtractionRow() | QuestionRow():
            said.append(row.predicted)
    if isinstance(row, ChainedRow):
        said.append(row.extracted)
    if said[-1] is None:
        said += [row.stored.get("overall_score"), field_scores(row.stored)]
    return tuple(json.dumps(part, sort_keys=True, default=str) for part in said)
