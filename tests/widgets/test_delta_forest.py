"""The forest shows what was compared: its numbers, its verdicts, the documents that changed, and no more than fits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from forest_runs import Noise, comparison, label_run
from grid_pages import HOSTILE

from dojo_kit import load_labels, read_run, score_run
from dojo_kit.analysis.compare import compare
from dojo_kit.errors import InputError
from dojo_kit.samples import sample_data
from dojo_kit.stats.compare import VERDICTS
from dojo_kit.views.deltas import change_rows, deltas_view, says_conclusion, says_finding, signed
from dojo_widgets import delta_forest
from dojo_widgets.delta_forest import DeltaForest


def test_numbers_are_those_of_the_comparison() -> None:
    found = comparison()
    data = DeltaForest(found).data
    json.dumps(data, allow_nan=False)
    assert [metric["name"] for metric in data["metrics"]] == list(found.metrics)
    for metric, compared in zip(data["metrics"], found.metrics.values(), strict=True):
        delta = compared.delta
        assert (metric["delta"], metric["lo"], metric["hi"], metric["n"]) == (delta.value, delta.lo, delta.hi, delta.n)
        assert (metric["better"], metric["equal"], metric["worse"]) == (delta.n_better, delta.n_equal, delta.n_worse)
        assert (metric["verdict"], metric["reason"], metric["p_holm"]) == (
            compared.verdict,
            compared.reason,
            compared.p_holm,
        )
        assert metric["a"]["value"] == compared.a.value
    assert data["headline"] == "subtype_accuracy"
    assert [data[side]["name"] for side in "ab"] == ["v1", "v2"]
    assert data["a"]["file"] == "run_a.json"
    assert "/home/ada" not in json.dumps(data)


@pytest.mark.parametrize(
    ("b_wrong", "noise", "verdict", "says"),
    [
        ((), Noise(0.05), "win", "B beats A by +0.2000 [+0.1000, +0.3004] in subtype accuracy; outside the rerun"),
        (range(30), Noise(0.05), "loss", "B is worse than A by −0.3000"),
        ((), Noise(0.3), "within rerun noise", "B and A cannot be told apart in subtype accuracy: +0.2000"),
        ((), Noise(None, 2, (0.01, -0.02)), "inconclusive: rerun noise not measured", "but rerun noise is not known"),
        (range(1, 12), None, "inconclusive", "on 60 documents; to know, it would take about 471"),
    ],
)  # fmt: skip
def test_the_finding_is_in_plain_words(b_wrong: range, noise: Noise | None, verdict: str, says: str) -> None:
    found = comparison(b_wrong, noise=noise)
    assert found.headline.verdict == verdict
    assert says in says_finding(found)
    assert found.headline.reason in says_conclusion(found)


def test_every_verdict_has_its_words() -> None:
    """The page knows the vocabulary of `dojo_kit.stats.verdicts`, no more and no less."""
    module = (Path(delta_forest.__file__).parent / "static" / "delta_forest_layout.js").read_text(encoding="utf-8")
    assert json.loads(module.partition("VERDICTS = ")[2].partition(";")[0].replace(",\n]", "]")) == list(VERDICTS)


def test_reruns_are_called_reruns() -> None:
    found = compare(label_run("run_a", range(12)), label_run("run_b", (), day=2))
    assert says_finding(found).startswith("A and B are reruns of one setting: +0.2000")
    assert [deltas_view(found)[side]["name"] for side in "ab"] == ["run_a", "run_b"]


def test_a_metric_lists_the_documents_that_changed() -> None:
    """Losses first; both answers, and what was expected; hostile text stays as it is."""
    forest = DeltaForest(comparison([40]))
    assert forest.metric == "subtype_accuracy"
    rows = forest.detail["rows"]
    assert (forest.detail["n"], len(rows)) == (13, 13)
    assert [row["direction"] for row in rows] == ["worse"] + ["better"] * 12
    assert rows[0] == {
        "id": "document40",
        "document": "Document 40",
        "short": "Document 40",
        "a": 1.0,
        "b": 0.0,
        "change": -1.0,
        "direction": "worse",
        "answer_a": "agency",
        "answer_b": "license",
        "expected": "agency",
    }
    assert any(HOSTILE in row["document"] for row in rows)
    forest.document = "document40"
    forest.metric = "recall:agency"
    assert forest.detail["metric"] == "recall:agency"
    assert forest.document == ""
    forest.metric = "nothing of the kind"
    assert forest.detail == {}


def test_a_failed_call_is_the_worst_answer_beside() -> None:
    data = deltas_view(comparison(failed=50))
    headline = data["metrics"][0]
    assert data["b"]["failed"] == 1
    assert any("without an answer" in note for note in data["notes"])
    assert headline["n"] == 60


def test_runs_without_a_common_document_are_two_samples() -> None:
    other = label_run("run_b", (), n=90, prompt="v2", day=2)
    rest = type(other)(other.meta, other.rows[60:], source=other.source)
    found = compare(label_run("run_a", range(12)), rest, allow=("surface",))
    forest = DeltaForest(found)
    assert not forest.data["paired"]
    assert forest.detail == {"metric": "subtype_accuracy", "n": 0, "rows": []}
    assert "changed(" not in forest.data["python"]


def test_the_code_compares_the_same_runs() -> None:
    code = DeltaForest(comparison(noise=Noise(0.05))).data["python"]
    assert "compare(read_run('run_a.json'), read_run('run_b.json'), noise=noise)" in code
    compile(code, "copied", "exec")


def test_what_does_not_exist_is_refused() -> None:
    found = comparison()
    with pytest.raises(InputError, match="no metric 'subtype'"):
        DeltaForest(found, metric="subtype")
    with pytest.raises(InputError, match="no order 'delta'"):
        DeltaForest(found, sort="delta")
    assert DeltaForest(found, metric="").detail == {}


def test_a_page_brings_both_ends_and_says_how_many_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delta_forest, "PAGE_ROWS", 3)
    monkeypatch.setattr(delta_forest, "PAGE_ROWS_IN_ALL", 4)
    (table,) = DeltaForest(comparison(range(40, 45))).precomputed()
    first, second, *others = (one for metric, one in table.values.items() if metric)
    assert (first["n"], [row["direction"] for row in first["rows"]]) == (17, ["worse", "worse", "better"])
    assert len(second["rows"]) == 0
    assert sum(len(one["rows"]) for one in others) == 1
    assert table.values[""] == {}


def test_long_answers_are_cut_in_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delta_forest, "PAGE_CHARACTERS", 200)
    labels = load_labels(sample_data() / "labels.json")
    runs = [read_run(sample_data() / "runs" / f"extraction_{name}_small.json") for name in ("v1", "v2")]
    forest = DeltaForest.of(*(score_run(run, labels) for run in runs))
    (table,) = forest.precomputed()
    row = next(row for row in table.values["key_obligations_score"]["rows"] if "answer_a_length" in row)
    assert len(row["answer_a"]) < row["answer_a_length"]
    whole = change_rows(forest._comparison, "key_obligations_score")
    assert row["answer_a_length"] == len(next(one for one in whole["rows"] if one["id"] == row["id"])["answer_a"])


def test_a_whole_extraction_says_which_fields_moved() -> None:
    labels = load_labels(sample_data() / "labels.json")
    runs = [read_run(sample_data() / "runs" / f"extraction_{name}_small.json") for name in ("v1", "v3")]
    forest = DeltaForest.of(*(score_run(run, labels) for run in runs))
    scores = [score_run(run, labels).fields.set_index(["document", "field"])["score"] for run in runs]
    (part, *_) = forest.detail["rows"][0]["parts"]
    where = (forest.detail["rows"][0]["document"], part["name"].replace(" ", "_"))
    assert (part["a"], part["b"]) == pytest.approx(tuple(score[where] for score in scores))
    groups = {metric["group"] for metric in forest.data["metrics"]}
    assert {"Overall", "Fields: score", "Pooled over documents", "Classes: recall"} <= groups


def test_changes_are_printed_as_in_the_page() -> None:
    """The same figures as `signed` of the page's own modules, see delta_forest.test.mjs."""
    assert [signed(value) for value in (0.01012, -0.0031, -0.00001, None)] == ["+0.0101", "−0.0031", "0.0000", "–"]
    assert signed(-0.125, digits=3) == "−0.125"


def test_public_runs(real_data: Path) -> None:
    """43 against 46: +.0101, 28 of 50 documents moved; 63 against 104 are reruns."""
    runs = {n: read_run(real_data / "runs" / f"{n}.json") for n in ("043", "046", "063", "104")}
    forest = DeltaForest.of(runs["043"], runs["046"])
    assert forest.data["finding"].startswith("Cannot tell whether B is better than A: +0.0101 [")
    assert [forest.data[side]["name"] for side in "ab"] == ["contracts_specialist_v15", "contracts_specialist_v18"]
    assert forest.detail["n"] == 28
    (table,) = forest.precomputed()
    assert len(json.dumps(table.values)) < 700_000
    assert DeltaForest.of(runs["063"], runs["104"]).data["rerun"]
