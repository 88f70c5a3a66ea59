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
from dojo_kit.schema import FieldType, clause_categories
from dojo_kit.scoring.answer import Answer, read_answer
from dojo_kit.scoring.embedding import RESCUE, may_rescue, rescue
from dojo_kit.scoring.evidence import Evidence, TextCollector
from dojo_kit.scoring.fields import flag_of
from dojo_kit.scoring.frames import COLUMNS
from dojo_kit.scoring.lists import BLANK, LabelMatch, ListScore, match_list
from dojo_kit.scoring.nearest import ListPlaces, Nearest, span_status
from dojo_kit.scoring.overlap import TokenOverlap
from dojo_kit.scoring.rules import Pair, decide
from dojo_kit.scoring.similarity import Similarities, compare_texts, rescued
from dojo_kit.scoring.spans import CategoryPresence, category_presence, trace_categories
from dojo_kit.scoring.values import expected_value, read_value, value_kinds
from dojo_kit.settings import Settings, resolve
from dojo_kit.text.dates import is_null_date_label
from dojo_kit.text.tokens import is_no_value, tokens

SpansMode = Literal["first", "all"]
Tuple = tuple[Any, ...]
HowRun = tuple[int | None, bool | None, int | None]

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

    def records(self, frame: Literal["documents", "fields", "items", "spans"]) -> list[dict[str, Any]]:
        """Return the rows of one frame as column -> value."""
        rows = [self.document] if frame == "documents" else getattr(self, frame)
        return [dict(zip(COLUMNS[frame], row, strict=True)) for row in rows]


def score_document(
    predicted: Any,
    labels: DocumentLabels,
    types: Mapping[str, FieldType] | None = None,
    *,
    document: str | None = None,
    settings: Settings | None = None,
    spans: SpansMode = "all",
    evidence: Evidence | None = None,
    how_run: HowRun = (None, None, None),
) -> DocumentScore:
    """Score a model's answer for one document against its labels.

    Args:
        predicted: The decoded answer; anything but an object scores as an empty one.
        labels: What is expected.
        types: Field name -> type, for every field of the class; those of a contract by default.
        document: Name used in the frames; the labels' own by default.
        settings: Settings; the current ones by default.
        spans: ``all`` labelled spans, or only the ``first`` of each category.
        evidence: The document's text and vectors, where there are any.
        how_run: Tokens of the call, whether the document was cut, and into how many chunks; passed through.

    Examples:
        >>> labels = DocumentLabels("a", {"document_name": (ExpectedSpan("Lease Agreement"),)})
        >>> scored = score_document({"document_name": "LEASE AGREEMENT"}, labels)
        >>> [(row["field"], row["rule"]) for row in scored.records("fields") if row["score"]]
        [('document_name', 'name.identical')]
    """
    settings, name = resolve(settings), labels.document if document is None else document
    types = settings.document_class("contract").fields if types is None else types
    answer = read_answer(predicted, types, document=name)
    scorer = _DocumentScorer(name, answer, labels, types, spans, settings, evidence or Evidence(settings))
    return scorer.score(how_run)


def texts_to_embed(
    predicted: Any, labels: DocumentLabels, types: Mapping[str, FieldType], *, settings: Settings, spans: SpansMode
) -> set[str]:
    """Return the texts whose vectors `score_document` will ask for: those of pairs that words alone do not settle.

    Args:
        predicted: The decoded answer.
        labels: What is expected.
        types: Field name -> type.
        settings: Settings.
        spans: Spans mode.
    """
    collector = TextCollector(settings)
    score_document(predicted, labels, types, document="", settings=settings, spans=spans, evidence=collector)
    return collector.texts


def expected_spans(labels: DocumentLabels, name: str, *, mode: SpansMode, is_list: bool) -> list[ExpectedSpan]:
    """Return the labels of a field that count in a spans mode.

    ``first`` keeps the first listed span of each category (labels without a category all count), and for a scalar
    only the first category that has one, in CUAD's column order. ``all`` keeps every span; for a scalar each is an
    acceptable answer.
    """
    found = [span for span in labels.fields.get(name, ()) if not is_no_value(span.text)]
    if mode == "all":
        return found
    first = {span.category: span for span in reversed(found)}
    kept = [span for span in found if not span.category or first[span.category] is span]
    if is_list or len(kept) < 2:
        return kept
    order = {category.name: category.order for category in clause_categories()}
    return [min(kept, key=lambda span: order.get(span.category, len(order)))]


