"""How good the documents, the fields and the runs are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dojo_kit import formats
from dojo_kit.charts import marks
from dojo_kit.palette import LIGHT
from dojo_kit.scoring.metrics import bootstrap_of
from dojo_kit.stats.intervals import undefined

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

    from dojo_kit.scoring.run import ScoredRun
    from dojo_kit.stats.intervals import Estimate

BINS = 40
DOTS_UP_TO = 80
"""Documents up to which each is a dot of its own."""

OUTCOMES = {
    "exact": ("matched", "matched-ink"),
    "partial": ("near", "near-ink"),
    "miss": ("missed", "missed-ink"),
    "nothing expected": ("line-strong", "edge"),
}
"""Outcome of a field in a document -> colour of its fill and of its outline."""


def score_distribution(scored: ScoredRun, *, title: str | None = None) -> alt.LayerChart:
    """Show how the documents' overall scores are spread, with their mean and its interval.

    Up to 80 documents each is a dot that names itself; more are counted in 40 bars.

    Args:
        scored: A scored run.
        title: The finding; worked out from the scores by default.
    """
    documents = scored.frame("documents", ["document", "overall"])
    documents = documents[documents["overall"].notna()]
    if documents.empty:
        return marks.nothing(title or "No document has a score", "No completed document has a label to compare with.")
    mean = bootstrap_of(scored.recipe).mean(documents["overall"].to_numpy(dtype=float))
    few = len(documents) <= DOTS_UP_TO
    layers = _dots(documents) if few else _bars(documents["overall"])
    median = formats.number(float(documents["overall"].median()))
    n = formats.count(len(documents), "document")
    found = f"Half of {n} score {median} or more; the mean is {formats.estimate(mean)}"
    if len(documents) == 1:
        found = f"The only document scores {median}"
    without = len(scored.frame("documents", ["document"])) - len(documents)
    left_out = f"{formats.count(without, 'document')} without a score not shown" if without else ""
    import altair as alt

    if len(documents) > 1:
        band, *line = _mean_marks(mean)
        layers = [band, *layers, *line]
    layered = alt.layer(*layers).properties(height=150 if few else 180)
    whole: alt.LayerChart = marks.titled(layered, title or found, left_out)
    return whole


def _x(column: str, **options: Any) -> alt.X:
    import altair as alt

    axis = alt.Axis(
        title="overall score of a document",
        titleAnchor="start",
        grid=False,
        tickCount=10,
        format=".1f",
        labelFlush=False,
    )
    return alt.X(f"{column}:Q", scale=alt.Scale(domain=[0, 1], nice=False), axis=axis, **options)


def _bin_of(scores: pd.Series[float]) -> pd.Series[int]:
    """Return the bar of each score; 1 falls into the last."""
    return (scores.astype(float) * BINS + 1e-9).astype(int).clip(0, BINS - 1)


def _dots(documents: pd.DataFrame) -> list[alt.Chart]:
    import altair as alt

    sorted_ = documents.sort_values(["overall", "document"], kind="stable").reset_index(drop=True)
    place = _bin_of(sorted_["overall"])
    x = (place + 0.5) / BINS if len(sorted_) > 1 else sorted_["overall"]
    height = sorted_.groupby(place).cumcount() + 1
    says = [
        f"{formats.short_document(name)}: {formats.number(score)}"
        for name, score in zip(sorted_["document"], sorted_["overall"], strict=True)
    ]
    drawn = sorted_.assign(x=x, height=height, says=says)[["x", "height", "says"]]
    tallest = max(9.0, float(height.max()))
    dots = alt.Chart(drawn).mark_circle(size=64, color=LIGHT["run-a"], opacity=1)
    axis = alt.Y("height:Q", axis=None, scale=alt.Scale(domain=[0.4, 1.2 * tallest], nice=False))
    return [dots.encode(x=_x("x"), y=axis, **marks.spoken())]


def _bars(scores: pd.Series[float]) -> list[alt.Chart]:
    import altair as alt
    import pandas as pd

    counted = _bin_of(scores).value_counts().sort_index()
    drawn = pd.DataFrame({"from": counted.index / BINS, "to": (counted.index + 1) / BINS, "n": counted.to_numpy()})
    drawn["says"] = [
        f"{formats.count(n, 'document')} from {low:.3f} to {high:.3f}"
        for low, high, n in zip(drawn["from"], drawn["to"], counted, strict=True)
    ]
    tallest = 1.2 * float(counted.max())
    bars = alt.Chart(drawn).mark_bar(color=LIGHT["run-a"])
    count = alt.Y("n:Q", title="documents", scale=alt.Scale(domain=[0, tallest], nice=False), axis=_count_axis())
    return [bars.encode(x=_x("from", bin="binned"), x2="to", y=count, **marks.spoken())]


def _count_axis() -> alt.Axis:
    import altair as alt

    return alt.Axis(tickCount=4, tickMinStep=1, domain=False, ticks=False, format=",d")


def _mean_marks(mean: Estimate) -> list[alt.Chart]:
    """Draw the mean as a line in a band as wide as its interval."""
    import altair as alt
    import pandas as pd

    at = mean.value or 0.0
    frame = pd.DataFrame(
        [{"mean": at, "lo": mean.lo, "hi": mean.hi, "says": f"mean {formats.estimate(mean)}, n {mean.n:,}"}]
    )
    base = alt.Chart(frame)
    align: Any = "right" if at > 0.5 else "left"
    return [
        base.mark_rect(color=LIGHT["edge"], opacity=0.25).encode(x=_x("lo"), x2="hi", **marks.spoken()),
        base.mark_rule(color=LIGHT["ink"], strokeWidth=1.5).encode(x=_x("mean"), **marks.spoken()),
        base.mark_text(color=LIGHT["ink"], align=align, dx=-8 if at > 0.5 else 8, baseline="top", text="mean").encode(
            x=_x("lo" if at > 0.5 else "hi") if mean.lo is not None else _x("mean"), y=alt.value(2)
        ),
    ]


def field_decomposition(scored: ScoredRun, *, title: str | None = None) -> alt.LayerChart:
    """Show for every field in which share of the documents it is exact, partial or missed; the weakest first.

    Args:
        scored: A scored run.
        title: The finding; worked out from the scores by default.
    """
    import altair as alt

    rows, parts = field_shares(scored)
    if rows.empty:
        return marks.nothing(title or "No field was scored", "No completed document has a label to compare with.")
    y = marks.row_axis(rows, "field")
    x = marks.value_axis("share of documents", beside=124, format=".0%")
    fills, outlines = ([LIGHT[name] for name in names] for names in zip(*OUTCOMES.values(), strict=True))
    colour = marks.outlined("outcome", list(OUTCOMES), fills, outlines)
    bars = (
        alt.Chart(parts)
        .mark_bar(strokeWidth=0.6)
        .encode(y=y, x=alt.X("from:Q", **x), x2="to", **colour, **marks.spoken())
    )
    layered = alt.layer(bars, marks.beside(alt.Chart(rows), "beside", y)).properties(height=marks.ROW * len(rows))
    whole: alt.LayerChart = marks.titled(layered, title or _weakest_field(rows), "right: mean score and its interval")
    return whole


def field_shares(scored: ScoredRun) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Count the outcomes of every field.

    Args:
        scored: A scored run.

    Returns:
        Fields (``field``, ``value``, ``n``, ``beside``) from the lowest mean score to those without one, and
        their parts (``field``, ``outcome``, ``n``, ``from``, ``to``, ``says``).
    """
    import pandas as pd

    metrics = scored.metrics()
    outcomes = scored.frame("fields", ["field", "flag"])
    outcomes = outcomes.assign(outcome=outcomes["flag"].fillna("nothing expected"))
    rows, parts = [], []
    for field, group in outcomes.groupby("field", sort=False):
        score = metrics.get(f"{field}_score") or undefined("not scored")
        rows.append({"field": field, "value": score.value, "n": score.n, "beside": formats.estimate(score)})
        counts, start = group["outcome"].value_counts(), 0.0
        for outcome in OUTCOMES:
            n = int(counts.get(outcome, 0))
            end = start + n / len(group)
            says = f"{field}: {outcome} in {n:,} of {formats.count(len(group), 'document')} ({n / len(group):.0%})"
            parts.append({"field": field, "outcome": outcome, "n": n, "from": start, "to": end, "says": says})
            start = end
    frame = pd.DataFrame(rows, columns=["field", "value", "n", "beside"])
    frame = frame.sort_values("value", kind="stable", na_position="last").reset_index(drop=True)
    pieces = pd.DataFrame(parts, columns=["field", "outcome", "n", "from", "to", "says"])
    return frame, pieces[pieces["n"] > 0]


