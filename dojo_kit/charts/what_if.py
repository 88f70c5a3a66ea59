"""What-ifs drawn: accuracy by votes, accuracy against cost, failures by tries, and which labels are taken for which."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dojo_kit import formats
from dojo_kit.charts import marks
from dojo_kit.palette import LIGHT
from dojo_kit.views.what_if_words import points, share, usual_step

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

    from dojo_kit.simulate.committee import Committee
    from dojo_kit.simulate.escalation import Escalation
    from dojo_kit.simulate.exemplars import Exemplars
    from dojo_kit.simulate.pipeline import FailurePipeline

HEIGHT = 240
MOST_FLOWS = 14
_SMALLEST_RATE = 1e-8


def committee_accuracy(found: Committee, *, title: str | None = None) -> alt.LayerChart:
    """Show accuracy by number of votes with its interval, and what it tends to with ever more votes.

    Args:
        found: The committees.
        title: The finding; worked out by default.
    """
    import altair as alt
    import pandas as pd

    rows = [
        {
            "k": row.k,
            "accuracy": row.accuracy.value,
            "lo": row.accuracy.lo,
            "hi": row.accuracy.hi,
            "says": f"{formats.count(row.k, 'vote')}: {formats.estimate(row.accuracy)}",
        }
        for row in found.rows
    ]
    frame = pd.DataFrame(rows)
    limit = found.limit.value or 0.0
    beside = pd.DataFrame({"limit": [limit], "says": [f"tends to {formats.number(limit)}"]})
    x = alt.X(
        "k:Q",
        title="votes a document",
        scale=alt.Scale(type="log", nice=False),
        axis=alt.Axis(values=frame["k"].tolist(), format="d", grid=False, titleAnchor="start"),
    )
    ends = [*frame["lo"].dropna(), *frame["hi"].dropna(), *frame["accuracy"], limit]
    y = _accuracy_axis(min(ends), max(ends), "accuracy")
    base = alt.Chart(frame)
    band = base.mark_area(color=LIGHT["run-a"], opacity=0.18).encode(x=x, y=alt.Y("lo:Q").title(None), y2="hi")
    line = base.mark_line(color=LIGHT["run-a"], strokeWidth=2).encode(x=x, y=y)
    points = base.mark_point(filled=True, size=50, color=LIGHT["run-a"], opacity=1).encode(x=x, y=y, **marks.spoken())
    rule = (
        alt.Chart(beside)
        .mark_rule(color=LIGHT["ink-soft"], strokeDash=[6, 4])
        .encode(y=alt.Y("limit:Q").title(None), **marks.spoken())
    )
    name = (
        alt.Chart(beside)
        .mark_text(align="right", dy=-6, color=LIGHT["ink-soft"])
        .encode(x=alt.value(alt.ExprRef("width")), y=alt.Y("limit:Q").title(None), text="says:N")
    )
    layered = alt.layer(band, rule, line, points, name).properties(height=HEIGHT)
    level = f"shaded: interval over {formats.count(len(found.votes), 'document')}"
    whole: alt.LayerChart = marks.titled(
        layered, title or _committee_finding(found), f"pool {found.votes.pool}; {level}"
    )
    return whole


def _committee_finding(found: Committee) -> str:
    first, last = found.rows[0], found.rows[-1]
    gain = points((last.accuracy.value or 0.0) - (first.accuracy.value or 0.0))
    limit = formats.number(found.limit.value)
    return f"From {formats.count(first.k, 'vote')} to {last.k}: {gain}; with ever more votes it tends to {limit}"


def _accuracy_axis(low: float, high: float, title: str) -> Any:
    import altair as alt

    air = 0.08 * (high - low) or 0.02
    return alt.Y(
        "accuracy:Q",
        title=title,
        scale=alt.Scale(domain=[max(0.0, low - air), min(1.0, high + air)], nice=False, zero=False),
        axis=alt.Axis(tickCount=5, format=".2~f", domain=False, ticks=False),
    )


def escalation_front(found: Escalation, *, title: str | None = None) -> alt.LayerChart:
    """Show accuracy against cost for a growing share of escalated documents; steps that none beats are filled.

    Args:
        found: The escalation.
        title: The finding; worked out by default.
    """
    import altair as alt
    import pandas as pd

    assumed = f"assumed {found.stronger_accuracy:g}"
    frame = pd.DataFrame(_escalation_rows(found, assumed))
    kinds = [assumed, *(["real answers"] if found.n_answered else [])]
    colours = [LIGHT["run-a"], LIGHT["run-b"]][: len(kinds)]
    ends = [*frame["accuracy"], *frame["low"].dropna(), *frame["high"].dropna()]
    y = _accuracy_axis(min(ends), max(ends), "accuracy")
    x = alt.X(
        "cost:Q",
        title="cost, in multiples of escalating none",
        scale=alt.Scale(nice=False, zero=False, padding=12),
        axis=alt.Axis(grid=False, titleAnchor="start", format=".1f", tickCount=6),
    )
    legend = alt.Legend(orient="top", direction="horizontal", offset=4, symbolType="circle")
    colour = alt.Color("kind:N", title=None, scale=alt.Scale(domain=kinds, range=colours), legend=legend)
    base = alt.Chart(frame)
    band = base.transform_filter("isValid(datum.low)").mark_area(color=LIGHT["run-a"], opacity=0.16)
    line = base.mark_line(strokeWidth=1.8).encode(
        x=x, y=y, color=colour, strokeDash=alt.StrokeDash("kind:N", legend=None)
    )
    beaten = base.transform_filter("!datum.on_front").mark_point(size=55, fill=LIGHT["panel"], opacity=1)
    best = base.transform_filter("datum.on_front").mark_point(size=60, filled=True, opacity=1)
    layered = alt.layer(
        band.encode(x=x, y=alt.Y("low:Q").title(None), y2="high"),
        line,
        beaten.encode(x=x, y=y, color=colour, **marks.spoken()),
        best.encode(x=x, y=y, color=colour, **marks.spoken()),
    ).properties(height=HEIGHT)
    note = "filled: no other share is as cheap and as accurate; shaded: the assumption 0.05 lower and higher"
    whole: alt.LayerChart = marks.titled(layered, title or _escalation_finding(found), note)
    return whole


def _escalation_rows(found: Escalation, assumed: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    condition = f"if the stronger model has {found.stronger_accuracy:g}"
    for step in found.steps:
        where = f"{share(step.alpha)} escalated ({step.n_escalated:,}), cost {step.cost:.2f}"
        rows.append(
            {
                "kind": assumed,
                "cost": step.cost,
                "accuracy": step.accuracy.value,
                "low": step.low,
                "high": step.high,
                "on_front": step.on_front,
                "says": f"{where}: {formats.estimate(step.accuracy)} {condition}",
            }
        )
        if step.measured is not None:
            says = f"{where}: {formats.estimate(step.measured)} with its real answers"
            real = {"kind": "real answers", "cost": step.cost, "accuracy": step.measured.value, "says": says}
            rows.append(real | {"low": None, "high": None, "on_front": bool(step.measured_on_front)})
    return rows


def _escalation_finding(found: Escalation) -> str:
    start = found.unescalated
    step = usual_step(found)
    gain = points((step.accuracy.value or 0.0) - start)
    says = f"Escalating {share(step.alpha)}: {gain} if the stronger model has {found.stronger_accuracy:g}"
    if step.measured is None or step.measured.value is None:
        return says
    return f"{says}, {points(step.measured.value - start)} with its real answers"


def failure_sweep(found: FailurePipeline, *, title: str | None = None) -> alt.LayerChart:
    """Show the share of documents that fail for good by number of tries, with and without a fallback.

    Args:
        found: The pipeline.
        title: The finding; worked out by default.
    """
    import altair as alt
    import pandas as pd

    fits = {"failure_rate": "independent tries", "failure_rate_clustered": "tries share an outage"}
    rows = [
        {
            "tries": int(row["max_tries"]),
            "line": f"{'with' if row['fallback'] else 'no'} fallback",
            "kind": kind,
            "rate": max(float(row[name]), _SMALLEST_RATE),
            "says": f"{formats.count(int(row['max_tries']), 'try', 'tries')}, "
            f"{'with' if row['fallback'] else 'no'} fallback, {kind}: {_share(float(row[name]))} of documents",
        }
        for row in found.sweep.to_dict("records")
        for name, kind in fits.items()
    ]
    frame = pd.DataFrame(rows)
    names = ["no fallback", "with fallback"]
    legend = alt.Legend(orient="top", direction="horizontal", offset=4, columns=2)
    colour = alt.Color(
        "line:N", title=None, scale=alt.Scale(domain=names, range=[LIGHT["missed"], LIGHT["run-a"]]), legend=legend
    )
    dash = alt.StrokeDash(
        "kind:N", title=None, scale=alt.Scale(domain=list(fits.values()), range=[[5, 4], [1, 0]]), legend=legend
    )
    x = alt.X("tries:O", title="tries of a call", axis=alt.Axis(labelAngle=0, titleAnchor="start", grid=False))
    y = alt.Y(
        "rate:Q",
        title="documents that fail for good",
        scale=alt.Scale(type="log", nice=False),
        axis=alt.Axis(format="~%", tickCount=6, domain=False, ticks=False),
    )
    base = alt.Chart(frame)
    line = base.mark_line(strokeWidth=2).encode(x=x, y=y, color=colour, strokeDash=dash)
    points = base.mark_point(filled=True, size=45, opacity=1).encode(x=x, y=y, color=colour, **marks.spoken())
    layered = alt.layer(line, points).properties(height=HEIGHT)
    rate = f"{found.fit.n_failed:,} of {found.fit.n_rows:,} calls failed ({_share(found.fit.p_first)})"
    whole: alt.LayerChart = marks.titled(
        layered, title or _failure_finding(found), f"{rate}; below {100 * _SMALLEST_RATE:g} % is drawn there"
    )
    return whole


def _failure_finding(found: FailurePipeline) -> str:
    tries = formats.count(found.max_tries, "try", "tries")
    beside = " and a fallback" if found.fallback else ""
    low, high = (_share(rate) for rate in (found.failure_rate, found.failure_rate_clustered))
    spread = low if low == high else f"{low} to {high}"
    return f"With {tries}{beside}, {spread} of documents fail for good"


def _share(rate: float) -> str:
    percent = 100 * rate
    if percent and percent < 0.00005:
        return "under 0.0001 %"
    return f"{percent:.4f} %" if percent < 1 else f"{percent:.2f} %"


def confusion_flows(found: Exemplars, *, title: str | None = None, most: int = MOST_FLOWS) -> alt.LayerChart:
    """Show which labels are taken for which: a line from the true label to the predicted one, as wide as it is common.

    Args:
        found: Confusions of a corpus, see `dojo_kit.simulate.exemplars.exemplars`.
        title: The finding; worked out by default.
        most: Confusions drawn, the commonest ones.
    """
    import altair as alt
    import pandas as pd

    table = found.confusions.head(most)
    if table.empty:
        return marks.nothing(title or "Nothing is confused", "Every answer with a true label is right.")
    left, right = (_places(table, column) for column in ("expected", "predicted"))
    flows = pd.DataFrame(
        [
            {
                "x": 0,
                "x2": 1,
                "y": left[row["expected"]],
                "y2": right[row["predicted"]],
                "errors": int(row["errors"]),
                "says": f"{_words(row['expected'])} taken for {_words(row['predicted'])}: {int(row['errors']):,} "
                f"errors, {int(row['near_misses']):,} right answers considered it",
            }
            for row in table.to_dict("records")
        ]
    )
    ends = pd.DataFrame(_ends(table, left, right))
    top = max(*left.values(), *right.values())
    reach: list[Any] = [alt.ExprRef("min(170, width * 0.3)"), alt.ExprRef("width - min(170, width * 0.3)")]
    x = alt.X("x:Q", scale=alt.Scale(domain=[0, 1], range=reach), axis=None)
    y = alt.Y("y:Q", scale=alt.Scale(domain=[-0.6, top + 0.6], reverse=True, nice=False, zero=False), axis=None)
    width = alt.Size("errors:Q", scale=alt.Scale(domain=[0, int(table["errors"].max())], range=[0.5, 14]), legend=None)
    lines = (
        alt.Chart(flows)
        .mark_rule(color=LIGHT["missed"], opacity=0.55, strokeCap="butt")
        .encode(x=x, x2="x2", y=y, y2="y2", size=width, **marks.spoken())
    )
    of_side = {side: alt.Chart(ends[ends["side"] == side]) for side in ("true", "answered")}
    true = of_side["true"].mark_text(align="right", dx=-8, color=LIGHT["ink"])
    answered = of_side["answered"].mark_text(align="left", dx=8, color=LIGHT["ink"])
    words = [side.encode(x=x, y=y, text="says:N") for side in (true, answered)]
    layered = alt.layer(lines, *words).properties(height=max(160, round(24 * (top + 1))))
    errors = f"{int(table['errors'].sum()):,} of {formats.count(found.n_errors, 'error')}"
    note = f"left: true label, right: answer; {errors} in the {formats.count(len(table), 'commonest confusion')}"
    whole: alt.LayerChart = marks.titled(layered, title or _confusion_finding(table), note)
    return whole


def _places(table: pd.DataFrame, column: str) -> dict[str, float]:
    """Return where each label stands, the one with the most errors first."""
    order = table.groupby(column, sort=False)["errors"].sum().sort_values(ascending=False, kind="stable")
    return {str(label): float(place) for place, label in enumerate(order.index)}


def _ends(table: pd.DataFrame, left: Mapping[str, float], right: Mapping[str, float]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for side, x, column, places in (("true", 0, "expected", left), ("answered", 1, "predicted", right)):
        sums = table.groupby(column, sort=False)["errors"].sum()
        rows += [
            {"side": side, "x": x, "y": place, "says": f"{_words(label)} {int(sums[label]):,}"}
            for label, place in places.items()
        ]
    return rows


def _words(label: str) -> str:
    return label.replace("_", " ")


def _confusion_finding(table: pd.DataFrame) -> str:
    first: dict[Any, Any] = table.iloc[0].to_dict()
    return (
        f"{_words(first['expected']).capitalize()} is taken for {_words(first['predicted'])} most: "
        f"{int(first['errors']):,} times"
    )
