"""Every bad run is an `InputError` that names the place, and collecting loses no row silently."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from input_files import OTHER, ROW, record_text, write

from dojo_kit.errors import InputError
from dojo_kit.runs import read_log, read_run

HEADER = '{"type": "header", "metadata": {"model": "m"}}'

RUNS = {
    "missing bracket": ("r.json", record_text(ROW)[:-2], r"r\.json, line 4: the JSON is cut off \(column 71\)"),
    "cut in a string": ("r.json", record_text(ROW)[:-10], r"r\.json, line 4: the JSON is cut off"),
    "no JSON": ("r.json", '{"a": 1,}', r"r\.json, line 1: not JSON: .* \(column \d+\); expected valid JSON"),
    "NaN": (
        "r.json",
        record_text(ROW.replace('"Ohio"', "NaN")),
        r"r\.json, line 4: NaN is no JSON number \(column 63\)",
    ),
    "Infinity": ("r.json", record_text(ROW.replace('"Ohio"', "-Infinity")), r"line 4: -Infinity is no JSON number"),
    "huge": ("r.json", record_text(ROW.replace('"Ohio"', "1e999")), r"line 4: 1e999 is beyond the range of numbers"),
    "key twice": (
        "r.json",
        record_text(ROW.replace('"status"', '"filename"')),
        r"field 'filename': key 'filename' occurs",
    ),
    "deep": ("r.json", "[" * 100_000, r"r\.json: the JSON is nested too deeply"),
    "digits": ("r.json", record_text(ROW.replace('"Ohio"', "9" * 5000)), r"r\.json: a number has too many digits"),
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
    "no rows": ("r.json", record_text(""), r"r\.json: holds no rows; expected a run with at least one row"),
    "empty array": ("r.json", "[]", r"r\.json: holds no rows"),
    "results": (
        "r.json",
        '{"results": {"a": 1}}',
        r"field 'results': not a list but an object \{'a': 1\}; expected a list",
    ),
    "a row": ("r.json", record_text("3"), r"field 'results\[0\]': not an object but 3; expected a JSON object"),
    "no name": (
        "r.json",
        record_text('{"status": "error"}'),
        r"field 'results\[0\]\.filename': no document name but nothing",
    ),
    "twice": (
        "r.json",
        record_text(f"{ROW},\n{ROW}"),
        r"field 'results\[1\]\.filename': 'a' occurs twice; expected one row",
    ),
    "one key": ("r.json", record_text(ROW + "," + ROW.replace('"a"', '"A.pdf"')), r"'A\.pdf' occurs twice \(as 'a'\)"),
    "status": ("r.json", record_text(ROW.replace('"completed"', "3")), r"field 'results\[0\]\.status': not text but 3"),
    "usage": ("r.json", record_text(ROW[:-1] + ', "tokens": 3}'), r"field 'results\[0\]\.tokens': not an object but 3"),
    "count": (
        "r.json",
        record_text(ROW[:-1] + ', "tokens": {"prompt_tokens": -1}}'),
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
        f"{json.dumps(json.loads(record_text(ROW)))}\n{ROW}",
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
        read_run(write(tmp_path / name, content))


COLLECTED = {
    "line": ("r.jsonl", f"{ROW}\n{{oops\n{OTHER}\n", 2),
    "byte": ("r.jsonl", f"{ROW}\n".encode() + b'{"\xff": 1}\n' + OTHER.encode(), 2),
    "twice": ("r.jsonl", f"{ROW}\n{ROW}\n{OTHER}\n", 2),
    "cells": ("r.csv", "document,law\na,x\nc\nb,y\n", 3),
    "csv twice": ("r.csv", "document,law\na,x\nA.pdf,z\nb,y\n", 3),
    "json": ("r.json", record_text(f"{ROW}, 3, {OTHER}"), None),
    "manifest": ("r.jsonl", f'{{"type": "header", "metadata": {{}}}}\n{ROW}\n{{"filename": 1.5}}\n{OTHER}', 3),
}


@pytest.mark.parametrize(("name", "content", "line"), COLLECTED.values(), ids=COLLECTED)
def test_collecting_keeps_the_good_rows(tmp_path: Path, name: str, content: str | bytes, line: int | None) -> None:
    path = write(tmp_path / name, content)
    with pytest.raises(InputError):
        read_run(path)
    run = read_run(path, on_error="collect")

    assert [row.document for row in run.rows] == ["a", "b"]
    assert [(problem.line, problem.source) for problem in run.problems] == [(line, str(path))]


def test_a_record_with_fewer_rows_than_it_says(tmp_path: Path) -> None:
    text = record_text(ROW).replace('"results"', '"n_rows": 2, "results"')

    assert str(read_run(write(tmp_path / "r.json", text)).problems[0]).endswith(
        "field 'n_rows': 1 rows; expected 2 as the record says"
    )


def test_an_answer_nested_too_deeply_is_a_failed_row(tmp_path: Path) -> None:
    deep = "[" * 200 + "]" * 200
    for predicted in (deep, json.dumps(deep), json.dumps("[" * 100_000)):
        row = read_run(write(tmp_path / "r.json", record_text(ROW.replace('{"law": "Ohio"}', predicted)))).rows[0]
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


def test_a_choice_where_there_is_none(tmp_path: Path) -> None:
    path = write(tmp_path / "p.jsonl", ROW)

    with pytest.raises(InputError, match=r"p\.jsonl, field '#2': is no experiment log"):
        read_run(f"{path}#2")
    with pytest.raises(InputError, match=r"p\.jsonl, line 1, field 'results': no run record"):
        read_log(path)


def test_another_task_than_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path / "r.json", record_text(ROW))

    with pytest.raises(InputError, match=r"field 'task': a run of task 'contract_entity_extraction'; expected 'x' as"):
        read_run(path, task="x")


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
    path = write(tmp_path / "r.csv", b'document,law\na,"x\ny"\nb,caf\xe9\nc,z\n')
    with pytest.raises(InputError, match=r"r\.csv, line 4: byte 0xe9 at offset"):
        read_run(path)
    run = read_run(path, on_error="collect")

    assert [row.document for row in run.rows] == ["a", "c"]
    assert [(problem.line, problem.field) for problem in run.problems] == [(4, "law")]
    with pytest.raises(InputError, match="is not UTF-8"):
        read_run(write(tmp_path / "h.csv", b"document,l\xe9w\na,x\n"), on_error="collect")
