"""Raise at the first fault of an input, or collect faults and go on."""

from __future__ import annotations

from typing import Literal

from dojo_kit.errors import InputError, SettingsError
from dojo_kit.records import Problem

OnError = Literal["raise", "collect"]
"""``raise`` stops at the first fault; ``collect`` keeps the good rows and lists the bad ones."""


class ProblemList:
    """The faults found while one source is read.

    Args:
        on_error: What a fault does.
        source: The source, as the user named it.

    Raises:
        SettingsError: ``on_error`` is neither ``raise`` nor ``collect``.

    Examples:
        >>> problems = ProblemList("collect", "run.jsonl")
        >>> problems.reject(InputError("not JSON", file="run.jsonl", line=3, expected="one JSON object"))
        >>> print(problems.found[0])
        run.jsonl, line 3: not JSON; expected one JSON object
    """

    def __init__(self, on_error: OnError, source: str) -> None:
        if on_error not in ("raise", "collect"):
            raise SettingsError(f"on_error is {on_error!r}; known: raise, collect")
        self._on_error = on_error
        self._source = source
        self._found: list[Problem] = []
        self._refused: list[Problem] = []

    @property
    def collecting(self) -> bool:
        """Whether faults are collected, not raised."""
        return self._on_error == "collect"

    @property
    def found(self) -> tuple[Problem, ...]:
        """What was found so far, in the order of the input."""
        return tuple(self._found)

    def reject(self, error: InputError, *, document: str | None = None) -> None:
        """Leave something out: raise its error, or list it and let the caller go on.

        Raises:
            InputError: ``on_error`` is ``raise``.
        """
        if self._on_error == "raise":
            raise error
        self.note(error, document=document)
        self._refused.append(self._found[-1])

    def nothing_left(self, what: str, *, file: object, expected: str) -> InputError:
        """Return the error for a source of which nothing could be used: how much was refused, and why.

        Args:
            what: What the source holds none of, e.g. ``rows``.
            file: The source, for the message.
            expected: What it should hold.

        Examples:
            >>> problems = ProblemList("collect", "a.csv")
            >>> problems.reject(InputError("1 cells", file="a.csv", line=3))
            >>> print(problems.nothing_left("rows", file="a.csv", expected="a run"))
            a.csv: holds no rows that can be read (1 refused, the first: a.csv, line 3: 1 cells); expected a run
        """
        if not self._refused:
            return InputError(f"holds no {what}", file=file, expected=expected)
        reason = f"{len(self._refused):,} refused, the first: {self._refused[0]}"
        return InputError(f"holds no {what} that can be read ({reason})", file=file, expected=expected)

    def note(self, error: InputError, *, document: str | None = None) -> None:
        """List something odd that was read all the same; never raises."""
        self._found.append(
            Problem(error.message, error.file or self._source, error.line, document, error.field, error.expected)
        )
