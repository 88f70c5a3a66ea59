"""Small extraction records whose stored values all follow from their rows, sums in comments, and shared parts."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import Any

from dojo_kit.analysis.verify import VerifyReport

Record = dict[str, Any]

PRICES = {
    "qwen/qwen3.7-flash": (0.03, 0.13),
    "deepseek/deepseek-v4-flash": (0.05, 0.25),
    "deepseek/deepseek-v4-pro": (0.435, 0.87),
    "openai/gpt-4.1-mini": (0.40, 1.60),
}


def usage(prompt: int, completion: int) -> Record:
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "cost": None,
    }


def totals(prompt: int, completion: int, rows: int, estimate: float | None) -> Record:
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "cost_usd": 0.0,
        "cost_total_usd": 0,
        "cost_estimated_usd": estimate,
        "rows_with_usage": rows,
    }


def audit(n: int, matched: int, grounded: int, true: int) -> Record:
    return {
        "n_predicted": n,
        "matched_gt": matched,
        "verified_in_doc": grounded,
        "true_items": true,
        "verified_precision": round(true / n, 4),
        "hallucinated": n - true,
        "hallucination_rate": round((n - true) / n, 4),
        "doc_verification": True,
    }


def extraction() -> Record:
    """Two scored documents and a failed one."""
    first = {
        "filename": "a",
        "status": "completed",
        "error": None,
        # (1 + .5) / 2 = .75
        "overall_score": 0.75,
        "field_presence": 1.0,
        "schema_valid": 1.0,
        "predicted": {"document_name": "X", "key_obligations": ["p", "q", "r", "s"], "parties": []},
        "field_scores": {"document_name": 1.0, "key_obligations": 0.5},
        "entity_list_f1": {"key_obligations": 0.5},
        # P = 1/4, R = 1/2, F1 = 2 * 1 / (4 + 2) = 1/3
        "entity_list_scores": {
            "key_obligations": {
                "precision": 0.25,
                "recall": 0.5,
                "f1": 1 / 3,
                "matched": 1,
                "n_predicted": 4,
                "n_expected": 2,
            }
        },
        "entity_list_audit": {"document_name": audit(1, 1, 0, 1), "key_obligations": audit(4, 1, 3, 3)},
        # (1 + .75) / 2
        "overall_verified_precision": 0.875,
        "category_presence": 0.5,
        "ambiguous_fields": ["key_obligations"],
        "tokens": usage(1_000_000, 100_000),
    }
    second = {
        **first,
        "filename": "b",
        # (.4 + 1) / 2 = .7
        "overall_score": 0.7,
        "field_scores": {"document_name": 0.4, "key_obligations": 1.0},
        "entity_list_f1": {"key_obligations": 1.0},
        # P = 2/2, R = 2/2
        "entity_list_scores": {
            "key_obligations": {
                "precision": 1.0,
                "recall": 1.0,
                "f1": 1.0,
                "matched": 2,
                "n_predicted": 2,
                "n_expected": 2,
            }
        },
        "entity_list_audit": {"document_name": audit(1, 0, 1, 1), "key_obligations": audit(2, 2, 2, 2)},
        "overall_verified_precision": 1.0,
        "category_presence": None,
        "ambiguous_fields": [],
        "tokens": {},
    }
    failed = {
        "filename": "c",
        "status": "error",
        "error": "timeout",
        "overall_score": 0.0,
        "field_scores": {},
        "tokens": {},
    }
    diagnostics = {
        # scores 1, .5, .4, 1: two exact, two partial
        "n_fields_scored": 4,
        "field_exact_rate": 0.5,
        "field_partial_rate": 0.5,
        "field_miss_rate": 0.0,
        "error_decomposition": {
            "document_name": {"exact_rate": 0.5, "partial_rate": 0.5, "miss_rate": 0.0},
            "key_obligations": {"exact_rate": 0.5, "partial_rate": 0.5, "miss_rate": 0.0},
        },
        # nine fields, both documents answer two of them; an empty list is no answer
        "field_presence_per_field": {
            "document_name": 1.0,
            "parties": 0.0,
            "effective_date": 0.0,
            "term_length": 0.0,
            "termination_clauses": 0.0,
            "governing_law": 0.0,
            "key_obligations": 1.0,
            "contract_value": 0.0,
            "renewal_terms": 0.0,
        },
        # P (.25 + 1)/2, R (.5 + 1)/2, F1 (1/3 + 1)/2
        "entity_list_precision": {"key_obligations": 0.625},
        "entity_list_recall": {"key_obligations": 0.75},
        "entity_list_raw_f1": {"key_obligations": 0.6667},
        "list_precision": 0.625,
        "list_recall": 0.75,
        "list_f1": 0.6667,
        # sums: matched 1 + 2, predicted 4 + 2, expected 2 + 2; P 3/6, R 3/4, F1 6/10
        "list_micro_matched": 3,
        "list_micro_n_predicted": 6,
        "list_micro_n_expected": 4,
        "list_micro_precision": 0.5,
        "list_micro_recall": 0.75,
        "list_micro_f1": 0.6,
        # 4 - 2 = 2 and 2 - 2 = 0
        "span_count_n_docs": 2,
        "span_count_mae": 1.0,
        "span_count_signed_mean": 1.0,
        "span_count_mae_per_field": {"key_obligations": 1.0},
        "span_count_signed_mean_per_field": {"key_obligations": 1.0},
        "date_mae_days": 3.5,
        "date_r2_per_field": {"effective_date": None},
        "duration_n_pairs": 4,
        "money_n_pairs": 0,
    }
    scores = {
        # (.75 + .7) / 2; the failed row does not count
        "overall_extraction_score": 0.725,
        # rounds of two draws: mean .7 in a quarter, .75 in a quarter
        "overall_extraction_score_ci": {
            "lo": 0.7,
            "hi": 0.75,
            "half": 0.025,
            "n": 2,
            "seed": 42,
            "n_boot": 2000,
            "method": "percentile-bootstrap",
        },
        "field_presence": 1.0,
        "schema_valid": 1.0,
        # (.875 + 1) / 2 = .9375
        "overall_verified_precision": 0.9375,
        # one document only
        "category_presence": 0.5,
        "per_field": {"document_name": 0.7, "key_obligations": 0.75},
        "entity_list_f1": {"key_obligations": 0.75},
        # mean of row rates (.75 + 1)/2, not 5/6
        "verified_precision": {"document_name": 1.0, "key_obligations": 0.875},
        "hallucination_rate": {"document_name": 0.0, "key_obligations": 0.125},
        "diagnostics": diagnostics,
    }
    return {
        "task": "contract_entity_extraction",
        "model": "qwen/qwen3.7-flash",
        "data_source": {"n_samples": 3},
        # 1.0 million in at .03 and 0.1 million out at .13
        "tokens": totals(1_000_000, 100_000, 1, 0.043),
        "scores": scores,
        "n_rows": 3,
        "n_ok": 2,
        "n_error": 1,
        "results": [first, second, failed],
    }


def chained() -> Record:
    """A document right in both stages, and one whose extractor failed and counts as 0."""
    sorter = {
        "doc_type": "contract",
        "contract_subtype": "license",
        "expected_subtype": "license",
        "confidence": 0.8,
        "doc_type_ok": True,
        "subtype_ok": True,
    }
    answer = {
        "overall_score": 0.75,
        "field_presence": 1.0,
        "overall_verified_precision": 1.0,
        # one of two due categories found
        "category_presence": 0.5,
        "category_presence_detail": {
            "Insurance": {"expected": True, "matched": True},
            "Exclusivity": {"expected": True, "matched": False},
            "Audit Rights": {"expected": False, "matched": None},
        },
        "field_scores": {"governing_law": 0.5, "document_name": 1.0},
    }
    lost = {
        "overall_score": 0.0,
        "field_presence": 0.0,
        "overall_verified_precision": 0.0,
        "category_presence": 0.0,
        "error": "length limit",
    }
    wrong = {**sorter, "contract_subtype": "supply", "subtype_ok": False}
    rows = [
        {"filename": "a", "status": "completed", "sorter": sorter, "extractor_scores": answer},
        {"filename": "b", "status": "completed", "sorter": wrong, "extractor_scores": lost},
    ]
    spent = {"sorter_tokens": usage(100, 10), "extractor_tokens": usage(200, 20)}
    return {
        "task": "chained_sorter_extractor",
        "model": "unheard-of",
        "tokens": {
            "sorter": totals(200, 20, 2, None),
            "extractor": totals(400, 40, 2, None),
            "total": totals(600, 60, 4, None),
        },
        "scores": {
            "sorter": {"exact_match": 1.0, "subtype_accuracy": 0.5, "confidence": 0.8},
            "extractor": {
                "overall_extraction_score": 0.375,
                "field_presence": 0.5,
                "overall_verified_precision": 0.5,
                "category_presence": 0.25,
            },
        },
        "n_rows": 2,
        "n_ok": 2,
        "results": [{**row, **spent} for row in rows],
    }


def stored_leaves(value: object, name: str) -> Iterator[str]:
    """Name every stored value, whatever the auditor thinks of it; positions in lists as []."""
    if isinstance(value, dict) and value:
        for key, child in value.items():
            yield from stored_leaves(child, f"{name}.{key}")
    elif isinstance(value, list) and value:
        for child in value:
            yield from stored_leaves(child, f"{name}[]")
    else:
        yield name


def unaccounted(record: Record, report: VerifyReport) -> list[str]:
    """Stored values that are neither reported by name nor held by something reported."""
    reported = {
        *report.confirmed,
        *(difference.name for difference in report.differences),
        *(entry.name for entry in report.unverifiable),
    }
    named = {key: value for key, value in record.items() if key in ("scores", "tokens") or key.startswith("n_")}
    lost = []
    for key, value in named.items():
        if key == "tokens" and not value:
            continue
        for leaf in stored_leaves(value, key):
            holders = {leaf[: match.start()] for match in re.finditer(r"[.\[]", leaf)}
            if leaf not in reported and not holders & reported:
                lost.append(leaf)
    return lost


def put(record: Record, path: str, value: object) -> Record:
    """Copy a record with the value at a dotted path replaced."""
    changed = copy.deepcopy(record)
    place: Any = changed
    *holders, last = [int(key) if key.isdecimal() else key for key in path.split(".")]
    for key in holders:
        place = place[key]
    place[last] = value
    return changed
