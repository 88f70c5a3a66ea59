"""Corpora from run files, and corpora as Parquet files.

Files are read one run at a time, logs one line at a time, so that a corpus of many files can be written without holding
more than one run and one row group.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dojo_kit.errors import InputError, closest
from dojo_kit.records import Problem, Run
from dojo_kit.runs.problems import OnError, ProblemList
from dojo_kit.runs.run_files import read_records, read_run, run_from_record
from dojo_kit.runs.sources import PathLike, decode_text, existing_file, read_bytes, source_path, split_fragment
from dojo_kit.runs.strict_json import parse_json, parse_line
from dojo_kit.simulate.corpus import COLUMNS, CORPUS_TASKS, Corpus, RowReader, corpus_frame, left_out_note
from dojo_kit.storage import replacing
from dojo_kit.tasks.table import task_kind

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

ROW_GROUP = 50_000
"""Rows of a Parquet row group."""

_EXPECTED = "run files"
_CORPUS = "a corpus written by write_corpus or build_corpus"
_OVERRIDES = "an object: experiment name -> id of the run whose rows replace it"
_METADATA = b"dojo_corpus"
_LATER = ("made", "content")
"""Columns that files written earlier do not have."""
_SUFFIXES = (".json", ".jsonl", ".ndjson")


def read_corpus(
    paths: Iterable[PathLike],
    *,
    tasks: Collection[str] = CORPUS_TASKS,
    legacy: bool = False,
    overrides: Mapping[str, str] | None = None,
    on_error: OnError = "raise",
    progress: Callable[[int, int], None] | None = None,
) -> Corpus:
    """Read run files into one corpus.

    Args:
        paths: Run records, experiment logs, manifests or predictions, in the order in which the runs were made; a
            folder stands for its JSON and JSONL files by name, ``9.json`` before ``10.json``.
        tasks: Tasks that enter; runs of other tasks are left out and counted in the corpus's notes.
        legacy: Read rows as published; records that keep their rows under ``per_row`` only are left out.
        overrides: With ``legacy`` only: experiment name -> run (its file's name without ending, or its path) whose
            answers replace those of that name, as by `read_overrides`.
        on_error: What a faulty row or line does, as in `read_run`.
        progress: Called with (files read, files in all).

    Raises:
        InputError: A file cannot be read, no run has labels, or an override names no run or no experiment.
    """
    source = _Source(_files(paths), frozenset(map(task_kind, tasks)), legacy, on_error)
    reader = RowReader(tasks=tasks, legacy=legacy, overrides=source.overriding(overrides or {}))
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    for chunk in source.chunks(reader, progress):
        for name, values in chunk.items():
            columns[name] += values
    notes = (*source.notes, *reader.notes)
    return Corpus(corpus_frame(columns), legacy, notes, tuple(source.problems), on_error)


def build_corpus(
    paths: Iterable[PathLike],
    target: PathLike,
    *,
    tasks: Collection[str] = CORPUS_TASKS,
    legacy: bool = False,
    overrides: Mapping[str, str] | None = None,
    on_error: OnError = "raise",
) -> tuple[Problem, ...]:
    """Read run files into a Parquet file, one run at a time.

    Args:
        paths: As in `read_corpus`.
        target: The file.
        tasks: As in `read_corpus`.
        legacy: As in `read_corpus`.
        overrides: As in `read_corpus`.
        on_error: As in `read_corpus`.

    Returns:
        What was wrong with rows and lines that were left out.

    Raises:
        InputError: As in `read_corpus`, or the file cannot be written.
    """
    source = _Source(_files(paths), frozenset(map(task_kind, tasks)), legacy, on_error)
    reader = RowReader(tasks=tasks, legacy=legacy, overrides=source.overriding(overrides or {}))
    with _writing(target) as writer:
        waiting: dict[str, list[Any]] = {name: [] for name in COLUMNS}
        for chunk in source.chunks(reader):
            for name, values in chunk.items():
                waiting[name] += values
            if len(waiting["run_id"]) >= ROW_GROUP:
                writer.write(waiting)
                waiting = {name: [] for name in COLUMNS}
        writer.write(waiting)
        writer.finish(legacy, (*source.notes, *reader.notes))
    return tuple(source.problems)


def write_corpus(corpus: Corpus, target: PathLike) -> Path:
    """Write a corpus as Parquet.

    Args:
        corpus: The corpus, with its reasons.
        target: The file; replaced when it exists.

    Returns:
        The file.

    Raises:
        InputError: The file cannot be written, or the corpus was read without some columns.
    """
    missing = [name for name in COLUMNS if name not in corpus.rows]
    if missing:
        raise InputError(f"the corpus was read without {', '.join(missing)}", expected="a whole corpus")
    with _writing(target) as writer:
        for start in range(0, len(corpus.rows), ROW_GROUP):
            part = corpus.rows.iloc[start : start + ROW_GROUP]
            writer.write({name: _plain(part[name], kind) for name, kind in COLUMNS.items()})
        writer.finish(corpus.legacy, corpus.notes)
    return Path(target)


def load_corpus(path: PathLike, *, columns: Sequence[str] | None = None) -> Corpus:
    """Read a corpus from Parquet.

    Args:
        path: The file.
        columns: Only these columns, e.g. `dojo_kit.simulate.corpus_summary.SUMMARY_COLUMNS`; reasons take most of the
            room.

    Raises:
        InputError: The file is no corpus, or has no such column.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = existing_file(source_path(path, expected=_CORPUS), expected=_CORPUS)
    wanted = list(COLUMNS if columns is None else columns)
    for name in wanted:
        if name not in COLUMNS:
            raise InputError(f"no column {name!r}{closest(name, COLUMNS)}", file=path, expected=", ".join(COLUMNS))
    try:
        about_file = pq.read_metadata(file)
        described = about_file.metadata or {}
        if _METADATA not in described:
            raise InputError("is no corpus", file=path, expected=_CORPUS)
        held = [name for name in wanted if name in about_file.schema.names or name not in _LATER]
        categories = [name for name in held if COLUMNS[name] == "category"]
        table = pq.read_table(file, columns=held, read_dictionary=categories)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"cannot be read ({str(error).splitlines()[0]})", file=path, expected=_CORPUS) from None
    about = json.loads(described[_METADATA])
    rows = table.unify_dictionaries().to_pandas()
    for name in set(wanted) - set(held):
        rows[name] = ""
    rows = rows[wanted]
    kinds = {name: COLUMNS[name] for name in wanted if rows[name].dtype != COLUMNS[name]}
    return Corpus(rows.astype(kinds), bool(about["legacy"]), tuple(about["notes"]))


