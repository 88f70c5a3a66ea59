"""How numbers and names are written for people: the only place where values are rounded."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from dojo_kit.stats.intervals import Estimate

UNKNOWN = "\N{EN DASH}"
"""What stands where a number is undefined; never a zero."""


SHORT_NAME = 32
"""Characters up to which a document's name is shown whole."""


def number(value: float | None, *, digits: int = 3) -> str:
    """Write a number with thousands separators from 1,000 on and few digits from 100 on.

    Examples:
        >>> number(0.69712), number(1234.5), number(57.25), number(None)
        ('0.697', '1,234', '57.2', '–')
    """
    if value is None or value != value:
        return UNKNOWN
    size = abs(value)
    if size >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if size >= 10 else f"{value:.{digits}f}"


def interval(estimate: Estimate) -> str:
    """Write an interval as ``[lo, hi]``; empty when there is none.

    Examples:
        >>> interval(Estimate(0.5, 0.25, 0.75, "wilson", 10))
        '[0.250, 0.750]'
    """
    if estimate.lo is None or estimate.hi is None:
        return ""
    return f"[{number(estimate.lo)}, {number(estimate.hi)}]"


def estimate(value: Estimate) -> str:
    """Write an estimate with its interval.

    Examples:
        >>> estimate(Estimate(0.5, 0.25, 0.75, "wilson", 10))
        '0.500 [0.250, 0.750]'
    """
    return f"{number(value.value)} {interval(value)}".strip()


def dollars(value: float | None) -> str:
    """Write an amount of US dollars: cents from a dollar on, below it three digits that count.

    Examples:
        >>> dollars(1234.5), dollars(12.344), dollars(0.5), dollars(0.00002414), dollars(0.0), dollars(None)
        ('$1,234', '$12.34', '$0.500', '$0.0000241', '$0', '–')
    """
    if value is None or value != value:
        return UNKNOWN
    size = abs(value)
    if not size:
        return "$0"
    if size >= 1:
        return f"${value:,.0f}" if size >= 1000 else f"${value:,.2f}"
    return f"${value:.{2 - math.floor(math.log10(size))}f}"


def count(n: int, noun: str, plural: str = "") -> str:
    """Write a count with its noun.

    Examples:
        >>> count(1, "document"), count(1200, "document"), count(2, "query", "queries")
        ('1 document', '1,200 documents', '2 queries')
    """
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def short_document(name: str) -> str:
    """Shorten a file name to what tells it apart: first name and year.

    Examples:
        >>> short_document("GOOSEHEADINSURANCE,INC_04_02_2018-EX-10.6-Franchise Agreement")
        'Gooseheadinsurance 2018'
        >>> short_document("Amberly - Franchise 2")
        'Amberly - Franchise 2'
    """
    if len(name) <= SHORT_NAME:
        return name
    first = re.split(r"[_,\s-]", name, maxsplit=1)[0]
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", first)
    year = re.search(r"(?<!\d)(?:19|20)\d\d", name[len(first) :])
    return " ".join(
        part for part in (spaced.title() if spaced.isupper() else spaced, year.group() if year else "") if part
    )


def short_documents(names: Sequence[str]) -> list[str]:
    """Shorten the names of documents for a list so that no two look the same.

    Names that are alike when shortened get the kind of document their file name ends with, then a number.

    Examples:
        >>> short_documents(["ACMECORPORATION_01_02_2018-EX-10.6-Franchise Agreement",
        ...                 "ACMECORPORATION_03_04_2018-EX-10.7-Supply Agreement", "Beta lease"])
        ['Acmecorporation 2018, Franchise Agreement', 'Acmecorporation 2018, Supply Agreement', 'Beta lease']
    """
    shorts = [short_document(name) for name in names]
    alike = Counter(shorts)
    kinds = [
        f"{short}, {kind}" if alike[short] > 1 and (kind := _kind_of(name)) not in ("", short) else short
        for short, name in zip(shorts, names, strict=True)
    ]
    again, seen = Counter(kinds), Counter[str]()
    for index, kind in enumerate(kinds):
        seen[kind] += 1
        if again[kind] > 1:
            kinds[index] = f"{kind} ({seen[kind]})"
    return kinds


def _kind_of(name: str) -> str:
    """Return the words a file name ends with, such as its kind of agreement."""
    last = re.split(r"[-_]", re.sub(r"\.(?:pdf|txt)$", "", name, flags=re.IGNORECASE))[-1].strip(" .")
    return last.title() if last.isupper() else last
