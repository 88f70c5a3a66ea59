"""ContractEval's published table with error bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dojo_kit import formats
from dojo_kit.charts import marks
from dojo_kit.palette import LIGHT

if TYPE_CHECKING:
    import altair as alt

    from dojo_kit.tasks.contracteval import PublishedTable
    from dojo_kit.tasks.contracteval.scores import ContractEvalScores


AXIS_NAME = 26
"""Characters of a run's name up to which it stands on the axis."""


def published_scores(
    table: PublishedTable, own: ContractEvalScores | None = None, *, name: str = "this run", title: str | None = None
) -> alt.LayerChart:
    """Show the printed F1 of every model with the interval its counts allow, best first.

    Args:
        table: The published table.
        own: Scores of a run to stand beside them.
        name: What that run is called; one too long for the axis stands under the title.
        title: The finding; worked out by default.
    """
    import altair as alt
    import pandas as pd

    rows = [
        {
            "model": row.model,
            "f1": row.f1.value,
            "lo": row.f1.lo,
            "hi": row.f1.hi,
            "kind": "published",
            "says": f"{row.model}: F1 {formats.estimate(row.f1)}"
            + (f", place {row.rank[0]} to {row.rank[1]}" if row.rank else ""),
        }
        for row in table.rows
        if row.f1.value is not None
    ]
    if own is not None and own.f1.value is not None:
        f1 = own.f1
        called = name if len(name) <= AXIS_NAME else "this run"
        says = f"{name}: F1 {formats.estimate(f1)} over {formats.count(own.n_contracts, 'contract')}"
        rows.append({"model": called, "f1": f1.value, "lo": f1.lo, "hi": f1.hi, "kind": "own", "says": says})
    if not rows:
        return marks.nothing(title or "No printed row has a solution", "No counts give the printed figures.")
    frame = pd.DataFrame(rows).sort_values(["f1", "model"], ascending=[False, True], kind="stable")
    frame["written"] = [formats.number(value) for value in frame["f1"]]
    base = alt.Chart(frame)
    y = marks.row_axis(frame, "model")
    highest = max(0.8, float(frame["hi"].max()))
    axis = marks.value_axis("F1, with the interval of all counts that fit", beside=60, domain=(0.0, highest))
    kinds = ["published", "own"]
    colour, shape, size = (
        alt.Scale(domain=kinds, range=values)
        for values in ([LIGHT["item-ink"], LIGHT["missed-ink"]], ["circle", "diamond"], [46, 130])
    )
    dots = base.mark_point(filled=True, opacity=1).encode(
        y=y,
        x=alt.X("f1:Q", **axis),
        color=alt.Color("kind:N", legend=None, scale=colour),
        shape=alt.Shape("kind:N", legend=None, scale=shape),
        size=alt.Size("kind:N", legend=None, scale=size),
        **marks.spoken(),
    )
    layers = [*marks.whiskers(base, y, alt.X("lo:Q", **axis), "hi"), dots, marks.beside(base, "written", y)]
    layered = alt.layer(*layers).properties(height=marks.ROW * len(frame))
    run = f"\N{BLACK DIAMOND} this run: {name}" if own is not None and own.f1.value is not None else ""
    # The names on the axis are part of the width, so that a narrow page need not scale the texts down.
    fitted = layered.properties(autosize=alt.AutoSizeParams(type="fit-x", contains="padding"))
    whole: alt.LayerChart = marks.titled(fitted, title or published_finding(table), run)
    return whole


def published_finding(table: PublishedTable) -> str:
    """Say which model leads a published table, and how many pairs of models cannot be told apart.

    Args:
        table: The table.
    """
    solved = [row for row in table.rows if row.rank is not None]
    if not solved:
        return "No printed row has a solution"
    best = max(solved, key=lambda row: row.printed["f1"])
    n_ties = int(table.differences["tie"].sum())
    beside = f", which ties with {best.ties[0]}" if len(best.ties) == 1 else ""
    return (
        f"{best.model} leads{beside}; {n_ties} of {len(table.differences)} pairs of models cannot be told apart by F1"
    )
