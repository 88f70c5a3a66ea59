"""Holding a simulation against reality: which documents to run, and measured beside simulated on just these.

A what-if costs nothing and proves nothing. Each slice lists its documents, so that a real run can be made on them and
not on a random sample of the same size.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dojo_kit.errors import InputError
from dojo_kit.settings import Settings, resolve
from dojo_kit.simulate.committee import published_mean
from dojo_kit.simulate.corpus import Corpus
from dojo_kit.simulate.escalation import check_share, document_confidence, n_escalated
from dojo_kit.simulate.votes import Votes, task_votes
from dojo_kit.stats.compare import Delta, paired_delta
from dojo_kit.stats.intervals import Bootstrap, Estimate

TAIL = 0.15
COMMONEST = 4
"""Confusions whose true labels make the confusion slice."""


@dataclass(frozen=True, eq=False)
class Slice:
    """Documents to check a simulation on.

    Attributes:
        name: What they are, e.g. ``tail 0.15``.
        documents: The documents, as the file list of a real run.
        simulated: Accuracy that the stored votes give them: that of one vote drawn at random.
        expected: Document key -> that accuracy.
    """

    name: str
    documents: tuple[str, ...] = field(repr=False)
    simulated: Estimate
    expected: Mapping[str, float] = field(repr=False)

    def file_list(self) -> str:
        """Return the documents one a line, each line ended."""
        return "".join(f"{name}\n" for name in self.documents)


@dataclass(frozen=True, slots=True)
class SliceCheck:
    """Measured beside simulated.

    Attributes:
        name: The slice.
        n: Its documents.
        n_missing: Those without a measured answer; they are left out of both figures.
        simulated: Accuracy that was simulated for the measured documents.
        measured: Accuracy of the real answers.
        delta: Measured less simulated, paired by document.
        holds: Whether the interval of the difference holds 0.
    """

    name: str
    n: int
    n_missing: int
    simulated: Estimate
    measured: Estimate
    delta: Delta
    holds: bool

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready values."""
        return {
            "name": self.name,
            "documents": self.n,
            "missing": self.n_missing,
            "simulated": self.simulated.as_dict(),
            "measured": self.measured.as_dict(),
            "delta": self.delta.as_dict(),
            "holds": self.holds,
        }


def tail_slice(votes: Votes, *, alpha: float = TAIL, settings: Settings | None = None) -> Slice:
    """Return the documents that would be escalated: the least sure share.

    Args:
        votes: The ballots.
        alpha: The share.
        settings: Seed, replicates and level; the current settings by default.

    Raises:
        SettingsError: The share does not lie between 0 and 1.
    """
    check_share("alpha", alpha)
    order = np.argsort(document_confidence(votes), kind="stable")
    return _slice(f"tail {alpha:g}", votes, order[: n_escalated(alpha, len(votes))].tolist(), settings)


def confusion_slice(
    corpus: Corpus, votes: Votes, *, commonest: int = COMMONEST, settings: Settings | None = None
) -> Slice:
    """Return the documents whose true label is one that the commonest confusions get wrong.

    Documents without a vote come last; nothing is simulated for them.

    Args:
        corpus: The corpus the votes come from.
        votes: The ballots.
        commonest: Confusions looked at.
        settings: Seed, replicates and level; the current settings by default.
    """
    rows, _ = task_votes(corpus, votes.task)
    wrong = rows.loc[~rows["right"], ["expected", "vote"]].value_counts(sort=False)
    labels = {str(pair[0]) for pair in wrong.sort_values(ascending=False, kind="stable").index[:commonest]}
    kept = [row for row in range(len(votes)) if votes.labels[votes.expected[row]] in labels]
    found = _slice(f"{commonest} commonest confusions", votes, kept, settings)
    seen = rows[rows["expected"].isin(labels)].drop_duplicates("key")
    unvoted = seen.loc[~seen["key"].isin(votes.keys), "document"]
    return replace(found, documents=(*found.documents, *unvoted))


def check_slice(slice_: Slice, measured: Mapping[str, float], *, settings: Settings | None = None) -> SliceCheck:
    """Compare what was simulated for a slice with what a real run did on it.

    Args:
        slice_: The slice.
        measured: Document key -> whether the real answer is right, as by `dojo_kit.simulate.answers_of`.
        settings: Seed, replicates and level; the current settings by default.

    Raises:
        InputError: The real run answered none of the documents.

    Examples:
        >>> of = Estimate(0.5, None, None, "none", 2)
        >>> check = check_slice(Slice("tail", ("a", "b"), of, {"a": 0.4, "b": 0.6}), {"a": 1.0})
        >>> check.n_missing, check.delta.value
        (1, 0.6)
    """
    shared = [key for key in slice_.expected if key in measured]
    if not shared:
        raise InputError("the run answered none of the documents", field=slice_.name, expected="a run on the file list")
    bootstrap = _bootstrap(settings)
    simulated = np.array([slice_.expected[key] for key in shared], dtype=float)
    real = np.array([measured[key] for key in shared], dtype=float)
    delta = paired_delta(simulated, real, bootstrap=bootstrap)
    return SliceCheck(
        name=slice_.name,
        n=len(slice_.documents),
        n_missing=len(slice_.documents) - len(shared),
        simulated=bootstrap.mean(simulated),
        measured=bootstrap.mean(real),
        delta=delta,
        holds=not delta.interval_excludes_zero,
    )


def _slice(name: str, votes: Votes, rows: list[int], settings: Settings | None) -> Slice:
    values = votes.expected_shares[rows]
    bootstrap = _bootstrap(settings)
    estimate = published_mean(values, bootstrap) if votes.legacy and len(values) else bootstrap.mean(values)
    keys = votes.keys
    expected = {keys[row]: float(value) for row, value in zip(rows, values, strict=True)}
    return Slice(name, tuple(votes.documents[row] for row in rows), estimate, expected)


def _bootstrap(settings: Settings | None) -> Bootstrap:
    statistics = resolve(settings).statistics
    return Bootstrap(statistics.n_resamples, statistics.seed, statistics.confidence)
