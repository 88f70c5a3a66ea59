"""The page and the charts of scored labels: what they say, and that texts from outside stay texts."""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dojo_kit.charts.drawing import draw
from dojo_kit.charts.rag import metric_intervals, query_spread, spread_finding
from dojo_kit.rag.scorecard import score_rag
from dojo_kit.rag.tasks import TASKS
from dojo_kit.runs.rag_evaluation import Evaluation, evaluate
from dojo_kit.runs.rag_files import read_label_texts
from dojo_kit.runs.rag_settings import eval_settings
from dojo_kit.samples import sample_data
from dojo_kit.views.rag import (
    TERMS,
    WORDS,
    count_sentences,
    explained,
    metric_rows,
    says_scores,
    unit_rows,
    worst_queries,
)
from dojo_widgets.rag_findings import rag_page

LENIENT = {"tie": "drop", "on_incomplete": "skip", "on_violation": "as_is"}


def scored(task: str = "retrieval", **given: Any) -> Evaluation:
    base = str(sample_data() / "rag")
    return evaluate(eval_settings({"task": task, "base_dir": base, "system": "lexical-1", **LENIENT, **given}))


@pytest.mark.parametrize("task", ["retrieval", "grounding", "generation"])
def test_page_of_every_task(task: str) -> None:
    found = scored(task)
    html = rag_page(found, command="dojo eval score").html()
    assert f"<h1>{says_scores(found.card)}</h1>".replace("'", "&#39;") in html
    for row in metric_rows(found.card):
        assert f"{row['value']} {row['interval']}" in html
    assert "they do not cover label errors" in html
    assert str(found.source.path.parent) not in html, "a page does not say where files are kept"
    assert found.table.sha256 in html
    assert rag_page(found, command="dojo eval score").html() == html


def test_worst_queries_come_with_their_chunks() -> None:
    found = scored()
    worst = worst_queries(found.card, 3)
    assert worst["goodness"].is_monotonic_increasing
    assert worst["record_uuid"].iloc[0] == "q24"
    texts = read_label_texts(found.source.path, "retrieval", ["007"], system="lexical-1")
    rows = unit_rows(found.card, "007", texts)
    assert [row["rank"] for row in rows] == [1, 2, 3, 4]
    assert rows[0]["labels"] == ["relevant", "misleading"]
    assert all(row["text"] for row in rows)
    html = rag_page(found).html()
    assert "Nothing was retrieved." in html
    assert "The 8 queries that come off worst" in html


def test_hostile_texts_stay_texts(tmp_path: Path) -> None:
    evil = "</script><img src=x onerror=alert(1)>"
    rows = {
        "record_uuid": [evil, "q2"],
        "chunk_id": [evil, "c"],
        "chunk_rank": 1,
        "query": [evil, "=1+1"],
        "chunk": [f"{evil} " * 40, ""],
        "topically_relevant": [0, 1],
        "evidence_sufficient": 0,
        "misleading": 0,
        "system_id": "<b>s</b>",
    }
    pd.DataFrame(rows).to_csv(tmp_path / "evil.csv", index=False)
    found = evaluate(eval_settings({"task": "retrieval", "path": str(tmp_path / "evil.csv")}))
    html = rag_page(found).html()
    assert "<img" not in html
    assert "<b>s" not in html
    assert "&lt;img src=x onerror=alert(1)&gt;" in html


def test_a_file_without_texts_has_a_page(tmp_path: Path) -> None:
    columns = "record_uuid,chunk_id,chunk_rank,topically_relevant,evidence_sufficient,misleading"
    (tmp_path / "bare.csv").write_text(f"{columns}\nq1,c1,1,1,1,0\nq2,c1,1,0,0,0\n")
    html = rag_page(evaluate(eval_settings({"task": "retrieval", "path": str(tmp_path / "bare.csv")}))).html()
    assert "q2" in html
    (tmp_path / "g.csv").write_text(
        "record_uuid,proper_action,response_on_topic,helpful,incomplete,unsafe_content\nn1,1,1,1,0,0\n"
    )
    assert "n1" in rag_page(evaluate(eval_settings({"task": "generation", "path": str(tmp_path / "g.csv")}))).html()


def test_bounds_groups_and_model_labels_on_the_page() -> None:
    bounds = rag_page(scored(on_incomplete="bounds")).html()
    assert "What missing labels could change" in bounds
    assert "0.250 to 0.375" in bounds
    assert "design effect" in rag_page(scored("grounding", group_by="document")).html()
    model = rag_page(scored(prediction_id="evaluator-small-1", system=None)).html()
    assert "A model made the labels" in model
    assert model.count("by model") >= 7


def test_charts_show_every_metric_and_are_the_same_again() -> None:
    for on_incomplete in ("skip", "bounds"):
        card = scored(on_incomplete=on_incomplete).card
        for chart in (metric_intervals, query_spread):
            drawing = draw(chart(card))
            text = json.dumps(drawing.spec)
            assert all(WORDS[name][0] in text for name in card.metrics)
            assert drawing.digest() == draw(chart(card)).digest()
    assert "14 of 20 queries have the worst value in sufficiency hit" in spread_finding(scored().card)


