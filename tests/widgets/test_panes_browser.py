"""SpanCompare and DocumentView in a chromium: they keep their place and size, and hostile text stays text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dojo_widgets.base import Widget
from dojo_widgets.document_view import DocumentView
from dojo_widgets.span_compare import SpanCompare

pytestmark = pytest.mark.browser

HOSTILE = "</script><img src=x onerror=\"document.title='owned'\"><b>fee</b> \U0001d49c &quot;due&quot;"
ITEM = "the Licensee pays every fee within thirty days of the notice and not a day later"
CLAUSE = f"Before anything else {ITEM}, and whoever pays late pays interest on the sum."
LONG = " ".join(f"word{n} of the clause" for n in range(1_700))

MODEL = """
class Model {
  constructor(state) { this.state = state; this.listeners = []; }
  get(name) { return this.state[name]; }
  set(name, value) {
    if (this.state[name] === value) return;
    this.state[name] = value;
    for (const [event, run] of [...this.listeners]) if (event === `change:${name}`) run();
  }
  on(event, run) { this.listeners.push([event, run]); }
  off(event, run) { this.listeners = this.listeners.filter((one) => one[0] !== event || one[1] !== run); }
  save_changes() {}
}
"""


def mounting(widget: Widget, *, width: int, hidden: bool, shadow: bool) -> str:
    names = {"record", "item", "view", "opened", "highlight", "span"} & set(widget.trait_names(sync=True))
    state = {name: getattr(widget, name) for name in sorted(names)}
    carried = json.dumps({"state": state, "css": str(widget._css)}).replace("<", "\\u003c")
    module = str(widget._esm).replace("export default ", "const widget = ")
    return f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>untouched</title>
<main id="host" style="width:{width}px"{" hidden" if hidden else ""}></main>
<script type="module">{MODEL}
const carried = {carried};
const style = document.createElement("style");
style.textContent = carried.css;
const host = document.getElementById("host");
const el = {str(shadow).lower()} ? host.attachShadow({{ mode: "open" }}) : host;
(el === host ? document.head : el).append(style);
{module}
window.model = new Model(carried.state);
window.end = widget.render({{ model, el }});
window.ready = true;
</script></html>"""


Mount = Callable[..., Any]


@pytest.fixture
def mount(chromium: Any, tmp_path: Path) -> Iterator[Mount]:
    pages: list[Any] = []
    problems: list[str] = []

    def open_page(widget: Widget, *, width: int = 1000, hidden: bool = False, shadow: bool = False) -> Any:
        file = tmp_path / f"page{len(pages)}.html"
        file.write_text(mounting(widget, width=width, hidden=hidden, shadow=shadow), encoding="utf-8")
        page = chromium.new_page(viewport={"width": width + 16, "height": 720})
        pages.append(page)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("dialog", lambda dialog: problems.append(dialog.message))
        page.goto(file.as_uri())
        page.wait_for_function("window.ready")
        return page

    yield open_page
    for page in pages:
        page.close()
    assert problems == []


def item(text: str, *, index: int = 3, similarity: float | None = 0.5, place: str = "elsewhere") -> dict[str, Any]:
    says = [
        "coverage 0.50 < 0.60",
        ": 9 of 18 distinct label words occur in this item. It stands ",
        "2k characters later",
    ]
    return {
        "index": index,
        "text": text,
        "similarity": similarity,
        "place": place,
        "here": place == "same place",
        "says": says,
    }


def record(
    id: str = "a:clauses:0", *, text: str = CLAUSE, items: list[dict[str, Any]] | None = None, **other: Any
) -> dict[str, Any]:
    given = (
        [item(ITEM), item("another clause", index=7, similarity=None, place="same place")] if items is None else items
    )
    return {
        "id": id,
        "document": "ACME_01_02_2018-EX-10.6-License Agreement",
        "short": "Acme 2018",
        "field": "clauses",
        "family": "Payment",
        "status": "near",
        "cause": "omission",
        "cause_says": "no item touches its place",
        "label": {"text": text},
        "items": given,
        "python": "compare_span(attribution, 'a:clauses:0')",
        **other,
    }


