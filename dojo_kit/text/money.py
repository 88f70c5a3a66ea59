"""Amounts of money in text: exact decimals with a currency, and whether they are bounds.

Reads digits in English, continental, Swiss and Indian notation, scales from "k" to "crore", spelled amounts,
and the drafting style that states one amount twice ("One Hundred Thousand Dollars ($100,000)": the digits
count). A single dot is a decimal mark ("3.350" is 3.35); a single comma is one unless it groups exactly three
digits.

Numbers without a currency count only where no amount with one is stated, and not as part of a date, a duration, a
percentage, a section number, shares or an identifier. Only the text before the first blank line is read.
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


def _table(text: str) -> dict[str, str]:
    return {name: value for name, _, value in (pair.partition("=") for pair in text.split(","))}


_SYMBOLS = _table(
    "$=USD,\u20ac=EUR,\u00a3=GBP,\u00a5=JPY,\u20b9=INR,\u20bd=RUB,\u20a9=KRW,\u20aa=ILS,\u20ba=TRY,\u0e3f=THB,\u20ab=VND"
    ",\u20b1=PHP,\u20a6=NGN"
)
_CODE_TEXT = (
    "USD EUR GBP JPY CNY INR CAD AUD NZD CHF SEK NOK DKK ISK HKD SGD TWD KRW MXN BRL ARS CLP ZAR RUB UAH PLN CZK"
    " HUF RON BGN TRY ILS AED SAR QAR KWD EGP THB IDR MYR PHP VND NGN KES PKR BDT LKR"
)
_CODES = {code: code for code in _CODE_TEXT.split()}
_CODES |= _table("RMB=CNY,NTD=TWD,CDN=CAD,EURO=EUR,EUROS=EUR,RS=INR,SFR=CHF")
_NATIONS = _table(
    "UNITED STATES=USD,AMERICAN=USD,U.S.=USD,US=USD,CANADIAN=CAD,CDN=CAD,CAN=CAD,CA=CAD,C=CAD,AUSTRALIAN=AUD"
    ",AU=AUD,A=AUD,HONG KONG=HKD,HK=HKD,SINGAPORE=SGD,SG=SGD,S=SGD,NEW ZEALAND=NZD,NZ=NZD,NT=TWD,MX=MXN,R=BRL"
    ",SWISS=CHF,INDIAN=INR,BRITISH=GBP,UK=GBP"
)
_WORDS = _table(
    "dollar=USD,euro=EUR,pound=GBP,sterling=GBP,pence=GBP,yen=JPY,yuan=CNY,renminbi=CNY,rupee=INR,franc=,kr=,cent="
)
"""Names of units; a franc, a kr or a cent alone does not say whose."""
_POWERS = _table(
    "hundred=2,k=3,thousand=3,lakh=5,lac=5,m=6,mm=6,mil=6,mio=6,mln=6,mn=6,million=6,crore=7,b=9,bn=9,mrd=9,billion=9"
    ",milliard=9,tn=12,trillion=12"
)
_BIG = r"(?:thousands?|millions?|billions?|trillions?|milliards?|lakhs?|lacs?|crores?)"


def _any_of(words: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


_CODE = rf"(?:{_any_of(_CODES)}|Rs|(?i:usd|eur|gbp|chf|jpy|cny|inr|rmb|aud|euros?))(?![A-Za-z])"
_SIGN = rf"[{''.join(_SYMBOLS)}]"
_NATION = r"(?:U\.S\.|US|C|CAN?|Cdn|CDN|AU?|HK|SG?|NZ|NT|R|MX)"
_UNIT = (
    r"(?i:(?:(?:united states|american|canadian|australian|hong kong|singapore|new zealand|swiss|indian|british"
    r"|u\.?s\.?|uk) )?(?:dollars?|euros?|pounds? sterling|pounds?|sterling|pence|yen|yuan|renminbi|rupees?|francs?"
    r"|kr|cents?))(?![A-Za-z])"
)
_PREFIX = rf"(?:(?<![A-Za-z]){_CODE}[.:]? ?(?:{_SIGN} ?)?|(?:(?<![A-Za-z]){_NATION} ?)?{_SIGN} ?)"
_MARK = rf"(?:{_NATION}?{_SIGN}(?! ?[\d(\[*_])|{_CODE}(?! ?\d)|{_UNIT}|(?:US|Canadian|Australian)(?![A-Za-z.$]))"
_AFTER_NUMBER = rf" ?(?:\({_MARK}\)|-?{_MARK})"
_SIGNS = frozenset(_SYMBOLS) | {"(", "-"}
_UNITS = frozenset(word + plural for word in (*_WORDS, "minu") for plural in ("", "s"))
_LEAD = re.compile(
    rf"(?:(?P<minus>(?<![^ (:=\[])-(?! )|\b(?i:minus) ) ?)?(?P<outer>{_PREFIX})?(?P<open>\( ?)?"
    rf"(?:(?P<inner>{_PREFIX}|(?<![A-Za-z]){_UNIT} )(?P<inner_minus>-)?)?$"
)
_TAIL = re.compile(
    r"(?P<fraction> \d/\d(?= (?i:million|billion|thousand))|\u2044\d)?(?:[.,]-{1,2}(?!\d)|/-)?"
    rf"(?P<scale>(?:[ -]?(?i:(?:hundred[ -])?{_BIG}|hundred|mln|mio|mil|mn|mrd|bn|tn)|MM|mm|[KkMmBb]| (?:MM|[KMB]))"
    rf"(?![A-Za-z]))?(?P<close> ?\))?(?P<unit>{_AFTER_NUMBER})?(?P<close2> ?\))?"
)
_DIGITS = re.compile(
    r"(?:(?<![0-9A-Za-z.,])[.,])?\d(?:\d|[.,'](?=\d)| (?=\d{3}(?!\d))|, (?=000(?!\d)))*"
    r"(?:[eE]\+?\d{1,2}(?![A-Za-z0-9]))?"
)
_SPELLED = re.compile(
    rf"(?<![a-z])(?P<part>(?:one[ -])?half (?:an? )?|an? )?(?P<words>{NUMBER_WORDS})(?P<plus> and a half)?"
    rf"(?P<scale> {_BIG})?(?: (?:and|&) (?P<cents>no|xx|\d{{1,2}})/100(?:ths?)?)?",
    re.IGNORECASE,
)
_BOUND_TEXT = (
    "about,approximately,approx,approx.,circa,ca,ca.,c.,around,roughly,nearly,almost,some,estimated,estimated at,up to"
    ",up to and including"
    ",at least,at most,limited to,upwards of,more than,less than,greater than,fewer than,lower than,higher than,over"
    ",exceed,exceeds,exceeding,in excess of,under,above,below,min,min.,minimum,max,max.,maximum,capped at,cap of"
    ",as much as,as little as,floor of,ceiling of"
)
_BOUNDS = tuple(f" {phrase}" for phrase in _BOUND_TEXT.split(","))
_FILLERS = frozenset("a an the in of total aggregate sum amount principal cap value".split())
_BOUND_SIGN = re.compile(r"(?:[~\u2248\u2264\u2265\u2266\u2267\u00b1<]|(?<![-=])>|&[lg]t;)=? ?$")
_MARKUP = re.compile(r"<[^<>]{1,30}>$|<$")
_BOUND_AFTER = re.compile(
    r" ?(?:\+(?! ?[\d$\u20ac\u00a3])|or (?:more|less|so|above|below|greater|higher|lower|fewer)\b|-ish"
    r"|and (?:above|over|up)\b|min(?:imum)?\b|max(?:imum)?\b|at (?:least|most)\b|\((?:min|max|approx|est)[a-z.]*\))",
    re.IGNORECASE,
)
_PERIOD = re.compile(
    r"(?:\.(?= per))? ?\(?(?:(?:per|each|every|an?|/) ?(?:calendar |contract |fiscal )?"
    r"(?P<unit>day|week|wk|month|mo|quarter|year|yr|annum|hour|hr)|(?P<adverb>daily|weekly|monthly|quarterly"
    r"|annual(?:ly)?|yearly|hourly|p\.a\.))(?![a-z])",
    re.IGNORECASE,
)
_PERIODS = {"wk": "week", "mo": "month", "yr": "year", "hr": "hour", "annum": "year", "daily": "day", "p.a.": "year"}
_PERCENT = re.compile(r" ?\\?%| (?:percent|per cent|percentage|basis points|bps)\b", re.IGNORECASE)
_GLUED = re.compile(r".?[A-Za-z0-9_#\u00a7]")
_PART_OF_CODE = re.compile(r"[\w\]][-/]|[A-Za-z][.,]|\d[:.,]")
_NUMBERED = frozenset(
    "no section sec subsection article clause paragraph subparagraph exhibit schedule appendix annex attachment item"
    " page chapter part form rule version phase year question".split()
)
_NOT_MONEY_AFTER = re.compile(
    r"[A-Za-z_\u2044]|[-/:]\w|[ ~-]?\)?[ ~-]?"
    r"(?:(?:calendar|business|consecutive|additional|restricted|common|preferred) )*"
    r"(?:days?|weeks?|months?|quarters?|years?|hours?|minutes?|shares?|units?|copies|caplets?|employees|pages)\b",
    re.IGNORECASE,
)
_IN_YEAR = re.compile(r"\b(?:in|since|during|until|fiscal|fy|year) $", re.IGNORECASE)
_YEAR = re.compile(r"(?:19|20)\d\d", re.ASCII)
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
    token, _, exponent = token.lower().replace(", ", ",").partition("e")
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
    if (marks and not (grouped or indian)) or len(token) > 30:
        return None
    number = Decimal("".join(parts) + (f".{fraction}" if fraction else ""))
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
    return True, symbol or (_WORDS[unit] or None if unit else None)


def _scale_of(text: str) -> int:
    words = re.findall(r"[a-z]+", text.lower())
    return int(10 ** sum(int(_POWERS[word if word in _POWERS else word.removesuffix("s")]) for word in words))


def _is_bound(text: str, start: int, end: int) -> bool:
    if _BOUND_AFTER.match(text, end):
        return True
    before = " " + text[max(0, start - 60) : start].lower().replace("(", " ").rstrip(" :")
    if sign := _BOUND_SIGN.search(before, max(0, len(before) - 6)):
        tag = _MARKUP.search(text, max(0, start - 34), start)
        return tag is None or not (sign.group()[0] == ">" or text[end : end + 1] == ">")  # <b>42</b>, <42>
    while not before.endswith(_BOUNDS):
        rest, _, word = before.rstrip(" ,").rpartition(" ")
        if word not in _FILLERS:
            return False
        before = rest
    return True


def _lead(text: str, start: int) -> re.Match[str] | None:
    """Match what stands before a number; looks for a currency only where one can be."""
    near = text[max(0, start - 12) : start]
    word = near.rstrip(" .:").rpartition(" ")[2].lstrip("(").lower()
    possible = not _SIGNS.isdisjoint(near[-4:]) or word in _UNITS or word.upper() in _CODES
    return _LEAD.search(text, max(0, start - 24) if possible else start, start)


def _scaled(text: str, start: int, tail: re.Match[str], amount: Decimal, marked: bool) -> tuple[Decimal, int, int]:
    """Apply a fraction and a scale ("2 1/2 million"); return the amount, the scale and where they end."""
    scale, last = 1, tail.start()
    if fraction := tail["fraction"]:  # canonical text has 21/2 for a two and a vulgar half
        whole, top = (amount, int(fraction[1])) if fraction[0] == " " else divmod(int(amount), 10)
        amount, last = whole + Decimal(top) / (int(fraction[-1]) or 1), tail.end("fraction")
    if written := tail["scale"]:
        loose = written[0] == " " and written.isupper() and not marked  # "Annex 5 B"
        if not loose or (start == 0 and tail.end("scale") == len(text)):
            scale, last = _scale_of(written), tail.end("scale")
    return amount * scale, scale, last


def _is_other_number(text: str, start: int, end: int, scale: int) -> bool:
    """Tell numbers of sections, identifiers, durations and shares from amounts."""
    word = text[max(0, start - 14) : start].rstrip(" .").rpartition(" ")[2].lower()
    numbered = word.removesuffix("s") in _NUMBERED or _PART_OF_CODE.fullmatch(text, max(0, start - 2), start)
    return bool(_NOT_MONEY_AFTER.match(text, end) or (numbered and scale == 1))


def _period(paid: re.Match[str]) -> str:
    word = (paid["unit"] or paid["adverb"]).lower()
    return _PERIODS.get(word) or ("year" if word.startswith("annual") else word.removesuffix("ly"))


def _read(text: str, start: int, end: int, amount: Decimal, *, spelled: bool = False) -> _Reading | None:
    """Read what stands around a number, and decide whether the number is an amount at all."""
    lead, tail = _lead(text, start), _TAIL.match(text, end)
    if lead is None or tail is None:
        return None
    unit = tail["unit"] or ""
    marked, currency = _currency(f"{lead['outer'] or ''}{lead['inner'] or ''} {unit}")
    amount, scale, last = _scaled(text, start, tail, amount, marked)
    closing = "close" if tail["close"] else "close2" if tail["close2"] else ""
    bracketed = bool(lead["open"] and closing)
    first = lead.start() if bracketed or not lead["open"] else lead.start("inner") if lead["inner"] else start
    last = max(last, tail.end("unit") if marked and unit else 0, tail.end(closing) if bracketed else 0)
    glued = (not marked or first == start) and _GLUED.fullmatch(text, max(0, first - 2), first)
    torn = marked and text[last : last + 1].isalpha()  # "$7OO,000", as scanned
    if glued or torn or _PERCENT.match(text, last) or (not marked and _is_other_number(text, first, last, scale)):
        return None
    cents = not (lead["outer"] or lead["inner"]) and ("cent" in unit.lower() or "pence" in unit.lower())
    amount = amount / 100 if cents else amount
    alone = lead["outer"] or not text[max(0, first - 4) : first].rstrip()[-1:].isalnum()
    plain = spelled or text[start:end].isdigit()  # "the answer is (42)" is no debit
    if lead["minus"] or lead["inner_minus"] or (bracketed and (alone or not (marked or plain))):
        amount = -amount
    paid = _PERIOD.match(text, last)
    bound = _is_bound(text, first, last) or bool(paid and _BOUND_AFTER.match(text, paid.end()))
    value = MoneyValue(amount, currency, bound, _period(paid) if paid else None, first, last)
    return _Reading(value, marked, spelled, bracketed, cents, scale)


def _from_digits(text: str) -> Iterator[_Reading]:
    position = 0
    while match := _DIGITS.search(text, position):
        token = match.group()
        amount = _decimal(token)
        if amount is None and " " in token:
            token = token.partition(" ")[0]
            amount = _decimal(token)
        position = match.start() + len(token)
        if amount is not None and (reading := _read(text, match.start(), position, amount)):
            position = max(position, reading.value.end)
            yield reading


def _from_words(text: str) -> Iterator[_Reading]:
    for match in _SPELLED.finditer(text):
        count = number_from_words(match["words"])
        if count is None:
            continue
        amount = (Decimal(count) + (Decimal("0.5") if match["plus"] else 0)) * _scale_of(match["scale"] or "")
        amount = amount / 2 if "half" in (match["part"] or "").lower() else amount
        amount += Decimal(match["cents"]) / 100 if (match["cents"] or "").isdigit() else 0
        if reading := _read(text, match.start(), match.end(), amount, spelled=True):
            yield reading


def _joined(last: _Reading, reading: _Reading, text: str) -> tuple[_Reading, ...]:
    """Combine neighbours that are one amount, or a range that shares its currency and scale."""
    a, b = last.value, reading.value
    gap = text[a.end : b.start].strip()
    agree = a.currency is None or b.currency is None or a.currency == b.currency
    restated = last.spelled != reading.spelled or a.amount == abs(b.amount)
    if reading.bracketed and not gap and agree and restated:
        amount, bound = a.amount if reading.spelled else abs(b.amount), a.approximate or b.approximate
        value = MoneyValue(amount, a.currency or b.currency, bound, b.period or a.period, a.start, b.end)
        return (replace(last, value=value, marked=last.marked or reading.marked, spelled=False),)
    if reading.cents and last.marked and not last.cents and gap == "and":
        return (replace(last, value=replace(a, amount=a.amount + b.amount, end=b.end, period=b.period)),)
    ranged = gap in ("-", "to") or (gap == "and" and text[max(0, a.start - 8) : a.start] == "between ")
    shared = last.scale == 1 < reading.scale
    if last.marked and ranged and (shared or not reading.marked):
        if shared and a.amount < 1000:
            a = replace(a, amount=a.amount * reading.scale)
        b = replace(b, currency=b.currency or a.currency)
        return replace(last, value=a), replace(reading, value=b, marked=True)
    return last, reading


def _readings(text: str) -> list[_Reading]:
    kept: list[_Reading] = []
    found = [*_from_digits(text), *_from_words(text)]
    for reading in sorted(found, key=lambda reading: (reading.value.start, -reading.value.end)):
        if not kept:
            kept.append(reading)
            continue
        start, end = max(reading.value.start, kept[-1].value.end), reading.value.end
        if start == reading.value.start or (reading.bracketed and start < end):  # "fifty USD (50)": one mark for two
            clipped = replace(reading, value=replace(reading.value, start=start))
            kept[-1:] = _joined(kept[-1], clipped, text)
    return kept


def _bare(readings: list[_Reading], text: str) -> list[_Reading]:
    """Keep the numbers without a currency that can be amounts."""
    if len(readings) == 1:
        value = readings[0].value
        if _ALONE.fullmatch(text, 0, value.start) and _ALONE.fullmatch(text, value.end):
            return readings
    elif _LIST_MARK.match(text):
        readings = readings[1:]
    dated = {place for date in find_dates(text) if date.precision != "year" for place in range(date.start, date.end)}
    numbers = [reading for reading in readings if not reading.spelled and reading.value.start not in dated]
    other = [reading for reading in numbers if not _YEAR.fullmatch(text, reading.value.start, reading.value.end)]
    return other or [r for r in numbers if not _IN_YEAR.search(text, max(0, r.value.start - 8), r.value.start)]


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
    """Read a text that states one amount, once or more often; None when it states none or several.

    Examples:
        >>> parse_money("$1.2 million").amount == 1_200_000, parse_money("(1,234.50)").amount == Decimal("-1234.50")
        (True, True)
        >>> parse_money("at least 500 EUR").approximate, parse_money("$5,000 per month").period
        (True, 'month')
        >>> parse_money("$5 or $6") is None
        True
    """
    values = find_amounts(text)
    currencies = {value.currency for value in values if value.currency}
    if len({value.amount for value in values}) != 1 or len(currencies) > 1:
        return None
    bound = any(value.approximate for value in values)
    return replace(values[0], currency=next(iter(currencies), None), approximate=bound)
