"""Where a text stands in a document: an index built once per document and asked many times.

The index holds the document's words, as `dojo_kit.text.tokens.tokens` makes them, and the characters of the
original text they stand for. A text is looked up as a sequence of words, so punctuation, case and spacing do not
matter; what is not there word for word is compared with the place where most of its words stand close together.
"""

from __future__ import annotations

import datetime as dt
import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, count, pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz
from rapidfuzz.distance import Indel, LCSseq

from dojo_kit.text.dates import find_dates
from dojo_kit.text.tokens import canonical, content_tokens, tokens

Integers = NDArray[np.int64]
Span = tuple[int, int]

SIMILAR = 0.8
"""Indel similarity, in characters, that a place must have with a text that does not stand there verbatim."""

MAX_PLACES = 1_000
"""Occurrences of one text that are reported."""

_WORTH_COMPARING = 0.5
"""Share of a text's words that must stand close together before the place is compared with it."""
_MAX_CELLS = 100_000_000
"""Words of a text times words of a place up to which the two are aligned (12 MB of bits)."""
_EDGE_WORDS, _EDGE_SIMILAR = 8, 60.0
_MISSPELT_CHARACTERS = range(8, 65)
"""Lengths at which a text whose words are not there is compared with every stretch of the document."""
_MAX_PIECES, _MAX_CHAINS = 32, 20

