"""Which kinds of clauses are missed: expected spans counted by the category they were labelled under."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dojo_kit.schema import clause_category
from dojo_kit.stats.intervals import wilson

if TYPE_CHECKING:
    import pandas as pd

    from dojo_kit.scoring.run import ScoredRun

RANKED_FROM = 5
"""Labels a family needs before its rate is ranked among others."""


def family_table(scored: ScoredRun, *, field: str | None = None) -> pd.DataFrame:
    """Count expected and missed spans by field and category.

    Args:
        scored: A scored run.
        field: Only this list field.

    Returns:
        See `count_families`; spans as `dojo_kit.analysis.attribution.attribute` gives them.
    """
    from dojo_kit.analysis.attribution import attribute

    return attribute(scored, field=field).families()


def count_families(spans: pd.DataFrame, *, confidence: float) -> pd.DataFrame:
    """Count spans, and those not matched, by field and category.

    Args:
        spans: One row per span with ``field``, ``category`` and ``status``.
        confidence: Level of the intervals.

    Returns:
        One row per field and category with ``short`` (its name for tables), ``n``, ``missed`` (not matched),
        ``rate``, ``lo`` and ``hi`` (Wilson, spans taken as independent) and ``ranked`` (n >= 5); ranked families
        first, most missed first.
    """
    import pandas as pd

    spans = spans.assign(missed=spans["status"] != "matched")
    table = spans.groupby(["field", "category"], sort=True)["missed"].agg(n="size", missed="sum").reset_index()
    estimates = [
        wilson(int(missed), int(n), confidence=confidence)
        for missed, n in zip(table["missed"], table["n"], strict=True)
    ]
    table["short"] = [short_name(category) for category in table["category"]]
    table["rate"] = pd.array([e.value for e in estimates], dtype="float64")
    table["lo"] = pd.array([e.lo for e in estimates], dtype="float64")
    table["hi"] = pd.array([e.hi for e in estimates], dtype="float64")
    table["ranked"] = table["n"] >= RANKED_FROM
    return table.sort_values(
        ["ranked", "missed", "rate", "category"], ascending=[False, False, False, True], kind="stable"
    ).reset_index(drop=True)


def worst_family(families: pd.DataFrame) -> str:
    """Say in words which ranked category is missed most; empty when nothing is.

    Args:
        families: From `family_table` or `count_families`.
    """
    ranked = families[families["ranked"] & (families["missed"] > 0)]
    if ranked.empty:
        return ""
    top = ranked.iloc[0]
    return f"lost most in {top['short']}: {top['missed']} of {top['n']}"


def short_name(category: str) -> str:
    """Return a category's name for tables.

    Examples:
        >>> short_name("Notice Period To Terminate Renewal")
        'Renewal notice'
    """
    known = clause_category(category)
    return known.short if known else category
