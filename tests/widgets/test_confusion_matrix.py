"""Matrix and curve agree with the scores; a cell's rows are the run's; a page carries only what it has room for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dojo_kit.errors import InputError
from dojo_kit.runs import read_run
from dojo_kit.samples import sample_data
from dojo_kit.tasks.score import score_task, score_task_run
from dojo_kit.tasks.scores import TaskScores
from dojo_kit.views.confusion import short_labels
from dojo_widgets import confusion_matrix
from dojo_widgets.confusion_matrix import ConfusionMatrix, cell_name
from dojo_widgets.reliability_curve import ReliabilityCurve

HOSTILE = "</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def sorted_contracts() -> TaskScores:
    return score_task_run(read_run(sample_data() / "runs" / "subtype_small.json"))


@pytest.fixture(scope="module")
def classed() -> TaskScores:
    return score_task_run(read_run(sample_data() / "runs" / "docclass_small.json"))


def test_counts_are_those_of_the_scores(sorted_contracts: TaskScores) -> None:
    """Every cell that is not listed is 0; nothing is counted here."""
    data = ConfusionMatrix(sorted_contracts).data
    matrix = sorted_contracts.labels.matrix
    assert sum(count for *_, count in data["cells"]) == matrix.sum()
    assert all(matrix[row, column] == count > 0 for row, column, count in data["cells"])
    assert [label["key"] for label in data["labels"]] == list(sorted_contracts.labels.labels)
    assert sum(data["failed"]) == sorted_contracts.labels.n_failed == 2
    json.dumps(data, allow_nan=False)


def test_the_title_says_the_finding(sorted_contracts: TaskScores) -> None:
    """31 of the 38 answered rows are on the diagonal; two are the most any wrong cell holds; two rows are not drawn."""
    finding = ConfusionMatrix(sorted_contracts).data["finding"]
    assert finding == (
        "31 of 38 answers right (82%), 2 more rows without an answer; most often Service → Outsourcing (2 of 4)"
    )


@pytest.mark.parametrize(
    ("expected", "predicted", "says"),
    [
        ("a a b b", "b a b a", "2 pairs are confused once each"),
        ("a a b b", "b b a a", "most often a → b and 1 other pair (2 each)"),
        ("a a b b", "b b b a", "most often a → b (2 of 2)"),
        ("a b", "b b", "most often a → b (1 of 1)"),
        ("a b", "a b", "nothing is confused"),
    ],
)
def test_ties_are_said(expected: str, predicted: str, says: str) -> None:
    data = ConfusionMatrix(score_task("multiclass", expected.split(), predicted.split())).data
    assert data["finding"].endswith(f"; {says}")


def test_documents_are_called_the_same_in_every_cell() -> None:
    """Names that are alike when shortened are told apart over the whole run, not within one cell."""
    names = [f"ACMECORPORATIONOFDELAWARE_01_02_2018-EX-{n}-Supply Agreement" for n in (1, 2, 3)]
    matrix = ConfusionMatrix(score_task("multiclass", ["a", "a", "b"], ["a", "b", "b"], documents=names))
    (table,) = matrix.precomputed()
    shorts = [row["short"] for cell in ("a|a", "a|b", "b|b") for row in table.values[cell]["rows"]]
    assert shorts == [f"Acmecorporationofdelaware 2018, Supply Agreement ({n})" for n in (1, 2, 3)]
    assert table.values["a|b"]["rows"][0]["document"] == names[1]
    assert table.values["a|b"]["says"] == "expected a, answered b"


def test_what_was_written_stands_with_its_own_level(classed: TaskScores) -> None:
    """The answer's text names the document class; on the second level it would contradict the subclass."""
    (first,) = ConfusionMatrix(classed).precomputed()
    (second,) = ConfusionMatrix(classed, level="subclass").precomputed()
    assert any("expected_text" in row for one in first.values.values() if one for row in one["rows"])
    assert not any("expected_text" in row for one in second.values.values() if one for row in one["rows"])


