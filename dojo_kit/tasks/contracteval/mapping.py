"""ContractEval scores of one-pass extractions: clauses are given to categories, then judged as answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dojo_kit.errors import InputError
from dojo_kit.records import ChainedRow, ExtractionRow, Labels, QuestionRow, Row, Run
from dojo_kit.settings import Settings, resolve
from dojo_kit.stats.intervals import Bootstrap, Estimate, undefined
from dojo_kit.tasks.contracteval.direct import score_contracteval
from dojo_kit.tasks.contracteval.questions import contracteval_questions
from dojo_kit.tasks.contracteval.routing import (
    RoutedClause,
    best_share,
    category_labels,
    clause_evidence,
    mapped_categories,
    route_clauses,
)
from dojo_kit.tasks.contracteval.rubric import Mode, judge
from dojo_kit.tasks.contracteval.scores import ContractEvalScores, contract_bootstrap
from dojo_kit.text.names import document_key
from dojo_kit.text.shapes import heldout

if TYPE_CHECKING:
    import pandas as pd

BANDS = (0.7, 0.5, 0.3)
"""Shares of a label that one clause must hold, for the bands beside ``verbatim``."""

NO_CLAUSE = "No related clause."


@dataclass(frozen=True, slots=True)
class MappingWarning:
    """Something the scores of a mapped extraction do not say by themselves.

    Attributes:
        code: ``oracle_routing``, ``structural_precision``, ``verbatim_band``, ``shape_accuracy`` or
            ``failed_documents``.
        says: It in words.
        figures: The numbers behind it.
    """

    code: str
    says: str
    figures: Mapping[str, float]

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready values."""
        return {"code": self.code, "says": self.says, "figures": dict(self.figures)}


