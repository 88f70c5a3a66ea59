"""Files of judgments: both kinds, duplicates, faults that name their place, and appending under a lock."""

from __future__ import annotations

import json
import multiprocessing
from pathlib import Path
from typing import Any

import pytest

from dojo_kit.analysis.judging import Judgment, LabelJudgment
from dojo_kit.errors import InputError
from dojo_kit.runs.judgments import append_line, read_judgments
from tests.analysis.judgment_lines import write_lines

LINE: dict[str, Any] = {
    "kind": "calibration",
    "filename": "Lease.pdf",
    "deterministic_overall_score": 0.8123,
    "ambiguous_fields": ["parties"],
    "correctness_label": "partial",
    "correctness_error": None,
    "completeness_label": "complete",
}
AFTERWARDS: dict[str, Any] = {
    "filename": "Licence.pdf",
    "expected_subtype": "license",
    "predicted_subtype": "ip",
    "sorter_confidence": 0.9,
    "sorter_reasoning": "mentions patents",
    "judgment": {"label": "ambiguous", "quality": 0.4, "reasoning": "both fit"},
}


def test_both_kinds_are_read_apart(tmp_path: Path) -> None:
    found = read_judgments(write_lines(tmp_path / "j.jsonl", [LINE, AFTERWARDS]))

    assert found.extractions == (Judgment("Lease.pdf", 0.8123, "partial", ("parties",), "complete"),)
    assert found.labels == (LabelJudgment("Licence.pdf", "license", "ip", "ambiguous", 0.4, 0.9),)
    assert (found.n_lines, found.n_duplicates, found.problems) == (2, 0, ())


def test_a_judgment_may_be_a_bare_label(tmp_path: Path) -> None:
    found = read_judgments(write_lines(tmp_path / "j.jsonl", [{"filename": "a", "judgment": "correct"}]))

    assert found.labels == (LabelJudgment("a", "", "", "correct"),)


def test_other_keys_are_nobodys_business(tmp_path: Path) -> None:
    """What live judges write beside, and what others may."""
    more = {"completeness": 0.9, "reason": "r", "judged_at": "2026", "source_chars": 3, "reviewer": "me"}
    line = {name: value for name, value in LINE.items() if name != "completeness_label"} | more
    assert len(read_judgments(write_lines(tmp_path / "j.jsonl", [line])).extractions) == 1


def test_the_last_line_of_a_document_wins(tmp_path: Path) -> None:
    """A run repeated under one name appends; the spelling of a file name does not make another document."""
    again = LINE | {"filename": "LEASE.txt", "correctness_label": "accurate"}
    found = read_judgments(
        write_lines(tmp_path / "j.jsonl", [LINE, AFTERWARDS, again, AFTERWARDS, LINE | {"judge": "m"}])
    )

    assert [one.correctness for one in found.extractions] == ["accurate", "partial"]
    assert (found.n_lines, found.n_duplicates) == (5, 2)
    assert found.duplicated == ("LEASE.txt", "Licence.pdf")


FAULTS: dict[str, tuple[Any, str]] = {
    "label": (
        LINE | {"correctness_label": "acurate"},
        "field 'correctness_label': 'acurate' is no label (did you mean",
    ),
    "completeness": (LINE | {"completeness_label": 1}, "field 'completeness_label': 1 is no label"),
    "score": (LINE | {"deterministic_overall_score": "0.8"}, "field 'deterministic_overall_score': not a share"),
    "range": (LINE | {"deterministic_overall_score": 1.5}, "expected a number from 0 to 1"),
    "truth": (LINE | {"deterministic_overall_score": True}, "not a share but True"),
    "fields": (LINE | {"ambiguous_fields": "parties"}, "field 'ambiguous_fields': not a list of names"),
    "name": (LINE | {"filename": " "}, "field 'filename': not text but ' '"),
    "kind": (LINE | {"kind": "calibrated"}, "'calibrated' is no kind of judgment (did you mean 'calibration'?)"),
    "no judgment": ({"filename": "a"}, "field 'judgment': is missing, and the line has no kind"),
    "quality": (AFTERWARDS | {"judgment": {"label": "correct", "quality": 7}}, "field 'judgment.quality': not a share"),
    "verdict": (AFTERWARDS | {"judgment": {"label": "right"}}, "field 'judgment.label': 'right' is no label"),
    "list": ([1], "not an object but a list [1]"),
    "no score": (
        {name: value for name, value in LINE.items() if name != "deterministic_overall_score"},
        "field 'deterministic_overall_score': is missing",
    ),
    "no label": (
        {name: value for name, value in LINE.items() if name != "correctness_label"},
        "field 'correctness_label': is missing",
    ),
    "mistyped label": (
        {name.replace("correctness_label", "correctness_lable"): value for name, value in LINE.items()},
        "field 'correctness_lable': is unknown (did you mean 'correctness_label'?)",
    ),
    "mistyped fields": (
        {name.replace("ambiguous_fields", "ambigous_fields"): value for name, value in LINE.items()},
        "field 'ambigous_fields': is unknown (did you mean 'ambiguous_fields'?)",
    ),
    "mistyped judgment": (
        {"filename": "a", "judgement": "correct"},
        "field 'judgement': is unknown (did you mean 'judgment'?)",
    ),
    "no verdict": (AFTERWARDS | {"judgment": {"quality": 0.5}}, "field 'judgment.label': is missing"),
    "mistyped quality": (
        AFTERWARDS | {"judgment": {"label": "correct", "qualty": 0.5}},
        "field 'judgment.qualty': is unknown (did you mean 'quality'?)",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_names_file_line_and_field(tmp_path: Path, name: str) -> None:
    line, says = FAULTS[name]
    path = write_lines(tmp_path / "j.jsonl", [LINE, line])

    with pytest.raises(InputError) as caught:
        read_judgments(path)
    assert str(caught.value).startswith(f"{path}, line 2")
    assert says in str(caught.value)
    collected = read_judgments(path, on_error="collect")
    assert (len(collected.extractions), len(collected.problems)) == (1, 1)
    assert (collected.problems[0].line, collected.problems[0].source) == (2, str(path))


@pytest.mark.parametrize(
    ("data", "says"),
    [(b"", "is empty"), (b'{"kind": "calib', "cut off"), (b"{}\xff", "not UTF-8"), (b'{"a": NaN}', "NaN")],
)
def test_damaged_files(tmp_path: Path, data: bytes, says: str) -> None:
    path = tmp_path / "j.jsonl"
    path.write_bytes(data)

    for on_error in ("raise", "collect"):
        with pytest.raises(InputError, match=says):
            read_judgments(path, on_error=on_error)  # type: ignore[arg-type]


def test_appending_mends_a_line_that_was_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "new" / "j.jsonl"
    append_line(path, LINE)
    path.write_bytes(path.read_bytes() + b'{"kind": "cal')
    append_line(path, LINE | {"filename": "b \ud800"})

    found = read_judgments(path, on_error="collect")
    assert [one.document for one in found.extractions] == ["Lease.pdf", "b \N{REPLACEMENT CHARACTER}"]
    assert [problem.line for problem in found.problems] == [2]


def test_appending_where_nothing_can_be_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot write"):
        append_line(tmp_path, LINE)


def _append_many(path: Path, name: str) -> None:
    for index in range(50):
        append_line(path, LINE | {"filename": f"{name}{index}", "reason": "x" * 20_000})


def test_processes_that_append_at_once_do_not_mix_lines(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_append_many, args=(path, name)) for name in "ab"]
    for process in processes:
        process.start()
    for process in processes:
        process.join()

    assert len(read_judgments(path).extractions) == 100
    assert all(json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
