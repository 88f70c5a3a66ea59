"""Which labels are scored: a file, an annotation export, a prediction run, or the latest export.

A workspace is a folder with this layout:

| path | what |
|---|---|
| ``annotation/exports/<export id>/<task>.csv`` | labels by people, beside ``annotation_export.meta.json`` |
| ``eval/prediction_outputs/<prediction id>/predictions.csv`` | by a model, beside ``pragmata_predict.meta.json`` |
| ``eval/scores/<score id>/<task>_scores.json`` | scores |

Each CSV file may be Parquet (``.parquet``) instead. The three selectors exclude each other. An id is the name of one
folder and never a path: nothing outside the workspace is reached through it, nor through a link at any level.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any, Literal

from dojo_kit.errors import InputError, SettingsError, closest
from dojo_kit.rag.scorecard import LabelsBy
from dojo_kit.rag.tasks import TaskName, task_named
from dojo_kit.records import Problem
from dojo_kit.runs.rag_files import LABEL_FILE
from dojo_kit.runs.sources import PathLike, decode_text, existing_file, read_bytes, source_path
from dojo_kit.runs.strict_json import parse_json

SourceKind = Literal["direct_path", "annotation_export", "model_prediction"]

SELECTORS = ("path", "export_id", "prediction_id")
"""The three ways to name labels, of which one is given, or none."""

EXPORTS, PREDICTIONS = Path("annotation", "exports"), Path("eval", "prediction_outputs")
EXPORT_SIDECAR, PREDICTION_SIDECAR = "annotation_export.meta.json", "pragmata_predict.meta.json"

LONGEST_ID = 128

_SIDECAR = "a JSON object with created_at and tasks"
_NOT_IN_ID = re.compile(r"[/\\:]")
_UNSEEN = ("C", "Zl", "Zp")
"""Categories of characters that are not seen or change what is: control, format, surrogates, line separators."""


@dataclass(frozen=True, slots=True)
class LabelSource:
    """The labels that were chosen.

    Attributes:
        kind: How they were named.
        ref: The selector's value as given; the id of the export when none was given.
        path: The file.
        shown: The file relative to the workspace when it lies inside, else in full.
        labels_by: Who made the labels, as far as the selector tells.
        chosen: How the file was found when no selector was given; empty otherwise.
        skipped: Exports that were passed over since their sidecars cannot be used.
    """

    kind: SourceKind
    ref: str
    path: Path
    shown: str
    labels_by: LabelsBy
    chosen: str = ""
    skipped: tuple[Problem, ...] = ()


def find_labels(
    task: TaskName,
    *,
    path: PathLike | None = None,
    export_id: str | None = None,
    prediction_id: str | None = None,
    base_dir: PathLike = ".",
) -> LabelSource:
    """Find the file of labels that a selector names.

    Args:
        task: The task.
        path: A file.
        export_id: An annotation export of the workspace.
        prediction_id: A prediction run of the workspace.
        base_dir: The workspace.

    Raises:
        SettingsError: Several selectors are given, or an id is no name of a folder.
        InputError: There is no such file, or without a selector no export of the task.
    """
    task_named(task)
    given = {"path": path, "export_id": export_id, "prediction_id": prediction_id}
    check_exclusive(given)
    base = workspace(base_dir)
    if path is not None:
        file = existing_file(source_path(path, expected=LABEL_FILE), expected=LABEL_FILE).resolve()
        # Predictions named by their path are a model's labels all the same.
        by: LabelsBy = "model" if (file.parent / PREDICTION_SIDECAR).is_file() else "people"
        return LabelSource("direct_path", str(path), file, _shown(file, base), by)
    if prediction_id is not None:
        return _prediction(prediction_id, task, base)
    if export_id is not None:
        folder = export_folder(export_id, base_dir=base)
        file = _label_file(base, folder, task)
        return LabelSource("annotation_export", export_id, file, _shown(file, base), "people")
    return _latest_export(task, base)


def check_exclusive(given: Mapping[str, Any]) -> None:
    """Check that at most one selector has a value.

    Raises:
        SettingsError: There are several; the message names them.

    Examples:
        >>> check_exclusive({"path": "a.csv", "export_id": "e1", "prediction_id": None})
        Traceback (most recent call last):
        ...
        dojo_kit.errors.SettingsError: path and export_id exclude each other: give one of path, export_id, prediction_id
    """
    named = [name for name in SELECTORS if given.get(name) is not None]
    if len(named) > 1:
        listed = f"{', '.join(named[:-1])} and {named[-1]}"
        raise SettingsError(f"{listed} exclude each other: give one of {', '.join(SELECTORS)}")


def workspace(base_dir: PathLike) -> Path:
    """Return a workspace's folder, ``~`` written out.

    Raises:
        InputError: The path is empty, or something else than a folder is there.
    """
    base = Path(source_path(base_dir, expected="a folder"))
    try:
        if base.exists() and not base.is_dir():
            raise InputError("is no folder", file=base, field="base_dir", expected="the folder of a workspace")
        return base.resolve()
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"cannot be opened ({error})", file=base, field="base_dir", expected="a folder") from None


def folder_of(base: Path, below: Path, name: str, *, field: str) -> Path:
    r"""Return the folder an id names in a workspace.

    Args:
        base: The workspace.
        below: The folder above that of the id, relative to the workspace.
        name: The id.
        field: What the id is called, for messages.

    Raises:
        SettingsError: The id is empty, too long, a path, or leads out of the workspace through a link.

    Examples:
        >>> folder_of(Path(), Path("scores"), "../x", field="score_id")
        Traceback (most recent call last):
        ...
        dojo_kit.errors.SettingsError: score_id '../x' is not the name of a folder: no / \ : or unseen characters, no
        dot at its ends
    """
    fault = None
    if not name or name != name.strip():
        fault = "not empty, no blanks around it"
    elif len(name.encode("utf-8", "replace")) > LONGEST_ID:
        fault = f"at most {LONGEST_ID} bytes"
    elif name.startswith(".") or name.endswith(".") or _NOT_IN_ID.search(name) or _is_unseen(name):
        fault = "no / \\ : or unseen characters, no dot at its ends"
    if fault:
        raise SettingsError(f"{field} {_quoted(name)} is not the name of a folder: {fault}")
    folder = base / below / name
    if not lies_within(folder, base):
        raise SettingsError(f"{field} {_quoted(name)} leads out of the workspace through a link")
    return folder


def _is_unseen(name: str) -> bool:
    return any(unicodedata.category(character).startswith(_UNSEEN) for character in name)


def lies_within(path: Path, base: Path) -> bool:
    """Tell whether a path lies in a workspace once every link is followed.

    Examples:
        >>> lies_within(Path("a/../../b"), Path("a"))
        False
    """
    try:
        return path.resolve().is_relative_to(base.resolve())
    except (OSError, RuntimeError):  # links in a circle
        return False


def _check_within(file: Path, base: Path) -> None:
    if not lies_within(file, base):
        raise InputError("leads out of the workspace through a link", file=file, expected="a file of the workspace")


def _quoted(name: str) -> str:
    return repr(name if len(name) <= 80 else f"{name[:77]}...")


def export_folder(export_id: str, *, base_dir: PathLike = ".") -> Path:
    """Return the folder of an annotation export.

    Raises:
        SettingsError: The id is no name of a folder.
        InputError: There is no such export, or its sidecar is missing.
    """
    base = workspace(base_dir)
    folder = folder_of(base, EXPORTS, export_id, field="export_id")
    _check_folder(base, folder, EXPORT_SIDECAR, "export")
    return folder


def _check_folder(base: Path, folder: Path, sidecar: str, noun: str) -> None:
    if not folder.is_dir():
        known = _folders(folder.parent)
        listed = f"one of {', '.join(known[:10])}{' ...' if len(known) > 10 else ''}" if known else "a folder there"
        raise InputError(f"no such {noun}{closest(folder.name, known)}", file=folder, expected=listed)
    if not (folder / sidecar).is_file():
        raise InputError(f"the {noun} has no sidecar", file=folder, expected=f"a file {sidecar}")
    _check_within(folder / sidecar, base)


def _folders(parent: Path) -> list[str]:
    """Name the folders below one; hidden ones are nobody's export."""
    if not parent.is_dir():
        return []
    return sorted(path.name for path in parent.iterdir() if path.is_dir() and not path.name.startswith("."))


