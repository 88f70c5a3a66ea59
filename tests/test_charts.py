"""Charts of results: what they say, how few marks they take, and how they look."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
import pytest

from dojo_kit import charts, family_table, load_labels, read_run, score_run
from dojo_kit.charts.drawing import Drawing, draw, draw_spec
from dojo_kit.charts.theme import in_tokens, theme
from dojo_kit.errors import InputError
from dojo_kit.palette import DARK, LIGHT
from dojo_kit.scoring.run import InMemory, ScoredRun

ROOT = Path(__file__).resolve().parent.parent
HOSTILE = "</svg><script>alert(1)</script>\x00"


@pytest.fixture(scope="module")
def scored() -> ScoredRun:
    """The first run of the sample."""
    path = sorted((ROOT / "data" / "runs").glob("extraction_*.json"))[0]
    return score_run(read_run(path), load_labels(ROOT / "data" / "labels.json"))


def _with_documents(scored: ScoredRun, scores: Any) -> ScoredRun:
    """Return a run whose documents have these scores."""
    documents = scored.documents.iloc[[0] * len(scores)].reset_index(drop=True)
    documents = documents.assign(document=[f"d{i}" for i in range(len(scores))], overall=scores)
    return replace(scored, source=InMemory({"documents": documents, "fields": scored.fields}))


def _families(n: int) -> pd.DataFrame:
    rows = [(f"family {i}", 20, i % 20, (i % 20) / 20, 0.0, 1.0, True) for i in range(n)]
    return pd.DataFrame(rows, columns=["short", "n", "missed", "rate", "lo", "hi", "ranked"])


def _rows(drawing: Drawing) -> int:
    return sum(len(rows) for rows in drawing.spec.get("datasets", {}).values())


def _data(chart: alt.LayerChart) -> pd.DataFrame:
    """Return the largest table a chart draws."""
    return pd.DataFrame(max(chart.to_dict()["datasets"].values(), key=len))


@pytest.mark.parametrize("n", [1, 2, 80, 81, 5_000])
def test_score_distribution_is_small_and_counts_all(scored: ScoredRun, n: int) -> None:
    """One document or 5,000: at most one mark a document, then 40 bars; every document is counted once."""
    chart = charts.score_distribution(_with_documents(scored, np.linspace(0, 1, n)))
    drawing, data = draw(chart), _data(chart)

    assert _rows(drawing) <= 100
    assert (len(data) if n <= 80 else data["n"].sum()) == n
    assert drawing.svgs("a")["wide"].startswith("<svg")
    assert re.search(r"document", drawing.title)


def test_score_distribution_states_median_mean_and_what_is_left_out(scored: ScoredRun) -> None:
    """The title holds the numbers; documents without a score are counted, not dropped silently."""
    drawing = draw(charts.score_distribution(_with_documents(scored, [0.2, 0.4, 0.9, None])))

    assert drawing.title.startswith("Half of 3 documents score 0.400 or more; the mean is 0.500 [")
    assert drawing.subtitle == "1 document without a score not shown"


def test_a_score_of_one_falls_into_the_last_bar(scored: ScoredRun) -> None:
    """Edges belong to the bar that begins there, but the last bar ends with 1."""
    data = _data(charts.score_distribution(_with_documents(scored, [0.6] * 50 + [1.0] * 40)))

    assert data[["from", "to", "n"]].values.tolist() == [[0.6, 0.625, 50], [0.975, 1.0, 40]]


def test_field_decomposition_adds_up(scored: ScoredRun) -> None:
    """The parts of every field add up to the documents; the weakest field is named and comes first."""
    chart = charts.field_decomposition(scored)
    data = _data(chart)
    n = len(scored.fields["document"].unique())
    worst = min((m.value, f) for f, m in ((f, scored.metrics()[f"{f}_score"]) for f in data["field"]) if m.n)

    assert (data.groupby("field")["n"].sum() == n).all()
    assert draw(chart).title.startswith(f"{worst[1]} scores lowest: {worst[0]:.3f} [")


def test_drift_keeps_the_order_and_says_what_it_does_not(scored: ScoredRun) -> None:
    """Runs stand in the order given; a run without the metric has a dash."""
    runs = {"b": _with_documents(scored, [0.2, 0.4]), "a": _with_documents(scored, [0.6, 0.6]), "c": scored}
    drawing = draw(charts.drift(runs))
    without = draw(charts.drift(runs, metric="key_obligations_spam"))

    assert "lies between 0.300 (b) and " in drawing.title
    assert "do not decide" in drawing.subtitle
    assert json.dumps(drawing.spec).index('"b"') < json.dumps(drawing.spec).index('"a"')
    assert without.title == "key_obligations_spam is not defined for any run"


@pytest.mark.parametrize("by", ["rate", "missed"])
def test_family_misses_agree_with_the_table(scored: ScoredRun, by: Any) -> None:
    """Counts in title, subtitle and rows are those of the table of families."""
    families = family_table(scored)
    drawing = draw(charts.family_misses(families, by=by))
    said = {row["says"] for rows in drawing.spec["datasets"].values() for row in rows if "says" in row}

    assert f"{families['missed'].sum():,} of {families['n'].sum():,} missed" in drawing.subtitle
    for row in families.itertuples():
        assert any(f"{row.short}" in text and f": {row.missed} of {row.n} missed" in text for text in said)
    assert f"grey: {(~families['ranked']).sum()} with" in drawing.subtitle or families["ranked"].all()


def test_many_families_are_cut_and_said_so() -> None:
    """186 families do not make 186 rows, and the reader learns how many there are."""
    drawing = draw(charts.family_misses(_families(186)))

    assert "first 45 of 186 families" in drawing.subtitle
    assert _rows(drawing) <= 50


@pytest.mark.parametrize("values", [[], [float("nan")], [0.0], [1.0] * 5_000])
def test_similarity_histogram_of_few_and_many(values: list[float]) -> None:
    """Nothing, one value and 5,000 equal ones are drawn or said."""
    drawing = draw(charts.similarity_histogram(values, threshold=0.6))

    assert drawing.svgs("a")["narrow"].startswith("<svg")
    assert _rows(drawing) < 60


def test_similarity_histogram_counts_zones_and_breaks_the_tallest_bar() -> None:
    """Bars are split where the threshold cuts them; one bar above 2.5 times the second is cut and its count printed."""
    values = [0.1] * 4 + [0.61] * 3 + [0.62] * 2 + [1.0] * 30 + [float("nan")]
    chart = charts.similarity_histogram(values, threshold=0.62)
    drawing, data = draw(chart), _data(chart)

    assert data["zone"].unique().tolist() == ["below 0.35: 4", "near, 0.35 to 0.62: 3", "0.62 or more: 32"]
    assert data[data["from"] == 0.6][["low", "high"]].values.tolist() == [[0, 3], [3, 5]]
    assert data["high"].max() == 1.25 * 5
    assert '"text": "30"' in json.dumps(drawing.spec)
    assert drawing.title == "32 of 39 labels reach 0.62 (82%)"
    assert drawing.subtitle == "1 label without any item not shown"


def test_impossible_arguments_are_named() -> None:
    """Thresholds the wrong way round and missing columns."""
    with pytest.raises(InputError, match=r"near is 0.7, threshold 0.6"):
        charts.similarity_histogram([0.5], threshold=0.6, near=0.7)
    with pytest.raises(InputError, match="no column 'rate'"):
        charts.family_misses(_families(3).drop(columns="rate"))


def test_nothing_to_show_says_so(scored: ScoredRun) -> None:
    """Empty results give a sentence, not an empty frame."""
    empty = replace(scored, source=InMemory({name: scored.frame(name).head(0) for name in ("documents", "fields")}))  # type: ignore[arg-type]
    for chart in (
        charts.score_distribution(empty),
        charts.field_decomposition(empty),
        charts.family_misses(_families(0)),
        charts.drift({}),
    ):
        assert draw(chart).title
        assert "<text" in draw(chart).svgs("a")["wide"]


def test_colours_follow_the_page_except_in_data_and_ramps() -> None:
    """Exact palette colours become variables; data and interpolated ranges stay."""
    ramp = {"type": "quantitative", "scale": {"range": [LIGHT["panel"], LIGHT["missed"]]}}
    spec = {
        "mark": {"color": LIGHT["missed"].upper()},
        "datasets": {"a": [{"x": LIGHT["missed"]}]},
        "encoding": {"color": ramp, "stroke": {"type": "nominal", "scale": {"range": [LIGHT["near"]]}}},
    }
    tokens = in_tokens(spec)

    assert tokens["mark"]["color"] == "var(--missed)"
    assert tokens["datasets"] == spec["datasets"]
    assert tokens["encoding"]["color"] == ramp
    assert tokens["encoding"]["stroke"]["scale"]["range"] == ["var(--near)"]


def test_pictures_hold_no_colour_of_one_theme(scored: ScoredRun) -> None:
    """Every colour of our charts is a variable, so that no theme is left out."""
    families = family_table(scored)
    for chart in (
        charts.family_misses(families),
        charts.family_misses(families, by="missed"),
        charts.field_decomposition(scored),
        charts.score_distribution(scored),
        charts.drift({"a": scored}),
        charts.similarity_histogram(scored.spans["best_similarity"], threshold=0.6),
    ):
        svg = draw(chart).svgs("a")["wide"]
        assert set(re.findall(r'(?:fill|stroke)="(.*?)"', svg)) <= {"none", "transparent"} | {
            f"var(--{name})" for name in LIGHT
        }


def test_both_themes_have_the_same_parts() -> None:
    """A theme is a matter of colours only."""
    light, dark = json.dumps(theme("light")), json.dumps(theme("dark"))

    assert re.sub(r"#\w{6}", "#", light) == re.sub(r"#\w{6}", "#", dark)
    assert DARK["ink"] in dark


def test_pictures_are_safe_and_hoverable() -> None:
    """Hostile text stays text, also characters no XML may hold; a mark says its sentence as a title."""
    families = _families(2).assign(short=[HOSTILE, "b"])
    svg = charts.markup(charts.family_misses(families, title=HOSTILE))

    assert "<script" not in svg
    assert "\x00" not in svg
    assert "<title>b: 1 of 20 missed, 5% [0%, 100%]</title>" in svg


def test_pictures_do_not_share_ids() -> None:
    """Clip paths of two charts on one page stay apart."""
    chart = alt.Chart(pd.DataFrame({"x": [1, 2]})).mark_bar(clip=True).encode(x="x:Q")
    one, two = (draw(chart).svgs(name)["only"] for name in ("one", "two"))

    assert set(re.findall(r'id="(.*?)"', one)).isdisjoint(re.findall(r'id="(.*?)"', two))
    assert set(re.findall(r"url\(#(.*?)\)", one)) == set(re.findall(r'id="(.*?)"', one))


def test_the_same_chart_is_the_same_drawing() -> None:
    """Names Altair counts through a session are counted anew; columns that look like them stay."""

    def interactive() -> Drawing:
        frame = pd.DataFrame({"param_7": [1, 2], "y": [3, 4]})
        pick = alt.selection_point()
        return draw(
            alt.Chart(frame)
            .mark_point()
            .encode(x="param_7:Q", y="y:Q", opacity=alt.condition(pick, alt.value(1), alt.value(0.2)))
            .add_params(pick)
        )

    one, two = interactive(), interactive()

    assert one.digest() == two.digest()
    assert one.spec["encoding"]["x"]["field"] == "param_7"


def test_the_notebook_renderer_is_stable_and_escaped(scored: ScoredRun) -> None:
    """The same chart is the same output; ids come from its content."""
    before = alt.renderers.active, alt.theme.active
    try:
        charts.enable()
        chart = charts.family_misses(family_table(scored), title=HOSTILE)
        bundles = [chart._repr_mimebundle_() for _ in range(2)]
    finally:
        alt.renderers.enable(before[0])
        alt.theme.enable(before[1])

    assert bundles[0] == bundles[1]
    html = bundles[0]["text/html"]
    assert html.count("<script>") == html.count("</script>") == 1
    assert "vega.github.io" not in html


def test_altair_charts_of_users_get_the_look_and_keep_their_own() -> None:
    """The house's configuration comes first, the chart's own wins."""
    chart = alt.Chart(pd.DataFrame({"x": [1]})).mark_bar(color="#abcdef").encode(x="x:Q")
    drawing = draw(chart.configure_axis(labelFontSize=17))

    assert drawing.spec["config"]["axis"]["labelFontSize"] == 17
    assert drawing.spec["config"]["axis"]["labelColor"] == "var(--ink-soft)"
    assert drawing.spec["mark"]["color"] == "#abcdef"
    assert draw_spec({"title": ["two", "lines"], "mark": "bar"}).title == "two lines"
