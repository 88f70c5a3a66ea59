"""Answers and options that once gave a wrong number, each with the right one.

Right values: scikit-learn's definitions for macro F1; the published rulings on labels, failed rows and wrong types.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dojo_kit import (
    InputError,
    answered_questions,
    load_maud,
    normalize_label,
    read_run,
    score_labels,
    score_task,
    score_task_run,
)
from dojo_kit.tasks.extraction import chained_composite
from dojo_kit.text.answers import fold


@pytest.mark.parametrize(
    ("expected", "answers", "right"),
    [
        (["1", "-1", "0", "1"], ["1", "1", "0", "-1"], 0.5),
        (["A+", "B", "C"], ["A-", "B", "C++"], 1 / 3),
        (["<5", ">5"], [">5", ">5"], 0.5),
        (["-1", "0", "-1"], ["1", "0", "1"], 1 / 3),
        (["-1", "1"], ["The answer is -1.", "+1"], 1.0),
        (["A", "A-"], ["Label: A", "Class: A- because ..."], 1.0),
    ],
)
def test_signs_tell_labels_apart(expected: list[str], answers: list[str], right: float) -> None:
    assert score_task("multiclass", expected, answers).headline.value == pytest.approx(right)


@pytest.mark.parametrize("text", ["- yes", "> Yes.", "(yes)", "**Yes**", "-> yes", "Yes!"])
def test_decoration_is_no_sign(text: str) -> None:
    assert normalize_label(text, "yes_no").key == "yes"


def test_negative_number_is_no_yes() -> None:
    assert normalize_label("-1", "yes_no").key is None
    assert fold("pre- and post-merger") == "pre and post merger"


def test_answers_nobody_expected_are_labels_of_their_own() -> None:
    """Macro F1 is over labels expected or predicted; prose is no label."""
    scores = score_task("multiclass", ["a", "b", "a", "b"], ["a", "c", "a", "b"])
    prose = score_task("multiclass", ["a", "b"], ["a", "I cannot say which of them it is"])

    assert scores.metrics["f1_macro"].value == pytest.approx((1 + 2 / 3 + 0) / 3)
    assert scores.rows["mode"].tolist()[1] == "wrong_label"
    assert prose.rows["mode"].tolist()[1] == "no_label"


@pytest.mark.parametrize(
    ("expected", "answers"),
    [
        (np.array([True, False]), [True, False]),
        (np.array([1, 2], dtype=np.float32), [1, 2]),
        ([True, 1], ["true", "1"]),
        ([["a"]], [["a"]]),
        (pd.Series(["a", "b"]), pd.array(["a", "b"])),
    ],
    ids=["numpy bools", "floats", "true and one", "lists", "pandas"],
)
def test_values_of_any_type(expected: Any, answers: Any) -> None:
    assert score_labels(expected, answers).accuracy.value == 1.0
    assert score_task("multiclass", expected, answers).headline.value == 1.0


def test_missing_values_of_frames_are_unscored() -> None:
    assert score_labels(["a", pd.NA, None, np.nan], ["a"] * 4).n == 1


def test_confidence_is_that_of_scored_rows() -> None:
    stated = [0.8, 0.0, 0.3]

    assert score_task("multiclass", ["a", "b", None], ["a", "ERROR: x", "a"], confidences=stated).metrics[
        "confidence"
    ].value == pytest.approx(0.8)


@pytest.mark.parametrize(("stated", "told"), [(["80%", 0.9], "'80%' in row 1"), ([0.9, -0.1], "-0.1 in row 2")])
def test_confidence_that_is_no_share(stated: list[Any], told: str) -> None:
    with pytest.raises(InputError, match=told):
        score_task("multiclass", ["a", "b"], ["a", "b"], confidences=stated)


def lines(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("as_text", [False, True], ids=["object", "text"])
def test_answers_that_are_objects(tmp_path: Path, as_text: bool) -> None:
    """A file gives what the columns give: both levels, the document class and the confidence."""
    said = [{"doc_type": "merger_agreement", "doc_subclass": kind, "confidence": 0.8} for kind in ("all_cash", "other")]
    truth = {"expected": "merger_agreement", "expected_subclass": "all_cash"}
    rows = [
        {"document": str(i), **truth, "predicted": json.dumps(answer) if as_text else answer}
        for i, answer in enumerate(said)
    ]

    scores = score_task_run(read_run(lines(tmp_path / "rows.jsonl", rows), task="docclass"))

    values = {name: scores.metrics[name].value for name in ("doc_type_accuracy", "subclass_accuracy", "confidence")}
    assert values == {"doc_type_accuracy": 1.0, "subclass_accuracy": 0.5, "confidence": 0.8}


def test_objects_with_another_field(tmp_path: Path) -> None:
    """``answer`` and ``label`` name the answer as well; what an answer expects is not asked."""
    rows = [
        {"document": "a", "expected": "yes", "predicted": {"answer": "yes"}},
        {"document": "b", "expected": "no", "predicted": {"label": "yes", "expected": "yes"}},
        {"document": "c", "expected": "no", "predicted": {}},
    ]

    scores = score_task_run(read_run(lines(tmp_path / "rows.jsonl", rows)))

    assert scores.rows["status"].tolist() == ["scored", "scored", "failed"]
    assert scores.headline.value == pytest.approx(1 / 3)


def test_failed_calls_of_questions(tmp_path: Path) -> None:
    rows = [{"id": "k__Insurance", "label_spans": ["a"], "predicted": "ERROR: timeout"}]

    run = read_run(lines(tmp_path / "rows.jsonl", rows), task="contracteval")

    assert (run.rows[0].failed, run.rows[0].error) == (True, "ERROR: timeout")


@pytest.mark.parametrize(
    ("run", "task"), [("141", "docclass"), ("182", "subtype"), ("141", "legalbench"), ("008", "contracteval")]
)
def test_rows_of_another_kind_of_task(real_data: Path, run: str, task: str) -> None:
    """A family is no document class: the figure would stand under a wrong name."""
    path = real_data / "runs" / f"{run}.json"

    with pytest.raises(InputError, match="as asked for"):
        read_run(path, task=task)
    with pytest.raises(InputError):
        score_task_run(read_run(path), task=task)


def test_sorter_of_a_chained_run(real_data: Path) -> None:
    run = read_run(real_data / "runs" / "008.json", task="subtype")

    assert score_task_run(run, task="subtype").record.key == "subtype"


_ASKED = [("c0", "All Cash", 0), ("c1", "All Stock", 1), ("c2", "Mixed Cash/Stock", 2), ("c3", "All Cash", 0)]


def _maud(folder: Path, ids: Sequence[int], answers: Sequence[tuple[Any, ...]], columns: str) -> float | None:
    head = "data_type,contract_name,text,answer,label,question,subquestion,text_type,id,category"
    rows = [("main", c, c, a, n, "Type", "<NONE>", "x", i, "G") for (c, a, n), i in zip(_ASKED, ids, strict=True)]
    for name, header, table in (("maud", head, rows), ("answers", columns, answers)):
        with (folder / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([header.split(","), *table])
    run = answered_questions(load_maud(folder / "maud.csv"), folder / "answers.csv")
    return score_task_run(run).headline.value


@pytest.mark.parametrize("ids", [[3, 3, 3, 3], [10, 11, 12, 13], [0, 1, 2, 3]], ids=["one", "own", "rows"])
def test_answers_named_by_id(tmp_path: Path, ids: list[int]) -> None:
    """The data set has an id of its own, which numbers questions, not rows."""
    by_name = [(i, _ASKED[i][1]) for i in (3, 2, 1, 0)]
    repeated = [(own, c, a) for own, (c, a, _) in zip(ids, _ASKED, strict=True)]

    assert _maud(tmp_path, ids, by_name, "id,prediction") == 1.0
    assert _maud(tmp_path, ids, repeated, "id,contract_name,prediction") == 1.0


def test_own_ids_in_another_order(tmp_path: Path) -> None:
    backwards = [(i, a) for i, (_, a, _) in zip((13, 12, 11, 10), _ASKED[::-1], strict=True)]

    assert _maud(tmp_path, [10, 11, 12, 13], backwards, "id,prediction") == 1.0
    with pytest.raises(InputError, match="id '4' belongs to several questions"):
        _maud(tmp_path, [3, 3, 4, 4], [(4, "All Cash"), (4, "All Cash"), (3, "All Cash"), (3, "a")], "id,prediction")


@pytest.mark.parametrize("scores", [(2, 0.5), (-0.1, 0.5)])
def test_composite_of_what_is_no_score(scores: tuple[float, float]) -> None:
    with pytest.raises(InputError):
        chained_composite(*scores)


def test_composite_of_nothing() -> None:
    assert chained_composite(float("nan"), 0.5) is None
    with pytest.raises(InputError):
        chained_composite(1, 1, weights=(1, 1, 1))  # type: ignore[arg-type]
