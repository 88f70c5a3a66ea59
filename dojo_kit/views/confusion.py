"""Confusion matrix, the documents behind its cells, and the reliability curve, as they are drawn."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dojo_kit import formats
from dojo_kit.errors import InputError
from dojo_kit.scoring.classification import NO_LABEL
from dojo_kit.tasks.failure_modes import NO_ANSWER

if TYPE_CHECKING:
    import pandas as pd

    from dojo_kit.scoring.classification import LabelScores
    from dojo_kit.tasks.scores import TaskScores
    from dojo_kit.vocabulary import Vocabulary

SHORT_LABEL = 18
"""Characters of a label above which it is cut at its first alternative."""

MODES: Mapping[str, str] = {
    "function_over_form": "another document class",
    "other_fallback": "fell back to Other",
    "equivalent_family": "defensible family",
    "family_confusion": "wrong family",
    "doc_type_miss": "wrong document class",
    "subclass_miss": "wrong subclass",
    "wrong_label": "wrong label",
    "no_label": "no label named",
    NO_ANSWER: "no answer",
}
"""Mode of failure -> its name in words."""

_EXTENSION = re.compile(r"\.(?:txt|pdf|docx?|html?|json|md)$", re.IGNORECASE)
_COLUMNS = {"labels": ("expected", "predicted"), "subclass": ("expected_subclass", "predicted_subclass")}
_SHOWN = ("document", "question", "expected_text", "predicted_text", "confidence", "reasoning", "mode", "error")


def confusion_view(scores: TaskScores, *, level: str = "labels") -> dict[str, Any]:
    """Return what a confusion matrix shows of a scored task.

    Args:
        scores: The task.
        level: ``labels`` or ``subclass``.

    Returns:
        ``task`` and ``level``; ``noun``, what is counted; ``finding`` in words; ``labels`` (key, name, short, and
        ``outside`` for answers that are no label); ``cells``, the counts that are not 0 as row, column, count;
        ``failed``, rows without an answer by expected label; ``equivalent``, pairs of labels defensible for one
        another; ``notes``, what is left out.

    Raises:
        InputError: The task has no such level.

    Examples:
        >>> from dojo_kit.tasks.score import score_task
        >>> view = confusion_view(score_task("subtype", ["Reseller", "IP"], ["Distributor", "IP"]))
        >>> [label["short"] for label in view["labels"]], view["cells"], view["equivalent"]
        (['Distributor', 'IP', 'Reseller'], [[1, 1, 1], [2, 0, 1]], [[0, 2]])
    """
    counted, known = _level(scores, level)
    called = label_names(scores, level=level)
    row, column = np.nonzero(counted.matrix)
    return {
        "task": scores.record.key,
        "level": level,
        "noun": "document" if scores.rows["question"].isna().all() else "answer",
        "finding": _finding(counted, {key: short for key, (short, _) in called.items()}),
        "labels": [
            {"key": key, "name": called[key][1], "short": called[key][0], **({} if is_class else {"outside": True})}
            for key, is_class in zip(counted.labels, counted.classes.tolist(), strict=True)
        ],
        "cells": np.stack([row, column, counted.matrix[row, column]], axis=1).astype(int).tolist(),
        "failed": [int(n) for n in counted.confusion.failed],
        "equivalent": _equivalent(counted.labels, known),
        "notes": _notes(scores, counted),
    }


def label_names(scores: TaskScores, *, level: str = "labels") -> dict[str, tuple[str, str]]:
    """Return what labels are called: key -> short name and whole name, the same wherever they are shown.

    Args:
        scores: The task.
        level: ``labels`` or ``subclass``.

    Examples:
        >>> from dojo_kit.tasks.score import score_task
        >>> label_names(score_task("subtype", ["Reseller"], ["IP"]))
        {'ip': ('IP', 'IP Agreement'), 'reseller': ('Reseller', 'Reseller Agreement')}
    """
    counted, known = _level(scores, level)
    names = [known.labels.get(key, _outside_name(key)) for key in counted.labels]
    return dict(zip(counted.labels, zip(short_labels(names), names, strict=True), strict=True))


def cell_rows(
    scores: TaskScores,
    expected: str,
    predicted: str,
    *,
    level: str = "labels",
    most: int | None = None,
    shorts: Sequence[str] | None = None,
) -> list[dict[str, Any]]:
    """Return the rows behind one cell of a confusion matrix.

    Args:
        scores: The task.
        expected: Label of the cell's row.
        predicted: Label of its column; empty for rows without an answer.
        level: ``labels`` or ``subclass``.
        most: At most so many rows.
        shorts: Short name of the document of every row of the run, from `document_names`; worked out by default.

    Returns:
        Per row ``id`` (its position in the run, as text), ``document`` and ``short``, and what is known of question,
        expected and predicted text, confidence, reasoning, mode of failure (``mode_words`` says it) and error.
    """
    _level(scores, level)
    if predicted:
        chosen = scores.documents_of(expected, predicted, level=level)
    else:
        rows = scores.rows
        chosen = rows[(rows["status"] == "failed") & (rows[_COLUMNS[level][0]] == expected)]
    # What was written is the first level's.
    shown = _SHOWN if level == "labels" else tuple(name for name in _SHOWN if not name.endswith("_text"))
    return _records(chosen if most is None else chosen.iloc[:most], shown, shorts or document_names(scores))


def _records(chosen: pd.DataFrame, shown: Sequence[str], shorts: Sequence[str]) -> list[dict[str, Any]]:
    names = [name for name in shown if name in chosen]
    found: list[dict[str, Any]] = []
    for position, values in zip(chosen.index, chosen[names].itertuples(index=False, name=None), strict=True):
        known = {name: value for name, value in zip(names, values, strict=True) if value == value and value != ""}
        if "mode" in known:
            known["mode_words"] = MODES.get(known["mode"], known["mode"])
        found.append({"id": str(position), "short": shorts[int(position)], **known})
    return found


def document_names(scores: TaskScores) -> list[str]:
    """Return the short name of every row's document, the same wherever the row is listed.

    Args:
        scores: The task.

    Examples:
        >>> from dojo_kit.tasks.score import score_task
        >>> names = ["contract_100_merger_agreement.txt", "contract_101_merger_agreement.txt"]
        >>> document_names(score_task("multiclass", ["a", "b"], ["a", "a"], documents=names))
        ['contract 100 merger agreement', 'contract 101 merger agreement']
    """
    names = ["" if name != name or name is None else str(name) for name in scores.rows["document"].tolist()]
    known = list(dict.fromkeys(names))
    shorts = dict(zip(known, short_file_names(known), strict=True))
    return [shorts[name] or f"row {position + 1}" for position, name in enumerate(names)]


def short_file_names(names: Sequence[str]) -> list[str]:
    """Shorten names of files for a list so that no two look the same: no extension, no underscores.

    Examples:
        >>> short_file_names(["Lease_A.pdf", "ACMECORPORATION_01_02_2018-EX-10.6-Franchise Agreement.txt"])
        ['Lease A', 'Acmecorporation 2018']
    """
    shorts = formats.short_documents([_EXTENSION.sub("", name) for name in names])
    return [short.replace("_", " ") for short in shorts]


def cells_of(scores: TaskScores, *, level: str = "labels") -> list[tuple[str, str, int]]:
    """Return the cells that hold rows: expected, predicted ("" without an answer), how many; wrong ones first.

    Args:
        scores: The task.
        level: ``labels`` or ``subclass``.
    """
    counted, _ = _level(scores, level)
    labels, matrix = counted.labels, counted.matrix
    row, column = np.nonzero(matrix)
    found = [(labels[a], labels[b], int(matrix[a, b])) for a, b in zip(row.tolist(), column.tolist(), strict=True)]
    found += [(label, "", int(n)) for label, n in zip(labels, counted.confusion.failed, strict=True) if n]
    return sorted(found, key=lambda cell: (cell[0] == cell[1], not cell[1]))


def reliability_view(scores: TaskScores) -> dict[str, Any]:
    """Return what a reliability curve shows of a scored task.

    Args:
        scores: The task.

    Returns:
        ``task``; ``finding`` in words; ``error``, the expected calibration error as value, lo, hi, n and note;
        ``bins`` (lo, hi, n, confidence, accuracy, accuracy_lo, accuracy_hi, gap; None where a bin is empty);
        ``notes``, what is left out.
    """
    calibration = scores.calibration
    curve = calibration.curve.astype(object).where(calibration.curve.notna(), None)
    answered = int((scores.rows["status"] != "failed").sum())
    stated = int(calibration.curve["n"].sum())
    note = calibration.error.note
    notes = [note[0].upper() + note[1:]] if stated and note else []
    if 0 < stated < answered:
        notes.append(f"{formats.count(answered - stated, 'answer')} without confidence or verdict left out")
    if scores.counts["n_failed"]:
        notes.append(f"{formats.count(scores.counts['n_failed'], 'failed call')} left out")
    return {
        "task": scores.record.key,
        "finding": _calibration_finding(scores),
        "error": calibration.error.as_dict(),
        "bins": curve.to_dict("records"),
        "notes": notes,
    }


def _calibration_finding(scores: TaskScores) -> str:
    error, curve = scores.calibration.error, scores.calibration.curve
    if error.value is None:
        return "Confidence cannot be judged: " + (error.note or "no row states one")
    stated = formats.count(int(curve["n"].sum()), "answer")
    lean = confidence_lean(scores)
    return f"Expected calibration error {formats.estimate(error)} over {stated}" + (
        f"; on average {lean}" if lean else ""
    )


def confidence_lean(scores: TaskScores) -> str:
    """Say which way the stated confidence leans and by how much; empty when it does not or none is stated.

    Args:
        scores: The task.
    """
    curve = scores.calibration.curve
    n = int(curve["n"].sum())
    gap = float((curve["gap"] * curve["n"]).sum() / n) if n else 0.0
    if not round(gap, 3):
        return ""
    return f"{'overconfident' if gap > 0 else 'underconfident'} by {formats.number(abs(gap))}"


def short_labels(names: Sequence[str]) -> list[str]:
    """Shorten labels for a narrow column so that no two look the same.

    A last word that most labels share goes; long labels keep their first alternative.

    Examples:
        >>> short_labels(["Supply Agreement", "Non-Compete / No-Solicit / Non-Disparagement Agreement", "Other"])
        ['Supply', 'Non-Compete', 'Other']
        >>> short_labels(["Stock", "Stock / cash, in a mixture"])
        ['Stock', 'Stock / cash, in a mixture']
    """
    last = Counter(name.rsplit(" ", 1)[1] for name in names if " " in name)
    shared = {f" {word}" for word, n in last.items() if n > 1 and n > len(names) / 2}
    bare = [next((name.removesuffix(word) for word in shared if name.endswith(word)), name) for name in names]
    cut = [re.split(r" / ", name)[0] if len(name) > SHORT_LABEL else name for name in bare]
    alike = Counter(cut)
    return [short if alike[short] == 1 else name for short, name in zip(cut, names, strict=True)]


def until_word(text: str, most: int) -> str:
    """Cut a text at the end of a word, unless its words are too long for that.

    Examples:
        >>> until_word("pay the rent", 9), until_word("pay", 9), until_word("x" * 20, 9)
        ('pay the', 'pay', 'xxxxxxxxx')
    """
    if len(text) <= most:
        return text
    start = text[: most + 1].rsplit(maxsplit=1)[0]
    return start if most / 2 < len(start) <= most else text[:most]


def _level(scores: TaskScores, level: str) -> tuple[LabelScores, Vocabulary]:
    if level == "labels":
        return scores.labels, scores.vocabulary
    if level == "subclass" and scores.subclass is not None and scores.second_vocabulary is not None:
        return scores.subclass, scores.second_vocabulary
    levels = ["labels", *(["subclass"] if scores.subclass is not None else [])]
    raise InputError(f"task {scores.record.key!r} has no level {level!r}", expected=" or ".join(levels))


def _outside_name(key: str) -> str:
    return "no label" if key == NO_LABEL else key.replace("_", " ")


def _equivalent(labels: Sequence[str], known: Vocabulary) -> list[list[int]]:
    position = {label: index for index, label in enumerate(labels)}
    pairs = (sorted(position[key] for key in pair) for pair in known.equivalents if pair <= position.keys())
    return sorted(pair for pair in pairs if len(pair) == 2)


def _finding(counted: LabelScores, names: Mapping[str, str]) -> str:
    answered, right = int(counted.matrix.sum()), int(counted.matrix.trace())
    if not answered:
        if not counted.n_failed:
            return "No row has an expected label"
        return f"No row has an answer: {formats.count(counted.n_failed, 'call')} failed"
    without = f", {formats.count(counted.n_failed, 'more row')} without an answer" if counted.n_failed else ""
    found = f"{right:,} of {formats.count(answered, 'answer')} right ({share(right / answered)}){without}"
    return f"{found}; {confusion_words(counted, names) or 'nothing is confused'}"


def confusion_words(counted: LabelScores, names: Mapping[str, str], *, arrow: str = " \N{RIGHTWARDS ARROW} ") -> str:
    """Say which labels are confused most, ties included; empty when none are.

    Args:
        counted: The counts.
        names: Label -> how it is called.
        arrow: What stands between the expected and the answered label.

    Examples:
        >>> from dojo_kit.tasks.score import score_task
        >>> counted = score_task("multiclass", ["a", "a", "b"], ["b", "a", "a"]).labels
        >>> confusion_words(counted, {"a": "A", "b": "B"})
        '2 pairs are confused once each'
    """
    found = counted.top_confusions(len(counted.labels) ** 2)
    if found.empty:
        return ""
    top = found[found["n"] == found["n"].iloc[0]]
    n, worst = int(top["n"].iloc[0]), top.to_dict("records")[0]
    if n == 1 and len(top) > 1:
        return f"{len(top):,} pairs are confused once each"
    pair = f"{names[worst['expected']]}{arrow}{names[worst['predicted']]}"
    expected = int(counted.matrix[counted.labels.index(worst["expected"])].sum())
    if len(top) == 1:
        return f"most often {pair} ({n:,} of {expected:,})"
    return f"most often {pair} and {formats.count(len(top) - 1, 'other pair')} ({n:,} each)"


def share(value: float) -> str:
    """Write a share in whole percent, never as none or all when it is not.

    Examples:
        >>> share(0.9999), share(0.001), share(0.5)
        ('99%', '<1%', '50%')
    """
    whole = round(100 * value)
    if not whole:
        return "<1%" if value > 0 else "0%"
    return "99%" if whole == 100 and value < 1 else f"{whole}%"


def _notes(scores: TaskScores, counted: LabelScores) -> list[str]:
    notes = [f"Accuracy {formats.estimate(counted.accuracy)}, n {counted.n:,}"]
    if counted.n_failed:
        notes[0] += f", {counted.n_failed:,} without an answer counted as wrong"
    if counted.n_unread:
        notes.append(f"{formats.count(counted.n_unread, 'answer')} named no label")
    unlabelled = int((scores.rows["status"] == "failed").sum()) - counted.n_failed
    if unlabelled > 0:
        notes.append(f"{formats.count(unlabelled, 'failed row')} without an expected label stand nowhere")
    if scores.record.kind == "family" and scores.record.document_class:
        notes.append("Document class not judged")
    return notes
