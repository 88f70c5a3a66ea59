"""Field grid, threshold explorer and span labeler in a browser: clicked, typed at, dragged, and measured."""

from __future__ import annotations

import html
import json
import shutil
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from dojo_widgets.base import Widget

pytestmark = pytest.mark.browser

STATIC_MODEL = """
class StaticModel {
  constructor(state, tables) { this.state = state; this.tables = tables; this.listeners = {}; this.changed = new Set(); }
  get(name) { return this.state[name]; }
  set(name, value) { this.state[name] = value; this.changed.add(name); }
  save_changes() {
    for (const name of [...this.changed]) {
      this.changed.delete(name);
      this.fire(name);
      for (const { source, target, values } of this.tables) if (source === name) {
        this.state[target] = values[String(this.state[source])];
        this.fire(target);
      }
    }
  }
  fire(name) { for (const run of [...(this.listeners[`change:${name}`] || [])]) run(); }
  on(event, run) { (this.listeners[event] ||= []).push(run); }
  off(event, run) { this.listeners[event] = (this.listeners[event] || []).filter((one) => one !== run); }
}
"""


def page_of(widget: Widget, *, width: int = 1000, theme: str = "light", shadow: bool = False) -> str:
    """A page that mounts a widget as a published one does: no Python, its states looked up."""
    names = [name for name in widget.keys if not name.startswith("_") and name not in ("layout", "tabbable", "tooltip")]
    parts = {
        "esm": str(widget._esm),
        "css": str(widget._css),
        "state": {name: getattr(widget, name) for name in names},
        "tables": [{"source": p.source, "target": p.target, "values": dict(p.values)} for p in widget.precomputed()],
    }
    carried = json.dumps(parts).replace("<", "\\u003c")
    ground = "#101418" if theme == "dark" else "#f6f7f9"
    return f"""<!doctype html><html lang="en" data-theme="{theme}"><head><meta charset="utf-8"><title>untouched</title>
<style>body {{ margin: 0; background: {ground} }}</style></head><body><main id="host" style="width:{width}px"></main>
<script type="application/json" id="parts">{carried}</script>
<script type="module">{STATIC_MODEL}
const {{ esm, css, state, tables }} = JSON.parse(document.getElementById("parts").textContent);
const host = document.getElementById("host");
const el = {str(shadow).lower()} ? host.attachShadow({{ mode: "open" }}) : host;
const style = document.createElement("style");
style.textContent = css;
el.append(style);
const widget = (await import(URL.createObjectURL(new Blob([esm], {{ type: "text/javascript" }})))).default;
window.model = new StaticModel(state, tables);
window.end = widget.render({{ model: window.model, el }});
window.ready = true;
</script></body></html>"""
