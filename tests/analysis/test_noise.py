"""Which runs are reruns of each other, how far apart they are, and what a band is made of."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dojo_kit.analysis.measured import measure
from dojo_kit.analysis.noise import NoiseFloor, Reruns, find_reruns, noise_as_dict, noise_floor
from dojo_kit.errors import InputError
from dojo_kit.records import ExtractionRow, LabelRow, Run, RunMeta, Usage
from dojo_kit.runs import load_labels, read_run
from dojo_kit.samples import sample_data
from dojo_kit.scoring.run import score_run

TASK, MODEL = "legalbench", "maker/model-1"


def label_run(
    name: str,
    answers: Mapping[str, str | None],
    *,
    day: int = 1,
    prompt: str = "v1",
    model: str = MODEL,
    usage: bool = True,
    expected: str = "yes",
    reasoning: str = "",
    **parameters: Any,
) -> Run:
    """Make a run of yes/no answers; None is a failed call."""
    rows = tuple(
        LabelRow(
            document,
            status="failed" if said is None else "completed",
            usage=Usage(10, 1) if usage and said is not None else None,
            expected=expected,
            predicted=said,
            reasoning=reasoning,
        )
        for document, said in answers.items()
    )
    meta = RunMeta(TASK, name, model, prompt, timestamp=f"2026-01-{day:02}T00:00:00" if day else "")
    return Run(replace(meta, parameters=parameters), rows, source=f"{name}.json")


def said(pattern: str) -> dict[str, str | None]:
    """Spell answers: y and n, and x for a failed call."""
    words = {"y": "yes", "n": "no", "x": None}
    return {f"d{index:02}": words[letter] for index, letter in enumerate(pattern)}


def reasons(reruns: Reruns) -> list[tuple[str, str, str, str]]:
    return list(reruns.excluded[["run_a", "run_b", "reason", "detail"]].itertuples(index=False, name=None))


def pair_of(floor: NoiseFloor, a: str, b: str, metric: str = "exact_match") -> dict[str, Any]:
    pairs = floor.pairs
    found = pairs[(pairs["run_a"] == a) & (pairs["run_b"] == b) & (pairs["metric"] == metric)]
    assert len(found) == 1
    return {str(name): value for name, value in found.iloc[0].items()}


# --- which runs are reruns ---------------------------------------------------------------------------------


def test_runs_are_ordered_by_time_and_named_once() -> None:
    late, early = label_run("late", said("yyn"), day=3), label_run("early", said("ynn"), day=1)
    (group,) = find_reruns([late, early]).groups
    assert group.names == ("early", "late")
    assert (group.task, group.model, group.prompt_version) == (TASK, MODEL, "v1")
    assert group.identity == "prompt name only"

    twice = [replace(run, meta=replace(run.meta, name="same")) for run in (late, early)]
    assert find_reruns(twice).groups[0].names == ("early.json", "late.json")
    nameless = [replace(run, source="") for run in twice]
    assert find_reruns(nameless).groups[0].names == ("same (2)", "same")


@pytest.mark.parametrize("change", [{"model": "other"}, {"prompt": "v2"}])
def test_another_model_or_prompt_is_no_rerun_and_no_near_miss(change: dict[str, str]) -> None:
    found = find_reruns([label_run("a", said("yn")), label_run("b", said("nn"), **change)])
    assert found.groups == ()
    assert len(found.excluded) == 0


def test_other_documents_are_no_rerun() -> None:
    assert find_reruns([label_run("a", said("yn")), label_run("b", said("ynn"), day=2)]).groups == ()


def test_the_order_of_documents_does_not_matter() -> None:
    answers = said("yn")
    turned = dict(reversed(answers.items())) | {"d00": "no"}
    assert len(find_reruns([label_run("a", answers), label_run("b", turned, day=2)]).groups) == 1


def test_settings_that_differ_are_named_and_bookkeeping_does_not_count() -> None:
    first = label_run("a", said("yn"), temperature=0.1, manifest="a", max_concurrency=8, tracing_backend="x")
    same = label_run("b", said("nn"), day=2, temperature=0.1, manifest="b", bt_scores="none", rate_limit_retries=2)
    other = label_run("c", said("ny"), day=3, temperature=0.7, chunked=True)
    found = find_reruns([first, same, other])
    assert [group.names for group in found.groups] == [("a", "b")]
    detail = "chunked not stated and True, temperature 0.1 and 0.7"
    assert reasons(found) == [("a", "c", "other settings", detail), ("b", "c", "other settings", detail)]


def test_prompt_hashes_decide_where_they_are_stored() -> None:
    first = label_run("a", said("yn"), prompt_sha256="1f")
    same = label_run("b", said("nn"), day=2, prompt_sha256="1f")
    other = label_run("c", said("ny"), day=3, prompt_sha256="2e")
    unknown = label_run("d", said("yy"), day=4)
    found = find_reruns([first, same, other])
    assert [(group.names, group.identity) for group in found.groups] == [(("a", "b"), "prompt hash")]
    assert {row[2:] for row in reasons(found)} == {("other prompt text", "the hashes of the prompts differ")}

    assert [(g.names, g.identity) for g in find_reruns([first, unknown]).groups] == [(("a", "d"), "prompt name only")]
    lacking = [row for row in reasons(find_reruns([first, other, unknown])) if row[1] == "d"]
    assert {row[3] for row in lacking} == {"only one of them stores the prompt's hash"}


def test_a_replay_is_no_rerun_and_equal_answers_with_usage_are() -> None:
    first = label_run("first", said("yn"), reasoning="so")
    replay = label_run("replay", said("yn"), day=2, usage=False, reasoning="so")
    again = label_run("again", said("yn"), day=3, reasoning="so")
    other = label_run("other", said("yn"), day=4, usage=False, reasoning="otherwise")
    found = find_reruns([first, replay, again, other])
    assert [group.names for group in found.groups] == [("first", "again", "other")]
    ((a, b, reason, detail),) = reasons(found)
    assert (a, b, reason) == ("first", "replay", "replay")
    assert detail == "replay repeats every answer, confidence and reasoning, and no row of it carries usage"


def test_an_earlier_run_without_usage_is_no_replay() -> None:
    early, late = label_run("early", said("yn"), usage=False), label_run("late", said("yn"), day=2)
    assert [group.names for group in find_reruns([late, early]).groups] == [("early", "late")]


@pytest.mark.parametrize("day", [0, 1])
def test_the_same_run_given_twice_is_no_rerun(day: int) -> None:
    run = label_run("a", said("yn"), day=day)
    found = find_reruns([run, replace(run, source="copy.json")])
    assert found.groups == ()
    assert reasons(found) == [("a.json", "copy.json", "copy", "copy.json is the same run a second time")]


def test_without_time_stamps_what_carries_usage_came_first() -> None:
    found = find_reruns([label_run("a", said("yn"), day=0, usage=False), label_run("b", said("yn"), day=0)])
    assert reasons(found)[0][:3] == ("b", "a", "replay")


def test_runs_scored_against_other_labels_are_no_reruns() -> None:
    first, other = label_run("a", said("yn")), label_run("b", said("nn"), day=2, expected="no")
    found = find_reruns([first, other])
    assert found.groups == ()
    assert reasons(found)[0][2:] == ("scored differently", "their labels differ in 2 of 2 documents, e.g. 'd00', 'd01'")


def stored_run(name: str, day: int, law: str, score: float, **more: float) -> Run:
    """Make a run of one document whose scores are stored in its row."""
    scores = {"governing_law": score, **more}
    stored = {"overall_score": score, "field_scores": scores}
    row = ExtractionRow("d", usage=Usage(9, 1), predicted={"governing_law": law}, stored=stored)
    meta = RunMeta("contract_entity_extraction", name, MODEL, "v1", timestamp=f"2026-01-0{day}")
    return Run(meta, (row,), source=f"{name}.json")


def test_stored_scores_show_that_scorers_differed() -> None:
    first, same = stored_run("a", 1, "Ohio", 1.0), stored_run("b", 2, "Utah", 0.0)
    assert len(find_reruns([first, same]).groups) == 1
    found = find_reruns([first, same, stored_run("c", 3, "Ohio", 0.5)])
    assert [group.names for group in found.groups] == [("a", "b")]
    equal = "1 of 1 answers that are equal in both have different stored scores"
    detail = f"{equal}, e.g. governing_law of 'd' 1 and 0.5"
    assert ("a", "c", "scored differently", detail) in reasons(found)

    found = find_reruns([first, stored_run("d", 4, "Utah", 0.0, parties=1.0)])
    assert reasons(found)[0][2:] == ("scored differently", "only one of them scored parties in some document")


def test_scores_stand_for_answers_that_were_not_stored() -> None:
    runs = [stored_run(f"r{day}", day, "Ohio", score) for day, score in enumerate((0.5, 0.7, 0.7), start=1)]
    bare = [replace(run, rows=tuple(replace(row, predicted=None, usage=None) for row in run.rows)) for run in runs]
    found = find_reruns(bare)
    assert [group.names for group in found.groups] == [("r1", "r2")]
    assert reasons(found)[0][:3] == ("r2", "r3", "replay")


def test_other_recipes_are_named() -> None:
    data = sample_data()
    labels = load_labels(data / "labels.json")
    runs = [read_run(data / "runs" / f"extraction_v1_small{part}.json") for part in ("", "_rerun")]
    scored = [
        measure(score_run(run, labels, spans=spans), run=run) for run, spans in zip(runs, ("all", "first"), strict=True)
    ]
    found = find_reruns(scored)
    assert found.groups == ()
    assert "spans all and first" in reasons(found)[0][3]
    mixed = find_reruns([scored[0], runs[1]])
    assert reasons(mixed)[0][2] == "scored differently"
    assert "unknown" in reasons(mixed)[0][3]


def test_a_run_that_hardly_answered_shows_nothing() -> None:
    broken = label_run("broken", said("xxxy"), day=2)
    found = find_reruns([label_run("a", said("yyny")), broken, label_run("c", said("ynny"), day=3)])
    assert [group.names for group in found.groups] == [("a", "c")]
    assert [row[:3] for row in reasons(found)] == [
        ("a", "broken", "too few answers"),
        ("broken", "c", "too few answers"),
    ]
    assert reasons(found)[0][3] == "broken answered 1 of 4 documents"


def test_doubts_about_a_pair_are_noted() -> None:
    first = label_run("a", said("yn"))
    longer = tuple(replace(row, usage=Usage(10 + 7 * (row.document == "d01"), 1)) for row in first.rows)
    second = replace(label_run("b", said("nn"), day=2), rows=longer)
    (group,) = find_reruns([first, second]).groups
    assert "the prompts of 1 of 2 documents differ in length, 1 of them by 7 tokens" in group.notes[0]

    part = replace(second, rows=(longer[0], replace(longer[1], usage=None)))
    (group,) = find_reruns([first, part]).groups
    assert group.notes == ("1 of 2 answers of b carry no usage: taken from an earlier attempt",)


def test_runs_scored_without_their_rows_cannot_be_told_from_copies() -> None:
    scores = [replace(measure(label_run(name, said("yn"), day=day)), run=None) for name, day in (("a", 1), ("b", 2))]
    found = find_reruns(scores)
    assert found.groups == ()
    assert "without its rows nothing shows that they were given anew" in reasons(found)[0][3]


def test_progress_counts_runs_then_groups() -> None:
    seen: list[tuple[int, int]] = []
    noise_floor([label_run("a", said("yn")), label_run("b", said("nn"), day=2)], progress=lambda *at: seen.append(at))
    assert seen == [(1, 2), (2, 2), (3, 3)]


# --- pairs, bands and flips --------------------------------------------------------------------------------


def three_pairs() -> list[Run]:
    """Make pairs of three prompts whose accuracies differ by .2, -.1 and 0 of ten documents."""
    patterns = {
        "v1": ("yyyynnnnnn", "yyyyyynnnn"),
        "v2": ("yyyyyyyynn", "yyyyyyynnn"),
        "v3": ("ynynynynyn", "nynynynyny"),
    }
    return [
        label_run(f"{prompt} {number}", said(pattern), day=number, prompt=prompt)
        for prompt, pair in patterns.items()
        for number, pattern in enumerate(pair, start=1)
    ]


def test_band_of_three_pairs_by_hand() -> None:
    """RMS of (.2, -.1, 0) times Student's t of 3 degrees of freedom, 3.182446."""
    floor = noise_floor(three_pairs())
    band = floor.band("exact_match", task=TASK, model=MODEL, surface=floor.groups["surface"][0])
    rms = math.sqrt((0.2**2 + 0.1**2) / 3)
    assert band.m == 3
    assert sorted(band.deltas) == pytest.approx([-0.1, 0.0, 0.2])
    assert band.rms == pytest.approx(rms)
    assert band.value == pytest.approx(3.182446 * rms, rel=1e-6)
    assert band.reason == ""
    pair = pair_of(floor, "v1 1", "v1 2")
    assert (pair["n"], pair["n_better"], pair["n_worse"], pair["n_flips"]) == (10, 2, 0, 2)
    assert pair["delta"] == pytest.approx(0.2)
    assert pair["lo"] < 0.2 < pair["hi"]
    assert pair["flipped"] == ("d04", "d05")
    assert pair_of(floor, "v3 1", "v3 2")["n_flips"] == 10


