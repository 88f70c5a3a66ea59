"""What stands in the file of a report: everything in it, nothing else, and nothing that runs by accident."""

from __future__ import annotations

import base64
import json
import re
import zlib
from html import unescape
from pathlib import Path

import altair as alt
import pandas as pd
import pytest
from toy_widgets import Broken, Picker, records

from dojo_kit.errors import InputError
from dojo_kit.report import Report
from dojo_kit.report.blocks import PACKED_FROM, content_hash
from dojo_kit.stats.intervals import SCOPE, Estimate, undefined

HOSTILE = "</script></style></title><img src=x onerror=alert(1)><!--<script>alert(2)</script>"


def _chart(text: str = "Insurance", title: str = "") -> alt.Chart:
    frame = pd.DataFrame({"family": [text, "other"], "n": [3, 5]})
    chart = alt.Chart(frame).mark_bar().encode(x="n:Q", y="family:N", tooltip="family:N")
    return chart.properties(title=title or text, width="container")


def _everything(text: str = "a") -> Report:
    report = Report(f"title {text}").heading(text).text(text, text).text(text, soft=True)
    report.table(pd.DataFrame({text: [text], "n": [1]}), caption=text)
    report.chart(_chart(text), caption=text)
    report.widgets([Picker({text: {"text": text}}, span=text)] * 2, linked=("span",), caption=text)
    return report.footer(recipe={"embedder": text, "run": {"model": text}}, command=text)


def _blocks(page: str) -> dict[str, object]:
    found = re.findall(r'<script type="(.*?)" id="(.*?)"( data-packed)?(?: data-plan)?>(.*?)</script>', page, re.DOTALL)
    return {
        name: json.loads(zlib.decompress(base64.b64decode(text)) if packed else text) for _, name, packed, text in found
    }


def _plan(page: str) -> dict[str, object]:
    name = re.search(r'id="([\w-]+)"(?: data-packed)? data-plan', page)
    assert name
    plan = _blocks(page)[name[1]]
    assert isinstance(plan, dict)
    return plan


def test_same_parts_give_the_same_bytes() -> None:
    """Twice from new objects, and twice from the same report."""
    one, two = _everything(), _everything()

    assert one.html() == one.html() == two.html()


def test_hostile_text_is_text_everywhere() -> None:
    """The elements of a page do not depend on the texts in it."""
    calm, hostile = _everything("calm").html(), _everything(HOSTILE).html()

    for tag in ("<script", "</script", "<style", "</style", "<img", "<!--"):
        assert hostile.lower().count(tag) == calm.lower().count(tag), tag
    assert "<img" not in hostile
    assert "&lt;img src=x" in hostile
    assert any(HOSTILE in json.dumps(block, ensure_ascii=False) for block in _blocks(hostile).values())


def test_policy_names_the_script_and_nothing_is_loaded() -> None:
    """Everything is forbidden but the page's own script, by its hash, and modules made from the page."""
    page = _everything().html()
    policy = re.search(r'Content-Security-Policy" content="(.*?)"', page)
    script = re.search(r'<script type="module">(.*?)</script>', page, re.DOTALL)

    assert policy
    assert script
    assert unescape(policy[1]).startswith(f"default-src 'none'; script-src {content_hash(script[1])} blob:; ")
    assert "eval" not in policy[1]
    assert "script-src 'unsafe" not in policy[1]
    without_data = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert not re.search(r"\b(?:src|href)=|<link|<iframe|@import|https?:", without_data)


def test_a_page_without_widgets_and_charts_allows_no_modules() -> None:
    """``blob:`` is allowed only where something needs it, and Vega is not embedded."""
    page = Report("plain").text("a").html()

    assert "blob:; style" not in page
    assert _plan(page) == {"widgets": [], "links": [], "charts": [], "vega": None}
    assert len(page) < 30_000


def test_vega_is_embedded_once_and_only_for_live_charts() -> None:
    """Two live charts share one bundle; static ones need none."""
    static = Report("a").chart(_chart(), caption="b", live=False).html()
    one = Report("a").chart(_chart(), caption="b").html()
    two = Report("a").chart(_chart(), caption="b").chart(_chart("Audit"), caption="c").html()

    assert "vegaEmbed" not in str(_blocks(static).values())
    assert sum("window.vegaEmbed" in str(block) for block in _blocks(two).values()) == 1
    assert len(one) - len(static) > 300_000
    assert len(two) - len(one) < 30_000


def test_equal_modules_styles_and_data_are_kept_once() -> None:
    """Three widgets of one kind with the same large state cost little more than one."""
    large = records(40, filler=3_000)
    one = Report("a").widgets([Picker(large, span="s1")]).html()
    three = Report("a").widgets([Picker(large, span="s1") for _ in range(3)]).html()

    assert three.count("toy button") == 1
    assert sum(str(block).count("export default { render }") for block in _blocks(three).values()) == 1
    assert len(three) - len(one) < 3_000


