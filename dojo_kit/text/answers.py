"""Which of a closed set of labels a free-text answer names.

A label counts when the whole answer is one of its spellings, when a clause of the answer is ("The answer is B. Note
that ..."), or when a sentence mentions exactly one label and does not negate it. Everything else is no label: an
answer that names two classes has not decided, and taking the first would invent a decision.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Literal, NamedTuple

from dojo_kit.text.tokens import NEGATIONS, canonical, fold_diacritics, is_no_value, tokens

ReadingFlag = Literal["exact", "stated", "mentioned", "negated", "several", "unknown", "empty"]
"""How a label was found, or why none was.

- ``exact``: the answer is a spelling of the label;
- ``stated``: one clause of the answer is;
- ``mentioned``: a sentence names this label and no other;
- ``negated``: the only label named is negated;
- ``several``: more than one is named;
- ``unknown``: none is named;
- ``empty``: there is no answer, or it says that there is none.
"""

_NOT = re.compile(r"n['\u2019]t\b", re.IGNORECASE)
_BREAK = " | "
_SENTENCE_END = re.compile(r"[.;!?](?=\s|$)|[\r\n]+|\bbut\b", re.IGNORECASE)
_CLAUSE_END = re.compile(r"([.;!?,](?=\s|$)|[\r\n]+|\s[-\u2013\u2014]+\s|\b(?:because|since)\b)", re.IGNORECASE)
_SHORT_CLAUSE_END = re.compile(rf"{_CLAUSE_END.pattern[:-1]}|[:)])", re.IGNORECASE)
_SIGN_BEFORE = r"(?<![\w)])-(?=\.?\d)|[<>\u2264\u2265~\u00b1]=?\s*(?=[-+.$]?\d)"
_SIGN = re.compile(rf"{_SIGN_BEFORE}|(?<=\b\w)-(?!\w)|(?<=\w)\++(?!\w)|(?<=[a-z])#(?!\w)|(?<=\d)\s*%", re.IGNORECASE)
_SIGN_WORDS = {
    "-": "minus",
    "+": "plus",
    "<": "below",
    ">": "above",
    "\u2264": "upto",
    "\u2265": "from",
    "~": "about",
    "\u00b1": "plusminus",
    "#": "sharp",
    "%": "percent",
    "=": "equal",
}
_CUE = re.compile(
    r"\b(?:answer|label|class|classification|category|type|family|subtype|verdict|choice|option)\b"
    rf"(?:\s+(?:is|would be|should be)\b)?(?:(?!{_SIGN_BEFORE})\W)*",
    re.IGNORECASE,
)
_WORD_JOINS = re.compile(r"(?<=\w)[-_/\s]+(?=\w)")
_EDGES = " \t\"'`*."


def fold(text: str) -> str:
    """Return the form in which labels and answers are compared.

    A sign that belongs to a number or a grade is kept as a word, because ``-1`` is not ``1`` nor ``A-`` an ``A``.

    Examples:
        >>> fold("Mixed Cash & Stock"), fold("**Co-Branding**"), fold("joint_venture")
        ('mixed cash stock', 'co branding', 'joint venture')
        >>> fold("-1"), fold("A+"), fold("C++"), fold("< 5 years"), fold("COVID-19")
        ('minus1', 'aplus', 'cplusplus', 'below5 years', 'covid 19')
    """
    return " ".join(tokens(_SIGN.sub(_sign_words, fold_diacritics(canonical(text)))))


def _sign_words(sign: re.Match[str]) -> str:
    return "".join(_SIGN_WORDS.get(character, "") for character in sign.group())


def spelling(text: str) -> str:
    """Return a text without what decorates an answer; unlike `fold` it tells ``-1`` from ``1`` and ``C++`` from ``C``.

    Examples:
        >>> spelling("**Yes**."), spelling("-1"), spelling("License_Agreement")
        ('yes', '-1', 'license agreement')
    """
    return _WORD_JOINS.sub(" ", canonical(text).casefold()).strip(_EDGES)


class Reading(NamedTuple):
    """What an answer says.

    Attributes:
        key: Key of the label; None when there is none.
        flag: How it was found, see `ReadingFlag`.
    """

    key: str | None
    flag: ReadingFlag


class _Mention(NamedTuple):
    key: str
    negated: bool


@dataclass(frozen=True)
class Spellings:
    """Reads answers against the spellings of a set of labels.

    Attributes:
        of: Spelling, as given -> key of its label.
        in_prose: Keys that are looked for inside sentences as well.
        short: Whether answers are a word or a letter: then a class named in an explanation counts for nothing, and a
            colon or parenthesis ends a clause (``B: No``).
    """

    of: Mapping[str, str]
    in_prose: frozenset[str]
    short: bool = False

    def read(self, text: str) -> Reading:
        """Tell which label an answer names.

        Examples:
            >>> families = Spellings({"license": "license", "supply agreement": "supply"}, frozenset({"license"}))
            >>> families.read("A License!"), families.read("not a license").flag
            (Reading(key='license', flag='mentioned'), 'negated')
        """
        key = self._exact(text)
        if key is not None:
            return Reading(key, "exact")
        if is_no_value(text):
            return Reading(None, "empty")
        stated = set(self._stated(text))
        mentions = () if self.short and stated else tuple(self._mentions(text))
        affirmed = {mention.key for mention in mentions if not mention.negated}
        if stated:
            only = len(stated) == 1 and affirmed <= stated
            return Reading(stated.pop(), "stated") if only else Reading(None, "several")
        named = {mention.key for mention in mentions}
        if len(named) != 1:
            return Reading(None, "several" if named else "unknown")
        return Reading(named.pop(), "mentioned") if affirmed else Reading(None, "negated")

    @cached_property
    def _spelled(self) -> dict[str, str]:
        return {spelling(text): key for text, key in self.of.items()}

    @cached_property
    def folded(self) -> dict[str, str]:
        """Folded spelling -> key, without those that two labels share."""
        found: dict[str, str] = {}
        for text, key in self.of.items():
            if folded := fold(text):
                found.setdefault(folded, key)
        return {folded: key for folded, key in found.items() if folded not in self.shared}

    @cached_property
    def shared(self) -> dict[str, frozenset[str]]:
        """Folded spellings of more than one label, and the labels' keys."""
        keys: dict[str, set[str]] = {}
        for text, key in self.of.items():
            keys.setdefault(fold(text), set()).add(key)
        return {folded: frozenset(found) for folded, found in keys.items() if folded and len(found) > 1}

    def _exact(self, text: str) -> str | None:
        key = self._spelled.get(spelling(text))
        return key if key is not None else self.folded.get(fold(text))

    def _stated(self, text: str) -> Iterator[str]:
        """Yield the label of every clause that is nothing but a label; a question states nothing."""
        cue = _CUE.search(text)
        whole = self._exact(text[cue.end() :]) if cue else None
        if whole is not None:
            yield whole
            return
        parts = (_SHORT_CLAUSE_END if self.short else _CLAUSE_END).split(text)
        for clause, end in zip(parts[::2], [*parts[1::2], ""], strict=True):
            if end != "?":
                yield from self._stated_in(clause)

    def _stated_in(self, clause: str) -> Iterator[str]:
        cues = [match.end() for match in _CUE.finditer(clause)]
        for start in dict.fromkeys((0, *cues[:1], *cues[-1:])):
            said = clause[start:]
            key = self._exact(said)
            # "1. No": a digit that merely abbreviates a label is a list number here
            if key is not None and (len(fold(said)) > 1 or fold(said) == fold(key)):
                yield key
                return

    @cached_property
    def _pattern(self) -> re.Pattern[str] | None:
        wanted = [s for s, key in self.folded.items() if key in self.in_prose and len(s) > 1 and not s.isdecimal()]
        if not wanted:
            return None
        longest_first = sorted(wanted, key=len, reverse=True)
        # a spelling may run across the end of a clause: "affirmed in part; reversed in part"
        words = (rf"(?: |{re.escape(_BREAK)})".join(map(re.escape, s.split(" "))) for s in longest_first)
        return re.compile(rf"(?<!\S)(?:{'|'.join(words)})(?!\S)")

    def _mentions(self, text: str) -> Iterator[_Mention]:
        if self._pattern is None:
            return
        sentences = [fold(part) for part in _SENTENCE_END.split(_NOT.sub(" not", text))]
        starts = list(accumulate((len(s) + len(_BREAK) for s in sentences), initial=0))
        negated_from = [_negated_from(sentence) for sentence in sentences]
        for match in self._pattern.finditer(_BREAK.join(sentences)):
            sentence = bisect_right(starts, match.start()) - 1
            key = self.folded[match.group().replace(_BREAK, " ")]
            yield _Mention(key, match.start() - starts[sentence] > negated_from[sentence])


def _negated_from(sentence: str) -> float:
    """Return the offset from which a sentence is negated; one that ends in a negation is so from its beginning."""
    words = sentence.split(" ")
    if words[-1] in NEGATIONS:
        return -1
    offset = 0
    for word in words:
        if word in NEGATIONS:
            return offset
        offset += len(word) + 1
    return math.inf


def plural(word: str) -> str:
    """Return the regular plural of an English word.

    Examples:
        >>> plural("agency"), plural("supply"), plural("franchise"), plural("bylaws")
        ('agencies', 'supplies', 'franchises', 'bylaws')
    """
    if word.endswith("s"):
        return word
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("x", "z", "ch", "sh")) else f"{word}s"


def with_plurals(texts: Iterable[str]) -> Iterator[str]:
    """Yield every text as it is and with its last word in the plural.

    Examples:
        >>> list(with_plurals(["court opinion"]))
        ['court opinion', 'court opinions']
    """
    for text in texts:
        yield text
        head, space, last = text.rpartition(" ")
        yield f"{head}{space}{plural(last)}"
