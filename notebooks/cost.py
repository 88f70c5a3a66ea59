import marimo

__generated_with = "0.25.2"
app = marimo.App(width="full", app_title="What does a point cost")


@app.cell
def _():
    from html import escape

    import marimo as mo
    import pandas as pd

    from dojo_kit import InputError, formats, load_labels, read_run, score_run
    from dojo_kit.analysis.billing import assign_bill
    from dojo_kit.analysis.cost_front import cost_fronts, scored_cost
    from dojo_kit.analysis.costs import cost_report
    from dojo_kit.charts import markup
    from dojo_kit.charts.costs import cost_against_score, run_costs
    from dojo_kit.records import ExtractionRow
    from dojo_kit.runs.activity import read_activity
    from dojo_kit.samples import sample_data
    from dojo_widgets import Finding

    return (
        Finding,
        ExtractionRow,
        InputError,
        assign_bill,
        cost_against_score,
        cost_fronts,
        cost_report,
        escape,
        formats,
        load_labels,
        markup,
        mo,
        pd,
        read_activity,
        read_run,
        run_costs,
        sample_data,
        score_run,
        scored_cost,
    )


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    # What does a point of score cost?

    Tokens times price, beside what the provider stated. A model without a price has an unknown cost, and a sum that holds
    one is unknown as a whole. Rows that were replayed from a checkpoint cost nothing here; a figure that fills them in is
    marked as extrapolated.
    """)
    return


@app.cell
def _(mo, sample_data):
    # Parameters after `--` on the command line: --runs (paths with commas between), --labels, --activity.
    args = mo.cli_args()
    _samples = sorted((sample_data() / "runs").glob("extraction_*.json"))
    paths = str(args["runs"]).split(",") if args.get("runs") else list(map(str, _samples))
    labels_path = args.get("labels") or (None if args.get("runs") else str(sample_data() / "labels.json"))
    activity_path = args.get("activity")
    return activity_path, labels_path, paths


@app.cell
def _(cost_report, paths, read_run):
    runs = [read_run(path) for path in paths]
    report = cost_report(runs)
    return report, runs


@app.cell(hide_code=True)
def _(Finding, formats, report):
    def _says(total) -> str:
        known = f"the known part is {formats.dollars(total.known_usd)}" if total.n_known else "nothing of it is known"
        return f"unknown ({total.note}; {known})" if total.usd is None else formats.dollars(total.usd)

    Finding(
        f"{formats.count(len(report.runs), 'run')}: estimated {_says(report.estimated)}, stated by the provider "
        f"{_says(report.billed)}",
        f"Packaged prices of {report.prices_as_of}, {report.prices_source}.",
        *report.notes,
    )
    return


@app.cell
def _(markup, mo, report, run_costs):
    mo.Html(markup(run_costs(report)))
    return


@app.cell
def _(formats, mo, report):
    _shown = {
        "name": "run",
        "model": "model",
        "rows_with_usage": "rows with usage",
        "prompt_tokens": "tokens read",
        "completion_tokens": "written",
        "estimated_usd": "estimated",
        "billed_usd": "stated",
        "note": "remarks",
    }
    _costs = report.frame()
    _table = _costs[_costs["stage"] == "total"][list(_shown)].rename(columns=_shown).fillna({"remarks": ""})
    mo.ui.table(
        _table,
        page_size=10,
        selection=None,
        show_column_summaries=False,
        show_data_types=False,
        format_mapping=dict.fromkeys(("estimated", "stated"), formats.dollars),
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Which runs are worth their money?

    Of runs over the same documents, a run is on the line when no other is at least as good for at most the same money. The
    line follows point values: where intervals overlap, it proves no difference; reruns of one setting are points of their
    own.
    """)
    return


@app.cell
def _(
    ExtractionRow,
    InputError,
    cost_fronts,
    labels_path,
    load_labels,
    report,
    runs,
    score_run,
    scored_cost,
):
    _labels = load_labels(labels_path) if labels_path else None
    _scored = []
    unscored = []
    for _run, _cost in zip(runs, report.runs, strict=True):
        _extracts = isinstance(_run.rows[0], ExtractionRow) and _labels is not None
        try:
            _scored.append(scored_cost(_cost, score_run(_run, _labels) if _extracts else _run))
        except InputError as error:
            unscored.append(f"{_run.name}: {error}")
    fronts = cost_fronts(_scored)
    return fronts, unscored


@app.cell
def _(cost_against_score, escape, fronts, markup, mo, unscored):
    _charts = [mo.Html(markup(cost_against_score(front))) for front in fronts]
    _without = "".join(f"<li>{escape(text)}</li>" for text in unscored)
    _none = "" if fronts else "<p>No two runs are over the same documents.</p>"
    mo.vstack([*_charts, mo.Html(f"{_none}<ul>{_without}</ul>")])
    return


@app.cell
def _(formats, fronts, mo, pd):
    _columns = {
        "run": "run",
        "model": "model",
        "prompt_version": "prompt",
        "cost": "a document",
        "score": "score",
        "score_lo": "from",
        "score_hi": "to",
        "n": "n",
        "beaten_by": "beaten by",
    }
    _frames = [front.frame()[list(_columns)] for front in fronts] or [pd.DataFrame(columns=list(_columns))]
    points = pd.concat(_frames).rename(columns=_columns).fillna({"beaten by": ""}).reset_index(drop=True)
    mo.ui.table(
        points,
        page_size=10,
        selection=None,
        show_column_summaries=False,
        show_data_types=False,
        format_mapping={"a document": formats.dollars, **dict.fromkeys(("score", "from", "to"), formats.number)},
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## What did the provider bill?

    An export knows generations, not runs: each is given to the first run of its model that ended at or after it. Where the
    tokens billed are not those a run recorded, the bill is mixed with another run's.
    """)
    return


@app.cell
def _(activity_path, assign_bill, formats, mo, read_activity, report):
    _bill = assign_bill(read_activity(activity_path).generations, report.runs) if activity_path else None
    _shown = ["run", "model", "n_generations", "billed_usd", "estimated_usd", "mixed", "note"]
    (
        mo.md("No export was given (`--activity`).")
        if _bill is None
        else mo.ui.table(
            _bill.frame()[_shown],
            selection=None,
            show_column_summaries=False,
            show_data_types=False,
            format_mapping=dict.fromkeys(("billed_usd", "estimated_usd"), formats.dollars),
        )
    )
    return


if __name__ == "__main__":
    app.run()
