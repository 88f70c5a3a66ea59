"""Run the Jupyter notebooks again and store their outputs, small and free of anything that differs from run to run.

`python -m tests.notebooks.refresh` after a change of what they show; the strict comparison is `make notebooks`.
"""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[2] / "notebooks"
KEPT_LANGUAGE = {"name": "python"}


def refresh(path: Path) -> None:
    """Run a notebook and store it with its outputs."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(path.parent)}}).execute()
    notebook.metadata = nbformat.from_dict(
        {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": KEPT_LANGUAGE,
        }
    )
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number}"
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", ()):
            output.get("data", {}).pop("application/vnd.jupyter.widget-view+json", None)
    nbformat.write(notebook, path)


if __name__ == "__main__":
    for found in sorted(FOLDER.glob("*.ipynb")):
        refresh(found)
        print(f"{found.name}: {found.stat().st_size / 1024:.0f} kB")
