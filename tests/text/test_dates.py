"""Dates: what they read, what they refuse, and that they never fill anything in."""

from __future__ import annotations

import datetime as dt
import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dojo_kit.text.dates import DateValue, find_dates, is_null_date_label, parse_date
from dojo_kit.text.tokens import canonical

GOLDEN = Path(__file__).parents[1] / "golden"
VECTORS = [v for v in json.loads((GOLDEN / "scoring.json").read_text()) if v["area"] == "date"]
BUGS = json.loads((GOLDEN / "bug_inputs.json").read_text())
MONTHS = "January February March April May June July August September October November December".split()
ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth twenty-first twenty-second twenty-third twenty-fourth "
    "twenty-fifth twenty-sixth twenty-seventh twenty-eighth twenty-ninth thirtieth thirty-first"
).split()


def suffix(day: int) -> str:
    if day in (11, 12, 13):
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


def parts(value: DateValue | None) -> tuple[int | None, int | None, int | None] | None:
    return None if value is None else (value.year, value.month, value.day)


def label(case: dict[str, object]) -> str:
    return str(case.get("id") or case.get("args"))


STYLES = {
    "iso": lambda d: d.isoformat(),
    "iso timestamp": lambda d: f"{d.isoformat()}T10:15:00Z",
    "short iso": lambda d: f"{d.year}-{d.month}-{d.day}",
    "year first": lambda d: f"{d.year}/{d.month:02}/{d.day:02}",
    "compact": lambda d: f"{d:%Y%m%d}",
    "american": lambda d: f"{d.month}/{d.day}/{d.year}",
    "dashes": lambda d: f"{d.month:02}-{d.day:02}-{d.year}",
    "dots": lambda d: f"{d.month:02}.{d.day:02}.{d.year}",
    "long": lambda d: f"{MONTHS[d.month - 1]} {d.day}, {d.year}",
    "long without comma": lambda d: f"{MONTHS[d.month - 1].upper()} {d.day} {d.year}",
    "short month": lambda d: f"{MONTHS[d.month - 1][:3]}. {d.day}{suffix(d.day)}, {d.year}",
    "glued comma": lambda d: f"{MONTHS[d.month - 1]} {d.day},{d.year}",
    "british": lambda d: f"{d.day} {MONTHS[d.month - 1]} {d.year}",
    "with weekday": lambda d: f"Friday, {d.day} {MONTHS[d.month - 1]}, {d.year}",
    "deed": lambda d: f"this {d.day}{suffix(d.day)} day of {MONTHS[d.month - 1]}, {d.year}",
    "scanned": lambda d: f"{d.day}{suffix(d.day)[0]} {suffix(d.day)[1]} day of {MONTHS[d.month - 1]} {d.year}",
    "bracketed": lambda d: f"({d.day}{suffix(d.day)}) day of {MONTHS[d.month - 1]}, {d.year}",
    "spelled": lambda d: f"the {ORDINALS[d.day - 1]} day of {MONTHS[d.month - 1]}, {d.year} (",
    "spelled twice": lambda d: f"{ORDINALS[d.day - 1]} ({d.day}{suffix(d.day)}) of {MONTHS[d.month - 1]} {d.year}",
    "military": lambda d: f"{d.day:02}{MONTHS[d.month - 1][:3].upper()}{d.year}",
    "log": lambda d: f"{d.day}-{MONTHS[d.month - 1][:3]}-{d.year}",
    "in a sentence": lambda d: f"made as of {MONTHS[d.month - 1]} {d.day}, {d.year} between the parties",
}


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES.keys())
@given(date=st.dates(dt.date(1900, 1, 1), dt.date(2099, 12, 31)))
def test_a_date_survives_every_style(style, date):
    """Any day written in any supported style reads back as the same day, for year-first and month-first orders."""
    value = parse_date(style(date))
    assert value is not None
    assert value.date == date
    assert value.ordinal == date.toordinal()


@given(date=st.dates(dt.date(1950, 1, 1), dt.date(2049, 12, 31)), mark=st.sampled_from("/-"))
def test_two_digit_years_follow_the_pivot(date, mark):
    """Years 00-49 are 20xx and 50-99 are 19xx by default."""
    text = f"{date.month}{mark}{date.day}{mark}{date.year % 100:02}"
    assert parse_date(text).date == date


