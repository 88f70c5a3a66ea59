"""Faults in the quotation of a clause.

A planter changes an answer and notes one fault per label of the clause, or leaves the answer alone and returns
False where the texts at hand would not show the fault clearly: every item it writes may stand only for the
labels it is meant for.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import pairwise

from dojo_kit.samples.answers import Answer, Fault, Item
from dojo_kit.samples.contracts import OBLIGATIONS, TERMINATIONS, Clause, Contract
from dojo_kit.text.tokens import is_contiguous, token_f1, tokens

SAME = 0.6
"""Token F1 from which an item counts as its label with default settings."""

KEPT_WHEN_TRUNCATED = 0.38
"""Share of the words kept; F1 with the label is then 0.55."""

KEPT_WHEN_SHIFTED = 0.45
ADDED_WHEN_SHIFTED = 0.7
LONGER_WHEN_OVER_QUOTED = 1.9

Planter = Callable[[Answer, Clause, random.Random], bool]


def stands_for(item: str, label: str) -> bool:
    """Tell whether an item would count as a label: much the same words, or all of them in a row.

    Examples:
        >>> stands_for("A shall pay the fee. B may audit.", "A shall pay the fee.")
        True
        >>> stands_for("A shall pay.", "A shall pay the fee in full within ten days.")
        False
    """
    words, wanted = tokens(item), tokens(label)
    return token_f1(words, wanted) >= SAME or is_contiguous(wanted, words)


def clashes(contract: Contract, field: str, item: str, own: Collection[Clause] = ()) -> bool:
    """Tell whether an item would count as a label of a field other than its own ones."""
    return any(
        clause.field == field and clause.categories and clause not in own and stands_for(item, contract.quoted(clause))
        for clause in contract.clauses
    )


def _note(answer: Answer, kind: str, clause: Clause, item: Item | None, note: str) -> None:
    text = answer.contract.spelled(clause)
    answer.faults += [Fault(kind, clause.field, category, text, item, note) for category in clause.categories]


def _replace(answer: Answer, clause: Clause, texts: Sequence[str]) -> list[Item]:
    """Put other items in the place of a clause's item."""
    item = answer.owners.pop(clause)
    items = [Item(text, item.tags, item.section) for text in texts]
    place = answer.lists[clause.field].index(item)
    answer.lists[clause.field][place : place + 1] = items
    return items


def omit(answer: Answer, clause: Clause, rng: random.Random, *, kind: str = "omitted") -> bool:
    """Leave a clause out."""
    _replace(answer, clause, [])
    _note(answer, kind, clause, None, "left out")
    return True


def _near(words: Sequence[str], wanted: int) -> int:
    """Return the place nearest to the wanted one where a phrase ends, if there is one within three words."""
    ends = [k for k in range(wanted - 3, wanted + 4) if 0 < k < len(words) and words[k - 1][-1] in ",;:"]
    return min(ends, key=lambda k: (abs(k - wanted), k), default=wanted)


def _split(answer: Answer, clause: Clause, n: int, kind: str) -> bool:
    text = answer.contract.quoted(clause)
    words = text.split()
    cuts = [0, *(_near(words, round(len(words) * k / n)) for k in range(1, n)), len(words)]
    pieces = [" ".join(words[a:b]) for a, b in pairwise(cuts)]
    found = any(stands_for(piece, text) for piece in pieces)
    if found != (n == 2) or any(clashes(answer.contract, clause.field, piece, [clause]) for piece in pieces):
        return False
    items = _replace(answer, clause, pieces)
    _note(answer, kind, clause, items[0], f"returned as {n} items, of which this is the first")
    return True


def split_two(answer: Answer, clause: Clause, rng: random.Random) -> bool:
    """Return a clause as two items."""
    return _split(answer, clause, 2, "split_two")


def split_three(answer: Answer, clause: Clause, rng: random.Random) -> bool:
    """Return a clause as three items."""
    return _split(answer, clause, 3, "split_three")


