"""What a candidate run recovered and lost of the spans another run missed.

A rise in the mean score says nothing of which spans it came from; both directions are counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from dojo_kit.analysis.attribution import Attribution, no_spans
from dojo_kit.errors import ComparabilityError
from dojo_kit.text.names import document_key

if TYPE_CHECKING:
    import pandas as pd

CHANGES = ("recovered", "lost", "still", "kept")
"""Unmatched before and matched after; matched before and unmatched after; unmatched in both; matched in both."""


@dataclass(frozen=True)
class Recovery:
    """Spans of two runs over the same labels.

    Attributes:
        spans: One row per span scored in both runs: ``id``, ``document``, ``field``, ``category``, ``family``,
            ``text``, ``change`` (see `CHANGES`), and ``status``, ``cause``, ``similarity`` and ``item`` of each run
            with the endings ``_before`` and ``_after``.
        before: The run compared with.
        after: The candidate.
        n_only_before: Documents scored only in the first run, which are left out.
        n_only_after: Documents scored only in the second.
    """

    spans: pd.DataFrame
    before: Attribution
    after: Attribution
    n_only_before: int
    n_only_after: int

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """List fields compared."""
        present = set(self.spans["field"])
        order = dict.fromkeys((*self.before.fields, *self.after.fields))
        return tuple(name for name in order if name in present)

    def _of(self, field: str | None) -> pd.DataFrame:
        if field is not None and field not in self.fields:
            raise no_spans(field, self.fields)
        return self.spans if field is None else self.spans[self.spans["field"] == field]

    def counts(self, field: str | None = None) -> dict[str, int]:
        """Count spans by change, and ``net`` = recovered - lost."""
        spans = self._of(field)
        found = spans["change"].value_counts()
        counts = {change: int(found.get(change, 0)) for change in CHANGES}
        return {**counts, "net": counts["recovered"] - counts["lost"]}

    def families(self, field: str | None = None) -> pd.DataFrame:
        """Count changes by category, where most was lost first.

        Returns:
            One row per category with ``category``, ``short``, ``n``, ``recovered``, ``lost``, ``still``, ``kept`` and
            ``net``.
        """
        import pandas as pd

        spans = self._of(field)
        table = pd.crosstab([spans["category"], spans["family"]], spans["change"])
        table = table.reindex(columns=list(CHANGES), fill_value=0).rename_axis(columns=None).reset_index()
        table = table.rename(columns={"family": "short"})
        table["n"] = table[list(CHANGES)].sum(axis=1)
        table["net"] = table["recovered"] - table["lost"]
        order = ["net", "lost", "category"]
        return table.sort_values(order, ascending=[True, False, True], kind="stable").reset_index(drop=True)[
            ["category", "short", "n", *CHANGES, "net"]
        ]


def recovered(before: Attribution, after: Attribution) -> Recovery:
    """Compare two runs span by span.

    Args:
        before: The run whose misses were to be mended.
        after: The candidate.

    Raises:
        ComparabilityError: The runs were scored with other labels, documents, rules or measures.
    """
    _require_comparable(before, after)
    sides = []
    for attribution in (before, after):
        spans = attribution.spans
        keys = spans["document"].map(document_key)
        sides.append(spans.assign(key=keys).set_index("id"))
    left, right = sides
    both = set(left["key"]) & set(right["key"])
    columns = ["status", "cause", "similarity", "item"]
    kept = left[left["key"].isin(both)]
    joined = kept[["document", "field", "category", "family", "text"]].join(
        [kept[columns].add_suffix("_before"), right[columns].add_suffix("_after")]
    )
    was, now = (joined[f"status_{side}"] == "matched" for side in ("before", "after"))
    change = was.map({True: "kept", False: "still"}).astype(object)
    change[~was & now] = "recovered"
    change[was & ~now] = "lost"
    return Recovery(
        joined.assign(change=change.astype(joined["field"].dtype)).reset_index(),
        before,
        after,
        len(set(left["key"]) - both),
        len(set(right["key"]) - both),
    )


def _require_comparable(before: Attribution, after: Attribution) -> None:
    told = []
    for name in ("measure", "threshold", "requested"):
        mine, theirs = getattr(before, name), getattr(after, name)
        if mine != theirs:
            told.append(f"{name} ({mine} and {theirs})")
    differences = before.scored.recipe.differences(after.scored.recipe)
    if "surface" in differences or "labels" in differences:
        told.append(_other_documents(before, after))
    for name, (mine, theirs) in differences.items():
        if name not in ("surface", "labels", "grounding"):  # places decide causes, not whether a span was found
            told.append(f"{name} ({mine} and {theirs})")
    if told:
        raise ComparabilityError(f"the runs cannot be compared span by span: they differ in {', '.join(told)}")


def _other_documents(before: Attribution, after: Attribution) -> str:
    sides = [
        set(side.scored.frame("documents", ["document"])["document"].map(document_key)) for side in (before, after)
    ]
    only = [len(sides[0] - sides[1]), len(sides[1] - sides[0])]
    if not any(only):
        return "the labels of their documents"
    return f"their documents ({only[0]} only in the first run, {only[1]} only in the second)"
