"""The published stream, against Python's own generator and against every stored interval."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dojo_kit.stats import legacy
from dojo_kit.stats.legacy import legacy_bootstrap, legacy_indices, legacy_means

MANY_N = [*range(1, 70), 127, 128, 129, 255, 256, 257, 509, 511, 512, 513, 676, 1023, 1024, 1025, 4182, 65_536]


@pytest.mark.parametrize("n", MANY_N)
def test_indices_equal_randrange(n: int) -> None:
    rng = random.Random(42)
    rounds = max(2, 3000 // n)
    expected = [[rng.randrange(n) for _ in range(n)] for _ in range(rounds)]
    assert legacy_indices(n, rounds).tolist() == expected


@settings(max_examples=60, deadline=None)
@given(n=st.integers(1, 300), n_boot=st.integers(1, 20), seed=st.integers(-(2**70), 2**70))
def test_indices_equal_randrange_for_any_seed(n: int, n_boot: int, seed: int) -> None:
    rng = random.Random(seed)
    assert legacy_indices(n, n_boot, seed=seed).ravel().tolist() == [rng.randrange(n) for _ in range(n * n_boot)]


def test_powers_of_two_reject_half_of_the_stream() -> None:
    # n = 4 has bit_length 3: outputs 4 to 7 are drawn and thrown away, as CPython does
    rng = random.Random(0)
    bits = [rng.getrandbits(3) for _ in range(400)]
    accepted = [value for value in bits if value < 4]
    assert legacy_indices(4, 25, seed=0).ravel().tolist() == accepted[:100]


def test_a_single_unit_still_consumes_the_stream() -> None:
    assert legacy_indices(1, 5).tolist() == [[0]] * 5


def test_blocks_continue_one_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = legacy_indices(50, 40, seed=7).copy()
    values = np.linspace(0, 1, 50)
    means = legacy_means(values, seed=7, n_boot=40)
    monkeypatch.setattr(legacy, "_BLOCK_CELLS", 170)  # three rounds a block
    assert (legacy_indices(50, 40, seed=7) == whole).all()
    assert (legacy_means(values, seed=7, n_boot=40) == means).all()


def test_indices_are_protected() -> None:
    with pytest.raises(ValueError, match="read-only"):
        legacy_indices(5, 5)[0, 0] = 3


def test_means_add_from_left_to_right() -> None:
    values = [0.1 * i + 1e-9 for i in range(37)]
    rng = random.Random(42)
    expected = []
    for _ in range(200):
        total = 0.0
        for _ in values:
            total += values[rng.randrange(37)]
        expected.append(total / 37)
    assert legacy_means(values, n_boot=200).tolist() == sorted(expected)


def test_bounds_pick_the_documented_elements() -> None:
    values = [0.0, 0.25, 0.5, 1.0, 1.0, 0.75, 0.1]
    means = legacy_means(values, n_boot=1000).tolist()
    # round(.025 * 1000) - 1 = 24, round(.975 * 1000) - 1 = 974; int(.025 * 1000) = 25, int(.975 * 1000) = 975
    assert legacy_bootstrap(values, n_boot=1000) == (means[24], means[974])
    assert legacy_bootstrap(values, n_boot=1000, bounds="monte_carlo") == (means[25], means[975])


def test_booleans_count_as_numbers() -> None:
    assert legacy_bootstrap([True, False, True]) == legacy_bootstrap([1.0, 0.0, 1.0])


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        ([], {}, "number of units"),
        ([0.5, float("nan")], {}, "finite"),
        ([[0.5]], {}, "one finite number per unit"),
        ([0.5], {"n_boot": 20}, "n_boot >= 21"),
        ([0.5], {"n_boot": 0, "bounds": "monte_carlo"}, "at least 1"),
        ([0.5], {"bounds": "wilson"}, "unknown bounds"),
    ],
)
def test_bad_input(values: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        legacy_bootstrap(values, **options)


FLAGS = {
    "subtype_classification": {"exact_match_ci": "doc_type_ok", "subtype_accuracy_ci": "subtype_ok"},
    "docclass_classification": {
        "doc_type_accuracy_ci": "doc_type_ok",
        "subclass_accuracy_ci": "subclass_ok",
        "exact_match_ci": "exact_match",
    },
    "task_classification": {"exact_match_ci": "correct"},
    "sorter_classification": {"exact_match_ci": "correct"},
    "contract_entity_extraction": {"overall_extraction_score_ci": "overall_score"},
}


def stored_intervals(record: dict[str, Any]) -> list[tuple[dict[str, Any], list[float]]]:
    """Every stored interval with the values it was drawn from."""
    rows = [row for row in record.get("results") or record["per_row"] if row["status"] == "completed"]
    nested = record["task"] in ("subtype_classification", "docclass_classification")
    places = [row["sorter"] if nested else row for row in rows]
    scores = record["scores"]
    found = []
    for name, key in FLAGS.get(record["task"], {}).items():
        stored = (scores["sorter"] if record["task"] == "subtype_classification" else scores).get(name)
        if stored:
            found.append((stored, [float(place[key]) for place in places if place[key] is not None]))
    return found


def test_every_published_interval_comes_out_exactly(real_data: Path) -> None:
    exact = 0
    for file in sorted((real_data / "runs").glob("*.json")):
        for stored, values in stored_intervals(json.loads(file.read_text(encoding="utf-8"))):
            lo, hi = legacy_bootstrap(values, seed=stored["seed"], n_boot=stored["n_boot"])
            assert (round(lo, 4), round(hi, 4)) == (stored["lo"], stored["hi"]), file.name
            exact += 1
    assert exact == 168
