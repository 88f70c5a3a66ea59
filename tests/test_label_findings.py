"""The published pages of label and ContractEval runs: the numbers of the run, safe, offline, small."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from dojo_kit import charts, formats, published_table, read_run, score_contracteval, score_task, score_task_run
from dojo_kit.cli.app import app
from dojo_kit.records import QuestionRow
from dojo_kit.report import Report
from dojo_kit.runs import run_from_record
from dojo_kit.views.label_tables import words_of
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
        called = "exact match of the class" if name == "exact_match" else words_of(name)
        assert f"{called} {formats.estimate(metric)}" in text
    assert "most often Service taken for Outsourcing (2 of 4)" in text
    assert "2 have none and count as misses in every headline, 1 of them stored as completed" in text
    assert "7 wrong answers" in text
    assert "suggests service, but the operative provisions fit outsourcing" in text
    assert page.html() == label_findings_page({"subtype_small": scores}, command="dojo report").html()


def test_both_levels_and_several_runs() -> None:
    runs = {name: score_task_run(read_run(SAMPLE / f"{name}.json")) for name in ("docclass_small", "subtype_small")}

    text = words(label_findings_page(runs, command="dojo report"))

    assert "By subclass: " in text
    assert "only a paired comparison can" in text
    assert formats.estimate(runs["subtype_small"].headline) in text


def test_nothing_answered_nothing_stated() -> None:
    """A run without an answer, and one where everything is right and no confidence is stated."""
    failed = score_task("multiclass", ["a", "b"], ["ERROR: 429", "ERROR: 429"])
    right = score_task("multiclass", ["a", "b"], ["a", "b"])

    assert "exact match 0.000" in words(label_findings_page({"failed": failed}, command=""))
    text = words(label_findings_page({"right": right}, command=""))
    assert "nothing is confused" in text
    assert "Stated confidence cannot be judged" in text
    assert "no answered row states a confidence" in text


def test_title_is_about_the_largest_confusion_of_either_level() -> None:
    """Classes are confused once each, the subclass Other three times; ties are said as ties."""
    classes = ["contract"] * 2 + ["merger_agreement"] * 5
    scores = score_task(
        "docclass",
        classes,
        ["merger_agreement", "corporate_record", *classes[2:]],
        expected_subclass=[None, None, *["other"] * 3, *["all_cash"] * 2],
        predicted_subclass=[None, None, *["all_cash"] * 5],
    )

    html = label_findings_page({"run": scores}, command="").html()

    title = html.partition("<title>")[2].partition("</title>")[0]
    assert title.endswith("most often Other taken for All Cash (3 of 3)")
    assert "By document class, 2 pairs are confused once each" in words(html)


def test_one_failed_row_is_written_as_one() -> None:
    scores = score_task("multiclass", ["a", "b"], ["a", "ERROR: 429"])

    text = words(label_findings_page({"run": scores}, command=""))

    assert "1 has none and counts as a miss in every headline." in text
    assert "1 of 1 answer right (100%), 1 more row without an answer" in unescape(
        label_findings_page({"run": scores}, command="").html()
    )


def test_outlined_pairs_are_mentioned_where_there_are_some() -> None:
    with_pairs = score_task_run(read_run(SAMPLE / "subtype_small.json"))
    without = score_task("multiclass", ["a", "b"], ["b", "b"])

    assert "Outlined pairs" in words(label_findings_page({"run": with_pairs}, command=""))
    assert "Outlined pairs" not in words(label_findings_page({"run": without}, command=""))


def test_names_are_short_and_reasons_folded() -> None:
    """The whole name is on hover; a reason goes on behind its fold, cut between words."""
    name = "ACMECORPORATIONOFDELAWARE_01_02_2018-EX-10.6-Supply Agreement.pdf"
    reason = "It is about the supply of goods and services " * 20
    record = {
        "task": "subtype_classification",
        "results": [
            {
                "filename": name,
                "status": "completed",
                "sorter": {
                    "doc_type": "contract",
                    "contract_subtype": "license",
                    "expected_subtype": "supply",
                    "reasoning": reason,
                },
            }
        ],
    }

    html = label_findings_page({"run": score_task_run(run_from_record(record))}, command="").html()

    assert f'<td title="{name}">Acmecorporationofdelaware 2018</td>' in html
    start, rest = re.findall(r"<summary>(.*?)<span.*?</summary>(.*?)</details>", html)[0]
    assert f"{start} {rest}" == reason.strip()
    assert len(start) <= 150


def test_labels_with_few_rows_are_set_back_and_come_last() -> None:
    """Label d is always wrong, but twice only."""
    scores = score_task("multiclass", [*"a" * 6, *"b" * 30, *"dd"], [*"aaaaab", *"b" * 30, *"aa"])

    html = label_findings_page({"run": scores}, command="").html()
    rows = [re.findall(r"<td([^>]*)>([^<]*)</td>", row) for row in re.findall(r"<tr>(<td.*?)</tr>", html)]
    labels = [[text for _, text in row] for row in rows if row[0][1] in "abd"]

    assert [row[0] for row in labels] == ["a", "b", "d"]
    assert [row[-1] for row in labels] == ["n &lt; 20", "", "n &lt; 5"]
    assert all("faint" in attributes for row in rows if row[0][1] == "d" for attributes, _ in row)
    assert "a is right least often: 5 of 6 (83%)" in unescape(html)


def test_hostile_text_is_shown_as_text() -> None:
    labels = score_task("multiclass", [HOSTILE, "b"], ["b", HOSTILE], documents=[HOSTILE, "d"])
    rows = [QuestionRow(HOSTILE, title=HOSTILE, category=HOSTILE, label_spans=(HOSTILE,), predicted="x")]
    paper, corrected = (score_contracteval(rows, mode=mode) for mode in ("paper", "corrected"))

    pages = (
        label_findings_page({HOSTILE: labels}, about={HOSTILE: HOSTILE}, command=HOSTILE),
        contracteval_page(HOSTILE, paper, corrected, answers=rows, about=HOSTILE, command=HOSTILE),
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

    assert "as published 0 1 0 1" in text
    assert "corrected 1 1 0 0" in text
    assert "1 pair of 2 judged otherwise" in text
    assert "The readings differ on 1 pair: characters and spaces read alike" in text
    assert "863 to 865" in text


def test_wrong_answers_stand_beside_their_labels() -> None:
    """Label and answer can be judged by a reader; both are text, and long ones are folded."""
    rows = [
        QuestionRow("a", title="a", category="Insurance", label_spans=("the fee", HOSTILE), predicted="a premium"),
        QuestionRow("b", title="b", category="Insurance", predicted="The parties insure. " * 40),
    ]
    paper, corrected = (score_contracteval(rows, mode=mode) for mode in ("paper", "corrected"))

    html = contracteval_page("run", paper, corrected, answers=rows, command="").html()

    assert "<script>document" not in html
    text = words(html)
    assert "2 wrong answers (100%): 1 quotes something where no clause is labelled, 1 misses a label" in text
    assert f"a · Insurance FN: label missing, 0 of 2 0.00 (1) the fee (2) {HOSTILE} a premium" in unescape(
        " ".join(re.sub(r"</?(?:td|tr|details|summary|span)[^>]*>", " ", html).split())
    )
    assert "b · Insurance FP: quotes without label – (no clause) The parties insure." in text
    assert "Both readings judge every pair alike" in text


def test_categories_are_ranked_from_five_labels_on() -> None:
    """Insurance is never found, but asked twice; Governing Law is found in one of six contracts."""
    asked = [("Governing Law", n, n == 0) for n in range(6)] + [("Insurance", n, False) for n in range(2)]
    rows = [
        QuestionRow(
            f"{n}__{name}", title=str(n), category=name, label_spans=("x y",), predicted="x y" if found else "z"
        )
        for name, n, found in asked
    ]

    text = words(
        contracteval_page("run", *(score_contracteval(rows, mode=m) for m in ("paper", "corrected")), command="")
    )

    assert "Governing Law: recall lowest, 0.167, n 6" in text
    assert text.index("Governing Law 6 0.167") < text.index("Insurance 2 0.000")


def test_own_run_is_marked_by_shape_and_word() -> None:
    """A long name is not cut: it stands under the title."""
    rows = [QuestionRow("a", title="a", category="Insurance", label_spans=("x",), predicted="x")]
    own, name = score_contracteval(rows), "qwen3.7-flash_contracteval_v0_contracteval"
    spec = charts.published_scores(published_table(), own, name=name).to_dict()
    (layer,) = (one for one in spec["layer"] if "shape" in one["encoding"])
    models = [row["model"] for rows in spec["datasets"].values() for row in rows]

    assert layer["encoding"]["shape"]["scale"] == {"domain": ["published", "own"], "range": ["circle", "diamond"]}
    assert "this run" in models
    assert name in spec["title"]["subtitle"]


def test_public_runs(real_data: Path) -> None:
    """509 documents with the reasons behind 73 confusions; 100 pairs of ContractEval, F1 .4578 as published."""
    run = read_run(real_data / "runs" / "142.json")
    page = label_findings_page({run.name: score_task_run(run)}, command="dojo report")
    assert "93 of them stored as completed with a label nobody gave" in words(page)
    assert len(page.html().encode()) < 2_000_000

    answers = read_run(real_data / "runs" / "196.json")
    paper, corrected = (score_contracteval(answers, mode=mode) for mode in ("paper", "corrected"))
    text = words(contracteval_page(answers.name, paper, corrected, command="dojo report"))
    assert "as published 19 36 29 16" in text
    assert "F1 0.458 [" in text


def test_many_wrong_rows_are_cut() -> None:
    n = SHOWN_FAILURES + 50
    scores = score_task("multiclass", ["a"] * n + ["b"], ["b"] * (n + 1), documents=[f"d{i}" for i in range(n + 1)])

    text = words(label_findings_page({"run": scores}, command=""))

    assert f"{n} wrong answers, 30 of them here" in text
    assert "50 more stand behind the cells of the matrix above" in text


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
    page.get_by_role("button", name="documents", exact=True).click()
    page.locator(".widget-host").get_by_text("Marrowby - Services").first.wait_for(timeout=5000)

    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert said == []
    page.close()
