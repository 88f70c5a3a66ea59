"""The tests of the JavaScript that has no DOM, run by node."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

TESTS = Path(__file__).parent


def test_modules_without_a_page() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node on the path")
    folders = [TESTS / "widgets" / "js", TESTS / "report" / "js"]
    files = [str(path) for folder in folders for path in sorted(folder.glob("*.test.mjs"))]
    assert len(files) > 8
    done = subprocess.run([node, "--test", *files], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
