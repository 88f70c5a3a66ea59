"""``dojo explain``: why two values score what they score."""

from __future__ import annotations

import json as jsonlib
import re
from typing import Annotated, Any

import typer

from dojo_kit.cli.inputs import ConfigOption, JsonOption, SetOption, settings_from
from dojo_kit.cli.output import build_table, out, print_json, shown
from dojo_kit.errors import InputError
from dojo_kit.runs.strict_json import parse_json
from dojo_kit.scoring.fields import Explanation, explain_field

_MARK = "\0"
"""Put before a negative number on its way through the parser of options; no argument can hold it."""
_NEGATIVE = re.compile(r"-[\d.,]|-\W\d")


def explain(
    type: Annotated[
        str,
        typer.Argument(metavar="TYPE", help="date, money, name, id, free_text, containment, entity_list[:element]"),
    ],
    predicted: Annotated[str, typer.Argument(help="Predicted value; for lists a JSON list.")],
    expected: Annotated[str, typer.Argument(help="Expected value; for lists a JSON list.")],
    partial_gt: Annotated[bool, typer.Option("--partial-gt", help="Labels of the list are a sample.")] = False,
    set_: SetOption = None,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Show the score of one pair of values, every rule tried, and what the texts were read as."""
    type, *texts = (text.removeprefix(_MARK) for text in (type, predicted, expected))
    is_list = type.startswith("entity_list")
    named = zip(("PREDICTED", "EXPECTED"), texts, strict=True)
    values = [_decoded(text, name) if is_list else text for name, text in named]
    settings = settings_from(config, set_)
    why = explain_field(type, *values, partial_gt=partial_gt, settings=settings)
    if json:
        print_json(explanation_as_dict(why))
        return
    out.print(f"[bold]{why.score:.4g}[/]  by [bold]{shown(why.rule)}[/]  ({shown(why.type)})")
    steps = [[step.rule, _score(step.score), step.meaning] for step in why.steps]
    score_name = "similarity" if is_list else "score"
    out.print()
    out.print(build_table("", [("rule tried", "left"), (score_name, "right"), ("meaning", "fold")], steps))
    readings = [[name, jsonlib.dumps(value, ensure_ascii=False)] for name, value in _plain(why.readings).items()]
    out.print()
    out.print(build_table("read as", [("", "left"), ("", "fold")], readings))
    if why.cautions:
        out.print(f"\n[yellow]caution:[/] {shown(', '.join(why.cautions))}")


def mark_negative_numbers(args: list[str]) -> list[str]:
    """Keep a value such as ``-5`` from being taken for an option of ``dojo explain``.

    Args:
        args: Arguments of ``dojo``; those of other commands, and after ``--``, stay as they are.
    """
    if args[:1] != ["explain"] or "--" in args:
        return args
    return [_MARK + arg if _NEGATIVE.match(arg) else arg for arg in args]


def _score(score: float | None) -> str:
    return "\N{EN DASH}" if score is None else f"{score:.4g}"


def explanation_as_dict(why: Explanation) -> dict[str, Any]:
    """Return an explanation as JSON-ready values."""
    return {
        "type": why.type,
        "predicted": why.predicted,
        "expected": why.expected,
        "score": why.score,
        "rule": why.rule,
        "steps": [{"rule": step.rule, "score": step.score, "meaning": step.meaning} for step in why.steps],
        "readings": _plain(why.readings),
        "cautions": list(why.cautions),
    }


def _decoded(text: str, name: str) -> Any:
    """Read a value of a list field: JSON where it begins like a list or an object, else one item."""
    if not text.lstrip().startswith(("[", "{")):
        return text
    try:
        return parse_json(text, file=None)
    except InputError as error:
        expected = "a JSON list, or text that begins with neither [ nor {"
        raise InputError(error.message, field=name, expected=expected) from None


def _plain(value: Any) -> Any:
    """Turn readings (dataclasses, dates, decimals) into JSON-ready values."""
    from dataclasses import fields, is_dataclass

    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    return value if isinstance(value, str | int | float | bool | None) else str(value)
