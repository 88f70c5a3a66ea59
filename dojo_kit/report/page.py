"""A report put together part by part: headings, texts, tables, charts and widgets in one HTML file.

The page loads nothing, runs only the scripts whose hashes its content security policy names, and shows everything
from outside as text. Without JavaScript it shows all but the widgets.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from dojo_kit import palette
from dojo_kit.charts.inline import script_json
from dojo_kit.errors import InputError
from dojo_kit.report.blocks import Blocks, content_hash
from dojo_kit.report.tables import shown_columns
from dojo_kit.report.widget_parts import WidgetParts, take_apart
from dojo_kit.stats.intervals import SCOPE
from dojo_kit.storage import write_text

if TYPE_CHECKING:
    import pandas as pd
    from jinja2 import Template

    from dojo_kit.scoring.run import Recipe

INLINE_UP_TO = 1_000
"""Characters of JSON up to which a trait stands with its widget instead of in a block of its own."""

_TEMPLATES = Path(__file__).parent.parent / "templates"
_HASH = re.compile(r"[0-9a-f]{32,}")
_SCRIPTS = ("static_model.js", "page_address.js", "page_theme.js", "page_charts.js", "page.js")


class Report:
    """One self-contained HTML page; every method that adds a part returns the report.

    Args:
        title: What was found, with numbers; the page's first line.
        language: Language of the page.

    Examples:
        >>> report = Report("v15 misses 159 of 352 clauses").text("Most of them in Cap On Liability.")
        >>> "<h1>v15 misses 159 of 352 clauses</h1>" in report.html()
        True
    """

    def __init__(self, title: str, *, language: str = "en") -> None:
        self._title = title
        self._language = language
        self._parts: list[dict[str, Any]] = []
        self._blocks = Blocks()
        self._styles: dict[str, None] = {}
        self._charts: list[dict[str, str]] = []
        self._n_charts = 0
        self._n_tables = 0
        self._widgets: list[dict[str, Any]] = []
        self._links: list[list[str]] = []
        self._foot: dict[str, Any] | None = None

    def heading(self, text: str, *, level: int = 2) -> Report:
        """Add a heading.

        Args:
            text: The heading.
            level: 2 or 3; the title is 1.
        """
        if level not in (2, 3):
            raise InputError(f"the level of a heading is {level}", expected="2 or 3")
        return self._add("heading", text=text, level=level)

    def text(self, *paragraphs: str, soft: bool = False) -> Report:
        """Add paragraphs.

        Args:
            paragraphs: Their texts, shown as they are.
            soft: Smaller and grey: what a reader may skip.
        """
        return self._add("text", paragraphs=paragraphs, soft=soft)

    def table(
        self,
        frame: pd.DataFrame,
        *,
        caption: str = "",
        columns: Mapping[str, str] | Sequence[str] | None = None,
    ) -> Report:
        """Add a table: numbers right, unknown ones as a dash, no index.

        Args:
            frame: The table; cells may hold estimates, which are shown with their intervals.
            caption: What it says.
            columns: Columns to show, in this order, or column -> heading; all by default.
        """
        self._n_tables += 1
        name = f"Table {self._n_tables}: {caption}" if caption else f"Table {self._n_tables}"
        shown = shown_columns(frame, columns)
        return self._add("table", name=name, columns=shown, n_rows=len(frame), caption=caption)

    def chart(self, chart: Any, *, caption: str, live: bool = True) -> Report:
        """Add an Altair chart, as a picture that always shows and live where the browser runs scripts.

        Args:
            chart: An Altair chart; a title of its own is printed over it as text.
            caption: One sentence under it: what to conclude and what not.
            live: Also embed Vega, which adds 400 kB once a page, for hovering and selections.
        """
        from markupsafe import Markup

        from dojo_kit.charts.drawing import draw

        drawing = draw(chart)
        self._n_charts += 1
        name = f"chart-{self._n_charts}"
        if live:
            self._charts.append({"figure": name, "spec": self._blocks.add(drawing.spec)})
        pictures = {width: Markup(svg) for width, svg in drawing.svgs(name).items()}  # noqa: S704 (Vega escapes texts)
        return self._add(
            "chart", id=name, title=drawing.title, note=drawing.subtitle, pictures=pictures, caption=caption
        )

    def widget(self, widget: Any, *, caption: str = "") -> Report:
        """Add a widget that works without Python.

        Args:
            widget: An anywidget, or an object with ``_esm``, maybe ``_css``, and ``get_state()``.
            caption: One sentence under it.
        """
        return self.widgets([widget], caption=caption)

    def widgets(
        self,
        widgets: Sequence[Any],
        *,
        linked: Sequence[str] = (),
        caption: str = "",
        layout: Literal["stacked", "beside"] = "stacked",
    ) -> Report:
        """Add widgets that act together.

        Args:
            widgets: The widgets, as for `widget`.
            linked: Traits that are the same in all of them; the page's address holds them, so that a reader can
                be sent to a selection.
            caption: One sentence under them.
            layout: ``beside`` puts the first one at the left of all others where the page is wide enough.

        Raises:
            InputError: A linked trait is in none of the widgets.
        """
        if not widgets:
            raise InputError("there is no widget to add", expected="one or more")
        parts = [take_apart(widget) for widget in widgets]
        for trait in linked:
            if not any(trait in part.state for part in parts):
                raise InputError(f"no widget has the trait {trait!r}", field="linked", expected="names of traits")
        hosts = [self._add_widget(part) for part in parts]
        self._links.append(list(linked))
        return self._add("widgets", hosts=hosts, caption=caption, layout=layout)

    def _add_widget(self, part: WidgetParts) -> str:
        host = f"widget-{len(self._widgets) + 1}"
        if part.styles:
            self._styles.setdefault(part.styles)
        traits, blocks = self._placed(part.state)
        tables = [
            {"source": t.source, "target": t.target, "values": self._blocks.add_json(_written(t.target, t.values))}
            for t in part.tables
        ]
        self._widgets.append(
            {
                "host": host,
                "group": len(self._links),
                "module": self._blocks.add(part.module),
                "traits": traits,
                "blocks": blocks,
                "tables": tables,
            }
        )
        return host

    def _placed(self, state: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
        """Return the small traits, and the blocks of the others."""
        traits: dict[str, Any] = {}
        blocks: dict[str, str] = {}
        for name, value in state.items():
            text = _written(name, value)
            if len(text) <= INLINE_UP_TO:
                traits[name] = value
            else:
                blocks[name] = self._blocks.add_json(text)
        return traits, blocks

    def footer(
        self, *, recipe: Recipe | Mapping[str, Any] | None = None, scope: str = SCOPE, command: str = ""
    ) -> Report:
        """Say at the end how the page came about.

        Args:
            recipe: How the scores came about.
            scope: What the intervals on the page cover.
            command: Command that makes this page again.
        """
        made = {} if recipe is None else recipe if isinstance(recipe, Mapping) else recipe.as_dict()
        self._foot = {"scope": scope, "recipe": _flat(made), "command": command}
        return self

    def html(self) -> str:
        """Return the page. The same parts give the same text."""
        from markupsafe import Markup

        blocks = self._blocks.copy()
        vega = None
        if self._charts:
            from dojo_kit.charts.drawing import vega_bundle

            vega = blocks.add(vega_bundle())
        script = _page_script()
        plan = {"widgets": self._widgets, "links": self._links, "charts": self._charts, "vega": vega}
        plan_id = blocks.add(plan)
        return _template().render(
            language=self._language,
            title=self._title,
            policy=_policy(script, has_modules=bool(self._widgets or self._charts)),
            styles=Markup("\n".join(map(_in_style, (_page_styles(), *self._styles)))),  # noqa: S704 (style sheets)
            parts=self._parts,
            foot=self._foot,
            plan=plan_id,
            blocks=[(name, Markup(text), packed) for name, text, packed in blocks],  # noqa: S704 (escaped JSON)
            script=Markup(script),  # noqa: S704 (our own)
        )

    def save(self, path: str | Path) -> Path:
        """Write the page.

        Args:
            path: HTML file to write.

        Returns:
            The path.
        """
        write_text(path, self.html())
        return Path(path)

    def _add(self, kind: str, **part: Any) -> Report:
        self._parts.append({"kind": kind, **part})
        return self


def _written(trait: str, value: Any) -> str:
    """Return a value as JSON, or say which trait has no such form."""
    try:
        return script_json(value)
    except (TypeError, ValueError) as error:
        raise InputError(f"the trait cannot be written: {error}", field=trait, expected="plain JSON") from None


def _policy(script: str, *, has_modules: bool) -> str:
    """Allow the page's own script by its hash; modules of widgets and Vega come from the page itself, as blobs."""
    sources = f"{content_hash(script)} blob:" if has_modules else content_hash(script)
    return (
        f"default-src 'none'; script-src {sources}; style-src 'unsafe-inline'; img-src data: blob:; "
        "font-src data:; base-uri 'none'; form-action 'none'"
    )


