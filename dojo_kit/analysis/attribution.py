"""Why expected spans of list fields were not found: one status and, when unmatched, one cause each.

Where a label and an item stand in the document is the witness. Similarity alone is none: most items that look near
quote another clause. Without documents the place is unknown, and what only a place can tell stays `unknown_place`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_args

from dojo_kit.analysis.families import count_families
from dojo_kit.analysis.span_cases import CAUSES, ListItems
from dojo_kit.analysis.span_rows import CLAUSES, Measure, PairSimilarities, known, span_frame
from dojo_kit.errors import InputError, closest
from dojo_kit.scoring.nearest import NEAR
from dojo_kit.stats.intervals import Bootstrap, Estimate
from dojo_kit.text.names import document_key

if TYPE_CHECKING:
    import pandas as pd

    from dojo_kit.scoring.run import ScoredRun

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
        requested: The only list field attributed; None when all are.
    """

    spans: pd.DataFrame
    scored: ScoredRun
    items: ListItems
    measure: Measure
    threshold: float
    requested: str | None = None

    @property
    def has_places(self) -> bool:
        """Whether the documents were known, so that labels and items could be looked for in them."""
        return self.scored.recipe.grounding

    @cached_property
    def n_without_text(self) -> int:
        """Documents with expected spans whose text was not among the documents given."""
        if not self.has_places:
            return 0
        return int(self.spans.loc[self.spans["located"].isna(), "document"].nunique())

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """List fields with expected spans, in the order of the schema."""
        present = set(self.spans["field"])
        return tuple(name for name in _schema_order(self.scored) if name in present)

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
            if told.needs_place is not False or not self.has_places or cause in found
        }

    def commonest_cause(self, field: str | None = None) -> tuple[str, int] | None:
        """Return the most frequent cause and its count; None when nothing is unmatched."""
        counted = [(cause, n) for cause, n in self.causes(field).items() if n]
        return max(counted, key=lambda pair: pair[1], default=None)

    def doubtful(self, field: str | None = None) -> pd.DataFrame:
        """Return the spans worth a reader's time: matches to check, then unmatched spans, the most similar first."""
        spans = self.of_field(field)
        chosen = spans[spans["check"] | (spans["status"] != "matched")]
        return chosen.sort_values(["check", "similarity", "id"], ascending=[False, False, True], kind="stable")

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

    def near(self, id: str) -> Mapping[int, float]:
        """Return the items like a span, most similar first, with their similarity by the measure.

        Pairs below the floor of the scored run's `pairs` are not known and left out.
        """
        span = self.span(id)
        return self._pairs.of(span["document"], span["field"], span["index"])

    @cached_property
    def _pairs(self) -> PairSimilarities:
        return PairSimilarities(self.scored, self.measure)

    @cached_property
    def _by_id(self) -> dict[str, dict[str, Any]]:
        rows = self.spans.to_dict("records")
        return {row["id"]: {str(name): known(value) for name, value in row.items()} for row in rows}


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
    match_threshold = scored.recipe.match_threshold if threshold is None else float(threshold)
    items = ListItems(scored.items)
    spans = span_frame(scored, fields, measure, match_threshold, items)
    return Attribution(spans, scored, items, measure, match_threshold, field)


def no_spans(field: str, known: tuple[str, ...]) -> InputError:
    """Say that a field has no expected spans, and which fields have."""
    named = ", ".join(known) or "a list field with labels, of which this run has none"
    return InputError(f"no expected spans in field {field!r}{closest(str(field), known)}", expected=named)


def _check(measure: str, threshold: float | None, scored: ScoredRun) -> None:
    if measure not in get_args(Measure):
        known = get_args(Measure)
        raise InputError(f"unknown measure {measure!r}{closest(str(measure), known)}", expected=" or ".join(known))
    if threshold is None:
        return
    if isinstance(threshold, bool) or not isinstance(threshold, int | float):
        raise InputError(f"{threshold!r} is no number", field="threshold", expected="a number such as 0.6")
    if measure == "scorer" and threshold != scored.recipe.match_threshold:
        raise InputError(
            f"the run was matched at {scored.recipe.match_threshold:g}, not at {threshold:g}",
            field="threshold",
            expected="measure='token_f1' or 'coverage', sweep(...), or a run scored with another match_threshold",
        )
    if not NEAR < threshold <= 1:
        raise InputError(f"{threshold!r}", field="threshold", expected=f"a number above {NEAR} and at most 1")


def _schema_order(scored: ScoredRun) -> dict[str, str]:
    """Return the type of every field, in the order of the schema, which is that of every document's rows."""
    fields = scored.frame("fields", ["field", "type"])
    return dict(zip(fields["field"], fields["type"], strict=True))


def _attributed_fields(scored: ScoredRun, measure: Measure, field: str | None) -> tuple[str, ...]:
    types = _schema_order(scored)
    present = set(scored.frame("spans", ["field"])["field"])
    known = tuple(name for name in types if name in present)
    of_clauses = tuple(name for name in known if types[name] == CLAUSES)
    usable = of_clauses if measure == "token_f1" else known
    if field is None:
        return usable
    if field not in known:
        raise no_spans(field, known)
    if field not in usable:
        raise InputError(
            f"{field} is compared as {types[field]}, not by token F1",
            field="measure",
            expected="measure='scorer' or 'coverage'" + (f", or {' or '.join(of_clauses)}" if of_clauses else ""),
        )
    return (field,)
