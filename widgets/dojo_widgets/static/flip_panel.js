// The spans that change side at a threshold: a list, and the selected one in full.

import { element } from "./dom.js";
import { count, fixed, whole } from "./numbers.js";
import { same } from "./threshold_states.js";
import { windowedList } from "./windowed_list.js";

const ROW_HEIGHT = 26;
const PAGE = 5;
const COLUMNS = ["becomes", "best", "family", "label"];

// Returns { node, show({ flips, n, threshold, before, selected }), key(key), hasFocus(), dispose() }.
//   flips      spans on another side than in the run
//   n          how many there are, which may be more than are listed
//   onPick(id) a span was chosen
export function flipPanel({ onPick }) {
  const list = windowedList({ label: "Spans that change side", rowHeight: ROW_HEIGHT, cells, words: rowWords, onPick });
  const title = element("div", { class: "title" });
  const chosen = element("span", { class: "soft" });
  const head = COLUMNS.map((name) => element("span", { class: name }, name));
  const empty = element("p", { class: "empty" });
  const reading = element("div", {
    class: "reading scrolls",
    tabindex: 0,
    role: "group",
    "aria-label": "Selected flip",
  });
  const node = element(
    "section",
    { class: "panel flips", "aria-label": "Spans that change side" },
    element("div", { class: "panel-head" }, title, chosen),
    element("div", { class: "row-head soft", "aria-hidden": "true" }, head),
    element("div", { class: "list" }, list.node, empty),
    reading,
  );
  let shown = { flips: [], selected: "" };

  const read = (flip, otherwise) => {
    const id = flip ? flip.id : otherwise;
    if (reading.dataset.shown === id) return;
    reading.dataset.shown = id;
    reading.scrollTop = 0;
    reading.replaceChildren(...(flip ? wholeText(flip) : [element("p", { class: "soft" }, otherwise)]));
  };

  const show = (next) => {
    shown = next;
    const { flips, selected } = next;
    const at = flips.findIndex((flip) => flip.id === selected);
    title.textContent = titleOf(next);
    chosen.textContent = at < 0 ? "" : `flip ${whole(at + 1)} of ${whole(flips.length)}`;
    empty.hidden = flips.length > 0;
    empty.replaceChildren(...(flips.length ? [] : emptyWords(next)));
    list.node.hidden = flips.length === 0;
    list.show(flips, selected);
    read(flips[at], flips.length ? "Select a flip to read it." : "");
  };

  const key = (name) => {
    const { flips, selected } = shown;
    const at = flips.findIndex((flip) => flip.id === selected);
    if (name === "Escape" && at >= 0) {
      onPick(selected);
      return true;
    }
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: PAGE, PageUp: -PAGE, Home: -Infinity, End: Infinity }[name];
    if (!steps || !flips.length) return false;
    const next = at < 0 ? 0 : Math.max(0, Math.min(flips.length - 1, at + steps));
    if (next !== at) onPick(flips[next].id);
    return true;
  };
  return { node, show, key, hasFocus: list.hasFocus, dispose: list.dispose };
}

export function turned(flip) {
  return `${flip.from} \u2192 ${flip.to}`;
}

function titleOf({ flips, n }) {
  if (!n) return "No flips";
  if (!flips.length) return `${count(n, "flip")}, not listed`;
  const won = flips.filter((flip) => flip.to === "matched").length;
  const kinds = [
    [won, "matched"],
    [flips.length - won, "missed"],
  ].filter(([number]) => number);
  const said = kinds.map(([number, words]) => `${whole(number)} become ${words}`).join(", ");
  return `${count(n, "flip")}: ${said}${flips.length < n ? `, ${whole(flips.length)} listed` : ""}`;
}

function emptyWords({ n, threshold, before }) {
  if (n)
    return [element("b", {}, "These flips are not listed."), " Spans are listed for moves of the threshold alone."];
  const nothing = element("b", {}, "No span changes side.");
  if (!same(threshold, before))
    return [nothing, ` No label's best match lies between ${fixed(before)} and ${fixed(threshold)}.`];
  return [
    nothing,
    ` The threshold stands where the run was scored, at ${fixed(before)}.`,
    " Drag the line in the histogram, or use the arrow keys on it.",
  ];
}

function swatch(meaning) {
  return element("i", { class: "swatch", style: `background:var(--${meaning})` });
}

function cells(flip) {
  return [
    element("span", { class: "becomes" }, swatch(flip.to === "matched" ? "matched" : "missed"), flip.to),
    element("span", { class: "best number" }, fixed(flip.similarity)),
    element("span", { class: "family soft" }, flip.family),
    element("span", { class: "label" }, flip.text),
  ];
}

function rowWords(flip) {
  return `${turned(flip)} at ${fixed(flip.at)}\n${flip.family}: ${flip.text}`;
}

function wholeText({ family, text, item, similarity }) {
  const said = (meaning, name, words) => element("p", {}, swatch(meaning), " ", element("b", {}, name), ` ${words}`);
  const nearest = item ? said("item", `item, ${fixed(similarity)}`, item) : null;
  return [
    said("missed", `label, ${family}`, text),
    nearest ?? element("p", { class: "soft" }, "The model returned no item."),
  ];
}
