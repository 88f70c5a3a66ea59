"""``dojo notebook`` and ``dojo publish``: what is listed, copied, started and written."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dojo_kit.cli import main
from dojo_kit.cli import notebook as command
from dojo_kit.cli import publish as publishing
from dojo_kit.publish import packaged
from dojo_kit.publish.pages import Page

MARIMO = (
    'import marimo\napp = marimo.App()\n@app.cell\ndef _(mo):\n    mo.md("""\n    # Where is it *lost*?\n    """)\n'
)
JUPYTER = {
    "cells": [
        {"cell_type": "code", "metadata": {"tags": ["parameters"]}, "source": ["run = None"], "outputs": []},
        {"cell_type": "markdown", "metadata": {}, "source": ["\n", "## What is new?\n", "More."]},
    ],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 5,
}

Dojo = Callable[..., tuple[int, str, str]]


@pytest.fixture
def dojo(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Dojo:
    """Run a command in an empty folder, with three notebooks in the package."""
    shelf, here = tmp_path / "shelf", tmp_path / "here"
    for folder in (shelf, here):
        folder.mkdir()
    (shelf / "lost.py").write_text(MARIMO)
    (shelf / "lost.ipynb").write_text(json.dumps(JUPYTER))
    (shelf / "fresh.ipynb").write_text(json.dumps(JUPYTER))
    monkeypatch.setattr(packaged, "_FOLDERS", (tmp_path / "absent", shelf))
    monkeypatch.chdir(here)
    monkeypatch.setenv("COLUMNS", "120")

    def run(*args: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["dojo", *args])
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = int(stop.code or 0)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Commands of the servers that would have been started."""
    commands: list[list[str]] = []
    monkeypatch.setattr(command, "serve", lambda started, asks_back: commands.append(list(started)) or 0)
    monkeypatch.setattr(command, "free_port", lambda: 4321)
    monkeypatch.setattr("dojo_kit.publish.failures.find_spec", lambda _: object())
    return commands


def test_without_a_name_they_are_listed(dojo: Dojo) -> None:
    """Each with what opens it and its first line; where two share a name, the Jupyter one has its ending."""
    code, out, _ = dojo("notebook")

    assert code == 0
    assert [line.strip().split(maxsplit=2) for line in out.splitlines()[1:4]] == [
        ["fresh", "Jupyter", "What is new?"],
        ["lost", "marimo", "Where is it lost?"],
        ["lost.ipynb", "Jupyter", "What is new?"],
    ]
    assert [row["name"] for row in json.loads(dojo("notebook", "--json")[1])["notebooks"]] == [
        "fresh",
        "lost",
        "lost.ipynb",
    ]


def test_marimo_opens_as_an_app(dojo: Dojo, served: list[list[str]]) -> None:
    """The file of the package itself, which an app cannot change; sources are handed on."""
    code, out, _ = dojo("notebook", "lost", "--run", "a.json", "--labels", "cuad:b")

    assert code == 0
    assert "http://127.0.0.1:4321" in out
    assert served[0][:5] == [sys.executable, "-m", "marimo", "--quiet", "run"]
    assert served[0][5].endswith("shelf/lost.py")
    assert served[0][-5:] == ["--", "--run", "a.json", "--labels", "cuad:b"]
    assert "--headless" not in served[0]
    assert list(Path().iterdir()) == []


def test_marimo_is_edited_as_a_copy(dojo: Dojo, served: list[list[str]]) -> None:
    """The copy is made once; the next time it is the user's own, with its changes."""
    dojo("notebook", "lost.py", "--edit", "--no-browser", "--port", "99")
    Path("lost.py").write_text(f"{MARIMO}# changed\n")
    dojo("notebook", "lost", "--edit")

    assert [started[4:6] for started in served] == [["edit", "lost.py"], ["edit", "lost.py"]]
    assert {"--headless", "99"} <= set(served[0])
    assert Path("lost.py").read_text().endswith("# changed\n")


def test_jupyter_opens_as_a_copy(dojo: Dojo, served: list[list[str]]) -> None:
    """Sources are set below the parameters cell of the copy; a copy that is there is not changed."""
    assert dojo("notebook", "fresh", "--run", "a.json")[0] == 0
    cells = json.loads(Path("fresh.ipynb").read_text())["cells"]

    assert served[0][1:4] == ["-m", "jupyterlab", "fresh.ipynb"]
    assert cells[1]["source"].endswith("run = 'a.json'")

    code, _, err = dojo("notebook", "fresh", "--run", "b.json")

    assert code == 2
    assert "fresh.ipynb: the arguments would change your copy" in err
    assert dojo("notebook", "fresh")[0] == 0
    assert len(served) == 2


def test_arguments_that_do_not_fit_leave_no_copy(dojo: Dojo, served: list[list[str]]) -> None:
    """A notebook that does not take an argument is not copied either."""
    code, _, err = dojo("notebook", "fresh", "--documents", "texts")

    assert code == 2
    assert "no argument --documents" in err
    assert not Path("fresh.ipynb").exists()
    assert served == []


def test_copy_copies_only(dojo: Dojo, served: list[list[str]]) -> None:
    """Into a folder that is made; never over a file."""
    code, out, _ = dojo("notebook", "lost", "--copy", "mine/own")

    assert (code, served) == (0, [])
    assert "copied to mine/own/lost.py" in out
    assert Path("mine/own/lost.py").read_text() == MARIMO

    code, _, err = dojo("notebook", "lost", "--copy", "mine/own")

    assert code == 2
    assert "mine/own/lost.py: there is a file of that name" in err


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("notebook", "lots"), "there is no notebook 'lots' (did you mean 'lost'?); expected one of fresh, lost, lost"),
        (("publish", "lots", "--out", "a.html"), "there is no notebook 'lots'"),
        (("publish", "lots.py", "--out", "a.html"), "lots.py: there is no such file"),
        (("publish", "lost"), "field '--out': the path is empty"),
    ],
)
def test_unknown_names_are_refused(dojo: Dojo, args: tuple[str, ...], says: str) -> None:
    """With the nearest name and all that there are."""
    code, _, err = dojo(*args)

    assert code == 2
    assert says in err


