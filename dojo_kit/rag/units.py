"""From rows to units: what one judgement is about, a chunk of a query or a query's answer.

Nothing that differs is put together: a chunk has one rank, a rank one chunk, a query one answer, one group and one
declared number of chunks. Where rows say otherwise, the table is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dojo_kit.rag.cells import MISSING
from dojo_kit.rag.contract import CheckedLabels, Ids
from dojo_kit.rag.faults import Codes, Faults, shown
from dojo_kit.rag.tasks import ANSWER, CHUNK, DECLARED, RANK


@dataclass(frozen=True, slots=True)
class Units:
    """The units of a table, sorted by query and rank.

    Attributes:
        records: Id of every query, sorted, shape (queries,).
        queries: Every unit's query, shape (units,).
        chunks: Every unit's chunk id; None when the task has none.
        ranks: Every unit's rank.
        lines: Line of every unit's first row.
        of_rows: Every row's unit, shape (rows,); -1 for a row that says that nothing was retrieved.
        declared: How many chunks were retrieved for every query; -1 where not said.
        groups: Every query's group; None without one.
        first_lines: First line of every query.
    """

    records: NDArray[Any]
    queries: Codes
    chunks: NDArray[Any] | None
    ranks: Codes
    lines: Codes
    of_rows: Codes
    declared: Codes
    groups: NDArray[Any] | None
    first_lines: Codes

    @property
    def n_queries(self) -> int:
        """Queries, those for which nothing was retrieved included."""
        return len(self.records)


def form_units(checked: CheckedLabels, *, group_by: str = "group") -> Units:
    """Put rows together that judge the same.

    Args:
        checked: The rows.
        group_by: Name of the grouping column, for messages.

    Raises:
        LabelsError: Rows contradict each other about what was judged.
    """
    faults = checked.faults()
    queries = checked.records.codes
    n_queries = len(checked.records.names)
    of_rows, rows = _units_of_rows(checked)
    if checked.task.ranked:
        _check_ranks(checked, faults, of_rows, rows)
    declared = _declared(checked, faults, n_queries)
    if checked.answers is not None:
        _check_one_per_query(faults, queries, checked.answers, ANSWER, "answer")
    groups = None
    if checked.groups is not None:
        _check_one_per_query(faults, queries, checked.groups, group_by, "group")
        groups = checked.groups.names[checked.groups.codes[_first_rows(queries)]]
    faults.raise_any()
    first_lines = np.full(n_queries, np.iinfo(np.int64).max)
    np.minimum.at(first_lines, queries, checked.lines)
    chunks = None if checked.chunks is None else checked.chunks.names[checked.chunks.codes[rows]]
    return Units(
        checked.records.names,
        queries[rows],
        chunks,
        checked.ranks[rows],
        checked.lines[rows],
        of_rows,
        declared,
        groups,
        first_lines,
    )


def _units_of_rows(checked: CheckedLabels) -> tuple[Codes, Codes]:
    """Give every row its unit, and every unit, sorted by query, rank and chunk, its first row."""
    full = np.flatnonzero(~checked.empty)
    keys = checked.records.codes[full]
    if checked.chunks is not None:
        keys = keys * len(checked.chunks.names) + checked.chunks.codes[full]
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    rows = full[first]
    order = np.lexsort((checked.ranks[rows], checked.records.codes[rows]))
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    of_rows = np.full(len(checked.lines), MISSING, dtype=np.int64)
    of_rows[full] = place[inverse.reshape(-1)]
    return of_rows, rows[order]


def _first_rows(codes: Codes) -> Codes:
    return np.unique(codes, return_index=True)[1]


def _check_ranks(checked: CheckedLabels, faults: Faults, of_rows: Codes, rows: Codes) -> None:
    ranks = checked.ranks
    if not len(rows):  # nothing was retrieved for any query
        return
    moved = (of_rows >= 0) & (ranks != ranks[rows][of_rows])
    faults.add(
        moved,
        RANK,
        lambda row: (
            f"rank {ranks[row]} of a chunk that has rank {ranks[rows[of_rows[row]]]} "
            f"in line {checked.lines[rows[of_rows[row]]]}"
        ),
        "one rank per chunk; a chunk retrieved twice needs two ids",
    )
    queries = checked.records.codes[rows]
    shared = np.zeros(len(ranks), dtype=bool)
    shared[rows[1:]] = (queries[1:] == queries[:-1]) & (ranks[rows][1:] == ranks[rows][:-1])
    faults.add(shared, CHUNK, lambda row: f"another chunk of the query has rank {ranks[row]} too", "one chunk per rank")


def _declared(checked: CheckedLabels, faults: Faults, n_queries: int) -> Codes:
    """Give every query the number of chunks that its rows declare."""
    said = checked.declared
    declared = np.full(n_queries, MISSING, dtype=np.int64)
    np.maximum.at(declared, checked.records.codes, said)
    of_query = declared[checked.records.codes]
    faults.add(
        (said >= 0) & (said != of_query),
        DECLARED,
        lambda row: f"{said[row]} where another row of the query says {of_query[row]}",
        "one number per query",
    )
    if checked.task.ranked:
        faults.add(
            (of_query >= 0) & (said == of_query) & (checked.ranks > of_query),
            RANK,
            lambda row: f"rank {checked.ranks[row]} of {of_query[row]} retrieved chunks",
            f"a rank up to {DECLARED}",
        )
        _check_empty_alone(checked, faults)
    return declared


def _check_empty_alone(checked: CheckedLabels, faults: Faults) -> None:
    n = np.bincount(checked.records.codes)
    faults.add(
        checked.empty & (n[checked.records.codes] > 1),
        DECLARED,
        lambda _: "nothing was retrieved, but the query has more rows",
        "a single row",
    )


def _check_one_per_query(faults: Faults, queries: Codes, ids: Ids, column: str, noun: str) -> None:
    first = ids.codes[_first_rows(queries)]
    faults.add(
        ids.codes != first[queries],
        column,
        lambda row: (
            f"{noun} {shown(ids.names[ids.codes[row]])} where the query has {shown(ids.names[first[queries[row]]])}"
        ),
        f"one {noun} per query; give each its own record_uuid",
    )
