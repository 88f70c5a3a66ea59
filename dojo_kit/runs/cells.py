"""Single values of a file: lists written into a table's cell, and values shown in a message."""

from __future__ import annotations

import ast
import reprlib
import warnings
from typing import Any

from dojo_kit.errors import InputError
from dojo_kit.runs.strict_json import parse_json, whole_characters

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 60


def list_cell(value: Any) -> Any:
    """Turn a table's cell that holds a list into one; anything else stays as it is.

    Lists are written as JSON or, as ``DataFrame.to_csv`` does, the way Python prints them.

    Examples:
        >>> list_cell('["a", "b"]'), list_cell("['a']"), list_cell("[*]"), list_cell("a, b")
        (['a', 'b'], ['a'], '[*]', 'a, b')
    """
    if not isinstance(value, str) or not (value.startswith("[") and value.rstrip().endswith("]")):
        return value
    try:
        return parse_json(value, file=None)
    except InputError:
        return python_list(value) or value


def python_list(text: str) -> list[Any] | None:
    """Read a list of texts and whole numbers printed by Python; None when the text is none.

    Examples:
        >>> python_list("['a', 'b']"), python_list("['a'"), python_list("3")
        (['a', 'b'], None, None)
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # stray backslashes
            value = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    plain = isinstance(value, list) and all(item is None or isinstance(item, str | int) for item in value)
    return whole_characters(value) if plain else None


def shown(value: object) -> str:
    """Describe a value in a message, cut to a readable length.

    Examples:
        >>> shown({"a": 1}), shown(None), shown("x" * 100)[:20]
        ("an object {'a': 1}", 'nothing', "'xxxxxxxxxxxxxxxxxxx")
    """
    if value is None:
        return "nothing"
    text = repr(value)
    text = text if len(text) <= 60 else text[:57] + "..."
    return ("an object " if isinstance(value, dict) else "a list " if isinstance(value, list) else "") + text
