"""Scoring finds exactly what was planted in the sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from checked_sample import DATA, LISTS, Checked, flat, read_sample

from dojo_kit.runs import read_run
from dojo_kit.samples import PlantedFault, write_samples
from dojo_kit.schema import clause_categories
from dojo_kit.text.names import document_key
from dojo_kit.text.tokens import is_contiguous, tokens


def is_failed(run: Checked, fault: PlantedFault) -> bool:
    stored = next(row for row in run.run.rows if document_key(row.document) == document_key(fault.document)).stored
    claimed = stored["status"] == "completed" and stored["error"] is None and not stored["tokens"]
    return run.document(fault)["status"] == "failed" and claimed == (fault.kind == "disguised_failure")


def is_omitted(run: Checked, fault: PlantedFault) -> bool:
    span = run.span(fault)
    return span["status"] != "matched" and not span["best_similarity"] >= 0.6 and fault.item is None


def is_split(run: Checked, fault: PlantedFault, *, found: bool) -> bool:
    span = run.span(fault)
    whole = span["union_coverage"] == 1.0 and 0.35 <= span["best_similarity"] < 1.0
    first = fault.label is not None and fault.label.casefold().split()[:3]
    return whole and (span["status"] == "matched") is found and run.item(fault)["text"].casefold().split()[:3] == first


def is_merged(run: Checked, fault: PlantedFault) -> bool:
    span, item = run.span(fault), run.item(fault)
    both = [run.span(other) for other in run.siblings(fault) if other.item == fault.item]
    texts = {other["text"] for other in both}
    return (
        span["status"] == "matched"
        and span["best_item"] == fault.item
        and span["longer_coverage"] == 1.0
        and len(texts) >= 2
        and any(other["rule"] == "list.contained" for other in both)
        and all(is_contiguous(tokens(text), tokens(item["text"])) for text in texts)
    )


def is_truncated(run: Checked, fault: PlantedFault) -> bool:
    span = run.span(fault)
    return (
        span["status"] == "near"
        and span["best_item"] == fault.item
        and span["item_precision"] == 1.0
        and span["label_coverage"] < 0.6
        and run.item(fault)["text"] in run.text(fault)
    )


def is_over_quoted(run: Checked, fault: PlantedFault) -> bool:
    span, item = run.span(fault), run.item(fault)
    return (
        span["status"] == "matched"
        and span["best_item"] == fault.item
        and span["label_coverage"] == span["longer_coverage"] == 1.0
        and span["best_similarity"] < 0.7
        and len(tokens(item["text"])) >= 1.9 * len(tokens(span["text"]))
        and item["text"] in run.text(fault)
    )


def is_shifted(run: Checked, fault: PlantedFault) -> bool:
    span = run.span(fault)
    return (
        span["status"] == "near"
        and span["best_item"] == fault.item
        and 0.35 < span["label_coverage"] < 1.0
        and span["item_precision"] < 1.0
        and run.item(fault)["text"] in run.text(fault)
    )


def is_reworded(run: Checked, fault: PlantedFault) -> bool:
    absent = run.item(fault)["text"] not in run.text(fault)
    return run.span(fault)["status"] != "matched" and run.span(fault)["best_similarity"] < 0.6 and absent


def is_misfiled(run: Checked, fault: PlantedFault) -> bool:
    span = run.span(fault)
    (other,) = set(LISTS) - {fault.field}
    there = run.item(fault, other)["text"]
    return (
        span["status"] != "matched"
        and (span["other_field"], span["other_similarity"]) == (other, 1.0)
        and tokens(there) == tokens(span["text"])
    )


def is_dated(rule: str, score: float) -> Callable[[Checked, PlantedFault], bool]:
    def check(run: Checked, fault: PlantedFault) -> bool:
        field = run.field(fault)
        return (field["rule"], field["score"]) == (rule, score)

    return check


def is_fabricated(run: Checked, fault: PlantedFault) -> bool:
    item = run.item(fault)
    unmatched = item["matched_label"] is None or item["matched_label"] != item["matched_label"]
    return bool(unmatched) and item["similarity"] < 0.6 and item["text"] not in run.text(fault)


def is_wrong_type(run: Checked, fault: PlantedFault) -> bool:
    named = {(document_key(p.document or ""), p.field) for p in run.scored.problems}
    score = run.field(fault)["score"]
    problem = (document_key(fault.document), fault.field) in named
    return run.document(fault)["schema_valid"] == 0.0 and problem and score == 1.0


CONSEQUENCES: dict[str, Callable[[Checked, PlantedFault], bool]] = {
    "failed": is_failed,
    "disguised_failure": is_failed,
    "omitted_family": is_omitted,
    "omitted": is_omitted,
    "split_two": lambda run, fault: is_split(run, fault, found=True),
    "split_three": lambda run, fault: is_split(run, fault, found=False),
    "merged": is_merged,
    "truncated": is_truncated,
    "over_quoted": is_over_quoted,
    "shifted": is_shifted,
    "reworded": is_reworded,
    "wrong_field": is_misfiled,
    "date_same_month": is_dated("date.same_month", 0.67),
    "date_same_year": is_dated("date.same_year", 0.33),
    "date_other_year": is_dated("date.different", 0.0),
    "date_impossible": is_dated("date.impossible", 0.0),
    "date_invented": is_dated("date.null_label", 0.0),
    "fabricated": is_fabricated,
    "text_for_list": is_wrong_type,
    "list_for_text": is_wrong_type,
}
"""Kind -> whether scoring shows the planted fault; the manifest says the same in words."""

UNMATCHED = {
    "omitted_family", "omitted", "split_three", "truncated", "shifted", "reworded", "wrong_field"
}  # fmt: skip

SORTING = {
    "family_confusion", "equivalent_family", "other_fallback", "function_over_form", "wrong_type",
    "wrong_subclass", "failed", "disguised_failure",
}  # fmt: skip


def test_every_kind_is_planted_and_described(manifest: dict[str, Any]) -> None:
    kinds = {fault["kind"] for fault in manifest["faults"]}
    assert kinds == CONSEQUENCES.keys() | SORTING == manifest["kinds"].keys()
    assert {fault["run"] for fault in manifest["faults"]} == {p.stem for p in (DATA / "runs").iterdir()}


@pytest.mark.parametrize("kind", CONSEQUENCES)
def test_scoring_shows_every_planted_fault(kind: str, sample: list[Checked]) -> None:
    faults = [(run, fault) for run in sample for fault in run.faults if fault.kind == kind]
    assert faults
    assert [fault for run, fault in faults if not CONSEQUENCES[kind](run, fault)] == []


def unmatched(run: Checked) -> Counter[tuple[str, str, str]]:
    spans = run.scored.spans
    missed = spans[spans["status"] != "matched"]
    return Counter((document_key(s.document), s.field, s.category) for s in missed.itertuples())


def planted(run: Checked, kinds: Iterable[str]) -> Counter[tuple[str, Any, Any]]:
    wanted = set(kinds)
    return Counter((document_key(f.document), f.field, f.category) for f in run.faults if f.kind in wanted)


def assert_nothing_else_is_wrong(run: Checked) -> None:
    """Whatever scoring objects to was planted."""
    assert unmatched(run) == planted(run, UNMATCHED)
    fields, documents = run.scored.fields, run.scored.documents
    scalars = fields[fields["score"].notna() & ~fields["type"].str.startswith("entity_list")]
    wrong = {(document_key(f.document), f.field) for f in scalars[scalars["score"] < 1.0].itertuples()}
    assert wrong == {key[:2] for key in planted(run, (k for k in CONSEQUENCES if k.startswith("date")))}
    failed = {document_key(d) for d in documents.loc[documents["status"] == "failed", "document"]}
    assert failed == {key[0] for key in planted(run, ("failed", "disguised_failure"))}
    assert set(documents["status"]) <= {"scored", "failed"}
    typed = {(document_key(p.document or ""), p.field) for p in run.scored.problems}
    assert typed == {key[:2] for key in planted(run, ("text_for_list", "list_for_text"))}


def test_scoring_finds_nothing_that_was_not_planted(sample: list[Checked]) -> None:
    assert len(sample) == 11
    for run in sample:
        assert_nothing_else_is_wrong(run)


@pytest.mark.parametrize(("seed", "n"), [(1, 20), (2, 5)])
def test_the_same_holds_for_other_samples(seed: int, n: int, tmp_path: Path) -> None:
    write_samples(tmp_path, seed=seed, n_contracts=n)
    for run in read_sample(tmp_path):
        assert_nothing_else_is_wrong(run)
        assert [f for f in run.faults if not CONSEQUENCES[f.kind](run, f)] == []


def test_untouched_items_are_verbatim(sample: list[Checked]) -> None:
    loose = {"reworded", "fabricated", "merged"}
    for run in sample:
        touched = {
            (document_key(f.document), f.field, f.item) for f in run.faults if f.item is not None and f.kind in loose
        }
        items = run.scored.items
        for item in items[items["field"].isin(LISTS)].itertuples():
            key = (document_key(item.document), item.field, item.index)
            if key not in touched:
                assert all(part in flat(run.texts[key[0]]) for part in item.text.split(" ... ")), key


def test_better_prompts_have_fewer_faults(sample: list[Checked]) -> None:
    counts = {run.name.removeprefix("extraction_"): len(run.faults) for run in sample}
    for model in ("small", "large"):
        assert counts[f"v1_{model}"] > counts[f"v2_{model}"] > counts[f"v3_{model}"]
    assert all(counts[f"v{n}_small"] > counts[f"v{n}_large"] for n in (1, 2, 3))


def test_omitted_families_are_whole(sample: list[Checked]) -> None:
    for run in sample:
        spans = run.scored.spans
        families = {f.category for f in run.faults if f.kind == "omitted_family"}
        whole = [c for c in families if (spans.loc[spans["category"] == c, "status"] != "matched").all()]
        assert whole


def test_third_prompt_carries_a_trace_by_category(sample: list[Checked]) -> None:
    names = {category.name for category in clause_categories()}
    for run in sample:
        traced = [row.predicted for row in run.run.rows if not row.failed and "reasoning" in row.predicted]
        assert bool(traced) == ("_v3_" in run.name)
        for predicted in traced:
            entries = predicted["reasoning"]["entries"]
            quoted = {item for name in LISTS for item in predicted[name]}
            assert {entry["field"] for entry in entries} <= names
            assert {entry["evidence"] for entry in entries} <= quoted
            assert all(set(entry) == {"field", "evidence", "section_ref"} for entry in entries)


FAMILY_RUNS = ["subtype_small", "subtype_small_rerun", "subtype_small_rerun_2", "subtype_small_rerun_3"]


@pytest.mark.parametrize("name", [*FAMILY_RUNS, "docclass_small"])
def test_sorted_documents_are_wrong_where_planted(name: str, manifest: dict[str, Any]) -> None:
    run = read_run(DATA / "runs" / f"{name}.json")
    assert run.problems == ()
    faults = {document_key(f["document"]): f for f in manifest["faults"] if f["run"] == name}
    wrong = {}
    for row in run.rows:
        if row.failed:
            wrong[document_key(row.document)] = {"failed", "disguised_failure"}
        elif (row.predicted, row.predicted_subclass) != (row.expected, row.expected_subclass):
            wrong[document_key(row.document)] = SORTING - {"failed", "disguised_failure"}
    assert wrong.keys() == faults.keys()
    assert all(faults[key]["kind"] in kinds for key, kinds in wrong.items())
    assert sum(row.status == "failed" for row in run.rows) == 2
    assert {row.stored["status"] for row in run.rows if row.failed} == {"error", "completed"}


def test_family_reruns_share_most_of_their_faults(manifest: dict[str, Any]) -> None:
    faults = [{(f["document"], f["kind"]) for f in manifest["faults"] if f["run"] == name} for name in FAMILY_RUNS]
    heads = []
    for name, found in zip(FAMILY_RUNS, faults, strict=True):
        run = read_run(DATA / "runs" / f"{name}.json")
        heads.append((run.meta.model, run.meta.prompt_version, run.meta.parameters, run.fingerprint))
        assert len(found & faults[0]) >= len(faults[0]) / 2
    assert all(head == heads[0] for head in heads)
    assert len({frozenset(found) for found in faults}) == len(faults)
    assert len({len(found) for found in faults}) > 1
