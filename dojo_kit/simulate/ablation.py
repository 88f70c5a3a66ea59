"""Which prompt is better, from runs that share documents: paired by document, reruns averaged, many tests admitted.

Prompts are compared within one model. A cell is one model, prompt and document: the share of its runs that are right.
Differences are B - A, A being the earlier name, so positive means B is better.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

from dojo_kit.errors import InputError, closest
from dojo_kit.settings import Settings, resolve
from dojo_kit.simulate.corpus import Corpus
from dojo_kit.simulate.distributions import PublishedDelta, published_deltas
from dojo_kit.simulate.votes import task_votes
from dojo_kit.stats.compare import Band, Delta, Verdict, holm, noise_band, paired_delta, verdict
from dojo_kit.stats.intervals import Bootstrap
from dojo_kit.tasks.table import task_kind

if TYPE_CHECKING:
    import pandas as pd

MIN_SHARED = 20
"""Shared documents below which two prompts are not compared."""

MIN_OF_CLASS = 5
"""Shared documents of a class below which it is not compared."""

PAIR_COLUMNS = (
    *("model", "a", "b", "n", "accuracy_a", "accuracy_b", "delta", "lo", "hi", "p", "p_holm", "p_method"),
    *("p_win", "p_tie", "p_loss", "n_runs_a", "n_runs_b", "band", "verdict"),
)
"""Columns of `Ablation.table`."""

PUBLISHED_COLUMNS = (
    "model",
    "a",
    "b",
    "n",
    "accuracy_a",
    "accuracy_b",
    "delta",
    "lo",
    "hi",
    "p_win",
    "p_tie",
    "p_loss",
)
"""Columns of `published_ablation`; ``delta`` is A - B there."""

Outcomes = Mapping[tuple[str, str], "pd.Series[Any]"]
"""(model, prompt) -> share of right answers by document key, sorted by key."""


@dataclass(frozen=True, slots=True)
class PromptPair:
    """Two prompts of one model on the documents both answered.

    Attributes:
        model: The model.
        a: One prompt.
        b: The other; natural order of names.
        accuracy_a: Accuracy of A on the shared documents.
        accuracy_b: The same of B.
        delta: The difference B - A.
        p_holm: Its p-value, adjusted for the number of pairs.
        n_runs: Runs behind A and behind B.
        band: Rerun noise of the model, from prompts other than these two.
        verdict: What can be said, after adjustment, beside rerun noise.
        reason: Why.
    """

    model: str
    a: str
    b: str
    accuracy_a: float
    accuracy_b: float
    delta: Delta
    p_holm: float | None
    n_runs: tuple[int, int]
    band: Band
    verdict: Verdict
    reason: str

    def row(self) -> dict[str, Any]:
        """Return the pair as a row of `Ablation.table`."""
        delta = self.delta
        values = (
            *(self.model, self.a, self.b, delta.n, self.accuracy_a, self.accuracy_b, delta.value, delta.lo, delta.hi),
            *(delta.p, self.p_holm, delta.p_method, delta.p_win, delta.p_tie, delta.p_loss),
            *(*self.n_runs, self.band.value, self.verdict),
        )
        return dict(zip(PAIR_COLUMNS, values, strict=True))


@dataclass(frozen=True, eq=False)
class Ablation:
    """Every pair of prompts of a task that shares enough documents.

    Attributes:
        task: Key of the task.
        pairs: The pairs, the largest difference first.
        outcomes: What they were compared on.
        classes: Document key -> expected label.
        settings: Seed, replicates and level.
    """

    task: str
    pairs: tuple[PromptPair, ...]
    outcomes: Outcomes = field(repr=False)
    classes: Mapping[str, str] = field(repr=False)
    settings: Settings = field(repr=False)

    @property
    def table(self) -> pd.DataFrame:
        """One row per pair, columns `PAIR_COLUMNS`."""
        import pandas as pd

        return pd.DataFrame([pair.row() for pair in self.pairs], columns=list(PAIR_COLUMNS))

    def pair(self, a: str, b: str, *, model: str | None = None) -> PromptPair:
        """Return one pair, whichever way round it is named.

        Raises:
            InputError: These prompts were not compared, or by several models and none is named.
        """
        found = [p for p in self.pairs if {p.a, p.b} == {a, b} and model in (None, p.model)]
        if len(found) == 1:
            return found[0]
        if found:
            raise InputError("compared by several models", field="model", expected=", ".join(p.model for p in found))
        known = dict.fromkeys(name for p in self.pairs for name in (p.a, p.b))
        unknown = next((name for name in (a, b) if name not in known), a)
        raise InputError(f"{a!r} and {b!r} were not compared{closest(unknown, known)}", field="prompt")

    def by_class(self, pair: PromptPair, *, min_documents: int = MIN_OF_CLASS) -> pd.DataFrame:
        """Compare two prompts class by class.

        Args:
            pair: One of the pairs.
            min_documents: Shared documents a class needs.

        Returns:
            Columns ``label``, ``n``, ``accuracy_a``, ``accuracy_b``, ``delta``, ``lo``, ``hi``, ``p``, ``p_holm``,
            the largest gain of B first.
        """
        import pandas as pd

        arms = shared_documents(self.outcomes[pair.model, pair.a], self.outcomes[pair.model, pair.b])
        labels = arms.index.map(self.classes)
        rows = []
        for label, group in arms.groupby(labels, sort=True):
            if len(group) < min_documents:
                continue
            delta = paired_delta(group["a"], group["b"], bootstrap=_bootstrap(self.settings))
            accuracies = (float(group["a"].mean()), float(group["b"].mean()))
            rows.append((label, len(group), *accuracies, delta.value, delta.lo, delta.hi, delta.p))
        names = ["label", "n", "accuracy_a", "accuracy_b", "delta", "lo", "hi", "p"]
        table = pd.DataFrame(rows, columns=names).astype({"p": float})
        table["p_holm"] = holm(table["p"])
        return table.sort_values("delta", ascending=False, kind="stable", ignore_index=True)

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready values."""
        rows = [
            {
                name: None if isinstance(value, float) and math.isnan(value) else value
                for name, value in pair.row().items()
            }
            for pair in self.pairs
        ]
        return {"task": self.task, "comparisons": len(rows), "pairs": rows}


