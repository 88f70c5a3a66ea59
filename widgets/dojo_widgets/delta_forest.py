"""Changes from one run to another against the noise of reruns, down to the documents behind a change."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import traitlets

from dojo_kit.analysis.compare import Comparison, compare
from dojo_kit.errors import InputError, closest
from dojo_kit.views.deltas import change_rows, deltas_view
from dojo_widgets import assets
from dojo_widgets.base import Precomputed, Widget
from dojo_widgets.cell_details import fair_share

if TYPE_CHECKING:
    from dojo_kit.analysis.compare import NoiseBands
    from dojo_kit.analysis.measured import Measurable

SORTS = ("given", "change", "-change", "verdict", "-verdict", "name", "-name")

LIVE_ROWS = 2_000
"""Documents of one metric listed while Python is there."""

PAGE_ROWS = 60
"""Documents of one metric brought into a page without Python: the largest losses and the largest gains."""

PAGE_ROWS_IN_ALL = 2_000
"""Documents of all metrics together brought into such a page, in the order of the metrics."""

PAGE_CHARACTERS = 300_000
"""Characters of answers that all of them together may bring."""

_TEXTS = ("answer_a", "answer_b", "expected")
_LIVE_CHARACTERS = 20_000


class DeltaForest(Widget):
    """Show what changed from run A to run B: every metric with its interval beside the band of rerun noise.

    A row leads to the documents that changed, losses first, with both answers side by side. The axis is signed so
    that B is better at the right, whatever the direction of a metric.

    Args:
        comparison: Two compared runs.
        metric: Metric to select first; the headline by default, "" for none.
        sort: Order of the metrics within their groups: ``given``, ``change``, ``verdict`` or ``name``; with a minus
            the other way round.

    Attributes:
        data: Metrics and verdicts, see `dojo_kit.views.deltas.deltas_view`.
        metric: Name of the selected metric; "" selects none.
        detail: The documents that changed, see `dojo_kit.views.deltas.change_rows`.
        document: Key of the document that is read; "" is the first one listed.
        sort: Order of the metrics.

    Raises:
        InputError: There is no such metric or order.
    """

    _esm = assets.bundle("delta_forest")
    _css = assets.styles("delta_forest")

    data = traitlets.Dict().tag(sync=True)
    metric = traitlets.Unicode().tag(sync=True)
    detail = traitlets.Dict().tag(sync=True)
    document = traitlets.Unicode().tag(sync=True)
    sort = traitlets.Unicode("given").tag(sync=True)

    def __init__(self, comparison: Comparison, *, metric: str | None = None, sort: str = "given") -> None:
        self._comparison = comparison
        chosen = comparison.headline.info.name if metric is None else metric
        if chosen:
            comparison.metric(chosen)
        if sort not in SORTS:
            raise InputError(f"no order {sort!r}{closest(sort, SORTS)}", expected=", ".join(SORTS))
        super().__init__(data=deltas_view(comparison), metric=chosen, detail=self._detail(chosen), sort=sort)
        self.observe(self._show, names="metric")

    @classmethod
    def of(
        cls, a: Measurable, b: Measurable, *, noise: NoiseBands | None = None, allow: Collection[str] = ()
    ) -> DeltaForest:
        """Compare two runs and show what changed.

        Args:
            a: The baseline: a run or a scored run.
            b: The run held against it.
            noise: Measured rerun noise.
            allow: What may differ all the same, see `dojo_kit.analysis.comparable.ALLOW`.
        """
        return cls(compare(a, b, noise=noise, allow=allow))

    def _show(self, change: Mapping[str, Any]) -> None:
        with self.hold_trait_notifications():
            self.document = ""
            self.detail = self._detail(change["new"])

    def _detail(self, metric: str) -> dict[str, Any]:
        if metric not in self._comparison.metrics:
            return {}
        return _shortened(change_rows(self._comparison, metric, most=LIVE_ROWS), _LIVE_CHARACTERS)

    def precomputed(self) -> tuple[Precomputed, ...]:
        """Return the documents behind every metric, for pages without Python.

        A metric brings at most 60 documents, those that changed most either way, and all metrics together 2,000; long
        answers are cut so that all of them hold about 300,000 characters. What was left out says so.
        """
        left = PAGE_ROWS_IN_ALL
        found: dict[str, dict[str, Any]] = {}
        for metric in self._comparison.metrics:
            found[metric] = change_rows(self._comparison, metric, most=min(PAGE_ROWS, left))
            left -= len(found[metric]["rows"])
        rows = [row for one in found.values() for row in one["rows"]]
        sizes = [len(row[name]) for row in rows for name in _TEXTS if name in row]
        most = fair_share(sizes, PAGE_CHARACTERS)
        return (
            Precomputed("metric", "detail", {"": {}, **{name: _shortened(one, most) for name, one in found.items()}}),
        )


def _shortened(detail: Mapping[str, Any], most: int) -> dict[str, Any]:
    """Return a detail whose texts hold at most so many characters each; ``<text>_length`` tells how long it was."""
    rows = []
    for row in detail["rows"]:
        cut = {name: row[name][:most] for name in _TEXTS if len(row.get(name, "")) > most}
        rows.append({**row, **cut, **{f"{name}_length": len(row[name]) for name in cut}})
    return {**detail, "rows": rows}
