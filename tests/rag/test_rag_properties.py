"""Properties of scorecards: nothing depends on the order of rows, and more of the same says more of the same."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from label_tables import CHUNK_COLUMNS, answers, random_panels

from dojo_kit.rag import TASKS, score_rag

VOTE = st.tuples(*[st.integers(0, 1)] * 3)


@st.composite
def judged_tables(draw: st.DrawFn) -> pd.DataFrame:
    """Panels with several annotators, missing chunks, discarded rows and replaced votes."""
    rows = []
    for query in range(draw(st.integers(2, 6))):
        k = draw(st.integers(1, 4))
        for rank in draw(st.lists(st.integers(1, k), min_size=1, unique=True)):
            for who in draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=4)):
                status = draw(st.sampled_from(["submitted", "submitted", "discarded"]))
                labels = draw(VOTE)
                rows.append((f"q{query}", f"c{rank}", rank, *labels, who, status, f"2026-01-01T00:00:{len(rows):02d}"))
    columns = [*CHUNK_COLUMNS, "annotator_id", "response_status", "created_at"]
    return pd.DataFrame(rows, columns=columns)


def _stored(frame: pd.DataFrame, **options: Any) -> str:
    card = score_rag(frame, "retrieval", on_violation="as_is", n_resamples=50, **options)
    return json.dumps([card.as_dict(), card.queries.to_json(), card.units.to_json()])


@settings(max_examples=40)
@given(judged_tables(), st.sampled_from(["bounds", "as_is"]), st.data())
def test_the_order_of_rows_changes_no_number(frame: pd.DataFrame, policy: str, data: st.DataObject) -> None:
    tie = data.draw(st.sampled_from(["drop", "positive", "negative"]))
    shuffled = frame.iloc[data.draw(st.permutations(range(len(frame))))]
    try:
        once = _stored(frame, on_incomplete=policy, tie=tie)
    except ValueError as error:  # every query left out
        with pytest.raises(ValueError, match=str(error)):
            _stored(shuffled, on_incomplete=policy, tie=tie)
        return

    assert _stored(shuffled, on_incomplete=policy, tie=tie) == once


def _twice(frame: pd.DataFrame) -> pd.DataFrame:
    return pd.concat([frame, frame.assign(record_uuid=frame["record_uuid"] + " again")])


def _check_narrower(frame: pd.DataFrame, task: Any) -> None:
    once, twice = (score_rag(table, task, on_violation="as_is").metrics for table in (frame, _twice(frame)))
    for name, estimate in once.items():
        if estimate.value is None:
            assert twice[name].value is None
            continue
        assert twice[name].value == pytest.approx(estimate.value, abs=1e-12)
        widths = [found.hi - found.lo for found in (estimate, twice[name])]  # type: ignore[operator]
        assert widths[1] < widths[0] or widths == [0.0, 0.0]


@settings(max_examples=25)
@given(st.integers(8, 40), st.integers(1, 6), st.integers(0, 1000))
def test_every_query_twice_narrows_the_intervals_of_retrieval(n: int, k: int, seed: int) -> None:
    _check_narrower(random_panels(n, k, seed), "retrieval")


@settings(max_examples=25)
@given(st.sampled_from(["grounding", "generation"]), st.data())
def test_every_answer_twice_narrows_the_intervals(task: Any, data: st.DataObject) -> None:
    row = st.text("01", min_size=5, max_size=5)
    _check_narrower(answers(task, *data.draw(st.lists(row, min_size=1, max_size=20))), task)


@settings(max_examples=25)
@given(st.integers(1, 30), st.integers(1, 5), st.integers(0, 1000))
def test_values_lie_in_their_range_and_order(n: int, k: int, seed: int) -> None:
    card = score_rag(random_panels(n, k, seed), "retrieval", n_resamples=20)

    values = card.queries[list(card.metrics)]
    assert ((values >= 0) & (values <= 1)).all(axis=None)
    assert (values["sufficiency_hit_at_k"] >= values["sufficiency_rate_at_k"]).all()
    assert card.queries["record_uuid"].is_monotonic_increasing
    assert len(card.units) == n * k
    assert list(card.units)[:6] == [*CHUNK_COLUMNS[:3], *TASKS["retrieval"].labels]
