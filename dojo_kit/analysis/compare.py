"""Is B better than A? Two runs on the same documents, metric by metric, with the verdict and its reason."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from dojo_kit.analysis.changes import changed_documents
from dojo_kit.analysis.comparable import Difference, overridden, require_comparable
from dojo_kit.analysis.expectations import labelled_once
from dojo_kit.analysis.measured import Measurable, Measured, MetricInfo, measure, same_settings
from dojo_kit.analysis.measured.values import unknown_metric
from dojo_kit.analysis.noise.floor import BAND_RECIPE
from dojo_kit.analysis.noise.reruns import RerunGroup, find_reruns
from dojo_kit.analysis.pairing import Differences, Pair, bootstrap_for
from dojo_kit.settings import Settings
from dojo_kit.stats.compare import Band, Delta, Verdict, holm, verdict
from dojo_kit.stats.intervals import Estimate, scope_of

if TYPE_CHECKING:
    import pandas as pd

NOT_MEASURED = Band(None, None, 0, reason="rerun noise not measured")

_FAMILIES = {"field": "fields", "pooled": "fields", "class": "classes"}
"""Kind of metric that is tested together with others of its measure -> what they are called."""


class NoiseBands(Protocol):
    """What a comparison asks of measured rerun noise; `dojo_kit.analysis.noise.NoiseFloor` answers."""

    def band(
        self,
        metric: str,
        *,
        task: str,
        model: str,
        surface: str,
        without: Collection[str] = (),
        recipe: Mapping[str, str | None] | None = None,
    ) -> Band:
        """Return the band of a metric, of reruns measured as named, without pairs with a run whose digest is named."""
        ...


@dataclass(frozen=True, slots=True)
class ComparedMetric:
    """One metric of two runs.

    Attributes:
        info: The metric.
        a: The first run over the documents compared.
        b: The second.
        delta: B less A, positive when B is better. A failed row is a miss where the metric says so, and left out else.
        delta_complete: Over documents that both runs answered; None when none failed.
        delta_errors_as_worst: With every missing answer as the worst value; None when none failed, or when a missing
            answer has no worst value.
        p_holm: The p-value corrected for the metrics tested beside this one; None where it stands alone.
        n_tested: Metrics tested together, this one among them.
        band: How far reruns lie apart.
        verdict: What can be said.
        reason: Why, in one sentence.
    """

    info: MetricInfo
    a: Estimate
    b: Estimate
    delta: Delta
    delta_complete: Delta | None
    delta_errors_as_worst: Delta | None
    p_holm: float | None
    n_tested: int
    band: Band
    verdict: Verdict
    reason: str

    def as_dict(self) -> dict[str, Any]:
        """Return the metric as JSON-ready values; ``delta`` is positive when B is better."""
        delta = self.delta
        shown = "lo hi p p_method p_win p_tie p_loss n n_b n_better n_equal n_worse sd required_n mde method".split()
        others = {"complete_case": self.delta_complete, "errors_as_worst": self.delta_errors_as_worst}
        return {
            "kind": self.info.kind,
            "higher_is_better": self.info.higher_is_better,
            **{name: value for name in ("field", "label") if (value := getattr(self.info, name))},
            "a": self.a.value,
            "b": self.b.value,
            "delta": delta.value,
            **{name: getattr(delta, name) for name in shown},
            "p_holm": self.p_holm,
            "verdict": self.verdict,
            "reason": self.reason,
            "band": self.band.value,
            "band_m": self.band.m,
            **({"band_reason": self.band.reason} if self.band.reason else {}),
            "a_interval": [self.a.lo, self.a.hi],
            "b_interval": [self.b.lo, self.b.hi],
            **{name: _shortly(other) for name, other in others.items() if other is not None},
            **({"flags": list(delta.flags)} if delta.flags else {}),
            **({"note": delta.note} if delta.note else {}),
        }


def _shortly(delta: Delta) -> dict[str, Any]:
    return {name: getattr(delta, name) for name in ("value", "lo", "hi", "p", "n")}


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Two runs, compared.

    Attributes:
        a: The baseline.
        b: The run held against it.
        metrics: Metric -> comparison, the headline (or the metric asked for) first.
        n: Documents in both runs.
        n_only_a: Documents only in the first.
        n_only_b: Documents only in the second.
        surface: Fingerprint of the documents compared.
        differs: What the runs differ in although that was allowed: word -> both values.
        allowed: The words that allowed it.
        paired: Whether documents were paired; two runs without a common document are two samples.
        rerun: Whether both runs have the same settings, so that their difference is noise.
        notes: What a reader must know.
    """

    a: Measured
    b: Measured
    metrics: Mapping[str, ComparedMetric]
    n: int
    n_only_a: int
    n_only_b: int
    surface: str
    differs: Mapping[str, tuple[Any, Any]]
    allowed: tuple[str, ...]
    paired: bool
    rerun: bool
    notes: tuple[str, ...] = ()

    @property
    def headline(self) -> ComparedMetric:
        """What the task is judged by, or the metric asked for."""
        return next(iter(self.metrics.values()))

    @property
    def scope(self) -> str:
        """What the intervals cover and what they do not."""
        return scope_of(self.headline.delta.unit)

    def metric(self, name: str | None = None) -> ComparedMetric:
        """Return one metric; the headline by default.

        Raises:
            InputError: It was not compared.
        """
        if name is None:
            return self.headline
        if name not in self.metrics:
            known = {key: compared.info for key, compared in self.metrics.items()}
            raise unknown_metric(name, known, self.b.name)
        return self.metrics[name]

    def frame(self) -> pd.DataFrame:
        """Return one row per metric: what it is, both values, the difference, its test and the verdict."""
        import pandas as pd

        rows = []
        for name, compared in self.metrics.items():
            row = {"metric": name, "field": "", "label": "", **compared.as_dict()}
            for other in ("complete_case", "errors_as_worst"):
                row |= {f"{other}_{key}": value for key, value in row.pop(other, {}).items()}
            for side in ("a", "b"):
                row[f"{side}_lo"], row[f"{side}_hi"] = row.pop(f"{side}_interval")
            rows.append(row)
        return pd.DataFrame(rows)

    def changed(self, metric: str | None = None) -> pd.DataFrame:
        """Return the documents in which a metric changed, those that got worst first.

        Args:
            metric: A metric that was compared; the headline by default.

        Returns:
            One row per document: ``key``, ``document``, ``a``, ``b``, ``change`` (positive when B is better),
            ``direction`` (better or worse), ``predicted_a``, ``predicted_b``, ``expected``, and ``fields``: for
            metrics of a whole extraction the fields whose score changed, most changed first.

        Raises:
            InputError: The metric was not compared.
        """
        return changed_documents(self.a, self.b, self.metric(metric).info)

    def as_dict(self) -> dict[str, Any]:
        """Return everything but single documents as JSON-ready values."""
        headline = self.headline
        return {
            "a": _run_dict(self.a),
            "b": _run_dict(self.b),
            "surface": self.surface,
            "n": self.n,
            "n_only_a": self.n_only_a,
            "n_only_b": self.n_only_b,
            "paired": self.paired,
            "rerun": self.rerun,
            "headline": headline.info.name,
            "verdict": headline.verdict,
            "reason": headline.reason,
            "metrics": {name: compared.as_dict() for name, compared in self.metrics.items()},
            "required_n": headline.delta.required_n,
            "mde": headline.delta.mde,
            "differs": {name: list(values) for name, values in self.differs.items()},
            "allowed": list(self.allowed),
            "notes": list(self.notes),
            "seed": headline.delta.seed,
            "n_resamples": headline.delta.n_boot,
            "scope": self.scope,
        }

    def __repr__(self) -> str:
        headline = self.headline
        value = headline.delta.value
        delta = "undefined" if value is None else f"{value:+.4f}"
        return (
            f"Comparison({self.a.name!r} -> {self.b.name!r}, {headline.info.name} {delta}, {headline.verdict}, "
            f"{self.n} {self.a.noun}s)"
        )


