"""How far reruns of one setting lie apart: every pair beside its band, and the documents that change their answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import traitlets

from dojo_kit.analysis.noise import NoiseFloor, noise_floor
from dojo_kit.errors import InputError, closest
from dojo_kit.views.noise import flipped_documents, noise_metrics, noise_table, noise_view
from dojo_widgets import assets
from dojo_widgets.base import Precomputed, Widget

if TYPE_CHECKING:
    from dojo_kit.analysis.measured import Measurable

SORTS = ("given", "change", "-change", "flips", "-flips", "name", "-name")

LIVE_ROWS = 2_000
"""Documents of one pair listed while Python is there."""

PAGE_ROWS = 100
"""Documents of one pair brought into a page without Python."""

PAGE_METRICS = 40
"""Metrics brought into such a page, headlines first."""


class NoiseBand(Widget):
    """Show every pair of reruns on one axis beside the band of its model and documents.

    A pair leads to the documents that change their answer; without one, pairs that look like reruns and are none are
    listed with the reason. With fewer than 3 reruns beyond the first the band is unknown, which is hatched.

    Args:
        floor: Measured rerun noise.
        metric: Metric to show first; the commonest headline by default.
        pair: Pair to select first, see `dojo_kit.views.noise.pair_name`; by default the one with most flips, "" for
            none.
        sort: Order of the pairs within their groups: ``given``, ``change``, ``flips`` or ``name``; with a minus the
            other way round.

    Attributes:
        data: Metrics and pairs left out, see `dojo_kit.views.noise.noise_view`.
        metric: Name of the metric shown.
        table: Its bands and pairs, see `dojo_kit.views.noise.noise_table`.
        pair: Id of the selected pair; "" selects none.
        detail: The documents that flip: ``pair``, ``n`` in all and the ``rows`` listed.
        sort: Order of the pairs.

    Raises:
        InputError: There is no such metric or order.
    """

    _esm = assets.bundle("noise_band")
    _css = assets.styles("delta_forest", "noise_band")

    data = traitlets.Dict().tag(sync=True)
    metric = traitlets.Unicode().tag(sync=True)
    table = traitlets.Dict().tag(sync=True)
    pair = traitlets.Unicode().tag(sync=True)
    detail = traitlets.Dict().tag(sync=True)
    sort = traitlets.Unicode("given").tag(sync=True)

    def __init__(
        self, floor: NoiseFloor, *, metric: str | None = None, pair: str | None = None, sort: str = "given"
    ) -> None:
        self._floor = floor
        known = noise_metrics(floor)
        chosen = (known[0] if known else "") if metric is None else metric
        table = noise_table(floor, chosen)
        pairs = [found for band in table["bands"] for found in band["pairs"]]
        most = max(pairs, key=lambda found: found["flips"] or 0, default={"id": ""})
        selected = str(most["id"]) if pair is None else pair
        if sort not in SORTS:
            raise InputError(f"no order {sort!r}{closest(sort, SORTS)}", expected=", ".join(SORTS))
        super().__init__(
            data=noise_view(floor),
            metric=chosen,
            table=table,
            pair=selected,
            detail=self._detail(selected),
            sort=sort,
        )
        self.observe(self._show, names=["metric", "pair"])

    @classmethod
    def of(cls, runs: Iterable[Measurable]) -> NoiseBand:
        """Find the reruns among some runs and show how far they lie apart.

        Args:
            runs: Runs or scored runs.
        """
        return cls(noise_floor(runs))

    def _show(self, change: Mapping[str, Any]) -> None:
        if change["name"] == "pair":
            self.detail = self._detail(change["new"])
        elif change["new"] in noise_metrics(self._floor):
            self.table = noise_table(self._floor, change["new"])

    def _detail(self, pair: str, most: int = LIVE_ROWS) -> dict[str, Any]:
        if not pair:
            return {}
        rows = flipped_documents(self._floor, pair)
        return {"pair": pair, "n": len(rows), "rows": rows[:most]}

    def precomputed(self) -> tuple[Precomputed, ...]:
        """Return what every metric and every pair shows, for pages without Python.

        40 metrics at most, headlines first, and 100 documents of each pair.
        """
        metrics = noise_metrics(self._floor)[:PAGE_METRICS]
        tables = {metric: noise_table(self._floor, metric) for metric in {self.metric: 0, **dict.fromkeys(metrics)}}
        pairs = dict.fromkeys(
            pair["id"] for table in tables.values() for band in table["bands"] for pair in band["pairs"]
        )
        return (
            Precomputed("metric", "table", tables),
            Precomputed("pair", "detail", {"": {}, **{pair: self._detail(pair, PAGE_ROWS) for pair in pairs}}),
        )
