"""What the rows of two runs say about being reruns of each other.

Two runs with equal settings are no reruns when the later one repeats answers that nobody asked for again, or when
their scores were made by different rules. Both can be told from the rows alone.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

from dojo_kit.analysis.comparable import stored_otherwise
from dojo_kit.analysis.expectations import label_differences
from dojo_kit.analysis.measured import RECIPE, Measured
from dojo_kit.analysis.repeats import repeated, rows_by_document

__all__ = ["is_prompt_hash", "prompt_hash", "prompt_notes", "repeated", "scored_differently"]


def scored_differently(a: Measured, b: Measured) -> str:
    """Say what shows that two runs were not scored alike, empty when nothing does."""
    differs = [
        f"{name} {_word(a.recipe.get(name))} and {_word(b.recipe.get(name))}"
        for name in RECIPE
        if name not in ("surface", "labels") and a.recipe.get(name) != b.recipe.get(name)
    ]
    stored = a.recipe.get("scorer_version") is None
    return "; ".join(differs) or label_differences(a, b) or (stored_otherwise(a, b) if stored else "")


def prompt_notes(a: Measured, b: Measured) -> Iterator[str]:
    """Yield doubts about two runs having read the same prompt, or having been made at one go."""
    if a.run is None or b.run is None:
        return
    first, second = rows_by_document(a.run), rows_by_document(b.run)
    read = [
        (second[key].usage.prompt_tokens - row.usage.prompt_tokens)  # type: ignore[union-attr]
        for key, row in first.items()
        if key in second and row.usage and second[key].usage
    ]
    changed = Counter(abs(change) for change in read if change)
    if changed:
        size, times = changed.most_common(1)[0]
        yield (
            f"the prompts of {changed.total():,} of {len(read):,} documents differ in length, {times:,} of them by "
            f"{size:,} tokens: what was sent, or how it was counted, was not the same"
        )
    for run, rows in ((a, first), (b, second)):
        without = sum(not row.usage and not row.failed for row in rows.values())
        if 0 < without < len(rows):
            yield f"{without:,} of {len(rows):,} answers of {run.name} carry no usage: taken from an earlier attempt"


def prompt_hash(measured: Measured) -> str:
    """Return the hash of the prompt's text where a run stores one, else an empty text."""
    if measured.run is None:
        return ""
    meta = measured.run.meta
    found = [
        f"{name}={json.dumps(value, sort_keys=True)}"
        for source in (meta.parameters, meta.data_source, meta.git)
        for name, value in sorted(source.items())
        if is_prompt_hash(name) and value
    ]
    return "; ".join(found)


def is_prompt_hash(name: str) -> bool:
    """Tell whether a key names the hash of a prompt.

    Examples:
        >>> is_prompt_hash("prompt_sha256"), is_prompt_hash("system_prompt_hash"), is_prompt_hash("prompt_mode")
        (True, True, False)
    """
    words = name.lower()
    return "prompt" in words and any(mark in words for mark in ("sha", "hash", "digest"))


def _word(value: str | None) -> str:
    return "unknown" if value is None else value if len(value) < 64 else value[:8]
