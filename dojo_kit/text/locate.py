"""Where a text stands in a document: an index built once per document and asked many times.

The index holds the document's words, as `dojo_kit.text.tokens.tokens` makes them, and the characters of the
original text they stand for. A text is looked up as a sequence of words, so punctuation, case and spacing do not
matter; what is not there word for word is compared with the place where most of its words stand close together.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz
from rapidfuzz.distance import Indel, LCSseq

from dojo_kit.text.dates import find_dates
from dojo_kit.text.tokens import content_tokens, tokens

Integers = NDArray[np.int64]
Span = tuple[int, int]

SIMILAR = 0.8
"""Indel similarity, in characters, that a place must have with a text that does not stand there verbatim."""

MAX_PLACES = 1_000
"""Occurrences of one text that are reported."""

_WORTH_COMPARING = 0.5
"""Share of a text's words that must stand close together before the place is compared with it."""
_WINDOWS, _NEARLY, _NO_DOUBT, _MANY_WORDS = 3, 0.85, 0.97, 500
"""Windows compared with a text, the share of the densest one's words the others must hold, the similarity from which
no other is looked for, and the words of a text from which comparing several takes too long."""
_MAX_WORDS = 5_000
"""Longer pieces are compared in parts, because that takes time and memory by words times words."""
_EDGE_WORDS, _EDGE_SIMILAR = 8, 60.0
_MAX_PIECES, _MAX_CHAINS = 32, 20

_OMITTED = re.compile(r"[<\[]\s*omitted\s*[>\]]", re.IGNORECASE)
_ELISION = re.compile(rf"{_OMITTED.pattern}|\.\s?\.\s?\.[\s.]*|\u2026", re.IGNORECASE)
_BRACKETS = re.compile(r"[()]")
_FOLDED = bytes(ord(chr(c).lower()) if c < 128 and (chr(c).isalnum() or c == 63) else 32 for c in range(256))

_MONTHS = frozenset("jan feb mar apr may jun jul aug sep oct nov dec".split())
_NUMERALS = frozenset({"nineteen", "twenty", "thousand"})
_YEAR_WORD = re.compile(
    r"(?:[0-9]{0,2}[a-z]{3,9})?[12li][0-9o][0-9oli]{2}(?:t[0-9]+z?)?|(?:19|20)[0-9]?|0[0-9]{2}"
    rf"|[0-9]{{1,2}}[a-z]{{3,9}}[0-9]{{2}}|{'|'.join(sorted(_NUMERALS))}"
)
_WORDS_BEFORE_YEAR, _WORDS_AFTER_YEAR = 16, 7


@dataclass(frozen=True, slots=True)
class Places:
    """Where a text stands in a document.

    Attributes:
        ranges: Character ranges (start, end) in the original text, in reading order: all occurrences of a text
            found whole, one for each piece of a text quoted with omissions.
        how: ``exact`` word for word, ``approximate``, or ``none``.
        in_pieces: Whether the ranges are the pieces of one occurrence, not occurrences of their own.
    """

    ranges: tuple[Span, ...]
    how: Literal["exact", "approximate", "none"]
    in_pieces: bool = False