def _weakest_field(rows: pd.DataFrame) -> str:
    scored = rows[rows["value"].notna()]
    if scored.empty:
        return "Nothing is expected of any field"
    worst = scored.iloc[0]
    return f"{worst['field']} scores lowest: {worst['beside']} in {formats.count(int(worst['n']), 'document')}"


def drift(
    runs: Mapping[str, ScoredRun], *, metric: str = "overall_extraction_score", title: str | None = None
) -> alt.LayerChart:
    """Show a metric with its interval for each run, in the order given.

    Args:
        runs: Name -> scored run.
        metric: Name of a metric of `ScoredRun.metrics`.
        title: The finding; worked out from the values by default.
    """
    import altair as alt
    import pandas as pd

    estimates = {name: scored.metrics().get(metric) or undefined("not measured") for name, scored in runs.items()}
    frame = pd.DataFrame(
        [_run_row(name, metric, estimate) for name, estimate in estimates.items()],
        columns=["run", "value", "lo", "hi", "beside", "says"],
    )
    defined = frame[frame["value"].notna()]
    if defined.empty:
        return marks.nothing(title or f"{metric} is not defined for any run", "No run has a value to show.")
    y = marks.row_axis(frame, "run")
    x = alt.X("value:Q", **marks.value_axis(metric.replace("_", " "), beside=176, domain=_room(defined), format=".2f"))
    base, shown = alt.Chart(frame), alt.Chart(defined)
    path = (
        shown.mark_line(color=LIGHT["line-strong"], strokeWidth=1.5)
        .encode(y=y, x=x, order=alt.Order("row:Q"))
        .transform_window(row="row_number()")
    )
    points = shown.mark_point(filled=True, size=70, color=LIGHT["run-a"], opacity=1).encode(y=y, x=x, **marks.spoken())
    interval = marks.whiskers(shown, y, alt.X("lo:Q"), "hi")
    layered = alt.layer(path, *interval, points, marks.beside(base, "beside", y)).properties(height=26 * len(frame))
    caution = "intervals of single runs do not decide between runs over the same documents" if len(runs) > 1 else ""
    whole: alt.LayerChart = marks.titled(layered, title or _from_to(defined, metric), caution)
    return whole


