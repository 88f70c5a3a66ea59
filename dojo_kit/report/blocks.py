"""Data inside a page: JSON in script elements that run nothing, each content once, large ones compressed."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from dojo_kit.charts.inline import script_json

PACKED_FROM = 60_000
"""Characters from which a block is compressed."""


@dataclass
class Blocks:
    """Blocks of data, named by their content, so that equal ones are kept once.

    Examples:
        >>> blocks = Blocks()
        >>> blocks.add([1, 2]) == blocks.add([1, 2])
        True
        >>> len(list(blocks))
        1
    """

    _texts: dict[str, str] = field(default_factory=dict)

    def add(self, value: Any) -> str:
        """Keep a value and return the id of its block.

        Args:
            value: Anything JSON can hold.
        """
        return self.add_json(script_json(value))

    def add_json(self, text: str) -> str:
        """Keep a value that is JSON already and return the id of its block.

        Args:
            text: From `dojo_kit.charts.inline.script_json`.
        """
        name = f"block-{sha256(text.encode()).hexdigest()[:16]}"
        self._texts[name] = text
        return name

    def copy(self) -> Blocks:
        """Return blocks that can be added to without changing these."""
        return Blocks(dict(self._texts))

    def __iter__(self) -> Iterator[tuple[str, str, bool]]:
        """Yield id, text and whether the text is compressed (zlib, base64)."""
        for name, text in self._texts.items():
            if len(text) < PACKED_FROM:
                yield name, text, False
            else:
                yield name, base64.b64encode(zlib.compress(text.encode(), 9)).decode(), True


def content_hash(script: str) -> str:
    """Return a script's hash as a content security policy names it.

    Args:
        script: Text of an inline script, exactly as it stands in the page.

    Examples:
        >>> content_hash("")
        "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    return f"'sha256-{base64.b64encode(sha256(script.encode()).digest()).decode()}'"