def test_a_band_leaves_out_the_runs_under_comparison() -> None:
    runs = three_pairs()
    floor = noise_floor(runs)
    place = {"task": TASK, "model": MODEL, "surface": floor.groups["surface"][0]}
    band = floor.band("exact_match", **place, without=[measure(runs[0]).digest])
    assert (band.m, band.value) == (2, None)
    assert sorted(band.deltas) == pytest.approx([-0.1, 0.0])
    assert band.reason == (
        "rerun noise rests on 2 pairs, a band needs 3; reruns of the runs under comparison do not count"
    )
    none = floor.band("exact_match", **place, without=[measure(run).digest for run in runs])
    assert (none.m, none.deltas) == (0, ())
    assert none.reason.startswith(f"no reruns of {MODEL} on these documents; ")


def test_a_group_keeps_its_other_runs() -> None:
    patterns = ["yyyynn", "yyynnn", "yynnnn", "ynnnnn", "yyyyyn"]
    runs = [label_run(f"r{day}", said(pattern), day=day) for day, pattern in enumerate(patterns, start=1)]
    floor = noise_floor(runs)
    place = {"task": TASK, "model": MODEL, "surface": floor.groups["surface"][0]}
    assert floor.band("exact_match", **place).m == 4
    assert len(floor.pairs[floor.pairs["metric"] == "exact_match"]) == 10
    assert floor.band("exact_match", **place, without=[measure(runs[4]).digest]).m == 3


