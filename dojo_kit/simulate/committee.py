"""What more votes would buy: the accuracy of committees of K voters drawn from the votes there are."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dojo_kit.errors import SettingsError
from dojo_kit.settings import Settings, resolve
from dojo_kit.simulate.distributions import committee_wins
from dojo_kit.simulate.plurality import EXACT_UP_TO, plurality_limit, win_probability
from dojo_kit.simulate.votes import Votes
from dojo_kit.stats.intervals import Array, Bootstrap, Estimate
from dojo_kit.stats.legacy import legacy_bootstrap
from dojo_kit.stats.significance import FLOAT_NOISE

if TYPE_CHECKING:
    import pandas as pd

SIZES = (1, 2, 3, 5, 7, 10, 15, 25)
"""Committee sizes unless others are asked for."""

PUBLISHED_DRAWS = 400
"""Committees drawn per document and size when legacy."""

PER_CLASS_COLUMNS = ("label", "n", "k", "accuracy", "lo", "hi")
"""Columns of `Committee.per_class`."""

Method = Literal["exact", "simulated"]


@dataclass(frozen=True, slots=True)
class CommitteeSize:
    """Committees of one size.

    Attributes:
        k: Voters.
        accuracy: Mean over documents of the probability that the committee is right.
        gain: The same less that of one voter, paired by document; None when legacy.
        method: Whether probabilities are exact or simulated.
    """

    k: int
    accuracy: Estimate
    gain: Estimate | None
    method: Method


@dataclass(frozen=True, eq=False)
class Committee:
    """Accuracy of committees by size.

    Attributes:
        votes: The ballots they are drawn from.
        rows: One entry per size, in the order asked for.
        limit: Accuracy as the number of voters grows without bound.
        per_class: Accuracy per expected label and size, columns `PER_CLASS_COLUMNS`, the worst label at the smallest
            size first.
        probabilities: Probability of being right, shape (documents, sizes).
        legacy: Whether committees and intervals were drawn as published.
    """

    votes: Votes = field(repr=False)
    rows: tuple[CommitteeSize, ...]
    limit: Estimate
    per_class: pd.DataFrame = field(repr=False)
    probabilities: Array = field(repr=False)
    legacy: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready values."""
        rows = [
            {"k": row.k, "accuracy": row.accuracy.value, "lo": row.accuracy.lo, "hi": row.accuracy.hi}
            | {"method": row.method}
            | ({} if row.gain is None else {"gain": row.gain.as_dict()})
            for row in self.rows
        ]
        return {
            "rows": rows,
            "limit": self.limit.as_dict(),
            "per_class": self.per_class.to_dict(orient="records"),
            "votes": self.votes.as_dict(),
            "legacy": self.legacy,
        }


def committee(
    votes: Votes,
    *,
    sizes: Sequence[int] = SIZES,
    legacy: bool | None = None,
    draws: int = PUBLISHED_DRAWS,
    settings: Settings | None = None,
) -> Committee:
    """Say how often committees of several sizes would be right.

    Voters are drawn with replacement from a document's own votes, so nothing is bought: a committee of a pool of all
    runs is one of random models and prompts. Beyond 64 voters probabilities are simulated.

    Args:
        votes: The ballots.
        sizes: Committee sizes.
        legacy: Draw committees and intervals as published, on one stream over all sizes and documents; as the votes
            were read by default.
        draws: Committees drawn per document and size when legacy.
        settings: Seed, replicates and level; the current settings by default.

    Raises:
        SettingsError: A size is below 1, or there is none.
    """
    if not len(sizes) or any(not float(size).is_integer() or size < 1 for size in sizes):
        raise SettingsError(f"sizes must be whole numbers of 1 or more, got {list(sizes)}")
    as_published = votes.legacy if legacy is None else legacy
    bootstrap = _bootstrap(settings)
    if as_published:
        probabilities = _published_probabilities(votes, sizes, draws, bootstrap.seed)
    else:
        probabilities = _probabilities(votes, sizes, bootstrap.seed)
    limits = plurality_limit(votes.counts, votes.expected)
    return Committee(
        votes,
        tuple(_sizes(votes, sizes, probabilities, bootstrap, legacy=as_published)),
        _estimate(limits, bootstrap, legacy=as_published),
        _per_class(votes, sizes, probabilities, bootstrap, legacy=as_published),
        probabilities,
        as_published,
    )


