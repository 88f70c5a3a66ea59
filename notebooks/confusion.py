import marimo

__generated_with = "0.25.2"
app = marimo.App(width="full", app_title="Which labels are confused")


@app.cell
def _():
    from html import escape

    import marimo as mo
    import pandas as pd

    from dojo_kit import formats, read_run
    from dojo_kit.analysis.failures import failure_table, label_accuracy
    from dojo_kit.samples import sample_data
    from dojo_kit.tasks.score import score_task_run
    from dojo_widgets import ConfusionMatrix, ReliabilityCurve, show

    return (
        ConfusionMatrix,
        ReliabilityCurve,
        escape,
        failure_table,
        formats,
        label_accuracy,
        mo,
        pd,
        read_run,
        sample_data,
        score_task_run,
        show,
    )


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    # Which labels does the sorter confuse, and why?

    A failed call is a miss in every headline and is left out of every breakdown, so that an outage does not look like
    a confusion. Some labels are defensible for one another; their cells are outlined and counted apart.
    """)
    return


@app.cell
def _(mo, sample_data):
    # Parameters: --run and --task after `--` on the command line.
    args = mo.cli_args()
    run_path = args.get("run") or str(sample_data() / "runs" / "subtype_small.json")
    task = args.get("task") or None
    return run_path, task


@app.cell
def _(read_run, run_path, score_task_run, task):
    scores = score_task_run(read_run(run_path), task=task)
    return (scores,)


@app.cell(hide_code=True)
def _(escape, formats, mo, scores):
    # What comes from the run is shown as text, never as markdown.
    _counts = scores.counts
    _disguised = f", {_counts['n_disguised']} of them stored as completed" if _counts["n_disguised"] else ""
    mo.Html(
        f"<h2>{escape(scores.record.headline)} {escape(formats.estimate(scores.headline))}</h2>"
        f"<p>Task {escape(scores.record.key)}: {_counts['n_rows']} rows, {_counts['n_failed']} without an answer"
        f"{_disguised}; {len(scores.equiv_recovered)} more are right if defensible labels count.</p>"
    )
    return


@app.cell
def _(formats, mo, pd, scores):
    table = pd.DataFrame(
        {
            "metric": list(scores.metrics),
            "value": [formats.number(e.value) for e in scores.metrics.values()],
            "95 % interval": [formats.interval(e) for e in scores.metrics.values()],
            "n": [e.n for e in scores.metrics.values()],
            "note": [e.note or ", ".join(e.flags) for e in scores.metrics.values()],
        }
    )
    mo.ui.table(table, page_size=12, selection=None, show_column_summaries=False, show_data_types=False)
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Expected against answered

    Click a cell, or move with the arrow keys: the documents behind it, with the model's own reasoning. The rows below
    the matrix follow the selection.
    """)
    return


@app.cell
def _(ConfusionMatrix, scores, show):
    matrix = show(ConfusionMatrix(scores))
    matrix
    return (matrix,)


@app.cell(hide_code=True)
def _(escape, formats, matrix, mo):
    _detail = matrix.detail
    _says = formats.count(_detail["n"], "row") + f" in {matrix.cell}" if _detail else "no cell yet"
    mo.Html(f"<p><b>Selected</b>: {escape(_says)}</p>")
    return


@app.cell
def _(matrix, mo, scores):
    # The same rows as a frame: `id` of a listed row is its position in `scores.rows`.
    _listed = [int(row["id"]) for row in matrix.detail.get("rows", ())]
    behind = scores.rows.iloc[_listed][["document", "expected", "predicted", "confidence", "mode", "reasoning"]]
    mo.ui.table(behind, page_size=8, selection=None, show_column_summaries=False, show_data_types=False)
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## What kind of mistake is it?

    Modes are counted over wrong answers; `no_answer` counts failed calls and is a share of all rows.
    """)
    return


@app.cell
def _(failure_table, mo, scores):
    modes = failure_table(scores).round(3)
    mo.ui.table(modes, selection=None, show_column_summaries=False, show_data_types=False)
    return


@app.cell
def _(label_accuracy, mo, scores):
    by_label = label_accuracy(scores).round(3)
    mo.ui.table(by_label, page_size=12, selection=None, show_column_summaries=False, show_data_types=False)
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Does the stated confidence mean anything?

    On the dashed line, answers given with confidence 0.8 are right 8 times in 10. A bin of a few answers says little:
    look at its interval and its n.
    """)
    return


@app.cell
def _(ReliabilityCurve, scores, show):
    reliability = show(ReliabilityCurve(scores))
    reliability
    return


if __name__ == "__main__":
    app.run()
