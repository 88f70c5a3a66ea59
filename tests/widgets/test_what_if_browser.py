"""The sliders of a what-if in a chromium: moved by keys and clicks, measured, and held against Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from grid_pages import page_of
from vote_runs import STRONGER, vote_corpus

from dojo_kit.settings import Settings, Statistics
from dojo_kit.views.what_if import outcome_at
from dojo_widgets.what_if import CONTROLS, WhatIf

pytestmark = pytest.mark.browser

WIDTHS = (480, 600, 719, 768, 929, 1027, 1440)

Mount = Callable[..., Any]

MOVES = """async (name) => {
  const input = document.querySelector(`[data-control=${name}]`);
  const before = document.querySelector(".title").textContent;
  const times = [];
  const titles = new Set();
  for (let move = 0; move < 20; move++) {
    const start = performance.now();
    input.value = move % 2 ? 2 + move : 3;
    input.dispatchEvent(new Event("input", { bubbles: true }));
    document.querySelector(".title").getBoundingClientRect();
    times.push(performance.now() - start);
    titles.add(document.querySelector(".title").textContent);
    await new Promise(requestAnimationFrame);
  }
  times.sort((a, b) => a - b);
  return { median: times[10], titles: titles.size, before };
}"""


@pytest.fixture
def mount(chromium: Any, tmp_path: Path) -> Iterator[Mount]:
    """Open a widget in a page; errors of the page fail the test."""
    pages: list[Any] = []
    problems: list[str] = []

    def open_page(widget: WhatIf, *, width: int = 1200, **how: Any) -> Any:
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
def shared() -> WhatIf:
    return WhatIf(vote_corpus(), "subtype", stronger=STRONGER)


@pytest.fixture
def what_if(shared: WhatIf) -> WhatIf:
    for name, value in shared.data["start"].items():
        shared.set_trait(name, value)
    return shared


def trait(page: Any, name: str) -> Any:
    return page.evaluate("(name) => window.model.get(name)", name)


def size(page: Any) -> tuple[int, int]:
    """Height of the widget, and by how much anything in it is wider than its room."""
    measured = page.evaluate(
        """() => {
          const host = document.getElementById("host");
          const all = [host, ...host.querySelectorAll(".panel, .controls, .control, .caveats")];
          return [host.offsetHeight, Math.max(...all.map((one) => one.scrollWidth - one.clientWidth))];
        }"""
    )
    return measured[0], measured[1]


@pytest.mark.parametrize("width", WIDTHS)
def test_it_keeps_to_600_pixels_and_stands_still(mount: Mount, what_if: WhatIf, width: int) -> None:
    """Whatever is chosen; nothing moves, nothing is cut off at the side, no target is too small."""
    page = mount(what_if, width=width)
    before = size(page)
    assert before[0] <= 600
    assert before[1] == 0
    panels = "() => [...document.querySelectorAll('.panel')].map((one) => JSON.stringify(one.getBoundingClientRect()))"
    places = page.evaluate(panels)
    for name in ("rerun", "assumed", "off"):
        page.get_by_role("button", name=name, exact=True).click()
    page.get_by_role("slider", name="votes a document (K)").press("End")
    assert page.evaluate(panels)[1:] == places[1:]
    small = page.evaluate(
        """() => [...document.querySelectorAll("button, input")].filter((one) => {
          const box = one.getBoundingClientRect();
          return box.width && (box.width < 24 || box.height < 24);
        }).map((one) => one.textContent)"""
    )
    assert small == []


@pytest.mark.parametrize("width", [720, 768, 819, 820, 929, 930])
def test_the_outcome_is_not_cut(mount: Mount, width: int) -> None:
    """Every column of the table is inside its panel, with the longest words there are."""
    page = mount(WhatIf(vote_corpus(), "subtype", stronger=STRONGER, call_usd=0.00231), width=width)
    page.get_by_role("slider", name="votes a document (K)").press("End")
    over = page.evaluate(
        """() => document.querySelector("table.outcomes").getBoundingClientRect().right
          - document.querySelector(".outcome").getBoundingClientRect().right"""
    )
    assert over <= 0
    assert size(page)[1] == 0


@pytest.mark.parametrize("width", [480, 600, 700])
def test_narrow_caveats_open_and_the_page_scrolls(mount: Mount, what_if: WhatIf, width: int) -> None:
    page = mount(what_if, width=width)
    more = page.get_by_role("button", name="not to conclude")
    assert more.get_attribute("aria-expanded") == "false"
    assert page.locator(".caveats").is_hidden()
    more.click()
    assert more.get_attribute("aria-expanded") == "true"
    hidden = page.evaluate(
        "() => { const e = document.querySelector('.caveats'); return e.scrollHeight - e.clientHeight; }"
    )
    assert hidden <= 1
    assert size(page)[1] == 0


def test_names_of_levels_do_not_overlap_what_is_drawn_in_narrow_charts(mount: Mount, what_if: WhatIf) -> None:
    page = mount(what_if, width=480)
    assert page.locator(".chart .halo").count() == 0
    axis = page.evaluate(
        """() => {
          const chart = document.querySelector(".chart");
          const y = (selector) => Number(chart.querySelector(selector).getAttribute("y1"));
          return { before: y(".before"), stand: Number(chart.querySelector(".stand").getAttribute("y2")) };
        }"""
    )
    assert axis["before"] < axis["stand"]


def test_dollars_need_no_more_room(mount: Mount) -> None:
    """Where a call has a price, its row costs the charts some height."""
    page = mount(WhatIf(vote_corpus(), "subtype", call_usd=0.00231), width=480)
    assert size(page)[0] <= 600
    assert size(page)[1] == 0
    row = page.locator("tr", has_text="cost of 320,000").inner_text().split("\t")
    assert row[1] == "$739.20"


def test_keys_move_a_slider_and_python_hears_of_it(mount: Mount, what_if: WhatIf) -> None:
    """The outcome is Python's to the printed digit, and the slider says what it means."""
    page = mount(what_if)
    page.get_by_role("button", name="assumed").click()
    slider = page.get_by_role("slider", name="votes a document (K)")
    slider.press("ArrowRight")
    assert trait(page, "votes") == 7
    assert slider.get_attribute("aria-valuetext") == "7"
    share = page.get_by_role("slider", name="share escalated, the least sure documents first")
    share.press("End")
    assert trait(page, "alpha") == 0.5
    assert share.get_attribute("aria-valuetext") == "50\u00a0%, 30 of 60"
    place = {name: trait(page, name) for name in CONTROLS}
    here = outcome_at(what_if.data, place)
    written = f"{here['accuracy']:.3f} [{here['lo']:.3f}, {here['hi']:.3f}]"
    assert page.get_by_role("heading").inner_text().startswith(f"7 votes, 50\u00a0% escalated: accuracy {written}, ")
    assert page.locator("tr", has_text="cost a document").inner_text().split("\t")[2] == f"{here['cost']:.2f} calls"
    assert "7 votes, 50\u00a0% escalated" in page.locator("[aria-live]").inner_text()


