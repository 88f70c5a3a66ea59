"""The command line: what is printed, what is written, how mistakes end."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from rich.console import Console

from dojo_kit.analysis.verify import Difference, VerifyReport
from dojo_kit.cli.output import Column, build_table, estimates_table, shown
from dojo_kit.cli.verify import print_reports
from dojo_kit.scoring.frames import COLUMNS
from dojo_kit.stats.intervals import Estimate
from tests.command_line import Dojo


@pytest.fixture
def run_file(tmp_path: Path) -> Path:
    """Three predictions, one of a wrong type."""
    path = tmp_path / "run.jsonl"
    rows = [
        {"document": "a.pdf", "predicted": {"document_name": "Lease", "key_obligations": ["pay the rent on time"]}},
        {"document": "b.pdf", "predicted": {"document_name": "Loan", "key_obligations": "repay the loan in full"}},
        {"document": "c.pdf", "predicted": {"document_name": "Other"}},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def label_file(tmp_path: Path) -> Path:
    """Labels of the first two documents."""
    path = tmp_path / "labels.jsonl"
    rows = [
        {
            "document": "A",
            "fields": {"document_name": "Lease", "key_obligations": ["pay the rent on time", "keep it clean"]},
        },
        {"document": "B", "fields": {"document_name": "Loan Agreement"}},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_score_as_json(dojo: Dojo, run_file: Path, label_file: Path, tmp_path: Path) -> None:
    """``--json`` prints one object with recipe, counts, metrics and diagnostics; ``--out`` writes the frames."""
    done = dojo("score", run_file, "--labels", f"jsonl:{label_file}", "--out", tmp_path / "scored", "--json")
    result = done.json

    assert done.code == 0
    assert (result["n_documents"], result["n_scored"], result["n_failed"], result["n_unmatched"]) == (3, 2, 0, 1)
    overall = result["metrics"]["overall_extraction_score"]
    assert set(overall) >= {"value", "lo", "hi", "method", "n"}
    assert (overall["n"], overall["method"]) == (2, "percentile")
    assert result["diagnostics"]["n_fields_scored"] == 3
    assert result["recipe"]["spans"] == "all"
    for name, columns in COLUMNS.items():
        frame = pd.read_parquet(tmp_path / "scored" / f"{name}.parquet")
        assert list(frame.columns) == list(columns)
    assert json.loads((tmp_path / "scored" / "recipe.json").read_text()) == result["recipe"]


def test_score_for_people(dojo: Dojo, run_file: Path, label_file: Path) -> None:
    """The table holds metric, value, interval and n, the fields, what the interval covers, and the problems."""
    done = dojo("score", run_file, "--labels", label_file)

    assert done.code == 0
    assert "2 of 3 documents scored, 1 without labels" in done.out
    assert re.search(r"overall_extraction_score +0\.\d{3} +\[0\.\d{3}, 1\.000\] +2 +n < 20", done.out)
    assert "key_obligations" in done.out
    assert "sampling of documents only" in done.out
    assert "2 problems in the input" in done.err
    assert "the value is text; expected a list of texts" in done.err


def test_settings_reach_the_scorer(dojo: Dojo, run_file: Path, label_file: Path) -> None:
    """``--set`` changes a threshold and with it the recipe."""
    plain = dojo("score", run_file, "--labels", label_file, "--json").json
    strict = dojo("score", run_file, "--labels", label_file, "--set", "field_scoring.match_threshold=1", "--json").json

    assert plain["recipe"]["settings"] != strict["recipe"]["settings"]


def test_diagnose(dojo: Dojo, run_file: Path, label_file: Path) -> None:
    """Diagnostics come as tables and as JSON, with the same numbers as score."""
    shown = dojo("diagnose", run_file, "--labels", label_file)
    as_json = dojo("diagnose", run_file, "--labels", label_file, "--json").json
    scored = dojo("score", run_file, "--labels", label_file, "--json").json

    assert "field_exact_rate" in shown.out
    assert "error_decomposition" in shown.out
    assert as_json["diagnostics"] == scored["diagnostics"]


def test_explain(dojo: Dojo) -> None:
    """A pair of values: the score, the rule, every rule tried, what was read."""
    shown = dojo("explain", "date", "2014-05-20", "May 8, 2014")
    as_json = dojo("explain", "date", "2014-05-20", "May 8, 2014", "--json").json
    lists = dojo("explain", "entity_list:name", '["Acme Corp"]', '["Acme Inc", "Beta"]', "--json").json

    assert "0.67" in shown.out
    assert "date.same_month" in shown.out
    assert (as_json["score"], as_json["rule"], as_json["steps"][-1]["rule"]) == (
        0.67,
        "date.same_month",
        "date.same_month",
    )
    assert (lists["readings"]["precision"], lists["readings"]["recall"]) == (1.0, 0.5)


def test_verify(dojo: Dojo, tmp_path: Path) -> None:
    """A stored aggregate that does not follow from its rows is listed; ``--strict`` makes it exit 1."""
    record = {
        "type": "experiment",
        "task": "sorter_classification",
        "experiment_name": "x",
        "model": "m",
        "data_source": {},
        "parameters": {},
        "tokens": {},
        "scores": {"exact_match": 0.9},
        "n_rows": 2,
        "results": [
            {
                "filename": "a",
                "status": "completed",
                "error": None,
                "expected": "yes",
                "predicted": "yes",
                "correct": True,
            },
            {
                "filename": "b",
                "status": "completed",
                "error": None,
                "expected": "yes",
                "predicted": "no",
                "correct": False,
            },
        ],
    }
    path = tmp_path / "record.json"
    path.write_text(json.dumps(record))
    report = dojo("verify", path, "--json").json["runs"][0]

    assert {"name": "scores.exact_match", "stored": 0.9, "recomputed": 0.5}.items() <= report["differences"][0].items()
    assert dojo("verify", path).code == 0
    assert dojo("verify", path, "--strict").code == 1


MISTAKES: dict[str, tuple[str, str, list[str]]] = {
    "truncated JSON": ("run.json", '{"type": "experiment", "results": [{"filename": "a"', ["run.json", "line 1"]),
    "truncated line": ("run.jsonl", '{"document": "a", "predicted": {}}\n{"document": ', ["run.jsonl", "line 2"]),
    "empty run": ("run.jsonl", "", ["run.jsonl", "empty"]),
    "no document column": ("run.csv", "name2,parties\na,b\n", ["run.csv", "name2", "document"]),
    "two rows": ("run.csv", "document,document_name\na,x\na.pdf,y\n", ["run.csv", "line 3", "one row"]),
    "no overlap": ("run.csv", "document,document_name\nzzz,x\n", ["zzz", "labels"]),
    "not UTF-8": ("run.jsonl", b'{"document": "caf\xe9"}\n', ["run.jsonl", "UTF-8"]),
    "NaN": ("run.jsonl", '{"document": "a", "predicted": {"contract_value": NaN}}\n', ["run.jsonl", "line 1", "NaN"]),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_end_in_one_message_and_exit_2(dojo: Dojo, tmp_path: Path, label_file: Path, name: str) -> None:
    """Bad input is named by file, place and expectation; no traceback, nothing on standard output."""
    filename, content, words = MISTAKES[name]
    path = tmp_path / filename
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    done = dojo("score", path, "--labels", label_file, "--json")

    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("error: ")
    assert "Traceback" not in done.err
    for word in words:
        assert word in done.err


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["score", "none.json", "--labels", "none.jsonl"], ["none.json", "no such file"]),
        (["explain", "dat", "a", "b"], ["unknown field type 'dat'", "did you mean 'date'"]),
        (["explain", "date", "a", "b", "--set", "field_scoring.dayfirst=true"], ["did you mean 'day_first'"]),
        (["explain", "date", "a", "b", "--set", "day_first"], ["section.key=value"]),
        (["verify", "none.json"], ["none.json", "no such file"]),
        (["scroe"], ["scroe"]),
    ],
)
def test_mistaken_arguments(dojo: Dojo, args: list[str], words: list[str]) -> None:
    """A wrong name is answered with the right one."""
    done = dojo(*args)

    assert done.code == 2
    for word in words:
        assert word.lower() in done.err.lower()


def test_collect_scores_the_good_rows(dojo: Dojo, tmp_path: Path, label_file: Path) -> None:
    """``--on-error collect`` keeps going and lists what was left out."""
    path = tmp_path / "run.jsonl"
    path.write_text('{"document": "A", "predicted": {"document_name": "Lease"}}\n{broken\n')
    done = dojo("score", path, "--labels", label_file, "--on-error", "collect", "--json")

    assert done.code == 0
    assert done.json["n_scored"] == 1
    assert done.json["problems"][0]["line"] == 2


def test_version(dojo: Dojo) -> None:
    """The version is the package's."""
    assert dojo("--version").out == "dojo_kit 0.1.0\n"


