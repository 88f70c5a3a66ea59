"""The five tidy frames of a scored run: their columns, and how rows become frames.

Frames are built from plain tuples in column order; a column's kind fixes its dtype, so that an empty frame
has the same types as a full one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import pandas as pd

FrameName = Literal["documents", "fields", "items", "spans", "pairs"]

_TEXT, _FLOAT, _FLOAT32, _INT, _COUNT, _BOOL = "str", "float64", "float32", "Int32", "int32", "boolean"

COLUMNS: Mapping[FrameName, Mapping[str, str]] = {
    "documents": {
        "document": _TEXT,
        "status": _TEXT,
        "overall": _FLOAT,
        "field_presence": _FLOAT,
        "schema_valid": _FLOAT,
        "verified_precision": _FLOAT,
        "category_presence": _FLOAT,
        "needs_review": _BOOL,
        "n_fields": _INT,
        "error": _TEXT,
        "tokens": _INT,
        "chunked": _BOOL,
        "n_chunks": _INT,
    },
    "fields": {
        "document": _TEXT,
        "field": _TEXT,
        "type": _TEXT,
        "predicted": _TEXT,
        "expected": _TEXT,
        "category": _TEXT,
        "score": _FLOAT,
        "rule": _TEXT,
        "string_score": _FLOAT,
        "precision": _FLOAT,
        "recall": _FLOAT,
        "f1": _FLOAT,
        "n_predicted": _COUNT,
        "n_expected": _COUNT,
        "n_matched_items": _COUNT,
        "n_matched_labels": _COUNT,
        "predicted_value": _FLOAT,
        "expected_value": _FLOAT,
        "value_kind": _TEXT,
        "ambiguous": _BOOL,
        "flag": _TEXT,
        "cautions": _TEXT,
    },
    "items": {
        "document": _TEXT,
        "field": _TEXT,
        "index": _COUNT,
        "text": _TEXT,
        "matched_label": _INT,
        "similarity": _FLOAT,
        "category": _TEXT,
        "grounded": _BOOL,
        "grounded_bag": _BOOL,
        "true": _BOOL,
        "at": _TEXT,
        "located": _TEXT,
        "in_pieces": _BOOL,
    },
    "spans": {
        "document": _TEXT,
        "field": _TEXT,
        "index": _COUNT,
        "category": _TEXT,
        "text": _TEXT,
        "status": _TEXT,
        "rule": _TEXT,
        "matched_item": _INT,
        "matched_similarity": _FLOAT,
        "best_item": _INT,
        "best_similarity": _FLOAT,
        "string_similarity": _FLOAT,
        "label_coverage": _FLOAT,
        "item_precision": _FLOAT,
        "longer_item": _INT,
        "longer_coverage": _FLOAT,
        "union_coverage": _FLOAT,
        "covering_item": _INT,
        "best_coverage": _FLOAT,
        "other_field": _TEXT,
        "other_similarity": _FLOAT,
        "covering_field": _TEXT,
        "covering_field_coverage": _FLOAT,
        "label_at": _TEXT,
        "item_at": _TEXT,
        "located": _TEXT,
        "label_in_pieces": _BOOL,
        "place_overlap": _FLOAT,
        "here_item": _INT,
        "here_overlap": _FLOAT,
        "places_covered": _FLOAT,
        "presence": _BOOL,
    },
    "pairs": {
        "document": _TEXT,
        "field": _TEXT,
        "label": _COUNT,
        "item": _COUNT,
        "string": _FLOAT32,
        "coverage": _FLOAT32,
        "cosine": _FLOAT32,
    },
}
"""Frame -> column -> dtype.

documents: one row per document of the run; ``status`` is scored, failed, no_labels or nothing_expected; ``tokens``
counts prompt and completion; ``chunked`` and ``n_chunks`` are what the run says of how the document was cut.

fields: one row per completed, labelled document and field of the class; ``score`` is missing where nothing was
expected, ``string_score`` is the score by words alone, ``n_*`` count values, ``value_kind`` is date (proleptic
ordinal days), days or amount (US dollars).

items: one row per predicted value, scalars included; ``true`` says that it matches a label or is ``grounded``; ``at``
(JSON ranges of characters), ``located`` (exact, approximate, none) and ``in_pieces`` (the ranges are pieces of one
occurrence, not occurrences) say where an item of a labelled list stands in the document.

spans: one row per label of a list field; ``status`` is matched, taken (its nearest item pays for another label), near
or missed; ``item_at`` and ``place_overlap`` are of the item that pays for a matched label, else of the nearest;
``covering_item`` is the item that covers most of the label's distinct tokens, ``here_item`` the one that stands on most
of the label's place; ``places_covered`` is the share of the label's characters on which any item of the list stands.

pairs: label by item pairs of list fields, above the floor named in the recipe.

Columns about the document's text, and cosine, are missing where no documents or no embedder were given.
"""

FRAME_NAMES: tuple[FrameName, ...] = tuple(COLUMNS)


def make_frame(name: FrameName, rows: Sequence[tuple[Any, ...]]) -> pd.DataFrame:
    """Build a frame from tuples in column order.

    Args:
        name: Which frame.
        rows: One tuple per row.
    """
    columns = COLUMNS[name]
    values: Iterable[Sequence[Any]] = zip(*rows, strict=True) if rows else ([] for _ in columns)
    return _frame(dict(zip(columns, values, strict=True)), columns)


def make_pairs(blocks: Sequence[tuple[str, str, Any, Any, Any, Any, Any]]) -> pd.DataFrame:
    """Build the pairs frame from per-list arrays (document, field, label, item, string, coverage, cosine)."""
    import numpy as np

    columns = COLUMNS["pairs"]
    sizes = [len(block[2]) for block in blocks]
    arrays: dict[str, Any] = {}
    for position, name in enumerate(columns):
        if position < 2:
            texts = np.array([block[position] for block in blocks], dtype=object)
            arrays[name] = np.repeat(texts, sizes)
        else:
            parts = [block[position] for block in blocks]
            arrays[name] = np.concatenate(parts) if parts else []
    return _frame(arrays, columns)


def _frame(values: Mapping[str, Any], columns: Mapping[str, str]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(
        {
            name: pd.array(list(column) if isinstance(column, tuple) else column, dtype=column_type(columns[name]))
            for name, column in values.items()
        }
    )


def column_type(kind: str) -> Any:
    """Return the pandas dtype of a column kind: ``str`` is Arrow text with NaN for missing, others are as named."""
    import pandas as pd

    return pd.StringDtype("pyarrow", na_value=float("nan")) if kind == _TEXT else kind
