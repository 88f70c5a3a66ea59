"""The input contract of scoring: which columns, and what may stand in a cell.

Nothing is coerced that does not mean the same: 0.9 is no label and 1.5 no rank. Ids are text and stay as they are
spelled. All problems of a table are listed together, each with its line and column.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dojo_kit.errors import InputError, closest
from dojo_kit.rag.cells import MISSING, WRONG, Distinct, distinct, lowered, read_ids, read_label, read_rank, read_size
from dojo_kit.rag.faults import LISTED, Codes, Faults, Mask, shown
from dojo_kit.rag.metrics import Labels
from dojo_kit.rag.tasks import (
    ANNOTATOR,
    ANSWER,
    CALIBRATION,
    CHUNK,
    CREATED,
    DECLARED,
    RANK,
    RECORD,
    RUN,
    STATUS,
    SYSTEM,
    Task,
    TaskName,
    task_named,
)
from dojo_kit.records import Problem

if TYPE_CHECKING:
    import pandas as pd

STATUSES = ("submitted", "discarded", "draft", "pending")
"""What ``response_status`` may say; only submitted responses are judgements."""

MAX_RANK = 1_000_000
"""A rank beyond is a slip (an id in the wrong column), and panels of that length could not be held."""

LINE = "line"
"""Name of a frame's index that holds the line of every row in its file."""

_FIRST_LINE = 2
_LABEL_EXPECTED = "0, 1, true or false"


@dataclass(frozen=True, slots=True)
class Ids:
    """A column of ids.

    Attributes:
        codes: Position in ``names`` of every row's id, shape (rows,); -1 where there is none.
        names: Different ids, sorted.
    """

    codes: Codes
    names: NDArray[Any]


@dataclass(frozen=True, slots=True)
class CheckedLabels:
    """A table that keeps the contract, as arrays with one element per row.

    Attributes:
        task: The task.
        lines: Line in the file.
        records: The query.
        chunks: The chunk; None when the task has none.
        ranks: Its rank; 0 in a row that says nothing was retrieved.
        labels: Shape (rows, labels of the task); -1 throughout a row without labels.
        submitted: Whether the row is a submitted response.
        annotators: Who judged; None without that column.
        answers: Which answer was judged; None without that column.
        created: When, as written; None without that column.
        calibration: Whether the row was meant to measure agreement; None without that column.
        declared: How many chunks were retrieved for the query; -1 where not said.
        groups: Group of the query, None without ``group_by``.
        system: The system judged, as far as it is named.
        run: Its run.
        source: The file, as the user named it.
        notes: What is odd and does not stop the scoring.
    """

    task: Task
    lines: Codes
    records: Ids
    chunks: Ids | None
    ranks: Codes
    labels: Labels
    submitted: Mask
    annotators: Ids | None
    answers: Ids | None
    created: pd.Series[Any] | None
    calibration: Mask | None
    declared: Codes
    groups: Ids | None
    system: str | None = None
    run: str | None = None
    source: str = ""
    notes: tuple[Problem, ...] = ()

    @property
    def judged(self) -> Mask:
        """Rows that are submitted and carry labels."""
        judged: Mask = self.submitted & np.all(self.labels >= 0, axis=1)
        return judged

    @property
    def empty(self) -> Mask:
        """Rows that say that nothing was retrieved for their query."""
        empty: Mask = self.ranks == 0
        return empty

    def faults(self) -> Faults:
        """Start a list of faults of these rows."""
        return Faults(self.lines, self.source)


def check_labels(
    frame: pd.DataFrame,
    task: TaskName,
    *,
    system: str | None = None,
    run: str | None = None,
    group_by: str | None = None,
    source: str = "",
) -> CheckedLabels:
    """Check a table of labels against the contract of its task.

    Args:
        frame: One row per response; cells may be text, as read from CSV, or typed. An index named ``line`` holds the
            line of every row, else rows count from line 2.
        task: The task.
        system: The ``system_id`` to keep, needed when there are several.
        run: The ``run_id`` to keep, likewise.
        group_by: Column that groups queries, e.g. by document.
        source: The file, for messages.

    Raises:
        LabelsError: With every cell that breaks the contract.
        InputError: A column is absent, nothing is left, or several systems or runs stand in the table.

    Examples:
        >>> import pandas as pd
        >>> rows = pd.DataFrame({"record_uuid": ["q1", "q2"], "helpful": ["1", "0.9"], "proper_action": 1,
        ...     "response_on_topic": 1, "incomplete": 0, "unsafe_content": 0})
        >>> check_labels(rows, "generation")
        Traceback (most recent call last):
        ...
        dojo_kit.rag.faults.LabelsError: line 3, field 'helpful': '0.9' is no label; expected 0, 1, true or false
    """
    contract = task_named(task)
    _check_columns(frame, contract, group_by, source)
    frame, system = _only(frame, SYSTEM, system, "system", source)
    frame, run = _only(frame, RUN, run, "run", source)
    lines = _lines(frame)
    faults = Faults(lines, source)
    columns = _Columns(frame, faults)

    declared = columns.numbers(DECLARED, read_size, "a whole number from 0")
    # a row that says that nothing was retrieved was judged by nobody
    empty = (declared == 0) if contract.ranked else np.zeros(len(frame), dtype=bool)
    submitted = columns.statuses(empty)
    cells = np.column_stack([columns.labels(name, submitted) for name in contract.labels])
    ranks, chunks = np.ones(len(frame), dtype=np.int64), None
    if contract.ranked:
        ranks = np.where(empty, 0, columns.ranks(empty))
        chunks = columns.ids(CHUNK, optional=empty, in_order=False)
        _check_empty(faults, chunks, cells, empty)
    _check_whole_rows(faults, contract, cells, submitted)
    checked = CheckedLabels(
        contract,
        lines,
        columns.ids(RECORD),
        chunks,
        ranks,
        np.maximum(cells, MISSING),
        submitted,
        columns.ids(ANNOTATOR, optional=empty) if ANNOTATOR in frame else None,
        columns.ids(ANSWER, optional=empty) if ANSWER in frame else None,
        frame.get(CREATED),
        columns.flags(CALIBRATION),
        declared,
        columns.ids(group_by) if group_by is not None else None,
        system,
        run,
        source,
        tuple(columns.notes),
    )
    faults.raise_any()
    return checked


