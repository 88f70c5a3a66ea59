"""From a row as stored to a typed one, task by task.

What every task has in common:

- A row is ``failed`` when it says so (status, tag or error), when its answer cannot be decoded, when it
  claims to be completed and holds no answer, or when it is a *disguised failure*: the reasoning is the text
  of an exception, or its usage record is empty although it is no replay.
- A *replay* is a completed row whose usage record is empty and which carries an answer of its own: for a
  sorter a label with reasons or a confidence above 0, for other tasks a prediction that is not blank. It was
  paid for in an earlier run; it stays completed and its ``usage`` is None.
- A failed row holds no prediction, confidence or reasons, so that a runner's made-up label cannot be counted
  as a vote. ``stored`` keeps the row as it stood in the file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from dojo_kit.records import ChainedRow, ExtractionRow, LabelRow, QuestionRow, Row, Status
from dojo_kit.runs.cells import shown
from dojo_kit.runs.outcomes import (
    NO_ANSWER,
    UsageRecord,
    decode_prediction,
    holds_answer,
    is_error_reasoning,
    nested,
    stored_error,
    usage_record,
)
from dojo_kit.runs.problems import ProblemList
from dojo_kit.runs.raw_rows import RawRow
from dojo_kit.scoring.label_reading import is_failed_output, json_answer

RowKind = Literal["extraction", "chained", "label", "question"]

EXTRACTION_TASK = "contract_entity_extraction"
CHAINED_TASK = "chained_sorter_extractor"
QUESTION_TASK = "contracteval"
LABEL_TASK = "task_classification"
PLAIN_LABEL_TASK = "multiclass"
"""Task of a file of labels that names none: they are compared as they stand."""

SUBTYPE_TASK = "subtype_classification"
DOCCLASS_TASK = "docclass_classification"

_KINDS: Mapping[str, RowKind] = {
    EXTRACTION_TASK: "extraction",
    "extraction": "extraction",
    CHAINED_TASK: "chained",
    "chained": "chained",
    QUESTION_TASK: "question",
}
_USAGE_KEYS = ("tokens", "sorter_tokens", "usage", "scores.sorter_usage", "scores.usage")


def row_kind(task: str) -> RowKind:
    """Return which type of row a task has; an unknown task has plain labels.

    Examples:
        >>> [row_kind(task) for task in ("contract_entity_extraction", "subtype_classification")]
        ['extraction', 'label']
    """
    return _KINDS.get(task, "extraction" if task.endswith("_extraction") else "label")


def typed_row(raw: RawRow, *, document: str, task: str, problems: ProblemList) -> Row:
    """Make a typed row.

    Args:
        raw: The row as stored.
        document: Name of its document (of its question, for ContractEval).
        task: Task key.
        problems: Where oddities that do not spoil the row are noted.

    Raises:
        InputError: A label, a status or a count has a wrong type.
    """
    return _MAKERS[row_kind(task)](raw, document, task, problems)


def _status(error: str | None) -> Status:
    return "failed" if error else "completed"


def _stored(raw: RawRow) -> dict[str, Any]:
    return raw.values if raw.stored is None else raw.stored


def _extraction_row(raw: RawRow, document: str, task: str, problems: ProblemList) -> ExtractionRow:
    record = usage_record(raw, *_USAGE_KEYS)
    error = stored_error(raw)
    predicted = None
    if error is None and "predicted" in raw.values:
        predicted, error = _answer(raw.values["predicted"], record)
    return ExtractionRow(
        document=document,
        status=_status(error),
        error=error,
        usage=record.usage,
        stored=_stored(raw),
        predicted=predicted,
    )


def _answer(value: Any, record: UsageRecord) -> tuple[Any, str | None]:
    """Decode an extractor's answer and unmask one that only looks like an answer."""
    predicted, error = decode_prediction(value)
    if error is None and not holds_answer(predicted):
        reasons = predicted.get("reasoning") if isinstance(predicted, Mapping) else None
        if is_error_reasoning(reasons, confidence=None):
            return None, str(reasons)
        if record.empty:
            return None, NO_ANSWER
    return predicted, error


@dataclass(frozen=True, slots=True)
class _Labels:
    """The label part of a row, before it is known whether the row failed."""

    predicted: str | None
    expected: str | None
    predicted_subclass: str | None
    expected_subclass: str | None
    confidence: float | None
    reasoning: str

    def failure(self, record: UsageRecord) -> str | None:
        """Say why this is no answer; None when it is one."""
        if is_error_reasoning(self.reasoning, confidence=self.confidence):
            return self.reasoning
        if self.predicted is None:
            return NO_ANSWER
        if is_failed_output(self.predicted):
            return self.predicted.strip()
        blank = not self.predicted.strip() and record.usage is None
        return NO_ANSWER if blank else None


