"""Scoring a whole run: the deep function `score_run` and the `ScoredRun` everything downstream reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Protocol

from dojo_kit.errors import InputError, closest
from dojo_kit.records import ChainedRow, Documents, ExtractionRow, Labels, Problem, Row, Run, fingerprint
from dojo_kit.schema import DocumentClass, guess_field_type
from dojo_kit.scoring.answers import answers_digest
from dojo_kit.scoring.document import DocumentScore, SpansMode
from dojo_kit.scoring.embedding import Embedder
from dojo_kit.scoring.frames import COLUMNS, FRAME_NAMES, FrameName, make_frame, make_pairs
from dojo_kit.scoring.plan import Plan, Progress, Work, encode, plan_run, score_all
from dojo_kit.settings import Settings, iter_settings, resolve
from dojo_kit.text.names import document_key

if TYPE_CHECKING:
    import pandas as pd

    from dojo_kit.stats.intervals import Estimate

SCORER_VERSION = "1"
"""Raised whenever the same input would score differently; part of what makes two scored runs comparable."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a scored run came about. Its `comparable` part decides what may be compared.

    Attributes:
        scorer_version: Version of the scoring rules.
        settings: Hash of scoring settings and schema.
        spans: ``all`` or ``first``.
        embedder: Embedding model; ``none`` without.
        grounding: Whether items were checked against document texts.
        documents: Fingerprint of the texts used; ``none`` without.
        labels: Fingerprint of the labels of the scored documents.
        surface: Fingerprint of the set of documents in the run.
        doc_class: Document class scored.
        match_threshold: Similarity from which an item may match a label.
        rescue_below: String similarity below which an embedding may rescue a pair.
        pair_floor: Similarity below which label-item pairs are not kept.
        seed: Seed of every interval.
        n_resamples: Bootstrap replicates.
        confidence: Level of the intervals.
        package_version: Version of dojo_kit.
        run: Name, model, prompt version, task and source of the run, and the hash of its answers.
    """

    scorer_version: str
    settings: str
    spans: str
    embedder: str
    grounding: bool
    documents: str
    labels: str
    surface: str
    doc_class: str
    match_threshold: float
    rescue_below: float
    pair_floor: float
    seed: int
    n_resamples: int
    confidence: float
    package_version: str
    run: Mapping[str, str] = field(default_factory=dict)

    COMPARABLE = ("scorer_version", "settings", "spans", "embedder", "grounding", "labels", "surface")

    def as_dict(self) -> dict[str, Any]:
        """Return the recipe as JSON-ready values."""
        return asdict(self)

    def differences(self, other: Recipe) -> dict[str, tuple[Any, Any]]:
        """Return what keeps two recipes from being comparable: name -> both values."""
        pairs = ((name, getattr(self, name), getattr(other, name)) for name in self.COMPARABLE)
        return {name: (mine, theirs) for name, mine, theirs in pairs if mine != theirs}


class FrameSource(Protocol):
    """Where a scored run's frames come from: memory or a folder."""

    def frame(self, name: FrameName, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Return a frame, or only some of its columns."""
        ...


class InMemory:
    """Frames held in memory.

    Args:
        frames: Frame by name.
    """

    def __init__(self, frames: Mapping[FrameName, pd.DataFrame]) -> None:
        self._frames = frames

    def frame(self, name: FrameName, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Return a frame, or only some of its columns."""
        if name not in self._frames:
            raise InputError(f"unknown frame {name!r}{closest(name, FRAME_NAMES)}", expected=", ".join(FRAME_NAMES))
        unknown = [column for column in columns or () if column not in COLUMNS[name]]
        if unknown:
            known = ", ".join(COLUMNS[name])
            raise InputError(f"unknown column {unknown[0]!r}{closest(unknown[0], COLUMNS[name])}", expected=known)
        frame = self._frames[name]
        return frame if columns is None else frame[list(columns)]


@dataclass(frozen=True)
class ScoredRun:
    """A scored run: five tidy frames, how they came about, and what was wrong with the input.

    Columns of the frames are described in `dojo_kit.scoring.frames.COLUMNS`. Documents are in the order of
    their names, whatever the order of the run file.

    Attributes:
        source: Where the frames are.
        recipe: How they came about.
        problems: Wrong types in answers, documents without labels, and what the loaders reported.
    """

    source: FrameSource
    recipe: Recipe
    problems: tuple[Problem, ...] = ()

    def frame(self, name: FrameName, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Return a frame, or only some of its columns."""
        return self.source.frame(name, columns)

    @cached_property
    def documents(self) -> pd.DataFrame:
        """One row per document of the run."""
        return self.frame("documents")

    @cached_property
    def fields(self) -> pd.DataFrame:
        """One row per completed, labelled document and field."""
        return self.frame("fields")

    @cached_property
    def items(self) -> pd.DataFrame:
        """One row per predicted value."""
        return self.frame("items")

    @cached_property
    def spans(self) -> pd.DataFrame:
        """One row per label of a list field."""
        return self.frame("spans")

    @cached_property
    def pairs(self) -> pd.DataFrame:
        """Label by item pairs of list fields."""
        return self.frame("pairs")

    def __repr__(self) -> str:
        return f"ScoredRun({self.recipe.run.get('name', '')!r}, {len(self.documents)} documents)"

    @cached_property
    def failures(self) -> dict[str, int]:
        """Why documents failed: reason, cut to 100 characters, and how many; the most frequent first."""
        failed = self.documents.loc[self.documents["status"] == "failed", "error"]
        counted = failed.str.slice(0, 100).value_counts(sort=False)
        ranked = sorted(counted.items(), key=lambda pair: (-pair[1], str(pair[0])))
        return {str(reason): int(n) for reason, n in ranked}

    @cached_property
    def counts(self) -> dict[str, int]:
        """Documents in the run, scored, failed, and without labels."""
        status = self.documents["status"].value_counts()
        return {
            "n_documents": len(self.documents),
            "n_scored": int(status.get("scored", 0)),
            "n_failed": int(status.get("failed", 0)),
            "n_unmatched": int(status.get("no_labels", 0)),
            "n_nothing_expected": int(status.get("nothing_expected", 0)),
        }

    def metrics(self) -> dict[str, Estimate]:
        """Return every composite and per-field metric with its interval over documents."""
        from dojo_kit.scoring.metrics import extraction_metrics

        return extraction_metrics(self)


def score_run(
    run: Run,
    labels: Labels,
    documents: Documents | None = None,
    *,
    doc_class: str | None = None,
    spans: SpansMode = "all",
    embedder: Embedder | None = None,
    settings: Settings | None = None,
    executor: Executor | Callable[[], Executor] | None = None,
    progress: Progress | None = None,
) -> ScoredRun:
    """Score an extraction (or chained) run against labels.

    Args:
        run: The run.
        labels: Labels of its documents.
        documents: Texts by document name or key; with them every value is checked against its document.
        doc_class: Document class whose fields are scored; the labels' own by default.
        spans: Score against ``all`` labelled spans, or the ``first`` of each category.
        embedder: Gives texts whose words differ a second chance; every score by words alone is kept as well.
        settings: Settings; the current ones by default.
        executor: A PEP 3148 executor, or what makes one, to score chunks in; results do not depend on it.
        progress: Called with (documents done, documents in all).

    Raises:
        InputError: The run is of another kind, holds no answers, or shares no document with the labels.
    """
    _check_arguments(run, labels, documents, spans)
    settings = resolve(settings)
    rows = _extraction_rows(run)
    schema = _schema(labels, settings.document_class(doc_class or labels.doc_class))
    plan = plan_run(rows, labels, documents, schema)
    _require_overlap(run, labels, plan)
    _require_texts(documents, plan)
    work = Work(schema.fields, settings, spans)
    vectors = None if embedder is None else encode(plan.tasks, work, embedder)
    scores = [*plan.unscored, *score_all(plan.tasks, work, vectors, executor, progress, len(rows))]
    scores.sort(key=lambda score: document_order(score.document[0]))
    problems = [
        replace(p, source=run.source) for p in (*plan.problems, *(p for score in scores for p in score.problems))
    ]
    texts = None if documents is None else plan.texts
    recipe = _recipe(run, labels, schema, settings, spans, embedder, texts)
    given = (*run.problems, *labels.problems, *getattr(documents, "problems", ()))
    return ScoredRun(InMemory(_frames(scores)), recipe, (*given, *problems))


def _check_arguments(run: object, labels: object, documents: object, spans: object) -> None:
    if not isinstance(run, Run):
        raise InputError(f"run is a {type(run).__name__}", expected="a Run, as read_run gives it")
    if not isinstance(labels, Labels):
        raise InputError(f"labels is a {type(labels).__name__}", expected="Labels, as load_labels gives them")
    if documents is not None and not isinstance(documents, Mapping):
        raise InputError(f"documents is a {type(documents).__name__}", expected="texts by document name or key")
    if spans not in ("first", "all"):
        raise InputError(f"spans is {spans!r}", expected="'first' or 'all'")


def document_order(name: str) -> tuple[str, str]:
    """Sort key of documents: their key, then their name."""
    return document_key(name), name


def _extraction_rows(run: Run) -> list[tuple[Row, Any]]:
    if not run.rows:
        why = f"; {len(run.problems)} were refused, the first because: {run.problems[0]}" if run.problems else ""
        raise InputError(f"the run has no rows{why}", file=run.source, expected="at least one document")
    rows: list[tuple[Row, Any]] = [
        (row, _answer(row)) for row in run.rows if isinstance(row, ExtractionRow | ChainedRow)
    ]
    if len(rows) < len(run.rows):
        raise InputError(
            f"a run of task {run.meta.task!r} holds labels, not extracted fields",
            file=run.source,
            expected="an extraction or chained run",
        )
    if not any(row.failed or answer is not None for row, answer in rows):
        raise InputError(
            "no row stores what the model returned, so nothing can be scored again",
            file=run.source,
            field="predicted",
            expected="the model's answer in every completed row",
        )
    return rows


def _answer(row: ExtractionRow | ChainedRow) -> Any:
    """Return what is to be scored; in a chained row that is the extractor's answer, whatever the sorter did."""
    if isinstance(row, ChainedRow):
        return row.extracted
    return None if row.failed else row.predicted


def _schema(labels: Labels, declared: DocumentClass) -> DocumentClass:
    """Return the fields to score: the class's, and labelled ones it does not declare."""
    many = {name for document in labels.documents.values() for name, spans in document.fields.items() if len(spans) > 1}
    labelled = {name for document in labels.documents.values() for name in document.fields}
    extra = {
        name: guess_field_type(name, [] if name in many or name in labels.list_fields else None)
        for name in sorted(labelled - set(declared.fields))
    }
    fields = {**declared.fields, **extra} if labelled & set(declared.fields) else extra
    return DocumentClass(declared.key, declared.label, fields, declared.subclasses)


def _require_overlap(run: Run, labels: Labels, plan: Plan) -> None:
    unmatched = [score.document[0] for score in plan.unscored if score.document[1] == "no_labels"]
    if plan.tasks or not unmatched:
        return
    example = next(iter(labels.documents.values())).document if labels.documents else "none"
    raise InputError(
        f"none of the {len(unmatched)} documents with an answer has labels in {labels.source or 'the labels'}: "
        f"the run names {unmatched[0]!r}, the labels {example!r}",
        file=run.source,
        field="document",
        expected="names that agree but for case, punctuation and a .pdf or .txt ending",
    )


def _require_texts(documents: Documents | None, plan: Plan) -> None:
    if documents is None or plan.texts or not plan.tasks:
        return
    example = next(iter(documents), "none")
    raise InputError(
        f"none of the {len(documents)} texts has the name of a scored document: the run names "
        f"{plan.tasks[0].row.document!r}, the texts {example!r}",
        file=getattr(documents, "source", None),
        expected="names that agree but for case, punctuation and a .pdf or .txt ending",
    )


def _frames(scores: Sequence[DocumentScore]) -> dict[FrameName, pd.DataFrame]:
    frames = {"documents": make_frame("documents", [score.document for score in scores])}
    for name in FRAME_NAMES[1:-1]:
        frames[name] = make_frame(name, [row for score in scores for row in getattr(score, name)])
    frames["pairs"] = make_pairs([block for score in scores for block in score.pairs])
    return frames  # type: ignore[return-value]


def _recipe(
    run: Run,
    labels: Labels,
    schema: DocumentClass,
    settings: Settings,
    spans: SpansMode,
    embedder: Embedder | None,
    texts: Mapping[str, str] | None,
) -> Recipe:
    from dojo_kit._version import __version__

    keys = {document_key(row.document) for row in run.rows}
    used = Labels({key: value for key, value in labels.documents.items() if key in keys}, labels.doc_class)
    statistics = settings.statistics
    return Recipe(
        scorer_version=SCORER_VERSION,
        settings=_settings_hash(settings, schema),
        spans=spans,
        embedder="none" if embedder is None else embedder.name,
        grounding=texts is not None,
        documents="none"
        if texts is None
        else fingerprint(f"{key} {sha256(t.encode()).hexdigest()}" for key, t in texts.items()),
        labels=used.fingerprint,
        surface=fingerprint(keys),
        doc_class=schema.key,
        match_threshold=settings.field_scoring.match_threshold,
        rescue_below=settings.field_scoring.embedding_rescue_below,
        pair_floor=settings.field_scoring.pair_floor,
        seed=statistics.seed,
        n_resamples=statistics.n_resamples,
        confidence=statistics.confidence,
        package_version=__version__,
        run={
            "name": run.name,
            "model": run.meta.model,
            "prompt_version": run.meta.prompt_version,
            "task": run.meta.task,
            "source": run.source,
            "answers": answers_digest(run.rows),
        },
    )


def _settings_hash(settings: Settings, schema: DocumentClass) -> str:
    """Hash what decides scores; seeds, prices and chunk sizes do not."""
    scoring = [f"{name}={value}" for name, value in iter_settings(settings) if name.startswith("field_scoring.")]
    fields = [f"{name}:{type}" for name, type in schema.fields.items()]
    return sha256("\n".join([*scoring, *fields]).encode()).hexdigest()[:16]
