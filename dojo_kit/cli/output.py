"""What every command prints the same way: errors, problems, tables, JSON, progress.

Names, values and messages come from files and models. Whatever is printed of them goes through `shown`, or
into a table of `build_table`, which does the same to every cell.
"""

from __future__ import annotations

import codecs
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from dojo_kit import formats
from dojo_kit.errors import DojoError
from dojo_kit.records import Problem
from dojo_kit.stats.intervals import Estimate
from dojo_kit.storage import to_json

PIPED_WIDTH = 160
"""Columns when output goes to a file or pipe, where nothing says how wide it is."""

Column = tuple[str, Literal["left", "right", "fold"]]
"""Header of a column and what it holds: text, numbers or long text."""

_GAP = 2
_LONG = 28
"""Characters from which long text is broken before a column is left out."""
_NARROW = 8
"""Characters that text without a longer number can be broken down to."""

_NUMBER = r"[-+\[(<>~=]*\d(?:[\d.,:eE%+-]*[\d%])?[\]),;.]*"
_NUMBERS = re.compile(_NUMBER)
_PIECES = re.compile(rf"{_NUMBER}|[^\d\s_/\\.,;:-]*[_/\\.,;:-]|[^\d\s_/\\.,;:-]+|\S")

_SEQUENCES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours, cursor, screen
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"  # titles, links, clipboard
    r"|\x1b[ -/]*[0-~]"
)
_SPACING = re.compile("[\t\n\v\f\r\x85\u2028\u2029]+")
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def _width() -> int | None:
    return None if sys.stdout.isatty() or "COLUMNS" in os.environ else PIPED_WIDTH


out = Console(highlight=False, emoji=False, width=_width())
err = Console(stderr=True, highlight=False, emoji=False, soft_wrap=True)

SHOWN_PROBLEMS = 5


