"""Small files in the layouts of MAUD, LegalBench and CUAD's test file, with a model's answers beside them.

Their texts are this project's own (``phrases/questions.toml``); the layouts are those of the data sets, down to the
columns that only look useful. Among the answers is one for each way in which two readings of ContractEval differ.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dojo_kit.samples.phrases import phrases
from dojo_kit.storage import write_text
from dojo_kit.tasks.contracteval.questions import contracteval_questions

MAUD_FILE, MAUD_ANSWERS = "maud/MAUD_sample.csv", "maud_answers.csv"
LEGALBENCH = "legalbench"
PAIRS_FILE, PAIR_ANSWERS = "contracteval/test.json", "contracteval/answers.jsonl"


def question_files() -> dict[str, str]:
    """Return the text of every file by its path in a sample folder.

    Examples:
        >>> sorted(question_files())[:3]
        ['contracteval/answers.jsonl', 'contracteval/test.json', 'legalbench/sample_anti-assignment/test.tsv']
    """
    table = phrases("questions")
    files = _maud(table["maud"])
    for task in table["legalbench"]:
        files |= _legalbench(task)
    return files | _contracteval(table["contracteval"])


def write_question_files(folder: str | Path) -> list[Path]:
    """Write the files into a folder.

    Args:
        folder: Where to write.

    Returns:
        Their paths.

    Raises:
        InputError: The folder cannot be written.
    """
    paths = []
    for name, text in question_files().items():
        paths.append(Path(folder) / name)
        write_text(paths[-1], text)
    return paths


def _table(columns: Sequence[str], rows: Sequence[Sequence[Any]], *, delimiter: str = ",") -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return out.getvalue()


def _maud(entry: Mapping[str, Any]) -> dict[str, str]:
    columns, rows, predictions = entry["columns"], entry["rows"], entry["predictions"]
    answered = [[*row, prediction] for row, prediction in zip(rows, predictions, strict=True)]
    return {MAUD_FILE: _table(columns, rows), MAUD_ANSWERS: _table([*columns, "prediction"], answered)}


def _legalbench(entry: Mapping[str, Any]) -> dict[str, str]:
    folder = f"{LEGALBENCH}/{entry['task']}"
    files = {f"{folder}/{split}.tsv": _table(entry["columns"], entry[split], delimiter="\t") for split in _SPLITS}
    if "prompt" in entry:
        files[f"{folder}/base_prompt.txt"] = entry["prompt"].lstrip()
    numbers = range(len(entry["predictions"]))
    answers = list(zip(numbers, entry["predictions"], strict=True))
    return files | {f"{LEGALBENCH}_answers/{entry['task']}.csv": _table(["index", "generation"], answers)}


_SPLITS = ("train", "test")


def _contracteval(entry: Mapping[str, Any]) -> dict[str, str]:
    questions = contracteval_questions()
    contracts, answers = [], []
    for contract in entry["contract"]:
        title, text = contract["title"], contract["text"].lstrip()
        asked = []
        for category, answer in zip(entry["categories"], contract["answers"], strict=True):
            name = f"{title}__{category}"
            spans = [{"text": span, "answer_start": text.index(span)} for span in contract["labels"].get(category, ())]
            asked.append({"id": name, "question": questions[category], "answers": spans, "is_impossible": not spans})
            answers.append({"id": name, "predicted": answer, "tokens": {"prompt_tokens": 90, "completion_tokens": 12}})
        contracts.append({"title": title, "paragraphs": [{"context": text, "qas": asked}]})
    record = {"version": "sample", "data": contracts}
    return {
        PAIRS_FILE: json.dumps(record, ensure_ascii=False, indent=1) + "\n",
        PAIR_ANSWERS: "".join(json.dumps(answer, ensure_ascii=False) + "\n" for answer in answers),
    }
