"""What a document's values can be checked against besides its labels: its own text, and embeddings.

Both are optional. Without a text nothing is known about grounding and places; without vectors nothing is rescued.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dojo_kit.scoring.embedding import cosine
from dojo_kit.scoring.grounding import Grounding, ground_item
from dojo_kit.settings import Settings
from dojo_kit.text.locate import DocumentIndex, Places
from dojo_kit.text.tokens import without_omissions

Vectors = Mapping[str, NDArray[np.float16]]
"""Text -> its float16 vector."""

Cosines = NDArray[np.floating[Any]]


class Evidence:
    """A document's text and the vectors of its values.

    Args:
        settings: Settings.
        text: The document; None when it was not given.
        vectors: Vectors of the texts that may be asked for; None without an embedder.
    """

    def __init__(self, settings: Settings, *, text: str | None = None, vectors: Vectors | None = None) -> None:
        self.settings = settings
        self.index = None if text is None else DocumentIndex(text)
        self._vectors = vectors
        self._places: dict[str, Places] = {}

    @property
    def has_vectors(self) -> bool:
        """Whether similarities may be rescued."""
        return self._vectors is not None

    def ground(self, text: str, kind: str) -> Grounding | None:
        """Tell whether a value stands in the document; None without a document."""
        return None if self.index is None else ground_item(self.index, text, kind, self.settings)

    def places(self, text: str) -> Places | None:
        """Find a text in the document; None without a document."""
        if self.index is None:
            return None
        if text not in self._places:
            self._places[text] = self.index.locate(text)
        return self._places[text]

    def cosines(self, labels: Sequence[str], items: Sequence[str], wanted: NDArray[np.bool_]) -> Cosines | None:
        """Return the cosine of every label with every item, NaN where it is not wanted; None without vectors.

        Args:
            labels: Labels.
            items: Predicted items.
            wanted: Pairs whose cosine matters, shape (labels, items).
        """
        if self._vectors is None:
            return None
        rows, columns = np.flatnonzero(wanted.any(axis=1)).tolist(), np.flatnonzero(wanted.any(axis=0)).tolist()
        found = np.full(wanted.shape, np.nan, dtype=np.float32)
        if rows:
            sides = ([labels[i] for i in rows], [items[i] for i in columns])
            left, right = (np.stack([self._vectors[embedded_text(text)] for text in side]) for side in sides)
            found[np.ix_(rows, columns)] = cosine(left, right)
        return np.where(wanted, found, np.nan)

    def cosine(self, label: str, item: str) -> float:
        """Return the cosine of one label with one item, 0 without vectors."""
        found = self.cosines([label], [item], np.ones((1, 1), dtype=bool))
        return 0.0 if found is None else float(found[0, 0])


class TextCollector(Evidence):
    """Stands in for vectors that do not exist yet and remembers the texts they are needed of.

    Args:
        settings: Settings.

    Attributes:
        texts: Texts to encode.
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.texts: set[str] = set()

    @property
    def has_vectors(self) -> bool:
        """True: it is asked as if there were vectors."""
        return True

    def cosines(self, labels: Sequence[str], items: Sequence[str], wanted: NDArray[np.bool_]) -> Cosines | None:
        """Remember the texts of all wanted pairs and rescue nothing."""
        self.texts.update(embedded_text(labels[row]) for row in np.flatnonzero(wanted.any(axis=1)).tolist())
        self.texts.update(embedded_text(items[column]) for column in np.flatnonzero(wanted.any(axis=0)).tolist())
        return None


def embedded_text(text: str) -> str:
    """Return what is encoded of a text: the text itself with ``<omitted>`` as a space.

    Examples:
        >>> embedded_text("pay <omitted> fees")
        'pay   fees'
    """
    return without_omissions(text)
