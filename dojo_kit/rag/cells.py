"""Cells of a table: what a text, a number or a flag may mean, and reading each distinct cell once."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

MISSING = -1
"""A blank cell."""

WRONG = -2
"""A cell that means nothing here."""

_LABELS = {"0": 0, "1": 1, "false": 0, "true": 1}
_WHOLE = re.compile(r"\+?(\d{1,15})(?:\.0*)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Distinct:
    """A column as its different cells.

    Attributes:
        codes: Position in ``different`` of every row's cell, shape (rows,); -1 where pandas sees a missing value.
        different: The different cells.
    """

    codes: NDArray[np.int64]
    different: NDArray[Any]

    def value(self, row: int) -> Any:
        """Return a row's cell, None where it is missing."""
        code = self.codes[row]
        return None if code < 0 else self.different[code]

    def expand(self, of_values: NDArray[Any], *, missing: object) -> NDArray[Any]:
        """Give every row what belongs to its cell.

        Args:
            of_values: One element per different cell.
            missing: The element of missing cells.
        """
        return np.append(of_values, np.asarray([missing], dtype=of_values.dtype))[self.codes]

    def read(self, read: Callable[[Any], int]) -> NDArray[np.int64]:
        """Read every row's cell as a whole number, `MISSING` or `WRONG`."""
        numbers = np.array([read(value) for value in self.different], dtype=np.int64)
        read_rows: NDArray[np.int64] = self.expand(numbers, missing=MISSING)
        return read_rows


def distinct(column: pd.Series[Any]) -> Distinct:
    """Find the different cells of a column."""
    import pandas as pd

    if column.dtype == object and pd.api.types.infer_dtype(column, skipna=True).startswith("mixed"):
        # 1, 1.0 and True are equal in Python, but not as ids
        spelled = column.map(lambda cell: f"{type(cell).__name__} {cell!r}", na_action="ignore")
        codes, _ = pd.factorize(spelled)
        known = np.flatnonzero(codes >= 0)
        first = known[np.unique(codes[known], return_index=True)[1]]
        return Distinct(codes.astype(np.int64), column.to_numpy(dtype=object)[first])
    try:
        codes, different = pd.factorize(column)
    except TypeError:  # a cell that holds a list has no hash
        cells = np.empty(len(column), dtype=object)
        cells[:] = list(column)
        return Distinct(np.arange(len(column), dtype=np.int64), cells)
    return Distinct(codes.astype(np.int64), np.asarray(different, dtype=object))


def read_label(value: Any) -> int:
    """Read a label: exactly 0 or 1, as a number, a truth value or its text in plain letters and digits.

    Examples:
        >>> [read_label(cell) for cell in ("1 ", "TRUE", 1.0, False, "0.0", "", 0.9, "yes", 2)]
        [1, 1, 1, 0, 0, -1, -2, -2, -2]
    """
    if isinstance(value, str):
        text = lowered(value)
        if not text:
            return MISSING
        whole = _WHOLE.fullmatch(text)
        return _LABELS.get(text if whole is None else whole[1], WRONG)
    if isinstance(value, int | float | np.number | np.bool_):
        return int(value) if value in (0, 1) else WRONG
    return WRONG


def lowered(text: str) -> str:
    r"""Return a word of few in small letters, without blanks around it; letters that only look alike are kept.

    Examples:
        >>> lowered(" True "), lowered("fal\u017fe") == "false"
        ('true', False)
    """
    if text.isascii():
        return text.strip().lower()
    return text if text.strip() else ""


def read_size(value: Any) -> int:
    """Read a whole number from 0.

    Examples:
        >>> [read_size(cell) for cell in (3, 3.0, "3", " 3.0", "", 1.5, "1.5", -1, "1e5", True)]
        [3, 3, 3, 3, -1, -2, -2, -2, -2, -2]
    """
    if isinstance(value, str):
        text = value.strip()
        if not text:
            return MISSING
        whole = _WHOLE.fullmatch(text)
        return WRONG if whole is None else int(whole[1])
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.number):
        return WRONG
    number = float(value)
    return int(number) if math.isfinite(number) and 0 <= number < 1e15 and number.is_integer() else WRONG


read_rank = read_size
"""A rank is read like any size; that it starts from 1 is checked with the rest of its row."""


def read_ids(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Read ids: text as it is spelled, or a whole number as its digits.

    Args:
        values: Cells, shape (n,).

    Returns:
        The ids, and which cells are none, for which the id is empty text.

    Examples:
        >>> names, wrong = read_ids(np.array(["001", "NA", 7, 1.0], dtype=object))
        >>> names.tolist(), wrong.tolist()
        (['001', 'NA', '7', ''], [False, False, False, True])
    """
    from pandas.api.types import infer_dtype

    if infer_dtype(values, skipna=False) == "string":
        return values, np.zeros(len(values), dtype=bool)
    names = np.array([_id(value) for value in values], dtype=object)
    wrong = np.array([name is None for name in names], dtype=bool)
    names[wrong] = ""
    return names, wrong


def id_texts(column: pd.Series[Any]) -> NDArray[Any]:
    """Return the id in every cell of a column as its text, empty where there is none.

    Examples:
        >>> import pandas as pd
        >>> id_texts(pd.Series([1, "1", " 1", None, True], dtype=object)).tolist()
        ['1', '1', ' 1', '', '']
    """
    cells = distinct(column)
    names, _ = read_ids(cells.different)
    return cells.expand(names.astype(object), missing="")


def _id(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    return str(int(value)) if isinstance(value, int | np.integer) and not isinstance(value, bool) else None
