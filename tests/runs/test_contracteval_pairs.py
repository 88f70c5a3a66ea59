"""ContractEval's pairs from CUAD in SQuAD layout, and a model's answers joined to them."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from input_files import write

from dojo_kit.errors import InputError
from dojo_kit.records import QuestionRow
from dojo_kit.runs.contracteval_pairs import answered_pairs, load_contracteval_pairs
from dojo_kit.samples.question_files import PAIR_ANSWERS, PAIRS_FILE, write_question_files
from dojo_kit.tasks.contracteval import score_contracteval

SAMPLE_LABELS = Path(__file__).parents[2] / "data" / "labels.json"


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    write_question_files(tmp_path)
    return tmp_path


def question(name: str = "a__Insurance", *spans: str, **more: Any) -> dict[str, Any]:
    answers = [{"text": text, "answer_start": 0} for text in spans]
    return {"id": name, "question": "Insured?", "answers": answers, "is_impossible": not spans, **more}


def file_of(folder: Path, *contracts: Any, name: str = "test.json") -> Path:
    return write(folder / name, json.dumps({"version": "v", "data": list(contracts)}))


def contract(*questions: Any, title: str = "a", context: Any = "a is insured") -> dict[str, Any]:
    return {"title": title, "paragraphs": [{"context": context, "qas": list(questions)}]}


def test_sample(sample: Path) -> None:
    pairs = load_contracteval_pairs(sample / PAIRS_FILE)

    assert pairs.problems == ()
    assert [pair.id for pair in pairs.pairs] == sorted(pair.id for pair in pairs.pairs)
    assert pairs.summary() | {"source": "", "fingerprint": ""} == {
        "source": "",
        "n_contracts": 2,
        "n_pairs": 6,
        "n_positive": 4,
        "n_negative": 2,
        "positive_rate": pytest.approx(2 / 3),
        "n_categories": 3,
        "fingerprint": "",
        "context_min_chars": 128,
        "context_max_chars": 179,
    }
    first = pairs.pairs[0]
    assert (first.title, first.category, first.label_spans) == (
        *("Orrin Paper - Supply", "Audit Rights", ("may audit the  books of Velmont",)),
    )
    assert first.question.startswith('Highlight the parts (if any) of this contract related to "Audit Rights"')


def test_labels_of_the_sample_corpus() -> None:
    """The labels in ``data/`` have the layout of CUAD's test file."""
    pairs = load_contracteval_pairs(SAMPLE_LABELS)

    assert len(pairs) == len(pairs.contexts) * 41
    assert pairs.summary()["n_categories"] == 41


def test_fingerprint(tmp_path: Path) -> None:
    """Lines ``id NUL category NUL labels`` of the sorted pairs, then ``title NUL length`` of the sorted contracts."""
    audit = question("a__Audit Rights", "a is", "insured")
    pairs = load_contracteval_pairs(file_of(tmp_path, contract(question(), audit)))
    lines = ["a__Audit Rights\0Audit Rights\x002", "a__Insurance\0Insurance\x000", "a\x0012"]

    assert pairs.fingerprint == sha256("\n".join(lines).encode()).hexdigest()
    turned = load_contracteval_pairs(file_of(tmp_path, contract(audit, question())))
    assert turned.fingerprint == pairs.fingerprint


def test_answers(sample: Path) -> None:
    """The run scores as any other: two readings, and one row for each way in which they differ here."""
    run = answered_pairs(load_contracteval_pairs(sample / PAIRS_FILE), sample / PAIR_ANSWERS)

    assert (run.meta.task, len(run), run.problems) == ("contracteval", 6, ())
    paper, corrected = score_contracteval(run), score_contracteval(run, mode="corrected")
    assert (paper.tp, paper.tn, paper.fp, paper.fn) == (2, 2, 0, 2)
    assert (corrected.tp, corrected.tn, corrected.fp, corrected.fn) == (2, 1, 1, 2)
    assert corrected.difference_counts == {"reasoning": 1, "refusal_start": 1, "text": 1}


