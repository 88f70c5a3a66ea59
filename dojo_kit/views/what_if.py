"""What-ifs as sliders draw them: everything a place of the controls needs, computed before, to be looked up and added.

For every pool and committee size there are the sums over the documents that are *not* escalated, one for each share, so
that accuracy at any place is one sum, one product and one division. Intervals come from the same resamples as those of
`dojo_kit.simulate`; between the accuracies of `ASSUMED` they are interpolated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from dojo_kit import formats
from dojo_kit.errors import InputError, SettingsError
from dojo_kit.settings import Settings, resolve
from dojo_kit.simulate.ablation import rerun_groups
from dojo_kit.simulate.committee import SIZES, Committee, committee
from dojo_kit.simulate.escalation import (
    ACCURACY_SPREAD,
    ESCALATED_COST,
    STRONGER_ACCURACY,
    answers_of,
)
from dojo_kit.simulate.pipeline import FALLBACK_SUCCESS, SCALES, failures
from dojo_kit.simulate.routed import RoutedSize, routed_sums
from dojo_kit.simulate.votes import Pool, Votes, votes_of
from dojo_kit.stats.compare import noise_band
from dojo_kit.stats.intervals import Bootstrap, Estimate
from dojo_kit.views.what_if_words import pool_says

if TYPE_CHECKING:
    from dojo_kit.simulate.corpus import Corpus
    from dojo_kit.simulate.pipeline import FailurePipeline

SHARES = tuple(step / 100 for step in range(51))
"""Shares of escalated documents that the slider stops at."""

ASSUMED = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0)
"""Accuracies of a stronger model for which intervals were resampled."""

TRIES = (1, 2, 3, 4, 5)
"""Tries of a call that the slider stops at."""

_DIGITS = 9
_BOUND_DIGITS = 6


def what_if_view(
    corpus: Corpus,
    task: str,
    *,
    stronger: str | None = None,
    sizes: Sequence[int] = SIZES,
    call_usd: float | None = None,
    settings: Settings | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Return everything the sliders look up.

    Args:
        corpus: The corpus.
        task: Task key.
        stronger: Run id or model whose real answers escalated documents can get; it takes no part in the votes.
        sizes: Numbers of votes the slider stops at; 1 is always among them.
        call_usd: What one call costs in US dollars; without it costs are multiples of a call.
        settings: Seed, replicates and level; the current settings by default.
        progress: Called with pools done and all pools.

    Returns:
        ``task``; ``base`` (the place everything is compared with), ``start`` (the place shown first); ``sizes``,
        ``shares``, ``assumed`` and ``tries``, where the sliders stop; ``pools``, see `pool_sums`; ``failures``: rows,
        failed, ``rate`` and a ``sweep``; ``band`` of rerun noise; ``scale``, ``spread``, ``call_usd``, ``stronger``;
        ``level``, ``seed`` and ``resamples`` of the intervals.

    Raises:
        InputError: There are no votes, no stronger run of that name, none of its answers is on documents with votes,
            or the corpus is legacy.
        SettingsError: The price of a call is no number from 0 on.
    """
    if call_usd is not None and not (math.isfinite(call_usd) and call_usd >= 0):
        raise SettingsError(f"call_usd must be a number from 0 on, not {call_usd}")
    if corpus.legacy:
        message = "the corpus was read as published, whose intervals cannot be looked up"
        raise InputError(message, field="corpus", expected="a corpus read without legacy")
    given = resolve(settings)
    statistics = given.statistics
    bootstrap = Bootstrap(statistics.n_resamples, statistics.seed, statistics.confidence)
    without = _runs_of(corpus, task, stronger)
    answers = answers_of(corpus, task, run_ids=without) if without else None
    stops = sorted({1, *sizes})
    pools, reasons = [], {}
    for number, pool in enumerate(get_args(Pool), start=1):
        try:
            votes = votes_of(corpus, task, pool=pool, without_runs=without)
        except InputError as error:
            reasons[pool] = error.message
        else:
            found = committee(votes, sizes=stops, settings=given)
            pools.append(pool_sums(found, answers, bootstrap) | _about(votes, answers))
        if progress:
            progress(number, len(get_args(Pool)))
    if not pools:
        raise InputError(f"no votes of task {task!r}", field="runs", expected="runs with answers")
    if answers is not None and not any(pool["answered"] for pool in pools):
        message = f"{stronger!r} answered none of the documents that have votes"
        raise InputError(message, field="stronger", expected="runs on the same documents")
    known = {pool["key"] for pool in pools}
    first = next(pool for pool in ("all", "prompt", "rerun", "model") if pool in known)
    base = {"pool": first, "votes": 1, "alpha": 0.0, "escalated_accuracy": STRONGER_ACCURACY, "use_stronger": False}
    base |= {"escalated_cost": ESCALATED_COST, "tries": 1, "fallback": False}
    start = base | {"votes": min(stops, key=lambda k: abs(k - 5)), "alpha": 0.15, "tries": 3, "fallback": True}
    return {
        "task": pools[0]["task"],
        "base": base,
        "start": start | {"use_stronger": answers is not None},
        "sizes": stops,
        "shares": list(SHARES),
        "assumed": list(ASSUMED),
        "tries": list(TRIES),
        "pools": pools,
        "missing": reasons,
        "failures": _failures(failures(corpus, task=task, tries=TRIES, settings=given, scales=(SCALES[0],))),
        "band": noise_band([g for found in rerun_groups(corpus, task).values() for g in found]).as_dict(),
        "scale": SCALES[-1],
        "spread": ACCURACY_SPREAD,
        "call_usd": call_usd,
        "stronger": stronger,
        "level": statistics.confidence,
        "seed": statistics.seed,
        "resamples": statistics.n_resamples,
    }


