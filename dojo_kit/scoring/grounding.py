"""Grounding: does what a model returned stand in the document, and the factuality audit of a field.

An item is grounded when enough of its content words stand close together in the document. The published measure
asks only whether they occur anywhere in it, and so accepts much of what merely sounds like a contract; it is kept
beside ours because stored records were made with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from dojo_kit.schema import SCALAR_TYPES
from dojo_kit.settings import Settings
from dojo_kit.text.dates import find_dates
from dojo_kit.text.locate import DocumentIndex
from dojo_kit.text.money import MoneyValue, find_amounts
from dojo_kit.text.names import id_key
from dojo_kit.text.tokens import canonical, content_tokens, tokens

SHORT = 3
"""Texts of at most so many content words must stand verbatim: few words come together by chance in any contract."""

_AMOUNTS_TRIED = 50
"""Places of a number that are read again as money."""
_AROUND_AMOUNT = 40
_LONGEST_ID = 64
_SCALES = ((10**3, "thousand"), (10**6, "million"), (10**9, "billion"))
_BRACKETS = re.compile(r"[()\[\]]")


@dataclass(frozen=True, slots=True)
class Grounding:
    """Whether one item stands in the document.

    Attributes:
        grounded: Inside one window of the document, or as the item's type asks (see `ground_item`).
        grounded_bag: By the published measure: the share of content words that occur anywhere in the document.
    """

    grounded: bool
    grounded_bag: bool


AuditEntry = dict[str, int | float | bool | None]


def ground_item(index: DocumentIndex, text: str, kind: str, settings: Settings) -> Grounding:
    """Tell whether a predicted value stands in the document it was extracted from.

    Text is grounded when `coverage_threshold` of its distinct content tokens stand inside one window of twice its
    length, or when it is quoted with omissions and every piece stands verbatim, in order. Texts of few words
    (`SHORT`) must stand verbatim. By type:

    - date: every full date of the value is a full date of the document; a value without one is read as text.
    - money: every amount of the value is stated in the document, in whatever notation; a value without any is
      read as text.
    - id: its letters and digits stand in the document as whole words, however they are punctuated.
    - name: what stands in brackets, a defined term, is looked for apart from the rest.

    A value without words, such as ``[***]``, is not grounded.

    Args:
        index: The document.
        text: The item or value.
        kind: Scalar type it is compared as, for a list its element type.
        settings: Settings.

    Raises:
        ValueError: `kind` is no scalar type.

    Examples:
        >>> index = DocumentIndex("Acme, Inc. (the Seller) pays 1,500,000 dollars on May 5, 2010. Ref. PA-100.")
        >>> values = {"money": "$1.5 million", "date": "2010-05-05", "id": "PA 100", "name": 'Acme ("Seller")'}
        >>> [ground_item(index, text, kind, Settings()).grounded for kind, text in values.items()]
        [True, True, True, True]
        >>> ground_item(index, "$500,000", "money", Settings())
        Grounding(grounded=False, grounded_bag=True)
    """
    if kind not in SCALAR_TYPES:
        raise ValueError(f"kind is {kind!r}; expected one of {', '.join(SCALAR_TYPES)}")
    threshold = settings.field_scoring.coverage_threshold
    if kind == "date":
        found = _date_stands(index, text, settings)
        if found is not None:
            return Grounding(found, found)
    in_bag = bool(words := tokens(text)) and index.bag_coverage(words) >= threshold
    by_type = _BY_TYPE.get(kind)
    stands = by_type(index, text) if by_type else None
    if stands is None:
        stands = _text_stands(index, text, threshold, kind)
    return Grounding(stands, in_bag)


def _text_stands(index: DocumentIndex, text: str, threshold: float, kind: str) -> bool:
    if _in_window(index, text, threshold) or index.quoted(text):
        return True
    parts = [part for part in _BRACKETS.split(text) if tokens(part)]
    return kind == "name" and len(parts) > 1 and all(_in_window(index, part, threshold) for part in parts)


def _in_window(index: DocumentIndex, text: str, threshold: float) -> bool:
    words = tokens(text)
    if len(content_tokens(words)) <= SHORT:
        return bool(index.find(words))
    return index.window_coverage(words) >= threshold


def _date_stands(index: DocumentIndex, text: str, settings: Settings) -> bool | None:
    """Tell whether all full dates of a text are in the document; None when it has none."""
    scoring = settings.field_scoring
    day_first, pivot = scoring.day_first, scoring.two_digit_year_pivot
    dates = {value.date for value in find_dates(text, day_first=day_first, pivot=pivot) if value.date is not None}
    return dates <= index.dates(day_first=day_first, pivot=pivot) if dates else None


def _id_stands(index: DocumentIndex, text: str) -> bool | None:
    """Tell whether an identifier's characters stand in the document, from the start of a word to the end of one."""
    key = id_key(text)
    if not key or len(key) > _LONGEST_ID:
        return None
    spaced = r"[\W_]*".join(map(re.escape, key))
    return re.search(rf"(?<![^\W_]){spaced}(?![^\W_])", index.text, re.IGNORECASE) is not None


