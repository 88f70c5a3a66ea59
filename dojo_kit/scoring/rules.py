"""The rules by which two values of one type are compared, in the order they are tried.

A rule takes a `Pair` and returns a score, or None when it does not apply; the first that returns a score
decides. `RULES` is the whole of scalar scoring: a table from field type to its ordered rules. Scoring and
explaining run the same table, so an explanation cannot disagree with a score.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from functools import cached_property, lru_cache

from rapidfuzz import fuzz
from rapidfuzz.distance import JaroWinkler

from dojo_kit.text.dates import DateValue, find_dates, is_null_date_label
from dojo_kit.text.money import MoneyValue, find_amounts
from dojo_kit.text.names import id_key, name_key, name_words
from dojo_kit.text.tokens import (
    canonical,
    content_tokens,
    coverage,
    is_negated,
    is_no_value,
    token_f1,
    tokens,
)

SAME_MONTH = 0.67
"""Credit of dates that share year and month, or lie within `CLUSTER`."""

SAME_YEAR = 0.33
"""Credit of dates that share the year, or month and day where a year is missing."""

CLUSTER = timedelta(days=45)
"""Largest distance between the execution and the effective date of one agreement."""

CENT = Decimal("0.01")
"""Amounts closer than this are equal."""

SEVERAL_AMOUNTS = 0.5
"""Credit when one of several amounts equals the single one on the other side."""

MONEY_CHARS = 20_000
"""Characters of a value in which amounts are looked for; a longer text is no amount."""

FRAGMENT_BELOW = 0.5
"""A prediction with a smaller share of the label's words is a fragment of it."""


