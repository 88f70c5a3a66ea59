"""Publishing a notebook of either kind."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dojo_kit.errors import InputError
from dojo_kit.publish.packaged import KINDS
from dojo_kit.publish.pages import Page
from dojo_kit.storage import write_text


def publish_notebook(
    path: str | Path, out: str | Path, *, arguments: Sequence[str] = (), code: bool = True, execute: bool = True
) -> Path:
    """Run a notebook and write what it showed as one HTML file.

    The file opens from a disk in any browser of 2023 or later and asks the network for nothing: a content security
    policy forbids it. Widgets and charts respond as far as they can without Python. The notebook itself is never
    changed. The same notebook and data give the same file, as far as the notebook's own outputs are the same: what
    it prints of times, memory addresses and unseeded random numbers is kept.

    Texts that reach the page through DataFrames, charts, widgets or print are shown as text. HTML that a notebook
    writes itself is shown as HTML, but no script, frame, form or address in it does anything.

    Args:
        path: A marimo notebook (``.py``) or a Jupyter notebook (``.ipynb``).
        out: HTML file to write; written whole or not at all.
        arguments: Arguments of the notebook, such as ``("--run", "run.json")``: seen by ``mo.cli_args()`` in marimo,
            set below the cell tagged ``parameters`` in Jupyter.
        code: Whether the code of the cells is shown.
        execute: Whether it is run first. A Jupyter notebook can also be taken with the outputs it holds.

    Returns:
        Path of the written file.

    Raises:
        InputError: There is no such notebook, or the file cannot be written.
        NotebookError: A cell failed; nothing is written.
        MissingExtraError: What runs such notebooks is not installed.
    """
    write_text(out, notebook_page(path, arguments=arguments, code=code, execute=execute).html)
    return Path(out)


def notebook_page(path: str | Path, *, arguments: Sequence[str] = (), code: bool = True, execute: bool = True) -> Page:
    """Run a notebook and return what it showed as a page, with what the page cannot show.

    Args:
        path: A marimo notebook (``.py``) or a Jupyter notebook (``.ipynb``).
        arguments: Arguments of the notebook.
        code: Whether the code of the cells is shown.
        execute: Whether it is run first.

    Raises:
        InputError: There is no such notebook.
        NotebookError: A cell failed.
        MissingExtraError: What runs such notebooks is not installed.
    """
    notebook = Path(path)
    kind = KINDS.get(notebook.suffix)
    if kind is None or not notebook.is_file():
        found = "it is no notebook" if notebook.is_file() else "there is no such file"
        raise InputError(found, file=notebook, expected="a marimo notebook (.py) or a Jupyter notebook (.ipynb)")
    if kind == "marimo":
        from dojo_kit.publish.marimo_page import marimo_page

        if not execute:
            raise InputError("a marimo notebook holds no outputs", file=notebook, expected="it to be run")
        return Page(marimo_page(notebook, arguments=arguments, code=code))
    from dojo_kit.publish.jupyter_page import jupyter_page

    return jupyter_page(notebook, arguments=arguments, code=code, execute=execute)