def _runs_of(corpus: Corpus, task: str, stronger: str | None) -> list[str]:
    """Return the runs a name stands for: one run, or all of a model."""
    if stronger is None:
        return []
    rows = corpus.of_task(task)
    ids = rows.loc[(rows["run_id"] == stronger) | (rows["model"] == stronger), "run_id"].unique().tolist()
    if not ids:
        answers_of(corpus, task, models=[stronger])  # says which model it may have been
    return [str(run_id) for run_id in ids]


def pool_sums(found: Committee, answers: Mapping[str, float] | None, bootstrap: Bootstrap) -> dict[str, Any]:
    """Return what one pool's places are looked up in.

    Args:
        found: Its committees.
        answers: Document key -> whether the stronger model is right; None without one.
        bootstrap: The resampling of documents.

    Returns:
        ``n`` documents; ``limit`` (what accuracy tends to with ever more votes); ``escalated``, documents by share;
        ``rows``, one for each number of votes: ``k``, ``accuracy``, ``gain`` over one vote, ``method``, ``kept`` (by
        share, the sum over documents that are not escalated), ``lo`` and ``hi`` (by share and assumed accuracy) and,
        with a stronger run, ``real``, ``real_lo`` and ``real_hi`` (by share); ``stronger_tail``, its accuracy on what
        it got.
    """
    sums = routed_sums(found, shares=SHARES, assumed=ASSUMED, answers=answers, bootstrap=bootstrap)
    return {
        "n": sums.n,
        "limit": _estimate(found.limit),
        "escalated": list(sums.escalated),
        "rows": [
            {
                "k": size.k,
                "accuracy": _estimate(size.accuracy),
                "gain": None if size.gain is None else _estimate(size.gain),
                "method": size.method,
                **_looked_up(routed),
            }
            for size, routed in zip(found.rows, sums.sizes, strict=True)
        ],
        "stronger_tail": None if sums.stronger_tail is None else list(sums.stronger_tail),
    }


def _looked_up(size: RoutedSize) -> dict[str, Any]:
    bounds = {name: getattr(size, name) for name in ("lo", "hi", "real_lo", "real_hi")}
    values = {"kept": size.kept, "real": size.real}
    found = {name: value.round(_BOUND_DIGITS).tolist() for name, value in bounds.items() if value is not None}
    return found | {name: value.round(_DIGITS).tolist() for name, value in values.items() if value is not None}


