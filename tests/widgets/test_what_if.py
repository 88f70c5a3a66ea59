"""The sliders look up what `dojo_kit.simulate` computes, in Python and in the browser alike."""

from __future__ import annotations

import json
import shutil
import subprocess
from itertools import product
from typing import Any

import pytest
from vote_runs import STRONGER, vote_corpus, vote_runs

from dojo_kit.errors import InputError, SettingsError
from dojo_kit.report import Report
from dojo_kit.simulate import answers_of, committee, corpus_of, escalate, failures, votes_of
from dojo_kit.views.what_if import outcome_at, what_if_view
from dojo_widgets.assets import STATIC
from dojo_widgets.what_if import CONTROLS, WhatIf

CORPUS = vote_corpus()
RUN_OF_STRONGER = ["005"]


@pytest.fixture(scope="module")
def view() -> dict[str, Any]:
    return what_if_view(CORPUS, "subtype", stronger=STRONGER)


def place(view: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**view["base"], **more}


def test_votes_are_those_of_the_committee(view: dict[str, Any]) -> None:
    """Nothing escalated: accuracy, interval and limit to the last digit, in every pool."""
    for pool in view["pools"]:
        found = committee(votes_of(CORPUS, "subtype", pool=pool["key"], without_runs=RUN_OF_STRONGER))
        assert pool["limit"]["value"] == found.limit.value
        for row in found.rows:
            here = outcome_at(view, place(view, pool=pool["key"], votes=row.k))
            assert here["accuracy"] == pytest.approx(row.accuracy.value, abs=1e-8)
            assert (here["lo"], here["hi"]) == pytest.approx((row.accuracy.lo, row.accuracy.hi), abs=1e-6)
            assert here["cost"] == row.k


@pytest.mark.parametrize("accuracy", [0.5, 0.9, 0.95, 1.0])
def test_escalation_is_that_of_escalate(view: dict[str, Any], accuracy: float) -> None:
    """One vote: accuracy, interval, the assumption lower and higher, cost, and the tail's own accuracy."""
    votes = votes_of(CORPUS, "subtype", without_runs=RUN_OF_STRONGER)
    for step in escalate(votes, alphas=(0.05, 0.15, 0.5), stronger_accuracy=accuracy).steps:
        here = outcome_at(view, place(view, alpha=step.alpha, escalated_accuracy=accuracy))
        assert here["accuracy"] == pytest.approx(step.accuracy.value, abs=1e-8)
        assert (here["lo"], here["hi"]) == pytest.approx((step.accuracy.lo, step.accuracy.hi), abs=1e-6)
        assert (here["low"], here["high"]) == pytest.approx((step.low, step.high))
        assert (here["cost"], here["tail"]) == pytest.approx((step.cost, step.tail))
        assert here["escalated"] == step.n_escalated


def test_real_answers_are_those_of_the_stronger_run(view: dict[str, Any]) -> None:
    votes = votes_of(CORPUS, "subtype", without_runs=RUN_OF_STRONGER)
    answers = answers_of(CORPUS, "subtype", models=[STRONGER])
    for step in escalate(votes, alphas=(0.0, 0.2, 0.4), stronger=answers).steps:
        here = outcome_at(view, place(view, alpha=step.alpha, use_stronger=True))
        assert step.measured is not None
        assert here["accuracy"] == pytest.approx(step.measured.value)
        assert (here["lo"], here["hi"]) == pytest.approx((step.measured.lo, step.measured.hi), abs=1e-6)
        tail = view["pools"][0]["stronger_tail"][view["shares"].index(step.alpha)]
        assert tail == step.stronger_tail


def test_intervals_between_assumed_accuracies_are_close(view: dict[str, Any]) -> None:
    votes = votes_of(CORPUS, "subtype", without_runs=RUN_OF_STRONGER)
    step = escalate(votes, alphas=(0.3,), stronger_accuracy=0.87).steps[0]
    here = outcome_at(view, place(view, alpha=0.3, escalated_accuracy=0.87))
    assert (here["lo"], here["hi"]) == pytest.approx((step.accuracy.lo, step.accuracy.hi), abs=2e-3)


def test_failures_are_those_of_the_pipeline(view: dict[str, Any]) -> None:
    for tries, fallback in product((1, 3, 5), (True, False)):
        found = failures(CORPUS, task="subtype", max_tries=tries, fallback=0.97 if fallback else 0.0)
        here = outcome_at(view, place(view, tries=tries, fallback=fallback))
        assert here["failed"] == pytest.approx(found.failure_rate * view["scale"])
        assert here["failed_clustered"] == pytest.approx(found.failure_rate_clustered * view["scale"])
        assert here["cost"] == pytest.approx(found.mean_attempts)


