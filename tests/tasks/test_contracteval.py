"""Direct ContractEval scoring: the published reading, the corrected one, and what tells them apart.

Right values are stored in run 196 by the system that made it, in ``tests/golden/scoring.json`` (area ``contracteval``),
or follow from the rubric as arXiv 2508.03080 and its evaluation script state it.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dojo_kit.errors import ComparabilityError, InputError, SettingsError
from dojo_kit.records import ExtractionRow, QuestionRow, Run, RunMeta
from dojo_kit.runs import read_run
from dojo_kit.schema import clause_categories
from dojo_kit.settings import Settings
from dojo_kit.stats.intervals import Bootstrap
from dojo_kit.tasks.contracteval import ContractEvalScores, score_contracteval
from dojo_kit.tasks.contracteval.questions import asked_category, contracteval_questions
from dojo_kit.tasks.contracteval.rubric import CORRECTIONS, deciding_correction, judge, paper_jaccard

GOLDEN = [
    vector
    for vector in json.loads((Path(__file__).parents[1] / "golden" / "scoring.json").read_text(encoding="utf-8"))
    if vector["area"] == "contracteval"
]
NO = "No related clause."


def pair(number: int, labels: list[str], answer: str | None, *, title: str = "", **more: Any) -> QuestionRow:
    title = title or f"contract {number}"
    row = QuestionRow(f"{number}", title=title, category="Insurance", label_spans=tuple(labels), predicted=answer)
    return replace(row, **more)


def run_of(rows: list[QuestionRow], **parameters: Any) -> Run:
    return Run(RunMeta("contracteval", parameters=parameters), tuple(rows), source="run.json")


def counts(scores: ContractEvalScores) -> tuple[int, int, int, int]:
    return scores.tp, scores.tn, scores.fp, scores.fn


@pytest.fixture(scope="module")
def run_196(real_data: Path) -> Run:
    return read_run(real_data / "runs" / "196.json")


def test_run_196_as_published(run_196: Run) -> None:
    """Counts, ratios and tables stored in the record come out."""
    scores = score_contracteval(run_196)
    stored = run_196.stored_scores

    assert counts(scores) == (19, 36, 29, 16)
    for name, estimate in scores.estimates.items():
        assert estimate.value == pytest.approx(stored[name], abs=5e-5), name
    assert scores.f1.value == pytest.approx(0.4578, abs=5e-5)
    assert scores.f2.value == pytest.approx(0.5053, abs=5e-5)
    assert scores.jaccard_mean.value == pytest.approx(0.3433, abs=5e-5)
    table = scores.categories.set_index("category")
    assert set(table.index) == set(stored["per_category"])
    for category, figures in stored["per_category"].items():
        found = table.loc[category, list(figures)].astype(float)
        assert found.to_dict() == pytest.approx(figures, abs=5e-5), category


def test_run_196_row_by_row(run_196: Run) -> None:
    """The class and the similarity stored with each of the 100 rows come out."""
    rows = score_contracteval(run_196).rows

    assert len(rows) == 100
    assert list(rows["outcome"]) == [row.stored["classification"] for row in run_196.rows]
    similarity = rows["jaccard"].fillna(0.0)
    assert list(similarity) == pytest.approx([row.stored["jaccard"] for row in run_196.rows], abs=5e-5)


def test_run_196_corrected(run_196: Run) -> None:
    """One answer quotes its labels with other white space; nothing else tells the readings apart."""
    scores = score_contracteval(run_196, mode="corrected")

    assert counts(scores) == (20, 36, 29, 15)
    assert scores.difference_counts == {"text": 1}
    assert scores.differences.loc[0, ["paper", "corrected"]].tolist() == ["FN", "TP"]
    assert any("empty answers of completed calls: 5" in warning for warning in scores.warnings)


@pytest.mark.parametrize("vector", GOLDEN, ids=lambda v: f"{v['function']}-{json.dumps(v['args'])[:40]}")
def test_golden_vectors(vector: dict[str, Any]) -> None:
    """``tests/golden/scoring.json``."""
    if vector["function"] == "jaccard":
        assert paper_jaccard(*vector["args"]) == pytest.approx(vector["expected"])
        return
    labels, answers = vector["args"]
    rows = [pair(n, spans, answer) for n, (spans, answer) in enumerate(zip(labels, answers, strict=True))]
    scores = score_contracteval(rows)
    found = {"n_pairs": scores.n_pairs, "n_positive": scores.n_positive}
    found |= dict(zip(("tp", "tn", "fp", "fn"), counts(scores), strict=True))
    found |= {name: estimate.value for name, estimate in scores.estimates.items()}
    wanted = {key: value for key, value in vector["expected"].items() if key in found}
    assert len(wanted) == 16
    assert {key: found[key] for key in wanted} == pytest.approx(wanted, abs=5e-5)


@pytest.mark.parametrize(
    ("labels", "answer", "paper", "corrected", "rule"),
    [
        # the table of the rubric
        ([], NO, "TN", "TN", None),
        ([], "Some clause.", "FP", "FP", None),
        ([], "", "FP", "FP", None),
        (["the fee"], "Licensee pays the fee.", "TP", "TP", None),
        (["the fee", "a fine"], "Licensee pays the fee.", "FN", "FN", None),
        (["the fee"], NO, "FN", "FN", None),
        (["the fee"], "The Fee", "FN", "FN", None),
        (["a", "b"], "b, then a", "TP", "TP", None),
        # edges: spaces, line feeds and backticks are stripped, tabs are not
        ([" `the fee`\n"], "`the fee`", "TP", "TP", None),
        ([], "```\nNo related clause.\n```", "TN", "TN", None),
        (["the fee\t"], "the fee", "FN", "TP", "text"),
        # a label of strip characters only is contained in everything
        (["``"], "Some clause.", "TP", "FP", "blank_label"),
        (["``"], NO, "TP", "TN", "blank_label"),
        # the sentence anywhere makes a negative right, and a positive can hold labels beside it
        ([], "Clause 4 is close. No related clause.", "TN", "FP", "refusal_start"),
        ([], '"No related clause."', "TN", "TN", None),
        (["the fee"], "No related clause. Or: pay the fee.", "TP", "FN", "refusal_start"),
        (["the fee"], "Pay the fee. No related clause otherwise.", "TP", "TP", None),
        # reasoning and fences are part of the published answer
        (["the fee"], "<think>Is it the fee?</think>No related clause.", "TP", "FN", "reasoning"),
        ([], "<think>No related clause?</think>Pay the fee.", "TN", "FP", "reasoning"),
        (["the fee"], "<think>the fee", "TP", "FN", "reasoning"),
        ([], "```text\nNo related clause.\n```", "TN", "TN", None),
        # white space and compatibility characters must agree in the published reading
        (["the fee"], "the\nfee", "FN", "TP", "text"),
        (["of\u00a0the fee"], "of the fee", "FN", "TP", "text"),
        (["\ufb01nal notice"], "final notice", "FN", "TP", "text"),
        ([], "No  related clause.", "FP", "TN", "text"),
    ],
)
def test_outcomes(labels: list[str], answer: str, paper: str, corrected: str, rule: str | None) -> None:
    """Both readings of one answer, and the correction that decides between them."""
    assert judge(labels, answer).outcome == paper
    assert judge(labels, answer, mode="corrected").outcome == corrected
    assert deciding_correction(labels, answer) == rule


def test_refused_positive_is_counted_twice_as_published() -> None:
    """Quoting every label beside the sentence is a true positive and a false "no related clause"."""
    scores = score_contracteval([pair(0, ["the fee"], "Pay the fee. No related clause.")])

    assert scores.tp == 1
    assert scores.false_no_related_rate.value == 1.0
    assert scores.rows.loc[0, "rule"] == "positive.contained_and_refused"


@pytest.mark.parametrize(("gold", "answer", "value"), [("a  b", "a b", 2 / 3), ("10,000", "10000", 1.0), ("", "", 1.0)])
def test_published_jaccard(gold: str, answer: str, value: float) -> None:
    """Split at single spaces, marks deleted wherever they stand."""
    assert paper_jaccard(gold, answer) == pytest.approx(value)


def test_failed_calls() -> None:
    """As published a failed call is an empty answer; corrected it is left out and counted."""
    failed = pair(2, [], None, status="failed", error="timeout")
    rows = [pair(0, ["x y"], "x y"), pair(1, [], NO), failed, replace(failed, document="3", label_spans=("z",))]
    paper, corrected = score_contracteval(rows), score_contracteval(rows, mode="corrected")

    assert counts(paper) == (1, 1, 1, 1)
    assert counts(corrected) == (1, 1, 0, 0)
    assert paper.n_failed == corrected.n_failed == 2
    assert corrected.n_pairs == 2
    assert corrected.difference_counts == paper.difference_counts == {"failed_call": 2}
    assert corrected.rows["outcome"].isna().tolist() == [False, False, True, True]
    assert "failed calls: 2, left out" in corrected.warnings
    assert "failed calls: 2, scored as empty answers" in paper.warnings


def test_without_a_true_positive() -> None:
    """The published pooled formula divides by zero, its breakdown by question says 0; a missed label is an F1 of 0."""
    rows = [pair(0, ["x"], "y"), pair(1, [], "y")]
    paper, corrected = score_contracteval(rows), score_contracteval(rows, mode="corrected")

    assert paper.f1.value is None
    assert "divides by zero" in paper.f1.note
    assert paper.categories.loc[0, ["f1", "f2"]].tolist() == [0.0, 0.0]
    assert corrected.f1.value == corrected.f2.value == 0.0


def test_nothing_to_divide_by() -> None:
    """0/0 is undefined, with the reason; in the published breakdown it is 0."""
    only_negatives = [pair(0, [], NO), pair(1, [], NO)]
    paper, corrected = score_contracteval(only_negatives), score_contracteval(only_negatives, mode="corrected")

    for name in ("precision", "recall", "f1", "f2", "jaccard_mean", "jaccard_median", "false_no_related_rate"):
        assert corrected.estimates[name].value is None
        assert corrected.estimates[name].note
    assert corrected.categories["recall"].isna().all()
    assert paper.categories.loc[0, ["precision", "recall", "f1", "f2", "jaccard_mean"]].tolist() == [0.0] * 5
    assert corrected.accuracy.value == 1.0
    assert corrected.jaccard_spread == {}
    json.dumps(corrected.as_dict(), allow_nan=False)


def test_all_calls_failed() -> None:
    """Nothing is left in the corrected reading, and that is said, not raised."""
    scores = score_contracteval([pair(0, [], None, status="failed", error="timeout")], mode="corrected")

    assert scores.n_pairs == 0
    assert {estimate.value for estimate in scores.estimates.values()} == {None}
    json.dumps(scores.as_dict(), allow_nan=False)


def test_both_false_rates() -> None:
    """Over the positives asked, and over the 1,244 of the full split, which is only right for the full split."""
    rows = [pair(0, ["a"], NO), pair(1, ["a"], "a"), pair(2, [], NO)]
    scores = score_contracteval(rows)

    assert scores.false_no_related_rate.value == 0.5
    assert scores.false_no_related_rate_paper.value == pytest.approx(1 / 1244)
    assert "1,244" in scores.false_no_related_rate_paper.note
    full = score_contracteval([pair(n, ["a"], NO if n < 311 else "a") for n in range(1244)])
    assert full.false_no_related_rate_paper.value == full.false_no_related_rate.value == 0.25
    assert full.false_no_related_rate_paper.note == ""
    assert full.warnings == ()


def test_settings_are_not_mixed() -> None:
    """Answers to whole contracts and to cut ones are different tasks."""
    whole = run_of([pair(0, ["a"], "a")], max_input_chars=0, faithful_full_context=True)
    cut = run_of([pair(1, ["a"], "a")], max_input_chars=129_000, faithful_full_context=False)

    with pytest.raises(ComparabilityError, match=r"1 with max_input_chars 0, .*; 1 with max_input_chars 129000, "):
        score_contracteval([whole, cut])
    resumed = replace(whole.rows[0], document="9", stored={"max_input_chars": 129_000})
    with pytest.raises(ComparabilityError, match="max_input_chars 129000"):
        score_contracteval(replace(whole, rows=(*whole.rows, resumed)))
    with pytest.raises(ComparabilityError, match="not recorded"):
        score_contracteval([whole, pair(1, ["a"], "a")])
    assert any("did not see whole contracts" in warning for warning in score_contracteval(cut).warnings)
    both = score_contracteval([whole, run_of([pair(1, [], NO)], **whole.meta.parameters)])
    assert counts(both) == (1, 1, 0, 0)


def test_a_pair_file(tmp_path: Path) -> None:
    """Labels printed as a list, as the published scripts keep them; an empty cell is no answer, thus FP and FN."""
    rows = ["""1,a,Insurance,"['the fee', 'a ""fine""']","the fee, a ""fine""\"""", "2,a,Parties,[],No related clause."]
    rows += ["3,b,Insurance,[],", "4,b,Parties,['x'],"]
    path = tmp_path / "pairs.csv"
    path.write_text("\n".join(["id,title,category,label_spans,predicted", *rows]) + "\n", encoding="utf-8")
    run = read_run(path)

    assert run.meta.task == "contracteval"
    assert counts(score_contracteval(run)) == (1, 1, 1, 1)
    assert counts(score_contracteval(run, mode="corrected")) == (1, 1, 0, 0)


