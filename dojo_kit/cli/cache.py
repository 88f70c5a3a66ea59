"""``dojo cache``: what is kept of embeddings, and how to be rid of it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer
from rich.filesize import decimal

from dojo_kit import formats
from dojo_kit.cli.inputs import JsonOption
from dojo_kit.cli.output import Column, build_table, out, print_json, shown

if TYPE_CHECKING:
    from dojo_kit.embedders import CacheInfo

cache_app = typer.Typer(no_args_is_help=True, help="Show or clear the vectors kept of embedded texts.")


@cache_app.command()
def info(json: JsonOption = False) -> None:
    """Show where vectors are cached, how many there are of each model, and how large the file is."""
    from dojo_kit.embedders import VectorCache

    found = VectorCache().info()
    if json:
        print_json(info_as_dict(found))
        return
    size = decimal(found.bytes) if found.bytes else "nothing stored"
    out.print(f"[bold]{formats.count(found.entries, 'vector')}[/], {size}")
    out.print(shown(found.file), soft_wrap=True)
    if found.models:
        columns: list[Column] = [("model", "left"), ("vectors", "right"), ("components", "right")]
        rows = [[model.name, f"{model.entries:,}", f"{model.dimension:,}"] for model in found.models]
        out.print()
        out.print(build_table("", columns, rows))


@cache_app.command()
def clear(json: JsonOption = False) -> None:
    """Remove all cached vectors; a damaged cache is removed whole."""
    from dojo_kit.embedders import VectorCache

    cache = VectorCache()
    removed = cache.clear()
    if json:
        print_json({"file": str(cache.file), "removed": removed})
    elif removed is None:
        out.print(f"removed a damaged cache: {shown(cache.file)}", soft_wrap=True)
    else:
        out.print(f"removed {formats.count(removed, 'vector')}: {shown(cache.file)}", soft_wrap=True)


def info_as_dict(found: CacheInfo) -> dict[str, Any]:
    """Return everything ``dojo cache info --json`` prints."""
    return {
        "file": str(found.file),
        "bytes": found.bytes,
        "entries": found.entries,
        "models": [asdict(model) for model in found.models],
    }
