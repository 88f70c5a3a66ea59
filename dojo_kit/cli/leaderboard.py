"""``dojo leaderboard``: runs ranked, each set of documents in a table of its own."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dojo_kit import formats
from dojo_kit.cli.compare import ComparedLabelsOption, MetricOption, NoiseOption
from dojo_kit.cli.inputs import (
    ClassOption,
    ConfigOption,
    DocumentsOption,
    EmbedderOption,
    JsonOption,
    OnError,
    OnErrorOption,
    SetOption,
    Spans,
    SpansOption,
    settings_from,
)
from dojo_kit.cli.measuring import Measuring
from dojo_kit.cli.output import Column, build_table, out, print_json, progress_bar, report_problems, shown
from dojo_kit.stats.intervals import SCOPE

if TYPE_CHECKING:
    import pandas as pd

    from dojo_kit.analysis.leaderboard import Board

SHOWN_ALERTS = 10


def leaderboard(
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="Run files and experiment logs; log.jsonl#NAME.")],
    labels: ComparedLabelsOption = None,
    metric: MetricOption = None,
    noise: NoiseOption = None,
    documents: DocumentsOption = None,
    spans: SpansOption = Spans.all,
    embedder: EmbedderOption = None,
    set_: SetOption = None,
    config: ConfigOption = None,
    doc_class: ClassOption = None,
    on_error: OnErrorOption = OnError.stop,
    json: JsonOption = False,
) -> None:
    """Rank runs on the same documents, name those that cannot be told from the best, and drops over time."""
    from dojo_kit.analysis.leaderboard import leaderboard as rank
    from dojo_kit.analysis.leaderboard import regressions

    settings = settings_from(config, set_)
    measuring = Measuring(labels, documents, spans, embedder, doc_class, settings, on_error)
    with progress_bar("measuring runs", quiet=json or len(runs) < 2) as progress:
        measured = measuring.read_all(runs, progress)
    floor = measuring.noise_floor(noise or [])
    boards = rank(measured, metric=metric, noise=floor, settings=settings)
    alerts = regressions(measured, metric=metric, noise=floor, settings=settings)
    report_problems(measuring.problems)
    if json:
        print_json(
            {
                "boards": [board.as_dict() for board in boards],
                "regressions": _records(alerts),
                "noise": list(noise or []),
                "scope": SCOPE,
                "problems": [asdict(problem) for problem in measuring.problems],
            }
        )
        return
    _print_boards(boards, len(measured))
    _print_alerts(alerts)
    out.print(f"\n[dim]{SCOPE}[/]")


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    plain = frame.astype(object).where(frame.notna(), None)
    return [{str(name): value for name, value in row.items()} for row in plain.to_dict("records")]


def _print_boards(boards: tuple[Board, ...], n_runs: int) -> None:
    tables = formats.count(len(boards), "table")
    told = "" if len(boards) == 1 else "; runs on other documents or measured otherwise are never in one table"
    first = f"{formats.count(n_runs, 'run')} in {tables}{told}"
    if len(boards) == 1:
        leaders = boards[0].co_champions
        tied = f", and {formats.count(len(leaders) - 1, 'run')} not shown to be worse" if len(leaders) > 1 else ""
        first = f"{boards[0].best.name} leads {formats.count(n_runs, 'run')} by {boards[0].metric}{tied}"
    out.print(f"[bold]{shown(first)}.[/]", soft_wrap=True)
    for board in boards:
        out.print()
        out.print(_board_table(board))


def _board_table(board: Board) -> Any:
    rows = [
        [
            "" if row["rank"] is None else f"{row['rank']}",
            row["run"],
            formats.number(row["value"]),
            f"[{formats.number(row['lo'])}, {formats.number(row['hi'])}]" if row["lo"] is not None else "",
            f"{row['delta']:+.4f}" if row["delta"] else "",
            f"[{row['delta_lo']:+.4f}, {row['delta_hi']:+.4f}]" if row["delta_lo"] is not None else "",
            "yes" if row["co_champion"] else "",
            f"{row['n']:,}",
            f"{row['n_failed']:,}" if row["n_failed"] else "",
            row["model"],
            row["note"],
        ]
        for row in _records(board.table)
    ]
    columns: list[Column] = [
        ("rank", "right"),
        ("run", "fold"),
        (board.metric, "right"),
        ("95 % interval", "left"),
        ("to the best", "right"),
        ("95 % of it", "left"),
        ("champion", "left"),
        ("n", "right"),
        ("failed", "right"),
        ("model", "fold"),
        ("", "fold"),
    ]
    filled = [index for index in range(len(columns)) if any(row[index] for row in rows)]
    title = f"{board.task or board.kind} on {formats.count(board.n, 'document')} ({board.surface[:8]})"
    cells = [[row[index] for index in filled] for row in rows]
    return build_table(title, [columns[index] for index in filled], cells, drop=("model", "n", "95 % of it", ""))


def _print_alerts(alerts: pd.DataFrame) -> None:
    if alerts.empty:
        return
    rows = [
        [
            row["timestamp"][:16].replace("T", " "),
            row["run"],
            row["against"],
            f"{row['delta']:+.4f} [{row['lo']:+.4f}, {row['hi']:+.4f}]",
            f"{row['n_failed']:,}" if row["n_failed"] else "",
            row["verdict"],
        ]
        for row in _records(alerts)
    ]
    columns: list[Column] = [
        ("when", "left"),
        ("run", "fold"),
        ("worse than", "fold"),
        ("by", "left"),
        ("failed", "right"),
        ("verdict", "fold"),
    ]
    shown_rows = rows[-SHOWN_ALERTS:]
    title = f"worse than an earlier run of the same model, the latest {len(shown_rows):,} of {len(rows):,}"
    out.print()
    out.print(build_table(title, columns, shown_rows, drop=("failed", "verdict")))
