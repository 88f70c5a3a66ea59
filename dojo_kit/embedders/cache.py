"""Vectors on disk, so that no text is encoded twice: one SQLite file for all models, runs and processes.

A vector is found by the embedder's name and the SHA-256 of the text; texts themselves are not stored. Who writes
first wins: `put` returns what the file holds afterwards, so that what a run used is what the next run finds.

The file lies in the folder named by ``DOJO_KIT_CACHE``, else in the user's cache folder. It must be on a disk of
this machine: SQLite's write-ahead log does not work over a network.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dojo_kit.errors import InputError
from dojo_kit.scoring.embedding import quantise

ENV_CACHE = "DOJO_KIT_CACHE"
FILE = "vectors.sqlite"

APPLICATION_ID = 0x444F4A4F
"""Marks a SQLite file as ours ("DOJO")."""

SCHEMA_VERSION = 1

BUSY_S = 30.0
"""How long to wait while another process writes."""

_ASKED_AT_ONCE = 500
_POLL_S = 0.01

_SCHEMA = (
    "CREATE TABLE models (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, dimension INTEGER NOT NULL)",
    "CREATE TABLE vectors (model INTEGER NOT NULL REFERENCES models, text BLOB NOT NULL, vector BLOB NOT NULL, "
    "PRIMARY KEY (model, text))",
)

_COUNTS = "SELECT name, dimension, (SELECT count(*) FROM vectors WHERE model = models.id) FROM models ORDER BY name"

Vector = NDArray[np.float16]

_STORED = np.dtype("<f2")
_CLEAR = "dojo cache clear"


@dataclass(frozen=True, slots=True)
class CachedModel:
    """What the cache holds of one model.

    Attributes:
        name: Name of the embedder.
        dimension: Components of a vector.
        entries: Texts whose vector is known.
    """

    name: str
    dimension: int
    entries: int


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """What the cache holds.

    Attributes:
        file: Where it is; the file need not exist.
        bytes: Size on disk.
        models: By name.
    """

    file: Path
    bytes: int
    models: tuple[CachedModel, ...]

    @property
    def entries(self) -> int:
        """Vectors of all models."""
        return sum(model.entries for model in self.models)


def cache_file(env: Mapping[str, str] | None = None) -> Path:
    """Return where vectors are cached.

    Args:
        env: Environment variables; the process's own by default.

    Examples:
        >>> cache_file({"DOJO_KIT_CACHE": "/tmp/here"}).as_posix()
        '/tmp/here/vectors.sqlite'
    """
    env = os.environ if env is None else env
    if env.get(ENV_CACHE):
        return _expanded(env[ENV_CACHE]) / FILE
    if sys.platform == "win32":
        folder = Path(env.get("LOCALAPPDATA") or _expanded("~/AppData/Local")) / "dojo_kit" / "Cache"
    elif sys.platform == "darwin":
        folder = _expanded("~/Library/Caches/dojo_kit")
    else:
        xdg = env.get("XDG_CACHE_HOME", "")
        folder = (Path(xdg) if xdg.startswith("/") else _expanded("~/.cache")) / "dojo_kit"
    return folder / FILE


def _expanded(path: str) -> Path:
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise InputError("this user has no home folder to cache in", expected=f"a folder in {ENV_CACHE}") from None


def text_key(text: str) -> bytes:
    """Return the key of a text: its SHA-256."""
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


class VectorCache:
    """Vectors by model and text; safe for any number of processes and threads at once.

    Every call opens the file anew, so that a cache can be shared over forks and threads.

    Args:
        file: The SQLite file; by default `cache_file`. Made when the first vector is stored.

    Examples:
        >>> import tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> cache = VectorCache(Path(folder.name) / "vectors.sqlite")
        >>> stored = cache.put("model", [text_key("a")], np.array([[0.6, 0.8]], dtype=np.float16))
        >>> found = cache.get("model", [text_key("a"), text_key("b")])
        >>> len(found), found[text_key("a")], cache.info().entries
        (1, array([0.6, 0.8], dtype=float16), 1)
        >>> cache.clear(), cache.info().entries
        (1, 0)
        >>> folder.cleanup()
    """

    def __init__(self, file: str | Path | None = None) -> None:
        self.file = cache_file() if file is None else Path(file)

    def __repr__(self) -> str:
        return f"VectorCache({str(self.file)!r})"

    def get(self, model: str, keys: Sequence[bytes]) -> dict[bytes, Vector]:
        """Return the known vectors by the key of their text.

        Args:
            model: Name of the embedder.
            keys: Keys of texts, from `text_key`.

        Raises:
            InputError: The file cannot be read, or is damaged.
        """
        if not os.path.exists(self.file):
            return {}
        with self._open() as connection:
            return self._get(connection, model, keys)

    def put(self, model: str, keys: Sequence[bytes], vectors: NDArray[np.float16]) -> dict[bytes, Vector]:
        """Store vectors that are not there yet and return all as the file then holds them.

        Args:
            model: Name of the embedder.
            keys: Keys of the texts.
            vectors: Shape (keys, d).

        Raises:
            InputError: The file cannot be written, is damaged, or holds vectors of another dimension for this model.
        """
        rows = [vector.tobytes() for vector in vectors.astype(_STORED)]
        with self._open(create=True) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(
                "INSERT OR IGNORE INTO models (name, dimension) VALUES (?, ?)", (model, vectors.shape[1])
            )
            number, dimension = self._model(connection, model) or (0, 0)
            if dimension != vectors.shape[1]:
                raise InputError(
                    f"vectors of {model!r} have {dimension} components here, and {vectors.shape[1]} now",
                    file=self.file,
                    expected=f"a model that stays the same under one name; if it changed, {_CLEAR}",
                )
            connection.executemany(
                "INSERT OR IGNORE INTO vectors (model, text, vector) VALUES (?, ?, ?)",
                [(number, key, row) for key, row in zip(keys, rows, strict=True)],
            )
            connection.execute("COMMIT")
            return self._get(connection, model, keys)

    def info(self) -> CacheInfo:
        """Say what is cached.

        Raises:
            InputError: The file cannot be read, or is damaged.
        """
        models: tuple[CachedModel, ...] = ()
        if os.path.exists(self.file):
            with self._open() as connection:
                models = tuple(CachedModel(*row) for row in connection.execute(_COUNTS))
        return CacheInfo(self.file, self._bytes(), models)

    def clear(self) -> int | None:
        """Remove all vectors, and the file when it is damaged or of another version.

        Returns:
            How many vectors were removed; None when the file could not tell.

        Raises:
            InputError: The file belongs to another program, or cannot be written.
        """
        if not os.path.exists(self.file):
            return 0
        try:
            with self._open() as connection:
                connection.execute("BEGIN IMMEDIATE")
                removed = connection.execute("DELETE FROM vectors").rowcount
                connection.execute("DELETE FROM models")
                connection.execute("COMMIT")
                with suppress(sqlite3.OperationalError):  # others are reading: the file shrinks another time
                    connection.execute("VACUUM")
                    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                return removed
        except _DamagedError:
            try:
                for path in self._files():
                    path.unlink(missing_ok=True)
            except OSError as error:
                raise InputError(f"cannot remove the vector cache: {error.strerror}", file=self.file) from None
            return None

    def _files(self) -> list[Path]:
        """Return the file and those SQLite may keep beside it."""
        return [self.file.with_name(self.file.name + ending) for ending in ("", "-wal", "-shm")]

    def _bytes(self) -> int:
        total = 0
        for path in self._files():
            with suppress(FileNotFoundError, NotADirectoryError):
                total += path.stat().st_size
        return total

    def _get(self, connection: sqlite3.Connection, model: str, keys: Sequence[bytes]) -> dict[bytes, Vector]:
        known = self._model(connection, model)
        if known is None:
            return {}
        number, dimension = known
        found: dict[bytes, bytes] = {}
        for start in range(0, len(keys), _ASKED_AT_ONCE):
            asked = keys[start : start + _ASKED_AT_ONCE]
            marks = ",".join("?" * len(asked))
            query = f"SELECT text, vector FROM vectors WHERE model = ? AND text IN ({marks})"  # noqa: S608 - marks only
            found.update(connection.execute(query, (number, *asked)))
        if any(len(vector) != dimension * _STORED.itemsize for vector in found.values()):
            raise _damaged(self.file, "a vector has the wrong size")
        vectors = np.frombuffer(b"".join(found.values()), dtype=_STORED).reshape(len(found), dimension)
        try:
            return dict(zip(found, quantise(vectors), strict=True))
        except InputError as error:
            raise _damaged(self.file, error.message) from None

    def _model(self, connection: sqlite3.Connection, model: str) -> tuple[int, int] | None:
        row = connection.execute("SELECT id, dimension FROM models WHERE name = ?", (model,)).fetchone()
        return None if row is None else (int(row[0]), int(row[1]))

    @contextmanager
    def _open(self, *, create: bool = False) -> Iterator[sqlite3.Connection]:
        """Open the file, made when asked, and turn SQLite's errors into ones that say what to do."""
        try:
            if create:
                self.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with closing(sqlite3.connect(self.file, timeout=BUSY_S, isolation_level=None)) as connection:
                self._check(connection)
                yield connection
        except sqlite3.DatabaseError as error:
            raise _translated(self.file, error) from None
        except OSError as error:
            raise _unusable(self.file, error.strerror or str(error)) from None

    def _check(self, connection: sqlite3.Connection) -> None:
        """Make sure the file is ours; one without any table becomes ours, another program's is left untouched."""
        if _pragma(connection, "application_id") != APPLICATION_ID and not _tables(connection):
            _use_write_ahead_log(connection)
            connection.execute("BEGIN IMMEDIATE")
            if not _tables(connection):
                for statement in _SCHEMA:
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            connection.execute("COMMIT")
        if _pragma(connection, "application_id") != APPLICATION_ID:
            raise InputError(
                "this is the database of another program", file=self.file, expected=f"another folder in {ENV_CACHE}"
            )
        version = _pragma(connection, "user_version")
        if version != SCHEMA_VERSION:
            raise _damaged(self.file, f"it has version {version}, this dojo_kit reads {SCHEMA_VERSION}")


