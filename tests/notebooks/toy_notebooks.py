"""Notebooks with a widget, a chart, a table and hostile text, for both hosts."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

HOSTILE = "</script><img src=x onerror=\"document.title='run'\"><script>document.title='run'</script>"

WIDGET = '''
class Counter(Widget):
    _esm = """const $modules = {};
    const counter = {
      render({ model, el }) {
        const button = document.createElement("button");
        button.className = "counter";
        const show = () => {
          button.textContent = `${model.get("count")} is ${model.get("word")} ${model.get("text")}`;
        };
        button.addEventListener("click", () => {
          model.set("count", model.get("count") + 1);
          model.save_changes();
        });
        model.on("change:count", show);
        model.on("change:word", show);
        show();
        el.append(button);
      },
    };
    export default counter;
    """
    count = traitlets.Int(0).tag(sync=True)
    word = traitlets.Unicode("zero").tag(sync=True)
    text = traitlets.Unicode("").tag(sync=True)

    def precomputed(self):
        return (Precomputed("count", "word", {"0": "zero", "1": "one", "2": "two"}),)
'''
IMPORTS = """
import altair as alt
import pandas as pd
import traitlets
from dojo_widgets import link, show
from dojo_widgets.base import Precomputed, Widget
"""
FRAME = f"""
frame = pd.DataFrame({{"x": [{HOSTILE!r}, "b"], "y": [1, 2]}})
"""
MARIMO = """import marimo

app = marimo.App(app_title="A toy")


@app.cell
def _():
    import marimo as mo
{imports}{widget}{frame}
    return Counter, alt, frame, link, mo, show


@app.cell
def _(mo):
    mo.md("# Does a click reach what is below?")
    return


@app.cell
def counting(Counter, link, mo, show):
    counter = show(Counter(text={hostile!r}))
    second = show(Counter())
    links = link(counter, second, traits=("count",))
    mo.vstack([counter, second])
    return counter, second


@app.cell
def _(counter, mo):
    mo.md(f"BELOW {{counter.count}} {{mo.cli_args().get('run')}}")
    return


@app.cell
def _(alt, frame, mo):
    mo.vstack([frame, alt.Chart(frame).mark_bar().encode(x="x:N", y="y:Q")])
    return


@app.cell
def _(mo):
    mo.vstack([mo.md({hostile!r}), mo.Html("<iframe srcdoc=\\"" + {framed!r} + "\\"></iframe>")])
    return


if __name__ == "__main__":
    app.run()
"""
FAILING = """import marimo

app = marimo.App()


@app.cell
def loading():
    rows = 1 / 0
    return (rows,)


@app.cell
def _(rows):
    rows
    return
"""


def marimo_notebook() -> str:
    """Return the marimo notebook."""
    parts = {"imports": IMPORTS, "widget": WIDGET, "frame": FRAME}
    indented = {name: indent(text, "    ") for name, text in parts.items()}
    return MARIMO.format(**indented, hostile=HOSTILE, framed="<script>top.document.title='run'</script>")


def jupyter_cells() -> list[tuple[str, str, list[str]]]:
    """Return kind, source and tags of the cells of the Jupyter notebook."""
    below = (
        "from IPython.display import HTML, display\n"
        "import ipywidgets\n"
        "seen = ipywidgets.Output()\n"
        "def follow(change):\n"
        "    with seen:\n"
        "        print('BELOW', change['new'], run)\n"
        "counter.observe(follow, 'count')\n"
        "seen"
    )
    return [
        ("markdown", f"# Does a *click* reach what is below?\n\n{HOSTILE}", []),
        ("code", "run = None\nthreshold = 0.6\nloud = False", ["parameters"]),
        ("code", f"{IMPORTS}{WIDGET}{FRAME}frame", []),
        ("code", 'alt.Chart(frame).mark_bar().encode(x="x:N", y="y:Q")', []),
        (
            "code",
            f"counter, second = Counter(text={HOSTILE!r}), Counter()\nlinks = link(counter, second, "
            'traits=("count",))\nimport ipywidgets\nipywidgets.VBox([counter, second])',
            [],
        ),
        ("code", below, []),
        ("code", f"print({HOSTILE!r})\ndisplay(HTML({HOSTILE!r}), HTML('<b>own</b>'))\n{HOSTILE!r}", []),
    ]


def write_jupyter(path: Path, cells: list[tuple[str, str, list[str]]]) -> Path:
    """Write a Jupyter notebook and return its path.

    Args:
        path: File to write.
        cells: Kind, source and tags of each cell.
    """
    import nbformat

    make = {"markdown": nbformat.v4.new_markdown_cell, "code": nbformat.v4.new_code_cell}
    kernel = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    notebook = nbformat.v4.new_notebook(metadata={"kernelspec": kernel})
    for number, (kind, source, tags) in enumerate(cells):
        notebook.cells.append(make[kind](source, id=f"cell-{number}", metadata={"tags": tags}))
    nbformat.write(notebook, path)
    return path
