"""A marimo notebook as it ran, in one file that needs no network.

marimo's exported page is kept as it is but for five things: its programs, styles and fonts come from the installed
package instead of a content network; the code of widgets becomes files of the page, so that the policy can refuse
code in addresses; settings of the person who publishes are left out; random ids are numbered; and the page gets
a policy. All that is known about marimo's insides is here and in `marimo_frontend`.
"""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64decode, b64encode
from collections.abc import Sequence
from html import unescape
from importlib.metadata import version
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from dojo_kit.charts.inline import script_json
from dojo_kit.publish.failures import cell_failed
from dojo_kit.publish.marimo_frontend import PREFIX, Frontend, frontend, unknown_marimo
from dojo_kit.publish.marimo_run import export_marimo
from dojo_kit.publish.page_policy import allowed, policy_tag, script_tag, script_value, seal

SOURCES = {
    "script": "blob:",
    "img": "data: blob:",
    "media": "data: blob:",
    "font": "data:",
    "connect": "data: blob:",
    "worker": "blob:",
}
"""What a marimo page may load, all of it embedded."""

HIDDEN = (
    "[data-testid=static-notebook-banner],[data-testid=watermark],a[href*='marimo.io'],"
    "[role=region][aria-label^=Notifications]{display:none!important}"
)
"""Parts of marimo's page that offer what needs a server, or say that nothing responds."""
NOTE = (
    "#App::after{content:'A notebook as it ran: charts and widgets respond, its Python does not run again.';"
    "padding:0 24px 24px;text-align:center;font-size:12px;color:var(--muted-foreground)}"
)
"""A line under the last cell."""

SETTINGS = ("cell_output", "dataframes", "default_table_max_columns", "default_table_page_size", "default_width")
"""Settings of display that shape outputs; all others are the publisher's own business."""

_ENTRY = re.compile(r'<script type="module"[^>]*\bsrc="[^"]*/assets/(index-[^"/]+\.js)"[^>]*></script>')
_LINK = re.compile(r'<link\b[^>]*\bhref="https://[^"]*/@marimo-team/frontend@[^"]*"[^>]*>\s*')
_NOTE = re.compile(r"<!--.*?-->\s*", re.DOTALL)
_CODE_ADDRESS = "data:text/javascript;base64,"
_DEFAULT_EXPORT = re.compile(r"^[ \t]*export default (.+);\s*\Z", re.MULTILINE)
_RANDOM = re.compile(r"""(?:"model_id":\s*"|random-id=')([0-9a-f-]{32,36})["']""")


def marimo_page(notebook: Path, *, arguments: Sequence[str] = (), code: bool = True) -> str:
    """Run a marimo notebook and return it as a page.

    Args:
        notebook: The ``.py`` file.
        arguments: What ``mo.cli_args()`` sees.
        code: Whether the code of the cells is shown.

    Raises:
        NotebookError: A cell failed, or marimo is of a version that is built differently.
        MissingExtraError: marimo is not installed.
    """
    exported = export_marimo(notebook, arguments=arguments, code=code)
    mounted = _value_after(exported, '"__MARIMO_MOUNT_CONFIG__"')
    failures = failed_cells(mounted)
    if failures:
        raise cell_failed(notebook, failures)
    return _self_contained(exported, mounted)


def failed_cells(mounted: dict[str, Any]) -> list[str]:
    """Say which cells of a notebook failed, and how.

    Args:
        mounted: What the exported page mounts: ``notebook`` with its cells, ``session`` with their outputs.
    """
    failures = []
    cells = zip(mounted["notebook"]["cells"], mounted["session"]["cells"], strict=True)
    for number, (cell, ran) in enumerate(cells, start=1):
        errors = [output for output in ran["outputs"] if output["type"] == "error" and not _comes_from_above(output)]
        if errors:
            name = "" if cell["name"] in {"", "_"} else f" ({cell['name']})"
            first_line = (cell["code"] or "").strip().partition("\n")[0]
            begins = f", {first_line!r}" if first_line else ""
            says = _last_line(ran["console"]) or errors[0]["evalue"]
            failures.append(f"cell {number}{name}{begins}: {' '.join(says.split())}")
    return failures


def _comes_from_above(error: dict[str, Any]) -> bool:
    """Tell whether a cell was not run because of another one: that failed, or stopped it with ``mo.stop``."""
    return str(error["ename"]).startswith("ancestor-") or str(error["evalue"]).startswith("An ancestor ")


def _last_line(console: list[dict[str, Any]]) -> str:
    """Return the last line of the traceback, which names the exception; empty where there is none."""
    traces = [said["text"] for said in console if said.get("mimetype") == "application/vnd.marimo+traceback"]
    return unescape(re.sub("<[^>]*>", "", traces[-1])).strip().rpartition("\n")[2] if traces else ""


