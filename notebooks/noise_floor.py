import marimo

__generated_with = "0.25.2"
app = marimo.App(width="full", app_title="How large is rerun noise?")


@app.cell
def _():
    from pathlib import Path

    import marimo as mo

    from dojo_kit import formats, load_labels, read_run, score_run
    from dojo_kit.analysis.noise import noise_floor
    from dojo_kit.records import ExtractionRow
    from dojo_kit.runs.noise_files import read_noise
    from dojo_kit.samples import sample_data
    from dojo_widgets import Finding, NoiseBand, show

    return (
        ExtractionRow,
        Finding,
        NoiseBand,
        Path,
        formats,
        load_labels,
        mo,
        noise_floor,
        read_noise,
        read_run,
        sample_data,
        score_run,
        show,
    )


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    # How far do two runs of one setting lie apart?

    Run a prompt again, with the same model on the same documents, and some answers change. A change between two prompts
    that is no larger than that says nothing about the prompts. Three reruns beyond the first, of one task, model and
    set of documents, give a band.
    """)
    return


@app.cell
def _(mo, sample_data):
    # Parameters after `--` on the command line: --run, a folder of runs, a run, or a file that `dojo noise --out` wrote;
    # --labels to score extractions anew, else stored scores count.
    args = mo.cli_args()
    runs_path = args.get("run") or str(sample_data() / "runs")
    labels_path = args.get("labels") or (None if args.get("run") else str(sample_data() / "labels.json"))
    return labels_path, runs_path


@app.cell
def _(
    ExtractionRow,
    Path,
    labels_path,
    load_labels,
    noise_floor,
    read_noise,
    read_run,
    runs_path,
    score_run,
):
    _labels = load_labels(labels_path) if labels_path else None

    def _scored(path):
        run = read_run(path)
        is_extraction = bool(run.rows) and isinstance(run.rows[0], ExtractionRow)
        return score_run(run, _labels) if _labels and is_extraction else run

    _path = Path(runs_path)
    if _path.is_dir():
        floor = noise_floor([_scored(path) for path in sorted(_path.glob("*.json"))])
    else:
        floor = read_noise(_path)
    return (floor,)


@app.cell(hide_code=True)
def _(Finding, floor, formats):
    _pairs = floor.pairs.drop_duplicates(["group", "run_a", "run_b"])
    Finding(
        f"{formats.count(len(_pairs), 'pair')} of reruns among {formats.count(floor.n_runs, 'run')}",
        f"{formats.count(len(floor.excluded), 'other pair')} looked like reruns and are none; each says why.",
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Every pair beside its band

    Click a pair, or move with the arrow keys: the documents that change their answer. The band is hatched where fewer
    than 3 reruns beyond the first are known. A pair whose own interval excludes 0 is rerun noise all the same: that is why an interval
    over documents alone is not enough.
    """)
    return


@app.cell
def _(NoiseBand, floor, show):
    band = show(NoiseBand(floor))
    band
    return (band,)


@app.cell(hide_code=True)
def _(Finding, band, formats):
    _n = band.detail.get("n", 0)
    _pair = band.pair.partition(":")[2].replace("|", " to ")
    Finding("", f"Selected: {_pair}, {formats.count(_n, 'document')} flipped" if _pair else "Selected: no pair")
    return


@app.cell
def _(band, floor, mo):
    # All runs of the selected pair's group side by side, where they disagree.
    _group = int(band.pair.partition(":")[0]) if band.pair else 0
    mo.ui.table(floor.flips(_group), page_size=8, selection=None, show_column_summaries=False, show_data_types=False)
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Bands, metric by metric

    `m` counts reruns beyond the first of each group. Write them to a file with `dojo noise RUN... --out noise.json` and
    hand it to `dojo compare --noise noise.json`; a band never uses a pair that contains a run under comparison.
    """)
    return


@app.cell
def _(floor, mo):
    _bands = floor.bands()
    mo.ui.table(
        _bands[["task", "model", "metric", "m", "rms", "band", "reason"]],
        page_size=12,
        selection=None,
        show_column_summaries=False,
        show_data_types=False,
        format_mapping={"rms": "{:.4f}", "band": "{:.4f}"},
    )
    return


@app.cell
def _(floor, mo):
    mo.ui.table(floor.excluded, page_size=8, selection=None, show_column_summaries=False, show_data_types=False) if len(
        floor.excluded
    ) else mo.md("No pair was left out.")
    return


if __name__ == "__main__":
    app.run()
