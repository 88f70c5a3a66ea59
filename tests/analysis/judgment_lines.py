"""Judgments made up from a sample run, the same every time: a judge that is lenient in a known way.

No public run holds judgments. This judge calls an extraction by its score, is one step kinder to every fourth
document by name, and cannot answer for every eleventh.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from dojo_kit.analysis.judging import CORRECTNESS
from dojo_kit.scoring.run import ScoredRun


def _draw(name: str, n: int) -> int:
    return int(sha256(name.encode()).hexdigest(), 16) % n


def judgment_lines(scored: ScoredRun) -> list[dict[str, Any]]:
    """Return one line per document with an ambiguous field, in the layout runs write."""
    fields = scored.fields[scored.fields["ambiguous"].fillna(False).astype(bool)]
    overall = scored.documents.set_index("document")["overall"]
    lines = []
    for name, group in fields.groupby("document", sort=True):
        score, document = round(float(overall[name]), 4), str(name)
        step = 0 if score >= 0.85 else 2 if score <= 0.5 else 1
        step = max(step - (_draw(document, 4) == 0), 0)
        silent = _draw(document, 11) == 0
        lines.append(
            {
                "kind": "calibration",
                "filename": document,
                "deterministic_overall_score": score,
                "ambiguous_fields": list(group["field"]),
                "correctness_label": None if silent else CORRECTNESS[step],
                "correctness_error": "parse error" if silent else None,
                "completeness_label": "incomplete" if silent else ("complete", "partial", "incomplete")[step],
            }
        )
    return lines


def write_lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path
