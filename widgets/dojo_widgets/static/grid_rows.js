// The grid itself: column headers with means, and rows of which only those in sight are in the page.

import { element } from "./dom.js";
import { loss, scrollToRow, sortKey, visibleRange } from "./grid_layout.js";
import { UNKNOWN, count, fixed, whole } from "./numbers.js";

export const ROW_HEIGHT = 24;

const WIDE_CELL = 88;

// Returns { node, width(), headsHeight(), page(), show(view), focusCell(), hasFocus(), dispose() }.
//   onPick(document, field)  a cell was clicked; field is "" for the name and the mean of a row
//   onSort(by)               a column header was clicked
//   onResize()               the grid has another width
export function gridRows({ onPick, onSort, onResize }) {
  const head = element("div", { role: "row", class: "grid-row head", "aria-rowindex": 1 });
  const inner = element("div", { class: "window", role: "presentation" });
  const body = element("div", { class: "rows scrolls", role: "rowgroup" }, inner);
  const heads = element("div", { role: "rowgroup", class: "heads" }, head);
  const node = element(
    "div",
    { role: "grid", class: "grid", "aria-label": "Scores by document and field" },
    heads,
    body,
  );
  let shown = null;

  body.addEventListener("click", (event) => {
    const cell = event.target.closest("[data-document]");
    if (cell) onPick(cell.dataset.document, cell.dataset.field);
  });
  head.addEventListener("click", (event) => {
    const button = event.target.closest("[data-by]");
    if (button) onSort(button.dataset.by);
  });

  const hasFocus = () => body.contains(body.getRootNode().activeElement);
  const focusCell = () => inner.querySelector("[tabindex='0']")?.focus({ preventScroll: true });

  const draw = () => {
    if (!shown) return;
    const focused = hasFocus();
    const { from, to } = visibleRange(body.scrollTop, body.clientHeight, ROW_HEIGHT, shown.documents.length);
    const drawn = Array.from({ length: to - from }, (_, index) => from + index);
    const { row } = shown.active;
    // The row of the active cell stays in the page, so that scrolling does not take the focus away.
    if (row >= 0 && row < shown.documents.length && (row < from || row >= to)) drawn.push(row);
    inner.replaceChildren(...drawn.map((at) => gridRow(shown, at)));
    if (focused) focusCell();
  };
  body.addEventListener("scroll", draw, { passive: true });
  let width = 0;
  const watch = new ResizeObserver(() => {
    if (node.clientWidth === width) return;
    width = node.clientWidth;
    onResize();
  });
  watch.observe(node);

  return {
    node,
    width: () => body.clientWidth,
    headsHeight: () => heads.offsetHeight,
    page: () => Math.max(1, Math.floor(body.clientHeight / ROW_HEIGHT) - 1),
    hasFocus,
    focusCell,
    show: (view, { reveal = false } = {}) => {
      shown = view;
      const { name, overall, cell, shown: n } = view.plan;
      const columns = view.isApart ? "minmax(0, 1fr)" : `${overall}px repeat(${n}, ${cell}px)`;
      node.style.setProperty("--columns", `${name}px ${columns}`);
      node.setAttribute("aria-rowcount", view.documents.length + 1);
      node.setAttribute("aria-colcount", view.isApart ? 2 : view.fields.length + 2);
      heads.style.paddingRight = `${body.offsetWidth - body.clientWidth}px`;
      head.replaceChildren(...headCells(view));
      inner.style.height = `${view.documents.length * ROW_HEIGHT}px`;
      if (reveal && view.active.row >= 0)
        body.scrollTop = scrollToRow(view.active.row, body.scrollTop, body.clientHeight, ROW_HEIGHT);
      draw();
    },
    setHeight: (rows) => {
      body.style.height = `${rows * ROW_HEIGHT}px`;
    },
    dispose: () => watch.disconnect(),
  };
}

function headCells({ documents, listed, fields, first, plan, sort, overall, isApart }) {
  const name = headCell({ by: "document", words: "document", sort, column: 1, below: listedWords(documents, listed) });
  if (isApart)
    return [
      name,
      element("div", { role: "columnheader", class: "head-cell reason", "aria-colindex": 2 }, "why it has no scores"),
    ];
  const means = fields
    .slice(first, first + plan.shown)
    .map((field, index) =>
      headCell({ by: field.name, words: field.words, mean: field.mean, sort, column: first + index + 3, plan }),
    );
  return [name, headCell({ by: "overall", words: "overall", mean: overall, sort, column: 2, plan }), ...means];
}

