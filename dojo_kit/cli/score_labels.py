"""Scores of runs that hold labels or answers to questions, as ``dojo score`` prints them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from textwrap import shorten
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dojo_kit import formats
from dojo_kit.cli.output import Column, build_table, estimates_table, out, report_problems, shown
from dojo_kit.errors import InputError
from dojo_kit.stats.intervals import SCOPE

if TYPE_CHECKING:
    import pandas as pd

    from dojo_kit.cli.inputs import OnError
    from dojo_kit.records import Run
    from dojo_kit.scoring.run import ScoredRun
    from dojo_kit.settings import Settings
    from dojo_kit.tasks.scores import TaskScores

LABELS_WANTED = (
    "a CUAD folder, master_clauses.csv or JSONL; of labels in the file itself, --expected COL --predicted COL"
)
"""What is asked for where a file without labels was taken for an extraction."""

SHOWN_CONFUSIONS = 10
SHOWN_REASONS = 3
SHOWN_REASON_CHARS = 160

OptionalLabelsOption = Annotated[
    str | None,
    typer.Option(
        "--labels",
        help="Labels of an extraction: CUAD folder, master_clauses.csv, CUAD_v1.json or JSONL; cuad:PATH, jsonl:PATH. "
        "Questions that answers belong to: maud:PATH, legalbench:PATH.",
    ),
]
TaskOption = Annotated[
    str | None, typer.Option("--task", help="Task to score it as, e.g. subtype; by default what the file says.")
]
ExpectedOption = Annotated[str | None, typer.Option("--expected", metavar="COL", help="Column with the true label.")]
PredictedOption = Annotated[str | None, typer.Option("--predicted", metavar="COL", help="Column with the answer.")]
ValidOption = Annotated[
    list[str] | None,
    typer.Option(
        "--valid", metavar="LABELS", help="Labels an answer may have: separated by commas, or one each, repeated."
    ),
]
PositiveOption = Annotated[
    str | None, typer.Option("--positive", metavar="LABEL", help="Label taken as positive in a binary view.")
]


@dataclass(frozen=True, slots=True)
class LabelOptions:
    """What the command line says about labels.

    Attributes:
        task: Task to score as.
        expected: Column with the true label.
        predicted: Column with the answer.
        valid: Labels an answer may have.
        positive: Positive label.
        questions: Questions the answers belong to, ``maud:PATH`` or ``legalbench:PATH``.
    """

    task: str | None = None
    expected: str | None = None
    predicted: str | None = None
    valid: tuple[str, ...] | None = None
    positive: str | None = None
    questions: str | None = None

    @property
    def given(self) -> list[str]:
        """Options about labels in rows that were used, by name."""
        return [f"--{name}" for name, value in asdict(self).items() if value is not None and name != "questions"]


def label_options(
    task: str | None,
    expected: str | None = None,
    predicted: str | None = None,
    valid: list[str] | None = None,
    positive: str | None = None,
    questions: str | None = None,
) -> LabelOptions:
    """Check and gather the options about labels.

    Raises:
        InputError: Only one of two columns is named, columns stand beside questions, or the task is unknown.

    Examples:
        >>> label_options("subtype", valid=["ip, license"]).valid
        ('ip', 'license')
    """
    if (expected is None) != (predicted is None):
        missing = "--predicted" if predicted is None else "--expected"
        raise InputError("only one of two columns is named", field=missing, expected="--expected and --predicted")
    if expected is not None and questions is not None:
        raise InputError(f"{questions} says what is right", field="--expected", expected="no such option")
    if task is not None:
        from dojo_kit.runs.typed_rows import row_kind
        from dojo_kit.tasks.table import task_record

        if row_kind(task) != "extraction":
            task_record(task, strict=True)
    split = valid[0].split(",") if valid and len(valid) == 1 else valid
    labels = None if split is None else tuple(label.strip() for label in split if label.strip())
    if labels == ():
        raise InputError("names no label", field="--valid", expected="labels separated by commas")
    return LabelOptions(task, expected, predicted, labels, positive, questions)


_QUESTION_SETS = ("maud", "legalbench")


def asks_questions(labels: str | None) -> bool:
    """Tell whether ``--labels`` names questions of a benchmark, which a file of answers belongs to.

    Examples:
        >>> asks_questions("maud:MAUD_test.csv"), asks_questions("cuad:CUAD_v1")
        (True, False)
    """
    return labels is not None and labels.partition(":")[0] in _QUESTION_SETS


def _answers_to(questions: str, path: str, on_error: OnError) -> Run:
    """Read a file of answers to the questions of a benchmark."""
    from dojo_kit.runs import answered_questions, load_legalbench, load_maud

    kind, _, place = questions.partition(":")
    load = load_maud if kind == "maud" else load_legalbench
    asked = load(place, on_error=on_error.value)
    return answered_questions(asked, path, on_error=on_error.value)


def read_rows(path: str, options: LabelOptions, on_error: OnError) -> Run:
    """Read a run of any task.

    Args:
        path: The file.
        options: What the command line says about it.
        on_error: What a faulty row does.

    Raises:
        InputError: The file is no run, or of another task than asked for.
    """
    from dojo_kit.runs import read_label_columns, read_run
    from dojo_kit.runs.typed_rows import PLAIN_LABEL_TASK

    if options.questions is not None:
        return _answers_to(options.questions, path, on_error)
    if options.expected is not None and options.predicted is not None:
        return read_label_columns(
            path,
            expected=options.expected,
            predicted=options.predicted,
            task=options.task or PLAIN_LABEL_TASK,
            on_error=on_error.value,
        )
    return read_run(path, on_error=on_error.value, task=options.task)


def scored_labels(
    run: Run, options: LabelOptions, settings: Settings, *, extraction: ScoredRun | None = None
) -> TaskScores:
    """Score the labels of a run as the command line says; what was odd about the input goes to standard error.

    Args:
        run: The run.
        options: What the command line says about labels.
        settings: Seed, replicates and level of the intervals.
        extraction: For a chained run, its extraction scored against labels.
    """
    from dojo_kit.tasks.score import score_task_run

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="unknown task")  # it is among the problems
        scores = score_task_run(
            run,
            task=options.task,
            valid=options.valid,
            positive=options.positive,
            extraction=extraction,
            settings=settings,
        )
    report_problems(scores.problems)
    return scores


def run_recipe(run: Run, settings: Settings) -> dict[str, Any]:
    """Return how scores without labels of their own came about."""
    from dojo_kit._version import __version__

    statistics = settings.statistics
    return {
        "run": {
            "name": run.name,
            "model": run.meta.model,
            "prompt_version": run.meta.prompt_version,
            "task": run.meta.task,
            "source": run.source,
        },
        "surface": run.fingerprint,
        "seed": statistics.seed,
        "n_resamples": statistics.n_resamples,
        "confidence": statistics.confidence,
        "package_version": __version__,
    }


def labels_as_dict(run: Run, scores: TaskScores) -> dict[str, Any]:
    """Return everything ``dojo score --json`` prints of a run with labels."""
    from dojo_kit.analysis.failures import failure_table, label_accuracy, list_failures

    return {
        "recipe": run_recipe(run, scores.settings),
        **scores.as_dict(),
        "failure_modes": records_of(failure_table(scores)),
        "label_accuracy": {level: records_of(label_accuracy(scores, level=level)) for level in levels_of(scores)},
        "wrong_rows": records_of(list_failures(scores)),
        "scope": SCOPE,
        "problems": [asdict(problem) for problem in scores.problems],
    }


def levels_of(scores: TaskScores) -> tuple[str, ...]:
    """Return the levels of labels a task has."""
    return ("labels",) if scores.subclass is None else ("labels", "subclass")


def records_of(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as JSON-ready values, missing ones as None."""
    plain = frame.astype(object).where(frame.notna(), None)
    return [{str(name): value for name, value in row.items()} for row in plain.to_dict("records")]


