"""What a run answered, as rows store it, and the hash by which a run is known again, scored or not."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

from dojo_kit.records import ChainedRow, ExtractionRow, LabelRow, QuestionRow, Row
from dojo_kit.scoring.label_reading import json_answer
from dojo_kit.text.names import document_key


def stored_value(row: Row, name: str) -> Any:
    """Return what a row stored under a name: in its sorter's answer, its decoded prediction, or the row itself."""
    scores = row.stored.get("scores")
    composite = scores.get("composite") if isinstance(scores, Mapping) else None
    homes = (composite, scores, row.stored)
    said = row.stored.get("predicted")
    places = (*(home.get("sorter") for home in homes if isinstance(home, Mapping)), json_answer(said) or said)
    for place in (*places, row.stored):
        if isinstance(place, Mapping) and place.get(name) is not None:
            return place[name]
    return None


def answers_digest(rows: Iterable[Row]) -> str:
    """Hash documents and answers, with stated confidence and reasons: two calls rarely word both alike.

    Args:
        rows: Rows of a run, in any order.

    Examples:
        >>> one = answers_digest([LabelRow("a.pdf", predicted="yes"), LabelRow("b", predicted="no")])
        >>> one == answers_digest([LabelRow("b", predicted="no"), LabelRow("A", predicted="yes")])
        True
    """
    lines = (f"{document_key(row.document)}\x1f{row.status}\x1f{_answer(row)}" for row in rows)
    return digest_of(lines)


def digest_of(lines: Iterable[str]) -> str:
    """Hash lines whatever their order."""
    return sha256("\n".join(sorted(lines)).encode("utf-8", "surrogatepass")).hexdigest()


def _answer(row: Row) -> str:
    said: Any = None
    if isinstance(row, ExtractionRow):
        said = row.predicted if row.predicted is not None else row.stored.get("field_scores")
    elif isinstance(row, LabelRow):
        doc_type = None if row.failed else stored_value(row, "doc_type")
        said = [row.predicted, row.predicted_subclass, doc_type, row.confidence, row.reasoning]
        if isinstance(row, ChainedRow):
            said.append(row.extracted if row.extracted is not None else row.stored.get("extractor_scores"))
    elif isinstance(row, QuestionRow):
        said = row.predicted
    return json.dumps(said, sort_keys=True, default=str)
