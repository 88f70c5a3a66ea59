"""A judge against the score. Right values: counted by hand, and scikit-learn's kappa."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dojo_kit.analysis.judging import (
    CORRECTNESS,
    Judgment,
    LabelJudgment,
    calibrate_judge,
    summarise_label_judgments,
)
from dojo_kit.errors import InputError
from dojo_kit.settings import Settings
from dojo_kit.stats.intervals import wilson

SCORES = (0.9, 0.7, 0.3)
"""One score of each band."""


def rows(table: list[list[int]]) -> list[Judgment]:
    """Return judgments with these counts by band and verdict."""
    cells = [(band, verdict) for band in range(3) for verdict in range(3) for _ in range(table[band][verdict])]
    return [
        Judgment(f"d{index:03}", SCORES[band], CORRECTNESS[verdict], ("parties",) if index % 2 else ("law", "parties"))
        for index, (band, verdict) in enumerate(cells)
    ]


TABLE = [[10, 3, 2], [4, 5, 1], [1, 2, 7]]


def test_published_figures() -> None:
    """By hand: 35 scored rows, 10 + 7 agree, 2 strict, 1 lenient; 20 rows are decisive."""
    found = calibrate_judge(
        [*rows(TABLE), Judgment("x", 0.9, None, error="parse error"), Judgment("y", None, "partial")]
    )

    assert (found.n_judged, found.n_scored, found.n_errors) == (37, 35, 1)
    assert (found.judge_strict, found.judge_lenient) == (2, 1)
    assert found.agree_rate == wilson(17, 35)
    assert found.decisive_agreement == wilson(17, 20)
    assert found.table.to_numpy().tolist() == TABLE
    assert (found.strong, found.weak) == (0.85, 0.5)


@pytest.mark.parametrize(("score", "band"), [(0.85, "strong"), (0.8499, "middle"), (0.5001, "middle"), (0.5, "weak")])
def test_ends_of_bands_belong_to_the_outer_ones(score: float, band: str) -> None:
    table = calibrate_judge([Judgment("a", score, "partial")]).table

    assert table.loc[band, "partial"] == 1


def test_bands_follow_the_settings() -> None:
    settings = Settings().override({"field_scoring.ambiguous_band": [0.2, 0.6]})

    found = calibrate_judge([Judgment("a", 0.7, "accurate"), Judgment("b", 0.4, "accurate")], settings=settings)

    assert found.agree_rate == wilson(1, 2)
    assert found.as_dict()["bands"] == {"strong_ge": 0.6, "weak_le": 0.2}


counts = st.lists(st.integers(0, 6), min_size=9, max_size=9).map(lambda flat: np.reshape(flat, (3, 3)).tolist())


@given(counts)
def test_kappa_is_that_of_scikit_learn(table: list[list[int]]) -> None:
    from sklearn.metrics import cohen_kappa_score

    array = np.array(table)
    if min(np.count_nonzero(array.sum(axis=0)), np.count_nonzero(array.sum(axis=1))) < 2:
        return  # undefined, or 0 by construction
    found = calibrate_judge(rows(table), settings=Settings().override({"statistics.n_resamples": 10}))
    cells = [(band, verdict) for band in range(3) for verdict in range(3) for _ in range(table[band][verdict])]
    bands, verdicts = zip(*cells, strict=True)
    labels = [0, 1, 2]

    for estimate, weights in ((found.kappa, None), (found.kappa_weighted, "linear")):
        assert estimate.value == pytest.approx(cohen_kappa_score(bands, verdicts, labels=labels, weights=weights))


def test_kappa_has_an_interval_over_documents() -> None:
    found = calibrate_judge(rows(TABLE))

    assert found.kappa.lo is not None
    assert found.kappa.hi is not None
    assert found.kappa.lo < (found.kappa.value or 0) < found.kappa.hi
    assert (found.kappa.method, found.kappa.n, found.kappa.seed) == ("percentile", 35, 42)


def test_kappa_says_when_it_is_undefined() -> None:
    nothing = calibrate_judge([])
    constant = calibrate_judge([Judgment("a", 0.9, "accurate"), Judgment("b", 0.95, "accurate")])
    one_band = calibrate_judge([Judgment("a", 0.9, "accurate"), Judgment("b", 0.95, "partial")])

    assert (nothing.kappa.value, nothing.agree_rate.value, nothing.n_judged) == (None, None, 0)
    assert "both a verdict and a score" in nothing.kappa.note
    assert constant.kappa.value is None
    assert "by chance is complete" in constant.kappa.note
    assert (one_band.kappa.value, one_band.kappa.lo) == (0.0, None)
    assert one_band.kappa.note == "every score is in one band: kappa is 0 whatever the other says"


def test_no_row_can_be_decisive() -> None:
    found = calibrate_judge([Judgment("a", 0.7, "accurate"), Judgment("b", 0.9, "partial")])

    assert found.agree_rate.value == 0
    assert found.decisive_agreement.value is None
    assert "partial" in found.decisive_agreement.note


def test_lean_by_field_and_band() -> None:
    """By hand: a strict verdict is a step of -1, a lenient one of +1, a neighbouring one of a half."""
    found = calibrate_judge(
        [
            Judgment("a", 0.9, "inaccurate", ("law", "term")),
            Judgment("b", 0.3, "accurate", ("law",)),
            Judgment("c", 0.7, "accurate", ("law",)),
            Judgment("d", 0.9, "accurate", ("term",)),
        ]
    )
    fields = found.by_field.set_index("field")
    bands = found.by_band.set_index("band")

    assert found.lean.value == pytest.approx(0.5 / 4)
    assert fields.loc["law", ["n", "accurate", "strict", "lenient", "agree"]].tolist() == [3, 2, 1, 1, 0]
    assert fields.loc["law", "lean"] == pytest.approx(0.5 / 3)
    assert fields.loc["term", "lean"] == pytest.approx(-0.5)
    assert bands.loc["weak", "lean"] == 1
    assert bands.loc["strong", ["n", "agree", "strict"]].tolist() == [2, 1, 1]


def test_order_of_rows_does_not_matter() -> None:
    forward, backward = calibrate_judge(rows(TABLE)), calibrate_judge(rows(TABLE)[::-1])

    assert forward.as_dict() == backward.as_dict()


def test_mixed_judges_and_runs_are_refused() -> None:
    mixed = [Judgment("a", 0.9, "accurate", judge="m"), Judgment("a", 0.9, "inaccurate", judge="n")]

    with pytest.raises(InputError, match="judgments of 2 judges are mixed: 'm', 'n'"):
        calibrate_judge(mixed)
    with pytest.raises(InputError, match="no judge 'o'; expected one of 'm', 'n'"):
        calibrate_judge(mixed, judge="o")
    assert calibrate_judge(mixed, judge="n").judge_strict == 1
    with pytest.raises(InputError, match="2 experiments"):
        calibrate_judge([Judgment("a", 0.9, "accurate", experiment=name) for name in "xy"])


def test_as_dict_is_json() -> None:
    import json

    value: dict[str, Any] = json.loads(json.dumps(calibrate_judge(rows(TABLE)).as_dict(), allow_nan=False))

    assert value["table"]["strong"] == {"accurate": 10, "partial": 3, "inaccurate": 2}
    assert value["by_field"][0]["field"] == "law"
    assert json.dumps(calibrate_judge([]).as_dict(), allow_nan=False)


def test_label_judgments() -> None:
    found = summarise_label_judgments(
        [
            LabelJudgment("a", "license", "ip", "correct", 1.0),
            LabelJudgment("b", "license", "ip", "ambiguous", 0.0),
            LabelJudgment("c", "lease", "supply", None),
        ]
    )

    assert found.verdicts == {"correct": 1, "incorrect": 0, "ambiguous": 1}
    assert found.correct_share == wilson(1, 2)
    assert found.quality.value == 0.5
    assert found.pairs.to_dict("records") == [
        {"expected": "license", "predicted": "ip", "n": 2, "n_correct": 1},
        {"expected": "lease", "predicted": "supply", "n": 1, "n_correct": 0},
    ]
    nothing = summarise_label_judgments([])
    assert (nothing.n, nothing.correct_share.value, nothing.quality.note) == (0, None, "the judge stated no quality")
