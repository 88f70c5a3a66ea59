"""`measure`: anything that was scored, or a run, as a `Measured`."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from dojo_kit.analysis.measured import extraction, labels
from dojo_kit.analysis.measured.values import QUESTIONS, WITHOUT_ROWS, Measured, MetricTable, with_headline
from dojo_kit.errors import InputError
from dojo_kit.records import ChainedRow, LabelRow, QuestionRow, Run, RunMeta, fingerprint
from dojo_kit.scoring.answers import answers_digest, digest_of
from dojo_kit.scoring.run import SCORER_VERSION, ScoredRun
from dojo_kit.settings import Settings
from dojo_kit.tasks.contracteval import ContractEvalScores, score_contracteval
from dojo_kit.tasks.contracteval.direct import SURFACE_SETTINGS
from dojo_kit.tasks.score import score_task_run
from dojo_kit.tasks.scores import TaskScores

if TYPE_CHECKING:
    import pandas as pd

Measurable: TypeAlias = Measured | ScoredRun | TaskScores | ContractEvalScores | Run

_STORED = ("scores stored in the rows; what scored them is not known",)
_STORED_EXTRACTION = ("extraction scores stored in the rows; what scored them is not known",)


def measure(
    source: Measurable, *, run: Run | None = None, name: str | None = None, settings: Settings | None = None
) -> Measured:
    """Read the value of every metric in every document.

    A run of labels or of answers to questions is scored against what its rows expect. A run of extractions without
    labels gives the scores stored in its rows; what scored them is not known.

    Args:
        source: A scored run, a scored task, scored answers, or a run.
        run: The run that was scored: its parameters tell reruns, its answers tell copies.
        name: What to call it; the run's own name by default.
        settings: Settings under which a run of labels is scored; the current ones by default.

    Returns:
        The values, with how they came about.

    Raises:
        InputError: A run holds no scores, or names a document twice.

    Examples:
        >>> rows = (LabelRow("a", expected="yes", predicted="yes"), LabelRow("b", expected="no", predicted="yes"))
        >>> measured = measure(Run(RunMeta("legalbench", name="first"), rows))
        >>> measured.headline, measured.value("exact_match"), measured.values("exact_match").tolist()
        ('exact_match', 0.5, [1.0, 0.0])
    """
    if isinstance(source, Measured):
        return source
    if isinstance(source, Run):
        return _of_run(source, name, settings)
    if isinstance(source, ScoredRun):
        return _of_scored(source, run, name)
    if isinstance(source, TaskScores):
        return _of_task(source, run, name)
    if isinstance(source, ContractEvalScores):
        return _of_questions(source, run, name)
    raise InputError(
        f"cannot measure a {type(source).__name__}", expected="a Run, ScoredRun, TaskScores or scored answers"
    )


def _of_run(run: Run, name: str | None, settings: Settings | None) -> Measured:
    if not run.rows:
        raise InputError("the run has no rows", file=run.source or None, expected="at least one document")
    if isinstance(run.rows[0], LabelRow):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="unknown task")  # it is among the problems
            measured = _of_task(score_task_run(run, settings=settings), run, name)
            return replace(measured, notes=_STORED_EXTRACTION) if isinstance(run.rows[0], ChainedRow) else measured
    if isinstance(run.rows[0], QuestionRow):
        return _of_questions(score_contracteval(run, mode="corrected", settings=settings), run, name)
    return _of_stored(run, name)


def _of_scored(scored: ScoredRun, run: Run | None, name: str | None) -> Measured:
    recipe, known = scored.recipe, scored.recipe.run
    meta = run.meta if run else RunMeta(known.get("task", ""), known.get("name", ""), known.get("model", ""))
    documents = extraction.scored_documents(scored)
    _once(documents, known.get("source", ""))
    return _measured(
        meta,
        kind="extraction",
        name=name or known.get("name", ""),
        source=known.get("source", ""),
        prompt_version=known.get("prompt_version", ""),
        documents=documents,
        labels=extraction.scored_labels(scored),
        table=extraction.scored_metrics(scored, documents.index),
        headline=extraction.HEADLINE,
        recipe={
            "labels": recipe.labels,
            "settings": recipe.settings,
            "scorer_version": recipe.scorer_version,
            "spans": recipe.spans,
            "embedder": recipe.embedder,
            "grounding": "on" if recipe.grounding else "off",
        },
        scored=scored,
        run=run,
        digest=_scored_digest(scored, run),
    )


def _of_stored(run: Run, name: str | None) -> Measured:
    documents = extraction.stored_documents(run)
    _once(documents, run.source)
    if not (documents["status"] == "scored").any():
        raise InputError(
            f"no row of {run.name!r} stores an overall_score, so there is nothing to compare without labels",
            file=run.source or None,
            field="overall_score",
            expected="labels to score the run against",
        )
    truth = [run.meta.data_source.get(key) for key in ("ground_truth", "ground_truth_mode")]
    return _measured(
        run.meta,
        kind="extraction",
        name=name or run.name,
        source=run.source,
        prompt_version=run.meta.prompt_version,
        documents=documents,
        labels=_nothing_known(documents),
        table=extraction.stored_metrics(run, documents.index),
        headline=extraction.HEADLINE,
        recipe={"labels": ", ".join(part for part in truth if isinstance(part, str)) or None},
        scored=None,
        run=run,
        digest=answers_digest(run.rows),
        notes=_STORED,
    )


def _of_task(scores: TaskScores, run: Run | None, name: str | None) -> Measured:
    keys = labels.task_keys(scores)
    documents = labels.task_documents(scores, keys)
    record = scores.record
    second = f" / {scores.second_vocabulary.name}" if scores.second_vocabulary else ""
    expected = documents["expected"].dropna()
    columns = ["document", "status", "predicted_text", "doc_type", "predicted_subclass", "confidence", "reasoning"]
    return _measured(
        run.meta if run else RunMeta(record.key),
        kind=record.key,
        name=name or (run.name if run else ""),
        source=run.source if run else "",
        prompt_version=run.meta.prompt_version if run else "",
        documents=documents,
        labels=expected,
        table=labels.task_metrics(scores, keys, documents.index),
        headline=record.headline,
        recipe={
            "labels": fingerprint(f"{key}\x1f{label}" for key, label in expected.items()),
            "settings": f"{record.key}: {scores.vocabulary.name}{second}",
            "scorer_version": None if record.extracts else SCORER_VERSION,
        },
        scored=scores,
        run=run,
        digest=answers_digest(run.rows) if run else _frame_digest(scores.rows[columns]),
    )


def _of_questions(scores: ContractEvalScores, run: Run | None, name: str | None) -> Measured:
    documents = labels.contracteval_documents(scores)
    _once(documents, run.source if run else "")
    seen = {setting: run.meta.parameters.get(setting) for setting in SURFACE_SETTINGS} if run else {}
    given = "".join(f", {setting} {value}" for setting, value in seen.items() if value is not None)
    columns = ["pair", "outcome", "answer_chars", "jaccard"]
    return _measured(
        run.meta if run else RunMeta(QUESTIONS),
        kind=QUESTIONS,
        name=name or (run.name if run else ""),
        source=run.source if run else "",
        prompt_version=run.meta.prompt_version if run else "",
        documents=documents,
        labels=labels.contracteval_labels(scores),
        table=labels.contracteval_metrics(scores, documents.index),
        headline="f2",
        recipe={"settings": f"{scores.mode} reading{given}", "scorer_version": SCORER_VERSION},
        scored=scores,
        run=run,
        digest=answers_digest(run.rows) if run else _frame_digest(scores.rows[columns]),
        notes=scores.warnings,
    )


def _measured(
    meta: RunMeta,
    *,
    kind: str,
    name: str,
    source: str,
    prompt_version: str,
    documents: pd.DataFrame,
    labels: pd.Series[Any],
    table: MetricTable,
    headline: str,
    recipe: Mapping[str, str | None],
    scored: ScoredRun | TaskScores | ContractEvalScores | None,
    run: Run | None,
    digest: str,
    notes: tuple[str, ...] = (),
) -> Measured:
    numerators, denominators = table.frames()
    unknown = dict.fromkeys(("labels", "settings", "scorer_version", "spans", "embedder", "grounding"))
    return Measured(
        name=name,
        source=source,
        task=meta.task,
        kind=kind,
        model=meta.model,
        prompt_version=prompt_version,
        timestamp=meta.timestamp,
        parameters=meta.parameters,
        numerators=numerators,
        denominators=denominators,
        documents=documents,
        labels=labels,
        metrics=with_headline(table.metrics, headline),
        headline=headline,
        recipe={"surface": fingerprint(documents.index), **unknown, **recipe},
        scored=scored,
        run=run,
        digest=digest,
        notes=notes,
    )


def _once(documents: pd.DataFrame, source: str) -> None:
    twice = documents.index[documents.index.duplicated()]
    if len(twice):
        name = documents.loc[twice[0], "document"].iloc[0]
        raise InputError(
            f"document {name!r} occurs twice", file=source or None, field="document", expected="each document once"
        )


def _nothing_known(documents: pd.DataFrame) -> pd.Series[Any]:
    return documents["expected"].dropna()


def _scored_digest(scored: ScoredRun, run: Run | None) -> str:
    """Return the digest of the run that was scored; a scored run of an earlier version does not name it."""
    if run is not None:
        return answers_digest(run.rows)
    named = scored.recipe.run.get("answers")
    return named or _frame_digest(scored.items[["document", "field", "index", "text"]])


def _frame_digest(frame: pd.DataFrame) -> str:
    """Hash what is known of answers without their rows; the mark says that no run has this digest."""
    rows = frame.astype(object).where(frame.notna(), None).itertuples(index=False, name=None)
    return WITHOUT_ROWS + digest_of(json.dumps(row, default=str) for row in rows)
