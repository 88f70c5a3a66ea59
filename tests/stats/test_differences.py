"""Differences: their sign, their pairing, ties, weights, clusters, power, and runs whose figures are known."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dojo_kit.stats.compare import (
    minimum_detectable_effect,
    paired_delta,
    required_n,
    two_sample_delta,
    verdict,
)
from dojo_kit.stats.intervals import Bootstrap

FAST = Bootstrap(200)
scores = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=25)
counts = st.lists(st.tuples(*[st.integers(0, 4)] * 4), min_size=1, max_size=12)


def test_interval_resamples_both_arms_jointly_on_the_pinned_stream() -> None:
    """A replicate draws units, and with a unit its values in both arms."""
    a, b = np.random.default_rng(3).random((2, 30))
    rng = np.random.default_rng(42)
    differences = [(b - a)[rng.integers(0, 30, size=30)].mean() for _ in range(2000)]
    delta = paired_delta(a, b)

    assert delta.value == pytest.approx((b - a).mean())
    assert (delta.lo, delta.hi) == pytest.approx(tuple(np.quantile(differences, [0.025, 0.975])))
    assert delta.p_win == pytest.approx(np.mean(np.array(differences) > 0))
    assert (delta.method, delta.n, delta.n_b, delta.seed, delta.n_boot) == ("paired percentile", 30, 30, 42, 2000)


def test_published_runs(real_data: Path) -> None:
    """Runs 043 and 046, stored overall score of 50 documents: +.0101 [-.0031, .0257], least detectable .0204."""
    a, b = _stored(real_data, "043"), _stored(real_data, "046")
    keys = sorted(a.keys() & b.keys())
    delta = paired_delta([a[key] for key in keys], [b[key] for key in keys])

    assert delta.n == 50
    assert delta.value == pytest.approx(0.0101, abs=5e-5)
    assert (delta.lo, delta.hi) == pytest.approx((-0.0031, 0.0257), abs=5e-5)
    assert delta.mde == pytest.approx(0.0204, abs=5e-5)
    assert delta.required_n == required_n(delta.sd, delta.value) == 203
    assert verdict(delta, None)[0] == "inconclusive"


def test_reruns_that_differ(real_data: Path) -> None:
    """Runs 075 and 078 have one configuration and differ by -.0293 [-.050, -.010]; named reruns they are no loss."""
    a, b = _stored(real_data, "075"), _stored(real_data, "078")
    keys = sorted(a.keys() & b.keys())
    delta = paired_delta([a[key] for key in keys], [b[key] for key in keys])

    assert delta.value == pytest.approx(-0.0293, abs=5e-5)
    assert (delta.lo, delta.hi) == pytest.approx((-0.050, -0.010), abs=5e-4)
    assert delta.excluded
    assert verdict(delta, None, rerun=True)[0] == "rerun"
    assert verdict(delta, None)[0] == "inconclusive: rerun noise not measured"


def _stored(folder: Path, run: str) -> dict[str, float]:
    rows = json.loads((folder / "runs" / f"{run}.json").read_text())["results"]
    return {row["filename"]: row["overall_score"] for row in rows}


@given(scores)
def test_swapped_arms_turn_the_sign(pairs: list[tuple[float, float]]) -> None:
    """A against B is B against A with everything turned round."""
    a, b = zip(*pairs, strict=True)
    forth, back = paired_delta(a, b, bootstrap=FAST), paired_delta(b, a, bootstrap=FAST)

    assert forth.value == pytest.approx(-back.value)
    assert (forth.lo, forth.hi) == pytest.approx((-back.hi, -back.lo))
    assert (forth.p_win, forth.p_tie, forth.p_loss) == (back.p_loss, back.p_tie, back.p_win)
    assert (forth.n_better, forth.n_equal, forth.n_worse) == (back.n_worse, back.n_equal, back.n_better)
    assert forth.p == pytest.approx(back.p)
    assert forth.n_better + forth.n_equal + forth.n_worse == forth.n == len(pairs)


@given(scores)
def test_lower_is_better_is_the_same_turned_round(pairs: list[tuple[float, float]]) -> None:
    """Of a metric such as a loss, positive still means that B is better."""
    a, b = zip(*pairs, strict=True)

    loss, gain = paired_delta(a, b, higher_is_better=False, bootstrap=FAST), paired_delta(b, a, bootstrap=FAST)
    assert (loss.value, loss.lo, loss.hi, loss.p) == pytest.approx((gain.value, gain.lo, gain.hi, gain.p))
    assert (loss.p_win, loss.n_better, loss.n_worse) == (gain.p_win, gain.n_better, gain.n_worse)
    up, down = two_sample_delta(a, b, bootstrap=FAST), two_sample_delta(a, b, higher_is_better=False, bootstrap=FAST)
    assert (up.value, up.p_win, up.p) == pytest.approx((-down.value, down.p_loss, down.p))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_an_arm_against_itself_is_a_tie(values: list[float]) -> None:
    """No difference, nothing but ties, and p is 1."""
    delta = paired_delta(values, values, bootstrap=FAST)

    assert (delta.value, delta.lo, delta.hi, delta.p, delta.p_tie, delta.required_n) == (0, 0, 0, 1, 1, None)
    assert delta.n_equal == len(values)
    assert not delta.excluded


def test_float_noise_is_a_tie() -> None:
    """0.1 + 0.2 against 0.3 differs in the last bit only."""
    delta = paired_delta([0.3] * 12, [0.1 + 0.2] * 12)

    assert (delta.value, delta.lo, delta.hi, delta.p_tie, delta.n_equal) == (0.0, 0.0, 0.0, 1.0, 12)


def test_units_missing_in_either_arm_are_left_out() -> None:
    """Only shared units are compared."""
    delta = paired_delta([0.5, math.nan, 0.2, 0.1], [0.7, 0.9, math.nan, 0.2])

    assert (delta.n, delta.value) == (2, pytest.approx(0.15))
    assert paired_delta([math.nan], [1.0]).note == "no shared units"


def test_binary_means_have_mcnemars_p() -> None:
    """0/1 without clusters is McNemar, also with weights of 1; with clusters or other values it is not."""
    a, b = [0, 0, 0, 0, 0, 0, 1, 1], [1, 1, 1, 1, 1, 1, 1, 0]

    assert paired_delta(a, b).p_method == "mcnemar exact"
    assert paired_delta(a, b, a_weights=[1] * 8, b_weights=[1] * 8).p_method == "mcnemar exact"
    assert paired_delta(a, b, clusters=list("aabbccdd")).p_method == "sign-flip exact"
    assert paired_delta([0.5, *a[1:]], b).p_method == "sign-flip exact"
    assert paired_delta(a, b, a_weights=[2] * 8, b_weights=[1] * 8).p_method == "permutation exact"


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=12))
def test_sign_flips_of_binary_differences_are_mcnemar(pairs: list[tuple[int, int]]) -> None:
    """Both tests count the same arrangements: every unit its own cluster gives McNemar's p."""
    a, b = zip(*pairs, strict=True)
    flipped = paired_delta(a, b, clusters=range(len(a)), bootstrap=FAST)

    assert flipped.p_method == "sign-flip exact"
    assert flipped.p == pytest.approx(paired_delta(a, b, bootstrap=FAST).p)


