"""Splitting clauses, chunking documents, merging answers, and category presence."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dojo_kit.records import ExpectedSpan
from dojo_kit.runs import load_documents, load_labels, read_run
from dojo_kit.scoring.document import expected_spans
from dojo_kit.scoring.spans import MIN_TOKENS, category_presence, chunk_text, merge_chunks, split_clauses
from dojo_kit.text.names import document_key
from dojo_kit.text.tokens import tokens

VECTORS = json.loads((Path(__file__).parents[1] / "golden" / "scoring.json").read_text(encoding="utf-8"))
CLAUSE_FIELDS = ("key_obligations", "termination_clauses")
LAWYERLY = st.text(alphabet='aAbB1 .;!?\n"(),\u201c\u2028', max_size=80)


@pytest.mark.parametrize("vector", [v for v in VECTORS if v["area"] == "spans"], ids=lambda v: v["args"][0][0][:40])
def test_golden_vectors(vector: dict[str, Any]) -> None:
    """Published inputs come out as the rulings ask."""
    assert split_clauses(*vector["args"]) == vector["expected"]


KEPT_WHOLE = [
    "The Licensee and Acme, Inc. Shall jointly perform the work",
    "Payment to Acme Co. Ltd. The Netherlands branch is due",
    "The price of each unit is $5.00 (five dollars) net",
    "As required under Section 1.2 Licensee shall pay fees",
    "The patent filed as No. 5,123,456 belongs to Licensor",
    "Subject to Art. 12 and Sec. 3(b) Licensee may assign",
    "The laws of the U.S. Federal government apply to this",
    "Signed by John Q. Public and J. R. Smith for Licensor",
    "Delivery by courier, e.g. DHL or UPS, is permitted here",
    "Acme Holdings L.L.C. Delaware is liable for all losses",
    "As agreed by Dr. Jones and Mr. Smith in writing today",
    "Due on Jan. 5 of every calendar year of the Term",
    "12. Licensee shall pay all fees due to Licensor",
    "Section 5. Licensee shall pay all fees due to Licensor",
    "(a) Licensee shall pay all fees. (b) Shall not",
    "who paid? nobody ever asked. and so on it went",
]

CUT = [
    ("One party may assign. The other may not do so.", ["One party may assign.", "The other may not do so."]),
    ("Fees are due monthly; rent is due every year;", ["Fees are due monthly", "rent is due every year"]),
    (
        "Licensee shall pay fees\nLicensor shall audit the books",
        ["Licensee shall pay fees", "Licensor shall audit the books"],
    ),
    (
        "He shall not compete! \u201cTerm\u201d means ten whole years",
        ["He shall not compete!", "\u201cTerm\u201d means ten whole years"],
    ),
    ("It ends in May 2010. 30 days later all is over", ["It ends in May 2010.", "30 days later all is over"]),
    ("It is described in Exhibit A. The parties so agree", ["It is described in Exhibit A.", "The parties so agree"]),
    ("Is it so agreed? (Yes, the parties do agree)", ["Is it so agreed?", "(Yes, the parties do agree)"]),
    ("The answer given was no. The parties so agree", ["The answer given was no.", "The parties so agree"]),
    ("The marks A&amp; B are licensed hereby", ["The marks A&amp; B are licensed hereby"]),
    ("a; b; c and d are the marks; e", ["a; b", "c and d are the marks; e"]),
    ("Pay the fees at once. Always. Then the rent is due", ["Pay the fees at once. Always.", "Then the rent is due"]),
    ("Pay the rent.\n\n  \n", ["Pay the rent."]),
    ("***", []),
]


@pytest.mark.parametrize("text", KEPT_WHOLE)
def test_what_is_no_sentence_end_does_not_cut(text: str) -> None:
    """Abbreviations, decimals, section numbers, initials, headings and lower case do not end a sentence."""
    assert split_clauses([text]) == [text]


@pytest.mark.parametrize(("text", "pieces"), [pytest.param(*case, id=case[0][:40]) for case in CUT])
def test_texts_are_cut(text: str, pieces: list[str]) -> None:
    """Lines, semicolons and sentence ends cut; short pieces stay with the one before, as written."""
    assert split_clauses([text]) == pieces


def test_pieces_do_not_join_across_items_and_duplicates_are_dropped() -> None:
    """A short item stays its own, and a clause quoted twice is one span whatever its punctuation."""
    items = [
        "Licensee shall pay all fees.",
        "Exclusivity",
        "LICENSEE shall pay, all fees; Licensor may audit the books",
    ]

    assert split_clauses(items) == ["Licensee shall pay all fees.", "Exclusivity", "Licensor may audit the books"]


@given(LAWYERLY)
def test_no_token_is_lost(text: str) -> None:
    """The pieces hold the tokens of the text, and no others, each distinct piece once."""
    pieces = split_clauses([text])

    assert set(tokens(" ".join(pieces))) == set(tokens(text))
    assert len({tokens(piece) for piece in pieces}) == len(pieces)
    assert all(piece in text for piece in pieces)
    assert all(len(tokens(piece)) >= MIN_TOKENS for piece in pieces[1:])


@given(st.lists(LAWYERLY, max_size=5))
def test_the_number_of_tokens_only_shrinks_by_duplicates(texts: list[str]) -> None:
    """Over several texts every token stays as often as it was, duplicates of whole pieces apart."""
    before = Counter(word for text in texts for word in tokens(text))
    pieces = split_clauses(texts)
    after = Counter(word for piece in pieces for word in tokens(piece))

    assert set(after) == set(before)
    assert after <= before
    assert split_clauses([*texts, *texts]) == pieces


def test_splitting_long_texts_is_linear() -> None:
    """A megabyte of abbreviations, marks or spaces is cut within seconds."""
    for text in ("Inc. Shall " * 90_000, "a; " * 330_000, "x." + " " * 1_000_000, "\n" * 1_000_000, "A. " * 330_000):
        start = time.process_time()
        split_clauses([text])
        assert time.process_time() - start < 6


SIZES = st.integers(1, 60).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size - 1)))
PROSE = st.text(alphabet="ab .\n;\r\u00e9", max_size=300)


@given(PROSE, SIZES)
def test_chunks_hold_every_character(text: str, sizes: tuple[int, int]) -> None:
    """Chunks are slices no longer than asked for, overlap by no more than asked for, and give the text back."""
    chunk_chars, overlap = sizes

    chunks = chunk_text(text, chunk_chars=chunk_chars, overlap=overlap)

    rebuilt = ""
    for chunk in chunks:
        assert chunk.text == text[chunk.start : chunk.end]
        assert 0 < len(chunk.text) <= chunk_chars
        assert len(rebuilt) - overlap <= chunk.start <= len(rebuilt) < chunk.end
        rebuilt += chunk.text[len(rebuilt) - chunk.start :]
    assert rebuilt == text


def test_chunks_end_between_paragraphs() -> None:
    """Paragraphs that fit a chunk are kept whole, and shared whole."""
    paragraphs = [f"{number}. " + "All is well. " * (number % 7 + 1) + "\n\n" for number in range(200)]
    text = "".join(paragraphs)
    ends = {sum(map(len, paragraphs[:n])) for n in range(201)}

    chunks = chunk_text(text, chunk_chars=500, overlap=150)

    assert {chunk.end for chunk in chunks} <= ends
    assert {chunk.start for chunk in chunks} <= ends
    assert all(b.start < a.end for a, b in pairwise(chunks))


def test_a_long_paragraph_is_cut_between_sentences_then_words_then_anywhere() -> None:
    """Only what fits nowhere is cut, at the best place there is."""
    sentences = chunk_text("This is one sentence. " * 20, chunk_chars=100, overlap=30)
    words = chunk_text("word " * 50, chunk_chars=21, overlap=6)
    letters = chunk_text("x" * 50, chunk_chars=20, overlap=5)

    assert all(chunk.text.startswith("This is") and chunk.text.endswith(". ") for chunk in sentences)
    assert all(chunk.text.split() == ["word"] * 4 or chunk is words[-1] for chunk in words)
    assert [(chunk.start, chunk.end) for chunk in letters] == [(0, 20), (15, 35), (30, 50)]


def test_chunk_sizes_are_checked() -> None:
    """An overlap as long as the chunk would never end."""
    for chunk_chars, overlap in ((0, 0), (10, 10), (10, -1)):
        with pytest.raises(
            ValueError, match=f"chunk_chars is {chunk_chars} and overlap {overlap}; expected 0 <= overlap"
        ):
            chunk_text("text", chunk_chars=chunk_chars, overlap=overlap)


LIST_FIELDS = frozenset({"parties", "key_obligations"})
VALUE = st.one_of(st.none(), st.sampled_from(["Acme, Inc.", "ACME INC", "N/A", "", "Texas", "x"]))
ANSWER = st.fixed_dictionaries(
    {},
    optional={
        "parties": st.one_of(VALUE, st.lists(VALUE, max_size=4)),
        "governing_law": VALUE,
        "confidence": st.one_of(st.none(), st.floats(0, 1)),
        "reasoning": st.one_of(
            VALUE,
            st.fixed_dictionaries(
                {
                    "summary": VALUE,
                    "entries": st.lists(st.fixed_dictionaries({"field": VALUE, "evidence": VALUE}), max_size=3),
                }
            ),
        ),
    },
)


def test_chunk_answers_are_merged() -> None:
    """Lists are united, the first value of a scalar counts, confidence is the largest, the traces are united."""
    quote = "Licensee shall pay."
    first = {
        "parties": ["Acme, Inc."],
        "governing_law": "Not specified",
        "key_obligations": [quote],
        "confidence": 0.4,
        "reasoning": {
            "summary": "Part one.",
            "entries": [{"field": "Insurance", "evidence": quote, "section_ref": "1"}],
        },
    }
    second = {
        "parties": "Beta LLC",
        "governing_law": "Texas",
        "key_obligations": ["licensee shall pay", "Licensor may audit."],
        "confidence": 0.9,
        "reasoning": {
            "summary": "Part two.",
            "entries": [
                {"field": "Insurance", "evidence": "Licensee shall pay", "section_ref": None},
                {"field": "Audit Rights", "evidence": "Licensor may audit."},
            ],
        },
    }

    assert merge_chunks([first, None, second], LIST_FIELDS) == {
        "parties": ["Acme, Inc.", "Beta LLC"],
        "governing_law": "Texas",
        "key_obligations": [quote, "Licensor may audit."],
        "confidence": 0.9,
        "reasoning": {
            "summary": "Part one.\nPart two.",
            "entries": [first["reasoning"]["entries"][0], second["reasoning"]["entries"][1]],  # type: ignore[index]
        },
    }


def test_nothing_readable_merges_to_nothing() -> None:
    """Without an answer there is no field, which is not the same as an empty one."""
    assert merge_chunks([None, None], LIST_FIELDS) == merge_chunks([], LIST_FIELDS) == {}
    assert merge_chunks([{"parties": None, "governing_law": None}], LIST_FIELDS) == {
        "parties": [],
        "governing_law": None,
    }


@given(st.lists(st.one_of(st.none(), ANSWER), max_size=4))
def test_merging_is_idempotent(answers: list[dict[str, Any] | None]) -> None:
    """Merging what is merged, once or twice over, changes nothing."""
    merged = merge_chunks(answers, LIST_FIELDS)

    assert merge_chunks([merged], LIST_FIELDS) == merged
    assert merge_chunks([merged, None, merged], LIST_FIELDS) == merged
    assert merge_chunks([*answers, *answers], LIST_FIELDS) == merged


def test_a_clause_across_the_cut_is_merged_to_one() -> None:
    """With overlap both chunks hold a clause at the cut; quoted on both sides it is one item."""
    clauses = [f"Party {number} shall pay the sum of {number} dollars." for number in range(40)]
    text = " ".join(clauses)
    chunks = chunk_text(text, chunk_chars=400, overlap=120)
    answers = [{"key_obligations": [c for c in clauses if c in chunk.text]} for chunk in chunks]

    assert sum(len(answer["key_obligations"]) for answer in answers) > len(clauses)
    assert merge_chunks(answers, LIST_FIELDS)["key_obligations"] == clauses


ASSIGN = ExpectedSpan("Neither party may assign this Agreement without prior written consent.", "Anti-Assignment")
AUDIT = ExpectedSpan("Licensor may audit the books and records of Licensee.", "Audit Rights")
LEAVE = ExpectedSpan("Either party may terminate on thirty days notice.", "Termination For Convenience")
EXPECTED = {"key_obligations": (ASSIGN, AUDIT), "termination_clauses": (LEAVE,)}


def covered(predicted: Mapping[str, Any], **options: Any) -> dict[str, tuple[bool, str | None]]:
    found = category_presence(EXPECTED, predicted, **options)
    return {cover.category: (cover.present, cover.route) for cover in found.categories}


def test_categories_are_present_where_a_span_covers_a_label() -> None:
    """Items of the category's own field count, however much else they say."""
    item = f"Fees are due on the first. {ASSIGN.text} The rent is due now."
    predicted = {
        "key_obligations": [item, LEAVE.text],
        "termination_clauses": "Termination of any kind is excluded.",
    }

    found = category_presence(EXPECTED, predicted)

    assert covered(predicted) == {
        "Anti-Assignment": (True, "field"),
        "Audit Rights": (False, "field"),
        "Termination For Convenience": (False, "field"),
    }
    assert found.share == pytest.approx(1 / 3)
    assert found.categories[0].span == item
    assert found.categories[0].coverage == 1.0


