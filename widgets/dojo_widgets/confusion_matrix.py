"""Expected against answered labels, down to the documents behind a cell and the model's reasoning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import traitlets

from dojo_kit.errors import InputError, closest
from dojo_kit.records import Run
from dojo_kit.tasks.score import score_task_run
from dojo_kit.tasks.scores import TaskScores
from dojo_kit.views.confusion import cell_rows, cells_of, confusion_view, document_names, until_word
from dojo_widgets import assets
from dojo_widgets.base import Precomputed, Widget
from dojo_widgets.cell_details import fair_share

SORTS = ("support", "name", "errors")
NORMALISED = ("none", "row", "column")

LIVE_ROWS = 2_000
"""Documents of one cell listed while Python is there."""

PAGE_ROWS = 60
"""Documents of one cell brought into a page without Python."""

PAGE_ROWS_IN_ALL = 3_000
"""Documents of all cells together brought into such a page, those of wrong cells first."""

PAGE_CHARACTERS = 200_000
"""Characters of texts that all of them together may bring."""

SHARE_OF_WRONG = 0.8
"""Part of them that texts of wrong answers may take; right ones get what is left."""

_Listed = tuple[int, list[dict[str, Any]]]
"""Rows of a cell in all, and those brought."""

_TEXTS = ("reasoning", "predicted_text", "expected_text", "error")
_LIVE_CHARACTERS = 20_000


def cell_name(expected: str, predicted: str = "") -> str:
    """Return the id of a cell; without a predicted label, of the rows of a label that have no answer.

    Examples:
        >>> cell_name("license", "development")
        'license|development'
    """
    return f"{expected}|{predicted}"


class ConfusionMatrix(Widget):
    """Show how often each expected label was answered by which label, and the documents behind a chosen cell.

    Right answers are green; the stronger the vermilion of a cell, the larger its share of the expected label (of the
    answered one where column shares are shown), on a scale that is the same in every matrix. Labels that are
    defensible for one another are outlined. Rows without an answer stand in a column of their own, outside all totals.

    Args:
        scores: The scored task.
        level: ``labels`` or ``subclass``.
        cell: Cell to select first; none by default.
        normalise: ``none`` shows counts, ``row`` shares of the expected label, ``column`` of the answered one.
        sort: Order of the labels: ``support`` (most rows first), ``name`` or ``errors`` (most wrong answers first).

    Attributes:
        data: Labels and counts, see `dojo_kit.views.confusion_view`.
        cell: Id of the selected cell, ``<expected>|<predicted>``; "" selects none.
        detail: The rows behind the cell: ``cell``, what it ``says``, ``n`` in all and the ``rows`` listed.
        row: Id of the row that is read, its position in ``scores.rows`` as text; "" is the first one listed.
        normalise: What the cells show.
        sort: Order of the labels.

    Raises:
        InputError: There is no such level, cell, order or normalisation.
    """

    _esm = assets.bundle("confusion_matrix")
    _css = assets.styles("confusion_matrix")

    data = traitlets.Dict().tag(sync=True)
    cell = traitlets.Unicode().tag(sync=True)
    detail = traitlets.Dict().tag(sync=True)
    row = traitlets.Unicode().tag(sync=True)
    normalise = traitlets.Unicode("none").tag(sync=True)
    sort = traitlets.Unicode("support").tag(sync=True)

    def __init__(
        self,
        scores: TaskScores,
        *,
        level: str = "labels",
        cell: str = "",
        normalise: str = "none",
        sort: str = "support",
    ) -> None:
        self._scores, self._level = scores, level
        self._shorts = document_names(scores)
        data = confusion_view(scores, level=level)
        keys = [label["key"] for label in data["labels"]]
        self._places = {cell_name(a, b): (a, b) for a in keys for b in (*keys, "")}
        self._called = {label["key"]: label["short"] for label in data["labels"]}
        if cell:
            _require(cell, list(self._places), "cell")
        _require(normalise, NORMALISED, "normalisation")
        _require(sort, SORTS, "order")
        super().__init__(data=data, cell=cell, detail=self._detail(cell), normalise=normalise, sort=sort)
        self.observe(self._show, names="cell")

    @classmethod
    def of(cls, scored: TaskScores | Run, *, level: str = "labels") -> ConfusionMatrix:
        """Show a scored task, or a run, which is scored as its own task.

        Args:
            scored: The task or the run.
            level: ``labels`` or ``subclass``.
        """
        return cls(score_task_run(scored) if isinstance(scored, Run) else scored, level=level)

    def _show(self, change: Mapping[str, Any]) -> None:
        with self.hold_trait_notifications():
            self.row = ""
            self.detail = self._detail(change["new"])

    def _detail(self, cell: str) -> dict[str, Any]:
        if cell not in self._places:
            return {}
        expected, predicted = self._places[cell]
        rows = cell_rows(self._scores, expected, predicted, level=self._level, shorts=self._shorts)
        return self._told(cell, len(rows), rows[:LIVE_ROWS], _LIVE_CHARACTERS)

    def _told(self, cell: str, n: int, rows: Sequence[Mapping[str, Any]], most: int) -> dict[str, Any]:
        """Return a detail whose texts hold at most so many characters each."""
        expected, predicted = self._places[cell]
        answered = f"answered {self._called[predicted]}" if predicted else "no answer"
        says = f"expected {self._called[expected]}, {answered}"
        return {"cell": cell, "says": says, "n": n, "rows": [_shortened(row, most) for row in rows]}

    def precomputed(self) -> tuple[Precomputed, ...]:
        """Return the rows behind every cell, for pages without Python.

        A cell brings at most 60 of its rows and all cells together 3,000, wrong ones first; long texts are cut so
        that all of them hold about 200,000 characters, those of right answers first. What was left out says so.
        """
        left = PAGE_ROWS_IN_ALL
        wrong: dict[str, _Listed] = {}
        right: dict[str, _Listed] = {}
        for expected, predicted, n in cells_of(self._scores, level=self._level):
            most = min(PAGE_ROWS, left, n)
            if not most:
                break
            rows = cell_rows(self._scores, expected, predicted, level=self._level, most=most, shorts=self._shorts)
            (right if expected == predicted else wrong)[cell_name(expected, predicted)] = n, rows
            left -= len(rows)
        sizes = _text_sizes(wrong)
        most_of_wrong = fair_share(sizes, round(PAGE_CHARACTERS * SHARE_OF_WRONG))
        rest = PAGE_CHARACTERS - sum(min(size, most_of_wrong) for size in sizes)
        most_of_right = fair_share(_text_sizes(right), rest)
        values = {
            cell: self._told(cell, n, rows, most)
            for cells, most in ((wrong, most_of_wrong), (right, most_of_right))
            for cell, (n, rows) in cells.items()
        }
        return (Precomputed("cell", "detail", {"": {}, **values}),)


def _text_sizes(cells: Mapping[str, _Listed]) -> list[int]:
    return [len(row[name]) for _, rows in cells.values() for row in rows for name in _TEXTS if name in row]


def _shortened(row: Mapping[str, Any], most: int) -> dict[str, Any]:
    """Return a row whose texts hold at most so many characters each; ``<text>_length`` tells how long it was."""
    cut = {name: until_word(row[name], most) for name in _TEXTS if len(row.get(name, "")) > most}
    return {**row, **cut, **{f"{name}_length": len(row[name]) for name in cut}}


def _require(name: str, known: Sequence[str], what: str) -> None:
    if name not in known:
        some = ", ".join(known[:10]) + (", ..." if len(known) > 10 else "")
        raise InputError(f"no {what} {name!r}{closest(name, known)}", expected=some)
