"""The grid's data agree with the frames; a cell's detail says what it rests on, within a page's means."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dojo_kit import score_run
from dojo_kit.errors import InputError
from dojo_kit.formats import short_documents
from dojo_kit.runs import load_labels, read_run, run_from_record
from dojo_kit.scoring.run import ScoredRun
from dojo_widgets import cell_details
from dojo_widgets.cell_details import CellDetails, cell_id, fair_share, rule_says
from dojo_widgets.field_grid import FieldGrid, grid_data

RENT = "pay the rent on time"
LABELS: list[dict[str, Any]] = [
    {"document": "Acme", "fields": {"governing_law": "laws of Ohio", "key_obligations": [RENT, "keep quiet"]}},
    {"document": "Beta", "fields": {"governing_law": "laws of Utah", "effective_date": "May 8, 2014"}},
    {"document": "Failed", "fields": {"governing_law": "laws of Iowa"}},
    {"document": "Silent", "fields": {}},
]  # fmt: skip
ROWS: list[dict[str, Any]] = [
    {"filename": "Acme", "predicted": {"governing_law": "laws of Ohio", "key_obligations": [RENT, "eat"]}},
    {"filename": "Beta", "predicted": {"governing_law": "", "effective_date": "2014-05-20"}},
    {"filename": "Failed", "status": "failed", "error": "timeout </script>"},
    {"filename": "Silent", "predicted": {"governing_law": "laws of Rome"}},
    {"filename": "Stranger", "predicted": {"governing_law": "laws of Oz"}},
]  # fmt: skip


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> ScoredRun:
    """Five documents, of which two have scores."""
    path = tmp_path_factory.mktemp("labels") / "labels.jsonl"
    path.write_text("\n".join(map(json.dumps, LABELS)))
    return score_run(run_from_record({"results": ROWS}), load_labels(path))


@pytest.fixture
def grid(scored: ScoredRun) -> FieldGrid:
    return FieldGrid(scored)


def test_scores_are_those_of_the_frame(scored: ScoredRun, grid: FieldGrid) -> None:
    """Every number is the frame's; what is undefined is None, never 0."""
    fields = [one["name"] for one in grid.data["fields"]]
    frame = scored.fields.pivot(index="document", columns="field", values="score")
    for document in grid.data["documents"]:
        for field, score in zip(fields, document["scores"], strict=True):
            value = frame.loc[document["name"], field]
            assert score == (None if value != value else pytest.approx(value, abs=1e-6))
    assert [one["name"] for one in grid.data["documents"]] == ["Acme", "Beta"]
    json.dumps(grid.data, allow_nan=False)


def test_means_are_those_of_the_run(scored: ScoredRun, grid: FieldGrid) -> None:
    metrics = scored.metrics()
    for field in grid.data["fields"]:
        assert field["mean"] == metrics[f"{field['name']}_score"].as_dict()
    assert grid.data["overall"] == metrics["overall_extraction_score"].as_dict()


def test_documents_without_scores_stand_apart_with_the_reason(grid: FieldGrid) -> None:
    found = {one["name"]: (one["status"], one["why"]) for one in grid.data["apart"]}
    assert found["Failed"] == ("failed", "timeout </script>")
    assert found["Stranger"][0] == "no labels"
    assert found["Silent"][0] == "nothing expected"
    assert "1 failed document" in " ".join(grid.data["notes"])


def test_the_finding_names_the_field_with_the_lowest_mean(grid: FieldGrid) -> None:
    assert grid.data["lowest"] == "governing_law"
    assert grid.data["finding"].startswith("Governing law scores lowest: 0.500 [")


def test_selecting_a_cell_brings_its_detail(grid: FieldGrid) -> None:
    grid.cell = ""
    assert grid.detail == {}
    grid.cell = "beta:effective_date"
    assert grid.detail["rule"] == "date.same_month"
    assert grid.detail["says"] == "two full dates of the same year and month"
    assert grid.detail["predicted"] == {"n": 1, "values": [{"text": "2014-05-20"}]}
    assert grid.detail["score"] == 0.67
    grid.cell = "beta:"
    assert grid.detail == {}
    grid.cell = "nobody:effective_date"
    assert grid.detail == {}


def test_the_cell_where_most_is_lost_is_selected_first(scored: ScoredRun, grid: FieldGrid) -> None:
    """Of the document with the lowest mean; of a field when one is named; a named document alone is its whole row."""
    assert (grid.cell, grid.detail["cell"]) == ("beta:governing_law", "beta:governing_law")
    assert FieldGrid(scored, field="key_obligations").cell == "acme:key_obligations"
    assert FieldGrid(scored, document="Acme").cell == "acme:"


def test_a_list_says_what_became_of_every_label_and_item(scored: ScoredRun) -> None:
    detail = FieldGrid(scored, document="acme.PDF", field="key_obligations").detail
    assert detail["says"] == "1 of 2 labels found; further items cost nothing, because the labels are a sample"
    assert detail["predicted"]["values"] == [{"text": "pay the rent on time", "mark": "label 1"}, {"text": "eat"}]
    first, second = detail["expected"]["values"]
    assert first["mark"] == "matched"
    assert second["mark"].startswith("missed ")


