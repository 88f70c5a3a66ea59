"""One label beside its nearest items, with the sum behind each similarity written out."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from dojo_kit import formats
from dojo_kit.analysis.span_cases import CAUSES, ListItem, place_of, ranges
from dojo_kit.scoring.nearest import place_overlap
from dojo_kit.text.tokens import content_tokens, coverage, token_f1, tokens

if TYPE_CHECKING:
    from dojo_kit.analysis.attribution import Attribution

MOST_ITEMS = 4
NEAREST = 3

_COPIED = ("id", "document", "field", "category", "family", "status", "check", "similarity")
_MEASURES = {"scorer": "similarity", "token_f1": "token F1", "coverage": "coverage"}


def compare_span(attribution: Attribution, id: str) -> dict[str, Any]:
    """Return a label, its nearest items, and why it counts as found or not.

    Args:
        attribution: Spans of the run.
        id: Id of the span.

    Returns:
        The span's ``id``, ``document``, ``short``, ``field``, ``category``, ``family``, ``status``, ``cause`` with
        ``cause_name`` and ``cause_says``, ``check``, ``measure``, ``threshold``, ``similarity``; ``label`` (text,
        words, how it was found in the document); ``items``, the nearest first and at most four: index, text, words,
        similarity, place, ``here`` (stands on the label's place) and ``says``, whose parts are by turns bold and
        plain; ``python``, code that leads here.

    Raises:
        InputError: There is no such span.
    """
    span = attribution.span(id)
    items = [_item(attribution, span, index, similarity) for index, similarity in _nearest(attribution, span)]
    cause = span["cause"]
    return {
        **{name: span[name] for name in _COPIED},
        "short": formats.short_document(span["document"]),
        "cause": cause,
        "cause_name": CAUSES[cause].name if cause else None,
        "cause_says": CAUSES[cause].says if cause else None,
        "measure": attribution.measure,
        "threshold": attribution.threshold,
        "label": {
            "text": span["text"],
            "words": len(tokens(span["text"])),
            "how": span["located"],
        },
        "items": items,
        "python": _python(attribution, span),
    }


def _nearest(attribution: Attribution, span: dict[str, Any]) -> list[tuple[int, float | None]]:
    """Return the items to show with their similarity: the span's own, the nearest, and the one on its place."""
    similarity = attribution.near(span["id"])
    wanted = [span["item"], *list(similarity)[:NEAREST], span["here_item"]]
    shown = dict.fromkeys(int(item) for item in wanted if item is not None)
    found = [(item, span["similarity"] if item == span["item"] else similarity.get(item)) for item in shown]
    if len(found) > MOST_ITEMS:  # the item on the label's place is worth more than the third nearest
        found = [*found[: MOST_ITEMS - 1], found[-1]]
    return found


def _item(attribution: Attribution, span: dict[str, Any], index: int, similarity: float | None) -> dict[str, Any]:
    item = attribution.items[span["document"], span["field"], index]
    label_at = ranges(span["label_at"])
    place = place_of(label_at, span["located"], item)
    return {
        "index": index,
        "text": item.text,
        "words": len(tokens(item.text)),
        "similarity": similarity,
        "place": place,
        "here": place == "same place",
        "says": [
            *_sum(attribution, span, item.text, similarity, is_own=index == span["item"]),
            *_where(place, span, item),
        ],
    }


def _beside(value: float, threshold: float) -> str:
    """Write a similarity with as many digits as it takes to stand on its own side of the threshold.

    Examples:
        >>> _beside(0.5964, 0.6), _beside(0.71, 0.6)
        ('0.596', '0.71')
    """
    for digits in range(2, 8):
        shown = f"{value:.{digits}f}"
        if (float(shown) >= threshold) == (value >= threshold):
            return shown
    return repr(value)


def _sum(
    attribution: Attribution, span: dict[str, Any], text: str, similarity: float | None, *, is_own: bool
) -> list[str]:
    """Write the sum behind a similarity: what is compared with the threshold, and what it is made of."""
    name = _MEASURES[attribution.measure]
    if similarity is None:
        return [f"{name} below {attribution.scored.recipe.pair_floor:g}", ". "]
    threshold = attribution.threshold
    sign = ">=" if similarity >= threshold else "<"
    sum_ = f"{name} {_beside(similarity, threshold)} {sign} {threshold:.2f}"
    if similarity < threshold and span["status"] == "matched" and is_own:
        whole = coverage(tokens(text), frozenset(tokens(span["text"]))) == 1.0
        why = "the whole label stands in this item" if whole else "labels are a sample of what is right"
        return [sum_, f", but {why}, so ", "it counts as found", ". "]
    label, item = tokens(span["text"]), tokens(text)
    if attribution.measure == "coverage":
        distinct = frozenset(label)
        shared = distinct.intersection(item)
        return [
            sum_,
            f": {len(shared)} of {formats.count(len(distinct), 'distinct label word')} occur in this item, "
            f"{len(shared) - len(content_tokens(shared))} of them function words. ",
        ]
    by_words = token_f1(item, label)
    if abs(by_words - similarity) > _FLOAT32:
        return [sum_, f" (token F1 {by_words:.2f}). "]
    n_common = round(by_words * (len(label) + len(item)) / 2)
    return [sum_, f": 2 x {n_common} shared words / ({len(label)} of the label + {len(item)} of the item). "]


_FLOAT32 = 1e-5
"""Similarities of pairs are stored with 32 bits."""


def _where(place: str, span: dict[str, Any], item: ListItem) -> list[str]:
    label_at, item_at = ranges(span["label_at"]), item.at
    if place == "same place":
        share = place_overlap(label_at, item_at, in_pieces=span["label_in_pieces"])
        return [f"It stands on {share:.0%} of the label's place", "."]
    if place == "elsewhere":
        distance = min(
            (first - end if first >= end else stop - start for start, end in label_at for first, stop in item_at),
            key=abs,
        )
        return [f"It stands {_characters(distance)}", ": another clause."]
    return [_PLACES[place], "."]


_PLACES = {
    "not verbatim": "It does not stand in the document word for word",
    "label not in text": "The label does not stand in its document",
    "unknown": "Where it stands is unknown without the documents",
}


def _characters(distance: int) -> str:
    size = abs(distance)
    shown = f"{size / 1000:.0f}k" if size >= 10_000 else f"{size:,}"
    return f"{shown} characters {'later' if distance > 0 else 'earlier'}"


def _python(attribution: Attribution, span: dict[str, Any]) -> str:
    recipe = attribution.scored.recipe
    options = [] if attribution.measure == "scorer" else [f"measure={attribution.measure!r}"]
    if attribution.threshold != recipe.match_threshold:
        options.append(f"threshold={attribution.threshold!r}")
    source = PurePath(recipe.run.get("source") or "run.json").name  # the folder is nobody's business on a page
    embedder = "" if recipe.embedder == "none" else f", embedder=load_embedder({recipe.embedder!r})"
    loaders = ["attribute", "load_documents", "load_labels", "read_run", "score_run"]
    if embedder:
        loaders.insert(2, "load_embedder")
    return (
        f"from dojo_kit import {', '.join(loaders)}\n"
        "from dojo_kit.views import compare_span\n\n"
        'LABELS, DOCUMENTS = "...", "..."  # what this run was scored with\n'
        f"scored = score_run(read_run({source!r}), load_labels(LABELS), load_documents(DOCUMENTS), "
        f"spans={recipe.spans!r}{embedder})\n"
        f"attribution = attribute({', '.join(['scored', *options])})\n"
        f"compare_span(attribution, {span['id']!r})\n"
    )