class DocumentIndex:
    r"""The words of one document and where each stands.

    Args:
        text: The document.

    Attributes:
        text: The document as given; all ranges refer to it.
        words: Its tokens.
        starts: First character of each word, shape (words,).
        ends: Character after each word, shape (words,).

    Examples:
        >>> index = DocumentIndex("1. FEES. Licensee shall pay\n  \u201cFees\u201d of $5,000 on 1 May 2004.")
        >>> index.locate("shall pay fees")
        Places(ranges=((18, 35),), how='exact', in_pieces=False)
        >>> index.dates()
        frozenset({datetime.date(2004, 5, 1)})
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.words, self.starts, self.ends = _split(text)
        self._dates: dict[tuple[bool | None, int], frozenset[dt.date]] = {}

    @cached_property
    def _joined(self) -> str:
        return f" {' '.join(self.words)} "

    @cached_property
    def _joined_starts(self) -> Integers:
        lengths = np.fromiter(map(len, self.words), dtype=np.int64, count=len(self.words))
        return np.cumsum(lengths + 1) - lengths

    @cached_property
    def _vocabulary(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(dict.fromkeys(self.words))}

    @cached_property
    def _groups(self) -> tuple[Integers, list[int]]:
        """Positions of all words, grouped by word, and where each group starts."""
        size = len(self._vocabulary)
        # NumPy sorts 16-bit integers by radix, several times as fast as wider ones.
        kind = np.uint16 if size < 2**16 else np.int64
        ids = np.fromiter(map(self._vocabulary.__getitem__, self.words), dtype=kind, count=len(self.words))
        sizes = np.bincount(ids, minlength=size)
        return np.argsort(ids, kind="stable"), [0, *np.cumsum(sizes).tolist()]

    def _positions(self, word: str) -> Integers:
        order, bounds = self._groups
        at = self._vocabulary.get(word)
        return order[:0] if at is None else order[bounds[at] : bounds[at + 1]]

    def find(self, words: Sequence[str]) -> list[int]:
        """Return where tokens stand one after another: at most `MAX_PLACES` positions, without overlap."""
        return self._words_at(self._matches(f" {' '.join(words)} ", MAX_PLACES)) if words else []

    def _matches(self, needle: str, limit: int) -> list[int]:
        found = [at := self._joined.find(needle)]
        while at >= 0 and len(found) <= limit:
            found.append(at := self._joined.find(needle, at + len(needle) - 1))
        return found[:-1]

    def _words_at(self, joined: Sequence[int]) -> list[int]:
        return [int(at) for at in np.searchsorted(self._joined_starts, joined, side="right")]

    def characters(self, first: int, beyond: int) -> Span:
        """Return the characters of the words from `first` up to but not including `beyond`."""
        return int(self.starts[first]), int(self.ends[beyond - 1])

    def locate(self, text: str) -> Places:
        """Find a label or an item in the document.

        What is quoted gives all its occurrences (see `quoted`). Else each piece between omissions is looked for
        approximately (see `SIMILAR`), and at last the pieces between brackets in order, since names carry their
        defined terms there.
        """
        if spans := self.quoted(text):
            ranges = tuple(self.characters(*span) for span in spans)
            return Places(ranges, "exact", in_pieces=len(spans) > 1 and not self.find(tokens(text)))
        pieces = _pieces(_ELISION, text)
        spans = self._approximate(pieces if len(pieces) <= _MAX_PIECES else [tokens(text)])
        spans = spans or self._in_order(_pieces(_BRACKETS, text))
        ranges = tuple(self.characters(*span) for span in spans)
        return Places(ranges, "approximate" if spans else "none", in_pieces=len(spans) > 1)

    def quoted(self, text: str) -> list[Span]:
        """Return the ranges of words where a text stands word for word.

        These are all its occurrences, or those of its pieces around ellipses and ``<omitted>`` marks, in order and
        as close together as can be.

        Examples:
            >>> DocumentIndex("A rose, she said, is a rose").quoted("a rose ... is <omitted> rose")
            [(0, 2), (4, 5), (6, 7)]
        """
        words = tokens(text)
        whole = [(at, at + len(words)) for at in self.find(words)]
        return whole or self._in_order(_pieces(_ELISION, text))

    def _in_order(self, pieces: Sequence[Sequence[str]]) -> list[Span]:
        """Return where several pieces stand one after the other, as close together as can be."""
        if len(pieces) < 2:
            return []
        first, *others = (f" {' '.join(piece)} " for piece in pieces)
        best: list[int] = []
        for start in self._matches(first, _MAX_CHAINS):
            found, beyond = [start], start + len(first) - 1
            for needle in others:
                found.append(self._joined.find(needle, beyond))
                beyond = found[-1] + len(needle) - 1
                if found[-1] < 0:
                    break
            if found[-1] < 0:  # nor does that piece stand after any later start
                break
            if not best or found[-1] - start < best[-1] - best[0]:
                best = found
        starts = self._words_at(best)
        return [(at, at + len(piece)) for at, piece in zip(starts, pieces, strict=True)] if best else []

    def _approximate(self, pieces: Sequence[Sequence[str]]) -> list[Span]:
        """Return where most of the words of some pieces stand, each piece on its own."""
        found: list[Span] = []
        n_placed = 0
        for words in (piece[at : at + _MAX_WORDS] for piece in pieces for at in range(0, len(piece), _MAX_WORDS)):
            places = self.find(words)
            at = next((at for at in places if found and at >= found[-1][1]), places[0] if places else None)
            span = self._similar(words) if at is None else (at, at + len(words))
            if span is not None:
                found.append(span)
                n_placed += len(words)
        return sorted(found) if n_placed >= SIMILAR * sum(map(len, pieces)) else []

    def _similar(self, words: Sequence[str]) -> Span | None:
        """Return the stretch of words most similar to a text, if it is similar enough.

        Clauses that mirror each other hold the same words, so the windows that hold nearly as many as the densest
        are compared too, unless the densest leaves no doubt.
        """
        wanted = content_tokens(words)
        width = len(words) + len(words) // 4 + 4
        margin = len(words) // 4 + _EDGE_WORDS
        best: Span | None = None
        reached = 0.0
        windows = self._dense_windows(wanted, width)
        for n_found, start in windows[:1] if len(words) > _MANY_WORDS else windows:
            if n_found < max(_WORTH_COMPARING * len(wanted), _NEARLY * windows[0][0]):
                break
            span, similarity = self._align(words, max(0, start - margin), min(len(self.words), start + width + margin))
            if similarity >= SIMILAR and similarity > reached:
                best, reached = span, similarity
            if reached >= _NO_DOUBT:
                break
        return best

    def _align(self, words: Sequence[str], start: int, end: int) -> tuple[Span, float]:
        """Return where in a stretch of words a text stands, and how similar it is to what stands there."""
        place = self.words[start:end]
        blocks = LCSseq.editops(words, place).as_matching_blocks()
        first, last = _best_stretch([(block.a, block.b, block.size) for block in blocks if block.size])
        head, tail = words[: first[0]], words[last[0] :]
        begin, beyond = start + first[1], start + last[1]
        if _alike(head, self.words[max(0, begin - len(head)) : begin]):
            begin = max(0, begin - len(head))
        if _alike(tail, self.words[beyond : beyond + len(tail)]):
            beyond = min(len(self.words), beyond + len(tail))
        there = " ".join(self.words[begin:beyond])
        return (begin, beyond), Indel.normalized_similarity(" ".join(words), there)

    def _densest(self, wanted: Collection[str], width: int) -> tuple[int, int]:
        """Return how many of some distinct words stand in the window that holds most of them, and its start."""
        n_words = self._words_within(wanted, width)
        start = int(n_words.argmax())
        return int(n_words[start]), start

    def _dense_windows(self, wanted: Collection[str], width: int) -> list[tuple[int, int]]:
        """Return the densest windows that do not overlap, as `_densest` gives the first."""
        n_words = self._words_within(wanted, width)
        found = []
        for _ in range(_WINDOWS):
            start = int(n_words.argmax())
            found.append((int(n_words[start]), start))
            n_words[max(0, start - width) : start + width] = 0
        return found

    def _words_within(self, wanted: Collection[str], width: int) -> Integers:
        """Return how many of some distinct words stand in the window that begins at each word."""
        groups = [self._positions(word) for word in wanted if word in self._vocabulary]
        size = len(self.words) + 1
        if not groups:
            return np.zeros(size, dtype=np.int64)
        at = np.concatenate(groups)
        # Windows starting in (at - width, at] hold the word at `at`. Cutting that interval off at the previous
        # occurrence of the same word counts every word once.
        previous = np.concatenate(([-1], at[:-1]))
        previous[np.cumsum([0, *map(len, groups[:-1])])] = -1
        first = np.maximum(at - width, previous) + 1
        change = np.bincount(np.maximum(first, 0), minlength=size) - np.bincount(at + 1, minlength=size)
        return np.cumsum(change)

    def window_coverage(self, words: Sequence[str]) -> float:
        """Return the largest share of a text's distinct content tokens inside one window of twice its length.

        A text without tokens has a coverage of 0, here and in `bag_coverage`.

        Examples:
            >>> index = DocumentIndex("The fee is due. " + "Nothing else is said here. " * 9 + "Tenants pay.")
            >>> index.window_coverage(("pay", "fee")), index.bag_coverage(("pay", "fee"))
            (0.5, 1.0)
        """
        wanted = content_tokens(words)
        return self._densest(wanted, 2 * len(words))[0] / len(wanted) if wanted else 0.0

    def bag_coverage(self, words: Sequence[str]) -> float:
        """Return the share of a text's distinct content tokens that occur anywhere in the document."""
        wanted = content_tokens(words)
        return sum(word in self._vocabulary for word in wanted) / len(wanted) if wanted else 0.0

    def dates(self, *, day_first: bool | None = None, pivot: int = 50) -> frozenset[dt.date]:
        """Return the days the document names, in any format; both readings where their order is left open.

        A full date has a year, so only the surroundings of what may be one are read.

        Args:
            day_first: As in `dojo_kit.text.dates.find_dates`.
            pivot: As there.
        """
        key = (day_first, pivot)
        if key not in self._dates:
            # With a word on both sides a cut does not look like the end of a text, where more passes for a date.
            texts = [f"x {self.text[start:end]} x" for start, end in self._around_years()]
            values = [value for text in texts for value in find_dates(text, day_first=day_first, pivot=pivot)]
            dates = [(value.date, value.ambiguous) for value in values if value.date is not None]
            swapped = {date.replace(month=date.day, day=date.month) for date, is_open in dates if is_open}
            self._dates[key] = frozenset(swapped.union(date for date, _ in dates))
        return self._dates[key]

    def _around_years(self) -> Iterator[Span]:
        begin = beyond = 0
        for at in sorted(chain.from_iterable(map(self._maybe_years, self._vocabulary))):
            if beyond and at - _WORDS_BEFORE_YEAR > beyond:
                yield self.characters(begin, beyond)
                beyond = 0
            begin = begin if beyond else max(0, at - _WORDS_BEFORE_YEAR)
            beyond = min(len(self.words), at + _WORDS_AFTER_YEAR)
        if beyond:
            yield self.characters(begin, beyond)

    def _maybe_years(self, word: str) -> list[int]:
        if word.isalpha() and word not in _NUMERALS:
            return []
        at = self._positions(word).tolist() if len(word) > 1 else []
        if len(word) == 2 and word.isdigit() and word not in ("19", "20"):
            return [i for i in at if self.words[i - 1][:3] in _MONTHS or self.text[self.starts[i] - 1] in "-/.'\u2019"]
        return at if _YEAR_WORD.fullmatch(word) else []


