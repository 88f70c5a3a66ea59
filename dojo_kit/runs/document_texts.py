"""Document texts from a folder, a zip archive or JSONL, read when they are asked for."""

from __future__ import annotations

import os
import threading
import zipfile
import zlib
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Protocol

from dojo_kit.errors import InputError
from dojo_kit.records import Problem
from dojo_kit.runs.cells import shown
from dojo_kit.runs.problems import OnError, ProblemList
from dojo_kit.runs.raw_rows import RawRow
from dojo_kit.runs.sources import PathLike, decode_text, existing_file, read_bytes, source_path
from dojo_kit.runs.strict_json import parse_line
from dojo_kit.text.names import document_key

_ENDINGS = (".txt", ".md")
_CACHED_CHARACTERS = 32_000_000
_EXPECTED = "a folder or zip archive of .txt and .md files, or JSONL with document and text"
_CUAD_TEXTS = ("full_contract_txt", "full_contract_txt.zip")
_UTF8_NAME = 0x800
_ENCRYPTED = 0x1
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class _Store(Protocol):
    """Where texts are."""

    def entries(self, problems: ProblemList) -> Iterator[tuple[str, Any]]:
        """Yield document names and where each text is."""

    def read(self, place: Any) -> str:
        """Read one text."""


class DocumentTexts(Mapping[str, str]):
    """Texts by document key, read on demand and kept up to a number of characters.

    It can be pickled, so that worker processes read for themselves. Looking a text up raises `InputError`
    when its file is not UTF-8 or empty.

    Args:
        store: Where the texts are.
        places: Document key -> name and place of the text.
        source: What was loaded, as the user named it.
        problems: What was left out.

    Attributes:
        source: What was loaded.
        names: Document key -> name as the source spells it.
        problems: Texts that were left out while collecting.
    """

    def __init__(
        self,
        store: _Store,
        places: Mapping[str, tuple[str, Any]],
        *,
        source: str,
        problems: tuple[Problem, ...] = (),
    ) -> None:
        self.source = source
        self.names = {key: name for key, (name, _) in places.items()}
        self.problems = problems
        self._store = store
        self._places = {key: place for key, (_, place) in places.items()}
        self._forget()

    def _forget(self) -> None:
        self._cache: OrderedDict[str, str] = OrderedDict()
        self._cached = 0
        self._lock = threading.Lock()

    def __getitem__(self, key: str) -> str:
        place = self._places[key]
        with self._lock:
            if key in self._cache:
                self._cache.move_to_end(key)
                return self._cache[key]
            text = self._store.read(place)
            self._cache[key] = text
            self._cached += len(text)
            while self._cached > _CACHED_CHARACTERS and len(self._cache) > 1:
                self._cached -= len(self._cache.popitem(last=False)[1])
            return text

    def __contains__(self, key: object) -> bool:
        return key in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __repr__(self) -> str:
        return f"DocumentTexts({self.source!r}, {len(self)} documents)"

    def __getstate__(self) -> dict[str, Any]:
        left_behind = ("_cache", "_cached", "_lock")
        return {name: value for name, value in self.__dict__.items() if name not in left_behind}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()


def load_documents(source: PathLike, *, on_error: OnError = "raise") -> DocumentTexts:
    """Open a collection of document texts.

    Args:
        source: A folder (searched with its subfolders) or a zip archive of ``.txt`` and ``.md`` files, or
            JSONL with ``{"document": NAME, "text": TEXT}`` a line. Hidden files and what macOS adds to
            archives are ignored. ``cuad:FOLDER`` is the collection of texts in a CUAD folder.
        on_error: ``raise`` stops at the first fault in the list of documents; a text that is not UTF-8
            raises when it is looked up. ``collect`` reads every text once and leaves the faulty ones out.

    Returns:
        The texts by `dojo_kit.text.names.document_key` (of the name without ``.md``).

    Raises:
        InputError: There is nothing to read, a name has no key, or two documents share one.
    """
    problems = ProblemList(on_error, str(source))
    source = source_path(_cuad_texts(source), expected=_EXPECTED)
    store = _open_store(source)
    places: dict[str, tuple[str, Any]] = {}
    for name, place in store.entries(problems):
        try:
            key = _new_key(name, places, source)
            if on_error == "collect":
                store.read(place)
            places[key] = (name, place)
        except InputError as error:
            problems.reject(error, document=name)
    if not places:
        raise problems.nothing_left("document", file=source, expected=_EXPECTED)
    return DocumentTexts(store, places, source=str(source), problems=problems.found)


def _cuad_texts(source: PathLike) -> PathLike:
    """Return where the texts are that ``cuad:FOLDER`` means; other sources as they are."""
    form, colon, folder = os.fspath(source).partition(":")
    if form != "cuad" or not colon:
        return source
    found = next((path for name in _CUAD_TEXTS if (path := Path(folder).expanduser() / name).exists()), None)
    if found is None:
        raise InputError(
            "no contract texts here", file=folder, expected=f"a CUAD folder with {' or '.join(_CUAD_TEXTS)}"
        )
    return found


def _new_key(name: str, places: Mapping[str, tuple[str, Any]], source: PathLike) -> str:
    key = document_key(name[:-3] if name.lower().endswith(".md") else name)
    if not key:
        expected = "a name with a letter a-z or a digit"
        raise InputError(f"document name {name!r} gives no key", file=source, field="document", expected=expected)
    if key in places:
        raise InputError(
            f"documents {places[key][0]!r} and {name!r} have one key",
            file=source,
            field="document",
            expected="names that differ in letters or digits",
        )
    return key


