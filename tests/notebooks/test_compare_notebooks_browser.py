"""Notebooks that compare runs: a click on a metric or a pair changes what follows from it, in both hosts."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from jupyter_lab import jupyter_lab, run_all
from marimo_app import marimo_app
from visits import visit

pytestmark = pytest.mark.browser

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


def test_metric_in_marimo(chromium: Any, tmp_path: Path) -> None:
    """The metric lists its documents in the widget, and the notebook's own cells follow."""
    with marimo_app(NOTEBOOKS / "compare_runs.py", tmp_path) as address, visit(chromium, address) as visited:
        page = visited.page
        page.get_by_text("Selected: overall_extraction_score").wait_for(timeout=60_000)
        metrics = page.get_by_role("listbox", name="Metrics")
        # marimo has style sheets of its own, which must not catch any row.
        rows = metrics.locator("[role=option]")
        tops = rows.evaluate_all("rows => rows.map((row) => row.getBoundingClientRect().top)")
        assert sorted(set(tops)) == tops
        metrics.get_by_role("option", name=re.compile("^effective date")).first.click()
        page.get_by_text(re.compile("Selected: effective_date_score, .*; B is better in")).wait_for()
        documents = page.get_by_role("listbox", name="Documents that changed").get_by_role("option")
        documents.first.wait_for()
        assert documents.count() > 1
        assert visited.outside == []


def test_pair_in_marimo(chromium: Any, tmp_path: Path) -> None:
    with marimo_app(NOTEBOOKS / "noise_floor.py", tmp_path) as address, visit(chromium, address) as visited:
        page = visited.page
        page.get_by_text("Selected: ").first.wait_for(timeout=60_000)
        page.get_by_label("Metric", exact=True).select_option("subtype_accuracy")
        page.get_by_role("listbox", name="Pairs of reruns").get_by_role(
            "option", name=re.compile("_rerun_3")
        ).first.click()
        page.get_by_text(
            re.compile(r"Selected: subtype_small\S* to subtype_small_rerun_3, \d documents flipped")
        ).wait_for()
        page.get_by_role("listbox", name="Documents that flip").get_by_role("option").first.wait_for()
        assert visited.outside == []


def test_pair_in_jupyterlab(chromium: Any, tmp_path: Path) -> None:
    shutil.copy(NOTEBOOKS / "noise_floor.ipynb", tmp_path)
    with jupyter_lab(tmp_path, tmp_path) as address, visit(chromium, "about:blank", height=4000) as visited:
        page = visited.page
        run_all(page, address, "noise_floor.ipynb")
        page.locator(".noise-band").wait_for(timeout=60_000)
        page.get_by_label("Metric", exact=True).select_option("subtype_accuracy")
        page.get_by_role("listbox", name="Pairs of reruns").get_by_role(
            "option", name=re.compile("_rerun_3")
        ).first.click()
        page.get_by_text(re.compile(r"selected\s+\d+:subtype_small\S*\|subtype_small_rerun_3")).last.wait_for()
        page.get_by_role("listbox", name="Documents that flip").get_by_role("option").first.wait_for()
