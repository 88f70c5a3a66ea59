"""The sample of labelled queries: its faults are there, and scoring says of each what the manifest promises."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from checked_sample import DATA

from dojo_kit.rag.faults import LabelsError
from dojo_kit.rag.scorecard import Scorecard
from dojo_kit.runs.rag_evaluation import evaluate
from dojo_kit.runs.rag_settings import eval_settings
from dojo_kit.samples.contract_text import write_contracts
from dojo_kit.samples.rag_files import rag_files

RAG = DATA / "rag"
LENIENT = {"tie": "drop", "on_incomplete": "skip", "on_violation": "as_is"}
SYSTEMS = ("lexical-1", "hybrid-2")


def scored(task: str, **given: Any) -> Scorecard:
    return evaluate(eval_settings({"task": task, "base_dir": str(RAG), **given})).card


def planted(manifest: dict[str, Any], kind: str, system: str, file: str = "retrieval.csv") -> list[dict[str, Any]]:
    return [
        fault
        for fault in manifest["rag_faults"]
        if (fault["kind"], fault["system"]) == (kind, system) and fault["file"].endswith(f"/{file}")
    ]


def test_every_kind_is_planted_and_described(manifest: dict[str, Any]) -> None:
    assert {fault["kind"] for fault in manifest["rag_faults"]} == manifest["rag_kinds"].keys()
    assert all((DATA / fault["file"]).is_file() for fault in manifest["rag_faults"])


@pytest.mark.parametrize("system", SYSTEMS)
def test_what_is_planted_is_found_and_nothing_else(manifest: dict[str, Any], system: str) -> None:
    n = {kind: len(planted(manifest, kind, system)) for kind in manifest["rag_kinds"]}
    card = scored("retrieval", system=system, **LENIENT)
    assert card.counts["ranks_without_row"] == n["missing_chunk"]
    assert card.counts["units_without_labels"] == n["discarded"]
    assert card.counts["queries_incomplete"] == n["missing_chunk"] + n["discarded"]
    assert card.counts["units_tied"] == card.counts["queries_tied"] == n["tie"]
    assert card.counts["rows_replaced"] == n["second_thought"]
    assert card.counts["units_violating_rules"] == n["label_rule"]
    assert card.counts["queries_with_nothing_retrieved"] == n["nothing_retrieved"]
    assert {"007", "NA"} <= set(card.queries["record_uuid"])


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ({}, "tie"),
        ({"tie": "drop"}, "label_rule"),
        ({"tie": "drop", "on_violation": "as_is"}, "missing_chunk"),
    ],
)
def test_by_default_scoring_stops_at_them(manifest: dict[str, Any], given: dict[str, Any], kind: str) -> None:
    with pytest.raises(LabelsError) as caught:
        scored("retrieval", system="hybrid-2", **given)
    for fault in planted(manifest, kind, "hybrid-2"):
        assert repr(fault["query"]) in str(caught.value)


def test_the_pilot_has_no_faults() -> None:
    card = scored("retrieval", export_id="2026-04-pilot")
    assert card.n_queries == 6
    assert not card.problems


def test_answers(manifest: dict[str, Any]) -> None:
    for system in SYSTEMS:
        assert scored("generation", system=system).n_queries == 24
        card = scored("grounding", system=system, on_violation="as_is")
        assert card.counts["units_violating_rules"] == len(planted(manifest, "label_rule", system, "grounding.csv"))


def test_a_model_labels_the_same_chunks() -> None:
    people = scored("retrieval", system="hybrid-2", **LENIENT)
    model = scored("retrieval", prediction_id="evaluator-small-1")
    assert set(model.queries["record_uuid"]) == set(people.queries["record_uuid"])


@pytest.mark.parametrize("n", [1, 3])
def test_few_contracts_make_few_queries(n: int, tmp_path: Path) -> None:
    files, faults = rag_files(write_contracts(7, n), 7)
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    given = {"task": "retrieval", "base_dir": str(tmp_path / "rag"), "system": "hybrid-2", **LENIENT}
    assert evaluate(eval_settings(given)).card.n_queries > 0
    assert all(fault.file in files for fault in faults)
