"""Run records of the classification runs: contract families, and types of documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dojo_kit.samples.contracts import Contract
from dojo_kit.samples.extraction_runs import (
    ERROR,
    call_tokens,
    data_source,
    interval,
    mean,
    run_name,
    timestamp,
    total_tokens,
)
from dojo_kit.samples.phrases import phrases
from dojo_kit.samples.wording import stream

MODEL = "sample/small-1"
INSTRUCTIONS = 520
DISGUISE = "error: Connection error."
ENOUGH = 20
"""Documents from which a run has faults."""

OWN_SHARE = 0.85
"""In a rerun, weight of how easily a document goes wrong in the first run; the rest is chance."""

FAILURES = ("failed", "disguised_failure")
EQUIVALENT_SUBCLASSES = {"mixed_cash_stock": "mixed_cash_stock_election"}


@dataclass(frozen=True, slots=True)
class Case:
    """A document to be sorted.

    Attributes:
        name: Its name in the sample.
        spelled: Its name in the run.
        title: Its title.
        text: Its text; empty when only the name exists.
        truth: True label.
        subclass: True label of the second level, if any.
    """

    name: str
    spelled: str
    title: str
    text: str
    truth: str
    subclass: str | None = None


@dataclass(frozen=True, slots=True)
class Sorted:
    """A sorted document.

    Attributes:
        case: The document.
        kind: Kind of fault planted; empty when the answer is right.
        label: Predicted label.
        subclass: Predicted label of the second level.
        rerun: Name of the run when it repeats another one.
    """

    case: Case
    kind: str
    label: str
    subclass: str | None = None
    rerun: str = ""

    @property
    def failed(self) -> bool:
        """Whether the call failed, openly or in disguise."""
        return self.kind in FAILURES

    @property
    def note(self) -> str:
        """Say what was planted."""
        if self.failed:
            return "no answer"
        if self.kind == "wrong_subclass":
            return f"{self.subclass} instead of {self.case.subclass}"
        return f"{self.label} instead of {self.case.truth}"


def subtype_answers(contracts: Sequence[Contract], seed: int, *, rerun: str = "") -> list[Sorted]:
    """Sort the contracts into families, with faults.

    Args:
        contracts: Contracts of the sample.
        seed: Seed of the sample.
        rerun: Name of the run when it repeats the first one; chance then moves some of the faults.
    """
    cases = [Case(c.name, run_name(c), c.title, c.text, c.family) for c in contracts]
    first = phrases("plan")["subtype"][0]["name"]
    return _sort(cases, phrases("documents")["subtype_faults"], first, seed, rerun)


def docclass_answers(contracts: Sequence[Contract], seed: int) -> list[Sorted]:
    """Sort some contracts and other documents into types of documents, with faults."""
    table = phrases("documents")
    cases = [
        Case(c.name, run_name(c), c.title, c.text, "contract") for c in contracts[: table["docclass"]["contracts"]]
    ]
    cases += [Case(d["name"], d["name"], d["name"], "", d["type"], d.get("subclass")) for d in table["document"]]
    return _sort(cases, table["docclass_faults"], phrases("plan")["docclass"]["name"], seed)


def _sort(cases: Sequence[Case], faults: Mapping[str, int], run: str, seed: int, rerun: str = "") -> list[Sorted]:
    found = {case.name: Sorted(case, "", case.truth, case.subclass, rerun) for case in cases}
    for kind, usual in faults.items() if len(cases) >= ENOUGH else ():
        resistance = {case.name: _resistance(case.name, kind, run, rerun, seed) for case in cases}
        ranked = [found[name].case for name in sorted(resistance, key=resistance.__getitem__)]
        possible = [case for case in ranked if not found[case.name].kind and _wrong(case, kind) is not None]
        moved = rerun and kind not in FAILURES
        times = usual + stream(seed, rerun, kind, "times").choice([-1, 0, 1]) if moved else usual
        for case in possible[:times]:
            found[case.name] = replace(_wrong(case, kind) or found[case.name], rerun=rerun)
    return [found[case.name] for case in cases]


def _resistance(name: str, kind: str, run: str, rerun: str, seed: int) -> float:
    own = stream(seed, run, kind, name).random()
    if not rerun:
        return own
    return OWN_SHARE * own + (1 - OWN_SHARE) * stream(seed, rerun, kind, name).random()


def _wrong(case: Case, kind: str) -> Sorted | None:
    """Return a document sorted wrongly, None when the kind of fault does not fit it."""
    table = phrases("documents")
    match kind:
        case "failed" | "disguised_failure" | "function_over_form" | "other_fallback":
            return Sorted(case, kind, "other")
        case "equivalent_family" if case.truth in table["equivalent"]:
            return Sorted(case, kind, table["equivalent"][case.truth])
        case "family_confusion" if case.truth in table["confused"]:
            return Sorted(case, kind, table["confused"][case.truth])
        case "wrong_type":
            label = "correspondence" if case.truth != "correspondence" else "compliance_filing"
            return Sorted(case, kind, label)
        case "wrong_subclass" if case.subclass:
            return Sorted(case, kind, case.truth, EQUIVALENT_SUBCLASSES.get(case.subclass, "other"))
    return None


def subtype_record(run: Mapping[str, Any], answers: Sequence[Sorted], seed: int) -> dict[str, Any]:
    """Return the record of a run on contract families."""
    rows = [_row(answer, _subtype(answer)) for answer in answers]
    done = [row["sorter"] for row in rows if row["status"] == "completed"]
    right = [float(sorter["subtype_ok"]) for sorter in done]
    scores = {
        "exact_match": mean([float(sorter["doc_type_ok"]) for sorter in done]),
        "subtype_accuracy": mean(right),
        "subtype_accuracy_ci": interval(right),
        "subtype_accuracy_equiv": mean([float(sorter["subtype_ok_equiv"]) for sorter in done]),
        "confidence": mean([sorter["confidence"] for sorter in done]),
    }
    source = data_source([(row["filename"], "contract") for row in rows], seed)
    return _record("subtype_classification", run, source, rows, {"sorter": scores})


def docclass_record(run: Mapping[str, Any], answers: Sequence[Sorted], seed: int) -> dict[str, Any]:
    """Return the record of the run on types of documents."""
    rows = [_row(answer, _docclass(answer)) for answer in answers]
    done = [row["sorter"] for row in rows if row["status"] == "completed"]
    exact = [float(sorter["exact_match"]) for sorter in done]
    with_subclass = [sorter for sorter in done if sorter["subclass_ok"] is not None]
    scores = {
        "doc_type_accuracy": mean([float(sorter["doc_type_ok"]) for sorter in done]),
        "subclass_accuracy": mean([float(sorter["subclass_ok"]) for sorter in with_subclass]),
        "exact_match": mean(exact),
        "exact_match_ci": interval(exact),
        "subclass_accuracy_equiv": mean([float(sorter["subclass_ok_equiv"]) for sorter in with_subclass]),
        "confidence": mean([sorter["confidence"] for sorter in done]),
    }
    source = data_source([(answer.case.spelled, answer.case.truth) for answer in answers], seed)
    source["datasets"] = source["project"]
    return _record("docclass_classification", run, source, rows, scores)


def _record(
    task: str, run: Mapping[str, Any], source: dict[str, Any], rows: list[dict[str, Any]], scores: dict[str, Any]
) -> dict[str, Any]:
    tokens = total_tokens([row["sorter_tokens"] for row in rows])
    return {
        "type": "experiment",
        "task": task,
        "experiment_name": run["name"],
        "git": {"commit": "0000000", "dirty": False},
        "model": MODEL,
        "prompt_versions": {"sorter": "sample_sorter_v1"},
        "data_source": source,
        "parameters": {"temperature": 0.1, "max_tokens": 2048, "reasoning_effort": "none", "input_mode": "text"},
        "tokens": {"sorter": tokens, "total": tokens},
        "scores": scores,
        "n_rows": len(rows),
        "n_ok": sum(row["status"] == "completed" for row in rows),
        "n_error": sum(row["status"] == "error" for row in rows),
        "results": rows,
        "timestamp": timestamp(run["day"]),
    }


def _row(answer: Sorted, sorter: dict[str, Any]) -> dict[str, Any]:
    failed = answer.kind == "failed"
    used = call_tokens(answer.case.text, sorter["reasoning"], {"model": MODEL}, instructions=INSTRUCTIONS)
    return {
        "filename": answer.case.spelled,
        "status": "error" if failed else "completed",
        "error": ERROR if failed else None,
        "sorter": {key: sorter[key] for key in sorter if key.startswith("expected")} if failed else sorter,
        "sorter_tokens": {} if answer.failed else used,
    }


def _subtype(answer: Sorted) -> dict[str, Any]:
    truth, label = answer.case.truth, answer.label
    elsewhere = answer.kind in ("function_over_form", "disguised_failure")
    equivalent = answer.kind == "equivalent_family"
    return {
        "doc_type": "correspondence" if elsewhere else "contract",
        "contract_subtype": label,
        "expected_subtype": truth,
        "confidence": _confidence(answer),
        "reasoning": _reasoning(answer),
        "doc_type_ok": not elsewhere,
        "subtype_ok": label == truth,
        "subtype_ok_equiv": equivalent or label == truth,
        "failure_mode": "function_over_form" if elsewhere else answer.kind or None,
        "truncated": False,
    }


def _docclass(answer: Sorted) -> dict[str, Any]:
    case = answer.case
    right = answer.label == case.truth
    strict = None if case.subclass is None else answer.subclass == case.subclass
    equivalent = strict or EQUIVALENT_SUBCLASSES.get(case.subclass or "") == answer.subclass
    exact = right and strict is not False
    return {
        "doc_type": answer.label,
        "contract_subtype": None,
        "doc_subclass": answer.subclass,
        "expected_doc_type": case.truth,
        "expected_subclass": case.subclass,
        "confidence": _confidence(answer),
        "reasoning": _reasoning(answer),
        "doc_type_ok": right,
        "subclass_ok": strict,
        "subclass_ok_equiv": None if strict is None else equivalent,
        "exact_match": exact,
        "failure_mode": None if exact else "subclass_miss" if right else "doc_type_miss",
        "truncated": False,
        "input_mode": "text",
        "fallback_reason": None,
    }


def _confidence(answer: Sorted) -> float:
    if answer.kind == "disguised_failure":
        return 0.0
    rng = stream(0, *filter(None, (answer.rerun,)), "confidence", answer.case.name, answer.label)
    return rng.choice([0.55, 0.65, 0.7, 0.8, 0.9] if answer.kind else [0.8, 0.9, 0.95, 0.95, 0.98])


def _reasoning(answer: Sorted) -> str:
    if answer.kind == "disguised_failure":
        return DISGUISE
    title = answer.case.title
    if not answer.kind:
        return f'The title reads "{title}", and the operative provisions agree with it.'
    return (
        f'The title reads "{title}" and suggests {answer.case.truth}, but the operative provisions fit {answer.label}.'
    )
