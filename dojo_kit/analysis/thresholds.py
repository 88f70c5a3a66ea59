"""What other thresholds would have made of a run: the scorer's own matching, repeated over the stored pairs.

Match threshold, rescue gate and the rule for samples of labels are choices. A finding that turns round when one of
them moves a little is none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dojo_kit.analysis.attribution import no_spans
from dojo_kit.errors import InputError
from dojo_kit.scoring.embedding import rescue_pairs
from dojo_kit.scoring.lists import ListScore, match_labels, score_matches
from dojo_kit.scoring.nearest import span_status
from dojo_kit.scoring.overlap import Matrix
from dojo_kit.scoring.similarity import Similarities
from dojo_kit.stats.intervals import Bootstrap, Estimate
from dojo_kit.text.names import document_key

if TYPE_CHECKING:
    import pandas as pd

    from dojo_kit.scoring.run import Recipe, ScoredRun

THRESHOLDS = tuple(round(0.30 + 0.01 * step, 2) for step in range(66))
"""From 0.30 to 0.95 in steps of 0.01."""


@dataclass(frozen=True, slots=True)
class State:
    """A list field's numbers under one choice of thresholds.

    Attributes:
        threshold: Similarity from which a pair may match.
        rescue_below: String similarity below which an embedding may rescue a pair; None without an embedder.
        partial: Labels are a sample of what is right: role words and contained labels count as found.
        matched: Labels found.
        expected: Labels.
        recall: Labels found / labels, documents resampled.
        precision: Mean over documents of distinct matched items / predicted items.
        score: Mean of the documents' field scores.
        flips: Labels that are found here and not in the run, or the other way round.
    """

    threshold: float
    rescue_below: float | None
    partial: bool
    matched: int
    expected: int
    recall: Estimate
    precision: Estimate
    score: Estimate
    flips: int


@dataclass(frozen=True)
class Sweep:
    """A list field under every threshold, gate and rule asked for.

    Attributes:
        field: The list field.
        base: The run's own choice; its numbers are those of the scored run.
        states: One per threshold, by the run's own gate and rule.
        gates: One per rescue gate, at the run's threshold and rule; empty without an embedder.
        rules: With and without the rule for samples of labels, per threshold, by the run's own gate.
        similarities: Similarity of each label's best item, NaN without items, shape (labels,).
        flips: One row per stretch of thresholds on which a label is on another side than in the run: ``id``,
            ``document``, ``field``, ``index``, ``was`` and ``becomes`` (its status in the run and there), ``at`` (the
            threshold nearest to the run's at which it has changed) and ``until`` (the one at which it is back;
            missing when it stays).
    """

    field: str
    base: State
    states: tuple[State, ...]
    gates: tuple[State, ...]
    rules: dict[bool, tuple[State, ...]]
    similarities: NDArray[np.float64]
    flips: pd.DataFrame


def sweep(scored: ScoredRun, field: str, *, thresholds: Sequence[float] | None = None) -> Sweep:
    """Match a list field again under other thresholds, from the stored pairs alone.

    Args:
        scored: A scored run.
        field: The list field.
        thresholds: Match thresholds, none below the floor of the stored pairs; by default `THRESHOLDS` from there on.

    Raises:
        InputError: The field has no expected spans, or a threshold lies below the floor.
    """
    recipe = scored.recipe
    if thresholds is None:
        thresholds = [value for value in THRESHOLDS if value >= recipe.pair_floor]
    numbers = isinstance(thresholds, Sequence) and all(isinstance(value, int | float) for value in thresholds)
    if isinstance(thresholds, str) or not numbers:
        raise InputError(f"{thresholds!r}", field="thresholds", expected="numbers, such as [0.5, 0.6]")
    bad = [value for value in thresholds if not recipe.pair_floor <= value <= 1]
    if bad:
        expected = f"numbers from {recipe.pair_floor:g}, the floor of the stored pairs, to 1"
        raise InputError(f"{bad[0]!r}", field="thresholds", expected=expected)
    lists = list(_lists(scored, field))
    if not lists:
        raise no_spans(field, tuple(dict.fromkeys(scored.frame("spans", ["field"])["field"])))
    matcher = _Matcher(recipe, field, lists)
    wanted = sorted({*thresholds, matcher.threshold})
    rules = {rule: tuple(matcher.state(value, matcher.gate, rule) for value in wanted) for rule in (True, False)}
    gates: tuple[State, ...] = ()
    if matcher.gate is not None:
        below = [value for value in (0.0, *wanted) if value < matcher.gate]
        gates = tuple(matcher.state(matcher.threshold, value, matcher.partial) for value in (*below, matcher.gate))
    return Sweep(
        field,
        matcher.state(matcher.threshold, matcher.gate, matcher.partial),
        rules[matcher.partial],
        gates,
        rules,
        _of(scored.spans, field)["best_similarity"].to_numpy(dtype=float),
        matcher.flips(wanted),
    )


@dataclass(frozen=True, slots=True)
class _List:
    """One document's labels and items of the field, and their similarities."""

    document: str
    labels: Sequence[str]
    items: Sequence[str]
    best: Sequence[float]
    element: str
    partial: bool
    string: Matrix
    cosine: Matrix
    coverage: Matrix

    def similarities(self, gate: float | None) -> Similarities:
        score = self.string if gate is None else rescue_pairs(self.string, self.cosine, below=gate)
        unused = np.zeros(0)
        return Similarities(score, self.string, None, self.coverage, unused, unused > 0, unused)

    def match(self, threshold: float, found: Similarities, partial: bool) -> ListScore:
        matches = match_labels(self.items, self.labels, found, threshold, element=self.element, partial_gt=partial)
        return score_matches(matches, len(self.items), partial_gt=partial)


