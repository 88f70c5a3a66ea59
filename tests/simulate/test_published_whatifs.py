"""Every published Monte Carlo figure, to the printed digit (analysis reference 1.2, 1.4 to 1.10)."""

from __future__ import annotations

from pathlib import Path

import pytest

from dojo_kit.simulate import (
    ablate,
    champion,
    committee,
    confidence_summary,
    confusion_slice,
    escalate,
    exemplars,
    failures,
    published_ablation,
    summarise,
    tail_slice,
)
from tests.simulate.published_corpus import published, published_votes

QWEN = "qwen/qwen3.7-flash"

SUBTYPE = """
1 0.9209 0.9041-0.9369
2 0.9212 0.9042-0.9372
3 0.9362 0.9190-0.9518
5 0.9426 0.9254-0.9584
7 0.9451 0.9280-0.9612
10 0.9472 0.9300-0.9634
15 0.9498 0.9322-0.9661
25 0.9513 0.9338-0.9676
"""
WORST = {
    "marketing": (17, 0.690, 0.703, 0.715),
    "development": (28, 0.781, 0.807, 0.824),
    "collaboration": (26, 0.853, 0.900, 0.932),
    "service": (28, 0.858, 0.860, 0.860),
    "hosting": (20, 0.877, 0.916, 0.944),
    "reseller": (12, 0.890, 0.900, 0.899),
    "supply": (18, 0.896, 0.899, 0.902),
    "affiliate": (10, 0.899, 0.935, 0.969),
    "maintenance": (34, 0.915, 0.948, 0.975),
    "promotion": (12, 0.916, 0.960, 0.989),
}
"""Label -> documents, accuracy of committees of 1, 3 and 10; 0.9155 exactly is printed as 0.916."""


def test_corpus(real_data: Path) -> None:
    found = summarise(published(real_data))

    assert (found.n_rows, found.n_failed, found.n_experiments, found.n_runs) == (17_691, 42, 59, 77)
    assert found.completed_by_task == {"subtype": 16_120, "docclass": 1_442, "chained": 80, "doc_class": 7}
    assert list(found.completed_by_model.values()) == [11_025, 2_038, 1_020, 1_019, 1_019, 510, 509, 509]
    assert found.n_shared == 1_198
    assert found.shared_by_task == {"docclass": 676, "subtype": 509, "chained": 10, "doc_class": 3}
    assert (found.n_with_reasoning, found.n_completed) == (17_640, 17_649)
    assert found.n_disguised == 341


def test_committee_of_families(real_data: Path) -> None:
    votes = published_votes(real_data, "subtype")

    found = committee(votes)

    assert len(votes) == 508
    rows = [f"{row.k} {row.accuracy.value:.4f} {row.accuracy.lo:.4f}-{row.accuracy.hi:.4f}" for row in found.rows]
    assert rows == SUBTYPE.split("\n")[1:-1]
    assert f"{found.limit.value:.4f}" == "0.9537"
    table = found.per_class.pivot_table(index=["label", "n"], columns="k", values="accuracy").sort_values(1).head(10)
    assert list(table.index) == [(label, n) for label, (n, *_) in WORST.items()]
    for (label, _), row in table.iterrows():
        assert [row[k] for k in (1, 3, 10)] == pytest.approx(WORST[label][1:], abs=5.01e-4)


def test_committee_of_document_classes(real_data: Path) -> None:
    votes = published_votes(real_data, "docclass")

    found = committee(votes, sizes=(1, 3, 5, 10))

    assert len(votes) == 676
    assert [f"{row.accuracy.value:.4f}" for row in found.rows] == ["0.9928", "0.9929", "0.9930", "0.9929"]
    at_one = found.per_class[found.per_class["k"] == 1]
    assert dict(zip(at_one["label"], at_one["accuracy"].round(3), strict=True)) == {
        "merger_agreement": 0.987,
        "contract": 0.994,
        "corporate_record": 1.0,
    }


