"""Questions about the sample contracts, and what two imaginary systems find and answer.

Retrieval is real: passages are ranked by the words they share with the question (BM25; Robertson and Zaragoza 2009).
The second system also knows which contract is asked about. What is relevant follows from the labels of the contracts.
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dojo_kit.samples.contracts import Contract
from dojo_kit.samples.phrases import phrases

N_QUESTIONS, N_CHUNKS = 24, 4
PILOT = 6
"""Questions of the earlier, smaller export."""

_WORD = re.compile(r"[a-z0-9]+")
_SHORTEST, _SHOWN = 60, 120
_SAME_CONTRACT = 1.8
_SATURATION, _LENGTH = 1.2, 0.75
_ODD_IDS = {3: "007", 8: "NA"}


@dataclass(frozen=True, slots=True)
class Passage:
    """A paragraph of a contract.

    Attributes:
        id: Its name.
        contract: Name of the contract.
        text: Its text, cut after a word.
        categories: Categories that are labelled in it.
        words: How often it holds which word.
    """

    id: str
    contract: str
    text: str
    categories: frozenset[str]
    words: Counter[str]


@dataclass(frozen=True, slots=True)
class Question:
    """A question about one contract.

    Attributes:
        id: Its name.
        contract: Name of the contract.
        category: What it asks for.
        text: The question.
    """

    id: str
    contract: str
    category: str
    text: str


@dataclass(frozen=True, slots=True)
class Found:
    """A passage a system found.

    Attributes:
        passage: The passage.
        rank: Its rank.
        relevant: Whether it is about what is asked.
        sufficient: Whether it answers the question.
        misleading: Whether it says the same of another contract.
    """

    passage: Passage
    rank: int
    relevant: int
    sufficient: int
    misleading: int


@dataclass(frozen=True, slots=True)
class Reply:
    """A system's answer.

    Attributes:
        text: The answer.
        kind: ``right``, ``mistaken``, ``refused``, ``invented`` or ``bare``.
    """

    text: str
    kind: str


def passages_of(contracts: Sequence[Contract]) -> list[Passage]:
    """Cut contracts into paragraphs; captions, signatures and the names of the parties are left out."""
    found = []
    for number, contract in enumerate(contracts, start=1):
        start = 0
        for part, text in enumerate(contract.text.split("\n\n"), start=1):
            end = start + len(text)
            flat = " ".join(text.split())
            inside = frozenset(mark.category for mark in contract.marks if start <= mark.at.start < end)
            if len(flat) >= _SHORTEST and "By: ____" not in flat and "Parties" not in inside:
                words = Counter(_WORD.findall(flat.lower()))
                found.append(Passage(f"c{number:02}-p{part:02}", contract.name, _cut(flat), inside, words))
            start = end + 2
    return found


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN].rsplit(' ', 1)[0]} ..."


def questions_about(contracts: Sequence[Contract], rng: random.Random) -> list[Question]:
    """Draw questions, one or two of every contract drawn, about what its labels cover."""
    kinds: Mapping[str, Any] = phrases("rag")["questions"]
    asked: list[tuple[Contract, str]] = []
    for contract in rng.sample(list(contracts), len(contracts)):
        wanted = [category for category in kinds if category in contract.categories]
        asked += [(contract, category) for category in rng.sample(wanted, min(2, len(wanted)))]
    return [
        Question(_ODD_IDS.get(number, f"q{number:02}"), contract.name, category, _asked(kinds[category], contract))
        for number, (contract, category) in enumerate(asked[:N_QUESTIONS], start=1)
    ]


def _asked(kind: Mapping[str, Any], contract: Contract) -> str:
    first, second = (name.split()[0].rstrip(",") for name, _ in contract.parties[:2])
    title = contract.title.title() if contract.title.isupper() else contract.title
    text: str = kind["text"]
    return text.replace("<title>", title).replace("<a>", first).replace("<b>", second)


class Index:
    """Passages that can be searched.

    Args:
        passages: The passages.
    """

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = passages
        self._sizes = [passage.words.total() for passage in passages]
        self._mean = sum(self._sizes) / max(1, len(passages))
        self._holding = Counter(word for passage in passages for word in passage.words)

    def search(self, question: Question, *, knows_contract: bool) -> list[Found]:
        """Find the passages that fit a question best.

        Args:
            question: The question.
            knows_contract: Whether passages of the right contract are preferred.
        """
        words = sorted(set(_WORD.findall(question.text.lower())))
        topic = phrases("rag")["questions"][question.category]["topic"]
        words += [word for word in topic if word not in words]
        scored = []
        for at, passage in enumerate(self._passages):
            score = sum(self._weight(word, at) for word in words)
            if knows_contract and passage.contract == question.contract:
                score *= _SAME_CONTRACT
            scored.append((-round(score, 6), passage.id, passage))
        best = sorted(scored, key=lambda entry: entry[:2])[:N_CHUNKS]
        return [_judged(passage, rank, question, topic) for rank, (_, _, passage) in enumerate(best, start=1)]

    def _weight(self, word: str, at: int) -> float:
        n = self._passages[at].words[word]
        if not n:
            return 0.0
        holding, total = self._holding[word], len(self._passages)
        rarity = math.log(1 + (total - holding + 0.5) / (holding + 0.5))
        length = 1 - _LENGTH + _LENGTH * self._sizes[at] / self._mean
        return rarity * n * (_SATURATION + 1) / (n + _SATURATION * length)


def _judged(passage: Passage, rank: int, question: Question, topic: Sequence[str]) -> Found:
    same = passage.contract == question.contract
    holds = question.category in passage.categories
    touches = same and any(word in passage.words for word in topic)
    return Found(passage, rank, int(holds or touches), int(holds and same), int(holds and not same))


def reply(question: Question, found: Sequence[Found], rng: random.Random) -> Reply:
    """Answer a question from what was found, now and then badly."""
    sufficient = next((one for one in found if one.sufficient), None)
    misleading = next((one for one in found if one.misleading), None)
    drawn = rng.random()
    if sufficient is not None:
        kind, passage = ("right", sufficient) if drawn < 0.75 else ("refused" if drawn < 0.88 else "invented", None)
    elif misleading is not None and drawn < 0.5:
        kind, passage = "mistaken", misleading
    else:
        kind, passage = ("refused" if drawn < 0.8 else "invented" if drawn < 0.92 else "bare"), None
    rag = phrases("rag")
    text: str = rag["answers"][kind].replace("<noun>", rag["questions"][question.category]["noun"])
    if passage is not None:
        text = text.replace("<clause>", _snippet(passage.passage.text)).replace("<rank>", str(passage.rank))
    return Reply(text, kind)


def _snippet(text: str) -> str:
    return text if len(text) <= 90 else f"{text[:90].rsplit(' ', 1)[0]} ..."
