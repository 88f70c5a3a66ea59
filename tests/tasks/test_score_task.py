"""Scoring labels of every kind of task: what is right, what a failed or unscored row counts as, what is reported.

The rules are those of the project's decisions on labels and failed rows; numbers are small enough to count by hand.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from task_records import disguised_row, failed_row, record, sorted_row

from dojo_kit.errors import InputError
from dojo_kit.settings import Settings
from dojo_kit.tasks.score import score_task, score_task_run
from dojo_kit.tasks.scores import ROW_COLUMNS, TaskScores
from dojo_kit.tasks.table import TASKS, task_kind
from dojo_kit.vocabulary import vocabulary

FEW = Settings().override({"statistics.n_resamples": 50})
FAMILIES = [key for key in vocabulary("subtype").keys if key != "other"]


def values(scores: TaskScores) -> dict[str, float | None]:
    return {name: estimate.value for name, estimate in scores.metrics.items()}


def test_families_are_right_within_their_class() -> None:
    """Folder names, labels and sentences are read; a right family of a wrong class is wrong."""
    scores = score_task(
        "subtype",
        ["License_Agreements", "Reseller", "IP", "Service", "Supply"],
        ["license", "Distributor Agreement", "It is an IP agreement", "Services Agreement", "supply and license"],
        doc_types=["contract", "contract", "contract", "Corporate Record", "contract"],
    )

    assert values(scores)["exact_match"] == 0.8
    assert values(scores)["subtype_accuracy"] == 0.4
    assert values(scores)["subtype_accuracy_equiv"] == pytest.approx(0.6)
    assert scores.headline is scores.metrics["subtype_accuracy"]
    assert scores.rows["mode"].tolist()[1:4:2] == ["equivalent_family", "function_over_form"]
    assert scores.rows["mode"].iloc[4] == "other_fallback"  # two families named is no family
    assert scores.rows["flag"].tolist() == ["exact", "exact", "mentioned", "exact", "several"]
    assert scores.rows["predicted_text"].iloc[4] == "supply and license"
    assert scores.labels.matrix.sum() == 5  # it counts as other in the matrix and keeps its text
    assert scores.labels.labels[-1] == "other"
    assert scores.counts["n_unread"] == 1
    assert scores.equiv_recovered[["expected", "predicted"]].values.tolist() == [["reseller", "distributor"]]


def test_without_predicted_classes_only_families_are_compared() -> None:
    scores = score_task("subtype", ["ip"], ["ip"])

    assert scores.metrics["subtype_accuracy"].value == 1.0
    assert scores.metrics["exact_match"].note == "no row says which document class was predicted"


def test_hierarchy() -> None:
    """Five documents: all right; wrong subclass; defensible subclass; wrong class of a right subclass; no subclass."""
    scores = score_task(
        "docclass",
        ["merger_agreement"] * 4 + ["contract"],
        ["merger agreement", "Merger Agreement", "merger_agreement", "contract", "contract"],
        expected_subclass=["all_cash", "all_stock", "mixed_cash_stock", "all_cash", None],
        predicted_subclass=["All Cash", "all_cash", "Mixed Cash/Stock: Election", "all_cash", "bylaws"],
    )

    found = values(scores)
    assert found["doc_type_accuracy"] == 0.8
    assert found["subclass_accuracy"] == 0.5  # of four; strict ignores the class
    assert found["subclass_accuracy_equiv"] == 0.75
    assert found["exact_match"] == 0.4  # the first and the one without a true subclass
    assert scores.rows["mode"].fillna("").tolist() == ["", "subclass_miss", "subclass_miss", "doc_type_miss", ""]
    assert scores.subclass is not None
    assert scores.subclass.n == 4
    support = scores.subclass.per_class.set_index("label")["support"].to_dict()
    assert {label: n for label, n in support.items() if n} == {"all_cash": 2, "all_stock": 1, "mixed_cash_stock": 1}
    recovered = scores.equiv_recovered
    assert recovered["predicted_subclass"].tolist() == ["mixed_cash_stock_election"]


@given(st.lists(st.tuples(*[st.sampled_from(["all_cash", "mixed_cash_stock", "mixed_cash_stock_election", None])] * 2)))
def test_the_lenient_share_is_never_below_the_strict_one(pairs: list[tuple[str | None, str | None]]) -> None:
    expected, predicted = ([pair[i] for pair in pairs] for i in (0, 1))
    classes = ["merger_agreement"] * len(pairs)

    found = values(
        score_task(
            "maud_docclass", classes, classes, expected_subclass=expected, predicted_subclass=predicted, settings=FEW
        )
    )

    strict, lenient = found["subclass_accuracy"], found["subclass_accuracy_equiv"]
    assert (strict is None) == (lenient is None) == (not any(expected))
    assert strict is None or lenient >= strict  # type: ignore[operator]


def test_the_second_level_of_a_contract_is_its_family() -> None:
    """All three kinds of subclass stand in one vocabulary, so that a merged set of documents can be scored."""
    scores = score_task(
        "docclass",
        ["contract", "merger_agreement", "corporate_record"],
        ["contract", "merger_agreement", "corporate_record"],
        expected_subclass=["License_Agreements", "All Cash", "Bylaws"],
        predicted_subclass=["license", "all cash", "by-laws"],
    )

    assert scores.metrics["exact_match"].value == 1.0
    assert scores.problems == ()


def test_yes_and_no() -> None:
    """Binary with yes as positive: TP 1, FN 1 (one without a label), TN 1, FP 1."""
    scores = score_task("legalbench", ["Yes", "Yes", "No", "No"], ["Yes, because no cap", "unclear", "**No**", "TRUE"])

    assert scores.labels.binary is not None
    binary = scores.labels.binary
    assert (binary.positive, binary.tp, binary.fn, binary.tn, binary.fp) == ("yes", 1, 1, 1, 1)
    assert scores.metrics["exact_match"].value == scores.metrics["balanced_accuracy"].value == 0.5
    assert scores.rows["mode"].fillna("").tolist() == ["", "no_label", "", "wrong_label"]


def test_letters_answer_within_the_task_s_own_set() -> None:
    answers = ["The answer is B. Note that A is common.", "(A)", "E"]

    scores = score_task("legalbench", ["B", "A", "A"], answers, valid=list("ABCD"))

    assert scores.rows["predicted"].tolist()[:2] == ["B", "A"]
    assert scores.metrics["exact_match"].value == pytest.approx(2 / 3)
    assert scores.labels.binary is None


def test_each_question_has_its_own_answers() -> None:
    """With one vocabulary for all questions every unknown answer would be other, and right."""
    scores = score_task(
        "maud_question",
        ["All Cash", "Mixed Cash/Stock", "Yes", "No", "12 months", "6 months"],
        ["all cash", "Mixed Cash & Stock: Election", "no", "No", "It is 12 months.", "9 months"],
        questions=["Consideration"] * 2 + ["Tail"] * 2 + ["Length"] * 2,
        documents=["a", "b"] * 3,
    )

    assert scores.rows["right"].tolist() == [True, False, False, True, True, False]
    assert scores.metrics["exact_match"].value == 0.5
    assert scores.metrics["exact_match_equiv"].value == pytest.approx(4 / 6)
    assert scores.metrics["exact_match"].n == 2  # contracts, not questions, are the units
    per_question = scores.per_question.set_index("question")
    assert per_question["accuracy"].to_dict() == {"Consideration": 0.5, "Tail": 0.5, "Length": 0.5}
    assert scores.rows["predicted"].iloc[5] == "9 months"  # a label that nothing was expected to have


def test_one_known_answer_is_not_read_out_of_a_sentence() -> None:
    """Of a question asked once only the true answer is known; a sentence that names it may name another as well."""
    answers = ["6 months", "12 months rather than 6 months"]

    scores = score_task("maud_question", ["6 months", "6 months"], answers, questions=["a", "b"])

    assert scores.rows["right"].tolist() == [True, False]


def test_raw_answers_hold_all_levels() -> None:
    """Class, family and subclass are read from the model's JSON."""
    families = score_task(
        "subtype", ["ip", "ip"], [f'{{"doc_type": "{c}", "contract_subtype": "ip"}}' for c in CLASSES]
    )
    levels = score_task(
        "docclass",
        ["merger_agreement"] * 2,
        [
            '{"doc_type": "merger_agreement", "doc_subclass": "All Cash"}',
            {"doc_type": "Merger Agreement", "why": "cash"},
        ],
        expected_subclass=["all_cash", "all_cash"],
    )

    assert families.rows["right"].tolist() == [True, False]
    assert levels.rows["doc_type_right"].tolist() == [True, True]
    assert levels.rows["subclass_right"].tolist() == [True, False]


