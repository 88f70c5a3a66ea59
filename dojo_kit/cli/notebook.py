"""``dojo notebook``: the notebooks that come with the package, opened in the browser."""

from __future__ import annotations

import json as jsonlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dojo_kit.cli.inputs import JsonOption, Spans
from dojo_kit.cli.misses import MeasureName
from dojo_kit.cli.output import build_table, out, print_json, shown
from dojo_kit.errors import InputError
from dojo_kit.storage import write_text

if TYPE_CHECKING:
    from dojo_kit.publish.packaged import Notebook

PATIENCE_SECONDS = 10
"""How long a server may take to end before it is killed."""


def notebook(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Notebook to open; without it, a list.")] = None,
    run: Annotated[str | None, typer.Option("--run", help="Run to look at instead of the sample.")] = None,
    labels: Annotated[str | None, typer.Option("--labels", help="Labels of the run.")] = None,
    documents: Annotated[str | None, typer.Option("--documents", help="Texts of the documents.")] = None,
    against: Annotated[str | None, typer.Option("--against", help="A later run to compare with.")] = None,
    spans: Annotated[Spans | None, typer.Option("--spans", help="All labelled spans, or the first of each.")] = None,
    field: Annotated[str | None, typer.Option("--field", help="List field to look at.")] = None,
    measure: Annotated[MeasureName | None, typer.Option("--measure", help="How spans are matched.")] = None,
    edit: Annotated[bool, typer.Option("--edit", help="Edit a copy in this folder.")] = False,
    copy: Annotated[str | None, typer.Option("--copy", metavar="DIR", help="Only copy it to a folder.")] = None,
    port: Annotated[int | None, typer.Option("--port", help="Port of the server; by default a free one.")] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the browser.")] = True,
    json: JsonOption = False,
) -> None:
    """Open a notebook of the package, on the sample data or on your run; without NAME, list them.

    marimo notebooks open as apps that cannot be changed. Jupyter notebooks, and marimo ones with --edit, open as a
    copy in this folder.
    """
    from dojo_kit.publish.packaged import copy_notebook, packaged_notebook, packaged_notebooks

    if name is None:
        _list(packaged_notebooks(), json=json)
        return
    chosen = packaged_notebook(name)
    arguments = _arguments(
        {
            "run": run,
            "labels": labels,
            "documents": documents,
            "against": against,
            "spans": None if spans is None else spans.value,
            "field": field,
            "measure": None if measure is None else measure.value,
        }
    )
    if copy is not None:
        path = copy_notebook(chosen, Path(copy).expanduser())
        out.print(f"copied to {shown(path)}", soft_wrap=True)
        return
    command = _command(chosen, arguments, edit=edit, port=port or free_port(), browser=browser)
    # An app has nothing to lose, so it ends without asking back.
    raise typer.Exit(serve(command, asks_back=edit or chosen.kind == "Jupyter"))


def free_port() -> int:
    """Return a port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def serve(command: Sequence[str], *, asks_back: bool) -> int:
    """Run a server until it ends or is interrupted.

    Args:
        command: The command and its arguments.
        asks_back: Whether the server hears the interruption itself, to ask whether it is meant; another one is
            told to end.

    Returns:
        Its exit code; 0 when it was interrupted.
    """
    server = subprocess.Popen(command, start_new_session=not asks_back)  # noqa: S603 (our own command)
    interrupted = False
    try:
        with _ended_by_signals():
            while True:
                try:
                    code = server.wait()
                    return 0 if interrupted else code
                except KeyboardInterrupt:
                    interrupted = True
                    if not asks_back:
                        server.terminate()
    finally:
        _end(server)


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Leave by an exception, so that what is to be cleaned up is, when the terminal closes or the process is ended."""

    def leave(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    kinds = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = [signal.signal(kind, leave) for kind in kinds]
    try:
        yield
    finally:
        for kind, handler in zip(kinds, before, strict=True):
            signal.signal(kind, handler)


def _end(server: subprocess.Popen[bytes]) -> None:
    if server.poll() is not None:
        return
    server.terminate()
    try:
        server.wait(PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()


def _list(notebooks: Sequence[Notebook], *, json: bool) -> None:
    if json:
        rows = [{"name": n.name, "kind": n.kind, "question": n.question, "path": str(n.path)} for n in notebooks]
        print_json({"notebooks": rows})
        return
    if not notebooks:
        raise InputError("this installation has no notebooks", expected="a complete installation of dojo-kit")
    cells = [[n.name, n.kind, n.question] for n in notebooks]
    out.print(build_table("", [("notebook", "left"), ("opens in", "left"), ("what it answers", "fold")], cells))
    out.print(f"\nopen one: [bold]dojo notebook {shown(notebooks[0].name)}[/]")


def _arguments(sources: Mapping[str, str | None]) -> list[str]:
    return [part for name, source in sources.items() if source for part in (f"--{name}", source)]


def _command(chosen: Notebook, arguments: list[str], *, edit: bool, port: int, browser: bool) -> list[str]:
    from dojo_kit.publish.failures import require

    if chosen.kind == "Jupyter":
        require("jupyterlab", purpose="opening a Jupyter notebook")
        return _jupyter(_own_copy(chosen, arguments), port=port, browser=browser)
    require("marimo", purpose="opening a marimo notebook")
    path, mode = (_own_copy(chosen, []), "edit") if edit else (chosen.path, "run")
    out.print(f"[bold]{shown(chosen.name)}[/] at http://127.0.0.1:{port} (Ctrl-C stops it)", soft_wrap=True)
    command = [sys.executable, "-m", "marimo", "--quiet", mode, str(path)]
    command += ["--host", "127.0.0.1", "--port", str(port), "--no-sandbox", *([] if browser else ["--headless"])]
    command += ["--skip-update-check"] if edit else []
    return [*command, "--", *arguments]


def _own_copy(chosen: Notebook, arguments: Sequence[str]) -> Path:
    """Return the user's copy in this folder: the one that is there already, or a new one."""
    from dojo_kit.publish.packaged import copy_notebook
    from dojo_kit.publish.parameters import with_arguments

    path = Path(chosen.path.name)
    if path.exists():
        if arguments:
            raise InputError(
                "the arguments would change your copy of this notebook",
                file=path,
                expected="another folder, or its parameters cell edited by hand",
            )
        out.print(f"your copy is opened: {shown(path)}", soft_wrap=True)
        return path
    content: dict[str, Any] | None = None
    if arguments:
        content = jsonlib.loads(chosen.path.read_text(encoding="utf-8"))
        with_arguments(content, arguments)
    path = copy_notebook(chosen, Path())
    if content is not None:
        write_text(path, jsonlib.dumps(content, indent=1, ensure_ascii=False) + "\n")
    out.print(f"copied to {shown(path)}", soft_wrap=True)
    return path


def _jupyter(path: Path, *, port: int, browser: bool) -> list[str]:
    command = [sys.executable, "-m", "jupyterlab", str(path), "--ip=127.0.0.1", f"--port={port}"]
    # Jupyter refuses to serve the superuser unless told; in a container there is often nobody else.
    superuser = hasattr(os, "geteuid") and os.geteuid() == 0
    return [*command, *([] if browser else ["--no-browser"]), *(["--allow-root"] if superuser else [])]
