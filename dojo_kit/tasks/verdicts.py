"""What is right and what is wrong in every row of a task, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dojo_kit.stats.intervals import Array
from dojo_kit.tasks.columns import TaskColumns
from dojo_kit.tasks.failure_modes import NO_ANSWER, family_mode, hierarchy_mode, label_mode
from dojo_kit.tasks.reading import Keys, ReadLabels, read_answers
from dojo_kit.tasks.scores import ROW_COLUMNS
from dojo_kit.tasks.table import TaskKind, TaskRecord

if TYPE_CHECKING:
    import pandas as pd

_DOC_CLASSES = "doc_class"


@dataclass(frozen=True, eq=False)
class Verdict:
    """Verdicts per row: 1 right, 0 wrong or failed, NaN where nothing is expected or known.

    Attributes:
        doc_type_right: Whether the document class is right.
        right: Whether all that the task asks for is.
        right_equiv: The same with defensible labels let through.
        modes: Why an answered row is wrong.
        doc_type: Predicted document class, where it stands in a column of its own.
        subclass_right: Whether the second level is right.
        subclass_right_equiv: The same with defensible labels let through; never below ``subclass_right``.
    """

    doc_type_right: Array
    right: Array
    right_equiv: Array
    modes: Keys
    doc_type: Keys | None = None
    subclass_right: Array | None = None
    subclass_right_equiv: Array | None = None


def judge(record: TaskRecord, columns: TaskColumns, first: ReadLabels, second: ReadLabels | None) -> Verdict:
    """Judge every row of a task.

    Args:
        record: The task.
        columns: Its rows.
        first: Its labels.
        second: Labels of its second level, if it has one.
    """
    return _JUDGES[record.kind](record, columns, first, second)


def _family(record: TaskRecord, columns: TaskColumns, first: ReadLabels, second: ReadLabels | None) -> Verdict:
    """Judge families: right only within the task's document class. Without predicted classes only families count."""
    doc_type, in_class = None, np.ones(len(columns), dtype=bool)
    class_right = np.full(len(columns), np.nan)
    if columns.doc_types is not None and (any(columns.doc_types) or all(columns.failed)):
        doc_type = read_answers(columns.doc_types, _DOC_CLASSES)
        in_class = np.asarray(doc_type == record.document_class, dtype=bool)
        class_right = _flags(in_class, np.ones(len(columns), dtype=bool), columns)
    right, equivalent = in_class & first.right, in_class & first.equivalent

    def mode(row: int) -> str | None:
        return family_mode(
            in_class=bool(in_class[row]), right=False, predicted=first.predicted[row], equivalent=bool(equivalent[row])
        )

    return Verdict(
        class_right,
        _flags(right, first.known, columns),
        _flags(equivalent, first.known, columns),
        _modes(right, mode),
        doc_type,
    )


def _hierarchy(record: TaskRecord, columns: TaskColumns, first: ReadLabels, second: ReadLabels | None) -> Verdict:
    """Judge class and subclass: the subclass by itself, and both together where a document has one."""
    if second is None:
        known = strict = lenient = np.zeros(len(columns), dtype=bool)
    else:
        known, strict, lenient = second.known, second.right, second.equivalent
    exact, defensible = first.right & (strict | ~known), first.right & (lenient | ~known)
    modes = _modes(exact, lambda row: hierarchy_mode(in_class=bool(first.right[row]), exact=False))
    return Verdict(
        _flags(first.right, first.known, columns),
        _flags(exact, first.known, columns),
        _flags(defensible, first.known, columns),
        modes,
        subclass_right=_flags(strict, known, columns, known),
        subclass_right_equiv=_flags(lenient, known, columns, known),
    )


def _labels(record: TaskRecord, columns: TaskColumns, first: ReadLabels, second: ReadLabels | None) -> Verdict:
    modes = _modes(first.right, lambda row: label_mode(right=False, predicted=first.predicted[row]))
    right, equivalent = (_flags(flags, first.known, columns) for flags in (first.right, first.equivalent))
    return Verdict(np.full(len(columns), np.nan), right, equivalent, modes)


_JUDGES: Mapping[TaskKind, Callable[[TaskRecord, TaskColumns, ReadLabels, ReadLabels | None], Verdict]] = {
    "family": _family,
    "hierarchy": _hierarchy,
    "labels": _labels,
}


def _modes(right: NDArray[np.bool_], mode: Callable[[int], str | None]) -> Keys:
    """Return the mode of every row that is not right."""
    modes = np.full(len(right), None, dtype=object)
    for row in np.flatnonzero(~right).tolist():
        modes[row] = mode(row)
    return modes


def _flags(right: Any, known: Any, columns: TaskColumns, missable: Any = True) -> Array:
    """Return 1 where right, 0 where wrong or without an answer, NaN where nothing is expected.

    A failed row is a miss even when the record did not keep what was expected of it, except where a document may have
    nothing to name (``missable``).
    """
    failed = np.asarray(columns.failed, dtype=bool)
    judged = np.where(known, np.asarray(right, dtype=float), np.nan)
    return np.where(failed & missable, 0.0, judged)


def rows_frame(
    columns: TaskColumns,
    first: ReadLabels,
    second: ReadLabels | None,
    verdict: Verdict,
    further: Mapping[str, Sequence[Any]],
) -> pd.DataFrame:
    """Put columns, keys and verdicts into one frame, see `dojo_kit.tasks.scores.ROW_COLUMNS`.

    Args:
        columns: The rows.
        first: Their labels.
        second: Labels of their second level.
        verdict: What is right.
        further: Columns to add.
    """
    import pandas as pd

    failed = np.asarray(columns.failed, dtype=bool)
    modes = np.where(verdict.right == 0, verdict.modes, np.array(None))
    modes[failed] = NO_ANSWER
    found: dict[str, Any] = {
        "document": columns.documents,
        "question": columns.questions,
        "status": np.where(failed, "failed", np.where(first.known, "scored", "unscored")),
        "expected": first.expected,
        "expected_text": first.expected_texts,
        "predicted": np.where(failed, np.array(None), first.predicted),
        "predicted_text": first.predicted_texts,
        "flag": np.where(failed, np.array(None), first.flags),
        "doc_type": verdict.doc_type,
        "doc_type_right": verdict.doc_type_right,
        "expected_subclass": second and second.expected,
        "predicted_subclass": second and np.where(failed, np.array(None), second.predicted),
        "subclass_right": verdict.subclass_right,
        "subclass_right_equiv": verdict.subclass_right_equiv,
        "right": verdict.right,
        "right_equiv": verdict.right_equiv,
        "mode": modes,
        "confidence": columns.confidences,
        "reasoning": columns.reasonings,
        "input_mode": columns.input_modes,
        "error": columns.errors,
        "disguised": columns.disguised,
        "cost_usd": columns.costs,
    }
    series = {name: _typed(found[name], dtype, len(columns)) for name, dtype in ROW_COLUMNS.items()}
    return pd.DataFrame({**series, **{name: list(values) for name, values in further.items()}})


def _typed(values: Any, dtype: str, n: int) -> pd.Series[Any]:
    import pandas as pd

    if dtype == "str":
        return pd.Series([None] * n if values is None else list(values), dtype="str")
    given = [None] * n if values is None else values
    numbers = given if isinstance(given, np.ndarray) else np.array([np.nan if v is None else v for v in given], float)
    if dtype == "boolean":
        return pd.Series(pd.arrays.BooleanArray(numbers == 1, np.isnan(numbers)))
    return pd.Series(numbers, dtype="float64")
