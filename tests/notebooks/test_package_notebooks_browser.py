"""The notebooks that come with the package: a click on a family, a span or a cell changes what follows from it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from jupyter_lab import jupyter_lab, run_all
from marimo_app import marimo_app
from visits import Visit, visit

pytestmark = pytest.mark.browser

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


def click_family_and_span(visited: Visit, *, told: str) -> None:
    """Select a family, then another span of it, and wait for what follows."""
    page = visited.page
    page.get_by_role("option", name="Cap On Liability").first.click()
    page.get_by_text(f"{told}Cap On Liability").last.wait_for()
    spans = page.get_by_role("listbox", name="spans").get_by_role("option")
    before = page.get_by_text(told).last.inner_text()
    spans.nth(3).click()
    page.wait_for_function(
        """([told, before]) => {
            const texts = (node) => [...node.querySelectorAll("*")].flatMap((e) =>
                [e.shadowRoot ? texts(e.shadowRoot) : [], e.children.length < 3 ? e.textContent : ""].flat());
            const said = texts(document).filter((text) => text.startsWith(told.trim()) && text.length < 400);
            return said.length && !said.includes(before);
        }""",
        arg=[told, before],
    )


def test_family_and_span_in_marimo(chromium: Any, tmp_path: Path) -> None:
    with (
        marimo_app(NOTEBOOKS / "miss_attribution.py", tmp_path) as address,
        visit(chromium, address) as visited,
    ):
        visited.page.get_by_text("Selected: all families").last.wait_for(timeout=60_000)
        click_family_and_span(visited, told="Selected: ")
        assert visited.outside == []


def test_grid_cell_in_marimo(chromium: Any, tmp_path: Path) -> None:
    with marimo_app(NOTEBOOKS / "score_a_run.py", tmp_path) as address, visit(chromium, address) as visited:
        visited.page.get_by_text("by the rule").wait_for(timeout=60_000)
        visited.page.get_by_role("gridcell").get_by_text("0.67", exact=True).first.click()
        visited.page.get_by_text("scores 0.670 by the rule").wait_for()
        assert visited.outside == []


def test_confusion_cell_in_marimo(chromium: Any, tmp_path: Path) -> None:
    """The cell lists its documents in the widget, and the notebook's own cells follow."""
    with marimo_app(NOTEBOOKS / "confusion.py", tmp_path) as address, visit(chromium, address) as visited:
        visited.page.get_by_text("Selected: no cell yet").wait_for(timeout=60_000)
        visited.page.get_by_role("gridcell", name="expected Service, answered Outsourcing").click()
        visited.page.get_by_text("Selected: 2 rows, expected Service, answered Outsourcing").wait_for()
        documents = visited.page.get_by_role("listbox", name="Documents of the cell").get_by_role("option")
        documents.nth(1).wait_for()
        assert documents.count() == 2
        assert visited.outside == []


def test_both_readings_in_marimo(chromium: Any, tmp_path: Path) -> None:
    """Every row in which the readings differ names its rule; nothing is loaded from elsewhere."""
    with marimo_app(NOTEBOOKS / "contracteval.py", tmp_path) as address, visit(chromium, address) as visited:
        visited.page.get_by_text("ContractEval: as published, and corrected").first.wait_for(timeout=60_000)
        visited.page.get_by_text("of 8 pairs judged otherwise").first.wait_for(timeout=60_000)
        visited.page.get_by_text("pairs of models may be tied by F1").first.wait_for(timeout=60_000)
        assert visited.page.get_by_text("Traceback").count() == 0
        assert visited.outside == []


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with copies of the Jupyter notebooks."""
    folder = tmp_path_factory.mktemp("lab")
    for path in NOTEBOOKS.glob("*.ipynb"):
        shutil.copy(path, folder / path.name)
    return folder


def test_family_and_span_in_jupyterlab(chromium: Any, lab: Path, tmp_path: Path) -> None:
    with jupyter_lab(lab, tmp_path) as address, visit(chromium, "about:blank", height=4000) as visited:
        run_all(visited.page, address, "miss_attribution.ipynb")
        visited.page.locator(".miss-explorer").wait_for(timeout=60_000)
        click_family_and_span(visited, told="selected ")


def test_grid_cell_in_jupyterlab(chromium: Any, lab: Path, tmp_path: Path) -> None:
    with jupyter_lab(lab, tmp_path) as address, visit(chromium, "about:blank", height=4000) as visited:
        run_all(visited.page, address, "quickstart.ipynb")
        visited.page.locator(".field-grid").wait_for(timeout=60_000)
        visited.page.get_by_role("gridcell").get_by_text("0.67", exact=True).first.click()
        visited.page.get_by_text("selected effective_date by date.same_month").wait_for()


def test_confusion_cell_in_jupyterlab(chromium: Any, lab: Path, tmp_path: Path) -> None:
    with jupyter_lab(lab, tmp_path) as address, visit(chromium, "about:blank", height=4000) as visited:
        run_all(visited.page, address, "confusion.ipynb")
        visited.page.locator(".confusion-matrix").wait_for(timeout=60_000)
        visited.page.get_by_role("gridcell", name="expected Service, answered Outsourcing").click()
        visited.page.get_by_text("selected: expected Service, answered Outsourcing").last.wait_for()
        visited.page.get_by_role("button", name="documents", exact=True).click()
        documents = visited.page.get_by_role("listbox", name="Documents of the cell").get_by_role("option")
        documents.nth(1).wait_for()
        assert documents.count() == 2
