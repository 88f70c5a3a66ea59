"""The rules that give an unmatched span its cause, and where the item in question stands."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from dojo_kit.text.tokens import coverage, tokens

if TYPE_CHECKING:
    import pandas as pd

CONTAINED = 0.7
"""Share of a label that an item, or several together, must hold to contain it."""

INSIDE = 0.9
"""Share of an item's characters that must stand within the label for the item to lie inside it."""

QUOTED = 0.8
"""Share of the words that must agree where no place is known: of a reworded item's with its label, and by coverage of
a label's with a value of another field."""

OVER_QUOTE = 2.0
"""Words of an item per word of the label from which it quotes too much."""

Place = Literal["same place", "elsewhere", "not verbatim", "label not in text", "no item", "unknown"]
Ranges = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Cause:
    """A reason why a span was not matched.

    Attributes:
        name: Its name in words.
        says: One sentence for people.
        needs_place: Whether it needs the documents (True), exists only without them (False), or neither (None).
    """

    name: str
    says: str
    needs_place: bool | None = None


CAUSES: Mapping[str, Cause] = {
    "empty_prediction": Cause("empty prediction", "the model returned nothing for this field"),
    "gold_suspect": Cause("gold suspect", "the label is blank or does not stand in its document"),
    "merged": Cause("merged", "the item that matches it already pays for another label"),
    "wrong_field": Cause("wrong field", "a value of another field matches it"),
    "boundary": Cause("boundary", "a longer item on its place contains it", True),
    "split": Cause("split", "two or more items together cover its place, none of them enough", True),
    "truncation": Cause("truncation", "an item lies inside the label and stops short", True),
    "over_quote": Cause("over-quote", "an item at least twice as long overlaps its place", True),
    "shifted": Cause("shifted", "an item crosses one edge of its place", True),
    "wording": Cause("wording", "the near item is not what the document says word for word", True),
    "omission": Cause("omission", "no item touches its place", True),
    "unknown_place": Cause(
        "unknown place", "omitted, cut or reworded: the document is not known, and only it can tell", False
    ),
}
"""Cause -> what it says, in the order in which they are tried."""

SAME_PLACE = frozenset({"boundary", "split", "truncation", "over_quote", "shifted"})
"""Causes that are about an item on the label's own place, whichever item is nearest."""


@dataclass(frozen=True, slots=True)
class Case:
    """One span before its cause is known.

    Attributes:
        span: Row of the spans frame.
        status: What became of it by the measure.
        similarity: Similarity of its item; None without items.
        item: Index of that item.
        other: Similarity of the best value of another field.
        threshold: Similarity from which a span is matched.
        by_coverage: The measure is coverage, with which containment cannot be told.
    """

    span: Any
    status: str
    similarity: float | None
    item: int | None
    other: float | None
    threshold: float
    by_coverage: bool

    def item_of(self, items: ListItems, index: int) -> ListItem:
        """Return an item of the list the span belongs to."""
        return items[self.span.document, self.span.field, index]


@dataclass(frozen=True, slots=True)
class ListItem:
    """A predicted item of a list.

    Attributes:
        text: The item.
        at: Where it stands in the document, as ranges of characters; empty when unknown or nowhere.
        located: How it was found: exact, approximate, none; None without a document.
        in_pieces: Whether the ranges are pieces of one occurrence, not occurrences of their own.
    """

    text: str
    at: Sequence[tuple[int, int]]
    located: str | None
    in_pieces: bool = False


class ListItems:
    """The items of every list: their words and where they stand.

    Args:
        items: Rows of the items frame.
    """

    def __init__(self, items: pd.DataFrame) -> None:
        columns = (items[name] for name in ("document", "field", "index", "text", "at", "located", "in_pieces"))
        self._found: dict[tuple[str, str], dict[int, tuple[str, Any, Any, Any]]] = {}
        for document, field, index, *item in zip(*columns, strict=True):
            self._found.setdefault((document, field), {})[index] = tuple(item)

    def __getitem__(self, key: tuple[str, str, int]) -> ListItem:
        """Return the item of a document, field and index."""
        document, field, index = key
        text, at, located, in_pieces = self._found[document, field][index]
        return ListItem(text, ranges(at), located if isinstance(located, str) else None, in_pieces is True)

    def of_list(self, document: str, field: str) -> dict[int, ListItem]:
        """Return all items of one list by index."""
        return {index: self[document, field, index] for index in self._found.get((document, field), ())}


