"""Chained runs: trackers of both stages, one number for both, and what wrong sorting costs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from task_records import chained_row, disguised_row, record, sorted_row

from dojo_kit.analysis.verify import verify_record
from dojo_kit.errors import InputError
from dojo_kit.runs import load_labels, read_run, run_from_record
from dojo_kit.scoring.run import score_run
from dojo_kit.settings import Settings
from dojo_kit.tasks.extraction import chained_composite, chained_summary
from dojo_kit.tasks.handoff import handoff_ablation
from dojo_kit.tasks.score import score_task_run

CHAINED = "chained_sorter_extractor"


def test_trackers_of_both_stages() -> None:
    """Two right families (0.8, 0.6) and a wrong one whose extraction failed."""
    run = record(
        CHAINED,
        [
            chained_row("a", "ip", "ip", 0.8),
            chained_row("b", "ip", "license", "parse error"),
            chained_row("c", "ip", "ip", 0.6),
        ],
    )

    metrics = {name: estimate.value for name, estimate in score_task_run(run).metrics.items()}

    assert metrics["sorter_exact_match"] == 1.0
    assert metrics["sorter_subtype_accuracy"] == pytest.approx(2 / 3)
    assert metrics["sorter_confidence"] == pytest.approx(0.9)
    assert metrics["extractor_overall"] == pytest.approx(0.7)
    assert metrics["extractor_overall_failed_as_zero"] == pytest.approx(1.4 / 3)
    assert metrics["extractor_field_presence"] == 1.0
    assert metrics["extractor_verified_precision"] is None
    assert metrics["chained_composite"] == pytest.approx((0.85 + 0.7) / 2)  # 1/4 + 3/4 of 0.8 and of 0.6
    assert metrics["chained_composite_failed_as_zero"] == pytest.approx((0.85 + 0.7 + 0.0) / 3)


def test_composite_of_two_scores() -> None:
    assert chained_composite(0.0, 1.0) == 0.75
    assert chained_composite(0.5, 0.5, weights=(3, 1)) == 0.5
    assert chained_composite(None, 1.0) is None
    with pytest.raises(InputError, match="are no shares"):
        chained_composite(1.0, 1.0, weights=(-1, 2))


def test_summary_is_shaped_like_a_record() -> None:
    run = record(CHAINED, [chained_row("a", "ip", "ip", 0.8), chained_row("b", "ip", "ip", "timeout")])
    scores = score_task_run(run)

    summary = chained_summary(scores, weights=(1, 1))

    assert set(summary) == {"sorter", "extractor", "composite", "weights", "counts"}
    assert summary["sorter"]["subtype_accuracy"].value == 1.0
    assert summary["extractor"]["overall"].value == 0.8
    assert (summary["composite"].value, summary["weights"]) == (0.9, (0.5, 0.5))
    assert summary["counts"]["n_extractor_failed"] == 1
    with pytest.raises(InputError, match="has no extraction stage"):
        chained_summary(score_task_run(record("subtype", [sorted_row("a", "ip", "ip")])))


def test_extraction_scored_against_labels(tmp_path: Path) -> None:
    """The extraction scores come from `score_run` when its result is given."""
    row = chained_row("a", "ip", "ip", 0.1)
    row["extractor_scores"]["predicted"] = {"governing_law": "Ohio", "parties": ["Acme"]}
    run = record(CHAINED, [row])
    labels = tmp_path / "labels.jsonl"
    labels.write_text(json.dumps({"document": "a", "governing_law": "Ohio", "parties": ["Acme", "Bolt"]}))
    extraction = score_run(run, load_labels(labels))

    scores = score_task_run(run, extraction=extraction)

    assert scores.metrics["extractor_overall"].value == pytest.approx(extraction.documents["overall"].iloc[0])
    assert scores.metrics["extractor_overall"].value != pytest.approx(0.1)


def ablated() -> list[dict[str, object]]:
    """Three documents sorted right (gaps .02, -.02, 0), two sorted wrong (gaps .30, .10), and three left out."""
    return [
        chained_row("a", "ip", "ip", 0.70, 0.72),
        chained_row("b", "ip", "ip", 0.80, 0.78),
        chained_row("c", "ip", "ip", 0.90, 0.90),
        chained_row("d", "ip", "license", 0.50, 0.80),
        chained_row("e", "ip", "ip", 0.60, 0.70, doc_type="correspondence"),
        chained_row("f", "ip", "ip", 0.60, "timeout"),
        chained_row("g", "ip", "ip", "timeout"),
        chained_row("h", "ip", "ip", 0.60),
    ]


def test_handoff_ablation_splits_the_loss() -> None:
    found = handoff_ablation(record(CHAINED, ablated()))

    assert found.all.n == 5
    assert found.all.predicted.value == pytest.approx(0.70)
    assert found.all.true.value == pytest.approx(0.78)
    assert found.all.loss.value == pytest.approx(0.08)
    assert (found.sorter_right.n, found.sorter_wrong.n) == (3, 2)
    assert found.sorter_right.loss.value == pytest.approx(0.0)  # equal cues: noise
    assert found.sorter_wrong.loss.value == pytest.approx(0.2)
    assert found.routing.value == pytest.approx(0.08)
    assert found.noise.value == pytest.approx(0.0)
    assert found.excluded == {"second pass failed": 1, "first pass failed": 1, "no second pass": 1}
    json.dumps(found.as_dict(), allow_nan=False)


def test_handoff_interval_is_paired() -> None:
    """Documents differ far more from one another than the two passes of one do; pairing takes that out."""
    rows = [chained_row(f"{n:02}", "ip", "license", n / 40, n / 40 + 0.01 + 0.001 * (n % 2)) for n in range(40)]

    found = handoff_ablation(record(CHAINED, rows))

    loss, predicted = found.all.loss, found.all.predicted
    assert loss.lo > 0.0  # type: ignore[operator]
    assert loss.hi - loss.lo < (predicted.hi - predicted.lo) / 50  # type: ignore[operator]
    assert handoff_ablation(record(CHAINED, rows[::-1])).all == found.all


def test_routing_and_noise_add_up_to_the_loss() -> None:
    found = handoff_ablation(record(CHAINED, ablated()), settings=Settings().override({"statistics.n_resamples": 50}))

    assert found.routing.value + found.noise.value == pytest.approx(found.all.loss.value)  # type: ignore[operator]


def test_a_run_without_second_pass_cannot_be_ablated() -> None:
    with pytest.raises(InputError, match="no row holds a second pass"):
        handoff_ablation(record(CHAINED, [chained_row("a", "ip", "ip", 0.5)]))


def test_a_stored_ablation_is_confirmed_by_verify() -> None:
    """Records count a failed second pass as 0: over six documents .65 - .6833 is a loss of -3.33 points."""
    stored = {"predicted_handoff_overall": 0.6833, "ground_truth_handoff_overall": 0.65, "sorter_loss_pp": -3.33}
    raw = {"task": CHAINED, "results": ablated()[:6], "scores": {"ablation": {**stored, "n_docs": 6}}}

    report = verify_record(raw, name="r", prices={})

    assert not [difference for difference in report.differences if "ablation" in difference.name]


def test_a_disguised_failure_of_the_sorter_is_a_miss() -> None:
    row = disguised_row("a", "ip") | {"extractor_scores": {"overall_score": 0.8, "predicted": {"governing_law": "x"}}}

    scores = score_task_run(run_from_record({"task": CHAINED, "results": [row]}, source="r"))

    assert scores.counts["n_disguised"] == 1
    assert scores.metrics["sorter_subtype_accuracy"].value == 0.0


@pytest.mark.parametrize("number", ["009", "010"])
def test_published_runs_with_a_failed_extraction(real_data: Path, number: str) -> None:
    """The record's mean counts the failed extraction as 0; ours stands beside that one."""
    run = read_run(real_data / "runs" / f"{number}.json")

    metrics = score_task_run(run).metrics

    stored = run.stored_scores["extractor"]["overall_extraction_score"]
    assert metrics["extractor_overall_failed_as_zero"].value == pytest.approx(stored, abs=5e-5)
    assert metrics["extractor_overall"].n == 4
