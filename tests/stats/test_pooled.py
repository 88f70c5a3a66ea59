"""Pooled ratios: by resampled documents, by resampled clusters, and from counts of independent rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dojo_kit.stats.intervals import Bootstrap
from dojo_kit.stats.pooled import RATIOS, Ratio, pooled_ratio, pooled_ratio_of_rows, ratio_summands, statistic_of_cells

outcomes = st.lists(st.tuples(*[st.integers(0, 5)] * 3), min_size=1, max_size=15)


@pytest.mark.parametrize(
    ("ratio", "value"),
    [("precision", 6 / 8), ("recall", 6 / 10), ("f1", 12 / 18), ("f2", 30 / 48), ("jaccard", 6 / 12)],
)
def test_definitions(ratio: Ratio, value: float) -> None:
    """6 found, 2 invented, 4 missed, over three documents."""
    assert pooled_ratio(ratio, [1, 2, 3], [0, 2, 0], [4, 0, 0]).value == pytest.approx(value)
    assert pooled_ratio_of_rows(ratio, 6, 2, 4).value == pytest.approx(value)


@given(outcomes)
def test_f1_is_the_harmonic_mean_and_dice(rows: list[tuple[int, int, int]]) -> None:
    """Ratios keep the identities that tie them together, and stay within 0 and 1."""
    tp, fp, fn = np.array(rows).T
    value = {ratio: pooled_ratio(ratio, tp, fp, fn, bootstrap=Bootstrap(50)).value for ratio in RATIOS}

    assert all(v is None or 0 <= v <= 1 for v in value.values())
    if value["precision"] and value["recall"]:
        p, r = value["precision"], value["recall"]
        assert value["f1"] == pytest.approx(2 * p * r / (p + r))
        assert value["f2"] == pytest.approx(5 * p * r / (4 * p + r))
        assert value["jaccard"] == pytest.approx(value["f1"] / (2 - value["f1"]))


def test_documents_and_rows_agree_when_rows_are_documents() -> None:
    """One row per document: resampling indices and drawing counts are one distribution."""
    rng = np.random.default_rng(0)
    cell = rng.choice(4, size=2000, p=[0.4, 0.1, 0.15, 0.35])
    tp, fp, fn = (cell == 0), (cell == 1), (cell == 2)
    documents = pooled_ratio("f1", tp, fp, fn)
    rows = pooled_ratio_of_rows("f1", int(tp.sum()), int(fp.sum()), int(fn.sum()), int((cell == 3).sum()))

    assert rows.value == documents.value
    assert (rows.lo, rows.hi) == pytest.approx((documents.lo, documents.hi), abs=0.002)
    assert (rows.n, rows.method) == (2000, "percentile-counts")


def test_clusters_widen() -> None:
    """Documents of one contract that fail together tell less than as many independent ones."""
    tp = np.repeat([0, 4], 30)
    plain = pooled_ratio("recall", tp, 0 * tp, 4 - tp)
    clustered = pooled_ratio("recall", tp, 0 * tp, 4 - tp, clusters=np.arange(60) // 10)

    assert clustered.hi - clustered.lo > 2 * (plain.hi - plain.lo)
    assert (clustered.n, clustered.method) == (6, "cluster percentile")


def test_any_statistic_of_cells() -> None:
    """A mean of few distinct values, from their counts; impossible counts are refused."""
    cells = np.array([[0.0, 1.0], [0.5, 1.0], [1.0, 1.0]])
    estimate = statistic_of_cells(cells, [10, 20, 30], lambda sums: sums[:, 0] / sums[:, 1])

    assert (estimate.value, estimate.n) == (pytest.approx(40 / 60), 60)
    assert statistic_of_cells(cells, [0, 0, 0], lambda sums: sums[:, 0]).note == "no units"
    with pytest.raises(ValueError, match="3 numbers of rows"):
        statistic_of_cells(cells, [1, -1, 0], lambda sums: sums[:, 0])


def test_undefined_ratios() -> None:
    """Nothing predicted: precision is None with a reason. Unknown names are refused."""
    assert pooled_ratio_of_rows("precision", 0, 0, 4).note == "the denominator is zero"
    assert pooled_ratio("precision", [0], [0], [4]).value is None
    with pytest.raises(ValueError, match="known: precision, recall"):
        ratio_summands("f3", [1], [1], [1])  # type: ignore[arg-type]
