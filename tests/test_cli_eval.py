"""``dojo eval``: scores, agreement, comparison, what is written where, and how mistakes end."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from dojo_kit.samples import sample_data
from tests.command_line import Dojo, runner

LENIENT = ("--tie", "drop", "--on-incomplete", "skip", "--on-violation", "as_is")
RETRIEVAL = "annotation/exports/2026-05/retrieval.csv"


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A copy of the sample workspace."""
    return Path(shutil.copytree(sample_data() / "rag", tmp_path / "rag"))


@pytest.fixture
def dojo(base: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Dojo:
    """Run ``dojo eval`` in the workspace."""
    monkeypatch.chdir(base)
    return runner(monkeypatch, capsys, "eval")


def written(base: Path) -> list[str]:
    """Return what lies in the workspace besides the sample."""
    sample = sample_data() / "rag"
    found = (path.relative_to(base) for path in sorted(base.rglob("*")))
    return [str(path) for path in found if not (sample / path).exists()]


# --- score -------------------------------------------------------------------------------------------------


def test_the_latest_export_is_scored_and_named(dojo: Dojo, base: Path) -> None:
    done = dojo("score", "--task", "retrieval", "--system", "hybrid-2", *LENIENT)
    assert (done.code, done.err) == (0, "")
    first, *_ = done.out.splitlines()
    assert first.startswith("hybrid-2: 14 of 20 queries find sufficient evidence (0.700 [0.481, 0.855])")
    assert "the latest of 2 exports of retrieval" in done.words
    assert "sufficiency_hit_at_k" in done.out
    assert "they do not cover label errors" in done.words
    folder, score_id, file = written(base)[-3:]
    assert (folder, file) == ("eval/scores", f"{score_id}/retrieval_scores.json")
    assert f"score id {Path(score_id).name}" in done.out
    scores = json.loads((base / file).read_text())
    assert scores["sufficiency_hit_at_k"]["point"] == 0.7


def test_json_is_the_score_file(dojo: Dojo, base: Path) -> None:
    done = dojo("score", "--task", "generation", "--system", "hybrid-2", "--score-id", "may", "--ci", "0.975", "--json")
    assert (done.code, done.err) == (0, "")
    printed = done.json
    file = Path(printed.pop("file"))
    assert file == base / "eval/scores/may/generation_scores.json"
    assert json.loads(file.read_text()) == printed
    assert (printed["ci_level"], printed["score_id"]) == (0.975, "may")


def test_levels_are_not_rounded(dojo: Dojo) -> None:
    done = dojo("score", "--task", "generation", "--system", "hybrid-2", "--ci", "0.999")
    assert "99.9 % interval" in done.out


def test_three_tasks_share_an_id_and_nothing_is_overwritten(dojo: Dojo, base: Path) -> None:
    common = ("--system", "lexical-1", "--on-violation", "as_is", "--score-id", "may")
    assert [dojo("score", "--task", task, *common).code for task in ("grounding", "generation")] == [0, 0]
    before = (base / "eval/scores/may/grounding_scores.json").read_bytes()
    again = dojo("score", "--task", "grounding", "--seed", "7", *common)
    assert again.code == 2
    assert "is there already" in again.err
    assert (base / "eval/scores/may/grounding_scores.json").read_bytes() == before
    assert dojo("score", "--task", "grounding", "--seed", "7", *common, "--force").code == 0
    assert json.loads((base / "eval/scores/may/grounding_scores.json").read_text())["seed"] == 7


def test_labels_by_a_model_are_marked(dojo: Dojo) -> None:
    done = dojo("score", "--task", "retrieval", "--prediction-id", "evaluator-small-1")
    assert done.code == 0
    assert done.out.splitlines()[0].endswith("(labels by model)")
    rows = [line for line in done.out.splitlines() if "_at_k" in line]
    assert len(rows) == 6
    assert all("labels by model" in row for row in rows)


def test_bounds_and_groups(dojo: Dojo) -> None:
    lenient = ("--tie", "drop", "--on-incomplete", "bounds", "--on-violation", "as_is", "--system", "lexical-1")
    done = dojo("score", "--task", "retrieval", *lenient)
    assert "6 to 9 of 24 queries find sufficient evidence (0.250 to 0.375)" in done.out
    grouped = dojo("score", "--task", "grounding", "--system", "hybrid-2", "--group-by", "document")
    assert "design effect" in grouped.out
    assert "groups of queries by document" in grouped.words


def test_config_and_command_line(dojo: Dojo, base: Path) -> None:
    (base / "eval.yaml").write_text(
        "task: retrieval\nexport_id: 2026-05\nprediction_id: evaluator-small-1\nseed: 7\nscore_id: from-file\n"
    )
    refused = dojo("score", "--config", "eval.yaml")
    assert refused.code == 2
    assert "export_id and prediction_id exclude each other" in refused.err
    done = dojo("score", "--config", "eval.yaml", "--export-id", "2026-04-pilot", "--json")
    assert (done.json["source"]["ref"], done.json["seed"], done.json["score_id"]) == ("2026-04-pilot", 7, "from-file")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((), "task is missing: one of retrieval, grounding, generation"),
        (("--task", "retreival"), "unknown task 'retreival' (did you mean 'retrieval'?)"),
        (("--task", "retrieval", "--path", "a", "--export-id", "b"), "path and export_id exclude each other"),
        (("--task", "retrieval", "--path", "none.csv"), "none.csv: no such file"),
        (("--task", "retrieval"), "2 systems in one table: 'hybrid-2', 'lexical-1'"),
        (("--task", "retrieval", "--system", "hybrid"), "no system 'hybrid' (did you mean 'hybrid-2'?)"),
        (("--task", "retrieval", "--system", "hybrid-2"), "votes are tied"),
        (("--task", "retrieval", "--system", "hybrid-2", "--tie", "drop"), "sufficient evidence is relevant"),
        (("--task", "retrieval", "--system", "hybrid-2"), "3 queries with an incomplete panel (option on_incomplete)"),
        (("--task", "retrieval", "--group-by", ""), "group_by is empty"),
        (
            ("--task", "retrieval", "--system", "hybrid-2", "--tie", "drop", "--on-violation", "as_is"),
            "3 queries with an incomplete panel",
        ),
        (("--task", "grounding", "--system", "hybrid-2", "--group-by", "doc"), "no such column"),
        (("--task", "grounding", "--system", "hybrid-2", "--ci", "95"), "must lie between 0 and 1"),
        (("--task", "grounding", "--system", "hybrid-2", "--n-resamples", "0"), "n_resamples must be at least 1"),
        (("--task", "grounding", "--system", "hybrid-2", "--seed", "-1"), "seed must not be negative"),
        (("--task", "grounding", "--system", "hybrid-2", "--tie", "frist"), "did you mean 'first'?"),
        (("--task", "grounding", "--system", "hybrid-2", "--score-id", "../../x"), "is not the name of a folder"),
        (("--task", "grounding", "--system", "hybrid-2", "--report", "."), "is no file"),
        (("--task", "grounding", "--export-id", "../../x"), "is not the name of a folder"),
        (("--task", "grounding", "--config", "none.yaml"), "none.yaml: cannot read settings"),
    ],
)
def test_mistakes_end_in_one_message_and_leave_nothing(
    dojo: Dojo, base: Path, args: tuple[str, ...], message: str
) -> None:
    done = dojo("score", *args)
    assert done.code == 2
    assert done.out == ""
    assert message in " ".join(done.err.split())
    assert done.err.count("error:") == 1
    assert "Traceback" not in done.err
    assert written(base) == []
    assert not (base.parent / "x").exists()


