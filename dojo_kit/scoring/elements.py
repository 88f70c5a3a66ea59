"""Similarity of list elements: the scalar rules applied to every label and item of a list.

Short lists run the rules pair by pair. Names, identifiers and dates also have a matrix form for long lists, which
gives the same numbers; a property test compares both.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, process
from rapidfuzz.distance import JaroWinkler

from dojo_kit.scoring.overlap import Matrix, TokenOverlap
from dojo_kit.scoring.rules import FRAGMENT_BELOW, Pair, decide
from dojo_kit.settings import Settings
from dojo_kit.text.dates import find_dates
from dojo_kit.text.names import id_key, name_key, name_words
from dojo_kit.text.tokens import canonical, is_negated, tokens

EQUAL_DATES = frozenset({"date.identical", "date.equal", "date.one_of"})
"""Rules by which two dates of a list match; near ones never do."""

LONG_LIST = 16
"""Pairs from which the matrix form is faster."""


def element_score(element: str, item: str, label: str, settings: Settings) -> float:
    """Score one item against one label; dates match only when equal.

    Args:
        element: Scalar type both are compared as.
        item: Predicted item.
        label: Label.
        settings: Settings.

    Examples:
        >>> element_score("date", "2024-03-04", "March 3, 2024", Settings())
        0.0
    """
    scoring = settings.field_scoring
    score, rule = decide(element, Pair(item, label, scoring.day_first, scoring.two_digit_year_pivot))
    return 0.0 if element == "date" and rule not in EQUAL_DATES else score


def element_scores(element: str, labels: Sequence[str], items: Sequence[str], settings: Settings) -> Matrix:
    """Score every label with every item, shape (labels, items).

    Args:
        element: Scalar type both are compared as, other than ``free_text``.
        labels: Labels.
        items: Predicted items; each must have a value.
        settings: Settings.
    """
    matrix = _MATRIX_FORMS.get(element)
    if matrix is not None and len(labels) * len(items) >= LONG_LIST:
        return matrix(labels, items, settings)
    scores = np.zeros((len(labels), len(items)))
    for row, label in enumerate(labels):
        for column, item in enumerate(items):
            scores[row, column] = element_score(element, item, label, settings)
    return scores


def _names(labels: Sequence[str], items: Sequence[str], settings: Settings) -> Matrix:
    label_keys, item_keys = ([name_key(text) for text in side] for side in (labels, items))
    joined = [[" ".join(key) for key in side] for side in (item_keys, label_keys)]

    def compare(scorer: Callable[..., float]) -> Matrix:
        return np.asarray(process.cdist(*joined, scorer=scorer, dtype=np.float64).T)

    shared = TokenOverlap(label_keys, item_keys)
    winkler = np.where(shared.shared > 0, compare(JaroWinkler.similarity), 0.0)
    fragment = (shared.coverage < FRAGMENT_BELOW) & (shared.row_lengths > 0)[:, None]
    fuzzy = np.where(fragment, compare(fuzz.token_sort_ratio), compare(fuzz.token_set_ratio)) / 100
    scores = np.maximum(fuzzy, winkler)
    contained = TokenOverlap(label_keys, [name_words(item) for item in items]).coverage == 1.0
    negated = _outer(
        [is_negated(tokens(t), t) for t in labels], [is_negated(tokens(t), t) for t in items], np.not_equal
    )
    scores = np.where(negated, 0.0, np.where(contained, 1.0, scores))
    return np.where(_equal(map(_words, labels), map(_words, items)), 1.0, scores)


def _ids(labels: Sequence[str], items: Sequence[str], settings: Settings) -> Matrix:
    same_text = _equal(map(_folded, labels), map(_folded, items))
    label_keys, item_keys = (
        [id_key(text) or (side, n) for n, text in enumerate(texts)] for side, texts in enumerate((labels, items))
    )
    return (same_text | _equal(label_keys, item_keys)).astype(float)


def _dates(labels: Sequence[str], items: Sequence[str], settings: Settings) -> Matrix:
    scores = _equal(map(_words, labels), map(_words, items)).astype(float)
    at: dict[object, list[int]] = {}
    for column, item in enumerate(items):
        for day in _days(item, settings):
            at.setdefault(day, []).append(column)
    for row, label in enumerate(labels):
        for day in _days(label, settings):
            scores[row, at.get(day, [])] = 1.0
    return scores


_MATRIX_FORMS: dict[str, Callable[[Sequence[str], Sequence[str], Settings], Matrix]] = {
    "name": _names,
    "id": _ids,
    "date": _dates,
}


def _days(text: str, settings: Settings) -> set[object]:
    scoring = settings.field_scoring
    found = find_dates(text, day_first=scoring.day_first, pivot=scoring.two_digit_year_pivot)
    return {value.date for value in found if value.date is not None}


def _folded(text: str) -> str:
    folded = canonical(text).casefold()
    return folded.rstrip(".,;: ") or folded


def _words(text: str) -> Hashable:
    return tokens(text) or _folded(text)


def _equal(labels: Iterable[Hashable], items: Iterable[Hashable]) -> NDArray[np.bool_]:
    """Compare every label's key with every item's."""
    codes: dict[Hashable, int] = {}
    rows, columns = ([codes.setdefault(key, len(codes)) for key in side] for side in (labels, items))
    return _outer(rows, columns, np.equal)


def _outer(labels: Sequence[object], items: Sequence[object], compare: Callable[..., object]) -> NDArray[np.bool_]:
    return np.asarray(compare(np.array(labels)[:, None], np.array(items)[None, :]), dtype=bool)
