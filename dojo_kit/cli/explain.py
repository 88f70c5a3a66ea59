"""``dojo explain``: why two values score what they score."""

from __future__ import annotations

import json as jsonlib
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from dojo_kit.cli.output import make_table, out, print_json
from dojo_kit.cli.score import ConfigOption, JsonOption, SetOption, settings_from
from dojo_kit.scoring.fields import Explanation, explain_field


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
    is_list = type.startswith("entity_list")
    values = [_list_or_text(text) if is_list else text for text in (predicted, expected)]
    settings = settings_from(Path(config) if config else None, set_)
    why = explain_field(type, *values, partial_gt=partial_gt, settings=settings)
    if json:
        print_json(explanation_as_dict(why))
        return
    out.print(f"[bold]{why.score:.4g}[/]  by [bold]{escape(why.rule)}[/]  ({escape(why.type)})")
    steps = make_table("", ("rule tried", "left"), ("score", "right"), ("meaning", "left"))
    for step in why.steps:
        score = "\N{EN DASH}" if step.score is None else f"{step.score:.4g}"
        steps.add_row(escape(step.rule), score, escape(step.meaning))
    out.print()
    out.print(steps)
    readings = make_table("read as", ("", "left"), ("", "left"))
    readings.show_header = False
    for name, value in _plain(why.readings).items():
        readings.add_row(escape(name), escape(jsonlib.dumps(value, ensure_ascii=False)))
    out.print()
    out.print(readings)
    if why.cautions:
        out.print(f"\n[yellow]caution:[/] {escape(', '.join(why.cautions))}")


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


def _list_or_text(text: str) -> Any:
    try:
        value = jsonlib.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, list) else text


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
