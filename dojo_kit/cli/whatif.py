"""``dojo whatif``: what more votes, a stronger model, other prompts or retries would buy, from runs already there."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Annotated

import typer

from dojo_kit.cli import whatif_prompts as prompts
from dojo_kit.cli import whatif_tables as tables
from dojo_kit.cli.inputs import ConfigOption, JsonOption, OnError, OnErrorOption
from dojo_kit.cli.output import err, out, print_json, report_problems, shown
from dojo_kit.cli.whatif_options import (
    LegacyOption,
    ModelOption,
    OverridesOption,
    PoolName,
    PoolOption,
    PromptOption,
    RunsArgument,
    SeedOption,
    TaskOption,
    asked_from,
    corpus_from,
    file_target,
    is_corpus,
)
from dojo_kit.errors import InputError, MissingExtraError
from dojo_kit.simulate.committee import SIZES
from dojo_kit.simulate.escalation import ALPHAS, ESCALATED_COST, STRONGER_ACCURACY
from dojo_kit.simulate.exemplars import BUDGET, EFFICACY, MOST_PAIRS
from dojo_kit.simulate.pipeline import FALLBACK_SUCCESS
from dojo_kit.storage import write_text

whatif_app = typer.Typer(
    no_args_is_help=True,
    help="What-ifs over runs already paid for: more votes, a stronger model, other prompts, retries, examples.",
)

StrongerOption = Annotated[
    str | None,
    typer.Option("--stronger", metavar="RUN|MODEL", help="Run or model whose real answers escalated documents get."),
]
ShareOption = Annotated[float, typer.Option("--share", min=0, max=1, help="Share of least sure documents listed.")]


@whatif_app.command("corpus")
def show_corpus(
    runs: RunsArgument,
    out_: Annotated[str | None, typer.Option("--out", metavar="FILE", help="Parquet file to write.")] = None,
    legacy: LegacyOption = False,
    overrides: OverridesOption = None,
    on_error: OnErrorOption = OnError.stop,
    json: JsonOption = False,
) -> None:
    """Put the rows of runs into one corpus, one per run and document, and count what it holds."""
    from dojo_kit.runs.corpus_files import load_corpus, write_corpus
    from dojo_kit.simulate import summarise
    from dojo_kit.simulate.corpus_summary import SUMMARY_COLUMNS

    target = file_target(out_)
    if target is None and is_corpus(runs) and overrides is None:
        corpus = load_corpus(runs[0], columns=SUMMARY_COLUMNS)
    else:
        corpus = corpus_from(runs, legacy=legacy, overrides=overrides, on_error=on_error, quiet=json)
    path = None if target is None else str(write_corpus(corpus, target))
    summary = summarise(corpus)
    if json:
        problems = [str(problem) for problem in corpus.problems]
        print_json({**summary.as_dict(), "file": path, "problems": problems})
        return
    report_problems(corpus.problems)
    tables.print_summary(summary)
    if path is not None:
        err.print(f"written to {shown(path)}")


@whatif_app.command("committee")
def show_committee(
    runs: RunsArgument,
    task: TaskOption = None,
    pool: PoolOption = PoolName.all,
    prompt: PromptOption = None,
    model: ModelOption = None,
    votes: Annotated[
        list[int] | None, typer.Option("--votes", min=1, help="Votes of a document; may be repeated.")
    ] = None,
    legacy: LegacyOption = False,
    overrides: OverridesOption = None,
    seed: SeedOption = None,
    config: ConfigOption = None,
    on_error: OnErrorOption = OnError.stop,
    json: JsonOption = False,
) -> None:
    """Say how often committees of K votes would be right, and what accuracy tends to with ever more."""
    from dojo_kit.simulate import committee

    asked = asked_from(
        runs, task, legacy=legacy, overrides=overrides, seed=seed, config=config, on_error=on_error, quiet=json
    )
    found = committee(asked.votes(pool, prompt, model), sizes=votes or SIZES, settings=asked.settings)
    if json:
        limit = found.limit
        ends = {"limit": limit.value, "limit_lo": limit.lo, "limit_hi": limit.hi}
        print_json({**found.as_dict(), **ends, **asked.about()})
        return
    tables.print_committee(found, asked.level)


@whatif_app.command("escalate")
def show_escalation(
    runs: RunsArgument,
    task: TaskOption = None,
    pool: PoolOption = PoolName.all,
    prompt: PromptOption = None,
    model: ModelOption = None,
    alpha: Annotated[
        list[float] | None, typer.Option("--alpha", min=0, max=1, help="Share escalated; may be repeated.")
    ] = None,
    accuracy: Annotated[
        float, typer.Option("--accuracy", min=0, max=1, help="Accuracy assumed of the stronger model.")
    ] = STRONGER_ACCURACY,
    cost: Annotated[
        float,
        typer.Option(
            "--cost", min=0, help="Cost of an escalated document, its first answer included, that of another being 1."
        ),
    ] = ESCALATED_COST,
    stronger: StrongerOption = None,
    share: ShareOption = 0.15,
    out_: Annotated[str | None, typer.Option("--out", metavar="FILE", help="Write the least sure documents.")] = None,
    legacy: LegacyOption = False,
    overrides: OverridesOption = None,
    seed: SeedOption = None,
    config: ConfigOption = None,
    on_error: OnErrorOption = OnError.stop,
    json: JsonOption = False,
) -> None:
    """Say what sending the least sure documents to a stronger model would buy, and what it would cost."""
    from dojo_kit.simulate import answers_of, escalate

    target = file_target(out_)
    asked = asked_from(
        runs, task, legacy=legacy, overrides=overrides, seed=seed, config=config, on_error=on_error, quiet=json
    )
    ids = [] if stronger is None else asked.runs_named(stronger)
    found = escalate(
        asked.votes(pool, prompt, model, without=ids),
        alphas=alpha or ALPHAS,
        stronger_accuracy=accuracy,
        escalated_cost=cost,
        stronger=answers_of(asked.corpus, asked.task, run_ids=ids) if ids else None,
        legacy=legacy,
        settings=asked.settings,
    )
    listed = found.candidates(share)
    if target is not None:
        lines = zip(listed["confidence"], listed["document"], strict=True)
        write_text(target, "".join(f"{confidence:.3f}\t{document}\n" for confidence, document in lines))
    if json:
        candidates = listed.to_dict(orient="records")
        print_json({**found.as_dict(), "stronger": stronger, "candidates": candidates, **asked.about()})
        return
    tables.print_escalation(found, stronger)
    if target is not None:
        err.print(f"{len(listed):,} least sure documents written to {shown(target)}")


@whatif_app.command("ablate")
def show_ablation(
    runs: RunsArgument,
    task: TaskOption = None,
    model: ModelOption = None,
    min_shared: Annotated[int, typer.Option("--min-shared", min=2, help="Documents two prompts must share.")] = 20,
    legacy: LegacyOption = False,
    overrides: OverridesOption = None,
    seed: SeedOption = None,
    config: ConfigOption = None,
    on_error: OnErrorOption = OnError.stop,
    json: JsonOption = False,
) -> None:
    """Compare every two prompts of a model on the documents both answered, and name the champion."""
    from dojo_kit.simulate import ablate, published_ablation

    asked = asked_from(
        runs, task, legacy=legacy, overrides=overrides, seed=seed, config=config, on_error=on_error, quiet=json
    )
    best, why_none = prompts.champion_or_reason(asked, model, legacy=legacy)
    contest = {"champion": None if best is None else best.as_dict(), "no_champion": why_none or None}
    if legacy:
        table = published_ablation(
            asked.corpus, asked.task, min_shared=min_shared, model=model, settings=asked.settings
        )
        if json:
            rows = table.to_dict(orient="records")
            print_json({"task": asked.task, "comparisons": len(rows), "pairs": rows, **contest, **asked.about()})
            return
        prompts.print_published_ablation(table, best, why_none)
        return
    found = ablate(asked.corpus, asked.task, min_shared=min_shared, model=model, settings=asked.settings)
    classes = found.by_class(found.pairs[0]) if found.pairs else None
    if json:
        of_first = [] if classes is None else tables.records(classes)
        print_json({**found.as_dict(), "by_class_of_first": of_first, **contest, **asked.about()})
        return
    prompts.print_ablation(found, classes, best, why_none)


@whatif_app.command("failures")
def show_failures(
    runs: RunsArgument,
    task: Annotated[str | None, typer.Option("--task", help="Only calls of this task; all by default.")] = None,
    tries: Annotated[int, typer.Option("--tries", min=1, help="Tries of a document before the fallback.")] = 3,
    fallback: Annotated[
        float, typer.Option("--fallback", min=0, max=1, help="Success rate of the fallback; 0 for none.")
    ] = FALLBACK_SUCCESS,
    scale: Annotated[
        list[int] | None, typer.Option("--scale", min=1, help="Documents of a production run; may be repeated.")
    ] = None,
    legacy: LegacyOption = False,
    overrides: OverridesOption = None,
    seed: SeedOption = None,
    config: ConfigOption = None,
    on_error: OnErrorOption = OnError.stop,
    json: JsonOption = False,
) -> None:
    """Say how many documents a pipeline of retries and a fallback would leave without an answer."""
    from dojo_kit.simulate import failures
    from dojo_kit.simulate.pipeline import SCALES

    asked = asked_from(
        runs, task, legacy=legacy, overrides=overrides, seed=seed, config=config, on_error=on_error, quiet=json
    )
    found = failures(
        asked.corpus,
        task=task,
        max_tries=tries,
        fallback=fallback,
        scales=scale or SCALES,
        settings=asked.settings,
    )
    if json:
        print_json({"task": task, **found.as_dict(), **asked.about()})
        return
    tables.print_failures(found, asked.level)


@whatif_app.command("exemplars")
def show_exemplars(
    runs: RunsArgument,
    task: TaskOption = None,
    budget: Annotated[int, typer.Option("--budget", min=0, help="What the examples may take together.")] = BUDGET,
    tokenizer: Annotated[
        str | None, typer.Option("--tokenizer", metavar="FILE", help="Count tokens by this tokenizer.json.")
    ] = None,
    pairs: Annotated[int, typer.Option("--pairs", min=1, help="Confusions to cover at most.")] = MOST_PAIRS,
    efficacy: Annotated[
        float, typer.Option("--efficacy", min=0, max=1, help="Share of a confusion's errors taken to be repaired.")
    ] = EFFICACY,
    out_: Annotated[str | None, typer.Option("--out", metavar="FILE", help="Write the examples as text.")] = None,
    legacy: LegacyOption = False,
    overrides: OverridesOption = None,
    seed: SeedOption = None,
    config: ConfigOption = None,
    on_error: OnErrorOption = OnError.stop,
    json: JsonOption = False,
) -> None:
    """Choose worked examples: right answers that considered the label others fell for, under a budget."""
    from dojo_kit.simulate import exemplars

    target = file_target(out_)
    size_of = None if tokenizer is None else _token_counter(tokenizer)
    asked = asked_from(
        runs, task, legacy=legacy, overrides=overrides, seed=seed, config=config, on_error=on_error, quiet=json
    )
    found = exemplars(
        asked.corpus,
        asked.task,
        budget=budget,
        most_pairs=pairs,
        efficacy=efficacy,
        size_of=size_of or len,
        unit="characters" if size_of is None else "tokens",
        settings=asked.settings,
    )
    if target is not None:
        write_text(target, found.appendix() + "\n")
    if json:
        print_json({**found.as_dict(), **asked.about()})
        return
    tables.print_exemplars(found)
    if target is not None:
        err.print(f"written to {shown(target)}")


def _token_counter(path: str) -> Callable[[str], int]:
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise MissingExtraError("tokenizers", extra="embeddings", purpose="counting tokens") from None
    from dojo_kit.runs.sources import decode_text, read_bytes
    from dojo_kit.runs.strict_json import parse_json

    wanted = "a tokenizer.json"
    text = decode_text(read_bytes(path, expected=wanted), file=path)
    described = parse_json(text, file=path, expected=wanted)
    model = described.get("model") if isinstance(described, dict) else None
    if not isinstance(model, dict) or "vocab" not in model:
        raise InputError("is no tokenizer", file=path, expected=wanted)
    loaded = Tokenizer.from_str(text)
    return lambda reasons: len(loaded.encode(reasons, add_special_tokens=False).ids)


@whatif_app.command("check")
def show_check(
    runs: RunsArgument,
    task: TaskOption = None,
    pool: PoolOption = PoolName.all,
    prompt: PromptOption = None,
    model: ModelOption = None,
    share: ShareOption = 0.15,
    commonest: Annotated[int, typer.Option("--confusions", min=1, help="Commonest confusions of the other list.")] = 4,
    measured: Annotated[
        str | None, typer.Option("--measured", metavar="RUN", help="A real run on the listed documents.")
    ] = None,
    out_: Annotated[
        str | None, typer.Option("--out", metavar="FILE", help="Write the list of the least sure documents.")
    ] = None,
    confusions_out: Annotated[
        str | None, typer.Option("--confusions-out", metavar="FILE", help="Write the list of confused documents.")
    ] = None,
    legacy: LegacyOption = False,
    overrides: OverridesOption = None,
    seed: SeedOption = None,
    config: ConfigOption = None,
    on_error: OnErrorOption = OnError.stop,
    json: JsonOption = False,
) -> None:
    """List the documents to check a simulation on, and hold it against a real run on just these."""
    from dojo_kit.simulate import check_slice, confusion_slice, tail_slice

    targets = [file_target(path) for path in (out_, confusions_out)]
    asked = asked_from(
        runs, task, legacy=legacy, overrides=overrides, seed=seed, config=config, on_error=on_error, quiet=json
    )
    real = None if measured is None else asked.measured(measured, on_error)
    votes = asked.votes(pool, prompt, model, without=[] if real is None else real.run_ids)
    slices = [
        tail_slice(votes, alpha=share, settings=asked.settings),
        confusion_slice(asked.corpus, votes, commonest=commonest, settings=asked.settings),
    ]
    for target, one in zip(targets, slices, strict=True):
        if target is not None:
            write_text(target, one.file_list())
    checks = [] if real is None else [check_slice(one, real.answers, settings=asked.settings) for one in slices]
    if json:
        listed = [
            {"name": one.name, "documents": list(one.documents), "simulated": one.simulated.as_dict()} for one in slices
        ]
        apart = [] if real is None else real.run_ids
        about = {"checks": [check.as_dict() for check in checks], "runs_that_do_not_vote": apart}
        print_json({"slices": listed, **about, **asked.about()})
        return
    tables.print_checks(slices, checks, asked.level)
    if real is not None and real.run_ids:
        tables.note(f"{', '.join(real.run_ids)} of the corpus is the measured run and does not vote.")
    for target, one in zip(targets, slices, strict=True):
        if target is not None:
            err.print(f"{len(one.documents):,} documents written to {shown(target)}")


@whatif_app.command("report")
def write_report(
    runs: RunsArgument,
    out_: Annotated[str, typer.Option("--out", metavar="FILE", help="HTML file to write.")],
    task: TaskOption = None,
    stronger: StrongerOption = None,
    call_usd: Annotated[
        float | None, typer.Option("--call-usd", min=0, help="What one call costs in US dollars.")
    ] = None,
    seed: SeedOption = None,
    config: ConfigOption = None,
    on_error: OnErrorOption = OnError.stop,
) -> None:
    """Publish the what-ifs as one HTML file with sliders: no network, no server."""
    from dojo_widgets.what_if_findings import what_if_page

    target = file_target(out_)
    if target is None:
        raise InputError("no file", field="--out", expected="an HTML file to write")
    asked = asked_from(
        runs, task, legacy=False, overrides=None, seed=seed, config=config, on_error=on_error, quiet=False
    )
    given = {"--task": task, "--stronger": stronger, "--call-usd": call_usd, "--seed": seed, "--config": config}
    words = [word for option, value in given.items() if value is not None for word in (option, str(value))]
    command = shlex.join(["dojo", "whatif", "report", *runs, *words, "--out", out_])
    with err.status("putting the page together"):
        page = what_if_page(
            asked.corpus,
            asked.task,
            stronger=stronger,
            call_usd=call_usd,
            settings=asked.settings,
            command=command,
        )
        path = page.save(target)
    out.print(f"report: {shown(path)} ({path.stat().st_size / 1e6:.2f} MB, opens offline)", soft_wrap=True)
