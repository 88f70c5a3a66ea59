"""Modes of failure: told row by row, counted, and found where the sample runs planted them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from task_records import disguised_row, failed_row, record, sorted_row

from dojo_kit.analysis.failures import disguised_failures, failure_table, label_accuracy, list_failures
from dojo_kit.errors import InputError
from dojo_kit.runs import read_run
from dojo_kit.tasks.failure_modes import classify_docclass_failure, classify_failure, family_mode, label_mode
from dojo_kit.tasks.score import score_task, score_task_run

ROOT = Path(__file__).parents[2]
GOLDEN = json.loads((ROOT / "tests" / "golden" / "scoring.json").read_text(encoding="utf-8"))
PLANTED = json.loads((ROOT / "data" / "manifest.json").read_text(encoding="utf-8"))["faults"]


@pytest.mark.parametrize("vector", [v for v in GOLDEN if v["area"] == "failure_modes"], ids=lambda v: v["expected"])
def test_golden_modes(vector: dict[str, Any]) -> None:
    assert classify_failure(*vector["args"]) == vector["expected"]


@pytest.mark.parametrize(
    ("sorter", "mode"),
    [
        ({"doc_type_ok": False, "subclass_ok": True}, "doc_type_miss"),
        ({"doc_type_ok": True, "subclass_ok": False}, "subclass_miss"),
        ({"doc_type_ok": True, "subclass_ok": True}, None),
        ({"doc_type_ok": True, "subclass_ok": None}, None),
    ],
)
def test_modes_of_class_and_subclass(sorter: dict[str, Any], mode: str | None) -> None:
    assert classify_docclass_failure(sorter) == mode


def test_an_answer_without_label_fell_back_to_other() -> None:
    assert family_mode(in_class=True, right=False, predicted=None, equivalent=False) == "other_fallback"
    assert label_mode(right=False, predicted=None) == "no_label"


def run_of_seven() -> Any:
    return record(
        "subtype_classification",
        [
            sorted_row("a", "ip", "ip"),
            sorted_row("b", "reseller", "distributor"),
            sorted_row("c", "ip", "license"),
            sorted_row("d", "ip", "license", confidence=0.4),
            sorted_row("e", "ip", "other", doc_type="correspondence"),
            failed_row("f", "ip"),
            disguised_row("g", "reseller"),
        ],
    )


def test_failure_table_counts_every_mode() -> None:
    table = failure_table(score_task_run(run_of_seven())).set_index("mode")

    assert table["n"].to_dict() == {
        "function_over_form": 1,
        "other_fallback": 0,
        "equivalent_family": 1,
        "family_confusion": 2,
        "no_answer": 2,
    }
    assert table.loc["family_confusion", ["rate", "share"]].tolist() == [2 / 5, 2 / 4]  # of 5 answers, of 4 wrong ones
    assert table.loc["no_answer", "rate"] == pytest.approx(2 / 7)  # of all rows
    assert (table["lo"] <= table["rate"]).all()
    assert (table["rate"] <= table["hi"]).all()


def test_accuracy_by_family() -> None:
    table = label_accuracy(score_task_run(run_of_seven())).set_index("label")

    assert table.loc["reseller", ["n", "failed", "correct", "correct_equiv"]].tolist() == [1, 1, 0, 1]
    assert table.loc["ip", ["n", "failed", "correct", "accuracy"]].tolist() == [4, 1, 1, 0.25]
    assert table.loc["ip", "mistaken_for"] == "license"
    assert table.loc["ip", "name"] == "IP Agreement"
    assert table.index.tolist() == ["reseller", "ip"]  # the worst first


def test_accuracy_by_class_and_subclass() -> None:
    scores = score_task(
        "docclass",
        ["merger_agreement", "contract"],
        ["merger_agreement", "contract"],
        expected_subclass=["mixed_cash_stock", None],
        predicted_subclass=["mixed_cash_stock_election", None],
    )

    classes, subclasses = label_accuracy(scores), label_accuracy(scores, level="subclass")

    assert classes["accuracy"].tolist() == [1.0, 1.0]  # the class alone, whatever the subclass
    assert subclasses[["accuracy", "accuracy_equiv"]].values.tolist() == [[0.0, 1.0]]
    with pytest.raises(InputError, match="task 'subtype' has no level 'subclass'"):
        label_accuracy(score_task("subtype", ["ip"], ["ip"]), level="subclass")


def test_failures_carry_reasons() -> None:
    scores = score_task_run(run_of_seven())

    everything, confused = list_failures(scores), list_failures(scores, mode="family_confusion")

    assert everything["document"].tolist() == list("bcdefg")
    assert confused[["document", "confidence", "reasoning"]].values.tolist() == [
        ["c", 0.9, "why license"],
        ["d", 0.4, "why license"],
    ]
    assert list_failures(scores, mode="no_answer")["error"].tolist() == ["timeout", "error: Connection error."]
    with pytest.raises(InputError, match=r"unknown mode 'family_confusions' \(did you mean 'family_confusion'\?\)"):
        list_failures(scores, mode="family_confusions")


def test_disguised_failures_are_told_from_open_ones() -> None:
    assert disguised_failures(run_of_seven())["document"].tolist() == ["g"]


MODE_OF = {
    "failed": "no_answer",
    "disguised_failure": "no_answer",
    "wrong_type": "doc_type_miss",
    "wrong_subclass": "subclass_miss",
}


@pytest.mark.parametrize("name", ["subtype_small", "docclass_small"])
def test_planted_faults_are_found_under_their_mode(name: str) -> None:
    """The sample runs list every wrong label they hold."""
    planted = [fault for fault in PLANTED if fault["run"] == name]
    scores = score_task_run(read_run(ROOT / "data" / "runs" / f"{name}.json"))

    counts = Counter(scores.rows["mode"].dropna())

    assert counts == Counter(MODE_OF.get(fault["kind"], fault["kind"]) for fault in planted)
    assert scores.counts["n_disguised"] == sum(fault["kind"] == "disguised_failure" for fault in planted)