@dataclass(frozen=True, slots=True, repr=False)
class MappedContractEval:
    """A one-pass extraction run read as answers to ContractEval's yes/no questions.

    Attributes:
        run: The run's name.
        oracle: Scores when clauses find their category by the labels, as published: an upper bound.
        label_free: Scores when they find it by the model's trace or their words.
        coverage: ``verbatim`` and `BANDS`: share of the positive pairs whose labels all stand in the clauses
            taken together, and of those of which one clause holds so much of a label.
        warnings: What the scores do not say.
        clauses: One row per clause: ``document``, ``clause``, ``text``, ``oracle``, ``oracle_route``, ``label_free``,
            ``label_free_route``; categories joined by ``; ``.
        n_documents: Documents that are scored.
        failed: Names of documents without an answer, which are left out.
        unjoined: Names of documents without labels, which are left out.
    """

    run: str
    oracle: ContractEvalScores
    label_free: ContractEvalScores
    coverage: Mapping[str, Estimate]
    warnings: tuple[MappingWarning, ...]
    clauses: pd.DataFrame
    n_documents: int
    failed: tuple[str, ...]
    unjoined: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return everything but the clauses as JSON-ready values."""
        return {
            "run": self.run,
            "n_documents": self.n_documents,
            "n_failed": len(self.failed),
            "failed": list(self.failed),
            "n_unjoined": len(self.unjoined),
            "unjoined": list(self.unjoined),
            "oracle": self.oracle.as_dict(),
            "label_free": self.label_free.as_dict(),
            "coverage": {name: estimate.as_dict() for name, estimate in self.coverage.items()},
            "warnings": [warning.as_dict() for warning in self.warnings],
        }

    def __repr__(self) -> str:
        return (
            f"MappedContractEval({self.run!r}, {self.n_documents} documents, {len(self.failed)} failed, "
            f"{len(self.unjoined)} without labels, oracle={self.oracle!r}, label_free={self.label_free!r})"
        )


@dataclass(frozen=True, slots=True)
class _Mapped:
    """One document: its labels, its clauses, and how many entries of its trace name a category."""

    document: str
    labels: Mapping[str, tuple[str, ...]]
    clauses: Sequence[RoutedClause]
    n_tags: int

    def positives(self) -> list[tuple[str, ...]]:
        return [texts for texts in self.labels.values() if texts]


def map_contracteval(
    run: Run, labels: Labels, *, mode: Mode = "paper", settings: Settings | None = None
) -> MappedContractEval:
    """Score an extraction run as if it had been asked ContractEval's 32 yes/no questions.

    Args:
        run: An extraction run, or a chained one.
        labels: Labels with categories, such as those of CUAD.
        mode: The reading of the rubric, see `dojo_kit.tasks.contracteval.rubric`.
        settings: Seed, replicates and level of the intervals; the current settings by default.

    Returns:
        Scores of both ways to give clauses their category, how much of the labels is there, and what to beware of.

    Raises:
        InputError: The run holds other rows, or no document that is labelled and has an answer.
    """
    settings = resolve(settings)
    mapped, failed, unjoined = _mapped_documents(run, labels)
    if not mapped:
        message = f"no document to map: {len(failed)} failed, {len(unjoined)} without labels"
        raise InputError(message, file=run.source or None, expected="an extraction of documents the labels cover")
    oracle = score_contracteval(_pairs(mapped, lambda clause: clause.oracle), mode=mode, settings=settings)
    label_free = score_contracteval(_pairs(mapped, lambda clause: clause.label_free), mode=mode, settings=settings)
    held = [_verbatim(document) for document in mapped]
    missed = sum(len(_positives(labels, name)) for name in failed)
    return MappedContractEval(
        run=run.name,
        oracle=oracle,
        label_free=label_free,
        coverage=_coverage(mapped, held, contract_bootstrap(settings)),
        warnings=tuple(_warnings(mapped, oracle, sum(held), len(failed), missed)),
        clauses=_clause_frame(mapped),
        n_documents=len(mapped),
        failed=failed,
        unjoined=unjoined,
    )


def _mapped_documents(run: Run, labels: Labels) -> tuple[list[_Mapped], tuple[str, ...], tuple[str, ...]]:
    mapped, failed, unjoined = [], [], []
    for row in run.rows:
        predicted = _prediction(row, run)
        known = labels.documents.get(document_key(row.document))
        if known is None:
            unjoined.append(row.document)
        elif predicted is None:
            failed.append(row.document)
        else:
            spans = category_labels(known)
            tags = sum(map(len, clause_evidence(predicted).values()))
            mapped.append(_Mapped(row.document, spans, route_clauses(predicted, spans), tags))
    mapped.sort(key=lambda document: document.document)
    return mapped, tuple(failed), tuple(unjoined)


def _prediction(row: Row, run: Run) -> Mapping[str, Any] | None:
    """Return a row's extraction; None when it has none."""
    if isinstance(row, ExtractionRow):
        value = None if row.failed else row.predicted
    elif isinstance(row, ChainedRow):
        value = row.extracted
    else:
        message = f"a row of type {type(row).__name__}"
        raise InputError(message, file=run.source or None, expected="extractions; answers are for score_contracteval")
    if value is None:
        return None
    return value if isinstance(value, Mapping) else {}


def _positives(labels: Labels, document: str) -> list[tuple[str, ...]]:
    return [texts for texts in category_labels(labels.documents[document_key(document)]).values() if texts]


def _pairs(mapped: Sequence[_Mapped], categories: Callable[[RoutedClause], tuple[str, ...]]) -> list[QuestionRow]:
    questions = contracteval_questions()
    rows = []
    for document in mapped:
        answers: dict[str, list[str]] = {name: [] for name in mapped_categories()}
        for clause in document.clauses:
            for name in categories(clause):
                answers[name].append(clause.text)
        for name, texts in answers.items():
            rows.append(
                QuestionRow(
                    document=f"{document.document}__{name}",
                    title=document.document,
                    category=name,
                    question=questions[name],
                    label_spans=document.labels[name],
                    predicted=" ".join(texts) or NO_CLAUSE,
                )
            )
    return rows


def _verbatim(document: _Mapped) -> int:
    """Count the positive pairs whose labels all stand in the document's clauses taken together."""
    everything = " ".join(clause.text for clause in document.clauses)
    return sum(judge(texts, everything).outcome == "TP" for texts in document.positives())


