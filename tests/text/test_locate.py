"""Locating texts in documents: offsets, exact, elided and approximate places, coverage, dates, speed."""

from __future__ import annotations

import datetime as dt
import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dojo_kit.runs import load_documents, load_labels, read_run
from dojo_kit.scoring.document import expected_spans
from dojo_kit.text.dates import find_dates
from dojo_kit.text.locate import MAX_PLACES, DocumentIndex
from dojo_kit.text.names import document_key
from dojo_kit.text.tokens import content_tokens, is_no_value, tokens

CONTRACT = (
    "LICENSE AGREEMENT\n\n1.  GRANT.  Licensor hereby grants to Licensee a non-exclusive,\n          royalty-free"
    " license to use the Marks (the \u201cLicense\u201d)\u2122.\n\n2. FEES. Licensee shall pay $5,000 within thirty"
    " (30) days after receipt of an invoice.\n\n3. TERM. Licensee shall pay interest; the Term ends 31 December 2010.\n"
)
ODD = st.text(
    alphabet="aB1 .,?_-\n\u00e9e\u0301\u00bd\u2122\u00ad\ufb01\u2026\u201c\u4e2d\u00df\u0130\u00b4\u1100\u1161",
    max_size=60,
)
WORDS = st.lists(
    st.sampled_from("the of a fee pay shall term rent notice party agree".split()), min_size=1, max_size=60
)


def quotes(text: str, item: str) -> list[str]:
    return [text[start:end] for start, end in DocumentIndex(text).locate(item).ranges]


def place(text: str, item: str) -> tuple[str, list[str]]:
    found = DocumentIndex(text).locate(item)
    return found.how, [text[start:end] for start, end in found.ranges]


def densest(words: list[str], wanted: frozenset[str], width: int) -> int:
    return max(len(wanted.intersection(words[at : at + width])) for at in range(len(words)))


@pytest.mark.parametrize(
    ("item", "how", "found"),
    [
        pytest.param(
            "NON EXCLUSIVE, royalty free license",
            "exact",
            ["non-exclusive,\n          royalty-free license"],
            id="punctuation, case and spacing do not matter",
        ),
        pytest.param("licensee shall pay", "exact", ["Licensee shall pay"] * 2, id="all occurrences"),
        pytest.param('the "License"', "exact", ["the \u201cLicense"], id="quotes of another kind"),
        pytest.param(
            "Licensor pledges... Licensee shall pay $5,000 <omitted> within thirty (30) days <omitted> the Term ends",
            "approximate",
            ["Licensee shall pay $5,000", "within thirty (30) days", "the Term ends"],
            id="a piece that is nowhere",
        ),
        pytest.param(
            "hereby grants to Licensee \u2026 license [omitted] Licensee shall pay interest",
            "exact",
            ["hereby grants to Licensee", "license", "Licensee shall pay interest"],
            id="pieces in order",
        ),
        pytest.param(
            "icensee shall pay $5,000 within thirty (30) days after rec",
            "approximate",
            ["Licensee shall pay $5,000 within thirty (30) days after receipt"],
            id="cut words at both ends",
        ),
        pytest.param(
            "Licensee will pay $5,000 within thirty days after receipt of any invoice",
            "approximate",
            ["Licensee shall pay $5,000 within thirty (30) days after receipt of an invoice"],
            id="reworded",
        ),
        pytest.param("Licensee shall indemnify Licensor against all claims", "none", [], id="not there"),
        pytest.param("[***]", "none", [], id="no words"),
        pytest.param("", "none", [], id="empty"),
    ],
)
def test_a_text_is_located(item: str, how: str, found: list[str]) -> None:
    """Texts are found word for word, in pieces, or approximately; the ranges are those of the original."""
    assert place(CONTRACT, item) == (how, found)


def test_defined_terms_apart_from_the_name() -> None:
    """A name and the term it is defined as may stand apart."""
    text = "Acme, Inc., a Delaware corporation having its seat in Dover (hereinafter the Distributor), agrees."

    assert place(text, 'Acme Inc. ("Distributor")') == ("approximate", ["Acme, Inc", "Distributor"])


def test_pieces_are_chosen_close_together() -> None:
    """Of several ways to place the pieces in order the shortest one is taken, not the first."""
    text = "Licensee may sell. " + "Nothing is said. " * 50 + "Licensee shall not sublicense."

    start = DocumentIndex(text).locate("Licensee ... sublicense").ranges[0][0]

    assert start == text.rindex("Licensee")


def test_ranges_hold_whole_letters_of_every_script() -> None:
    """Accents written apart, ligatures, fractions, marks and other scripts keep their place."""
    text = "Soci\u00e9te\u0301 \ufb01rst\u2122, \u4e2d\u56fd\u3002 \u00bd share co\u00adop <omitted> \U0001d400lpha"

    assert quotes(text, "socie\u0301t\u00e9 first") == ["Soci\u00e9te\u0301 \ufb01rst\u2122"]
    assert quotes(text, "\u4e2d\u56fd 1 2 share coop") == ["\u4e2d\u56fd\u3002 \u00bd share co\u00adop"]
    assert quotes(text, "alpha") == ["\U0001d400lpha"]


