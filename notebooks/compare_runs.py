import marimo

__generated_with = "0.25.2"
app = marimo.App(width="full", app_title="Is B really better than A?")


@app.cell
def _():
    from pathlib import Path

    import marimo as mo

    from dojo_kit import formats, load_documents, load_labels, read_run, score_run
    from dojo_kit.analysis.compare import compare
    from dojo_kit.analysis.noise import noise_floor
    from dojo_kit.runs.noise_files import read_noise
    from dojo_kit.samples import sample_data
    from dojo_kit.views.deltas import run_names, says_conclusion, says_finding
    from dojo_widgets import DeltaForest, Finding, show

    return (
        DeltaForest,
        Finding,
        Path,
        compare,
        formats,
        load_documents,
        load_labels,
        mo,
        noise_floor,
        read_noise,
        read_run,
        run_names,
        sample_data,
        says_conclusion,
        says_finding,
        score_run,
        show,
    )


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    # Is B really better than A?

    Both runs read the same documents, so every document is its own control: what counts is the change within it. A
    change is a win only when its interval excludes 0 *and* it is larger than what two runs of one setting differ by.
    Two intervals that overlap, or do not, decide nothing.
    """)
    return


@app.cell
def _(mo, sample_data):
    # Parameters after `--` on the command line: --run A, --against B, --labels, --documents, --spans, and --noise with
    # a file that `dojo noise --out` wrote. Without labels stored scores count, or what the rows say themselves.
    args = mo.cli_args()
    own = args.get("run")
    path_a = own or str(sample_data() / "runs" / "extraction_v1_small.json")
    path_b = args.get("against") or str(sample_data() / "runs" / "extraction_v3_small.json")
    labels_path = args.get("labels") or (None if own else str(sample_data() / "labels.json"))
    documents_path = args.get("documents") or (None if own else str(sample_data() / "documents"))
    spans_mode = args.get("spans") or "all"
    noise_path = args.get("noise")
    return documents_path, labels_path, noise_path, own, path_a, path_b, spans_mode


@app.cell
def _(
    documents_path,
    labels_path,
    load_documents,
    load_labels,
    read_run,
    score_run,
    spans_mode,
):
    labels = load_labels(labels_path) if labels_path else None
    documents = load_documents(documents_path) if documents_path else None

    def scored(path):
        run = read_run(path)
        return score_run(run, labels, documents, spans=spans_mode) if labels else run

    return (scored,)


@app.cell
def _(Path, noise_floor, noise_path, own, path_a, read_noise, scored):
    # Reruns of the sample stand beside it. A pair that holds one of the two runs never counts in their own band.
    _beside = sorted(Path(path_a).parent.glob("extraction_*_small*.json"))
    floor = read_noise(noise_path) if noise_path else None if own else noise_floor([scored(path) for path in _beside])
    return (floor,)


@app.cell
def _(compare, floor, path_a, path_b, scored):
    comparison = compare(scored(path_a), scored(path_b), noise=floor)
    return (comparison,)


@app.cell(hide_code=True)
def _(Finding, comparison, run_names, says_conclusion, says_finding):
    _a, _b = run_names(comparison)
    Finding(says_finding(comparison, a=_a, b=_b), says_conclusion(comparison), comparison.scope)
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## What changed, and in which documents

    Click a metric, or move with the arrow keys: the documents that changed, losses first, both answers side by side.
    Points are changes with their intervals, the grey zone is rerun noise; it is hatched where it is not known. Within
    fields, and within classes, p is corrected for their number.
    """)
    return


@app.cell
def _(DeltaForest, comparison, show):
    forest = show(DeltaForest(comparison))
    forest
    return (forest,)


@app.cell(hide_code=True)
def _(Finding, comparison, forest, formats):
    if forest.metric:
        _one = comparison.metrics[forest.metric]
        _delta = _one.delta
        _says = (
            f"Selected: {forest.metric}, {_one.verdict}; B is better in "
            f"{formats.count(_delta.n_better, 'document')} and worse in {_delta.n_worse}"
        )
    else:
        _says = "Selected: no metric"
    Finding("", _says)
    return


@app.cell
def _(comparison, forest, mo):
    # The same documents as a frame.
    _columns = {
        "document": "document",
        "a": "A",
        "b": "B",
        "change": "change",
        "direction": "B is",
        "predicted_a": "answer of A",
        "predicted_b": "answer of B",
        "expected": "expected",
    }
    changed = comparison.changed(forest.metric or None)[list(_columns)].dropna(axis="columns", how="all")
    changed = changed.rename(columns=_columns)
    mo.ui.table(
        changed,
        page_size=8,
        selection=None,
        show_column_summaries=False,
        show_data_types=False,
        format_mapping={"A": "{:.3f}", "B": "{:.3f}", "change": "{:+.3f}"},
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## What would it take to know?

    *Detectable* is the smallest change that so many documents show in 4 of 5 tries; in brackets stand the documents it takes to
    show a change as large as the one found. A verdict that says *inconclusive* is no proof that nothing changed.
    """)
    return


@app.cell
def _(comparison, mo):
    _shown = {
        "metric": "metric",
        "delta": "change",
        "interval": "interval",
        "p": "p",
        "band": "band ±",
        "verdict": "verdict",
        "mde": "detectable",
        "documents": "n (needed)",
    }

    def _p(value: float) -> str:
        return "< 0.001" if value < 0.001 else f"{value:.3f}"

    def _known(value: float) -> str:
        return f"{value:.4f}" if value == value else "unknown"

    _frame = comparison.frame()
    _table = _frame[_frame["kind"].isin(["headline", "composite", "field"])].reset_index(drop=True)
    _table["p"] = _table["p_holm"].fillna(_table["p"])
    _table["interval"] = [f"[{lo:+.4f}, {hi:+.4f}]" for lo, hi in zip(_table["lo"], _table["hi"], strict=True)]
    _needed = [f" ({n:,.0f})" if n == n else "" for n in _table["required_n"].astype(float)]
    _table["documents"] = [f"{n:,}{needed}" for n, needed in zip(_table["n"], _needed, strict=True)]
    _table["metric"] = _table["metric"].str.replace("_", " ")
    mo.ui.table(
        _table[list(_shown)].rename(columns=_shown),
        page_size=12,
        selection=None,
        show_column_summaries=False,
        show_data_types=False,
        format_mapping={
            "change": "{:+.4f}",
            "p": _p,
            "band ±": _known,
            "detectable": _known,
        },
    )
    return


if __name__ == "__main__":
    app.run()
