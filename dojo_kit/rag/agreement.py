"""How far annotators agree: Krippendorff's alpha with its interval, percentage agreement, Cohen's kappa by pair.

A matrix of ratings has one row per annotator and one column per item, NaN where nobody rated. Agreement is measured on
the ratings as given; it never widens the interval of a score.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dojo_kit.errors import InputError, closest
from dojo_kit.rag.cells import id_texts
from dojo_kit.rag.contract import CheckedLabels, check_labels
from dojo_kit.rag.faults import Codes, Mask, shown
from dojo_kit.rag.metrics import Floats
from dojo_kit.rag.tasks import ANNOTATOR, CREATED, TaskName, check_resampling
from dojo_kit.rag.units import Units, form_units
from dojo_kit.rag.votes import one_vote_each, read_times
from dojo_kit.stats.intervals import Bootstrap, Estimate, divide, undefined

if TYPE_CHECKING:
    from datetime import datetime

    import pandas as pd

ITEMS = "items"


@dataclass(frozen=True, slots=True)
class Alpha:
    """Krippendorff's alpha of one label.

    Attributes:
        estimate: Alpha with its interval over items.
        n_items: Items with at least two ratings.
        n_single_category: Resamples that hold only one category, on which alpha says nothing: left out.
        n_no_overlap: Resamples in which no item has two ratings: left out.
    """

    estimate: Estimate
    n_items: int
    n_single_category: int
    n_no_overlap: int


@dataclass(frozen=True, slots=True)
class LabelAgreement:
    """Agreement on one label.

    Attributes:
        label: The label.
        alpha: Krippendorff's alpha.
        percentage: Mean over items of the share of agreeing pairs; None without an item rated twice.
        share_positive: Share of ratings that are 1, among items rated twice; None without one.
    """

    label: str
    alpha: Alpha
    percentage: float | None
    share_positive: float | None


@dataclass(frozen=True, slots=True)
class PairKappa:
    """Cohen's kappa of two annotators.

    Attributes:
        annotator_a: The first, by name.
        annotator_b: The second.
        kappa: Mean over the labels with a defined kappa.
        by_label: Kappa of every label; None where both gave one and the same answer throughout.
        n_shared_items: Items both rated.
    """

    annotator_a: str
    annotator_b: str
    kappa: float
    by_label: Mapping[str, float | None]
    n_shared_items: int


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of the annotators of one task.

    Attributes:
        task: The task.
        labels: Per label, in the order of the task.
        pairs: Pairs of annotators that share items and have a defined kappa, by name.
        annotators: Annotator -> items rated.
        n_items: Items rated by anybody.
        n_items_shared: Items rated at least twice.
        counts: Rows read, and rows left out by reason.
        n_resamples: Resamples of every interval.
        seed: Seed of the stream.
        confidence: Confidence level.
    """

    task: TaskName
    labels: tuple[LabelAgreement, ...]
    pairs: tuple[PairKappa, ...]
    annotators: Mapping[str, int]
    n_items: int
    n_items_shared: int
    counts: Mapping[str, int]
    n_resamples: int
    seed: int
    confidence: float
    scope: str = field(
        default="Intervals cover the sampling of items only, with the annotators as they are; items of one query are "
        "taken as independent."
    )

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready values, with the field names of agreement reports."""
        return {
            "task": self.task,
            "labels": [
                {
                    "label": one.label,
                    "alpha": one.alpha.estimate.value,
                    "ci_lower": one.alpha.estimate.lo,
                    "ci_upper": one.alpha.estimate.hi,
                    "n_items": one.alpha.n_items,
                    "n_annotators": len(self.annotators),
                    "pct_agreement": one.percentage,
                    "share_positive": one.share_positive,
                    "n_single_category_resamples": one.alpha.n_single_category,
                    "n_no_overlap_resamples": one.alpha.n_no_overlap,
                    "flags": list(one.alpha.estimate.flags),
                    "note": one.alpha.estimate.note,
                }
                for one in self.labels
            ],
            "pairwise_kappa": [
                {
                    "annotator_a": pair.annotator_a,
                    "annotator_b": pair.annotator_b,
                    "kappa": pair.kappa,
                    "n_shared_items": pair.n_shared_items,
                    "by_label": dict(pair.by_label),
                }
                for pair in self.pairs
            ],
            "coverage": {
                "n_items": self.n_items,
                "n_items_shared": self.n_items_shared,
                "items_by_annotator": dict(self.annotators),
            },
            "counts": dict(self.counts),
            "n_bootstrap_resamples": self.n_resamples,
            "seed": self.seed,
            "ci_level": self.confidence,
            "scope": self.scope,
        }


def krippendorff_alpha(matrix: ArrayLike, *, bootstrap: Bootstrap | None = None) -> Alpha:
    """Krippendorff's alpha for nominal categories, with a percentile bootstrap over items (Krippendorff 2011).

    Alpha is 1 less observed over expected disagreement, on items with at least two ratings. When all of these are of
    one category it is 1 by convention and has no interval; resamples of that kind are left out and counted, since
    scoring them 1 would pin the upper bound.

    Args:
        matrix: Ratings, shape (annotators, items), NaN where there is none.
        bootstrap: The resampling.

    Examples:
        >>> alpha = krippendorff_alpha([[1, 0, 1, 0, 1, 0], [1, 0, 0, 0, 1, 0]]).estimate
        >>> round(alpha.value, 4), round(alpha.lo, 2), alpha.hi
        (0.6857, -0.1, 1.0)
    """
    bootstrap = replace(bootstrap or Bootstrap(), unit=ITEMS)
    ratings = _matrix(matrix)
    summands = _item_summands(ratings)
    n_items = int((summands[:, 0] > 0).sum())
    if not n_items:
        return Alpha(undefined("no item has two ratings", n=0, unit=ITEMS), 0, 0, 0)
    observed, replicates, method = bootstrap.resampled_sums(summands)
    values = _alphas(replicates)
    empty = replicates[:, 0] == 0
    single = np.isnan(values) & ~empty
    point = float(_alphas(observed)[0])
    n = ratings.shape[1]
    estimate = bootstrap.of_replicates(1.0 if np.isnan(point) else point, values, n, method)
    if np.isnan(point):
        estimate = replace(estimate, note="all ratings are of one category, so chance agreement is total")
    return Alpha(estimate, n_items, int(single.sum()), int(empty.sum()))


def percentage_agreement(matrix: ArrayLike) -> float | None:
    """Mean over items of the share of agreeing pairs of ratings; None without an item rated twice.

    Args:
        matrix: Ratings, shape (annotators, items), NaN where there is none.

    Examples:
        >>> percentage_agreement([[1, 0, 1, 0], [1, 0, 0, 0]])
        0.75
    """
    summands = _item_summands(_matrix(matrix))
    rated = summands[summands[:, 0] > 0]
    if not len(rated):
        return None
    return float((1 - rated[:, 1] / rated[:, 0]).mean())


def cohen_kappa(a: ArrayLike, b: ArrayLike) -> float | None:
    """Cohen's kappa of two annotators on 0/1 labels (Cohen 1960).

    Args:
        a: Labels of the first on the shared items, shape (n,).
        b: Labels of the second.

    Returns:
        Kappa; None without an item, or when both give one and the same answer throughout.

    Raises:
        ValueError: The lists differ in length, or a label is neither 0 nor 1.

    Examples:
        >>> cohen_kappa([1, 1, 0, 0, 1, 0, 1, 0], [1, 0, 0, 0, 1, 1, 1, 0])
        0.5
    """
    first, second = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if first.shape != second.shape or first.ndim != 1:
        raise ValueError(f"kappa needs two lists of equal length, got {first.shape} and {second.shape}")
    if not np.isin([first, second], (0.0, 1.0)).all():
        raise ValueError("kappa here is for labels of 0 and 1")
    n = len(first)
    if not n:
        return None
    # in whole numbers, so that perfect agreement is exactly 1
    both, of_a, of_b = int((first == second).sum()), int(first.sum()), int(second.sum())
    by_chance = of_a * of_b + (n - of_a) * (n - of_b)
    return None if by_chance == n * n else (n * both - by_chance) / (n * n - by_chance)


def annotator_agreement(
    frame: pd.DataFrame,
    task: TaskName,
    *,
    system: str | None = None,
    run: str | None = None,
    exclude_annotators: tuple[str, ...] = (),
    after: datetime | None = None,
    before: datetime | None = None,
    n_resamples: int = 2000,
    seed: int = 42,
    confidence: float = 0.95,
    source: str = "",
) -> Agreement:
    """Measure how far the annotators of a table agree.

    Counted are submitted rows, of the calibration set where the table marks one, one per annotator and item.

    Args:
        frame: As for `score_rag`, with a column ``annotator_id``.
        task: The task.
        system: The ``system_id`` to keep, needed when there are several.
        run: The ``run_id`` to keep, likewise.
        exclude_annotators: Annotators left out.
        after: Time from which rows count, itself included; without a zone it is UTC.
        before: Time up to which rows count, itself included.
        n_resamples: Resamples of every interval.
        seed: Seed of the stream, the same for every label.
        confidence: Confidence level.
        source: The file, for messages.

    Raises:
        LabelsError: The table breaks the contract.
        InputError: It does not say who judged, an annotator to leave out is not there, or no row is left.
    """
    check_resampling(n_resamples, seed, confidence)
    if ANNOTATOR not in frame:
        raise InputError("nothing says who judged", file=source or None, expected=f"a column {ANNOTATOR!r}")
    check_known(exclude_annotators, id_texts(frame[ANNOTATOR]), source=source)
    checked = check_labels(frame, task, system=system, run=run, source=source)
    units = form_units(checked)
    counted, counts = _counted(checked, exclude_annotators, after, before)
    votes = one_vote_each(replace(checked, submitted=counted), units)
    counts |= {"replaced by a later row": votes.n_replaced, "repeated": votes.n_repeated}
    rows = np.flatnonzero(votes.kept)
    if not len(rows):
        gone = ", ".join(f"{n} {reason}" for reason, n in counts.items() if n and reason != "rows")
        message = f"no row is left to measure agreement on: of {counts['rows']} rows {gone}"
        raise InputError(message, file=source or None, expected="rows that several annotators submitted")
    matrices, names = _matrices(checked, units, rows)
    bootstrap = Bootstrap(n_resamples, seed, confidence, ITEMS)
    rated = ~np.isnan(matrices[0])
    return Agreement(
        task,
        tuple(
            _label_agreement(label, matrix, bootstrap)
            for label, matrix in zip(checked.task.labels, matrices, strict=True)
        ),
        tuple(_pairs(names, matrices, checked.task.labels)),
        {name: int(n) for name, n in zip(names, rated.sum(axis=1), strict=True)},
        rated.shape[1],
        int((rated.sum(axis=0) > 1).sum()),
        counts,
        n_resamples,
        seed,
        confidence,
    )


def check_known(excluded: Iterable[str], annotators: Iterable[str], *, source: str = "") -> None:
    """Check that annotators to be left out are there: a misspelled name would leave nobody out.

    Args:
        excluded: Their names.
        annotators: Those who judged, repeated and blank ones included.
        source: The file or export, for messages.

    Raises:
        InputError: One is not there.

    Examples:
        >>> check_known(["bob"], ["ann", "bo", "ann"])
        Traceback (most recent call last):
        ...
        dojo_kit.errors.InputError: field 'annotator_id': no annotator 'bob' to leave out (did you mean 'bo'?); expected
        one of 'ann', 'bo'
    """
    known = sorted({name for name in annotators if name.strip()})
    for name in excluded:
        if name not in known:
            listed = ", ".join(map(repr, known[:20])) + (" ..." if len(known) > 20 else "")
            raise InputError(
                f"no annotator {shown(name)} to leave out{closest(name, known)}",
                file=source or None,
                field=ANNOTATOR,
                expected=f"one of {listed}",
            )


def _counted(
    checked: CheckedLabels, excluded: tuple[str, ...], after: datetime | None, before: datetime | None
) -> tuple[Mask, dict[str, int]]:
    """Mark the rows that count, and count the others by the first reason that holds."""
    assert checked.annotators is not None  # noqa: S101 - the caller has looked
    names = checked.annotators.names[checked.annotators.codes]
    reasons = {"not submitted": ~checked.judged}
    if checked.calibration is not None:
        reasons["not calibration"] = ~checked.calibration
    if excluded:
        reasons["excluded annotator"] = np.isin(names, list(excluded))
    if after is not None or before is not None:
        reasons["outside the time"] = _outside(checked, after, before)
    left, counts = np.ones(len(checked.lines), dtype=bool), {"rows": len(checked.lines)}
    for reason, rows in reasons.items():
        counts[reason] = int((left & rows).sum())
        left &= ~rows
    return left, counts


def _outside(checked: CheckedLabels, after: datetime | None, before: datetime | None) -> Mask:
    import pandas as pd

    if checked.created is None:
        raise InputError("nothing says when rows were judged", expected=f"a column {CREATED!r}")
    times = read_times(checked.created)
    faults = checked.faults()
    faults.add(times.isna().to_numpy(), CREATED, lambda _: "no readable time", "a date and time, ISO 8601")
    faults.raise_any()
    limits = [None if limit is None else read_times(pd.Series([limit])).iloc[0] for limit in (after, before)]
    outside = np.zeros(len(times), dtype=bool)
    if limits[0] is not None:
        outside |= (times < limits[0]).to_numpy()
    if limits[1] is not None:
        outside |= (times > limits[1]).to_numpy()
    return outside


def _matrices(checked: CheckedLabels, units: Units, rows: Codes) -> tuple[list[Floats], list[str]]:
    """One matrix per label; annotators by name, items by query and chunk."""
    assert checked.annotators is not None  # noqa: S101 - the caller has looked
    who, annotator = np.unique(checked.annotators.codes[rows], return_inverse=True)
    of = units.of_rows[rows]
    order = _by_item_name(units)
    what, item = np.unique(order[of], return_inverse=True)
    matrices = []
    for labels in checked.labels[rows].T:
        matrix = np.full((len(who), len(what)), np.nan)
        matrix[annotator.reshape(-1), item.reshape(-1)] = labels
        matrices.append(matrix)
    return matrices, [str(name) for name in checked.annotators.names[who]]


def _by_item_name(units: Units) -> Codes:
    """Place of every unit when items are sorted as text: query, colon, chunk."""
    if units.chunks is None:
        return units.queries
    names = [f"{units.records[query]}:{chunk}" for query, chunk in zip(units.queries, units.chunks, strict=True)]
    place = np.empty(len(names), dtype=np.int64)
    place[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
    return place


def _label_agreement(label: str, matrix: Floats, bootstrap: Bootstrap) -> LabelAgreement:
    shared = matrix[:, (~np.isnan(matrix)).sum(axis=0) > 1]
    positive = float(np.nanmean(shared)) if shared.size else None
    return LabelAgreement(
        label, krippendorff_alpha(matrix, bootstrap=bootstrap), percentage_agreement(matrix), positive
    )


def _pairs(names: list[str], matrices: list[Floats], labels: tuple[str, ...]) -> list[PairKappa]:
    pairs = []
    for a, b in combinations(range(len(names)), 2):
        shared = ~np.isnan(matrices[0][a]) & ~np.isnan(matrices[0][b])
        kappas = [cohen_kappa(matrix[a, shared], matrix[b, shared]) for matrix in matrices]
        known = [kappa for kappa in kappas if kappa is not None]
        if known:
            mean = sum(known) / len(known)
            by_label = dict(zip(labels, kappas, strict=True))
            pairs.append(PairKappa(names[a], names[b], mean, by_label, int(shared.sum())))
    return pairs


def _matrix(matrix: ArrayLike) -> Floats:
    ratings = np.asarray(matrix, dtype=float)
    if ratings.ndim != 2:
        raise ValueError(f"ratings must have the shape (annotators, items), got {ratings.shape}")
    return ratings


def _item_summands(ratings: Floats) -> Floats:
    """Per item: ratings, disagreement, and ratings of every category; all 0 for an item rated less than twice.

    Disagreement is the number of ordered disagreeing pairs over the ratings less one.
    """
    categories = np.unique(ratings[~np.isnan(ratings)])
    counts = np.column_stack(
        [(ratings == category).sum(axis=0) for category in categories] or [np.zeros(ratings.shape[1])]
    )
    counts = counts.astype(float)
    n = counts.sum(axis=1)
    counts[n < 2], n[n < 2] = 0.0, 0.0
    disagreeing = n**2 - (counts**2).sum(axis=1)
    return np.column_stack([n, disagreeing / np.maximum(n - 1, 1), counts])


def _alphas(sums: NDArray[np.float64]) -> Floats:
    """Alpha from sums over items; NaN where all ratings are of one category or none is shared."""
    n, disagreement, counts = sums[:, 0], sums[:, 1], sums[:, 2:]
    observed = divide(disagreement, n)
    expected = 1 - divide((counts * (counts - 1)).sum(axis=1), n * (n - 1))
    expected[(counts > 0).sum(axis=1) < 2] = 0.0
    return 1 - divide(observed, expected)
