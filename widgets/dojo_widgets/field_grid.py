"""Documents by fields: where a run loses its points, down to the two values of a cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import traitlets

from dojo_kit import formats
from dojo_kit.analysis.families import RANKED_FROM
from dojo_kit.errors import InputError, closest
from dojo_kit.stats.intervals import Estimate, undefined
from dojo_kit.text.names import document_key
from dojo_widgets import assets
from dojo_widgets.base import Precomputed, Widget
from dojo_widgets.cell_details import CellDetails, cell_id

if TYPE_CHECKING:
    from dojo_kit.scoring.run import ScoredRun

_STATUS_WORDS = {"failed": "failed", "no_labels": "no labels", "nothing_expected": "nothing expected"}

_STATUS_SAYS = {
    "failed": "the call failed, so there is no answer to score",
    "no_labels": "the labels do not hold this document",
    "nothing_expected": "the labels hold no value for any field of this document",
}

_PLACES = 6
"""Decimal places a page carries of a score; it shows three at most."""


class FieldGrid(Widget):
    """Show the score of every document and field, the means above, and what a chosen cell rests on.

    The stronger the colour of a cell, the more of its score is lost. A field of which a document's labels hold no
    value has an en dash. Documents without any score are listed apart with the reason.

    Args:
        scored: The run.
        document: Document of the cell to select first; by default the one with the lowest mean, or with the lowest
            score of ``field``.
        field: Field of that cell; by default the one ``document`` scores lowest in, or its whole row when the document
            was named.
        sort: Order of the rows: ``overall``, ``document`` or a field, lowest first; with a ``-`` before it, highest.

    Attributes:
        data: Fields with their means, documents with their scores.
        cell: Id of the selected cell, ``<document key>:<field>``; ``<document key>:`` is a document's whole row, ""
            selects none.
        detail: What the cell rests on: predicted, expected, rule, score, type; empty without a field.
        sort: Order of the rows.

    Raises:
        InputError: There is no such document, field or order.
    """

    _esm = assets.bundle("field_grid")
    _css = assets.styles("field_grid")

    data = traitlets.Dict().tag(sync=True)
    cell = traitlets.Unicode().tag(sync=True)
    detail = traitlets.Dict().tag(sync=True)
    sort = traitlets.Unicode("overall").tag(sync=True)

    def __init__(self, scored: ScoredRun, *, document: str = "", field: str = "", sort: str = "overall") -> None:
        data = grid_data(scored)
        fields = [one["name"] for one in data["fields"]]
        _require(sort.removeprefix("-"), ["overall", "document", *fields], "order")
        if document:
            keys = [one["id"] for one in (*data["documents"], *data["apart"])]
            _require(document_key(document), keys, "document")
        if field:
            _require(field, fields, "field")
        cell = cell_id(document, field) if document else _worst_cell(data, field)
        self._details = CellDetails(scored)
        super().__init__(data=data, cell=cell, detail=self._details.of(cell), sort=sort)
        self.observe(self._show, names="cell")

    def _show(self, change: Mapping[str, Any]) -> None:
        self.detail = self._details.of(change["new"])

    def precomputed(self) -> tuple[Precomputed, ...]:
        """Return the detail of every cell, for pages without Python.

        Long values are cut so that all of them together hold about 200,000 characters; above 6,000 cells those with
        the lowest scores are kept. What was cut says how long it is.
        """
        return (Precomputed("cell", "detail", {"": {}, **self._details.for_page()}),)


def _require(name: str, known: Sequence[str], what: str) -> None:
    if name not in known:
        some = ", ".join(known[:20]) + (", ..." if len(known) > 20 else "")
        raise InputError(f"no {what} {name!r}{closest(name, known)}", expected=some or "a run with scores")


def _worst_cell(data: Mapping[str, Any], field: str = "") -> str:
    """Return the cell where most is lost: of a field, or of the document with the lowest mean; "" without scores."""
    fields = [one["name"] for one in data["fields"]]
    column = fields.index(field) if field else None
    scored = [one for one in data["documents"] if column is None or one["scores"][column] is not None]
    if not scored:
        return ""
    # Equal documents in the order of the names shown, as in the grid.
    worst = min(
        scored, key=lambda one: (one["overall"] if column is None else one["scores"][column], one["short"].lower())
    )
    known = {name: score for name, score in zip(fields, worst["scores"], strict=True) if score is not None}
    return cell_id(worst["name"], field or min(known, key=lambda name: known[name]))


def grid_data(scored: ScoredRun) -> dict[str, Any]:
    """Return what a grid shows of a run.

    Args:
        scored: The run.

    Returns:
        ``run``; ``finding`` in words and ``lowest``, the field with the lowest mean; ``fields`` (name, words, type,
        mean) and the ``overall`` mean as value, lo, hi, n; ``documents`` (id, name, short, overall, scores in the
        order of the fields, None where nothing is expected); ``apart``, documents without scores (id, name, short,
        status, why); ``notes``, sentences about what the means leave out.
    """
    documents = scored.frame("documents", ["document", "status", "overall", "error"])
    rows = scored.frame("fields", ["document", "field", "type", "score"])
    names = list(dict.fromkeys(rows["field"]))
    types = dict(zip(rows["field"], rows["type"], strict=True))
    metrics = scored.metrics()
    nothing = undefined("nothing was scored")
    means = {name: metrics.get(f"{name}_score", nothing) for name in names}
    overall = metrics.get("overall_extraction_score", nothing)
    scores = _score_rows(rows, names)
    shorts = dict(zip(documents["document"], formats.short_documents(list(documents["document"])), strict=True))
    shown, apart = [], []
    for name, status, score, error in documents.itertuples(index=False):
        one = {"id": document_key(name), "name": name, "short": shorts[name]}
        if status == "scored":
            shown.append({**one, "overall": _rounded(score), "scores": scores[name]})
        else:
            why = error if isinstance(error, str) and error else _STATUS_SAYS.get(status, status)
            apart.append({**one, "status": _STATUS_WORDS.get(status, status), "why": why})
    return {
        "run": scored.recipe.run.get("name", ""),
        "finding": _finding(means, len(documents)),
        "lowest": _lowest(means),
        "fields": [
            {"name": name, "words": _words(name), "type": types[name], "mean": means[name].as_dict()} for name in names
        ],
        "overall": overall.as_dict(),
        "documents": shown,
        "apart": apart,
        "notes": _notes(scored.counts, metrics, scored.recipe.confidence),
    }


def _score_rows(rows: Any, names: Sequence[str]) -> dict[str, list[float | None]]:
    column = {name: index for index, name in enumerate(names)}
    found: dict[str, list[float | None]] = {}
    for document, field, score in zip(rows["document"], rows["field"], rows["score"], strict=True):
        found.setdefault(document, [None] * len(names))[column[field]] = _rounded(score)
    return found


def _rounded(score: float) -> float | None:
    return None if score != score else round(float(score), _PLACES)


def _words(field: str) -> str:
    return field.replace("_", " ")


def _finding(means: Mapping[str, Estimate], n_documents: int) -> str:
    lowest = _lowest(means)
    if not lowest:
        return f"None of {formats.count(n_documents, 'document')} could be scored" if n_documents else "No documents"
    if means[lowest].value == 1.0:
        return f"Nothing is lost: every field of {formats.count(n_documents, 'document')} scores 1"
    over = formats.count(means[lowest].n, "document")
    mean = formats.estimate(means[lowest]) if means[lowest].n > 1 else formats.number(means[lowest].value)
    return f"{_words(lowest).capitalize()} scores lowest: {mean} over {over}"


def _lowest(means: Mapping[str, Estimate]) -> str:
    """Return the field with the lowest mean, of those with enough documents to be ranked if there are any."""
    known = {name: mean.value for name, mean in means.items() if mean.value is not None}
    ranked = {name: value for name, value in known.items() if means[name].n >= RANKED_FROM}
    return min(ranked or known, key=lambda name: known[name], default="")


def _notes(counts: Mapping[str, int], metrics: Mapping[str, Estimate], confidence: float) -> list[str]:
    if not counts["n_scored"]:
        return []
    notes = [f"Means: documents with a label of the field; {confidence:.0%} intervals, documents resampled."]
    as_zero = metrics.get("overall_extraction_score_failed_as_zero")
    if counts["n_failed"] and as_zero is not None and as_zero.value is not None:
        failed = formats.count(counts["n_failed"], "failed document")
        notes.append(
            f"{failed} count in no mean; as zeros they would make the overall {formats.number(as_zero.value)}."
        )
    return notes
