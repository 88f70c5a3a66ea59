"""Awkward texts: what scans and word processors do to a contract."""

from __future__ import annotations

import random
import re
from bisect import bisect_left
from collections.abc import Callable

WIDTH = 88
DOUBLED = 0.12
"""Share of spaces that a scan doubles."""

Move = Callable[[int], int]


def apply_quirk(quirk: str, text: str, rng: random.Random) -> tuple[str, Move]:
    """Change a text and say where each of its characters went.

    Args:
        quirk: ``curly`` quotes, ``double_spaces``, ``wrapped`` lines; every other name leaves the text as it is.
        text: The text.
        rng: Decides which spaces are doubled.

    Examples:
        >>> text, move = apply_quirk("curly", 'the "Term"', random.Random(1))
        >>> text, move(4)
        ('the “Term”', 4)
    """
    if quirk == "curly":
        return _curly(text), _stay
    if quirk == "wrapped":
        return _wrapped(text), _stay
    return _double_spaces(text, rng) if quirk == "double_spaces" else (text, _stay)


def _stay(position: int) -> int:
    return position


def _curly(text: str) -> str:
    opened = re.sub(r'(?<![\w.,;])"', "\u201c", text)
    return opened.replace('"', "\u201d").replace("'", "\u2019")


def _wrapped(text: str) -> str:
    """Break long lines at spaces, one character for one character."""
    characters = list(text)
    start = space = 0
    for position, character in enumerate(text):
        if character == "\n":
            start = position + 1
        elif character == " ":
            space = position
        if position - start >= WIDTH and space > start:
            characters[space] = "\n"
            start = space + 1
    return "".join(characters)


def _double_spaces(text: str, rng: random.Random) -> tuple[str, Move]:
    doubled = [match.start() for match in re.finditer(" ", text) if rng.random() < DOUBLED]
    pieces, last = [], 0
    for position in doubled:
        pieces.append(text[last:position] + " ")
        last = position
    pieces.append(text[last:])
    return "".join(pieces), lambda position: position + bisect_left(doubled, position)
