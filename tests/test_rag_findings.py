"""The page and the charts of scored labels: what they say, and that texts from outside stay texts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dojo_kit.charts.drawing import draw
from dojo_kit.charts.rag import metric_intervals, query_spread, spread_finding
from dojo_kit.rag.scorecard import score_rag
from dojo_kit.runs.rag_evaluation import Evaluation, evaluate
from dojo_kit.runs.rag_files import read_label_texts
from dojo_kit.runs.rag_settings import eval_settings
from dojo_kit.samples import sample_data
from dojo_kit.views.rag import WORDS, count_sentences, metric_rows, says_scores, unit_rows, worst_queries
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
    assert draw(metric_intervals(card)).title.startswith("grounding: 1.000")
    assert "have the worst value in citations" in spread_finding(card)
    undefined = next(row for row in metric_rows(card) if row["metric"] == "conditional_fabrication_rate")
    assert (undefined["value"], undefined["interval"]) == ("\N{EN DASH}", "")
    assert "no answer cites a source" in undefined["says"]
    assert count_sentences(card) == ["1 row, 1 judged"]