def committee_sizes(
    votes: Votes, *, sizes: Sequence[int] = SIZES, settings: Settings | None = None
) -> tuple[tuple[CommitteeSize, ...], Estimate]:
    """Return the accuracies of committees and their limit alone, without classes.

    Args:
        votes: The ballots.
        sizes: Committee sizes, at least 1.
        settings: Seed, replicates and level; the current settings by default.
    """
    bootstrap = _bootstrap(settings)
    rows = _sizes(votes, sizes, _probabilities(votes, sizes, bootstrap.seed), bootstrap, legacy=False)
    return tuple(rows), bootstrap.mean(plurality_limit(votes.counts, votes.expected))


def _bootstrap(settings: Settings | None) -> Bootstrap:
    statistics = resolve(settings).statistics
    return Bootstrap(statistics.n_resamples, statistics.seed, statistics.confidence)


def _probabilities(votes: Votes, sizes: Sequence[int], seed: int) -> Array:
    return np.column_stack([win_probability(votes.counts, votes.expected, k, seed=seed) for k in sizes])


def _published_probabilities(votes: Votes, sizes: Sequence[int], draws: int, seed: int) -> Array:
    """Draw committees on one stream, sizes outermost; what cannot be won, and one voter, draws nothing."""
    rng = random.Random(seed)
    found = np.zeros((len(votes), len(sizes)))
    shares = votes.expected_shares
    ballots = []
    for row, labels in enumerate(votes.first_votes):
        names = [votes.labels[label] for label in labels]
        ballots.append(
            (names, [float(votes.shares[row, label]) for label in labels], votes.labels[votes.expected[row]])
        )
    for column, k in enumerate(sizes):
        for row, (names, weights, expected) in enumerate(ballots):
            if k == 1 or not shares[row]:
                found[row, column] = shares[row]
            else:
                found[row, column] = committee_wins(names, weights, expected, k, n_sim=draws, rng=rng)
    return found


def _sizes(
    votes: Votes, sizes: Sequence[int], probabilities: Array, bootstrap: Bootstrap, *, legacy: bool
) -> list[CommitteeSize]:
    if legacy:
        return [
            CommitteeSize(k, _estimate(probabilities[:, column], bootstrap, legacy=True), None, "simulated")
            for column, k in enumerate(sizes)
        ]
    gains = probabilities - votes.expected_shares[:, None]
    gains[np.abs(gains) < FLOAT_NOISE] = 0.0  # two voters are no better than one, to the last bit
    accuracies, differences = _estimates(probabilities, bootstrap), _estimates(gains, bootstrap)
    methods: list[Method] = ["exact" if k <= EXACT_UP_TO else "simulated" for k in sizes]
    return [CommitteeSize(*row) for row in zip(sizes, accuracies, differences, methods, strict=True)]


def _estimates(values: Array, bootstrap: Bootstrap) -> list[Estimate]:
    """Estimate the mean of every column from one set of resamples."""
    n = len(values)
    _, sums, method = bootstrap.resampled_sums(values)
    return [
        bootstrap.of_replicates(float(column.mean()), replicates / n, n, method)
        for column, replicates in zip(values.T, sums.T, strict=True)
    ]


def _estimate(values: Array, bootstrap: Bootstrap, *, legacy: bool) -> Estimate:
    if not legacy:
        return bootstrap.mean(values)
    return published_mean(values, bootstrap)


def published_mean(values: Array, bootstrap: Bootstrap) -> Estimate:
    """Estimate a mean over documents in corpus order with the published interval."""
    n_boot, seed = bootstrap.n_resamples, bootstrap.seed
    lo, hi = legacy_bootstrap(values, seed=seed, n_boot=n_boot, bounds="monte_carlo")
    return Estimate(float(np.mean(values)), lo, hi, "published percentile", len(values), seed, n_boot)


def _per_class(
    votes: Votes, sizes: Sequence[int], probabilities: Array, bootstrap: Bootstrap, *, legacy: bool
) -> pd.DataFrame:
    import pandas as pd

    found = []
    for label in np.unique(votes.expected):
        values = probabilities[votes.expected == label]
        estimates: list[tuple[float, float | None, float | None]]
        if legacy:
            estimates = [(float(mean), None, None) for mean in values.mean(axis=0)]
        else:
            estimates = [(e.value or 0.0, e.lo, e.hi) for e in _estimates(values, bootstrap)]
        found.append((votes.labels[label], len(values), estimates))
    found.sort(key=lambda entry: (entry[2][0][0], entry[0]))
    rows = [(name, n, k, *e) for name, n, estimates in found for k, e in zip(sizes, estimates, strict=True)]
    return pd.DataFrame(rows, columns=list(PER_CLASS_COLUMNS))
