"""Runs that sort documents into families, small and made up: two models, two prompts, reruns, a stronger model."""

from __future__ import annotations

from random import Random
from typing import Any

from dojo_kit.records import Run
from dojo_kit.runs import run_from_record
from dojo_kit.simulate import Corpus, corpus_of

FAMILIES = ("license", "supply", "service", "hosting")
STRONGER = "lab/large"
HOSTILE = "</script><img src=x onerror=\"document.title='owned'\">"


def vote_runs(n: int = 60) -> list[Run]:
    """Runs of two prompts by two small models, one of them three times, and a run of a stronger one."""
    made = [("lab/one", "v1"), ("lab/one", "v2"), ("lab/one", "v2"), ("lab/one", "v2"), ("lab/two", "v2")]
    runs = [_run(number, model, prompt, 0.75, n) for number, (model, prompt) in enumerate(made)]
    return [*runs, _run(len(made), STRONGER, "v2", 0.92, n)]


def vote_corpus(n: int = 60) -> Corpus:
    """The corpus of these runs."""
    return corpus_of(vote_runs(n))


def _run(number: int, model: str, prompt: str, skill: float, n: int) -> Run:
    record = {
        "task": "subtype_classification",
        "experiment_name": f"run {number}",
        "model": model,
        "prompt_version": prompt,
        "results": [_row(number, index, skill) for index in range(n)],
    }
    return run_from_record(record, source=f"{number:03}.json")


def _row(number: int, index: int, skill: float) -> dict[str, Any]:
    random = Random(f"{number} {index}")
    expected = FAMILIES[index % len(FAMILIES)]
    hard = index % 5 == 0
    wrong = FAMILIES[(index + 1) % len(FAMILIES)]
    is_right = random.random() < (skill - 0.35 if hard else min(1.0, skill + 0.15))
    sorter = {
        "doc_type": "contract",
        "contract_subtype": expected if is_right else wrong,
        "expected_subtype": expected,
        "confidence": 0.6 if hard else 0.9,
        "reasoning": f"{HOSTILE} a {wrong} agreement was considered" if hard else "plain",
    }
    if number == 1 and index in (7, 8):
        return {
            "filename": f"Document {index:02}",
            "status": "failed",
            "error": "timeout",
            "sorter": {"expected_subtype": expected},
        }
    usage = {"prompt_tokens": 10, "completion_tokens": 2}
    return {"filename": f"Document {index:02}", "status": "completed", "sorter": sorter, "sorter_tokens": usage}