def _amounts_stand(index: DocumentIndex, text: str) -> bool | None:
    amounts = find_amounts(text)
    return all(_amount_stands(index, amount, text) for amount in amounts) if amounts else None


def _amount_stands(index: DocumentIndex, wanted: MoneyValue, text: str) -> bool:
    spelling = canonical(text)[wanted.start : wanted.end]
    for words in dict.fromkeys(map(tokens, (spelling, *_notations(wanted.amount)))):
        for at in index.find(words)[:_AMOUNTS_TRIED]:
            start, end = index.characters(at, at + len(words))
            around = index.text[max(0, start - _AROUND_AMOUNT) : end + _AROUND_AMOUNT]
            if any(_same_amount(found, wanted) for found in find_amounts(" ".join(around.split()))):
                return True
    return False


def _same_amount(one: MoneyValue, other: MoneyValue) -> bool:
    currencies = {one.currency, other.currency} - {None}
    # Brackets make an amount negative only in accounts; contracts write "Dollars (70,000)".
    return abs(one.amount) == abs(other.amount) and len(currencies) < 2


def _notations(amount: Decimal) -> Iterator[str]:
    """Yield how documents may write an amount: 1,500,000 and 1500000, with and without cents, 1.5 million."""
    size = abs(amount)
    whole = size == size.to_integral_value()
    yield f"{size:,.0f}" if whole else f"{size:,.2f}"
    yield f"{size:.0f}" if whole else f"{size:.2f}"
    for scale, word in _SCALES:
        if size >= scale:
            yield f"{(size / scale).normalize():f} {word}"


_BY_TYPE: Mapping[str, Callable[[DocumentIndex, str], bool | None]] = {"id": _id_stands, "money": _amounts_stand}


def audit_entry(matched_gt: int, matches_any: Sequence[bool], grounded: Sequence[bool] | None) -> AuditEntry:
    """Count the true and the hallucinated items of one field.

    An item is true when it matches any label or is grounded. ``verified_in_doc`` counts the grounded items alone:
    the reference describes it as matched plus grounded items, but in the stored records it is the grounded ones
    (max(matched_gt, verified_in_doc) <= true_items <= matched_gt + verified_in_doc). With `Grounding.grounded_bag`
    the entry is the stored one, with `Grounding.grounded` ours.

    Args:
        matched_gt: Items matched one to one with labels.
        matches_any: For each item, whether it is similar enough to any label.
        grounded: For each item, whether it stands in the document; None when there was none to check it against.

    Returns:
        The eight counts and shares of the reference. A share of no items is None, as is everything that
        follows from the document when there is none.

    Raises:
        ValueError: The two sequences differ in length, or more items are matched than there are.

    Examples:
        >>> audit_entry(1, [True, False, False], [True, True, False])["verified_precision"]
        0.6666666666666666
    """
    n = len(matches_any)
    if not 0 <= matched_gt <= n:
        raise ValueError(f"matched_gt is {matched_gt}; expected 0 to {n}, the number of items")
    known: dict[str, int | float | bool | None] = {"n_predicted": n, "matched_gt": matched_gt}
    if grounded is None:
        unknown = ("verified_in_doc", "true_items", "verified_precision", "hallucinated", "hallucination_rate")
        return {**known, **dict.fromkeys(unknown), "doc_verification": False}
    n_true = sum(match or stands for match, stands in zip(matches_any, grounded, strict=True))
    return {
        **known,
        "verified_in_doc": sum(grounded),
        "true_items": n_true,
        "verified_precision": n_true / n if n else None,
        "hallucinated": n - n_true,
        "hallucination_rate": (n - n_true) / n if n else None,
        "doc_verification": True,
    }
