"""How ``dojo whatif`` prints results: a sentence that answers, the tables it rests on, and what not to conclude."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from dojo_kit import formats
from dojo_kit.cli.output import Column, build_table, out, shown
from dojo_kit.simulate.votes import Votes
from dojo_kit.stats.intervals import SCOPE, Estimate
from dojo_kit.views import what_if_words as wording

if TYPE_CHECKING:
    import pandas as pd

    from dojo_kit.simulate import (
        Committee,
        CorpusSummary,
        Escalation,
        EscalationStep,
        Exemplars,
        FailurePipeline,
        Slice,
        SliceCheck,
    )

DIGITS = 4
SHOWN_CLASSES, SHOWN_CONFUSIONS, SHOWN_CHARACTERS = 10, 12, 160


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a frame as JSON-ready values, unknown numbers as None."""
    return [
        {str(name): None if isinstance(value, float) and math.isnan(value) else value for name, value in row.items()}
        for row in frame.to_dict("records")
    ]


def say(first: str, *others: str) -> None:
    """Print the sentence that answers, and what else must be said; empty sentences are left out."""
    out.print(f"[bold]{shown(first)}[/]", soft_wrap=True)
    for sentence in others:
        if sentence:
            out.print(shown(sentence), soft_wrap=True)


def note(*sentences: str) -> None:
    """Print what not to conclude; empty sentences are left out."""
    out.print()
    for sentence in sentences:
        if sentence:
            out.print(f"[dim]{shown(sentence)}[/]", soft_wrap=True)


def table(title: str, columns: list[Column], rows: Iterable[Sequence[str]], *, drop: Sequence[str] = ()) -> None:
    """Print a table that has rows."""
    listed = list(rows)
    if listed:
        out.print()
        out.print(build_table(title, columns, listed, drop=drop))


def number(value: float | None) -> str:
    """Write a number with four digits."""
    return formats.number(None if value is None or math.isnan(value) else value, digits=DIGITS)


def interval(lo: float | None, hi: float | None) -> str:
    """Write an interval; empty when there is none."""
    return "" if lo is None or hi is None or math.isnan(lo) else f"[{number(lo)}, {number(hi)}]"


def estimate(value: Estimate) -> str:
    """Write an estimate with its interval."""
    return f"{number(value.value)} {interval(value.lo, value.hi)}".strip()


def level_header(level: float) -> str:
    """Name an interval's column by its level."""
    return f"{wording.share(level)} interval"


def _share(value: float) -> str:
    """Write a small share as a percentage that is not 0 unless it is."""
    percent = 100 * value
    if percent and percent < 0.00005:
        return "under 0.0001 %"
    return f"{percent:.2f} %" if percent >= 1 else f"{percent:.4f} %"


def _documents(n: float) -> str:
    return f"{n:,.0f}" if n >= 9.95 or not n else f"{n:.1f}" if n >= 0.05 else "under 0.1"


def print_summary(summary: CorpusSummary) -> None:
    """Print what a corpus holds."""
    failed = f"{formats.count(summary.n_failed, 'call')} failed ({_share(summary.n_failed / max(1, summary.n_rows))})"
    disguised = "of them stored as completed" if not summary.legacy else "more stored as completed, counted as votes"
    names = formats.count(summary.n_experiments, "experiment name")
    say(
        f"{formats.count(summary.n_rows, 'row')} of {formats.count(summary.n_runs, 'run')} with {names}; {failed}.",
        f"{summary.n_disguised:,} {disguised}; {formats.count(summary.n_replays, 'answer')} taken over from earlier "
        f"runs; {summary.n_with_reasoning:,} of {summary.n_completed:,} answers with reasons.",
        f"{formats.count(summary.n_shared, 'document')} seen under two experiment names or more.",
    )
    rows = [
        [task, f"{n:,}", f"{summary.shared_by_task.get(task, 0):,}"] for task, n in summary.completed_by_task.items()
    ]
    table("by task", [("task", "left"), ("answers", "right"), ("documents seen twice", "right")], rows)
    models = [[model or "not named", f"{n:,}"] for model, n in summary.completed_by_model.items()]
    table("by model", [("model", "fold"), ("answers", "right")], models)
    if summary.notes:
        note(*summary.notes)


