// The matrix itself: heads, rows of which only those in sight are in the page, and totals.

import { FEW, cellId, cellText, shareOf, shareText, strength, sum, tailWidth } from "./confusion_layout.js";
import { element } from "./dom.js";
import { scrollToRow, visibleRange } from "./grid_layout.js";
import { count, whole } from "./numbers.js";

// Cells narrower than this have three digits set closer.
const WIDE = 28;

// Returns { node, page(), show(view), focusCell(), hasFocus() }.
//   onPick(row, column)  a cell was clicked; column n is that of rows without an answer
export function confusionGrid({ onPick }) {
  const head = element("div", { role: "row", class: "matrix-row head", "aria-rowindex": 1 });
  const inner = element("div", { class: "window", role: "presentation" });
  const body = element("div", { class: "rows", role: "rowgroup" }, inner);
  const totals = element("div", { role: "row", class: "matrix-row totals" });
  const heads = element("div", { role: "rowgroup", class: "heads" }, head);
  const foot = element("div", { role: "rowgroup", class: "sums" }, totals);
  const node = element(
    "div",
    { role: "grid", class: "matrix", "aria-label": "Expected labels by answered labels" },
    heads,
    body,
    foot,
  );
  let shown = null;

  body.addEventListener("click", (event) => {
    const cell = event.target.closest("[data-row]");
    if (cell) onPick(Number(cell.dataset.row), Number(cell.dataset.column));
  });
  const hasFocus = () => body.contains(body.getRootNode().activeElement);
  const focusCell = () => inner.querySelector("[tabindex='0']")?.focus({ preventScroll: true });

  const draw = () => {
    if (!shown) return;
    const focused = hasFocus();
    const { order, rowHeight, active } = shown;
    const { from, to } = visibleRange(body.scrollTop, body.clientHeight, rowHeight, order.length);
    const drawn = Array.from({ length: to - from }, (_, index) => from + index);
    // The row of the active cell stays in the page, so that scrolling does not take the focus away.
    if (active.row >= 0 && (active.row < from || active.row >= to)) drawn.push(active.row);
    inner.replaceChildren(...drawn.map((at) => matrixRow(shown, at)));
    if (focused) focusCell();
  };
  body.addEventListener("scroll", draw, { passive: true });

  return {
    node,
    page: () => Math.max(1, Math.floor(body.clientHeight / (shown?.rowHeight || 24)) - 1),
    hasFocus,
    focusCell,
    // view: { data, matrix, order, normalise, first, plan, rowHeight, headHeight, bodyHeight, active: { row, column } }
    show: (view, { reveal = false } = {}) => {
      shown = view;
      const { plan, order, matrix, rowHeight, active, hasFailed } = view;
      const tails = `${tailWidth(matrix)}px `.repeat(hasFailed ? 2 : 1);
      node.style.setProperty("--columns", `${plan.label}px repeat(${plan.shown}, ${plan.cell}px) ${tails}`);
      node.style.setProperty("--row", `${rowHeight}px`);
      node.setAttribute("aria-rowcount", order.length + 2);
      node.setAttribute("aria-colcount", order.length + (hasFailed ? 3 : 2));
      totals.setAttribute("aria-rowindex", order.length + 2);
      body.style.height = `${view.bodyHeight}px`;
      body.classList.toggle("scrolled", view.bodyHeight < order.length * rowHeight);
      head.style.height = `${view.headHeight}px`;
      head.replaceChildren(...headCells(view));
      totals.replaceChildren(...totalCells(view));
      inner.style.height = `${matrix.n * rowHeight}px`;
      if (reveal && active.row >= 0)
        body.scrollTop = scrollToRow(active.row, body.scrollTop, body.clientHeight, rowHeight);
      draw();
    },
  };
}

function visibleColumns({ order, first, plan }) {
  return order.slice(first, first + plan.shown);
}

function headCells({ data, order, first, plan, active, hasFailed }) {
  const corner = element(
    "div",
    { role: "columnheader", class: "corner soft", "aria-colindex": 1 },
    element("span", { class: "answered" }, "answered \u2192"),
    element("span", {}, "expected \u2193"),
  );
  const names = order.slice(first, first + plan.shown).map((at, index) =>
    element(
      "div",
      {
        role: "columnheader",
        class: `upright ${active.column === first + index ? "chosen" : ""}`,
        title: data.labels[at].name,
        "aria-colindex": first + index + 2,
      },
      element("span", {}, data.labels[at].short),
    ),
  );
  return [
    corner,
    ...names,
    tailHead("n expected", "Rows that expect the label and have an answer", order.length + 2),
    hasFailed
      ? tailHead("no answer", "Rows without an answer", order.length + 3, active.column === order.length)
      : [],
  ].flat();
}

