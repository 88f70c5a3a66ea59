"""marimo's programs and styles, taken from the installed package for use in one file.

A page that marimo exports loads some 600 modules, style sheets and fonts from a content network. All of them are
also in marimo's own package, since its server needs them. Modules name each other by relative address; here those
become bare names, for which the page makes an import map once it has unpacked them.
"""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from dojo_kit.publish.failures import NotebookError

PREFIX = "marimo/"
"""What the names of modules begin with in the page's import map."""

ALWAYS_LEFT_OUT = ("edit-page-", "node-sql-parser-")
"""Modules that only editing needs."""
LEFT_OUT_UNLESS_NAMED = {"Plot-": "plotly", "mermaid-": "mermaid"}
"""Large modules, and the word in the page without which nothing asks for them."""
MATHS = ("KaTeX_", "marimo-tex")
"""Fonts of formulas, and the element that formulas are in."""

_IMPORT = re.compile(r"""((?:\bfrom|\bimport)\s*(\(?)\s*)(["'`])\./([\w.$@+-]+\.js)\3""")
"""From a module beside it: what stands before the name, a bracket where the import is dynamic, quote, name."""
_PRELOADED = "=>i.map(i=>d[i])"
_CHART_OPTIONS = re.compile(r"=(\w+\.usermeta\?\.embedOptions)\?\?\{\}")
_ADDRESS = re.compile(r"""url\(["']?(?!data:)([^)"']+)["']?\)""")
_MEDIA = {".woff2": "font/woff2", ".png": "image/png", ".svg": "image/svg+xml"}


@dataclass(frozen=True, slots=True)
class Frontend:
    """Everything a page needs of marimo.

    Attributes:
        modules: Name -> JavaScript, the names as in the import map.
        left_out: Names of modules that are asked for only by what the page does not show.
        styles: One style sheet with its fonts.
    """

    modules: dict[str, str]
    left_out: list[str]
    styles: str


def frontend(assets: Path, entry: str, *, page: str) -> Frontend:
    """Collect what a page needs.

    Args:
        assets: Folder ``_static/assets`` of the installed marimo.
        entry: File name of the module the page begins with.
        page: The page; decides which large parts can be left out.

    Raises:
        NotebookError: The installed marimo is built differently from what this package knows.
    """
    if not (assets / entry).is_file():
        raise unknown_marimo(f"no module {entry}")
    words = page.casefold()
    left_out = ALWAYS_LEFT_OUT + tuple(stem for stem, word in LEFT_OUT_UNLESS_NAMED.items() if word not in words)
    sources, absent = _reachable(assets, entry, left_out)
    n_charts = sum(len(_CHART_OPTIONS.findall(text)) for text in sources.values())
    if n_charts != 1:
        raise unknown_marimo(f"{n_charts} places where charts take their options")
    modules = {PREFIX + name: _rewritten(text) for name, text in sorted(sources.items())}
    return Frontend(modules, sorted(PREFIX + name for name in absent), _styles(assets, maths=MATHS[1] in page))


def unknown_marimo(what: str) -> NotebookError:
    """Say that the installed marimo is not one that this package can publish from.

    Args:
        what: What was found instead of what was expected.
    """
    return NotebookError(
        f"marimo {version('marimo')} is built differently from the versions that can be published ({what}); "
        "nothing was written. Install marimo 0.25.2, or publish with 'marimo export html', which needs the network"
    )


def _reachable(assets: Path, entry: str, left_out: tuple[str, ...]) -> tuple[dict[str, str], set[str]]:
    """Return the modules that can be asked for, and those left out among them.

    A module that another one needs to start at all is never left out.
    """
    sources: dict[str, str] = {}
    absent: set[str] = set()
    waiting = [entry]
    while waiting:
        name = waiting.pop()
        if name in sources:
            continue
        text = sources[name] = (assets / name).read_text(encoding="utf-8")
        for match in _IMPORT.finditer(text):
            dynamic, imported = match[2], match[4]
            (absent.add if dynamic and imported.startswith(left_out) else waiting.append)(imported)
    return sources, absent - sources.keys()


def _rewritten(text: str) -> str:
    text = _IMPORT.sub(lambda match: f"{match[1]}{match[3]}{PREFIX}{match[4]}{match[3]}", text)
    # A module in a blob has no address that others could be relative to; this one leads nowhere.
    text = text.replace("import.meta.url", '"https://offline.invalid/"')
    # Nothing to fetch ahead of time: all is in the page.
    text = text.replace(_PRELOADED, "=>[]")
    # The page's icon is not fetched either.
    text = text.replace("`./favicon.ico`", "`data:,`")
    # Charts evaluate their expressions with an interpreter: the page's policy lets nothing build code from text.
    return _CHART_OPTIONS.sub(r"={ast:!0,...\1}", text)


def _styles(assets: Path, *, maths: bool) -> str:
    files = sorted(assets.glob("*.css"), key=lambda path: (not path.name.startswith("index-"), path.name))

    def embedded(match: re.Match[str]) -> str:
        path = assets / re.split("[?#]", match[1].rpartition("/")[2])[0]
        # Every font is also there as woff2, which all browsers read.
        wanted = path.suffix in _MEDIA and path.is_file() and (maths or not path.name.startswith(MATHS[0]))
        if not wanted:
            return "url(data:,)"
        return f"url(data:{_MEDIA[path.suffix]};base64,{b64encode(path.read_bytes()).decode()})"

    return "".join(_ADDRESS.sub(embedded, path.read_text(encoding="utf-8")) for path in files)
