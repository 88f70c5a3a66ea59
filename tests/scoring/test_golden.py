"""Golden vectors: values recomputed outside this project, each the contract for one function.

``tests/golden/scoring.json`` holds {area, function, args, expected, note}.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dojo_kit import Settings, score_field, score_list
from dojo_kit.scoring.grounding import ground_item
from dojo_kit.scoring.spans import split_clauses
from dojo_kit.tasks.failure_modes import classify_failure
from dojo_kit.text.durations import parse_duration
from dojo_kit.text.locate import DocumentIndex

VECTORS = json.loads((Path(__file__).parents[1] / "golden" / "scoring.json").read_text(encoding="utf-8"))

ELSEWHERE = {
    **dict.fromkeys(("labels", "maud", "legalbench", "subtype"), "tests/test_vocabulary.py"),
    "contracteval": "tests/tasks/test_contracteval.py",
}
"""Areas whose vectors other tests run."""

NOT_YET = {"cost": "cost estimates"}
"""Areas whose functions are not built yet; the test below fails when one gets built and is left here."""


def _list(element: str, predicted: list[str], expected: list[str], options: dict[str, Any]) -> dict[str, Any]:
    score = score_list(f"entity_list:{element}", predicted, expected, **options)
    return {
        "precision": score.precision,
        "recall": score.recall,
        "f1": score.f1,
        "score": score.score,
        "matched_items": score.n_matched_items,
        "matched_labels": score.n_matched_labels,
    }


def _days(text: str) -> float | None:
    duration = parse_duration(text)
    return None if duration is None else duration.days


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "score_date": lambda p, e: score_field("date", p, e).score,
    "score_money": lambda p, e: score_field("money", p, e).score,
    "score_id": lambda p, e: score_field("id", p, e).score,
    "score_name": lambda p, e: score_field("name", p, e).score,
    "score_free_text": lambda p, e: score_field("free_text", p, e).score,
    "score_containment": lambda p, e: score_field("containment", p, e).score,
    "parse_duration_days": _days,
    "score_entity_list": _list,
    "verify_list_items": lambda items, text: [ground_item(DocumentIndex(text), i, "name", Settings()) for i in items],
    "disaggregate_clause_spans": split_clauses,
    "classify_failure": classify_failure,
}
COVERED = [vector for vector in VECTORS if vector["area"] not in NOT_YET | ELSEWHERE]


@pytest.mark.parametrize("vector", COVERED, ids=lambda v: f"{v['function']}-{json.dumps(v['args'])[:60]}")
def test_golden_value(vector: dict[str, Any]) -> None:
    """Every vector of a built function comes out, to the digits it is given with."""
    actual = FUNCTIONS[vector["function"]](*vector["args"])

    if isinstance(vector["expected"], list | str):
        assert actual == vector["expected"]
    elif isinstance(vector["expected"], dict):
        assert {k: actual[k] for k in vector["expected"]} == pytest.approx(vector["expected"], abs=1e-6)
    elif vector["expected"] is None:
        assert actual is None
    else:
        assert actual == pytest.approx(vector["expected"], abs=5e-5)


def test_every_vector_is_covered_or_named() -> None:
    """No vector is left out without saying which part of the package will cover it."""
    areas = {vector["area"] for vector in VECTORS}

    assert {vector["area"] for vector in COVERED} | set(NOT_YET) | set(ELSEWHERE) == areas
    assert all((Path(__file__).parents[2] / place).is_file() for place in ELSEWHERE.values())
    assert {vector["function"] for vector in COVERED} == set(FUNCTIONS)
