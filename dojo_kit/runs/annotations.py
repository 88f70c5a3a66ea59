"""What people decided about single spans: judgements saved as JSONL, and resumed.

A judgement is about what one run returned for one label, so every record says who made it, when, and with which
recipe the run was scored. A file holds one recipe and, of each person, one record per span.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, get_args

from dojo_kit.errors import ComparabilityError, InputError, closest
from dojo_kit.runs.cells import shown
from dojo_kit.runs.sources import PathLike, existing_file, read_bytes, source_path
from dojo_kit.runs.strict_json import lines, parse_line
from dojo_kit.scoring.run import Recipe
from dojo_kit.storage import write_text

Verdict = Literal["true_miss", "not_a_miss", "label_wrong"]
"""The label is right and was missed; the item is good enough and the score is wrong; the label is wrong."""

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

_FILE = "annotations, one JSON object a line"
_TIME = "an ISO time such as 2026-01-31T14:05:00+00:00"


@dataclass(frozen=True, slots=True)
class Annotation:
    """What one person decided about one span.

    Attributes:
        span: Id of the span, ``<document key>:<field>:<index>``.
        document: Name of the document, as the run spells it.
        field: The field whose label it is.
        category: Category of the label; empty when it has none.
        text: The label.
        verdict: The judgement; None for a note on a span that is not judged yet.
        note: Remark of the person.
        who: The person; filled in when saved.
        when: ISO time; filled in when saved.
        recipe: How the run was scored (see `annotation_recipe`); filled in when saved.
    """

    span: str
    document: str
    field: str
    category: str
    text: str
    verdict: Verdict | None
    note: str = ""
    who: str = ""
    when: str = ""
    recipe: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the record as JSON-ready values."""
        return asdict(self)


_NAMES = tuple(one.name for one in fields(Annotation))
_TEXTS = tuple(name for name in _NAMES if name not in ("verdict", "recipe"))


def annotation_recipe(recipe: Recipe) -> dict[str, Any]:
    """Return what makes judgements transferable: the comparable part of a recipe, and the run they are about.

    Args:
        recipe: Recipe of the scored run.
    """
    comparable = {name: getattr(recipe, name) for name in Recipe.COMPARABLE}
    return {**comparable, "run": recipe.run.get("name") or recipe.run.get("source", "")}


def save_annotations(
    path: PathLike,
    annotations: Iterable[Annotation],
    *,
    who: str,
    when: str,
    recipe: Recipe | Mapping[str, Any],
    withdrawn: Collection[str] = (),
) -> Path:
    """Merge annotations into a file: one record per span and person, the newest wins, all others stay.

    A record that says the same as the one in the file keeps the time of the latter. The file is written whole or not
    at all; two people who save into one file at the same moment can still lose what the first one wrote.

    Args:
        path: JSONL file; made when missing.
        annotations: Records; what they leave empty of who, when and recipe is filled in.
        who: The person who judged.
        when: Time of judging, as ISO text.
        recipe: How the run was scored: its `Recipe`, or what `annotation_recipe` returns.
        withdrawn: Ids of spans whose judgement this person took back; their records are removed.

    Returns:
        The path.

    Raises:
        InputError: The file holds something else, a record is incomplete, or the file cannot be written.
        ComparabilityError: The file or a record was made with another recipe.

    Examples:
        >>> import tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> miss = Annotation("a:law:0", "a", "law", "Audit Rights", "may audit", "true_miss")
        >>> path = Path(folder.name) / "judged.jsonl"
        >>> _ = save_annotations(path, [miss], who="Ada", when="2026-01-31T14:05:00+00:00", recipe={"spans": "all"})
        >>> [(one.who, one.verdict) for one in load_annotations(path)]
        [('Ada', 'true_miss')]
        >>> folder.cleanup()
    """
    path = Path(source_path(path, expected=_FILE))
    made_with = _recipe(recipe)
    kept = _read(path) if path.is_file() else {}
    _require_recipe(kept.values(), made_with, path)
    new = [_filled(one, who, when, made_with) for one in annotations]
    _require_recipe(new, made_with, None)
    for one in new:
        before = kept.get((one.span, one.who))
        unchanged = before is not None and replace(one, when=before.when) == before
        if not unchanged:
            kept[one.span, one.who] = one
    for span in withdrawn:
        kept.pop((span, who), None)
    write_text(path, "".join(_line(one) for one in kept.values()))
    return path


