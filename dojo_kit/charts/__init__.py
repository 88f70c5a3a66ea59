"""Charts of results: from a scored run or a table to one Altair chart, in one look.

Every chart aggregates before it draws, says its finding in its title and shows numbers on hover. Colours are those of
`dojo_kit.palette` on a light page; `Report` and the notebook renderer of `enable` turn them into colours that follow
the page.
"""

from dojo_kit.charts.contracteval import published_scores
from dojo_kit.charts.misses import family_misses, similarity_histogram
from dojo_kit.charts.notebook import enable, markup
from dojo_kit.charts.scores import drift, field_decomposition, score_distribution
from dojo_kit.charts.theme import theme

__all__ = [
    "drift",
    "enable",
    "family_misses",
    "field_decomposition",
    "markup",
    "published_scores",
    "score_distribution",
    "similarity_histogram",
    "theme",
]
