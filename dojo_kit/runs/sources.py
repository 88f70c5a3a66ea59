"""The bytes and the text of files named by the user, with errors that say what is wrong with them."""

from __future__ import annotations

import os
from pathlib import Path

from dojo_kit.errors import InputError

PathLike = str | os.PathLike[str]

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_GZIP = b"\x1f\x8b"


def source_path(source: PathLike, *, expected: str) -> PathLike:
    """Return a path with ``~`` for the home folder written out.

    Args:
        source: The path as the user named it.
        expected: What should be there, for the message.

    Raises:
        InputError: The path is empty.

    Examples:
        >>> source_path("run.json", expected="a run")
        'run.json'
        >>> source_path("", expected="a run")
        Traceback (most recent call last):
        dojo_kit.errors.InputError: the path is empty; expected a run
    """
    text = os.fspath(source)
    if not text.strip():
        raise InputError("the path is empty", expected=expected)
    return os.path.expanduser(text) if text.startswith("~") else source


def existing_file(path: PathLike, *, expected: str) -> Path:
    """Check that a path leads to a file.

    Args:
        path: The path as the user named it.
        expected: What the file should be, for the message.

    Raises:
        InputError: There is nothing there, or a folder.

    Examples:
        >>> existing_file("no/such/run.json", expected="a run file")
        Traceback (most recent call last):
        dojo_kit.errors.InputError: no/such/run.json: no such file; expected a run file
    """
    file = Path(path)
    try:
        if file.is_dir():
            raise InputError("is a folder, not a file", file=path, expected=expected)
        if not file.exists():
            raise InputError("no such file", file=path, expected=expected)
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"cannot be opened ({error})", file=path, expected=expected) from error
    return file


def read_bytes(path: PathLike, *, expected: str) -> bytes:
    """Read a whole file.

    Args:
        path: The path as the user named it.
        expected: What the file should be, for the message.

    Raises:
        InputError: The file is missing, unreadable, compressed or empty, or a folder.
    """
    file = existing_file(path, expected=expected)
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", file=path, expected=expected) from error
    if data.startswith(_GZIP):
        raise InputError("is gzip-compressed", file=path, expected=f"{expected}, decompressed")
    if not data.removeprefix(_BYTE_ORDER_MARK).strip():
        raise InputError("is empty", file=path, expected=expected)
    return data


def decode_text(data: bytes, *, file: object, start: int = 0, line: int = 1) -> str:
    r"""Decode UTF-8, with or without a byte order mark.

    Args:
        data: The bytes, or a part of a file's.
        file: The file, for the message.
        start: Offset of the part in the file.
        line: Line the part begins on.

    Raises:
        InputError: A byte is not UTF-8; the message names it, its offset and its line.

    Examples:
        >>> decode_text(b"\xef\xbb\xbfcaf\xc3\xa9", file="a.txt") == "caf\u00e9"
        True
        >>> decode_text(b"a\ncaf\xe9", file="a.txt")
        Traceback (most recent call last):
        dojo_kit.errors.InputError: a.txt, line 2: byte 0xe9 at offset 5 is not UTF-8; expected UTF-8 text
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        hint = " (the file looks like UTF-16)" if not start and data.startswith(_UTF16) else ""
        raise InputError(
            f"byte 0x{data[error.start]:02x} at offset {start + error.start} is not UTF-8{hint}",
            file=file,
            line=line + data.count(b"\n", 0, error.start),
            expected="UTF-8 text",
        ) from error
    return text if start else text.removeprefix("\ufeff")


def split_fragment(source: PathLike) -> tuple[PathLike, str | None]:
    """Split ``path#fragment``; a file whose own name holds the ``#`` is taken whole.

    Examples:
        >>> split_fragment("experiments.jsonl#3")
        ('experiments.jsonl', '3')
        >>> split_fragment("run.json")
        ('run.json', None)
    """
    text = os.fspath(source)
    if "#" not in text or os.path.exists(text):
        return source, None
    cuts = [index for index, character in enumerate(text) if character == "#"]
    cut = next((index for index in cuts if os.path.isfile(text[:index])), cuts[0])
    return text[:cut], text[cut + 1 :]
