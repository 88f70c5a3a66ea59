r"""The rubric of ContractEval for one answer: outcome, similarity, and what a corrected reading changes.

ContractEval (arXiv 2508.03080) asks for the exact sentences of a contract that answer a question, or for the fixed
sentence ``No related clause.``. An answer to a question with labels is right when it holds every label word for word;
an answer to a question without labels is right when it says that there is no clause.

The *paper* reading repeats the published evaluation script. Its quirks:

- the sentence counts wherever it stands, so a positive can be right *and* a false "no related clause";
- case, inner spaces and punctuation of a label must agree exactly, and a label made of spaces and backticks only is
  always contained;
- text a model wrote while reasoning is part of its answer;
- Jaccard similarity splits at single spaces: a line break glues two words, a double space makes an empty one.

The *corrected* reading applies `CORRECTIONS` in order. Accidents of the published scripts that no scorer should
repeat (results joined by position and cut to the shorter file, a results column that holds another figure than its
name says, models dropped by name, a plot using a variable of another loop) are in neither.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from dojo_kit.text.output import strip_reasoning, strip_wrapping

Mode = Literal["paper", "corrected"]
Outcome = Literal["TP", "TN", "FP", "FN"]

REFUSAL = "no related clause"
"""What an answer must say, in any case, when the contract has no such clause."""

PUBLISHED_POSITIVES = 1244
"""Questions with a label in the published test split, the fixed denominator of one of the two false rates."""

CORRECTIONS = {
    "reasoning": "what the model wrote while reasoning is no part of its answer",
    "fence": "a code fence around the answer is no part of it",
    "blank_label": "a label without a character to find is no label",
    "refusal_start": "an answer refuses only when it starts with the sentence; with a label it is then wrong",
    "text": "compatibility characters and runs of white space are read alike in answer and label",
}
"""Step of the corrected reading -> what it says, in the order in which they apply."""

FAILED_CALL = "failed_call"
"""What takes a row without an answer out of the corrected reading."""

EDGE = " \n`"
"""What the published scripts strip from both ends of labels and answers: no tab, no carriage return."""
_STARTS_WITH_REFUSAL = re.compile(rf"\W*{REFUSAL}")
_SPACE_FOR_SLASH = str.maketrans("/", " ", ".,;:")


@dataclass(frozen=True, slots=True)
class Judgement:
    """How one answer fares.

    Attributes:
        outcome: Its cell of the confusion matrix.
        rule: Why: ``positive.contained``, ``positive.contained_and_refused``, ``positive.refused``,
            ``positive.missing``, ``negative.refused``, ``negative.answered`` or ``negative.empty``.
        refused: Whether it says that there is no clause.
        n_labels: Labels asked for.
        n_found: Labels the answer holds.
        answer_chars: Characters of the answer as it was compared.
        label_chars: Characters of the labels as they were compared.
        jaccard: Similarity of answer and labels; None without labels.
    """

    outcome: Outcome
    rule: str
    refused: bool
    n_labels: int
    n_found: int
    answer_chars: int
    label_chars: int
    jaccard: float | None

    @property
    def positive(self) -> bool:
        """Whether the question has a label."""
        return self.n_labels > 0


def judge(labels: Sequence[str], answer: str, *, mode: Mode = "paper") -> Judgement:
    """Judge one answer.

    Args:
        labels: Labelled spans; empty when the contract has no such clause.
        answer: The model's answer as it came.
        mode: Which reading, see the module.

    Examples:
        >>> judge(["pay royalties"], "Licensee shall pay royalties quarterly").outcome
        'TP'
        >>> both = "Insurance is required. No related clause."
        >>> [judge([], both, mode=mode).outcome for mode in ("paper", "corrected")]
        ['TN', 'FP']
    """
    steps = frozenset(CORRECTIONS) if mode == "corrected" else frozenset()
    texts, answer = _compared(labels, answer, steps)
    refused = _refuses(answer, steps)
    found = sum(label in answer for label in texts)
    outcome, rule = _outcome(len(texts), found, answer, refused, steps)
    similar = corrected_jaccard if mode == "corrected" else paper_jaccard
    jaccard = similar(" ".join(labels), answer) if texts else None
    return Judgement(outcome, rule, refused, len(texts), found, len(answer), sum(map(len, texts)), jaccard)


def deciding_correction(labels: Sequence[str], answer: str) -> str | None:
    """Name the correction that gives an answer another outcome than the paper's; None when the two agree.

    Args:
        labels: Labelled spans.
        answer: The model's answer.

    Returns:
        A key of `CORRECTIONS`: applying them one after another, the last that changed the outcome.

    Examples:
        >>> deciding_correction(["the fee"], "<think>the fee?</think>No related clause.")
        'reasoning'
        >>> deciding_correction(["the  fee"], "Licensee pays the fee.")
        'text'
    """
    names = tuple(CORRECTIONS)
    outcomes = []
    for count in range(len(names) + 1):
        steps = frozenset(names[:count])
        texts, text = _compared(labels, answer, steps)
        found = sum(label in text for label in texts)
        outcomes.append(_outcome(len(texts), found, text, _refuses(text, steps), steps)[0])
    if outcomes[0] == outcomes[-1]:
        return None
    return next(names[k - 1] for k in range(len(names), 0, -1) if outcomes[k] != outcomes[k - 1])


def _compared(labels: Sequence[str], answer: str, steps: frozenset[str]) -> tuple[list[str], str]:
    """Return labels and answer in the form in which one is looked for in the other."""
    if "fence" in steps:
        answer = strip_wrapping(answer)
    elif "reasoning" in steps:
        answer = strip_reasoning(answer)
    if "text" in steps:
        labels, answer = [_plain(label) for label in labels], _plain(answer)
    texts = [label.strip(EDGE) for label in labels]
    if "blank_label" in steps:
        texts = [text for text in texts if text]
    return texts, answer.strip(EDGE)


def _plain(text: str) -> str:
    return " ".join((text if text.isascii() else unicodedata.normalize("NFKC", text)).split())


def _refuses(answer: str, steps: frozenset[str]) -> bool:
    said = answer.lower()
    return _STARTS_WITH_REFUSAL.match(said) is not None if "refusal_start" in steps else REFUSAL in said


def _outcome(n_labels: int, n_found: int, answer: str, refused: bool, steps: frozenset[str]) -> tuple[Outcome, str]:
    if not n_labels:
        if refused:
            return "TN", "negative.refused"
        return "FP", "negative.answered" if answer else "negative.empty"
    if refused and "refusal_start" in steps:
        return "FN", "positive.refused"
    if n_found == n_labels:
        return "TP", "positive.contained_and_refused" if refused else "positive.contained"
    return "FN", "positive.refused" if refused else "positive.missing"


def paper_jaccard(gold: str, answer: str) -> float:
    r"""Return the published similarity of two texts: sets of what stands between single spaces.

    Args:
        gold: The labels joined by a space.
        answer: The answer.

    Examples:
        >>> paper_jaccard("pay royalties, quarterly", "Pay royalties quarterly."), paper_jaccard("a/b c", "a b d")
        (1.0, 0.5)
        >>> paper_jaccard("a b", "a\nb")
        0.0
    """
    one, other = (set(text.translate(_SPACE_FOR_SLASH).lower().split(" ")) for text in (gold, answer))
    return len(one & other) / len(one | other)


def corrected_jaccard(gold: str, answer: str) -> float | None:
    r"""Return the similarity of two texts as sets of their words, without punctuation at the edges of a word.

    Args:
        gold: The labels joined by a space.
        answer: The answer.

    Returns:
        Shared words / all words; None when neither text has a word.

    Examples:
        >>> corrected_jaccard("a  b", "A\n(b)."), corrected_jaccard("10,000", "10000"), corrected_jaccard("", "...")
        (1.0, 0.0, None)
    """
    one, other = _words(gold), _words(answer)
    return len(one & other) / len(one | other) if one or other else None


def _words(text: str) -> set[str]:
    return {word for word in map(_without_edges, _plain(text).casefold().split()) if word}


def _without_edges(word: str) -> str:
    start, end = 0, len(word)
    while start < end and _is_punctuation(word[start]):
        start += 1
    while end > start and _is_punctuation(word[end - 1]):
        end -= 1
    return word[start:end]


def _is_punctuation(character: str) -> bool:
    return character == "`" or unicodedata.category(character)[0] == "P"