def _coverage(mapped: Sequence[_Mapped], held: Sequence[int], bootstrap: Bootstrap) -> dict[str, Estimate]:
    asked = [document for document in mapped if document.positives()]
    if not asked:
        return dict.fromkeys(("verbatim", *map(str, BANDS)), undefined("no positives"))
    best = [
        [best_share(texts, [clause.text for clause in document.clauses]) for texts in document.positives()]
        for document in asked
    ]
    counts = {"verbatim": [n for n, document in zip(held, mapped, strict=True) if document.positives()]}
    counts |= {str(band): [sum(share >= band for share in shares) for shares in best] for band in BANDS}
    n_positive = [len(shares) for shares in best]
    return {name: bootstrap.ratio(numbers, n_positive) for name, numbers in counts.items()}


def _warnings(
    mapped: Sequence[_Mapped], oracle: ContractEvalScores, verbatim: int, n_failed: int, missed: int
) -> Iterator[MappingWarning]:
    yield _oracle_warning(mapped, oracle)
    yield _precision_warning(mapped, oracle)
    yield MappingWarning(
        "verbatim_band",
        "the band `verbatim` looks for the labels in all clauses together, a true positive needs them in those given "
        "to its category, so the two counts can differ",
        {"verbatim": verbatim, "tp": oracle.tp},
    )
    known = heldout()
    yield MappingWarning(
        "shape_accuracy",
        "without a trace the label-free way guesses a clause's category from its words; on contracts the guess was "
        f"not tuned on it is right for {known['obligation_accuracy']:.0%} of obligations and "
        f"{known['accuracy']:.0%} of all labelled clauses",
        known,
    )
    if n_failed:
        recall = oracle.tp / (oracle.n_positive + missed) if oracle.n_positive + missed else None
        figures = {"n_failed": n_failed, "n_positive": missed} | ({} if recall is None else {"recall": recall})
        yield MappingWarning(
            "failed_documents",
            f"{n_failed} documents without an answer are left out; `recall` counts their positives as missed",
            figures,
        )


def _oracle_warning(mapped: Sequence[_Mapped], oracle: ContractEvalScores) -> MappingWarning:
    routes = Counter(clause.oracle_route for document in mapped for clause in document.clauses)
    by_label = routes["label"] + routes["resembles"]
    figures = {
        "n_clauses": sum(routes.values()),
        "by_label_only": by_label,
        "by_trace": routes["trace"] + routes["trace and label"],
        "without_category": routes[""],
        "positives_answered": oracle.n_positive - int(oracle.categories["n_false_refused"].sum()),
    }
    return MappingWarning(
        "oracle_routing",
        f"clauses are given to categories by looking at the labels ({by_label} of {figures['n_clauses']} by nothing "
        "else): `no related clause` only means that nothing resembled a label, and the scores are an upper bound",
        figures,
    )


def _precision_warning(mapped: Sequence[_Mapped], oracle: ContractEvalScores) -> MappingWarning:
    tags = sum(document.n_tags for document in mapped)
    says = (
        f"{tags} trace entries name a category; only a clause they send to a category without labels can be a false "
        "positive, so precision measures the trace"
        if tags
        else "no trace entry names a category, so no category without labels can be answered: precision is 1 by "
        "construction"
    )
    return MappingWarning("structural_precision", says, {"n_tagged": tags, "fp": oracle.fp})


def _clause_frame(mapped: Sequence[_Mapped]) -> pd.DataFrame:
    import pandas as pd

    columns = ["document", "clause", "text", "oracle", "oracle_route", "label_free", "label_free_route"]
    return pd.DataFrame(
        [
            (
                *(document.document, index, clause.text),
                *("; ".join(clause.oracle), clause.oracle_route),
                *("; ".join(clause.label_free), clause.label_free_route),
            )
            for document in mapped
            for index, clause in enumerate(document.clauses)
        ],
        columns=columns,
    )
