"""Arguments of Jupyter notebooks: set below the parameters cell, typed as its defaults, or refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dojo_kit.errors import InputError
from dojo_kit.publish.parameters import relative_to, with_arguments

SOURCE = "# What to look at\nrun = None\nmin_rate: float = 0.5\nN_ROWS = 10\nloud = False\nshown = [1, 2]\n"


def _notebook(source: str = SOURCE, tags: list[str] | None = None) -> dict[str, Any]:
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Title"]},
        {"cell_type": "code", "metadata": {"tags": tags or ["parameters"]}, "source": source.splitlines(keepends=True)},
        {"cell_type": "code", "metadata": {}, "source": ["run"]},
    ]
    return {"cells": cells}


def test_arguments_stand_below_the_defaults() -> None:
    """Text stays text, numbers and yes-or-no are read as the default is; names may have hyphens and capitals."""
    notebook = _notebook()
    with_arguments(notebook, ["--run", "it's.json", "--min-rate=1", "--n-rows", "20", "--loud", "true"])

    assert len(notebook["cells"]) == 4
    assert notebook["cells"][2]["source"].splitlines()[1:] == [
        'run = "it\'s.json"',
        "min_rate = 1",
        "N_ROWS = 20",
        "loud = True",
    ]
    assert notebook["cells"][1]["source"] == SOURCE.splitlines(keepends=True)


def test_no_arguments_change_nothing() -> None:
    """A notebook without arguments needs no parameters cell."""
    notebook = _notebook(tags=["other"])
    with_arguments(notebook, [])

    assert notebook == _notebook(tags=["other"])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--rnu", "a"], r"no argument --rnu \(did you mean '--run'\?\); expected one of --run, --min-rate, --n-rows"),
        (["--run"], "'--run' has no value"),
        (["run.json"], "'run.json' has no value"),
        (["--n-rows", "many"], r"field '--n-rows': 'many' is no int"),
        (["--n-rows", "True"], "'True' is no int"),
        (["--loud", "3"], "'3' is no bool"),
        (["--min-rate", "[1]"], "is no float"),
    ],
)
def test_what_does_not_fit_is_refused(arguments: list[str], says: str) -> None:
    """The error names the argument and what was expected."""
    with pytest.raises(InputError, match=says):
        with_arguments(_notebook(), arguments)


def test_a_notebook_without_parameters_takes_no_arguments() -> None:
    """It says what would make it take some."""
    with pytest.raises(InputError, match="takes no arguments; expected a code cell tagged 'parameters'"):
        with_arguments(_notebook(tags=["other"]), ["--run", "a"])


def test_files_are_named_from_the_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Jupyter notebook runs in its own folder; everything that is no file stays as it is."""
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "cuad").mkdir()
    (tmp_path / "run.json").touch()
    monkeypatch.chdir(tmp_path)
    given = ["--run", "run.json", "--labels=cuad:cuad", "--spans", "first", str(tmp_path / "run.json"), "no.json"]

    assert relative_to(tmp_path / "notebooks", given) == [
        *("--run", "../run.json", "--labels=cuad:../cuad", "--spans", "first"),
        *(str(tmp_path / "run.json"), "no.json"),
    ]
