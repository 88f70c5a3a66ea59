"""Scored labels of queries in plain words: findings, metrics, counts, and the worst queries with their chunks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dojo_kit import formats
from dojo_kit.rag.cells import id_texts
from dojo_kit.rag.estimates import OPEN_RANGE
from dojo_kit.rag.metrics import METRICS, metrics_of
from dojo_kit.rag.tasks import CHUNK, RANK, RECORD, TaskName, task_named

if TYPE_CHECKING:
    import pandas as pd

    from dojo_kit.analysis.rag_compare import SystemComparison
    from dojo_kit.rag.scorecard import Scorecard
    from dojo_kit.stats.intervals import Estimate

CONTEXT_SEPARATOR = "[CTX_SEP]"
"""What stands between the passages of a context set."""

MARKED = "labels by model"
"""What stands beside every number whose labels a model made."""

WORDS: Mapping[str, tuple[str, str]] = {
    "topical_precision_at_k": ("topical precision", "share of a query's chunks that are relevant"),
    "sufficiency_hit_at_k": ("sufficiency hit", "queries with at least one chunk that answers them"),
    "sufficiency_rate_at_k": ("sufficiency rate", "share of a query's chunks that answer it"),
    "misleading_context_rate_at_k": ("misleading context", "share of a query's chunks that mislead"),
    "mean_reciprocal_rank_at_k": ("reciprocal rank", "1 over the rank of the first relevant chunk"),
    "ndcg_at_k": ("NDCG", "whether better chunks come first, among those retrieved"),
    "grounding_presence_rate": ("grounding", "answers with a claim that the context supports"),
    "unsupported_claim_rate": ("unsupported claims", "answers with a claim that the context does not support"),
    "contradiction_rate": ("contradictions", "answers with a claim that the context contradicts"),
    "citation_presence_rate": ("citations", "answers that cite a source"),
    "conditional_fabrication_rate": (
        "fabricated sources",
        "among answers that cite, those that cite what is not there",
    ),
    "proper_action_rate": ("proper action", "answers, refusals and questions back where each is due"),
    "on_topic_rate": ("on topic", "answers that address the query"),
    "helpfulness_rate": ("helpfulness", "answers that get the user on"),
    "incompleteness_rate": ("incompleteness", "answers that leave a part of the query out"),
    "unsafe_content_rate": ("unsafe content", "answers that break a safety rule"),
}
"""Metric -> its name in words and what it measures, lower being better where `METRICS` says so."""

LABEL_WORDS: Mapping[str, str] = {
    "topically_relevant": "relevant",
    "evidence_sufficient": "sufficient",
    "misleading": "misleading",
    "support_present": "supported",
    "unsupported_claim_present": "unsupported claim",
    "contradicted_claim_present": "contradicted claim",
    "source_cited": "cites",
    "fabricated_source": "fabricated source",
    "proper_action": "proper action",
    "response_on_topic": "on topic",
    "helpful": "helpful",
    "incomplete": "incomplete",
    "unsafe_content": "unsafe",
}

_NOUNS: Mapping[TaskName, tuple[str, str]] = {
    "retrieval": ("query", "queries"),
    "grounding": ("answer", "answers"),
    "generation": ("answer", "answers"),
}
_LEADING: Mapping[TaskName, tuple[tuple[str, str, str], tuple[str, str, str]]] = {
    "retrieval": (
        ("sufficiency_hit_at_k", "finds sufficient evidence", "find sufficient evidence"),
        ("misleading_context_rate_at_k", "", "of a query's chunks mislead"),
    ),
    "grounding": (
        ("grounding_presence_rate", "is grounded", "are grounded"),
        ("unsupported_claim_rate", "holds an unsupported claim", "hold an unsupported claim"),
    ),
    "generation": (
        ("helpfulness_rate", "helps", "help"),
        ("incompleteness_rate", "is incomplete", "are incomplete"),
    ),
}
"""Task -> the two metrics of its headline, each with what one query does and what several do."""

TERMS: Mapping[str, str] = {
    "n < 20": "n < 20: fewer than 20 {unit}, so the interval itself is uncertain.",
    "n = 1": "n = 1: a single value, which says nothing about others.",
    "zero width": "zero width: every value is the same, so resampling shows no spread; the true spread is not known to "
    "be zero.",
    "skewed": "skewed: a few values lie far off on one side, so the interval may end too early on that side.",
    "all 0": "all 0: no query has another value than 0.",
    "all 1": "all 1: no query has another value than 1.",
    "all equal": "all equal: every query has the same value.",
    "NDCG": "NDCG compares the order of a query's chunks with the best order of the same chunks: 1 is the best order, "
    "and chunks that were never retrieved do not count.",
    "ICC": "ICC: how alike queries of one group are, 0 as little as any others, 1 throughout. Design effect: how many "
    "times larger the variance is than with independent queries.",
    "dissent": "dissent: the annotators did not all agree; the label is what most of them said.",
    "bounds": "A value such as 0.25 to 0.50 is what missing labels leave open; its interval reaches from the lower end "
    "of the least value to the upper end of the greatest.",
}
"""Terms and flags in plain words."""


def level(confidence: float) -> str:
    """Write a confidence level as a percentage, without rounding it to another one.

    Examples:
        >>> level(0.95), level(0.999), level(0.975)
        ('95 %', '99.9 %', '97.5 %')
    """
    return f"{100 * confidence:.10g} %"


def written(estimate: Estimate) -> str:
    """Write the value of a metric; a range where labels are missing is in its interval only."""
    return formats.number(estimate.value)


def says_scores(card: Scorecard) -> str:
    """Say what the scores of a task amount to, with numbers.

    Args:
        card: The scores.
    """
    whose = f"{card.system}: " if card.system else f"{card.task}: "
    marked = f" ({MARKED})" if card.options.labels_by == "model" else ""
    first, second = (_says_leading(card, *leading, last=last) for last, leading in enumerate(_LEADING[card.task]))
    return f"{whose}{first}, {second}{marked}"


def _says_leading(card: Scorecard, name: str, one: str, several: str, *, last: int) -> str:
    """Say a share as a count of queries with the share behind it, and a mean as it is."""
    if METRICS[name].kind != "proportion":
        return f"{_share(card, name)} {several}"
    low, high = (round(share * card.n_queries) for share in _ends(card, name))
    how_many = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    of = "" if last else f" {_NOUNS[card.task][card.n_queries != 1]}"
    return f"{how_many} of {card.n_queries:,}{of} {one if high == 1 else several} ({_share(card, name)})"


def _ends(card: Scorecard, name: str) -> tuple[float, float]:
    """Return the least and the greatest value a metric could have."""
    bounds = card.bounds.get(name)
    ends = (card.metrics[name],) * 2 if bounds is None else (bounds.lowest, bounds.highest)
    return (ends[0].value or 0.0, ends[1].value or 0.0)


def _share(card: Scorecard, name: str) -> str:
    bounds = card.bounds.get(name)
    if bounds is not None and bounds.lowest.value != bounds.highest.value:
        return f"{formats.number(bounds.lowest.value)} to {formats.number(bounds.highest.value)}"
    return formats.estimate(card.metrics[name])


def explained(card: Scorecard) -> list[str]:
    """Explain the flags and terms that stand beside the metrics of a card, and no others.

    Args:
        card: The scores.
    """
    flags = {flag for estimate in card.metrics.values() for flag in estimate.flags}
    if "ndcg_at_k" in card.metrics:
        flags.add("NDCG")
    if card.design_effects:
        flags.add("ICC")
    if any(estimate.value is None and name in card.bounds for name, estimate in card.metrics.items()):
        flags.add("bounds")
    unit = "queries" if card.options.group_by is None else "groups"
    return [says.format(unit=unit) for term, says in TERMS.items() if term in flags]


def metric_rows(card: Scorecard) -> list[dict[str, Any]]:
    """Return every metric as it is written, in the order of score files.

    Args:
        card: The scores.

    Returns:
        Per metric ``metric``, ``words``, ``measures``, ``value``, ``interval``, ``n``, ``method``, ``icc``, ``effect``
        and ``says`` (direction, flags, why it is undefined or a range only).
    """
    rows = []
    for name, estimate in card.metrics.items():
        effect = card.design_effects.get(name)
        lower = "" if METRICS[name].higher_is_better else "lower is better"
        bounds = card.bounds.get(name)
        value = written(estimate)
        note = estimate.note
        if bounds is not None and estimate.value is None and bounds.lowest.value is not None:
            value = f"{formats.number(bounds.lowest.value)} to {formats.number(bounds.highest.value)}"
            note = note.removeprefix(OPEN_RANGE).removeprefix("; ")
        rows.append(
            {
                "metric": name,
                "words": WORDS[name][0],
                "measures": WORDS[name][1],
                "value": value,
                "interval": formats.interval(estimate),
                "n": estimate.n,
                "method": estimate.method.replace("percentile", "bootstrap"),
                "icc": formats.UNKNOWN if effect is None else formats.number(effect.icc),
                "effect": formats.UNKNOWN if effect is None else formats.number(effect.effect, digits=2),
                "says": "; ".join(filter(None, (lower, note, *estimate.flags))),
            }
        )
    return rows


def count_sentences(card: Scorecard) -> list[str]:
    """Say what became of the rows, as far as anything did.

    Args:
        card: The scores.
    """
    n = card.counts
    unit = "chunk" if task_named(card.task).ranked else "answer"
    rows = f"{formats.count(n['rows'], 'row')}, {n['rows_judged']:,} judged"
    people = f" by {formats.count(n['annotators'], 'annotator')}" if n["annotators"] else ""
    votes = [
        (n["units_with_several_votes"], f"{formats.count(n['units_with_several_votes'], unit)} judged by several"),
        (n["units_with_dissent"], f"{n['units_with_dissent']:,} with dissent"),
        (n["units_tied"], f"{n['units_tied']:,} tied"),
        (
            n["rows_replaced"],
            f"{formats.count(n['rows_replaced'], 'row')} replaced by a later one of the same annotator",
        ),
    ]
    queries = [
        (n["queries_incomplete"], f"{n['queries_incomplete']:,} with an incomplete panel"),
        (n["queries_tied"], f"{n['queries_tied']:,} with a tie"),
        (n["queries_with_nothing_retrieved"], f"{n['queries_with_nothing_retrieved']:,} with nothing retrieved"),
        (n["queries_left_out"], f"{n['queries_left_out']:,} left out"),
    ]
    sentences = [f"{rows}{people}"]
    for parts, head in ((votes, ""), (queries, f"{formats.count(n['queries'], 'query', 'queries')}: ")):
        said = ", ".join(words for count, words in parts if count)
        if said:
            sentences.append(head + said)
    return sentences


def worst_queries(card: Scorecard, n: int = 8) -> pd.DataFrame:
    """Return the queries that come off worst, the worst first.

    Args:
        card: The scores.
        n: How many.

    Returns:
        The rows of ``card.queries`` with a column ``goodness``: the mean of all metrics, each turned so that higher is
        better, and where only a range is known its middle.
    """
    scored = card.queries[card.queries["scored"]]
    goodness = query_values(card).loc[scored.index].mean(axis=1)
    ordered = scored.assign(goodness=goodness).sort_values(["goodness", RECORD], kind="stable")
    return ordered.head(n)


def query_values(card: Scorecard, *, as_goodness: bool = True) -> pd.DataFrame:
    """Return the value of every metric for every query, the middle where only a range is known.

    Args:
        card: The scores.
        as_goodness: Turn metrics of which lower is better.
    """
    import pandas as pd

    columns = {}
    for metric in metrics_of(card.task):
        if metric.name in card.queries:
            values = card.queries[metric.name].astype(float)
        else:
            values = (card.queries[f"{metric.name}_min"] + card.queries[f"{metric.name}_max"]).astype(float) / 2
        columns[metric.name] = values if metric.higher_is_better or not as_goodness else 1 - values
    return pd.DataFrame(columns)


def shown_context(text: str) -> str:
    """Write a context set with a bar between its passages.

    Examples:
        >>> shown_context("7.1 Term. [CTX_SEP] 9.2 Notice.")
        '7.1 Term. | 9.2 Notice.'
    """
    return " | ".join(part.strip() for part in text.split(CONTEXT_SEPARATOR))


def unit_rows(card: Scorecard, query: str, texts: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the chunks of a query, or its answer, with labels and texts.

    Args:
        card: The scores.
        query: Id of the query.
        texts: Rows of the file with their texts, as `dojo_kit.runs.rag_files.read_label_texts` gives them.

    Returns:
        Per chunk ``rank``, ``id``, ``labels`` (words of those that are 1; None without a decided label), ``votes``,
        ``dissent`` and ``text``; an answer has no rank and no id.
    """
    task = task_named(card.task)
    units = card.units[card.units[RECORD] == query]
    spoken = _texts_by_unit(texts[id_texts(texts[RECORD]) == query], task.ranked, task.texts[1])
    rows = []
    for unit in units.to_dict("records"):
        given = [unit[label] for label in task.labels]
        known = not any(value is None or value != value for value in map(_plain, given))
        rows.append(
            {
                "rank": unit.get(RANK),
                "id": unit.get(CHUNK, ""),
                "labels": [LABEL_WORDS[name] for name in task.labels if _plain(unit[name]) == 1] if known else None,
                "votes": int(unit["n_votes"]),
                "dissent": int(unit["n_dissent"]),
                "text": spoken.get(str(unit.get(CHUNK, "")), ""),
            }
        )
    return rows


