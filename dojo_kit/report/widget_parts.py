"""What a page needs of a widget: its module, its styles, its state, and which traits follow from which.

Any object will do that has ``_esm``, maybe ``_css``, and a state: ``get_state()`` as ipywidgets have it, or
``trait_values()``. ``precomputed()`` may add tables of traits that follow from another one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dojo_kit.errors import InputError

_HOST_TRAITS = {"layout", "tabbable", "tooltip", "comm", "keys", "log"}


@dataclass(frozen=True)
class Table:
    """A trait that follows from another one.

    Attributes:
        source: Trait the page changes.
        target: Trait that follows.
        values: Value of the source as text -> value of the target.
    """

    source: str
    target: str
    values: Mapping[str, Any]


@dataclass(frozen=True)
class WidgetParts:
    """A widget taken apart.

    Attributes:
        module: Text of its ES module.
        styles: Text of its style sheet.
        state: Trait -> value, sorted by trait.
        tables: Traits that follow from others.
    """

    module: str
    styles: str
    state: dict[str, Any]
    tables: tuple[Table, ...]


def take_apart(widget: Any) -> WidgetParts:
    """Take a widget apart.

    Args:
        widget: An anywidget, or an object like one.

    Raises:
        InputError: It has no module, or no state.
    """
    if not getattr(widget, "_esm", None):
        raise InputError(f"the widget is a {type(widget).__name__}", expected="an anywidget: an object with _esm")
    precomputed = widget.precomputed() if hasattr(widget, "precomputed") else ()
    tables = tuple(Table(table.source, table.target, table.values) for table in precomputed)
    return WidgetParts(_text(widget._esm), _text(getattr(widget, "_css", None) or ""), _state(widget), tables)


def _text(source: Any) -> str:
    """Return a module or style sheet; anywidget keeps files as objects whose text is their content."""
    return source.read_text(encoding="utf-8") if isinstance(source, Path) else str(source)


def _state(widget: Any) -> dict[str, Any]:
    if hasattr(widget, "get_state"):
        state = widget.get_state()
    elif hasattr(widget, "trait_values"):
        state = widget.trait_values()
    else:
        raise InputError(f"the widget {type(widget).__name__} has no state", expected="get_state() or trait_values()")
    names = sorted(name for name in state if not name.startswith("_") and name not in _HOST_TRAITS)
    return {name: state[name] for name in names}
