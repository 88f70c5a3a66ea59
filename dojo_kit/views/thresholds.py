"""A threshold sweep as a slider draws it: every state computed before, a histogram, and what flips."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dojo_kit.analysis.thresholds import State, Sweep

if TYPE_CHECKING:
    from dojo_kit.analysis.attribution import Attribution
    from dojo_kit.stats.intervals import Estimate

BINS = 50
SHOWN_CHARACTERS = 160


def sweep_view(sweep: Sweep, attribution: Attribution) -> dict[str, Any]:
    """Return everything a threshold slider shows.

    Args:
        sweep: The field under other thresholds.
        attribution: Spans of the same scored run, by the scorer's own matching.

    Returns:
        ``field``; ``base``, the run's own choice; ``states`` by threshold; ``gates`` by rescue gate; ``partial``,
        states with the rule for samples of labels ``on`` and ``off``; ``histogram`` of each label's best similarity
        (``edges``, ``counts``); ``flips``: id, document, family, text, item, similarity, from, to, at, until.
    """
    edges = np.linspace(0, 1, BINS + 1)
    known = sweep.similarities[~np.isnan(sweep.similarities)]
    # A label at exactly 0.6 belongs to the bin that begins there, whatever 0.6 is in binary.
    counts, _ = np.histogram(np.clip(known + 1e-9, 0, 1), edges)
    return {
        "field": sweep.field,
        "measure": attribution.measure,
        "base": {
            "threshold": sweep.base.threshold,
            "rescue_below": sweep.base.rescue_below,
            "partial": sweep.base.partial,
        },
        "states": [_state(state) for state in sweep.states],
        "gates": [_state(state) for state in sweep.gates],
        "partial": {"on": [_state(s) for s in sweep.rules[True]], "off": [_state(s) for s in sweep.rules[False]]},
        "histogram": {"edges": [round(float(edge), 6) for edge in edges], "counts": counts.tolist()},
        "flips": [_flip(row, attribution) for row in sweep.flips.to_dict("records")],
    }


def _state(state: State) -> dict[str, Any]:
    return {
        **{name: getattr(state, name) for name in ("threshold", "rescue_below", "matched", "expected", "flips")},
        **{name: _estimate(getattr(state, name)) for name in ("recall", "precision", "score")},
    }


def _estimate(estimate: Estimate) -> dict[str, Any]:
    return {"value": estimate.value, "lo": estimate.lo, "hi": estimate.hi, "n": estimate.n, "note": estimate.note}


def _flip(flip: dict[Any, Any], attribution: Attribution) -> dict[str, Any]:
    span = attribution.span(flip["id"])
    item = span["item"]
    return {
        "id": flip["id"],
        "document": span["document"],
        "family": span["family"],
        "text": span["text"][:SHOWN_CHARACTERS],
        "item": None
        if item is None
        else attribution.items[span["document"], span["field"], item].text[:SHOWN_CHARACTERS],
        "similarity": span["similarity"],
        "from": flip["was"],
        "to": flip["becomes"],
        "at": flip["at"],
        "until": None if flip["until"] != flip["until"] else flip["until"],
    }
