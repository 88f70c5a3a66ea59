"""The joint corpus: one row per run and document, each a vote that was paid for once.

A row is one run's answer to one document. Rows keep the run they come from, so no run ever overwrites another, and
marks tell which rows are no votes of their own: failed calls, failures stored as completed, and replays (answers taken
over from an earlier run, which have no usage of their own).

With ``legacy=True`` rows are read as the published reports read them: answers as stored, failures stored as completed
are votes, and the rows of an experiment can be replaced by those of another run.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Literal

from dojo_kit.errors import InputError, closest
from dojo_kit.records import LabelRow, Problem, Row, Run
from dojo_kit.simulate.mentions import LabelMentions, looks_cut, says_unsure
from dojo_kit.tasks.columns import is_disguised, stored_value
from dojo_kit.tasks.table import TASKS, task_kind
from dojo_kit.vocabulary import Vocabulary, own_vocabulary, vocabulary

if TYPE_CHECKING:
    import pandas as pd

CORPUS_TASKS = ("subtype", "docclass", "doc_class", "chained")
"""Tasks whose runs enter a corpus unless others are asked for."""

_TEXT, _CATEGORY, _FLOAT, _BOOL = "object", "category", "float64", "bool"

COLUMNS: Mapping[str, str] = {
    "run_id": _CATEGORY,
    "task": _CATEGORY,
    "experiment": _CATEGORY,
    "model": _CATEGORY,
    "prompt": _CATEGORY,
    "settings": _CATEGORY,
    "made": _CATEGORY,
    "content": _CATEGORY,
    "document": _CATEGORY,
    "vote": _CATEGORY,
    "expected": _CATEGORY,
    "confidence": _FLOAT,
    "failed": _BOOL,
    "disguised": _BOOL,
    "replay": _BOOL,
    "has_reasoning": _BOOL,
    "unsure": _BOOL,
    "cut": _BOOL,
    "named": _CATEGORY,
    "reasoning": _TEXT,
}
"""Column -> dtype.

