"""What runs cost: tokens and dollars per run and stage, the price of a document, and what could not be priced.

Nothing is made up: a model without a price has an unknown cost, and a sum that holds one is unknown as a whole, beside
the part that is known. Rows without usage (replayed from a checkpoint, or never recorded) cost nothing here and are
counted apart; a figure for the whole run that covers them is marked as extrapolated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import count
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from dojo_kit.prices import packaged_prices, priced_as, with_packaged
from dojo_kit.records import ChainedRow, Row, Run, Usage
from dojo_kit.settings import Settings, resolve
from dojo_kit.stats.intervals import Bootstrap, Estimate, undefined
from dojo_kit.text.names import document_key

if TYPE_CHECKING:
    import pandas as pd

TOTAL = "total"
_STAGES: Mapping[str, tuple[str, ...]] = {
    "sorter": ("sorter_tokens", "scores.usages.sorter"),
    "extractor": ("extractor_tokens", "scores.usages.extractor"),
}
"""Stage of a chained run -> where its rows keep what it consumed."""

_MILLION = 1e6


@dataclass(frozen=True, slots=True)
class UsageSummary:
    """What one stage of a run consumed, or the whole run.

    Attributes:
        stage: ``sorter``, ``extractor`` or ``total``.
        n_rows: Rows of the run.
        rows_with_usage: Rows that say what they consumed.
        rows_replayed: Completed rows that do not: replayed from a checkpoint, or never recorded.
        rows_failed: Failed rows that do not.
        rows_billed: Rows for which the provider stated a cost.
        prompt_tokens: Tokens read.
        completion_tokens: Tokens written.
        billed_usd: Sum of the stated costs; None when there is none.
        billed_mean_usd: Mean of the stated costs; None when there is none.
        estimated_usd: Tokens times price; None when there are no tokens or no price.
        note: Why there is no estimate.
    """

    stage: str
    n_rows: int
    rows_with_usage: int
    rows_replayed: int
    rows_failed: int
    rows_billed: int
    prompt_tokens: int
    completion_tokens: int
    billed_usd: float | None
    billed_mean_usd: float | None
    estimated_usd: float | None
    note: str = ""

    @property
    def total_tokens(self) -> int:
        """Tokens read and written."""
        return self.prompt_tokens + self.completion_tokens

    def as_dict(self) -> dict[str, Any]:
        """Return the summary as JSON-ready values."""
        return {**asdict(self), "total_tokens": self.total_tokens}


@dataclass(frozen=True, eq=False)
class RunCost:
    """What a run cost.

    Attributes:
        name: Name of the run.
        source: Its file.
        task: Task key.
        model: Model slug.
        prompt_version: Prompt name.
        timestamp: When it ended, as stored.
        surface: Fingerprint of its documents.
        stages: Summary of each stage, the whole run last.
        price: Dollars per million tokens read and written; None when unknown.
        priced_as: The name in the price table it was found under, when that is not the model's own.
        per_document: Mean estimated cost of a document in dollars, over rows with usage.
        per_document_billed: The same of what the provider stated, over rows for which it did.
        whole_run: Estimated cost of the run had it answered every row anew; its method says ``extrapolated`` where
            rows without usage were filled in with the mean, and it is exact and without interval where none are.
    """

    name: str
    source: str
    task: str
    model: str
    prompt_version: str
    timestamp: str
    surface: str
    stages: Mapping[str, UsageSummary]
    price: tuple[float, float] | None
    priced_as: str
    per_document: Estimate
    per_document_billed: Estimate
    whole_run: Estimate

    @property
    def total(self) -> UsageSummary:
        """Summary of the whole run."""
        return self.stages[TOTAL]

    @property
    def extrapolated(self) -> bool:
        """Whether the cost of the whole run covers rows that say nothing of theirs."""
        return self.whole_run.method == "extrapolated"

    def per_document_by(self, basis: str) -> Estimate:
        """Return the cost of a document by ``estimate`` or as ``billed``."""
        return self.per_document if basis == "estimate" else self.per_document_billed

    def as_dict(self) -> dict[str, Any]:
        """Return the cost as JSON-ready values."""
        named = ("name", "source", "task", "model", "prompt_version", "timestamp", "surface", "price", "priced_as")
        return {
            **{name: getattr(self, name) for name in named},
            "stages": {name: stage.as_dict() for name, stage in self.stages.items()},
            "cost_per_document_usd": self.per_document.as_dict(),
            "billed_per_document_usd": self.per_document_billed.as_dict(),
            "whole_run_usd": self.whole_run.as_dict(),
            "extrapolated": self.extrapolated,
        }


@dataclass(frozen=True, slots=True)
class TotalCost:
    """A sum over runs that is unknown as soon as one of them is.

    Attributes:
        usd: The sum; None when a part of it is unknown.
        known_usd: Sum of what is known; None when nothing is.
        n_runs: Runs in the sum.
        n_known: Runs with a known cost.
        n_models: Models in the sum.
        unpriced: Models without a price.
        note: What is unknown, in words; empty when nothing is.
    """

    usd: float | None
    known_usd: float | None
    n_runs: int
    n_known: int
    n_models: int
    unpriced: tuple[str, ...]
    note: str

    def as_dict(self) -> dict[str, Any]:
        """Return the sum as JSON-ready values."""
        return {**asdict(self), "unpriced": list(self.unpriced)}


@dataclass(frozen=True, eq=False)
class CostReport:
    """What several runs cost.

    Attributes:
        runs: Cost of each, in the order given; runs of one name have that of their file beside it.
        prices_as_of: Day of the packaged prices.
        prices_source: Who says so.
        notes: What else must be known.
    """

    runs: tuple[RunCost, ...]
    prices_as_of: str
    prices_source: str
    notes: tuple[str, ...] = ()

    @cached_property
    def estimated(self) -> TotalCost:
        """Sum of the estimates."""
        return _total(self.runs, lambda run: run.total.estimated_usd, "estimated")

    @cached_property
    def billed(self) -> TotalCost:
        """Sum of what providers stated, of runs for whose every row with usage they did."""
        return _total(self.runs, _wholly_billed, "billed")

    def frame(self) -> pd.DataFrame:
        """Return one row per run and stage: counts of rows and tokens, dollars, and the note."""
        import pandas as pd

        named = ("name", "task", "model", "prompt_version", "timestamp")
        return pd.DataFrame(
            [
                {**{name: getattr(run, name) for name in named}, **stage.as_dict()}
                for run in self.runs
                for stage in run.stages.values()
            ]
        )

    def by_model(self) -> pd.DataFrame:
        """Return one row per model: runs, tokens, estimate (missing when unknown) and what was billed."""
        import pandas as pd

        rows = []
        for model in dict.fromkeys(run.model for run in self.runs):
            mine = [run for run in self.runs if run.model == model]
            estimated, billed = (_total(mine, of, "") for of in (lambda run: run.total.estimated_usd, _wholly_billed))
            rows.append(
                {
                    "model": model,
                    "n_runs": len(mine),
                    "prompt_tokens": sum(run.total.prompt_tokens for run in mine),
                    "completion_tokens": sum(run.total.completion_tokens for run in mine),
                    "estimated_usd": estimated.usd,
                    "known_usd": estimated.known_usd,
                    "billed_usd": billed.usd,
                    "priced_as": mine[0].priced_as or (model if mine[0].price else ""),
                    "note": estimated.note,
                }
            )
        return pd.DataFrame(rows)

    def as_dict(self) -> dict[str, Any]:
        """Return the report as JSON-ready values."""
        return {
            "runs": [run.as_dict() for run in self.runs],
            "estimated": self.estimated.as_dict(),
            "billed": self.billed.as_dict(),
            "prices": {"as_of": self.prices_as_of, "source": self.prices_source},
            "notes": list(self.notes),
        }


def run_cost(run: Run, *, settings: Settings | None = None) -> RunCost:
    """Sum up what a run consumed and price it.

    Args:
        run: The run.
        settings: Gives prices (``cost_models``, before the packaged ones) and seed, replicates and level of intervals.

    Examples:
        >>> from dojo_kit.records import ExtractionRow, RunMeta
        >>> rows = (ExtractionRow("a", usage=Usage(1_000_000, 100_000)), ExtractionRow("b"))
        >>> cost = run_cost(Run(RunMeta("extraction", model="openai/gpt-4.1-mini"), rows))
        >>> cost.total.estimated_usd, cost.total.rows_replayed, cost.whole_run.method
        (0.56, 1, 'extrapolated')
    """
    settings = resolve(settings)
    prices = with_packaged(settings.cost_models)
    name = priced_as(run.meta.model, prices)
    price = None if name is None else prices[name]
    statistics = settings.statistics
    bootstrap = Bootstrap(statistics.n_resamples, statistics.seed, statistics.confidence)
    stages = {
        stage: _summary(stage, run, [_stage_usage(row, stage) for row in run.rows], price)
        for stage in _STAGES
        if any(isinstance(row, ChainedRow) for row in run.rows)
    }
    stages[TOTAL] = _summary(TOTAL, run, [row.usage for row in run.rows], price)
    per_document, billed = _per_document(run, price, stages[TOTAL], bootstrap)
    return RunCost(
        name=run.name,
        source=run.source,
        task=run.meta.task,
        model=run.meta.model,
        prompt_version=run.meta.prompt_version,
        timestamp=run.meta.timestamp,
        surface=run.fingerprint,
        stages=stages,
        price=price,
        priced_as="" if name in (None, run.meta.model) else str(name),
        per_document=per_document,
        per_document_billed=billed,
        whole_run=_whole_run(stages[TOTAL], per_document),
    )


def cost_report(runs: Iterable[Run], *, settings: Settings | None = None) -> CostReport:
    """Sum up what runs cost.

    Args:
        runs: The runs.
        settings: Gives prices and how intervals are made, see `run_cost`.
    """
    settings = resolve(settings)
    costs = [run_cost(run, settings=settings) for run in runs]
    packaged = packaged_prices()
    return CostReport(tuple(_told_apart(costs)), packaged.as_of, packaged.source, tuple(_notes(costs)))


def _told_apart(costs: Sequence[RunCost]) -> Iterable[RunCost]:
    """Give runs of one name their file's beside it, or a number: names are not unique."""
    names = [cost.name for cost in costs]
    files = [f"{cost.name} ({PurePath(cost.source).stem})" if cost.source else cost.name for cost in costs]
    wanted = [file if names.count(name) > 1 else name for name, file in zip(names, files, strict=True)]
    taken: set[str] = set()
    for cost, name in zip(costs, wanted, strict=True):
        numbered = (f"{name} ({number})" for number in count(2))
        distinct = name if name not in taken else next(one for one in numbered if one not in taken)
        taken.add(distinct)
        yield replace(cost, name=distinct)