def test_pooling_over_surfaces_is_asked_for() -> None:
    small = [replace(run, rows=run.rows[:5], meta=replace(run.meta, name=f"{run.name} small")) for run in three_pairs()]
    floor = noise_floor([*three_pairs()[:4], *small[:2]])
    surface = floor.groups.loc[floor.groups["n_documents"] == 10, "surface"].iloc[0]
    place = {"task": TASK, "model": MODEL}
    assert floor.band("exact_match", **place, surface=surface).m == 2
    pooled = floor.band("exact_match", **place, pool="surfaces")
    assert pooled.m == 3
    assert pooled.value is not None
    assert len(floor.bands(["exact_match"])) == 2
    assert floor.bands(["exact_match"], pool="surfaces")["surface"].tolist() == [""]
    with pytest.raises(ValueError, match="expected '' or 'surfaces'"):
        floor.band("exact_match", **place, pool="models")  # type: ignore[arg-type]


def test_bands_of_other_tasks_models_and_metrics_are_unknown() -> None:
    floor = noise_floor(three_pairs())
    surface = floor.groups["surface"][0]
    for place in ({"task": "other", "model": MODEL}, {"task": TASK, "model": "other"}):
        band = floor.band("exact_match", **place, surface=surface)
        assert (band.value, band.m) == (None, 0)
        assert band.reason == f"no reruns of {place['model']} on these documents"
    assert floor.band("nothing", task=TASK, model=MODEL, surface=surface).m == 0


