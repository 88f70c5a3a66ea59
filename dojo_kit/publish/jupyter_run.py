"""Running a Jupyter notebook in memory: its file is read and never written."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from dojo_kit.errors import InputError
from dojo_kit.publish.failures import NotebookError, cell_failed, require
from dojo_kit.publish.parameters import relative_to, with_arguments
from dojo_kit.publish.run_environment import run_environment

_CARRY = """
import sys
if "ipywidgets" in sys.modules:
    from ipywidgets.widgets.widget import _instances
    for widget in list(_instances.values()):
        if hasattr(widget, "carry_tables"):
            widget.carry_tables()
"""
"""Run last, in a cell that is not kept. A widget in a box is not shown on its own, so nothing else would make it."""


def run_jupyter(path: Path, *, arguments: Sequence[str] = (), execute: bool = True) -> Any:
    """Return a Jupyter notebook with its outputs.

    Args:
        path: The ``.ipynb`` file.
        arguments: ``--name value``, for the cell tagged ``parameters``; files are named from where this is called.
        execute: Whether it is run, in its own folder; otherwise the outputs are those it holds.

    Returns:
        The notebook, as nbformat has it.

    Raises:
        InputError: It is no Jupyter notebook, or not one of Python, or does not take the arguments.
        NotebookError: A cell failed.
        MissingExtraError: What runs Jupyter notebooks is not installed.
    """
    require("nbconvert", purpose="publishing a Jupyter notebook")
    notebook = _read(path)
    with_arguments(notebook, relative_to(path.parent, arguments))
    if arguments and not execute:
        raise InputError("arguments need the notebook to be run", file=path, expected="no --no-execute")
    return _execute(notebook, path) if execute else notebook


def _read(path: Path) -> Any:
    import nbformat

    try:
        notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    except (nbformat.reader.NotJSONError, nbformat.ValidationError, UnicodeDecodeError, AttributeError) as error:
        first_line = str(error).partition("\n")[0]
        raise InputError(f"it is no Jupyter notebook: {first_line}", file=path, expected="an .ipynb file") from None
    language = notebook.metadata.get("kernelspec", {}).get("language", "python")
    if language != "python":
        raise InputError(f"its language is {language}", file=path, expected="a notebook of Python")
    return notebook


def _execute(notebook: Any, path: Path) -> Any:
    """Return a notebook with new outputs; that of `path` is not written to."""
    import nbformat

    notebook.cells.append(nbformat.v4.new_code_cell(_CARRY))  # type: ignore[no-untyped-call]
    with TemporaryDirectory() as temporary:
        source, target = Path(temporary) / "notebook.ipynb", Path(temporary) / "executed.ipynb"
        nbformat.write(notebook, source)  # type: ignore[no-untyped-call]
        command = [sys.executable, "-m", "dojo_kit.publish.jupyter_process", str(source), str(target)]
        done = subprocess.run(  # noqa: S603 (our own command)
            [*command, str(path.parent)],
            env=run_environment(),
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        if not target.exists():
            said = (done.stderr.strip() or "it said nothing").splitlines()[-1]
            raise NotebookError(f"{path}: Jupyter could not run it: {said}; nothing was written")
        executed = nbformat.read(target, as_version=4)  # type: ignore[no-untyped-call]
    if failures := _failures(executed):
        raise cell_failed(path, failures)
    executed.cells.pop()
    return executed


def _failures(notebook: Any) -> list[str]:
    failures = []
    for number, cell in enumerate(notebook.cells, start=1):
        if "raises-exception" in cell.metadata.get("tags", []):
            continue
        for output in cell.get("outputs", []):
            if output.output_type == "error":
                first_line = cell.source.strip().partition("\n")[0]
                failures.append(f"cell {number}, {first_line!r}: {output.ename}: {output.evalue}")
    return failures
