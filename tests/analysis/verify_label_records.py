"""Small classification and question records whose stored values all follow from their rows."""

from __future__ import annotations

from verify_records import Record, totals, usage


def subtype() -> Record:
    """Four answers (two right, one equivalent, one of the wrong class) and a failed call."""

    def row(name: str, expected: str, predicted: str, doc_type: str, equiv: bool, mode: str | None) -> Record:
        sorter = {
            "doc_type": doc_type,
            "contract_subtype": predicted,
            "expected_subtype": expected,
            "confidence": 0.9,
            "reasoning": f"it is {predicted}",
            "doc_type_ok": doc_type == "contract",
            "subtype_ok": expected == predicted and doc_type == "contract",
            "subtype_ok_equiv": equiv,
            "failure_mode": mode,
        }
        return {
            "filename": name,
            "status": "completed",
            "error": None,
            "sorter": sorter,
            "sorter_tokens": usage(10, 5),
        }

    rows = [
        row("a", "license", "license", "contract", True, None),
        row("b", "reseller", "distributor", "contract", True, "equivalent_family"),
        row("c", "license", "other", "correspondence", False, "function_over_form"),
        row("d", "supply", "supply", "contract", True, None),
        {"filename": "e", "status": "error", "error": "timeout", "sorter": {}, "sorter_tokens": {}},
    ]
    failures = [
        {
            "filename": "b",
            "expected": "reseller",
            "predicted": "distributor",
            "doc_type": "contract",
            "confidence": 0.9,
            "mode": "equivalent_family",
            "equiv_recovered": True,
            "reasoning": "it is distributor",
        },
        {
            "filename": "c",
            "expected": "license",
            "predicted": "other",
            "doc_type": "correspondence",
            "confidence": 0.9,
            "mode": "function_over_form",
            "equiv_recovered": False,
            "reasoning": "it is other",
        },
    ]
    sorter = {
        # 3, 2 and 3 of 4
        "exact_match": 0.75,
        "subtype_accuracy": 0.5,
        "subtype_accuracy_equiv": 0.75,
        "confidence": 0.9,
        "equiv_recovered": ["distributor"],
        "failure_insights": {
            "mode_counts": {"equivalent_family": 1, "function_over_form": 1},
            "n_failed": 2,
            "failures": failures,
        },
        "per_subtype": {
            "license": {"accuracy": 0.5, "accuracy_equiv": 0.5, "correct": 1, "equiv": 1, "total": 2},
            "reseller": {"accuracy": 0.0, "accuracy_equiv": 1.0, "correct": 0, "equiv": 1, "total": 1},
            "supply": {"accuracy": 1.0, "accuracy_equiv": 1.0, "correct": 1, "equiv": 1, "total": 1},
        },
        "confusion_matrix": {
            "license": {"license": 1, "other": 1},
            "reseller": {"distributor": 1},
            "supply": {"supply": 1},
        },
    }
    return {
        "task": "subtype_classification",
        "model": "qwen/qwen3.7-flash",
        # 40 in at .03 and 20 out at .13 a million: 1.2e-6 + 2.6e-6 = .0000038, stored with 6 decimals
        "tokens": {"sorter": totals(40, 20, 4, 0.000004), "total": totals(40, 20, 4, 0.000004)},
        "scores": {"sorter": sorter},
        "n_rows": 5,
        "n_ok": 4,
        "results": rows,
    }


def docclass() -> Record:
    """Three documents: all right, wrong subclass, wrong class without a true subclass."""

    def row(name: str, true: tuple[str, str | None], found: tuple[str, str | None], mode: str | None) -> Record:
        right = None if true[1] is None else true[1] == found[1]
        sorter = {
            "doc_type": found[0],
            "doc_subclass": found[1],
            "expected_doc_type": true[0],
            "expected_subclass": true[1],
            "confidence": 0.8,
            "reasoning": "so",
            "doc_type_ok": true[0] == found[0],
            "subclass_ok": right,
            "subclass_ok_equiv": right,
            "exact_match": true[0] == found[0] and right is not False,
            "failure_mode": mode,
            "input_mode": "text",
        }
        return {"filename": name, "status": "completed", "sorter": sorter, "sorter_tokens": {}}

    rows = [
        row("a", ("merger_agreement", "all_cash"), ("merger_agreement", "all_cash"), None),
        row("b", ("merger_agreement", "all_stock"), ("merger_agreement", "all_cash"), "subclass_miss"),
        row("c", ("contract", None), ("correspondence", None), "doc_type_miss"),
    ]
    failures = [
        {
            "filename": "b",
            "expected": {"doc_type": "merger_agreement", "doc_subclass": "all_stock"},
            "predicted": {"doc_type": "merger_agreement", "doc_subclass": "all_cash"},
            "failure_mode": "subclass_miss",
            "reasoning": "so",
        },
        {
            "filename": "c",
            "expected": {"doc_type": "contract", "doc_subclass": None},
            "predicted": {"doc_type": "correspondence", "doc_subclass": None},
            "failure_mode": "doc_type_miss",
            "reasoning": "so",
        },
    ]
    return {
        "task": "docclass_classification",
        "model": "qwen/qwen3.7-flash",
        "scores": {
            "doc_type_accuracy": 0.6667,
            "subclass_accuracy": 0.5,
            "subclass_accuracy_equiv": 0.5,
            "exact_match": 0.3333,
            "confidence": 0.8,
            "n_rows": 3,
            "n_errors": 0,
            "per_class_accuracy": {"contract": 0.0, "merger_agreement": 1.0},
            "per_subclass_accuracy": {"all_cash": 1.0, "all_stock": 0.0},
            "per_subclass_support": {"all_cash": 1, "all_stock": 1},
            "subclass_confusion": {"all_cash": {"all_cash": 1}, "all_stock": {"all_cash": 1}},
            "equiv_recovered": [],
            "input_mode_counts": {"text": 3},
            "sorter": {
                "failure_insights": {
                    "mode_counts": {"subclass_miss": 1, "doc_type_miss": 1},
                    "n_failed": 2,
                    "failures": failures,
                }
            },
        },
        "per_row": rows,
    }


