"""A Jupyter notebook as its reader has it: open in JupyterLab, all cells run."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from servers import free_port, server

NOTIFICATIONS = Path("lab/user-settings/@jupyterlab/apputils-extension/notification.jupyterlab-settings")


@contextmanager
def jupyter_lab(root: Path, folder: Path) -> Iterator[str]:
    """Serve a folder in JupyterLab and give the address; skips the test where it is not installed.

    News and updates are not asked for, and nothing of the user's own Jupyter is read or written.

    Args:
        root: Folder with the notebooks.
        folder: Folder for what the server prints and keeps.
    """
    pytest.importorskip("jupyterlab", reason="the extra 'lab' is not installed")
    settings = folder / "config" / NOTIFICATIONS
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"fetchNews": "false", "checkForUpdates": False}))
    environment = {
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTER_DATA_DIR": str(folder / "data"),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "IPYTHONDIR": str(folder / "ipython"),
    }
    address = f"http://127.0.0.1:{(port := free_port())}"
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}"]
    command += ["--ip=127.0.0.1", f"--ServerApp.root_dir={root}", "--IdentityProvider.token="]
    with server(command, answers=f"{address}/api", log=folder / "lab.log", environment=environment):
        yield address


def run_all(page: Any, address: str, name: str) -> None:
    """Open a notebook and run all its cells.

    Args:
        page: Playwright's page.
        address: From `jupyter_lab`.
        name: File of the notebook in the served folder.
    """
    page.goto(f"{address}/lab/tree/{name}?reset")
    page.locator(".jp-Notebook .jp-CodeCell").first.wait_for(timeout=60_000)
    # Run before its kernel is there, a notebook asks which kernel it should have.
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for(timeout=60_000)
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_text("Run All Cells", exact=True).click()
