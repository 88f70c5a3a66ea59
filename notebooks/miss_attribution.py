import marimo

__generated_with = "0.25.2"
app = marimo.App(width="full", app_title="Miss attribution")


@app.cell
def _():
    from html import escape

    import marimo as mo

    from dojo_kit import attribute, charts, load_documents, load_labels, read_run, score_run
    from dojo_kit.analysis.families import worst_family
    from dojo_kit.analysis.span_cases import CAUSES
    from dojo_kit.runs.annotations import load_annotations
    from dojo_kit.samples import sample_data
    from dojo_widgets import DocumentView, MissExplorer, SpanLabeler, show

    return (
        CAUSES,
        DocumentView,
        MissExplorer,
        SpanLabeler,
        attribute,
        charts,
        escape,
        load_annotations,
        load_documents,
        load_labels,
        mo,
        read_run,
        sample_data,
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
    # Parameters: --run, --labels, --documents, --field, --spans, --measure, --verdicts after `--` on the command line.
    args = mo.cli_args()
    run_path = args.get("run") or str(sample_data() / "runs" / "extraction_v1_small.json")
    labels_path = args.get("labels") or str(sample_data() / "labels.json")
    documents_path = args.get("documents") or (None if args.get("run") else str(sample_data() / "documents"))
    field = args.get("field") or "key_obligations"
    spans_mode = args.get("spans") or "all"
    measure = args.get("measure") or "scorer"
    verdicts_path = args.get("verdicts") or "verdicts.jsonl"
    return (
        documents_path,
        field,
        labels_path,
        measure,
        run_path,
        spans_mode,
        verdicts_path,
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
def _(attribution, counts, escape, field, mo, scored, unmatched, worst_family, CAUSES):
    # Names of runs and categories come from outside: shown as text, never as markdown.
    _worst = worst_family(attribution.families(field))
    _top = attribution.commonest_cause(field)
    _cause = (
        f"The commonest cause is {CAUSES[_top[0]].name} ({_top[1]} of {unmatched:,}): {CAUSES[_top[0]].says}."
        if _top
        else ""
    )
    _title = f"{unmatched:,} of {counts['n_expected']:,} {field} spans are lost" + (f", {_worst}" if _worst else "")
    mo.Html(
        f"<h2>{escape(_title)}</h2><p>{escape(_cause)} {scored.counts['n_failed']} failed documents take no part. What not to "
        "conclude: families differ by chance as well, so look at their intervals before their order.</p>"
    )
    return


@app.cell
def _(MissExplorer, attribution, documents, field, show):
    explorer = show(MissExplorer.of(attribution, field, documents=documents))
    explorer
    return (explorer,)


@app.cell(hide_code=True)
def _(attribution, escape, explorer, field, mo):
    # What is selected above, as rows of the same table: the widget only ever holds ids.
    _spans = attribution.of_field(field)
    selected = _spans[_spans["category"] == explorer.family] if explorer.family else _spans
    _lost = selected[selected["status"] != "matched"]
    _span = attribution.span(explorer.span) if explorer.span else None
    _what = (
        f"the span of {_span['document']} under {_span['family']}, {_span['cause'] or 'matched'}"
        if _span
        else "no span"
    )
    _where = f"{explorer.family or 'all families'}, {len(_lost)} of {len(selected)} spans lost; {_what}"
    mo.Html(f"<p><b>Selected</b>: {escape(_where)}</p>")
    return (selected,)


@app.cell
def _(mo, selected):
    _columns = ["document", "family", "text", "status", "cause", "similarity", "place"]
    mo.ui.table(
        selected.loc[selected["status"] != "matched", _columns].reset_index(drop=True),
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

    Bars are counts, whiskers 95 % Wilson intervals of the rate; the dashed line is the average. Families with fewer
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

    Near misses and matches that stand elsewhere are the ones worth a reader's time. Verdicts are saved with your name,
    the time and the recipe of the run, and can be resumed.
    """)
    return


@app.cell
def _(SpanLabeler, attribution, field, load_annotations, mo, show, verdicts_path):
    from pathlib import Path as _Path

    _known = load_annotations(verdicts_path) if _Path(verdicts_path).exists() else ()
    labeler = show(SpanLabeler.of(attribution, field, who="reader", annotations=_known))
    mo.vstack([labeler])
    return (labeler,)


@app.cell
def _(labeler, mo):
    save = mo.ui.run_button(label="Save verdicts")
    mo.hstack([save, mo.md(f"{len(labeler.judgements)} judged")], justify="start")
    return (save,)


@app.cell
def _(labeler, mo, save, verdicts_path):
    mo.stop(not save.value)
    mo.plain_text(f"saved to {getattr(labeler, 'widget', labeler).save(verdicts_path)}")
    return


if __name__ == "__main__":
    app.run()
