"""What of a run can be scored, and scoring it: in one process or many, with vectors made beforehand.

Scoring has three steps: the words of all documents tell which texts need a vector, those are encoded once, and the
documents are scored. Chunks are of fixed size and scored alike wherever they are scored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, as_completed
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from dojo_kit.errors import InputError, closest
from dojo_kit.records import DocumentLabels, Documents, Labels, Problem, Row
from dojo_kit.schema import META_KEYS, DocumentClass, FieldType
from dojo_kit.scoring.document import DocumentScore, SpansMode, score_document, texts_to_embed
from dojo_kit.scoring.embedding import Embedder, quantise
from dojo_kit.scoring.evidence import Evidence, Vectors
from dojo_kit.settings import Settings
from dojo_kit.text.names import document_key
from dojo_kit.text.tokens import is_no_value

CHUNK = 64
"""Documents scored per task of an executor."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Task:
    """A document to score.

    Attributes:
        row: Its row in the run.
        predicted: The model's answer.
        labels: What is expected.
        text: The document; None when it was not given.
    """

    row: Row
    predicted: Any
    labels: DocumentLabels
    text: str | None


@dataclass(frozen=True, slots=True)
class Plan:
    """What of a run can be scored.

    Attributes:
        tasks: Documents to score.
        unscored: Rows of the documents frame for those that cannot be.
        problems: Why, and what else looks wrong about the run as a whole.
    """

    tasks: list[Task]
    unscored: list[DocumentScore]
    problems: list[Problem]

    @property
    def texts(self) -> dict[str, str]:
        """Texts of the documents to score, by key."""
        return {document_key(task.row.document): task.text for task in self.tasks if task.text is not None}


@dataclass(frozen=True, slots=True)
class Work:
    """How documents are scored; sent to workers.

    Attributes:
        types: Field name -> type.
        settings: Settings.
        spans: Spans mode.
    """

    types: Mapping[str, FieldType]
    settings: Settings
    spans: SpansMode

    def score(self, tasks: Sequence[Task], vectors: Vectors | None) -> list[DocumentScore]:
        """Score some documents."""
        return [
            score_document(
                task.predicted,
                task.labels,
                self.types,
                document=task.row.document,
                settings=self.settings,
                spans=self.spans,
                evidence=Evidence(self.settings, text=task.text, vectors=vectors),
                how_run=how_run(task.row),
            )
            for task in tasks
        ]

    def texts(self, task: Task) -> set[str]:
        """Return the texts of one document that need a vector."""
        return texts_to_embed(task.predicted, task.labels, self.types, settings=self.settings, spans=self.spans)


def plan_run(
    rows: Sequence[tuple[Row, Any]],
    labels: Labels,
    documents: Documents | None,
    schema: DocumentClass,
) -> Plan:
    """Split rows into what can be scored, and the documents that cannot.

    Args:
        rows: Rows with their answers; None for an answer that failed.
        labels: Labels.
        documents: Texts by document key; a plain dict may name documents as the run does.
        schema: Fields to score.

    Raises:
        InputError: Two rows are of one document.
    """
    plan = Plan([], [], [])
    if isinstance(documents, dict):
        documents = {document_key(name): text for name, text in documents.items()}
    seen: dict[str, str] = {}
    for row, answer in rows:
        key = document_key(row.document)
        if key in seen:
            twice = f"two rows for one document: {seen[key]!r} and {row.document!r}"
            raise InputError(twice, expected="one row per document")
        seen[key] = row.document
        expected = labels.documents.get(key)
        if answer is None:
            n_fields = 0 if expected is None else _n_expected(expected, schema)
            plan.unscored.append(_unscored(row, "failed", n_fields, row.error or "no answer stored"))
        elif expected is None:
            plan.unscored.append(_unscored(row, "no_labels", 0, None))
            source = labels.source or "the labels"
            plan.problems.append(
                Problem("no labels for this document", document=row.document, expected=f"a label in {source}")
            )
        else:
            text = None if documents is None else documents.get(key)
            if documents is not None and text is None:
                plan.problems.append(
                    Problem("no text for this document", document=row.document, expected="a text of this name")
                )
            plan.tasks.append(Task(row, answer, expected, text))
    plan.problems.extend(_unknown_fields(plan.tasks, schema))
    return plan