def _label_file(base: Path, folder: Path, stem: str) -> Path:
    """Return the CSV file of a task, or its Parquet file, which must not lead out of the workspace."""
    for ending in (".csv", ".parquet"):
        file = folder / f"{stem}{ending}"
        if file.is_file():
            _check_within(file, base)
            return file
    raise InputError(f"no labels of {stem}", file=folder, expected=f"a file {stem}.csv or {stem}.parquet")


def _prediction(prediction_id: str, task: TaskName, base: Path) -> LabelSource:
    folder = folder_of(base, PREDICTIONS, prediction_id, field="prediction_id")
    _check_folder(base, folder, PREDICTION_SIDECAR, "prediction run")
    sidecar = folder / PREDICTION_SIDECAR
    found = _read_sidecar(sidecar).get("task")
    if found != task:
        raise InputError(f"predicts {found!r}, not {task!r}", file=sidecar, field="task", expected=f"{task!r}")
    file = _label_file(base, folder, "predictions")
    return LabelSource("model_prediction", prediction_id, file, _shown(file, base), "model")


def _latest_export(task: TaskName, base: Path) -> LabelSource:
    """Return the newest export of a task; of equal times the one whose id is the greatest text."""
    parent = base / EXPORTS
    names = _folders(parent)
    found: list[tuple[datetime, str, Path]] = []
    skipped: list[Problem] = []
    for name in names:
        try:
            folder = folder_of(base, EXPORTS, name, field="export_id")
            _check_folder(base, folder, EXPORT_SIDECAR, "export")
            created, tasks = _export_facts(folder / EXPORT_SIDECAR)
            if task in tasks:
                found.append((created, name, _label_file(base, folder, task)))
        except InputError as error:
            skipped.append(Problem(error.message, error.file or "", error.line, None, error.field, error.expected))
        except SettingsError as error:
            skipped.append(Problem(str(error), source=str(parent)))
    if not found:
        unusable = f", {len(skipped)} of them unusable: {skipped[0]}" if skipped else ""
        raise InputError(
            f"no export of {task} among {len(names)}{unusable}",
            file=parent,
            expected="path, export_id or prediction_id, or an export whose sidecar lists the task",
        )
    created, name, file = max(found)
    among = f"{len(found)} export{'s' if len(found) > 1 else ''} of {task}"
    chosen = f"export {name} was taken, the latest of {among}, by {created:%Y-%m-%d %H:%M:%S} UTC"
    return LabelSource("annotation_export", name, file, _shown(file, base), "people", chosen, tuple(skipped))


