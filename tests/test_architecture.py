"""Rules of the house, checked: what may import what, what importing costs, how long a file may be."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import dojo_kit

ROOT = Path(__file__).resolve().parent.parent
SOURCE_PATTERNS = ("dojo_kit/**/*.py", "tests/**/*.py", "widgets/**/*.py", "widgets/**/*.js")
SOURCES = sorted(path for pattern in SOURCE_PATTERNS for path in ROOT.glob(pattern))

LOADED = """
import sys
before = set(sys.modules)
{statement}
print(*sorted({{name.partition(".")[0] for name in set(sys.modules) - before}}))
"""


def _loaded(statement: str) -> set[str]:
    code = LOADED.format(statement=statement)
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(result.stdout.split())


def test_importing_the_package_loads_nothing_else() -> None:
    """``import dojo_kit`` loads the standard library at most, so it costs nothing."""
    third_party = _loaded("import dojo_kit") - set(sys.stdlib_module_names) - {"dojo_kit"}

    assert third_party == set()


def test_scoring_loads_no_notebook_and_no_plotting() -> None:
    """``from dojo_kit import score_run`` does not pull in what only drawing and notebooks need."""
    heavy = {"altair", "anywidget", "ipywidgets", "marimo", "IPython", "jinja2", "rich", "typer", "torch"}

    assert _loaded("from dojo_kit import score_run") & heavy == set()


def test_every_public_name_resolves() -> None:
    """Every name of the package's list can be had, and an unknown one is an AttributeError."""
    for name in dojo_kit.__all__:
        assert getattr(dojo_kit, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'scoer_run'"):
        _ = dojo_kit.scoer_run


def test_import_directions() -> None:
    """The layers of pyproject.toml hold."""
    command = [
        Path(sys.executable).parent / "lint-imports",
        "--config",
        ROOT / "pyproject.toml",
        "--no-cache",
    ]
    result = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)

    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_file_is_too_long(path: Path) -> None:
    """A file over 500 lines holds more than one idea."""
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 500


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_file_is_a_drawer(path: Path) -> None:
    """Modules are named after what they hold."""
    assert path.stem not in {"utils", "util", "helpers", "common", "misc"}