def _n_expected(labels: DocumentLabels, schema: DocumentClass) -> int:
    """Count the fields a document has labels for."""
    return sum(
        any(not is_no_value(span.text) for span in spans)
        for name, spans in labels.fields.items()
        if name in schema.fields
    )


def _unscored(row: Row, status: str, n_fields: int, error: str | None) -> DocumentScore:
    nothing = (None,) * 6
    return DocumentScore((row.document, status, *nothing, n_fields, error, *how_run(row)))


def how_run(row: Row) -> tuple[int | None, bool | None, int | None]:
    """Return the tokens a row's calls used, whether the document was cut, and into how many chunks, where known."""
    used = None if row.usage is None else row.usage.total_tokens
    chunked, n_chunks = row.stored.get("chunked"), row.stored.get("n_chunks")
    is_count = isinstance(n_chunks, int) and not isinstance(n_chunks, bool)
    return used, chunked if isinstance(chunked, bool) else None, n_chunks if is_count else None


def _unknown_fields(tasks: Sequence[Task], schema: DocumentClass) -> Iterator[Problem]:
    """Name fields of answers that nothing is compared with, and labelled fields that no answer holds."""
    answered: Counter[str] = Counter()
    for task in tasks:
        if isinstance(task.predicted, Mapping):
            answered.update(str(key) for key in task.predicted if key not in META_KEYS)
    labelled = {name for task in tasks for name in task.labels.fields if name in schema.fields}
    for name, n in sorted(answered.items()):
        if name not in schema.fields:
            yield Problem(
                f"{n} answers hold a field that is not scored{closest(name, schema.fields)}",
                field=name,
                expected=f"a field of class {schema.key!r} or of the labels",
            )
    for name in sorted(labelled - set(answered)):
        near = closest(name, [key for key in answered if key not in schema.fields])
        yield Problem(f"no answer holds this labelled field{near}", field=name, expected="a field of this name")


def encode(tasks: Sequence[Task], work: Work, embedder: Embedder) -> Vectors:
    """Make the vectors of all texts that words alone do not settle.

    Args:
        tasks: Documents to score.
        work: How they are scored.
        embedder: Makes vectors.
    """
    texts = sorted(set().union(*(work.texts(task) for task in tasks)))
    return dict(zip(texts, quantise(embedder.encode(texts)), strict=True)) if texts else {}


def score_all(
    tasks: Sequence[Task],
    work: Work,
    vectors: Vectors | None,
    executor: Executor | Callable[[], Executor] | None,
    progress: Progress | None,
    total: int,
) -> Iterator[DocumentScore]:
    """Score all tasks, in the order they finish.

    Args:
        tasks: Documents to score.
        work: How they are scored.
        vectors: Vectors by text.
        executor: An executor, or what makes one; None scores here.
        progress: Called with (documents done, documents in all).
        total: Documents in all, those without a task included.
    """
    done = total - len(tasks)
    chunks = [tasks[start : start + CHUNK] for start in range(0, len(tasks), CHUNK)]
    if progress:
        progress(done, total)
    if executor is None:
        yield from _report((work.score(chunk, vectors) for chunk in chunks), done, total, progress)
        return
    with nullcontext(executor) if isinstance(executor, Executor) else executor() as pool:
        futures = [pool.submit(work.score, chunk, _vectors_of(chunk, work, vectors)) for chunk in chunks]
        yield from _report((future.result() for future in as_completed(futures)), done, total, progress)


def _vectors_of(chunk: Sequence[Task], work: Work, vectors: Vectors | None) -> Vectors | None:
    if vectors is None:
        return None
    return {text: vectors[text] for task in chunk for text in work.texts(task)}


def _report(
    results: Iterable[list[DocumentScore]], done: int, total: int, progress: Progress | None
) -> Iterator[DocumentScore]:
    for scores in results:
        done += len(scores)
        if progress:
            progress(done, total)
        yield from scores
