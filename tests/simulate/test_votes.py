"""What is a vote, and who votes."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

from dojo_kit.errors import InputError, SettingsError
from dojo_kit.records import LabelRow, Run, RunMeta, Usage
from dojo_kit.simulate import (
    Corpus,
    ablate,
    answers_of,
    champion,
    committee,
    corpus_of,
    escalate,
    exemplars,
    routed_sums,
    summarise,
    votes_of,
)
from dojo_kit.simulate.distributions import committee_wins, draw_committee, published_delta, published_deltas
from dojo_kit.simulate.votes import NO_LABEL

PAID = Usage(10, 1)


def run(name: str, *answers: str | None, model: str = "m", prompt: str = "v1", reasoning: str = "") -> Run:
    """Make a run on documents d0, d1, ... that are licenses; None is a failed call."""
    rows = tuple(
        LabelRow(f"d{i}.txt", "completed" if answer else "failed", usage=PAID, predicted=answer, expected="license")
        if not reasoning
        else LabelRow(f"d{i}.txt", usage=PAID, predicted=answer, expected="license", reasoning=reasoning)
        for i, answer in enumerate(answers)
    )
    return Run(RunMeta("subtype_classification", name, model, prompt), rows, source=f"{name}.json")


def small() -> Corpus:
    """Make a corpus of two models and two prompts."""
    return corpus_of(
        [
            run("a1", "license", "supply", None),
            run("a2", "License Agreement", "license", "license"),
            run("b1", "license", "Something else", "license", model="n"),
            run("c1", "supply", "supply", "license", prompt="v2"),
        ]
    )


def test_answers_are_read_against_the_vocabulary() -> None:
    votes = votes_of(small(), "subtype")

    assert votes.labels == (NO_LABEL, "license", "supply")
    assert votes.counts.tolist() == [[0, 3, 1], [1, 1, 2], [0, 3, 0]]
    assert votes.n_unknown == 1
    assert votes.left_out == {"failed": 1, "replay": 0, "no truth": 0}
    assert votes.expected_shares.tolist() == [0.75, 0.25, 1.0]


def test_unknown_votes_can_be_dropped() -> None:
    votes = votes_of(small(), "subtype", unknown="dropped")

    assert votes.counts.sum() == 10
    assert votes.expected_shares[1] == pytest.approx(1 / 3)


def test_pools() -> None:
    model = votes_of(small(), "subtype", pool="model")
    rerun = votes_of(small(), "subtype", pool="rerun")
    prompt = votes_of(small(), "subtype", pool="prompt", prompt="v2")

    assert (dict(model.held_fixed), model.run_ids, model.n_votes) == ({"prompt": "v1"}, ("a2", "b1"), 6)
    assert (dict(rerun.held_fixed), rerun.run_ids) == ({"model": "m", "prompt": "v1"}, ("a1", "a2"))
    assert prompt.run_ids == ("c1",)
    with pytest.raises(SettingsError, match="unknown pool 'models'"):
        votes_of(small(), "subtype", pool="models")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="did you mean 'v2'"):
        votes_of(small(), "subtype", prompt="v22")
    with pytest.raises(InputError, match="no rows of task 'docclass'"):
        votes_of(small(), "docclass")


def test_spellings_of_a_document_are_one_document() -> None:
    other = Run(
        RunMeta("subtype_classification", "x"),
        (LabelRow("D0.PDF", usage=PAID, predicted="license", expected="license"),),
        source="x.json",
    )

    votes = votes_of(corpus_of([run("a", "license"), other]), "subtype")

    assert (votes.documents, votes.n_votes) == (("d0.txt",), 2)


def test_replays_and_failures_are_no_votes() -> None:
    replay = LabelRow(
        "d1", predicted="license", expected="license", stored={"sorter_tokens": {}, "status": "completed"}
    )
    disguised = LabelRow("d2", "failed", "error: x", expected="license", stored={"status": "completed"})
    paid = LabelRow("d3", usage=PAID, predicted="license", expected="license")
    unknown = LabelRow("d4", usage=PAID, predicted="license")
    corpus = corpus_of([Run(RunMeta("subtype"), (replay, disguised, paid, unknown), source="1.json")])

    votes = votes_of(corpus, "subtype")

    assert votes.documents == ("d3",)
    assert votes.left_out == {"failed": 1, "replay": 1, "no truth": 1}
    found = summarise(corpus)
    assert (found.n_failed, found.n_disguised, found.n_replays) == (1, 1, 1)


def test_runs_of_one_name_keep_apart() -> None:
    twice = [run("a", "license"), run("a", "supply")]

    corpus = corpus_of(twice)

    assert corpus.rows["run_id"].tolist() == ["a", "a.json"]
    with pytest.raises(InputError, match="no run overwrites another"):
        corpus_of(twice, overrides={"a": twice[0]})


def test_near_misses_look_at_the_vote_not_at_the_truth() -> None:
    named = run("a", "license", "supply", reasoning="It grants a license.")

    votes = votes_of(corpus_of([named]), "subtype")

    assert votes.names_other.tolist() == [0.0, 1.0]


def test_results_are_json() -> None:
    corpus = small()
    votes = votes_of(corpus, "subtype")
    results = (
        committee(votes, sizes=(1, 3)),
        escalate(votes, stronger=answers_of(corpus, "subtype", models=["n"])),
        ablate(corpus, "subtype", min_shared=1),
        champion(corpus, "subtype", min_shared=1),
        exemplars(corpus, "subtype"),
        summarise(corpus),
    )

    for result in results:
        assert json.loads(json.dumps(result.as_dict(), allow_nan=False))
    rows = committee(votes, sizes=(1, 3)).as_dict()["rows"]
    assert set(rows[0]) >= {"k", "accuracy", "lo", "hi"}


def test_routed_sums_give_every_escalation() -> None:
    """One vote a document, escalated: the sums of the sliders are the numbers of `escalate`, intervals included."""
    corpus, shares = small(), (0.0, 0.34, 0.67, 1.0)
    votes, stronger = votes_of(corpus, "subtype"), answers_of(corpus, "subtype", run_ids=["a2"])
    sums = routed_sums(committee(votes, sizes=(1, 3)), shares=shares, assumed=(0.8, 0.9), answers=stronger)
    steps = escalate(votes, alphas=shares, stronger=stronger, stronger_accuracy=0.9).steps
    single = sums.sizes[0]

    assert single.k == 1
    for at, step in enumerate(steps):
        assert sums.escalated[at] == step.n_escalated
        assert (single.kept[at] + step.n_escalated * 0.9) / sums.n == pytest.approx(step.accuracy.value)
        assert (single.lo[at, 1], single.hi[at, 1]) == pytest.approx((step.accuracy.lo, step.accuracy.hi))
        assert step.measured is not None
        assert single.real is not None
        assert single.real[at] == pytest.approx(step.measured.value)


def test_a_document_without_the_stronger_models_answer_keeps_its_own() -> None:
    votes = votes_of(small(), "subtype")

    found = escalate(votes, alphas=(1.0,), stronger={votes.keys[1]: 1.0})

    assert found.steps[0].measured is not None
    assert found.steps[0].measured.value == pytest.approx((0.75 + 1.0 + 1.0) / 3)
    assert (found.steps[0].stronger_tail, found.n_answered) == (1.0, 1)
    with pytest.raises(InputError, match="answered none of these documents"):
        escalate(votes, stronger={"elsewhere": 1.0})


def test_shortcut_of_unanimous_ballots_keeps_the_published_stream() -> None:
    for k in (1, 2, 3, 25):
        quick, slow = random.Random(7), random.Random(7)

        committee_wins(["a"], [1.0], "a", k, n_sim=20, rng=quick)
        for _ in range(20):
            tally = slow.choices(["a"], weights=[1.0], k=k)
            slow.choice(tally[:1])

        assert quick.random() == slow.random()


def test_published_draw() -> None:
    rng, same = random.Random(3), random.Random(3)
    shares = {"a": 0.5, "b": 0.3, "c": 0.2}

    winners = [draw_committee(shares, 4, rng) for _ in range(200)]

    for winner in winners:
        drawn = same.choices(list(shares), weights=list(shares.values()), k=4)
        tally = {label: drawn.count(label) for label in dict.fromkeys(drawn)}
        assert winner == same.choice([label for label, votes in tally.items() if votes == max(tally.values())])


def test_published_differences_are_mirrored() -> None:
    deltas = np.random.default_rng(0).integers(-1, 2, size=83)

    forth, back = published_deltas(deltas)

    assert forth == published_delta(deltas)
    assert back == published_delta(-deltas)