def test_equivalent_labels_are_named(sorted_contracts: TaskScores) -> None:
    data = ConfusionMatrix(sorted_contracts).data
    keys = [label["key"] for label in data["labels"]]
    pairs = {frozenset((keys[a], keys[b])) for a, b in data["equivalent"]}
    assert pairs == {frozenset(pair) for pair in sorted_contracts.vocabulary.equivalents if pair <= set(keys)}
    assert frozenset(("reseller", "distributor")) in pairs


def test_a_cell_lists_its_rows(sorted_contracts: TaskScores) -> None:
    matrix = ConfusionMatrix(sorted_contracts)
    assert matrix.detail == {}
    matrix.cell = "service|outsourcing"
    behind = sorted_contracts.documents_of("service", "outsourcing")
    assert [row["document"] for row in matrix.detail["rows"]] == list(behind["document"])
    for row in matrix.detail["rows"]:
        whole = sorted_contracts.rows.iloc[int(row["id"])]
        assert (row["reasoning"], row["confidence"], row["mode"]) == (
            whole["reasoning"],
            whole["confidence"],
            whole["mode"],
        )
    json.dumps(matrix.detail, allow_nan=False)
    matrix.row = "3"
    matrix.cell = ""
    assert (matrix.detail, matrix.row) == ({}, "")
    matrix.cell = "nothing|of the kind"
    assert matrix.detail == {}


def test_rows_without_an_answer_say_why(sorted_contracts: TaskScores) -> None:
    failed = sorted_contracts.rows[sorted_contracts.rows["status"] == "failed"]
    matrix = ConfusionMatrix(sorted_contracts, cell=cell_name(failed["expected"].iloc[0]))
    (row, *_) = matrix.detail["rows"]
    assert row["document"] == failed["document"].iloc[0]
    assert row["error"]
    assert "confidence" not in row


def test_every_cell_adds_up_with_its_rows(classed: TaskScores) -> None:
    """On both levels, rows listed are as many as the cell counts."""
    for level, scores in (("labels", classed.labels), ("subclass", classed.subclass)):
        assert scores is not None
        matrix = ConfusionMatrix(classed, level=level)
        (table,) = matrix.precomputed()
        for row, column, count in matrix.data["cells"]:
            cell = cell_name(scores.labels[row], scores.labels[column])
            assert table.values[cell]["n"] == count == len(table.values[cell]["rows"])
            matrix.cell = cell
            assert matrix.detail == table.values[cell]


def test_what_does_not_exist_is_refused(classed: TaskScores, sorted_contracts: TaskScores) -> None:
    with pytest.raises(InputError, match="no level 'subclass'"):
        ConfusionMatrix(sorted_contracts, level="subclass")
    with pytest.raises(InputError, match="no cell 'contract'"):
        ConfusionMatrix(classed, cell="contract")
    with pytest.raises(InputError, match="no order 'suport'"):
        ConfusionMatrix(classed, sort="suport")
    with pytest.raises(InputError, match="no normalisation 'rows'"):
        ConfusionMatrix(classed, normalise="rows")