@given(ODD)
def test_words_are_the_tokens_and_offsets_are_valid(text: str) -> None:
    """The index holds exactly the tokens of the text; their ranges are ordered and lie inside."""
    index = DocumentIndex(text)

    assert tuple(index.words) == tokens(text)
    assert len(index.words) == len(index.starts) == len(index.ends)
    assert (index.starts < index.ends).all()
    assert (index.starts[1:] >= index.starts[:-1]).all()
    assert not len(index.ends) or index.ends[-1] <= len(text)


@given(ODD, ODD)
def test_any_range_lies_in_the_document(text: str, item: str) -> None:
    """Whatever is looked for, ranges are in reading order and inside; there is one unless the text is nowhere."""
    found = DocumentIndex(text).locate(item)

    assert all(0 <= start < end <= len(text) for start, end in found.ranges)
    assert list(found.ranges) == sorted(found.ranges)
    assert bool(found.ranges) == (found.how != "none")


@given(ODD.map(lambda text: f"{text} word"), st.data())
def test_a_slice_on_word_boundaries_is_found_exactly(text: str, data: st.DataObject) -> None:
    """Any run of words of the document is found word for word, at its own place or one that overlaps it."""
    index = DocumentIndex(text)
    first = data.draw(st.integers(0, len(index.words) - 1))
    last = data.draw(st.integers(first, len(index.words) - 1))
    start, end = int(index.starts[first]), int(index.ends[last])

    found = index.locate(text[start:end])

    assert found.how == "exact"
    assert any(a < end and start < b for a, b in found.ranges)


GAPS = st.text(" ,.\n\u2014", min_size=1)


@given(st.lists(st.text("abc\u00e9", min_size=1), min_size=1, unique=True), GAPS, st.data())
def test_the_range_of_a_slice_is_the_slice(words: list[str], gap: str, data: st.DataObject) -> None:
    """Where no word comes twice, the one range of a slice is the slice."""
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first, len(words) - 1))
    slice_ = gap.join(words[first : last + 1])

    assert place(gap.join(words), slice_) == ("exact", [slice_])


@given(WORDS, WORDS)
def test_window_coverage_is_that_of_the_best_window(document: list[str], item: list[str]) -> None:
    """The fast window gives what trying every window gives, and never more than the whole document."""
    index, wanted = DocumentIndex(" ".join(document)), content_tokens(item)

    assert index.window_coverage(item) == densest(document, wanted, 2 * len(item)) / len(wanted)
    assert index.bag_coverage(item) == len(wanted.intersection(document)) / len(wanted)
    assert index.window_coverage(item) <= index.bag_coverage(item)


def test_coverage_of_nothing_is_nothing() -> None:
    """A text or document without words covers nothing."""
    assert DocumentIndex("rent").window_coverage(()) == DocumentIndex("rent").bag_coverage(()) == 0.0
    assert DocumentIndex(" \u2014 ").window_coverage(("rent",)) == DocumentIndex("").bag_coverage(("rent",)) == 0.0


DATE_STYLES: dict[str, Callable[[dt.date], str]] = {
    "iso": lambda day: day.isoformat(),
    "american": lambda day: f"{day.month}/{day.day}/{day.year}",
    "short year": lambda day: f"{day.month}-{day.day}-{day.year % 100:02}",
    "long": lambda day: f"{day:%B} {day.day}, {day.year}",
    "deed": lambda day: f"this {day.day}th day of {day:%B},   \n{day.year}",
    "military": lambda day: f"{day:%d%b%Y}",
    "two digits": lambda day: f"{day.day} {day:%b} '{day.year % 100:02}",
}


@pytest.mark.parametrize("style", DATE_STYLES.values(), ids=DATE_STYLES.keys())
@given(day=st.dates(dt.date(1950, 1, 1), dt.date(2049, 12, 31)))
def test_a_date_is_found_in_any_style_amid_text(style: Callable[[dt.date], str], day: dt.date) -> None:
    """A day in the middle of a document is found, and nothing around it is taken for one."""
    text = (
        f"{CONTRACT} Section 4.2: in 30 days, $2,000 or 10 % of 1,500 shares, made {style(day)} by the parties. 5 May"
    )

    found = DocumentIndex(text).dates()

    other_reading = {day.replace(month=day.day, day=day.month)} if day.day <= 12 else set()
    assert day in found
    assert found <= {day, dt.date(2010, 12, 31)} | other_reading


def test_dates_of_open_order_are_read_both_ways() -> None:
    """1/2/2020 may be either day unless the order is settled."""
    index = DocumentIndex("Made on 1/2/2020.")

    assert index.dates() == {dt.date(2020, 1, 2), dt.date(2020, 2, 1)}
    assert index.dates(day_first=True) == {dt.date(2020, 2, 1)}
    assert index.dates(day_first=False) == {dt.date(2020, 1, 2)}


