"""The look of every chart, and how its colours follow the page they stand on.

A chart names colours by their value on a light page, so that it can be drawn by any renderer. Before it goes into a
page these values become CSS variables (``var(--missed)``), which both Vega's SVG and the page's style sheet
understand: switching between light and dark then needs no second drawing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from dojo_kit.palette import DARK, LIGHT

Mode = Literal["light", "dark"]

FONT = "-apple-system, Segoe UI, Roboto, Helvetica Neue, Noto Sans, Arial, sans-serif"
AXIS_SIZE = 12
TITLE_SIZE = 13

_AMBIGUOUS = "focus"  # the same value as run-a on a light page, and no colour of data
_TOKENS = {value: f"var(--{name})" for name, value in LIGHT.items() if name != _AMBIGUOUS}
_INTERPOLATED = {"quantitative", "temporal"}
_RAMPS = {"ramp", "heatmap", "diverging", "ordinal"}
_DATA = {"data", "datasets"}


def theme(mode: Mode = "light") -> dict[str, Any]:
    """Return the Vega-Lite configuration of a mode.

    Args:
        mode: ``light`` or ``dark``; the page behind the chart, which itself is transparent.

    Examples:
        >>> theme("dark")["config"]["axis"]["labelColor"]
        '#a7b1bb'
    """
    colours = LIGHT if mode == "light" else DARK
    ink, soft = colours["ink"], colours["ink-soft"]
    quiet = {"labelColor": soft, "titleColor": soft, "labelFontSize": AXIS_SIZE, "titleFontSize": AXIS_SIZE}
    return {
        "config": {
            "font": FONT,
            "background": "transparent",
            "view": {"stroke": None, "continuousWidth": 640, "continuousHeight": 220},
            "title": {
                "anchor": "start",
                "color": ink,
                "fontSize": TITLE_SIZE,
                "fontWeight": 600,
                "subtitleColor": soft,
                "subtitleFontSize": AXIS_SIZE,
            },
            "axis": {
                **quiet,
                "titleFontWeight": "normal",
                "domainColor": colours["line-strong"],
                "tickColor": colours["line-strong"],
                "gridColor": colours["line"],
                "labelLimit": 220,
            },
            "header": quiet,
            "legend": {**quiet, "titleFontWeight": "normal"},
            "mark": {"color": colours["run-a"]},
            "rule": {"color": ink},
            "text": {"color": ink, "fontSize": AXIS_SIZE},
            "range": {
                "category": [colours[name] for name in ("run-a", "run-b", "matched", "near", "missed", "item", "edge")],
                "ramp": [colours["item-tint"], colours["run-a"]],
                "heatmap": [colours["item-tint"], colours["run-a"]],
                "diverging": [colours["missed"], colours["line"], colours["matched"]],
            },
        }
    }


def in_tokens(spec: Any) -> Any:
    """Return a specification with the palette's colours as CSS variables.

    Data are left as they are, and so are ramps: Vega computes colours in between, which it cannot from variables.

    Args:
        spec: A Vega-Lite specification, or a part of one.

    Examples:
        >>> in_tokens({"mark": {"color": "#d55e00"}})
        {'mark': {'color': 'var(--missed)'}}
    """
    if isinstance(spec, str):
        return _TOKENS.get(spec.lower(), spec)
    if isinstance(spec, list):
        return [in_tokens(part) for part in spec]
    if isinstance(spec, Mapping):
        return {name: part if _is_literal(name, spec) else in_tokens(part) for name, part in spec.items()}
    return spec


def _is_literal(name: str, spec: Mapping[str, Any]) -> bool:
    if name in _DATA or name in _RAMPS:
        return True
    return name == "scale" and (spec.get("type") in _INTERPOLATED or bool(spec.get("bin")))
