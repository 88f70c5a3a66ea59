"""Amounts of money: exact values, currencies, bounds, and what is no amount."""

from __future__ import annotations

import json
import time
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dojo_kit.text.money import find_amounts, parse_money
from dojo_kit.text.tokens import canonical

GOLDEN = Path(__file__).parents[1] / "golden"
VECTORS = [v for v in json.loads((GOLDEN / "scoring.json").read_text()) if v["area"] == "money"]
BUGS = json.loads((GOLDEN / "bug_inputs.json").read_text())
CENT = Decimal("0.01")


def label(case: dict[str, object]) -> str:
    return str(case.get("id") or case.get("args"))


def grouped(amount: Decimal, group: str, point: str) -> str:
    return f"{amount:,.2f}".replace(",", "\0").replace(".", point).replace("\0", group)


STYLES = {
    "plain": lambda a: f"{a:.2f}",
    "dollars": lambda a: f"${a:,.2f}",
    "code before": lambda a: f"USD {a:,.2f}",
    "code after": lambda a: f"{a:,.2f} EUR",
    "words after": lambda a: f"{a:,.2f} U.S. dollars",
    "continental": lambda a: grouped(a, ".", ",") + " \u20ac",
    "spaces": lambda a: "\u20ac " + grouped(a, " ", ","),
    "no-break spaces": lambda a: grouped(a, "\u00a0", ",") + " EUR",
    "swiss": lambda a: "CHF " + grouped(a, "\u2019", "."),
    "in a sentence": lambda a: f"The licensee pays a fee of \u00a3{a:,.2f} within 30 days of May 5, 2010.",
    "with a fee word": lambda a: f"US${a:,.2f} per month",
}
AMOUNTS = st.decimals(0, 999_999_999, places=2)


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES.keys())
@given(amount=AMOUNTS)
def test_an_amount_survives_every_style(style, amount):
    """Any amount written in any supported notation reads back exactly, as one amount."""
    assert parse_money(style(amount)).amount == amount


@given(amount=AMOUNTS)
def test_brackets_and_minus_make_amounts_negative(amount):
    """Accounting brackets and a minus sign negate; the rest of the reading does not change."""
    for text in (f"({amount:,.2f})", f"(${amount:,.2f})", f"GBP ({amount:,.2f})", f"-{amount:.2f}", f"$-{amount:,.2f}"):
        assert parse_money(text).amount == -amount


@given(
    st.one_of(st.text(), st.text(alphabet="0123456789.,'$\u20ac\u00a3()-% /\u2044~<>+kKMBm\nUSDERonehdtwmilacz")),
)
def test_any_text_is_read_without_error_and_ranges_lie_inside(text):
    """No text raises; ranges are ordered, do not overlap and lie in the canonical text."""
    last = 0
    for value in find_amounts(text):
        assert last <= value.start < value.end <= len(canonical(text))
        assert value.amount.is_finite()
        last = value.end
    one = parse_money(text)
    assert one is None or one.amount in {value.amount for value in find_amounts(text)}


@pytest.mark.parametrize("vector", VECTORS, ids=label)
def test_golden_vectors_follow_from_the_values(vector):
    """Two amounts score 1 exactly when they differ by less than a cent and their currencies do not clash."""
    a, b = map(parse_money, vector["args"])
    clash = None not in (a.currency, b.currency) and a.currency != b.currency
    assert (abs(a.amount - b.amount) < CENT and not clash) == (vector["expected"] == 1.0)


@pytest.mark.parametrize("bug", [b for b in BUGS if b["kind"] == "money_parse"], ids=label)
def test_publicly_reported_inputs_are_read_right(bug):
    """Each input that broke another parser gives the right amount and currency."""
    value, right = parse_money(bug["input"]), bug["right_value"]
    assert value.amount == Decimal(str(right["amount"]))
    if "currency" in right:
        assert value.currency == right["currency"]


PAIRS = [b for b in BUGS if b["kind"] in ("money_pair", "number_pair") and "as id" not in b.get("decided", "")]


@pytest.mark.parametrize("bug", PAIRS, ids=label)
def test_publicly_reported_pairs_agree_as_they_should(bug):
    """Equal exact amounts agree; bounds and approximations never equal an exact amount."""
    gold, predicted = parse_money(bug["input"]["gold"]), parse_money(bug["input"]["pred"])
    same = abs(gold.amount - predicted.amount) < CENT and gold.approximate == predicted.approximate
    assert same == (bug["right_value"].get("score") == 1.0)


