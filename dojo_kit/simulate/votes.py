"""Ballots: which labels each document got from the runs, and how often.

A pool says which runs vote. `all` throws every run together, so that a committee of it is one of random models and
prompts; the other pools hold something fixed:

- ``model``: one prompt, the last answer of every model to a document, runs being in the order given: what asking
  several models would buy. Where time stamps tell another order `Votes.notes` says so;
- ``prompt``: one prompt, every run;
- ``rerun``: one model and one prompt, every run: what asking the same thing again would buy.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from dojo_kit.errors import InputError, SettingsError, closest
from dojo_kit.simulate.corpus import Corpus, task_vocabulary
from dojo_kit.simulate.mentions import names_label_anywhere, says_unsure_anywhere
from dojo_kit.stats.intervals import Array
from dojo_kit.tasks.reading import read_labels
from dojo_kit.tasks.table import TASKS, task_kind
from dojo_kit.text.names import document_key

if TYPE_CHECKING:
    import pandas as pd

Pool = Literal["all", "model", "prompt", "rerun"]
"""Which runs vote, see `dojo_kit.simulate.votes`."""

Unknown = Literal["counted", "dropped"]
"""What becomes of a vote that is none of the task's labels: counted, it can only be wrong; dropped, as published."""

SEVERAL_TRUTHS = "several true labels"
"""Why a document's rows are no votes when runs disagree about its true label."""

NO_LABEL = "(no label)"
"""What an answer that names no label votes for."""

VOTE_COLUMNS = (
    "document",
    "key",
    "run_id",
    "model",
    "prompt",
    "settings",
    "vote",
    "expected",
    "right",
    "unknown",
    "confidence",
    "names_other",
    "unsure",
)
"""Columns of `task_votes`."""


@dataclass(frozen=True, eq=False)
class Votes:
    """The ballots of a task.

    Attributes:
        task: Key of the task.
        pool: Which runs vote.
        documents: Documents, sorted by key; in corpus order when legacy.
        labels: Labels that were voted for or are expected.
        expected: Position in ``labels`` of what each document is, shape (documents,).
        counts: Votes for each label, shape (documents, labels).
        confidence: Mean stated confidence of each document's votes; NaN where none is stated.
        names_other: Share of each document's votes whose reasons name another label than the one voted for; of legacy
            votes, 1 where any of them names the expected label.
        unsure: Share of the votes whose reasons hold a phrase of doubt; of legacy votes, 1 where any does.
        first_votes: Labels of each document in the order of their first vote.
        held_fixed: What the pool holds fixed, e.g. ``{"prompt": "v9"}``.
        run_ids: Runs that vote.
        left_out: Reason -> rows of the pool that are no votes.
        n_unknown: Votes that are none of the task's labels; counted or dropped as ``unknown`` says.
        unknown: What became of them.
        legacy: Whether votes were read as published.
        n_models: Models that vote.
        n_prompts: Prompts that vote.
        notes: What a reader must know about who votes.
    """

    task: str
    pool: Pool
    documents: tuple[str, ...] = field(repr=False)
    labels: tuple[str, ...] = field(repr=False)
    expected: NDArray[np.intp] = field(repr=False)
    counts: NDArray[np.int64] = field(repr=False)
    confidence: Array = field(repr=False)
    names_other: Array = field(repr=False)
    unsure: Array = field(repr=False)
    first_votes: tuple[tuple[int, ...], ...] = field(repr=False)
    held_fixed: Mapping[str, str]
    run_ids: tuple[str, ...] = field(repr=False)
    left_out: Mapping[str, int]
    n_unknown: int
    unknown: Unknown
    legacy: bool = False
    n_models: int = 0
    n_prompts: int = 0
    notes: tuple[str, ...] = ()

    @property
    def asked_again(self) -> bool:
        """Whether one model and one prompt vote, whatever the pool."""
        return self.n_models == self.n_prompts == 1

    @property
    def is_single(self) -> bool:
        """Whether no document has more than one vote, so that more votes can only repeat it."""
        return bool((self.counts.sum(axis=1) == 1).all())

    @property
    def n_votes(self) -> int:
        """Votes in all."""
        return int(self.counts.sum())

    @cached_property
    def shares(self) -> Array:
        """Share of each label in each document's votes, shape (documents, labels)."""
        return np.asarray(self.counts / self.counts.sum(axis=1, keepdims=True), dtype=float)

    @cached_property
    def expected_shares(self) -> Array:
        """Share of the votes that are right, shape (documents,): the accuracy of one vote drawn at random."""
        right: Array = np.take_along_axis(self.shares, self.expected[:, None], axis=1)[:, 0]
        return right

    @property
    def keys(self) -> tuple[str, ...]:
        """Key of every document, `dojo_kit.text.names.document_key`; its name when legacy."""
        return self.documents if self.legacy else tuple(map(document_key, self.documents))

    def as_dict(self) -> dict[str, Any]:
        """Return what the ballots consist of as JSON-ready values, without the ballots."""
        return {
            "task": self.task,
            "pool": self.pool,
            "held_fixed": dict(self.held_fixed),
            "documents": len(self),
            "votes": self.n_votes,
            "runs": len(self.run_ids),
            "unknown_votes": self.n_unknown,
            "unknown": self.unknown,
            "left_out": dict(self.left_out),
            "models": self.n_models,
            "prompts": self.n_prompts,
            "notes": list(self.notes),
        }

    def __len__(self) -> int:
        return len(self.documents)