def test_nothing_worst_and_nothing_defined() -> None:
    rows = pd.DataFrame({"record_uuid": ["a"], "support_present": 1, "unsupported_claim_present": 0})
    rows = rows.assign(contradicted_claim_present=0, source_cited=0, fabricated_source=0)
    card = score_rag(rows, "grounding")
    assert draw(metric_intervals(card)).title.startswith("grounding: 1 of 1 answer is grounded (1.000 [")
    assert "have the worst value in citations" in spread_finding(card)
    undefined = next(row for row in metric_rows(card) if row["metric"] == "conditional_fabrication_rate")
    assert (undefined["value"], undefined["interval"]) == ("\N{EN DASH}", "")
    assert "no answer cites a source" in undefined["says"]
    assert count_sentences(card) == ["1 row, 1 judged"]


def test_headlines_count_shares() -> None:
    assert says_scores(scored().card) == (
        "lexical-1: 6 of 20 queries find sufficient evidence (0.300 [0.145, 0.519]), 0.787 [0.650, 0.900] of a query's "
        "chunks mislead"
    )
    assert "11 of 24 answers are grounded (0.458 [0.279, 0.649])" in says_scores(scored("grounding").card)
    bounds = says_scores(scored(on_incomplete="bounds").card)
    assert bounds.startswith("lexical-1: 6 to 9 of 24 queries find sufficient evidence (0.250 to 0.375), ")


def test_flags_and_terms_are_explained_where_they_occur() -> None:
    html = rag_page(scored()).html()
    assert TERMS["skewed"] in html
    assert "NDCG compares the order" in html
    assert "dissent: the annotators did not all agree" in html
    assert "ICC: how alike" not in html
    grouped = scored("grounding", group_by="document").card
    assert any(says.startswith("n &lt; 20: fewer than 20 groups") for says in map(escape, explained(grouped)))
    assert any(says.startswith("ICC: how alike") for says in explained(grouped))
    for flag in {flag for card in (scored().card, grouped) for one in card.metrics.values() for flag in one.flags}:
        assert flag in TERMS


def test_undefined_values_say_why_in_sight(tmp_path: Path) -> None:
    columns = "record_uuid,support_present,unsupported_claim_present,contradicted_claim_present,source_cited"
    (tmp_path / "g.csv").write_text(f"{columns},fabricated_source,answer,context_set\ng1,1,0,0,0,0,,a [CTX_SEP] b\n")
    html = rag_page(evaluate(eval_settings({"task": "grounding", "path": str(tmp_path / "g.csv")}))).html()
    assert "lower is better; no answer cites a source</td>" in html
    assert "(empty answer)" in html
    assert "a | b" in html
    assert "CTX_SEP" not in html


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_page_shows_the_texts_of_its_own_run(tmp_path: Path, kind: str) -> None:
    labels = dict.fromkeys(TASKS["generation"].labels, 1)
    rows = pd.DataFrame({"record_uuid": 5, "run_id": [1, 2], "query": "asked", "answer": ["first", "second"], **labels})
    path = tmp_path / f"runs.{kind}"
    rows.to_csv(path, index=False) if kind == "csv" else rows.to_parquet(path)
    html = rag_page(evaluate(eval_settings({"task": "generation", "path": str(path), "run": "2"}))).html()
    assert "second" in html
    assert "first<" not in html


def test_values_of_single_queries_under_bounds_show_both_ends() -> None:
    found = scored(on_incomplete="bounds")
    html = rag_page(found, worst=24).html()
    worst = worst_queries(found.card, 24)
    open_row = worst[worst["topical_precision_at_k_min"] != worst["topical_precision_at_k_max"]].iloc[0]
    low, high = (open_row[f"topical_precision_at_k_{end}"] for end in ("min", "max"))
    assert f"topical precision {low:.2f} to {high:.2f}" in html
    assert "midway between the least and the greatest value" in html
    assert "the middle of what" in json.dumps(draw(query_spread(found.card)).subtitle)


def test_ranks_are_whole_numbers_and_chunks_share_one_table() -> None:
    html = rag_page(scored()).html()
    assert '<td class="n">1</td>' in html
    assert "1.000</td><td" not in html.split("Their chunks")[1]
    assert html.split("Their chunks")[1].count("<table>") <= 2, "one of chunks, one of broken rules"


def test_the_plot_keeps_its_width_on_narrow_pages() -> None:
    """Axis from 0 to 1 at the width at which charts are drawn for narrow pages."""
    for on_incomplete in ("skip", "bounds"):
        svg = draw(metric_intervals(scored(on_incomplete=on_incomplete).card)).svgs("x")["narrow"]
        grid = svg[svg.index("role-axis-grid") :].partition("</g>")[0]
        lines = [float(x) for x in re.findall(r"translate\(([\d.]+),", grid)]
        assert max(lines) - min(lines) >= 180


def test_a_chart_without_intervals_still_shows_values() -> None:
    rows = pd.DataFrame(
        {"record_uuid": ["a", "b"], "doc": "d", **{name: [1, 0] for name in TASKS["generation"].labels}}
    )
    drawing = draw(metric_intervals(score_rag(rows, "generation", group_by="doc")))
    assert "No metric is defined" not in json.dumps(drawing.spec)
