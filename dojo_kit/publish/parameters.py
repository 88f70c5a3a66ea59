"""Arguments of a Jupyter notebook: what its parameters cell sets, set anew for one run.

A code cell tagged ``parameters`` gives names and defaults. Given arguments stand in a cell of their own below it, so
that a reader sees both.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dojo_kit.errors import InputError, closest

TAG = "parameters"


def with_arguments(notebook: dict[str, Any], arguments: Sequence[str]) -> None:
    """Add a cell that sets the given arguments.

    Args:
        notebook: The notebook as JSON, changed in place.
        arguments: ``--name value`` or ``--name=value``, by the names the parameters cell sets, with ``-`` for ``_``.

    Raises:
        InputError: There is no parameters cell, or it does not set such a name, or to another type.
    """
    if not arguments:
        return
    place = next((n for n, cell in enumerate(notebook["cells"]) if TAG in cell["metadata"].get("tags", [])), None)
    if place is None:
        raise InputError("the notebook takes no arguments", expected=f"a code cell tagged {TAG!r}")
    defaults = _defaults("".join(notebook["cells"][place]["source"]))
    lines = [_assignment(name, text, defaults) for name, text in _pairs(arguments)]
    cell: dict[str, Any] = {
        "cell_type": "code",
        "id": "arguments",
        "metadata": {"tags": ["injected-parameters"]},
        "execution_count": None,
        "outputs": [],
        "source": "\n".join(["# Given when the notebook was run", *lines]),
    }
    # A dictionary of the notebook's own kind, so that what holds for the other cells holds for this one.
    notebook["cells"].insert(place + 1, type(notebook)(cell))


def relative_to(folder: Path, arguments: Sequence[str]) -> list[str]:
    """Return arguments with the files they name as seen from a folder, which is where a Jupyter notebook runs.

    Args:
        folder: The folder.
        arguments: Arguments; a file can stand after a kind, as in ``cuad:data``.
    """
    return [_relocated(argument, folder) for argument in arguments]


def _relocated(argument: str, folder: Path) -> str:
    for before, mark, file in (("", "", argument), argument.partition("="), argument.partition(":")):
        if file and not Path(file).is_absolute() and Path(file).exists():
            return f"{before}{mark}{os.path.relpath(file, folder)}"
    return argument


def _pairs(arguments: Sequence[str]) -> list[tuple[str, str]]:
    pairs = []
    left = list(arguments)
    while left:
        argument = left.pop(0)
        name, equals, value = argument.partition("=")
        if not name.startswith("--") or not (equals or left):
            raise InputError(f"the argument {argument!r} has no value", expected="--name value")
        pairs.append((name.removeprefix("--"), value if equals else left.pop(0)))
    return pairs


def _defaults(source: str) -> dict[str, Any]:
    """Return the names that a cell sets, with what it sets them to; None where that is no constant."""
    defaults: dict[str, Any] = {}
    for statement in ast.parse(source).body:
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=value)
            ):
                defaults[name] = value.value if isinstance(value, ast.Constant) else None
    return defaults


def _assignment(argument: str, text: str, defaults: dict[str, Any]) -> str:
    wanted = argument.replace("-", "_").casefold()
    name = next((name for name in defaults if name.casefold() == wanted), None)
    if name is None:
        options = [f"--{name.replace('_', '-').casefold()}" for name in defaults]
        found = f"the notebook has no argument --{argument}{closest(f'--{argument}', options)}"
        raise InputError(found, expected=f"one of {', '.join(options)}")
    return f"{name} = {_typed(text, like=defaults[name], argument=argument)!r}"


def _typed(text: str, *, like: Any, argument: str) -> Any:
    """Read an argument as what the default is."""
    if not isinstance(like, bool | int | float):
        return text
    try:
        value = ast.literal_eval(text.capitalize() if isinstance(like, bool) else text)
    except (ValueError, SyntaxError):
        value = None
    if isinstance(value, bool) != isinstance(like, bool) or not isinstance(value, bool | int | float):
        raise InputError(f"{text!r} is no {type(like).__name__}", field=f"--{argument}", expected=f"such as {like}")
    return value
