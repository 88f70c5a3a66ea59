// Over and under a matrix: what it found, its controls, what its colours mean, and what is selected.

import { element } from "./dom.js";
import { whole } from "./numbers.js";

// What is chosen and how the button says it; a list, because objects put whole numbers first.
const SORTS = ["support", "name", "errors"].map((by) => [by, by]);
const SHOWS = [
  ["none", "counts"],
  ["row", "row %"],
  ["column", "column %"],
];
const TURNS = [
  [-1, "\u2039"],
  [1, "\u203a"],
];

function segments(label, choices, onPick) {
  const buttons = choices.map(([value, words]) =>
    element("button", { type: "button", "data-value": value, on: { click: () => onPick(value) } }, words),
  );
  const node = element("span", { class: "segments", role: "group", "aria-label": label }, buttons);
  const show = (value) => {
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.value === value));
  };
  return { node, show };
}

// Returns { node, show({ data, sort, normalise, first, shown, isTabbed, isChosen }) }.
//   onSort(order), onShow(normalisation), onTurn(steps)  a button was pressed
//   onOpen()  what is behind the matrix is asked for, where there is no room for it beside or below
export function matrixHead({ onSort, onShow, onTurn, onOpen }) {
  const title = element("div", { class: "title" });
  const sorts = segments("Order of the labels", SORTS, onSort);
  const shows = segments("What the cells show", SHOWS, onShow);
  const turner = segments("Columns shown", TURNS, onTurn);
  const [back, on] = turner.node.children;
  back.setAttribute("aria-label", "Previous columns");
  on.setAttribute("aria-label", "Next columns");
  const range = element("span", { class: "soft" });
  const pager = element("span", { class: "pager" }, range, turner.node);
  const by = element("span", { class: "soft" }, "by");
  const open = element("button", { class: "button", type: "button", title: "Enter", on: { click: onOpen } });
  const actions = element(
    "div",
    { class: "actions" },
    element("span", { class: "pager" }, by, sorts.node),
    shows.node,
    pager,
    open,
  );
  const node = element("div", { class: "panel-head" }, title, actions);
  const show = ({ data, sort, normalise, first, shown, isTabbed, isChosen }) => {
    const n = data.labels.length;
    title.textContent = data.finding;
    sorts.show(sort);
    shows.show(normalise);
    pager.hidden = shown >= n;
    range.textContent = `columns ${whole(first + 1)}\u2013${whole(Math.min(n, first + shown))} of ${whole(n)}`;
    back.disabled = first === 0;
    on.disabled = first + shown >= n;
    open.hidden = !isTabbed;
    open.textContent = isChosen ? "documents" : "largest confusions";
  };
  return { node, show };
}

const RAMP = [1, 3, 5, 7, 10];

// What the numbers are and what the colours mean; the shares of the ramp are the same in every matrix.
export function legendParts({ noun, hasWrong, normalise, hasEquivalent }) {
  const steps = RAMP.map((part) => element("i", { class: "step", style: `--part:${part}` }));
  const of = normalise === "column" ? "n answered" : "n expected";
  const [numbers, range] = normalise === "none" ? [`${noun}s`, `100% of ${of}`] : [`% of ${of}`, "100%"];
  const ramp = [element("span", { class: "steps", "aria-hidden": "true" }, steps), range];
  return [
    element("span", { class: "legend" }, `numbers: ${numbers}`),
    element("span", { class: "legend" }, element("i", { class: "step good" }), "right"),
    hasWrong ? element("span", { class: "legend" }, "wrong: 0", ramp) : null,
    hasEquivalent
      ? element("span", { class: "legend" }, element("i", { class: "step outlined" }), "defensible pair")
      : null,
  ].filter(Boolean);
}

// Under a matrix: what colours and numbers mean, and what is left out, or where the documents of the selected cell have
// no room beside it, what is selected. Returns { node, show({ legends, notes, says, isTabbed }) }.
export function matrixFoot() {
  const legend = element("div", { class: "legends" });
  const words = element("p", {});
  const node = element("div", { class: "foot soft" }, legend, words);
  const show = ({ legends, notes, says, isTabbed }) => {
    legend.replaceChildren(...legends);
    words.textContent = `${notes.join(". ")}.`;
    node.style.minHeight = "";
    if (!isTabbed || !says) return;
    // The notes take the more room; it is kept while a selection takes their place, so that nothing moves.
    node.style.minHeight = `${node.offsetHeight}px`;
    words.textContent = says;
  };
  return { node, show };
}