def _notes(costs: Sequence[RunCost]) -> Iterable[str]:
    seen: dict[tuple[str, str, str], int] = {}
    for cost in costs:
        identity = (cost.name, cost.timestamp, cost.surface)
        seen[identity] = seen.get(identity, 0) + 1
    for (name, _, _), n in seen.items():
        if n > 1:
            yield f"{name} is given {n} times and counted as often"
    for model, name in dict.fromkeys((cost.model, cost.priced_as) for cost in costs if cost.priced_as):
        yield f"{model} has no price of its own and is priced as {name}, which its name begins with"
    n_replayed = sum(cost.total.rows_replayed for cost in costs)
    if n_replayed:
        rows = "row has" if n_replayed == 1 else "rows have"
        yield f"{n_replayed:,} completed {rows} no usage (replayed, or never recorded) and count as nothing in the sums"


def _stage_usage(row: Row, stage: str) -> Usage | None:
    """Read what one stage of a chained row consumed; the reader has checked the counts."""
    for place in _STAGES[stage]:
        record: Any = row.stored
        for step in place.split("."):
            record = record.get(step) if isinstance(record, Mapping) else None
        if isinstance(record, Mapping):
            read, written = (int(float(record.get(f"{kind}_tokens") or 0)) for kind in ("prompt", "completion"))
            cost = record.get("cost")
            return Usage(read, written, None if cost is None else float(cost)) if read or written else None
    return None


