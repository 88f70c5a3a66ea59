"""Vocabularies: closed sets of labels, their spellings, and which labels are defensible for one another.

The packaged ones are data (``data/vocabularies.toml``): contract families, document classes, record types, types of
consideration, yes/no, outcomes of court opinions. `own_vocabulary` makes one of any other set of labels.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib.resources import files
from types import MappingProxyType
from typing import Any, NamedTuple

from dojo_kit.errors import SettingsError, closest
from dojo_kit.schema import document_class, document_classes
from dojo_kit.text.answers import ReadingFlag, Spellings, fold, spelling, with_plurals

_SHORT_LABEL = 3
"""Longest label, in characters, of a set whose answers are a word or a letter."""


class Normalized(NamedTuple):
    """An answer read against a vocabulary.

    Attributes:
        key: The label's key; None when the answer names no label, or more than one.
        flag: How it was found or why not, see `dojo_kit.text.answers.ReadingFlag`.
        text: The answer itself.
    """

    key: str | None
    flag: ReadingFlag
    text: str


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """A closed set of labels.

    Attributes:
        name: Its name.
        labels: Key -> display label, in display order.
        aliases: Key -> every spelling that means it, the key and the label among them.
        equivalents: Pairs of keys either of which is defensible for the other; not transitive.
        other: Key for answers outside the list; None when there is none.
        short: Whether answers are a word or a letter, see `dojo_kit.text.answers.Spellings`.
        exact_only: Keys never looked for inside a sentence.
        fields: Names under which an answer given as a JSON object holds the label, the best first.

    Examples:
        >>> families = vocabulary("contract_family")
        >>> families.normalize("Services Agreement").key, families.normalize("Joint Venture _ Filing").key
        ('service', 'joint_venture')
        >>> families.normalize("Marketing Affiliate Agreement")[:2]
        (None, 'several')
        >>> families.equivalent("reseller", "distributor"), families.label("ip")
        (True, 'IP Agreement')
    """

    name: str
    labels: Mapping[str, str]
    aliases: Mapping[str, tuple[str, ...]] = field(repr=False)
    equivalents: frozenset[frozenset[str]] = frozenset()
    other: str | None = None
    short: bool = False
    exact_only: frozenset[str] = frozenset()
    fields: tuple[str, ...] = ("label",)

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of the labels, in display order."""
        return tuple(self.labels)

    def normalize(self, text: str | None) -> Normalized:
        """Read an answer.

        Args:
            text: A label, however spelled, or a sentence that names one; None is no answer.

        Examples:
            >>> vocabulary("yes_no").normalize("Yes, because no cap applies.")[:2]
            ('yes', 'stated')
            >>> vocabulary("doc_class").normalize("Not a contract")[:2]
            (None, 'negated')
        """
        if text is None:
            return Normalized(None, "empty", "")
        return Normalized(*self._spellings.read(text), text)

    def equivalent(self, a: str | None, b: str | None) -> bool:
        """Tell whether two keys are the same or defensible for one another; None is neither.

        Examples:
            >>> families = vocabulary("contract_family")
            >>> families.equivalent("license", "license"), families.equivalent("maintenance", "development")
            (True, False)
        """
        if a is None or b is None:
            return False
        return a == b or frozenset((a, b)) in self.equivalents

    def label(self, key: str) -> str:
        """Return the display label of a key.

        Raises:
            SettingsError: The vocabulary has no such key.
        """
        if key not in self.labels:
            raise SettingsError(f"{self.name} has no label {key!r}{closest(key, self.labels)}")
        return self.labels[key]

    def extended(self, labels: Iterable[str]) -> Vocabulary:
        """Return the vocabulary with further labels as keys of their own.

        Args:
            labels: Labels that `normalize` finds no key for.
        """
        added = own_vocabulary(labels, name=self.name)
        new = {key: label for key, label in added.labels.items() if key not in self.labels}
        aliases = {**self.aliases, **{key: added.aliases[key] for key in new}}
        return replace(self, labels={**self.labels, **new}, aliases=aliases)

    @cached_property
    def _spellings(self) -> Spellings:
        of = {text: key for key, texts in self.aliases.items() for text in texts}
        return Spellings(of, frozenset(self.labels) - self.exact_only, self.short)


OWN_LABELS = "labels"
"""Name of a vocabulary made of nothing but the labels at hand."""


def own_vocabulary(labels: Iterable[str], *, name: str = OWN_LABELS) -> Vocabulary:
    """Make a vocabulary of a plain set of labels; each is its own key.

    Labels that differ only in case, spaces, hyphens or quotes are one label, spelled as the first of them.

    Args:
        labels: The labels.
        name: Name of the vocabulary.

    Examples:
        >>> letters = own_vocabulary(["A", "B", "C", "D"])
        >>> letters.normalize("The answer is B. Note that A is a common distractor.")[:2]
        ('B', 'stated')
        >>> own_vocabulary(["-1", "1"]).normalize("-1").key
        '-1'
    """
    spelled: dict[str, list[str]] = {}
    for label in labels:
        spelled.setdefault(spelling(label), []).append(label)
    aliases = {same[0]: tuple(dict.fromkeys(same)) for same in spelled.values()}
    short = all(len(key) <= _SHORT_LABEL for key in aliases)
    return Vocabulary(name, {key: key for key in aliases}, aliases, short=short)


