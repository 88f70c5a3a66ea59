"""What every widget is: an anywidget whose state is ids, with states a page without Python can look up."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import anywidget
import traitlets

PUBLISHING = "DOJO_KIT_PUBLISHING"
"""Environment variable that is set while a notebook runs to be published."""


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
    _tables: traitlets.List[Any] = traitlets.List().tag(sync=True)
    _linked: traitlets.List[str] = traitlets.List().tag(sync=True)

    def precomputed(self) -> tuple[Precomputed, ...]:
        """Return every trait that follows from another one, with all its values."""
        return ()

    def carry_tables(self) -> None:
        """Put what is precomputed into the state, which is all that a published notebook keeps of a widget."""
        self._tables = [
            {"source": table.source, "target": table.target, "values": dict(table.values)}
            for table in self.precomputed()
        ]

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        if PUBLISHING in os.environ:
            self.carry_tables()
        return super()._repr_mimebundle_(**kwargs)
