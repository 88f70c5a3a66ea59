"""A real local model, all-MiniLM-L6-v2; skipped where it is not installed."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dojo_kit.embedders import CachedEmbedder, LocalEmbedder, VectorCache, load_embedder
from dojo_kit.embedders.folders import find_model, model_name
from dojo_kit.embedders.local import is_installed
from dojo_kit.errors import InputError
from dojo_kit.scoring.embedding import cosine, quantise

MODEL = "all-MiniLM-L6-v2"
FOLDER = find_model(MODEL)

pytestmark = pytest.mark.skipif(
    not is_installed() or FOLDER is None, reason=f"needs sentence-transformers and a local copy of {MODEL}"
)

TEXTS = [
    "The agreement commences on March 3, 2024.",
    "This contract starts on 3 March 2024.",
    "Licensee shall indemnify Licensor against all claims.",
    "governing law",
    "x",
    "word " * 600,
    "\u65e5\u672c\u8a9e \U0001f600",
    "\ud800 half a pair",
]


@pytest.fixture(scope="module")
def embedder() -> LocalEmbedder:
    assert FOLDER is not None
    return LocalEmbedder(FOLDER)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The model without its weights, which are linked."""
    assert FOLDER is not None
    folder = tmp_path / "my model"
    shutil.copytree(FOLDER, folder, ignore=shutil.ignore_patterns("*.safetensors"))
    (folder / "model.safetensors").symlink_to(FOLDER / "model.safetensors")
    return folder


def test_vectors_are_units(embedder: LocalEmbedder) -> None:
    vectors = embedder.encode(TEXTS)

    assert vectors.shape == (len(TEXTS), 384)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1)


def test_paraphrases_are_close_and_strangers_are_not(embedder: LocalEmbedder) -> None:
    vectors = quantise(embedder.encode(TEXTS))
    near = cosine(vectors, vectors)

    assert near[0, 1] > 0.8
    assert near[0, 2] < 0.3


def test_the_values_are_those_of_the_published_model(embedder: LocalEmbedder) -> None:
    """The example in the README of sentence-transformers prints these cosines, to four digits."""
    texts = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
    vectors = quantise(embedder.encode(texts))

    near = cosine(vectors, vectors)

    assert [near[0, 1], near[0, 2], near[1, 2]] == pytest.approx([0.6660, 0.1046, 0.1411], abs=2e-4)


def test_a_vector_does_not_depend_on_its_neighbours(embedder: LocalEmbedder) -> None:
    """Alone, in any batch and in any order, down to the last bit: what a cache needs to be invisible."""
    texts = [f"{text} {number}" for text in TEXTS[:4] for number in range(9)]
    together = embedder.encode(texts)

    assert embedder.encode(texts[::-1])[::-1].tobytes() == together.tobytes()
    assert np.concatenate([embedder.encode([text]) for text in texts[::5]]).tobytes() == together[::5].tobytes()


def test_threads_do_not_change_vectors(embedder: LocalEmbedder) -> None:
    import torch

    before = torch.get_num_threads()
    vectors = embedder.encode(TEXTS)
    assert torch.get_num_threads() == before
    try:
        torch.set_num_threads(1 if before > 1 else 2)
        assert embedder.encode(TEXTS).tobytes() == vectors.tobytes()
    finally:
        torch.set_num_threads(before)


def test_cached_equals_uncached_byte_for_byte(embedder: LocalEmbedder, tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "vectors.sqlite")
    CachedEmbedder(embedder, cache).encode(TEXTS[::2])
    cached = CachedEmbedder(embedder, cache)

    assert quantise(cached.encode(TEXTS)).tobytes() == quantise(embedder.encode(TEXTS)).tobytes()
    assert (cached.encoded, cached.reused) == (4, 4)


def test_progress_and_no_texts() -> None:
    assert FOLDER is not None
    seen: list[tuple[int, int]] = []
    embedder = LocalEmbedder(FOLDER, progress=lambda *at: seen.append(at))

    assert embedder.encode([]).shape == (0, 0)
    embedder.encode(["a"] * 40)

    assert seen == [(0, 40), (32, 40), (40, 40)]


