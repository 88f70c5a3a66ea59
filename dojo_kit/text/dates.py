"""Dates in text: typed values that say how precise they are and never more than the text says.

Nothing is filled in from today's date, and a day that does not exist is reported, not moved. English spellings of
contracts ("3rd day of March, 2024", "the fourth of July", "2015 Feb"), also as scanners leave them ("18t h day of"),
and numbers ("2024-03-03", "3/3/24", "02/[]/2017"). A blank ("April __, 2005") leaves that part of a date open, and
"the last day of May" stays what is written. Long texts are read through anchors, in a few linear passes.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from dojo_kit.errors import SettingsError
from dojo_kit.text.durations import NUMBER_WORDS, ORDINAL_WORDS, number_from_words, ordinal_from_words
from dojo_kit.text.tokens import canonical

_MONTH_TEXT = "january february march april may june july august september october november december"
_MONTHS = {name: number for number, name in enumerate(_MONTH_TEXT.split(), start=1)}
_MONTHS |= {name[:3]: number for name, number in _MONTHS.items()}
_MONTHS |= {"sept": 9, "febuary": 2, "feburary": 2, "agust": 8, "setember": 9, "ocotber": 10, "novemeber": 11}
_VERBS = frozenset({"may", "march", "mar"})  # in lower case months only beside a year or after "of"

_FLAGS = re.IGNORECASE | re.ASCII
_BULLETS = "*.\u2022\u00b7\u25cf\u25cb\u25e6\u25aa\u25a0\u25a1\u2219\u22c5\u2027\u30fb\uf0b7"
_SUFFIX = r"(?:\.?[s5] ?[th]|n ?d|r ?d|t ?h)(?![a-z0-9])"
_DAY = (
    rf"(?:(?P<num>[0-3]?\d)(?!\d)(?: ?\(?{_SUFFIX}\)?)?"
    rf"|(?<!\d )(?P<scan>[0-3lio]?[\dlio])(?: ?{_SUFFIX}|(?<=\d[lio]|[lio]\d)(?![a-z0-9]))|(?P<word>{ORDINAL_WORDS}))"
)
_AGAIN = rf"(?: ?\( ?(?P<again>\d{{1,2}})(?: ?{_SUFFIX})? ?\)| ?\( ?(?:{ORDINAL_WORDS}) ?\))?"
_WEEKDAY = r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?\.?)"
_YEAR_LEAD = r"(?:day of |in |of )?(?:the )?(?:year )?(?:of our lord )?(?:a\.?d\.? )?"
_YEAR = (
    rf"{_YEAR_LEAD}(?:(?P<year>[12li][90o][\doli]{{2}}(?![a-z0-9])|[12]\d{{3}}(?![0-9])|[12],\d{{3}}(?![0-9,])"
    rf"|(?=nineteen|twenty|one thousand|two thousand){NUMBER_WORDS})(?: ?\((?P<digits>[12]\d{{3}})\))?"
    r"|(?P<torn>(?:19|20) \d\d(?![0-9a-z%])|(?:19|20)\d \d(?![0-9a-z%]))"
    r"|(?P<quoted>'\d\d)(?![0-9])|(?P<short>\d\d)(?![0-9a-z_\[%]|[.,:]\d))"
)
_TIME = r"(?:(?:at )?\d{1,2}:\d\d(?::\d\d)?(?: ?[ap]\.?m\.?)?(?: [+-]\d{4}| [a-z]{3,4})?,? )?"

# Patterns for whole documents start with a set of characters, for which the engine scans fast, and look back later.
_MONTH = re.compile(r"[ADFJMNOSadfjmnos](?<![a-zA-Z].)(?i:an|eb|ar|pr|ay|un|ul|u?g|ep|et|ct|co|ov|ec)[a-zA-Z]*", re.A)
_DAY_BEFORE = re.compile(
    rf"(?<![a-z0-9$\u20ac\u00a3#])(?<![0-9][.,:/])\(?{_DAY}\)?[\"'*\u00b0]?{_AGAIN}"
    rf"(?P<of>(?:\.(?= day))?(?: ?day)?(?: of)?(?: the month of)?)(?: ?{_WEEKDAY},?)?(?P<sep>[ ,.\-/_]{{0,9}})$",
    _FLAGS,
)
_MAY_END_A_DAY = re.compile(r"(?:[0-9\"'*)\u00b0.]|st|nd|rd|t ?h|[hty]|of)[ ,.\-/_]*$", _FLAGS)
_YEAR_BEFORE = re.compile(r"(?<![a-z0-9$\u20ac\u00a3#.,:/-])(?P<year>(?:1[5-9]|20)\d\d)(?: |, ?|-|/)$", _FLAGS)
_DAY_AFTER = re.compile(
    rf"\.?(?P<sep>[ ,/\-]{{0,3}})(?:the )?{_DAY}[\"'*\u00b0]?"
    rf"(?![0-9a-z]|[.:](?!(?:19|20)\d\d)[0-9]|,[0-9]{{3}}(?![0-9])| ?%){_AGAIN}(?P<dayend>)"
    rf"(?:(?:(?: ?-| to| and| &) ?[0-3]?\d(?!\d))?(?P<sep2>[ ,.\-/)(_;]{{0,6}}){_TIME}(?:{_WEEKDAY}[,) ]+)?{_YEAR})?",
    _FLAGS,
)
_YEAR_AFTER = re.compile(rf"\.?(?P<sep2>[ ,;/\-_()\[\]{re.escape(_BULLETS)}]{{0,60}}){_YEAR}", _FLAGS)
_REST = re.compile(r"[ .,;:)(\"'\]]*$")
_COUNTED = re.compile(r" ?(?:%|percent|(?:day|month|year|week|hour|share|unit|dollar|euro|mile|act)s?|usd)\b", _FLAGS)
_BLANK_PART = rf"(?:_{{1,30}}|\[[ _{re.escape(_BULLETS)}]{{0,30}}\]|[x?]{{2}})"
_PART = rf"\d{{1,2}}|{_BLANK_PART}"
_YEAR_FIRST = re.compile(
    r"(?P<year>[12]\d{3}(?<![a-z0-9$\u20ac\u00a3\u00a5#].{4})(?<![0-9][.,:].{4})(?<![a-z][-/].{4}))"
    rf"(?P<mark>[-/._:])(?P<month>{_PART})(?:(?P=mark)(?P<day>{_PART}))?(?![a-su-z0-9%]|(?P=mark)\d)",
    _FLAGS,
)
_YEAR_LAST = re.compile(
    r"(?P<first>\d(?<![a-z0-9$\u20ac\u00a3\u00a5#].)(?<![0-9][.,:/].)(?<![a-z][-/].)\d?)"
    rf"(?: ?(?P<mark>(?<!\d-\d)(?<!\d-\d\d)-|[/.]) ?(?P<second>{_PART}) ?(?P=mark) ?"
    rf"(?P<year>'?\d\d(?:\d\d)?(?![0-9_\[])|\d{{0,3}}{_BLANK_PART})(?!(?P=mark)\d)"
    r"|/(?P<b>\d{1,2}) ?, ?(?P<c>(?:19|20)\d\d)|[-/](?P<y>(?:19|20)\d\d))(?![a-su-z0-9%])",
    _FLAGS,
)
_COMPACT = re.compile(r"((?:19|20)\d\d)(\d\d)(\d\d)(?:T?\d{4,6}Z?)?", re.ASCII)
_BARE_YEAR = re.compile(
    r"[12][09]\d\d(?<=19..|20..)(?<![a-z0-9$\u20ac\u00a3\u00a5#].{4})(?<![0-9][.,:].{4})(?<![a-wyz][-/].{4})"
    r"(?:(?<=\b(?:19|20)\d\d[-/].{4})|(?<![0-9][-/].{4}))(?![a-z0-9%]|,\d{3}|[.:]\d)"
    r"(?:(?=[-/](?:(?:19|20)\d\d|\d\d)(?![0-9]))|(?![-/]\d))",
    _FLAGS,
)
_NUMBERED = re.compile(
    r"(?:\b(?:no|nos|section|sec|article|clause|paragraph|exhibit|suite|room|box|form|rule|version|v|iso|page"
    r"|usd|eur|gbp|us ?\$)\.?|[$\u20ac\u00a3\u00a5\u00a7#]) ?$",
    _FLAGS,
)
_BLANK = re.compile(rf"_|[\[({{<][ {re.escape(_BULLETS)}]*[\])}}>]|\bblank\b", re.IGNORECASE)
_LOOKALIKES = str.maketrans("lLIiOo", "111100")
_MONTH_NUMBERS = frozenset(range(1, 13))
_Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class DateValue:
    """A date, or the part of one that a text states.

    Attributes:
        year: Four-digit year, or None.
        month: Month as written (above 12 only where `impossible`), or None.
        day: Day as written, or None.
        start: Where it starts in the canonical text.
        end: Where it ends in the canonical text.
        impossible: There is no such day (4/31/2009).
        ambiguous: The numbers leave open which is the day and which the month, and no order was asked for.
    """

    year: int | None
    month: int | None
    day: int | None
    start: int
    end: int
    impossible: bool = False
    ambiguous: bool = False

    @property
    def precision(self) -> Literal["day", "month", "month_day", "year"]:
        """What is stated: a day, a month of a year, a day of any year, or a year."""
        if self.year is None:
            return "month_day"
        return "year" if self.month is None else "month" if self.day is None else "day"

    @property
    def is_full(self) -> bool:
        """Whether this is one day that exists."""
        return None not in (self.year, self.month, self.day) and not self.impossible

    @property
    def date(self) -> dt.date | None:
        """The day, or None when the date is partial or impossible."""
        if self.year is None or self.month is None or self.day is None or self.impossible:
            return None
        return dt.date(self.year, self.month, self.day)

    @property
    def ordinal(self) -> int | None:
        """Days since 0001-01-01 as in `datetime.date.toordinal`, or None."""
        return self.date.toordinal() if self.date else None


def _value(span: _Span, year: int | None, month: int | None, day: int | None, *, ambiguous: bool = False) -> DateValue:
    impossible = False
    if (month is not None and not 1 <= month <= 12) or (day is not None and not 1 <= day <= 28):
        try:
            dt.date(year or 2000, 1 if month is None else month, 1 if day is None else day)
        except ValueError:
            impossible = True
    return DateValue(year, month, day, *span, impossible, ambiguous)


def _long_year(short: int, pivot: int) -> int:
    return short + (2000 if short < pivot else 1900)


def _day(match: re.Match[str]) -> int | None:
    if digits := match["num"] or match["again"] or match["scan"]:
        return int(digits.translate(_LOOKALIKES))
    return ordinal_from_words(match["word"])


def _year(match: re.Match[str], text: str, pivot: int, *, joined: bool = False, lone: bool = False) -> int | None:
    """Read the year a pattern found.

    Two digits count where one mark joins all parts (`joined`: 24-OCT-11), and at the end of the text unless they
    could be the day that is missing (`lone`: May 11).
    """
    if match["digits"]:
        return int(match["digits"])
    if written := match["year"] or (not lone and match["torn"]):
        digits = written.translate(_LOOKALIKES).replace(",", "").replace(" ", "")
        return int(digits) if digits.isdigit() else _spelled_year(written)
    if match["quoted"]:
        return _long_year(int(match["quoted"][1:]), pivot)
    if match["short"] and (joined or _REST.match(text, match.end("short"))):
        short = int(match["short"])
        return None if lone and short < 32 else _long_year(short, pivot)
    return None


def _spelled_year(words: str) -> int | None:
    year = number_from_words(words)
    if year is None or year < 1000:
        century, _, rest = words.lower().replace("-", " ").partition(" ")
        below = number_from_words(rest)
        year = {"nineteen": 1900, "twenty": 2000}.get(century, 0) + below if below else 0
    return year if 1500 <= year < 2200 else None


def _around_month(text: str, found: re.Match[str], floor: int, pivot: int) -> DateValue | None:
    """Read the date a month name belongs to, using nothing before `floor`."""
    month, (start, end), verb = _MONTHS[found.group().lower()], found.span(), found.group() in _VERBS
    before = None
    if _MAY_END_A_DAY.search(text, max(floor, start - 16), start):
        before = _DAY_BEFORE.search(text, max(floor, start - 44), start)
    after = _DAY_AFTER.match(text, end)
    after_end = after.end("dayend") if after else end
    if after and (before is None or after["short"] is None):
        year = _year(after, text, pivot, joined=after["sep"] == after["sep2"] in ("-", "/"))
        if year:
            return _value((start, after.end()), year, month, _day(after))
    lead = None if verb else _YEAR_BEFORE.search(text, max(floor, start - 8), start)
    if tail := _YEAR_AFTER.match(text, end):
        mark, padded = text[end : max(tail.start("short"), end)], (tail["short"] or "")[:1] == "0"
        if before:
            joined = padded or before["sep"] == mark in ("-", "/", ".")
        else:
            joined = lead is None and mark == "-" and end - start < 5  # Feb-07
        if year := _year(tail, text, pivot, joined=joined, lone=before is None and not joined):
            return _value(((before or found).start(), tail.end()), year, month, _day(before) if before else None)
    if lead:
        return _value((lead.start(), after_end), int(lead["year"]), month, _day(after) if after else None)
    listed = before and after and "," in after["sep"]  # "25 May, 25 June"
    if after and not verb and not listed and not _COUNTED.match(text, after_end):
        return _value((start, after_end), None, month, _day(after))
    loose = before and (verb or before.group()[0] == "(" or before["sep"] not in ("", " ", "-", "/"))
    if before and (before["of"] or not loose):
        return _value((before.start(), end), None, month, _day(before))
    return None


def _from_months(text: str, pivot: int) -> Iterator[DateValue | None]:
    floor = 0
    for found in _MONTH.finditer(text):
        if found.group().lower() in _MONTHS:
            value = _around_month(text, found, floor, pivot)
            floor = value.end if value else floor
            yield value


def _number(part: str | None) -> int | None:
    return int(part) if part and part.isdigit() else None


def _is_slip(value: DateValue, mark: str, *, short: bool) -> bool:
    """Tell a mistaken date (4/31/2009) from numbers that are no date (45-67-2009, 13.13.13)."""
    month, day = value.month or 0, value.day or 0
    if short or mark in "._:":
        return 1 <= month <= 12 and 1 <= day <= 31 and (mark in "-/" or (mark == "." and not short))
    return mark == "/" or max(month, day) <= 31


def _year_first(match: re.Match[str]) -> DateValue | None:
    """Read 2024-03-05, 2018-10 and the like."""
    mark, month, day = match["mark"], _number(match["month"]), _number(match["day"])
    if match["day"] is None:
        named = mark in "-/" and len(match["month"]) == 2 and match["year"][:2] in ("19", "20")
        if not named or (month is not None and month not in _MONTH_NUMBERS):
            return None  # 2018-19 is a season, 1234/06 a number
    value = _value(match.span(), int(match["year"]), month, None if month is None else day)
    return None if value.impossible and not _is_slip(value, mark, short=False) else value


def _month_and_day(first: int, second: int | None, day_first: bool) -> tuple[int | None, int | None]:
    if second is None:  # a day without its month says nothing
        return (None, None) if day_first or first > 12 else (first, None)
    day_first = (second <= 12 or first > 12) if day_first else (first > 12 and second <= 12)
    return (second, first) if day_first else (first, second)


def _is_numbering(match: re.Match[str], text: str) -> bool:
    """Tell section numbers and blanked codes (10.2.12, 4.2.[*]) from dates without a four-digit year."""
    mark, digits = match["mark"] or "/", (match["year"] or match["c"]).isdigit()
    if mark == "/" and digits:
        return False
    if " " in match.group().partition("[")[0]:
        return True
    alone = match.start() == 0 and _REST.match(text, match.end())
    labelled = _NUMBERED.search(text, max(0, match.start() - 12), match.start())
    return bool(mark == "." and (labelled or not digits or (not alone and len(match.group()) < 8)))


def _year_last(match: re.Match[str], text: str, day_first: bool | None, pivot: int) -> DateValue | None:
    """Read 3/5/2024, 16-07-68, 02/[]/2017, 8/25, 1996 and 10/2018."""
    if match["y"]:
        value = _value(match.span(), int(match["y"]), int(match["first"]), None)
        return None if value.impossible else value
    first, second = int(match["first"]), _number(match["second"] or match["b"])
    mark, written = match["mark"] or "/", (match["year"] or match["c"]).lstrip("'")
    short, year = len(written) == 2 and written.isdigit(), _number(written)
    if (short or year is None) and _is_numbering(match, text):
        return None
    if short and first > 31 and second is not None:  # 68-07-16
        value = _value(match.span(), _long_year(first, pivot), second, year)
        return None if value.impossible else value
    if short:
        year = _long_year(year or 0, pivot)
    elif year is not None and not 1000 <= year < 3000:
        return None
    month, day = _month_and_day(first, second, bool(day_first))
    is_open = day_first is None and second is not None and first != second and {first, second} <= _MONTH_NUMBERS
    value = _value(match.span(), year, month, day, ambiguous=is_open)
    if value.impossible and not _is_slip(value, mark, short=short):
        return None
    return None if year is None and (month is None or day is None) else value


def _from_numbers(text: str, day_first: bool | None, pivot: int) -> Iterator[DateValue | None]:
    if compact := _COMPACT.fullmatch(text.strip(" .,;")):
        value = _value((0, len(text)), *map(int, compact.groups()))
        yield None if value.impossible else value
    for match in _YEAR_FIRST.finditer(text):
        yield _year_first(match)
    for match in _YEAR_LAST.finditer(text):
        yield _year_last(match, text, day_first, pivot)
    for match in _BARE_YEAR.finditer(text):
        numbered = _NUMBERED.search(text, max(0, match.start() - 12), match.start())
        if not numbered and not _COUNTED.match(text, match.end()):
            yield DateValue(int(match.group()), None, None, *match.span())


_FIELD_CHARS = 5_000
"""Texts up to this length are fields, met several times in one scoring; longer ones are documents."""


def _find(text: str, day_first: bool | None, pivot: int) -> tuple[DateValue, ...]:
    return (_find_in_field if len(text) <= _FIELD_CHARS else _search)(text, day_first, pivot)


@lru_cache(maxsize=16_384)
def _find_in_field(text: str, day_first: bool | None, pivot: int) -> tuple[DateValue, ...]:
    return _search(text, day_first, pivot)


def _search(text: str, day_first: bool | None, pivot: int) -> tuple[DateValue, ...]:
    """Collect the readings of a canonical text; where two overlap the longer one stays."""
    if not 0 <= pivot <= 100:
        raise SettingsError(f"pivot is {pivot}; expected 0 to 100")
    kept: list[DateValue] = []
    readings = [*_from_months(text, pivot), *_from_numbers(text, day_first, pivot)]
    for value in sorted(filter(None, readings), key=lambda value: (value.start, -value.end)):
        if not kept or value.start >= kept[-1].end:
            kept.append(value)
        elif value.end - value.start > kept[-1].end - kept[-1].start:
            kept[-1] = value
    return tuple(kept)


def find_dates(text: str, *, day_first: bool | None = None, pivot: int = 50) -> list[DateValue]:
    """Find all dates of a text, full and partial, in reading order and without overlap.

    Args:
        text: Any text; ranges refer to its `canonical` form.
        day_first: Order of numeric dates. None reads the month first and marks what the numbers leave open.
            A number above 12 decides whatever is asked for.
        pivot: Two-digit years below are 20xx, the others 19xx.

    Raises:
        SettingsError: `pivot` is not between 0 and 100.

    Examples:
        >>> [(d.date or d.precision) for d in find_dates("from 1st day of May, 2007 to 4/30/09, renewed in 2010")]
        [datetime.date(2007, 5, 1), datetime.date(2009, 4, 30), 'year']
        >>> find_dates("Section 1.2.3, $2,000, 10 % and 555-1234")
        []
    """
    return list(_find(canonical(text), day_first, pivot))


def parse_date(text: str, *, day_first: bool | None = None, pivot: int = 50) -> DateValue | None:
    """Read a text as one date, wherever in it the date stands.

    Of several dates the first full one is taken, else the first impossible one, else the first that names a
    month, else the first year; `find_dates` gives all.

    Args:
        text: The text, such as a label or an extracted field.
        day_first: As in `find_dates`.
        pivot: As in `find_dates`.

    Returns:
        The date, or None when the text holds none.

    Raises:
        SettingsError: `pivot` is not between 0 and 100.

    Examples:
        >>> parse_date("This Agreement is made as of March 24, 2006 between").date
        datetime.date(2006, 3, 24)
        >>> parse_date("the fourth of July").precision, parse_date("4/31/2009").impossible, parse_date("1A2B")
        ('month_day', True, None)
        >>> parse_date("01/02/2025").ambiguous, parse_date("01/02/2025", day_first=True).month
        (True, 2)
    """
    values = _find(canonical(text), day_first, pivot)
    ranked = sorted(values, key=lambda value: (not value.is_full, not value.impossible, value.month is None))
    return ranked[0] if ranked else None


def is_null_date_label(text: str) -> bool:
    """Tell whether a label of a date field holds no date, so that finding none is the right answer.

    It yields no full date and either holds a blank (``_``, brackets with nothing but bullets, the word "blank") or
    names neither a month nor a year 19xx or 20xx. An impossible date is one someone wrote, not a template.

    Examples:
        >>> [is_null_date_label(t) for t in ("____ day of May, 2005", "Effective Date:", "[\u25cf], 2020")]
        [True, True, True]
        >>> [is_null_date_label(t) for t in ("11/4/10", ", 2006", "the 1st of May", "4/31/09")]
        [False, False, False, False]
    """
    text = canonical(text)
    values = _find(text, None, 50)
    if any(value.is_full for value in values):
        return False
    if _BLANK.search(text):
        return True
    months = (word.group() for word in _MONTH.finditer(text))
    named = any(word.lower() in _MONTHS and word not in _VERBS for word in months)
    return not (values or named or re.search(r"(?<!\d)(?:19|20)\d\d(?!\d)", text))
