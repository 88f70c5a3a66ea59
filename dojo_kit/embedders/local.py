"""A sentence-transformers model from a folder of this machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from dojo_kit.embedders.batches import Progress, Vectors, check_texts, encode_batches, longest_first, slices
from dojo_kit.embedders.folders import model_name
from dojo_kit.errors import InputError, MissingExtraError

LIBRARY, PACKAGE, EXTRA = "sentence_transformers", "sentence-transformers", "embeddings"

BATCH = 32
"""Texts per forward pass."""


def is_installed() -> bool:
    """Tell whether sentence-transformers is installed, without importing it."""
    return find_spec(LIBRARY) is not None


class LocalEmbedder:
    """A sentence-transformers model, computed on the processor in double precision.

    In single precision, two in three vectors differ in their last bits, after rounding to float16 too, when a
    text shares its batch with others or the number of threads changes. In double precision the differences
    are a billion times smaller than a step of float16: a text has one vector, whatever it is encoded with.
    That costs about half of the speed, once, as vectors are cached.

    The model is loaded when the first text is encoded; a run whose vectors are all cached never loads it.
    Texts longer than the model reads (256 tokens for MiniLM) are cut by the model.

    Args:
        folder: Folder of the model.
        progress: Called with (texts encoded, texts in all).

    Raises:
        MissingExtraError: sentence-transformers is not installed.
        InputError: The folder is no sentence-transformers model.
    """

    def __init__(self, folder: str | Path, *, progress: Progress | None = None) -> None:
        if not is_installed():
            raise MissingExtraError(PACKAGE, extra=EXTRA, purpose="a local embedding model")
        self.folder = Path(folder)
        self.name = model_name(self.folder)
        self._progress = progress

    def __repr__(self) -> str:
        return f"LocalEmbedder({self.name})"

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector per text, shape (n, d).

        Raises:
            InputError: The model cannot be loaded, or something given is no text.
        """
        texts = check_texts(texts)
        return encode_batches(texts, slices(longest_first(texts), BATCH), self._encode, self._progress)

    def _encode(self, batch: list[str]) -> Vectors:
        vectors = self._model.encode(
            batch,
            batch_size=BATCH,
            show_progress_bar=False,
            convert_to_numpy=True,
            normalize_embeddings=True,
        )
        return np.asarray(vectors, dtype=np.float32)

    @cached_property
    def _model(self) -> Any:
        library = _import_library()
        failures = (OSError, ValueError, LookupError, TypeError, AttributeError, RuntimeError, ImportError)
        unreadable = import_module("safetensors").SafetensorError
        try:
            with _quiet():
                # Never the network, and no code that comes with a model.
                model = library.SentenceTransformer(
                    str(self.folder), device="cpu", local_files_only=True, trust_remote_code=False
                )
                return model.double()
        except (*failures, unreadable) as error:
            reason = str(error).strip().partition("\n")[0]
            raise InputError(
                f"cannot load the embedding model: {reason or type(error).__name__}",
                file=self.folder,
                expected="a complete folder of a sentence-transformers model",
            ) from error


def _import_library() -> Any:
    try:
        return import_module(LIBRARY)
    except ImportError as error:
        raise InputError(f"{PACKAGE} is installed but cannot be imported: {error}") from error


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep transformers from drawing a progress bar over ours while it reads weights."""
    logging = import_module("transformers.utils.logging")
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()
