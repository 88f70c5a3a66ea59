"""The noise floor: how far reruns lie apart, for every metric, and which documents change their answer."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dojo_kit.analysis.measured import Measurable, Measured
from dojo_kit.analysis.measured.values import no_metric
from dojo_kit.analysis.noise.reruns import Progress, RerunGroup, Reruns, find_reruns
from dojo_kit.analysis.pairing import bootstrap_for, paired_metric
from dojo_kit.settings import Settings
from dojo_kit.stats.compare import Band, noise_band

if TYPE_CHECKING:
    import pandas as pd

Pool = Literal["", "surfaces"]

GROUP_COLUMNS = (
    "group",
    "task",
    "model",
    "prompt_version",
    "surface",
    "n_documents",
    "n_shared",
    "headline",
    "identity",
    "recipe",
    "notes",
)
"""Columns of `NoiseFloor.groups`.

``n_shared`` counts documents that every run of the group answered; ``recipe`` is how they were measured, `BAND_RECIPE`.
"""

BAND_RECIPE = ("spans", "scorer_version", "embedder", "settings", "grounding")
"""Parts of the recipe in which a comparison must agree with the reruns whose band it is held against."""

MEAN_COLUMNS = ("group", "metric", "run", "digest", "n", "value")
"""Columns of `NoiseFloor.means`: a metric of one run over the documents where every run of its group has it."""

PAIR_COLUMNS = (
    "group",
    "task",
    "model",
    "prompt_version",
    "surface",
    "metric",
    "run_a",
    "run_b",
    "digest_a",
    "digest_b",
    "n",
    "delta",
    "lo",
    "hi",
    "p",
    "n_better",
    "n_worse",
    "n_flips",
    "flipped",
)
"""Columns of `NoiseFloor.pairs`.

