"""The audit: small records with planted errors of every task kind."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from verify_label_records import contracteval, docclass, plain, subtype
from verify_records import PRICES, Record, chained, extraction, put, unaccounted

from dojo_kit.analysis.verify import Difference, VerifyReport, verify_record
from dojo_kit.errors import InputError

BUILDERS = (extraction, subtype, docclass, plain, chained, contracteval)


def verify(record: Record, **options: Any) -> VerifyReport:
    return verify_record(record, name="small", prices=options.pop("prices", PRICES), **options)


def only(report: VerifyReport) -> Difference:
    assert len(report.differences) == 1, report.differences
    return report.differences[0]


@pytest.mark.parametrize("build", BUILDERS)
def test_a_sound_record_has_no_differences(build: Any) -> None:
    report = verify(build())
    assert report.differences == ()
    assert report.equal == report.checked > 10
    assert all(check.n_different == 0 for check in report.row_checks)


PLANTED = [
    # builder, path, wrong value, name of the difference, recomputed value
    (extraction, "scores.overall_extraction_score", 0.7251, None, 0.725),
    (extraction, "scores.overall_extraction_score_ci.lo", 0.7001, None, 0.7),
    (extraction, "scores.overall_extraction_score_ci.half", 0.03, None, 0.025),
    (extraction, "scores.overall_extraction_score_ci.n", 3, None, 2),
    (extraction, "scores.overall_extraction_score_ci", None, None, ...),
    (extraction, "scores.category_presence", 0.25, None, 0.5),
    (extraction, "scores.per_field.document_name", 0.71, None, 0.7),
    (extraction, "scores.verified_precision.key_obligations", 0.8333, None, 0.875),
    (extraction, "scores.hallucination_rate.parties", 0.0, None, None),
    (extraction, "scores.diagnostics.n_fields_scored", 5, None, 4),
    (extraction, "scores.diagnostics.error_decomposition.document_name.exact_rate", 0.4, None, 0.5),
    (extraction, "scores.diagnostics.field_presence_per_field.parties", 1.0, None, 0.0),
    (extraction, "scores.diagnostics.list_f1", 0.6, None, 2 / 3),
    (extraction, "scores.diagnostics.list_micro_f1", 0.6001, None, 0.6),
    (extraction, "scores.diagnostics.span_count_mae", 2.0, None, 1.0),
    (extraction, "tokens.prompt_tokens", 999_999, None, 1_000_000),
    (extraction, "tokens.cost_estimated_usd", 0.043002, None, 0.043),
    (extraction, "n_error", 0, None, 1),
    (extraction, "data_source.n_samples", 4, None, 3),
    (subtype, "scores.sorter.subtype_accuracy", 0.4, None, 0.5),
    (subtype, "scores.sorter.equiv_recovered", ["reseller"], None, ["distributor"]),
    (subtype, "scores.sorter.per_subtype.license.correct", 2, None, 1),
    (subtype, "scores.sorter.confusion_matrix.license.supply", 1, None, None),
    (subtype, "scores.sorter.failure_insights.n_failed", 4, None, 2),
    (subtype, "tokens.total.rows_with_usage", 5, None, 4),
    (docclass, "scores.doc_type_accuracy", 0.6666, None, 2 / 3),
    (docclass, "scores.exact_match", 0.5, None, 1 / 3),
    (docclass, "scores.n_rows", 4, None, 3),
    (docclass, "scores.per_subclass_support.all_cash", 2, None, 1),
    (docclass, "scores.input_mode_counts.text", 2, None, 3),
    (docclass, "scores.equiv_recovered", ["b"], None, []),
    (plain, "scores.exact_match", 1.0, None, 0.5),
    (plain, "scores.failure", 0.5, None, 0.0),
    (plain, "scores.per_class_accuracy.no", 1.0, None, 0.0),
    (plain, "scores.cost_total_usd", 0.01, None, 0.0),
    (chained, "scores.extractor.overall_extraction_score", 0.75, None, 0.375),
    (chained, "scores.sorter.confidence", 0.9, None, 0.8),
    (chained, "tokens.total.total_tokens", 0, None, 660),
    (contracteval, "scores.tp", 2, None, 1),
    (contracteval, "scores.f2", 0.6, None, 0.5),
    (contracteval, "scores.jaccard_median", 0.0, None, 2 / 3),
    (contracteval, "scores.false_no_related_rate_paper", 0.5, None, 1 / 1244),
    (contracteval, "scores.per_category.Parties.f2", 0.6667, None, 5 / 9),
    (contracteval, "data_source.n_contracts", 4, None, 1),
    # inside rows
    (extraction, "results.0.overall_score", 0.9, "rows.overall_score", 0.75),
    (extraction, "results.0.ambiguous_fields", [], "rows.ambiguous_fields", ["key_obligations"]),
    (extraction, "results.0.field_presence", 0.5, "rows.field_presence", 1.0),
    (extraction, "results.0.overall_verified_precision", 0.9, "rows.overall_verified_precision", 0.875),
    (
        extraction,
        "results.1.entity_list_audit.document_name.hallucinated",
        1,
        "rows.entity_list_audit.hallucinated",
        0,
    ),
    (extraction, "results.1.entity_list_scores.key_obligations.f1", 0.9, "rows.entity_list_scores.f1", 1.0),
    (extraction, "results.2.overall_score", 0.5, "rows.failed.overall_score", 0.0),
    (extraction, "results.0.tokens.total_tokens", 5, "rows.tokens.total_tokens", 1_100_000),
    (subtype, "results.1.sorter.failure_mode", "family_confusion", "rows.failure_mode", "equivalent_family"),
    (subtype, "results.0.sorter.doc_type_ok", False, "rows.doc_type_ok", True),
    (docclass, "per_row.1.sorter.subclass_ok", True, "rows.subclass_ok", False),
    (plain, "results.1.correct", True, "rows.correct", False),
    (chained, "results.0.sorter.subtype_ok", False, "rows.subtype_ok", True),
    (chained, "results.0.extractor_scores.category_presence", 1.0, "rows.category_presence", 0.5),
    (contracteval, "results.0.classification", "FN", "rows.classification", "TP"),
    (contracteval, "results.0.jaccard", 0.6, "rows.jaccard", 2 / 3),
]


@pytest.mark.parametrize(("build", "path", "value", "name", "right"), PLANTED)
def test_a_planted_error_is_found(build: Any, path: str, value: Any, name: str | None, right: Any) -> None:
    report = verify(put(build(), path, value))
    found = {difference.name: difference for difference in report.differences}
    wanted = found[name or path]
    assert wanted.stored == value
    if right is not ...:
        assert wanted.recomputed == (pytest.approx(right, abs=1e-12) if isinstance(right, float) else right)
    if not name:  # a tampered aggregate is one difference; a tampered row changes aggregates as well
        assert len(found) == 1


def test_a_missing_table_entry_is_a_difference() -> None:
    record = extraction()
    del record["scores"]["per_field"]["document_name"]
    assert only(verify(record)) == Difference("scores.per_field.document_name", None, pytest.approx(0.7), "not stored")


def test_a_metric_that_is_not_stored_is_not_missed() -> None:
    record = extraction()
    del record["scores"]["category_presence"]
    assert verify(record).differences == ()


def test_row_checks_are_counted_once_per_name() -> None:
    record = put(put(plain(), "results.0.correct", False), "results.1.correct", True)
    report = verify(record)
    check = next(check for check in report.row_checks if check.name == "rows.correct")
    assert (check.n, check.n_different) == (2, 2)
    note = next(d.note for d in report.differences if d.name == "rows.correct")
    assert note == "2 of 2, first in results[0]"


def test_fingerprint() -> None:
    record = plain()
    assert "data_source.dataset_fingerprint" in verify(record).confirmed
    record["results"].reverse()
    difference = only(verify(record))
    assert difference.name == "data_source.dataset_fingerprint"
    assert "reordered" in difference.note


def test_fingerprint_without_a_label_is_unverifiable() -> None:
    report = verify(put(plain(), "results.1.expected", None))
    reasons = {entry.name: entry.why for entry in report.unverifiable}
    assert "results[1] holds no label" in reasons["data_source.dataset_fingerprint"]


def test_values_that_need_labels_are_named() -> None:
    reasons = {entry.name: entry.why for entry in verify(extraction()).unverifiable}
    assert list(reasons) == [
        "scores.diagnostics.date_mae_days",
        "scores.diagnostics.date_r2_per_field.effective_date",
        "scores.diagnostics.duration_n_pairs",
        "scores.diagnostics.money_n_pairs",
    ]
    assert "expected dates" in reasons["scores.diagnostics.date_mae_days"]


def test_given_values_are_compared_instead() -> None:
    given = {
        "diagnostics.date_mae_days": 3.50004,
        "diagnostics.date_r2_per_field": {"effective_date": 0.5},
        "diagnostics.date_median_ae_days": 1.0,  # not stored
        "overall_extraction_score": 0.1,  # the rows give it
    }
    report = verify(extraction(), recomputed=given)
    assert "scores.diagnostics.date_mae_days" in report.confirmed
    assert only(report).name == "scores.diagnostics.date_r2_per_field.effective_date"
    assert [entry.name.rsplit(".", 1)[1] for entry in report.unverifiable] == ["duration_n_pairs", "money_n_pairs"]


def test_nothing_stored_is_passed_over() -> None:
    record = extraction()
    record["scores"]["brand_new"] = {"x": [1, 2], "y": {}}
    record["scores"]["judge_calibration"] = {"n_judged": 3}
    record["tokens"]["cached_tokens"] = 7
    record["n_retried"] = 1
    reasons = {entry.name: entry.why for entry in verify(record).unverifiable}
    assert reasons["scores.brand_new.x"] == reasons["n_retried"] == "no rule is known that gives it from the rows"
    assert {"scores.brand_new.y", "tokens.cached_tokens"} <= set(reasons)
    assert "judgments" in reasons["scores.judge_calibration.n_judged"]


def test_an_unknown_task_is_audited_as_far_as_possible() -> None:
    report = verify({**plain(), "task": "maud_question"})
    assert "n_rows" in report.confirmed
    assert "scores.exact_match" in [entry.name for entry in report.unverifiable]


def test_bounds_from_another_seed_leave_the_seed_unconfirmed() -> None:
    record = put(plain(), "results", [{**plain()["results"][i % 2], "filename": str(i)} for i in range(40)])
    interval = {"lo": 0.36, "hi": 0.66, "half": 0.15, "n": 40, "seed": 7, "n_boot": 2000}
    record["scores"] = {"exact_match": 0.5, "exact_match_ci": interval}
    report = verify(record)
    names = {difference.name for difference in report.differences}
    assert {"scores.exact_match_ci.lo", "scores.exact_match_ci.hi"} <= names
    assert "scores.exact_match_ci.seed" in [entry.name for entry in report.unverifiable]


@pytest.mark.parametrize("n_boot", [0, 20, 10**12, "2000", None, True])
def test_an_interval_that_cannot_be_redrawn_is_unverifiable(n_boot: object) -> None:
    report = verify(put(extraction(), "scores.overall_extraction_score_ci.n_boot", n_boot))
    assert "scores.overall_extraction_score_ci" in [entry.name for entry in report.unverifiable]


def test_one_value_has_no_interval() -> None:
    record = put(plain(), "results", plain()["results"][:1])
    record["scores"] = {"exact_match": 1.0, "exact_match_ci": None}
    assert "scores.exact_match_ci" in verify(record).confirmed


def test_rows_replaced_after_scoring_are_explained() -> None:
    record = extraction()
    del record["results"][0]
    notes = {difference.name: difference.note for difference in verify(record).differences}
    assert notes["n_rows"].startswith("n_rows says 3 but there are 2 rows")
    assert notes["scores.overall_extraction_score"] == notes["n_rows"]


def test_rows_without_an_answer_counted_as_wrong_are_explained() -> None:
    record = subtype()
    insights = record["scores"]["sorter"]["failure_insights"]
    insights["n_failed"] = 3
    insights["mode_counts"]["family_confusion"] = 1
    insights["failures"].append({"filename": "e", "expected": None, "mode": "family_confusion"})
    report = verify(record)
    notes = {difference.name.rsplit(".", 1)[1]: difference.note for difference in report.differences}
    assert set(notes) == {"n_failed", "family_confusion", "failures"}
    assert notes["n_failed"].startswith("the 1 rows without an answer are counted as wrong")
    assert notes["failures"].startswith("1 stored entries do not follow, 0 are not stored; the 1 rows")


def test_a_changed_failure_entry_is_found() -> None:
    failures = "scores.sorter.failure_insights.failures"
    report = verify(put(subtype(), f"{failures}.1.reasoning", "else"))
    assert only(report).name == f"{failures}[].reasoning"
    record = subtype()
    record["scores"]["sorter"]["failure_insights"]["failures"].reverse()
    assert only(verify(record)).note == "the entries stand in another order or are repeated"


def test_usage_missing_from_the_rows_is_explained() -> None:
    report = verify(put(extraction(), "results.0.tokens", {}))
    notes = {difference.name: difference.note for difference in report.differences}
    assert set(notes) == {
        "tokens.prompt_tokens",
        "tokens.completion_tokens",
        "tokens.total_tokens",
        "tokens.rows_with_usage",
        "tokens.cost_estimated_usd",
    }
    assert all(note.startswith("rows_with_usage says 1 but 0 rows carry usage") for note in notes.values())


def test_estimates_and_the_price_table() -> None:
    missing = put(extraction(), "tokens.cost_estimated_usd", None)
    assert only(verify(missing)).note == "no estimate was stored although the tokens and the model's price are known"
    assert "tokens.cost_estimated_usd" in verify(missing, prices={}).confirmed  # unknown price, stored as null
    reasons = {entry.name: entry.why for entry in verify(extraction(), prices={}).unverifiable}
    assert "no price for qwen/qwen3.7-flash" in reasons["tokens.cost_estimated_usd"]
    # a sibling's name may begin with another's: the longest beginning is the model's own
    family = {"qwen/": (9.0, 9.0), "qwen/qwen3.7": (0.03, 0.13)}
    assert verify(extraction(), prices=family).differences == ()


def test_rows_stored_twice_must_agree() -> None:
    record = docclass()
    record["results"] = copy.deepcopy(record["per_row"])
    assert "per_row" in verify(record).confirmed
    record["per_row"][0]["sorter"]["confidence"] = 0.1
    assert only(verify(record)).name == "per_row"


def test_ablation_of_the_handoff() -> None:
    record = chained()
    record["results"][0]["extractor_gt_scores"] = {"overall_score": 0.8}
    # .75 against .8 over one document: 5 points lost
    record["scores"]["ablation"] = {
        "predicted_handoff_overall": 0.75,
        "ground_truth_handoff_overall": 0.8,
        "sorter_loss_pp": 5.0,
        "n_docs": 1,
    }
    assert verify(record).differences == ()
    record["scores"]["ablation"]["sorter_loss_pp"] = 4.9
    assert only(verify(record)).name == "scores.ablation.sorter_loss_pp"
    assert "scores.ablation" in verify(put(chained(), "scores.ablation", {})).confirmed


def test_a_value_no_row_carries_is_unverifiable() -> None:
    record = extraction()
    for row in record["results"]:
        row.pop("category_presence", None)
    reasons = {entry.name: entry.why for entry in verify(record).unverifiable}
    assert reasons["scores.category_presence"] == "no completed row carries category_presence"


def test_only_the_first_200_wrong_documents_are_listed() -> None:
    record = docclass()
    row = record["per_row"][1]
    record["per_row"] = [{**row, "filename": str(i)} for i in range(201)]
    listed = record["scores"]["sorter"]["failure_insights"]["failures"][0]
    failures = [{**listed, "filename": str(i)} for i in range(200)]
    insights = {"mode_counts": {"subclass_miss": 201}, "n_failed": 201, "failures": failures}
    record["scores"] = {"sorter": {"failure_insights": insights}}
    assert verify(record).differences == ()


def test_a_failed_call_is_a_miss_in_the_headline_only() -> None:
    record = plain()
    record["results"][0] |= {"status": "error", "expected": None, "predicted": None, "correct": None}
    record |= {"n_ok": 1, "n_error": 1, "data_source": {}}
    record["scores"] |= {"exact_match": 0.0, "failure": 0.5, "per_class_accuracy": {"no": 0.0}}
    assert verify(record).differences == ()


MALFORMED = [
    (lambda r: [], None, "one JSON object"),
    (lambda r: put(r, "task", None), "task", "a task key"),
    (lambda r: put(r, "scores", None), "scores", "an object"),
    (lambda r: put(r, "scores", [1]), "scores", "an object"),
    (lambda r: put(r, "results", None), "results", "a list of rows, here or under per_row"),
    (lambda r: put(r, "results", "rows"), "results", "a list of rows, here or under per_row"),
    (lambda r: put(r, "results.1", 5), "results[1]", "an object"),
    (lambda r: put(r, "results.1.overall_score", "0.5"), "results[1].overall_score", "a finite number or null"),
    (lambda r: put(r, "results.1.overall_score", float("nan")), "results[1].overall_score", "a finite number"),
    (lambda r: put(r, "results.1.status", 1), "results[1].status", "a text or null"),
    (lambda r: put(r, "results.1.field_scores", []), "results[1].field_scores", "an object or null"),
    (
        lambda r: put(r, "results.0.entity_list_audit.document_name.n_predicted", 1.5),
        "results[0].entity_list_audit.document_name.n_predicted",
        "a whole number",
    ),
    (lambda r: put(r, "results.0.ambiguous_fields", [1]), "results[0].ambiguous_fields", "a list of texts"),
    (lambda r: put(r, "tokens", 3), "tokens", "an object or null"),
]


@pytest.mark.parametrize(("spoil", "field", "expected"), MALFORMED)
def test_a_malformed_record_names_field_and_expectation(spoil: Any, field: str | None, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        verify(spoil(extraction()))
    assert caught.value.file == "small"
    assert caught.value.field == field
    assert (caught.value.expected or "").startswith(expected)


def test_a_flag_must_be_a_flag() -> None:
    with pytest.raises(InputError, match=r"results\[0\].sorter.subtype_ok.*true, false or null"):
        verify(put(subtype(), "results.0.sorter.subtype_ok", "yes"))


def paths(value: object, path: str = "") -> Iterator[str]:
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        place = f"{path}.{key}" if path else str(key)
        yield place
        yield from paths(child, place)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.just(10**400),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_any_damage_is_reported_or_refused_never_a_crash(data: st.DataObject) -> None:
    record = data.draw(st.sampled_from(BUILDERS))()
    damaged = put(record, data.draw(st.sampled_from(list(paths(record)))), data.draw(JSON))
    with suppress(InputError):
        report = verify(damaged)
        json.dumps(report.as_dict())
        assert not unaccounted(damaged, report)


def test_report_as_json() -> None:
    report = verify(put(extraction(), "n_ok", 3))
    read = json.loads(json.dumps(report.as_dict()))
    assert read["run"] == "small"
    assert read["task"] == "contract_entity_extraction"
    assert read["checked"] == read["equal"] + len(read["differences"]) == report.checked
    assert read["differences"][0]["name"] == "n_ok"
    assert {"name": "rows.overall_score", "n": 2, "n_different": 0} in read["row_checks"]