def read_overrides(path: PathLike) -> dict[str, str]:
    """Read which runs replace the rows of which experiments.

    Args:
        path: A JSON object: experiment name -> id of a run.

    Raises:
        InputError: The file is something else.
    """
    value = parse_json(decode_text(read_bytes(path, expected=_OVERRIDES), file=path), file=path, expected=_OVERRIDES)
    if not isinstance(value, dict) or not all(isinstance(run, str) and run for run in value.values()):
        raise InputError("is no table of overrides", file=path, expected=_OVERRIDES)
    return value


def _files(paths: Iterable[PathLike]) -> list[PathLike]:
    found: list[PathLike] = []
    for path in paths:
        folder = Path(source_path(path, expected=_EXPECTED))
        if folder.is_dir():
            inside = sorted(
                (file for file in folder.iterdir() if file.suffix.lower() in _SUFFIXES),
                key=lambda file: _in_order(file.name),
            )
            if not inside:
                raise InputError("holds no JSON or JSONL files", file=path, expected=_EXPECTED)
            found += inside
        else:
            found.append(path)
    if not found:
        raise InputError("no files given", field="paths", expected=_EXPECTED)
    return found


def _in_order(name: str) -> list[tuple[bool, Any]]:
    """Return a sort key that takes digits for numbers, which stand before other text, as they do in plain order."""
    parts = (part for part in re.split(r"(\d+)", name) if part)
    return [(not part.isdecimal(), int(part) if part.isdecimal() else part) for part in parts]