def _flat(recipe: Mapping[str, Any], above: str = "") -> list[tuple[str, str, str]]:
    """Return name, shown value and whole value of every entry."""
    rows: list[tuple[str, str, str]] = []
    for key, value in recipe.items():
        name = f"{above}{key.replace('_', ' ')}"
        if isinstance(value, Mapping):
            rows += _flat(value, f"{name} ")
        elif isinstance(value, bool):
            rows.append((name, "yes" if value else "no", ""))
        elif key == "source":  # where it lies on the author's disk is nobody's business
            rows.append((name, Path(str(value)).name, ""))
        else:
            is_hash = bool(_HASH.fullmatch(str(value)))
            rows.append((name, str(value)[:16], str(value)) if is_hash else (name, str(value), ""))
    return rows


@cache
def _template() -> Template:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("dojo_kit"),
        autoescape=True,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.j2")


@cache
def _page_script() -> str:
    """Return the modules of the page as one script: they import each other only, in this order."""
    lines = [line for name in _SCRIPTS for line in (_TEMPLATES / name).read_text(encoding="utf-8").splitlines()]
    return "\n".join(line.removeprefix("export ") for line in lines if not line.startswith("import ")) + "\n"


@cache
def _page_styles() -> str:
    light, dark = palette.declarations(palette.LIGHT), palette.declarations(palette.DARK)
    sheets = [(_TEMPLATES / name).read_text(encoding="utf-8") for name in ("page.css", "chart.css")]
    return "\n".join(
        [
            f":root{{color-scheme:light;{light}}}",
            f"@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{color-scheme:dark;{dark}}}}}",
            f":root[data-theme=dark]{{color-scheme:dark;{dark}}}",
            *sheets,
            f"@media print{{:root:root:root,.dojo.dojo.dojo{{color-scheme:light;{light}}}}}",
        ]
    )


def _in_style(sheet: str) -> str:
    """Keep a style sheet from ending the element it stands in."""
    return sheet.replace("</", "<\\/")
