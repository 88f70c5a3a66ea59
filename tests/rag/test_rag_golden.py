"""Golden vectors of query-level scoring: ``tests/golden/rag.json`` holds {name, input, expected, note}.

The area of a vector is what its name starts with. Names of functions differ from those the values were made with.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dojo_kit.rag import METRICS, annotator_agreement, cohen_kappa, krippendorff_alpha, majority
from dojo_kit.rag import percentage_agreement as percentage
from dojo_kit.rag.metrics import (
    fabricated_among_cited,
    mean_of_queries,
    misleading_context_rate,
    ndcg,
    reciprocal_rank,
    sufficiency_hit,
)
from dojo_kit.rag.scorecard import score_rag
from dojo_kit.rag.tasks import TASKS
from dojo_kit.stats.intervals import Bootstrap, Estimate, wilson

VECTORS = {v["name"]: v for v in json.loads((Path(__file__).parents[1] / "golden" / "rag.json").read_text("utf-8"))}

ELSEWHERE: dict[str, str] = {}
"""Areas whose vectors other tests run: selecting inputs, settings, the command line; the file holds none of these."""


def _bounds(estimate: Estimate) -> dict[str, Any]:
    return {"point": estimate.value, "lower": estimate.lo, "upper": estimate.hi}


def _wilson(given: dict[str, Any]) -> Any:
    return _bounds(wilson(given["successes"], given["n"], confidence=given["confidence"]))


def _per_query(given: dict[str, Any], name: str) -> Any:
    functions: dict[str, Callable[..., Any]] = {
        "sufficiency_hit_no": sufficiency_hit,
        "misleading_2_of_4": misleading_context_rate,
        "empty_reciprocal_rank": reciprocal_rank,
        "empty_ndcg": lambda values: ndcg(values, values),
        "empty_corpus_mean": mean_of_queries,
        **dict.fromkeys(("fabricated_among_cited", "fabricated_none_cited"), fabricated_among_cited),
    }
    return functions.get(name, ndcg)(*given.values())


def _bootstrap(given: dict[str, Any], name: str) -> Any:
    if name.startswith("stream"):
        rng, n = np.random.default_rng(given["seed"]), len(given["values"])
        draws = [rng.integers(0, n, size=n) for _ in range(given["n_resamples"])]
        rows = np.array(given["values"])[:, None]
        _, sums, _ = Bootstrap(given["n_resamples"], given["seed"]).resampled_sums(rows)
        return {"index_draws": np.array(draws).tolist(), "replicate_means": (sums[:, 0] / n).tolist()}
    bootstrap = Bootstrap(given["n_resamples"], given["seed"], given["confidence"])
    if name == "nan_replicates_dropped":
        replicates = np.array([np.nan] * 3 + [1.0] * 7)
        return _bounds(bootstrap.of_replicates(1.0, replicates, given["n_units"], "percentile"))
    return _bounds(bootstrap.mean(given["values"]))


def _frame(given: dict[str, Any]) -> pd.DataFrame:
    return pd.DataFrame(given["rows"], columns=given["columns"])


def _report(given: dict[str, Any]) -> Any:
    options = {key: given[key] for key in ("seed", "n_resamples", "confidence") if key in given}
    return score_rag(_frame(given), given["task"], on_violation="as_is", **options).as_dict()


def _retrieval(given: dict[str, Any], name: str) -> Any:
    if name == "per_query_values":
        queries = score_rag(_frame(given), "retrieval").queries
        return {metric: queries[metric].tolist() for metric in METRICS if metric in queries}
    return _report(given)


def _consolidate(given: dict[str, Any]) -> Any:
    """Vote on the rows as they stand, and put the labels back into the first row of every unit."""
    frame, task = _frame(given), TASKS[given["task"]]
    units, _ = pd.factorize(pd.MultiIndex.from_frame(frame[[name for name in task.ids if name != "chunk_rank"]]))
    decided = majority(frame[list(task.labels)].to_numpy(), units, tie="first")
    first = frame.groupby(units, sort=False).head(1).reset_index(drop=True)
    first[list(task.labels)] = decided.labels
    return {"rows": first.to_numpy().tolist()}


def _agreement(given: dict[str, Any], name: str) -> Any:
    if name.startswith("kappa"):
        return cohen_kappa(given["a"], given["b"])
    if name == "full_report_retrieval":
        return _agreement_report(given)
    matrix = np.array(given["matrix_annotators_by_items"], dtype=float)
    alpha = krippendorff_alpha(matrix, bootstrap=Bootstrap(given["n_resamples"], given["seed"], given["confidence"]))
    found = alpha.estimate
    return {"alpha": found.value, "pct_agreement": percentage(matrix), "ci_lower": found.lo, "ci_upper": found.hi}


def _agreement_report(given: dict[str, Any]) -> Any:
    kept = pd.DataFrame(given["calibration_submitted_rows"], columns=given["columns"])
    kept = kept.assign(calibration=True, response_status="submitted")
    frame = pd.concat([kept, pd.DataFrame(given["ignored_rows"])])
    frame = frame.assign(chunk_rank=frame["chunk_id"].str[1:])
    options = {key: given[key] for key in ("seed", "n_resamples", "confidence")}
    found = annotator_agreement(frame, "retrieval", **options).as_dict()
    assert found["counts"]["not calibration"] == 2
    assert found["counts"]["not submitted"] == 1
    return {"export_id": "e1", "tasks": [found], **found}


AREAS: dict[str, Callable[[dict[str, Any], str], Any]] = {
    "wilson": lambda given, _: _wilson(given),
    "perquery": _per_query,
    "bootstrap": _bootstrap,
    "retrieval": _retrieval,
    "grounding": lambda given, _: _report(given),
    "consolidate": lambda given, _: _consolidate(given),
    "iaa": _agreement,
}


def _agrees(actual: Any, expected: Any, place: str = "") -> None:
    """Compare what is expected; NaN is written as text, and None is how this package spells undefined."""
    if isinstance(expected, dict):
        for key, value in expected.items():
            _agrees(actual[key], value, f"{place}.{key}")
    elif isinstance(expected, list):
        assert len(actual) == len(expected), place
        for at, value in enumerate(expected):
            _agrees(actual[at], value, f"{place}[{at}]")
    elif expected in ("NaN", None):
        assert actual is None, place
    elif isinstance(expected, int | float):
        assert actual == pytest.approx(expected, abs=1e-12), place
    else:
        assert actual == expected, place


@pytest.mark.parametrize("name", [name for name in VECTORS if name.partition("/")[0] not in ELSEWHERE])
def test_golden_vector(name: str) -> None:
    """Every vector comes out to 1e-12, or as its note says."""
    vector, (area, _, case) = VECTORS[name], name.partition("/")

    if isinstance(vector["expected"], dict) and "error" in vector["expected"]:
        with pytest.raises(ValueError, match=r"between 0 and|without labels|no query"):
            AREAS[area](vector["input"], case)
        return
    expected = vector["expected"]
    if case == "full_report_retrieval":  # null bounds are not compared, says the note
        for label in expected["tasks"][0]["labels"]:
            for bound in ("ci_lower", "ci_upper"):
                if label[bound] is None:
                    del label[bound]
    _agrees(AREAS[area](vector["input"], case), expected)


def test_every_vector_is_run_here_or_named() -> None:
    """No area is left out without saying where it is run."""
    areas = {name.partition("/")[0] for name in VECTORS}

    assert set(AREAS) | set(ELSEWHERE) == areas
    assert all((Path(__file__).parents[2] / place).is_file() for place in ELSEWHERE.values())