def plain() -> Record:
    """A yes/no run of two rows, one of them wrong."""
    rows = [
        {"filename": "1.txt", "status": "completed", "expected": "yes", "predicted": "yes", "correct": True},
        {"filename": "2.txt", "status": "completed", "expected": "no", "predicted": "yes", "correct": False},
    ]
    return {
        "task": "task_classification",
        "model": "unheard-of",
        "parameters": {"valid_classes": "Yes,No"},
        # sha256 of the lines "1.txt NUL Yes" and "2.txt NUL No"
        "data_source": {
            "n_samples": 2,
            "dataset_fingerprint": "d9b5e30574bfffac5484117b91308b67e3efcf7d08a72c05bc74fb2a14840c37",
        },
        "scores": {
            "exact_match": 0.5,
            "failure": 0.0,
            "cost_total_usd": 0.0,
            "cost_mean_usd": 0.0,
            "per_class_accuracy": {"yes": 1.0, "no": 0.0},
        },
        "n_rows": 2,
        "n_ok": 2,
        "n_error": 0,
        "results": [{**row, "cost_usd": 0.0, "tokens": usage(3, 1)} for row in rows],
    }


def contracteval() -> Record:
    """One row of each outcome, two of them positive."""

    def row(number: int, category: str, labels: list[str], answer: str, outcome: str, jaccard: float) -> Record:
        return {
            "id": str(number),
            "title": "T",
            "category": category,
            "label_spans": labels,
            "predicted": answer,
            "classification": outcome,
            "jaccard": jaccard,
            "status": "completed",
        }

    rows = [
        # {a, b} and {a, b, c}: 2/3
        row(1, "Parties", ["a b"], "`a b c`", "TP", 0.6667),
        # {x, y} and {no, related, clause}: 0
        row(2, "Parties", ["x, y"], "No related clause.", "FN", 0.0),
        row(3, "Insurance", [], "No related clause", "TN", 0.0),
        row(4, "Insurance", [], "some clause", "FP", 0.0),
    ]
    # P = R = 1/2
    parties = {"tp": 1, "tn": 0, "fp": 0, "fn": 1, "accuracy": 0.5, "precision": 1.0, "recall": 0.5}
    insurance = {"tp": 0, "tn": 1, "fp": 1, "fn": 0, "accuracy": 0.5, "precision": 0.0, "recall": 0.0}
    return {
        "task": "contracteval",
        "model": "unheard-of",
        "data_source": {"n_pairs": 4, "n_contracts": 1},
        "scores": {
            "task": "contracteval",
            "kind": "contracteval",
            "n_pairs": 4,
            "n_positive": 2,
            "tp": 1,
            "tn": 1,
            "fp": 1,
            "fn": 1,
            "accuracy": 0.5,
            "precision": 0.5,
            "recall": 0.5,
            "f1": 0.5,
            "f2": 0.5,
            # mean of 2/3 and 0; the upper of the two is the published median
            "jaccard_mean": 0.3333,
            "jaccard_median": 0.6667,
            "no_related_rate": 0.5,
            "false_no_related_rate": 0.5,
            # 1 / 1244
            "false_no_related_rate_paper": 0.0008,
            "false_no_related_denominator": 1244,
            "per_category": {
                # F1 = 2/3, F2 = 5 / (5 + 4) = .5556
                "Parties": {
                    **parties,
                    "n_pairs": 2,
                    "n_positive": 2,
                    "f1": 0.6667,
                    "f2": 0.5556,
                    "jaccard_mean": 0.3333,
                },
                "Insurance": {**insurance, "n_pairs": 2, "n_positive": 0, "f1": 0.0, "f2": 0.0, "jaccard_mean": 0.0},
            },
        },
        "n_rows": 4,
        "n_ok": 4,
        "n_error": 0,
        "results": rows,
    }
