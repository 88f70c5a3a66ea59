"""Query-level scoring of retrieval, grounding and generation labels.

`score_rag` goes from a table of labels to 16 metrics with intervals: the contract (`contract`), units (`units`), one
vote per annotator and majorities (`votes`), panels and what is missing from them (`panels`, `bounds`), the formulas
(`metrics`) and the intervals (`estimates`). `annotator_agreement` measures how far annotators agree. No file, clock or
global setting is read here.
"""

from dojo_kit.rag.agreement import Agreement, annotator_agreement, cohen_kappa, krippendorff_alpha, percentage_agreement
from dojo_kit.rag.contract import CheckedLabels, check_labels
from dojo_kit.rag.estimates import BY_MODEL, Bounds
from dojo_kit.rag.faults import LabelsError
from dojo_kit.rag.metrics import METRICS, Metric, metrics_of
from dojo_kit.rag.panels import POLICIES, Policy
from dojo_kit.rag.scorecard import (
    VIOLATION_POLICIES,
    LabelsBy,
    Scorecard,
    ScoringOptions,
    ViolationPolicy,
    score_rag,
)
from dojo_kit.rag.tasks import OPTIONAL_COLUMNS, TASK_NAMES, TASKS, Task, TaskName, task_named
from dojo_kit.rag.votes import TIE_RULES, TieRule, majority

__all__ = [
    "BY_MODEL",
    "METRICS",
    "OPTIONAL_COLUMNS",
    "POLICIES",
    "TASKS",
    "TASK_NAMES",
    "TIE_RULES",
    "VIOLATION_POLICIES",
    "Agreement",
    "Bounds",
    "CheckedLabels",
    "LabelsBy",
    "LabelsError",
    "Metric",
    "Policy",
    "Scorecard",
    "ScoringOptions",
    "Task",
    "TaskName",
    "TieRule",
    "ViolationPolicy",
    "annotator_agreement",
    "check_labels",
    "cohen_kappa",
    "krippendorff_alpha",
    "majority",
    "metrics_of",
    "percentage_agreement",
    "score_rag",
    "task_named",
]
