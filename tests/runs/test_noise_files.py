"""Noise floors in files: read back unchanged, written whole, and faults named by file and field."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dojo_kit.analysis.noise import NoiseFloor, noise_floor
from dojo_kit.errors import InputError
from dojo_kit.runs import read_run
from dojo_kit.runs.noise_files import read_noise, write_noise
from dojo_kit.samples import sample_data

TABLES = ("groups", "means", "pairs", "answers", "excluded")


@pytest.fixture(scope="module")
def floor() -> NoiseFloor:
    """Measure two kinds of reruns of the sample; the same run twice is among them."""
    names = ["subtype_small", "subtype_small_rerun", "extraction_v1_small", "extraction_v1_small_rerun"]
    runs = [read_run(sample_data() / "runs" / f"{name}.json") for name in (*names, names[0])]
    return noise_floor(runs)


@pytest.fixture
def stored(floor: NoiseFloor, tmp_path: Path) -> dict[str, Any]:
    write_noise(tmp_path / "noise.json", floor)
    value: dict[str, Any] = json.loads((tmp_path / "noise.json").read_text(encoding="utf-8"))
    return value


def test_a_floor_is_read_back_as_it_was_written(floor: NoiseFloor, tmp_path: Path) -> None:
    path = tmp_path / "new" / "noise.json"
    written, read = write_noise(path, floor), read_noise(path)
    assert written.source == read.source == str(path)
    assert read.n_runs == floor.n_runs == 5
    assert len(floor.excluded) == 1
    for name in TABLES:
        pd.testing.assert_frame_equal(getattr(read, name), getattr(floor, name))
    place = dict(zip(("task", "model", "surface"), floor.groups.loc[0, ["task", "model", "surface"]], strict=True))
    metric = floor.groups.loc[0, "headline"]
    assert read.band(metric, **place) == floor.band(metric, **place)
    write_noise(tmp_path / "again.json", read)
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()


def test_an_empty_floor_is_read_back(tmp_path: Path) -> None:
    write_noise(tmp_path / "noise.json", noise_floor([]))
    read = read_noise(tmp_path / "noise.json")
    assert (len(read), read.n_runs) == (0, 0)
    assert read.pairs["delta"].dtype == float


def test_one_row_stands_on_one_line(stored: dict[str, Any], tmp_path: Path) -> None:
    lines = (tmp_path / "noise.json").read_text(encoding="utf-8").splitlines()
    rows = sum(len(stored[name]) for name in TABLES)
    assert sum(line.startswith("{") and len(line) > 1 for line in lines) == rows


def set_in(table: str, row: int, column: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda stored: stored[table][row].__setitem__(column, value)


FAULTS: list[tuple[Callable[[dict[str, Any]], Any], str, str]] = [
    (lambda stored: stored.pop("format"), "format", "no noise floor"),
    (lambda stored: stored.update(version=1), "version", "version 1 cannot be read"),
    (lambda stored: stored.update(version=2.0), "version", "version 2.0 cannot be read"),
    (lambda stored: stored.update(version=True), "version", "version True cannot be read"),
    (lambda stored: stored.pop("means"), "means", "is missing"),
    (lambda stored: stored.update(pears=[]), "pears", "is unknown (did you mean 'pairs'?)"),
    (lambda stored: stored.update(n_runs=-1), "n_runs", "is -1"),
    (lambda stored: stored.update(pairs={}), "pairs", "is no list"),
    (lambda stored: stored["pairs"].append(3), "pairs[{n}]", "is no object"),
    (lambda stored: stored["pairs"][1].pop("delta"), "pairs[1].delta", "is missing"),
    (set_in("pairs", 0, "delta", "0.1"), "pairs[0].delta", "is '0.1'; expected a number"),
    (set_in("pairs", 0, "delta", True), "pairs[0].delta", "is True; expected a number"),
    (set_in("pairs", 0, "n", 2.5), "pairs[0].n", "is 2.5; expected a whole number"),
    (set_in("pairs", 0, "flipped", [1]), "pairs[0].flipped", "expected a list of texts"),
    (set_in("means", 0, "value", None), "means[0].value", "is None; expected a number"),
    (set_in("means", 2, "group", 9), "means[2].group", "there is no group 9"),
    (set_in("groups", 1, "group", 1), "groups", "a group occurs twice"),
    (set_in("groups", 0, "surface", None), "groups[0].surface", "expected a text"),
    (set_in("groups", 0, "identity", "prompt"), "groups[0].identity", "expected 'prompt hash' or 'prompt name only'"),
    (set_in("groups", 0, "recipe", {"spans": "all"}), "groups[0].recipe", "expected an object with spans, scorer"),
    (set_in("means", 1, "digest", ""), "means[1].digest", "is ''; expected the hash of a run's answers"),
    (set_in("pairs", 0, "digest_b", " "), "pairs[0].digest_b", "expected the hash of a run's answers"),
    (lambda stored: stored["means"].append(stored["means"][0]), "means[{means}]", "occurs twice (group 1, metric"),
    (lambda stored: stored["pairs"].append(stored["pairs"][0]), "pairs[{n}]", "occurs twice (group 1, metric"),
    (set_in("excluded", 0, "detail", 1), "excluded[0].detail", "is 1; expected a text"),
]


@pytest.mark.parametrize(("spoil", "field", "message"), FAULTS)
def test_faults_name_file_and_field(
    spoil: Callable[[dict[str, Any]], Any], field: str, message: str, stored: dict[str, Any], tmp_path: Path
) -> None:
    field = field.format(n=len(stored["pairs"]), means=len(stored["means"]))
    spoil(stored)
    path = tmp_path / "spoilt.json"
    path.write_text(json.dumps(stored), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_noise(path)
    assert str(caught.value).startswith(f"{path}, field {field!r}: ")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[1, 2]", "no noise floor"),
        (b'{"format": NaN}', "NaN is no JSON number"),
        (b'{"format": "dojo_kit noise floor"', "the JSON is cut off"),
        (b"\xff\xfe", "UTF-8"),
        (b"", "empty"),
    ],
)
def test_files_that_are_none(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "noise.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        read_noise(path)
    assert str(path) in str(caught.value)


def test_missing_files_and_folders_are_refused(floor: NoiseFloor, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_noise(tmp_path / "none.json")
    with pytest.raises(InputError, match="it is a folder"):
        write_noise(tmp_path, floor)
    assert list(tmp_path.iterdir()) == []