def test_tagged_trace_entries_are_asked_first() -> None:
    """Evidence tagged with the category, in any of its spellings, covers what the field does not hold."""
    entries = [
        {"field": "audit rights", "evidence": AUDIT.text},
        {"field": "key_obligations", "evidence": ASSIGN.text},
        {"field": "Termination For Convenience", "evidence": None},
        "no entry",
    ]

    assert covered({"key_obligations": [AUDIT.text], "reasoning": {"entries": entries}}) == {
        "Anti-Assignment": (False, "field"),
        "Audit Rights": (True, "trace"),
        "Termination For Convenience": (False, None),
    }


def test_similarity_is_asked_only_where_tokens_do_not_cover() -> None:
    """A similarity finds paraphrases and is not computed for what is already there."""
    asked: list[str] = []

    def similarity(label: str, span: str) -> float:
        asked.append(label)
        return 0.8 if "transfer" in span else 0.1

    predicted = {"key_obligations": ["No transfer of rights is allowed.", AUDIT.text]}
    found = category_presence(EXPECTED, predicted, similarity=similarity)

    assert set(asked) == {ASSIGN.text}
    assert [cover.present for cover in found.categories] == [True, True, False]
    assert (found.categories[0].similarity, found.categories[1].similarity) == (0.8, None)
    assert (
        not category_presence(EXPECTED, predicted, similarity=similarity, presence_threshold=0.9).categories[0].present
    )


