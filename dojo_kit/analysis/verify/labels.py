"""Recomputes the stored scores of classification runs from their rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any

from dojo_kit.analysis.verify.ledger import DOLLAR_DECIMALS, Entries, Resampled, Rounded, Table
from dojo_kit.analysis.verify.means import (
    accuracy_by,
    confusion,
    flags_of,
    mean_of,
    share_of,
    values_of,
)
from dojo_kit.analysis.verify.reading import Node, RunRecord
from dojo_kit.tasks.published import MOST_HIERARCHY_FAILURES

Described = Callable[[Node, Node], dict[str, Any]]
"""From a row and its sorter to the entry its failure gets in the list of failures."""


def recompute_subtype(run: RunRecord) -> dict[str, Any]:
    """Recompute the scores of a run that names the contract family of each document."""
    sorters = [row.child("sorter") for row in run.completed]
    right, equivalent = "subtype_ok", "subtype_ok_equiv"
    return {
        "sorter": {
            "exact_match": share_of(sorters, "doc_type_ok"),
            "exact_match_ci": Resampled(flags_of(sorters, "doc_type_ok")),
            "subtype_accuracy": share_of(sorters, right),
            "subtype_accuracy_ci": Resampled(flags_of(sorters, right)),
            "subtype_accuracy_equiv": share_of(sorters, equivalent),
            "confidence": mean_of(sorters, "confidence"),
            "equiv_recovered": [
                s.text("contract_subtype") for s in sorters if s.flag(equivalent) and not s.flag(right)
            ],
            "per_subtype": _per_subtype(sorters),
            "confusion_matrix": confusion(sorters, "expected_subtype", "contract_subtype"),
            "failure_insights": _failures(run.completed, right, "failure_mode", _subtype_failure),
        }
    }


def _per_subtype(sorters: Sequence[Node]) -> Table:
    strict = accuracy_by(sorters, "expected_subtype", "subtype_ok")
    lenient = accuracy_by(sorters, "expected_subtype", "subtype_ok_equiv")
    table = Table()
    for family, flags in strict.items():
        table[family] = {"accuracy": fmean(flags), "correct": int(sum(flags)), "total": len(flags)}
        if family in lenient:
            table[family]["accuracy_equiv"] = fmean(lenient[family])
            table[family]["equiv"] = int(sum(lenient[family]))
    return table


def _failures(
    rows: Sequence[Node], right: str, mode: str, describe: Described, most: int | None = None
) -> dict[str, Any]:
    """Recompute the list of wrong answers; rows without an answer are not wrong answers."""
    wrong = [(row, sorter) for row in rows if not (sorter := row.child("sorter")).flag(right)]
    modes = Counter(str(sorter.text(mode)) for _, sorter in wrong)
    return {
        "n_failed": len(wrong),
        "mode_counts": Table(modes),
        "failures": Entries(tuple(describe(row, sorter) for row, sorter in wrong[:most])),
    }


def _subtype_failure(row: Node, sorter: Node) -> dict[str, Any]:
    renamed = {
        "expected": "expected_subtype",
        "predicted": "contract_subtype",
        "doc_type": "doc_type",
        "confidence": "confidence",
        "mode": "failure_mode",
        "equiv_recovered": "subtype_ok_equiv",
        "reasoning": "reasoning",
    }
    entry = {name: sorter.data[key] for name, key in renamed.items() if key in sorter.data}
    return {"filename": row.text("filename") or "", **entry}


def recompute_docclass(run: RunRecord) -> dict[str, Any]:
    """Recompute the scores of a run that names class and subclass of each document.

    Rows without a true subclass take no part in the subclass metrics.
    """
    sorters = [row.child("sorter") for row in run.completed]
    by_subclass = accuracy_by(sorters, "expected_subclass", "subclass_ok")
    modes = Counter(mode for s in sorters if (mode := s.text("input_mode")) is not None)
    shares = {
        "doc_type_accuracy": "doc_type_ok",
        "subclass_accuracy": "subclass_ok",
        "exact_match": "exact_match",
    }
    return {
        **{name: share_of(sorters, key) for name, key in shares.items()},
        **{f"{name}_ci": Resampled(flags_of(sorters, key)) for name, key in shares.items()},
        "subclass_accuracy_equiv": share_of(sorters, "subclass_ok_equiv"),
        "confidence": mean_of(sorters, "confidence"),
        "n_rows": len(run.rows),
        "n_errors": len(run.failed),
        "per_class_accuracy": _means(accuracy_by(sorters, "expected_doc_type", "doc_type_ok")),
        "per_subclass_accuracy": _means(by_subclass),
        "per_subclass_support": Table({name: len(flags) for name, flags in by_subclass.items()}),
        "subclass_confusion": confusion(sorters, "expected_subclass", "doc_subclass"),
        "equiv_recovered": [
            row.text("filename")
            for row, sorter in zip(run.completed, sorters, strict=True)
            if sorter.flag("subclass_ok_equiv") and not sorter.flag("subclass_ok")
        ],
        "input_mode_counts": Table(modes),
        "sorter": {
            "failure_insights": _failures(
                run.completed, "exact_match", "failure_mode", _docclass_failure, MOST_HIERARCHY_FAILURES
            )
        },
    }


def _docclass_failure(row: Node, sorter: Node) -> dict[str, Any]:
    data = sorter.data
    entry = {name: data[name] for name in ("failure_mode", "reasoning") if name in data}
    return {
        "filename": row.text("filename") or "",
        "expected": {
            "doc_type": data.get("expected_doc_type"),
            "doc_subclass": data.get("expected_subclass"),
        },
        "predicted": {"doc_type": data.get("doc_type"), "doc_subclass": data.get("doc_subclass")},
        **entry,
    }


def recompute_plain(run: RunRecord) -> dict[str, Any]:
    """Recompute the scores of a run that answers with one label, e.g. yes or no.

    Failed rows are misses in ``exact_match`` and take no part in its interval or in the classes.
    """
    n = len(run.rows)
    costs = values_of(run.rows, "cost_usd")
    return {
        "exact_match": sum(flags_of(run.completed, "correct")) / n if n else None,
        "exact_match_ci": Resampled(flags_of(run.completed, "correct")),
        "failure": len(run.failed) / n if n else None,
        "cost_total_usd": Rounded(sum(costs), DOLLAR_DECIMALS),
        "cost_mean_usd": Rounded(fmean(costs) if costs else 0.0, DOLLAR_DECIMALS),
        "per_class_accuracy": _means(accuracy_by(run.completed, "expected", "correct")),
    }


def _means(groups: dict[str, list[float]]) -> Table:
    return Table({name: fmean(flags) for name, flags in groups.items()})
