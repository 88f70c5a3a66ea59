"""What a provider billed, given to the runs it was billed for.

A provider's export knows generations, not runs. Each generation is given to the first run of its model that ended at or
after it. Two runs of one model at the same time are then mixed up; that shows, because the tokens that were billed in
the time of a run are not those its rows recorded.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from dojo_kit.analysis.costs import RunCost

if TYPE_CHECKING:
    import pandas as pd

_SNAPSHOT = re.compile(r"[-@](\d{4}-\d{2}-\d{2}|\d{2}-\d{2}(-\d{4})?|\d{2}-\d{4}|\d{3,4}|\d{6}|\d{8})(:\w+)?|:\w+")
"""What a provider adds to a slug: the date or number of a snapshot, a variant; anything else is another model."""

TOLERANCE = 0.01
"""Share by which billed tokens may differ from those the rows recorded."""


@dataclass(frozen=True, slots=True)
class Generation:
    """One line of a provider's bill.

    Attributes:
        time: When it was made, with its time zone.
        model: Model slug, as the provider spells it.
        cost_usd: What was billed.
        tokens: Tokens read and written; None when the export does not say.
    """

    time: datetime
    model: str
    cost_usd: float
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class RunBill:
    """What a provider billed in the time of a run.

    Attributes:
        run: Name of the run.
        model: Model slug, as the run spells it.
        ended: End of the run, as stored.
        n_generations: Generations given to it.
        billed_usd: Their cost; None when there are none.
        estimated_usd: What its tokens cost by the price table; None when unknown.
        billed_tokens: Their tokens; None when the export does not say.
        recorded_tokens: Tokens its rows recorded.
        mixed: Whether the bill cannot be this run's alone.
        note: Why it cannot, or why there is none.
    """

    run: str
    model: str
    ended: str
    n_generations: int
    billed_usd: float | None
    estimated_usd: float | None
    billed_tokens: int | None
    recorded_tokens: int
    mixed: bool
    note: str = ""


@dataclass(frozen=True, eq=False)
class Bill:
    """A provider's export, by run and by model.

    Attributes:
        runs: What was billed in the time of each run, in the order given.
        unassigned: Model -> generations and cost that no run ended after, or of a model no run used.
        notes: Models of the export that are spelled otherwise than in the runs, and what became of them.
    """

    runs: tuple[RunBill, ...]
    unassigned: tuple[tuple[str, int, float], ...]
    notes: tuple[str, ...] = ()

    @property
    def n_mixed(self) -> int:
        """Runs whose bill cannot be theirs alone."""
        return sum(run.mixed for run in self.runs)

    @property
    def total_usd(self) -> float:
        """Everything billed, whether a run was found for it or not."""
        return sum((run.billed_usd or 0.0) for run in self.runs) + sum(cost for _, _, cost in self.unassigned)

    def frame(self) -> pd.DataFrame:
        """Return one row per run."""
        import pandas as pd

        return pd.DataFrame([asdict(run) for run in self.runs], columns=list(RunBill.__dataclass_fields__))

    def by_model(self) -> pd.DataFrame:
        """Return one row per model: what was billed in the time of its runs, what beside them, and the estimate."""
        import pandas as pd

        beside = {model: cost for model, _, cost in self.unassigned}
        models = dict.fromkeys([*(run.model for run in self.runs), *beside])
        rows = []
        for model in models:
            mine = [run for run in self.runs if run.model == model]
            estimates = [run.estimated_usd for run in mine]
            known = [value for value in estimates if value is not None]
            rows.append(
                {
                    "model": model,
                    "n_runs": len(mine),
                    "billed_usd": sum((run.billed_usd or 0.0) for run in mine),
                    "unassigned_usd": beside.get(model, 0.0),
                    "estimated_usd": sum(known) if known and len(known) == len(estimates) else None,
                    "n_mixed": sum(run.mixed for run in mine),
                }
            )
        return pd.DataFrame(rows)

    def as_dict(self) -> dict[str, Any]:
        """Return the bill as JSON-ready values."""
        return {
            "runs": [asdict(run) for run in self.runs],
            "unassigned": [{"model": model, "n_generations": n, "usd": usd} for model, n, usd in self.unassigned],
            "total_usd": self.total_usd,
            "n_mixed": self.n_mixed,
            "notes": list(self.notes),
        }


def assign_bill(generations: Iterable[Generation], runs: Sequence[RunCost]) -> Bill:
    """Give each generation to the first run of its model that ended at or after it.

    A model of the export belongs to the runs with its slug, or with the longest slug that it continues by the date or
    number of a snapshot only, as providers add; the notes say so. One that continues a slug in any other way is
    another model, whose generations belong to no run.

    Args:
        generations: The lines of the export, in any order.
        runs: What the runs recorded.
    """
    ends: dict[str, list[tuple[datetime, int]]] = {}
    for index, run in enumerate(runs):
        ended = _time(run.timestamp)
        if ended is not None:
            ends.setdefault(run.model, []).append((ended, index))
    for one in ends.values():
        one.sort()
    given: dict[int, list[Generation]] = {}
    left: dict[str, list[Generation]] = {}
    notes: dict[str, None] = {}
    for generation in generations:
        model, note = _model_of(generation.model, ends)
        if note:
            notes.setdefault(note)
        ended_after = ends.get(model or "", [])
        at = bisect_left(ended_after, (generation.time, -1))
        if at < len(ended_after):
            given.setdefault(ended_after[at][1], []).append(generation)
        else:
            left.setdefault(model or generation.model, []).append(generation)
    bills = [_bill(run, given.get(index, []), _time(run.timestamp)) for index, run in enumerate(runs)]
    unassigned = tuple((model, len(lines), sum(line.cost_usd for line in lines)) for model, lines in left.items())
    return Bill(tuple(bills), unassigned, tuple(notes))


def _model_of(billed: str, known: Collection[str]) -> tuple[str | None, str]:
    """Return the model of the runs that a billed slug stands for, and what must be said of it."""
    if billed in known:
        return billed, ""
    begins = sorted((model for model in known if model and billed.startswith(model)), key=len, reverse=True)
    for model in begins:
        if _SNAPSHOT.fullmatch(billed[len(model) :]):
            return model, f"{billed} is taken for {model}, whose slug it continues by a snapshot or variant"
    if begins:
        return None, f"{billed} begins like {begins[0]} but is another model: it is given to no run"
    return None, ""


def _time(stamp: str) -> datetime | None:
    """Read a time stamp; one without a zone is in UTC."""
    try:
        time = datetime.fromisoformat(stamp)
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _bill(run: RunCost, lines: Sequence[Generation], ended: datetime | None) -> RunBill:
    counted = [line.tokens for line in lines]
    known = [tokens for tokens in counted if tokens is not None]
    billed_tokens = sum(known) if known and len(known) == len(counted) else None
    recorded = run.total.total_tokens
    mixed, note = _doubts(run, billed_tokens, recorded, n_lines=len(lines))
    if ended is None:
        mixed, note = False, "the run has no time stamp"
    return RunBill(
        run=run.name,
        model=run.model,
        ended=run.timestamp,
        n_generations=len(lines),
        billed_usd=sum(line.cost_usd for line in lines) if lines else None,
        estimated_usd=run.total.estimated_usd,
        billed_tokens=billed_tokens,
        recorded_tokens=recorded,
        mixed=mixed,
        note=note,
    )


def _doubts(run: RunCost, billed_tokens: int | None, recorded: int, *, n_lines: int) -> tuple[bool, str]:
    """Say whether a bill can be that of one run, and if not, how that shows."""
    if not n_lines:
        if not recorded:
            return False, "nothing was billed in its time"
        return True, "nothing was billed in its time: its calls stand with a run that ended before it, or are missing"
    if billed_tokens is None:
        fewer = n_lines < run.total.rows_with_usage
        if fewer:
            return True, f"{n_lines:,} generations for {run.total.rows_with_usage:,} rows: it overlaps an earlier run"
        return False, "the export has no tokens to compare with"
    if billed_tokens < (1 - TOLERANCE) * recorded:
        return True, "fewer tokens billed than its rows recorded: it overlaps a run that ended before it"
    if billed_tokens > (1 + TOLERANCE) * recorded:
        return True, "more tokens billed than its rows recorded: another run's calls, retries or failed calls"
    return False, ""