def test_nothing_expected_is_satisfied_and_nothing_predicted_is_not() -> None:
    """Without labelled categories the share is 1; labels without a category are passed over."""
    assert category_presence({}, {}).share == 1.0
    assert category_presence({"key_obligations": [ExpectedSpan("Pay.")]}, {}).share == 1.0
    assert category_presence(EXPECTED, {}).share == 0.0


@given(st.lists(st.sampled_from([ASSIGN.text, AUDIT.text, LEAVE.text, "Fees are due."])))
def test_more_items_never_lower_presence(items: list[str]) -> None:
    """Adding items can only make more categories present."""
    shares = [category_presence(EXPECTED, {"key_obligations": items[:n]}).share for n in range(len(items) + 1)]

    assert shares == sorted(shares)


def test_presence_denominators_of_published_runs(real_data: Path) -> None:
    """Each stored share is a number of categories over the number we expect; covered ones are seldom denied."""
    labels = load_labels(real_data / "cuad" / "master_clauses.csv")
    checked = 0
    for name in ("043", "075", "081"):
        for row in read_run(real_data / "runs" / f"{name}.json").rows:
            documents = labels.documents[document_key(row.document)]
            if row.failed:
                continue
            expected = {field: expected_spans(documents, field, mode="first", is_list=True) for field in CLAUSE_FIELDS}
            found = category_presence(expected, row.predicted)
            stored = row.stored["category_presence"]
            n = len(found.categories)
            assert stored == 1.0 if n == 0 else abs(stored * n - round(stored * n)) < 0.01, row.document
            checked += 1
    assert checked > 300


def test_chunks_of_real_contracts(real_data: Path) -> None:
    """With the published sizes every chunk of a long contract ends at a paragraph and shares text with the next."""
    texts = load_documents(real_data / "cuad" / "full_contract_txt.zip")
    long = [text for text in (texts[key] for key in sorted(texts)) if len(text) > 90_000]
    for text in random.Random(3).sample(long, 25):
        chunks = chunk_text(text, chunk_chars=90_000, overlap=8_000)
        assert all(a.end - 8_000 <= b.start < a.end for a, b in pairwise(chunks))
        assert all(text[: chunk.end].endswith("\n") or chunk is chunks[-1] for chunk in chunks)
        assert chunks[-1].end == len(text)
