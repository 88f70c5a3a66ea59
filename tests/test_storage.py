"""Files that are whole or not there, and scored runs on disk."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from dojo_kit import score_run
from dojo_kit.errors import InputError
from dojo_kit.records import Problem
from dojo_kit.runs import load, load_labels, run_from_record, save
from dojo_kit.scoring.frames import COLUMNS, FRAME_NAMES
from dojo_kit.scoring.run import ScoredRun
from dojo_kit.storage import replacing, to_json, write_text


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> ScoredRun:
    """One document with two fields."""
    path = tmp_path_factory.mktemp("labels") / "l.jsonl"
    path.write_text('{"document": "a", "fields": {"document_name": "Lease", "key_obligations": ["pay the rent"]}}')
    record = {"results": [{"filename": "a", "predicted": {"document_name": "Lease", "key_obligations": ["pay rent"]}}]}
    return score_run(run_from_record(record), load_labels(path))


@pytest.fixture
def folder(scored: ScoredRun, tmp_path: Path) -> Path:
    """A saved run."""
    return save(scored, tmp_path / "scored")


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


TARGETS: dict[str, Callable[[Path], Path]] = {
    "a folder": lambda root: root,
    "below a file": lambda root: root / "file" / "x.txt",
    "a long name": lambda root: root / ("x" * 300),
    "a null byte": lambda root: root / "x\0y",
    "no name": lambda root: Path(),
}


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_what_cannot_be_written(tmp_path: Path, target: Callable[[Path], Path]) -> None:
    """An `InputError` that names the file, and nothing left behind."""
    (tmp_path / "file").write_text("kept")
    with pytest.raises(InputError) as caught:
        write_text(target(tmp_path), "x")
    assert caught.value.file == str(target(tmp_path))
    assert _names(tmp_path) == ["file"]
    assert (tmp_path / "file").read_text() == "kept"


def test_a_full_disk(tmp_path: Path) -> None:
    """What stood there before stays."""
    write_text(tmp_path / "x.txt", "old")
    with (
        pytest.raises(InputError, match=r"x\.txt: cannot write: No space left on device"),
        replacing(tmp_path / "x.txt"),
    ):
        raise OSError(28, "No space left on device")
    assert (tmp_path / "x.txt").read_text() == "old"
    assert _names(tmp_path) == ["x.txt"]


def test_a_long_name_that_fits(tmp_path: Path) -> None:
    """The temporary name is no longer than the final one may be."""
    write_text(tmp_path / ("x" * 250), "x")
    assert len(_names(tmp_path)) == 1


def test_halves_of_characters_are_written(tmp_path: Path) -> None:
    """A file name that is not UTF-8 may stand in a recipe; it is no reason to fail."""
    write_text(tmp_path / "x.txt", "a\udce9")
    assert (tmp_path / "x.txt").read_text(encoding="utf-8") == "a\ufffd"
    assert to_json({"a": "é"}, ascii_only=True).isascii()


def test_round_trip(scored: ScoredRun, folder: Path) -> None:
    """Loading gives what was saved."""
    loaded = load(folder)

    assert loaded.recipe == scored.recipe
    assert loaded.problems == scored.problems
    for name in FRAME_NAMES:
        assert loaded.frame(name).equals(scored.frame(name))
        assert list(loaded.frame(name).columns) == list(COLUMNS[name])


def test_a_failed_save_leaves_the_old_run(scored: ScoredRun, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is full at the fourth frame: the run saved before is whole."""
    import pyarrow.parquet as pq

    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    real, calls = pq.write_table, []

    def write_table(table: object, where: object, **options: object) -> None:
        calls.append(where)
        if len(calls) == 4:
            raise OSError(28, "No space left on device")
        real(table, where, **options)

    monkeypatch.setattr(pq, "write_table", write_table)
    with pytest.raises(InputError, match=r"spans\.parquet: cannot write: No space left"):
        save(scored, folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_half_written_save_is_no_run(scored: ScoredRun, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupted between two renames: there is no recipe, so nothing passes for a whole run."""
    real = Path.replace

    def replace(self: Path, target: Path) -> Path:
        if Path(target).name == "items.parquet":
            raise OSError(5, "Input/output error")
        return real(self, target)

    monkeypatch.setattr(Path, "replace", replace)
    with pytest.raises(InputError, match=r"items\.parquet: cannot write"):
        save(scored, folder)
    assert not [name for name in _names(folder) if name.endswith(".part")]
    with pytest.raises(InputError, match="no scored run here"):
        load(folder)


def test_save_where_it_cannot(scored: ScoredRun, folder: Path, tmp_path: Path) -> None:
    """Nothing good is removed when a frame's place is taken, the folder is a file, or the path is empty."""
    (folder / "pairs.parquet").unlink()
    (folder / "pairs.parquet").mkdir()
    with pytest.raises(InputError, match=r"pairs\.parquet: cannot write: it is a folder"):
        save(scored, folder)
    assert "recipe.json" in _names(folder)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write"):
        save(scored, tmp_path / "file")
    with pytest.raises(InputError, match="the path is empty"):
        save(scored, "")


def _changed(folder: Path, **changes: object) -> str:
    return json.dumps(json.loads((folder / "recipe.json").read_text()) | changes)


BROKEN: dict[str, tuple[str, Callable[[Path], str], str]] = {
    "resamples": (
        "recipe.json",
        lambda f: _changed(f, n_resamples=None),
        r"field 'n_resamples': nothing is of a wrong",
    ),
    "floor": ("recipe.json", lambda f: _changed(f, pair_floor="0.2"), r"field 'pair_floor': '0\.2' is of a wrong type"),
    "run": ("recipe.json", lambda f: _changed(f, run={"name": 3}), r"field 'run'"),
    "unknown key": ("recipe.json", lambda f: _changed(f, extra=1), "not the recipe of a scored run"),
    "list": ("recipe.json", lambda f: "[]", "not the recipe of a scored run"),
    "cut off": ("recipe.json", lambda f: '{"a"', r"recipe\.json, line 1: the JSON is cut off"),
    "problems": ("problems.json", lambda f: '{"a": 1}', r"problems\.json: not a list but an object"),
    "a problem": ("problems.json", lambda f: '[{"message": "x"}]', r"problems\.json: not the problem of a scored run"),
    "line": (
        "problems.json",
        lambda f: json.dumps([{name: None if name != "line" else "3" for name in Problem.__dataclass_fields__}]),
        r"problems\.json, field 'message': nothing is of a wrong type",
    ),
    "bytes": ("problems.json", lambda f: "\udcff", r"problems\.json: cannot be read: it is not UTF-8 text"),
}


@pytest.mark.parametrize(("name", "content", "message"), BROKEN.values(), ids=BROKEN)
def test_a_damaged_folder(folder: Path, name: str, content: Callable[[Path], str], message: str) -> None:
    """An `InputError` names the file and the key at fault."""
    (folder / name).write_bytes(content(folder).encode("utf-8", "surrogateescape"))
    with pytest.raises(InputError, match=message):
        load(folder)


def test_no_folder(folder: Path, tmp_path: Path) -> None:
    """A file, a folder of something else, and nothing."""
    with pytest.raises(InputError, match="is a file, not a folder"):
        load(folder / "recipe.json")
    for path in (tmp_path, tmp_path / "absent"):
        with pytest.raises(InputError, match="no scored run here"):
            load(path)


def test_frames_that_are_none(folder: Path) -> None:
    """A frame under another's name, a damaged one, one that is missing, and names nobody knows."""
    shutil.copy(folder / "items.parquet", folder / "fields.parquet")
    (folder / "spans.parquet").write_bytes(b"PAR1")
    (folder / "pairs.parquet").unlink()
    source = load(folder).source
    with pytest.raises(InputError, match=r"fields\.parquet: not the frame 'fields': it has no column type, predicted"):
        source.frame("fields")
    with pytest.raises(InputError, match=r"spans\.parquet: cannot read frame"):
        source.frame("spans")
    with pytest.raises(InputError, match=r"pairs\.parquet: missing frame"):
        source.frame("pairs")
    with pytest.raises(InputError, match=r"no column 'scor' in frame 'fields' \(did you mean 'score'\?\)"):
        source.frame("fields", ["scor"])
    with pytest.raises(InputError, match=r"no frame 'field' \(did you mean 'fields'\?\).*documents, fields, items"):
        source.frame("field")  # type: ignore[arg-type]
