"""Scoring one field, and saying why it got its score.

`score_field` compares a predicted with an expected value by the field's type; `explain_field` does the same
and keeps every rule that was tried. Both read `dojo_kit.scoring.rules.RULES`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dojo_kit.errors import InputError
from dojo_kit.schema import FieldType, field_type
from dojo_kit.scoring.answer import as_items, as_text, json_type
from dojo_kit.scoring.lists import LabelMatch, ListScore, match_list
from dojo_kit.scoring.rules import RULES, Pair, decide
from dojo_kit.settings import Settings, resolve

EXACT, PARTIAL, MISS = "exact", "partial", "miss"


@dataclass(frozen=True, slots=True)
class FieldScore:
    """A field's score and the rule that decided it.

    Attributes:
        score: 0 to 1.
        rule: Rule that decided, e.g. ``date.same_month``.
        cautions: What a reader should know first: ``day_month_order``, ``period_ignored``.
    """

    score: float
    rule: str
    cautions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """A rule that was tried.

    Attributes:
        rule: Its name.
        score: What it returned; None when it did not apply.
        meaning: What it says, in one sentence.
    """

    rule: str
    score: float | None
    meaning: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """A score with everything that led to it.

    Attributes:
        type: Field type.
        predicted: Predicted value as compared.
        expected: Expected value as compared.
        score: 0 to 1.
        rule: Rule that decided.
        steps: Every rule that was tried, in order; the last one decided.
        readings: What the texts were read as: canonical text, words, dates, amounts, numbers.
        cautions: What a reader should know first.
    """

    type: str
    predicted: str
    expected: str
    score: float
    rule: str
    steps: tuple[Step, ...]
    readings: Mapping[str, Any]
    cautions: tuple[str, ...] = ()


def score_field(
    type: str | FieldType,
    predicted: Any,
    expected: Any,
    *,
    partial_gt: bool = False,
    settings: Settings | None = None,
) -> FieldScore:
    """Score a predicted value against an expected one.

    Args:
        type: Field type, e.g. ``date`` or ``entity_list:name``.
        predicted: Predicted value; a list for list types.
        expected: Expected value; a list for list types.
        partial_gt: The labels of a list are a sample, so its score is the coverage of the labels.
        settings: Settings; the current ones by default.

    Examples:
        >>> score_field("date", "2014-05-20", "May 8, 2014")
        FieldScore(score=0.67, rule='date.same_month', cautions=())
        >>> score_field("name", "New York", "State of New York").rule
        'name.token_set'
    """
    kind = _as_type(type)
    if kind.is_list:
        result = score_list(kind, predicted, expected, partial_gt=partial_gt, settings=settings)
        return FieldScore(result.score, result.rule)
    pair = _pair(predicted, expected, resolve(settings))
    score, rule = decide(kind.kind, pair)
    return FieldScore(score, rule, pair.cautions)


def score_list(
    type: str | FieldType,
    predicted: Any,
    expected: Any,
    *,
    partial_gt: bool = False,
    settings: Settings | None = None,
) -> ListScore:
    """Score a predicted list against labels, with precision, recall and the match of every label.

    Args:
        type: ``entity_list`` type or the element type alone.
        predicted: Items; a string is one item.
        expected: Labels; a string is one label.
        partial_gt: The labels are a sample of what is right.
        settings: Settings; the current ones by default.

    Examples:
        >>> score_list("entity_list:name", ["Acme Corp", "Beta LLC"], ["Acme Corporation"]).precision
        0.5
    """
    kind = _as_type(type)
    settings = resolve(settings)
    return match_list(
        as_items(predicted),
        _labels(expected),
        kind.element or kind.kind,
        partial_gt=partial_gt,
        settings=settings,
    )


def explain_field(
    type: str | FieldType,
    predicted: Any,
    expected: Any,
    *,
    partial_gt: bool = False,
    settings: Settings | None = None,
) -> Explanation:
    """Score a field and keep every rule that was tried and what the texts were read as.

    Args:
        type: Field type.
        predicted: Predicted value; a list for list types.
        expected: Expected value; a list for list types.
        partial_gt: The labels of a list are a sample.
        settings: Settings; the current ones by default.

    Examples:
        >>> why = explain_field("money", "~42", "42")
        >>> why.score, why.rule
        (0.0, 'money.bound')
        >>> why.steps[-1].meaning
        '0 when one of two single amounts is a bound or an approximation: it is not an exact amount.'
    """
    kind = _as_type(type)
    settings = resolve(settings)
    if kind.is_list:
        return _explain_list(kind, predicted, expected, partial_gt, settings)
    pair = _pair(predicted, expected, settings)
    steps = []
    for name, rule in RULES[kind.kind].items():
        score = rule(pair)
        steps.append(Step(name, score, _first_sentence(rule.__doc__)))
        if score is not None:
            break
    last = steps[-1]
    assert last.score is not None  # noqa: S101 - the last rule of a type always decides
    return Explanation(
        str(kind),
        pair.predicted,
        pair.expected,
        last.score,
        last.rule,
        tuple(steps),
        _readings(pair),
        pair.cautions,
    )


def flag_of(score: float) -> str:
    """Name a score: exact at 1, miss at 0, else partial."""
    return EXACT if score == 1.0 else MISS if score == 0.0 else PARTIAL


def _as_type(type: str | FieldType) -> FieldType:
    return type if isinstance(type, FieldType) else field_type(type)


def _pair(predicted: Any, expected: Any, settings: Settings) -> Pair:
    labels = _labels(expected)
    if len(labels) > 1:
        raise InputError(f"{len(labels)} labels for a field of one value", expected="one label, or an entity_list type")
    scoring = settings.field_scoring
    return Pair(as_text(predicted), as_text(expected), scoring.day_first, scoring.two_digit_year_pivot)


def _labels(expected: Any) -> list[str]:
    """Read labels strictly: a wrong type in a label is a mistake of the data, not of the model."""
    members = list(expected) if isinstance(expected, list | tuple) else [expected]
    for label in members:
        if isinstance(label, Mapping | list | tuple):
            raise InputError(f"a label is {json_type(label)}", expected="text, a number or a flat list of them")
    return as_items(expected)


def _first_sentence(doc: str | None) -> str:
    return (doc or "").strip().split("\n")[0]


def _readings(pair: Pair) -> dict[str, Any]:
    made = pair.__dict__
    readings: dict[str, Any] = {"canonical": pair.texts}
    for name in ("words", "names", "dates", "amounts"):
        if name in made:
            readings[name] = made[name]
    return {**readings, **pair.notes}


def _how(match: LabelMatch, items: list[str]) -> str:
    if match.item is not None:
        return f"is found in item {items[match.item]!r}"
    return "is met by any named party" if match.matched else "is found in no item"


def _explain_list(kind: FieldType, predicted: Any, expected: Any, partial_gt: bool, settings: Settings) -> Explanation:
    result = score_list(kind, predicted, expected, partial_gt=partial_gt, settings=settings)
    items, labels = as_items(predicted), _labels(expected)
    steps = tuple(
        Step(
            match.rule,
            match.similarity,
            f"label {label!r} " + _how(match, items),
        )
        for label, match in zip(labels, result.labels, strict=True)
    )
    readings = {
        "precision": result.precision,
        "recall": result.recall,
        "f1": result.f1,
        "n_predicted": result.n_predicted,
        "n_expected": result.n_expected,
        "n_matched_items": result.n_matched_items,
        "n_matched_labels": result.n_matched_labels,
        "partial_gt": partial_gt,
        "threshold": settings.field_scoring.match_threshold,
    }
    return Explanation(str(kind), "; ".join(items), "; ".join(labels), result.score, result.rule, steps, readings)
