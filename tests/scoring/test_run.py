"""Scoring whole runs: frames, recipe, what is counted, and what does not change the result."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dojo_kit import InputError, Settings, diagnose, load, load_labels, read_run, save, score_document, score_run
from dojo_kit.records import DocumentLabels, ExpectedSpan, ExtractionRow, Labels, Run, RunMeta
from dojo_kit.schema import document_class
from dojo_kit.scoring.frames import COLUMNS, FRAME_NAMES

TYPES = document_class("contract").fields


def labels_of(documents: Mapping[str, Mapping[str, list[tuple[str, str]]]]) -> Labels:
    """Build labels from document -> field -> [(category, text)]."""
    return Labels(
        {
            name.lower(): DocumentLabels(
                name,
                {f: tuple(ExpectedSpan(text, category) for category, text in spans) for f, spans in fields.items()},
            )
            for name, fields in documents.items()
        },
        source="labels.jsonl",
    )


def run_of(answers: Mapping[str, Any]) -> Run:
    """Build a run from document -> answer; an exception stands for a failed call."""
    rows = [
        ExtractionRow(name, status="failed", error=str(answer))
        if isinstance(answer, Exception)
        else ExtractionRow(name, predicted=answer)
        for name, answer in answers.items()
    ]
    return Run(RunMeta("contract_entity_extraction", name="test"), tuple(rows), source="run.json")


LABELS = labels_of(
    {
        "A": {
            "document_name": [("Document Name", "License Agreement")],
            "effective_date": [("Agreement Date", "May 1, 2020"), ("Effective Date", "June 15, 2021")],
            "key_obligations": [
                ("Audit Rights", "Licensor may audit the books of Licensee once a year"),
                ("Audit Rights", "Licensee shall keep complete records of sales"),
                ("Insurance", "Licensee shall keep liability insurance in force"),
            ],
        },
        "B": {"document_name": [("Document Name", "Supply Agreement")]},
        "C": {"document_name": [("Document Name", "Lease")]},
        "D": {},
    }
)
ANSWERS = {
    "A": {
        "document_name": "License Agreement",
        "effective_date": "2021-06-15",
        "key_obligations": ["Licensor may audit the books of the Licensee once a year", "Licensee pays all taxes"],
        "contract_value": "$5",
    },
    "B": {"document_name": ["Supply Agreement"], "parties": "Acme"},
    "C": RuntimeError("timeout"),
    "D": {"document_name": "Memo"},
    "E": {"document_name": "Nowhere"},
}


@pytest.fixture(scope="module")
def scored() -> Any:
    return score_run(run_of(ANSWERS), LABELS)


def test_every_document_is_accounted_for(scored: Any) -> None:
    """Scored, failed, unlabelled and unexpected documents all have a row and a status."""
    status = dict(zip(scored.documents["document"], scored.documents["status"], strict=True))

    assert status == {"A": "scored", "B": "scored", "C": "failed", "D": "nothing_expected", "E": "no_labels"}
    assert scored.counts == {
        "n_documents": 5,
        "n_scored": 2,
        "n_failed": 1,
        "n_unmatched": 1,
        "n_nothing_expected": 1,
    }
    assert [str(problem) for problem in scored.problems if problem.document == "E"] == [
        "run.json, document 'E': no labels for this document; expected a label in labels.jsonl"
    ]


def test_overall_is_the_mean_over_expected_fields(scored: Any) -> None:
    """A: name 1, date 1 (any labelled date counts), obligations 1 of 3 labels; B: name 1."""
    overall = scored.documents.set_index("document")["overall"]

    assert overall["A"] == pytest.approx((1 + 1 + 1 / 3) / 3)
    assert overall["B"] == 1.0
    assert overall[["C", "D", "E"]].isna().all()


def test_metrics_say_what_failed(scored: Any) -> None:
    """The headline is over completed documents; beside it failed ones count as zero."""
    metrics = scored.metrics()
    overall = ((1 + 1 + 1 / 3) / 3 + 1) / 2

    assert metrics["overall_extraction_score"].value == pytest.approx(overall)
    assert metrics["overall_extraction_score_failed_as_zero"].value == pytest.approx(overall * 2 / 3)
    assert (metrics["overall_extraction_score"].n, metrics["overall_extraction_score_failed_as_zero"].n) == (2, 3)
    assert metrics["key_obligations_f1"] == metrics["key_obligations_score"]
    assert metrics["key_obligations_precision"].value == 0.5


def test_wrong_types_are_scored_and_reported(scored: Any) -> None:
    """A list for a scalar and a text for a list count, cost schema_valid, and are named."""
    document = scored.documents.set_index("document").loc["B"]
    fields = [problem.field for problem in scored.problems if problem.document == "B"]

    assert (document["overall"], document["schema_valid"]) == (1.0, 0.0)
    assert fields == ["document_name", "parties"]


def test_fields_carry_rule_values_and_reason(scored: Any) -> None:
    """Every field of the class has a row; unexpected ones are shown and not scored."""
    fields = scored.fields[scored.fields["document"] == "A"].set_index("field")

    assert list(fields.index) == list(TYPES)
    assert fields.loc["effective_date", "rule"] == "date.equal"
    assert fields.loc["effective_date", "category"] == "Effective Date"
    assert fields.loc["contract_value", "rule"] == "not_expected"
    assert np.isnan(fields.loc["contract_value", "score"])
    assert fields.loc["effective_date", "predicted_value"] == pd.Timestamp("2021-06-15").toordinal()


def test_spans_say_what_became_of_every_label(scored: Any) -> None:
    """Matched and missed labels, with the nearest item and how much of the label it covers."""
    spans = scored.spans.set_index("index")

    assert list(spans["status"]) == ["matched", "missed", "missed"]
    assert spans.loc[0, "matched_item"] == 0
    assert spans.loc[0, "label_coverage"] == 1.0
    assert spans.loc[2, "best_similarity"] < 0.35


def test_first_spans_mode_keeps_one_label_per_category() -> None:
    """`first` drops the second Audit Rights label, and holds the date to the first category with one."""
    scored = score_run(run_of(ANSWERS), LABELS, spans="first")
    fields = scored.fields[scored.fields["document"] == "A"].set_index("field")

    assert list(scored.spans["category"]) == ["Audit Rights", "Insurance"]
    assert (fields.loc["effective_date", "expected"], fields.loc["effective_date", "score"]) == ("May 1, 2020", 0.0)
    assert fields.loc["key_obligations", "score"] == 0.5


def test_frames_have_their_columns_and_types_even_when_empty() -> None:
    """A run without lists gives empty frames of the same types as a full one."""
    full = score_run(run_of(ANSWERS), LABELS)
    empty = score_run(run_of({"B": {}}), LABELS)
    for name in FRAME_NAMES:
        assert list(full.frame(name).columns) == list(COLUMNS[name])
        assert (full.frame(name).dtypes == empty.frame(name).dtypes).all()


def test_row_order_changes_nothing() -> None:
    """Rows in another order give the same frames and the same intervals."""
    forward, backward = (score_run(run_of(dict(a)), LABELS) for a in (ANSWERS.items(), reversed(ANSWERS.items())))
    for name in FRAME_NAMES:
        pd.testing.assert_frame_equal(forward.frame(name), backward.frame(name))
    assert forward.metrics() == backward.metrics()


@pytest.mark.parametrize("executor", [lambda: ThreadPoolExecutor(2), lambda: ProcessPoolExecutor(2)])
def test_executor_changes_nothing(executor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks scored in threads or processes give what one process gives."""
    monkeypatch.setattr("dojo_kit.scoring.plan.CHUNK", 1)
    alone, spread = score_run(run_of(ANSWERS), LABELS), score_run(run_of(ANSWERS), LABELS, executor=executor)
    for name in FRAME_NAMES:
        pd.testing.assert_frame_equal(alone.frame(name), spread.frame(name))