``delta`` is the later run less the earlier one over the documents both answered, signed so that positive is better,
with its paired interval and p. ``n_better`` and ``n_worse`` count documents in which the metric changes, ``flipped``
names those whose label changes; ``n_flips`` is missing when the task has no labels.
"""

FLIP_COLUMNS = ("group", "document", "expected", "run", "predicted")
"""Columns of `NoiseFloor.answers`."""

_HASH_SHOWN = 24
_ANSWERED = "scored"
_FIRST_LEVEL = "doc_type"
"""Metrics of this name look at the first of two levels of labels."""


@dataclass(frozen=True, eq=False, repr=False)
class NoiseFloor:
    """How far reruns lie apart.

    Attributes:
        groups: Groups of reruns, columns `GROUP_COLUMNS`.
        means: What bands are computed from, columns `MEAN_COLUMNS`.
        pairs: Pairs of reruns, one row per metric, columns `PAIR_COLUMNS`.
        answers: Answers of every run in documents where the runs of a group disagree, columns `FLIP_COLUMNS`.
        excluded: Pairs that look like reruns and are none, see `dojo_kit.analysis.noise.reruns.Reruns`.
        n_runs: Runs looked at.
        source: File it was read from; empty when it was computed here.
    """

    groups: pd.DataFrame
    means: pd.DataFrame
    pairs: pd.DataFrame
    answers: pd.DataFrame
    excluded: pd.DataFrame
    n_runs: int
    source: str = ""

    def band(
        self,
        metric: str,
        *,
        task: str,
        model: str,
        surface: str = "",
        without: Collection[str] = (),
        recipe: Mapping[str, str | None] | None = None,
        pool: Pool = "",
    ) -> Band:
        """Return how far apart two runs with the same settings must be expected.

        All prompts of the task and model on these documents count. With fewer than 3 pairs the band is unknown, and
        the differences stand in it.

        Args:
            metric: The metric.
            task: Task of the runs, as they name it.
            model: Their model.
            surface: Fingerprint of their set of documents.
            without: Digests of the runs under comparison; a pair with one of them does not count.
            recipe: How the runs under comparison were measured; reruns that were measured otherwise do not count.
            pool: ``surfaces`` to let reruns on other documents count as well.

        Raises:
            ValueError: ``pool`` is something else.
        """
        if pool not in ("", "surfaces"):
            raise ValueError(f"pool is {pool!r}, expected '' or 'surfaces'")
        groups = self.groups[(self.groups["task"] == task) & (self.groups["model"] == model)]
        if not pool:
            groups = groups[groups["surface"] == surface]
        groups, other = _measured_alike(groups, recipe)
        if other and not len(groups):
            return Band(None, None, 0, reason=other)
        means = self.means[(self.means["metric"] == metric) & self.means["group"].isin(groups["group"])]
        mine = means["digest"].isin(list(without))
        values = [group["value"].to_numpy(dtype=float) for _, group in means[~mine].groupby("group", sort=True)]
        band = noise_band(values)
        where = "on any documents" if pool else "on these documents"
        reason = band.reason if band.m or not band.reason else f"no reruns of {model or 'this model'} {where}"
        if reason and mine.any():
            reason += "; reruns of the runs under comparison do not count"
        if reason and other:
            reason += f"; {other}"
        return replace(band, reason=reason)

    def bands(self, metrics: Collection[str] | None = None, *, pool: Pool = "") -> pd.DataFrame:
        """Return every band, one row per task, model, set of documents, way of measuring and metric.

        Args:
            metrics: Only these; all by default.
            pool: ``surfaces`` to pool the sets of documents of a task and model.

        Returns:
            Columns ``task``, ``model``, ``surface`` (empty when pooled), ``metric``, ``n_groups``, ``m``, ``rms``,
            ``band``, ``deltas`` and ``reason``.
        """
        import pandas as pd

        keys = ["task", "model"] if pool else ["task", "model", "surface"]
        recipes = self.groups["recipe"].map(_recipe_key)
        columns = self.groups[["group", "task", "model", "surface"]].assign(recipe=recipes)
        joined = self.means.merge(columns, on="group")
        if metrics is not None:
            joined = joined[joined["metric"].isin(list(metrics))]
        rows = []
        groups: Iterable[tuple[Any, pd.DataFrame]] = joined.groupby([*keys, "recipe", "metric"], sort=False)
        for key, found in groups:
            task, model, surface, recipe, metric = key if not pool else (*key[:2], "", *key[2:])
            measured = dict(zip(BAND_RECIPE, recipe, strict=True))
            band = self.band(metric, task=task, model=model, surface=surface, recipe=measured, pool=pool)
            n_groups = found["group"].nunique()
            rows.append(
                (task, model, surface, metric, n_groups, band.m, band.rms, band.value, band.deltas, band.reason)
            )
        names = ["task", "model", "surface", "metric", "n_groups", "m", "rms", "band", "deltas", "reason"]
        return pd.DataFrame(rows, columns=names).astype({"rms": float, "band": float})

    def flips(self, group: int) -> pd.DataFrame:
        """Return the documents in which the runs of a group disagree.

        Args:
            group: Number of the group.

        Returns:
            ``document``, ``expected``, one column per run with its answer, and ``n_right``, the runs that are right.
        """
        import pandas as pd

        found = self.answers[self.answers["group"] == group]
        runs = list(dict.fromkeys(found["run"]))
        rows = []
        for document, answers in found.groupby("document", sort=False):
            expected = answers["expected"].iloc[0]
            said = dict(zip(answers["run"], answers["predicted"], strict=True))
            n_right = sum(answer == expected for answer in said.values() if expected is not None)
            rows.append([document, expected, *(said.get(run) for run in runs), n_right])
        return pd.DataFrame(rows, columns=["document", "expected", *runs, "n_right"])

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready values; `dojo_kit.analysis.noise.noise_from_dict` reads them."""
        from dojo_kit.analysis.noise.tables import noise_as_dict

        return noise_as_dict(self)

    def __len__(self) -> int:
        return len(self.groups)

    def __repr__(self) -> str:
        n_pairs = len(self.pairs.drop_duplicates(["group", "run_a", "run_b"]))
        return f"NoiseFloor({n_pairs} pairs of reruns in {len(self.groups)} groups, {self.n_runs} runs)"


def _recipe_key(recipe: Mapping[str, str | None]) -> tuple[str | None, ...]:
    return tuple(recipe.get(name) for name in BAND_RECIPE)


