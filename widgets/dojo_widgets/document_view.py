"""The text of a document with its labels and items, and a ruler over the whole of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import traitlets

from dojo_kit.views import contract_view
from dojo_widgets import assets
from dojo_widgets.base import Precomputed, Widget

if TYPE_CHECKING:
    from dojo_kit.analysis.attribution import Attribution
    from dojo_kit.records import Documents


class DocumentView(Widget):
    """Show where a span stands in its document, among all other labels and items.

    Args:
        view_of: Returns the view of a span: the text of its document, whole or as a window, and all places in it.
        ids: All spans that may be selected.
        span: Span to show first; "" selects none.

    Attributes:
        span: Id of the span shown.
        view: What is shown of its document; follows `span`.
        opened: Whether the text takes 440 pixels instead of 212.
        highlight: Highlight last gone to, as its position in reading order; -1 is the label of the span.

    Raises:
        ValueError: If `span` is not one of `ids`.

    Examples:
        >>> text = "1. Fees. The fee is due."
        >>> places = {"a:clauses:0": [9, 24]}
        >>> def view_of(span):
        ...     return {"span": span, "text": text, "label": {"at": [places[span]]}}
        >>> widget = DocumentView(view_of, ids=list(places))
        >>> widget.span = "a:clauses:0"
        >>> widget.view["label"]
        {'at': [[9, 24]]}
    """

    _esm = assets.bundle("document_view")
    _css = assets.styles("document_view")

    view = traitlets.Dict().tag(sync=True)
    span = traitlets.Unicode().tag(sync=True)
    opened = traitlets.Bool(False).tag(sync=True)
    highlight = traitlets.Int(-1).tag(sync=True)

    def __init__(self, view_of: Callable[[str], Mapping[str, Any]], *, ids: Sequence[str], span: str = "") -> None:
        self._view_of = view_of
        self._ids = tuple(ids)
        if span and span not in self._ids:
            raise ValueError(f"span {span!r} is none of the {len(self._ids)} ids")
        super().__init__(view=self._look_up(span), span=span)
        self.observe(self._show, names="span")

    @classmethod
    def of(
        cls,
        attribution: Attribution,
        documents: Documents,
        field: str | None = None,
        *,
        span: str = "",
        window: int | None = None,
    ) -> DocumentView:
        """Show the documents of a scored run.

        Args:
            attribution: Spans of the run.
            documents: Texts, as the run was scored with.
            field: Only this list field.
            span: Span to show first; the first unmatched one by default.
            window: Characters to keep before and after a span; the whole text by default.
        """
        spans = attribution.of_field(field)
        lost = spans[spans["status"] != "matched"]["id"]
        return cls(
            lambda one: contract_view(attribution, one, documents, window=window),
            ids=spans["id"].tolist(),
            span=span or next(iter(lost), ""),
        )

    def _look_up(self, span: str) -> dict[str, Any]:
        return dict(self._view_of(span)) if span else {}

    def _show(self, change: Mapping[str, Any]) -> None:
        with self.hold_sync():
            self.highlight = -1
            self.view = self._look_up(change["new"])

    def precomputed(self) -> tuple[Precomputed, ...]:
        """Return the view of every span, for pages without Python."""
        return (Precomputed("span", "view", {span: self._look_up(span) for span in ("", *self._ids)}),)
