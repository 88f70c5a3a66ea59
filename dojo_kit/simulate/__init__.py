"""What-ifs over runs that were already paid for: committees, escalation, prompts, failures, examples.

Everything starts from a `Corpus`, one row per run and document, and from the `Votes` it gives a task. Functions compute
with numbers at hand only; `dojo_kit.runs.corpus_files` reads and writes corpora.
"""

from dojo_kit.simulate.ablation import Ablation, PromptPair, ablate, published_ablation
from dojo_kit.simulate.champions import Champion, champion
from dojo_kit.simulate.checks import Slice, SliceCheck, check_slice, confusion_slice, tail_slice
from dojo_kit.simulate.committee import Committee, CommitteeSize, committee
from dojo_kit.simulate.corpus import CORPUS_TASKS, Corpus, corpus_of
from dojo_kit.simulate.corpus_summary import CorpusSummary, summarise
from dojo_kit.simulate.escalation import (
    Escalation,
    EscalationStep,
    answers_of,
    confidence_summary,
    document_confidence,
    escalate,
    pareto_front,
)
from dojo_kit.simulate.exemplars import Exemplars, exemplars
from dojo_kit.simulate.pipeline import FailurePipeline, failures
from dojo_kit.simulate.routed import RoutedSize, RoutedSums, routed_sums
from dojo_kit.simulate.votes import Pool, Votes, task_votes, votes_of

__all__ = [
    "CORPUS_TASKS",
    "Ablation",
    "Champion",
    "Committee",
    "CommitteeSize",
    "Corpus",
    "CorpusSummary",
    "Escalation",
    "EscalationStep",
    "Exemplars",
    "FailurePipeline",
    "Pool",
    "PromptPair",
    "RoutedSize",
    "RoutedSums",
    "Slice",
    "SliceCheck",
    "Votes",
    "ablate",
    "answers_of",
    "champion",
    "check_slice",
    "committee",
    "confidence_summary",
    "confusion_slice",
    "corpus_of",
    "document_confidence",
    "escalate",
    "exemplars",
    "failures",
    "pareto_front",
    "published_ablation",
    "routed_sums",
    "summarise",
    "tail_slice",
    "task_votes",
    "votes_of",
]
