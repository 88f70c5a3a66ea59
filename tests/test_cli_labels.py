"""Runs with labels and answers on the command line: dispatch by task, columns, ContractEval, how mistakes end.

Right values of public runs: the figures of their records, and of the published evaluation of run 196.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dojo_kit import published_table
from dojo_kit.samples.question_files import (
    LEGALBENCH,
    MAUD_ANSWERS,
    MAUD_FILE,
    PAIR_ANSWERS,
    PAIRS_FILE,
    write_question_files,
)
from tests.command_line import Dojo

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = ROOT / "data" / "runs"


def lines(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_label_runs_need_no_labels_beside_them(dojo: Dojo) -> None:
    """31 of 40 families right by the sample's planted faults, two calls failed, one of them in disguise."""
    done = dojo("score", SAMPLE / "subtype_small.json", "--json")
    result = done.json

    assert done.code == 0
    assert (result["task"], result["headline"]) == ("subtype", "subtype_accuracy")
    assert (result["n_rows"], result["n_failed"], result["n_disguised"]) == (40, 2, 1)
    headline = result["metrics"]["subtype_accuracy"]
    assert headline["value"] == pytest.approx(31 / 40)
    assert set(headline) >= {"value", "lo", "hi", "method", "n"}
    assert {row["mode"]: row["n"] for row in result["failure_modes"]}["no_answer"] == 2
    assert len(result["wrong_rows"]) == 7 + 2
    assert result["recipe"]["run"]["task"] == "subtype_classification"


def test_label_scores_for_people(dojo: Dojo) -> None:
    """Counts, the headline first with interval and n, modes of failure, labels on both levels, what intervals say."""
    done = dojo("score", SAMPLE / "docclass_small.json")

    assert done.code == 0
    assert "30 of 32 rows scored as docclass, 2 failed (misses), 1 of them stored as completed" in done.out
    table = done.out.split("metric", 1)[1].splitlines()
    assert table[1].split()[:2] == ["exact_match", "0.750"]
    for part in ("doc_type_miss", "by label", "by subclass", "most frequent confusions", "sampling of documents only"):
        assert part in done.out


def test_two_columns_of_any_file(dojo: Dojo, tmp_path: Path) -> None:
    """Columns are found whatever their case; other labels of the row do not get between them."""
    path = tmp_path / "rows.csv"
    path.write_text("File,Truth,Said,doc_type\na,yes,Yes.,x\nb,no,yes,x\nc,no,ERROR: 429,x\nd,,no,x\n")

    done = dojo("score", path, "--expected", "truth", "--predicted", "said", "--positive", "yes", "--json")
    result = done.json

    assert done.code == 0
    assert (result["task"], result["n_scored"], result["n_failed"], result["n_unscored"]) == ("multiclass", 2, 1, 1)
    assert result["metrics"]["exact_match"]["value"] == pytest.approx(1 / 3)
    binary = result["labels"]["binary"]
    assert (binary["positive"], binary["tp"], binary["fp"], binary["fn"], binary["tn"]) == ("yes", 1, 1, 0, 0)


def test_rows_of_one_document_are_drawn_together(dojo: Dojo, tmp_path: Path) -> None:
    """Three rows of two documents: n of an interval is 2."""
    rows = [{"document": name, "t": "a", "p": guess} for name, guess in (("x", "a"), ("x", "b"), ("y", "a"))]

    done = dojo("score", lines(tmp_path / "r.jsonl", *rows), "--expected", "t", "--predicted", "p", "--json")

    assert (done.json["n_rows"], done.json["metrics"]["exact_match"]["n"]) == (3, 2)


def test_valid_labels_and_task(dojo: Dojo, tmp_path: Path) -> None:
    """``--valid`` says what an answer may be, ``--task`` what the rows are."""
    path = lines(
        tmp_path / "r.jsonl",
        {"document": "1", "predicted": "B, I think", "expected": "B"},
        {"document": "2", "predicted": "C", "expected": "A"},
    )
    done = dojo("score", path, "--task", "multiclass", "--valid", "A,B,C", "--json")
    assert (done.json["task"], done.json["metrics"]["exact_match"]["value"]) == ("multiclass", 0.5)

    families = lines(
        tmp_path / "f.jsonl", {"document": "1", "predicted": "Reseller", "expected_subtype": "Distributor"}
    )
    scored = dojo("score", families, "--task", "subtype", "--json").json
    assert scored["metrics"]["subtype_accuracy"]["value"] == 0
    assert scored["metrics"]["subtype_accuracy_equiv"]["value"] == 1


PAIRS = (
    {"title": "a", "category": "Insurance", "label_spans": ["the  fee"], "predicted": "Licensee pays the fee."},
    {"title": "a", "category": "Audit Rights", "label_spans": [], "predicted": "Insured. No related clause."},
    {"title": "b", "category": "Insurance", "label_spans": ["insured"], "predicted": "It is insured."},
    {"title": "b", "category": "Audit Rights", "label_spans": [], "status": "error", "predicted": None},
)


