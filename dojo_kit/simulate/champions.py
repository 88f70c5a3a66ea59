"""Which prompt version to keep: the champion among versions of one model, its equals, and how many documents show it.

Versions are compared on the documents that all of them saw. Counting wins on whatever two versions happen to share, as
published, rewards those that overlapped weak early versions.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from dojo_kit.errors import InputError, closest
from dojo_kit.settings import Settings, resolve
from dojo_kit.simulate.ablation import (
    MIN_SHARED,
    band_without,
    natural_order,
    outcomes,
    published_outcomes,
    rerun_groups,
    shared_documents,
)
from dojo_kit.simulate.corpus import Corpus
from dojo_kit.simulate.distributions import published_deltas
from dojo_kit.simulate.votes import task_votes
from dojo_kit.stats.compare import Band, Delta, paired_delta
from dojo_kit.stats.intervals import Bootstrap, Estimate
from dojo_kit.tasks.table import task_kind

if TYPE_CHECKING:
    import pandas as pd

FRACTIONS = (0.25, 0.5, 0.75, 1.0)
"""Shares of the documents of a sweep unless others are asked for."""

PUBLISHED_P_WIN = 0.9


@dataclass(frozen=True, slots=True)
class Version:
    """A prompt version among its rivals.

    Attributes:
        prompt: Its name.
        accuracy: Accuracy on the documents that every version saw; on its own documents when legacy.
        wins: Versions it is shown to beat.
        losses: Versions that are shown to beat it.
    """

    prompt: str
    accuracy: Estimate
    wins: tuple[str, ...]
    losses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sweep:
    """The same question asked of a part of the documents.

    Attributes:
        fraction: Share of the documents.
        n: Documents.
        champion: The version with the most wins; None on a plateau, where nothing is shown to beat anything.
        co_champions: Versions that are not shown to be worse.
        widest: The pair with the largest difference, the worse one first, with the difference and its interval.
        same_as_all: Whether all documents name the same champion; None when either is a plateau.
    """

    fraction: float
    n: int
    champion: str | None
    co_champions: tuple[str, ...]
    widest: tuple[str, str, float, float, float] | None
    same_as_all: bool | None


@dataclass(frozen=True, eq=False)
class Champion:
    """The outcome of a contest among versions.

    Attributes:
        task: Key of the task.
        model: The model.
        versions: The versions, the most wins first, then the most accurate.
        champion: The first of them; None on a plateau.
        co_champions: Versions that are not shown to be worse than it, itself among them; on a plateau all that nothing
            beats.
        n: Documents compared.
        left_out: Versions that saw too few documents with the others.
        sweep: The same for parts of the documents, the smallest first.
        legacy: Whether wins were counted as published.
    """

    task: str
    model: str
    versions: tuple[Version, ...]
    champion: str | None
    co_champions: tuple[str, ...]
    n: int
    left_out: tuple[str, ...] = ()
    sweep: tuple[Sweep, ...] = field(default=(), repr=False)
    legacy: bool = False

    @property
    def plateau(self) -> bool:
        """Whether no version is shown to beat another."""
        return self.champion is None

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready values."""
        versions = [
            {"prompt": v.prompt, "accuracy": v.accuracy.as_dict(), "wins": list(v.wins), "losses": list(v.losses)}
            for v in self.versions
        ]
        sweep = [{name: getattr(part, name) for name in part.__slots__} for part in self.sweep]
        return {
            "task": self.task,
            "model": self.model,
            "champion": self.champion,
            "plateau": self.plateau,
            "co_champions": list(self.co_champions),
            "documents": self.n,
            "left_out": list(self.left_out),
            "versions": versions,
            "sweep": sweep,
            "legacy": self.legacy,
        }


Cells = Mapping[str, "pd.Series[Any]"]
"""Prompt -> share of right answers by document key."""


