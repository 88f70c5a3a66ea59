"""Bringing the columns of a task to the keys of a vocabulary."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dojo_kit.errors import closest
from dojo_kit.records import Problem
from dojo_kit.scoring.label_reading import label_text, normalize_label
from dojo_kit.text.tokens import is_no_value
from dojo_kit.vocabulary import Normalized, Vocabulary, own_vocabulary, vocabulary

Keys = NDArray[np.object_]

ValidLabels = Iterable[str] | Mapping[str, Iterable[str]]
"""Labels an answer may have, or question -> the labels its answer may have."""


@dataclass(frozen=True, eq=False)
class ReadLabels:
    """Expected and predicted labels of one level, as keys.

    Attributes:
        vocabulary: The vocabulary they were read against; of all questions together, where questions have their own.
        expected: Key per row; None where nothing is expected.
        expected_texts: What was expected, as written.
        predicted: Key per row; None where the answer names no label.
        predicted_texts: The answer.
        flags: How each answer was read, see `dojo_kit.text.answers.ReadingFlag`.
        equivalent: Whether expected and predicted are the same or defensible for one another.
        problems: Expected labels the vocabulary does not know.
    """

    vocabulary: Vocabulary
    expected: Keys
    expected_texts: Keys
    predicted: Keys
    predicted_texts: Keys
    flags: Keys
    equivalent: NDArray[np.bool_]
    problems: tuple[Problem, ...]

    @property
    def right(self) -> NDArray[np.bool_]:
        """Whether the predicted key is the expected one."""
        return np.asarray(self.known & (self.expected == self.predicted), dtype=bool)

    @property
    def known(self) -> NDArray[np.bool_]:
        """Whether something is expected."""
        return np.array([key is not None for key in self.expected], dtype=bool)


def read_labels(
    expected: Sequence[Any],
    predicted: Sequence[Any],
    *,
    vocabularies: Sequence[str],
    valid: ValidLabels | None = None,
    questions: Sequence[str] | None = None,
) -> ReadLabels:
    """Read two columns against the vocabulary that fits the expected labels.

    Args:
        expected: True labels; a missing one, or one that says there is none, is not scored.
        predicted: Answers: text, JSON objects or None.
        vocabularies: Names of vocabularies the labels may be of, the best first.
        valid: Labels an answer may have; they replace the expected ones in the choice of the vocabulary.
        questions: Question of every row; each has a vocabulary of its own.
    """
    n = len(expected)
    asked = [""] * n if questions is None else list(questions)
    truth, guess = _Texts(expected), _Texts(predicted)
    found: dict[str, Vocabulary] = {}
    problems: list[Problem] = []
    read_truth, read_guess = _empty(n), _empty(n)
    for question, rows in _rows_by(asked).items():
        allowed = _allowed(valid, question)
        texts = dict.fromkeys(t for t in map(truth.at, rows) if not _is_missing(t, allowed))
        found[question], new = _choose(vocabularies, list(texts), allowed)
        problems += new
        for index, text in zip(rows, map(truth.at, rows), strict=True):
            if text in texts:
                read_truth[index] = truth.read(index, found[question])
        for index in rows:
            read_guess[index] = guess.read(index, found[question])
    keys = _column(reading and reading.key for reading in read_truth)
    guesses = _column(reading.key for reading in read_guess)
    pairs = {pair: any(v.equivalent(*pair) for v in found.values()) for pair in set(zip(keys, guesses, strict=True))}
    return ReadLabels(
        _together(found),
        keys,
        _column(truth.at(index) or None for index in range(n)),
        guesses,
        _column(guess.at(index) for index in range(n)),
        _column(reading.flag for reading in read_guess),
        np.array([pairs[pair] for pair in zip(keys, guesses, strict=True)], dtype=bool),
        tuple(problems),
    )


def read_answers(values: Sequence[Any], name: str) -> Keys:
    """Read a column against a packaged vocabulary."""
    texts, known = _Texts(values), vocabulary(name)
    return _column(texts.read(index, known).key for index in range(len(values)))


class _Texts:
    """A column as texts, each distinct one read once per vocabulary."""

    def __init__(self, values: Sequence[Any]) -> None:
        self._texts = [json.dumps(v, default=str) if isinstance(v, Mapping) else label_text(v) for v in values]
        self._read: dict[tuple[str, int], Normalized] = {}

    def at(self, index: int) -> str:
        return self._texts[index]

    def read(self, index: int, known: Vocabulary) -> Normalized:
        text = self._texts[index]
        key = text, id(known)
        if key not in self._read:
            self._read[key] = normalize_label(text, known)
        return self._read[key]


def _rows_by(questions: Sequence[str]) -> dict[str, list[int]]:
    rows: dict[str, list[int]] = {}
    for index, question in enumerate(questions):
        rows.setdefault(question, []).append(index)
    return rows or {"": []}


def _allowed(valid: ValidLabels | None, question: str) -> list[str] | None:
    if isinstance(valid, Mapping):
        return list(valid[question]) if question in valid else None
    return None if valid is None else list(valid)


def _is_missing(text: str, allowed: Collection[str] | None) -> bool:
    """Tell whether nothing is expected; a label such as ``None`` is one when it is said to be."""
    return not text.strip() or (is_no_value(text) and text not in (allowed or ()))


def _choose(
    names: Sequence[str], expected: Sequence[str], allowed: Sequence[str] | None
) -> tuple[Vocabulary, list[Problem]]:
    """Choose the first vocabulary that knows all labels, else the one that knows most, with the rest added to it.

    A vocabulary that knows fewer than half of them is of something else, and the labels are their own.
    """
    labels = list(dict.fromkeys((*(allowed or ()), *expected)))
    best: Vocabulary | None = None
    unknown = labels
    for name in names:
        known = vocabulary(name)
        left = [label for label in labels if normalize_label(label, known).flag != "exact"]
        if not left:
            return known, []
        if len(left) < len(unknown) and 2 * len(left) <= len(labels):
            best, unknown = known, left
    if best is None:
        extra = [label for label in expected if allowed is not None and label not in allowed]
        own = own_vocabulary(labels)
        return own, [_stranger(label, "the valid labels", allowed or ()) for label in extra if _is_new(label, allowed)]
    problems = [_stranger(label, best.name, best.keys) for label in unknown if label in expected]
    return best.extended(unknown), problems


def _is_new(label: str, allowed: Sequence[str] | None) -> bool:
    return normalize_label(label, own_vocabulary(allowed or ())).key is None


def _stranger(label: str, where: str, known: Iterable[str]) -> Problem:
    message = f"label {label!r} is not among {where}{closest(label, known)}; it counts as a label of its own"
    return Problem(message, field="expected")


def _together(found: Mapping[str, Vocabulary]) -> Vocabulary:
    if len(found) == 1:
        return next(iter(found.values()))
    labels = {key: known.labels[key] for known in found.values() for key in known.keys}
    return Vocabulary(
        "answers of each question",
        labels,
        {key: (key, label) for key, label in labels.items()},
        equivalents=frozenset().union(*(known.equivalents for known in found.values())),
    )


def _empty(n: int) -> list[Any]:
    return [None] * n


def _column(values: Iterable[Any]) -> Keys:
    items = list(values)
    column = np.empty(len(items), dtype=object)
    column[:] = items
    return column
