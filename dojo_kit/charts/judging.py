"""A judge against the deterministic score."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dojo_kit import formats
from dojo_kit.charts import marks
from dojo_kit.palette import LIGHT

if TYPE_CHECKING:
    import altair as alt

    from dojo_kit.analysis.judging import Calibration

_MEANINGS = ("agree", "a step apart", "opposite")
_FILLS = ("matched-tint", "near-tint", "missed-tint")
_INKS = ("matched-ink", "near-ink", "missed-ink")
_STEPS = {(0, 0): 0, (1, 1): 0, (2, 2): 0, (0, 2): 2, (2, 0): 2}
CELL = 52


def judge_table(calibration: Calibration, *, title: str | None = None) -> alt.LayerChart:
    """Show in how many documents each band of the score met each verdict of the judge.

    Args:
        calibration: A judge against the score.
        title: The finding; worked out by default.
    """
    import altair as alt
    import pandas as pd

    if not calibration.n_scored:
        return marks.nothing(title or "Nothing can be compared", "No document has both a verdict and a score.")
    names = {
        "strong": f"strong, {calibration.strong:g} or more",
        "middle": "middle",
        "weak": f"weak, {calibration.weak:g} or less",
    }
    rows = []
    for at, (band, verdicts) in enumerate(calibration.table.T.items()):
        for to, (verdict, n) in enumerate(verdicts.items()):
            meaning = _MEANINGS[_STEPS.get((at, to), 1)]
            word = "strict" if (at, to) == (0, 2) else "lenient" if (at, to) == (2, 0) else meaning
            rows.append(
                {
                    "band": names[str(band)],
                    "verdict": str(verdict),
                    "meaning": meaning,
                    "n": f"{int(n):,}",
                    "word": word,
                    "says": f"{formats.count(int(n), 'document')}: score {band}, judge says {verdict} ({word})",
                }
            )
    frame = pd.DataFrame(rows)
    x = alt.X(
        "verdict:N",
        sort=list(calibration.table.columns),
        title="the judge says",
        axis=alt.Axis(orient="top", labelAngle=0, domain=False, ticks=False),
        scale=alt.Scale(paddingInner=0.03, paddingOuter=0),
    )
    y = alt.Y(
        "band:N",
        sort=list(names.values()),
        title="score",
        axis=alt.Axis(domain=False, ticks=False),
        scale=alt.Scale(paddingInner=0.06, paddingOuter=0),
    )
    fill = alt.Scale(domain=list(_MEANINGS), range=[LIGHT[name] for name in _FILLS])
    ink = alt.Scale(domain=list(_MEANINGS), range=[LIGHT[name] for name in _INKS])
    base = alt.Chart(frame)
    cells = base.mark_rect().encode(x=x, y=y, color=alt.Color("meaning:N", scale=fill, legend=None), **marks.spoken())
    colour = alt.Color("meaning:N", scale=ink, legend=None)
    texts = [
        base.mark_text(dy=-7, fontSize=17, fontWeight="bold").encode(x=x, y=y, text="n:N", color=colour),
        base.mark_text(dy=12).encode(x=x, y=y, text="word:N", color=colour),
    ]
    layered = alt.layer(cells, *texts).resolve_scale(color="independent").properties(height=3 * CELL)
    whole: alt.LayerChart = marks.titled(layered, title or _finding(calibration), _caution(calibration))
    return whole


def _finding(calibration: Calibration) -> str:
    decisive = calibration.decisive_agreement
    kappa = calibration.kappa
    if decisive.value is None:
        return f"No document tells judge and score apart: {decisive.note}"
    says = f"Judge and score agree on {decisive.value:.0%} of {formats.count(decisive.n, 'decisive document')}"
    if kappa.value is None or kappa.lo is None:
        return f"{says}; beyond chance nothing can be said"
    return f"{says}; beyond chance kappa is {formats.estimate(kappa)}"


def _caution(calibration: Calibration) -> str:
    parts = [f"{formats.count(calibration.n_scored, 'document')} with an ambiguous field, judged as a whole"]
    if calibration.n_errors:
        parts.append(f"{calibration.n_errors} without a verdict left out")
    return "; ".join(parts)


def judge_lean(calibration: Calibration, *, title: str | None = None) -> alt.LayerChart:
    """Show whether the judge is kinder or harder than the score, by field that asked for one and by band.

    Args:
        calibration: A judge against the score.
        title: The finding; worked out by default.
    """
    import altair as alt
    import pandas as pd

    parts = [
        (f"{before}{row[name]}", row)
        for name, frame, before in (("field", calibration.by_field, ""), ("band", calibration.by_band, "score "))
        for row in frame.to_dict("records")
        if row["n"]
    ]
    if not parts:
        return marks.nothing(title or "The judge leans nowhere", "No document has both a verdict and a score.")
    frame = pd.DataFrame(
        [
            {
                "name": name,
                "lean": row["lean"],
                "lo": row["lean_lo"],
                "hi": row["lean_hi"],
                "beside": f"{row['lean']:+.2f}, n {row['n']:,}",
                "says": f"{name}: lean {row['lean']:+.2f} in {formats.count(row['n'], 'document')}, "
                f"{row['strict']} strict, {row['lenient']} lenient",
            }
            for name, row in parts
        ]
    )
    y = marks.row_axis(frame, "name")
    axis = marks.value_axis("harder than the score < 0 < kinder", beside=110, domain=(-1.0, 1.0), format="+.1f")
    base = alt.Chart(frame)
    zero = alt.Chart(pd.DataFrame({"at": [0.0]})).mark_rule(color=LIGHT["edge"], strokeWidth=1)
    dots = base.mark_point(filled=True, size=60, color=LIGHT["run-a"], opacity=1)
    layers = [
        zero.encode(x=alt.X("at:Q", **axis)),
        *marks.whiskers(base, y, alt.X("lo:Q", **axis), "hi"),
        dots.encode(y=y, x=alt.X("lean:Q", **axis), **marks.spoken()),
        marks.beside(base, "beside", y),
    ]
    layered = alt.layer(*layers).properties(height=marks.ROW * len(frame))
    subtitle = "verdict minus band of the score, 1, 0.5 or 0 each; a verdict is about the document, not the field"
    whole: alt.LayerChart = marks.titled(layered, title or _leaning(calibration), subtitle)
    return whole


def _leaning(calibration: Calibration) -> str:
    lean = calibration.lean
    if lean.value is None or lean.lo is None or lean.hi is None:
        return "Whether the judge leans is unknown"
    if lean.lo > 0:
        return f"The judge is kinder than the score by {formats.estimate(lean)}"
    if lean.hi < 0:
        return f"The judge is harder than the score by {formats.estimate(lean)}"
    return f"The judge leans to no side that {formats.count(lean.n, 'document')} would show: {formats.estimate(lean)}"
