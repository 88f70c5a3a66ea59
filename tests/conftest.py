"""Fixtures shared by all tests."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.command_line import Dojo, runner

# Examples are the same in every run, and a slow machine is no failure.
settings.register_profile("dojo", deadline=None, derandomize=True)
settings.load_profile("dojo")

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Folder with the public data sets; tests that need it skip where it is absent."""
    folder = Path(os.environ.get("DOJO_REAL_DATA", ROOT / ".." / "shared" / "data")).resolve()
    if not folder.is_dir():
        pytest.skip(f"real data not found at {folder}; set DOJO_REAL_DATA to run this test")
    return folder


CHROMIUM_ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Headless Chromium, one for all tests: Playwright allows no second session beside it."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("no chromium on the path")
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def dojo(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Dojo:
    """Run a command in this process."""
    return runner(monkeypatch, capsys)
