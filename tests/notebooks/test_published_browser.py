"""Published notebooks as their reader has them: opened from a file, in a browser without a network."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from visits import visit

pytestmark = pytest.mark.browser

CHART_IS_DRAWN = """() => {
  const inside = (root) => [...root.querySelectorAll("*")].flatMap((one) => [one, ...inside(one.shadowRoot || EMPTY)]);
  const EMPTY = new DocumentFragment();
  return inside(document).some((one) => one.matches("svg, canvas") && one.getBoundingClientRect().height > 100);
}"""
ASKED = "performance.getEntriesByType('resource').map((entry) => entry.name)"


@pytest.fixture(params=["marimo", "jupyter"])
def published(request: pytest.FixtureRequest) -> Path:
    """A published notebook of either host."""
    path: Path = request.getfixturevalue(f"{request.param}_page")
    return path


def test_opens_offline_and_answers(chromium: Any, published: Path) -> None:
    """Nothing is asked for; charts are drawn; a click changes the widget, what Python would say, and linked widgets.

    Hostile text in tables, charts, widgets, prose and the notebook's own HTML, frames included, has run no script.
    """
    with visit(chromium, published.as_uri()) as visited:
        buttons = visited.page.locator("button.counter")
        buttons.first.wait_for()
        visited.page.wait_for_function(CHART_IS_DRAWN)
        buttons.first.click()
        visited.page.get_by_text("1 is one", exact=True).wait_for()

        assert buttons.first.inner_text().startswith("1 is one </script>")
        assert buttons.count() == 2
        assert visited.outside == []
        assert not [address for address in visited.page.evaluate(ASKED) if not address.startswith(("blob:", "file:"))]
        assert visited.page.title() != "run"
        assert visited.page.get_by_text("</script><img src=x onerror=").count() >= 2


def test_follows_the_system_to_dark(chromium: Any, published: Path) -> None:
    """A reader who prefers dark pages gets one."""
    with visit(chromium, published.as_uri(), dark=True) as visited:
        visited.page.locator("button.counter").first.wait_for()
        colours = "[...document.querySelectorAll('body, #App')].map((one) => getComputedStyle(one).backgroundColor)"

        assert any(_is_dark(colour) for colour in visited.page.evaluate(colours))


def _is_dark(colour: str) -> bool:
    """Tell whether a computed colour, ``rgb(...)`` or ``color(srgb ...)``, is opaque and dark."""
    full = 255 if colour.startswith("rgb(") else 1
    parts = [float(part) / full for part in re.findall(r"\b\d+(?:\.\d+)?", colour)]
    return len(parts) == 3 and max(parts) < 0.25