def _run_dict(run: Measured) -> dict[str, Any]:
    return {
        "name": run.name,
        "source": run.source,
        "task": run.task,
        "model": run.model,
        "prompt_version": run.prompt_version,
        "n": len(run),
        "n_failed": run.n_failed,
        "digest": run.digest,
        "recipe": dict(run.recipe),
    }


def compare(
    a: Measurable,
    b: Measurable,
    metric: str | None = None,
    *,
    noise: NoiseBands | None = None,
    allow: Collection[str] = (),
    settings: Settings | None = None,
) -> Comparison:
    """Compare two runs on the same documents.

    Args:
        a: The baseline: a run, a scored run, or what `measure` made of one.
        b: The run held against it.
        metric: Only this metric; all that both have by default.
        noise: Measured rerun noise; without it a difference is never called a win or a loss.
        allow: What may differ all the same, see `dojo_kit.analysis.comparable.ALLOW`. With ``surface`` the documents
            in common are paired; without any the runs are two samples.
        settings: Seed, replicates and level; the current settings by default.

    Returns:
        The comparison. Within the fields, and within the classes, p-values are corrected for their number (Holm) and
        verdicts rest on the corrected ones.

    Raises:
        ComparabilityError: The runs are not measured alike, or are one run.
        InputError: A run cannot be measured, or has no such metric.

    Examples:
        >>> from dojo_kit.tasks.score import score_task
        >>> names, truth = ["a", "b", "c", "d"], ["yes", "yes", "no", "no"]
        >>> first = score_task("legalbench", truth, ["yes", "no", "yes", "no"], documents=names)
        >>> second = score_task("legalbench", truth, ["yes", "yes", "no", "no"], documents=names)
        >>> found = compare(first, second)
        >>> found.headline.delta.value, found.headline.verdict
        (0.5, 'inconclusive')
        >>> found.changed()[["document", "direction"]].values.tolist()
        [['b', 'better'], ['c', 'better']]
    """
    first, second = measure(a, settings=settings), measure(b, settings=settings)
    differences = require_comparable(first, second, allow=allow)
    both = Pair(first, second, bootstrap_for(first, settings))
    group = None if differences else rerun_group(first, second)
    rerun = group is not None
    names = _metrics(first, second, metric)
    found = {name: both.differences(first.metrics[name]) for name in names}
    judged = _judged(found, first, second, noise, rerun)
    notes = tuple(_notes(first, second, names, metric, differences, noise, group))
    return Comparison(
        a=first,
        b=second,
        metrics=judged,
        n=len(both.shared),
        n_only_a=len(first) - len(both.shared),
        n_only_b=len(second) - len(both.shared),
        surface=first.surface if first.surface == second.surface else both.surface,
        differs=overridden(differences),
        allowed=tuple(difference.allow for difference in differences),
        paired=both.paired,
        rerun=rerun,
        notes=notes,
    )


