"""Canonical text, tokens and the overlap measures built on them.

Canonical text is what two strings must share to be identical: marks such as (TM), superscript digits and
zero-width characters are dropped, compatibility characters folded (NFKC), quotes, dashes and spaces made
plain, whitespace collapsed, and CUAD's ``<omitted>`` marker becomes a space. Tokens are the case-folded
words of canonical text with punctuation, symbols and ``_`` turned into spaces.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache

STOPWORDS = frozenset(
    "the a an of and or for to in on by as is be are with its their his her such hereof hereunder shall any "
    "all this that these those from between into upon under over".split()
)
"""Function words that carry no evidence in a containment test."""

NEGATIONS = frozenset({"not", "never", "neither", "nor", "cannot"})
"""Words that turn a statement round; ``n't`` is handled as a suffix, ``no`` is not one (Amendment No. 3)."""

NO_VALUE_WORDS = frozenset(
    {
        "",
        "n/a",
        "na",
        "nil",
        "none",
        "null",
        "-",
        "unknown",
        "not specified",
        "not stated",
        "not found",
        "not applicable",
        "not mentioned",
        "unanswerable",
    }
)
"""Answers that say there is no value."""

_LONGEST_NO_VALUE = 24
"""Longer texts say something, whatever quotes and spaces stand around them."""

_OMITTED = re.compile(r"[<\[]\s*omitted\s*[>\]]", re.IGNORECASE)
_DROPPED = dict.fromkeys(
    map(
        ord,
        "\u2122\u00ae\u2120\u00ad\u200b\u200c\u200d\u2060\ufeff\u00b9\u00b2\u00b3\u2070\u2074\u2075\u2076\u2077\u2078\u2079",
    )
)
_PLAIN = {
    **dict.fromkeys(map(ord, "\u2018\u2019\u201a\u201b\u2032\u00b4\u0060"), "'"),
    **dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb"), '"'),
    **dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"), "-"),
}
_ASCII_TO_SPACE = bytes(c if chr(c).isalnum() else 32 for c in range(128)).lower() + bytes(range(128, 256))


def without_omissions(text: str) -> str:
    """Turn CUAD's ``<omitted>`` markers into spaces.

    Examples:
        >>> without_omissions("a <OMITTED> b [omitted]c")
        'a   b  c'
    """
    return _OMITTED.sub(" ", text) if "mitted" in text or "MITTED" in text else text


def canonical(text: str) -> str:
    """Return the form in which two strings are compared for identity (case is kept).

    Examples:
        >>> canonical("Acme\u2122\u00a0\u201cLicense\u201d  \u2013 <omitted> term\u00b2")
        'Acme "License" - term'
        >>> canonical("amyloid \ufb01brils")
        'amyloid fibrils'
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text.translate(_DROPPED)).translate(_PLAIN)
    return " ".join(without_omissions(text).split())


class _SpaceForPunctuation(dict[int, str | int]):
    """Translation table filled on demand: punctuation, symbols, separators and controls become a space."""

    def __missing__(self, code: int) -> str | int:
        kept = unicodedata.category(chr(code))[0] in "LMN"
        self[code] = code if kept else " "
        return self[code]


_SPACED = _SpaceForPunctuation()


@lru_cache(maxsize=65_536)
def tokens(text: str) -> tuple[str, ...]:
    """Split text into its case-folded words.

    Examples:
        >>> tokens("Hello, World_2!")
        ('hello', 'world', '2')
        >>> tokens("l\u2019accord <omitted> S\u00e3o")
        ('l', 'accord', 's\u00e3o')
    """
    text = without_omissions(text)
    if text.isascii():
        return tuple(text.encode().translate(_ASCII_TO_SPACE).decode().split())
    return tuple(canonical(text).casefold().translate(_SPACED).split())


def fold_diacritics(text: str) -> str:
    """Drop combining marks, so that names can be compared across spellings.

    Examples:
        >>> fold_diacritics("Leclanch\u00e9 S\u00e3o")
        'Leclanche Sao'
    """
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(c for c in decomposed if not unicodedata.combining(c))


def is_no_value(value: object) -> bool:
    """Tell whether a value says that there is nothing: None, empty, or an abstention such as ``N/A``.

    A list is no value when each of its items is.

    Examples:
        >>> [is_no_value(v) for v in (None, " ", "N/A", "Not specified.", [], {}, ["none"], 0, "No")]
        [True, True, True, True, True, True, True, False, False]
    """
    if isinstance(value, str):
        return value.isspace() if len(value) > _LONGEST_NO_VALUE else _says_nothing(value)
    if isinstance(value, dict):
        return not value
    if isinstance(value, list | tuple):
        return all(is_no_value(item) for item in value)
    return value is None


@lru_cache(maxsize=65_536)
def _says_nothing(text: str) -> bool:
    plain = canonical(text).casefold()
    return plain in NO_VALUE_WORDS or (plain.strip("'\" .") or plain) in NO_VALUE_WORDS


def is_negated(words: Iterable[str], text: str) -> bool:
    """Tell whether a text holds a negation (see `NEGATIONS`).

    Args:
        words: The text's tokens.
        text: The text itself, searched for ``n't``.
    """
    return not NEGATIONS.isdisjoint(words) or "n't" in canonical(text).casefold()


def content_tokens(words: Collection[str]) -> frozenset[str]:
    """Return the distinct tokens that are no stopwords; all of them when nothing else is left.

    Examples:
        >>> sorted(content_tokens(("the", "laws", "of", "texas")))
        ['laws', 'texas']
        >>> sorted(content_tokens(("of", "the")))
        ['of', 'the']
    """
    distinct = frozenset(words)
    return distinct - STOPWORDS or distinct


def token_f1(predicted: Sequence[str], expected: Sequence[str]) -> float:
    """Token F1 over multisets, as in SQuAD 1.1 (Rajpurkar et al. 2016) without dropping articles.

    Two empty sequences score 1.0, one empty sequence 0.0.

    Examples:
        >>> round(token_f1(("a", "a", "b"), ("a", "b", "b")), 6)
        0.666667
        >>> round(token_f1(tokens("Paris Paris Paris Paris Paris"), tokens("Paris")), 4)
        0.3333
    """
    if not predicted or not expected:
        return float(not predicted and not expected)
    common = sum((Counter(predicted) & Counter(expected)).values())
    return 2 * common / (len(predicted) + len(expected))


def coverage(text: Iterable[str], label: Collection[str]) -> float:
    """Share of the label's distinct tokens that occur in the text (no stopwords removed).

    Examples:
        >>> coverage(("pay", "the", "fee"), ("pay", "fee", "fee", "now"))
        0.6666666666666666
    """
    distinct = frozenset(label)
    return len(distinct.intersection(text)) / len(distinct) if distinct else 0.0


def is_contiguous(needle: Sequence[str], haystack: Sequence[str]) -> bool:
    """Tell whether the needle's tokens stand in the haystack one after another.

    Examples:
        >>> is_contiguous(("b", "c"), ("a", "b", "c")), is_contiguous(("a", "c"), ("a", "b", "c"))
        (True, False)
    """
    return bool(needle) and f" {' '.join(needle)} " in f" {' '.join(haystack)} "
