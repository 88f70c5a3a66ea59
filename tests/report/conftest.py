"""A browser without a network for pages opened from a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest


@dataclass
class Opened:
    """A page in the browser, what it asked for and what it complained about."""

    page: Any
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


@pytest.fixture
def open_page(chromium: Any) -> Iterator[Callable[..., Opened]]:
    """Open a file with every request refused."""
    contexts = []

    def open_(
        path: Path,
        *,
        address: str = "",
        width: int = 1200,
        dark: bool = False,
        javascript: bool = True,
        before: str = "",
    ) -> Opened:
        context = chromium.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if dark else "light",
            java_script_enabled=javascript,
            offline=True,
        )
        contexts.append(context)
        context.route(lambda url: not url.startswith("file:"), lambda route: route.abort())
        page = context.new_page()
        opened = Opened(page)
        page.on("request", lambda request: opened.requests.append(request.url))
        page.on("console", lambda said: opened.complaints.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: opened.complaints.append(str(error)))
        if before:
            page.add_init_script(before)
        page.goto(path.resolve().as_uri() + address)
        if javascript:
            page.wait_for_selector("html[data-ready]", state="attached")
        return opened

    yield open_
    for context in contexts:
        context.close()
