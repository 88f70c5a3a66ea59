"""A sample workspace of labelled queries: two annotation exports and a prediction run."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Sequence
from typing import Any

from dojo_kit.rag.tasks import TASKS, TaskName
from dojo_kit.samples.contracts import Contract
from dojo_kit.samples.phrases import phrases
from dojo_kit.samples.rag_labels import (
    Answered,
    Clock,
    RagFault,
    Row,
    changed,
    chunk_labels,
    generation_labels,
    grounding_labels,
    judged,
    predicted,
    without_labels,
)
from dojo_kit.samples.rag_queries import PILOT, Index, passages_of, questions_about, reply
from dojo_kit.storage import to_json

FOLDER = "rag"
EXPORT, PILOT_EXPORT = "2026-05", "2026-04-pilot"

_SHOWN_CONTEXT = 50
_EXPORTS = f"{FOLDER}/annotation/exports"


def rag_files(contracts: Sequence[Contract], seed: int) -> tuple[dict[str, str], list[RagFault]]:
    """Return the text of every file of the workspace, and what is planted in them.

    Args:
        contracts: The contracts that are asked about.
        seed: Seed of everything.
    """
    rng = random.Random(f"{seed}/rag")
    answered = _answered(contracts, rng)
    clock = Clock()
    chunks = [row for one in answered for row in _chunk_rows(one, rng, clock)]
    answers = {
        task: [row for one in answered for row in _answer_rows(task, one, rng, clock)]
        for task in ("grounding", "generation")
    }
    pilot_clock = Clock()
    lexical = phrases("rag")["systems"]["lexical"]
    pilot = [
        row
        for one in answered
        if one.system == lexical and one.number < PILOT
        for row in _chunk_rows(one, rng, pilot_clock, slips=False)
    ]
    faults: list[RagFault] = []
    chunks = _planted_chunks(chunks, answered, faults)
    answers["grounding"] = _planted_answers(answers["grounding"], answered, faults)
    _note_odd(answered, answers, faults)
    files = {
        **_export(EXPORT, {"retrieval": chunks, **answers}, "2026-05-20T16:30:00+02:00"),
        **_export(PILOT_EXPORT, {"retrieval": pilot}, "2026-04-11T09:00:00"),
        **_predictions(answered, rng),
    }
    return files, faults


def _answered(contracts: Sequence[Contract], rng: random.Random) -> list[Answered]:
    index = Index(passages_of(contracts))
    systems = phrases("rag")["systems"]
    found = []
    for number, question in enumerate(questions_about(contracts, rng)):
        for kind, system in systems.items():
            best = tuple(index.search(question, knows_contract=kind == "hybrid"))
            found.append(Answered(question, system, number, best, reply(question, best, rng)))
    return sorted(found, key=lambda one: (list(systems.values()).index(one.system), one.number))


def _base(one: Answered) -> Row:
    return {"record_uuid": one.question.id, "system_id": one.system, "document": one.question.contract}


def _chunk_rows(one: Answered, rng: random.Random, clock: Clock, *, slips: bool = True) -> list[Row]:
    rows: list[Row] = []
    for found in one.found:
        base = _base(one) | {
            "query": one.question.text,
            "chunk_id": found.passage.id,
            "chunk_rank": found.rank,
            "n_retrieved_chunks": len(one.found),
            "chunk": found.passage.text,
        }
        rows += judged("retrieval", chunk_labels(found), base, one.number, rng, clock, slips=slips)
    return rows


def _answer_rows(task: TaskName, one: Answered, rng: random.Random, clock: Clock) -> list[Row]:
    if task == "grounding":
        context = " [CTX_SEP] ".join(found.passage.text[:_SHOWN_CONTEXT] for found in one.found)
        base = _base(one) | {"answer": one.reply.text, "context_set": context}
        return list(judged(task, grounding_labels(one), base, one.number, rng, clock))
    base = _base(one) | {"query": one.question.text, "answer": one.reply.text}
    return list(judged(task, generation_labels(one), base, one.number, rng, clock))


def _planted_chunks(rows: list[Row], answered: Sequence[Answered], faults: list[RagFault]) -> list[Row]:
    """Plant faults in the labels of chunks, each in a query of its own; few queries hold few of them."""
    file = f"{_EXPORTS}/{EXPORT}/retrieval.csv"
    labels = TASKS["retrieval"].labels

    def tie(unit: list[Row]) -> list[Row]:
        torn = [{**row, labels[0]: at, labels[1]: 0, labels[2]: 0} for at, row in enumerate(unit[:2])]
        return [*torn, *(without_labels(row, "retrieval") for row in unit[2:])]

    def second_thought(unit: list[Row]) -> list[Row]:
        first = {**unit[0], labels[0]: 1 - unit[0][labels[0]], labels[1]: 0, "created_at": "2026-05-03T17:00:00Z"}
        return [first, *unit]

    changes: dict[str, Any] = {
        "tie": tie,
        "second_thought": second_thought,
        "discarded": lambda unit: [without_labels(row, "retrieval") for row in unit],
        "missing_chunk": lambda unit: [],
        "label_rule": lambda unit: [{**row, labels[0]: 0, labels[1]: 1, labels[2]: 0} for row in unit],
    }
    places = (
        *(("tie", 1, 2), ("second_thought", 4, 0), ("discarded", 9, 3), ("missing_chunk", 12, 1)),
        *(("label_rule", 15, 3), ("discarded", 18, 0)),
    )
    by_place = {(one.system, one.number): one for one in answered}
    for system in phrases("rag")["systems"].values():
        for kind, number, at in places:
            one = by_place.get((system, number))
            if one is None or len(one.found) <= at:
                continue
            chunk = one.found[at].passage.id
            where = {"record_uuid": one.question.id, "system_id": system, "chunk_id": chunk}
            rows = changed(rows, where, changes[kind])
            faults.append(RagFault(file, system, one.question.id, chunk, kind))
    empty = by_place.get((phrases("rag")["systems"]["lexical"], 23))
    if empty is not None:
        nothing = {"chunk_id": "", "chunk_rank": "", "n_retrieved_chunks": 0, "chunk": "", **dict.fromkeys(labels, "")}
        where = {"record_uuid": empty.question.id, "system_id": empty.system}
        rows = changed(rows, where, lambda unit: [{**unit[0], **nothing}])
        faults.append(RagFault(file, empty.system, empty.question.id, None, "nothing_retrieved"))
    return rows


def _planted_answers(rows: list[Row], answered: Sequence[Answered], faults: list[RagFault]) -> list[Row]:
    """Plant a fabricated source that is not cited."""
    refused = [one for one in answered if one.reply.kind == "refused" and one.number > 8][:1]
    for one in refused:
        where = {"record_uuid": one.question.id, "system_id": one.system}
        rows = changed(rows, where, lambda unit: [{**row, "fabricated_source": 1} for row in unit])
        file = f"{_EXPORTS}/{EXPORT}/grounding.csv"
        faults.append(RagFault(file, one.system, one.question.id, None, "label_rule"))
    return rows


def _note_odd(answered: Sequence[Answered], answers: dict[str, list[Row]], faults: list[RagFault]) -> None:
    """Empty one answer, and note the ids that look like a number and like nothing."""
    for one in answered:
        if not one.question.id.startswith("q"):
            file = f"{_EXPORTS}/{EXPORT}/retrieval.csv"
            faults.append(RagFault(file, one.system, one.question.id, None, "odd_id"))
    bare = next((one for one in answered if one.reply.kind == "bare"), None)
    if bare is None:
        return
    for task, rows in answers.items():
        for row in rows:
            if (row["record_uuid"], row["system_id"]) == (bare.question.id, bare.system):
                row["answer"] = ""
        file = f"{_EXPORTS}/{EXPORT}/{task}.csv"
        faults.append(RagFault(file, bare.system, bare.question.id, None, "empty_answer"))


def _export(export_id: str, tables: dict[str, list[Row]], created_at: str) -> dict[str, str]:
    folder = f"{_EXPORTS}/{export_id}"
    sidecar = {
        "export_id": export_id,
        "created_at": created_at,
        "dataset_id": None,
        "tasks": list(tables),
        "include_discarded": any(row["response_status"] == "discarded" for rows in tables.values() for row in rows),
        "row_counts": {task: len(rows) for task, rows in tables.items()},
        "n_annotators": {task: len({row["annotator_id"] for row in rows}) for task, rows in tables.items()},
    }
    return {
        f"{folder}/annotation_export.meta.json": to_json(sidecar),
        **{f"{folder}/{task}.csv": _csv(rows) for task, rows in tables.items()},
    }


def _predictions(answered: Sequence[Answered], rng: random.Random) -> dict[str, str]:
    """Return the labels of a model for what the second system found, with its generic names of the texts."""
    name, system = phrases("rag")["people"]["model"], phrases("rag")["systems"]["hybrid"]
    rows = []
    for one in answered:
        if one.system != system:
            continue
        for found in one.found:
            base = {
                "record_uuid": one.question.id,
                "chunk_id": found.passage.id,
                "chunk_rank": found.rank,
                "text": one.question.text,
                "text_pair": found.passage.text,
            }
            rows.append(predicted(chunk_labels(found), base, rng))
    folder = f"{FOLDER}/eval/prediction_outputs/{name}"
    sidecar = {
        "run_id": name,
        "created_at": "2026-05-21T08:00:00Z",
        "task": "retrieval",
        "unlabeled_data_path": "unlabeled.csv",
    }
    return {f"{folder}/pragmata_predict.meta.json": to_json(sidecar), f"{folder}/predictions.csv": _csv(rows)}


def _csv(rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def rag_kinds() -> dict[str, dict[str, str]]:
    """Return what each kind of planted fault is and what scoring says to it."""
    kinds: dict[str, dict[str, str]] = json.loads(json.dumps(phrases("rag")["kinds"]))
    return kinds