def load_annotations(
    path: PathLike, *, recipe: Recipe | Mapping[str, Any] | None = None, any_recipe: bool = False
) -> tuple[Annotation, ...]:
    """Read annotations; of several records of one person about one span the last counts.

    Args:
        path: JSONL file written by `save_annotations` or copied from a labeler.
        recipe: How the run at hand was scored; judgements made with another recipe are refused.
        any_recipe: Read them all the same. Every record still says with which recipe it was made.

    Raises:
        InputError: The file is missing, or a line is no annotation; the message names file, line and field.
        ComparabilityError: A judgement was made with another recipe.
    """
    path = source_path(path, expected=_FILE)
    found = _read(path)
    if recipe is not None and not any_recipe:
        _require_recipe(found.values(), _recipe(recipe), path)
    return tuple(found.values())


def _recipe(recipe: Recipe | Mapping[str, Any]) -> dict[str, Any]:
    return annotation_recipe(recipe) if isinstance(recipe, Recipe) else dict(recipe)


def _filled(one: Annotation, who: str, when: str, recipe: Mapping[str, Any]) -> Annotation:
    filled = replace(one, who=one.who or who, when=one.when or when, recipe=dict(one.recipe or recipe))
    fault = _fault(filled.as_dict())
    if fault is not None:
        message, name, expected = fault
        raise InputError(f"annotation of span {one.span!r}: {message}", field=name, expected=expected)
    return filled


def _require_recipe(found: Iterable[Annotation], recipe: Mapping[str, Any], path: PathLike | None) -> None:
    for one in found:
        names = [name for name in {**one.recipe, **recipe} if one.recipe.get(name) != recipe.get(name)]
        if names:
            place = "" if path is None else f"{path}: "
            parts = "; ".join(
                f"{name}: {shown(one.recipe.get(name))} there, {shown(recipe.get(name))} here" for name in names
            )
            raise ComparabilityError(
                f"{place}span {one.span!r} was judged with another recipe ({parts}); a judgement is about one run "
                "scored one way: use a file of its own, or load with any_recipe=True to read it all the same"
            )


def _line(one: Annotation) -> str:
    return json.dumps(one.as_dict(), ensure_ascii=False, allow_nan=False) + "\n"


def _read(path: PathLike) -> dict[tuple[str, str], Annotation]:
    if not existing_file(path, expected=_FILE).stat().st_size:
        return {}  # everything was taken back
    data = read_bytes(path, expected=_FILE)
    found: dict[tuple[str, str], Annotation] = {}
    for number, start, line in lines(data):
        values = parse_line(line, file=path, number=number, start=start, expected=_FILE)
        if not isinstance(values, dict):
            raise InputError(f"not an object but {shown(values)}", file=path, line=number, expected=_FILE)
        fault = _fault(values)
        if fault is not None:
            message, name, expected = fault
            raise InputError(message, file=path, line=number, field=name, expected=expected)
        one = Annotation(**values)
        found[one.span, one.who] = one
    return found


def _fault(values: Mapping[str, Any]) -> tuple[str, str, str] | None:
    """Return what is wrong with a complete record, the key, and what was expected; None when nothing is."""
    for name in (*_NAMES, *values):
        if name not in values:
            return "is missing", name, f"an object with {', '.join(_NAMES)}"
        if name not in _NAMES:
            return f"unknown key{closest(name, _NAMES)}", name, f"only {', '.join(_NAMES)}"
    for name in _TEXTS:
        if not isinstance(values[name], str):
            return f"{shown(values[name])} is no text", name, "text"
    for name in ("span", "who"):
        if not values[name].strip():
            return "is empty", name, "the id of a span" if name == "span" else "who judged"
    if not isinstance(values["recipe"], Mapping):
        return f"{shown(values['recipe'])} is no recipe", "recipe", "an object"
    return _verdict_fault(values) or _time_fault(values["when"])


def _verdict_fault(values: Mapping[str, Any]) -> tuple[str, str, str] | None:
    verdict = values["verdict"]
    if verdict is None and not values["note"].strip():
        return "neither a verdict nor a note", "verdict", f"one of {', '.join(VERDICTS)}, or null beside a note"
    if verdict is not None and verdict not in VERDICTS:
        hint = closest(verdict, VERDICTS) if isinstance(verdict, str) else ""
        return f"{shown(verdict)} is no verdict{hint}", "verdict", f"one of {', '.join(VERDICTS)}"
    return None


def _time_fault(when: str) -> tuple[str, str, str] | None:
    try:
        datetime.fromisoformat(when)
    except ValueError:
        return f"{shown(when)} is no time", "when", _TIME
    return None
