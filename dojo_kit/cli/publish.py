"""``dojo publish``: a notebook as it ran, as one HTML file."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer
from rich.filesize import decimal

from dojo_kit.cli.inputs import JsonOption
from dojo_kit.cli.output import err, out, print_json, shown
from dojo_kit.errors import InputError
from dojo_kit.storage import write_text


def publish(
    notebook: Annotated[str, typer.Argument(metavar="NOTEBOOK", help="A .py (marimo) or .ipynb file, or a name.")],
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="[-- ARGUMENTS]", help="What the notebook is run with.")
    ] = None,
    out_file: Annotated[str, typer.Option("--out", help="HTML file to write.")] = "",
    code: Annotated[bool, typer.Option("--code/--no-code", help="Show the code of the cells.")] = True,
    execute: Annotated[
        bool, typer.Option("--execute/--no-execute", help="Run it first; Jupyter notebooks can be taken as they are.")
    ] = True,
    json: JsonOption = False,
) -> None:
    """Run a notebook and write what it showed as one HTML file that opens anywhere, without a network.

    Names of notebooks of the package (dojo notebook) do as well as files.
    """
    from dojo_kit.publish import notebook_page

    if not out_file.strip():
        raise InputError("the path is empty", field="--out", expected="an HTML file to write")
    path, target = found_notebook(notebook), Path(out_file).expanduser()
    progress = nullcontext() if json else err.status(f"running {shown(path.name)}")
    with progress:
        page = notebook_page(path, arguments=arguments or (), code=code, execute=execute)
        write_text(target, page.html)
    size = target.stat().st_size
    if json:
        print_json({"file": str(target), "bytes": size, "requests": 0, "cautions": list(page.cautions)})
        return
    for caution in page.cautions:
        err.print(f"[yellow]caution:[/] {shown(caution)}")
    out.print(f"[bold]{shown(target)}[/], {decimal(size)}, 0 requests: it opens without a network", soft_wrap=True)


def found_notebook(given: str) -> Path:
    """Return the file of a notebook that is given by path, or by the name of one that comes with the package.

    Args:
        given: Path or name; a file comes first.
    """
    from dojo_kit.publish.packaged import packaged_notebook, packaged_notebooks

    path = Path(given).expanduser()
    is_packaged = any(given in (notebook.name, notebook.path.name) for notebook in packaged_notebooks())
    if path.exists() or (path.suffix and not is_packaged):
        return path
    return packaged_notebook(given).path
