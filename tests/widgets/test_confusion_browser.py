"""Confusion matrix and reliability curve in a chromium: clicked, sorted, moved through by keys, and measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from grid_pages import HOSTILE, page_of

from dojo_kit.runs import run_from_record
from dojo_kit.tasks.score import score_task, score_task_run
from dojo_kit.vocabulary import vocabulary
from dojo_widgets import assets
from dojo_widgets.base import Widget
from dojo_widgets.confusion_matrix import ConfusionMatrix
from dojo_widgets.reliability_curve import ReliabilityCurve

pytestmark = pytest.mark.browser

WIDTHS = (480, 768, 1027, 1440)
FAMILIES = vocabulary("contract_family").keys[:25]

Mount = Callable[..., Any]


@pytest.fixture
def mount(chromium: Any, tmp_path: Path) -> Iterator[Mount]:
    """Open a widget in a page; errors of the page fail the test."""
    pages: list[Any] = []
    problems: list[str] = []

    def open_page(widget: Widget, *, width: int = 1200, **how: Any) -> Any:
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


@pytest.fixture(scope="module")
def matrix_of_509() -> ConfusionMatrix:
    """509 contracts of 25 families: family k has 20 or 21; two of each are answered as the next family, one fails."""
    rows = [_row(n, FAMILIES[n % 25], n // 25) for n in range(509)]
    scores = score_task_run(run_from_record({"task": "subtype_classification", "results": rows}))
    return ConfusionMatrix(scores)


def _row(n: int, family: str, turn: int) -> dict[str, Any]:
    answered = FAMILIES[(n + 1) % 25] if turn in (3, 4) else family
    sorter = {
        "doc_type": "contract",
        "contract_subtype": answered,
        "expected_subtype": family,
        "confidence": 0.9,
        "reasoning": f"{n} {HOSTILE} " + "because " * (200 if turn in (3, 4) else 1),
    }
    if turn == 7:
        sorter = {"expected_subtype": family}
        return {"filename": f"Document {n}", "status": "failed", "error": "timeout", "sorter": sorter}
    return {"filename": f"Document {n}", "status": "completed", "sorter": sorter}


@pytest.fixture
def matrix(matrix_of_509: ConfusionMatrix) -> ConfusionMatrix:
    matrix_of_509.set_trait("cell", "")
    matrix_of_509.set_trait("sort", "support")
    matrix_of_509.set_trait("normalise", "none")
    return matrix_of_509


def trait(page: Any, name: str) -> Any:
    return page.evaluate("(name) => window.model.get(name)", name)


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


def cell(page: Any, expected: int, predicted: int) -> Any:
    return page.locator(f'[role=gridcell][data-row="{expected}"][data-column="{predicted}"]')


@pytest.mark.parametrize("width", WIDTHS)
def test_25_families_keep_to_600_pixels(mount: Mount, matrix: ConfusionMatrix, width: int) -> None:
    """Whatever is selected or shown; never sideways; digits stand in their cells."""
    page = mount(matrix, width=width)
    before = size(page)
    assert before[0] <= 600
    assert before[1] == 0
    cell(page, 0, 1).click()
    assert size(page) == before
    page.get_by_role("button", name="row %").click()
    assert size(page) == before
    narrow = page.evaluate(
        """() => [...document.querySelectorAll(".cell")].filter((one) => one.scrollWidth > one.clientWidth).length"""
    )
    assert narrow == 0


def test_all_25_families_are_in_sight_at_1200(mount: Mount, matrix: ConfusionMatrix) -> None:
    page = mount(matrix, width=1200)
    assert page.locator(".rows.scrolled").count() == 0
    assert page.locator(".matrix [role=rowheader]").count() == 26  # with that of the totals
    assert page.locator(".cell").first.bounding_box()["height"] >= 14


def test_a_click_lists_the_documents(mount: Mount, matrix: ConfusionMatrix) -> None:
    """Counts and shares in words; the reasoning is text, folded when long; a second click clears."""
    page = mount(matrix)
    cell(page, 0, 1).click()
    assert trait(page, "cell") == f"{FAMILIES[0]}|{FAMILIES[1]}"
    says = page.locator(".detail .says").inner_text()
    assert says.startswith("2 documents: expected Affiliate, answered Agency. 10% of the 20 expected Affiliate, ")
    documents = page.get_by_role("listbox", name="Documents of the cell").get_by_role("option")
    assert documents.count() == 2
    assert HOSTILE in page.locator(".why").inner_text()
    assert page.title() == "untouched"
    short = len(page.locator(".why").inner_text())
    page.get_by_role("button", name="read all").click()
    assert len(page.locator(".why").inner_text()) > short
    documents.nth(1).click()
    assert trait(page, "row") == "100"
    assert page.locator(".source").inner_text() == "Document 100"
    assert page.get_by_role("button", name="read all").count() == 1
    cell(page, 0, 1).click()
    assert trait(page, "cell") == ""
    assert page.locator(".detail .title").inner_text() == "Largest confusions"


def test_a_confusion_of_the_list_leads_to_its_cell(mount: Mount, matrix: ConfusionMatrix) -> None:
    page = mount(matrix)
    page.get_by_role("listbox", name="Largest confusions").get_by_role("option").first.click()
    assert page.locator('.cell[aria-selected="true"]').count() == 1
    assert "wrong" in page.locator('.cell[aria-selected="true"]').get_attribute("class")


def test_rows_without_an_answer_stand_apart(mount: Mount, matrix: ConfusionMatrix) -> None:
    page = mount(matrix)
    cell(page, 0, 25).click()
    assert trait(page, "cell") == f"{FAMILIES[0]}|"
    assert page.locator(".detail .says").inner_text() == "1 document of 21 expected Affiliate: no answer."
    assert page.locator(".totals .total").last.inner_text() == "25"
    assert page.locator(".totals .total").nth(25).inner_text() == "484"


def test_keys_move_open_and_go_back(mount: Mount, matrix: ConfusionMatrix) -> None:
    page = mount(matrix)
    page.get_by_role("button", name="name").click()
    page.locator(".cell[tabindex='0']").focus()
    page.keyboard.press("ArrowDown")
    assert trait(page, "cell") == f"{FAMILIES[0]}|{FAMILIES[0]}"
    page.keyboard.press("ArrowRight")
    assert trait(page, "cell") == f"{FAMILIES[0]}|{FAMILIES[1]}"
    page.keyboard.press("Enter")
    assert page.evaluate("() => document.activeElement.getAttribute('aria-label')") == "Documents of the cell"
    page.keyboard.press("ArrowDown")
    assert trait(page, "row") == "100"
    page.keyboard.press("Escape")
    assert page.evaluate("() => document.activeElement.getAttribute('aria-selected')") == "true"
    page.keyboard.press("End")
    assert trait(page, "cell") == f"{FAMILIES[0]}|"
    page.keyboard.press("Escape")
    assert trait(page, "cell") == ""


def test_orders_and_shares(mount: Mount, matrix: ConfusionMatrix) -> None:
    page = mount(matrix)
    first = page.locator(".matrix [role=rowheader]").first
    page.get_by_role("button", name="errors").click()
    assert trait(page, "sort") == "errors"
    page.get_by_role("button", name="name").click()
    assert first.inner_text() == "Affiliate"
    page.get_by_role("button", name="row %").click()
    assert cell(page, 0, 1).inner_text() == "10"
    assert cell(page, 0, 0).inner_text() == "90"
    page.get_by_role("button", name="column %").click()
    assert cell(page, 0, 0).inner_text() == "90"
    assert trait(page, "normalise") == "column"


def test_defensible_answers_are_outlined(mount: Mount, matrix: ConfusionMatrix) -> None:
    page = mount(matrix)
    license_, maintenance = FAMILIES.index("license"), FAMILIES.index("maintenance")
    for one in (cell(page, license_, maintenance), cell(page, maintenance, license_)):
        assert "equivalent" in one.get_attribute("class")
        assert one.get_attribute("aria-label").endswith(", defensible")


def test_columns_that_do_not_fit_are_paged(mount: Mount, matrix: ConfusionMatrix) -> None:
    page = mount(matrix, width=480)
    page.get_by_role("button", name="name").click()
    assert cell(page, 0, 24).count() == 0
    assert page.get_by_label("Previous columns").is_disabled()
    page.get_by_label("Next columns").click()
    assert page.get_by_label("Next columns").is_disabled()
    assert cell(page, 0, FAMILIES.index("transportation")).is_visible()


def active_row(page: Any, name: str) -> str:
    """Text of the row a list says is active."""
    list_ = page.get_by_role("listbox", name=name)
    return str(
        page.evaluate("(id) => document.getElementById(id).textContent", list_.get_attribute("aria-activedescendant"))
    )


@pytest.mark.parametrize("width", [480, 1200])
def test_the_list_of_confusions_works_by_keys(mount: Mount, matrix: ConfusionMatrix, width: int) -> None:
    """Arrows move, Enter opens the documents, Esc leads back to the same place of the list."""
    page = mount(matrix, width=width)
    name = "Largest confusions"
    if width == 480:
        page.get_by_role("button", name="largest confusions").click()
    else:
        page.get_by_role("listbox", name=name).focus()
    first = active_row(page, name)
    page.keyboard.press("ArrowDown")
    second = active_row(page, name)
    assert second != first
    page.keyboard.press("End")
    page.keyboard.press("Home")
    assert active_row(page, name) == first
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert trait(page, "cell")
    assert page.evaluate("() => document.activeElement.getAttribute('aria-label')") == "Documents of the cell"
    page.keyboard.press("ArrowDown")
    assert trait(page, "row")
    page.keyboard.press("Escape")
    assert trait(page, "cell") == ""
    assert page.evaluate("() => document.activeElement.getAttribute('aria-label')") == name
    assert active_row(page, name) == second


def test_a_picked_confusion_leaves_the_focus_with_its_documents(mount: Mount, matrix: ConfusionMatrix) -> None:
    page = mount(matrix)
    page.get_by_role("listbox", name="Largest confusions").get_by_role("option").first.click()
    assert page.evaluate("() => document.activeElement.getAttribute('aria-label')") == "Documents of the cell"


@pytest.mark.parametrize("width", [480, 768, 900])
def test_a_click_takes_no_row_from_a_narrow_matrix(mount: Mount, matrix: ConfusionMatrix, width: int) -> None:
    """Where both have no room, the documents take the place of the matrix when they are asked for."""
    page = mount(matrix, width=width)
    before = page.locator(".confusions .rows").bounding_box()
    assert before["height"] >= 15 * (18 if width == 480 else 25)
    cell(page, 0, 1).click()
    assert page.locator(".confusions .rows").bounding_box() == before
    assert "expected Affiliate, answered Agency: 2 documents of 20 (10%)" in page.locator(".foot").inner_text()
    page.keyboard.press("Enter")
    assert page.get_by_role("listbox", name="Documents of the cell").get_by_role("option").count() == 2
    assert page.locator(".confusions").is_hidden()
    assert size(page)[0] <= 600
    page.keyboard.press("Escape")
    assert page.evaluate("() => document.activeElement.getAttribute('aria-selected')") == "true"
    page.get_by_role("button", name="documents", exact=True).click()
    page.get_by_role("button", name="back to the matrix").click()
    assert trait(page, "cell") == f"{FAMILIES[0]}|{FAMILIES[1]}"


@pytest.mark.parametrize("width", WIDTHS)
def test_titles_are_not_cut(mount: Mount, matrix: ConfusionMatrix, width: int) -> None:
    """Nor is the row without an answer left unsaid once a cell is selected."""
    page = mount(matrix, width=width)
    cell(page, 0, 1).click()
    title = page.locator(".confusions .title")
    assert "25 more rows without an answer" in title.inner_text()
    cut = page.evaluate(
        """() => [...document.querySelectorAll(".title, .tail span")].filter((one) =>
          one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1)
          .map((one) => one.textContent)"""
    )
    assert cut == []


def test_digits_are_large_enough_and_sums_are_counts(mount: Mount, matrix: ConfusionMatrix) -> None:
    """Whatever the cells show: what a percentage is of stands beside it."""
    page = mount(matrix, width=768)
    sums = page.locator(".total").all_inner_texts()
    for name in ("row %", "column %"):
        page.get_by_role("button", name=name).click()
        assert page.locator(".total").all_inner_texts() == sums
        assert "numbers: % of n" in page.locator(".legends").inner_text()
    assert page.evaluate("() => parseFloat(getComputedStyle(document.querySelector('.cell')).fontSize)") >= 12


def test_a_later_sheet_of_another_widget_changes_nothing(mount: Mount, matrix: ConfusionMatrix) -> None:
    """A page has the base sheet once for every widget, the last one after this widget's own."""
    page = mount(matrix)
    before = page.locator(".confusions .title").bounding_box()
    page.evaluate(
        """(css) => document.body.append(Object.assign(document.createElement("style"), { textContent: css }))""",
        assets.styles("reliability_curve"),
    )
    assert page.locator(".confusions .title").bounding_box() == before


