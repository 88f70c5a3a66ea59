"""``dojo report`` on runs whose rows say what is right: labels, and answers to ContractEval's questions."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dojo_kit import formats
from dojo_kit.cli.inputs import OnError
from dojo_kit.cli.output import err, out, report_problems, shown
from dojo_kit.cli.score_labels import LABELS_WANTED, LabelOptions, read_rows, run_recipe, scored_labels
from dojo_kit.errors import InputError

if TYPE_CHECKING:
    from dojo_kit.records import Run
    from dojo_kit.report import Report
    from dojo_kit.settings import Settings
    from dojo_kit.tasks.scores import TaskScores


def report_rows(
    sources: Sequence[str],
    target: Path,
    beside: Mapping[str, str | None],
    settings: Settings,
    options: LabelOptions,
    on_error: OnError,
    *,
    given: tuple[Sequence[str] | None, str | None],
) -> None:
    """Write the page of runs that need no labels beside them.

    Args:
        sources: Run files.
        target: HTML file to write.
        beside: Options of extractions and their values.
        settings: Seed, replicates and level of the intervals.
        options: The task to score as.
        on_error: What a faulty row does.
        given: ``--set`` and ``--config``, for the command that makes the page again.

    Raises:
        InputError: A run is an extraction, runs are of different kinds, or an option does not apply.
    """
    from dojo_kit.records import ExtractionRow, QuestionRow

    runs = [read_rows(source, options, on_error) for source in sources]
    for source, run in zip(sources, runs, strict=True):
        if isinstance(run.rows[0], ExtractionRow):
            message = "an extraction run is scored against labels"
            raise InputError(message, file=source, field="--labels", expected=LABELS_WANTED)
    unused = [name for name, value in beside.items() if value is not None]
    if unused:
        message = f"{', '.join(unused)}: rows of task {runs[0].meta.task!r} say themselves what is right"
        raise InputError(message, file=sources[0], expected="no such option")
    questions = [isinstance(run.rows[0], QuestionRow) for run in runs]
    if any(questions) and len(runs) > 1:
        raise InputError(f"{len(runs)} runs, answers to questions among them", expected="one such run for a page")
    changes, config = given
    words = ["dojo", "report", *sources, *([] if options.task is None else ["--task", options.task])]
    words += [] if options.questions is None else ["--labels", options.questions]
    for name in ("expected", "predicted", "positive"):
        words += [] if getattr(options, name) is None else [f"--{name}", getattr(options, name)]
    words += [word for label in options.valid or () for word in ("--valid", label)]
    words += [word for change in changes or () for word in ("--set", change)]
    words += [] if config is None else ["--config", config]
    command = shlex.join([*words, "--out", str(target)])
    with err.status("putting the page together"):
        if questions[0]:
            page = _answers_page(runs[0], settings, command)
        else:
            page = _labels_page(sources, runs, settings, options, command)
        path = page.save(target)
    size, n_rows = path.stat().st_size, formats.count(len(runs[0]), "row")
    out.print(f"report: {shown(path)} ({size / 1e6:.2f} MB, {n_rows}, opens offline)", soft_wrap=True)


def _about(run: Run) -> str:
    return f"model {run.meta.model or 'unknown'}, prompt {run.meta.prompt_version or 'unknown'}"


def _labels_page(
    sources: Sequence[str], runs: Sequence[Run], settings: Settings, options: LabelOptions, command: str
) -> Report:
    from dojo_widgets.label_findings import label_findings_page

    scored: dict[str, TaskScores] = {}
    about: dict[str, str] = {}
    for source, run in zip(sources, runs, strict=True):
        name = run.name if run.name not in scored else f"{run.name} ({source}, {len(scored) + 1})"
        scored[name], about[name] = scored_labels(run, options, settings), _about(run)
    return label_findings_page(scored, about=about, recipe=run_recipe(runs[0], settings), command=command)


def _answers_page(run: Run, settings: Settings, command: str) -> Report:
    from dojo_kit.records import QuestionRow
    from dojo_kit.tasks.contracteval import score_contracteval
    from dojo_widgets.contracteval_findings import contracteval_page

    report_problems(run.problems)
    paper, corrected = (score_contracteval(run, mode=mode, settings=settings) for mode in ("paper", "corrected"))
    recipe = run_recipe(run, settings)
    answers = [row for row in run.rows if isinstance(row, QuestionRow)]
    return contracteval_page(
        run.name, paper, corrected, answers=answers, about=_about(run), recipe=recipe, command=command
    )
