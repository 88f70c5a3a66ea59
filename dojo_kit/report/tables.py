"""Tables of a page: the cells of a DataFrame as they are written for people."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dojo_kit import formats
from dojo_kit.errors import InputError, closest
from dojo_kit.stats.intervals import Estimate

if TYPE_CHECKING:
    import pandas as pd

_WRITTEN_NUMBER = re.compile(r"[+\-\N{MINUS SIGN}]?\d[\d,]*(?:\.\d+)?(?: ?%| pp)?(?: \[[^\]]+\])?|\N{EN DASH}")

SHORT = 28
"""Characters up to which the texts of a column stay on one line."""


@dataclass(frozen=True)
class Cell:
    """A cell as it is shown; a frame may hold such cells.

    Attributes:
        text: What is written.
        note: What hovering says; why a value is unknown, for one.
        more: How the text goes on, shown once a reader unfolds it.
        faint: Whether it is set back because it says little.
    """

    text: str
    note: str = ""
    more: str = ""
    faint: bool = False


@dataclass(frozen=True)
class Column:
    """A column as it is shown.

    Attributes:
        heading: What stands over it.
        kind: ``n`` for numbers, which stand at the right, ``short`` for texts that need no second line, else empty.
        cells: Its cells.
    """

    heading: str
    kind: str
    cells: tuple[Cell, ...]

    @property
    def folds(self) -> bool:
        """Whether any of its cells can be unfolded."""
        return any(cell.more for cell in self.cells)


def shown_columns(frame: pd.DataFrame, columns: Mapping[str, str] | Sequence[str] | None) -> list[Column]:
    """Return the columns of a table as they are shown.

    Args:
        frame: The table; its index is not shown.
        columns: Columns to show, in this order, or column -> heading; all by default.

    Raises:
        InputError: It is not a table, or a column is unknown.
    """
    import pandas as pd

    if not isinstance(frame, pd.DataFrame):
        raise InputError(f"the table is a {type(frame).__name__}", expected="a pandas DataFrame")
    names = list(frame.columns if columns is None else columns)
    known = [str(name) for name in frame.columns]
    for name in names:
        if name not in frame:
            raise InputError(f"the table has no column {name!r}{closest(str(name), known)}", expected=", ".join(known))
    headings = columns if isinstance(columns, Mapping) else {}
    return [_column(frame[name], str(headings.get(name, str(name).replace("_", " ")))) for name in names]


def _column(values: pd.Series[Any], heading: str) -> Column:
    cells = tuple(_cell(value) for value in values.tolist())
    longest = max((len(cell.text) for cell in cells), default=0)
    return Column(heading, "n" if _is_numeric(values) else "short" if longest <= SHORT else "", cells)


def _is_numeric(values: pd.Series[Any]) -> bool:
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    if is_numeric_dtype(values.dtype):
        return not is_bool_dtype(values.dtype)
    known = [value for value in values.tolist() if not _is_missing(value)]
    return bool(known) and all(map(_reads_as_number, known))


def _reads_as_number(value: Any) -> bool:
    value = value.text if isinstance(value, Cell) else value
    if isinstance(value, str):
        return bool(_WRITTEN_NUMBER.fullmatch(value))
    return isinstance(value, int | float | Estimate) and not isinstance(value, bool)


def _cell(value: Any) -> Cell:
    if isinstance(value, Cell):
        return value
    if isinstance(value, Estimate):
        return Cell(formats.estimate(value), value.note or ", ".join(value.flags) or f"n {value.n:,}")
    if _is_missing(value):
        return Cell(formats.UNKNOWN)
    if isinstance(value, bool):
        return Cell("yes" if value else "no")
    if isinstance(value, int):
        return Cell(f"{value:,}")
    return Cell(formats.number(value) if isinstance(value, float) else str(value))


def _is_missing(value: Any) -> bool:
    import pandas as pd

    return value is None or value is pd.NA or value is pd.NaT or value != value
