"""The published page of scored runs: the finding first, then where it is lost, what changed, and how it was made."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from dojo_kit import charts, formats
from dojo_kit.analysis.attribution import Attribution, attribute
from dojo_kit.analysis.compare import compare
from dojo_kit.analysis.families import RANKED_FROM, worst_family
from dojo_kit.analysis.recovery import CHANGES, Recovery, recovered
from dojo_kit.analysis.span_cases import CAUSES
from dojo_kit.analysis.thresholds import sweep
from dojo_kit.report import Report
from dojo_kit.stats.intervals import undefined
from dojo_kit.views import sweep_view
from dojo_widgets.compare_findings import add_changes
from dojo_widgets.field_grid import FieldGrid
from dojo_widgets.miss_explorer import MissExplorer
from dojo_widgets.threshold_explorer import ThresholdExplorer

if TYPE_CHECKING:
    from dojo_kit.records import Documents
    from dojo_kit.scoring.run import ScoredRun

OVERALL = "overall_extraction_score"

MOST_OPENED = 350
"""Spans that a page lets a reader open; more would take it beyond 2 MB."""

MANY = 300
"""Spans from which the windows of text round them are smaller, for the same reason."""

LIVE_UP_TO = 2_000
"""Spans up to which charts are live; Vega alone takes 0.4 MB, and pictures show their numbers on hover as well."""

WINDOW, SMALL_WINDOW = 600, 400
"""Characters of the document shown before and after a span."""

SURE_PER_FAMILY = 5
"""Spans of each family that can be opened before the most similar of all families fill the rest."""

REASON_CHARACTERS = 50
"""Characters from which a stored reason may have been cut."""

_SERVER_ERROR = re.compile(r"Error code: (\d+).*?'message': ['\"]([^'\"]*)(['\"])?")

EXAMPLES = 10
SHOWN_CHARACTERS = 400


def findings_page(
    runs: Mapping[str, ScoredRun],
    *,
    documents: Documents | None = None,
    focus: str | None = None,
    against: ScoredRun | None = None,
    note: str = "",
    command: str,
    progress: Callable[[str], None] | None = None,
) -> Report:
    """Put together the page of scored runs.

    Args:
        runs: Name -> scored run over the same labels; all are listed, one is looked into.
        documents: Texts, as the runs were scored with; windows of them are embedded.
        focus: Name of the run looked into; the first by default.
        against: A later run over the same documents: what it recovered and lost.
        note: A paragraph under the conclusion.
        command: Command that makes this page again.
        progress: Told in words what is being done.

    Raises:
        ComparabilityError: ``against`` was scored otherwise.
    """
    say = progress or (lambda what: None)
    name = focus or next(iter(runs))
    scored = runs[name]
    say("attributing spans")
    attribution = attribute(scored)
    recovery = None if against is None else recovered(attribution, attribute(against))
    field = most_lost(attribution)
    called = shown_name(scored, [*runs.values(), *([] if against is None else [against])])
    page = Report(_title(called, scored, attribution, field))
    _add_conclusion(page, called, scored, attribution, field)
    if note:
        page.text(note)
    _add_scores(page, runs if against is None else {**runs, _other_name(against, runs): against})
    if field is not None:
        say("embedding spans and windows of text")
        _add_misses(page, attribution, field, documents)
    if recovery is not None and against is not None:
        say("comparing the runs")
        _add_recovery(page, recovery)
        add_changes(page, compare(scored, against, allow=("surface",)))
    say("drawing fields and documents")
    page.heading("By field and document")
    page.chart(charts.field_decomposition(scored), caption=_FIELDS_SAY, live=len(attribution.spans) <= LIVE_UP_TO)
    page.widget(FieldGrid(scored), caption="Each row is a document; a cell opens the two values and the rule between.")
    if field is not None:
        say("trying other thresholds")
        page.heading("Would another threshold change this?")
        page.widgets(
            [ThresholdExplorer(sweep_view(sweep(scored, field), attribution))],
            linked=("threshold",),
            caption="The lists above stay at the run's own threshold. Every place of the sliders was computed with the "
            "scorer's own matching when this page was made. A "
            "finding that turns round when the threshold moves a little is none.",
        )
    _add_reliability(page, runs if against is None else {**runs, _other_name(against, runs): against})
    return page.footer(recipe=scored.recipe, command=command)


_FIELDS_SAY = (
    "Exact, partial and missed values of each field. Fields are compared by different rules: their means do not say "
    "which one is hardest."
)


def most_lost(attribution: Attribution) -> str | None:
    """Return the list field that loses most spans; None when the labels hold no list field."""
    lost = {field: _unmatched(attribution.counts(field)) for field in attribution.fields}
    return max(lost, key=lambda field: lost[field], default=None)


def _unmatched(counts: Mapping[str, int]) -> int:
    return counts["n_expected"] - counts["matched"]


def shown_name(scored: ScoredRun, others: Iterable[ScoredRun] = ()) -> str:
    """Return what a run is called in sentences: its prompt where no other run has the same, else its name.

    Args:
        scored: The run.
        others: Runs it stands beside.
    """
    made = scored.recipe.run
    prompts = [other.recipe.run["prompt_version"] for other in others if other is not scored]
    return made["prompt_version"] if made["prompt_version"] and made["prompt_version"] not in prompts else made["name"]


def _other_name(against: ScoredRun, runs: Mapping[str, ScoredRun]) -> str:
    name = against.recipe.run["name"]
    return name if name not in runs else f"{name} (--against)"


def _title(name: str, scored: ScoredRun, attribution: Attribution, field: str | None) -> str:
    overall = scored.metrics().get(OVERALL) or undefined("nothing was scored")
    title = f"{name} scores {formats.estimate(overall)}"
    counts = scored.counts
    if counts["n_failed"]:
        as_zero = scored.metrics().get(f"{OVERALL}_failed_as_zero", overall).value
        title += (
            f" on the {counts['n_scored']:,} of {formats.count(counts['n_documents'], 'document')} that did not fail "
            f"(failed as 0: {formats.number(as_zero)})"
        )
    worst = "" if field is None else worst_family(attribution.families(field))
    return f"{title}, {worst}" if worst else title


def _add_conclusion(page: Report, name: str, scored: ScoredRun, attribution: Attribution, field: str | None) -> None:
    counts, made = scored.counts, scored.recipe.run
    if field is not None:
        found = attribution.counts(field)
        top = attribution.commonest_cause(field)
        says = f"{_unmatched(found):,} of {found['n_expected']:,} {_words(field)} spans are not found by {name}"
        if top is not None:
            cause, n = CAUSES[top[0]], top[1]
            says += f", {n:,} of them for one cause, {cause.name}: {cause.says}"
        page.text(
            f"{says}. The score is a mean over {formats.count(counts['n_scored'], 'document')}; its interval says how "
            "far other documents like these could move it, not whether a rerun of the same prompt would repeat it."
        )
    page.text(
        f"{formats.count(counts['n_documents'], 'document')}, {counts['n_failed']:,} failed, {counts['n_unmatched']:,} "
        f"without labels; model {made['model'] or 'unknown'}, prompt {made['prompt_version'] or 'unknown'}.",
        soft=True,
    )


def _add_scores(page: Report, runs: Mapping[str, ScoredRun]) -> None:
    page.heading("Scores")
    several = (
        " Overlapping or disjoint intervals of two runs do not decide which is better: the same documents were scored "
        "twice, so only a paired comparison can, and it must beat the noise of reruns."
    )
    page.text("Each row is one run over the same documents." + (several if len(runs) > 1 else ""))
    page.table(
        pd.DataFrame([_score_row(shown_name(one, runs.values()), one) for one in runs.values()]),
        caption="Failed as 0: the same mean with failed documents as 0. Filled: expected fields the model filled. "
        "Valid: answers with the right JSON types. True: values that match a label or stand in the document. Their "
        "intervals: dojo score.",
    )


def _score_row(name: str, scored: ScoredRun) -> dict[str, Any]:
    metrics, made = scored.metrics(), scored.recipe.run
    unknown = undefined("not known for this run")
    overall = metrics.get(OVERALL, unknown)
    return {
        "run": name,
        "model": made["model"],
        "score": overall,
        "n": overall.n,
        "failed": scored.counts["n_failed"],
        "failed as 0": metrics.get(f"{OVERALL}_failed_as_zero", overall).value,
        "filled": metrics.get("field_presence", unknown).value,
        "valid": metrics.get("schema_valid", unknown).value,
        "true": metrics.get("overall_verified_precision", unknown).value,
    }


def _add_misses(page: Report, attribution: Attribution, field: str, documents: Documents | None) -> None:
    page.heading("Where it is lost")
    page.table(pd.DataFrame([_field_row(attribution, name) for name in attribution.fields]))
    opened, n_doubtful = _opened(attribution, field)
    window = WINDOW if len(opened) <= MANY else SMALL_WINDOW
    explorer = MissExplorer.of(attribution, field, documents=documents, window=window, ids=opened)
    what = f"{formats.count(len(opened), 'span')}" + (
        ""
        if len(opened) == n_doubtful
        else f" of {n_doubtful:,} ({SURE_PER_FAMILY} of each family, then the most similar)"
    )
    texts = (
        f"{what} can be opened; their contracts only in a report made with --documents."
        if documents is None
        else f"{what} can be opened, each with {window} characters of its contract before and after; no full text is "
        "embedded."
    )
    page.widgets([explorer], linked=("family", "cause", "span"), caption=f"{texts} Other spans are only listed.")
    page.chart(
        charts.family_misses(attribution.families(field)),
        live=len(attribution.spans) <= LIVE_UP_TO,
        caption=f"Whiskers: {attribution.scored.recipe.confidence:.0%} by Wilson over spans, which are not independent "
        f"within a document. Families with fewer than {RANKED_FROM} labels are grey: too few to rank.",
    )


def _opened(attribution: Attribution, field: str) -> tuple[list[str], int]:
    """Return the spans a reader can open, in the order of the table, and how many would be worth it."""
    spans = attribution.of_field(field)
    doubtful = attribution.doubtful(field)
    place = doubtful.groupby("category").cumcount()
    first = doubtful.assign(later=place >= SURE_PER_FAMILY).sort_values("later", kind="stable").head(MOST_OPENED)
    return spans.loc[spans["id"].isin(first["id"]), "id"].tolist(), len(doubtful)


def _field_row(attribution: Attribution, field: str) -> dict[str, Any]:
    counts = attribution.counts(field)
    top = attribution.commonest_cause(field)
    return {
        "list field": _words(field),
        "expected": counts["n_expected"],
        **{status: counts[status] for status in ("matched", "taken", "near")},
        "nothing near": counts["missed"],
        "recall": attribution.recall(field),
        "to check": int(attribution.of_field(field)["check"].sum()),
        "commonest cause": "" if top is None else f"{CAUSES[top[0]].name} ({top[1]:,})",
    }


def _add_recovery(page: Report, recovery: Recovery) -> None:
    sides = (recovery.before.scored, recovery.after.scored)
    before, after = (shown_name(side, sides) for side in sides)
    total = recovery.counts()
    page.heading("What changed")
    page.text(
        f"From {before} to {after}: {total['recovered']:,} spans recovered, {total['lost']:,} lost (net "
        f"{total['net']:+,}), {total['still']:,} still missing. A change of the mean score tells neither. Compared: "
        f"{recovery.spans['document'].nunique():,} documents scored in both runs with {len(recovery.spans):,} spans; "
        f"{recovery.n_only_before:,} documents were scored only in the first and {recovery.n_only_after:,} only in the "
        "second. Families with fewer than 5 spans say little."
    )
    rows = [{"list field": _words(field), **_shown(recovery.counts(field))} for field in recovery.fields]
    page.table(pd.DataFrame(rows))
    families = recovery.families()
    moved = families[(families["recovered"] > 0) | (families["lost"] > 0)]
    page.table(
        moved.assign(net=[f"{n:+,}" for n in moved["net"]]),
        columns={"short": "family", "n": "of", **{name: name for name in ("recovered", "lost", "still", "net")}},
        caption="Families in which anything changed, the largest loss first.",
    )
    for change, title in (("lost", "Newly lost"), ("recovered", "Recovered")):
        spans = recovery.spans[recovery.spans["change"] == change]
        if len(spans):
            page.heading(
                f"{title}: {len(spans):,}" + (f", {EXAMPLES} of them" if len(spans) > EXAMPLES else ""),
                level=3,
            )
            page.table(pd.DataFrame(list(_examples(recovery, spans, change))))


def _shown(counts: Mapping[str, int]) -> dict[str, Any]:
    return {**{name: counts[name] for name in CHANGES}, "net": f"{counts['net']:+,}"}


def _examples(recovery: Recovery, spans: pd.DataFrame, change: str) -> Iterator[dict[str, Any]]:
    side = "after" if change == "lost" else "before"
    # One span of each family, the families with most of them first; then a second one, and so on.
    spans = spans.assign(
        turn=spans.groupby("family").cumcount(), weight=spans.groupby("family")["family"].transform("size")
    )
    chosen = spans.sort_values(["turn", "weight", "family"], ascending=[True, False, True], kind="stable")
    for span in chosen.head(EXAMPLES).to_dict("records"):
        cause = span[f"cause_{side}"]
        yield {
            "document": formats.short_document(span["document"]),
            "family": span["family"],
            "label": _cut(span["text"]),
            "before": span["similarity_before"],
            "after": span["similarity_after"],
            "cause": CAUSES[cause].name if isinstance(cause, str) else "",
        }


def _add_reliability(page: Report, runs: Mapping[str, ScoredRun]) -> None:
    page.heading("Reliability and cost")
    rows = []
    for scored in runs.values():
        tokens = scored.documents["tokens"].dropna()
        rows.append(
            {
                "run": shown_name(scored, runs.values()),
                "documents": scored.counts["n_documents"],
                "failed": scored.counts["n_failed"],
                "tokens per document": float(tokens.mean()) if len(tokens) else None,
                "with tokens known": len(tokens),
            }
        )
    page.table(pd.DataFrame(rows))
    failures = [
        {"run": shown_name(scored, runs.values()), "reason": _reason(reason), "documents": n}
        for scored in runs.values()
        for reason, n in scored.failures.items()
    ]
    if failures:
        page.table(pd.DataFrame(failures), caption="Why documents failed.")


def _reason(stored: str) -> str:
    """Return what an error says: the message inside a stored answer of a server, where there is one.

    Examples:
        >>> _reason("Error code: 403 - {'error': {'message': 'Key limit exceeded"), _reason("timeout")
        ('403: Key limit exceeded ...', 'timeout')
    """
    found = _SERVER_ERROR.search(stored)
    if found is None:
        return stored if len(stored) < REASON_CHARACTERS else f"{stored} ..."
    whole = found[3] or len(stored) < REASON_CHARACTERS
    return f"{found[1]}: {found[2]}" + ("" if whole else " ...")


def _words(field: str) -> str:
    return field.replace("_", " ")


def _cut(text: str) -> str:
    if len(text) <= SHOWN_CHARACTERS:
        return text
    return f"{text[:SHOWN_CHARACTERS].rsplit(' ', 1)[0]} ... ({len(text):,} characters)"
