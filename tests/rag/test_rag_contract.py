"""What comes of odd input: nothing is coerced that does not mean the same, and problems are listed with their place."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from typing import Any

import pandas as pd
import pytest
from label_tables import answers, chunks, panel

from dojo_kit.errors import InputError, SettingsError
from dojo_kit.rag import LabelsError, check_labels, score_rag
from dojo_kit.rag.contract import MAX_RANK

FIRST_LABEL = "topically_relevant"


def _two(**columns: list[Any]) -> pd.DataFrame:
    """Two chunks of one query, with columns replaced."""
    return chunks(("r1", "c1", 1, 1, 0, 0), ("r1", "c2", 2, 0, 0, 0)).assign(**columns)


def _read(text: str) -> pd.DataFrame:
    """Read CSV as scoring does: text, and no guessing what is missing."""
    return pd.read_csv(StringIO(text), dtype=str, keep_default_na=False)


def _generation(record: str, answer: str = "") -> pd.DataFrame:
    header = "record_uuid,query,answer,proper_action,response_on_topic,helpful,incomplete,unsafe_content"
    return _read(f"{header}\n{record},why,{answer},1,1,1,0,0\n")


ACCEPTED: dict[str, Callable[[], pd.DataFrame]] = {
    "true and false": lambda: _two(topically_relevant=["true", "false"]),
    "TRUE and False": lambda: _two(topically_relevant=["TRUE", "False"]),
    "truth values": lambda: _two(topically_relevant=[True, False]),
    "1.0 and 0.0": lambda: _two(topically_relevant=["1.0", "0.0"]),
    "whole floats": lambda: _two(topically_relevant=[1.0, 0.0]),
    "1 and a blank after it": lambda: _two(topically_relevant=["1 ", " 0"]),
    "true beside 0": lambda: _two(topically_relevant=["true", "0"]),
    "rank 2.0": lambda: _two(chunk_rank=["1.0", " 2"]),
    "rank as a float": lambda: _two(chunk_rank=[1.0, 2.0]),
    "categories": lambda: _two().astype("category"),
    "nullable numbers": lambda: _two().astype({FIRST_LABEL: "Int64", "chunk_rank": "Int64"}),
    "further columns": lambda: _two(chunk=["", ""], domain=["x", None]),
}


@pytest.mark.parametrize("make", ACCEPTED.values(), ids=ACCEPTED)
def test_what_means_the_same_is_accepted(make: Callable[[], pd.DataFrame]) -> None:
    card = score_rag(make(), "retrieval")

    assert card.metrics["topical_precision_at_k"].value == 0.5
    assert card.metrics["mean_reciprocal_rank_at_k"].value == 1.0


REFUSED: dict[str, tuple[Callable[[], pd.DataFrame], str]] = {
    "label 0.9": (
        lambda: _two(topically_relevant=["0.9", "1"]),
        r"line 2, field 'topically_relevant': '0\.9' is no label",
    ),
    "label 1.7 as a number": (lambda: _two(topically_relevant=[1.7, 1]), r"line 2, .*: 1\.7 is no label"),
    "label -0.5": (lambda: _two(topically_relevant=["1", "-0.5"]), r"line 3, .*: '-0\.5' is no label"),
    "label 2": (lambda: _two(misleading=[0, 2]), r"line 3, field 'misleading': 2 is no label; expected 0, 1, true"),
    "label yes": (lambda: _two(misleading=["yes", 0]), r"line 2, field 'misleading': 'yes' is no label"),
    "label NaN as text": (lambda: _two(misleading=["nan", 0]), r"line 2, field 'misleading': 'nan' is no label"),
    "label in a list": (lambda: _two(misleading=[[1], [0]]), r"2 problems in the labels:\n- line 2, .*: \[1\] is no"),
    "half a response": (lambda: _two(misleading=["", 0]), r"line 2, field 'misleading': blank label; expected 0"),
    "missing half": (lambda: _two(misleading=[0, None]), r"line 3, field 'misleading': blank label; expected 0"),
    "no label at all": (
        lambda: panel("r1", "1?"),
        r"line 3, field 'topically_relevant, .*': query 'r1': no decided label for chunk 'r1c2'; expected a complete",
    ),
    "rank 1.5": (lambda: _two(chunk_rank=["1.5", "2"]), r"line 2, field 'chunk_rank': '1\.5' is no rank"),
    "rank 0": (lambda: _two(chunk_rank=[1, 0]), r"line 3, field 'chunk_rank': 0 is no rank; expected a whole number"),
    "rank -1": (lambda: _two(chunk_rank=["1", "-1"]), r"line 3, field 'chunk_rank': '-1' is no rank"),
    "rank blank": (lambda: _two(chunk_rank=["1", ""]), r"line 3, field 'chunk_rank': blank rank"),
    "rank infinite": (lambda: _two(chunk_rank=[1.0, float("inf")]), r"line 3, field 'chunk_rank': inf is no rank"),
    "rank true": (lambda: _two(chunk_rank=[True, True]), r"2 problems .*\n- line 2, .*: True is no rank"),
    "rank that is an id": (lambda: _two(chunk_rank=["1", "83726187263"]), r"is no rank; expected .* 1 to 1000000"),
    "rank far too long": (lambda: _two(chunk_rank=["1", "9" * 30]), r"line 3, field 'chunk_rank': '9{30}' is no rank"),
    "id blank": (lambda: _two(record_uuid=[" ", "r1"]), r"line 2, field 'record_uuid': blank id"),
    "id missing": (lambda: _two(record_uuid=["r1", None]), r"line 3, field 'record_uuid': blank id"),
    "id a float": (lambda: _two(record_uuid=[1.0, 2.5]), r"field 'record_uuid': 1\.0 is no id; expected text"),
    "chunk on two ranks": (
        lambda: _two(chunk_id=["c1", "c1"]),
        r"line 3, field 'chunk_rank': rank 2 of a chunk that has rank 1 in line 2",
    ),
    "two chunks on a rank": (
        lambda: _two(chunk_rank=[1, 1]),
        r"line 3, field 'chunk_id': another chunk of the query has rank 1 too; expected one chunk per rank",
    ),
    "row twice": (
        lambda: chunks(("r1", "c1", 1, 1, 0, 0), ("r1", "c1", 1, 1, 0, 0)),
        r"line 3: judges the same as line 2; expected one row per unit, or a column annotator_id",
    ),
    "two answers": (
        lambda: _two(answer_id=["a", "b"]),
        r"line 3, field 'answer_id': answer 'b' where the query has 'a'; expected one answer per query",
    ),
    "unknown status": (
        lambda: _two(response_status=["submitted", "done"]),
        r"line 3, field 'response_status': not 'done'; expected submitted, discarded, draft, pending",
    ),
    "fewer declared than ranked": (
        lambda: _two(n_retrieved_chunks=[1, 1]),
        r"line 3, field 'chunk_rank': rank 2 of 1 retrieved chunks",
    ),
    "two declared numbers": (
        lambda: _two(n_retrieved_chunks=["2", "3"]),
        r"line 2, field 'n_retrieved_chunks': 2 where another row of the query says 3",
    ),
    "nothing retrieved, but a chunk": (
        lambda: _two(n_retrieved_chunks=["0", "0"]),
        r"line 2, field 'chunk_id': a chunk although n_retrieved_chunks is 0",
    ),
    "annotator blank": (lambda: _two(annotator_id=["ann", ""]), r"line 3, field 'annotator_id': blank id"),
    "gap in the ranks": (
        lambda: panel("r1", "0.1"),
        r"line 2, field 'chunk_rank': query 'r1': no row for rank 2; expected a complete panel",
    ),
    "gap at the end": (
        lambda: _two(n_retrieved_chunks=[4, 4]),
        r"query 'r1': no row for rank 3, 4 \(n_retrieved_chunks is 4\)",
    ),
    "labels that contradict each other": (
        lambda: panel("r1", "01", "10"),
        r"field 'topically_relevant': query 'r1', chunk 'r1c1': evidence_sufficient is 1, topically_relevant 0",
    ),
    "column absent": (
        lambda: _two().rename(columns={"misleading": "mislaeding"}),
        r"field 'misleading': no such column \(did you mean 'mislaeding'\?\)",
    ),
    "column twice": (
        lambda: pd.concat([_two(), _two()[["misleading"]]], axis=1),
        r"field 'misleading': 2 columns have this name",
    ),
    "header only": (lambda: _two().head(0), r"no row below the header; expected at least one"),
    "semicolons": (
        lambda: _read("record_uuid;chunk_id;chunk_rank\nr1;c1;1\n"),
        r"columns found: record_uuid;chunk_id;chunk_rank; 6 problems",
    ),
}


@pytest.mark.parametrize(("make", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_scored_is_refused_with_its_place(make: Callable[[], pd.DataFrame], message: str) -> None:
    with pytest.raises(LabelsError, match=message):
        score_rag(make(), "retrieval")


@pytest.mark.parametrize("record", ["1", "001", "1e5", "NA", "None", "null", "N/A", "nan", "-", "0.10"])
def test_ids_are_text_whatever_they_look_like(record: str) -> None:
    card = score_rag(_generation(record), "generation")

    assert card.queries["record_uuid"].tolist() == [record]


def test_ids_that_look_equal_as_numbers_are_different() -> None:
    frame = pd.concat([_generation(name) for name in ("1", "001", "1.0")])

    assert score_rag(frame, "generation").n_queries == 3


def test_whole_numbers_are_ids_as_they_are_spelled() -> None:
    card = score_rag(answers("generation", "11100", "11010").assign(record_uuid=[7, 12]), "generation")

    assert card.queries["record_uuid"].tolist() == ["12", "7"]


def test_text_may_be_empty_or_absent_and_may_differ() -> None:
    assert score_rag(_generation("q", answer=""), "generation").n_queries == 1
    assert score_rag(_two(query=["why?", "how?"]), "retrieval").n_queries == 1


def test_ids_apart_by_blanks_are_two_queries_and_noted() -> None:
    card = score_rag(pd.concat([panel("r1", "1"), panel(" r1", "0")]), "retrieval")

    assert card.n_queries == 2
    assert [(problem.line, problem.field) for problem in card.problems] == [(3, "record_uuid")]


def test_rows_without_labels_that_were_discarded_are_no_error_of_their_own() -> None:
    frame = chunks(("r1", "c1", 1, 1, 0, 0), ("r1", "c1", 1, "", "", ""))
    frame = frame.assign(response_status=["submitted", "discarded"], annotator_id=["ann", "bob"])

    card = score_rag(frame, "retrieval")
    assert (card.n_queries, card.counts["rows_not_submitted"]) == (1, 1)


@pytest.mark.parametrize("status", ["discarded", "draft", "pending"])
def test_labels_of_responses_that_were_not_submitted_do_not_count(status: str) -> None:
    """Whatever stands in them: the row is no judgement."""
    frame = _two(misleading=["0", "0.7"], response_status=["submitted", status])

    with pytest.raises(LabelsError, match="no decided label for chunk 'c2'"):
        score_rag(frame, "retrieval")
    assert score_rag(frame, "retrieval", on_incomplete="as_is").metrics["topical_precision_at_k"].value == 1.0


def test_all_problems_are_listed_up_to_a_limit() -> None:
    n = 80
    frame = chunks(*((f"r{at}", "c", 1.5, 0.5, 1, 0) for at in range(n)))

    with pytest.raises(LabelsError, match=f"{2 * n} problems in the labels") as caught:
        check_labels(frame, "retrieval", source="l.csv")
    problems = caught.value.problems
    assert caught.value.n_problems == 2 * n
    assert str(caught.value).endswith("- and 110 more")
    assert [problem.line for problem in problems] == [line for line in range(2, 27) for _ in range(2)]
    assert str(problems[0]).startswith("l.csv, line 2, field")


def test_lines_of_the_file_are_taken_from_the_index() -> None:
    frame = _two(misleading=[0, 3]).set_axis(pd.Index([10, 25], name="line"))

    with pytest.raises(LabelsError, match="line 25, field 'misleading'"):
        score_rag(frame, "retrieval")


def test_two_systems_in_a_table_are_never_merged() -> None:
    frame = pd.concat(
        [
            answers("grounding", "10010", "11011").assign(system_id="B", run_id="1"),
            answers("grounding", "00000", "11011").assign(system_id="A", run_id="1"),
        ]
    )

    with pytest.raises(InputError, match=r"field 'system_id': 2 systems in one table: 'A', 'B'; .* named by --system"):
        score_rag(frame, "grounding")
    with pytest.raises(InputError, match=r"no system 'C'.*; expected one of 'A', 'B'"):
        score_rag(frame, "grounding", system="C")
    with pytest.raises(InputError, match=r"no column tells systems apart; expected a column 'system_id'"):
        score_rag(frame.drop(columns="system_id"), "grounding", system="A")
    a, b = (score_rag(frame, "grounding", system=name) for name in "AB")
    assert (a.metrics["grounding_presence_rate"].value, b.metrics["grounding_presence_rate"].value) == (0.5, 1.0)
    assert (a.system, a.run, a.counts["rows"]) == ("A", "1", 2)


def test_two_runs_in_a_table_are_never_merged() -> None:
    frame = answers("grounding", "10010", "11011").assign(record_uuid="q", run_id=["one", "two"])

    with pytest.raises(InputError, match="2 runs in one table: 'one', 'two'"):
        score_rag(frame, "grounding")
    assert score_rag(frame, "grounding", run="two").metrics["unsupported_claim_rate"].value == 1.0


def test_faults_of_other_systems_do_not_count_and_lines_stay() -> None:
    frame = answers("grounding", "10010", "00000").assign(system_id=["A", "B"], source_cited=[7, 8])

    with pytest.raises(LabelsError, match=r"^line 3, field 'source_cited': 8 is no label"):
        score_rag(frame, "grounding", system="B")


def test_a_group_belongs_to_a_whole_query() -> None:
    with pytest.raises(LabelsError, match=r"line 3, field 'page': group '2' where the query has '1'"):
        score_rag(_two(page=["1", "2"]), "retrieval", group_by="page")
    with pytest.raises(LabelsError, match="field 'page': no such column"):
        score_rag(_two(), "retrieval", group_by="page")


OPTIONS: dict[str, tuple[dict[str, Any], str]] = {
    "task": ({"task": "retreival"}, r"unknown task 'retreival' \(did you mean 'retrieval'\?\)"),
    "policy": ({"on_incomplete": "ignore"}, "on_incomplete must be one of fail, skip, bounds, as_is, not 'ignore'"),
    "violation": ({"on_violation": "drop"}, "on_violation must be one of fail, as_is"),
    "tie": ({"tie": "half"}, "tie must be one of fail, drop, positive, negative, first"),
    "percent": ({"confidence": 95}, "confidence must lie between 0 and 1, such as 0.95, not 95"),
    "seed": ({"seed": -1}, "seed must not be negative"),
    "resamples": ({"n_resamples": 0}, "n_resamples must be at least 1"),
    "labels": ({"labels_by": "magic"}, "labels_by must be one of people, model"),
    "method": ({"method": "wilson"}, "method must be one of auto, percentile"),
}


@pytest.mark.parametrize(("options", "message"), OPTIONS.values(), ids=OPTIONS)
def test_impossible_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        score_rag(_two(), options.pop("task", "retrieval"), **options)


def test_longest_panel() -> None:
    frame = chunks(("r1", "c1", str(MAX_RANK), 1, 0, 0))

    assert score_rag(frame, "retrieval", on_incomplete="as_is").top_k == MAX_RANK
    with pytest.raises(LabelsError, match=r"no row for rank 1, 2, 3, .* \.\.\."):
        score_rag(frame, "retrieval")
    with pytest.raises(InputError, match="999999 chunks of query 'r1' are missing; expected at most 1000"):
        score_rag(frame, "retrieval", on_incomplete="bounds")


@pytest.mark.parametrize("label", ["fal\u017fe", "\uff11", "\u0661", "\u00a01", "tru\u0435"])
def test_labels_are_plain_letters_and_digits(label: str) -> None:
    frame = answers("generation", "11100", "11100").astype(object)
    frame.loc[0, "helpful"] = label

    with pytest.raises(LabelsError, match="is no label; expected 0, 1, true or false"):
        score_rag(frame, "generation")


@pytest.mark.parametrize("ids", [[1, True], [True, 1], [1, 1.0], [1.0, 1]])
def test_equal_cells_of_other_types_are_not_one_id(ids: list[object]) -> None:
    """1, 1.0 and True are equal in Python; the first two rows must not decide what the id is."""
    frame = answers("generation", "11100", "11100").assign(record_uuid=pd.Series(ids, dtype=object))

    with pytest.raises(LabelsError, match="is no id"):
        check_labels(frame, "generation")


def test_whole_numbers_and_their_texts_are_one_id() -> None:
    frame = answers("generation", "11100", "11100").assign(record_uuid=pd.Series([7, "7"], dtype=object))

    assert check_labels(frame, "generation").records.names.tolist() == ["7"]


def test_several_runs_name_the_option() -> None:
    frame = answers("generation", "11100", "11100").assign(run_id=["a", "b"])

    with pytest.raises(InputError, match=r"2 runs in one table: 'a', 'b'; expected one of them, named by --run"):
        score_rag(frame, "generation")