def print_committee(found: Committee, level: float) -> None:
    """Print the accuracies of committees, with intervals of a level."""
    last = max(found.rows, key=lambda row: row.k if row.k <= 5 else 0)
    gain = "" if last.gain is None or last.k == 1 else f", {_gain(last.gain)} over one vote"
    votes = formats.count(last.k, "vote")
    say(
        f"{votes} of pool {found.votes.pool}: {estimate(last.accuracy)} of "
        f"{formats.count(len(found.votes), 'document')} right{gain}; with ever more votes it tends to "
        f"{number(found.limit.value)}.",
        votes_sentence(found.votes),
        wording.single_vote(found.votes),
    )
    rows = [
        [
            f"{row.k:,}",
            number(row.accuracy.value),
            interval(row.accuracy.lo, row.accuracy.hi),
            "" if row.gain is None or row.k == 1 else _gain(row.gain),
            row.method,
        ]
        for row in found.rows
    ]
    rows.append(["limit", number(found.limit.value), interval(found.limit.lo, found.limit.hi), "", ""])
    columns: list[Column] = [
        ("votes", "right"),
        ("accuracy", "right"),
        (level_header(level), "left"),
        ("gain over one vote", "left"),
        ("", "left"),
    ]
    table("accuracy by number of votes", columns, rows)
    _print_classes(found)
    note(
        f"K votes here are {wording.voters(found.votes)}; errors that runs share cannot be voted away, and a label "
        "that most votes miss gets worse with more of them.",
        *found.votes.notes,
        wording.flags(found.limit),
        SCOPE,
    )


def _gain(gain: Estimate) -> str:
    return wording.points(gain.value, gain.lo, gain.hi)


def votes_sentence(votes: Votes) -> str:
    """Say what the votes of a pool are and what was left out."""
    held = ", ".join(f"{name} {value}" for name, value in votes.held_fixed.items())
    out_of = ", ".join(f"{n:,} {reason}" for reason, n in votes.left_out.items() if n)
    unknown = "count as wrong" if votes.unknown == "counted" else "were dropped"
    parts = [
        f"{formats.count(votes.n_votes, 'vote')} from {formats.count(len(votes.run_ids), 'run')}",
        f"held fixed: {held}" if held else "",
        f"{formats.count(votes.n_unknown, 'vote')} for no known label {unknown}" if votes.n_unknown else "",
        f"no votes: {out_of}" if out_of else "",
    ]
    return f"{'; '.join(filter(None, parts))}."


def _print_classes(found: Committee) -> None:
    classes = found.per_class
    sizes = [row.k for row in found.rows]
    shown_sizes = [k for k in (1, 3, 10) if k in sizes] or sizes[:3]
    wide = classes.pivot_table(index="label", columns="k", values="accuracy", sort=False)
    n = dict(zip(classes["label"], classes["n"], strict=True))
    rows = [
        [label, f"{n[label]:,}", *(number(wide.loc[label, k]) for k in shown_sizes)]
        for label in wide.index[:SHOWN_CLASSES]
    ]
    more = f", {SHOWN_CLASSES} of {len(wide)}" if len(wide) > SHOWN_CLASSES else ""
    columns: list[Column] = [("label", "fold"), ("n", "right"), *((f"K {k}", "right") for k in shown_sizes)]
    table(f"hardest labels{more}; under 5 documents say little", columns, rows)


