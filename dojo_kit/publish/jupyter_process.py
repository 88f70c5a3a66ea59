"""Executing a Jupyter notebook, in a process of its own: ``python -m dojo_kit.publish.jupyter_process``.

What runs kernels leaves threads, sockets and an event loop behind, none of which a program that publishes wants.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import Any


def execute(source: Path, target: Path, folder: Path) -> None:
    """Execute a notebook and write it with its outputs; the cell that fails is the last one executed.

    Args:
        source: Notebook to read.
        target: Notebook to write.
        folder: Folder it runs in.
    """
    import nbformat
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    notebook = nbformat.read(source, as_version=4)  # type: ignore[no-untyped-call]
    client = NotebookClient(
        notebook,
        km=AsyncKernelManager(kernel_spec_manager=_kernels()),
        timeout=None,
        record_timing=False,
        resources={"metadata": {"path": str(folder)}},
    )
    with suppress(CellExecutionError):  # the output of the cell says so
        client.execute()
    nbformat.write(notebook, target)  # type: ignore[no-untyped-call]


def _kernels() -> Any:
    """Return a manager whose only kernel is the Python that publishes, whatever is registered on the machine."""
    from jupyter_client.kernelspec import KernelSpec, KernelSpecManager

    class ThisPython(KernelSpecManager):
        def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
            command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
            return KernelSpec(argv=command, display_name=kernel_name, language="python")

    return ThisPython()


if __name__ == "__main__":
    execute(*map(Path, sys.argv[1:4]))
