"""A file cut off anywhere or with wrong bytes is read or refused by name, whatever its format."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from input_files import OTHER, ROW, cuad_table, record_text, write

from dojo_kit.errors import InputError
from dojo_kit.runs import load_documents, load_labels, read_log, read_run


def _whole_files(folder: Path) -> list[tuple[Callable[[Any], Any], Path]]:
    import pandas as pd

    rows = [{"document": f"d{i}é", "law": 'Ohio, "x"', "parties": '["A", "B"]'} for i in range(3)]
    records = [json.loads(record_text(f"{ROW}, {OTHER}")) for _ in range(2)]
    header = {"type": "header", "metadata": {"model": "m"}}
    squad = {"title": "a", "paragraphs": [{"context": "x", "qas": [{"id": "a__Parties", "answers": [{"text": "x"}]}]}]}
    texts = {
        "r.json": json.dumps(records[0], indent=1),
        "log.jsonl": "\n".join(map(json.dumps, records)),
        "m.jsonl": "\n".join(map(json.dumps, [header, json.loads(ROW), json.loads(OTHER)])),
        "p.jsonl": "\n".join(json.dumps(row, ensure_ascii=False) for row in rows),
        "p.json": json.dumps(rows, ensure_ascii=False),
        "p.csv": pd.DataFrame(rows).to_csv(index=False),
        "l.csv": cuad_table("a,\"['x', 'y']\",Yes", "b,[],No"),
        "c.json": json.dumps({"data": [squad]}),
        "d.jsonl": "\n".join(json.dumps({"document": row["document"], "text": "é"}) for row in rows),
    }
    for name, text in texts.items():
        write(folder / name, text)
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

    _read_or_refuse(reader, write(tmp_path / whole.name, content[:cut]))


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

    _read_or_refuse(reader, write(tmp_path / whole.name, bytes(content)))
