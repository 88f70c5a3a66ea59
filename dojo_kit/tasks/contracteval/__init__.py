"""ContractEval (arXiv 2508.03080): clause-level questions about contracts, as published and corrected."""

from __future__ import annotations

from dojo_kit.tasks.contracteval.direct import score_contracteval
from dojo_kit.tasks.contracteval.mapping import MappedContractEval, MappingWarning, map_contracteval
from dojo_kit.tasks.contracteval.published import PrintedRow, PublishedRow, PublishedTable, published_table
from dojo_kit.tasks.contracteval.questions import asked_category, contracteval_questions
from dojo_kit.tasks.contracteval.rubric import CORRECTIONS, Judgement, Mode, judge
from dojo_kit.tasks.contracteval.scores import ContractEvalScores

__all__ = [
    "CORRECTIONS",
    "ContractEvalScores",
    "Judgement",
    "MappedContractEval",
    "MappingWarning",
    "Mode",
    "PrintedRow",
    "PublishedRow",
    "PublishedTable",
    "asked_category",
    "contracteval_questions",
    "judge",
    "map_contracteval",
    "published_table",
    "score_contracteval",
]
