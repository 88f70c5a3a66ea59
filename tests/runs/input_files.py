"""Small input files that tests of bad input take apart."""

from __future__ import annotations

from pathlib import Path

from dojo_kit.schema import clause_categories

ROW = '{"filename": "a", "status": "completed", "predicted": {"law": "Ohio"}}'
OTHER = ROW.replace('"a"', '"b"')


def record_text(rows: str) -> str:
    return '{"type": "experiment",\n"task": "contract_entity_extraction",\n"results": [\n' + rows + "\n]}"


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def cuad_table(*rows: str, more: str = "") -> str:
    """A table about audit rights, with no other clause in any contract."""
    others = [category.name for category in clause_categories() if category.name != "Audit Rights"]
    lines = [",".join([row, *["[]"] * len(others)]) for row in rows]
    return "\n".join([",".join([f"Filename,Audit Rights,Audit Rights-Answer{more}", *others]), *lines])
