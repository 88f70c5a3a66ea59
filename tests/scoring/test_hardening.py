"""Hostile and absurd input: nothing raises, nothing takes forever, nothing changes with the form of a value."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dojo_kit import InputError, Settings, score_document, score_field, score_list
from dojo_kit.records import DocumentLabels, ExpectedSpan
from dojo_kit.schema import SCALAR_TYPES, document_class

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from fuzz import fuzz

TYPES = (*SCALAR_TYPES, *(f"entity_list:{t}" for t in SCALAR_TYPES))
MEGABYTE = "pay 12 percent of $1,000 by May 3, 2020 and " * 23_000

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)


def test_a_short_fuzz_finds_nothing() -> None:
    """The fuzz target runs; ``make fuzz`` runs it 100,000 times per scorer."""
    assert set(fuzz(300, 3).values()) == {300}


@pytest.mark.parametrize("type", TYPES)
@given(predicted=json_values)
def test_any_json_value_is_scored(type: str, predicted: Any) -> None:
    """Whatever a model returns for a field is scored between 0 and 1."""
    assert 0.0 <= score_field(type, predicted, "May 3, 2024").score <= 1.0


@given(st.dictionaries(st.sampled_from([*document_class("contract").fields, "x", "reasoning"]), json_values))
def test_any_answer_is_scored(answer: dict[str, Any]) -> None:
    """Whatever object a model returns for a document is scored."""
    spans = {name: (ExpectedSpan("Acme, May 3, 2024"),) for name in document_class("contract").fields}
    scored = score_document(
        answer, DocumentLabels("d", spans), document_class("contract").fields, document="d", settings=Settings()
    )

    assert 0.0 <= scored.document[2] <= 1.0


@pytest.mark.parametrize("type", SCALAR_TYPES)
def test_a_megabyte_is_scored(type: str) -> None:
    """A value of a megabyte, also against a label of one."""
    assert score_field(type, MEGABYTE, "May 3, 2020").score <= 1.0
    assert score_field(type, MEGABYTE, MEGABYTE).score == 1.0


@pytest.mark.parametrize("type", ["name", "free_text", "id", "date"])
def test_thousands_of_items(type: str) -> None:
    """1,000 labels against 1,000 items: the scalar rules would need a million pairs."""
    names = [f"Company {n} of {n % 7} Oil" for n in range(1000)]
    dates = [f"{1950 + n % 70}-{1 + n % 12:02}-{1 + n % 28:02}" for n in range(1000)]
    values = dates if type == "date" else names

    assert score_list(f"entity_list:{type}", values[::-1], values).f1 == 1.0


def test_a_deeply_nested_value_is_no_value() -> None:
    """900 lists in one another hold no text."""
    nested: Any = []
    for _ in range(900):
        nested = [nested]

    assert score_field("name", nested, "Acme").rule == "name.predicted_empty"


@pytest.mark.parametrize(
    "items",
    [
        ["Acme", "Beta"],
        ("Acme", "Beta"),
        np.array(["Acme", "Beta"], dtype=object),
        pd.Series(["Acme", "Beta"], index=[7, 9]),
        {"Beta", "Acme"},
        (name for name in ("Acme", "Beta")),
    ],
    ids=["list", "tuple", "array", "series", "set", "generator"],
)
def test_the_kind_of_collection_does_not_matter(items: Any) -> None:
    """Frames give arrays and series where JSON gives lists."""
    score = score_list("entity_list:name", items, ["Acme"])

    assert (score.n_predicted, score.precision, score.recall) == (2, 0.5, 1.0)


@pytest.mark.parametrize("missing", [float("nan"), np.nan, pd.NaT, pd.NA, None], ids=str)
def test_missing_values_of_frames_are_no_value(missing: Any) -> None:
    """NaN is not the word "nan"."""
    assert score_field("name", missing, "Acme").rule == "name.predicted_empty"
    assert score_field("name", "Acme", missing).rule == "name.expected_empty"
    assert score_list("entity_list", ["Acme", missing], ["Acme"]).precision == 1.0


@pytest.mark.parametrize(("value", "text"), [(5, "5"), (5.0, "5.0"), (np.float64(5.5), "5.5"), (b"Acme", "Acme")])
def test_casts_do_not_matter(value: Any, text: str) -> None:
    """A number or bytes score as the text they are written as."""
    for type in SCALAR_TYPES:
        assert score_field(type, value, text) == score_field(type, text, text)


def test_wrong_labels_are_refused() -> None:
    """A wrong type in a label is a mistake of the data."""
    for label in ({"a": 1}, ["A", {"x": 1}], [["A"]]):
        with pytest.raises(InputError, match="a label is"):
            score_list("entity_list", ["A"], label)
    with pytest.raises(InputError, match="2 labels for a field of one value"):
        score_field("name", "B", ["Acme", "B"])
