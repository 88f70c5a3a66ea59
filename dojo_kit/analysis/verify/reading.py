"""Typed access to the decoded JSON of a run record; a wrong type is an `InputError` that names the place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from dojo_kit.errors import InputError

_LARGEST = 1e18


@dataclass(frozen=True, slots=True)
class Node:
    """A JSON object, where it stands in its file, and typed access to its keys.

    A missing key and null both read as None.

    Attributes:
        data: The object.
        path: Its place, e.g. ``results[3].sorter``.
        file: The record it belongs to.
    """

    data: Mapping[str, Any]
    path: str
    file: str

    def number(self, key: str) -> float | None:
        """Read a finite number."""
        value = self.data.get(key)
        if value is None or is_number(value):
            return value
        raise self._wrong(key, "a finite number or null")

    def count(self, key: str) -> int:
        """Read a whole number; a missing one is 0."""
        value = self.data.get(key)
        if value is None:
            return 0
        if isinstance(value, int) and is_number(value):
            return int(value)
        raise self._wrong(key, "a whole number")

    def flag(self, key: str) -> bool | None:
        """Read true or false."""
        value = self.data.get(key)
        if value is None or isinstance(value, bool):
            return value
        raise self._wrong(key, "true, false or null")

    def text(self, key: str) -> str | None:
        """Read a text."""
        value = self.data.get(key)
        if value is None or isinstance(value, str):
            return value
        raise self._wrong(key, "a text or null")

    def texts(self, key: str) -> tuple[str, ...]:
        """Read a list of texts; a missing one is empty."""
        value = self.data.get(key)
        if value is None:
            return ()
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)
        raise self._wrong(key, "a list of texts")

    def child(self, key: str) -> Node:
        """Read an object; a missing one is empty."""
        value = self.data.get(key)
        if value is None:
            value = {}
        if not isinstance(value, Mapping):
            raise self._wrong(key, "an object or null")
        return Node(value, self._place(key), self.file)

    def children(self) -> Iterator[tuple[str, Node]]:
        """Iterate over the keys, every value of which must be an object."""
        for key in self.data:
            yield key, self.child(key)

    def numbers(self) -> dict[str, float]:
        """Read every key as a number, leaving out null."""
        read = {key: self.number(key) for key in self.data}
        return {key: value for key, value in read.items() if value is not None}

    def _place(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key

    def _wrong(self, key: str, expected: str) -> InputError:
        found = repr(self.data[key])
        shown = found if len(found) <= 60 else f"{found[:57]}..."
        return InputError(f"found {shown}", file=self.file, field=self._place(key), expected=expected)


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a value is a number of ordinary size, neither boolean nor NaN.

    Examples:
        >>> [is_number(value) for value in (1, 0.5, True, float("nan"), 10**400, "1")]
        [True, True, False, False, False, False]
    """
    return isinstance(value, int | float) and not isinstance(value, bool) and -_LARGEST < value < _LARGEST


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run record opened for an audit.

    Attributes:
        name: Name to report it under.
        task: Task key.
        root: The whole record.
        rows: Its rows in stored order.
        completed: The rows with an answer.
        failed: The rows without.
    """

    name: str
    task: str
    root: Node
    rows: tuple[Node, ...]
    completed: tuple[Node, ...]
    failed: tuple[Node, ...]

    @property
    def model(self) -> str:
        """Model slug."""
        return self.root.text("model") or ""


def open_record(record: Mapping[str, Any], *, name: str) -> RunRecord:
    """Check the outline of a decoded record.

    Args:
        record: The decoded JSON object; rows stand under ``results``, in older records under ``per_row``.
        name: Name for messages and the report.

    Raises:
        InputError: The record is not an object, has no task, scores or rows, or a row is not an object.
    """
    if not isinstance(record, Mapping):
        raise InputError("the record is not an object", file=name, expected="one JSON object")
    root = Node(record, "", name)
    task = root.text("task")
    if not task:
        raise InputError("the record names no task", file=name, field="task", expected="a task key")
    if not isinstance(record.get("scores"), Mapping):
        raise InputError("the record has no scores", file=name, field="scores", expected="an object")
    key = "results" if record.get("results") is not None else "per_row"
    rows = record.get(key)
    if not isinstance(rows, Sequence) or isinstance(rows, str):
        expected = "a list of rows, here or under per_row"
        raise InputError("the record has no rows", file=name, field="results", expected=expected)
    for index, row in enumerate(rows):
        if not isinstance(row, Mapping):
            place = f"{key}[{index}]"
            raise InputError("the row is not an object", file=name, field=place, expected="an object")
    nodes = tuple(Node(row, f"{key}[{index}]", name) for index, row in enumerate(rows))
    done = [(node.text("status") or "completed") == "completed" for node in nodes]
    completed = tuple(node for node, ok in zip(nodes, done, strict=True) if ok)
    failed = tuple(node for node, ok in zip(nodes, done, strict=True) if not ok)
    return RunRecord(name, task, root, nodes, completed, failed)
