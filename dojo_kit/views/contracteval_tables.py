"""Tables about ContractEval scores in plain words, the same in notebooks and on published pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dojo_kit import formats
from dojo_kit.analysis.families import RANKED_FROM
from dojo_kit.schema import clause_category
from dojo_kit.stats.intervals import Estimate
from dojo_kit.tasks.contracteval import CORRECTIONS
from dojo_kit.tasks.contracteval.rubric import FAILED_CALL
from dojo_kit.views.confusion import share, short_file_names, until_word
from dojo_kit.views.label_tables import few_words, lies_at_edge

if TYPE_CHECKING:
    import pandas as pd

    from dojo_kit.records import QuestionRow
    from dojo_kit.tasks.contracteval import ContractEvalScores

METRICS: Mapping[str, tuple[str, str]] = {
    "accuracy": ("accuracy", "answers that are right, of all"),
    "precision": ("precision", "right answers of those that quote something"),
    "recall": ("recall", "questions with a label whose answer holds every label"),
    "f1": ("F1", "precision and recall in one"),
    "f2": ("F2", "the same, a missed label weighs four times as much"),
    "jaccard_mean": ("similarity, mean", "shared words of answer and labels, over questions with a label (Jaccard)"),
    "jaccard_median": ("similarity, median", "the same; half of the questions lie below"),
    "no_related_rate": ("says no clause", "answers that say there is no clause, of all"),
    "false_no_related_rate": ("wrongly says no clause", "the same although there is a label, of questions with one"),
    "false_no_related_rate_paper": ("wrongly says no clause, as published", "the same, divided by the full split"),
}
"""Metric -> its name in words and what it measures."""

RULES: Mapping[str, str] = {
    "positive.contained": "holds the label",
    "positive.contained_and_refused": "holds the label, refuses",
    "positive.refused": "says no clause",
    "positive.missing": "label missing",
    "negative.refused": "says no clause",
    "negative.answered": "quotes without label",
    "negative.empty": "empty answer",
    FAILED_CALL: "the call failed",
}
"""Rule that decided -> what it says of an answer, short enough for a column."""

CORRECTION_NAMES: Mapping[str, str] = {
    "reasoning": "reasoning left out",
    "fence": "code fence left out",
    "blank_label": "blank label left out",
    "refusal_start": "refusal must come first",
    "text": "characters and spaces read alike",
    FAILED_CALL: "failed call left out",
}
"""Correction -> its name in words."""

_WRONG = ("FN", "FP")


def correction_says(name: str) -> str:
    """Return what a correction mends.

    Args:
        name: A key of `CORRECTION_NAMES`.
    """
    return CORRECTIONS.get(name, "a failed call is no answer")


def contracteval_metric_table(paper: ContractEvalScores, corrected: ContractEvalScores) -> pd.DataFrame:
    """Return every metric in both readings with what it measures.

    Args:
        paper: The scores as published.
        corrected: The corrected ones.

    Returns:
        ``metric``, ``paper`` and ``corrected`` (estimates), ``n`` (contracts that take part) and ``measures``.
    """
    import pandas as pd

    rows = [
        {
            "metric": METRICS[name][0],
            "paper": value,
            "corrected": corrected.estimates[name],
            "n": value.n,
            "measures": "; ".join([METRICS[name][1], *_remarks(value)]),
        }
        for name, value in paper.estimates.items()
    ]
    return pd.DataFrame(rows)


def _remarks(value: Estimate) -> list[str]:
    edge = "near an end of its interval: the resamples lie askew" if lies_at_edge(value) else ""
    return [part for part in (value.note, ", ".join(value.flags), edge) if part]


def category_table(scores: ContractEvalScores) -> pd.DataFrame:
    """Return how the categories fare: those with 5 labelled pairs and more first, lowest recall first.

    Args:
        scores: The scores.

    Returns:
        ``category`` (short), ``name``, ``pairs``, ``labelled``, ``tp``, ``tn``, ``fp``, ``fn``, ``recall`` (an
        estimate), ``f1``, ``refused`` (labelled pairs whose answer says that there is no clause), ``ranked`` and
        ``remarks``.
    """
    import pandas as pd

    rows = [
        {
            "category": row["short"],
            "name": row["category"],
            "pairs": row["n_pairs"],
            "labelled": row["n_positive"],
            **{name: row[name] for name in ("tp", "tn", "fp", "fn")},
            "recall": _recall(row),
            "f1": None if row["f1"] != row["f1"] else row["f1"],
            "refused": row["n_false_refused"],
            "ranked": row["n_positive"] >= RANKED_FROM,
            "remarks": few_words(row["n_positive"]) if row["n_positive"] else "no label",
        }
        for row in scores.categories.to_dict("records")
    ]
    rows.sort(key=lambda row: (not row["ranked"], not row["labelled"], row["recall"].value if row["ranked"] else 0.0))
    columns = "category name pairs labelled tp tn fp fn recall f1 refused ranked remarks".split()
    return pd.DataFrame(rows, columns=columns)


def _recall(row: Mapping[Any, Any]) -> Estimate:
    n = int(row["n_positive"])
    if not n:
        return Estimate(None, None, None, "wilson", 0, note="no pair has a label")
    return Estimate(row["recall"], row["recall_lo"], row["recall_hi"], "wilson", n)


def weakest_category(table: pd.DataFrame) -> str:
    """Say which category is lost most; only those with enough labelled pairs are ranked.

    Args:
        table: From `category_table`.
    """
    ranked = table[table["ranked"]]
    if ranked.empty:
        return f"No category has {RANKED_FROM} labelled pairs, so none is ranked"
    first = ranked.iloc[0]
    recall = first["recall"]
    if recall.value == 1.0:
        return "Every label of the ranked categories is found"
    n_same = sum(one.value == recall.value for one in ranked["recall"]) - 1
    also = f" and {formats.count(n_same, 'other')}" if n_same else ""
    return f"{first['category']}{also}: recall lowest, {formats.number(recall.value)}, n {recall.n:,}"


def answer_table(
    scores: ContractEvalScores,
    answers: Iterable[QuestionRow] = (),
    *,
    rows: pd.DataFrame | None = None,
    most: int | None = None,
) -> pd.DataFrame:
    """Return judged answers with labels and answer beside one another, in words.

    Args:
        scores: The scores.
        answers: The rows that were scored; without them the texts stay empty.
        rows: The rows to show; by default the wrong ones: questions with a label first, least similar first.
        most: At most so many characters of labels and of an answer; all by default.

    Returns:
        ``contract`` (short), ``file`` (its whole name), ``category`` (short), ``name``, ``paper`` and ``corrected``
        (outcomes), ``outcome``, ``why``, ``found`` (labels found of labels asked for, in words), ``similarity``,
        ``labels``, ``answer`` and ``correction``.
    """
    import pandas as pd

    texts = {row.document: row for row in answers}
    shown = _wrong_rows(scores) if rows is None else rows
    names = list(dict.fromkeys(scores.rows["contract"]))
    shorts = dict(zip(names, short_file_names(names), strict=True))
    found = [_answer(row, texts.get(row["pair"]), shorts) for row in shown.to_dict("records")]
    columns = (
        "contract file category name paper corrected outcome why found similarity labels answer correction".split()
    )
    table = pd.DataFrame(found, columns=columns)
    if most is None:
        return table
    cut = {name: [_cut(text, most) for text in table[name]] for name in ("labels", "answer")}
    return table.assign(**cut)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{until_word(text, most)} ... ({len(text):,} characters)"


def _wrong_rows(scores: ContractEvalScores) -> pd.DataFrame:
    wrong = scores.rows[scores.rows["outcome"].isin(_WRONG)]
    return wrong.sort_values(["outcome", "jaccard", "category"], kind="stable", key=_misses_first)


def _misses_first(column: pd.Series[Any]) -> pd.Series[Any]:
    return column.map({"FN": 0, "FP": 1}) if column.name == "outcome" else column


def _answer(row: Mapping[Any, Any], text: QuestionRow | None, shorts: Mapping[str, str]) -> dict[str, Any]:
    category = clause_category(row["category"])
    similarity = row["jaccard"]
    return {
        "contract": shorts[row["contract"]],
        "file": row["contract"],
        "category": category.short if category else row["category"],
        "name": row["category"],
        "paper": row["paper"],
        "corrected": row["corrected"] if isinstance(row["corrected"], str) else formats.UNKNOWN,
        "outcome": row["outcome"],
        "why": RULES.get(row["rule"], row["rule"]),
        "found": f"{row['n_found']:,} of {row['n_labels']:,}" if row["n_labels"] else "no label",
        "similarity": None if similarity is None or similarity != similarity else similarity,
        "labels": "" if text is None else _listed(text.label_spans),
        "answer": "" if text is None else (text.predicted or "").strip() or "(empty)",
        "correction": CORRECTION_NAMES.get(row["difference"], row["difference"]),
    }


def _listed(spans: Sequence[str]) -> str:
    if not spans:
        return "(no clause)"
    if len(spans) == 1:
        return spans[0].strip()
    return " ".join(f"({number}) {span.strip()}" for number, span in enumerate(spans, 1))


def wrong_words(scores: ContractEvalScores) -> str:
    """Say which mistake is the most frequent.

    Args:
        scores: The scores.
    """
    n_wrong = scores.fp + scores.fn
    if not n_wrong:
        return "No answer is wrong"
    quotes, misses = "quotes" if scores.fp == 1 else "quote", "misses" if scores.fn == 1 else "miss"
    fp = f"{scores.fp:,} {quotes} something where no clause is labelled"
    fn = f"{scores.fn:,} {misses} a label"
    first, second = (fp, fn) if scores.fp >= scores.fn else (fn, fp)
    return f"{formats.count(n_wrong, 'wrong answer')} ({share(n_wrong / scores.n_pairs)}): {first}, {second}"