_FIRST_LEVEL = ("doc_type", "predicted"), ("expected_doc_type", "expected")
_FAMILY = ("contract_subtype", "doc_type", "predicted"), ("expected_subtype", "expected_doc_type", "expected")
_SECOND_LEVEL = ("doc_subclass", "predicted_subclass"), ("expected_subclass",)


def _label_names(task: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return _FAMILY if "subtype" in task or row_kind(task) == "chained" else _FIRST_LEVEL


def _labels(raw: RawRow, task: str, problems: ProblemList) -> tuple[_Labels, bool]:
    """Read labels from a row, its decoded prediction and its sorter, the later ones winning.

    Returns:
        The labels, and whether they came from a sorter, which states reasons and a confidence.
    """
    values = dict(raw.values)
    predicted_names, expected_names = _label_names(task)
    if row_kind(task) == "chained":
        values.pop("predicted", None)
    elif (answer := _answer_object(values.get("predicted"))) is not None:
        values |= {"predicted": None} | _spoken(answer, predicted_names)
    sorter = nested(raw.values, "scores.composite.sorter") or nested(raw.values, "scores.sorter")
    sorter = sorter or raw.values.get("sorter")
    if isinstance(sorter, Mapping):
        values.update((key, value) for key, value in sorter.items() if value not in (None, ""))
    merged = RawRow(values, raw.file, raw.line, raw.path)
    labels = _Labels(
        predicted=_predicted(merged, predicted_names, problems),
        expected=_expected(merged, expected_names),
        predicted_subclass=_predicted(merged, _SECOND_LEVEL[0], problems),
        expected_subclass=_expected(merged, _SECOND_LEVEL[1]),
        confidence=_confidence(merged, problems),
        reasoning=values["reasoning"] if isinstance(values.get("reasoning"), str) else "",
    )
    return labels, isinstance(sorter, Mapping) and bool(sorter)


def _answer_object(value: Any) -> Mapping[str, Any] | None:
    return value if isinstance(value, Mapping) else json_answer(value)


def _spoken(answer: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Return what an answer given as an object says; it has no say in what is expected.

    An object without a field named like a label is kept whole, as text: the task knows which of its fields that is.
    """
    said = {key: answer[key] for key in (*names, *_SECOND_LEVEL[0], "confidence", "reasoning") if key in answer}
    if not any(name in answer for name in names) and holds_answer(answer):
        said["predicted"] = json.dumps(answer, default=str)
    return said


def _first_filled(values: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    return next((name for name in names if values.get(name) not in (None, "")), None)


def _predicted(raw: RawRow, names: tuple[str, ...], problems: ProblemList) -> str | None:
    """Return the model's label; a wrong type is kept as JSON text, for it is the model's fault."""
    name = _first_filled(raw.values, names)
    if name is None:
        return "" if any(raw.values.get(name) == "" for name in names) else None
    value = raw.values[name]
    if isinstance(value, list) and value:
        problems.note(raw.error(f"not a label but {shown(value)}; its first is read", field=name, expected="text"))
        value = value[0]
    text = label_text(value)
    if text is None:
        problems.note(raw.error(f"not a label but {shown(value)}", field=name, expected="text"))
        return json.dumps(value, default=str)
    return text


def _expected(raw: RawRow, names: tuple[str, ...]) -> str | None:
    name = _first_filled(raw.values, names)
    if name is None:
        return None
    text = label_text(raw.values[name])
    if text is None:
        raise raw.error(f"not a label but {shown(raw.values[name])}", field=name, expected="text")
    return text


def label_text(value: Any) -> str | None:
    """Return a label as text; None when it is neither text nor a number.

    Examples:
        >>> label_text("yes"), label_text(1), label_text(1.0), label_text(True), label_text(["a"])
        ('yes', '1', '1', 'true', None)
    """
    match value:
        case str():
            return value
        case bool():
            return str(value).lower()
        case int():
            return str(value)
        case float():
            return str(int(value)) if value.is_integer() else str(value)
    return None


def _confidence(raw: RawRow, problems: ProblemList) -> float | None:
    value = raw.values.get("confidence")
    try:
        number = None if value is None or isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = None
    if number is not None and 0 <= number <= 1:
        return number
    if value not in (None, ""):
        problems.note(
            raw.error(f"confidence {shown(value)} is not used", field="confidence", expected="a number from 0 to 1")
        )
    return None


def _label_row(raw: RawRow, document: str, task: str, problems: ProblemList) -> LabelRow:
    record = usage_record(raw, *_USAGE_KEYS)
    labels, error = _judged_labels(raw, task, record, problems)
    return LabelRow(
        document=document,
        status=_status(error),
        error=error,
        usage=record.usage,
        stored=_stored(raw),
        **_shown_labels(labels, error),
    )


def _judged_labels(raw: RawRow, task: str, record: UsageRecord, problems: ProblemList) -> tuple[_Labels, str | None]:
    labels, sorted_ = _labels(raw, task, problems)
    error = stored_error(raw) or labels.failure(record)
    if error is None and record.empty and sorted_ and not (labels.reasoning.strip() or labels.confidence):
        error = NO_ANSWER
    return labels, error


def _shown_labels(labels: _Labels, error: str | None) -> dict[str, Any]:
    truth = {"expected": labels.expected, "expected_subclass": labels.expected_subclass}
    if error:
        return truth
    return truth | {
        "predicted": labels.predicted,
        "predicted_subclass": labels.predicted_subclass,
        "confidence": labels.confidence,
        "reasoning": labels.reasoning,
    }


def _chained_row(raw: RawRow, document: str, task: str, problems: ProblemList) -> ChainedRow:
    """Read both halves of a chained row, either of which can fail alone.

    ``status`` and the labels are the sorter's. ``extracted`` is None when the extractor failed; on a row
    whose sorter answered, ``error`` then starts with ``extractor:`` while the row stays completed. When only
    the sorter failed, ``extracted`` is kept.
    """
    sorting = usage_record(raw, "sorter_tokens", "scores.usages.sorter")
    extracting = usage_record(raw, "extractor_tokens", "scores.usages.extractor")
    labels, error = _judged_labels(raw, task, sorting, problems)
    extracted, extractor_error = None, stored_error(raw)
    if extractor_error is None:
        extracted, extractor_error = _extracted(raw, extracting)
    detail = error or (f"extractor: {extractor_error}" if extractor_error else None)
    return ChainedRow(
        document=document,
        status=_status(error),
        error=detail,
        usage=(sorting + extracting).usage,
        stored=_stored(raw),
        extracted=extracted,
        **_shown_labels(labels, error),
    )


def _extracted(raw: RawRow, record: UsageRecord) -> tuple[Any, str | None]:
    scores = raw.values.get("extractor_scores") or nested(raw.values, "scores.extractor_scores")
    if scores is None:
        scores = {"predicted": raw.values.get("predicted")}
    if not isinstance(scores, Mapping):
        raise raw.error(f"not an object but {shown(scores)}", field="extractor_scores", expected="an object")
    if scores.get("error"):
        return None, str(scores["error"])
    predicted = scores["predicted"] if "predicted" in scores else raw.values.get("predicted")
    return _answer(predicted, record)


def _question_row(raw: RawRow, document: str, task: str, problems: ProblemList) -> QuestionRow:
    values = raw.values
    title, _, category = document.partition("__")
    record = usage_record(raw, *_USAGE_KEYS)
    error = stored_error(raw)
    predicted = _predicted(raw, ("predicted",), problems)
    if error is None and (predicted is None or (not predicted.strip() and record.usage is None)):
        error = NO_ANSWER
    elif error is None and is_failed_output(predicted):
        error = predicted
    return QuestionRow(
        document=document,
        status=_status(error),
        error=error,
        usage=record.usage,
        stored=_stored(raw),
        title=_text(raw, "title") or title,
        category=_text(raw, "category") or category,
        question=_text(raw, "question"),
        label_spans=_spans(raw, values.get("label_spans")),
        predicted=None if error else predicted,
    )


def _text(raw: RawRow, key: str) -> str:
    value = raw.values.get(key)
    if value is None or isinstance(value, str):
        return value or ""
    raise raw.error(f"not text but {shown(value)}", field=key, expected="text")


def _spans(raw: RawRow, spans: Any) -> tuple[str, ...]:
    """Return a question's labels; a missing list is an error, for it would read as "no such clause"."""
    if not isinstance(spans, list) or not all(isinstance(span, str) for span in spans):
        raise raw.error(f"not a list of texts but {shown(spans)}", field="label_spans", expected="a list of texts")
    return tuple(spans)


_MAKERS: Mapping[RowKind, Callable[[RawRow, str, str, ProblemList], Row]] = {
    "extraction": _extraction_row,
    "chained": _chained_row,
    "label": _label_row,
    "question": _question_row,
}