RECORDS = {
    "usual": record(),
    "long": record("long", text=LONG, items=[item(f"{LONG} {LONG} {LONG}")]),
    "folded": record("folded", text=f"{LONG[:4000]} and a missing end", items=[item(LONG[:4000])]),
    "empty": record("empty", items=[], cause="empty_prediction"),
    "matched": record("matched", status="matched", cause=None, cause_says=None, check=True),
    "hostile": record("hostile", text=HOSTILE, items=[item(f"{HOSTILE} more")], family=HOSTILE, short=HOSTILE),
    "nothing": {},
}


def compared(name: str = "usual") -> SpanCompare:
    return SpanCompare(lambda _: RECORDS[name], ids=["a"], span="a")


def contract(n_clauses: int = 900) -> str:
    return "".join(
        f"{n}. Clause {n} says that party {n} owes fee {n}.   {'It is due. ' * (n % 7)}\n\n\n" for n in range(n_clauses)
    )


def placed(text: str, clause: int) -> list[int]:
    start = text.index(f"Clause {clause} says")
    return [start, text.index(".", start)]


def view(*, label: int | None = 450, text: str | None = None, **other: Any) -> dict[str, Any]:
    whole = contract()
    at = [] if label is None else [placed(whole, label)]
    return {
        "span": "a:clauses:0",
        "document": "ACME_01_02_2018-EX-10.6-License Agreement",
        "field": "clauses",
        "length": len(whole),
        "start": 0,
        "text": whole if text is None else text,
        "windowed": False,
        "label": {"at": at, "how": "exact" if at else "none"},
        "item": 2,
        "labels": [
            {"id": "a:clauses:0", "family": "Payment", "status": "missed", "at": at, "pieces": False},
            {"id": "a:clauses:1", "family": "Audit", "status": "matched", "at": [placed(whole, 460)], "pieces": False},
        ],
        "items": [{"index": 2, "at": [placed(whole, 451)]}, {"index": 5, "at": [placed(whole, 460)]}],
        "unlocated": [{"index": 9, "text": HOSTILE}],
        "chunks": [20_000],
        **other,
    }


def shown(given: dict[str, Any] | None = None, **traits: Any) -> DocumentView:
    widget = DocumentView(lambda _: view() if given is None else given, ids=["a"], span="a")
    for name, value in traits.items():
        setattr(widget, name, value)
    return widget


def height(page: Any) -> float:
    value: float = page.evaluate("document.querySelector('.panel').getBoundingClientRect().height")
    return value


def overflow(page: Any) -> int:
    value: int = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    return value


def set_trait(page: Any, name: str, value: Any) -> None:
    page.evaluate("([name, value]) => model.set(name, value)", [name, value])


def top_of(page: Any, text: str) -> float:
    """Distance of a mark from the top of the text."""
    value: float = page.evaluate(
        """(text) => {
            const pane = document.querySelector(".contract");
            const mark = [...pane.querySelectorAll(".label, .item")].find((one) => one.textContent.startsWith(text));
            return mark.getBoundingClientRect().top - pane.getBoundingClientRect().top;
        }""",
        text,
    )
    return value


def text_at_top(page: Any, words: str) -> float:
    """Distance from the top of the text of some words in it."""
    value: float = page.evaluate(
        """(words) => {
            const pane = document.querySelector(".contract");
            const walker = document.createTreeWalker(pane, NodeFilter.SHOW_TEXT);
            while (walker.nextNode()) {
                const at = walker.currentNode.data.indexOf(words);
                if (at < 0) continue;
                const range = document.createRange();
                range.setStart(walker.currentNode, at);
                range.setEnd(walker.currentNode, at + 1);
                return range.getBoundingClientRect().top - pane.getBoundingClientRect().top;
            }
        }""",
        words,
    )
    return value


@pytest.mark.parametrize(("width", "most"), [(1200, 330), (720, 330), (480, 600)])
def test_comparison_keeps_its_height(mount: Mount, width: int, most: int) -> None:
    page = mount(compared(), width=width)
    heights = set()
    for one in RECORDS.values():
        set_trait(page, "record", one)
        heights.add(height(page))
    assert len(heights) == 1
    assert heights.pop() <= most


@pytest.mark.parametrize("name", RECORDS)
def test_comparison_fits_narrow_pages(mount: Mount, name: str) -> None:
    assert overflow(mount(compared(name), width=480)) <= 0


