"""Runs from every file format, and what becomes of failed rows."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from dojo_kit.errors import InputError, MissingExtraError
from dojo_kit.records import ChainedRow, ExtractionRow, LabelRow, QuestionRow, Run
from dojo_kit.runs import read_log, read_records, read_run, run_from_record

USED = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15, "cost": None}
FIELDS = {"governing_law": "Ohio", "parties": ["Acme", "Bolt"]}


def _write(path: Path, value: Any) -> Path:
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def _lines(path: Path, *values: Any) -> Path:
    return _write(path, "\n".join(json.dumps(value) for value in values) + "\n")


def _record(task: str, *rows: dict[str, Any], **extra: Any) -> dict[str, Any]:
    return {"type": "experiment", "task": task, "experiment_name": "e", "model": "m", "results": list(rows)} | extra


def _row(task: str, **values: Any) -> Any:
    return run_from_record(_record(task, {"filename": "a", "status": "completed", "error": None} | values)).rows[0]


# --- formats -----------------------------------------------------------------------------------------------


def test_run_record(tmp_path: Path) -> None:
    record = _record(
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
    record = _record("docclass_classification", per_row=[{"filename": "b", "status": "error"}])

    assert run_from_record(record | {"results": []}).rows[0].document == "b"
    assert run_from_record(record | {"results": [{"filename": "a", "status": "error"}]}).rows[0].document == "a"


def test_prompts_of_a_chain_are_joined() -> None:
    versions = {"sorter": "s1", "extractor": "x2"}
    run = run_from_record(_record("chained_sorter_extractor", {"filename": "a"}, prompt_versions=versions))

    assert run.meta.prompt_version == "s1+x2"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    rows = [{"filename": name, "status": "error", "error": "down"} for name in "abc"]
    records = (
        _record("subtype_classification", *rows[:1], experiment_name="twice"),
        _record("subtype_classification", *rows[:2], experiment_name="once"),
        _record("subtype_classification", *rows[:3], experiment_name="twice"),
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
    record = _record("subtype_classification", {"filename": "a", "status": "error"})

    assert len(read_run(_lines(tmp_path / "log.jsonl", record))) == 1
    assert len(read_run(_write(tmp_path / "log.json", [record]))) == 1
    assert [len(run) for run in read_log(_write(tmp_path / "one.json", record))] == [1]


def test_a_hash_in_a_file_name_is_no_fragment(tmp_path: Path) -> None:
    record = _record("subtype_classification", {"filename": "a", "status": "error"})

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

    assert run.meta.task == "task_classification"
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


# --- failures ----------------------------------------------------------------------------------------------

HONEST = {"doc_type": "contract", "contract_subtype": "ip", "expected_subtype": "ip", "confidence": 0.9}


@pytest.mark.parametrize(
    ("sorter", "tokens", "failed"),
    [
        ({"reasoning": "because"}, USED, False),
        ({"reasoning": "because"}, {}, False),  # a replay: an answer of its own, paid for earlier
        ({"reasoning": "because"}, {"prompt_tokens": 0, "completion_tokens": 0}, False),
        ({"reasoning": "error: Connection error.", "confidence": 0.0}, {}, True),
        ({"reasoning": "ERROR: down", "confidence": 0.9}, USED, True),
        ({"reasoning": "Error code: 403 - limit"}, USED, True),
        ({"reasoning": "Error while calling", "confidence": 0.0}, USED, True),
        ({"reasoning": "Error handling services are the core."}, USED, False),
        ({"reasoning": "Error handling services are the core."}, {}, False),
        ({"reasoning": "Errors and omissions insurance", "confidence": None}, USED, False),
        ({"reasoning": "", "confidence": 0.0}, {}, True),
        ({"reasoning": "", "confidence": 0.0}, USED, False),
        ({"reasoning": "", "confidence": 0.4}, {}, False),
        ({"contract_subtype": None, "doc_type": None}, USED, True),
    ],
)
def test_disguised_failures(sorter: dict[str, Any], tokens: dict[str, Any], failed: bool) -> None:
    row = _row("subtype_classification", sorter=HONEST | sorter, sorter_tokens=tokens)

    assert row.failed is failed
    assert (row.predicted is None) is failed
    assert row.expected == "ip"
    assert row.stored["sorter"]["expected_subtype"] == "ip"
    assert (row.usage is None) is (tokens is not USED)


@pytest.mark.parametrize(
    ("values", "failed"),
    [
        ({"predicted": FIELDS, "tokens": {}}, False),
        ({"predicted": {}, "tokens": {}}, True),
        ({"predicted": {"governing_law": None, "confidence": 0.9}, "tokens": {}}, True),
        ({"predicted": {}, "tokens": USED}, False),
        ({"predicted": {"reasoning": "error: timeout"}, "tokens": USED}, True),
        ({"predicted": None, "tokens": USED}, True),
        ({"tokens": USED}, False),
        ({"predicted": FIELDS, "tokens": USED, "error": "parse error"}, True),
        ({"predicted": FIELDS, "tokens": USED, "status": "error"}, True),
        ({"predicted": FIELDS, "tokens": USED, "tag": "ERROR!"}, True),
        ({"predicted": FIELDS, "tokens": USED, "status": "skipped"}, True),
        ({"predicted": ["a"], "tokens": USED}, False),
    ],
)
def test_failed_extractions(values: dict[str, Any], failed: bool) -> None:
    row = _row("contract_entity_extraction", **values)

    assert row.failed is failed
    assert not failed or (row.predicted is None and row.error)


def test_labels_of_each_task() -> None:
    nested = {
        "doc_type": "merger",
        "contract_subtype": "ip",
        "doc_subclass": "all_cash",
        "expected_doc_type": "contract",
        "expected_subtype": "license",
        "expected_subclass": "all_stock",
        "confidence": 0.5,
        "reasoning": "r",
    }
    found = {
        task: _row(task, sorter=nested)
        for task in ("docclass_classification", "subtype_classification", "sorter_classification")
    }

    assert {task: (row.predicted, row.expected) for task, row in found.items()} == {
        "docclass_classification": ("merger", "contract"),
        "subtype_classification": ("ip", "license"),
        "sorter_classification": ("merger", "contract"),
    }
    docclass = found["docclass_classification"]
    assert (docclass.predicted_subclass, docclass.expected_subclass) == ("all_cash", "all_stock")
    flat = _row("sorter_classification", predicted="contract", expected="contract", tokens=USED)
    assert (flat.predicted, flat.expected) == ("contract", "contract")
    fallback = _row("subtype_classification", sorter={"doc_type": "contract", "reasoning": "r", "confidence": 1})
    assert fallback.predicted == "contract"


def test_odd_model_output_is_noted_and_kept() -> None:
    rows = [
        {"filename": "a", "predicted": ["yes"], "expected": 1, "confidence": 95},
        {"filename": "b", "predicted": 1.0, "expected": True, "confidence": "0.5"},
    ]
    run = run_from_record(_record("task_classification", *rows))

    assert [(row.predicted, row.expected, row.confidence) for row in run.rows if isinstance(row, LabelRow)] == [
        ('["yes"]', "1", None),
        ("1", "true", 0.5),
    ]
    assert [problem.field for problem in run.problems] == ["results[0].predicted", "results[0].confidence"]


CHAIN = {"sorter": HONEST | {"reasoning": "r"}, "sorter_tokens": USED, "extractor_tokens": USED}


def test_chained_rows_keep_both_halves_apart() -> None:
    both = _row("chained_sorter_extractor", **CHAIN, extractor_scores={"predicted": FIELDS})
    assert isinstance(both, ChainedRow)
    assert (both.predicted, both.extracted, both.error, both.status) == ("ip", FIELDS, None, "completed")
    assert both.usage is not None
    assert both.usage.total_tokens == 30

    no_extraction = _row(
        "chained_sorter_extractor", **CHAIN | {"extractor_tokens": {}}, extractor_scores={"error": "too long"}
    )
    assert (no_extraction.predicted, no_extraction.extracted) == ("ip", None)
    assert (no_extraction.status, no_extraction.error) == ("completed", "extractor: too long")

    bad_sorter = CHAIN | {"sorter": HONEST | {"reasoning": "error: down", "confidence": 0.0}, "sorter_tokens": {}}
    no_label = _row("chained_sorter_extractor", **bad_sorter, extractor_scores={"predicted": FIELDS})
    assert (no_label.status, no_label.predicted, no_label.extracted) == ("failed", None, FIELDS)

    neither = _row("chained_sorter_extractor", **CHAIN, error="down", extractor_scores={"predicted": FIELDS})
    assert (neither.status, neither.predicted, neither.extracted) == ("failed", None, None)


@pytest.mark.parametrize(("predicted", "tokens", "failed"), [("", {}, True), ("", USED, False), ("text", {}, False)])
def test_questions_answered_with_nothing(predicted: str, tokens: dict[str, Any], failed: bool) -> None:
    row = _row("contracteval", id="c__Parties", label_spans=[], predicted=predicted, tokens=tokens)

    assert row.failed is failed
    assert (row.document, row.title, row.category) == ("c__Parties", "c", "Parties")


# --- real runs ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def real_runs(real_data: Path) -> dict[str, Run]:
    return {path.stem: read_run(path) for path in sorted((real_data / "runs").glob("*.json"))}


def test_all_real_runs_load(real_runs: dict[str, Run]) -> None:
    rows: Counter[str] = Counter()
    for run in real_runs.values():
        rows[run.meta.task] += len(run)

    assert len(real_runs) == 184
    assert rows == {
        "contract_entity_extraction": 1538,
        "subtype_classification": 16162,
        "docclass_classification": 2341,
        "chained_sorter_extractor": 80,
        "sorter_classification": 7,
        "task_classification": 756,
        "contracteval": 100,
    }
    assert not any(run.problems for run in real_runs.values())


def test_disguised_failures_of_the_real_runs(real_runs: dict[str, Run]) -> None:
    """42 rows say that they failed, 341 are stored as completed (analysis of the public runs)."""
    tasks = {"subtype_classification", "docclass_classification", "sorter_classification", "chained_sorter_extractor"}
    runs = {name: run for name, run in real_runs.items() if run.meta.task in tasks}
    told = sum(row.failed and row.stored["status"] != "completed" for run in runs.values() for row in run.rows)
    disguised = {
        name: count
        for name, run in runs.items()
        if (count := sum(row.failed and row.stored["status"] == "completed" for row in run.rows))
    }

    assert told == 42
    assert disguised == {"084": 243, "142": 93, "159": 1, "173": 1, "191": 1, "192": 1, "193": 1}


def test_replays_of_the_real_runs_are_no_failures(real_runs: dict[str, Run]) -> None:
    replays = {
        name: count
        for name, run in real_runs.items()
        if (count := sum(not row.failed and row.usage is None for row in run.rows))
    }

    assert replays == {"016": 139, "087": 5, "088": 5, "096": 1, "098": 94, "192": 508, "193": 508, "195": 332}


def test_failed_halves_and_missing_predictions_of_the_real_runs(real_runs: dict[str, Run]) -> None:
    chained = [row for run in real_runs.values() for row in run.rows if isinstance(row, ChainedRow)]
    half = [row for row in chained if row.extracted is None]
    assert len(half) == 2
    assert all(not row.failed and row.predicted == "development" for row in half)
    assert all(str(row.error).startswith("extractor: Could not parse") for row in half)

    for name in ("001", "002", "003", "004", "005"):
        rows = real_runs[name].rows
        assert all(isinstance(row, ExtractionRow) and row.predicted is None and not row.failed for row in rows)

    assert sum(row.failed for row in real_runs["081"].rows) == 292
