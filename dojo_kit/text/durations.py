"""Durations in text, as days, and the spelled numbers they are written with.

A year counts 365 days, a quarter 90, a month 30, a week 7 and an hour 1/24. Compound durations add up, a
number in parentheses wins over the spelled one before it. A series of terms has the length of one term
("two successive terms of five years" is five years), a range that of the number next to the unit.

Three classes of phrase count: a number with a unit ("six (6) months", "a further year", "2 1/2 years"), an
anniversary or the end of a counted period ("the fifth anniversary"), and a rhythm ("annual", "month to
month", "each year"). Rhythms are weak evidence: they decide only where nothing stronger is stated.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from dojo_kit.errors import SettingsError
from dojo_kit.text.tokens import canonical

_BELOW_TWENTY = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen eighteen nineteen"
)
_COUNTED_PLACES = (
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth"
    " fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"
)
_TENS_TEXT = "twenty thirty forty fifty sixty seventy eighty ninety"
_ONES = {word: value for value, word in enumerate(_BELOW_TWENTY.split())}
_TENS = {word: 10 * value for value, word in enumerate(_TENS_TEXT.split(), start=2)}
_SCALES = {
    "thousand": 10**3,
    "lakh": 10**5,
    "million": 10**6,
    "crore": 10**7,
    "billion": 10**9,
    "trillion": 10**12,
}
_LOW_ORDINALS = {word: value for value, word in enumerate(_COUNTED_PLACES.split())}
_TENTH_ORDINALS = {word[:-1] + "ieth": value for word, value in _TENS.items()}


def _any_of(words: Iterable[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_WORD = rf"(?:{_any_of((*_ONES, *_TENS, 'hundred', *_SCALES))})(?![a-z])"
NUMBER_WORDS = rf"{_WORD}(?:,?[ -]{{1,2}}(?:and )?(?:a )?{_WORD}){{0,14}}"
"""Pattern of a spelled number (case ignored); not every match is one, see `number_from_words`."""

ORDINAL_SUFFIX = r"(?:s ?t|n ?d|r ?d|t ?h)(?![a-z])"
"""Pattern of the letters after a counted number, also torn apart as scanners do (``18t h``)."""

ORDINAL_WORDS = (
    rf"(?:(?:{_any_of(_TENS)})[ -]{{1,2}})?(?:{_any_of(_LOW_ORDINALS)})(?![a-z])"
    rf"|(?:{_any_of(_TENTH_ORDINALS)})(?![a-z])"
)
"""Pattern of a spelled ordinal below one hundred (case ignored)."""

_LETTERS = re.compile(r"[a-z]+")


def number_from_words(text: str) -> int | None:
    """Read a spelled whole number; None when the words do not make one.

    Examples:
        >>> number_from_words("one million two hundred and fifty thousand"), number_from_words("Twenty-Four")
        (1250000, 24)
        >>> number_from_words("nineteen hundred ninety-nine"), number_from_words("one twelve")
        (1999, None)
    """
    total, current, smallest_scale, seen = 0, 0, 10**15, False
    for word in _LETTERS.findall(text.lower()):
        if word in ("and", "a"):
            continue
        seen = True
        if word in _ONES:
            value, below = _ONES[word], current % 100
            if below and not (value < 10 and below >= 20 and below % 10 == 0):
                return None
            current += value
        elif word in _TENS:
            if current % 100:
                return None
            current += _TENS[word]
        elif word == "hundred":
            if current >= 100:
                return None
            current = 100 * (current or 1)
        elif word in _SCALES and _SCALES[word] < smallest_scale:
            smallest_scale = _SCALES[word]
            total, current = total + (current or 1) * smallest_scale, 0
        else:
            return None
    return total + current if seen else None


def ordinal_from_words(text: str) -> int | None:
    """Read a spelled ordinal below one hundred.

    Examples:
        >>> ordinal_from_words("fourth"), ordinal_from_words("Twenty-First"), ordinal_from_words("four")
        (4, 21, None)
    """
    words = _LETTERS.findall(text.lower())
    if len(words) == 1:
        return _LOW_ORDINALS.get(words[0]) or _TENTH_ORDINALS.get(words[0])
    if len(words) == 2 and words[0] in _TENS and 0 < _LOW_ORDINALS.get(words[1], 0) < 10:
        return _TENS[words[0]] + _LOW_ORDINALS[words[1]]
    return None


@dataclass(frozen=True, slots=True)
class DurationValue:
    """A duration stated in a text.

    Attributes:
        days: Length in days; whole unless the text divides a day or a month.
        start: Where it starts in the canonical text.
        end: Where it ends in the canonical text.
    """

    days: float
    start: int
    end: int


class _Found(NamedTuple):
    days: float
    unit_days: float
    start: int
    end: int
    strong: bool


_UNIT_DAYS = {"h": 1 / 24, "d": 1.0, "w": 7.0, "f": 14.0, "m": 30.0, "q": 90.0, "y": 365.0}
_UNIT = r"(?:days?|weeks?|wks?|fortnights?|months?|mos?|quarters?|years?|yrs?|decades?|hours?|hrs?)(?![a-z])"
_PERIOD = r"(?:(?<=yr|mo|wk|hr)|(?<=yrs|mos|wks|hrs))\."
_BETWEEN = (
    r"(?:or more|additional|agreement|business|calendar|complete|consecutive|contract|extra|fiscal|full"
    r"|further|lease|license|marketing|more|operating|other|processing|program|royalty|sales|service"
    r"|subsequent|successive|term|trading|whole|working)"
)
_DIGITS = r"(?:\d{1,3}(?:,\d{3})+|\d{1,3} \d[/\u2044]\d|\d{1,3}-\d/\d|\d{1,2}[/\u2044]\d|\d{1,5}(?:[.,]\d{1,2})?)"
_HALF = r"(?:one[ -])?half"
_COUNTED = re.compile(
    r"(?<![a-z0-9.,$/\u2044])(?:"
    rf"(?P<half>{_HALF})(?:[ -](?:of )?an?)?(?=[ -])"
    rf"|(?:(?P<words>{NUMBER_WORDS})|(?P<digits>{_DIGITS})(?![\d%])|(?P<article>an?|another)|(?P<each>each|every))"
    r"(?P<plus> and (?:a |one[ -])half)?"
    rf"(?: ?[-~]? ?[(\[] ?(?:(?P<paren>{_DIGITS}|[il])|{NUMBER_WORDS}) ?[)\]])?)"
    rf"[)\]]?(?:[ ~-]{{1,3}}{_BETWEEN}){{0,2}}[ ~-]{{0,3}}(?P<unit>{_UNIT})(?:\(s\)|{_PERIOD})?",
    re.IGNORECASE | re.ASCII,
)
_ORDERED = re.compile(
    rf"(?<![a-z0-9])(?:(?P<words>{ORDINAL_WORDS})|(?P<digits>\d{{1,3}}) ?{ORDINAL_SUFFIX})"
    rf"(?: ?\( ?(?P<paren>\d{{1,3}}) ?{ORDINAL_SUFFIX} ?\))?"
    rf"(?:[ -]{_BETWEEN})?[ -](?P<unit>anniversary|year|month|week|day(?= (?:after|following)))(?![a-z])",
    re.IGNORECASE | re.ASCII,
)
_END_OF = re.compile(r"(?:end|close|expiration|completion|conclusion|last day) of (?:the )?$", re.IGNORECASE)
_RHYTHM = re.compile(
    r"(?<![a-z])(?<!bi-)(?:(?:semi-?)?annually|(?:year|quarter|month|week)[ -]to[ -](?:year|quarter|month)"
    r"|(?:(?:semi-?)?annual|yearly|biennial|quarterly|monthly|weekly|daily)"
    # an annual fee is no annual term
    r"(?! (?!(?:basis|period|term|renewal|extension|increment|interval|cycle|thereafter|unless|until|and|or"
    r"|at|on|by|for|with|from|to|after)s?\b)[a-z]))(?![a-z])",
    re.IGNORECASE | re.ASCII,
)
_BARE_UNIT = re.compile(rf"(?:per |calendar )?(?P<unit>{_UNIT})\.?", re.IGNORECASE | re.ASCII)
_ISO = re.compile(r"P(?=\d)(?:(\d{1,4})Y)?(?:(\d{1,4})M)?(?:(\d{1,4})W)?(?:(\d{1,5})D)?", re.ASCII)
_JOINT = re.compile(r" ?(?:,|and|&|plus|, ?and)? ?", re.IGNORECASE)
_RATE = re.compile(r"(?:\b(?:once|twice|times|dollars|cents|euros|usd)|[\d%$\u20ac\u00a3)]) $", re.IGNORECASE)
_NOTICE_AFTER = re.compile(
    r"'?s?[ )]*(?:[a-z]+ ){0,2}?(?:notice|notification|prior|before|in advance|advance|written)\b",
    re.IGNORECASE,
)
_NOTICE_BEFORE = re.compile(
    r"\b(?:at least|not? (?:less|fewer|later) than|within|upon|minimum of)(?: an?)? $", re.IGNORECASE
)
_RENEWAL = re.compile(
    r"(?<!non)(?<!non-)(?<!non )(?<!not )(?<!not to )\b(?:renew|exten(?:d|sion)|prolong)\w*", re.IGNORECASE
)
_BEFORE_RENEWAL = re.compile(
    r"[ -](?:(?:automatic|successive|additional|optional|consecutive|period|term|of|for)s?[ -]){0,3}",
    re.IGNORECASE,
)
_ENDLESS = re.compile(r"\b(?:perpetu|indefinite|evergreen|unlimited (?:period|duration|term))", re.IGNORECASE)


def _unit_days(unit: str) -> float:
    unit = unit.lower()
    return 3650.0 if unit.startswith("dec") else _UNIT_DAYS[unit[0]]


def _number(digits: str) -> float:
    """Read digits as a number: grouped, with a decimal mark, or with a fraction (``2 1/2``)."""
    if digits in ("i", "I", "l", "L"):
        return 1
    fraction = re.search(r"(\d)[/\u2044](\d)$", digits)
    if fraction:
        if fraction.group(2) == "0":
            return 0
        whole = digits[: fraction.start()].strip(" -") or "0"
        return int(whole) + int(fraction.group(1)) / int(fraction.group(2))
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+", digits):
        return int(digits.replace(",", ""))
    return float(digits.replace(",", "."))


def _count(match: re.Match[str], text: str) -> float | None:
    """Return how many units a counted duration has; None when it is none."""
    words, digits, paren, unit = match["words"], match["digits"], match["paren"], match["unit"].lower()
    after = text[match.end() : match.end() + 4]
    if unit == "day" and after.startswith(" of"):
        return None  # "10 day of January" is a date
    if paren:
        return _number(paren)
    if match["half"]:
        return 0.5
    if words:
        while (count := number_from_words(words)) is None and " " in words:
            words = words.split(" ", 1)[1]  # "one twelve month period": the last number counts
        return None if count is None else count + (0.5 if match["plus"] else 0)
    if digits:
        count_ = _number(digits) + (0.5 if match["plus"] else 0)
        return None if 1900 <= count_ < 2100 and unit == "year" else count_
    if after == " of " and (match["each"] or unit == "quarter"):
        return None  # "each year of the term", "a quarter of the fees"
    if after == " to " or unit == "day" or _RATE.search(text, max(0, match.start() - 10), match.start()):
        return None  # "a month to month basis" is a rhythm, "$5 a year" a rate
    return 1


def _counted(text: str) -> list[_Found]:
    found = []
    for match in _COUNTED.finditer(text):
        count = _count(match, text)
        if count is not None:
            unit_days = _unit_days(match["unit"])
            found.append(_Found(count * unit_days, unit_days, match.start(), match.end(), match["each"] is None))
    return found


def _ordered(text: str) -> list[_Found]:
    found = []
    for match in _ORDERED.finditer(text):
        unit = match["unit"].lower()
        if unit in ("year", "month", "week") and not _END_OF.search(text, max(0, match.start() - 24), match.start()):
            continue
        unit_days = _unit_days("year" if unit == "anniversary" else unit)
        number = match["paren"] or match["digits"]
        count = int(number) if number else ordinal_from_words(match["words"])
        if count:
            found.append(_Found(count * unit_days, unit_days, match.start(), match.end(), True))
    return found


def _rhythms(text: str) -> list[_Found]:
    found = []
    for match in _RHYTHM.finditer(text):
        word = match.group().lower()
        if word.startswith("semi"):
            days = 182.5
        elif word.startswith("bi"):
            days = 730.0
        else:
            days = 365.0 if word.startswith("ann") else _unit_days(word)
        found.append(_Found(days, days, match.start(), match.end(), False))
    return found


def _whole(text: str) -> list[_Found]:
    """Read a text that is nothing but a unit ("quarter") or an ISO 8601 duration ("P1Y6M")."""
    if unit := _BARE_UNIT.fullmatch(text):
        days = _unit_days(unit["unit"])
    elif iso := _ISO.fullmatch(text):
        days = sum(int(n or 0) * size for n, size in zip(iso.groups(), (365, 30, 7, 1), strict=True))
    else:
        return []
    return [_Found(days, days, 0, len(text), True)]


def _is_notice(item: _Found, text: str) -> bool:
    return bool(_NOTICE_AFTER.match(text, item.end) or _NOTICE_BEFORE.search(text, max(0, item.start - 24), item.start))


def _find(text: str) -> list[_Found]:
    """Find all durations of a canonical text, in reading order, compounds joined."""
    items = sorted(_counted(text) + _ordered(text) + _rhythms(text) + _whole(text), key=lambda item: item.start)
    joined: list[_Found] = []
    for item in items:
        last = joined[-1] if joined else None
        if last and item.start < last.end:
            continue
        if (
            last
            and last.strong
            and item.strong
            and item.unit_days < last.unit_days
            and _JOINT.fullmatch(text, last.end, item.start)
            and not _NOTICE_AFTER.match(text, item.end)
        ):
            joined[-1] = _Found(last.days + item.days, item.unit_days, last.start, item.end, True)
        else:
            joined.append(item)
    return joined


def _value(item: _Found) -> DurationValue:
    days = item.days
    return DurationValue(int(days) if days == int(days) else days, item.start, item.end)


def find_durations(text: str) -> list[DurationValue]:
    """Find all durations of a text in reading order.

    Args:
        text: Any text; ranges refer to its `canonical` form.

    Examples:
        >>> [d.days for d in find_durations("for two (2) years, then month to month on 90 days' notice")]
        [730, 30, 90]
    """
    return [_value(item) for item in _find(canonical(text))]


def _first(found: list[_Found], text: str) -> _Found | None:
    chosen = next((item for item in found if item.strong), found[0])
    return None if _ENDLESS.search(text, 0, chosen.start) else chosen


def _renewal(found: list[_Found], text: str) -> _Found | None:
    items = [item for item in found if not _is_notice(item, text)] or found
    mentions = list(_RENEWAL.finditer(text))
    stops = [*(mention.start() for mention in mentions), len(text)][1:]
    for mention, stop in zip(mentions, stops, strict=True):
        for item in items:
            if item.end <= mention.start():
                named = mention.group().lower().startswith(("renewal", "extension"))
                if named and _BEFORE_RENEWAL.fullmatch(text, item.end, mention.start()):
                    return item
            elif mention.end() <= item.start < stop and (item.strong or item.start - mention.end() < 45):
                return None if _ENDLESS.search(text, mention.end(), item.start) else item
        if _ENDLESS.search(text, mention.end(), stop):
            return None
    last = next((item for item in reversed(items) if item.strong), items[-1])
    return None if _ENDLESS.search(text, 0, last.start) else last


@lru_cache(maxsize=4096)
def parse_duration(text: str, *, which: Literal["first", "renewal"] = "first") -> DurationValue | None:
    """Read the one duration a field states.

    Args:
        text: The field's text.
        which: ``first`` takes the first duration (a term); ``renewal`` the one a renewal or extension is
            for, else the last one. For renewals a notice period ("90 days' prior notice") is taken only
            where nothing else is stated.

    Returns:
        The duration, or None: nothing stated, or the text says before it that there is no end ("perpetual").

    Raises:
        SettingsError: `which` is neither.

    Examples:
        >>> parse_duration("eighteen (18) months").days, parse_duration("five years and six months").days
        (540, 2005)
        >>> parse_duration("two years, renewing for one-year terms", which="renewal").days
        365
        >>> parse_duration("perpetual") is None
        True
    """
    if which not in ("first", "renewal"):
        raise SettingsError(f"which is {which!r}; expected 'first' or 'renewal'")
    text = canonical(text)
    found = _find(text)
    if not found:
        return None
    item = _first(found, text) if which == "first" else _renewal(found, text)
    return None if item is None else _value(item)
