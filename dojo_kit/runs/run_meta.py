"""How a run was made, read from its record or from its manifest's header, and which task it is of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dojo_kit.records import RunMeta
from dojo_kit.runs.cells import shown
from dojo_kit.runs.raw_rows import RawRow
from dojo_kit.runs.typed_rows import (
    CHAINED_TASK,
    DOCCLASS_TASK,
    EXTRACTION_TASK,
    LABEL_TASK,
    QUESTION_TASK,
    SUBTYPE_TASK,
)
from dojo_kit.tasks.table import may_be_scored_as

_PROMPTS = ("sorter_prompt_version", "extractor_prompt_version")
_DATA_KEYS = frozenset({"fingerprint", "contracts"})
_MARKS = (
    (CHAINED_TASK, {"extractor_scores"}),
    (DOCCLASS_TASK, {"expected_doc_type", "expected_subclass"}),
    (SUBTYPE_TASK, {"expected_subtype"}),
    (QUESTION_TASK, {"label_spans", "classification"}),
    (EXTRACTION_TASK, {"expected_fields", "field_scores"}),
    (LABEL_TASK, {"expected"}),
)


def record_meta(record: RawRow, first_row: Mapping[str, Any], task: str | None) -> RunMeta:
    """Read the head of a run record.

    Args:
        record: The record.
        first_row: Its first row, which gives the task away when the record does not name it.
        task: The task asked for.

    Raises:
        InputError: The record names another task, or a key has a wrong type.
    """
    own = text_value(record, "task")
    if task and own and task != own and not may_be_scored_as(own, task):
        raise record.error(f"a run of task {own!r}", field="task", expected=f"{task!r} as asked for")
    versions = object_value(record, "prompt_versions")
    joined = "+".join(str(versions[key]) for key in ("sorter", "extractor") if versions.get(key))
    return RunMeta(
        task=own or task or row_task(first_row),
        name=text_value(record, "experiment_name"),
        model=text_value(record, "model"),
        prompt_version=text_value(record, "prompt_version") or joined,
        timestamp=text_value(record, "timestamp"),
        parameters=object_value(record, "parameters"),
        data_source=object_value(record, "data_source"),
        git=object_value(record, "git"),
    )


def manifest_meta(metadata: RawRow, rows: Sequence[RawRow], task: str | None) -> RunMeta:
    """Read the head of a manifest, which names no task but gives it away by its keys.

    Args:
        metadata: The header's metadata.
        rows: The manifest's rows.
        task: The task asked for.

    Raises:
        InputError: A key has a wrong type.
    """
    values = metadata.values
    joined = "+".join(version for key in _PROMPTS if (version := text_value(metadata, key)))
    named = {"experiment_name", "model", "prompt_version", *_PROMPTS}
    data = {key for key in values if "dataset" in key} | (_DATA_KEYS & values.keys())
    return RunMeta(
        task=task or text_value(metadata, "task") or _manifest_task(values, rows),
        name=text_value(metadata, "experiment_name"),
        model=text_value(metadata, "model"),
        prompt_version=text_value(metadata, "prompt_version") or joined,
        parameters={key: value for key, value in values.items() if key not in named | data},
        data_source={key: values[key] for key in sorted(data)},
    )


def _manifest_task(metadata: Mapping[str, Any], rows: Sequence[RawRow]) -> str:
    if "extractor_prompt_version" in metadata:
        return CHAINED_TASK
    if metadata.get("prompt_mode"):
        return f"{metadata['prompt_mode']}_classification"
    if "task_dataset" in metadata or "contracts" in metadata:
        return QUESTION_TASK
    if "datasets" in metadata:
        return DOCCLASS_TASK
    if "sorter_prompt_version" in metadata:
        return SUBTYPE_TASK
    return row_task(rows[0].values) if rows else EXTRACTION_TASK


def row_task(row: Mapping[str, Any]) -> str:
    """Guess a task by the keys of one of its rows.

    Examples:
        >>> row_task({"filename": "a", "sorter": {"expected_subtype": "license"}})
        'subtype_classification'
    """
    keys = set(row)
    for part in (row.get("scores"), row.get("sorter")):
        keys |= set(part) if isinstance(part, Mapping) else set()
    return next((task for task, marks in _MARKS if marks & keys), EXTRACTION_TASK)


def text_value(row: RawRow, key: str) -> str:
    """Return a text, empty when there is none.

    Raises:
        InputError: It is something else.
    """
    value = row.values.get(key)
    if value is None or isinstance(value, str):
        return value or ""
    raise row.error(f"not text but {shown(value)}", field=key, expected="text")


def object_value(row: RawRow, key: str) -> Mapping[str, Any]:
    """Return an object, empty when there is none.

    Raises:
        InputError: It is something else.
    """
    value = row.values.get(key)
    if value is None or isinstance(value, Mapping):
        return value or {}
    raise row.error(f"not an object but {shown(value)}", field=key, expected="an object")
