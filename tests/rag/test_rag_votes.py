"""Votes: one per annotator, strict majorities, explicit ties; everything that is put together or dropped is counted."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from label_tables import answers, chunks

from dojo_kit.rag import LabelsError, majority, score_rag

RELEVANT = "topically_relevant"


def _votes(*labels: int, **columns: list[Any]) -> pd.DataFrame:
    """One chunk of one query, judged relevant or not by ann, bob, ..."""
    who = ["ann", "bob", "cat", "dan"][: len(labels)]
    return chunks(*(("q", "c", 1, label, 0, 0) for label in labels)).assign(**{"annotator_id": who, **columns})


def _precision(frame: pd.DataFrame, **options: Any) -> float | None:
    return score_rag(frame, "retrieval", **options).metrics["topical_precision_at_k"].value


def test_majorities_are_counted() -> None:
    frame = pd.concat([_votes(1, 1, 0), chunks(("q", "d", 2, 0, 0, 1)).assign(annotator_id="ann")])

    counts = score_rag(frame, "retrieval").counts
    assert _precision(frame) == 0.5
    expected = {"rows": 4, "units": 2, "rows_collapsed": 2, "units_with_several_votes": 1, "units_with_dissent": 1}
    assert expected.items() <= counts.items()
    assert (counts["annotators"], counts["units_tied"]) == (3, 0)


def test_a_tie_fails_unless_a_rule_is_given() -> None:
    with pytest.raises(
        LabelsError, match=r"line 2, field 'topically_relevant': query 'q', chunk 'c': 2 votes are tied"
    ):
        score_rag(_votes(1, 0), "retrieval")


@pytest.mark.parametrize(("tie", "value"), [("positive", 1.0), ("negative", 0.0), ("first", 1.0)])
def test_tie_rules(tie: Any, value: float) -> None:
    card = score_rag(_votes(1, 0), "retrieval", tie=tie)

    assert card.metrics["topical_precision_at_k"].value == value
    assert (card.counts["units_tied"], card.counts["labels_tied"]) == (1, 1)


def test_only_the_first_row_depends_on_order() -> None:
    assert [_precision(_votes(*labels), tie="first") for labels in ((1, 0), (0, 1))] == [1.0, 0.0]


def test_first_takes_the_row_that_agrees_with_what_is_decided() -> None:
    """Label 1 is decided 1, so the first row, which says 0, does not break the tie of label 2."""
    labels = [[0, 1], [1, 0], [1, 0], [1, 1]]

    assert majority(labels, [0, 0, 0, 0], tie="first").labels.tolist() == [[1, 0]]
    assert majority([[0, 1], [1, 0]], [0, 0], tie="first").labels.tolist() == [[0, 1]]


def test_a_dropped_tie_drops_its_query() -> None:
    frame = pd.concat([_votes(1, 0), chunks(("p", "c", 1, 1, 0, 0)).assign(annotator_id="ann")])

    card = score_rag(frame, "retrieval", tie="drop")
    assert card.metrics["topical_precision_at_k"].value == 1.0
    assert card.queries["status"].tolist() == ["scored", "tied"]
    assert (card.counts["queries_tied"], card.counts["queries_left_out"]) == (1, 1)
    assert card.flags == ("n = 1", "1 of 2 queries left out")


def test_a_dropped_tie_is_a_missing_label_for_bounds() -> None:
    frame = pd.concat([_votes(1, 0), chunks(("q", "d", 2, 1, 1, 0)).assign(annotator_id="ann")])

    card = score_rag(frame, "retrieval", tie="drop", on_incomplete="bounds")
    precision, misleading = card.metrics["topical_precision_at_k"], card.metrics["misleading_context_rate_at_k"]
    assert precision.value is None
    assert misleading.value == 0.0
    ends = card.bounds["topical_precision_at_k"]
    assert (ends.lowest.value, ends.highest.value) == (0.5, 1.0)


def test_the_latest_row_of_an_annotator_is_their_vote() -> None:
    times = ["2026-01-02T10:00:00+02:00", "2026-01-02T09:00:00", "2026-01-01"]
    frame = _votes(0, 1, 1, annotator_id=["ann"] * 3, created_at=times)

    assert _precision(frame) == 1.0
    assert _precision(frame[::-1]) == 1.0
    assert score_rag(frame, "retrieval").counts["rows_replaced"] == 2


def test_equal_rows_of_an_annotator_count_once() -> None:
    counts = score_rag(_votes(1, 1, 0, annotator_id=["ann", "ann", "bob"]), "retrieval", tie="negative").counts

    assert (counts["rows_repeated"], counts["units_tied"]) == (1, 1)


def test_contradicting_rows_of_an_annotator_need_a_time() -> None:
    frame = _votes(1, 0, annotator_id=["ann", "ann"])

    with pytest.raises(LabelsError, match=r"line 3, field 'annotator_id': judges the same as line 2 of the same ann"):
        score_rag(frame, "retrieval", tie="first")
    with pytest.raises(LabelsError, match="expected one row, or a later created_at"):
        score_rag(frame.assign(created_at="2026-01-01"), "retrieval")
    with pytest.raises(LabelsError, match=r"line 3, field 'created_at': 'soon' is no time"):
        score_rag(frame.assign(created_at=["2026-01-01", "soon"]), "retrieval")
    with pytest.raises(LabelsError, match=r"line 2, field 'created_at': 1 is no time"):
        score_rag(frame.assign(created_at=[1, 2]), "retrieval")


def test_times_are_read_only_where_they_decide() -> None:
    assert _precision(_votes(1, 1, created_at=["soon", ""])) == 1.0


def test_outvoted_contradictions_are_counted_and_decided_ones_fail() -> None:
    """Fabricated sources are cited: one annotator says otherwise, then the vote does."""
    outvoted = answers("grounding", "10001", "10010", "10010").assign(record_uuid="g", annotator_id=["a", "b", "c"])
    decided = answers("grounding", "10001", "10011", "10000").assign(record_uuid="g", annotator_id=["a", "b", "c"])

    counts = score_rag(outvoted, "grounding").counts
    assert (counts["rows_violating_rules"], counts["units_violating_rules"]) == (1, 0)
    with pytest.raises(LabelsError, match=r"fabricated_source is 1, source_cited 0; expected 1 \(a fabricated source"):
        score_rag(decided, "grounding")
    card = score_rag(decided, "grounding", on_violation="as_is")
    assert card.violations == {"a contradicted claim is unsupported": 0, "a fabricated source is cited": 1}
    assert card.metrics["conditional_fabrication_rate"].value is None
    assert card.metrics["conditional_fabrication_rate"].note == "no answer cites a source"
    assert card.as_dict()["conditional_fabrication_rate"] is None


def test_units_say_how_their_votes_went() -> None:
    units = score_rag(_votes(1, 1, 0), "retrieval").units

    assert units[[RELEVANT, "n_votes", "n_dissent", "n_tied"]].to_numpy().tolist() == [[1, 3, 1, 0]]


def test_equal_rows_without_a_time_count_once() -> None:
    """Where an annotator says the same twice, no time is needed to tell which vote is theirs."""
    frame = _votes(1, 1, 0, annotator_id=["ann", "ann", "bob"], created_at=["2026-01-01", "", ""])

    counts = score_rag(frame, "retrieval", tie="negative").counts
    assert (counts["rows_repeated"], counts["rows_replaced"], counts["units_tied"]) == (1, 0, 1)
    with pytest.raises(LabelsError, match="'' is no time"):
        score_rag(frame.assign(topically_relevant=[1, 0, 0]), "retrieval")


def test_all_kinds_of_faults_are_told_together() -> None:
    """A tie, a broken rule and a gap: one message with the three options."""
    broken = chunks(("p", "c", 1, 0, 1, 0), ("p", "e", 3, 0, 0, 0)).assign(annotator_id="ann")

    with pytest.raises(LabelsError) as caught:
        score_rag(pd.concat([_votes(1, 0), broken]), "retrieval")
    says = str(caught.value)
    assert "1 tied vote (option tie), 1 label against a rule (option on_violation), " in says
    assert "1 query with an incomplete panel (option on_incomplete)" in says
    assert "no row for rank 2" in says
    assert caught.value.n_problems == 3