def test_no_landmark_is_there_twice(mount: Mount, matrix: ConfusionMatrix, curve: ReliabilityCurve) -> None:
    for widget in (matrix, curve):
        page = mount(widget, copies=2)
        assert page.locator("#host :is(section, main, [role=region])").count() == 0
        assert page.locator("#host :is(h1, h2, h3)").count() == 0


@pytest.mark.parametrize("shadow", [False, True])
def test_it_draws_twice_and_goes_away(mount: Mount, matrix: ConfusionMatrix, shadow: bool) -> None:
    page = mount(matrix, shadow=shadow, copies=2)
    page.locator(".cell.wrong").first.click()
    assert page.locator('.cell[aria-selected="true"]').count() == 2
    page.evaluate("() => window.ends.forEach((end) => end())")
    assert page.locator(".confusion-view").count() == 0


def test_nothing_to_show_is_said(mount: Mount) -> None:
    page = mount(ConfusionMatrix(score_task("legalbench", [], [])))
    assert page.locator(".empty").inner_text().startswith("There is nothing to compare: no row has an expected label.")
    assert "--expected COLUMN" in page.locator(".empty").inner_text()
    assert page.locator(".cell:visible").count() == 0
    page = mount(ConfusionMatrix(score_task("legalbench", ["yes", "no"], ["ERROR: 429", "ERROR: 429"])))
    assert page.locator(".confusions .title").inner_text() == "No row has an answer: 2 calls failed"
    assert "Run them again" in page.locator(".detail .waits").inner_text()
    page = mount(ConfusionMatrix(score_task("legalbench", ["yes"], ["yes"])))
    assert page.locator(".detail .says").inner_text() == "Every answer is right."


