"""SpanCompare: the record follows the span, and a page without Python can look it up."""

from __future__ import annotations

from typing import Any

import pytest

from dojo_widgets.span_compare import SpanCompare

IDS = ["a:clauses:0", "a:clauses:1"]


def record_of(span: str) -> dict[str, Any]:
    return {"id": span, "label": {"text": f"label of {span}"}, "items": [{"index": 3}, {"index": 1}]}


def test_record_follows_the_span() -> None:
    widget = SpanCompare(record_of, ids=IDS, span=IDS[0])
    assert widget.record == record_of(IDS[0])
    widget.span = IDS[1]
    assert widget.record == record_of(IDS[1])
    widget.span = ""
    assert widget.record == {}


def test_a_new_record_starts_with_the_nearest_item() -> None:
    widget = SpanCompare(record_of, ids=IDS, span=IDS[0])
    widget.item = 1
    widget.span = IDS[1]
    assert widget.item == 0


def test_nothing_is_selected_at_first() -> None:
    assert SpanCompare(record_of, ids=IDS).record == {}


def test_first_span_must_be_one_of_the_ids() -> None:
    with pytest.raises(ValueError, match="'b:clauses:0' is none of the 2 ids"):
        SpanCompare(record_of, ids=IDS, span="b:clauses:0")


def test_precomputed_holds_what_python_would_set() -> None:
    widget = SpanCompare(record_of, ids=IDS)
    (states,) = widget.precomputed()
    assert (states.source, states.target) == ("span", "record")
    assert list(states.values) == ["", *IDS]
    for span, record in states.values.items():
        widget.span = span
        assert widget.record == record


def test_records_are_copied() -> None:
    record = record_of(IDS[0])
    widget = SpanCompare(lambda span: record, ids=IDS, span=IDS[0])
    record["items"] = []
    assert widget.record == record_of(IDS[0])


def test_state_of_the_page_is_synced() -> None:
    synced = SpanCompare(record_of, ids=IDS).trait_names(sync=True)
    assert {"record", "span", "item"} <= set(synced)
