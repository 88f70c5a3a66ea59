"""A noise floor as JSON-ready values and back, every value checked on the way."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dojo_kit.analysis.noise.floor import (
    FLIP_COLUMNS,
    GROUP_COLUMNS,
    MEAN_COLUMNS,
    PAIR_COLUMNS,
    NoiseFloor,
    table_of,
)
from dojo_kit.analysis.noise.reruns import EXCLUDED_COLUMNS
from dojo_kit.errors import InputError, closest

if TYPE_CHECKING:
    import pandas as pd

FORMAT, VERSION = "dojo_kit noise floor", 1

_PLACE = ("task", "model", "prompt_version", "surface")
"""What pairs share with their group; it is stored once."""

_TABLES: Mapping[str, Sequence[str]] = {
    "groups": GROUP_COLUMNS,
    "means": MEAN_COLUMNS,
    "pairs": tuple(name for name in PAIR_COLUMNS if name not in _PLACE),
    "answers": FLIP_COLUMNS,
    "excluded": EXCLUDED_COLUMNS,
}
_KEYS = ("format", "version", "n_runs", *_TABLES)
_COUNTS = frozenset({"group", "n", "n_documents", "n_shared", "n_better", "n_worse", "n_flips"})
_NUMBERS = frozenset({"value", "delta", "lo", "hi", "p"})
_LISTS = frozenset({"notes", "flipped"})
_OPTIONAL = frozenset({"n_flips", "lo", "hi", "p", "expected", "predicted"})
_WORDS = {"count": "a whole number of 0 or more", "number": "a number", "list": "a list of texts", "text": "a text"}


def noise_as_dict(floor: NoiseFloor) -> dict[str, Any]:
    """Return a noise floor as JSON-ready values that `noise_from_dict` reads."""
    tables = {name: _rows(getattr(floor, name)[list(columns)]) for name, columns in _TABLES.items()}
    return {"format": FORMAT, "version": VERSION, "n_runs": floor.n_runs, **tables}


def noise_from_dict(value: Any, *, source: str = "") -> NoiseFloor:
    """Make a noise floor of decoded JSON.

    Args:
        value: What `noise_as_dict` gave.
        source: File it came from.

    Raises:
        InputError: Something is missing, unknown, of a wrong type, or names a group that is not there; the message
            names the file and the field.
    """
    expected = "a noise floor as `dojo noise --out` writes it"
    if not isinstance(value, Mapping) or value.get("format") != FORMAT:
        raise InputError("no noise floor", file=source or None, field="format", expected=expected)
    if value.get("version") != VERSION:
        message = f"noise floors of version {value.get('version')!r} cannot be read"
        raise InputError(message, file=source or None, field="version", expected=f"version {VERSION}")
    _check_keys(value, _KEYS, source, "")
    _check(value["n_runs"], "count", source, "n_runs")
    tables = {name: _table(value[name], name, source) for name in _TABLES}
    known = set(tables["groups"]["group"])
    if len(known) < len(tables["groups"]):
        raise InputError("a group occurs twice", file=source or None, field="groups", expected="each number once")
    for name in ("means", "pairs", "answers"):
        for row, group in enumerate(tables[name]["group"]):
            if group not in known:
                raise InputError(
                    f"there is no group {group}", file=source or None, field=f"{name}[{row}].group", expected="a group"
                )
    tables["pairs"] = _placed(tables["pairs"], tables["groups"])
    return NoiseFloor(**tables, n_runs=value["n_runs"], source=source)


def _placed(pairs: pd.DataFrame, groups: pd.DataFrame) -> pd.DataFrame:
    places = groups.set_index("group")[list(_PLACE)]
    found = pairs.join(places, on="group")[list(PAIR_COLUMNS)]
    return table_of(list(found.itertuples(index=False, name=None)), PAIR_COLUMNS)


def _rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): _plain(item) for name, item in row.items()} for row in frame.to_dict("records")]


def _plain(item: Any) -> Any:
    if isinstance(item, tuple):
        return list(item)
    return None if item is None or item != item or str(item) == "<NA>" else item


def _table(rows: Any, name: str, source: str) -> pd.DataFrame:
    if not isinstance(rows, list):
        raise InputError("is no list", file=source or None, field=name, expected="a list of objects")
    columns = _TABLES[name]
    found = []
    for number, row in enumerate(rows):
        place = f"{name}[{number}]"
        if not isinstance(row, Mapping):
            raise InputError("is no object", file=source or None, field=place, expected="an object")
        _check_keys(row, columns, source, f"{place}.")
        for column in columns:
            if not (row[column] is None and column in _OPTIONAL):
                _check(row[column], _kind(column), source, f"{place}.{column}")
        found.append([tuple(row[column]) if column in _LISTS else row[column] for column in columns])
    return table_of(found, columns)


def _kind(column: str) -> str:
    kinds = ((_COUNTS, "count"), (_NUMBERS, "number"), (_LISTS, "list"))
    return next((kind for columns, kind in kinds if column in columns), "text")


def _check_keys(value: Mapping[str, Any], keys: Sequence[str], source: str, place: str) -> None:
    for key in keys:
        if key not in value:
            raise InputError("is missing", file=source or None, field=f"{place}{key}", expected="all keys")
    for key in value:
        if key not in keys:
            message = f"is unknown{closest(str(key), keys)}"
            raise InputError(message, file=source or None, field=f"{place}{key}", expected=", ".join(keys))


def _check(value: Any, kind: str, source: str, place: str) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    right = {
        "count": number and isinstance(value, int) and value >= 0,
        "number": number and math.isfinite(value),
        "list": isinstance(value, list) and all(isinstance(item, str) for item in value),
        "text": isinstance(value, str),
    }
    if not right[kind]:
        shown = repr(value) if len(repr(value)) <= 40 else repr(value)[:37] + "..."
        raise InputError(f"is {shown}", file=source or None, field=place, expected=_WORDS[kind])
