"""Sliders for the match threshold, the rescue gate and the partial-label rule, with the metrics they change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import traitlets

from dojo_kit.analysis.attribution import attribute
from dojo_kit.analysis.thresholds import sweep
from dojo_kit.views import sweep_view
from dojo_widgets import assets
from dojo_widgets.base import Widget

if TYPE_CHECKING:
    from dojo_kit.scoring.run import ScoredRun


class ThresholdExplorer(Widget):
    """Show what another match threshold would count as found, and which spans would change side.

    The histogram of every label's best similarity is the slider. All places of the controls were computed before,
    so the widget works in a page without Python.

    Args:
        sweep: What was computed: ``field``, ``measure``, ``base`` (threshold, rescue_below, partial of the run),
            ``states`` by threshold, optionally ``gates`` (states by rescue gate, each with ``rescue_below`` and either
            the metrics at one threshold or its own ``states``) and ``partial`` (states by threshold with the
            partial-label rule ``on`` and ``off``), a ``histogram`` (``edges``, ``counts``) and ``flips``.
        threshold: Threshold to show first; the run's own by default.

    Attributes:
        data: The sweep.
        threshold: Where the slider stands.
        rescue_below: Where the rescue gate stands; None in a run without an embedder.
        partial: Whether labels are taken as a sample; None where that is unknown.
        span: Id of the selected flip; "" selects none.

    Raises:
        ValueError: The threshold lies outside of what was computed.

    Examples:
        >>> states = [{"threshold": t, "matched": m, "expected": 9} for t, m in ((0.5, 7), (0.6, 4))]
        >>> explorer = ThresholdExplorer({"base": {"threshold": 0.6}, "states": states}, threshold=0.5)
        >>> explorer.state["matched"]
        7
    """

    _esm = assets.bundle("threshold_explorer")
    _css = assets.styles("threshold_explorer")

    data = traitlets.Dict().tag(sync=True)
    threshold = traitlets.Float().tag(sync=True)
    rescue_below = traitlets.Float(None, allow_none=True).tag(sync=True)
    partial = traitlets.Bool(None, allow_none=True).tag(sync=True)
    span = traitlets.Unicode().tag(sync=True)

    def __init__(self, sweep: Mapping[str, Any], *, threshold: float | None = None) -> None:
        base = sweep["base"]
        stands = base["threshold"] if threshold is None else threshold
        known = [state["threshold"] for state in sweep["states"]]
        if known and not min(known) <= stands <= max(known):
            raise ValueError(f"threshold {stands} was not computed; the sweep has {min(known)} to {max(known)}")
        super().__init__(
            data=dict(sweep),
            threshold=stands,
            rescue_below=base.get("rescue_below"),
            partial=base.get("partial"),
        )

    @classmethod
    def of(cls, scored: ScoredRun, field: str) -> ThresholdExplorer:
        """Try other thresholds on one list field of a scored run.

        Args:
            scored: The run.
            field: The field.
        """
        return cls(sweep_view(sweep(scored, field), attribute(scored, field=field)))

    @property
    def state(self) -> Mapping[str, Any]:
        """What was computed for the place of the controls, at the nearest threshold; empty when nothing was."""
        states = self._states()
        return min(states, key=lambda state: abs(state["threshold"] - self.threshold), default={})

    def _states(self) -> list[Mapping[str, Any]]:
        base = self.data["base"]
        has_own_rule = self.partial == base.get("partial")
        if self.rescue_below != base.get("rescue_below"):
            if not has_own_rule:
                return []  # both together were not computed
            gates = [gate for gate in self.data.get("gates") or () if gate["rescue_below"] == self.rescue_below]
            return list(gates[0].get("states") or gates) if gates else []
        if not has_own_rule and self.data.get("partial"):
            return list(self.data["partial"]["on" if self.partial else "off"])
        return list(self.data["states"])