def rerun_group(a: Measured, b: Measured) -> RerunGroup | None:
    """Return two runs as a group of reruns; None when anything but chance tells them apart, or too little is known.

    Args:
        a: A run.
        b: Another one, comparable with it.
    """
    return next(iter(find_reruns((a, b)).groups), None)


def _metrics(a: Measured, b: Measured, metric: str | None) -> list[str]:
    if metric is not None:
        return [run.info(metric).name for run in (a, b)][:1]
    return [name for name in a.metrics if name in b.metrics]


def _judged(
    found: Mapping[str, Differences], a: Measured, b: Measured, noise: NoiseBands | None, rerun: bool
) -> dict[str, ComparedMetric]:
    """Correct p-values within each family of metrics and give every metric its band and verdict."""
    families: dict[tuple[str, str], dict[str, float]] = {}
    for name, differences in found.items():
        info = a.metrics[name]
        if differences.delta.p is not None and (info.field or info.label):
            families.setdefault((info.kind, info.measure), {})[name] = differences.delta.p
    corrected: dict[str, tuple[float, int]] = {}
    for family in families.values():
        adjusted = holm(list(family.values()))
        corrected |= {name: (float(p), len(family)) for name, p in zip(family, adjusted, strict=True)}
    return {
        name: _with_verdict(
            a.metrics[name],
            differences,
            *corrected.get(name, (None, 1)),
            band=None if noise is None else _band(name, a, b, noise),
            rerun=rerun,
        )
        for name, differences in found.items()
    }