@given(date=st.dates(dt.date(1950, 1, 1), dt.date(2049, 12, 31)), mark=st.sampled_from("/-."))
def test_day_first_reads_day_month_year(date, mark):
    """With day_first the order is settled, so nothing is ambiguous."""
    value = parse_date(f"{date.day:02}{mark}{date.month:02}{mark}{date.year}", day_first=True)
    assert value.date == date
    assert not value.ambiguous


@given(date=st.dates(dt.date(1950, 1, 1), dt.date(2049, 12, 31)))
def test_order_is_ambiguous_exactly_when_numbers_leave_it_open(date):
    """Month first by default; flagged unless a number above 12 or two equal numbers settle the order."""
    value = parse_date(f"{date.month}/{date.day}/{date.year}")
    assert value.ambiguous == (date.day <= 12 and date.day != date.month)


@given(st.one_of(st.text(), st.text(alphabet="0123456789/-.,:'[]()_ \u25cf\u2044stndrhMayJuneFebofdOlI$%T\n")))
def test_any_text_is_read_without_error_and_ranges_lie_inside(text):
    """No text raises; ranges are ordered, do not overlap and lie in the canonical text."""
    values = find_dates(text)
    length, last = len(canonical(text)), 0
    for value in values:
        assert last <= value.start < value.end <= length
        last = value.end
        assert value.is_full == (value.date is not None)
    assert (parse_date(text) is None) == (not values)
    assert is_null_date_label(text) in (True, False)


@pytest.mark.parametrize("vector", VECTORS, ids=label)
def test_golden_vectors_follow_from_the_values(vector):
    """The published scores follow from typed values: equal days, null labels, same month, 45 days, same year."""
    predicted, expected = vector["args"]
    if is_null_date_label(expected):
        assert vector["expected"] == (0.0 if predicted else 1.0)
        return
    a, b = parse_date(predicted), parse_date(expected)
    if a.is_full and b.is_full:
        apart = abs(a.ordinal - b.ordinal)
        near = (a.year, a.month) == (b.year, b.month) or apart <= 45
        score = 1.0 if not apart else 0.67 if near else 0.33 if a.year == b.year else 0.0
    else:
        score = 0.33 if (a.precision, a.year) == ("year", b.year) else None
    assert score == vector["expected"]


@pytest.mark.parametrize("bug", [b for b in BUGS if b["kind"] == "date_parse"], ids=label)
def test_publicly_reported_inputs_are_read_right(bug):
    """Each input that broke another parser gives the right value (two-digit years by the pivot)."""
    value, right = parse_date(bug["input"]), bug["right_value"]
    if "date" in right:
        assert right["date"] == (None if value is None or value.date is None else value.date.isoformat())
    else:
        assert parts(value)[:2] == (right["year"], right["month"])
        assert value.day == right["day"]
        assert value.date is None
    if "no such day" in str(right.get("why")):
        assert value.impossible


@pytest.mark.parametrize("bug", [b for b in BUGS if b["kind"] == "date_pair"], ids=label)
def test_publicly_reported_pairs_differ_or_agree_as_they_should(bug):
    """Two dates are the same day only where the report says they are, under the day order it names."""
    day_first = {"dayfirst": True, "monthfirst": False}.get(bug["right_value"].get("when"))
    gold = parse_date(bug["input"]["gold"], day_first=day_first)
    predicted = parse_date(bug["input"]["pred"], day_first=day_first)
    assert (gold.date == predicted.date) == (bug["right_value"].get("score") == 1.0)