def test_wrong_input() -> None:
    one = pair(0, ["a"], "a")
    with pytest.raises(ComparabilityError, match="pair '0' occurs twice"):
        score_contracteval([run_of([one]), run_of([one])])
    with pytest.raises(InputError, match=r"run.json: a row of type ExtractionRow; expected answers .*map_contracteval"):
        score_contracteval(Run(RunMeta("contract_entity_extraction"), (ExtractionRow("a"),), source="run.json"))
    with pytest.raises(InputError, match="no pairs"):
        score_contracteval([])
    with pytest.raises(SettingsError, match=r"mode is 'papers' .did you mean 'paper'"):
        score_contracteval([one], mode="papers")  # type: ignore[arg-type]


def test_reasoning_is_reported() -> None:
    rows = [pair(0, ["a b"], "<think>a b</think>No related clause.")]

    for mode, part in (("paper", "as part of the answer"), ("corrected", "without it")):
        warnings = score_contracteval(rows, mode=mode).warnings  # type: ignore[arg-type]
        assert any(f"reasoning: 1, scored {part}" in warning for warning in warnings)


def test_intervals_resample_contracts() -> None:
    """Ten contracts of one kind each: pairs of a contract come together, so the interval is that of ten units."""
    rows = [
        pair(10 * contract + n, ["a"], "a" if contract < 5 else "b", title=f"c{contract}")
        for contract in range(10)
        for n in range(10)
    ]
    recall = score_contracteval(rows).recall
    by_contract = Bootstrap().mean([1.0] * 5 + [0.0] * 5)

    assert (recall.value, recall.n) == (0.5, 10)
    assert (recall.lo, recall.hi) == (by_contract.lo, by_contract.hi)


