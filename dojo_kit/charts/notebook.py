"""Charts in notebooks: a picture that needs nothing, and the live chart where the page carries Vega."""

from __future__ import annotations

import html
from functools import cache
from pathlib import Path
from typing import Any

from dojo_kit import palette
from dojo_kit.charts.drawing import Drawing, draw, draw_spec, register_theme
from dojo_kit.charts.inline import script_json

_NAME = "dojo"
_TEMPLATES = Path(__file__).parent.parent / "templates"
_LIVE = (
    "(()=>{const figure=document.getElementById(%s);if(!window.vegaEmbed||!figure)return;"
    "const live=document.createElement('div');live.className='live';figure.append(live);"
    "vegaEmbed(live,%s,{mode:'vega-lite',actions:false,ast:true,renderer:'svg'})"
    ".then(()=>figure.classList.add('is-live'),()=>live.remove())})()"
)


def enable() -> None:
    """Show Altair charts in the house's look from now on, in this notebook.

    A chart is shown as SVG with its numbers on hover; where the page carries vega-embed, as published notebooks do, it
    is live. Outputs depend on the chart only, so that a notebook run again is the same notebook.
    """
    import altair as alt

    register_theme()
    alt.theme.enable(_NAME)
    alt.renderers.register(_NAME, _render)
    alt.renderers.enable(_NAME)


def markup(chart: Any) -> str:
    """Return a chart as HTML that shows anywhere, follows the host's light or dark theme and runs no script.

    Args:
        chart: An Altair chart.
    """
    return _figure(draw(chart))


def _render(spec: dict[str, Any], **_: Any) -> dict[str, str]:
    drawing = draw_spec(spec)
    script = _LIVE % (script_json(_id(drawing)), script_json(drawing.spec))
    shown = drawing.title or "chart"
    return {"text/html": f"{_figure(drawing)}<script>{script}</script>", "text/plain": f"<{shown}>"}


def _figure(drawing: Drawing) -> str:
    name = _id(drawing)
    title = f'<p class="chart-title">{html.escape(drawing.title)}</p>' if drawing.title else ""
    subtitle = f'<p class="chart-note">{html.escape(drawing.subtitle)}</p>' if drawing.subtitle else ""
    pictures = "".join(f'<div class="static {width}">{svg}</div>' for width, svg in drawing.svgs(name).items())
    return f'<div class="dojo-chart" id="{name}"><style>{_styles()}</style>{title}{subtitle}{pictures}</div>'


def _id(drawing: Drawing) -> str:
    return f"chart-{drawing.digest()}"


@cache
def _styles() -> str:
    light, dark = palette.declarations(palette.LIGHT), palette.declarations(palette.DARK)
    hosts = ("[data-theme=dark]", "[data-jp-theme-light=false]", ".dark", ".vscode-dark")
    themes = f".dojo-chart{{{light}}}{','.join(f'{host} .dojo-chart' for host in hosts)}{{{dark}}}"
    return themes + (_TEMPLATES / "chart.css").read_text(encoding="utf-8")
