"""What can go wrong when a notebook is published."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from dojo_kit.errors import DojoError, MissingExtraError

EXTRA = "lab"


class NotebookError(DojoError, RuntimeError):
    """A notebook cannot be published: a cell failed, or its host is not as this package knows it."""


def cell_failed(notebook: Path, failures: list[str]) -> NotebookError:
    """Name the cells that failed, the first one in full.

    Args:
        notebook: The notebook.
        failures: One line a cell, in order.

    Examples:
        >>> print(cell_failed(Path("a.py"), ["cell 2 (load): no such file", "cell 3: name 'x' is not defined"]))
        a.py: cell 2 (load): no such file; 1 more cell failed; nothing was written
    """
    more = len(failures) - 1
    rest = f"; {more} more cell{'s' if more > 1 else ''} failed" if more else ""
    return NotebookError(f"{notebook}: {failures[0]}{rest}; nothing was written")


def require(package: str, *, purpose: str) -> None:
    """Raise when an optional package is not installed.

    Args:
        package: Import name.
        purpose: What it is needed for, as the beginning of a sentence.

    Raises:
        MissingExtraError: It is not installed.
    """
    if find_spec(package) is None:
        raise MissingExtraError(package, extra=EXTRA, purpose=purpose)
