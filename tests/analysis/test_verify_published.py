"""The audit of every published run record."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from verify_records import PRICES, Record, unaccounted

from dojo_kit.analysis.verify import VerifyReport, verify_record

Published = list[tuple[str, Record, VerifyReport]]


@pytest.fixture(scope="module")
def published(real_data: Path) -> list[tuple[str, Record, VerifyReport]]:
    found = []
    for file in sorted((real_data / "runs").glob("*.json")):
        record = json.loads(file.read_text(encoding="utf-8"))
        found.append((file.stem, record, verify_record(record, name=file.stem, prices=PRICES)))
    return found


def test_published_aggregates_follow_from_their_rows(published: Published) -> None:
    assert len(published) == 184
    different = {run: report.differences for run, _, report in published if report.differences}
    assert set(different) == {"096", "102", "158"}

    # 096: one row, whose usage is in the totals but not in the row
    assert {d.name.rsplit(".", 1)[1] for d in different["096"]} == {
        "prompt_tokens",
        "completion_tokens",
        "total_tokens",
        "cost_estimated_usd",
        "rows_with_usage",
    }
    assert len(different["096"]) == 10
    assert all("rows_with_usage says 1 but 0 rows carry usage" in d.note for d in different["096"])

    # 102: 42 failed calls listed as wrong families: 40 + 42 = 82
    values = {d.name.removeprefix("scores.sorter.failure_insights."): d for d in different["102"]}
    assert (values["n_failed"].stored, values["n_failed"].recomputed) == (82, 40)
    confused = values["mode_counts.family_confusion"]
    assert (confused.stored, confused.recomputed) == (73, 31)
    assert set(values) == {"n_failed", "mode_counts.family_confusion", "failures"}
    assert all("the 42 rows without an answer are counted as wrong" in d.note for d in different["102"])

    # 158: null although the model has a price: 130,217 in at .03 and 7,251 out at .13 a million = .00484914
    assert [d.name for d in different["158"]] == [
        "tokens.sorter.cost_estimated_usd",
        "tokens.total.cost_estimated_usd",
    ]
    assert all(d.stored is None and d.recomputed == pytest.approx(0.00484914) for d in different["158"])
    assert all(d.note.startswith("no estimate was stored") for d in different["158"])


def test_published_intervals_are_confirmed(published: Published) -> None:
    names = [name for _, _, report in published for name in report.confirmed]
    for part in ("lo", "hi", "half", "n", "seed", "n_boot", "method"):
        assert sum(name.endswith(f"_ci.{part}") for name in names) == 168


def test_published_surfaces_and_counts_are_confirmed(published: Published) -> None:
    names = Counter(name for _, _, report in published for name in report.confirmed)
    assert names["data_source.dataset_fingerprint"] == names["data_source.n_samples"] == 184
    assert names["n_rows"] == names["n_ok"] == 184 - 15  # docclass records count under scores
    assert names["scores.n_rows"] == 15


def test_only_what_needs_labels_is_unverifiable(published: Published) -> None:
    for run, _, report in published:
        for entry in report.unverifiable:
            label_bound = re.match(r"scores\.diagnostics\.(date|duration|money)_", entry.name)
            # 012 was scored before rows carried the flag of equivalent families
            old = run == "012" and entry.name == "scores.sorter.failure_insights.failures[].equiv_recovered"
            assert label_bound or old, (run, entry)
    assert sum(len(report.unverifiable) for _, _, report in published) == 221


def test_every_published_value_is_accounted_for(published: Published) -> None:
    for run, record, report in published:
        assert not unaccounted(record, report), run


def test_published_rows_are_consistent(published: Published) -> None:
    checked: Counter[str] = Counter()
    for _, _, report in published:
        for check in report.row_checks:
            assert check.n_different == 0
            checked[check.name] += check.n
    assert checked["rows.overall_score"] == 1240 + 78
    assert checked["rows.entity_list_audit.true_items"] == 8491 + 556
    assert checked["rows.subtype_ok"] == 16_120 + 80
