"""Labels from CUAD's files and from lists of expected fields."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dojo_kit.errors import InputError
from dojo_kit.records import ExpectedSpan, Labels
from dojo_kit.runs import load_documents, load_labels, read_run
from dojo_kit.schema import clause_categories, clause_category
from dojo_kit.text.names import document_key

HEADER = [
    "Filename",
    "Agreement Date",
    "Agreement Date-Answer",
    "Effective Date",
    "Effective Date-Answer",
    "Notice Period To Terminate Renewal",
    "Notice Period To Terminate Renewal- Answer",
    "Insurance",
    "Insurance-Answer",
    "Audit Rights",
    "Audit Rights-Answer",
    "Warranty Duration",
    "Warranty Duration-Answer",
]
ROW = [
    "Café Agreement'.pdf",
    "['May 8, 2014', 'it\\'s May']",
    "5/8/14; 5/9/14",
    "['June 1, 2014']",
    "6/1/14",
    "[]",
    "[]",
    "[]",
    "Yes",
    "['may audit']",
    "Yes",
    "['one year']",
    "Yes",
]


def _table(path: Path, *rows: list[str], header: list[str] = HEADER) -> Path:
    if header is HEADER:  # and the categories that no test is about
        others = [category.name for category in clause_categories() if category.name not in header]
        header, rows = [*header, *others], tuple([*row, *["[]"] * len(others)] for row in rows)
    with path.open("w", encoding="utf-8", newline="") as handle:
        csv.writer(handle).writerows([header, *rows])
    return path


def _lines(path: Path, *values: Any) -> Path:
    path.write_text("\n".join(json.dumps(value) for value in values), encoding="utf-8")
    return path


def _spans(labels: Labels, key: str, field: str) -> list[tuple[str, str]]:
    return [(span.category, span.text) for span in labels.documents[key].fields[field]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    _table(tmp_path / "master_clauses.csv", ROW, ["Harpoon_Development.PDF", *["[]", ""] * 6])
    _table(
        tmp_path / "contract_folders.csv",
        ["Cafe\u0301 Agreement", "License_Agreements"],
        ["Harpoon_Development_Option", "Development"],
        ["Elsewhere", "IP"],
        header=["filename", "folder"],
    )
    return tmp_path


def test_cuad_folder(folder: Path) -> None:
    labels = load_labels(folder)
    cafe = labels.documents["cafeagreement"]

    assert list(labels.documents) == ["cafeagreement", "harpoondevelopment"]
    assert cafe.document == "Café Agreement'.pdf"
    assert _spans(labels, "cafeagreement", "effective_date") == [
        ("Agreement Date", "May 8, 2014"),
        ("Agreement Date", "it's May"),
        ("Effective Date", "June 1, 2014"),
    ]
    assert _spans(labels, "cafeagreement", "key_obligations") == [("Audit Rights", "may audit")]
    assert set(cafe.fields) == {"effective_date", "key_obligations"}
    assert cafe.unscored == (ExpectedSpan("one year", "Warranty Duration"),)
    assert cafe.values == {"Agreement Date": ("5/8/14", "5/9/14"), "Effective Date": ("6/1/14",)}
    assert cafe.applicable == {"Agreement Date", "Effective Date", "Insurance", "Audit Rights", "Warranty Duration"}
    assert cafe.subtype == "License_Agreements"
    assert labels.documents["harpoondevelopment"].subtype == "Development"
    assert labels.doc_class == "contract"
    assert labels.problems == ()


@pytest.mark.parametrize("prefix", ["", "cuad:"])
def test_cuad_table_alone(folder: Path, prefix: str) -> None:
    labels = load_labels(f"{prefix}{folder / 'master_clauses.csv'}")

    assert len(labels) == 2
    assert labels.documents["cafeagreement"].subtype is None


def test_cuad_folder_named_as_such(folder: Path) -> None:
    assert load_labels(f"cuad:{folder}").fingerprint == load_labels(folder).fingerprint


def _squad(
    *questions: dict[str, Any], context: str = "Dated May 8, 2014. Ohio law.", title: str = "A"
) -> dict[str, Any]:
    return {"version": "1", "data": [{"title": title, "paragraphs": [{"context": context, "qas": list(questions)}]}]}


def test_cuad_json(tmp_path: Path) -> None:
    quoted = 'Highlight the parts related to "Agreement Date" that matter.'
    file = tmp_path / "CUAD_v1.json"
    file.write_text(
        json.dumps(
            _squad(
                {"id": "A__Governing Law", "question": "?", "answers": [{"text": "Ohio", "answer_start": 19}]},
                {"id": "A__Effective Date_0", "answers": [{"text": "May 8, 2014", "answer_start": 0}]},
                {"id": "7", "question": quoted, "answers": [{"text": "May 8, 2014", "answer_start": 6}]},
                {"id": "A__Parties", "question": "?", "answers": [], "is_impossible": True},
            )
        ),
        encoding="utf-8",
    )
    for source in (file, tmp_path, f"cuad:{file}"):
        labels = load_labels(source).documents["a"]

        assert labels.fields == {
            "effective_date": (
                ExpectedSpan("May 8, 2014", "Agreement Date", 6),
                ExpectedSpan("May 8, 2014", "Effective Date", None),
            ),
            "governing_law": (ExpectedSpan("Ohio", "Governing Law", 19),),
        }
        assert labels.applicable == {"Agreement Date", "Effective Date", "Governing Law"}


EXPECTED = {
    "effective_date": "May 8, 2014",
    "contract_value": 5,
    "governing_law": None,
    "parties": ["Acme", {"text": "Bolt", "category": "Parties", "start": 3}, None],
}


@pytest.mark.parametrize("holder", ["fields", "expected", "expected_fields", None])
def test_expected_fields(tmp_path: Path, holder: str | None) -> None:
    row = {"document": "a.pdf", "subtype": "ip"} | ({holder: EXPECTED} if holder else EXPECTED)
    labels = load_labels(_lines(tmp_path / "l.jsonl", row))

    assert labels.documents["a"].fields == {
        "effective_date": (ExpectedSpan("May 8, 2014"),),
        "contract_value": (ExpectedSpan("5"),),
        "parties": (ExpectedSpan("Acme"), ExpectedSpan("Bolt", "Parties", 3)),
    }
    assert labels.documents["a"].subtype == "ip"
    assert labels.documents["a"].applicable == {"Parties"}


def test_expected_fields_in_other_formats(tmp_path: Path) -> None:
    rows = [{"document": "a", "law": "Ohio", "parties": '["A", "B"]'}, {"document": "b", "law": None, "parties": None}]
    (tmp_path / "l.json").write_text(json.dumps([{"document": "a", "law": "Ohio", "parties": ["A", "B"]}, rows[1]]))
    with (tmp_path / "l.csv").open("w", encoding="utf-8", newline="") as handle:
        writer = csv.DictWriter(handle, ["document", "law", "parties"])
        writer.writeheader()
        writer.writerows(rows)

    for name in ("l.json", "l.csv"):
        labels = load_labels(tmp_path / name)
        assert labels.documents["a"].fields == {
            "law": (ExpectedSpan("Ohio"),),
            "parties": (ExpectedSpan("A"), ExpectedSpan("B")),
        }
        assert labels.documents["b"].fields == {}


def test_fields_written_as_lists(tmp_path: Path) -> None:
    """A list of one or of none is a list too; CUAD's fields are known without."""
    rows: list[dict[str, Any]] = [
        {"document": "a", "law": "Ohio", "parties": ["A"], "duties": [], "dates": None},
        {"document": "b", "law": "Ohio", "parties": "A", "duties": None, "dates": "x"},
    ]
    table = [{name: json.dumps(v) if isinstance(v, list) else v for name, v in row.items()} for row in rows]
    pd.DataFrame(table).to_csv(tmp_path / "l.csv", index=False)
    pd.DataFrame(rows[:1]).to_parquet(tmp_path / "l.parquet")
    for source in (_lines(tmp_path / "l.jsonl", *rows), tmp_path / "l.csv", tmp_path / "l.parquet"):
        assert load_labels(source).list_fields == {"parties", "duties"}


