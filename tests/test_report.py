"""The published page: self-contained, safe, and with the numbers of the scored run."""

from __future__ import annotations

import re
from hashlib import sha256
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest

from dojo_kit import formats, load_labels, read_run, score_run
from dojo_kit.cli.demo import publish, score_sample, weakest
from dojo_kit.formats import short_document
from dojo_kit.report import write_report
from dojo_kit.scoring.run import ScoredRun

ROOT = Path(__file__).resolve().parent.parent
HOSTILE = "</td><script>alert(1)</script><img src=x onerror=alert(2)>"


@pytest.fixture(scope="module")
def scored() -> dict[str, ScoredRun]:
    return score_sample(ROOT / "data")


@pytest.fixture(scope="module")
def page(scored: dict[str, ScoredRun], tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("report") / "report.html"
    return write_report(path, scored, focus=weakest(scored), command="dojo demo").read_text()


def test_page_loads_nothing_and_runs_nothing(page: str) -> None:
    """A content security policy forbids everything but inline style; there is no script and no address."""
    assert "default-src 'none'" in page
    assert not re.search(r"<script|<link|<iframe|\bsrc=|https?:", page, re.IGNORECASE)


def test_page_is_balanced_html(page: str) -> None:
    """Every element that is opened is closed, in order."""
    checker = _Balance()
    checker.feed(page)

    assert checker.open == []
    assert checker.mistakes == []


class _Balance(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.mistakes: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in {"meta", "br", "img"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.mistakes.append(tag)


def test_page_shows_the_numbers_of_the_scored_run(page: str, scored: dict[str, ScoredRun]) -> None:
    """Value and interval of every run stand in the page as they are formatted everywhere."""
    text = unescape(page)
    for run in scored.values():
        overall = run.metrics()["overall_extraction_score"]
        assert f">{formats.number(overall.value)}<" in text
        assert formats.interval(overall) in text
    missed = int((scored[weakest(scored)].spans["status"] != "matched").sum())
    assert f"{missed:,} of {len(scored[weakest(scored)].spans):,} labelled clauses are not found" in text


def test_hostile_text_is_shown_as_text(tmp_path: Path) -> None:
    """Names, labels, categories and items from outside cannot become markup."""
    import json

    answer = {"document_name": HOSTILE, "key_obligations": [HOSTILE, "pay the rent"]}
    label = {
        "document_name": "Lease",
        "key_obligations": [{"text": f"{HOSTILE} keep it clean", "category": HOSTILE}] * 5,
    }
    (tmp_path / "run.jsonl").write_text(json.dumps({"document": HOSTILE, "predicted": answer}) + "\n")
    (tmp_path / "labels.jsonl").write_text(json.dumps({"document": HOSTILE, "fields": label}) + "\n")
    scored = score_run(read_run(tmp_path / "run.jsonl"), load_labels(tmp_path / "labels.jsonl"))
    html = write_report(tmp_path / "r.html", {HOSTILE: scored}, focus=HOSTILE, command=HOSTILE).read_text()

    assert "<script" not in html
    assert "<img" not in html
    assert "&lt;script&gt;" in html


def test_published_reports_are_fresh(tmp_path: Path) -> None:
    """``reports/`` holds what ``make reports`` writes today, and its manifest says so."""
    publish(tmp_path)
    written = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    kept = {path.name: path.read_bytes() for path in (ROOT / "reports").iterdir() if path.suffix != ".png"}

    assert written == kept
    assert sha256(kept["sample.html"]).hexdigest().encode() in kept["manifest.json"]


def test_report_is_small(page: str) -> None:
    """The page of eight runs over 40 contracts stays far below 2 MB."""
    assert len(page) < 200_000


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("CybergyHoldingsInc_20140520_10-Q_EX-10.27_8605784_EX-10.27_Affiliate Agreement", "Cybergy Holdings Inc 2014"),
        ("a" * 40, "a" * 40),
    ],
)
def test_short_names(name: str, short: str) -> None:
    """A long file name is told by its first part and the year."""
    assert short_document(name) == short
