"""``dojo compare`` and ``dojo leaderboard``: the answer first, JSON as promised, mistakes that end with exit code 2."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dojo_kit.cli import main

ROOT = Path(__file__).resolve().parent.parent
RUNS, LABELS = ROOT / "data" / "runs", ROOT / "data" / "labels.json"
V1, V2 = RUNS / "extraction_v1_small.json", RUNS / "extraction_v2_small.json"
RERUN = RUNS / "extraction_v1_small_rerun.json"


@dataclass
class Outcome:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out, parse_constant=lambda word: pytest.fail(f"{word} in JSON"))


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


def test_the_first_line_answers(dojo: Dojo) -> None:
    found = dojo("compare", V1, V2, "--labels", LABELS)
    assert found.code == 0
    lines = found.out.splitlines()
    assert lines[0].startswith("extraction_v2_small scores higher than extraction_v1_small, but it may be rerun noise")
    assert lines[1].startswith("inconclusive: rerun noise not measured: ")
    assert "documents both answered (37): " in found.out
    assert "missing answers as the worst (40): " in found.out
    assert "got worse" in found.out
    assert "got better" in found.out
    assert "next: dojo noise --labels" in found.out


def test_json_holds_what_was_promised(dojo: Dojo) -> None:
    told = dojo("compare", V1, V2, "--labels", LABELS, "--json").json
    assert {"surface", "n", "metrics", "required_n", "mde"} <= told.keys()
    needed = {"a", "b", "delta", "lo", "hi", "p", "p_win", "verdict", "reason", "band"}
    assert all(needed <= metric.keys() for metric in told["metrics"].values())
    assert told["n"] == 40
    changes = [row["change"] for row in told["changed"]]
    assert changes == sorted(changes)
    assert told["changed"][0]["fields"][0][0]


def test_stored_scores_are_enough(dojo: Dojo) -> None:
    told = dojo("compare", V1, V2, "--json").json
    assert told["a"]["recipe"]["scorer_version"] is None
    assert told["headline"] == "overall_extraction_score"
    assert any("not known" in note for note in told["notes"])


def test_a_rerun_is_called_one(dojo: Dojo) -> None:
    found = dojo("compare", V1, RERUN)
    assert "is a rerun of" in found.out.splitlines()[0]
    assert dojo("compare", V1, RERUN, "--json").json["verdict"] == "rerun"


def test_one_metric(dojo: Dojo) -> None:
    found = dojo("compare", V1, V2, "--labels", LABELS, "--metric", "key_obligations_score")
    assert "key_obligations_score" in found.out.splitlines()[0]
    assert "field_presence" not in found.out


def test_noise_from_runs_and_from_a_file(dojo: Dojo, tmp_path: Path) -> None:
    v2_rerun = RUNS / "extraction_v2_small_rerun.json"
    runs = ["--noise", V1, "--noise", RERUN, "--noise", V2, "--noise", v2_rerun]
    v3 = RUNS / "extraction_v3_small.json"
    told = dojo("compare", V1, v3, *runs, "--json").json
    assert told["noise"] == [str(word) for word in runs[1::2]]
    assert told["metrics"]["overall_extraction_score"]["band_m"] == 1
    file = tmp_path / "noise.json"
    assert dojo("noise", V1, RERUN, V2, v2_rerun, "--out", file).code == 0
    assert dojo("compare", V1, v3, "--noise", file, "--json").json["metrics"] == told["metrics"]
    both = dojo("compare", V1, v3, "--noise", file, "--noise", V1)
    assert both.code == 2
    assert "a noise file stands alone" in both.err


def test_labels_of_the_rows_are_compared(dojo: Dojo, tmp_path: Path) -> None:
    a, b = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    for path, right in ((a, 3), (b, 6)):
        answers = ["yes" if index < right else "no" for index in range(8)]
        rows = [{"filename": f"d{i}.txt", "expected": "yes", "predicted": said} for i, said in enumerate(answers)]
        path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    told = dojo("compare", a, b, "--json").json
    assert told["metrics"]["exact_match"]["delta"] == pytest.approx(0.375)
    assert [row["predicted_b"] for row in told["changed"]] == ["yes"] * 3
    subtype = RUNS / "subtype_small.json"
    refused = dojo("compare", subtype, subtype, "--labels", LABELS)
    assert refused.code == 2
    assert "say themselves what is right" in refused.err


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ((V1, V1), "a run compared with itself"),
        ((V1, RUNS / "subtype_small.json"), "runs of different tasks are never compared"),
        ((V1, RUNS / "absent.json"), "no such file"),
        ((V1, V2, "--metric", "overal_extraction_score"), "did you mean 'overall_extraction_score'?"),
        ((V1, V2, "--allow", "surfaces"), "'surfaces' is not one of"),
        ((V1, V2, "--documents", ROOT / "data" / "documents"), "--documents: stored scores are compared as they are"),
        ((V1, V2, "--noise", ROOT / "absent.json"), "no such file"),
        ((V1, V2, "--labels", ROOT / "absent"), "absent"),
    ],
)
def test_mistakes_end_with_one_message(dojo: Dojo, args: tuple[object, ...], says: str) -> None:
    found = dojo("compare", *args)
    assert found.code == 2
    assert says in " ".join(found.err.split())
    assert "Traceback" not in found.err
    assert found.out == ""


def test_another_surface_needs_a_word(dojo: Dojo, tmp_path: Path) -> None:
    record = json.loads(V2.read_text(encoding="utf-8"))
    record["results"] = record["results"][:30]
    cut = tmp_path / "cut.json"
    cut.write_text(json.dumps(record), encoding="utf-8")
    refused = dojo("compare", V1, cut)
    assert refused.code == 2
    assert "the 30 of the second are a subset of the 40 of the first" in refused.err
    allowed = dojo("compare", V1, cut, "--allow", "surface")
    assert allowed.code == 0
    assert "10 documents only in A, left out" in allowed.out
    assert "allowed: their documents differ" in allowed.out


def test_hostile_names_do_not_steer_the_terminal(dojo: Dojo, tmp_path: Path) -> None:
    record = json.loads(V2.read_text(encoding="utf-8"))
    record["experiment_name"] = "\x1b[31m[bold]x"
    hostile = tmp_path / "hostile.json"
    hostile.write_text(json.dumps(record), encoding="utf-8")
    found = dojo("compare", V1, hostile)
    assert found.code == 0
    assert "\x1b[31m" not in found.out
    assert "[bold]x" in found.out


def test_a_leaderboard(dojo: Dojo) -> None:
    runs = [*sorted(RUNS.glob("extraction_*.json")), RUNS / "subtype_small.json"]
    found = dojo("leaderboard", *runs, "--labels", LABELS)
    assert found.code == 2
    assert "say themselves what is right" in found.err
    extractions = runs[:-1]
    found = dojo("leaderboard", *extractions, "--labels", LABELS)
    assert found.code == 0
    assert "leads" in found.out.splitlines()[0]
    told = dojo("leaderboard", *extractions, "--labels", LABELS, "--json").json
    (board,) = told["boards"]
    assert len(board["runs"]) == len(extractions)
    assert board["runs"][0]["rank"] == 1
    assert isinstance(told["regressions"], list)


def test_a_leaderboard_keeps_tasks_apart(dojo: Dojo) -> None:
    found = dojo("leaderboard", V1, V2, RUNS / "subtype_small.json")
    assert found.out.splitlines()[0].startswith("3 runs in 2 tables; ")


def test_public_runs_on_the_command_line(dojo: Dojo, real_data: Path) -> None:
    runs = real_data / "runs"
    told = dojo("compare", runs / "043.json", runs / "046.json", "--json").json
    metric = told["metrics"]["overall_extraction_score"]
    assert metric["delta"] == pytest.approx(0.0101, abs=5e-5)
    assert told["mde"] == pytest.approx(0.0204, abs=5e-5)
    assert dojo("compare", runs / "075.json", runs / "078.json", "--json").json["verdict"] == "rerun"
    for pair in (("019", "043"), ("060", "063"), ("051", "052")):
        assert dojo("compare", *(runs / f"{number}.json" for number in pair)).code == 2