NUMBERS = ["217", "1,234,567", "0.697", "[0.123, 0.987]", "-1,250.5", "99.9%"]


@pytest.mark.parametrize("width", [24, 40, 60, 80, 100, 160])
def test_no_table_cuts_a_number(width: int) -> None:
    """Text is broken and columns are left out, but every digit of every number that is shown stands whole."""
    columns: list[Column] = [
        ("field", "left"),
        *((f"number {index}", "right") for index in range(len(NUMBERS))),
        ("95 % interval", "left"),
        ("note", "fold"),
    ]
    names = ["overall_extraction_score_2014_of_documents", "[red]parties_2014[/]\x1b[2J"]
    note = "sampled from 12,345 contracts of 2024-05-08, " * 3
    rows = [[name, *NUMBERS, "[0.111, 0.999]", note] for name in names]
    for drop in ([], [f"number {index}" for index in range(len(NUMBERS))]):
        text = io.StringIO()
        Console(width=width, file=text).print(build_table("a title", columns, rows, drop=drop))
        printed = text.getvalue()
        left_out = re.search(r"left out to fit the width: ([^;]+);\s--json has all", " ".join(printed.split()))
        gone = re.findall(r"number (\d)", left_out.group(1)) if left_out else []

        assert max(map(len, printed.splitlines())) <= width
        shown_numbers = [number for index, number in enumerate(NUMBERS) if str(index) not in gone]
        for number in [*shown_numbers, "[0.111, 0.999]", "12,345", "2024-05-08", "2014"]:
            for part in number.split():
                assert len(re.findall(rf"(?<![\d.,]){re.escape(part)}(?![\d])", printed)) >= 2, (part, printed)
        assert "[red]" in printed
        assert "\x1b" not in printed
        assert bool(left_out) == (bool(drop) and width < 160)
        assert gone == sorted(gone)
        assert not gone or gone[-1] == str(len(NUMBERS) - 1)


