"""From an Altair chart to what a page needs: title, specification, and SVG that shows without any script."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import Any
from xml.etree import ElementTree

from dojo_kit.charts.theme import in_tokens, theme
from dojo_kit.errors import InputError

WIDTHS = {"wide": 760, "narrow": 400}
"""Widths in pixels at which a chart that fills its container is drawn beforehand."""

_NAME = "dojo"
_MEASURED_FONT = "Liberation Sans"  # comes with the converter, so text is measured alike on every machine
_COUNTED = re.compile(r"(?:param|view)_\d+")
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SPEAKS = ("role", "aria-label", "aria-roledescription", "aria-hidden")


@dataclass(frozen=True)
class Drawing:
    """A chart taken apart for a page.

    Attributes:
        title: Its title in words; the page prints it as text, which wraps.
        subtitle: What the title says less loudly.
        spec: Vega-Lite specification without title, in the house's look, colours as CSS variables.
    """

    title: str
    subtitle: str
    spec: dict[str, Any]

    def digest(self) -> str:
        """Return a short name of the drawing that depends on its content only."""
        return sha256(repr((self.title, self.spec)).encode()).hexdigest()[:10]

    def svgs(self, prefix: str) -> dict[str, str]:
        """Return the chart as SVG texts by the width they are for.

        Args:
            prefix: Start of the ids inside; unlike that of every other chart of the page.
        """
        if self.spec.get("width") != "container":
            return {"only": self._svg(self.spec, f"{prefix}-")}
        return {name: self._svg({**self.spec, "width": width}, f"{prefix}-{name}-") for name, width in WIDTHS.items()}

    def _svg(self, spec: dict[str, Any], prefix: str) -> str:
        return _as_picture(_rendered(spec), self.title or "chart", prefix)


def draw(chart: Any) -> Drawing:
    """Take an Altair chart apart.

    Args:
        chart: An Altair chart.

    Raises:
        InputError: It is something else.
    """
    import altair as alt

    if not isinstance(chart, alt.TopLevelMixin):
        raise InputError(f"the chart is a {type(chart).__name__}", expected="an Altair chart")
    register_theme()
    with alt.theme.enable(_NAME):
        return draw_spec(chart.to_dict())


def draw_spec(spec: dict[str, Any]) -> Drawing:
    """Take a specification apart that is in the house's look already.

    Args:
        spec: A Vega-Lite specification.
    """
    spec = _recounted(_printable(spec))
    title, subtitle = _title(spec.pop("title", None))
    spec.pop("$schema", None)
    spec = in_tokens(spec)
    if title:
        spec.setdefault("description", title)
    return Drawing(title, subtitle, spec)


def register_theme() -> None:
    """Make the house's look known to Altair, under the name ``dojo``."""
    import altair as alt

    if _NAME not in alt.theme.names():
        alt.theme.register(_NAME, enable=False)(lambda: alt.theme.ThemeConfig(theme()))  # type: ignore[misc]


@cache
def vega_lite_version() -> str:
    """Return the version of Vega-Lite that Altair writes, or the newest the converter has."""
    import altair as alt
    import vl_convert

    known = vl_convert.get_vegalite_versions()
    written = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    return written if written in known else str(known[-1])


@cache
def vega_bundle() -> str:
    """Return Vega, Vega-Lite and vega-embed as one script; it sets ``window.vegaEmbed``."""
    import vl_convert

    return str(vl_convert.javascript_bundle(vl_version=vega_lite_version()))  # type: ignore[call-arg]


def _rendered(spec: dict[str, Any]) -> str:
    import json

    import vl_convert

    config = {**spec.get("config", {}), "font": _MEASURED_FONT}
    text = json.dumps({**spec, "config": config}, ensure_ascii=False)
    return str(vl_convert.vegalite_to_svg(text, vl_version=vega_lite_version()))


def _as_picture(svg: str, says: str, prefix: str) -> str:
    """Make Vega's SVG one picture for screen readers, with numbers on hover and ids of its own."""
    root = ElementTree.fromstring(svg.replace(' xmlns="http://www.w3.org/2000/svg"', "", 1))  # noqa: S314 (Vega wrote it)
    for node in root.iter():
        if node.get("aria-roledescription") and len(node) == 0 and (label := node.get("aria-label")):
            ElementTree.SubElement(node, "title").text = label
    for node in root.iter():
        for name in (*_SPEAKS, "font-family"):
            node.attrib.pop(name, None)
        for name, value in node.attrib.items():
            if name == "id":
                node.set(name, prefix + value)
            elif value.startswith("url(#"):
                node.set(name, value.replace("url(#", f"url(#{prefix}"))
    root.attrib.pop("version", None)
    root.attrib.update({"role": "img", "aria-label": says})
    return ElementTree.tostring(root, encoding="unicode")


def _title(title: Any) -> tuple[str, str]:
    if isinstance(title, dict):
        return _line(title.get("text")), _line(title.get("subtitle"))
    return _line(title), ""


def _line(text: Any) -> str:
    return " ".join(map(str, text)) if isinstance(text, list) else str(text or "")


def _recounted(spec: dict[str, Any]) -> dict[str, Any]:
    """Number the names Altair made up from 1 on: it counts through a session, so the same chart would differ."""
    found: dict[str, None] = {}
    _collect_counted(spec, found)
    names = {old: f"{old.split('_')[0]}_{number}" for number, old in enumerate(found, 1)}
    renamed: dict[str, Any] = _renamed(spec, names) if names else dict(spec)
    return renamed


def _collect_counted(part: Any, found: dict[str, None]) -> None:
    if isinstance(part, dict):
        name = part.get("name")
        if isinstance(name, str) and _COUNTED.fullmatch(name):
            found.setdefault(name)
        for key, inner in part.items():
            if key != "datasets":
                _collect_counted(inner, found)
    elif isinstance(part, list):
        for inner in part:
            _collect_counted(inner, found)


def _renamed(part: Any, names: dict[str, str]) -> Any:
    if isinstance(part, str):
        return _COUNTED.sub(lambda match: names.get(match[0], match[0]), part)
    if isinstance(part, list):
        return [_renamed(inner, names) for inner in part]
    if isinstance(part, dict):
        return {key: inner if key == "datasets" else _renamed(inner, names) for key, inner in part.items()}
    return part


def _printable(part: Any) -> Any:
    """Drop characters that no SVG can hold; documents contain them now and then."""
    if isinstance(part, str):
        return _NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", part)
    if isinstance(part, list):
        return [_printable(inner) for inner in part]
    if isinstance(part, dict):
        return {_printable(key): _printable(inner) for key, inner in part.items()}
    return part
