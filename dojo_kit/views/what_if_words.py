"""What-ifs in words: shares, differences and who votes, written the same wherever they are shown."""

from __future__ import annotations

from collections.abc import Sequence

from dojo_kit import formats
from dojo_kit.simulate.escalation import Escalation, EscalationStep
from dojo_kit.simulate.votes import Votes
from dojo_kit.stats.intervals import Estimate

MINUS = "\N{MINUS SIGN}"
USUAL_SHARE = 0.15


def share(value: float) -> str:
    """Write a share as a percentage of three digits that count.

    Examples:
        >>> share(0.15), share(0.005), share(0.95), share(0)
        ('15 %', '0.5 %', '95 %', '0 %')
    """
    return f"{100 * value:.3g} %"


def points(change: float | None, lo: float | None = None, hi: float | None = None) -> str:
    """Write a difference in points, with its interval; one that rounds to nothing has no sign.

    Examples:
        >>> points(0.0251), points(-0.012, -0.02, 0.004), points(-0.0001)
        ('+2.5 pp', '−1.2 pp [−2.0, 0.4]', '0.0 pp')
    """
    said = f"{_tenths(change or 0.0, plus='+')} pp"
    return said if lo is None or hi is None else f"{said} [{_tenths(lo)}, {_tenths(hi)}]"


def _tenths(change: float, *, plus: str = "") -> str:
    size = f"{abs(100 * change):.1f}"
    if size == "0.0":
        return size
    return f"{MINUS if change < 0 else plus}{size}"


def pool_says(votes: Votes) -> str:
    """Say what votes in a pool."""
    models, runs = formats.count(votes.n_models, "model"), len(votes.run_ids)
    if votes.asked_again:
        return "one model and one prompt, one run" if runs == 1 else "one model and one prompt, run again"
    if votes.pool == "model":
        return f"one prompt, the last answer of each of {models}"
    if votes.n_prompts == 1:
        return f"one prompt, every run of {models}"
    return f"every run: {models} and {formats.count(votes.n_prompts, 'prompt')}"


def voters(votes: Votes) -> str:
    """Say what K votes of a pool are."""
    models, runs = formats.count(votes.n_models, "model"), formats.count(len(votes.run_ids), "run")
    if votes.asked_again:
        if len(votes.run_ids) == 1:
            return "draws from one run of one model and one prompt"
        return "one model and one prompt, asked again"
    if votes.pool == "model":
        return f"drawn from {models}, each asked once with one prompt"
    if votes.n_prompts == 1:
        return f"drawn from {runs} of {models} with one prompt"
    prompts = formats.count(votes.n_prompts, "prompt")
    return f"drawn from {runs} of {models} and {prompts}, not one model asked K times"


def single_vote(votes: Votes) -> str:
    """Say that more votes cannot differ where every document has one; empty elsewhere."""
    if not votes.is_single:
        return ""
    return "Every document has one stored vote, so more votes repeat it: that nothing changes is an artefact."


def ranking_rests_on(votes: Votes) -> str:
    """Say what it takes to know which documents are least sure."""
    if votes.is_single:
        return ""
    each = formats.number(votes.n_votes / len(votes), digits=1)
    return f"The ranking rests on all stored votes, {each} a document; one paid vote cannot give it."


def flags(*estimates: Estimate) -> str:
    """Say which warnings hold for the intervals; empty when none does."""
    found = dict.fromkeys(flag for one in estimates for flag in one.flags)
    return f"Intervals: {', '.join(found)}." if found else ""


def usual_step(found: Escalation) -> EscalationStep:
    """Return the step whose share is nearest to 15 %."""
    return min(found.steps, key=lambda one: abs(one.alpha - USUAL_SHARE))


def votes_tend_to(limit: Estimate, rows: Sequence[Estimate]) -> str:
    """Say what ever more votes come to beside what one vote comes to."""
    value = formats.estimate(limit)
    before = rows[0].value if rows else None
    if before is None or limit.value is None:
        return f"With ever more votes accuracy tends to {value}"
    how = points(limit.value - before)
    return f"With ever more votes accuracy tends to {value}, {how} beside one"
