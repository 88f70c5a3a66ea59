"""What changed between two runs, as it is drawn: every metric beside rerun noise, and the documents behind a change."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from dojo_kit import formats

if TYPE_CHECKING:
    import pandas as pd

    from dojo_kit.analysis.compare import ComparedMetric, Comparison
    from dojo_kit.analysis.measured import Measured, MetricInfo
    from dojo_kit.stats.compare import Band, Delta

MINUS = "\N{MINUS SIGN}"

DIGITS = 4
"""Digits of changes, bands and detectable changes: one more than scores have, because bands are small."""


def deltas_view(comparison: Comparison) -> dict[str, Any]:
    """Return what a forest of changes shows of a comparison.

    Args:
        comparison: The comparison.

    Returns:
        ``finding`` and ``conclusion`` in words; ``a`` and ``b`` (letter, name, about, file); ``n`` documents in both,
        ``n_only_a``, ``n_only_b``, ``paired`` and ``rerun``; ``headline``, its metric; ``metrics``, in order: name,
        label, ``group``, values of both runs, delta with its bounds, n, p-values, shares of resamples, documents that
        are better, equal and worse, ``band``, ``verdict`` and ``reason``; ``notes``, what a reader must know;
        ``python``, code that compares the same runs.
    """
    named = run_names(comparison)
    return {
        "finding": says_finding(comparison),
        "conclusion": says_conclusion(comparison),
        "a": _run(comparison.a, "A", named[0]),
        "b": _run(comparison.b, "B", named[1]),
        "noun": comparison.a.noun,
        "n": comparison.n,
        "n_only_a": comparison.n_only_a,
        "n_only_b": comparison.n_only_b,
        "paired": comparison.paired,
        "rerun": comparison.rerun,
        "headline": comparison.headline.info.name,
        "metrics": [_metric(compared) for compared in comparison.metrics.values()],
        "notes": [_sentence(note) for note in comparison.notes],
        "python": _python(comparison),
    }


def change_rows(comparison: Comparison, metric: str, *, most: int | None = None) -> dict[str, Any]:
    """Return the documents in which a metric changed, the largest losses first.

    Args:
        comparison: The comparison.
        metric: The metric.
        most: At most so many documents, half of them losses where both are many.

    Returns:
        ``metric``; ``n``, documents that changed; ``rows``: ``id``, ``document`` and ``short``, ``a``, ``b``,
        ``change`` and ``direction``, ``answer_a``, ``answer_b`` and ``expected`` where known, and for metrics of a
        whole document ``parts``: name, a, b and change of what changed in it.
    """
    if not comparison.paired:
        return {"metric": metric, "n": 0, "rows": []}
    changed = comparison.changed(metric)
    chosen = changed if most is None or len(changed) <= most else changed.iloc[_both_ends(changed["change"], most)]
    shorts = formats.short_documents([str(name) for name in chosen["document"]])
    scores = _field_scores(comparison)
    rows = [
        {**_document(row, short, of_labels=comparison.a.kind != "extraction"), **_parts(row, scores)}
        for row, short in zip(chosen.to_dict("records"), shorts, strict=True)
    ]
    return {"metric": metric, "n": len(changed), "rows": rows}


def says_finding(comparison: Comparison, *, a: str = "A", b: str = "B") -> str:
    """Say in one sentence what became of the headline.

    Args:
        comparison: The comparison.
        a: What the baseline is called.
        b: What the other run is called.
    """
    compared = comparison.headline
    delta, band = compared.delta, compared.band.value
    if delta.value is None:
        why = delta.note or "it is undefined"
        return f"{b} and {a} cannot be compared in {metric_words(compared.info)}: {why}"
    better = "" if compared.info.higher_is_better else " better (lower)"
    change, what = f"{signed(delta.value)}{better} {bounds(delta)}".strip(), metric_words(compared.info)
    within = "" if band is None else f" \N{PLUS-MINUS SIGN}{formats.number(band, digits=DIGITS)}"
    match compared.verdict:
        case "win":
            return f"{b} beats {a} by {change} in {what}; outside the rerun band{within}"
        case "loss":
            return f"{b} is worse than {a} by {change} in {what}; outside the rerun band{within}"
        case "rerun":
            failed = " and failed calls" if comparison.a.n_failed or comparison.b.n_failed else ""
            return f"{a} and {b} are reruns of one setting: {change} in {what} is rerun noise{failed}"
        case "within rerun noise":
            return f"{b} and {a} cannot be told apart in {what}: {change} lies within the rerun band{within}"
        case "inconclusive: rerun noise not measured":
            way = "above" if (delta.value > 0) is compared.info.higher_is_better else "below"
            return f"{b} is {way} {a} by {change} in {what}, but rerun noise is not known: not yet a finding"
    return f"Cannot tell whether {b} is better than {a}: {change} in {what}{_would_take(comparison)}"


def says_conclusion(comparison: Comparison) -> str:
    """Say what to conclude from the headline, and what not."""
    compared = comparison.headline
    says = [compared.reason]
    better = [one for one in comparison.metrics.values() if one.verdict == "win" and one is not compared]
    worse = [one for one in comparison.metrics.values() if one.verdict == "loss" and one is not compared]
    if better or worse:
        says.append(
            f"Beside it {_list_of(better, 'better')}{' and ' if better and worse else ''}{_list_of(worse, 'worse')}."
        )
    delta = compared.delta
    if compared.verdict == "inconclusive" and delta.mde is not None:
        mde = f"\N{PLUS-MINUS SIGN}{formats.number(delta.mde, digits=DIGITS)}"
        says.append(f"On {_units_of(comparison)} only a change from {mde} on can be told.")
    return " ".join(filter(None, says))


def run_names(comparison: Comparison) -> tuple[str, str]:
    """Return what tells both runs apart: prompt, model, name or file, whichever differs first."""
    a, b = comparison.a, comparison.b
    for one, other in (
        (a.prompt_version, b.prompt_version),
        (_bare_model(a.model), _bare_model(b.model)),
        (a.name, b.name),
        (_file(a), _file(b)),
    ):
        if one and other and one != other:
            return one, other
    return a.name or "first run", b.name or "second run"


def metric_words(info: MetricInfo) -> str:
    """Return a metric's name in words."""
    return spelled(info.name)


