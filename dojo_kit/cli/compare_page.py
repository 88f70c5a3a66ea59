"""The page of a comparison, for ``dojo compare --out``."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dojo_kit import formats
from dojo_kit.cli.output import err, out, shown
from dojo_kit.errors import InputError

if TYPE_CHECKING:
    from dojo_kit.analysis.compare import Comparison
    from dojo_kit.analysis.noise import NoiseFloor


def page_target(path: str | None) -> Path | None:
    """Return the file to write, before anything is computed for it.

    Raises:
        InputError: It is no file.
    """
    if path is None:
        return None
    target = Path(path).expanduser()
    if not path.strip() or target.is_dir():
        raise InputError(f"{path!r} is no file", field="--out", expected="an HTML file to write")
    return target


def write_page(
    comparison: Comparison,
    target: Path,
    *,
    noise: NoiseFloor | None,
    runs: tuple[str, str],
    options: Mapping[str, str | Sequence[str] | None],
    quiet: bool,
) -> None:
    """Write the page of a comparison and say where it is.

    Args:
        comparison: The comparison.
        target: HTML file to write.
        noise: Measured rerun noise.
        runs: Both run files.
        options: Option -> what was given, for the command that makes the page again.
        quiet: Say nothing on standard output.
    """
    from dojo_widgets.compare_findings import comparison_page

    with err.status("putting the page together"):
        command = shlex.join([*_words(runs, options), "--out", str(target)])
        path = comparison_page(comparison, noise=noise, command=command).save(target)
    if quiet:
        return
    n = formats.count(comparison.n, comparison.a.noun)
    out.print(f"page: {shown(path)} ({path.stat().st_size / 1e6:.2f} MB, {n}, opens offline)", soft_wrap=True)


def _words(runs: Sequence[str], options: Mapping[str, str | Sequence[str] | None]) -> list[str]:
    words = ["dojo", "compare", *runs]
    for option, given in options.items():
        values = [] if given is None else [given] if isinstance(given, str) else given
        words += [word for value in values for word in (option, value)]
    return words