def _pieces(mark: re.Pattern[str], text: str) -> list[tuple[str, ...]]:
    return [piece for piece in map(tokens, mark.split(text)) if piece]


def _alike(words: Sequence[str], place: Sequence[str]) -> bool:
    """Tell whether the odd words at one end of a text are much like those at that end of its place."""
    return 0 < len(words) <= _EDGE_WORDS and fuzz.ratio(" ".join(words), " ".join(place)) >= _EDGE_SIMILAR


def _best_stretch(blocks: Sequence[tuple[int, int, int]]) -> tuple[Span, Span]:
    """Return the run of blocks that has most in common with the whole text: where it starts, and where it ends.

    It has the largest 2 M - `SIMILAR` S, for M matched words in a place of S words; the Indel similarity
    2 M / (L + S) to a text of L words reaches `SIMILAR` when that exceeds `SIMILAR` L.

    Args:
        blocks: (word of the text, word of the place, matched words), ascending.
    """
    best = value = 0.0
    start = opened = stop = (0, 0)
    beyond = 0
    for a, b, size in blocks:
        value -= SIMILAR * (b - beyond)
        if value <= 0:
            value, opened = 0.0, (a, b)
        value += (2 - SIMILAR) * size
        beyond = b + size
        if value > best:
            best, start, stop = value, opened, (a + size, beyond)
    return start, stop