def votes_of(
    corpus: Corpus,
    task: str,
    *,
    pool: Pool = "all",
    prompt: str | None = None,
    model: str | None = None,
    without_runs: Collection[str] = (),
    unknown: Unknown | None = None,
    legacy: bool | None = None,
) -> Votes:
    """Count the votes of every document.

    Failed calls, replays and rows without a known truth are no votes.

    Args:
        corpus: The corpus.
        task: Task key.
        pool: Which runs vote.
        prompt: Prompt held fixed by a pool other than ``all``; by default the one with the most models (``model``) or
            runs. With ``all``, only votes of this prompt.
        model: Model held fixed by ``rerun``; by default the one with the most runs. Else only votes of this model.
        without_runs: Ids of runs that do not vote, e.g. those a stronger model's answers are taken from.
        unknown: What becomes of votes for none of the task's labels; ``counted`` by default, ``dropped`` when legacy.
        legacy: Read labels as published: raw, with the published signals of doubt; by default as the corpus was.

    Raises:
        InputError: There are no votes, none of this prompt or model, or a document has several true labels.
        SettingsError: The pool is unknown, or what becomes of unknown votes.
    """
    if pool not in get_args(Pool):
        raise SettingsError(f"unknown pool {pool!r}; known: {', '.join(get_args(Pool))}")
    if unknown is not None and unknown not in get_args(Unknown):
        raise SettingsError(f"unknown must be {' or '.join(get_args(Unknown))}, not {unknown!r}")
    as_published = corpus.legacy if legacy is None else legacy
    keep = unknown or ("dropped" if as_published else "counted")
    rows, reasons = _votes_and_others(corpus, task, legacy=as_published)
    rows, held_fixed, notes = _pooled(rows[~rows["run_id"].isin(list(without_runs))], pool, prompt, model, corpus)
    left_out = _counts_of(reasons[_of_pool(corpus, reasons, rows, pool, held_fixed, without_runs)], as_published)
    n_unknown = int(rows["unknown"].sum())
    if keep == "dropped":
        rows = rows[~rows["unknown"]]
    if rows.empty:
        raise InputError(f"no votes of task {task!r} in this pool", field="pool", expected="runs with answers")
    return _counted(
        rows,
        task=task_kind(task),
        pool=pool,
        held_fixed=held_fixed,
        left_out=left_out,
        n_unknown=n_unknown,
        unknown=keep,
        legacy=as_published,
        notes=notes,
    )