``vote`` and ``expected`` are the labels as written; ``settings`` is a digest of the parameters that can change an
answer; ``made`` is the run's time stamp as stored and ``content`` a digest of all that the run holds, so that a copy of
a run is known for one; ``named`` lists the keys of the labels that the reasons name, one a line; ``unsure`` and ``cut``
are `dojo_kit.simulate.mentions.says_unsure` and `looks_cut`. Of a legacy corpus ``failed`` is what the row itself says.
"""

_BOOKKEEPING = frozenset({"manifest", "max_concurrency", "bt_scores", "rate_limit_retries"})
_BOOKKEEPING_PREFIX = "tracing"
_USAGE_KEYS = ("sorter_tokens", "tokens", "usage")
_MOST_LABELS = 200
_FAMILY_TASKS = ("subtype", "chained")


@dataclass(frozen=True, eq=False)
class Corpus:
    """Votes of many runs.

    Attributes:
        rows: One row per run and document in the order of the runs, columns `COLUMNS`; ``reasoning`` may be missing.
        legacy: Whether rows were read as published.
        notes: What a reader of results must know, such as runs that were left out.
        problems: What was wrong with rows and files that were read all the same.
        on_error: What becomes of a document that is one thing in one run and another in the next: an error that names
            both labels, or, with ``collect``, its rows are left out and counted.
    """

    rows: pd.DataFrame = field(repr=False)
    legacy: bool = False
    notes: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    on_error: Literal["raise", "collect"] = "raise"

    def of_task(self, task: str) -> pd.DataFrame:
        """Return the rows of a task.

        Raises:
            InputError: There are none; the message lists the tasks there are.
        """
        key, known = task_kind(task), list(self.rows["task"].cat.categories)
        found = self.rows[self.rows["task"] == key]
        if found.empty:
            held = ", ".join(known) or "no rows"
            raise InputError(
                f"the corpus has no rows of task {task!r}{closest(key, known)}", field="task", expected=held
            )
        return found

    def reasonings(self, rows: pd.DataFrame) -> pd.Series[Any]:
        """Return the reasons of some rows.

        Raises:
            InputError: The corpus was read without them.
        """
        if "reasoning" not in rows:
            raise InputError("the corpus was read without reasons", field="reasoning", expected="a corpus with reasons")
        return rows["reasoning"]

    def __len__(self) -> int:
        return len(self.rows)


def corpus_of(
    runs: Iterable[Run],
    *,
    tasks: Collection[str] = CORPUS_TASKS,
    legacy: bool = False,
    overrides: Mapping[str, Run] | None = None,
) -> Corpus:
    """Put the rows of runs into one corpus.

    Args:
        runs: Runs in the order in which they were made; those of other tasks are left out.
        tasks: Tasks that enter.
        legacy: Read rows as published.
        overrides: With ``legacy`` only: experiment name -> run whose labels, confidences and reasons replace those of
            every run of that name, document by document.

    Raises:
        InputError: There is no row, overrides are given without ``legacy``, or for an experiment no run has.

    Examples:
        >>> from dojo_kit.records import LabelRow, RunMeta
        >>> rows = (LabelRow("a", predicted="license", expected="license", confidence=0.9),)
        >>> corpus = corpus_of([Run(RunMeta("subtype_classification", "first", "m", "p"), rows, source="1.json")])
        >>> corpus.rows[["run_id", "task", "vote"]].to_dict(orient="records")
        [{'run_id': '1', 'task': 'subtype', 'vote': 'license'}]
    """
    reader = RowReader(tasks=tasks, legacy=legacy, overrides=overrides)
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    problems: list[Problem] = []
    for run in runs:
        problems += run.problems
        for name, values in reader.read(run).items():
            columns[name] += values
    reader.finish()
    if not columns["run_id"]:
        raise InputError("no run has labels of these tasks", field="runs", expected=f"runs of {', '.join(tasks)}")
    return Corpus(corpus_frame(columns), legacy, reader.notes, tuple(problems))


def corpus_frame(columns: Mapping[str, list[Any]]) -> pd.DataFrame:
    """Make the frame of a corpus of columns of plain values."""
    import pandas as pd

    return pd.DataFrame({name: pd.Series(columns[name], dtype=kind) for name, kind in COLUMNS.items()})


class RowReader:
    """Turns runs into columns of corpus rows, one run at a time, and gives every run an id of its own.

    A run that was read before, by content, is a copy: it is left out and counted.

    Args:
        tasks: Tasks that enter.
        legacy: Read rows as published.
        overrides: Experiment name -> run whose answers replace those of that name.

    Raises:
        InputError: Overrides are given without ``legacy``.
    """

    def __init__(
        self,
        *,
        tasks: Collection[str] = CORPUS_TASKS,
        legacy: bool = False,
        overrides: Mapping[str, Run] | None = None,
    ) -> None:
        if overrides and not legacy:
            raise InputError("no run overwrites another", field="overrides", expected="overrides with legacy only")
        self._tasks = frozenset(map(task_kind, tasks))
        self._legacy = legacy
        self._replacing = {
            name: {row.document: _sorter(row.stored) for row in run.rows} for name, run in (overrides or {}).items()
        }
        self._ids: set[str] = set()
        self._contents: set[str] = set()
        self._experiments: set[str] = set()
        self._copies: list[str] = []
        self._left_out: dict[str, int] = {}

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out so far."""
        notes = [left_out_note(n, f"of task {task!r}") for task, n in self._left_out.items()]
        if self._copies:
            which = "that is a copy" if len(self._copies) == 1 else "that are copies"
            notes.append(left_out_note(len(self._copies), f"{which} of another ({', '.join(self._copies[:5])})"))
        return tuple(notes)

    def finish(self) -> None:
        """Check what can be told at the end only.

        Raises:
            InputError: An override is for an experiment that no run has.
        """
        for name in self._replacing:
            if name not in self._experiments:
                message = f"no run of experiment {name!r}{closest(name, self._experiments)}"
                raise InputError(message, field="overrides", expected="the name of an experiment that was read")

    def read(self, run: Run) -> dict[str, list[Any]]:
        """Return the columns of a run's rows; empty when its task does not enter, and for a copy."""
        self._experiments.add(run.meta.name)
        task = task_kind(run.meta.task)
        rows = [row for row in run.rows if isinstance(row, LabelRow)]
        if task not in self._tasks or not rows:
            self._left_out[task] = self._left_out.get(task, 0) + 1
            return {}
        content = content_digest(run)
        if content in self._contents:
            self._copies.append(PurePath(run.source).stem or run.name)
            return {}
        self._contents.add(content)
        mentions = LabelMentions.of(_vocabulary_of(task, rows))
        fixed = {
            "run_id": self._own_id(run),
            "task": task,
            "experiment": run.name,
            "model": run.meta.model,
            "prompt": run.meta.prompt_version,
            "settings": settings_digest(run.meta.parameters),
            "made": run.meta.timestamp,
            "content": content,
        }
        answers = list(self._answers(run, task, rows))
        columns: dict[str, list[Any]] = {name: [value] * len(rows) for name, value in fixed.items()}
        columns["document"] = [row.document for row in rows]
        columns["disguised"] = [is_disguised(row) for row in rows]
        columns["replay"] = [is_replay(row) for row in rows]
        for name in ("vote", "expected", "confidence", "failed", "reasoning"):
            columns[name] = [getattr(answer, name) for answer in answers]
        columns["has_reasoning"] = [bool(answer.reasoning.strip()) for answer in answers]
        columns["unsure"] = [says_unsure(answer.reasoning) for answer in answers]
        columns["cut"] = [
            looks_cut(answer.reasoning, failure_mode=answer.failure_mode, completed=not answer.failed)
            for answer in answers
        ]
        columns["named"] = ["\n".join(mentions.named(answer.reasoning)) for answer in answers]
        return columns

    def _answers(self, run: Run, task: str, rows: Iterable[LabelRow]) -> Iterator[_Answer]:
        if not self._legacy:
            yield from map(_Answer.read, rows)
            return
        replacing = self._replacing.get(run.meta.name, {})
        for row in rows:
            yield _Answer.published(row, task, replacing.get(row.document, {}))

    def _own_id(self, run: Run) -> str:
        path, hash_, fragment = run.source.partition("#")
        stem = PurePath(path).stem + hash_ + fragment
        tried = [name for name in (stem, run.source, run.name) if name]
        tried += [f"{tried[0] if tried else 'run'} ({number})" for number in range(2, len(self._ids) + 3)]
        found = next(name for name in tried if name not in self._ids)
        self._ids.add(found)
        return found


