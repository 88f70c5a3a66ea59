"""Document texts from folders, archives and JSONL."""

from __future__ import annotations

import json
import pickle
import zipfile
from multiprocessing import get_context
from pathlib import Path

import pytest

from dojo_kit.errors import InputError
from dojo_kit.runs import document_texts, load_documents
from dojo_kit.runs.document_texts import DocumentTexts


def _archive(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def _jsonl(path: Path, *rows: object) -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n", encoding="utf-8")
    return path


def test_folder(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "A Agreement.TXT").write_bytes(b"\xef\xbb\xbffirst\r\n")
    (tmp_path / "sub" / "b.md").write_text("second é", encoding="utf-8")
    (tmp_path / "sub" / ".hidden.txt").write_text("x")
    (tmp_path / "c.pdf").write_bytes(b"\xff")
    texts = load_documents(tmp_path)

    assert dict(texts) == {"aagreement": "first\r\n", "b": "second é"}
    assert texts.names == {"aagreement": "A Agreement.TXT", "b": "b.md"}
    assert texts.source == str(tmp_path)
    assert "nothing" not in texts
    with pytest.raises(KeyError):
        texts["nothing"]


def test_archive(tmp_path: Path) -> None:
    path = _archive(
        tmp_path / "texts.zip",
        {
            "full/": b"",
            "full/A.txt": b"first",
            "__MACOSX/full/._A.txt": b"\x00\x05",
            "full/._B.txt": b"\x00\x05",
            "full/.DS_Store": b"\xff",
            "../C.txt": b"third",
        },
    )

    assert dict(load_documents(path)) == {"a": "first", "c": "third"}


def test_archive_with_names_that_do_not_say_they_are_utf8(tmp_path: Path) -> None:
    path = _archive(tmp_path / "texts.zip", {"LECLANCHE\u0301.txt": b"text"})
    data = bytearray(path.read_bytes())
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.index(mark) + offset
        data[at + 1] &= ~0x08  # the flag that says the name is UTF-8
    path.write_bytes(data)

    assert load_documents(path).names == {"leclanche": "LECLANCHE\u0301.txt"}


def test_lines(tmp_path: Path) -> None:
    path = _jsonl(tmp_path / "d.jsonl", {"document": "a.pdf", "text": "first é"}, {"document": "b", "text": "second"})
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n\r\n"))
    texts = load_documents(path)

    assert dict(texts) == {"a": "first é", "b": "second"}
    assert texts.names == {"a": "a.pdf", "b": "b"}


def _length(texts: DocumentTexts, key: str) -> int:
    return len(texts[key])


@pytest.mark.parametrize("form", ["folder", "zip", "jsonl"])
def test_worker_processes_read_for_themselves(tmp_path: Path, form: str) -> None:
    names = [f"d{i}" for i in range(20)]
    if form == "folder":
        for i, name in enumerate(names):
            (tmp_path / f"{name}.txt").write_text("x" * (i + 1))
        texts = load_documents(tmp_path)
    elif form == "zip":
        members = {f"{name}.txt": b"x" * (i + 1) for i, name in enumerate(names)}
        texts = load_documents(_archive(tmp_path / "t.zip", members))
    else:
        rows = [{"document": name, "text": "x" * (i + 1)} for i, name in enumerate(names)]
        texts = load_documents(_jsonl(tmp_path / "t.jsonl", *rows))
    assert texts["d0"] == "x"

    assert dict(pickle.loads(pickle.dumps(texts))) == dict(texts)
    with get_context("spawn").Pool(2) as pool:
        assert pool.starmap(_length, [(texts, name) for name in names]) == list(range(1, 21))


def test_the_cache_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_texts, "_CACHED_CHARACTERS", 10)
    for name in "abc":
        (tmp_path / f"{name}.txt").write_text(name * 6)
    texts = load_documents(tmp_path)
    assert [texts[name] for name in "abca"] == ["aaaaaa", "bbbbbb", "cccccc", "aaaaaa"]
    (tmp_path / "a.txt").unlink()
    (tmp_path / "b.txt").unlink()

    assert texts["a"] == "aaaaaa"
    with pytest.raises(InputError, match=r"b\.txt: cannot be read"):
        texts["b"]


