"""ContractEval's pairs of contract and question, made of CUAD's test file in SQuAD layout (``test.json``).

Every contract is asked all 41 questions: 102 contracts make 4,182 pairs, of which 1,244 have a label. Answers in a
file of their own are joined to them by `answered_pairs`; a run or a pair file that brings labels along is read by
`read_run`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from dojo_kit.errors import InputError
from dojo_kit.records import Problem, QuestionRow, Row, Run, RunMeta
from dojo_kit.runs.cells import shown
from dojo_kit.runs.cuad import answer_span, child_objects, question_category
from dojo_kit.runs.predictions import NOT_PREDICTED, Missing, note_missing, read_predictions
from dojo_kit.runs.problems import OnError, ProblemList
from dojo_kit.runs.raw_rows import JsonDocument, RawRow, document_name, load_content
from dojo_kit.runs.sources import PathLike, source_path
from dojo_kit.runs.typed_rows import QUESTION_TASK, typed_row

_EXPECTED = "CUAD in SQuAD layout: an object with data[].paragraphs[].qas[].answers[], such as test.json"


@dataclass(frozen=True, slots=True)
class ContractPair:
    """A contract and a question about it.

    Attributes:
        id: Its name, as the file has it.
        title: The contract.
        category: The clause category asked for.
        question: The question's text.
        label_spans: Labelled spans; empty when the contract has no such clause.
    """

    id: str
    title: str
    category: str
    question: str
    label_spans: tuple[str, ...]


@dataclass(frozen=True, slots=True, repr=False)
class ContractEvalPairs:
    """The pairs of a test file.

    Attributes:
        pairs: The pairs, by id.
        contexts: Title -> the contract's text.
        source: The file.
        problems: What was wrong with what could not be used, and oddities of what could.
    """

    pairs: tuple[ContractPair, ...]
    contexts: Mapping[str, str]
    source: str = ""
    problems: tuple[Problem, ...] = ()

    @property
    def n_positive(self) -> int:
        """Pairs with a label."""
        return sum(bool(pair.label_spans) for pair in self.pairs)

    @property
    def fingerprint(self) -> str:
        """Hash of pairs, numbers of labels and lengths of contracts: what has to be equal for scores to compare."""
        pairs = sorted(f"{pair.id}\0{pair.category}\0{len(pair.label_spans)}" for pair in self.pairs)
        contracts = [f"{title}\0{len(self.contexts[title])}" for title in sorted(self.contexts)]
        return sha256("\n".join([*pairs, *contracts]).encode("utf-8", "surrogatepass")).hexdigest()

    def summary(self) -> dict[str, Any]:
        """Return counts and fingerprint as JSON-ready values."""
        lengths = [len(text) for text in self.contexts.values()]
        return {
            "source": self.source,
            "n_contracts": len(self.contexts),
            "n_pairs": len(self.pairs),
            "n_positive": self.n_positive,
            "n_negative": len(self.pairs) - self.n_positive,
            "positive_rate": self.n_positive / len(self.pairs),
            "n_categories": len({pair.category for pair in self.pairs}),
            "fingerprint": self.fingerprint,
            "context_min_chars": min(lengths),
            "context_max_chars": max(lengths),
        }

    def __len__(self) -> int:
        return len(self.pairs)

    def __repr__(self) -> str:
        return (
            f"ContractEvalPairs({self.source!r}, {len(self.contexts)} contracts, {len(self.pairs)} pairs, "
            f"{self.n_positive} positive, {len(self.problems)} problems)"
        )


def load_contracteval_pairs(path: PathLike, *, on_error: OnError = "raise") -> ContractEvalPairs:
    """Make pairs of a CUAD file in SQuAD layout.

    Args:
        path: The file; the whole of CUAD (``CUAD_v1.json``) will do, though the benchmark is its test split.
        on_error: What a contract or question with a fault does.

    Returns:
        The pairs in the order of their ids. Categories are spelled as in ``master_clauses.csv``.

    Raises:
        InputError: The file is no such file, or something in it is faulty and `on_error` is ``raise``.
    """
    problems = ProblemList(on_error, str(path))
    path = source_path(path, expected=_EXPECTED)
    content = load_content(path, problems, expected=_EXPECTED)
    if not isinstance(content, JsonDocument) or not isinstance(content.value.get("data"), list):
        found = shown(content.value.get("data")) if isinstance(content, JsonDocument) else "rows"
        raise InputError(f"not a list but {found}", file=path, field="data", expected=_EXPECTED)
    pairs: dict[str, ContractPair] = {}
    contexts: dict[str, str] = {}
    for index, value in enumerate(content.value["data"]):
        row = RawRow(value if isinstance(value, dict) else {}, str(path), path=f"data[{index}]")
        try:
            title, text = _contract(row, value, contexts, problems)
            pairs |= _contract_pairs(row, title, text, pairs, problems)
            contexts[title] = text
        except InputError as error:
            problems.reject(error)
    if not pairs:
        raise problems.nothing_left("pairs", file=path, expected=_EXPECTED)
    ordered = tuple(pairs[name] for name in sorted(pairs))
    return ContractEvalPairs(ordered, contexts, str(path), problems.found)


def _contract(row: RawRow, value: Any, known: Mapping[str, str], problems: ProblemList) -> tuple[str, str]:
    """Return a contract's title and text."""
    if not isinstance(value, dict):
        raise row.error(f"not an object but {shown(value)}", expected="an object")
    title = document_name(row, "title")
    if title in known:
        raise row.error(f"{title!r} occurs twice", field="title", expected="one entry a contract")
    texts = []
    for paragraph in child_objects(row, "paragraphs"):
        text = paragraph.values.get("context")
        if not isinstance(text, str) or not text.strip():
            raise paragraph.error(f"not text but {shown(text)}", field="context", expected="the contract's text")
        texts.append(text)
    if not texts:
        raise row.error("holds no paragraph", field="paragraphs", expected="one, with the whole contract")
    if len(texts) > 1:
        fault = f"{len(texts)} paragraphs are joined to one text"
        problems.note(row.error(fault, field="paragraphs", expected="one paragraph"), document=title)
    return title, "\n\n".join(texts)