@dataclass(frozen=True, slots=True)
class _Judgement:
    score: float
    rule: str
    string_score: float
    cautions: tuple[str, ...]


class _DocumentScorer:
    """Scores the fields of one answer; every row goes into ``result``."""

    def __init__(
        self,
        document: str,
        answer: Answer,
        labels: DocumentLabels,
        types: Mapping[str, FieldType],
        mode: SpansMode,
        settings: Settings,
        evidence: Evidence,
    ) -> None:
        self.name = document
        self.answer = answer
        self.labels = labels
        self.types = types
        self.settings = settings
        self.scoring = settings.field_scoring
        self.evidence = evidence
        self.expected = {
            name: expected_spans(labels, name, mode=mode, is_list=type.is_list) for name, type in types.items()
        }
        self.result = DocumentScore((), problems=list(answer.problems))
        self.truth: list[float] = []
        self.tag = trace_categories(answer.raw)

    def score(self, how_run: HowRun) -> DocumentScore:
        self._compare_words()
        presence = self._category_presence()
        self.present = {cover.category: cover.present for cover in presence.categories}
        scores, populated = [], []
        for name, type in self.types.items():
            score = self._score_list(name, type) if type.is_list else self._score_scalar(name, type)
            if score is not None:
                scores.append(score)
                populated.append(self.answer.has_value(name))
        self.result.document = (
            self.name,
            "scored" if scores else "nothing_expected",
            _mean(scores),
            _mean(populated),
            float(not self.answer.problems),
            _mean(self.truth),
            presence.share if scores else None,
            any(map(self._in_band, scores)) if scores else None,
            len(scores),
            None,
            *how_run,
        )
        return self.result

    def _in_band(self, score: float) -> bool:
        low, high = self.scoring.ambiguous_band
        return low <= score <= high

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
                values = self.answer.lists[name]
            elif type.kind in ("free_text", "name") and self.answer.scalars[name]:
                values = [self.answer.scalars[name]]
            else:
                continue
            self.columns[name] = slice(len(items), len(items) + len(values))
            items.extend(values)
        self.overlap = TokenOverlap([tokens(text) for text in labels], [tokens(text) for text in items])

    def _category_presence(self) -> CategoryPresence:
        clauses = {name: self.expected[name] for name, type in self.types.items() if type.element == "free_text"}
        return category_presence(
            clauses,
            self.answer.raw,
            coverage_threshold=self.scoring.coverage_threshold,
            presence_threshold=self.scoring.presence_threshold,
            similarity=self.evidence.cosine if self.evidence.has_vectors else None,
        )

    def _score_scalar(self, name: str, type: FieldType) -> float | None:
        text, candidates = self.answer.scalars[name], self.expected[name]
        kind = "containment" if name in self.scoring.containment_fields else type.kind
        has_value = self.answer.has_value(name)
        if not candidates:
            self._add_field(name, kind, text, None, None, None, NOT_EXPECTED, (has_value, 0, 0, 0))
            self._add_scalar_item(name, kind, text, None)
            return None
        if kind == "date" and len(candidates) > 1:
            # A blank template is no date to be right about where another label holds one.
            candidates = [span for span in candidates if not is_null_date_label(span.text)] or candidates
        judged = [self._judge(kind, text, span.text) for span in candidates]
        best = max(range(len(judged)), key=lambda index: judged[index].score)
        found, span = judged[best], candidates[best]
        string_score = max(one.string_score for one in judged)
        matched = int(has_value and found.score >= self.scoring.match_threshold)
        counts = (has_value, 1, matched, matched)
        values = self._values(name, type, text, span)
        self._add_field(
            name, kind, text, span.text, span.category, found.score, found.rule, counts, values, found.cautions,
            string_score=string_score,
        )  # fmt: skip
        self._add_scalar_item(name, kind, text, found.score)
        return found.score

    def _judge(self, kind: str, text: str, label: str) -> _Judgement:
        pair = Pair(text, label, self.scoring.day_first, self.scoring.two_digit_year_pivot)
        score, rule = decide(kind, pair)
        below = self.scoring.embedding_rescue_below
        if score < below and self.evidence.has_vectors and may_rescue(kind, rule):
            lifted = rescue(score, self.evidence.cosine(label, text), below=below)
            if lifted > score:
                return _Judgement(lifted, RESCUE, score, pair.cautions)
        return _Judgement(score, rule, score, pair.cautions)

    def _values(self, name: str, type: FieldType, text: str, span: ExpectedSpan) -> Tuple:
        if not value_kinds(name, type):
            return (None, None, None)
        curated = self.labels.values.get(span.category, ())
        expected, kind = expected_value(name, type, curated, span.text, self.scoring)
        kind = kind or value_kinds(name, type)[0]
        return (read_value(name, kind, text, self.scoring), expected, kind)

    def _add_scalar_item(self, name: str, kind: str, text: str, score: float | None) -> None:
        if is_no_value(text):
            return
        matches = score is not None and score >= self.scoring.match_threshold
        # A day near the right one is partly right, and still a day the document may not state.
        true = matches and (kind != "date" or score == 1.0)
        self._add_item(name, kind, 0, text, 0 if matches else None, score, true)

    def _add_item(
        self,
        name: str,
        kind: str,
        index: int,
        text: str,
        label: int | None,
        similarity: float | None,
        matches: bool,
        at: tuple[str | None, str | None, bool | None] = (None, None, None),
    ) -> bool | None:
        """Add an item, checked against the document; return whether it is true, None without a document."""
        found = self.evidence.ground(text, kind)
        true = None if found is None else matches or found.grounded
        grounded = (None, None) if found is None else (found.grounded, found.grounded_bag)
        row = (self.name, name, index, text, label, similarity, self.tag(text), *grounded, true, *at)
        self.result.items.append(row)
        if not self.types[name].is_list and true is not None:
            self.truth.append(float(true))
        return true

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
        *,
        string_score: float | None = None,
    ) -> None:
        ambiguous = None if score is None else self._in_band(score)
        flag = None if score is None else flag_of(score)
        self.result.fields.append(
            (
                self.name, name, kind, predicted, expected, category, score, rule, string_score, *ratios,
                *map(int, counts), *values, ambiguous, flag, " ".join(cautions) or None,
            )
        )  # fmt: skip

    def _score_list(self, name: str, type: FieldType) -> float | None:
        items, spans = self.answer.lists[name], self.expected[name]
        element = type.element or "name"
        labels = [span.text for span in spans]
        found = self._similarities(name, element, labels, items) if labels and items else None
        result = self._match(name, element, items, labels, found)
        string_result = result
        if found is not None and found.cosine is not None:
            string_result = self._match(name, element, items, labels, found.unrescued)
        counts = (result.n_predicted, result.n_expected, result.n_matched_items, result.n_matched_labels)
        ratios = (result.precision, result.recall, result.f1) if labels else (None, None, None)
        score = result.score if labels else None
        self._add_field(
            name, str(type), _as_json(items), _as_json(labels) if labels else None, None, score,
            result.rule if labels else NOT_EXPECTED, counts, ratios=ratios,
            string_score=string_result.score if labels else None,
        )  # fmt: skip
        places = ListPlaces(items, self.evidence) if labels else None
        self._add_items(name, element, items, result, found, places)
        if places is not None:
            self._add_spans(name, element, spans, result, found, places)
        if found is not None:
            self._add_pairs(name, found)
        return score

    def _similarities(self, name: str, element: str, labels: list[str], items: list[str]) -> Similarities:
        rows, columns = self.rows[name], self.columns[name]
        found = compare_texts(self.overlap, rows, columns, labels, items, element, self.settings)
        return rescued(found, labels, items, element, self.evidence, below=self.scoring.embedding_rescue_below)

    def _match(
        self, name: str, element: str, items: list[str], labels: list[str], found: Similarities | None
    ) -> ListScore:
        partial = name in self.scoring.partial_gt_fields
        return match_list(items, labels, element, partial_gt=partial, settings=self.settings, similarities=found)

    def _add_items(
        self,
        name: str,
        element: str,
        items: list[str],
        result: ListScore,
        found: Similarities | None,
        places: ListPlaces | None,
    ) -> None:
        owners: dict[int, int] = {}
        for row, match in enumerate(result.labels):
            if match.matched and match.item is not None:
                owners.setdefault(match.item, row)
        best = [None] * len(items) if found is None else found.score.max(axis=0).tolist()
        true = []
        for index, text in enumerate(items):
            label = owners.get(index)
            similarity = best[index] if label is None or found is None else float(found.score[label, index])
            matches = label is not None or (best[index] or 0.0) >= self.scoring.match_threshold
            at = (None, None, None) if places is None else places.item(index)
            true.append(self._add_item(name, element, index, text, label, similarity, matches, at))
        if true and self.evidence.index is not None:
            self.truth.append(sum(map(bool, true)) / len(true))

    def _add_spans(
        self,
        name: str,
        element: str,
        spans: list[ExpectedSpan],
        result: ListScore,
        found: Similarities | None,
        places: ListPlaces,
    ) -> None:
        others = self._other_fields(name, element, len(spans))
        nearest = Nearest(found, len(spans))
        for row, (span, match) in enumerate(zip(spans, result.labels, strict=True)):
            similarity, item = nearest.similarity[row], nearest.item[row]
            placed = match.item if match.item is not None else item
            self.result.spans.append(
                (
                    self.name, name, row, span.category or None, span.text,
                    self._status(match, similarity), match.rule, match.item,
                    match.similarity if match.matched else None, item, similarity,
                    nearest.string[row], nearest.coverage[row], nearest.precision[row],
                    nearest.longer_item[row], nearest.longer_coverage[row], nearest.union[row],
                    nearest.covering_item[row], nearest.best_coverage[row], *others[row],
                    *places.of_label(span.text, placed), self.present.get(span.category),
                )
            )  # fmt: skip

    def _status(self, match: LabelMatch, similarity: float | None) -> str:
        # Nothing is like a blank label, whatever two empty lists of words have in common.
        return span_status(match.matched, None if match.rule == BLANK else similarity, self.scoring.match_threshold)

    def _other_fields(self, name: str, element: str, n: int) -> list[Tuple]:
        """Return for each label the field whose value is most like it, and the one that covers it most, with how much.

        Only clauses are looked for in other fields, for a short name may stand in any of them; and not in the fields
        of a single name, such as the title of the document, which many a clause repeats.
        """
        found: list[Tuple] = [(None, None, None, None)] * n
        if element != "free_text":
            return found
        rows = self.rows[name]
        for other, columns in self.columns.items():
            if other == name or columns.start == columns.stop or str(self.types[other]) == "name":
                continue
            likeness = self.overlap.f1[rows, columns].max(axis=1).tolist()
            coverage = self.overlap.coverage[rows, columns].max(axis=1).tolist()
            for row in range(n):
                like, like_at, cover, cover_at = found[row]
                if likeness[row] > (like_at or 0.0):
                    like, like_at = other, likeness[row]
                if coverage[row] > (cover_at or 0.0):
                    cover, cover_at = other, coverage[row]
                found[row] = (like, like_at, cover, cover_at)
        return found

    def _add_pairs(self, name: str, found: Similarities) -> None:
        keep = np.maximum(found.score, found.coverage) >= self.scoring.pair_floor
        label, item = np.nonzero(keep)
        cosine = np.full(len(label), np.nan) if found.cosine is None else found.cosine[keep]
        self.result.pairs.append(
            (
                self.name, name, label.astype(np.int32), item.astype(np.int32), found.string[keep].astype(np.float32),
                found.coverage[keep].astype(np.float32), cosine.astype(np.float32),
            )
        )  # fmt: skip


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _as_json(texts: Sequence[str]) -> str:
    return _JSON.encode(list(texts))