def test_the_name_is_the_models_whatever_its_folder_is_called(copy: Path) -> None:
    assert FOLDER is not None
    name = model_name(FOLDER)

    assert name.startswith(f"{MODEL}@")
    assert model_name(copy) == name


def test_the_name_changes_with_what_decides_vectors_and_with_nothing_else(copy: Path) -> None:
    before = model_name(copy)
    (copy / "README.md").write_text("another text")
    (copy / "onnx").mkdir()
    (copy / "onnx" / "model.onnx").write_text("another format")
    assert model_name(copy) == before

    (copy / "sentence_bert_config.json").write_text('{"max_seq_length": 128, "do_lower_case": false}')
    assert model_name(copy) != before


@pytest.mark.parametrize("name", ["auto", MODEL, f"sentence-transformers/{MODEL}", "folder"])
def test_every_way_to_name_it_gives_the_same_embedder(name: str, tmp_path: Path) -> None:
    assert FOLDER is not None
    cache = VectorCache(tmp_path / "vectors.sqlite")

    embedder = load_embedder(str(FOLDER) if name == "folder" else name, cache=cache)

    assert isinstance(embedder, CachedEmbedder)
    assert isinstance(embedder.embedder, LocalEmbedder)
    assert embedder.name == model_name(FOLDER)


def test_a_download_of_another_program_is_found(copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hub = tmp_path / "hub" / "models--someone--their-model"
    (hub / "refs").mkdir(parents=True)
    (hub / "refs" / "main").write_text("abc123")
    shutil.copytree(copy, hub / "snapshots" / "abc123", symlinks=True)
    (hub / "snapshots" / "abc123" / "model.safetensors").unlink()
    (hub / "snapshots" / "abc123" / "model.safetensors").write_bytes(b"other weights")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))

    embedder = load_embedder("someone/their-model", cache=False)

    assert embedder is not None
    assert embedder.name.startswith("someone/their-model@")


def test_a_folder_that_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"not a sentence-transformers model; expected a folder with modules\.json"):
        load_embedder(str(tmp_path))
    with pytest.raises(InputError, match="no such folder"):
        load_embedder(str(tmp_path / "missing"))


@pytest.mark.parametrize("damage", ["weights", "modules", "foreign code", "config"])
def test_a_model_that_cannot_be_loaded_names_its_folder(copy: Path, damage: str) -> None:
    if damage == "weights":
        (copy / "model.safetensors").unlink()
        (copy / "model.safetensors").write_bytes(b"\x10\x00\x00\x00\x00\x00\x00\x00{}" + b" " * 20)
    elif damage == "modules":
        (copy / "modules.json").write_text("[{")
    elif damage == "foreign code":
        (copy / "modules.json").write_text('[{"idx": 0, "name": "0", "path": "", "type": "os.system"}]')
    else:
        (copy / "config.json").write_text("{}")
    embedder = load_embedder(str(copy), cache=False)
    assert embedder is not None

    with pytest.raises(InputError, match="cannot load the embedding model: ") as caught:
        embedder.encode(["a"])

    assert str(copy) in str(caught.value)


OFFLINE = """
import socket, sys
def refuse(*args, **options):
    raise AssertionError(f"network: {args}")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
from dojo_kit.embedders import VectorCache, load_embedder
embedder = load_embedder("all-MiniLM-L6-v2", cache=VectorCache(sys.argv[1]))
embedder.encode(["pay the rent", "keep it clean"])
print(embedder.encoded, "torch" in sys.modules)
"""


def _run_offline(cache: Path, env: dict[str, str]) -> str:
    command = [sys.executable, "-c", OFFLINE, str(cache)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    assert done.stderr == "", "no progress bar, no warning"
    return done.stdout


def test_neither_network_nor_model_when_all_is_cached(tmp_path: Path) -> None:
    """The first process loads the model without the network; the second does not even import torch."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    cache = tmp_path / "vectors.sqlite"

    assert _run_offline(cache, env) == "2 True\n"
    assert _run_offline(cache, env) == "0 False\n"


def test_a_hub_is_never_asked(embedder: LocalEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **options: Any) -> None:
        raise AssertionError("network")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)

    with pytest.raises(InputError, match="no copy of the embedding model 'someone/never-heard-of-it'"):
        load_embedder("someone/never-heard-of-it")
