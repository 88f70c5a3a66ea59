"""MissTable and MissExplorer in a chromium: clicked, driven by keys, and measured."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from miss_tables import large_table, small_table, span, table_of

from dojo_widgets.base import Widget
from dojo_widgets.miss_explorer import MissExplorer
from dojo_widgets.miss_table import MissTable

pytestmark = pytest.mark.browser

HOSTILE = "</script><img src=x onerror=\"document.title='owned'\"> &quot;due&quot;"

STATIC_MODEL = """
class StaticModel {
  constructor(state, tables) { Object.assign(this, { state, tables, heard: {}, changed: new Set(), saves: 0 }); }
  get(name) { return this.state[name]; }
  set(name, value) { this.state[name] = value; this.changed.add(name); this.fire(name); }
  save_changes() {
    this.saves += 1;
    const changed = [...this.changed];
    this.changed.clear();
    for (const { source, target, values } of this.tables)
      if (changed.includes(source)) { this.state[target] = values[this.state[source]]; this.fire(target); }
  }
  fire(name) { for (const run of [...(this.heard[`change:${name}`] || [])]) run(); }
  on(event, run) { (this.heard[event] ||= []).push(run); }
  off(event, run) { this.heard[event] = this.heard[event].filter((one) => one !== run); }
}
"""

MEASURE = """() => {
  const host = document.querySelector(".host").getBoundingClientRect();
  const inside = [...document.querySelectorAll(".host *")].filter((node) => node.getClientRects().length);
  const beyond = inside.filter((node) => node.getBoundingClientRect().right > host.right + 1 && !node.closest("svg"));
  return { height: host.height, sideways: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    beyond: beyond.map((node) => node.className) };
}"""


def page_of(widget: Widget, *, width: int, copies: int, shadow: bool) -> str:
    names = [name for name in widget.keys if not name.startswith("_") and name not in ("layout", "tabbable", "tooltip")]
    tables = [{"source": one.source, "target": one.target, "values": one.values} for one in widget.precomputed()]
    parts = {"state": {name: getattr(widget, name) for name in names}, "tables": tables, "css": str(widget._css)}
    carried = json.dumps({**parts, "esm": str(widget._esm)}).replace("<", "\\u003c")
    hosts = f'<div class="host" style="width:{width}px"></div>' * copies
    return f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>untouched</title>
<style>body {{ margin: 0 }}</style><main>{hosts}</main><script type="module">{STATIC_MODEL}
const {{ state, tables, css, esm }} = {carried};
const widget = (await import(URL.createObjectURL(new Blob([esm], {{ type: "text/javascript" }})))).default;
window.models = [];
window.ends = [];
for (const host of document.querySelectorAll(".host")) {{
  const el = {json.dumps(shadow)} ? host.attachShadow({{ mode: "open" }}) : host;
  el.append(Object.assign(document.createElement("style"), {{ textContent: css }}));
  models.push(new StaticModel({{ ...state }}, tables));
  ends.push(widget.render({{ model: models.at(-1), el }}));
}}
window.ready = true;
</script></html>"""


Mount = Callable[..., Any]


@pytest.fixture
def mount(chromium: Any, tmp_path: Path) -> Iterator[Mount]:
    problems: list[str] = []
    pages: list[Any] = []

    def open_page(widget: Widget, *, width: int = 1000, copies: int = 1, shadow: bool = False) -> Any:
        file = tmp_path / f"page{len(pages)}.html"
        file.write_text(page_of(widget, width=width, copies=copies, shadow=shadow), encoding="utf-8")
        page = chromium.new_page(viewport={"width": width, "height": 720})
        pages.append(page)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto(file.as_uri())
        page.wait_for_function("window.ready")
        return page

    yield open_page
    for page in pages:
        page.close()
    assert problems == []


def explorer(table: dict[str, Any] | None = None, **options: Any) -> MissExplorer:
    def record_of(one: str) -> dict[str, Any]:
        texts = [f"item {n} of {one} {HOSTILE}" for n in range(3)]
        items = [
            {
                "index": n,
                "text": text,
                "words": 4,
                "similarity": 0.5 - n / 10,
                "place": "elsewhere",
                "here": False,
                "says": ["0.50"],
            }
            for n, text in enumerate(texts)
        ]
        label = {"text": f"the label of {one}", "words": 4, "how": "exact"}
        named = {"document": "Alpha Inc - Lease", "short": "Alpha", "field": "terms", "category": "c", "family": "c"}
        return {
            "id": one,
            **named,
            "status": "near",
            "cause": "omission",
            "label": label,
            "items": items,
            "python": one,
        }

    def view_of(one: str) -> dict[str, Any]:
        text = f"{HOSTILE} {'Now the contract goes on. ' * 400}"
        label = {"id": one, "family": "c", "status": "near", "at": [[400, 460]], "pieces": False}
        where = {
            "text": text,
            "length": len(text),
            "start": 0,
            "windowed": False,
            "label": {"at": [[400, 460]], "how": "exact"},
        }
        items = [{"index": 0, "at": [[500, 540]], "how": "exact"}]
        return {
            "span": one,
            "document": "Alpha",
            "short": "Alpha",
            "field": "terms",
            **where,
            "item": 0,
            "labels": [label],
            "items": items,
            "unlocated": [],
            "chunks": [],
        }

    options = {"view_of": view_of, **options}
    return MissExplorer(table or small_table(), record_of=record_of, **options)


