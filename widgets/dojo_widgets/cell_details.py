"""What one cell of a grid of scores rests on: predicted and expected values, and the rule that decided, in words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from dojo_kit import formats
from dojo_kit.scoring.rules import RULES
from dojo_kit.text.names import document_key

if TYPE_CHECKING:
    import pandas as pd

    from dojo_kit.scoring.run import ScoredRun

Detail = dict[str, Any]

LIVE_CHARACTERS = 40_000
"""Characters of one side shown while Python is there."""

PAGE_CHARACTERS = 200_000
"""Characters that all cells together may bring into a page without Python."""

PAGE_CELLS = 6_000
"""Cells whose values are brought into such a page, the lowest scores first."""

LEAST_CHARACTERS = 40
"""Characters of one side below which nothing can be read any more."""

_CREDIT = re.compile(r"^\d(?:\.\d+)? (?:when|for) ")
"""How the description of a rule begins; the score stands beside it."""

_COLUMNS = ("document", "field", "type", "predicted", "expected", "score", "string_score", "rule", "n_predicted",
            "n_expected", "n_matched_items", "n_matched_labels", "precision", "recall", "flag", "cautions")  # fmt: skip

_CAUTIONS = {
    "day_month_order": "day and month could be read either way",
    "period_ignored": "an amount stated for a period was compared without the period",
}


def cell_id(document: str, field: str = "") -> str:
    """Return the id of a cell, which begins like those of its spans; without a field, of a document's whole row.

    Examples:
        >>> cell_id("Acme Lease.pdf", "governing_law")
        'acmelease:governing_law'
    """
    return f"{document_key(document)}:{field}"


class CellDetails:
    """Details of the cells of a scored run, read when they are first asked for.

    Args:
        scored: The run.
    """

    def __init__(self, scored: ScoredRun) -> None:
        self._scored = scored

    def of(self, cell: str) -> Detail:
        """Return the detail of a cell: what was compared, by which rule; empty when there is no such cell."""
        row = None if not cell or cell.endswith(":") else self._rows.get(cell)
        return {} if row is None else self._detail(cell, row, LIVE_CHARACTERS)

    def for_page(self) -> dict[str, Detail]:
        """Return the details a page without Python can hold, long texts cut so that all cells are served alike."""
        chosen = sorted(self._rows, key=lambda cell: _lowest_first(self._rows[cell]))[:PAGE_CELLS]
        sides = [len(text) for cell in chosen for text in _sides(self._rows[cell])]
        most = fair_share(sides, PAGE_CHARACTERS)
        return {cell: self._detail(cell, self._rows[cell], most) for cell in chosen}

    @cached_property
    def _rows(self) -> dict[str, dict[str, Any]]:
        rows = _records(self._scored.frame("fields", _COLUMNS))
        return {cell_id(row["document"], row["field"]): row for row in rows}

    @cached_property
    def _spans(self) -> dict[tuple[str, str], list[dict[str, Any]]]:
        names = ("document", "field", "index", "text", "category", "status", "best_similarity")
        return _grouped(self._scored.frame("spans", names))

    @cached_property
    def _items(self) -> dict[tuple[str, str], list[dict[str, Any]]]:
        return _grouped(self._scored.frame("items", ("document", "field", "index", "text", "matched_label")))

    def _detail(self, cell: str, row: Mapping[str, Any], most: int) -> Detail:
        is_list = row["type"].startswith("entity_list")
        predicted, expected = self._list_values(row) if is_list else _scalar_values(row)
        detail = {name: row[name] for name in ("document", "field", "type", "score", "rule", "flag")}
        cautions = [_CAUTIONS.get(name, name.replace("_", " ")) for name in (row["cautions"] or "").split()]
        return {
            "cell": cell,
            **detail,
            "says": rule_says(row),
            **({"cautions": cautions} if cautions else {}),
            "predicted": shortened(predicted, most),
            "expected": shortened(expected, most),
        }

    def _list_values(self, row: Mapping[str, Any]) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
        key = row["document"], row["field"]
        items = [{"text": one["text"], "mark": _item_mark(one)} for one in self._items.get(key, ())]
        labels = [{"text": one["text"], "mark": _label_mark(one)} for one in self._spans.get(key, ())]
        return items, labels


def rule_says(row: Mapping[str, Any]) -> str:
    """Say in one sentence why a field got its score.

    Args:
        row: A row of the fields frame: type, rule, score, string_score, precision, recall and counts.
    """
    rule: str = row["rule"]
    if rule == "not_expected":
        return "nothing is expected: the labels hold no value of this field"
    if rule == "rescue.embedding":
        return f"the words alone gave {formats.number(row['string_score'])}; the meaning, by embedding, is closer"
    if rule == "list.both_empty":
        return "nothing is expected and nothing was returned"
    if rule == "list.expected_empty":
        return "items were returned although nothing is expected"
    if rule.startswith("list."):
        return _list_says(row)
    decided = RULES.get(row["type"], {}).get(rule)
    if decided is None:
        return rule.replace("_", " ").replace(".", ": ")
    return _CREDIT.sub("", (decided.__doc__ or "").strip().split("\n")[0].rstrip("."))


def _list_says(row: Mapping[str, Any]) -> str:
    found = f"{row['n_matched_labels']:,} of {formats.count(row['n_expected'], 'label')} found"
    if row["rule"] == "list.coverage":
        return f"{found}; further items cost nothing, because the labels are a sample"
    matched = f"{row['n_matched_items']:,} of {formats.count(row['n_predicted'], 'item')} match a label"
    precision, recall = formats.number(row["precision"]), formats.number(row["recall"])
    return f"{found}, {matched}: F1 of precision {precision} and recall {recall}"


def fair_share(sizes: Sequence[int], total: int) -> int:
    """Return the size above which texts must be cut so that all together keep to a total.

    Examples:
        >>> fair_share([10, 10, 1000], 120)
        100
        >>> fair_share([10, 10], 120)
        10
    """
    left = total
    ordered = sorted(sizes)
    for index, size in enumerate(ordered):
        share = left // (len(ordered) - index)
        if size > share:
            return max(LEAST_CHARACTERS, share)
        left -= size
    return ordered[-1] if ordered else LEAST_CHARACTERS


def shortened(values: Sequence[Mapping[str, str]], most: int) -> Detail:
    """Return values that together hold at most so many characters, and how much was left out.

    Returns:
        ``n`` values in all, ``values`` (text, mark, and the whole ``length`` where a text was cut).

    Examples:
        >>> shortened([{"text": "abcdef"}, {"text": "x"}], 4)
        {'n': 2, 'values': [{'text': 'abcd', 'length': 6}]}
    """
    kept: list[dict[str, Any]] = []
    left = most
    for value in values:
        if left <= 0:
            break
        text = value["text"]
        shown = {"text": text[:left], **{name: more for name, more in value.items() if name != "text" and more}}
        kept.append({**shown, "length": len(text)} if len(text) > left else shown)
        left -= len(text)
    return {"n": len(values), "values": kept}


def _lowest_first(row: Mapping[str, Any]) -> tuple[bool, float]:
    return row["score"] is None, row["score"] or 0.0


def _sides(row: Mapping[str, Any]) -> tuple[str, str]:
    return row["predicted"] or "", row["expected"] or ""


def _scalar_values(row: Mapping[str, Any]) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    predicted, expected = ([{"text": text}] if text else [] for text in _sides(row))
    return predicted, expected


def _item_mark(item: Mapping[str, Any]) -> str:
    label = item["matched_label"]
    return "" if label is None else f"label {label + 1}"


def _label_mark(span: Mapping[str, Any]) -> str:
    status, similarity = span["status"], span["best_similarity"]
    return status if status == "matched" or similarity is None else f"{status} {formats.number(similarity, digits=2)}"


def _grouped(frame: pd.DataFrame) -> dict[tuple[str, str], list[dict[str, Any]]]:
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in _records(frame):
        found.setdefault((row["document"], row["field"]), []).append(row)
    return found


def _records(frame: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield rows as plain Python values, what is missing as None."""
    yield from json.loads(frame.to_json(orient="records", double_precision=15))
