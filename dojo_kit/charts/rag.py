"""Charts of scored labels of queries: the metrics with their intervals, and how queries are spread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dojo_kit import formats
from dojo_kit.charts import marks
from dojo_kit.palette import LIGHT
from dojo_kit.rag.metrics import METRICS
from dojo_kit.views.rag import MARKED, WORDS, level, metric_rows, query_values, says_scores

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

    from dojo_kit.rag.scorecard import Scorecard

BINS = 20
"""Bins of values between 0 and 1 in the chart of queries."""

_LARGEST = 320
_SMALLEST = 14
_NARROW = 330
"""Width of a plot in pixels below which its intervals get the room of the numbers beside them."""


def _name(metric: str) -> str:
    return WORDS[metric][0] + ("" if METRICS[metric].higher_is_better else " \N{DOWNWARDS ARROW}")


def _subtitle(card: Scorecard, says: str) -> str:
    parts = [says, f"intervals at {level(card.options.confidence)}" if "interval" not in says else ""]
    if any(not METRICS[name].higher_is_better for name in card.metrics):
        parts.append("\N{DOWNWARDS ARROW} lower is better")
    if card.options.labels_by == "model":
        parts.append(MARKED)
    return "; ".join(filter(None, parts))


def _axis(title: str, *, beside: int, edge: float = 0.0) -> dict[str, Any]:
    """Return the axis of values from 0 to 1, with room for dots that lie at its ends and for words at the right."""
    import altair as alt

    parts = marks.value_axis(title, beside=beside, domain=(-edge, 1 + edge))
    right = alt.ExprRef(f"width - (width < {_NARROW} ? 10 : {beside})")
    parts["scale"] = alt.Scale(domain=[-edge, 1 + edge], range=[0, right], nice=False, zero=False)
    ends = alt.Axis(
        titleAnchor="start", values=[0, 0.25, 0.5, 0.75, 1], format=".2~f", labelOverlap=True, domain=False, ticks=False
    )
    return parts | {"axis": ends}


def metric_intervals(card: Scorecard, *, title: str | None = None) -> alt.LayerChart:
    """Show every metric with its interval; of a metric of which only the range is known the range.

    Args:
        card: The scores.
        title: The finding; worked out from the scores by default.
    """
    import altair as alt
    import pandas as pd

    rows = []
    for row in metric_rows(card):
        estimate, bounds = card.metrics[row["metric"]], card.bounds.get(row["metric"])
        written = f"{row['value']} {row['interval']}".strip()
        rows.append(
            {
                "name": _name(row["metric"]),
                "value": estimate.value,
                "lo": estimate.lo,
                "hi": estimate.hi,
                "least": None if bounds is None else bounds.lowest.value,
                "greatest": None if bounds is None else bounds.highest.value,
                "written": written,
                "says": f"{WORDS[row['metric']][0]}: {written}, n {row['n']:,}; {row['measures']}",
            }
        )
    frame = pd.DataFrame(rows)
    numbers = ["value", "lo", "hi", "least", "greatest"]
    frame = frame.astype(dict.fromkeys(numbers, "float64"))
    if frame[["value", "lo", "least"]].isna().all(axis=None):
        return marks.nothing(title or says_scores(card), "No metric is defined for these labels.")
    base = alt.Chart(frame)
    y = marks.row_axis(frame, "name")
    axis = _axis("mean over queries, with its interval", beside=212 if card.bounds else 160)
    known = base.transform_filter("isValid(datum.lo)")
    dots = base.transform_filter("isValid(datum.value)").mark_point(
        filled=True, size=64, color=LIGHT["run-a"], opacity=1
    )
    layers = [
        *marks.whiskers(known, y, alt.X("lo:Q", **axis), "hi"),
        dots.encode(y=y, x=alt.X("value:Q", **axis), **marks.spoken()),
        marks.beside(base, "written", y).encode(opacity=alt.value(alt.ExprRef(f"width < {_NARROW} ? 0 : 1"))),
    ]
    if card.bounds:
        ranges = base.transform_filter("isValid(datum.least)").mark_rule(color=LIGHT["run-a"], strokeWidth=7)
        layers.insert(3, ranges.encode(y=y, x=alt.X("least:Q", **axis), x2="greatest", **marks.spoken()))
    layered = alt.layer(*layers).properties(height=(marks.ROW + 4) * len(frame))
    fitted = layered.properties(autosize=alt.AutoSizeParams(type="fit-x", contains="padding"))
    whole: alt.LayerChart = marks.titled(fitted, title or says_scores(card), _subtitle(card, ""))
    return whole


def query_spread(card: Scorecard, *, title: str | None = None) -> alt.LayerChart:
    """Show how many queries have which value, metric by metric.

    Args:
        card: The scores.
        title: The finding; worked out from the scores by default.
    """
    import altair as alt

    frame = _spread(card)
    if frame.empty:
        return marks.nothing(title or "No query has a value", "No query was scored.")
    y = alt.Y(
        "name:N",
        sort=[_name(name) for name in card.metrics],
        axis=alt.Axis(title=None, ticks=False, domain=False, labelPadding=8),
        scale=alt.Scale(paddingInner=0.3, paddingOuter=0.2),
    )
    axis = _axis("value of a query", beside=10, edge=0.05)
    most = int(frame["n"].max())
    size = alt.Scale(domain=[1, max(2, most)], range=[_SMALLEST, _LARGEST])
    base = alt.Chart(frame)
    dots = base.mark_circle(color=LIGHT["run-a"], opacity=1).encode(
        y=y, x=alt.X("value:Q", **axis), size=alt.Size("n:Q", legend=None, scale=size), **marks.spoken()
    )
    counts = base.transform_filter(f"datum.n >= {max(2, most // 8)}").mark_text(
        color=LIGHT["ink"], dy=-19, fontSize=10, baseline="middle"
    )
    written = counts.encode(y=y, x=alt.X("value:Q", **axis), text="n:Q")
    layered = alt.layer(dots, written).properties(height=48 * len(card.metrics))
    fitted = layered.properties(autosize=alt.AutoSizeParams(type="fit-x", contains="padding"))
    says = title or spread_finding(card)
    what = "the area of a dot is its number of queries, no interval"
    if card.bounds:
        what += "; where labels are missing, the middle of what the query's value could be"
    whole: alt.LayerChart = marks.titled(fitted, says, _subtitle(card, what))
    return whole


def _spread(card: Scorecard) -> pd.DataFrame:
    """Count queries by metric and bin; 0 and 1 are bins of their own."""
    import numpy as np
    import pandas as pd

    values = query_values(card, as_goodness=False)[card.queries["scored"]]
    rows = []
    for metric in card.metrics:
        known = values[metric].dropna().to_numpy(dtype=float)
        for value, n in zip(*np.unique(np.round(known * BINS) / BINS, return_counts=True), strict=True):
            says = f"{WORDS[metric][0]}: {formats.count(int(n), 'query', 'queries')} at about {value:.2f}"
            rows.append({"name": _name(metric), "value": float(value), "n": int(n), "says": says})
    return pd.DataFrame(rows)


def spread_finding(card: Scorecard) -> str:
    """Say how queries are spread, by the metric on which most of them have the worst value.

    Args:
        card: The scores.
    """
    values = query_values(card)[card.queries["scored"]]
    n_worst = {metric: int((values[metric] <= 0).sum()) for metric in card.metrics}
    metric = max(n_worst, key=lambda name: n_worst[name])
    if not n_worst[metric]:
        return "No query has the worst value of any metric"
    n = int(values[metric].notna().sum())
    return f"{n_worst[metric]:,} of {formats.count(n, 'query', 'queries')} have the worst value in {WORDS[metric][0]}"
