"""What more votes, escalation and retries would buy, from runs already paid for: sliders and their outcome."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import traitlets

from dojo_kit.errors import InputError, SettingsError, closest
from dojo_kit.records import Run
from dojo_kit.simulate.corpus import Corpus, corpus_of
from dojo_kit.views.what_if import outcome_at, what_if_view
from dojo_widgets import assets
from dojo_widgets.base import Widget

if TYPE_CHECKING:
    from dojo_kit.settings import Settings

CONTROLS = ("pool", "votes", "alpha", "escalated_accuracy", "use_stronger", "escalated_cost", "tries", "fallback")
"""Traits that a place of the controls consists of."""


class WhatIf(Widget):
    """Show what another number of votes, an escalation and retries would come to, beside the runs as they were bought.

    All places of the controls were computed before, so the widget looks up and adds: it works in a page without Python,
    and Python is told of a place only when a slider is let go.

    Args:
        corpus: The votes.
        task: Task key.
        stronger: Run id or model whose real answers escalated documents can get; it takes no part in the votes.
        place: Controls to set otherwise than at first, by name; what is not named keeps its first place.
        call_usd: What one call costs in US dollars; without it costs are multiples of a call.
        settings: Seed, replicates and level; the current settings by default.

    Attributes:
        data: What the sliders look up, see `dojo_kit.views.what_if.what_if_view`.
        pool: Which runs vote: ``all``, ``model``, ``prompt`` or ``rerun``.
        votes: Votes a document gets.
        alpha: Share of documents that are escalated, the least sure first.
        escalated_accuracy: Accuracy assumed of the stronger model.
        use_stronger: Whether the stronger run's real answers count instead.
        escalated_cost: Cost of an escalated document, that of one that is not being 1.
        tries: Tries of a call.
        fallback: Whether there is a fallback after the last try.

    Raises:
        InputError: There are no votes, or no such run, pool or control.
        SettingsError: A control cannot stand there.
    """

    _esm = assets.bundle("what_if")
    _css = assets.styles("what_if")

    data = traitlets.Dict().tag(sync=True)
    pool = traitlets.Unicode("all").tag(sync=True)
    votes = traitlets.Int(1).tag(sync=True)
    alpha = traitlets.Float(0.0).tag(sync=True)
    escalated_accuracy = traitlets.Float(0.95).tag(sync=True)
    use_stronger = traitlets.Bool(False).tag(sync=True)
    escalated_cost = traitlets.Float(3.0).tag(sync=True)
    tries = traitlets.Int(1).tag(sync=True)
    fallback = traitlets.Bool(False).tag(sync=True)

    def __init__(
        self,
        corpus: Corpus,
        task: str,
        *,
        stronger: str | None = None,
        place: Mapping[str, Any] | None = None,
        call_usd: float | None = None,
        settings: Settings | None = None,
    ) -> None:
        data = what_if_view(corpus, task, stronger=stronger, call_usd=call_usd, settings=settings)
        super().__init__(data=data, **_checked(data, place or {}))

    @classmethod
    def of(cls, runs: Iterable[Run], *, stronger: str | None = None) -> WhatIf:
        """Show what the votes of some runs would buy; of several tasks, that of the most rows.

        Args:
            runs: Runs in the order in which they were made.
            stronger: Run id or model whose real answers escalated documents can get.
        """
        corpus = corpus_of(runs)
        return cls(corpus, str(corpus.rows["task"].value_counts().idxmax()), stronger=stronger)

    @property
    def place(self) -> dict[str, Any]:
        """Where the controls stand, by name."""
        return {name: getattr(self, name) for name in CONTROLS}

    @property
    def outcome(self) -> dict[str, Any]:
        """What this place comes to, see `dojo_kit.views.what_if.outcome_at`."""
        return outcome_at(self.data, self.place)


def _checked(data: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return where the controls stand at first."""
    for name in given:
        if name not in CONTROLS:
            raise InputError(f"no control {name!r}{closest(name, CONTROLS)}", expected=", ".join(CONTROLS))
    place = {**data["start"], **given}
    pools = [pool["key"] for pool in data["pools"]]
    if place["pool"] not in pools:
        why = data["missing"].get(place["pool"], "")
        raise InputError(f"no pool {place['pool']!r}{f': {why}' if why else ''}", expected=", ".join(pools))
    for name, stops in (("votes", data["sizes"]), ("alpha", data["shares"]), ("tries", data["tries"])):
        if place[name] not in stops:
            raise SettingsError(f"{name} {place[name]} was not computed; known: {', '.join(map(str, stops))}")
    if not data["assumed"][0] <= place["escalated_accuracy"] <= 1:
        message = f"escalated_accuracy must lie between {data['assumed'][0]} and 1, not {place['escalated_accuracy']}"
        raise SettingsError(message)
    if place["use_stronger"] and data["stronger"] is None:
        raise InputError("no stronger run was given", field="use_stronger", expected="stronger=RUN or MODEL")
    return place
