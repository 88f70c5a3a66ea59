"""How ``dojo whatif ablate`` prints pairs of prompts and the contest among them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dojo_kit import formats
from dojo_kit.cli.output import Column
from dojo_kit.cli.whatif_tables import estimate, interval, level_header, note, number, records, say, signed, table
from dojo_kit.errors import InputError
from dojo_kit.stats.intervals import SCOPE
from dojo_kit.views import what_if_words as wording

if TYPE_CHECKING:
    import pandas as pd

    from dojo_kit.cli.whatif_options import Asked
    from dojo_kit.simulate import Ablation, Champion

SHOWN_PAIRS = 12


def champion_or_reason(asked: Asked, model: str | None, *, legacy: bool) -> tuple[Champion | None, str]:
    """Return the best prompt of a model, or why there is no contest."""
    from dojo_kit.simulate import champion

    try:
        return champion(asked.corpus, asked.task, model=model, legacy=legacy, settings=asked.settings), ""
    except InputError as error:
        if error.field == "model":
            raise
        return None, error.message


def print_ablation(found: Ablation, classes: pd.DataFrame | None, best: Champion | None, why_none: str) -> None:
    """Print pairs of prompts, the largest difference first."""
    shown_to_differ = sum(pair.verdict in ("win", "loss") for pair in found.pairs)
    n = formats.count(len(found.pairs), "pair")
    if not found.pairs:
        say("No two prompts of one model share enough documents to be compared.")
        return
    level = found.settings.statistics.confidence
    first = found.pairs[0]
    of = "of one pair" if len(found.pairs) == 1 else f"of {n} of prompts"
    say(
        f"{shown_to_differ:,} {of} {'differs' if shown_to_differ == 1 else 'differ'} beyond chance and rerun noise; "
        f"the largest difference is {first.b} {signed(first.delta.value)} over {first.a}.",
        _champion_sentence(best, why_none),
    )
    rows = [
        [
            f"{pair.a} \N{RIGHTWARDS ARROW} {pair.b}",
            pair.model.rpartition("/")[2],
            f"{pair.delta.n:,}",
            number(pair.accuracy_a),
            number(pair.accuracy_b),
            signed(pair.delta.value),
            interval(pair.delta.lo, pair.delta.hi),
            formats.number(pair.p_holm),
            pair.verdict,
        ]
        for pair in found.pairs[:SHOWN_PAIRS]
    ]
    columns: list[Column] = [
        ("prompts", "fold"),
        ("model", "fold"),
        ("n", "right"),
        ("A", "right"),
        ("B", "right"),
        ("B - A", "right"),
        (level_header(level), "left"),
        ("p, adjusted", "right"),
        ("verdict", "fold"),
    ]
    more = f", {SHOWN_PAIRS} of {len(found.pairs):,}" if len(found.pairs) > SHOWN_PAIRS else ""
    table(f"largest differences{more}", columns, rows, drop=("A", "B", "model"))
    if classes is not None and len(classes):
        table(
            f"{first.a} \N{RIGHTWARDS ARROW} {first.b} by label",
            _class_columns(level),
            map(_class_cells, records(classes)),
        )
    if best is not None:
        _print_champion(best)
    note(f"p is adjusted for {n} by Holm's rule; reruns of a prompt are averaged.", SCOPE)


def _class_columns(level: float) -> list[Column]:
    return [
        ("label", "fold"),
        ("n", "right"),
        ("B - A", "right"),
        (level_header(level), "left"),
        ("p, adjusted", "right"),
    ]


def _class_cells(row: Mapping[str, Any]) -> list[str]:
    ends = interval(row["lo"], row["hi"])
    return [row["label"], f"{row['n']:,}", signed(row["delta"]), ends, formats.number(row["p_holm"])]


def _champion_sentence(best: Champion | None, why_none: str) -> str:
    if best is None:
        return f"No champion: {why_none}."
    on = f"on {formats.count(best.n, 'document')} that every version saw" if not best.legacy else "as published"
    model = best.model.rpartition("/")[2]
    if best.champion is None:
        return f"Plateau: no version of {model} is shown to beat another, {on}."
    others = [name for name in best.co_champions if name != best.champion]
    equal = f"; not shown to be worse: {', '.join(others)}" if others else ""
    return f"Champion of {model}: {best.champion}, {on}{equal}."


def _print_champion(best: Champion) -> None:
    rows = [
        [version.prompt, estimate(version.accuracy), f"{len(version.wins):,}", f"{len(version.losses):,}"]
        for version in best.versions
    ]
    columns: list[Column] = [("version", "fold"), ("accuracy", "left"), ("beats", "right"), ("beaten by", "right")]
    out_of = f"; {', '.join(best.left_out)} saw too few of them" if best.left_out else ""
    table(f"versions of {best.model.rpartition('/')[2]} on the same {best.n:,} documents{out_of}", columns, rows)
    sweep = [
        [wording.share(part.fraction), f"{part.n:,}", part.champion or "plateau", ", ".join(part.co_champions)]
        for part in best.sweep
    ]
    names: list[Column] = [("part", "right"), ("n", "right"), ("champion", "left"), ("not shown to be worse", "fold")]
    table("the same with fewer documents", names, sweep)


def print_published_ablation(pairs: pd.DataFrame, best: Champion | None, why_none: str) -> None:
    """Print ordered pairs as published."""
    n = formats.count(len(pairs), "ordered pair")
    say(f"{n} of prompts, as published: A - B, a later run of a cell deciding.", _champion_sentence(best, why_none))
    rows = [
        [
            row["a"],
            row["b"],
            row["model"].rpartition("/")[2],
            f"{row['n']:,}",
            number(row["accuracy_a"]),
            number(row["accuracy_b"]),
            signed(row["delta"]),
            interval(row["lo"], row["hi"]),
            formats.number(row["p_win"]),
        ]
        for row in records(pairs.head(40))
    ]
    columns: list[Column] = [
        ("A", "fold"),
        ("B", "fold"),
        ("model", "fold"),
        ("n", "right"),
        ("A ", "right"),
        ("B ", "right"),
        ("A - B", "right"),
        ("95 % interval", "left"),
        ("P(A beats B)", "right"),
    ]
    table("largest differences, 40 at most", columns, rows, drop=("model",))