@given(counts)
def test_ratios_pool_sums(rows: list[tuple[int, int, int, int]]) -> None:
    """The difference of pooled ratios, or undefined where a denominator is 0."""
    a, b, more_a, more_b = np.array(rows, dtype=float).T
    delta = paired_delta(a, b, a_weights=a + more_a, b_weights=b + more_b, bootstrap=FAST)

    if (a + more_a).sum() == 0 or (b + more_b).sum() == 0:
        assert (delta.value, delta.note) == (None, "the denominator is zero")
    else:
        assert delta.value == pytest.approx(b.sum() / (b + more_b).sum() - a.sum() / (a + more_a).sum())
        assert delta.p is not None
        assert 0 < delta.p <= 1


def test_constant_weights_are_a_mean() -> None:
    """Weights of 7 change neither difference nor interval, deviation and p."""
    a, b = np.random.default_rng(5).random((2, 12))
    mean, ratio = paired_delta(a, b), paired_delta(7 * a, 7 * b, a_weights=[7] * 12, b_weights=[7] * 12)

    for name in ("value", "lo", "hi", "sd", "mde", "p"):
        assert getattr(ratio, name) == pytest.approx(getattr(mean, name))
    assert (mean.p_method, ratio.p_method) == ("sign-flip exact", "permutation exact")


def test_clusters_are_what_is_resampled() -> None:
    """Rows of one contract move together; n still counts rows, the interval rests on contracts."""
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 2, (2, 60))
    clusters = np.repeat(np.arange(6), 10)
    delta = paired_delta(a, b, clusters=clusters, bootstrap=Bootstrap(unit="contracts"))
    of_contracts = paired_delta(a.reshape(6, 10).mean(axis=1), b.reshape(6, 10).mean(axis=1))

    assert (delta.n, delta.n_clusters, delta.method) == (60, 6, "paired cluster percentile")
    assert (delta.value, delta.lo, delta.hi, delta.sd) == pytest.approx(
        (of_contracts.value, of_contracts.lo, of_contracts.hi, of_contracts.sd)
    )
    assert "n < 20" in delta.flags
    assert delta.scope.startswith("Intervals cover the sampling of contracts only")


def test_deviation_of_a_mean_is_that_of_the_differences() -> None:
    """Power rests on the paired differences, not on the spread of either arm."""
    a, b = np.random.default_rng(2).random((2, 40))
    delta = paired_delta(a, b)

    assert delta.sd == pytest.approx((b - a).std(ddof=1))
    assert delta.mde == pytest.approx(2.8 * (b - a).std(ddof=1) / math.sqrt(40))


