"""Score files: the metrics of one task as JSON, with everything it takes to get the same numbers again.

A file lies at ``<workspace>/eval/scores/<score id>/<task>_scores.json``. Metrics are top-level fields that hold
``point``, ``ci_lower``, ``ci_upper``, ``method`` and ``n``, or null where undefined; those whose labels a model made
say so in ``labels_by``. What else is known of a metric stands in ``details``. ``created_at`` is the only field that
differs when the same labels are scored again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import asdict
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from dojo_kit._version import __version__
from dojo_kit.errors import InputError, SettingsError
from dojo_kit.rag.metrics import METRICS, metrics_of
from dojo_kit.rag.tasks import TASK_NAMES, TaskName
from dojo_kit.runs.rag_evaluation import Evaluation
from dojo_kit.runs.rag_files import LabelTable
from dojo_kit.runs.rag_selectors import LabelSource, folder_of, lies_within, workspace
from dojo_kit.runs.rag_settings import EvalSettings
from dojo_kit.runs.sources import PathLike, decode_text, read_bytes
from dojo_kit.runs.strict_json import parse_json
from dojo_kit.storage import encodable, replacing, to_json

SCORES = Path("eval", "scores")

_ID_DIGITS = 12
_STORED = ("point", "ci_lower", "ci_upper", "method", "n")
_SCORES = "a score file of `dojo eval score`"
_OUTPUT_ONLY = ("score_id", "base_dir", "force", "path", "export_id", "prediction_id")
"""Settings that change no number: where labels are, and where scores go."""


def score_id_of(settings: EvalSettings, source: LabelSource, table: LabelTable) -> str:
    """Return the name of the output: the one given, else a hash of the input and of what it is scored under.

    Args:
        settings: The settings.
        source: The labels that were chosen.
        table: Their rows.
    """
    if settings.score_id is not None:
        return settings.score_id
    scored_under = {name: value for name, value in asdict(settings).items() if name not in _OUTPUT_ONLY}
    text = json.dumps([table.sha256, source.labels_by, scored_under], sort_keys=True)
    return sha256(text.encode()).hexdigest()[:_ID_DIGITS]


def score_file(score_id: str, task: TaskName, *, base_dir: PathLike = ".") -> Path:
    """Return where a score file lies; nothing is made.

    Raises:
        SettingsError: The id is no name of a folder, or leads out of the workspace.

    Examples:
        >>> score_file("may", "grounding").parts[-4:]
        ('eval', 'scores', 'may', 'grounding_scores.json')
    """
    base = workspace(base_dir)
    file = folder_of(base, SCORES, score_id, field="score_id") / f"{task}_scores.json"
    if not lies_within(file, base):
        raise SettingsError(f"the score file of {score_id!r:.80} leads out of the workspace through a link")
    return file


def check_free(file: Path, *, force: bool) -> None:
    """Check that a file may be written, before anything is computed for it.

    Raises:
        InputError: It is there and must not be replaced.
    """
    if not force and (file.is_symlink() or file.exists()):
        raise InputError("is there already", file=file, expected="another name, or force to replace it")


def scores_as_dict(found: Evaluation, *, score_id: str, created_at: str = "") -> dict[str, Any]:
    """Return the content of a score file.

    Args:
        found: The scored labels.
        score_id: Name of the output.
        created_at: The time, ISO 8601; now by default.
    """
    card = found.card.as_dict()
    names = [name for name in card if name in METRICS]
    first = {name: card.pop(name) for name in ("task", "system", "run", "n_examples", "ci_level")}
    ranked = {"top_k": card.pop("top_k")} if "top_k" in card else {}
    metrics = {name: card.pop(name) for name in names}
    by_model = {"labels_by": "model"} if found.card.options.labels_by == "model" else {}
    return {
        "task": first["task"],
        "source": {"kind": found.source.kind, "ref": found.source.ref, "resolved_path": found.source.shown},
        "notes": "; ".join(found.notes),
        "created_at": created_at or datetime.now(UTC).isoformat(timespec="seconds"),
        "n_examples": first["n_examples"],
        "ci_level": first["ci_level"],
        **ranked,
        **{
            name: None if value is None else {key: value[key] for key in _STORED} | by_model
            for name, value in metrics.items()
        },
        "score_id": score_id,
        "seed": found.card.options.seed,
        "n_resamples": found.card.options.n_resamples,
        "version": __version__,
        "input_sha256": found.table.sha256,
        "system": first["system"],
        "run": first["run"],
        "labels_by": found.card.options.labels_by,
        "details": {name: _details(name, value, found) for name, value in metrics.items()},
        **card,
        "skipped_exports": [str(problem) for problem in found.source.skipped],
    }


def _details(name: str, value: Mapping[str, Any] | None, found: Evaluation) -> dict[str, Any]:
    if value is not None:
        return {key: item for key, item in value.items() if key not in _STORED}
    estimate = found.card.metrics[name]
    return {
        "unit": estimate.unit,
        "higher_is_better": METRICS[name].higher_is_better,
        "flags": list(estimate.flags),
        "note": estimate.note,
    }


def write_scores(
    scores: Mapping[str, Any], file: Path, *, page: tuple[Path, str] | None = None, force: bool = False
) -> None:
    """Write a score file and the page that goes with it, both or neither; a failure leaves no folder behind.

    Args:
        scores: The content of the score file.
        file: Where, as `score_file` says.
        page: Where the page goes, and its content.
        force: Replace files that are there.

    Raises:
        InputError: It is there and must not be replaced, or cannot be written.
    """
    texts = {file: to_json(scores)} | ({} if page is None else dict([page]))
    for target in texts:
        check_free(target, force=force)
    write_whole(texts)


def write_whole(texts: Mapping[Path, str]) -> None:
    """Write files, all of them whole or none, and remove the folders that were made for them if that fails.

    Args:
        texts: File -> its content.

    Raises:
        InputError: A file cannot be written.
    """
    made = [folder for file in texts for folder in file.parents if not folder.exists()]
    try:
        with ExitStack() as files:
            for file, text in texts.items():
                files.enter_context(replacing(file)).write_text(encodable(text), encoding="utf-8", newline="\n")
    except InputError:
        for folder in sorted(made, key=lambda folder: len(folder.parts), reverse=True):
            with suppress(OSError):
                folder.rmdir()
        raise


def read_scores(path: PathLike) -> dict[str, Any]:
    """Read a score file back.

    Args:
        path: The file.

    Raises:
        InputError: The file is missing or damaged, of no task, or lacks or has bent metrics; the message names the
            field.
    """
    found = parse_json(decode_text(read_bytes(path, expected=_SCORES), file=path), file=path, expected=_SCORES)
    if not isinstance(found, dict):
        raise InputError(f"is a {type(found).__name__}", file=path, expected=_SCORES)
    task = next((name for name in TASK_NAMES if name == found.get("task")), None)
    if task is None:
        raise InputError(f"task is {found.get('task')!r:.60}", file=path, field="task", expected=", ".join(TASK_NAMES))
    for metric in metrics_of(task):
        fault = _fault(found, metric.name)
        if fault:
            raise InputError(fault, file=path, field=metric.name, expected=f"null, or {', '.join(_STORED)}")
    foreign = [name for name in METRICS if name in found and METRICS[name].task != task]
    if foreign:
        raise InputError(f"belongs to {METRICS[foreign[0]].task}", file=path, field=foreign[0], expected=task)
    return found


def _fault(found: Mapping[str, Any], name: str) -> str:
    if name not in found:
        return "is missing"
    value = found[name]
    if value is None:
        return ""
    if not isinstance(value, dict) or not set(_STORED) <= set(value):
        return "is no metric"
    lower, upper, point = value["ci_lower"], value["ci_upper"], value["point"]
    numbers = [number for number in (lower, upper, point) if number is not None]
    if not all(isinstance(number, int | float) and 0 <= number <= 1 for number in numbers):
        return "has a number outside 0 to 1"
    if lower is not None and upper is not None and lower > upper:
        return "has a lower bound above the upper one"
    return ""
