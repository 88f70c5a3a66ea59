import marimo

__generated_with = "0.25.2"
app = marimo.App(width="full", app_title="Recovery check")


@app.cell
def _():
    import marimo as mo

    from dojo_kit import attribute, charts, formats, load_documents, load_labels, read_run, recovered, score_run
    from dojo_kit.samples import sample_data
    from dojo_widgets import Finding, MissExplorer, show

    return (
        Finding,
        MissExplorer,
        attribute,
        charts,
        formats,
        load_documents,
        load_labels,
        mo,
        read_run,
        recovered,
        sample_data,
        score_run,
        show,
    )


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    # What did the new prompt recover, and what did it lose?

    A rise of the mean hides both. Every span is followed from the run before to the run after: recovered, newly lost,
    still missing, kept.
    """)
    return


@app.cell
def _(mo, sample_data):
    # Parameters: --before, --after, --labels, --documents, --field, --spans after `--` on the command line.
    args = mo.cli_args()
    before_path = args.get("before") or args.get("run") or str(sample_data() / "runs" / "extraction_v1_small.json")
    after_path = args.get("after") or args.get("against") or str(sample_data() / "runs" / "extraction_v2_small.json")
    labels_path = args.get("labels") or str(sample_data() / "labels.json")
    own = args.get("before") or args.get("run")
    documents_path = args.get("documents") or (None if own else str(sample_data() / "documents"))
    field = args.get("field") or "key_obligations"
    spans_mode = args.get("spans") or "all"
    measure = args.get("measure") or "scorer"
    return (
        after_path,
        before_path,
        documents_path,
        field,
        labels_path,
        measure,
        spans_mode,
    )


@app.cell
def _(
    after_path,
    attribute,
    before_path,
    documents_path,
    field,
    labels_path,
    load_documents,
    load_labels,
    measure,
    read_run,
    recovered,
    score_run,
    spans_mode,
):
    labels = load_labels(labels_path)
    documents = load_documents(documents_path) if documents_path else None
    before, after = (
        attribute(score_run(read_run(path), labels, documents, spans=spans_mode), field=field, measure=measure)
        for path in (before_path, after_path)
    )
    recovery = recovered(before, after)
    counts = recovery.counts(field)
    return after, before, counts, documents, recovery


@app.cell(hide_code=True)
def _(Finding, after, before, counts, field, formats, recovery):
    _recall = [formats.estimate(side.recall(field)) for side in (before, after)]
    _n = recovery.spans["document"].nunique()
    Finding(
        f"{after.scored.recipe.run['name']} recovered {counts['recovered']} spans and lost {counts['lost']} "
        f"(net {counts['net']:+d}); {counts['still']} are still missing",
        f"Compared: {_n} documents scored in both runs, {sum(counts[name] for name in ('recovered', 'lost', 'still', 'kept'))} "
        f"spans; {recovery.n_only_before} documents were scored only before and {recovery.n_only_after} only after.",
        f"Recall of {field} went from {_recall[0]} to {_recall[1]} (n {before.recall(field).n} and {after.recall(field).n} "
        "documents). Whether the intervals overlap decides nothing: the same documents were read twice, and a rerun of "
        "either prompt would move some spans as well.",
    )
    return


@app.cell
def _(after, before, charts, mo):
    mo.Html(charts.markup(charts.drift({side.scored.recipe.run["name"]: side.scored for side in (before, after)})))
    return


@app.cell
def _(field, mo, recovery):
    families = recovery.families(field)
    mo.ui.table(
        families[["short", "n", "recovered", "lost", "still", "kept", "net"]].rename(
            columns={"short": "family", "n": "of"}
        ),
        page_size=12,
        selection=None,
        show_column_summaries=False,
        show_data_types=False,
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Look at what is lost now

    The spans of the later run; newly lost ones first in the table below. A prompt that truncates and one that omits
    need different cures: see the causes.
    """)
    return


@app.cell
def _(MissExplorer, after, documents, field, show):
    explorer = show(MissExplorer.of(after, field, documents=documents))
    explorer
    return (explorer,)


@app.cell(hide_code=True)
def _(Finding, explorer, recovery):
    _spans = recovery.spans
    _mine = _spans[_spans["category"] == explorer.family] if explorer.family else _spans
    _counts = _mine["change"].value_counts()
    _what = ", ".join(f"{_counts.get(change, 0)} {change}" for change in ("recovered", "lost", "still", "kept"))
    Finding("", f"Selected: {explorer.family or 'all families'}: {_what}")
    return


@app.cell
def _(mo, recovery):
    _columns = {
        "change": "change",
        "family": "family",
        "text": "label",
        "similarity_before": "before",
        "similarity_after": "after",
        "cause_after": "cause after",
        "document": "document",
    }
    _spans = recovery.spans[recovery.spans["change"].isin(["lost", "recovered"])]
    mo.ui.table(
        _spans.sort_values("change")[list(_columns)].rename(columns=_columns).reset_index(drop=True),
        page_size=8,
        selection=None,
        show_column_summaries=False,
        show_data_types=False,
        format_mapping={"before": "{:.2f}", "after": "{:.2f}"},
    )
    return


if __name__ == "__main__":
    app.run()
