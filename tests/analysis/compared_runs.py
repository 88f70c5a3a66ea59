"""Small runs: labels, stored extractions, answers to questions; and a noise floor that says what it is told."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dojo_kit.records import ExtractionRow, LabelRow, QuestionRow, Run, RunMeta
from dojo_kit.stats.compare import Band

DAY = "2026-01-01T00:00:00"


def label_run(
    answers: Mapping[str, str | None],
    expected: Mapping[str, str] | str = "yes",
    *,
    name: str = "run",
    task: str = "legalbench",
    model: str = "m",
    prompt: str = "v1",
    timestamp: str = DAY,
    parameters: Mapping[str, Any] | None = None,
    reasoning: str = "",
) -> Run:
    """A run of labels; an answer of None is a failed call."""
    rows = tuple(
        LabelRow(
            document,
            "failed" if answer is None else "completed",
            "timeout" if answer is None else None,
            expected=expected if isinstance(expected, str) else expected[document],
            predicted=answer,
            reasoning=reasoning or name,
        )
        for document, answer in answers.items()
    )
    meta = RunMeta(task, name, model, prompt, timestamp, parameters or {"temperature": 0.1})
    return Run(meta, rows, source=f"{name}.json")


def verdicts(pattern: str) -> dict[str, str | None]:
    """Answers of documents d000, d001, ...: ``+`` right, ``-`` wrong, ``x`` failed, where yes is expected."""
    answers = {"+": "yes", "-": "no", "x": None}
    return {f"d{index:03d}": answers[mark] for index, mark in enumerate(pattern)}


def stored_run(
    scores: Mapping[str, Mapping[str, float] | None],
    *,
    name: str = "run",
    prompt: str = "v1",
    predicted: Mapping[str, Mapping[str, Any]] | None = None,
    **data_source: str,
) -> Run:
    """An extraction run with stored scores by field; None is a failed row."""
    rows = []
    for document, fields in scores.items():
        if fields is None:
            rows.append(ExtractionRow(document, "failed", "timeout", stored={"overall_score": 0.0}))
            continue
        stored = {"overall_score": sum(fields.values()) / len(fields), "field_scores": dict(fields)}
        said = (predicted or {}).get(document, {field: f"{field} of {name}" for field in fields})
        rows.append(ExtractionRow(document, stored=stored, predicted=dict(said)))
    meta = RunMeta("contract_entity_extraction", name, "m", prompt, DAY, {}, data_source)
    return Run(meta, tuple(rows), source=f"{name}.json")


def question_run(outcomes: Mapping[str, Sequence[str]], *, name: str = "run", prompt: str = "v1") -> Run:
    """Answers to questions about contracts: contract -> TP, FN, FP or TN per question."""
    rows = []
    for contract, found in outcomes.items():
        for index, outcome in enumerate(found):
            spans = ("the clause",) if outcome in ("TP", "FN") else ()
            answer = "the clause" if outcome in ("TP", "FP") else "No related clause."
            rows.append(
                QuestionRow(
                    f"{contract}__{index}",
                    title=contract,
                    category=("Insurance", "Parties", "Governing Law")[index % 3],
                    label_spans=spans,
                    predicted=f"{answer} {name}" if outcome in ("TP", "FP") else answer,
                )
            )
    return Run(RunMeta("contracteval", name, "m", prompt, DAY), tuple(rows), source=f"{name}.json")


@dataclass
class ToldNoise:
    """A noise floor with one band per model, which remembers what it was asked."""

    bands: Mapping[str, Band]
    asked: list[dict[str, Any]] = field(default_factory=list)

    def band(
        self,
        metric: str,
        *,
        task: str,
        model: str,
        surface: str,
        without: Collection[str] = (),
        recipe: Mapping[str, str | None] | None = None,
    ) -> Band:
        place = {"metric": metric, "task": task, "model": model, "surface": surface}
        self.asked.append({**place, "without": tuple(without), "recipe": dict(recipe or {})})
        return self.bands[model]
