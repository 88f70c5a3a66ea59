"""What all readers do alike: absent and empty paths, nothing left to return, values that are no values."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from input_files import ROW, cuad_table, write

from dojo_kit.errors import InputError, SettingsError
from dojo_kit.runs import load_documents, load_labels, read_log, read_run


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
            reader(write(tmp_path / name, content), on_error="collect")


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


@pytest.mark.parametrize("word", ["nan", "NaN"])
def test_nan_in_a_table(tmp_path: Path, word: str) -> None:
    """A missing number turned into text is no value; a name that only looks like it stays."""
    import openpyxl

    path = write(tmp_path / "r.csv", f"document,law\nNan,Nan\nb,{word}\n")
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


HALF = '{"document": "a\\ud800", "predicted": {"law": "\\uDFFF x", "b\\ud83d": ["\\ud83d\\ude00", {"c": "\\udc00"}]}}'


def test_halves_of_characters(tmp_path: Path) -> None:
    """A lone surrogate is valid JSON and cannot be written anywhere: it becomes U+FFFD, pairs stay whole."""
    from dojo_kit.runs import run_from_record

    predicted = {"law": "\ufffd x", "b\ufffd": ["\U0001f600", {"c": "\ufffd"}]}
    cell = json.dumps(json.loads(HALF)["predicted"]).replace('"', '""')
    files = {"r.jsonl": HALF, "r.json": f"[{HALF}]", "r.csv": f'document,predicted\na\ufffd,"{cell}"\n'}
    runs = [read_run(write(tmp_path / name, text)) for name, text in files.items()]
    runs.append(run_from_record({"results": [json.loads(HALF)]}))
    text = json.dumps({"document": "a", "predicted": json.dumps(json.loads(HALF)["predicted"])})
    runs.append(read_run(write(tmp_path / "text.jsonl", text)))
    for run in runs:
        assert getattr(run.rows[0], "predicted", None) == predicted
        assert run.rows[0].document in ("a\ufffd", "a")
    labels = load_labels(write(tmp_path / "l.jsonl", '{"document": "a", "fields": {"law": "\\ud800"}}'))
    assert labels.documents["a"].fields["law"][0].text == "\ufffd"
    listed = load_labels(write(tmp_path / "m.csv", cuad_table("a,['\\ud800'],Yes")))
    assert listed.documents["a"].fields["key_obligations"][0].text == "\ufffd"


def test_home_folder_and_empty_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    write(tmp_path / "r.jsonl", ROW)
    write(tmp_path / "l.jsonl", '{"document": "a", "law": "x"}')
    write(tmp_path / "m.csv", cuad_table("a,['x'],Yes"))
    write(tmp_path / "d.jsonl", '{"document": "a", "text": "x"}')

    assert len(read_run("~/r.jsonl")) == 1
    assert [len(load_labels(source)) for source in ("~/l.jsonl", "jsonl:~/l.jsonl", "cuad:~/m.csv")] == [1, 1, 1]
    assert load_documents("~/d.jsonl")["a"] == "x"
    for reader in READERS.values():
        with pytest.raises(InputError, match="the path is empty; expected "):
            reader("")
    with pytest.raises(InputError, match="the path is empty"):
        load_labels("cuad:")
