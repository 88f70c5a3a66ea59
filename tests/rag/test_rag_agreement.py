"""Agreement: the vectors aside, what is counted, what is left out, and resamples that say nothing."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from label_tables import answers, chunks

from dojo_kit.errors import InputError
from dojo_kit.rag import annotator_agreement, cohen_kappa, krippendorff_alpha, percentage_agreement

ROWS = ("11100", "11010", "11100", "01010", "00010", "11010")


def _judged(*labels: str, **columns: Any) -> pd.DataFrame:
    """Answers q0, q1, ... judged by ann and bob in turn."""
    n = len(labels)
    records = [f"q{at // 2}" for at in range(n)]
    return answers("generation", *labels, **{"annotator_id": ["ann", "bob"] * (n // 2), **columns}).assign(
        record_uuid=records
    )


def test_single_category_resamples_are_left_out_and_counted() -> None:
    """20 items, one disagreement, a rare positive: scored 1 they would pin the upper bound."""
    matrix = np.zeros((2, 20))
    matrix[:, 0], matrix[1, 1] = 1, 1

    alpha = krippendorff_alpha(matrix)
    assert 200 < alpha.n_single_category < 300
    assert alpha.estimate.flags == (f"{alpha.n_single_category} replicates undefined",)
    assert alpha.n_no_overlap == 0


def test_resamples_without_overlap_are_counted_apart() -> None:
    alpha = krippendorff_alpha([[1, 0, np.nan], [1, np.nan, 0]])

    assert (alpha.n_items, alpha.estimate.n) == (1, 3)
    assert alpha.n_no_overlap + alpha.n_single_category == 2000


def test_nobody_rated() -> None:
    alpha = krippendorff_alpha(np.full((2, 3), np.nan))

    assert (alpha.estimate.value, alpha.estimate.note) == (None, "no item has two ratings")
    assert percentage_agreement(np.full((2, 3), np.nan)) is None


@given(st.lists(st.tuples(*[st.sampled_from([0.0, 1.0, np.nan])] * 3), min_size=2, max_size=12))
def test_alpha_by_its_definition(items: list[tuple[float, ...]]) -> None:
    """Against the coincidence matrix written out pair by pair (Krippendorff 2011)."""
    matrix = np.array(items).T
    together = np.zeros((2, 2))
    for item in items:
        values = [int(value) for value in item if not np.isnan(value)]
        for i, a in enumerate(values):
            for j, b in enumerate(values):
                if i != j:
                    together[a, b] += 1 / (len(values) - 1)
    of_category, n = together.sum(axis=1), together.sum()
    alpha = krippendorff_alpha(matrix).estimate.value
    if n == 0:
        assert alpha is None
    elif (of_category == 0).any():
        assert alpha == 1.0
    else:
        expected = 1 - (n - 1) * (together[0, 1] + together[1, 0]) / (2 * of_category[0] * of_category[1])
        assert alpha == pytest.approx(expected, abs=1e-12)


def test_kappa_is_for_0_and_1() -> None:
    with pytest.raises(ValueError, match="labels of 0 and 1"):
        cohen_kappa([0, 2], [0, 1])
    with pytest.raises(ValueError, match="two lists of equal length"):
        cohen_kappa([0], [0, 1])


def test_report() -> None:
    found = annotator_agreement(_judged(*ROWS), "generation", n_resamples=200)

    by_label = {one.label: one for one in found.labels}
    assert by_label["proper_action"].percentage == pytest.approx(1 / 3)
    assert by_label["response_on_topic"].percentage == pytest.approx(2 / 3)
    assert dict(found.annotators) == {"ann": 3, "bob": 3}
    assert (found.n_items, found.n_items_shared) == (3, 3)
    assert found.pairs[0].n_shared_items == 3
    assert found.pairs[0].by_label["unsafe_content"] is None
    assert found.as_dict()["labels"][4]["note"].startswith("all ratings are of one category")


def test_what_is_not_counted() -> None:
    status = ["submitted"] * 4 + ["discarded", "submitted"]
    times = [f"2026-01-0{day}" for day in range(1, 7)]
    frame = _judged(*ROWS, response_status=status, created_at=times, calibration=["1"] * 5 + ["0"])

    found = annotator_agreement(
        frame,
        "generation",
        after=datetime(2026, 1, 2),  # a plain date is UTC
        before=datetime(2026, 1, 3, tzinfo=UTC),
    )
    expected = {"rows": 6, "not submitted": 1, "not calibration": 1, "outside the time": 2}
    assert expected.items() <= found.counts.items()
    assert dict(found.annotators) == {"ann": 1, "bob": 1}
    assert (found.n_items, found.n_items_shared) == (2, 0)
    assert found.pairs == ()


def test_nothing_to_measure() -> None:
    with pytest.raises(InputError, match="nothing says who judged"):
        annotator_agreement(answers("generation", "11100"), "generation")
    with pytest.raises(InputError, match="no row is left to measure agreement on: of 6 rows 6 excluded annotator"):
        annotator_agreement(_judged(*ROWS), "generation", exclude_annotators=("ann", "bob"))
    with pytest.raises(InputError, match=r"no annotator 'anm' to leave out \(did you mean 'ann'\?\); expected one of"):
        annotator_agreement(_judged(*ROWS), "generation", exclude_annotators=("anm",))
    with pytest.raises(InputError, match="nothing says when"):
        annotator_agreement(_judged(*ROWS), "generation", after=datetime(2026, 1, 1, tzinfo=UTC))


def test_the_order_of_rows_changes_nothing() -> None:
    rng = np.random.default_rng(5)
    rows = [
        (f"q{query}", f"c{chunk}", chunk, *rng.integers(0, 2, 3), who)
        for query in range(6)
        for chunk in range(1, 4)
        for who in ("ann", "bob", "cat")
        if rng.random() < 0.8
    ]
    frame = chunks(*(row[:-1] for row in rows)).assign(annotator_id=[row[-1] for row in rows])
    shuffled = frame.sample(frac=1, random_state=3)

    once, again = (annotator_agreement(table, "retrieval", n_resamples=300).as_dict() for table in (frame, shuffled))
    assert once == again