def _open_store(source: PathLike) -> _Store:
    if Path(source).is_dir():
        return _Folder(source)
    file = existing_file(source, expected=_EXPECTED)
    try:
        with file.open("rb") as handle:
            head = handle.read(4)
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", file=source, expected=_EXPECTED) from error
    if head.startswith(b"PK"):
        return _Archive(source)
    if file.suffix.lower() in _ENDINGS or not head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        read_bytes(source, expected=_EXPECTED)  # says so when it is empty or compressed
        raise InputError("is no collection of documents", file=source, expected=_EXPECTED)
    return _Lines(source)


def _filled(text: str, file: object, line: int | None = None) -> str:
    if text.strip():
        return text
    field = None if line is None else "text"
    raise InputError("the document is empty", file=file, line=line, field=field, expected="a text")


def _is_text_file(parts: tuple[str, ...]) -> bool:
    hidden = any((part.startswith(".") and part.strip(".")) or part == "__MACOSX" for part in parts)
    return bool(parts) and not hidden and parts[-1].lower().endswith(_ENDINGS)


class _Folder:
    """Files below a folder."""

    def __init__(self, source: PathLike) -> None:
        self._root = Path(source)

    def entries(self, problems: ProblemList) -> Iterator[tuple[str, Path]]:
        for path in sorted(self._root.rglob("*")):
            if _is_text_file(path.relative_to(self._root).parts) and path.is_file():
                yield path.name, path

    def read(self, place: Path) -> str:
        try:
            data = place.read_bytes()
        except OSError as error:
            raise InputError(f"cannot be read ({error.strerror})", file=place, expected="a text file") from error
        return _filled(decode_text(data, file=place), place)


class _Archive:
    """Members of a zip archive; names written as UTF-8 without saying so are repaired."""

    def __init__(self, source: PathLike) -> None:
        self._source = source
        self._archive: zipfile.ZipFile | None = None
        self._process = 0

    def entries(self, problems: ProblemList) -> Iterator[tuple[str, int]]:
        for index, member in enumerate(self._opened().infolist()):
            path = PurePosixPath(_member_name(member))
            if not member.filename or member.is_dir() or not _is_text_file(path.parts):
                continue
            fault = "encrypted" if member.flag_bits & _ENCRYPTED else ""
            fault = fault or ("" if member.compress_type in _METHODS else "compressed in a rare way")
            if not fault:
                yield path.name, index
                continue
            message, expected = f"member {str(path)!r} is {fault}", "plain or deflated members"
            problems.reject(InputError(message, file=self._source, expected=expected), document=path.name)

    def read(self, place: int) -> str:
        archive = self._opened()
        member = archive.infolist()[place]
        file = f"{self._source}:{_member_name(member)}"
        try:
            data = archive.read(member)
        except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError, OSError) as error:
            raise InputError(f"cannot be unpacked ({error})", file=file, expected="a sound archive") from error
        return _filled(decode_text(data, file=file), file)

    def _opened(self) -> zipfile.ZipFile:
        """Open the archive once per process: a handle shared by forked processes shares its position."""
        if self._archive is None or self._process != os.getpid():
            try:
                self._archive = zipfile.ZipFile(self._source)
            except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
                message = f"is a damaged zip archive ({error})"
                raise InputError(message, file=self._source, expected=_EXPECTED) from error
            self._process = os.getpid()
        return self._archive

    def __getstate__(self) -> dict[str, Any]:
        return {"_source": self._source, "_archive": None, "_process": 0}


def _member_name(member: zipfile.ZipInfo) -> str:
    if member.flag_bits & _UTF8_NAME:
        return member.filename
    try:
        return member.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return member.filename


class _Lines:
    """Lines of a JSONL file, found again by their offset."""

    def __init__(self, source: PathLike) -> None:
        self._source = source

    def entries(self, problems: ProblemList) -> Iterator[tuple[str, tuple[int, int, int]]]:
        start = 0
        with Path(self._source).open("rb") as handle:
            for number, line in enumerate(handle, start=1):
                place = (start, len(line), number)
                start += len(line)
                if not line.strip():
                    continue
                try:
                    name, text = self._parsed(line, place)
                    _filled(text, self._source, number)
                except InputError as error:
                    problems.reject(error)
                    continue
                yield name, place

    def read(self, place: tuple[int, int, int]) -> str:
        start, length, _ = place
        try:
            with Path(self._source).open("rb") as handle:
                handle.seek(start)
                line = handle.read(length)
        except OSError as error:
            raise InputError(f"cannot be read ({error.strerror})", file=self._source, expected=_EXPECTED) from error
        return self._parsed(line, place)[1]

    def _parsed(self, line: bytes, place: tuple[int, int, int]) -> tuple[str, str]:
        start, _, number = place
        expected = 'an object {"document": NAME, "text": TEXT}'
        value = parse_line(line, file=self._source, number=number, start=start, expected=expected)
        row = RawRow(value if isinstance(value, dict) else {}, str(self._source), number)
        if not isinstance(value, dict):
            raise row.error(f"not an object but {shown(value)}", expected=expected)
        name, text = value.get("document"), value.get("text")
        for field, found in (("document", name), ("text", text)):
            if not isinstance(found, str):
                raise row.error(f"not text but {shown(found)}", field=field, expected=expected)
        return str(name), str(text)