def prepare_streams() -> None:
    """Let output go on where a stream cannot encode a character: a question mark stands for it."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")


def plain(text: object) -> str:
    r"""Return text that cannot steer a terminal: one line, no escape sequences, no control characters.

    Escape sequences are dropped, white space of any kind becomes a space, and other controls, marks that
    reverse the direction of writing and halves of characters become U+FFFD.

    Examples:
        >>> plain("a\x1b[31mb\x1b]0;title\x07c\nd\x00") == "abc d\N{REPLACEMENT CHARACTER}"
        True
    """
    text = _SPACING.sub(" ", _SEQUENCES.sub("", str(text)))
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text)


def shown(text: object) -> str:
    r"""Return text as it can stand in what is printed: `plain`, and no markup.

    Examples:
        >>> shown("[red]run\x1b[2J[/red]")
        '\\[red]run\\[/red]'
    """
    return escape(plain(text))


def print_json(value: Mapping[str, Any]) -> None:
    """Print one JSON object to standard output, in ASCII where the stream is not UTF-8."""
    sys.stdout.write(to_json(value, ascii_only=not _is_utf8(sys.stdout.encoding)))


def _is_utf8(encoding: str | None) -> bool:
    try:
        return codecs.lookup(encoding or "ascii").name == "utf-8"
    except LookupError:
        return False


def report_error(error: DojoError) -> None:
    """Print what went wrong to standard error."""
    err.print(f"[bold red]error:[/] {shown(error)}")


def report_problems(problems: Sequence[Problem]) -> None:
    """Print how many problems there were and the first few, to standard error."""
    if not problems:
        return
    kinds = Counter(problem.message for problem in problems)
    err.print(f"[yellow]{formats.count(len(problems), 'problem')}[/] in the input; rows were kept where possible:")
    for message, n in kinds.most_common(SHOWN_PROBLEMS):
        example = next(problem for problem in problems if problem.message == message)
        more = f" (and {n - 1} more like it)" if n > 1 else ""
        err.print(f"  {shown(example)}{more}")
    if len(kinds) > SHOWN_PROBLEMS:
        err.print(f"  ... and {formats.count(len(kinds) - SHOWN_PROBLEMS, 'other kind')}; --json lists all")


def build_table(
    title: str,
    columns: Sequence[Column],
    rows: Iterable[Sequence[str]],
    *,
    drop: Sequence[str] = (),
) -> FittedTable:
    """Lay out a table that fits the console it is printed on and never cuts a number.

    Where it is too wide, the columns named in ``drop`` are left out, the last one first, and a line says
    so; then text is broken over lines; then each row becomes a list of its cells.

    Args:
        title: Title; may be empty.
        columns: Header and ``left`` (text), ``right`` (numbers, never broken) or ``fold`` (long text, broken
            before any column is left out).
        rows: Cells as plain strings, escaped here; a short row is filled up.
        drop: Headers of columns that can be left out.
    """
    cells = [[plain(cell) for cell in row] for row in rows]
    return FittedTable(plain(title), tuple(columns), cells, tuple(drop))


def estimates_table(
    rows: Iterable[tuple[str, Estimate]], *, title: str = "", says: Callable[[str], str] | None = None
) -> FittedTable:
    """Lay out named estimates with interval, n, flags, and what they count where ``says`` knows it."""
    cells = [
        [
            name,
            formats.number(estimate.value),
            formats.interval(estimate),
            f"{estimate.n:,}",
            "; ".join(filter(None, (says(name) if says else "", estimate.note or ", ".join(estimate.flags)))),
        ]
        for name, estimate in rows
    ]
    columns: list[Column] = [
        ("metric", "left"),
        ("value", "right"),
        ("95 % interval", "left"),
        ("n", "right"),
        ("", "fold"),
    ]
    return build_table(title, columns, cells)


@contextmanager
def progress_bar(label: str, *, quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """Show a bar on standard error; gives the callback `score_run` takes, or None when quiet."""
    if quiet:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as progress:
        task = progress.add_task(label, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


@dataclass(frozen=True, slots=True)
class FittedTable:
    """A table laid out when it is printed.

    Attributes:
        title: Title; may be empty.
        columns: Header and kind of each column.
        rows: Cells; a short row is filled up.
        drop: Headers of columns that can be left out.
    """

    title: str
    columns: tuple[Column, ...]
    rows: Sequence[Sequence[str]]
    drop: tuple[str, ...] = ()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Lay the table out for the width at hand."""
        if self.title:
            yield Text(self.title, style="bold")
        kept, left_out = self._kept(options.max_width)
        widths = _widths([self._sizes(index) for index in kept], options.max_width)
        yield self._stacked(kept, options.max_width) if widths is None else self._table(kept, widths)
        if left_out:
            names = ", ".join(name or "notes" for name in left_out)
            yield Text(f"left out to fit the width: {names}; --json has all", style="dim")

    def _cells(self, index: int) -> Iterator[str]:
        return (row[index] if index < len(row) else "" for row in self.rows)

    def _sizes(self, index: int) -> _Sizes:
        header, kind = self.columns[index]
        cells = list(self._cells(index))
        natural = max(map(cell_len, (header, *cells)))
        word = max(map(cell_len, header.split()), default=0)
        if kind == "right":
            number = max([word, *map(cell_len, cells)])
            return _Sizes(number, number, number, number)
        numbers = [cell_len(number) for text in (header, *cells) for number in _NUMBERS.findall(text)]
        least = min(natural, max([_NARROW, *numbers]))
        if kind == "left":
            return _Sizes(natural, natural, natural, least)
        return _Sizes(natural, max(least, min(natural, _LONG)), least, least)

    def _kept(self, width: int) -> tuple[list[int], list[str]]:
        """Return the columns that fit and the headers of those left out."""
        kept = list(range(len(self.columns)))
        left_out: list[str] = []
        for header in reversed(self.drop):
            if sum(self._sizes(index).wanted for index in kept) + _GAP * (len(kept) - 1) <= width:
                break
            index = next((index for index in reversed(kept) if self.columns[index][0] == header), None)
            if index is not None:
                kept.remove(index)
                left_out.insert(0, header)
        return kept, left_out

    def _table(self, kept: list[int], widths: list[int]) -> Table:
        headers = [self.columns[index][0] for index in kept]
        table = Table(box=None, pad_edge=False, padding=(0, 1), show_header=any(headers))
        for index, width in zip(kept, widths, strict=True):
            header, kind = self.columns[index]
            table.add_column(
                Text("\n".join(broken(header, width)), style="dim"),
                justify="right" if kind == "right" else "left",
                width=width,
                no_wrap=True,
            )
        columns = [list(self._cells(index)) for index in kept]
        for cells in zip(*columns, strict=True):
            table.add_row(*(Text("\n".join(broken(cell, w))) for cell, w in zip(cells, widths, strict=True)))
        return table

    def _stacked(self, kept: list[int], width: int) -> Text:
        """Write each row as a list of its cells, for a console too narrow for a table."""
        lines = Text(no_wrap=True)
        for row in zip(*(self._cells(index) for index in kept), strict=True):
            for position, (index, cell) in enumerate(zip(kept, row, strict=True)):
                header = self.columns[index][0]
                if not cell:
                    continue
                text = cell if not position else f"  {header} {cell}" if header else f"  {cell}"
                lines.append("\n".join(broken(text, width)) + "\n")
        lines.rstrip()
        return lines


