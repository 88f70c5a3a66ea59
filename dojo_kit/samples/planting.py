"""Where the faults of a run go.

How easily a clause or a row goes wrong is mostly its own and partly the run's: runs of one setting share most
of their faults, better prompts have fewer of the same ones, and a rerun differs a little.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dojo_kit.samples.answers import Answer, perfect_answer
from dojo_kit.samples.clause_faults import CLAUSE_FAULTS, omit
from dojo_kit.samples.contracts import Clause, Contract
from dojo_kit.samples.phrases import phrases
from dojo_kit.samples.row_faults import ROW_FAULTS
from dojo_kit.samples.wording import stream

OWN_SHARE = 0.7
"""Weight of what is hard about a clause itself; the rest is the run's."""

LUCK = (0.8, 1.2)
"""How far the number of faults of a kind may stray from its rate in one run."""

ENOUGH = 20
"""Places from which a kind with a rate above 0 is planted at least once."""

Place = tuple[Answer, Clause | None]


def answers_of_run(run: Mapping[str, Any], contracts: Sequence[Contract], seed: int) -> list[Answer]:
    """Return the answers of an extraction run with its faults planted.

    Args:
        run: Entry of the plan: name, prompt, model.
        contracts: Contracts of the sample.
        seed: Seed of the sample.
    """
    plan = phrases("plan")
    prompt, share = plan["prompts"][run["prompt"]], plan["models"][run["model"]]["share"]
    answers = [perfect_answer(contract, extras=prompt["extras"]) for contract in contracts]
    clauses: list[Place] = [(answer, clause) for answer in answers for clause in answer.owners]
    rows: list[Place] = [(answer, None) for answer in answers]
    planter = _Planter(seed, run["name"])
    for kind in ("failed", "disguised_failure"):
        planter.plant(kind, rows, prompt["documents"][kind] * share)
    for answer, clause in clauses:
        if clause and not answer.failure and clause.categories[0] in prompt["families"]:
            omit(answer, clause, planter.rng(answer, clause, "family"), kind="omitted_family")
    for kind in CLAUSE_FAULTS:
        planter.plant(kind, clauses, prompt["clauses"][kind] * share)
    for kind in list(ROW_FAULTS)[2:]:
        planter.plant(kind, rows, prompt["documents"][kind] * share)
    return answers


class _Planter:
    def __init__(self, seed: int, run: str) -> None:
        self.seed, self.run = seed, run

    def rng(self, answer: Answer, clause: Clause | None, *names: str) -> Any:
        """Return the random numbers of one place."""
        return stream(self.seed, *names, answer.contract.name, clause.section if clause else "")

    def plant(self, kind: str, places: Sequence[Place], rate: float) -> None:
        """Plant a fault where it comes most easily, once at least when there are places enough."""
        luck = stream(self.seed, "run", self.run, kind, "times").uniform(*LUCK)
        times = max(round(rate * luck * len(places)), int(rate > 0 and len(places) >= ENOUGH))
        ranked = sorted((self._resistance(kind, answer, clause), i) for i, (answer, clause) in enumerate(places))
        for _, index in ranked:
            if times and self._planted(kind, *places[index]):
                times -= 1

    def _resistance(self, kind: str, answer: Answer, clause: Clause | None) -> float:
        own = self.rng(answer, clause, "hard", kind).random()
        today = self.rng(answer, clause, "run", self.run, kind).random()
        return OWN_SHARE * float(own) + (1 - OWN_SHARE) * float(today)

    def _planted(self, kind: str, answer: Answer, clause: Clause | None) -> bool:
        rng = self.rng(answer, clause, "run", self.run, kind, "detail")
        if answer.failure:
            return False
        if clause is None:
            return ROW_FAULTS[kind](answer, rng)
        if answer.faulty(clause) or clause.rest:
            return False
        return CLAUSE_FAULTS[kind](answer, clause, rng)
