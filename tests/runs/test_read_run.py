"""Runs from every file format."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from run_records import FIELDS, USED, run_record

from dojo_kit.errors import InputError, MissingExtraError
from dojo_kit.records import ExtractionRow, LabelRow, QuestionRow
from dojo_kit.runs import read_log, read_records, read_run, run_from_record


def _write(path: Path, value: Any) -> Path:
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def _lines(path: Path, *values: Any) -> Path:
    return _write(path, "\n".join(json.dumps(value) for value in values) + "\n")


def test_run_record(tmp_path: Path) -> None:
    record = run_record(
        "contract_entity_extraction",
        {"filename": "a.pdf", "status": "completed", "error": None, "predicted": FIELDS, "tokens": USED},
        prompt_version="v1",
        timestamp="2026-01-01",
        parameters={"temperature": 0.1},
        data_source={"seed": 42},
        git={"commit": "abc"},
        scores={"overall_extraction_score": 0.5},
    )
    for indent in (None, 1):
        run = read_run(_write(tmp_path / "run.json", json.dumps(record, indent=indent)))

        assert isinstance(run.rows[0], ExtractionRow)
        assert run.rows[0].predicted == FIELDS
        assert run.rows[0].usage is not None
        assert run.rows[0].usage.total_tokens == 15
        assert run.rows[0].usage.cost_usd is None
        assert run.rows[0].stored["filename"] == "a.pdf"
        assert (run.meta.task, run.meta.name, run.meta.model) == ("contract_entity_extraction", "e", "m")
        assert (run.meta.prompt_version, run.meta.timestamp) == ("v1", "2026-01-01")
        assert run.meta.parameters == {"temperature": 0.1}
        assert run.stored_scores == {"overall_extraction_score": 0.5}
        assert run.source == str(tmp_path / "run.json")
        assert run.problems == ()


def test_rows_come_from_results_else_per_row() -> None:
    record = run_record("docclass_classification", per_row=[{"filename": "b", "status": "error"}])

    assert run_from_record(record | {"results": []}).rows[0].document == "b"
    assert run_from_record(record | {"results": [{"filename": "a", "status": "error"}]}).rows[0].document == "a"


def test_prompts_of_a_chain_are_joined() -> None:
    versions = {"sorter": "s1", "extractor": "x2"}
    run = run_from_record(run_record("chained_sorter_extractor", {"filename": "a"}, prompt_versions=versions))

    assert run.meta.prompt_version == "s1+x2"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    rows = [{"filename": name, "status": "error", "error": "down"} for name in "abc"]
    records = (
        run_record("subtype_classification", *rows[:1], experiment_name="twice"),
        run_record("subtype_classification", *rows[:2], experiment_name="once"),
        run_record("subtype_classification", *rows[:3], experiment_name="twice"),
    )
    return _lines(tmp_path / "log.jsonl", *records)


def test_log(log: Path) -> None:
    runs = read_log(log)

    assert [len(run) for run in runs] == [1, 2, 3]
    assert [run.source for run in runs] == [f"{log}#1", f"{log}#2", f"{log}#3"]
    assert [name for name, _ in read_records(log)] == [f"{log}#1", f"{log}#2", f"{log}#3"]


@pytest.mark.parametrize(("pick", "rows"), [("2", 2), ("once", 2), ("twice", 3)])
def test_one_record_of_a_log(log: Path, pick: str, rows: int) -> None:
    run = read_run(f"{log}#{pick}")

    assert len(run) == rows
    assert run.source == f"{log}#{pick}"
    assert len(read_records(f"{log}#{pick}")) == 1


def test_a_log_needs_a_choice(log: Path) -> None:
    with pytest.raises(InputError, match=r"log\.jsonl: holds 3 runs; expected .*log\.jsonl#LINE or .*#NAME"):
        read_run(log)
    with pytest.raises(InputError, match=r"no run 'onec' \(did you mean 'once'\?\)"):
        read_run(f"{log}#onec")


def test_a_log_of_one_record_is_a_run(tmp_path: Path) -> None:
    record = run_record("subtype_classification", {"filename": "a", "status": "error"})

    assert len(read_run(_lines(tmp_path / "log.jsonl", record))) == 1
    assert len(read_run(_write(tmp_path / "log.json", [record]))) == 1
    assert [len(run) for run in read_log(_write(tmp_path / "one.json", record))] == [1]


def test_a_hash_in_a_file_name_is_no_fragment(tmp_path: Path) -> None:
    record = run_record("subtype_classification", {"filename": "a", "status": "error"})

    assert len(read_run(_write(tmp_path / "run#3.json", record))) == 1


def test_a_broken_line_of_a_log_is_listed(log: Path) -> None:
    log.write_text(log.read_text(encoding="utf-8")[:-20], encoding="utf-8")
    with pytest.raises(InputError, match=r"log\.jsonl, line 3: the JSON is cut off"):
        read_log(log)

    runs = read_log(log, on_error="collect")

    assert [run.meta.name for run in runs] == ["twice", "once"]
    assert [problem.line for problem in runs.problems] == [3]


EXTRACTION_HEADER = {
    "experiment_name": "x",
    "dataset": "d",
    "dataset_fingerprint": "f",
    "model": "m",
    "prompt_version": "v",
    "temperature": 0.1,
}


def test_manifest_keeps_the_last_row_of_a_file(tmp_path: Path) -> None:
    run = read_run(
        _lines(
            tmp_path / "m.jsonl",
            {"type": "header", "metadata": EXTRACTION_HEADER},
            {"filename": "a", "status": "error", "tag": "ERROR!", "error": "timeout", "predicted": None},
            {"filename": "b", "status": "completed", "tag": "OK", "predicted": FIELDS, "expected_fields": {}},
            {"filename": "a", "status": "completed", "tag": "OK", "predicted": FIELDS, "error": None},
        )
    )

    assert [(row.document, row.status) for row in run.rows] == [("a", "completed"), ("b", "completed")]
    assert run.meta.task == "contract_entity_extraction"
    assert (run.meta.name, run.meta.model, run.meta.prompt_version) == ("x", "m", "v")
    assert run.meta.parameters == {"temperature": 0.1}
    assert run.meta.data_source == {"dataset": "d", "dataset_fingerprint": "f"}


@pytest.mark.parametrize(
    ("header", "row", "task"),
    [
        ({"sorter_prompt_version": "s"}, {"expected_subtype": "ip"}, "subtype_classification"),
        ({"sorter_prompt_version": "s", "extractor_prompt_version": "x"}, {}, "chained_sorter_extractor"),
        ({"datasets": "a,b"}, {"expected_doc_type": "contract"}, "docclass_classification"),
        ({"prompt_mode": "task"}, {"expected": "yes"}, "task_classification"),
        ({"prompt_mode": "sorter"}, {"expected": "contract"}, "sorter_classification"),
        ({"task": "own"}, {"expected": "yes"}, "own"),
        ({}, {"expected": "yes"}, "task_classification"),
        ({}, {"expected_fields": {}}, "contract_entity_extraction"),
    ],
)
def test_a_manifest_gives_its_task_away(tmp_path: Path, header: dict[str, Any], row: dict[str, Any], task: str) -> None:
    path = _lines(
        tmp_path / "m.jsonl", {"type": "header", "metadata": header}, {"filename": "a", "status": "error"} | row
    )

    assert read_run(path).meta.task == task


def test_subtype_manifest_row(tmp_path: Path) -> None:
    row = {
        "filename": "a",
        "status": "completed",
        "predicted": {"doc_type": "contract", "contract_subtype": "ip"},
        "expected_subtype": "license",
        "scores": {"composite": {"sorter": {"confidence": 0.7, "reasoning": "because"}}, "sorter_usage": USED},
    }
    header = {"type": "header", "metadata": {"sorter_prompt_version": "s"}}
    found = read_run(_lines(tmp_path / "m.jsonl", header, row)).rows[0]

    assert isinstance(found, LabelRow)
    assert (found.predicted, found.expected, found.confidence) == ("ip", "license", 0.7)
    assert found.reasoning == "because"
    assert found.usage is not None


def _table(path: Path, rows: list[dict[str, Any]]) -> Path:
    import pandas as pd

    frame = pd.DataFrame(rows)
    match path.suffix:
        case ".csv":
            frame.to_csv(path, index=False, quoting=csv.QUOTE_MINIMAL)
        case ".parquet":
            frame.to_parquet(path)
        case ".xlsx":
            frame.to_excel(path, index=False)
    return path


PLAIN = [
    {"document": "a.pdf", "governing_law": "Ohio", "parties": '["Acme", "Bolt"]', "contract_value": None},
    {"document": "b.pdf", "governing_law": "[*]", "parties": "Acme, Bolt", "contract_value": "5"},
]


@pytest.mark.parametrize("name", ["p.csv", "p.parquet", "p.xlsx", "p.jsonl", "p.json", "p.txt"])
def test_one_column_per_field(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if path.suffix == ".jsonl":
        _lines(path, *(row | {"parties": _decoded(row["parties"])} for row in PLAIN))
    elif path.suffix == ".json":
        _write(path, [row | {"parties": _decoded(row["parties"])} for row in PLAIN])
    elif path.suffix == ".txt":
        path = _table(tmp_path / "p.csv", PLAIN).rename(path)
    else:
        _table(path, PLAIN)

    run = read_run(path)

    assert run.meta.task == "contract_entity_extraction"
    assert [row.document for row in run.rows] == ["a.pdf", "b.pdf"]
    assert [row.predicted for row in run.rows if isinstance(row, ExtractionRow)] == [
        {"governing_law": "Ohio", "parties": ["Acme", "Bolt"], "contract_value": None},
        {"governing_law": "[*]", "parties": "Acme, Bolt", "contract_value": "5"},
    ]
    assert all(row.usage is None and row.error is None for row in run.rows)


def _decoded(text: str) -> Any:
    return json.loads(text) if text.startswith("[") else text


@pytest.mark.parametrize("name", ["p.csv", "p.parquet", "p.xlsx", "p.jsonl"])
def test_predictions_as_json_text(tmp_path: Path, name: str) -> None:
    rows = [
        {"filename": "a", "predicted": '<think>{"x": 1}</think>\n```json\n{"governing_law": "Ohio"}\n```'},
        {"filename": "b", "predicted": "I found nothing."},
        {"filename": "c", "predicted": None},
        {"filename": "d", "predicted": '{"a": NaN}'},
    ]
    path = tmp_path / name
    run = read_run(_lines(path, *rows) if name == "p.jsonl" else _table(path, rows))

    assert [row.status for row in run.rows] == ["completed", "failed", "failed", "failed"]
    assert run.rows[0].predicted == {"governing_law": "Ohio"}
    assert [str(row.error).split(":")[0] for row in run.rows[1:]] == ["parse error", "no answer stored", "parse error"]


def test_lists_and_structs_of_parquet(tmp_path: Path) -> None:
    import datetime

    path = _table(
        tmp_path / "p.parquet",
        [{"doc_id": 7, "predicted": {"parties": ["A"], "effective_date": datetime.date(2020, 1, 2)}}],
    )
    row = read_run(path).rows[0]

    assert row.document == "7"
    assert row.predicted == {"parties": ["A"], "effective_date": "2020-01-02"}


def test_the_first_name_of_a_document_wins(tmp_path: Path) -> None:
    path = _write(tmp_path / "p.csv", "title,ID,Filename,law\nt,1,f,Ohio\n")
    row = read_run(path).rows[0]

    assert row.document == "f"
    assert row.predicted == {"title": "t", "law": "Ohio"}


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_other_delimiters_and_a_byte_order_mark(tmp_path: Path, delimiter: str) -> None:
    text = f"document{delimiter}law\na{delimiter}Ohio, Iowa\n\n"
    path = tmp_path / "p.csv"
    path.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())

    assert read_run(path).rows[0].predicted == {"law": "Ohio, Iowa"}


def test_a_data_frame_index_and_python_lists(tmp_path: Path) -> None:
    path = _write(tmp_path / "p.csv", """,document,parties\n0,a,"['Acme', 'Bolt']"\n""")

    assert read_run(path).rows[0].predicted == {"parties": ["Acme", "Bolt"]}


def test_status_and_usage_columns(tmp_path: Path) -> None:
    text = "document,law,status,error,prompt_tokens,completion_tokens,cost_usd\na,x,ok,,10,5,0.5\nb,,error,down,,,\n"
    done, failed = read_run(_write(tmp_path / "p.csv", text)).rows

    assert done.usage is not None
    assert (done.usage.total_tokens, done.usage.cost_usd) == (15, 0.5)
    assert done.predicted == {"law": "x"}
    assert (failed.status, failed.error, failed.predicted) == ("failed", "down", None)


def test_status_may_be_a_field(tmp_path: Path) -> None:
    path = _write(tmp_path / "p.csv", "document,status\na,filed and pending\n")

    assert read_run(path).rows[0].predicted == {"status": "filed and pending"}


@pytest.mark.parametrize("name", ["p.csv", "p.jsonl"])
def test_plain_labels(tmp_path: Path, name: str) -> None:
    rows = [{"id": "q1", "predicted": "Yes", "expected": "yes"}, {"id": "q2", "predicted": None, "expected": "no"}]
    path = tmp_path / name
    run = read_run(_lines(path, *rows) if name == "p.jsonl" else _table(path, rows))

    assert run.meta.task == "multiclass"
    assert [(row.predicted, row.expected, row.failed) for row in run.rows if isinstance(row, LabelRow)] == [
        ("Yes", "yes", False),
        (None, "no", True),
    ]


def test_task_of_a_plain_file(tmp_path: Path) -> None:
    path = _write(tmp_path / "p.csv", "document,predicted\na,license\n")

    run = read_run(path)
    assert run.rows[0].failed
    assert "task=" in str(run.problems[0])
    assert read_run(path, task="subtype_classification").rows[0].predicted == "license"


def test_plain_questions(tmp_path: Path) -> None:
    row = {"title": "c", "category": "Parties", "question": "Who?", "label_spans": ["A"], "predicted": "A and B"}
    found = read_run(_lines(tmp_path / "q.jsonl", row, row | {"category": "Audit Rights", "label_spans": []})).rows

    assert [row.document for row in found] == ["c__Parties", "c__Audit Rights"]
    assert isinstance(found[0], QuestionRow)
    assert (found[0].title, found[0].label_spans, found[0].predicted) == ("c", ("A",), "A and B")


def test_excel_needs_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _table(tmp_path / "p.xlsx", PLAIN)
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)

    with pytest.raises(MissingExtraError, match=r"pip install 'dojo-kit\[excel\]'"):
        read_run(path)
