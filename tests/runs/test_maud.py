"""MAUD's questions: each with its own answers, joined to a model's answers; and what is wrong with a table.

The layout is that of the data set's CSV files; the rows are this project's own.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from input_files import write

from dojo_kit.errors import InputError, SettingsError
from dojo_kit.records import LabelRow
from dojo_kit.runs.asked_questions import answered_questions
from dojo_kit.runs.maud import load_maud
from dojo_kit.samples.question_files import MAUD_ANSWERS, MAUD_FILE, write_question_files

HEADER = "data_type,contract_name,text,answer,label,question,subquestion,text_type,id,category"
CASH = 'main,contract_0,"Each share becomes $14, in cash.",All Cash,0,Type,<NONE>,Type,3,General'
STOCK = "main,contract_1,Each share becomes two shares.,All Stock,1,Type,<NONE>,Type,3,General"


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    write_question_files(tmp_path)
    return tmp_path


def table(folder: Path, *rows: str, name: str = "MAUD_test.csv", header: str = HEADER) -> Path:
    return write(folder / name, "\n".join([header, *rows]) + "\n")


def test_sample(sample: Path) -> None:
    """Answers of a question are its own, in the order of their labels; a subquestion is a question."""
    questions = load_maud(sample / MAUD_FILE)

    assert (questions.kind, len(questions), questions.problems) == ("maud_question", 8, ())
    assert dict(questions.answers) == {
        "Type of Consideration-Answer": ("All Cash", "All Stock", "Mixed Cash/Stock", "Mixed Cash/Stock: Election"),
        "Knowledge Definition-Answer": ("Actual knowledge", "Constructive knowledge"),
        "FTR Triggers-Answer / Superior Offer": ("<OTHER>", "Superior Offer"),
    }
    first = questions.questions[0]
    assert (first.id, first.answer, first.given["contract_name"], first.given["label"]) == (
        *("0", "All Cash", "contract_0", 0),
    )
    assert first.text.startswith("Each share of Orrin Paper")
    assert len(load_maud(sample / MAUD_FILE, data_type="main")) == 7


def test_answers_by_order(sample: Path) -> None:
    """The data set's column id numbers questions, not rows, so rows of a copied table belong by their order."""
    run = answered_questions(load_maud(sample / MAUD_FILE), sample / MAUD_ANSWERS)

    assert run.meta.task == "maud_question"
    rows = [row for row in run.rows if isinstance(row, LabelRow)]
    assert [row.document for row in rows] == [str(n) for n in range(8)]
    assert [(row.expected, row.predicted) for row in rows[1:3]] == [
        ("All Stock", "all stock"),
        ("Mixed Cash/Stock", "Mixed Cash & Stock"),
    ]
    assert run.meta.parameters["answers"]["Knowledge Definition-Answer"] == [
        *("Actual knowledge", "Constructive knowledge"),
    ]
    assert rows[6].stored["question"] == "FTR Triggers-Answer / Superior Offer"


def test_answers_in_another_order(tmp_path: Path) -> None:
    """Rows that repeat another contract than that of their question show a file that was sorted since."""
    questions = load_maud(table(tmp_path, CASH, STOCK))
    swapped = "contract_name,prediction\ncontract_1,All Stock\ncontract_0,All Cash\n"
    path = write(tmp_path / "answers.csv", swapped)

    with pytest.raises(InputError, match=r"answers.csv, line 2, field 'contract_name': answers 'contract_1'; expected"):
        answered_questions(questions, path)
    texts = write(tmp_path / "texts.csv", "text,prediction\nEach share becomes two shares.,a\nother,b\n")
    with pytest.raises(InputError, match=r"line 2, field 'text': is about 'Each share becomes two"):
        answered_questions(questions, texts)


def test_folder(tmp_path: Path) -> None:
    """The three files split questions, so they are read together; rows are told apart by their file."""
    table(tmp_path, CASH, name="MAUD_dev.csv")
    table(tmp_path, STOCK, name="MAUD_test.csv")
    write(tmp_path / "notes.csv", "a\n1\n")

    questions = load_maud(tmp_path)

    assert [question.id for question in questions.questions] == ["MAUD_dev/0", "MAUD_test/0"]
    assert questions.answers["Type"] == ("All Cash", "All Stock")


def test_without_labels_answers_are_sorted(tmp_path: Path) -> None:
    path = table(tmp_path, "b,t1,q,No", "a,t2,q,Yes", header="contract_name,text,question,answer")

    assert load_maud(path).answers == {"q": ("No", "Yes")}


