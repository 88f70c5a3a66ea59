"""The sample corpus: written the same everywhere, and scoring finds exactly what was planted in it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from dojo_kit.analysis.verify import verify_record
from dojo_kit.errors import InputError
from dojo_kit.records import Run
from dojo_kit.runs import load_documents, load_labels, read_run
from dojo_kit.samples import PlantedFault, write_samples
from dojo_kit.samples.__main__ import main
from dojo_kit.samples.contract_text import write_contracts
from dojo_kit.samples.contracts import Contract
from dojo_kit.schema import clause_categories
from dojo_kit.scoring.run import ScoredRun, score_run
from dojo_kit.text.names import document_key
from dojo_kit.text.tokens import is_contiguous, token_f1, tokens

DATA = Path(__file__).parents[2] / "data"
LISTS = ("key_obligations", "termination_clauses")
REGENERATE = "data/ is not what the code writes; run: python -m dojo_kit.samples data"


def flat(text: str) -> str:
    """Return text on one line."""
    return " ".join(text.split())


@dataclass(frozen=True)
class Checked:
    """A scored run with everything needed to look at one planted fault."""

    name: str
    run: Run
    scored: ScoredRun
    faults: tuple[PlantedFault, ...]
    texts: dict[str, str]

    @cached_property
    def frames(self) -> dict[str, dict[tuple[Any, ...], dict[str, Any]]]:
        """Rows of the frames by document key and what tells them apart within a document."""
        keys = {"documents": (), "fields": ("field",), "items": ("field", "index"), "spans": ("category",)}
        return {
            name: {
                (document_key(row["document"]), *(row[column] for column in columns)): row
                for row in getattr(self.scored, name).to_dict("records")
                if name != "spans" or row["field"] in LISTS
            }
            for name, columns in keys.items()
        }

    def document(self, fault: PlantedFault) -> dict[str, Any]:
        return self.frames["documents"][(document_key(fault.document),)]

    def field(self, fault: PlantedFault) -> dict[str, Any]:
        return self.frames["fields"][document_key(fault.document), fault.field]

    def span(self, fault: PlantedFault) -> dict[str, Any]:
        found = self.frames["spans"][document_key(fault.document), fault.category]
        assert found["text"].startswith(fault.label)
        assert found["field"] == fault.field
        return found

    def item(self, fault: PlantedFault, field: str | None = None) -> dict[str, Any]:
        return self.frames["items"][document_key(fault.document), field or fault.field, fault.item]

    def text(self, fault: PlantedFault) -> str:
        return flat(self.texts[document_key(fault.document)])

    def siblings(self, fault: PlantedFault) -> list[PlantedFault]:
        """Faults of the same kind in the same document."""
        return [f for f in self.faults if (f.document, f.kind) == (fault.document, fault.kind)]


def read_sample(folder: Path) -> list[Checked]:
    """Read a sample with the loaders and score its extraction runs."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    faults = [PlantedFault(**fault) for fault in manifest["faults"]]
    labels, documents = load_labels(folder / "labels.json"), load_documents(folder / "documents")
    texts = {key: documents[key] for key in documents}
    checked = []
    for path in sorted((folder / "runs").glob("extraction_*.json")):
        run = read_run(path)
        mine = tuple(fault for fault in faults if fault.run == path.stem)
        checked.append(Checked(path.stem, run, score_run(run, labels, spans="all"), mine, texts))
    return checked