def test_progress_counts_every_document() -> None:
    """The callback hears of documents that need no scoring first, and ends at all."""
    heard: list[tuple[int, int]] = []
    score_run(run_of(ANSWERS), LABELS, progress=lambda done, total: heard.append((done, total)))

    assert heard == [(2, 5), (5, 5)]


def test_save_and_load_give_back_the_same(scored: Any, tmp_path: Path) -> None:
    """Frames, recipe, problems and metrics survive the disk; columns can be read alone."""
    again = load(save(scored, tmp_path / "run"))

    for name in FRAME_NAMES:
        pd.testing.assert_frame_equal(again.frame(name), scored.frame(name))
    assert (again.recipe, again.problems) == (scored.recipe, scored.problems)
    assert again.metrics() == scored.metrics()
    assert list(again.frame("fields", ["document", "score"]).columns) == ["document", "score"]


def test_saved_bytes_are_reproducible(scored: Any, tmp_path: Path) -> None:
    """Saving twice writes the same bytes."""
    one, two = save(scored, tmp_path / "one"), save(scored, tmp_path / "two")

    assert {p.name: p.read_bytes() for p in one.iterdir()} == {p.name: p.read_bytes() for p in two.iterdir()}


def test_loading_what_is_no_scored_run(tmp_path: Path) -> None:
    """A folder without a recipe, and one with another JSON, are named."""
    with pytest.raises(InputError, match="no scored run here"):
        load(tmp_path)
    (tmp_path / "recipe.json").write_text("{}")
    with pytest.raises(InputError, match="not the recipe of a scored run"):
        load(tmp_path)


