"""Where the sample is on this machine: beside the package in a checkout, else written once into the user's cache."""

from __future__ import annotations

import os
from pathlib import Path

from dojo_kit import __version__
from dojo_kit.samples.phrases import phrases
from dojo_kit.samples.rag_files import EXPORT, FOLDER
from dojo_kit.samples.write import MANIFEST, N_CONTRACTS, SEED, write_samples


def sample_data() -> Path:
    """Return a folder with the sample corpus, its labels and runs.

    In a checkout of the project that is its ``data/``; elsewhere the sample is written into
    ``$XDG_CACHE_HOME/dojo_kit`` (``~/.cache`` by default) when it is asked for the first time.

    Examples:
        >>> (sample_data() / "labels.json").is_file()
        True
    """
    checkout = Path(__file__).parents[2] / "data"
    if (checkout / MANIFEST).is_file():
        return checkout
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "dojo_kit" / f"sample-{__version__}-{SEED}-{N_CONTRACTS}"
    if not _is_whole(folder):
        write_samples(folder)
    return folder


def _is_whole(folder: Path) -> bool:
    """Tell whether a sample was written to its end, its manifest, and has the runs and labels planned today."""
    plan = phrases("plan")
    planned = (*plan["extraction"], *plan["subtype"], plan["docclass"])
    files = [folder / "runs" / f"{run['name']}.json" for run in planned]
    files.append(folder / FOLDER / "annotation" / "exports" / EXPORT / "retrieval.csv")
    return all(path.is_file() for path in (folder / MANIFEST, *files))