@pytest.fixture(scope="module")
def manifest() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((DATA / "manifest.json").read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def sample() -> list[Checked]:
    return read_sample(DATA)


@pytest.fixture(scope="module")
def labels_json() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((DATA / "labels.json").read_text(encoding="utf-8"))
    return found


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


# --- what is written ---------------------------------------------------------------------------------------


def test_regenerating_gives_the_committed_bytes(tmp_path: Path) -> None:
    write_samples(tmp_path)
    new, old = contents(tmp_path), contents(DATA)
    assert new.keys() == old.keys(), REGENERATE
    assert [name for name in new if new[name] != old[name]] == [], REGENERATE


def test_bytes_do_not_depend_on_the_order_of_sets(tmp_path: Path) -> None:
    write_samples(tmp_path / "here", n_contracts=2)
    command = [sys.executable, "-m", "dojo_kit.samples", str(tmp_path / "there"), "--contracts", "2"]
    for seed in ("1", "2"):
        subprocess.run(command, check=True, capture_output=True, env=os.environ | {"PYTHONHASHSEED": seed})
        assert contents(tmp_path / "here") == contents(tmp_path / "there")


def test_another_seed_writes_other_contracts() -> None:
    texts = [{contract.text for contract in write_contracts(seed, 40)} for seed in (7, 8)]
    assert not texts[0] & texts[1]


def test_manifest_names_every_file_with_its_hash(manifest: dict[str, Any]) -> None:
    found = {name: sha256(data).hexdigest() for name, data in contents(DATA).items() if name != "manifest.json"}
    assert manifest["files"] == found


def test_data_is_small_enough_to_commit() -> None:
    assert sum(map(len, contents(DATA).values())) < 2_000_000


def test_readme_states_provenance_licence_and_command() -> None:
    text = (DATA / "README.md").read_text(encoding="utf-8")
    for words in ("generated by this project", "MIT", "python -m dojo_kit.samples data", "`omitted_family` |"):
        assert words in text
    assert not re.search(r"<(seed|n|families|awkward|faults)>", text)


def test_writing_again_removes_what_the_new_sample_lacks_unless_it_was_edited(tmp_path: Path) -> None:
    first = write_samples(tmp_path, n_contracts=3)
    edited, stale = (tmp_path / document.file for document in first.documents[1:])
    edited.write_text("notes", encoding="utf-8")
    foreign = tmp_path / "documents" / "mine.txt"
    foreign.write_text("mine", encoding="utf-8")
    write_samples(tmp_path, n_contracts=1)
    assert edited.exists()
    assert foreign.exists()
    assert not stale.exists()


def test_a_sample_needs_a_contract(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="n_contracts is 0"):
        write_samples(tmp_path, n_contracts=0)


def test_command_reports_what_it_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["samples", str(tmp_path), "--contracts", "2"])
    assert main() == 0
    assert "planted faults, seed 7" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["samples", str(tmp_path), "--contracts", "0"])
    assert main() == 2
    assert "n_contracts" in capsys.readouterr().err


# --- contracts and labels ----------------------------------------------------------------------------------


def test_contracts_are_varied(manifest: dict[str, Any]) -> None:
    documents = manifest["documents"]
    assert len(documents) == 40
    assert len({document["family"] for document in documents}) >= 8
    assert all(600 <= document["words"] <= 1500 for document in documents)
    quirks = {document["quirk"] for document in documents}
    assert quirks == {
        "", "curly", "double_spaces", "accented", "blank_date", "wrapped", "omitted", "capitals"
    }  # fmt: skip


def answers(labels: dict[str, Any]) -> Iterator[tuple[str, str, str, int]]:
    """Yield context, category, text and offset of every label."""
    for contract in labels["data"]:
        (paragraph,) = contract["paragraphs"]
        for question in paragraph["qas"]:
            title, _, category = question["id"].partition("__")
            assert title == contract["title"]
            assert question["is_impossible"] is not bool(question["answers"])
            for answer in question["answers"]:
                yield paragraph["context"], category, answer["text"], answer["answer_start"]


def test_every_label_stands_at_its_offset(labels_json: dict[str, Any]) -> None:
    joined = 0
    for context, _, text, start in answers(labels_json):
        first, omitted, rest = text.partition("<omitted>")
        assert context[start : start + len(first)] == first
        if omitted:
            joined += 1
            assert context.find(rest, start + len(first)) > start + len(first)
    assert joined == 1


def test_labels_cover_cuad(labels_json: dict[str, Any]) -> None:
    names = [category.name for category in clause_categories()]
    for contract in labels_json["data"]:
        ids = [question["id"] for question in contract["paragraphs"][0]["qas"]]
        assert ids == [f"{contract['title']}__{name}" for name in names]
    counts = Counter(category for _, category, _, _ in answers(labels_json))
    assert set(counts) == set(names)
    assert min(counts.values()) >= 3


def test_dates_are_written_in_many_ways(labels_json: dict[str, Any]) -> None:
    dates = [text for _, category, text, _ in answers(labels_json) if category == "Agreement Date"]
    shapes = (
        r"[A-Z]\w+ \d+, \d{4}", r"\d+(st|nd|rd|th) day of \w+, +\d{4}", r"\d\d/\d\d/\d{4}", r"\d{4}-\d\d-\d\d",
        r"\d+ [A-Z]\w+ \d{4}", r"[a-z]+ day of \w+, \d{4}", r"____ day of _+, 20__",
    )  # fmt: skip
    for shape in shapes:
        assert any(re.fullmatch(shape, text) for text in dates), shape


