"""Runs as commands that compare them need them: read, scored alike, measured document by document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
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
        mixed: Whether runs of labels may be among runs of extractions, which alone are scored against the labels.
        problems: What was wrong with the input so far.
    """

    labels: str | None
    documents: str | None
    spans: Spans
    embedder: str | None
    doc_class: str | None
    settings: Settings
    on_error: OnError
    mixed: bool = False
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
        if self.mixed:
            return measure(run, settings=self.settings)
        message = f"rows of task {run.meta.task!r} say themselves what is right"
        raise InputError(message, file=run.source or None, field="--labels", expected="no such option")

    def read_all(
        self, sources: Sequence[str], progress: Progress | None = None, *, whole_logs: bool = True
    ) -> list[Measured]:
        """Read and measure runs.

        When problems are collected, a run that cannot be used is one of them, as long as another one can.

        Args:
            sources: Files.
            progress: Called with files done and all files.
            whole_logs: Take every run of an experiment log; else a log must name one, and every run is needed.

        Raises:
            InputError: A run cannot be used, or none can.
        """
        if self.labels is not None:
            self._load()
        measured: list[Measured] = []
        refused: list[InputError] = []
        for number, source in enumerate(sources, start=1):
            try:
                found = self._runs(source, whole_logs)
            except InputError as error:
                refused.append(self._refused(error, source, n_runs=len(sources), needed=not whole_logs))
                found = []
            for run in found:
                try:
                    measured.append(self.measure(run))
                except InputError as error:
                    n_runs = max(len(found), len(sources))
                    refused.append(self._refused(error, source, n_runs=n_runs, needed=not whole_logs))
            if progress:
                progress(number, len(sources))
        if refused and not measured:
            raise refused[0]
        return measured

    def _refused(self, error: InputError, source: str, *, n_runs: int, needed: bool) -> InputError:
        """Note that a run cannot be used, when problems are collected and others may do.

        Raises:
            InputError: The run is needed, or problems are not collected.
        """
        if needed:
            raise error
        if self.on_error is OnError.stop:
            raise with_hint(error) if n_runs > 1 else error
        self.problems.append(problem_of(error, source))
        return error

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


def problem_of(error: InputError, source: str) -> Problem:
    """Return the problem that a run which cannot be used is."""
    return Problem(error.message, error.file or source, error.line, None, error.field, error.expected)


def with_hint(error: InputError) -> InputError:
    """Return an error about one of several runs that says how to go on without it."""
    return InputError(
        f"{error.message} (--on-error collect leaves out runs that cannot be used)",
        file=error.file,
        line=error.line,
        field=error.field,
        expected=error.expected,
    )


def refuse_inputs(target: str | Path | None, inputs: Iterable[str | None], *, option: str = "--out") -> None:
    """Refuse to write over a file that was read.

    Args:
        target: File to be written.
        inputs: What is read: files, runs of a log, folders, labels with the name of their layout before them.
        option: Option or argument that names the target.

    Raises:
        InputError: The target is one of the inputs, or lies in one that is a folder.
    """
    if target is None or not Path(target).expanduser().is_file():
        return
    path = Path(target).expanduser()
    for given in filter(None, inputs):
        for word in (
            given,
            given.partition(":")[2],
            given.rpartition("#")[0],
            given.partition(":")[2].rpartition("#")[0],
        ):
            source = Path(word).expanduser() if word else None
            if source is None or not source.exists():
                continue
            within = source.is_dir() and path.suffix != ".html" and path.resolve().is_relative_to(source.resolve())
            if within or path.samefile(source):
                message = f"{str(target)!r} is an input of this command and would be overwritten"
                raise InputError(message, field=option, expected="another file to write")


def _is_noise(source: str) -> bool:
    """Tell a noise file from a run by the mark that stands in it."""
    from dojo_kit.analysis.noise.tables import FORMAT

    path = Path(source).expanduser()
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return FORMAT.encode() in file.read(_MARKED_WITHIN)
