"""What runs cost. Right values: by hand, and the estimates stored in the public runs."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from compared_runs import question_run

from dojo_kit import read_run
from dojo_kit.analysis.billing import Generation, assign_bill
from dojo_kit.analysis.cost_front import ScoredCost, cost_front, cost_fronts, scored_cost
from dojo_kit.analysis.costs import RunCost, cost_report, run_cost
from dojo_kit.analysis.measured import measure
from dojo_kit.analysis.pairing import estimate_of
from dojo_kit.errors import ComparabilityError, InputError, SettingsError
from dojo_kit.prices import packaged_prices, price_of, priced_as
from dojo_kit.records import ChainedRow, ExtractionRow, LabelRow, Row, Run, RunMeta, Usage
from dojo_kit.settings import Settings
from dojo_kit.stats.intervals import Bootstrap, Estimate, undefined

FLASH, PRO = "deepseek/deepseek-v4-flash", "deepseek/deepseek-v4-pro"
END = datetime(2026, 1, 1, 12, tzinfo=UTC)


def run(*rows: Row, model: str = FLASH, name: str = "r", end: datetime = END, **meta: Any) -> Run:
    head = RunMeta("contract_entity_extraction", name=name, model=model, timestamp=end.isoformat(), **meta)
    return Run(head, rows)


def used(document: str, read: int, written: int, cost: float | None = None) -> ExtractionRow:
    return ExtractionRow(document, usage=Usage(read, written, cost))


def test_prices_of_the_package() -> None:
    table = packaged_prices()

    assert table.prices[FLASH] == (0.05, 0.25)
    assert (table.as_of, table.source) == ("2026-08-18", "as given in the scoring reference")
    assert Settings().cost_models == table.prices
    assert price_of("openai/gpt-4.1-nano", table.prices) is None
    assert priced_as("openai/gpt-4.1-mini-2026", table.prices) == "openai/gpt-4.1-mini"


def test_tokens_times_price() -> None:
    """By hand: 3,000 tokens at .05 and 500 at .25 a million."""
    cost = run_cost(run(used("a", 1000, 200), used("b", 2000, 300)))

    assert (cost.total.prompt_tokens, cost.total.completion_tokens, cost.total.total_tokens) == (3000, 500, 3500)
    assert cost.total.estimated_usd == pytest.approx(0.000275)
    assert cost.per_document.value == pytest.approx(0.0001375)
    assert (cost.whole_run.value, cost.whole_run.method) == (cost.total.estimated_usd, "sum")
    assert not cost.extrapolated


def test_interval_of_a_document_is_the_bootstrap_over_documents_by_key() -> None:
    rows = [used(f"d{index}", 1000 * index, 10) for index in range(1, 30)]
    values = [0.05e-6 * 1000 * index + 0.25e-6 * 10 for index in sorted(range(1, 30), key=str)]

    found = run_cost(run(*rows)).per_document
    assert found == run_cost(run(*rows[::-1])).per_document
    assert (found.lo, found.hi) == pytest.approx((Bootstrap().mean(values).lo, Bootstrap().mean(values).hi))


def test_replayed_and_failed_rows_stand_apart() -> None:
    """By hand: two replayed rows at the mean of two others make the whole run twice as dear; failures cost nothing."""
    failed = ExtractionRow("e", status="failed", error="x")
    cost = run_cost(run(used("a", 1000, 0), used("b", 3000, 0), ExtractionRow("c"), ExtractionRow("d"), failed))

    assert (cost.total.n_rows, cost.total.rows_with_usage) == (5, 2)
    assert (cost.total.rows_replayed, cost.total.rows_failed) == (2, 1)
    assert cost.total.estimated_usd == pytest.approx(0.0002)
    assert cost.whole_run.value == pytest.approx(0.0004)
    assert cost.extrapolated
    assert cost.whole_run.note == "2 of 4 rows have no usage and are taken at the mean of the others"
    assert (cost.whole_run.lo, cost.whole_run.hi) == pytest.approx((0.0003, 0.0005))


def test_stated_costs() -> None:
    cost = run_cost(run(used("a", 10, 10, 0.5), used("b", 10, 10, 0.25), used("c", 10, 10)))

    assert (cost.total.rows_billed, cost.total.billed_usd, cost.total.billed_mean_usd) == (2, 0.75, 0.375)
    assert cost.per_document_billed.value == 0.375
    report = cost_report([run(used("a", 10, 10, 0.5)), run(used("a", 10, 10, 0.5), used("b", 1, 1))])
    assert report.billed.usd is None
    assert report.billed.known_usd == 0.5
    assert report.billed.note == "1 of 2 runs without a stated cost"


def test_stages_of_a_chained_run() -> None:
    def row(document: str, sorter: dict[str, Any] | None, extractor: dict[str, Any] | None) -> ChainedRow:
        stored = {"sorter_tokens": sorter, "extractor_tokens": extractor}
        parts = [Usage(one["prompt_tokens"], one["completion_tokens"]) for one in (sorter, extractor) if one]
        total = Usage(sum(p.prompt_tokens for p in parts), sum(p.completion_tokens for p in parts)) if parts else None
        return ChainedRow(document, usage=total, stored=stored, predicted="ip", extracted={} if extractor else None)

    tokens = {"prompt_tokens": 100, "completion_tokens": 10}
    cost = run_cost(run(row("a", tokens, tokens), row("b", tokens, {}), row("c", None, None)))

    assert list(cost.stages) == ["sorter", "extractor", "total"]
    assert [stage.prompt_tokens for stage in cost.stages.values()] == [200, 100, 300]
    assert [stage.rows_with_usage for stage in cost.stages.values()] == [2, 1, 2]
    assert (cost.stages["extractor"].rows_failed, cost.stages["sorter"].rows_replayed) == (2, 1)
    assert cost.total.estimated_usd == pytest.approx(
        sum(cost.stages[stage].estimated_usd or 0 for stage in ("sorter", "extractor"))
    )


def test_an_unknown_price_stays_unknown_and_spoils_the_sum() -> None:
    runs = [run(used("a", 1_000_000, 0)), run(used("a", 10, 10), model="x/y"), run(used("a", 1, 1), model="x/z")]
    report = cost_report(runs)

    assert report.runs[1].total.estimated_usd is None
    assert report.runs[1].per_document.note == "no price for x/y"
    assert report.runs[1].whole_run.value is None
    assert report.estimated.usd is None
    assert report.estimated.note == "2 of 3 models unpriced"
    assert report.estimated.unpriced == ("x/y", "x/z")
    assert report.estimated.known_usd == pytest.approx(0.05)
    assert report.by_model().set_index("model")["estimated_usd"].isna().tolist() == [False, True, True]
    settings = Settings.load(env={}, overrides={"cost_models": {"x/": [1, 2], FLASH: [1, 1]}})
    priced = cost_report(runs, settings=settings)
    assert priced.estimated.usd == pytest.approx(1 + 30e-6 + 3e-6)
    assert priced.runs[1].priced_as == "x/"
    assert any("x/y has no price of its own and is priced as x/" in note for note in priced.notes)


def test_a_run_without_usage_spoils_the_sum_too() -> None:
    report = cost_report([run(used("a", 10, 10)), run(ExtractionRow("a"))])

    assert report.runs[1].total.note == "no usage recorded"
    assert report.estimated.usd is None
    assert report.estimated.note == "1 of 2 runs recorded no usage"


def test_a_run_given_twice_is_said_to_be() -> None:
    one = run(used("a", 10, 10))

    assert cost_report([one, one]).notes == ("r is given 2 times and counted as often",)


def test_runs_of_one_name_are_told_apart() -> None:
    runs = [replace(run(used("a", 10, 10)), source=source) for source in ("x/1.json", "x/2.json", "", "")]

    assert [one.name for one in cost_report(runs).runs] == ["r (1)", "r (2)", "r", "r (3)"]
    assert [one.name for one in cost_report(runs[:2]).runs] == ["r (1)", "r (2)"]
    assert [one.name for one in cost_report(runs[:1]).runs] == ["r"]


def test_reports_are_json_and_frames() -> None:
    report = cost_report([run(used("a", 10, 10)), run(ExtractionRow("a"), model="x")])

    assert json.loads(json.dumps(report.as_dict(), allow_nan=False))["estimated"]["n_models"] == 2
    assert report.frame()["stage"].tolist() == ["total", "total"]
    assert cost_report([]).estimated.usd == 0


# Cost against score


def point(name: str, cost: float, score: float | None, *, documents: str = "ab", metric: str = "f1") -> ScoredCost:
    of_run = run_cost(run(*(used(one, int(cost * 1000), 0) for one in documents), name=name))
    estimate = undefined("no label") if score is None else Estimate(score, None, None, "none", 2)
    return ScoredCost(of_run, metric, estimate)


def test_front() -> None:
    """By hand: c costs more than b for less, d as much as b for less, e is as good as a for more."""
    front = cost_front(
        [point("e", 2, 0.5), point("c", 6, 0.7), point("b", 5, 0.8), point("a", 1, 0.5), point("d", 5, 0.75)]
    )

    assert [one.run for one in front.points] == ["a", "e", "b", "d", "c"]
    assert [one.run for one in front.front] == ["a", "b"]
    assert {one.run: one.beaten_by for one in front.points if not one.on_front} == {"e": "a", "d": "b", "c": "b"}
    assert front.frame()["on_front"].tolist() == [True, False, True, False, False]
    assert json.dumps(front.as_dict(), allow_nan=False)


def test_equal_runs_share_the_front() -> None:
    assert len(cost_front([point("a", 1, 0.5), point("b", 1, 0.5)]).front) == 2


def test_front_names_what_it_leaves_out() -> None:
    front = cost_front([point("a", 1, 0.5), point("b", 1, None)])

    assert (front.left_out, len(front.points)) == ((("b", "no label"),), 1)


def test_front_refuses_runs_that_cannot_be_compared() -> None:
    with pytest.raises(ComparabilityError, match="'a' and 'b' are over different documents"):
        cost_front([point("a", 1, 0.5), point("b", 1, 0.5, documents="abc")])
    with pytest.raises(ComparabilityError, match="f1 and accuracy"):
        cost_front([point("a", 1, 0.5), point("b", 1, 0.5, metric="accuracy")])
    with pytest.raises(SettingsError, match="known: estimate, billed"):
        cost_front([], basis="dear")  # type: ignore[arg-type]


def test_fronts_are_of_one_surface_each() -> None:
    runs = [point("a", 1, 0.5), point("b", 2, 0.6), point("c", 1, 0.5, documents="x"), point("d", 1, 0.5, metric="m")]

    assert [[one.run for one in front.points] for front in cost_fronts(runs)] == [["a", "b"]]


def test_basis_is_what_more_runs_have() -> None:
    def of(model: str, cost: float | None) -> ScoredCost:
        one = run_cost(run(used("a", 10, 10, cost), model=model, name=model))
        return ScoredCost(one, "f1", Estimate(0.5, None, None, "none", 1))

    assert cost_front([of(FLASH, 1.0), of(PRO, None)]).basis == "estimate"
    front = cost_front([of("x/y", 1.0), of(FLASH, 1.0)])
    assert (front.basis, len(front.points)) == ("billed", 2)
    assert cost_front([of("x/y", 1.0), of(FLASH, 1.0)], basis="estimate").left_out == (("x/y", "no price for x/y"),)


def test_score_of_a_run_of_labels() -> None:
    rows = [LabelRow(one, expected="yes", predicted=one, usage=Usage(10, 1)) for one in ("yes", "no")]
    labelled = Run(RunMeta("legalbench", name="l", model=FLASH), tuple(rows))
    scored = scored_cost(run_cost(labelled), labelled)

    assert (scored.metric, scored.score.value, scored.score.n) == ("exact_match", 0.5, 2)
    with pytest.raises(InputError, match="no metric 'exact_mach'"):
        scored_cost(run_cost(labelled), labelled, metric="exact_mach")


def labelled(name: str, *, task: str = "legalbench", truth: str = "yes", model: str = FLASH) -> Run:
    rows = tuple(LabelRow(one, expected=truth, predicted="yes", usage=Usage(10, 1), reasoning=name) for one in "abcd")
    return Run(RunMeta(task, name=name, model=model), rows)


def test_a_front_is_of_runs_that_may_be_compared() -> None:
    """Same documents and metric, but another task or other labels."""
    others = [labelled("a"), labelled("b"), labelled("other labels", truth="no"), labelled("other", task="maud_yes_no")]
    others.append(labelled("again", truth="no"))
    scored = [scored_cost(run_cost(one), one, metric="exact_match") for one in others]
    fronts = cost_fronts(scored)
    assert [sorted(point.run for point in front.points) for front in fronts] == [["a", "b"], ["again", "other labels"]]
    with pytest.raises(ComparabilityError, match=r"'other labels' were not measured alike \(their labels differ"):
        cost_front([scored[0], scored[2]])


def test_a_score_keeps_contracts_together() -> None:
    """Questions of a contract are drawn together, as in a comparison."""
    asked = question_run({"A": ["TP", "FN", "TP"], "B": ["FN"], "C": ["TP", "TP"]})
    score = scored_cost(run_cost(asked), asked).score
    assert score == estimate_of(measure(asked), "f2")
    assert score.unit == "contracts"


def test_nothing_known_is_no_zero() -> None:
    report = cost_report([run(used("a", 10, 1), model="x/y"), run(used("a", 10, 1), model="", name="nameless")])
    assert (report.estimated.usd, report.estimated.known_usd) == (None, None)
    assert report.estimated.note == "1 of 1 models unpriced; 1 of 2 runs names no model"
    assert report.by_model()["known_usd"].isna().all()
    assert report.runs[1].total.note == "the run names no model, so it has no price"


# The provider's bill


def bill_of(cost: RunCost, minutes: list[float], tokens: int, usd: float = 0.01) -> list[Generation]:
    return [Generation(END + timedelta(minutes=one), cost.model, usd, tokens) for one in minutes]


def test_generations_belong_to_the_first_run_that_ended_after_them() -> None:
    first = run_cost(run(used("a", 100, 0), used("b", 100, 0), name="first"))
    second = run_cost(run(used("a", 100, 0), name="second", end=END + timedelta(hours=1)))
    other = run_cost(run(used("a", 100, 0), name="other", model=PRO, end=END + timedelta(minutes=5)))
    lines = [
        *bill_of(first, [-2, 0], 100),
        *bill_of(second, [1], 100),
        *bill_of(other, [-1], 100),
        *bill_of(first, [90], 5),
    ]
    lines.append(Generation(END, "someone/else", 1.0, 5))
    bill = assign_bill(lines[::-1], [second, first, other])

    assert [(one.run, one.n_generations, one.mixed) for one in bill.runs] == [
        ("second", 1, False),
        ("first", 2, False),
        ("other", 1, False),
    ]
    assert {model: n for model, n, _ in bill.unassigned} == {FLASH: 1, "someone/else": 1}
    assert bill.total_usd == pytest.approx(1.05)
    assert bill.by_model().set_index("model").loc[FLASH, "billed_usd"] == pytest.approx(0.03)
    assert json.dumps(bill.as_dict(), allow_nan=False)


def test_overlapping_runs_are_mixed() -> None:
    """Half of the second run's calls were made before the first one ended."""
    first = run_cost(run(used("a", 100, 0), name="first"))
    second = run_cost(run(used("a", 100, 0), used("b", 100, 0), name="second", end=END + timedelta(minutes=1)))
    bill = assign_bill([*bill_of(first, [-2], 100), *bill_of(second, [-1, 1], 100)], [first, second])

    assert [one.mixed for one in bill.runs] == [True, True]
    assert bill.runs[0].note.startswith("more tokens billed")
    assert bill.runs[1].note.startswith("fewer tokens billed")
    assert bill.n_mixed == 2


