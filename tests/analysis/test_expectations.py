"""Same labels or other ones? Whatever was answered, document by document, and of questions by their text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from compared_runs import DAY, label_run, question_run, verdicts

from dojo_kit.analysis.compare import compare
from dojo_kit.analysis.leaderboard import leaderboard
from dojo_kit.analysis.measured import measure
from dojo_kit.analysis.noise import find_reruns
from dojo_kit.errors import ComparabilityError
from dojo_kit.records import DocumentLabels, ExpectedSpan, ExtractionRow, Labels, QuestionRow, Run, RunMeta
from dojo_kit.runs import load_labels, read_run
from dojo_kit.scoring.run import ScoredRun, score_run

LAWS = ("New York", "State of Delaware")


def labels_of(*documents: str, laws: tuple[str, ...] = LAWS, clause: str = "Seller shall insure the goods.") -> Labels:
    fields = {
        "governing_law": tuple(ExpectedSpan(law, "Governing Law") for law in laws),
        "key_obligations": (ExpectedSpan(clause, "Insurance"),),
    }
    return Labels({name: DocumentLabels(name, fields) for name in documents})


def extraction(answers: Mapping[str, Mapping[str, Any] | None], name: str, *, day: int = 1) -> Run:
    rows = tuple(
        ExtractionRow(document, "failed", "timeout") if said is None else ExtractionRow(document, predicted=dict(said))
        for document, said in answers.items()
    )
    meta = RunMeta("contract_entity_extraction", name, "m", "v1", DAY.replace("01-01T", f"01-{day:02}T"))
    return Run(meta, rows, source=f"{name}.json")


def scored(law: str, name: str, labels: Labels, *, documents: str = "abc", **options: Any) -> ScoredRun:
    answers = {document: {"governing_law": law, "key_obligations": [f"{name} said so"]} for document in documents}
    return score_run(extraction(answers, name), labels, **options)


def test_the_label_nearest_to_an_answer_is_no_other_label() -> None:
    """Both runs are scored against the same two labels of a law, and each answer lies nearer to another one."""
    labels = labels_of("a", "b", "c")
    first, second = scored("New York", "a", labels), scored("Delaware", "b", labels)
    nearest = [set(one.fields.loc[one.fields["field"] == "governing_law", "expected"]) for one in (first, second)]
    assert nearest == [{LAWS[0]}, {LAWS[1]}]
    assert compare(first, second).differs == {}
    (board,) = leaderboard([first, second])
    assert len(board.runs) == 2


def test_reruns_scored_anew_stay_reruns() -> None:
    labels = labels_of("a", "b", "c")
    runs = [extraction({one: {"governing_law": law} for one in "abc"}, law, day=1 + at) for at, law in enumerate(LAWS)]
    (group,) = find_reruns([measure(score_run(run, labels), run=run) for run in runs]).groups
    assert group.names == LAWS


@pytest.mark.parametrize(
    "other", [labels_of("a", "b", "c", laws=("New York", "Texas")), labels_of("a", "b", "c", clause="No clause.")]
)
def test_other_labels_of_the_same_documents_are_refused(other: Labels) -> None:
    """Be the other label the nearest to an answer or not."""
    first, second = scored("New York", "a", labels_of("a", "b", "c")), scored("New York", "b", other)
    with pytest.raises(ComparabilityError, match="their labels differ"):
        compare(first, second)
    assert compare(first, second, allow=["labels"]).allowed == ("labels",)


def test_overlapping_documents_are_compared_one_by_one() -> None:
    labels = labels_of("a", "b", "c", "d")
    first, second = scored("New York", "a", labels), scored("Delaware", "b", labels, documents="bcd")
    assert compare(first, second, allow=["surface"]).n == 2
    for other in (labels_of("b", "c", "d", clause="Buyer pays."), labels_of("b", "c", "d", laws=("Newark, New York",))):
        second = scored("New York", "b", other, documents="bcd")
        with pytest.raises(ComparabilityError, match=r"differ in 2 of 2 documents, e\.g\. 'b', 'c'"):
            compare(first, second, allow=["surface"])
    unlabelled = scored("Delaware", "b", labels_of("c", "d"), documents="bcd")
    with pytest.raises(ComparabilityError, match="differ in 1 of 2 documents, 1 of them labelled in one run only"):
        compare(first, unlabelled, allow=["surface"])


def test_a_failed_row_does_not_hide_or_change_labels() -> None:
    labels = labels_of("a", "b")
    first = score_run(extraction({"a": {"governing_law": "Texas"}, "b": None}, "first"), labels)
    second = score_run(extraction({"a": None, "b": {"governing_law": "New York"}}, "second"), labels)
    assert compare(first, second).differs == {}


def test_a_document_labelled_in_one_run_only_is_another_label() -> None:
    a = label_run(verdicts("+-+"), name="a")
    b = label_run(verdicts("++-"), {"d000": "yes", "d001": "", "d002": "yes"}, name="b")
    says = "their labels differ in 1 of 3 documents, 1 of them labelled in one run only, e.g. 'd001'"
    with pytest.raises(ComparabilityError, match=says):
        compare(a, b)
    assert f"allowed: {says}" in compare(a, b, allow=["labels"]).notes


def test_a_label_lost_with_a_failed_row_is_counted_and_named() -> None:
    a = label_run(verdicts("+-+"), name="a")
    b = label_run({"d000": "yes", "d001": None, "d002": "no"}, {"d000": "yes", "d001": "", "d002": "yes"}, name="b")
    assert "a label is on record in one run only of 1 document: 'd001'" in compare(a, b).notes


def test_labels_of_questions_are_compared_by_their_text() -> None:
    """As many labels, of the same length, with other words."""
    a = question_run({"A": ["TP", "TN"], "B": ["FN", "TP"]}, name="a")
    rows = tuple(
        replace(row, label_spans=tuple("all clauses"[: len(one)] for one in row.label_spans))
        for row in a.rows
        if isinstance(row, QuestionRow)
    )
    assert [len(span) for row in rows for span in row.label_spans] == [10] * 3
    with pytest.raises(ComparabilityError, match="their labels differ in 3 of 4 questions"):
        compare(a, replace(a, rows=rows, source="b.json", meta=replace(a.meta, name="b", timestamp="2027")))


def test_public_extractions_scored_against_all_spans(real_data: Path) -> None:
    """Runs 75 and 78 have the same settings; against all spans half of their nearest labels differ."""
    labels = load_labels(f"cuad:{real_data / 'cuad'}")
    runs = [read_run(real_data / "runs" / f"{number}.json") for number in ("075", "078", "043")]
    measured = [measure(score_run(run, labels), run=run) for run in runs]
    assert compare(measured[0], measured[1]).headline.verdict == "rerun"
    assert [len(group) for group in find_reruns(measured).groups] == [2]
    assert compare(measured[0], measured[2], allow=["surface"]).n > 0