def test_missing_words_are_marked_and_counted(mount: Mount) -> None:
    page = mount(compared())
    assert page.locator(".text .missing").all_inner_texts() == [
        "Before anything else",
        "and whoever pays late pays interest on the sum",
    ]
    assert "missing 12 of 28 label words" in page.inner_text(".legend")
    assert "omission: no item touches its place." in page.inner_text(".sum")


@pytest.mark.parametrize("shadow", [False, True])
def test_number_keys_choose_the_item(mount: Mount, shadow: bool) -> None:
    page = mount(compared(), shadow=shadow)
    page.get_by_role("group", name="Label text").focus()
    page.keyboard.press("2")
    assert page.evaluate("model.get('item')") == 1
    assert page.inner_text(".side-head .what b >> nth=1") == "item 7"
    page.keyboard.press("4")
    page.keyboard.press("1")
    assert page.evaluate("model.get('item')") == 0, "the focus is lost when the text is drawn anew"


def test_a_new_record_starts_with_the_nearest_item(mount: Mount) -> None:
    page = mount(compared())
    set_trait(page, "item", 1)
    set_trait(page, "record", RECORDS["folded"])
    assert page.evaluate("model.get('item')") == 0


def test_folds_open(mount: Mount) -> None:
    page = mount(compared("folded"))
    label = page.get_by_role("group", name="Label text")
    folded = len(label.inner_text())
    label.get_by_role("button").click()
    assert len(label.inner_text()) > folded + 2_000
    assert label.get_by_role("button").count() == 0


def test_first_mark_is_in_view(mount: Mount) -> None:
    text = f"{ITEM} " * 6
    late = record(text=f"{text} unless waived by the seller", items=[item(text)])
    page = mount(SpanCompare(lambda _: late, ids=["a"], span="a"))
    inside = """() => {
        const pane = document.querySelector(".text").getBoundingClientRect();
        const mark = document.querySelector(".text .missing").getBoundingClientRect();
        return mark.top >= pane.top && mark.bottom <= pane.bottom;
    }"""
    assert page.evaluate(inside)


def test_nothing_returned_is_said(mount: Mount) -> None:
    page = mount(compared("empty"))
    assert "The model returned no clauses for this document" in page.inner_text(".sum")
    set_trait(page, "record", RECORDS["matched"])
    assert "This match stands elsewhere in the contract: check it." in page.inner_text(".sum")


def test_hostile_texts_stay_text(mount: Mount) -> None:
    page = mount(compared("hostile"))
    assert page.get_by_role("group", name="Label text").inner_text() == HOSTILE
    whole = HOSTILE * 20
    hostile = view(text=whole, length=len(whole) + 20, document=HOSTILE)
    hostile["labels"][0] |= {"at": [[5, 50]], "family": HOSTILE}
    other = mount(shown(hostile))
    other.get_by_role("button", name="1 not verbatim").click()
    assert HOSTILE in other.get_by_role("group", name="Items not verbatim").inner_text()
    for one in (page, other):
        assert one.title() == "untouched"
        assert one.locator("img").count() == 0


def test_document_lands_on_its_label(mount: Mount) -> None:
    page = mount(shown())
    assert 40 <= top_of(page, "Clause 450") <= 52
    assert "missed label: Payment" in page.inner_text(".contract")
    assert page.inner_text(".position") == "1/4"


@pytest.mark.parametrize(("width", "opened", "expected"), [(1000, False, 316), (1000, True, 544), (480, False, 356)])
def test_document_keeps_its_height(mount: Mount, width: int, opened: bool, expected: int) -> None:
    page = mount(shown(opened=opened), width=width)
    heights = [height(page)]
    for one in (view(label=2), view(label=None), view(unlocated=[])):
        set_trait(page, "view", one)
        heights.append(height(page))
    assert heights == pytest.approx([expected] * 4, abs=1)
    assert overflow(page) <= 0


