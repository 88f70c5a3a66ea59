"""Spans: sentences of items, chunks of documents and their merged answers, and labelled clauses an answer covers."""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from dojo_kit.records import ExpectedSpan
from dojo_kit.schema import clause_categories, clause_category
from dojo_kit.scoring.answer import as_items
from dojo_kit.text.tokens import canonical, content_tokens, is_contiguous, is_no_value, tokens

Route = Literal["trace", "field"]

MIN_TOKENS = 4
"""A piece with fewer tokens is no sentence of its own; it stays with the one before."""

_LINE_ENDS = "\n\r\x0b\x0c\x85\u2028\u2029"
_BREAK = re.compile(
    rf"(?P<line>[{_LINE_ENDS}]\s*)|(?P<semicolon>(?<!&amp)(?<!&quot)(?<!&lt)(?<!&gt)(?<!&nbsp);(?:\s+|\Z))"
    rf"|(?<=[.!?])[^\S{_LINE_ENDS}]+(?=(?P<next>[\w\"\u201c\u201d\u201e(]))"
)
_LAST_WORDS = re.compile(r"(?:(?P<before>\w+)[^\S\n]+)?[^\w\s]*(?P<last>\w[\w.&-]*)\.\Z")
_DOTTED = re.compile(r"[^\W\d_](?:\.[^\W\d_])*")
_HEADING = re.compile(
    r"\W*(?:(?:article|section|clause|paragraph|exhibit|schedule|annex|appendix) )?\(?(?:\d[\d.]*|[ivxlc]+|[a-z])\)?\.",
    re.IGNORECASE,
)
_LONGEST_HEADING = 32
_ABBREVIATIONS = frozenset(
    "inc corp co cos ltd llc plc lp llp pty pte pvt bros mfg intl natl gmbh assn assoc dept univ mr mrs ms dr prof hon"
    " messrs rev gen gov jr sr st ave blvd vs v cf e.g i.e viz approx est incl excl attn dba ph.d".split()
)
"""Words whose full stop does not end a sentence, whatever follows."""
_BEFORE_NUMBERS = frozenset(
    "no nos art arts sec secs para paras par ch cl cls fig figs vol ex exh sched pt p pp jan feb mar apr jun jul aug"
    " sep sept oct nov dec tel rs".split()
)
"""Words whose full stop does not end a sentence when a number follows."""
_LETTERED = frozenset("exhibit schedule annex appendix attachment part party class series tranche phase".split())
"""Words after which a single letter is a name, not an initial."""

_PLACES = tuple(map(re.compile, (r"\n(?:[^\S\n]*\n)+", r"\n", r"(?<=[.!?;])\s+", r"\s+")))
"""Where a document may be cut, best first: between paragraphs, lines, sentences, words."""


def split_clauses(texts: Iterable[str]) -> list[str]:
    """Cut texts into sentence-like spans.

    Cuts are made at line breaks, at a semicolon before a space (the mark is dropped), and at a space after ``.``,
    ``!`` or ``?`` before a capital, a digit, a double quote or a bracket (the mark is kept), unless the full stop
    belongs to an abbreviation, an initial or a section number. A piece of fewer than `MIN_TOKENS` tokens stays
    with the one before it in the same text, joined as it was written. Pieces without words and pieces with the
    tokens of an earlier one are dropped.

    Args:
        texts: Items of a clause list.

    Examples:
        >>> split_clauses(["Licensee shall pay quarterly; Licensor may audit the books. Acme, Inc. Shall assist."])
        ['Licensee shall pay quarterly', 'Licensor may audit the books.', 'Acme, Inc. Shall assist.']
        >>> split_clauses(["The fee is $5.00 per unit. Pay now.", "the fee is $5.00 per unit, pay now"])
        ['The fee is $5.00 per unit. Pay now.']
    """
    found: dict[tuple[str, ...], str] = {}
    given = [texts] if isinstance(texts, str) else texts
    for piece in (text[start:end].strip() for text in given for start, end in _clauses(text)):
        found.setdefault(tokens(piece), piece)
    return list(found.values())