def task_votes(corpus: Corpus, task: str, *, legacy: bool | None = None) -> tuple[pd.DataFrame, dict[str, int]]:
    """Return every vote of a task, and why other rows are none.

    Args:
        corpus: The corpus.
        task: Task key.
        legacy: Read labels as published.

    Returns:
        One row per vote in corpus order, columns `VOTE_COLUMNS`, index that of the corpus; and reason -> rows.

    Raises:
        InputError: The corpus has no rows of the task, or a document is one thing in one run and another in the next.
    """
    as_published = corpus.legacy if legacy is None else legacy
    votes, reasons = _votes_and_others(corpus, task, legacy=as_published)
    return votes, _counts_of(reasons, as_published)


def _counts_of(reasons: pd.Series[Any], legacy: bool) -> dict[str, int]:
    """Count rows that are no votes by reason; reasons that always can be are there with 0."""
    counts = dict.fromkeys(("failed",) if legacy else ("failed", "replay", "no truth"), 0)
    return counts | {str(reason): int(n) for reason, n in reasons.value_counts().items() if reason}


def _votes_and_others(corpus: Corpus, task: str, *, legacy: bool) -> tuple[pd.DataFrame, pd.Series[Any]]:
    """Return the votes of a task, and for every row of it why it is no vote, empty where it is one."""
    import pandas as pd

    rows = corpus.of_task(task)
    reasons = pd.Series("", index=rows.index, dtype=object)
    reasons[rows["failed"]] = "failed"
    if legacy:
        return _published_votes(corpus, rows[~rows["failed"]], task_kind(task)), reasons
    reasons[rows["replay"] & ~rows["failed"]] = "replay"
    answers = rows[reasons == ""]
    votes = _read_votes(answers, task_kind(task))
    reasons[answers.index.difference(votes.index)] = "no truth"
    conflicts = truth_conflicts(votes)
    if conflicts:
        if corpus.on_error == "raise":
            raise InputError(
                next(iter(conflicts.values())),
                field="expected",
                expected="one true label a document; on_error='collect' leaves such documents out",
            )
        several = votes["key"].isin(list(conflicts))
        reasons[votes.index[several]] = SEVERAL_TRUTHS
        votes = votes[~several]
    return votes, reasons


def conflicts_of(corpus: Corpus, task: str) -> dict[str, str]:
    """Return the documents of a task that are one thing in one run and another in the next: key -> what is wrong.

    Args:
        corpus: A corpus read without ``legacy``.
        task: Task key.

    Raises:
        InputError: The corpus has no rows of the task.
    """
    rows = corpus.of_task(task)
    return truth_conflicts(_read_votes(rows[~rows["failed"] & ~rows["replay"]], task_kind(task)))


def truth_conflicts(votes: pd.DataFrame) -> dict[str, str]:
    """Return the documents that are one thing in one run and another in the next: key -> what is wrong, in words.

    Args:
        votes: Votes, see `task_votes`.
    """
    pairs = votes[["key", "expected"]].drop_duplicates()
    several = pairs.loc[pairs.duplicated("key", keep=False), "key"]
    found = {}
    for key, group in votes[votes["key"].isin(several)].groupby("key", sort=True):
        runs = group.sort_values("run_id", kind="stable").drop_duplicates("expected").sort_values("expected")
        told = [f"{label!r} in run {run}" for label, run in zip(runs["expected"], runs["run_id"], strict=True)]
        found[str(key)] = f"document {min(group['document'])!r} has several true labels: {', '.join(told)}"
    return found


