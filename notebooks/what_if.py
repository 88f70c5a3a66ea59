import marimo

__generated_with = "0.25.2"
app = marimo.App(width="full", app_title="What would more votes buy?")


@app.cell
def _():
    from pathlib import Path

    import marimo as mo

    from dojo_kit import formats
    from dojo_kit.charts import markup
    from dojo_kit.charts.what_if import committee_accuracy, confusion_flows, escalation_front, failure_sweep
    from dojo_kit.runs.corpus_files import load_corpus, read_corpus
    from dojo_kit.samples import sample_data
    from dojo_kit.simulate import answers_of, committee, escalate, exemplars, failures, summarise, votes_of
    from dojo_kit.views import what_if_words as wording
    from dojo_kit.views.what_if import outcome_at
    from dojo_widgets import Finding, WhatIf, show
    from dojo_widgets.what_if import CONTROLS

    plain = {"selection": None, "show_column_summaries": False, "show_data_types": False, "show_download": False}
    return (
        CONTROLS,
        Finding,
        Path,
        WhatIf,
        answers_of,
        committee,
        committee_accuracy,
        confusion_flows,
        escalate,
        escalation_front,
        exemplars,
        failure_sweep,
        failures,
        formats,
        load_corpus,
        markup,
        mo,
        outcome_at,
        plain,
        read_corpus,
        sample_data,
        show,
        summarise,
        votes_of,
        wording,
    )


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    # What would more votes, a stronger model or retries buy?

    Every stored run is a vote that was paid for. Drawing from them again tells, at no cost, what a committee of K votes
    would get right, what sending the least sure documents elsewhere would add, and how many documents would stay
    without an answer.
    """)
    return


@app.cell
def _(mo, sample_data):
    # Parameters after `--` on the command line: --run, a folder of runs, a run or a corpus that `dojo whatif corpus --out`
    # wrote; --task; --stronger, a run id or model whose real answers escalated documents get.
    args = mo.cli_args()
    runs_path = args.get("run") or str(sample_data() / "runs")
    task = args.get("task") or "subtype"
    stronger = args.get("stronger") or None
    return runs_path, stronger, task


@app.cell
def _(Path, load_corpus, read_corpus, runs_path):
    corpus = load_corpus(runs_path) if Path(runs_path).suffix == ".parquet" else read_corpus([runs_path])
    return (corpus,)


@app.cell(hide_code=True)
def _(Finding, corpus, formats, summarise, task):
    _all = summarise(corpus, task=task)
    Finding(
        f"{formats.count(_all.n_rows, 'row')} of task {task} in {formats.count(_all.n_runs, 'run')}",
        f"{formats.count(_all.n_failed, 'call')} failed, {_all.n_disguised:,} of them stored as completed, and "
        f"{formats.count(_all.n_replays, 'answer')} taken over from earlier runs: these are no votes.",
        *corpus.notes,
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Move a slider

    The pool says whose votes they are: of all runs, of one prompt's models, of one prompt, or reruns of one setting.
    Everything was computed before, so a move looks up and adds; the cells below follow when you let go.
    """)
    return


@app.cell
def _(WhatIf, corpus, show, stronger, task):
    what_if = show(WhatIf(corpus, task, stronger=stronger))
    what_if
    return (what_if,)


@app.cell(hide_code=True)
def _(CONTROLS, Finding, formats, outcome_at, what_if, wording):
    place = {name: getattr(what_if, name) for name in CONTROLS}
    outcome = outcome_at(what_if.data, place)
    Finding(
        "",
        f"Selected: {formats.count(place['votes'], 'vote')} of pool {place['pool']}, {wording.share(place['alpha'])} escalated: "
        f"accuracy {outcome['accuracy']:.3f}, {outcome['cost']:.2f} calls a document. "
        "With ever more votes alone it tends to "
        f"{next(_one for _one in what_if.data['pools'] if _one['key'] == place['pool'])['limit']['value']:.3f}.",
    )
    return (place,)


@app.cell
def _(answers_of, corpus, place, stronger, task, votes_of):
    _rows = corpus.of_task(task)
    _of = _rows["run_id"][(_rows["run_id"] == stronger) | (_rows["model"] == stronger)].unique().tolist()
    votes = votes_of(corpus, task, pool=place["pool"], without_runs=_of)
    answers = answers_of(corpus, task, run_ids=_of) if _of else None
    return answers, votes


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Which labels do votes help?

    A label that most runs get wrong gets worse with more votes. Labels of fewer than 5 documents say little.
    """)
    return


@app.cell
def _(committee, committee_accuracy, markup, mo, plain, votes):
    _found = committee(votes)
    by_label = (
        _found.per_class.pivot_table(index=["label", "n"], columns="k", values="accuracy", sort=False)
        .round(3)
        .reset_index()
        .rename(columns=str)
    )
    mo.vstack([mo.Html(markup(committee_accuracy(_found))), mo.ui.table(by_label, page_size=8, **plain)])
    return (by_label,)


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Who would be escalated?

    The least sure documents first, by all stored votes: one paid vote could not rank them. Nothing in the ranking knows the truth: it is how the votes agree, how sure they say
    they are, and whether their reasons name another label.
    """)
    return


@app.cell
def _(answers, escalate, escalation_front, markup, mo, place, plain, votes):
    _found = escalate(votes, stronger=answers, escalated_cost=place["escalated_cost"])
    candidates = _found.candidates(place["alpha"]).round(3)
    mo.vstack(
        [mo.Html(markup(escalation_front(_found))), mo.ui.table(candidates, page_size=8, **plain)]
        if len(candidates)
        else [mo.Html(markup(escalation_front(_found))), mo.md("Nothing is escalated.")]
    )
    return (candidates,)


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## How many documents stay without an answer?

    Tries of one document are not independent when an outage hits a whole run; the truth lies between the two lines.
    """)
    return


@app.cell
def _(corpus, failure_sweep, failures, markup, mo, place, task):
    pipeline = failures(corpus, task=task, max_tries=place["tries"], fallback=0.97 if place["fallback"] else 0.0)
    mo.Html(markup(failure_sweep(pipeline)))
    return (pipeline,)


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Which worked examples may help?

    Right answers that considered the label others fell for. That half of the errors would be repaired is an assumption.
    """)
    return


@app.cell
def _(confusion_flows, corpus, exemplars, markup, mo, task):
    found = exemplars(corpus, task)
    _chosen = [f"{pair.expected}, not {pair.predicted}: may repair {pair.gain:.1f}" for pair in found.chosen]
    mo.vstack([mo.Html(markup(confusion_flows(found))), _chosen or mo.md("No example was found.")])
    return (found,)


if __name__ == "__main__":
    app.run()