def merge(answer: Answer, clause: Clause, rng: random.Random) -> bool:
    """Return a clause and the next one as one item."""
    later = [c for c in answer.contract.clauses if c.field == clause.field and c.at.start > clause.at.start]
    partner = next((c for c in later if c.categories), None)
    if partner is None or partner.rest or answer.faulty(partner):
        return False
    text = f"{answer.contract.quoted(clause)} {answer.contract.quoted(partner)}"
    if clashes(answer.contract, clause.field, text, [clause, partner]):
        return False
    _replace(answer, partner, [])
    (item,) = _replace(answer, clause, [text])
    item.tags = (*clause.categories, *partner.categories)
    for merged in (clause, partner):
        _note(answer, "merged", merged, item, "two clauses returned as this item")
    return True


def _returned_as(answer: Answer, clause: Clause, text: str, kind: str, note: str, *, found: bool) -> bool:
    """Return another text for a clause, if it shows the fault."""
    same = stands_for(text, answer.contract.quoted(clause))
    if same != found or clashes(answer.contract, clause.field, text, [clause]):
        return False
    (item,) = _replace(answer, clause, [text])
    _note(answer, kind, clause, item, note)
    return True


def truncate(answer: Answer, clause: Clause, rng: random.Random) -> bool:
    """Return the beginning of a clause."""
    words = answer.contract.quoted(clause).split()
    text = " ".join(words[: round(KEPT_WHEN_TRUNCATED * len(words))])
    return _returned_as(answer, clause, text, "truncated", "only the beginning returned", found=False)


def over_quote(answer: Answer, clause: Clause, rng: random.Random) -> bool:
    """Return a clause with its neighbours."""
    enough = LONGER_WHEN_OVER_QUOTED * len(tokens(answer.contract.quoted(clause)))
    text = _widened(answer.contract, clause, enough)
    return text is not None and _returned_as(
        answer, clause, text, "over_quoted", "returned together with neighbouring sentences", found=True
    )


def _widened(contract: Contract, clause: Clause, enough: float) -> str | None:
    """Quote a clause with sentences after and before it; None when a label is in the way."""
    labelled = {other.at for other in contract.clauses if other.categories}
    first = last = contract.sentences.index(clause.at)
    while True:
        text = contract.text[contract.sentences[first].start : contract.sentences[last].end]
        if len(tokens(text)) >= enough:
            return " ".join(text.split())
        if last + 1 < len(contract.sentences) and contract.sentences[last + 1] not in labelled:
            last += 1
        elif first and contract.sentences[first - 1] not in labelled:
            first -= 1
        else:
            return None


def shift(answer: Answer, clause: Clause, rng: random.Random) -> bool:
    """Start in the middle of a clause and run on into what follows."""
    contract = answer.contract
    words = contract.quoted(clause).split()
    following = contract.sentences[contract.sentences.index(clause.at) + 1 :]
    added: list[str] = []
    for sentence in following:
        if len(added) >= ADDED_WHEN_SHIFTED * len(words) or any(sentence == c.at for c in contract.clauses):
            break
        added = contract.text[clause.at.end : sentence.end].split()
    if len(added) < ADDED_WHEN_SHIFTED * len(words):
        return False
    kept = words[-round(KEPT_WHEN_SHIFTED * len(words)) :]
    text = " ".join(kept + added)
    return _returned_as(answer, clause, text, "shifted", "starts in the middle and runs on", found=False)


def reword(answer: Answer, clause: Clause, rng: random.Random) -> bool:
    """Paraphrase a clause."""
    return _returned_as(answer, clause, clause.reworded, "reworded", "paraphrased", found=False)


def misfile(answer: Answer, clause: Clause, rng: random.Random) -> bool:
    """Return a clause under the other list."""
    other = OBLIGATIONS if clause.field == TERMINATIONS else TERMINATIONS
    if clashes(answer.contract, other, answer.contract.quoted(clause)):
        return False
    item = answer.owners.pop(clause)
    answer.lists[clause.field].remove(item)
    answer.lists[other].append(item)
    _note(answer, "wrong_field", clause, item, f"returned under {other}")
    return True


CLAUSE_FAULTS: Mapping[str, Planter] = {
    "merged": merge,
    "shifted": shift,
    "over_quoted": over_quote,
    "split_three": split_three,
    "split_two": split_two,
    "wrong_field": misfile,
    "reworded": reword,
    "truncated": truncate,
    "omitted": omit,
}
"""Kind of fault -> planter, those that fit the fewest clauses first."""
