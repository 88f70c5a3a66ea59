"""Pages with one widget as a published page mounts it, and a sweep and a queue to put into them."""

from __future__ import annotations

import json
from typing import Any

from dojo_widgets.base import Widget
from dojo_widgets.span_labeler import SpanLabeler

HOSTILE = "</script><img src=x onerror=\"document.title='owned'\"><b>pay</b> &quot;rent&quot;"

MODEL = """
class Model {
  constructor(state, tables) { Object.assign(this, { state, tables, listeners: [], changed: new Set() }); }
  get(name) { return this.state[name]; }
  set(name, value) {
    if (this.state[name] === value) return;
    this.state[name] = value;
    this.changed.add(name);
    for (const [event, run] of [...this.listeners]) if (event === `change:${name}`) run();
  }
  save_changes() {
    const changed = [...this.changed];
    this.changed.clear();
    for (const { source, target, values } of this.tables)
      if (changed.includes(source)) this.set(target, values[String(this.state[source])]);
  }
  on(event, run) { this.listeners.push([event, run]); }
  off(event, run) { this.listeners = this.listeners.filter((one) => one[0] !== event || one[1] !== run); }
}
"""


def page_of(widget: Widget, *, width: int = 1000, theme: str = "light", shadow: bool = False, copies: int = 1) -> str:
    """A page that mounts a widget as a published one does: no Python, what follows is looked up."""
    names = {name for name in widget.keys if not name.startswith("_")} - {"layout", "tabbable", "tooltip"}
    parts = {
        "esm": str(widget._esm),
        "css": str(widget._css),
        "state": {name: getattr(widget, name) for name in sorted(names)},
        "tables": [{"source": p.source, "target": p.target, "values": dict(p.values)} for p in widget.precomputed()],
    }
    carried = json.dumps(parts).replace("<", "\\u003c")
    ground = "#101418" if theme == "dark" else "#f6f7f9"
    return f"""<!doctype html><html lang="en" data-theme="{theme}"><head><meta charset="utf-8"><title>untouched</title>
<style>body {{ margin: 0; background: {ground} }}</style></head><body><main id="host" style="width:{width}px"></main>
<script type="application/json" id="parts">{carried}</script>
<script type="module">{MODEL}
const {{ esm, css, state, tables }} = JSON.parse(document.getElementById("parts").textContent);
const host = document.getElementById("host");
const root = {str(shadow).lower()} ? host.attachShadow({{ mode: "open" }}) : host;
const style = document.createElement("style");
style.textContent = css;
root.append(style);
const widget = (await import(URL.createObjectURL(new Blob([esm], {{ type: "text/javascript" }})))).default;
window.model = new Model(state, tables);
window.ends = Array.from({{ length: {copies} }}, () => {{
  const el = document.createElement("div");
  root.append(el);
  return widget.render({{ model: window.model, el }});
}});
window.ready = true;
</script></body></html>"""


def sweep(**more: Any) -> dict[str, Any]:
    """A sweep in which every step down matches one more of 100 spans."""

    def states(score: float) -> list[dict[str, Any]]:
        return [_state(step / 100, score) for step in range(30, 96)]

    return {
        "field": "clauses",
        "measure": "coverage",
        "base": {"threshold": 0.6, "rescue_below": None, "partial": True},
        "states": states(0.5),
        "partial": {"on": states(0.5), "off": states(0.3)},
        "histogram": {"edges": [n / 50 for n in range(51)], "counts": [0] * 10 + [3] * 39 + [149]},
        "flips": [_flip(n) for n in range(30, 95)],
        **more,
    }


def _state(threshold: float, score: float) -> dict[str, Any]:
    found = 1 - threshold
    return {
        "threshold": threshold,
        "matched": round(100 * found),
        "expected": 100,
        "recall": {"value": found, "lo": found - 0.1, "hi": found + 0.1, "n": 45},
        "precision": 0.2,
        "score": score,
        "flips": abs(round(100 * (threshold - 0.6))),
    }


def _flip(n: int) -> dict[str, Any]:
    before, after, at = ("missed", "matched", n) if n < 60 else ("matched", "missed", n + 1)
    shown = {"family": "Law", "text": f"{n} {HOSTILE}", "item": HOSTILE, "similarity": n / 100}
    return {"id": f"doc:clauses:{n}", **shown, "from": before, "to": after, "at": at / 100}


def labeler(n: int = 40, **more: Any) -> SpanLabeler:
    spans = [
        {"id": f"doc{k}:law:0", "short": f"Doc {k}", "family": "Law", "text": f"{k} {HOSTILE}", "item": "word " * 900,
         "similarity": k / 100, "cause": "omission", "place": "elsewhere"}
        for k in range(n)
    ]  # fmt: skip
    return SpanLabeler(spans, **{"who": "Ada", "recipe": {"run": "v15"}, **more})
