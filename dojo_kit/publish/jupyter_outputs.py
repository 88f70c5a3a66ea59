"""Outputs of a Jupyter notebook as parts of a page: widgets, charts, and everything else as HTML that runs nothing."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from typing import Any

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
WIDGET_STATE = "application/vnd.jupyter.widget-state+json"
_VEGA_LITE = re.compile(r"application/vnd\.vegalite\.v\d+(?:\.\d+)*\+?\.?json")
_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_DROPPED = ("script", "iframe", "object", "embed", "link", "meta", "base", "form", "noscript", "template")
"""Elements that do nothing in a published page, or could leave it."""


@dataclass(frozen=True, slots=True)
class Html:
    """HTML of a notebook's own, without what could run or leave the page."""

    html: str
    wide: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """Text as a terminal shows it: printed, or the repr of a value."""

    html: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Chart:
    """A Vega-Lite chart.

    Attributes:
        spec: Its specification.
        figure: HTML that shows it already, with the id `name`; empty when it is still to be drawn.
        name: Id of the figure.
    """

    spec: dict[str, Any]
    figure: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class SavedWidget:
    """An anywidget as the notebook left it.

    Attributes:
        model: Its id in the notebook.
        state: Its traits, code and styles among them.
    """

    model: str
    state: dict[str, Any]

    @property
    def _esm(self) -> str:
        return str(self.state["_esm"])

    @property
    def _css(self) -> str:
        return str(self.state.get("_css") or "")

    def get_state(self) -> dict[str, Any]:
        """Return its traits."""
        return self.state

    def precomputed(self) -> list[Lookup]:
        """Return which traits follow from others."""
        return [Lookup(table["source"], table["target"], table["values"]) for table in self.state.get("_tables", [])]


@dataclass(frozen=True, slots=True)
class Lookup:
    """A trait that follows from another one: what it is for each value of that, as text."""

    source: str
    target: str
    values: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Box:
    """Widgets in a row or a column."""

    parts: list[Part]
    row: bool


Part = Html | Text | Chart | SavedWidget | Box


