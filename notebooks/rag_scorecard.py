import marimo

__generated_with = "0.25.2"
app = marimo.App(width="full", app_title="How good are retrieval and answers?")


@app.cell
def _():
    import marimo as mo
    import pandas as pd

    from dojo_kit import formats
    from dojo_kit.analysis.rag_compare import compare_systems
    from dojo_kit.charts import markup
    from dojo_kit.charts.rag import metric_intervals, query_spread, spread_finding
    from dojo_kit.rag.cells import id_texts
    from dojo_kit.rag.tasks import OPTIONAL_COLUMNS, RECORD, SYSTEM, TASK_NAMES, task_named
    from dojo_kit.runs.rag_evaluation import evaluate, read_labels
    from dojo_kit.runs.rag_files import LABELS_BY, read_label_texts
    from dojo_kit.runs.rag_settings import eval_settings
    from dojo_kit.samples import sample_data
    from dojo_kit.views.rag import (
        WORDS,
        count_sentences,
        explained,
        metric_rows,
        query_text,
        says_comparison,
        says_scores,
        shown_context,
        unit_rows,
        worst_queries,
    )
    from dojo_widgets import Finding

    return (
        Finding,
        LABELS_BY,
        OPTIONAL_COLUMNS,
        RECORD,
        SYSTEM,
        TASK_NAMES,
        WORDS,
        compare_systems,
        count_sentences,
        eval_settings,
        evaluate,
        explained,
        formats,
        id_texts,
        markup,
        metric_intervals,
        metric_rows,
        mo,
        pd,
        query_spread,
        query_text,
        read_label_texts,
        read_labels,
        sample_data,
        says_comparison,
        says_scores,
        shown_context,
        spread_finding,
        task_named,
        unit_rows,
        worst_queries,
    )


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    # How good are retrieval and answers?

    Labels of single chunks and answers become one value per query, and their mean a score. An interval says how far the
    score depends on which queries were drawn. It says nothing about wrong labels, and no score can be better than the
    panels it rests on: choose below what becomes of queries with labels missing.
    """)
    return


@app.cell
def _(TASK_NAMES, mo, sample_data):
    # Parameters after `--` on the command line: --task, and --path or --run (a file of labels) or --base-dir (a workspace, whose
    # latest export is taken).
    _args = mo.cli_args()
    given_path = _args.get("path") or _args.get("run")
    given_base = _args.get("base-dir") or ("." if given_path else str(sample_data() / "rag"))
    given_task = _args.get("task") or TASK_NAMES[0]
    return given_base, given_path, given_task


@app.cell(hide_code=True)
def _(TASK_NAMES, given_task, mo):
    task = mo.ui.dropdown(list(TASK_NAMES), value=given_task, label="task")
    incomplete = mo.ui.dropdown(["skip", "bounds", "as_is"], value="skip", label="incomplete queries")
    tie = mo.ui.dropdown(["drop", "positive", "negative", "first"], value="drop", label="tied votes")
    return incomplete, task, tie


@app.cell
def _(
    LABELS_BY,
    OPTIONAL_COLUMNS,
    SYSTEM,
    eval_settings,
    given_base,
    given_path,
    id_texts,
    incomplete,
    read_label_texts,
    read_labels,
    task,
    task_named,
    tie,
):
    settings = {
        "task": task.value,
        "path": given_path,
        "base_dir": given_base,
        "on_incomplete": incomplete.value,
        "on_violation": "as_is",
        "tie": tie.value,
    }
    source, table = read_labels(eval_settings(settings))
    systems = sorted(set(id_texts(table.frame[SYSTEM]))) if SYSTEM in table.frame else []
    # a column that neither names nor labels nor holds texts may group queries, as one with documents does
    _known = {*task_named(task.value).ids, *task_named(task.value).labels, *task_named(task.value).texts}
    _header = list(read_label_texts(source.path, task.value, []).columns)
    group_columns = [
        name for name in _header if name not in {*_known, *OPTIONAL_COLUMNS, LABELS_BY, "text", "text_pair"}
    ]
    return group_columns, settings, source, systems, table


@app.cell(hide_code=True)
def _(group_columns, incomplete, mo, systems, task, tie):
    system = mo.ui.dropdown(systems or ["not named"], value=(systems or ["not named"])[0], label="system")
    group = mo.ui.dropdown(["nothing", *group_columns], value="nothing", label="group queries by")
    mo.vstack(
        [
            mo.hstack([task, system, group, incomplete, tie], justify="start", gap=1, wrap=True),
            mo.md(
                "Decided labels that contradict each other are scored as they are and counted (`on_violation` is "
                "`as_is`). Group queries that share a document, for one, since they are not independent: intervals "
                "then are over groups."
            ),
        ]
    )
    return group, system


@app.cell
def _(
    eval_settings,
    evaluate,
    group,
    read_labels,
    settings,
    source,
    system,
    systems,
    table,
):
    _group_by = None if group.value == "nothing" else group.value
    _grouped = settings | {"group_by": _group_by}
    _read = (source, table) if _group_by is None else read_labels(eval_settings(_grouped))

    def scored(name):
        return evaluate(eval_settings(_grouped | {"system": name}), read=_read)

    evaluation = scored(system.value if systems else None)
    card = evaluation.card
    return card, evaluation, scored


@app.cell(hide_code=True)
def _(Finding, card, count_sentences, evaluation, says_scores):
    Finding(
        says_scores(card),
        "; ".join((f"labels: {evaluation.source.shown}", *evaluation.notes, *card.flags)) + ".",
        *(f"{sentence}." for sentence in count_sentences(card)),
    )
    return


@app.cell
def _(card, markup, metric_intervals, mo):
    mo.Html(markup(metric_intervals(card, title="Metrics with their intervals")))
    return


@app.cell
def _(card, explained, metric_rows, mo, pd):
    _rows = [
        {
            "metric": row["words"],
            "value": f"{row['value']} {row['interval']}".strip(),
            "remarks": row["says"],
            "n": row["n"],
            "measures": row["measures"],
        }
        for row in metric_rows(card)
    ]
    mo.vstack(
        [
            mo.ui.table(
                pd.DataFrame(_rows),
                selection=None,
                wrapped_columns=["measures"],
                show_column_summaries=False,
                show_data_types=False,
            ),
            mo.md("  \n".join(explained(card))),
        ]
    )
    return


@app.cell(hide_code=True)
def _(Finding, card, spread_finding):
    Finding(spread_finding(card), "A mean hides whether all queries are middling or some fail outright.")
    return


@app.cell
def _(card, markup, mo, query_spread):
    mo.Html(markup(query_spread(card, title="Values of single queries")))
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## The queries that come off worst

    By the mean of all metrics, each turned so that higher is better; where labels are missing, by the middle between the
    least and the greatest value that each could have. Choose one to see its chunks. Dissent counts the labels on which
    the annotators did not all agree.
    """)
    return


