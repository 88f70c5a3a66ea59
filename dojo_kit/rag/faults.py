"""Everything that is wrong with a table of labels, listed at once with row and column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dojo_kit.errors import InputError
from dojo_kit.records import Problem

LISTED = 50
"""Problems that are spelled out; the rest is counted."""

Codes = NDArray[np.int64]
Mask = NDArray[np.bool_]


class LabelsError(InputError):
    """Labels that cannot be scored, with every reason.

    Args:
        problems: The first problems, by row.
        n_problems: All of them.
        heading: What they have in common.
    """

    def __init__(self, problems: Sequence[Problem], n_problems: int, *, heading: str = "") -> None:
        self.problems = tuple(problems)
        self.n_problems = n_problems
        heading = heading or f"{n_problems} problems in the labels"
        lines = [f"- {problem}" for problem in self.problems]
        if n_problems > len(lines):
            lines.append(f"- and {n_problems - len(lines)} more")
        if n_problems == 1:
            only = self.problems[0]
            super().__init__(
                only.message, file=only.source or None, line=only.line, field=only.field, expected=only.expected
            )
        else:
            super().__init__("\n".join([f"{heading}:", *lines]))


class Faults:
    """The faults found while one table is checked.

    Args:
        lines: Line of every row in its file, shape (rows,).
        source: The file, as the user named it.

    Examples:
        >>> faults = Faults(np.array([2, 3]), "labels.csv")
        >>> faults.add(np.array([False, True]), "helpful", lambda row: "'yes' is no label", "0 or 1")
        >>> print(faults.found[0])
        labels.csv, line 3, field 'helpful': 'yes' is no label; expected 0 or 1
    """

    def __init__(self, lines: Codes, source: str = "") -> None:
        self.lines = lines
        self.source = source
        self.n = 0
        self._found: list[Problem] = []

    @property
    def found(self) -> list[Problem]:
        """The first problems by line."""
        return sorted(self._found, key=lambda problem: problem.line or 0)[:LISTED]

    def add(self, rows: Mask, field: str | None, message: Callable[[int], str], expected: str | None = None) -> None:
        """Note a fault of every marked row.

        Args:
            rows: Which rows are at fault, shape (rows,).
            field: The column at fault.
            message: From the position of a row to what is wrong with it.
            expected: What would have been right.
        """
        at = np.flatnonzero(rows)
        self.n += len(at)
        first = at[np.argsort(self.lines[at], kind="stable")[:LISTED]]
        self._found += [self._problem(int(self.lines[row]), field, message(int(row)), expected) for row in first]

    def add_table(self, field: str | None, message: str, expected: str | None = None) -> None:
        """Note a fault of the whole table, such as an absent column."""
        self.n += 1
        self._found.append(self._problem(None, field, message, expected))

    def raise_any(self, heading: str = "") -> None:
        """Stop if anything was noted.

        Raises:
            LabelsError: Something was.
        """
        if self.n:
            raise LabelsError(self.found, self.n, heading=heading)

    def _problem(self, line: int | None, field: str | None, message: str, expected: str | None) -> Problem:
        return Problem(message, source=self.source, line=line, field=field, expected=expected)


def counted(n: int, noun: str, plural: str = "") -> str:
    """Write a count with its noun.

    Examples:
        >>> counted(1, "unit"), counted(2, "query", "queries")
        ('1 unit', '2 queries')
    """
    return f"{n} {noun if n == 1 else plural or f'{noun}s'}"


def shown(value: Any) -> str:
    """Spell a value for a message, shortened.

    Examples:
        >>> shown("x" * 100)
        "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..."
    """
    text = repr(value.item()) if isinstance(value, np.generic) else repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
