"""What every widget is: an anywidget whose state is ids, with states a page without Python can look up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import anywidget


@dataclass(frozen=True, slots=True)
class Precomputed:
    """A trait that follows from another one, for pages without Python.

    Attributes:
        source: Trait that is changed in the page, holding a text or a number.
        target: Trait that follows.
        values: Value of the source as text -> value of the target.
    """

    source: str
    target: str
    values: Mapping[str, Any]


class Widget(anywidget.AnyWidget):
    """An interactive view over results of dojo_kit.

    Python owns the data, the browser draws it and reports what was selected, as ids. What follows from a selection
    is set by Python while it runs; `precomputed` gives the same to a published page.
    """

    _esm = "export default { render() {} };"

    def precomputed(self) -> tuple[Precomputed, ...]:
        """Return every trait that follows from another one, with all its values."""
        return ()
