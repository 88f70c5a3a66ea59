"""Commands run in this process, as the tests of the command line do."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from dojo_kit.cli import main


@dataclass
class Outcome:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What was printed, which must be JSON that every reader accepts."""
        return json.loads(self.out, parse_constant=lambda word: pytest.fail(f"{word} in JSON"))

    @property
    def words(self) -> str:
        """What was printed, however it was broken into lines."""
        return " ".join(self.out.split())


Dojo = Callable[..., Outcome]


def runner(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *before: str) -> Dojo:
    """Return what runs ``dojo`` with some words before the others, on a console of 160 columns."""
    monkeypatch.setenv("COLUMNS", "160")

    def run(*args: object) -> Outcome:
        monkeypatch.setattr("sys.argv", ["dojo", *before, *map(str, args)])
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = int(stop.code or 0)
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return run
