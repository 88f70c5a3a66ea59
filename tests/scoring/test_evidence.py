"""Scoring with document texts and with embeddings: grounding, places, audit, presence, rescue."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from dojo_kit import InputError, diagnose, load_documents, load_labels, read_run, score_run
from dojo_kit.analysis.audit import audit_sums, audit_table
from dojo_kit.embedders import VectorCache, load_embedder
from dojo_kit.records import DocumentLabels, ExpectedSpan, ExtractionRow, Labels, Problem, Run, RunMeta
from dojo_kit.scoring.frames import FRAME_NAMES

TEXT = """LICENSE AGREEMENT dated May 1, 2020 between Acme Oil, Inc. and Beta Gas LLC.
1. Licensor may audit the books of Licensee once a year.
2. Licensee shall keep liability insurance in force at all times.
3. Licensee shall not assign this agreement without the consent of Licensor."""

LABELS = Labels(
    {
        "a": DocumentLabels(
            "A",
            {
                "document_name": (ExpectedSpan("License Agreement", "Document Name"),),
                "effective_date": (ExpectedSpan("May 1, 2020", "Agreement Date"),),
                "key_obligations": (
                    ExpectedSpan("Licensor may audit the books of Licensee once a year.", "Audit Rights"),
                    ExpectedSpan("Licensee shall keep liability insurance in force at all times.", "Insurance"),
                    ExpectedSpan("a clause somebody invented", "Exclusivity"),
                ),
            },
        )
    }
)
ANSWER = {
    "document_name": "License Agreement",
    "effective_date": "2021-06-02",
    "parties": ["Acme Oil, Inc.", "Gamma Water Corp."],
    "key_obligations": [
        "Licensor may audit the books of Licensee once a year",
        "Licensee must maintain third-party cover throughout",
        "Licensor pays a bonus of ten percent every month",
    ],
    "reasoning": {"entries": [{"field": "Audit Rights", "evidence": "audit the books of Licensee"}]},
}


def run_of(answer: object = ANSWER) -> Run:
    return Run(
        RunMeta("contract_entity_extraction", name="r"), (ExtractionRow("A", predicted=answer),), source="r.json"
    )


class Meaning:
    """An embedder that knows two meanings: insurance, and everything else by its words."""

    name = "meaning"

    def __init__(self) -> None:
        self.encoded: list[str] = []

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.encoded += texts
        vectors = np.zeros((len(texts), 65), dtype=np.float32)
        for row, text in enumerate(texts):
            insured = "insurance" in text or "cover" in text
            vectors[row, 64 if insured else sum(map(ord, text)) % 64] = 1.0
        return vectors


@pytest.fixture(scope="module")
def grounded() -> object:
    return score_run(run_of(), LABELS, {"a": TEXT})


def test_items_are_true_when_they_match_or_stand_in_the_document(grounded) -> None:
    """The paraphrase and the bonus stand nowhere; the second party and the date are invented."""
    true = grounded.items.set_index(["field", "index"])["true"].to_dict()

    assert true == {
        ("document_name", 0): True,
        ("effective_date", 0): False,
        ("parties", 0): True,
        ("parties", 1): False,
        ("key_obligations", 0): True,
        ("key_obligations", 1): False,
        ("key_obligations", 2): False,
    }


def test_verified_precision_is_the_mean_over_populated_fields(grounded) -> None:
    """1, 0, 1/2 and 1/3 over four populated fields."""
    expected = (1 + 0 + 1 / 2 + 1 / 3) / 4

    assert grounded.documents["verified_precision"].iloc[0] == pytest.approx(expected)
    assert grounded.metrics()["overall_verified_precision"].value == pytest.approx(expected)
    assert grounded.metrics()["key_obligations_hallucination_rate"].value == pytest.approx(2 / 3)
    assert grounded.recipe.grounding is True


def test_audit_sums_over_everything(grounded) -> None:
    """Seven values, two matched, three true (the first party stands in the text)."""
    sums = audit_sums(grounded)
    table = audit_table(grounded).set_index("field")

    assert (sums["n_items"], sums["n_matched"], sums["n_true"]) == (7, 2, 3)
    assert sums["verified_precision"].value == pytest.approx(3 / 7)
    assert table.loc["parties", ["n_predicted", "verified_in_doc", "hallucinated"]].tolist() == [2, 1, 1]
    assert diagnose(grounded)["audit"] == sums


def test_places_of_labels_and_items(grounded) -> None:
    """A label found in the text has its characters; one that is not there is located none."""
    spans = grounded.spans.set_index("category")
    (start, end), *_ = json.loads(spans.loc["Audit Rights", "label_at"])

    assert TEXT[start:end] == "Licensor may audit the books of Licensee once a year"
    assert spans.loc["Audit Rights", "place_overlap"] == 1.0
    assert list(spans["located"]) == ["exact", "exact", "none"]
    assert pd.isna(spans.loc["Exclusivity", "place_overlap"])


def test_presence_and_trace_tags(grounded) -> None:
    """One of three labelled categories is covered; the tagged item carries its category."""
    assert grounded.documents["category_presence"].iloc[0] == pytest.approx(1 / 3)
    assert grounded.spans.set_index("category")["presence"].to_dict() == {
        "Audit Rights": True,
        "Insurance": False,
        "Exclusivity": False,
    }
    assert grounded.items.set_index(["field", "index"])["category"].dropna().to_dict() == {
        ("key_obligations", 0): "Audit Rights"
    }


def test_without_documents_nothing_is_known() -> None:
    """No text, no verdict: the columns are missing, the metric says why, the audit refuses."""
    scored = score_run(run_of(), LABELS)
    metric = scored.metrics()["overall_verified_precision"]

    assert scored.items["true"].isna().all()
    assert scored.spans["located"].isna().all()
    assert (metric.value, metric.note) == (None, "no document texts were given")
    with pytest.raises(InputError, match="without document texts"):
        audit_table(scored)


def test_a_missing_text_is_named() -> None:
    """A document without its text is scored, not audited, and listed; what is unknown is no hallucination."""
    labels = Labels({key: replace(LABELS.documents["a"], document=key) for key in ("a", "b")})
    run = replace(run_of(), rows=tuple(ExtractionRow(name, predicted=ANSWER) for name in ("A.pdf", "B.pdf")))
    scored = score_run(run, labels, {"B.pdf": TEXT})
    table = audit_table(scored).set_index(["document", "field"])

    assert scored.items.groupby("document")["true"].count().to_dict() == {"A.pdf": 0, "B.pdf": 7}
    assert [p.message for p in scored.problems if p.document == "A.pdf"] == ["no text for this document"]
    assert table.loc[("A.pdf", "parties"), ["true_items", "hallucinated"]].isna().all()
    assert table["hallucinated"].sum() == 4


def test_texts_of_other_documents_are_refused() -> None:
    """Not one text has the name of a document: that is a mistake, not a missing text."""
    with pytest.raises(InputError, match=r"none of the 1 texts has the name .* the run names 'A', the texts 'z'"):
        score_run(run_of(), LABELS, {"z": TEXT})
    with pytest.raises(InputError, match="documents is a str"):
        score_run(run_of(), LABELS, "texts.zip")  # type: ignore[arg-type]


def test_problems_of_the_texts_are_kept() -> None:
    """What the loader of texts left out stands among the problems of the scored run."""

    class Texts(dict[str, str]):
        problems = (Problem("not UTF-8", source="texts.zip", document="q"),)

    assert Texts.problems[0] in score_run(run_of(), LABELS, Texts(a=TEXT)).problems


def test_audit_refuses_what_it_does_not_know(grounded) -> None:
    """A misspelt measure or field is an error, not another number."""
    with pytest.raises(InputError, match="measure is 'windw'"):
        audit_table(grounded, measure="windw")
    with pytest.raises(InputError, match="did you mean 'parties'"):
        audit_sums(grounded, field="partys")


def test_alignment_is_over_labelled_fields_only(grounded) -> None:
    """Parties have no labels here: their two items are neither aligned nor not; 2 of 5 others are."""
    assert audit_sums(grounded)["alignment_precision"].value == pytest.approx(2 / 5)
    assert audit_sums(grounded, field="parties")["alignment_precision"].value is None


def test_a_day_near_the_right_one_is_not_true() -> None:
    """2020-05-03 earns 0.67 for May 1, and stands nowhere in the contract."""
    items = score_run(run_of({**ANSWER, "effective_date": "2020-05-03"}), LABELS, {"a": TEXT}).items

    assert items.set_index("field").loc["effective_date", ["similarity", "true"]].tolist() == [0.67, False]


def test_rescue_lifts_what_words_cannot_match() -> None:
    """The paraphrase of the insurance clause matches by meaning; the score by words alone stays beside it."""
    embedder = Meaning()
    scored = score_run(run_of(), LABELS, embedder=embedder)
    span = scored.spans.set_index("category").loc["Insurance"]
    fields = scored.fields.set_index("field")

    assert (span["status"], span["rule"], span["matched_item"]) == ("matched", "rescue.embedding", 1)
    assert span["string_similarity"] < 0.6 <= span["best_similarity"]
    assert fields.loc["key_obligations", "score"] == pytest.approx(2 / 3)
    assert fields.loc["key_obligations", "string_score"] == pytest.approx(1 / 3)
    assert scored.metrics()["key_obligations_score_string"].value == pytest.approx(1 / 3)
    assert scored.recipe.embedder == "meaning"
    assert scored.documents["category_presence"].iloc[0] == pytest.approx(2 / 3)
    assert len(embedder.encoded) == len(set(embedder.encoded))


def test_what_is_never_rescued() -> None:
    """Dates, negated names and role words keep their score, whatever an embedding says."""

    class Same:
        name = "same"

        def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
            return np.ones((len(texts), 1), dtype=np.float32)

    fields = {
        "document_name": (ExpectedSpan("not exclusive license"),),
        "effective_date": (ExpectedSpan("May 1, 2020"),),
        "parties": (ExpectedSpan("Seller"),),
        "governing_law": (ExpectedSpan("laws of Texas"),),
    }
    answer = {
        "document_name": "sole right",
        "effective_date": "2021-06-02",
        "parties": ["Buyer"],
        "governing_law": "Ohio",
    }
    labels = Labels({"a": DocumentLabels("A", fields)})
    scored = score_run(run_of(answer), labels, embedder=Same()).fields.set_index("field")

    assert scored.loc[["document_name", "effective_date", "parties", "governing_law"], "score"].tolist() == [0, 0, 0, 0]


def test_executor_gives_the_same_with_texts_and_vectors() -> None:
    """Workers get the chunk's texts and vectors and return what one process would."""
    alone = score_run(run_of(), LABELS, {"a": TEXT}, embedder=Meaning())
    with ProcessPoolExecutor(1) as pool:
        spread = score_run(run_of(), LABELS, {"a": TEXT}, embedder=Meaning(), executor=pool)
    for name in FRAME_NAMES:
        pd.testing.assert_frame_equal(alone.frame(name), spread.frame(name))


