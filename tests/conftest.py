"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

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
