"""Which kinds of spans are missed, and how near the misses come."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

from dojo_kit import formats
from dojo_kit.analysis.families import RANKED_FROM
from dojo_kit.charts import marks
from dojo_kit.errors import InputError
from dojo_kit.palette import LIGHT

if TYPE_CHECKING:
    import altair as alt
    import numpy as np
    import pandas as pd

SHOWN_FAMILIES = 45
BINS = 40
BROKEN_FROM = 2.5
"""Times the second tallest bar from which the tallest is broken."""

BROKEN_TO = 1.25
"""Times the second tallest bar at which a broken bar ends."""

_NAMED = 3
"""Families that a title names."""

_GREY, _MISSED = "fewer than 5", "ranked"


def family_misses(
    families: pd.DataFrame, *, by: Literal["rate", "missed"] = "rate", title: str | None = None
) -> alt.LayerChart:
    """Show which families of spans are missed, with Wilson intervals; families with few labels are grey.

    Args:
        families: One row per family with ``short``, ``n``, ``missed``, ``rate``, ``lo``, ``hi`` and ``ranked``, as
            from `dojo_kit.analysis.families.family_table`. Families of the same name are told apart by ``field``.
        by: Sort by and draw the share missed, or how many are missed inside how many there are.
        title: The finding; worked out from the table by default.

    Raises:
        InputError: A column is missing.
    """
    columns = ["short", "n", "missed", "rate", "lo", "hi", "ranked"]
    if absent := [name for name in columns if name not in families]:
        raise InputError(f"the table of families has no column {absent[0]!r}", expected=", ".join(columns))
    if families.empty:
        return marks.nothing(title or "No family to show", "No labelled span was expected.")
    order = ["ranked", by, "missed" if by == "rate" else "rate", "short"]
    ranked = families.sort_values(order, ascending=[False, False, False, True], kind="stable")
    rows = _family_rows(ranked.head(SHOWN_FAMILIES), by)
    missed, n = int(families["missed"].sum()), int(families["n"].sum())
    layered = _by_rate(rows, missed / n) if by == "rate" else _by_count(rows)
    whole: alt.LayerChart = marks.titled(
        layered, title or _most_missed(ranked, by, missed / n), _reading(families, by, missed, n)
    )
    return whole


def _family_rows(ranked: pd.DataFrame, by: str) -> pd.DataFrame:
    shared = ranked["short"].duplicated(keep=False)
    names = ranked["short"].where(~shared, ranked["short"] + " (" + ranked.get("field", ranked["short"]) + ")")
    scale = 1.0 if by == "rate" else ranked["n"]
    rows = ranked.assign(
        family=names,
        value=ranked[by],
        low=ranked["lo"] * scale,
        high=ranked["hi"] * scale,
        kind=ranked["ranked"].map({True: _MISSED, False: _GREY}),
        count=[f"{m:,}/{n:,}" for m, n in zip(ranked["missed"], ranked["n"], strict=True)],
        share=[f"{rate:.0%}" for rate in ranked["rate"]],
    )
    rows["says"] = [_family_says(row) for row in rows.to_dict("records")]
    return rows[["family", "value", "low", "high", "n", "kind", "count", "share", "says"]]


def _family_says(row: dict[Any, Any]) -> str:
    few = "" if row["ranked"] else f"; fewer than {RANKED_FROM} labels, so not ranked"
    share = f"{row['rate']:.0%} [{row['lo']:.0%}, {row['hi']:.0%}]"
    return f"{row['family']}: {row['missed']:,} of {row['n']:,} missed, {share}{few}"


def _by_rate(rows: pd.DataFrame, average: float) -> Any:
    import altair as alt
    import pandas as pd

    base, y = alt.Chart(rows), marks.row_axis(rows, "family")
    x = alt.X("value:Q", **marks.value_axis("share of labels missed", beside=92, format=".0%"))
    mean = alt.Chart(pd.DataFrame({"value": [average], "says": [f"all families: {average:.0%} missed"]}))
    line = mean.mark_rule(color=LIGHT["ink-soft"], strokeDash=[4, 3], strokeWidth=1.4).encode(x=x, **marks.spoken())
    bars = _bars(base, y, x)
    layers = [bars, line, *marks.whiskers(base, y, alt.X("low:Q"), "high"), *_counts(base, y)]
    return alt.layer(*layers).properties(height=marks.ROW * len(rows))


def _by_count(rows: pd.DataFrame) -> Any:
    import altair as alt

    base, y = alt.Chart(rows), marks.row_axis(rows, "family")
    most = float(rows["n"].max())
    options = marks.value_axis("labels, and how many of them are missed", beside=92, domain=(0.0, most), format=",d")
    track = base.mark_bar(color=LIGHT["sunk"], stroke=LIGHT["edge"], strokeWidth=0.6)
    labels = track.encode(y=y, x=alt.X("n:Q", **options), **marks.spoken())
    bars = _bars(base, y, alt.X("value:Q", **options))
    layers = [labels, bars, *marks.whiskers(base, y, alt.X("low:Q"), "high"), *_counts(base, y)]
    return alt.layer(*layers).properties(height=marks.ROW * len(rows))


def _counts(base: alt.Chart, y: alt.Y) -> list[alt.Chart]:
    return [marks.beside(base, "count", y, from_right=46), marks.beside(base, "share", y)]


def _bars(base: alt.Chart, y: alt.Y, x: alt.X) -> alt.Chart:
    import altair as alt

    scale = alt.Scale(domain=[_MISSED, _GREY], range=[LIGHT["missed"], LIGHT["line-strong"]])
    colour = alt.Color("kind:N", scale=scale, legend=None)
    bars: alt.Chart = base.mark_bar().encode(y=y, x=x, color=colour, **marks.spoken())
    return bars


def _most_missed(ranked: pd.DataFrame, by: str, average: float) -> str:
    lost = ranked[ranked["ranked"].astype(bool) & (ranked["missed"] > 0)]
    if lost.empty:
        return "No family with enough labels to be ranked misses any"
    worst = lost.iloc[0]
    if by == "missed":
        return f"{worst['short']} is missed most: {worst['missed']:,} of {worst['n']:,}"
    beyond = lost[lost["lo"] > average]["short"].tolist()
    if not beyond:
        return "No family is missed more often than the average beyond chance"
    more = f" and {len(beyond) - _NAMED} more" if len(beyond) > _NAMED else ""
    verb = "is" if len(beyond) == 1 else "are"
    return f"{', '.join(beyond[:_NAMED])}{more} {verb} missed more often than the average beyond chance"


def _reading(families: pd.DataFrame, by: str, missed: int, n: int) -> str:
    parts = [
        f"{missed:,} of {n:,} missed ({missed / n:.0%}{', dashed' if by == 'rate' else ''})",
        "whiskers: 95 %, Wilson",
    ]
    if few := int((~families["ranked"].astype(bool)).sum()):
        parts.append(f"grey: {few} with n\N{NO-BREAK SPACE}<\N{NO-BREAK SPACE}{RANKED_FROM}, not ranked")
    if len(families) > SHOWN_FAMILIES:
        parts.append(f"first {SHOWN_FAMILIES} of {len(families):,} families")
    return "; ".join(parts)


def similarity_histogram(
    values: Iterable[float], *, threshold: float, near: float = 0.35, title: str | None = None
) -> alt.LayerChart:
    """Show how similar the nearest item of each label is, and where the match threshold cuts.

    A bar far taller than all others is broken and its count printed; it would flatten the rest.

    Args:
        values: Similarities between 0 and 1; missing ones are counted apart.
        threshold: Similarity from which a label counts as matched.
        near: Similarity from which a miss counts as near.
        title: The finding; worked out from the values by default.

    Raises:
        InputError: ``near`` or ``threshold`` is not between 0 and 1, or they are the wrong way round.
    """
    import altair as alt
    import numpy as np

    if not 0 <= near <= threshold <= 1:
        raise InputError(f"near is {near}, threshold {threshold}", expected="0 <= near <= threshold <= 1")
    given = np.asarray(list(values), dtype=float)
    known = given[~np.isnan(given)]
    if not len(known):
        return marks.nothing(title or "No similarity to show", "No label was compared with any item.")
    zones = {
        f"below {near:.2f}": ("missed", known < near),
        f"near, {near:.2f} to {threshold:.2f}": ("near", (known >= near) & (known < threshold)),
        f"{threshold:.2f} or more": ("matched", known >= threshold),
    }
    counted = {f"{name}: {int(inside.sum()):,}": (colour, known[inside]) for name, (colour, inside) in zones.items()}
    bars, cap, note = _histogram_bars(counted)
    colours = [colour for colour, _ in counted.values()]
    zone = marks.outlined(
        "zone", list(counted), [LIGHT[name] for name in colours], [LIGHT[f"{name}-ink"] for name in colours]
    )
    x = alt.X(
        "from:Q", bin="binned", title="similarity of the nearest item", scale=alt.Scale(domain=[0, 1], nice=False)
    )
    y = alt.Y("low:Q", title="labels", scale=alt.Scale(domain=[0, cap * 1.12], nice=False), axis=_labels_axis())
    drawn = alt.Chart(bars).mark_bar(strokeWidth=0.6).encode(
        x=x.axis(titleAnchor="start", grid=False, format=".1f", tickCount=10, labelFlush=False),
        x2="to", y=y, y2="high", **zone, **marks.spoken(),
    )  # fmt: skip
    layers = [drawn, *_break_marks(note, cap), *_threshold_marks(threshold)]
    short = len(given) - len(known)
    apart = f"{formats.count(short, 'label')} without any item not shown" if short else ""
    whole: alt.LayerChart = marks.titled(
        alt.layer(*layers).properties(height=170), title or _reach(known, threshold), apart
    )
    return whole


def _reach(known: np.ndarray[Any, Any], threshold: float) -> str:
    reached = int((known >= threshold).sum())
    return f"{reached:,} of {formats.count(len(known), 'label')} reach {threshold:.2f} ({reached / len(known):.0%})"


def _histogram_bars(
    counted: dict[str, tuple[str, np.ndarray[Any, Any]]],
) -> tuple[pd.DataFrame, float, tuple[float, int] | None]:
    """Stack the zones inside bars of equal width; say what the tallest bar holds when it was broken."""
    import numpy as np
    import pandas as pd

    totals = np.zeros(BINS, dtype=int)
    rows = []
    for name, (_, inside) in counted.items():
        counts = np.bincount(np.clip((inside * BINS + 1e-9).astype(int), 0, BINS - 1), minlength=BINS)
        for place in np.flatnonzero(counts):
            start, end = float(place / BINS), float((place + 1) / BINS)
            low, high = int(totals[place]), int(totals[place] + counts[place])
            says = f"{formats.count(high - low, 'label')} from {start:.3f} to {end:.3f}"
            rows.append((start, end, low, high, name, says))
        totals += counts
    bars = pd.DataFrame(rows, columns=["from", "to", "low", "high", "zone", "says"])
    second, tallest = sorted(totals)[-2:]
    if not second or tallest <= BROKEN_FROM * second:
        return bars, float(tallest), None
    cap = float(BROKEN_TO * second)
    return bars.assign(low=bars["low"].clip(upper=cap), high=bars["high"].clip(upper=cap)), cap, (
        (int(totals.argmax()) + 0.5) / BINS, int(tallest),
    )  # fmt: skip


def _labels_axis() -> alt.Axis:
    import altair as alt

    return alt.Axis(tickCount=4, tickMinStep=1, domain=False, ticks=False, format=",d")


def _break_marks(note: tuple[float, int] | None, cap: float) -> list[alt.Chart]:
    """Cut a broken bar through near its top and print what it holds."""
    import altair as alt
    import pandas as pd

    if note is None:
        return []
    at, count = note
    says = f"{formats.count(count, 'label')}: the bar is broken"
    base = alt.Chart(pd.DataFrame([{"at": at, "cut": cap * 0.9, "top": cap, "text": f"{count:,}", "says": says}]))
    x, high = alt.X("at:Q"), at > 0.5
    align: Any = "right" if high else "left"
    return [
        base.mark_tick(orient="horizontal", color=LIGHT["panel"], opacity=1, thickness=4, size=40).encode(
            x=x, y="cut:Q"
        ),
        base.mark_text(align=align, dx=-14 if high else 14, baseline="top", color=LIGHT["ink"]).encode(
            x=x, y="top:Q", text="text:N", **marks.spoken()
        ),
    ]


def _threshold_marks(threshold: float) -> list[alt.Chart]:
    import altair as alt
    import pandas as pd

    base = alt.Chart(pd.DataFrame([{"at": threshold, "text": f"threshold {threshold:.2f}"}]))
    high = threshold > 0.5
    align: Any = "right" if high else "left"
    return [
        base.mark_rule(color=LIGHT["ink"], strokeWidth=1.8).encode(x="at:Q"),
        base.mark_text(align=align, dx=-5 if high else 5, baseline="top", color=LIGHT["ink"]).encode(
            x="at:Q", y=alt.value(0), text="text:N"
        ),
    ]
