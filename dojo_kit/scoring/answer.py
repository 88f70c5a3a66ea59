"""Reading a model's answer: values as text and items, and whether each field has the JSON type it should.

A wrong type in model output is scored, not refused: a text for a list is one item, a list for a text its only
item, an object no value. It costs `schema_valid` and is named as a problem.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from dojo_kit.records import Problem
from dojo_kit.schema import META_KEYS, FieldType
from dojo_kit.text.output import strip_wrapping
from dojo_kit.text.tokens import is_no_value

_SURROGATES = re.compile("[\ud800-\udfff]")
"""Halves of characters: valid in a Python string, in no encoding."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model returned for one document.

    Attributes:
        raw: The answer as an object; empty when it was none.
        lists: List field -> items with a value.
        scalars: Other field -> text.
        problems: Wrong JSON types; the answer conforms to its schema when there are none.
    """

    raw: Mapping[str, Any]
    lists: Mapping[str, list[str]]
    scalars: Mapping[str, str]
    problems: tuple[Problem, ...]

    def has_value(self, name: str) -> bool:
        """Whether the model filled a field."""
        return bool(self.lists[name]) if name in self.lists else not is_no_value(self.scalars[name])


def read_answer(predicted: Any, types: Mapping[str, FieldType], *, document: str) -> Answer:
    """Read a decoded answer; anything but an object is an empty one.

    Args:
        predicted: What the model returned.
        types: Field name -> type.
        document: Name used in problems.
    """
    problems = []
    raw: Mapping[str, Any] = predicted if isinstance(predicted, Mapping) else {}
    if raw is not predicted:
        message = f"the answer is {json_type(predicted)}"
        problems.append(Problem(message, document=document, expected="an object with the fields of the class"))
    for name, value in raw.items():
        wrong = _wrong_type(value, types[name]) if name in types and name not in META_KEYS else None
        if wrong:
            message, expected = wrong
            problems.append(Problem(message, document=document, field=name, expected=expected))
    return Answer(
        raw,
        {name: as_items(raw.get(name)) for name, type in types.items() if type.is_list},
        {name: as_text(raw.get(name)) for name, type in types.items() if not type.is_list},
        tuple(problems),
    )


def as_items(value: Any) -> list[str]:
    """Read a value as list items: a string is one item, no value is none, items without value are dropped.

    Examples:
        >>> as_items("Acme"), as_items(None), as_items(["a", "N/A", 3, {"x": 1}])
        (['Acme'], [], ['a', '3'])
    """
    return [text for text in map(as_text, _members(value)) if not is_no_value(text)]


def as_text(value: Any) -> str:
    """Read a value as text: a list is its only item, else its first; an object is no value.

    Examples:
        >>> as_text(["Acme", "Beta"]), as_text(12.5), as_text({"name": "Acme"}), as_text(None)
        ('Acme', '12.5', '', '')
    """
    while isinstance(value, list | tuple) and len(value) == 1:
        value = value[0]
    if isinstance(value, str):
        return strip_wrapping(value if value.isascii() else _SURROGATES.sub("\N{REPLACEMENT CHARACTER}", value))
    if value is None or isinstance(value, Mapping) or _is_missing(value):
        return ""
    if isinstance(value, bytes):
        return as_text(value.decode("utf-8", "replace"))
    if isinstance(value, Iterable):
        return next((text for text in map(as_text, _members(value)) if not is_no_value(text)), "")
    return str(value)


def _members(value: Any) -> Iterable[Any]:
    """Return the members of any collection (list, array, series, set), or the value as the only one."""
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    single = isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable)
    return [value] if single else value


def _is_missing(value: Any) -> bool:
    """Tell whether a value is one of the ways frames write nothing: NaN, NaT, NA."""
    if isinstance(value, Iterable):
        return False
    return type(value).__name__ in ("NAType", "NaTType") or bool(value != value)


def json_type(value: Any) -> str:
    """Name the JSON type of a value, with its article."""
    names = {dict: "an object", list: "a list", tuple: "a list", str: "text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def _wrong_type(value: Any, type: FieldType) -> tuple[str, str] | None:
    """Say what is wrong with the JSON type of a field's value, and what was expected; None when it is right."""
    if value is None:
        return None
    if not type.is_list:
        right = isinstance(value, str) or (isinstance(value, int | float) and not isinstance(value, bool))
        return None if right else (f"the value is {json_type(value)}", "text or null")
    if not isinstance(value, list):
        return f"the value is {json_type(value)}", "a list of texts"
    odd = [item for item in value if not isinstance(item, str)]
    return (f"an item is {json_type(odd[0])}", "a list of texts") if odd else None
