"""The JavaScript and CSS of a widget, each as one text.

A widget is plain ES modules in ``static/``, written and tested as such. A host mounts one module without a server, so
imports between them are resolved here: each module becomes a function scope that returns what it exports. Only the
few forms of import and export named in `bundle` are understood; anything else is an error, not a guess.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from dojo_kit import palette

STATIC = Path(__file__).parent / "static"

_IMPORT = re.compile(r'^import \{\s*(\w+(?:,\s*\w+)*),?\s*\} from "\./(\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|class) (\w+))", re.MULTILINE)
_DEFAULT = re.compile(r"^export default (.+);$", re.MULTILINE)
_LEFT = re.compile(r"^\s*(?:import|export)\b.*$", re.MULTILINE)


@cache
def bundle(name: str) -> str:
    """Return a module of ``static/`` with everything it imports, as one ES module.

    Args:
        name: Module name, such as ``miss_table``. It may use ``import { a, b } from "./other.js";`` and, at the
            start of a line, ``export function``, ``export const``, ``export class`` and ``export default VALUE;``.
    """
    order: list[str] = []
    _visit(name, order, ())
    return "\n".join(["const $modules = {};", *map(_scope, order), f"export default $modules.{name}.$default;", ""])


def _visit(name: str, order: list[str], above: tuple[str, ...]) -> None:
    if name in above:
        raise ValueError(f"modules import each other: {' -> '.join([*above, name])}")
    if name in order:
        return
    for match in _IMPORT.finditer(_source(name)):
        _visit(match[2], order, (*above, name))
    order.append(name)


def _source(name: str) -> str:
    return (STATIC / f"{name}.js").read_text(encoding="utf-8")


def _scope(name: str) -> str:
    text = _IMPORT.sub(lambda m: f"const {{ {m[1]} }} = $modules.{m[2]};", _source(name))
    names = [match[1] for match in _EXPORT.finditer(text)]
    text = _EXPORT.sub("", text)
    text, n_defaults = _DEFAULT.subn(r"const $default = \1;", text)
    if left := _LEFT.search(text):
        raise ValueError(f"{name}.js: cannot bundle {left[0].strip()!r}")
    exports = ", ".join([*names, *(["$default"] if n_defaults else [])])
    return f"$modules.{name} = (() => {{\n{text}\nreturn {{ {exports} }};\n}})();"


@cache
def styles(*names: str) -> str:
    """Return the style sheets of a widget, the colours of both modes first.

    Args:
        names: Style sheets of ``static/``, such as ``miss_table``; ``base`` always comes first.
    """
    tokens = (
        f".dojo{{{palette.declarations(palette.LIGHT)}}}\n.dojo[data-mode=dark]{{{palette.declarations(palette.DARK)}}}"
    )
    sheets = [(STATIC / f"{name}.css").read_text(encoding="utf-8") for name in ("base", *names)]
    return "\n".join([tokens, *sheets])
