"""``dojo contracteval``: ContractEval scores of answers and of extractions, and the published table with error bars."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dojo_kit import formats
from dojo_kit.cli.inputs import ConfigOption, JsonOption, LabelsOption, OnError, OnErrorOption, SetOption, settings_from
from dojo_kit.cli.output import Column, build_table, estimates_table, out, print_json, report_problems, shown
from dojo_kit.cli.score_labels import print_reasons, print_run_name, records_of, run_recipe
from dojo_kit.stats.intervals import Estimate, scope_of
from dojo_kit.tasks.contracteval.scores import CONTRACTS

if TYPE_CHECKING:
    from dojo_kit.records import Run
    from dojo_kit.settings import Settings
    from dojo_kit.tasks.contracteval import ContractEvalScores, MappedContractEval, Mode, PublishedTable

contracteval_app = typer.Typer(
    no_args_is_help=True, help="ContractEval: answers as published and corrected, extractions, and Table III."
)

PaperOption = Annotated[bool, typer.Option("--paper", help="Read answers as the published script does.")]


@contracteval_app.command("score")
def score_answers(
    run: Annotated[str, typer.Argument(metavar="FILE", help="Answers: a run, or rows with label_spans and predicted.")],
    labels: Annotated[
        str | None,
        typer.Option("--labels", help="CUAD's test.json, where the file of answers holds no labels of its own."),
    ] = None,
    paper: PaperOption = False,
    set_: SetOption = None,
    config: ConfigOption = None,
    on_error: OnErrorOption = OnError.stop,
    json: JsonOption = False,
) -> None:
    """Score answers to ContractEval's questions, in the corrected reading or as published."""
    from dojo_kit.runs import answered_pairs, load_contracteval_pairs, read_run
    from dojo_kit.runs.typed_rows import QUESTION_TASK

    settings = settings_from(config, set_)
    if labels is None:
        answers = read_run(run, on_error=on_error.value, task=QUESTION_TASK)
    else:
        answers = answered_pairs(load_contracteval_pairs(labels, on_error=on_error.value), run, on_error=on_error.value)
    print_answers(answers, settings, mode="paper" if paper else "corrected", json=json)


@contracteval_app.command("map")
def map_extraction(
    run: Annotated[str, typer.Argument(metavar="RUN", help="An extraction run, or a chained one.")],
    labels: LabelsOption,
    paper: PaperOption = False,
    set_: SetOption = None,
    config: ConfigOption = None,
    on_error: OnErrorOption = OnError.stop,
    json: JsonOption = False,
) -> None:
    """Score a one-pass extraction as if it had been asked ContractEval's yes/no questions."""
    from dojo_kit.runs import load_labels, read_run
    from dojo_kit.tasks.contracteval import map_contracteval

    settings = settings_from(config, set_)
    loaded = read_run(run, on_error=on_error.value)
    expected = load_labels(labels, on_error=on_error.value)
    problems = (*loaded.problems, *expected.problems)
    report_problems(problems)
    mapped = map_contracteval(loaded, expected, mode="paper" if paper else "corrected", settings=settings)
    if json:
        recipe = run_recipe(loaded, settings) | {"labels": expected.fingerprint}
        listed = [asdict(problem) for problem in problems]
        print_json({"recipe": recipe, **mapped.as_dict(), "scope": scope_of(CONTRACTS), "problems": listed})
        return
    _print_mapped(loaded, mapped)


@contracteval_app.command("table")
def show_table(json: JsonOption = False) -> None:
    """Show the published Table III with the counts it allows, error bars and ties."""
    from dojo_kit.tasks.contracteval import published_table

    table = published_table()
    if json:
        print_json(table.as_dict())
        return
    _print_table(table)


