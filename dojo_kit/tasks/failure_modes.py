"""Why a label is wrong: the modes of failure of each kind of task.

A mode belongs to a wrong answer. A row without an answer has none; it is counted as ``no_answer`` beside the modes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dojo_kit.scoring.classification import is_other

FAMILY_MODES: Mapping[str, str] = {
    "function_over_form": "another document class: what the document does was put before what it is",
    "other_fallback": "other, although the document belongs to a family",
    "equivalent_family": "a family that is defensible for the true one",
    "family_confusion": "a wrong family",
}
"""Modes of naming a contract family."""

HIERARCHY_MODES: Mapping[str, str] = {
    "doc_type_miss": "a wrong document class",
    "subclass_miss": "the right document class and a wrong subclass",
}
"""Modes of naming class and subclass."""

LABEL_MODES: Mapping[str, str] = {
    "wrong_label": "another label",
    "no_label": "an answer that names no label, or more than one",
}
"""Modes of naming one label."""

NO_ANSWER = "no_answer"
"""In place of a mode where the call failed, openly or in disguise."""

_OK = "ok"


def family_mode(*, in_class: bool, right: bool, predicted: str | None, equivalent: bool) -> str | None:
    """Return why a contract family is wrong; None when it is right.

    Args:
        in_class: Whether the document class is right.
        right: Whether class and family are.
        predicted: Key of the predicted family; None, an answer that names no family, counts as ``other``.
        equivalent: Whether the family is defensible for the true one.

    Examples:
        >>> family_mode(in_class=True, right=False, predicted="distributor", equivalent=True)
        'equivalent_family'
    """
    if right:
        return None
    if not in_class:
        return "function_over_form"
    if predicted is None or is_other(predicted):
        return "other_fallback"
    return "equivalent_family" if equivalent else "family_confusion"


def hierarchy_mode(*, in_class: bool, exact: bool) -> str | None:
    """Return why class and subclass are wrong; None when both are right.

    Args:
        in_class: Whether the document class is right.
        exact: Whether the subclass is too, or there is none to name.

    Examples:
        >>> hierarchy_mode(in_class=True, exact=False)
        'subclass_miss'
    """
    if exact:
        return None
    return "subclass_miss" if in_class else "doc_type_miss"


def label_mode(*, right: bool, predicted: str | None) -> str | None:
    """Return why a label is wrong; None when it is right."""
    if right:
        return None
    return "no_label" if predicted is None else "wrong_label"


def classify_failure(sorter: Mapping[str, Any]) -> str:
    """Return the failure mode of a stored sorter answer, ``ok`` when it is right.

    Args:
        sorter: ``doc_type_ok``, ``subtype_ok``, ``subtype_ok_equiv`` and ``contract_subtype``; a missing flag is false.

    Examples:
        >>> classify_failure({"doc_type_ok": True, "contract_subtype": "service"})
        'family_confusion'
        >>> classify_failure({"subtype_ok": True})
        'ok'
    """
    mode = family_mode(
        in_class=bool(sorter.get("doc_type_ok")),
        right=bool(sorter.get("subtype_ok")),
        predicted=sorter.get("contract_subtype"),
        equivalent=bool(sorter.get("subtype_ok_equiv")),
    )
    return mode or _OK


def classify_docclass_failure(sorter: Mapping[str, Any]) -> str | None:
    """Return the failure mode of a stored answer with class and subclass, None when it is right.

    A document without a true subclass (``subclass_ok`` null) is right when its class is.

    Examples:
        >>> classify_docclass_failure({"doc_type_ok": True, "subclass_ok": None}) is None
        True
    """
    in_class = bool(sorter.get("doc_type_ok"))
    return hierarchy_mode(in_class=in_class, exact=in_class and sorter.get("subclass_ok") is not False)
