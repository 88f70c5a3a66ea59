"""What an extractor answers about a sample contract: first perfectly, then with the faults planted in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dojo_kit.samples.contracts import OBLIGATIONS, TERMINATIONS, Clause, Contract


@dataclass(eq=False, slots=True)
class Item:
    """One item of a list in an answer.

    Attributes:
        text: The item.
        tags: What the reasoning trace files it under.
        section: Section it was taken from.
    """

    text: str
    tags: tuple[str, ...]
    section: str


@dataclass(frozen=True, slots=True)
class Fault:
    """Something planted in a row of a run.

    Attributes:
        kind: Kind of fault, see the manifest's ``kinds``.
        field: Field it sits in; None when the whole row is affected.
        category: Category of the label or item concerned.
        label: Text of the label concerned.
        item: The item that carries the fault.
        note: What was done.
    """

    kind: str
    field: str | None = None
    category: str | None = None
    label: str | None = None
    item: Item | None = None
    note: str = ""


@dataclass(eq=False, slots=True)
class Answer:
    """An extractor's answer about one contract.

    Attributes:
        contract: The contract.
        scalars: Value of every field that is no list.
        lists: Items of every list field.
        owners: Items that stand for a clause, by clause.
        faults: What was planted.
        failure: ``failed`` or ``disguised_failure`` when there is no answer.
        shapes: Values given in the wrong JSON type, by field.
    """

    contract: Contract
    scalars: dict[str, str | None]
    lists: dict[str, list[Item]]
    owners: dict[Clause, Item]
    faults: list[Fault] = field(default_factory=list)
    failure: str = ""
    shapes: dict[str, Any] = field(default_factory=dict)

    def faulty(self, clause: Clause) -> bool:
        """Whether something was planted in a clause."""
        return clause not in self.owners

    def predicted(self, *, trace: bool) -> dict[str, Any]:
        """Return the answer as JSON-ready values.

        Args:
            trace: Put a reasoning trace before the fields.
        """
        if self.failure:
            return {}
        fields: dict[str, Any] = {"reasoning": self._trace()} if trace else {}
        for name in FIELDS:
            value = [item.text for item in self.lists[name]] if name in self.lists else self.scalars[name]
            fields[name] = self.shapes.get(name, value)
        return fields | {"confidence": 0.9 if self.faults else 0.95}

    def _trace(self) -> dict[str, Any]:
        entries = [
            {"field": tag, "evidence": item.text, "section_ref": item.section or None}
            for name in (TERMINATIONS, OBLIGATIONS)
            for item in self.lists[name]
            for tag in item.tags
        ]
        names = " and ".join(name for name, _ in self.contract.parties)
        return {"summary": f"{self.contract.title.title()} between {names}.", "entries": entries}


FIELDS = (
    "document_name",
    "parties",
    "effective_date",
    "term_length",
    TERMINATIONS,
    "governing_law",
    OBLIGATIONS,
    "contract_value",
    "renewal_terms",
)
"""Fields of the class contract in the order of its schema."""


def perfect_answer(contract: Contract, *, extras: bool) -> Answer:
    """Return what a flawless extractor answers.

    Args:
        contract: The contract.
        extras: Whether it also returns clauses that carry no label.
    """
    lists: dict[str, list[Item]] = {"parties": [], TERMINATIONS: [], OBLIGATIONS: []}
    lists["parties"] = [Item(f'{name} ("{term}")', ("parties",), "Preamble") for name, term in contract.parties]
    owners = {}
    for clause in contract.clauses:
        if clause.categories or extras:
            item = Item(contract.quoted(clause), clause.categories, clause.section)
            lists[clause.field].append(item)
            if clause.categories:
                owners[clause] = item
    scalars = {
        "document_name": contract.labelled("Document Name"),
        "effective_date": contract.dates[-1].isoformat() if contract.dates else None,
        "term_length": contract.labelled("Expiration Date"),
        "governing_law": contract.labelled("Governing Law"),
        "contract_value": contract.contract_value,
        "renewal_terms": contract.labelled("Renewal Term", "Notice Period To Terminate Renewal"),
    }
    plain = {name: value and " ".join(value.split()) for name, value in scalars.items()}
    return Answer(contract, plain, lists, owners)
