"""Interactive views over results of dojo_kit, for JupyterLab, marimo and published pages.

Every widget holds data and the ids of what is selected; the numbers come from `dojo_kit`. `show` returns a widget as
the notebook at hand can react to it, `link` lets several act together.
"""

from dojo_widgets.confusion_matrix import ConfusionMatrix
from dojo_widgets.delta_forest import DeltaForest
from dojo_widgets.document_view import DocumentView
from dojo_widgets.field_grid import FieldGrid
from dojo_widgets.hosts import Finding, link, show
from dojo_widgets.miss_explorer import MissExplorer
from dojo_widgets.miss_table import MissTable
from dojo_widgets.noise_band import NoiseBand
from dojo_widgets.reliability_curve import ReliabilityCurve
from dojo_widgets.span_compare import SpanCompare
from dojo_widgets.span_labeler import SpanLabeler
from dojo_widgets.threshold_explorer import ThresholdExplorer
from dojo_widgets.what_if import WhatIf

__all__ = [
    "ConfusionMatrix",
    "DeltaForest",
    "DocumentView",
    "FieldGrid",
    "Finding",
    "MissExplorer",
    "MissTable",
    "NoiseBand",
    "ReliabilityCurve",
    "SpanCompare",
    "SpanLabeler",
    "ThresholdExplorer",
    "WhatIf",
    "link",
    "show",
]
