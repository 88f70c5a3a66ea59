"""Leaderboards within a surface, co-champions, alerts over time, and the trend by prompt version."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from compared_runs import ToldNoise, label_run, question_run, stored_run, verdicts

from dojo_kit.analysis.compare import compare
from dojo_kit.analysis.leaderboard import BOARD_COLUMNS, leaderboard, regressions, trend
from dojo_kit.analysis.measured import measure
from dojo_kit.errors import InputError
from dojo_kit.records import Run
from dojo_kit.runs import load_labels, read_run
from dojo_kit.samples import sample_data
from dojo_kit.scoring.run import score_run
from dojo_kit.stats.compare import Band

STRONG, CLOSE, WEAK = "+" * 50, "+" * 48 + "--", "+" * 30 + "-" * 20


def run(pattern: str, name: str, day: int = 1, **more: Any) -> Run:
    return label_run(
        verdicts(pattern), name=name, prompt=more.pop("prompt", name), timestamp=f"2026-01-{day:02d}", **more
    )


def test_ranks_distances_and_co_champions() -> None:
    (board,) = leaderboard([run(WEAK, "weak"), run(CLOSE, "close"), run(STRONG, "strong")])
    table = board.table
    assert list(table.columns) == list(BOARD_COLUMNS)
    assert table["run"].tolist() == ["strong", "close", "weak"]
    assert table["rank"].tolist() == [1, 2, 3]
    assert table["delta"].tolist() == pytest.approx([0.0, -0.04, -0.4])
    assert table["co_champion"].tolist() == [True, True, False]
    assert board.co_champions == ("strong", "close")
    assert board.best.name == "strong"
    assert (table["lo"] <= table["value"]).all()


def test_equal_values_share_a_rank() -> None:
    (board,) = leaderboard([run("++-", "a"), run("-++", "b"), run("--+", "c")])
    assert board.table["rank"].tolist() == [1, 1, 3]


def test_surfaces_and_ways_of_measuring_are_never_mixed() -> None:
    boards = leaderboard(
        [
            run(STRONG, "a"),
            run(WEAK, "b"),
            run(STRONG + "+", "more documents"),
            stored_run({"x": {"f": 1.0}}, name="extraction"),
            stored_run({"x": {"f": 0.0}}, name="other labels", ground_truth="folder"),
            stored_run({"x": {"f": 0.5}}, name="again", ground_truth="clauses"),
        ]
    )
    found = [sorted(one.name for one in board.runs) for board in boards]
    assert sorted(found) == [["a", "b"], ["again"], ["extraction", "other labels"], ["more documents"]]
    assert all("stored scores" in board.table["note"][0] for board in boards if board.kind == "extraction")


def test_a_run_within_rerun_noise_is_a_co_champion() -> None:
    noise = ToldNoise({"m": Band(0.5, 0.2, 3)})
    (board,) = leaderboard([run(WEAK, "weak"), run(STRONG, "strong")], noise=noise)
    assert board.table["verdict"].tolist() == ["", "within rerun noise"]
    assert board.co_champions == ("strong", "weak")


def test_a_repeated_run_is_named() -> None:
    first, again = run(STRONG, "first"), run(STRONG, "again", 2, reasoning="first")
    (board,) = leaderboard([first, again])
    assert board.table["note"].tolist() == ["", "repeats the answers of first"]
    assert board.table["co_champion"].all()


def test_lower_is_better_ranks_the_lowest_first() -> None:
    (board,) = leaderboard([run("xx++", "failing"), run("++++", "sound")], metric="failure_rate")
    assert board.table["run"].tolist() == ["sound", "failing"]
    assert board.table["value"].tolist() == [0.0, 0.5]


def test_runs_without_the_metric_are_left_out() -> None:
    with_field = stored_run({"a": {"x": 1.0}}, name="x")
    assert leaderboard([with_field, run("+", "labels")], metric="x_score")[0].runs[0].name == "x"
    assert leaderboard([], metric="x_score") == ()
    for ranked in (leaderboard, regressions, trend):
        with pytest.raises(
            InputError, match=r"none of the runs has the metric 'exact_mach' \(did you mean 'exact_match'"
        ):
            ranked([run("+", "labels"), run("-", "others")], metric="exact_mach")


def test_a_board_as_data() -> None:
    (board,) = leaderboard([run(WEAK, "weak"), run(STRONG, "strong")])
    told = json.loads(json.dumps(board.as_dict(), allow_nan=False))
    assert [row["run"] for row in told["runs"]] == ["strong", "weak"]
    assert told["runs"][0]["p"] is None
    assert repr(board) == "Board('legalbench', exact_match, 2 runs on 50 documents, best 'strong')"


def test_alerts_name_the_best_run_before() -> None:
    runs = [run(WEAK, "later", 3), run(STRONG, "best", 2), run(CLOSE, "first", 1), run(CLOSE, "last", 4, reasoning="x")]
    alerts = regressions(runs)
    assert alerts[["run", "against", "verdict"]].values.tolist() == [
        ["later", "best", "inconclusive: rerun noise not measured"]
    ]
    assert alerts["delta"][0] == pytest.approx(-0.4)
    assert regressions(runs, noise=ToldNoise({"m": Band(0.5, 0.2, 3)})).empty


def test_a_weaker_model_is_no_regression_unless_asked() -> None:
    runs = [run(STRONG, "strong", 1), run(WEAK, "weak", 2, model="n")]
    assert regressions(runs).empty
    assert regressions(runs, across_models=True)["run"].tolist() == ["weak"]


def test_a_rerun_is_no_regression_and_undated_runs_take_no_part() -> None:
    runs = [run(STRONG, "a", 1, prompt="v1"), run(WEAK, "b", 2, prompt="v1")]
    assert regressions(runs).empty
    undated = label_run(verdicts(WEAK), name="undated", prompt="v3", timestamp="")
    assert regressions([runs[0], undated]).empty


def test_the_trend_averages_reruns_and_pairs_versions() -> None:
    runs = [
        run(WEAK, "a", 1, prompt="v1"),
        run("+" * 34 + "-" * 16, "b", 2, prompt="v1"),
        run(STRONG, "c", 3, prompt="v2"),
        run(CLOSE, "d", 4, prompt="v2", model="n"),
    ]
    ((board, table),) = trend(runs)
    assert len(board.runs) == 4
    assert table[["model", "prompt_version", "n_runs"]].values.tolist() == [
        ["m", "v1", 2],
        ["m", "v2", 1],
        ["n", "v2", 1],
    ]
    assert table["value"].tolist() == pytest.approx([0.64, 1.0, 0.96])
    assert table["delta"].tolist()[1] == pytest.approx(0.36)
    assert table["delta"].isna().tolist() == [True, False, True]


def test_the_trend_pools_ratios_and_keeps_contracts_together() -> None:
    """A contract with many questions weighs as much as its questions, and is drawn whole."""
    outcomes = ({"A": "TP FN FP", "B": "TP"}, {"A": "TP TP TP", "B": "FN"}, {"A": "FN FN TP", "B": "TP"})
    runs = [
        question_run({name: found.split() for name, found in one.items()}, name=name, prompt=prompt)
        for one, name, prompt in zip(outcomes, "abc", ("v1", "v2", "v2"), strict=True)
    ]
    # which pairs have a label must not depend on the run
    runs = [replace(one, rows=tuple(replace(row, label_spans=("the clause",)) for row in one.rows)) for one in runs]
    dated = [replace(one, meta=replace(one.meta, timestamp=f"2026-01-0{day}")) for day, one in enumerate(runs, 1)]
    ((board, table),) = trend(dated)
    found = compare(dated[0], dated[1]).headline
    ((_, pair),) = trend(dated[:2])
    assert pair["value"].tolist() == [found.a.value, found.b.value]
    assert pair["delta"][1] == found.delta.value
    assert (pair["delta_lo"][1], pair["delta_hi"][1], pair["p"][1]) == (found.delta.lo, found.delta.hi, found.delta.p)
    assert pair["n"].tolist() == [2, 2]
    assert board.metric == "f2"
    sums = [measure(one) for one in dated[1:]]
    pooled = sum(one.numerators["f2"].sum() for one in sums) / sum(one.denominators["f2"].sum() for one in sums)
    assert table["value"][1] == pytest.approx(pooled)


def test_the_trend_of_a_pooled_ratio_is_that_of_the_board() -> None:
    labels = load_labels(sample_data() / "labels.json")
    files = [sample_data() / "runs" / f"extraction_{name}_small.json" for name in ("v1", "v2")]
    runs = [measure(score_run(run, labels), run=run) for run in map(read_run, files)]
    for metric in ("list_micro_f1_joint", "list_micro_recall"):
        ((board, table),) = trend(runs, metric=metric)
        values = board.table.set_index("prompt_version")[["value", "lo", "hi"]]
        for row in table.to_dict("records"):
            assert [row["value"], row["lo"], row["hi"]] == values.loc[row["prompt_version"]].tolist()
        delta = compare(*runs, metric).headline.delta
        told = table[["delta", "delta_lo", "delta_hi", "p"]].values[1].tolist()
        assert told == [delta.value, delta.lo, delta.hi, delta.p]


def test_a_rerun_that_is_shown_to_be_worse_is_no_co_champion() -> None:
    (board,) = leaderboard([run(STRONG, "a", 1, prompt="v1"), run(WEAK, "b", 2, prompt="v1")])
    assert board.table["verdict"].tolist() == ["", "rerun"]
    assert board.co_champions == ("a",)
    (board,) = leaderboard([run(STRONG, "a", 1, prompt="v1"), run(CLOSE, "b", 2, prompt="v1")])
    assert board.co_champions == ("a", "b")


def test_a_replay_does_not_count_twice_in_the_trend() -> None:
    runs = [run(STRONG, "first", 1, prompt="v1"), run(STRONG, "replay", 2, prompt="v1", reasoning="first")]
    ((_, table),) = trend(runs)
    assert table["n_runs"].tolist() == [1]


def test_public_runs_of_all_models(real_data: Path) -> None:
    numbers = "063 143 157 170 187 191 192 060".split()
    measured = [measure(read_run(real_data / "runs" / f"{number}.json")) for number in numbers]
    boards = leaderboard(measured)
    assert [board.n for board in boards] == [509, 243]
    table = boards[0].table.set_index("source")
    assert boards[0].best.model == "deepseek/deepseek-v4-pro"
    assert table.loc[str(real_data / "runs" / "170.json"), "co_champion"]
    assert not table.loc[str(real_data / "runs" / "063.json"), "co_champion"]
    assert "repeats the answers of" in str(table.loc[str(real_data / "runs" / "192.json"), "note"])
