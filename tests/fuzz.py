"""``make fuzz``: throw N random inputs at every scorer; any exception or score outside 0..1 ends it.

Inputs are pieces that matter to some parser (dates, amounts, blanks, marks, odd Unicode) cut, joined and repeated
at random. The seed is printed, so that a find can be repeated.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable

from rich.progress import track

from dojo_kit import score_field
from dojo_kit.schema import SCALAR_TYPES
from dojo_kit.text.durations import find_durations
from dojo_kit.text.output import parse_json_output, strip_wrapping

PIECES = [
    *("May 3, 2024|3rd day of|18t h|2024-02-31|4/31/09|'99|the fourth of July|____|[*]|[\u25cf]|19__|day of").split(
        "|"
    ),
    *("$1.2 million|(1,234.50)|\u20ac1.234,56|14 000,12|82,5k|~|at least|per month|USD|,89 \u20ac|<42|1e308").split(
        "|"
    ),
    *("two (2) years|eighteen (18) months|perpetual|annual|thereafter|renew|half|1.5|twenty-four").split("|"),
    *('Acme, Inc.|S.A.|L. L. C.|the "Company"|not|n\'t|GmbH|PA-100|Seller|N/A|none|-|unanswerable').split("|"),
    *('<omitted>|<think>|</think>|```json\n|```|{"a": [|<script>|\x00|\x1b[31m|\n\n|\t').split("|"),
    *(
        "\u00e9|e\u0301|\u0130|\u00df|\ufb01|\u2163|\u200b|\u202e|\ud800|\U0001f600|\u0600|\u0e33|\u3000|\uff10|\u00b2"
    ).split("|"),
    *"0 1 9 , . ; : / - ( ) [ ] ' \" $ % & #".split(),
]


def text(rng: random.Random) -> str:
    """Make one input."""
    pieces = rng.choices(PIECES, k=rng.randint(0, 7))
    joined = rng.choice(["", " ", ", ", "\n"]).join(pieces)
    if rng.random() < 0.3:
        start = rng.randrange(len(joined) + 1)
        joined = joined[start : start + rng.randint(0, 40)]
    if rng.random() < 0.2:
        joined += "".join(chr(rng.choice([rng.randrange(0x250), rng.randrange(0x110000)])) for _ in range(4))
    return joined * rng.choice([1, 1, 1, 1, 2, 40])


def scorer(type: str) -> Callable[[random.Random], float]:
    """Return what scores one random input of a type."""
    if not type.startswith("entity_list"):
        return lambda rng: score_field(type, text(rng), text(rng)).score

    def lists(rng: random.Random) -> float:
        predicted, expected = ([text(rng) for _ in range(rng.randint(0, 5))] for _ in range(2))
        return score_field(type, predicted, expected, partial_gt=rng.random() < 0.5).score

    return lists


def parsers(rng: random.Random) -> float:
    """Run the parsers no field scorer calls."""
    given = text(rng)
    find_durations(given)
    strip_wrapping(given)
    try:
        parse_json_output(given)
    except ValueError:
        return 0.0
    return 1.0


def fuzz(n: int, seed: int, only: str = "") -> dict[str, int]:
    """Run every scorer, or only one, on n inputs.

    Returns:
        Scorer -> inputs tried.
    """
    jobs = {type: scorer(type) for type in (*SCALAR_TYPES, *(f"entity_list:{t}" for t in SCALAR_TYPES))}
    jobs["parsers"] = parsers
    if only:
        jobs = {only: jobs[only]}
    for name, job in jobs.items():
        rng = random.Random(f"{seed} {name}")
        for _ in track(range(n), name, disable=not sys.stderr.isatty()):
            state = rng.getstate()
            try:
                score = job(rng)
            except Exception:
                rng.setstate(state)
                print(f"{name} fails with seed {seed} on, for example, {text(rng)!r}")
                raise
            assert 0.0 <= score <= 1.0, (name, score)
    return dict.fromkeys(jobs, n)


def main() -> None:
    """Parse arguments and run."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--n", type=int, default=100_000, help="inputs per scorer")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--only", default="", help="one scorer, e.g. date or entity_list:money")
    given = arguments.parse_args()
    for name, n in fuzz(given.n, given.seed, given.only).items():
        print(f"{name}: {n:,} inputs, no exception")


if __name__ == "__main__":
    main()
