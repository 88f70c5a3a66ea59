"""What the ``dojo whatif`` commands have in common: their options, and the corpus and votes these give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dojo_kit.cli.inputs import OnError, settings_from
from dojo_kit.cli.output import err, progress_bar, report_problems, shown
from dojo_kit.errors import InputError, closest

if TYPE_CHECKING:
    from dojo_kit.settings import Settings
    from dojo_kit.simulate import Corpus, Votes


class PoolName(StrEnum):
    """Which runs vote."""

    all = "all"
    model = "model"
    prompt = "prompt"
    rerun = "rerun"


RunsArgument = Annotated[
    list[str],
    typer.Argument(metavar="RUNS...", help="Run files, logs or folders of them, or a corpus written by corpus --out."),
]
TaskOption = Annotated[str | None, typer.Option("--task", help="Task, e.g. subtype; by default that of the most rows.")]
PoolOption = Annotated[
    PoolName,
    typer.Option(
        "--pool",
        help="Who votes: all runs; one prompt's last run of each model; one prompt's runs; reruns of one setting.",
    ),
]
PromptOption = Annotated[str | None, typer.Option("--prompt", help="Prompt the pool holds fixed.")]
ModelOption = Annotated[str | None, typer.Option("--model", help="Model the pool holds fixed.")]
LegacyOption = Annotated[
    bool, typer.Option("--legacy", help="Reproduce the published figures: rows and random streams as published.")
]
OverridesOption = Annotated[
    str | None,
    typer.Option("--overrides", metavar="FILE", help="With --legacy: experiment name -> run whose rows replace it."),
]
SeedOption = Annotated[int | None, typer.Option("--seed", help="Seed of every random draw; 42 by default.")]


@dataclass(frozen=True)
class Measured:
    """A real run that a simulation is held against.

    Attributes:
        answers: Document key, as votes know it -> whether the run is right.
        run_ids: Runs of the corpus that are this run; they take no part in what is simulated.
    """

    answers: dict[str, float]
    run_ids: list[str]


@dataclass(frozen=True)
class Asked:
    """What a command was asked to look at.

    Attributes:
        corpus: The corpus.
        task: Key of the task.
        settings: Seed, replicates and level.
    """

    corpus: Corpus
    task: str
    settings: Settings

    @property
    def level(self) -> float:
        """Level of the intervals."""
        return self.settings.statistics.confidence

    def votes(self, pool: PoolName, prompt: str | None, model: str | None, *, without: Sequence[str] = ()) -> Votes:
        """Count the votes of a pool.

        Args:
            pool: Which runs vote.
            prompt: Prompt held fixed.
            model: Model held fixed.
            without: Runs that do not vote.
        """
        from dojo_kit.simulate import votes_of

        return votes_of(self.corpus, self.task, pool=pool.value, prompt=prompt, model=model, without_runs=without)

    def runs_named(self, name: str) -> list[str]:
        """Return the ids of a run, or of all runs of a model.

        Args:
            name: Run id or model.

        Raises:
            InputError: Neither has that name.
        """
        rows = self.corpus.of_task(self.task)
        found = rows.loc[(rows["run_id"] == name) | (rows["model"] == name), "run_id"].unique().tolist()
        if not found:
            known = [*rows["model"].unique(), *rows["run_id"].unique()]
            message = f"the corpus has no run or model {name!r}{closest(name, known)}"
            raise InputError(message, field="--stronger", expected=", ".join(map(str, known[:5])) + ", ...")
        return [str(run_id) for run_id in found]

    def measured(self, path: str, on_error: OnError) -> Measured:
        """Return which documents the runs of a file got right, and which runs of the corpus are these same runs.

        Args:
            path: Run file.
            on_error: What a faulty row does.
        """
        from dojo_kit.runs.corpus_files import read_corpus
        from dojo_kit.simulate import answers_of

        corpus = read_corpus([path], legacy=self.corpus.legacy, on_error=on_error.value)
        measured = corpus.of_task(self.task)
        rows = self.corpus.of_task(self.task)
        contents = set(measured["content"].astype(str)) - {""}
        same = rows.loc[rows["content"].astype(object).isin(contents), "run_id"].unique().tolist()
        answers = answers_of(corpus, self.task, run_ids=measured["run_id"].unique().tolist())
        return Measured(answers, [str(run_id) for run_id in same])

    def about(self) -> dict[str, Any]:
        """Return what every JSON output says besides its results."""
        problems = [asdict(problem) for problem in self.corpus.problems]
        return {"seed": self.settings.statistics.seed, "notes": list(self.corpus.notes), "problems": problems}


def asked_from(
    runs: Sequence[str],
    task: str | None,
    *,
    legacy: bool,
    overrides: str | None,
    seed: int | None,
    config: str | None,
    on_error: OnError,
    quiet: bool,
) -> Asked:
    """Read what the options name.

    Args:
        runs: Run files, or one corpus.
        task: Task key; by default that of the most rows.
        legacy: Read rows as published.
        overrides: File of overrides.
        seed: Seed of every random draw.
        config: Settings file.
        on_error: What a faulty row does.
        quiet: Show no progress.

    Raises:
        InputError: A file cannot be read, or the task has no rows.
    """
    settings = settings_from(config, None if seed is None else [f"statistics.seed={seed}"])
    corpus = corpus_from(runs, legacy=legacy, overrides=overrides, on_error=on_error, quiet=quiet)
    chosen = str(corpus.rows["task"].value_counts().idxmax()) if task is None else task
    corpus.of_task(chosen)
    if corpus.on_error == "collect" and not legacy:
        corpus = _with_conflicts(corpus, chosen)
    if not quiet:
        report_problems(corpus.problems)
        for note in corpus.notes:
            err.print(shown(note), soft_wrap=True)
    return Asked(corpus, chosen, settings)


def _with_conflicts(corpus: Corpus, task: str) -> Corpus:
    """Add the documents that runs disagree about, which are left out, to the problems."""
    from dojo_kit.records import Problem
    from dojo_kit.simulate.votes import conflicts_of

    found = conflicts_of(corpus, task)
    expected = "one true label a document"
    told = tuple(Problem(message, field="expected", expected=expected) for message in found.values())
    return replace(corpus, problems=(*corpus.problems, *told)) if told else corpus


def corpus_from(runs: Sequence[str], *, legacy: bool, overrides: str | None, on_error: OnError, quiet: bool) -> Corpus:
    """Read run files, or a corpus that was written before.

    Args:
        runs: Run files, or one corpus.
        legacy: Read rows as published.
        overrides: File of overrides.
        on_error: What a faulty row does.
        quiet: Show no progress.

    Raises:
        InputError: A file cannot be read, or overrides are given without ``legacy``.
    """
    from dojo_kit.runs.corpus_files import load_corpus, read_corpus, read_overrides

    if overrides is not None and not legacy:
        raise InputError("overrides replace rows of published figures only", field="--overrides", expected="--legacy")
    if is_corpus(runs):
        corpus = load_corpus(runs[0])
        if overrides is not None:
            message = "a written corpus holds its overrides already"
            raise InputError(message, file=runs[0], field="--overrides", expected="run files")
        if corpus.legacy != legacy:
            how = "with" if corpus.legacy else "without"
            raise InputError(f"was written {how} --legacy", file=runs[0], expected="the same here")
        return replace(corpus, on_error=on_error.value)
    replacing = None if overrides is None else read_overrides(overrides)
    with progress_bar("reading run files", quiet=quiet) as progress:
        return read_corpus(runs, legacy=legacy, overrides=replacing, on_error=on_error.value, progress=progress)


def is_corpus(runs: Sequence[str]) -> bool:
    """Tell whether a corpus is given instead of run files.

    Args:
        runs: What was given.
    """
    from dojo_kit.runs.corpus_files import load_corpus

    if len(runs) != 1 or Path(runs[0]).suffix != ".parquet":
        return False
    try:
        load_corpus(runs[0], columns=["run_id"])
    except InputError as error:
        if error.message == "is no corpus":
            return False
        raise
    return True


def file_target(path: str | None) -> Path | None:
    """Return the file to write, before anything is computed for it.

    Args:
        path: As given.

    Raises:
        InputError: It is no file.
    """
    if path is None:
        return None
    target = Path(path).expanduser()
    if not path.strip() or target.is_dir():
        raise InputError(f"{path!r} is no file", field="--out", expected="a file to write")
    return target
