"""How the call behind a stored row went: its status, its error, what it consumed, and what it answered.

Some runners store a failed call as ``completed`` with a made-up answer (label ``other``, confidence 0, the
exception's text as reasoning). `is_error_reasoning` and `UsageRecord.empty` are what gives them away.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dojo_kit.records import Usage
from dojo_kit.runs.cells import shown
from dojo_kit.runs.raw_rows import RawRow
from dojo_kit.runs.strict_json import whole_characters
from dojo_kit.schema import META_KEYS
from dojo_kit.text.output import parse_json_output
from dojo_kit.text.tokens import is_no_value

NO_ANSWER = "no answer stored"
"""Error of a row that claims to be completed and holds no answer."""

COMPLETED_WORDS = frozenset({"completed", "complete", "ok", "success", "succeeded", "done"})
FAILED_WORDS = frozenset({"error", "error!", "failed", "failure"})

_DEEPEST = 64
_ERROR_REASONING = re.compile(r"\s*error\b\s*(code\s*:|[:!])?", re.IGNORECASE)
_PROMPT_KEYS = ("prompt_tokens", "input_tokens")
_COMPLETION_KEYS = ("completion_tokens", "output_tokens")
_COST_KEYS = ("cost", "cost_usd")


def stored_error(row: RawRow) -> str | None:
    """Return why a row failed by its own word: its error, else a status that is not a completed one.

    Raises:
        InputError: The status is not text.
    """
    error = row.values.get("error")
    if error and str(error).strip():
        return error if isinstance(error, str) else json.dumps(error, default=str)
    for key in ("status", "tag"):
        status = row.values.get(key)
        if status is not None and not isinstance(status, str):
            raise row.error(f"not text but {shown(status)}", field=key, expected="completed or error")
        if status and status.strip().lower() not in COMPLETED_WORDS:
            return f"status {status!r}"
    return None


@dataclass(frozen=True, slots=True)
class UsageRecord:
    """What a row says about tokens.

    Attributes:
        usage: Tokens and cost, None when none are recorded.
        empty: Whether there is a record and nothing in it, as when a call failed or was replayed from a
            checkpoint. A row without any record (a plain list of predictions) is not empty.
    """

    usage: Usage | None = None
    empty: bool = False

    def __add__(self, other: UsageRecord) -> UsageRecord:
        """Add up two calls made for one row."""
        known = [record.usage for record in (self, other) if record.usage]
        costs = [usage.cost_usd for usage in known if usage.cost_usd is not None]
        if not known:
            return UsageRecord(empty=self.empty or other.empty)
        prompt = sum(usage.prompt_tokens for usage in known)
        completion = sum(usage.completion_tokens for usage in known)
        return UsageRecord(Usage(prompt, completion, sum(costs) if costs else None))


def usage_record(row: RawRow, *keys: str) -> UsageRecord:
    """Read what a row consumed from the first of several keys, else from columns of the row itself.

    A stored cost of 0 beside no cost from the provider means that nobody knew, so it is None.

    Args:
        row: The row.
        keys: Keys that may hold a usage record, such as ``tokens``; a dot steps into an object.

    Raises:
        InputError: A record is no object, or a count no whole number of 0 or more.
    """
    for key in keys:
        record = nested(row.values, key)
        if record is not None:
            if not isinstance(record, Mapping):
                raise row.error(f"not an object but {shown(record)}", field=key, expected="an object of counts")
            return _usage(row, record, key)
    if any(row.values.get(key) is not None for key in (*_PROMPT_KEYS, *_COMPLETION_KEYS)):
        return _usage(row, row.values, "")
    return UsageRecord()


def _usage(row: RawRow, record: Mapping[str, Any], key: str) -> UsageRecord:
    prompt = _number(row, record, _PROMPT_KEYS, key)
    completion = _number(row, record, _COMPLETION_KEYS, key)
    if not prompt and not completion:
        prompt = _number(row, record, ("total_tokens",), key)
    cost = _number(row, record, _COST_KEYS, key)
    if cost is None:
        cost = _number(row, row.values, ("cost_usd",), "") or None
    if not prompt and not completion:
        return UsageRecord(empty=True)
    return UsageRecord(Usage(int(prompt or 0), int(completion or 0), cost))


def _number(row: RawRow, record: Mapping[str, Any], names: tuple[str, ...], key: str) -> float | None:
    """Return the first of several numbers; tables hold them as text."""
    name = next((name for name in names if record.get(name) is not None), None)
    if name is None:
        return None
    value = record[name]
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    whole = "tokens" in name
    if not (0 <= number < math.inf) or (whole and number != int(number)):
        expected = "a whole number of 0 or more" if whole else "a number of 0 or more"
        field = f"{key}.{name}" if key else name
        raise row.error(f"not a count but {shown(value)}", field=field, expected=expected)
    return number


def nested(values: Mapping[str, Any], key: str) -> Any:
    """Follow a dotted key through objects; None where it leads nowhere.

    Examples:
        >>> nested({"scores": {"sorter": {"confidence": 1}}}, "scores.sorter.confidence")
        1
        >>> nested({"scores": None}, "scores.sorter") is None
        True
    """
    value: Any = values
    for step in key.split("."):
        value = value.get(step) if isinstance(value, Mapping) else None
    return value


def is_error_reasoning(reasoning: object, *, confidence: float | None) -> bool:
    """Tell whether a model's stated reasons are the text of an exception.

    The text starts with the word ``error``, upper or lower case. Followed by a colon, ``code:`` or an
    exclamation mark that is enough; otherwise the model must not have been confident either, because an
    honest answer may begin with "Error handling services are ...".

    Args:
        reasoning: The stated reasons.
        confidence: The stated confidence, None when there is none.

    Examples:
        >>> is_error_reasoning("error: Connection error.", confidence=0.9)
        True
        >>> is_error_reasoning("Error correction is the core of the deal", confidence=0.9)
        False
        >>> is_error_reasoning("Errors and omissions insurance", confidence=None)
        False
    """
    match = _ERROR_REASONING.match(reasoning) if isinstance(reasoning, str) else None
    return match is not None and (match.group(1) is not None or not confidence)


def decode_prediction(value: Any) -> tuple[Any, str | None]:
    r"""Decode an extractor's stored answer.

    Args:
        value: What was stored: decoded JSON, or raw text of the model (reasoning and fences are dropped).

    Returns:
        The answer and None, or None and the reason why there is none.

    Examples:
        >>> decode_prediction('<think>hm</think>```json\n{"law": "Ohio"}\n```')
        ({'law': 'Ohio'}, None)
        >>> decode_prediction("I could not find it")[1][:11]
        'parse error'
    """
    if value is None:
        return None, NO_ANSWER
    if isinstance(value, str):
        try:
            value = parse_json_output(value)
        except RecursionError:
            return None, "parse error: the answer is nested too deeply"
        except ValueError as error:
            return None, f"parse error: {error}"
    fault = _fault(value)
    return (None, f"parse error: {fault}") if fault else (whole_characters(value), None)


def holds_answer(predicted: Any) -> bool:
    """Tell whether an extractor's answer states anything at all.

    Examples:
        >>> holds_answer({"law": None, "confidence": 0.0}), holds_answer({"law": "Ohio"})
        (False, True)
    """
    if isinstance(predicted, Mapping):
        return any(not is_no_value(value) for key, value in predicted.items() if key not in META_KEYS)
    return not is_no_value(predicted)


def _fault(value: Any) -> str | None:
    """Say what makes a decoded answer unusable; None when nothing does."""
    level = [value]
    for _ in range(_DEEPEST):
        if any(isinstance(item, float) and not math.isfinite(item) for item in level):
            return "NaN or Infinity in the answer"
        inner = (item.values() if isinstance(item, dict) else item for item in level if isinstance(item, dict | list))
        level = [item for items in inner for item in items]
        if not level:
            return None
    return "the answer is nested too deeply"
