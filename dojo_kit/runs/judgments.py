"""Judgments as JSONL: read with the last one of a document winning, and appended one line at a time.

A line of kind ``calibration`` is about an extraction; a line without a kind was written afterwards about a
classification that does not equal its label, and is kept apart.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, BinaryIO

from dojo_kit.analysis.judging import COMPLETENESS, CORRECTNESS, VERDICTS, Judgment, LabelJudgment
from dojo_kit.errors import InputError, closest
from dojo_kit.records import Problem
from dojo_kit.runs.cells import shown
from dojo_kit.runs.problems import OnError, ProblemList
from dojo_kit.runs.raw_rows import RawRow
from dojo_kit.runs.sources import PathLike, read_bytes, source_path
from dojo_kit.runs.strict_json import lines, parse_line
from dojo_kit.storage import encodable
from dojo_kit.text.names import document_key

KIND = "calibration"
EXPECTED = "judgments, one JSON object a line"

_KINDS = (KIND,)

_NEEDED = ("filename", "deterministic_overall_score", "correctness_label")
_READ = (*_NEEDED, "ambiguous_fields", "completeness_label", "correctness_error", "judge", "experiment")
_READ_AFTERWARDS = ("filename", "expected_subtype", "predicted_subtype", "sorter_confidence", "judgment")
_LABEL_NAMES = ("label", "verdict", "classification")
_OTHERS = ("completeness", "judged_at", "sorter_reasoning", "reason", "reasoning")
"""Keys beside those that are read; they resemble some of them."""

_RESEMBLES = 0.84
"""Similarity from which an unknown key is a mistyped one, where that is missing."""


@dataclass(frozen=True, slots=True)
class Judgments:
    """The judgments of a file.

    Attributes:
        extractions: About extractions: one per document, judge and experiment, in order of first occurrence.
        labels: About failed classifications: one per document.
        n_lines: Lines of either kind that were read.
        n_duplicates: Lines left out because a later one is about the same document.
        duplicated: Documents with more than one line, in order of first occurrence.
        problems: Lines that could not be read.
        source: The file.
    """

    extractions: tuple[Judgment, ...]
    labels: tuple[LabelJudgment, ...]
    n_lines: int
    n_duplicates: int
    duplicated: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    source: str = ""


def read_judgments(path: PathLike, *, on_error: OnError = "raise") -> Judgments:
    """Read a file of judgments; of several lines about one document the last counts.

    Args:
        path: JSONL file.
        on_error: ``collect`` leaves out lines that cannot be read and lists them.

    Raises:
        InputError: The file cannot be read, or (unless collecting) a line is faulty; the message names file, line
            and field.
    """
    path = source_path(path, expected=EXPECTED)
    problems = ProblemList(on_error, str(path))
    extractions: dict[tuple[str, str, str], Judgment] = {}
    labels: dict[str, LabelJudgment] = {}
    repeated: dict[str, None] = {}
    n_lines = 0
    for row in _rows(path, problems):
        try:
            judgment = _judgment(row)
        except InputError as error:
            problems.reject(error, document=_name(row))
            continue
        n_lines += 1
        key = document_key(judgment.document)
        if isinstance(judgment, LabelJudgment):
            again = key in labels
            labels[key] = judgment
        else:
            again = (key, judgment.judge, judgment.experiment) in extractions
            extractions[key, judgment.judge, judgment.experiment] = judgment
        if again:
            repeated.setdefault(judgment.document)
    if not n_lines:
        raise problems.nothing_left("judgments", file=path, expected=EXPECTED)
    kept = len(extractions) + len(labels)
    return Judgments(
        extractions=tuple(extractions.values()),
        labels=tuple(labels.values()),
        n_lines=n_lines,
        n_duplicates=n_lines - kept,
        duplicated=tuple(repeated),
        problems=problems.found,
        source=str(path),
    )


def _rows(path: PathLike, problems: ProblemList) -> Iterator[RawRow]:
    for number, start, line in lines(read_bytes(path, expected=EXPECTED)):
        try:
            value = parse_line(line, file=path, number=number, start=start, expected=EXPECTED)
            if not isinstance(value, dict):
                raise InputError(f"not an object but {shown(value)}", file=path, line=number, expected=EXPECTED)
        except InputError as error:
            problems.reject(error)
            continue
        yield RawRow(value, str(path), number)


def _judgment(row: RawRow) -> Judgment | LabelJudgment:
    kind = row.values.get("kind")
    if kind is None:
        return _label_judgment(row)
    if kind not in _KINDS:
        hint = closest(kind, _KINDS) if isinstance(kind, str) else ""
        raise row.error(f"{shown(kind)} is no kind of judgment{hint}", field="kind", expected=f"{KIND!r} or no kind")
    document = _text(row, "filename", required=True)
    _check_keys(row.values, row, _READ, "")
    _require(row, _NEEDED)
    return Judgment(
        document=document,
        score=_share(row, "deterministic_overall_score"),
        correctness=_one_of(row, row.values.get("correctness_label"), "correctness_label", CORRECTNESS),
        ambiguous_fields=_names(row, "ambiguous_fields"),
        completeness=_one_of(row, row.values.get("completeness_label"), "completeness_label", COMPLETENESS),
        error=_text(row, "correctness_error"),
        judge=_text(row, "judge"),
        experiment=_text(row, "experiment"),
    )


def _label_judgment(row: RawRow) -> LabelJudgment:
    document = _text(row, "filename", required=True)
    if "judgment" not in row.values:
        _check_keys(row.values, row, (*_READ_AFTERWARDS, "kind"), "")
    if "judgment" not in row.values:
        expected = f"kind {KIND!r}, or the judgment of a classification"
        raise row.error("is missing, and the line has no kind", field="judgment", expected=expected)
    _check_keys(row.values, row, _READ_AFTERWARDS, "")
    judgment = row.values["judgment"]
    quality = None
    if isinstance(judgment, Mapping):
        _check_keys(judgment, row, (*_LABEL_NAMES, "quality"), "judgment.")
        name = next((name for name in _LABEL_NAMES if name in judgment), "")
        if not name:
            raise row.error("is missing", field="judgment.label", expected=f"one of {', '.join(VERDICTS)}, or null")
        label = judgment.get(name)
        quality = _share(RawRow(dict(judgment), row.file, row.line, "judgment"), "quality")
    else:
        name, label = "", judgment
    field = f"judgment.{name}" if name else "judgment"
    return LabelJudgment(
        document=document,
        expected=_text(row, "expected_subtype"),
        predicted=_text(row, "predicted_subtype"),
        verdict=_one_of(row, label, field, VERDICTS),
        quality=quality,
        confidence=_share(row, "sorter_confidence"),
    )


def _require(row: RawRow, keys: tuple[str, ...]) -> None:
    for key in keys:
        if key not in row.values:
            raise row.error("is missing", field=key, expected=f"{', '.join(keys)} in every line; null where unknown")


def _check_keys(values: Mapping[str, Any], row: RawRow, keys: tuple[str, ...], place: str) -> None:
    """Refuse a key that is not read but resembles one that is, and that is missing."""
    missing = [key for key in keys if key not in values]
    for name in values:
        meant = [] if name in (*keys, *_OTHERS) else get_close_matches(name, missing, n=1, cutoff=_RESEMBLES)
        if meant:
            says = f"is unknown (did you mean {meant[0]!r}?)"
            raise row.error(says, field=f"{place}{name}", expected=", ".join(keys))


def _name(row: RawRow) -> str | None:
    name = row.values.get("filename")
    return name if isinstance(name, str) else None


def _text(row: RawRow, key: str, *, required: bool = False) -> str:
    value = row.values.get(key)
    if value is None and not required:
        return ""
    if not isinstance(value, str) or (required and not value.strip()):
        raise row.error(f"not text but {shown(value)}", field=key, expected="text")
    return value


def _share(row: RawRow, key: str) -> float | None:
    value = row.values.get(key)
    if value is None:
        return None
    number = math.nan if isinstance(value, bool) or not isinstance(value, int | float) else float(value)
    if not 0 <= number <= 1:
        raise row.error(f"not a share but {shown(value)}", field=key, expected="a number from 0 to 1, or null")
    return number


def _one_of(row: RawRow, value: Any, key: str, known: tuple[Any, ...]) -> Any:
    if value is None or value in known:
        return value
    hint = closest(value, known) if isinstance(value, str) else ""
    raise row.error(f"{shown(value)} is no label{hint}", field=key, expected=f"one of {', '.join(known)}, or null")


def _names(row: RawRow, key: str) -> tuple[str, ...]:
    value = row.values.get(key)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise row.error(f"not a list of names but {shown(value)}", field=key, expected="a list of field names")
    return tuple(value)


def append_line(path: PathLike, record: Mapping[str, Any]) -> None:
    """Append one record to a JSONL file that others may append to at the same time.

    The line is written under a lock and reaches the disk before the function returns. A last line that was cut off,
    as by a full disk, gets its line end first, so that it spoils no other.

    Args:
        path: The file; made, with its folder, when missing.
        record: JSON-ready values.

    Raises:
        InputError: The file cannot be written.
    """
    data = (encodable(json.dumps(record, ensure_ascii=False, allow_nan=False)) + "\n").encode()
    file = Path(path)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a+b") as stream, _locked(stream):
            if stream.seek(0, os.SEEK_END):
                stream.seek(-1, os.SEEK_END)
                data = data if stream.read(1) == b"\n" else b"\n" + data
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot write: {reason}", file=path, expected="a writable file") from None


@contextmanager
def _locked(stream: BinaryIO) -> Iterator[None]:
    """Hold a file for oneself; others who ask for it the same way wait."""
    lock, unlock = _lock_functions()
    lock(stream)
    try:
        yield
    finally:
        stream.flush()
        unlock(stream)


def _lock_functions() -> tuple[Callable[[BinaryIO], None], Callable[[BinaryIO], None]]:
    try:
        import fcntl
    except ImportError:  # Windows has no such module: a write in append mode is the best there is
        return lambda _: None, lambda _: None
    return (
        lambda stream: fcntl.flock(stream.fileno(), fcntl.LOCK_EX),
        lambda stream: fcntl.flock(stream.fileno(), fcntl.LOCK_UN),
    )
