"""The committed sample: its manifest, and its extraction runs read and scored once."""

from __future__ import annotations

import json
from typing import Any

import pytest
from checked_sample import DATA, Checked, read_sample


@pytest.fixture(scope="session")
def manifest() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((DATA / "manifest.json").read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="session")
def sample() -> list[Checked]:
    return read_sample(DATA)
