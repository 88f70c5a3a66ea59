"""General rules that say why a stored value does not follow from the rows."""

from __future__ import annotations

from dojo_kit.analysis.verify.reading import RunRecord, is_number
from dojo_kit.analysis.verify.report import Difference

_FAILURES = "scores.sorter.failure_insights."


def explain(difference: Difference, run: RunRecord) -> str:
    """Explain a difference where a general rule fits.

    Args:
        difference: What does not follow.
        run: The record it was found in.

    Returns:
        One sentence, or an empty text.
    """
    if difference.name.startswith("tokens."):
        return _explain_usage(difference, run)
    if difference.name == "data_source.dataset_fingerprint":
        return "rows were added, left out, renamed or reordered, or labels changed, after the hash was taken"
    replaced = _replaced(run)
    if replaced and difference.name.startswith(("scores.", "n_", "data_source.")):
        return replaced
    if difference.name.startswith(_FAILURES) and _excess(difference) == len(run.failed) and _failed_listed(run):
        return (
            f"the {len(run.failed)} rows without an answer are counted as wrong answers here, though they "
            "take no part in the accuracies"
        )
    return ""


def _failed_listed(run: RunRecord) -> bool:
    """Whether the stored list of wrong answers holds every row that has no answer."""
    insights = run.root.child("scores").child("sorter").child("failure_insights").data
    listed = insights.get("failures")
    entries = listed if isinstance(listed, list) else []
    names = {str(entry.get("filename")) for entry in entries if isinstance(entry, dict)}
    return bool(run.failed) and all(row.text("filename") in names for row in run.failed)


def _replaced(run: RunRecord) -> str:
    """Say which stored count contradicts the rows, if one does."""
    counts = {"n_rows": len(run.rows), "n_ok": len(run.completed), "n_error": len(run.failed)}
    for key, found in counts.items():
        stored = run.root.data.get(key)
        if stored is not None and stored != found:
            kind = {"n_rows": "", "n_ok": " completed", "n_error": " failed"}[key]
            return f"{key} says {stored} but there are {found}{kind} rows: rows changed after they were scored"
    return ""


def _excess(difference: Difference) -> float | None:
    """Return how much more is stored than recomputed, for a number or for a number of entries."""
    sizes = []
    for value in (difference.stored, difference.recomputed):
        text = str(value).removesuffix(" entries")
        if is_number(value):
            sizes.append(float(value))
        elif text.isdecimal():
            sizes.append(float(text))
    return sizes[0] - sizes[1] if len(sizes) == 2 else None


def _explain_usage(difference: Difference, run: RunRecord) -> str:
    bucket, _, metric = difference.name.rpartition(".")
    stage = bucket.removeprefix("tokens").removeprefix(".")
    tokens = run.root.child("tokens")
    stored = (tokens.child(stage) if stage else tokens).data.get("rows_with_usage")
    keys = {"": ["tokens"], "total": ["sorter_tokens", "extractor_tokens"]}.get(stage, [f"{stage}_tokens"])
    found = sum(bool(row.child(key).data) for row in run.rows for key in keys)
    if stored is not None and stored != found:
        return (
            f"rows_with_usage says {stored} but {found} rows carry usage: rows were replayed or stripped of "
            "usage after the totals were taken"
        )
    if metric == "cost_estimated_usd" and difference.stored is None:
        return "no estimate was stored although the tokens and the model's price are known"
    return ""
