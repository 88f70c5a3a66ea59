"""Which rule decides, in which order, for every scalar type."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dojo_kit import InputError, Settings, SettingsError, explain_field, score_field
from dojo_kit.schema import SCALAR_TYPES

texts = st.text(max_size=30)


@pytest.mark.parametrize(
    ("type", "predicted", "expected", "score", "rule"),
    [
        # No value on a side, for every type.
        ("date", None, "not specified", 1.0, "date.both_empty"),
        ("money", "$5", "n/a", 0.0, "money.expected_empty"),
        ("name", "unknown", "Acme", 0.0, "name.predicted_empty"),
        ("date", "", "____ day of ____, 20__", 1.0, "date.null_label"),
        ("date", "2020-01-01", "[*], 2019", 0.0, "date.null_label"),
        # A value against itself comes before everything else.
        ("date", "April 31, 2009", "april 31, 2009", 1.0, "date.identical"),
        ("name", "not exclusive", "Not Exclusive.", 1.0, "name.identical"),
        ("money", "about $5", "About $5", 1.0, "money.identical"),
        # Dates.
        ("date", "4/31/2009", "5/1/2009", 0.0, "date.impossible"),
        ("date", "May 1, 2009", "4/31/2009", 0.0, "date.impossible"),
        ("date", "2009-05-01", "May 1, 2009", 1.0, "date.equal"),
        ("date", "May 1, 2009 or June 2, 2010", "June 2, 2010", 1.0, "date.one_of"),
        ("date", "2009-05-20", "May 1, 2009", 0.67, "date.same_month"),
        ("date", "2009-06-10", "May 1, 2009", 0.67, "date.cluster"),
        ("date", "2009-12-30", "January 5, 2010", 0.67, "date.cluster"),
        ("date", "2009-12-10", "May 1, 2009", 0.33, "date.same_year"),
        ("date", "2010-05-01", "May 1, 2009", 0.0, "date.different"),
        ("date", "May 2009", "May 1, 2009", 0.67, "date.partial_month"),
        ("date", "2009", "May 1, 2009", 0.33, "date.partial_year"),
        ("date", "June 2009", "May 1, 2009", 0.33, "date.partial_year"),
        ("date", "July 4", "the fourth of July, 1999", 0.33, "date.partial_day"),
        ("date", "2008", "May 1, 2009", 0.0, "date.different"),
        ("date", "the Closing Date", "May 1, 2009", 0.0, "date.different"),
        ("date", "upon the Closing", "the Closing", 0.0, "date.null_label"),
        ("date", "sometime in March next", "March next", 1.0, "name.containment"),
        # Money.
        ("money", "$5", "EUR 5", 0.0, "money.currency"),
        ("money", "at least $5", "$5", 0.0, "money.bound"),
        ("money", "5", "$5.00", 1.0, "money.equal"),
        ("money", "$5 or $6", "$6", 0.5, "money.one_of"),
        ("money", "$5 now, $5 in all", "$5", 1.0, "money.equal"),
        ("money", "$5 and $6", "$6.00 and $5.00", 1.0, "money.same_amounts"),
        ("money", "$5 or $6", "$7", 0.0, "money.different"),
        ("money", "a fee to be agreed", "$7", 0.0, "money.different"),
        ("money", "a fee to be agreed", "fee to be agreed", 1.0, "name.containment"),
        # Names.
        ("name", "not transferable", "transferable", 0.0, "name.negated"),
        ("name", "Amendment No. 3", "No. 3", 1.0, "name.containment"),
        ("name", "Café Müller GmbH", "Cafe Muller", 1.0, "name.containment"),
        ("name", "Acme", "Acme Oil and Gas Trading", 0.833, "name.fragment"),
        ("name", "Acme Oil", "Acme Oil Trading", 1.0, "name.token_set"),
        ("name", "Acme Foods", "Acme Motors", 0.905, "name.jaro_winkler"),
        # Identifiers.
        ("id", "123 abc", "123-ABC", 1.0, "id.key"),
        ("id", "PA-100", "NV-100", 0.0, "id.key"),
        ("id", "(42).", "42", 1.0, "id.key"),
        # Text.
        ("free_text", "a b c d", "a b x y", 0.5, "free_text.token_f1"),
        ("containment", "State of Texas law", "the laws of the State of Texas", 0.667, "containment.coverage"),
    ],
)
def test_rule(type: str, predicted: object, expected: str, score: float, rule: str) -> None:
    """Each rule decides where it should, and its explanation says the same."""
    result = score_field(type, predicted, expected)
    why = explain_field(type, predicted, expected)

    assert (round(result.score, 3), result.rule) == (score, rule)
    assert (why.score, why.rule, why.steps[-1].rule) == (result.score, rule, rule)
    assert all(step.score is None for step in why.steps[:-1])


def test_day_order_is_a_setting_and_an_open_one_is_flagged() -> None:
    """01/02/2025 is January 2 unless the setting says day first; either way the reader is told."""
    european = Settings().override({"field_scoring.day_first": True})

    assert score_field("date", "01/02/2025", "January 2, 2025").cautions == ("day_month_order",)
    assert score_field("date", "01/02/2025", "February 1, 2025", settings=european).score == 1.0
    assert score_field("date", "25/02/2025", "February 25, 2025").cautions == ()


def test_period_of_an_amount_is_ignored_and_flagged() -> None:
    """$5 a month equals $5, and the reader is told that the period was not compared."""
    result = score_field("money", "$5 per month", "$5")

    assert (result.score, result.cautions) == (1.0, ("period_ignored",))


@pytest.mark.parametrize("type", SCALAR_TYPES)
@given(text=texts)
def test_identity_is_one(type: str, text: str) -> None:
    """Any text against itself scores 1, in every type."""
    assert score_field(type, text, text).score == 1.0


@pytest.mark.parametrize("type", SCALAR_TYPES)
@given(predicted=texts, expected=texts)
def test_scores_stay_in_bounds(type: str, predicted: str, expected: str) -> None:
    """Any two texts score between 0 and 1 and name a rule of the type."""
    result = score_field(type, predicted, expected)

    assert 0.0 <= result.score <= 1.0
    assert result.rule.partition(".")[0] in {type, "name"}


@given(st.dates(dt.date(1950, 1, 1), dt.date(2049, 12, 31)))
def test_a_date_equals_itself_however_written(day: dt.date) -> None:
    """ISO, American, long and legal forms of one day are equal."""
    for form in (f"{day:%m/%d/%Y}", f"{day:%B} {day.day}, {day.year}", f"{day.day} day of {day:%B}, {day.year}"):
        assert score_field("date", day.isoformat(), form).score == 1.0


def test_wrong_types_are_scored() -> None:
    """A list for a scalar is its only item, a number its digits, an object nothing."""
    assert score_field("name", ["Acme"], "Acme").score == 1.0
    assert score_field("money", 160000, "$160,000").score == 1.0
    assert score_field("name", {"name": "Acme"}, "Acme").rule == "name.predicted_empty"
    assert score_field("entity_list:name", "Acme", ["Acme"]).score == 1.0


def test_reasoning_and_fences_are_no_answer() -> None:
    """What a model thought does not count, and a fence around its answer does not hurt."""
    assert score_field("name", "<think>Acme</think>Beta", "Acme").score < 1.0
    assert score_field("name", "```\nAcme\n```", "Acme").rule == "name.identical"


def test_mistakes_of_the_caller() -> None:
    """An unknown type names the nearest one; an object as label is refused."""
    with pytest.raises(SettingsError, match="did you mean 'free_text'"):
        score_field("freetext", "a", "b")
    with pytest.raises(InputError, match="a label is an object"):
        score_field("name", "a", {"x": 1})
