"""Scored runs on disk: five Parquet files, a recipe and the problems met; read lazily."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dojo_kit.errors import InputError
from dojo_kit.records import Problem
from dojo_kit.scoring.frames import COLUMNS, FRAME_NAMES, FrameName
from dojo_kit.scoring.run import Recipe, ScoredRun
from dojo_kit.storage import replacing, to_json, write_text

if TYPE_CHECKING:
    import pandas as pd

ROW_GROUP = 10_000
"""Rows per Parquet row group; fixed, so that files do not depend on how scoring was split."""

RECIPE, PROBLEMS = "recipe.json", "problems.json"


class OnDisk:
    """Frames in a folder, read by column when asked for.

    Args:
        folder: Folder written by `save`.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def frame(self, name: FrameName, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Read a frame, or only some of its columns.

        Raises:
            InputError: The file is missing or is not the frame it should be.
        """
        import pandas as pd
        import pyarrow as pa

        path = self.folder / f"{name}.parquet"
        try:
            frame = pd.read_parquet(path, columns=None if columns is None else list(columns), engine="pyarrow")
        except FileNotFoundError:
            raise InputError("missing frame of a scored run", file=path, expected="a Parquet file") from None
        except (pa.ArrowException, ValueError) as error:
            raise InputError(f"cannot read frame: {error}", file=path, expected=", ".join(COLUMNS[name])) from None
        return frame


def save(scored: ScoredRun, folder: str | Path) -> Path:
    """Write a scored run into a folder: ``documents|fields|items|spans|pairs.parquet``, recipe and problems.

    Args:
        scored: The scored run.
        folder: Folder; made when missing, its files replaced.

    Returns:
        The folder.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = Path(folder)
    for name in FRAME_NAMES:
        table = pa.Table.from_pandas(scored.frame(name), preserve_index=False)
        with replacing(folder / f"{name}.parquet") as temporary:
            pq.write_table(table, temporary, row_group_size=ROW_GROUP, compression="zstd")
    write_text(folder / PROBLEMS, to_json([asdict(problem) for problem in scored.problems]))
    write_text(folder / RECIPE, to_json(scored.recipe.as_dict()))
    return folder


def load(folder: str | Path) -> ScoredRun:
    """Open a folder written by `save`; frames are read when they are asked for.

    Args:
        folder: The folder.

    Raises:
        InputError: The folder holds no scored run.
    """
    folder = Path(folder)
    recipe = _read_json(folder / RECIPE)
    names = {field.name for field in fields(Recipe)}
    if not isinstance(recipe, dict) or set(recipe) != names:
        raise InputError("not the recipe of a scored run", file=folder / RECIPE, expected=", ".join(sorted(names)))
    problems = _read_json(folder / PROBLEMS)
    return ScoredRun(OnDisk(folder), Recipe(**recipe), tuple(Problem(**problem) for problem in problems))


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError("no scored run here", file=path, expected="a folder written by save or --out") from None
    except ValueError as error:
        raise InputError(f"not JSON: {error}", file=path) from None
