"""``dojo compare`` and ``dojo leaderboard``: the answer first, JSON as promised, mistakes that end with exit code 2."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command_line import Dojo

ROOT = Path(__file__).resolve().parent.parent
RUNS, LABELS = ROOT / "data" / "runs", ROOT / "data" / "labels.json"
V1, V2 = RUNS / "extraction_v1_small.json", RUNS / "extraction_v2_small.json"
RERUN = RUNS / "extraction_v1_small_rerun.json"


def test_the_first_line_answers(dojo: Dojo) -> None:
    found = dojo("compare", V1, V2, "--labels", LABELS)
    assert found.code == 0
    lines = found.out.splitlines()
    assert lines[0].startswith("extraction_v2_small is above extraction_v1_small by +")
    assert lines[0].endswith("but rerun noise is not known: not yet a finding.")
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
    assert "are reruns of one setting" in found.out.splitlines()[0]
    assert found.out.splitlines()[0].endswith("is rerun noise and failed calls.")
    assert dojo("compare", V1, RERUN, "--json").json["verdict"] == "rerun"


def test_one_metric(dojo: Dojo) -> None:
    found = dojo("compare", V1, V2, "--labels", LABELS, "--metric", "key_obligations_score")
    assert "key obligations score" in found.out.splitlines()[0]
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


def test_nothing_that_was_read_is_overwritten(dojo: Dojo, tmp_path: Path) -> None:
    copy, folder = tmp_path / "run.json", tmp_path / "labels"
    copy.write_bytes(V2.read_bytes())
    folder.mkdir()
    labels = folder / "labels.json"
    labels.write_bytes(LABELS.read_bytes())
    link = tmp_path / "link.json"
    link.symlink_to(copy)
    for out in (copy, link, labels):
        found = dojo("compare", V1, copy, "--labels", labels, "--out", out)
        assert (found.code, found.out) == (2, "")
        assert "is an input of this command and would be overwritten" in " ".join(found.err.split())
    within = dojo("compare", V1, copy, "--labels", f"cuad:{folder}", "--out", labels)
    assert "would be overwritten" in " ".join(within.err.split())
    assert (copy.read_bytes(), labels.read_bytes()) == (V2.read_bytes(), LABELS.read_bytes())


def test_a_mistyped_metric_is_named(dojo: Dojo) -> None:
    found = dojo("leaderboard", V1, V2, "--metric", "overal_extraction_score")
    assert (found.code, found.out) == (2, "")
    assert "did you mean 'overall_extraction_score'?" in " ".join(found.err.split())


def test_a_run_that_cannot_be_used_is_listed_and_left_out(dojo: Dojo, tmp_path: Path) -> None:
    bad, scoreless = tmp_path / "bad.json", tmp_path / "scoreless.jsonl"
    bad.write_text("{", encoding="utf-8")
    scoreless.write_text('{"filename": "a", "extracted": {}}\n', encoding="utf-8")
    runs = (V1, bad, scoreless, V2)
    stopped = dojo("leaderboard", *runs)
    assert stopped.code == 2
    assert "--on-error collect leaves out runs that cannot be used" in " ".join(stopped.err.split())
    told = dojo("leaderboard", *runs, "--on-error", "collect", "--json").json
    assert len(told["boards"][0]["runs"]) == 2
    assert {Path(problem["source"]).name for problem in told["problems"]} == {"bad.json", "scoreless.jsonl"}
    floor = dojo("compare", V1, V2, "--noise", bad, "--noise", RERUN, "--noise", V1, "--on-error", "collect", "--json")
    assert floor.code == 0
    assert any(problem["source"].endswith("bad.json") for problem in floor.json["problems"])
    for arguments in (("compare", V1, bad), ("leaderboard", bad, scoreless)):
        assert dojo(*arguments, "--on-error", "collect").code == 2


def test_two_samples_have_no_ups_and_downs(dojo: Dojo, tmp_path: Path) -> None:
    halves = []
    for path, part in ((V1, slice(0, 20)), (V2, slice(20, None))):
        record = json.loads(path.read_text(encoding="utf-8"))
        record["results"] = record["results"][part]
        halves.append(tmp_path / path.name)
        halves[-1].write_text(json.dumps(record), encoding="utf-8")
    found = dojo("compare", *halves, "--allow", "surface")
    assert found.code == 0
    assert "no document in common: two samples, not pairs" in found.out
    assert "up/down" not in found.out
    assert "No document changed" not in found.out


def test_runs_that_do_not_differ_promise_no_detectable_difference(dojo: Dojo, tmp_path: Path) -> None:
    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for path in paths:
        rows = [{"filename": f"d{i}", "expected": "yes", "predicted": "yes", "reasoning": path.name} for i in range(8)]
        path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    found = dojo("compare", *paths)
    assert "trials with 8 documents: unknown, as no two differ" in found.out


def test_questions_are_called_questions(dojo: Dojo, tmp_path: Path) -> None:
    paths = []
    for name, right in (("a", 5), ("b", 9)):
        rows = [
            {
                "id": f"{contract}__{index}",
                "title": contract,
                "category": "Insurance",
                "label_spans": ["the clause"],
                "predicted": "the clause" if 4 * at + index < right else "No related clause.",
            }
            for at, contract in enumerate("ABC")
            for index in range(4)
        ]
        record = {
            "experiment_name": name,
            "task": "contracteval",
            "model": "m",
            "prompt_version": name,
            "results": rows,
        }
        paths.append(tmp_path / f"{name}.json")
        paths[-1].write_text(json.dumps(record), encoding="utf-8")
    found = dojo("compare", *paths)
    assert found.code == 0, found.err
    assert "12 questions in 3 contracts" in found.out
    assert "questions: 4 got better" in found.out
    assert "document" not in found.out.split("next:")[0].replace("documents only", "")


def test_public_runs_on_the_command_line(dojo: Dojo, real_data: Path) -> None:
    runs = real_data / "runs"
    told = dojo("compare", runs / "043.json", runs / "046.json", "--json").json
    metric = told["metrics"]["overall_extraction_score"]
    assert metric["delta"] == pytest.approx(0.0101, abs=5e-5)
    assert [round(metric[name], 4) for name in ("lo", "hi")] == [-0.0031, 0.0257]
    assert told["mde"] == pytest.approx(0.0204, abs=5e-5)
    assert dojo("compare", runs / "075.json", runs / "078.json", "--json").json["verdict"] == "rerun"
    for pair in (("019", "043"), ("060", "063"), ("051", "052")):
        assert dojo("compare", *(runs / f"{number}.json" for number in pair)).code == 2
