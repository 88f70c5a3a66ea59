"""Matching the items of a list to its labels, one to one, and what that makes of precision and recall.

Among pairs at or above the threshold the assignment maximises first the number of matched labels, then their
total similarity. Where labels are a sample of what is right (partial ground truth), role words and labels
contained in an item count as found as well, without adding to the predicted items.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dojo_kit.scoring.embedding import RESCUE
from dojo_kit.scoring.overlap import Matrix
from dojo_kit.scoring.roles import is_only_roles
from dojo_kit.scoring.similarity import Similarities, compare_lists
from dojo_kit.settings import Settings
from dojo_kit.text.names import name_key, name_words
from dojo_kit.text.tokens import is_contiguous, tokens

MIN_CONTAINED_WORDS = 3
"""Words a clause label needs to count as found inside a longer item; names may have any length."""

MATCHED, SAME_TEXT, ROLE_WORD = "list.matched", "list.same_text", "list.role_word"
CONTAINED, BLANK, UNMATCHED = "list.contained", "list.blank_label", "list.unmatched"


@dataclass(frozen=True, slots=True)
class LabelMatch:
    """What became of one label.

    Attributes:
        matched: Whether it counts as found.
        rule: Why, or why not.
        item: Index of the item that pays for it; None for role words and unmatched labels.
        similarity: Similarity to that item, else to the nearest item; None when there is no item.
    """

    matched: bool
    rule: str
    item: int | None
    similarity: float | None


@dataclass(frozen=True, slots=True)
class ListScore:
    """A list's scores and the matches they follow from.

    Attributes:
        score: What feeds the composite: coverage of the labels with partial ground truth, else F1.
        rule: ``list.coverage``, ``list.f1``, or the rule for empty lists.
        precision: Distinct matched items / predicted items; 0 when none were predicted but some expected.
        recall: Matched labels / labels; None when nothing was expected but something predicted.
        f1: Harmonic mean of both; None when recall is.
        n_predicted: Predicted items.
        n_expected: Labels, blank ones included.
        n_matched_items: Distinct items that matched.
        n_matched_labels: Labels found.
        labels: What became of each label, in order.
    """

    score: float
    rule: str
    precision: float
    recall: float | None
    f1: float | None
    n_predicted: int
    n_expected: int
    n_matched_items: int
    n_matched_labels: int
    labels: tuple[LabelMatch, ...] = ()


def match_list(
    items: Sequence[str],
    labels: Sequence[str],
    element: str,
    *,
    partial_gt: bool,
    settings: Settings,
    similarities: Similarities | None = None,
) -> ListScore:
    """Match items to labels and score the list.

    Args:
        items: Predicted items with a value.
        labels: Labels.
        element: Scalar type items are compared as.
        partial_gt: The labels are a sample of what is right.
        settings: Settings.
        similarities: Label by item similarities, when already known.
    """
    if not labels:
        found = float(not items)
        rule = "list.expected_empty" if items else "list.both_empty"
        return ListScore(found, rule, found, None if items else 1.0, None if items else 1.0, len(items), 0, 0, 0)
    similarities = similarities or compare_lists(labels, items, element, settings)
    threshold = settings.field_scoring.match_threshold
    matches = match_labels(items, labels, similarities, threshold, element=element, partial_gt=partial_gt)
    return score_matches(matches, len(items), partial_gt=partial_gt)


def match_labels(
    items: Sequence[str],
    labels: Sequence[str],
    similarities: Similarities,
    threshold: float,
    *,
    element: str,
    partial_gt: bool,
) -> tuple[LabelMatch, ...]:
    """Say of every label whether it was found, and why.

    Args:
        items: Predicted items.
        labels: Labels.
        similarities: Label by item similarities.
        threshold: Similarity from which a pair may match.
        element: Scalar type of the items.
        partial_gt: Accept role words and contained labels.
    """
    words = [tokens(label) for label in labels]
    similarity = similarities.score
    assigned = assign(similarity, threshold, groups=words)
    owner = {words[row]: int(item) for row, item in enumerate(assigned) if item >= 0}
    matches = []
    for row, label in enumerate(labels):
        item = int(assigned[row])
        if item >= 0:
            rule = MATCHED if similarities.string[row, item] >= threshold else RESCUE
            match = LabelMatch(True, rule, item, float(similarity[row, item]))
        elif not words[row]:
            match = LabelMatch(False, BLANK, None, None)
        elif words[row] in owner:
            item = owner[words[row]]
            match = LabelMatch(True, SAME_TEXT, item, float(similarity[row, item]))
        else:
            found = _instantiated(label, items, similarities, row, element) if partial_gt else None
            nearest = float(similarity[row].max()) if len(items) else None
            match = found or LabelMatch(False, UNMATCHED, None, nearest)
        matches.append(match)
    return tuple(matches)


def assign(
    similarity: Matrix, threshold: float, *, groups: Sequence[tuple[str, ...]] | None = None
) -> NDArray[np.int64]:
    """Assign items to labels one to one.

    Args:
        similarity: Shape (labels, items).
        threshold: Pairs below it never match.
        groups: Token tuple of each label. Labels with equal tokens are one label first, so that a repeated label
            takes no item another label needs; it may take an item left over that is as similar as the first one's.
            A label without tokens is blank and gets nothing.

    Returns:
        Index of each label's item, -1 where it has none.

    Examples:
        >>> assign(np.array([[0.9, 0.8], [0.7, 0.0]]), 0.6)
        array([1, 0])
    """
    result = np.full(len(similarity), -1, dtype=np.int64)
    usable = similarity >= threshold
    if not usable.any():
        return result
    first = {} if groups is None else {group: row for row, group in reversed(list(enumerate(groups))) if group}
    if groups is None or len(first) == len(groups):
        _solve(similarity, usable, result)
        return result
    once = np.zeros(len(similarity), dtype=bool)
    once[list(first.values())] = True
    again = np.array([bool(group) for group in groups]) & ~once
    _solve(similarity, usable & once[:, None], result)
    free = np.ones(similarity.shape[1], dtype=bool)
    free[result[result >= 0]] = False
    owner = [first.get(group, row) for row, group in enumerate(groups)]
    reached = np.where(result[owner] >= 0, similarity[owner, result[owner]], np.inf)
    as_good = similarity >= reached[:, None] - 1e-9
    _solve(similarity, usable & again[:, None] & free & as_good, result)
    return result


def _solve(similarity: Matrix, usable: NDArray[np.bool_], into: NDArray[np.int64]) -> None:
    """Assign among the usable pairs and write each label's item into ``into``."""
    rows, columns = np.flatnonzero(usable.any(axis=1)), np.flatnonzero(usable.any(axis=0))
    if not len(rows):
        return
    if len(rows) == 1:
        row = rows[0]
        into[row] = np.where(usable[row], similarity[row], -1.0).argmax()
        return
    from scipy.optimize import linear_sum_assignment

    inner = usable[rows][:, columns]
    a_match_beats_any_similarity = min(inner.shape) + 1.0
    weights = np.where(inner, similarity[rows][:, columns] + a_match_beats_any_similarity, 0.0)
    chosen_rows, chosen_columns = linear_sum_assignment(weights, maximize=True)
    real = inner[chosen_rows, chosen_columns]
    into[rows[chosen_rows[real]]] = columns[chosen_columns[real]]


