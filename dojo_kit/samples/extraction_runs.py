"""Run records of the extraction runs, scored by the package itself."""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from dojo_kit.records import Labels
from dojo_kit.runs import run_from_record
from dojo_kit.samples.answers import Answer
from dojo_kit.samples.contracts import Contract
from dojo_kit.samples.phrases import phrases
from dojo_kit.scoring.document import NOT_EXPECTED
from dojo_kit.scoring.run import ScoredRun, score_run
from dojo_kit.stats.legacy import legacy_bootstrap

if TYPE_CHECKING:
    import pandas as pd

DIGITS, RATIO_DIGITS, DOLLAR_DIGITS = 4, 9, 6
CI_SEED, CI_ROUNDS = 42, 2000
CHARACTERS_PER_TOKEN = 4
ERROR = "Error code: 429 - rate limit exceeded"

_NO_SCORES: dict[str, Any] = {
    "overall_score": 0.0,
    "field_presence": 0.0,
    "schema_valid": 0.0,
    "field_scores": {},
    "entity_list_scores": None,
    "ambiguous_fields": [],
}


def extraction_record(run: Mapping[str, Any], answers: Sequence[Answer], labels: Labels, seed: int) -> dict[str, Any]:
    """Return the record of an extraction run.

    Args:
        run: Entry of the plan: name, prompt, model, day.
        answers: The answers, one per contract.
        labels: Labels of the contracts.
        seed: Seed of the sample.
    """
    rows = [_row(answer, run) for answer in answers]
    record = {
        "type": "experiment",
        "task": "contract_entity_extraction",
        "experiment_name": run["name"],
        "git": {"commit": "0000000", "dirty": False},
        "model": run["model"],
        "prompt_version": run["prompt"],
        "data_source": data_source([(row["filename"], "contract") for row in rows], seed),
        "parameters": _parameters(run),
        "tokens": total_tokens([row["tokens"] for row in rows]),
        "scores": {},
        "n_rows": len(rows),
        "n_ok": sum(row["status"] == "completed" for row in rows),
        "n_error": sum(row["status"] == "error" for row in rows),
        "results": rows,
        "timestamp": timestamp(run["day"]),
    }
    scored = score_run(run_from_record(record), labels, spans="all")
    scores = _row_scores(scored)
    results = [row | scores.get(row["filename"], _NO_SCORES) for row in rows]
    record["results"] = results
    record["scores"] = _scores([row for row in results if row["status"] == "completed"])
    return record


def data_source(documents: Sequence[tuple[str, str]], seed: int) -> dict[str, Any]:
    """Describe where the documents of a run came from.

    Args:
        documents: Name and class of each, in the order of the rows.
        seed: Seed of the sample.
    """
    lines = "\n".join(f"{name}\0{label}" for name, label in documents)
    return {
        "project": "dojo-kit-sample",
        "ground_truth": "sample_labels",
        "ground_truth_mode": "cuad_type_aware",
        "dataset_fingerprint": sha256(lines.encode("utf-8")).hexdigest(),
        "n_samples": len(documents),
        "sample_requested": len(documents),
        "limit": None,
        "seed": seed,
    }


def timestamp(day: int) -> str:
    """Return the date of a run.

    Args:
        day: Days after the first run.
    """
    return f"2026-01-{day + 5:02}T09:00:00+00:00"


def call_tokens(read: str, written: str, run: Mapping[str, Any], *, instructions: int) -> dict[str, Any]:
    """Estimate what a call consumed and cost.

    Args:
        read: Document.
        written: Answer.
        run: Entry of the plan.
        instructions: Tokens of the prompt without the document.
    """
    prices = phrases("plan")["models"][run["model"]]
    prompt = len(read) // CHARACTERS_PER_TOKEN + instructions
    completion = len(written) // CHARACTERS_PER_TOKEN
    cost = (prompt * prices["input_price"] + completion * prices["output_price"]) / 1e6
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "cost": round(cost, 8),
    }