def ablate(
    corpus: Corpus,
    task: str,
    *,
    min_shared: int = MIN_SHARED,
    model: str | None = None,
    settings: Settings | None = None,
) -> Ablation:
    """Compare every two prompts of one model that share documents.

    Args:
        corpus: The corpus. Failed calls, replays and rows without a known truth take no part; an answer that is none of
            the labels is wrong.
        task: Task key.
        min_shared: Documents two prompts must share.
        model: Only this model's prompts.
        settings: Seed, replicates and level; the current settings by default.

    Raises:
        InputError: The corpus has no votes of the task, or the model has none.
    """
    given = resolve(settings)
    rows, _ = task_votes(corpus, task)
    if rows.empty:
        raise InputError(f"no votes of task {task!r}", field="runs", expected="runs with answers")
    if model is not None:
        known = rows["model"].unique().tolist()
        if model not in known:
            raise InputError(f"no votes of model {model!r}{closest(model, known)}", field="model")
        rows = rows[rows["model"] == model]
    found = outcomes(rows)
    classes = dict(zip(rows["key"], rows["expected"], strict=True))
    counted: Iterable[Any] = rows.groupby(["model", "prompt"])["run_id"].nunique().items()
    runs = {(str(name), str(prompt)): int(n) for (name, prompt), n in counted}
    bands = rerun_groups(corpus, task, min_shared=min_shared)
    compared = list(_compared(found, runs, bands, min_shared, _bootstrap(given)))
    return Ablation(task_kind(task), _judged(compared), found, classes, given)


def outcomes(rows: pd.DataFrame) -> dict[tuple[str, str], pd.Series[Any]]:
    """Average the reruns of every model, prompt and document.

    Args:
        rows: Votes, see `dojo_kit.simulate.votes.task_votes`.
    """
    cells = rows.groupby(["model", "prompt", "key"], sort=True)["right"].mean()
    groups: Iterable[Any] = cells.groupby(level=["model", "prompt"], sort=True)
    return {(str(model), str(prompt)): cell.droplevel(["model", "prompt"]) for (model, prompt), cell in groups}


def rerun_groups(
    corpus: Corpus, task: str, *, min_shared: int = MIN_SHARED
) -> dict[tuple[str, str], list[list[float]]]:
    """Return the accuracies of runs that were made alike, for `dojo_kit.stats.compare.noise_band`.

    Alike are runs of one model and prompt with the same settings over the same documents; accuracies are over the
    documents that every run of a group answered.

    Args:
        corpus: The corpus.
        task: Task key.
        min_shared: Documents a group must share.

    Returns:
        (model, prompt) -> groups of accuracies.
    """
    surfaces = corpus.of_task(task).groupby("run_id", sort=False, observed=True)["document"].agg(frozenset)
    rows, _ = task_votes(corpus, task)
    numbers = {documents: number for number, documents in enumerate(dict.fromkeys(surfaces))}
    surface = rows["run_id"].map({run_id: numbers[documents] for run_id, documents in surfaces.items()})
    groups: dict[tuple[str, str], list[list[float]]] = {}
    alike: Iterable[Any] = rows.groupby(["model", "prompt", "settings", surface.rename("surface")])
    for (model, prompt, _, _), group in alike:
        of_runs = group.pivot_table(index="key", columns="run_id", values="right", aggfunc="mean").dropna()
        if of_runs.shape[1] > 1 and len(of_runs) >= min_shared:
            groups.setdefault((str(model), str(prompt)), []).append([float(value) for value in of_runs.mean()])
    return groups


def band_without(groups: Mapping[tuple[str, str], list[list[float]]], model: str, prompts: Collection[str]) -> Band:
    """Return a model's band of rerun noise, from reruns of other prompts than those compared."""
    kept = [g for (of, prompt), found in groups.items() if of == model and prompt not in prompts for g in found]
    return noise_band(kept)


