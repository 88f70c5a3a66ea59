"""Keyword shapes of clause categories: a guess at the category of a span that lost its own.

The guess is right for about three in four labelled spans; `heldout` says how often, measured on contracts the shapes
were not tuned on. A labelled category is always better.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from dojo_kit.text.tokens import without_omissions

_Patterns = tuple[re.Pattern[str], ...]


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads((files("dojo_kit") / "data" / "clause_shapes.toml").read_text(encoding="utf-8"))


@cache
def _shapes() -> tuple[tuple[str, _Patterns, _Patterns], ...]:
    compiled = []
    for shape in _table()["shape"]:
        wanted, barred = (tuple(re.compile(text, re.IGNORECASE) for text in shape[key]) for key in ("any", "none"))
        compiled.append((shape["category"], wanted, barred))
    return tuple(compiled)


def shape_category(text: str, among: Collection[str] | None = None) -> str | None:
    """Guess a clause's category from its words.

    Args:
        text: The clause.
        among: Categories it can have; all 41 by default.

    Examples:
        >>> shape_category("The source code shall be held in escrow.")
        'Source Code Escrow'
        >>> shape_category("Good morning.", {"Insurance"}) is None
        True
    """
    collapsed = " ".join(without_omissions(text).split())
    for category, wanted, barred in _shapes():
        if among is not None and category not in among:
            continue
        hit = any(pattern.search(collapsed) for pattern in wanted)
        if hit and not any(pattern.search(collapsed) for pattern in barred):
            return category
    return None


def heldout() -> Mapping[str, float]:
    """Return how often the guess is right on contracts it was not tuned on.

    Returns:
        ``accuracy`` over all 41 categories and ``n_spans``; ``obligation_accuracy`` over the 31 that are obligations
        and ``n_obligation_spans``; ``unclassified``, the share of spans without any shape.

    Examples:
        >>> heldout()["accuracy"], heldout()["n_spans"]
        (0.7407, 5750)
    """
    found: Mapping[str, float] = _table()["heldout"]
    return found


def heldout_accuracy(field: str) -> float:
    """Return how often the guess is right for spans of a clause field, among the categories of that field.

    Measured over all labelled spans of CUAD on each half of its contracts; the lower of both.

    Examples:
        >>> heldout_accuracy("key_obligations")
        0.569
    """
    found: Mapping[str, float] = _table()["heldout"]["fields"]
    return found.get(field, heldout()["accuracy"])