def _clauses(text: str) -> list[tuple[int, int]]:
    clauses: list[tuple[int, int]] = []
    start = 0
    for end, beyond in [*_breaks(text), (len(text), len(text))]:
        words = tokens(text[start:end])
        if clauses and 0 < len(words) < MIN_TOKENS:
            clauses[-1] = (clauses[-1][0], end)
        elif words:
            clauses.append((start, end))
        start = beyond
    return clauses


def _breaks(text: str) -> Iterator[tuple[int, int]]:
    """Yield the end of each piece and the start of the next."""
    start = 0
    for mark in _BREAK.finditer(text):
        if not mark["next"] or _ends_sentence(text, start, mark.start(), mark["next"]):
            yield mark.span()
            start = mark.end()


def _ends_sentence(text: str, start: int, end: int, following: str) -> bool:
    """Tell whether the mark before `end` ends the sentence begun at `start`, given the character that follows."""
    if following.isalpha() and not following.isupper():
        return False
    if text[end - 1] != ".":
        return True
    if end - start <= _LONGEST_HEADING and _HEADING.fullmatch(text, start, end):
        return False
    words = _LAST_WORDS.search(text, max(start, end - _LONGEST_HEADING), end)
    if words is None:
        return True
    last, before = words["last"].lower(), (words["before"] or "").lower()
    if last in _BEFORE_NUMBERS and following.isdigit():
        return False
    is_initial = _DOTTED.fullmatch(last) is not None and before not in _LETTERED
    return not (is_initial or last in _ABBREVIATIONS)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A window of a document.

    Attributes:
        start: First character.
        end: Character after the last.
        text: The characters between.
    """

    start: int
    end: int
    text: str


def chunk_text(text: str, *, chunk_chars: int, overlap: int) -> list[Chunk]:
    r"""Cut a document into overlapping windows that together hold every character.

    Windows end between paragraphs where that is possible: else, in a paragraph that fits no window, between lines,
    sentences, words, or anywhere. The next window starts at most `overlap` characters before the end of the last
    one, at the best such place.

    Args:
        text: The document.
        chunk_chars: Longest window, in characters.
        overlap: Most characters two neighbouring windows share.

    Returns:
        The windows in order; none for an empty document.

    Raises:
        ValueError: A size is not positive, or the overlap is not smaller than the window.

    Examples:
        >>> [chunk.text for chunk in chunk_text("One.\n\nTwo is here.\n\nThree.", chunk_chars=20, overlap=14)]
        ['One.\n\nTwo is here.\n\n', 'Two is here.\n\nThree.']
    """
    if chunk_chars < 1 or not 0 <= overlap < chunk_chars:
        raise ValueError(f"chunk_chars is {chunk_chars} and overlap {overlap}; expected 0 <= overlap < chunk_chars")
    if len(text) <= chunk_chars:
        return [Chunk(0, len(text), text)] if text else []
    places = [[mark.end() for mark in pattern.finditer(text)] for pattern in _PLACES]
    places[0].append(len(text))
    chunks: list[Chunk] = []
    start = end = 0
    while end < len(text):
        end = _last_place(places, end, min(start + chunk_chars, len(text)))
        chunks.append(Chunk(start, end, text[start:end]))
        start = _next_start(places, end, chunk_chars, overlap)
    return chunks


def _last_place(places: Sequence[Sequence[int]], low: int, high: int) -> int:
    """Return the last good place to cut in (low, high]."""
    for level in places:
        at = bisect_right(level, high)
        if at and level[at - 1] > low:
            return level[at - 1]
    return high


def _next_start(places: Sequence[Sequence[int]], end: int, chunk_chars: int, overlap: int) -> int:
    """Return the first good place to start in [end - overlap, end] that leaves room for a next paragraph that fits."""
    paragraphs = places[0]
    after = bisect_right(paragraphs, end)
    low = end - overlap
    if 0 < after < len(paragraphs) and paragraphs[after - 1] == end and paragraphs[after] <= end + chunk_chars:
        low = max(low, paragraphs[after] - chunk_chars)
    for level in places:
        at = bisect_left(level, low)
        if at < len(level) and level[at] < end:
            return level[at]
    return low


def merge_chunks(answers: Sequence[Mapping[str, Any] | None], list_fields: Collection[str]) -> dict[str, Any]:
    """Merge the answers given for the chunks of one document into one answer.

    Lists are united, items with the same tokens kept once; of scalars the first value counts; ``confidence`` is the
    largest; entries of the ``reasoning`` trace are united and its summaries joined.

    Args:
        answers: One answer a chunk, in order; what is no object is a chunk whose answer could not be read.
        list_fields: Names of the fields that hold lists.

    Examples:
        >>> one = {"parties": ["Acme, Inc."], "governing_law": None, "confidence": 0.7}
        >>> two = {"parties": ["ACME INC", "Beta LLC"], "governing_law": "Texas", "confidence": 0.9}
        >>> merge_chunks([one, None, two], {"parties"})
        {'parties': ['Acme, Inc.', 'Beta LLC'], 'governing_law': 'Texas', 'confidence': 0.9}
    """
    read = [answer for answer in answers if isinstance(answer, Mapping)]
    merged: dict[str, Any] = {}
    for name in dict.fromkeys(name for answer in read for name in answer):
        values = [answer[name] for answer in read if name in answer]
        if name in list_fields:
            merged[name] = _unite(values)
        elif name == "confidence":
            numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
            merged[name] = max(numbers, default=None)
        elif name == "reasoning":
            merged[name] = _merge_traces(values)
        else:
            merged[name] = next((value for value in values if not is_no_value(value)), None)
    return merged


def _unite(lists: Iterable[Any]) -> list[Any]:
    found: dict[object, Any] = {}
    for value in lists:
        for item in value if isinstance(value, list | tuple) else [value]:
            if not is_no_value(item):
                found.setdefault(_item_key(item), item)
    return list(found.values())


def _item_key(item: Any) -> object:
    if isinstance(item, str):
        return tokens(item) or canonical(item)
    if isinstance(item, Mapping) and item.get("evidence"):
        return str(item.get("field")), tokens(str(item["evidence"]))
    return json.dumps(item, sort_keys=True, default=str)


def _merge_traces(traces: Sequence[Any]) -> Any:
    objects = [trace if isinstance(trace, Mapping) else {"summary": trace} for trace in traces if trace]
    summaries = dict.fromkeys(str(trace["summary"]) for trace in objects if trace.get("summary"))
    if not any(isinstance(trace, Mapping) for trace in traces):
        return "\n".join(summaries) or None
    entries = _unite(trace.get("entries") for trace in objects)
    return {"summary": "\n".join(summaries) or None, "entries": entries}


@dataclass(frozen=True, slots=True)
class CategoryCover:
    """Whether an answer holds a clause that the labels say the document has.

    Attributes:
        category: The clause category.
        field: The field it is extracted into.
        label: The label that is covered, or comes closest.
        present: Whether some span covers it.
        route: Where that span, or the closest, was found: in the ``trace`` or in the ``field``.
        span: The span; None when the answer has none to compare.
        coverage: Share of the label's content tokens it holds.
        similarity: Similarity of the two, where it was asked for.
    """

    category: str
    field: str
    label: str
    present: bool = False
    route: Route | None = None
    span: str | None = None
    coverage: float = 0.0
    similarity: float | None = None


@dataclass(frozen=True, slots=True)
class CategoryPresence:
    """How many of the labelled categories an answer covers.

    Attributes:
        share: Categories present / categories labelled; 1.0 when none is.
        categories: One entry per labelled category, in the order of the labels.
    """

    share: float
    categories: tuple[CategoryCover, ...]


def category_presence(
    expected: Mapping[str, Sequence[ExpectedSpan]],
    predicted: Mapping[str, Any],
    *,
    coverage_threshold: float = 0.7,
    presence_threshold: float = 0.7,
    similarity: Callable[[str, str], float] | None = None,
) -> CategoryPresence:
    """Tell which labelled clause categories an answer covers.

    For each category the entries of the answer's trace tagged with its name are asked first, then the items of its
    field, whole and, where similarity is asked for, cut into sentences. It is present when one of these spans holds
    `coverage_threshold` of the distinct content tokens of one of its labels, or is similar enough to it.

    Args:
        expected: Clause field -> its labels; those without a category are passed over.
        predicted: The model's answer.
        coverage_threshold: Share of a label's tokens from which it is covered.
        presence_threshold: Similarity from which it is.
        similarity: Similarity of a label and a span, such as a cosine; none is asked for by default.

    Examples:
        >>> labels = [ExpectedSpan("Neither party may assign.", "Anti-Assignment"), ExpectedSpan("Fees.", "Insurance")]
        >>> found = category_presence({"key_obligations": labels}, {"key_obligations": "No party may assign. Ever."})
        >>> found.share, [(one.category, one.coverage) for one in found.categories]
        (0.5, [('Anti-Assignment', 0.75), ('Insurance', 0.0)])
    """
    predicted = predicted if isinstance(predicted, Mapping) else {}
    traces = tagged_evidence(predicted)
    covers = []
    for field, labels in expected.items():
        items = as_items(predicted.get(field))
        for category in dict.fromkeys(label.category for label in labels if label.category):
            texts = [label.text for label in labels if label.category == category]
            routes: list[tuple[Route, str]] = [("trace", span) for span in traces.get(category, ())]
            routes += [("field", span) for span in items]
            values = coverages = _containments(texts, [span for _, span in routes])
            threshold = coverage_threshold
            if similarity is not None and max(coverages, default=1.0) < threshold:
                # A whole item holds all the words of its sentences, but may be less similar than one of them.
                routes += [("field", span) for span in split_clauses(items) if span not in items]
                coverages = _containments(texts, [span for _, span in routes])
                values, threshold = [similarity(text, span) for _, span in routes for text in texts], presence_threshold
            pairs = [(text, route, span) for route, span in routes for text in texts]
            if not pairs:
                covers.append(CategoryCover(category, field, texts[0]))
                continue
            at = values.index(max(values))
            text, route, span = pairs[at]
            close = None if values is coverages else values[at]
            covers.append(
                CategoryCover(category, field, text, values[at] >= threshold, route, span, coverages[at], close)
            )
    share = sum(cover.present for cover in covers) / len(covers) if covers else 1.0
    return CategoryPresence(share, tuple(covers))


def _containments(labels: Sequence[str], spans: Sequence[str]) -> list[float]:
    """Return the share of each label's content tokens that each span holds, span by span."""
    wanted = [content_tokens(tokens(label)) for label in labels]
    return [len(label & words) / len(label) if label else 0.0 for words in map(_word_set, spans) for label in wanted]