def test_estimates_fit_narrow_consoles() -> None:
    """The reviewer's case: n 217 was printed as 2."""
    rows = [("needs_review_share_of_all_scored_documents", Estimate(0.697, 0.655, 0.739, "percentile", 217))]
    for width in (30, 60, 80):
        text = io.StringIO()
        Console(width=width, file=text).print(estimates_table(rows, title="t"))
        for number in ("0.697", "[0.655,", "0.739]", "217"):
            assert number in text.getvalue()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\x1b[31mb\x1b[0m", "ab"),
        ("a\x1b]0;title\x07b\x1b]8;;http://x\x1b\\c", "abc"),
        ("a\x9b2Jb\x9d0;x\x9cc", "abc"),
        ("a\x1bcb\x1b(B", "ab"),
        ("a\x1b]unfinished", "aunfinished"),
        ("a\r\nb\x00\x08\x7f", "a b\ufffd\ufffd\ufffd"),
        ("a\u202eb\udce9", "a\ufffdb\ufffd"),
        ("[red]x[/red]", r"\[red]x\[/red]"),
    ],
)
def test_untrusted_text_cannot_steer_the_terminal(text: str, expected: str) -> None:
    """Colours, titles, links, clear-screen, carriage returns, reversed writing and markup."""
    assert shown(text) == expected