def test_answers_in_both_readings(dojo: Dojo, tmp_path: Path) -> None:
    """By hand: the paper finds neither the label with two spaces nor the answer before the refusal."""
    path = lines(tmp_path / "pairs.jsonl", *PAIRS)

    corrected = dojo("contracteval", "score", path, "--json").json
    paper = dojo("contracteval", "score", path, "--paper", "--json").json

    counts = ("tp", "tn", "fp", "fn")
    assert [corrected[name] for name in counts] == [2, 0, 1, 0]
    assert [paper[name] for name in counts] == [1, 1, 1, 1]
    assert [paper["other_reading"][name] for name in counts] == [2, 0, 1, 0]
    assert paper["differences"] == {"text": 1, "refusal_start": 1, "failed_call": 1}
    assert dojo("score", path, "--json").json["mode"] == "corrected"
    shown = dojo("contracteval", "score", path).out
    assert "both readings" in shown
    assert "3 pairs with another outcome" in shown


def test_table_iii(dojo: Dojo) -> None:
    """19 of 19 rows have solutions; GPT 4.1 has TP 863 to 865 and FP 584 to 592."""
    rows = {row["model"]: row for row in dojo("contracteval", "table", "--json").json["rows"]}

    assert len(rows) == 19
    assert all(row["n_candidates"] for row in rows.values())
    assert (rows["GPT 4.1"]["tp"], rows["GPT 4.1"]["fp"]) == ([863, 865], [584, 592])
    shown = dojo("contracteval", "table").out
    assert "863-865" in shown
    assert all(row.model in shown for row in published_table().rows)


def test_run_196_as_published(dojo: Dojo, real_data: Path) -> None:
    """TP 19, TN 36, FP 29, FN 16; F1 .4578, F2 .5053, mean Jaccard .3433: the record's own figures."""
    done = dojo("contracteval", "score", real_data / "runs" / "196.json", "--paper", "--json").json

    assert [done[name] for name in ("tp", "tn", "fp", "fn")] == [19, 36, 29, 16]
    assert done["f1"]["value"] == pytest.approx(0.4578, abs=5e-5)
    assert done["f2"]["value"] == pytest.approx(0.5053, abs=5e-5)
    assert done["jaccard_mean"]["value"] == pytest.approx(0.3433, abs=5e-5)


@pytest.mark.parametrize(("run", "tp"), [("043", 95), ("046", 32), ("074", 37), ("075", 51), ("078", 47)])
def test_extractions_mapped_to_questions(dojo: Dojo, real_data: Path, run: str, tp: int) -> None:
    """1,600 pairs, 368 of them with a label, and the published number of true positives."""
    given = ("--labels", f"cuad:{real_data / 'cuad'}", "--paper", "--json")
    done = dojo("contracteval", "map", real_data / "runs" / f"{run}.json", *given).json

    assert (done["oracle"]["n_pairs"], done["oracle"]["n_positive"], done["oracle"]["tp"]) == (1600, 368, tp)
    assert {warning["code"] for warning in done["warnings"]} >= {"oracle_routing", "structural_precision"}
    assert set(done["coverage"]) > {"verbatim"}


def test_sample_extraction_mapped(dojo: Dojo) -> None:
    """What to beware of is printed with the scores."""
    done = dojo("contracteval", "map", SAMPLE / "extraction_v1_small.json", "--labels", ROOT / "data" / "labels.json")

    assert done.code == 0
    assert "what the scores do not say" in done.out
    assert "oracle_routing" in done.out
    assert "3 failed, left out" in done.out


def test_every_public_run_with_labels(dojo: Dojo, real_data: Path) -> None:
    """One run of every task, without an option; failed calls stored as completed are told."""
    expected = {"102": "42 failed", "084": "243 of them stored as completed", "142": "93 of them stored as completed"}
    expected |= {"182": "scored as docclass", "098": "scored as legalbench", "027": "scored as doc_class"}
    expected |= {"006": "chained_composite", "196": "both readings"}
    for run, part in expected.items():
        done = dojo("score", real_data / "runs" / f"{run}.json")
        assert done.code == 0
        assert part in done.out


def test_chained_run_with_its_extraction(dojo: Dojo, real_data: Path) -> None:
    """With labels the extraction of a chained run is scored anew, beside its sorter."""
    path = real_data / "runs" / "006.json"
    done = dojo("score", path, "--task", "chained", "--labels", f"cuad:{real_data / 'cuad'}", "--json").json

    assert done["metrics"]["sorter_subtype_accuracy"]["value"] == pytest.approx(0.6)
    assert done["metrics"]["extractor_overall"]["n"] == 5


