"""A run record around given rows, and the answer and usage its rows share."""

from __future__ import annotations

from typing import Any

USED = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15, "cost": None}
FIELDS = {"governing_law": "Ohio", "parties": ["Acme", "Bolt"]}


def run_record(task: str, *rows: dict[str, Any], **extra: Any) -> dict[str, Any]:
    return {"type": "experiment", "task": task, "experiment_name": "e", "model": "m", "results": list(rows)} | extra
