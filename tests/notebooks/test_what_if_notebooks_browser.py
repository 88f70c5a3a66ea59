"""What-ifs as their reader has them, in marimo, JupyterLab and a published page: sliders move without asking Python."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from jupyter_lab import jupyter_lab, run_all
from marimo_app import marimo_app
from visits import Visit, visit

from dojo_kit.runs.corpus_files import read_corpus
from dojo_kit.samples import sample_data
from dojo_widgets.what_if_findings import what_if_page

pytestmark = pytest.mark.browser

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"

DRAG = """(input) => {
  const title = () => input.getRootNode().querySelector(".what-if .title").textContent;
  const said = [title()];
  for (let move = 0; move < 20; move++) {
    input.value = move + 3;
    input.dispatchEvent(new Event("input", { bubbles: true }));
    said.push(title());
  }
  return said;
}"""


def drag(visited: Visit) -> tuple[list[str], list[str]]:
    """Move the share escalated 20 times without letting go; what the title said, and what was sent meanwhile."""
    slider = visited.page.get_by_role("slider", name="share escalated, the least sure documents first")
    slider.wait_for(timeout=60_000)
    sent: list[str] = []

    def hear(request: Any) -> None:
        sent.append(request.url)

    visited.page.on("request", hear)
    said = slider.evaluate(DRAG)
    visited.page.remove_listener("request", hear)
    return said, sent


def let_go(visited: Visit) -> None:
    """Let the slider go, at 22 %."""
    visited.page.get_by_role("slider", name="share escalated, the least sure documents first").evaluate(
        "(input) => input.dispatchEvent(new Event('change', { bubbles: true }))"
    )


class Updates:
    """Messages by which a page tells its kernel of a widget's new state."""

    def __init__(self, page: Any) -> None:
        self.sent: list[str] = []
        page.on("websocket", lambda socket: socket.on("framesent", self._hear))

    def _hear(self, payload: Any) -> None:
        text = payload if isinstance(payload, str) else bytes(payload).decode(errors="replace")
        if "comm_msg" in text and "update" in text and "alpha" in text:
            self.sent.append(text)


def test_sliders_in_marimo(chromium: Any, tmp_path: Path) -> None:
    """Moves draw without a request; once let go, the notebook's own cells follow."""
    with marimo_app(NOTEBOOKS / "what_if.py", tmp_path) as address, visit(chromium, address) as visited:
        visited.page.get_by_text("Selected: 5 votes of pool all, 15 % escalated").wait_for(timeout=60_000)
        said, sent = drag(visited)
        assert said[0].startswith("5 votes, 15\u00a0% escalated: accuracy 0.907")
        assert said[-1].startswith("5 votes, 22\u00a0% escalated: accuracy 0.9")
        assert len(set(said)) > 15
        assert sent == []
        let_go(visited)
        visited.page.get_by_text("Selected: 5 votes of pool all, 22 % escalated").wait_for()
        assert visited.outside == []


def test_sliders_in_jupyterlab(chromium: Any, tmp_path: Path) -> None:
    """Moves send no message to the kernel; once let go, what observes the widget is told."""
    shutil.copy(NOTEBOOKS / "what_if.ipynb", tmp_path)
    with jupyter_lab(tmp_path, tmp_path) as address, visit(chromium, "about:blank", height=4000) as visited:
        updates = Updates(visited.page)
        run_all(visited.page, address, "what_if.ipynb")
        visited.page.locator(".what-if").wait_for(timeout=60_000)
        visited.page.get_by_text("95 % intervals over 40 documents").wait_for()
        visited.page.get_by_text(re.compile("max_tries")).first.wait_for(timeout=60_000)
        said, sent = drag(visited)
        assert said[-1].startswith("5 votes, 22\u00a0% escalated")
        assert (updates.sent, sent) == ([], [])
        let_go(visited)
        visited.page.get_by_text(re.compile("selected: 5 votes, 22 % escalated: accuracy 0.9")).last.wait_for()
        assert len(updates.sent) == 1


def test_sliders_in_a_published_page(chromium: Any, tmp_path: Path) -> None:
    """The same widget from a file, without a network; the address holds the place."""
    runs = sorted((sample_data() / "runs").glob("subtype_*.json"))
    page = what_if_page(read_corpus(runs), "subtype", command="dojo whatif report").save(tmp_path / "what_if.html")
    with visit(chromium, page.as_uri()) as visited:
        said, sent = drag(visited)
        assert said[0].startswith("5 votes, 15\u00a0% escalated: accuracy 0.907")
        assert said[-1].startswith("5 votes, 22\u00a0% escalated")
        assert [url for url in sent if not url.startswith(("blob:", "data:"))] == []
        let_go(visited)
        visited.page.wait_for_function("location.hash.includes('alpha')")
        address = visited.page.url
        assert visited.outside == []
        assert visited.complaints == []
    with visit(chromium, address) as again:
        again.page.get_by_text("5 votes, 22 % escalated").first.wait_for()
