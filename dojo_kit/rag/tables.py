"""The two tables of a scorecard: one row per query, one row per unit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from dojo_kit.rag.metrics import Floats
from dojo_kit.rag.panels import Panels, Scored
from dojo_kit.rag.tasks import CHUNK, RANK, RECORD
from dojo_kit.rag.votes import Majority

if TYPE_CHECKING:
    import pandas as pd


def query_table(panels: Panels, scored: Scored, values: Mapping[str, Floats]) -> pd.DataFrame:
    """Tabulate queries: id, status, whether scored, K, labels missing, group, and values.

    Args:
        panels: The panels.
        scored: Which queries are scored, and their K.
        values: Column -> one value per query.
    """
    import pandas as pd

    columns: dict[str, Any] = {
        RECORD: panels.units.records,
        "status": panels.statuses,
        "scored": scored.included,
        "k": np.where(scored.included, scored.sizes, panels.judged),
        "n_missing": panels.sizes - panels.judged,
    }
    if panels.units.groups is not None:
        columns["group"] = panels.units.groups
    return pd.DataFrame({**columns, **values}).astype(dict.fromkeys((RECORD, "status"), "str"))


def unit_table(panels: Panels, decided: Majority) -> pd.DataFrame:
    """Tabulate units: ids, decided labels, votes, and on how many labels votes differ or tie.

    Args:
        panels: The panels.
        decided: What votes decided.
    """
    import pandas as pd

    units = panels.units
    columns: dict[str, Any] = {RECORD: units.records[units.queries]}
    if units.chunks is not None:
        columns |= {CHUNK: units.chunks, RANK: units.ranks}
    for at, label in enumerate(panels.task.labels):
        known = decided.labels[:, at] >= 0
        columns[label] = pd.arrays.IntegerArray(decided.labels[:, at].astype(np.int8), ~known)
    columns |= {
        "n_votes": decided.votes,
        "n_dissent": decided.dissent.sum(axis=1),
        "n_tied": decided.tied.sum(axis=1),
    }
    return pd.DataFrame(columns)
