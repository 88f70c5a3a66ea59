"""Reading and writing of runs, labels and documents: every file is opened here, nothing is scored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dojo_kit.runs.annotations import Annotation, annotation_recipe, load_annotations, save_annotations
    from dojo_kit.runs.asked_questions import AskedQuestion, QuestionSet, answered_questions
    from dojo_kit.runs.contracteval_pairs import (
        ContractEvalPairs,
        ContractPair,
        answered_pairs,
        load_contracteval_pairs,
    )
    from dojo_kit.runs.document_texts import DocumentTexts, load_documents
    from dojo_kit.runs.label_columns import read_label_columns
    from dojo_kit.runs.labels import load_labels
    from dojo_kit.runs.legalbench import load_legalbench
    from dojo_kit.runs.maud import load_maud
    from dojo_kit.runs.run_files import RunLog, read_log, read_records, read_run, run_from_record
    from dojo_kit.runs.store import load, save

_HOMES = {
    "Annotation": "annotations",
    "AskedQuestion": "asked_questions",
    "QuestionSet": "asked_questions",
    "answered_questions": "asked_questions",
    "ContractEvalPairs": "contracteval_pairs",
    "ContractPair": "contracteval_pairs",
    "answered_pairs": "contracteval_pairs",
    "load_contracteval_pairs": "contracteval_pairs",
    "read_label_columns": "label_columns",
    "load_legalbench": "legalbench",
    "load_maud": "maud",
    "annotation_recipe": "annotations",
    "load_annotations": "annotations",
    "save_annotations": "annotations",
    "read_run": "run_files",
    "read_log": "run_files",
    "RunLog": "run_files",
    "read_records": "run_files",
    "run_from_record": "run_files",
    "load_labels": "labels",
    "load_documents": "document_texts",
    "DocumentTexts": "document_texts",
    "load": "store",
    "save": "store",
}

__all__ = [
    "Annotation",
    "AskedQuestion",
    "ContractEvalPairs",
    "ContractPair",
    "DocumentTexts",
    "QuestionSet",
    "RunLog",
    "annotation_recipe",
    "answered_pairs",
    "answered_questions",
    "load",
    "load_annotations",
    "load_contracteval_pairs",
    "load_documents",
    "load_labels",
    "load_legalbench",
    "load_maud",
    "read_label_columns",
    "read_log",
    "read_records",
    "read_run",
    "run_from_record",
    "save",
    "save_annotations",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
