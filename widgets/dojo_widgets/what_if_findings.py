"""The published page of what-ifs: sliders first, then what they rest on, what not to conclude, and how it was made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pandas as pd

from dojo_kit import formats
from dojo_kit.charts import what_if as charts
from dojo_kit.errors import InputError
from dojo_kit.report import Report
from dojo_kit.report.tables import Cell
from dojo_kit.simulate import (
    ablate,
    answers_of,
    committee,
    escalate,
    exemplars,
    failures,
    summarise,
    votes_of,
)
from dojo_kit.views import what_if_words as wording
from dojo_kit.views.what_if import outcome_at
from dojo_widgets.finding_cells import folded
from dojo_widgets.what_if import CONTROLS, WhatIf

if TYPE_CHECKING:
    from dojo_kit.settings import Settings
    from dojo_kit.simulate import Corpus, Escalation, Exemplars, FailurePipeline, Pool, Votes

SHOWN_PAIRS, SHOWN_LABELS = 12, 12
SMALL = 5
CLOSE = 0.005


def what_if_page(
    corpus: Corpus,
    task: str,
    *,
    stronger: str | None = None,
    call_usd: float | None = None,
    settings: Settings | None = None,
    command: str,
) -> Report:
    """Put together the page of what-ifs over a corpus.

    Args:
        corpus: The votes, with their reasons.
        task: Task key.
        stronger: Run id or model whose real answers escalated documents get; it takes no part in the votes.
        call_usd: What one call costs in US dollars.
        settings: Seed, replicates and level; the current settings by default.
        command: Command that makes this page again.
    """
    widget = WhatIf(corpus, task, stronger=stronger, call_usd=call_usd, settings=settings)
    pool: Pool = cast("Pool", widget.pool)
    without = [] if stronger is None else _run_ids(corpus, task, stronger)
    votes = votes_of(corpus, task, pool=pool, without_runs=without)
    pipeline = failures(corpus, task=task, settings=settings)
    page = Report(_title(widget))
    _add_conclusion(page, corpus, votes, widget)
    page.heading("Try another number of votes, share or number of tries")
    page.widgets(
        [widget],
        linked=CONTROLS,
        caption="Every place of the sliders was computed before; the page looks up and adds. Move one: the address of "
        "the page holds the place.",
    )
    _add_votes(page, votes, settings)
    _add_escalation(page, corpus, votes, without, settings)
    _add_prompts(page, corpus, task, settings)
    _add_failures(page, pipeline, widget.data["level"])
    _add_confusions(page, exemplars(corpus, task, settings=settings))
    recipe = {"task": widget.data["task"], "runs": len(votes.run_ids), "pool": pool, **_drawn(widget, settings)}
    return page.footer(recipe=recipe, command=command)


def _run_ids(corpus: Corpus, task: str, stronger: str) -> list[str]:
    rows = corpus.of_task(task)
    chosen = rows.loc[(rows["run_id"] == stronger) | (rows["model"] == stronger), "run_id"]
    return [str(run_id) for run_id in chosen.unique()]


def _drawn(widget: WhatIf, settings: Settings | None) -> dict[str, Any]:
    from dojo_kit.settings import resolve

    statistics = resolve(settings).statistics
    named = {} if widget.data["stronger"] is None else {"stronger": widget.data["stronger"]}
    return named | {"seed": statistics.seed, "resamples": statistics.n_resamples, "level": statistics.confidence}


def _title(widget: WhatIf) -> str:
    data = widget.data
    base = outcome_at(data, data["base"])
    votes_alone = outcome_at(data, data["base"] | {"votes": widget.votes})
    escalated = outcome_at(data, data["base"] | {"alpha": 0.15, "use_stronger": widget.use_stronger})
    gains = [wording.points(one["accuracy"] - base["accuracy"]) for one in (votes_alone, escalated)]
    who = data["stronger"].rpartition("/")[2] if widget.use_stronger else "a stronger model"
    return (
        f"{formats.count(widget.votes, 'vote')} would buy {gains[0]} over {formats.number(base['accuracy'])}, sending "
        f"the 15 % least sure to {who} {gains[1]}"
    )


def _add_conclusion(page: Report, corpus: Corpus, votes: Votes, widget: WhatIf) -> None:
    summary = summarise(corpus, task=votes.task)
    band = widget.data["band"]
    noise = (
        f"Reruns of one setting differ by up to {100 * band['value']:.1f} pp by chance, so a smaller gain would not "
        "show in one real run."
        if band["value"] is not None
        else f"How far reruns differ by chance is unknown: {band['reason']}."
    )
    page.text(
        f"Nothing was bought: {formats.count(votes.n_votes, 'stored vote')} on {formats.count(len(votes), 'document')} "
        f"were drawn from again. {noise} {_not_to_conclude(votes)}"
    )
    failed = f"{formats.count(summary.n_failed, 'failed call')} ({summary.n_disguised:,} stored as completed)"
    page.text(
        f"Task: {widget.data['task'].replace('_', ' ')}; {formats.count(summary.n_rows, 'row')} of "
        f"{formats.count(summary.n_runs, 'run')}; {failed} and {formats.count(summary.n_replays, 'answer')} taken over "
        f"from earlier runs are no votes; {formats.count(votes.n_unknown, 'vote')} for no known label count as wrong.",
        *([f"Left out: {'; '.join(note.removesuffix(' left out') for note in corpus.notes)}."] if corpus.notes else []),
        soft=True,
    )


def _not_to_conclude(votes: Votes) -> str:
    if votes.is_single:
        return f"What not to conclude: anything about more votes. {wording.single_vote(votes)}"
    if votes.asked_again:
        return "What not to conclude: that votes of other models or prompts would do no more than these, asked again."
    return (
        "What not to conclude: that votes of one model asked again would do what these do, which are "
        f"{wording.voters(votes).partition(',')[0]}; choose the pool that you would buy."
    )


def _add_votes(page: Report, votes: Votes, settings: Settings | None) -> None:
    found = committee(votes, settings=settings)
    page.heading(wording.votes_tend_to(found.limit, [row.accuracy for row in found.rows]))
    page.chart(
        charts.committee_accuracy(found),
        live=False,
        caption="Votes are drawn from those a document has: what most of them get wrong becomes wrong more often, the "
        "more of them vote.",
    )
    rows = [
        {
            "votes": row.k,
            "accuracy": row.accuracy,
            "gain over one vote": ""
            if row.gain is None or row.k == 1
            else wording.points(row.gain.value, row.gain.lo, row.gain.hi),
        }
        for row in found.rows
    ]
    told = (wording.single_vote(votes), *votes.notes, wording.flags(found.limit))
    caption = f"{formats.count(len(votes), 'document')}; the gain is paired by document."
    page.table(pd.DataFrame(rows), caption=" ".join(filter(None, (caption, *told))))
    wide = found.per_class.pivot_table(index="label", columns="k", values="accuracy", sort=False)
    n = dict(zip(found.per_class["label"], found.per_class["n"], strict=True))
    sizes = [k for k in (1, 3, 10) if k in wide.columns]
    hardest = [
        {"label": str(label).replace("_", " "), "n": int(n[label])}
        | {formats.count(k, "vote"): Cell(formats.number(wide.loc[label, k]), faint=n[label] < SMALL) for k in sizes}
        for label in wide.index[:SHOWN_LABELS]
    ]
    left = f" {len(wide) - SHOWN_LABELS} easier ones are not shown." if len(wide) > SHOWN_LABELS else ""
    page.table(
        pd.DataFrame(hardest), caption=f"Hardest labels first; under {SMALL} documents are set back: chance.{left}"
    )


def _add_escalation(page: Report, corpus: Corpus, votes: Votes, without: list[str], settings: Settings | None) -> None:
    answers = answers_of(corpus, votes.task, run_ids=without) if without else None
    found = escalate(votes, stronger=answers, settings=settings)
    chart = charts.escalation_front(found)
    page.heading(_escalation_heading(found))
    page.chart(
        chart,
        live=False,
        caption="The assumed accuracy flatters: it holds for every document, also for those that everybody gets wrong. "
        f"An escalated document costs {found.escalated_cost:g} in all, its first answer included. "
        f"{wording.ranking_rests_on(votes)}".strip(),
    )
    rows = [
        {
            "escalated": f"{wording.share(step.alpha)} ({step.n_escalated:,})",
            "cost": f"{step.cost:.2f}",
            "accuracy": step.accuracy,
            **({} if step.measured is None else {"real answers": step.measured}),
            "now, on these": step.tail,
            **({} if answers is None else {"stronger, on these": step.stronger_tail}),
            "front": "on it" if step.on_front else "beaten",
            **({} if answers is None else {"front, real": "on it" if step.measured_on_front else "beaten"}),
        }
        for step in found.steps
    ]
    answered = (
        ""
        if answers is None
        else f" It answered {found.n_answered:,} of {formats.count(len(votes), 'document')}; the "
        "others keep the answer they have."
    )
    accuracy = f"accuracy if the stronger model has {found.stronger_accuracy:g}"
    page.table(pd.DataFrame(rows), caption=f"One vote a document; {accuracy}.{answered}")


def _escalation_heading(found: Escalation) -> str:
    """Say whether the documents that look least sure are the ones that are wrong."""
    step = wording.usual_step(found)
    if step.tail is None:
        return "Too few documents to escalate a share of them"
    on_these, on_all = formats.number(step.tail), formats.number(found.unescalated)
    least = f"The {wording.share(step.alpha)} least sure are right on {on_these}, all on {on_all}"
    if step.tail < found.unescalated - CLOSE:
        return f"{least}: the ranking finds hard documents"
    return f"{least}: the ranking does not find the hard documents"


def _add_prompts(page: Report, corpus: Corpus, task: str, settings: Settings | None) -> None:
    try:
        found = ablate(corpus, task, settings=settings)
    except InputError as error:
        page.heading("Prompts cannot be compared")
        page.text(f"{error.message[:1].upper()}{error.message[1:]}.")
        return
    if not found.pairs:
        page.heading("No two prompts of one model share enough documents to be compared")
        return
    differing = [pair for pair in found.pairs if pair.verdict in ("win", "loss")]
    n = formats.count(len(found.pairs), "pair")
    differ = "differs" if len(differing) == 1 else "differ"
    page.heading(f"{len(differing):,} of {n} of prompts {differ} beyond chance and rerun noise")
    rows = [
        {
            "A \N{RIGHTWARDS ARROW} B": f"{pair.a} \N{RIGHTWARDS ARROW} {pair.b}",
            "model": pair.model.rpartition("/")[2],
            "n": pair.delta.n,
            "A": pair.accuracy_a,
            "B - A": wording.points(pair.delta.value, pair.delta.lo, pair.delta.hi),
            "p, adjusted": pair.p_holm,
            "verdict": Cell(pair.verdict, note=pair.reason),
        }
        for pair in found.pairs[:SHOWN_PAIRS]
    ]
    left = f" {len(found.pairs) - SHOWN_PAIRS:,} smaller ones are not shown." if len(found.pairs) > SHOWN_PAIRS else ""
    page.table(
        pd.DataFrame(rows),
        caption=f"Largest differences first; p by Holm's rule for {n}; reruns of a prompt are averaged.{left}",
    )


def _failure_heading(pipeline: FailurePipeline) -> str:
    """Say how many calls failed, and whether they did so together."""
    fit = pipeline.fit
    if not fit.n_failed:
        return f"None of {formats.count(fit.n_rows, 'call')} failed"
    failed = f"{fit.n_failed:,} of {formats.count(fit.n_rows, 'call')} failed"
    if pipeline.beta is None:
        return f"{failed}, spread over runs as chance would"
    run, worst, _ = fit.worst_runs[0]
    return f"{failed}, {worst:,} of them in run {run}: tries that share an outage fail together"


def _add_failures(page: Report, pipeline: FailurePipeline, level: float) -> None:
    page.heading(_failure_heading(pipeline))
    page.chart(
        charts.failure_sweep(pipeline),
        live=False,
        caption="Between the dashed and the solid line lies what retries do: a document's tries are not independent "
        "when a whole run is hit. Neither line knows an outage worse than those stored.",
    )
    resampled = f"resampled runs, {wording.share(level)}"
    scales = [
        {
            "documents": int(row["documents"]),
            "if independent": _documents(row["expected"]),
            "if an outage is shared": _documents(row["expected_clustered"]),
            resampled: f"{_documents(row['resampled_lo'])} to {_documents(row['resampled_hi'])}",
        }
        for row in pipeline.scales.to_dict("records")
    ]
    tries = formats.count(pipeline.max_tries, "try", "tries")
    page.table(pd.DataFrame(scales), caption=f"Documents without an answer after {tries} and a fallback.")


def _documents(n: float) -> str:
    return f"{n:,.0f}" if n >= 9.95 or not n else f"{n:.1f}" if n >= 0.05 else "under 0.1"


def _add_confusions(page: Report, found: Exemplars) -> None:
    errors = formats.count(found.n_errors, "error")
    if found.chosen:
        page.heading(f"{errors}, of which examples may repair {found.gain:.1f}")
    else:
        page.heading(f"{errors}, and no example that may repair one" if found.n_errors else "No answer is wrong")
    page.chart(
        charts.confusion_flows(found),
        live=False,
        caption="A line is as wide as the confusion is common. Rows of many runs are counted, so one hard document can "
        "count often.",
    )
    if not found.chosen and found.n_errors:
        page.text("No right answer considered the label that others fell for, so there is no example to show.")
    if not found.chosen:
        return
    rows = [
        {
            "confusion": f"{pair.expected}, not {pair.predicted}".replace("_", " "),
            "errors": pair.errors,
            "near misses": pair.near_misses,
            "may repair": pair.gain,
            "shortest example": folded(pair.traces[0].reasoning) if pair.traces else "",
        }
        for pair in found.chosen
    ]
    page.table(
        pd.DataFrame(rows),
        caption=f"{found.used:,} of {found.budget:,} {found.unit}; half of the errors that have a near miss are taken "
        "to be repaired, which only a run with the new prompt can show.",
    )
