"""Vocabularies: every spelling resolves, no two labels share one, and an answer that does not decide is no label.

Right values come from ``tests/golden`` (recomputed outside this project, or quoted from public bug reports) and from
CUAD's folder names; the rules are those of the project's decisions on labels.
"""

from __future__ import annotations

import csv
import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dojo_kit.errors import SettingsError
from dojo_kit.records import Usage
from dojo_kit.schema import document_classes
from dojo_kit.scoring.label_reading import billed_cost, exact_match, failure, normalize_label
from dojo_kit.text.answers import fold
from dojo_kit.vocabulary import Vocabulary, own_vocabulary, vocabulary, vocabulary_names

GOLDEN = Path(__file__).parent / "golden"
VECTORS = json.loads((GOLDEN / "scoring.json").read_text(encoding="utf-8"))
BUGS = json.loads((GOLDEN / "bug_inputs.json").read_text(encoding="utf-8"))
READERS = {
    "normalize_label": lambda text: normalize_label(text, "doc_class").key or "",
    "normalize_consideration": lambda text: normalize_label(text, "maud_consideration").key or "other",
    "normalize_answer": lambda text: normalize_label(text, "yes_no").key,
    "normalize_subtype": lambda text: normalize_label(text, "contract_family").key,
}
GOLDEN_LABELS = [vector for vector in VECTORS if vector["function"] in READERS]
LABEL_BUGS = [case for case in BUGS if case["kind"] == "label"]

packaged = pytest.mark.parametrize("name", vocabulary_names())


@pytest.mark.parametrize("vector", GOLDEN_LABELS, ids=lambda v: f"{v['function']}-{v['args'][0]}")
def test_golden_labels(vector: dict[str, Any]) -> None:
    assert READERS[vector["function"]](*vector["args"]) == vector["expected"]


@pytest.mark.parametrize("case", LABEL_BUGS, ids=lambda case: case["id"])
def test_answers_that_broke_other_scorers(case: dict[str, Any]) -> None:
    given_labels = case["input"]["valid"] if isinstance(case["input"], dict) else "yes_no"
    text = case["input"]["text"] if isinstance(case["input"], dict) else case["input"]

    assert normalize_label(text, given_labels).key == case["right_value"]


@packaged
def test_every_spelling_resolves_to_its_label(name: str) -> None:
    known = vocabulary(name)

    for key, texts in known.aliases.items():
        for text in (*texts, *(text.upper() for text in texts), *(f'  "{text}".' for text in texts)):
            assert known.normalize(text)[:2] == (key, "exact"), text


@packaged
def test_no_two_labels_share_a_spelling(name: str) -> None:
    owners: dict[str, set[str]] = {}
    for key, texts in vocabulary(name).aliases.items():
        for text in texts:
            owners.setdefault(fold(text), set()).add(key)

    assert {text: keys for text, keys in owners.items() if len(keys) > 1} == {}


@packaged
def test_equivalence_is_symmetric_and_of_known_keys(name: str) -> None:
    known = vocabulary(name)

    assert all(known.equivalent(key, key) for key in known.keys)
    for pair in known.equivalents:
        a, b = sorted(pair)
        assert {a, b} <= set(known.keys)
        assert known.equivalent(a, b)
        assert known.equivalent(b, a)
    assert not known.equivalent(None, None)


def test_sizes_of_the_packaged_vocabularies() -> None:
    """25 families and the fallback, eight document classes, eleven record types, five types of consideration."""
    sizes = {name: len(vocabulary(name).keys) for name in vocabulary_names()}

    assert (sizes["contract_family"], sizes["doc_class"], sizes["record_type"]) == (26, 8, 11)
    assert (sizes["maud_consideration"], sizes["yes_no"], sizes["doc_subclass"]) == (5, 2, 15 + 25)
    assert vocabulary("doc_class").keys == tuple(document_classes())
    assert "insurance_claim" in vocabulary("doc_class").keys
    families = vocabulary("contract_family").keys[:-1]
    assert list(families) == sorted(families)


def test_equivalent_families() -> None:
    """The four pairs are not transitive: maintenance and development both pair with license only."""
    families = vocabulary("subtype")

    assert len(families.equivalents) == 4
    assert families.equivalent("joint_venture", "affiliate")
    assert not families.equivalent("maintenance", "development")
    assert vocabulary("maud_consideration").equivalent("mixed_cash_stock", "mixed_cash_stock_election")


def test_every_cuad_folder_is_a_family(real_data: Path) -> None:
    with (real_data / "cuad" / "contract_folders.csv").open(encoding="utf-8", newline="") as file:
        folders = {row["folder"] for row in csv.DictReader(file)}

    found = {folder: vocabulary("contract_family").normalize(folder) for folder in folders}

    assert len(folders) == 28
    assert {reading.flag for reading in found.values()} == {"exact"}
    assert {reading.key for reading in found.values()} == set(vocabulary("contract_family").keys) - {"other"}


