"""The records everything else passes around: runs, labels, documents and problems.

`runs/` fills them from files; nothing here reads a file or computes a score. All are frozen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Literal

Status = Literal["completed", "failed"]


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with one piece of input that did not stop the rest from being read.

    Attributes:
        message: What was found.
        source: The file it was found in.
        line: 1-based line or row number, where known.
        document: The document it concerns, where known.
        field: The key, column or field at fault.
        expected: What would have been right.
    """

    message: str
    source: str = ""
    line: int | None = None
    document: str | None = None
    field: str | None = None
    expected: str | None = None

    def __str__(self) -> str:
        place = ", ".join(
            part
            for part in (
                self.source,
                f"line {self.line}" if self.line else "",
                f"document {self.document!r}" if self.document else "",
                f"field {self.field!r}" if self.field else "",
            )
            if part
        )
        text = f"{place}: {self.message}" if place else self.message
        return f"{text}; expected {self.expected}" if self.expected else text


@dataclass(frozen=True, slots=True)
class Usage:
    """What one model call consumed.

    Attributes:
        prompt_tokens: Tokens read.
        completion_tokens: Tokens written.
        cost_usd: Billed cost in US dollars; None when the provider did not say.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = None

    @property
    def total_tokens(self) -> int:
        """Tokens read and written."""
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True, slots=True)
class Row:
    """One document's (or question's) outcome in a run.

    Attributes:
        document: Name of the document as the run spells it.
        status: ``failed`` when there is no answer to score, also for failures stored as completed.
        error: Why it failed.
        usage: Tokens and cost; None when nothing was recorded, as for a replayed row.
        stored: The row as it stood in the file, with whatever scores were stored in it.
    """

    document: str
    status: Status = "completed"
    error: str | None = None
    usage: Usage | None = None
    stored: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def failed(self) -> bool:
        """Whether there is no answer to score."""
        return self.status == "failed"


@dataclass(frozen=True, slots=True)
class ExtractionRow(Row):
    """Extracted fields of one document.

    Attributes:
        predicted: What the model returned, decoded; None when nothing was stored. It may have any JSON
            type: a wrong one is scored, not refused.
    """

    predicted: Any = None


@dataclass(frozen=True, slots=True)
class LabelRow(Row):
    """A classified document: label, and label of the second level where there is one.

    Attributes:
        predicted: The model's label (doc_type, family, yes/no answer), raw.
        expected: The true label; None when unknown.
        predicted_subclass: Second-level label, raw.
        expected_subclass: True second-level label; None when the document has none.
        confidence: Confidence the model reported, 0 to 1.
        reasoning: The model's stated reasons.
    """

    predicted: str | None = None
    expected: str | None = None
    predicted_subclass: str | None = None
    expected_subclass: str | None = None
    confidence: float | None = None
    reasoning: str = ""


@dataclass(frozen=True, slots=True)
class ChainedRow(LabelRow):
    """A document that was sorted first and extracted from second.

    Attributes:
        extracted: What the extractor returned, decoded; None when it failed or nothing was stored.
    """

    extracted: Any = None


@dataclass(frozen=True, slots=True)
class QuestionRow(Row):
    """An answer to one question about one contract (ContractEval).

    Attributes:
        title: The contract.
        category: The clause category asked for.
        question: The question's text.
        label_spans: Labelled spans; empty when the contract has no such clause.
        predicted: The raw answer; None when the call failed.
    """

    title: str = ""
    category: str = ""
    question: str = ""
    label_spans: tuple[str, ...] = ()
    predicted: str | None = None


@dataclass(frozen=True, slots=True)
class RunMeta:
    """What is known about how a run was made.

    Attributes:
        task: Task key, e.g. ``contract_entity_extraction``.
        name: Experiment name; names are not unique.
        model: Model slug.
        prompt_version: Prompt name; for chained runs sorter and extractor joined by ``+``.
        timestamp: ISO time stamp as stored.
        parameters: Sampling and pipeline parameters.
        data_source: Where documents and labels came from.
        git: Commit and dirty flag.
    """

    task: str
    name: str = ""
    model: str = ""
    prompt_version: str = ""
    timestamp: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict, repr=False)
    data_source: Mapping[str, Any] = field(default_factory=dict, repr=False)
    git: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, repr=False)
class Run:
    """One run: its rows in file order, how it was made and what scores were stored with it.

    Attributes:
        meta: How it was made.
        rows: One row per document or question.
        stored_scores: The ``scores`` object of a run record, else empty.
        source: File the run came from.
        problems: What was wrong with rows that could not be used.
        fingerprint: Hash of the set of documents; runs over the same documents share it.
    """

    meta: RunMeta
    rows: tuple[Row, ...]
    stored_scores: Mapping[str, Any] = field(default_factory=dict, repr=False)
    source: str = ""
    problems: tuple[Problem, ...] = ()

    @property
    def fingerprint(self) -> str:
        """Hash of the set of documents (the run's surface), independent of row order."""
        return fingerprint(row.document for row in self.rows)

    @property
    def name(self) -> str:
        """The experiment's name, else the file's."""
        return self.meta.name or self.source

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        failed = sum(row.failed for row in self.rows)
        return (
            f"Run({self.name!r}, task={self.meta.task!r}, model={self.meta.model!r}, "
            f"{len(self.rows)} rows, {failed} failed, {len(self.problems)} problems)"
        )


@dataclass(frozen=True, slots=True)
class ExpectedSpan:
    """A labelled span of text.

    Attributes:
        text: The label, as annotated.
        category: Category it was labelled under, e.g. a CUAD clause category.
        start: Character offset in the document, where the labels carry one.
    """

    text: str
    category: str = ""
    start: int | None = None


@dataclass(frozen=True, slots=True, repr=False)
class DocumentLabels:
    """What is expected of one document.

    Attributes:
        document: Name of the document as the labels spell it.
        fields: Field name -> labelled spans, in the order the labels list them. A missing field or an
            empty tuple is no requirement.
        values: Category -> curated normalised answers such as ``5/8/14`` or ``2 years``, where there are any;
            answers are given per category, of which a field can have several. YES and NO are not among them.
        subtype: Contract family as the labels spell it, where known.
        applicable: Categories answered YES, and labelled ones that are not YES/NO questions.
        unscored: Spans of categories that no field of the document class covers.
    """

    document: str
    fields: Mapping[str, tuple[ExpectedSpan, ...]]
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    subtype: str | None = None
    applicable: frozenset[str] = frozenset()
    unscored: tuple[ExpectedSpan, ...] = ()

    def __repr__(self) -> str:
        spans = sum(map(len, self.fields.values()))
        family = f", subtype={self.subtype!r}" if self.subtype else ""
        return f"DocumentLabels({self.document!r}, {spans} spans of {len(self.fields)} fields{family})"


@dataclass(frozen=True, slots=True, repr=False)
class Labels:
    """Labels of a set of documents, found by document key.

    Attributes:
        documents: Document key (`dojo_kit.text.names.document_key`) -> labels.
        doc_class: Key of the document class whose fields are labelled.
        source: Where they came from.
        problems: What was wrong with labels that could not be used.
        list_fields: Fields whose label was given as a list in any document, also one of one item or of none.
            Empty for CUAD's own files, whose fields are known.
    """

    documents: Mapping[str, DocumentLabels]
    doc_class: str = "contract"
    source: str = ""
    problems: tuple[Problem, ...] = ()
    list_fields: frozenset[str] = frozenset()

    @property
    def fingerprint(self) -> str:
        """Hash of every label of every document, independent of file order."""
        return fingerprint(
            "\x1f".join(
                (
                    key,
                    *(
                        f"{name}\x1e{span.category}\x1e{span.text}"
                        for name, spans in sorted(labels.fields.items())
                        for span in spans
                    ),
                )
            )
            for key, labels in self.documents.items()
        )

    def __len__(self) -> int:
        return len(self.documents)

    def __repr__(self) -> str:
        return (
            f"Labels({self.source!r}, doc_class={self.doc_class!r}, {len(self.documents)} documents, "
            f"{len(self.problems)} problems)"
        )


Documents = Mapping[str, str]
"""Document texts by document key; `dojo_kit.runs` offers one that reads files on demand."""


def fingerprint(parts: Iterable[str]) -> str:
    """Hash strings into 64 hex digits, whatever their order.

    Examples:
        >>> fingerprint(["b", "a"]) == fingerprint(["a", "b"])
        True
    """
    return sha256("\n".join(sorted(parts)).encode("utf-8", "surrogatepass")).hexdigest()
