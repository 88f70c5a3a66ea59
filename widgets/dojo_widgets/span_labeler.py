"""A queue of spans to judge: true miss, not a miss, or label wrong, with a note."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import traitlets

from dojo_kit.errors import closest
from dojo_kit.runs.annotations import Annotation, annotation_recipe, save_annotations
from dojo_kit.scoring.run import Recipe
from dojo_kit.views import labeling_queue
from dojo_widgets import assets
from dojo_widgets.base import Widget

if TYPE_CHECKING:
    from dojo_kit.analysis.attribution import Attribution

_OPTIONAL = {"item": "", "similarity": None, "cause": None, "place": "", "status": ""}
"""What is shown of a span beside its label, and what stands where it is not given."""


class SpanLabeler(Widget):
    """Work through spans one by one and say of each whether it is really missed.

    Args:
        spans: The queue, in the order to work through. Each has ``id`` and ``text`` (the label) and may have ``item``
            (text of the nearest item), ``similarity``, ``cause``, ``place``, ``short`` (name of the document for a
            list), ``family`` (of the category), ``document``, ``field`` and ``category`` for the records; what is
            missing of the latter is read from the id.
        annotations: Judgements to resume. Those of other people and of other spans are left alone.
        who: The person who judges.
        recipe: How the run was scored: ``ScoredRun.recipe``, or what `annotation_recipe` returns. It goes into every
            record, so that a judgement is not taken for one of another run.
        span: Span to show first; the first that is not judged yet by default.

    Attributes:
        data: The queue, with ``who`` and ``recipe``.
        span: Id of the span shown.
        judgements: Id of a span -> ``verdict`` ("" with a note only) and ``note``.
        filter: Which spans are listed: all, open or judged.

    Raises:
        ValueError: An id occurs twice, a key is missing, or ``span`` or ``who`` is none.

    Examples:
        >>> labeler = SpanLabeler([{"id": "acme:law:0", "text": "laws of Ohio"}], who="Ada")
        >>> labeler.judgements = {"acme:law:0": {"verdict": "true_miss", "note": ""}}
        >>> [(one.span, one.field, one.verdict) for one in labeler.annotations]
        [('acme:law:0', 'law', 'true_miss')]
    """

    _esm = assets.bundle("span_labeler")
    _css = assets.styles("span_labeler")

    data = traitlets.Dict().tag(sync=True)
    span = traitlets.Unicode().tag(sync=True)
    judgements = traitlets.Dict().tag(sync=True)
    filter = traitlets.Enum(["all", "open", "judged"], "all").tag(sync=True)

    def __init__(
        self,
        spans: Sequence[Mapping[str, Any]],
        *,
        annotations: Iterable[Annotation] | None = None,
        who: str,
        recipe: Recipe | Mapping[str, Any] | None = None,
        span: str = "",
    ) -> None:
        if not who.strip():
            raise ValueError("who is empty; a judgement needs the name of the person who made it")
        queue = [_queued(one) for one in spans]
        ids = [one["id"] for one in queue]
        if len(set(ids)) < len(ids):
            raise ValueError(f"span {next(one for one in ids if ids.count(one) > 1)!r} is in the queue twice")
        if span and span not in ids:
            raise ValueError(f"span {span!r} is not in the queue{closest(span, ids)}")
        made_with = annotation_recipe(recipe) if isinstance(recipe, Recipe) else dict(recipe or {})
        known = set(ids)
        self._resumed = {one.span: one for one in annotations or () if one.who == who and one.span in known}
        judgements = {one.span: {"verdict": one.verdict or "", "note": one.note} for one in self._resumed.values()}
        still_open = (one for one in ids if not judgements.get(one, {}).get("verdict"))
        super().__init__(
            data={"who": who, "recipe": made_with, "spans": queue},
            span=span or next(still_open, ids[0] if ids else ""),
            judgements=judgements,
        )

    @classmethod
    def of(
        cls,
        attribution: Attribution,
        field: str,
        *,
        who: str,
        annotations: Iterable[Annotation] | None = None,
    ) -> SpanLabeler:
        """Queue what is worth a reader's time in one list field: matches to check, then unmatched spans, nearest first.

        Args:
            attribution: Spans of the run.
            field: The field.
            who: The person who judges.
            annotations: Judgements to resume.
        """
        return cls(
            labeling_queue(attribution, field), annotations=annotations, who=who, recipe=attribution.scored.recipe
        )

    @property
    def annotations(self) -> list[Annotation]:
        """The judgements as records, in the order of the queue; what was resumed unchanged keeps its time."""
        return [
            self._record(one, judgement)
            for one in self.data["spans"]
            if (judgement := self.judgements.get(one["id"])) is not None
        ]

    def save(self, path: str | Path, *, when: str | None = None) -> Path:
        """Merge the judgements into a file of annotations; those taken back since they were resumed are removed.

        Args:
            path: JSONL file, made when missing.
            when: Time of judging as ISO text; now by default.

        Returns:
            The path.

        Raises:
            InputError: The file holds something else, or cannot be written.
            ComparabilityError: The file holds judgements about another run.
        """
        records = self.annotations
        judged = {one.span for one in records}
        now = datetime.now(UTC).isoformat(timespec="seconds")
        path = save_annotations(
            path,
            records,
            who=self.data["who"],
            when=when or now,
            recipe=self.data["recipe"],
            withdrawn=[one for one in self._resumed if one not in judged],
        )
        self._resumed = {one.span: one for one in records}
        return path

    def _record(self, one: Mapping[str, Any], judgement: Mapping[str, Any]) -> Annotation:
        record = Annotation(
            one["id"],
            one["document"],
            one["field"],
            one["category"],
            one["text"],
            judgement.get("verdict") or None,
            judgement.get("note", ""),
            self.data["who"],
            recipe=self.data["recipe"],
        )
        before = self._resumed.get(record.span)
        unchanged = before is not None and replace(before, when="") == record
        return before if unchanged and before is not None else record


def _queued(span: Mapping[str, Any]) -> dict[str, Any]:
    missing = [name for name in ("id", "text") if not isinstance(span.get(name), str)]
    if missing:
        raise ValueError(f"a span of the queue has no {missing[0]}: it has {', '.join(map(str, span))}")
    parts = span["id"].rsplit(":", 2)
    document, field = (parts[0], parts[1]) if len(parts) == 3 else (span["id"], "")
    named = {"document": span.get("document"), "field": span.get("field"), "category": span.get("category")}
    names = {name: value if isinstance(value, str) else "" for name, value in named.items()}
    names = {**names, "document": names["document"] or document, "field": names["field"] or field}
    names["category"] = names["category"] or str(span.get("family") or "")
    return {
        "id": span["id"],
        "text": span["text"],
        "short": str(span.get("short") or names["document"]),
        "family": str(span.get("family") or names["category"]),
        **names,
        **{name: _known(span.get(name), value) for name, value in _OPTIONAL.items()},
    }


def _known(value: Any, otherwise: Any) -> Any:
    return otherwise if value is None or value != value else value
