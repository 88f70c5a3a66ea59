"""Stated confidence against accuracy: does the confidence mean anything?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import traitlets

from dojo_kit.records import Run
from dojo_kit.tasks.score import score_task_run
from dojo_kit.views.confusion import reliability_view
from dojo_widgets import assets
from dojo_widgets.base import Widget

if TYPE_CHECKING:
    from dojo_kit.tasks.scores import TaskScores


class ReliabilityCurve(Widget):
    """Show accuracy by stated confidence, with intervals and the number of rows of every bin.

    Args:
        scores: The scored task.

    Attributes:
        data: Calibration error and bins, see `dojo_kit.views.reliability_view`.
        bin: Number of the selected bin, the first is 0; -1 selects none.
    """

    _esm = assets.bundle("reliability_curve")
    _css = assets.styles("reliability_curve")

    data = traitlets.Dict().tag(sync=True)
    bin = traitlets.Int(-1).tag(sync=True)

    def __init__(self, scores: TaskScores) -> None:
        super().__init__(data=reliability_view(scores))

    @classmethod
    def of(cls, scored: TaskScores | Run) -> ReliabilityCurve:
        """Show a scored task, or a run, which is scored as its own task.

        Args:
            scored: The task or the run.
        """
        return cls(score_task_run(scored) if isinstance(scored, Run) else scored)
