"""The whole loop, from families down to a span in its contract, in one widget."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import traitlets

from dojo_kit.runs.annotations import VERDICTS, Annotation, annotation_recipe
from dojo_kit.scoring.run import Recipe
from dojo_kit.views import compare_span, contract_view, miss_table
from dojo_widgets import assets
from dojo_widgets.base import Precomputed
from dojo_widgets.miss_table import MissTable

if TYPE_CHECKING:
    from dojo_kit.analysis.attribution import Attribution
    from dojo_kit.records import Documents

Look = Callable[[str], Mapping[str, Any]]


class MissExplorer(MissTable):
    """Show families and spans, the selected span beside its nearest items, and the same span in its contract.

    Args:
        table: Families and spans, as `dojo_kit.views.miss_table` returns them.
        record_of: Returns the record of a span, as `dojo_kit.views.compare_span` makes it.
        view_of: Returns the view of a span's document, as `dojo_kit.views.contract_view` makes it; without it the
            contract cannot be shown.
        ids: Spans a page without Python can open; all spans of the table by default.
        judgements: Judgements to start with, as the attribute.
        who: The person who judges; goes into every record.
        recipe: How the run was scored: ``ScoredRun.recipe``, or what `annotation_recipe` returns.
        family: Category to select; "" shows all families.
        cause: Cause to show; "" shows all causes.
        show: Spans listed: ``missed``, ``matched``, or ``check`` for matches that stand elsewhere in their document.
        span: Span to select; "" selects the most similar missed span of the family missed most.
        sort: Order of the spans.
        family_sort: Order of the families.

    Attributes:
        record: The selected span beside its nearest items; follows `span`.
        view: The selected span in its document; follows `span`.
        item: Which of the record's items is compared, as a position; 0, the nearest, for every new record.
        highlight: Highlight of the document last gone to; -1 is the label of the span.
        opened: Whether the contract is shown instead of the comparison.
        judgements: Id of a span -> ``verdict`` ("" with a note only) and ``note``.
        who: The person who judges.
        recipe: How the run was scored.

    Raises:
        traitlets.TraitError: As for `MissTable`, or a judgement is of no span of the table or has no known verdict.
    """

    _esm = assets.bundle("miss_explorer")
    _css = assets.styles("miss_table", "span_compare", "document_view", "miss_explorer")

    record = traitlets.Dict().tag(sync=True)
    view = traitlets.Dict().tag(sync=True)
    item = traitlets.Int(0).tag(sync=True)
    highlight = traitlets.Int(-1).tag(sync=True)
    opened = traitlets.Bool(False).tag(sync=True)
    judgements = traitlets.Dict().tag(sync=True)
    who = traitlets.Unicode().tag(sync=True)
    recipe = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        table: Mapping[str, Any],
        *,
        record_of: Look,
        view_of: Look | None = None,
        ids: Iterable[str] | None = None,
        judgements: Mapping[str, Mapping[str, str]] | None = None,
        who: str = "reader",
        recipe: Recipe | Mapping[str, Any] | None = None,
        family: str = "",
        cause: str = "",
        show: str = "missed",
        span: str = "",
        sort: str = "similarity:desc",
        family_sort: str = "count:desc",
    ) -> None:
        self._record_of = record_of
        self._view_of = view_of
        super().__init__(table, family=family, cause=cause, show=show, span=span, sort=sort, family_sort=family_sort)
        self._ids = tuple(self._spans if ids is None else ids)
        if unknown := [one for one in self._ids if one not in self._spans]:
            raise traitlets.TraitError(f"ids: no span {unknown[0]!r} in this table")
        self.who = who
        self.recipe = annotation_recipe(recipe) if isinstance(recipe, Recipe) else dict(recipe or {})
        self.judgements = dict(judgements or {})
        self._open({"new": self.span})
        self.observe(self._open, names="span")

    @classmethod
    def of(
        cls,
        attribution: Attribution,
        field: str,
        *,
        documents: Documents | None = None,
        window: int | None = None,
        ids: Iterable[str] | None = None,
        judgements: Mapping[str, Mapping[str, str]] | None = None,
        who: str = "reader",
        family: str = "",
        cause: str = "",
        span: str = "",
    ) -> MissExplorer:
        """Explore the misses of one list field of a scored run.

        Args:
            attribution: Spans of the run.
            field: The field.
            documents: Texts, as the run was scored with; without them contracts cannot be shown.
            window: Characters of a contract to keep before and after a span; the whole text by default.
            ids: Spans a page without Python can open; all spans by default.
            judgements: Judgements to start with.
            who: The person who judges.
            family: Category to select; "" shows all families.
            cause: Cause to show; "" shows all causes.
            span: Span to select.
        """
        view_of = None
        if documents is not None:
            texts = documents

            def view_of(span: str) -> Mapping[str, Any]:
                return contract_view(attribution, span, texts, window=window)

        return cls(
            miss_table(attribution, field),
            record_of=lambda span: compare_span(attribution, span),
            view_of=view_of,
            ids=ids,
            judgements=judgements,
            who=who,
            recipe=attribution.scored.recipe,
            family=family,
            cause=cause,
            span=span,
        )

    @property
    def annotations(self) -> list[Annotation]:
        """The judgements as records, in the order of the table; `save_annotations` keeps them."""
        return [
            self._annotation(span, self.judgements[span["id"]])
            for span in self.data["spans"]
            if span["id"] in self.judgements
        ]

    def precomputed(self) -> tuple[Precomputed, ...]:
        """Return the record and the view of every span, for pages without Python."""
        ids = ("", *self._ids)
        records = Precomputed("span", "record", {span: self._look(self._record_of, span) for span in ids})
        if self._view_of is None:
            return (records,)
        return (records, Precomputed("span", "view", {span: self._look(self._view_of, span) for span in ids}))

    @traitlets.validate("judgements")
    def _valid_judgements(self, proposal: Mapping[str, Any]) -> dict[str, Any]:
        judgements: dict[str, Any] = proposal["value"]
        spans = self._spans
        for span, judgement in judgements.items():
            if span not in spans:
                raise traitlets.TraitError(f"judgement of {span!r}, which is no span of this table")
            if judgement.get("verdict", "") not in ("", *VERDICTS):
                raise traitlets.TraitError(
                    f"verdict of {span!r} is {judgement['verdict']!r}; it can be {', '.join(VERDICTS)}, or empty"
                )
        return judgements

    def _open(self, change: Mapping[str, Any]) -> None:
        with self.hold_sync():
            self.item, self.highlight = 0, -1
            self.record = self._look(self._record_of, change["new"])
            self.view = {} if self._view_of is None else self._look(self._view_of, change["new"])

    @staticmethod
    def _look(look: Look, span: str) -> dict[str, Any]:
        return dict(look(span)) if span else {}

    def _annotation(self, span: Mapping[str, Any], judgement: Mapping[str, Any]) -> Annotation:
        return Annotation(
            span["id"],
            self.data["documents"][span["document"]]["name"],
            self.data["field"],
            span["category"],
            self._look(self._record_of, span["id"])["label"]["text"],
            judgement.get("verdict") or None,
            judgement.get("note", ""),
            self.who,
            recipe=self.recipe,
        )
