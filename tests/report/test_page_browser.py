"""A report as its reader has it: opened from a file, without network, in a browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from toy_widgets import Broken, Picker, records

from dojo_kit import charts
from dojo_kit.report import Report

pytestmark = pytest.mark.browser

HOSTILE = "</script><img src=x onerror=\"document.title='run'\"><script>document.title='run'</script>"
FAMILIES = pd.DataFrame(
    {
        "short": ["Cap On Liability", HOSTILE, "Insurance"],
        "n": [25, 20, 3],
        "missed": [17, 5, 1],
        "rate": [0.68, 0.25, 1 / 3],
        "lo": [0.48, 0.11, 0.06],
        "hi": [0.83, 0.47, 0.79],
        "ranked": [True, True, False],
    }
)
LIGHT_BOXES = """() => [...document.querySelectorAll("body, body *")].filter((element) => {
  const box = element.getBoundingClientRect();
  if (box.width * box.height < 3000 || element.tagName === "text") return false;
  const style = getComputedStyle(element);
  const paint = element instanceof SVGElement && element.tagName !== "svg" ? style.fill : style.backgroundColor;
  const [red, green, blue, alpha = 1] = (paint.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number);
  return alpha > 0.1 && Math.min(red, green, blue) > 150;
}).map((element) => element.outerHTML.slice(0, 80))"""


@pytest.fixture(scope="module")
def report_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    many = records(5, text=HOSTILE, filler=20_000)
    report = Report(f"17 of 25 are missed {HOSTILE}").heading(HOSTILE).text(HOSTILE)
    report.table(FAMILIES.assign(long_text=HOSTILE * 4, again=HOSTILE * 4), caption=HOSTILE)
    report.chart(charts.family_misses(FAMILIES), caption=HOSTILE)
    report.chart(charts.similarity_histogram([0.1, 0.4, 0.9], threshold=0.6), caption="one sentence")
    report.widgets(
        [Picker(many, span="s0"), Picker(many), Broken()], linked=("span",), caption=HOSTILE, layout="beside"
    )
    report.footer(recipe={"embedder": HOSTILE, "documents": "f" * 64}, command="dojo report " + "a" * 300)
    return report.save(tmp_path_factory.mktemp("page") / "report.html")


def _said(opened: Any) -> list[str]:
    return [text.split(":")[0] for text in opened.page.locator(".said").all_inner_texts()]


def test_opens_without_a_request_or_complaint(report_file: Path, open_page: Callable[..., Any]) -> None:
    """Only the file itself is asked for; the one complaint is of the widget that fails on purpose."""
    opened = open_page(report_file)

    others = [url for url in opened.requests[1:] if not url.startswith("blob:")]
    assert others == []
    assert [text for text in opened.complaints if "out of ideas" not in text] == []
    assert "could not be drawn: out of ideas" in opened.page.inner_text("#widget-3")


def test_hostile_text_does_not_run(report_file: Path, open_page: Callable[..., Any]) -> None:
    """It is in title, heading, text, table, chart, state and footer, and shown as characters."""
    opened = open_page(report_file)
    opened.page.click("#widget-1 button >> nth=2")
    opened.page.wait_for_timeout(200)

    assert opened.page.title().startswith("17 of 25")
    assert opened.page.locator("img").count() == 0
    assert HOSTILE in opened.page.inner_text("#widget-1")
    assert HOSTILE in opened.page.inner_text("main > p")


def test_policy_stops_scripts_and_eval(report_file: Path, open_page: Callable[..., Any]) -> None:
    """Even a script that got into the page would not run."""
    page = open_page(report_file).page
    page.evaluate(  # code as text is compiled after evaluate, which itself is free to
        """() => { setTimeout("document.title = 'run'");
        const script = document.createElement("script"); script.textContent = "document.title = 'run'";
        document.body.append(script); document.body.insertAdjacentHTML("beforeend",
        '<p onclick="document.title = 1" id="trap">x</p>'); document.getElementById("trap").click(); }"""
    )
    page.wait_for_timeout(100)

    assert page.title().startswith("17 of 25")


def test_charts_are_live_and_say_numbers(report_file: Path, open_page: Callable[..., Any]) -> None:
    """Live charts replace their pictures at full width; hovering says one sentence."""
    page = open_page(report_file).page

    assert page.locator(".dojo-chart.is-live").count() == 2
    assert page.locator(".static:visible").count() == 0
    assert page.locator(".live svg").first.bounding_box()["width"] > 900
    page.hover("#chart-1 .live .mark-rect path >> nth=0", position={"x": 2, "y": 6})
    page.wait_for_selector("#vg-tooltip-element.visible")
    assert page.inner_text("#vg-tooltip-element") == "Cap On Liability: 17 of 25 missed, 68% [48%, 83%]"


def test_everything_but_widgets_shows_without_javascript(report_file: Path, open_page: Callable[..., Any]) -> None:
    """Pictures stand in for charts, with the numbers as titles, and widgets say what they need."""
    page = open_page(report_file, javascript=False).page

    assert page.locator(".static:visible").count() == 2
    assert page.locator("#chart-1 .static:visible svg").bounding_box()["width"] > 700
    titles = page.locator("#chart-1 .wide title").all_text_contents()
    assert "Cap On Liability: 17 of 25 missed, 68% [48%, 83%]" in titles
    assert "JavaScript" in page.inner_text("#widget-1")
    assert page.locator(".page-button:visible").count() == 0


def test_pictures_fit_narrow_pages(report_file: Path, open_page: Callable[..., Any]) -> None:
    """A narrow page shows the drawing made for it, one per chart."""
    page = open_page(report_file, width=480, javascript=False).page

    assert page.locator(".static.narrow:visible").count() == page.locator(".static:visible").count() == 2


def test_widgets_act_together(report_file: Path, open_page: Callable[..., Any]) -> None:
    """A click sets the span in both widgets, what follows from it comes out of the tables, the address tells it."""
    opened = open_page(report_file)

    assert _said(opened) == ["s0", "s0"]
    opened.page.click("#widget-2 button >> nth=3")
    assert _said(opened) == ["s3", "s3"]
    assert opened.page.inner_text("#widget-1 .said").endswith(" 3")
    assert opened.page.url.endswith("#span=s3")
    opened.page.evaluate("location.hash = 'span=s1'")
    opened.page.wait_for_function("document.querySelector('.said').textContent.startsWith('s1')")
    assert _said(opened) == ["s1", "s1"]


def test_an_address_leads_to_a_span(report_file: Path, open_page: Callable[..., Any]) -> None:
    """The page opens with the selection of its address; a span nobody knows shows nothing."""
    assert _said(open_page(report_file, address="#span=s4&other=1")) == ["s4", "s4"]
    unknown = open_page(report_file, address="#span=__proto__")
    assert unknown.page.inner_text("#widget-1 .said") == "__proto__: nothing"


def test_old_browsers_get_a_sentence(report_file: Path, open_page: Callable[..., Any]) -> None:
    """Without DecompressionStream widgets say which browser they need and charts stay pictures."""
    page = open_page(report_file, before="delete globalThis.DecompressionStream").page

    assert "a browser of 2023 or later" in page.inner_text("#widget-1")
    assert page.locator(".static:visible").count() == 2


@pytest.mark.parametrize("live", [True, False], ids=["live", "pictures"])
def test_dark_pages_have_no_light_boxes(report_file: Path, open_page: Callable[..., Any], live: bool) -> None:
    """Under a dark system nothing large is light, neither the page nor a drawing."""
    without_vega = "" if live else "delete globalThis.DecompressionStream"
    opened = open_page(report_file, dark=True, before=without_vega)

    assert opened.page.evaluate(LIGHT_BOXES) == []


def test_theme_button_goes_before_the_system(report_file: Path, open_page: Callable[..., Any]) -> None:
    """System, light, dark; charts follow without being drawn again."""
    page = open_page(report_file).page
    ink = "() => getComputedStyle(document.querySelector('#chart-1 .live text')).fill"
    light = page.evaluate(ink)
    page.click("#theme")
    assert (page.inner_text("#theme"), page.evaluate(ink)) == ("Theme: light", light)
    page.click("#theme")

    assert page.inner_text("#theme") == "Theme: dark"
    assert page.evaluate(ink) != light
    assert page.evaluate(LIGHT_BOXES) == []


def test_print_is_light_and_without_controls(report_file: Path, open_page: Callable[..., Any]) -> None:
    """A dark page prints dark on white, charts as pictures."""
    page = open_page(report_file, dark=True).page
    page.emulate_media(media="print")

    assert page.locator(".page-button:visible").count() == 0
    assert page.locator(".live:visible").count() == 0
    assert page.locator(".static.wide:visible").count() == 2
    assert page.evaluate("() => getComputedStyle(document.querySelector('h1')).color") == "rgb(26, 31, 36)"


@pytest.mark.parametrize("width", [480, 768, 900, 1200, 1440])
def test_no_sideways_scroll(report_file: Path, open_page: Callable[..., Any], width: int) -> None:
    """Wide tables and long commands scroll in their own boxes."""
    page = open_page(report_file, width=width).page

    assert page.evaluate("() => document.documentElement.scrollWidth - innerWidth") <= 0
    assert page.evaluate("() => { const box = document.querySelector('.table-scroll'); return box.scrollWidth > 0; }")


def test_charts_in_a_notebook_page_come_alive(tmp_path: Path, open_page: Callable[..., Any]) -> None:
    """The notebook renderer's output is a picture, and live where the page carries vega-embed."""
    from dojo_kit.charts.drawing import vega_bundle
    from dojo_kit.charts.notebook import _render

    output = _render(charts.family_misses(FAMILIES).to_dict())["text/html"]
    ready = "<script>onload = () => { document.documentElement.dataset.ready = '' }</script>"
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html><body>{output}{ready}", encoding="utf-8")
    page = open_page(path).page
    assert page.locator(".static.wide:visible").count() == 1
    assert page.title() == ""

    path.write_text(
        f"<!doctype html><script>(()=>{{{vega_bundle()}}})()</script><body>{output}{ready}", encoding="utf-8"
    )
    page = open_page(path).page
    page.wait_for_selector(".dojo-chart.is-live")
    assert page.locator(".static:visible").count() == 0
    assert page.title() == ""
