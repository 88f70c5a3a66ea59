"""What runs cost, and what a score costs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

from dojo_kit import formats
from dojo_kit.charts import marks
from dojo_kit.palette import LIGHT

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

    from dojo_kit.analysis.cost_front import CostFront, CostPoint
    from dojo_kit.analysis.costs import CostReport

HEIGHT = 260
_BASIS = {"estimate": "estimated", "billed": "stated by the provider"}


def cost_against_score(front: CostFront, *, title: str | None = None) -> alt.LayerChart:
    """Show runs over the same documents by what a document costs and how good they are, on a scale of equal ratios.

    Runs that no other beats are filled, named and joined; the others are hollow and name themselves on hover.

    Args:
        front: The runs, see `dojo_kit.analysis.cost_front.cost_front`.
        title: The finding; worked out by default.
    """
    import altair as alt
    import pandas as pd

    if not front.points:
        lacks = "; ".join(dict.fromkeys(lacks for _, lacks in front.left_out)) or "there are no runs"
        return marks.nothing(title or "No run has both a cost and a score", f"{lacks[0].upper()}{lacks[1:]}.")
    frame = pd.DataFrame([_point(point) for point in front.points])
    frame["name"] = _names(frame)
    x, y = _axes(front, frame)
    base = alt.Chart(frame)
    best = base.transform_filter("datum.on_front")
    path = best.mark_line(color=LIGHT["run-a"], strokeWidth=1.5, interpolate="step-after").encode(x=x, y=y)
    up = base.mark_rule(color=LIGHT["edge"], strokeWidth=1.2).encode(x=x, y="lo:Q", y2="hi", **marks.spoken())
    across = base.mark_rule(color=LIGHT["edge"], strokeWidth=1.2).encode(
        x="cost_lo:Q", x2="cost_hi", y=y, **marks.spoken()
    )
    beaten = base.transform_filter("!datum.on_front").mark_point(
        size=60, color=LIGHT["edge"], fill=LIGHT["panel"], strokeWidth=1.6, opacity=1
    )
    filled = best.mark_point(filled=True, size=80, color=LIGHT["run-a"], opacity=1)
    names = best.mark_text(align="right", dx=-9, dy=-7, limit=220, color=LIGHT["ink"]).encode(x=x, y=y, text="name:N")
    points = [layer.encode(x=x, y=y, **marks.spoken()) for layer in (beaten, filled)]
    layered = alt.layer(up, across, path, *points, names).properties(height=HEIGHT)
    whole: alt.LayerChart = marks.titled(layered, title or _finding(front), _caution(front))
    return whole


def _point(point: CostPoint) -> dict[str, Any]:
    beaten = "on the front" if point.on_front else f"beaten by {point.beaten_by}"
    says = f"{point.run}: {formats.estimate(point.score)} for {formats.dollars(point.cost.value)} a document, {beaten}"
    return {
        "run": point.run,
        "cost": point.cost.value,
        "cost_lo": point.cost.lo,
        "cost_hi": point.cost.hi,
        "score": point.score.value,
        "lo": point.score.lo,
        "hi": point.score.hi,
        "on_front": point.on_front,
        "says": says,
    }


_NEAR = 0.06
"""Share of the height within which two names would overlap."""


def _names(frame: pd.DataFrame) -> list[str]:
    """Name the points of the front from the top down; one that lies on another is counted with it."""
    near = _NEAR * float(frame["hi"].max() - frame["lo"].min())
    named: dict[int, list[str]] = {}
    for index in frame[frame["on_front"]].sort_values(["score", "run"], ascending=[False, True]).index:
        beside = [at for at in named if abs(frame["score"][at] - frame["score"][index]) < near]
        named.setdefault(beside[-1] if beside else index, []).append(frame["run"][index])
    names = {at: runs[0] if len(runs) == 1 else f"{runs[0]} and {len(runs) - 1} more" for at, runs in named.items()}
    return [names.get(index, "") for index in frame.index]


def _axes(front: CostFront, frame: pd.DataFrame) -> tuple[alt.X, alt.Y]:
    import altair as alt

    low = float(frame[["cost", "cost_lo"]].min().min())
    high = float(frame[["cost", "cost_hi"]].max().max())
    kind: Literal["log", "linear"] = "log" if low > 0 else "linear"
    # nothing lies above and left of the front, so that names go there: a third of the width is theirs
    room = [low / max(high / low, 2) ** 0.5, high * 1.15] if low > 0 else [-0.5 * high, high * 1.05 or 1.0]
    x = alt.X(
        "cost:Q",
        title=f"US dollars a document, {_BASIS[front.basis]}",
        scale=alt.Scale(type=kind, domain=room, nice=False),
        axis=alt.Axis(titleAnchor="start", grid=False, tickCount=6, format="$~g", labelFlush=False),
    )
    bottom = float(frame[["score", "lo"]].min().min())
    top = float(frame[["score", "hi"]].max().max())
    air = 0.08 * (top - bottom) or 0.05
    y = alt.Y(
        "score:Q",
        title=front.metric.replace("_", " "),
        scale=alt.Scale(domain=[bottom - air, top + air], nice=False, zero=False),
        axis=alt.Axis(tickCount=5, format=".2f", domain=False, ticks=False),
    )
    return x, y


def _finding(front: CostFront) -> str:
    best = front.front
    if len(front.points) == 1:
        return f"{best[0].run} costs {formats.dollars(best[0].cost.value)} a document"
    first, last = best[0], best[-1]
    if len(best) == 1:
        return f"{first.run} is both the cheapest and the best of {len(front.points)} runs"
    times = (last.cost.value or 0.0) / first.cost.value if first.cost.value else math.nan
    gain = 100 * ((last.score.value or 0.0) - (first.score.value or 0.0))
    return f"{gain:+.1f} pp from {first.run} to {last.run} cost {formats.number(times)} times as much a document"


def _caution(front: CostFront) -> str:
    parts = ["point values decide the line; where intervals overlap, runs may change places"]
    if any(point.extrapolated for point in front.points):
        parts.append("costs are over rows with usage")
    if front.left_out:
        parts.append(f"{formats.count(len(front.left_out), 'run')} without cost or score not shown")
    return "; ".join(parts)


def run_costs(report: CostReport, *, title: str | None = None) -> alt.LayerChart:
    """Show what each run cost, dearest first, estimated where it has a price, else as its provider stated.

    Args:
        report: What runs cost, see `dojo_kit.analysis.costs.cost_report`.
        title: The finding; worked out by default.
    """
    import altair as alt
    import pandas as pd

    rows = []
    for run in report.runs:
        estimated, stated = run.total.estimated_usd, run.total.billed_usd
        value, kind = (estimated, "estimated") if estimated is not None else (stated, "stated by the provider")
        kind = "unknown" if value is None else kind
        beside = formats.dollars(value) if value is not None else f"unknown: {run.total.note}"
        rows.append({"run": run.name, "usd": value, "kind": kind, "beside": beside, "says": f"{run.name}: {beside}"})
    frame = pd.DataFrame(rows, columns=["run", "usd", "kind", "beside", "says"])
    if frame.empty:
        return marks.nothing(title or "There are no runs", "Nothing was given.")
    frame = frame.sort_values(["usd", "run"], ascending=[False, True], kind="stable", na_position="last")
    largest = float(frame["usd"].max()) if frame["usd"].notna().any() else 1.0
    y = marks.row_axis(frame, "run")
    axis = marks.value_axis("US dollars", beside=110, domain=(0.0, largest or 1.0), format="$~g")
    kinds = ["estimated", "stated by the provider", "unknown"]
    fills, outlines = ([LIGHT[name] for name in names] for names in (_FILLS, _OUTLINES))
    bars = (
        alt.Chart(frame)
        .mark_bar(strokeWidth=0.6)
        .encode(y=y, x=alt.X("usd:Q", **axis), **marks.outlined("kind", kinds, fills, outlines), **marks.spoken())
    )
    layered = alt.layer(bars, marks.beside(alt.Chart(frame), "beside", y)).properties(height=marks.ROW * len(frame))
    subtitle = f"prices of {report.prices_as_of}; replayed rows count as nothing"
    whole: alt.LayerChart = marks.titled(layered, title or _spent(report), subtitle)
    return whole


_FILLS = ("run-a", "near", "line-strong")
_OUTLINES = ("run-a", "near-ink", "edge")


def _spent(report: CostReport) -> str:
    runs = formats.count(len(report.runs), "run")
    for total, says in ((report.estimated, "cost an estimated"), (report.billed, "cost")):
        if total.usd is not None:
            return f"{runs} {says} {formats.dollars(total.usd)}"
    known = report.estimated
    part = f"the known part is {formats.dollars(known.known_usd)}" if known.n_known else "nothing of it is known"
    return f"What {runs} cost is unknown: {known.note}; {part}"
