"""What a model's stated reasons give away: doubt, labels they name, and whether they were cut off.

Labels are looked for as whole words. The published test looks for them anywhere, so that ``ip`` was found in
``relationship``; `names_label_anywhere` keeps it for reproduction.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from dojo_kit.vocabulary import Vocabulary

_CANNOT = ("cannot", "can't", "unable to")
_DOUBTS = (
    *(f"{cannot} {verb}" for cannot in _CANNOT for verb in ("determine", "tell")),
    *(f"hard to {verb}" for verb in ("read", "say", "tell")),
    *("not sure", "not entirely clear", "possibly", "could be", "might be", "appears to be"),
    *("ambiguous", "difficult to", "guess", "uncertain", "unclear", "unsure"),
    *("noise", "degraded", "illegible", "low quality"),
)
_DOUBT = re.compile(rf"\b(?:{'|'.join(map(re.escape, _DOUBTS))})(?:es|ed|ing)?\b")
_NOT_ALNUM = re.compile(r"[^a-z0-9]+")
_WORD = re.compile(r"[^\W_]+")
_ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
_MANY_ELLIPSES = 3


def says_unsure(reasoning: str | None) -> bool:
    """Tell whether reasons hold a phrase of doubt.

    Examples:
        >>> says_unsure("The title is unclear."), says_unsure("A clear licence."), says_unsure(None)
        (True, False, False)
        >>> says_unsure("I am guessing"), says_unsure("It could become void")
        (True, False)
    """
    if not reasoning:
        return False
    lower = reasoning.lower()
    return any(phrase in lower for phrase in _DOUBTS) and _DOUBT.search(lower) is not None


def says_unsure_anywhere(reasoning: str | None) -> bool:
    """Tell whether reasons hold one of the published phrases anywhere, also inside a word.

    Examples:
        >>> says_unsure_anywhere("It could become void")
        True
    """
    lower = (reasoning or "").lower()
    return any(phrase in lower for phrase in _DOUBTS)


def looks_cut(reasoning: str, *, failure_mode: str | None, completed: bool) -> bool:
    """Tell whether reasons look cut off at a length limit.

    A completed row whose failure mode mentions truncation, or in any row more than three ellipsis characters or three
    dots at the end.

    Examples:
        >>> looks_cut("and so on...", failure_mode=None, completed=True)
        True
    """
    by_mode = completed and "truncat" in (failure_mode or "")
    return by_mode or reasoning.count(_ELLIPSIS) > _MANY_ELLIPSES or reasoning.rstrip().endswith("...")


def label_words(text: str) -> str:
    """Return a text as words: lower case, everything between letters and digits one space.

    Examples:
        >>> label_words("Co-Branding  agreement_2")
        'co branding agreement 2'
    """
    return " ".join(_WORD.findall(text.lower()))


@dataclass(frozen=True)
class LabelMentions:
    """Finds labels in a text as whole words.

    Attributes:
        spellings: Key of a label -> its spellings, as `label_words`.

    Examples:
        >>> from dojo_kit.vocabulary import vocabulary
        >>> mentions = LabelMentions.of(vocabulary("contract_family"))
        >>> mentions.named("The relationship is a license, not a joint-venture.")
        ('joint_venture', 'license')
    """

    spellings: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, known: Vocabulary) -> LabelMentions:
        """Take the spellings of a vocabulary; answers too common in prose are not looked for."""
        return cls(
            {
                key: _shortest(label_words(text) for text in known.aliases[key])
                for key in known.keys
                if key != known.other
            }
        )

    def named(self, text: str) -> tuple[str, ...]:
        """Return the keys of the labels a text names, in the order of the vocabulary."""
        words = set(found := _WORD.findall(text.lower()))
        single, several = self._by_length
        keys = set().union(*(single[word] for word in words & single.keys()))
        if several and words & self._first_words:
            padded = f" {' '.join(found)} "
            keys |= {key for spelled, key in several if spelled in padded}
        return tuple(key for key in self.spellings if key in keys)

    @cached_property
    def _by_length(self) -> tuple[dict[str, set[str]], list[tuple[str, str]]]:
        single: dict[str, set[str]] = {}
        several = []
        for key, texts in self.spellings.items():
            for text in texts:
                if " " in text:
                    several.append((f" {text} ", key))
                else:
                    single.setdefault(text, set()).add(key)
        return single, several

    @cached_property
    def _first_words(self) -> set[str]:
        return {spelled.split()[0] for spelled, _ in self._by_length[1]}


def _shortest(texts: Iterable[str]) -> tuple[str, ...]:
    """Return spellings without those that hold a shorter one as whole words."""
    kept: list[str] = []
    for text in sorted(filter(None, dict.fromkeys(texts)), key=len):
        if not any(f" {short} " in f" {text} " for short in kept):
            kept.append(text)
    return tuple(kept)


def names_label_anywhere(reasoning: str, label: str) -> bool:
    """Tell whether a label's words occur anywhere in a text, also inside a word: the published test.

    Examples:
        >>> names_label_anywhere("a business relationship", "ip"), names_label_anywhere("", "ip")
        (True, False)
    """
    wanted = _plain(label)
    return bool(wanted) and wanted in _plain(reasoning)


@lru_cache(maxsize=65_536)
def _plain(text: str) -> str:
    return _NOT_ALNUM.sub(" ", text.lower()).strip()