TABLE = [
    # numbers
    ("Dated 06/06/97", (1997, 6, 6)),
    ("27/4/16", (2016, 4, 27)),
    ("98-07-16", (1998, 7, 16)),
    ("3 / 14 / 2018", (2018, 3, 14)),
    ("8/25 , 1996", (1996, 8, 25)),
    ("25.12.2019", (2019, 12, 25)),
    ("03.01.05", (2005, 3, 1)),
    ("2024_07_19", (2024, 7, 19)),
    ("2021:06:15 10:30:45Z", (2021, 6, 15)),
    ("20140520T101500Z", (2014, 5, 20)),
    ("10/2018", (2018, 10, None)),
    ("2018-19 season", (2018, None, None)),
    ("2022/23", (2022, None, None)),
    ("2005-06-07/2006-06-07", (2005, 6, 7)),
    # blanks leave a part open
    ("05/[]/2016", (2016, 5, None)),
    ("06/30/[]", (None, 6, 30)),
    ("[]/[]/2007", (2007, None, None)),
    ("08/12/200[]", (None, 8, 12)),
    ("2017-10-__", (2017, 10, None)),
    ("2018-09-XX", (2018, 9, None)),
    ("May ____, 2005", (2005, 5, None)),
    ("March [\u25cf], 2019", (2019, 3, None)),
    ("[\u2022], 2020", (2020, None, None)),
    ("____ day of June, 2001", (2001, 6, None)),
    ("12 day of AUGUST, 200_", (None, 8, 12)),
    ("June 5, 20__", (None, 6, 5)),
    # words
    ("January 2nd of 2004", (2004, 1, 2)),
    ("3rd of May, in the year 2004", (2004, 5, 3)),
    ("the day of June 2, 2014", (2014, 6, 2)),
    ("21 April day of 1997", (1997, 4, 21)),
    ("9th day of Monday, March 2015", (2015, 3, 9)),
    ("2nd day of --- October, 2005", (2005, 10, 2)),
    ("1st. day of May, 2010", (2010, 5, 1)),
    ("17 day of July. 2011", (2011, 7, 17)),
    ("May. 3rd 2018", (2018, 5, 3)),
    ("2nd day of November", (None, 11, 2)),
    ("31st day of December 2,004", (2004, 12, 31)),
    ("June fifth, two thousand nineteen", (2019, 6, 5)),
    ("1st of June, nineteen hundred ninety-nine", (1999, 6, 1)),
    ("5 March two thousand and five (2005)", (2005, 3, 5)),
    ("June 5, twenty nineteen", (2019, 6, 5)),
    ("September, 2003", (2003, 9, None)),
    ("June of 2004", (2004, 6, None)),
    ("2015-Feb-03", (2015, 2, 3)),
    ("24-OCT-11", (2011, 10, 24)),
    ("16 May 17", (2017, 5, 16)),
    ("24 Oct '98", (1998, 10, 24)),
    ("Feb 98", (1998, 2, None)),
    ("Feb-07", (2007, 2, None)),
    ("Date: 21 July 04, signed", (2004, 7, 21)),
    ("12.Jan.2016", (2016, 1, 12)),
    ("January 1-5, 2020", (2020, 1, 1)),
    ("Tue Feb 05 10:00:00 2018", (2018, 2, 5)),
    ("Mon, 05 Feb 2018 10:00:00 GMT", (2018, 2, 5)),
    ("2024.", (2024, None, None)),
    # what scanners leave
    ("lst day of June, 2001", (2001, 6, 1)),
    ("January l1, 2028", (2028, 1, 11)),
    ("215t August 2012", (2012, 8, 21)),
    ("3 rd day of May 2007", (2007, 5, 3)),
    ('9" June 2014', (2014, 6, 9)),
    ("March 5, 2O19", (2019, 3, 5)),
    ("May 2, 201 8", (2018, 5, 2)),
    ("Aug 31sh", (None, 8, 31)),
]


@pytest.mark.parametrize(("text", "expected"), TABLE)
def test_contract_spellings(text, expected):
    """A table of spellings as contracts and their scans hold them."""
    assert parts(parse_date(text)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1A2B",
        "$2,000",
        "2000 shares",
        "No. 2000",
        "Section 1.2.3",
        "Section 10.12.15",
        "Section 12.3. [***]",
        "Law 1234/06",
        "(1) May be unrelated",
        "version 10.2",
        "555-1234",
        "212-555-2000",
        "15%",
        "3.14",
        "12.25",
        "24/7",
        "1/2",
        "99/99/99",
        "192.168.1.10",
        "the parties may agree",
        "the buyer may 10 days later",
        "march 5 miles",
        "may",
        "Sunday",
        "two years",
        "2 days",
    ],
)
def test_other_numbers_and_words_are_no_dates(text):
    """Amounts, sections, telephone numbers, fractions, percentages, durations and verbs are no dates."""
    assert find_dates(text) == []