@app.cell
def _(
    RECORD,
    card,
    evaluation,
    formats,
    mo,
    pd,
    query_text,
    read_label_texts,
    worst_queries,
):
    worst = worst_queries(card, 30)
    texts = read_label_texts(
        evaluation.source.path,
        card.task,
        [str(name) for name in worst[RECORD]],
        system=card.system,
        run=card.run,
        generic=evaluation.source.labels_by == "model",
    )
    _rows = [
        {
            "query": row[RECORD],
            "text": query_text(card, str(row[RECORD]), texts) or "(empty)",
            "mean (1 is best)": formats.number(row["goodness"], digits=2),
            "status": row["status"],
            "missing": int(row["n_missing"]),
        }
        for row in worst.to_dict("records")
    ]
    chosen = mo.ui.table(
        pd.DataFrame(_rows),
        selection="single",
        initial_selection=[0],
        page_size=8,
        wrapped_columns=["text"],
        show_column_summaries=False,
        show_data_types=False,
    )
    chosen
    return chosen, texts


@app.cell(hide_code=True)
def _(Finding, card, chosen, query_text, texts):
    _query = str(chosen.value["query"].iloc[0]) if len(chosen.value) else ""
    Finding("", f"Selected: {_query}: {query_text(card, _query, texts)}" if _query else "Selected: no query")
    return


@app.cell
def _(card, chosen, mo, pd, shown_context, task_named, texts, unit_rows):
    _ranked = task_named(card.task).ranked
    _units = unit_rows(card, str(chosen.value["query"].iloc[0]), texts) if len(chosen.value) else []
    _rows = [
        {
            **({"rank": unit["rank"]} if _ranked else {}),
            "text": shown_context(unit["text"]) or "(empty)",
            "labels": "no decided label" if unit["labels"] is None else ", ".join(unit["labels"]) or "none",
            **({"chunk": unit["id"]} if _ranked else {}),
            "votes": unit["votes"],
            "dissent": unit["dissent"],
        }
        for unit in _units
    ]
    mo.ui.table(
        pd.DataFrame(_rows),
        selection=None,
        page_size=20,
        wrapped_columns=["labels", "text"],
        show_column_summaries=False,
        show_data_types=False,
    ) if _rows else mo.md("Nothing was retrieved, or no query is chosen.")
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Is one system better than the other?

    Two intervals that overlap do not answer that: both systems are asked the same queries, so the difference is taken
    query by query. p is corrected for the number of metrics.
    """)
    return


@app.cell
def _(card, compare_systems, incomplete, scored, system, systems):
    comparison = None
    if len(systems) == 2 and incomplete.value != "bounds":
        _other = next(name for name in systems if name != system.value)
        comparison = compare_systems(scored(_other).card, card, names=(_other, system.value))
    return (comparison,)


@app.cell(hide_code=True)
def _(Finding, comparison, says_comparison):
    Finding(
        says_comparison(comparison) if comparison else "Nothing to compare here",
        "; ".join(comparison.notes) + "."
        if comparison
        else "It takes two systems in the file, and a value for every query: choose another rule for incomplete ones.",
    )
    return


@app.cell
def _(WORDS, comparison, formats, mo, pd):
    def _signed(value):
        return formats.UNKNOWN if value is None else f"{value:+.3f}"

    _rows = [
        {
            "metric": WORDS[name][0],
            comparison.names[0]: formats.estimate(one.a),
            comparison.names[1]: formats.estimate(one.b),
            "better by": _signed(one.delta.value),
            "interval": f"[{_signed(one.delta.lo)}, {_signed(one.delta.hi)}]",
            "p": formats.number(one.p_holm),
            "n": one.delta.n,
            "verdict": one.verdict,
        }
        for name, one in (comparison.metrics.items() if comparison else ())
    ]
    mo.ui.table(pd.DataFrame(_rows), selection=None, show_column_summaries=False, show_data_types=False)
    return


@app.cell(hide_code=True)
def _(Finding, card):
    Finding("What the intervals cover", card.scope)
    return


if __name__ == "__main__":
    app.run()
