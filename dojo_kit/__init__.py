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
    "dojo_kit.analysis.measured": ("Measured", "measure"),
    "dojo_kit.analysis.compare": ("Comparison", "compare"),
    "dojo_kit.analysis.leaderboard": ("leaderboard", "regressions", "trend"),
    "dojo_kit.analysis.noise": ("NoiseFloor", "find_reruns", "noise_floor"),
    "dojo_kit.analysis.judging": ("calibrate_judge", "summarise_label_judgments"),
    "dojo_kit.analysis.costs": ("cost_report", "run_cost"),
    "dojo_kit.analysis.cost_front": ("cost_front", "cost_fronts", "scored_cost"),
    "dojo_kit.analysis.billing": ("assign_bill",),
    "dojo_kit.runs.judgments": ("read_judgments",),
    "dojo_kit.runs.live_judge": ("judge_endpoint", "judge_run"),
    "dojo_kit.runs.activity": ("read_activity",),
    "dojo_kit.runs.noise_files": ("read_noise", "write_noise"),
    "dojo_kit.stats.compare": ("Band", "Delta", "holm", "noise_band", "paired_delta", "two_sample_delta", "verdict"),
    "dojo_kit.stats.means": ("mean_interval", "ratio_interval"),
    "dojo_kit.stats.pooled": ("pooled_ratio",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "TASKS",
    "Attribution",
    "Band",
    "ComparabilityError",
    "Comparison",
    "ContractEvalScores",
    "Delta",
    "DojoError",
    "Estimate",
    "InputError",
    "LabelScores",
    "Measured",
    "MissingExtraError",
    "NoiseFloor",
    "Recovery",
    "ScoredRun",
    "Settings",
    "SettingsError",
    "Sweep",
    "TaskScores",
    "__version__",
    "answered_pairs",
    "answered_questions",
    "assign_bill",
    "attribute",
    "audit_sums",
    "audit_table",
    "calibrate_judge",
    "category_presence",
    "chunk_text",
    "clear_settings_cache",
    "compare",
    "configure",
    "cost_front",
    "cost_fronts",
    "cost_report",
    "diagnose",
    "disguised_failures",
    "explain_field",
    "failure_table",
    "family_table",
    "find_reruns",
    "get_settings",
    "handoff_ablation",
    "holm",
    "judge_endpoint",
    "judge_run",
    "label_accuracy",
    "leaderboard",
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
    "mean_interval",
    "measure",
    "merge_chunks",
    "noise_band",
    "noise_floor",
    "normalize_label",
    "paired_delta",
    "pooled_ratio",
    "published_table",
    "ratio_interval",
    "read_activity",
    "read_judgments",
    "read_label_columns",
    "read_log",
    "read_noise",
    "read_run",
    "recovered",
    "regressions",
    "run_cost",
    "save",
    "score_contracteval",
    "score_document",
    "score_field",
    "score_labels",
    "score_list",
    "score_run",
    "score_task",
    "score_task_run",
    "scored_cost",
    "split_clauses",
    "summarise_label_judgments",
    "sweep",
    "trend",
    "two_sample_delta",
    "verdict",
    "verify_record",
    "write_noise",
]

if TYPE_CHECKING:
    from dojo_kit.analysis.attribution import Attribution, attribute
    from dojo_kit.analysis.audit import audit_sums, audit_table
    from dojo_kit.analysis.billing import assign_bill
    from dojo_kit.analysis.compare import Comparison, compare
    from dojo_kit.analysis.cost_front import cost_front, cost_fronts, scored_cost
    from dojo_kit.analysis.costs import cost_report, run_cost
    from dojo_kit.analysis.diagnostics import diagnose
    from dojo_kit.analysis.failures import disguised_failures, failure_table, label_accuracy, list_failures
    from dojo_kit.analysis.judging import calibrate_judge, summarise_label_judgments
    from dojo_kit.analysis.leaderboard import leaderboard, regressions, trend
    from dojo_kit.analysis.measured import Measured, measure
    from dojo_kit.analysis.noise import NoiseFloor, find_reruns, noise_floor
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
    from dojo_kit.runs.activity import read_activity
    from dojo_kit.runs.judgments import read_judgments
    from dojo_kit.runs.live_judge import judge_endpoint, judge_run
    from dojo_kit.runs.noise_files import read_noise, write_noise
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
    from dojo_kit.stats.compare import Band, Delta, holm, noise_band, paired_delta, two_sample_delta, verdict
    from dojo_kit.stats.intervals import Estimate
    from dojo_kit.stats.means import mean_interval, ratio_interval
    from dojo_kit.stats.pooled import pooled_ratio
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
