"""Tables of misses for the tests of their widgets."""

from __future__ import annotations

from typing import Any

from dojo_kit.stats.intervals import wilson

FAMILIES = ("Cap On Liability", "Audit Rights", "Price Restrictions")


def span(number: int, category: str, status: str, similarity: float | None, **more: Any) -> dict[str, Any]:
    return {
        "id": f"doc{number % 2}:terms:{number}",
        "document": number % 2,
        "category": category,
        "text": f"label {number}",
        "status": status,
        "cause": None if status == "matched" else "omission",
        "similarity": similarity,
        "place": "elsewhere",
        "check": False,
        **more,
    }


def table_of(spans: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    unmatched = [one for one in spans if one["status"] != "matched"]
    causes = dict.fromkeys(("omission", "split", "empty_prediction"), 0)
    for one in unmatched:
        causes[one["cause"]] += 1
    return {
        "field": "terms",
        "measure": "coverage",
        "threshold": 0.6,
        "has_places": True,
        "expected": len(spans),
        "counts": {
            status: sum(one["status"] == status for one in spans) for status in ("matched", "taken", "near", "missed")
        },
        "causes": causes,
        "untestable": {"boundary": "not with this measure"},
        "recall": {"value": 0.5, "lo": 0.25, "hi": 0.75, "n": 2},
        "families": [family_of(category, spans) for category in dict.fromkeys(one["category"] for one in spans)],
        "documents": [{"name": "Alpha Inc - Lease", "short": "Alpha"}, {"name": "Bravo Inc - Lease", "short": "Bravo"}],
        "spans": spans,
        "notes": ["1 document without labels not counted"],
        **more,
    }


def family_of(category: str, spans: list[dict[str, Any]]) -> dict[str, Any]:
    own = [one for one in spans if one["category"] == category]
    unmatched = sum(one["status"] != "matched" for one in own)
    estimate = wilson(unmatched, len(own))
    return {
        "category": category,
        "short": category,
        "expected": len(own),
        "unmatched": unmatched,
        "rate": estimate.value,
        "lo": estimate.lo,
        "hi": estimate.hi,
        "ranked": len(own) >= 5,
    }


def small_table() -> dict[str, Any]:
    cap, audit, price = FAMILIES
    return table_of(
        [
            span(0, cap, "near", 0.4),
            span(1, cap, "missed", 0.2, cause="split", place="same place"),
            span(2, cap, "missed", 0.3),
            span(3, cap, "matched", 0.9, check=True),
            span(4, cap, "matched", 1.0),
            span(5, audit, "near", 0.59),
            span(6, audit, "matched", 0.8),
            span(7, audit, "matched", 0.8),
            span(8, audit, "matched", 0.8),
            span(9, audit, "taken", 0.7),
            span(10, price, "near", 0.58),
        ]
    )


def large_table(*, families: int = 60, each: int = 40) -> dict[str, Any]:
    """Many families with many misses; of every fifth document nothing was returned."""
    spans = []
    for number in range(families * each):
        is_silent = number % 25 == 0
        more = {"cause": "empty_prediction", "place": "no item"} if is_silent else {}
        similarity = None if is_silent else 0.01 * (number % 59)
        spans.append(span(number, f"family {number % families:03}", "missed", similarity, **more))
    return table_of(spans)
