"""LegalBench's tasks: a folder each, with ``train.tsv`` and ``test.tsv``; columns are ``index``, ``answer`` and a text.

Answers of a task form its own set: Yes and No, letters of a multiple choice, or classes. What a letter stands for is
only told by the task's prompt (``base_prompt.txt``), which is read where it lies in the folder.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from dojo_kit.errors import InputError, SettingsError
from dojo_kit.runs.asked_questions import AskedQuestion, QuestionSet, answer_sets, note_contradictions
from dojo_kit.runs.cells import shown
from dojo_kit.runs.problems import OnError, ProblemList
from dojo_kit.runs.raw_rows import JsonDocument, RawRow, Rows, load_content
from dojo_kit.runs.sources import PathLike, decode_text, read_bytes, source_path

LEGALBENCH_TASK = "legalbench"

Split = Literal["train", "test", "all"]

OPEN_TASKS = frozenset(
    {"citation_prediction_open", "definition_extraction", "rule_qa", "sara_numeric", "successor_liability"}
)
"""Tasks whose answers are texts, numbers or lists; those named ``ssla_...`` are too. They have no set of answers."""

_SPLITS = ("train", "test")
_METADATA = frozenset({"document_name", "slice"})
_PROMPTS = ("base_prompt.txt", "base_prompt_wo_example.txt", "claude_prompt.txt")
_OPTION = re.compile(r"^Option ([A-Z]): *(\S.*?) *$", re.MULTILINE)
_TEXT_COLUMNS = ("text", "question", "contract", "description", "premise", "citation", "holding")
_EXPECTED = "a LegalBench task (a folder with train.tsv or test.tsv), such a file, or a folder of tasks"


def load_legalbench(path: PathLike, *, split: Split = "test", on_error: OnError = "raise") -> QuestionSet:
    """Read questions of LegalBench tasks.

    Args:
        path: ``train.tsv`` or ``test.tsv``, a task's folder, or a folder of such folders.
        split: Which questions of a folder are asked; the sets of answers come from both.
        on_error: What a row without an answer does.

    Returns:
        The questions; their ``id`` is ``TASK/INDEX``. A task is named after its folder. Sets of answers are empty for
        `OPEN_TASKS`, and hold what occurs in the files: the few examples of ``train.tsv`` need not show every one.

    Raises:
        InputError: Nothing there can be read, a file has no column ``answer``, or a row is faulty and `on_error` is
            ``raise``.
        SettingsError: The split is unknown.
    """
    if split not in get_args(Split):
        raise SettingsError(f"split is {split!r}; known: {', '.join(get_args(Split))}")
    problems = ProblemList(on_error, str(path))
    path = source_path(path, expected=_EXPECTED)
    asked: list[AskedQuestion] = []
    answers: dict[str, tuple[str, ...]] = {}
    options: dict[str, Mapping[str, str]] = {}
    for task in _tasks(path, split):
        read = {file: _questions(file, task.name, problems) for file in task.files}
        asked += _unique([found for file in task.asked for found in read[file]], problems)
        meanings = _options(task.files[0].parent)
        seen = answer_sets([question for found in read.values() for _, question in found]).get(task.name, ())
        answers[task.name] = () if _is_open(task.name) else tuple(sorted({*seen, *meanings}, key=str.casefold))
        if meanings:
            options[task.name] = meanings
    if not asked:
        raise problems.nothing_left("questions", file=path, expected=_EXPECTED)
    beside = sorted({key for question in asked for key in question.given} - _METADATA)
    note_contradictions(asked, beside=beside, file=path, problems=problems)
    return QuestionSet(LEGALBENCH_TASK, tuple(asked), answers, options, str(path), problems.found)


@dataclass(frozen=True, slots=True)
class _Task:
    """A task: the files whose questions are asked, and all files its answers are known from."""

    name: str
    asked: tuple[Path, ...]
    files: tuple[Path, ...]


def _tasks(path: PathLike, split: Split) -> list[_Task]:
    place = Path(path)
    if not place.is_dir():
        known = place.stem in _SPLITS
        files = tuple(_splits(place.parent).values()) if known and place.exists() else (place,)
        return [_Task(place.absolute().parent.name if known else place.stem, (place,), files)]
    own = _splits(place)
    folders = {place.absolute().name: own} if own else _folders(place)
    if not folders:
        raise InputError("is a folder without tasks", file=path, expected=_EXPECTED)
    tasks = []
    for name, splits in folders.items():
        asked = tuple(file for found, file in splits.items() if split in (found, "all"))
        if not asked:
            have = ", ".join(file.name for file in splits.values())
            raise InputError(f"task {name!r} has {have} only", file=path, expected=f"{split}.tsv, or another split")
        tasks.append(_Task(name, asked, tuple(splits.values())))
    return tasks


def _folders(place: Path) -> dict[str, dict[str, Path]]:
    found = {folder.name: _splits(folder) for folder in sorted(place.iterdir()) if folder.is_dir()}
    return {name: files for name, files in found.items() if files}


def _splits(folder: Path) -> dict[str, Path]:
    return {name: folder / f"{name}.tsv" for name in _SPLITS if (folder / f"{name}.tsv").exists()}


def _is_open(task: str) -> bool:
    return task in OPEN_TASKS or task.startswith("ssla_")


def _options(folder: Path) -> dict[str, str]:
    """Return letter -> meaning from a task's prompt; empty where there is no prompt or it offers no options."""
    prompt = next((folder / name for name in _PROMPTS if (folder / name).is_file()), None)
    if prompt is None:
        return {}
    text = decode_text(read_bytes(prompt, expected="a prompt"), file=prompt)
    found: dict[str, str] = {}
    for letter, meaning in _OPTION.findall(text):
        found.setdefault(letter, meaning)  # an example further down may offer its own
    return found


def _questions(file: Path, task: str, problems: ProblemList) -> list[tuple[RawRow, AskedQuestion]]:
    content = load_content(file, problems, expected=_EXPECTED)
    if isinstance(content, JsonDocument):
        raise InputError("is one JSON object", file=file, expected=_EXPECTED)
    answer, index, text = (content.column(*names) for names in (("answer",), ("index",), _TEXT_COLUMNS))
    for name, column in (("answer", answer), ("text", text)):
        if column is None:
            message = f"no column {name!r}; columns found: {content.listed()}"
            raise InputError(message, file=file, field=name, expected="index, answer and text, as LegalBench has them")
    found = []
    for number, row in enumerate(content.rows):
        try:
            found.append((row, _question(row, task, str(answer), index, str(text), number, content)))
        except InputError as error:
            problems.reject(error)
    return found


def _question(
    row: RawRow, task: str, answer: str, index: str | None, text: str, number: int, rows: Rows
) -> AskedQuestion:
    values: dict[str, Any] = row.values
    for column in (answer, text):
        if values[column] is None or not str(values[column]).strip():
            raise row.error(f"not text but {shown(values[column])}", field=column, expected="text")
    name = values[index] if index is not None and values[index] is not None else number
    given = {column: values[column] for column in rows.columns if column not in (answer, index, text)}
    return AskedQuestion(f"{task}/{name}", task, str(values[text]), str(values[answer]).strip(), given)


def _unique(found: Sequence[tuple[RawRow, AskedQuestion]], problems: ProblemList) -> list[AskedQuestion]:
    questions: dict[str, AskedQuestion] = {}
    for row, question in found:
        if question.id in questions:
            problems.reject(row.error(f"{question.id!r} occurs twice", field="index", expected="one row an index"))
            continue
        questions[question.id] = question
    return list(questions.values())