def test_what_a_bill_cannot_tell() -> None:
    one = run_cost(run(used("a", 100, 0), used("b", 100, 0)))
    silent = replace(one, timestamp="")

    assert assign_bill([], [one]).runs[0].note.startswith("nothing was billed in its time")
    assert assign_bill(bill_of(one, [-1], 200), [silent]).runs[0].note == "the run has no time stamp"
    no_tokens = [replace(line, tokens=None) for line in bill_of(one, [-1], 0)]
    assert assign_bill(no_tokens, [one]).runs[0].mixed
    assert assign_bill(no_tokens * 2, [one]).runs[0].note == "the export has no tokens to compare with"


@pytest.mark.parametrize("suffix", ["-2026", "-2026-01-31", "-20260131", "-001", ":free", "-0613:nitro"])
def test_a_snapshot_of_a_model_is_given_to_its_runs_with_a_note(suffix: str) -> None:
    one = run_cost(run(used("a", 100, 0), used("b", 100, 0)))
    bill = assign_bill([replace(line, model=f"{FLASH}{suffix}") for line in bill_of(one, [-1], 200)], [one])
    assert bill.runs[0].n_generations == 1
    assert bill.notes == (f"{FLASH}{suffix} is taken for {FLASH}, whose slug it continues by a snapshot or variant",)
    assert bill.as_dict()["notes"] == list(bill.notes)


