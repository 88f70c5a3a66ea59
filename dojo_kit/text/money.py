"""Amounts of money in text: exact decimals with a currency, and whether they are bounds.

Reads digits in English, continental, Swiss and Indian notation, scales from "k" to "crore", spelled amounts,
and the drafting style that states one amount twice ("One Hundred Thousand Dollars ($100,000)": the digits
count). A single dot is a decimal mark ("3.350" is 3.35); a single comma is one unless it groups exactly three
digits.

Numbers without a currency count only where no amount with one is stated, and not when they belong to a date,
a duration, a percentage, a numbered section, shares or an identifier. Only what stands before the first blank
line is read: models append other text after an empty line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache

from dojo_kit.text.dates import find_dates
from dojo_kit.text.durations import NUMBER_WORDS, number_from_words
from dojo_kit.text.tokens import canonical

_SYMBOLS = dict(
    zip(
        "$\u20ac\u00a3\u00a5\u20b9\u20bd\u20a9\u20aa\u20ba\u0e3f\u20ab\u20b1\u20a6",
        "USD EUR GBP JPY INR RUB KRW ILS TRY THB VND PHP NGN".split(),
        strict=True,
    )
)
_CODES = {
    code: code
    for code in (
        "USD EUR GBP JPY CNY INR CAD AUD NZD CHF SEK NOK DKK ISK HKD SGD TWD KRW MXN BRL ARS CLP ZAR RUB UAH PLN CZK HUF"
        " RON BGN TRY ILS AED SAR QAR KWD EGP THB IDR MYR PHP VND NGN KES PKR BDT LKR".split()
    )
} | {"RMB": "CNY", "NTD": "TWD", "CDN": "CAD", "EURO": "EUR", "EUROS": "EUR", "RS": "INR", "SFR": "CHF"}
_NATIONS = {
    **dict.fromkeys(("US", "U.S.", "UNITED STATES", "AMERICAN"), "USD"),
    **dict.fromkeys(("C", "CA", "CAN", "CDN", "CANADIAN"), "CAD"),
    **dict.fromkeys(("A", "AU", "AUSTRALIAN"), "AUD"),
    **dict.fromkeys(("HK", "HONG KONG"), "HKD"),
    **dict.fromkeys(("S", "SG", "SINGAPORE"), "SGD"),
    **dict.fromkeys(("NZ", "NEW ZEALAND"), "NZD"),
    **{"NT": "TWD", "R": "BRL", "MX": "MXN", "SWISS": "CHF", "INDIAN": "INR", "BRITISH": "GBP", "UK": "GBP"},
}
_WORDS = {
    **{"dollar": "USD", "euro": "EUR", "pound": "GBP", "sterling": "GBP", "pence": "GBP", "yen": "JPY", "yuan": "CNY"},
    **{"renminbi": "CNY", "rupee": "INR", "franc": "CHF", "cent": None},
}
_SCALES = {
    **dict.fromkeys(("k", "thousand"), 10**3),
    **dict.fromkeys(("m", "mm", "mil", "mio", "mln", "mn", "million"), 10**6),
    **dict.fromkeys(("b", "bn", "mrd", "billion", "milliard"), 10**9),
    **{"hundred": 100, "lakh": 10**5, "lac": 10**5, "crore": 10**7, "tn": 10**12, "trillion": 10**12},
}
_BIG = r"(?:thousands?|millions?|billions?|trillions?|milliards?|lakhs?|lacs?|crores?)"


def _any_of(words: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


_CODE = rf"(?:{_any_of(_CODES)}|Rs|(?i:usd|eur|gbp|chf|jpy|cny|inr|rmb|aud|euros?))(?![A-Za-z])"
_SIGN = rf"[{''.join(_SYMBOLS)}]"
_NATION = r"(?:U\.S\.|US|C|CAN?|Cdn|CDN|AU?|HK|SG?|NZ|NT|R|MX)"
_UNIT = (
    r"(?i:(?:(?:united states|american|canadian|australian|hong kong|singapore|new zealand|swiss|indian|british"
    r"|u\.?s\.?|uk) )?(?:dollars?|euros?|pounds? sterling|pounds?|sterling|pence|yen|yuan|renminbi|rupees?|francs?"
    r"|cents?))(?![A-Za-z])"
)
_BEFORE_NUMBER = (
    rf"(?:(?<![A-Za-z]){_CODE}[.:]? ?(?:{_SIGN} ?)?|(?:(?<![A-Za-z]){_NATION} ?)?{_SIGN} ?|(?<![A-Za-z]){_UNIT} )"
)
_MARK = rf"(?:{_NATION}?{_SIGN}(?! ?[\d(])|{_CODE}(?! ?\d)|{_UNIT}|(?:US|Canadian)(?![A-Za-z.$]))"
_AFTER_NUMBER = rf" ?(?:\({_MARK}\)|-?{_MARK})"
_LEAD = re.compile(
    rf"(?:(?P<minus>(?<![^ (:=\[])-(?! )|\b(?i:minus) ) ?)?(?P<outer>{_BEFORE_NUMBER})?(?P<open>\( ?)?"
    rf"(?P<inner>{_BEFORE_NUMBER})?(?P<inner_minus>-)?$"
)
_TAIL = re.compile(
    r"(?P<half> \d/\d(?= (?i:million|billion|thousand))|\u2044\d)?(?:[.,]-{1,2}(?!\d)|/-)?"
    rf"(?P<scale>[ -]?(?i:(?:hundred[ -])?{_BIG}|hundred|mln|mio|mil|mn|mrd|bn|tn)(?![A-Za-z])|(?:MM|mm|[KkMmBb])(?![A-Za-z])"
    rf"| (?:MM|[KMB])(?![A-Za-z]))?(?P<close> ?\))?(?P<unit>{_AFTER_NUMBER})?(?P<close2> ?\))?"
)
_DIGITS = re.compile(
    r"(?:(?<![0-9A-Za-z.,])[.,])?\d(?:\d|[.,'](?=\d)| (?=\d{3}(?!\d)))*(?:[eE]\+?\d{1,2}(?![A-Za-z0-9]))?"
)
_SPELLED = re.compile(
    rf"(?<![a-z])(?P<part>(?:one[ -])?half (?:an? )?|an? )?(?P<words>{NUMBER_WORDS})(?P<plus> and a half)?"
    rf"(?P<scale> {_BIG})?(?: (?:and|&) (?P<cents>no|xx|\d{{1,2}})/100(?:ths?)?)?",
    re.IGNORECASE,
)
_BOUND_BEFORE = re.compile(
    r"(?:[~\u2248\u2264\u2265\u2266\u2267\u00b1<]=?|(?<![-=])>=?|\b(?:about|approx(?:imately|\.)?|circa|ca?\.|around|roughly"
    r"|nearly|almost|some|estimated(?: at)?|at least|at most|up to|upwards of|(?:more|less|greater|fewer|lower|higher) than"
    r"|exceed(?:s|ing)?|in excess of|over|under|above|below|min(?:imum|\.)?|max(?:imum|\.)?|capped at|cap of|limited to"
    r"|as much as|as little as|floor of|ceiling of)):?(?: (?:a|an|the|in the|of|of a|of an))?"
    r"(?: (?:total|aggregate|maximum|minimum|sum|amount|principal|cap)(?: (?:amount|sum|value))?,?)*(?: of)? ?$",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"<[^<>]{1,30}>$|<$")
_BOUND_AFTER = re.compile(
    r" ?(?:\+(?! ?[\d$\u20ac\u00a3])|or (?:more|less|so|above|below|greater|higher|lower|fewer)\b|and (?:above|over|up)\b"
    r"|-ish|min(?:imum)?\b|max(?:imum)?\b|at (?:least|most)\b|\((?:min|max|approx|est))",
    re.IGNORECASE,
)
_PERIOD = re.compile(
    r" ?\(?(?:(?:per|each|every|an?|/) ?(?:calendar |contract |fiscal )?"
    r"(?P<unit>day|week|wk|month|mo|quarter|year|yr|annum|hour|hr)|(?P<adverb>daily|weekly|monthly|quarterly"
    r"|annual(?:ly)?|yearly|hourly|p\.a\.))(?![a-z])",
    re.IGNORECASE,
)
_PERIODS = {"wk": "week", "mo": "month", "yr": "year", "hr": "hour", "annum": "year", "daily": "day", "p.a.": "year"}
_PERCENT = re.compile(r" ?\\?%| (?:percent|per cent|percentage|basis points|bps)\b", re.IGNORECASE)
_NOT_MONEY_BEFORE = re.compile(
    r"(?:[A-Za-z_][-/]|[A-Za-z0-9_#\u00a7]|[A-Za-z]\.|\d[:.,]|\b(?:no|nos|section|sec|article|clause|paragraph|exhibit"
    r"|schedule|appendix|annex|attachment|item|page|chapter|part|form|rule|version|phase|year|question)\.? ?)$",
    re.IGNORECASE,
)
_NOT_MONEY_AFTER = re.compile(
    r"[A-Za-z_\u2044]|[-/:]\w|[ ~-]?\)?[ ~-]?(?:(?:calendar|business|consecutive|additional|restricted|common|preferred) )*"
    r"(?:days?|weeks?|months?|quarters?|years?|hours?|minutes?|shares?|units?|copies|caplets?|employees|pages)\b",
    re.IGNORECASE,
)
_LIST_MARK = re.compile(r"\d{1,2}[.)] (?=\S)")
_BLANK_LINE = re.compile(r"(?:\r\n|[\r\n])[ \t]*(?:\r\n|[\r\n])")
_ALONE = re.compile(r"[\s\W]*")


@dataclass(frozen=True, slots=True)
class MoneyValue:
    """An amount of money stated in a text.

    Attributes:
        amount: Exact amount; accounting brackets and a minus sign make it negative.
        currency: ISO 4217 code, or None when the text names none.
        approximate: The text gives a bound or an approximation ("about", "up to", ">").
        period: Time unit the amount is paid per ("month"), or None.
        start: Where it starts in the canonical text.
        end: Where it ends in the canonical text.
    """

    amount: Decimal
    currency: str | None
    approximate: bool
    period: str | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Reading:
    """A candidate: its value, and how it is written."""

    value: MoneyValue
    marked: bool
    spelled: bool
    bracketed: bool
    cents: bool
    scale: int


def _decimal(token: str) -> Decimal | None:
    """Read digits in any of the notations; None when the separators make no number (1.2.3)."""
    token, _, exponent = token.lower().partition("e")
    parts, marks = re.split(r"[.,' ]", token), re.findall(r"[.,' ]", token)
    last = marks[-1] if marks else ""
    fraction = ""
    if marks and last in ".,":
        lone_comma = marks == [","] and len(parts[1]) == 3 and 0 < len(parts[0]) <= 3 and parts[0][0] != "0"
        doubled = len(set(marks)) == 1 < len(marks) and len(parts[-1]) < 3
        if (marks.count(last) == 1 and not lone_comma) or doubled:
            fraction, marks = parts.pop(), marks[:-1]
    sizes = [len(part) for part in parts]
    indian = set(marks) == {","} and sizes[-1] == 3 and set(sizes[1:-1]) == {2} and sizes[0] < 3
    grouped = len(set(marks)) == 1 and 0 < sizes[0] < 4 and set(sizes[1:]) == {3}
    if (marks and not (grouped or indian)) or len(token) > 40:
        return None
    number = Decimal(f"{''.join(parts) or 0}.{fraction or 0}")
    return number.scaleb(int(exponent)) if exponent else number


@lru_cache(maxsize=1024)
def _currency(mark: str) -> tuple[bool, str | None]:
    """Tell whether a mark ("US$", " (GBP)", "Canadian dollars") names a currency, and its code if it is known."""
    upper = mark.upper()
    words = re.findall(r"[A-Z.]+", upper)
    for word in words:
        if word.strip(".") in _CODES:
            return True, _CODES[word.strip(".")]
    symbol = next((_SYMBOLS[c] for c in mark if c in _SYMBOLS), None)
    units = [word.strip(".").lower().removesuffix("s") for word in words]
    unit = next((word for word in units if word in _WORDS), None)
    if symbol is None and unit is None:
        return False, None
    if symbol in (None, "USD") and unit in (None, "dollar", "franc", "rupee", "pound"):
        for nation in sorted(_NATIONS, key=len, reverse=True):
            if re.search(rf"(?<![A-Z]){re.escape(nation)}(?![A-Z])", upper):
                return True, _NATIONS[nation]
    return True, symbol or (_WORDS[unit] if unit else None)


def _scale_of(text: str) -> int:
    scale = 1
    for word in re.findall(r"[a-z]+", text.lower()):
        scale *= _SCALES[word if word in _SCALES else word.removesuffix("s")]
    return scale


def _is_bound(text: str, start: int, end: int) -> bool:
    before = _BOUND_BEFORE.search(text, max(0, start - 60), start)
    if before and before.group()[:1] in "<>" and _MARKUP.search(text, 0, start):
        before = None if before.group()[0] == ">" or text[end : end + 1] == ">" else before  # <b>42</b>, <42>
    return bool(before or _BOUND_AFTER.match(text, end))


def _read(text: str, start: int, end: int, amount: Decimal, *, spelled: bool = False) -> _Reading | None:
    """Read what stands around a number, and decide whether the number is an amount at all."""
    lead, tail = _LEAD.search(text, max(0, start - 30), start), _TAIL.match(text, end)
    if lead is None or tail is None or _PERCENT.match(text, end):
        return None
    plain = spelled or text[start:end].isdigit()
    mark = f"{lead['outer'] or ''}{lead['inner'] or ''} {tail['unit'] or ''}"
    marked, currency = _currency(mark)
    scale, last = 1, end
    if tail["half"] and tail["half"][0] == " ":
        amount, last = amount + Decimal(tail["half"][1]) / Decimal(tail["half"][3]), tail.end("half")
    elif tail["half"]:
        return None
    written = tail["scale"]
    if written and (
        marked or not (written[0] == " " and len(written) < 4 and written.strip() in ("K", "M", "B", "MM"))
    ):
        scale, last = _scale_of(written), tail.end("scale")
    cents = bool(tail["unit"] and "cent" in tail["unit"].lower()) or "pence" in mark
    closing = "close" if tail["close"] else "close2" if tail["close2"] else ""
    bracketed = bool(lead["open"] and closing)
    first = lead.start() if bracketed or not lead["open"] else lead.start("inner") if lead["inner"] else start
    last = max(last, tail.end("unit") if marked and tail["unit"] else 0, tail.end(closing) if bracketed else 0)
    if not marked and (_NOT_MONEY_BEFORE.search(text, max(0, first - 14), first) or _NOT_MONEY_AFTER.match(text, last)):
        return None
    amount = amount * scale / (100 if cents else 1)
    alone = bool(lead["outer"]) or not text[:first].rstrip()[-1:].isalnum()
    if lead["minus"] or lead["inner_minus"] or (bracketed and (alone or not (marked or plain))):
        amount = -amount
    paid = _PERIOD.match(text, last)
    period = (paid["unit"] or paid["adverb"]).lower() if paid else None
    if period:
        period = _PERIODS.get(period) or ("year" if period.startswith("annual") else period.removesuffix("ly"))
    bound = _is_bound(text, first, last) or bool(paid and _BOUND_AFTER.match(text, paid.end()))
    return _Reading(MoneyValue(amount, currency, bound, period, first, last), marked, spelled, bracketed, cents, scale)


def _from_digits(text: str) -> Iterator[_Reading]:
    position = 0
    while match := _DIGITS.search(text, position):
        token = match.group()
        amount = _decimal(token)
        if amount is None and " " in token:
            token = token.partition(" ")[0]
            amount = _decimal(token)
        position = match.start() + len(token)
        reading = None if amount is None else _read(text, match.start(), position, amount)
        if reading:
            position = max(position, reading.value.end)
            yield reading


def _from_words(text: str) -> Iterator[_Reading]:
    for match in _SPELLED.finditer(text):
        count = number_from_words(match["words"])
        if count is None:
            continue
        amount = (Decimal(count) + (Decimal("0.5") if match["plus"] else 0)) * _scale_of(match["scale"] or "")
        if match["part"] and "half" in match["part"].lower():
            amount /= 2
        if match["cents"] and match["cents"].isdigit():
            amount += Decimal(match["cents"]) / 100
        reading = _read(text, match.start(), match.end(), amount, spelled=True)
        if reading:
            yield reading


def _joined(last: _Reading, reading: _Reading, text: str) -> tuple[_Reading, ...]:
    """Combine neighbours that are one amount, or a range that shares its currency and scale."""
    a, b = last.value, reading.value
    gap = text[a.end : b.start]
    agree = a.currency is None or b.currency is None or a.currency == b.currency
    if (
        reading.bracketed
        and not gap.strip()
        and agree
        and (last.spelled != reading.spelled or a.amount == abs(b.amount))
    ):
        amount = a.amount if reading.spelled else abs(b.amount)
        value = MoneyValue(
            amount, a.currency or b.currency, a.approximate or b.approximate, b.period or a.period, a.start, b.end
        )
        return (replace(last, value=value, marked=last.marked or reading.marked, spelled=False),)
    if reading.cents and last.marked and not last.cents and gap == " and ":
        return (replace(last, value=replace(a, amount=a.amount + b.amount, end=b.end, period=b.period)),)
    if last.marked and gap.strip() in ("-", "to") and (not reading.marked or last.scale == 1 < reading.scale):
        if last.scale == 1 < reading.scale and a.amount < 1000:
            a = replace(a, amount=a.amount * reading.scale)
        return replace(last, value=a), replace(
            reading, value=replace(b, currency=b.currency or a.currency), marked=True
        )
    return last, reading


def _readings(text: str) -> list[_Reading]:
    kept: list[_Reading] = []
    found = [*_from_digits(text), *_from_words(text)]
    for reading in sorted(found, key=lambda reading: (reading.value.start, -reading.value.end)):
        if not kept:
            kept.append(reading)
        elif reading.value.start >= kept[-1].value.end:
            kept[-1:] = _joined(kept[-1], reading, text)
    return kept


def _bare(readings: list[_Reading], text: str) -> list[_Reading]:
    """Keep the numbers without a currency that can be amounts."""

    def is_whole(value: MoneyValue) -> bool:
        return bool(_ALONE.fullmatch(text, 0, value.start) and _ALONE.fullmatch(text, value.end))

    if len(readings) == 1 and is_whole(readings[0].value):
        return readings
    spans = [(date.start, date.end) for date in find_dates(text) if date.precision != "year"]
    if len(readings) > 1 and _LIST_MARK.match(text):
        readings = readings[1:]
    numbers = [r for r in readings if not r.spelled and all(r.value.end <= s or r.value.start >= e for s, e in spans)]
    other = [r for r in numbers if not re.fullmatch(r"(?:19|20)\d\d", text[r.value.start : r.value.end])]
    return other or numbers


def find_amounts(text: str) -> list[MoneyValue]:
    """Find the amounts of a text, in reading order.

    Args:
        text: Any text; ranges refer to the `canonical` form of the part before the first blank line.

    Examples:
        >>> [str(v.amount) for v in find_amounts("One Hundred Thousand Dollars ($100,000), of which $2.5k in 30 days")]
        ['100000', '2500.0']
        >>> find_amounts("25% within 30 days of May 5, 2010 under Section 4.2")
        []
    """
    head = canonical(_BLANK_LINE.split(text.lstrip(), 1)[0])
    readings = _readings(head)
    chosen = [reading for reading in readings if reading.marked] or _bare(readings, head)
    return [reading.value for reading in chosen]


@lru_cache(maxsize=16_384)
def parse_money(text: str) -> MoneyValue | None:
    """Read a text that states one amount; None when it states none or several.

    The same amount stated twice is one amount.

    Examples:
        >>> parse_money("$1.2 million").amount == 1_200_000, parse_money("(1,234.50)").amount == Decimal("-1234.50")
        (True, True)
        >>> parse_money("at least 500 EUR").approximate, parse_money("$5,000 per month").period
        (True, 'month')
        >>> parse_money("$5 or $6") is None
        True
    """
    values = find_amounts(text)
    if not values or any(value.amount != values[0].amount for value in values):
        return None
    currencies = {value.currency for value in values if value.currency}
    if len(currencies) > 1:
        return None
    bound = any(value.approximate for value in values)
    return replace(values[0], currency=next(iter(currencies), None), approximate=bound)
