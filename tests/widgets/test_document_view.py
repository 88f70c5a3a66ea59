"""DocumentView: the view follows the span, and a page without Python can look it up."""

from __future__ import annotations

from typing import Any

import pytest

from dojo_widgets.document_view import DocumentView

IDS = ["a:clauses:0", "a:clauses:1"]


def view_of(span: str) -> dict[str, Any]:
    return {"span": span, "document": "a", "text": "1. Fees are due.", "length": 16, "label": {"at": [[3, 7]]}}


def test_view_follows_the_span() -> None:
    widget = DocumentView(view_of, ids=IDS, span=IDS[0])
    assert widget.view == view_of(IDS[0])
    widget.span = IDS[1]
    assert widget.view == view_of(IDS[1])
    widget.span = ""
    assert widget.view == {}


def test_a_new_view_starts_at_its_label_and_keeps_its_size() -> None:
    widget = DocumentView(view_of, ids=IDS, span=IDS[0])
    widget.highlight, widget.opened = 4, True
    widget.span = IDS[1]
    assert (widget.highlight, widget.opened) == (-1, True)


def test_first_span_must_be_one_of_the_ids() -> None:
    with pytest.raises(ValueError, match="'b:clauses:0' is none of the 2 ids"):
        DocumentView(view_of, ids=IDS, span="b:clauses:0")


def test_precomputed_holds_what_python_would_set() -> None:
    widget = DocumentView(view_of, ids=IDS)
    (states,) = widget.precomputed()
    assert (states.source, states.target) == ("span", "view")
    assert list(states.values) == ["", *IDS]
    for span, view in states.values.items():
        widget.span = span
        assert widget.view == view


def test_state_of_the_page_is_synced() -> None:
    synced = DocumentView(view_of, ids=IDS).trait_names(sync=True)
    assert {"view", "span", "opened", "highlight"} <= set(synced)