def test_a_bad_cell_is_named_with_file_line_and_column(dojo: Dojo, base: Path) -> None:
    text = (base / RETRIEVAL).read_text().splitlines()
    text[3] = text[3].rsplit(",", 1)[0] + ",0.9"
    (base / "bad.csv").write_text("\n".join(text))
    done = dojo("score", "--task", "retrieval", "--path", "bad.csv", "--system", "lexical-1")
    assert done.code == 2
    assert "bad.csv, line 4, field 'misleading': '0.9' is no label" in " ".join(done.err.split())


def test_a_bent_sidecar_elsewhere_is_listed(dojo: Dojo, base: Path) -> None:
    (base / "annotation/exports/bent").mkdir()
    (base / "annotation/exports/bent/annotation_export.meta.json").write_text("{")
    done = dojo("score", "--task", "generation", "--system", "hybrid-2")
    assert done.code == 0
    assert "bent/annotation_export.meta.json" in done.words
    listed = dojo("score", "--task", "generation", "--system", "hybrid-2", "--force", "--json").json["skipped_exports"]
    assert len(listed) == 1


def test_text_from_outside_cannot_steer_the_terminal(dojo: Dojo, base: Path) -> None:
    header = "record_uuid,system_id,proper_action,response_on_topic,helpful,incomplete,unsafe_content"
    (base / "evil.csv").write_text(f"{header}\nq1,[red]x\x1b[2Jy[/red],1,1,1,0,0\n")
    done = dojo("score", "--task", "generation", "--path", "evil.csv")
    assert done.code == 0
    assert done.out.startswith("[red]xy[/red]: 1 of 1 answer helps (1.000")
    assert "\x1b" not in done.out


