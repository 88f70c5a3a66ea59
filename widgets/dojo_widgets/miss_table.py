"""Families of expected spans, how many of each were missed, and the spans themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import traitlets

from dojo_kit.errors import closest
from dojo_kit.views import miss_table
from dojo_widgets import assets
from dojo_widgets.base import Widget

if TYPE_CHECKING:
    from dojo_kit.analysis.attribution import Attribution

_KEYS = (
    "field measure threshold has_places expected counts causes untestable recall families documents spans notes".split()
)
_STATUSES = ("matched", "taken", "near", "missed")


class MissTable(Widget):
    """Show which families of spans were missed and list the spans, one of them selected.

    The strip on top adds up: expected = matched + one count per cause. Below it the families, most missed first, and
    the spans of the family selected.

    Args:
        table: Everything that is shown, as `dojo_kit.views.miss_table` returns it.
        family: Category to select; "" shows all families.
        cause: Cause to show; "" shows all causes.
        show: Spans listed: ``missed``, ``matched``, or ``check`` for matches that stand elsewhere in their document.
        span: Span to select; "" selects the most similar missed span of the family missed most.
        sort: Order of the spans, ``similarity``, ``document``, ``label``, ``place`` or ``cause`` with ``:asc`` or
            ``:desc``.
        family_sort: Order of the families, ``count``, ``rate`` or ``name`` with ``:asc`` or ``:desc``.

    Attributes:
        data: The table.
        family: Category selected. Changing it selects a span of the family.
        cause: Cause selected.
        show: Spans listed.
        span: Id of the span selected; "" when the list is empty. Setting it widens the filters where they hide it.
        sort: Order of the spans.
        family_sort: Order of the families.

    Raises:
        traitlets.TraitError: The table is incomplete or does not add up, or there is no such family, cause or span.

    Examples:
        >>> missed = {"id": "a:terms:0", "document": 0, "category": "Audit Rights", "text": "may audit",
        ...           "status": "near", "cause": "omission", "similarity": 0.4, "place": "elsewhere", "check": False}
        >>> widget = MissTable({
        ...     "field": "terms", "measure": "coverage", "threshold": 0.6, "has_places": True,
        ...     "expected": 1, "counts": {"near": 1}, "causes": {"omission": 1}, "untestable": {},
        ...     "recall": {"value": 0.0, "lo": None, "hi": None, "n": 1},
        ...     "families": [{"category": "Audit Rights", "short": "Audit Rights", "expected": 1, "unmatched": 1,
        ...                   "rate": 1.0, "lo": 0.21, "hi": 1.0, "ranked": False}],
        ...     "documents": [{"name": "a", "short": "a"}], "spans": [missed], "notes": [],
        ... })
        >>> widget.span
        'a:terms:0'
    """

    _esm = assets.bundle("miss_table")
    _css = assets.styles("miss_table")

    data = traitlets.Dict().tag(sync=True)
    family = traitlets.Unicode("").tag(sync=True)
    cause = traitlets.Unicode("").tag(sync=True)
    show = traitlets.Unicode("missed").tag(sync=True)
    span = traitlets.Unicode("").tag(sync=True)
    sort = traitlets.Unicode("similarity:desc").tag(sync=True)
    family_sort = traitlets.Unicode("count:desc").tag(sync=True)

    def __init__(
        self,
        table: Mapping[str, Any],
        *,
        family: str = "",
        cause: str = "",
        show: str = "missed",
        span: str = "",
        sort: str = "similarity:desc",
        family_sort: str = "count:desc",
    ) -> None:
        super().__init__(
            data=dict(table), family=family, cause=cause, show=show, span=span, sort=sort, family_sort=family_sort
        )
        self.observe(self._follow_filters, names=["family", "cause", "show"])
        self.observe(self._follow_span, names="span")
        self.observe(self._follow_data, names="data")
        if span:
            self._reveal()
        else:
            self._select_first()

    @classmethod
    def of(
        cls, attribution: Attribution, field: str, *, family: str = "", cause: str = "", span: str = ""
    ) -> MissTable:
        """Show the misses of one list field of a scored run.

        Args:
            attribution: Spans of the run.
            field: The field.
            family: Category to select; "" shows all families.
            cause: Cause to show; "" shows all causes.
            span: Span to select.
        """
        return cls(miss_table(attribution, field), family=family, cause=cause, span=span)

    @traitlets.validate("data")
    def _valid_data(self, proposal: Mapping[str, Any]) -> dict[str, Any]:
        table: dict[str, Any] = proposal["value"]
        if fault := _fault(table):
            raise traitlets.TraitError(f"table: {fault}")
        return table

    @traitlets.validate("family")
    def _valid_family(self, proposal: Mapping[str, Any]) -> str:
        return _known("family", proposal["value"], [family["category"] for family in self.data["families"]])

    @traitlets.validate("cause")
    def _valid_cause(self, proposal: Mapping[str, Any]) -> str:
        return _known("cause", proposal["value"], self.data["causes"])

    @traitlets.validate("span")
    def _valid_span(self, proposal: Mapping[str, Any]) -> str:
        return _known("span", proposal["value"], self._spans)

    @traitlets.validate("show")
    def _valid_show(self, proposal: Mapping[str, Any]) -> str:
        return _one_of("show", proposal["value"], ("missed", "matched", "check"))

    @traitlets.validate("sort", "family_sort")
    def _valid_sort(self, proposal: Mapping[str, Any]) -> str:
        name = proposal["trait"].name
        columns = ("similarity", "document", "label", "place", "cause") if name == "sort" else ("count", "rate", "name")
        return _one_of(name, proposal["value"], [f"{column}:{way}" for column in columns for way in ("asc", "desc")])

    @property
    def _spans(self) -> dict[str, dict[str, Any]]:
        return {span["id"]: span for span in self.data["spans"]}

    def _is_listed(self, span: Mapping[str, Any]) -> bool:
        is_matched = span["status"] == "matched"
        is_shown = {"missed": not is_matched, "matched": is_matched, "check": span["check"]}[self.show]
        return bool(is_shown) and self.family in ("", span["category"]) and self.cause in ("", span["cause"])

    def _select_first(self) -> None:
        listed = [span for span in self.data["spans"] if self._is_listed(span)]
        worst = "" if self.family else _worst_family(self.data["families"])
        of_worst = [span for span in listed if span["category"] == worst]
        first = max(of_worst or listed, key=_similarity, default=None)
        self.span = first["id"] if first else ""

    def _reveal(self) -> None:
        span = self._spans[self.span]
        if self._is_listed(span):
            return
        with self.hold_trait_notifications():
            self.family = self.family if self.family == span["category"] else ""
            self.show = "matched" if span["status"] == "matched" else "missed"
            self.cause = self.cause if self.cause == span["cause"] else ""

    def _follow_filters(self, change: Mapping[str, Any]) -> None:
        if change["name"] == "cause" and self.cause:
            self.show = "missed"
        elif change["name"] == "show" and self.show != "missed":
            self.cause = ""
        selected = self._spans.get(self.span)
        if selected is None or not self._is_listed(selected):
            self._select_first()

    def _follow_span(self, change: Mapping[str, Any]) -> None:
        if change["new"]:
            self._reveal()

    def _follow_data(self, change: Mapping[str, Any]) -> None:
        categories = {family["category"] for family in self.data["families"]}
        with self.hold_trait_notifications():
            self.family = self.family if self.family in categories else ""
            self.cause = self.cause if self.cause in self.data["causes"] else ""
            self.span = self.span if self.span in self._spans else ""
        if not self.span:
            self._select_first()


def _known(name: str, value: str, known: Iterable[str]) -> str:
    names = list(known)
    if value and value not in names:
        raise traitlets.TraitError(f"no {name} {value!r} in this table{closest(value, names)}")
    return value


def _one_of(name: str, value: str, allowed: Iterable[str]) -> str:
    choices = tuple(allowed)
    if value not in choices:
        raise traitlets.TraitError(f"{name} is {value!r}; it can be {', '.join(choices)}")
    return value


def _similarity(span: Mapping[str, Any]) -> float:
    similarity = span["similarity"]
    return -1.0 if similarity is None else float(similarity)


def _worst_family(families: Iterable[Mapping[str, Any]]) -> str:
    ranked = [family for family in families if family["ranked"] and family["unmatched"]]
    worst = min(ranked, key=lambda family: (-family["unmatched"], -family["rate"], family["short"].lower()), default={})
    return str(worst.get("category", ""))


def _fault(table: Mapping[str, Any]) -> str | None:
    """Say what is wrong with a table; a table that does not add up would show two truths."""
    if missing := [key for key in _KEYS if key not in table]:
        return f"without {', '.join(missing)}"
    spans, families, counts = table["spans"], table["families"], table["counts"]
    if unknown := set(counts) - set(_STATUSES):
        return f"unknown status {sorted(unknown)[0]!r}"
    if len(spans) != table["expected"] or sum(counts.values()) != table["expected"]:
        return f"{table['expected']} spans expected, {len(spans)} given, {sum(counts.values())} counted by status"
    unmatched = table["expected"] - counts.get("matched", 0)
    for name, total in (
        ("causes", sum(table["causes"].values())),
        ("families", sum(family["unmatched"] for family in families)),
        ("spans", sum(span["status"] != "matched" for span in spans)),
    ):
        if total != unmatched:
            return f"{unmatched} spans are not matched, but the {name} have {total}"
    return _span_fault(table)


def _span_fault(table: Mapping[str, Any]) -> str | None:
    categories = {family["category"] for family in table["families"]}
    ids = set()
    for span in table["spans"]:
        if span["id"] in ids:
            return f"two spans {span['id']!r}"
        ids.add(span["id"])
        if span["category"] not in categories:
            return f"span {span['id']!r} is of no family: {span['category']!r}"
        if not 0 <= span["document"] < len(table["documents"]):
            return f"span {span['id']!r} is in no document"
        if (span["cause"] is None) != (span["status"] == "matched"):
            return f"span {span['id']!r} is {span['status']} with cause {span['cause']!r}"
    return None
