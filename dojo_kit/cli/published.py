"""What `make reports` writes: the published pages, and a manifest of what each was made from.

Run as ``python -m dojo_kit.cli.published FOLDER``, from a checkout. A page is stale when its notebook, the sample or
the package have changed since; the manifest tells without making it again.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from dojo_kit.storage import to_json, write_text

CHECKOUT = Path(__file__).parents[2]

SAMPLE = "sample.html"
NOTEBOOKS = {
    "quickstart.html": "quickstart.ipynb",
    "miss_attribution.html": "miss_attribution.ipynb",
    "confusion.html": "confusion.ipynb",
    "noise_floor.html": "noise_floor.ipynb",
    "what_if.html": "what_if.ipynb",
}
"""Page -> notebook it shows as it ran."""

_SOURCES = ("*.py", "*.js", "*.css", "*.j2", "*.toml")


def main(folder: Path) -> None:
    """Write every published page and the manifest.

    Args:
        folder: Folder of the published pages.
    """
    from dojo_kit.cli.demo import sample_page, score_sample
    from dojo_kit.publish import publish_notebook

    data = CHECKOUT / "data"
    sample_page(data, score_sample(data), command="make reports").save(folder / SAMPLE)
    for page, notebook in NOTEBOOKS.items():
        publish_notebook(CHECKOUT / "notebooks" / notebook, folder / page)
    pages = {
        page: {"sha256": sha256((folder / page).read_bytes()).hexdigest(), "made_from": made}
        for page, made in made_from().items()
    }
    write_text(folder / "manifest.json", to_json({"pages": pages}))


def made_from() -> Mapping[str, Mapping[str, str]]:
    """Return for every published page the hashes of what it is made from today."""
    package = _hash(
        path
        for root in (CHECKOUT / "dojo_kit", CHECKOUT / "widgets" / "dojo_widgets")
        for pattern in _SOURCES
        for path in root.rglob(pattern)
    )
    shared = {"data": _hash(path for path in (CHECKOUT / "data").rglob("*") if path.is_file()), "package": package}
    notebooks = {
        page: {**shared, "notebook": _hash([CHECKOUT / "notebooks" / notebook])} for page, notebook in NOTEBOOKS.items()
    }
    return {SAMPLE: shared, **notebooks}


def _hash(paths: Iterable[Path]) -> str:
    found = sha256()
    for path in sorted(paths):
        name: Any = path.relative_to(CHECKOUT).as_posix()
        found.update(f"{name} {sha256(path.read_bytes()).hexdigest()}\n".encode())
    return found.hexdigest()[:16]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
