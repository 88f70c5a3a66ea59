"""A provider's export of what it billed: one line per generation."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime

from dojo_kit.analysis.billing import Generation
from dojo_kit.errors import InputError
from dojo_kit.records import Problem
from dojo_kit.runs.cells import shown
from dojo_kit.runs.problems import OnError, ProblemList
from dojo_kit.runs.raw_rows import JsonDocument, RawRow, Rows, load_content
from dojo_kit.runs.sources import PathLike, source_path

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "time": ("created_at", "timestamp", "time", "datetime", "created", "date"),
    "model": ("model_permaslug", "model", "model_slug", "model_name", "model_id"),
    "cost": ("cost_total", "total_cost", "cost", "cost_usd", "usage", "amount"),
    "read": ("tokens_prompt", "prompt_tokens", "input_tokens", "native_tokens_prompt"),
    "written": ("tokens_completion", "completion_tokens", "output_tokens", "native_tokens_completion"),
    "id": ("generation_id", "id", "request_id"),
}
"""What is read -> the names a column of it may have; upper and lower case do not matter."""

_NEEDED = ("time", "model", "cost")
_FILE = "a provider's export with one line per generation: time, model, cost"


@dataclass(frozen=True, slots=True)
class Activity:
    """What a provider billed.

    Attributes:
        generations: Its lines.
        n_duplicates: Lines left out because an earlier one has their id.
        n_without_zone: Lines whose time names no zone and is taken as UTC.
        problems: Lines that could not be read.
        source: The file.
    """

    generations: tuple[Generation, ...]
    n_duplicates: int = 0
    n_without_zone: int = 0
    problems: tuple[Problem, ...] = ()
    source: str = ""


def read_activity(path: PathLike, *, on_error: OnError = "raise") -> Activity:
    """Read an export: CSV, or rows of another kind, whose columns are found by their usual names.

    Args:
        path: The file.
        on_error: ``collect`` leaves out lines that cannot be read and lists them.

    Raises:
        InputError: The file cannot be read, a column is missing, or (unless collecting) a line is faulty.
    """
    path = source_path(path, expected=_FILE)
    problems = ProblemList(on_error, str(path))
    content = load_content(path, problems, expected=_FILE)
    if isinstance(content, JsonDocument):
        raise InputError("is one JSON object", file=path, expected=_FILE)
    columns = _columns(content, str(path))
    found: list[Generation] = []
    seen: set[str] = set()
    n_duplicates = n_without_zone = 0
    for row in content.rows:
        try:
            generation, has_zone = _generation(row, columns)
        except InputError as error:
            problems.reject(error)
            continue
        name = str(row.values.get(columns.get("id", ""), "") or "")
        if name and name in seen:
            n_duplicates += 1
            continue
        seen.add(name)
        n_without_zone += not has_zone
        found.append(generation)
    if not found:
        raise problems.nothing_left("generations", file=path, expected=_FILE)
    return Activity(tuple(found), n_duplicates, n_without_zone, problems.found, str(path))


def _columns(rows: Rows, file: str) -> dict[str, str]:
    found = {what: column for what, names in COLUMNS.items() if (column := rows.column(*names))}
    for what in _NEEDED:
        if what not in found:
            message = f"no column of the {what}; columns found: {rows.listed()}"
            raise InputError(message, file=file, field=what, expected=f"one of {', '.join(COLUMNS[what])}")
    return found


def _generation(row: RawRow, columns: Mapping[str, str]) -> tuple[Generation, bool]:
    time = _time(row, columns["time"])
    model = row.values.get(columns["model"])
    if not isinstance(model, str) or not model.strip():
        raise row.error(f"no model but {shown(model)}", field=columns["model"], expected="the name of a model")
    cost = _number(row, columns["cost"])
    if cost is None:
        raise row.error("no cost", field=columns["cost"], expected="US dollars")
    counts = [_number(row, columns[kind]) for kind in ("read", "written") if kind in columns]
    known = [int(count) for count in counts if count is not None]
    tokens = sum(known) if len(known) == 2 else None
    zoned = time if time.tzinfo else time.replace(tzinfo=UTC)
    return Generation(zoned, model.strip(), cost, tokens), time.tzinfo is not None


def _time(row: RawRow, column: str) -> datetime:
    value = row.values.get(column)
    expected = "the time of one generation, such as 2026-01-31 14:05:00"
    if not isinstance(value, str):
        raise row.error(f"no time but {shown(value)}", field=column, expected=expected)
    text = value.strip().replace(" UTC", "+00:00")
    if _is_day(text):
        message = f"{shown(value)} is a day, not a time: sums of a day cannot be given to runs"
        raise row.error(message, field=column, expected=expected)
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise row.error(f"{shown(value)} is no time", field=column, expected=expected) from None


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _number(row: RawRow, column: str) -> float | None:
    value = row.values.get(column)
    if value is None:
        return None
    try:
        number = math.nan if isinstance(value, bool) else float(str(value).strip().removeprefix("$"))
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise row.error(f"{shown(value)} is no amount", field=column, expected="a number of 0 or more")
    return number
