"""Every bad label is an `InputError` that names the place, and what does not fit is noted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from input_files import cuad_table, write

from dojo_kit.errors import InputError
from dojo_kit.runs import load_labels

LABELS = {
    "object for a text": (
        {"law": {"value": "x"}},
        r"line 2, field 'fields\.law': unknown key 'value'; expected only text",
    ),
    "misspelt key": ({"law": {"txt": "x"}}, r"unknown key 'txt' \(did you mean 'text'\?\)"),
    "list in a list": (
        {"law": [["x"]]},
        r"field 'fields\.law\[0\]': no label but a list \['x'\]; expected text, a number",
    ),
    "bool": ({"law": True}, r"field 'fields\.law': no label but True; expected text, a number"),
    "no text": ({"law": [{"category": "x"}]}, r"field 'fields\.law\[0\]\.text': no label but nothing"),
    "category": (
        {"law": {"text": "x", "category": 3}},
        r"field 'fields\.law\.category': not text but 3; expected text",
    ),
    "start": ({"law": {"text": "x", "start": "3"}}, r"field 'fields\.law\.start': not an offset but '3'"),
    "fields": ("law", r"line 2, field 'fields': not an object but 'law'; expected an object \{field: value\}"),
}


@pytest.mark.parametrize(("fields", "message"), LABELS.values(), ids=LABELS)
def test_bad_labels(tmp_path: Path, fields: Any, message: str) -> None:
    rows = [{"document": "a", "fields": {"law": "x"}}, {"document": "b", "fields": fields}]
    path = write(tmp_path / "l.jsonl", "\n".join(map(json.dumps, rows)))

    with pytest.raises(InputError, match=rf"l\.jsonl, .*{message}"):
        load_labels(path)
    labels = load_labels(path, on_error="collect")
    assert list(labels.documents) == ["a"]
    assert [(problem.line, problem.document) for problem in labels.problems] == [(2, "b")]


FILES = {
    "twice": (
        "l.jsonl",
        '{"document": "a", "x": "1"}\n{"document": "A.pdf", "x": "2"}',
        r"line 2, .*: 'a' and 'A\.pdf'",
    ),
    "no name": (
        "l.jsonl",
        '{"law": "x"}',
        r"no column names the document; columns found: law; expected one of document",
    ),
    "no key": ("l.jsonl", '{"document": "--", "law": "x"}', r"field 'document': document name '--' gives no key"),
    "subtype": ("l.jsonl", '{"document": "a", "subtype": 3}', r"field 'subtype': not text but 3"),
    "values": ("l.jsonl", '{"document": "a", "values": []}', r"field 'values': not an object but a list \[\]"),
    "applicable": ("l.jsonl", '{"document": "a", "applicable": [1]}', r"field 'applicable': not a list of texts"),
    "empty": ("l.json", "[]", r"l\.json: holds no labels; expected a folder with master_clauses\.csv"),
    "cell": (
        "m.csv",
        cuad_table("a,['x',Yes"),
        r"m\.csv, line 2, field 'Audit Rights': no list of texts but \"\['x'\"; expected a list",
    ),
    "number": ("m.csv", cuad_table("a,[3],Yes"), r"m\.csv, line 2, field 'Audit Rights': no list of texts but '\[3\]'"),
    "text": (
        "m.csv",
        cuad_table("a,may audit,Yes"),
        r"m\.csv, line 2, field 'Audit Rights': no list of texts but 'may audit'",
    ),
    "cuad twice": (
        "m.csv",
        cuad_table("a,[],No", "a.pdf,[],No"),
        r"m\.csv, line 3, .*two rows for one document: 'a' and 'a\.pdf'",
    ),
    "cuad no name": (
        "m.csv",
        "Contract,Audit Rights,Audit Rights-Answer\na,[],No",
        r"columns found: Contract, Audit Rights",
    ),
    "data": ("c.json", '{"data": 3}', r"c\.json, field 'data': not a list but 3; expected a list"),
    "contract": ("c.json", '{"data": [3]}', r"field 'data\[0\]': not an object but 3"),
    "title": ("c.json", '{"data": [{"paragraphs": []}]}', r"field 'data\[0\]\.title': no document name but nothing"),
    "question": (
        "c.json",
        '{"data": [{"title": "a", "paragraphs": [{"context": "x", "qas": [{"id": "a__Shoe Size", "answers": []}]}]}]}',
        r"field 'data\[0\]\.paragraphs\[0\]\.qas\[0\]\.id': no category in 'Shoe Size' or 'Shoe Size'",
    ),
    "answer": (
        "c.json",
        '{"data": [{"title": "a", "paragraphs": [{"context": "x", "qas": [{"id": "a__Parties", "answers": [{}]}]}]}]}',
        r"qas\[0\]\.answers\[0\]\.text': not text but nothing",
    ),
}


@pytest.mark.parametrize(("name", "content", "message"), FILES.values(), ids=FILES)
def test_bad_label_files(tmp_path: Path, name: str, content: str, message: str) -> None:
    path = write(tmp_path / name, content)
    with pytest.raises(InputError, match=message):
        load_labels(path)


def test_an_unreadable_cell_is_listed_not_dropped(tmp_path: Path) -> None:
    labels = load_labels(write(tmp_path / "m.csv", cuad_table("a,oops,Yes", "b,['x'],Yes")), on_error="collect")

    assert [len(found.fields) for found in labels.documents.values()] == [0, 1]
    assert str(labels.problems[0]).startswith(f"{tmp_path / 'm.csv'}, line 2, document 'a', field 'Audit Rights'")


def test_an_unknown_column_of_cuad_is_noted(tmp_path: Path) -> None:
    text = cuad_table("a,['x'],Yes,43", more=",Shoe Size")

    assert [problem.field for problem in load_labels(write(tmp_path / "m.csv", text)).problems] == ["Shoe Size"]


def test_a_category_without_a_column(tmp_path: Path) -> None:
    """It would read as "no such clause" in every contract."""
    text = cuad_table("a,['x'],Yes").replace("Governing Law", "Governing Lwa")
    path = write(tmp_path / "m.csv", text)
    with pytest.raises(
        InputError, match=r"m\.csv, field 'Governing Law': no column of 1 of 41 .*did you mean 'Governing L"
    ):
        load_labels(path)
    problems = load_labels(path, on_error="collect").problems

    assert [problem.field for problem in problems] == ["Governing Lwa", "Governing Law"]
    assert "did you mean 'Governing Law'" in problems[0].message


def test_an_answer_column_without_its_category_is_noted(tmp_path: Path) -> None:
    text = cuad_table("a,['x'],Yes,43", more=",Insurnace-Answer")

    assert "did you mean 'Insurance'" in str(load_labels(write(tmp_path / "m.csv", text)).problems[0])


def test_offsets_that_do_not_fit_are_noted(tmp_path: Path) -> None:
    """The label counts, its place does not."""
    texts = [("x", 1), ("x", 0), ("x <omitted> z", 0)]
    answers = [{"text": text, "answer_start": start} for text, start in texts]
    question = {"id": "a__Parties", "answers": answers, "is_impossible": True}
    squad = {"data": [{"title": "a", "paragraphs": [{"context": "xy", "qas": [question]}]}]}
    labels = load_labels(write(tmp_path / "c.json", json.dumps(squad)))

    assert [span.start for span in labels.documents["a"].fields["parties"]] == [None, 0, None]
    assert [(problem.document, (problem.field or "").rpartition(".")[2]) for problem in labels.problems] == [
        ("a", "answer_start"),
        ("a", "is_impossible"),
    ]


def test_labels_named_for_what_they_are_not(tmp_path: Path) -> None:
    path = write(tmp_path / "l.jsonl", '{"document": "a", "law": "x"}')

    with pytest.raises(InputError, match=r"is not CUAD; expected master_clauses\.csv or CUAD_v1\.json"):
        load_labels(f"cuad:{path}")
    with pytest.raises(InputError, match="is a folder without labels"):
        load_labels(f"jsonl:{tmp_path}")
