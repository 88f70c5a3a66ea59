"""MissExplorer without a browser: what follows a selection, judgements, and states for pages without Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import traitlets
from miss_tables import small_table

from dojo_kit.runs.annotations import load_annotations, save_annotations
from dojo_widgets.miss_explorer import MissExplorer

TEXTS = {one["id"]: f"{one['text']} and its end" for one in small_table()["spans"]}


def record_of(span: str) -> dict[str, Any]:
    return {"id": span, "label": {"text": TEXTS[span]}, "items": [], "python": f"show({span!r})"}


def view_of(span: str) -> dict[str, Any]:
    return {"span": span, "text": "the whole contract", "length": 18, "start": 0}


def explorer(**options: Any) -> MissExplorer:
    return MissExplorer(small_table(), record_of=record_of, view_of=view_of, **options)


def test_bundle_composes_the_views_of_a_span() -> None:
    esm = str(MissExplorer._esm)
    for name in ("miss_explorer", "span_compare", "document_view", "family_list"):
        assert f"$modules.{name} = " in esm
    assert ".dojo .compare-pane" in str(MissExplorer._css)
    assert ".miss-explorer .explorer" in str(MissExplorer._css)


def test_record_and_view_follow_the_span() -> None:
    widget = explorer()
    assert (widget.record["id"], widget.view["span"]) == (widget.span, widget.span)
    widget.item, widget.highlight = 2, 5
    widget.family = "Audit Rights"
    assert (widget.record["id"], widget.view["span"]) == ("doc1:terms:9", "doc1:terms:9")
    assert (widget.item, widget.highlight) == (0, -1)


def test_without_a_span_there_is_nothing_to_show() -> None:
    widget = explorer(family="Audit Rights", cause="split")
    assert (widget.span, widget.record, widget.view) == ("", {}, {})


def test_without_documents_there_is_no_view() -> None:
    widget = MissExplorer(small_table(), record_of=record_of)
    assert widget.view == {}
    assert [(one.source, one.target) for one in widget.precomputed()] == [("span", "record")]


def test_a_page_without_python_can_look_up_every_span() -> None:
    records, views = explorer().precomputed()
    assert set(records.values) == {"", *TEXTS}
    assert records.values["doc0:terms:2"] == record_of("doc0:terms:2")
    assert views.values["doc0:terms:2"] == view_of("doc0:terms:2")
    assert records.values[""] == {}
    json.dumps([records.values, views.values])


def test_a_page_without_python_can_be_given_some_spans_only() -> None:
    records, _ = explorer(ids=["doc0:terms:2"]).precomputed()
    assert set(records.values) == {"", "doc0:terms:2"}
    with pytest.raises(traitlets.TraitError, match="ids: no span 'gone'"):
        explorer(ids=["gone"])


def test_judgements_become_annotations_with_the_whole_label(tmp_path: Path) -> None:
    judged = {
        "doc0:terms:2": {"verdict": "label_wrong", "note": "cut in mid-word"},
        "doc0:terms:0": {"verdict": "", "note": "see page 4"},
    }
    widget = explorer(judgements=judged, who="Ada", recipe={"spans": "first"})
    records = widget.annotations
    assert [(one.span, one.verdict, one.note) for one in records] == [
        ("doc0:terms:0", None, "see page 4"),
        ("doc0:terms:2", "label_wrong", "cut in mid-word"),
    ]
    assert records[0].text == "label 0 and its end"
    assert records[0].document == "Alpha Inc - Lease"
    path = save_annotations(
        tmp_path / "judged.jsonl", records, who="Ada", when="2026-01-31T14:05:00+00:00", recipe={"spans": "first"}
    )
    assert [one.who for one in load_annotations(path)] == ["Ada", "Ada"]


@pytest.mark.parametrize(
    ("judgements", "message"),
    [
        ({"gone": {"verdict": "true_miss", "note": ""}}, "judgement of 'gone', which is no span"),
        (
            {"doc0:terms:0": {"verdict": "maybe", "note": ""}},
            "verdict of 'doc0:terms:0' is 'maybe'; it can be true_miss",
        ),
    ],
)
def test_judgements_about_nothing_are_refused(judgements: dict[str, Any], message: str) -> None:
    with pytest.raises(traitlets.TraitError, match=message):
        explorer(judgements=judgements)
    widget = explorer()
    with pytest.raises(traitlets.TraitError, match=message):
        widget.judgements = judgements
    assert widget.judgements == {}
