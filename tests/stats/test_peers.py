"""scipy, statsmodels and scikit-learn agree where they compute the same thing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from sklearn.metrics import f1_score, fbeta_score, jaccard_score, precision_score, recall_score
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from dojo_kit.stats.compare import holm, mcnemar, paired_delta, sign_flip, two_sample_delta
from dojo_kit.stats.intervals import Bootstrap, wilson
from dojo_kit.stats.means import Method, mean_interval, ratio_interval
from dojo_kit.stats.pooled import RATIOS, pooled_ratio
from dojo_kit.stats.significance import shuffle_arms, swap_arms

Array = NDArray[np.float64]
FAST = Bootstrap(100)
# hundredths, as scores are: values that differ differ by more than float noise
scores = st.lists(st.integers(0, 100).map(lambda hundredths: hundredths / 100), min_size=3, max_size=12)
pairs = st.lists(st.tuples(st.integers(0, 100), st.integers(0, 100)), min_size=2, max_size=9)


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson(counts: tuple[int, int]) -> None:
    """statsmodels' and scipy's Wilson intervals."""
    estimate = wilson(*counts)
    peer = stats.binomtest(*counts).proportion_ci(method="wilson")

    assert (estimate.lo, estimate.hi) == pytest.approx(proportion_confint(*counts, method="wilson"), abs=1e-12)
    assert (estimate.lo, estimate.hi) == pytest.approx((peer.low, peer.high), abs=1e-12)


@pytest.mark.parametrize(("method", "peer"), [("percentile", "percentile"), ("bca", "BCa")])
@pytest.mark.parametrize("statistic", ["mean", "ratio"])
def test_bootstrap(method: Method, peer: str, statistic: str) -> None:
    """scipy draws other replicates: with 20,000 the bounds are close, also BCa's on skewed units."""
    rng = np.random.default_rng(0)
    values, weights = rng.beta(8, 1, 60), rng.integers(1, 9, 60).astype(float)
    numerators, denominators = (values, np.ones(60)) if statistic == "mean" else (values * weights, weights)
    estimate = ratio_interval(numerators, denominators, method=method, bootstrap=Bootstrap(20_000))

    def ratio(a: Array, b: Array, axis: int) -> Array:
        return np.asarray(a.sum(axis=axis) / b.sum(axis=axis))

    expected = stats.bootstrap(
        (numerators, denominators), ratio, paired=True, vectorized=True, n_resamples=20_000, method=peer, rng=rng
    ).confidence_interval
    width = expected.high - expected.low

    assert (estimate.lo, estimate.hi) == pytest.approx((expected.low, expected.high), abs=0.03 * width)


@given(scores)
def test_student(values: list[float]) -> None:
    """scipy's interval of a one-sample t-test, and of a paired one as the interval of the differences."""
    estimate = mean_interval(values, method="t")
    others = np.roll(values, 1)
    paired = mean_interval(np.array(values) - others, method="t")

    if len(set(values)) > 1:
        assert (estimate.lo, estimate.hi) == pytest.approx(stats.ttest_1samp(values, 0).confidence_interval())
        assert (paired.lo, paired.hi) == pytest.approx(stats.ttest_rel(values, others).confidence_interval())


def test_paired_percentile_approaches_the_t_test() -> None:
    """With many documents interval and p of a paired difference are those of scipy's paired t-test."""
    rng = np.random.default_rng(1)
    a = rng.beta(5, 2, 900)
    b = np.clip(a + rng.normal(0.004, 0.06, 900), 0, 1)
    delta, peer = paired_delta(a, b), stats.ttest_rel(b, a)

    assert (delta.lo, delta.hi) == pytest.approx(tuple(peer.confidence_interval()), abs=0.0006)
    assert delta.p == pytest.approx(peer.pvalue, abs=0.01)


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar(only_a: int, only_b: int) -> None:
    """statsmodels' exact McNemar and scipy's binomial test."""
    peer = statsmodels_mcnemar([[5, only_a], [only_b, 9]], exact=True)

    assert mcnemar(only_a, only_b) == pytest.approx(peer.pvalue)
    if only_a + only_b:
        assert mcnemar(only_a, only_b) == pytest.approx(stats.binomtest(only_a, only_a + only_b).pvalue)


