"""An embedder that encodes no text twice."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dojo_kit.embedders.batches import Progress, Vectors, check_texts, longest_first, slices
from dojo_kit.embedders.cache import Vector, VectorCache, text_key
from dojo_kit.scoring.embedding import Embedder, quantise

SLICE = 256
"""Texts encoded between two writes to the cache: what is lost when a run is interrupted."""


class CachedEmbedder:
    """Looks every text up before it is encoded, and stores what was encoded, slice by slice.

    Vectors come back as the cache holds them, in float16 precision, also on the first run.

    Args:
        embedder: What encodes new texts.
        cache: Where vectors are kept.
        progress: Called with (new texts encoded, new texts in all).

    Attributes:
        embedder: What encodes new texts.
        cache: Where vectors are kept.
        encoded: Texts encoded so far, repeated texts once.
        reused: Texts found in the cache so far, repeated texts once.
    """

    def __init__(self, embedder: Embedder, cache: VectorCache, *, progress: Progress | None = None) -> None:
        self.embedder = embedder
        self.cache = cache
        self.encoded = 0
        self.reused = 0
        self._progress = progress

    def __repr__(self) -> str:
        return f"CachedEmbedder({self.embedder!r}, {self.cache!r})"

    @property
    def name(self) -> str:
        """Name of the embedder; where a vector was found does not change it."""
        return self.embedder.name

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector per text, shape (n, d), from the cache where possible.

        Raises:
            InputError: The cache or the embedder cannot be used; what was encoded before is kept.
        """
        texts = check_texts(texts)
        keys = [text_key(text) for text in texts]
        text_of = dict(zip(keys, texts, strict=True))
        found = self.cache.get(self.name, list(text_of))
        self.reused += len(found)
        found.update(self._encode({key: text for key, text in text_of.items() if key not in found}))
        if not keys:
            return np.zeros((0, 0), dtype=np.float32)
        return np.stack([found[key] for key in keys]).astype(np.float32)

    def _encode(self, new: dict[bytes, str]) -> dict[bytes, Vector]:
        """Encode and store new texts by their keys."""
        keys, texts = list(new), list(new.values())
        stored: dict[bytes, Vector] = {}
        if self._progress and texts:
            self._progress(0, len(texts))
        for part in slices(longest_first(texts), SLICE):
            vectors = quantise(self.embedder.encode([texts[index] for index in part]))
            stored.update(self.cache.put(self.name, [keys[index] for index in part], vectors))
            self.encoded += len(part)
            if self._progress:
                self._progress(len(stored), len(texts))
        return stored