def print_escalation(found: Escalation, stronger: str | None) -> None:
    """Print what escalating the least sure documents does."""
    step = wording.usual_step(found)
    gain = (step.accuracy.value or 0.0) - found.unescalated
    real = ""
    if step.measured is not None:
        answered = f"it answered {found.n_answered:,} of {len(found.votes):,} documents"
        on_these = (
            "none of these"
            if step.stronger_tail is None and step.n_escalated
            else f"and is right on {number(step.stronger_tail)} of these, not on {found.stronger_accuracy:g}"
        )
        real = f"With the real answers of {stronger} it is {estimate(step.measured)}: {answered}, {on_these}."
    how = "by the published formula, which does not route" if found.legacy else "routed by confidence"
    say(
        f"Escalating the {wording.share(step.alpha)} least sure ({step.n_escalated:,} of {len(found.votes):,}) to a "
        f"model of accuracy {found.stronger_accuracy:g}: {estimate(step.accuracy)}, {wording.points(gain)} for "
        f"{step.cost:.2f} times the cost, {how}.",
        real,
        votes_sentence(found.votes),
    )
    has_real = any(one.measured is not None for one in found.steps)
    columns: list[Column] = [
        ("share", "right"),
        ("n", "right"),
        ("cost", "right"),
        ("accuracy", "left"),
        (f"if {found.stronger_accuracy:g} -/+ .05", "left"),
        *([("real answers", "left"), ("real on tail", "right")] if has_real else []),  # type: ignore[list-item]
        ("now on tail", "right"),
        ("published formula", "right"),
        ("front", "left"),
        *([("front, real", "left")] if has_real else []),  # type: ignore[list-item]
    ]
    rows = [_step_cells(one, has_real=has_real) for one in found.steps]
    drop = ("published formula", "now on tail", f"if {found.stronger_accuracy:g} -/+ .05")
    table("accuracy by share escalated, the least sure first", columns, rows, drop=drop)
    note(
        "The accuracy of the stronger model is an assumption, and it gets the hard documents; --stronger uses real "
        "answers."
        if not has_real
        else "",
        f"An escalated document costs {found.escalated_cost:g} in all, its first answer included.",
        wording.ranking_rests_on(found.votes),
        *found.votes.notes,
        wording.flags(step.accuracy),
        SCOPE,
    )


def _step_cells(step: EscalationStep, *, has_real: bool) -> list[str]:
    real = ["" if step.measured is None else estimate(step.measured), number(step.stronger_tail)]
    fronts = [step.on_front, *([bool(step.measured_on_front)] if has_real else [])]
    return [
        wording.share(step.alpha),
        f"{step.n_escalated:,}",
        f"{step.cost:.2f}",
        estimate(step.accuracy),
        f"{number(step.low)} to {number(step.high)}",
        *(real if has_real else []),
        number(step.tail),
        number(step.unrouted),
        *("on it" if on_front else "beaten" for on_front in fronts),
    ]


def signed(value: float | None) -> str:
    """Write a signed difference."""
    if value is None or not float(f"{value:.{DIGITS}f}"):
        return number(value if value is None else 0.0)
    return f"{value:+.{DIGITS}f}".replace("-", wording.MINUS)


def print_failures(found: FailurePipeline, level: float) -> None:
    """Print how many documents stay without an answer, with intervals of a level."""
    fit = found.fit
    pipeline = f"{found.max_tries} {'try' if found.max_tries == 1 else 'tries'}"
    pipeline += f" and a fallback that helps {wording.share(found.fallback)}" if found.fallback else ", no fallback"
    apart = f"; {_share(found.failure_rate_clustered)} if they share an outage" if not found.legacy else ""
    largest = found.scales.iloc[-1]
    of = f"{int(largest['documents']):,}"
    low, high = (_documents(largest[name]) for name in ("expected", "expected_clustered"))
    expected = low if low == high else f"{low} to {high}"
    say(
        f"{pipeline}: {_share(found.failure_rate)} of documents fail for good if tries are independent{apart}: "
        f"{expected} of {of}.",
        f"{fit.n_failed:,} of {fit.n_rows:,} calls failed ({_share(fit.p_first)}), {fit.n_disguised:,} of them stored "
        f"as completed; {found.mean_attempts:.3f} calls a document.",
    )
    sweep = [
        [
            f"{row['max_tries']:,}",
            "on" if row["fallback"] else "off",
            _share(row["failure_rate"]),
            _share(row["failure_rate_clustered"]),
            f"{row['mean_attempts']:.4f}",
        ]
        for row in records(found.sweep)
    ]
    columns: list[Column] = [
        ("tries", "right"),
        ("fallback", "left"),
        ("independent", "right"),
        ("shared outage", "right"),
        ("calls a document", "right"),
    ]
    table("share of documents that fail for good", columns, sweep)
    scales = [
        [
            f"{int(row['documents']):,}",
            _documents(row["expected"]),
            _documents(row["expected_clustered"]),
            f"{_documents(row['resampled_lo'])} to {_documents(row['resampled_hi'])}",
            _share(row["p_too_many_independent"]),
            _share(row["p_too_many_clustered"]),
            _share(row["p_too_many_resampled"]),
        ]
        for row in records(found.scales)
    ]
    names: list[Column] = [
        ("documents", "right"),
        ("independent", "right"),
        ("shared outage", "right"),
        (f"resampled runs, {wording.share(level)}", "left"),
        ("over 1 %: independent", "right"),
        ("shared", "right"),
        ("resampled", "right"),
    ]
    table("documents to expect without an answer, and how likely more than 1 % are", names, scales)
    if fit.worst_runs:
        worst = [[run, f"{failed:,}", f"{rows:,}"] for run, failed, rows in fit.worst_runs]
        table("runs with the most failures", [("run", "left"), ("failed", "right"), ("rows", "right")], worst)
    if found.beta is not None:
        note("Runs differ in how many calls fail, as outages make them: take independent tries as the best case.")


