"""A marimo notebook as its reader has it: an app in a browser."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import pytest
from servers import free_port, server


@contextmanager
def marimo_app(
    notebook: Path, folder: Path, *, mode: Literal["run", "edit"] = "run", arguments: Sequence[str] = ()
) -> Iterator[str]:
    """Serve a notebook and give its address; skips the test where marimo is not installed.

    Args:
        notebook: The ``.py`` file.
        folder: Folder for what the server prints and keeps.
        mode: ``run`` for the app, ``edit`` for the editor.
        arguments: What ``mo.cli_args()`` sees.
    """
    pytest.importorskip("marimo", reason="the extra 'lab' is not installed")
    port = free_port()
    command = [sys.executable, "-m", "marimo", "--quiet", mode, str(notebook), "--headless", "--no-token"]
    command += ["--no-sandbox", "--host", "127.0.0.1", "--port", str(port)]
    command += ["--skip-update-check"] if mode == "edit" else []
    environment = {"XDG_CONFIG_HOME": str(folder), "XDG_STATE_HOME": str(folder)}
    address = f"http://127.0.0.1:{port}"
    with server(
        [*command, "--", *arguments], answers=f"{address}/health", log=folder / "marimo.log", environment=environment
    ):
        yield address
