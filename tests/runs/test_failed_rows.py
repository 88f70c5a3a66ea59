"""What becomes of failed rows, what each task's rows hold, and both in the real runs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from run_records import FIELDS, USED, run_record

from dojo_kit.records import ChainedRow, ExtractionRow, LabelRow, Run
from dojo_kit.runs import read_run, run_from_record


def _row(task: str, **values: Any) -> Any:
    return run_from_record(run_record(task, {"filename": "a", "status": "completed", "error": None} | values)).rows[0]


# --- failures ----------------------------------------------------------------------------------------------

HONEST = {"doc_type": "contract", "contract_subtype": "ip", "expected_subtype": "ip", "confidence": 0.9}


@pytest.mark.parametrize(
    ("sorter", "tokens", "failed"),
    [
        ({"reasoning": "because"}, USED, False),
        ({"reasoning": "because"}, {}, False),  # a replay: an answer of its own, paid for earlier
        ({"reasoning": "because"}, {"prompt_tokens": 0, "completion_tokens": 0}, False),
        ({"reasoning": "error: Connection error.", "confidence": 0.0}, {}, True),
        ({"reasoning": "ERROR: down", "confidence": 0.9}, USED, True),
        ({"reasoning": "Error code: 403 - limit"}, USED, True),
        ({"reasoning": "Error while calling", "confidence": 0.0}, USED, True),
        ({"reasoning": "Error handling services are the core."}, USED, False),
        ({"reasoning": "Error handling services are the core."}, {}, False),
        ({"reasoning": "Errors and omissions insurance", "confidence": None}, USED, False),
        ({"reasoning": "", "confidence": 0.0}, {}, True),
        ({"reasoning": "", "confidence": 0.0}, USED, False),
        ({"reasoning": "", "confidence": 0.4}, {}, False),
        ({"contract_subtype": None, "doc_type": None}, USED, True),
    ],
)
def test_disguised_failures(sorter: dict[str, Any], tokens: dict[str, Any], failed: bool) -> None:
    row = _row("subtype_classification", sorter=HONEST | sorter, sorter_tokens=tokens)

    assert row.failed is failed
    assert (row.predicted is None) is failed
    assert row.expected == "ip"
    assert row.stored["sorter"]["expected_subtype"] == "ip"
    assert (row.usage is None) is (tokens is not USED)


@pytest.mark.parametrize(
    ("values", "failed"),
    [
        ({"predicted": FIELDS, "tokens": {}}, False),
        ({"predicted": {}, "tokens": {}}, True),
        ({"predicted": {"governing_law": None, "confidence": 0.9}, "tokens": {}}, True),
        ({"predicted": {}, "tokens": USED}, False),
        ({"predicted": {"reasoning": "error: timeout"}, "tokens": USED}, True),
        ({"predicted": None, "tokens": USED}, True),
        ({"tokens": USED}, False),
        ({"predicted": FIELDS, "tokens": USED, "error": "parse error"}, True),
        ({"predicted": FIELDS, "tokens": USED, "status": "error"}, True),
        ({"predicted": FIELDS, "tokens": USED, "tag": "ERROR!"}, True),
        ({"predicted": FIELDS, "tokens": USED, "status": "skipped"}, True),
        ({"predicted": ["a"], "tokens": USED}, False),
    ],
)
def test_failed_extractions(values: dict[str, Any], failed: bool) -> None:
    row = _row("contract_entity_extraction", **values)

    assert row.failed is failed
    assert not failed or (row.predicted is None and row.error)


def test_labels_of_each_task() -> None:
    nested = {
        "doc_type": "merger",
        "contract_subtype": "ip",
        "doc_subclass": "all_cash",
        "expected_doc_type": "contract",
        "expected_subtype": "license",
        "expected_subclass": "all_stock",
        "confidence": 0.5,
        "reasoning": "r",
    }
    found = {
        task: _row(task, sorter=nested)
        for task in ("docclass_classification", "subtype_classification", "sorter_classification")
    }

    assert {task: (row.predicted, row.expected) for task, row in found.items()} == {
        "docclass_classification": ("merger", "contract"),
        "subtype_classification": ("ip", "license"),
        "sorter_classification": ("merger", "contract"),
    }
    docclass = found["docclass_classification"]
    assert (docclass.predicted_subclass, docclass.expected_subclass) == ("all_cash", "all_stock")
    flat = _row("sorter_classification", predicted="contract", expected="contract", tokens=USED)
    assert (flat.predicted, flat.expected) == ("contract", "contract")
    fallback = _row("subtype_classification", sorter={"doc_type": "contract", "reasoning": "r", "confidence": 1})
    assert fallback.predicted == "contract"


def test_odd_model_output_is_noted_and_kept() -> None:
    rows = [
        {"filename": "a", "predicted": ["yes"], "expected": 1, "confidence": 95},
        {"filename": "b", "predicted": 1.0, "expected": True, "confidence": "0.5"},
    ]
    run = run_from_record(run_record("task_classification", *rows))

    assert [(row.predicted, row.expected, row.confidence) for row in run.rows if isinstance(row, LabelRow)] == [
        ("yes", "1", None),
        ("1", "true", 0.5),
    ]
    assert [problem.field for problem in run.problems] == ["results[0].predicted", "results[0].confidence"]


CHAIN = {"sorter": HONEST | {"reasoning": "r"}, "sorter_tokens": USED, "extractor_tokens": USED}


def test_chained_rows_keep_both_halves_apart() -> None:
    both = _row("chained_sorter_extractor", **CHAIN, extractor_scores={"predicted": FIELDS})
    assert isinstance(both, ChainedRow)
    assert (both.predicted, both.extracted, both.error, both.status) == ("ip", FIELDS, None, "completed")
    assert both.usage is not None
    assert both.usage.total_tokens == 30

    no_extraction = _row(
        "chained_sorter_extractor", **CHAIN | {"extractor_tokens": {}}, extractor_scores={"error": "too long"}
    )
    assert (no_extraction.predicted, no_extraction.extracted) == ("ip", None)
    assert (no_extraction.status, no_extraction.error) == ("completed", "extractor: too long")

    bad_sorter = CHAIN | {"sorter": HONEST | {"reasoning": "error: down", "confidence": 0.0}, "sorter_tokens": {}}
    no_label = _row("chained_sorter_extractor", **bad_sorter, extractor_scores={"predicted": FIELDS})
    assert (no_label.status, no_label.predicted, no_label.extracted) == ("failed", None, FIELDS)

    neither = _row("chained_sorter_extractor", **CHAIN, error="down", extractor_scores={"predicted": FIELDS})
    assert (neither.status, neither.predicted, neither.extracted) == ("failed", None, None)


@pytest.mark.parametrize(("predicted", "tokens", "failed"), [("", {}, True), ("", USED, False), ("text", {}, False)])
def test_questions_answered_with_nothing(predicted: str, tokens: dict[str, Any], failed: bool) -> None:
    row = _row("contracteval", id="c__Parties", label_spans=[], predicted=predicted, tokens=tokens)

    assert row.failed is failed
    assert (row.document, row.title, row.category) == ("c__Parties", "c", "Parties")


# --- real runs ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def real_runs(real_data: Path) -> dict[str, Run]:
    return {path.stem: read_run(path) for path in sorted((real_data / "runs").glob("*.json"))}


def test_all_real_runs_load(real_runs: dict[str, Run]) -> None:
    rows: Counter[str] = Counter()
    for run in real_runs.values():
        rows[run.meta.task] += len(run)

    assert len(real_runs) == 184
    assert rows == {
        "contract_entity_extraction": 1538,
        "subtype_classification": 16162,
        "docclass_classification": 2341,
        "chained_sorter_extractor": 80,
        "sorter_classification": 7,
        "task_classification": 756,
        "contracteval": 100,
    }
    assert not any(run.problems for run in real_runs.values())


def test_disguised_failures_of_the_real_runs(real_runs: dict[str, Run]) -> None:
    """42 rows say that they failed, 341 are stored as completed (analysis of the public runs)."""
    tasks = {"subtype_classification", "docclass_classification", "sorter_classification", "chained_sorter_extractor"}
    runs = {name: run for name, run in real_runs.items() if run.meta.task in tasks}
    told = sum(row.failed and row.stored["status"] != "completed" for run in runs.values() for row in run.rows)
    disguised = {
        name: count
        for name, run in runs.items()
        if (count := sum(row.failed and row.stored["status"] == "completed" for row in run.rows))
    }

    assert told == 42
    assert disguised == {"084": 243, "142": 93, "159": 1, "173": 1, "191": 1, "192": 1, "193": 1}


def test_replays_of_the_real_runs_are_no_failures(real_runs: dict[str, Run]) -> None:
    replays = {
        name: count
        for name, run in real_runs.items()
        if (count := sum(not row.failed and row.usage is None for row in run.rows))
    }

    assert replays == {"016": 139, "087": 5, "088": 5, "096": 1, "098": 94, "192": 508, "193": 508, "195": 332}


def test_failed_halves_and_missing_predictions_of_the_real_runs(real_runs: dict[str, Run]) -> None:
    chained = [row for run in real_runs.values() for row in run.rows if isinstance(row, ChainedRow)]
    half = [row for row in chained if row.extracted is None]
    assert len(half) == 2
    assert all(not row.failed and row.predicted == "development" for row in half)
    assert all(str(row.error).startswith("extractor: Could not parse") for row in half)

    for name in ("001", "002", "003", "004", "005"):
        rows = real_runs[name].rows
        assert all(isinstance(row, ExtractionRow) and row.predicted is None and not row.failed for row in rows)

    assert sum(row.failed for row in real_runs["081"].rows) == 292