def print_labels(run: Run, scores: TaskScores) -> None:
    """Print a scored task: counts, metrics, what is wrong, each label, what is confused."""
    from dojo_kit.tasks.metrics import metric_says

    _print_heading(run, scores)
    out.print()
    kind = scores.record.kind
    out.print(estimates_table(_by_headline(scores), says=lambda metric: metric_says(metric, kind)))
    _print_failures(scores)
    for level in levels_of(scores):
        _print_level(scores, level)
    out.print(f"\n[dim]{SCOPE}[/]")


def print_run_name(run: Run) -> None:
    """Print what a run is called and what it was made with."""
    made = " \N{MIDDLE DOT} ".join(shown(part) for part in (run.meta.model, run.meta.prompt_version) if part)
    out.print(f"[bold]{shown(run.name)}[/]  {made}")


def _print_heading(run: Run, scores: TaskScores) -> None:
    counts = scores.counts
    print_run_name(run)
    parts = [f"{counts['n_scored']:,} of {formats.count(counts['n_rows'], 'row')} scored as {shown(scores.record.key)}"]
    if counts["n_failed"]:
        disguised = f", {counts['n_disguised']:,} of them stored as completed" if counts["n_disguised"] else ""
        parts.append(f"[red]{counts['n_failed']:,} failed (misses){disguised}[/]")
    if counts["n_unscored"]:
        parts.append(f"[yellow]{counts['n_unscored']:,} without a true label[/]")
    if counts["n_unread"]:
        parts.append(f"{formats.count(counts['n_unread'], 'answer')} named no label")
    out.print(", ".join(parts))
    print_reasons(scores.rows.loc[scores.rows["status"] == "failed", "error"].dropna())