def test_large_blocks_are_packed_and_come_back_whole() -> None:
    """Beyond the limit a block is compressed; small ones can be read in the file."""
    large = records(40, filler=3_000)
    page = Report("a").widget(Picker(large)).html()

    assert large in _blocks(page).values()
    assert len(json.dumps(large)) > PACKED_FROM
    assert " data-packed>" in page
    assert len(page) < 100_000


def test_state_leaves_the_host_out() -> None:
    """Names of the notebook's own plumbing do not reach the page."""
    plan = json.dumps(_plan(Report("a").widget(Picker({"x": {}}, span="x")).html()))

    assert '"span": "x"' in plan
    assert "IPY_MODEL" not in plan
    assert "AnyModel" not in plan


def test_a_real_anywidget_will_do(recwarn: pytest.WarningsRecorder) -> None:
    """Traits with ``sync`` and files as module are understood."""
    import anywidget
    import traitlets

    class Real(anywidget.AnyWidget):
        _esm = "export default { render() {} };"
        span = traitlets.Unicode("here").tag(sync=True)

    plan = _plan(Report("a").widget(Real()).html())

    assert plan["widgets"][0]["traits"] == {"span": "here"}  # type: ignore[index]


def test_tables_write_numbers_for_people() -> None:
    """Right, rounded, with intervals; unknown is a dash with its reason; no index and no column left out."""
    frame = pd.DataFrame(
        {
            "run_name": ["v15", "v18"],
            "score": [Estimate(0.5, 0.25, 0.75, "wilson", 1200), undefined("no units")],
            "rate": [0.12345, None],
            "n": [1200, 3],
            "ranked": [True, False],
        },
        index=[17, 18],
    )
    page = Report("a").table(frame, columns={"run_name": "run", "score": "score", "rate": "rate", "n": "labels"}).html()
    rows = [re.findall(r"<t[dh](.*?)>(.*?)</t[dh]>", row) for row in re.findall(r"<tr>(.*?)</tr>", page)]

    assert [cell for _, cell in rows[0]] == ["run", "score", "rate", "labels"]
    assert [cell for _, cell in rows[1]] == ["v15", "0.500 [0.250, 0.750]", "0.123", "1,200"]
    assert [cell for _, cell in rows[2]] == ["v18", "–", "–", "3"]
    assert 'class="n"' in rows[1][1][0]
    assert 'title="no units"' in rows[2][1][0]
    assert "yes" in Report("a").table(frame, columns=["ranked"]).html()


def test_written_numbers_stand_right_too() -> None:
    """Signed counts, points and shares are texts already; words and names with digits are not numbers."""
    frame = pd.DataFrame({"net": ["+3", "-12", "–"], "share": ["5%", "1.5 pp", "7 %"], "run": ["v1", "2", "3"]})
    heads = dict(re.findall(r'<th scope="col" class="(.*?)">(.*?)</th>', Report("a").table(frame).html()))

    assert re.findall(r'class="n">(\w+)</th>', Report("a").table(frame).html()) == ["net", "share"]
    assert heads["short"] == "run"


def test_footer_tells_how_it_was_made() -> None:
    """Scope, recipe and command stand at the end whenever they were given; folders stay private."""
    report = Report("a").footer(recipe={"seed": 42, "labels": "f" * 64, "run": {"source": "/home/me/043.json"}})
    page = report.text("later").html()

    assert page.index("later") < page.index(SCOPE)
    assert "<dt>seed</dt><dd>42</dd>" in page
    assert f'title="{"f" * 64}">{"f" * 16}<' in page
    assert "<dt>run source</dt><dd>043.json</dd>" in page


def test_save_writes_the_page(tmp_path: Path) -> None:
    """The path comes back and holds what ``html`` returns."""
    report = _everything()

    assert report.save(tmp_path / "deep" / "r.html").read_text(encoding="utf-8") == report.html()


@pytest.mark.parametrize(
    ("add", "message"),
    [
        (lambda r: r.heading("a", level=1), "level of a heading is 1"),
        (lambda r: r.table([1]), "the table is a list"),
        (lambda r: r.table(pd.DataFrame({"rate": [1]}), columns=["rat"]), "did you mean 'rate'"),
        (lambda r: r.chart({"mark": "bar"}, caption=""), "the chart is a dict"),
        (lambda r: r.widget(3), "the widget is a int"),
        (lambda r: r.widgets([]), "no widget to add"),
        (lambda r: r.widgets([Broken()], linked=("spam",)), "no widget has the trait 'spam'"),
        (lambda r: r.widget(Picker({"x": {"text": float("nan")}})), "field 'record'"),
    ],
)
def test_mistakes_are_named(add: object, message: str) -> None:
    """A wrong argument says what it is and what is wanted."""
    with pytest.raises(InputError, match=re.escape(message)):
        add(Report("a"))  # type: ignore[operator]
