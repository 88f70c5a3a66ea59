"""Pooled ContractEval scores: counts first, ratios from counts, intervals over contracts.

Pairs of one contract share its text and its model call's luck, so the unit that is resampled is the contract.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dojo_kit.schema import clause_categories, clause_category
from dojo_kit.settings import Settings, resolve
from dojo_kit.stats.intervals import SMALL_N, Array, Bootstrap, Estimate, resample_counts, undefined, wilson
from dojo_kit.tasks.contracteval.rubric import PUBLISHED_POSITIVES, Mode

if TYPE_CHECKING:
    import pandas as pd

OUTCOMES = ("TP", "TN", "FP", "FN")

SUMMARY = ("accuracy", "precision", "recall", "f1", "f2", "jaccard_mean", "jaccard_median")
RATES = ("no_related_rate", "false_no_related_rate", "false_no_related_rate_paper")


@dataclass(frozen=True, slots=True, repr=False)
class ContractEvalScores:
    """Scores of answers to questions about contracts.

    Attributes:
        mode: The reading, ``paper`` or ``corrected``.
        tp: Positives answered with every label.
        tn: Negatives answered with ``No related clause.``.
        fp: Negatives answered otherwise.
        fn: Positives answered otherwise.
        n_failed: Calls that failed: an empty answer in the paper's reading, left out of the corrected one.
        n_contracts: Contracts of the counted pairs.
        accuracy: (TP + TN) / pairs.
        precision: TP / (TP + FP).
        recall: TP / (TP + FN).
        f1: 2 TP / (2 TP + FP + FN).
        f2: 5 TP / (5 TP + FP + 4 FN).
        jaccard_mean: Mean similarity of answer and labels over positives.
        jaccard_median: Its median.
        jaccard_spread: Population standard deviation, quartiles and range of the same; empty without positives.
        no_related_rate: Pairs whose answer says that there is no clause / pairs.
        false_no_related_rate: Positives whose answer says so / positives.
        false_no_related_rate_paper: The same / `PUBLISHED_POSITIVES`, as published, whatever was asked.
        rows: One row per pair: ``pair``, ``contract``, ``category``, ``outcome`` and ``rule`` in this reading
            (missing for a call that is left out), ``refused``, ``n_labels``, ``n_found``, ``jaccard``,
            ``answer_chars``, ``label_chars``, ``failed``, ``error``, the outcomes ``paper`` and ``corrected``, and
            ``difference``: the correction that tells these two apart, empty where they agree.
        categories: One row per category with counts, ratios and Wilson intervals of precision and recall.
        warnings: What a reader of the figures must know.
    """

    mode: Mode
    tp: int
    tn: int
    fp: int
    fn: int
    n_failed: int
    n_contracts: int
    accuracy: Estimate
    precision: Estimate
    recall: Estimate
    f1: Estimate
    f2: Estimate
    jaccard_mean: Estimate
    jaccard_median: Estimate
    jaccard_spread: Mapping[str, float]
    no_related_rate: Estimate
    false_no_related_rate: Estimate
    false_no_related_rate_paper: Estimate
    rows: pd.DataFrame
    categories: pd.DataFrame
    warnings: tuple[str, ...]

    @property
    def n_pairs(self) -> int:
        """Pairs that are counted."""
        return self.tp + self.tn + self.fp + self.fn

    @property
    def n_positive(self) -> int:
        """Pairs with a label that are counted."""
        return self.tp + self.fn

    @property
    def estimates(self) -> dict[str, Estimate]:
        """Every estimate by name, in the order of a summary."""
        return {name: getattr(self, name) for name in (*SUMMARY, *RATES)}

    @property
    def differences(self) -> pd.DataFrame:
        """The rows whose outcome is not the same in both readings."""
        return self.rows[self.rows["difference"] != ""].reset_index(drop=True)

    @property
    def difference_counts(self) -> dict[str, int]:
        """Correction -> rows whose outcome it changes, most first."""
        counts = self.differences["difference"].value_counts()
        return {str(name): int(count) for name, count in counts.items()}

    def as_dict(self) -> dict[str, Any]:
        """Return everything but the rows as JSON-ready values."""
        categories = self.categories.astype(object).where(self.categories.notna(), None)
        return {
            "task": "contracteval",
            "mode": self.mode,
            "n_pairs": self.n_pairs,
            "n_positive": self.n_positive,
            "n_failed": self.n_failed,
            "n_contracts": self.n_contracts,
            "tp": self.tp,
            "tn": self.tn,
            "fp": self.fp,
            "fn": self.fn,
            **{name: estimate.as_dict() for name, estimate in self.estimates.items()},
            "jaccard_spread": dict(self.jaccard_spread),
            "differences": self.difference_counts,
            "categories": categories.to_dict("records"),
            "warnings": list(self.warnings),
        }

    def __repr__(self) -> str:
        return (
            f"ContractEvalScores({self.mode!r}, {self.n_pairs} pairs, {self.n_positive} positive, TP {self.tp}, "
            f"TN {self.tn}, FP {self.fp}, FN {self.fn}, {self.n_failed} failed)"
        )


CONTRACTS = "contracts"
"""What intervals of pooled pairs resample."""


def contract_bootstrap(settings: Settings | None) -> Bootstrap:
    """Return the resampling of contracts that settings ask for.

    Args:
        settings: Seed, replicates and level; the current settings when there are none.
    """
    statistics = resolve(settings).statistics
    return Bootstrap(statistics.n_resamples, statistics.seed, statistics.confidence, CONTRACTS)


def pool(rows: pd.DataFrame, *, mode: Mode, bootstrap: Bootstrap, warnings: tuple[str, ...]) -> ContractEvalScores:
    """Pool judged rows into scores.

    Args:
        rows: As described at `ContractEvalScores`.
        mode: The reading the rows' outcomes belong to.
        bootstrap: Resampling of contracts.
        warnings: What is to be said about the figures.
    """
    counted = rows[rows["outcome"].notna()]
    sums = _contract_sums(counted)
    tp, tn, fp, fn = (int((counted["outcome"] == name).sum()) for name in OUTCOMES)
    ratios = _ratios(sums, mode, bootstrap)
    positive = counted[counted["n_labels"] > 0]
    published = _per_published_positive(sums["silent"], len(positive), bootstrap)
    return ContractEvalScores(
        mode=mode,
        tp=tp,
        tn=tn,
        fp=fp,
        fn=fn,
        n_failed=int(rows["failed"].sum()),
        n_contracts=counted["contract"].nunique(),
        accuracy=ratios["accuracy"],
        precision=ratios["precision"],
        recall=ratios["recall"],
        f1=ratios["f1"],
        f2=ratios["f2"],
        jaccard_mean=_ratio(sums["jaccard"], sums["n_jaccard"], bootstrap, "no positive with words"),
        jaccard_median=_median(positive, bootstrap),
        jaccard_spread=_spread(positive["jaccard"].dropna().to_numpy(float)),
        no_related_rate=_ratio(sums["refused"], sums["pairs"], bootstrap, "no pairs"),
        false_no_related_rate=_ratio(sums["silent"], sums["tp"] + sums["fn"], bootstrap, "no positives"),
        false_no_related_rate_paper=published,
        rows=rows,
        categories=_categories(counted, mode, bootstrap.confidence),
        warnings=warnings,
    )


def _contract_sums(counted: pd.DataFrame) -> dict[str, Array]:
    """Sum what the ratios are made of over each contract, contracts in the order of their names."""
    import pandas as pd

    positive = counted["n_labels"] > 0
    parts = pd.DataFrame(
        {
            "contract": counted["contract"],
            "pairs": 1.0,
            "refused": counted["refused"].astype(float),
            "silent": (counted["refused"].astype(bool) & positive).astype(float),
            "jaccard": counted["jaccard"].fillna(0.0).astype(float),
            "n_jaccard": counted["jaccard"].notna().astype(float),
            **{name.lower(): (counted["outcome"] == name).astype(float) for name in OUTCOMES},
        }
    )
    table = parts.groupby("contract", sort=True).sum()
    return {str(name): table[name].to_numpy(float) for name in table}


def _ratios(sums: Mapping[str, Array], mode: Mode, bootstrap: Bootstrap) -> dict[str, Estimate]:
    tp, tn, fp, fn = (sums[name.lower()] for name in OUTCOMES)
    return {
        "accuracy": _ratio(tp + tn, sums["pairs"], bootstrap, "no pairs"),
        "precision": _ratio(tp, tp + fp, bootstrap, "nothing answered but the refusal sentence"),
        "recall": _ratio(tp, tp + fn, bootstrap, "no positives"),
        "f1": _f_score(tp, fp, fn, 1, mode, bootstrap),
        "f2": _f_score(tp, fp, fn, 4, mode, bootstrap),
    }


def _ratio(numerators: Array, denominators: Array, bootstrap: Bootstrap, reason: str) -> Estimate:
    """Return a pooled ratio over the contracts in which it is defined."""
    kept = denominators > 0
    if not kept.any():
        return undefined(reason)
    return bootstrap.ratio(numerators[kept], denominators[kept])


def _f_score(tp: Array, fp: Array, fn: Array, weight: int, mode: Mode, bootstrap: Bootstrap) -> Estimate:
    """Return F1 (weight of a missed label 1) or F2 (4).

    The published formula divides by P + R and has no value without a true positive.
    """
    kept = tp + fp + fn > 0
    if not kept.any():
        return undefined("no positives and no false positives")
    if mode == "paper" and not tp.any():
        return undefined("no true positive: the published formula divides by zero", n=int(kept.sum()))

    def statistic(sums: Array, _: int) -> Array:
        gained, denominators = (1 + weight) * sums[:, 0], sums[:, 1]
        empty = gained == 0 if mode == "paper" else denominators == 0
        return np.where(empty, np.nan, gained / np.where(denominators == 0, 1.0, denominators))

    return bootstrap.of_sums(np.column_stack([tp, (1 + weight) * tp + fp + weight * fn])[kept], statistic)


def _per_published_positive(silent: Array, n_positive: int, bootstrap: Bootstrap) -> Estimate:
    if not len(silent):
        return undefined("no pairs")
    estimate = bootstrap.of_sums(silent[:, None], lambda sums, _: sums[:, 0] / PUBLISHED_POSITIVES)
    if n_positive == PUBLISHED_POSITIVES:
        return estimate
    note = f"divides by {PUBLISHED_POSITIVES:,}, the positives of the full split, though {n_positive:,} were asked"
    return replace(estimate, note=note)


def _spread(values: Array) -> dict[str, float]:
    if not len(values):
        return {}
    names, shares = ("min", "q25", "q75", "max"), (0.0, 0.25, 0.75, 1.0)
    quantiles = np.quantile(values, shares, method="linear")
    return {"sd": float(values.std()), **{n: float(q) for n, q in zip(names, quantiles, strict=True)}}


def _median(positive: pd.DataFrame, bootstrap: Bootstrap) -> Estimate:
    """Return the median over positives, contracts resampled: a positive counts as often as its contract is drawn."""
    positive = positive[positive["jaccard"].notna()].sort_values("jaccard", kind="stable")
    if positive.empty:
        return undefined("no positive with words")
    values = positive["jaccard"].to_numpy(float)
    contracts, unit = np.unique(positive["contract"].to_numpy(str), return_inverse=True)
    n = len(contracts)
    medians = []
    for counts in resample_counts(n, bootstrap.n_resamples, bootstrap.seed):
        below = np.cumsum(counts[:, unit], axis=1)
        half = below[:, -1:] / 2
        lower, upper = (below >= half).argmax(axis=1), (below > half).argmax(axis=1)
        medians.append((values[lower] + values[upper]) / 2)
    tail = (1 - bootstrap.confidence) / 2
    lo, hi = (float(q) for q in np.quantile(np.concatenate(medians), [tail, 1 - tail], method="linear"))
    flags = (f"n < {SMALL_N}",) * (n < SMALL_N) + ("zero width",) * (lo == hi)
    point = float(np.median(values))
    return Estimate(point, lo, hi, "percentile", n, bootstrap.seed, bootstrap.n_resamples, flags, unit=bootstrap.unit)


def _categories(counted: pd.DataFrame, mode: Mode, confidence: float) -> pd.DataFrame:
    """Return the confusion per category, in CUAD's order.

    Where a ratio has no value the paper's reading has 0, as the published breakdown by question does.
    """
    import pandas as pd

    table = [_category(str(name), rows, confidence) for name, rows in counted.groupby("category", sort=True)]
    frame = pd.DataFrame(table, columns=_CATEGORY_COLUMNS).astype(dict.fromkeys(_RATIO_COLUMNS, "float64"))
    frame = frame.sort_values("category", key=lambda names: names.map(_order), kind="stable", ignore_index=True)
    return frame.fillna(dict.fromkeys(_ZERO_AS_PUBLISHED, 0.0)) if mode == "paper" else frame


def _order(name: str) -> int:
    category = clause_category(name)
    return category.order if category else len(clause_categories())


def _category(name: str, rows: pd.DataFrame, confidence: float) -> dict[str, Any]:
    tp, tn, fp, fn = (int((rows["outcome"] == outcome).sum()) for outcome in OUTCOMES)
    # a contract is asked once per category, so its pairs are independent
    precision, recall = (wilson(tp, n, confidence=confidence) for n in (tp + fp, tp + fn))
    category = clause_category(name)
    return {
        "category": name,
        "short": category.short if category else name,
        "n_pairs": len(rows),
        "n_positive": tp + fn,
        "tp": tp,
        "tn": tn,
        "fp": fp,
        "fn": fn,
        "accuracy": (tp + tn) / len(rows),
        "precision": precision.value,
        "precision_lo": precision.lo,
        "precision_hi": precision.hi,
        "recall": recall.value,
        "recall_lo": recall.lo,
        "recall_hi": recall.hi,
        "f1": 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else None,
        "f2": 5 * tp / (5 * tp + fp + 4 * fn) if tp + fp + fn else None,
        "jaccard_mean": rows["jaccard"].mean(),
        "n_refused": int(rows["refused"].sum()),
        "n_false_refused": int((rows["refused"].astype(bool) & (rows["n_labels"] > 0)).sum()),
    }


_ZERO_AS_PUBLISHED = ("precision", "recall", "f1", "f2", "jaccard_mean")
_RATIO_COLUMNS = [
    *("accuracy", "precision", "precision_lo", "precision_hi", "recall", "recall_lo", "recall_hi"),
    *("f1", "f2", "jaccard_mean"),
]
_CATEGORY_COLUMNS = [
    *("category", "short", "n_pairs", "n_positive", "tp", "tn", "fp", "fn"),
    *_RATIO_COLUMNS,
    *("n_refused", "n_false_refused"),
]
