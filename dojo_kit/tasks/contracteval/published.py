"""Table III of ContractEval with error bars: what counts its printed ratios allow, and how sure they can be.

The paper prints F1 and F2 to three digits and no counts; each pair of figures leaves a few whole-numbered solutions
(`dojo_kit.tasks.contracteval.candidates`). What intervals and ties assume is `ASSUMPTIONS`. Jaccard similarity is a
mean of unknown spread, so it has no error bar.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from dojo_kit.errors import InputError, closest
from dojo_kit.settings import Settings
from dojo_kit.stats.intervals import Array, Bootstrap, Estimate, undefined
from dojo_kit.tasks.contracteval.candidates import (
    NEGATIVES,
    RATIOS,
    Counts,
    Hulls,
    confusion_candidates,
    hulls,
    interval_ends,
    share_hull,
)
from dojo_kit.tasks.contracteval.rubric import PUBLISHED_POSITIVES
from dojo_kit.tasks.contracteval.scores import contract_bootstrap

if TYPE_CHECKING:
    import pandas as pd

ASSUMPTIONS = (
    f"every model answered {PUBLISHED_POSITIVES:,} positives, and {NEGATIVES[0]:,} negatives as the paper counts pairs "
    f"or {NEGATIVES[1]:,} as the public split has them; intervals cover both",
    "printed figures are rounded to three digits, not cut",
    "for intervals, TP and FP are binomial and independent; pairs of one contract hang together, so the intervals are "
    "too narrow",
    "for ties, two rows are independent samples; all models answered the same pairs, so a tie may be a true difference",
)

METHOD = "parametric-hull"
Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class PrintedRow:
    """Figures of one model as a table prints them, as text, so that their digits are known.

    Attributes:
        model: The model.
        f1: F1 to three digits.
        f2: F2 to three digits.
        jaccard: Jaccard similarity.
        false_rate: Rate of false "no related clause".
        tier: ``proprietary`` or ``open``.
        note: What to know about the row.
    """

    model: str
    f1: str
    f2: str
    jaccard: str
    false_rate: str
    tier: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class PublishedRow:
    """A printed row and what can be said about it.

    Attributes:
        model: The model as printed.
        tier: ``proprietary`` or ``open``.
        note: What to know about the row.
        printed: ``f1``, ``f2``, ``jaccard`` and ``false_rate`` as printed.
        candidates: Every (TP, FP) that fits, shape (k, 2); k = 0 when the printed figures contradict each other.
        f1: Printed F1 with the interval that covers all candidates; undefined without one.
        f2: The same for F2.
        precision: Middle of the precisions the candidates give, with an interval as for F1.
        recall: The same for the recall.
        false_rate: Printed rate of false "no related clause" with the interval that covers all counts that fit.
        ties: Models whose F1 may be the same: the interval of an independent difference holds 0.
        rank: Best and worst place by F1 that ties leave open, from 1; None without a solution.
    """

    model: str
    tier: str
    note: str
    printed: Mapping[str, float]
    candidates: Counts
    f1: Estimate
    f2: Estimate
    precision: Estimate
    recall: Estimate
    false_rate: Estimate
    ties: tuple[str, ...] = ()
    rank: Range | None = None

    @property
    def solvable(self) -> bool:
        """Whether any counts give the printed figures."""
        return len(self.candidates) > 0

    @property
    def tp(self) -> Range | None:
        """Smallest and largest TP that fits."""
        return self._range(0)

    @property
    def fp(self) -> Range | None:
        """Smallest and largest FP that fits."""
        return self._range(1)

    def _range(self, column: int) -> Range | None:
        values = self.candidates[:, column]
        return (int(values.min()), int(values.max())) if len(values) else None

    def as_dict(self) -> dict[str, Any]:
        """Return the row as JSON-ready values, candidates as ranges."""
        return {
            "model": self.model,
            "tier": self.tier,
            "note": self.note,
            "printed": dict(self.printed),
            "n_candidates": len(self.candidates),
            "tp": self.tp,
            "fp": self.fp,
            **{name: getattr(self, name).as_dict() for name in (*RATIOS, "false_rate")},
            "ties": list(self.ties),
            "rank": self.rank,
        }

    def __repr__(self) -> str:
        tp, fp = (f"{ends[0]}-{ends[1]}" if ends else "none" for ends in (self.tp, self.fp))
        return f"PublishedRow({self.model!r}, F1 {self.printed['f1']:.3f}, TP {tp}, FP {fp})"


@dataclass(frozen=True, slots=True, repr=False)
class PublishedTable:
    """A table of printed scores with error bars.

    Attributes:
        rows: Its rows in printed order.
        differences: One row per pair of solvable models: ``model``, ``other``, ``difference`` (printed F1 of the first
            minus that of the second), ``lo``, ``hi``, ``tie``.
        assumptions: What intervals and ties assume.
    """

    rows: tuple[PublishedRow, ...]
    differences: pd.DataFrame
    assumptions: tuple[str, ...] = ASSUMPTIONS

    @property
    def unsolved(self) -> tuple[str, ...]:
        """Models whose printed figures fit no counts."""
        return tuple(row.model for row in self.rows if not row.solvable)

    def row(self, model: str) -> PublishedRow:
        """Return the row of a model.

        Raises:
            InputError: The table has no such row.
        """
        known = {row.model: row for row in self.rows}
        if model not in known:
            raise InputError(f"no row {model!r}{closest(model, known)}", expected=f"one of {', '.join(known)}")
        return known[model]

    def frame(self) -> pd.DataFrame:
        """Return one row per model: printed figures, ranges of counts, intervals, ties joined by ``; ``."""
        import pandas as pd

        return pd.DataFrame([_flat(row) for row in self.rows])

    def as_dict(self) -> dict[str, Any]:
        """Return the table as JSON-ready values."""
        return {
            "rows": [row.as_dict() for row in self.rows],
            "unsolved": list(self.unsolved),
            "assumptions": list(self.assumptions),
        }

    def __repr__(self) -> str:
        return f"PublishedTable({len(self.rows)} rows, {len(self.unsolved)} without a solution)"


def _flat(row: PublishedRow) -> dict[str, Any]:
    tp, fp, rank = (ends or (None, None) for ends in (row.tp, row.fp, row.rank))
    intervals = {name: getattr(row, name) for name in (*RATIOS, "false_rate")}
    return {
        "model": row.model,
        "tier": row.tier,
        **row.printed,
        "n_candidates": len(row.candidates),
        "tp_min": tp[0],
        "tp_max": tp[1],
        "fp_min": fp[0],
        "fp_max": fp[1],
        **{f"{name}_lo": estimate.lo for name, estimate in intervals.items()},
        **{f"{name}_hi": estimate.hi for name, estimate in intervals.items()},
        "precision": row.precision.value,
        "recall": row.recall.value,
        "rank_best": rank[0],
        "rank_worst": rank[1],
        "ties": "; ".join(row.ties),
        "note": row.note,
    }


@cache
def table_iii() -> tuple[PrintedRow, ...]:
    """Return the 19 rows of the paper's Table III as printed.

    Examples:
        >>> len(table_iii()), table_iii()[0].f1
        (19, '0.641')
    """
    text = (files("dojo_kit") / "data" / "contracteval_table_iii.toml").read_text(encoding="utf-8")
    return tuple(PrintedRow(**entry) for entry in tomllib.loads(text)["row"])


def published_table(rows: Sequence[PrintedRow] | None = None, *, settings: Settings | None = None) -> PublishedTable:
    """Return printed scores with the counts they allow, intervals and ties.

    Args:
        rows: Rows of results on the same test split; the paper's Table III by default.
        settings: Seed, replicates and level of the intervals; the current settings by default.

    Returns:
        The table; the same rows and seed give the same intervals.
    """
    return _published(table_iii() if rows is None else tuple(rows), contract_bootstrap(settings))


@cache
def _published(printed: tuple[PrintedRow, ...], bootstrap: Bootstrap) -> PublishedTable:
    solved = [_solved(row, place, bootstrap) for place, row in enumerate(printed)]
    differences = _differences(solved, bootstrap)
    rows = [row for row, _ in solved]
    return PublishedTable(tuple(_ranked(row, rows, differences) for row in rows), differences)


def _solved(row: PrintedRow, place: int, bootstrap: Bootstrap) -> tuple[PublishedRow, Hulls | None]:
    candidates = confusion_candidates(row.f1, row.f2)
    printed = {name: float(getattr(row, name)) for name in ("f1", "f2", "jaccard", "false_rate")}
    estimates = dict.fromkeys(RATIOS, undefined("the printed figures fit no counts"))
    drawn = None
    if len(candidates):
        drawn = hulls(candidates, rng=np.random.default_rng([bootstrap.seed, place]), bootstrap=bootstrap)
        tp, fp = candidates.T
        values = printed | {
            "precision": _middle(tp / np.maximum(tp + fp, 1)),
            "recall": _middle(tp / PUBLISHED_POSITIVES),
        }
        estimates = {name: _estimate(values[name], drawn.ends[name], bootstrap) for name in RATIOS}
    found = PublishedRow(
        model=row.model,
        tier=row.tier,
        note=row.note,
        printed=printed,
        candidates=candidates,
        f1=estimates["f1"],
        f2=estimates["f2"],
        precision=estimates["precision"],
        recall=estimates["recall"],
        false_rate=share_hull(row.false_rate, confidence=bootstrap.confidence),
    )
    return found, drawn


def _middle(values: Array) -> float:
    return float((values.min() + values.max()) / 2)


def _estimate(value: float, ends: tuple[float, float], bootstrap: Bootstrap) -> Estimate:
    return Estimate(value, *ends, METHOD, PUBLISHED_POSITIVES, bootstrap.seed, bootstrap.n_resamples)


def _differences(solved: Sequence[tuple[PublishedRow, Hulls | None]], bootstrap: Bootstrap) -> pd.DataFrame:
    """Compare every two rows; the interval covers the candidates that are furthest apart either way."""
    import pandas as pd

    found = []
    for place, (row, drawn) in enumerate(solved):
        for other, others in solved[place + 1 :]:
            if drawn is None or others is None:
                continue
            lo = float(interval_ends(drawn.lowest - others.highest, bootstrap)[0])
            hi = float(interval_ends(drawn.highest - others.lowest, bootstrap)[1])
            difference = row.printed["f1"] - other.printed["f1"]
            found.append((row.model, other.model, difference, lo, hi, lo <= 0 <= hi))
    return pd.DataFrame(found, columns=["model", "other", "difference", "lo", "hi", "tie"])


def _ranked(row: PublishedRow, rows: Sequence[PublishedRow], differences: pd.DataFrame) -> PublishedRow:
    if not row.solvable:
        return row
    tied = differences[differences["tie"]]
    partners = {*tied.loc[tied["model"] == row.model, "other"], *tied.loc[tied["other"] == row.model, "model"]}
    others = [other for other in rows if other.solvable and other.model != row.model]
    ties = tuple(other.model for other in others if other.model in partners)
    better = sum(other.printed["f1"] > row.printed["f1"] for other in others if other.model not in partners)
    return replace(row, ties=ties, rank=(better + 1, better + 1 + len(ties)))