@dataclass(frozen=True, slots=True)
class _Sizes:
    """How wide a column can be: unbroken, with long text broken, with long text at its least, at its least."""

    natural: int
    wanted: int
    firm: int
    least: int


def _widths(sizes: Sequence[_Sizes], width: int) -> list[int] | None:
    """Share a width out among columns; None when their least widths do not fit."""
    free = width - _GAP * (len(sizes) - 1)
    levels = [
        [size.natural for size in sizes],
        [size.wanted for size in sizes],
        [size.firm for size in sizes],
        [size.least for size in sizes],
    ]
    fitting = next((number for number, level in enumerate(levels) if sum(level) <= free), None)
    if fitting is None:
        return None
    widths, limits = levels[fitting], levels[max(fitting - 1, 0)]
    free -= sum(widths)
    while free and any(now < limit for now, limit in zip(widths, limits, strict=True)):
        for index, limit in enumerate(limits):
            if free and widths[index] < limit:
                widths[index] += 1
                free -= 1
    return widths


def broken(text: str, width: int) -> list[str]:
    """Break a line of text at spaces, then after marks, then anywhere but inside a number.

    Examples:
        >>> broken("overall_extraction_score of 1,234.5", 12)
        ['overall_', 'extraction_', 'score of', '1,234.5']
        >>> broken("abcdefgh", 3), broken("1234567", 3), broken("  n 5", 9)
        (['abc', 'def', 'gh'], ['1234567'], ['  n 5'])
    """
    if cell_len(text) <= width:
        return [text]
    lines = [text[: len(text) - len(text.lstrip())]]
    for word in text.split():
        joined = f"{lines[-1]} {word}" if lines[-1].strip() else lines[-1] + word
        if cell_len(joined) <= width:
            lines[-1] = joined
            continue
        if lines[-1].strip():
            lines.append("")
        for piece in _pieces(word, width):
            if cell_len(lines[-1] + piece) <= width or not lines[-1].strip():
                lines[-1] += piece
            else:
                lines.append(piece)
    return lines


def _pieces(word: str, width: int) -> Iterator[str]:
    if cell_len(word) <= width:
        yield word
        return
    for piece in _PIECES.findall(word):
        if cell_len(piece) <= width or piece[-1:].isdigit() or _NUMBERS.fullmatch(piece):
            yield piece
        else:
            yield from piece
