"""What the documents say is true: README examples run, commands exist."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest
from typer.main import get_command

from dojo_kit.cli.app import app

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_readme_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every Python example in the README prints what it says."""
    monkeypatch.chdir(ROOT)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    result = doctest.testfile(str(ROOT / "README.md"), module_relative=False, optionflags=flags)

    assert result.attempted > 8
    assert result.failed == 0


def test_every_command_is_in_the_readme() -> None:
    """A command nobody can find is no command; ``demo`` is what ``make demo`` runs."""
    commands = set(get_command(app).commands)  # type: ignore[attr-defined]

    assert commands - {"demo"} <= set(re.findall(r"dojo (\w+)", README))


def test_make_targets_named_in_the_readme_exist() -> None:
    """Every ``make`` target the README names is in the Makefile."""
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))

    assert set(re.findall(r"make (demo|test|check|bench|reports|data|notebooks)", README)) <= targets


def test_pictures_of_the_readme_exist() -> None:
    """Every picture the README shows is in the repository."""
    for path in re.findall(r"!\[[^]]*\]\(([^)]+)\)", README):
        assert (ROOT / path).is_file()
