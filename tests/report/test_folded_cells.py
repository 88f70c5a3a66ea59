"""Cells of a table that say more than they show: a fold, a whole name on hover, a value set back."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dojo_kit.report import Report
from dojo_kit.report.tables import Cell
from dojo_widgets.finding_cells import folded

HOSTILE = "<img src=x onerror=alert(1)>"


def test_cells_are_written_as_they_are() -> None:
    """Numbers stay at the right, also as cells; what is folded stands in the page, as text."""
    frame = pd.DataFrame(
        {
            "n": [Cell("1,200"), Cell("0.5 [0.1, 0.9]", faint=True)],
            "text": [Cell("a", more=HOSTILE), Cell("b", note=HOSTILE)],
        }
    )

    html = Report("t").table(frame).html()

    assert "<img" not in html
    assert '<td class="n">1,200</td>' in html
    assert '<td class="n faint">0.5 [0.1, 0.9]</td>' in html
    assert re.search(r"<details><summary>a<span.*?</summary>&lt;img src=x", html)


def test_a_table_without_folds_is_laid_out_as_ever() -> None:
    html = Report("t").table(pd.DataFrame({"n": [1]})).html()

    assert 'class="table-scroll"' in html
    assert "<details>" not in html


@pytest.mark.browser
@pytest.mark.parametrize("width", [480, 768, 1200])
def test_folded_texts_have_room(chromium: Any, tmp_path: Path, width: int) -> None:
    """The text takes most of a wide table and a line of its own in a narrow one; nothing scrolls sideways."""
    text = "The document is a cooperation agreement between two companies. " * 6
    frame = pd.DataFrame({"document": ["Federatedgovernmentincome 2020"], "answered": ["a"], "reasons": [folded(text)]})
    path = Report("t").table(frame).save(tmp_path / "page.html")
    page = chromium.new_page(viewport={"width": width, "height": 700})

    page.goto(path.as_uri())
    table, reasons = (page.locator(one).bounding_box() for one in (".table-scroll", "td.fold"))
    before = page.locator("td.fold").inner_text()
    page.locator("summary").click()

    assert reasons["width"] > table["width"] * 0.5
    assert len(page.locator("td.fold").inner_text()) > len(before)
    assert page.locator("summary").bounding_box()["height"] >= 24
    assert page.evaluate("""() => {
      const part = document.querySelector(".table-scroll");
      return [part.scrollWidth <= part.clientWidth, document.documentElement.scrollWidth <= innerWidth];
    }""") == [True, True]
    page.close()