@dataclass
class Outputs:
    """Turns outputs into parts.

    Attributes:
        widgets: Saved state of the notebook's widgets by model id.
        cautions: What the page cannot show as the notebook did; added to.
    """

    widgets: dict[str, Any]
    cautions: list[str] = field(default_factory=list)

    def parts(self, outputs: list[Any]) -> Iterator[Part]:
        """Yield the parts of a cell's outputs, in their order.

        Args:
            outputs: Outputs as nbformat has them.
        """
        for output in outputs:
            if output["output_type"] == "stream":
                yield Text(coloured(output["text"].rstrip("\n")), output["name"])
            elif output["output_type"] == "error":
                yield Text(coloured("\n".join(output["traceback"])), "error")
            else:
                yield from self._shown(output["data"])

    def _shown(self, data: dict[str, Any]) -> Iterator[Part]:
        """Yield the one form of a value that a page shows best."""
        spec = next((data[kind] for kind in data if _VEGA_LITE.fullmatch(kind)), None)
        picture = next((kind for kind in _PICTURES if kind in data), None)
        if WIDGET_VIEW in data:
            yield from self._widget(data[WIDGET_VIEW]["model_id"])
        elif spec is not None:
            yield Chart(json.loads(spec) if isinstance(spec, str) else spec)
        elif "text/html" in data:
            yield self._html(_joined(data["text/html"]))
        elif "image/svg+xml" in data:
            yield _picture("image/svg+xml", b64encode(_joined(data["image/svg+xml"]).encode()).decode())
        elif picture is not None:
            yield _picture(picture, _joined(data[picture]).strip())
        elif "text/markdown" in data:
            yield Html(self.cleaned(markdown_html(_joined(data["text/markdown"]))))
        else:
            if "application/javascript" in data:
                self.cautions.append("JavaScript of its own was left out")
            text = data.get("text/latex") or data.get("text/plain") or ""
            yield Text(escape(_joined(text)))

    def _html(self, html: str) -> Part:
        own = re.search(r'<div class="dojo-chart" id="([\w-]+)">', html)
        if own and (spec := _specification(html, "vegaEmbed(live,")):
            # The page has the styles of charts, and follows the reader's theme with them.
            figure = re.sub(r"<style>.*?</style>", "", html[: html.rfind("<script>")], flags=re.DOTALL)
            return Chart(spec, figure=self.cleaned(figure), name=own[1])
        if 'id="altair-viz-' in html and (spec := _specification(html, "})(")):
            return Chart(spec)
        return Html(self.cleaned(html), wide="<table" in html)

    def cleaned(self, html: str) -> str:
        """Return HTML that is balanced, without scripts, frames and what else could act; what is missing is noted.

        Args:
            html: HTML of the notebook's own.
        """
        from bs4 import BeautifulSoup

        tree = BeautifulSoup(html, "html.parser")
        for element in tree.find_all(_DROPPED):
            if element.name in ("script", "iframe", "object", "embed"):
                self.cautions.append(f"HTML with <{element.name}> was published without it")
            element.decompose()
        for element in tree.find_all(True):
            for name in [name for name in element.attrs if name.startswith("on")]:
                del element[name]
            if element.name == "th" and not element.get_text(strip=True):
                # The corner of a DataFrame: screen readers stumble over a heading that says nothing.
                element.name = "td"
            address = str(element.get("src") or "")
            if address and not address.startswith("data:"):
                # The policy would refuse it; without the address the browser does not even try.
                self.cautions.append(f"a picture is not in the page: {address[:80]}")
                del element["src"]
        return str(tree)

    def _widget(self, model: str) -> Iterator[Part]:
        saved = self.widgets.get(model)
        if saved is None:
            self.cautions.append("a widget is not in the saved notebook; run it to publish it")
            yield Text("A widget whose state was not saved", "note")
            return
        state, name = saved["state"], saved["model_name"]
        if "_esm" in state:
            # Altair's own widget fetches Vega, which the page has already.
            drawn = "spec" in state and "vegaEmbed" in state["_esm"]
            yield Chart(state["spec"]) if drawn else SavedWidget(model, state)
        elif name in ("VBoxModel", "HBoxModel", "BoxModel", "GridBoxModel"):
            inner = [part for child in state["children"] for part in self._widget(child.removeprefix("IPY_MODEL_"))]
            yield Box(inner, row=name == "HBoxModel")
        elif name in ("HTMLModel", "HTMLMathModel"):
            yield Html(self.cleaned(state["value"]))
        elif name == "LabelModel":
            yield Text(escape(state["value"]))
        elif name == "OutputModel":
            yield from self.parts(state.get("outputs", []))
        else:
            kind = name.removesuffix("Model")
            self.cautions.append(f"{kind}: works in a running notebook only")
            value = state.get("value")
            label = f"{state.get('description') or kind}{'' if value is None else f': {value}'}"
            yield Text(escape(label), "note")


def coloured(text: str) -> str:
    """Return what a terminal shows as HTML, its colours as classes.

    Args:
        text: Text with escape sequences.
    """
    from nbconvert.filters.ansi import ansi2html

    return str(ansi2html(text))  # type: ignore[no-untyped-call]


def markdown_html(text: str, *, attachments: dict[str, Any] | None = None, folder: str = "") -> str:
    """Return Markdown as HTML, local pictures embedded.

    Args:
        text: The Markdown.
        attachments: Pictures of the cell, as nbformat has them.
        folder: Where pictures that are named by file are.
    """
    from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

    renderer = IPythonRenderer(
        escape=False, attachments=attachments or {}, embed_images=True, path=folder, exclude_anchor_links=True
    )
    return str(MarkdownWithMath(renderer=renderer).render(text))


def _joined(text: Any) -> str:
    return text if isinstance(text, str) else "".join(text)


def _picture(kind: str, data: str) -> Html:
    return Html(f'<img src="data:{kind};base64,{escape(data)}" alt="picture that a cell made">')


def _specification(html: str, after: str) -> dict[str, Any] | None:
    """Return the JSON object that a script in a cell's HTML hands over; None when there is none."""
    start = html.find(after + "{")
    try:
        found: dict[str, Any] = json.JSONDecoder().raw_decode(html, start + len(after))[0]
    except json.JSONDecodeError:
        return None
    return found if start >= 0 else None
