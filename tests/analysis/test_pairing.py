"""Units of a paired difference are drawn by the names of the documents as spelled, everywhere alike."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from compared_runs import stored_run

from dojo_kit.analysis.compare import compare
from dojo_kit.analysis.leaderboard import leaderboard
from dojo_kit.analysis.noise import noise_floor
from dojo_kit.records import Run
from dojo_kit.runs import read_run

HEADLINE = "overall_extraction_score"


def runs_with_odd_names() -> tuple[Run, Run]:
    """Capital letters and punctuation order names otherwise than their keys."""
    rng = np.random.default_rng(7)
    names = [f"{'Zz' if index % 3 else 'zz'} {'-' * (index % 4)}doc {index % 10}{index}.pdf" for index in range(40)]
    rounded = rng.random((2, 40)).round(3)
    first, second = (
        stored_run({name: {"x": float(value)} for name, value in zip(names, values, strict=True)}, name=run, prompt=run)
        for run, values in zip("ab", rounded, strict=True)
    )
    return first, second


def test_the_order_is_that_of_the_names_of_the_first_run() -> None:
    """By hand: the pinned stream over differences in that order."""
    a, b = runs_with_odd_names()
    scores = [{row.document: row.stored["overall_score"] for row in run.rows} for run in (a, b)]
    differences = np.array([scores[1][name] - scores[0][name] for name in sorted(scores[0])])
    rng = np.random.default_rng(42)
    means = [differences[rng.integers(0, 40, size=40)].mean() for _ in range(2000)]
    found = compare(a, b).headline
    assert (found.delta.lo, found.delta.hi) == pytest.approx(tuple(np.percentile(means, [2.5, 97.5])))


def test_compare_noise_and_leaderboard_agree() -> None:
    a, b = runs_with_odd_names()
    meta = type(a.meta)(**{name: getattr(a.meta, name) for name in a.meta.__slots__} | {"name": "b"})
    b = Run(meta, b.rows, source="b.json")
    delta = compare(a, b).headline.delta
    pair = noise_floor([a, b], metrics=[HEADLINE]).pairs.iloc[0]
    assert (pair["lo"], pair["hi"], pair["p"]) == (delta.lo, delta.hi, delta.p)
    (board,) = leaderboard([a, b])
    worse = compare(board.runs[0], board.runs[1]).headline.delta
    assert board.table[["delta_lo", "delta_hi"]].values[1].tolist() == [worse.lo, worse.hi]


def test_published_intervals(real_data: Path) -> None:
    """43 and 46 as published; 75 and 78 as in the table of rerun pairs."""
    runs = {number: read_run(real_data / "runs" / f"{number:03}.json") for number in (43, 46, 75, 78)}
    delta = compare(runs[43], runs[46]).headline.delta
    assert [round(value, 4) for value in (delta.value, delta.lo, delta.hi)] == [0.0101, -0.0031, 0.0257]
    delta = compare(runs[75], runs[78]).headline.delta
    pair = noise_floor([runs[75], runs[78]], metrics=[HEADLINE]).pairs.iloc[0]
    assert (delta.lo, delta.hi) == (pair["lo"], pair["hi"])
    assert (delta.value, delta.lo, delta.hi) == pytest.approx((-0.0293, -0.0503, -0.0102), abs=3e-4)


def test_estimates_of_both_runs_are_those_of_the_runs_themselves(real_data: Path) -> None:
    a, b = (read_run(real_data / "runs" / f"{number}.json") for number in ("043", "046"))
    found, (board,) = compare(a, b).headline, leaderboard([a, b])
    alone = board.table.set_index("run")
    for run, estimate in ((a, found.a), (b, found.b)):
        assert alone.loc[run.name, ["lo", "hi"]].tolist() == [estimate.lo, estimate.hi]