def test_nothing_long_is_shown(folder: Path) -> None:
    """The repr of labels and of a run gives counts, not contents."""
    labels = load_labels(folder)

    assert re.fullmatch(r"Labels\('.*', doc_class='contract', 2 documents, 0 problems\)", repr(labels))
    assert repr(labels.documents["cafeagreement"]) == (
        "DocumentLabels(\"Caf\u00e9 Agreement'.pdf\", 4 spans of 2 fields, subtype='License_Agreements')"
    )
    run = read_run(_lines(folder / "r.jsonl", {"document": "a", "predicted": {"law": "x" * 10_000}}))
    assert repr(run).endswith("task='contract_entity_extraction', model='', 1 rows, 0 failed, 0 problems)")


def test_values_and_applicable(tmp_path: Path) -> None:
    row = {"document": "a", "fields": {}, "values": {"Effective Date": "5/8/14"}, "applicable": ["Insurance"]}
    labels = load_labels(f"jsonl:{_lines(tmp_path / 'l.jsonl', row)}").documents["a"]

    assert labels.values == {"Effective Date": ("5/8/14",)}
    assert labels.applicable == {"Insurance"}


def test_manifest_as_labels(tmp_path: Path) -> None:
    labels = load_labels(
        _lines(
            tmp_path / "m.jsonl",
            {"type": "header", "metadata": {}},
            {"filename": "a", "status": "error", "expected_fields": {"law": "Iowa"}},
            {"filename": "a", "status": "completed", "expected_fields": {"law": "Ohio"}},
        )
    )

    assert labels.documents["a"].fields == {"law": (ExpectedSpan("Ohio"),)}


