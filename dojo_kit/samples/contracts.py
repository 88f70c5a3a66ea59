"""The sample contracts: their texts, and where labels and clauses stand in them."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

OBLIGATIONS, TERMINATIONS = "key_obligations", "termination_clauses"

OMITTED = "<omitted>"
"""What CUAD writes between the two parts of a label that joins two places."""


@dataclass(frozen=True, slots=True)
class Range:
    """A stretch of text.

    Attributes:
        start: First character.
        end: Character after the last one.
    """

    start: int
    end: int

    def of(self, text: str) -> str:
        """Return the stretch."""
        return text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Mark:
    """A labelled stretch of text.

    Attributes:
        category: Category it is labelled under.
        at: Where it stands.
        rest: Where it goes on, for a label that joins two places.
    """

    category: str
    at: Range
    rest: Range | None = None


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause that a perfect answer returns as one item.

    Attributes:
        field: List field it belongs to.
        categories: Categories it is labelled under; none for a clause without a label.
        at: Where it stands.
        section: How the contract refers to its section.
        reworded: The same duty in other words; empty when there is no such wording.
        rest: Where it goes on, when its label joins two places.
    """

    field: str
    categories: tuple[str, ...]
    at: Range
    section: str
    reworded: str = ""
    rest: Range | None = None


@dataclass(frozen=True, slots=True)
class Contract:
    """A sample contract.

    Attributes:
        name: Its name in labels and runs.
        family: Contract family.
        quirk: What is awkward about its text; empty for most.
        text: Full text.
        marks: Labels in order of place.
        sentences: Where its sentences stand.
        clauses: Clauses a perfect answer returns, in order of place.
        parties: Registered name and defined term of each party.
        dates: Days that its date labels state; empty when they are blank.
        contract_value: Total consideration, None when it states none.
        slots: Values with which further clauses can be written for it.
    """

    name: str
    family: str
    quirk: str
    text: str
    marks: tuple[Mark, ...]
    sentences: tuple[Range, ...]
    clauses: tuple[Clause, ...]
    parties: tuple[tuple[str, str], ...]
    dates: tuple[date, ...]
    contract_value: str | None
    slots: Mapping[str, str] = field(repr=False, default_factory=dict)

    @property
    def file(self) -> str:
        """Its file in the folder of a sample."""
        return f"documents/{ascii_name(self.name)}.txt"

    @property
    def title(self) -> str:
        """Its title as it stands at the top."""
        return self.labelled("Document Name") or self.name

    @property
    def categories(self) -> frozenset[str]:
        """Categories it has a label of."""
        return frozenset(mark.category for mark in self.marks)

    def labelled(self, *categories: str) -> str | None:
        """Return the first label of some categories."""
        return next((self.spelled(mark) for mark in self.marks if mark.category in categories), None)

    def spelled(self, place: Mark | Clause) -> str:
        """Return a label as CUAD spells it, with ``<omitted>`` between two places."""
        text = place.at.of(self.text)
        return text + OMITTED + place.rest.of(self.text) if place.rest else text

    def quoted(self, clause: Clause) -> str:
        """Return a clause word by word, on one line."""
        return " ".join(self.spelled(clause).replace(OMITTED, " ... ").split())


def ascii_name(name: str) -> str:
    """Return a name that every file system takes as it is.

    Examples:
        >>> ascii_name("Lumière - Supply")
        'Lumiere - Supply'
    """
    decomposed = unicodedata.normalize("NFKD", name)
    return "".join(c for c in decomposed if c.isascii() and (c.isalnum() or c in " -&.,"))
