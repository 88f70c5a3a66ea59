"""A click in a widget changes what follows from it, in both hosts, without a request to anybody else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from jupyter_lab import jupyter_lab, run_all
from marimo_app import marimo_app
from visits import visit

pytestmark = pytest.mark.browser


def test_click_in_marimo(chromium: Any, marimo_toy: Path, tmp_path: Path) -> None:
    """Cells below run again; a linked widget follows; arguments arrive."""
    with (
        marimo_app(marimo_toy, tmp_path, arguments=("--run", "mine.json")) as address,
        visit(chromium, address) as visited,
    ):
        visited.page.get_by_text("BELOW 0 mine.json").wait_for()
        visited.page.locator("button.counter").first.click()
        visited.page.get_by_text("BELOW 1 mine.json").wait_for()
        visited.page.get_by_text("1 is zero", exact=True).wait_for()

        assert visited.outside == []


def test_click_in_jupyterlab(chromium: Any, jupyter_toy: Path, tmp_path: Path) -> None:
    """What observes the widget is told, and a linked widget follows."""
    with jupyter_lab(jupyter_toy.parent, tmp_path) as address, visit(chromium, "about:blank") as visited:
        run_all(visited.page, address, jupyter_toy.name)
        visited.page.locator("button.counter").first.click()
        visited.page.get_by_text("BELOW 1 None").wait_for()
        visited.page.get_by_text("1 is zero", exact=True).wait_for()

        assert [url for url in visited.outside if "jsdelivr" not in url] == []
