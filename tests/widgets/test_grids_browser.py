"""Field grid, threshold explorer and span labeler in a chromium: clicked, typed at, dragged, and measured."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from grid_pages import HOSTILE, labeler, page_of, sweep

from dojo_kit import score_run
from dojo_kit.runs import load_annotations, load_labels, run_from_record
from dojo_widgets.base import Widget
from dojo_widgets.field_grid import FieldGrid
from dojo_widgets.threshold_explorer import ThresholdExplorer

pytestmark = pytest.mark.browser

FIELDS = ("governing_law", "key_obligations", *(f"further_long_field_{n}" for n in range(7)))
WIDTHS = (480, 768, 1027, 1200)

Mount = Callable[..., Any]


@pytest.fixture
def mount(chromium: Any, tmp_path: Path) -> Iterator[Mount]:
    """Open a widget in a page; errors of the page fail the test."""
    pages: list[Any] = []
    problems: list[str] = []

    def open_page(widget: Widget, *, width: int = 1000, **how: Any) -> Any:
        file = tmp_path / f"page{len(pages)}.html"
        file.write_text(page_of(widget, width=width, **how), encoding="utf-8")
        page = chromium.new_page(viewport={"width": width + 16, "height": 720})
        pages.append(page)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto(file.as_uri())
        page.wait_for_function("window.ready")
        return page

    yield open_page
    for page in pages:
        page.close()
    assert problems == []


def trait(page: Any, name: str) -> Any:
    return page.evaluate("(name) => window.model.get(name)", name)


def set_trait(page: Any, name: str, value: Any) -> None:
    page.evaluate("([name, value]) => { window.model.set(name, value); window.model.save_changes(); }", [name, value])


def size(page: Any) -> tuple[int, int]:
    """Height of the widget, and by how much anything in it scrolls sideways."""
    measured = page.evaluate(
        """() => {
          const host = document.getElementById("host");
          const all = [host, ...host.querySelectorAll("*")];
          const scrolls = all.filter((one) => one === host || getComputedStyle(one).overflowX === "auto");
          return [host.offsetHeight, Math.max(...scrolls.map((one) => one.scrollWidth - one.clientWidth))];
        }"""
    )
    return measured[0], measured[1]


def focused_document(page: Any) -> str:
    return str(page.evaluate("() => document.activeElement.dataset.document"))


# Field grid


@pytest.fixture(scope="module")
def grid_parts(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], FieldGrid]:
    """A grid of one real document, and data of 400 documents made up around it."""
    path = tmp_path_factory.mktemp("labels") / "labels.jsonl"
    labels = {"governing_law": "laws of Ohio", "key_obligations": [HOSTILE, "keep quiet"]}
    answer = {"governing_law": "laws of Utah", "key_obligations": [HOSTILE, "eat"]}
    path.write_text(json.dumps({"document": "Real", "fields": labels}))
    run = run_from_record({"results": [{"filename": "Real", "predicted": answer}]})
    grid = FieldGrid(score_run(run, load_labels(path)))
    (real,) = grid.data["documents"]
    law, duties = (
        next(index for index, one in enumerate(grid.data["fields"]) if one["name"] == name) for name in FIELDS[:2]
    )
    mean = {"value": 0.5, "lo": 0.4, "hi": 0.6, "n": 300}
    documents = [{**real, "overall": 0.5, "scores": [real["scores"][law], real["scores"][duties], *[None] * 7]}]
    for n in range(299):
        scores = [(n * 7 + field * 3) % 10 / 9 if (n + field) % 4 else None for field in range(9)]
        documents.append(
            {"id": f"d{n}", "name": f"Document number {n}", "short": f"Doc {n}", "overall": n / 300, "scores": scores}
        )
    failed = [
        {"id": f"f{n}", "name": f"f {n}", "short": f"Failed {n}", "status": "failed", "why": HOSTILE}
        for n in range(100)
    ]
    data = {
        **grid.data,
        "fields": [{"name": name, "words": name.replace("_", " "), "type": "name", "mean": mean} for name in FIELDS],
        "overall": mean, "lowest": "key_obligations", "documents": documents, "apart": failed,
    }  # fmt: skip
    return data, grid


@pytest.fixture
def grid(grid_parts: tuple[dict[str, Any], FieldGrid]) -> FieldGrid:
    data, widget = grid_parts
    widget.data, widget.cell, widget.sort = data, "", "overall"
    return widget


def cell(page: Any, document: str, field: str) -> Any:
    return page.locator(f'[role=gridcell][data-document="{document}"][data-field="{field}"]')


@pytest.mark.parametrize("width", WIDTHS)
def test_a_grid_of_400_documents_keeps_its_size(mount: Mount, grid: FieldGrid, width: int) -> None:
    """At most 560 px whatever is selected, opened or filtered; never sideways; few rows in the page."""
    page = mount(grid, width=width)
    before = size(page)
    assert before[0] <= 560
    assert before[1] == 0
    assert page.locator("[role=row]").count() < 40
    cell(page, "d0", "key_obligations").click()
    assert size(page) == before
    page.keyboard.press("Enter")
    assert size(page) == before
    page.get_by_placeholder("filter documents").fill("no such document")
    assert "No document is called so" in page.locator(".empty").inner_text()
    assert size(page) == before


def test_a_click_selects_and_a_second_click_clears(mount: Mount, grid: FieldGrid) -> None:
    """What is selected is written in words; the detail says which rule decided."""
    page = mount(grid, width=1200)
    page.get_by_placeholder("filter documents").fill("real")
    chosen = cell(page, "real", "governing_law")
    chosen.click()
    assert trait(page, "cell") == "real:governing_law"
    assert chosen.get_attribute("aria-selected") == "true"
    assert page.locator(".detail .title").inner_text() == "governing law · Real"
    assert page.locator(".detail code").inner_text().startswith("containment.")
    assert "laws of Utah" in page.locator(".detail .pane").first.inner_text()
    cell(page, "real", "governing_law").click()
    assert trait(page, "cell") == ""
    assert page.locator(".detail .title").inner_text() == "No cell selected"


def test_arrows_move_enter_opens_escape_goes_back(mount: Mount, grid: FieldGrid) -> None:
    page = mount(grid, width=1000)
    cell(page, "d0", "governing_law").click()
    for key in ("ArrowDown", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    assert trait(page, "cell") == "d2:key_obligations"
    assert focused_document(page) == "d2"
    page.keyboard.press("Enter")
    assert page.evaluate("() => document.activeElement.closest('.detail') !== null")
    page.keyboard.press("Escape")
    assert focused_document(page) == "d2"
    for _ in range(60):
        page.keyboard.press("PageDown")
    assert trait(page, "cell") == "d298:key_obligations"
    page.keyboard.press("End")
    assert trait(page, "cell").endswith(f":{FIELDS[-1]}")
    page.keyboard.press("Escape")
    assert trait(page, "cell") == ""


def test_fields_that_do_not_fit_are_paged(mount: Mount, grid: FieldGrid) -> None:
    """The field that is lost most is in sight at first, and arrow keys reach all others."""
    page = mount(grid, width=480)
    assert cell(page, "d0", "key_obligations").is_visible()
    assert cell(page, "d0", FIELDS[-1]).count() == 0
    page.get_by_label("Next fields").click()
    page.get_by_label("Next fields").click()
    assert cell(page, "d0", FIELDS[-1]).is_visible()
    assert page.get_by_label("Next fields").is_disabled()
    cell(page, "d0", FIELDS[-1]).click()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    assert trait(page, "cell") == "d0:governing_law"
    assert cell(page, "d0", "governing_law").is_visible()


def test_headers_sort(mount: Mount, grid: FieldGrid) -> None:
    page = mount(grid, width=1200)
    first = page.locator("[role=rowheader]").first
    assert first.inner_text() == "Doc 0"
    page.get_by_role("columnheader").filter(has_text="overall").get_by_role("button").click()
    assert trait(page, "sort") == "-overall"
    assert first.inner_text() in ("Doc 298", "Real")
    page.get_by_role("columnheader").filter(has_text="key obligations").get_by_role("button").click()
    assert trait(page, "sort") == "key_obligations"
    header = page.get_by_role("columnheader").filter(has_text="key obligations")
    assert header.get_attribute("aria-sort") == "ascending"
    scores = page.locator('[role=gridcell][data-field="key_obligations"]').all_inner_texts()
    assert scores == sorted(scores)
    set_trait(page, "sort", "-key_obligations")
    assert header.get_attribute("aria-sort") == "descending"


def test_failed_documents_are_listed_apart(mount: Mount, grid: FieldGrid) -> None:
    page = mount(grid, width=900)
    height = size(page)[0]
    page.get_by_role("button", name="failed 100").click()
    assert page.locator("[role=gridcell]").first.inner_text().startswith("failed: </script>")
    page.locator("[role=gridcell]").first.click()
    assert trait(page, "cell") == "f0:"
    assert HOSTILE in page.locator(".detail .pane").inner_text()
    assert abs(size(page)[0] - height) < 24
    set_trait(page, "cell", "d5:governing_law")
    assert cell(page, "d5", "governing_law").get_attribute("aria-selected") == "true"


def test_hostile_values_are_shown_as_text(mount: Mount, grid: FieldGrid) -> None:
    page = mount(grid, width=1000)
    set_trait(page, "cell", "real:key_obligations")
    assert HOSTILE in page.locator(".detail .pane").last.inner_text()
    assert page.locator("#host img, #host b:text('pay')").count() == 0
    assert page.title() == "untouched"


def test_a_cell_whose_values_are_not_in_the_page_says_so(mount: Mount, grid: FieldGrid) -> None:
    page = mount(grid, width=1000)
    set_trait(page, "cell", "d7:key_obligations")
    page.get_by_text("The two values are not in this page").wait_for()


# Threshold explorer


def caption(page: Any) -> str:
    return str(page.locator(".caption").inner_text())


def test_dragging_changes_the_words(mount: Mount) -> None:
    """Misses before and after, flips, the difference in points; nothing moves on the page."""
    page = mount(ThresholdExplorer(sweep()), width=1000)
    assert caption(page) == "Match threshold 0.60 · 60 missed of 100"
    before = size(page)
    box = page.locator("[role=slider] svg").bounding_box()
    page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 30)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.45 * box["width"], box["y"] + 30, steps=4)
    page.mouse.up()
    assert trait(page, "threshold") == 0.45
    assert caption(page) == "Match threshold 0.45 · 60 → 45 missed of 100"
    assert page.locator("[role=slider]").get_attribute("aria-valuetext") == "0.45, 45 missed of 100"
    assert page.locator(".flips .title").inner_text() == "15 flips: 15 become matched"
    assert page.get_by_role("row", name="recall").inner_text().split("\t")[3].strip() == "+15.0 pp"
    assert size(page) == before
    page.get_by_role("button", name="reset").click()
    assert caption(page) == "Match threshold 0.60 · 60 missed of 100"
    assert size(page) == before


def test_the_slider_has_the_keys_of_a_slider(mount: Mount) -> None:
    page = mount(ThresholdExplorer(sweep()), width=1000)
    page.locator("[role=slider]").focus()
    for key, stands in [("ArrowRight", 0.61), ("PageUp", 0.66), ("Home", 0.3), ("End", 0.95), ("ArrowDown", 0.94)]:
        page.keyboard.press(key)
        assert trait(page, "threshold") == stands
        assert page.locator("[role=slider]").get_attribute("aria-valuenow") == f"{stands:.2f}"


@pytest.mark.parametrize("width", WIDTHS)
def test_the_explorer_keeps_its_size(mount: Mount, width: int) -> None:
    page = mount(ThresholdExplorer(sweep(), threshold=0.4), width=width)
    before = size(page)
    assert before[0] <= 600
    assert before[1] == 0
    page.locator(".flips [role=option]").nth(1).click()
    assert size(page) == before


def test_a_flip_is_selected_read_and_hostile_text_stays_text(mount: Mount) -> None:
    page = mount(ThresholdExplorer(sweep(), threshold=0.4), width=1000)
    page.locator(".flips [role=option]").first.click()
    assert trait(page, "span") == "doc:clauses:40"
    page.keyboard.press("ArrowDown")
    assert trait(page, "span") == "doc:clauses:41"
    assert page.locator(".flips .panel-head .soft").inner_text() == "flip 2 of 20"
    assert HOSTILE in page.locator(".reading").inner_text()
    assert page.locator("#host img").count() == 0
    assert page.title() == "untouched"
    page.keyboard.press("Escape")
    assert trait(page, "span") == ""


def test_what_was_not_computed_is_disabled_with_its_reason(mount: Mount) -> None:
    page = mount(ThresholdExplorer(sweep(partial=None)), width=1000)
    assert page.locator("input.gate").is_disabled()
    assert "no embedder in this run" in page.locator(".controls").inner_text()
    assert page.get_by_role("button", name="off").is_disabled()


def test_the_partial_rule_and_the_gate_change_the_score(mount: Mount) -> None:
    """A control that has no states together with another one sends that one back, and says so."""
    gates = [
        {"rescue_below": gate, "threshold": 0.6, "matched": 50, "expected": 100, "score": gate} for gate in (0.5, 0.7)
    ]
    base = {"threshold": 0.6, "rescue_below": 0.7, "partial": True}
    page = mount(ThresholdExplorer(sweep(base=base, gates=gates)), width=1000)
    page.get_by_role("button", name="off").click()
    assert trait(page, "partial") is False
    assert "−20.0 pp" in page.get_by_role("row", name="field score").inner_text()
    page.locator("input.gate").fill("0.5")
    assert (trait(page, "rescue_below"), trait(page, "partial")) == (0.5, True)
    assert "The partial-label rule is on again" in page.locator(".note").inner_text()
    assert "50 missed" in caption(page)


def test_nothing_to_explore(mount: Mount) -> None:
    page = mount(ThresholdExplorer(sweep(states=[])), width=480)
    assert "No threshold was tried" in page.locator("#host").inner_text()


# Span labeler


def test_verdicts_by_key_and_taken_back(mount: Mount) -> None:
    page = mount(labeler(), width=1000)
    page.locator("[role=listbox]").focus()
    for key in ("a", "j", "r", "ArrowDown", "w", "k"):
        page.keyboard.press(key)
    assert {span: one["verdict"] for span, one in trait(page, "judgements").items()} == {
        "doc0:law:0": "true_miss",
        "doc1:law:0": "not_a_miss",
        "doc2:law:0": "label_wrong",
    }
    assert page.get_by_role("button", name="Not a miss").get_attribute("aria-pressed") == "true"
    assert page.locator(".counter").inner_text() == "3 of 40 judged: true miss 1, not a miss 1, label wrong 1"
    page.keyboard.press("r")
    assert "doc1:law:0" not in trait(page, "judgements")
    page.keyboard.press("Enter")
    assert trait(page, "span") == "doc3:law:0"
    page.get_by_role("button", name="Label wrong").click()
    assert trait(page, "judgements")["doc3:law:0"]["verdict"] == "label_wrong"


def test_a_note_is_typed_without_judging_and_kept(mount: Mount) -> None:
    """Letters in a note are letters; Enter keeps it and gives the keys back; so does selecting another span."""
    page = mount(labeler(), width=1000)
    page.locator("[role=listbox]").focus()
    page.keyboard.press("m")
    page.keyboard.type("a war room")
    page.keyboard.press("Enter")
    assert trait(page, "judgements") == {"doc0:law:0": {"verdict": "", "note": "a war room"}}
    page.keyboard.press("j")
    page.keyboard.press("m")
    page.keyboard.type("begun")
    page.locator("[role=option]").nth(3).click()
    assert trait(page, "judgements")["doc1:law:0"]["note"] == "begun"
    assert page.locator("input.note").input_value() == ""
    page.keyboard.press("m")
    page.keyboard.type("elsewhere")
    set_trait(page, "span", "doc0:law:0")
    assert trait(page, "judgements")["doc3:law:0"]["note"] == "elsewhere"
    assert page.locator("input.note").input_value() == "a war room"


def test_the_open_ones_are_listed_and_the_one_at_hand_stays(mount: Mount) -> None:
    page = mount(labeler(3), width=1000)
    page.get_by_role("button", name="open 3").click()
    page.locator("[role=listbox]").focus()
    page.keyboard.press("a")
    assert page.locator("[role=option]").count() == 3
    page.keyboard.press("j")
    assert page.locator("[role=option]").count() == 2
    page.get_by_role("button", name="judged 1").click()
    assert trait(page, "filter") == "judged"


def test_copied_jsonl_is_a_file_of_annotations(mount: Mount, tmp_path: Path) -> None:
    page = mount(labeler(), width=1000)
    page.evaluate(
        """() => Object.defineProperty(navigator, "clipboard", {
          value: { writeText: async (text) => { window.copied = text; } },
        })"""
    )
    assert page.get_by_role("button", name="Copy JSONL").is_disabled()
    page.locator("[role=listbox]").focus()
    page.keyboard.press("w")
    page.get_by_role("button", name="Copy JSONL").click()
    page.wait_for_function("window.copied")
    path = tmp_path / "copied.jsonl"
    path.write_text(page.evaluate("window.copied"), encoding="utf-8")
    (record,) = load_annotations(path, recipe={"run": "v15"})
    assert (record.span, record.verdict, record.who, record.text) == (
        "doc0:law:0",
        "label_wrong",
        "Ada",
        f"0 {HOSTILE}",
    )


@pytest.mark.parametrize("width", WIDTHS)
def test_the_labeler_keeps_its_size(mount: Mount, width: int) -> None:
    page = mount(labeler(), width=width)
    before = size(page)
    assert before[0] <= 600
    assert before[1] == 0
    assert page.locator("[role=option]").count() < 20
    assert page.locator("#host img").count() == 0
    page.locator("[role=listbox]").focus()
    page.keyboard.press("End")
    page.keyboard.press("a")
    assert trait(page, "span") == "doc39:law:0"
    assert size(page) == before
    assert page.title() == "untouched"


# All three


@pytest.fixture
def every(grid: FieldGrid) -> dict[str, Widget]:
    return {"grid": grid, "explorer": ThresholdExplorer(sweep(), threshold=0.4), "labeler": labeler()}


@pytest.mark.parametrize("name", ["grid", "explorer", "labeler"])
def test_shown_twice_and_taken_down(mount: Mount, every: dict[str, Widget], name: str) -> None:
    """Two views of one model agree and share no id; taken down, nothing is left and nobody listens."""
    page = mount(every[name], width=900, copies=2)
    ids = page.evaluate("() => [...document.querySelectorAll('#host [id]')].map((one) => one.id)")
    assert len(ids) == len(set(ids))
    page.evaluate("() => window.ends.forEach((end) => end())")
    assert page.evaluate("() => window.model.listeners.length") == 0
    assert page.locator("#host .dojo").count() == 0


@pytest.mark.parametrize("name", ["grid", "explorer", "labeler"])
def test_keys_work_in_a_shadow_root(mount: Mount, every: dict[str, Widget], name: str) -> None:
    page = mount(every[name], width=900, shadow=True)
    if name == "grid":
        cell(page, "d0", "governing_law").click()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        assert trait(page, "cell") == "d2:governing_law"
    else:
        page.locator("[role=listbox]").focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        assert trait(page, "span") in ("doc:clauses:41", "doc2:law:0")
