"""What publishing a notebook gives."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Page:
    """A notebook as it ran, as one HTML page.

    Attributes:
        html: The page.
        cautions: What it cannot show as the notebook did, one sentence each.
    """

    html: str
    cautions: tuple[str, ...] = ()
