"""Tables about a scored task in plain words, the same in notebooks and on published pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dojo_kit import formats
from dojo_kit.analysis.failures import failure_table, label_accuracy, list_failures
from dojo_kit.analysis.families import RANKED_FROM
from dojo_kit.stats.intervals import SMALL_N, Estimate
from dojo_kit.tasks.failure_modes import NO_ANSWER
from dojo_kit.views.confusion import MODES, document_names, label_names, share

if TYPE_CHECKING:
    import pandas as pd

    from dojo_kit.scoring.classification import LabelScores
    from dojo_kit.tasks.scores import TaskScores

EDGE = 0.2
"""Part of an interval next to an end; a value that lies there is remarked on."""

METRICS: Mapping[str, tuple[str, str]] = {
    "subtype_accuracy": ("subtype accuracy", "document class and family both right"),
    "subtype_accuracy_equiv": (
        "subtype accuracy, defensible families too",
        "the same, where a family that is defensible for the true one counts as right",
    ),
    "doc_type_accuracy": ("class accuracy", "document class right, whatever the subclass"),
    "subclass_accuracy": ("subclass accuracy", "subclass right, over documents that have one"),
    "subclass_accuracy_equiv": (
        "subclass accuracy, defensible ones too",
        "the same, where a subclass that is defensible for the true one counts as right",
    ),
    "exact_match": ("exact match", "the label is right"),
    "exact_match_equiv": ("exact match, defensible labels too", "the label is right, or defensible for the true one"),
    "confidence": ("stated confidence", "the mean of what the model states; how sure it is, not how right"),
    "confidence_calibration_error": (
        "calibration error",
        "mean gap between stated confidence and accuracy over ten bins; 0 is best",
    ),
    "balanced_accuracy": ("balanced accuracy", "mean over the labels of the share found: each label weighs the same"),
    "f1_macro": ("F1, mean over labels", "mean over expected and answered labels of their F1: each weighs the same"),
}
"""Metric -> its name in words and what it measures."""

_EXACT_MATCH = {
    "family": ("exact match of the class", "the document class alone, whatever the family"),
    "hierarchy": ("exact match", "document class and subclass both right; the class alone where there is no subclass"),
}

_OVER_CLASSES = ("f1_macro", "balanced_accuracy")


def words_of(name: str) -> str:
    """Return the name of a metric or mode in words.

    Examples:
        >>> words_of("f1_macro"), words_of("subclass_miss"), words_of("false_positive_rate")
        ('F1, mean over labels', 'wrong subclass', 'false positive rate')
    """
    known = METRICS[name][0] if name in METRICS else MODES.get(name)
    return known or name.replace("_", " ")


def metric_table(scores: TaskScores) -> pd.DataFrame:
    """Return every metric with what it measures, the one the task is judged by first.

    Args:
        scores: A scored task.

    Returns:
        ``metric``, ``value`` (an estimate), ``n``, ``measures`` and ``remarks``.
    """
    import pandas as pd

    ordered = {scores.record.headline: scores.headline, **scores.metrics}
    rows = []
    for name, value in ordered.items():
        words, measures = METRICS.get(name, (words_of(name), ""))
        if name == "exact_match":
            words, measures = _EXACT_MATCH.get(scores.record.kind, (words, measures))
        remarks = "; ".join(_remarks(name, value))
        rows.append({"metric": words, "value": value, "n": value.n, "measures": measures, "remarks": remarks})
    return pd.DataFrame(rows, columns=["metric", "value", "n", "measures", "remarks"])


def _remarks(name: str, value: Estimate) -> Iterator[str]:
    if value.note:
        yield value.note
    if value.flags:
        yield ", ".join(value.flags)
    if lies_at_edge(value):
        why = "labels with few rows drop out of some resamples" if name in _OVER_CLASSES else "the resamples lie askew"
        yield f"near an end of its interval: {why}"


def lies_at_edge(value: Estimate) -> bool:
    """Tell whether an estimate lies in the outer fifth of its interval, without being as small or large as it can be.

    Examples:
        >>> [lies_at_edge(Estimate(value, 0.568, 1.0, "percentile", 9)) for value in (0.585, 0.8, 1.0)]
        [True, False, False]
    """
    if value.value is None or value.lo is None or value.hi is None or value.hi <= value.lo:
        return False
    at = (value.value - value.lo) / (value.hi - value.lo)
    return value.value not in (0.0, 1.0) and not EDGE <= at <= 1 - EDGE


def mode_table(scores: TaskScores) -> pd.DataFrame:
    """Count wrong answers by mode of failure, most first, calls that failed last.

    Args:
        scores: A scored task.

    Returns:
        ``mode``, ``n``, ``rate`` (an estimate; of answered rows, for failed calls of all rows), ``share`` of the wrong
        answers in words, and ``meaning``.
    """
    import pandas as pd

    rows = [
        {
            "mode": words_of(row["mode"]),
            "n": row["n"],
            "rate": _wilson(row["rate"], row["lo"], row["hi"], int(_rows_of(scores, row["mode"]))),
            "share": formats.UNKNOWN if row["share"] != row["share"] else share(row["share"]),
            "meaning": row["says"],
        }
        for row in failure_table(scores).to_dict("records")
    ]
    rows[:-1] = sorted(rows[:-1], key=lambda row: -row["n"])
    return pd.DataFrame(rows, columns=["mode", "n", "rate", "share", "meaning"])


def _rows_of(scores: TaskScores, mode: str) -> int:
    return len(scores.rows) if mode == NO_ANSWER else scores.counts["n_scored"]


def _wilson(value: float, lo: float, hi: float, n: int) -> Estimate:
    if value != value:
        return Estimate(None, None, None, "wilson", n, note="no rows")
    return Estimate(value, lo, hi, "wilson", n)


def label_table(scores: TaskScores, *, level: str = "labels") -> pd.DataFrame:
    """Return how often each expected label is answered right, worst first.

    Labels with fewer than 5 answered rows come last, in the same order: their accuracy is a matter of chance.

    Args:
        scores: A scored task.
        level: ``labels`` or ``subclass``.

    Returns:
        ``label`` (as the confusion matrix calls it), ``name`` (in full), ``n``, ``right``, ``accuracy`` (an estimate),
        ``equivalents`` (accuracy with defensible labels), ``failed``, ``mistaken_for`` (the most frequent wrong answers
        with their number), ``ranked`` and ``remarks``.
    """
    import pandas as pd

    names = label_names(scores, level=level)
    counted = scores.labels if level == "labels" or scores.subclass is None else scores.subclass
    rows = [
        {
            "label": names.get(row["label"], (row["name"], ""))[0],
            "name": row["name"],
            "n": row["n"],
            "right": row["correct"],
            "accuracy": _wilson(row["accuracy"], row["lo"], row["hi"], row["n"]),
            "equivalents": row["accuracy_equiv"],
            "failed": row["failed"],
            "mistaken_for": _mistaken_for(counted, row["label"], names),
            "ranked": row["n"] >= RANKED_FROM,
            "remarks": few_words(row["n"]),
        }
        for row in label_accuracy(scores, level=level).to_dict("records")
    ]
    rows.sort(key=lambda row: not row["ranked"])
    columns = "label name n right accuracy equivalents failed mistaken_for ranked remarks".split()
    return pd.DataFrame(rows, columns=columns)


def few_words(n: int) -> str:
    """Say what is to be said about a share of few rows; empty when there are enough.

    Examples:
        >>> few_words(3), few_words(12), few_words(50)
        ('n < 5', 'n < 20', '')
    """
    if n < RANKED_FROM:
        return f"n < {RANKED_FROM}"
    return f"n < {SMALL_N}" if n < SMALL_N else ""


def _mistaken_for(counted: LabelScores, label: str, names: Mapping[str, tuple[str, str]]) -> str:
    wrong = counted.top_confusions(len(counted.labels) ** 2)
    mine = wrong[wrong["expected"] == label]
    if mine.empty:
        return ""
    top = mine[mine["n"] == mine["n"].iloc[0]]
    first, n = names[top["predicted"].iloc[0]][0], int(top["n"].iloc[0])
    if len(top) == 1:
        return f"{first} ({n:,})"
    return f"{first} and {formats.count(len(top) - 1, 'other')} ({n:,} each)"


def weakest_label(table: pd.DataFrame) -> str:
    """Say which label is right least often; a label is only called weak when enough rows say so.

    Args:
        table: From `label_table`.
    """
    ranked = table[table["ranked"]]
    if ranked.empty:
        return f"No label has {RANKED_FROM} answered rows, so none is ranked"
    if (ranked["right"] == ranked["n"]).all():
        return "Every label that can be ranked is always right"
    shares = [accuracy.value for accuracy in ranked["accuracy"]]
    worst = ranked[[share == min(shares) for share in shares]]
    first = worst.iloc[0]
    right = f"{int(first['right']):,} of {int(first['n']):,}"
    if len(worst) == 1:
        return f"{first['label']} is right least often: {right} ({share(first['accuracy'].value)})"
    others = formats.count(len(worst) - 1, "other")
    return f"{first['label']} and {others} are right least often, {share(first['accuracy'].value)}"


def wrong_answers(scores: TaskScores) -> pd.DataFrame:
    """Return the wrong answers, those of the largest confusions first and of one confusion the most confident first.

    Args:
        scores: A scored task.

    Returns:
        ``document`` (short), ``file`` (its whole name), ``expected`` and ``answered`` in words, ``mode`` in words,
        ``confidence`` and ``reasoning``.
    """
    import pandas as pd

    wrong = list_failures(scores)
    wrong["document"], wrong["file"] = _documents_of_failures(scores), wrong["document"]
    wrong = wrong[wrong["mode"] != NO_ANSWER].copy()
    names = {level: label_names(scores, level=level) for level in _levels(scores)}
    rows = [
        {
            "document": row["document"],
            "file": _text(row["file"]),
            "expected": _labels_of(row, "expected", names),
            "answered": _labels_of(row, "predicted", names)
            or f"no label in \N{LEFT DOUBLE QUOTATION MARK}"
            f"{_text(row['predicted_text'])}\N{RIGHT DOUBLE QUOTATION MARK}",
            "mode": words_of(row["mode"]),
            "confidence": row["confidence"],
            "reasoning": _text(row["reasoning"]),
        }
        for row in wrong.to_dict("records")
    ]
    columns = "document file expected answered mode confidence reasoning".split()
    table = pd.DataFrame(rows, columns=columns)
    table["_n"] = table.groupby(["expected", "answered"])["file"].transform("size")
    order = ["_n", "expected", "answered", "confidence"]
    table = table.sort_values(order, ascending=[False, True, True, False], kind="stable")
    return table[columns].reset_index(drop=True)


def _documents_of_failures(scores: TaskScores) -> list[str]:
    names = document_names(scores)
    return [name for name, failed in zip(names, scores.rows["mode"].notna(), strict=True) if failed]


def _labels_of(row: Mapping[Any, Any], side: str, names: Mapping[str, Mapping[str, tuple[str, str]]]) -> str:
    """Return class and subclass in words; the class alone says nothing when both sides agree on it."""
    first = _text(row[side])
    second = _text(row[f"{side}_subclass"]) if "subclass" in names else ""
    is_same = "subclass" in names and first == _text(row["predicted" if side == "expected" else "expected"])
    keys = [("labels", "" if is_same and second else first), ("subclass", second)]
    return ", ".join(names[level].get(key, (key, ""))[0] for level, key in keys if key)


def _levels(scores: TaskScores) -> tuple[str, ...]:
    return ("labels",) if scores.subclass is None else ("labels", "subclass")


def _text(value: Any) -> str:
    return value if isinstance(value, str) and value.strip() else ""
