import marimo

__generated_with = "0.25.2"
app = marimo.App(width="full", app_title="ContractEval")


@app.cell
def _():
    import marimo as mo
    import pandas as pd

    from dojo_kit import charts, formats, published_table, read_run, score_contracteval
    from dojo_kit.records import QuestionRow
    from dojo_kit.views import answer_table, category_table, contracteval_metric_table
    from dojo_kit.views.contracteval_tables import CORRECTION_NAMES, correction_says, weakest_category, wrong_words
    from dojo_widgets import Finding

    plain = {"selection": None, "show_column_summaries": False, "show_data_types": False, "show_download": False}
    return (
        CORRECTION_NAMES,
        Finding,
        QuestionRow,
        answer_table,
        category_table,
        charts,
        contracteval_metric_table,
        correction_says,
        formats,
        mo,
        pd,
        plain,
        published_table,
        read_run,
        score_contracteval,
        weakest_category,
        wrong_words,
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
    run_name = getattr(answers, "name", "Answers written for this notebook")
    answer_rows = getattr(answers, "rows", answers)
    return answer_rows, answers, run_name


@app.cell
def _(answers, score_contracteval):
    paper = score_contracteval(answers, mode="paper")
    corrected = score_contracteval(answers, mode="corrected")
    return corrected, paper


@app.cell(hide_code=True)
def _(Finding, corrected, formats, paper, run_name):
    # Names of runs and contracts come from outside: shown as text, never as markdown.
    Finding(
        f"{run_name}: F1 {formats.estimate(paper.f1)} as published, {formats.estimate(corrected.f1)} corrected; "
        f"{len(paper.differences)} of {len(paper.rows)} pairs judged otherwise",
        "Intervals draw whole contracts. What not to conclude: a sample of the split is no row of the published table.",
        *(f"\N{BULLET} {warning[:1].upper()}{warning[1:]}." for warning in paper.warnings),
    )
    return


@app.cell
def _(contracteval_metric_table, corrected, formats, mo, paper, pd, plain):
    _readings = {"as published": paper, "corrected": corrected}
    _counts = pd.DataFrame(
        [
            {"reading": name, **{key: getattr(scores, key.lower()) for key in ("TP", "TN", "FP", "FN")}}
            for name, scores in _readings.items()
        ]
    )
    _metrics = contracteval_metric_table(paper, corrected)
    metrics = _metrics.assign(
        paper=_metrics["paper"].map(formats.estimate), corrected=_metrics["corrected"].map(formats.estimate)
    ).rename(columns={"paper": "as published", "measures": "what it measures"})
    mo.vstack(
        [
            mo.ui.table(_counts, pagination=False, show_search=False, **plain),
            mo.ui.table(metrics, pagination=False, wrapped_columns=["what it measures"], **plain),
        ]
    )
    return (metrics,)


@app.cell(hide_code=True)
def _(CORRECTION_NAMES, Finding, correction_says, paper):
    _found = paper.difference_counts
    Finding(
        "Which answers are judged otherwise, and why?",
        "One correction after another is applied; the last one that changed the outcome is named."
        if _found
        else "Both readings agree on every pair.",
        *(f"\N{BULLET} {CORRECTION_NAMES.get(name, name)}, {n}: {correction_says(name)}" for name, n in _found.items()),
    )
    return


@app.cell
def _(answer_rows, answer_table, mo, paper, plain):
    _pairs = answer_table(paper, answer_rows, rows=paper.differences, most=240)
    differing = _pairs.assign(
        pair=_pairs["contract"] + ", " + _pairs["category"],
        readings=_pairs["paper"] + " \N{RIGHTWARDS ARROW} " + _pairs["corrected"],
    )[["pair", "readings", "correction", "labels", "answer"]]
    mo.ui.table(
        differing,
        page_size=8,
        wrapped_columns=["pair", "correction", "labels", "answer"],
        column_widths={"pair": 180, "readings": 90, "correction": 210, "labels": 240, "answer": 240},
        **plain,
    )
    return (differing,)


@app.cell(hide_code=True)
def _(Finding, category_table, corrected, weakest_category):
    Finding(
        "Which categories are lost?",
        f"{weakest_category(category_table(corrected))}. Recall with its Wilson interval: a contract is asked once per "
        "category, so its pairs are independent. Categories with fewer than 5 labelled pairs come last.",
    )
    return


@app.cell
def _(category_table, corrected, formats, mo, plain):
    _categories = category_table(corrected)
    categories = _categories.assign(
        recall=_categories["recall"].map(formats.estimate), f1=_categories["f1"].map(formats.number)
    )[["category", "labelled", "recall", "tp", "tn", "fp", "fn", "f1", "remarks"]].rename(
        columns={name: name.upper() for name in ("tp", "tn", "fp", "fn", "f1")}
    )
    mo.ui.table(categories, page_size=12, **plain)
    return (categories,)


@app.cell(hide_code=True)
def _(Finding, corrected, wrong_words):
    Finding(
        wrong_words(corrected),
        "Questions with a label come first, the least similar answer first; similarity is that of the words of answer "
        "and labels.",
    )
    return


@app.cell
def _(answer_rows, answer_table, corrected, formats, mo, plain):
    # Select a row to read its label and answer whole.
    _wrong = answer_table(corrected, answer_rows, most=240)
    wrong = _wrong.assign(
        pair=_wrong["contract"] + ", " + _wrong["category"],
        outcome=_wrong["outcome"] + ": " + _wrong["why"],
        similarity=[formats.number(value, digits=2) for value in _wrong["similarity"]],
    )[["pair", "outcome", "similarity", "labels", "answer"]]
    wrong_shown = mo.ui.table(
        wrong,
        page_size=6,
        wrapped_columns=["pair", "labels", "answer"],
        column_widths={"pair": 180, "outcome": 170, "similarity": 80, "labels": 250, "answer": 250},
        **(plain | {"selection": "single", "initial_selection": [0] if len(wrong) else []}),
    )
    wrong_shown
    return (wrong_shown,)


@app.cell(hide_code=True)
def _(Finding, answer_rows, answer_table, corrected, wrong_shown):
    _whole = answer_table(corrected, answer_rows).loc[wrong_shown.value.index]
    Finding(
        "",
        *(
            sentence
            for row in _whole.to_dict("records")
            for sentence in (
                f"Selected: {row['contract']}, {row['category']}, {row['outcome']}: {row['why']}",
                f"Label: {row['labels']}",
                f"Answer: {row['answer']}",
            )
        ),
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
def _(formats, mo, pd, plain, table):
    _written = [
        {
            "model": row.model,
            "F1": formats.estimate(row.f1),
            "F2": formats.estimate(row.f2),
            **{
                name: f"{ends[0]:,} to {ends[1]:,}" if ends else formats.UNKNOWN
                for name, ends in (("TP", row.tp), ("FP", row.fp), ("place", row.rank))
            },
        }
        for row in table.rows
    ]
    published = pd.DataFrame(_written)
    mo.ui.table(published, page_size=19, **plain)
    return (published,)


@app.cell(hide_code=True)
def _(Finding, table):
    _ties = int(table.differences["tie"].sum())
    Finding(
        "",
        f"{_ties} of {len(table.differences)} pairs of models may be tied by F1. Assumed:",
        *(f"\N{BULLET} {assumption}" for assumption in table.assumptions),
    )
    return


if __name__ == "__main__":
    app.run()
