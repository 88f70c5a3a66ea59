"""Recomputes stored token totals and costs from the rows' usage."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from dojo_kit.analysis.verify.ledger import DOLLAR_DECIMALS, Ledger, Rounded, Unknown
from dojo_kit.analysis.verify.reading import Node, RunRecord
from dojo_kit.prices import Prices, price_of

_FLAT = "tokens"
_STAGES = ("sorter", "extractor")


def recompute_usage(run: RunRecord, prices: Prices) -> dict[str, Any]:
    """Recompute the totals of a record, one bucket or one per stage and their total.

    Args:
        run: The record.
        prices: Prices by model, see `dojo_kit.prices.price_of`.

    Returns:
        Metric -> value, or stage -> metric -> value, named as under ``tokens``.
    """
    price = price_of(run.model, prices)
    stages = {stage: _usages(run.rows, f"{stage}_tokens") for stage in _STAGES}
    return {
        **_totals(_usages(run.rows, _FLAT), price, run.model),
        **{stage: _totals(usages, price, run.model) for stage, usages in stages.items()},
        "total": _totals([usage for usages in stages.values() for usage in usages], price, run.model),
    }


def _usages(rows: Sequence[Node], key: str) -> list[Node]:
    """Read the usage of every row that has any; replayed rows have none."""
    return [usage for row in rows if (usage := row.child(key)).data]


def _totals(usages: Sequence[Node], price: tuple[float, float] | None, model: str) -> dict[str, Any]:
    prompt, completion, total = (
        sum(usage.count(f"{kind}_tokens") for usage in usages) for kind in ("prompt", "completion", "total")
    )
    costs = [cost for usage in usages if (cost := usage.number("cost")) is not None]
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": total,
        "rows_with_usage": len(usages),
        "cost_usd": Rounded(fmean(costs) if costs else 0.0, DOLLAR_DECIMALS),
        "cost_total_usd": Rounded(sum(costs), DOLLAR_DECIMALS),
        "cost_estimated_usd": _estimate(prompt, completion, price, model),
    }


def _estimate(prompt: int, completion: int, price: tuple[float, float] | None, model: str) -> Any:
    """Price the tokens; without tokens or a price the stored estimate is null."""
    if not prompt + completion:
        return None
    if price is None:
        why = f"the price table has no price for {model or 'a record without a model'}"
        return Unknown(why, null_follows=True)
    return Rounded(prompt * price[0] / 1e6 + completion * price[1] / 1e6, DOLLAR_DECIMALS)


def check_usage_rows(ledger: Ledger, run: RunRecord) -> None:
    """Check that the tokens of each row's usage add up."""
    for key in (_FLAT, *(f"{stage}_tokens" for stage in _STAGES)):
        for usage in _usages(run.rows, key):
            parts = usage.count("prompt_tokens") + usage.count("completion_tokens")
            ledger.row(f"{key}.total_tokens", usage.path, usage.count("total_tokens"), parts)