class _Source:
    """The runs of some files, one at a time."""

    def __init__(self, files: list[PathLike], tasks: frozenset[str], legacy: bool, on_error: OnError) -> None:
        self.files, self.tasks, self.legacy, self.on_error = files, tasks, legacy, on_error
        self.problems: list[Problem] = []
        self._other_tasks: dict[str, int] = {}
        self._without_results = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out so far."""
        notes = [left_out_note(n, f"of task {task!r}") for task, n in sorted(self._other_tasks.items())]
        if self._without_results:
            notes.append(left_out_note(self._without_results, "without 'results', as published,"))
        return tuple(notes)

    def chunks(
        self, reader: RowReader, progress: Callable[[int, int], None] | None = None
    ) -> Iterator[dict[str, list[Any]]]:
        """Yield the columns of every run.

        Raises:
            InputError: No run has labels of the tasks, or an override is for an experiment no run has.
        """
        some = False
        for done, file in enumerate(self.files, start=1):
            for run in self._runs(file):
                self.problems += run.problems
                columns = reader.read(run)
                if columns:
                    some = True
                    yield columns
            if progress:
                progress(done, len(self.files))
        reader.finish()
        if not some:
            expected = f"runs of {', '.join(sorted(self.tasks))}"
            raise InputError("no run has labels of these tasks", file=self.files[0], expected=expected)

    def overriding(self, overrides: Mapping[str, str]) -> dict[str, Run]:
        """Return the run that each override names."""
        by_id = {Path(file).stem: file for file in self.files} | {str(file): file for file in self.files}
        for name, wanted in overrides.items():
            if wanted not in by_id:
                message = f"no run {wanted!r}{closest(wanted, by_id)}"
                raise InputError(message, field=name, expected="the name of one of the files without its ending")
        return {name: read_run(by_id[wanted], on_error=self.on_error) for name, wanted in overrides.items()}

    def _runs(self, file: PathLike) -> Iterator[Run]:
        """Yield the runs of a file that enter."""
        path, pick = split_fragment(source_path(file, expected=_EXPECTED))
        if pick is None and (lines := _record_lines(path, self.on_error, self.problems)) is not None:
            for number, record in lines:
                yield from self._entering(record, str(path) if number is None else f"{path}#{number}")
            return
        try:
            records = read_records(file, on_error=self.on_error)
        except InputError:
            yield read_run(file, on_error=self.on_error)
            return
        for name, record in records:
            yield from self._entering(record, name)

    def _entering(self, record: Mapping[str, Any], name: str) -> Iterator[Run]:
        task = record.get("task")
        if isinstance(task, str) and task_kind(task) not in self.tasks:
            key = task_kind(task)
            self._other_tasks[key] = self._other_tasks.get(key, 0) + 1
        elif self.legacy and not record.get("results"):
            self._without_results += 1
        else:
            yield run_from_record(record, source=name, on_error=self.on_error)


def _record_lines(
    path: PathLike, on_error: OnError, found: list[Problem]
) -> Iterator[tuple[int | None, Mapping[str, Any]]] | None:
    """Return an iterator over a log's records, with their lines; None when the file is no log of one record a line."""
    file = existing_file(path, expected=_EXPECTED)
    with file.open("rb") as lines:
        first = next((line for line in lines if line.strip()), b"")
        more = any(line.strip() for line in lines)
    try:
        record = parse_line(first, file=path, number=1, start=0, expected=_EXPECTED)
    except InputError:
        return None
    if not isinstance(record, dict) or not (
        {"results", "per_row"} & record.keys() or record.get("type") == "experiment"
    ):
        return None
    return _records_by_line(file, path, on_error, found) if more else iter([(None, record)])


def _records_by_line(
    file: Path, path: PathLike, on_error: OnError, found: list[Problem]
) -> Iterator[tuple[int | None, Mapping[str, Any]]]:
    problems = ProblemList(on_error, str(path))
    start = 0
    with file.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                if line.strip():
                    expected = "a run record a line"
                    record = parse_line(line, file=path, number=number, start=start, expected=expected)
                    if not isinstance(record, dict):
                        raise InputError("no run record", file=path, line=number, expected=expected)
                    yield number, record
            except InputError as error:
                problems.reject(error)
            start += len(line)
    found += problems.found


@dataclass
class _Writer:
    """Writes row groups, and what the corpus is at the end."""

    parquet: Any
    schema: pa.Schema

    def write(self, columns: Mapping[str, list[Any]]) -> None:
        import pyarrow as pa

        if columns["run_id"]:
            self.parquet.write_table(pa.table(dict(columns), schema=self.schema), row_group_size=ROW_GROUP)

    def finish(self, legacy: bool, notes: Sequence[str]) -> None:
        about = json.dumps({"version": 1, "legacy": legacy, "notes": list(notes)})
        self.parquet.add_key_value_metadata({_METADATA.decode(): about})


@contextmanager
def _writing(target: PathLike) -> Iterator[_Writer]:
    """Open a corpus file that appears whole or not at all."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {"category": pa.string(), "object": pa.string(), "float64": pa.float64(), "bool": pa.bool_()}
    schema = pa.schema([(name, types[kind]) for name, kind in COLUMNS.items()])
    path = Path(source_path(target, expected="a file to write"))
    with replacing(path) as temporary, pq.ParquetWriter(temporary, schema, compression="zstd") as parquet:
        yield _Writer(parquet, schema)


def _plain(column: pd.Series[Any], kind: str) -> list[Any]:
    """Return a column's values; what is missing as None."""
    values = column.astype(object)
    return values.where(values.notna(), None).tolist() if kind in ("category", "float64") else values.tolist()
