"""Whether two runs were scored against the same labels, document by document as far as that is known."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

from dojo_kit.analysis.measured import Measured
from dojo_kit.analysis.measured.extraction import single_answers
from dojo_kit.records import QuestionRow
from dojo_kit.scoring.run import ScoredRun

if TYPE_CHECKING:
    import pandas as pd

_SHOWN = 3


def label_differences(a: Measured, b: Measured) -> str:
    """Say in which documents two runs expect something else.

    Scored extractions of the same documents are told apart by the fingerprint of all their labels, which does not
    depend on the answers. Of others the labels are compared in the documents they share; one that is labelled in one
    run only differs.

    Args:
        a: A run.
        b: Another one.

    Returns:
        A clause; empty when nothing shows a difference.
    """
    if isinstance(a.scored, ScoredRun) and isinstance(b.scored, ScoredRun):
        return _of_extractions(a, b, a.scored, b.scored)
    known = _known(a, b)
    if len(known[0]) and len(known[1]):
        shared = a.documents.index.intersection(b.documents.index)
        return _documents_that_differ(known[0].reindex(shared), known[1].reindex(shared), a=a, b=b)
    mine, theirs = a.recipe["labels"], b.recipe["labels"]
    if a.scored is None and b.scored is None and mine and theirs and mine != theirs:
        return f"they were scored against other labels ({mine} and {theirs})"
    return ""


def _of_extractions(a: Measured, b: Measured, first: ScoredRun, second: ScoredRun) -> str:
    same_documents = a.surface == b.surface
    if same_documents and a.recipe["labels"] == b.recipe["labels"]:
        return ""
    if a.recipe["spans"] != b.recipe["spans"]:  # what was expected differs for that reason alone
        return "their labels differ" if same_documents else ""
    shared = a.documents.index.intersection(b.documents.index)
    labels = [run.labels.reindex(shared) for run in (a, b)]
    nearest = _other_nearest(first, second) if a.recipe["settings"] == b.recipe["settings"] else []
    labels[0][labels[0].index.isin(nearest)] = "another label is nearest to the same answer"
    says = _documents_that_differ(*labels, a=a, b=b)
    return says or ("their labels differ" if same_documents else "")


def _other_nearest(a: ScoredRun, b: ScoredRun) -> list[str]:
    """Return documents in which the same answer has another nearest label: the labels must be others."""
    if a.recipe.embedder != b.recipe.embedder:
        return []
    both = single_answers(a).add_suffix("_a").join(single_answers(b).add_suffix("_b"), how="inner")
    other = both[(both["predicted_a"] == both["predicted_b"]) & (both["expected_a"] != both["expected_b"])]
    return list(other.index.get_level_values(0).unique())


def labelled_once(a: Measured, b: Measured) -> str:
    """Name documents of which a label is on record in one run only, since the call failed in the other.

    Args:
        a: A run.
        b: Another one.
    """
    if isinstance(a.scored, ScoredRun) or isinstance(b.scored, ScoredRun) or not (len(a.labels) and len(b.labels)):
        return ""
    shared = a.documents.index.intersection(b.documents.index)
    once = a.labels.reindex(shared).isna() != b.labels.reindex(shared).isna()
    if not once.any():
        return ""
    return f"a label is on record in one run only of {_named(shared[once], a)}"


def _documents_that_differ(of_a: pd.Series[Any], of_b: pd.Series[Any], *, a: Measured, b: Measured) -> str:
    """Count and name documents with other labels; both series have the same index.

    A failed row may have lost its label; one with an answer and without a label was not labelled.
    """
    lost = (of_a.isna() & _failed(a, of_a.index)) | (of_b.isna() & _failed(b, of_b.index))
    one_sided = (of_a.isna() != of_b.isna()) & ~lost
    differs = one_sided | (of_a.notna() & of_b.notna() & (of_a != of_b))
    n, n_one_sided = int(differs.sum()), int(one_sided.sum())
    if not n:
        return ""
    labelled = f", {n_one_sided:,} of them labelled in one run only" if n_one_sided else ""
    total = f"{len(of_a):,} {a.noun}{'' if len(of_a) == 1 else 's'}"
    return f"their labels differ in {n:,} of {total}{labelled}, e.g. {_names(of_a.index[differs], a)}"


def _failed(run: Measured, keys: pd.Index[Any]) -> pd.Series[bool]:
    failed: pd.Series[bool] = run.documents.loc[keys, "status"] == "failed"
    return failed


def _named(keys: pd.Index[Any], run: Measured) -> str:
    more = "" if len(keys) <= _SHOWN else f" and {len(keys) - _SHOWN:,} more"
    return f"{len(keys):,} {run.noun}{'' if len(keys) == 1 else 's'}: {_names(keys, run)}{more}"


def _names(keys: pd.Index[Any], run: Measured) -> str:
    return ", ".join(repr(str(name)) for name in run.documents.loc[keys[:_SHOWN], "document"])


def _known(a: Measured, b: Measured) -> tuple[pd.Series[Any], pd.Series[Any]]:
    """Return what each run expects in the finest form that both have: of questions the labelled text."""
    texts = [_labelled_text(run) for run in (a, b)]
    if texts[0] is not None and texts[1] is not None:
        return texts[0], texts[1]
    return a.labels, b.labels


def _labelled_text(run: Measured) -> pd.Series[Any] | None:
    """Return a hash of the labels of every question; None where the run has none or is not at hand."""
    import pandas as pd

    rows = [] if run.run is None else [row for row in run.run.rows if isinstance(row, QuestionRow)]
    if not rows:
        return None
    found = {row.document: sha256("\x1e".join(sorted(row.label_spans)).encode()).hexdigest() for row in rows}
    return pd.Series(found, dtype=object).reindex(run.documents.index)
