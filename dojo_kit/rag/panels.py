"""Whether every query's panel is complete, and what is scored when it is not.

A panel is what was retrieved for a query: ``n_retrieved_chunks`` where that is declared, else up to the highest rank
seen. It is incomplete when a rank has no row, or a unit has no label because nobody judged it, its responses were
discarded, or its tie was dropped. A query for which nothing was retrieved is complete, and its values are 0.

| policy | incomplete queries |
|---|---|
| ``fail`` | are an error that lists them |
| ``skip`` | are left out and counted |
| ``bounds`` | give the least and greatest value that any labels in place of the missing ones could give |
| ``as_is`` | are scored by what was judged, at its true ranks; without any label they are left out |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from dojo_kit.rag.faults import LISTED, Codes, Mask, shown
from dojo_kit.rag.metrics import Floats, Labels, answer_values, retrieval_values
from dojo_kit.rag.tasks import DECLARED, RANK, Task
from dojo_kit.rag.units import Units
from dojo_kit.rag.votes import Majority
from dojo_kit.records import Problem

Policy = Literal["fail", "skip", "bounds", "as_is"]
"""What becomes of queries with incomplete panels."""

POLICIES: tuple[Policy, ...] = get_args(Policy)

QueryStatus = Literal["scored", "nothing retrieved", "incomplete", "tied"]
"""``incomplete`` and ``tied`` queries may be scored too, by bounds or as they are."""


@dataclass(frozen=True, slots=True)
class Panels:
    """The decided labels of all queries and what is missing from them; units are sorted by query and rank.

    Attributes:
        task: The task.
        units: The units.
        labels: Decided label, shape (units, labels); -1 where there is none.
        sizes: K of every query with everything that was retrieved, shape (queries,).
        judged: Units with all labels, per query.
        gaps: Ranks without a row, per query.
        tied: Whether a dropped tie is the only thing that is missing, per query.
    """

    task: Task
    units: Units
    labels: Labels
    sizes: Codes
    judged: Codes
    gaps: Codes
    tied: Mask

    @property
    def whole(self) -> Mask:
        """Units with all labels, shape (units,)."""
        whole: Mask = np.all(self.labels >= 0, axis=1)
        return whole

    @property
    def incomplete(self) -> Mask:
        """Queries from which something is missing."""
        incomplete: Mask = self.judged < self.sizes
        return incomplete

    @property
    def statuses(self) -> NDArray[Any]:
        """The status of every query."""
        status = np.full(len(self.sizes), "scored", dtype=object)
        status[self.sizes == 0] = "nothing retrieved"
        status[self.incomplete] = "incomplete"
        status[self.tied] = "tied"
        return status


def form_panels(task: Task, units: Units, decided: Majority) -> Panels:
    """Collect decided labels into panels.

    Args:
        task: The task.
        units: The units.
        decided: Their labels, dropped ties as -1.
    """
    n = units.n_queries
    rows = np.bincount(units.queries, minlength=n)
    sizes = rows
    if task.ranked:
        highest = np.zeros(n, dtype=np.int64)
        np.maximum.at(highest, units.queries, units.ranks)
        sizes = np.where(units.declared >= 0, units.declared, highest)
    whole = (decided.labels >= 0).all(axis=1)
    judged = np.bincount(units.queries[whole], minlength=n)
    ties = np.bincount(units.queries[~whole & (decided.votes > 0)], minlength=n)
    tied = (ties > 0) & (judged + ties == sizes)
    return Panels(task, units, decided.labels, sizes, judged, sizes - rows, tied)


def incomplete_queries(panels: Panels, source: str) -> tuple[list[Problem], int]:
    """List the incomplete queries, the first of them spelled out.

    Queries from which only the label of a tied vote is missing do not count: the tie rule is about them.

    Args:
        panels: The panels.
        source: The file, for messages.

    Returns:
        The first problems by line, and the number of queries.
    """
    queries = np.flatnonzero(panels.incomplete & ~panels.tied)
    lines = _fault_lines(panels)
    first = queries[np.argsort(lines[queries], kind="stable")[:LISTED]]
    problems = [
        Problem(
            f"query {shown(panels.units.records[query])}: {missing_from(panels, int(query))}",
            source=source,
            line=int(lines[query]),
            field=RANK if panels.gaps[query] else ", ".join(panels.task.labels),
            expected="a complete panel, or another on_incomplete: skip, bounds or as_is",
        )
        for query in first
    ]
    return problems, len(queries)


def _fault_lines(panels: Panels) -> Codes:
    """Line of the first unit without a label of every query, else of its first row."""
    lines = np.full(panels.units.n_queries, np.iinfo(np.int64).max)
    bare = ~panels.whole
    np.minimum.at(lines, panels.units.queries[bare], panels.units.lines[bare])
    return np.where(lines == np.iinfo(np.int64).max, panels.units.first_lines, lines)


def missing_from(panels: Panels, query: int) -> str:
    """Say what is missing from a query's panel."""
    start, end = np.searchsorted(panels.units.queries, [query, query + 1])
    ranks = panels.units.ranks[start:end]
    parts = []
    if panels.gaps[query]:
        size = int(panels.sizes[query])
        absent = np.setdiff1d(np.arange(1, min(size, 1000) + 1), ranks)
        listed = ", ".join(map(str, absent[:10])) + (" ..." if len(absent) > 10 or size > 1000 else "")
        declared = f" ({DECLARED} is {size})" if panels.units.declared[query] >= 0 else ""
        parts.append(f"no row for rank {listed}{declared}")
    unjudged = ~panels.whole[start:end]
    if unjudged.any() and panels.units.chunks is not None:
        chunks = panels.units.chunks[start:end][unjudged]
        listed = ", ".join(map(shown, chunks[:10])) + (" ..." if len(chunks) > 10 else "")
        parts.append(f"no decided label for chunk {listed}")
    elif unjudged.any():
        parts.append("no decided label")
    return "; ".join(parts)


@dataclass(frozen=True, slots=True)
class Scored:
    """Values of every query.

    Attributes:
        by_metric: Metric -> value of every query, shape (queries,); NaN where it is undefined or left out.
        included: Queries that are scored.
        sizes: K of every query, as scored.
    """

    by_metric: dict[str, Floats]
    included: Mask
    sizes: Codes


def score_panels(panels: Panels, policy: Policy) -> Scored:
    """Score every query that a policy other than ``bounds`` keeps by the labels it has.

    Args:
        panels: The panels; incomplete ones are left out unless the policy is ``as_is``.
        policy: The policy.
    """
    included = ~panels.incomplete
    if policy == "as_is":
        included = (panels.judged > 0) | (panels.sizes == 0)
    used = panels.whole & included[panels.units.queries]
    queries, sizes = panels.units.queries[used], np.where(included, panels.judged, 0)
    columns = {name: panels.labels[used, at] for at, name in enumerate(panels.task.labels)}
    if panels.task.ranked:
        values = retrieval_values(columns, panels.units.ranks[used], queries, sizes)
        for of_queries in values.values():
            of_queries[~included] = np.nan
        return Scored(values, included, sizes)
    values = {}
    for name, of_units in answer_values(panels.task.name, columns).items():
        values[name] = np.full(panels.units.n_queries, np.nan)
        values[name][queries] = of_units
    return Scored(values, included, sizes)
