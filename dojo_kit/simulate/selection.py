"""Choosing a few options of known gain and cost under a budget: exactly.

When the options with the largest gains fit they are the answer. Otherwise this is a knapsack in which the number of
options is limited as well: for every number of options only those sums are kept that no cheaper sum beats.
"""

from __future__ import annotations

from collections.abc import Sequence

Chosen = tuple[int, ...]


def best_selection(gains: Sequence[float], costs: Sequence[float], *, budget: float, most: int) -> Chosen:
    """Choose the options with the largest total gain; of equals the cheaper.

    Args:
        gains: Gain of each option; those without a gain are never chosen.
        costs: Cost of each option, not negative.
        budget: What all chosen ones may cost together.
        most: How many may be chosen.

    Returns:
        Positions of the chosen options, the largest gain first.

    Raises:
        ValueError: The options differ in number, or a cost is negative.

    Examples:
        >>> best_selection([3, 4, 5], [2, 3, 4], budget=5, most=2)
        (1, 0)
        >>> best_selection([3, 4, 5], [2, 3, 4], budget=100, most=2)
        (2, 1)
    """
    if len(gains) != len(costs) or any(cost < 0 for cost in costs):
        raise ValueError("every option needs a gain and a cost of 0 or more")
    order = sorted((i for i, gain in enumerate(gains) if gain > 0), key=lambda i: (-gains[i], costs[i], i))
    greedy = order[: max(0, most)]
    if sum(costs[i] for i in greedy) <= budget:
        return tuple(greedy)
    # number of options -> sums none of which is both dearer and worth no more than another
    states: list[list[tuple[float, float, Chosen]]] = [[(0.0, 0.0, ())], *([] for _ in range(most))]
    for option in order:
        for taken in range(most, 0, -1):
            grown = [
                (cost + costs[option], gain + gains[option], (*chosen, option))
                for cost, gain, chosen in states[taken - 1]
                if cost + costs[option] <= budget
            ]
            if grown:
                states[taken] = _unbeaten([*states[taken], *grown])
    best = max((state for found in states for state in found), key=lambda state: (state[1], -state[0]))
    return best[2]


def _unbeaten(states: list[tuple[float, float, Chosen]]) -> list[tuple[float, float, Chosen]]:
    kept: list[tuple[float, float, Chosen]] = []
    for state in sorted(states, key=lambda state: (state[0], -state[1])):
        if not kept or state[1] > kept[-1][1]:
            kept.append(state)
    return kept