def test_class_without_the_fields_of_cuad(folder: Path) -> None:
    with pytest.raises(InputError, match=r"'court_opinion' has no field document_name, .*key_obligations"):
        load_labels(folder, doc_class="court_opinion")
    assert load_labels(folder, doc_class="merger_agreement").doc_class == "merger_agreement"


# --- real labels -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cuad(real_data: Path) -> Labels:
    return load_labels(real_data / "cuad")


def test_real_labels(cuad: Labels) -> None:
    """510 contracts with 13,101 spans, of which Warranty Duration's 164 belong to no field."""
    scored = sum(len(spans) for labels in cuad.documents.values() for spans in labels.fields.values())
    unscored = sum(len(labels.unscored) for labels in cuad.documents.values())

    assert len(cuad) == 510
    assert (scored + unscored, unscored) == (13_101, 164)
    assert cuad.problems == ()
    assert {span.category for labels in cuad.documents.values() for span in labels.unscored} == {"Warranty Duration"}


def test_real_families(cuad: Labels) -> None:
    assert all(labels.subtype for labels in cuad.documents.values())
    harpoon = next(labels for key, labels in cuad.documents.items() if key.startswith("harpoon"))
    assert harpoon.subtype == "Development"


def test_real_answers(cuad: Labels) -> None:
    values = [labels.values for labels in cuad.documents.values()]
    answered = sum("Notice Period To Terminate Renewal" in value for value in values)

    assert answered == 100  # the header with a stray space; one more cell holds []
    assert cuad.documents["cybergyholdingsinc2014052010qex10278605784ex1027affiliateagreement"].values[
        "Agreement Date"
    ] == ("5/8/14",)
    insurance = sum("Insurance" in labels.applicable for labels in cuad.documents.values())
    assert insurance == 167  # one of them answered Yes without a span


def test_real_texts_join_the_labels(cuad: Labels, real_data: Path) -> None:
    texts = load_documents(real_data / "cuad" / "full_contract_txt.zip")

    assert set(texts) == set(cuad.documents)
    composed = "LECLANCHÉ S.A. - JOINT DEVELOPMENT AND MARKETING AGREEMENT.txt"
    assert texts.names[document_key(composed)] == composed


def test_real_rows_join_the_labels(cuad: Labels, real_data: Path) -> None:
    run = read_run(real_data / "runs" / "081.json")

    assert all(document_key(row.document) in cuad.documents for row in run.rows)


def test_first_spans_explain_the_stored_counts(cuad: Labels, real_data: Path) -> None:
    """The first span of each category gives n_expected of every list field of run 081."""
    compared = 0
    for row in read_run(real_data / "runs" / "081.json").rows:
        for field, scores in (row.stored.get("entity_list_scores") or {}).items():
            spans = cuad.documents[document_key(row.document)].fields.get(field, ())
            assert len({span.category for span in spans}) == scores["n_expected"], (row.document, field)
            compared += 1

    assert compared == 485


def test_real_questions_name_known_categories(real_data: Path) -> None:
    questions = json.loads((real_data / "contracteval" / "questions.json").read_text(encoding="utf-8"))

    assert len({clause_category(name) for name in questions} - {None}) == 41