@cache
def vocabulary(name: str) -> Vocabulary:
    """Return a packaged vocabulary.

    Args:
        name: One of `vocabulary_names`, or another name for it such as ``subtype`` or ``doc_type``.

    Raises:
        SettingsError: There is none of this name.

    Examples:
        >>> vocabulary("subtype") is vocabulary("contract_family")
        True
    """
    table = _table()
    by_name = {also: key for key, entry in table.items() for also in (key, *entry.get("also", ()))}
    if name not in by_name:
        known = ", ".join(table)
        raise SettingsError(f"unknown vocabulary {name!r}{closest(name, by_name)}; known: {known}")
    return _packaged(by_name[name])


def vocabulary_names() -> tuple[str, ...]:
    """Return the names of the packaged vocabularies."""
    return tuple(_table())


@cache
def _table() -> Mapping[str, Any]:
    text = (files("dojo_kit") / "data" / "vocabularies.toml").read_text(encoding="utf-8")
    return MappingProxyType(tomllib.loads(text))


@cache
def _packaged(name: str) -> Vocabulary:
    entry = _table()[name]
    if "includes" in entry:
        made = _union(name, [_packaged(part) for part in entry["includes"]])
    else:
        labels = _labels(entry)
        given = entry.get("aliases", {})
        aliases = {key: tuple(_spellings_of(key, labels[key], given.get(key, ()), entry)) for key in labels}
        made = Vocabulary(
            name,
            labels,
            aliases,
            equivalents=frozenset(frozenset(pair) for pair in entry.get("equivalent", ())),
            other=entry.get("other"),
            short=entry.get("short", False),
            exact_only=frozenset(entry.get("exact_only", ())),
            fields=tuple(entry.get("fields", ())),
        )
    _check(made)
    return made


def _labels(entry: Mapping[str, Any]) -> dict[str, str]:
    """Return key -> label: those of the entry, else of the document classes it takes its keys from."""
    given: dict[str, str] = entry.get("labels", {})
    source = entry.get("keys_of")
    if source is None:
        return dict(given)
    if source == "*":
        return {key: given.get(key, known.label) for key, known in document_classes().items()}
    return {key: given.get(key, key.replace("_", " ").title()) for key in document_class(source).subclasses}


def _spellings_of(key: str, label: str, given: Collection[str], entry: Mapping[str, Any]) -> Iterator[str]:
    """Yield every spelling of a label: key, label, what is listed, and what follows from nouns and plurals."""
    spelled = dict.fromkeys((key, label, *given))
    yield from spelled
    nouns = entry.get("nouns", ())
    parts = (part for text in spelled for part in (text.split("/") if nouns else (text,)))
    stems = dict.fromkeys(_without_noun(fold(part), nouns) for part in parts)
    generated = dict.fromkeys(with_plurals(stems) if entry.get("plurals") else stems)
    for stem in generated:
        yield from (stem, *(f"{stem} {noun}" for noun in nouns))


def _without_noun(text: str, nouns: Collection[str]) -> str:
    head, _, last = text.rpartition(" ")
    return head if head and last in nouns else text


def _union(name: str, parts: Collection[Vocabulary]) -> Vocabulary:
    """Join vocabularies; a key they share is one key."""
    labels: dict[str, str] = {}
    aliases: dict[str, tuple[str, ...]] = {}
    for part in parts:
        for key in part.keys:
            labels.setdefault(key, part.labels[key])
            aliases[key] = tuple(dict.fromkeys((*aliases.get(key, ()), *part.aliases[key])))
    return Vocabulary(
        name,
        labels,
        aliases,
        equivalents=frozenset().union(*(part.equivalents for part in parts)),
        other=next((part.other for part in parts if part.other), None),
        exact_only=frozenset().union(*(part.exact_only for part in parts)),
        fields=tuple(dict.fromkeys(name for part in parts for name in part.fields)),
    )


def _check(made: Vocabulary) -> None:
    """Refuse a vocabulary in which one spelling means two labels."""
    by_fold: dict[str, set[str]] = {}
    for key, texts in made.aliases.items():
        for text in texts:
            by_fold.setdefault(fold(text), set()).add(key)
    clashes = {text: keys for text, keys in by_fold.items() if len(keys) > 1}
    if clashes:
        text, keys = next(iter(clashes.items()))
        raise SettingsError(f"{made.name}: {text!r} means {' and '.join(sorted(keys))}")
