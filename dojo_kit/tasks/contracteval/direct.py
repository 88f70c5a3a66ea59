"""Scoring of direct ContractEval runs: one answer per contract and question."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

from dojo_kit.errors import ComparabilityError, InputError, SettingsError, closest
from dojo_kit.records import QuestionRow, Row, Run
from dojo_kit.schema import clause_category
from dojo_kit.settings import Settings
from dojo_kit.tasks.contracteval.rubric import (
    FAILED_CALL,
    PUBLISHED_POSITIVES,
    Judgement,
    Mode,
    deciding_correction,
    judge,
)
from dojo_kit.tasks.contracteval.scores import ContractEvalScores, contract_bootstrap, pool
from dojo_kit.text.output import strip_reasoning

if TYPE_CHECKING:
    import pandas as pd

Pairs: TypeAlias = Run | Iterable[Run | QuestionRow]

SURFACE_SETTINGS = ("max_input_chars", "faithful_full_context")
"""Settings that say how much of a contract the model saw; answers given under different ones are not pooled."""

_NO_CAP = (0, None)
_LISTED = 4


def score_contracteval(pairs: Pairs, *, mode: Mode = "paper", settings: Settings | None = None) -> ContractEvalScores:
    """Score answers to questions about contracts.

    Both readings are made of every row (see `dojo_kit.tasks.contracteval.rubric`); `mode` says which one is pooled.
    A failed call counts as an empty answer in the paper's reading and is left out of the corrected one.

    Args:
        pairs: A run of task ``contracteval``, several of them, or their rows.
        mode: ``paper`` repeats the published script with its quirks, ``corrected`` mends them.
        settings: Seed, replicates and level of the intervals; the current settings by default.

    Returns:
        Counts, estimates, tables of rows and categories.

    Raises:
        ComparabilityError: The answers were given under different `SURFACE_SETTINGS`, or a pair occurs twice.
        InputError: There is no pair, or a run holds other rows.
        SettingsError: The mode is unknown.

    Examples:
        >>> rows = [
        ...     QuestionRow("a__Insurance", title="a", label_spans=("insured",), predicted="It is insured."),
        ...     QuestionRow("b__Insurance", title="b", predicted="Nothing here."),
        ... ]
        >>> score_contracteval(rows)
        ContractEvalScores('paper', 2 pairs, 1 positive, TP 1, TN 0, FP 1, FN 0, 0 failed)
    """
    if mode not in get_args(Mode):
        raise SettingsError(f"mode is {mode!r}{closest(str(mode), get_args(Mode))}; known: paper, corrected")
    rows, surface = _gathered(pairs)
    frame = _judged(rows, mode)
    warnings = tuple(_warnings(rows, frame, surface, mode))
    return pool(frame, mode=mode, bootstrap=contract_bootstrap(settings), warnings=warnings)


def _gathered(pairs: Pairs) -> tuple[list[QuestionRow], tuple[Any, ...]]:
    """Return the rows in order and the one setting under which all of them were made."""
    found = list(_with_settings(pairs))
    if not found:
        raise InputError("no pairs", expected="at least one answer to a question about a contract")
    by_settings: dict[tuple[Any, ...], int] = {}
    seen: set[str] = set()
    for row, settings in found:
        by_settings[settings] = by_settings.get(settings, 0) + 1
        if row.document in seen:
            raise ComparabilityError(f"pair {row.document!r} occurs twice; answers of one model are pooled once")
        seen.add(row.document)
    if len(by_settings) > 1:
        parts = [f"{count} with {_shown(settings)}" for settings, count in by_settings.items()]
        raise ComparabilityError(f"answers given to different texts are not pooled: {'; '.join(parts)}")
    return [row for row, _ in found], found[0][1]


def _with_settings(pairs: Pairs) -> Iterator[tuple[QuestionRow, tuple[Any, ...]]]:
    for part in [pairs] if isinstance(pairs, Run) else pairs:
        rows: Sequence[Row] = part.rows if isinstance(part, Run) else (part,)
        given: Mapping[str, Any] = part.meta.parameters if isinstance(part, Run) else {}
        for row in rows:
            if not isinstance(row, QuestionRow):
                source = part.source if isinstance(part, Run) else None
                raise InputError(
                    f"a row of type {type(row).__name__}",
                    file=source or None,
                    expected="answers to questions (task contracteval); extractions are for map_contracteval",
                )
            values = (row.stored.get(name, given.get(name)) for name in SURFACE_SETTINGS)
            yield row, tuple(repr(value) if isinstance(value, list | dict) else value for value in values)


def _shown(settings: tuple[Any, ...]) -> str:
    named = zip(SURFACE_SETTINGS, settings, strict=True)
    return ", ".join(f"{name} {'not recorded' if value is None else value}" for name, value in named)


def _judged(rows: Sequence[QuestionRow], mode: Mode) -> pd.DataFrame:
    import pandas as pd

    frame = pd.DataFrame([_judged_row(row, mode) for row in rows])
    return frame.astype({"jaccard": "float64"})


def _judged_row(row: QuestionRow, mode: Mode) -> dict[str, Any]:
    answer = row.predicted or ""
    left_out = row.failed and mode == "corrected"
    judged: dict[Mode, Judgement] = {name: judge(row.label_spans, answer, mode=name) for name in get_args(Mode)}
    chosen = judged[mode]
    return {
        "pair": row.document,
        "contract": row.title,
        "category": row.category,
        "outcome": None if left_out else chosen.outcome,
        "rule": FAILED_CALL if row.failed else chosen.rule,
        "refused": chosen.refused,
        "n_labels": chosen.n_labels,
        "n_found": chosen.n_found,
        "jaccard": None if left_out else chosen.jaccard,
        "answer_chars": chosen.answer_chars,
        "label_chars": chosen.label_chars,
        "failed": row.failed,
        "error": row.error,
        "paper": judged["paper"].outcome,
        "corrected": None if row.failed else judged["corrected"].outcome,
        "difference": _difference(row, judged),
    }


def _difference(row: QuestionRow, judged: Mapping[Mode, Judgement]) -> str:
    if row.failed:
        return FAILED_CALL
    if judged["paper"].outcome == judged["corrected"].outcome:
        return ""
    return deciding_correction(row.label_spans, row.predicted or "") or ""


def _warnings(rows: Sequence[QuestionRow], frame: pd.DataFrame, surface: tuple[Any, ...], mode: Mode) -> Iterator[str]:
    cap, full_context = surface
    if cap not in _NO_CAP or full_context is False:
        yield f"not the published task: the model did not see whole contracts ({_shown(surface)})"
    failed = int(frame["failed"].sum())
    if failed:
        yield f"failed calls: {failed}, " + ("scored as empty answers" if mode == "paper" else "left out")
    empty = sum(not row.failed and not (row.predicted or "").strip() for row in rows)
    if empty:
        stops = "; the published script stops at their similarity" if mode == "paper" else ""
        yield f"empty answers of completed calls: {empty}, counted as answers without the refusal sentence{stops}"
    thinking = sum(strip_reasoning(text) != text for text in (row.predicted for row in rows) if text)
    if thinking:
        part = "as part of the answer" if mode == "paper" else "without it"
        yield f"answers that hold what the model wrote while reasoning: {thinking}, scored {part}"
    unknown = sorted({row.category for row in rows if clause_category(row.category) is None})
    if unknown:
        more = ", ..." if len(unknown) > _LISTED else ""
        yield f"categories that are none of CUAD's: {', '.join(map(repr, unknown[:_LISTED]))}{more}"
    positives = int((frame["n_labels"] > 0).sum())
    if positives != PUBLISHED_POSITIVES:
        yield (
            f"a sample: {positives:,} positives instead of the {PUBLISHED_POSITIVES:,} of the full split, which the "
            "published false rate divides by"
        )
