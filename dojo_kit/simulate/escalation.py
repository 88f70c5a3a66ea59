"""What sending the least sure documents to a stronger model would buy, and what it would cost.

Documents are ranked by how sure their votes look; nothing in the ranking knows the truth. The least sure share alpha
goes to the stronger model, the others keep the answer they have.

The published formula blends the mean accuracy of *all* documents with that of the stronger model, so its ranking never
enters it; it is kept beside as ``unrouted``, and is what ``legacy=True`` reports.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dojo_kit.errors import InputError, SettingsError, closest
from dojo_kit.settings import Settings, resolve
from dojo_kit.simulate.corpus import Corpus
from dojo_kit.simulate.distributions import confidence_scores
from dojo_kit.simulate.votes import Votes, task_votes
from dojo_kit.stats.intervals import Array, Bootstrap, Estimate

if TYPE_CHECKING:
    import pandas as pd

ALPHAS = (0.0, 0.05, 0.10, 0.15, 0.20, 0.25, 0.30, 0.40, 0.50)
"""Shares of documents escalated unless others are asked for."""

STRONGER_ACCURACY = 0.95
ACCURACY_SPREAD = 0.05
ESCALATED_COST = 3.0
"""Cost of an escalated document, its first answer included, that of one that is not being 1.

So n documents of which a share alpha is escalated cost ``(1 - alpha) + c alpha`` each, as published; with K votes a
document, all of which are paid before any can be escalated, ``K + alpha (c - 1)``.
"""

SCORE_WEIGHT, STATED_WEIGHT = 0.6, 0.4
"""Weights of the votes' own confidence and of the confidence the models stated."""

CANDIDATE_COLUMNS = ("document", "confidence", "accuracy")
"""Columns of `Escalation.ranking`."""


@dataclass(frozen=True, slots=True)
class EscalationStep:
    """One share of escalated documents.

    Attributes:
        alpha: The share asked for.
        n_escalated: Documents escalated.
        cost: Cost relative to escalating none.
        accuracy: With a stronger model of the assumed accuracy, whichever documents it gets.
        low: The same with the accuracy assumed lower by the spread.
        high: The same with it higher.
        unrouted: What the published formula gives.
        measured: With the answers the stronger model really gave; None without any.
        tail: Accuracy of the present answers on the escalated documents; None when there are none.
        stronger_tail: Accuracy of the stronger model's real answers there; None without any.
        on_front: Whether no other step costs as little and is more accurate, by ``accuracy``.
        measured_on_front: The same by ``measured``.
    """

    alpha: float
    n_escalated: int
    cost: float
    accuracy: Estimate
    low: float
    high: float
    unrouted: float
    measured: Estimate | None = None
    tail: float | None = None
    stronger_tail: float | None = None
    on_front: bool = True
    measured_on_front: bool | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the step as JSON-ready values."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return {k: v.as_dict() if isinstance(v, Estimate) else v for k, v in values.items()}


