"""Giving the clauses of a one-pass extraction to the categories ContractEval asks about, one by one.

Two ways, side by side. The *oracle* way is the published one: it looks at the labels, so a category is only left
unanswered when nothing resembles one of its labels. The *label-free* way never sees a label: the model's own trace
says what a clause is, else its words do (`dojo_kit.text.shapes`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from dojo_kit.records import DocumentLabels
from dojo_kit.schema import clause_categories, clause_category
from dojo_kit.scoring.answer import as_items
from dojo_kit.scoring.spans import split_clauses, tagged_evidence
from dojo_kit.tasks.contracteval.rubric import EDGE
from dojo_kit.text.shapes import shape_category
from dojo_kit.text.tokens import STOPWORDS, tokens, without_omissions

CLAUSE_FIELDS = ("key_obligations", "termination_clauses")
"""The list fields a one-pass extraction puts clauses into."""

TRACED = 0.7
"""Share of an evidence's content tokens a clause must hold to be the clause the evidence is about."""

RESEMBLES = 0.5
"""Share of a label's content tokens a clause must hold to answer for the label's category, failing all else."""


@cache
def mapped_categories() -> tuple[str, ...]:
    """Return the 32 yes/no categories of CUAD whose clauses a one-pass extraction lists, in alphabetical order.

    Examples:
        >>> len(mapped_categories()), mapped_categories()[:2]
        (32, ('Affiliate License-Licensee', 'Affiliate License-Licensor'))
    """
    return tuple(sorted(category.name for category in clause_categories() if category.field in CLAUSE_FIELDS))


@dataclass(frozen=True, slots=True)
class RoutedClause:
    """A clause of an extraction and the categories it answers for.

    Attributes:
        text: The clause.
        oracle: Its categories when labels may be looked at.
        oracle_route: How they were found: ``trace``, ``label`` (it holds one), ``trace and label``, ``resembles``,
            or empty.
        label_free: Its categories when they may not.
        label_free_route: ``trace``, ``shape`` or empty.
    """

    text: str
    oracle: tuple[str, ...]
    oracle_route: str
    label_free: tuple[str, ...]
    label_free_route: str


@dataclass(frozen=True, slots=True)
class _Text:
    text: str
    words: frozenset[str]

    def share_in(self, other: _Text) -> float:
        """Return the share of this text's content tokens that the other one holds."""
        if not self.words:
            return float(not other.words)
        return len(self.words & other.words) / len(self.words)


def _text(text: str) -> _Text:
    return _Text(text, frozenset(tokens(text)) - STOPWORDS)


def category_labels(labels: DocumentLabels) -> dict[str, tuple[str, ...]]:
    """Return a document's labels by category, in one line each and without the marks of omissions.

    Args:
        labels: The document's labels; those of other categories are passed over.

    Returns:
        Every one of `mapped_categories`, also those without a label.
    """
    found: dict[str, list[str]] = {name: [] for name in mapped_categories()}
    for field in CLAUSE_FIELDS:
        for span in labels.fields.get(field, ()):
            category = clause_category(span.category)
            text = _one_line(span.text)
            if category is not None and category.name in found and text.strip(EDGE):
                found[category.name].append(text)
    return {name: tuple(texts) for name, texts in found.items()}


def _one_line(text: str) -> str:
    return " ".join(without_omissions(text).split())


def extracted_clauses(predicted: Mapping[str, Any]) -> list[str]:
    """Cut both clause lists of an extraction into sentence-like clauses, each in one line.

    A semicolon at the end of an item stays, as labels carry it; `split_clauses` drops one between two clauses.

    Args:
        predicted: The model's answer.

    Examples:
        >>> extracted_clauses({"key_obligations": ["Licensee shall pay all fees; Licensor may audit all books;"]})
        ['Licensee shall pay all fees', 'Licensor may audit all books;']
    """
    found: dict[tuple[str, ...], str] = {}
    for item in (item for field in CLAUSE_FIELDS for item in as_items(predicted.get(field))):
        for clause in _item_clauses(item):
            found.setdefault(tokens(clause), _one_line(clause))
    return list(found.values())


def _item_clauses(item: str) -> Iterator[str]:
    clauses = split_clauses(item)
    whole = item.rstrip()
    for clause in clauses:
        is_last = clause is clauses[-1] and whole.endswith(";") and whole[:-1].rstrip().endswith(clause)
        yield f"{clause};" if is_last else clause


def route_clauses(predicted: Mapping[str, Any], labels: Mapping[str, Sequence[str]]) -> list[RoutedClause]:
    """Give each clause of an extraction its categories.

    Args:
        predicted: The model's answer.
        labels: Category -> its labels, see `category_labels`.
    """
    evidence = {name: [_text(_one_line(text)) for text in texts] for name, texts in clause_evidence(predicted).items()}
    known = {name: [_text(text) for text in texts] for name, texts in labels.items() if texts}
    return [_route(_text(clause), evidence, known) for clause in extracted_clauses(predicted)]


def clause_evidence(predicted: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the evidence of the trace's entries about `mapped_categories`, by category."""
    return {name: texts for name, texts in tagged_evidence(predicted).items() if name in mapped_categories()}


def _route(
    clause: _Text, evidence: Mapping[str, Sequence[_Text]], labels: Mapping[str, Sequence[_Text]]
) -> RoutedClause:
    traced = [name for name, texts in evidence.items() if any(_is_about(clause, text) for text in texts)]
    holding = [name for name, texts in labels.items() if any(text.text.strip(EDGE) in clause.text for text in texts)]
    oracle = traced + holding
    route = " and ".join(["trace"] * bool(traced) + ["label"] * bool(holding))
    if not oracle:
        oracle = [name for name, texts in labels.items() if any(t.share_in(clause) >= RESEMBLES for t in texts)]
        route = "resembles" if oracle else ""
    shape = None if traced else shape_category(clause.text, mapped_categories())
    label_free = traced or ([shape] if shape else [])
    return RoutedClause(
        clause.text,
        tuple(sorted(set(oracle))),
        route,
        tuple(sorted(label_free)),
        "trace" if traced else "shape" if shape else "",
    )


def _is_about(clause: _Text, evidence: _Text) -> bool:
    return evidence.text in clause.text or clause.text in evidence.text or evidence.share_in(clause) >= TRACED


def best_share(labels: Sequence[str], clauses: Sequence[str]) -> float:
    """Return the largest share of a label's content tokens that one clause holds.

    Args:
        labels: Labels of one category.
        clauses: Clauses of an extraction.

    Examples:
        >>> best_share(["pay the annual fee"], ["Licensee pays the fee.", "Licensee shall pay a fee."])
        0.6666666666666666
    """
    texts = [_text(clause) for clause in clauses]
    return max((label.share_in(text) for label in map(_text, labels) for text in texts), default=0.0)
