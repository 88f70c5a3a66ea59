"""Notebooks, and a browser for them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chromium as browsers
import pytest
from toy_notebooks import jupyter_cells, marimo_notebook, write_jupyter


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Headless Chromium."""
    with browsers.chromium() as started:
        yield started


@pytest.fixture(scope="module")
def marimo_toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A marimo notebook."""
    pytest.importorskip("marimo", reason="the extra 'lab' is not installed")
    path = tmp_path_factory.mktemp("marimo") / "toy.py"
    path.write_text(marimo_notebook())
    return path


@pytest.fixture(scope="module")
def jupyter_toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Jupyter notebook."""
    pytest.importorskip("nbformat", reason="the extra 'lab' is not installed")
    return write_jupyter(tmp_path_factory.mktemp("jupyter") / "toy.ipynb", jupyter_cells())