def champion(
    corpus: Corpus,
    task: str,
    *,
    model: str | None = None,
    min_shared: int | None = None,
    fractions: Sequence[float] = FRACTIONS,
    legacy: bool | None = None,
    settings: Settings | None = None,
) -> Champion:
    """Find the best prompt version of a model.

    A version beats another when the paired interval excludes 0, the test agrees, and the difference exceeds the rerun
    noise of the model where that is known.

    Args:
        corpus: The corpus.
        task: Task key.
        model: The model; by default the one with the most versions.
        min_shared: Documents that all versions must share; by default half as many as the version with the most has,
            at least 20. The version with the fewest documents is left out until they do. When legacy, documents two
            versions must share, 20 by default.
        fractions: Shares of the documents to repeat the contest on.
        legacy: Count wins as published; as the corpus was read by default.
        settings: Seed, replicates and level; the current settings by default.

    Raises:
        InputError: The task or model has no votes, or no two versions share enough documents.
    """
    as_published = corpus.legacy if legacy is None else legacy
    statistics = resolve(settings).statistics
    bootstrap = Bootstrap(statistics.n_resamples, statistics.seed, statistics.confidence)
    of_model = published_outcomes(corpus, task) if as_published else outcomes(task_votes(corpus, task)[0])
    chosen = _model(of_model, model)
    cells = {prompt: cell for (name, prompt), cell in of_model.items() if name == chosen}
    contest: _Contest
    left_out: tuple[str, ...] = ()
    if as_published:
        contest = _PublishedContest(cells, bootstrap, min_shared or MIN_SHARED, chosen)
    else:
        shared = min_shared or max(MIN_SHARED, max(map(len, cells.values())) // 2)
        cells, left_out = _on_shared(cells, shared)
        contest = _Contest(cells, bootstrap, shared, chosen, rerun_groups(corpus, task))
    whole = contest.decide(contest.documents)
    return Champion(
        task=task_kind(task),
        model=chosen,
        versions=whole.versions,
        champion=whole.champion,
        co_champions=whole.co_champions,
        n=len(contest.documents),
        left_out=left_out,
        sweep=tuple(_sweep(contest, whole, fractions)),
        legacy=as_published,
    )


def _model(found: Mapping[tuple[str, str], Any], model: str | None) -> str:
    if not found:
        raise InputError("no votes to compare prompts by", field="runs", expected="runs with answers")
    counts: dict[str, int] = {}
    for name, _ in found:
        counts[name] = counts.get(name, 0) + 1
    if model is None:
        return max(counts, key=lambda name: counts[name])
    if model not in counts:
        raise InputError(f"no votes of model {model!r}{closest(model, counts)}", field="model")
    return model


def _on_shared(cells: Cells, min_shared: int) -> tuple[dict[str, pd.Series[Any]], tuple[str, ...]]:
    """Restrict versions to the documents all of them saw, leaving out the smallest while these are too few."""
    kept = sorted(cells, key=lambda prompt: (-len(cells[prompt]), natural_order(prompt)))
    left_out: list[str] = []
    while len(kept) > 1:
        shared = cells[kept[0]].index
        for prompt in kept[1:]:
            shared = shared.intersection(cells[prompt].index)
        if len(shared) >= min_shared:
            names = sorted(kept, key=natural_order)
            return {name: cells[name].loc[shared.sort_values()] for name in names}, tuple(reversed(left_out))
        left_out.append(kept.pop())
    raise InputError(f"no two versions share {min_shared} documents", field="min_shared", expected="a smaller number")


@dataclass(frozen=True)
class _Decision:
    versions: tuple[Version, ...]
    champion: str | None
    co_champions: tuple[str, ...]
    widest: tuple[str, str, float, float, float] | None


@dataclass(frozen=True)
class _Contest:
    cells: Cells
    bootstrap: Bootstrap
    min_shared: int
    model: str
    bands: Mapping[tuple[str, str], list[list[float]]] = field(default_factory=dict)

    @property
    def documents(self) -> list[str]:
        return list(next(iter(self.cells.values())).index)

    def sample(self, fraction: float) -> list[str]:
        """Return the first documents of one random order, so that larger samples hold the smaller ones."""
        documents = self.documents
        order = np.random.default_rng(self.bootstrap.seed).permutation(len(documents))
        return sorted(documents[index] for index in order[: max(1, round(len(documents) * fraction))])

    def decide(self, documents: list[str]) -> _Decision:
        deltas = {}
        for a, b in combinations(self.cells, 2):
            delta = paired_delta(self.cells[a][documents], self.cells[b][documents], bootstrap=self.bootstrap)
            deltas[a, b] = (delta, band_without(self.bands, self.model, (a, b)))
        beaten = [pair for (a, b), found in deltas.items() if (pair := _beaten(a, b, *found)) is not None]
        accuracies = {name: self.bootstrap.mean(cell[documents]) for name, cell in self.cells.items()}
        widths = [(a, b, d.value or 0.0, d.lo or 0.0, d.hi or 0.0) for (a, b), (d, _) in deltas.items()]
        return _decided(accuracies, beaten, widths)


def _beaten(a: str, b: str, delta: Delta, band: Band) -> tuple[str, str] | None:
    """Return winner and loser; None when neither is shown to be better."""
    value = delta.value or 0.0
    if not delta.excluded or (band.value is not None and abs(value) <= band.value):
        return None
    return (b, a) if value > 0 else (a, b)


class _PublishedContest(_Contest):
    """Wins on whatever two versions share; documents are drawn as published."""

    @property
    def documents(self) -> list[str]:
        return sorted(set().union(*(cell.index for cell in self.cells.values())))

    def sample(self, fraction: float) -> list[str]:
        documents = self.documents
        return random.Random(self.bootstrap.seed).sample(documents, max(1, round(len(documents) * fraction)))

    def decide(self, documents: list[str]) -> _Decision:
        kept = set(documents)
        cells = {name: cell[cell.index.isin(kept)] for name, cell in self.cells.items()}
        found = {}
        for a, b in combinations(cells, 2):
            arms = shared_documents(cells[a], cells[b])
            if len(arms) >= self.min_shared:
                seed, n_boot = self.bootstrap.seed, self.bootstrap.n_resamples
                found[a, b], found[b, a] = published_deltas(arms["a"] - arms["b"], seed=seed, n_boot=n_boot)
        ordered = [pair for pair in permutations(cells, 2) if pair in found]
        widths = [(*pair, found[pair].mean, found[pair].lo, found[pair].hi) for pair in ordered]
        beaten = [pair for pair in ordered if found[pair].lo > 0 and found[pair].p_win >= PUBLISHED_P_WIN]
        means = {
            name: Estimate(float(cell.mean()) if len(cell) else None, None, None, "none", len(cell))
            for name, cell in cells.items()
        }
        return _decided(means, beaten, widths)


def _decided(
    accuracies: Mapping[str, Estimate],
    beaten: Sequence[tuple[str, str]],
    widths: Sequence[tuple[str, str, float, float, float]],
) -> _Decision:
    versions = [
        Version(
            name,
            accuracy,
            tuple(loser for winner, loser in beaten if winner == name),
            tuple(winner for winner, loser in beaten if loser == name),
        )
        for name, accuracy in accuracies.items()
    ]
    versions.sort(key=lambda version: (-len(version.wins), -(version.accuracy.value or 0.0)))
    first = versions[0]
    found = first.prompt if first.wins else None
    equals = (v.prompt for v in versions if not (first.prompt in v.losses if found else v.losses))
    widest = max(widths, key=lambda pair: abs(pair[2]), default=None)
    return _Decision(tuple(versions), found, tuple(equals), widest)


def _sweep(contest: _Contest, whole: _Decision, fractions: Sequence[float]) -> Iterator[Sweep]:
    for fraction in sorted(fractions):
        documents = contest.documents if fraction == 1 else contest.sample(fraction)
        found = whole if fraction == 1 else contest.decide(documents)
        both = found.champion is not None and whole.champion is not None
        same = found.champion == whole.champion if both else None
        yield Sweep(fraction, len(documents), found.champion, found.co_champions, found.widest, same)