def total_tokens(rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Add up what the rows of a run consumed; in run records ``cost_usd`` is the mean of a row."""
    used = [row for row in rows if row]
    total: dict[str, Any] = {
        name: sum(row[name] for row in used) for name in ("prompt_tokens", "completion_tokens", "total_tokens")
    }
    cost = math.fsum(row["cost"] for row in used)
    return total | {
        "cost_usd": round(cost / max(1, len(used)), DOLLAR_DIGITS),
        "cost_total_usd": round(cost, DOLLAR_DIGITS),
        "rows_with_usage": len(used),
    }


def interval(values: Sequence[float]) -> dict[str, Any]:
    """Return the interval of a mean as a record stores it."""
    lo, hi = legacy_bootstrap(values, seed=CI_SEED, n_boot=CI_ROUNDS)
    return {
        "lo": round(lo, DIGITS),
        "hi": round(hi, DIGITS),
        "half": round((hi - lo) / 2, DIGITS),
        "n": len(values),
        "seed": CI_SEED,
        "n_boot": CI_ROUNDS,
        "method": "percentile-bootstrap",
    }


def mean(values: Sequence[float]) -> float:
    """Return a mean at the digits a record stores."""
    return round(math.fsum(values) / len(values), DIGITS)


def run_name(contract: Contract) -> str:
    """Return how runs spell a contract's name: as the labels do, save for one that came as a PDF from a Mac."""
    decomposed = unicodedata.normalize("NFD", contract.name)
    return contract.name if contract.name == decomposed else f"{decomposed}.pdf"


def _row(answer: Answer, run: Mapping[str, Any]) -> dict[str, Any]:
    prompt = phrases("plan")["prompts"][run["prompt"]]
    predicted = answer.predicted(trace=prompt["trace"])
    written = json.dumps(predicted, ensure_ascii=False)
    tokens = call_tokens(answer.contract.text, written, run, instructions=prompt["instruction_tokens"])
    failed = answer.failure == "failed"
    return {
        "filename": run_name(answer.contract),
        "status": "error" if failed else "completed",
        "error": ERROR if failed else None,
        "predicted": predicted,
        "tokens": {} if answer.failure else tokens,
    }


def _parameters(run: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "temperature": 0.1,
        "max_tokens": 8192,
        "max_input_chars": 150_000,
        "reasoning_effort": "none",
        "max_concurrency": 8,
        "bt_scores": "none",
        "judge": False,
        "chunked": False,
        "manifest": f"{run['name']}.jsonl",
        "tracing_backend": "none",
    }


def _row_scores(scored: ScoredRun) -> dict[str, dict[str, Any]]:
    """Return the scores of every scored row by the row's name."""
    fields = {str(name): _records(group) for name, group in scored.fields.groupby("document", sort=False)}
    return {
        row["document"]: {
            "overall_score": round(row["overall"], DIGITS),
            "field_presence": round(row["field_presence"], DIGITS),
            "schema_valid": row["schema_valid"],
            **_field_scores([field for field in fields[row["document"]] if field["rule"] != NOT_EXPECTED]),
        }
        for row in _records(scored.documents)
        if row["status"] == "scored"
    }


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def _field_scores(fields: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    lists = [field for field in fields if field["type"].startswith("entity_list")]
    return {
        "field_scores": {field["field"]: round(field["score"], DIGITS) for field in fields},
        "entity_list_scores": {field["field"]: _list_scores(field) for field in lists},
        "ambiguous_fields": [field["field"] for field in fields if field["ambiguous"]],
    }


def _list_scores(field: Mapping[str, Any]) -> dict[str, Any]:
    """Count one-to-one matches: an item that holds two labels pays for one."""
    matched, predicted, expected = (field[f"n_{name}"] for name in ("matched_items", "predicted", "expected"))
    return {
        "precision": round(matched / predicted, RATIO_DIGITS) if predicted else 0.0,
        "recall": round(matched / expected, RATIO_DIGITS),
        "f1": round(2 * matched / (predicted + expected), RATIO_DIGITS),
        "matched": matched,
        "n_predicted": predicted,
        "n_expected": expected,
    }


def _scores(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Average the stored scores of completed rows, those of calls that failed in disguise among them."""
    if not rows:
        return {}
    overall = [row["overall_score"] for row in rows]
    names = list(dict.fromkeys(name for row in rows for name in row["field_scores"]))
    per_field = {
        name: mean([row["field_scores"][name] for row in rows if name in row["field_scores"]]) for name in sorted(names)
    }
    return {
        "overall_extraction_score": mean(overall),
        "overall_extraction_score_ci": interval(overall),
        "field_presence": mean([row["field_presence"] for row in rows]),
        "schema_valid": mean([row["schema_valid"] for row in rows]),
        "per_field": per_field,
    }
