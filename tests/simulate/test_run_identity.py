"""Runs that are copies, documents that runs disagree about, replays, and who votes in a pool."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dojo_kit.errors import InputError
from dojo_kit.records import LabelRow, Run, RunMeta, Usage
from dojo_kit.runs.corpus_files import load_corpus, read_corpus, write_corpus
from dojo_kit.simulate import corpus_of, summarise, task_votes, votes_of
from dojo_kit.simulate.ablation import rerun_groups
from dojo_kit.simulate.corpus import is_replay
from dojo_kit.stats.compare import noise_band
from dojo_kit.views import what_if_words as wording


def run(name: str, *answers: str, expected: str = "license", model: str = "m", prompt: str = "p", at: str = "") -> Run:
    """Make a run on documents d00, d01, ..."""
    rows = tuple(
        LabelRow(f"d{i:02}", usage=Usage(10, 1), predicted=answer, expected=expected)
        for i, answer in enumerate(answers)
    )
    return Run(RunMeta("subtype_classification", name, model, prompt, at), rows, source=f"{name}.json")


def test_a_run_given_twice_counts_once_and_is_noted() -> None:
    first = run("a", "license", "supply")

    corpus = corpus_of([first, replace(first, source="copy.json"), run("b", "license", "supply")])

    assert corpus.rows["run_id"].tolist() == ["a", "a", "b", "b"]
    assert corpus.notes == ("1 run that is a copy of another (copy) left out",)


def test_no_band_comes_from_copies(tmp_path: Path) -> None:
    rows = [
        {"filename": f"d{i:02}", "status": "completed", "sorter_tokens": {"prompt_tokens": 1, "completion_tokens": 1}}
        | {"sorter": {"contract_subtype": "license", "expected_subtype": "license"}}
        for i in range(30)
    ]
    record = {"type": "experiment", "task": "subtype_classification", "experiment_name": "a", "model": "m"}
    files = [tmp_path / f"{number}.json" for number in range(4)]
    for file in files:
        file.write_text(json.dumps({**record, "results": rows}))

    corpus = read_corpus(files)

    assert corpus.rows["run_id"].nunique() == 1
    assert rerun_groups(corpus, "subtype") == {}
    assert noise_band([]).value is None


def test_a_document_of_two_truths_is_an_error_in_any_order() -> None:
    runs = [run("a", "license"), run("b", "supply", expected="supply")]
    said = []
    for order in (runs, runs[::-1]):
        with pytest.raises(InputError) as caught:
            votes_of(corpus_of(order), "subtype")
        said.append(caught.value.message)

    assert said[0] == said[1]
    assert said[0] == "document 'd00' has several true labels: 'license' in run a, 'supply' in run b"


def test_a_document_of_two_truths_can_be_left_out() -> None:
    runs = [run("a", "license", "license"), run("b", "supply", expected="supply")]

    votes = votes_of(replace(corpus_of(runs), on_error="collect"), "subtype")

    assert votes.documents == ("d01",)
    assert votes.left_out["several true labels"] == 2


def test_only_an_empty_usage_record_makes_a_replay() -> None:
    scored = LabelRow("a", predicted="x", stored={"scores": {"composite": {"score": 1.0}}})

    assert not is_replay(scored)
    assert is_replay(LabelRow("a", predicted="x", stored={"sorter_tokens": {}}))


def test_what_a_pool_leaves_out_is_its_own() -> None:
    failed = LabelRow("d09", "failed", expected="license")
    bad = run("bad", "license", prompt="q")
    corpus = corpus_of([run("a", "license"), run("b", "license"), replace(bad, rows=(*bad.rows, failed))])

    assert votes_of(corpus, "subtype").left_out["failed"] == 1
    assert votes_of(corpus, "subtype", pool="rerun").left_out["failed"] == 0
    assert votes_of(corpus, "subtype", without_runs=["bad"]).left_out["failed"] == 0
    assert task_votes(corpus, "subtype")[1]["failed"] == 1


def test_runs_given_in_another_order_than_made_are_said() -> None:
    late = run("late", "license", at="2026-02-02T00:00:00+00:00")
    early = run("early", "supply", at="2026-01-01T00:00:00")

    votes = votes_of(corpus_of([late, early]), "subtype", pool="model")

    assert votes.notes == ("m: run late was made after run early, which was given later and counts as the last",)
    assert votes_of(corpus_of([early, late]), "subtype", pool="model").notes == ()


def test_files_of_a_folder_come_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for name in ("10", "9", "b", "100"):
        row = {"filename": "d", "sorter": {"contract_subtype": "license", "expected_subtype": "license"}}
        record = {"task": "subtype_classification", "experiment_name": name, "results": [row]}
        (tmp_path / f"{name}.json").write_text(json.dumps(record))

    assert list(dict.fromkeys(read_corpus([tmp_path]).rows["run_id"])) == ["9", "10", "100", "b"]


def test_an_override_for_an_unknown_experiment(tmp_path: Path) -> None:
    row = {"filename": "d", "sorter": {"contract_subtype": "license", "expected_subtype": "license"}}
    record = {"task": "subtype_classification", "experiment_name": "sorter_v9", "results": [row]}
    file = tmp_path / "1.json"
    file.write_text(json.dumps(record))

    with pytest.raises(InputError, match=r"no run of experiment 'sorter_v8'.*did you mean 'sorter_v9'"):
        read_corpus([file], legacy=True, overrides={"sorter_v8": "1"})


def test_a_corpus_written_without_the_later_columns(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    path = write_corpus(corpus_of([run("a", "license")]), tmp_path / "c.parquet")
    described = pq.read_metadata(path).metadata
    table = pq.read_table(path).drop_columns(["made", "content"])
    pq.write_table(table.replace_schema_metadata({b"dojo_corpus": described[b"dojo_corpus"]}), path)

    assert votes_of(load_corpus(path), "subtype").n_votes == 1


def test_a_summary_of_one_task() -> None:
    other = replace(run("o", "contract", expected="contract"), meta=RunMeta("docclass_classification", "o", "m", "p"))
    corpus = corpus_of([run("a", "license", "supply"), other])

    assert (summarise(corpus).n_rows, summarise(corpus, task="subtype").n_rows) == (3, 2)


@pytest.mark.parametrize(
    ("runs", "pool", "says", "voters"),
    [
        (
            [("a", "m", "p")],
            "all",
            "one model and one prompt, one run",
            "draws from one run of one model and one prompt",
        ),
        ([("a", "m", "p"), ("b", "m", "p")], "model", "one model and one prompt, one run", "draws from one run"),
        ([("a", "m", "p"), ("b", "m", "q")], "all", "every run: 1 model and 2 prompts", "not one model asked K times"),
        ([("a", "m", "p"), ("b", "n", "p")], "model", "one prompt, the last answer of each of 2 models", "asked once"),
        ([("a", "m", "p"), ("b", "n", "p")], "all", "one prompt, every run of 2 models", "2 models with one prompt"),
    ],
)
def test_words_for_a_pool_are_true(runs: list[tuple[str, str, str]], pool: Any, says: str, voters: str) -> None:
    corpus = corpus_of([run(name, "license", "supply", model=model, prompt=prompt) for name, model, prompt in runs])
    votes = votes_of(corpus, "subtype", pool=pool)

    assert wording.pool_says(votes) == says
    assert voters in wording.voters(votes)
    assert bool(wording.single_vote(votes)) == (len(runs) == 1 or (pool == "model" and says.startswith("one model")))
