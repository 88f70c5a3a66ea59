"""``dojo judge`` and ``dojo cost``: what they print, what JSON holds, how mistakes end.

Right values: counted from the sample runs, and from judgments made up with known figures.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from dojo_kit import load_labels, read_run, score_run
from tests.analysis.judgment_lines import judgment_lines, write_lines
from tests.command_line import Dojo

DATA = Path(__file__).resolve().parent.parent / "data"
RUN = DATA / "runs" / "extraction_v1_small.json"
LABELS = DATA / "labels.json"


@pytest.fixture(scope="module")
def judged() -> list[dict[str, Any]]:
    return judgment_lines(score_run(read_run(RUN), load_labels(str(LABELS))))


@pytest.fixture
def file(judged: list[dict[str, Any]], tmp_path: Path) -> Path:
    """The judgments of a run, the first of which stand in the file twice, and one about a classification."""
    after = {"filename": "x", "expected_subtype": "ip", "predicted_subtype": "license", "judgment": "correct"}
    return write_lines(tmp_path / "j.jsonl", [*judged[:2], *judged, after])


def test_judge_as_json(dojo: Dojo, file: Path, judged: list[dict[str, Any]]) -> None:
    """The published figures, counted from the lines."""
    done = dojo("judge", file, "--json")
    found = done.json
    scored = [line for line in judged if line["correctness_label"]]
    agree = [
        line
        for line in scored
        if (line["deterministic_overall_score"] >= 0.85 and line["correctness_label"] == "accurate")
        or (line["deterministic_overall_score"] <= 0.5 and line["correctness_label"] == "inaccurate")
    ]

    assert done.code == 0
    assert (found["n_judged"], found["n_scored"], found["n_duplicates"]) == (len(judged), len(scored), 2)
    assert found["agree_rate"]["value"] == pytest.approx(len(agree) / len(scored))
    assert found["bands"] == {"strong_ge": 0.85, "weak_le": 0.5}
    assert found["classification"]["verdicts"]["correct"] == 1
    assert found["live"] is None
    assert {"judge_strict", "judge_lenient", "kappa", "decisive_agreement", "by_field", "by_band", "scope"} <= set(
        found
    )


def test_judge_for_people(dojo: Dojo, file: Path) -> None:
    done = dojo("judge", file)

    assert "2 earlier lines of 2 documents left out" in done.out
    for word in (
        "decisive_agreement",
        "kappa",
        "by field",
        "key_obligations",
        "score against verdict",
        "called correct",
    ):
        assert word in done.out
    assert "\\[" not in done.out


def test_faulty_lines_are_named_and_collected(dojo: Dojo, file: Path) -> None:
    file.write_text(file.read_text(encoding="utf-8") + '{"kind": "calibration"}\n', encoding="utf-8")
    stopped, collected = dojo("judge", file), dojo("judge", file, "--on-error", "collect", "--json")

    assert (stopped.code, stopped.out) == (2, "")
    assert "line 30, field 'filename'" in stopped.err
    assert collected.json["problems"][0]["line"] == 30


def test_mixed_judges_are_chosen_from(dojo: Dojo, judged: list[dict[str, Any]], tmp_path: Path) -> None:
    path = write_lines(tmp_path / "j.jsonl", [*judged, *(line | {"judge": "m"} for line in judged)])

    assert "judgments of 2 judges are mixed: '', 'm'" in dojo("judge", path).err
    assert dojo("judge", path, "--judge", "m", "--json").json["n_judged"] == len(judged)


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("no.jsonl",), "no such file"),
        (("FILE", "--model", "m"), "--model: no run is judged"),
        (("FILE", "--live", RUN, "--labels", LABELS, "--documents", DATA / "documents"), "'--model': is missing"),
        (("FILE", "--judge", "m"), "no judge 'm'"),
    ],
)
def test_mistakes_of_judge(dojo: Dojo, file: Path, args: tuple[Any, ...], says: str) -> None:
    done = dojo("judge", *(file if arg == "FILE" else arg for arg in args))

    assert (done.code, done.out) == (2, "")
    assert says in done.err


class Judge(BaseHTTPRequestHandler):
    """Calls everything partial."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        said = json.dumps({"correctness": "partial", "completeness": 0.7, "reason": "r"})
        data = json.dumps({"choices": [{"message": {"content": said}}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def judge_url(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with ThreadingHTTPServer(("127.0.0.1", 0), Judge) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        server.shutdown()
        thread.join()


def test_a_live_judge(dojo: Dojo, judge_url: str, judged: list[dict[str, Any]], tmp_path: Path) -> None:
    """Every ambiguous document is asked about once, and calibrated."""
    path = tmp_path / "live.jsonl"
    asked = (
        "--live",
        RUN,
        "--labels",
        LABELS,
        "--documents",
        DATA / "documents",
        "--model",
        "m",
        "--base-url",
        judge_url,
    )
    first, again = dojo("judge", path, *asked, "--json"), dojo("judge", path, *asked)

    assert first.code == 0
    assert (first.json["live"]["n_asked"], first.json["n_judged"]) == (len(judged), len(judged))
    assert first.json["experiment"] == "extraction_v1_small"
    assert first.json["decisive_agreement"]["value"] is None
    assert f"{len(judged)} ambiguous documents: 0 asked, {len(judged)} judged before" in again.out


def test_cost_for_people(dojo: Dojo) -> None:
    """The samples' models have no packaged price, so that the sum of estimates is unknown; their bills are stated."""
    done = dojo("cost", *sorted((DATA / "runs").glob("extraction_v[12]_*.json")), "--labels", LABELS)

    assert done.code == 0
    assert "estimated unknown (2 of 2 models unpriced; nothing of it is known)" in done.out
    assert "stated by the provider $" in done.out
    assert "cost against overall_extraction_score" in done.out
    assert "beaten by" in done.out


def test_cost_as_json_with_prices(dojo: Dojo) -> None:
    """By hand: dollars per million tokens, read and written."""
    run = read_run(RUN)
    read = sum(row.usage.prompt_tokens for row in run.rows if row.usage)
    written = sum(row.usage.completion_tokens for row in run.rows if row.usage)
    found = dojo("cost", RUN, "--set", "cost_models.sample/small-1=[1, 2]", "--json").json

    assert found["estimated"]["usd"] == pytest.approx((read + 2 * written) / 1e6)
    assert found["runs"][0]["stages"]["total"]["prompt_tokens"] == read
    assert found["runs"][0]["cost_per_document_usd"]["n"] == sum(row.usage is not None for row in run.rows)
    assert (found["activity"], found["fronts"]) == (None, [])


@pytest.fixture
def export(tmp_path: Path) -> Path:
    """The bill of a sample run: one generation a row, the last one at the run's end."""
    run = read_run(RUN)
    end = datetime.fromisoformat(run.meta.timestamp)
    lines = ["created_at,model,cost,tokens_prompt,tokens_completion"]
    for index, usage in enumerate(row.usage for row in run.rows if row.usage):
        time = (end - timedelta(seconds=index)).isoformat()
        lines.append(f"{time},{run.meta.model},0.001,{usage.prompt_tokens},{usage.completion_tokens}")
    lines.append("2026-01-01T00:00:00Z,other/model,1,1,1")
    path = tmp_path / "activity.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_cost_beside_the_bill(dojo: Dojo, export: Path) -> None:
    found = dojo("cost", RUN, "--activity", export, "--json").json["activity"]
    n = sum(row.usage is not None for row in read_run(RUN).rows)

    assert found["runs"][0]["billed_usd"] == pytest.approx(0.001 * n)
    assert (found["runs"][0]["mixed"], found["runs"][0]["n_generations"]) == (False, n)
    assert found["unassigned"] == [{"model": "other/model", "n_generations": 1, "usd": 1.0}]
    shown = dojo("cost", RUN, "--activity", export).out
    assert "1 generation of other/model belong to no run: $1.00" in shown


def test_a_missing_column_of_the_export_is_named(dojo: Dojo, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("created_at,cost\n2026-01-01T00:00:00Z,1\n", encoding="utf-8")
    done = dojo("cost", RUN, "--activity", path)

    assert done.code == 2
    assert "no column of the model; columns found: created_at, cost" in done.err


def test_a_metric_that_no_run_has_ends_the_command(dojo: Dojo) -> None:
    done = dojo("cost", RUN, "--metric", "overal_extraction_score")
    assert (done.code, done.out) == (2, "")
    assert "did you mean 'overall_extraction_score'?" in " ".join(done.err.split())


def test_a_run_that_cannot_be_read_is_listed_and_left_out(dojo: Dojo, tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text("{", encoding="utf-8")
    assert "--on-error collect leaves out" in " ".join(dojo("cost", RUN, bad).err.split())
    told = dojo("cost", RUN, bad, "--on-error", "collect", "--json").json
    assert len(told["runs"]) == 1
    assert [Path(problem["source"]).name for problem in told["problems"]] == ["bad.json"]
    assert dojo("cost", bad, "--on-error", "collect").code == 2


def test_an_unpriced_model_has_no_known_part(dojo: Dojo, tmp_path: Path) -> None:
    record = json.loads(Path(RUN).read_text(encoding="utf-8"))
    record.pop("model")
    nameless = tmp_path / "nameless.json"
    nameless.write_text(json.dumps(record), encoding="utf-8")
    done = dojo("cost", RUN, nameless)
    assert "1 of 1 models unpriced; 1 of 2 runs names no model; nothing of it is known" in " ".join(done.out.split())
    assert "$0" not in done.out.replace("$0.", "")


def test_a_sibling_model_is_not_billed(dojo: Dojo, export: Path) -> None:
    text = export.read_text(encoding="utf-8").replace("sample/small-1,", "sample/small-1-max,")
    export.write_text(text, encoding="utf-8")
    done = dojo("cost", RUN, "--activity", export)
    assert "sample/small-1-max begins like sample/small-1 but is another model" in " ".join(done.out.split())
    assert dojo("cost", RUN, "--activity", export, "--json").json["activity"]["runs"][0]["billed_usd"] is None


def test_a_live_judge_writes_into_no_input(dojo: Dojo, tmp_path: Path) -> None:
    run, labels = tmp_path / "run.json", tmp_path / "labels.json"
    run.write_bytes(Path(RUN).read_bytes())
    labels.write_bytes(Path(LABELS).read_bytes())
    options = ("--live", run, "--labels", labels, "--documents", DATA / "documents", "--model", "m")
    for file in (run, labels):
        done = dojo("judge", file, *options, "--base-url", "http://127.0.0.1:9/v1")
        assert (done.code, done.out) == (2, "")
        assert "would be overwritten" in " ".join(done.err.split())
    assert (run.read_bytes(), labels.read_bytes()) == (Path(RUN).read_bytes(), Path(LABELS).read_bytes())


def test_public_runs(dojo: Dojo, real_data: Path) -> None:
    """Run 195 has no price and 332 completed rows without usage; 018 is chained and shows its stages."""
    done = dojo("cost", *(real_data / "runs" / f"{name}.json" for name in ("018", "195", "043")))

    assert done.code == 0
    assert "1 of 2 models unpriced" in done.out
    assert "by stage" in done.out
    assert "332 completed rows have no usage (replayed, or never recorded)" in done.out
