"""Label tasks and questions by document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from dojo_kit.analysis.measured.values import DOCUMENT_COLUMNS, MetricInfo, MetricTable
from dojo_kit.errors import InputError
from dojo_kit.stats.intervals import Array
from dojo_kit.tasks.extraction import EXTRACTOR_TRACKERS, WEIGHTS
from dojo_kit.text.names import document_key

if TYPE_CHECKING:
    import pandas as pd

    from dojo_kit.tasks.contracteval import ContractEvalScores
    from dojo_kit.tasks.scores import TaskScores
    from dojo_kit.tasks.table import TaskKind

_SHARES: dict[TaskKind, dict[str, str]] = {
    "family": {
        "exact_match": "doc_type_right",
        "subtype_accuracy": "right",
        "subtype_accuracy_equiv": "right_equiv",
    },
    "hierarchy": {
        "doc_type_accuracy": "doc_type_right",
        "subclass_accuracy": "subclass_right",
        "subclass_accuracy_equiv": "subclass_right_equiv",
        "exact_match": "right",
    },
    "labels": {"exact_match": "right", "exact_match_equiv": "right_equiv"},
}
"""Kind of task -> metric -> column of the rows."""

_LEVELS = (("", "expected", "predicted"), ("subclass_", "expected_subclass", "predicted_subclass"))

_CONTRACTEVAL_WEIGHTS = {"f1": 1, "f2": 4}
"""F score -> weight of a missed label."""


def task_keys(scores: TaskScores) -> list[str]:
    """Return the document key of every row.

    Raises:
        InputError: Rows name no documents.
    """
    names = scores.rows["document"]
    if names.isna().any():
        raise InputError(
            "rows that name no document cannot be paired with another run's",
            field="document",
            expected="documents= in score_task",
        )
    return [document_key(name) for name in names]


def task_documents(scores: TaskScores, keys: list[str]) -> pd.DataFrame:
    """Return one row per document of a scored task, sorted by key; labels of several rows are joined.

    Args:
        scores: The scored task.
        keys: Document key of every row.
    """
    import pandas as pd

    rows = scores.rows
    failed = rows["status"] == "failed"
    if "extractor_error" in rows:
        failed |= rows["extractor_error"].notna()
    status = np.where(failed, "failed", rows["status"].astype(object))
    table = pd.DataFrame(
        {
            "document": rows["document"].astype(object),
            "status": status,
            "predicted": list(_joined(scores, "predicted", "predicted_text")),
            "expected": list(_joined(scores, "expected", "expected_text")),
            "confidence": rows["confidence"],
        }
    )
    table["key"] = pd.array(keys, dtype=object)
    by_document = table.groupby("key", sort=True)
    if by_document.ngroups == len(table):
        found = table.set_index("key").sort_index(kind="stable")
    else:
        found = by_document.agg(
            {"document": "first", "status": _worst_status, "predicted": _list, "expected": _list, "confidence": "mean"}
        )
    found["cluster"] = found.index
    found["expects"] = found["status"] != "unscored"
    return found[list(DOCUMENT_COLUMNS)]


def _joined(scores: TaskScores, column: str, text: str) -> Iterator[str | None]:
    """Yield the labels of every row, class and subclass together; an answer that is no label in its own words."""
    rows = scores.rows
    first = rows[column].where(rows[column].notna(), rows[text])
    second = rows[f"{column}_subclass"]
    for label, sub in zip(first.astype(object), second.astype(object), strict=True):
        parts = [str(part) for part in (label, sub) if isinstance(part, str) and part]
        yield " / ".join(parts) or None


def _worst_status(status: pd.Series[Any]) -> str:
    return next((name for name in ("failed", "scored") if (status == name).any()), "unscored")


def _list(labels: pd.Series[Any]) -> str | None:
    return (
        "; ".join("\N{EN DASH}" if label is None else str(label) for label in labels) if labels.notna().any() else None
    )


def task_metrics(scores: TaskScores, row_keys: list[str], keys: pd.Index[Any]) -> MetricTable:
    """Return every metric of a scored task by document.

    Macro averages, balanced accuracy and calibration are no sums over documents and are not among them.

    Args:
        scores: The scored task.
        row_keys: Document key of every row.
        keys: Keys of the documents, sorted.
    """
    table = _RowTable(scores, row_keys, keys)
    prefix = "sorter_" if scores.record.extracts else ""
    for name, column in _SHARES[scores.record.kind].items():
        if f"{prefix}{name}" in scores.metrics:
            table.mean(MetricInfo(f"{prefix}{name}", "composite"), table.numbers(column))
    if scores.record.extracts:
        for name in EXTRACTOR_TRACKERS:
            table.mean(MetricInfo(name, "composite"), table.numbers(name))
        both = WEIGHTS[0] * table.numbers("right") + WEIGHTS[1] * table.numbers("extractor_overall")
        table.mean(MetricInfo("chained_composite", "composite"), both / sum(WEIGHTS))
    _add_binary(table, scores)
    asked = (scores.rows["status"] != "unscored").to_numpy(dtype=bool)
    failed = (scores.rows["status"] == "failed").to_numpy(dtype=float)
    info = MetricInfo("failure_rate", "composite", higher_is_better=False)
    table.mean(info, np.where(asked, failed, np.nan))
    for level, expected, predicted in _LEVELS:
        _add_recalls(table, level, expected, predicted)
    return table.table


class _RowTable:
    """Means over rows, summed by document."""

    def __init__(self, scores: TaskScores, row_keys: list[str], keys: pd.Index[Any]) -> None:
        import pandas as pd

        self.rows = scores.rows
        self.table = MetricTable(keys)
        self._position = keys.get_indexer(pd.Index(row_keys, dtype=object))
        self._n = len(keys)

    def numbers(self, column: str) -> Array:
        """Return a column as numbers, NaN where missing."""
        return self.rows[column].to_numpy(dtype=float, na_value=np.nan)

    def mean(self, info: MetricInfo, values: Array) -> None:
        """Add the mean of one value per row; NaN rows are left out."""
        self.ratio(info, values, np.ones(len(values)))

    def ratio(self, info: MetricInfo, values: Array, weights: Array) -> None:
        """Add a ratio of sums over rows; rows with a NaN value are left out."""
        import pandas as pd

        known = ~np.isnan(values)
        at = self._position[known]
        counted = np.bincount(at, minlength=self._n) > 0
        sums, totals = (np.bincount(at, part[known], minlength=self._n) for part in (values, weights))
        keys = self.table.keys
        numerators = pd.Series(np.where(counted, sums, np.nan), index=keys)
        self.table.add(info, numerators, pd.Series(totals.astype(float), index=keys))


def _add_binary(table: _RowTable, scores: TaskScores) -> None:
    """Add the ratios of the positive class; a positive row without an answer is not found."""
    if scores.labels.binary is None:
        return
    positive = scores.labels.binary.positive
    truth, guess = (scores.rows[name].astype(object).to_numpy() for name in ("expected", "predicted"))
    known = scores.rows["expected"].notna().to_numpy(dtype=bool)
    is_positive, is_called = known & (truth == positive), known & (guess == positive)
    tp, fp, fn = (
        part.astype(float) for part in (is_positive & is_called, ~is_positive & is_called, is_positive & ~is_called)
    )
    for name, gained, weights, counts in (
        ("precision", tp, tp + fp, False),
        ("recall", tp, tp + fn, True),
        ("f1", 2 * tp, 2 * tp + fp + fn, True),
        ("f2", 5 * tp, 5 * tp + fp + 4 * fn, True),
    ):
        table.ratio(_pooled(name, counts_failures=counts), np.where(known, gained, np.nan), weights)


def _add_recalls(table: _RowTable, level: str, expected: str, predicted: str) -> None:
    """Add the recall of every class over rows with an answer."""
    truth = table.rows[expected].astype(object).to_numpy()
    guess = table.rows[predicted].astype(object).to_numpy()
    answered = (table.rows["status"] != "failed").to_numpy(dtype=bool)
    for label in sorted({name for name in truth if isinstance(name, str)}):
        mine = answered & (truth == label)
        info = MetricInfo(f"{level}recall:{label}", "class", label=label, measure=f"{level}recall")
        table.mean(info, np.where(mine, (guess == label).astype(float), np.nan))


def contracteval_documents(scores: ContractEvalScores) -> pd.DataFrame:
    """Return one row per question of a contract, sorted by its name; contracts are clusters."""
    import pandas as pd

    rows = scores.rows
    status = np.where(rows["failed"].astype(bool), "failed", "scored")
    frame = pd.DataFrame(
        {
            "document": rows["pair"].astype(object).to_numpy(),
            "status": status,
            "predicted": _says(rows),
            "expected": np.where(rows["n_labels"] > 0, "a clause", "no clause"),
            "cluster": rows["contract"].map(document_key).astype(object).to_numpy(),
            "confidence": np.nan,
            "expects": True,
        },
        index=pd.Index(rows["pair"].astype(object), name="key"),
    )
    return frame.sort_index(kind="stable")


def contracteval_labels(scores: ContractEvalScores) -> pd.Series[Any]:
    """Return what is known of the labels of every question without their text: how many they are, and how long."""
    rows = scores.rows.set_index("pair").rename_axis(None)
    return rows["n_labels"].astype(str).str.cat(rows["label_chars"].astype(str), sep=" labels, characters: ")


def _says(rows: pd.DataFrame) -> Iterable[str | None]:
    """Say what was answered: the outcome is what can be said without the text."""
    words = {"TP": "every label", "FN": "not every label", "FP": "a clause", "TN": "no clause"}
    return [words.get(outcome) if isinstance(outcome, str) else None for outcome in rows["outcome"]]


def contracteval_metrics(scores: ContractEvalScores, keys: pd.Index[Any]) -> MetricTable:
    """Return pooled metrics of answers to questions, by question.

    The median similarity and shares of a published constant are no ratios of sums and are not among them.

    Args:
        scores: Scored answers.
        keys: Names of the pairs, sorted.
    """
    table = MetricTable(keys)
    rows = scores.rows.set_index("pair")
    rows = rows[rows["outcome"].notna()]
    tp, tn, fp, fn = ((rows["outcome"] == name).astype(float) for name in ("TP", "TN", "FP", "FN"))
    positive = rows["n_labels"] > 0
    for name, weight in _CONTRACTEVAL_WEIGHTS.items():
        gained = (1 + weight) * tp
        if scores.mode == "paper" and not tp.any():  # the published formula divides by zero
            gained = gained.where(tp > 0)
        info = MetricInfo(name, "headline" if name == "f2" else "pooled", measure=name, counts_failures=False)
        table.add(info, gained, gained + fp + weight * fn)
    table.add(_pooled("precision", counts_failures=False), tp, tp + fp)
    table.add(_pooled("recall"), tp.where(positive), tp + fn)
    table.add(_pooled("accuracy"), tp + tn)
    table.add(_pooled("jaccard_mean"), rows["jaccard"].astype(float))
    silent = rows["refused"].astype(float).where(positive)
    table.add(MetricInfo("false_no_related_rate", "pooled", False, measure="false_no_related_rate"), silent)
    for category, group in rows[positive].groupby("category", sort=True):
        info = MetricInfo(f"recall:{category}", "class", label=str(category), measure="recall")
        table.add(info, (group["outcome"] == "TP").astype(float))
    return table


def _pooled(name: str, *, counts_failures: bool = True) -> MetricInfo:
    return MetricInfo(name, "pooled", measure=name, counts_failures=counts_failures)
