"""A document's text around one span, with every label and item of the field that stands in it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from dojo_kit import formats
from dojo_kit.analysis.span_cases import ranges
from dojo_kit.errors import InputError
from dojo_kit.records import Documents
from dojo_kit.settings import get_settings
from dojo_kit.text.names import document_key

if TYPE_CHECKING:
    from dojo_kit.analysis.attribution import Attribution

Spans = Sequence[tuple[int, int]]

_WIDE = re.compile("[\U00010000-\U0010ffff]")
"""Characters that UTF-16 writes as two units."""


def contract_view(
    attribution: Attribution, id: str, documents: Documents, *, window: int | None = None
) -> dict[str, Any]:
    r"""Return the document of a span, and where labels and items of its field stand.

    Positions are counted in UTF-16 units, as a browser counts characters.

    Args:
        attribution: Spans of the run.
        id: Id of the span.
        documents: Texts, as the run was scored with.
        window: Characters to keep before and after the label; the whole text by default.

    Returns:
        ``document``, ``short``, ``field``, ``span``; ``known``, whether there is a text; ``length`` of the whole text,
        ``text`` and where it ``start``\ s, ``windowed``; the ``label`` (at, how), the compared ``item``; ``labels``
        (id, family, status, at, pieces), ``items`` (index, at, how), ``unlocated`` items (index, text) and where
        ``chunks`` of a long document begin.

    Raises:
        InputError: There is no such span, or the window is no number of characters.
    """
    if window is not None and (isinstance(window, bool) or not isinstance(window, int) or window < 0):
        raise InputError(f"{window!r}", field="window", expected="a number of characters, or None for the whole text")
    span = attribution.span(id)
    found = _text_of(documents, span["document"])
    text = found or ""
    place = _utf16(text)
    label_at = ranges(span["label_at"])
    start, end = (0, len(text)) if window is None else _window(label_at, len(text), window)
    spans = attribution.spans
    own = spans[(spans["document"] == span["document"]) & (spans["field"] == span["field"])]
    items = attribution.items.of_list(span["document"], span["field"])
    return {
        **{name: span[name] for name in ("document", "field")},
        "short": formats.short_document(span["document"]),
        "span": id,
        "known": found is not None,
        "length": place(len(text)),
        "start": place(start),
        "text": text[start:end],
        "windowed": (start, end) != (0, len(text)),
        "label": {"at": _placed(label_at, place), "how": span["located"]},
        "item": span["item"],
        "labels": [
            {
                "id": row["id"],
                "family": row["family"],
                "status": row["status"],
                "at": _placed(ranges(row["label_at"]), place),
                "pieces": row["label_in_pieces"],
            }
            for row in own.to_dict("records")
        ],
        "items": [
            {"index": index, "at": _placed(item.at, place), "how": item.located}
            for index, item in items.items()
            if item.at
        ],
        "unlocated": [{"index": index, "text": item.text} for index, item in items.items() if not item.at],
        "chunks": [place(at) for at in _chunk_starts(len(text))],
    }


def _text_of(documents: Documents, name: str) -> str | None:
    """Return the text of a document, by its key, or by any spelling of its name in a plain dict; None without."""
    key = document_key(name)
    if (found := documents.get(key)) is not None or not isinstance(documents, dict):
        return found
    return next((text for other, text in documents.items() if document_key(other) == key), None)


def _placed(spans: Spans, place: Callable[[int], int]) -> list[list[int]]:
    return [[place(start), place(end)] for start, end in spans]


def _utf16(text: str) -> Callable[[int], int]:
    r"""Return the function from a position in characters to one in UTF-16 units.

    Examples:
        >>> place = _utf16("a\N{GRINNING FACE}b")
        >>> [place(position) for position in range(4)]
        [0, 1, 3, 4]
    """
    wide = [] if text.isascii() else [found.start() for found in _WIDE.finditer(text)]
    return lambda position: position + bisect_left(wide, position)


def _window(label_at: Spans, length: int, window: int) -> tuple[int, int]:
    """Return the characters to keep: round the label's first place, or from the start where it has none."""
    if not label_at:
        return 0, min(length, 2 * window)
    start, end = label_at[0]
    return max(0, start - window), min(length, end + window)


def _chunk_starts(length: int) -> list[int]:
    """Return where the chunks of a long document begin, beyond the first, by the current settings."""
    chunking = get_settings().chunking
    step = chunking.chunk_chars - chunking.chunk_overlap
    return list(range(step, length, step)) if length > chunking.chunk_chars else []
