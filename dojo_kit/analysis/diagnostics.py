"""Run-level diagnostics: where a score is lost, in shares, in list quality, in days and in money.

All of it is grouping and summing the frames of a `ScoredRun`. Rates pooled over fields resample documents, so
their intervals respect that the fields of one document belong together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dojo_kit.analysis.audit import audit_sums
from dojo_kit.scoring.fields import EXACT, MISS, PARTIAL
from dojo_kit.scoring.metrics import bootstrap_of
from dojo_kit.stats.intervals import Bootstrap, Estimate, undefined

if TYPE_CHECKING:
    import pandas as pd

    from dojo_kit.scoring.run import ScoredRun

Diagnostics = dict[str, Any]
"""Name -> `Estimate`, count, or the same by field."""

VALUE_KINDS = {"date": ("date", "days"), "days": ("duration", "days"), "amount": ("money", "usd")}
"""Kind of value in the fields frame -> prefix and unit in diagnostic names."""

_NO_VARIANCE = 1e-9


def diagnose(scored: ScoredRun) -> Diagnostics:
    """Compute every diagnostic of a scored run.

    Names follow the experiment log: ``field_exact_rate``, ``error_decomposition``, ``list_micro_recall``,
    ``date_mae_days``, ``duration_r2``, ``span_count_signed_mean`` and so on. Values are Estimates, counts are
    integers. ``entity_list_*`` and ``list_*`` are raw precision, recall and F1, not coverage; ``list_*`` is
    the mean over documents for the class's main clause list, ``list_micro_*`` sums all list fields. R2 is
    1 - SS_res / SS_tot over pairs in which both sides parse; it may be negative, and is undefined below two
    pairs or when all expected values are equal. With documents, ``audit`` sums the factuality audit over all
    values (``audit_bag`` by the published whole-document measure), ``audit_per_field`` over each field's.

    Args:
        scored: A scored run.
    """
    boot = bootstrap_of(scored.recipe)
    fields = scored.fields
    result: Diagnostics = {}
    result.update(_error_decomposition(fields, boot))
    result["field_presence_per_field"] = {
        name: boot.mean((group["n_predicted"] > 0).to_numpy(dtype=float)) for name, group in _by_field(fields)
    }
    lists = fields[fields["type"].str.startswith("entity_list") & fields["score"].notna()]
    result.update(_list_quality(lists, boot))
    for kind, (prefix, unit) in VALUE_KINDS.items():
        result.update(_value_errors(fields[fields["value_kind"] == kind], prefix, unit, boot))
    result.update(_span_counts(lists, boot))
    if scored.recipe.grounding:
        result["audit"] = dict(audit_sums(scored))
        result["audit_bag"] = dict(audit_sums(scored, measure="bag"))
        result["audit_per_field"] = {
            field: dict(audit_sums(scored, field=field)) for field in dict.fromkeys(scored.items["field"])
        }
    return result


def diagnostics_as_dict(diagnostics: Mapping[str, Any]) -> dict[str, Any]:
    """Return diagnostics as JSON-ready values."""
    return {
        name: value.as_dict()
        if isinstance(value, Estimate)
        else diagnostics_as_dict(value)
        if isinstance(value, Mapping)
        else value
        for name, value in diagnostics.items()
    }


def stored_values(diagnostics: Mapping[str, Any], *, prefix: str = "diagnostics.") -> dict[str, Any]:
    """Flatten diagnostics to the dotted names under which run records store them.

    Examples:
        >>> stored_values({"date_r2": undefined("no pair"), "date_n_pairs": 0})
        {'diagnostics.date_r2': None, 'diagnostics.date_n_pairs': 0}
    """
    flat: dict[str, Any] = {}
    for name, value in diagnostics.items():
        if isinstance(value, Mapping):
            flat.update(stored_values(value, prefix=f"{prefix}{name}."))
        else:
            flat[f"{prefix}{name}"] = value.value if isinstance(value, Estimate) else value
    return flat


def _by_field(frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    for name, group in frame.groupby("field", sort=False):
        yield str(name), group


def _document_sums(frame: pd.DataFrame, *columns: Any) -> NDArray[np.float64]:
    """Sum columns of values over each document, shape (documents, columns)."""
    codes, names = frame["document"].factorize()
    return np.column_stack([np.bincount(codes, np.asarray(c, float), minlength=len(names)) for c in columns])


def _pooled(frame: pd.DataFrame, numerator: Any, denominator: Any, boot: Bootstrap) -> Estimate:
    sums = _document_sums(frame, numerator, denominator)
    return boot.ratio(sums[:, 0], sums[:, 1])


def _error_decomposition(fields: pd.DataFrame, boot: Bootstrap) -> Diagnostics:
    scored = fields[fields["score"].notna()]
    flags = {EXACT: "exact_rate", PARTIAL: "partial_rate", MISS: "miss_rate"}
    result: Diagnostics = {"n_fields_scored": len(scored)}
    ones = np.ones(len(scored))
    for flag, name in flags.items():
        result[f"field_{name}"] = _pooled(scored, scored["flag"] == flag, ones, boot)
    result["error_decomposition"] = {
        field: {name: boot.mean((group["flag"] == flag).to_numpy(dtype=float)) for flag, name in flags.items()}
        for field, group in _by_field(scored)
    }
    return result


def _list_quality(lists: pd.DataFrame, boot: Bootstrap) -> Diagnostics:
    result: Diagnostics = {}
    measures = {"precision": "precision", "recall": "recall", "raw_f1": "f1"}
    for name, column in measures.items():
        result[f"entity_list_{name}"] = {
            field: boot.mean(group[column].to_numpy()) for field, group in _by_field(lists)
        }
    main = _main_list(lists)
    if main is not None:
        for name, label in (("precision", "precision"), ("recall", "recall"), ("raw_f1", "f1")):
            result[f"list_{label}"] = result[f"entity_list_{name}"][main]
    result.update(_micro(lists, boot))
    return result


def _main_list(lists: pd.DataFrame) -> str | None:
    """Return the clause list with most labels; ``key_obligations`` in contracts."""
    clauses = lists[lists["type"] == "entity_list:free_text"]
    totals = (clauses if len(clauses) else lists).groupby("field", sort=True)["n_expected"].sum()
    return str(totals.idxmax()) if len(totals) else None


def _micro(lists: pd.DataFrame, boot: Bootstrap) -> Diagnostics:
    names = ("n_predicted", "n_expected", "n_matched_items", "n_matched_labels")
    sums = _document_sums(lists, *(lists[name] for name in names))

    def precision(totals: NDArray[np.float64], _: int) -> NDArray[np.float64]:
        """Matched / predicted items; 0 when none were predicted though labels were there, as in a single list."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(totals[:, 0] == 0, np.where(totals[:, 1] > 0, 0.0, np.nan), totals[:, 2] / totals[:, 0])

    def f1(totals: NDArray[np.float64], n: int) -> NDArray[np.float64]:
        with np.errstate(invalid="ignore", divide="ignore"):
            p, r = precision(totals, n), totals[:, 3] / totals[:, 1]
            return np.where(p + r == 0, 0.0, 2 * p * r / (p + r))

    return {
        "list_micro_precision": boot.of_sums(sums, precision),
        "list_micro_recall": boot.ratio(sums[:, 3], sums[:, 1]),
        "list_micro_f1": boot.of_sums(sums, f1),
        "list_micro_n_predicted": int(sums[:, 0].sum()),
        "list_micro_n_expected": int(sums[:, 1].sum()),
        "list_micro_n_matched_items": int(sums[:, 2].sum()),
        "list_micro_n_matched_labels": int(sums[:, 3].sum()),
    }