CLASSES = ("contract", "correspondence")


def test_court_opinions_are_classes_or_outcomes() -> None:
    by_class = score_task("court_opinion", ["court_opinion", "contract"], ["a judicial opinion", "Contract"])
    by_outcome = score_task("court_opinion", ["Affirmed", "reversed"], ["The judgment is affirmed.", "Remanded"])

    assert (by_class.vocabulary.name, by_class.metrics["exact_match"].value) == ("doc_class", 1.0)
    assert (by_outcome.vocabulary.name, by_outcome.metrics["exact_match"].value) == ("court_outcome", 0.5)


def test_multiclass_labels_are_their_own_vocabulary() -> None:
    scores = score_task(
        "multiclass", ["Arbitration", "Other", "Choice of law"], ["arbitration", "Other", "Jurisdiction"]
    )

    assert scores.metrics["exact_match"].value == pytest.approx(2 / 3)
    assert scores.labels.labels == ("Arbitration", "Other", "Choice of law", "Jurisdiction")
    assert scores.problems == ()


def test_labels_a_vocabulary_lacks_are_reported_and_scored() -> None:
    scores = score_task("subtype", ["reseller", "Escrow Agreement"], ["Reseller", "escrow agreement"])

    assert scores.metrics["subtype_accuracy"].value == 1.0
    assert [problem.field for problem in scores.problems] == ["expected"]
    assert "label 'Escrow Agreement' is not among contract_family" in str(scores.problems[0])


