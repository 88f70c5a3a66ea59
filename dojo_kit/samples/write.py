"""Writing a sample into a folder: contracts, labels, runs, and a manifest of all that is wrong with them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from dojo_kit.errors import InputError
from dojo_kit.runs import load_labels
from dojo_kit.samples.contract_text import write_contracts
from dojo_kit.samples.contracts import Contract
from dojo_kit.samples.extraction_runs import extraction_record
from dojo_kit.samples.label_runs import docclass_answers, docclass_record, subtype_answers, subtype_record
from dojo_kit.samples.labels import question_answers
from dojo_kit.samples.manifest import Manifest, PlantedFault, describe, fault_kinds, mislabelled, planted
from dojo_kit.samples.phrases import phrases
from dojo_kit.samples.planting import answers_of_run
from dojo_kit.samples.rag_files import rag_files, rag_kinds
from dojo_kit.samples.rag_labels import RagFault
from dojo_kit.storage import write_text

SEED, N_CONTRACTS = 7, 40
LABELS, MANIFEST, README = "labels.json", "manifest.json", "README.md"


def write_samples(folder: str | Path, *, seed: int = SEED, n_contracts: int = N_CONTRACTS) -> Manifest:
    """Write a sample corpus with labels and runs; the same seed gives the same bytes.

    Files of a sample written to the folder before are replaced, and removed when the new one does not have
    them and nobody changed them since.

    Args:
        folder: Where to write: ``documents/*.txt``, ``labels.json`` in the layout of CUAD, ``runs/*.json``, a workspace
            of labelled queries in ``rag``, ``manifest.json`` and ``README.md``.
        seed: Seed of everything.
        n_contracts: Contracts to write; below about 20 not every kind of fault finds a place.

    Returns:
        The manifest, which names every planted fault.

    Raises:
        InputError: A number is out of range, or the folder cannot be written.
    """
    if n_contracts < 1:
        raise InputError(f"n_contracts is {n_contracts}", expected="at least 1")
    folder = Path(folder)
    old = _written_before(folder)
    contracts = write_contracts(seed, n_contracts)
    texts = {contract.file: contract.text for contract in contracts}
    texts[LABELS] = labels_text(question_answers(contracts))
    _write(folder, texts)
    runs, faults = _runs(folder, contracts, seed)
    queries, query_faults = rag_files(contracts, seed)
    texts |= runs | queries
    texts[README] = _readme(seed, contracts, faults, query_faults)
    _write(folder, {name: texts[name] for name in (*runs, *queries, README)})
    files = {name: _hash(text.encode("utf-8")) for name, text in sorted(texts.items())}
    documents = tuple(describe(contract) for contract in contracts)
    manifest = Manifest(
        seed, n_contracts, files, documents, tuple(faults), fault_kinds(), tuple(query_faults), rag_kinds()
    )
    write_text(folder / MANIFEST, record_text(manifest.as_dict(), "documents", "faults", "rag_faults"))
    _remove_stale(folder, old, files)
    return manifest


def _runs(folder: Path, contracts: Sequence[Contract], seed: int) -> tuple[dict[str, str], list[PlantedFault]]:
    """Return the text of every run's file, and the faults in them."""
    labels = load_labels(folder / LABELS)
    records: dict[str, dict[str, Any]] = {}
    faults: list[PlantedFault] = []
    plan = phrases("plan")
    for run in plan["extraction"]:
        answers = answers_of_run(run, contracts, seed)
        records[run["name"]] = extraction_record(run, answers, labels, seed)
        faults += planted(run["name"], answers)
    first = plan["subtype"][0]
    for run in plan["subtype"]:
        families = subtype_answers(contracts, seed, rerun="" if run is first else run["name"])
        records[run["name"]] = subtype_record(run, families, seed)
        faults += mislabelled(run["name"], families)
    types = docclass_answers(contracts, seed)
    records[plan["docclass"]["name"]] = docclass_record(plan["docclass"], types, seed)
    faults += mislabelled(plan["docclass"]["name"], types)
    return {f"runs/{name}.json": record_text(record, "results") for name, record in records.items()}, faults


def _write(folder: Path, texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        write_text(folder / name, text)


def _hash(data: bytes) -> str:
    return sha256(data).hexdigest()


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def record_text(record: Mapping[str, Any], *lists: str) -> str:
    r"""Render an object with one line per key, and one per row of some lists.

    Examples:
        >>> record_text({"task": "t", "results": [{"a": 1}, {"a": 2}]}, "results")
        '{\n"task":"t",\n"results":[\n{"a":1},\n{"a":2}\n]\n}\n'
    """
    entries = []
    for key, value in record.items():
        text = "[\n" + ",\n".join(map(_line, value)) + "\n]" if key in lists else _line(value)
        entries.append(f"{_line(key)}:{text}")
    return "{\n" + ",\n".join(entries) + "\n}\n"


def labels_text(labels: Mapping[str, Any]) -> str:
    """Render labels with one line per question."""
    contracts = []
    for contract in labels["data"]:
        (paragraph,) = contract["paragraphs"]
        questions = ",\n".join(map(_line, paragraph["qas"]))
        contracts.append(
            f'{{"title":{_line(contract["title"])},"paragraphs":[{{"context":{_line(paragraph["context"])},'
            f'"qas":[\n{questions}\n]}}]}}'
        )
    return f'{{\n"version":{_line(labels["version"])},\n"data":[\n' + ",\n".join(contracts) + "\n]\n}\n"


def _written_before(folder: Path) -> dict[str, str]:
    """Return the files of a sample written to the folder before, with their hashes."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    files = manifest.get("files") if isinstance(manifest, dict) else None
    ours = isinstance(files, dict) and manifest.get("generator") == "dojo_kit.samples"
    return {str(name): str(value) for name, value in files.items()} if ours and files else {}


def _remove_stale(folder: Path, old: Mapping[str, str], new: Mapping[str, str]) -> None:
    for part, ending in (("documents", ".txt"), ("runs", ".json")):
        for path in sorted((folder / part).glob(f"*{ending}")):
            name = f"{part}/{path.name}"
            if name in old and name not in new and _hash(path.read_bytes()) == old[name]:
                path.unlink()


def _readme(
    seed: int, contracts: Sequence[Contract], faults: Sequence[PlantedFault], query_faults: Sequence[RagFault]
) -> str:
    """Say where the sample comes from and what is planted in it."""
    kinds = fault_kinds()
    counts = Counter(fault.kind for fault in faults)
    planted_lines = [
        f"| `{kind}` | {counts[kind]} | {entry['meaning']} | {entry['seen']} |" for kind, entry in kinds.items()
    ]
    in_queries = Counter(fault.kind for fault in query_faults)
    query_lines = [
        f"| `{kind}` | {in_queries[kind]} | {entry['meaning']} | {entry['seen']} |"
        for kind, entry in rag_kinds().items()
    ]
    awkward = [f"- {contract.name}: `{contract.quirk}`" for contract in contracts if contract.quirk]
    values = {
        "seed": str(seed),
        "n": str(len(contracts)),
        "families": ", ".join(sorted({contract.family for contract in contracts})),
        "awkward": "\n".join(awkward) or "- none",
        "faults": "\n".join(planted_lines),
        "query_faults": "\n".join(query_lines),
    }
    text: str = phrases("readme")["text"]
    for name, value in values.items():
        text = text.replace(f"<{name}>", value)
    return text
