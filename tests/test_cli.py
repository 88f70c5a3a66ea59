"""The command line: what is printed, what is written, how mistakes end."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dojo_kit.cli import main
from dojo_kit.scoring.frames import COLUMNS


@dataclass
class Outcome:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Dojo = Callable[..., Outcome]


@pytest.fixture
def dojo(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Dojo:
    """Run a command in this process."""
    monkeypatch.setenv("COLUMNS", "160")

    def run(*args: object) -> Outcome:
        monkeypatch.setattr("sys.argv", ["dojo", *map(str, args)])
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = int(stop.code or 0)
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return run


@pytest.fixture
def run_file(tmp_path: Path) -> Path:
    """Three predictions, one of a wrong type."""
    path = tmp_path / "run.jsonl"
    rows = [
        {"document": "a.pdf", "predicted": {"document_name": "Lease", "key_obligations": ["pay the rent on time"]}},
        {"document": "b.pdf", "predicted": {"document_name": "Loan", "key_obligations": "repay the loan in full"}},
        {"document": "c.pdf", "predicted": {"document_name": "Other"}},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def label_file(tmp_path: Path) -> Path:
    """Labels of the first two documents."""
    path = tmp_path / "labels.jsonl"
    rows = [
        {
            "document": "A",
            "fields": {"document_name": "Lease", "key_obligations": ["pay the rent on time", "keep it clean"]},
        },
        {"document": "B", "fields": {"document_name": "Loan Agreement"}},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_score_as_json(dojo: Dojo, run_file: Path, label_file: Path, tmp_path: Path) -> None:
    """``--json`` prints one object with recipe, counts, metrics and diagnostics; ``--out`` writes the frames."""
    done = dojo("score", run_file, "--labels", f"jsonl:{label_file}", "--out", tmp_path / "scored", "--json")
    result = done.json

    assert done.code == 0
    assert (result["n_documents"], result["n_scored"], result["n_failed"], result["n_unmatched"]) == (3, 2, 0, 1)
    overall = result["metrics"]["overall_extraction_score"]
    assert set(overall) >= {"value", "lo", "hi", "method", "n"}
    assert (overall["n"], overall["method"]) == (2, "percentile")
    assert result["diagnostics"]["n_fields_scored"] == 3
    assert result["recipe"]["spans"] == "all"
    for name, columns in COLUMNS.items():
        frame = pd.read_parquet(tmp_path / "scored" / f"{name}.parquet")
        assert list(frame.columns) == list(columns)
    assert json.loads((tmp_path / "scored" / "recipe.json").read_text()) == result["recipe"]


def test_score_for_people(dojo: Dojo, run_file: Path, label_file: Path) -> None:
    """The table holds metric, value, interval and n, the fields, what the interval covers, and the problems."""
    done = dojo("score", run_file, "--labels", label_file)

    assert done.code == 0
    assert "2 of 3 documents scored, 1 without labels" in done.out
    assert re.search(r"overall_extraction_score +0\.\d{3} +\[0\.\d{3}, 1\.000\] +2 +n < 20", done.out)
    assert "key_obligations" in done.out
    assert "sampling of documents only" in done.out
    assert "2 problems in the input" in done.err
    assert "the value is text; expected a list of texts" in done.err


def test_settings_reach_the_scorer(dojo: Dojo, run_file: Path, label_file: Path) -> None:
    """``--set`` changes a threshold and with it the recipe."""
    plain = dojo("score", run_file, "--labels", label_file, "--json").json
    strict = dojo("score", run_file, "--labels", label_file, "--set", "field_scoring.match_threshold=1", "--json").json

    assert plain["recipe"]["settings"] != strict["recipe"]["settings"]


def test_diagnose(dojo: Dojo, run_file: Path, label_file: Path) -> None:
    """Diagnostics come as tables and as JSON, with the same numbers as score."""
    shown = dojo("diagnose", run_file, "--labels", label_file)
    as_json = dojo("diagnose", run_file, "--labels", label_file, "--json").json
    scored = dojo("score", run_file, "--labels", label_file, "--json").json

    assert "field_exact_rate" in shown.out
    assert "error_decomposition" in shown.out
    assert as_json["diagnostics"] == scored["diagnostics"]


def test_explain(dojo: Dojo) -> None:
    """A pair of values: the score, the rule, every rule tried, what was read."""
    shown = dojo("explain", "date", "2014-05-20", "May 8, 2014")
    as_json = dojo("explain", "date", "2014-05-20", "May 8, 2014", "--json").json
    lists = dojo("explain", "entity_list:name", '["Acme Corp"]', '["Acme Inc", "Beta"]', "--json").json

    assert "0.67" in shown.out
    assert "date.same_month" in shown.out
    assert (as_json["score"], as_json["rule"], as_json["steps"][-1]["rule"]) == (
        0.67,
        "date.same_month",
        "date.same_month",
    )
    assert (lists["readings"]["precision"], lists["readings"]["recall"]) == (1.0, 0.5)


def test_verify(dojo: Dojo, tmp_path: Path) -> None:
    """A stored aggregate that does not follow from its rows is listed; ``--strict`` makes it exit 1."""
    record = {
        "type": "experiment",
        "task": "sorter_classification",
        "experiment_name": "x",
        "model": "m",
        "data_source": {},
        "parameters": {},
        "tokens": {},
        "scores": {"exact_match": 0.9},
        "n_rows": 2,
        "results": [
            {
                "filename": "a",
                "status": "completed",
                "error": None,
                "expected": "yes",
                "predicted": "yes",
                "correct": True,
            },
            {
                "filename": "b",
                "status": "completed",
                "error": None,
                "expected": "yes",
                "predicted": "no",
                "correct": False,
            },
        ],
    }
    path = tmp_path / "record.json"
    path.write_text(json.dumps(record))
    report = dojo("verify", path, "--json").json["runs"][0]

    assert {"name": "scores.exact_match", "stored": 0.9, "recomputed": 0.5}.items() <= report["differences"][0].items()
    assert dojo("verify", path).code == 0
    assert dojo("verify", path, "--strict").code == 1


MISTAKES: dict[str, tuple[str, str, list[str]]] = {
    "truncated JSON": ("run.json", '{"type": "experiment", "results": [{"filename": "a"', ["run.json", "line 1"]),
    "truncated line": ("run.jsonl", '{"document": "a", "predicted": {}}\n{"document": ', ["run.jsonl", "line 2"]),
    "empty run": ("run.jsonl", "", ["run.jsonl", "empty"]),
    "no document column": ("run.csv", "name2,parties\na,b\n", ["run.csv", "name2", "document"]),
    "two rows": ("run.csv", "document,document_name\na,x\na.pdf,y\n", ["run.csv", "line 3", "one row"]),
    "no overlap": ("run.csv", "document,document_name\nzzz,x\n", ["zzz", "labels"]),
    "not UTF-8": ("run.jsonl", b'{"document": "caf\xe9"}\n', ["run.jsonl", "UTF-8"]),
    "NaN": ("run.jsonl", '{"document": "a", "predicted": {"contract_value": NaN}}\n', ["run.jsonl", "line 1", "NaN"]),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_end_in_one_message_and_exit_2(dojo: Dojo, tmp_path: Path, label_file: Path, name: str) -> None:
    """Bad input is named by file, place and expectation; no traceback, nothing on standard output."""
    filename, content, words = MISTAKES[name]
    path = tmp_path / filename
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    done = dojo("score", path, "--labels", label_file, "--json")

    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("error: ")
    assert "Traceback" not in done.err
    for word in words:
        assert word in done.err


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["score", "none.json", "--labels", "none.jsonl"], ["none.json", "no such file"]),
        (["explain", "dat", "a", "b"], ["unknown field type 'dat'", "did you mean 'date'"]),
        (["explain", "date", "a", "b", "--set", "field_scoring.dayfirst=true"], ["did you mean 'day_first'"]),
        (["explain", "date", "a", "b", "--set", "day_first"], ["section.key=value"]),
        (["verify", "none.json"], ["none.json", "no such file"]),
        (["scroe"], ["scroe"]),
    ],
)
def test_mistaken_arguments(dojo: Dojo, args: list[str], words: list[str]) -> None:
    """A wrong name is answered with the right one."""
    done = dojo(*args)

    assert done.code == 2
    for word in words:
        assert word.lower() in done.err.lower()


def test_collect_scores_the_good_rows(dojo: Dojo, tmp_path: Path, label_file: Path) -> None:
    """``--on-error collect`` keeps going and lists what was left out."""
    path = tmp_path / "run.jsonl"
    path.write_text('{"document": "A", "predicted": {"document_name": "Lease"}}\n{broken\n')
    done = dojo("score", path, "--labels", label_file, "--on-error", "collect", "--json")

    assert done.code == 0
    assert done.json["n_scored"] == 1
    assert done.json["problems"][0]["line"] == 2


def test_version(dojo: Dojo) -> None:
    """The version is the package's."""
    assert dojo("--version").out == "dojo_kit 0.1.0\n"