def print_exemplars(found: Exemplars) -> None:
    """Print the examples to add to a prompt."""
    n = sum(len(pair.traces) for pair in found.chosen)
    say(
        f"{formats.count(n, 'example')} of {formats.count(len(found.chosen), 'confusion')} may repair "
        f"{found.gain:.1f} of {formats.count(found.n_errors, 'error')}, in {found.used:,} of {found.budget:,} "
        f"{found.unit}.",
    )
    chosen = [
        [
            f"{pair.expected}, not {pair.predicted}",
            f"{pair.errors:,}",
            f"{pair.near_misses:,}",
            f"{pair.gain:.1f}",
            _beginning(pair.traces[0].reasoning) if pair.traces else "",
        ]
        for pair in found.chosen
    ]
    columns: list[Column] = [
        ("confusion", "fold"),
        ("errors", "right"),
        ("near misses", "right"),
        ("gain", "right"),
        ("shortest example", "fold"),
    ]
    table("chosen", columns, chosen, drop=("shortest example",))
    rows = [
        [f"{row['expected']}, not {row['predicted']}", f"{row['errors']:,}", f"{row['near_misses']:,}"]
        for row in records(found.confusions.head(SHOWN_CONFUSIONS))
    ]
    names: list[Column] = [("confusion", "fold"), ("errors", "right"), ("near misses", "right")]
    more = f", {SHOWN_CONFUSIONS} of {len(found.confusions):,}" if len(found.confusions) > SHOWN_CONFUSIONS else ""
    table(f"commonest confusions{more}", names, rows)
    note("A gain takes half the errors with a near miss to be repaired; only a run with the new prompt can tell.")


def _beginning(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS].rsplit(' ', 1)[0]} ..."


def print_checks(slices: Sequence[Slice], checks: Sequence[SliceCheck], level: float) -> None:
    """Print what was simulated for lists of documents, and what a real run did on them, with intervals of a level."""
    if checks:
        n_hold = sum(check.holds for check in checks)
        say(f"{n_hold:,} of {len(checks):,} simulations hold: the difference to the real run may be 0.")
    else:
        first = slices[0]
        say(
            f"The {len(first.documents):,} least sure documents are simulated to be right on "
            f"{estimate(first.simulated)}; run them, and give the run as --measured.",
        )
    if checks:
        rows = [
            [
                check.name,
                f"{check.n - check.n_missing:,} of {check.n:,}",
                estimate(check.simulated),
                estimate(check.measured),
                signed(check.delta.value),
                interval(check.delta.lo, check.delta.hi),
                "holds" if check.holds else "does not hold",
            ]
            for check in checks
        ]
        columns: list[Column] = [
            ("documents", "fold"),
            ("measured", "right"),
            ("simulated", "left"),
            ("real", "left"),
            ("real - simulated", "right"),
            (level_header(level), "left"),
            ("", "left"),
        ]
    else:
        rows = [[one.name, f"{len(one.documents):,}", estimate(one.simulated)] for one in slices]
        columns = [("documents", "fold"), ("n", "right"), ("simulated", "left")]
    table("", columns, rows)
    note(SCOPE)
