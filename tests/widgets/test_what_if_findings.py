"""The page of what-ifs: findings with numbers, the charts, what was left out, and no markup from runs."""

from __future__ import annotations

import re

import pytest
from vote_runs import HOSTILE, STRONGER, vote_corpus, vote_runs

from dojo_kit.charts import markup
from dojo_kit.charts.what_if import committee_accuracy, confusion_flows, escalation_front, failure_sweep
from dojo_kit.simulate import answers_of, committee, corpus_of, escalate, exemplars, failures, votes_of
from dojo_widgets.what_if_findings import what_if_page

CORPUS = vote_corpus()


@pytest.fixture(scope="module")
def page() -> str:
    return what_if_page(CORPUS, "subtype", stronger=STRONGER, command="dojo whatif report runs --out a.html").html()


def test_title_and_headings_are_findings(page: str) -> None:
    assert re.search(r"<h1>5 votes would buy [+-]\d+\.\d pp over 0\.\d{3}, sending the 15 % least sure to large ", page)
    assert re.search(r"No number of votes gets beyond 0\.\d{3} \[0\.\d{3}, 0\.\d{3}\]", page)
    assert "of prompts differ beyond chance and rerun noise" in page
    assert "Failures come in outages" in page
    assert re.search(r"\d+ errors, and which examples may repair some", page)


def test_it_says_what_was_left_out_and_how_to_make_it_again(page: str) -> None:
    assert "2 failed calls (0 stored as completed)" in page
    assert "dojo whatif report runs --out a.html" in page
    assert "How far reruns differ by chance is unknown" in page
    assert "Intervals cover the sampling of documents only" in page


def test_hostile_reasons_are_text(page: str) -> None:
    assert HOSTILE not in page
    assert "&lt;/script&gt;&lt;img src=x" in page


def test_a_page_of_one_run_says_what_it_cannot_tell() -> None:
    page = what_if_page(corpus_of(vote_runs()[:1]), "subtype", command="dojo").html()
    assert "No two prompts of one model share enough documents to be compared" in page


def test_charts_say_their_finding() -> None:
    votes = votes_of(CORPUS, "subtype", without_runs=["005"])
    answers = answers_of(CORPUS, "subtype", models=[STRONGER])
    drawn = {
        r"From 1 vote to 25: [+-]\d\.\d pp, with a limit of 0\.\d{3}": committee_accuracy(committee(votes)),
        r"Escalating 15%: \+\d+\.\d pp if .* 0\.95, [+-]\d+\.\d pp with its real answers": escalation_front(
            escalate(votes, stronger=answers)
        ),
        r"Escalating 15%: \+\d+\.\d pp if the stronger model has 0\.95<": escalation_front(escalate(votes)),
        r"With 3 tries and a fallback, .* of documents fail for good": failure_sweep(failures(CORPUS)),
        r"is taken for \w+ most: \d+ times": confusion_flows(exemplars(CORPUS, "subtype")),
    }
    for title, chart in drawn.items():
        assert re.search(title, markup(chart)), title


def test_nothing_confused_is_said() -> None:
    found = exemplars(CORPUS, "subtype")
    nothing = type(found)(found.task, (), found.confusions.iloc[:0], 0, found.budget, 0, found.unit, found.legacy)
    assert "Nothing is confused" in markup(confusion_flows(nothing))
