"""`compare`: what may be compared, the arithmetic of both arms, verdicts, failures, and what changed."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from compared_runs import ToldNoise, label_run, question_run, stored_run, verdicts

from dojo_kit.analysis.compare import Comparison, compare
from dojo_kit.analysis.measured import Measured, measure
from dojo_kit.errors import ComparabilityError, InputError
from dojo_kit.runs import load_documents, load_labels, read_run
from dojo_kit.scoring.run import score_run
from dojo_kit.stats.compare import Band, holm
from dojo_kit.stats.intervals import Bootstrap

DATA = Path(__file__).resolve().parents[2] / "data"
NARROW, WIDE, UNKNOWN = Band(0.02, 0.01, 3), Band(0.9, 0.4, 3), Band(None, None, 1, reason="1 pair")


def by_pattern(a: str, b: str, *, noise: ToldNoise | None = None) -> Comparison:
    """Compare two runs of one document per mark: + right, - wrong, x failed."""
    first, second = (label_run(verdicts(p), name=n, prompt=n) for p, n in ((a, "v1"), (b, "v2")))
    return compare(first, second, noise=noise)


# what may be compared


def test_runs_of_different_tasks_are_never_compared() -> None:
    label, extraction = label_run(verdicts("+-"), name="labels"), stored_run({"a": {"x": 1.0}}, name="fields")
    message = r"'labels' is legalbench on 2 documents, 'fields' is contract_entity_extraction on 1 document"
    with pytest.raises(ComparabilityError, match=message):
        compare(label, extraction, allow=("surface", "labels", "settings", "scorer"))


@pytest.mark.parametrize(
    ("a", "b", "says"),
    [
        ("++", "+++", "the 2 of the first are a subset of the 3 of the second"),
        ("++++", "++", "the 2 of the second are a subset of the 4 of the first"),
    ],
)
def test_a_subset_is_named_and_refused(a: str, b: str, says: str) -> None:
    with pytest.raises(ComparabilityError, match=says) as refused:
        by_pattern(a, b)
    assert "allow=('surface',), or --allow surface" in str(refused.value)


def test_shared_documents_are_paired_where_that_is_allowed() -> None:
    a = label_run({"a": "yes", "b": "no", "c": "no"}, name="a")
    b = label_run({"b": "yes", "c": "no", "d": "no", "e": "no"}, name="b")
    with pytest.raises(ComparabilityError, match="2 in both, 1 only in the first, 2 only in the second"):
        compare(a, b)
    found = compare(a, b, allow=("surface",))
    assert (found.n, found.n_only_a, found.n_only_b, found.paired) == (2, 1, 2, True)
    assert found.allowed == ("surface",)
    assert found.differs["surface"] == (measure(a).surface, measure(b).surface)
    assert found.headline.delta.value == pytest.approx(0.5)
    assert any(note.startswith("allowed: their documents differ") for note in found.notes)


def test_runs_without_a_common_document_are_two_samples() -> None:
    a, b = label_run(verdicts("++--"), name="a"), label_run({f"e{i}": "yes" for i in range(6)}, name="b")
    with pytest.raises(ComparabilityError, match="none of 4 and 6 in common"):
        compare(a, b)
    delta = compare(a, b, allow="surface").headline.delta
    assert delta.method.startswith("two-sample")
    assert (delta.n, delta.n_b, delta.value) == (4, 6, 0.5)


def test_the_order_of_documents_does_not_matter() -> None:
    a = label_run(verdicts("++-+-"), name="a")
    b = label_run(verdicts("+--++"), name="b")
    backwards = replace(b, rows=b.rows[::-1])
    assert compare(a, b).as_dict()["metrics"] == compare(a, backwards).as_dict()["metrics"]


def test_a_run_is_not_compared_with_itself_or_its_copy() -> None:
    run = label_run(verdicts("+-"))
    with pytest.raises(ComparabilityError, match="a run compared with itself"):
        compare(run, run)
    with pytest.raises(ComparabilityError, match="one is a copy of the other"):
        compare(run, replace(run, source="copy.json"))
    assert compare(run, run, allow=["same"]).headline.delta.value == 0.0


def test_other_labels_are_refused_document_by_document() -> None:
    answers = verdicts("+-+")
    a, b = label_run(answers, name="a"), label_run(answers, {"d000": "yes", "d001": "no", "d002": "yes"}, name="b")
    with pytest.raises(ComparabilityError, match="their labels differ in 1 of 3 documents"):
        compare(a, b)
    assert compare(a, b, allow=("labels",)).allowed == ("labels",)


def test_a_failed_row_that_lost_its_label_is_no_other_label() -> None:
    a = label_run(verdicts("+-+"), name="a")
    b = label_run({"d000": "yes", "d001": None, "d002": "no"}, {"d000": "yes", "d001": "", "d002": "yes"}, name="b")
    assert compare(a, b).n == 3


def test_scored_and_stored_are_different_scorers() -> None:
    run = read_run(DATA / "runs" / "extraction_v1_small.json")
    scored = score_run(run, load_labels(DATA / "labels.json"))
    other = read_run(DATA / "runs" / "extraction_v2_small.json")
    with pytest.raises(ComparabilityError, match="scorer 1 and stored scores of an unknown scorer"):
        compare(scored, other)


def test_recipes_must_agree() -> None:
    labels = load_labels(DATA / "labels.json")
    a, b = (read_run(DATA / "runs" / f"extraction_{name}_small.json") for name in ("v1", "v2"))
    first = score_run(a, labels, spans="first")
    with pytest.raises(ComparabilityError, match=r"spans differ \(first and all\).*--allow"):
        compare(first, score_run(b, labels, spans="all"))
    grounded = score_run(b, labels, load_documents(DATA / "documents"), spans="first")
    with pytest.raises(ComparabilityError, match=r"grounding differ \(off and on\)"):
        compare(first, grounded)
    assert compare(first, grounded, allow=("grounding",)).differs == {"grounding": ("off", "on")}


def test_stored_scores_that_were_made_by_other_rules_are_found_out() -> None:
    answer = {"a": {"x": "1 May 2020"}, "b": {"x": "other"}}
    a = stored_run({"a": {"x": 0.0}, "b": {"x": 1.0}}, name="a", predicted=answer)
    b = stored_run({"a": {"x": 1.0}, "b": {"x": 0.5}}, name="b", predicted={**answer, "b": {"x": "changed"}})
    with pytest.raises(ComparabilityError, match=r"1 of 1 answers .* e.g. x of 'a' 0 and 1.*--allow scorer"):
        compare(a, b)
    assert compare(a, b, allow=("scorer",)).rerun is False
    rounded = stored_run({"a": {"x": 0.0001}, "b": {"x": 0.5}}, name="b", predicted={**answer, "b": {"x": "changed"}})
    assert any("not known" in note for note in compare(a, rounded).notes)


def test_scores_against_other_labels_on_record() -> None:
    a = stored_run({"a": {"x": 0.0}}, name="a", ground_truth="folder")
    b = stored_run({"a": {"x": 1.0}}, name="b", ground_truth="clauses")
    with pytest.raises(ComparabilityError, match=r"other labels \(folder and clauses\)"):
        compare(a, b)


def test_words_that_allow_are_checked() -> None:
    with pytest.raises(InputError, match=r"unknown word 'surfaces' \(did you mean 'surface'\?\)"):
        compare(label_run(verdicts("+")), label_run(verdicts("-")), allow=("surfaces",))


# arithmetic


def test_the_difference_is_that_of_paired_means() -> None:
    rng = np.random.default_rng(1)
    scores = rng.random((40, 2)).round(4)
    a, b = (
        stored_run({f"d{i:02d}": {"x": float(s[arm])} for i, s in enumerate(scores)}, name=f"{arm}") for arm in (0, 1)
    )
    found = compare(a, b).headline
    difference = scores[:, 1] - scores[:, 0]
    interval = Bootstrap().mean(difference)
    assert found.delta.value == pytest.approx(difference.mean())
    assert (found.delta.lo, found.delta.hi) == pytest.approx((interval.lo, interval.hi))
    assert found.a.value == pytest.approx(scores[:, 0].mean())
    assert found.delta.mde == pytest.approx(2.8 * difference.std(ddof=1) / 40**0.5)


def test_better_is_positive_whatever_the_direction() -> None:
    failures = by_pattern("xx+-", "+++-").metrics["failure_rate"]
    assert (failures.a.value, failures.b.value, failures.delta.value) == (0.5, 0.0, 0.5)
    assert failures.info.higher_is_better is False
    changed = by_pattern("xx+-", "+++x").changed("failure_rate")
    assert changed["direction"].tolist() == ["worse", "better", "better"]
    assert changed["document"].tolist() == ["d003", "d000", "d001"]


def test_questions_are_clustered_by_contract() -> None:
    a = question_run({"a": ["TP", "FN", "TN"], "b": ["FP", "FN", "TN"], "c": ["TN", "FN", "FP"]}, name="a")
    b = question_run({"a": ["TP", "TP", "TN"], "b": ["TN", "TP", "TN"], "c": ["TN", "FN", "FP"]}, name="b", prompt="v2")
    found = compare(a, b)
    delta = found.headline.delta
    assert (delta.n, delta.n_clusters, delta.unit) == (9, 3, "contracts")
    assert "sampling of contracts" in found.scope
    assert delta.value == pytest.approx(5 * 3 / (5 * 3 + 1 + 4) - 5 / (5 + 2 + 4 * 3))
    recall = found.metrics["recall"]
    assert (recall.a.value, recall.b.value) == (0.25, 0.75)


def test_only_one_metric() -> None:
    found = compare(label_run(verdicts("+-")), label_run(verdicts("++")), "failure_rate")
    assert list(found.metrics) == ["failure_rate"]
    assert found.headline.info.name == "failure_rate"
    with pytest.raises(InputError, match="no metric 'exact_match'"):
        found.metric("exact_match")
    with pytest.raises(InputError, match=r"no metric 'failure_rat' \(did you mean 'failure_rate'\?\)"):
        compare(label_run(verdicts("+-")), label_run(verdicts("++")), "failure_rat")


# failures


def test_a_failed_label_is_a_miss_and_both_other_readings_stand_beside() -> None:
    headline = by_pattern("++++xx", "+++--+").headline
    assert headline.delta.value == pytest.approx(0.0)
    assert headline.delta_complete is not None
    assert headline.delta_complete.n == 4
    assert headline.delta_complete.value == pytest.approx(-0.25)
    assert headline.delta_errors_as_worst == headline.delta


def test_a_failed_extraction_is_left_out_and_counted_as_worst_beside() -> None:
    a = stored_run({"a": {"x": 1.0}, "b": {"x": 0.5}, "c": {"x": 1.0, "y": 0.5}, "d": None}, name="a")
    b = stored_run({"a": {"x": 1.0}, "b": {"x": 1.0}, "c": None, "d": None}, name="b")
    found = compare(a, b)
    headline = found.headline
    assert (headline.delta.n, headline.delta.value) == (2, 0.25)
    assert headline.delta_complete == headline.delta
    assert headline.delta_errors_as_worst is not None
    assert (headline.delta_errors_as_worst.n, headline.delta_errors_as_worst.value) == (4, (0.5 - 0.75) / 4)
    field = found.metrics["x_score"].delta_errors_as_worst
    assert field is not None
    assert field.n == 3
    assert field.value == pytest.approx((0.5 - 1.0) / 3)
    assert "1 in the first run, 2 in the second" in " ".join(found.notes)


def test_without_failures_there_is_one_reading() -> None:
    headline = by_pattern("++-", "+-+").headline
    assert headline.delta_complete is None
    assert headline.delta_errors_as_worst is None


def test_the_worst_of_a_rate_that_should_be_low_is_one() -> None:
    labels, texts = load_labels(DATA / "labels.json"), load_documents(DATA / "documents")
    a, b = (score_run(read_run(DATA / "runs" / f"extraction_{v}_small.json"), labels, texts) for v in ("v1", "v2"))
    found = compare(a, b)
    one, two = found.metrics["key_obligations_verified_precision"], found.metrics["key_obligations_hallucination_rate"]
    assert one.delta_errors_as_worst is not None
    assert two.delta_errors_as_worst is not None
    assert two.delta_errors_as_worst.value == pytest.approx(one.delta_errors_as_worst.value)
    assert found.metrics["list_micro_precision"].delta_errors_as_worst is None


# verdicts


@pytest.mark.parametrize(
    ("a", "b", "band", "word"),
    [
        ("-" * 30 + "+" * 20, "+" * 50, NARROW, "win"),
        ("+" * 50, "-" * 30 + "+" * 20, NARROW, "loss"),
        ("-" * 30 + "+" * 20, "+" * 50, WIDE, "within rerun noise"),
        ("-" * 30 + "+" * 20, "+" * 50, UNKNOWN, "inconclusive: rerun noise not measured"),
        ("-" * 3 + "+" * 47, "+" * 50, NARROW, "inconclusive"),
        ("-" * 3 + "+" * 47, "+" * 50, WIDE, "within rerun noise"),
        ("-" * 3 + "+" * 47, "+" * 50, UNKNOWN, "inconclusive"),
    ],
)
def test_the_table_of_verdicts(a: str, b: str, band: Band, word: str) -> None:
    found = by_pattern(a, b, noise=ToldNoise({"m": band}))
    assert found.headline.verdict == word
    assert found.headline.band is band
    assert found.headline.reason.endswith(".")


def test_without_noise_nothing_is_a_win() -> None:
    found = by_pattern("-" * 30 + "+" * 20, "+" * 50)
    assert found.headline.verdict == "inconclusive: rerun noise not measured"
    assert found.headline.band.reason == "rerun noise not measured"
    assert "rerun noise not measured" in found.notes[-1]


def test_the_band_is_asked_for_without_the_runs_under_comparison() -> None:
    noise = ToldNoise({"m": NARROW})
    found = by_pattern("+-", "++", noise=noise)
    asked = noise.asked[0]
    assert asked["without"] == (found.a.digest, found.b.digest)
    assert (asked["task"], asked["model"], asked["surface"]) == ("legalbench", "m", found.surface)


def test_two_models_are_held_against_the_wider_band() -> None:
    a = label_run(verdicts("-" * 30 + "+" * 20), name="a", model="m")
    b = label_run(verdicts("+" * 50), name="b", model="n")
    assert compare(a, b, noise=ToldNoise({"m": NARROW, "n": WIDE})).headline.band is WIDE
    unknown = compare(a, b, noise=ToldNoise({"m": NARROW, "n": UNKNOWN})).headline
    assert unknown.verdict == "inconclusive: rerun noise not measured"
    assert unknown.band.reason == "n: 1 pair"


def test_reruns_are_never_won_or_lost() -> None:
    a, b = label_run(verdicts("-" * 30), name="a"), label_run(verdicts("+" * 30), name="b")
    found = compare(a, b, noise=ToldNoise({"m": NARROW}))
    assert found.rerun
    assert {compared.verdict for compared in found.metrics.values()} == {"rerun"}


@pytest.mark.parametrize("other", [{"parameters": {"temperature": 0.7}}, {"prompt": "v2"}, {"model": "n"}])
def test_what_differs_in_settings_is_no_rerun(other: dict[str, object]) -> None:
    a, b = label_run(verdicts("+--"), name="a"), label_run(verdicts("++-"), name="b", **other)  # type: ignore[arg-type]
    found = compare(a, b)
    assert not found.rerun
    assert any("other settings: temperature" in note for note in found.notes) is ("parameters" in other)


def test_runs_that_do_not_say_what_made_them_are_no_reruns() -> None:
    a, b = (label_run(verdicts(p), name=p, model="", prompt="") for p in ("+-", "++"))
    assert not compare(a, b).rerun


def test_fields_and_classes_are_corrected_for_their_number() -> None:
    names = [f"d{i:02d}" for i in range(30)]
    rng = np.random.default_rng(3)
    fields = {f"f{k}": rng.random((30, 2)).round(3) for k in range(6)}
    fields["f0"][:, 1] = (fields["f0"][:, 0] * 0.8 + 0.19).round(3)
    a, b = (
        stored_run({n: {f: float(v[i, arm]) for f, v in fields.items()} for i, n in enumerate(names)}, name=f"r{arm}")
        for arm in (0, 1)
    )
    b = replace(b, meta=replace(b.meta, prompt_version="v2"))
    metrics = compare(a, b).metrics
    scores = [metrics[f"{field}_score"] for field in fields]
    raw = [one.delta.p for one in scores]
    assert None not in raw
    assert [one.p_holm for one in scores] == pytest.approx(holm([p for p in raw if p is not None]).tolist())
    assert {one.n_tested for one in scores} == {6}
    assert metrics["overall_extraction_score"].p_holm is None
    assert "p is corrected for 6 fields" in scores[0].reason


def test_a_verdict_rests_on_the_corrected_p() -> None:
    fields = [f"f{k}" for k in range(12)]
    a = {f"d{i}": dict.fromkeys(fields, 0.5) for i in range(7)}
    b = {name: {**row, "f0": 0.9} for name, row in a.items()}
    first, second = stored_run(a, name="a"), stored_run(b, name="b", prompt="v2")
    compared = compare(first, second, noise=ToldNoise({"m": NARROW})).metrics["f0_score"]
    assert compared.delta.p is not None
    assert compared.delta.p < 0.05 < (compared.p_holm or 0)
    assert compared.verdict == "inconclusive"
    alone = compare(first, second, "f0_score", noise=ToldNoise({"m": NARROW})).headline
    assert alone.verdict == "win"


# what changed


def test_documents_that_changed_worst_first_with_both_answers() -> None:
    a = label_run({"a": "yes", "b": "no", "c": "yes", "d": "no"}, name="a")
    b = label_run({"a": "no", "b": "yes", "c": "yes", "d": None}, name="b", prompt="v2")
    changed = compare(a, b).changed()
    rows = changed[["document", "a", "b", "change", "direction", "predicted_a", "predicted_b", "expected"]]
    assert rows.values.tolist() == [
        ["a", 1.0, 0.0, -1.0, "worse", "yes", "no", "yes"],
        ["b", 0.0, 1.0, 1.0, "better", "no", "yes", "yes"],
    ]
    failures = compare(a, b).changed("failure_rate")
    assert failures[["document", "predicted_b"]].values.tolist() == [["d", None]]


def test_a_whole_extraction_says_which_fields_moved_and_a_field_what_was_answered() -> None:
    a = stored_run({"a": {"x": 1.0, "y": 0.5}, "b": {"x": 0.5, "y": 1.0}}, name="a")
    b = stored_run({"a": {"x": 0.0, "y": 0.75}, "b": {"x": 0.5, "y": 1.0}}, name="b", prompt="v2")
    found = compare(a, b)
    assert found.changed()["fields"].tolist() == [(("x", -1.0), ("y", 0.25))]
    assert found.changed("x_score")[["predicted_a", "predicted_b"]].values.tolist() == [["x of a", "x of b"]]


def test_fields_and_categories_of_a_scored_run() -> None:
    labels = load_labels(DATA / "labels.json")
    a, b = (score_run(read_run(DATA / "runs" / f"extraction_{v}_small.json"), labels) for v in ("v1", "v2"))
    found = compare(a, b)
    dates = found.changed("effective_date_score")
    assert dates["expected"].notna().all()
    assert dates["predicted_b"].notna().any()
    caps = found.changed("recall:Cap On Liability")
    assert len(caps) == found.metrics["recall:Cap On Liability"].delta.n_better + 0
    assert caps["expected"].notna().all()


# what comes out


def test_a_comparison_as_data() -> None:
    found = by_pattern("-" * 30 + "+" * 20, "x" + "+" * 49, noise=ToldNoise({"m": NARROW}))
    told = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert {"surface", "n", "metrics", "required_n", "mde"} <= told.keys()
    needed = {"a", "b", "delta", "lo", "hi", "p", "p_win", "verdict", "reason", "band"}
    assert all(needed <= metric.keys() for metric in told["metrics"].values())
    assert told["metrics"]["exact_match"]["complete_case"]["n"] == 49
    frame = found.frame()
    assert frame["metric"].tolist() == list(found.metrics)
    assert {"complete_case_value", "errors_as_worst_lo", "a_lo", "p_holm"} <= set(frame.columns)
    assert repr(found) == "Comparison('v1' -> 'v2', exact_match +0.5800, win, 50 documents)"


def test_the_same_comparison_twice_is_the_same() -> None:
    texts = [json.dumps(by_pattern("+-+--x", "++---+").as_dict()) for _ in range(2)]
    assert texts[0] == texts[1]


# public runs


@pytest.fixture(scope="module")
def public(real_data: Path) -> dict[str, Measured]:
    numbers = "019 042 043 044 045 046 049 051 052 060 063 075 078 098 099 103 104 109 142 143 157 159 163 166 170 173"
    return {n: measure(read_run(real_data / "runs" / f"{n}.json")) for n in numbers.split()}


def test_43_and_46(public: dict[str, Measured]) -> None:
    delta = compare(public["043"], public["046"]).headline.delta
    assert delta.value == pytest.approx(0.0101, abs=5e-5)
    assert (delta.lo, delta.hi) == pytest.approx((-0.0031, 0.0257), abs=1e-3)
    assert delta.mde == pytest.approx(0.0204, abs=5e-5)


def test_75_and_78_are_reruns(public: dict[str, Measured]) -> None:
    found = compare(public["075"], public["078"])
    assert found.headline.verdict == "rerun"
    assert found.headline.delta.value == pytest.approx(-0.0293, abs=5e-5)
    assert (found.headline.delta.lo, found.headline.delta.hi) == pytest.approx((-0.050, -0.010), abs=2e-3)


def test_public_refusals(public: dict[str, Measured]) -> None:
    with pytest.raises(ComparabilityError, match=r"subtype_classification on 509 .* contract_entity_extraction on 50"):
        compare(public["019"], public["043"])
    with pytest.raises(ComparabilityError, match="the 243 of the first are a subset of the 509 of the second"):
        compare(public["060"], public["063"])
    with pytest.raises(
        ComparabilityError, match="7 of 221 answers that are equal in both have different stored scores"
    ):
        compare(public["051"], public["052"])


def test_failures_stored_as_completed_do_not_hide(public: dict[str, Measured]) -> None:
    headline = compare(public["142"], public["143"]).headline
    assert headline.delta_complete is not None
    assert headline.delta_complete.n == 416
    assert headline.delta_complete.value == pytest.approx(0.0048, abs=5e-5)


PAIRS = """
42/43 42/44 42/45 43/45 43/46 44/46 45/46 43/49 75/78 19/63 63/103 63/104 63/143 103/157 104/143 143/157 157/170
163/166 159/163 166/173 98/99 99/109 98/109
"""


def test_deltas_and_intervals_of_public_pairs(real_data: Path, public: dict[str, Measured]) -> None:
    """Another generator drew the published intervals: they agree up to Monte Carlo error, two steps of 0/1 means."""
    with (real_data / "analysis" / "ab_pairs.csv").open(encoding="utf-8") as file:
        table = {f"{row['run_a']}/{row['run_b']}": row for row in csv.DictReader(file)}
    for pair in PAIRS.split():
        row = table[pair]
        a, b = (public[number.zfill(3)] for number in pair.split("/"))
        headline = compare(a, b, a.headline).headline
        delta = headline.delta_complete or headline.delta
        assert row["same_fingerprint"] == "True"
        assert delta.n == int(row["n_shared"]), pair
        assert delta.value == pytest.approx(float(row["delta_b_minus_a"]), abs=1e-3), pair
        assert delta.sd is not None
        tolerance = max(0.003, 2.1 / delta.n if delta.p_method == "mcnemar exact" else 0.3 * delta.sd / delta.n**0.5)
        assert delta.lo == pytest.approx(float(row["ci_lo"]), abs=tolerance), pair
        assert delta.hi == pytest.approx(float(row["ci_hi"]), abs=tolerance), pair
