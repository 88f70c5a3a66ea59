"""The book-keeping of an audit: compares stored with recomputed values and forgets none.

**When two numbers are equal.** Published values were rounded to 4 decimals, dollar amounts to 6. A stored
number follows when it lies within half a unit of its last decimal of the recomputed, unrounded one, plus
1e-9; at a tie both neighbours are therefore accepted, whichever way the writer rounded. A value computed in a
row from numbers that were themselves stored rounded gets one half unit per rounding. Counts follow only when
identical. Trailing zeros are not stored in JSON, so the number of decimals is a property of the value, not of
how it happens to be printed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dojo_kit.analysis.verify.reading import is_number
from dojo_kit.analysis.verify.report import Difference, RowCheck, Unverifiable, VerifyReport
from dojo_kit.stats.legacy import legacy_bootstrap

DECIMALS = 4
"""Decimals of stored scores."""

DOLLAR_DECIMALS = 6
"""Decimals of stored dollar amounts."""

NO_RULE = "no rule is known that gives it from the rows"

_TIE = 1e-9
_INTERVAL_METHOD = "percentile-bootstrap"
_MOST_ROUNDS = 100_000


class Table(dict[str, Any]):
    """A recomputed table: a stored key it lacks, or a key of its own that is not stored, is a difference.

    A plain dict is a set of metrics instead, of which a record may store any.
    """


@dataclass(frozen=True, slots=True)
class Rounded:
    """A recomputed number that is stored with other than the usual decimals."""

    value: float | None
    decimals: int


@dataclass(frozen=True, slots=True)
class Unknown:
    """In place of a recomputed value: why there is none, and whether a stored null then follows."""

    why: str
    null_follows: bool = False


@dataclass(frozen=True, slots=True)
class Resampled:
    """In place of a recomputed interval: the values whose mean was resampled, in record order."""

    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Entries:
    """A recomputed list of objects, identified by ``filename``; a key an entry lacks cannot be recomputed."""

    items: tuple[Mapping[str, Any], ...]


@dataclass(slots=True)
class _Tally:
    n: int = 0
    n_different: int = 0
    first: tuple[str, Any, Any] = ("", None, None)


def agree(stored: object, recomputed: object, *, decimals: int = DECIMALS, roundings: int = 1) -> bool:
    """Whether a stored value follows from a recomputed one, see the module's text.

    Args:
        stored: The value as stored.
        recomputed: The value the rows give, not rounded.
        decimals: Decimals it was rounded to.
        roundings: Roundings between the two.

    Examples:
        >>> agree(0.6667, 2 / 3), agree(0.6666, 2 / 3), agree(0.3, 0.29996)
        (True, False, True)
        >>> agree(0.0307, 0.03075), agree(0.0308, 0.03075), agree(True, 1), agree(None, 0.0)
        (True, True, False, False)
    """
    if is_number(stored) and is_number(recomputed):
        slack: float = roundings * 0.5 * 10.0**-decimals + _TIE
        return abs(stored - recomputed) <= slack
    if isinstance(stored, bool) or isinstance(recomputed, bool):
        return stored is recomputed
    return stored == recomputed


def leaves(value: object, name: str) -> Iterator[str]:
    """Name every stored value: keys joined by dots, entries of a list of objects by ``[]``.

    Examples:
        >>> list(leaves({"a": {"b": 1, "c": []}, "d": [{"e": 1}, {"e": 2}]}, "scores"))
        ['scores.a.b', 'scores.a.c', 'scores.d[].e']
    """
    if isinstance(value, Mapping) and value:
        for key, child in value.items():
            yield from leaves(child, f"{name}.{key}")
    elif isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
        yield from dict.fromkeys(leaf for item in value for leaf in leaves(item, f"{name}[]"))
    else:
        yield name


class Ledger:
    """Collects what an audit compares.

    Every value is entered under the name `leaves` gives it; a table or list that differs as a whole is
    entered under its own name and stands for everything in it.
    """

    def __init__(self) -> None:
        self._confirmed: dict[str, None] = {}
        self._differences: dict[str, Difference] = {}
        self._unverifiable: dict[str, Unverifiable] = {}
        self._rows: dict[str, _Tally] = {}

    def compare(self, name: str, stored: object, recomputed: object, *, note: str = "") -> None:
        """Compare a stored value, table or set of metrics with what the rows give.

        Of a plain dict of recomputed metrics only the stored ones are compared; stored ones it lacks are left
        open, see `close`.
        """
        match recomputed:
            case Unknown() if stored is None and recomputed.null_follows:
                self._leaf(name, stored, None, note)
            case Unknown(why):
                self.unverifiable(name, why)
            case Resampled(values):
                self._interval(name, stored, values)
            case Entries(items):
                self._entries(name, stored, items)
            case Rounded(value, decimals):
                self._leaf(name, stored, value, note, decimals)
            case Table() if not (recomputed and stored and isinstance(stored, Mapping)):
                self._leaf(name, stored, recomputed, note)
            case dict() if isinstance(stored, Mapping):
                self._keys(name, stored, recomputed, note)
            case dict():
                self._differ(name, stored, None, "not an object")
            case _:
                self._leaf(name, stored, recomputed, note)

    def unverifiable(self, name: str, why: str) -> None:
        """Enter a stored value the rows cannot give."""
        self._unverifiable[name] = Unverifiable(name, why)

    def row(
        self,
        name: str,
        where: str,
        stored: object,
        recomputed: object,
        *,
        decimals: int = DECIMALS,
        roundings: int = 1,
    ) -> None:
        """Compare a value inside a row; all rows together make one entry ``rows.NAME``."""
        tally = self._rows.setdefault(f"rows.{name}", _Tally())
        tally.n += 1
        if not agree(stored, recomputed, decimals=decimals, roundings=roundings):
            if not tally.n_different:
                tally.first = (where, stored, recomputed)
            tally.n_different += 1

    def open_leaves(self, name: str, stored: object) -> list[str]:
        """List the stored values that have not been entered, neither themselves nor what holds them."""
        return [leaf for leaf in leaves(stored, name) if not self.has(leaf)]

    def close(self, name: str, stored: object, why: Mapping[str, str]) -> None:
        """Enter every stored value that is still open as unverifiable.

        Args:
            name: Name of the stored object.
            stored: The stored object.
            why: Reasons by the beginning of the name; other names get `NO_RULE`.
        """
        for leaf in self.open_leaves(name, stored):
            reason = next((why[start] for start in why if leaf.startswith(start)), NO_RULE)
            self.unverifiable(leaf, reason)

    def has(self, leaf: str) -> bool:
        """Whether a stored value, or a table or list that holds it, has been entered."""
        names = [leaf, *(leaf[:i] for i, mark in enumerate(leaf) if mark in ".[")]
        entered = (self._confirmed, self._differences, self._unverifiable)
        return any(name in book for name in names for book in entered)

    def report(self, run: str, task: str) -> VerifyReport:
        """Return everything entered so far."""
        for name, tally in self._rows.items():
            where, stored, recomputed = tally.first
            if tally.n_different:
                self._differ(name, stored, recomputed, f"{tally.n_different} of {tally.n}, first in {where}")
            else:
                self._confirmed[name] = None
        return VerifyReport(
            run,
            task,
            tuple(self._confirmed),
            tuple(self._differences.values()),
            tuple(self._unverifiable.values()),
            tuple(RowCheck(name, tally.n, tally.n_different) for name, tally in self._rows.items()),
        )

    def _leaf(self, name: str, stored: object, recomputed: object, note: str, decimals: int = DECIMALS) -> None:
        if agree(stored, recomputed, decimals=decimals):
            self._confirmed[name] = None
        else:
            self._differ(name, stored, recomputed, note)

    def _differ(self, name: str, stored: object, recomputed: object, note: str) -> None:
        self._differences[name] = Difference(name, stored, _plain(recomputed), note)

    def _keys(self, name: str, stored: Mapping[str, Any], recomputed: dict[str, Any], note: str) -> None:
        closed = isinstance(recomputed, Table)
        for key, value in stored.items():
            if key in recomputed:
                self.compare(f"{name}.{key}", value, recomputed[key], note=note)
            elif closed:
                self._differ(f"{name}.{key}", value, None, note or "the rows give no such entry")
        for key in recomputed if closed else ():
            if key not in stored:
                self._differ(f"{name}.{key}", None, recomputed[key], note or "not stored")

    def _interval(self, name: str, stored: object, values: tuple[float, ...]) -> None:
        if len(values) < 2:  # one value cannot be resampled; published as null
            self._leaf(name, stored, None, "fewer than two values have no interval")
            return
        settings = stored if isinstance(stored, Mapping) else {"seed": 42, "n_boot": 2000}
        seed, n_boot = settings.get("seed"), settings.get("n_boot")
        if not (type(seed) is int and type(n_boot) is int and 21 <= n_boot <= _MOST_ROUNDS):
            self.unverifiable(name, f"cannot be redrawn with seed {seed!r} and n_boot {n_boot!r}")
            return
        lo, hi = legacy_bootstrap(values, seed=seed, n_boot=n_boot)
        half = (round(hi, DECIMALS) - round(lo, DECIMALS)) / 2
        recomputed = {"lo": lo, "hi": hi, "half": half, "n": len(values), "method": _INTERVAL_METHOD}
        if not isinstance(stored, Mapping):
            self._differ(name, stored, recomputed, "")
            return
        self._keys(name, stored, recomputed, "")
        drawn = f"{name}.lo" in self._confirmed and f"{name}.hi" in self._confirmed
        for setting in ("seed", "n_boot"):
            if drawn:  # what the bounds come out with is what they were drawn with
                self._confirmed[f"{name}.{setting}"] = None
            else:
                self.unverifiable(f"{name}.{setting}", "the stored bounds do not come out with it")

    def _entries(self, name: str, stored: object, items: tuple[Mapping[str, Any], ...]) -> None:
        if not isinstance(stored, list) or not all(isinstance(entry, Mapping) for entry in stored):
            self._differ(name, stored, f"{len(items)} entries", "not a list of objects")
            return
        wanted = [str(item["filename"]) for item in items]
        found = [str(entry.get("filename")) for entry in stored]
        if found == wanted:
            self._confirmed[f"{name}[].filename" if found else name] = None
            pairs = list(zip(stored, items, strict=True))
        else:
            extra, lost = len(set(found) - set(wanted)), len(set(wanted) - set(found))
            note = f"{extra} stored entries do not follow, {lost} are not stored"
            note = note if extra or lost else "the entries stand in another order or are repeated"
            self._differ(name, f"{len(found)} entries", f"{len(items)} entries", note)
            by_file = dict(zip(wanted, items, strict=True))
            pairs = [(e, by_file[file]) for e, file in zip(stored, found, strict=True) if file in by_file]
        for key in dict.fromkeys(key for entry in stored for key in entry if key != "filename"):
            self._entry_key(f"{name}[].{key}", key, pairs)

    def _entry_key(self, name: str, key: str, pairs: list[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> None:
        known = [(entry, item) for entry, item in pairs if key in entry and key in item]
        wrong = [(entry, item) for entry, item in known if not agree(entry[key], item[key])]
        if wrong:
            entry, item = wrong[0]
            note = f"{len(wrong)} of {len(known)}, first in {item['filename']}"
            self._differ(name, entry[key], item[key], note)
        elif known:
            self._confirmed[name] = None
        else:
            self.unverifiable(name, "the rows of these entries do not carry it")


def _plain(recomputed: object) -> object:
    """Strip what an audit wraps around values."""
    match recomputed:
        case Rounded(value):
            return value
        case Unknown() | Resampled() | Entries():
            return None
        case dict():
            return {key: _plain(value) for key, value in recomputed.items()}
        case _:
            return recomputed