def test_only_documents_that_both_answered_count() -> None:
    floor = noise_floor([label_run("a", said("yyyynnnx")), label_run("b", said("yyynnxny"), day=2)])
    pair = pair_of(floor, "a", "b")
    assert pair["n"] == 6
    assert pair["delta"] == pytest.approx(-1 / 6)
    means = floor.means[floor.means["metric"] == "exact_match"]
    assert means["value"].tolist() == pytest.approx([4 / 6, 3 / 6])
    assert floor.groups["n_shared"].tolist() == [6]


def test_which_documents_flip() -> None:
    patterns = ["yynn", "ynnn", "nnnn"]
    runs = [label_run(f"r{day}", said(pattern), day=day) for day, pattern in enumerate(patterns, start=1)]
    flips = noise_floor(runs).flips(1)
    assert flips.columns.tolist() == ["document", "expected", "r1", "r2", "r3", "n_right"]
    assert flips.values.tolist() == [["d00", "yes", "yes", "yes", "no", 2], ["d01", "yes", "yes", "no", "no", 1]]


def test_metrics_can_be_chosen_and_unknown_ones_are_refused() -> None:
    runs = three_pairs()
    assert set(noise_floor(runs, metrics=["exact_match"]).pairs["metric"]) == {"exact_match"}
    with pytest.raises(InputError, match="did you mean 'exact_match'"):
        noise_floor(runs, metrics=["exact_matc"])


