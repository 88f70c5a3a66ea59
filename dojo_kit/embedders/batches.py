"""Encoding many texts batch by batch, the vectors in the order of the texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from dojo_kit.errors import InputError

Vectors = NDArray[np.float32]
Progress = Callable[[int, int], None]
"""Called with (texts encoded, texts in all)."""


def check_texts(texts: Sequence[str]) -> list[str]:
    r"""Refuse what is not a sequence of texts; half a surrogate pair, which is no character, becomes ``?``.

    Raises:
        InputError: A text alone was given, or something in the sequence is no text.

    Examples:
        >>> check_texts(["a", "\ud800b"])
        ['a', '?b']
        >>> check_texts("ab")
        Traceback (most recent call last):
        dojo_kit.errors.InputError: one text where several belong; expected a list of texts
    """
    if isinstance(texts, str):
        raise InputError("one text where several belong", expected="a list of texts")
    for text in texts:
        if not isinstance(text, str):
            raise InputError(f"a {type(text).__name__} among the texts to embed", expected="texts")
    return [text.encode("utf-8", "replace").decode("utf-8") for text in texts]


def longest_first(texts: Sequence[str]) -> list[int]:
    """Order texts by falling length, so that the texts of a batch need little padding.

    Examples:
        >>> longest_first(["a", "ccc", "bb", "dd"])
        [1, 2, 3, 0]
    """
    return sorted(range(len(texts)), key=lambda index: -len(texts[index]))


def slices(order: Sequence[int], size: int) -> list[Sequence[int]]:
    """Cut an order into pieces of at most ``size``."""
    return [order[start : start + size] for start in range(0, len(order), size)]


def encode_batches(
    texts: Sequence[str],
    batches: Iterable[Sequence[int]],
    encode: Callable[[list[str]], Vectors],
    progress: Progress | None = None,
) -> Vectors:
    """Encode texts batch by batch.

    Args:
        texts: Texts.
        batches: Indices of the texts of each batch; every text in exactly one.
        encode: Turns the texts of a batch into vectors, shape (texts, d).
        progress: Called before the first batch and after each.

    Returns:
        Shape (n, d) in the order of the texts; (0, 0) without texts.
    """
    vectors = np.zeros((len(texts), 0), dtype=np.float32)
    done = 0
    if progress and texts:
        progress(0, len(texts))
    for batch in batches:
        found = encode([texts[index] for index in batch])
        if not done:
            vectors = np.empty((len(texts), found.shape[1]), dtype=np.float32)
        vectors[list(batch)] = found
        done += len(batch)
        if progress:
            progress(done, len(texts))
    return vectors