class _DamagedError(InputError):
    """The file is ours to remove, and removing it is the remedy."""


def _damaged(file: Path, why: str) -> _DamagedError:
    return _DamagedError(
        f"cannot use the vector cache: {why}", file=file, expected=f"a sound file; {_CLEAR} removes it"
    )


def _unusable(file: Path, why: str) -> InputError:
    return InputError(
        f"cannot use the vector cache: {why}", file=file, expected=f"a writable folder on a local disk in {ENV_CACHE}"
    )


def _translated(file: Path, error: sqlite3.DatabaseError) -> InputError:
    """Say what an error of SQLite means for the user: remove the file, wait, or choose another place."""
    code = (getattr(error, "sqlite_errorcode", None) or sqlite3.SQLITE_ERROR) & 0xFF
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR):
        return _damaged(file, str(error))
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        why = f"the vector cache was in use for {BUSY_S:.0f} s"
        return InputError(why, file=file, expected=f"other processes to let go of it, or another folder in {ENV_CACHE}")
    return _unusable(file, str(error))


def _tables(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Let readers and one writer work side by side.

    SQLite does not wait for other processes here as it does elsewhere, so we do. Where a file system has no
    shared memory the journal stays as it is, which is slower and as safe.
    """
    deadline = time.monotonic() + BUSY_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(_POLL_S)
