"""Embeddings from an OpenAI-compatible endpoint; used only when named as ``openai:MODEL``."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from dojo_kit.embedders.batches import Progress, Vectors, check_texts, encode_batches
from dojo_kit.endpoints import Endpoint, endpoint_from_env
from dojo_kit.errors import InputError

PREFIX = "openai:"
PATH = "/embeddings"

BATCH_TEXTS = 128
BATCH_CHARS = 200_000
"""Most texts and characters of one request; services limit both."""


class EndpointEmbedder:
    """Vectors of a model behind ``/embeddings``.

    Services do not promise equal vectors for equal texts; only a cache makes a second run equal the first.
    Requests follow one another. The name holds host and path, as two servers may give one name to two models.

    Args:
        model: Model name, as the server knows it.
        endpoint: The server; by default the environment's (see `dojo_kit.endpoints.endpoint_from_env`).
        progress: Called with (texts encoded, texts in all).

    Examples:
        >>> EndpointEmbedder("small", Endpoint("http://localhost:8000/v1")).name
        'openai:small@localhost:8000/v1'
    """

    def __init__(self, model: str, endpoint: Endpoint | None = None, *, progress: Progress | None = None) -> None:
        if not model.strip():
            raise InputError("no model is named", expected=f"{PREFIX}MODEL, e.g. {PREFIX}text-embedding-3-small")
        self.model = model.strip()
        self.endpoint = endpoint_from_env("embedding") if endpoint is None else endpoint
        self.name = f"{PREFIX}{self.model}@{self.endpoint.place}"
        self._progress = progress
        self._dimension: int | None = None

    def __repr__(self) -> str:
        return f"EndpointEmbedder({self.name})"

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector per text, shape (n, d).

        Raises:
            InputError: The server refuses, cannot be reached, or answers something else than one vector of one
                dimension per text; or a text is blank, which services refuse.
        """
        texts = check_texts(texts)
        blank = next((index for index, text in enumerate(texts) if not text.strip()), None)
        if blank is not None:
            raise InputError(f"text {blank} is blank", expected="texts with something to embed")
        return encode_batches(texts, request_batches(texts), self._encode, self._progress)

    def _encode(self, batch: list[str]) -> Vectors:
        answer = self.endpoint.post(PATH, {"model": self.model, "input": batch})
        try:
            vectors = _vectors(answer, len(batch))
            if self._dimension not in (None, vectors.shape[1]):
                raise InputError(f"vectors of {vectors.shape[1]} components after ones of {self._dimension}")
        except InputError as error:
            raise InputError(error.message, file=self.endpoint.base_url + PATH, expected=error.expected) from None
        self._dimension = vectors.shape[1]
        return vectors


def request_batches(
    texts: Sequence[str], *, most_texts: int = BATCH_TEXTS, most_chars: int = BATCH_CHARS
) -> list[list[int]]:
    """Split texts, in order, into requests; a text longer than the limit has a request of its own.

    Examples:
        >>> request_batches(["aa", "b", "cccc", "d"], most_texts=2, most_chars=4)
        [[0, 1], [2], [3]]
    """
    batches: list[list[int]] = []
    room = 0
    for index, text in enumerate(texts):
        if not batches or len(batches[-1]) == most_texts or len(text) > room:
            batches.append([])
            room = most_chars
        batches[-1].append(index)
        room -= len(text)
    return batches


def _vectors(answer: Any, n: int) -> Vectors:
    """Read an answer as unit vectors in the order of the texts, shape (n, d)."""
    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list) or not all(isinstance(entry, dict) for entry in data):
        raise InputError("the answer holds no vectors", expected='{"data": [{"index": 0, "embedding": [...]}, ...]}')
    if len(data) != n:
        raise InputError(f"{len(data)} vectors for {n} texts", expected="one vector per text")
    places = [entry.get("index", place) for place, entry in enumerate(data)]
    if not all(type(place) is int for place in places) or sorted(places) != list(range(n)):
        raise InputError("the indices of the vectors are not those of the texts", expected=f"0 to {n - 1}")
    raw = [entry.get("embedding") for _, entry in sorted(zip(places, data, strict=True), key=itemgetter(0))]
    dimensions = {len(vector) if isinstance(vector, list) else 0 for vector in raw}
    if len(dimensions) > 1 or 0 in dimensions:
        raise InputError("vectors of different length, or none at all", expected="lists of numbers of one length")
    return _unit(raw)


def _unit(raw: list[list[float]]) -> Vectors:
    if not all(type(number) in (int, float) for vector in raw for number in vector):
        raise InputError("a vector holds something else than numbers", expected="lists of numbers")
    try:
        vectors = np.array(raw, dtype=np.float64)
    except OverflowError:
        vectors = np.full((len(raw), 1), np.inf)
    with np.errstate(over="ignore"):
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not (np.isfinite(lengths) & (lengths > 0)).all():
        raise InputError("a vector is zero or infinite, so it has no direction", expected="finite numbers")
    return np.asarray(vectors / lengths, dtype=np.float32)