_OMITTED = re.compile(r"[<\[]\s*omitted\s*[>\]]", re.IGNORECASE)
_ELISION = re.compile(rf"{_OMITTED.pattern}|\.\s?\.\s?\.[\s.]*|\u2026", re.IGNORECASE)
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
_FOLDED = bytes(ord(chr(c).lower()) if c < 128 and chr(c).isalnum() else 32 for c in range(256))

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
        ranges: Character ranges (start, end) in the original text, in reading order: every occurrence of a
            text found whole, one range for each piece of a text quoted with omissions.
        how: ``exact`` word for word, ``approximate``, or ``none``.
    """

    ranges: tuple[Span, ...]
    how: Literal["exact", "approximate", "none"]


NOWHERE = Places((), "none")


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
        Places(ranges=((18, 34),), how='exact')
        >>> index.dates()
        frozenset({datetime.date(2004, 5, 1)})
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.words, self.starts, self.ends = _split(text)

    @cached_property
    def _joined(self) -> str:
        return f" {' '.join(self.words)} "

    @cached_property
    def _offsets(self) -> Integers:
        """Where each word starts in the joined words."""
        lengths = np.fromiter(map(len, self.words), dtype=np.int64, count=len(self.words))
        return np.cumsum(lengths + 1) - lengths

    @cached_property
    def _vocabulary(self) -> dict[str, int]:
        return dict(zip(dict.fromkeys(self.words), count(), strict=False))

    @cached_property
    def _groups(self) -> tuple[Integers, list[int]]:
        """Positions of all words, grouped by word, and where each group starts."""
        size = len(self._vocabulary)
        # NumPy sorts 16-bit integers by radix, several times as fast as wider ones.
        kind = np.uint16 if size < 2**16 else np.int64
        ids = np.fromiter(map(self._vocabulary.__getitem__, self.words), dtype=kind, count=len(self.words))
        sizes = np.bincount(ids, minlength=size)
        return np.argsort(ids, kind="stable"), [0, *np.cumsum(sizes).tolist()]

    def positions(self, word: str) -> Integers:
        """Return the positions of a token among the document's words, ascending.

        Examples:
            >>> DocumentIndex("a rose is a rose").positions("rose").tolist()
            [1, 4]
        """
        order, bounds = self._groups
        at = self._vocabulary.get(word)
        return order[:0] if at is None else order[bounds[at] : bounds[at + 1]]

    def find(self, words: Sequence[str]) -> list[int]:
        """Return where tokens stand one after another: positions of the first, without overlap.

        Args:
            words: The tokens. At most `MAX_PLACES` positions are returned.

        Examples:
            >>> DocumentIndex("a rose is a rose, a rose").find(("a", "rose"))
            [0, 3, 5]
        """
        return self._words_at(self._matches(f" {' '.join(words)} ", MAX_PLACES)) if words else []

    def _matches(self, needle: str, limit: int) -> list[int]:
        found = [at := self._joined.find(needle)]
        while at >= 0 and len(found) <= limit:
            found.append(at := self._joined.find(needle, at + len(needle) - 1))
        return found[:-1]

    def _words_at(self, joined: Sequence[int]) -> list[int]:
        return [int(at) for at in np.searchsorted(self._offsets, joined, side="right")]

    def range(self, first: int, beyond: int) -> Span:
        """Return the characters of the words from `first` up to but not including `beyond`."""
        return int(self.starts[first]), int(self.ends[beyond - 1])

    def locate(self, text: str) -> Places:
        """Find a text in the document.

        A text that stands there word for word gives all its occurrences. Else its pieces around an ellipsis or
        an ``<omitted>`` mark are looked for in order, and what is not found word for word is looked for
        approximately (see `SIMILAR`). When less than that share of the words has a place, the text has none.

        Args:
            text: A label or an extracted item.
        """
        words = tokens(text)
        if found := self.find(words):
            return Places(tuple(self.range(at, at + len(words)) for at in found), "exact")
        pieces = [piece for piece in map(tokens, _ELISION.split(text)) if piece]
        if len(pieces) > _MAX_PIECES:
            pieces = [words]
        if chained := self._in_order(pieces):
            spans = zip(chained, pieces, strict=True)
            return Places(tuple(self.range(at, at + len(piece)) for at, piece in spans), "exact")
        return self._approximate(pieces)

    def _in_order(self, pieces: Sequence[Sequence[str]]) -> list[int]:
        """Return where the pieces stand one after the other, as close together as can be."""
        if len(pieces) < 2:
            return []
        first, *others = (f" {' '.join(piece)} " for piece in pieces)
        best: list[int] = []
        for start in self._matches(first, _MAX_CHAINS):
            found, beyond = [start], start + len(first) - 1
            for needle in others:
                found.append(self._joined.find(needle, beyond))
                beyond = found[-1] + len(needle) - 1
                if found[-1] < 0:  # nor does it stand behind any later start
                    return self._words_at(best)
            if not best or found[-1] - start < best[-1] - best[0]:
                best = found
        return self._words_at(best)

    def _approximate(self, pieces: Sequence[Sequence[str]]) -> Places:
        found: list[Span] = []
        n_placed = 0
        for words in pieces:
            places = self.find(words)
            at = next((at for at in places if found and at >= found[-1][1]), places[0] if places else None)
            span = self._similar(words) if at is None else (at, at + len(words))
            if span is not None:
                found.append(span)
                n_placed += len(words)
        if not found or n_placed < SIMILAR * sum(map(len, pieces)):
            return NOWHERE
        return Places(tuple(self.range(*span) for span in sorted(found)), "approximate")

    def _similar(self, words: Sequence[str]) -> Span | None:
        """Return the stretch of words most similar to a text, if it is similar enough."""
        wanted = content_tokens(words)
        width = len(words) + len(words) // 4 + 4
        n_found, start = self._densest(wanted, width)
        span = None
        if n_found >= _WORTH_COMPARING * len(wanted):
            margin = len(words) // 4 + _EDGE_WORDS
            span = self._align(words, max(0, start - margin), min(len(self.words), start + width + margin))
        return span or self._misspelt(" ".join(words))

    def _align(self, words: Sequence[str], start: int, end: int) -> Span | None:
        place = self.words[start:end]
        if len(words) * len(place) > _MAX_CELLS:
            return start, end
        blocks = LCSseq.editops(words, place).as_matching_blocks()
        first, last = _best_stretch([(block.a, block.b, block.size) for block in blocks if block.size])
        head, tail = words[: first[0]], words[last[0] :]
        begin, beyond = start + first[1], start + last[1]
        if _alike(head, self.words[max(0, begin - len(head)) : begin]):
            begin = max(0, begin - len(head))
        if _alike(tail, self.words[beyond : beyond + len(tail)]):
            beyond = min(len(self.words), beyond + len(tail))
        there = " ".join(self.words[begin:beyond])
        return (begin, beyond) if Indel.normalized_similarity(" ".join(words), there) >= SIMILAR else None

    def _misspelt(self, text: str) -> Span | None:
        if len(text) not in _MISSPELT_CHARACTERS:
            return None
        found = fuzz.partial_ratio_alignment(text, self._joined, score_cutoff=100 * SIMILAR)
        if found is None:
            return None
        first = max(0, int(np.searchsorted(self._offsets, found.dest_start, side="right")) - 1)
        beyond = int(np.searchsorted(self._offsets, found.dest_end - 1))
        return (first, beyond) if beyond > first else None

    def _densest(self, wanted: Collection[str], width: int) -> tuple[int, int]:
        """Return how many of some distinct words stand in the window that holds most of them, and its start."""
        groups = [self.positions(word) for word in wanted if word in self._vocabulary]
        if not groups:
            return 0, 0
        at = np.concatenate(groups)
        # Windows starting in (at - width, at] hold the word at `at`. Cutting that interval off at the previous
        # occurrence of the same word counts every word once.
        previous = np.concatenate(([-1], at[:-1]))
        previous[np.cumsum([0, *map(len, groups[:-1])])] = -1
        first = np.maximum(at - width, previous) + 1
        size = len(self.words) + 1
        change = np.bincount(np.maximum(first, 0), minlength=size) - np.bincount(at + 1, minlength=size)
        n_words = np.cumsum(change)
        start = int(n_words.argmax())
        return int(n_words[start]), start

    def window_coverage(self, words: Sequence[str]) -> float:
        """Return the largest share of a text's distinct content tokens inside one window of twice its length.

        Args:
            words: The text's tokens; a text without any has a coverage of 0.

        Examples:
            >>> index = DocumentIndex("The fee is due. " + "Nothing else is said here. " * 9 + "Tenants pay.")
            >>> words = ("tenants", "pay", "the", "fee")
            >>> round(index.window_coverage(words), 2), index.bag_coverage(words)
            (0.67, 1.0)
        """
        wanted = content_tokens(words)
        return self._densest(wanted, 2 * len(words))[0] / len(wanted) if wanted else 0.0

    def bag_coverage(self, words: Sequence[str]) -> float:
        """Return the share of a text's distinct content tokens that occur anywhere in the document.

        Args:
            words: The text's tokens; a text without any has a coverage of 0.
        """
        wanted = content_tokens(words)
        return sum(word in self._vocabulary for word in wanted) / len(wanted) if wanted else 0.0

    def dates(self, *, day_first: bool | None = None, pivot: int = 50) -> frozenset[dt.date]:
        """Return the days the document names, in any format; both readings where their order is left open.

        A full date has a year, so only the surroundings of what may be one are read.

        Args:
            day_first: Order of numeric dates, as in `dojo_kit.text.dates.find_dates`.
            pivot: Two-digit years below are 20xx, the others 19xx.
        """
        found: set[dt.date] = set()
        for start, end in self._around_years():
            # With a word on both sides a cut does not look like the end of a text, where more passes for a date.
            for value in find_dates(f"x {self.text[start:end]} x", day_first=day_first, pivot=pivot):
                if value.date is not None:
                    found.add(value.date)
                    if value.ambiguous:
                        found.add(value.date.replace(month=value.date.day, day=value.date.month))
        return frozenset(found)

    def _around_years(self) -> Iterator[Span]:
        begin = beyond = 0
        for at in sorted(chain.from_iterable(self._maybe_years(word) for word in self._vocabulary)):
            if at - _WORDS_BEFORE_YEAR > beyond:
                if beyond:
                    yield self.range(begin, beyond)
                begin = at - _WORDS_BEFORE_YEAR
            beyond = min(len(self.words), at + _WORDS_AFTER_YEAR)
        if beyond:
            yield self.range(begin, beyond)

    def _maybe_years(self, word: str) -> list[int]:
        if word.isalpha() and word not in _NUMERALS:
            return []
        if _YEAR_WORD.fullmatch(word):
            return [int(at) for at in self.positions(word)]
        if len(word) == 2 and word.isdigit():
            places = [int(at) for at in self.positions(word) if at]
            marks = "-/.'\u2019"
            return [at for at in places if self.words[at - 1][:3] in _MONTHS or self.text[self.starts[at] - 1] in marks]
        return []


def _alike(words: Sequence[str], place: Sequence[str]) -> bool:
    """Tell whether the odd words at an end of a text are about those at the same end of its place, as cut words are."""
    return 0 < len(words) <= _EDGE_WORDS and fuzz.ratio(" ".join(words), " ".join(place)) >= _EDGE_SIMILAR


def _best_stretch(blocks: Sequence[tuple[int, int, int]]) -> tuple[Span, Span]:
    """Return the stretch of an alignment that has most in common with the whole text.

    Of all runs of blocks it is the one with the largest 2 M - `SIMILAR` S, for M matched words in a place of S
    words; the Indel similarity 2 M / (L + S) to a text of L words reaches `SIMILAR` when that exceeds `SIMILAR` L.

    Args:
        blocks: (word of the text, word of the place, matched words), ascending.

    Returns:
        (word of the text, word of the place) of its start, and of its end.
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
    """Return a text's tokens and the characters each stands for."""
    if "mitted" in text or "MITTED" in text:
        text = _OMITTED.sub(lambda mark: " " * len(mark.group()), text)
    if text.isascii():
        return _split_folded(text)
    edges = [0, *chain.from_iterable(_units(text)), len(text)]
    parts = [_fold(text[a:b]) if number % 2 else text[a:b] for number, (a, b) in enumerate(pairwise(edges))]
    words, first, beyond = _split_folded("".join(parts))
    bounds, origins = np.cumsum([0, *map(len, parts)]), np.array(edges)
    # Even parts were left as they are, so their characters are counted; a folded one is taken whole.
    part = np.searchsorted(bounds, first, side="right") - 1
    starts = origins[part] + np.where(part % 2, 0, first - bounds[part])
    part = np.searchsorted(bounds, beyond, side="left") - 1
    ends = np.where(part % 2, origins[part + 1], origins[part] + beyond - bounds[part])
    return words, starts, ends


