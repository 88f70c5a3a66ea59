import marimo

__generated_with = "0.25.2"
app = marimo.App(width="full", app_title="Which labels are confused")


@app.cell
def _():
    import marimo as mo

    from dojo_kit import formats, read_run
    from dojo_kit.samples import sample_data
    from dojo_kit.tasks.score import score_task_run
    from dojo_kit.views import label_table, metric_table, mode_table
    from dojo_kit.views.label_tables import weakest_label, words_of
    from dojo_widgets import ConfusionMatrix, Finding, ReliabilityCurve, show

    plain = {"selection": None, "show_column_summaries": False, "show_data_types": False, "show_download": False}
    return (
        ConfusionMatrix,
        Finding,
        ReliabilityCurve,
        formats,
        label_table,
        metric_table,
        mo,
        mode_table,
        plain,
        read_run,
        sample_data,
        score_task_run,
        show,
        weakest_label,
        words_of,
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
def _(ConfusionMatrix, Finding, formats, scores, show, words_of):
    # What comes from the run is shown as text, never as markdown.
    matrix = show(ConfusionMatrix(scores))
    _counts = scores.counts
    _disguised = f", {_counts['n_disguised']:,} of them stored as completed" if _counts["n_disguised"] else ""
    Finding(
        f"{words_of(scores.record.headline).capitalize()} {formats.estimate(scores.headline)}: {matrix.data['finding']}",
        f"Task: {scores.record.title}. {formats.count(_counts['n_rows'], 'row')}, {_counts['n_failed']:,} without an "
        f"answer{_disguised}; {len(scores.equiv_recovered):,} more are right if defensible labels count.",
        "What not to conclude: that a label is hard because few documents say so.",
    )
    return (matrix,)


@app.cell
def _(formats, metric_table, mo, plain, scores):
    _metrics = metric_table(scores)
    _both = zip(_metrics["measures"], _metrics["remarks"], strict=True)
    metrics = _metrics[["metric", "n"]].assign(
        value=_metrics["value"].map(formats.estimate),
        measures=["; ".join(filter(None, texts)) for texts in _both],
    )[["metric", "value", "n", "measures"]]
    mo.ui.table(metrics, pagination=False, wrapped_columns=["measures"], column_widths={"measures": 420}, **plain)
    return (metrics,)


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Expected against answered

    Click a cell, or move with the arrow keys: the documents behind it, with the model's own reasoning. The rows below
    the matrix follow the selection.
    """)
    return


@app.cell
def _(matrix):
    matrix
    return


@app.cell(hide_code=True)
def _(Finding, formats, matrix):
    _detail = matrix.detail
    _says = f"{formats.count(_detail['n'], 'row')}, {_detail['says']}" if _detail else "no cell yet"
    Finding("", f"Selected: {_says}")
    return


@app.cell
def _(formats, matrix, mo, plain, scores):
    # The same rows as a table: `id` of a listed row is its position in `scores.rows`.
    _listed = matrix.detail.get("rows", ())
    behind = scores.rows.iloc[[int(row["id"]) for row in _listed]]
    _shown = [
        {
            "document": row["short"],
            "confidence": formats.number(row.get("confidence"), digits=2),
            "mistake": row.get("mode_words", "none"),
            "the model's reasons": row.get("reasoning", ""),
        }
        for row in _listed
    ]
    mo.ui.table(
        _shown,
        page_size=8,
        wrapped_columns=["the model's reasons"],
        column_widths={"the model's reasons": 560},
        **plain,
    ) if _shown else None
    return (behind,)


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## What kind of mistake is it?

    The rate of a mistake is of answered rows, that of calls without an answer of all rows.
    """)
    return


@app.cell
def _(formats, mo, mode_table, plain, scores):
    _modes = mode_table(scores)
    modes = _modes.assign(rate=_modes["rate"].map(formats.estimate)).rename(
        columns={"mode": "mistake", "share": "share of wrong"}
    )
    mo.ui.table(modes, pagination=False, wrapped_columns=["meaning"], **plain)
    return (modes,)


@app.cell(hide_code=True)
def _(Finding, label_table, scores, weakest_label):
    Finding(
        weakest_label(label_table(scores)),
        "Answered rows, worst first; labels with fewer than 5 come last and are not ranked. Intervals by Wilson.",
    )
    return


@app.cell
def _(formats, label_table, mo, plain, scores):
    _labels = label_table(scores)
    by_label = _labels.assign(
        accuracy=_labels["accuracy"].map(formats.estimate), equivalents=_labels["equivalents"].map(formats.number)
    )[["label", "n", "right", "accuracy", "equivalents", "mistaken_for", "remarks"]].rename(
        columns={"equivalents": "with defensible ones", "mistaken_for": "most often taken for"}
    )
    mo.ui.table(by_label, page_size=12, **plain)
    return (by_label,)


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
