"""Numbers that cannot be, and what is asked of nothing: a message, never a traceback."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from dojo_kit.errors import InputError, SettingsError
from dojo_kit.records import LabelRow, Run, RunMeta, Usage
from dojo_kit.simulate import (
    ablate,
    champion,
    committee,
    corpus_of,
    escalate,
    exemplars,
    failures,
    tail_slice,
    votes_of,
)
from dojo_kit.views.what_if import what_if_view


def corpus(*answers: str, status: str = "completed") -> Any:
    """Make a corpus of one run on licenses."""
    rows = tuple(
        LabelRow(f"d{i}", status, usage=Usage(1, 1), predicted=answer, expected="license")
        for i, answer in enumerate(answers)
    )
    return corpus_of([Run(RunMeta("subtype_classification", "a", "m", "p"), rows, source="a.json")])


GOOD = corpus("license", "supply", "license")
VOTES = votes_of(GOOD, "subtype")


@pytest.mark.parametrize(
    "ask",
    [
        lambda: escalate(VOTES, alphas=[]),
        lambda: escalate(VOTES, alphas=[math.nan]),
        lambda: escalate(VOTES, alphas=[0.1, 1.5]),
        lambda: escalate(VOTES, stronger_accuracy=math.nan),
        lambda: escalate(VOTES, escalated_cost=math.inf),
        lambda: escalate(VOTES, escalated_cost=math.nan),
        lambda: escalate(VOTES, escalated_cost=-3),
        lambda: escalate(VOTES, spread=-2),
        lambda: escalate(VOTES).candidates(5),
        lambda: tail_slice(VOTES, alpha=-0.2),
        lambda: committee(VOTES, sizes=[2.5]),  # type: ignore[list-item]
        lambda: failures(GOOD, tries=[0]),
        lambda: failures(GOOD, scales=[0]),
        lambda: failures(GOOD, max_tries=1.5),  # type: ignore[arg-type]
        lambda: failures(GOOD, retry_factor=-1),
        lambda: failures(GOOD, retry_factor=math.inf),
        lambda: votes_of(GOOD, "subtype", unknown="x"),  # type: ignore[arg-type]
        lambda: what_if_view(GOOD, "subtype", call_usd=math.inf),
    ],
)
def test_a_number_out_of_range(ask: Callable[[], object]) -> None:
    with pytest.raises(SettingsError):
        ask()


def test_every_answer_wrong_leaves_no_example() -> None:
    found = exemplars(corpus("supply", "supply"), "subtype")

    assert (found.n_errors, found.chosen) == (2, ())


@pytest.mark.parametrize("ask", [ablate, champion])
def test_every_call_failed(ask: Callable[..., object]) -> None:
    with pytest.raises(InputError, match="no votes"):
        ask(corpus("", "", status="failed"), "subtype")


def test_a_gain_is_beside_nothing_escalated_whatever_is_asked() -> None:
    one, all_ = escalate(VOTES, alphas=[0.5]), escalate(VOTES)

    assert one.unescalated == all_.unescalated == pytest.approx(2 / 3)
    assert one.as_dict()["unescalated"] == one.unescalated


def test_resampled_runs_follow_the_level() -> None:
    from dojo_kit.settings import Settings

    rows = [
        Run(
            RunMeta("subtype_classification", f"e{n}"),
            tuple(LabelRow(f"d{i}", "failed" if i < 4 * n else "completed", predicted="x") for i in range(40)),
            source=f"{n}.json",
        )
        for n in range(6)
    ]
    of_runs = corpus_of(rows)
    wide, narrow = (
        failures(of_runs, max_tries=1, fallback=0, settings=Settings(statistics={"confidence": level})).scales.iloc[0]  # type: ignore[arg-type]
        for level in (0.95, 0.5)
    )

    assert narrow["resampled_lo"] > wide["resampled_lo"]
    assert narrow["resampled_hi"] < wide["resampled_hi"]
