"""Results as plain JSON-ready values, worded for people: what widgets and published pages draw.

Nothing is decided here; every number comes from `dojo_kit.analysis` and every text is as the run or the document
has it, to be escaped by whoever draws it.
"""

from dojo_kit.views.confusion import cell_rows, cells_of, confusion_view, reliability_view
from dojo_kit.views.contract import contract_view
from dojo_kit.views.misses import labeling_queue, miss_table
from dojo_kit.views.pairing import compare_span
from dojo_kit.views.thresholds import sweep_view

__all__ = [
    "cell_rows",
    "cells_of",
    "compare_span",
    "confusion_view",
    "contract_view",
    "labeling_queue",
    "miss_table",
    "reliability_view",
    "sweep_view",
]