def _export_facts(sidecar: Path) -> tuple[datetime, tuple[str, ...]]:
    facts = _read_sidecar(sidecar)
    tasks = facts.get("tasks")
    if not isinstance(tasks, list | dict) or not all(isinstance(task, str) for task in tasks):
        raise InputError(f"tasks is {_short(tasks)}", file=sidecar, field="tasks", expected="a list of tasks")
    created = facts.get("created_at")
    when = parse_time(created) if isinstance(created, str) else None
    if when is None:
        message = f"created_at is {_short(created)}"
        raise InputError(message, file=sidecar, field="created_at", expected="a date and time, ISO 8601")
    return when, tuple(tasks)


def _short(value: Any) -> str:
    return "missing" if value is None else repr(value)[:60]


def _read_sidecar(sidecar: Path) -> dict[str, Any]:
    text = decode_text(read_bytes(sidecar, expected=_SIDECAR), file=sidecar)
    found = parse_json(text, file=sidecar, expected=_SIDECAR)
    if not isinstance(found, dict):
        raise InputError(f"is a {type(found).__name__}", file=sidecar, expected=_SIDECAR)
    return found


def parse_time(text: str, *, end_of_day: bool = False) -> datetime | None:
    """Read a date and time in ISO 8601 as UTC, which is also the zone of a time that names none.

    Args:
        text: The time.
        end_of_day: Take a date alone as its last moment, else as its first.

    Returns:
        The time; None when it is none.

    Examples:
        >>> parse_time("2026-03-01T12:00:00+02:00").isoformat(), parse_time("2026-03-01").isoformat()
        ('2026-03-01T10:00:00+00:00', '2026-03-01T00:00:00+00:00')
        >>> parse_time("yesterday")
    """
    text = text.strip()
    try:
        day = date.fromisoformat(text)
        return datetime.combine(day, time.max if end_of_day else time.min, UTC)
    except ValueError:
        pass
    try:
        found = datetime.fromisoformat(text)
        return (found.replace(tzinfo=UTC) if found.tzinfo is None else found).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _shown(file: Path, base: Path) -> str:
    """Return a file's path relative to the workspace when it lies inside, else in full."""
    resolved = file.resolve()
    return resolved.relative_to(base).as_posix() if resolved.is_relative_to(base) else str(resolved)