TABLE = [
    # scales
    ("$1.2 million", "1200000", "USD"),
    ("$3.5bn", "3500000000", "USD"),
    ("US$165MM", "165000000", "USD"),
    ("82,5k", "82500", None),
    ("\u20ac 1.5 Mio.", "1500000", "EUR"),
    ("1.45 milliards INR", "1450000000", "INR"),
    ("Rs 2.5 crore", "25000000", "INR"),
    ("INR 10 lakhs", "1000000", "INR"),
    ("$2 1/2 million", "2500000", "USD"),
    ("$2\u00bd million", "2500000", "USD"),
    ("$ 5 M", "5000000", "USD"),
    ("5 M", "5000000", None),
    ("1e6", "1000000", None),
    # notations
    ("1.234.567", "1234567", None),
    ("3.350", "3.35", None),
    ("0,350", "0.35", None),
    ("45000,50", "45000.5", None),
    ("14 000,12", "14000.12", None),
    ("\u20b91,00,000", "100000", "INR"),
    ("162'330.-- CHF", "162330", "CHF"),
    ("Rs. 5,00,000/-", "500000", "INR"),
    ("$340,000,00", "340000", "USD"),
    (",89 \u20ac", "0.89", "EUR"),
    ("$.50", "0.5", "USD"),
    ("$.35 cents", "0.35", "USD"),
    ("$40, 000", "40000", "USD"),
    # currencies
    ("$118,706.50 CDN", "118706.50", "CAD"),
    ("$100 (CAD)", "100", "CAD"),
    ("C$5", "5", "CAD"),
    ("A$5 million", "5000000", "AUD"),
    ("HK$1.5bn", "1500000000", "HKD"),
    ("NT$12m", "12000000", "TWD"),
    ("USD$7,654,000", "7654000", "USD"),
    ("RMB 4,000", "4000", "CNY"),
    ("100 Canadian dollars", "100", "CAD"),
    ("500 pounds sterling", "500", "GBP"),
    ("usd 100", "100", "USD"),
    ("100 francs", "100", None),
    # spelled, and stated twice
    ("five thousand", "5000", None),
    ("a million dollars", "1000000", "USD"),
    ("half a million dollars", "500000", "USD"),
    ("one and a half million euros", "1500000", "EUR"),
    ("USD five million", "5000000", "USD"),
    ("Ten Thousand and No/100 Dollars ($10,000.00)", "10000", "USD"),
    ("One Hundred and 25/100 Dollars", "100.25", "USD"),
    ("two hundred fifty thousand dollars ($250,000)", "250000", "USD"),
    ("twenty-five thousand ($25,000) dollars", "25000", "USD"),
    ("Fifty Thousand USD (50,000)", "50000", "USD"),
    ("$200,000 (Two Hundred Thousand Dollars)", "200000", "USD"),
    ("Two hundred thousand dollars ($250,000)", "250000", "USD"),
    ("$0.02 (two cents) per call", "0.02", "USD"),
    ("five dollars and fifty cents", "5.5", "USD"),
    ("fifty cents", "0.5", None),
    ("$5,000 (USD 5,000)", "5000", "USD"),
    # signs
    ("ISD(rupee) $100", "100", "USD"),
    ("$(500)", "-500", "USD"),
    ("(42).", "-42", None),
    ("The answer is (42).", "42", None),
    ("Net loss (1,234.50)", "-1234.5", None),
    ("a fee (US$500) is due", "500", "USD"),
    ("minus $5", "-5", "USD"),
    # prose
    ("**42**", "42", None),
    ("The answer is 42!", "42", None),
    ("<b>42</b>", "42", None),
    ("-> 42", "42", None),
    ("1. The answer is 42", "42", None),
    ("10\n\nPassage: The 2011 census counted 12 towns", "10", None),
    ("$87,295 for calendar year 2015", "87295", "USD"),
    ("pay 500 within 30 days", "500", None),
    ("$20,000 per month and 2,000,000 shares", "20000", "USD"),
]


@pytest.mark.parametrize(("text", "amount", "currency"), TABLE)
def test_amounts_as_written(text, amount, currency):
    """A table of notations, currencies, spelled amounts and signs."""
    value = parse_money(text)
    assert (value.amount, value.currency) == (Decimal(amount), currency)
    assert not value.approximate


