"""Labels of the sample contracts in the layout of CUAD's question-answering file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dojo_kit.samples.contracts import Contract
from dojo_kit.schema import clause_categories


def question_answers(contracts: Sequence[Contract]) -> dict[str, Any]:
    """Return the labels as ``data[].paragraphs[].qas[].answers[]``, one question per contract and category.

    An answer's text stands in the context at ``answer_start``. The one exception is a label that joins two
    places: its text holds ``<omitted>`` between the parts, and ``answer_start`` is where the first one begins.

    Args:
        contracts: Sample contracts.
    """
    return {
        "version": "sample",
        "data": [
            {
                "title": contract.name,
                "paragraphs": [{"context": contract.text, "qas": _questions(contract)}],
            }
            for contract in contracts
        ],
    }


def _questions(contract: Contract) -> list[dict[str, Any]]:
    questions = []
    for category in clause_categories():
        answers = [
            {"text": contract.spelled(mark), "answer_start": mark.at.start}
            for mark in contract.marks
            if mark.category == category.name
        ]
        questions.append(
            {
                "id": f"{contract.name}__{category.name}",
                "question": f"{category.name}?",
                "answers": answers,
                "is_impossible": not answers,
            }
        )
    return questions
