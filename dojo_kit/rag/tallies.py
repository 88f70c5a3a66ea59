"""Ties and broken label rules, found and counted; and the counts of everything that became of the rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dojo_kit.rag.contract import CheckedLabels
from dojo_kit.rag.faults import LISTED, Faults, LabelsError, Mask, counted, shown
from dojo_kit.rag.metrics import Labels
from dojo_kit.rag.panels import Panels, Scored, incomplete_queries
from dojo_kit.rag.tasks import LabelRule, Task
from dojo_kit.rag.units import Units
from dojo_kit.rag.votes import Majority, OneVoteEach


@dataclass(frozen=True, slots=True)
class Violations:
    """How often labels contradict each other.

    Attributes:
        rows: Judged rows that break a rule, before the vote.
        units: Units whose decided labels do, after it.
        by_rule: Rule -> units.
    """

    rows: int
    units: int
    by_rule: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusals:
    """What stops the scoring.

    Attributes:
        ties: Votes without a majority.
        violations: Decided labels that contradict each other.
        incomplete: Panels from which something is missing.
    """

    ties: bool
    violations: bool
    incomplete: bool


def refuse(checked: CheckedLabels, panels: Panels, decided: Majority, refusals: Refusals) -> None:
    """Stop at ties, contradictions and incomplete panels as far as options ask, at all of them together.

    Only the decided labels are scored, so what one annotator got wrong and the others outvoted stops nothing.

    Args:
        checked: The rows.
        panels: The panels.
        decided: What votes decided.
        refusals: What stops the scoring.

    Raises:
        LabelsError: With every place, and every option that could be set otherwise.
    """
    units = panels.units
    ties, rules = Faults(units.lines, checked.source), Faults(units.lines, checked.source)
    if refusals.ties:
        for at, label in enumerate(checked.task.labels):
            ties.add(
                decided.tied[:, at],
                label,
                lambda unit: f"{_unit_name(units, unit)}: {decided.votes[unit]} votes are tied",
                "a majority, or another tie rule: drop, positive, negative or first",
            )
    if refusals.violations:
        for rule in checked.task.rules:
            rules.add(
                _broken(rule, checked.task, decided.labels),
                rule.effect,
                lambda unit, rule=rule: f"{_unit_name(units, unit)}: {rule.cause} is 1, {rule.effect} {1 - rule.value}",  # type: ignore[misc]
                f"{rule.value} ({rule.name}), or on_violation as_is",
            )
    incomplete, n_incomplete = incomplete_queries(panels, checked.source) if refusals.incomplete else ([], 0)
    kinds = [
        (ties.n, counted(ties.n, "tied vote"), "tie"),
        (rules.n, f"{counted(rules.n, 'label')} against a rule", "on_violation"),
        (n_incomplete, f"{counted(n_incomplete, 'query', 'queries')} with an incomplete panel", "on_incomplete"),
    ]
    said = [f"{words} (option {option})" for n, words, option in kinds if n]
    if said:
        # some of every kind, so that nobody mends one only to meet the next
        each = LISTED // len(said)
        problems = [*ties.found[:each], *rules.found[:each], *incomplete[:each]]
        raise LabelsError(problems, ties.n + rules.n + n_incomplete, heading=", ".join(said))


def count_violations(checked: CheckedLabels, decided: Majority) -> Violations:
    """Count labels that contradict each other.

    Args:
        checked: The rows.
        decided: What votes decided.
    """
    rules = checked.task.rules
    broken = {rule.name: _broken(rule, checked.task, decided.labels) for rule in rules}
    in_rows = [_broken(rule, checked.task, checked.labels) & checked.judged for rule in rules]
    return Violations(
        int(np.logical_or.reduce(in_rows).sum()) if rules else 0,
        int(np.logical_or.reduce(list(broken.values())).sum()) if rules else 0,
        {name: int(marked.sum()) for name, marked in broken.items()},
    )


def count_everything(
    checked: CheckedLabels,
    panels: Panels,
    votes: OneVoteEach,
    decided: Majority,
    scored: Scored,
    violations: Violations,
) -> dict[str, int]:
    """Count rows, votes, units and queries, and what became of them."""
    judged = checked.judged
    voted = int((decided.votes > 0).sum())
    annotators = 0 if checked.annotators is None else len(np.unique(checked.annotators.codes[judged]))
    return {
        "rows": len(checked.lines),
        "rows_judged": int(judged.sum()),
        "rows_not_submitted": int((~checked.submitted & ~checked.empty).sum()),
        "rows_without_labels": int((checked.submitted & ~judged & ~checked.empty).sum()),
        "rows_replaced": votes.n_replaced,
        "rows_repeated": votes.n_repeated,
        "rows_collapsed": int(votes.kept.sum()) - voted,
        "rows_violating_rules": violations.rows,
        "annotators": annotators,
        "units": len(decided.votes),
        "units_without_labels": int((decided.votes == 0).sum()),
        "units_with_several_votes": int((decided.votes > 1).sum()),
        "units_with_dissent": int(decided.dissent.any(axis=1).sum()),
        "units_tied": int(decided.tied.any(axis=1).sum()),
        "labels_tied": int(decided.tied.sum()),
        "units_violating_rules": violations.units,
        "ranks_without_row": int(panels.gaps.sum()),
        "queries": panels.units.n_queries,
        "queries_incomplete": int((panels.incomplete & ~panels.tied).sum()),
        "queries_tied": int(panels.tied.sum()),
        "queries_with_nothing_retrieved": int((panels.sizes == 0).sum()),
        "queries_scored": int(scored.included.sum()),
        "queries_left_out": int((~scored.included).sum()),
    }


def _broken(rule: LabelRule, task: Task, labels: Labels) -> Mask:
    """Rows or units whose labels break a rule; an unknown label breaks none."""
    cause, effect = (labels[:, task.labels.index(name)] for name in (rule.cause, rule.effect))
    broken: Mask = (cause == 1) & (effect == 1 - rule.value)
    return broken


def _unit_name(units: Units, unit: int) -> str:
    query = f"query {shown(units.records[units.queries[unit]])}"
    return query if units.chunks is None else f"{query}, chunk {shown(units.chunks[unit])}"