def print_answers(run: Run, settings: Settings, *, mode: Mode, json: bool) -> None:
    """Score answers and print both readings, the chosen one in full.

    Args:
        run: Answers to questions about contracts.
        settings: Seed, replicates and level of the intervals.
        mode: The reading printed in full.
        json: Print one JSON object.
    """
    from dojo_kit.tasks.contracteval import score_contracteval

    scores = score_contracteval(run, mode=mode, settings=settings)
    other = score_contracteval(run, mode="corrected" if mode == "paper" else "paper", settings=settings)
    report_problems(run.problems)
    if json:
        print_json(answers_as_dict(run, settings, scores, other))
        return
    print_run_name(run)
    _print_counts(scores, other)
    out.print()
    out.print(estimates_table(scores.estimates.items(), title=f"{scores.mode} reading"))
    _print_categories(scores)
    _print_differences(scores)
    out.print(f"\n[dim]{scope_of(CONTRACTS)}[/]")


def answers_as_dict(
    run: Run, settings: Settings, scores: ContractEvalScores, other: ContractEvalScores
) -> dict[str, Any]:
    """Return everything ``dojo contracteval score --json`` prints.

    Args:
        run: The answers.
        settings: What they were scored under.
        scores: The reading asked for, which is given in full.
        other: The other reading, of which counts and estimates are given.
    """
    return {
        "recipe": run_recipe(run, settings),
        **scores.as_dict(),
        "other_reading": {
            "mode": other.mode,
            **{name: getattr(other, name) for name in ("n_pairs", "tp", "tn", "fp", "fn")},
            **{name: estimate.as_dict() for name, estimate in other.estimates.items()},
        },
        "changed_rows": records_of(scores.differences),
        "scope": scope_of(CONTRACTS),
        "problems": [asdict(problem) for problem in run.problems],
    }


def _print_counts(scores: ContractEvalScores, other: ContractEvalScores) -> None:
    pairs, contracts = formats.count(scores.n_pairs, "pair"), formats.count(scores.n_contracts, "contract")
    failed = f", [red]{formats.count(scores.n_failed, 'failed call')}[/]" if scores.n_failed else ""
    out.print(f"{pairs} of {contracts}, {scores.n_positive:,} with a label{failed}")
    print_reasons(scores.rows.loc[scores.rows["failed"], "error"].dropna())
    for warning in scores.warnings:
        out.print(f"[yellow]{shown(warning)}[/]")
    rows = [
        [reading.mode, *(f"{n:,}" for n in (reading.tp, reading.tn, reading.fp, reading.fn)), *_ratios(reading)]
        for reading in (scores, other)
    ]
    names = ("TP", "TN", "FP", "FN", "F1", "F2", "Jaccard")
    columns: list[Column] = [("reading", "left"), *((name, "right") for name in names)]
    out.print()
    out.print(build_table("both readings", columns, rows))


def _ratios(scores: ContractEvalScores) -> Iterator[str]:
    yield from (formats.number(value.value) for value in (scores.f1, scores.f2, scores.jaccard_mean))


def _print_categories(scores: ContractEvalScores) -> None:
    rows = [
        [
            row["short"],
            *(f"{row[name]:,}" for name in ("n_pairs", "n_positive", "tp", "tn", "fp", "fn")),
            formats.number(row["recall"]),
            f"[{formats.number(row['recall_lo'])}, {formats.number(row['recall_hi'])}]" if row["n_positive"] else "",
            formats.number(row["f1"]),
            f"{row['n_false_refused']:,}" if row["n_false_refused"] else "",
        ]
        for row in scores.categories.to_dict("records")
    ]
    names = ("pairs", "labelled", "TP", "TN", "FP", "FN", "recall")
    columns: list[Column] = [
        ("category", "fold"),
        *((name, "right") for name in names),
        ("95 % interval", "left"),
        ("F1", "right"),
        ("false no clause", "right"),
    ]
    out.print()
    out.print(build_table("by category", columns, rows, drop=("false no clause", "pairs")))
    if scores.mode == "paper" and (scores.categories["n_positive"] == 0).any():
        out.print("[dim]A category without a labelled pair has recall and F1 0, as the published script says.[/]")


