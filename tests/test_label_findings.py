"""The published pages of label and ContractEval runs: the numbers of the run, safe, offline, small."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from dojo_kit import formats, read_run, score_contracteval, score_task, score_task_run
from dojo_kit.cli.app import app
from dojo_kit.records import QuestionRow
from dojo_kit.report import Report
from dojo_widgets.contracteval_findings import contracteval_page
from dojo_widgets.label_findings import SHOWN_FAILURES, label_findings_page

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = ROOT / "data" / "runs"
HOSTILE = "</td><script>document.title='run'</script><img src=x onerror=document.title='run'>"


def words(page: Report | str) -> str:
    html = page if isinstance(page, str) else page.html()
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def test_page_shows_the_numbers_of_the_run() -> None:
    scores = score_task_run(read_run(SAMPLE / "subtype_small.json"))

    page = label_findings_page({"subtype_small": scores}, command="dojo report")
    text = words(page)

    for name, metric in scores.metrics.items():
        assert f"{name.replace('_', ' ')} {formats.estimate(metric)}" in text
    assert "most often Service Agreement taken for Outsourcing Agreement (2)" in text
    assert "2 have none and count as misses in every headline, 1 of them stored as completed" in text
    assert "Wrong answers: all 7" in text
    assert "suggests service, but the operative provisions fit outsourcing" in text
    assert page.html() == label_findings_page({"subtype_small": scores}, command="dojo report").html()


def test_both_levels_and_several_runs() -> None:
    runs = {name: score_task_run(read_run(SAMPLE / f"{name}.json")) for name in ("docclass_small", "subtype_small")}

    text = words(label_findings_page(runs, command="dojo report"))

    assert "By subclass" in text
    assert "only a paired comparison can" in text
    assert formats.estimate(runs["subtype_small"].headline) in text


def test_nothing_answered_nothing_stated() -> None:
    """A run without an answer, and one where everything is right and no confidence is stated."""
    failed = score_task("multiclass", ["a", "b"], ["ERROR: 429", "ERROR: 429"])
    right = score_task("multiclass", ["a", "b"], ["a", "b"])

    assert "exact match 0.000" in words(label_findings_page({"failed": failed}, command=""))
    text = words(label_findings_page({"right": right}, command=""))
    assert "nothing is confused" in text
    assert "It cannot be said: no answered row states a confidence" in text


def test_hostile_text_is_shown_as_text() -> None:
    labels = score_task("multiclass", [HOSTILE, "b"], ["b", HOSTILE], documents=[HOSTILE, "d"])
    rows = [QuestionRow(HOSTILE, title=HOSTILE, category=HOSTILE, label_spans=(HOSTILE,), predicted="x")]
    paper, corrected = (score_contracteval(rows, mode=mode) for mode in ("paper", "corrected"))

    pages = (
        label_findings_page({HOSTILE: labels}, about={HOSTILE: HOSTILE}, command=HOSTILE),
        contracteval_page(HOSTILE, paper, corrected, about=HOSTILE, command=HOSTILE),
    )
    for page in pages:
        html = page.html()
        assert "<script>document" not in html
        assert "<img" not in html


def question_file(folder: Path) -> Path:
    rows: list[dict[str, Any]] = [
        {"title": "a", "category": "Insurance", "label_spans": ["the  fee"], "predicted": "Licensee pays the fee."},
        {"title": "b", "category": "Insurance", "label_spans": [], "predicted": "No related clause."},
    ]
    path = folder / "pairs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_report_command_goes_by_the_task(tmp_path: Path) -> None:
    for source, title in (
        (SAMPLE / "docclass_small.json", "docclass_small: exact match 0.750"),
        (question_file(tmp_path), "as published, 1.000"),
    ):
        target = tmp_path / "page.html"
        done = CliRunner().invoke(app, ["report", str(source), "--out", str(target)], catch_exceptions=False)
        assert done.exit_code == 0
        assert "opens offline" in done.stdout
        html = target.read_text(encoding="utf-8")
        assert title in unescape(html)
        assert f"dojo report {source} --out" in words(html)
        assert not re.search(r"""\s(?:src|href)=["']?(?:https?:)?//""", html)
        assert len(html) < 1_200_000


def test_contracteval_page_shows_both_readings() -> None:
    rows = [
        QuestionRow("a", title="a", category="Insurance", label_spans=("the  fee",), predicted="pays the fee"),
        QuestionRow("b", title="b", category="Insurance", predicted="No related clause."),
    ]
    paper, corrected = (score_contracteval(rows, mode=mode) for mode in ("paper", "corrected"))

    text = words(contracteval_page("run", paper, corrected, command=""))

    assert "paper 0 1 0 1" in text
    assert "corrected 1 1 0 0" in text
    assert "1 pair of 2 judged otherwise" in text
    assert "863 to 865" in text


def test_public_runs(real_data: Path) -> None:
    """509 documents with the reasons behind 73 confusions; 100 pairs of ContractEval, F1 .4578 as published."""
    run = read_run(real_data / "runs" / "142.json")
    page = label_findings_page({run.name: score_task_run(run)}, command="dojo report")
    assert "93 of them stored as completed with a label nobody gave" in words(page)
    assert len(page.html().encode()) < 2_000_000

    answers = read_run(real_data / "runs" / "196.json")
    paper, corrected = (score_contracteval(answers, mode=mode) for mode in ("paper", "corrected"))
    text = words(contracteval_page(answers.name, paper, corrected, command="dojo report"))
    assert "paper 19 36 29 16" in text
    assert "F1 0.458 [" in text


def test_many_wrong_rows_are_cut() -> None:
    n = SHOWN_FAILURES + 50
    scores = score_task("multiclass", ["a"] * n + ["b"], ["b"] * (n + 1), documents=[f"d{i}" for i in range(n + 1)])

    assert f"Wrong answers: the first 200 of {n}" in words(label_findings_page({"run": scores}, command=""))


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_in_a_browser(chromium: Any, tmp_path: Path, scheme: str) -> None:
    """A cell of the matrix opens its documents with the model's reasons; nothing is reported, nothing sticks out."""
    scores = score_task_run(read_run(SAMPLE / "subtype_small.json"))
    path = label_findings_page({"run": scores}, command="").save(tmp_path / "page.html")
    page = chromium.new_page(viewport={"width": 768, "height": 900}, color_scheme=scheme)
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))

    page.goto(path.as_uri())
    page.locator('[role=gridcell][aria-label*="Service"][aria-label*="Outsourcing"]').first.click()
    page.locator(".widget-host").get_by_text("Marrowby - Services").first.wait_for(timeout=5000)

    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert said == []
    page.close()
