"""`measure`: what every metric is in every document, equal to what the scorers say of the whole run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from compared_runs import label_run, question_run, stored_run, verdicts
from hypothesis import given, settings
from hypothesis import strategies as st

from dojo_kit.analysis.diagnostics import diagnose
from dojo_kit.analysis.measured import Measured, measure, same_settings
from dojo_kit.errors import InputError
from dojo_kit.records import Run
from dojo_kit.runs import load_documents, load_labels, read_label_columns, read_run
from dojo_kit.scoring.run import ScoredRun, score_run
from dojo_kit.stats.intervals import Estimate
from dojo_kit.tasks.contracteval import score_contracteval
from dojo_kit.tasks.score import score_task, score_task_run

DATA = Path(__file__).resolve().parents[2] / "data"
RUNS = sorted(path.name for path in (DATA / "runs").glob("*.json"))
EXTRACTIONS = [name for name in RUNS if name.startswith("extraction")]


def same_as(measured: Measured, estimates: dict[str, Estimate]) -> int:
    """Check every estimate that is among the metrics; return how many there were."""
    shared = [name for name in estimates if name in measured.metrics]
    for name in shared:
        value = measured.value(name)
        assert value == pytest.approx(estimates[name].value, abs=1e-12), name
    return len(shared)


@pytest.fixture(scope="module")
def scored() -> ScoredRun:
    run = read_run(DATA / "runs" / "extraction_v1_small.json")
    return score_run(run, load_labels(DATA / "labels.json"), load_documents(DATA / "documents"))


def test_every_metric_of_a_scored_run_is_the_same_over_its_documents(scored: ScoredRun) -> None:
    measured = measure(scored)
    assert same_as(measured, scored.metrics()) > 30
    left_out = set(scored.metrics()) - set(measured.metrics)
    assert {name for name in left_out if not name.endswith(("_f1", "contract_value_score"))} == {
        "overall_extraction_score_failed_as_zero"
    }
    assert next(iter(measured.metrics)) == measured.headline == "overall_extraction_score"
    assert measured.metrics["overall_extraction_score"].kind == "headline"


def test_pooled_metrics_are_those_of_the_diagnostics(scored: ScoredRun) -> None:
    measured, found = measure(scored), diagnose(scored)
    names = ("list_micro_precision", "list_micro_recall", "field_exact_rate", "field_miss_rate")
    assert same_as(measured, {name: found[name] for name in names}) == 4
    counts = [found[f"list_micro_n_{part}"] for part in ("matched_items", "matched_labels", "predicted", "expected")]
    joint = (counts[0] + counts[1]) / (counts[2] + counts[3])
    assert measured.value("list_micro_f1_joint") == pytest.approx(joint)
    spans = scored.spans[scored.spans["category"] == "License Grant"]
    assert measured.value("recall:License Grant") == pytest.approx((spans["status"] == "matched").mean())


def test_directions(scored: ScoredRun) -> None:
    lower = {name for name, info in measure(scored).metrics.items() if not info.higher_is_better}
    assert "needs_judge_review" in lower
    assert "field_miss_rate" in lower
    rest = lower - {"needs_judge_review", "field_miss_rate"}
    assert rest
    assert all(name.endswith("_hallucination_rate") for name in rest)


def test_no_item_predicted_at_all_is_a_precision_of_zero() -> None:
    run = read_run(DATA / "runs" / "extraction_v1_small.json")
    empty = replace(run, rows=tuple(replace(row, predicted={}) for row in run.rows if not row.failed))  # type: ignore[call-arg]
    silent = score_run(empty, load_labels(DATA / "labels.json"))
    measured = measure(silent)
    assert measured.value("list_micro_precision") == diagnose(silent)["list_micro_precision"].value == 0.0


@pytest.mark.parametrize("name", [name for name in RUNS if name not in EXTRACTIONS])
def test_every_metric_of_a_sample_task(name: str) -> None:
    run = read_run(DATA / "runs" / name)
    scores = score_task_run(run)
    measured = measure(run)
    assert same_as(measured, dict(scores.metrics)) >= 3
    assert measured.n_failed == scores.counts["n_failed"]
    recall = scores.labels.per_class.set_index("label")["recall"].dropna()
    assert {f"recall:{label}" for label in recall.index} <= set(measured.metrics)
    for label, value in recall.items():
        assert measured.value(f"recall:{label}") == pytest.approx(value)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.sampled_from("ynm "), st.sampled_from("ynm?"), st.booleans()), min_size=1, max_size=30))
def test_labels_at_random(rows: list[tuple[str, str, bool]]) -> None:
    words = {"y": "yes", "n": "no", "m": "maybe", " ": "", "?": "unclear"}
    scores = score_task(
        "multiclass",
        [words[truth] for truth, _, _ in rows],
        [words[guess] for _, guess, _ in rows],
        documents=[f"d{index // 2}" for index in range(len(rows))],
        failed=[failed for _, _, failed in rows],
        valid=["yes", "no", "maybe"],
    )
    measured = measure(scores)
    assert same_as(measured, dict(scores.metrics)) >= 1
    assert len(measured) == (len(rows) + 1) // 2


def test_the_positive_class_of_a_binary_view() -> None:
    truth = {f"d{index}": "yes" if index < 4 else "no" for index in range(8)}
    run = label_run(
        {"d0": "yes", "d1": "yes", "d2": "no", "d3": None, "d4": "yes", "d5": "no", "d6": "no", "d7": None}, truth
    )
    scores = score_task_run(run)
    assert same_as(measure(run), {name: scores.metrics[name] for name in ("precision", "recall", "f1", "f2")}) == 4


@pytest.mark.parametrize("mode", ["paper", "corrected"])
def test_answers_to_questions_are_pooled_by_contract(mode: Any) -> None:
    run = question_run({"a": ["TP", "FN", "TN"], "b": ["FP", "TP", "TN"], "c": ["TN", "FN", "FP"]})
    scores = score_contracteval(run, mode=mode)
    measured = measure(scores, run=run)
    assert same_as(measured, scores.estimates) == 7
    assert measured.headline == "f2"
    assert measured.documents["cluster"].tolist() == ["a"] * 3 + ["b"] * 3 + ["c"] * 3
    assert measured.recipe["settings"] == f"{mode} reading"
    assert measured.value("recall:Parties") == pytest.approx(1 / 3)


def test_the_published_formula_has_no_value_without_a_true_positive() -> None:
    run = question_run({"a": ["FN", "FP"]})
    assert measure(score_contracteval(run, mode="paper")).value("f2") is None
    assert measure(score_contracteval(run, mode="corrected")).value("f2") == 0.0


def test_stored_scores_and_failed_rows() -> None:
    measured = measure(stored_run({"b.pdf": {"x": 1.0, "y": 0.5}, "A": {"x": 0.0}, "c": None}))
    assert measured.documents["status"].to_dict() == {"a": "scored", "b": "scored", "c": "failed"}
    assert measured.value("overall_extraction_score") == pytest.approx(0.375)
    assert measured.value("x_score") == 0.5
    assert measured.value("y_score") == 0.5
    assert measured.values("y_score").isna().tolist() == [True, False, True]
    assert measured.recipe["scorer_version"] is None
    assert "not known" in measured.notes[0]


def test_several_questions_about_one_document_are_one_unit() -> None:
    scores = score_task("multiclass", ["a", "b", "a"], ["a", "a", None], documents=["one", "one", "two"])
    measured = measure(scores)
    assert measured.numerators["exact_match"].tolist() == [1.0, 0.0]
    assert measured.denominators["exact_match"].tolist() == [2.0, 1.0]
    assert measured.documents.loc["one", "predicted"] == "a; a"
    assert measured.value("exact_match") == pytest.approx(1 / 3)


def test_the_surface_does_not_depend_on_order_or_spelling() -> None:
    answers = verdicts("++-")
    backwards = label_run(dict(reversed([(f"{name.upper()}.pdf", said) for name, said in answers.items()])))
    assert measure(label_run(answers)).surface == measure(backwards).surface
    assert measure(label_run(answers)).surface != measure(label_run(verdicts("++"))).surface


def test_a_digest_tells_answers_not_files() -> None:
    run = label_run(verdicts("++-"))
    copied = replace(
        run, source="copy.json", meta=replace(run.meta, name="copy", timestamp="2027"), rows=run.rows[::-1]
    )
    assert measure(run).digest == measure(copied).digest == measure(score_task_run(run), run=run).digest
    assert measure(run).digest != measure(label_run(verdicts("+-+"))).digest
    assert measure(run).digest != measure(label_run(verdicts("++-"), reasoning="another thought")).digest


def test_a_scored_run_has_the_digest_of_its_run(scored: ScoredRun) -> None:
    run = read_run(DATA / "runs" / "extraction_v1_small.json")
    assert measure(scored, run=run).digest == measure(run).digest
    assert measure(scored, run=run).parameters == run.meta.parameters
    assert measure(scored).digest == measure(run).digest
    assert measure(scored).identified
    without = {name: value for name, value in scored.recipe.run.items() if name != "answers"}
    older = replace(scored, recipe=replace(scored.recipe, run=without))
    assert not measure(older).identified


def test_same_settings_name_what_differs() -> None:
    def made(**parameters: Any) -> Measured:
        return measure(label_run(verdicts("+"), parameters=parameters))

    bookkeeping = made(temperature=0.1, manifest="a", max_concurrency=8, tracing_backend="x", bt_scores="none")
    assert same_settings(bookkeeping, made(temperature=0.1, rate_limit_retries=3)) == []
    assert same_settings(bookkeeping, made(temperature=0.2, seed=1)) == ["seed", "temperature"]


def test_measuring_a_measured_run_changes_nothing() -> None:
    measured = measure(label_run(verdicts("+-")), name="mine")
    assert measure(measured) is measured
    assert measured.name == "mine"
    assert repr(measured) == "Measured('mine', exact_match 0.5000, 2 documents, 0 failed, 7 metrics)"


def test_what_cannot_be_measured() -> None:
    with pytest.raises(InputError, match="name no document"):
        measure(score_task("multiclass", ["a"], ["a"]))
    with pytest.raises(InputError, match="occurs twice"):
        measure(stored_run({"a": {"x": 1.0}, "A.pdf": {"x": 1.0}}))
    with pytest.raises(InputError, match="no row of 'run' stores an overall_score"):
        measure(stored_run({"a": None}))
    with pytest.raises(InputError, match="no rows"):
        measure(replace(label_run({}), rows=()))
    with pytest.raises(InputError, match=r"cannot measure a str"):
        measure("run.json")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"no metric 'exact_mach' \(did you mean 'exact_match'\?\)"):
        measure(label_run(verdicts("+"))).value("exact_mach")


def test_columns_of_a_plain_file_can_be_measured(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text("document,truth,said\na,yes,yes\nb,no,yes\n", encoding="utf-8")
    run = read_label_columns(path, expected="truth", predicted="said")
    assert measure(run).value("exact_match") == 0.5


@pytest.mark.parametrize("number", ["010", "019", "084", "098", "106", "142", "159", "177", "179", "191", "196"])
def test_public_runs_of_every_task(real_data: Path, number: str) -> None:
    run = read_run(real_data / "runs" / f"{number}.json")
    measured = measure(run)
    estimates = score_contracteval(run, mode="corrected").estimates if number == "196" else score_task_run(run).metrics
    assert same_as(measured, dict(estimates)) >= 3
    assert len(measured) == len(run)


@pytest.mark.parametrize("number", ["043", "049", "075"])
def test_public_extractions_scored_and_stored(real_data: Path, number: str) -> None:
    run: Run = read_run(real_data / "runs" / f"{number}.json")
    stored = run.stored_scores["overall_extraction_score"]
    assert measure(run).value("overall_extraction_score") == pytest.approx(stored, abs=6e-5)
    scored = score_run(run, load_labels(f"cuad:{real_data / 'cuad'}"), spans="first")
    assert same_as(measure(scored, run=run), scored.metrics()) > 15


def test_public_files_in_another_order_are_the_same_documents(real_data: Path) -> None:
    natural, shuffled = (read_run(real_data / "runs" / f"{number}.json") for number in ("063", "081"))
    prints = [run.meta.data_source["dataset_fingerprint"][:8] for run in (natural, shuffled)]
    assert prints == ["c2341957", "dc371d64"]
    assert measure(natural).surface == measure(shuffled).surface
