"""What an evaluation of labels is told: defaults, then a file of settings, then what is given with the call.

The file is flat (YAML or TOML), its keys are those of `EvalSettings`. The three selectors are one group: a selector
given with the call takes the place of whichever one the file names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from dojo_kit.errors import SettingsError, closest
from dojo_kit.rag.panels import Policy
from dojo_kit.rag.scorecard import ScoringOptions, ViolationPolicy
from dojo_kit.rag.tasks import TaskName, task_named
from dojo_kit.rag.votes import TieRule
from dojo_kit.runs.rag_selectors import SELECTORS, check_exclusive
from dojo_kit.runs.sources import PathLike
from dojo_kit.settings_files import read_settings_file


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalSettings:
    """How labels are found, scored and stored.

    Attributes:
        task: The task.
        path: File of labels.
        export_id: Annotation export of the workspace.
        prediction_id: Prediction run of the workspace.
        system: The ``system_id`` to score, needed when there are several.
        run: The ``run_id`` to score, likewise.
        group_by: Column that groups queries that are not independent.
        score_id: Name of the output's folder; a hash of inputs and settings by default.
        base_dir: The workspace.
        n_resamples: Resamples of bootstrap intervals.
        ci: Confidence level, between 0 and 1.
        seed: Seed of the resamples.
        on_incomplete: What becomes of incomplete panels.
        on_violation: What becomes of labels that contradict each other.
        tie: What becomes of tied votes.
        force: Whether a score file that is there is replaced.
    """

    task: TaskName
    path: str | None = None
    export_id: str | None = None
    prediction_id: str | None = None
    system: str | None = None
    run: str | None = None
    group_by: str | None = None
    score_id: str | None = None
    base_dir: str = "."
    n_resamples: int = 2000
    ci: float = 0.95
    seed: int = 42
    on_incomplete: Policy = "fail"
    on_violation: ViolationPolicy = "fail"
    tie: TieRule = "fail"
    force: bool = False

    def __post_init__(self) -> None:
        task_named(self.task)
        if self.group_by is not None and not self.group_by.strip():
            raise SettingsError("group_by is empty; expected the name of a column")
        check_exclusive({name: getattr(self, name) for name in SELECTORS})
        self.options()

    def options(self) -> ScoringOptions:
        """Return how labels are scored."""
        return ScoringOptions(
            group_by=self.group_by,
            on_incomplete=self.on_incomplete,
            on_violation=self.on_violation,
            tie=self.tie,
            n_resamples=self.n_resamples,
            seed=self.seed,
            confidence=self.ci,
        )


_WANTED = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}


def eval_settings(given: Mapping[str, Any], *, config: PathLike | None = None) -> EvalSettings:
    """Put settings together.

    Args:
        given: What is given with the call; None stands for nothing.
        config: File of settings.

    Raises:
        SettingsError: A name is unknown, a value impossible, the task missing, or selectors exclude each other.
        InputError: The file cannot be read.

    Examples:
        >>> eval_settings({"task": "grounding", "seed": 7, "tie": None}).seed
        7
        >>> eval_settings({})
        Traceback (most recent call last):
        ...
        dojo_kit.errors.SettingsError: task is missing: one of retrieval, grounding, generation
    """
    said = {name: value for name, value in given.items() if value is not None}
    where = "" if config is None else f"{config}: "
    stored = {} if config is None else _checked(read_settings_file(str(config)), where)
    if any(name in said for name in SELECTORS):
        stored = {name: value for name, value in stored.items() if name not in SELECTORS}
    merged = stored | _checked(said, "")
    if "task" not in merged:
        raise SettingsError("task is missing: one of retrieval, grounding, generation")
    return EvalSettings(**merged)


def _checked(values: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Check names and types; a value of None counts as not given."""
    kinds = _kinds()
    for name, value in values.items():
        if name not in kinds:
            known = ", ".join(kinds)
            raise SettingsError(f"{where}unknown setting {name!r}{closest(str(name), kinds)}; known: {known}")
        kind = kinds[name]
        fits = isinstance(value, int | float) if kind is float else isinstance(value, kind)
        if value is not None and (not fits or (isinstance(value, bool) and kind is not bool)):
            raise SettingsError(f"{where}{name} must be {_WANTED[kind]}, not {value!r:.60}")
    return {name: value for name, value in values.items() if value is not None}


def _kinds() -> dict[str, type]:
    """Return the plain type of every setting; choices are text."""
    plain = {"n_resamples": int, "seed": int, "ci": float, "force": bool}
    return {field.name: plain.get(field.name, str) for field in fields(EvalSettings)}
