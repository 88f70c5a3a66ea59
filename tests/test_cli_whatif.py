"""``dojo whatif``: a first sentence that answers, JSON, files, and how mistakes end."""

from __future__ import annotations

from pathlib import Path

import pytest

from dojo_kit.samples import sample_data
from tests.command_line import Dojo, runner

FAMILIES = sorted((sample_data() / "runs").glob("subtype_*.json"))
COMMANDS = ("corpus", "committee", "escalate", "ablate", "failures", "exemplars", "check")


@pytest.fixture
def dojo(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Dojo:
    """Run ``dojo whatif`` in this process."""
    return runner(monkeypatch, capsys, "whatif")


@pytest.mark.parametrize(
    ("command", "first"),
    [
        ("corpus", "160 rows of 4 runs with 4 experiment names; 8 calls failed (5.00 %)."),
        ("committee", "5 votes of pool all: 0.8198 [0.7073, 0.9172] of 40 documents right, +0.7 pp [\u22121.1, 2.6] "
         "over one vote; with ever more votes it tends to 0.8250."),
        ("escalate", "Escalating the 15 % least sure (6 of 40) to a model of accuracy 0.95: 0.8925 [0.8037, 0.9650], "
         "+8.0 pp for 1.30 times the cost, routed by confidence."),
        ("ablate", "No two prompts of one model share enough documents to be compared."),
        ("failures", "3 tries and a fallback that helps 97 %: 0.0004 % of documents fail for good if tries are "
         "independent; 0.0004 % if they share an outage: 1.2 of 320,000."),
        ("exemplars", "0 examples of 0 confusions may repair 0.0 of 30 errors, in 0 of 12,000 characters."),
        ("check", "The 6 least sure documents are simulated to be right on 0.4167 [0.2917, 0.5833]; run them, and give "
         "the run as --measured."),
    ],
)  # fmt: skip
def test_the_first_sentence_answers(dojo: Dojo, command: str, first: str) -> None:
    done = dojo(command, *FAMILIES)
    assert (done.code, done.out.splitlines()[0]) == (0, first)


@pytest.mark.parametrize("command", COMMANDS)
def test_json_is_one_object_and_nothing_else(dojo: Dojo, command: str) -> None:
    done = dojo(command, *FAMILIES, "--json")
    assert (done.code, done.err) == (0, "")
    assert isinstance(done.json, dict)
    assert done.json["problems"] == []


def test_committee_json_has_the_promised_shape(dojo: Dojo) -> None:
    found = dojo("committee", *FAMILIES, "--json").json
    assert [row["k"] for row in found["rows"]] == [1, 2, 3, 5, 7, 10, 15, 25]
    assert all(row["lo"] < row["accuracy"] < row["hi"] for row in found["rows"])
    assert found["limit"] == pytest.approx(0.825)
    assert found["limit_lo"] < found["limit"] < found["limit_hi"]
    assert set(found["per_class"][0]) >= {"label", "n", "k", "accuracy"}
    chosen = dojo("committee", *FAMILIES, "--votes", 4, "--pool", "rerun", "--json").json
    assert [row["k"] for row in chosen["rows"]] == [4]
    assert chosen["votes"]["held_fixed"] == {"model": "sample/small-1", "prompt": "sample_sorter_v1"}


def test_a_seed_moves_intervals_and_nothing_else(dojo: Dojo) -> None:
    one, other = (dojo("committee", *FAMILIES, "--seed", seed, "--json").json for seed in (42, 7))
    assert one["seed"] == 42
    assert one["rows"][3]["accuracy"] == other["rows"][3]["accuracy"]
    assert one["rows"][3]["lo"] != other["rows"][3]["lo"]
    assert one["rows"] == dojo("committee", *FAMILIES, "--json").json["rows"]


def test_a_written_corpus_stands_for_its_runs(dojo: Dojo, tmp_path: Path) -> None:
    path = tmp_path / "corpus.parquet"
    written = dojo("corpus", *FAMILIES, "--out", path)
    assert f"written to {path}" in " ".join(written.err.split())
    assert dojo("corpus", path).out == written.out
    assert dojo("committee", path, "--json").json["rows"] == dojo("committee", *FAMILIES, "--json").json["rows"]
    mixed = dojo("committee", path, "--legacy")
    assert (mixed.code, mixed.out) == (2, "")
    assert "was written without --legacy" in mixed.err


def test_real_answers_of_another_run(dojo: Dojo, tmp_path: Path) -> None:
    """It does not vote, its answers count on the tail, and the list of candidates can be written."""
    path = tmp_path / "candidates.txt"
    done = dojo("escalate", *FAMILIES, "--stronger", "subtype_small_rerun_3", "--out", path)
    assert "With the real answers of subtype_small_rerun_3 it is 0." in done.words
    assert "from 3 runs" in done.words
    lines = path.read_text().splitlines()
    assert len(lines) == 6
    confidences = [float(line.split("\t")[0]) for line in lines]
    assert confidences == sorted(confidences)
    unknown = dojo("escalate", *FAMILIES, "--stronger", "subtype_small_rerun_4")
    assert unknown.code == 2
    assert "did you mean 'subtype_small_rerun_3'" in unknown.err


def test_check_holds_a_simulation_against_a_run(dojo: Dojo, tmp_path: Path) -> None:
    path = tmp_path / "documents.txt"
    done = dojo("check", *FAMILIES[:3], "--measured", FAMILIES[3], "--out", path)
    assert done.out.splitlines()[0].endswith("simulations hold: the difference to the real run may be 0.")
    assert len(path.read_text().splitlines()) == 6
    checks = dojo("check", *FAMILIES[:3], "--measured", FAMILIES[3], "--json").json["checks"]
    assert [check["name"] for check in checks] == ["tail 0.15", "4 commonest confusions"]
    assert all(check["delta"]["n"] == check["documents"] - check["missing"] for check in checks)


def test_report_writes_one_page(dojo: Dojo, tmp_path: Path) -> None:
    path = tmp_path / "what_if.html"
    done = dojo("report", *FAMILIES, "--out", path)
    assert done.code == 0
    assert "opens offline" in done.out
    page = path.read_text()
    assert "<h1>5 votes would buy +0.7 pp over 0.812" in page
    assert "dojo whatif report" in page


def test_legacy_reads_rows_as_published(dojo: Dojo) -> None:
    """Votes for no known label are dropped, and pairs of prompts are ordered."""
    found = dojo("committee", *FAMILIES, "--legacy", "--json").json
    assert (found["legacy"], found["votes"]["unknown"]) == (True, "dropped")
    assert {row["method"] for row in found["rows"]} == {"simulated"}
    assert dojo("escalate", *FAMILIES, "--legacy").words.count("published formula") > 0


def test_examples_are_counted_in_tokens(dojo: Dojo, tmp_path: Path) -> None:
    """A tokenizer's file decides what the budget counts."""
    tokenizers = pytest.importorskip("tokenizers", reason="the extra 'embeddings' is not installed")
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0, "?": 1}, unk_token="?"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    path = tmp_path / "tokenizer.json"
    made.save(str(path))
    found = dojo("exemplars", *FAMILIES, "--tokenizer", path, "--budget", 500, "--json").json
    assert (found["unit"], found["budget"]) == ("tokens", 500)


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("committee", "nowhere.json"), "nowhere.json"),
        (("committee", *FAMILIES, "--task", "docclas"), "no rows of task 'docclas'"),
        (("committee", *FAMILIES, "--pool", "rerun", "--prompt", "v9"), "no votes of prompt 'v9'"),
        (("committee", *FAMILIES, "--overrides", "a.json"), "expected --legacy"),
        (("escalate", *FAMILIES, "--out", ""), "--out"),
        (("exemplars", *FAMILIES, "--tokenizer", str(FAMILIES[0])), "is no tokenizer"),
        (("check", *FAMILIES, "--measured", "nowhere.json"), "nowhere.json"),
    ],
)
def test_mistakes_end_in_one_message(dojo: Dojo, args: tuple[object, ...], says: str) -> None:
    done = dojo(*args)
    assert (done.code, done.out) == (2, "")
    assert says in " ".join(done.err.split())
    assert "Traceback" not in done.err


