"""dojo_kit: score LLM document pipelines, explain every score, and be honest about noise.

Names are loaded when they are first used, so that importing the package costs nothing:

    >>> from dojo_kit import explain_field
    >>> explain_field("date", "2014-05-20", "May 8, 2014").rule
    'date.same_month'
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dojo_kit._version import __version__

_HOMES = {
    "dojo_kit.scoring.spans": (
        "category_presence",
        "chunk_text",
        "merge_chunks",
        "split_clauses",
    ),
    "dojo_kit.embedders": ("load_embedder",),
    "dojo_kit.analysis.attribution": ("Attribution", "attribute"),
    "dojo_kit.analysis.families": ("family_table",),
    "dojo_kit.analysis.recovery": ("Recovery", "recovered"),
    "dojo_kit.analysis.thresholds": ("Sweep", "sweep"),
    "dojo_kit.analysis.audit": (
        "audit_sums",
        "audit_table",
    ),
    "dojo_kit.analysis.diagnostics": ("diagnose",),
    "dojo_kit.analysis.verify": ("verify_record",),
    "dojo_kit.errors": (
        "ComparabilityError",
        "DojoError",
        "InputError",
        "MissingExtraError",
        "SettingsError",
    ),
    "dojo_kit.runs": (
        "answered_pairs",
        "answered_questions",
        "load",
        "load_contracteval_pairs",
        "load_documents",
        "load_labels",
        "load_legalbench",
        "load_maud",
        "read_label_columns",
        "read_log",
        "read_run",
        "save",
    ),
    "dojo_kit.scoring.fields": ("explain_field", "score_field", "score_list"),
    "dojo_kit.scoring.run": ("ScoredRun", "score_run"),
    "dojo_kit.scoring.document": ("score_document",),
    "dojo_kit.settings": ("Settings", "clear_settings_cache", "configure", "get_settings", "load_settings"),
    "dojo_kit.stats.intervals": ("Estimate",),
    "dojo_kit.analysis.failures": (
        "disguised_failures",
        "failure_table",
        "label_accuracy",
        "list_failures",
    ),
    "dojo_kit.scoring.classification": (
        "LabelScores",
        "score_labels",
    ),
    "dojo_kit.scoring.label_reading": ("normalize_label",),
    "dojo_kit.tasks.contracteval": (
        "ContractEvalScores",
        "map_contracteval",
        "published_table",
        "score_contracteval",
    ),
    "dojo_kit.tasks.score": (
        "score_task",
        "score_task_run",
    ),
    "dojo_kit.tasks.handoff": ("handoff_ablation",),
    "dojo_kit.tasks.scores": ("TaskScores",),
    "dojo_kit.tasks.table": ("TASKS",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "TASKS",
    "Attribution",
    "ComparabilityError",
    "ContractEvalScores",
    "DojoError",
    "Estimate",
    "InputError",
    "LabelScores",
    "MissingExtraError",
    "Recovery",
    "ScoredRun",
    "Settings",
    "SettingsError",
    "Sweep",
    "TaskScores",
    "__version__",
    "answered_pairs",
    "answered_questions",
    "attribute",
    "audit_sums",
    "audit_table",
    "category_presence",
    "chunk_text",
    "clear_settings_cache",
    "configure",
    "diagnose",
    "disguised_failures",
    "explain_field",
    "failure_table",
    "family_table",
    "get_settings",
    "handoff_ablation",
    "label_accuracy",
    "list_failures",
    "load",
    "load_contracteval_pairs",
    "load_documents",
    "load_embedder",
    "load_labels",
    "load_legalbench",
    "load_maud",
    "load_settings",
    "map_contracteval",
    "merge_chunks",
    "normalize_label",
    "published_table",
    "read_label_columns",
    "read_log",
    "read_run",
    "recovered",
    "save",
    "score_contracteval",
    "score_document",
    "score_field",
    "score_labels",
    "score_list",
    "score_run",
    "score_task",
    "score_task_run",
    "split_clauses",
    "sweep",
    "verify_record",
]

if TYPE_CHECKING:
    from dojo_kit.analysis.attribution import Attribution, attribute
    from dojo_kit.analysis.audit import audit_sums, audit_table
    from dojo_kit.analysis.diagnostics import diagnose
    from dojo_kit.analysis.failures import disguised_failures, failure_table, label_accuracy, list_failures
    from dojo_kit.analysis.recovery import Recovery, recovered
    from dojo_kit.analysis.thresholds import Sweep, sweep
    from dojo_kit.analysis.verify import verify_record
    from dojo_kit.errors import (
        ComparabilityError,
        DojoError,
        InputError,
        MissingExtraError,
        SettingsError,
    )
    from dojo_kit.runs import (
        answered_pairs,
        answered_questions,
        load,
        load_contracteval_pairs,
        load_documents,
        load_labels,
        load_legalbench,
        load_maud,
        read_label_columns,
        read_log,
        read_run,
        save,
    )
    from dojo_kit.scoring.classification import LabelScores, score_labels
    from dojo_kit.scoring.document import score_document
    from dojo_kit.scoring.fields import explain_field, score_field, score_list
    from dojo_kit.scoring.label_reading import normalize_label
    from dojo_kit.scoring.run import ScoredRun, score_run
    from dojo_kit.settings import (
        Settings,
        clear_settings_cache,
        configure,
        get_settings,
        load_settings,
    )
    from dojo_kit.stats.intervals import Estimate
    from dojo_kit.tasks.contracteval import ContractEvalScores, map_contracteval, published_table, score_contracteval
    from dojo_kit.tasks.handoff import handoff_ablation
    from dojo_kit.tasks.score import score_task, score_task_run
    from dojo_kit.tasks.scores import TaskScores
    from dojo_kit.tasks.table import TASKS


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'dojo_kit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