def spelled(metric: str) -> str:
    """Return the name of a metric in words.

    Examples:
        >>> spelled("parties_score"), spelled("recall:joint_venture")
        ('parties score', 'recall: joint venture')
    """
    return metric.replace("_", " ").replace(":", ": ")


def signed(value: float | None, *, digits: int = DIGITS) -> str:
    """Write a change: with its sign, without one when it is written as nothing.

    Examples:
        >>> signed(0.01012), signed(-0.0031), signed(-0.00001), signed(None)
        ('+0.0101', '−0.0031', '0.0000', '–')
    """
    if value is None or value != value:
        return formats.UNKNOWN
    size = formats.number(abs(value), digits=digits)
    if not float(size.replace(",", "")):
        return size
    return f"{MINUS if value < 0 else '+'}{size}"


def bounds(delta: Delta) -> str:
    """Write the interval of a change; empty when there is none."""
    return "" if delta.lo is None or delta.hi is None else f"[{signed(delta.lo)}, {signed(delta.hi)}]"


def _would_take(comparison: Comparison) -> str:
    delta = comparison.headline.delta
    on = f" on {_units_of(comparison)}"
    if delta.required_n is None or delta.required_n <= (delta.n_clusters or delta.n):
        return on
    of_what = f" {delta.unit}" if delta.n_clusters else ""
    return f"{on}; to know, it would take about {delta.required_n:,}{of_what}"


def _units_of(comparison: Comparison) -> str:
    """Say over what the headline was compared: documents, or questions and the contracts they are about."""
    delta = comparison.headline.delta
    counted = formats.count(delta.n, comparison.a.noun)
    if not comparison.paired:
        counted += f" and {formats.count(delta.n_b, comparison.a.noun)}"
    return f"{counted} in {delta.n_clusters:,} {delta.unit}" if delta.n_clusters else counted


def _noun(unit: str) -> str:
    return unit.removesuffix("s")


def _list_of(found: Sequence[ComparedMetric], way: str) -> str:
    if not found:
        return ""
    if len(found) > 2:
        return f"{len(found):,} metrics are {way}"
    names = " and ".join(metric_words(one.info) for one in found)
    return f"{names} {'is' if len(found) == 1 else 'are'} {way}"


def _run(measured: Measured, letter: str, name: str) -> dict[str, Any]:
    facts = [measured.name, measured.model and f"model {measured.model}", measured.timestamp[:10]]
    facts.append(measured.prompt_version and f"prompt {measured.prompt_version}")
    return {
        "letter": letter,
        "name": name,
        "about": ", ".join(fact for fact in facts if fact),
        "file": _file(measured),
        "failed": measured.n_failed,
    }


def _python(comparison: Comparison) -> str:
    """Return code that compares the same runs, its files as they are called."""
    runs = [f"read_run({_file(run)!r})" if _file(run) else name for run, name in _sides(comparison)]
    names = ["compare", "read_run"]
    if any(run.kind == "extraction" and run.scored is not None for run, _ in _sides(comparison)):
        runs = [f"score_run({run}, labels)" for run in runs]
        names.append("score_run")
    if any(compared.band.value is not None for compared in comparison.metrics.values()):
        runs.append("noise=noise")
    if comparison.allowed:
        runs.append(f"allow={comparison.allowed!r}")
    return f"from dojo_kit import {', '.join(names)}\n\ncomparison = compare({', '.join(runs)})\n"