// How many documents there are, and how many of them the filter left.
function listedWords(documents, all) {
  const words = documents.length < all ? `${whole(documents.length)} of ${whole(all)}` : count(all, "document");
  return element("span", { class: "interval" }, words);
}

function headCell({ by, words, mean = null, sort, column, plan = { cell: 0 }, below = [] }) {
  const { by: sorted, down } = sortKey(sort);
  const isSorted = sorted === by;
  const arrow = isSorted ? ` ${down ? "\u25be" : "\u25b4"}` : "";
  const title = `${words}${mean ? `: ${meanWords(mean)}` : ""}\nClick to sort`;
  const button = element(
    "button",
    { type: "button", "data-by": by, title, class: isSorted ? "sorted" : null },
    `${words}${arrow}`,
  );
  const ariaSort = isSorted ? (down ? "descending" : "ascending") : "none";
  const parts = mean ? meanParts(mean, plan.cell >= WIDE_CELL ? 3 : 2) : below;
  return element(
    "div",
    { role: "columnheader", class: "head-cell", "aria-colindex": column, "aria-sort": ariaSort },
    button,
    parts,
  );
}

// A mean of one document has no interval worth printing, and one of a few says little.
const FEW = 5;

function intervalOf({ lo, hi, n }, digits) {
  return lo == null || n < 2 ? "" : `[${fixed(lo, digits)}, ${fixed(hi, digits)}]`;
}

function meanWords(mean) {
  if (mean.value == null) return mean.note || "not scored";
  const few = mean.n < FEW ? ", too few to rank" : "";
  return `mean ${fixed(mean.value, 3)} ${intervalOf(mean, 3)}, ${count(mean.n, "document")}${few}`;
}

function meanParts(mean, digits) {
  if (mean.value == null) return [element("span", { class: "mean few" }, UNKNOWN)];
  return [
    element("span", { class: mean.n < FEW ? "mean few" : "mean" }, fixed(mean.value, 3)),
    element("span", { class: "interval" }, intervalOf(mean, digits)),
    element("span", { class: "interval" }, `n ${whole(mean.n)}`),
  ];
}

function gridRow(view, at) {
  const { documents, fields, first, plan, active, isApart } = view;
  const one = documents[at];
  const isActiveRow = at === active.row;
  const isTabStop = (column) =>
    active.row < 0 ? at === 0 && column === view.start : isActiveRow && column === active.column;
  const attributes = (column, field, more) => ({
    role: "gridcell",
    "data-document": one.id,
    "data-field": field,
    "aria-selected": String(isActiveRow && column === active.column),
    tabindex: isTabStop(column) ? 0 : -1,
    ...more,
  });
  const name = element(
    "div",
    {
      role: "rowheader",
      class: "name",
      "data-document": one.id,
      "data-field": "",
      title: one.name,
      "aria-colindex": 1,
    },
    one.short,
  );
  const row = (...cells) =>
    element(
      "div",
      {
        role: "row",
        class: `grid-row ${isActiveRow ? "chosen" : ""}`,
        "aria-rowindex": at + 2,
        style: `top:${at * ROW_HEIGHT}px`,
      },
      name,
      ...cells,
    );
  if (isApart)
    return row(
      element(
        "div",
        attributes(0, "", { class: "reason", title: one.why, "aria-colindex": 2 }),
        `${one.status}: ${one.why}`,
      ),
    );
  const cells = fields.slice(first, first + plan.shown).map((field, index) => {
    const column = first + index;
    return scoreCell(
      one,
      field,
      one.scores[column],
      attributes(column + 1, field.name, { "aria-colindex": column + 3 }),
    );
  });
  return row(
    element("div", attributes(0, "", { class: "cell overall", "aria-colindex": 2 }), fixed(one.overall)),
    ...cells,
  );
}

function scoreCell(one, field, score, attributes) {
  if (score == null) {
    const words = `${field.words}: nothing is expected of ${one.short}`;
    return element(
      "div",
      { ...attributes, class: "cell unknown", title: words, "aria-label": "nothing expected" },
      UNKNOWN,
    );
  }
  const lost = loss(score);
  const title = `${one.short}, ${field.words}: ${fixed(score, 3)}`;
  return element(
    "div",
    { ...attributes, class: `cell ${lost ? "lost" : "whole"}`, style: `--loss:${lost}`, title },
    fixed(score),
  );
}