def test_recipe_tells_comparable_runs_apart() -> None:
    """Another threshold, spans mode or surface is named; another seed is not."""
    base = score_run(run_of(ANSWERS), LABELS).recipe
    seed = Settings().override({"statistics.seed": 7})
    threshold = Settings().override({"field_scoring.match_threshold": 0.7})

    assert base.differences(score_run(run_of(ANSWERS), LABELS, settings=seed).recipe) == {}
    assert set(base.differences(score_run(run_of(ANSWERS), LABELS, settings=threshold).recipe)) == {"settings"}
    assert set(base.differences(score_run(run_of(ANSWERS), LABELS, spans="first").recipe)) == {"spans"}
    smaller = score_run(run_of({"A": {}}), LABELS).recipe
    assert set(base.differences(smaller)) == {"surface", "labels"}


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({}, "the run has no rows"),
        ({"X": {"parties": []}}, r"the run names 'X', the labels 'A'"),
        ({"A": None}, "no row stores what the model returned"),
        ({"A": {}, "a.pdf": {}}, "two rows for one document: 'A' and 'a.pdf'"),
    ],
)
def test_runs_that_cannot_be_scored(answers: dict[str, Any], message: str) -> None:
    """Each says what is wrong with it."""
    with pytest.raises(InputError, match=message):
        score_run(run_of(answers), LABELS)


def test_labels_of_ones_own_schema() -> None:
    """Fields no class declares are scored by the words of their names."""
    labels = labels_of(
        {"A": {"invoice_number": [("", "PA-100")], "total_amount": [("", "$5.00")], "due_date": [("", "1 May 2020")]}}
    )
    scored = score_run(run_of({"A": {"invoice_number": "PA 100", "total_amount": 5, "due_date": "2020-05-01"}}), labels)

    assert dict(zip(scored.fields["field"], scored.fields["rule"], strict=True)) == {
        "due_date": "date.equal",
        "invoice_number": "id.key",
        "total_amount": "money.equal",
    }


@pytest.mark.parametrize("answer", [None, [], "text", 3, {"key_obligations": {"a": 1}}, {"parties": [None, {}, 7]}])
def test_any_json_is_scored(answer: Any) -> None:
    """Whatever a model returns, the document gets a score and a word on what was wrong."""
    result = score_document(answer, LABELS.documents["a"], TYPES, document="A", settings=Settings())

    assert result.document[2] == 0.0
    assert result.problems


def test_diagnostics_of_a_small_run(scored: Any) -> None:
    """Counts and rates by hand: 4 scored fields, 3 exact, 1 partial; 2 items on 3 labels, one match."""
    found = diagnose(scored)

    assert (found["n_fields_scored"], found["field_exact_rate"].value, found["field_miss_rate"].value) == (4, 0.75, 0.0)
    assert found["field_partial_rate"].value == 0.25
    assert (found["list_micro_precision"].value, found["list_micro_recall"].value) == (0.5, 1 / 3)
    assert found["list_micro_f1"].value == pytest.approx(0.4)
    assert (found["span_count_mae"].value, found["span_count_signed_mean"].value) == (1.0, -1.0)
    assert found["field_presence_per_field"]["parties"].value == pytest.approx(1 / 3)
    assert (found["date_n_pairs"], found["date_mae_days"].value, found["date_r2"].value) == (1, 0.0, None)


def test_published_run_agrees_with_its_stored_scores(real_data: Path) -> None:
    """Run 081: every stored n_expected, and at least 95 % of the scalar scores within 0.002.

    The stored scores were made against labels whose first span sometimes differs from the table's; that, and
    dates in forms the published parser could not read, is the rest.
    """
    run = read_run(real_data / "runs" / "081.json")
    scored = score_run(run, load_labels(f"cuad:{real_data / 'cuad'}"), spans="first")
    stored = {row.document: row.stored for row in run.rows}
    fields = scored.fields[scored.fields["score"].notna()]
    lists = fields[fields["type"].str.startswith("entity_list")]
    scalars = fields[~fields["type"].str.startswith("entity_list")]
    n_stored = [
        stored[d]["entity_list_scores"][f]["n_expected"] for d, f in zip(lists["document"], lists["field"], strict=True)
    ]
    scores = [stored[d]["field_scores"][f] for d, f in zip(scalars["document"], scalars["field"], strict=True)]

    assert (len(lists), n_stored) == (485, list(lists["n_expected"]))
    assert len(scalars) == 851
    assert np.mean(np.abs(scalars["score"] - scores) <= 0.002) >= 0.95


def test_runs_without_stored_answers_say_so(real_data: Path) -> None:
    """Runs 001-005 kept scores only: there is nothing to score again."""
    with pytest.raises(InputError, match="no row stores what the model returned"):
        score_run(read_run(real_data / "runs" / "001.json"), load_labels(f"cuad:{real_data / 'cuad'}"))