SCRIPT = """
const { outcomeAt, placeOf } = await import(process.argv[1]);
const { data, places } = JSON.parse(require("fs").readFileSync(0));
console.log(JSON.stringify(places.map((place) => outcomeAt(data, placeOf(data, place)))));
"""


def test_the_browser_adds_as_python_does(view: dict[str, Any]) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node on the path")
    stops = product(
        ("all", "model", "prompt", "rerun"), (1, 7, 25), (0.0, 0.07, 0.5), (0.5, 0.87, 1.0), (False, True), (1.5, 3.0)
    )
    places = [
        place(view, pool=pool, votes=k, alpha=alpha, escalated_accuracy=a, use_stronger=real, escalated_cost=cost)
        | {"tries": 2, "fallback": k > 1}
        for pool, k, alpha, a, real, cost in stops
    ]
    command = [node, "-e", f"(async () => {{{SCRIPT}}})()", (STATIC / "what_if_states.js").as_uri()]
    given = json.dumps({"data": view, "places": places})
    done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=60, check=True)
    for at, here in zip(places, json.loads(done.stdout), strict=True):
        expected = outcome_at(view, at)
        assert {name: here[name] for name in expected} == pytest.approx(expected, abs=1e-9), at


def test_it_starts_with_a_question_and_can_be_placed() -> None:
    what_if = WhatIf(CORPUS, "subtype", place={"pool": "rerun", "votes": 3, "alpha": 0.0})
    assert (what_if.pool, what_if.votes, what_if.tries, what_if.fallback) == ("rerun", 3, 3, True)
    assert what_if.outcome["accuracy"] == outcome_at(what_if.data, what_if.place)["accuracy"]
    assert set(what_if.place) == set(CONTROLS)
    first = WhatIf.of(vote_runs(), stronger=STRONGER)
    assert (first.votes, first.alpha, first.use_stronger) == (5, 0.15, True)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"vote": 3}, "no control 'vote'.*did you mean 'votes'"),
        ({"votes": 4}, "votes 4 was not computed; known: 1, 2, 3"),
        ({"alpha": 0.155}, "alpha 0.155 was not computed"),
        ({"pool": "everyone"}, "no pool 'everyone'"),
        ({"escalated_accuracy": 0.2}, "must lie between 0.5 and 1"),
        ({"use_stronger": True}, "no stronger run was given"),
    ],
)
def test_places_that_do_not_exist_are_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises((InputError, SettingsError), match=says):
        WhatIf(CORPUS, "subtype", place=given)


def test_an_unknown_stronger_model_is_refused() -> None:
    with pytest.raises(InputError, match=r"no model 'lab/lage'.*did you mean 'lab/large'"):
        what_if_view(CORPUS, "subtype", stronger="lab/lage")


def test_a_place_between_stops_goes_to_the_nearest(view: dict[str, Any]) -> None:
    between, stop = (place(view, votes=k, alpha=alpha, tries=n) for k, alpha, n in ((6, 0.203, 9), (5, 0.2, 5)))
    assert outcome_at(view, between) == outcome_at(view, stop)


def test_a_legacy_corpus_is_refused() -> None:
    """Its intervals are drawn on one stream over everything."""
    with pytest.raises(InputError, match="read without legacy"):
        what_if_view(corpus_of(vote_runs(), legacy=True), "subtype")


def test_what_is_left_out_is_said(view: dict[str, Any]) -> None:
    """Failed calls are counted, the stronger model does not vote, and a pool of one setting says so."""
    everyone = view["pools"][0]
    assert everyone["left_out"] == {"failed": 2}
    assert (everyone["models"], everyone["runs"]) == (2, 5)
    reruns = next(pool for pool in view["pools"] if pool["key"] == "rerun")
    assert (reruns["held"], reruns["runs"]) == ("model one, prompt v2", 3)
    assert view["band"]["value"] is None


def test_a_page_needs_no_tables() -> None:
    """All places are in the data, and the data go into a page."""
    what_if = WhatIf(CORPUS, "subtype")
    assert what_if.precomputed() == ()
    page = Report("what if").widgets([what_if], linked=CONTROLS).html()
    assert "what-if" in page
