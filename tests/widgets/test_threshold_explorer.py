"""The explorer's state follows its controls, from what was computed before."""

from __future__ import annotations

from typing import Any

import pytest

from dojo_widgets.threshold_explorer import ThresholdExplorer


def states(matched: int) -> list[dict[str, Any]]:
    return [{"threshold": t / 100, "matched": matched - t, "expected": 200} for t in range(30, 96)]


def sweep(**more: Any) -> dict[str, Any]:
    base = {"threshold": 0.6, "rescue_below": 0.7, "partial": True}
    return {"field": "clauses", "measure": "scorer", "base": base, "states": states(150), **more}


def test_it_starts_where_the_run_was_scored() -> None:
    explorer = ThresholdExplorer(sweep())
    assert (explorer.threshold, explorer.rescue_below, explorer.partial, explorer.span) == (0.6, 0.7, True, "")
    assert explorer.state["matched"] == 90


def test_a_run_without_embedder_has_no_gate() -> None:
    explorer = ThresholdExplorer(sweep(base={"threshold": 0.6, "rescue_below": None, "partial": None}))
    assert explorer.rescue_below is None
    assert explorer.partial is None
    assert explorer.state["matched"] == 90


def test_the_state_follows_the_controls() -> None:
    gates = [{"rescue_below": 0.5, "threshold": 0.6, "matched": 77}, {"rescue_below": 0.9, "states": states(300)}]
    explorer = ThresholdExplorer(sweep(gates=gates, partial={"on": states(150), "off": states(145)}), threshold=0.5)
    assert explorer.state["matched"] == 100
    explorer.partial = False
    assert explorer.state["matched"] == 95
    explorer.partial, explorer.rescue_below = True, 0.5
    assert explorer.state["matched"] == 77
    explorer.rescue_below = 0.9
    assert explorer.state["matched"] == 250
    explorer.rescue_below = 0.123
    assert explorer.state == {}


def test_a_threshold_between_two_steps_shows_the_nearest() -> None:
    explorer = ThresholdExplorer(sweep(), threshold=0.604)
    assert explorer.state["threshold"] == 0.6


@pytest.mark.parametrize("threshold", [0.1, 0.99])
def test_a_threshold_that_was_not_computed_is_refused(threshold: float) -> None:
    with pytest.raises(ValueError, match=r"was not computed; the sweep has 0\.3 to 0\.95"):
        ThresholdExplorer(sweep(), threshold=threshold)


def test_nothing_to_sweep() -> None:
    """A field without expected spans has no states and no state."""
    assert ThresholdExplorer(sweep(states=[])).state == {}


def test_a_page_needs_no_tables() -> None:
    """Everything is in the data already."""
    assert ThresholdExplorer(sweep()).precomputed() == ()
