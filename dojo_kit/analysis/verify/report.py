"""What an audit found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Difference:
    """A stored value that does not follow from the rows.

    Attributes:
        name: Where it is stored, e.g. ``scores.diagnostics.list_f1`` or ``tokens.prompt_tokens``; rows' own
            values are ``rows.NAME``.
        stored: What is stored; None also when nothing is, which the note says.
        recomputed: What the rows give.
        note: Why, where a general rule explains it.
    """

    name: str
    stored: Any
    recomputed: Any
    note: str = ""


@dataclass(frozen=True, slots=True)
class Unverifiable:
    """A stored value the rows cannot give.

    Attributes:
        name: Where it is stored.
        why: What is missing.
    """

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class RowCheck:
    """A consistency check inside single rows, counted over the rows it applies to.

    Attributes:
        name: ``rows.`` and the value checked.
        n: Values checked.
        n_different: Those that do not follow.
    """

    name: str
    n: int
    n_different: int


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """Outcome of auditing one run record.

    Attributes:
        run: Name of the record.
        task: Its task key.
        confirmed: Names of the stored values that follow from the rows.
        differences: Stored values that do not.
        unverifiable: Stored values the rows cannot give.
        row_checks: Checks inside rows; each is one name among the confirmed or the differences as well.
    """

    run: str
    task: str
    confirmed: tuple[str, ...]
    differences: tuple[Difference, ...]
    unverifiable: tuple[Unverifiable, ...]
    row_checks: tuple[RowCheck, ...] = ()

    @property
    def checked(self) -> int:
        """Names compared."""
        return len(self.confirmed) + len(self.differences)

    @property
    def equal(self) -> int:
        """Names that follow from the rows."""
        return len(self.confirmed)

    def as_dict(self) -> dict[str, Any]:
        """Return the report as JSON-ready values; of the confirmed names only how many there are.

        Examples:
            >>> VerifyReport("r", "t", ("n_rows",), (Difference("n_ok", 2, 1),), ()).as_dict()["differences"]
            [{'name': 'n_ok', 'stored': 2, 'recomputed': 1, 'note': ''}]
        """
        return {
            "run": self.run,
            "task": self.task,
            "checked": self.checked,
            "equal": self.equal,
            "differences": [
                {"name": d.name, "stored": d.stored, "recomputed": d.recomputed, "note": d.note}
                for d in self.differences
            ],
            "unverifiable": [{"name": u.name, "why": u.why} for u in self.unverifiable],
            "row_checks": [{"name": c.name, "n": c.n, "n_different": c.n_different} for c in self.row_checks],
        }
