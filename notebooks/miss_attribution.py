import marimo

__generated_with = "0.25.2"
app = marimo.App(width="full", app_title="Miss attribution")


@app.cell
def _():
    import marimo as mo

    from dojo_kit import attribute, charts, load_documents, load_labels, read_run, score_run
    from dojo_kit.analysis.families import worst_family
    from dojo_kit.analysis.span_cases import CAUSES
    from dojo_kit.runs.annotations import load_annotations, save_annotations
    from dojo_kit.samples import sample_data
    from dojo_widgets import Finding, MissExplorer, SpanLabeler, link, show

    return (
        CAUSES,
        Finding,
        MissExplorer,
        SpanLabeler,
        attribute,
        charts,
        link,
        load_annotations,
        load_documents,
        load_labels,
        mo,
        read_run,
        sample_data,
        save_annotations,
        score_run,
        show,
        worst_family,
    )


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    # Where are the spans lost?

    A list field's score plateaus, and the score cannot say why. Here every labelled span gets one status and, when it
    was not found, one cause. The witness is **where label and item stand in the contract**: most items that look near
    quote another clause.
    """)
    return


@app.cell
def _(mo, sample_data):
    # Parameters: --run, --labels, --documents, --field, --spans, --measure, --verdicts, --who after `--` on the command line.
    args = mo.cli_args()
    run_path = args.get("run") or str(sample_data() / "runs" / "extraction_v1_small.json")
    labels_path = args.get("labels") or str(sample_data() / "labels.json")
    documents_path = args.get("documents") or (None if args.get("run") else str(sample_data() / "documents"))
    field = args.get("field") or "key_obligations"
    spans_mode = args.get("spans") or "all"
    measure = args.get("measure") or "scorer"
    verdicts_path = args.get("verdicts") or "verdicts.jsonl"
    who = args.get("who") or "reader"
    return (
        documents_path,
        field,
        labels_path,
        measure,
        run_path,
        spans_mode,
        verdicts_path,
        who,
    )


@app.cell
def _(
    documents_path,
    labels_path,
    load_documents,
    load_labels,
    read_run,
    run_path,
    score_run,
    spans_mode,
):
    documents = load_documents(documents_path) if documents_path else None
    scored = score_run(read_run(run_path), load_labels(labels_path), documents, spans=spans_mode)
    return documents, scored


@app.cell
def _(attribute, field, measure, scored):
    attribution = attribute(scored, field=field, measure=measure)
    counts = attribution.counts(field)
    unmatched = counts["n_expected"] - counts["matched"]
    return attribution, counts, unmatched


@app.cell(hide_code=True)
def _(CAUSES, Finding, attribution, counts, field, scored, unmatched, worst_family):
    _worst = worst_family(attribution.families(field)).removeprefix("lost ")
    _top = attribution.commonest_cause(field)
    Finding(
        f"{unmatched:,} of {counts['n_expected']:,} {field} spans are lost" + (f", {_worst}" if _worst else ""),
        f"The commonest cause is {CAUSES[_top[0]].name} ({_top[1]} of {unmatched:,}): {CAUSES[_top[0]].says}."
        if _top
        else "",
        f"{scored.counts['n_failed']} failed documents take no part. What not to conclude: families differ by chance as "
        "well, so look at their intervals before their order.",
    )
    return


@app.cell
def _(MissExplorer, attribution, documents, field, show):
    explorer = show(MissExplorer.of(attribution, field, documents=documents))
    explorer
    return (explorer,)


@app.cell(hide_code=True)
def _(Finding, attribution, explorer, field):
    # What is selected above, as rows of the same table: the widget only ever holds ids.
    _spans = attribution.of_field(field)
    _matched = _spans["status"] == "matched"
    _shown = {"missed": ~_matched, "matched": _matched, "check": _spans["check"]}[explorer.show]
    _shown &= (_spans["category"] == explorer.family) | (not explorer.family)
    _shown &= (_spans["cause"] == explorer.cause) | (not explorer.cause)
    selected = _spans[_shown]
    _span = attribution.span(explorer.span) if explorer.span else None
    _what = (
        f"the span of {_span['document']} under {_span['family']}, {_span['cause'] or 'matched'}"
        if _span
        else "no span"
    )
    _where = " · ".join(part for part in (explorer.family or "all families", explorer.cause) if part)
    Finding("", f"Selected: {_where}, {len(selected)} {explorer.show}; {_what}")
    return (selected,)


@app.cell
def _(mo, selected):
    _columns = ["document", "family", "text", "status", "cause", "similarity", "place"]
    mo.ui.table(
        selected[_columns].reset_index(drop=True),
        page_size=6,
        selection=None,
        show_column_summaries=False,
        show_data_types=False,
        format_mapping={"similarity": "{:.2f}"},
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Which families are missed beyond chance?

    Bars are the share of labels missed, whiskers 95 % Wilson intervals; the dashed line is the average. Families with fewer
    than 5 labels are grey: they say nothing.
    """)
    return


@app.cell
def _(attribution, charts, field, mo):
    mo.Html(charts.markup(charts.family_misses(attribution.families(field))))
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Judge the doubtful cases

    Near misses and matches that stand elsewhere are the ones worth a reader's time. Verdicts given here or in the
    explorer above are saved with the name given by `--who`, the time and the recipe of the run, and can be resumed.
    """)
    return


@app.cell
def _(SpanLabeler, attribution, explorer, field, link, load_annotations, show, verdicts_path, who):
    from pathlib import Path as _Path

    _known = load_annotations(verdicts_path, recipe=attribution.scored.recipe) if _Path(verdicts_path).exists() else ()
    labeler = show(SpanLabeler.of(attribution, field, who=who, annotations=_known))
    link(labeler, explorer, traits=("judgements",))
    labeler
    return (labeler,)


@app.cell
def _(explorer, labeler, mo):
    save = mo.ui.run_button(label="Save verdicts", disabled=not {**explorer.judgements, **labeler.judgements})
    mo.hstack([save, mo.md(f"{len({**explorer.judgements, **labeler.judgements})} judged")], justify="start")
    return (save,)


@app.cell
def _(attribution, explorer, labeler, mo, save, save_annotations, verdicts_path, who):
    from datetime import UTC as _UTC
    from datetime import datetime as _datetime

    mo.stop(not save.value)
    _now = _datetime.now(_UTC).isoformat(timespec="seconds")
    _labeler, _explorer = (getattr(widget, "widget", widget) for widget in (labeler, explorer))
    _labeler.save(verdicts_path, when=_now)
    save_annotations(verdicts_path, _explorer.annotations, who=who, when=_now, recipe=attribution.scored.recipe)
    mo.plain_text(f"{len(_explorer.annotations)} verdicts saved to {verdicts_path}")
    return


if __name__ == "__main__":
    app.run()