def _measured_alike(groups: pd.DataFrame, recipe: Mapping[str, str | None] | None) -> tuple[pd.DataFrame, str]:
    """Return the groups that were measured in one way, and say what is otherwise in the rest."""
    keys = groups["recipe"].map(_recipe_key)
    if recipe is None:
        return (groups, "") if keys.nunique() < 2 else (groups[:0], "the reruns were measured in several ways")
    wanted = _recipe_key(recipe)
    fits = keys.map(lambda key: key == wanted).astype(bool)
    if fits.all():
        return groups, ""
    return groups[fits], f"reruns were measured in another way: {_differs(keys[~fits].iloc[0], wanted)}"


def _differs(theirs: Sequence[str | None], mine: Sequence[str | None]) -> str:
    """Name the parts of two recipes that differ; of scores by different scorers the scorers alone."""
    parts = {
        name.removesuffix("_version"): tuple("unknown" if value is None else value[:_HASH_SHOWN] for value in values)
        for name, *values in zip(BAND_RECIPE, theirs, mine, strict=True)
        if values[0] != values[1]
    }
    named = {"scorer": parts["scorer"]} if "scorer" in parts else parts
    return "; ".join(f"{name} {one}, here {other}" for name, (one, other) in named.items())


def noise_floor(
    runs: Iterable[Measurable] | Reruns,
    *,
    metrics: Sequence[str] | None = None,
    settings: Settings | None = None,
    progress: Progress | None = None,
) -> NoiseFloor:
    """Measure how far reruns lie apart.

    Args:
        runs: Runs or scored runs, or the reruns among them.
        metrics: Only these metrics; by default all of every run.
        settings: Seed, replicates and level of the intervals; the current settings by default.
        progress: Called with runs and groups done, and all of them.

    Returns:
        Pairs, bands and flips; empty tables when there are no reruns.

    Raises:
        InputError: No rerun has one of the metrics.

    Examples:
        >>> from dojo_kit.records import LabelRow, Run, RunMeta, Usage
        >>> def run(day, *answers):
        ...     meta = RunMeta("legalbench", f"day {day}", "m", "v1", timestamp=f"2026-01-0{day}")
        ...     said = enumerate(answers)
        ...     rows = [LabelRow(f"{i}", usage=Usage(9, 1), expected="yes", predicted=answer) for i, answer in said]
        ...     return Run(meta, tuple(rows))
        >>> floor = noise_floor([run(1, "yes", "no", "no", "yes"), run(2, "yes", "no", "yes", "yes")])
        >>> floor.pairs.loc[floor.pairs["metric"] == "exact_match", ["delta", "n", "n_flips"]].values.tolist()
        [[0.25, 4, 1]]
        >>> floor.band("exact_match", task="legalbench", model="m", surface=floor.groups["surface"][0]).reason
        'rerun noise rests on 1 pair, a band needs 3'
    """
    reruns = runs if isinstance(runs, Reruns) else find_reruns(runs, settings=settings, progress=progress)
    for name in metrics or ():
        if name not in reruns.metrics:
            raise no_metric(name, reruns.metrics)
    heads, means, pairs, answers = [], [], [], []
    for number, group in enumerate(reruns.groups, start=1):
        chosen = [name for name in _shared_metrics(group) if metrics is None or name in metrics]
        heads.append(_head(group, number))
        means += [row for name in chosen for row in _means(group, number, name)]
        pairs += list(_pairs(group, number, chosen, settings))
        answers += list(_answers(group, number))
        if progress:
            progress(reruns.n_runs + number, reruns.n_runs + len(reruns.groups))
    return NoiseFloor(
        table_of(heads, GROUP_COLUMNS),
        table_of(means, MEAN_COLUMNS),
        table_of(pairs, PAIR_COLUMNS),
        table_of(answers, FLIP_COLUMNS),
        reruns.excluded,
        reruns.n_runs,
    )


NUMBERS: Mapping[str, str] = {
    **dict.fromkeys(("group", "n", "n_documents", "n_shared", "n_better", "n_worse"), "int64"),
    **dict.fromkeys(("value", "delta", "lo", "hi", "p"), "float64"),
    "n_flips": "Int64",
}
"""Types of the columns that hold numbers; all other columns hold objects."""


def table_of(rows: Sequence[Sequence[Any]], columns: Sequence[str]) -> pd.DataFrame:
    """Make a table whose columns have their types, also when it is empty."""
    import pandas as pd

    frame = pd.DataFrame([list(row) for row in rows], columns=list(columns), dtype=object)
    return frame.astype({name: NUMBERS.get(name, "object") for name in columns})