def ranges(stored: Any) -> list[tuple[int, int]]:
    """Decode the character ranges of a frame; empty when missing.

    Examples:
        >>> ranges("[[3, 9]]"), ranges(None)
        ([(3, 9)], [])
    """
    return [(start, end) for start, end in json.loads(stored)] if isinstance(stored, str) else []


def place_of(label_at: Ranges, label_located: str | None, item: ListItem | None) -> Place:
    """Say where an item stands, seen from a label.

    Args:
        label_at: Where the label stands in the document.
        label_located: How it was found: exact, approximate, none; None without a document.
        item: The item; None when the model returned none.

    Examples:
        >>> place_of([(0, 10)], "exact", ListItem("pay", [(4, 7)], "exact"))
        'same place'
    """
    if label_located is None:
        return "unknown"
    if label_located == "none":
        return "label not in text"
    if item is None:
        return "no item"
    if not item.at:
        return "not verbatim"
    meet = any(start < stop and first < end for start, end in label_at for first, stop in item.at)
    return "same place" if meet else "elsewhere"


def cause_of(case: Case, items: ListItems) -> str:
    """Return the first of `CAUSES` that applies to an unmatched span.

    Args:
        case: The span.
        items: Items of every list.
    """
    span = case.span
    if case.item is None:
        return "empty_prediction"
    if span.located == "none" or not tokens(span.text):
        return "gold_suspect"
    label_at = ranges(span.label_at)
    item = case.item_of(items, case.item)
    if case.status == "taken" and (not label_at or place_of(label_at, span.located, item) != "elsewhere"):
        return "merged"
    if (case.other or 0.0) >= (max(case.threshold, QUOTED) if case.by_coverage else case.threshold):
        return "wrong_field"
    if not label_at:
        return "unknown_place"
    if span.here_overlap > 0:
        return _cause_here(case, items)
    return "wording" if case.status != "missed" and not item.at and _quotes(item, span.text) else "omission"


def _cause_here(case: Case, items: ListItems) -> str:
    """Name what is wrong with an item that stands on the label's place."""
    span, here = case.span, case.item_of(items, int(case.span.here_item))
    label, item = tokens(span.text), tokens(here.text)
    # Words alone may be found in half of a clause by chance; the place must agree.
    contained = coverage(item, frozenset(label)) >= CONTAINED
    if contained and span.here_overlap >= CONTAINED and len(item) > len(label) and not case.by_coverage:
        return "boundary"
    if span.places_covered >= CONTAINED > span.here_overlap:
        return "split"
    if _inside(here, ranges(span.label_at)):
        return "truncation"
    if len(item) >= OVER_QUOTE * len(label) and not contained and not case.by_coverage:
        return "over_quote"
    if here.located == "exact":
        return "shifted"
    return "wording" if _quotes(here, span.text) else "omission"


def _quotes(item: ListItem, label: str) -> bool:
    """Tell whether an item that is not verbatim in the document is made of the label's words."""
    return coverage(tokens(label), frozenset(tokens(item.text))) >= QUOTED


def _inside(item: ListItem, label: Ranges) -> bool:
    """Tell whether an occurrence of the item lies within the label; of an item in pieces, all of them."""
    within = [sum(max(0, min(end, stop) - max(start, first)) for start, end in label) for first, stop in item.at]
    lengths = [stop - first for first, stop in item.at]
    if item.in_pieces:
        return sum(within) >= INSIDE * sum(lengths)
    return any(part >= INSIDE * length for part, length in zip(within, lengths, strict=True))
