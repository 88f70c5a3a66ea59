"""Keys of names, identifiers and documents: what is left when spelling accidents are gone."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from dojo_kit.text.tokens import STOPWORDS, canonical, fold_diacritics, tokens

NAME_SUFFIXES = frozenset(
    "INC INCORPORATED LLC LTD LIMITED CORP CORPORATION CO COMPANY PLC LLP LP PLLC PC PA ESQ ESQUIRE GMBH AG NV "
    "SA SARL BV PTY PVT SRL SPA OY AB KK GROUP HOLDINGS TRUST".split()
)
"""Corporate forms, dropped anywhere in a name."""

ID_SUFFIXES = frozenset("INC INCORPORATED LLC LTD LIMITED CORP CORPORATION COMPANY PLC LLP GMBH".split())
"""Corporate forms dropped at the end of an identifier; shorter ones would eat codes such as ``PA-100``."""

_DOTTED = re.compile(r"(?<![A-Za-z0-9])(?:[A-Za-z]\.[ ]?)+[A-Za-z](?:\.|(?![A-Za-z0-9]))")


def _join_dotted(match: re.Match[str]) -> str:
    found = match.group()
    letters = found.replace(".", "").replace(" ", "")
    return letters + " " if " " not in found or letters.upper() in NAME_SUFFIXES else found


@lru_cache(maxsize=65_536)
def name_words(text: str) -> tuple[str, ...]:
    """Return a name's upper-case words, dotted forms joined and diacritics folded.

    Examples:
        >>> name_words("Caf\u00e9 L.L.C.")
        ('CAFE', 'LLC')
    """
    folded = fold_diacritics(canonical(text))
    return tuple(word.upper() for word in tokens(_DOTTED.sub(_join_dotted, folded)))


@lru_cache(maxsize=65_536)
def name_key(text: str) -> tuple[str, ...]:
    """Return a name's words without corporate forms.

    When nothing, or nothing but stopwords, would remain, the forms stay: ``the "Company"`` names somebody.

    Examples:
        >>> name_key("Shenzhen LOHAS Supply Chain Management Co., Ltd.")
        ('SHENZHEN', 'LOHAS', 'SUPPLY', 'CHAIN', 'MANAGEMENT')
        >>> name_key('the "Company"')
        ('THE', 'COMPANY')
    """
    words = name_words(text)
    kept = tuple(word for word in words if word not in NAME_SUFFIXES)
    return kept if any(word.lower() not in STOPWORDS for word in kept) else words


@lru_cache(maxsize=65_536)
def id_key(text: str) -> str:
    """Return an identifier in upper case without punctuation, spaces and a trailing corporate form.

    Examples:
        >>> id_key("SEC File 001-12345"), id_key("Acme-77 Inc."), id_key("PA-100")
        ('SECFILE00112345', 'ACME77', 'PA100')
    """
    words = [word.upper() for word in tokens(_DOTTED.sub(_join_dotted, canonical(text)))]
    while len(words) > 1 and words[-1] in ID_SUFFIXES:
        words.pop()
    return "".join(words)


@lru_cache(maxsize=65_536)
def document_key(name: str) -> str:
    """Return the key on which run rows, labels and documents are joined.

    Accents, case, punctuation and one trailing ``.pdf`` or ``.txt`` do not matter; letters of every script do.

    Examples:
        >>> document_key("LECLANCH\u00c9 S.A.'.PDF") == document_key("Leclanche\u0301 S.A")
        True
    """
    decomposed = unicodedata.normalize("NFKD", name)
    key = "".join(c for c in decomposed if not unicodedata.combining(c)).lower()
    key = key.rstrip("".join({c for c in key if not c.isalnum()}))
    for ending in (".pdf", ".txt"):
        if key.endswith(ending):
            key = key.removesuffix(ending)
            break
    return "".join(c for c in key if c.isalnum())
