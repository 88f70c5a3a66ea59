"""The published page of a comparison: its numbers, safe, offline, small, alive without Python."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from forest_runs import Noise, comparison, floor, label_run
from typer.testing import CliRunner

from dojo_kit import formats, read_run
from dojo_kit.analysis.compare import compare
from dojo_kit.cli.app import app
from dojo_kit.report import Report
from dojo_kit.samples import sample_data
from dojo_kit.views.deltas import bounds, says_conclusion, signed
from dojo_widgets.compare_findings import comparison_page

RUNS = sample_data() / "runs"


def words(page: Report | str) -> str:
    html = page if isinstance(page, str) else page.html()
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def test_page_shows_the_numbers_of_the_comparison() -> None:
    found = comparison([40], noise=Noise(0.05))
    page = comparison_page(found, noise=floor(), command="dojo compare a b")
    text = words(page)

    assert text.startswith("v2 beats v1 by +0.1833 [")
    assert says_conclusion(found) in text
    for name in ("subtype_accuracy", "exact_match", "failure_rate"):
        one = found.metrics[name]
        values = f"{formats.number(one.a.value)} {formats.number(one.b.value)}"
        assert f"{values} {signed(one.delta.value)} {bounds(one.delta)}".strip() in text
    assert "failure rate (lower is better)" in text
    assert "1 document got worse" in text
    assert "12 documents got better, the 10 that changed most" in text
    assert "agency → license (expected agency)" in text
    assert "dojo compare a b" in text
    assert page.html() == comparison_page(found, noise=floor(), command="dojo compare a b").html()


def test_hostile_text_is_shown_as_text() -> None:
    """The first document of these runs has a name that would run as a script."""
    html = comparison_page(comparison(noise=Noise(0.05)), noise=floor(), command="</code><script>").html()

    assert "<script>document" not in html
    assert "<img" not in html


def test_noise_that_was_not_measured_is_said() -> None:
    text = words(comparison_page(comparison()))

    assert "It was not measured: no change on this page can be called a win or a loss." in text


def test_two_samples_have_no_documents_to_list() -> None:
    a = label_run("run_a", range(12))
    b = label_run("run_b", (), n=90, prompt="v2", day=2)
    rest = type(b)(b.meta, b.rows[60:], source=b.source)
    text = words(comparison_page(compare(a, rest, allow=("surface",))))

    assert "No document is in both runs" in text
    assert "got worse" not in text


def test_command_writes_the_page(tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    runs = [str(RUNS / f"subtype_small{name}.json") for name in ("", "_rerun")]
    done = CliRunner().invoke(app, ["compare", *runs, "--out", str(target)], catch_exceptions=False)

    assert done.exit_code == 0
    assert "opens offline" in done.stdout
    html = target.read_text(encoding="utf-8")
    assert f"dojo compare {runs[0]} {runs[1]} --out" in words(html)
    assert not re.search(r"""\s(?:src|href)=["']?(?:https?:)?//""", html)
    assert len(html) < 1_200_000

    refused = CliRunner().invoke(app, ["compare", *runs, "--out", str(tmp_path)])
    assert refused.exit_code != 0


def test_public_runs(real_data: Path) -> None:
    a, b = (read_run(real_data / "runs" / f"{name}.json") for name in ("043", "046"))
    page = comparison_page(compare(a, b))

    assert words(page).startswith(
        "Cannot tell whether contracts_specialist_v18 is better than contracts_specialist_v15"
    )
    assert len(page.html().encode()) < 2_000_000


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_in_a_browser(chromium: Any, tmp_path: Path, scheme: str) -> None:
    """Rows open their documents, another metric of the reruns is looked up; nothing is reported, nothing sticks out."""
    path = comparison_page(comparison([40], noise=Noise(0.05)), noise=floor()).save(tmp_path / "page.html")
    page = chromium.new_page(viewport={"width": 768, "height": 900}, color_scheme=scheme)
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))

    page.goto(path.as_uri())
    page.get_by_role("listbox", name="Metrics").get_by_role("option", name=re.compile("^license")).click()
    page.get_by_role("listbox", name="Documents that changed").get_by_role("option").first.wait_for(timeout=5000)
    page.get_by_label("Metric", exact=True).select_option("recall:agency")
    page.get_by_text("of reruns differ by up to 0.0000 in recall: agency").wait_for(timeout=5000)

    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert said == []
    page.close()
