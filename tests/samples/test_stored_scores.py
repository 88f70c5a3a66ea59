"""The numbers and settings stored with the sample's runs follow from their rows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from checked_sample import DATA, Checked

from dojo_kit.analysis.verify import verify_record


def test_stored_scores_are_what_the_package_computes(sample: list[Checked]) -> None:
    for run in sample:
        metrics, stored = run.scored.metrics(), run.run.stored_scores
        disguised = sum(fault.kind == "disguised_failure" for fault in run.faults)
        for name in ("overall_extraction_score", "field_presence", "schema_valid"):
            value, n = metrics[name].value, metrics[name].n
            assert value is not None
            assert stored[name] == pytest.approx(value * n / (n + disguised), abs=1e-4)
        for name, score in stored["per_field"].items():
            assert score == pytest.approx(metrics[f"{name}_score"].value, abs=1e-4)


@pytest.mark.parametrize("path", sorted((DATA / "runs").iterdir()), ids=lambda path: path.stem)
def test_every_stored_number_follows_from_the_rows(path: Path) -> None:
    report = verify_record(json.loads(path.read_text(encoding="utf-8")), name=path.stem, prices={})
    assert report.differences == ()
    assert report.equal == report.checked > 30


def test_reruns_differ_in_nothing_but_luck(sample: list[Checked]) -> None:
    runs = {run.name: run for run in sample}
    reruns = [name for name in runs if "_rerun" in name]
    assert len(reruns) == 5
    for name in reruns:
        first, second = runs[name.partition("_rerun")[0]].run, runs[name].run
        one, two = (dict(run.meta.parameters) for run in (first, second))
        assert one.pop("manifest") != two.pop("manifest")
        assert (one, first.meta.model, first.meta.prompt_version) == (
            two,
            second.meta.model,
            second.meta.prompt_version,
        )
        assert first.fingerprint == second.fingerprint
        assert first.stored_scores != second.stored_scores


def test_usage_adds_up(sample: list[Checked]) -> None:
    for run in sample:
        record = json.loads((DATA / "runs" / f"{run.name}.json").read_text(encoding="utf-8"))
        used = [row.usage for row in run.run.rows if row.usage]
        cost = sum(usage.cost_usd or 0 for usage in used)
        assert record["tokens"]["total_tokens"] == sum(usage.total_tokens for usage in used)
        assert record["tokens"]["rows_with_usage"] == len(used) == sum(not row.failed for row in run.run.rows)
        assert record["tokens"]["cost_total_usd"] == pytest.approx(cost, abs=1e-6)
