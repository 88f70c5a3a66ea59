"""What may stand inside a ``<script>`` element of a page."""

from __future__ import annotations

import json
from typing import Any


def script_json(value: Any) -> str:
    r"""Return a value as JSON that cannot end the ``<script>`` element it stands in.

    Args:
        value: Anything JSON can hold; NaN is refused.

    Raises:
        TypeError: The value holds something JSON has no form for.
        ValueError: The value holds NaN or an infinity.

    Examples:
        >>> print(script_json("</script>"))
        "\u003c/script>"
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