@pytest.mark.parametrize(
    "text", ["4/31/2014", "2/29/2003", "2000-02-31", "31 April 2017", "February 30, 2010", "31.04.2017", "13/13/2013"]
)
def test_days_that_do_not_exist_are_reported_not_moved(text):
    """An impossible day keeps its numbers, is not full and has no date."""
    value = parse_date(text)
    assert value.impossible
    assert value.precision == "day"
    assert not value.is_full
    assert value.date is None
    assert value.ordinal is None


def test_numbers_above_twelve_decide_against_the_requested_order():
    """13/07/05 is 13 July in any order, 07/13/05 too."""
    for day_first in (None, True, False):
        for text in ("13/07/2005", "07/13/2005"):
            value = parse_date(text, day_first=day_first)
            assert value.date == dt.date(2005, 7, 13)
            assert not value.ambiguous


def test_pivot_is_a_setting_and_is_checked():
    """The pivot moves two-digit years; one outside 0..100 is an error that names the range."""
    assert parse_date("1/2/30", pivot=20).year == 1930
    assert parse_date("1/2/30", pivot=100).year == 2030
    with pytest.raises(ValueError, match="0 to 100"):
        parse_date("1/2/30", pivot=101)
    with pytest.raises(ValueError, match="0 to 100"):
        find_dates("", pivot=-1)


def test_several_dates_come_in_reading_order():
    """All dates are found, the longest reading first, and a parse takes the first full one."""
    text = "in 2003, from 1 May 2004 to the 30th of June 2005, as of March 2006; see 7/8/09."
    found = [parts(value) for value in find_dates(text)]
    assert found == [(2003, None, None), (2004, 5, 1), (2005, 6, 30), (2006, 3, None), (2009, 7, 8)]
    assert parse_date(text).date == dt.date(2004, 5, 1)
    assert parse_date("2005 or March 2006").precision == "month"


def test_days_of_a_list_belong_to_the_month_that_follows():
    """In "25 May, 25 June" each day goes with the month after it."""
    assert [parts(value) for value in find_dates("on 25 May, 25 June and 25 July")] == [
        (None, 5, 25),
        (None, 6, 25),
        (None, 7, 25),
    ]


def test_range_names_the_words_read():
    """The range covers what was read, in the canonical text."""
    text = "made\u00a0as of  March\n24, 2006 between"
    value = parse_date(text)
    assert canonical(text)[value.start : value.end] == "March 24, 2006"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("_____ day of ________, 19____", True),
        ("[ ] day of [ ], 2012", True),
        ("[\u25cf]", True),
        ("[Date]", True),
        ("[*], 2019", True),
        ("( ) day of May", True),
        ("to be left blank until May 2005", True),
        ("Effective Date:", True),
        ("the date of the Closing", True),
        ("the date on which the parties may agree", True),
        ("this day of , 19", True),
        ("05/[]/2016", True),
        ("11/4/10", False),
        ("9/9/97", False),
        (", 2013", False),
        ("this day of , 2012", False),
        ("the 1st day of December", False),
        ("May", False),
        ("June 1, 2010 at ____", False),
        ("4/31/09", False),
        ("(1st) day of January, 1996", False),
    ],
)
def test_null_date_labels(text, expected):
    """A label is null without a full date and with a blank, or when it names neither month nor year."""
    assert is_null_date_label(text) is expected


def test_long_documents_take_a_few_passes():
    """A 300 kB text of contract prose is searched in well under a second, and so are hostile repetitions."""
    prose = "The parties may agree that Section 4.2 and the notice of March 5, 2010 are 30 days apart. " * 3400
    for text in (prose, "may " * 75_000, "1/" * 150_000, "20 " * 100_000, "[ " * 150_000, "January " * 37_500):
        started = time.perf_counter()
        find_dates(text)
        is_null_date_label(text)
        assert time.perf_counter() - started < 10


@pytest.mark.parametrize(
    ("text", "expected"),
    [("L5th day of May 2O1O", (2010, 5, 15)), ("may 0L 1999", (1999, 5, 1)), ("the LOth of June, 199L", (1991, 6, 10))],
)
def test_letters_scanned_for_digits_in_either_case(text: str, expected: tuple[int, int, int]) -> None:
    """A scanner writes l, I and L for 1, and o and O for 0."""
    found = parse_date(text)

    assert found is not None
    assert (found.year, found.month, found.day) == expected