# Reliability curve


@pytest.fixture(scope="module")
def curve() -> ReliabilityCurve:
    """Every bin is filled: in bin b, b of 10 rows are right."""
    answers = ["yes" if right < b else "no" for b in range(10) for right in range(10)]
    confidences = [b / 10 + 0.05 for b in range(10) for _ in range(10)]
    return ReliabilityCurve(score_task("legalbench", ["yes"] * 100, answers, confidences=confidences))


@pytest.mark.parametrize("width", WIDTHS)
def test_a_full_curve_keeps_to_600_pixels(mount: Mount, curve: ReliabilityCurve, width: int) -> None:
    page = mount(curve, width=width)
    height, sideways = size(page)
    assert (height <= 600, sideways) == (True, 0)
    assert page.locator(".point").count() == 10


@pytest.mark.parametrize("width", [480, 700, 720, 768, 930])
def test_every_column_of_the_curve_is_in_sight(mount: Mount, curve: ReliabilityCurve, width: int) -> None:
    """The panel cuts what sticks out, so nothing may; texts of the chart are not scaled down."""
    page = mount(curve, width=width)
    edges = page.evaluate(
        """() => [document.querySelector(".panel"), document.querySelector("table"), document.querySelector("svg")]
          .map((one) => one.getBoundingClientRect().right)"""
    )
    assert max(edges[1:]) <= edges[0]
    assert page.evaluate(
        """() => { const svg = document.querySelector("svg");
          return svg.getBoundingClientRect().width / svg.viewBox.baseVal.width; }"""
    ) == pytest.approx(1, abs=0.01)