# --- what a page may replace --------------------------------------------------------------------------------


@pytest.mark.parametrize("force", [(), ("--force",)])
@pytest.mark.parametrize(
    "target",
    [
        "labels.csv",
        "hard-link.csv",
        "./sub/../labels.csv",
        "eval.yaml",
        "eval/scores/may/generation_scores.json",
        "annotation_export.meta.json",
    ],
)
def test_a_page_never_replaces_an_input_or_the_scores(
    dojo: Dojo, base: Path, target: str, force: tuple[str, ...]
) -> None:
    shutil.copy(base / "annotation/exports/2026-05/generation.csv", base / "labels.csv")
    (base / "sub").mkdir()
    (base / "hard-link.csv").hardlink_to(base / "labels.csv")
    (base / "annotation_export.meta.json").write_text("{}")
    (base / "eval.yaml").write_text("task: generation\npath: labels.csv\nsystem: hybrid-2\nscore_id: may\n")
    before = {path: path.read_bytes() for path in base.rglob("*") if path.is_file()}
    done = dojo("score", "--config", "eval.yaml", "--report", target, *force)
    assert done.code == 2
    assert "of this command and would be overwritten" in " ".join(done.err.split())
    assert {path: path.read_bytes() for path in base.rglob("*") if path.is_file()} == before


def test_a_page_replaces_another_file_only_when_told(dojo: Dojo, base: Path) -> None:
    (base / "page.html").write_text("mine")
    score = ("score", "--task", "generation", "--system", "hybrid-2", "--report", "page.html")
    refused = dojo(*score)
    assert (refused.code, (base / "page.html").read_text()) == (2, "mine")
    assert "page.html: is there already" in refused.err
    assert not (base / "eval/scores").exists()
    assert dojo(*score, "--force").code == 0
    assert (base / "page.html").read_text().startswith("<!")


@pytest.mark.parametrize("target", ["eval.csv/page.html", "x" * 300 + ".html"])
def test_a_page_that_cannot_be_written_leaves_no_scores(dojo: Dojo, base: Path, target: str) -> None:
    (base / "eval.csv").write_text("")
    done = dojo("score", "--task", "generation", "--system", "hybrid-2", "--report", target)
    assert done.code == 2
    assert "Traceback" not in done.err
    assert written(base) == ["eval.csv"]


# --- agreement ---------------------------------------------------------------------------------------------


def test_agreement_prints_and_writes_its_report(dojo: Dojo, base: Path) -> None:
    done = dojo("agreement", "2026-05", "--n-resamples", "200")
    assert (done.code, done.err) == (0, "")
    assert "retrieval of hybrid-2: 24 items judged by several of 3 annotators" in done.out
    assert "resamples of one category left out" in done.words
    report = json.loads((base / "annotation/exports/2026-05/iaa/report.json").read_text())
    assert len(report["tasks"]) == 6
    again = dojo("agreement", "2026-05")
    assert again.code == 2
    assert "is there already" in again.err
    some = dojo("agreement", "2026-05", "--force", "--task", "grounding", "--system", "hybrid-2", "--json")
    assert [task["task"] for task in some.json["tasks"]] == ["grounding"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("2026-06",), "no such export"),
        (("../x",), "is not the name of a folder"),
        (("2026-05", "--task", "x"), "unknown task 'x'"),
        (("2026-05", "--after", "soon"), "--after must be a date"),
        (("2026-05", "--ci", "95"), "must lie between 0 and 1"),
        (("2026-05", "--before", "2026-01-01"), "nothing to measure"),
        (("2026-05", "--system", "x"), "nothing to measure"),
        (("2026-04-pilot", "--task", "grounding"), "no labels of grounding"),
    ],
)
def test_mistakes_of_agreement(dojo: Dojo, base: Path, args: tuple[str, ...], message: str) -> None:
    done = dojo("agreement", *args)
    assert done.code == 2
    assert message in " ".join(done.err.split())
    assert written(base) == []


