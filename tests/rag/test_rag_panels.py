"""Incomplete panels: every policy, and bounds against trying every assignment of the missing labels."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from label_tables import CHUNK_COLUMNS, answers, chunks, panel

from dojo_kit.errors import InputError
from dojo_kit.rag import TASKS, Scorecard, TaskName, metrics_of, score_rag
from dojo_kit.rag.bounds import MAX_MISSING
from dojo_kit.rag.metrics import ndcg, reciprocal_rank
from dojo_kit.stats.intervals import wilson

PRECISION, RECIPROCAL, NDCG = "topical_precision_at_k", "mean_reciprocal_rank_at_k", "ndcg_at_k"


def test_a_gap_keeps_its_rank() -> None:
    """Ranks 1 and 3 judged, relevant at 3: as if the missing chunk were irrelevant, not as if it were not there."""
    card = score_rag(panel("q", "0.1", "0.0"), "retrieval", on_incomplete="as_is")

    values = {name: estimate.value for name, estimate in card.metrics.items()}
    assert values[RECIPROCAL] == pytest.approx(1 / 3)
    assert values[NDCG] == pytest.approx(0.5)
    assert values[PRECISION] == 0.5
    assert card.flags == ("n = 1", "1 incomplete panel scored by what was judged")


def test_skipped_queries_are_left_out_and_counted() -> None:
    frame = pd.concat([panel("a", "11"), panel("b", "0.0"), panel("c", "0?"), panel("d", "10")])

    card = score_rag(frame, "retrieval", on_incomplete="skip")
    assert card.metrics[PRECISION].value == 0.75
    assert card.queries["status"].tolist() == ["scored", "incomplete", "incomplete", "scored"]
    assert card.queries["n_missing"].tolist() == [0, 1, 1, 0]
    expected = {"queries": 4, "queries_scored": 2, "queries_left_out": 2, "ranks_without_row": 1}
    assert expected.items() <= card.counts.items()
    assert card.counts["units_without_labels"] == 1
    assert "2 of 4 queries left out" in card.flags


def test_nothing_left_is_an_error() -> None:
    with pytest.raises(InputError, match="the only query is left out: on_incomplete is skip"):
        score_rag(panel("a", "1?"), "retrieval", on_incomplete="skip")


def test_declared_chunks_that_nobody_judged_are_missing() -> None:
    """Two of five chunks judged, the last two: as is they look perfect, and the bounds say what is known."""
    frame = panel("q", "...11").assign(n_retrieved_chunks=5)

    as_is = score_rag(frame, "retrieval", on_incomplete="as_is")
    bounded = score_rag(frame, "retrieval", on_incomplete="bounds")
    assert as_is.metrics[PRECISION].value == 1.0
    assert as_is.metrics[RECIPROCAL].value == 0.25
    ends = bounded.bounds[PRECISION]
    assert (ends.lowest.value, ends.highest.value) == (0.4, 1.0)
    assert (ends.lowest.n, bounded.metrics[PRECISION].value) == (1, None)


@pytest.mark.parametrize("policy", ["fail", "skip", "bounds", "as_is"])
def test_a_query_for_which_nothing_was_retrieved_scores_0(policy: str) -> None:
    who = {"annotator_id": "ann", "response_status": "submitted", "answer_id": "1"}
    nobody = dict.fromkeys(who, "")
    empty = chunks(("b", "", "", "", "", "")).assign(n_retrieved_chunks="0", **nobody)
    frame = pd.concat([panel("a", "11").assign(n_retrieved_chunks="2", **who), empty])

    card = score_rag(frame, "retrieval", on_incomplete=policy)  # type: ignore[arg-type]
    values = {name: estimate.value for name, estimate in card.metrics.items()}
    assert values == {**dict.fromkeys(values, 0.5), "misleading_context_rate_at_k": 0.0}
    assert card.counts["queries_with_nothing_retrieved"] == 1
    assert card.queries["status"].tolist() == ["scored", "nothing retrieved"]
    assert card.queries["k"].tolist() == [2, 0]


def test_discarded_answers() -> None:
    frame = answers("generation", "11100", "00011", "11111")
    frame = frame.assign(response_status=["submitted", "submitted", "discarded"])

    skipped = score_rag(frame, "generation", on_incomplete="skip")
    bounded = score_rag(frame, "generation", on_incomplete="bounds")
    assert skipped.metrics["helpfulness_rate"].value == 0.5
    ends = bounded.bounds["helpfulness_rate"]
    assert ends.lowest.value == pytest.approx(1 / 3)
    assert ends.highest.value == pytest.approx(2 / 3)
    between = bounded.metrics["helpfulness_rate"]
    assert (between.lo, between.hi, between.method) == (ends.lowest.lo, ends.highest.hi, "bounds, wilson")


def test_ndcg_is_greatest_between_all_0_and_all_1() -> None:
    """Relevant, missing, relevant: 0.92 with 0, 1 with relevant, less with sufficient."""
    card = score_rag(panel("q", "1?1", "0?0"), "retrieval", on_incomplete="bounds")

    assert card.bounds[NDCG].highest.value == pytest.approx(1.0)
    assert ndcg([1, 0, 1], [0, 0, 0]) < 0.93
    assert ndcg([1, 1, 1], [0, 1, 0]) < 0.91


BLANK, GAP = "?", "."
SLOT = st.sampled_from([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 0, 1), BLANK, GAP])


def _tried(slots: list[object]) -> dict[str, tuple[float, float]]:
    """Least and greatest value of a query over every assignment of what is missing."""
    choices = [list(product((0, 1), repeat=3)) if slot in (BLANK, GAP) else [slot] for slot in slots]
    found = []
    for filled in product(*choices):
        t, s, m = np.array(filled).T
        found.append((t.mean(), s.max(), s.mean(), m.mean(), reciprocal_rank(t), ndcg(t, s)))
    names = [metric.name for metric in metrics_of("retrieval")]
    return {name: (min(column), max(column)) for name, column in zip(names, zip(*found, strict=True), strict=True)}


@settings(max_examples=40)
@given(st.lists(st.lists(SLOT, min_size=1, max_size=4), min_size=1, max_size=3))
def test_bounds_are_the_extremes_over_every_assignment(queries: list[list[object]]) -> None:
    rows, n_queries = [], 0
    for at, slots in enumerate(queries):
        for rank, slot in enumerate(slots, start=1):
            if slot != GAP:
                rows.append((f"q{at}", f"c{rank}", rank, *(("", "", "") if slot == BLANK else slot), len(slots)))
        n_queries += any(slot != GAP for slot in slots)
    if not rows:
        return
    frame = pd.DataFrame(rows, columns=[*CHUNK_COLUMNS, "n_retrieved_chunks"])

    card = score_rag(frame, "retrieval", on_incomplete="bounds", n_resamples=10)
    table = card.queries.set_index("record_uuid")
    assert len(table) == n_queries
    for query in table.index:
        expected = _tried(queries[int(query[1:])])
        for name, ends in expected.items():
            assert table.loc[query, [f"{name}_min", f"{name}_max"]].tolist() == pytest.approx(ends, abs=1e-12)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(-1, 1), st.integers(-1, 1)), min_size=1, max_size=5))
def test_ndcg_bounds_with_one_label_of_a_chunk_missing(slots: list[tuple[int, int]]) -> None:
    """Dropped ties leave one label of a chunk missing; each kind of chunk has grades of its own."""
    rows = []
    for rank, labels in enumerate(slots, start=1):
        votes = zip(*((0, 1) if label < 0 else (label, label) for label in labels), strict=True)
        rows += [("q", f"c{rank}", rank, *vote, 0, who) for who, vote in zip(("ann", "bob"), votes, strict=True)]
    frame = pd.DataFrame(rows, columns=[*CHUNK_COLUMNS, "annotator_id"])
    tried = [
        ndcg(*np.array(filled).T)
        for filled in product(*([*product(*((0, 1) if x < 0 else (x,) for x in labels))] for labels in slots))
    ]

    card = score_rag(frame, "retrieval", tie="drop", on_incomplete="bounds", on_violation="as_is", n_resamples=10)
    found = card.queries.loc[0, [f"{NDCG}_min", f"{NDCG}_max"]].tolist()
    assert found == pytest.approx([min(tried), max(tried)], abs=1e-12)


@settings(max_examples=80)
@given(st.lists(st.tuples(st.integers(-1, 1), st.integers(-1, 1)), min_size=1, max_size=4))
def test_bounds_of_the_conditional_rate(labels: list[tuple[int, int]]) -> None:
    """An open citation decides whether an answer counts; bounds are over assignments with a defined rate."""
    rows = []
    for at, pair in enumerate(labels):
        votes = zip(*((0, 1) if label < 0 else (label, label) for label in pair), strict=True)
        rows += [(f"q{at}", who, 1, 0, 0, *vote) for who, vote in zip(("ann", "bob"), votes, strict=True)]
    names = ["support_present", "unsupported_claim_present", "contradicted_claim_present"]
    columns = ["record_uuid", "annotator_id", *names, "source_cited", "fabricated_source"]
    tried = []
    for filled in product(*([*product(*((0, 1) if x < 0 else (x,) for x in pair))] for pair in labels)):
        among = [fabricated for cited, fabricated in filled if cited]
        tried += [sum(among) / len(among)] if among else []

    options = {"tie": "drop", "on_incomplete": "bounds", "on_violation": "as_is"}
    card = score_rag(pd.DataFrame(rows, columns=columns), "grounding", **options)  # type: ignore[arg-type]
    ends = card.bounds["conditional_fabrication_rate"]
    assert (ends.lowest.value, ends.highest.value) == pytest.approx((min(tried), max(tried)) if tried else (None, None))


def test_long_panels_are_bounded_quickly() -> None:
    """The longest panel whose NDCG is bounded: half a million counts are tried."""
    long = panel("long", "1" + "." * MAX_MISSING + "1")
    card = score_rag(long, "retrieval", on_incomplete="bounds")

    low, high = card.queries.loc[0, [f"{NDCG}_min", f"{NDCG}_max"]]
    assert 0 < low < 0.5
    assert high == pytest.approx(1.0)


@pytest.mark.parametrize("policy", ["fail", "skip", "bounds", "as_is"])
def test_nothing_retrieved_for_any_query_scores_0(policy: str) -> None:
    frame = chunks(("a", "", "", "", "", ""), ("b", "", "", "", "", "")).assign(n_retrieved_chunks="0")

    card = score_rag(frame, "retrieval", on_incomplete=policy)  # type: ignore[arg-type]
    assert {estimate.value for estimate in card.metrics.values()} == {0.0}
    assert (card.n_queries, card.top_k, len(card.units)) == (2, 0, 0)


CONDITIONAL = "conditional_fabrication_rate"
CITATIONS = ["record_uuid", "annotator_id", *TASKS["grounding"].labels]


def _citations(labels: list[tuple[int, int]]) -> pd.DataFrame:
    """Two votes per answer on citation and fabrication; -1 is a tie."""
    rows: list[tuple[object, ...]] = []
    for at, pair in enumerate(labels):
        votes = zip(*((0, 1) if label < 0 else (label, label) for label in pair), strict=True)
        rows += [(f"q{at}", who, 1, 0, 0, *vote) for who, vote in zip(("ann", "bob"), votes, strict=True)]
    return pd.DataFrame(rows, columns=CITATIONS)


def _bounded(frame: pd.DataFrame, **options: Any) -> Scorecard:
    task: TaskName = "retrieval" if "chunk_id" in frame else "grounding"
    return score_rag(frame, task, tie="drop", on_incomplete="bounds", on_violation="as_is", **options)


@settings(max_examples=80)
@given(st.lists(st.tuples(st.integers(-1, 1), st.integers(-1, 1)), min_size=1, max_size=5))
def test_the_interval_holds_every_interval_of_the_conditional_rate(labels: list[tuple[int, int]]) -> None:
    """How many answers cite changes with the missing labels, and with it the width."""
    tried, undefined = [], False
    for filled in product(*([*product(*((0, 1) if x < 0 else (x,) for x in pair))] for pair in labels)):
        among = [fabricated for cited, fabricated in filled if cited]
        undefined |= not among
        tried += [wilson(sum(among), len(among))] if among else []
    found = _bounded(_citations(labels)).metrics[CONDITIONAL]

    if not tried:
        assert (found.value, found.lo, found.note) == (None, None, "no answer cites a source")
        return
    expected = min(one.lo for one in tried), max(one.hi for one in tried)  # type: ignore[type-var]
    assert (found.lo, found.hi) == pytest.approx(expected, abs=1e-12)
    assert ("undefined if" in found.note) == undefined
    assert found.n == min(one.n for one in tried)


def test_a_known_share_of_an_unknown_number_of_answers() -> None:
    """3 answers cite and fabricate nothing, 20 may: the share is 0, but rests on 3 answers perhaps."""
    found = _bounded(_citations([(1, 0)] * 3 + [(-1, 0)] * 20)).metrics[CONDITIONAL]

    assert (found.value, found.lo, found.n) == (0.0, 0.0, 3)
    assert found.hi == wilson(0, 3).hi
    assert found.note == "3 to 23 answers cite a source"


def test_flags_of_a_range_hold_at_both_ends() -> None:
    """All 0 with the labels missing as 0, all 1 with them as 1: the range is neither."""
    card = _bounded(pd.concat([panel("a", "?"), panel("b", "?")]))

    found = card.metrics["sufficiency_hit_at_k"]
    assert (card.bounds["sufficiency_hit_at_k"].lowest.flags, found.flags) == (("n < 20", "all 0"), ("n < 20",))


def test_a_range_in_one_group_is_not_undefined() -> None:
    card = _bounded(pd.concat([panel("a", "?1"), panel("b", "11")]).assign(doc="d"), group_by="doc")

    stored = card.as_dict()[PRECISION]
    assert (stored["point"], stored["ci_lower"], stored["method"]) == (None, None, "none")
    assert "only the range of the value is known" in stored["note"]
    assert card.as_dict()["bounds"][PRECISION]["lowest"]["value"] == 0.75


def test_design_effects_under_bounds_or_why_not() -> None:
    """Only relevance of one chunk is missing: the other labels are exact and have a design effect."""
    frame = pd.concat([panel("a", "11").assign(annotator_id="ann"), panel("b", "10").assign(annotator_id="ann")])
    tied = chunks(("c", "x", 1, 1, 0, 0), ("c", "x", 1, 0, 0, 0)).assign(annotator_id=["ann", "bob"])
    frame = pd.concat([frame, tied]).assign(doc=lambda rows: rows["record_uuid"].map({"a": "d", "b": "e", "c": "e"}))

    card = _bounded(frame, group_by="doc")
    assert PRECISION not in card.design_effects
    assert "sufficiency_rate_at_k" in card.design_effects
    assert "no design effect where only a range is known" in card.flags
