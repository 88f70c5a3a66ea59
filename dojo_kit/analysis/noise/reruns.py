"""Which runs are reruns of each other, and why others that look like reruns are not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Literal

from dojo_kit.analysis.measured import Measurable, Measured, MetricInfo, measure, same_settings
from dojo_kit.analysis.measured.values import known_metrics
from dojo_kit.analysis.noise.evidence import (
    is_prompt_hash,
    prompt_hash,
    prompt_notes,
    repeated,
    scored_differently,
)
from dojo_kit.analysis.repeats import made_at
from dojo_kit.settings import Settings

if TYPE_CHECKING:
    import pandas as pd

Progress = Callable[[int, int], None]
Identity = Literal["prompt hash", "prompt name only"]
Reason = Literal[
    "copy",
    "replay",
    "model or prompt not named",
    "settings not known",
    "other settings",
    "other prompt text",
    "scored differently",
    "too few answers",
]

ENOUGH_ANSWERED = 0.5
"""Share of its documents that a run must have answered to show how far reruns lie apart."""

_WORDS = {"model": "a model", "prompt_version": "a prompt"}

EXCLUDED_COLUMNS = ("task", "model", "prompt_version", "run_a", "run_b", "reason", "detail")
"""Columns of `Reruns.excluded`: ``reason`` is one of a few words, ``detail`` what was found."""


@dataclass(frozen=True, slots=True)
class RerunGroup:
    """Runs made with one model, prompt and settings, on the same documents.

    Attributes:
        runs: The runs, earliest first.
        names: What each is called, each name once.
        task: Their task.
        model: Their model.
        prompt_version: Name of their prompt.
        surface: Fingerprint of their set of documents.
        identity: Whether the prompt's text is known to be the same or only its name is.
        notes: What speaks against their being alike in everything but chance.
    """

    runs: tuple[Measured, ...]
    names: tuple[str, ...]
    task: str
    model: str
    prompt_version: str
    surface: str
    identity: Identity
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.runs)

    def __repr__(self) -> str:
        return f"RerunGroup({self.task!r}, {self.model!r}, {self.prompt_version!r}, {' '.join(self.names)})"


@dataclass(frozen=True, eq=False, repr=False)
class Reruns:
    """What `find_reruns` found.

    Attributes:
        groups: Groups of two or more reruns.
        excluded: Pairs of runs of one task, model, prompt and set of documents that are no reruns, and why;
            columns `EXCLUDED_COLUMNS`.
        n_runs: Runs looked at.
        metrics: Every metric that some run has.
    """

    groups: tuple[RerunGroup, ...]
    excluded: pd.DataFrame
    n_runs: int
    metrics: Mapping[str, MetricInfo] = field(default_factory=dict)

    def same_group(self, a: Measured, b: Measured) -> bool:
        """Tell whether two runs are reruns of each other."""
        wanted = Counter((a.digest, b.digest))
        return any(wanted <= Counter(run.digest for run in group.runs) for group in self.groups)

    def __len__(self) -> int:
        return len(self.groups)

    def __repr__(self) -> str:
        n = sum(map(len, self.groups))
        return f"Reruns({len(self.groups)} groups of {n} runs, {len(self.excluded)} pairs excluded, {self.n_runs} runs)"


@dataclass(frozen=True, slots=True)
class _Named:
    name: str
    run: Measured


def find_reruns(
    runs: Iterable[Measurable], *, settings: Settings | None = None, progress: Progress | None = None
) -> Reruns:
    """Find runs that differ in nothing but chance.

    Reruns share task, model, prompt, documents and settings, where bookkeeping such as the number of calls at a time
    does not count; of runs that do not name their model and prompt, or whose settings are not at hand, that is not
    known. A later run without usage whose every answer, confidence and reasoning is that of an earlier one
    replays it and is no rerun. Runs that were scored differently are no reruns of each other; scores stored in rows
    count as such when equal answers have unequal scores.

    Args:
        runs: Runs or scored runs, in any order; what was measured before is taken as it is.
        settings: Settings under which runs of labels are scored; the current ones by default.
        progress: Called with runs measured and all runs.

    Returns:
        The groups, by task, model, prompt and time, and the pairs that are none.

    Examples:
        >>> from dojo_kit.records import LabelRow, Run, RunMeta, Usage
        >>> def run(day, answer):
        ...     meta = RunMeta("legalbench", f"day {day}", "m", "v1", timestamp=f"2026-01-0{day}")
        ...     return Run(meta, (LabelRow("a", usage=Usage(9, 1), expected="yes", predicted=answer),))
        >>> find_reruns([run(2, "no"), run(1, "yes")]).groups
        (RerunGroup('legalbench', 'm', 'v1', day 1 day 2),)
    """
    given = list(runs)
    measured = []
    for index, run in enumerate(given):
        measured.append(measure(run, settings=settings))
        if progress:
            progress(index + 1, len(given))
    buckets: dict[tuple[str, ...], list[_Named]] = {}
    for named in sorted(_named(measured), key=_order):
        run = named.run
        buckets.setdefault((run.task, run.model, run.prompt_version, run.kind, run.surface), []).append(named)
    excluded = _Excluded()
    groups = [group for _, bucket in sorted(buckets.items()) for group in _groups(bucket, excluded)]
    return Reruns(tuple(groups), excluded.frame(), len(given), known_metrics(measured))


def _order(named: _Named) -> tuple[str, bool, str]:
    """Order runs by time; where it is unknown, what carries usage came first."""
    return *made_at(named.run), named.name


def _named(runs: Sequence[Measured]) -> list[_Named]:
    """Name every run once: by its name, else by its file, else by both and a number."""
    names, files = [run.name for run in runs], [run.source.replace("\\", "/").rpartition("/")[2] for run in runs]
    for found in (names, files, [run.source for run in runs]):
        if all(found) and len(set(found)) == len(found):
            return [_Named(name, run) for name, run in zip(found, runs, strict=True)]
    known: dict[str, int] = {}
    result = []
    for name, file, run in zip(names, files, runs, strict=True):
        label = file or name or "run"
        known[label] = known.get(label, 0) + 1
        result.append(_Named(label if known[label] == 1 else f"{label} ({known[label]})", run))
    return result


class _Excluded:
    """The table of pairs that are no reruns, in the making."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, ...]] = []

    def add(self, a: _Named, b: _Named, reason: Reason, detail: str) -> None:
        run = a.run
        self.rows.append((run.task, run.model, run.prompt_version, a.name, b.name, reason, detail))

    def frame(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(self.rows, columns=list(EXCLUDED_COLUMNS), dtype=object)


def _groups(bucket: list[_Named], excluded: _Excluded) -> Iterator[RerunGroup]:
    """Yield the groups among runs of one task, model, prompt name and surface, earliest first."""
    own = _without_repeats(bucket, excluded)
    answered = _with_answers(own, excluded)
    hashes = {named.name: prompt_hash(named.run) for named in answered}
    known = set(hashes.values()) - {""}

    def nameless(a: _Named, b: _Named) -> str:
        lacking = [word for word in ("model", "prompt_version") if not getattr(a.run, word)]
        return f"without {' and '.join(_WORDS[word] for word in lacking)} any two would pass" if lacking else ""

    def unknown_settings(a: _Named, b: _Named) -> str:
        unknown = [named.name for named in (a, b) if not named.run.settings_known]
        return f"the parameters of {' and '.join(unknown)} are not at hand: measure with run=" if unknown else ""

    def other_text(a: _Named, b: _Named) -> str:
        one, other = hashes[a.name], hashes[b.name]
        if one == other or (len(known) < 2 and not (one and other)):
            return ""
        return "the hashes of the prompts differ" if one and other else "only one of them stores the prompt's hash"

    def other_settings(a: _Named, b: _Named) -> str:
        names = [name for name in same_settings(a.run, b.run) if not is_prompt_hash(name)]
        return ", ".join(_setting(a.run, b.run, name) for name in names)

    def other_scores(a: _Named, b: _Named) -> str:
        return scored_differently(a.run, b.run)

    checks: list[tuple[Reason, Callable[[_Named, _Named], str]]] = [
        ("model or prompt not named", nameless),
        ("settings not known", unknown_settings),
        ("other settings", other_settings),
        ("other prompt text", other_text),
        ("scored differently", other_scores),
    ]
    for members in _alike(answered, checks, excluded):
        if len(members) > 1:
            yield _group(members, all(hashes[named.name] for named in members))


def _without_repeats(bucket: list[_Named], excluded: _Excluded) -> list[_Named]:
    own: list[_Named] = []
    for named in bucket:
        found = next(((first, why) for first in own if (why := repeated(first.run, named.run))), None)
        if found is None:
            own.append(named)
        else:
            first, (reason, clause) = found
            excluded.add(first, named, reason, f"{named.name} {clause}")
    return own


def _with_answers(bucket: list[_Named], excluded: _Excluded) -> list[_Named]:
    kept = []
    for named in bucket:
        n = int((named.run.documents["status"] == "scored").sum())
        if n and n >= ENOUGH_ANSWERED * len(named.run):
            kept.append(named)
        else:
            detail = f"{named.name} answered {n:,} of {len(named.run):,} documents"
            for other in bucket:
                if other is not named:
                    first, second = sorted((named, other), key=_order)
                    excluded.add(first, second, "too few answers", detail)
    return kept


def _alike(
    bucket: list[_Named], checks: list[tuple[Reason, Callable[[_Named, _Named], str]]], excluded: _Excluded
) -> list[list[_Named]]:
    """Put every run into the first group in which nothing tells it from any other run."""
    why: dict[tuple[str, str], tuple[Reason, str]] = {}
    for a, b in combinations(bucket, 2):
        found = ((reason, detail) for reason, check in checks if (detail := check(a, b)))
        first = next(found, None)
        if first:
            why[a.name, b.name] = first
            excluded.add(a, b, *first)
    groups: list[list[_Named]] = []
    for named in bucket:
        fitting = (group for group in groups if all((other.name, named.name) not in why for other in group))
        group = next(fitting, None)
        if group is None:
            groups.append([named])
        else:
            group.append(named)
    return groups


def _setting(a: Measured, b: Measured, name: str) -> str:
    values = [f"{run.parameters[name]}" if name in run.parameters else "not stated" for run in (a, b)]
    return f"{name} {values[0]} and {values[1]}"


def _group(members: list[_Named], hashed: bool) -> RerunGroup:
    first = members[0].run
    notes = [
        note if len(members) == 2 else f"{a.name}, {b.name}: {note}"
        for a, b in combinations(members, 2)
        for note in prompt_notes(a.run, b.run)
    ]
    return RerunGroup(
        tuple(named.run for named in members),
        tuple(named.name for named in members),
        first.task,
        first.model,
        first.prompt_version,
        first.surface,
        "prompt hash" if hashed else "prompt name only",
        tuple(dict.fromkeys(notes)),
    )