def _read_votes(rows: pd.DataFrame, task: str) -> pd.DataFrame:
    """Read votes against the task's vocabulary; rows without a known truth are none."""
    record = TASKS.get(task)
    texts = (rows["expected"].astype(object).tolist(), rows["vote"].astype(object).tolist())
    read = read_labels(*texts, vocabularies=record.vocabularies if record else ())
    known = np.array(read.predicted != None, dtype=bool)  # noqa: E711
    votes = np.where(known, read.predicted, NO_LABEL)
    named = [set(text.split("\n")) for text in rows["named"].cat.categories]
    codes = rows["named"].cat.codes.to_numpy()
    names_other = np.array(
        [bool(named[code] - {"", vote}) for code, vote in zip(codes, votes, strict=True)], dtype=bool
    )
    other = read.vocabulary.other
    frame = _frame(rows, votes, read.expected, unknown=~known | (votes == other))
    frame["names_other"], frame["unsure"] = names_other, rows["unsure"]
    return frame[read.known]


def _published_votes(corpus: Corpus, rows: pd.DataFrame, task: str) -> pd.DataFrame:
    """Take votes as written; doubt is what the reports took for it, which looks at the truth."""
    known = task_vocabulary(task)
    labels = {} if known is None else {key: text for key, text in known.labels.items() if key != known.other}
    votes, expected = rows["vote"].astype(object).to_numpy(), rows["expected"].astype(object).to_numpy()
    frame = _frame(rows, votes, expected, unknown=~np.isin(votes.astype(str), list(labels)))
    reasons = corpus.reasonings(rows).tolist()
    frame["names_other"] = [
        names_label_anywhere(reason, truth) or names_label_anywhere(reason, labels.get(truth, ""))
        for reason, truth in zip(reasons, expected, strict=True)
    ]
    frame["unsure"] = [says_unsure_anywhere(reason) for reason in reasons]
    frame["key"] = frame["document"]
    return frame


def _frame(rows: pd.DataFrame, votes: Any, expected: Any, *, unknown: Any) -> pd.DataFrame:
    import pandas as pd

    names = rows["document"].cat.categories
    keys = np.array([document_key(name) for name in names], dtype=object)[rows["document"].cat.codes]
    frame = pd.DataFrame(
        {
            "document": rows["document"].astype(object),
            "key": pd.Series(keys, index=rows.index, dtype=object),
            **{name: rows[name].astype(object) for name in ("run_id", "model", "prompt", "settings")},
            "vote": pd.Series(votes, index=rows.index, dtype=object),
            "expected": pd.Series(expected, index=rows.index, dtype=object),
            "right": votes == expected,
            "unknown": unknown,
            "confidence": rows["confidence"],
            "names_other": False,
            "unsure": False,
        }
    )
    return frame[list(VOTE_COLUMNS)]


def _pooled(
    rows: pd.DataFrame, pool: Pool, prompt: str | None, model: str | None, corpus: Corpus
) -> tuple[pd.DataFrame, dict[str, str], tuple[str, ...]]:
    """Keep the votes of a pool, and say what it holds fixed and how runs were picked."""
    notes: tuple[str, ...] = ()
    if pool == "rerun":
        chosen = {"model": model, "prompt": prompt}
        rows, held = _largest(rows, chosen, "run_id")
    elif pool == "all":
        held = {name: value for name, value in (("model", model), ("prompt", prompt)) if value is not None}
        rows = _only(rows, held)
    else:
        rows = _only(rows, {} if model is None else {"model": model})
        rows, held = _largest(rows, {"prompt": prompt}, "model" if pool == "model" else "run_id")
    if pool == "model" and len(rows):
        notes = _out_of_order(rows, corpus)
        rows = rows[~rows.iloc[::-1].duplicated(["key", "model"]).iloc[::-1]]
    return rows, held, notes