def _with_verdict(
    info: MetricInfo, found: Differences, p_holm: float | None, n_tested: int, *, band: Band | None, rerun: bool
) -> ComparedMetric:
    tested = found.delta if p_holm is None else replace(found.delta, p=p_holm)
    word, reason = verdict(tested, band, rerun=rerun)
    if n_tested > 1 and found.delta.interval_excludes_zero and not rerun:
        reason = f"{reason} p is corrected for {n_tested} {_FAMILIES[info.kind]}."
    return ComparedMetric(
        info,
        found.a,
        found.b,
        found.delta,
        found.complete,
        found.errors_as_worst,
        p_holm,
        n_tested,
        band or NOT_MEASURED,
        word,
        reason,
    )


def _band(metric: str, a: Measured, b: Measured, noise: NoiseBands) -> Band:
    """Return the wider band of both models; unknown when it is unknown of one, or when the runs differ in recipe."""
    unknown = [run for run in (a, b) if not run.identified]
    if unknown:
        says = "it is not known which run was scored, so its own reruns cannot be left out: measure it with run="
        return Band(None, None, 0, reason=f"of {unknown[0].name or 'a run'} {says}")
    recipe = {name: a.recipe[name] for name in BAND_RECIPE}
    other = [name for name in BAND_RECIPE if b.recipe[name] != recipe[name]]
    if other:
        return Band(None, None, 0, reason=f"the runs were measured differently: {', '.join(other)}")
    places = dict.fromkeys((run.model, run.surface) for run in (a, b))
    without = (a.digest, b.digest)
    bands = [noise.band(metric, task=a.task, model=m, surface=s, without=without, recipe=recipe) for m, s in places]
    for (model, _), band in zip(places, bands, strict=True):
        if band.value is None:
            return replace(band, reason=f"{model}: {band.reason}") if len(bands) > 1 else band
    return max(bands, key=lambda band: band.value or 0.0)


def _notes(
    a: Measured,
    b: Measured,
    names: list[str],
    metric: str | None,
    differences: Iterable[Difference],
    noise: NoiseBands | None,
    group: RerunGroup | None,
) -> Iterable[str]:
    yield from (f"allowed: {difference.says}" for difference in differences)
    yield from dict.fromkeys((*a.notes, *b.notes))
    if once := labelled_once(a, b):
        yield once
    if a.n_failed or b.n_failed:
        yield f"{a.noun}s without an answer: {a.n_failed:,} in the first run, {b.n_failed:,} in the second"
    if group:
        yield f"the runs are reruns of one prompt, identified by {group.identity}"
        yield from group.notes
        if not a.parameters and not b.parameters:
            yield "neither run records its parameters"
    elif a.model and a.prompt_version and (a.model, a.prompt_version) == (b.model, b.prompt_version):
        known = a.settings_known and b.settings_known
        if not known:
            yield "same model and prompt; whether the runs are reruns is not known without their parameters"
        differ = same_settings(a, b) if known else []
        if differ:
            yield f"same model and prompt, other settings: {', '.join(differ)}"
    if metric is None:
        only = [
            name for run in (a, b) for name, info in run.metrics.items() if name not in names and info.kind != "class"
        ]
        if only:
            yield f"metrics that only one run has: {', '.join(dict.fromkeys(only))}"
    if noise is None and not group:
        yield "rerun noise not measured: no difference can be called a win or a loss"
