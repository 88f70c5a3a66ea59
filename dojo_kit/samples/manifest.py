"""What a sample holds: its files with their hashes, its documents, and every fault planted in its runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from dojo_kit.samples.answers import Answer
from dojo_kit.samples.contracts import Contract
from dojo_kit.samples.label_runs import Sorted
from dojo_kit.samples.phrases import phrases
from dojo_kit.samples.rag_labels import RagFault

SHOWN = 60
"""Characters of a label that a manifest shows."""


@dataclass(frozen=True, slots=True)
class PlantedFault:
    """A fault planted in a run.

    Attributes:
        run: Name of the run.
        document: Name of the document as the labels spell it.
        field: Field it sits in; None when the whole row is affected.
        category: Category of the label or item concerned.
        kind: Kind of fault, see `Manifest.kinds`.
        label: Beginning of the label concerned, at most `SHOWN` characters. Run, document, field and category
            tell a label from every other one.
        item: Index of the item that carries it in its list; None when none does.
        note: What was done.
    """

    run: str
    document: str
    field: str | None
    category: str | None
    kind: str
    label: str | None
    item: int | None
    note: str


@dataclass(frozen=True, slots=True)
class SampleDocument:
    """A document of the sample.

    Attributes:
        document: Its name in labels and runs.
        file: Its file.
        family: Contract family.
        quirk: What is awkward about its text; empty for most.
        words: Words of its text.
        labels: Labels it carries.
    """

    document: str
    file: str
    family: str
    quirk: str
    words: int
    labels: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """Everything known about a sample.

    Attributes:
        seed: Seed it was written from.
        n_contracts: Contracts.
        files: File -> SHA-256 of its bytes.
        documents: The contracts.
        faults: Everything planted, in the order of runs and documents.
        kinds: Kind of fault -> what it is and what scoring shows of it.
        rag_faults: Everything planted in the labels of queries.
        rag_kinds: The same of them.
    """

    seed: int
    n_contracts: int
    files: Mapping[str, str]
    documents: tuple[SampleDocument, ...]
    faults: tuple[PlantedFault, ...]
    kinds: Mapping[str, Mapping[str, str]]
    rag_faults: tuple[RagFault, ...] = ()
    rag_kinds: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the manifest as JSON-ready values."""
        return {"generator": "dojo_kit.samples", **asdict(self)}


def planted(run: str, answers: Sequence[Answer]) -> list[PlantedFault]:
    """List the faults of an extraction run."""
    found = []
    for answer in answers:
        places = {item: index for items in answer.lists.values() for index, item in enumerate(items)}
        for fault in answer.faults:
            index = None if fault.item is None else places[fault.item]
            label = fault.label and fault.label[:SHOWN]
            found.append(
                PlantedFault(
                    run, answer.contract.name, fault.field, fault.category, fault.kind, label, index, fault.note
                )
            )
    return found


def mislabelled(run: str, answers: Sequence[Sorted]) -> list[PlantedFault]:
    """List the faults of a classification run."""
    return [
        PlantedFault(run, answer.case.name, None, None, answer.kind, None, None, answer.note)
        for answer in answers
        if answer.kind
    ]


def describe(contract: Contract) -> SampleDocument:
    """Describe a contract."""
    return SampleDocument(
        contract.name,
        contract.file,
        contract.family,
        contract.quirk,
        len(contract.text.split()),
        len(contract.marks),
    )


def fault_kinds() -> dict[str, dict[str, str]]:
    """Return what each kind of fault is and what scoring shows of it."""
    return {kind: dict(entry) for kind, entry in phrases("plan")["kinds"].items()}