def _plain(value: Any) -> Any:
    import pandas as pd

    return None if value is pd.NA else value


def _texts_by_unit(rows: pd.DataFrame, ranked: bool, column: str) -> dict[str, str]:
    if column not in rows:
        return {}
    ids = id_texts(rows[CHUNK]) if ranked else [""] * len(rows)
    found: dict[str, str] = {}
    for name, text in zip(ids, rows[column].fillna("").astype(str), strict=True):
        found[str(name)] = found.get(str(name)) or text
    return found


def query_text(card: Scorecard, query: str, texts: pd.DataFrame) -> str:
    """Return the text that stands for a query: the query itself, or the answer; empty where the file has none.

    Args:
        card: The scores.
        query: Id of the query.
        texts: Rows of the file with their texts.
    """
    column = task_named(card.task).texts[0]
    if column not in texts:
        return ""
    found = texts.loc[id_texts(texts[RECORD]) == query, column].fillna("").astype(str)
    return next((text for text in found if text.strip()), "")


def says_comparison(found: SystemComparison) -> str:
    """Say in one sentence what a comparison of two systems shows.

    Args:
        found: The comparison.
    """
    a, b = found.names
    told = [one for one in found.metrics.values() if one.delta.excluded and (one.p_holm or 0.0) < 0.05]
    n = formats.count(found.n, "query", "queries")
    marked = f" ({MARKED})" if found.options.labels_by == "model" else ""
    if not told:
        return f"{b} and {a} cannot be told apart on {n}{marked}"
    better = [WORDS[one.info.name][0] for one in told if (one.delta.value or 0) > 0]
    worse = [WORDS[one.info.name][0] for one in told if (one.delta.value or 0) < 0]
    parts = [f"better in {_listed(better)}" if better else "", f"worse in {_listed(worse)}" if worse else ""]
    unknown = any(one.verdict not in ("win", "loss") for one in told)
    doubt = ", but it may be rerun noise, which is not known" if unknown else ""
    return f"{b} scores {' and '.join(filter(None, parts))} than {a} on {n}{marked}{doubt}"


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def bounds_of(card: Scorecard) -> Iterator[tuple[str, str, str]]:
    """Yield the metrics of which only a range is known: name, least and greatest estimate as written.

    Args:
        card: The scores.
    """
    for name, bounds in card.bounds.items():
        if bounds.lowest.value != bounds.highest.value:
            yield name, formats.estimate(bounds.lowest), formats.estimate(bounds.highest)
