"""What goes wrong in a scored task: modes of failure, accuracy by label, and the wrong rows themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dojo_kit.errors import InputError, closest
from dojo_kit.records import Run
from dojo_kit.stats.intervals import wilson
from dojo_kit.tasks.columns import is_disguised
from dojo_kit.tasks.failure_modes import FAMILY_MODES, HIERARCHY_MODES, LABEL_MODES, NO_ANSWER
from dojo_kit.tasks.scores import TaskScores
from dojo_kit.tasks.table import TaskKind

if TYPE_CHECKING:
    import pandas as pd

_MODES: Mapping[TaskKind, Mapping[str, str]] = {
    "family": FAMILY_MODES,
    "hierarchy": HIERARCHY_MODES,
    "labels": LABEL_MODES,
}
_NO_ANSWER_SAYS = "the call failed, openly or stored as completed"
_LISTED = "document mode expected predicted predicted_text doc_type expected_subclass predicted_subclass".split()
_REASONS = "confidence right_equiv reasoning input_mode error".split()


def failure_table(scores: TaskScores) -> pd.DataFrame:
    """Count wrong rows by mode of failure.

    Args:
        scores: A scored task.

    Returns:
        One row per mode of the task, those that do not occur included: ``mode``, ``says``, ``n``, ``rate`` (of rows
        with an answer that are judged) with Wilson bounds ``lo`` and ``hi``, and ``share`` (of the wrong ones). The
        last row is ``no_answer``: failed calls, whose rate is of all rows and which have no share.
    """
    import pandas as pd

    rows = scores.rows
    judged = rows[(rows["status"] != "failed") & rows["right"].notna()]
    counts = judged["mode"].value_counts()
    n_wrong = int(counts.sum())
    modes = _MODES[scores.record.kind]
    found = [_counted(scores, mode, says, int(counts.get(mode, 0)), len(judged)) for mode, says in modes.items()]
    for row in found:
        row["share"] = row["n"] / n_wrong if n_wrong else None
    n_failed = int((rows["status"] == "failed").sum())
    found.append(_counted(scores, NO_ANSWER, _NO_ANSWER_SAYS, n_failed, len(rows)))
    table = pd.DataFrame(found, columns=["mode", "says", "n", "rate", "lo", "hi", "share"])
    return table.astype(dict.fromkeys(("rate", "lo", "hi", "share"), "float64"))


def _counted(scores: TaskScores, mode: str, says: str, n: int, of: int) -> dict[str, Any]:
    rate = wilson(n, of, confidence=scores.settings.statistics.confidence)
    return {"mode": mode, "says": says, "n": n, "rate": rate.value, "lo": rate.lo, "hi": rate.hi, "share": None}


def label_accuracy(scores: TaskScores, *, level: str = "labels") -> pd.DataFrame:
    """Return how often each expected label is right.

    For families a row is right when class and family are; on the level ``subclass`` when the subclass is, whatever the
    class.

    Args:
        scores: A scored task.
        level: ``labels`` or ``subclass``.

    Returns:
        One row per expected label, worst first: ``label``, ``name`` (for display), ``n`` (rows with an answer),
        ``failed`` (rows without), ``correct``, ``accuracy`` with Wilson bounds ``lo`` and ``hi``, ``correct_equiv``,
        ``accuracy_equiv``, and ``mistaken_for`` (the most frequent wrong answer).

    Raises:
        InputError: The task has no such level.
    """
    import pandas as pd

    expected, predicted, right, lenient, known = _level(scores, level)
    confidence = scores.settings.statistics.confidence
    found = []
    for label, group in scores.rows.dropna(subset=[expected]).groupby(expected, sort=False):
        answered = group[group["status"] != "failed"]
        correct, n = int(answered[right].sum()), len(answered)
        share = wilson(correct, n, confidence=confidence)
        equiv = int(answered[lenient].sum())
        wrong = answered.loc[answered[predicted] != label, predicted].dropna()
        found.append(
            {
                "label": str(label),
                "name": known.labels.get(str(label), str(label)),
                "n": n,
                "failed": len(group) - n,
                "correct": correct,
                "accuracy": share.value,
                "lo": share.lo,
                "hi": share.hi,
                "correct_equiv": equiv,
                "accuracy_equiv": equiv / n if n else None,
                "mistaken_for": wrong.value_counts().index[0] if len(wrong) else None,
            }
        )
    names = "label name n failed correct accuracy lo hi correct_equiv accuracy_equiv mistaken_for".split()
    table = pd.DataFrame(found, columns=names)
    table = table.astype(dict.fromkeys(("accuracy", "lo", "hi", "accuracy_equiv"), "float64"))
    return table.sort_values(["accuracy", "n", "label"], ascending=[True, False, True]).reset_index(drop=True)


def _level(scores: TaskScores, level: str) -> tuple[str, str, str, str, Any]:
    if level == "labels":
        # the verdict of a hierarchy is about both levels; its first level has a flag of its own
        right, lenient = ("right", "right_equiv") if scores.record.kind != "hierarchy" else ("doc_type_right",) * 2
        return "expected", "predicted", right, lenient, scores.vocabulary
    if level == "subclass" and scores.second_vocabulary is not None:
        second = scores.second_vocabulary
        return "expected_subclass", "predicted_subclass", "subclass_right", "subclass_right_equiv", second
    levels = ["labels", *(["subclass"] if scores.second_vocabulary is not None else [])]
    raise InputError(f"task {scores.record.key!r} has no level {level!r}", expected=" or ".join(levels))


def list_failures(scores: TaskScores, *, mode: str | None = None) -> pd.DataFrame:
    """Return the rows that are wrong or have no answer, in the order of the run.

    Args:
        scores: A scored task.
        mode: Only rows of this mode; ``no_answer`` for failed calls.

    Returns:
        ``document``, ``mode``, ``expected``, ``predicted``, ``predicted_text``, document class and subclasses,
        ``confidence``, ``right_equiv`` (recovered by the equivalence), ``reasoning``, ``input_mode`` and ``error``.

    Raises:
        InputError: The task has no such mode.
    """
    known = (*_MODES[scores.record.kind], NO_ANSWER)
    if mode is not None and mode not in known:
        raise InputError(f"unknown mode {mode!r}{closest(mode, known)}", expected=", ".join(known))
    chosen = scores.rows["mode"].notna() if mode is None else scores.rows["mode"] == mode
    return scores.rows.loc[chosen, [*_LISTED, *_REASONS]].reset_index(drop=True)


def disguised_failures(run: Run) -> pd.DataFrame:
    """Return the rows of a run that were stored as completed and hold no answer: ``document`` and ``error``.

    Args:
        run: Any run.
    """
    import pandas as pd

    found = [(row.document, row.error) for row in run.rows if is_disguised(row)]
    return pd.DataFrame(found, columns=["document", "error"]).astype("str")
