"""A stand-in for a model: the hash of a text seeds its vector."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray


class HashingEmbedder:
    """Counts what it is asked; equal texts have equal vectors, whatever stands beside them."""

    def __init__(self, dimension: int = 16, name: str = "hashing@1") -> None:
        self.name = name
        self.dimension = dimension
        self.asked: list[str] = []

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked.extend(texts)
        seeds = (int.from_bytes(sha256(text.encode()).digest()[:8]) for text in texts)
        vectors = np.array([np.random.default_rng(seed).normal(size=self.dimension) for seed in seeds])
        return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
