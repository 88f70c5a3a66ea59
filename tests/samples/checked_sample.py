"""A sample read and scored as a user would, with what it takes to look at one planted fault."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from dojo_kit.records import Run
from dojo_kit.runs import load_documents, load_labels, read_run
from dojo_kit.samples import PlantedFault
from dojo_kit.scoring.run import ScoredRun, score_run
from dojo_kit.text.names import document_key

DATA = Path(__file__).parents[2] / "data"
LISTS = ("key_obligations", "termination_clauses")


def flat(text: str) -> str:
    """Return text on one line."""
    return " ".join(text.split())


@dataclass(frozen=True)
class Checked:
    """A scored run with everything needed to look at one planted fault."""

    name: str
    run: Run
    scored: ScoredRun
    faults: tuple[PlantedFault, ...]
    texts: dict[str, str]

    @cached_property
    def frames(self) -> dict[str, dict[tuple[Any, ...], dict[str, Any]]]:
        """Rows of the frames by document key and what tells them apart within a document."""
        keys = {"documents": (), "fields": ("field",), "items": ("field", "index"), "spans": ("category",)}
        return {
            name: {
                (document_key(row["document"]), *(row[column] for column in columns)): row
                for row in getattr(self.scored, name).to_dict("records")
                if name != "spans" or row["field"] in LISTS
            }
            for name, columns in keys.items()
        }

    def document(self, fault: PlantedFault) -> dict[str, Any]:
        return self.frames["documents"][(document_key(fault.document),)]

    def field(self, fault: PlantedFault) -> dict[str, Any]:
        return self.frames["fields"][document_key(fault.document), fault.field]

    def span(self, fault: PlantedFault) -> dict[str, Any]:
        found = self.frames["spans"][document_key(fault.document), fault.category]
        assert found["text"].startswith(fault.label)
        assert found["field"] == fault.field
        return found

    def item(self, fault: PlantedFault, field: str | None = None) -> dict[str, Any]:
        return self.frames["items"][document_key(fault.document), field or fault.field, fault.item]

    def text(self, fault: PlantedFault) -> str:
        return flat(self.texts[document_key(fault.document)])

    def siblings(self, fault: PlantedFault) -> list[PlantedFault]:
        """Faults of the same kind in the same document."""
        return [f for f in self.faults if (f.document, f.kind) == (fault.document, fault.kind)]


def read_sample(folder: Path) -> list[Checked]:
    """Read a sample with the loaders and score its extraction runs."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    faults = [PlantedFault(**fault) for fault in manifest["faults"]]
    labels, documents = load_labels(folder / "labels.json"), load_documents(folder / "documents")
    texts = {key: documents[key] for key in documents}
    checked = []
    for path in sorted((folder / "runs").glob("extraction_*.json")):
        run = read_run(path)
        mine = tuple(fault for fault in faults if fault.run == path.stem)
        checked.append(Checked(path.stem, run, score_run(run, labels, spans="all"), mine, texts))
    return checked
