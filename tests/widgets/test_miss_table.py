"""MissTable without a browser: what it accepts, what it selects, and that its numbers add up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import traitlets
from miss_tables import large_table, small_table, span, table_of

from dojo_kit import load_labels, read_run, score_run
from dojo_kit.analysis.attribution import attribute
from dojo_kit.views import miss_table
from dojo_widgets.miss_table import MissTable

DATA = Path(__file__).resolve().parents[2] / "data"


def test_bundle_holds_every_module_and_no_import() -> None:
    esm = str(MissTable._esm)
    assert "$modules.miss_table = " in esm
    assert "$modules.span_rows = " in esm
    assert "import " not in esm.replace("imported", "")
    assert esm.rstrip().endswith("export default $modules.miss_table.$default;")
    assert ".miss-explorer) .families" in str(MissTable._css)


def test_opens_on_the_most_similar_miss_of_the_worst_family() -> None:
    assert MissTable(small_table()).span == "doc0:terms:0"


def test_opens_on_the_family_or_the_span_asked_for() -> None:
    assert MissTable(small_table(), family="Audit Rights").span == "doc1:terms:9"
    assert MissTable(small_table(), cause="split").span == "doc1:terms:1"
    assert MissTable(small_table(), show="check").span == "doc1:terms:3"
    widget = MissTable(small_table(), span="doc0:terms:4")
    assert (widget.span, widget.show) == ("doc0:terms:4", "matched")


def test_a_family_selects_a_span_of_its_own() -> None:
    widget = MissTable(small_table())
    widget.family = "Price Restrictions"
    assert widget.span == "doc0:terms:10"
    widget.family = ""
    assert widget.span == "doc0:terms:10"


def test_a_span_widens_the_filters_that_hide_it() -> None:
    widget = MissTable(small_table(), family="Cap On Liability", cause="split")
    widget.span = "doc0:terms:6"
    assert (widget.family, widget.cause, widget.show) == ("", "", "matched")


def test_cause_and_what_is_shown_fit_together() -> None:
    widget = MissTable(small_table(), show="matched")
    widget.cause = "split"
    assert (widget.show, widget.span) == ("missed", "doc1:terms:1")
    widget.show = "matched"
    assert (widget.cause, widget.span) == ("", "doc0:terms:4")


def test_several_traits_set_at_once_stay_as_they_were_set() -> None:
    widget = MissTable(small_table())
    with widget.hold_trait_notifications():
        widget.family = "Cap On Liability"
        widget.span = "doc0:terms:2"
    assert (widget.family, widget.span) == ("Cap On Liability", "doc0:terms:2")


def test_nothing_is_selected_where_nothing_is_listed() -> None:
    assert MissTable(small_table(), family="Audit Rights", cause="split").span == ""
    assert MissTable(table_of([])).span == ""


def test_another_table_keeps_what_it_can() -> None:
    widget = MissTable(small_table(), family="Cap On Liability")
    widget.data = table_of([span(4, "Audit Rights", "missed", 0.1)])
    assert (widget.family, widget.span) == ("", "doc0:terms:4")


@pytest.mark.parametrize(
    ("trait", "value", "message"),
    [
        ("family", "Audit Right", "no family 'Audit Right' in this table.*did you mean 'Audit Rights'"),
        ("cause", "laziness", "no cause 'laziness'"),
        ("span", "nowhere", "no span 'nowhere'"),
        ("show", "all", "show is 'all'; it can be missed, matched, check"),
        ("sort", "size:desc", "sort is 'size:desc'; it can be similarity:asc"),
        ("family_sort", "rate", "family_sort is 'rate'; it can be count:asc"),
    ],
)
def test_what_does_not_exist_is_refused(trait: str, value: str, message: str) -> None:
    with pytest.raises(traitlets.TraitError, match=message):
        MissTable(small_table(), **{trait: value})
    widget = MissTable(small_table())
    before = getattr(widget, trait)
    with pytest.raises(traitlets.TraitError, match=message):
        setattr(widget, trait, value)
    assert getattr(widget, trait) == before


def without_notes(table: dict[str, Any]) -> None:
    del table["notes"]


def without_a_span(table: dict[str, Any]) -> None:
    table["spans"] = table["spans"][1:]


def with_another_cause_count(table: dict[str, Any]) -> None:
    table["causes"]["omission"] += 1


def with_an_unknown_status(table: dict[str, Any]) -> None:
    table["counts"]["lost"] = 0


def with_one_id_twice(table: dict[str, Any]) -> None:
    table["spans"][1]["id"] = table["spans"][0]["id"]


def with_a_foreign_category(table: dict[str, Any]) -> None:
    table["spans"][0]["category"] = "Gone"


def with_a_cause_of_a_match(table: dict[str, Any]) -> None:
    table["spans"][3]["cause"] = "split"


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (without_notes, "table: without notes"),
        (without_a_span, "11 spans expected, 10 given"),
        (with_another_cause_count, "6 spans are not matched, but the causes have 7"),
        (with_an_unknown_status, "unknown status 'lost'"),
        (with_one_id_twice, "two spans 'doc0:terms:0'"),
        (with_a_foreign_category, "is of no family: 'Gone'"),
        (with_a_cause_of_a_match, "is matched with cause 'split'"),
    ],
)
def test_a_table_that_would_tell_two_truths_is_refused(fault: Any, message: str) -> None:
    table = small_table()
    fault(table)
    with pytest.raises(traitlets.TraitError, match=message):
        MissTable(table)


@pytest.mark.parametrize("measure", ["scorer", "coverage"])
def test_the_table_of_a_scored_run_fits(measure: Any) -> None:
    run = read_run(DATA / "runs" / "extraction_v2_small.json")
    attribution = attribute(score_run(run, load_labels(DATA / "labels.json")), measure=measure)
    for field in attribution.fields:
        table = miss_table(attribution, field)
        widget = MissTable(table)
        assert bool(widget.span) == any(one["status"] != "matched" for one in table["spans"])


def test_nothing_follows_from_a_selection() -> None:
    assert MissTable(large_table()).precomputed() == ()
