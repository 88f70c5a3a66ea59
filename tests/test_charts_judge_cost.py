"""Charts of judges and costs: what their titles say, and that nothing to show is said."""

from __future__ import annotations

from typing import Any

from dojo_kit.analysis.cost_front import ScoredCost, cost_front
from dojo_kit.analysis.costs import cost_report, run_cost
from dojo_kit.analysis.judging import Judgment, calibrate_judge
from dojo_kit.charts.costs import cost_against_score, run_costs
from dojo_kit.charts.drawing import draw
from dojo_kit.charts.judging import judge_lean, judge_table
from dojo_kit.records import ExtractionRow, Run, RunMeta, Usage
from dojo_kit.stats.intervals import Estimate, undefined

FLASH = "deepseek/deepseek-v4-flash"


def run(name: str, tokens: int, model: str = FLASH) -> Run:
    return Run(RunMeta("extraction", name=name, model=model), (ExtractionRow("a", usage=Usage(tokens, 0)),))


def scored(name: str, tokens: int, score: float, model: str = FLASH) -> ScoredCost:
    return ScoredCost(run_cost(run(name, tokens, model)), "f1", Estimate(score, score - 0.1, score + 0.1, "t", 1))


def svg(chart: Any) -> str:
    drawing = draw(chart)
    return "".join(drawing.svgs("t").values())


def test_front_says_what_points_cost() -> None:
    chart = cost_against_score(
        cost_front([scored("cheap", 1000, 0.5), scored("dear", 3000, 0.75), scored("bad", 4000, 0.4)])
    )

    assert draw(chart).title == "+25.0 pp from cheap to dear cost 3.000 times as much a document"
    drawn = svg(chart)
    assert "beaten by cheap" in drawn
    assert "dear: 0.750 [0.650, 0.850] for $0.000150 a document, on the front" in drawn


def test_front_of_one_best_run_and_of_none() -> None:
    best = cost_against_score(cost_front([scored("a", 1000, 0.5), scored("b", 2000, 0.5)]))
    nothing = cost_against_score(cost_front([ScoredCost(run_cost(run("a", 1)), "f1", undefined("no label"))]))

    assert draw(best).title == "a is both the cheapest and the best of 2 runs"
    assert draw(cost_against_score(cost_front([scored("a", 1000, 0.5)]))).title == "a costs $0.0000500 a document"
    assert "No label." in svg(nothing)


def test_costs_of_runs() -> None:
    known = run_costs(cost_report([run("a", 1000), run("a", 2000)]))
    unknown = run_costs(cost_report([run("a", 1000), run("b", 1, model="x")]))

    assert draw(known).title == "2 runs cost an estimated $0.000150"
    assert "a (2)" in svg(known)
    assert "1 of 2 models unpriced; the known part is $0.0000500" in draw(unknown).title
    assert "unknown: no price for x" in svg(unknown)
    assert draw(run_costs(cost_report([]))).title == "There are no runs"


def test_judge_charts() -> None:
    rows = [Judgment(f"s{i}", 0.9, "accurate", ("law",)) for i in range(9)]
    rows += [Judgment(f"w{i}", 0.3, "accurate", ("term",)) for i in range(6)]
    rows += [Judgment(f"x{i}", 0.3, "inaccurate", ("term",)) for i in range(6)]
    found = calibrate_judge(rows)

    assert draw(judge_table(found)).title.startswith(
        "Judge and score agree on 71% of 21 decisive documents; beyond chance"
    )
    assert "6 documents: score weak, judge says accurate (lenient)" in svg(judge_table(found))
    assert draw(judge_lean(found)).title.startswith("The judge is kinder than the score by 0.286 [")
    assert "term: lean +0.50 in 12 documents, 0 strict, 6 lenient" in svg(judge_lean(found))


def test_judge_charts_with_nothing_to_show() -> None:
    nothing = calibrate_judge([])
    middling = calibrate_judge([Judgment("a", 0.7, "partial", ("law",))])

    assert draw(judge_table(nothing)).title == "Nothing can be compared"
    assert draw(judge_lean(nothing)).title == "The judge leans nowhere"
    assert draw(judge_table(middling)).title.startswith("No document tells judge and score apart")
    assert "to no side" in draw(judge_lean(middling)).title