def test_published_figures_from_the_command_line(dojo: Dojo, real_data: Path, tmp_path: Path) -> None:
    """The committee table, the tail and the failure table, to the printed digit."""
    path = tmp_path / "legacy.parquet"
    overrides = real_data / "analysis" / "legacy_overrides.json"
    first = dojo("corpus", real_data / "runs", "--legacy", "--overrides", overrides, "--out", path).out.splitlines()[0]
    assert first == "17,691 rows of 77 runs with 59 experiment names; 42 calls failed (0.2374 %)."
    committee = dojo("committee", path, "--legacy", "--task", "subtype").words
    for row in ("1 0.9209 [0.9041, 0.9369]", "3 0.9362 [0.9190, 0.9518]", "25 0.9513 [0.9338, 0.9676]"):
        assert row in committee
    assert (
        "76 least sure documents are simulated to be right on 0.6392"
        in dojo("check", path, "--legacy", "--task", "subtype").words
    )
    failed = dojo("failures", path, "--legacy").words
    assert "1 on 0.0040 %" in failed
    assert "1 off 0.2020 %" in failed


def test_default_figures_from_the_command_line(dojo: Dojo, real_data: Path, tmp_path: Path) -> None:
    path = tmp_path / "corpus.parquet"
    done = dojo("corpus", real_data / "runs", "--out", path)
    assert done.out.splitlines()[0] == "18,590 rows of 87 runs with 69 experiment names; 383 calls failed (2.06 %)."
    found = dojo("committee", path, "--task", "subtype", "--json").json
    assert found["votes"]["votes"] == 14_291
    assert round(found["rows"][0]["accuracy"], 4) == 0.9093
    assert round(found["limit"], 4) == 0.9479


