"""Two systems on the same queries: paired, p corrected, and never a win without rerun noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from dojo_kit.analysis.rag_compare import compare_systems
from dojo_kit.errors import ComparabilityError, InputError
from dojo_kit.rag.scorecard import Scorecard, score_rag
from dojo_kit.stats.compare import Band


def card(helpful: list[int], *, names: list[str] | None = None, **options: Any) -> Scorecard:
    frame = pd.DataFrame({"record_uuid": names or [f"q{at:02}" for at in range(len(helpful))], "helpful": helpful})
    others = {"proper_action": 1, "response_on_topic": 1, "incomplete": 1 - frame["helpful"], "unsafe_content": 0}
    frame = frame.assign(**others, document=[f"d{at // 2}" for at in range(len(helpful))])
    return score_rag(frame, "generation", **options)


A, B = [0] * 20 + [1] * 30, [0] * 11 + [1] * 8 + [0] + [1] * 29 + [0]
"""30 and 37 right; the differing ones are 8 to 1, as in a table of two runs of which the separate intervals overlap."""


def test_a_paired_difference_with_its_exact_p() -> None:
    found = compare_systems(card(A), card(B), names=("old", "new"))
    helpful = found.metrics["helpfulness_rate"]
    assert helpful.delta.value == pytest.approx((sum(B) - sum(A)) / 50)
    assert (helpful.delta.n_better, helpful.delta.n_worse) == (8, 1)
    assert helpful.delta.p == pytest.approx(2 * (1 + 9) / 2**9)
    assert helpful.delta.p_method == "mcnemar exact"
    assert helpful.delta.unit == "queries"
    worse = found.metrics["incompleteness_rate"]
    assert worse.delta.value == helpful.delta.value, "fewer incomplete answers are better"
    assert not worse.info.higher_is_better
    assert helpful.p_holm is not None
    assert helpful.p_holm >= helpful.delta.p
    assert {one.verdict for one in found.metrics.values()} <= {
        "inconclusive", "inconclusive: rerun noise not measured"
    }  # fmt: skip
    assert "no difference can be called a win or a loss" in found.notes[-1]
    assert found.as_dict()["metrics"]["helpfulness_rate"]["p_holm"] == helpful.p_holm


def test_a_band_allows_a_verdict() -> None:
    band = {"helpfulness_rate": Band(0.02, 0.01, 3)}
    clear = [1] * 50
    found = compare_systems(card(A), card(clear), bands=band)
    assert found.metrics["helpfulness_rate"].verdict == "win"
    assert found.metrics["incompleteness_rate"].verdict == "inconclusive: rerun noise not measured"
    assert compare_systems(card(clear), card(A), bands=band).metrics["helpfulness_rate"].verdict == "loss"


def test_only_shared_queries_count() -> None:
    found = compare_systems(card([0, 1, 1], names=["a", "b", "c"]), card([1, 1], names=["c", "d"]))
    assert (found.n, found.n_only_a, found.n_only_b) == (1, 2, 1)
    with pytest.raises(InputError, match="no query is in both: 'a' for one in the first, 'b' in the second"):
        compare_systems(card([0], names=["a"]), card([1], names=["b"]))


def test_order_of_rows_changes_nothing() -> None:
    order = np.random.default_rng(3).permutation(50)
    names = [f"q{at:02}" for at in order]
    shuffled = card([A[at] for at in order], names=names), card([B[at] for at in order], names=names)
    plain = compare_systems(card(A), card(B)).as_dict()
    assert compare_systems(*shuffled).as_dict() == plain


def test_groups_are_drawn_together() -> None:
    found = compare_systems(card(A, group_by="document"), card(B, group_by="document"))
    delta = found.metrics["helpfulness_rate"].delta
    assert (delta.n_clusters, delta.unit) == (25, "document groups")
    with pytest.raises(InputError, match="'q02' is in group 'd1' of the first and 'd0'"):
        compare_systems(
            card(A, group_by="document"),
            card(B, names=["q02", "q00", *(f"x{at}" for at in range(48))], group_by="document"),
        )


def test_what_cannot_be_compared() -> None:
    with pytest.raises(ComparabilityError, match="labels_by differs: people and model"):
        compare_systems(card(A), card(B, labels_by="model"))
    with pytest.raises(ComparabilityError, match="on_incomplete differs"):
        compare_systems(card(A), card(B, on_incomplete="skip"))
    with pytest.raises(ComparabilityError, match="bounds give no value per query"):
        compare_systems(card(A, on_incomplete="bounds"), card(B, on_incomplete="bounds"))