@dataclass(frozen=True)
class Pair:
    """A predicted and an expected text with every reading of them a rule may ask for, each made once.

    Attributes:
        predicted: What the model returned.
        expected: The label.
        day_first: Order of ``1/2/2024``; None reads month first and flags it.
        pivot: Two-digit years below it belong to 20xx.
        notes: Numbers behind the decision, filled by the rules that were tried.
    """

    predicted: str
    expected: str
    day_first: bool | None = None
    pivot: int = 50
    notes: dict[str, object] = field(default_factory=dict)

    @cached_property
    def texts(self) -> tuple[str, str]:
        """Canonical texts."""
        return canonical(self.predicted), canonical(self.expected)

    @cached_property
    def words(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Tokens."""
        return tokens(self.predicted), tokens(self.expected)

    @cached_property
    def names(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Words of the names without corporate forms."""
        return name_key(self.predicted), name_key(self.expected)

    @cached_property
    def dates(self) -> tuple[list[DateValue], list[DateValue]]:
        """Dates in reading order."""
        return (
            find_dates(self.predicted, day_first=self.day_first, pivot=self.pivot),
            find_dates(self.expected, day_first=self.day_first, pivot=self.pivot),
        )

    @cached_property
    def amounts(self) -> tuple[tuple[MoneyValue, ...], tuple[MoneyValue, ...]]:
        """Distinct amounts in reading order; one stated twice is one amount."""
        return _distinct(self.predicted), _distinct(self.expected)

    @property
    def cautions(self) -> tuple[str, ...]:
        """What a reader should know before trusting the score, among the readings that were asked for."""
        made = self.__dict__
        found = []
        if any(date.ambiguous for side in made.get("dates", ()) for date in side):
            found.append("day_month_order")
        if any(amount.period for side in made.get("amounts", ()) for amount in side):
            found.append("period_ignored")
        return tuple(found)


Rule = Callable[[Pair], float | None]


@lru_cache(maxsize=16_384)
def _distinct(text: str) -> tuple[MoneyValue, ...]:
    found = find_amounts(text[:MONEY_CHARS])
    return tuple({(a.amount, a.currency, a.approximate): a for a in reversed(found)}.values())[::-1]


def both_empty(pair: Pair) -> float | None:
    """1 when neither side has a value."""
    return 1.0 if is_no_value(pair.predicted) and is_no_value(pair.expected) else None


def expected_empty(pair: Pair) -> float | None:
    """0 when something is predicted where there is nothing."""
    return 0.0 if is_no_value(pair.expected) else None


def predicted_empty(pair: Pair) -> float | None:
    """0 when nothing is predicted where there is something."""
    return 0.0 if is_no_value(pair.predicted) else None


def identical_value(pair: Pair) -> float | None:
    """1 when the canonical texts are equal but for case and punctuation at the end.

    Amounts and identifiers are not compared by words: signs and decimal marks are part of them.
    """
    predicted, expected = (text.casefold().rstrip(".,;: ") or text for text in pair.texts)
    return 1.0 if predicted == expected else None


def identical_words(pair: Pair) -> float | None:
    """1 when the texts have the same words in the same order."""
    predicted, expected = pair.words
    return 1.0 if predicted == expected and (expected or identical_value(pair)) else None


def id_equal(pair: Pair) -> float:
    """1 when the identifiers are equal without punctuation, spaces and a final corporate form, else 0."""
    keys = id_key(pair.predicted), id_key(pair.expected)
    pair.notes.update(predicted_key=keys[0], expected_key=keys[1])
    return float(keys[0] == keys[1] != "")


def date_null_label(pair: Pair) -> float | None:
    """A blank template as label holds no date: right to return nothing, wrong to return something."""
    return float(is_no_value(pair.predicted)) if is_null_date_label(pair.expected) else None


def _full(dates: list[DateValue]) -> list[DateValue]:
    return [date for date in dates if date.date is not None]


def date_impossible(pair: Pair) -> float | None:
    """0 when a side states only days that do not exist, such as 31 April."""
    found = any(any(d.impossible for d in side) and not _full(side) for side in pair.dates)
    return 0.0 if found else None


def date_equal(pair: Pair) -> float | None:
    """1 when either side states one full date and both are equal."""
    predicted, expected = (_full(side) for side in pair.dates)
    equal = len(predicted) == len(expected) == 1 and predicted[0].date == expected[0].date
    return 1.0 if equal else None


def date_one_of(pair: Pair) -> float | None:
    """1 when a full date of the label is among the full dates of the prediction."""
    predicted, expected = ({date.date for date in _full(side)} for side in pair.dates)
    return 1.0 if predicted & expected else None


def _best_date_pair(pair: Pair, accept: Callable[[DateValue, DateValue], bool]) -> bool:
    predicted, expected = (_full(side) for side in pair.dates)
    return any(accept(p, e) for p in predicted for e in expected)


def date_same_month(pair: Pair) -> float | None:
    """0.67 for two full dates of the same year and month."""
    found = _best_date_pair(pair, lambda p, e: (p.year, p.month) == (e.year, e.month))
    return SAME_MONTH if found else None


def date_cluster(pair: Pair) -> float | None:
    """0.67 for two full dates at most 45 days apart, as the dates of signing and of effect are."""
    found = _best_date_pair(
        pair, lambda p, e: p.date is not None and e.date is not None and abs(p.date - e.date) <= CLUSTER
    )
    return SAME_MONTH if found else None


def date_same_year(pair: Pair) -> float | None:
    """0.33 for two full dates of the same year."""
    return SAME_YEAR if _best_date_pair(pair, lambda p, e: p.year == e.year) else None


def _possible(dates: list[DateValue]) -> list[DateValue]:
    return [date for date in dates if not date.impossible]


def _partial_pairs(pair: Pair) -> list[tuple[DateValue, DateValue]]:
    predicted, expected = (_possible(side) for side in pair.dates)
    return [(p, e) for p in predicted for e in expected if p.date is None or e.date is None]


def date_partial_month(pair: Pair) -> float | None:
    """0.67 when a side states only year and month and both agree in them."""
    found = any(p.year == e.year is not None and p.month == e.month is not None for p, e in _partial_pairs(pair))
    return SAME_MONTH if found else None


def date_partial_day(pair: Pair) -> float | None:
    """0.33 when a side states no year and both agree in month and day."""
    found = any(
        p.month == e.month is not None and p.day == e.day is not None
        for p, e in _partial_pairs(pair)
        if None in (p.year, e.year)
    )
    return SAME_YEAR if found else None


def date_partial_year(pair: Pair) -> float | None:
    """0.33 when a side states no full date and both agree in the year."""
    found = any(p.year == e.year is not None for p, e in _partial_pairs(pair))
    return SAME_YEAR if found else None


def date_different(pair: Pair) -> float | None:
    """0 when both sides, or only one, state a date and nothing above holds."""
    return 0.0 if any(pair.dates) else None


def money_currency(pair: Pair) -> float | None:
    """0 for two single amounts in two explicit, different currencies."""
    if not _single(pair):
        return None
    (predicted,), (expected,) = pair.amounts
    both = predicted.currency and expected.currency
    return 0.0 if both and predicted.currency != expected.currency else None


def money_bound(pair: Pair) -> float | None:
    """0 when one of two single amounts is a bound or an approximation: it is not an exact amount."""
    if not _single(pair):
        return None
    (predicted,), (expected,) = pair.amounts
    return 0.0 if predicted.approximate or expected.approximate else None


def money_equal(pair: Pair) -> float | None:
    """1 for two single amounts less than a cent apart."""
    if not _single(pair):
        return None
    (predicted,), (expected,) = pair.amounts
    pair.notes.update(predicted_amount=str(predicted.amount), expected_amount=str(expected.amount))
    return 1.0 if _same_amount(predicted, expected) else None


def money_same_amounts(pair: Pair) -> float | None:
    """1 when both sides state the same several amounts."""
    predicted, expected = pair.amounts
    if min(len(predicted), len(expected)) < 2 or len(predicted) != len(expected):
        return None
    pairs = zip(*(sorted(side, key=lambda m: (m.amount, m.currency or "")) for side in pair.amounts), strict=True)
    return 1.0 if all(_same_amount(*both) for both in pairs) else None


def money_one_of(pair: Pair) -> float | None:
    """0.5 when a side states several amounts and one of them equals one of the other side."""
    predicted, expected = pair.amounts
    if not predicted or not expected or len(predicted) == len(expected) == 1:
        return None
    by_size = sorted(expected, key=_size)
    found = any(_same_amount(p, e) for p in predicted for e in _within_a_cent(p, by_size))
    return SEVERAL_AMOUNTS if found else None


def money_different(pair: Pair) -> float | None:
    """0 when at least one side states an amount and nothing above holds."""
    return 0.0 if any(pair.amounts) else None


def _size(amount: MoneyValue) -> Decimal:
    return amount.amount


def _within_a_cent(amount: MoneyValue, by_size: list[MoneyValue]) -> list[MoneyValue]:
    low = bisect_left(by_size, amount.amount - CENT, key=_size)
    return by_size[low : bisect_right(by_size, amount.amount + CENT, key=_size)]


def _single(pair: Pair) -> bool:
    return all(len(side) == 1 for side in pair.amounts)


def _same_amount(a: MoneyValue, b: MoneyValue) -> bool:
    same_currency = not (a.currency and b.currency) or a.currency == b.currency
    exact = not (a.approximate or b.approximate)
    return same_currency and exact and abs(a.amount - b.amount) < CENT


def name_negated(pair: Pair) -> float | None:
    """0 when one side only is negated: "not exclusive" is no match for "exclusive"."""
    predicted, expected = pair.words
    differ = is_negated(predicted, pair.predicted) != is_negated(expected, pair.expected)
    return 0.0 if differ else None


def name_containment(pair: Pair) -> float | None:
    """1 when every word of the label occurs in the prediction."""
    expected = pair.names[1]
    return 1.0 if expected and set(expected).issubset(name_words(pair.predicted)) else None


def name_fragment(pair: Pair) -> float | None:
    """Fuzzy similarity that counts the missing words, when the prediction has under half of the label's."""
    predicted, expected = pair.names
    share = coverage(predicted, expected)
    if not expected or share >= FRAGMENT_BELOW:
        return None
    pair.notes.update(share_of_label_words=share)
    return max(_ratio(pair, fuzz.token_sort_ratio), _jaro_winkler(pair))


def name_token_set(pair: Pair) -> float | None:
    """RapidFuzz token-set ratio, when it is not below Jaro-Winkler."""
    ratio = _ratio(pair, fuzz.token_set_ratio)
    pair.notes.update(token_set_ratio=ratio, jaro_winkler=_jaro_winkler(pair))
    return ratio if ratio >= _jaro_winkler(pair) else None


def name_jaro_winkler(pair: Pair) -> float:
    """Jaro-Winkler similarity, trusted only when the names share a word."""
    return _jaro_winkler(pair)


def _ratio(pair: Pair, scorer: Callable[[str, str], float]) -> float:
    predicted, expected = (" ".join(words) for words in pair.names)
    return scorer(predicted, expected) / 100


def _jaro_winkler(pair: Pair) -> float:
    predicted, expected = pair.names
    if set(predicted).isdisjoint(expected):
        return 0.0
    return float(JaroWinkler.similarity(" ".join(predicted), " ".join(expected)))


def free_text_f1(pair: Pair) -> float:
    """Token F1 over multisets of words."""
    return token_f1(*pair.words)


def containment_coverage(pair: Pair) -> float:
    """Share of the label's distinct content words that the prediction covers."""
    predicted, expected = pair.words
    label = content_tokens(expected)
    pair.notes.update(label_words=len(label), covered=len(label.intersection(predicted)))
    return coverage(predicted, label)


_NAME: Mapping[str, Rule] = {
    "name.negated": name_negated,
    "name.containment": name_containment,
    "name.fragment": name_fragment,
    "name.token_set": name_token_set,
    "name.jaro_winkler": name_jaro_winkler,
}


def _rules(
    kind: str, identical: Rule, rest: Mapping[str, Rule], *, null_label: Rule | None = None
) -> Mapping[str, Rule]:
    first = {
        "both_empty": both_empty,
        "identical": identical,
        "expected_empty": expected_empty,
        **({"null_label": null_label} if null_label else {}),
        "predicted_empty": predicted_empty,
    }
    return {**{f"{kind}.{name}": rule for name, rule in first.items()}, **rest}


RULES: Mapping[str, Mapping[str, Rule]] = {
    "id": _rules("id", identical_value, {"id.key": id_equal}),
    "date": _rules(
        "date",
        identical_words,
        {
            "date.impossible": date_impossible,
            "date.equal": date_equal,
            "date.one_of": date_one_of,
            "date.same_month": date_same_month,
            "date.cluster": date_cluster,
            "date.partial_month": date_partial_month,
            "date.same_year": date_same_year,
            "date.partial_day": date_partial_day,
            "date.partial_year": date_partial_year,
            "date.different": date_different,
            **_NAME,
        },
        null_label=date_null_label,
    ),
    "money": _rules(
        "money",
        identical_value,
        {
            "money.currency": money_currency,
            "money.bound": money_bound,
            "money.equal": money_equal,
            "money.same_amounts": money_same_amounts,
            "money.one_of": money_one_of,
            "money.different": money_different,
            **_NAME,
        },
    ),
    "name": _rules("name", identical_words, _NAME),
    "free_text": _rules("free_text", identical_words, {"free_text.token_f1": free_text_f1}),
    "containment": _rules("containment", identical_words, {"containment.coverage": containment_coverage}),
}
"""Field type -> rule name -> rule, in the order they are tried; the last one always decides."""


def decide(kind: str, pair: Pair) -> tuple[float, str]:
    """Run the rules of a scalar type and return the score and the rule that decided.

    Args:
        kind: Scalar type.
        pair: Predicted and expected text.
    """
    for name, rule in RULES[kind].items():
        score = rule(pair)
        if score is not None:
            return score, name
    raise AssertionError(f"no rule of {kind} decided")
