"""One row per expected span with what became of it: the frame of an attribution."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from dojo_kit.analysis.families import short_name
from dojo_kit.analysis.span_cases import CONTAINED, SAME_PLACE, Case, ListItems, cause_of, place_of, ranges
from dojo_kit.schema import clause_categories
from dojo_kit.scoring.frames import column_type
from dojo_kit.scoring.nearest import NEAR
from dojo_kit.text.names import document_key
from dojo_kit.text.shapes import shape_category
from dojo_kit.text.tokens import tokens

if TYPE_CHECKING:
    import pandas as pd

    from dojo_kit.scoring.run import ScoredRun

Measure = Literal["scorer", "token_f1", "coverage"]

CLAUSES = "entity_list:free_text"
"""Type of the list fields whose items are clauses."""


@dataclass(frozen=True, slots=True)
class SpanRow:
    """What became of one span; `dojo_kit.analysis.attribution.Attribution` says what the columns mean."""

    id: str
    document: str
    field: str
    index: int
    category: str
    family: str
    category_from: str
    text: str
    status: str
    cause: str | None
    similarity: float | None
    string_similarity: float | None
    scorer_similarity: float | None
    item: int | None
    place: str
    check: bool
    contained: bool | None
    here_item: int | None
    here_overlap: float | None
    label_at: str | None
    label_in_pieces: bool
    located: str | None


_KINDS = {
    "str": "str",
    "str | None": "str",
    "int": "int32",
    "int | None": "Int32",
    "float | None": "float64",
    "bool": "bool",
    "bool | None": "boolean",
}
"""Type of a column in `SpanRow` -> its kind in a frame."""


class PairSimilarities:
    """Similarity of the items of a list to each label, by a measure, as far as the scored run kept the pairs.

    Args:
        scored: A scored run.
        measure: ``scorer`` is rescued where the run has an embedder.
    """

    def __init__(self, scored: ScoredRun, measure: Measure) -> None:
        pairs = scored.pairs
        if measure == "coverage":
            similarity = pairs["coverage"]
        elif measure == "token_f1":
            similarity = pairs["string"]
        else:  # a cosine is there only where it may rescue
            similarity = pairs[["string", "cosine"]].max(axis=1)
        self._found: dict[tuple[str, str, int], dict[int, float]] = {}
        columns = (pairs[name].tolist() for name in ("document", "field", "label", "item"))
        for document, field, label, item, value in zip(*columns, similarity.tolist(), strict=True):
            self._found.setdefault((document, field, label), {})[item] = value

    def of(self, document: str, field: str, label: int) -> Mapping[int, float]:
        """Return the similarity of each item to a label, the most similar first."""
        found = self._found.get((document, field, label), {})
        return dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0])))


def span_frame(
    scored: ScoredRun, names: tuple[str, ...], measure: Measure, threshold: float, items: ListItems
) -> pd.DataFrame:
    """Return one row per expected span, with the columns of `SpanRow` and ``shared_item``.

    Args:
        scored: A scored run.
        names: The list fields wanted.
        measure: How spans are matched with items.
        threshold: Similarity from which a span is matched.
        items: The items of the run.
    """
    import pandas as pd

    types = dict(zip(*(scored.fields[column] for column in ("field", "type")), strict=True))
    maker = _RowMaker(PairSimilarities(scored, measure), measure, threshold, items, types)
    spans = scored.spans[scored.spans["field"].isin(names)]
    rows = [astuple(maker.row(span)) for span in spans.itertuples(index=False)]
    columns = zip(*rows, strict=True) if rows else ([] for _ in fields(SpanRow))
    frame = pd.DataFrame(
        {
            field.name: pd.array(list(values), dtype=column_type(_KINDS[str(field.type)]))
            for field, values in zip(fields(SpanRow), columns, strict=True)
        }
    )
    frame["shared_item"] = _shared(frame)
    return frame


def known(value: Any) -> Any:
    """Return None for a missing cell of a frame."""
    import pandas as pd

    return None if value is None or value is pd.NA or value != value else value


class _RowMaker:
    def __init__(
        self,
        pairs: PairSimilarities,
        measure: Measure,
        threshold: float,
        items: ListItems,
        types: Mapping[str, str],
    ) -> None:
        self._pairs = pairs
        self._measure = measure
        self._threshold = threshold
        self._items = items
        self._types = types

    def row(self, span: Any) -> SpanRow:
        """Return the row of one span of the spans frame."""
        case = self._case(span)
        category, source = _category(span, self._types[span.field])
        cause = None if case.status == "matched" else cause_of(case, self._items)
        item = None if case.item is None else case.item_of(self._items, case.item)
        place = place_of(ranges(span.label_at), known(span.located), item)
        return SpanRow(
            id=f"{document_key(span.document)}:{span.field}:{span.index}",
            document=span.document,
            field=span.field,
            index=int(span.index),
            category=category,
            family=short_name(category),
            category_from=source,
            text=span.text,
            status=case.status,
            cause=cause,
            similarity=case.similarity,
            string_similarity=known(span.string_similarity),
            scorer_similarity=known(span.best_similarity),
            item=case.item,
            place="same place" if cause in SAME_PLACE else place,
            check=case.status == "matched" and place == "elsewhere" and self._is_doubtful(span),
            contained=None if case.by_coverage else bool((known(span.longer_coverage) or 0.0) >= CONTAINED),
            here_item=known(span.here_item),
            here_overlap=known(span.here_overlap),
            label_at=known(span.label_at),
            label_in_pieces=known(span.label_in_pieces) is True,
            located=known(span.located),
        )

    def _case(self, span: Any) -> Case:
        by_coverage = self._measure == "coverage"
        if self._measure == "scorer":
            matched, nearest = known(span.matched_item), known(span.best_item)
            item = nearest if matched is None else matched
            similarity = known(span.best_similarity if span.status != "matched" else span.matched_similarity)
            status = span.status
        else:
            item, similarity = self._nearest(span)
            status = "missed" if similarity is None or not tokens(span.text) else self._status(similarity)
        other = known(span.covering_field_coverage if by_coverage else span.other_similarity)
        return Case(span, status, similarity, item, other, self._threshold, by_coverage)

    def _nearest(self, span: Any) -> tuple[int | None, float | None]:
        if self._measure == "coverage":
            return known(span.covering_item), known(span.best_coverage)
        similarity = known(span.string_similarity)
        by_words = self._pairs.of(span.document, span.field, span.index)
        return next(iter(by_words), known(span.best_item)), similarity

    def _status(self, similarity: float) -> str:
        if similarity >= self._threshold:
            return "matched"
        return "near" if similarity >= NEAR else "missed"

    def _is_doubtful(self, span: Any) -> bool:
        """Tell whether a match that stands elsewhere is to be checked.

        Names may stand anywhere, and where an item on the label's own place would do as well, the match is right.
        """
        if self._types[span.field] != CLAUSES:
            return False
        here = known(span.here_item)
        by_item = self._pairs.of(span.document, span.field, span.index)
        return here is None or by_item.get(here, 0.0) < self._threshold


def _category(span: Any, kind: str) -> tuple[str, str]:
    """Return a span's category and where it comes from: its label, its words, or nothing but the field."""
    if known(span.category) is not None:
        return span.category, "label"
    among = _categories(span.field)
    guessed = shape_category(span.text, among) if kind == CLAUSES and len(among) > 1 else None
    return (span.field, "field") if guessed is None else (guessed, "shape")


@cache
def _categories(field: str) -> frozenset[str]:
    """Return the categories whose labels belong to a field."""
    return frozenset(category.name for category in clause_categories() if category.field == field)


def _shared(frame: pd.DataFrame) -> pd.Series:
    """Tell which matches rest on an item that also pays for a label of other words: merged clauses."""
    matched = frame[(frame["status"] == "matched") & frame["item"].notna()]
    words = matched["text"].map(lambda text: " ".join(tokens(text)))
    n = words.groupby([matched["document"], matched["field"], matched["item"]]).transform("nunique")
    return (n > 1).reindex(frame.index, fill_value=False)