def _lists(scored: ScoredRun, field: str) -> Iterator[_List]:
    fields = scored.fields[(scored.fields["field"] == field) & (scored.fields["n_expected"] > 0)]
    spans = dict(iter(_of(scored.spans, field).groupby("document", sort=False)))
    items = dict(iter(_of(scored.items, field).groupby("document", sort=False)))
    pairs = dict(iter(_of(scored.pairs, field).groupby("document", sort=False)))
    for document, kind, rule in zip(fields["document"], fields["type"], fields["rule"], strict=True):
        labels = spans[document]
        texts = items[document]["text"].tolist() if document in items else []
        matrices = [np.zeros((len(labels), len(texts))) for _ in range(3)]
        if document in pairs:
            mine = pairs[document]
            at = (mine["label"].to_numpy(), mine["item"].to_numpy())
            for matrix, column in zip(matrices, ("string", "cosine", "coverage"), strict=True):
                matrix[at] = mine[column].to_numpy(dtype=float)
        string, cosine, coverage = matrices
        yield _List(
            document,
            labels["text"].tolist(),
            texts,
            labels["best_similarity"].tolist(),
            kind.partition(":")[2] or "name",
            rule == "list.coverage",
            # Stored with 32 bits; a similarity of exactly a threshold must not fall below it.
            *(np.round(matrix, 7) for matrix in (string, np.nan_to_num(cosine), coverage)),
        )


def _of(frame: pd.DataFrame, field: str) -> pd.DataFrame:
    return frame[frame["field"] == field]


class _Matcher:
    """Matches lists again and again; between two thresholds that no similarity separates nothing changes."""

    def __init__(self, recipe: Recipe, field: str, lists: Sequence[_List]) -> None:
        self._field = field
        self._lists = sorted(lists, key=lambda one: document_key(one.document))
        self._bootstrap = Bootstrap(recipe.n_resamples, recipe.seed, recipe.confidence)
        self._similarities: dict[float | None, list[tuple[Similarities, NDArray[np.float64]]]] = {}
        self._scores: dict[tuple[int, float | None, bool, int], ListScore] = {}
        self.threshold = recipe.match_threshold
        self.gate = None if recipe.embedder == "none" else recipe.rescue_below
        self.partial = lists[0].partial
        self._own = self._matched(self.threshold, self.gate, self.partial)

    def scores(self, threshold: float, gate: float | None, partial: bool) -> list[ListScore]:
        """Return the score of every list."""
        if gate not in self._similarities:
            found = [one.similarities(gate) for one in self._lists]
            self._similarities[gate] = [(each, np.sort(each.score, axis=None)) for each in found]
        scores = []
        for number, (similarities, values) in enumerate(self._similarities[gate]):
            key = (number, gate, partial, int(np.searchsorted(values, threshold)))
            if key not in self._scores:
                self._scores[key] = self._lists[number].match(threshold, similarities, partial)
            scores.append(self._scores[key])
        return scores

    def _matched(self, threshold: float, gate: float | None, partial: bool) -> NDArray[np.bool_]:
        """Tell of every label of every list whether it is found."""
        return np.array([m.matched for score in self.scores(threshold, gate, partial) for m in score.labels])

    def state(self, threshold: float, gate: float | None, partial: bool) -> State:
        """Return the numbers of one choice."""
        scores = self.scores(threshold, gate, partial)
        rows = [(score.n_matched_labels, score.n_expected, score.precision, score.score) for score in scores]
        labels, expected, precision, score = np.array(rows, dtype=float).T
        return State(
            threshold,
            gate,
            partial,
            int(labels.sum()),
            int(expected.sum()),
            self._bootstrap.ratio(labels, expected),
            self._bootstrap.mean(precision),
            self._bootstrap.mean(score),
            int((self._matched(threshold, gate, partial) != self._own).sum()),
        )

    def flips(self, thresholds: Sequence[float]) -> pd.DataFrame:
        """Return where labels leave the side they are on in the run, by the run's own gate and rule."""
        import pandas as pd

        labels = [(one.document, index, best) for one in self._lists for index, best in enumerate(one.best)]
        rows = []
        for away in (
            [value for value in thresholds if value > self.threshold],
            [value for value in reversed(thresholds) if value < self.threshold],
        ):
            changed = [self._matched(value, self.gate, self.partial) != self._own for value in away]
            for number, (document, index, best) in enumerate(labels):
                for at, until in _stretches([bool(there[number]) for there in changed], away):
                    was = bool(self._own[number])
                    similarity = None if best != best else best
                    rows.append(
                        {
                            "id": f"{document_key(document)}:{self._field}:{index}",
                            "document": document,
                            "field": self._field,
                            "index": index,
                            "was": span_status(was, similarity, self.threshold),
                            "becomes": span_status(not was, similarity, at),
                            "at": at,
                            "until": until,
                        }
                    )
        columns = ["id", "document", "field", "index", "was", "becomes", "at", "until"]
        return pd.DataFrame(rows, columns=columns).astype({"at": "float64", "until": "float64"})


def _stretches(changed: Sequence[bool], thresholds: Sequence[float]) -> Iterator[tuple[float, float | None]]:
    """Yield where a label begins to differ, going away from the run's threshold, and where it is back.

    Examples:
        >>> list(_stretches([False, True, True, False, True], [0.61, 0.62, 0.63, 0.64, 0.65]))
        [(0.62, 0.64), (0.65, None)]
    """
    start: float | None = None
    for value, differs in zip(thresholds, changed, strict=True):
        if differs and start is None:
            start = value
        elif not differs and start is not None:
            yield start, value
            start = None
    if start is not None:
        yield start, None
