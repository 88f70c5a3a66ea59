"""Files that are either whole or not there: written under a temporary name and renamed."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from dojo_kit.errors import InputError


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Give a temporary path beside ``path`` and rename it to ``path`` when the block succeeds.

    Args:
        path: Final path; its folder is made when missing.

    Raises:
        InputError: The folder cannot be made, or the file not written; also when the block runs into an
            error of the file system, such as a full disk. ``path`` then is as it was before.

    Examples:
        >>> import tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> target = Path(folder.name) / "a" / "b.txt"
        >>> with replacing(target) as temporary:
        ...     _ = temporary.write_text("whole")
        >>> target.read_text()
        'whole'
        >>> folder.cleanup()
    """
    path = Path(path)
    if not path.name:
        raise InputError("the path names no file", file=str(path), expected="a file name")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            raise InputError("cannot write: it is a folder", file=path, expected="the path of a file")
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.", suffix=".part")
    except (OSError, ValueError) as error:
        raise _not_written(error, path, expected="a writable folder") from None
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except OSError as error:
        raise _not_written(error, path, expected="room for the file and a name the disk can hold") from None
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _not_written(error: OSError | ValueError, path: Path, *, expected: str) -> InputError:
    if isinstance(error, InputError):
        return error
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return InputError(f"cannot write: {reason}", file=path, expected=expected)


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def write_text(path: str | Path, text: str) -> None:
    """Write a text file whole; halves of characters, which no file can hold, become U+FFFD.

    Raises:
        InputError: The file cannot be written.
    """
    with replacing(path) as temporary:
        temporary.write_text(encodable(text), encoding="utf-8", newline="\n")


def encodable(text: str) -> str:
    r"""Return text that UTF-8 can hold: a lone surrogate becomes U+FFFD.

    Examples:
        >>> encodable("caf\u00e9 \ud800") == "caf\u00e9 \ufffd"
        True
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def to_json(value: Any, *, ascii_only: bool = False) -> str:
    r"""Render a value as strict JSON with a final newline; NaN is refused, not written.

    Args:
        value: The value.
        ascii_only: Escape every other character, for streams that are not UTF-8.

    Examples:
        >>> to_json({"b": 1, "a": None})
        '{\n  "b": 1,\n  "a": null\n}\n'
    """
    return json.dumps(value, ensure_ascii=ascii_only, indent=2, allow_nan=False) + "\n"
