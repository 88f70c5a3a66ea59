"""The forest of changes and the band of reruns in a chromium: clicked, sorted, moved through by keys, and measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from forest_runs import Noise, comparison, floor
from grid_pages import HOSTILE, page_of

from dojo_widgets.base import Widget
from dojo_widgets.delta_forest import DeltaForest
from dojo_widgets.noise_band import NoiseBand

pytestmark = pytest.mark.browser

WIDTHS = (480, 768, 930, 1027, 1440)

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


@pytest.fixture
def forest() -> DeltaForest:
    """B wins 12 documents, one of them with a hostile name, and loses one."""
    return DeltaForest(comparison([40], noise=Noise(0.05)))


@pytest.fixture
def band() -> NoiseBand:
    """Six pairs of reruns, four answers of each flip; one pair is left out."""
    return NoiseBand(floor())


def trait(page: Any, name: str) -> Any:
    return page.evaluate("(name) => window.model.get(name)", name)


def height(page: Any) -> int:
    return int(page.evaluate("() => document.getElementById('host').offsetHeight"))


def sideways(page: Any) -> int:
    """By how much anything in the widget scrolls sideways."""
    return int(
        page.evaluate(
            """() => {
              const host = document.getElementById("host");
              const all = [host, ...host.querySelectorAll("*")];
              const scrolls = all.filter((one) => one === host || getComputedStyle(one).overflowX === "auto");
              return Math.max(...scrolls.map((one) => one.scrollWidth - one.clientWidth));
            }"""
        )
    )


def small_targets(page: Any) -> list[str]:
    """What can be pressed and is smaller than 24 pixels."""
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll("button, select, input, [role=option]")]
          .filter((one) => one.checkVisibility({ visibilityProperty: true }))
          .filter((one) => one.getBoundingClientRect().height < 24 || one.getBoundingClientRect().width < 24)
          .map((one) => one.outerHTML.slice(0, 80))"""
    )
    return found


def row(page: Any, name: str) -> Any:
    return page.get_by_role("listbox").first.get_by_role("option", name=name)


def focused(page: Any) -> str:
    return str(page.evaluate("() => document.activeElement.getAttribute('aria-label')"))


@pytest.mark.parametrize("width", WIDTHS)
def test_it_keeps_to_600_pixels(mount: Mount, forest: DeltaForest, band: NoiseBand, width: int) -> None:
    """Whatever is selected; never sideways; every target can be hit; nothing moves when another row is selected."""
    page = mount(forest, width=width)
    before = height(page)
    assert before <= 600
    assert sideways(page) == 0
    assert small_targets(page) == []
    row(page, "exact match").click()
    assert (height(page), sideways(page)) == (before, 0)
    page.keyboard.press("Escape")
    assert height(page) == before
    page = mount(band, width=width)
    assert height(page) <= 600
    assert (sideways(page), small_targets(page)) == (0, [])


def test_a_row_is_said_in_words(mount: Mount, forest: DeltaForest) -> None:
    """Metric, change, verdict and band; the verdict has a word and a sign beside its colour."""
    page = mount(forest)
    (said,) = page.get_by_role("listbox", name="Metrics").aria_snapshot().split("\n")[2:3]
    delta = forest._comparison.headline.delta
    shown = f"subtype accuracy change +{delta.value:.4f} [+{delta.lo:.4f}, +{delta.hi:.4f}] win n 60"
    assert f'option "{shown} rerun band ±0.0500 (4 reruns)" [selected]' in said
    assert row(page, "subtype accuracy change").first.locator(".verdict").inner_text().split() == ["▲", "win"]
    assert page.locator(".forest-top .title").inner_text() == forest.data["finding"]


def test_better_is_at_the_right_of_the_band(mount: Mount, forest: DeltaForest) -> None:
    page = mount(forest)
    box = {
        part: row(page, "subtype accuracy change").first.locator(part).first.bounding_box()
        for part in (".dot", ".zone", ".zero")
    }
    assert box[".zone"]["x"] < box[".zero"]["x"] < box[".zone"]["x"] + box[".zone"]["width"] < box[".dot"]["x"]


def test_a_click_lists_what_changed(mount: Mount, forest: DeltaForest) -> None:
    """Counts first, then wins and losses; hostile names are text; a second click clears."""
    page = mount(forest)
    documents = page.get_by_role("listbox", name="Documents that changed").get_by_role("option")
    says = page.locator(".detail .says").inner_text()
    assert says.endswith("B is better in 12, worse in 1, equal in 47 of 60 documents.")
    assert documents.first.get_attribute("aria-setsize") == "13"
    assert documents.first.inner_text().split() == ["▼", "Document", "40", "1.000", "→", "0.000", "−1.000"]
    assert page.locator(".sides").inner_text().split() == ["A", "1.000", "agency", "B", "0.000", "license"]
    assert page.locator(".expected").inner_text() == "expected agency"
    page.get_by_role("button", name="better 12").click()
    assert documents.first.get_attribute("aria-setsize") == "12"
    documents.first.click()
    assert trait(page, "document") == forest.detail["rows"][1]["id"]
    assert HOSTILE in page.locator(".source").inner_text()
    assert page.title() == "untouched"
    page.get_by_label("Filter documents").fill("document 07")
    assert documents.count() == 1
    page.get_by_label("Filter documents").fill("no such thing")
    assert page.locator(".waits").inner_text() == "No document that changed is like that."
    row(page, "subtype accuracy change").first.click()
    assert trait(page, "metric") == ""
    assert page.locator(".detail .title").inner_text() == "No metric selected"