def test_row_order_changes_nothing() -> None:
    rows = [pair(n, ["a b c"], f"a b {'c' * (n % 3)} {n}", title=f"c{n % 4}") for n in range(12)]
    rows += [pair(20 + n, [], NO if n % 2 else "x", title=f"c{n}") for n in range(5)]

    one, other = score_contracteval(rows), score_contracteval(rows[::-1])

    assert {n: e.as_dict() for n, e in one.estimates.items()} == {n: e.as_dict() for n, e in other.estimates.items()}


def test_median_is_the_true_one_with_an_interval() -> None:
    """An even number of positives: the middle two are averaged; its replicates are medians of whole contracts."""
    answers = ["a b c d", "a b c", "a b", "a"]
    scores = score_contracteval([pair(n, ["a b c d"], text, title=f"c{n}") for n, text in enumerate(answers)])
    similarity = [1.0, 0.75, 0.5, 0.25]
    rng = np.random.default_rng(42)
    medians = [np.median(np.take(similarity, rng.integers(0, 4, size=4))) for _ in range(2000)]

    assert scores.jaccard_median.value == 0.625
    assert (scores.jaccard_median.lo, scores.jaccard_median.hi) == tuple(np.quantile(medians, [0.025, 0.975]))
    assert scores.jaccard_spread["sd"] == pytest.approx(np.std(similarity))


