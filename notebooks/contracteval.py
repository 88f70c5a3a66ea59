import marimo

__generated_with = "0.25.2"
app = marimo.App(width="full", app_title="ContractEval")


@app.cell
def _():
    from html import escape

    import marimo as mo
    import pandas as pd

    from dojo_kit import charts, formats, published_table, read_run, score_contracteval
    from dojo_kit.records import QuestionRow
    from dojo_kit.tasks.contracteval import CORRECTIONS

    return (
        CORRECTIONS,
        QuestionRow,
        charts,
        escape,
        formats,
        mo,
        pd,
        published_table,
        read_run,
        score_contracteval,
    )


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    # ContractEval: as published, and corrected

    ContractEval asks for the sentences of a contract that answer a question, or for *No related clause*. Its script
    has quirks: the refusal counts wherever it stands, a failed call is an empty answer, and a rate is divided by the
    size of the full split. Both readings are made of every answer here, and every difference has a name.
    """)
    return


@app.cell
def _(QuestionRow, mo, read_run):
    # Parameter: --run after `--` on the command line; without it, answers written for this notebook.
    args = mo.cli_args()
    _asked = (
        ("Lease", "Governing Law", ("laws of Ohio",), "This lease is governed by the laws of Ohio."),
        ("Lease", "Insurance", (), "No related clause."),
        (
            "Lease",
            "Cap On Liability",
            ("liability is limited to the fees",),
            "<think>liability is limited to the fees</think>No related clause.",
        ),
        ("Licence", "Governing Law", ("laws of New  York",), "Governed by the laws of New York."),
        ("Licence", "Audit Rights", (), "The licensor may audit. No related clause."),
        ("Licence", "Insurance", ("Licensee shall insure",), "Licensee shall keep insurance."),
        ("Supply", "Governing Law", (), "The parties agree to negotiate."),
        ("Supply", "Warranty Duration", ("warranty of two years",), "There is a warranty of two years."),
    )
    _rows = [
        QuestionRow(f"{title}__{category}", title=title, category=category, label_spans=spans, predicted=answer)
        for title, category, spans, answer in _asked
    ]
    answers = read_run(args["run"]) if args.get("run") else _rows
    run_name = getattr(answers, "name", "answers written for this notebook")
    return answers, run_name


@app.cell
def _(answers, score_contracteval):
    paper = score_contracteval(answers, mode="paper")
    corrected = score_contracteval(answers, mode="corrected")
    return corrected, paper


@app.cell(hide_code=True)
def _(corrected, escape, formats, mo, paper, run_name):
    # Names of runs and contracts come from outside: shown as text, never as markdown.
    _title = (
        f"{run_name}: F1 {formats.estimate(paper.f1)} as published, {formats.estimate(corrected.f1)} corrected; "
        f"{len(paper.differences)} of {len(paper.rows)} pairs judged otherwise"
    )
    _warnings = "".join(f"<li>{escape(warning)}</li>" for warning in paper.warnings)
    mo.Html(
        f"<h2>{escape(_title)}</h2><p>Intervals draw whole contracts. What not to conclude: a sample of the split is no "
        f"row of the published table.</p><ul>{_warnings}</ul>"
    )
    return


@app.cell
def _(corrected, formats, mo, paper, pd):
    _readings = {"as published": paper, "corrected": corrected}
    _counts = {
        name: {key: getattr(scores, key.lower()) for key in ("TP", "TN", "FP", "FN")}
        for name, scores in _readings.items()
    }
    _metrics = pd.DataFrame(
        [
            {
                "metric": metric,
                **{name: formats.estimate(scores.estimates[metric]) for name, scores in _readings.items()},
            }
            for metric in paper.estimates
        ]
    )
    mo.vstack([mo.plain_text(pd.DataFrame(_counts).T.to_string()), mo.plain_text(_metrics.to_string(index=False))])
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Which answers are judged otherwise, and why?

    One correction after another is applied; the last one that changed the outcome is named.
    """)
    return


@app.cell(hide_code=True)
def _(CORRECTIONS, escape, mo, paper):
    _listed = [
        f"<li><b>{escape(name)}</b>: {n}, {escape(CORRECTIONS.get(name, 'a failed call is no answer'))}</li>"
        for name, n in paper.difference_counts.items()
    ]
    mo.Html(f"<ul>{''.join(_listed)}</ul>" if _listed else "<p>Both readings agree on every pair.</p>")
    return


@app.cell
def _(mo, paper):
    mo.ui.table(
        paper.differences[["contract", "category", "paper", "corrected", "difference"]],
        page_size=8,
        selection=None,
        show_column_summaries=False,
        show_data_types=False,
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Which categories are lost?

    Recall with its Wilson interval: a contract is asked once per category, so its pairs are independent.
    """)
    return


@app.cell
def _(corrected, formats, mo):
    _columns = ["short", "n_pairs", "n_positive", "tp", "tn", "fp", "fn", "recall", "recall_lo", "recall_hi", "f1"]
    mo.ui.table(
        corrected.categories[_columns],
        page_size=12,
        selection=None,
        show_column_summaries=False,
        show_data_types=False,
        format_mapping=dict.fromkeys(("recall", "recall_lo", "recall_hi", "f1"), formats.number),
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## How sure is the published table?

    The paper prints F1 and F2 to three digits and no counts. Only a few whole numbers of true and false positives give
    both; the whiskers cover all of them.
    """)
    return


@app.cell
def _(charts, corrected, mo, published_table, run_name):
    table = published_table()
    mo.Html(charts.markup(charts.published_scores(table, corrected, name=run_name)))
    return (table,)


@app.cell
def _(mo, table):
    _columns = [
        "model",
        "f1",
        "f1_lo",
        "f1_hi",
        "f2",
        "tp_min",
        "tp_max",
        "fp_min",
        "fp_max",
        "rank_best",
        "rank_worst",
    ]
    mo.ui.table(
        table.frame()[_columns],
        page_size=19,
        selection=None,
        show_column_summaries=False,
        show_data_types=False,
        format_mapping=dict.fromkeys(("f1", "f1_lo", "f1_hi", "f2"), "{:.3f}"),
    )
    return


@app.cell(hide_code=True)
def _(escape, mo, table):
    _assumed = "".join(f"<li>{escape(assumption)}</li>" for assumption in table.assumptions)
    _ties = int(table.differences["tie"].sum())
    mo.Html(
        f"<p>{_ties} of {len(table.differences)} pairs of models may be tied by F1. Assumed:</p><ul>{_assumed}</ul>"
    )
    return


if __name__ == "__main__":
    app.run()