needs_model = pytest.mark.skipif(
    find_spec("sentence_transformers") is None, reason="the embeddings extra is not installed"
)


@needs_model
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_real_model_scores_a_published_run(real_data: Path, tmp_path: Path) -> None:
    """Run 086 (2 contracts): with MiniLM the stored list scores come closer, and a second run encodes nothing."""
    run, labels = read_run(real_data / "runs" / "086.json"), load_labels(real_data / "cuad")
    cache = VectorCache(tmp_path / "vectors.sqlite")
    frames = []
    for expected_encoded in (True, False):
        embedder = load_embedder("all-MiniLM-L6-v2", cache=cache)
        scored = score_run(run, labels, spans="first", embedder=embedder)
        assert bool(embedder.encoded) is expected_encoded
        frames.append(scored.fields)

    pd.testing.assert_frame_equal(*frames)
    assert frames[0]["score"].mean() > frames[0]["string_score"].mean()


@needs_model
@pytest.mark.skipif("DOJO_SLOW_TESTS" not in os.environ, reason="encodes 5,386 texts; set DOJO_SLOW_TESTS=1 to run it")
def test_minilm_reproduces_the_stored_scores_of_run_081(real_data: Path) -> None:
    """At least 87 % of the 1,336 stored field scores of run 081 come out within 0.002."""
    run = read_run(real_data / "runs" / "081.json")
    embedder = load_embedder("all-MiniLM-L6-v2")
    scored = score_run(run, load_labels(real_data / "cuad"), spans="first", embedder=embedder)
    stored = {row.document: row.stored["field_scores"] for row in run.rows}
    fields = scored.fields[scored.fields["score"].notna()]
    known = [stored[d][f] for d, f in zip(fields["document"], fields["field"], strict=True)]

    assert len(fields) == 1336
    assert np.mean(np.abs(fields["score"] - known) <= 0.002) >= 0.87


def test_grounding_of_a_published_run(real_data: Path) -> None:
    """Run 081 with all texts: the published measure gives at least 99 % of the stored true_items of all audits."""
    run = read_run(real_data / "runs" / "081.json")
    documents = load_documents(real_data / "cuad" / "full_contract_txt.zip")
    scored = score_run(run, load_labels(real_data / "cuad"), documents, spans="first")
    stored = {row.document: row.stored["entity_list_audit"] for row in run.rows if not row.failed}
    table = audit_table(scored, measure="bag")
    pairs = [
        (n, stored[d][f]["true_items"])
        for d, f, n in zip(table["document"], table["field"], table["true_items"], strict=True)
        if f in stored[d]
    ]

    assert len(pairs) > 1500
    assert np.mean([ours == theirs for ours, theirs in pairs]) >= 0.99
    assert scored.metrics()["overall_verified_precision"].value == pytest.approx(0.98, abs=0.02)