FEW = Settings.model_validate({"statistics": {"n_resamples": 20}})
texts = st.text(alphabet="ab \n`", max_size=6)


@given(st.lists(st.tuples(st.lists(texts, max_size=2), texts | st.just(NO)), min_size=1, max_size=8))
def test_counts_add_up(pairs: list[tuple[list[str], str]]) -> None:
    """Whatever is asked and answered: every row has one class, ratios lie in [0, 1], differences name a correction."""
    rows = [pair(n, labels, answer) for n, (labels, answer) in enumerate(pairs)]
    for mode in ("paper", "corrected"):
        scores = score_contracteval(rows, mode=mode, settings=FEW)  # type: ignore[arg-type]
        assert sum(counts(scores)) == len(rows)
        assert Counter(scores.rows["outcome"]) == Counter(scores.rows[mode])
        assert all(0 <= e.value <= 1 for e in scores.estimates.values() if e.value is not None)
        changed = scores.rows["paper"] != scores.rows["corrected"]
        assert set(scores.rows.loc[changed, "difference"]) <= set(CORRECTIONS)
        assert set(scores.rows.loc[~changed, "difference"]) <= {""}


def test_questions(real_data: Path) -> None:
    """The packaged questions are those of the benchmark, and each names its category."""
    published = json.loads((real_data / "contracteval" / "questions.json").read_text(encoding="utf-8"))

    assert dict(contracteval_questions()) == published


def test_questions_name_their_categories() -> None:
    questions = contracteval_questions()

    assert list(questions) == [category.name for category in clause_categories()]
    assert {name: asked_category(text) for name, text in questions.items()} == {name: name for name in questions}
    assert asked_category("nothing quoted") == ""
