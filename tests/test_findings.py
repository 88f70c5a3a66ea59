"""The published page of scored runs: the numbers of the run, safe, offline, and small enough to send."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from hashlib import sha256
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from dojo_kit import attribute, formats, load_documents, load_labels, read_run, recovered, score_run
from dojo_kit.cli.app import app
from dojo_kit.cli.demo import FOCUS, LATER, sample_page, score_sample
from dojo_kit.cli.published import made_from
from dojo_kit.scoring.run import ScoredRun
from dojo_kit.views import compare_span
from dojo_widgets.findings import MOST_OPENED, findings_page

ROOT = Path(__file__).resolve().parent.parent
HOSTILE = "</td><script>document.title='run'</script><img src=x onerror=document.title='run'>"

Open = Callable[..., Any]


@pytest.fixture(scope="module")
def scored() -> dict[str, ScoredRun]:
    return score_sample(ROOT / "data")


@pytest.fixture(scope="module")
def page(scored: dict[str, ScoredRun]) -> str:
    return sample_page(ROOT / "data", scored, command="dojo demo").html()


def test_page_shows_the_numbers_of_the_scored_runs(page: str, scored: dict[str, ScoredRun]) -> None:
    text = unescape(re.sub(r"<[^>]+>", " ", page))
    for run in scored.values():
        assert formats.estimate(run.metrics()["overall_extraction_score"]) in " ".join(text.split())
    attribution = attribute(scored[FOCUS])
    counts = attribution.counts("key_obligations")
    assert f"{counts['n_expected'] - counts['matched']} of {counts['n_expected']} key obligations spans" in text
    change = recovered(attribution, attribute(scored[LATER])).counts()
    assert f"{change['recovered']} spans recovered, {change['lost']} lost (net {change['net']:+d})" in text
    assert "of the 81 spans lost here, 81 carry a planted fault" in text


def test_same_runs_same_bytes(page: str, scored: dict[str, ScoredRun]) -> None:
    assert sample_page(ROOT / "data", scored, command="dojo demo").html() == page


def test_page_does_not_say_where_this_machine_keeps_its_files(page: str, scored: dict[str, ScoredRun]) -> None:
    id = attribute(scored[FOCUS]).spans["id"].iloc[0]
    assert str(ROOT) not in page
    assert str(ROOT) not in json.dumps(compare_span(attribute(scored[FOCUS]), id))


def test_page_is_small_and_loads_nothing(page: str) -> None:
    assert len(page) < 1_200_000
    assert "default-src 'none'" in unescape(page)
    assert not re.search(r"""\s(?:src|href)=["']?(?:https?:)?//""", page)


def hostile_run(folder: Path) -> ScoredRun:
    answer = {"document_name": HOSTILE, "key_obligations": [HOSTILE, "pay the rent"]}
    label = {
        "document_name": "Lease",
        "key_obligations": [{"text": f"{HOSTILE} keep it clean", "category": HOSTILE}] * 5,
    }
    (folder / "run.jsonl").write_text(json.dumps({"document": HOSTILE, "predicted": answer}) + "\n")
    (folder / "labels.jsonl").write_text(json.dumps({"document": HOSTILE, "fields": label}) + "\n")
    return score_run(
        read_run(folder / "run.jsonl"), load_labels(folder / "labels.jsonl"), {HOSTILE: f"{HOSTILE} keep it clean"}
    )


def test_hostile_text_is_shown_as_text(tmp_path: Path) -> None:
    run = hostile_run(tmp_path)
    html = findings_page({HOSTILE: run}, documents={HOSTILE: f"{HOSTILE} keep it clean"}, command=HOSTILE).html()
    assert "<script>document" not in html
    assert "<img" not in html


def test_published_pages_are_fresh() -> None:
    """`make reports` after a change of a notebook, the sample or the package."""
    manifest = json.loads((ROOT / "reports" / "manifest.json").read_text(encoding="utf-8"))["pages"]
    assert {page: entry["made_from"] for page, entry in manifest.items()} == made_from()
    kept = {path.name for path in (ROOT / "reports").iterdir() if path.suffix == ".html"}
    assert kept == set(manifest)
    for name, entry in manifest.items():
        assert sha256((ROOT / "reports" / name).read_bytes()).hexdigest() == entry["sha256"]


def test_report_command(tmp_path: Path) -> None:
    runs = [str(ROOT / "data" / "runs" / f"{name}.json") for name in (FOCUS, LATER)]
    given = ["--labels", str(ROOT / "data" / "labels.json"), "--out", str(tmp_path / "finding.html")]
    done = CliRunner().invoke(app, ["report", runs[0], *given, "--against", runs[1]], catch_exceptions=False)
    assert done.exit_code == 0
    assert "opens offline" in done.stdout
    text = unescape((tmp_path / "finding.html").read_text(encoding="utf-8"))
    assert f"--against {runs[1]}" in text
    assert "unknown place" in text


def test_large_run_fits_into_a_mail(real_data: Path) -> None:
    """509 documents, 217 of them answered, with all texts: under 2 MB."""
    labels, documents = load_labels(f"cuad:{real_data / 'cuad'}"), load_documents(f"cuad:{real_data / 'cuad'}")
    run = score_run(read_run(real_data / "runs" / "081.json"), labels, documents, spans="first")
    html = findings_page({"081": run}, documents=documents, command="dojo report").html()
    assert len(html.encode()) < 2_000_000
    assert re.search(rf"{MOST_OPENED} spans of \d+ \(5 of each family, then the most similar\) can be opened", html)


def test_every_answer_scored_still_fits(real_data: Path) -> None:
    """The same documents, none failed: answers borrowed from documents that have one."""
    from dataclasses import replace

    labels, documents = load_labels(f"cuad:{real_data / 'cuad'}"), load_documents(f"cuad:{real_data / 'cuad'}")
    run = read_run(real_data / "runs" / "081.json")
    answered = [row for row in run.rows if not row.failed]
    rows = [
        row if not row.failed else replace(answered[index % len(answered)], document=row.document)
        for index, row in enumerate(run.rows)
    ]
    scored = score_run(replace(run, rows=tuple(rows)), labels, documents, spans="first")
    assert scored.counts["n_scored"] > 500
    assert len(findings_page({"081": scored}, documents=documents, command="dojo report").html().encode()) < 2_000_000
