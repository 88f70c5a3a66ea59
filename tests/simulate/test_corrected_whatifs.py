"""What each correction changes on the public runs, and what the default reading gives (analysis reference 1)."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from dojo_kit.simulate import (
    Pool,
    ablate,
    answers_of,
    champion,
    check_slice,
    committee,
    escalate,
    exemplars,
    failures,
    summarise,
    tail_slice,
    votes_of,
)
from tests.simulate.published_corpus import current, current_votes, published, published_votes

PRO = "deepseek/deepseek-v4-pro"


def test_routing_alone(real_data: Path) -> None:
    votes = published_votes(real_data, "subtype")
    stronger = answers_of(published(real_data), "subtype", models=[PRO])

    found = escalate(votes, stronger=stronger)

    rows = {
        step.alpha: (f"{step.accuracy.value:.4f}", f"{step.measured.value:.4f}")
        for step in found.steps
        if step.measured
    }
    assert rows[0.05] == ("0.9416", "0.9382")
    assert rows[0.10] == ("0.9561", "0.9493")
    assert rows[0.15] == ("0.9674", "0.9552")
    assert rows[0.20] == ("0.9751", "0.9615")
    assert rows[0.30] == ("0.9727", "0.9601")
    assert rows[0.50] == ("0.9730", "0.9547")
    tails = {step.alpha: (round(step.tail or 0, 4), round(step.stronger_tail or 0, 3)) for step in found.steps[1:]}
    assert tails[0.15] == (0.6392, 0.868)
    assert tails[0.50] == (0.8458, 0.913)
    classes = escalate(published_votes(real_data, "docclass"))
    assert [f"{step.accuracy.value:.4f}" for step in classes.steps[1:3]] == ["0.9960", "0.9935"]


def test_unknown_votes_alone(real_data: Path) -> None:
    votes = votes_of(published(real_data), "subtype", unknown="counted")

    found = committee(votes, sizes=(1,), legacy=False)

    assert votes.n_unknown == 528
    assert (f"{found.rows[0].accuracy.value:.4f}", f"{found.limit.value:.4f}") == ("0.8931", "0.9479")


def test_exact_search_alone(real_data: Path) -> None:
    found = exemplars(published(real_data), "subtype", search="exact", traces_per_pair=1)

    assert (found.gain, found.used) == (135.5, 1_845)
    gains = [(pair.expected, pair.predicted, pair.gain) for pair in found.chosen]
    assert gains[0] == ("maintenance", "license", 33.5)
    assert [gain for _, _, gain in gains] == [33.5, 25.0, 23.5, 23.0, 15.5, 15.0]


def test_default_corpus(real_data: Path) -> None:
    found = summarise(current(real_data))

    assert (found.n_rows, found.n_runs, found.n_experiments) == (18_590, 87, 69)
    assert (found.n_failed, found.n_disguised, found.n_replays) == (383, 341, 1_488)
    assert f"{found.failed.value:.2%}" == "2.06%"


def test_default_committee(real_data: Path) -> None:
    votes = current_votes(real_data, "subtype")

    found = committee(votes)

    assert (votes.n_votes, len(votes)) == (14_291, 509)
    assert (f"{found.rows[0].accuracy.value:.4f}", f"{found.limit.value:.4f}") == ("0.9093", "0.9479")
    assert [row.method for row in found.rows] == ["exact"] * 8


def test_pools(real_data: Path) -> None:
    corpus = current(real_data)
    of_pool = {pool: votes_of(corpus, "subtype", pool=pool) for pool in get_args(Pool)}
    reruns = committee(of_pool["rerun"], sizes=(1, 25))

    assert of_pool["rerun"].held_fixed == {"model": "qwen/qwen3.7-flash", "prompt": "sorter_v9"}
    assert len(of_pool["rerun"].run_ids) == 6
    assert [round(size.accuracy.value or 0, 4) for size in reruns.rows] == [0.9131, 0.9145]
    assert of_pool["model"].held_fixed == {"prompt": "sorter_v13"}
    assert round(committee(of_pool["model"], sizes=(1,)).limit.value or 0, 4) == 0.9499
    assert len(of_pool["all"]) == 509


def test_exact_probabilities_agree_with_published_draws(real_data: Path) -> None:
    votes = published_votes(real_data, "subtype")

    exact = committee(votes, sizes=(3, 10, 25), legacy=False)

    assert [row.accuracy.value for row in exact.rows] == pytest.approx([0.9362, 0.9472, 0.9513], abs=0.001)


def test_escalation_without_the_stronger_models_own_votes(real_data: Path) -> None:
    corpus = current(real_data)
    runs = corpus.rows.loc[corpus.rows["model"] == PRO, "run_id"].unique().tolist()

    votes = votes_of(corpus, "subtype", without_runs=runs)

    assert not set(votes.run_ids) & set(runs)
    found = escalate(votes, stronger=answers_of(corpus, "subtype", run_ids=runs))
    assert found.steps[3].measured is not None
    assert (found.steps[3].measured.value or 0) < (found.steps[3].accuracy.value or 0)


def test_unordered_pairs_with_reruns_averaged(real_data: Path) -> None:
    found = ablate(current(real_data), "subtype")

    assert len(found.pairs) == 78
    best = found.pairs[0]
    assert (best.a, best.b, best.n_runs, best.verdict) == ("sorter_v3", "sorter_v10", (4, 1), "win")
    assert all(pair.p_holm is None or pair.delta.p is None or pair.p_holm >= pair.delta.p for pair in found.pairs)
    assert {"win", "within rerun noise", "inconclusive"} >= {pair.verdict for pair in found.pairs}


def test_champion_on_shared_documents(real_data: Path) -> None:
    found = champion(current(real_data), "subtype", fractions=(1.0,))

    assert found.model == "qwen/qwen3.7-flash"
    assert {"sorter_v13", "sorter_v15"} <= set(found.co_champions)
    assert found.n >= 254
    assert "sorter_v3" in found.left_out
    assert all(version.accuracy.n == found.n for version in found.versions)


def test_failures_cluster(real_data: Path) -> None:
    found = failures(current(real_data))

    assert f"{found.fit.p_first:.2%}" == "2.06%"
    assert [run[:2] for run in found.fit.worst_runs[:3]] == [("084", 243), ("142", 93), ("102", 42)]
    assert found.failure_rate_clustered > 100 * found.failure_rate > 0
    assert found.beta is not None
    assert found.beta[0] / sum(found.beta) == pytest.approx(found.fit.p_first)


def test_check_of_a_tail_by_a_stronger_model(real_data: Path) -> None:
    tail = tail_slice(current_votes(real_data, "subtype"))

    found = check_slice(tail, answers_of(current(real_data), "subtype", models=[PRO]))

    assert (found.n, found.n_missing) == (76, 0)
    assert not found.holds
    assert (found.delta.value or 0) > 0.2
