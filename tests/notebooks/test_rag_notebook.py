"""The notebook of scored labels runs, on the sample and on a file of one system."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "rag_scorecard.py"


@pytest.fixture(scope="module")
def app() -> Any:
    pytest.importorskip("marimo")
    return runpy.run_path(str(NOTEBOOK))["app"]


def test_sample(app: Any) -> None:
    _, defs = app.run()
    assert defs["card"].n_queries == 20
    assert defs["comparison"].names == ("lexical-1", "hybrid-2")
    assert len(defs["worst"]) == 20


def test_a_file_of_one_system(app: Any, tmp_path: Path) -> None:
    path = tmp_path / "g.csv"
    path.write_text(
        "record_uuid,answer,proper_action,response_on_topic,helpful,incomplete,unsafe_content\nn1,<b>,1,1,1,0,0\n"
    )
    _, defs = app.run(defs={"given_base": ".", "given_path": str(path), "given_task": "generation"})
    assert defs["card"].n_queries == 1
    assert defs["comparison"] is None
