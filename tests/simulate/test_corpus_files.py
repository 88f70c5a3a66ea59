"""Corpora from files of every kind, and corpora on disk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dojo_kit.errors import InputError
from dojo_kit.runs.corpus_files import build_corpus, load_corpus, read_corpus, read_overrides, write_corpus
from dojo_kit.simulate import exemplars, summarise, votes_of
from dojo_kit.simulate.corpus_summary import SUMMARY_COLUMNS


def record(name: str, *answers: str, key: str = "results", task: str = "subtype_classification") -> dict[str, Any]:
    """Make a run record on documents d0, d1, ... that are licenses."""
    rows = [
        {
            "filename": f"d{i}",
            "status": "completed",
            "sorter": {"contract_subtype": answer, "expected_subtype": "license", "reasoning": "a license, not supply"},
            "sorter_tokens": {"prompt_tokens": 5, "completion_tokens": 5},
        }
        for i, answer in enumerate(answers)
    ]
    return {"type": "experiment", "task": task, "experiment_name": name, "model": "m", key: rows}


def write(path: Path, *records: dict[str, Any]) -> Path:
    """Write records, one a line."""
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return path


def test_files_logs_and_folders(tmp_path: Path) -> None:
    write(tmp_path / "1.json", record("a", "license", "supply"))
    log = write(tmp_path / "log.jsonl", record("b", "license"), record("b", "supply"))

    corpus = read_corpus([tmp_path])

    assert corpus.rows["run_id"].tolist() == ["1", "1", "log#1", "log#2"]
    assert read_corpus([f"{log}#2"]).rows["vote"].tolist() == ["supply"]


def test_a_pretty_record_and_a_list_of_records(tmp_path: Path) -> None:
    pretty, listed = tmp_path / "p.json", tmp_path / "l.json"
    pretty.write_text(json.dumps(record("a", "license"), indent=1), encoding="utf-8")
    listed.write_text(json.dumps([record("b", "license"), record("c", "supply")]), encoding="utf-8")

    assert read_corpus([pretty, listed]).rows["experiment"].tolist() == ["a", "b", "c"]


def test_plain_predictions(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("document,predicted,expected\na,x,x\nb,y,x\n", encoding="utf-8")

    corpus = read_corpus([table], tasks=("multiclass",))

    assert corpus.rows["replay"].tolist() == [False, False]
    assert votes_of(corpus, "multiclass").expected_shares.tolist() == [1.0, 0.0]


def test_a_built_file_is_the_corpus_that_was_read(tmp_path: Path) -> None:
    files = [write(tmp_path / f"{n}.json", record(f"e{n}", "license", "supply")) for n in range(3)]
    target = tmp_path / "out" / "corpus.parquet"

    problems = build_corpus(files, target)

    read, loaded = read_corpus(files), load_corpus(target)
    assert problems == ()
    for name in read.rows:
        assert (
            loaded.rows[name].astype(object).tolist() == read.rows[name].astype(object).tolist() or name == "confidence"
        )
    again = load_corpus(write_corpus(loaded, tmp_path / "again.parquet"))
    assert summarise(again).as_dict() == summarise(read).as_dict()
    assert exemplars(again, "subtype").as_dict() == exemplars(read, "subtype").as_dict()


def test_a_corpus_read_in_part(tmp_path: Path) -> None:
    target = tmp_path / "corpus.parquet"
    build_corpus([write(tmp_path / "1.json", record("a", "license", "supply"))], target)

    part = load_corpus(target, columns=SUMMARY_COLUMNS)

    assert summarise(part).n_rows == 2
    with pytest.raises(InputError, match="read without prompt, settings"):
        write_corpus(part, tmp_path / "x.parquet")
    with pytest.raises(InputError, match="did you mean 'vote'"):
        load_corpus(target, columns=["votes"])
    with pytest.raises(InputError, match="read without reasons"):
        exemplars(load_corpus(target, columns=[c for c in load_corpus(target).rows if c != "reasoning"]), "subtype")


def test_what_is_left_out_is_said(tmp_path: Path) -> None:
    files = [
        write(tmp_path / "1.json", record("a", "license")),
        write(tmp_path / "2.json", record("b", "license", key="per_row")),
        write(tmp_path / "3.json", record("c", "license", task="task_classification")),
    ]

    assert len(read_corpus(files)) == 2
    published = read_corpus(files, legacy=True)
    assert len(published) == 1
    assert published.notes == (
        "1 run of task 'legalbench' left out",
        "1 run without 'results', as published, left out",
    )


def test_overrides(tmp_path: Path) -> None:
    files = [write(tmp_path / "1.json", record("a", "license")), write(tmp_path / "2.json", record("b", "supply"))]
    table = tmp_path / "o.json"
    table.write_text('{"a": "2"}', encoding="utf-8")

    corpus = read_corpus(files, legacy=True, overrides=read_overrides(table))

    assert corpus.rows["vote"].tolist() == ["supply", "supply"]
    with pytest.raises(InputError, match="no run '9'"):
        read_corpus(files, legacy=True, overrides={"a": "9"})
    with pytest.raises(InputError, match="legacy only"):
        read_corpus(files, overrides={"a": "2"})
    table.write_text("[1]", encoding="utf-8")
    with pytest.raises(InputError, match="no table of overrides"):
        read_overrides(table)


def test_faults_name_file_and_line(tmp_path: Path) -> None:
    log = write(tmp_path / "log.jsonl", record("a", "license"), record("b", "supply"))
    log.write_text(log.read_text() + '{"results": [\n', encoding="utf-8")

    with pytest.raises(InputError, match="line 3"):
        read_corpus([log])
    collected = read_corpus([log], on_error="collect")

    assert len(collected) == 2
    assert [problem.line for problem in collected.problems] == [3]
    for wrong, message in (("missing.json", "no such file"), ("log.jsonl#x", "no run 'x'")):
        with pytest.raises(InputError, match=message):
            read_corpus([tmp_path / wrong] if "#" not in wrong else [f"{tmp_path / wrong}"], on_error="collect")
    other = tmp_path / "no.parquet"
    other.write_bytes(b"PAR1")
    with pytest.raises(InputError, match="cannot be read"):
        load_corpus(other)
    with pytest.raises(InputError, match="no files given"):
        read_corpus([])
