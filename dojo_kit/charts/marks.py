"""Pieces several charts are made of: rows with words beside them, whiskers, and the chart without anything to show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dojo_kit.palette import LIGHT

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

ROW = 20
"""Height of a row in pixels."""


def titled(chart: Any, title: str, subtitle: str = "") -> Any:
    """Give a chart its finding as title and make it as wide as what holds it.

    Args:
        chart: A single or layered chart.
        title: The finding.
        subtitle: What else must be known to read it.
    """
    import altair as alt

    words = alt.TitleParams(title, subtitle=subtitle) if subtitle else alt.TitleParams(title)
    return chart.properties(title=words, width="container")


def nothing(title: str, why: str) -> alt.LayerChart:
    """Return a chart that says why there is nothing to show.

    Args:
        title: Title of the chart.
        why: One sentence.
    """
    import altair as alt
    import pandas as pd

    text = alt.Chart(pd.DataFrame({"says": [why]})).mark_text(align="left", color=LIGHT["ink-soft"])
    sentence = text.encode(x=alt.value(0), text="says:N")
    layered: alt.LayerChart = titled(alt.layer(sentence).properties(height=40), title)
    return layered


def row_axis(frame: pd.DataFrame, column: str) -> alt.Y:
    """Return an axis with one row per line of a table, in its order.

    Args:
        frame: The table.
        column: Its column of distinct names.
    """
    import altair as alt

    axis = alt.Axis(title=None, ticks=False, domain=False, labelPadding=8)
    return alt.Y(
        f"{column}:N", sort=list(frame[column]), axis=axis, scale=alt.Scale(paddingInner=0.3, paddingOuter=0.2)
    )


def value_axis(
    title: str, *, beside: int, domain: tuple[float, float] = (0.0, 1.0), format: str = "~g"
) -> dict[str, Any]:
    """Return title, scale and axis of the numbers of a row chart, as arguments of ``alt.X``.

    Args:
        title: What is shown, with its unit.
        beside: Pixels kept free at the right for words.
        domain: Range of the numbers.
        format: How the axis writes numbers.
    """
    import altair as alt

    reach: list[Any] = [0, alt.ExprRef(f"max(60, width - {beside})")]
    return {
        "title": title,
        "scale": alt.Scale(domain=list(domain), range=reach, nice=False, zero=False),
        "axis": alt.Axis(titleAnchor="start", tickCount=5, format=format, domain=False, ticks=False, labelFlush=False),
    }


def beside(base: alt.Chart, column: str, y: alt.Y, *, from_right: int = 0) -> alt.Chart:
    """Write a column of words at the right end of every row.

    Args:
        base: Chart of the rows.
        column: Column with the words.
        y: Axis of the rows.
        from_right: Pixels between the right end and the words.
    """
    import altair as alt

    right = alt.value(alt.ExprRef(f"width - {from_right}"))
    words = base.mark_text(align="right", baseline="middle", color=LIGHT["ink"])
    drawn: alt.Chart = words.encode(y=y, x=right, text=f"{column}:N")
    return drawn


def whiskers(base: alt.Chart, y: alt.Y, x: alt.X, x2: str) -> list[alt.Chart]:
    """Draw an interval in every row: a line with a small bar at each end.

    Args:
        base: Chart of the rows; rows whose ends are missing draw nothing.
        y: Axis of the rows.
        x: Axis of the lower ends.
        x2: Column of the upper ends.
    """
    import altair as alt

    ink = LIGHT["ink"]
    line = base.mark_rule(color=ink, strokeWidth=1.4).encode(y=y, x=x, x2=x2, **spoken())
    ends = [
        base.mark_tick(color=ink, thickness=1.4, size=8).encode(y=y, x=end, **spoken()) for end in (x, alt.X(f"{x2}:Q"))
    ]
    return [line, *ends]


def outlined(column: str, names: Sequence[str], fills: Sequence[str], outlines: Sequence[str]) -> dict[str, Any]:
    """Return the encodings of named colours with a thin outline, and their legend above the chart.

    An outline in the ink of a colour lets pale fills such as amber stand out from a white page.

    Args:
        column: Column with the names.
        names: The names in the order of the legend.
        fills: Colour of each.
        outlines: Colour of the outline of each.
    """
    import altair as alt

    legend = alt.Legend(orient="top", direction="horizontal", offset=4, symbolType="square", symbolStrokeWidth=0)
    fill, stroke = (alt.Scale(domain=list(names), range=list(colours)) for colours in (fills, outlines))
    return {
        "color": alt.Color(f"{column}:N", title=None, scale=fill, legend=legend),
        "stroke": alt.Stroke(f"{column}:N", title=None, scale=stroke, legend=legend),
    }


def spoken(column: str = "says") -> dict[str, Any]:
    """Return the encodings that say a sentence on hover and to screen readers.

    Args:
        column: Column with the sentence.
    """
    import altair as alt

    return {"tooltip": alt.Tooltip(f"{column}:N"), "description": alt.Description(f"{column}:N")}