def _head(group: RerunGroup, number: int) -> tuple[Any, ...]:
    first = group.runs[0]
    n_shared = len(_answered(group.runs))
    place = (group.task, group.model, group.prompt_version, group.surface)
    recipe = {name: first.recipe[name] for name in BAND_RECIPE}
    return (number, *place, len(first), n_shared, first.headline, group.identity, recipe, group.notes)


def _shared_metrics(group: RerunGroup) -> list[str]:
    others = group.runs[1:]
    return [name for name in group.runs[0].metrics if all(name in run.metrics for run in others)]


def _answered(runs: Sequence[Measured]) -> pd.Index[Any]:
    """Return the documents that all of some runs answered."""
    answered = [run.documents.index[run.documents["status"] == _ANSWERED] for run in runs]
    return reduce(lambda one, other: one.intersection(other), answered).sort_values()


def _means(group: RerunGroup, number: int, metric: str) -> Iterator[tuple[Any, ...]]:
    keys = _answered(group.runs)
    tops = np.column_stack([run.numerators.loc[keys, metric].to_numpy(dtype=float) for run in group.runs])
    bottoms = np.column_stack([run.denominators.loc[keys, metric].to_numpy(dtype=float) for run in group.runs])
    defined = ~(np.isnan(tops) | np.isnan(bottoms)).any(axis=1)
    n = int(defined.sum())
    for index, run in enumerate(group.runs):
        total = float(bottoms[defined, index].sum())
        value = float(tops[defined, index].sum()) / total if total > 0 else None
        if value is not None:
            yield number, metric, group.names[index], run.digest, n, value


def _pairs(
    group: RerunGroup, number: int, metrics: Sequence[str], settings: Settings | None
) -> Iterator[tuple[Any, ...]]:
    bootstrap = bootstrap_for(group.runs[0], settings)
    place = (number, group.task, group.model, group.prompt_version, group.surface)
    for i, j in combinations(range(len(group)), 2):
        a, b = group.runs[i], group.runs[j]
        keys = _answered((a, b))
        flips = {first_level: _flipped(a, b, keys, first_level=first_level) for first_level in (False, True)}
        for metric in metrics:
            delta = paired_metric(a, b, a.metrics[metric], bootstrap, keys)
            if delta.value is None:
                continue
            flipped = flips[metric.startswith(_FIRST_LEVEL)]
            n_flips = None if flipped is None else len(flipped)
            numbers = (delta.n, delta.value, delta.lo, delta.hi, delta.p, delta.n_better, delta.n_worse)
            names = (metric, group.names[i], group.names[j], a.digest, b.digest)
            yield (*place, *names, *numbers, n_flips, flipped or ())


def _labels(run: Measured, keys: pd.Index[Any]) -> pd.Series[Any]:
    said: pd.Series[Any] = run.documents.loc[keys, "predicted"].astype(object)
    return said.where(said.notna(), None)


def _flipped(a: Measured, b: Measured, keys: pd.Index[Any], *, first_level: bool) -> tuple[str, ...] | None:
    """Return the documents whose label changes, on both levels or on the first; None when the runs give no labels."""
    one, other = _labels(a, keys), _labels(b, keys)
    if one.isna().all() and other.isna().all():
        return None
    changed = [key for key in keys if _level(one[key], first_level) != _level(other[key], first_level)]
    return tuple(map(str, a.documents.loc[changed, "document"]))


def _level(label: Any, first_level: bool) -> Any:
    return label.split(" / ")[0] if first_level and isinstance(label, str) else label


def _answers(group: RerunGroup, number: int) -> Iterator[tuple[Any, ...]]:
    keys = _answered(group.runs)
    said = [_labels(run, keys) for run in group.runs]
    expected = group.runs[0].documents["expected"].astype(object)
    names = group.runs[0].documents["document"]
    for key in keys:
        if len({answers[key] for answers in said}) > 1:
            truth = expected[key] if isinstance(expected[key], str) else None
            for run, answers in zip(group.names, said, strict=True):
                yield number, str(names[key]), truth, run, answers[key]
