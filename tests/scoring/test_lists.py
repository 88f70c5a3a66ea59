"""Matching lists: assignment, sharing, role words, contained and blank labels."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dojo_kit import Settings, score_list
from dojo_kit.scoring.elements import _MATRIX_FORMS, element_score
from dojo_kit.scoring.lists import assign
from dojo_kit.scoring.overlap import TokenOverlap
from dojo_kit.text.tokens import coverage, is_no_value, token_f1, tokens

words = st.lists(st.sampled_from("a b c d".split()), max_size=6)


@given(arrays(float, st.tuples(st.integers(1, 4), st.integers(1, 4)), elements=st.floats(0, 1)))
def test_assignment_is_the_best_of_all(similarity: np.ndarray) -> None:
    """No other assignment matches more labels, or as many with more similarity."""
    n_labels, n_items = similarity.shape
    found = assign(similarity, 0.5)
    slots = [*range(n_items), *[-1] * n_labels]
    best = max(_value(similarity, choice) for choice in set(itertools.permutations(slots, n_labels)))

    assert _value(similarity, tuple(found)) == pytest.approx(best)


def _value(similarity: np.ndarray, choice: tuple[int, ...]) -> tuple[int, float]:
    chosen = [similarity[row, item] for row, item in enumerate(choice) if item >= 0 and similarity[row, item] >= 0.5]
    return len(chosen), round(float(sum(chosen)), 9)


@given(st.lists(words, min_size=1, max_size=4), st.lists(words, min_size=1, max_size=4))
def test_token_overlap_agrees_with_plain_functions(rows: list[list[str]], columns: list[list[str]]) -> None:
    """The matrix form of token F1 and coverage equals the text form."""
    overlap = TokenOverlap(rows, columns)
    for i, j in itertools.product(range(len(rows)), range(len(columns))):
        assert overlap.f1[i, j] == pytest.approx(token_f1(columns[j], rows[i]))
        assert overlap.coverage[i, j] == pytest.approx(coverage(columns[j], rows[i]))
        assert overlap.precision[i, j] == pytest.approx(coverage(rows[i], columns[j]))


ALIKE = [
    "Acme Oil",
    "ACME OIL, Inc.",
    "not Acme Oil",
    "Oil",
    "Acme Gas Trading and Oil",
    "the Company",
    "S.A.",
    "____",
    "é",
]
DATED = [
    "May 1, 2020",
    "2020-05-01",
    "4/31/2020",
    "May 2020",
    "01/02/2021",
    "2 January 2021",
    "the Closing",
    "[*], 2020",
]
values = st.one_of(st.sampled_from(ALIKE + DATED), st.text(min_size=1, max_size=8)).filter(lambda t: not is_no_value(t))


@pytest.mark.parametrize("element", sorted(_MATRIX_FORMS))
@given(labels=st.lists(values, min_size=1, max_size=6), items=st.lists(values, min_size=1, max_size=6))
def test_matrix_forms_agree_with_the_rules(element: str, labels: list[str], items: list[str]) -> None:
    """Long lists are compared by matrices that give what the rules give pair by pair."""
    settings = Settings()
    by_rules = [[element_score(element, item, label, settings) for item in items] for label in labels]

    assert _MATRIX_FORMS[element](labels, items, settings) == pytest.approx(np.array(by_rules))


def test_one_item_pays_for_one_label() -> None:
    """Two labels and one item that resembles both: one matches, the other does not."""
    score = score_list("entity_list:free_text", ["pay all fees now"], ["pay all fees", "all fees now"])

    assert [label.matched for label in score.labels] == [True, False]
    assert score.precision == 1.0


def test_labels_of_equal_text_share_a_match() -> None:
    """One sentence labelled under two categories is found once, and counts twice."""
    score = score_list("entity_list:free_text", ["the fee is due"], ["The fee is due.", "the fee is due"])

    assert [label.rule for label in score.labels] == ["list.matched", "list.same_text"]
    assert (score.n_expected, score.n_matched_labels, score.n_matched_items) == (2, 2, 1)


def test_repeated_label_takes_no_item_another_needs() -> None:
    """Labels A, A, B and items that match (A and B) and A: all three are found."""
    labels = ["alpha beta gamma", "alpha beta gamma", "alpha beta delta"]
    items = ["alpha beta gamma delta", "alpha beta gamma"]
    score = score_list("entity_list:free_text", items, labels)

    assert score.n_matched_labels == 3


def test_duplicate_items_count_against_precision() -> None:
    """The second copy of an item matches nothing."""
    score = score_list("entity_list:name", ["Acme", "Acme"], ["Acme"])

    assert (score.precision, score.recall) == (0.5, 1.0)


def test_role_word_is_met_by_a_named_party_only() -> None:
    """A label "Seller." needs an item that is more than role words."""
    named = score_list("entity_list:name", ["Acme Oil Inc."], ["Seller."], partial_gt=True)
    roles = score_list("entity_list:name", ["Buyer"], ["Seller."], partial_gt=True)
    exhaustive = score_list("entity_list:name", ["Acme Oil Inc."], ["Seller."])

    assert (named.labels[0].rule, named.score, named.n_matched_items) == ("list.role_word", 1.0, 0)
    assert roles.score == 0.0
    assert exhaustive.score == 0.0


def test_contained_clause_needs_three_words_in_a_row() -> None:
    """A short clause inside a long item is found with partial ground truth, and its carrier counts once."""
    item = "During the term the Licensee shall pay royalties quarterly and keep books and records of all sales"
    found = score_list(
        "entity_list:free_text", [item], ["shall pay royalties", "books and records of"], partial_gt=True
    )
    scattered = score_list("entity_list:free_text", [item], ["shall keep records"], partial_gt=True)

    assert [label.rule for label in found.labels] == ["list.contained"] * 2
    assert (found.n_matched_items, found.precision, found.score) == (1, 1.0, 1.0)
    assert scattered.score == 0.0


@pytest.mark.parametrize("blank", ["____", "[*]", "[***]", "•", "- -"])
def test_blank_label_is_counted_and_never_matched(blank: str) -> None:
    """A label without a word counts in n_expected and cannot match, not even itself."""
    score = score_list("entity_list:free_text", [blank, "pay fees"], [blank, "pay fees"], partial_gt=True)

    assert score.labels[0].rule == "list.blank_label"
    assert (score.n_expected, score.n_matched_labels) == (2, 1)


def test_empty_lists() -> None:
    """Nothing expected and nothing predicted is right; something predicted has no recall."""
    both, extra = score_list("entity_list", [], []), score_list("entity_list", ["x"], [])

    assert (both.precision, both.recall, both.f1, both.score, both.n_expected) == (1.0, 1.0, 1.0, 1.0, 0)
    assert (extra.precision, extra.recall, extra.f1, extra.score) == (0.0, None, None, 0.0)


def test_dates_in_lists_match_only_when_equal() -> None:
    """Two days of one month earn 0.67 as a field, and nothing as list items."""
    score = score_list("entity_list:date", ["2024-03-04", "March 9, 2024"], ["2024-03-05", "9 March 2024"])

    assert score.n_matched_labels == 1


@given(st.lists(st.text(min_size=1, max_size=12).filter(tokens), max_size=5))
def test_list_against_itself_is_perfect(values: list[str]) -> None:
    """Every list equals itself, repeated items included, in any element type."""
    for element in ("name", "free_text", "id"):
        score = score_list(f"entity_list:{element}", values, values)

        assert score.f1 == 1.0


@given(st.permutations(["Acme Oil", "Beta Gas", "Gamma Air", "Acme Oil Trading"]))
def test_order_of_items_does_not_matter(items: list[str]) -> None:
    """Shuffled items give the same scores."""
    score = score_list("entity_list:name", items, ["Acme Oil Inc", "Gamma Air", "Delta"])

    assert (score.precision, score.recall) == (0.5, pytest.approx(2 / 3))
