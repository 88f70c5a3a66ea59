"""What may be compared: runs of one task over the same documents, measured alike.

Whatever differs is named, with the word that lets a comparison go on in spite of it. What is not known of stored
scores does not block a comparison of two of them, unless their rows prove that they were scored differently.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dojo_kit.analysis.expectations import label_differences
from dojo_kit.analysis.measured import Measured
from dojo_kit.analysis.measured.extraction import field_scores
from dojo_kit.analysis.repeats import repeats
from dojo_kit.errors import ComparabilityError, InputError, closest
from dojo_kit.records import ChainedRow, ExtractionRow, Row, Run
from dojo_kit.tasks.extraction import number_of
from dojo_kit.text.names import document_key

ALLOW = ("surface", "labels", "settings", "scorer", "spans", "embedder", "grounding", "same")
"""Words that let runs be compared although they differ; ``same`` lets a run be compared with itself."""

_ROUNDED = 1.5e-4
"""Stored scores have four decimals, and an embedding may move the last one."""

_SHOWN = 3
_NOTHING_STORED = object()

_ALIKE = {"settings": "settings", "spans": "spans", "embedder": "embedder", "grounding": "grounding"}
"""Word -> part of the recipe that must agree where both are known."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing in which two runs differ.

    Attributes:
        allow: The word that overrides it.
        a: What it is in the first run.
        b: What it is in the second.
        says: What differs, in words.
    """

    allow: str
    a: Any
    b: Any
    says: str


def require_comparable(a: Measured, b: Measured, *, allow: Collection[str] = ()) -> tuple[Difference, ...]:
    """Check that two runs can be compared.

    Args:
        a: The baseline.
        b: The other run.
        allow: Words of `ALLOW` for differences to be overridden.

    Returns:
        The differences that were overridden.

    Raises:
        ComparabilityError: The runs are of different tasks, or differ in what is not allowed; the message names it.
        InputError: A word is none of `ALLOW`.
    """
    words = {allow} if isinstance(allow, str) else set(allow)
    for word in sorted(words - set(ALLOW)):
        raise InputError(f"unknown word {word!r}{closest(word, ALLOW)}", field="allow", expected=", ".join(ALLOW))
    first, second = call_both(a, b)
    if a.kind != b.kind:
        raise ComparabilityError(
            f"runs of different tasks are never compared: {first!r} is {a.task or a.kind} on {_documents(a)}, "
            f"{second!r} is {b.task or b.kind} on {_documents(b)}"
        )
    found = tuple(find_differences(a, b))
    refused = [difference for difference in found if difference.allow not in words]
    if refused:
        reasons = "; ".join(difference.says for difference in refused)
        needed = [difference.allow for difference in refused]
        options = " ".join(f"--allow {word}" for word in needed)
        raise ComparabilityError(
            f"{first!r} and {second!r} cannot be compared: {reasons}. "
            f"To compare them all the same: allow={tuple(needed)!r}, or {options}"
        )
    return found


def find_differences(a: Measured, b: Measured) -> Iterator[Difference]:
    """Yield everything that keeps two runs of one task from being comparable.

    Args:
        a: The baseline.
        b: The other run.
    """
    if how := repeats(a, b):
        yield Difference("same", a.name, b.name, _same_says(a, b, how))
    if a.surface != b.surface:
        yield Difference("surface", a.surface, b.surface, _surface_says(a, b))
    labels = label_differences(a, b)
    if labels:
        yield Difference("labels", a.recipe["labels"], b.recipe["labels"], labels)
    yield from _scorer(a, b, same_labels=not labels)
    for word, part in _ALIKE.items():
        mine, theirs = a.recipe[part], b.recipe[part]
        if mine is not None and theirs is not None and mine != theirs:
            yield Difference(word, mine, theirs, f"{word} differ ({mine} and {theirs})")


def comparable_groups(runs: Iterable[Measured]) -> list[list[Measured]]:
    """Put runs together that may be compared: same task and documents, measured alike.

    A run joins the first group with none of whose members it differs.

    Args:
        runs: The runs.

    Returns:
        The groups, runs in the order given.
    """
    groups: list[list[Measured]] = []
    for run in runs:
        fitting = (group for group in groups if all(_alike(other, run) for other in group))
        group = next(fitting, None)
        if group is None:
            groups.append([run])
        else:
            group.append(run)
    return groups


def _alike(a: Measured, b: Measured) -> bool:
    if a.kind != b.kind or a.surface != b.surface:
        return False
    return all(difference.allow == "same" for difference in find_differences(a, b))


def call_both(a: Measured, b: Measured) -> tuple[str, str]:
    """Return what to call two runs: their names, with their files where the names are the same.

    Args:
        a: A run.
        b: Another one.
    """
    if a.name and b.name and a.name != b.name:
        return a.name, b.name
    files = [run.source.replace("\\", "/").rpartition("/")[2] for run in (a, b)]
    if all(files) and files[0] != files[1]:
        return (f"{a.name} ({files[0]})", f"{b.name} ({files[1]})") if a.name else (files[0], files[1])
    return a.name or "the first run", b.name or "the second run"


def _documents(run: Measured) -> str:
    return f"{len(run):,} {run.noun}{'' if len(run) == 1 else 's'}"


def _same_says(a: Measured, b: Measured, how: str) -> str:
    if a.name != b.name or a.source != b.source:
        return f"every answer is the same in both: one is a {how} of the other"
    return "they are one run: a run compared with itself"


def _surface_says(a: Measured, b: Measured) -> str:
    keys_a, keys_b = set(a.documents.index), set(b.documents.index)
    shared = len(keys_a & keys_b)
    if not shared:
        return f"their {a.noun}s differ (none of {len(a):,} and {len(b):,} in common)"
    if shared == len(a):
        return f"their {a.noun}s differ (the {len(a):,} of the first are a subset of the {len(b):,} of the second)"
    if shared == len(b):
        return f"their {a.noun}s differ (the {len(b):,} of the second are a subset of the {len(a):,} of the first)"
    return (
        f"their {a.noun}s differ ({shared:,} in both, {len(a) - shared:,} only in the first, "
        f"{len(b) - shared:,} only in the second)"
    )


def _scorer(a: Measured, b: Measured, *, same_labels: bool) -> Iterator[Difference]:
    """Compare scorers; where neither is known, look for proof in stored scores, which other labels would be as well."""
    mine, theirs = a.recipe["scorer_version"], b.recipe["scorer_version"]
    if mine != theirs:
        named = [f"scorer {version}" if version else "stored scores of an unknown scorer" for version in (mine, theirs)]
        yield Difference("scorer", mine, theirs, f"they were scored differently ({named[0]} and {named[1]})")
    elif mine is None and same_labels and (proof := stored_otherwise(a, b)):
        yield Difference("scorer", None, None, f"they were scored differently: {proof}")


def stored_otherwise(a: Measured, b: Measured) -> str:
    """Say what proves that stored scores of two extraction runs were made by other rules or labels.

    That is an answer which is the same in both runs and has two scores, further apart than rounding, or a field that
    only one of them scored: which fields are scored does not depend on the answer.

    Args:
        a: A run with stored scores.
        b: Another one.

    Returns:
        A clause, empty without proof.
    """
    if a.run is None or b.run is None:
        return ""
    first, second = _stored_rows(a.run), _stored_rows(b.run)
    n_same, fields, other = 0, set[str](), list[str]()
    for key in sorted(first.keys() & second.keys()):
        one, another = first[key], second[key]
        scores = field_scores(one.stored), field_scores(another.stored)
        if scores[0] and scores[1]:
            fields |= scores[0].keys() ^ scores[1].keys()
        for field in sorted(scores[0].keys() & scores[1].keys()):
            said = _said(one, field)
            if said is _NOTHING_STORED or said != _said(another, field):
                continue
            n_same += 1
            values = [number_of(score, field) for score in scores]
            if abs(values[0] - values[1]) > _ROUNDED:
                other.append(f"{field} of {one.document!r} {values[0]:g} and {values[1]:g}")
    if other:
        return (
            f"{len(other):,} of {n_same:,} answers that are equal in both have different stored scores, e.g. {other[0]}"
        )
    return f"only one of them scored {', '.join(sorted(fields)[:_SHOWN])} in some document" if fields else ""


def _stored_rows(run: Run) -> dict[str, Row]:
    rows = (row for row in run.rows if isinstance(row, ExtractionRow | ChainedRow) and not row.failed)
    return {document_key(row.document): row for row in rows}


def _said(row: Row, field: str) -> Any:
    """Return a field's answer, which may be None; a mark where no answer is stored."""
    answer = row.predicted if isinstance(row, ExtractionRow) else getattr(row, "extracted", None)
    return answer.get(field, _NOTHING_STORED) if isinstance(answer, Mapping) else _NOTHING_STORED


def overridden(differences: Collection[Difference]) -> Mapping[str, tuple[Any, Any]]:
    """Return what differs: word -> both values."""
    return {difference.allow: (difference.a, difference.b) for difference in differences}