def test_an_unknown_task_is_plain_labels_with_a_warning() -> None:
    with pytest.warns(
        UserWarning, match=r"unknown task 'subtypes' \(did you mean 'subtype'\?\); scored as plain labels"
    ):
        scores = score_task("subtypes", ["a", "b"], ["a", "a"])

    assert scores.metrics["exact_match"].value == 0.5
    assert "did you mean 'subtype'?" in str(scores.problems[0])
    with pytest.raises(InputError, match="unknown task 'subtypes'"):
        score_task("subtypes", ["a"], ["a"], strict=True)


@pytest.mark.parametrize("task", [key for key, record in TASKS.items() if record.kind != "questions"])
def test_every_task_scores_its_own_answers_as_right(task: str) -> None:
    """Also of nothing: without rows everything is undefined, never 0."""
    scores, empty = (score_task(task, labels, labels, documents=labels) for labels in (["contract", "license"], []))

    assert scores.rows["right"].all()
    assert list(scores.rows)[: len(ROW_COLUMNS)] == list(ROW_COLUMNS)
    assert {name: str(dtype) for name, dtype in scores.rows.dtypes.items() if name in ROW_COLUMNS} == ROW_COLUMNS
    assert all(estimate.value is None and estimate.note for estimate in empty.metrics.values())
    json.dumps(empty.as_dict(), allow_nan=False)
    assert set(scores.as_dict()) >= {"task", "metrics", "labels", "reliability", "n_failed"}


def test_quoted_answers_are_scored_elsewhere() -> None:
    assert TASKS["contracteval"].kind == "questions"
    with pytest.raises(InputError, match="scored by score_contracteval"):
        score_task("contracteval", ["a"], ["a"])


def test_failed_and_unscored_rows() -> None:
    """Of five rows one is right, one failed openly, one in disguise, one failed without a truth, one has no truth."""
    run = record(
        "subtype_classification",
        [
            sorted_row("a", "ip", "ip"),
            failed_row("b", "ip"),
            disguised_row("c", "license"),
            failed_row("d"),
            sorted_row("e", "", "ip"),
        ],
    )

    scores = score_task_run(run)

    expected = {"n_rows": 5, "n_scored": 1, "n_failed": 3, "n_disguised": 1, "n_unscored": 1, "n_unread": 0}
    assert scores.counts == expected
    assert scores.metrics["subtype_accuracy"].value == 0.25  # a failed row is a miss, whatever was expected of it
    assert scores.rows["mode"].fillna("").tolist() == ["", "no_answer", "no_answer", "no_answer", ""]
    assert (scores.labels.n, scores.labels.n_failed) == (3, 2)
    assert scores.labels.matrix.sum() == 1
    assert scores.metrics["f1_macro"].note == "failed rows of unknown class, left out: 1"
    assert scores.metrics["confidence"].value == 0.9
    assert scores.reliability["n"].sum() == 1
    as_stored = score_task_run(run, failures="stored")
    assert as_stored.counts["n_failed"] == 2
    assert as_stored.rows["mode"].iloc[2] == "function_over_form"


def test_outputs_that_note_an_error_are_failed() -> None:
    scores = score_task("doc_class", ["contract", "contract"], ["ERROR: timeout", "contract"])

    assert scores.counts["n_failed"] == 1
    assert scores.metrics["exact_match"].value == 0.5


