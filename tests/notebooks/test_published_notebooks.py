"""Published notebooks: complete, alike each time, without settings of the machine, or not written at all."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from toy_notebooks import FAILING, HOSTILE, write_jupyter

from dojo_kit.errors import InputError, MissingExtraError
from dojo_kit.publish import NotebookError, notebook_page, publish_notebook

SANDBOX = "default-src 'none'; script-src '"


def test_marimo_page_holds_everything(marimo_page: Path) -> None:
    """The policy lets only the page's own scripts run and forbids every connection; no address is left to load."""
    page = marimo_page.read_text()

    assert SANDBOX + "nonce-" in page.replace("&#x27;", "'")
    assert not re.search(r"""<(?:script|link|img)\b[^>]*\b(?:src|href)=["']?(?:https?:|//|\./)""", page)
    assert "unsafe-eval" not in page
    assert HOSTILE not in page


def test_marimo_page_is_the_same_again(marimo_toy: Path, marimo_page: Path, tmp_path: Path) -> None:
    """Ids that marimo makes up are numbered; nothing of the first run is left beside the notebook."""
    again = publish_notebook(marimo_toy, tmp_path / "again.html", arguments=("--run", "mine.json"))

    assert again.read_bytes() == marimo_page.read_bytes()
    assert sorted(path.name for path in marimo_toy.parent.iterdir()) == [marimo_toy.name]


def test_marimo_page_leaves_settings_out(marimo_page: Path) -> None:
    """How the publisher has set up marimo is nobody's business; the theme is the reader's."""
    config = re.search(r'"config":(\{.*?\}\}),"configOverrides":(\{\})', marimo_page.read_text())

    assert config is not None
    assert set(json.loads(config[1])) == {"display"}
    assert json.loads(config[1])["display"]["theme"] == "system"


def test_failing_marimo_cell_is_named(tmp_path: Path) -> None:
    """The cell that failed is named, those below it are not, and no file appears."""
    pytest.importorskip("marimo", reason="the extra 'lab' is not installed")
    notebook, out = tmp_path / "failing.py", tmp_path / "out.html"
    notebook.write_text(FAILING)

    with pytest.raises(NotebookError) as error:
        publish_notebook(notebook, out)

    assert str(error.value).endswith(
        "cell 1 (loading), 'rows = 1 / 0': ZeroDivisionError: division by zero; nothing was written"
    )
    assert not out.exists()


def test_python_without_marimo_is_refused(tmp_path: Path) -> None:
    """Any other Python file is no notebook."""
    pytest.importorskip("marimo", reason="the extra 'lab' is not installed")
    script = tmp_path / "script.py"
    script.write_text("print(1)\n")

    with pytest.raises(NotebookError, match="is not a marimo notebook"):
        notebook_page(script)


def test_jupyter_page_holds_everything(jupyter_page: Path) -> None:
    """The policy lets one script run, by its hash; hostile text is nowhere as it is."""
    page = jupyter_page.read_text()

    assert SANDBOX + "sha256-" in page.replace("&#39;", "'")
    assert not re.search(r"""<(?:script|link|img)\b[^>]*\b(?:src|href)=["']?(?:https?:|//|\./)""", page)
    assert HOSTILE not in page
    assert not re.search(r"<[a-z][^>]*\bonerror=", page)
    assert "<h1>Does a <em>click</em> reach" in page.replace(' id="Does-a-click-reach-what-is-below?"', "")


def test_jupyter_page_is_the_same_again(jupyter_toy: Path, jupyter_page: Path, tmp_path: Path) -> None:
    """Ids of widgets and cells are numbered; the notebook's file is not touched."""
    before = jupyter_toy.read_bytes()
    again = publish_notebook(jupyter_toy, tmp_path / "again.html", arguments=("--run", "mine.json"))

    assert again.read_bytes() == jupyter_page.read_bytes()
    assert jupyter_toy.read_bytes() == before


def test_what_a_jupyter_page_cannot_show_is_said(write: Callable[..., Path]) -> None:
    """Scripts in a notebook's HTML, pictures elsewhere and plain Jupyter widgets are counted by cell."""
    source = (
        "import ipywidgets\nfrom IPython.display import HTML, display\n"
        'display(HTML(\'<script>1</script><img src="https://example.org/a.png" alt="">\'))\n'
        "ipywidgets.IntSlider(3, description='weeks')"
    )
    page = notebook_page(write(("markdown", "# Title", []), ("code", source, [])))

    assert page.cautions == (
        "cell 2: HTML with <script> was published without it",
        "cell 2: a picture is not in the page: https://example.org/a.png",
        "cell 2: IntSlider: works in a running notebook only",
    )
    assert "weeks: 3" in page.html


def test_failing_jupyter_cell_is_named(write: Callable[..., Path], tmp_path: Path) -> None:
    """A cell that may fail is shown as it failed; the first other one is named, and no file appears."""
    cells = (("code", "1 / 0", ["raises-exception"]), ("markdown", "prose", []), ("code", "\nrows = {}['a']", []))

    with pytest.raises(NotebookError) as error:
        publish_notebook(write(*cells), tmp_path / "out.html")

    assert str(error.value).endswith("cell 3, \"rows = {}['a']\": KeyError: 'a'; nothing was written")
    assert not (tmp_path / "out.html").exists()


def test_jupyter_notebook_as_it_is(write: Callable[..., Path]) -> None:
    """Without running it, a page has the outputs that the file holds."""
    path = write(("code", "raise SystemExit", []))
    content = json.loads(path.read_text())
    content["cells"][0]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": ["held ", "<b>"]}]
    path.write_text(json.dumps(content))

    page = notebook_page(path, execute=False, code=False).html

    assert "held &lt;b&gt;" in page
    assert "SystemExit" not in page


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.ipynb", "not JSON", "it is no Jupyter notebook"),
        ("a.ipynb", '{"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": {"language": "R"}}, "cells": []}',
         "its language is R"),
        ("a.txt", "", "it is no notebook"),
        ("a.py", None, "there is no such file"),
    ],
)  # fmt: skip
def test_what_is_no_notebook_is_refused(tmp_path: Path, name: str, content: str | None, says: str) -> None:
    """The error names the file and what was expected."""
    pytest.importorskip("nbconvert", reason="the extra 'lab' is not installed")
    path = tmp_path / name
    if content is not None:
        path.write_text(content)

    with pytest.raises(InputError, match=f"{name}: {says}"):
        notebook_page(path)


@pytest.mark.parametrize(("name", "package"), [("a.py", "marimo"), ("a.ipynb", "nbconvert")])
def test_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, package: str) -> None:
    """Without what runs a notebook, the error says what to install."""
    (tmp_path / name).write_text("")
    monkeypatch.setattr("dojo_kit.publish.failures.find_spec", lambda _: None)

    with pytest.raises(MissingExtraError, match=rf"needs the package '{package}': pip install 'dojo-kit\[lab\]'"):
        notebook_page(tmp_path / name)


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write a Jupyter notebook of some cells."""
    pytest.importorskip("nbconvert", reason="the extra 'lab' is not installed")
    return lambda *cells: write_jupyter(tmp_path / "notebook.ipynb", list(cells))