def test_keys_go_from_mark_to_mark(mount: Mount) -> None:
    page = mount(shown())
    page.get_by_role("group", name="Document text").focus()
    for key, position, text in [("n", "2/4", "Clause 451"), ("n", "3/4", "Clause 460"), ("g", "1/4", "Clause 450")]:
        page.keyboard.press(key)
        assert page.inner_text(".position") == position
        assert 40 <= top_of(page, text) <= 52
    page.keyboard.press("p")
    assert page.inner_text(".position") == "4/4"
    page.keyboard.press("i")
    assert page.inner_text(".position") == "2/4"
    assert page.evaluate("model.get('highlight')") == 1


def test_enter_opens_and_escape_closes(mount: Mount) -> None:
    page = mount(shown())
    page.get_by_role("group", name="Document text").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("model.get('opened')")
    page.keyboard.press("Escape")
    assert not page.evaluate("model.get('opened')")


def test_blocks_load_without_moving_the_text(mount: Mount) -> None:
    page = mount(shown(), width=700)
    n_blocks = page.locator(".reading > span").count()
    page.evaluate("document.querySelector('.contract').scrollTop = 205")
    page.wait_for_timeout(60)
    words = page.evaluate(
        """() => {
            const pane = document.querySelector(".contract").getBoundingClientRect();
            const range = document.caretRangeFromPoint(pane.left + 20, pane.top + 60);
            return range.startContainer.data.slice(range.startOffset, range.startOffset + 25);
        }"""
    )
    before = text_at_top(page, words)
    page.evaluate("document.querySelector('.contract').scrollTop -= 10")
    page.wait_for_function("(n) => document.querySelectorAll('.reading > span').length > n", arg=n_blocks)
    page.wait_for_timeout(60)
    assert text_at_top(page, words) == pytest.approx(before + 10, abs=1.5)


def test_ruler_is_a_slider(mount: Mount) -> None:
    page = mount(shown())
    slider = page.get_by_role("slider", name="Place in the document")
    slider.focus()
    page.keyboard.press("Home")
    assert "0. Clause 0 says" in page.inner_text(".contract")
    assert slider.get_attribute("aria-valuetext").startswith("0% of ")
    page.keyboard.press("PageDown")
    assert int(slider.get_attribute("aria-valuenow")) > 1_000
    box = slider.bounding_box()
    page.mouse.click(box["x"] + box["width"] * 0.75, box["y"] + 20)
    assert page.inner_text(".caption").startswith("view at 75% of ")


def test_label_that_stands_nowhere_is_said_to(mount: Mount) -> None:
    page = mount(shown(view(label=None)))
    assert page.inner_text(".note") == "This label is not in the text. Shown from the start."
    assert page.inner_text(".position").startswith("\u2013/")


def test_window_says_so_and_is_not_left(mount: Mount) -> None:
    whole = contract()
    start, end = placed(whole, 450)
    page = mount(shown(view(text=whole[start - 600 : end + 600], start=start - 600, windowed=True)))
    assert "window of \u00b1600 characters round the label; positions on the ruler" in page.inner_text(".caption")
    assert page.inner_text(".position").endswith("/2")
    page.get_by_role("slider").focus()
    page.keyboard.press("End")
    assert int(page.get_by_role("slider").get_attribute("aria-valuenow")) < end + 600


def test_compared_item_follows_the_record(mount: Mount) -> None:
    page = mount(shown())
    names = "[...document.querySelectorAll('.contract .compared')].map((one) => one.textContent.slice(0, 10))"
    assert page.evaluate(names) == ["Clause 451"]
    set_trait(page, "record", {"id": "a:clauses:0", "items": [{"index": 5}]})
    assert page.evaluate(names) == ["Clause 460"]


def test_panes_mounted_hidden_are_right_when_shown(mount: Mount) -> None:
    page = mount(shown(), hidden=True)
    set_trait(page, "highlight", 2)
    page.evaluate("document.getElementById('host').hidden = false")
    page.wait_for_selector(".position")
    assert 40 <= top_of(page, "Clause 460") <= 52
    page.evaluate("document.getElementById('host').style.width = '500px'")
    page.wait_for_timeout(100)
    assert -22 <= top_of(page, "Clause 460") <= 52


@pytest.mark.parametrize("make", [compared, shown])
def test_nothing_is_left_behind(mount: Mount, make: Callable[[], Widget]) -> None:
    page = mount(make())
    page.evaluate("end()")
    assert page.evaluate("[model.listeners.length, document.getElementById('host').childElementCount]") == [0, 0]
