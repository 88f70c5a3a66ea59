"""The embedding rescue: a second opinion on texts whose words differ although they may say the same.

An `Embedder` turns texts into unit vectors. Vectors are rounded to float16 before any cosine is taken, whether
they come from a model or from a cache, so that a cached run equals the first one to the last bit.

The rescue only ever lifts a score: where the string similarity lies below a bound (``embedding_rescue_below``,
0.7), the larger of it and the cosine counts, by the rule ``rescue.embedding``. Never rescued are

- fields that are right or wrong to the letter: ``id``, ``date``, ``money``, also where those fall back to
  comparing names, and ``containment`` fields;
- values without text on either side (``*.both_empty``, ``*.expected_empty``, ``*.predicted_empty``);
- ``*.identical`` values, which are right already, and ``*.negated`` ones: "not exclusive" lies close to
  "exclusive" for every embedding, and means the opposite;
- list labels that are only a role word (``list.role_word``) or a blank (``list.blank_label``).

An embedding measures what a text is about. It cannot tell that a lease starts from that it ends, so the
string-only score is always kept beside the rescued one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dojo_kit.errors import InputError

RESCUE = "rescue.embedding"
"""Rule of a score that an embedding decided."""

RESCUED_KINDS = frozenset({"name", "free_text"})
"""Scalar field types, or element types of lists, that may be rescued."""

NEVER_RESCUED = frozenset(
    {"negated", "identical", "both_empty", "expected_empty", "predicted_empty", "role_word", "blank_label"}
)
"""Last parts of the rules whose scores stand as they are."""

UNIT_TOLERANCE = 0.01
"""How far from 1 the length of a unit vector may be; rounding to float16 moves it by less than 0.001."""


class Embedder(Protocol):
    """What turns texts into vectors."""

    @property
    def name(self) -> str:
        """Identifies everything that decides the vectors; part of the recipe and of the key in a cache."""
        ...

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector per text, shape (n, d); a text's vector does not depend on its neighbours."""
        ...


def quantise(vectors: NDArray[np.floating]) -> NDArray[np.float16]:
    """Round unit vectors to float16, the precision in which they are cached and compared.

    Args:
        vectors: Shape (n, d), rows of length 1.

    Raises:
        InputError: The array is not a matrix, or a row has not length 1 (or holds NaN).

    Examples:
        >>> quantise(np.array([[0.6, 0.8]]))
        array([[0.6, 0.8]], dtype=float16)
    """
    if vectors.ndim != 2:
        raise InputError(f"vectors of shape {vectors.shape}", expected="a matrix, one row per text")
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    wrong = np.flatnonzero(~(np.abs(lengths - 1) <= UNIT_TOLERANCE))
    if len(wrong):
        raise InputError(f"vector {wrong[0]} has length {lengths[wrong[0]]:.4g}", expected="vectors of length 1")
    return vectors.astype(np.float16)


def cosine(a: NDArray[np.float16], b: NDArray[np.float16]) -> NDArray[np.float32]:
    """Return the cosine of every row of ``a`` with every row of ``b``, the same bits for every split and machine.

    Components of float16 are multiples of 2**-24, so products are multiples of 2**-48, and by Cauchy-Schwarz no
    partial sum of two unit vectors exceeds 1: every sum fits the 53 bits of a float64 exactly, in whatever
    order it is taken. What follows (root, product, quotient) is rounded correctly by IEEE 754.

    Args:
        a: Shape (n, d), from `quantise`.
        b: Shape (m, d), from `quantise`.

    Returns:
        Shape (n, m), between -1 and 1.

    Examples:
        >>> axes = quantise(np.eye(2))
        >>> cosine(axes, -axes[:1])
        array([[-1.], [ 0.]], dtype=float32)
    """
    if a.dtype != np.float16 or b.dtype != np.float16:
        raise InputError(f"vectors of {a.dtype} and {b.dtype}", expected="float16, as quantise returns them")
    if a.shape[1] != b.shape[1] and len(a) and len(b):
        raise InputError(f"vectors of {a.shape[1]} and {b.shape[1]} components", expected="vectors of one model")
    if not len(a) or not len(b):
        return np.zeros((len(a), len(b)), dtype=np.float32)
    left, right = a.astype(np.float64), b.astype(np.float64)
    lengths = [np.sqrt(np.einsum("ij,ij->i", side, side)) for side in (left, right)]
    quotient = (left @ right.T) / np.outer(*lengths)
    cosines: NDArray[np.float32] = np.clip(quotient, -1.0, 1.0).astype(np.float32)
    return cosines


def may_rescue(kind: str, rule: str) -> bool:
    """Tell whether a score may be rescued.

    Args:
        kind: Scalar type of the field, or the element type of a list.
        rule: Rule that decided the string score.

    Examples:
        >>> may_rescue("name", "name.jaro_winkler"), may_rescue("name", "name.negated")
        (True, False)
        >>> may_rescue("date", "name.jaro_winkler"), may_rescue("containment", "containment.coverage")
        (False, False)
    """
    return kind in RESCUED_KINDS and rule.rpartition(".")[2] not in NEVER_RESCUED


def rescue(string_score: float, cosine: float, *, below: float) -> float:
    """Lift a string similarity to the cosine when it lies below a bound.

    The rule is `RESCUE` exactly when the result differs from the string score.

    Args:
        string_score: String similarity, 0 to 1.
        cosine: Cosine of both texts.
        below: Bound; a string similarity of at least this much stands.

    Examples:
        >>> rescue(0.4, 0.8, below=0.7), rescue(0.4, 0.1, below=0.7), rescue(0.7, 0.9, below=0.7)
        (0.8, 0.4, 0.7)
    """
    return max(string_score, cosine) if string_score < below else string_score


def rescue_pairs(
    string_scores: NDArray[np.float64], cosines: NDArray[np.floating], *, below: float
) -> NDArray[np.float64]:
    """Apply `rescue` to every pair of a matrix of string similarities.

    Args:
        string_scores: Any shape.
        cosines: The same shape.
        below: Bound as in `rescue`.

    Examples:
        >>> rescue_pairs(np.array([[0.4, 0.7]]), np.array([[0.8, 0.9]]), below=0.7)
        array([[0.8, 0.7]])
    """
    lifted: NDArray[np.float64] = np.where(string_scores < below, np.fmax(string_scores, cosines), string_scores)
    return lifted