def _sides(comparison: Comparison) -> tuple[tuple[Measured, str], tuple[Measured, str]]:
    return (comparison.a, "a"), (comparison.b, "b")


def _file(measured: Measured) -> str:
    """Return the file's name; where it lies is nobody's business."""
    return PurePosixPath(measured.source.replace("\\", "/")).name


def _bare_model(model: str) -> str:
    return model.rpartition("/")[2]


def _metric(compared: ComparedMetric) -> dict[str, Any]:
    delta, info = compared.delta, compared.info
    group, label = _place(info)
    shown = "lo hi n n_b p p_method p_win p_tie p_loss mde required_n method note".split()
    worst = compared.delta_errors_as_worst
    return {
        "name": info.name,
        "label": label,
        "group": group,
        "kind": info.kind,
        "higher": info.higher_is_better,
        "a": compared.a.as_dict(),
        "b": compared.b.as_dict(),
        "delta": delta.value,
        **{name: getattr(delta, name) for name in shown},
        "better": delta.n_better,
        "equal": delta.n_equal,
        "worse": delta.n_worse,
        "p_holm": compared.p_holm,
        "n_tested": compared.n_tested,
        "band": _band(compared.band),
        "verdict": compared.verdict,
        "reason": compared.reason,
        "flags": list(delta.flags),
        "unit": _noun(delta.unit),
        "n_units": delta.n_clusters or delta.n,
        "worst": None if worst is None or worst == delta else _change(worst),
    }


def _place(info: MetricInfo) -> tuple[str, str]:
    """Return the group of a metric and what it is called there."""
    measure = info.measure.replace("_", " ")
    if info.kind == "field":
        return f"Fields: {measure}", info.field.replace("_", " ")
    if info.kind == "class":
        return f"Classes: {measure}" if measure else "Classes", info.label.replace("_", " ") or metric_words(info)
    return ("Pooled over documents" if info.kind == "pooled" else "Overall"), metric_words(info)


def _band(band: Band) -> dict[str, Any]:
    return {"value": band.value, "m": band.m, "deltas": list(band.deltas), "reason": band.reason}


def _change(delta: Delta) -> dict[str, Any]:
    return {"delta": delta.value, "lo": delta.lo, "hi": delta.hi, "n": delta.n}


def _both_ends(changes: Iterable[float], most: int) -> list[int]:
    """Return positions at both ends of documents that are sorted by their change."""
    n = len(list(changes))
    first = (most + 1) // 2
    return [*range(first), *range(n - (most - first), n)]


def _document(row: Mapping[Any, Any], short: str, *, of_labels: bool) -> dict[str, Any]:
    written = _label if of_labels else _text
    texts = {"answer_a": row["predicted_a"], "answer_b": row["predicted_b"], "expected": row["expected"]}
    return {
        "id": str(row["key"]),
        "document": row["document"],
        "short": short,
        **{name: _number(row[name]) for name in ("a", "b", "change")},
        "direction": row["direction"],
        **{name: written(value) for name, value in texts.items() if isinstance(value, str)},
    }


def _label(key: str) -> str:
    return key.replace("_", " ")


def _text(answer: str) -> str:
    """Return an answer, a stored list with one item a line.

    Examples:
        >>> print(_text('["Seller", "Buyer"]'))
        • Seller
        • Buyer
    """
    if not answer.startswith("["):
        return answer
    try:
        items = json.loads(answer)
    except ValueError:
        return answer
    return "\n".join(f"\N{BULLET} {item}" for item in items)


def _field_scores(comparison: Comparison) -> dict[str, tuple[pd.Series[Any], pd.Series[Any]]]:
    """Return the scores of every field that both runs have, by document."""
    found = {
        info.field: name
        for name, info in comparison.a.metrics.items()
        if info.measure == "score" and name in comparison.b.metrics
    }
    return {field: (comparison.a.values(name), comparison.b.values(name)) for field, name in found.items()}


def _parts(
    row: Mapping[Any, Any], scores: Mapping[str, tuple[pd.Series[Any], pd.Series[Any]]]
) -> dict[str, list[dict[str, Any]]]:
    """Return the fields that changed in a document; empty for metrics of a field or a class."""
    parts = [
        {
            "name": field.replace("_", " "),
            **{side: _number(values.loc[row["key"]]) for side, values in zip("ab", scores[field], strict=True)},
            "change": change,
        }
        for field, change in row["fields"]
    ]
    return {"parts": parts} if parts else {}


def _number(value: Any) -> float | None:
    return None if value is None or value != value else float(value)


def _sentence(note: str) -> str:
    return note[:1].upper() + note[1:]
