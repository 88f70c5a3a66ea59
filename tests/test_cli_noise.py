"""``dojo noise``: tables and a plain first sentence, JSON, the file, and how mistakes end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dojo_kit.runs.noise_files import read_noise
from dojo_kit.samples import sample_data
from tests.command_line import Dojo, runner

RUNS = sample_data() / "runs"
FAMILIES = sorted(RUNS.glob("subtype_*.json"))
EXTRACTIONS = sorted(RUNS.glob("extraction_v*_small*.json"))


@pytest.fixture
def dojo(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Dojo:
    """Run ``dojo noise`` in this process."""
    return runner(monkeypatch, capsys, "noise")


def test_tables_and_a_plain_first_sentence(dojo: Dojo) -> None:
    done = dojo(*FAMILIES)
    assert done.code == 0
    first = done.out.splitlines()[0]
    assert first.startswith(
        "6 pairs of reruns in 1 group among 4 runs: by chance alone subtype_accuracy changes by up to "
    )
    assert "may be rerun noise, whatever its own interval says." in done.words
    assert "names alone in 1 of 1 group: no hash of the text is stored." in done.words
    for part in ("pairs of reruns", "band of rerun noise", "documents whose label flips most often", "flips"):
        assert part in done.out
    assert done.out.count("\N{RIGHTWARDS ARROW}") == 6


def test_json_holds_everything_and_nothing_else_is_printed(dojo: Dojo) -> None:
    done = dojo(*FAMILIES, *EXTRACTIONS, "--json")
    result = done.json
    assert (done.code, done.err) == (0, "")
    assert result["n_runs"] == 12
    assert {(band["task"], band["metric"]): band["m"] for band in result["bands"]} == {
        ("contract_entity_extraction", "overall_extraction_score"): 5,
        ("subtype_classification", "subtype_accuracy"): 3,
    }
    assert all(band["band"] > band["rms"] > 0 for band in result["bands"])
    metrics = {pair["metric"] for pair in result["pairs"]}
    assert {"subtype_accuracy_equiv", "field_presence", "governing_law_score"} <= metrics
    pair = next(pair for pair in result["pairs"] if pair["metric"] == "subtype_accuracy")
    assert set(pair) >= {"run_a", "run_b", "n", "delta", "lo", "hi", "p", "n_flips", "flipped"}
    assert len(pair["flipped"]) == pair["n_flips"]
    assert result["summary"][0].startswith("13 pairs of reruns in 4 groups among 12 runs")
    assert (result["file"], result["pool"], result["problems"]) == (None, None, [])


def test_out_writes_a_file_that_can_be_read(dojo: Dojo, tmp_path: Path) -> None:
    path = tmp_path / "noise.json"
    done = dojo(*FAMILIES, "--out", path)
    assert done.code == 0
    assert f"written to {path}" in " ".join(done.err.split())
    floor = read_noise(path)
    assert len(floor.groups) == 1
    assert dojo(*FAMILIES, "--out", path, "--json").json["file"] == str(path)


def test_labels_score_extractions_anew(dojo: Dojo) -> None:
    stored = dojo(*EXTRACTIONS[:2], "--json").json
    anew = dojo(*EXTRACTIONS[:2], "--labels", sample_data() / "labels.json", "--spans", "first", "--json").json
    for result in (stored, anew):
        assert result["metrics"] == ["overall_extraction_score"]
        assert result["bands"][0]["band"] is None
        assert result["bands"][0]["reason"] == "rerun noise rests on 1 pair, a band needs 3"
    assert anew["bands"][0]["deltas"] != stored["bands"][0]["deltas"]


def test_an_unknown_band_shows_its_differences(dojo: Dojo) -> None:
    done = dojo(*EXTRACTIONS[:2])
    assert "The band is unknown: rerun noise rests on 1 pair, a band needs 3." in done.words
    assert "unknown, differences +0.0" in done.words


def test_metrics_can_be_chosen(dojo: Dojo) -> None:
    done = dojo(*FAMILIES, "--metric", "exact_match", "--metric", "subtype_accuracy_equiv", "--json")
    assert sorted(done.json["metrics"]) == ["exact_match", "subtype_accuracy_equiv"]
    assert len(done.json["bands"]) == 2

    alone = dojo(FAMILIES[0], "--metric", "subtype_acuracy")
    assert "did you mean 'subtype_accuracy'?" in alone.err
    wrong = dojo(*FAMILIES, "--metric", "subtype_acuracy")
    assert alone.code == wrong.code == 2
    assert "no run has the metric 'subtype_acuracy' (did you mean 'subtype_accuracy'?)" in wrong.err
    assert "recall:" not in wrong.err


def test_pooling_is_a_stated_choice(dojo: Dojo) -> None:
    done = dojo(*FAMILIES, "--pool", "surfaces", "--json")
    assert done.json["pool"] == "surfaces"
    assert [band["surface"] for band in done.json["bands"]] == [""]
    assert "all sets" in dojo(*FAMILIES, "--pool", "surfaces").out
    assert dojo(*FAMILIES, "--pool", "models").code == 2


def test_no_reruns_is_an_answer(dojo: Dojo, tmp_path: Path) -> None:
    done = dojo(RUNS / "docclass_small.json", FAMILIES[0], "--metric", "exact_match", "--out", tmp_path / "n.json")
    assert done.code == 0
    assert done.out.splitlines()[0] == "No reruns among 2 runs: rerun noise is not known."
    assert len(read_noise(tmp_path / "n.json")) == 0
    assert dojo(FAMILIES[0], "--json").json["bands"] == []


def test_excluded_pairs_and_doubts_are_shown(dojo: Dojo) -> None:
    done = dojo(*FAMILIES, FAMILIES[0])
    assert done.code == 0
    assert "pairs that are no reruns" in done.out
    assert "is the same run a second time" in done.words


def test_every_run_of_a_log_is_read(dojo: Dojo, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    records = [json.loads(path.read_text(encoding="utf-8")) for path in FAMILIES]
    log.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    assert dojo(log, "--json").json["bands"][0]["m"] == 3
    assert dojo(f"{log}#1", f"{log}#2", "--json").json["n_runs"] == 2


def test_names_from_files_cannot_steer_the_terminal(dojo: Dojo, tmp_path: Path) -> None:
    paths = []
    for number, path in enumerate(FAMILIES[:2]):
        record = json.loads(path.read_text(encoding="utf-8"))
        record["experiment_name"] = f"[red]\x1b[2Jrun {number}[/red]"
        paths.append(tmp_path / f"{number}.json")
        paths[-1].write_text(json.dumps(record), encoding="utf-8")
    done = dojo(*paths)
    assert done.code == 0
    assert "\x1b" not in done.out
    assert "[red]run 0[/red]" in done.out


def test_mistakes_end_in_one_message(dojo: Dojo, tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text("{", encoding="utf-8")
    for arguments in (
        (tmp_path / "none.json",),
        (bad,),
        (FAMILIES[0], "--labels", tmp_path / "none.json"),
        (FAMILIES[0], "--config", tmp_path / "none.toml"),
        (*FAMILIES, "--out", tmp_path),
        (),
    ):
        done = dojo(*arguments)
        assert done.code == 2
        assert "Traceback" not in done.err + done.out


def test_unusable_runs_can_be_collected(dojo: Dojo, tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text("{", encoding="utf-8")
    done = dojo(*FAMILIES, bad, "--on-error", "collect")
    assert done.code == 0
    assert "1 problem in the input" in done.err
    assert "bad.json" in done.err
    problems = dojo(*FAMILIES, bad, "--on-error", "collect", "--json").json["problems"]
    assert len(problems) == 1
    stopped = dojo(*FAMILIES, bad)
    assert stopped.code == 2
    assert "--on-error collect leaves out runs that cannot be used" in " ".join(stopped.err.split())
    assert "--on-error" not in dojo(bad).err
    assert dojo(bad, "--on-error", "collect").code == 2


def test_no_run_is_overwritten(dojo: Dojo, tmp_path: Path) -> None:
    copy = tmp_path / "run.json"
    copy.write_bytes(FAMILIES[1].read_bytes())
    done = dojo(FAMILIES[0], copy, "--out", copy)
    assert (done.code, done.out) == (2, "")
    assert "would be overwritten" in " ".join(done.err.split())
    assert copy.read_bytes() == FAMILIES[1].read_bytes()
