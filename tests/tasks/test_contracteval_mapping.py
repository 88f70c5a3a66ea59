"""One-pass extractions read as answers to ContractEval's questions.

The counts of the five real runs were recomputed outside this project from the same public rows and CUAD's table; the
rest follows from the rules of the mapping.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dojo_kit.errors import InputError
from dojo_kit.records import ChainedRow, DocumentLabels, ExpectedSpan, ExtractionRow, LabelRow, Labels, Run, RunMeta
from dojo_kit.runs import load_labels, read_run
from dojo_kit.tasks.contracteval.mapping import MappedContractEval, map_contracteval
from dojo_kit.tasks.contracteval.routing import best_share, category_labels, extracted_clauses, mapped_categories

INSURANCE = "Licensee shall keep liability insurance at its own cost."
AUDIT = "Licensor may inspect the books of Licensee once a year."
FEES = "Licensee shall pay all invoices within thirty days."


def labels_of(**spans: list[tuple[str, str]]) -> Labels:
    """Labels by document: (category, text), all as obligations."""
    return Labels(
        {
            name: DocumentLabels(name, {"key_obligations": tuple(ExpectedSpan(text, c) for c, text in found)})
            for name, found in spans.items()
        }
    )


def run_of(*rows: Any) -> Run:
    return Run(RunMeta("contract_entity_extraction", name="run"), rows, source="run.json")


def extraction(document: str, *obligations: str, trace: list[dict[str, str]] | None = None) -> ExtractionRow:
    reasoning = {"reasoning": {"entries": trace}} if trace else {}
    return ExtractionRow(document, predicted={"key_obligations": list(obligations), **reasoning})


def figures(mapped: MappedContractEval, code: str) -> dict[str, float]:
    return next(dict(warning.figures) for warning in mapped.warnings if warning.code == code)


RUNS = {
    "043": (95, 0.829, 0.258, 0.410, 0.303, 0.264),
    "046": (32, 0.790, 0.087, 0.160, 0.106, 0.087),
    "074": (37, 0.793, 0.101, 0.183, 0.123, 0.101),
    "075": (51, 0.802, 0.139, 0.243, 0.167, 0.141),
    "078": (47, 0.799, 0.128, 0.227, 0.155, 0.128),
}
"""Run -> true positives; accuracy, recall, F1, F2 and the verbatim band to three digits. Precision is 1."""


@pytest.fixture(scope="module")
def cuad(real_data: Path) -> Labels:
    return load_labels(f"cuad:{real_data / 'cuad'}")


@pytest.mark.parametrize("name", RUNS)
def test_real_runs(real_data: Path, cuad: Labels, name: str) -> None:
    tp, *ratios, verbatim = RUNS[name]
    mapped = map_contracteval(read_run(real_data / "runs" / f"{name}.json"), cuad)
    oracle = mapped.oracle

    assert (mapped.n_documents, oracle.n_pairs, oracle.n_positive) == (50, 1600, 368)
    assert (oracle.tp, oracle.fp) == (tp, 0)
    assert oracle.precision.value == 1.0
    found = [estimate.value for estimate in (oracle.accuracy, oracle.recall, oracle.f1, oracle.f2)]
    assert found == pytest.approx(ratios, abs=5.1e-4)
    assert mapped.coverage["verbatim"].value == pytest.approx(verbatim, abs=5.1e-4)
    assert figures(mapped, "structural_precision") == {"n_tagged": 0, "fp": 0}
    # without the labels a clause can land in a category that the contract does not have
    assert mapped.label_free.n_positive == 368
    assert mapped.label_free.tp <= oracle.tp
    assert mapped.label_free.fp > 0


def test_oracle_looks_at_labels_and_the_other_way_does_not() -> None:
    """A clause that resembles a label answers for it; without labels its words or the trace must say so."""
    labels = labels_of(a=[("Insurance", "keep liability insurance"), ("Exclusivity", "pay all invoices within days")])
    mapped = map_contracteval(run_of(extraction("a", INSURANCE, AUDIT, FEES)), labels)
    clauses = mapped.clauses.set_index("text")

    assert clauses.loc[INSURANCE, ["oracle", "oracle_route"]].tolist() == ["Insurance", "label"]
    assert clauses.loc[FEES, ["oracle", "oracle_route"]].tolist() == ["Exclusivity", "resembles"]
    assert clauses.loc[AUDIT, ["oracle", "oracle_route"]].tolist() == ["", ""]
    assert clauses.loc[AUDIT, ["label_free", "label_free_route"]].tolist() == ["Audit Rights", "shape"]
    assert clauses.loc[INSURANCE, ["label_free", "label_free_route"]].tolist() == ["Insurance", "shape"]
    assert (mapped.oracle.tp, mapped.oracle.fp, mapped.oracle.fn, mapped.oracle.tn) == (1, 0, 1, 30)
    assert (mapped.label_free.tp, mapped.label_free.fp) == (1, 1)
    assert figures(mapped, "oracle_routing") == {
        "n_clauses": 3,
        "by_label_only": 2,
        "by_trace": 0,
        "without_category": 1,
        "positives_answered": 2,
    }


def test_a_trace_makes_false_positives_possible() -> None:
    """The model says itself that a clause is about audits; the labels know of none."""
    trace = [{"field": "Audit Rights", "evidence": "inspect the books"}, {"field": "key_obligations", "evidence": FEES}]
    labels = labels_of(a=[("Insurance", "keep liability insurance")])
    mapped = map_contracteval(run_of(extraction("a", INSURANCE, AUDIT, FEES, trace=trace)), labels)
    clauses = mapped.clauses.set_index("text")

    assert clauses.loc[AUDIT, ["oracle", "oracle_route"]].tolist() == ["Audit Rights", "trace"]
    assert clauses.loc[AUDIT, "label_free_route"] == "trace"
    assert (mapped.oracle.tp, mapped.oracle.fp) == (1, 1)
    assert mapped.oracle.precision.value == 0.5
    assert figures(mapped, "structural_precision") == {"n_tagged": 1, "fp": 1}


@pytest.mark.parametrize(
    ("evidence", "traced"),
    [
        ("keep liability insurance", True),  # stands in the clause
        (f"{INSURANCE} And more beside it.", True),  # holds the clause
        ("insurance liability keep licensee bond", True),  # four of five words stand in the clause
        ("insurance bond surety guarantee", False),
    ],
)
def test_evidence_of_a_trace(evidence: str, traced: bool) -> None:
    trace = [{"field": "Insurance", "evidence": evidence}]
    mapped = map_contracteval(run_of(extraction("a", INSURANCE, trace=trace)), labels_of(a=[]))

    assert mapped.clauses.loc[0, "oracle_route"] == ("trace" if traced else "")


def test_labels_and_bands() -> None:
    """Every label of a category must stand in its clauses; the bands ask for parts of one label in one clause."""
    labels = labels_of(
        a=[("Insurance", "liability insurance"), ("Insurance", "fire <omitted> cover")],
        b=[("Insurance", "keep  liability\ninsurance at its own risk"), ("Audit Rights", "")],
    )
    rows = extraction("a", INSURANCE, "Keep fire cover."), extraction("b", INSURANCE)
    mapped = map_contracteval(run_of(*rows), labels)

    assert (mapped.oracle.tp, mapped.oracle.n_positive) == (1, 2)
    shares = {name: estimate.value for name, estimate in mapped.coverage.items()}
    assert shares == {"verbatim": 0.5, "0.7": 1.0, "0.5": 1.0, "0.3": 1.0}
    assert best_share(["keep liability insurance at own risk"], [INSURANCE]) == pytest.approx(5 / 6)


def test_verbatim_band_and_true_positives_can_differ() -> None:
    """A label runs over two clauses, of which only one resembles it enough to be given to its category."""
    labels = labels_of(a=[("Insurance", "cost. Licensor may inspect")])
    mapped = map_contracteval(run_of(extraction("a", INSURANCE, AUDIT)), labels)

    assert figures(mapped, "verbatim_band") == {"verbatim": 1, "tp": 0}


def test_failed_and_unlabelled_documents() -> None:
    """Both are left out and named; what the failed ones cost is told beside the scores."""
    labels = labels_of(a=[("Insurance", "liability insurance")], b=[("Insurance", "x y"), ("Audit Rights", "z")])
    rows = (
        extraction("a", INSURANCE),
        ExtractionRow("b", "failed", "timeout"),
        extraction("c", INSURANCE),
    )
    mapped = map_contracteval(run_of(*rows), labels)

    assert (mapped.n_documents, mapped.failed, mapped.unjoined) == (1, ("b",), ("c",))
    assert mapped.oracle.recall.value == 1.0
    assert figures(mapped, "failed_documents") == {"n_failed": 1, "n_positive": 2, "recall": pytest.approx(1 / 3)}


def test_other_answers_and_runs() -> None:
    labels = labels_of(a=[("Insurance", "liability insurance")])
    chained = ChainedRow("a", extracted={"key_obligations": INSURANCE})
    assert map_contracteval(run_of(chained), labels).oracle.tp == 1
    empty = map_contracteval(run_of(ExtractionRow("a", predicted=["no object"])), labels)
    assert (empty.oracle.tp, empty.oracle.fn, len(empty.clauses)) == (0, 1, 0)

    with pytest.raises(InputError, match=r"run.json: a row of type LabelRow; expected extractions"):
        map_contracteval(run_of(LabelRow("a")), labels)
    with pytest.raises(InputError, match=r"no document to map: 1 failed, 1 without labels"):
        map_contracteval(run_of(ExtractionRow("a", "failed", "x"), extraction("z")), labels)


def test_no_positives() -> None:
    mapped = map_contracteval(run_of(extraction("a", FEES)), labels_of(a=[]))

    assert mapped.coverage["verbatim"].value is None
    assert mapped.oracle.recall.value is None
    json.dumps(mapped.as_dict(), allow_nan=False)


def test_clauses_keep_the_marks_labels_have() -> None:
    """A semicolon between clauses is no part of either, one at the end of an item is; lists share their clauses."""
    predicted = {
        "key_obligations": ["Licensee shall pay all fees; Licensor may audit all books;", "A short one;"],
        "termination_clauses": ["Licensee shall pay all fees", "Either party may\nterminate the  Agreement at will."],
    }

    assert extracted_clauses(predicted) == [
        "Licensee shall pay all fees",
        "Licensor may audit all books;",
        "A short one;",
        "Either party may",
        "terminate the Agreement at will.",
    ]


def test_categories_and_their_labels() -> None:
    """32 yes/no categories; labels of others, and those without a character to find, are passed over."""
    spans = (
        ExpectedSpan("` `", "Insurance"),
        ExpectedSpan("a\n[omitted] b", "insurance"),
        ExpectedSpan("x", "Parties"),
    )
    labels = category_labels(DocumentLabels("a", {"key_obligations": spans}))

    assert len(mapped_categories()) == len(labels) == 32
    assert {name: texts for name, texts in labels.items() if texts} == {"Insurance": ("a b",)}


def test_documents_in_any_order() -> None:
    labels = labels_of(a=[("Insurance", "liability insurance")], b=[("Audit Rights", "inspect")], c=[])
    rows = [extraction("a", INSURANCE), extraction("b", FEES), extraction("c", AUDIT)]
    one, other = (map_contracteval(replace(run_of(*found)), labels) for found in (rows, rows[::-1]))

    assert one.as_dict() == other.as_dict()