function tailHead(words, title, column, isChosen = false) {
  return element(
    "div",
    { role: "columnheader", class: `upright tail ${isChosen ? "chosen" : ""}`, "aria-colindex": column, title },
    element("span", {}, words),
  );
}

// Sums are numbers of rows whatever the cells show, so that what a percentage is of stands beside it.
function totalCells(view) {
  const { matrix, hasFailed, first } = view;
  const total = (n, column) => element("div", { role: "gridcell", class: "total", "aria-colindex": column }, whole(n));
  const title = "Rows answered as the label";
  return [
    element("div", { role: "rowheader", class: "name soft", title, "aria-colindex": 1 }, "n answered"),
    ...visibleColumns(view).map((at, index) => total(matrix.columns[at], first + index + 2)),
    total(matrix.total, matrix.n + 2),
    hasFailed ? total(sum(matrix.failed), matrix.n + 3) : [],
  ].flat();
}

function matrixRow(view, at) {
  const { data, matrix, order, rowHeight, active, hasFailed, first } = view;
  const row = order[at];
  const label = data.labels[row];
  const n = matrix.rows[row];
  const isFew = n < FEW;
  return element(
    "div",
    {
      role: "row",
      class: `matrix-row ${active.row === at ? "chosen" : ""}`,
      "aria-rowindex": at + 2,
      style: `top:${at * rowHeight}px`,
    },
    element(
      "div",
      {
        role: "rowheader",
        class: isFew ? "name few" : "name",
        title: isFew ? `${label.name}\nn < ${FEW}: a share says nothing` : label.name,
        "aria-colindex": 1,
      },
      label.short,
    ),
    visibleColumns(view).map((column, index) => matrixCell(view, at, column, first + index)),
    element("div", { role: "gridcell", class: "total", "aria-colindex": matrix.n + 2 }, whole(n)),
    hasFailed ? matrixCell(view, at, matrix.n, matrix.n) : null,
  );
}

function matrixCell(view, at, column, position) {
  const { data, matrix, order, normalise, active, equivalent, first, plan } = view;
  const place = { row: order[at], column };
  const n = matrix.at(place.row, column);
  const isActive = active.row === at && active.column === position;
  const isTabStop = active.row < 0 ? at === 0 && position === first : isActive;
  const words = cellWords(data, matrix, place);
  const kind = column === matrix.n ? "failed" : column === place.row ? "right" : n ? "wrong" : "none";
  const isEquivalent = equivalent.has(cellId(data, place.row, column));
  const text = cellText(matrix, place, normalise);
  return element(
    "div",
    {
      role: "gridcell",
      class: ["cell", kind, isEquivalent ? "equivalent" : "", text.length > 2 && plan.cell < WIDE ? "long" : ""].filter(Boolean).join(" "),
      style: kind === "wrong" ? `--part:${strength(matrix, place, normalise)}` : null,
      "data-row": place.row,
      "data-column": column,
      "aria-colindex": column === matrix.n ? matrix.n + 3 : position + 2,
      "aria-selected": String(isActive),
      "aria-label": isEquivalent ? `${words}, defensible` : words,
      tabindex: isTabStop ? 0 : -1,
      title: isEquivalent ? `${words}\ndefensible for one another` : words,
    },
    text,
  );
}

// "expected License, answered Supply: 3 documents, 9% of License"
export function cellWords(data, matrix, place) {
  const n = matrix.at(place.row, place.column);
  const expected = data.labels[place.row].short;
  const rows = count(n, data.noun);
  if (place.column === matrix.n)
    return `expected ${expected}, no answer: ${rows} of ${whole(matrix.rows[place.row] + n)}`;
  const answered = data.labels[place.column].short;
  const part = n ? ` of ${whole(matrix.rows[place.row])} (${shareText(shareOf(matrix, place, "row"))}%)` : "";
  return `expected ${expected}, answered ${answered}: ${rows}${part}`;
}
