"""Inputs that broke other scorers in public bug reports, with the value that is right.

``tests/golden/bug_inputs.json`` holds {id, kind, input, right_value, source, decided?}; the source of each is
the report it comes from.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dojo_kit import Settings, score_field, score_list
from dojo_kit.text.names import name_key
from dojo_kit.text.output import parse_json_output
from dojo_kit.text.tokens import is_no_value, token_f1, tokens

CASES = json.loads((Path(__file__).parents[1] / "golden" / "bug_inputs.json").read_text(encoding="utf-8"))

ELSEWHERE = {
    "date_parse": "tests/text/test_dates.py",
    "money_parse": "tests/text/test_money.py",
    "label": "tests/test_vocabulary.py",
}
NOT_YET = {
    "bootstrap": "standard errors of shares",
    "paired": "paired comparison",
    "gold_check": "checks of labels",
}


def cases(*kinds: str) -> Any:
    chosen = [case for case in CASES if case["kind"] in kinds]
    assert chosen
    return pytest.mark.parametrize("case", chosen, ids=lambda case: case["id"])


def check_score(case: dict[str, Any], score: float) -> None:
    right = case["right_value"]
    if "score_below" in right:
        assert score < right["score_below"]
    if "score" in right and "when" not in right:
        assert score == pytest.approx(right["score"], abs=1e-4)
    if "seed_rule" in right:
        assert score == pytest.approx(right["seed_rule"])


@cases("date_pair")
def test_date_pair(case: dict[str, Any]) -> None:
    """Dates written differently are equal, dates that differ are not, and an open order is flagged."""
    result = score_field("date", case["input"]["pred"], case["input"]["gold"])

    check_score(case, result.score)
    match case["right_value"].get("when"):
        case "dayfirst":
            day_first = Settings().override({"field_scoring.day_first": True})
            by_day = score_field("date", case["input"]["pred"], case["input"]["gold"], settings=day_first)
            assert (result.score, result.cautions) == (0.67, ("day_month_order",))
            assert by_day.score == case["right_value"]["score"]
        case "monthfirst":
            assert result.score == case["right_value"]["score"]


@cases("money_pair", "number_pair")
def test_amount_pair(case: dict[str, Any]) -> None:
    """Amounts are compared as amounts; a bound or an approximation is none; ids are compared as ids."""
    type = "id" if "as id" in case.get("decided", "") else "money"

    check_score(case, score_field(type, case["input"]["pred"], case["input"]["gold"]).score)


@cases("text_pair")
def test_text_pair(case: dict[str, Any]) -> None:
    """Ligatures, Roman numeral characters and typographic quotes do not make texts differ."""
    for type in ("free_text", "name", "containment"):
        result = score_field(type, case["input"]["pred"], case["input"]["gold"])

        assert (result.score, result.rule) == (1.0, f"{type}.identical")


@cases("token_f1")
def test_token_f1(case: dict[str, Any]) -> None:
    """Repeated words count as often as they stand."""
    actual = token_f1(tokens(case["input"]["pred"]), tokens(case["input"]["gold"]))

    assert actual == pytest.approx(case["right_value"]["f1"], abs=1e-4)


@cases("company_base")
def test_company_base(case: dict[str, Any]) -> None:
    """A company with and without its corporate form is the same name."""
    assert score_field("name", case["input"], case["right_value"]).score == 1.0
    if "s.r.o." not in case["input"]:
        assert name_key(case["input"]) == name_key(case["right_value"])


@cases("name_pair")
def test_name_pair(case: dict[str, Any]) -> None:
    """A fragment is no match, and a name where none is expected is wrong."""
    check_score(case, score_field("name", case["input"]["pred"], case["input"]["gold"]).score)


@cases("null_pair", "label_pair")
def test_no_value_pair(case: dict[str, Any]) -> None:
    """Every way of saying that there is no value is the same."""
    assert is_no_value(case["input"]["gold"])
    assert is_no_value(case["input"]["pred"])
    for type in ("name", "date", "money", "id", "free_text", "entity_list:name"):
        assert score_field(type, case["input"]["pred"], case["input"]["gold"]).score == 1.0


@cases("list")
def test_list(case: dict[str, Any]) -> None:
    """Lists are matched one to one."""
    right, given = case["right_value"], case["input"]
    settings = Settings().override({"field_scoring.match_threshold": given.get("threshold", 0.6)})
    result = score_list("entity_list:name", given["pred"], given["gold"], settings=settings)

    for name in ("precision", "recall", "f1"):
        if name in right:
            assert getattr(result, name) == right[name]
    if "recall_at_most" in right:
        assert result.recall is not None
        assert result.recall <= right["recall_at_most"] + 1e-4
    if "matched" in right:
        assert result.n_matched_labels == right["matched"]
        assert [label.similarity is not None for label in result.labels] == [True] * right["pairs_shown"]
    if "n" in right:
        assert result.n_expected == result.n_predicted == right["n"]


@cases("rows")
def test_missing_rows_lower_the_score(case: dict[str, Any]) -> None:
    """A missing prediction is a miss, never cut off."""
    result = score_list("entity_list:name", case["input"]["pred"], case["input"]["gold"])

    assert result.recall == case["right_value"]["or_score"]


@cases("spans")
def test_typed_spans(case: dict[str, Any]) -> None:
    """Spans with type and offsets, compared as identifiers: no label is counted twice, nothing crashes."""
    right = case["right_value"].get("exact", case["right_value"])
    gold, pred = ([f"{kind}@{start}:{end}" for kind, start, end in case["input"][side]] for side in ("gold", "pred"))
    result = score_list("entity_list:id", pred, gold)

    assert result.precision == pytest.approx(right["precision"], abs=1e-4)
    if "recall" in right:
        assert result.recall == right["recall"]
    if "tp" in right:
        assert result.n_matched_items == right["tp"]
        assert result.n_predicted - result.n_matched_items == right["fp"]


@cases("json_output")
def test_json_output(case: dict[str, Any]) -> None:
    """JSON is found in fences and behind other fenced blocks."""
    assert parse_json_output(case["input"]) == case["right_value"]


def test_every_kind_is_covered_or_named() -> None:
    """No case is left out without saying where it is or will be covered."""
    here = {"date_pair", "money_pair", "number_pair", "text_pair", "token_f1", "company_base", "name_pair"}
    here |= {"null_pair", "label_pair", "list", "rows", "spans", "json_output"}

    assert here | set(ELSEWHERE) | set(NOT_YET) == {case["kind"] for case in CASES}