@pytest.mark.parametrize(
    "text",
    [
        "~42",
        "<42",
        "> 42",
        "&lt;42",
        ">= 42 USD",
        "\u2264 $42",
        "about $42",
        "approximately 42",
        "approx. $42",
        "at least 42",
        "no less than $42",
        "up to $42",
        "up to and including $42",
        "more than \u20ac42",
        "shall not exceed in the aggregate $42",
        "up to a maximum amount of $42",
        "(approximately $42)",
        "a minimum of $42",
        "maximum $42",
        "in excess of forty-two dollars ($42)",
        "$42+",
        "$42 or more",
        "$42 minimum",
        "$42 per month minimum",
    ],
)
def test_bounds_and_approximations_are_marked(text):
    """Every way of saying "not exactly" is flagged."""
    value = parse_money(text)
    assert value.amount == 42
    assert value.approximate


@pytest.mark.parametrize("text", ["$42", "a minimum guarantee of $42", "=> 42", "<42>", "$42 plus GST"])
def test_exact_amounts_are_not_marked(text):
    """An amount that merely has a name or a mark beside it is exact."""
    assert not parse_money(text).approximate


@pytest.mark.parametrize(
    ("text", "period"),
    [
        ("$5 per month", "month"),
        ("$5/mo", "month"),
        ("$5 a year", "year"),
        ("$5 per annum", "year"),
        ("$5 annual fee", "year"),
        ("$5 each calendar quarter", "quarter"),
        ("$5 (per week)", "week"),
        ("$5 daily", "day"),
        ("$5 an hour", "hour"),
        ("five dollars ($5) per month", "month"),
        ("$5 per share", None),
        ("$5", None),
    ],
)
def test_periods_are_kept_beside_the_amount(text, period):
    """The period is reported and does not change the amount."""
    value = parse_money(text)
    assert (value.amount, value.period) == (5, period)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "$",
        "$[***]",
        "Contract Year 2 $ [***]",
        "$7OO,000",
        "in Sections 12.1",
        "25%",
        "fifty (50)% of revenues",
        "$35 basis points",
        "30 days",
        "thirty (30) days",
        "two years",
        "Section 4.2",
        "version 1.2.3",
        "May 5, 2010",
        "in 2016",
        "12/25/2010",
        "10:30",
        "A-1",
        "Form 10-K",
        "555-1234",
        "3rd",
        "1A2B",
        "#42",
        "5,500,000 shares",
        "1.2 million units",
        "one of the parties",
        "12.34.56",
    ],
)
def test_other_numbers_are_no_amounts(text):
    """Percentages, durations, sections, dates, times, identifiers and shares are no money."""
    assert find_amounts(text) == []


def test_several_amounts_are_found_but_not_parsed():
    """All amounts are found in reading order; a text that states different ones is not one amount."""
    text = "$30,000 per year; $1,500,000 (First Year) and \u20ac5k"
    assert [value.amount for value in find_amounts(text)] == [30_000, 1_500_000, 5_000]
    assert parse_money(text) is None
    assert parse_money("$5 and \u20ac5") is None
    assert parse_money("pay $5, that is $5").amount == 5


@pytest.mark.parametrize("text", ["$5-10 million", "$5 to $10 million", "between $5 and 10 million", "$5m-10m"])
def test_ranges_share_currency_and_scale(text):
    """The ends of a range are two amounts with one currency and one scale."""
    assert [(v.amount, v.currency) for v in find_amounts(text)] == [(5_000_000, "USD"), (10_000_000, "USD")]


def test_range_names_the_words_read():
    """The range covers currency, number and restatement in the canonical text."""
    text = "a fee of\u00a0One Hundred Thousand  Dollars ($100,000) in May"
    value = parse_money(text)
    assert canonical(text)[value.start : value.end] == "One Hundred Thousand Dollars ($100,000)"


def test_long_texts_take_linear_time():
    """Long and hostile texts are read in time that grows with their length."""
    for text in ("pay $5,000 on May 5, 2010. " * 2000, "1 " * 20_000, "(1) " * 15_000, "$" * 50_000, "one " * 15_000):
        started = time.perf_counter()
        find_amounts(text)
        assert time.perf_counter() - started < 10
