"""Which worked examples to add to a prompt: traces that met the wrong label, said so, and still got it right.

A confusion is a pair of expected and predicted label. A near miss of it is a right answer whose reasons name the wrong
label: it shows how to tell the two apart. Showing near misses of a confusion is taken to repair some share of its
errors, no more of them than there are near misses to learn from.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from dojo_kit.errors import SettingsError
from dojo_kit.settings import Settings, resolve
from dojo_kit.simulate.corpus import Corpus, task_vocabulary
from dojo_kit.simulate.mentions import names_label_anywhere
from dojo_kit.simulate.selection import best_selection
from dojo_kit.simulate.votes import task_votes
from dojo_kit.tasks.table import task_kind

if TYPE_CHECKING:
    import pandas as pd

BUDGET = 12_000
MOST_PAIRS = 6
TRACES_PER_PAIR = 2
EFFICACY = 0.5
"""Share of a confusion's errors that its near misses are taken to repair."""

_PUBLISHED_TRIALS = 800

Mentions = Literal["words", "anywhere"]
"""Whether the reasons must name the wrong label as whole words, or anywhere, as published."""

Search = Literal["exact", "random"]
"""Whether pairs are chosen exactly, or by 800 random tries as published."""

CONFUSION_COLUMNS = ("expected", "predicted", "errors", "near_misses", "documents")
"""Columns of `Exemplars.confusions`; ``documents`` counts distinct documents among the near misses."""


@dataclass(frozen=True, slots=True)
class Trace:
    """A near miss.

    Attributes:
        document: The document.
        run_id: The run.
        reasoning: Its reasons.
        size: How much of the budget it takes.
    """

    document: str
    run_id: str
    reasoning: str
    size: int


@dataclass(frozen=True, slots=True)
class ChosenPair:
    """A confusion whose near misses go into the prompt.

    Attributes:
        expected: The true label.
        predicted: The label it is taken for.
        errors: How often.
        near_misses: Near misses there are.
        gain: Errors it is expected to repair.
        traces: Its shortest near misses, of distinct documents.
    """

    expected: str
    predicted: str
    errors: int
    near_misses: int
    gain: float
    traces: tuple[Trace, ...]


