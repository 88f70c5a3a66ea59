"""Results as plain JSON-ready values, worded for people: what widgets and published pages draw.

Nothing is decided here; every number comes from `dojo_kit.analysis` and every text is as the run or the document
has it, to be escaped by whoever draws it.
"""

from dojo_kit.views.confusion import cell_rows, cells_of, confusion_view, reliability_view
from dojo_kit.views.contract import contract_view
from dojo_kit.views.contracteval_tables import answer_table, category_table, contracteval_metric_table
from dojo_kit.views.label_tables import label_table, metric_table, mode_table, wrong_answers
from dojo_kit.views.misses import labeling_queue, miss_table
from dojo_kit.views.pairing import compare_span
from dojo_kit.views.thresholds import sweep_view

__all__ = [
    "answer_table",
    "category_table",
    "cell_rows",
    "cells_of",
    "compare_span",
    "confusion_view",
    "contract_view",
    "contracteval_metric_table",
    "label_table",
    "labeling_queue",
    "metric_table",
    "miss_table",
    "mode_table",
    "reliability_view",
    "sweep_view",
    "wrong_answers",
]