class _Columns:
    """The columns of a frame, read cell by distinct cell."""

    def __init__(self, frame: pd.DataFrame, faults: Faults) -> None:
        self.frame = frame
        self.faults = faults
        self.notes: list[Problem] = []

    def ids(self, column: str, *, optional: Mask | None = None, in_order: bool = True) -> Ids:
        """Read ids, blank only where optional.

        Args:
            column: The column.
            optional: Rows that need none.
            in_order: Whether the names must be sorted, as those that decide about an order must be.
        """
        cells = distinct(self.frame[column])
        names, wrong = read_ids(cells.different)
        stripped = [name.strip() for name in names]
        blank = cells.expand(np.array([not name for name in stripped], dtype=bool) & ~wrong, missing=True)
        self.faults.add(
            cells.expand(wrong, missing=False),
            column,
            lambda row: f"{shown(cells.value(row))} is no id",
            "text; read the column as text",
        )
        self.faults.add(blank if optional is None else blank & ~optional, column, lambda _: "blank id", "an id")
        if in_order:
            self._note_padded(column, cells, names, stripped)
        codes = cells.codes
        if names is not cells.different:
            codes, names = _equal_names(codes, names)
        return Ids(*_sorted_names(codes, names)) if in_order else Ids(codes, names)

    def labels(self, column: str, submitted: Mask) -> Labels:
        cells = distinct(self.frame[column])
        labels = cells.read(read_label)
        self.faults.add(
            (labels == WRONG) & submitted,
            column,
            lambda row: f"{shown(cells.value(row))} is no label",
            _LABEL_EXPECTED,
        )
        return np.where(submitted, labels, MISSING).astype(np.int8)

    def numbers(self, column: str, read: Callable[[Any], int], expected: str) -> Codes:
        if column not in self.frame:
            return np.full(len(self.frame), MISSING, dtype=np.int64)
        cells = distinct(self.frame[column])
        numbers = cells.read(read)
        self.faults.add(numbers == WRONG, column, lambda row: f"not {shown(cells.value(row))}", expected)
        return numbers

    def ranks(self, empty: Mask) -> Codes:
        cells = distinct(self.frame[RANK])
        ranks = cells.read(read_rank)
        blank, wrong = ranks == MISSING, (ranks == WRONG) | (ranks == 0) | (ranks > MAX_RANK)
        expected = f"a whole number from 1 to {MAX_RANK}"
        self.faults.add(blank & ~empty, RANK, lambda _: "blank rank", expected)
        self.faults.add(wrong & ~empty, RANK, lambda row: f"{shown(cells.value(row))} is no rank", expected)
        self.faults.add(
            empty & ~blank & (ranks != 0),
            RANK,
            lambda row: f"rank {shown(cells.value(row))} although {DECLARED} is 0",
            "a blank rank, or 0",
        )
        return ranks

    def statuses(self, empty: Mask) -> Mask:
        if STATUS not in self.frame:
            return np.ones(len(self.frame), dtype=bool)
        cells = distinct(self.frame[STATUS])
        names = [lowered(value) if isinstance(value, str) else "" for value in cells.different]
        known = cells.expand(np.array([name in STATUSES for name in names], dtype=bool), missing=False)
        self.faults.add(~known & ~empty, STATUS, lambda row: f"not {shown(cells.value(row))}", ", ".join(STATUSES))
        return cells.expand(np.array([name == STATUSES[0] for name in names], dtype=bool), missing=False)

    def flags(self, column: str) -> Mask | None:
        if column not in self.frame:
            return None
        flags: Mask = self.numbers(column, read_label, "true or false") == 1
        return flags

    def _note_padded(self, column: str, cells: Distinct, names: NDArray[Any], stripped: list[str]) -> None:
        """Note ids that differ from another one only by blanks around them: they are different ids."""
        padded = np.flatnonzero(names != np.array(stripped, dtype=object))
        known = set(names) if len(padded) else set()
        for code in [code for code in padded if stripped[code] in known][:LISTED]:
            line = int(self.faults.lines[cells.codes == code].min())
            message = f"{shown(names[code])} differs from another id only by blanks; they are kept apart"
            self.notes.append(Problem(message, source=self.faults.source, line=line, field=column))