def test_moving_draws_at_once_and_tells_python_when_let_go(mount: Mount, what_if: WhatIf, capsys: Any) -> None:
    """Twenty moves redraw without a word to Python; the time they take is printed, not judged."""
    page = mount(what_if)
    page.evaluate("() => { window.saved = 0; const save = model.save_changes.bind(model);"
                  " model.save_changes = () => { window.saved += 1; save(); }; }")  # fmt: skip
    moved = page.evaluate(MOVES, "alpha")
    assert moved["titles"] > 8
    assert page.evaluate("window.saved") == 0
    assert trait(page, "alpha") == 0.15
    with capsys.disabled():
        print(f"\nmedian of 20 slider moves: {moved['median']:.1f} ms")
    assert moved["median"] < 2_000
    page.evaluate("() => document.querySelector('[data-control=alpha]').dispatchEvent(new Event('change'))")
    assert page.evaluate("window.saved") == 1
    assert trait(page, "alpha") == 0.21


def test_pool_real_answers_and_reset(mount: Mount, what_if: WhatIf) -> None:
    page = mount(what_if)
    assert trait(page, "use_stronger") is True
    assert page.get_by_role("slider", name="accuracy of the stronger model").is_disabled()
    page.get_by_role("button", name="assumed").click()
    assert "is an assumption" in page.get_by_role("list", name="What not to conclude").inner_text()
    page.get_by_role("button", name="rerun").click()
    assert trait(page, "pool") == "rerun"
    assert "model one, prompt v2" in page.locator(".control.pool").inner_text()
    page.get_by_role("button", name="reset").click()
    assert {name: trait(page, name) for name in CONTROLS} == {**what_if.data["base"]}
    assert page.get_by_role("button", name="reset").is_disabled()
    assert page.get_by_role("heading").inner_text().startswith("One vote, nothing escalated: accuracy ")