def _summary(stage: str, run: Run, usages: Sequence[Usage | None], price: tuple[float, float] | None) -> UsageSummary:
    known = [usage for usage in usages if usage is not None]
    without = [row for row, usage in zip(run.rows, usages, strict=True) if usage is None]
    n_failed = sum(_failed(row, stage) for row in without)
    costs = [usage.cost_usd for usage in known if usage.cost_usd is not None]
    read, written = sum(usage.prompt_tokens for usage in known), sum(usage.completion_tokens for usage in known)
    note = ""
    if not read + written:
        note = "no usage recorded"
    elif price is None:
        note = f"no price for {run.meta.model}" if run.meta.model else "the run names no model, so it has no price"
    return UsageSummary(
        stage=stage,
        n_rows=len(run.rows),
        rows_with_usage=len(known),
        rows_replayed=len(without) - n_failed,
        rows_failed=n_failed,
        rows_billed=len(costs),
        prompt_tokens=read,
        completion_tokens=written,
        billed_usd=sum(costs) if costs else None,
        billed_mean_usd=sum(costs) / len(costs) if costs else None,
        estimated_usd=None if note or price is None else _dollars(read, written, price),
        note=note,
    )


def _failed(row: Row, stage: str) -> bool:
    """Tell whether a row, or the extractor's half of a chained one, has no answer."""
    if stage == "extractor":
        return isinstance(row, ChainedRow) and row.extracted is None
    return row.failed