def _split(text: str) -> tuple[list[str], Integers, Integers]:
    """Return a text's tokens and the characters each stands for; tokens folded from one run of letters share it."""
    if "mitted" in text or "MITTED" in text:
        text = _OMITTED.sub(lambda mark: " " * len(mark.group()), text)
    if not text.isascii():
        marks = [char for char in set(text) if not char.isascii() and tokens(f"q{char}q") == ("q", "q")]
        text = re.sub(f"[{re.escape(''.join(marks))}]", " ", text) if marks else text
    # Every character stays one byte; "?" now stands for a letter beyond ASCII.
    folded = text.replace("?", " ").encode("ascii", "replace").translate(_FOLDED)
    codes = np.frombuffer(folded, dtype=np.uint8)
    inside = np.concatenate(([False], codes != 32, [False]))
    edges = np.flatnonzero(inside[1:] != inside[:-1])
    words, starts, ends = folded.decode("ascii").split(), edges[::2], edges[1::2]
    whole: list[str] = []
    sizes, done = np.ones(len(words), dtype=np.int64), 0
    for at in np.unique(np.searchsorted(starts, np.flatnonzero(codes == ord("?")), side="right") - 1).tolist():
        found = tokens(text[starts[at] : ends[at]])
        whole += [*words[done:at], *found]
        sizes[at], done = len(found), at + 1
    return whole + words[done:], np.repeat(starts, sizes), np.repeat(ends, sizes)
