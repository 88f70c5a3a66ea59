"""Closed forms of failing pipelines against simulation, and what clustering does to them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dojo_kit.errors import SettingsError
from dojo_kit.records import LabelRow, Run, RunMeta
from dojo_kit.simulate import Corpus, corpus_of, failures
from dojo_kit.simulate.outages import RunRates, fit_beta, resampled_failures
from dojo_kit.simulate.pipeline import expected_attempts, failure_probability, p_more_than, poisson_tail
from dojo_kit.stats.intervals import Bootstrap


def corpus_with(*failed: int, size: int = 50) -> Corpus:
    """Make a corpus of runs with a number of failed calls each."""
    runs = []
    for number, n_failed in enumerate(failed):
        rows = [
            LabelRow(f"d{i}", status="failed" if i < n_failed else "completed", predicted="license", expected="license")
            for i in range(size)
        ]
        runs.append(Run(RunMeta("subtype_classification", f"e{number}"), tuple(rows), source=f"{number}.json"))
    return corpus_of(runs)


@pytest.mark.parametrize(("p", "tries", "fallback"), [(0.3, 1, 0.0), (0.3, 3, 0.0), (0.5, 2, 0.8), (0.2, 1, 0.97)])
def test_closed_forms_agree_with_simulation(p: float, tries: int, fallback: float) -> None:
    rng = np.random.default_rng(1)
    failed = rng.random((200_000, tries)) < p
    hopeless = failed.all(axis=1)
    lost = hopeless & (rng.random(200_000) >= fallback)
    made = np.where(hopeless, tries, failed.argmin(axis=1) + 1) + (hopeless & (fallback > 0))

    assert failure_probability(p, tries, fallback) == pytest.approx(lost.mean(), abs=0.003)
    assert expected_attempts(p, tries, fallback) == pytest.approx(made.mean(), abs=0.01)


@given(p=st.floats(0, 1), tries=st.integers(1, 8), fallback=st.floats(0, 1))
def test_more_tries_never_hurt(p: float, tries: int, fallback: float) -> None:
    rate = failure_probability(p, tries, fallback)

    assert 0 <= failure_probability(p, tries + 1, fallback) <= rate <= 1
    assert 1 <= expected_attempts(p, tries, 0.0) <= tries


def test_tails_of_counts() -> None:
    from scipy.stats import binom, poisson

    assert p_more_than(500, 0.01, 0.012) == pytest.approx(binom.sf(5, 500, 0.012))
    assert poisson_tail(10, 7.5) == pytest.approx(poisson.sf(10, 7.5))
    assert poisson_tail(3_200, 5_000.0) == 1.0
    assert p_more_than(10, 1.0, 0.5) == 0.0


def test_an_outage_is_not_spread_over_all_runs() -> None:
    even, outage = failures(corpus_with(5, 5, 5, 5)), failures(corpus_with(20, 0, 0, 0))

    assert even.fit.p_first == outage.fit.p_first == 0.1
    assert even.beta is None
    assert even.failure_rate_clustered == even.failure_rate
    assert outage.beta is not None
    assert outage.failure_rate_clustered > 10 * outage.failure_rate
    assert (outage.fit.rate.hi or 0) > (outage.fit.independent.hi or 1)


def test_one_try_fails_as_often_as_calls_do_either_way() -> None:
    found = failures(corpus_with(20, 0, 3, 0), max_tries=1, fallback=0.0)

    assert found.failure_rate == found.failure_rate_clustered == pytest.approx(found.fit.p_first)


def test_no_failures() -> None:
    found = failures(corpus_with(0, 0))

    assert (found.failure_rate, found.mean_attempts, found.beta) == (0.0, 1.0, None)
    assert (found.fit.independent.hi or 0) > 0
    assert found.as_dict()["scales"][0]["expected"] == 0


def test_everything_failed() -> None:
    found = failures(corpus_with(50, 50), fallback=0.0)

    assert (found.failure_rate, found.mean_attempts) == (1.0, 3.0)
    assert found.scales["resampled_median"].tolist() == [1_000, 25_000, 320_000]


def test_a_production_run_is_made_of_whole_runs() -> None:
    runs = RunRates(np.array([0, 10]), np.array([10, 10]))

    drawn = resampled_failures(runs, 1_003, lambda p: p, Bootstrap(200))

    assert drawn.mean() == pytest.approx(501.5, abs=15)
    assert drawn.max() <= 1_003
    assert resampled_failures(runs, 4, lambda p: p, Bootstrap(50)).tolist().count(0.0) > 10


def test_a_beta_distribution_is_found_again() -> None:
    rng = np.random.default_rng(3)
    sizes = np.full(400, 300)
    failed = rng.binomial(sizes, rng.beta(0.5, 9.5, size=400))

    a, b = fit_beta(RunRates(failed, sizes)) or (0, 0)

    assert a / (a + b) == pytest.approx(0.05, abs=0.01)
    assert a + b == pytest.approx(10, rel=0.3)


def test_numbers_out_of_range_are_refused() -> None:
    with pytest.raises(SettingsError, match="max_tries"):
        failures(corpus_with(1), max_tries=0)
    with pytest.raises(SettingsError, match="fallback"):
        failures(corpus_with(1), fallback=1.5)