def value(page: Any, trait: str) -> Any:
    return page.evaluate("(trait) => models[0].get(trait)", trait)


def title(page: Any) -> str:
    return str(page.locator(".spans .title").inner_text())


def focused(page: Any) -> str:
    return str(page.evaluate("document.activeElement.closest('.family, .rows, .verdict-note')?.className ?? ''"))


def test_a_click_selects_a_family_and_its_first_span(mount: Mount) -> None:
    page = mount(MissTable(small_table()))
    assert title(page) == "All families · span 4 of 6 · Cap On Liability"
    page.locator(".family", has_text="Audit Rights").click()
    assert (value(page, "family"), value(page, "span")) == ("Audit Rights", "doc1:terms:9")
    assert title(page) == "Audit Rights · span 1 of 2"
    assert page.locator(".row").count() == 2
    page.locator(".family", has_text="Audit Rights").click()
    assert (value(page, "family"), value(page, "span")) == ("", "doc1:terms:9")


def test_a_click_selects_a_span_a_cause_and_what_is_shown(mount: Mount) -> None:
    page = mount(MissTable(small_table()))
    page.locator(".row", has_text="label 10").click()
    assert value(page, "span") == "doc0:terms:10"
    page.locator(".chip", has_text="split").click()
    assert (value(page, "cause"), value(page, "span")) == ("split", "doc1:terms:1")
    assert title(page) == "All families · split · span 1 of 1 · Cap On Liability"
    page.locator(".segments button", has_text="check").click()
    assert (value(page, "show"), value(page, "cause"), value(page, "span")) == ("check", "", "doc1:terms:3")
    assert page.locator(".row").inner_text().endswith("check match")


def test_keys_move_where_the_focus_is(mount: Mount) -> None:
    page = mount(MissTable(small_table()))
    page.locator(".rows").focus()
    page.keyboard.press("ArrowDown")
    assert value(page, "span") == "doc0:terms:2"
    page.keyboard.press("Home")
    assert value(page, "span") == "doc1:terms:9"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowDown")
    assert value(page, "family") == "Cap On Liability"
    assert "family" in focused(page)
    page.keyboard.press("ArrowRight")
    assert "rows" in focused(page)
    page.keyboard.press("Escape")
    assert value(page, "family") == ""


def test_the_list_points_to_the_selected_row_and_says_it(mount: Mount) -> None:
    page = mount(MissTable(large_table(), sort="document:asc"))
    page.locator(".rows").focus()
    page.keyboard.press("End")
    page.locator(".rows").evaluate("(node) => node.scrollTo(0, 0)")
    page.wait_for_timeout(50)
    active = page.locator(".rows").get_attribute("aria-activedescendant")
    row = page.locator(f"[id='{active}']")
    assert row.get_attribute("aria-selected") == "true"
    assert row.get_attribute("aria-posinset") == row.get_attribute("aria-setsize")
    assert "of 2,304" in page.locator("[aria-live]").inner_text()
    assert page.locator(".row").count() < 60


def test_many_families_get_a_filter_and_silent_documents_one_line(mount: Mount) -> None:
    page = mount(MissTable(large_table()))
    page.locator(".families input").fill("family 01")
    assert page.locator(".family").count() == 12
    page.keyboard.press("ArrowDown")
    assert value(page, "family") == ""
    page.locator(".folded").click()
    assert value(page, "cause") == "empty_prediction"
    assert title(page) == "All families · empty prediction · span 1 of 96 · family 000"


def test_heads_sort_and_say_so(mount: Mount) -> None:
    page = mount(MissTable(small_table()))
    page.locator(".family-head button", has_text="rate").click()
    assert value(page, "family_sort") == "rate:desc"
    page.locator(".span-head button", has_text="best").click()
    assert value(page, "sort") == "similarity:asc"
    assert page.locator(".span-head [aria-pressed=true]").inner_text() == "best ▴"
    assert "0.20" in page.locator(".row").first.inner_text()


def test_an_empty_list_offers_a_way_on(mount: Mount) -> None:
    page = mount(MissTable(table_of([span(n, "Cap On Liability", "matched", 0.9) for n in range(6)])))
    assert "Nothing is missed here. All 6 expected spans reach coverage 0.60." in page.locator(".empty").inner_text()
    page.locator(".empty button").click()
    assert (value(page, "show"), page.locator(".row").count()) == ("matched", 6)
    assert "rows" in focused(page)


