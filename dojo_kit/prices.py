"""What a token costs: the packaged price table, and how a model finds its price in a table."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType

Prices = Mapping[str, tuple[float, float]]
"""Model slug -> US dollars per million tokens read and written."""


@dataclass(frozen=True, slots=True)
class PriceTable:
    """Prices, and where they are from.

    Attributes:
        prices: Prices by model.
        as_of: The day they were valid, as ISO text.
        source: Who says so.
    """

    prices: Prices
    as_of: str
    source: str


@cache
def packaged_prices() -> PriceTable:
    """Return the price table that comes with the package.

    Examples:
        >>> packaged_prices().prices["deepseek/deepseek-v4-pro"]
        (0.435, 0.87)
    """
    table = tomllib.loads(files("dojo_kit").joinpath("data/prices.toml").read_text(encoding="utf-8"))
    prices = {model: (float(read), float(written)) for model, (read, written) in table["models"].items()}
    return PriceTable(MappingProxyType(prices), table["as_of"], table["source"])


def with_packaged(prices: Prices) -> Prices:
    """Return the packaged prices with others added to them or in their place.

    Args:
        prices: What comes first, such as the setting ``cost_models``.

    Examples:
        >>> table = with_packaged({"openai/gpt-4.1-mini": (1.0, 2.0), "maker/model": (3.0, 4.0)})
        >>> table["openai/gpt-4.1-mini"], table["maker/model"], "deepseek/deepseek-v4-pro" in table
        ((1.0, 2.0), (3.0, 4.0), True)
    """
    return {**packaged_prices().prices, **prices}


def priced_as(model: str, prices: Prices) -> str | None:
    """Find the name in a table by which a model is priced: its own, else the longest it begins with.

    A longer name can be a larger model than the one it begins with, so that a price found this way is to be shown as
    what it is.

    Examples:
        >>> table = {"maker/model": (1.0, 2.0), "maker/model-large": (3.0, 4.0)}
        >>> priced_as("maker/model-large-2", table), priced_as("other", table)
        ('maker/model-large', None)
    """
    return max((name for name in prices if name and model.startswith(name)), key=len, default=None)


def price_of(model: str, prices: Prices) -> tuple[float, float] | None:
    """Find the price of a model: its own, else that of the longest key its slug begins with.

    Examples:
        >>> price_of("maker/model-large-2", {"maker/model": (1.0, 2.0), "maker/model-large": (3.0, 4.0)})
        (3.0, 4.0)
        >>> price_of("other", {}) is None
        True
    """
    name = priced_as(model, prices)
    return None if name is None else prices[name]