def test_a_click_on_a_chart_goes_there(mount: Mount, what_if: WhatIf) -> None:
    page = mount(what_if)
    chart = page.get_by_role("img", name="Accuracy by votes")
    box = chart.bounding_box()
    chart.click(position={"x": box["width"] - 14, "y": 60})
    assert trait(page, "votes") == 25
    page.get_by_role("img", name="Accuracy by share escalated").click(position={"x": 42, "y": 60})
    assert trait(page, "alpha") == 0


def test_python_moves_the_sliders(mount: Mount, what_if: WhatIf) -> None:
    page = mount(what_if)
    page.evaluate("() => model.set('votes', 3)")
    assert page.get_by_role("slider", name="votes a document (K)").input_value() == "2"
    assert page.get_by_role("heading").inner_text().startswith("3 votes, ")


def test_twice_on_a_page_in_a_shadow_root(mount: Mount, what_if: WhatIf) -> None:
    """Both follow one model, and their clean-up leaves nothing."""
    page = mount(what_if, shadow=True, copies=2)
    page.get_by_role("slider", name="tries of a call").first.press("Home")
    assert page.get_by_role("slider", name="tries of a call").last.get_attribute("aria-valuetext") == "1, no retry"
    page.evaluate("() => { for (const end of window.ends) end(); }")
    assert page.get_by_role("slider").count() == 0
    assert page.evaluate("model.listeners.length") == 0


def test_no_votes_says_what_to_do(mount: Mount, what_if: WhatIf) -> None:
    page = mount(what_if)
    page.evaluate("() => { model.state.data = { pools: [] }; }")
    text = page.evaluate(
        """async () => {
          const { esm } = JSON.parse(document.getElementById("parts").textContent);
          const widget = (await import(URL.createObjectURL(new Blob([esm], { type: "text/javascript" })))).default;
          const el = document.createElement("div");
          document.body.append(el);
          widget.render({ model, el });
          return el.textContent;
        }"""
    )
    assert "There are no votes. No run of this task has an answer beside a true label" in text


def test_print_shows_every_caveat(mount: Mount, what_if: WhatIf) -> None:
    page = mount(what_if, width=700)
    page.emulate_media(media="print")
    fits = page.evaluate(
        "() => { const e = document.querySelector('.caveats'); return e.scrollHeight - e.clientHeight; }"
    )
    assert fits <= 1
    assert page.locator("input[type=range]").first.is_hidden()


def test_the_python_that_is_copied_makes_the_same(mount: Mount) -> None:
    """Seed, level and price are in it."""
    page = mount(WhatIf(vote_corpus(), "subtype", call_usd=0.002, settings=Settings(statistics=Statistics(seed=7))))
    page.evaluate(
        "() => Object.defineProperty(navigator, 'clipboard', {value: {writeText: async (t) => { window.copied = t; }}})"
    )
    page.get_by_role("button", name="Copy Python").click()
    page.wait_for_function("() => window.copied")
    copied = page.evaluate("window.copied")
    assert '"seed": 7' in copied
    assert "call_usd=0.002" in copied
    compile(copied, "copied", "exec")