def _split_folded(text: str) -> tuple[list[str], Integers, Integers]:
    """Split a text in which everything beyond ASCII is part of a word."""
    if text.isascii():
        folded = text.encode("ascii").translate(_FOLDED)
        words, codes = folded.decode("ascii").split(), np.frombuffer(folded, dtype=np.uint8)
    else:
        wide = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)
        folded_wide = np.where(wide < 128, np.frombuffer(_FOLDED, dtype=np.uint8)[wide & 127], wide)
        words, codes = folded_wide.tobytes().decode("utf-32-le").split(), folded_wide
    inside = np.concatenate(([False], codes != 32, [False]))
    edges = np.flatnonzero(inside[1:] != inside[:-1])
    return words, edges[::2], edges[1::2]


def _units(text: str) -> list[list[int]]:
    """Return the smallest ranges around characters beyond ASCII that can be folded without their neighbours."""
    units: list[list[int]] = []
    for run in _BEYOND_ASCII.finditer(text):
        for at in range(*run.span()):
            if at == 0 or not _melts(text[at]):
                units.append([at, at + 1])
            elif units and units[-1][1] == at:
                units[-1][1] = at + 1
            else:
                units.append([at - 1, at + 1])
    return units


@lru_cache(maxsize=65_536)
def _melts(char: str) -> bool:
    """Tell whether a character may melt into the one before it: a mark, a Hangul vowel or final, or dropped."""
    first = unicodedata.normalize("NFKD", char)[0]
    is_mark = unicodedata.category(first)[0] == "M"
    return is_mark or "\u1160" <= first <= "\u11ff" or canonical(f"q{char}q") == "qq"


@lru_cache(maxsize=65_536)
def _fold(unit: str) -> str:
    """Return a unit's case-folded letters, everything else turned into spaces."""
    return " ".join(tokens(f"q{unit}q"))[1:-1]