def test_confidence(real_data: Path) -> None:
    families = confidence_summary(published_votes(real_data, "subtype"))
    classes = confidence_summary(published_votes(real_data, "docclass"))

    assert (families.median, families.mean) == pytest.approx((0.919, 0.854), abs=6e-4)
    assert (classes.median, classes.mean) == pytest.approx((0.940, 0.947), abs=6e-4)
    assert (families.n_below_half, classes.n_below_half) == (15, 2)


def test_escalation_formula(real_data: Path) -> None:
    families = escalate(published_votes(real_data, "subtype"), legacy=True)
    classes = escalate(published_votes(real_data, "docclass"), stronger_accuracy=0.9, legacy=True)

    chosen = {step.alpha: f"{step.accuracy.value:.4f}" for step in families.steps if step.alpha not in (0.25, 0.4)}
    assert list(chosen.values()) == ["0.9209", "0.9224", "0.9238", "0.9253", "0.9267", "0.9296", "0.9355"]
    assert [step.n_escalated for step in families.steps if step.alpha in (0.05, 0.1, 0.15, 0.2)] == [25, 51, 76, 102]
    fitted = ".9928 .9881 .9835 .9788 .9742 .9696 .9649 .9557 .9464".split()
    assert [f"{step.accuracy.value:.4f}".lstrip("0") for step in classes.steps] == fitted
    assert [step.n_escalated for step in classes.steps] == [0, 34, 68, 101, 135, 169, 203, 270, 338]
    assert [round(step.cost, 2) for step in classes.steps[:4]] == [1.0, 1.1, 1.2, 1.3]


def test_ablation(real_data: Path) -> None:
    families = published_ablation(published(real_data), "subtype")
    classes = published_ablation(published(real_data), "docclass")

    assert (len(families), len(classes)) == (156, 12)
    rows = {(row.a, row.b): row for row in families.itertuples()}
    printed = {
        ("sorter_v10", "sorter_v3"): (128, 0.1406, 0.0781, 0.2109, 1.0),
        ("sorter_v11", "sorter_v3"): (128, 0.1406, 0.0859, 0.2109, 1.0),
        ("sorter_v15", "sorter_v3"): (214, 0.1215, 0.0701, 0.1729, 1.0),
    }
    for pair, expected in printed.items():
        row = rows[pair]
        assert (row.n, *(round(v, 4) for v in (row.delta, row.lo, row.hi, row.p_win))) == expected
    gains = families[families["delta"] > 0]
    assert [(row.a[7:], row.b[7:], row.n, round(row.delta, 4)) for row in gains.head(9).itertuples()] == [
        ("v10", "v3", 128, 0.1406),
        ("v11", "v3", 128, 0.1406),
        ("v15", "v3", 214, 0.1215),
        ("v10", "v4", 117, 0.1197),
        ("v11", "v4", 117, 0.1197),
        ("v12", "v3", 214, 0.1075),
        ("v13", "v3", 214, 0.1075),
        ("v14", "v3", 214, 0.1028),
        ("v15", "v4", 186, 0.1022),
    ]
    of_class = {(row.a, row.b): row for row in classes.itertuples()}
    for a in ("v3", "v4", "v6"):
        row = of_class[f"sorter_docclass_{a}", "sorter_docclass_v5"]
        assert (row.n, round(row.delta, 4), row.lo, round(row.hi, 1), row.p_win) == (30, 0.0333, 0.0, 0.1, 0.6475)
    row = of_class["sorter_docclass_v6", "sorter_docclass_v3"]
    assert (row.n, round(row.delta, 4), row.lo, round(row.hi, 4), round(row.p_win, 3)) == (
        676,
        0.0015,
        0,
        0.0044,
        0.637,
    )


def test_ablation_by_class(real_data: Path) -> None:
    found = ablate(published(real_data), "subtype", model=QWEN)

    by_class = found.by_class(found.pair("sorter_v3", "sorter_v10"))

    assert {row.label: row.n for row in by_class.itertuples() if row.label in ("maintenance", "marketing")} == {
        "maintenance": 8,
        "marketing": 8,
    }


