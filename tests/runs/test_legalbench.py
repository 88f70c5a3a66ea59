"""LegalBench tasks: sets of answers, letters and what they stand for, predictions, faults.

The layout is that of the benchmark's ``train.tsv`` and ``test.tsv``; 80 real ``train.tsv`` are read where they are.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from input_files import write

from dojo_kit.errors import InputError, SettingsError
from dojo_kit.records import LabelRow
from dojo_kit.runs.asked_questions import answered_questions
from dojo_kit.runs.legalbench import load_legalbench
from dojo_kit.samples.question_files import LEGALBENCH, write_question_files

CHOICE = "sample_type_of_consideration"


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    write_question_files(tmp_path)
    return tmp_path


def task(folder: Path, name: str, **splits: str) -> Path:
    (folder / name).mkdir(exist_ok=True)
    for split, text in splits.items():
        write(folder / name / f"{split}.tsv", text)
    return folder / name


def test_real_tasks(real_data: Path) -> None:
    """All 80 files are read; sets of answers are Yes and No, letters up to the last seen, or classes."""
    questions = load_legalbench(real_data / "legalbench", split="train")

    assert (questions.kind, len(questions), len(questions.tasks)) == ("legalbench", 312, 80)
    assert questions.problems == ()
    assert questions.answers["hearsay"] == ("No", "Yes")
    assert questions.answers["abercrombie"] == ("arbitrary", "descriptive", "fanciful", "generic", "suggestive")
    assert questions.answers["maud_tail_period_length"] == ("A", "B", "C")
    assert len(questions.answers["maud_cor_standard_(intervening_event)"]) == 9
    assert len(questions.answers["unfair_tos"]) == 9
    quoted = questions.of_task("abercrombie").questions[0]
    assert (quoted.id, quoted.text) == ("abercrombie/0", 'The mark "Ivory" for a product made of elephant tusks.')
    with_question = questions.of_task("contract_qa").questions[0]
    assert with_question.given["question"] == "Does the clause discuss PII data breaches?"


def test_sample(sample: Path) -> None:
    """Questions of the asked split only; sets of answers from both and from the prompt's options."""
    questions = load_legalbench(sample / LEGALBENCH)

    assert [question.id for question in questions.of_task(CHOICE).questions] == [f"{CHOICE}/{n}" for n in range(3)]
    assert questions.answers[CHOICE] == ("A", "B", "C", "D")
    assert questions.options == {
        CHOICE: {"A": "All Cash", "B": "All Stock", "C": "Mixed Cash/Stock", "D": "Mixed Cash/Stock: Election"}
    }
    assert len(load_legalbench(sample / LEGALBENCH, split="train")) == 3


@pytest.mark.parametrize("name", ["sample_anti-assignment", CHOICE])
def test_predictions(sample: Path, name: str) -> None:
    """A task's answers, by index; the run carries the task's own set for whoever scores it."""
    questions = load_legalbench(sample / LEGALBENCH / name)
    run = answered_questions(questions, sample / f"{LEGALBENCH}_answers" / f"{name}.csv")
    rows = [row for row in run.rows if isinstance(row, LabelRow)]

    assert run.meta.task == "legalbench"
    assert run.problems == ()
    assert [row.document for row in rows] == [question.id for question in questions.questions]
    assert [row.expected for row in rows] == [question.answer for question in questions.questions]
    assert run.meta.parameters["answers"] == {name: list(questions.answers[name])}
    assert rows[0].predicted == {"sample_anti-assignment": "Yes", CHOICE: "(B)"}[name]
    assert run.meta.parameters["valid_classes"] == list(questions.answers[name])
    assert rows[0].stored["question"] == name
    assert rows[0].stored["text"] == questions.questions[0].text


def test_predictions_of_several_tasks(sample: Path) -> None:
    """Then a row says which task it answers, beside the index or in its id."""
    questions = load_legalbench(sample / LEGALBENCH)
    rows = [f"{question.task},{question.id.rpartition('/')[2]},Yes" for question in questions.questions]
    named = write(sample / "named.csv", "\n".join(["task,index,prediction", *rows]))
    ids = write(sample / "ids.csv", "\n".join(["id,prediction", *(f"{q.id},Yes" for q in questions.questions)]))

    assert len(answered_questions(questions, named)) == len(answered_questions(questions, ids)) == 7
    bare = write(sample / "bare.csv", "index,prediction\n0,Yes\n")
    with pytest.raises(InputError, match=r"line 2: answers '0', which is not asked"):
        answered_questions(questions, bare)