def test_different_documents() -> None:
    """Two samples are drawn apart; with the same values as a pair the interval is far wider."""
    rng = np.random.default_rng(4)
    a = rng.random(80)
    b = np.clip(a + rng.normal(0.02, 0.03, 80), 0, 1)
    paired, apart = paired_delta(a, b), two_sample_delta(a, b)

    assert apart.value == pytest.approx(paired.value)
    assert (apart.hi - apart.lo) > 4 * (paired.hi - paired.lo)
    assert apart.method == "two-sample percentile"
    assert (apart.n_better, apart.n_equal, apart.n_worse) == (0, 0, 0)
    spread = math.sqrt(a.var(ddof=1) / 80 + b.var(ddof=1) / 80)
    assert (apart.hi - apart.lo) / 2 == pytest.approx(1.96 * spread, rel=0.06)
    assert apart.mde == pytest.approx(2.8 * spread)


def test_two_samples_of_clusters_and_ratios() -> None:
    """Weights and clusters work as in a pair, and are needed on both sides."""
    rng = np.random.default_rng(6)
    hits, more = rng.integers(0, 5, (2, 40))
    delta = two_sample_delta(
        hits[:24],
        hits[24:],
        a_weights=(hits + more)[:24],
        b_weights=(hits + more)[24:],
        a_clusters=np.arange(24) // 3,
        b_clusters=np.arange(16) // 2,
    )
    rates = [hits[part].sum() / (hits + more)[part].sum() for part in (slice(24), slice(24, None))]

    assert delta.value == pytest.approx(rates[1] - rates[0])
    assert (delta.n, delta.n_b, delta.n_clusters, delta.method) == (24, 16, 16, "two-sample cluster percentile")
    with pytest.raises(ValueError, match="both arms or for neither"):
        two_sample_delta([1], [0], a_clusters=["x"])
    assert two_sample_delta([], [1.0]).note == "no units in one arm"


def test_lengths_are_checked() -> None:
    """One weight and one cluster per unit, and as many units in A as in B."""
    with pytest.raises(ValueError, match="equally long"):
        paired_delta([1, 2], [1, 2], a_weights=[1])
    with pytest.raises(ValueError, match=r"same units, got 2 and 3"):
        paired_delta([1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match="one cluster per unit"):
        paired_delta([1, 2], [1, 2], clusters=["x"])


def test_one_unit_excludes_nothing() -> None:
    """The interval of one unit has no width, but the test does not reject."""
    delta = paired_delta([0.1], [0.9])

    assert (delta.p, delta.sd, delta.mde, delta.required_n) == (1.0, None, None, None)
    assert delta.interval_excludes_zero
    assert not delta.excluded


@pytest.mark.parametrize(
    ("sd", "delta", "n"),
    [(0.05, 0.01, 196), (0.05, -0.01, 196), (0.5, 1.4, 1), (0.1, 0.0, None), (0.1, None, None), (None, 1.0, None)],
)
def test_required_n(sd: float | None, delta: float | None, n: int | None) -> None:
    """((1.96 + .84) sd / delta)^2, rounded up."""
    assert required_n(sd, delta) == n


def test_power_figures_are_one_formula() -> None:
    """With the required n the least detectable effect is the difference itself."""
    needed = required_n(0.3, 0.05)
    assert needed is not None

    assert minimum_detectable_effect(0.3, needed) == pytest.approx(0.05, rel=0.01)
    assert minimum_detectable_effect(None, 10) is None
    assert minimum_detectable_effect(0.1, 0) is None


def test_as_dict_is_plain() -> None:
    """What goes into JSON has no empty flags, and names the unit only when it is not documents."""
    plain = paired_delta([0.1] * 30, [0.2] * 15 + [0.3] * 15).as_dict()
    named = paired_delta([0, 1], [1, 1], clusters=["x", "y"], bootstrap=Bootstrap(unit="queries")).as_dict()

    json.dumps([plain, named], allow_nan=False)
    assert not plain.keys() & {"flags", "note", "unit", "n_clusters"}
    assert (named["unit"], named["n_clusters"], named["flags"][0]) == ("queries", 2, "n < 20")


def test_without_spread_nothing_can_be_said_of_power() -> None:
    """All units differ by the same: a detectable difference of 0 would be a promise."""
    for delta in (paired_delta([0.5] * 4, [0.5] * 4), paired_delta([0.1, 0.3, 0.5], [0.2, 0.4, 0.6])):
        assert (delta.sd, delta.mde, delta.required_n) == (0.0, None, None)
    assert two_sample_delta([1.0, 1.0], [0.0, 0.0]).mde is None
    assert minimum_detectable_effect(0.0, 10) is None
    assert required_n(0.0, 0.1) is None


def test_infinite_numbers_are_refused() -> None:
    for arms in (([np.inf, 1.0], [1.0, 1.0]), ([1.0, 1.0], [1.0, -np.inf])):
        for compared in (paired_delta, two_sample_delta):
            with pytest.raises(ValueError, match="holds an infinite number"):
                compared(*arms)
