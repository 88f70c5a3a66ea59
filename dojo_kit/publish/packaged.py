"""The notebooks that come with the package: where they are and what each one answers."""

from __future__ import annotations

import ast
import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from dojo_kit.errors import InputError, closest

Kind = Literal["marimo", "Jupyter"]
KINDS: dict[str, Kind] = {".py": "marimo", ".ipynb": "Jupyter"}
"""File ending -> what opens it."""

_PACKAGE = Path(__file__).resolve().parent.parent
_FOLDERS = (_PACKAGE / "notebooks", _PACKAGE.parent / "notebooks")
"""In an installed package, and in a checkout."""


@dataclass(frozen=True, slots=True)
class Notebook:
    """A notebook of the package.

    Attributes:
        name: What `packaged_notebook` finds it by.
        kind: What opens it.
        path: Its file, which is never written to.
        question: The first line of its prose.
    """

    name: str
    kind: Kind
    path: Path
    question: str


def packaged_notebooks() -> list[Notebook]:
    """Return the notebooks of the package by name.

    A name is that of the file without its ending; of two files that differ in the ending, the marimo one has it.
    """
    folder = next((folder for folder in _FOLDERS if folder.is_dir()), None)
    paths = [] if folder is None else [path for path in folder.iterdir() if path.suffix in KINDS]
    taken = {path.stem for path in paths if KINDS[path.suffix] == "marimo"}
    named = {
        path.stem if KINDS[path.suffix] == "marimo" or path.stem not in taken else path.name: path for path in paths
    }
    return [Notebook(name, KINDS[path.suffix], path, first_line(path)) for name, path in sorted(named.items())]


def packaged_notebook(name: str) -> Notebook:
    """Return the notebook of a name, with or without the ending of its file.

    Args:
        name: Such as ``miss_attribution`` or ``miss_attribution.ipynb``.

    Raises:
        InputError: There is none.
    """
    known = packaged_notebooks()
    for notebook in known:
        if name in {notebook.name, notebook.path.name}:
            return notebook
    names = [notebook.name for notebook in known]
    wanted = f"one of {', '.join(names)}" if names else "a notebook of the package; this installation has none"
    raise InputError(f"there is no notebook {name!r}{closest(name, names)}", expected=wanted)


def copy_notebook(notebook: Notebook, folder: Path) -> Path:
    """Copy a notebook to a folder of the user.

    Args:
        notebook: The notebook.
        folder: Where to; made when missing.

    Returns:
        The copy.

    Raises:
        InputError: A file of that name is there, or the folder cannot be written.
    """
    copy = folder / notebook.path.name
    if copy.exists():
        raise InputError("there is a file of that name", file=copy, expected="a folder without it, named by --copy")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(notebook.path, copy)
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", file=copy, expected="a writable folder") from None
    return copy


def first_line(path: Path) -> str:
    """Return the first line of a notebook's prose, without the marks of Markdown; empty when it has none.

    Args:
        path: A marimo or Jupyter notebook.
    """
    text = path.read_text(encoding="utf-8")
    prose = _marimo_prose(text) if KINDS[path.suffix] == "marimo" else _jupyter_prose(text)
    lines = (line.lstrip("# ").translate({ord("*"): None, ord("`"): None}).strip() for line in prose.splitlines())
    return next((line for line in lines if line), "")


def _jupyter_prose(text: str) -> str:
    cells = json.loads(text)["cells"]
    return next(("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"), "")


def _marimo_prose(text: str) -> str:
    """Return the first text that is given to ``mo.md``."""
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    for call in sorted(calls, key=lambda call: (call.lineno, call.col_offset)):
        match call:
            case ast.Call(func=ast.Attribute(attr="md"), args=[ast.Constant(value=str(prose)), *_]):
                return prose
    return ""