def test_champion(real_data: Path) -> None:
    families = champion(published(real_data), "subtype", model=QWEN)
    classes = champion(published(real_data), "docclass", model=QWEN)

    assert (families.champion, families.n) == ("sorter_v15", 507)
    wins = {version.prompt.removeprefix("sorter_"): len(version.wins) for version in families.versions if version.wins}
    assert wins == {
        "v15": 7,
        "v13": 7,
        "v10": 6,
        "v11": 6,
        "v12": 6,
        "v14": 6,
        "v9": 3,
        "v7": 2,
        "v8": 2,
        "v5": 1,
        "v6": 1,
    }
    assert [round(version.accuracy.value or 0, 4) for version in families.versions[:2]] == [0.9506, 0.9486]
    assert [part.n for part in families.sweep] == [127, 254, 380, 507]
    assert [part.champion for part in families.sweep] == [None, "sorter_v15", "sorter_v15", "sorter_v15"]
    widest = [part.widest for part in families.sweep]
    assert [(pair[0], pair[1], *(round(v, 4) for v in pair[2:])) for pair in widest if pair] == [
        ("sorter_v3", "sorter_v8", -0.0702, -0.1579, 0.0),
        ("sorter_v3", "sorter_v10", -0.129, -0.2097, -0.0484),
        ("sorter_v3", "sorter_v10", -0.1383, -0.2128, -0.0745),
        ("sorter_v3", "sorter_v10", -0.1406, -0.2109, -0.0781),
    ]
    assert [part.champion for part in classes.sweep] == [None] * 4
    assert [part.n for part in classes.sweep] == [169, 338, 507, 676]


def test_failures(real_data: Path) -> None:
    found = failures(published(real_data))

    assert f"{found.fit.p_first:.4%}, {found.p_try:.4%}, {found.fit.p_length:.4%}" == "0.2374%, 0.2137%, 0.0057%"
    assert (found.failure_rate, round(found.mean_attempts, 2)) == (0.0, 1.0)
    rates = {(row.max_tries, row.fallback): f"{row.failure_rate:.4%}" for row in found.sweep.itertuples()}
    assert (rates.pop((1, 0.97)), rates.pop((1, 0.0))) == ("0.0040%", "0.2020%")
    assert set(rates.values()) == {"0.0000%"}
    assert found.scales["expected"].tolist() == [0, 0, 0]
    assert found.scales["p_too_many_independent"].tolist() == [0, 0, 0]


def test_exemplars(real_data: Path) -> None:
    families = exemplars(published(real_data), "subtype")
    classes = exemplars(published(real_data), "docclass")

    assert (families.n_errors, len(families.confusions), families.gain) == (1_773, 121, 65.0)
    commonest = [(row.expected, row.predicted, row.errors, row.near_misses) for row in families.confusions.itertuples()]
    assert commonest[:6] == [
        ("maintenance", "license", 67, 268),
        ("license", "other", 53, 0),
        ("development", "license", 50, 212),
        ("supply", "distributor", 48, 2),
        ("development", "collaboration", 47, 66),
        ("collaboration", "joint_venture", 46, 86),
    ]
    assert {(pair.expected, pair.predicted): pair.gain for pair in families.chosen} == {
        ("development", "license"): 25.0,
        ("development", "collaboration"): 23.5,
        ("co_branding", "endorsement"): 6.5,
        ("marketing", "joint_venture"): 5.5,
        ("promotion", "distributor"): 4.0,
        ("service", "sponsorship"): 0.5,
    }
    assert (classes.n_errors, sorted(pair.gain for pair in classes.chosen)) == (23, [0.5, 1.0, 3.5, 4.0])


def test_check_step(real_data: Path) -> None:
    for task, n, simulated, confused in (("subtype", 76, "0.6392", 113), ("docclass", 101, "0.9614", 661)):
        votes = published_votes(real_data, task)
        tail = tail_slice(votes)

        assert (len(tail.documents), f"{tail.simulated.value:.4f}") == (n, simulated)
        assert len(confusion_slice(published(real_data), votes).documents) == confused
