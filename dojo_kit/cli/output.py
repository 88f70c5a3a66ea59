"""What every command prints the same way: errors, problems, tables of estimates, JSON, progress."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from dojo_kit import formats
from dojo_kit.errors import DojoError
from dojo_kit.records import Problem
from dojo_kit.stats.intervals import Estimate
from dojo_kit.storage import to_json

PIPED_WIDTH = 160
"""Columns when output goes to a file or pipe, where nothing says how wide it is."""


def _width() -> int | None:
    return None if sys.stdout.isatty() or "COLUMNS" in os.environ else PIPED_WIDTH


out = Console(highlight=False, width=_width())
err = Console(stderr=True, highlight=False, soft_wrap=True)

SHOWN_PROBLEMS = 5


def print_json(value: Mapping[str, Any]) -> None:
    """Print one JSON object to standard output."""
    sys.stdout.write(to_json(value))


def report_error(error: DojoError) -> None:
    """Print what went wrong to standard error."""
    err.print(f"[bold red]error:[/] {escape(str(error))}")


def report_problems(problems: Sequence[Problem]) -> None:
    """Print how many problems there were and the first few, to standard error."""
    if not problems:
        return
    kinds = Counter(problem.message for problem in problems)
    err.print(f"[yellow]{formats.count(len(problems), 'problem')}[/] in the input; rows were kept where possible:")
    for message, n in kinds.most_common(SHOWN_PROBLEMS):
        example = next(problem for problem in problems if problem.message == message)
        more = f" (and {n - 1} more like it)" if n > 1 else ""
        err.print(f"  {escape(str(example))}{more}")
    if len(kinds) > SHOWN_PROBLEMS:
        err.print(f"  ... and {formats.count(len(kinds) - SHOWN_PROBLEMS, 'other kind')}; --json lists all")


def estimates_table(rows: Iterable[tuple[str, Estimate]], *, title: str = "") -> Table:
    """Lay out named estimates with interval, n and flags."""
    table = make_table(
        title, ("metric", "left"), ("value", "right"), ("95 % interval", "left"), ("n", "right"), ("", "fold")
    )
    for name, estimate in rows:
        note = estimate.note or ", ".join(estimate.flags)
        table.add_row(
            escape(name),
            formats.number(estimate.value),
            escape(formats.interval(estimate)),
            f"{estimate.n:,}",
            escape(note),
        )
    return table


def make_table(title: str, *columns: tuple[str, str]) -> Table:
    """Make an empty table of one look.

    Args:
        title: Title; may be empty.
        *columns: Header and ``left``, ``right`` or ``fold``: left-aligned text that may break over lines.
    """
    table = Table(title=title or None, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for header, kind in columns:
        justify: Literal["left", "right"] = "right" if kind == "right" else "left"
        table.add_column(
            header, justify=justify, header_style="dim", no_wrap=kind != "fold", overflow="fold", min_width=len(header)
        )
    return table


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