def test_answers_by_title_and_category(sample: Path) -> None:
    """Labels are those of the pairs, whatever the file of answers says; pairs without an answer are failed calls."""
    pairs = load_contracteval_pairs(sample / PAIRS_FILE)
    row = {"title": "Tarn Foods - Hosting", "category": "Insurance", "output": "x", "label_spans": []}
    path = write(sample / "one.json", json.dumps([row]))

    run = answered_pairs(pairs, path)
    rows = {row.document: row for row in run.rows if isinstance(row, QuestionRow)}
    answered = rows["Tarn Foods - Hosting__Insurance"]
    assert (answered.predicted, len(answered.label_spans)) == ("x", 1)
    assert sum(row.failed for row in run.rows) == 5
    assert "no prediction for 5 of 6 questions" in str(run.problems[0])
    assert len(answered_pairs(pairs, path, missing="leave_out")) == 1
    strange = write(sample / "strange.json", json.dumps([row | {"category": "Parties"}]))
    with pytest.raises(InputError, match=r"answers 'Tarn Foods - Hosting__Parties', which is not asked"):
        answered_pairs(pairs, strange)


def test_a_record_as_answers(sample: Path) -> None:
    """The results of a run record are answers too."""
    pairs = load_contracteval_pairs(sample / PAIRS_FILE)
    rows = [json.loads(line) for line in (sample / PAIR_ANSWERS).read_text(encoding="utf-8").splitlines()]
    record = write(sample / "record.json", json.dumps({"type": "experiment", "results": rows}))

    assert [row.predicted for row in answered_pairs(pairs, record).rows] == [  # type: ignore[attr-defined]
        row.predicted for row in answered_pairs(pairs, sample / PAIR_ANSWERS).rows
    ]
    with pytest.raises(InputError, match=r"field 'results': not a list but nothing"):
        answered_pairs(pairs, write(sample / "object.json", '{"a": 1}'))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([{"paragraphs": []}], r"field 'data\[0\].title': no document name but nothing"),
        (["a"], r"field 'data\[0\]': not an object but 'a'"),
        ([{"title": "a"}], r"field 'data\[0\].paragraphs': not a list but nothing"),
        ([{"title": "a", "paragraphs": []}], r"field 'data\[0\].paragraphs': holds no paragraph"),
        ([contract(question(), context=7)], r"field 'data\[0\].paragraphs\[0\].context': not text but 7"),
        ([contract(question("a__Weather"))], r"qas\[0\].id': no category in 'Weather'"),
        ([contract(question(question=None))], r"qas\[0\].question': not text but nothing"),
        ([contract(question(answers=None))], r"qas\[0\].answers': not a list but nothing"),
        ([contract(question(answers=[{"text": 5}]))], r"answers\[0\].text': not text but 5"),
        ([contract(question(), question())], r"qas\[1\].id': 'a__Insurance' occurs twice"),
        ([contract(question()), contract(question("a2__Insurance"))], r"data\[1\].title': 'a' occurs twice"),
        ([], r"holds no pairs"),
    ],
)
def test_faults(tmp_path: Path, data: list[Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_contracteval_pairs(file_of(tmp_path, *data))


def test_other_files(tmp_path: Path) -> None:
    for name, text in (("rows.csv", "a,b\n1,2\n"), ("object.json", '{"data": 1}'), ("broken.json", '{"data": [')):
        with pytest.raises(InputError, match=name):
            load_contracteval_pairs(write(tmp_path / name, text))


def test_collecting(tmp_path: Path) -> None:
    """A contract with a fault is left out wholly, so that no category of it is lost in silence."""
    broken = contract(question("b__Insurance"), question("b__Weather"), title="b")
    pairs = load_contracteval_pairs(file_of(tmp_path, broken, contract(question())), on_error="collect")

    assert [pair.id for pair in pairs.pairs] == ["a__Insurance"]
    assert list(pairs.contexts) == ["a"]
    assert "no category in 'Weather'" in str(pairs.problems[0])


def test_oddities_are_noted(tmp_path: Path) -> None:
    """An impossible question with answers is answered; several paragraphs are one text."""
    odd = contract(question("a__Insurance", "a is", is_impossible=True))
    odd["paragraphs"].append({"context": "more", "qas": [question("", "more", question='About "Audit Rights"?')]})
    pairs = load_contracteval_pairs(file_of(tmp_path, odd))

    assert [(pair.id, pair.label_spans) for pair in pairs.pairs] == [
        ("a__Audit Rights", ("more",)),
        ("a__Insurance", ("a is",)),
    ]
    assert pairs.contexts["a"] == "a is insured\n\nmore"
    assert [problem.message for problem in pairs.problems] == [
        "2 paragraphs are joined to one text",
        "true beside 1 answers, which are used",
    ]