def test_a_gain_does_not_depend_on_the_shares_asked_for(dojo: Dojo) -> None:
    whole = dojo("escalate", *FAMILIES).out.splitlines()[0]
    assert dojo("escalate", *FAMILIES, "--alpha", "0.15").out.splitlines()[0] == whole
    small = dojo("escalate", *FAMILIES, "--alpha", "0.005").words
    assert small.startswith("Escalating the 0.5 % least sure (0 of 40)")


def test_a_file_given_twice_is_said(dojo: Dojo) -> None:
    done = dojo("committee", FAMILIES[0], FAMILIES[0])
    assert "1 run that is a copy of another" in done.err
    assert done.out == dojo("committee", FAMILIES[0]).out


def test_one_vote_a_document_is_an_artefact(dojo: Dojo) -> None:
    words = dojo("committee", FAMILIES[0]).words
    assert "that nothing changes is an artefact" in words
    assert "draws from one run of one model and one prompt" in words


def test_the_level_of_the_settings_is_in_the_headers(dojo: Dojo, tmp_path: Path) -> None:
    config = tmp_path / "c.toml"
    config.write_text("[statistics]\nconfidence = 0.8\n")
    for command in ("committee", "failures"):
        words = dojo(command, *FAMILIES, "--config", config).words
        assert "80 %" in words
        assert "95 %" not in words


def test_the_measured_run_takes_no_part_in_the_votes(dojo: Dojo, tmp_path: Path) -> None:
    copy = tmp_path / "copy.json"
    copy.write_bytes(FAMILIES[0].read_bytes())
    done = dojo("check", *FAMILIES, "--measured", copy, "--json").json
    assert done["runs_that_do_not_vote"] == [FAMILIES[0].stem]
    without = dojo("check", *FAMILIES[1:], "--json").json
    assert done["slices"][0]["simulated"] == without["slices"][0]["simulated"]
    said = dojo("check", *FAMILIES, "--measured", copy).words
    assert f"{FAMILIES[0].stem} of the corpus is the measured run" in said


def test_real_answers_say_how_many_and_both_fronts(dojo: Dojo) -> None:
    words = dojo("escalate", *FAMILIES, "--stronger", "subtype_small_rerun_3").words
    assert "of 40 documents, and is right on" in words
    assert "front, real" in words