def test_contradictions_and_labels_are_noted(tmp_path: Path) -> None:
    """One passage with two answers, and a number that stands for two answers, are read and named."""
    other = CASH.replace("All Cash,0", "All Stock,0").replace("contract_0", "contract_7")
    questions = load_maud(table(tmp_path, CASH, other))

    assert len(questions) == 2
    messages = [str(problem) for problem in questions.problems]
    assert any("one question, several answers (0: 'All Cash', 1: 'All Stock')" in message for message in messages)
    assert any("field 'label': 'All Stock' has label 0 in 1; expected another" in message for message in messages)


@pytest.mark.parametrize(
    ("header", "rows", "message"),
    [
        (HEADER.replace("answer", "reply"), [CASH], r"field 'answer': no column 'answer'; columns found: data_type"),
        (HEADER, [CASH.replace("All Cash", "")], r"line 2, field 'answer': not text but nothing; expected text"),
        (HEADER, [CASH.replace(",0,", ",first,")], r"line 2, field 'label': not the number of an answer but 'first'"),
        (HEADER, [STOCK, CASH + ",more"], r"line 3: 11 cells; expected 10 cells"),
        (HEADER, [], r"holds no questions"),
    ],
)
def test_faults(tmp_path: Path, header: str, rows: list[str], message: str) -> None:
    path = table(tmp_path, *rows, header=header)

    with pytest.raises(InputError, match=message):
        load_maud(path)


def test_collecting_keeps_the_good_rows(tmp_path: Path) -> None:
    path = table(tmp_path, CASH.replace("All Cash", ""), STOCK)
    questions = load_maud(path, on_error="collect")

    assert [question.answer for question in questions.questions] == ["All Stock"]
    assert [(problem.line, problem.field) for problem in questions.problems] == [(2, "answer")]


def test_answers_that_do_not_fit(tmp_path: Path) -> None:
    questions = load_maud(table(tmp_path, CASH, STOCK))

    few = write(tmp_path / "few.csv", "prediction\nAll Cash\n")
    with pytest.raises(InputError, match=r"few.csv: 1 rows that do not name their questions; expected 2 rows in the"):
        answered_questions(questions, few)
    truth = write(tmp_path / "truth.csv", "row,answer\n0,All Cash\n")
    with pytest.raises(InputError, match=r"no column holds an answer; columns found: row, answer"):
        answered_questions(questions, truth)
    strange = write(tmp_path / "strange.csv", "row,prediction\n0,All Cash\n9,All Stock\n")
    with pytest.raises(InputError, match=r"strange.csv, line 3: answers '9', which is not asked"):
        answered_questions(questions, strange)
    twice = write(tmp_path / "twice.csv", "row,prediction\n0,All Cash\n0,All Stock\n")
    with pytest.raises(InputError, match=r"line 3: '0' is answered twice"):
        answered_questions(questions, twice)
    half = write(tmp_path / "half.csv", "row,prediction\n0,All Cash\n,All Stock\n")
    with pytest.raises(InputError, match=r"line 3: does not name its question"):
        answered_questions(questions, half)


def test_missing_answers(tmp_path: Path) -> None:
    """A question without an answer is a failed call, or left out when that is asked for; both are said."""
    questions = load_maud(table(tmp_path, CASH, STOCK))
    path = write(tmp_path / "one.csv", "row,prediction\n1,All Stock\n")

    run = answered_questions(questions, path)
    assert [(row.document, row.failed) for row in run.rows] == [("0", True), ("1", False)]
    assert "no prediction for 1 of 2 questions ('0'); they count as failed calls" in str(run.problems[0])
    sampled = answered_questions(questions, path, missing="leave_out")
    assert [row.document for row in sampled.rows] == ["1"]
    assert "they are left out" in str(sampled.problems[0])
    with pytest.raises(SettingsError, match="missing is 'drop'; known: failed, leave_out"):
        answered_questions(questions, path, missing="drop")  # type: ignore[arg-type]


def test_failed_calls_and_other_truths(tmp_path: Path) -> None:
    """Failures in disguise are recognised as in every run; the truth is the data set's."""
    questions = load_maud(table(tmp_path, CASH, STOCK))
    path = write(
        tmp_path / "answers.jsonl",
        '{"row": 0, "prediction": "All Cash", "reasoning": "Error: timeout", "confidence": 0.0}\n'
        '{"row": 1, "output": "All Cash", "prediction": "All Stock", "answer": "All Cash", "confidence": 0.8}\n',
    )
    run = answered_questions(questions, path)
    first, second = run.rows

    assert first.failed
    assert isinstance(second, LabelRow)
    assert (second.predicted, second.expected, second.confidence) == ("All Stock", "All Stock", 0.8)
    assert "expects 'All Cash'; expected 'All Stock' as the question does" in str(run.problems[0])


def test_tasks(sample: Path) -> None:
    questions = load_maud(sample / MAUD_FILE)

    assert len(questions.of_task("Knowledge Definition-Answer")) == 2
    with pytest.raises(InputError, match=r"no task 'Knowledge'; expected a task of it"):
        questions.of_task("Knowledge")