def test_what_was_not_expected_says_so(grid: FieldGrid) -> None:
    grid.cell = "acme:effective_date"
    assert (grid.detail["score"], grid.detail["expected"]["n"]) == (None, 0)
    assert grid.detail["says"].startswith("nothing is expected")


def test_a_page_has_every_cell_with_its_whole_values_when_they_fit(scored: ScoredRun, grid: FieldGrid) -> None:
    (table,) = grid.precomputed()
    assert (table.source, table.target) == ("cell", "detail")
    assert table.values[""] == {}
    for cell, detail in table.values.items():
        grid.cell = cell
        assert detail == grid.detail
    assert len(table.values) == len(scored.fields) + 1


def test_a_page_cuts_long_values_and_says_how_long_they_are(scored: ScoredRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cell_details, "PAGE_CHARACTERS", 100)
    monkeypatch.setattr(cell_details, "LEAST_CHARACTERS", 5)
    page = CellDetails(scored).for_page()
    cut = page["acme:key_obligations"]["expected"]
    assert cut["n"] == 2
    assert cut["values"][0]["length"] == len("pay the rent on time")
    shown = sum(
        len(one["text"])
        for detail in page.values()
        for side in ("predicted", "expected")
        for one in detail[side]["values"]
    )
    assert shown <= 100  # fmt: skip


def test_a_page_keeps_the_lowest_scores_when_there_are_too_many_cells(
    scored: ScoredRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cell_details, "PAGE_CELLS", 2)
    assert list(CellDetails(scored).for_page()) == ["beta:governing_law", "acme:key_obligations"]


def test_every_rule_of_a_list_is_worded() -> None:
    counts = {"type": "entity_list", "n_matched_labels": 1, "n_expected": 2, "n_matched_items": 1, "n_predicted": 1}
    row = {**counts, "precision": 1.0, "recall": 0.5}
    assert rule_says({**row, "rule": "list.f1"}) == (
        "1 of 2 labels found, 1 of 1 item match a label: F1 of precision 1.000 and recall 0.500"
    )
    assert rule_says({**row, "rule": "list.both_empty"}) == "nothing is expected and nothing was returned"
    assert rule_says({**row, "rule": "list.expected_empty"}) == "items were returned although nothing is expected"
    assert rule_says({"type": "name", "rule": "rescue.embedding", "string_score": 0.4}).startswith(
        "the words alone gave 0.400"
    )
    assert rule_says({"type": "name", "rule": "name.new_rule"}) == "name: new rule"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"document": "Acne", "field": "governing_law"}, "no document 'acne' .did you mean 'acme'"),
        ({"document": "Acme", "field": "law"}, "no field 'law'"),
        ({"sort": "-governing_lav"}, "no order 'governing_lav' .did you mean 'governing_law'"),
    ],
)
def test_unknown_names_are_refused(scored: ScoredRun, arguments: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        FieldGrid(scored, **arguments)


def test_ids_are_those_of_spans() -> None:
    assert cell_id("GOOSE, Inc_2018.pdf", "a:b") == "gooseinc2018:a:b"


def test_names_in_a_list_are_distinct() -> None:
    long = "SOUPMANINC_08_14_2015-EX-10.1-{} AGREEMENT"
    names = [long.format("LICENSE"), long.format("SUPPLY"), long.format("SUPPLY") + " ", "Soupman", "Soupman"]
    assert short_documents(names) == [
        "Soupmaninc 2015, License Agreement",
        "Soupmaninc 2015, Supply Agreement (1)",
        "Soupmaninc 2015, Supply Agreement (2)",
        "Soupman (1)",
        "Soupman (2)",
    ]


@pytest.mark.parametrize("sizes", [[], [3], [5, 5, 5], [1, 1000, 1000], [10**6]])
def test_a_fair_share_keeps_to_the_total(sizes: list[int]) -> None:
    share = fair_share(sizes, 500)
    assert sum(min(size, share) for size in sizes) <= 500
    assert share >= max(sizes, default=0) or share * sum(size > share for size in sizes) > 500 - sum(sizes) - len(sizes)


def test_real_runs_stay_small(real_data: Path) -> None:
    """509 documents: every name is distinct, and the details of a page hold about as much as was promised."""
    labels = load_labels(f"cuad:{real_data / 'cuad'}")
    scored = score_run(read_run(real_data / "runs" / "081.json"), labels, spans="first")
    data = grid_data(scored)
    assert (len(data["documents"]), len(data["apart"])) == (217, 292)
    assert len({one["short"] for one in (*data["documents"], *data["apart"])}) == 509
    assert len(json.dumps(data)) < 250_000
    page = CellDetails(scored).for_page()
    assert len(page) == len(scored.fields)
    assert len(json.dumps(page, ensure_ascii=False)) < 2_000_000
