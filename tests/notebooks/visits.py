"""A browser that reaches this machine only, and keeps a list of what a page asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

LOOPBACK = {"127.0.0.1", "localhost", ""}
"""Hosts of this machine; files and data have none."""


@dataclass
class Visit:
    """A page in the browser.

    Attributes:
        page: Playwright's page.
        outside: Addresses of other machines that were asked for, and refused.
        complaints: Errors on the console, and exceptions nobody caught.
    """

    page: Any
    outside: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


@contextmanager
def visit(browser: Any, address: str, *, width: int = 1200, height: int = 1200, dark: bool = False) -> Iterator[Visit]:
    """Open an address.

    Args:
        browser: The fixture `chromium`.
        address: A ``file:`` address, or one of this machine.
        width: Width of the window.
        height: Height of the window.
        dark: Whether the system prefers dark pages.
    """
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light")
    page = context.new_page()
    visited = Visit(page)

    def refuse(route: Any) -> None:
        visited.outside.append(route.request.url)
        route.abort()

    context.route(lambda url: urlsplit(url).hostname is not None and urlsplit(url).hostname not in LOOPBACK, refuse)
    page.on("console", lambda said: visited.complaints.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: visited.complaints.append(str(error)))
    page.goto(address)
    yield visited
    context.close()
