"""Every bad input is an `InputError` that names the place, and collecting loses nothing silently."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dojo_kit.errors import InputError, SettingsError
from dojo_kit.runs import load_documents, load_labels, read_log, read_run
from dojo_kit.schema import clause_categories

ROW = '{"filename": "a", "status": "completed", "predicted": {"law": "Ohio"}}'
HEADER = '{"type": "header", "metadata": {"model": "m"}}'
OTHER = ROW.replace('"a"', '"b"')


def _record(rows: str) -> str:
    return '{"type": "experiment",\n"task": "contract_entity_extraction",\n"results": [\n' + rows + "\n]}"


def _write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


RUNS = {
    "missing bracket": ("r.json", _record(ROW)[:-2], r"r\.json, line 4: the JSON is cut off \(column 71\)"),
    "cut in a string": ("r.json", _record(ROW)[:-10], r"r\.json, line 4: the JSON is cut off"),
    "no JSON": ("r.json", '{"a": 1,}', r"r\.json, line 1: not JSON: .* \(column \d+\); expected valid JSON"),
    "NaN": ("r.json", _record(ROW.replace('"Ohio"', "NaN")), r"r\.json, line 4: NaN is no JSON number \(column 63\)"),
    "Infinity": ("r.json", _record(ROW.replace('"Ohio"', "-Infinity")), r"line 4: -Infinity is no JSON number"),
    "huge": ("r.json", _record(ROW.replace('"Ohio"', "1e999")), r"line 4: 1e999 is beyond the range of numbers"),
    "key twice": ("r.json", _record(ROW.replace('"status"', '"filename"')), r"field 'filename': key 'filename' occurs"),
    "deep": ("r.json", "[" * 100_000, r"r\.json: the JSON is nested too deeply"),
    "digits": ("r.json", _record(ROW.replace('"Ohio"', "9" * 5000)), r"r\.json: a number has too many digits"),
    "scalar": ("r.json", '"a"', r"r\.json: holds 'a'; expected a JSON object"),
    "not UTF-8": ("r.json", b'{\n"a": "\xe9"}', r"r\.json, line 2: byte 0xe9 at offset 8 is not UTF-8; expected UTF-8"),
    "UTF-16": (
        "r.json",
        '{"a": 1}'.encode("utf-16"),
        r"byte 0xff at offset 0 is not UTF-8 \(the file looks like UTF-16",
    ),
    "empty": ("r.json", "", r"r\.json: is empty; expected a run"),
    "blank": ("r.json", b"\xef\xbb\xbf \n", r"r\.json: is empty"),
    "gzip": ("r.json", b"\x1f\x8b\x08", r"r\.json: is gzip-compressed; expected .*decompressed"),
    "no rows": ("r.json", _record(""), r"r\.json: holds no rows; expected a run with at least one row"),
    "empty array": ("r.json", "[]", r"r\.json: holds no rows"),
    "results": (
        "r.json",
        '{"results": {"a": 1}}',
        r"field 'results': not a list but an object \{'a': 1\}; expected a list",
    ),
    "a row": ("r.json", _record("3"), r"field 'results\[0\]': not an object but 3; expected a JSON object"),
    "no name": (
        "r.json",
        _record('{"status": "error"}'),
        r"field 'results\[0\]\.filename': no document name but nothing",
    ),
    "twice": (
        "r.json",
        _record(f"{ROW},\n{ROW}"),
        r"field 'results\[1\]\.filename': 'a' occurs twice; expected one row",
    ),
    "one key": ("r.json", _record(ROW + "," + ROW.replace('"a"', '"A.pdf"')), r"'A\.pdf' occurs twice \(as 'a'\)"),
    "status": ("r.json", _record(ROW.replace('"completed"', "3")), r"field 'results\[0\]\.status': not text but 3"),
    "usage": ("r.json", _record(ROW[:-1] + ', "tokens": 3}'), r"field 'results\[0\]\.tokens': not an object but 3"),
    "count": (
        "r.json",
        _record(ROW[:-1] + ', "tokens": {"prompt_tokens": -1}}'),
        r"field 'results\[0\]\.tokens\.prompt_tokens': not a count but -1; expected a whole number of 0 or more",
    ),
    "model": ("r.json", '{"task": "t", "model": 3, "results": [{}]}', r"field 'model': not text but 3; expected text"),
    "parameters": ("r.json", '{"parameters": 3, "results": [{}]}', r"field 'parameters': not an object but 3"),
    "expected": (
        "r.json",
        '{"task": "t_classification", "results": [{"filename": "a", "predicted": "x", "expected": ["x"]}]}',
        r"field 'results\[0\]\.expected': not a label but a list \['x'\]; expected text",
    ),
    "spans": (
        "r.json",
        '{"task": "contracteval", "results": [{"id": "a__b", "predicted": "x"}]}',
        r"field 'results\[0\]\.label_spans': not a list of texts but nothing",
    ),
    "no document": (
        "r.json",
        '{"a": {"law": "Ohio"}}',
        r"field 'document': no column names the document; columns found: a",
    ),
    "line": (
        "r.jsonl",
        f"{ROW}\n{{oops\n{OTHER}\n",
        r"r\.jsonl, line 2: not JSON: .*\(column 2\); expected one JSON object",
    ),
    "cut line": ("r.jsonl", f"{ROW}\n{OTHER[:-3]}", r"r\.jsonl, line 2: the JSON is cut off \(column 68\)"),
    "first line": ("r.jsonl", f"{{oops\n{ROW}", r"r\.jsonl, line 1: not JSON"),
    "first line, no ending": ("r", f"{{oops\n{ROW}", r"r, line 1: not JSON"),
    "array line": (
        "r.jsonl",
        f"{ROW}\n[1]\n",
        r"r\.jsonl, line 2: not an object but a list \[1\]; expected a JSON object",
    ),
    "byte": (
        "r.jsonl",
        f"{ROW}\n".encode() + b'{"filename": "\xff"}',
        r"r\.jsonl, line 2: byte 0xff at offset 85 is not",
    ),
    "NaN line": ("r.jsonl", ROW + "\n\n" + OTHER.replace('"Ohio"', "NaN"), r"r\.jsonl, line 3: NaN is no JSON number"),
    "plain twice": ("r.jsonl", f"{ROW}\n{ROW}", r"r\.jsonl, line 2, field 'filename': 'a' occurs twice"),
    "null name": (
        "r.jsonl",
        ROW + "\n" + ROW.replace('"a"', "null"),
        r"line 2, field 'filename': no document name but nothing",
    ),
    "stray record": (
        "r.jsonl",
        f"{json.dumps(json.loads(_record(ROW)))}\n{ROW}",
        r"line 2, field 'results': no run record",
    ),
    "header alone": ("r.jsonl", '{"type": "header", "metadata": {}}', r"r\.jsonl: holds no rows"),
    "two headers": (
        "r.jsonl",
        "\n".join((HEADER, ROW, HEADER.replace('"m"', '"n"'))),
        r"line 3, field 'metadata': a second header that differs; expected one run in a manifest",
    ),
    "column": (
        "r.csv",
        "name,law\na,Ohio\n",
        r"field 'document': no column names the document; columns found: name, law",
    ),
    "no answer": ("r.csv", "document\na\n", r"field 'predicted': no column holds an answer; columns found: document"),
    "header only": ("r.csv", "document,law\n", r"r\.csv: holds no rows"),
    "cells": ("r.csv", "document,law\na,Ohio\nb\n", r"r\.csv, line 3: 1 cells; expected 2 cells as in the header"),
    "same header": ("r.csv", "document,law,law\na,b,c\n", r"field 'law': two columns have one name"),
    "nameless": ("r.csv", "document,law,\na,b,c\n", r"r\.csv, line 2: 'c' stands in a column without a name"),
    "quote": ("r.csv", 'document,law\na,"Ohio\nb,x\n', r"r\.csv, line 2: a quoted cell is never closed"),
    "csv twice": (
        "r.csv",
        "document,law\na,x\n\nA,y\n",
        r"r\.csv, line 4, field 'document': 'A' occurs twice \(as 'a'\)",
    ),
    "csv byte": ("r.csv", b"document,law\na,\xe9\n", r"r\.csv, line 2: byte 0xe9 at offset 15 is not UTF-8"),
    "csv count": (
        "r.csv",
        "document,law,prompt_tokens\na,x,many\n",
        r"line 2, field 'prompt_tokens': not a count but 'many'",
    ),
    "csv usage": (
        "r.csv",
        "document,law,tokens\na,x,{oops\n",
        r"r\.csv, line 2: not JSON.*expected JSON in column 'tokens'",
    ),
    "parquet": ("r.parquet", b"PAR1nonsense", r"r\.parquet: cannot be read .*expected a Parquet file"),
    "zip": ("r.xlsx", b"PK\x03\x04nonsense", r"r\.xlsx: is a damaged zip archive or workbook"),
}


@pytest.mark.parametrize(("name", "content", "message"), RUNS.values(), ids=RUNS)
def test_bad_runs(tmp_path: Path, name: str, content: str | bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_run(_write(tmp_path / name, content))


COLLECTED = {
    "line": ("r.jsonl", f"{ROW}\n{{oops\n{OTHER}\n", 2),
    "byte": ("r.jsonl", f"{ROW}\n".encode() + b'{"\xff": 1}\n' + OTHER.encode(), 2),
    "twice": ("r.jsonl", f"{ROW}\n{ROW}\n{OTHER}\n", 2),
    "cells": ("r.csv", "document,law\na,x\nc\nb,y\n", 3),
    "csv twice": ("r.csv", "document,law\na,x\nA.pdf,z\nb,y\n", 3),
    "json": ("r.json", _record(f"{ROW}, 3, {OTHER}"), None),
    "manifest": ("r.jsonl", f'{{"type": "header", "metadata": {{}}}}\n{ROW}\n{{"filename": 1.5}}\n{OTHER}', 3),
}


@pytest.mark.parametrize(("name", "content", "line"), COLLECTED.values(), ids=COLLECTED)
def test_collecting_keeps_the_good_rows(tmp_path: Path, name: str, content: str | bytes, line: int | None) -> None:
    path = _write(tmp_path / name, content)
    with pytest.raises(InputError):
        read_run(path)
    run = read_run(path, on_error="collect")

    assert [row.document for row in run.rows] == ["a", "b"]
    assert [(problem.line, problem.source) for problem in run.problems] == [(line, str(path))]


def test_collecting_when_nothing_is_good(tmp_path: Path) -> None:
    """An empty result would be a silent drop: the error says how many rows were refused, and why the first."""
    files: list[tuple[Callable[..., Any], str, str, str]] = [
        (read_run, "r.csv", "document,law\nb\nc\n", r"2 refused, the first: .*r\.csv, line 2: 1 cells; expected 2"),
        (read_run, "r.jsonl", "{oops\n[1]\n", r"2 refused, the first: .*r\.jsonl, line 1: not JSON"),
        (read_log, "log.jsonl", ROW, r"holds no run that .*1 refused, the first: .* line 1, field 'results'"),
        (
            load_labels,
            "l.jsonl",
            '{"document": 1.5}\n',
            r"holds no labels that .*1 refused, .* no document name but 1\.5",
        ),
        (load_documents, "d.jsonl", '{"document": "a"}\n', r"holds no document that .*1 refused, .* field 'text'"),
    ]
    for reader, name, content, message in files:
        with pytest.raises(InputError, match=message):
            reader(_write(tmp_path / name, content), on_error="collect")


def test_a_record_with_fewer_rows_than_it_says(tmp_path: Path) -> None:
    text = _record(ROW).replace('"results"', '"n_rows": 2, "results"')

    assert str(read_run(_write(tmp_path / "r.json", text)).problems[0]).endswith(
        "field 'n_rows': 1 rows; expected 2 as the record says"
    )


def test_an_answer_nested_too_deeply_is_a_failed_row(tmp_path: Path) -> None:
    deep = "[" * 200 + "]" * 200
    for predicted in (deep, json.dumps(deep), json.dumps("[" * 100_000)):
        row = read_run(_write(tmp_path / "r.json", _record(ROW.replace('{"law": "Ohio"}', predicted)))).rows[0]
        assert row.failed
        assert str(row.error).startswith("parse error")


def test_numbers_that_are_none_in_tables(tmp_path: Path) -> None:
    import openpyxl
    import pyarrow as pa
    from pyarrow import parquet

    table = pa.table({"document": ["a"], "law": [float("nan")]})
    parquet.write_table(table, tmp_path / "r.parquet")
    with pytest.raises(InputError, match=r"r\.parquet, line 1, field 'law': nan is no number; expected text, a number"):
        read_run(tmp_path / "r.parquet")
    parquet.write_table(pa.table({"document": ["a"], "law": [b"x"]}), tmp_path / "r.parquet")
    with pytest.raises(InputError, match=r"line 1, field 'law': a value of type bytes"):
        read_run(tmp_path / "r.parquet")
    book = openpyxl.Workbook()
    book.active.append(["document", "law"])
    book.active.append(["a", "#N/A"])
    book.save(tmp_path / "r.xlsx")
    with pytest.raises(InputError, match=r"r\.xlsx, line 2, field 'law': the cell holds the error #N/A"):
        read_run(tmp_path / "r.xlsx")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("a.txt", "x")
    with pytest.raises(InputError, match=r"other\.zip: is a zip archive; expected a run"):
        read_run(tmp_path / "other.zip")


READERS: dict[str, Callable[[Any], Any]] = {
    "read_run": read_run,
    "read_log": read_log,
    "load_labels": load_labels,
    "load_documents": load_documents,
}


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_nothing_there(tmp_path: Path, reader: Callable[[Any], Any]) -> None:
    with pytest.raises(InputError, match=r"absent: no such file; expected "):
        reader(tmp_path / "absent")
    with pytest.raises(InputError, match="expected "):
        reader(f"{tmp_path}/nul\0byte")
    with pytest.raises(InputError, match=r"is a folder|holds no document"):
        reader(tmp_path)
    with pytest.raises(SettingsError, match="on_error is 'ignore'; known: raise, collect"):
        reader(tmp_path / "absent", on_error="ignore")


def test_a_choice_where_there_is_none(tmp_path: Path) -> None:
    path = _write(tmp_path / "p.jsonl", ROW)

    with pytest.raises(InputError, match=r"p\.jsonl, field '#2': is no experiment log"):
        read_run(f"{path}#2")
    with pytest.raises(InputError, match=r"p\.jsonl, line 1, field 'results': no run record"):
        read_log(path)


def test_another_task_than_asked_for(tmp_path: Path) -> None:
    path = _write(tmp_path / "r.json", _record(ROW))

    with pytest.raises(InputError, match=r"field 'task': a run of task 'contract_entity_extraction'; expected 'x' as"):
        read_run(path, task="x")


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
    path = _write(tmp_path / "l.jsonl", "\n".join(map(json.dumps, rows)))

    with pytest.raises(InputError, match=rf"l\.jsonl, .*{message}"):
        load_labels(path)
    labels = load_labels(path, on_error="collect")
    assert list(labels.documents) == ["a"]
    assert [(problem.line, problem.document) for problem in labels.problems] == [(2, "b")]


def _cuad(*rows: str, more: str = "") -> str:
    """A table about audit rights, with no other clause in any contract."""
    others = [category.name for category in clause_categories() if category.name != "Audit Rights"]
    lines = [",".join([row, *["[]"] * len(others)]) for row in rows]
    return "\n".join([",".join([f"Filename,Audit Rights,Audit Rights-Answer{more}", *others]), *lines])


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
        _cuad("a,['x',Yes"),
        r"m\.csv, line 2, field 'Audit Rights': no list of texts but \"\['x'\"; expected a list",
    ),
    "number": ("m.csv", _cuad("a,[3],Yes"), r"m\.csv, line 2, field 'Audit Rights': no list of texts but '\[3\]'"),
    "text": (
        "m.csv",
        _cuad("a,may audit,Yes"),
        r"m\.csv, line 2, field 'Audit Rights': no list of texts but 'may audit'",
    ),
    "cuad twice": (
        "m.csv",
        _cuad("a,[],No", "a.pdf,[],No"),
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
    path = _write(tmp_path / name, content)
    with pytest.raises(InputError, match=message):
        load_labels(path)


def test_an_unreadable_cell_is_listed_not_dropped(tmp_path: Path) -> None:
    labels = load_labels(_write(tmp_path / "m.csv", _cuad("a,oops,Yes", "b,['x'],Yes")), on_error="collect")

    assert [len(found.fields) for found in labels.documents.values()] == [0, 1]
    assert str(labels.problems[0]).startswith(f"{tmp_path / 'm.csv'}, line 2, document 'a', field 'Audit Rights'")


def test_an_unknown_column_of_cuad_is_noted(tmp_path: Path) -> None:
    text = _cuad("a,['x'],Yes,43", more=",Shoe Size")

    assert [problem.field for problem in load_labels(_write(tmp_path / "m.csv", text)).problems] == ["Shoe Size"]


def test_a_category_without_a_column(tmp_path: Path) -> None:
    """It would read as "no such clause" in every contract."""
    text = _cuad("a,['x'],Yes").replace("Governing Law", "Governing Lwa")
    path = _write(tmp_path / "m.csv", text)
    with pytest.raises(
        InputError, match=r"m\.csv, field 'Governing Law': no column of 1 of 41 .*did you mean 'Governing L"
    ):
        load_labels(path)
    problems = load_labels(path, on_error="collect").problems

    assert [problem.field for problem in problems] == ["Governing Lwa", "Governing Law"]
    assert "did you mean 'Governing Law'" in problems[0].message


def test_an_answer_column_without_its_category_is_noted(tmp_path: Path) -> None:
    text = _cuad("a,['x'],Yes,43", more=",Insurnace-Answer")

    assert "did you mean 'Insurance'" in str(load_labels(_write(tmp_path / "m.csv", text)).problems[0])


def test_offsets_that_do_not_fit_are_noted(tmp_path: Path) -> None:
    """The label counts, its place does not."""
    texts = [("x", 1), ("x", 0), ("x <omitted> z", 0)]
    answers = [{"text": text, "answer_start": start} for text, start in texts]
    question = {"id": "a__Parties", "answers": answers, "is_impossible": True}
    squad = {"data": [{"title": "a", "paragraphs": [{"context": "xy", "qas": [question]}]}]}
    labels = load_labels(_write(tmp_path / "c.json", json.dumps(squad)))

    assert [span.start for span in labels.documents["a"].fields["parties"]] == [None, 0, None]
    assert [(problem.document, (problem.field or "").rpartition(".")[2]) for problem in labels.problems] == [
        ("a", "answer_start"),
        ("a", "is_impossible"),
    ]


@pytest.mark.parametrize("word", ["nan", "NaN"])
def test_nan_in_a_table(tmp_path: Path, word: str) -> None:
    """A missing number turned into text is no value; a name that only looks like it stays."""
    import openpyxl

    path = _write(tmp_path / "r.csv", f"document,law\nNan,Nan\nb,{word}\n")
    with pytest.raises(InputError, match=rf"r\.csv, line 3, field 'law': {word} is no value; expected an empty cell"):
        read_run(path)
    with pytest.raises(InputError, match=rf"line 3, field 'law': {word} is no value"):
        load_labels(path)
    assert [row.document for row in read_run(path, on_error="collect").rows] == ["Nan"]
    book = openpyxl.Workbook()
    for cells in (["document", "law"], ["a", "x"], ["b", word]):
        book.active.append(cells)
    book.save(tmp_path / "r.xlsx")
    with pytest.raises(InputError, match=rf"r\.xlsx, line 3, field 'law': {word} is no value"):
        read_run(tmp_path / "r.xlsx")


def test_missing_numbers_as_pandas_writes_them(tmp_path: Path) -> None:
    """Empty cells in CSV and nulls in Parquet: no value."""
    import pandas as pd

    frame = pd.DataFrame({"document": ["a", "b"], "contract_value": [1.5, float("nan")]})
    frame.to_csv(tmp_path / "r.csv", index=False)
    frame.to_parquet(tmp_path / "r.parquet")
    for name in ("r.csv", "r.parquet"):
        rows = read_run(tmp_path / name).rows
        assert getattr(rows[1], "predicted", None) == {"contract_value": None}


def test_one_row_of_csv_that_is_not_utf8(tmp_path: Path) -> None:
    path = _write(tmp_path / "r.csv", b'document,law\na,"x\ny"\nb,caf\xe9\nc,z\n')
    with pytest.raises(InputError, match=r"r\.csv, line 4: byte 0xe9 at offset"):
        read_run(path)
    run = read_run(path, on_error="collect")

    assert [row.document for row in run.rows] == ["a", "c"]
    assert [(problem.line, problem.field) for problem in run.problems] == [(4, "law")]
    with pytest.raises(InputError, match="is not UTF-8"):
        read_run(_write(tmp_path / "h.csv", b"document,l\xe9w\na,x\n"), on_error="collect")


HALF = '{"document": "a\\ud800", "predicted": {"law": "\\uDFFF x", "b\\ud83d": ["\\ud83d\\ude00", {"c": "\\udc00"}]}}'


def test_halves_of_characters(tmp_path: Path) -> None:
    """A lone surrogate is valid JSON and cannot be written anywhere: it becomes U+FFFD, pairs stay whole."""
    from dojo_kit.runs import run_from_record

    predicted = {"law": "\ufffd x", "b\ufffd": ["\U0001f600", {"c": "\ufffd"}]}
    cell = json.dumps(json.loads(HALF)["predicted"]).replace('"', '""')
    files = {"r.jsonl": HALF, "r.json": f"[{HALF}]", "r.csv": f'document,predicted\na\ufffd,"{cell}"\n'}
    runs = [read_run(_write(tmp_path / name, text)) for name, text in files.items()]
    runs.append(run_from_record({"results": [json.loads(HALF)]}))
    text = json.dumps({"document": "a", "predicted": json.dumps(json.loads(HALF)["predicted"])})
    runs.append(read_run(_write(tmp_path / "text.jsonl", text)))
    for run in runs:
        assert getattr(run.rows[0], "predicted", None) == predicted
        assert run.rows[0].document in ("a\ufffd", "a")
    labels = load_labels(_write(tmp_path / "l.jsonl", '{"document": "a", "fields": {"law": "\\ud800"}}'))
    assert labels.documents["a"].fields["law"][0].text == "\ufffd"
    listed = load_labels(_write(tmp_path / "m.csv", _cuad("a,['\\ud800'],Yes")))
    assert listed.documents["a"].fields["key_obligations"][0].text == "\ufffd"


def test_home_folder_and_empty_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    _write(tmp_path / "r.jsonl", ROW)
    _write(tmp_path / "l.jsonl", '{"document": "a", "law": "x"}')
    _write(tmp_path / "m.csv", _cuad("a,['x'],Yes"))
    _write(tmp_path / "d.jsonl", '{"document": "a", "text": "x"}')

    assert len(read_run("~/r.jsonl")) == 1
    assert [len(load_labels(source)) for source in ("~/l.jsonl", "jsonl:~/l.jsonl", "cuad:~/m.csv")] == [1, 1, 1]
    assert load_documents("~/d.jsonl")["a"] == "x"
    for reader in READERS.values():
        with pytest.raises(InputError, match="the path is empty; expected "):
            reader("")
    with pytest.raises(InputError, match="the path is empty"):
        load_labels("cuad:")


def test_labels_named_for_what_they_are_not(tmp_path: Path) -> None:
    path = _write(tmp_path / "l.jsonl", '{"document": "a", "law": "x"}')

    with pytest.raises(InputError, match=r"is not CUAD; expected master_clauses\.csv or CUAD_v1\.json"):
        load_labels(f"cuad:{path}")
    with pytest.raises(InputError, match="is a folder without labels"):
        load_labels(f"jsonl:{tmp_path}")


# --- a file cut off anywhere -------------------------------------------------------------------------------


def _whole_files(folder: Path) -> list[tuple[Callable[[Any], Any], Path]]:
    import pandas as pd

    rows = [{"document": f"d{i}é", "law": 'Ohio, "x"', "parties": '["A", "B"]'} for i in range(3)]
    records = [json.loads(_record(f"{ROW}, {OTHER}")) for _ in range(2)]
    header = {"type": "header", "metadata": {"model": "m"}}
    squad = {"title": "a", "paragraphs": [{"context": "x", "qas": [{"id": "a__Parties", "answers": [{"text": "x"}]}]}]}
    texts = {
        "r.json": json.dumps(records[0], indent=1),
        "log.jsonl": "\n".join(map(json.dumps, records)),
        "m.jsonl": "\n".join(map(json.dumps, [header, json.loads(ROW), json.loads(OTHER)])),
        "p.jsonl": "\n".join(json.dumps(row, ensure_ascii=False) for row in rows),
        "p.json": json.dumps(rows, ensure_ascii=False),
        "p.csv": pd.DataFrame(rows).to_csv(index=False),
        "l.csv": _cuad("a,\"['x', 'y']\",Yes", "b,[],No"),
        "c.json": json.dumps({"data": [squad]}),
        "d.jsonl": "\n".join(json.dumps({"document": row["document"], "text": "é"}) for row in rows),
    }
    for name, text in texts.items():
        _write(folder / name, text)
    pd.DataFrame(rows).to_parquet(folder / "p.parquet")
    pd.DataFrame(rows).to_excel(folder / "p.xlsx", index=False)
    with zipfile.ZipFile(folder / "d.zip", "w") as archive:
        archive.writestr("a.txt", "text")
    readers = {"l": load_labels, "c": load_labels, "d": load_documents, "log": read_log}
    return [(readers.get(path.stem, read_run), path) for path in sorted(folder.iterdir())]


@pytest.fixture(scope="module")
def whole_files(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Callable[[Any], Any], Path]]:
    return _whole_files(tmp_path_factory.mktemp("whole"))


FUZZ = settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])


def _read_or_refuse(reader: Callable[..., Any], path: Path) -> None:
    for on_error in ("raise", "collect"):
        try:
            found = reader(path, on_error=on_error)
            list(getattr(found, "values", list)())
        except InputError as error:
            assert str(path) in str(error)  # noqa: PT017


@FUZZ
@given(data=st.data())
def test_a_file_cut_off_anywhere(
    data: st.DataObject, whole_files: list[tuple[Callable[[Any], Any], Path]], tmp_path: Path
) -> None:
    """A run, labels or documents, or an `InputError` that names the file; never another exception."""
    reader, whole = data.draw(st.sampled_from(whole_files), label="file")
    content = whole.read_bytes()
    cut = data.draw(st.integers(0, len(content)), label="bytes kept")

    _read_or_refuse(reader, _write(tmp_path / whole.name, content[:cut]))


@FUZZ
@given(data=st.data())
def test_a_file_with_wrong_bytes(
    data: st.DataObject, whole_files: list[tuple[Callable[[Any], Any], Path]], tmp_path: Path
) -> None:
    """The same for files with a few bytes replaced."""
    reader, whole = data.draw(st.sampled_from(whole_files), label="file")
    content = bytearray(whole.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.sampled_from(b'"{}[],:;\n\\0aN\xff'))

    _read_or_refuse(reader, _write(tmp_path / whole.name, bytes(content)))
