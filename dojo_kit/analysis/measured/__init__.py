"""What a comparison reads of a run: the value of every metric in every document.

`measure` takes whatever was scored, or a run, and gives a `Measured`; `dojo_kit.analysis.compare`,
`dojo_kit.analysis.noise` and `dojo_kit.analysis.leaderboard` read nothing else.
"""

from dojo_kit.analysis.measured.measure import Measurable, measure
from dojo_kit.analysis.measured.values import RECIPE, Measured, MetricInfo, MetricKind, same_settings

__all__ = ["RECIPE", "Measurable", "Measured", "MetricInfo", "MetricKind", "measure", "same_settings"]