def _contract_pairs(
    contract: RawRow, title: str, text: str, known: Mapping[str, ContractPair], problems: ProblemList
) -> dict[str, ContractPair]:
    """Return a contract's pairs, all or none."""
    found: dict[str, ContractPair] = {}
    for paragraph in child_objects(contract, "paragraphs"):
        for question in child_objects(paragraph, "qas"):
            pair = _pair(question, title, text, problems)
            if pair.id in known or pair.id in found:
                expected = "one question of each category for a contract"
                raise question.error(f"{pair.id!r} occurs twice", field="id", expected=expected)
            found[pair.id] = pair
    return found


def _pair(question: RawRow, title: str, text: str, problems: ProblemList) -> ContractPair:
    category = question_category(question)
    spans = [answer_span(answer, category, text) for answer in child_objects(question, "answers")]
    asked = question.values.get("question")
    if not isinstance(asked, str) or not asked.strip():
        raise question.error(f"not text but {shown(asked)}", field="question", expected="the question")
    if spans and question.values.get("is_impossible") is True:
        fault = f"true beside {len(spans)} answers, which are used"
        problems.note(question.error(fault, field="is_impossible", expected="false"), document=title)
    name = question.values.get("id")
    named = name if isinstance(name, str) and name.strip() else f"{title}__{category.name}"
    return ContractPair(named, title, category.name, asked, tuple(span.text for span in spans))


def answered_pairs(
    pairs: ContractEvalPairs, path: PathLike, *, missing: Missing = "failed", on_error: OnError = "raise"
) -> Run:
    """Make a run of a model's answers to the questions of a test file.

    Args:
        pairs: The pairs.
        path: The answers, see `dojo_kit.runs.predictions.read_predictions`. A row names its pair by ``id``, or by
            ``title`` and ``category``.
        missing: What becomes of pairs without an answer; ``leave_out`` is for answers to a sample of them.
        on_error: What a row that answers no pair does.

    Returns:
        A run of task ``contracteval``, to be scored by `dojo_kit.tasks.contracteval.score_contracteval`.

    Raises:
        InputError: The answers cannot be read or joined.
    """
    problems = ProblemList(on_error, str(path))
    known = {pair.id: pair for pair in pairs.pairs}
    by_place = {(pair.title, pair.category): pair.id for pair in pairs.pairs}
    found = read_predictions(path, list(known), lambda rows: [_pair_name(row, by_place) for row in rows], problems)
    absent = [name for name in known if name not in found]
    note_missing(absent, as_what=missing, n_questions=len(known), file=path, problems=problems)
    rows: list[Row] = []
    for name, pair in known.items():
        if name in found:
            rows.append(_answered(pair, found[name], problems))
        elif missing == "failed":
            rows.append(
                QuestionRow(
                    document=name,
                    status="failed",
                    error=NOT_PREDICTED,
                    title=pair.title,
                    category=pair.category,
                    question=pair.question,
                    label_spans=pair.label_spans,
                )
            )
    meta = RunMeta(QUESTION_TASK, name=Path(path).stem, data_source={"dataset_fingerprint": pairs.fingerprint})
    return Run(meta, tuple(rows), source=str(path), problems=problems.found)


def _pair_name(row: RawRow, by_place: Mapping[tuple[str, str], str]) -> str | None:
    values = {key.strip().lower(): value for key, value in row.values.items()}
    name = values.get("id")
    if name not in (None, ""):
        return str(name)
    title, category = values.get("title"), values.get("category")
    if title is None or category is None:
        return None
    return by_place.get((str(title), str(category)), f"{title}__{category}")


def _answered(pair: ContractPair, row: RawRow, problems: ProblemList) -> Row:
    """Type a row; labels are the pair's, whatever the file of answers says."""
    truth = {
        "id": pair.id,
        "title": pair.title,
        "category": pair.category,
        "question": pair.question,
        "label_spans": list(pair.label_spans),
    }
    values = replace(row, values=row.values | truth)
    return typed_row(values, document=pair.id, task=QUESTION_TASK, problems=problems)