def test_a_date_without_a_zone_compares_with_times_that_have_one(dojo: Dojo) -> None:
    done = dojo(
        "agreement", "2026-05", "--task", "retrieval", "--after", "2026-05-04", "--before", "2026-05-04", "--json"
    )
    assert done.code == 0
    assert done.json["before"] == "2026-05-04T23:59:59.999999+00:00"


# --- compare -----------------------------------------------------------------------------------------------


def test_two_systems_of_one_file(dojo: Dojo, base: Path) -> None:
    systems = ("--system", "lexical-1", "--system", "hybrid-2")
    done = dojo("compare", RETRIEVAL, "--task", "retrieval", *systems, *LENIENT)
    assert (done.code, done.err) == (0, "")
    first = done.out.splitlines()[0]
    assert first == (
        "hybrid-2 scores better in sufficiency hit and sufficiency rate than lexical-1 on 20 queries, but it may be "
        "rerun noise, which is not known"
    )
    assert "+0.4000" in done.out
    assert "inconclusive: rerun noise not measured" in done.words
    found = dojo("compare", RETRIEVAL, "--task", "retrieval", *systems, *LENIENT, "--json").json
    hit = found["metrics"]["sufficiency_hit_at_k"]
    assert (hit["delta"], hit["n_better"], hit["n_worse"], hit["p"]) == (pytest.approx(0.4), 8, 0, 2 / 2**8)
    assert written(base) == [], "a comparison writes nothing"


def test_two_files(dojo: Dojo, base: Path) -> None:
    lines = (base / RETRIEVAL).read_text().splitlines()
    for name in ("lexical-1", "hybrid-2"):
        mine = [line for line in lines if f",{name}," in line]
        (base / f"{name}.csv").write_text("\n".join([lines[0], *mine]))
    found = dojo("compare", "lexical-1.csv", "hybrid-2.csv", "--task", "retrieval", *LENIENT, "--json").json
    assert (found["a"], found["b"], found["n"]) == ("lexical-1", "hybrid-2", 20)
    assert found["metrics"]["sufficiency_hit_at_k"]["delta"] == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((RETRIEVAL,), "one file holds two sides when both are named"),
        ((RETRIEVAL, RETRIEVAL, RETRIEVAL), "a comparison has two sides, not 3"),
        ((RETRIEVAL, RETRIEVAL, "--system", "hybrid-2"), "both are the same labels of one system"),
        ((RETRIEVAL, "--system", "hybrid-2", "--system", "hybrid-2"), "one file holds two sides when both are named"),
        ((RETRIEVAL, *("--run", "1") * 3), "a comparison has two sides, but --run is given 3 times"),
        ((RETRIEVAL, "none.csv", "--system", "hybrid-2"), "none.csv: no such file"),
    ],
)
def test_mistakes_of_comparisons(dojo: Dojo, args: tuple[str, ...], message: str) -> None:
    done = dojo("compare", *args, "--task", "retrieval", *LENIENT)
    assert done.code == 2
    assert message in " ".join(done.err.split())


def test_two_files_keep_the_system_of_the_settings(dojo: Dojo, base: Path) -> None:
    lines = (base / RETRIEVAL).read_text().splitlines()
    (base / "other.csv").write_text("\n".join([*lines, ""]).replace("c03-p19", "c03-p99"))
    (base / "eval.yaml").write_text("task: retrieval\nsystem: hybrid-2\n")
    found = dojo("compare", RETRIEVAL, "other.csv", "--config", "eval.yaml", *LENIENT, "--json").json
    assert (found["systems"], found["a"], found["b"]) == (["hybrid-2", "hybrid-2"], "retrieval.csv", "other.csv")


def test_two_runs_of_one_file(dojo: Dojo, base: Path) -> None:
    header, *rows = (base / RETRIEVAL).read_text().splitlines()
    mine = [row for row in rows if ",hybrid-2," in row]
    both = [f"{header},run_id", *(f"{row},{run}" for run in ("r1", "r2") for row in mine)]
    (base / "runs.csv").write_text("\n".join(both))
    done = dojo("compare", "runs.csv", "--task", "retrieval", "--run", "r1", "--run", "r2", *LENIENT, "--json")
    assert (done.json["a"], done.json["b"], done.json["runs"]) == ("r1", "r2", ["r1", "r2"])
    assert {one["delta"] for one in done.json["metrics"].values()} == {0.0}
    assert "named by --run" in dojo("score", "--task", "retrieval", "--path", "runs.csv").err
