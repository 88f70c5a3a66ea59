"""Which clauses a sample contract has."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dojo_kit.samples.phrases import phrases

CONVENIENCE = "Termination For Convenience"
FEWEST, MOST = 4, 12
"""Clauses drawn for a contract, besides those on term, law and termination; most contracts have few."""


@dataclass(frozen=True, slots=True)
class ClauseText:
    """One wording of a clause, its slots still open.

    Attributes:
        categories: Categories it is labelled under.
        theme: Article it stands in.
        heading: Caption of its section.
        text: The clause.
        reworded: The same duty in other words.
        after: Sentences that follow it and carry no label.
    """

    categories: tuple[str, ...]
    theme: str
    heading: str
    text: str
    reworded: str
    after: tuple[str, ...]


def choose_clauses(rng: random.Random, family: str, used: Counter[str], *, software: bool) -> list[ClauseText]:
    """Draw the clauses of one contract, those of its family first and rare ones before common ones.

    Args:
        rng: Decides.
        family: Contract family.
        used: How often each category was drawn so far; counted on.
        software: Whether the contract is about programs.
    """
    frame, kind = phrases("frame"), phrases("families")[family]
    excluded = () if software else tuple(frame["software_only"])
    preferred = [name for name in kind["prefer"] if name not in excluded]
    others = [name for name in frame["generic"] if name not in preferred]
    wanted = min(rng.randint(FEWEST, MOST) for _ in range(5))
    typical = min(len(preferred), (2 * wanted + 2) // 3)
    names = _rarest(rng, preferred, used, typical) + _rarest(rng, others, used, wanted - typical)
    chosen: list[ClauseText] = []
    for name in names:
        taken = {category for clause in chosen for category in clause.categories}
        if name not in taken:
            chosen.append(draw_clause(rng, name, family, without=taken.union(names) - {name}))
    used.update(category for clause in chosen for category in clause.categories)
    return chosen


def draw_clause(rng: random.Random, category: str, family: str, *, without: Collection[str] = ()) -> ClauseText:
    """Draw a wording of a category.

    Args:
        rng: Decides.
        category: First category of the clause.
        family: Contract family it must suit.
        without: Categories it must not be labelled under besides.
    """
    entries = [
        entry
        for entry in phrases("clauses")["clause"]
        if entry["categories"][0] == category
        and family in entry.get("families", (family,))
        and not set(entry["categories"][1:]).intersection(without)
    ]
    return _clause_text(rng, rng.choice(entries))


def _clause_text(rng: random.Random, entry: Mapping[str, Any]) -> ClauseText:
    return ClauseText(
        categories=tuple(entry["categories"]),
        theme=entry["theme"],
        heading=entry["heading"],
        text=rng.choice(entry["text"]),
        reworded=rng.choice(entry["reworded"]),
        after=tuple(entry["after"]),
    )


def _rarest(rng: random.Random, names: Sequence[str], used: Counter[str], n: int) -> list[str]:
    ranked = sorted((used[name], rng.random(), name) for name in names)
    return [name for _, _, name in ranked[:n]]