@lru_cache(maxsize=16_384)
def _word_set(text: str) -> frozenset[str]:
    return frozenset(tokens(text))


_CLAUSE_LIST_CATEGORIES = frozenset(
    category.name for category in clause_categories() if category.field in ("key_obligations", "termination_clauses")
)
"""Categories an item of a clause list may be tagged with; names such as Parties are also names of fields."""


def trace_categories(predicted: Mapping[str, Any]) -> Callable[[str], str | None]:
    """Return a function from an item to the clause category the answer's own trace tags it with, if any.

    An item carries the tag of the first entry whose evidence stands word for word in it, or in which it stands.

    Args:
        predicted: The model's answer.

    Examples:
        >>> entry = {"field": "Insurance", "evidence": "keep liability insurance"}
        >>> tag = trace_categories({"reasoning": {"entries": [entry]}})
        >>> tag("Licensee shall keep liability insurance."), tag("Licensee shall pay.")
        ('Insurance', None)
    """
    tags = [
        (name, tokens(text))
        for name, texts in tagged_evidence(predicted).items()
        for text in texts
        if name in _CLAUSE_LIST_CATEGORIES
    ]

    def category_of(item: str) -> str | None:
        words = tokens(item) if tags else ()
        return next(
            (name for name, evidence in tags if is_contiguous(evidence, words) or is_contiguous(words, evidence)), None
        )

    return category_of


def tagged_evidence(predicted: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the evidence of trace entries tagged with a clause category, by category.

    Args:
        predicted: The model's answer.

    Examples:
        >>> tagged_evidence({"reasoning": {"entries": [{"field": "Insurance", "evidence": "is insured"}]}})
        {'Insurance': ['is insured']}
    """
    found: dict[str, list[str]] = {}
    trace = predicted.get("reasoning")
    entries = trace.get("entries") if isinstance(trace, Mapping) else None
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, Mapping) and isinstance(entry.get("field"), str):
            category = clause_category(entry["field"])
            if category is not None:
                found.setdefault(category.name, []).extend(as_items(entry.get("evidence")))
    return found