def test_one_file_and_its_neighbour(tmp_path: Path) -> None:
    """A file that is named is asked alone; what can be answered is known from both."""
    folder = task(tmp_path, "letters", train="index\tanswer\ttext\n0\tC\ta\n", test="index\tanswer\ttext\n0\tA\tb\n")
    questions = load_legalbench(folder / "test.tsv")

    assert [(question.id, question.task) for question in questions.questions] == [("letters/0", "letters")]
    assert questions.answers == {"letters": ("A", "B", "C")}
    other = load_legalbench(write(tmp_path / "mine.tsv", "answer\ttext\nYes\ta\nNo\tb\n"))
    assert [question.id for question in other.questions] == ["mine/0", "mine/1"]


def test_free_answers_are_no_set(tmp_path: Path) -> None:
    task(tmp_path, "sara_numeric", test="index\ttext\tanswer\n0\ta\t$12\n1\tb\t$15\n")

    assert load_legalbench(tmp_path).answers == {"sara_numeric": ()}


def test_contradictions_are_noted(tmp_path: Path) -> None:
    """One input with opposite truths (as reported for opp115_first_party_collection_use) is named, not dropped."""
    text = "index\tanswer\ttext\tslice\n9\tYes\twe collect\ta\n1240\tNo\twe collect\tb\n"
    questions = load_legalbench(task(tmp_path, "opp", test=text))

    assert len(questions) == 2
    assert "one question, several answers (opp/9: 'Yes', opp/1240: 'No')" in str(questions.problems[0])
    apart = "index\tanswer\ttext\tquestion\n0\tYes\twe collect\tDo they?\n1\tNo\twe collect\tDo they sell?\n"
    assert load_legalbench(task(tmp_path, "qa", test=apart)).problems == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("index\ttext\n0\ta\n", r"test.tsv, field 'answer': no column 'answer'; columns found: index, text; expected"),
        ("index\tanswer\n0\tYes\n", r"field 'text': no column 'text'"),
        ("index\tanswer\ttext\n0\t\ta\n", r"test.tsv, line 2, field 'answer': not text but nothing"),
        ("index\tanswer\ttext\n0\tYes\ta\n0\tNo\tb\n", r"line 3, field 'index': 't/0' occurs twice"),
        ("index\tanswer\ttext\n0\tYes\n", r"line 2: 2 cells; expected 3 cells"),
        ('index\tanswer\ttext\n0\tYes\t"a\n', r"a quoted cell is never closed"),
        ("index\tanswer\ttext\n", r"holds no questions"),
    ],
)
def test_faults(tmp_path: Path, text: str, message: str) -> None:
    task(tmp_path, "t", test=text)

    with pytest.raises(InputError, match=message):
        load_legalbench(tmp_path / "t")


def test_places(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is a folder without tasks; expected a LegalBench task"):
        load_legalbench(tmp_path)
    with pytest.raises(InputError, match=r"absent: no such file"):
        load_legalbench(tmp_path / "absent")
    with pytest.raises(InputError, match=r"test.tsv: no such file"):
        load_legalbench(tmp_path / "test.tsv")
    folder = task(tmp_path, "t", train="index\tanswer\ttext\n0\tYes\ta\n")
    message = f"{re.escape(str(folder))}: task 't' has train.tsv only; expected test.tsv, or another split"
    with pytest.raises(InputError, match=message):
        load_legalbench(folder)
    with pytest.raises(SettingsError, match="split is 'dev'; known: train, test, all"):
        load_legalbench(folder, split="dev")  # type: ignore[arg-type]
    assert len(load_legalbench(folder, split="all")) == 1


def test_collecting(tmp_path: Path) -> None:
    text = "index\tanswer\ttext\n0\tYes\ta\n1\t\tb\n0\tNo\tc\n"
    questions = load_legalbench(task(tmp_path, "t", test=text), on_error="collect")

    assert [question.id for question in questions.questions] == ["t/0"]
    assert [problem.line for problem in questions.problems] == [3, 4]
