"""Numbers, amounts and dates as a contract writes them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import date
from typing import TypeVar

from dojo_kit.samples.phrases import phrases

T = TypeVar("T")


def stream(seed: int, *names: object) -> random.Random:
    """Return the random numbers of one part of the sample, independent of every other part.

    Examples:
        >>> stream(7, "contract", 1).random() == stream(7, "contract", 1).random()
        True
    """
    return random.Random("/".join(map(str, (seed, *names))))


class Wording:
    """How one contract writes its values.

    Args:
        rng: Decides the style and draws the values.
    """

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._frame = phrases("frame")
        self._spelled = rng.random() < 0.6
        self._money = rng.choice(self._frame["money_styles"])

    def number(self, value: int) -> str:
        """Write a number, in many contracts spelled out with the digits in parentheses."""
        return f"{self._frame['numbers'][str(value)]} ({value})" if self._spelled else str(value)

    def count(self, value: int, unit: str) -> str:
        """Write a number of days, months or years."""
        return f"{self.number(value)} {unit}" if value > 1 else f"{self.number(value)} {unit.removesuffix('s')}"

    def amount(self) -> str:
        """Draw an amount of money."""
        return str(self._money).format(amount=f"{self._rng.choice(self._frame['amounts']):,}")

    def percent(self) -> str:
        """Draw a percentage."""
        value = self._rng.choice(self._frame["percents"])
        return f"{self._frame['numbers'][str(value)]} percent ({value}%)" if self._spelled else f"{value}%"

    def values(self) -> dict[str, str]:
        """Draw a value for every slot that a clause may have, always in the same order."""
        pick, frame = self._rng.choice, self._frame
        days, days2 = self._rng.sample(frame["days"], 2)
        return {
            "territory": pick(frame["territories"]),
            "amount": self.amount(),
            "amount2": self.amount(),
            "percent": self.percent(),
            "days": self.count(days, "days"),
            "days2": self.count(days2, "days"),
            "months": self.count(pick(frame["months_long"]), "months"),
            "years": self.count(pick(frame["years"]), "years"),
            "units": f"{pick(frame['units']):,} units",
            "firm": pick(frame["firms"]),
        }

    def choose(self, options: Sequence[T]) -> T:
        """Draw one of several wordings."""
        return self._rng.choice(options)


def draw_date(rng: random.Random, *, first_year: int = 2016, last_year: int = 2023) -> date:
    """Draw a day that exists in every month."""
    return date(rng.randint(first_year, last_year), rng.randint(1, 12), rng.randint(1, 28))


def write_date(day: date, style: str) -> str:
    """Write a date in a style.

    Examples:
        >>> write_date(date(2021, 3, 3), "day_of"), write_date(date(2021, 3, 3), "ordinal")
        ('3rd day of March, 2021', 'March 3rd, 2021')
        >>> write_date(date(2021, 3, 3), "slashes"), write_date(date(2021, 3, 3), "spelled")
        ('03/03/2021', 'third day of March, 2021')
    """
    month = phrases("frame")["months"][day.month - 1]
    ordinals = phrases("frame")["ordinals"]
    match style:
        case "day_of":
            return f"{_ordinal(day.day)} day of {month}, {day.year}"
        case "slashes":
            return f"{day.month:02}/{day.day:02}/{day.year}"
        case "iso":
            return day.isoformat()
        case "day_first":
            return f"{day.day} {month} {day.year}"
        case "ordinal":
            return f"{month} {_ordinal(day.day)}, {day.year}"
        case "spelled" if day.day <= len(ordinals):
            return f"{ordinals[day.day - 1]} day of {month}, {day.year}"
        case _:
            return f"{month} {day.day}, {day.year}"


def _ordinal(number: int) -> str:
    """Write an ordinal number.

    Examples:
        >>> [_ordinal(n) for n in (1, 2, 3, 11, 22)]
        ['1st', '2nd', '3rd', '11th', '22nd']
    """
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