@pytest.mark.parametrize("width", [480, 600, 768, 900, 930, 1027, 1200, 1440])
def test_it_fits(mount: Mount, width: int) -> None:
    for widget, limit in ((MissTable(large_table()), 560), (explorer(), 600 if width >= 600 else 1040)):
        page = mount(widget, width=width)
        for trait, set_to in (("show", "matched"), ("show", "missed"), ("opened", True)):
            page.evaluate("([trait, value]) => models[0].set(trait, value)", [trait, set_to])
            page.wait_for_timeout(60)
            measured = page.evaluate(MEASURE)
            assert (measured["sideways"], measured["beyond"]) == (0, [])
            assert measured["height"] <= limit


def test_the_whole_loop_by_keys(mount: Mount) -> None:
    page = mount(explorer())
    page.locator(".rows").focus()
    assert "the label of doc0:terms:0" in page.locator(".compare-pane").inner_text()
    page.keyboard.press("2")
    assert value(page, "item") == 1
    page.keyboard.press("Enter")
    assert value(page, "opened") is True
    assert page.locator(".compare-pane").is_visible() is False
    page.wait_for_selector(".contract .own")
    page.keyboard.press("ArrowDown")
    assert (value(page, "opened"), value(page, "view")["span"]) == (True, value(page, "span"))
    page.keyboard.press("n")
    assert value(page, "highlight") == 1
    page.keyboard.press("Escape")
    assert value(page, "opened") is False
    page.keyboard.press("i")
    page.wait_for_function("models[0].get('highlight') === 1")
    assert value(page, "opened") is True


def test_verdicts_by_keys_and_clicks(mount: Mount) -> None:
    page = mount(explorer())
    first = value(page, "span")
    page.locator(".rows").focus()
    page.keyboard.press("w")
    assert value(page, "judgements") == {first: {"verdict": "label_wrong", "note": ""}}
    assert page.locator(".row[aria-selected=true] .verdict").inner_text().startswith("L")
    page.keyboard.press("m")
    page.keyboard.type("a wrong clause")
    page.keyboard.press("Enter")
    assert value(page, "judgements")[first]["note"] == "a wrong clause"
    assert "rows" in focused(page)
    page.keyboard.press("ArrowDown")
    assert page.locator(".verdict-note").input_value() == ""
    page.locator(".verdicts button", has_text="True miss").click()
    assert page.locator(".judged").inner_text() == "2 judged"
    page.locator(".verdicts button", has_text="True miss").click()
    assert page.locator(".judged").inner_text() == "1 judged"


def test_what_is_not_at_hand_is_said(mount: Mount) -> None:
    page = mount(explorer(view_of=None))
    page.locator("[role=tab]", has_text="Contract").click()
    assert "give documents=..." in page.locator(".pane-message").inner_text()
    page = mount(explorer(ids=[]))
    page.locator(".row").first.click()
    page.wait_for_selector(".pane-message:not([hidden])")
    said = page.locator(".pane-message").inner_text()
    assert said.startswith("label 9\n")
    assert "coverage 0.70" in said
    assert "not embedded in this page; open it with dojo notebook miss_attribution" in said
    assert page.locator(".row .absent").count() == page.locator(".row").count()


def test_hostile_texts_are_shown_as_texts(mount: Mount) -> None:
    table = table_of([span(n, HOSTILE, "near", 0.4, text=HOSTILE) for n in range(6)], notes=[HOSTILE], field=HOSTILE)
    table["documents"] = [{"name": HOSTILE, "short": HOSTILE}] * 2
    page = mount(explorer(table))
    page.locator("[role=tab]", has_text="Contract").click()
    page.wait_for_timeout(100)
    assert page.title() == "untouched"
    assert page.locator("img").count() == 0
    assert page.locator(".family").nth(1).inner_text().startswith("</script><img")


@pytest.mark.parametrize("shadow", [False, True])
def test_two_on_a_page_do_not_disturb_each_other_and_leave_nothing(mount: Mount, shadow: bool) -> None:
    page = mount(explorer(), copies=2, shadow=shadow)
    page.locator(".rows").nth(1).focus()
    page.keyboard.press("End")
    assert page.evaluate("models.map((model) => model.get('span'))") == ["doc0:terms:0", "doc1:terms:1"]
    ids = page.locator("[id]").evaluate_all("(nodes) => nodes.map((node) => node.id)")
    assert len(ids) == len(set(ids))
    page.evaluate("ends.forEach((end) => end())")
    assert page.locator(".dojo").count() == 0
    assert page.evaluate("models.flatMap((model) => Object.values(model.heard).flat()).length") == 0


def test_print_shows_the_list_without_controls(mount: Mount) -> None:
    page = mount(MissTable(large_table(families=6, each=100)))
    page.emulate_media(media="print")
    page.wait_for_timeout(50)
    assert page.locator(".printed .span-grid").count() == 500
    assert page.locator(".printed").inner_text().endswith("choose a family for others.")
    assert page.locator(".rows").is_visible() is False
    page.emulate_media(media="screen")
    page.wait_for_timeout(50)
    assert page.locator(".printed .span-grid").count() == 0
