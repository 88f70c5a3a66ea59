"""Typed values behind a field, for errors in days and money: dates, durations and amounts as numbers."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import Literal

from dojo_kit.schema import FieldType
from dojo_kit.scoring.rules import MONEY_CHARS
from dojo_kit.settings import FieldScoring
from dojo_kit.text.dates import find_dates
from dojo_kit.text.durations import parse_duration
from dojo_kit.text.money import parse_money
from dojo_kit.text.tokens import is_no_value

ValueKind = Literal["date", "days", "amount"]

DURATION_FIELDS: dict[str, Literal["first", "renewal"]] = {"term_length": "first", "renewal_terms": "renewal"}
"""Fields that state a duration, and which duration of their text counts."""


def value_kinds(field: str, type: FieldType) -> tuple[ValueKind, ...]:
    """Return the kinds of value a field may hold, the preferred one first.

    A term may be stated as a duration or by the day it ends.
    """
    if type.kind == "date":
        return ("date",)
    if type.kind == "money":
        return ("amount",)
    return ("days", "date") if field in DURATION_FIELDS else ()


def read_value(field: str, kind: ValueKind, text: str, scoring: FieldScoring) -> float | None:
    """Read a text as a number of the kind: ordinal day, days, or US dollars; None when it is none.

    Bounds, approximations and amounts in another currency are no amounts in dollars.

    A term is read as a date only when its text states no duration, and then as its last full date: the first
    may be the day it begins.

    Examples:
        >>> read_value("term_length", "days", "two (2) years", FieldScoring())
        730.0
    """
    if is_no_value(text):
        return None
    if kind == "date":
        return (
            _read_end(text, DURATION_FIELDS[field], scoring)
            if field in DURATION_FIELDS
            else _ordinal(_dates(text, scoring)[:1])
        )
    if kind == "days":
        duration = parse_duration(text, which=DURATION_FIELDS.get(field, "first"))
        return None if duration is None else float(duration.days)
    amount = parse_money(text[:MONEY_CHARS])
    exact = amount is not None and not amount.approximate and amount.currency in (None, "USD")
    return float(amount.amount) if amount is not None and exact else None


def _dates(text: str, scoring: FieldScoring) -> list[date]:
    found = find_dates(text, day_first=scoring.day_first, pivot=scoring.two_digit_year_pivot)
    return [value.date for value in found if value.date is not None]


def _ordinal(dates: list[date]) -> float | None:
    return float(dates[0].toordinal()) if dates else None


def _read_end(text: str, which: Literal["first", "renewal"], scoring: FieldScoring) -> float | None:
    return None if parse_duration(text, which=which) else _ordinal(_dates(text, scoring)[-1:])


def expected_value(
    field: str, type: FieldType, curated: Iterable[str], text: str, scoring: FieldScoring
) -> tuple[float | None, ValueKind | None]:
    """Read the value a label holds: from a curated normalised answer first, from the label's text else.

    Args:
        field: Field name.
        type: Field type.
        curated: Normalised answers of the label's category.
        text: The label.
        scoring: Scoring settings.

    Returns:
        The value and its kind, or (None, None).
    """
    kinds = value_kinds(field, type)
    for source in (*curated, text):
        for kind in kinds:
            value = read_value(field, kind, source, scoring)
            if value is not None:
                return value, kind
    return None, None
