"""Which reruns a band may rest on: of runs that are known, measured as those compared, and of none of these."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from compared_runs import label_run, verdicts

from dojo_kit.analysis.compare import compare
from dojo_kit.analysis.leaderboard import leaderboard
from dojo_kit.analysis.measured import measure
from dojo_kit.analysis.noise import find_reruns, noise_floor, noise_from_dict
from dojo_kit.errors import ComparabilityError, InputError
from dojo_kit.records import Labels, Run, Usage
from dojo_kit.runs import load_labels, read_run
from dojo_kit.samples import sample_data
from dojo_kit.scoring.run import ScoredRun, score_run

RUNS = sample_data() / "runs"
HEADLINE = "overall_extraction_score"
SMALL = [RUNS / f"extraction_{name}_small.json" for name in ("v1", "v1_rerun", "v1_rerun_2", "v2", "v2_rerun", "v3")]
FILES = [path.with_name(path.name.replace("_rerun_small", "_small_rerun")) for path in SMALL]
FILES = [path.with_name(path.name.replace("_rerun_2_small", "_small_rerun_2")) for path in FILES]


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    return [read_run(path) for path in FILES]


@pytest.fixture(scope="module")
def labels() -> Labels:
    return load_labels(sample_data() / "labels.json")


@pytest.fixture(scope="module")
def scored(runs: list[Run], labels: Labels) -> list[ScoredRun]:
    return [score_run(run, labels) for run in runs]


def again(run: Run, **changes: Any) -> Run:
    return replace(run, source=f"{changes.get('name', 'other')}.json", meta=replace(run.meta, **changes))


def used(run: Run) -> Run:
    return replace(run, rows=tuple(replace(row, usage=Usage(9, 1)) for row in run.rows))


# --- a run is known again ----------------------------------------------------------------------------------


def test_a_band_uses_no_pair_of_a_scored_run_under_comparison(runs: list[Run], scored: list[ScoredRun]) -> None:
    """Given with its run or without: a group of three and a pair, and one run of each is compared."""
    floor = noise_floor(measure(one, run=run) for one, run in zip(scored, runs, strict=True))
    place = {"task": runs[0].meta.task, "model": runs[0].meta.model, "surface": floor.groups["surface"][0]}
    assert floor.band(HEADLINE, **place).m == 3
    alone = compare(scored[0], scored[3], noise=floor).metrics[HEADLINE]
    with_run = compare(measure(scored[0], run=runs[0]), measure(scored[3], run=runs[3]), noise=floor)
    assert alone.band == with_run.metrics[HEADLINE].band
    assert (alone.band.m, alone.band.value) == (1, None)
    assert "reruns of the runs under comparison do not count" in alone.reason


def test_a_run_that_cannot_be_known_again_has_no_band(runs: list[Run], scored: list[ScoredRun]) -> None:
    """A scored run of an earlier version does not say which answers it is of."""
    floor = noise_floor(measure(one, run=run) for one, run in zip(scored, runs, strict=True))
    names = {name: value for name, value in scored[5].recipe.run.items() if name != "answers"}
    older = replace(scored[5], recipe=replace(scored[5].recipe, run=names))
    assert compare(scored[5], scored[3], noise=floor).headline.band.m == 2
    found = compare(older, scored[3], noise=floor).headline
    assert (found.band.value, found.band.m) == (None, 0)
    assert "it is not known which run was scored" in found.band.reason


# --- what counts as a rerun --------------------------------------------------------------------------------


@pytest.mark.parametrize(("model", "prompt"), [("", ""), ("m", ""), ("", "v1")])
def test_runs_without_model_or_prompt_are_no_reruns(model: str, prompt: str) -> None:
    a, b = (
        label_run(verdicts(pattern), name=pattern, model=model, prompt=prompt, timestamp=f"2026-01-0{day}")
        for day, pattern in enumerate(("++--", "+-+-"), start=1)
    )
    found = find_reruns([a, b])
    assert found.groups == ()
    assert found.excluded["reason"].tolist() == ["model or prompt not named"]
    assert compare(a, b).headline.verdict == "inconclusive"


def test_scored_runs_without_parameters_are_not_called_reruns(runs: list[Run], scored: list[ScoredRun]) -> None:
    other = replace(runs[1], meta=replace(runs[1].meta, parameters={**runs[1].meta.parameters, "temperature": 1.7}))
    found = compare(scored[0], replace(scored[1]))
    assert found.headline.verdict != "rerun"
    assert any("whether the runs are reruns is not known" in note for note in found.notes)
    assert not any("records its parameters" in note for note in found.notes)
    assert find_reruns([scored[0], scored[1]]).excluded["reason"].tolist() == ["settings not known"]
    known = compare(measure(scored[0], run=runs[0]), measure(scored[1], run=other))
    assert any("other settings: temperature" in note for note in known.notes)
    assert compare(measure(scored[0], run=runs[0]), measure(scored[1], run=runs[1])).headline.verdict == "rerun"


def test_equal_answers_are_no_copy_by_themselves() -> None:
    """A model that was asked again said the same: other time, usage of its own."""
    first = used(label_run(verdicts("++--"), name="first", reasoning="because"))
    second = again(first, name="second", timestamp="2026-02-01")
    assert measure(first).digest == measure(second).digest
    found = compare(first, second)
    assert (found.headline.verdict, found.headline.delta.value) == ("rerun", 0.0)
    (board,) = leaderboard([first, second])
    assert board.table["verdict"].tolist() == ["", "rerun"]
    assert not board.table["note"].str.contains("repeats").any()
    (group,) = find_reruns([first, second]).groups
    reruns = find_reruns([first, second])
    assert reruns.same_group(measure(first), measure(second))
    assert group.names == ("first", "second")


def test_replays_and_copies_are_refused() -> None:
    first = used(label_run(verdicts("++--"), name="first", reasoning="because"))
    bare = replace(first, rows=tuple(replace(row, usage=None) for row in first.rows))
    with pytest.raises(ComparabilityError, match="one is a replay of the other"):
        compare(first, again(bare, name="replay", timestamp="2026-02-01"))
    with pytest.raises(ComparabilityError, match="one is a copy of the other"):
        compare(first, again(first, name="copy"))


# --- how it was measured -----------------------------------------------------------------------------------


def test_a_band_is_of_what_was_measured_alike(runs: list[Run], scored: list[ScoredRun], labels: Labels) -> None:
    """Reruns scored against the first spans say nothing of a comparison against all."""
    first = [score_run(run, labels, spans="first") for run in runs]
    floor = noise_floor(measure(one, run=run) for one, run in zip(first, runs, strict=True))
    assert floor.groups["recipe"][0]["spans"] == "first"
    same = compare(first[5], first[3], noise=floor).headline
    other = compare(scored[5], scored[3], noise=floor).headline
    assert (same.band.m, other.band.m) == (2, 0)
    assert other.band.reason == "reruns were measured in another way: spans first, here all"
    stored = compare(runs[5], runs[3], noise=floor).headline.band
    assert stored.reason == "reruns were measured in another way: scorer 1, here unknown"
    read = noise_from_dict(floor.as_dict())
    assert compare(scored[5], scored[3], noise=read).headline.band == other.band
    assert compare(first[5], first[3], noise=read).headline.band == same.band


def test_bands_of_two_ways_of_measuring_stay_apart(runs: list[Run], scored: list[ScoredRun]) -> None:
    floor = noise_floor([*runs[:3], *(measure(one, run=run) for one, run in zip(scored[3:], runs[3:], strict=True))])
    assert floor.bands([HEADLINE])["m"].tolist() == [2, 1]
    place = {"task": runs[0].meta.task, "model": runs[0].meta.model, "surface": floor.groups["surface"][0]}
    assert floor.band(HEADLINE, **place).reason == "the reruns were measured in several ways"


def test_runs_measured_differently_have_no_band(runs: list[Run], labels: Labels, scored: list[ScoredRun]) -> None:
    floor = noise_floor(measure(one, run=run) for one, run in zip(scored, runs, strict=True))
    first = score_run(runs[5], labels, spans="first")
    found = compare(first, scored[3], noise=floor, allow=["spans"]).headline
    assert found.band.reason == "the runs were measured differently: spans"


def test_a_metric_that_no_run_has_is_refused_without_reruns() -> None:
    with pytest.raises(InputError, match=r"none of the runs has the metric 'exact_mach' \(did you mean 'exact_match'"):
        noise_floor([label_run(verdicts("+-"))], metrics=["exact_mach"])
