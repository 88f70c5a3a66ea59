"""The table of misses: families, spans, causes and how they add up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dojo_kit import formats
from dojo_kit.analysis.span_cases import CAUSES
from dojo_kit.analysis.span_rows import known
from dojo_kit.text.shapes import heldout_accuracy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dojo_kit.analysis.attribution import Attribution

SHOWN_CHARACTERS = 160
"""Characters of a label that a table carries; the whole label is in the comparison."""


def miss_table(attribution: Attribution, field: str) -> dict[str, Any]:
    """Return everything a table of misses shows of one list field.

    Args:
        attribution: Spans of the run.
        field: The field.

    Returns:
        ``field``, ``measure``, ``threshold``, ``has_places``; ``expected`` and ``counts`` by status, which add up to
        it; ``causes`` -> count and ``cause_names``, ``cause_says``; ``untestable`` -> why; ``recall`` (value, lo, hi,
        n documents); ``families`` (category, short, expected, unmatched, rate, lo, hi, ranked); ``documents`` (name,
        short); ``spans`` (id, document as an index, category, text cut to 160 characters, status, cause, similarity,
        place, check); ``notes``, what was left out.

    Raises:
        InputError: The field has no expected spans.
    """
    spans = attribution.of_field(field)
    names = list(dict.fromkeys(spans["document"]))
    number = {name: index for index, name in enumerate(names)}
    counts, recall = attribution.counts(field), attribution.recall(field)
    causes = {cause: n for cause, n in attribution.causes(field).items() if n is not None}
    return {
        "field": field,
        "measure": attribution.measure,
        "threshold": attribution.threshold,
        "has_places": attribution.has_places,
        "expected": counts.pop("n_expected"),
        "counts": counts,
        "causes": causes,
        "cause_names": {cause: told.name for cause, told in CAUSES.items()},
        "cause_says": {cause: told.says for cause, told in CAUSES.items()},
        "untestable": dict(attribution.untestable),
        "recall": {"value": recall.value, "lo": recall.lo, "hi": recall.hi, "n": recall.n},
        "families": [
            {
                "category": row["category"],
                "short": row["short"],
                "expected": row["n"],
                "unmatched": row["missed"],
                **{name: row[name] for name in ("rate", "lo", "hi", "ranked")},
            }
            for row in attribution.families(field).to_dict("records")
        ],
        "documents": [
            {"name": name, "short": short} for name, short in zip(names, formats.short_documents(names), strict=True)
        ],
        "spans": [
            {
                "id": row["id"],
                "document": number[row["document"]],
                "category": row["category"],
                "text": row["text"][:SHOWN_CHARACTERS],
                "status": row["status"],
                "cause": known(row["cause"]),
                "similarity": known(row["similarity"]),
                "place": row["place"],
                "check": row["check"],
            }
            for row in spans.to_dict("records")
        ],
        "notes": list(attribution_notes(attribution, field)),
    }


def labeling_queue(attribution: Attribution, field: str) -> list[dict[str, Any]]:
    """Return the spans of a list field that are worth judging, the doubtful ones first.

    Args:
        attribution: Spans of the run.
        field: The field.

    Returns:
        Matches whose item stands elsewhere, then unmatched spans, the most similar first: ``id``, ``document``,
        ``short``, ``field``, ``category``, ``family``, ``text``, ``status``, ``item`` (its text), ``similarity``,
        ``cause`` and ``place``.
    """
    spans = attribution.of_field(field)
    doubtful = attribution.doubtful(field)
    copied = ("id", "document", "field", "category", "family", "text", "status", "similarity", "cause", "place")
    names = list(dict.fromkeys(spans["document"]))
    short = dict(zip(names, formats.short_documents(names), strict=True))
    queue = []
    for id in doubtful["id"]:
        span = attribution.span(id)
        item = span["item"]
        queue.append(
            {
                **{name: span[name] for name in copied},
                "short": short[span["document"]],
                "item": "" if item is None else attribution.items[span["document"], field, item].text,
            }
        )
    return queue


def attribution_notes(attribution: Attribution, field: str) -> Iterator[str]:
    """Say what an attribution of one list field leaves out, and what it does not know.

    Args:
        attribution: Spans of the run.
        field: The field.
    """
    counts = attribution.scored.counts
    if counts["n_failed"]:
        yield f"{formats.count(counts['n_failed'], 'failed document')} not attributed"
    if counts["n_unmatched"]:
        yield f"{formats.count(counts['n_unmatched'], 'document')} without labels not counted"
    without = counts["n_scored"] - attribution.of_field(field)["document"].nunique()
    if without:
        yield f"{formats.count(without, 'document')} without labels of this field"
    guessed = int((attribution.of_field(field)["category_from"] == "shape").sum())
    if guessed:
        yield (
            f"{formats.count(guessed, 'span')} with a family guessed by keyword shape, right for "
            f"{heldout_accuracy(field):.0%} of held-out spans"
        )
    if attribution.n_without_text:
        yield f"{formats.count(attribution.n_without_text, 'document')} without a text: causes there are unknown"
    if not attribution.has_places:
        yield "without documents nobody knows where labels and items stand, so most causes are unknown"
