"""A provider's export: columns by their usual names, and faults that name their place."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from dojo_kit.errors import InputError
from dojo_kit.runs.activity import read_activity

HEADER = "generation_id,created_at,cost_total,tokens_prompt,tokens_completion,model_permaslug,app_name"
ROW = "g1,2026-01-31 14:05:00.123,0.0012,1000,20,maker/model-20260101,evals"


def write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_an_export(tmp_path: Path) -> None:
    found = read_activity(write(tmp_path / "a.csv", HEADER, ROW, ROW.replace("g1", "g2"), ROW))

    first = found.generations[0]
    assert (first.model, first.cost_usd, first.tokens) == ("maker/model-20260101", 0.0012, 1020)
    assert first.time == datetime(2026, 1, 31, 14, 5, 0, 123000, tzinfo=UTC)
    assert (len(found.generations), found.n_duplicates, found.n_without_zone) == (2, 1, 2)


@pytest.mark.parametrize("time", ["2026-01-31T14:05:00Z", "2026-01-31 14:05:00 UTC", "2026-01-31T15:05:00+01:00"])
def test_other_names_and_times(tmp_path: Path, time: str) -> None:
    found = read_activity(write(tmp_path / "a.csv", "Timestamp;Model;Cost", f"{time};m;$0.5"))

    assert found.generations[0].time == datetime(2026, 1, 31, 14, 5, tzinfo=UTC)
    assert (found.generations[0].cost_usd, found.generations[0].tokens, found.n_without_zone) == (0.5, None, 0)


@pytest.mark.parametrize(
    ("header", "says"),
    [
        ("created_at,cost", "field 'model': no column of the model; columns found: created_at, cost; expected one of"),
        ("model,cost", "field 'time': no column of the time"),
        ("created_at,model", "field 'cost': no column of the cost"),
    ],
)
def test_a_missing_column_is_named(tmp_path: Path, header: str, says: str) -> None:
    with pytest.raises(InputError) as caught:
        read_activity(write(tmp_path / "a.csv", header, ",".join("1" for _ in header.split(","))))
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (ROW.replace("2026-01-31 14:05:00.123", "2026-01-31"), "is a day, not a time"),
        (ROW.replace("2026-01-31 14:05:00.123", "yesterday"), "field 'created_at': 'yesterday' is no time"),
        (ROW.replace("0.0012", "free"), "field 'cost_total': 'free' is no amount"),
        (ROW.replace("0.0012", "-1"), "field 'cost_total': '-1' is no amount"),
        (ROW.replace("0.0012", ""), "field 'cost_total': no cost"),
        (ROW.replace("maker/model-20260101", ""), "field 'model_permaslug': no model"),
        (ROW.replace("1000", "inf"), "field 'tokens_prompt': 'inf' is no amount"),
    ],
)
def test_a_fault_names_file_line_and_field(tmp_path: Path, row: str, says: str) -> None:
    path = write(tmp_path / "a.csv", HEADER, ROW, row.replace("g1", "g2"))

    with pytest.raises(InputError) as caught:
        read_activity(path)
    assert str(caught.value).startswith(f"{path}, line 3")
    assert says in str(caught.value)
    found = read_activity(path, on_error="collect")
    assert (len(found.generations), [problem.line for problem in found.problems]) == (1, [3])


def test_nothing_to_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no generations"):
        read_activity(write(tmp_path / "a.csv", HEADER))
    with pytest.raises(InputError, match="is one JSON object"):
        read_activity(write(tmp_path / "a.json", "{", "}"))
