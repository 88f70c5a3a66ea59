"""Showing widgets and findings in a notebook, whichever it is, and letting widgets act together."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from html import escape
from itertools import count
from typing import Any, TypeVar

import traitlets

from dojo_widgets.base import Widget

_Widget = TypeVar("_Widget", bound=Widget)
_numbers = count(1)
"""Numbers of the links made so far."""


def show(widget: _Widget) -> _Widget:
    """Return a widget as the notebook at hand shows it and reacts to it.

    In a running marimo notebook that is ``mo.ui.anywidget(widget)``, whose traits other cells can read and follow;
    anywhere else the widget itself. Traits are read the same way from both: ``shown.span``.

    Args:
        widget: A widget of this package.
    """
    marimo = sys.modules.get("marimo")
    if marimo is None or not marimo.running_in_notebook():
        return widget
    wrapped: Any = marimo.ui.anywidget(widget)
    return wrapped  # type: ignore[no-any-return]


def link(*widgets: Any, traits: Sequence[str] = ("span",)) -> list[traitlets.link]:
    """Keep traits of widgets equal, so that a selection in one of them is the selection in all.

    Args:
        widgets: Widgets, as they are or as `show` returned them; those without a trait are left out of it.
        traits: Names of the traits.

    Returns:
        The links, each with an ``unlink`` method.

    Examples:
        >>> class Pane(Widget):
        ...     span = traitlets.Unicode()
        >>> left, right = Pane(), Pane()
        >>> links = link(left, right)
        >>> left.span = "doc:field:0"
        >>> right.span
        'doc:field:0'
    """
    bare = [getattr(widget, "widget", widget) for widget in widgets]
    links = []
    for trait in traits:
        together = [widget for widget in bare if widget.has_trait(trait)]
        name = f"{next(_numbers)}:{trait}"
        for widget in together:
            # A published notebook keeps the state only, so it says there what is linked.
            widget._linked = [*widget._linked, name]
        links += [traitlets.link((together[0], trait), (other, trait)) for other in together[1:]]
    return links


class Finding:
    """A heading and sentences in a notebook, in its own prose style.

    What names runs, documents and categories comes from outside: it is shown as text, never as markup.

    Args:
        title: The finding; empty for sentences alone.
        sentences: What to conclude from it, and what not; each becomes a paragraph.

    Examples:
        >>> print(Finding("2 of 9 spans are lost", "Most in <Audit>.")._repr_html_().partition(">")[2])
        <h2>2 of 9 spans are lost</h2><p>Most in &lt;Audit&gt;.</p></div>
    """

    def __init__(self, title: str, *sentences: str) -> None:
        self._title = title
        self._sentences = sentences

    def _repr_html_(self) -> str:
        heading = f"<h2>{escape(self._title)}</h2>" if self._title else ""
        paragraphs = "".join(f"<p>{escape(sentence)}</p>" for sentence in self._sentences if sentence)
        # The classes with which marimo sets its markdown; other notebooks have a style for bare elements.
        return f"<div class='markdown prose dark:prose-invert contents'>{heading}{paragraphs}</div>"