def _about(votes: Votes, answers: Mapping[str, float] | None) -> dict[str, Any]:
    """Say what votes in a pool."""
    held = ", ".join(f"{name} {value.rpartition('/')[2]}" for name, value in votes.held_fixed.items())
    return {
        "key": votes.pool,
        "task": votes.task,
        "says": pool_says(votes),
        "single": votes.is_single,
        "answered": None if answers is None else sum(key in answers for key in votes.keys),
        "notes": list(votes.notes),
        "held": held,
        "votes": votes.n_votes,
        "runs": len(votes.run_ids),
        "models": votes.n_models,
        "prompts": votes.n_prompts,
        "unknown": votes.n_unknown,
        "left_out": {reason: n for reason, n in votes.left_out.items() if n},
        "per_document": formats.number(votes.n_votes / len(votes), digits=1),
    }


def _failures(pipeline: FailurePipeline) -> dict[str, Any]:
    fit = pipeline.fit
    return {
        "rows": fit.n_rows,
        "failed": fit.n_failed,
        "disguised": fit.n_disguised,
        "rate": _estimate(fit.rate),
        "runs": fit.rate.n,
        "fallback": FALLBACK_SUCCESS,
        "sweep": [
            {
                "tries": int(row["max_tries"]),
                "fallback": bool(row["fallback"]),
                "rate": float(row["failure_rate"]),
                "clustered": float(row["failure_rate_clustered"]),
                "attempts": float(row["mean_attempts"]),
            }
            for row in pipeline.sweep.to_dict("records")
        ],
    }


def outcome_at(view: Mapping[str, Any], place: Mapping[str, Any]) -> dict[str, Any]:
    """Look up and add what one place of the controls comes to; the browser does the same.

    Args:
        view: From `what_if_view`.
        place: ``pool``, ``votes``, ``alpha``, ``escalated_accuracy``, ``use_stronger``, ``escalated_cost``, ``tries``
            and ``fallback``; between two stops of a slider the nearest one counts.

    Returns:
        ``accuracy`` with ``lo`` and ``hi``, ``low`` and ``high`` (the assumed accuracy less and more by the spread),
        ``escalated`` documents, ``tail`` (present accuracy on them), ``cost`` in calls, ``attempts``, ``wrong`` and
        ``failed`` documents at scale, tries being independent or (``failed_clustered``) sharing their run's luck.
    """
    pool = next(pool for pool in view["pools"] if pool["key"] == place["pool"])
    row = pool["rows"][_nearest(view["sizes"], place["votes"])]
    step = _nearest(view["shares"], place["alpha"])
    n, escalated = pool["n"], pool["escalated"][step]
    real = place["use_stronger"] and "real" in row

    def routed(accuracy: float) -> float:
        return float((row["kept"][step] + escalated * min(1.0, max(0.0, accuracy))) / n)

    if real:
        value, lo, hi = (row[name][step] for name in ("real", "real_lo", "real_hi"))
        low = high = value
    else:
        assumed, spread = place["escalated_accuracy"], view["spread"]
        value, low, high = routed(assumed), routed(assumed - spread), routed(assumed + spread)
        lo, hi = (float(np.interp(assumed, view["assumed"], row[name][step])) for name in ("lo", "hi"))
    cell = next(
        cell
        for cell in view["failures"]["sweep"]
        if cell["tries"] == view["tries"][_nearest(view["tries"], place["tries"])]
        and cell["fallback"] == place["fallback"]
    )
    # every vote is paid for before a document can be escalated; its cost holds one of them, as that of `escalate` does
    calls = row["k"] + escalated / n * (place["escalated_cost"] - 1)
    return {
        "accuracy": value,
        "lo": lo,
        "hi": hi,
        "low": low,
        "high": high,
        "escalated": escalated,
        "tail": (row["kept"][0] - row["kept"][step]) / escalated if escalated else None,
        "attempts": cell["attempts"],
        "cost": calls * cell["attempts"],
        "wrong": (1 - value) * view["scale"],
        "failed": cell["rate"] * view["scale"],
        "failed_clustered": cell["clustered"] * view["scale"],
    }


def _nearest(stops: Sequence[float], value: float) -> int:
    return min(range(len(stops)), key=lambda at: abs(stops[at] - value))


def _estimate(estimate: Estimate) -> dict[str, Any]:
    return {"value": estimate.value, "lo": estimate.lo, "hi": estimate.hi, "n": estimate.n}