@dataclass(frozen=True, slots=True)
class _Answer:
    vote: str | None
    expected: str | None
    confidence: float | None
    reasoning: str
    failure_mode: str | None
    failed: bool

    @classmethod
    def read(cls, row: LabelRow) -> _Answer:
        mode = None if row.failed else stored_value(row, "failure_mode")
        mode = mode if isinstance(mode, str) else None
        return cls(row.predicted, row.expected, row.confidence, row.reasoning, mode, row.failed)

    @classmethod
    def published(cls, row: LabelRow, task: str, replacing: Mapping[str, Any]) -> _Answer:
        """Read a row as the reports did: from its nested sorter alone, and from another run's where there is one."""
        sorter = _sorter(row.stored)
        if replacing:
            kept = {key: value for key, value in replacing.items() if value not in (None, "")}
            sorter = {**sorter, **dict.fromkeys(("confidence", "reasoning", "failure_mode")), **kept}
        family = task in _FAMILY_TASKS
        vote = (family and sorter.get("contract_subtype")) or sorter.get("doc_type") or ""
        expected = (family and sorter.get("expected_subtype")) or sorter.get("expected_doc_type") or ""
        return cls(
            vote,
            expected,
            sorter.get("confidence"),
            sorter.get("reasoning") or "",
            sorter.get("failure_mode"),
            (row.stored.get("status") or "completed") != "completed",
        )


def _sorter(stored: Mapping[str, Any]) -> Mapping[str, Any]:
    scores = stored.get("scores")
    composite = scores.get("composite") if isinstance(scores, Mapping) else None
    nested = composite.get("sorter") if isinstance(composite, Mapping) else None
    sorter = nested or stored.get("sorter")
    return sorter if isinstance(sorter, Mapping) else {}


def left_out_note(n: int, which: str) -> str:
    """Say how many runs were left out.

    Examples:
        >>> left_out_note(1, "of task 'rag'")
        "1 run of task 'rag' left out"
    """
    return f"{n} run{'' if n == 1 else 's'} {which} left out"


def is_replay(row: Row) -> bool:
    """Tell whether an answer was taken over from an earlier run: completed, with a usage record that is empty.

    A row of a file that records no usage at all is no replay.

    Examples:
        >>> is_replay(LabelRow("a", predicted="x", stored={"sorter_tokens": {}})), is_replay(LabelRow("a"))
        (True, False)
    """
    if row.failed or row.usage is not None:
        return False
    return any(isinstance(row.stored.get(key), Mapping) for key in _USAGE_KEYS)


def settings_digest(parameters: Mapping[str, Any]) -> str:
    """Return a digest of the parameters that can change an answer; caches, tracing and parallelism cannot.

    Examples:
        >>> settings_digest({"temperature": 0, "manifest": "a"}) == settings_digest({"temperature": 0})
        True
    """
    counted = {
        name: value
        for name, value in parameters.items()
        if not (name in _BOOKKEEPING or name.startswith(_BOOKKEEPING_PREFIX))
    }
    return sha256(json.dumps(counted, sort_keys=True, default=str).encode()).hexdigest()[:12]


def content_digest(run: Run) -> str:
    """Return a digest of how a run was made and of everything its rows hold, usage and times among it.

    Examples:
        >>> from dojo_kit.records import RunMeta
        >>> rows = (LabelRow("a", predicted="x"),)
        >>> one, copy = (Run(RunMeta("subtype", "first"), rows, source=file) for file in ("1.json", "2.json"))
        >>> content_digest(one) == content_digest(copy)
        True
    """
    meta = run.meta
    digest = sha256(repr((meta.task, meta.name, meta.model, meta.prompt_version, meta.timestamp)).encode())
    for row in run.rows:
        known = [getattr(row, name, None) for name in ("document", "status", "predicted", "expected", "confidence")]
        digest.update(json.dumps([known, row.stored], sort_keys=True, default=str).encode())
    return digest.hexdigest()[:16]


def task_vocabulary(task: str) -> Vocabulary | None:
    """Return the labels a task is published with; None for a task whose labels are its own."""
    record = TASKS.get(task_kind(task))
    return vocabulary(record.vocabularies[0]) if record and record.vocabularies else None


def _vocabulary_of(task: str, rows: Iterable[LabelRow]) -> Vocabulary:
    record = TASKS.get(task)
    expected = list(dict.fromkeys(row.expected for row in rows if row.expected))
    for name in record.vocabularies if record else ():
        known = vocabulary(name)
        if all(known.normalize(label).key is not None for label in expected):
            return known
    return own_vocabulary(expected[:_MOST_LABELS])
