"""A sweep repeats the scorer: at the run's own thresholds it gives the run's numbers, at others a rescored run's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dojo_kit.analysis.attribution import attribute
from dojo_kit.analysis.thresholds import sweep
from dojo_kit.errors import InputError
from dojo_kit.runs import load_labels, read_run
from dojo_kit.scoring.embedding import quantise
from dojo_kit.scoring.run import ScoredRun, score_run
from dojo_kit.settings import Settings
from dojo_kit.views import sweep_view

DATA = Path(__file__).parents[2] / "data"
LISTS = ("parties", "key_obligations", "termination_clauses")


class HashedWords:
    """An embedder for tests: words as random directions."""

    name = "hashed"
    dimension = 64

    def encode(self, texts: Any) -> Any:
        rows = []
        for text in texts:
            seeds = [sum(word.encode()) for word in text.lower().split()] or [0]
            vector = sum(np.random.default_rng(seed).normal(size=self.dimension) for seed in seeds)
            rows.append(vector / np.linalg.norm(vector))
        return quantise(np.array(rows))


def scored(embedder: Any = None, **scoring: Any) -> ScoredRun:
    settings = Settings.load(overrides={f"field_scoring.{name}": value for name, value in scoring.items()})
    labels = load_labels(DATA / "labels.json")
    return score_run(read_run(DATA / "runs" / "extraction_v1_small.json"), labels, embedder=embedder, settings=settings)


@pytest.fixture(scope="module")
def run() -> ScoredRun:
    return scored()


@pytest.mark.parametrize("field", LISTS)
def test_the_runs_own_thresholds_give_the_runs_numbers(run: ScoredRun, field: str) -> None:
    base = sweep(run, field, thresholds=[0.6]).base
    metrics, counts = run.metrics(), attribute(run).counts(field)
    assert (base.score, base.precision) == (metrics[f"{field}_score"], metrics[f"{field}_precision"])
    assert (base.matched, base.expected, base.flips) == (counts["matched"], counts["n_expected"], 0)
    assert base.recall == attribute(run).recall(field)


@pytest.mark.parametrize("threshold", [0.35, 0.5, 0.75, 0.9])
def test_another_threshold_is_a_run_scored_with_it(run: ScoredRun, threshold: float) -> None:
    other = scored(match_threshold=threshold)
    for field in LISTS:
        state = next(s for s in sweep(run, field, thresholds=[threshold]).states if s.threshold == threshold)
        assert state.matched == (other.spans.query("field == @field")["status"] == "matched").sum()
        assert state.score == other.metrics()[f"{field}_score"]


def test_without_the_rule_for_samples_of_labels(run: ScoredRun) -> None:
    other = scored(partial_gt_fields=[])
    for field in LISTS:
        state = sweep(run, field, thresholds=[0.6]).rules[False][0]
        assert state.score == other.metrics()[f"{field}_score"]


@pytest.mark.parametrize("gate", [0.0, 0.4, 0.7])
def test_another_rescue_gate_is_a_run_scored_with_it(gate: float) -> None:
    rescued = scored(HashedWords())
    other = scored(HashedWords(), embedding_rescue_below=gate)
    state = next(s for s in sweep(rescued, "key_obligations", thresholds=[0.4]).gates if s.rescue_below == gate)
    assert state.matched == (other.spans.query("field == 'key_obligations'")["status"] == "matched").sum()
    assert state.score == other.metrics()["key_obligations_score"]


def test_flips_lead_from_the_run_to_every_state(run: ScoredRun) -> None:
    swept = sweep(run, "key_obligations")
    for state in swept.states:
        away = swept.flips["at"] - 0.6
        there = (away * (state.threshold - 0.6) > 0) & (away.abs() <= abs(state.threshold - 0.6) + 1e-9)
        back = (swept.flips["until"] - 0.6).abs() <= abs(state.threshold - 0.6) + 1e-9
        assert (there & ~back).sum() == state.flips, state.threshold


def test_what_cannot_be_known_is_refused(run: ScoredRun) -> None:
    with pytest.raises(InputError, match=r"0\.1; expected numbers from 0\.2"):
        sweep(run, "key_obligations", thresholds=[0.1])
    with pytest.raises(InputError, match="did you mean 'key_obligations'"):
        sweep(run, "key_obligation")
    assert sweep(run, "parties", thresholds=[0.6]).gates == ()


def test_the_view_carries_every_state(run: ScoredRun) -> None:
    swept = sweep(run, "key_obligations")
    view = sweep_view(swept, attribute(run))
    assert [s["threshold"] for s in view["states"]] == [round(0.30 + 0.01 * n, 2) for n in range(66)]
    assert sum(view["histogram"]["counts"]) == np.count_nonzero(~np.isnan(swept.similarities))
    assert {flip["id"] for flip in view["flips"]} == set(swept.flips["id"])


def test_published_run(real_data: Path) -> None:
    labels = load_labels(f"cuad:{real_data / 'cuad'}")
    run = score_run(read_run(real_data / "runs" / "043.json"), labels, spans="first")
    swept = sweep(run, "key_obligations", thresholds=[0.5])
    assert swept.base.score == run.metrics()["key_obligations_score"]
    assert swept.base.matched == 180