def _dollars(read: float, written: float, price: tuple[float, float]) -> float:
    return read * price[0] / _MILLION + written * price[1] / _MILLION


def _per_document(
    run: Run, price: tuple[float, float] | None, total: UsageSummary, bootstrap: Bootstrap
) -> tuple[Estimate, Estimate]:
    """Average the cost of rows with usage, sorted by document, as estimated and as billed."""
    rows = sorted((row for row in run.rows if row.usage is not None), key=lambda row: document_key(row.document))
    usages = [row.usage for row in rows if row.usage is not None]
    billed = bootstrap.mean([usage.cost_usd for usage in usages if usage.cost_usd is not None])
    if billed.value is None:
        billed = undefined("the provider stated no cost")
    if total.note or price is None:
        return undefined(total.note), billed
    return bootstrap.mean([_dollars(u.prompt_tokens, u.completion_tokens, price) for u in usages]), billed


def _whole_run(total: UsageSummary, per_document: Estimate) -> Estimate:
    if per_document.value is None or total.estimated_usd is None:
        return undefined(per_document.note)
    if not total.rows_replayed:
        return Estimate(total.estimated_usd, None, None, "sum", total.rows_with_usage)
    n_rows = total.rows_with_usage + total.rows_replayed
    lo, hi = (
        None if end is None else total.estimated_usd + total.rows_replayed * end
        for end in (per_document.lo, per_document.hi)
    )
    return Estimate(
        total.estimated_usd + total.rows_replayed * per_document.value,
        lo,
        hi,
        "extrapolated",
        n_rows,
        per_document.seed,
        per_document.n_boot,
        per_document.flags,
        note=f"{total.rows_replayed:,} of {n_rows:,} rows have no usage and are taken at the mean of the others",
    )


def _wholly_billed(run: RunCost) -> float | None:
    return run.total.billed_usd if run.total.rows_billed == run.total.rows_with_usage else None


def _total(runs: Sequence[RunCost], of: Callable[[RunCost], float | None], what: str) -> TotalCost:
    values = [of(run) for run in runs]
    known = [value for value in values if value is not None]
    models = list(dict.fromkeys(run.model for run in runs))
    unpriced = tuple(model for model in models if all(run.price is None for run in runs if run.model == model))
    parts = []
    n_nameless = sum(not run.model for run in runs)
    if what != "billed" and (named := [model for model in unpriced if model]):
        parts.append(f"{len(named)} of {len([model for model in models if model])} models unpriced")
    if what != "billed" and n_nameless:
        parts.append(f"{n_nameless} of {len(runs)} runs {'names' if n_nameless == 1 else 'name'} no model")
    n_silent = sum(not run.total.total_tokens for run in runs)
    if n_silent and what != "billed":
        parts.append(f"{n_silent} of {len(runs)} runs recorded no usage")
    if what == "billed" and len(known) < len(runs):
        parts.append(f"{len(runs) - len(known)} of {len(runs)} runs without a stated cost")
    return TotalCost(
        usd=sum(known) if len(known) == len(runs) else None,
        known_usd=sum(known) if known else None,
        n_runs=len(runs),
        n_known=len(known),
        n_models=len(models),
        unpriced=unpriced,
        note="; ".join(parts),
    )
