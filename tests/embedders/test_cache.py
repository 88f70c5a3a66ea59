"""The vector cache: what it holds, what it refuses, and what the command line says of it."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from hashing_embedder import HashingEmbedder
from typer.testing import CliRunner

from dojo_kit.cli.cache import cache_app
from dojo_kit.embedders import CachedEmbedder, VectorCache, cache_file
from dojo_kit.embedders.cache import text_key
from dojo_kit.embedders.cached import SLICE
from dojo_kit.errors import InputError

TEXTS = ["pay the rent", "keep it clean", "caf\u00e9 \u2014 \u65e5\u672c", "", "pay the rent"]


@pytest.fixture
def cache(tmp_path: Path) -> VectorCache:
    return VectorCache(tmp_path / "deep" / "vectors.sqlite")


def _fill(cache: VectorCache, texts: list[str] = TEXTS, **options: object) -> CachedEmbedder:
    embedder = CachedEmbedder(HashingEmbedder(**options), cache)  # type: ignore[arg-type]
    embedder.encode(texts)
    return embedder


def test_a_second_run_encodes_nothing(cache: VectorCache) -> None:
    first, second = (CachedEmbedder(HashingEmbedder(), cache) for _ in range(2))

    vectors = first.encode(TEXTS)
    again = second.encode(TEXTS)

    assert (first.encoded, first.reused) == (4, 0)
    assert (second.encoded, second.reused) == (0, 4)
    assert second.embedder.asked == []  # type: ignore[attr-defined]
    assert again.tobytes() == vectors.tobytes()
    assert again.dtype == np.float32


def test_only_new_texts_are_encoded_and_each_once(cache: VectorCache) -> None:
    _fill(cache, ["a", "b"])
    embedder = HashingEmbedder()

    vectors = CachedEmbedder(embedder, cache).encode(["c", "a", "c", "b"])

    assert embedder.asked == ["c"]
    assert vectors[0].tobytes() == vectors[2].tobytes()


def test_vectors_come_back_in_the_order_of_the_texts(cache: VectorCache) -> None:
    _fill(cache, ["bb", "dddd"])
    texts = ["a", "bb", "ccc", "dddd", "eeeee"]

    vectors = CachedEmbedder(HashingEmbedder(), cache).encode(texts)

    assert vectors.astype(np.float16).tobytes() == HashingEmbedder().encode(texts).astype(np.float16).tobytes()


def test_no_texts(cache: VectorCache) -> None:
    assert CachedEmbedder(HashingEmbedder(), cache).encode([]).shape == (0, 0)
    assert not cache.file.exists()


def test_a_bare_text_is_refused(cache: VectorCache) -> None:
    with pytest.raises(InputError, match="expected a list of texts"):
        CachedEmbedder(HashingEmbedder(), cache).encode("pay the rent")


def test_what_was_encoded_before_an_interruption_is_kept(cache: VectorCache) -> None:
    class Interrupted(HashingEmbedder):
        def encode(self, texts):  # type: ignore[no-untyped-def]
            if self.asked:
                raise KeyboardInterrupt
            return super().encode(texts)

    texts = [f"text {index}" for index in range(SLICE + 10)]
    with pytest.raises(KeyboardInterrupt):
        CachedEmbedder(Interrupted(), cache).encode(texts)

    assert cache.info().entries == SLICE
    assert _fill(cache, texts).encoded == 10


def test_progress_counts_new_texts(cache: VectorCache) -> None:
    _fill(cache, ["known"])
    seen: list[tuple[int, int]] = []
    texts = ["known", *(f"text {index}" for index in range(SLICE + 10))]

    embedder = CachedEmbedder(HashingEmbedder(), cache, progress=lambda done, total: seen.append((done, total)))
    embedder.encode(texts)
    embedder.encode(texts)

    n = SLICE + 10
    assert seen == [(0, n), (SLICE, n), (n, n)]


def test_models_do_not_share_vectors(cache: VectorCache) -> None:
    _fill(cache, name="one")

    assert _fill(cache, name="two", dimension=8).encoded == 4
    assert [(model.name, model.dimension, model.entries) for model in cache.info().models] == [
        ("one", 16, 4),
        ("two", 8, 4),
    ]


def test_a_model_that_changed_under_its_name_is_refused(cache: VectorCache) -> None:
    _fill(cache, dimension=16)

    with pytest.raises(InputError, match=r"have 16 components here, and 8 now.*dojo cache clear"):
        _fill(cache, ["another"], dimension=8)


def test_who_writes_first_wins(cache: VectorCache) -> None:
    """Both processes then use the vector the next run will find."""
    key = text_key("a")
    cache.put("m", [key], np.array([[1, 0]], dtype=np.float16))

    stored = cache.put("m", [key], np.array([[0, 1]], dtype=np.float16))

    assert stored[key].tolist() == [1, 0]


def test_more_texts_than_one_query_asks_for(cache: VectorCache) -> None:
    texts = [f"text {index}" for index in range(1234)]
    _fill(cache, texts)

    assert len(cache.get("hashing@1", [text_key(text) for text in texts])) == 1234


def test_texts_are_not_stored(cache: VectorCache) -> None:
    _fill(cache, ["a very secret clause"])

    assert b"secret" not in cache.file.read_bytes()


def test_clear(cache: VectorCache) -> None:
    assert cache.clear() == 0
    _fill(cache)

    assert cache.clear() == 4
    assert cache.info().models == ()
    assert _fill(cache).encoded == 4


@pytest.mark.parametrize("damage", ["no database", "torn", "other version", "lost table", "bad vector", "short vector"])
def test_a_damaged_cache_names_the_file_and_the_remedy(cache: VectorCache, damage: str) -> None:
    _fill(cache, [f"text {index}" for index in range(2000)])
    _damage(cache.file, damage)

    with pytest.raises(InputError, match=r"cannot use the vector cache.*dojo cache clear") as caught:
        cache.get("hashing@1", [text_key(f"text {index}") for index in range(2000)])

    assert str(cache.file) in str(caught.value)
    cache.clear()
    assert _fill(cache).encoded == 4


def _damage(file: Path, damage: str) -> None:
    if damage == "no database":
        file.write_text("not a database at all, just a text that is long enough to be read as a header " * 20)
        return
    if damage == "torn":
        data = bytearray(file.read_bytes())
        data[4096 : len(data)] = b"\xff" * (len(data) - 4096)
        file.write_bytes(data)
        return
    statement = {
        "other version": "PRAGMA user_version = 99",
        "lost table": "DROP TABLE vectors",
        "bad vector": "UPDATE vectors SET vector = zeroblob(32)",
        "short vector": "UPDATE vectors SET vector = x'00'",
    }[damage]
    connection = sqlite3.connect(file)
    connection.execute(statement)
    connection.commit()
    connection.close()


def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "vectors.sqlite"
    connection = sqlite3.connect(file)
    connection.execute("CREATE TABLE theirs (x)")
    connection.commit()
    connection.close()
    before = file.read_bytes()
    cache = VectorCache(file)

    for act in (cache.info, cache.clear, lambda: _fill(cache)):
        with pytest.raises(InputError, match="database of another program; expected another folder in DOJO_KIT_CACHE"):
            act()

    assert file.read_bytes() == before


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(InputError, match=r"cannot use the vector cache.*DOJO_KIT_CACHE"):
        _fill(VectorCache(tmp_path / "file" / "vectors.sqlite"))


def test_a_folder_in_place_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot use the vector cache: unable to open"):
        VectorCache(tmp_path).info()


def test_a_cache_held_by_another_process(cache: VectorCache, monkeypatch: pytest.MonkeyPatch) -> None:
    _fill(cache)
    monkeypatch.setattr("dojo_kit.embedders.cache.BUSY_S", 0.05)
    connection = sqlite3.connect(cache.file, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    try:
        with pytest.raises(InputError, match="the vector cache was in use"):
            _fill(cache, ["new"])
        assert _fill(cache).encoded == 0, "reading goes on"
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("env", "file"),
    [
        ({"DOJO_KIT_CACHE": "/a", "XDG_CACHE_HOME": "/b"}, "/a/vectors.sqlite"),
        ({"XDG_CACHE_HOME": "/b"}, "/b/dojo_kit/vectors.sqlite"),
        ({"XDG_CACHE_HOME": "relative"}, "~/.cache/dojo_kit/vectors.sqlite"),
        ({}, "~/.cache/dojo_kit/vectors.sqlite"),
    ],
)
def test_where_the_cache_is(env: dict[str, str], file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")

    assert cache_file(env) == Path(file).expanduser()


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> VectorCache:
    """The cache the command line finds."""
    monkeypatch.setenv("DOJO_KIT_CACHE", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "160")
    return VectorCache()


def test_cache_info_command(here: VectorCache) -> None:
    empty = CliRunner().invoke(cache_app, ["info"], catch_exceptions=False)
    _fill(here)
    filled = CliRunner().invoke(cache_app, ["info"], catch_exceptions=False)
    as_json = json.loads(CliRunner().invoke(cache_app, ["info", "--json"], catch_exceptions=False).stdout)

    assert "0 vectors, nothing stored" in empty.stdout
    assert "4 vectors" in filled.stdout
    assert "hashing@1" in filled.stdout
    assert as_json["file"] == str(here.file)
    assert as_json["bytes"] == here.file.stat().st_size
    assert as_json["models"] == [{"name": "hashing@1", "dimension": 16, "entries": 4}]


def test_cache_clear_command(here: VectorCache) -> None:
    _fill(here)

    shown = CliRunner().invoke(cache_app, ["clear"], catch_exceptions=False)
    as_json = json.loads(CliRunner().invoke(cache_app, ["clear", "--json"], catch_exceptions=False).stdout)
    here.file.write_text("no database " * 100)
    damaged = CliRunner().invoke(cache_app, ["clear"], catch_exceptions=False)

    assert "removed 4 vectors" in shown.stdout
    assert as_json == {"file": str(here.file), "removed": 0}
    assert "removed a damaged cache" in damaged.stdout
    assert not here.file.exists()
