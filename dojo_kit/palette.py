"""One visual language: the colours, one meaning each, of charts, widgets and published pages.

Fills are from the Okabe-Ito set. Fills alone do not reach a contrast of 4.5:1 on white, so text and thin lines use
the ``-ink`` twin of a colour, and ``-tint`` stands behind ink. Contrasts were measured against ``panel``.
"""

from __future__ import annotations

from collections.abc import Mapping

LIGHT: Mapping[str, str] = {
    "bg": "#f6f7f9",
    "panel": "#ffffff",
    "sunk": "#f1f3f5",
    "line": "#dfe3e8",
    "line-strong": "#c3cad2",
    "edge": "#87919b",
    "ink": "#1a1f24",
    "ink-soft": "#525c67",
    "ink-faint": "#5b656f",
    "hover": "#f0f4f8",
    "selected": "#e3eefa",
    "focus": "#0072b2",
    "shade": "rgba(20,30,40,.13)",
    "matched": "#009e73",
    "matched-ink": "#00664b",
    "matched-tint": "#d9f1e9",
    "near": "#e69f00",
    "near-ink": "#7a5300",
    "near-tint": "#fbefd3",
    "missed": "#d55e00",
    "missed-ink": "#a34400",
    "missed-tint": "#fbe6da",
    "item": "#56b4e9",
    "item-mark": "#2f8fc9",
    "item-ink": "#1a6596",
    "item-tint": "#dcf0fb",
    "item-strong": "#b5dcf5",
    "run-a": "#0072b2",
    "run-b": "#cc79a7",
}
"""Colour token -> value on a light page."""

DARK: Mapping[str, str] = {
    "bg": "#101418",
    "panel": "#171c21",
    "sunk": "#1e252b",
    "line": "#2b333b",
    "line-strong": "#44505b",
    "edge": "#6f7c88",
    "ink": "#e4e8ec",
    "ink-soft": "#a7b1bb",
    "ink-faint": "#94a0ab",
    "hover": "#1f262d",
    "selected": "#17324a",
    "focus": "#7cc4f2",
    "shade": "rgba(0,0,0,.55)",
    "matched": "#12b386",
    "matched-ink": "#4fd0a8",
    "matched-tint": "#0f3b2e",
    "near": "#e69f00",
    "near-ink": "#f0b942",
    "near-tint": "#40300a",
    "missed": "#e8742a",
    "missed-ink": "#ff9a5c",
    "missed-tint": "#47260f",
    "item": "#56b4e9",
    "item-mark": "#56b4e9",
    "item-ink": "#8bcdf4",
    "item-tint": "#123a54",
    "item-strong": "#1f5a80",
    "run-a": "#56a8e0",
    "run-b": "#d993bb",
}
"""Colour token -> value on a dark page; the same tokens as `LIGHT`."""


def declarations(palette: Mapping[str, str]) -> str:
    """Return a palette as CSS custom properties.

    Examples:
        >>> declarations({"ink": "#111111"})
        '--ink:#111111'
    """
    return ";".join(f"--{name}:{value}" for name, value in palette.items())
