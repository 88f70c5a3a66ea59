"""A Jupyter notebook as it ran, in one file: the page of a report, with cells for parts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dojo_kit.publish.jupyter_outputs import WIDGET_STATE, Box, Chart, Html, Outputs, Part, SavedWidget, markdown_html
from dojo_kit.publish.jupyter_run import run_jupyter
from dojo_kit.publish.pages import Page
from dojo_kit.report.page import Report, _in_style, _page_script, _page_styles, _policy
from dojo_kit.report.widget_parts import take_apart

if TYPE_CHECKING:
    from jinja2 import Template

_TEMPLATES = Path(__file__).parent.parent / "templates"


def jupyter_page(path: Path, *, arguments: Sequence[str] = (), code: bool = True, execute: bool = True) -> Page:
    """Run a Jupyter notebook and return it as a page.

    Args:
        path: The ``.ipynb`` file.
        arguments: ``--name value``, for the cell tagged ``parameters``.
        code: Whether the code of the cells is shown.
        execute: Whether it is run, or the outputs it holds are taken.

    Raises:
        InputError: It is no Jupyter notebook, or does not take the arguments.
        NotebookError: A cell failed.
        MissingExtraError: What runs Jupyter notebooks is not installed.
    """
    notebook = run_jupyter(path, arguments=arguments, execute=execute)
    page = NotebookPage(_title(notebook, path), folder=path.parent, widgets=_widget_states(notebook))
    for number, cell in enumerate(notebook.cells, start=1):
        page.cell(cell, number=number, code=code)
    return Page(page.html(), tuple(page.cautions))


class NotebookPage(Report):
    """The page of a notebook.

    Args:
        title: Title of the page.
        folder: Where pictures are that its Markdown names by file.
        widgets: Saved state of its widgets by model id.
    """

    def __init__(self, title: str, *, folder: Path, widgets: Mapping[str, Any]) -> None:
        super().__init__(title)
        self.cautions: list[str] = []
        self._folder = folder
        self._states = dict(widgets)
        self._groups: list[set[str]] = []
        self._figures: dict[str, int] = {}

    def cell(self, cell: Any, *, number: int, code: bool) -> None:
        """Add a cell.

        Args:
            cell: The cell, as nbformat has it.
            number: Its place in the notebook, from 1.
            code: Whether code is shown.
        """
        outputs = Outputs(self._states)
        if cell.cell_type == "markdown":
            prose = markdown_html(cell.source, attachments=cell.get("attachments"), folder=str(self._folder))
            self._add("prose", html=outputs.cleaned(prose))
        elif cell.cell_type == "code":
            shown = [self._placed_part(part) for part in outputs.parts(cell.outputs)]
            source = highlighted(cell.source) if code and cell.source.strip() else ""
            if source or shown:
                self._add("code", source=source, outputs=shown, number=number)
        self.cautions += [f"cell {number}: {caution}" for caution in dict.fromkeys(outputs.cautions)]

    def _placed_part(self, part: Part) -> dict[str, Any]:
        """Return what the template needs of a part; widgets and charts are added to the page's plan."""
        match part:
            case Box():
                return {"kind": "box", "row": part.row, "parts": [self._placed_part(inner) for inner in part.parts]}
            case SavedWidget():
                host = self._add_widget(take_apart(part))
                self._widgets[-1]["group"] = self._group_of(part.model)
                return {"kind": "widget", "host": host}
            case Chart():
                return {"kind": "html", "html": self._figure(part), "wide": False}
            case Html():
                return {"kind": "html", "html": part.html, "wide": part.wide}
        return {"kind": "text", "html": part.html, "stream": part.kind}

    def _group_of(self, model: str) -> int:
        """Return the number of the widgets that act together with one; groups are numbered as they are shown."""
        group = next(group for group in _linked_models(self._states) if model in group)
        if group not in self._groups:
            self._groups.append(group)
        return self._groups.index(group)

    def _figure(self, chart: Chart) -> str:
        """Return a chart as a figure that shows it, and let the page bring it to life."""
        from dojo_kit.charts.drawing import Drawing

        drawing = Drawing("", "", chart.spec)
        name = chart.name or f"chart-{drawing.digest()}"
        self._figures[name] = self._figures.get(name, 0) + 1
        # The same chart shown twice is two figures.
        unique = name if self._figures[name] == 1 else f"{name}-{self._figures[name]}"
        self._charts.append({"figure": unique, "spec": self._blocks.add(chart.spec)})
        if chart.figure:
            return re.sub(rf"\b{name}\b", unique, chart.figure)
        pictures = "".join(f'<div class="static {w}">{svg}</div>' for w, svg in drawing.svgs(unique).items())
        return f'<div class="dojo-chart nb-as-it-was" id="{unique}">{pictures}</div>'

    def _traits_linked(self, group: int) -> list[str]:
        """Return the traits that are equal in the views of a group.

        Widgets that were linked share what they were linked by. A widget that is shown more than once is one model in
        a notebook and several in a page, so it shares everything with itself.
        """
        views = [widget for widget in self._widgets if widget["group"] == group]
        if len(views) < 2:
            return []
        if len(self._groups[group]) > 1:
            states = [self._states[model]["state"] for model in self._groups[group]]
            return sorted({name.partition(":")[2] for state in states for name in state.get("_linked", [])})
        return sorted({*views[0]["traits"], *views[0]["blocks"]})

    def html(self) -> str:
        """Return the page."""
        from markupsafe import Markup

        blocks = self._blocks.copy()
        vega = None
        if self._charts:
            from dojo_kit.charts.drawing import vega_bundle

            vega = blocks.add(vega_bundle())
        script = _page_script()
        links = [self._traits_linked(group) for group in range(len(self._groups))]
        plan = {"widgets": self._widgets, "links": links, "charts": self._charts, "vega": vega}
        styles = (_page_styles(), (_TEMPLATES / "notebook_jupyter.css").read_text(encoding="utf-8"), *self._styles)
        return _template().render(
            title=self._title,
            policy=_policy(script, has_modules=bool(self._widgets or self._charts)),
            styles=Markup("\n".join(map(_in_style, styles))),  # noqa: S704 (style sheets)
            cells=self._parts,
            plan=blocks.add(plan),
            blocks=[(name, Markup(text), packed) for name, text, packed in blocks],  # noqa: S704 (escaped JSON)
            script=Markup(script),  # noqa: S704 (our own)
        )


