"""Scoring one document: every field, every list, every span, with the reason of each score.

The result is tuples in the column order of `dojo_kit.scoring.frames`; nothing here builds a frame, so that
documents can be scored in any process and put together later.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from dojo_kit.records import DocumentLabels, ExpectedSpan, Problem
from dojo_kit.schema import META_KEYS, FieldType, clause_categories
from dojo_kit.scoring.fields import as_items, as_text, flag_of
from dojo_kit.scoring.lists import ListScore, match_list
from dojo_kit.scoring.overlap import TokenOverlap
from dojo_kit.scoring.rules import Pair, decide
from dojo_kit.scoring.similarity import Similarities, compare_texts
from dojo_kit.scoring.values import expected_value, read_value, value_kinds
from dojo_kit.settings import Settings
from dojo_kit.text.tokens import is_no_value, tokens

SpansMode = Literal["first", "all"]
Tuple = tuple[Any, ...]

NEAR = 0.35
"""Similarity from which an unmatched span is called near rather than missed."""

NOT_EXPECTED = "not_expected"
"""Rule of a field without a label: nothing to score."""


_JSON = json.JSONEncoder(ensure_ascii=False)


@dataclass(slots=True)
class DocumentScore:
    """Rows of one document for the five frames, and its problems.

    Attributes:
        document: The row of the documents frame.
        fields: Rows of the fields frame.
        items: Rows of the items frame.
        spans: Rows of the spans frame.
        pairs: Arrays for the pairs frame, one tuple per list field.
        problems: Wrong types in the model's answer.
    """

    document: Tuple
    fields: list[Tuple] = field(default_factory=list)
    items: list[Tuple] = field(default_factory=list)
    spans: list[Tuple] = field(default_factory=list)
    pairs: list[tuple[str, str, Any, Any, Any, Any, Any]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def score_document(
    predicted: Any,
    labels: DocumentLabels,
    types: Mapping[str, FieldType],
    *,
    document: str,
    settings: Settings,
    spans: SpansMode = "all",
    tokens_used: int | None = None,
) -> DocumentScore:
    """Score a model's answer for one document against its labels.

    Args:
        predicted: The decoded answer; anything but an object scores as an empty one.
        labels: What is expected.
        types: Field name -> type, for every field of the class.
        document: Name used in the frames.
        settings: Settings.
        spans: ``all`` labelled spans, or only the ``first`` of each category.
        tokens_used: Tokens of the call, passed through.
    """
    scorer = _DocumentScorer(document, settings, labels, types, spans)
    return scorer.score(predicted, tokens_used)


def expected_spans(labels: DocumentLabels, name: str, *, mode: SpansMode, is_list: bool) -> list[ExpectedSpan]:
    """Return the labels of a field that count in a spans mode.

    ``first`` keeps the first listed span of each category, and for a scalar only the first category that has
    one, in CUAD's column order. ``all`` keeps every span; for a scalar each is an acceptable answer.
    """
    found = [span for span in labels.fields.get(name, ()) if not is_no_value(span.text)]
    if mode == "all":
        return found
    first = {span.category: span for span in reversed(found)}
    kept = [span for span in found if first[span.category] is span]
    if is_list or len(kept) < 2:
        return kept
    order = {category.name: category.order for category in clause_categories()}
    return [min(kept, key=lambda span: order.get(span.category, len(order)))]


class _DocumentScorer:
    def __init__(
        self,
        document: str,
        settings: Settings,
        labels: DocumentLabels,
        types: Mapping[str, FieldType],
        mode: SpansMode,
    ) -> None:
        self.settings = settings
        self.scoring = settings.field_scoring
        self.labels = labels
        self.types = types
        self.name = document
        self.expected = {
            name: expected_spans(labels, name, mode=mode, is_list=type.is_list) for name, type in types.items()
        }
        self.result = DocumentScore(())

    def score(self, predicted: Any, tokens_used: int | None) -> DocumentScore:
        answer, valid = self._check_types(predicted)
        self.lists = {name: as_items(answer.get(name)) for name, type in self.types.items() if type.is_list}
        self.scalars = {name: as_text(answer.get(name)) for name, type in self.types.items() if not type.is_list}
        self._compare_words()
        scores, populated, review = [], [], False
        for name, type in self.types.items():
            present = bool(self.lists[name]) if type.is_list else not is_no_value(self.scalars[name])
            score = self._score_list(name, type) if type.is_list else self._score_scalar(name, type)
            if score is not None:
                scores.append(score)
                populated.append(present)
                review |= self._in_band(score)
        overall = sum(scores) / len(scores) if scores else None
        presence = sum(populated) / len(populated) if populated else None
        status = "scored" if scores else "nothing_expected"
        self.result.document = (
            self.name, status, overall, presence, float(valid), None, None, review if scores else None,
            len(scores), None, tokens_used,
        )  # fmt: skip
        return self.result

    def _in_band(self, score: float) -> bool:
        low, high = self.scoring.ambiguous_band
        return low <= score <= high

    def _check_types(self, predicted: Any) -> tuple[Mapping[str, Any], bool]:
        """Return the answer as an object, and whether every field has the type its class declares."""
        if not isinstance(predicted, Mapping):
            self._problem(None, f"the answer is {_json_type(predicted)}", "an object with the fields of the class")
            return {}, False
        valid = True
        for name, value in predicted.items():
            type = self.types.get(name)
            wrong = None if type is None or name in META_KEYS else _wrong_type(value, type)
            if wrong:
                self._problem(name, *wrong)
                valid = False
        return predicted, valid

    def _problem(self, name: str | None, message: str, expected: str) -> None:
        self.result.problems.append(Problem(message, document=self.name, field=name, expected=expected))

    def _compare_words(self) -> None:
        """Count the words that labels share with items, for all fields of the document at once."""
        self.rows: dict[str, slice] = {}
        self.columns: dict[str, slice] = {}
        labels: list[str] = []
        items: list[str] = []
        for name, type in self.types.items():
            if type.is_list:
                spans = [span.text for span in self.expected[name]]
                self.rows[name] = slice(len(labels), len(labels) + len(spans))
                labels.extend(spans)
                values = self.lists[name]
            elif type.kind in ("free_text", "name") and self.scalars[name]:
                values = [self.scalars[name]]
            else:
                continue
            self.columns[name] = slice(len(items), len(items) + len(values))
            items.extend(values)
        self.overlap = TokenOverlap([tokens(text) for text in labels], [tokens(text) for text in items])

    def _score_scalar(self, name: str, type: FieldType) -> float | None:
        text, candidates = self.scalars[name], self.expected[name]
        kind = "containment" if name in self.scoring.containment_fields else type.kind
        has_value = not is_no_value(text)
        if not candidates:
            kinds = value_kinds(name, type)
            value = read_value(name, kinds[0], text, self.scoring) if kinds else None
            self._add_field(name, kind, text, None, None, None, NOT_EXPECTED, (has_value, 0, 0, 0), (value, None, None))
            self._add_scalar_item(name, text, None)
            return None
        best: tuple[float, str, ExpectedSpan, tuple[str, ...]] | None = None
        for span in candidates:
            pair = Pair(text, span.text, self.scoring.day_first, self.scoring.two_digit_year_pivot)
            score, rule = decide(kind, pair)
            if best is None or score > best[0]:
                best = (score, rule, span, pair.cautions)
        assert best is not None  # noqa: S101 - there is at least one candidate
        score, rule, span, cautions = best
        matched = int(has_value and score >= self.scoring.match_threshold)
        values = self._values(name, type, text, span)
        self._add_field(
            name,
            kind,
            text,
            span.text,
            span.category,
            score,
            rule,
            (has_value, 1, matched, matched),
            values,
            cautions,
        )
        self._add_scalar_item(name, text, score)
        return score

    def _values(self, name: str, type: FieldType, text: str, span: ExpectedSpan) -> Tuple:
        if not value_kinds(name, type):
            return (None, None, None)
        curated = self.labels.values.get(span.category, ())
        expected, kind = expected_value(name, type, curated, span.text, self.scoring)
        kind = kind or value_kinds(name, type)[0]
        return (read_value(name, kind, text, self.scoring), expected, kind)

    def _add_scalar_item(self, name: str, text: str, score: float | None) -> None:
        if is_no_value(text):
            return
        matched = 0 if score is not None and score >= self.scoring.match_threshold else None
        self.result.items.append((self.name, name, 0, text, matched, score, None, None, None, None))

    def _add_field(
        self,
        name: str,
        kind: str,
        predicted: str,
        expected: str | None,
        category: str | None,
        score: float | None,
        rule: str,
        counts: tuple[int, int, int, int],
        values: Tuple = (None, None, None),
        cautions: Sequence[str] = (),
        ratios: Tuple = (None, None, None),
    ) -> None:
        ambiguous = None if score is None else self._in_band(score)
        flag = None if score is None else flag_of(score)
        self.result.fields.append(
            (
                self.name, name, kind, predicted, expected, category, score, rule, score, *ratios,
                *map(int, counts), *values, ambiguous, flag, " ".join(cautions) or None,
            )
        )  # fmt: skip

    def _score_list(self, name: str, type: FieldType) -> float | None:
        items, spans = self.lists[name], self.expected[name]
        element = type.element or "name"
        labels = [span.text for span in spans]
        partial = name in self.scoring.partial_gt_fields
        found = self._similarities(name, element, labels, items) if labels and items else None
        result = match_list(items, labels, element, partial_gt=partial, settings=self.settings, similarities=found)
        score = result.score if labels else None
        counts = (result.n_predicted, result.n_expected, result.n_matched_items, result.n_matched_labels)
        ratios = (result.precision, result.recall, result.f1) if labels else (None, None, None)
        self._add_field(
            name, str(type), _as_json(items), _as_json(labels) if labels else None, None, score,
            result.rule if labels else NOT_EXPECTED, counts, ratios=ratios,
        )  # fmt: skip
        self._add_items(name, items, result, found)
        self._add_spans(name, element, spans, result, found)
        if found is not None:
            self._add_pairs(name, found)
        return score

    def _similarities(self, name: str, element: str, labels: list[str], items: list[str]) -> Similarities:
        rows, columns = self.rows[name], self.columns[name]
        return compare_texts(self.overlap, rows, columns, labels, items, element, self.settings)

    def _add_items(self, name: str, items: list[str], result: ListScore, found: Similarities | None) -> None:
        owners: dict[int, int] = {}
        for row, match in enumerate(result.labels):
            if match.matched and match.item is not None:
                owners.setdefault(match.item, row)
        best = None if found is None else found.score.max(axis=0)
        for index, text in enumerate(items):
            label = owners.get(index)
            similarity = (
                None
                if best is None or found is None
                else float(best[index] if label is None else found.score[label, index])
            )
            self.result.items.append((self.name, name, index, text, label, similarity, None, None, None, None))

    def _add_spans(
        self,
        name: str,
        element: str,
        spans: list[ExpectedSpan],
        result: ListScore,
        found: Similarities | None,
    ) -> None:
        if not spans:
            return
        other_names, other_scores = self._other_fields(name, element, len(spans))
        nearest = _Nearest(found, len(spans))
        threshold = self.scoring.match_threshold
        for row, (span, match) in enumerate(zip(spans, result.labels, strict=True)):
            similarity = nearest.similarity[row]
            status = _status(match.matched, similarity, threshold)
            self.result.spans.append(
                (
                    self.name, name, row, span.category or None, span.text, status, match.rule, match.item,
                    nearest.item[row], similarity, similarity, nearest.coverage[row], nearest.precision[row],
                    nearest.longer_item[row], nearest.longer_coverage[row], nearest.union[row],
                    other_names[row], other_scores[row], None, None, None, None, None,
                )
            )  # fmt: skip

    def _other_fields(self, name: str, element: str, n: int) -> tuple[list[str | None], list[float | None]]:
        """Return for each label the other field with the most similar value, compared as clause text."""
        names: list[str | None] = [None] * n
        scores: list[float | None] = [None] * n
        if element != "free_text":
            return names, scores
        best = np.zeros(n)
        rows = self.rows[name]
        for other, columns in self.columns.items():
            if other == name or columns.start == columns.stop:
                continue
            score = self.overlap.f1[rows, columns].max(axis=1)
            for row in np.flatnonzero(score > best):
                names[row], scores[row] = other, float(score[row])
            best = np.maximum(best, score)
        return names, scores

    def _add_pairs(self, name: str, found: Similarities) -> None:
        keep = np.maximum(found.score, found.coverage) >= self.scoring.pair_floor
        label, item = np.nonzero(keep)
        self.result.pairs.append(
            (
                self.name, name, label.astype(np.int32), item.astype(np.int32), found.score[keep].astype(np.float32),
                found.coverage[keep].astype(np.float32), np.full(len(label), np.nan, dtype=np.float32),
            )
        )  # fmt: skip


class _Nearest:
    """The nearest item of each label, and how much of the label is covered where; None without items."""

    def __init__(self, found: Similarities | None, n: int) -> None:
        nothing: list[Any] = [None] * n
        self.item = self.similarity = self.coverage = self.precision = nothing
        self.longer_item = self.longer_coverage = self.union = nothing
        if found is None:
            return
        rows = np.arange(n)
        # Among equally similar items the one that covers more of the label is the nearest.
        item = np.argmax(found.score + 1e-9 * found.coverage, axis=1)
        self.item = item.tolist()
        self.similarity = found.score[rows, item].tolist()
        self.coverage = found.coverage[rows, item].tolist()
        self.precision = found.precision[rows, item].tolist()
        self.union = found.union_coverage.tolist()
        among_longer = np.where(found.longer, found.coverage, -1.0)
        longest = among_longer.argmax(axis=1)
        reached = among_longer[rows, longest]
        self.longer_item = [int(i) if c >= 0 else None for i, c in zip(longest, reached, strict=True)]
        self.longer_coverage = [float(c) if c >= 0 else None for c in reached]


def _status(matched: bool, similarity: float | None, threshold: float) -> str:
    if matched:
        return "matched"
    if similarity is None or similarity < NEAR:
        return "missed"
    return "taken" if similarity >= threshold else "near"


def _as_json(texts: Sequence[str]) -> str:
    return _JSON.encode(list(texts))


def _json_type(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def _wrong_type(value: Any, type: FieldType) -> tuple[str, str] | None:
    """Say what is wrong with the JSON type of a field's value, and what was expected; None when it is right."""
    if value is None:
        return None
    if not type.is_list:
        right = isinstance(value, str) or (isinstance(value, int | float) and not isinstance(value, bool))
        return None if right else (f"the value is {_json_type(value)}", "text or null")
    if not isinstance(value, list):
        return f"the value is {_json_type(value)}", "a list of texts"
    odd = [item for item in value if not isinstance(item, str)]
    return (f"an item is {_json_type(odd[0])}", "a list of texts") if odd else None