def _self_contained(exported: str, mounted: dict[str, Any]) -> str:
    entry = _ENTRY.search(exported)
    if entry is None:
        raise unknown_marimo("no module that begins the page")
    assets = _folder_of("marimo") / "_static" / "assets"
    parts = frontend(assets, entry[1], page=exported)
    page = _NOTE.sub("", _LINK.sub("", _ENTRY.sub("", exported)))
    mounted = {**mounted, "config": _settings(mounted["config"]), "configOverrides": {}}
    page = _with_value(page, '"__MARIMO_MOUNT_CONFIG__"', mounted)
    notifications, codes = _widget_files(_value_after(page, "modelNotifications:"))
    page = _with_value(page, "modelNotifications:", notifications)
    page = _with_value(page, "files:", {**_value_after(page, "files:"), **codes})
    page = re.sub(r"<script\b[^>]*>", lambda match: allowed(match[0]), page)
    page = _numbered(page)
    note = f"<!-- Holds the frontend of marimo {version('marimo')}, Apache License 2.0. -->"
    page = page.replace("<head>", f"<head>\n{note}", 1)
    page = _after(page, '<meta charset="utf-8" />', policy_tag(SOURCES))
    page = _before(page, "</head>", _style_tag(parts.styles + HIDDEN + NOTE))
    return seal(_before(page, "</body>", _programs(parts, entry[1])))


def _folder_of(package: str) -> Path:
    """Return where a package is, without the second that importing it takes."""
    found = find_spec(package)
    if found is None or found.origin is None:
        raise unknown_marimo("its folder cannot be found")
    return Path(found.origin).parent


def _value_after(page: str, name: str) -> Any:
    """Return the JSON that is frozen after a name in one of the page's scripts."""
    start = _start_of_value(page, name)
    return json.JSONDecoder().raw_decode(page, start)[0]


def _with_value(page: str, name: str, value: Any) -> str:
    start = _start_of_value(page, name)
    end = json.JSONDecoder().raw_decode(page, start)[1]
    return page[:start] + script_value(value) + page[end:]


def _start_of_value(page: str, name: str) -> int:
    match = re.search(re.escape(name) + r"[^{\[]{0,40}?(?:\{\s*value: )?Object\.freeze\(", page)
    if match is None:
        raise unknown_marimo(f"no {name} in the page")
    return match.end()


def _settings(config: dict[str, Any]) -> dict[str, Any]:
    """Keep the settings that shape outputs; the theme is the reader's."""
    display = config.get("display", {})
    return {"display": {**{name: display[name] for name in SETTINGS if name in display}, "theme": "system"}}


def _widget_files(notifications: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Move the code of widgets out of their addresses into files of the page, one for each kind of widget."""
    codes: dict[str, str] = {}
    for notification in notifications:
        spec = notification["message"].get("esm_spec")
        if spec and spec["url"].startswith(_CODE_ADDRESS):
            name = f"@file/widget-{spec['hash']}.js"
            if f"/{name}" not in codes:
                module = b64decode(spec["url"].removeprefix(_CODE_ADDRESS)).decode()
                codes[f"/{name}"] = _CODE_ADDRESS + b64encode(_answering(module).encode()).decode()
            spec["url"] = f"./{name}"
    return notifications, codes


def _answering(module: str) -> str:
    """Let a widget answer from the tables in its state what Python would; code of others is left as it is."""
    own, n_exports = _DEFAULT_EXPORT.subn("const $widget = \\1;\n", module)
    if n_exports != 1 or "$modules" not in module:
        return module
    return own + (files("dojo_kit") / "templates" / "notebook_widget.js").read_text(encoding="utf-8")


def _numbered(page: str) -> str:
    """Replace the random ids of widgets and controls by numbers, in the order they occur."""
    found = dict.fromkeys(match[1] for match in _RANDOM.finditer(page))
    numbers = {random: f"{number:0{len(random)}d}" for number, random in enumerate(found, start=1)}
    return re.sub("|".join(map(re.escape, numbers)), lambda match: numbers[match[0]], page) if numbers else page


def _after(page: str, mark: str, text: str) -> str:
    if mark not in page:
        raise unknown_marimo(f"no {mark} in the page")
    return page.replace(mark, f"{mark}\n{text}", 1)


def _before(page: str, mark: str, text: str) -> str:
    before, found, after = page.rpartition(mark)
    if not found:
        raise unknown_marimo(f"no {mark} in the page")
    return f"{before}{text}\n{mark}{after}"


def _style_tag(styles: str) -> str:
    # marimo copies only style sheets of this title into the shadow roots of its elements.
    return '<style title="marimo">' + re.sub("</(?=style)", r"<\\/", styles, flags=re.IGNORECASE) + "</style>"


def _programs(parts: Frontend, entry: str) -> str:
    """Return the modules, packed, and the script that unpacks and starts them."""
    packed = gzip.compress(json.dumps(parts.modules).encode(), compresslevel=9, mtime=0)
    data = {"entry": PREFIX + entry, "leftOut": parts.left_out, "packed": b64encode(packed).decode()}
    start = (files("dojo_kit") / "templates" / "notebook_marimo.js").read_text(encoding="utf-8")
    return f'<script type="application/json" id="marimo-programs">{script_json(data)}</script>\n{script_tag(start)}'
