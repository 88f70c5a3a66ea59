"""The policy of a published page: only its own scripts run, and no text can pass for one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dojo_kit.publish import NotebookError, page_policy
from dojo_kit.publish.marimo_frontend import frontend
from dojo_kit.publish.page_policy import allowed, policy_tag, script_tag, script_value, seal


def test_scripts_of_the_page_carry_the_nonce() -> None:
    """The policy and every allowed script name the same one; the rest of the page does not."""
    page = seal(policy_tag({"script": "blob:", "img": "data:"}) + script_tag("1") + allowed('<script id="a">'))
    nonces = re.findall(r"nonce[-=]\W*([0-9a-f]{32})", page)

    assert len(nonces) == 3
    assert len(set(nonces)) == 1
    assert "script-src &#x27;nonce-" in page
    assert " blob:; " in page
    assert "img-src data:" in page


def test_the_nonce_depends_on_the_page_only() -> None:
    """Two processes give the same page the same nonce, another page another one."""
    first, second = seal(script_tag("1") + "a"), seal(script_tag("1") + "b")

    assert first == seal(script_tag("1") + "a")
    assert first[:-1] != second[:-1]


def test_text_cannot_ask_for_the_nonce() -> None:
    """What stands for the nonce until the end is random, so that a notebook's text cannot hold it."""
    assert re.fullmatch("[0-9a-f]{32}", page_policy._PLACE)


def test_a_value_cannot_leave_its_script() -> None:
    """No character is left that would end the element or the line."""
    text = script_value({"<!--": "</script>&\u2028", "n": float("nan")})

    assert text == '{"\\u003c!--":"\\u003c/script>&\\u2028","n":NaN}'


def test_a_marimo_that_is_built_differently_is_refused(tmp_path: Path) -> None:
    """The error names the version found and what to do; a broken page is never written."""
    pytest.importorskip("marimo", reason="the extra 'lab' is not installed")
    with pytest.raises(NotebookError, match=r"marimo [\d.]+ is built differently .*\(no module index-a.js\)"):
        frontend(tmp_path, "index-a.js", page="")

    (tmp_path / "index-a.js").write_text("let charts = 1;")
    with pytest.raises(NotebookError, match=r"0 places where charts take their options"):
        frontend(tmp_path, "index-a.js", page="")


def test_parts_nobody_asks_for_are_left_out(tmp_path: Path) -> None:
    """Large modules stay out unless the page names what they are for, or another module cannot start without them."""
    (tmp_path / "index-a.js").write_text(
        'import{a}from"./base-b.js";import("./Plot-c.js");import(`./edit-page-d.js`);'
        "let t=e.usermeta?.embedOptions??{};"
    )
    (tmp_path / "base-b.js").write_text("export const a = new URL(`x`, import.meta.url)")
    (tmp_path / "Plot-c.js").write_text("export const plot = 1")
    (tmp_path / "edit-page-d.js").write_text("export const edit = 1")
    (tmp_path / "index-e.css").write_text("@font-face{src:url(./KaTeX_A.woff2),url(./text.woff2),url(./text.ttf)}")
    for name in ("KaTeX_A.woff2", "text.woff2", "text.ttf"):
        (tmp_path / name).write_bytes(b"font")

    small, large = (frontend(tmp_path, "index-a.js", page=page) for page in ("a page", "<marimo-plotly> <marimo-tex>"))

    assert list(small.modules) == ["marimo/base-b.js", "marimo/index-a.js"]
    assert small.left_out == ["marimo/Plot-c.js", "marimo/edit-page-d.js"]
    assert "marimo/Plot-c.js" in large.modules
    assert 'from"marimo/base-b.js"' in small.modules["marimo/index-a.js"]
    assert "{ast:!0,...e.usermeta?.embedOptions}" in small.modules["marimo/index-a.js"]
    assert "import.meta" not in small.modules["marimo/base-b.js"]
    assert small.styles == "@font-face{src:url(data:,),url(data:font/woff2;base64,Zm9udA==),url(data:,)}"
    assert large.styles.count("data:font/woff2") == 2