def test_documents_are_the_contexts_of_the_labels(labels_json: dict[str, Any]) -> None:
    documents = load_documents(DATA / "documents")
    assert len(documents) == len(labels_json["data"])
    for contract in labels_json["data"]:
        assert documents[document_key(contract["title"])] == contract["paragraphs"][0]["context"]
    assert all("\r" not in documents[key] for key in documents)


def test_loaders_find_nothing_to_complain_about(manifest: dict[str, Any], sample: list[Checked]) -> None:
    labels, documents = load_labels(DATA / "labels.json"), load_documents(DATA / "documents")
    assert labels.problems == documents.problems == ()
    keys = {document_key(document["document"]) for document in manifest["documents"]}
    assert set(labels.documents) == set(documents) == keys
    for checked in sample:
        assert checked.run.problems == ()
        assert {document_key(row.document) for row in checked.run.rows} == keys


def clause_texts(contract: Contract) -> list[tuple[str, ...]]:
    return [tokens(contract.quoted(clause)) for clause in contract.clauses if clause.categories]


@pytest.mark.parametrize("seed", [7, 8, 9])
def test_no_clause_could_be_taken_for_another(seed: int) -> None:
    for contract in write_contracts(seed, 40):
        for one, other in combinations(clause_texts(contract), 2):
            assert token_f1(one, other) < 0.6
            assert not is_contiguous(one, other)
            assert not is_contiguous(other, one)


# --- what is planted, and what scoring shows of it -----------------------------------------------------------


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
    assert len(sample) == 8
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


# --- stored scores and settings ----------------------------------------------------------------------------


def test_stored_scores_are_what_the_package_computes(sample: list[Checked]) -> None:
    for run in sample:
        metrics, stored = run.scored.metrics(), run.run.stored_scores
        disguised = sum(fault.kind == "disguised_failure" for fault in run.faults)
        for name in ("overall_extraction_score", "field_presence", "schema_valid"):
            value, n = metrics[name].value, metrics[name].n
            assert value is not None
            assert stored[name] == pytest.approx(value * n / (n + disguised), abs=1e-4)
        for name, score in stored["per_field"].items():
            assert score == pytest.approx(metrics[f"{name}_score"].value, abs=1e-4)


@pytest.mark.parametrize("path", sorted((DATA / "runs").iterdir()), ids=lambda path: path.stem)
def test_every_stored_number_follows_from_the_rows(path: Path) -> None:
    report = verify_record(json.loads(path.read_text(encoding="utf-8")), name=path.stem, prices={})
    assert report.differences == ()
    assert report.equal == report.checked > 30


def test_reruns_differ_in_nothing_but_luck(sample: list[Checked]) -> None:
    runs = {run.name: run for run in sample}
    reruns = [name for name in runs if name.endswith("_rerun")]
    assert len(reruns) == 2
    for name in reruns:
        first, second = runs[name.removesuffix("_rerun")].run, runs[name].run
        one, two = (dict(run.meta.parameters) for run in (first, second))
        assert one.pop("manifest") != two.pop("manifest")
        assert (one, first.meta.model, first.meta.prompt_version) == (
            two,
            second.meta.model,
            second.meta.prompt_version,
        )
        assert first.fingerprint == second.fingerprint
        assert first.stored_scores != second.stored_scores


def test_usage_adds_up(sample: list[Checked]) -> None:
    for run in sample:
        record = json.loads((DATA / "runs" / f"{run.name}.json").read_text(encoding="utf-8"))
        used = [row.usage for row in run.run.rows if row.usage]
        cost = sum(usage.cost_usd or 0 for usage in used)
        assert record["tokens"]["total_tokens"] == sum(usage.total_tokens for usage in used)
        assert record["tokens"]["rows_with_usage"] == len(used) == sum(not row.failed for row in run.run.rows)
        assert record["tokens"]["cost_total_usd"] == pytest.approx(cost, abs=1e-6)


@pytest.mark.parametrize("name", ["subtype_small", "docclass_small"])
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
