"""Notebooks to open and to publish."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from toy_notebooks import jupyter_cells, marimo_notebook, write_jupyter

from dojo_kit.publish import publish_notebook


@pytest.fixture(scope="session")
def marimo_toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A marimo notebook."""
    pytest.importorskip("marimo", reason="the extra 'lab' is not installed")
    path = tmp_path_factory.mktemp("marimo") / "toy.py"
    path.write_text(marimo_notebook())
    return path


@pytest.fixture(scope="session")
def jupyter_toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Jupyter notebook."""
    pytest.importorskip("nbformat", reason="the extra 'lab' is not installed")
    return write_jupyter(tmp_path_factory.mktemp("jupyter") / "toy.ipynb", jupyter_cells())


@pytest.fixture(scope="session")
def publish_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Path]:
    """Publish a notebook, once for all tests."""
    published: dict[str, Path] = {}

    def publish(notebook: Path) -> Path:
        if notebook.suffix not in published:
            out = tmp_path_factory.mktemp("published") / f"{notebook.stem}.html"
            published[notebook.suffix] = publish_notebook(notebook, out, arguments=("--run", "mine.json"))
        return published[notebook.suffix]

    return publish


@pytest.fixture
def marimo_page(marimo_toy: Path, publish_once: Callable[[Path], Path]) -> Path:
    """The marimo notebook, published."""
    return publish_once(marimo_toy)


@pytest.fixture
def jupyter_page(jupyter_toy: Path, publish_once: Callable[[Path], Path]) -> Path:
    """The Jupyter notebook, published."""
    pytest.importorskip("nbconvert", reason="the extra 'lab' is not installed")
    return publish_once(jupyter_toy)
