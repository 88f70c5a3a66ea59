"""Judgements become records, are saved with who, when and recipe, and are resumed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dojo_kit.errors import ComparabilityError
from dojo_kit.runs import Annotation, load_annotations
from dojo_widgets.span_labeler import SpanLabeler

MORNING, EVENING = "2026-01-31T09:00:00+00:00", "2026-01-31T19:00:00+00:00"
RECIPE = {"spans": "first", "run": "v15"}


def spans() -> list[dict[str, Any]]:
    return [
        {"id": "acme:law:0", "document": "ACME.pdf", "short": "Acme", "family": "Law", "text": "laws of Ohio",
         "item": "Ohio law", "similarity": 0.5, "cause": "wording", "place": "not verbatim", "unknown": object()},
        {"id": "beta:law:0", "family": "Law", "category": "Governing Law", "text": "laws of Utah"},
        {"id": "beta:law:1", "text": "laws of Iowa"},
    ]  # fmt: skip


def labeler(**more: Any) -> SpanLabeler:
    return SpanLabeler(spans(), **{"who": "Ada", "recipe": RECIPE, **more})


def judgement(verdict: str = "true_miss", note: str = "") -> dict[str, str]:
    return {"verdict": verdict, "note": note}


def test_the_queue_is_completed_from_the_ids() -> None:
    first, second, third = labeler().data["spans"]
    assert (first["document"], first["field"], first["category"]) == ("ACME.pdf", "law", "Law")
    assert (second["document"], second["short"], second["category"]) == ("beta", "beta", "Governing Law")
    assert (third["family"], third["similarity"], third["cause"], third["item"]) == ("", None, None, "")
    assert "unknown" not in first


def test_records_follow_the_judgements() -> None:
    """In the order of the queue; a note without a verdict is a record too."""
    widget = labeler()
    widget.judgements = {
        "beta:law:0": judgement("", "look again"),
        "acme:law:0": judgement("not_a_miss", "same clause"),
        "gone:law:0": judgement(),
    }
    assert widget.annotations == [
        Annotation(
            "acme:law:0", "ACME.pdf", "law", "Law", "laws of Ohio", "not_a_miss", "same clause", "Ada", "", RECIPE
        ),
        Annotation("beta:law:0", "beta", "law", "Governing Law", "laws of Utah", None, "look again", "Ada", "", RECIPE),
    ]


def test_saved_and_resumed(tmp_path: Path) -> None:
    """The next session begins at the first span without a verdict; what is unchanged keeps its time."""
    widget = labeler()
    widget.judgements = {"acme:law:0": judgement(), "beta:law:0": judgement("", "hm")}
    path = widget.save(tmp_path / "judged.jsonl", when=MORNING)

    again = labeler(annotations=load_annotations(path, recipe=RECIPE))
    assert again.judgements == widget.judgements
    assert again.span == "beta:law:0"
    again.judgements = {**again.judgements, "beta:law:0": judgement("label_wrong", "hm")}
    again.save(path, when=EVENING)
    found = {one.span: (one.verdict, one.when) for one in load_annotations(path)}
    assert found == {"acme:law:0": ("true_miss", MORNING), "beta:law:0": ("label_wrong", EVENING)}


def test_what_is_taken_back_leaves_the_file(tmp_path: Path) -> None:
    widget = labeler()
    widget.judgements = {"acme:law:0": judgement()}
    path = widget.save(tmp_path / "judged.jsonl")
    widget.judgements = {}
    widget.save(path)
    assert load_annotations(path) == ()


def test_other_people_and_other_spans_are_left_alone(tmp_path: Path) -> None:
    """Nobody sees how somebody else decided, and a part of the queue saves into the file of the whole."""
    path = tmp_path / "judged.jsonl"
    first = labeler(who="Grace")
    first.judgements = {"acme:law:0": judgement("label_wrong")}
    first.save(path, when=MORNING)
    whole = labeler()
    whole.judgements = {"beta:law:1": judgement()}
    whole.save(path, when=MORNING)

    part = SpanLabeler(spans()[:1], annotations=load_annotations(path), who="Ada", recipe=RECIPE)
    assert part.judgements == {}
    part.judgements = {"acme:law:0": judgement()}
    part.save(path, when=EVENING)
    assert {(one.span, one.who) for one in load_annotations(path)} == {
        ("acme:law:0", "Grace"),
        ("acme:law:0", "Ada"),
        ("beta:law:1", "Ada"),
    }


def test_judgements_about_another_run_are_not_mixed(tmp_path: Path) -> None:
    widget = labeler()
    widget.judgements = {"acme:law:0": judgement()}
    path = widget.save(tmp_path / "judged.jsonl")
    carried = load_annotations(path, recipe={"run": "v18"}, any_recipe=True)
    other = labeler(recipe={"run": "v18"}, annotations=carried)
    assert other.judgements == {"acme:law:0": judgement()}
    with pytest.raises(ComparabilityError):
        other.save(path)
    assert load_annotations(other.save(tmp_path / "other.jsonl", when=EVENING))[0].when == EVENING


def test_the_clock_is_read_when_no_time_is_given(tmp_path: Path) -> None:
    widget = labeler()
    widget.judgements = {"acme:law:0": judgement()}
    assert load_annotations(widget.save(tmp_path / "a.jsonl"))[0].when.endswith("+00:00")


def test_an_empty_queue() -> None:
    widget = SpanLabeler([], who="Ada")
    assert (widget.span, widget.annotations) == ("", [])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"who": " "}, "who is empty"),
        ({"span": "acme:law:9"}, r"span 'acme:law:9' is not in the queue .did you mean 'acme:law:0'"),
    ],
)
def test_wrong_arguments(changed: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        labeler(**changed)


def test_wrong_queues() -> None:
    with pytest.raises(ValueError, match="'acme:law:0' is in the queue twice"):
        SpanLabeler([*spans(), spans()[0]], who="Ada")
    with pytest.raises(ValueError, match="a span of the queue has no text: it has id"):
        SpanLabeler([{"id": "acme:law:0"}], who="Ada")


def test_what_is_missing_in_a_frame_is_missing() -> None:
    """NaN, as a row of a frame has it, is no similarity and no JSON."""
    widget = SpanLabeler([{"id": "acme:law:0", "text": "x", "similarity": float("nan"), "cause": None}], who="Ada")
    assert widget.data["spans"][0]["similarity"] is None
