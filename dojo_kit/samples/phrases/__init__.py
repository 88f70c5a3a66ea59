"""Drafting language of the sample contracts and the plan of what goes wrong in the sample runs, as TOML."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any


@cache
def phrases(name: str) -> Mapping[str, Any]:
    """Return a table of phrases: ``clauses``, ``families``, ``frame``, ``documents`` or ``plan``.

    Examples:
        >>> phrases("families")["license"]["supplier"]
        'Licensor'
    """
    text = (files(__package__) / f"{name}.toml").read_text(encoding="utf-8")
    return MappingProxyType(tomllib.loads(text))