def natural_order(name: str) -> list[Any]:
    """Return a sort key that puts ``v9`` before ``v10``.

    Examples:
        >>> sorted(["sorter_v10", "sorter_v9"], key=natural_order)
        ['sorter_v9', 'sorter_v10']
    """
    return [(part.isdecimal(), int(part) if part.isdecimal() else part) for part in re.split(r"(\d+)", name) if part]


def _bootstrap(settings: Settings) -> Bootstrap:
    statistics = settings.statistics
    return Bootstrap(statistics.n_resamples, statistics.seed, statistics.confidence)


def shared_documents(a: pd.Series[Any], b: pd.Series[Any]) -> pd.DataFrame:
    """Return two prompts' outcomes on the documents both answered, columns ``a`` and ``b``, sorted by key."""
    import pandas as pd

    return pd.concat({"a": a, "b": b}, axis=1, join="inner").astype(float).sort_index()


def _compared(
    found: Outcomes,
    runs: Mapping[tuple[str, str], int],
    bands: Mapping[Any, Any],
    min_shared: int,
    bootstrap: Bootstrap,
) -> Iterator[PromptPair]:
    for model in dict.fromkeys(model for model, _ in found):
        prompts = sorted((prompt for of, prompt in found if of == model), key=natural_order)
        for a, b in combinations(prompts, 2):
            arms = shared_documents(found[model, a], found[model, b])
            if len(arms) < min_shared:
                continue
            delta = paired_delta(arms["a"], arms["b"], bootstrap=bootstrap)
            accuracies = (float(arms["a"].mean()), float(arms["b"].mean()))
            n_runs = (runs[model, a], runs[model, b])
            band = band_without(bands, model, (a, b))
            yield PromptPair(model, a, b, *accuracies, delta, None, n_runs, band, "inconclusive", "")


def _judged(compared: Sequence[PromptPair]) -> tuple[PromptPair, ...]:
    """Adjust p-values for the number of pairs and say what each pair means."""
    adjusted = holm([math.nan if pair.delta.p is None else pair.delta.p for pair in compared])
    judged = []
    for pair, p in zip(compared, adjusted, strict=True):
        p_holm = None if math.isnan(p) else float(p)
        word, reason = verdict(replace(pair.delta, p=p_holm), pair.band)
        judged.append(replace(pair, p_holm=p_holm, verdict=word, reason=reason))
    return tuple(sorted(judged, key=lambda pair: -abs(pair.delta.value or 0.0)))


def published_ablation(
    corpus: Corpus,
    task: str,
    *,
    min_shared: int = MIN_SHARED,
    model: str | None = None,
    settings: Settings | None = None,
) -> pd.DataFrame:
    """Compare every ordered pair of prompts as published.

    A later run of a cell overwrites an earlier one, answers that are none of the labels are left out, and a difference
    is A - B.

    Args:
        corpus: A legacy corpus.
        task: Task key.
        min_shared: Documents two prompts must share.
        model: Only this model's prompts.
        settings: Seed and replicates; the current settings by default.

    Returns:
        Columns `PUBLISHED_COLUMNS`, the largest difference first.
    """
    import pandas as pd

    statistics = resolve(settings).statistics
    found = published_outcomes(corpus, task, model=model)
    rows = []
    for a, b in combinations(found, 2):
        if a[0] != b[0] or len(arms := shared_documents(found[a], found[b])) < min_shared:
            continue
        forth, back = published_deltas(arms["a"] - arms["b"], seed=statistics.seed, n_boot=statistics.n_resamples)
        accuracies = (float(arms["a"].mean()), float(arms["b"].mean()))
        rows.append(_published_row(a[0], a[1], b[1], accuracies, forth))
        rows.append(_published_row(a[0], b[1], a[1], accuracies[::-1], back))
    table = pd.DataFrame(rows, columns=list(PUBLISHED_COLUMNS))
    order = table["delta"].abs().sort_values(ascending=False, kind="stable").index
    return table.loc[order].reset_index(drop=True)


def published_outcomes(corpus: Corpus, task: str, *, model: str | None = None) -> dict[tuple[str, str], pd.Series[Any]]:
    """Return whether each cell is right, the last run of a cell deciding; prompts in the order they first ran in."""
    rows, _ = task_votes(corpus, task)
    rows = rows[~rows["unknown"]]
    if model is not None:
        rows = rows[rows["model"] == model]
    found = outcomes(rows.drop_duplicates(["model", "prompt", "key"], keep="last"))
    first_ran = dict.fromkeys(zip(rows["model"], rows["prompt"], strict=True))
    return {key: found[key] for key in first_ran}


def _published_row(model: str, a: str, b: str, accuracies: tuple[float, ...], delta: PublishedDelta) -> tuple[Any, ...]:
    return (model, a, b, delta.n, *accuracies, delta.mean, delta.lo, delta.hi, delta.p_win, delta.p_tie, delta.p_loss)
