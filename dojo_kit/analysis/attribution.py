"""Why expected spans of list fields were not found: one status and, when unmatched, one cause each.

Where a label and an item stand in the document is the witness. Similarity alone is none: most items that look near
quote another clause. Without documents the place is unknown, and what only a place can tell stays `unknown_place`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

from dojo_kit.analysis.families import count_families, short_name
from dojo_kit.analysis.span_cases import CAUSES, CONTAINED, Case, ListItems, cause_of, place_of, ranges
from dojo_kit.errors import InputError, closest
from dojo_kit.schema import clause_categories
from dojo_kit.scoring.frames import column_type
from dojo_kit.scoring.nearest import NEAR
from dojo_kit.stats.intervals import Bootstrap, Estimate
from dojo_kit.text.names import document_key
from dojo_kit.text.shapes import shape_category
from dojo_kit.text.tokens import tokens

if TYPE_CHECKING:
    import pandas as pd

    from dojo_kit.scoring.run import ScoredRun

Measure = Literal["scorer", "token_f1", "coverage"]

STATUSES = ("matched", "taken", "near", "missed")
"""What became of a span; all but the first are unmatched."""

_UNTESTABLE: Mapping[Measure, tuple[str, ...]] = {
    "scorer": (),
    "token_f1": (),
    "coverage": ("boundary", "over_quote"),
}
"""Causes a measure cannot tell."""

_CONTAINMENT_IS_COVERAGE = "with coverage as the measure, unmatched and contained would be the same test"


@dataclass(frozen=True)
class Attribution:
    """Every expected span of a scored run with what became of it and why.

    Attributes:
        spans: One row per span: ``id`` (document key, field and index), ``document``, ``field``, ``index``,
            ``category`` (labelled, else guessed by keyword shape, else the field), ``family`` (its name for tables),
            ``category_from`` (label, shape, field), ``text``, ``status`` (see `STATUSES`), ``cause`` (see
            `dojo_kit.analysis.span_cases.CAUSES`; missing when matched), ``similarity`` by the measure,
            ``string_similarity`` and ``scorer_similarity`` (rescued where the run has an embedder), ``item`` (the
            matched item, else the nearest by the measure), ``place`` (where that item stands: same place, elsewhere,
            not verbatim, label not in text, no item, unknown), ``check`` (a matched clause whose item stands
            elsewhere), ``shared_item`` (a match whose item also pays for another label), ``contained`` (at least 0.7 of
            the label's distinct tokens occur in one longer item), ``here_item`` and ``here_overlap`` (the item on the
            label's place and the share of its characters), ``label_at`` and ``located``.
        scored: The scored run.
        items: The predicted items of every list.
        measure: How spans were matched with items.
        threshold: Similarity from which a span is matched.
        has_places: Whether the documents were known.
    """

    spans: pd.DataFrame
    scored: ScoredRun
    items: ListItems
    measure: Measure
    threshold: float
    has_places: bool

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """List fields with expected spans, in the order of the schema."""
        return tuple(dict.fromkeys(self.spans["field"]))

    @property
    def untestable(self) -> Mapping[str, str]:
        """Causes that cannot be told here, and why."""
        why = {cause: "only the document can tell where items stand" for cause, c in CAUSES.items() if c.needs_place}
        by_measure = dict.fromkeys(_UNTESTABLE[self.measure], _CONTAINMENT_IS_COVERAGE)
        return by_measure if self.has_places else {**why, **by_measure}

    def of_field(self, field: str | None) -> pd.DataFrame:
        """Return the spans of one field, or all of them.

        Raises:
            InputError: The field has no expected spans.
        """
        if field is None:
            return self.spans
        if field not in self.fields:
            raise no_spans(field, self.fields)
        return self.spans[self.spans["field"] == field]

    def counts(self, field: str | None = None) -> dict[str, int]:
        """Count spans: ``n_expected`` and each of `STATUSES`, which add up to it."""
        spans = self.of_field(field)
        found = spans["status"].value_counts()
        return {"n_expected": len(spans), **{status: int(found.get(status, 0)) for status in STATUSES}}

    def causes(self, field: str | None = None) -> dict[str, int | None]:
        """Count causes, which add up to the unmatched spans; None for those that could not be told (`untestable`)."""
        found = self.of_field(field)["cause"].value_counts()
        return {
            cause: None if cause in self.untestable else int(found.get(cause, 0))
            for cause, told in CAUSES.items()
            if told.needs_place is not False or not self.has_places
        }

    def families(self, field: str | None = None) -> pd.DataFrame:
        """Count unmatched spans by category; columns as `dojo_kit.analysis.families.family_table` gives them."""
        return count_families(self.of_field(field), confidence=self.scored.recipe.confidence)

    def recall(self, field: str | None = None) -> Estimate:
        """Share of spans matched; the interval resamples documents, whose spans are not independent."""
        spans = self.of_field(field)
        matched = (spans["status"] == "matched").groupby(spans["document"].map(document_key), sort=True)
        sums = matched.agg(["sum", "size"])
        recipe = self.scored.recipe
        bootstrap = Bootstrap(recipe.n_resamples, recipe.seed, recipe.confidence)
        return bootstrap.ratio(sums["sum"], sums["size"])

    def span(self, id: str) -> dict[str, Any]:
        """Return one row of `spans`, with None where a cell is missing.

        Raises:
            InputError: There is no such span.
        """
        if id not in self._by_id:
            raise InputError(f"no span {id!r}", expected="an id of attribution.spans, like 'document:field:0'")
        return dict(self._by_id[id])

    def near(self, id: str) -> dict[int, float]:
        """Return the items like a span, most similar first, with their similarity by the measure.

        Pairs below the floor of the scored run's `pairs` are not known and left out.
        """
        span = self.span(id)
        rows = self._pairs_of.get((span["document"], span["field"], span["index"]), [])
        return dict(sorted(rows, key=lambda row: (-row[1], row[0])))

    @cached_property
    def _pairs_of(self) -> dict[tuple[str, str, int], list[tuple[int, float]]]:
        pairs = self.scored.pairs
        if self.measure == "coverage":
            similarity = pairs["coverage"].astype("float64")
        else:
            similarity = pairs["string"].astype("float64")
            if self.measure == "scorer":
                gate = pairs["string"] < self.scored.recipe.rescue_below
                rescued = pairs[["string", "cosine"]].max(axis=1).astype("float64")
                similarity = similarity.where(~gate, rescued)
        found: dict[tuple[str, str, int], list[tuple[int, float]]] = {}
        columns = (pairs[name].tolist() for name in ("document", "field", "label", "item"))
        for document, field, label, item, value in zip(*columns, similarity.tolist(), strict=True):
            found.setdefault((document, field, label), []).append((item, value))
        return found

    @cached_property
    def _by_id(self) -> dict[str, dict[str, Any]]:
        rows = self.spans.to_dict("records")
        return {row["id"]: {str(name): _known(value) for name, value in row.items()} for row in rows}


def attribute(
    scored: ScoredRun,
    *,
    field: str | None = None,
    measure: Measure = "scorer",
    threshold: float | None = None,
) -> Attribution:
    """Give every expected span of the list fields one status and, when it is not matched, one cause.

    Args:
        scored: A scored run; scored with documents, the places of labels and items are known.
        field: Only this list field.
        measure: ``scorer``: the run's own one-to-one matching. ``token_f1``: the nearest item by token F1, without
            rescue, many labels to one item; fields of clauses only. ``coverage``: the largest share of the label's
            distinct tokens, stopwords included, that one item holds, many labels to one item.
        threshold: Similarity from which a span counts as matched; the run's own by default, and the only one for
            ``scorer`` (see `dojo_kit.analysis.thresholds.sweep` for others).

    Raises:
        InputError: The field is no list field with labels, the measure is unknown or does not apply to the field,
            or the threshold cannot be used.
    """
    _check(measure, threshold, scored)
    fields = _attributed_fields(scored, measure, field)
    match_threshold = scored.recipe.match_threshold if threshold is None else threshold
    spans = scored.spans[scored.spans["field"].isin(fields)]
    nearest = _Nearest(scored, measure, match_threshold)
    items = ListItems(scored.items)
    has_places = scored.recipe.grounding
    clauses = set(_attributed_fields(scored, "token_f1", None))
    rows = []
    for span in _records(spans):
        status, similarity, item, other = nearest.of(span)
        case = Case(span, status, similarity, item, other, match_threshold, measure == "coverage")
        located, label_at = _known(span.located), ranges(span.label_at)
        place = place_of(label_at, located, None if item is None else case.item_of(items, item))
        category, source = _category(span)
        rows.append(
            (
                f"{document_key(span.document)}:{span.field}:{span.index}",
                span.document,
                span.field,
                span.index,
                category,
                short_name(category),
                source,
                span.text,
                status,
                None if status == "matched" else cause_of(case, items, has_places=has_places),
                similarity,
                span.string_similarity,
                span.best_similarity,
                item,
                place,
                status == "matched" and place == "elsewhere" and span.field in clauses,
                None if measure == "coverage" else bool(span.longer_coverage >= CONTAINED),
                span.here_item,
                span.here_overlap,
                span.label_at,
                span.located,
            )
        )
    frame = _frame(rows)
    return Attribution(frame, scored, items, measure, match_threshold, has_places)


def no_spans(field: str, known: tuple[str, ...]) -> InputError:
    """Say that a field has no expected spans, and which fields have."""
    named = ", ".join(known) or "a list field with labels, of which this run has none"
    return InputError(f"no expected spans in field {field!r}{closest(field, known)}", field="field", expected=named)


def _check(measure: str, threshold: float | None, scored: ScoredRun) -> None:
    if measure not in get_args(Measure):
        known = get_args(Measure)
        raise InputError(f"unknown measure {measure!r}{closest(measure, known)}", expected=" or ".join(known))
    if threshold is None:
        return
    if measure == "scorer" and threshold != scored.recipe.match_threshold:
        raise InputError(
            f"the run was matched at {scored.recipe.match_threshold:g}, not at {threshold:g}",
            field="threshold",
            expected="measure='token_f1' or 'coverage', sweep(...), or a run scored with another match_threshold",
        )
    if not NEAR < threshold <= 1:
        raise InputError(f"{threshold!r}", field="threshold", expected=f"a number above {NEAR} and at most 1")


def _attributed_fields(scored: ScoredRun, measure: Measure, field: str | None) -> tuple[str, ...]:
    types = scored.frame("fields", ["field", "type"]).drop_duplicates("field").set_index("field")["type"]
    known = tuple(dict.fromkeys(scored.frame("spans", ["field"])["field"]))
    of_clauses = tuple(name for name in known if types[name] == "entity_list:free_text")
    usable = of_clauses if measure == "token_f1" else known
    if field is None:
        return usable
    if field not in known:
        raise no_spans(field, known)
    if field not in usable:
        raise InputError(
            f"{field} is compared as {types[field]}, not by token F1",
            field="measure",
            expected=f"measure='scorer' or 'coverage', or one of {', '.join(of_clauses)}",
        )
    return (field,)


def _records(frame: pd.DataFrame) -> Iterator[Any]:
    return iter(frame.itertuples(index=False))


class _Nearest:
    """What became of a span by a measure."""

    def __init__(self, scored: ScoredRun, measure: Measure, threshold: float) -> None:
        self._measure = measure
        self._threshold = threshold
        self._by_words: Mapping[tuple[str, str, int], int] = {}
        if measure == "token_f1" and scored.recipe.embedder != "none":
            pairs = scored.pairs.sort_values("string", kind="stable")
            keys = zip(pairs["document"], pairs["field"], pairs["label"], strict=True)
            self._by_words = dict(zip(keys, pairs["item"].tolist(), strict=True))

    def of(self, span: Any) -> tuple[str, float | None, int | None, float | None]:
        """Return status, similarity, item, and the similarity of the best value of another field."""
        if self._measure == "scorer":
            item = _known(span.matched_item)
            return span.status, _known(span.best_similarity), _known(span.best_item) if item is None else item, (
                _known(span.other_similarity)
            )  # fmt: skip
        if self._measure == "coverage":
            found, item, other = span.best_coverage, _known(span.covering_item), _known(span.covering_field_coverage)
        else:
            item = self._by_words.get((span.document, span.field, span.index), _known(span.best_item))
            found, other = span.string_similarity, _known(span.other_similarity)
        similarity = _known(found)
        if similarity is None or not tokens(span.text):
            return "missed", similarity, item, other
        status = "matched" if similarity >= self._threshold else "near" if similarity >= NEAR else "missed"
        return status, similarity, item, other


def _known(value: Any) -> Any:
    """Return None for a missing cell of a frame."""
    import pandas as pd

    return None if value is None or value is pd.NA or value != value else value


def _category(span: Any) -> tuple[str, str]:
    if _known(span.category) is not None:
        return span.category, "label"
    guessed = shape_category(span.text, _categories(span.field))
    return (span.field, "field") if guessed is None else (guessed, "shape")


@cache
def _categories(field: str) -> frozenset[str] | None:
    """Return the categories whose labels belong to a field; None where the field is nobody's."""
    return frozenset(category.name for category in clause_categories() if category.field == field) or None


_COLUMNS = {
    "id": "str",
    "document": "str",
    "field": "str",
    "index": "int32",
    "category": "str",
    "family": "str",
    "category_from": "str",
    "text": "str",
    "status": "str",
    "cause": "str",
    "similarity": "float64",
    "string_similarity": "float64",
    "scorer_similarity": "float64",
    "item": "Int32",
    "place": "str",
    "check": "bool",
    "contained": "boolean",
    "here_item": "Int32",
    "here_overlap": "float64",
    "label_at": "str",
    "located": "str",
}


def _frame(rows: list[tuple[Any, ...]]) -> pd.DataFrame:
    import pandas as pd

    columns = zip(*rows, strict=True) if rows else ([] for _ in _COLUMNS)
    frame = pd.DataFrame(
        {
            name: pd.array(list(values), dtype=column_type(kind))
            for (name, kind), values in zip(_COLUMNS.items(), columns, strict=True)
        }
    )
    frame["shared_item"] = _shared(frame)
    return frame


def _shared(frame: pd.DataFrame) -> pd.Series:
    """Tell which matches rest on an item that also pays for a label of other words: merged clauses."""
    matched = frame[(frame["status"] == "matched") & frame["item"].notna()]
    words = matched["text"].map(lambda text: " ".join(tokens(text)))
    n = words.groupby([matched["document"], matched["field"], matched["item"]]).transform("nunique")
    return (n > 1).reindex(frame.index, fill_value=False)