@pytest.mark.parametrize(
    ("name", "text", "key", "flag"),
    [
        ("subtype", "Supplies Contract", "supply", "exact"),
        ("subtype", "cooperation agreements", "collaboration", "exact"),
        ("subtype", "Non-Compete", "non_compete_no_solicit", "exact"),
        ("subtype", "It is a software license agreement.", "license", "mentioned"),
        ("subtype", "Marketing Affiliate Agreement", None, "several"),
        ("subtype", "license and maintenance", None, "several"),
        ("subtype", "Other than that, a license", "license", "mentioned"),
        ("subtype", "Cookery agreement", None, "unknown"),
        ("subtype", "N/A", None, "empty"),
        ("doc_class", "Not a contract", None, "negated"),
        ("doc_class", "It isn\u2019t a contract", None, "negated"),
        ("doc_class", "This is not, however, a contract", None, "negated"),
        ("doc_class", "A contract this is not", None, "negated"),
        ("doc_class", "I'm not sure, but it is a contract", "contract", "mentioned"),
        ("doc_class", "No idea. It could be a contract.", "contract", "mentioned"),
        ("doc_class", "This contract is a merger agreement", None, "several"),
        ("doc_class", "Contract. This is not a merger agreement.", "contract", "stated"),
        ("doc_class", "Contract. This document is a merger agreement.", None, "several"),
        ("doc_class", "Subcontractor", None, "unknown"),
        ("yes_no", "Yes, because no cap applies", "yes", "stated"),
        ("yes_no", "Yes because there is no cap", "yes", "stated"),
        ("yes_no", "1. No", "no", "stated"),
        ("yes_no", "Is it? No.", "no", "stated"),
        ("yes_no", "Yes and no", None, "several"),
        ("yes_no", "Yes. No.", None, "several"),
        ("yes_no", "It is not true", None, "negated"),
        ("yes_no", "Final answer: **No**", "no", "stated"),
        ("consideration", "It is Mixed Cash/Stock: Election.", "mixed_cash_stock_election", "mentioned"),
        ("consideration", "Answer: Mixed Cash/Stock: Election", "mixed_cash_stock_election", "stated"),
        ("court_outcome", "The judgment is reversed and remanded.", "reversed_and_remanded", "mentioned"),
        ("court_outcome", "Affirmed in part; reversed in part.", "affirmed_in_part", "exact"),
    ],
)
def test_how_answers_are_read(name: str, text: str, key: str | None, flag: str) -> None:
    assert vocabulary(name).normalize(text) == (key, flag, text)


@pytest.mark.parametrize(
    ("value", "labels", "key"),
    [
        ('```json\n{"doc_type": "Court Opinion", "confidence": 0.9}\n```', "doc_class", "court_opinion"),
        ('The result: {"contract_subtype": "ip"}', "subtype", "ip"),
        ({"answer": True}, "yes_no", "yes"),
        ({"reason": "no label"}, "doc_class", None),
        ("{broken", "doc_class", None),
        ("<think>a merger agreement?</think>contract", "doc_class", "contract"),
        ("[" * 100_000 + "{", "doc_class", None),
        (1, "yes_no", "yes"),
        (float("nan"), "yes_no", None),
        ("(C)", ["A", "B", "C"], "C"),
        ("I choose option B: No", ["A", "B"], "B"),
        ("-1", ["-1", "0", "1"], "-1"),
        ("C++", ["C", "C++"], "C++"),
        ("descriptive", ["generic", "descriptive"], "descriptive"),
    ],
)
def test_labels_in_model_output(value: Any, labels: Any, key: str | None) -> None:
    assert normalize_label(value, labels).key == key


def test_label_and_scorers_of_one_answer() -> None:
    assert exact_match("It is an IP agreement", "ip", "subtype") == 1.0
    assert exact_match("ERROR: timeout", "contract") == 0.0
    assert exact_match("anything", None) is None
    assert exact_match("Memo", "memo") == 1.0  # a label the vocabulary lacks is a label of its own
    assert (failure("ERROR: timeout"), failure("Error handling")) == (1.0, 0.0)
    assert (billed_cost(None), billed_cost(Usage(1, 1)), billed_cost(Usage(1, 1, 0.25))) == (0.0, 0.0, 0.25)


def test_unknown_names_are_errors_that_name_the_closest() -> None:
    with pytest.raises(SettingsError, match=r"unknown vocabulary 'subtypes' \(did you mean 'subtype'\?\)"):
        vocabulary("subtypes")
    with pytest.raises(SettingsError, match=r"contract_family has no label 'licence' \(did you mean 'license'\?\)"):
        vocabulary("subtype").label("licence")


def test_further_labels_are_keys_of_their_own() -> None:
    known = vocabulary("subtype").extended(["Escrow Agreement", "escrow_agreement"])

    assert known.normalize("escrow agreement.").key == "Escrow Agreement"
    assert known.normalize("reseller").key == "reseller"
    assert "Escrow Agreement" not in vocabulary("subtype").keys


@given(st.text(max_size=80))
def test_any_text_can_be_read(text: str) -> None:
    for name in vocabulary_names():
        reading = vocabulary(name).normalize(text)
        assert (reading.key is None) == (reading.flag not in ("exact", "stated", "mentioned"))


@given(st.lists(st.text(min_size=1, max_size=6).filter(lambda s: s.strip("_-/ \t\n\"'`*.")), min_size=1, max_size=6))
def test_own_labels_find_themselves(labels: list[str]) -> None:
    known: Vocabulary = own_vocabulary(labels)

    for key in known.keys:
        assert known.normalize(key).key == key


@pytest.mark.parametrize("text", ["license ", "not ", "(", "answer ", "a-", "<", "is + ", "a+", "type  ", "no, "])
def test_long_hostile_texts_are_read_in_linear_time(text: str) -> None:
    """Quadratic time would take minutes for these; a slow machine takes seconds."""
    start = time.process_time()
    for name in ("subtype", "yes_no"):
        vocabulary(name).normalize(text * 40_000)

    assert time.process_time() - start < 60
