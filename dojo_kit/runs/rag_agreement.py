"""Agreement of the annotators of an export: every task and system of it, in one report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from dojo_kit._version import __version__
from dojo_kit.errors import InputError, SettingsError
from dojo_kit.rag.agreement import Agreement, annotator_agreement, check_known
from dojo_kit.rag.cells import id_texts
from dojo_kit.rag.faults import LabelsError
from dojo_kit.rag.tasks import ANNOTATOR, SYSTEM, TASK_NAMES, TaskName, task_named
from dojo_kit.records import Problem
from dojo_kit.runs.rag_files import LabelTable, read_label_table
from dojo_kit.runs.rag_scores import check_free, write_whole
from dojo_kit.runs.rag_selectors import export_folder, find_labels, lies_within, parse_time, workspace
from dojo_kit.runs.sources import PathLike
from dojo_kit.storage import to_json

REPORT = Path("iaa", "report.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementOptions:
    """Which rows count, and how intervals are drawn.

    Attributes:
        system: Only this system; all by default, each by itself.
        run: Only this run, needed when there are several.
        exclude_annotators: Annotators left out.
        after: Time from which rows count, itself included.
        before: Time up to which rows count, itself included.
        n_resamples: Resamples of every interval.
        seed: Their seed.
        ci: Confidence level.
    """

    system: str | None = None
    run: str | None = None
    exclude_annotators: tuple[str, ...] = ()
    after: datetime | None = None
    before: datetime | None = None
    n_resamples: int = 2000
    seed: int = 42
    ci: float = 0.95


@dataclass(frozen=True, eq=False)
class ExportAgreement:
    """Agreement of the annotators of an export.

    Attributes:
        export_id: The export.
        found: Task, system (None where the file names none) and agreement.
        hashes: Task -> hash of its file.
        skipped: Tasks and systems without anything to measure, and why.
        options: Which rows counted.
    """

    export_id: str
    found: tuple[tuple[TaskName, str | None, Agreement], ...]
    hashes: dict[TaskName, str]
    skipped: tuple[Problem, ...]
    options: AgreementOptions

    def as_dict(self, *, created_at: str) -> dict[str, Any]:
        """Return the report as JSON-ready values.

        Args:
            created_at: The time, ISO 8601.
        """
        return {
            "export_id": self.export_id,
            "created_at": created_at,
            "tasks": [{"system": system, **agreement.as_dict()} for _, system, agreement in self.found],
            "n_bootstrap_resamples": self.options.n_resamples,
            "ci_level": self.options.ci,
            "seed": self.options.seed,
            "run": self.options.run,
            "after": None if self.options.after is None else self.options.after.isoformat(),
            "before": None if self.options.before is None else self.options.before.isoformat(),
            "excluded_annotators": list(self.options.exclude_annotators),
            "version": __version__,
            "input_sha256": dict(self.hashes),
            "skipped": [str(problem) for problem in self.skipped],
        }


def time_limit(text: str | None, *, option: str, end_of_day: bool = False) -> datetime | None:
    """Read a time limit; a date alone is its first moment, or its last.

    Raises:
        SettingsError: It is no time.

    Examples:
        >>> time_limit("2026-05-04", option="before", end_of_day=True).isoformat()
        '2026-05-04T23:59:59.999999+00:00'
    """
    if text is None:
        return None
    found = parse_time(text, end_of_day=end_of_day)
    if found is None:
        raise SettingsError(f"{option} must be a date or a date and time, such as 2026-05-04, not {text!r:.60}")
    return found


def agreement_of_export(
    export_id: str,
    *,
    tasks: Sequence[TaskName] = (),
    base_dir: PathLike = ".",
    options: AgreementOptions | None = None,
) -> ExportAgreement:
    """Measure how far the annotators of an export agree.

    Args:
        export_id: The export.
        tasks: The tasks; those that the export has by default.
        base_dir: The workspace.
        options: Which rows count, and how intervals are drawn.

    Raises:
        SettingsError: The id is no name of a folder, or a task unknown.
        LabelsError: A file breaks the contract.
        InputError: There is no such export, a task that was asked for has no file, an annotator to leave out is in none
            of them, or nothing can be measured.
    """
    options = options or AgreementOptions()
    folder = export_folder(export_id, base_dir=base_dir)
    wanted = [task_named(task).name for task in tasks] or [task for task in TASK_NAMES if _has(folder, task)]
    if not wanted:
        raise InputError("the export has no labels", file=folder, expected=f"one of {', '.join(TASK_NAMES)} as CSV")
    tables = {
        task: read_label_table(find_labels(task, export_id=export_id, base_dir=base_dir).path, task) for task in wanted
    }
    people = {task: _annotators(table) for task, table in tables.items()}
    check_known(options.exclude_annotators, set().union(*people.values()), source=str(folder))
    found: list[tuple[TaskName, str | None, Agreement]] = []
    skipped: list[Problem] = []
    for task, table in tables.items():
        excluded = tuple(name for name in options.exclude_annotators if name in people[task])
        for system in _systems(table, options.system):
            try:
                found.append(
                    (task, system, _measured(table, task, system, replace(options, exclude_annotators=excluded)))
                )
            except LabelsError:
                raise
            except InputError as error:
                of = f"{task} of {system}" if system else task
                message = f"{of}: {error.message}"
                skipped.append(Problem(message, error.file or "", error.line, None, error.field, error.expected))
    if not found:
        first, more = skipped[0], len(skipped) - 1
        also = f" (and {more} more)" if more else ""
        raise InputError(
            f"nothing to measure: {first.message}{also}", file=folder, field=first.field, expected=first.expected
        )
    hashes = {task: table.sha256 for task, table in tables.items()}
    return ExportAgreement(export_id, tuple(found), hashes, tuple(skipped), options)


def _has(folder: Path, task: TaskName) -> bool:
    return any((folder / f"{task}{ending}").is_file() for ending in (".csv", ".parquet"))


def _systems(table: LabelTable, wanted: str | None) -> list[str | None]:
    if wanted is not None or SYSTEM not in table.frame:
        return [wanted]
    return [*sorted({name for name in id_texts(table.frame[SYSTEM]) if name.strip()})] or [None]


def _annotators(table: LabelTable) -> set[str]:
    return set(id_texts(table.frame[ANNOTATOR])) if ANNOTATOR in table.frame else set()


def _measured(table: LabelTable, task: TaskName, system: str | None, options: AgreementOptions) -> Agreement:
    return annotator_agreement(
        table.frame,
        task,
        system=system,
        run=options.run,
        exclude_annotators=options.exclude_annotators,
        after=options.after,
        before=options.before,
        n_resamples=options.n_resamples,
        seed=options.seed,
        confidence=options.ci,
        source=table.source,
    )


def report_file(export_id: str, *, base_dir: PathLike = ".", force: bool = False) -> Path:
    """Return where the report of an export lies, before anything is computed for it.

    Raises:
        SettingsError: The id is no name of a folder.
        InputError: There is no such export, or its report is there and must not be replaced.
    """
    file = export_folder(export_id, base_dir=base_dir) / REPORT
    if not lies_within(file, workspace(base_dir)):
        raise InputError("leads out of the workspace through a link", file=file, expected="a file of the workspace")
    check_free(file, force=force)
    return file


def write_report(report: dict[str, Any], file: Path) -> None:
    """Write a report, whole or not at all.

    Raises:
        InputError: The file cannot be written.
    """
    write_whole({file: to_json(report)})