def test_untrusted_names_in_errors_and_problems(dojo: Dojo, tmp_path: Path, label_file: Path) -> None:
    """What a file calls its documents and keys is printed without its escape sequences."""
    path = tmp_path / "run.jsonl"
    row = {"document": "A\x1b]0;owned\x07[bold]", "predicted": {"document_name": ["\x1b[2J"], "x\x1b[31m": 1}}
    path.write_text(json.dumps(row) + "\n" + json.dumps(row))
    error = dojo("score", path, "--labels", label_file)
    path.write_text(json.dumps(row | {"document": "A", "status": "\x1b[2J[bold]"}) + "\n{\x1b[2J")
    collected = dojo("score", path, "--labels", label_file, "--on-error", "collect")

    assert error.code == 2
    assert "[bold]" in error.err
    for text in (error.err, collected.out, collected.err):
        assert "\x1b" not in text
        assert "\x07" not in text


def test_output_that_cannot_hold_a_dash() -> None:
    """An ASCII stream: a question mark for people, escapes for JSON, no traceback."""
    env = {**os.environ, "PYTHONIOENCODING": "ascii", "COLUMNS": "80"}
    command = [
        sys.executable,
        "-c",
        "from dojo_kit.cli import main; main()",
        "explain",
        "name",
        "Caf\u00e9",
        "x\u2013y",
    ]
    for_people = subprocess.run(command, capture_output=True, env=env)
    as_json = subprocess.run([*command, "--json"], capture_output=True, env=env)

    assert (for_people.returncode, as_json.returncode) == (0, 0), for_people.stderr + as_json.stderr
    assert b"?" in for_people.stdout
    assert json.loads(as_json.stdout.decode("ascii"))["predicted"] == "Caf\u00e9"


def test_explain_lists_and_objects(dojo: Dojo) -> None:
    """A list cut off is a mistake, not one item; an object is passed on; the column says what it holds."""
    cut = dojo("explain", "entity_list", '["Acme", ', '["Acme"]')
    quoted = dojo("explain", "entity_list", "['Acme']", '["Acme"]')
    an_object = dojo("explain", "entity_list:name", '{"name": "Acme"}', '["Acme"]', "--json")
    one_item = dojo("explain", "entity_list:name", "Acme", '["Acme"]')

    assert (cut.code, quoted.code) == (2, 2)
    assert "PREDICTED" in cut.err
    assert "cut off" in cut.err
    assert "a JSON list, or text" in quoted.err
    assert (an_object.code, an_object.json["readings"]["n_predicted"]) == (0, 0)
    assert "similarity" in one_item.out
    assert dojo("explain", "name", "[Acme", "Acme").code == 0


@pytest.mark.parametrize("args", [("-5", "5"), ("--", "-5", "5"), ("-5", "5", "--set", "statistics.seed=1")])
def test_explain_negative_numbers(dojo: Dojo, args: tuple[str, ...]) -> None:
    """A minus does not make an option."""
    done = dojo("explain", "--json", "money", *args)

    assert done.code == 0
    assert (done.json["predicted"], done.json["rule"]) == ("-5", "money.different")
    assert dojo("explain", "money", "-$5", "-.5").code == 0
    assert dojo("explain", "money", "5", "-x").code == 2


def test_demo_says_what_to_run_next(dojo: Dojo, tmp_path: Path) -> None:
    """The command can be pasted, whatever the folder is called; an empty folder is named as such."""
    done = dojo("demo", "--out", tmp_path / "a demo; of $x")
    command = shlex.split(done.out.partition("next:")[2])

    assert command[1:] == ["notebook", "miss_attribution"]
    assert (tmp_path / "a demo; of $x" / "report.html").stat().st_size > 100_000
    empty = dojo("demo", "--out", "")
    assert (empty.code, "the path is empty" in empty.err) == (2, True)


def test_verify_tells_labels_from_rows(capsys: pytest.CaptureFixture[str]) -> None:
    """What labels give otherwise is no stored number that fails to follow from the rows."""
    anew = Difference("scores.mae", 1.0, 2.0, "read anew from the labels given; the parsers differ")
    off = Difference("scores.exact", 0.9, 0.5, "")
    print_reports([VerifyReport("run\x1b[2J", "t", tuple("abcdefgh"), (anew, off), ())])
    printed = capsys.readouterr().out

    assert "8 of 9 stored numbers follow from the rows of 1 run" in printed
    assert "1 stored number more comes out otherwise from the labels given" in printed
    assert printed.index("scores.exact") < printed.index("scores.mae")
    assert "run: 1 stored number off" in printed