@pytest.mark.parametrize("suffix", ["-max", "-8b", "2", ".1", "-32k"])
def test_a_sibling_of_a_model_is_another_model(suffix: str) -> None:
    one = run_cost(run(used("a", 100, 0)))
    bill = assign_bill([replace(line, model=f"{FLASH}{suffix}") for line in bill_of(one, [-1], 100)], [one])
    assert (bill.runs[0].n_generations, bill.runs[0].billed_usd) == (0, None)
    assert bill.unassigned == ((f"{FLASH}{suffix}", 1, 0.01),)
    assert bill.notes == (f"{FLASH}{suffix} begins like {FLASH} but is another model: it is given to no run",)


# Public runs


def test_stored_estimates_of_public_runs(real_data: Path) -> None:
    """Every stored bucket of tokens but the two of run 158, null there, has the estimate its rows give.

    The reference counts 290 of 292 and $11.91 over 188 runs; 184 of them are at hand. Run 096 keeps no usage in its
    row, so that its two buckets cannot be had from rows. A chained run stores calls where rows are counted here.
    """
    paths = sorted((real_data / "runs").glob("*.json"))
    report = cost_report([read_run(path) for path in paths])
    n_buckets = 0
    off: dict[str, set[str]] = {"by tokens": set(), "by rows": set()}
    for path, found in zip(paths, report.runs, strict=True):
        stored = json.loads(path.read_text(encoding="utf-8"))["tokens"]
        for stage, bucket in ({"total": stored} if "prompt_tokens" in stored else stored).items():
            n_buckets += 1
            mine, estimate = found.stages.get(stage, found.total), bucket["cost_estimated_usd"]
            read, written = bucket["prompt_tokens"], bucket["completion_tokens"]
            known = found.price if read + written else None
            by_tokens = None if known is None else (read * known[0] + written * known[1]) / 1e6
            by_rows = mine.estimated_usd
            for way, value in (("by tokens", by_tokens), ("by rows", by_rows)):
                if (None if value is None else round(value, 6)) != estimate:
                    off[way].add(f"{path.stem} {stage}")

    missing = {"158 sorter", "158 total"}
    assert off == {"by tokens": missing, "by rows": missing | {"096 sorter", "096 total"}}
    assert report.estimated.usd is None
    assert "5 of 8 models unpriced" in report.estimated.note
    if n_buckets == 284:
        assert report.estimated.known_usd == pytest.approx(11.70101 - 0.000664 + 0.004849, abs=2e-5)
