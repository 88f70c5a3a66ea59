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


def published_scores(
    table: PublishedTable, own: ContractEvalScores | None = None, *, name: str = "this run", title: str | None = None
) -> alt.LayerChart:
    """Show the printed F1 of every model with the interval its counts allow, best first.

    Args:
        table: The published table.
        own: Scores of a run to stand beside them.
        name: What that run is called.
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
        says = f"{name}: F1 {formats.estimate(f1)} over {formats.count(own.n_contracts, 'contract')}"
        rows.append({"model": name, "f1": f1.value, "lo": f1.lo, "hi": f1.hi, "kind": "own", "says": says})
    if not rows:
        return marks.nothing(title or "No printed row has a solution", "No counts give the printed figures.")
    frame = pd.DataFrame(rows).sort_values(["f1", "model"], ascending=[False, True], kind="stable")
    frame["written"] = [formats.number(value) for value in frame["f1"]]
    base = alt.Chart(frame)
    y = marks.row_axis(frame, "model")
    highest = max(0.8, float(frame["hi"].max()))
    axis = marks.value_axis("F1, with the interval of all counts that fit", beside=60, domain=(0.0, highest))
    colour = alt.Color(
        "kind:N",
        legend=None,
        scale=alt.Scale(domain=["published", "own"], range=[LIGHT["item-ink"], LIGHT["missed-ink"]]),
    )
    dots = base.mark_point(filled=True, size=46, opacity=1).encode(
        y=y, x=alt.X("f1:Q", **axis), color=colour, **marks.spoken()
    )
    layers = [*marks.whiskers(base, y, alt.X("lo:Q", **axis), "hi"), dots, marks.beside(base, "written", y)]
    layered = alt.layer(*layers).properties(height=marks.ROW * len(frame))
    whole: alt.LayerChart = marks.titled(layered, title or _finding(table))
    return whole


def _finding(table: PublishedTable) -> str:
    solved = [row for row in table.rows if row.rank is not None]
    if not solved:
        return "No printed row has a solution"
    best = max(solved, key=lambda row: row.printed["f1"])
    n_ties = int(table.differences["tie"].sum())
    beside = f", which ties with {best.ties[0]}" if len(best.ties) == 1 else ""
    return (
        f"{best.model} leads{beside}; {n_ties} of {len(table.differences)} pairs of models cannot be told apart by F1"
    )
