"""The exceptions a user can meet, each saying what was found, where, and what was expected.

Every error the package raises on purpose derives from `DojoError`; the command line turns it into one
message and exit code 2, never a traceback.
"""

from __future__ import annotations

from collections.abc import Iterable


class DojoError(Exception):
    """Base of all errors a user can cause and mend."""


class SettingsError(DojoError, ValueError):
    """A setting has an unknown name or an impossible value."""


class MissingExtraError(DojoError, ImportError):
    """An optional package is needed; the message names the extra that installs it."""

    def __init__(self, package: str, *, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs the package {package!r}: pip install 'dojo-kit[{extra}]'")


class ComparabilityError(DojoError, ValueError):
    """Two results were asked to be compared although they were not measured alike."""


class InputError(DojoError, ValueError):
    """A file or value cannot be read as what it should be.

    Args:
        message: What was found.
        file: The file, as the user named it.
        line: 1-based line (JSONL, CSV) or row number.
        field: The key or column at fault.
        expected: What would have been right.

    Examples:
        >>> print(InputError("not JSON", file="run.jsonl", line=3, expected="one JSON object a line"))
        run.jsonl, line 3: not JSON; expected one JSON object a line
    """

    def __init__(
        self,
        message: str,
        *,
        file: object = None,
        line: int | None = None,
        field: str | None = None,
        expected: str | None = None,
    ) -> None:
        self.message = message
        self.file = None if file is None else str(file)
        self.line = line
        self.field = field
        self.expected = expected
        place = ", ".join(
            part
            for part in (
                self.file,
                None if line is None else f"line {line}",
                None if field is None else f"field {field!r}",
            )
            if part
        )
        text = f"{place}: {message}" if place else message
        super().__init__(f"{text}; expected {expected}" if expected else text)


def closest(name: str, known: Iterable[str]) -> str:
    """Return ``" (did you mean 'x'?)"`` for the nearest known name, or an empty string.

    Examples:
        >>> closest("tokem_coverage", ["token_coverage", "seed"])
        " (did you mean 'token_coverage'?)"
        >>> closest("zzz", ["token_coverage"])
        ''
    """
    from difflib import get_close_matches

    match = get_close_matches(name, list(known), n=1)
    return f" (did you mean {match[0]!r}?)" if match else ""