def highlighted(source: str) -> str:
    """Return Python as HTML with its tokens marked.

    Args:
        source: Code of a cell.
    """
    from pygments import highlight  # type: ignore[import-untyped]
    from pygments.formatters import HtmlFormatter  # type: ignore[import-untyped]
    from pygments.lexers.python import PythonLexer  # type: ignore[import-untyped]

    return str(highlight(source, PythonLexer(), HtmlFormatter(nowrap=True)))


def _title(notebook: Any, path: Path) -> str:
    """Return the first heading of a notebook, or the name of its file."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and (heading := re.search(r"^# +(.+)$", cell.source, re.MULTILINE)):
            return re.sub(r"[*_`]", "", heading[1]).strip()
    return path.stem


def _widget_states(notebook: Any) -> dict[str, Any]:
    states: dict[str, Any] = notebook.metadata.get("widgets", {}).get(WIDGET_STATE, {}).get("state", {})
    return states


def _linked_models(states: Mapping[str, Any]) -> list[set[str]]:
    """Return the widgets that act together, as sets of model ids; most are alone in theirs."""
    links = {model: set(saved["state"].get("_linked", [])) for model, saved in states.items()}
    groups: list[set[str]] = []
    for model, names in links.items():
        joined = [group for group in groups if any(names & links[other] for other in group)]
        groups = [group for group in groups if group not in joined] + [set().union({model}, *joined)]
    return groups


@cache
def _template() -> Template:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("dojo_kit"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("notebook_jupyter.html.j2")
