"""Widgets share a page: no style sheet reaches into another widget, and all colours come from the palette."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dojo_widgets.assets import STATIC

ROOTS = {
    "confusion_matrix": (".confusion-matrix",),
    "delta_forest": (":is(.delta-forest, .noise-band)", ".delta-forest", ".noise-band"),
    "document_view": (".dojo .document-pane",),
    "field_grid": (".field-grid",),
    "miss_explorer": (".miss-explorer",),
    "miss_table": (":is(.miss-table, .miss-explorer)",),
    "noise_band": (".noise-band",),
    "reliability_curve": (".reliability-curve",),
    "span_compare": (".dojo .compare-pane",),
    "span_labeler": (".span-labeler",),
    "threshold_explorer": (".threshold-explorer",),
    "what_if": (".what-if",),
}
SHEETS = sorted(path for path in STATIC.glob("*.css") if path.stem != "base")


def selectors(sheet: str) -> list[str]:
    sheet = re.sub(r"/\*.*?\*/", "", sheet, flags=re.DOTALL)
    heads = re.findall(r"([^{}]+)\{", sheet)
    found = []
    for head in (head.strip() for head in heads):
        if not head.startswith("@"):
            # A comma inside :is(...) does not end a selector.
            found += [part.strip() for part in re.split(r",(?![^(]*\))", head)]
    return [selector for selector in found if selector not in ("from", "to") and not selector.endswith("%")]


@pytest.mark.parametrize("path", SHEETS, ids=lambda path: path.stem)
def test_every_rule_is_about_its_own_widget(path: Path) -> None:
    foreign = [s for s in selectors(path.read_text(encoding="utf-8")) if not s.startswith(ROOTS[path.stem])]
    assert foreign == []


@pytest.mark.parametrize("path", SHEETS, ids=lambda path: path.stem)
def test_colours_are_named(path: Path) -> None:
    sheet = path.read_text(encoding="utf-8")
    assert re.findall(r"#[0-9a-fA-F]{3,8}\b", sheet) == []


@pytest.mark.parametrize("path", SHEETS, ids=lambda path: path.stem)
def test_what_is_hidden_takes_no_room(path: Path) -> None:
    """A message that is drawn only at times must not be laid out while it has the attribute ``hidden``."""
    sheet = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    shown = [s for s, body in re.findall(r"([^{}]+)\{([^{}]*)\}", sheet) if "message" in s and "display:" in body]
    assert [selector.strip() for selector in shown if ":not([hidden])" not in selector] == []