def print_reasons(errors: pd.Series[Any]) -> None:
    """Print the most frequent reasons of failed calls."""
    reasons = errors.value_counts()
    for reason, n in list(reasons.items())[:SHOWN_REASONS]:
        out.print(f"[dim]  {n:,} x {shown(shorten(str(reason), SHOWN_REASON_CHARS, placeholder=' ...'))}[/]")
    if len(reasons) > SHOWN_REASONS:
        out.print(f"[dim]  and {formats.count(len(reasons) - SHOWN_REASONS, 'other reason')}[/]")


def _by_headline(scores: TaskScores) -> Iterable[tuple[str, Any]]:
    """Return the metrics, the one the task is judged by first."""
    headline = scores.record.headline
    yield headline, scores.headline
    yield from ((name, value) for name, value in scores.metrics.items() if name != headline)


def _print_failures(scores: TaskScores) -> None:
    from dojo_kit.analysis.failures import failure_table

    rows = [
        [row["mode"], f"{row['n']:,}", *_rate_cells(row, "rate"), _share(row["share"]), row["says"]]
        for row in failure_table(scores).to_dict("records")
    ]
    columns: list[Column] = [
        ("mode", "left"),
        ("n", "right"),
        ("rate", "right"),
        ("95 % interval", "left"),
        ("of wrong", "right"),
        ("", "fold"),
    ]
    out.print()
    out.print(build_table("what is wrong", columns, rows, drop=("of wrong", "")))
    recovered = len(scores.equiv_recovered)
    if recovered:
        out.print(
            f"[dim]{formats.count(recovered, 'answer')} wrong by the letter, right by the table of equivalents[/]"
        )


def _rate_cells(row: Mapping[Any, Any], name: str) -> list[str]:
    bounds = [formats.number(row[end]) for end in ("lo", "hi")]
    return [formats.number(row[name]), "" if row["lo"] != row["lo"] else f"[{', '.join(bounds)}]"]


def _share(value: float) -> str:
    return "" if value != value else formats.number(value)


def _print_level(scores: TaskScores, level: str) -> None:
    from dojo_kit.analysis.failures import label_accuracy

    labels = scores.subclass if level == "subclass" and scores.subclass is not None else scores.labels
    rows = [
        [
            row["name"],
            f"{row['correct']:,}",
            f"{row['n']:,}",
            *_rate_cells(row, "accuracy"),
            f"{row['failed']:,}" if row["failed"] else "",
            row["mistaken_for"] if isinstance(row["mistaken_for"], str) else "",
        ]
        for row in label_accuracy(scores, level=level).to_dict("records")
    ]
    columns: list[Column] = [
        ("label", "fold"),
        ("right", "right"),
        ("of", "right"),
        ("accuracy", "right"),
        ("95 % interval", "left"),
        ("failed", "right"),
        ("most often taken for", "left"),
    ]
    title = "by subclass" if level == "subclass" else "by label"
    out.print()
    out.print(build_table(f"{title}, answered rows, worst first", columns, rows, drop=("failed", columns[-1][0])))
    confusions = labels.top_confusions(SHOWN_CONFUSIONS)
    if len(confusions):
        cells = [
            [row["expected"], row["predicted"], f"{row['n']:,}", formats.number(row["share"])]
            for row in confusions.to_dict("records")
        ]
        out.print()
        heads: list[Column] = [("expected", "left"), ("answered", "left"), ("n", "right"), ("of expected", "right")]
        out.print(build_table("most frequent confusions", heads, cells))
