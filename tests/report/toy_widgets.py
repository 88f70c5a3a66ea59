"""Small widgets for pages under test; they know nothing of the real ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

PICKER = """
function render({ model, el }) {
  const root = document.createElement("div");
  root.className = "toy";
  const said = document.createElement("p");
  said.className = "said";
  const draw = () => { said.textContent = `${model.get("span")}: ${model.get("record").text ?? "nothing"}`; };
  for (const option of model.get("options")) {
    const button = document.createElement("button");
    button.textContent = option;
    button.addEventListener("click", () => { model.set("span", option); model.save_changes(); });
    root.append(button);
  }
  root.append(said);
  el.append(root);
  for (const trait of ["span", "record"]) model.on(`change:${trait}`, draw);
  draw();
  return () => model.off("change:span", draw);
}
export default { render };
"""

BROKEN = "export default { render() { throw new Error('out of ideas'); } };"


@dataclass(frozen=True)
class Follows:
    """What `dojo_widgets.base.Precomputed` looks like."""

    source: str
    target: str
    values: Mapping[str, Any]


class Picker:
    """Buttons that choose a span; a record follows from it."""

    _esm = PICKER
    _css = ".toy button { color: var(--ink); background: var(--panel); }"

    def __init__(self, records: Mapping[str, Any], *, span: str = "") -> None:
        self.records = records
        self.span = span

    def get_state(self) -> dict[str, Any]:
        record = self.records.get(self.span, {})
        return {
            "_esm": self._esm,
            "_model_name": "AnyModel",
            "layout": "IPY_MODEL_1",
            "span": self.span,
            "record": record,
            "options": list(self.records),
        }

    def precomputed(self) -> tuple[Follows, ...]:
        return (Follows("span", "record", self.records),)


class Broken:
    """A widget whose drawing fails."""

    _esm = BROKEN

    def trait_values(self) -> dict[str, Any]:
        return {"span": "a"}


def records(n: int, *, text: str = "record", filler: int = 0) -> dict[str, Any]:
    """Return records by span id, each with so many characters that do not repeat."""
    return {
        f"s{i}": {"text": f"{text} {i}", "filler": "".join(chr(97 + (i * j) % 23) for j in range(filler))}
        for i in range(n)
    }
