"""Running a marimo notebook once and keeping what it showed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from dojo_kit.publish.failures import NotebookError, require
from dojo_kit.publish.run_environment import run_environment


def export_marimo(notebook: Path, *, arguments: Sequence[str] = (), code: bool = True) -> str:
    """Run a marimo notebook in a fresh process and return the page that marimo makes of it.

    Failing cells are part of that page; it still loads marimo's programs from elsewhere.

    Args:
        notebook: The ``.py`` file.
        arguments: What ``mo.cli_args()`` sees.
        code: Whether the page shows the code of the cells.

    Raises:
        NotebookError: marimo made no page.
        MissingExtraError: marimo is not installed.
    """
    require("marimo", purpose="publishing a marimo notebook")
    session = notebook.parent / "__marimo__" / "session" / f"{notebook.name}.json"
    had_session = session.exists()
    with TemporaryDirectory() as temporary:
        page = Path(temporary) / "page.html"
        command = [sys.executable, "-m", "marimo", "--quiet", "export", "html", str(notebook), "--output", str(page)]
        command += ["--no-sandbox", "--include-code" if code else "--no-include-code", "--", *arguments]
        try:
            done = subprocess.run(  # noqa: S603 (our own command)
                command, env=run_environment(), capture_output=True, text=True, stdin=subprocess.DEVNULL
            )
        finally:
            if not had_session:
                _remove_trace(session)
        if not page.exists():
            said = (done.stderr.strip() or done.stdout.strip() or "it said nothing").splitlines()
            raise NotebookError(f"{notebook}: marimo could not run it: {said[-1]}; nothing was written")
        return page.read_text(encoding="utf-8")


def _remove_trace(session: Path) -> None:
    """Remove what marimo leaves beside a notebook it exported, and folders that are empty then."""
    session.unlink(missing_ok=True)
    for folder in (session.parent, session.parent.parent):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