def test_answers_to_questions_of_a_benchmark(dojo: Dojo, tmp_path: Path) -> None:
    """Answers in a file of their own are joined to the questions they belong to, and read against their answers."""
    write_question_files(tmp_path)

    maud = dojo("score", tmp_path / MAUD_ANSWERS, "--labels", f"maud:{tmp_path / MAUD_FILE}", "--json").json
    task = "sample_type_of_consideration"
    answers, questions = tmp_path / "legalbench_answers" / f"{task}.csv", tmp_path / LEGALBENCH / task
    legalbench = dojo("score", answers, "--labels", f"legalbench:{questions}", "--json").json
    page = dojo("report", answers, "--labels", f"legalbench:{questions}", "--out", tmp_path / "page.html")

    assert (maud["task"], maud["n_rows"], maud["problems"]) == ("maud_question", 8, [])
    assert maud["metrics"]["exact_match"]["value"] == 5 / 8
    assert (legalbench["task"], legalbench["n_rows"], legalbench["n_unread"]) == ("legalbench", 3, 0)
    assert legalbench["metrics"]["exact_match"]["value"] == pytest.approx(2 / 3)  # D is an answer, if not this one's
    assert page.code == 0
    assert f"--labels legalbench:{questions}" in (tmp_path / "page.html").read_text()


def test_pairs_answered_in_a_file_of_their_own(dojo: Dojo, tmp_path: Path) -> None:
    """CUAD's test file holds the labels, the file of answers none."""
    write_question_files(tmp_path)

    done = dojo("contracteval", "score", tmp_path / PAIR_ANSWERS, "--labels", tmp_path / PAIRS_FILE, "--json").json

    assert (done["mode"], done["n_pairs"], done["n_positive"], done["n_contracts"]) == ("corrected", 6, 4, 2)
    assert [done[kind] for kind in ("tp", "tn", "fp", "fn")] == [2, 1, 1, 2]


def test_notes_of_failed_calls_are_no_answers(dojo: Dojo, tmp_path: Path) -> None:
    """The sentinel of failed rows counts as a miss by its own name, wherever the answer stands."""
    texts = ("contract", "ERROR: timeout", " ERROR! overloaded", "Error correction agreement")
    rows = lines(
        tmp_path / "rows.jsonl",
        *({"document": f"d{i}", "expected": "contract", "predicted": text} for i, text in enumerate(texts)),
    )

    done = dojo("score", rows, "--json").json

    assert (done["n_failed"], done["n_scored"], done["metrics"]["exact_match"]["value"]) == (2, 2, 0.25)


RUN, QUESTIONS = SAMPLE / "extraction_v1_small.json", SAMPLE / "subtype_small.json"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("score", RUN), "an extraction run is scored against labels"),
        (("report", RUN, "--out", "x.html"), "an extraction run is scored against labels"),
        (("score", QUESTIONS, "--documents", "x"), "--documents: rows of task 'subtype_classification' say themselves"),
        (("report", QUESTIONS, "--against", RUN, "--out", "x.html"), "--against: rows of task"),
        (("score", QUESTIONS, "--expected", "a"), "only one of two columns is named"),
        (("score", QUESTIONS, "--expected", "a", "--predicted", "document"), "no column 'a'"),
        (("score", QUESTIONS, "--task", "subtpye"), "unknown task 'subtpye' (did you mean 'subtype'?)"),
        (("score", QUESTIONS, "--positive", "x"), "positive label 'x' is none of the labels"),
        (("score", QUESTIONS, "--task", "docclass"), "a run of task 'subtype_classification'; expected 'docclass'"),
        (("score", QUESTIONS, "--valid", " , "), "names no label"),
        (("score", QUESTIONS, "--labels", "x"), "x"),
        (("score", QUESTIONS, "--labels", "maud:no.csv"), "no.csv: no such file"),
        (("score", QUESTIONS, "--labels", "legalbench:"), "the path is empty"),
        (
            ("score", QUESTIONS, "--labels", "maud:a.csv", "--expected", "a", "--predicted", "b"),
            "maud:a.csv says what is right",
        ),
        (("contracteval", "score", QUESTIONS), "a run of task 'subtype_classification'"),
        (("contracteval", "map", QUESTIONS, "--labels", ROOT / "data" / "labels.json"), "expected"),
        (("contracteval", "score", "missing.jsonl"), "missing.jsonl"),
    ],
    ids=lambda value: " ".join(str(part).rsplit("/", 1)[-1] for part in value) if isinstance(value, tuple) else "",
)
def test_mistakes_end_in_one_message(dojo: Dojo, arguments: tuple[Any, ...], message: str) -> None:
    done = dojo(*arguments)

    assert (done.code, done.out) == (2, "")
    assert done.err.count("error:") == 1
    assert message in done.err
    assert "Traceback" not in done.err