def _print_differences(scores: ContractEvalScores) -> None:
    from dojo_kit.tasks.contracteval import CORRECTIONS

    counts = scores.difference_counts
    if not counts:
        out.print("\nBoth readings agree on every pair.")
        return
    rows = [[name, f"{n:,}", CORRECTIONS.get(name, "a failed call is no answer")] for name, n in counts.items()]
    out.print()
    title = f"{formats.count(len(scores.differences), 'pair')} with another outcome in the other reading"
    out.print(build_table(title, [("correction", "left"), ("pairs", "right"), ("", "fold")], rows))


def _print_mapped(run: Run, mapped: MappedContractEval) -> None:
    print_run_name(run)
    parts = [f"{formats.count(mapped.n_documents, 'document')}, {mapped.oracle.n_pairs:,} pairs"]
    parts.append(f"{mapped.oracle.n_positive:,} with a label; {mapped.oracle.mode} reading")
    if mapped.failed:
        parts.append(f"[red]{len(mapped.failed):,} failed, left out[/]")
    if mapped.unjoined:
        parts.append(f"[yellow]{len(mapped.unjoined):,} without labels, left out[/]")
    out.print(", ".join(parts))
    counts = [
        [name, *(f"{n:,}" for n in (scores.tp, scores.tn, scores.fp, scores.fn)), *_ratios(scores)]
        for name, scores in (("oracle", mapped.oracle), ("label-free", mapped.label_free))
    ]
    names = ("TP", "TN", "FP", "FN", "F1", "F2", "Jaccard")
    columns: list[Column] = [("routing", "left"), *((name, "right") for name in names)]
    out.print()
    out.print(build_table("by the way clauses find their category", columns, counts))
    for title, scores in (("oracle routing, an upper bound", mapped.oracle), ("label-free", mapped.label_free)):
        out.print()
        out.print(estimates_table(scores.estimates.items(), title=title))
    out.print()
    bands = [(name if name == "verbatim" else f"a clause holds {name}", e) for name, e in mapped.coverage.items()]
    out.print(estimates_table(bands, title="coverage of labelled pairs"))
    out.print("\n[bold]what the scores do not say[/]")
    for warning in mapped.warnings:
        out.print(f"[yellow]{shown(warning.code)}[/]  {shown(warning.says)}")
    out.print(f"\n[dim]{scope_of(CONTRACTS)}[/]")


def _print_table(table: PublishedTable) -> None:
    rows = [
        [
            row.model,
            *_with_interval(row.f1),
            *_with_interval(row.f2),
            _range(row.tp),
            _range(row.fp),
            formats.number(row.printed["jaccard"]),
            _range(row.rank),
            row.note,
        ]
        for row in table.rows
    ]
    columns: list[Column] = [
        ("model", "left"),
        ("F1", "right"),
        ("F1, 95 %", "left"),
        ("F2", "right"),
        ("F2, 95 %", "left"),
        ("TP", "right"),
        ("FP", "right"),
        ("Jaccard", "right"),
        ("rank", "right"),
        ("note", "fold"),
    ]
    drop = ("Jaccard", "F2, 95 %", "note")
    out.print(build_table("Table III as printed, with what it allows", columns, rows, drop=drop))
    n_ties = int(table.differences["tie"].sum())
    out.print(f"{n_ties:,} of {len(table.differences):,} pairs of models may be tied by F1")
    if table.unsolved:
        out.print(f"[yellow]no counts give the printed figures of {shown(', '.join(table.unsolved))}[/]")
    for assumption in table.assumptions:
        out.print(f"[dim]assumed: {shown(assumption)}[/]")


def _with_interval(value: Estimate) -> tuple[str, str]:
    return formats.number(value.value), formats.interval(value)


def _range(ends: tuple[int, int] | None) -> str:
    if ends is None:
        return formats.UNKNOWN
    return f"{ends[0]:,}" if ends[0] == ends[1] else f"{ends[0]:,}-{ends[1]:,}"