def test_a_gap_that_rounds_to_nothing_has_no_sign(mount: Mount) -> None:
    answers = ["yes"] * 80 + ["no"] * 20
    confidences = [0.799] * 100
    page = mount(ReliabilityCurve(score_task("legalbench", ["yes"] * 100, answers, confidences=confidences)))
    assert page.locator("tbody td").last.inner_text() == "0.00"
    assert "no gap" in page.locator("svg").get_attribute("aria-label")


def test_a_bin_is_selected_in_curve_and_table(mount: Mount, curve: ReliabilityCurve) -> None:
    page = mount(curve)
    page.locator('tr[data-bin="3"]').click()
    assert trait(page, "bin") == 3
    assert page.locator('.mark.chosen[data-bin="3"]').count() == 1
    assert page.locator("tr.chosen td").all_inner_texts() == ["10", "0.35", "0.30", "[0.11, 0.60]", "+0.05"]
    page.locator("tr.chosen button").focus()
    page.keyboard.press("ArrowDown")
    assert trait(page, "bin") == 4
    page.keyboard.press("Escape")
    assert trait(page, "bin") == -1


def test_without_confidence_the_reason_is_said(mount: Mount) -> None:
    page = mount(ReliabilityCurve(score_task("legalbench", ["yes"], ["yes"])))
    assert "no answered row states a confidence" in page.locator(".title").inner_text()
    assert page.locator("svg").count() == 0
    assert page.locator(".empty").is_visible()
