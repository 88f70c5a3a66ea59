"""A label beside the model's nearest items, with what is missing or shared marked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import traitlets

from dojo_kit.views import compare_span
from dojo_widgets import assets
from dojo_widgets.base import Precomputed, Widget

if TYPE_CHECKING:
    from dojo_kit.analysis.attribution import Attribution


class SpanCompare(Widget):
    """Show one expected span beside the three or four items that are most like it.

    Args:
        record_of: Returns the record of a span: its texts, its nearest items and the sum behind each similarity.
        ids: All spans that may be selected.
        span: Span to show first; "" selects none.

    Attributes:
        span: Id of the span shown.
        record: What is shown of it; follows `span`.
        item: Which of the record's items is compared, as a position; 0, the nearest, for every new record.

    Raises:
        ValueError: If `span` is not one of `ids`.

    Examples:
        >>> texts = {"a:clauses:0": "The fee is due.", "a:clauses:1": "Notice is given in writing."}
        >>> def record_of(span):
        ...     return {"id": span, "label": {"text": texts[span]}, "items": []}
        >>> widget = SpanCompare(record_of, ids=list(texts))
        >>> widget.span = "a:clauses:1"
        >>> widget.record["label"]["text"]
        'Notice is given in writing.'
    """

    _esm = assets.bundle("span_compare")
    _css = assets.styles("span_compare")

    record = traitlets.Dict().tag(sync=True)
    span = traitlets.Unicode().tag(sync=True)
    item = traitlets.Int(0).tag(sync=True)

    def __init__(self, record_of: Callable[[str], Mapping[str, Any]], *, ids: Sequence[str], span: str = "") -> None:
        self._record_of = record_of
        self._ids = tuple(ids)
        if span and span not in self._ids:
            raise ValueError(f"span {span!r} is none of the {len(self._ids)} ids")
        super().__init__(record=self._look_up(span), span=span)
        self.observe(self._show, names="span")

    @classmethod
    def of(cls, attribution: Attribution, field: str | None = None, *, span: str = "") -> SpanCompare:
        """Compare the spans of a scored run.

        Args:
            attribution: Spans of the run.
            field: Only this list field.
            span: Span to show first; the first unmatched one by default.
        """
        spans = attribution.of_field(field)
        lost = spans[spans["status"] != "matched"]["id"]
        first = span or next(iter(lost), "")
        return cls(lambda one: compare_span(attribution, one), ids=spans["id"].tolist(), span=first)

    def _look_up(self, span: str) -> dict[str, Any]:
        return dict(self._record_of(span)) if span else {}

    def _show(self, change: Mapping[str, Any]) -> None:
        with self.hold_sync():
            self.item = 0
            self.record = self._look_up(change["new"])

    def precomputed(self) -> tuple[Precomputed, ...]:
        """Return the record of every span, for pages without Python."""
        return (Precomputed("span", "record", {span: self._look_up(span) for span in ("", *self._ids)}),)