def test_a_page_keeps_to_its_limits_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wrong cells come first; a cell knows how many rows it has beyond those it brings."""
    monkeypatch.setattr(confusion_matrix, "PAGE_ROWS", 3)
    monkeypatch.setattr(confusion_matrix, "PAGE_ROWS_IN_ALL", 5)
    expected, predicted = ["yes"] * 8 + ["no"] * 2, ["yes"] * 8 + ["yes"] * 2
    matrix = ConfusionMatrix(score_task("legalbench", expected, predicted))
    (table,) = matrix.precomputed()
    assert {cell: (one["n"], len(one["rows"])) for cell, one in table.values.items() if cell} == {
        "no|yes": (2, 2),
        "yes|yes": (8, 3),
    }


def test_long_texts_are_cut_in_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confusion_matrix, "PAGE_CHARACTERS", 200)
    matrix = ConfusionMatrix(score_task("multiclass", ["a", "b"], ["a", "b " + "x" * 999], valid=["a", "b"]))
    (table,) = matrix.precomputed()
    row = next(row for one in table.values.values() if one for row in one["rows"] if "predicted_text_length" in row)
    assert len(row["predicted_text"]) < row["predicted_text_length"] == 1001


def test_texts_of_wrong_answers_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """They get most of the room, and are cut at the end of a word."""
    monkeypatch.setattr(confusion_matrix, "PAGE_CHARACTERS", 1000)
    answers = [f"{label} " + "because " * 100 for label in ("b", *"aaaaaaaaa")]
    matrix = ConfusionMatrix(score_task("multiclass", ["a"] * 10, answers, valid=["a", "b"]))
    (table,) = matrix.precomputed()
    (wrong,), right = (table.values[cell]["rows"] for cell in ("a|b", "a|a"))
    assert len(wrong["predicted_text"]) > 700
    assert wrong["predicted_text"].endswith("because")
    assert all(len(row["predicted_text"]) < 60 for row in right)


def test_answers_that_are_no_label_have_a_column() -> None:
    matrix = ConfusionMatrix(score_task("legalbench", ["yes", "no"], ["perhaps", "no"]), cell="yes|other")
    assert matrix.data["labels"][-1] == {"key": "other", "name": "other", "short": "other", "outside": True}
    assert matrix.detail["rows"][0]["predicted_text"] == "perhaps"
    assert "1 answer named no label" in matrix.data["notes"]


def test_runs_without_answers_or_labels_are_shown() -> None:
    nothing = ConfusionMatrix(score_task("legalbench", ["yes", "no"], ["ERROR: timeout", "ERROR: timeout"]))
    assert nothing.data["finding"] == "No row has an answer: 2 calls failed"
    assert ConfusionMatrix(score_task("legalbench", [], [])).data["finding"] == "No row has an expected label"
    right = ConfusionMatrix(score_task("legalbench", ["yes"], ["yes"]))
    assert right.data["finding"] == "1 of 1 answer right (100%); nothing is confused"


def test_a_run_is_scored_as_its_own_task() -> None:
    run = read_run(sample_data() / "runs" / "docclass_small.json")
    assert ConfusionMatrix.of(run).data["task"] == "docclass"
    assert ReliabilityCurve.of(run).data["task"] == "docclass"


def test_short_labels_stay_apart() -> None:
    assert short_labels(["Long first part / one", "Long first part / two", "Plain"])[:2] == [
        "Long first part / one",
        "Long first part / two",
    ]
    assert short_labels([]) == []
    assert short_labels(["Supply", "Supply Agreement", "Lease Agreement"])[0] == "Supply"
    assert len(set(short_labels(["Supply", "Supply Agreement", "Lease Agreement"]))) == 3


def test_the_curve_is_the_calibration(sorted_contracts: TaskScores) -> None:
    """Bins, n and gaps are those of the scores; an empty bin has no accuracy, never 0."""
    data = ReliabilityCurve(sorted_contracts).data
    curve = sorted_contracts.reliability
    assert [one["n"] for one in data["bins"]] == curve["n"].tolist()
    assert data["bins"][0]["accuracy"] is None
    assert data["bins"][-1]["accuracy"] == pytest.approx(curve["accuracy"].iloc[-1])
    assert data["error"]["value"] == sorted_contracts.metrics["confidence_calibration_error"].value
    assert data["finding"].startswith("Expected calibration error 0.118 [")
    assert "38 answers; on average overconfident" in data["finding"]
    json.dumps(data, allow_nan=False)


def test_without_confidence_there_is_no_curve() -> None:
    data = ReliabilityCurve(score_task("legalbench", ["yes"], ["yes"])).data
    assert data["error"]["value"] is None
    assert data["finding"] == "Confidence cannot be judged: no answered row states a confidence"


@pytest.mark.parametrize("number", [84, 142])
def test_real_sorters_are_shown(real_data: Path, number: int) -> None:
    """Run 84: all 243 calls failed in disguise; run 142: 509 contracts, 25 families, 93 failed."""
    scores = score_task_run(read_run(real_data / "runs" / f"{number:03}.json"))
    matrix = ConfusionMatrix(scores)
    assert sum(matrix.data["failed"]) == {84: 243, 142: 93}[number]
    (table,) = matrix.precomputed()
    assert len(json.dumps(table.values)) < 500_000
    shorts = [label["short"] for label in matrix.data["labels"]]
    assert len(set(shorts)) == len(shorts)
    assert max(map(len, shorts)) <= 18
