"""What the rows of two runs say about being reruns of each other.

Two runs with equal settings are no reruns when the later one repeats answers that nobody asked for again, or when
their scores were made by different rules. Both can be told from the rows alone.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any, Literal

from dojo_kit.analysis.comparable import stored_otherwise
from dojo_kit.analysis.measured import RECIPE, Measured
from dojo_kit.analysis.measured.extraction import field_scores
from dojo_kit.records import ChainedRow, ExtractionRow, LabelRow, QuestionRow, Row, Run
from dojo_kit.text.names import document_key


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
    first, second = _by_document(earlier.run), _by_document(later.run)
    if {key: _answer(row) for key, row in first.items()} != {key: _answer(row) for key, row in second.items()}:
        return None
    if earlier.timestamp == later.timestamp and all(first[key].usage == row.usage for key, row in second.items()):
        return "copy", "is the same run a second time"
    if not any(row.usage for row in later.run.rows):
        return "replay", "repeats every answer, confidence and reasoning, and no row of it carries usage"
    return None


def scored_differently(a: Measured, b: Measured) -> str:
    """Say what shows that two runs were not scored alike, empty when nothing does."""
    differs = [
        f"{name} {_word(a.recipe.get(name))} and {_word(b.recipe.get(name))}"
        for name in RECIPE
        if name not in ("surface", "labels") and a.recipe.get(name) != b.recipe.get(name)
    ]
    stored = a.recipe.get("scorer_version") is None
    return "; ".join(differs) or _other_labels(a, b) or (stored_otherwise(a, b) if stored else "")


def prompt_notes(a: Measured, b: Measured) -> Iterator[str]:
    """Yield doubts about two runs having read the same prompt, or having been made at one go."""
    if a.run is None or b.run is None:
        return
    first, second = _by_document(a.run), _by_document(b.run)
    read = [
        (second[key].usage.prompt_tokens - row.usage.prompt_tokens)  # type: ignore[union-attr]
        for key, row in first.items()
        if key in second and row.usage and second[key].usage
    ]
    changed = Counter(abs(change) for change in read if change)
    if changed:
        size, times = changed.most_common(1)[0]
        yield (
            f"the prompts of {changed.total():,} of {len(read):,} documents differ in length, {times:,} of them by "
            f"{size:,} tokens: what was sent, or how it was counted, was not the same"
        )
    for run, rows in ((a, first), (b, second)):
        without = sum(not row.usage and not row.failed for row in rows.values())
        if 0 < without < len(rows):
            yield f"{without:,} of {len(rows):,} answers of {run.name} carry no usage: taken from an earlier attempt"


def prompt_hash(measured: Measured) -> str:
    """Return the hash of the prompt's text where a run stores one, else an empty text."""
    if measured.run is None:
        return ""
    meta = measured.run.meta
    found = [
        f"{name}={json.dumps(value, sort_keys=True)}"
        for source in (meta.parameters, meta.data_source, meta.git)
        for name, value in sorted(source.items())
        if is_prompt_hash(name) and value
    ]
    return "; ".join(found)


def is_prompt_hash(name: str) -> bool:
    """Tell whether a key names the hash of a prompt.

    Examples:
        >>> is_prompt_hash("prompt_sha256"), is_prompt_hash("system_prompt_hash"), is_prompt_hash("prompt_mode")
        (True, True, False)
    """
    words = name.lower()
    return "prompt" in words and any(mark in words for mark in ("sha", "hash", "digest"))


def _by_document(run: Run) -> dict[str, Row]:
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


def _word(value: str | None) -> str:
    return "unknown" if value is None else value if len(value) < 64 else value[:8]


def _other_labels(a: Measured, b: Measured) -> str:
    """Say in how many documents other labels are expected; where none are known, whether they are called otherwise."""
    known = a.labels.dropna(), b.labels.dropna()
    shared = known[0].index.intersection(known[1].index)
    if len(shared):
        n = int((known[0][shared] != known[1][shared]).sum())
        return f"the labels of {n:,} of {len(shared):,} documents differ" if n else ""
    called = [_word(measured.recipe.get("labels")) for measured in (a, b)]
    return f"labels {called[0]} and {called[1]}" if called[0] != called[1] else ""
