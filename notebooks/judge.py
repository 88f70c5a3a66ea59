import marimo

__generated_with = "0.25.2"
app = marimo.App(width="full", app_title="Can the judge be trusted")


@app.cell
def _():
    from hashlib import sha256

    import marimo as mo
    import pandas as pd

    from dojo_kit import formats, load_labels, read_run, score_run
    from dojo_kit.analysis.judging import CORRECTNESS, Judgment, calibrate_judge
    from dojo_kit.charts import markup
    from dojo_kit.charts.judging import judge_lean, judge_table
    from dojo_kit.runs.judgments import read_judgments
    from dojo_kit.samples import sample_data
    from dojo_widgets import Finding

    return (
        CORRECTNESS,
        Finding,
        Judgment,
        calibrate_judge,
        formats,
        judge_lean,
        judge_table,
        load_labels,
        markup,
        mo,
        pd,
        read_judgments,
        read_run,
        sample_data,
        score_run,
        sha256,
    )


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    # Can the judge be trusted where the score is in doubt?

    Documents with a field score between 0.5 and 0.85 are shown to a second model. Before its verdicts replace scores,
    they are held against those scores that leave no doubt: strong ones should be called accurate, weak ones inaccurate.
    """)
    return


@app.cell
def _(mo):
    # Parameters: --judgments, --judge and --experiment after `--` on the command line.
    args = mo.cli_args()
    path = args.get("judgments")
    chosen = {"judge": args.get("judge"), "experiment": args.get("experiment")}
    return chosen, path


@app.cell
def _(CORRECTNESS, Judgment, load_labels, read_judgments, read_run, sample_data, score_run, sha256):
    def made_up(run: str) -> list[Judgment]:
        """Judge a sample run by its scores, one step kinder or harder for every third document by its name."""
        scored = score_run(read_run(sample_data() / "runs" / run), load_labels(sample_data() / "labels.json"))
        fields = scored.fields[scored.fields["ambiguous"].fillna(False).astype(bool)]
        overall = scored.documents.set_index("document")["overall"]
        judged = []
        for name, group in fields.groupby("document"):
            lot = int(sha256(name.encode()).hexdigest(), 16) % 6
            step = (0 if overall[name] >= 0.85 else 1) + {0: -1, 1: 1}.get(lot, 0)
            verdict = CORRECTNESS[min(max(step, 0), 2)]
            judged.append(Judgment(name, overall[name], verdict, tuple(group["field"]), judge="made up"))
        return judged

    def judgments_of(path: str | None) -> tuple[str, int, list[Judgment]]:
        """Read a file of judgments, or make some up where none is named."""
        if path is None:
            return "judgments made up for this notebook", 0, made_up("extraction_v1_small.json")
        found = read_judgments(path)
        return found.source, found.n_duplicates, list(found.extractions)

    return (judgments_of,)


@app.cell
def _(calibrate_judge, chosen, judgments_of, path):
    source, n_duplicates, judgments = judgments_of(path)
    found = calibrate_judge(judgments, **chosen)
    return found, n_duplicates, source


@app.cell(hide_code=True)
def _(Finding, formats, found, n_duplicates, source):
    _left_out = (
        f", {formats.count(n_duplicates, 'earlier line')} of the same documents left out" if n_duplicates else ""
    )
    Finding(
        f"Judge and score agree on {formats.estimate(found.decisive_agreement)} of the documents that decide, "
        f"kappa {formats.estimate(found.kappa)}",
        f"{source}: {formats.count(found.n_judged, 'document')} judged, {found.n_scored} with a verdict and a score, "
        f"{found.n_errors} without a verdict{_left_out}.",
    )
    return


@app.cell
def _(found, judge_table, markup, mo):
    mo.Html(markup(judge_table(found)))
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Which figure says what?

    The *published agreement* counts documents with a middling score and verdicts of *partial*, which cannot agree, so it
    is low by construction. *Agreement where both decide* leaves them out. *Kappa* is agreement beyond chance over the
    whole table; where nearly all scores are strong, chance alone agrees often, and kappa is low or undefined.
    """)
    return


@app.cell
def _(formats, found, mo, pd):
    _words = {
        "agree_rate": "published agreement",
        "decisive_agreement": "agreement where both decide",
        "kappa_weighted": "kappa, near misses count half",
        "lean": "lean (kinder above 0)",
    }
    figures = pd.DataFrame(
        [
            {
                "figure": _words.get(name, name.replace("_", " ")),
                "value": formats.number(estimate.value),
                "95 % interval": formats.interval(estimate),
                "n": estimate.n,
                "note": estimate.note or ", ".join(estimate.flags),
            }
            for name, estimate in found.estimates.items()
        ]
    )
    mo.ui.table(figures, selection=None, show_column_summaries=False, show_data_types=False)
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Where does it lean?

    Above zero the judge is kinder than the score. A verdict is about a whole document: a field's lean is that of the
    documents in which it was in doubt.
    """)
    return


@app.cell
def _(found, judge_lean, markup, mo):
    mo.Html(markup(judge_lean(found)))
    return


@app.cell
def _(found, mo):
    _columns = ["field", "n", "accurate", "partial", "inaccurate", "strict", "lenient", "lean"]
    _fields = found.by_field[_columns].round(3)
    _fields["field"] = _fields["field"].str.replace("_", " ")
    mo.ui.table(_fields, selection=None, show_column_summaries=False, show_data_types=False)
    return


if __name__ == "__main__":
    app.run()