def test_a_missing_expectation_is_not_other() -> None:
    """It is tested before normalising, which would turn it into ``other``; a label that is said to be one counts."""
    missing = score_task("maud_question", [None, "N/A", "all_cash"], ["other", "other", "All Cash"])
    named = score_task("multiclass", ["None", "some"], ["none", "some"], valid=["None", "some"])

    assert (missing.counts["n_unscored"], missing.metrics["exact_match"].value) == (2, 1.0)
    assert (named.counts["n_unscored"], named.metrics["exact_match"].value) == (0, 1.0)


def test_the_cells_of_a_matrix_lead_to_their_documents() -> None:
    expected, predicted = ["ip", "ip", "ip", "license"], ["ip", "license", "no idea", "other"]
    scores = score_task("subtype", expected, predicted, documents=["a", "b", "c", "d"])

    table = scores.labels.table()
    for row in table.index:
        for column in table.columns:
            assert len(scores.documents_of(row, column)) == table.loc[row, column]
    assert scores.documents_of("ip", "other")["document"].tolist() == ["c"]


def test_costs_modes_and_reasons_of_a_run() -> None:
    row = sorted_row("a", "ip", "license", input_mode="vision") | {"sorter_tokens": {**USED_WITH_COST}}

    scores = score_task_run(record("subtype_classification", [row, sorted_row("b", "ip", "ip")]))

    assert scores.input_mode_counts == {"vision": 1}
    assert scores.rows["reasoning"].iloc[0] == "why license"
    assert scores.labels.costs is not None
    assert (scores.labels.costs.n, scores.labels.costs.total_usd) == (1, 0.25)


USED_WITH_COST = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15, "cost": 0.25}


def test_labels_of_a_flat_table() -> None:
    """Rows as CSV gives them, with valid classes in the run's parameters."""
    rows = [
        {"filename": "1", "expected": "Yes", "predicted": "yes"},
        {"filename": "2", "expected": "No", "predicted": "The answer is yes"},
    ]
    run = record("task_classification", rows, parameters={"valid_classes": "Yes,No"})

    scores = score_task_run(run)

    assert scores.record.key == task_kind("task_classification") == "legalbench"
    assert scores.rows["right"].tolist() == [True, False]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"predicted": ["a"]}, "row counts differ"),
        ({"documents": ["x"]}, "row counts differ: 2 expected, 1 documents"),
        ({"failed": [True]}, "row counts differ: 2 predicted, 1 failed"),
        ({"confidences": [0.5, 1.5]}, "1.5 in row 2; expected a number from 0 to 1"),
        ({"positive": "zebra"}, "positive label 'zebra' is none of the labels"),
    ],
)
def test_bad_arguments_are_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        score_task(**{"task": "multiclass", "expected": ["a", "b"], "predicted": ["a", "b"], **arguments})


def test_an_extraction_run_holds_no_labels() -> None:
    run = record("contract_entity_extraction", [{"filename": "a", "status": "completed", "predicted": {"x": "1"}}])

    with pytest.raises(InputError, match="rows of task 'contract_entity_extraction' hold no labels"):
        score_task_run(run, task="subtype")


@given(st.lists(st.tuples(st.sampled_from(FAMILIES[:6]), st.sampled_from(FAMILIES[:6])), min_size=1, max_size=30))
def test_counts_close(pairs: list[tuple[str, str]]) -> None:
    """Right rows and modes of failure add up to the rows; the lenient share is the strict one and the recovered."""
    scores = score_task("subtype", [a for a, _ in pairs], [b for _, b in pairs], settings=FEW)

    modes = scores.rows["mode"].value_counts()
    assert int(scores.rows["right"].sum()) + int(modes.sum()) == len(pairs)
    recovered = len(scores.equiv_recovered)
    assert modes.get("equivalent_family", 0) == recovered
    strict, lenient = (scores.metrics[f"subtype_accuracy{end}"].value for end in ("", "_equiv"))
    assert strict is not None
    assert lenient == pytest.approx(strict + recovered / len(pairs))


def test_intervals_do_not_depend_on_the_order_of_a_run() -> None:
    rows = [sorted_row(f"d{n}", "ip", "ip" if n % 3 else "license", confidence=n / 10) for n in range(10)]

    forward, backward = (score_task_run(record("subtype", order)).metrics for order in (rows, rows[::-1]))

    assert forward == backward
