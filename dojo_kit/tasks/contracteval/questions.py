"""The 41 questions of ContractEval, and the category a question asks about."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType

_QUOTED = re.compile(r'"([^"]*)"')


@cache
def contracteval_questions() -> Mapping[str, str]:
    """Return category -> question, in CUAD's order of categories.

    Examples:
        >>> questions = contracteval_questions()
        >>> len(questions), questions["Parties"][-48:]
        (41, ' The two or more parties who signed the contract')
    """
    text = (files("dojo_kit") / "data" / "contracteval_questions.toml").read_text(encoding="utf-8")
    table = tomllib.loads(text)
    template: str = table["template"]
    return MappingProxyType(
        {name: template.format(category=name, details=details) for name, details in table["details"].items()}
    )


def asked_category(question: str) -> str:
    """Return what a question quotes first, which names its category; empty when it quotes nothing.

    Examples:
        >>> asked_category('Highlight the parts related to "Audit Rights" that matter.')
        'Audit Rights'
    """
    match = _QUOTED.search(question)
    return match.group(1) if match else ""