def test_no_reruns_give_an_empty_floor() -> None:
    for floor in (noise_floor([]), noise_floor([label_run("a", said("yn"))], metrics=["exact_match"])):
        assert len(floor) == 0
        assert len(floor.pairs) == len(floor.bands()) == len(floor.flips(1)) == 0
        assert floor.pairs["delta"].dtype == float
        band = floor.band("exact_match", task=TASK, model=MODEL, surface="")
        assert (band.value, band.reason) == (None, f"no reruns of {MODEL} on these documents")


def test_lower_is_better_counts_as_better() -> None:
    """Two fabricated items less: the share of hallucinated ones falls, so the difference is positive."""
    data = sample_data()
    labels, runs = load_labels(data / "labels.json"), []
    for part in ("", "_rerun"):
        run = read_run(data / "runs" / f"extraction_v1_small{part}.json")
        runs.append(measure(score_run(run, labels), run=run))
    floor = noise_floor(runs)
    lower = [name for name, info in runs[0].metrics.items() if not info.higher_is_better and info.kind != "class"]
    for name in [name for name in lower if name in set(floor.pairs["metric"])]:
        pair, means = pair_of(floor, *floor.means["run"].unique(), name), floor.means[floor.means["metric"] == name]
        if pair["n"] == means["n"].iloc[0]:
            assert pair["delta"] == pytest.approx(means["value"].iloc[0] - means["value"].iloc[1])


@settings(max_examples=15)
@given(patterns=st.lists(st.text("yn", min_size=6, max_size=6), min_size=2, max_size=4), data=st.data())
def test_the_order_in_which_runs_are_given_changes_nothing(patterns: list[str], data: st.DataObject) -> None:
    runs = [label_run(f"r{day}", said(pattern), day=day) for day, pattern in enumerate(patterns, start=1)]
    shuffled = data.draw(st.permutations(runs))
    floors = [noise_floor(given, metrics=["exact_match"]) for given in (runs, shuffled)]
    assert noise_as_dict(floors[0]) == noise_as_dict(floors[1])


# --- the sample --------------------------------------------------------------------------------------------


def test_the_sample_measures_a_noise_floor() -> None:
    floor = noise_floor(read_run(path) for path in sorted((sample_data() / "runs").glob("*.json")))
    place = {"model": "sample/small-1", "surface": floor.groups["surface"][0]}
    extraction = floor.band("overall_extraction_score", task="contract_entity_extraction", **place)
    families = floor.band("subtype_accuracy", task="subtype_classification", **place)
    assert (extraction.m, len(extraction.deltas)) == (5, 7)
    assert (families.m, len(families.deltas)) == (3, 6)
    assert 0 < extraction.value < families.value < 0.1
    assert len(floor.excluded) == 0
