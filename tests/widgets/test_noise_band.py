"""Pairs of reruns are those of the noise floor, beside its bands; what flips and what is left out is listed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from forest_runs import floor

from dojo_kit import read_run
from dojo_kit.errors import InputError
from dojo_kit.views.noise import flipped_documents, noise_table
from dojo_widgets import noise_band
from dojo_widgets.noise_band import NoiseBand


def test_pairs_and_bands_are_those_of_the_floor() -> None:
    noise = floor()
    band = NoiseBand(noise)
    json.dumps([band.data, band.table, band.detail], allow_nan=False)
    assert band.metric == band.data["metrics"][0]["name"] == "subtype_accuracy"
    (found,) = band.table["bands"]
    pairs = noise.pairs[noise.pairs["metric"] == "subtype_accuracy"]
    assert [pair["delta"] for pair in found["pairs"]] == pairs["delta"].tolist()
    assert [pair["flips"] for pair in found["pairs"]] == [4] * 6
    whole = noise.band(
        "subtype_accuracy",
        task="subtype_classification",
        model="maker/model",
        surface=noise.groups["surface"].iloc[0],
    )
    assert (found["value"], found["m"]) == (whole.value, 3)
    assert found["group"] == "model, 60 documents"


def test_the_title_says_the_finding() -> None:
    table = NoiseBand(floor()).table
    assert table["finding"] == "6 pairs of reruns differ by up to 0.0000 in subtype accuracy; rerun band ±0.0000"
    few = NoiseBand(floor(2)).table
    assert few["finding"].endswith("; the band is unknown")
    assert "no change can be called a win" in few["conclusion"]
    assert few["bands"][0]["value"] is None


def test_a_pair_lists_what_flips() -> None:
    """Both answers, what is right, and who was."""
    noise = floor()
    band = NoiseBand(noise)
    assert band.detail["n"] == 4
    assert [row["right"] for row in band.detail["rows"]] == ["b", "b", "a", "a"]
    assert band.detail["rows"][2] | {"document": ""} == {
        "id": "2",
        "document": "",
        "short": "Document 02",
        "a": "agency",
        "b": "license",
        "expected": "agency",
        "right": "a",
    }
    other = band.table["bands"][0]["pairs"][-1]["id"]
    band.pair = other
    assert band.detail["pair"] == other
    assert band.detail["rows"] == flipped_documents(noise, other)
    band.pair = ""
    assert band.detail == {}
    assert flipped_documents(noise, "9:a|b") == []


def test_another_metric_has_another_table() -> None:
    band = NoiseBand(floor())
    band.metric = "recall:agency"
    assert band.table == noise_table(band._floor, "recall:agency")
    band.metric = "nothing of the kind"
    assert band.table["metric"] == "recall:agency"


def test_what_is_no_rerun_is_listed_with_the_reason() -> None:
    (left_out,) = NoiseBand(floor()).data["excluded"]
    assert (left_out["a"], left_out["b"], left_out["reason"]) == ("reruns_0", "replay", "replay")
    assert "no row of it carries usage" in left_out["detail"]


def test_without_reruns_it_says_so() -> None:
    band = NoiseBand(floor(0))
    assert band.table == {
        "metric": "",
        "finding": "No two of 0 runs are reruns of each other",
        "conclusion": "",
        "bands": [],
    }
    assert (band.pair, band.detail, band.data["metrics"]) == ("", {}, [])
    assert NoiseBand(floor(1)).table["finding"] == "No two of 2 runs are reruns of each other"


def test_what_does_not_exist_is_refused() -> None:
    with pytest.raises(InputError, match="no rerun has the metric 'accuracy'"):
        NoiseBand(floor(), metric="accuracy")
    with pytest.raises(InputError, match="no order 'delta'"):
        NoiseBand(floor(), sort="delta")


def test_a_page_has_every_metric_and_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(noise_band, "PAGE_ROWS", 3)
    band = NoiseBand(floor())
    tables, details = band.precomputed()
    assert tables.values[band.metric] == band.table
    assert set(tables.values) == {metric["name"] for metric in band.data["metrics"]}
    (first, *_) = (one for pair, one in details.values.items() if pair)
    assert (first["n"], len(first["rows"])) == (4, 3)


def test_public_runs(real_data: Path) -> None:
    """63 and 104, 103 and 141: +.0059 each, 8 and 6 labels flip; 192 replays 191."""
    names = ("063", "104", "103", "141", "191", "192")
    band = NoiseBand.of([read_run(real_data / "runs" / f"{name}.json") for name in names])
    pairs = {(pair["a"], pair["b"]): pair for found in band.table["bands"] for pair in found["pairs"]}
    assert set(pairs) == {("063", "104"), ("103", "141")}
    assert [(round(pair["delta"], 4), pair["flips"]) for _, pair in sorted(pairs.items())] == [(0.0059, 8), (0.0059, 6)]
    assert [row["reason"] for row in band.data["excluded"]] == ["replay"]
    assert band.table["finding"].endswith("the band is unknown")