def _out_of_order(rows: pd.DataFrame, corpus: Corpus) -> tuple[str, ...]:
    """Say which models' runs were given in another order than that of their time stamps."""
    runs = rows[["model", "run_id"]].drop_duplicates()
    made = corpus.rows.drop_duplicates("run_id").set_index("run_id")["made"].astype(object)
    notes = []
    for model, group in runs.groupby("model", sort=True):
        dated = [(when, run) for run in group["run_id"] if (when := _instant(made[run])) is not None]
        if dated and (latest := max(dated)[1]) != dated[-1][1]:
            notes.append(
                f"{model}: run {latest} was made after run {dated[-1][1]}, which was given later and counts as the last"
            )
    return tuple(notes)


def _instant(stamp: str | None) -> datetime | None:
    """Read a time stamp; one without a zone is taken for UTC."""
    try:
        found = datetime.fromisoformat(stamp or "")
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _of_pool(
    corpus: Corpus,
    reasons: pd.Series[Any],
    rows: pd.DataFrame,
    pool: Pool,
    held: Mapping[str, str],
    without_runs: Collection[str],
) -> pd.Series[Any]:
    """Tell which rows of a task belong to a pool, votes or not."""
    described = corpus.rows.loc[reasons.index, ["run_id", "model", "prompt"]].astype(object)
    kept = ~described["run_id"].isin(list(without_runs))
    for name, value in held.items():
        kept &= described[name] == value
    return kept & described["run_id"].isin(rows["run_id"].unique()) if pool == "model" else kept


def _only(rows: pd.DataFrame, wanted: Mapping[str, str]) -> pd.DataFrame:
    for name, value in wanted.items():
        known = rows[name].unique().tolist()
        if value not in known:
            raise InputError(f"no votes of {name} {value!r}{closest(value, known)}", field=name)
        rows = rows[rows[name] == value]
    return rows


def _largest(rows: pd.DataFrame, chosen: Mapping[str, str | None], counted: str) -> tuple[pd.DataFrame, dict[str, str]]:
    """Keep what was chosen, or else the group in which most is counted; of equals the one with the most votes."""
    rows = _only(rows, {name: value for name, value in chosen.items() if value is not None})
    names = list(chosen)
    if rows.empty:
        return rows, {}
    groups = rows.groupby(names, sort=True)
    sizes = groups[counted].nunique().to_frame("counted").assign(votes=groups.size())
    best = sizes.sort_values(["counted", "votes"], kind="stable").index[-1]
    values = best if isinstance(best, tuple) else (best,)
    held = dict(zip(names, map(str, values), strict=True))
    return _only(rows, held), held


def _counted(rows: pd.DataFrame, *, legacy: bool, **described: Any) -> Votes:
    import pandas as pd

    codes, keys = pd.factorize(rows["key"], sort=not legacy)
    labels = tuple(sorted({*rows["vote"], *rows["expected"]}))
    position = {label: index for index, label in enumerate(labels)}
    votes = rows["vote"].map(position).to_numpy()
    counts = np.bincount(codes * len(labels) + votes, minlength=len(keys) * len(labels))
    by_document = rows.groupby(codes, sort=True)
    signals = by_document[["names_other", "unsure"]].agg("max" if legacy else "mean").astype(float)
    ballots = pd.DataFrame({"document": codes, "vote": votes}).drop_duplicates()
    first_votes = ballots.groupby("document", sort=True)["vote"].agg(tuple)
    return Votes(
        documents=tuple(by_document["document"].first()),
        labels=labels,
        expected=by_document["expected"].last().map(position).to_numpy(dtype=np.intp),
        counts=counts.reshape(len(keys), len(labels)),
        confidence=by_document["confidence"].mean().to_numpy(dtype=float),
        names_other=signals["names_other"].to_numpy(),
        unsure=signals["unsure"].to_numpy(),
        first_votes=tuple(first_votes),
        run_ids=tuple(dict.fromkeys(rows["run_id"])),
        n_models=rows["model"].nunique(),
        n_prompts=rows["prompt"].nunique(),
        legacy=legacy,
        **described,
    )
