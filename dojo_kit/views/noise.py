"""The noise of reruns as it is drawn: pairs of reruns beside their band, and the documents that change their answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dojo_kit import formats
from dojo_kit.errors import InputError, closest
from dojo_kit.views.deltas import DIGITS, spelled

if TYPE_CHECKING:
    import pandas as pd

    from dojo_kit.analysis.noise import NoiseFloor

_PLACE = ["task", "model", "surface"]


def noise_view(floor: NoiseFloor) -> dict[str, Any]:
    """Return what a noise floor shows whatever the metric.

    Args:
        floor: The noise floor.

    Returns:
        ``metrics`` (name, label) with the headlines first; ``finding`` where there are no reruns; ``n_runs``;
        ``excluded``, the pairs that are no reruns (a, b, prompt, reason, detail); ``notes``.
    """
    excluded = floor.excluded
    n_pairs = len(_pairs_of(floor.pairs))
    return {
        "metrics": [{"name": name, "label": spelled(name)} for name in noise_metrics(floor)],
        "n_runs": floor.n_runs,
        "n_pairs": n_pairs,
        "excluded": [
            {
                "id": str(index),
                "a": _bare(row["run_a"]),
                "b": _bare(row["run_b"]),
                "model": _model(row["model"]),
                "prompt": row["prompt_version"],
                "reason": row["reason"],
                "detail": row["detail"],
            }
            for index, row in enumerate(excluded.to_dict("records"))
        ],
        "notes": _notes(floor),
    }


def noise_metrics(floor: NoiseFloor) -> list[str]:
    """Return the metrics that have a pair of reruns, headlines first."""
    heads = list(dict.fromkeys(floor.groups["headline"]))
    known = list(dict.fromkeys(floor.pairs["metric"]))
    return [name for name in heads if name in known] + [name for name in known if name not in heads]


def noise_table(floor: NoiseFloor, metric: str) -> dict[str, Any]:
    """Return the pairs of reruns of one metric, by task, model and set of documents.

    Args:
        floor: The noise floor.
        metric: The metric; empty for a floor without reruns.

    Returns:
        ``metric``; ``finding`` and ``conclusion`` in words; ``bands``, each with its ``group`` in words, ``value``
        (None when unknown), ``m``, ``rms``, ``reason`` and ``pairs``: ``id``, a, b, prompt, n, delta, lo, hi, p,
        better, worse, flips (None when the task has no labels), identity and notes.

    Raises:
        InputError: No pair has the metric.
    """
    known = noise_metrics(floor)
    if not known and not metric:
        return {"metric": "", "finding": _nothing(floor), "conclusion": "", "bands": []}
    if metric not in known:
        raise InputError(f"no rerun has the metric {metric!r}{closest(metric, known)}", expected=", ".join(known))
    pairs = floor.pairs[floor.pairs["metric"] == metric]
    several = len(set(pairs["task"])) > 1
    heads = floor.groups.set_index("group")
    bands = [_band(floor, metric, found, heads, with_task=several) for _, found in pairs.groupby(_PLACE, sort=False)]
    finding, conclusion = _says(metric, bands)
    return {"metric": metric, "finding": finding, "conclusion": conclusion, "bands": bands}


def flipped_documents(floor: NoiseFloor, pair: str) -> list[dict[str, Any]]:
    """Return the documents whose answer differs between two reruns.

    Args:
        floor: The noise floor.
        pair: Id of the pair, see `noise_table`.

    Returns:
        Per document ``id``, ``document``, ``short``, ``a``, ``b`` and ``expected`` labels, and ``right``: ``a``,
        ``b`` or empty.
    """
    names = _names_of(floor, pair)
    if names is None:
        return []
    group, run_a, run_b = names
    answers = floor.answers[floor.answers["group"] == group]
    said = {
        run: dict(zip(found["document"], found["predicted"], strict=True))
        for run, found in answers.groupby("run", sort=False)
    }
    truth = dict(zip(answers["document"], answers["expected"], strict=True))
    one, other = said.get(run_a, {}), said.get(run_b, {})
    changed = [document for document in truth if one.get(document) != other.get(document)]
    return [
        {
            "id": str(index),
            "document": document,
            "short": short,
            "a": _label(one.get(document)),
            "b": _label(other.get(document)),
            "expected": _label(truth[document]),
            "right": _right(one.get(document), other.get(document), truth[document]),
        }
        for index, (document, short) in enumerate(zip(changed, formats.short_documents(changed), strict=True))
    ]


def pair_name(group: int, run_a: str, run_b: str) -> str:
    """Return the id of a pair of reruns.

    Examples:
        >>> pair_name(2, "063.json", "104.json")
        '2:063.json|104.json'
    """
    return f"{group}:{run_a}|{run_b}"


def _pairs_of(pairs: pd.DataFrame) -> pd.DataFrame:
    return pairs[["group", "run_a", "run_b"]].drop_duplicates()


def _names_of(floor: NoiseFloor, pair: str) -> tuple[int, str, str] | None:
    for group, run_a, run_b in _pairs_of(floor.pairs).itertuples(index=False, name=None):
        if pair_name(group, run_a, run_b) == pair:
            return group, run_a, run_b
    return None


def _band(
    floor: NoiseFloor, metric: str, pairs: pd.DataFrame, heads: pd.DataFrame, *, with_task: bool
) -> dict[str, Any]:
    first = pairs.iloc[0]
    band = floor.band(metric, task=first["task"], model=first["model"], surface=first["surface"])
    n = int(heads.loc[pairs["group"], "n_documents"].max())
    where = [_model(first["model"]), formats.count(n, "document")]
    if with_task:
        where.insert(0, first["task"].replace("_", " "))
    return {
        "group": ", ".join(part for part in where if part),
        "value": band.value,
        "m": band.m,
        "rms": band.rms,
        "reason": band.reason,
        "pairs": [_pair(row, heads.loc[row["group"]]) for row in pairs.to_dict("records")],
    }


def _pair(row: dict[Any, Any], head: pd.Series[Any]) -> dict[str, Any]:
    flips = row["n_flips"]
    numbers = {name: _known(row[name]) for name in ("delta", "lo", "hi", "p")}
    return {
        "id": pair_name(row["group"], row["run_a"], row["run_b"]),
        "a": _bare(row["run_a"]),
        "b": _bare(row["run_b"]),
        "prompt": row["prompt_version"],
        "n": int(row["n"]),
        **numbers,
        "better": int(row["n_better"]),
        "worse": int(row["n_worse"]),
        "flips": None if flips is None or flips != flips else int(flips),
        "identity": head["identity"],
        "notes": [note[:1].upper() + note[1:] for note in head["notes"]],
    }


def _says(metric: str, bands: Sequence[dict[str, Any]]) -> tuple[str, str]:
    """Return the finding and what to conclude from it."""
    pairs = [pair for band in bands for pair in band["pairs"]]
    largest = formats.number(max(abs(pair["delta"]) for pair in pairs), digits=DIGITS)
    known = [band["value"] for band in bands if band["value"] is not None]
    what = spelled(metric)
    verb = "differs by" if len(pairs) == 1 else "differ by up to"
    found = f"{formats.count(len(pairs), 'pair')} of reruns {verb} {largest} in {what}"
    if not known:
        return (
            f"{found}; the band is unknown",
            "A band needs 3 reruns beyond the first, of one task, model and set of documents; until then the "
            "differences stand as they are, and no change can be called a win.",
        )
    rest = len(bands) - len(known)
    without = f"; {formats.count(rest, 'other set')} of runs has too few reruns" if rest == 1 else ""
    without = f"; {rest:,} other sets of runs have too few reruns" if rest > 1 else without
    return (
        f"{found}; rerun band {_spread(known)}",
        f"A change inside the band may be rerun noise, whatever its own interval says{without}.",
    )


def _nothing(floor: NoiseFloor) -> str:
    return f"No two of {formats.count(floor.n_runs, 'run')} are reruns of each other"


def _notes(floor: NoiseFloor) -> list[str]:
    notes = []
    if len(floor.groups) and (floor.groups["identity"] == "prompt name only").any():
        notes.append("Where no hash of the prompt is stored, that it was the same rests on its name")
    if len(floor.groups):
        notes.append("Later run less earlier one; documents that both answered")
    return notes


def _right(one: Any, other: Any, truth: Any) -> str:
    if not isinstance(truth, str):
        return ""
    return "a" if one == truth else "b" if other == truth else ""


def _label(key: Any) -> str:
    return key.replace("_", " ") if isinstance(key, str) else "no label"


def _model(name: str) -> str:
    return name.rpartition("/")[2] or "unknown model"


def _bare(run: str) -> str:
    return run.removesuffix(".json")


def _known(value: Any) -> float | None:
    return None if value is None or value != value else float(value)


def _spread(bands: Sequence[float]) -> str:
    low, high = (formats.number(band, digits=DIGITS) for band in (min(bands), max(bands)))
    return f"\N{PLUS-MINUS SIGN}{low}" if low == high else f"\N{PLUS-MINUS SIGN}{low} to \N{PLUS-MINUS SIGN}{high}"
