"""Runs as commands that compare them need them: read, scored alike, measured document by document."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from dojo_kit.cli.inputs import OnError, Spans
from dojo_kit.errors import InputError
from dojo_kit.records import ChainedRow, ExtractionRow, Problem, Run

if TYPE_CHECKING:
    from dojo_kit.analysis.measured import Measured
    from dojo_kit.analysis.noise import NoiseFloor
    from dojo_kit.records import Documents, Labels
    from dojo_kit.scoring.embedding import Embedder
    from dojo_kit.scoring.run import ScoredRun
    from dojo_kit.settings import Settings

_MARKED_WITHIN = 65_536

Progress = Callable[[int, int], None]


@dataclass
class Measuring:
    """Measures runs, all in one way; labels, texts and embedder are loaded once.

    Attributes:
        labels: Labels of extractions; without them stored scores count.
        documents: Texts of the documents.
        spans: Which labelled spans count.
        embedder: Name of the embedder; by default what the settings say.
        doc_class: Document class.
        settings: The settings.
        on_error: What a faulty row does.
        problems: What was wrong with the input so far.
    """

    labels: str | None
    documents: str | None
    spans: Spans
    embedder: str | None
    doc_class: str | None
    settings: Settings
    on_error: OnError
    problems: list[Problem] = field(default_factory=list)

    def __post_init__(self) -> None:
        beside = {"--documents": self.documents, "--embedder": self.embedder, "--class": self.doc_class}
        given = [option for option, value in beside.items() if value is not None]
        if given and self.labels is None:
            message = f"{', '.join(given)}: stored scores are compared as they are"
            raise InputError(message, field="--labels", expected="labels to score the runs against")
        self._loaded: tuple[Labels, Documents | None, Embedder | None] | None = None

    def measure(self, run: Run) -> Measured:
        """Measure one run.

        Raises:
            InputError: The run cannot be scored, or labels were given for a run that has its own.
        """
        from dojo_kit.analysis.measured import measure
        from dojo_kit.tasks.score import score_task_run

        self.problems += run.problems
        first = run.rows[0] if run.rows else None
        if self.labels is None:
            return measure(run, settings=self.settings)
        if isinstance(first, ChainedRow):
            extraction = self._scored(run)
            return measure(score_task_run(run, extraction=extraction, settings=self.settings), run=run)
        if first is None or isinstance(first, ExtractionRow):
            return measure(self._scored(run), run=run)
        message = f"rows of task {run.meta.task!r} say themselves what is right"
        raise InputError(message, file=run.source or None, field="--labels", expected="no such option")

    def read_all(
        self, sources: Sequence[str], progress: Progress | None = None, *, whole_logs: bool = True
    ) -> list[Measured]:
        """Read and measure runs.

        Args:
            sources: Files.
            progress: Called with files done and all files.
            whole_logs: Take every run of an experiment log; else a log must name one.
        """
        measured = []
        for number, source in enumerate(sources, start=1):
            measured += [self.measure(run) for run in self._runs(source, whole_logs)]
            if progress:
                progress(number, len(sources))
        return measured

    def noise_floor(self, sources: Sequence[str]) -> NoiseFloor | None:
        """Read a noise file, or measure rerun noise from runs; None without any source.

        Raises:
            InputError: Several noise files, or a noise file among runs.
        """
        from dojo_kit.analysis.noise import noise_floor
        from dojo_kit.runs.noise_files import read_noise

        if not sources:
            return None
        files = [source for source in sources if _is_noise(source)]
        if not files:
            return noise_floor(self.read_all(sources), settings=self.settings)
        if len(sources) > 1:
            raise InputError("a noise file stands alone", field="--noise", expected="one noise file, or run files")
        return read_noise(files[0])

    def _runs(self, source: str, whole_logs: bool) -> list[Run]:
        from dojo_kit.runs import read_records, read_run, run_from_record

        if not whole_logs:
            return [read_run(source, on_error=self.on_error.value)]
        try:
            records = read_records(source, on_error=self.on_error.value)
        except InputError:
            return [read_run(source, on_error=self.on_error.value)]
        return [run_from_record(record, source=name, on_error=self.on_error.value) for name, record in records]

    def _scored(self, run: Run) -> ScoredRun:
        from dojo_kit.scoring.run import score_run

        labels, texts, embedder = self._load()
        scored = score_run(
            run,
            labels,
            texts,
            doc_class=self.doc_class,
            spans=self.spans.value,
            embedder=embedder,
            settings=self.settings,
        )
        self.problems += [problem for problem in scored.problems if problem not in self.problems]
        return scored

    def _load(self) -> tuple[Labels, Documents | None, Embedder | None]:
        if self._loaded is None:
            from dojo_kit.embedders import load_embedder
            from dojo_kit.runs import load_documents, load_labels

            settings = self.settings
            by_setting = settings.embedding.model if settings.field_scoring.embedding_enabled else "none"
            chosen = by_setting if self.embedder is None else self.embedder
            of_class = {} if self.doc_class is None else {"doc_class": self.doc_class}
            self._loaded = (
                load_labels(self.labels or "", on_error=self.on_error.value, **of_class),
                None if self.documents is None else load_documents(self.documents, on_error=self.on_error.value),
                load_embedder(chosen, settings=settings),
            )
        return self._loaded


def _is_noise(source: str) -> bool:
    """Tell a noise file from a run by the mark that stands in it."""
    from dojo_kit.analysis.noise.tables import FORMAT

    path = Path(source).expanduser()
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return FORMAT.encode() in file.read(_MARKED_WITHIN)
