"""The ``dojo`` application: which commands there are."""

from __future__ import annotations

from typing import Annotated

import typer

from dojo_kit._version import __version__
from dojo_kit.cli.cache import cache_app
from dojo_kit.cli.compare import compare
from dojo_kit.cli.contracteval import contracteval_app
from dojo_kit.cli.cost import cost
from dojo_kit.cli.demo import demo
from dojo_kit.cli.eval import eval_app
from dojo_kit.cli.explain import explain
from dojo_kit.cli.judge import judge
from dojo_kit.cli.leaderboard import leaderboard
from dojo_kit.cli.misses import misses
from dojo_kit.cli.noise import noise
from dojo_kit.cli.notebook import notebook
from dojo_kit.cli.publish import publish
from dojo_kit.cli.report import report
from dojo_kit.cli.score import diagnose, score
from dojo_kit.cli.verify import verify
from dojo_kit.cli.whatif import whatif_app

app = typer.Typer(
    name="dojo",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    help="Score LLM document pipelines, explain every score, and be honest about noise.",
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dojo_kit {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


for command in (
    demo,
    score,
    diagnose,
    misses,
    compare,
    noise,
    leaderboard,
    report,
    explain,
    verify,
    judge,
    cost,
    notebook,
    publish,
):
    app.command()(command)
app.add_typer(cache_app, name="cache")
app.add_typer(contracteval_app, name="contracteval")
app.add_typer(eval_app, name="eval")
app.add_typer(whatif_app, name="whatif")