def _instantiated(
    label: str, items: Sequence[str], similarities: Similarities, row: int, element: str
) -> LabelMatch | None:
    """Find a label of a sample in another way than by assignment."""
    similarity = similarities.score[row]
    if element == "name" and is_only_roles(label) and any(not is_only_roles(item) for item in items):
        return LabelMatch(True, ROLE_WORD, None, float(similarity.max()))
    for index, item in enumerate(items):
        # A clause cannot stand in an item that lacks one of its words; names drop words before comparing.
        possible = element == "name" or similarities.coverage[row, index] == 1.0
        if possible and is_contained(label, item, element):
            return LabelMatch(True, CONTAINED, index, float(similarity[index]))
    return None


def is_contained(label: str, item: str, element: str) -> bool:
    """Tell whether a label stands word by word inside an item (clauses: from 3 words on).

    Examples:
        >>> is_contained('"we," "us"', 'Acme, LLC ("we," "us," or "our")', "name")
        True
        >>> is_contained("pay fees", "shall pay fees", "free_text")
        False
    """
    if element == "name":
        return is_contiguous(name_key(label), name_words(item))
    words = tokens(label)
    return len(words) >= MIN_CONTAINED_WORDS and is_contiguous(words, tokens(item))


def score_matches(matches: tuple[LabelMatch, ...], n_predicted: int, *, partial_gt: bool) -> ListScore:
    """Score a list with labels.

    Args:
        matches: What became of each label.
        n_predicted: Predicted items.
        partial_gt: The labels are a sample of what is right.
    """
    n_labels = sum(match.matched for match in matches)
    n_items = len({match.item for match in matches if match.matched and match.item is not None})
    precision = n_items / n_predicted if n_predicted else 0.0
    recall = n_labels / len(matches)
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return ListScore(
        recall if partial_gt else f1,
        "list.coverage" if partial_gt else "list.f1",
        precision,
        recall,
        f1,
        n_predicted,
        len(matches),
        n_items,
        n_labels,
        matches,
    )