@dataclass(frozen=True, eq=False)
class Escalation:
    """Escalation of a growing share of documents.

    Attributes:
        votes: The ballots.
        steps: One entry per share.
        ranking: Documents, the least sure first, with their confidence and present accuracy; columns
            `CANDIDATE_COLUMNS`.
        stronger_accuracy: Accuracy assumed of the stronger model.
        escalated_cost: Cost assumed of an escalated document.
        n_answered: Documents the stronger model answered; 0 without one.
        unescalated: Accuracy when nothing is escalated, whichever shares were asked for: what every gain is beside.
        legacy: Whether steps report the published formula.
    """

    votes: Votes = field(repr=False)
    steps: tuple[EscalationStep, ...]
    ranking: pd.DataFrame = field(repr=False)
    stronger_accuracy: float
    escalated_cost: float
    n_answered: int
    legacy: bool = False
    unescalated: float = 0.0

    def candidates(self, alpha: float = 0.15) -> pd.DataFrame:
        """Return the least sure share of the documents, columns `CANDIDATE_COLUMNS`.

        Raises:
            SettingsError: The share does not lie between 0 and 1.
        """
        check_share("alpha", alpha)
        return self.ranking.head(n_escalated(alpha, len(self.ranking)))

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready values."""
        return {
            "unescalated": self.unescalated,
            "steps": [step.as_dict() for step in self.steps],
            "stronger_accuracy": self.stronger_accuracy,
            "escalated_cost": self.escalated_cost,
            "answered_by_stronger": self.n_answered,
            "votes": self.votes.as_dict(),
            "legacy": self.legacy,
        }


def escalate(
    votes: Votes,
    *,
    alphas: Sequence[float] = ALPHAS,
    stronger_accuracy: float = STRONGER_ACCURACY,
    spread: float = ACCURACY_SPREAD,
    escalated_cost: float = ESCALATED_COST,
    stronger: Mapping[str, float] | None = None,
    legacy: bool = False,
    settings: Settings | None = None,
) -> Escalation:
    """Say what routing the least sure documents to a stronger model would do.

    An assumed accuracy holds for every document, also the hard ones, so it flatters: a real stronger model is worse on
    the documents that are escalated than it is overall. Give its answers where there are any.

    Args:
        votes: The present answers; a document's accuracy is that of one vote drawn at random.
        alphas: Shares of documents to escalate.
        stronger_accuracy: Accuracy assumed of the stronger model.
        spread: How much lower and higher it may be.
        escalated_cost: Cost of an escalated document, its first answer included, that of one that is not being 1.
        stronger: Document key -> whether the stronger model is right, as by `answers_of`. A document it has no answer
            for keeps the present one. Leave the stronger model's own runs out of ``votes``.
        legacy: Report the published formula, which does not route.
        settings: Seed, replicates and level; the current settings by default.

    Raises:
        SettingsError: A share or an accuracy does not lie between 0 and 1, a cost is no number from 0 on, or no share
            is given.
        InputError: The stronger model answered none of the documents.
    """
    if not len(alphas):
        raise SettingsError("alphas is empty; give shares between 0 and 1")
    named = (*(("alpha", alpha) for alpha in alphas), ("stronger_accuracy", stronger_accuracy), ("spread", spread))
    for name, value in named:
        check_share(name, value)
    if not (math.isfinite(escalated_cost) and escalated_cost >= 0):
        raise SettingsError(f"escalated_cost must be a number from 0 on, not {escalated_cost}")
    statistics = resolve(settings).statistics
    bootstrap = Bootstrap(statistics.n_resamples, statistics.seed, statistics.confidence)
    confidences = document_confidence(votes)
    order = np.argsort(confidences, kind="stable")
    answers = None if stronger is None else np.array([stronger.get(key, np.nan) for key in votes.keys], dtype=float)
    if answers is not None and np.isnan(answers).all():
        raise InputError(
            "the stronger model answered none of these documents", field="stronger", expected="runs on the same ones"
        )
    routed = _Routed(votes.expected_shares, order, answers, bootstrap)
    steps = [routed.step(alpha, stronger_accuracy, spread, escalated_cost, legacy=legacy) for alpha in alphas]
    return Escalation(
        votes,
        _with_fronts(steps),
        _ranking(votes, confidences, order),
        stronger_accuracy,
        escalated_cost,
        0 if answers is None else int((~np.isnan(answers)).sum()),
        legacy,
        float(votes.expected_shares.mean()),
    )


def check_share(name: str, value: float) -> None:
    """Check that a number lies between 0 and 1.

    Raises:
        SettingsError: It does not, or is none.

    Examples:
        >>> check_share("alpha", 0.15)
    """
    if not 0 <= value <= 1:
        raise SettingsError(f"{name} must lie between 0 and 1, not {value}")


def document_confidence(votes: Votes) -> Array:
    """Return how sure each document's answer looks: six tenths the votes, four tenths what the models stated.

    Args:
        votes: The ballots; where no confidence is stated the votes alone count.

    Returns:
        Shape (documents,), from 0 to 1.
    """
    score = confidence_scores(votes.shares, votes.names_other, votes.unsure)
    mixed = SCORE_WEIGHT * score + STATED_WEIGHT * votes.confidence
    return np.asarray(np.clip(np.where(np.isnan(votes.confidence), score, mixed), 0.0, 1.0), dtype=float)


@dataclass(frozen=True, slots=True)
class ConfidenceSummary:
    """How sure documents look.

    Attributes:
        median: Their median; when legacy the upper of two middle ones.
        mean: Their mean.
        n_below_half: Documents below 0.5.
    """

    median: float
    mean: float
    n_below_half: int


def confidence_summary(votes: Votes) -> ConfidenceSummary:
    """Summarise `document_confidence`."""
    values = document_confidence(votes)
    middle = np.sort(values)[len(values) // 2] if votes.legacy else np.median(values)
    return ConfidenceSummary(float(middle), float(values.mean()), int((values < 0.5).sum()))


def n_escalated(alpha: float, n: int) -> int:
    """Return how many of n documents a share is, halves rounded to even.

    Examples:
        >>> n_escalated(0.05, 508), n_escalated(0.15, 508)
        (25, 76)
    """
    return round(alpha * n)


def answers_of(
    corpus: Corpus, task: str, *, run_ids: Iterable[str] = (), models: Collection[str] = ()
) -> dict[str, float]:
    """Return which documents some runs got right, for `escalate` or a comparison with what was simulated.

    Args:
        corpus: The corpus.
        task: Task key.
        run_ids: Runs whose answers count.
        models: Models all of whose runs count.

    Returns:
        Document key (name, of a legacy corpus) -> share of the runs' answers that are right; failed calls have none.

    Raises:
        InputError: A run or model is not in the corpus, or neither is named.
    """
    rows, _ = task_votes(corpus, task)
    wanted = rows["run_id"].isin(_known(run_ids, rows["run_id"], "run")) | rows["model"].isin(
        _known(models, rows["model"], "model")
    )
    if not wanted.any():
        raise InputError("no runs named", field="run_ids", expected="ids of runs or models of the corpus")
    means = rows[wanted].groupby("key", sort=True)["right"].mean()
    return {str(key): float(value) for key, value in means.items()}


def _known(names: Iterable[str], column: pd.Series[Any], what: str) -> list[str]:
    held = set(column)
    for name in (wanted := list(names)):
        if name not in held:
            raise InputError(f"the corpus has no {what} {name!r}{closest(name, held)}", field=what)
    return wanted


def pareto_front(costs: Sequence[float], values: Sequence[float]) -> list[bool]:
    """Tell which options nobody beats: none costs as little and is worth more, or costs less and is worth as much.

    Examples:
        >>> pareto_front([1.0, 1.3, 1.6], [0.92, 0.97, 0.96])
        [True, True, False]
    """
    options = list(zip(costs, values, strict=True))
    return [
        not any(cost <= own and worth >= value and (cost < own or worth > value) for cost, worth in options)
        for own, value in options
    ]


@dataclass(frozen=True)
class _Routed:
    present: Array
    order: NDArray[np.intp]
    answers: Array | None
    bootstrap: Bootstrap

    def step(self, alpha: float, accuracy: float, spread: float, cost: float, *, legacy: bool) -> EscalationStep:
        n, escalated = len(self.present), n_escalated(alpha, len(self.present))
        tail = self.order[:escalated]
        base = float(self.present.mean())
        unrouted = (1 - alpha) * base + alpha * accuracy
        if legacy:
            low, high = ((1 - alpha) * base + alpha * (accuracy + change) for change in (-spread, spread))
            estimate = Estimate(unrouted, None, None, "none", n)
            return EscalationStep(alpha, escalated, (1 - alpha) + cost * alpha, estimate, low, high, unrouted)
        share = escalated / n
        of_tail = None if self.answers is None else self.answers[tail]
        return EscalationStep(
            alpha=alpha,
            n_escalated=escalated,
            cost=(1 - share) + cost * share,
            accuracy=self._routed(tail, np.full(escalated, accuracy)),
            low=float(self._mean(tail, max(0.0, accuracy - spread))),
            high=float(self._mean(tail, min(1.0, accuracy + spread))),
            unrouted=unrouted,
            measured=None if of_tail is None else self._routed(tail, of_tail),
            tail=float(self.present[tail].mean()) if escalated else None,
            stronger_tail=None if of_tail is None or np.isnan(of_tail).all() else float(np.nanmean(of_tail)),
        )

    def _values(self, tail: NDArray[np.intp], answers: Array) -> Array:
        values = self.present.copy()
        values[tail] = np.where(np.isnan(answers), values[tail], answers)
        return values

    def _routed(self, tail: NDArray[np.intp], answers: Array) -> Estimate:
        return self.bootstrap.mean(self._values(tail, answers))

    def _mean(self, tail: NDArray[np.intp], accuracy: float) -> float:
        return float(self._values(tail, np.full(len(tail), accuracy)).mean())


def _with_fronts(steps: Sequence[EscalationStep]) -> tuple[EscalationStep, ...]:
    from dataclasses import replace

    costs = [step.cost for step in steps]
    assumed = pareto_front(costs, [step.accuracy.value or 0.0 for step in steps])
    measured: Sequence[bool | None] = [None] * len(steps)
    if all(step.measured for step in steps):
        measured = pareto_front(costs, [(step.measured and step.measured.value) or 0.0 for step in steps])
    return tuple(
        replace(step, on_front=by_assumed, measured_on_front=by_measured)
        for step, by_assumed, by_measured in zip(steps, assumed, measured, strict=True)
    )


def _ranking(votes: Votes, confidences: Array, order: NDArray[np.intp]) -> pd.DataFrame:
    import pandas as pd

    columns = (np.array(votes.documents, dtype=object)[order], confidences[order], votes.expected_shares[order])
    return pd.DataFrame(dict(zip(CANDIDATE_COLUMNS, columns, strict=True)))
