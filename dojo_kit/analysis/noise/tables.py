"""A noise floor as JSON-ready values and back, every value checked on the way."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, get_args

from dojo_kit.analysis.noise.floor import (
    BAND_RECIPE,
    FLIP_COLUMNS,
    GROUP_COLUMNS,
    MEAN_COLUMNS,
    PAIR_COLUMNS,
    NoiseFloor,
    table_of,
)
from dojo_kit.analysis.noise.reruns import EXCLUDED_COLUMNS, Identity
from dojo_kit.errors import InputError, closest

if TYPE_CHECKING:
    import pandas as pd

FORMAT, VERSION = "dojo_kit noise floor", 2

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
_KINDS = {
    "identity": "identity",
    "recipe": "recipe",
    **dict.fromkeys(("digest", "digest_a", "digest_b"), "digest"),
    **dict.fromkeys(_COUNTS, "count"),
    **dict.fromkeys(_NUMBERS, "number"),
    **dict.fromkeys(_LISTS, "list"),
}
"""Column -> what stands in it; texts elsewhere."""

_WORDS = {
    "count": "a whole number of 0 or more",
    "number": "a number",
    "list": "a list of texts",
    "text": "a text",
    "digest": "the hash of a run's answers",
    "identity": " or ".join(map(repr, get_args(Identity))),
    "recipe": f"an object with {', '.join(BAND_RECIPE)}, each a text or null",
}

_ONCE = {
    "means": ("group", "metric", "run"),
    "pairs": ("group", "metric", "run_a", "run_b"),
    "answers": ("group", "document", "run"),
}
"""Table -> what tells its rows apart."""


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
    version = value.get("version")
    if type(version) is not int or version != VERSION:
        message = f"noise floors of version {version!r} cannot be read"
        raise InputError(message, file=source or None, field="version", expected=f"version {VERSION}")
    _check_keys(value, _KEYS, source, "")
    _check(value["n_runs"], "count", source, "n_runs")
    tables = {name: _table(value[name], name, source) for name in _TABLES}
    known = set(tables["groups"]["group"])
    if len(known) < len(tables["groups"]):
        raise InputError("a group occurs twice", file=source or None, field="groups", expected="each number once")
    for name, columns in _ONCE.items():
        _check_once(tables[name], name, columns, source)
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
                _check(row[column], _KINDS.get(column, "text"), source, f"{place}.{column}")
        found.append([tuple(row[column]) if column in _LISTS else row[column] for column in columns])
    return table_of(found, columns)


def _check_once(table: pd.DataFrame, name: str, columns: Sequence[str], source: str) -> None:
    twice = table.duplicated(list(columns))
    if not twice.any():
        return
    row = int(twice.to_numpy().argmax())
    says = ", ".join(f"{column} {table[column].iloc[row]!s}" for column in columns)
    raise InputError(f"occurs twice ({says})", file=source or None, field=f"{name}[{row}]", expected="each row once")


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
        "digest": isinstance(value, str) and bool(value.strip()),
        "identity": isinstance(value, str) and value in get_args(Identity),
        "recipe": isinstance(value, Mapping)
        and value.keys() == set(BAND_RECIPE)
        and all(part is None or isinstance(part, str) for part in value.values()),
    }
    if not right[kind]:
        shown = repr(value) if len(repr(value)) <= 40 else repr(value)[:37] + "..."
        raise InputError(f"is {shown}", file=source or None, field=place, expected=_WORDS[kind])
