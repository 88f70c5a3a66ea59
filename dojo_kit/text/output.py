"""Unwrapping raw model output: reasoning blocks, code fences and JSON in prose.

Models wrap answers in ``<think>`` blocks and code fences. What a scorer reads must be the answer alone: a
span quoted while thinking is not an answer.
"""

from __future__ import annotations

import json
import re

_THINK = re.compile(r"<(think|thinking|reasoning)\b[^>]*>.*?(?:</\1\s*>|\Z)", re.IGNORECASE | re.DOTALL)
_FENCE = re.compile(
    r"^[ \t]*(`{3,}|~{3,})[ \t]*([\w+-]*)[^\n]*\n(.*?)(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE
)


def strip_reasoning(text: str) -> str:
    """Drop reasoning blocks; one that is never closed runs to the end.

    Examples:
        >>> strip_reasoning("<think>maybe no</think>Yes")
        'Yes'
        >>> strip_reasoning("so it is no</think> Yes")
        'Yes'
    """
    if "<" not in text:
        return text
    text = _THINK.sub("", text)
    head, closing, tail = text.rpartition("</think>")
    return (tail if closing else head + tail).strip()


def strip_wrapping(text: str) -> str:
    r"""Drop reasoning blocks and unwrap an answer that is one fenced block.

    Examples:
        >>> strip_wrapping("```json\n{\"a\": 1}\n```")
        '{"a": 1}'
    """
    text = strip_reasoning(text)
    if "```" in text or "~~~" in text:
        fence = _FENCE.fullmatch(text.strip())
        if fence:
            return fence.group(3).strip()
    return text


def parse_json_output(text: str) -> object:
    r"""Find the JSON value in a model's answer: bare, fenced, or the first object or array in prose.

    Args:
        text: Raw model output.

    Returns:
        The decoded value.

    Raises:
        ValueError: No JSON object or array can be read.

    Examples:
        >>> parse_json_output("```bash\nls\n```\n{\"a\": 1}")
        {'a': 1}
        >>> parse_json_output("<think>{}</think> Here: [1, 2]")
        [1, 2]
    """
    answer = strip_reasoning(text).strip()
    fenced = [match.group(3) for match in _FENCE.finditer(answer)]
    for candidate in (answer, *fenced):
        try:
            value = json.loads(candidate)
        except ValueError:
            continue
        if isinstance(value, dict | list):
            return value
    decoder = json.JSONDecoder()
    for start in (match.start() for match in re.finditer(r"[{\[]", answer)):
        try:
            return decoder.raw_decode(answer, start)[0]
        except ValueError:
            continue
    raise ValueError(f"no JSON object or array in model output starting {answer[:60]!r}")