def test_without_marimo_the_extra_is_named(dojo: Dojo, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says what to install."""
    monkeypatch.setattr("dojo_kit.publish.failures.find_spec", lambda _: None)
    code, _, err = dojo("notebook", "lost")

    assert code == 2
    assert "pip install 'dojo-kit[lab]'" in err


def test_publish_writes_and_says_what_is_missing(dojo: Dojo, monkeypatch: pytest.MonkeyPatch) -> None:
    """Size and requests on standard output, cautions on standard error; arguments come after two hyphens."""
    asked: dict[str, Any] = {}

    def page(path: Path, **options: Any) -> Page:
        asked.update(options, name=path.name)
        return Page("<p>page", ("cell 2: a [picture] is missing",))

    monkeypatch.setattr("dojo_kit.publish.notebook_page", page)
    code, out, err = dojo("publish", "lost", "--out", "deep/a.html", "--no-code", "--", "--run", "r.json")

    assert code == 0
    assert out == "deep/a.html, 7 bytes, 0 requests: it opens without a network\n"
    assert "caution: cell 2: a [picture] is missing" in err
    assert Path("deep/a.html").read_text() == "<p>page"
    assert asked == {"name": "lost.py", "arguments": ["--run", "r.json"], "code": False, "execute": True}

    printed = json.loads(dojo("publish", "lost", "--out", "a.html", "--json")[1])

    assert printed == {
        "file": "a.html",
        "bytes": 7,
        "requests": 0,
        "cautions": ["cell 2: a [picture] is missing"],
    }


@pytest.mark.usefixtures("dojo")
def test_files_come_before_notebooks_of_the_package() -> None:
    """A name is looked up in the package, with or without its ending, unless there is such a file."""
    packaged_path = publishing.found_notebook("lost.ipynb")
    Path("lost.ipynb").touch()

    assert packaged_path.parent.name == "shelf"
    assert publishing.found_notebook("lost.ipynb") == Path("lost.ipynb")
    assert publishing.found_notebook("lost").name == "lost.py"


@pytest.mark.parametrize("asks_back", [True, False])
def test_the_exit_code_is_that_of_the_server(asks_back: bool) -> None:
    """A server that fails makes the command fail."""
    assert command.serve([sys.executable, "-c", "raise SystemExit(3)"], asks_back=asks_back) == 3


def test_an_interrupted_app_is_told_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends without a question, and that is no failure."""
    told = []

    class Server:
        def wait(self) -> int:
            if told:
                return -15
            raise KeyboardInterrupt

        def poll(self) -> int | None:
            return -15 if told else None

        def terminate(self) -> None:
            told.append("terminate")

    monkeypatch.setattr(command.subprocess, "Popen", lambda *_, **__: Server())

    assert command.serve(["marimo"], asks_back=False) == 0
    assert told == ["terminate"]


def test_a_closed_terminal_ends_the_server(tmp_path: Path) -> None:
    """Nothing is left running when the command itself is told to end."""
    beats = tmp_path / "beats"
    endless = f"import time\nwhile True:\n    open({str(beats)!r}, 'a').write('.')\n    time.sleep(0.02)"
    code = (
        "import sys; from dojo_kit.cli.notebook import serve; "
        f"serve([sys.executable, '-c', {endless!r}], asks_back=False)"
    )
    process = subprocess.Popen([sys.executable, "-c", code])
    while not beats.exists() and process.poll() is None:
        time.sleep(0.05)
    process.terminate()

    assert process.wait(20) == 128 + signal.SIGTERM
    n_beats = beats.stat().st_size
    time.sleep(0.2)
    assert beats.stat().st_size == n_beats