@pytest.mark.parametrize("form", ["folder", "zip"])
def test_texts_that_are_not_utf8(tmp_path: Path, form: str) -> None:
    (tmp_path / "t").mkdir()
    source = tmp_path / "t"
    if form == "folder":
        (source / "bad.txt").write_bytes(b"ab\ncaf\xe9")
        (source / "good.txt").write_bytes(b"fine")
        (source / "void.txt").write_bytes(b" \n")
    else:
        source = _archive(tmp_path / "t.zip", {"bad.txt": b"ab\ncaf\xe9", "good.txt": b"fine", "void.txt": b" \n"})

    with pytest.raises(InputError, match=r"bad\.txt, line 2: byte 0xe9 at offset 6 is not UTF-8; expected UTF-8"):
        load_documents(source)["bad"]
    texts = load_documents(source, on_error="collect")

    assert dict(texts) == {"good": "fine"}
    assert [problem.document for problem in texts.problems] == ["bad.txt", "void.txt"]
    assert "is not UTF-8" in texts.problems[0].message
    assert "empty" in texts.problems[1].message


def test_two_documents_with_one_key(tmp_path: Path) -> None:
    (tmp_path / "a-b.txt").write_text("x")
    (tmp_path / "ab.md").write_text("y")

    with pytest.raises(InputError, match=r"documents 'a-b\.txt' and 'ab\.md' have one key"):
        load_documents(tmp_path)
    texts = load_documents(tmp_path, on_error="collect")
    assert dict(texts) == {"ab": "x"}
    assert len(texts.problems) == 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"document": "a"}', r"line 2, field 'text': not text but nothing; expected an object"),
        ('{"document": 3, "text": "x"}', r"line 2, field 'document': not text but 3"),
        ('{"document": "b", "text": ""}', r"line 2, field 'text': the document is empty"),
        ('{"document": "b", "text"', r"line 2: the JSON is cut off \(column 25\)"),
        ("[]", r"line 2: not an object but a list \[\]"),
        ('{"document": "First!", "text": "x"}', r"documents 'first' and 'First!' have one key"),
        ('{"document": "...", "text": "x"}', r"document name '\.\.\.' gives no key"),
    ],
)
def test_bad_lines(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text('{"document": "first", "text": "x"}\n' + line + '\n{"document": "last", "text": "z"}')

    with pytest.raises(InputError, match=message):
        load_documents(path)
    texts = load_documents(path, on_error="collect")
    assert dict(texts) == {"first": "x", "last": "z"}
    assert len(texts.problems) == 1


def test_nothing_to_read(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "one.txt").write_text("x")
    (tmp_path / "void.jsonl").write_text("")
    (tmp_path / "bad.zip").write_bytes(b"PK\x03\x04nonsense")
    for name, message in {
        "absent": "no such file",
        "empty": "holds no document",
        "one.txt": "is no collection of documents",
        "void.jsonl": "is empty",
        "bad.zip": "is a damaged zip archive",
    }.items():
        with pytest.raises(InputError, match=f"{name}: {message}.*expected a folder or zip archive"):
            load_documents(tmp_path / name)
    encrypted = bytearray(_archive(tmp_path / "e.zip", {"a.txt": b"x"}).read_bytes())
    encrypted[encrypted.index(b"PK\x01\x02") + 8] |= 1
    (tmp_path / "e.zip").write_bytes(encrypted)
    with pytest.raises(InputError, match=r"e\.zip: member 'a\.txt' is encrypted"):
        load_documents(tmp_path / "e.zip")


def test_a_damaged_member(tmp_path: Path) -> None:
    path = _archive(tmp_path / "t.zip", {"a.txt": b"text " * 50})
    data = bytearray(path.read_bytes())
    data[40] ^= 0xFF
    path.write_bytes(data)

    with pytest.raises(InputError, match=r"t\.zip:a\.txt: cannot be unpacked"):
        load_documents(path)["a"]


def test_a_cuad_folder_names_its_texts(tmp_path: Path) -> None:
    (tmp_path / "full_contract_txt").mkdir()
    (tmp_path / "full_contract_txt" / "a.txt").write_text("Text of A.", encoding="utf-8")
    assert dict(load_documents(f"cuad:{tmp_path}")) == {"a": "Text of A."}
    with pytest.raises(InputError, match=r"no contract texts here; expected a CUAD folder with full_contract_txt"):
        load_documents(f"cuad:{tmp_path / 'full_contract_txt'}")