MEGABYTE = 1_000_000
RNG = random.Random(5)
VOCABULARY = [f"{stem}{number}" for stem in ("term", "fee", "notice", "party") for number in range(2_000)]
LONG_WORDS = [*RNG.choices(VOCABULARY, k=60_000), *RNG.choices("the of shall and to".split(), k=60_000)]
RNG.shuffle(LONG_WORDS)
LONG = " ".join(LONG_WORDS).ljust(MEGABYTE, ".")
PATHOLOGICAL = {
    "5,000 words verbatim": (LONG, " ".join(LONG_WORDS[1_000:6_000]), "exact"),
    "5,000 words, every tenth lost": (
        LONG,
        " ".join(w for w in LONG_WORDS[1_000:6_500] if RNG.random() < 0.9),
        "approximate",
    ),
    "5,000 words shuffled": (LONG, " ".join(RNG.sample(LONG_WORDS[1_000:6_000], 5_000)), "none"),
    "a common word": (LONG, "the", "exact"),
    "a thousand ellipses": (LONG, " ... ".join(" ".join(LONG_WORDS[i : i + 3]) for i in range(0, 5_000, 5)), "exact"),
    "ellipses and a stranger": (LONG, "the ... " * 2_000 + "zebra", "none"),
    "one word repeated": ("a " * (MEGABYTE // 2), "a " * 5_000, "exact"),
    "one word repeated, and another": ("a " * (MEGABYTE // 2), "b " + "a " * 5_000, "none"),
    "two words in turn": ("a b " * (MEGABYTE // 4), "a b a a b " * 1_000, "approximate"),
    "one long word": ("x" * MEGABYTE, "x" * 5_000, "none"),
    "dots only": ("." * MEGABYTE, "..." * 2_000, "none"),
}


@pytest.mark.parametrize("case", PATHOLOGICAL.values(), ids=PATHOLOGICAL.keys())
def test_no_input_is_slow(case: tuple[str, str, str]) -> None:
    """A megabyte of text and an item of 5,000 words take a fraction of a second, whatever they hold."""
    text, item, how = case
    index = DocumentIndex(text)
    index.locate("warm up")
    start = time.process_time()

    found = index.locate(item)
    index.window_coverage(tokens(item))

    assert time.process_time() - start < 0.6
    assert found.how == how
    assert len(found.ranges) <= MAX_PLACES


def test_indexing_is_linear() -> None:
    """A megabyte is indexed, and its dates read, in about a second at worst."""
    for text in (LONG, "\u4e2d\u56fd \u2014 \u00bd\u00e9 " * 100_000, "5/5/04 " * 140_000):
        start = time.process_time()
        DocumentIndex(text).dates()
        assert time.process_time() - start < 6


@pytest.fixture(scope="module")
def texts(real_data: Path) -> dict[str, str]:
    return dict(load_documents(real_data / "cuad" / "full_contract_txt.zip"))


def test_index_of_real_contracts(texts: dict[str, str]) -> None:
    """On a tenth of the contracts the words are the tokens, and the dates those that reading everything finds."""
    for key in sorted(texts)[::10]:
        index = DocumentIndex(texts[key])
        read = [value for value in find_dates(texts[key]) if value.date is not None]
        days = {value.date for value in read}
        swapped = {v.date.replace(month=v.date.day, day=v.date.month) for v in read if v.date and v.ambiguous}
        assert tuple(index.words) == tokens(texts[key]), key
        assert index.dates() == days | swapped, key


def test_speed_of_indexing_real_contracts(real_data: Path, texts: dict[str, str]) -> None:
    """The 217 contracts of run 081 are indexed for all questions well under two seconds of one core."""
    run = read_run(real_data / "runs" / "081.json")
    used = [texts[document_key(row.document)] for row in run.rows if not row.failed]
    start = time.process_time()

    for text in used:
        index = DocumentIndex(text)
        index.find(("no", "such", "thing"))
        index.window_coverage(("agreement",))

    assert len(used) == 217
    assert time.process_time() - start < 2


def test_labels_and_items_of_a_real_run_are_located(real_data: Path, texts: dict[str, str]) -> None:
    """Run 043: every one of the 352 labels and 989 of the 995 items of key_obligations have a place."""
    labels = load_labels(real_data / "cuad" / "master_clauses.csv")
    looked_for: dict[str, list[str]] = {"labels": [], "items": []}
    for row in read_run(real_data / "runs" / "043.json").rows:
        key = document_key(row.document)
        spans = expected_spans(labels.documents[key], "key_obligations", mode="first", is_list=True)
        if row.failed or not spans:
            continue
        index = DocumentIndex(texts[key])
        items = [item for item in row.predicted["key_obligations"] if not is_no_value(item)]
        looked_for["labels"] += [index.locate(span.text).how for span in spans]
        looked_for["items"] += [index.locate(item).how for item in items]

    counts = {name: (len(hows), hows.count("exact"), hows.count("none")) for name, hows in looked_for.items()}

    assert counts["labels"][0] == 352
    assert counts["items"][0] == 995
    assert counts["labels"][1] >= 345
    assert counts["labels"][2] == 0
    assert counts["items"][1] >= 900
    assert counts["items"][2] <= 10
