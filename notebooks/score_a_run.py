import marimo

__generated_with = "0.25.2"
app = marimo.App(width="full", app_title="Score a run")


@app.cell
def _():
    import marimo as mo
    import pandas as pd

    from dojo_kit import charts, formats, load_documents, load_labels, read_run, score_run
    from dojo_kit.samples import sample_data
    from dojo_kit.stats.intervals import SCOPE
    from dojo_widgets import FieldGrid, Finding, ThresholdExplorer, show

    return (
        FieldGrid,
        Finding,
        SCOPE,
        ThresholdExplorer,
        charts,
        formats,
        load_documents,
        load_labels,
        mo,
        pd,
        read_run,
        sample_data,
        score_run,
        show,
    )


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    # What does this run score, and what is behind each number?

    One call scores every document, field and item, and keeps the rule that decided each score. Nothing below is
    computed anywhere else: grid, charts and table read the same frames.
    """)
    return


@app.cell
def _(mo, sample_data):
    # Parameters: --run, --labels, --documents, --spans after `--` on the command line.
    args = mo.cli_args()
    run_path = args.get("run") or str(sample_data() / "runs" / "extraction_v2_small.json")
    labels_path = args.get("labels") or str(sample_data() / "labels.json")
    documents_path = args.get("documents") or (None if args.get("run") else str(sample_data() / "documents"))
    spans_mode = args.get("spans") or "all"
    return documents_path, labels_path, run_path, spans_mode


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
    metrics = scored.metrics()
    return metrics, scored


@app.cell(hide_code=True)
def _(Finding, SCOPE, formats, metrics, scored):
    _overall = metrics["overall_extraction_score"]
    _scores = {name: e for name, e in metrics.items() if name.endswith("_score") and name != "overall_extraction_score"}
    _weak = min((name for name in _scores if _scores[name].value is not None), key=lambda name: _scores[name].value)
    Finding(
        f"{scored.recipe.run['name']} scores {formats.estimate(_overall)}; {_weak.removesuffix('_score')} is its weakest field",
        f"{scored.counts['n_scored']} of {scored.counts['n_documents']} documents scored, {scored.counts['n_failed']} failed.",
        SCOPE,
    )
    return


@app.cell
def _(formats, metrics, mo, pd):
    table = pd.DataFrame(
        {
            "metric": list(metrics),
            "value": [formats.number(e.value) for e in metrics.values()],
            "95 % interval": [formats.interval(e) for e in metrics.values()],
            "n": [e.n for e in metrics.values()],
            "note": [e.note or ", ".join(e.flags) for e in metrics.values()],
        }
    )
    mo.ui.table(table, page_size=12, selection=None, show_column_summaries=False, show_data_types=False)
    return


@app.cell
def _(charts, mo, scored):
    mo.Html(charts.markup(charts.field_decomposition(scored)))
    return


@app.cell
def _(charts, mo, scored):
    mo.Html(charts.markup(charts.score_distribution(scored)))
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Which cell lost the points?

    Click a cell, or move with the arrow keys: what was predicted, what was expected, and the rule between them. The line
    below the grid follows the selection.
    """)
    return


@app.cell
def _(FieldGrid, scored, show):
    grid = show(FieldGrid(scored))
    grid
    return (grid,)


@app.cell(hide_code=True)
def _(Finding, formats, grid):
    _detail = grid.detail
    Finding(
        "",
        f"Selected: {_detail['field']} scores {formats.number(_detail['score'])} by the rule {_detail['rule']}"
        if _detail.get("field")
        else "Selected: no cell",
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Would another threshold change the finding?

    Every place of the sliders was computed with the scorer's own matching. If recall or precision turns round when the
    threshold moves a little, the finding is about the threshold, not about the run.
    """)
    return


@app.cell
def _(ThresholdExplorer, scored, show):
    thresholds = show(ThresholdExplorer.of(scored, "key_obligations"))
    thresholds
    return (thresholds,)


@app.cell(hide_code=True)
def _(mo, thresholds):
    mo.md(f"**Threshold** {thresholds.threshold:.2f}")
    return


if __name__ == "__main__":
    app.run()
