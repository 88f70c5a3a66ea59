"""Bringing the columns of a task to the keys of a vocabulary."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dojo_kit.errors import closest
from dojo_kit.records import Problem
from dojo_kit.scoring.classification import is_other
from dojo_kit.scoring.label_reading import is_failed_output, label_text, label_texts, normalize_label
from dojo_kit.text.answers import fold
from dojo_kit.text.tokens import is_no_value
from dojo_kit.vocabulary import OWN_LABELS, Vocabulary, own_vocabulary, vocabulary

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
        return np.array(self.expected != None, dtype=bool)  # noqa: E711


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
    truth, guess = _Texts(expected), _Texts(predicted)
    found: dict[str, Vocabulary] = {}
    problems: list[Problem] = []
    keys, guesses, flags = (np.full(len(truth.codes), None, dtype=object) for _ in range(3))
    for question, rows in _rows_by(questions, len(truth.codes)).items():
        allowed = _allowed(valid, question)
        labels = [text for text in truth.distinct(rows) if not _is_missing(text, allowed)]
        known, new = _choose(vocabularies, labels, allowed)
        problems += new
        open_set = allowed is None and known.name == OWN_LABELS
        found[question] = known.extended(_further_labels(known, guess.distinct(rows))) if open_set else known
        keys[rows] = truth.read(rows, found[question], only=frozenset(labels))[0]
        guesses[rows], flags[rows] = guess.read(rows, found[question])
    return ReadLabels(
        _together(found),
        keys,
        truth.column(),
        guesses,
        guess.column(),
        flags,
        _equivalent(keys, guesses, list(found.values())),
        tuple(problems),
    )


def read_answers(values: Sequence[Any], name: str) -> Keys:
    """Read a column against a packaged vocabulary."""
    return _Texts(values).read(slice(None), vocabulary(name))[0]


_Rows = NDArray[np.intp] | slice


class _Texts:
    """A column as codes into its distinct texts, so that each is read once."""

    def __init__(self, values: Sequence[Any]) -> None:
        import pandas as pd

        codes, distinct = pd.factorize(label_texts(values))
        self.texts = [*map(label_text, distinct), ""]  # the last for missing values, whose code is -1
        self.codes = codes

    def distinct(self, rows: _Rows) -> list[str]:
        """Return the distinct texts of some rows, in order of appearance in the column."""
        occurring = np.unique(self.codes[rows] % len(self.texts))
        return list(dict.fromkeys(self.texts[code] for code in occurring))

    def column(self) -> Keys:
        """Return the text of every row; None where there is none."""
        return _objects(text or None for text in self.texts)[self.codes]

    def read(self, rows: _Rows, known: Vocabulary, only: Collection[str] | None = None) -> tuple[Keys, Keys]:
        """Return keys and flags of some rows; of texts not among ``only`` no key."""
        keys, flags = np.full(len(self.texts), None, dtype=object), np.full(len(self.texts), None, dtype=object)
        for code in np.unique(self.codes[rows] % len(self.texts)):
            text = self.texts[code]
            if only is None or text in only:
                keys[code], flags[code], _ = normalize_label(text, known)
        return keys[self.codes[rows]], flags[self.codes[rows]]


def _rows_by(questions: Sequence[str] | None, n: int) -> dict[str, _Rows]:
    if questions is None or not n:
        return {"": slice(None)}
    import pandas as pd

    codes, names = pd.factorize(_objects(questions), use_na_sentinel=False)
    return {label_text(name): np.flatnonzero(codes == code) for code, name in enumerate(names)}


def _equivalent(keys: Keys, guesses: Keys, found: Sequence[Vocabulary]) -> NDArray[np.bool_]:
    answered = np.array(guesses != None, dtype=bool)  # noqa: E711
    same = np.asarray(answered & (keys == guesses), dtype=bool)
    if any(known.equivalents for known in found):
        for index in np.flatnonzero(answered & ~same):
            same[index] = any(known.equivalent(keys[index], guesses[index]) for known in found)
    return same


def _allowed(valid: ValidLabels | None, question: str) -> list[str] | None:
    if isinstance(valid, Mapping):
        return list(valid[question]) if question in valid else None
    return None if valid is None else list(valid)


def _further_labels(known: Vocabulary, answers: Iterable[str]) -> list[str]:
    """Return answers that are labels nothing was expected of: no longer than the expected ones, and naming none."""
    longest = max((len(fold(label).split()) for label in known.labels.values()), default=0)
    return [
        text
        for text in answers
        if not is_failed_output(text)
        and 0 < len(fold(text).split()) <= longest
        and normalize_label(text, known).flag == "unknown"
    ]


def _is_missing(text: str, allowed: Collection[str] | None) -> bool:
    """Tell whether nothing is expected; a label such as ``None`` is one when it is said to be."""
    return not text.strip() or (is_no_value(text) and text not in (allowed or ()))


def _choose(
    names: Sequence[str], expected: Sequence[str], allowed: Sequence[str] | None
) -> tuple[Vocabulary, list[Problem]]:
    """Choose the first vocabulary that knows all labels, else the one that knows most, with the rest added to it.

    A vocabulary that knows fewer than half of them is of something else, and the labels are their own; that it has an
    ``other`` as well says nothing.
    """
    labels = list(dict.fromkeys((*(allowed or ()), *expected)))
    telling = [label for label in labels if not is_other(fold(label))]
    best: Vocabulary | None = None
    unknown = labels
    for name in names:
        known = vocabulary(name)
        left = [label for label in labels if normalize_label(label, known).flag != "exact"]
        if not left:
            return known, []
        if len(left) < len(unknown) and 2 * len(left) <= len(telling):
            best, unknown = known, left
    if best is None:
        extra = [label for label in expected if allowed is not None and label not in allowed]
        own = own_vocabulary(labels)
        if allowed is None and len(own.keys) == 1:  # what else an answer could have named is not known
            own = replace(own, exact_only=frozenset(own.keys))
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


def _objects(values: Iterable[Any]) -> Keys:
    items = list(values)
    column = np.empty(len(items), dtype=object)
    column[:] = items
    return column
