"""Scored runs on disk: five Parquet files, a recipe and the problems met; read lazily."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

from dojo_kit.errors import InputError, closest
from dojo_kit.records import Problem
from dojo_kit.runs.cells import shown
from dojo_kit.runs.sources import source_path
from dojo_kit.runs.strict_json import parse_json
from dojo_kit.scoring.frames import COLUMNS, FRAME_NAMES, FrameName
from dojo_kit.scoring.run import Recipe, ScoredRun
from dojo_kit.storage import encodable, replacing, to_json

if TYPE_CHECKING:
    import pandas as pd

ROW_GROUP = 10_000
"""Rows per Parquet row group; fixed, so that files do not depend on how scoring was split."""

RECIPE, PROBLEMS = "recipe.json", "problems.json"

_FOLDER = "a folder written by save or --out"
_Record = TypeVar("_Record", Recipe, Problem)


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
            InputError: There is no such frame or column, or the file is missing or is not the frame it should
                be.
        """
        import pandas as pd
        import pyarrow as pa
        import pyarrow.parquet as pq

        if name not in COLUMNS:
            message = f"no frame {name!r}{closest(str(name), FRAME_NAMES)}"
            raise InputError(message, file=self.folder, expected=f"one of {', '.join(FRAME_NAMES)}")
        known, path = COLUMNS[name], self.folder / f"{name}.parquet"
        wanted = list(known if columns is None else columns)
        for column in wanted:
            if column not in known:
                message = f"no column {column!r} in frame {name!r}{closest(str(column), known)}"
                raise InputError(message, file=path, expected=f"one of {', '.join(known)}")
        if not path.is_file():
            raise InputError("missing frame of a scored run", file=path, expected="a Parquet file")
        try:
            missing = [column for column in known if column not in pq.read_schema(path).names]
            if missing:
                message = f"not the frame {name!r}: it has no column {', '.join(missing)}"
                raise InputError(message, file=path, expected=f"columns {', '.join(known)}")
            return pd.read_parquet(path, columns=wanted, engine="pyarrow")
        except InputError:
            raise
        except (pa.ArrowException, ValueError, OSError) as error:
            message = f"cannot read frame: {' '.join(str(error).split())}"
            raise InputError(message, file=path, expected=f"columns {', '.join(known)}") from None


def save(scored: ScoredRun, folder: str | Path) -> Path:
    """Write a scored run into a folder: ``documents|fields|items|spans|pairs.parquet``, recipe and problems.

    Everything is written under temporary names first, so that a full disk leaves a run saved before as it was.
    Then the old recipe goes, and the new one comes last: a folder without one is no scored run.

    Args:
        scored: The scored run.
        folder: Folder; made when missing, its files replaced.

    Returns:
        The folder.

    Raises:
        InputError: The folder cannot be written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = Path(source_path(folder, expected="a folder for the scored run"))
    with ExitStack() as stack:  # leaves in reverse order: the recipe is renamed last
        recipe = stack.enter_context(replacing(folder / RECIPE))
        recipe.write_text(encodable(to_json(scored.recipe.as_dict())), encoding="utf-8", newline="\n")
        problems = stack.enter_context(replacing(folder / PROBLEMS))
        text = to_json([asdict(problem) for problem in scored.problems])
        problems.write_text(encodable(text), encoding="utf-8", newline="\n")
        for name in FRAME_NAMES:
            temporary = stack.enter_context(replacing(folder / f"{name}.parquet"))
            table = pa.Table.from_pandas(scored.frame(name), preserve_index=False)
            pq.write_table(table, temporary, row_group_size=ROW_GROUP, compression="zstd")
        (folder / RECIPE).unlink(missing_ok=True)
    return folder


def load(folder: str | Path) -> ScoredRun:
    """Open a folder written by `save`; frames are read when they are asked for.

    Args:
        folder: The folder.

    Raises:
        InputError: The folder holds no scored run.
    """
    folder = Path(source_path(folder, expected=_FOLDER))
    if folder.is_file():
        raise InputError("is a file, not a folder", file=folder, expected=_FOLDER)
    recipe = _record(Recipe, _read_json(folder / RECIPE), folder / RECIPE)
    problems = _read_json(folder / PROBLEMS)
    if not isinstance(problems, list):
        raise InputError(f"not a list but {shown(problems)}", file=folder / PROBLEMS, expected="a list of problems")
    found = tuple(_record(Problem, problem, folder / PROBLEMS) for problem in problems)
    return ScoredRun(OnDisk(folder), recipe, found)


def _record(kind: type[_Record], values: Any, path: Path) -> _Record:
    """Make a record of decoded JSON whose keys and types are checked."""
    from pydantic import TypeAdapter, ValidationError

    names = [field.name for field in fields(kind)]
    if not isinstance(values, dict) or set(values) != set(names):
        message = f"not the {kind.__name__.lower()} of a scored run"
        raise InputError(message, file=path, expected=f"an object with {', '.join(names)}")
    for name, wanted in get_type_hints(kind).items():
        try:
            TypeAdapter(wanted).validate_python(values.get(name), strict=True)
        except ValidationError:
            expected = getattr(wanted, "__name__", str(wanted))
            raise InputError(
                f"{shown(values[name])} is of a wrong type", file=path, field=name, expected=expected
            ) from None
    return kind(**values)


def _read_json(path: Path) -> Any:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError("no scored run here", file=path, expected=_FOLDER) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise InputError(f"cannot be read: {reason}", file=path, expected=_FOLDER) from None
    return parse_json(text, file=path)
