r"""Reading a label from what a model returned: bare, quoted, fenced, in a JSON object or in a sentence."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dojo_kit.records import Usage
from dojo_kit.text.output import parse_json_output, strip_wrapping
from dojo_kit.vocabulary import Normalized, Vocabulary, own_vocabulary, vocabulary

FAILURE_MARKS = ("ERROR:", "ERROR!")
"""What an output starts with when a runner wrote down a failed call in place of an answer."""


_MISSING = ("NAType", "NaTType")


def label_text(value: Any) -> str:
    """Return a label as text; whole numbers without a decimal point, a missing value as an empty text.

    Of a list the first item is taken.

    Examples:
        >>> label_text("yes"), label_text(1.0), label_text(True), label_text(None), label_text(float("nan"))
        ('yes', '1', 'true', '', '')
        >>> label_text(["yes"]), label_text([])
        ('yes', '')
    """
    if isinstance(value, np.generic):
        value = value.item()
    match value:
        case None:
            return ""
        case str():
            return value
        case bool():
            return str(value).lower()
        case float() if math.isnan(value):
            return ""
        case float() if value.is_integer():
            return str(int(value))
        case list() | tuple():
            return label_text(value[0]) if value else ""
        case Mapping():
            return json.dumps(value, default=str)
    return "" if type(value).__name__ in _MISSING else str(value)


def label_texts(values: Sequence[Any]) -> NDArray[np.object_]:
    """Return a column of labels as texts, shape (n,), see `label_text`; what is missing may stay as it is."""
    import pandas as pd

    column = np.empty(len(values), dtype=object)
    column[:] = values
    if pd.api.types.infer_dtype(column, skipna=True) == "string":
        return column
    column[:] = [label_text(value) for value in values]
    return column


def normalize_label(value: Any, labels: Vocabulary | str | Iterable[str] = "doc_class") -> Normalized:
    r"""Read which label an answer names.

    Reasoning blocks and code fences are dropped; of a JSON object the vocabulary's own field is read (``doc_type`` for
    document classes), or its only one.

    Args:
        value: A model's answer: text, a decoded JSON object, a number, or None.
        labels: The vocabulary, its name, or the labels themselves.

    Examples:
        >>> normalize_label('```json\n{"doc_type": "Merger Agreement"}\n```').key
        'merger_agreement'
        >>> normalize_label("Option B", ["A", "B"]).key, normalize_label(None).flag
        ('B', 'empty')
    """
    known = vocabulary_of(labels)
    written = json.dumps(value, default=str) if isinstance(value, Mapping) else label_text(value)
    answer = value if isinstance(value, Mapping) else json_answer(written)
    if answer is None:
        return known.normalize(strip_wrapping(written))._replace(text=written)
    stated = _field_of(answer, known)
    return Normalized(None, "unknown", written) if stated is None else known.normalize(stated)._replace(text=written)


def vocabulary_of(labels: Vocabulary | str | Iterable[str]) -> Vocabulary:
    """Return a vocabulary given itself, its name, or its labels."""
    if isinstance(labels, Vocabulary):
        return labels
    return vocabulary(labels) if isinstance(labels, str) else own_vocabulary(labels)


def json_answer(text: Any) -> Mapping[str, Any] | None:
    """Return the JSON object an answer holds, None when there is none."""
    if not isinstance(text, str) or "{" not in text:
        return None
    try:
        value = parse_json_output(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, Mapping) else None


def _field_of(answer: Mapping[str, Any], known: Vocabulary) -> str | None:
    """Return the first field of an answer that holds a label as text or number."""
    names = (*known.fields, "answer", "label", *(answer if len(answer) == 1 else ()))
    values = (answer[name] for name in names if name in answer)
    return next((label_text(value) for value in values if isinstance(value, str | int | float)), None)


def is_failed_output(output: Any) -> bool:
    """Tell whether an output is the note of a failed call.

    Examples:
        >>> is_failed_output("ERROR: timeout"), is_failed_output("Error handling agreement")
        (True, False)
    """
    return isinstance(output, str) and output.lstrip().startswith(FAILURE_MARKS)


def exact_match(output: Any, expected: Any, labels: Vocabulary | str | Iterable[str] = "doc_class") -> float | None:
    """Score one answer: 1.0 when it names the expected label, else 0.0; None when nothing is expected.

    Examples:
        >>> exact_match("I think this is a contract.", "Contract"), exact_match("ERROR: timeout", "contract")
        (1.0, 0.0)
    """
    known = vocabulary_of(labels)
    truth = normalize_label(expected, known)
    if truth.flag == "empty":
        return None
    if truth.key is None:
        known = known.extended([truth.text])
        truth = normalize_label(expected, known)
    return 0.0 if is_failed_output(output) else float(normalize_label(output, known).key == truth.key)


def failure(output: Any) -> float:
    """Score one answer: 1.0 when the call failed, else 0.0."""
    return float(is_failed_output(output))


def billed_cost(usage: Usage | None) -> float:
    """Return what one call was billed, in US dollars; 0.0 for a replayed row, which was paid for in an earlier run."""
    return (usage.cost_usd or 0.0) if usage else 0.0
