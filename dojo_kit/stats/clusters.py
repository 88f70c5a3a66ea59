"""Rows that are not independent: sums over clusters, and Wilson's interval widened by the design effect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dojo_kit.stats.intervals import DOCUMENTS, Array, Estimate, interval_flags, undefined, wilson_bounds


@dataclass(frozen=True, slots=True)
class DesignEffect:
    """By how much clustering widens an interval (Kish 1965).

    Attributes:
        icc: Intra-cluster correlation, between 0 and 1; None when all values are equal, which says nothing about it.
        effect: Variance beside that of as many independent rows: 1 + (m - 1) icc, m the mean cluster size of a row.
        n_effective: Independent rows that would tell as much.
        n_rows: Rows.
        n_clusters: Clusters.
    """

    icc: float | None
    effect: float
    n_effective: float
    n_rows: int
    n_clusters: int


def cluster_sums(rows: Array, clusters: NDArray[Any]) -> Array:
    """Add up the rows of every cluster.

    Args:
        rows: Summands, shape (n, k).
        clusters: Key of every row's cluster, shape (n,).

    Returns:
        Shape (clusters, k), in the order of the sorted keys.
    """
    keys, index = np.unique(clusters, return_inverse=True)
    return np.column_stack([np.bincount(index, weights=column, minlength=len(keys)) for column in rows.T])


def cluster_keys(clusters: ArrayLike, n: int) -> NDArray[Any]:
    """Check that there is one cluster key per unit.

    Raises:
        ValueError: There is not.
    """
    keys = np.asarray(clusters)
    if keys.shape != (n,):
        raise ValueError(f"clusters must name one cluster per unit, shape ({n},), got {keys.shape}")
    return keys


def design_effect(values: ArrayLike, clusters: ArrayLike) -> DesignEffect:
    """Design effect of clustered values.

    The correlation is that of a one-way analysis of variance (Donner and Koval 1980), negative ones counting as 0.
    When all values are equal it is unknown, and every cluster counts as one row, which is the most cautious reading.

    Args:
        values: One per row, shape (n,); NaN is left out.
        clusters: Key of every row's cluster, shape (n,).

    Raises:
        ValueError: There are no values, or not one cluster key for each.

    Examples:
        >>> found = design_effect([1, 1, 1, 0, 0, 0, 1, 1], list("aaabbbcc"))
        >>> found.icc, round(found.effect, 2), round(found.n_effective, 2)
        (1.0, 2.75, 2.91)
    """
    array = np.asarray(values, dtype=float)
    keys = cluster_keys(clusters, len(array))[~np.isnan(array)]
    array = array[~np.isnan(array)]
    n = len(array)
    if n == 0:
        raise ValueError("a design effect needs at least one value")
    sums, squares, sizes = cluster_sums(np.column_stack([array, array**2, np.ones(n)]), keys).T
    k, size_of_a_row = len(sizes), float((sizes**2).sum()) / n
    within = float((squares - sums**2 / sizes).sum())
    between = float((sums**2 / sizes).sum()) - array.sum() ** 2 / n
    if array.min() == array.max() or k == 1:
        return DesignEffect(None, n / k, float(k), n, k)
    icc = 0.0
    if n > k:
        mean_between, mean_within = between / (k - 1), within / (n - k)
        typical = (n - size_of_a_row) / (k - 1)
        icc = float((mean_between - mean_within) / (mean_between + (typical - 1) * mean_within))
        icc = min(1.0, max(0.0, icc))
    effect = 1 + (size_of_a_row - 1) * icc
    return DesignEffect(icc, effect, n / effect, n, k)


def clustered_wilson(
    values: ArrayLike, clusters: ArrayLike, *, confidence: float = 0.95, unit: str = DOCUMENTS
) -> Estimate:
    """Wilson interval of a share of clustered rows, with the effective number of rows (Dean and Pagano 2015).

    The effective number is lowered further by the ratio of the normal quantile to that of Student's t on the clusters'
    degrees of freedom, squared, since the correlation is itself estimated from the clusters (Korn and Graubard 1998).

    Args:
        values: 0 or 1 per row, shape (n,); NaN is left out.
        clusters: Key of every row's cluster, shape (n,).
        confidence: Confidence level.
        unit: Plural name of the clusters.

    Returns:
        The share of rows; its n counts clusters.

    Raises:
        ValueError: A value is neither 0 nor 1.

    Examples:
        >>> estimate = clustered_wilson([1, 1, 1, 0, 0, 0, 1, 1], list("aaabbbcc"))
        >>> estimate.value, estimate.n, estimate.method
        (0.625, 3, 'wilson design effect')
    """
    array = np.asarray(values, dtype=float)
    keys = cluster_keys(clusters, len(array))[~np.isnan(array)]
    array = array[~np.isnan(array)]
    if not np.isin(array, (0.0, 1.0)).all():
        raise ValueError("a Wilson interval needs values of 0 and 1")
    if not len(array):
        return undefined("no units", unit=unit)
    found, share = design_effect(array, keys), float(array.mean())
    if found.n_clusters == 1:
        return Estimate(share, None, None, "none", 1, note="one cluster has no spread", unit=unit)
    from scipy.special import ndtri, stdtrit

    z, t = float(ndtri(0.5 + confidence / 2)), float(stdtrit(found.n_clusters - 1, 0.5 + confidence / 2))
    lo, hi = wilson_bounds(share, found.n_effective * (z / t) ** 2, z)
    flags = interval_flags(found.n_clusters, lo, hi)
    return Estimate(share, lo, hi, "wilson design effect", found.n_clusters, flags=flags, unit=unit)