def _sorted_names(codes: Codes, names: NDArray[Any]) -> tuple[Codes, NDArray[Any]]:
    """Sort ids as text, so that nothing depends on the order of rows."""
    order = np.argsort(names, kind="stable")
    places = np.empty(len(names) + 1, dtype=np.int64)
    places[order], places[-1] = np.arange(len(names)), MISSING
    return places[codes], names[order]


def _equal_names(codes: Codes, names: NDArray[Any]) -> tuple[Codes, NDArray[Any]]:
    """Make one of equal ids that were cells of different types."""
    position = {name: place for place, name in enumerate(dict.fromkeys(names))}
    places = np.array([*(position[name] for name in names), MISSING], dtype=np.int64)
    return places[codes], np.array(list(position), dtype=object)


def _check_columns(frame: pd.DataFrame, contract: Task, group_by: str | None, source: str) -> None:
    needed = [*contract.ids, *contract.labels, *([] if group_by is None else [group_by])]
    found = [str(name) for name in frame.columns]
    absent = [name for name in needed if name not in found]
    faults = Faults(np.zeros(0, dtype=np.int64), source)
    for name in absent:
        faults.add_table(name, f"no such column{closest(name, found)}", f"the columns {', '.join(needed)}")
    for name in sorted({name for name in found if found.count(name) > 1} & {*needed, *_READ}):
        faults.add_table(name, f"{found.count(name)} columns have this name", "one")
    if not absent and not len(frame):
        faults.add_table(None, "no row below the header", "at least one")
    faults.raise_any(f"columns found: {', '.join(found)[:200]}; {faults.n} problems")


_READ = (SYSTEM, RUN, ANSWER, ANNOTATOR, STATUS, CALIBRATION, CREATED, DECLARED)


def _only(
    frame: pd.DataFrame, column: str, wanted: str | None, noun: str, source: str
) -> tuple[pd.DataFrame, str | None]:
    """Keep the rows of one system or run: two of them must never be voted on as if they were one."""
    if column not in frame:
        if wanted is not None:
            raise InputError(f"no column tells {noun}s apart", file=source or None, expected=f"a column {column!r}")
        return frame, None
    faults = Faults(_lines(frame), source)
    ids = _Columns(frame, faults).ids(column)
    faults.raise_any()
    names = [str(name) for name in ids.names]
    if wanted is None and len(names) > 1:
        listed = ", ".join(map(repr, names[:20])) + (" ..." if len(names) > 20 else "")
        raise InputError(
            f"{len(names)} {noun}s in one table: {listed}",
            file=source or None,
            field=column,
            expected=f"one of them, named by --{noun} ({noun}= in Python)",
        )
    if wanted is None:
        return frame, names[0]
    if wanted not in names:
        listed = ", ".join(map(repr, names[:20]))
        hint = closest(wanted, names)
        raise InputError(f"no {noun} {wanted!r}{hint}", file=source or None, field=column, expected=f"one of {listed}")
    lines = Faults(_lines(frame)).lines
    kept = ids.codes == names.index(wanted)
    return frame.loc[kept].set_axis(_line_index(lines[kept])), wanted


def _line_index(lines: Codes) -> pd.Index[Any]:
    import pandas as pd

    return pd.Index(lines, name=LINE)


def _lines(frame: pd.DataFrame) -> Codes:
    if frame.index.name == LINE:
        return frame.index.to_numpy(dtype=np.int64)
    return np.arange(len(frame), dtype=np.int64) + _FIRST_LINE


def _check_empty(faults: Faults, chunks: Ids, labels: Labels, empty: Mask) -> None:
    """A row that says that nothing was retrieved has no chunk and no labels."""
    named = np.append(chunks.names != "", False)[chunks.codes]
    faults.add(empty & named, CHUNK, lambda _: f"a chunk although {DECLARED} is 0", "a blank chunk_id")
    labelled = (labels >= 0).any(axis=1)
    faults.add(empty & labelled, None, lambda _: f"labels although {DECLARED} is 0", "blank labels")


def _check_whole_rows(faults: Faults, contract: Task, labels: Labels, submitted: Mask) -> None:
    """A row has all labels or none: half a response is none that could be completed by guessing."""
    blank = labels == MISSING
    partial = blank.any(axis=1) & ~blank.all(axis=1)
    for at, name in enumerate(contract.labels):
        faults.add(partial & submitted & blank[:, at], name, lambda _: "blank label", _LABEL_EXPECTED)
