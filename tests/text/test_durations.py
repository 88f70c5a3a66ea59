"""Durations in days, and the spelled numbers they are written with."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dojo_kit.text.durations import find_durations, number_from_words, ordinal_from_words, parse_duration
from dojo_kit.text.tokens import canonical

GOLDEN = Path(__file__).parents[1] / "golden"
VECTORS = [v for v in json.loads((GOLDEN / "scoring.json").read_text()) if v["area"] == "duration"]
ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
UNIT_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}


def spelled(number: int) -> str:
    if number < 20:
        return ONES[number]
    if number < 100:
        return TENS[number // 10 - 2] + (f"-{ONES[number % 10]}" if number % 10 else "")
    for size, name in ((1_000_000, "million"), (1000, "thousand"), (100, "hundred")):
        if number >= size:
            rest = f" and {spelled(number % size)}" if number % size else ""
            return f"{spelled(number // size)} {name}{rest}"
    raise AssertionError


@given(st.integers(0, 999_999_999))
def test_spelled_numbers_read_back(number):
    """Every whole number below a milliard survives being spelled."""
    assert number_from_words(spelled(number)) == number
    assert number_from_words(spelled(number).title().replace(" and ", " ")) == number


@pytest.mark.parametrize(
    "words", ["", "one two", "ten five", "twenty twelve", "hundred hundred", "thousand million", "x"]
)
def test_words_that_make_no_number_are_refused(words):
    """A sequence of number words that is no number gives None, not a guess."""
    assert number_from_words(words) is None


def test_ordinals_are_read_below_one_hundred():
    """First to ninety-ninth are read; cardinals and nonsense are not."""
    assert [ordinal_from_words(w) for w in ("first", "twelfth", "twentieth", "Thirty-First", "ninety ninth")] == [
        1,
        12,
        20,
        31,
        99,
    ]
    assert [ordinal_from_words(w) for w in ("four", "twenty tenth", "of the first", "")] == [None] * 4


STYLES = {
    "digits": lambda n, unit: f"{n} {unit}s",
    "hyphen": lambda n, unit: f"{n}-{unit}",
    "words": lambda n, unit: f"{spelled(n)} {unit}s",
    "both": lambda n, unit: f"{spelled(n)} ({n}) {unit}s",
    "digits first": lambda n, unit: f"{n} ({spelled(n)}) {unit}s",
    "spaced brackets": lambda n, unit: f"{spelled(n)} ( {n} ) {unit}(s)",
    "in a sentence": lambda n, unit: f"The initial term is {spelled(n)} ({n}) {unit}s from the Effective Date.",
}


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES.keys())
@given(number=st.integers(1, 999), unit=st.sampled_from(list(UNIT_DAYS)))
def test_a_duration_survives_every_style(style, number, unit):
    """Any number of days, weeks, months or years reads back in every style."""
    assert parse_duration(style(number, unit)).days == number * UNIT_DAYS[unit]


@given(years=st.integers(1, 50), months=st.integers(1, 23), mark=st.sampled_from([" and ", ", ", " ", ", and "]))
def test_compounds_add_up(years, months, mark):
    """Years and months joined by a comma, "and" or nothing are one duration."""
    text = f"{spelled(years)} ({years}) years{mark}{months} months"
    assert parse_duration(text).days == years * 365 + months * 30
    assert len(find_durations(text)) == 1


@given(st.one_of(st.text(), st.text(alphabet="0123456789.,()-/\u2044 onethrfivyeasmohdqukPYMWD")))
def test_any_text_is_read_without_error_and_ranges_lie_inside(text):
    """No text raises; ranges are ordered, do not overlap and lie in the canonical text."""
    last = 0
    for value in find_durations(text):
        assert last <= value.start < value.end <= len(canonical(text))
        assert value.days >= 0
        last = value.end
    parse_duration(text)
    parse_duration(text, which="renewal")


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["args"][0])
def test_golden_vectors(vector):
    """The published durations in days."""
    value = parse_duration(*vector["args"])
    assert (None if value is None else value.days) == vector["expected"]


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("90 days", 90),
        ("fifteen months", 450),
        ("one-year", 365),
        ("twelve-month", 360),
        ("six (6) month", 180),
        ("5 (five) year term", 1825),
        ("eighteen (24) months", 720),
        ("one (I) year", 365),
        ("60) days", 60),
        ("3~year periods", 1095),
        ("two years (2)", 730),
        ("five (5) contract years", 1825),
        ("thirty (30) calendar days", 30),
        ("one (1) or more one (1) month periods", 30),
        ("two (2) consecutive one (1) year periods", 365),
        ("1.5 years", 547.5),
        ("2 1/2 years", 912.5),
        ("1\u00bd years", 547.5),
        ("two and one-half (2.5) years", 912.5),
        ("six and a half months", 195),
        ("half a year", 182.5),
        ("a year", 365),
        ("another month", 30),
        ("an additional year", 365),
        ("quarter", 90),
        ("quarterly", 90),
        ("monthly", 30),
        ("on a yearly basis", 365),
        ("semi-annually", 182.5),
        ("month to month", 30),
        ("1 yr 6 mos", 545),
        ("P1Y6M", 545),
        ("48 hours", 2),
        ("two weeks", 14),
        ("1,000 days", 1000),
        ("until the fifth (5t h) anniversary of the Effective Date", 1825),
        ("ends on the first anniversary", 365),
        ("through the end of the third (3rd) Contract Year", 1095),
        ("shall end on the 60th day following notice", 60),
        ("annual audits during a term of five years", 1825),
        ("two years and 90 days' prior notice", 730),
        ("6 months; 12 months", 180),
    ],
)
def test_terms_as_written(text, days):
    """A table of terms, each read as its first duration."""
    assert parse_duration(text).days == days


@pytest.mark.parametrize(
    "text",
    [
        "",
        "perpetual",
        "in perpetuity, subject to 30 days' notice",
        "shall continue indefinitely until terminated on 30 days' notice",
        "10 day of January 2019",
        "the 1st day of May",
        "until December 31, 2020",
        "[***] years",
        "at the 2018 annual meeting",
        "each year of the term",
        "the 2019 year",
        "may",
        "forever",
    ],
)
def test_texts_without_a_term(text):
    """Endless terms, dates, blanks and rhythms of other things are no durations."""
    assert parse_duration(text) is None


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("initial term of five years, renewing for successive one (1) year terms", 365),
        ("two (2) successive renewal terms of ten years each", 3650),
        ("automatic annual renewals unless a party gives sixty (60) days notice", 365),
        ("for five years with automatic 2 year term extensions", 730),
        ("unless either party gives 90 days' prior notice, it shall renew for twelve-month periods", 360),
        ("shall renew from year to year", 365),
        ("may be extended on a yearly basis up to ten (10) years", 365),
        ("renewed automatically each year", 365),
        ("may renew by giving notice no less than thirty (30) days before expiry", 30),
        ("continues month to month until terminated on 60 days' notice", 30),
        ("2 successive 5 years", 1825),
        ("5 years; 2 years", 730),
        ("extended for an additional month of service", 30),
    ],
)
def test_renewals_as_written(text, days):
    """A renewal is the duration a renewal or extension is for, else the last one; notice periods come last."""
    assert parse_duration(text, which="renewal").days == days


@pytest.mark.parametrize(
    "text", ["perpetual", "after one year it renews for an unlimited period unless terminated on 30 days notice"]
)
def test_endless_renewals_have_no_length(text):
    """A renewal without end has no length."""
    assert parse_duration(text, which="renewal") is None


def test_abbreviations_with_periods_join():
    """A period after an abbreviation ends no sentence; after a whole word it does."""
    assert parse_duration("1 yr. 3 mo.").days == 455
    assert [value.days for value in find_durations("1 year. 3 months")] == [365, 90]


def test_which_is_checked():
    """An unknown reading is an error that names the known ones."""
    with pytest.raises(ValueError, match="'first' or 'renewal'"):
        parse_duration("one year", which="last")


def test_range_names_the_words_read():
    """The range covers the whole compound in the canonical text."""
    text = "a term of\u00a0five (5)  years and six months thereafter"
    value = parse_duration(text)
    assert canonical(text)[value.start : value.end] == "five (5) years and six months"


def test_long_texts_take_linear_time():
    """Long and hostile texts are read in time that grows with their length."""
    for text in (
        "for a term of five (5) years and six months. " * 1000,
        "one " * 15_000,
        "1 " * 30_000,
        "a half " * 8_000,
    ):
        started = time.perf_counter()
        find_durations(text)
        parse_duration(text, which="renewal")
        assert time.perf_counter() - started < 10
