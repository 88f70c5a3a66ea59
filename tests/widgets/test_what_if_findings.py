"""The page of what-ifs: findings with numbers, the charts, what was left out, and no markup from runs."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from vote_runs import HOSTILE, STRONGER, vote_corpus, vote_runs

from dojo_kit.charts import markup
from dojo_kit.charts.what_if import committee_accuracy, confusion_flows, escalation_front, failure_sweep
from dojo_kit.errors import InputError
from dojo_kit.simulate import answers_of, committee, corpus_of, escalate, exemplars, failures, votes_of
from dojo_kit.views.what_if import what_if_view
from dojo_widgets.what_if_findings import what_if_page

CORPUS = vote_corpus()


@pytest.fixture(scope="module")
def page() -> str:
    return what_if_page(CORPUS, "subtype", stronger=STRONGER, command="dojo whatif report runs --out a.html").html()


def test_title_and_headings_are_findings(page: str) -> None:
    assert re.search(r"<h1>5 votes would buy [+−]\d+\.\d pp over 0\.\d{3}, sending the 15 % least sure to large ", page)
    assert re.search(r"With ever more votes accuracy tends to 0\.\d{3} \[0\.\d{3}, 0\.\d{3}\], [+−]\d", page)
    assert "of prompts differ beyond chance and rerun noise" in page
    assert "2 of 360 calls failed, " in page
    assert re.search(
        r"The 15 % least sure are right on 0\.\d{3}, all on 0\.\d{3}: the ranking finds hard documents", page
    )
    assert re.search(r"\d+ errors, of which examples may repair \d+\.\d", page)


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
        r"From 1 vote to 25: [+−]\d\.\d pp; with ever more votes it tends to 0\.\d{3}": committee_accuracy(
            committee(votes)
        ),
        r"Escalating 15 %: \+\d+\.\d pp if .* 0\.95, [+−]\d+\.\d pp with its real answers": escalation_front(
            escalate(votes, stronger=answers)
        ),
        r"Escalating 15 %: \+\d+\.\d pp if the stronger model has 0\.95<": escalation_front(escalate(votes)),
        r"With 3 tries and a fallback, .* of documents fail for good": failure_sweep(failures(CORPUS)),
        r"is taken for \w+ most: \d+ times": confusion_flows(exemplars(CORPUS, "subtype")),
    }
    for title, chart in drawn.items():
        assert re.search(title, markup(chart)), title


def test_nothing_confused_is_said() -> None:
    found = exemplars(CORPUS, "subtype")
    nothing = type(found)(found.task, (), found.confusions.iloc[:0], 0, found.budget, 0, found.unit, found.legacy)
    assert "Nothing is confused" in markup(confusion_flows(nothing))


def test_headings_follow_the_data() -> None:
    one = what_if_page(corpus_of(vote_runs()[:1]), "subtype", command="dojo").html()
    assert "None of 60 calls failed" in one
    assert "is an artefact" in one
    assert "What not to conclude: anything about more votes." in one


def test_a_page_counts_only_its_task() -> None:
    runs = vote_runs()
    other = replace(runs[0], meta=replace(runs[0].meta, task="docclass_classification", name="other"))
    page = what_if_page(corpus_of([*runs, other]), "subtype", command="dojo").html()
    assert "360 rows of 6 runs" in page


def test_a_stronger_run_on_other_documents_is_an_error() -> None:
    runs = vote_runs()
    apart = tuple(replace(row, document=f"elsewhere {row.document}") for row in runs[-1].rows)
    with pytest.raises(InputError, match="answered none of the documents"):
        what_if_view(corpus_of([*runs[:-1], replace(runs[-1], rows=apart)]), "subtype", stronger=STRONGER)