def test_keys_move_open_and_go_back(mount: Mount, forest: DeltaForest) -> None:
    page = mount(forest)
    names = [metric["name"] for metric in forest.data["metrics"]]
    page.get_by_role("listbox", name="Metrics").focus()
    page.keyboard.press("ArrowDown")
    assert trait(page, "metric") == names[1]
    page.keyboard.press("Home")
    assert trait(page, "metric") == names[0]
    page.keyboard.press("Enter")
    assert focused(page) == "Documents that changed"
    page.keyboard.press("ArrowDown")
    assert trait(page, "document") == forest.detail["rows"][1]["id"]
    page.keyboard.press("Escape")
    assert focused(page) == "Metrics"
    page.keyboard.press("Escape")
    assert trait(page, "metric") == ""
    page.keyboard.press("Enter")
    assert trait(page, "metric") == names[0]
    page.keyboard.press("End")
    assert trait(page, "metric") == names[-1]
    selected = page.locator(".forest-rows [aria-selected=true]")
    assert page.get_by_role("listbox", name="Metrics").get_attribute("aria-activedescendant") == selected.get_attribute(
        "id"
    )


def test_headings_sort(mount: Mount, forest: DeltaForest) -> None:
    page = mount(forest)
    page.get_by_role("button", name="sort by change").click()
    assert trait(page, "sort") == "change"
    page.get_by_role("button", name="change, sorted").click()
    assert trait(page, "sort") == "-change"
    page.get_by_role("button", name="change, sorted the other way").click()
    assert trait(page, "sort") == "given"


@pytest.mark.parametrize("shadow", [False, True])
def test_it_draws_twice_and_goes_away(mount: Mount, forest: DeltaForest, band: NoiseBand, shadow: bool) -> None:
    page = mount(forest, shadow=shadow, copies=2)
    row(page, "exact match").first.click()
    assert page.locator('.forest-rows [aria-selected="true"]').count() == 2
    page.evaluate("() => window.ends.forEach((end) => end())")
    assert page.locator(".forest-view").count() == 0
    page = mount(band, shadow=shadow, copies=2)
    page.evaluate("() => window.ends.forEach((end) => end())")
    assert page.locator(".forest-view").count() == 0


def test_noise_that_is_not_known_is_hatched(mount: Mount) -> None:
    """Single pairs stand as marks; the verdict says so, and where it leans."""
    page = mount(DeltaForest(comparison(noise=Noise(None, 2, (0.01, -0.02)))))
    first = row(page, "subtype accuracy change").first
    assert first.locator(".unknown-band").count() == 1
    assert first.locator(".zone").count() == 0
    assert first.locator(".single").count() == 2
    assert first.locator(".verdict").inner_text().startswith("△")
    assert page.locator(".facts").inner_text().split("band")[1].startswith("\nunknown; 2 reruns: +0.0100, −0.0200")


def test_print_lists_everything(mount: Mount, forest: DeltaForest) -> None:
    page = mount(forest, width=900)
    page.emulate_media(media="print")
    assert page.locator(".printed").is_visible()
    assert page.locator(".printed tbody tr").count() == 13
    assert not page.get_by_label("Filter documents").is_visible()
    clipped = page.evaluate(
        """() => [...document.querySelectorAll(".forest-scroll, .changes")]
          .filter((one) => one.scrollHeight > one.clientHeight + 1).length"""
    )
    assert clipped == 0


# The band of reruns


def test_a_pair_lists_what_flips(mount: Mount, band: NoiseBand) -> None:
    """Who was right has a sign, and a word where the answers are read."""
    page = mount(band)
    documents = page.get_by_role("listbox", name="Documents that flip").get_by_role("option")
    assert documents.count() == 4
    assert page.locator(".detail .says").inner_text().endswith("right answer won 2, lost 2, wrong either way 0.")
    documents.nth(2).click()
    assert "agency, right" in page.locator(".reading").inner_text()
    pairs = page.get_by_role("listbox", name="Pairs of reruns").get_by_role("option")
    assert pairs.count() == 6
    pairs.nth(3).click()
    assert trait(page, "pair") == band.table["bands"][0]["pairs"][3]["id"]
    assert documents.count() == 4
    assert page.title() == "untouched"


def test_what_is_left_out_says_why(mount: Mount, band: NoiseBand) -> None:
    page = mount(band)
    page.get_by_role("button", name="1 pair left out").click()
    assert trait(page, "pair") == ""
    assert page.locator(".detail .title").inner_text() == "1 pair left out"
    assert "repeats every answer" in page.locator(".reading").inner_text()


def test_another_metric_is_looked_up(mount: Mount, band: NoiseBand) -> None:
    """In a page without Python, too."""
    page = mount(band)
    page.get_by_label("Metric", exact=True).select_option("recall:agency")
    assert trait(page, "table")["metric"] == "recall:agency"
    assert "recall: agency" in page.locator(".forest-top .title").inner_text()
    page.evaluate("() => { window.model.set('metric', 'unheard of'); window.model.save_changes(); }")
    assert page.locator(".changes .empty").inner_text() == "reading the pairs …"


def test_without_reruns_it_says_what_to_do(mount: Mount) -> None:
    page = mount(NoiseBand(floor(0)))
    assert page.locator(".changes .empty").inner_text().startswith("There are no reruns to show. Run the same prompt")
    assert page.locator(".detail .title").inner_text() == "Nothing left out"
    few = mount(NoiseBand(floor(2)))
    assert few.locator(".forest-rows .unknown-band").count() == 1
    assert "band unknown: 1 rerun, 3 needed" in few.locator(".forest-group").inner_text()
