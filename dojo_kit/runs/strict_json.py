r"""JSON as the standard says: no NaN, no Infinity, no key twice - and errors that name the place.

The standard library reads ``NaN`` and lets the last of two equal keys win, both without a word; a score
computed from either is wrong in silence.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from dojo_kit.errors import InputError
from dojo_kit.runs.sources import decode_text
from dojo_kit.storage import encodable

_HALF = re.compile(r"\\u[dD][89a-fA-F]")
_STRING_OR_NUMBER = re.compile(r'"(?:[^"\\]|\\.)*"|-?(?:NaN|Infinity|\d[\d.eE+-]*)', re.DOTALL)


class _RefusedError(ValueError):
    """Valid for the standard library, refused here."""

    def __init__(self, message: str, *, key: str | None = None) -> None:
        super().__init__(message)
        self.key = key


def _refuse_constant(name: str) -> NoReturn:
    raise _RefusedError(f"{name} is no JSON number")


def _finite(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise _RefusedError(f"{digits[:40]} is beyond the range of numbers")
    return value


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise _RefusedError(f"key {twice!r} occurs twice in one object", key=twice)
    return found


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite, object_pairs_hook=_unique_keys)


def parse_json(text: str, *, file: object, line: int | None = None, expected: str = "valid JSON") -> Any:
    r"""Decode one JSON value strictly.

    Half of a character (a lone surrogate such as ``"\ud800"``) is valid in JSON and in no encoding, so it is
    read as U+FFFD.

    Args:
        text: The JSON text.
        file: The file, for messages.
        line: Line of the file the text stands on when it is one line of a JSONL file; else lines are
            counted from the start of the text.
        expected: What should have been there, for messages.

    Raises:
        InputError: The text is no JSON, is cut off, holds NaN or Infinity, repeats a key or is nested too
            deeply.

    Examples:
        >>> parse_json('{"a": [1, 2]}', file="a.json")
        {'a': [1, 2]}
        >>> parse_json('{"a": NaN}', file="a.jsonl", line=7)
        Traceback (most recent call last):
        dojo_kit.errors.InputError: a.jsonl, line 7: NaN is no JSON number (column 7); expected valid JSON
        >>> parse_json('{"a":\n[1, 2', file="a.json")
        Traceback (most recent call last):
        dojo_kit.errors.InputError: a.json, line 2: the JSON is cut off (column 6); expected valid JSON
    """
    try:
        value = _DECODER.decode(text)
        return whole_characters(value) if _HALF.search(text) else value
    except (ValueError, RecursionError) as error:
        message, at, key = _fault(error, text)
    if at is not None:
        line = line or text.count("\n", 0, at) + 1
        message += f" (column {at - text.rfind(chr(10), 0, at)})"
    raise InputError(message, file=file, line=line, field=key, expected=expected)


def whole_characters(value: Any) -> Any:
    r"""Return a decoded JSON value with U+FFFD for every lone surrogate in its texts and keys.

    Examples:
        >>> whole_characters({"a": ["\ud800", 1]}) == {"a": ["\ufffd", 1]}
        True
    """
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, list):
        return [whole_characters(item) for item in value]
    if isinstance(value, dict):
        return {whole_characters(key): whole_characters(item) for key, item in value.items()}
    return value


def _fault(error: ValueError | RecursionError, text: str) -> tuple[str, int | None, str | None]:
    """Say what is wrong, at which offset, and under which key, where known."""
    match error:
        case json.JSONDecodeError():
            end = len(text.rstrip())
            if error.pos >= end or error.msg.startswith("Unterminated string"):
                return "the JSON is cut off", end, None
            return f"not JSON: {error.msg[0].lower()}{error.msg[1:]}", error.pos, None
        case _RefusedError():
            return str(error), None if error.key else _refused_at(text), error.key
        case RecursionError():
            return "the JSON is nested too deeply", None, None
    return "a number has too many digits", None, None


def _refused_at(text: str) -> int | None:
    for match in _STRING_OR_NUMBER.finditer(text):
        word = match.group()
        if word[0] != '"' and (word[-1] in "Ny" or math.isinf(_as_float(word))):
            return match.start()
    return None


def _as_float(digits: str) -> float:
    try:
        return float(digits)
    except ValueError:
        return 0.0


def lines(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    r"""Yield the lines of a file that are not blank, with line number and offset.

    Examples:
        >>> list(lines(b"{}\n\n[]"))
        [(1, 0, b'{}'), (3, 4, b'[]')]
    """
    start, number = 0, 1
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        line = data[start:end]
        if line.strip():
            yield number, start, line
        start, number = end + 1, number + 1


def parse_line(line: bytes, *, file: object, number: int, start: int, expected: str) -> Any:
    """Decode one line of a JSONL file strictly.

    Args:
        line: The line's bytes.
        file: The file, for messages.
        number: 1-based line number.
        start: Offset of the line in the file.
        expected: What should have been there, for messages.

    Raises:
        InputError: The line is not UTF-8 or no JSON value; the message names the line.
    """
    text = decode_text(line, file=file, start=start, line=number).rstrip()
    return parse_json(text, file=file, line=number, expected=expected)
