"""What a published page may do: run the scripts it was made with, and reach nothing.

The policy names a nonce that only those scripts carry. HTML that came into the page through a notebook's output,
wanted or not, can neither run a script nor ask the network for anything.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from html import escape
from secrets import token_hex
from typing import Any

_PLACE = token_hex(16)
"""Stands for the nonce until the page is complete; random, so that no text of a notebook can hold it."""


def script_value(value: Any) -> str:
    r"""Return a value as JavaScript that cannot end the script element it stands in.

    It is JSON but for NaN and infinities, which are what they are in JavaScript: a widget's state may hold them.

    Examples:
        >>> print(script_value(["</script>", float("nan")]))
        ["\u003c/script>",NaN]
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def policy_tag(sources: Mapping[str, str]) -> str:
    """Return the meta element of a policy: the page's own scripts, inline styles, and nothing else.

    Args:
        sources: What is allowed beyond that, by kind, such as ``{"img": "data:"}``.
    """
    directives = {
        "default-src": "'none'",
        "script-src": f"'nonce-{_PLACE}' {sources.get('script', '')}".strip(),
        "style-src": "'unsafe-inline'",
        "base-uri": "'none'",
        "form-action": "'none'",
        **{f"{kind}-src": allowed for kind, allowed in sources.items() if kind != "script"},
    }
    content = "; ".join(f"{name} {allowed}" for name, allowed in directives.items())
    return f'<meta http-equiv="Content-Security-Policy" content="{escape(content)}">'


def script_tag(text: str) -> str:
    """Return a script element that the policy lets run.

    Args:
        text: JavaScript that holds no ``</script``.
    """
    return f'<script nonce="{_PLACE}">{text}</script>'


def allowed(start_tag: str) -> str:
    """Let a script element run.

    Args:
        start_tag: Where it begins, such as ``<script data-marimo="true">``.
    """
    return start_tag.replace("<script", f'<script nonce="{_PLACE}"', 1)


def seal(page: str) -> str:
    """Put in the nonce: a hash of the page, so that no text in the page can know it beforehand.

    Args:
        page: Complete page, made with `policy_tag`, `script_tag` and `allowed`.
    """
    return page.replace(_PLACE, sha256(page.replace(_PLACE, "").encode()).hexdigest()[:32])