def _value_errors(frame: pd.DataFrame, prefix: str, unit: str, boot: Bootstrap) -> Diagnostics:
    pairs = frame[frame["predicted_value"].notna() & frame["expected_value"].notna()]
    return {
        f"{prefix}_mae_{unit}": _mae(pairs, boot),
        f"{prefix}_median_ae_{unit}": _median_error(pairs, boot),
        f"{prefix}_r2": _r2(pairs, boot),
        f"{prefix}_n_pairs": len(pairs),
        f"{prefix}_mae_per_field": {name: _mae(group, boot) for name, group in _by_field(pairs)},
        f"{prefix}_r2_per_field": {name: _r2(group, boot) for name, group in _by_field(pairs)},
        f"{prefix}_n_pairs_per_field": {name: len(group) for name, group in _by_field(pairs)},
    }


def _errors(pairs: pd.DataFrame) -> NDArray[np.float64]:
    return (pairs["predicted_value"] - pairs["expected_value"]).to_numpy(dtype=float)


def _mae(pairs: pd.DataFrame, boot: Bootstrap) -> Estimate:
    if pairs.empty:
        return undefined("no pair in which both sides parse")
    return _pooled(pairs, np.abs(_errors(pairs)), np.ones(len(pairs)), boot)


def _median_error(pairs: pd.DataFrame, boot: Bootstrap) -> Estimate:
    if pairs.empty:
        return undefined("no pair in which both sides parse")
    codes, names = pairs["document"].factorize()
    errors = np.abs(_errors(pairs))
    order = np.argsort(errors, kind="stable")
    errors, owners = errors[order], codes[order]

    def median(counts: NDArray[np.float64]) -> NDArray[np.float64]:
        reached = counts[:, owners].cumsum(axis=1)
        total = reached[:, -1:]
        lower = (reached >= np.ceil(total / 2)).argmax(axis=1)
        upper = (reached >= np.floor(total / 2) + 1).argmax(axis=1)
        middle: NDArray[np.float64] = (errors[lower] + errors[upper]) / 2
        return middle

    return boot.of_counts(len(names), median)


def _r2(pairs: pd.DataFrame, boot: Bootstrap) -> Estimate:
    if len(pairs) < 2:
        return undefined("fewer than two pairs in which both sides parse", n=len(pairs))
    expected = pairs["expected_value"].to_numpy(dtype=float)
    centred = expected - expected.mean()
    if (centred**2).sum() < _NO_VARIANCE:
        return undefined("all expected values are equal", n=len(pairs))
    rows = _document_sums(pairs, np.ones(len(pairs)), centred, centred**2, _errors(pairs) ** 2)

    def r2(totals: NDArray[np.float64], _: int) -> NDArray[np.float64]:
        n, total, squares, residual = totals.T
        with np.errstate(invalid="ignore", divide="ignore"):
            spread = squares - total**2 / n
            return np.where(spread < _NO_VARIANCE, np.nan, 1 - residual / spread)

    return boot.of_sums(rows, r2)


def _span_counts(lists: pd.DataFrame, boot: Bootstrap) -> Diagnostics:
    surplus = (lists["n_predicted"] - lists["n_expected"]).to_numpy(dtype=float)
    table = lists.assign(surplus=surplus)
    ones = np.ones(len(lists))
    return {
        "span_count_n_docs": len(lists),
        "span_count_mae": _pooled(lists, np.abs(surplus), ones, boot),
        "span_count_signed_mean": _pooled(lists, surplus, ones, boot),
        "span_count_mae_per_field": {
            name: boot.mean(group["surplus"].abs().to_numpy()) for name, group in _by_field(table)
        },
        "span_count_signed_mean_per_field": {
            name: boot.mean(group["surplus"].to_numpy()) for name, group in _by_field(table)
        },
    }
