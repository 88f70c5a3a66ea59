"""Labels against labels: counts and ratios equal scikit-learn's, undefined values and failed rows follow our rules."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from dojo_kit.errors import InputError
from dojo_kit.scoring.classification import NO_LABEL, LabelScores, score_labels
from dojo_kit.settings import Settings
from dojo_kit.stats.intervals import Bootstrap

FEW = Settings().override({"statistics.n_resamples": 50})


def value_of(scores: LabelScores, metric: str) -> float:
    value = scores.metrics[metric].value
    return math.nan if value is None else value


@st.composite
def label_columns(draw: st.DrawFn) -> tuple[list[str], list[str]]:
    """Two columns of equal length over an alphabet of which not every letter need occur."""
    labels = st.sampled_from("abcdefgh"[: draw(st.integers(1, 8))])
    n = draw(st.integers(1, 40))
    column = st.lists(labels, min_size=n, max_size=n)
    return draw(column), draw(column)


@pytest.mark.filterwarnings("ignore::UserWarning")  # scikit-learn warns of a single label and of unexpected ones
@examples(max_examples=1000)
@given(label_columns())
def test_counts_and_ratios_equal_scikit_learn(columns: tuple[list[str], list[str]]) -> None:
    """With ``zero_division=nan``, which leaves 0/0 undefined as we do."""
    import sklearn.metrics as sk

    expected, predicted = columns

    scores = score_labels(expected, predicted, settings=FEW)

    labels = list(scores.labels)
    same: dict[str, Any] = {"labels": labels, "zero_division": np.nan}
    assert scores.matrix.tolist() == sk.confusion_matrix(expected, predicted, labels=labels).tolist()
    precision, recall, f1, support = sk.precision_recall_fscore_support(expected, predicted, **same)
    frame = scores.per_class
    for column, theirs in (("precision", precision), ("recall", recall), ("f1", f1), ("support", support)):
        np.testing.assert_allclose(frame[column].to_numpy(dtype=float), theirs, rtol=1e-12)
    balanced = sk.balanced_accuracy_score(expected, predicted)
    assert value_of(scores, "balanced_accuracy") == pytest.approx(balanced)
    assert value_of(scores, "accuracy") == pytest.approx(sk.accuracy_score(expected, predicted))
    for average, metric in (("macro", "macro_f1"), ("micro", "micro_f1"), ("weighted", "weighted_f1")):
        theirs = sk.f1_score(expected, predicted, average=average, **same)
        assert value_of(scores, metric) == pytest.approx(theirs)
    for metric, theirs in (
        ("macro_precision", sk.precision_score(expected, predicted, average="macro", **same)),
        ("macro_recall", sk.recall_score(expected, predicted, average="macro", **same)),
    ):
        assert value_of(scores, metric) == pytest.approx(theirs, nan_ok=True)


@examples(max_examples=200)
@given(label_columns())
def test_binary_view_equals_scikit_learn(columns: tuple[list[str], list[str]]) -> None:
    import sklearn.metrics as sk

    expected, predicted = columns

    scores = score_labels(expected, predicted, positive=expected[0], settings=FEW)

    binary = scores.binary
    assert binary is not None
    truth, guess = [[label == expected[0] for label in column] for column in columns]
    tn, fp, fn, tp = sk.confusion_matrix(truth, guess, labels=[False, True]).ravel()
    assert (binary.tn, binary.fp, binary.fn, binary.tp) == (tn, fp, fn, tp)
    assert binary.metrics["f2"].value == pytest.approx(sk.fbeta_score(truth, guess, beta=2))
    assert binary.metrics["recall"].value == pytest.approx(sk.recall_score(truth, guess))
    fpr = binary.metrics["false_positive_rate"].value
    assert fpr == (pytest.approx(fp / (fp + tn)) if fp + tn else None)


@examples(max_examples=50)
@given(label_columns(), st.randoms())
def test_order_of_rows_does_not_matter(columns: tuple[list[str], list[str]], random: Any) -> None:
    rows = list(zip(*columns, strict=True))
    random.shuffle(rows)
    shuffled = list(zip(*rows, strict=True))

    first, second = (score_labels(*pair, settings=FEW).metrics for pair in (columns, shuffled))

    assert first == second


@examples(max_examples=50)
@given(label_columns())
def test_identical_columns_are_right_and_ratios_lie_between_0_and_1(columns: tuple[list[str], list[str]]) -> None:
    expected, predicted = columns

    perfect = score_labels(expected, expected, settings=FEW)

    assert {value_of(perfect, name) for name in perfect.metrics} == {0.0, 1.0}  # 0.0 is the failure rate
    for estimate in score_labels(expected, predicted, settings=FEW).metrics.values():
        assert estimate.value is None or 0 <= estimate.value <= 1
        assert estimate.lo is None or 0 <= estimate.lo <= estimate.hi <= 1  # type: ignore[operator]


def test_failed_rows_are_misses_in_headlines_and_left_out_of_breakdowns() -> None:
    """Six rows: a right, a wrong and a failed yes; two right and a failed no."""
    expected = ["yes", "yes", "yes", "no", "no", "no"]
    predicted = ["yes", "no", "ERROR: timeout", "no", "no", None]

    scores = score_labels(expected, predicted, failed=[False] * 5 + [True], positive="yes")

    assert (scores.n, scores.n_failed) == (6, 2)
    assert scores.accuracy.value == pytest.approx(3 / 6)
    assert scores.balanced_accuracy.value == pytest.approx((1 / 3 + 2 / 3) / 2)
    assert scores.macro_accuracy.value == pytest.approx((1 / 2 + 2 / 2) / 2)  # over rows with an answer
    assert scores.matrix.tolist() == [[2, 0], [1, 1]]
    assert scores.per_class.set_index("label")["failed"].to_dict() == {"no": 1, "yes": 1}
    assert scores.metrics["failure_rate"].value == pytest.approx(2 / 6)
    binary = scores.binary
    assert binary is not None
    assert (binary.tp, binary.fp, binary.fn, binary.tn) == (1, 0, 2, 2)  # a failed no is neither FP nor TN


def test_missing_expectation_leaves_the_row_unscored() -> None:
    scores = score_labels(["a", None, "", float("nan"), "b"], ["a", "a", "a", "a", "a"])

    assert (scores.n, scores.n_unscored) == (2, 3)
    assert scores.accuracy.value == 0.5


def test_an_answer_that_is_no_label_is_never_right() -> None:
    """Without a label an answer counts as ``other``, also where ``other`` is a true class."""
    plain = score_labels(["a", "b"], ["a", None])
    other = score_labels(["a", "other", "other"], ["a", "other", None])

    assert (plain.labels, plain.matrix.tolist()) == (("a", "b", "other"), [[1, 0, 0], [0, 0, 1], [0, 0, 0]])
    assert other.labels == ("a", "other", NO_LABEL)
    assert other.accuracy.value == pytest.approx(2 / 3)
    assert (plain.n_unread, other.n_unread) == (1, 1)
    # a column of unreadable answers is no class: macro F1 is the mean over a (1) and b (0)
    assert plain.macro_f1.value == 0.5
    assert plain.per_class["label"].tolist() == ["a", "b"]


def test_given_labels_fix_order_and_column() -> None:
    scores = score_labels(["b", "a"], ["b", "zebra"], labels=["b", "a", "c"])

    assert scores.labels == ("b", "a", "c", "other")
    assert scores.n_unread == 1
    assert math.isnan(scores.per_class.set_index("label").loc["c", "f1"])  # neither expected nor predicted
    with pytest.raises(InputError, match=r"expected label 'aa' is none of the labels \(did you mean 'a'\?\)"):
        score_labels(["aa"], ["a"], labels=["b", "a"])


def test_numbers_are_labels_in_order_of_their_value() -> None:
    scores = score_labels([10, 9, -1.0, True], [10, 10, -1, "true"])

    assert scores.labels == ("-1", "9", "10", "true")
    assert scores.accuracy.value == 0.75


def test_no_rows_have_no_scores() -> None:
    scores = score_labels([], [], positive=None)

    assert scores.accuracy.value is None
    assert scores.accuracy.note == "no row has an expected label"
    assert scores.per_class.empty
    assert scores.matrix.shape == (0, 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"predicted": ["a"]}, "row counts differ: 2 expected, 1 predicted"),
        ({"failed": [True]}, "row counts differ: 2 expected, 1 failed"),
        ({"units": ["x"]}, "row counts differ: 2 expected, 1 units"),
        ({"costs": [0.1]}, "row counts differ: 2 expected, 1 costs"),
        ({"positive": "c"}, "positive label 'c' is none of the labels"),
    ],
)
def test_bad_arguments_are_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        score_labels(**{"expected": ["a", "b"], "predicted": ["a", "b"], **arguments})


def test_free_text_is_no_label() -> None:
    texts = [f"answer {number}" for number in range(3000)]

    with pytest.raises(InputError, match="3000 distinct labels are no classes"):
        score_labels(texts, texts)


def test_accuracy_is_drawn_from_the_pinned_stream() -> None:
    """With keys in sorted order the interval is that of the mean of right and wrong."""
    rng = np.random.default_rng(1)
    expected = rng.choice(["a", "b", "c"], 300).tolist()
    predicted = rng.choice(["a", "b", "c"], 300).tolist()
    right = [float(e == p) for e, p in zip(expected, predicted, strict=True)]

    scores = score_labels(expected, predicted, units=[f"{n:04}" for n in range(300)])

    plain = Bootstrap().mean(right)
    assert (scores.accuracy.lo, scores.accuracy.hi) == pytest.approx((plain.lo, plain.hi))
    assert (scores.accuracy.method, scores.accuracy.n) == ("percentile", 300)


def test_rows_of_one_unit_are_drawn_together() -> None:
    """Ten contracts with ten equal rows each carry no more information than ten rows."""
    expected = ["a"] * 100
    predicted = ["a"] * 50 + ["b"] * 50
    contracts = [row // 10 for row in range(100)]

    alone = score_labels(expected, predicted).accuracy
    together = score_labels(expected, predicted, units=contracts).accuracy

    assert (together.n, alone.n) == (10, 100)
    assert together.hi - together.lo > 2.5 * (alone.hi - alone.lo)  # type: ignore[operator]


def test_drawing_counts_is_drawing_rows() -> None:
    """Beyond 20,000 rows cells are drawn; the interval is that of rows but for the draw itself."""
    rng = np.random.default_rng(2)
    labels = np.array(list("abcd"))
    codes = rng.integers(0, 4, 21_000)
    guesses = np.where(rng.random(21_000) < 0.7, codes, rng.integers(0, 4, 21_000))
    expected, predicted = labels[codes].tolist(), labels[guesses].tolist()

    by_cell = score_labels(expected, predicted).macro_f1
    by_row = score_labels(expected[:20_000], predicted[:20_000]).macro_f1

    assert (by_cell.method, by_row.method) == ("percentile-counts", "percentile")
    assert by_cell.hi - by_cell.lo == pytest.approx(by_row.hi - by_row.lo, rel=0.1)  # type: ignore[operator]


def test_costs_are_totalled_over_known_rows() -> None:
    scores = score_labels(["a"] * 4, ["a"] * 4, costs=[0.5, None, 0.0, 0.25])

    costs = scores.costs
    assert costs is not None
    assert (costs.n, costs.total_usd, costs.mean_usd.value) == (3, 0.75, 0.25)


def test_confusions_and_shares() -> None:
    scores = score_labels(list("aaaabbc"), list("abbcbac"))

    top = scores.top_confusions(2)
    assert top.to_dict("list") == {
        "expected": ["a", "a"],
        "predicted": ["b", "c"],
        "n": [2, 1],
        "share": [0.5, 0.25],
    }
    assert scores.table(normalize="row").loc["a"].tolist() == [0.25, 0.5, 0.25]
    assert scores.table(normalize="column")["c"].tolist() == [0.5, 0.0, 0.5]
    assert scores.table().sum().sum() == 7
    with pytest.raises(InputError, match="cannot normalize by 'cells'"):
        scores.table(normalize="cells")


def test_scores_are_json_ready() -> None:
    import json

    scores = score_labels(["a", "b", "b"], ["a", "a", None], positive="a", costs=[0.1, 0.2, 0.3])

    written = json.loads(json.dumps(scores.as_dict(), allow_nan=False))
    assert written["per_class"][1]["precision"] is None  # b is never predicted
    assert written["binary"]["fp"] == 1


def test_a_million_pairs_with_intervals_take_under_two_seconds() -> None:
    """And no more time than scikit-learn takes for the matrix alone."""
    from sklearn.metrics import confusion_matrix

    rng = np.random.default_rng(0)
    labels = np.array([f"family_{number:02}" for number in range(25)], dtype=object)
    codes = rng.integers(0, 25, 10**6)
    guesses = np.where(rng.random(10**6) < 0.8, codes, rng.integers(0, 25, 10**6))
    expected, predicted = labels[codes].tolist(), labels[guesses].tolist()

    scores = score_labels(expected, predicted, positive="family_00")

    assert (scores.matrix == confusion_matrix(expected, predicted)).all()
    assert all(scores.metrics[name].lo is not None for name in ("accuracy", "macro_f1", "balanced_accuracy"))
