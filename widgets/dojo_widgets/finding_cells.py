"""Cells of the tables of published findings: long texts folded, short names with the whole one on hover."""

from __future__ import annotations

from collections.abc import Sequence

from dojo_kit.report.tables import Cell
from dojo_kit.views.confusion import until_word

SHOWN_CHARACTERS = 150
"""Characters of a text that stand before its fold."""

FOLDED_CHARACTERS = 1_500
"""Characters of a text in all, beyond which it is cut."""


def folded(text: str, *, before: str = "") -> Cell:
    """Return a cell with the start of a text, at the end of a word, and the rest behind it.

    Args:
        text: The text.
        before: What stands before it.

    Examples:
        >>> folded("pay the rent")
        Cell(text='pay the rent', note='', more='', faint=False)
        >>> folded("pay " * 500).more.endswith("pay ... (1,999 characters in all)")
        True
    """
    text = text.strip()
    # A fold that hides a few words costs more than it saves.
    if len(text) <= SHOWN_CHARACTERS * 1.25:
        return Cell(before + text)
    start = until_word(text, SHOWN_CHARACTERS)
    whole = until_word(text, FOLDED_CHARACTERS)
    cut = f" ... ({len(text):,} characters in all)" if len(whole) < len(text) else ""
    return Cell(before + start, more=whole[len(start) :].lstrip() + cut)


def named(shorts: Sequence[str], names: Sequence[str]) -> list[Cell]:
    """Return cells with short names that say the whole one on hover.

    Args:
        shorts: Short names.
        names: The whole ones.
    """
    return [Cell(short, note="" if short == name else name) for short, name in zip(shorts, names, strict=True)]


def set_back(values: Sequence[object], faint: Sequence[bool]) -> list[object]:
    """Return texts and numbers as cells, some of them set back.

    Args:
        values: Whole numbers, texts or cells.
        faint: Which of them say little.
    """
    return [_faint(value) if is_faint else value for value, is_faint in zip(values, faint, strict=True)]


def _faint(value: object) -> Cell:
    if isinstance(value, Cell):
        return Cell(value.text, note=value.note, more=value.more, faint=True)
    return Cell(f"{value:,}" if isinstance(value, int) else str(value), faint=True)
