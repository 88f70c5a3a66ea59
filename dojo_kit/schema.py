"""Document classes, field types and clause categories: what is extracted and how it is compared.

The tables are package data (``data/document_classes.toml``, ``data/cuad_categories.toml``).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from dojo_kit.errors import SettingsError, closest

SCALAR_TYPES = ("id", "date", "money", "name", "free_text", "containment")
"""Types of a field that holds one value; also the element types of an entity list."""

META_KEYS = frozenset({"reasoning", "confidence"})
"""Keys of a model's answer that are never fields."""

_TYPE_WORDS = (
    ("date", frozenset({"date", "dates"})),
    (
        "money",
        frozenset({"value", "amount", "fee", "compensation", "price", "cost", "salary", "consideration", "total"}),
    ),
    ("id", frozenset({"number", "id", "docket", "reference", "filing"})),
)


@dataclass(frozen=True, slots=True)
class FieldType:
    """How a field is compared.

    Attributes:
        kind: ``entity_list`` or one of `SCALAR_TYPES`.
        element: For a list, the type its items are compared as.
    """

    kind: str
    element: str | None = None

    @property
    def is_list(self) -> bool:
        """Whether the field holds a list of items."""
        return self.kind == "entity_list"

    def __str__(self) -> str:
        return f"{self.kind}:{self.element}" if self.element and self.element != "name" else self.kind


@cache
def field_type(text: str) -> FieldType:
    """Read a field type such as ``date`` or ``entity_list:free_text``.

    Args:
        text: Type name; a list without an element type compares names.

    Raises:
        SettingsError: The type is unknown.

    Examples:
        >>> field_type("entity_list:free_text").element
        'free_text'
        >>> field_type("entity_list").element
        'name'
    """
    kind, colon, element = text.partition(":")
    if kind == "entity_list" and (not colon or element in SCALAR_TYPES):
        return FieldType("entity_list", element or "name")
    if kind in SCALAR_TYPES and not colon:
        return FieldType(kind)
    known = (*SCALAR_TYPES, "entity_list", *(f"entity_list:{t}" for t in SCALAR_TYPES))
    raise SettingsError(f"unknown field type {text!r}{closest(text, known)}; known: {', '.join(known)}")


def guess_field_type(name: str, value: object = None) -> FieldType:
    """Guess the type of a field that no document class declares, from the words of its name.

    Args:
        name: Field name.
        value: A value of it; a list makes it an entity list.

    Examples:
        >>> guess_field_type("date_filed").kind, guess_field_type("mandate").kind
        ('date', 'name')
    """
    if isinstance(value, list):
        return FieldType("entity_list", "name")
    words = set(re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()))
    return FieldType(next((kind for kind, names in _TYPE_WORDS if words & names), "name"))


@dataclass(frozen=True, slots=True)
class DocumentClass:
    """A kind of document and the fields extracted from it.

    Attributes:
        key: Stable key, e.g. ``contract``.
        label: Display name.
        fields: Field name -> type, in display order.
        subclasses: Keys of the second level, empty when there is none.
    """

    key: str
    label: str
    fields: Mapping[str, FieldType]
    subclasses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ClauseCategory:
    """A clause category of CUAD.

    Attributes:
        name: Name as in the header of ``master_clauses.csv``.
        field: Contract field it is scored under; None for Warranty Duration, which has none.
        short: Name of at most 22 characters for tables.
        order: Position among the 41 columns, from 0.
    """

    name: str
    field: str | None
    short: str
    order: int


def _table(name: str) -> dict[str, Any]:
    return tomllib.loads((files("dojo_kit") / "data" / name).read_text(encoding="utf-8"))


@cache
def document_classes() -> Mapping[str, DocumentClass]:
    """Return the eight packaged document classes by key."""
    return MappingProxyType(
        {
            key: make_document_class(key, entry["fields"], entry["label"], entry.get("subclasses", ()))
            for key, entry in _table("document_classes.toml").items()
        }
    )


def make_document_class(
    key: str, fields: Mapping[str, str], label: str = "", subclasses: tuple[str, ...] | list[str] = ()
) -> DocumentClass:
    """Build a document class from plain names.

    Raises:
        SettingsError: A field type is unknown.

    Examples:
        >>> str(make_document_class("memo", {"sender": "name"}).fields["sender"])
        'name'
    """
    types = MappingProxyType({name: field_type(text) for name, text in fields.items()})
    return DocumentClass(key, label or key.replace("_", " ").title(), types, tuple(subclasses))


def document_class(key: str) -> DocumentClass:
    """Return a packaged document class.

    Raises:
        SettingsError: No class has this key.

    Examples:
        >>> list(document_class("contract").fields)[:3]
        ['document_name', 'parties', 'effective_date']
    """
    known = document_classes()
    if key not in known:
        raise SettingsError(f"unknown document class {key!r}{closest(key, known)}; known: {', '.join(known)}")
    return known[key]


@cache
def clause_categories() -> tuple[ClauseCategory, ...]:
    """Return the 41 CUAD clause categories in CSV column order."""
    return tuple(
        ClauseCategory(entry["name"], entry.get("field"), entry.get("short", entry["name"]), order)
        for order, entry in enumerate(_table("cuad_categories.toml")["category"])
    )


@cache
def _category_by_key() -> Mapping[str, ClauseCategory]:
    entries = _table("cuad_categories.toml")["category"]
    found: dict[str, ClauseCategory] = {}
    for category, entry in zip(clause_categories(), entries, strict=True):
        for spelling in (category.name, category.short, *entry.get("aliases", ())):
            found[_category_key(spelling)] = category
    return MappingProxyType(found)


def _category_key(name: str) -> str:
    return "".join(re.findall(r"[a-z0-9]+", name.lower()))


@lru_cache(maxsize=4096)
def clause_category(name: str) -> ClauseCategory | None:
    """Find a CUAD clause category by any of its spellings.

    Examples:
        >>> clause_category("Affiliate IP License-Licensor").name
        'Affiliate License-Licensor'
        >>> clause_category("key_obligations") is None
        True
    """
    return _category_by_key().get(_category_key(name))