def _run_row(name: str, metric: str, estimate: Estimate) -> dict[str, Any]:
    written = f"{formats.estimate(estimate)}, n {estimate.n:,}"
    return {
        "run": name,
        "value": estimate.value,
        "lo": estimate.lo,
        "hi": estimate.hi,
        "beside": written if estimate.value is not None else formats.UNKNOWN,
        "says": f"{name}: {metric} {written}",
    }


def _room(defined: pd.DataFrame) -> tuple[float, float]:
    """Return a domain with the intervals and a little air, inside 0 to 1 where the values are."""
    low = float(defined[["lo", "value"]].min().min())
    high = float(defined[["hi", "value"]].max().max())
    air = 0.06 * (high - low) or 0.05
    return (max(0.0, low - air) if low >= 0 else low - air, min(1.0, high + air) if high <= 1 else high + air)


def _from_to(defined: pd.DataFrame, metric: str) -> str:
    words = metric.replace("_", " ")
    if len(defined) == 1:
        return f"{defined['run'].iloc[0]}: {words} {defined['beside'].iloc[0]}"
    ordered = defined.sort_values("value", kind="stable")
    low, high = ordered.iloc[0], ordered.iloc[-1]
    return (
        f"{words} lies between {formats.number(low['value'])} ({low['run']}) and "
        f"{formats.number(high['value'])} ({high['run']})"
    )
