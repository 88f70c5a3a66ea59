"""Labels of queries from file to score file: find them, read them, score them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from dojo_kit.errors import InputError, closest
from dojo_kit.rag.cells import id_texts, lowered
from dojo_kit.rag.contract import LINE
from dojo_kit.rag.scorecard import LabelsBy, Scorecard, score_rag
from dojo_kit.rag.tasks import RUN, SYSTEM
from dojo_kit.runs.rag_files import LABELS_BY, LabelTable, read_label_table
from dojo_kit.runs.rag_selectors import LabelSource, find_labels
from dojo_kit.runs.rag_settings import EvalSettings

_MADE_BY: Mapping[str, LabelsBy] = {"people": "people", "human": "people", "model": "model"}
"""What the column ``labels_by`` may say -> who made the labels."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Scored labels, and where they came from.

    Attributes:
        card: The scores.
        source: The labels that were chosen.
        table: Their rows, without texts.
        settings: How they were found and scored.
        notes: What a reader must know about the source.
    """

    card: Scorecard
    source: LabelSource
    table: LabelTable
    settings: EvalSettings
    notes: tuple[str, ...]


def read_labels(settings: EvalSettings) -> tuple[LabelSource, LabelTable]:
    """Find and read the labels that settings name, without scoring them.

    Raises:
        SettingsError: An id is no name of a folder.
        InputError: There are no such labels, or the file cannot be read.
    """
    source = find_labels(
        settings.task,
        path=settings.path,
        export_id=settings.export_id,
        prediction_id=settings.prediction_id,
        base_dir=settings.base_dir,
    )
    named = settings.path if source.kind == "direct_path" and settings.path is not None else str(source.path)
    return source, read_label_table(source.path, settings.task, group_by=settings.group_by, source=named)


def evaluate(settings: EvalSettings, *, read: tuple[LabelSource, LabelTable] | None = None) -> Evaluation:
    """Score the labels that settings name; nothing is written.

    Args:
        settings: Which labels, and how.
        read: What `read_labels` gave for them.

    Raises:
        SettingsError: A setting is impossible.
        LabelsError: The rows cannot be scored as the settings ask; with every place.
        InputError: There are no such labels, or the file cannot be read.
    """
    source, table = read or read_labels(settings)
    labels_by, says = _labels_by(source, table, settings)
    options = replace(settings.options(), labels_by=labels_by)
    card = score_rag(
        table.frame,
        settings.task,
        system=settings.system,
        run=settings.run,
        group_by=options.group_by,
        on_incomplete=options.on_incomplete,
        on_violation=options.on_violation,
        tie=options.tie,
        labels_by=labels_by,
        n_resamples=options.n_resamples,
        seed=options.seed,
        confidence=options.confidence,
        source=table.source,
    )
    return Evaluation(card, source, table, settings, tuple(note for note in (source.chosen, says) if note))


def _labels_by(source: LabelSource, table: LabelTable, settings: EvalSettings) -> tuple[LabelsBy, str]:
    """Say who made the labels that are scored, by the selector or the column; one row by a model marks all numbers."""
    frame = table.frame
    if source.labels_by == "model" or LABELS_BY not in frame:
        return source.labels_by, ""
    for column, wanted in ((SYSTEM, settings.system), (RUN, settings.run)):
        if wanted is not None and column in frame:
            frame = frame[id_texts(frame[column]) == wanted]
    cells = frame[LABELS_BY].fillna("").astype(str).map(lowered)
    unknown = cells[(cells != "") & ~cells.isin(list(_MADE_BY))]
    if len(unknown):
        raise InputError(
            f"not {unknown.iloc[0]!r}{closest(unknown.iloc[0], _MADE_BY)}",
            file=table.source,
            line=int(unknown.index[0]) if frame.index.name == LINE else None,
            field=LABELS_BY,
            expected="people or model",
        )
    n_model = int((cells == "model").sum())
    if not n_model:
        return "people", ""
    return "model", "" if n_model == len(cells) else f"labels of {n_model:,} of {len(cells):,} rows are by a model"