@dataclass(frozen=True, eq=False)
class Exemplars:
    """Examples chosen under a budget.

    Attributes:
        task: Key of the task.
        chosen: Pairs, in the order they were chosen.
        confusions: Every confusion, the commonest first, columns `CONFUSION_COLUMNS`.
        n_errors: Wrong answers.
        budget: What the traces may take.
        used: What they take.
        unit: What size is counted in.
        legacy: Whether pairs were searched as published.
    """

    task: str
    chosen: tuple[ChosenPair, ...]
    confusions: pd.DataFrame = field(repr=False)
    n_errors: int
    budget: int
    used: int
    unit: str
    legacy: bool = False

    @property
    def gain(self) -> float:
        """Errors all examples together are expected to repair."""
        return sum(pair.gain for pair in self.chosen)

    def appendix(self) -> str:
        """Return the examples as text to append to a prompt; empty when none were chosen."""
        return "\n\n".join(_section(pair) for pair in self.chosen)

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready values."""
        chosen = [
            {"expected": pair.expected, "predicted": pair.predicted, "errors": pair.errors}
            | {"near_misses": pair.near_misses, "gain": pair.gain}
            | {"traces": [{name: getattr(trace, name) for name in trace.__slots__} for trace in pair.traces]}
            for pair in self.chosen
        ]
        return {
            "task": self.task,
            "errors": self.n_errors,
            "gain": self.gain,
            "budget": self.budget,
            "used": self.used,
            "unit": self.unit,
            "chosen": chosen,
            "confusions": self.confusions.to_dict(orient="records"),
            "legacy": self.legacy,
        }


def exemplars(
    corpus: Corpus,
    task: str,
    *,
    budget: int = BUDGET,
    most_pairs: int = MOST_PAIRS,
    traces_per_pair: int = TRACES_PER_PAIR,
    efficacy: float = EFFICACY,
    size_of: Callable[[str], int] = len,
    unit: str = "characters",
    mentions: Mentions | None = None,
    search: Search | None = None,
    settings: Settings | None = None,
) -> Exemplars:
    """Choose the confusions whose near misses repair most errors within a budget.

    Args:
        corpus: The corpus, read with reasons.
        task: Task key.
        budget: What the traces may take together, in ``unit``.
        most_pairs: Confusions to cover at most.
        traces_per_pair: Near misses shown for each; fewer where there are fewer documents.
        efficacy: Share of a confusion's errors that is taken to be repaired.
        size_of: Size of a text, e.g. the tokens a tokenizer makes of it.
        unit: What that counts.
        mentions: How the wrong label must be named; as whole words by default, anywhere when the corpus is legacy.
        search: How pairs are chosen; exactly by default, at random when the corpus is legacy. The random search counts
            only the shortest trace of a pair against the budget, as published.
        settings: Seed of the random search; the current settings by default.

    Raises:
        InputError: The corpus has no rows of the task, or was read without reasons.
        SettingsError: A number is out of range.
    """
    for name, value, least in (
        ("budget", budget, 0),
        ("most_pairs", most_pairs, 1),
        ("traces_per_pair", traces_per_pair, 1),
    ):
        if value < least:
            raise SettingsError(f"{name} must be at least {least}, not {value}")
    if not 0 <= efficacy <= 1:
        raise SettingsError(f"efficacy must lie between 0 and 1, not {efficacy}")
    published = (search or ("random" if corpus.legacy else "exact")) == "random"
    rows, _ = task_votes(corpus, task)
    miner = _Miner(corpus, rows, task_kind(task), mentions or ("anywhere" if corpus.legacy else "words"), size_of)
    pairs = [miner.pair(*pair, traces_per_pair, efficacy) for pair in miner.confusions]
    options = [pair for pair in pairs if pair.near_misses]
    sizes = [(pair.traces[0] if published else None, sum(trace.size for trace in pair.traces)) for pair in options]
    if published:
        seed = resolve(settings).statistics.seed
        costs = [trace.size if trace else 0 for trace, _ in sizes]
        chosen = tuple(_random_search([pair.gain for pair in options], costs, budget, most_pairs, seed))
    else:
        chosen = best_selection([pair.gain for pair in options], [n for _, n in sizes], budget=budget, most=most_pairs)
    picked = tuple(options[index] for index in chosen)
    return Exemplars(
        task=task_kind(task),
        chosen=picked,
        confusions=_table(pairs, miner),
        n_errors=sum(pair.errors for pair in pairs),
        budget=budget,
        used=sum(trace.size for pair in picked for trace in pair.traces),
        unit=unit,
        legacy=published,
    )


class _Miner:
    """Confusions of a task and their near misses."""

    def __init__(
        self, corpus: Corpus, rows: pd.DataFrame, task: str, mentions: Mentions, size_of: Callable[[str], int]
    ) -> None:
        reasons = corpus.reasonings(corpus.rows).reindex(rows.index)
        frame = rows.assign(reasoning=reasons, named=corpus.rows["named"].astype(object).reindex(rows.index))
        wrong = frame[~frame["right"]]
        counts: Iterable[Any] = wrong.groupby(["expected", "vote"], sort=False).size().items()
        self.confusions: list[tuple[str, str, int]] = [(e, v, int(n)) for (e, v), n in counts]
        self._right = dict(iter(frame[frame["right"]].groupby("expected", sort=False)))
        self._none = frame.iloc[:0]
        known = task_vocabulary(task)
        self._labels = {} if known is None else {k: text for k, text in known.labels.items() if k != known.other}
        self._anywhere, self._size_of = mentions == "anywhere", size_of

    def near_misses(self, expected: str, predicted: str) -> pd.DataFrame:
        right = self._right.get(expected)
        if right is None:
            return self._none
        if self._anywhere:
            names = [predicted, self._labels[predicted]] if predicted in self._labels else []
            marks = [any(names_label_anywhere(text, name) for name in names) for text in right["reasoning"]]
        else:
            marks = [predicted in named.split("\n") for named in right["named"]]
        return right[marks]

    def pair(self, expected: str, predicted: str, errors: int, n_traces: int, efficacy: float) -> ChosenPair:
        found = self.near_misses(expected, predicted)
        gain = efficacy * min(errors, len(found))
        return ChosenPair(expected, predicted, errors, len(found), gain, tuple(self._shortest(found, n_traces)))

    def _shortest(self, found: pd.DataFrame, n_traces: int) -> Iterator[Trace]:
        sizes = found["reasoning"].map(self._size_of)
        order = found.assign(size=sizes).sort_values("size", kind="stable").drop_duplicates("key").head(n_traces)
        for row in order.itertuples(index=False):
            yield Trace(str(row.document), str(row.run_id), str(row.reasoning), int(row.size))  # type: ignore[arg-type]


def _random_search(gains: Sequence[float], costs: Sequence[float], budget: float, most: int, seed: int) -> list[int]:
    """Try 800 random selections and keep the first best one, as published."""
    if not gains:
        return []
    rng = random.Random(seed)
    best, most_gained = list[int](), 0.0
    for _ in range(_PUBLISHED_TRIALS):
        chosen = rng.sample(range(len(gains)), rng.randint(1, min(most, len(gains))))
        gained = sum(gains[index] for index in chosen)
        if sum(costs[index] for index in chosen) <= budget and gained > most_gained:
            best, most_gained = chosen, gained
    return best


def _table(pairs: Sequence[ChosenPair], miner: _Miner) -> pd.DataFrame:
    import pandas as pd

    rows = [
        (
            p.expected,
            p.predicted,
            p.errors,
            p.near_misses,
            int(miner.near_misses(p.expected, p.predicted)["key"].nunique()),
        )
        for p in pairs
    ]
    table = pd.DataFrame(rows, columns=list(CONFUSION_COLUMNS))
    return table.sort_values("errors", ascending=False, kind="stable", ignore_index=True)


def _section(pair: ChosenPair) -> str:
    quotes = ("\n".join(f"> {line}" for line in trace.reasoning.splitlines()) for trace in pair.traces)
    head = f"## {pair.expected}, not {pair.predicted}\n\nRight answers that considered {pair.predicted}:"
    return "\n\n".join((head, *quotes))