@settings(max_examples=40, deadline=None)
@given(pairs)
def test_sign_flips(rows: list[tuple[int, int]]) -> None:
    """scipy's exact paired permutation test enumerates the same swaps."""
    a, b = np.array(rows, dtype=float).T / 100
    p, method = sign_flip(b - a)
    peer = stats.permutation_test(
        (a, b), lambda x, y, axis: np.mean(y - x, axis=axis), permutation_type="samples", vectorized=True
    )

    assert method == "sign-flip exact"
    assert p == pytest.approx(min(1.0, peer.pvalue))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(*[st.integers(0, 5)] * 4), min_size=2, max_size=7))
def test_swapped_ratios(rows: list[tuple[int, int, int, int]]) -> None:
    """scipy's paired permutation of unit numbers, with a pooled ratio as the statistic."""
    arms = np.array(rows, dtype=float) + np.array([0, 1, 0, 1])
    both = np.concatenate([arms[:, :2], arms[:, 2:]])
    n = len(arms)

    def difference(x: NDArray[np.int64], y: NDArray[np.int64], axis: int) -> Array:
        (a, a_weights), (b, b_weights) = (np.moveaxis(both[units], -1, 0).sum(axis=axis) for units in (x, y))
        return np.asarray(b / b_weights - a / a_weights)

    peer = stats.permutation_test(
        (np.arange(n), np.arange(n) + n),
        difference,
        permutation_type="samples",
        vectorized=True,
    )

    assert swap_arms(arms).p == pytest.approx(min(1.0, peer.pvalue))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=2, max_size=5), st.lists(st.integers(0, 9), min_size=2, max_size=5))
def test_shuffled_arms(a: list[int], b: list[int]) -> None:
    """scipy's exact permutation test of independent samples; ours counts |difference|, not twice a tail."""
    one, two = (np.column_stack([values, np.ones(len(values))]) for values in (a, b))
    found = shuffle_arms(one, two)
    peer = stats.permutation_test(
        (np.array(a), np.array(b)),
        lambda x, y, axis: np.abs(np.mean(y, axis=axis) - np.mean(x, axis=axis)),
        alternative="greater",
        vectorized=True,
    )

    assert found.method == "permutation exact"
    assert found.p == pytest.approx(peer.pvalue)


@settings(max_examples=40)
@given(st.lists(st.integers(0, 1), min_size=1, max_size=30), st.lists(st.integers(0, 1), min_size=1, max_size=30))
def test_binary_samples(a: list[int], b: list[int]) -> None:
    """All deals of 0/1 units at once are Fisher's exact test when arms are equally large."""
    n = min(len(a), len(b))
    delta = two_sample_delta(a[:n], b[:n], bootstrap=FAST)
    table = [[sum(a[:n]), n - sum(a[:n])], [sum(b[:n]), n - sum(b[:n])]]

    assert delta.p_method == "permutation exact"
    assert delta.p == pytest.approx(stats.fisher_exact(table).pvalue)


def test_random_flips_are_close_to_all_flips() -> None:
    """Beyond what is enumerated, 10,000 pinned flips come close to scipy's 200,000."""
    differences = np.random.default_rng(2).normal(0.02, 0.06, 40)
    p, method = sign_flip(differences)
    peer = stats.permutation_test(
        (differences, np.zeros(40)),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=200_000,
        batch=20_000,
        rng=np.random.default_rng(0),
    )

    assert method == "sign-flip"
    assert p == pytest.approx(peer.pvalue, abs=0.01)


@settings(max_examples=10, deadline=None)  # statsmodels collects garbage in every call
@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm(p_values: list[float]) -> None:
    """statsmodels' step-down correction."""
    assert holm(p_values) == pytest.approx(multipletests(p_values, method="holm")[1])


@settings(max_examples=30)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40))
def test_ratios(rows: list[tuple[bool, bool]]) -> None:
    """scikit-learn's precision, recall, F1, F2 and Jaccard of binary labels; undefined is None there 0."""
    expected, predicted = np.array(rows).T
    tp, fp, fn = expected & predicted, ~expected & predicted, expected & ~predicted
    peers = {
        "precision": precision_score(expected, predicted, zero_division=np.nan),
        "recall": recall_score(expected, predicted, zero_division=np.nan),
        "f1": f1_score(expected, predicted, zero_division=np.nan),
        "f2": fbeta_score(expected, predicted, beta=2, zero_division=np.nan),
        "jaccard": jaccard_score(expected, predicted, zero_division=0),
    }

    for ratio in RATIOS:
        value = pooled_ratio(ratio, tp, fp, fn, bootstrap=FAST).value
        if value is None:
            assert np.isnan(peers[ratio]) or not (tp | fp | fn).any()
        else:
            assert value == pytest.approx(peers[ratio])
